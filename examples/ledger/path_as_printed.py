"""Algorithm 1 of Zapien et al. (2009) as published, errors included: a negative control.

`solvers/path/` has a correct algorithm.

    lambda^0 = max (P K P'1),  alpha = 1,  I_alpha: pairs where it is attained       5.1
    eta = (P_I K P_I')^-1 1
    alpha_i = alpha_i^t - (lambda^t - lambda) eta_i  for i in I = I_alpha           (12)
    lambda_i where alpha_i comes to 1 or to 0                                 (13), (14)
    lambda_i = lambda^t (f_i - h_i) / (1 - h_i)
        where f_i = f(x_k) - f(x_l) comes to 1                                      (17)
    lambda^{t+1} = the largest lambda_i < lambda^t
    the related pair(s) change their set;  t = t + 1

Failures of the algorithm, and the remedies of `solvers/path/`:

    events at one lambda   Several pairs may have an event at one lambda. If one of them
                           changes its set, the others have lambda_i = lambda^t at the
                           next step, which is not < lambda^t. They are never found
                           again, and their margins pass 1 unnoticed. `solvers/path/`
                           treats all pairs with events at one lambda together.
    the inverse            If all these pairs change their sets, P_I K P_I' may be
                           singular, because their rows may be linearly dependent. An
                           example are the four pairs that prefer i and k to j and l: if
                           three are on the margin, so is the fourth. `solvers/path/`
                           uses linearly independent rows.
    the side               A pair may reach the margin and leave it to its former side.
                           (12) then gives an alpha outside [0, 1], and (13) and (14)
                           find this event at lambda^t, which is not < lambda^t.
                           `solvers/path/` projects onto the directions that stay in
                           [0, 1].
    the proof              The algorithm does not check its solutions. `solvers/path/`
                           computes a gap at every breakpoint, and stops where the gap
                           is too large.

P K P' is stored, as in 5.3. Two values of lambda that differ only by rounding count as
equal.

Source: document P, section 5 and Algorithm 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations import Interval, MarginProblem, Point, interval
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.rows.listed import Pairs

SAME_EVENT = 1e-10
"""Relative difference up to which two values of lambda count as equal.

They may differ by rounding only.
"""
STORED_PAIRS = 5000
"""Maximum number of pairs, for which the matrix P K P' takes 200 MB."""


class Ending(StrEnum):
    """Reason why the algorithm ended, as a sentence."""

    REACHED = "lambda_min was reached"
    TRIVIAL = "lambda^0 = 0: alpha = 1 and f = 0 at every lambda"
    SINGULAR = "P_I K P_I' is singular: there is no eta"
    LIMIT = "the limit of events was reached"


class Place(IntEnum):
    """Set of a pair: I_0, I_1 or I_alpha."""

    ZERO = 0
    ONE = 1
    MARGIN = 2


@dataclass(frozen=True, eq=False)
class PrintedPath:
    """Path computed by Algorithm 1.

    Parameters
    ----------
    problem : MarginProblem
        Ranking problem; its C is ignored.
    lambdas : ndarray of shape (T,)
        Decreasing values of lambda.
    alphas : ndarray of shape (T, p)
        Multipliers, which may leave [0, 1].
    margins : tuple[frozenset[int], ...]
        Sets I_alpha after the events at each breakpoint, T in number.
    ending : Ending
        Reason why the algorithm ended.
    """

    problem: MarginProblem
    lambdas: Array
    alphas: Array
    margins: tuple[frozenset[int], ...]
    ending: Ending

    def proven(self, t: int) -> Interval:
        """Return the interval proven from the t-th alpha, clipped to its box.

        The cost is C = 1 / lambda^t.
        """
        lam = float(self.lambdas[t])
        return interval(self.problem.with_cost(1 / lam), Point(alpha=self.alphas[t] / lam))

    def first_wrong(self, tol: float = 1e-6) -> int | None:
        """Return the first breakpoint with alpha outside [0, 1] or not optimal.

        Deviations up to tol are ignored. Return None if there is no such breakpoint.
        """
        for t, alpha in enumerate(self.alphas):
            if alpha.min() < -tol or alpha.max() > 1 + tol or self.proven(t).relative_width > tol:
                return t
        return None


