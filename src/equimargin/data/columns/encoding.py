"""Encoding of columns of words as indicators or as positions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equimargin.data.words import DataError

MAX_CATEGORIES: Final = 1000
"""Maximum number of words with an indicator each; columns of names have more."""


class EncodedColumn(NamedTuple):
    """Encoded column: names (k,), features X (m, k), and the ordered categories."""

    names: tuple[str, ...]
    X: NDArray[np.float64]
    categories: tuple[str, ...]


def encode(
    name: str,
    words: Sequence[str],
    gaps: NDArray[np.bool_],
    how: str,
    known: tuple[str, ...] | None,
    order: tuple[str, ...] = (),
) -> EncodedColumn:
    """Encode a column of words as numbers.

    Parameters
    ----------
    name : str
        Name of the column.
    words : sequence of m str
        Entries of the column.
    gaps : ndarray of shape (m,)
        True for missing entries, which become NaN in all columns.
    how : str
        "one-hot" or "codes".
    known : tuple of str or None
        Categories of the first data, for further rows; None takes those of the column.
        Every entry is one of them.
    order : tuple of str, default ()
        Order of the categories of the column; empty for the alphabetical one.

    Returns
    -------
    EncodedColumn
        Columns with their names.

    Raises
    ------
    DataError
        If more than 1,000 words would get an indicator each; the message lacks its subject, the
        column.
    """
    # Missing entries (gaps) have no category; their codes and indicators are NaN.
    found = {word for word, gap in zip(words, gaps.tolist(), strict=True) if not gap}
    categories = known or tuple(word for word in order or sorted(found) if word in found)
    if how == "one-hot" and len(categories) > MAX_CATEGORIES:
        raise DataError(
            f"holds {len(categories):,} different words, and one-hot takes {MAX_CATEGORIES:,}"
        )
    place = {word: float(at) for at, word in enumerate(categories)}
    codes = np.array(
        [math.nan if gap else place[word] for word, gap in zip(words, gaps.tolist(), strict=True)]
    )[:, np.newaxis]
    if how == "codes":
        return EncodedColumn((name,), codes, categories)
    indicators = np.where(np.isnan(codes), math.nan, codes == np.arange(len(categories)))
    return EncodedColumn(tuple(f"{name}={word}" for word in categories), indicators, categories)
