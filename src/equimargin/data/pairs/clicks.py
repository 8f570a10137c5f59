"""Preferences from clicks: a clicked document is preferred to unclicked ones above it.

>>> first = preferences(shown=[0, 1, 2, 3], clicked=[2])
>>> first.pairs.tolist()
[[2, 0], [2, 1]]
>>> both = first + preferences(shown=[1, 2, 0], clicked=[2])
>>> both.pairs.tolist(), both.weight.tolist()
([[2, 0], [2, 1]], [1.0, 2.0])
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equimargin.data.words import DataError, listed


@dataclass(frozen=True, eq=False)
class Preferences:
    """Weighted pairs of rows for `ranking_from_pairs(X, pairs, pair_weight=weight)`.

    `+` adds the weights of equal pairs.

    Parameters
    ----------
    pairs : ndarray of shape (p, 2)
        Rows (preferred, other), each pair once, in ascending order.
    weight : ndarray of shape (p,)
        Number of lists that contain each preference.
    """

    pairs: NDArray[np.int64]
    weight: NDArray[np.float64]

    def __add__(self, more: Preferences) -> Preferences:
        """Add preferences; contradictory pairs are both kept, each with its own loss."""
        pairs, place = np.unique(
            np.concatenate([self.pairs, more.pairs]), axis=0, return_inverse=True
        )
        weight = np.bincount(place.ravel(), np.concatenate([self.weight, more.weight]), len(pairs))
        return Preferences(pairs, weight.astype(np.float64))

    def __radd__(self, nothing: int) -> Preferences:
        """Return the preferences unchanged for 0, with which `sum` begins."""
        return self if nothing == 0 else NotImplemented


def preferences(shown: Sequence[int], clicked: Collection[int]) -> Preferences:
    """Return the preferences of one list: clicked documents over unclicked ones above them.

    A ranking with the clicked documents before all others contains all these pairs.
    Their problem is thus a relaxation of the problem of all pairs of such a ranking.

    Parameters
    ----------
    shown : sequence of int
        Rows of the features, in the order shown, the top one first.
    clicked : collection of int
        Rows that were clicked.

    Returns
    -------
    Preferences
        Preferences of weight 1 each; add those of further lists by `+`.

    Raises
    ------
    DataError
        If a row is no whole number from 0 on, is shown twice, or was clicked and not
        shown.

    References
    ----------
    Document W, application of Ranking SVM; T. Joachims, Optimizing search engines using
    clickthrough data (2002), algorithm 1.
    """
    order, chosen = _rows(shown, "shown"), set(_rows(clicked, "clicked"))
    twice = (
        sorted({row for row in order if order.count(row) > 1})
        if len(set(order)) < len(order)
        else []
    )
    if twice:
        raise DataError(
            f"the rows {listed(twice)} are shown twice in one list; keep the place where "
            f"they were seen"
        )
    missing = sorted(chosen - set(order))
    if missing:
        raise DataError(
            f"the rows {listed(missing)} were clicked and not shown; supply the list that was shown"
        )
    pairs = [
        (row, above)
        for place, row in enumerate(order)
        if row in chosen
        for above in order[:place]
        if above not in chosen
    ]
    return Preferences(np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2), np.ones(len(pairs)))


def _rows(given: object, name: str) -> list[int]:
    if not isinstance(given, Iterable):
        raise DataError(f"{name} must be a list of rows of the features, not {given!r}")
    return [_row(row) for row in given]


def _row(row: object) -> int:
    if (
        isinstance(row, bool | np.bool_)
        or not isinstance(row, int | np.integer)
        or not 0 <= row < 2**63
    ):
        raise DataError(
            f"{row!r} is no row of the features; rows are whole numbers below 2^63, counted from 0"
        )
    return int(row)