def path_as_printed(
    problem: MarginProblem,
    lambda_min: float = 1e-4,
    pairs: Literal["one", "all"] = "one",
    max_events: int = 10_000,
) -> PrintedPath:
    """Return the result of Algorithm 1 from lambda^0 down to lambda_min, right or wrong.

    Parameters
    ----------
    problem : MarginProblem
        Ranking with the hinge, every pair at the same cost; its C is ignored.
    lambda_min : float
        Last lambda, > 0, in the units of (6).
    pairs : Literal['one', 'all']
        Interpretation of "the related pair(s)": of several pairs with an event at one
        lambda, one changes its set, or all.
    max_events : int
        Maximum number of events.

    Raises
    ------
    ValueError
        If the problem is of another kind or has more than STORED_PAIRS pairs, or lambda_min
        is not positive.

    References
    ----------
    Document P, Algorithm 1.
    """
    if (
        not isinstance(problem.rows, Pairs)
        or problem.loss != "hinge"
        or (problem.unit_weights != 1).any()
    ):
        raise ValueError("Algorithm 1 is for ranking with the hinge, every pair at the same cost")
    if problem.p > STORED_PAIRS:
        raise ValueError(
            f"P K P' is formed for up to {STORED_PAIRS:,} pairs, not for {problem.p:,}"
        )
    if not lambda_min > 0:
        raise ValueError(f"lambda_min must be positive, not {lambda_min}")
    Q = pair_gram(problem)
    lambdas: list[float] = []
    alphas: list[Array] = []
    margins: list[frozenset[int]] = []
    alpha, place = np.ones(problem.p), np.full(problem.p, Place.ONE)
    lam = 2 * float(np.abs(Q).sum(axis=1).max(initial=0.0))  # above lambda^0
    ending = Ending.LIMIT
    while ending is Ending.LIMIT and len(lambdas) < max_events:
        try:
            at, eta = events(Q, lam, alpha, place)
        except np.linalg.LinAlgError:
            ending = Ending.SINGULAR
            break
        ahead = float(at.max(initial=0.0))
        if not lambdas and ahead <= SAME_EVENT * lam:
            ending = Ending.TRIVIAL
            break
        alpha = alpha - (lam - max(ahead, lambda_min)) * eta
        if ahead > lambda_min:
            together = (
                pairs == "all" or not (place == Place.MARGIN).any()
            )  # 5.1: "the pairs which maximize"
            moved = (
                np.flatnonzero(at >= ahead - SAME_EVENT * lam)
                if together
                else np.array([at.argmax()])
            )
            alpha[moved], place[moved] = moved_on(alpha[moved], place[moved])
        else:
            ending = Ending.REACHED
        lam = max(ahead, lambda_min)
        lambdas.append(lam)
        alphas.append(alpha)
        margins.append(frozenset(np.flatnonzero(place == Place.MARGIN).tolist()))
    return PrintedPath(
        problem, np.array(lambdas), np.array(alphas).reshape(-1, problem.p), tuple(margins), ending
    )


def pair_gram(problem: MarginProblem) -> Array:
    """Return P K P', (p, p)."""
    P = problem.rows.matrix
    return np.asarray(P @ (P @ problem.gram.dense).T)


def events(Q: Array, lam: float, alpha: Array, place: NDArray[np.int64]) -> tuple[Array, Array]:
    """Return lambda_i < lambda^t of every pair, and eta.

    lambda_i is -inf for a pair without an event, eta is 0 outside I_alpha.

    Parameters
    ----------
    Q : ndarray of shape (p, p)
        P K P'.
    lam : float
        lambda^t.
    alpha : ndarray of shape (p,)
        alpha^t.
    place : NDArray[np.int64] of shape (p,)
        Sets of the pairs.

    Raises
    ------
    numpy.linalg.LinAlgError
        If P_I K P_I' is singular.

    References
    ----------
    Document P, (12) to (14) and (17); 5.1 and 5.3 where I_alpha is empty.
    """
    margin, at = place == Place.MARGIN, np.full((2, len(alpha)), -np.inf)
    eta = np.zeros(len(alpha))
    if margin.any():
        inner = Q[np.ix_(margin, margin)]
        if np.linalg.matrix_rank(inner, hermitian=True) < len(inner):
            raise np.linalg.LinAlgError("P_I K P_I' is singular")
        eta[margin] = np.linalg.solve(inner, np.ones(len(inner)))
        f, h = Q @ alpha / lam, Q @ eta
        np.divide(
            lam * (f - h), 1 - h, out=at[0], where=~margin & (h != 1)
        )  # the document does not define the case h = 1
        for bound in (0, 1):
            np.divide(lam * eta + bound - alpha, eta, out=at[bound], where=margin & (eta != 0))
    else:
        np.copyto(at[0], Q @ alpha, where=place == Place.ONE)
    return np.where(at < lam * (1 - SAME_EVENT), at, -np.inf).max(axis=0), eta


def moved_on(alpha: Array, place: NDArray[np.int64]) -> tuple[Array, NDArray[np.int64]]:
    """Return alpha and the sets of pairs after their events.

    A pair moves from I_alpha to the set of the bound that alpha has reached, or to
    I_alpha.
    """
    bound, leaving = np.rint(alpha), place == Place.MARGIN
    return np.where(leaving, bound, alpha), np.where(leaving, bound.astype(np.int64), Place.MARGIN)
