"""Risk of a mapping to ranks, the share of pairs that it inverts, as in document O."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from equimargin.formulations.numeric.arguments import check_choice
from equimargin.formulations.numeric.arrays import Array
from equimargin.metrics.agreement import concordance
from equimargin.metrics.per_query import PerQuery

Ties = Literal["right", "wrong"]


def preference_loss(
    h1: ArrayLike, h2: ArrayLike, y1: ArrayLike, y2: ArrayLike, ties: Ties = "right"
) -> Array:
    """Return document O's loss l_pref of a pair of objects.

        l_pref(h1, h2, y1, y2) = 1 if (y1 > y2 and h1 < h2) or (y1 < y2 and h1 > h2), else 0

    It is 1 if the predicted order of the two is the inverse of their order. It is
    symmetric in the two objects, and depends on the orders of h and of y only, so that
    h may be ranks or utilities.

    Parameters
    ----------
    h1, h2 : array-like
        Predictions of the first and the second object, numbers or arrays that
        broadcast.
    y1, y2 : array-like
        Their ranks; higher is better.
    ties : Ties
        Loss of h1 = h2 where y1 and y2 differ: 0 for "right", as no order is inverted,
        1 for "wrong".

    Returns
    -------
    ndarray
        0.0 or 1.0 for every pair; a pair with NaN has no order.

    Raises
    ------
    ValueError
        If ties are unknown.

    References
    ----------
    O, section 2: "inversions on pairs of objects". The available text lacks the
    formula, and so the loss of a tie.
    """
    check_choice(ties, "ties", ("right", "wrong"))
    predicted, right = (np.greater(a, b) - 1.0 * np.less(a, b) for a, b in ((h1, h2), (y1, y2)))
    wrong = predicted * right < 0
    if ties == "wrong":
        wrong |= np.equal(h1, h2) & (right != 0)
    return np.asarray(wrong, dtype=np.float64)


def empirical_risk(
    y: ArrayLike, h: ArrayLike, qid: ArrayLike | None = None, ties: Ties = "right"
) -> PerQuery:
    """Return document O's empirical risk, the mean of l_pref over all pairs of a sample.

        R_emp(h) = 1 / l^2 sum over i, j = 1, ..., l of l_pref(h(x_i), h(x_j), y_i, y_j)

    The sample has l objects; the time is O(l log l). Every inverted pair counts twice,
    as (i, j) and as (j, i): R_emp = 2 Q / l^2 with the Q discordant pairs of
    `concordance`. It is at most 1 - 1/l, and 0 for every h without inversions, such as
    a constant, unless ties count as wrong.

    Parameters
    ----------
    y : array-like of shape (n,)
        Ranks.
    h : array-like of shape (n,)
        Predicted ranks or utilities.
    qid : array-like of shape (n,) or None
        Queries, each of which is a sample; None for one sample.
    ties : Ties
        Loss of ties, as in `preference_loss`.

    Returns
    -------
    PerQuery
        Risk of every query, in [0, 1); queries have weights l^2 in the mean.

    Raises
    ------
    ValueError
        As in `concordance`, or if ties are unknown.

    References
    ----------
    O, section 2, R_emp.
    """
    check_choice(ties, "ties", ("right", "wrong"))
    counts = concordance(y, h, qid)
    inverted = counts.discordant + counts.tied if ties == "wrong" else counts.discordant
    return PerQuery(
        counts.query,
        np.asarray(2.0 * inverted, dtype=np.float64),
        counts.objects.astype(np.float64) ** 2,
    )
