"""Minimum average precision for a number of inversions, and a lower bound of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from equimargin.formulations.numeric.arguments import check_number, positive
from equimargin.solvers.exact.program.clock import Clock

MOST_STEPS = 4_000_000_000
"""Maximum number of sums compared by `average_precision_least`: about ten seconds."""
MOST_SUMS = 2**26
"""Maximum number of sums cached by `average_precision_least`: half a gigabyte of float64.

There is a sum for each number of parts and of inversions.
"""


class TooManyPartitions(ValueError):
    """Too many partitions for the minimum; `average_precision_bound` has no such limit."""


def average_precision_least(
    relevant: int, inversions: int, irrelevant: int | None = None, seconds: float = 60.0
) -> float:
    """Return the minimum average precision of rankings with R relevant documents.

        min over 0 <= c_1 <= ... <= c_R <= N with sum c_i = Q of
        1/R sum over i = 1, ..., R of i / (i + c_i)

    The rankings have Q inversions; c_i is the number of irrelevant documents above the
    i-th relevant one. All such numbers belong to a ranking, so that the minimum is
    attained: no larger lower bound holds for R, Q and N. It strictly decreases in Q, is
    1 at Q = 0, and is at least `average_precision_bound`. The numbers are the
    partitions of Q into at most R parts of at most N each.

    Parameters
    ----------
    relevant : int
        R >= 1.
    inversions : int
        Q >= 0, pairs of a relevant document below an irrelevant one.
    irrelevant : int | None
        N, the number of irrelevant documents; None for any number.
    seconds : float
        Time limit in seconds.

    Returns
    -------
    float
        The minimum in (0, 1], up to R + 1 roundings of float64.

    Raises
    ------
    ValueError
        If R < 1, Q < 0, Q > R N, a number is not whole, or the time limit is not positive.
    TooManyPartitions
        If the partitions of this number of inversions take too much memory, or more than
        the time limit; a ValueError, too.

    References
    ----------
    W (encyclopedia page on Ranking SVM) has the bound, which few rankings attain.
    """
    R, Q = _whole(relevant, "relevant", 1), _whole(inversions, "inversions", 0)
    N = Q if irrelevant is None else min(_whole(irrelevant, "irrelevant", 0), Q)
    if Q > R * N:
        raise ValueError(
            f"{R} relevant and {N} irrelevant documents have {R * N} pairs, and cannot have "
            f"{Q} inversions"
        )
    if R * (Q + 1) * N > MOST_STEPS or (R + 1) * (Q + 1) > MOST_SUMS:
        raise TooManyPartitions(
            f"{R:,} relevant {'document' if R == 1 else 'documents'} and {Q:,} "
            f"{'inversion' if Q == 1 else 'inversions'} have too many "
            "partitions; average_precision_bound has no such limit"
        )
    clock = Clock(positive(seconds, "seconds"))
    least = np.full((R + 1, Q + 1), np.inf)
    least[:, 0] = np.arange(R + 1)
    for cap in range(1, N + 1):
        if clock.left <= 0:
            raise TooManyPartitions(
                f"the partitions take more than {seconds:.3g} s; average_precision_bound "
                f"has no such limit"
            )
        # parts up to the cap, where those below it are allowed already: least[i, s] is
        # of i parts of sum s
        for i in range(1, R + 1):
            sums = min(i * cap, Q) + 1
            least[i, cap:sums] = np.minimum(
                least[i, cap:sums], least[i - 1, : sums - cap] + i / (i + cap)
            )
    return float(least[R, Q]) / R


def _whole(value: object, name: str, least: int) -> int:
    return int(
        check_number(
            value, name, f"a whole number, {least} or more", lambda v: v >= least and v.is_integer()
        )
    )


def average_precision_bound(relevant: ArrayLike, inversions: ArrayLike) -> Any:
    """Return a lower bound of average precision, for R relevant documents and Q inversions.

        AP >= 1/R (Q + R (R + 1) / 2)^-1 (sum over i = 1, ..., R of sqrt(i))^2

    The bound decreases in Q, and so increases with Kendall's tau. W says that
    maximising tau helps to minimise the bound; in fact it helps to maximise it. An
    inversion is a pair of a relevant document below an irrelevant one. With more than
    two levels, discordant pairs of relevant documents, or of irrelevant ones, may be
    counted in Q, too; that only weakens the bound. If f has ties, Q = discordant + tied
    / 2 bounds the mean over the orders of tied documents, and Q = discordant + tied
    bounds every order.

    Parameters
    ----------
    relevant : array-like
        R >= 1.
    inversions : array-like
        Q >= 0; arrays are broadcast.

    Returns
    -------
    ndarray or float
        A lower bound in (0, 1], of the shape of the arguments.

    Raises
    ------
    ValueError
        If R < 1 or is not whole, Q < 0, or a number is not finite.

    References
    ----------
    W, the lower bound of average precision; T. Joachims, Optimizing search engines using
    clickthrough data (2002).
    """
    R, Q = np.asarray(relevant, dtype=np.float64), np.asarray(inversions, dtype=np.float64)
    if not (np.isfinite(R).all() and (R >= 1).all() and (np.floor(R) == R).all()):
        raise ValueError(
            "relevant must be whole numbers, 1 or more: without a relevant document there "
            "is no average precision"
        )
    if not (np.isfinite(Q).all() and (Q >= 0).all()):
        raise ValueError("inversions must be finite numbers, 0 or more")
    roots = np.append(0.0, np.cumsum(np.sqrt(np.arange(1, R.max(initial=0) + 1))))
    bound = roots[R.astype(np.int64)] ** 2 / (R * (Q + R * (R + 1) / 2))
    return float(bound) if bound.ndim == 0 else bound
