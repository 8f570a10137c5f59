"""Cutting-plane method for the 1-slack form of problems with hinge loss and no bias.

    min over f, xi >= 0    1/2 |f|^2 + xi
    s.t.    sum_r c_r s_r (t_r - (A f)_r) <= xi    for all s in {0, 1}^p

A round adds the one of the 2^p constraints that the last f violates most: s_r = 1 in
the rows with t_r > (A f)_r. For the constraints s_k so far let a_k = A'(c s_k) and b_k
= t'(c s_k). The next f is the optimum of the problem with these constraints, which its
dual yields:

    max over mu >= 0, 1'mu <= 1    b'mu - 1/2 |sum_k mu_k a_k|_K^2,
    f = sum_k mu_k a_k,    alpha_r = c_r sum_k mu_k s_kr.

The value of this dual is a lower bound that increases from round to round; the upper
bound is the primal value of the best f so far. For pairs of labels one sweep computes a
constraint and its a_k, and pairs stay implicit.

References
----------
Document K, (2.8), which has C xi and so C times the mu above.

T. Joachims. Training linear SVMs in linear time. KDD 2006.

T. Joachims, T. Finley, C.-N. J. Yu. Cutting-plane training of structural SVMs. Machine
Learning 77 (2009), for dropping constraints.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.rows.slacks import Slacks
from equimargin.solvers.dual.qp_on_simplex import maximum
from equimargin.solvers.progress import DualConvergenceMonitor, initial_function
from equimargin.solvers.registry import solver
from equimargin.solvers.requirements import Requirements
from equimargin.solvers.solution import Limits, Solution

ROUND_LIMIT = 5000
"""Default limit of rounds, each of which adds one constraint."""
ROUNDS_BEFORE_DROP = 50
"""Number of rounds with a multiplier of 0 after which a constraint is dropped.

If it is needed again, a later round adds it again.
"""
RESTRICTED_SHARE = 1e-3
"""Accuracy of the restricted master problem, as a share of the requested gap.

Its own error is then negligible.
"""
LOWER_BOUND_NOISE = 1e-14
"""Relative increase of the lower bound that counts as rounding, not progress."""


REQUIREMENTS = Requirements(
    MarginProblem,
    losses=("hinge",),
    why={"squared_hinge": "is not the loss of the 1-slack form"},
    no_bias="which is free, and not part of the norm",
    no_hard_rows="which cannot share one slack",
    convex=True,
)


class CuttingPlaneRound(NamedTuple):
    """Record of a round.

    Parameters
    ----------
    iteration : int
        Number of the round.
    constraints : int
        Number of constraints kept.
    active : int
        Number of constraints with a multiplier above 0.
    lower : float
        Lower bound.
    upper : float
        Upper bound.
    gap : float
        Relative gap.
    """

    iteration: int
    constraints: int
    active: int
    lower: float
    upper: float
    gap: float


@solver(
    "cutting_plane",
    "rank.l1",
    algorithm="cutting planes for the 1-slack form, for the hinge",
    requires=REQUIREMENTS,
)
def _solve(problem: MarginProblem, limits: Limits, warm_start: Point | None) -> Solution:
    """Add one constraint per round, until the gap is small enough."""
    progress = DualConvergenceMonitor(
        "cutting_plane", problem, limits, limits.max_iter or ROUND_LIMIT
    )
    restricted = RestrictedMaster(problem)
    at = (
        restricted.at()
        if warm_start is None
        else _function(problem, initial_function(warm_start, problem))
    )
    upper, iteration, moved, best, trajectory = np.inf, 0, True, at.v, []
    while True:
        slacks = problem.rows.slacks(at.g, problem.group_costs)
        value = at.norm2 / 2 + slacks.hinge()
        if value < upper:
            upper, best = value, at.v
        point = restricted.point(best)
        stops = progress.weigh(point, upper, restricted.value, iteration, moved)
        trajectory.append(
            CuttingPlaneRound(
                iteration,
                len(restricted.cuts),
                restricted.active,
                restricted.value,
                upper,
                progress.gap,
            )
        )
        if stops:
            break
        before = restricted.value
        is_new = restricted.add(slacks)
        restricted.solve(RESTRICTED_SHARE * limits.tol * upper, lambda: progress.out_of_time)
        at, iteration = restricted.at(), iteration + 1
        # A constraint already present is violated by rounding alone.
        moved = is_new and restricted.value > before + LOWER_BOUND_NOISE * abs(before)
    solution = progress.solution()
    assert solution.dual is not None
    return replace(
        solution,
        point=solution.point.with_multipliers(problem.repaired(solution.dual)),
        trajectory=tuple(trajectory),
    )


@dataclass(frozen=True, eq=False)
class PrimalFunction:
    """f as v = w (q,) or beta (m,), its values g (m,) at the points, and norm2 = |f|^2."""

    v: Array
    g: Array
    norm2: float


@dataclass(eq=False)
class Cut:
    """Constraint k of the 1-slack form.

    Parameters
    ----------
    subset : Any
        Rows with s_r = 1, as `Slacks.violated` returns them.
    gain : float
        b_k.
    pull : ndarray of shape (n,)
        a_k as w or beta.
    image : ndarray of shape (n,)
        Vector whose product with the `pull` of another constraint l is <a_l, a_k>:
        `pull` itself for w, K a_k for beta.
    idle : int
        Number of consecutive rounds with a multiplier of 0.
    """

    subset: Any
    gain: float
    pull: Array
    image: Array
    idle: int = 0


class RestrictedMaster:
    """Restricted master problem: the constraints so far and its optimum.

    Parameters
    ----------
    problem : MarginProblem
        Problem to solve.

    Attributes
    ----------
    cuts : list of Cut
        The k constraints.
    mu : ndarray of shape (k,)
        Multipliers of the constraints.
    value : float
        Dual objective at mu.
    """

    def __init__(self, problem: MarginProblem) -> None:
        self.problem, self.Z = problem, problem.explicit
        self.cuts: list[Cut] = []
        self.mu, self.value = np.zeros(0), 0.0
        self._G = np.zeros((0, 0))

    @property
    def active(self) -> int:
        """Number of constraints with a multiplier above 0."""
        return int(np.count_nonzero(self.mu))

    def add(self, slacks: Slacks) -> bool:
        """Add the constraint of largest violation; return False if already present.

        Parameters
        ----------
        slacks : Slacks
            Slacks of the rows at the last f.
        """
        problem = self.problem
        subset = slacks.violated()
        alpha = problem.rows.mixed(np.ones(1), [subset], problem.group_costs)
        pull = problem.rows.rdot(alpha)
        pull = pull if self.Z is None else self.Z.rdot(pull)
        image = problem.gram @ pull if self.Z is None else pull
        cut = Cut(subset, problem.rows.multipliers(alpha).gain(), pull, image)
        if any(cut.gain == other.gain and np.array_equal(pull, other.pull) for other in self.cuts):
            return False
        across = np.array([other.pull @ image for other in self.cuts])
        self._G = np.block([[self._G, across[:, None]], [across, float(pull @ image)]])
        self.cuts.append(cut)
        self.mu = np.append(self.mu, 0.0)
        return True

    def solve(self, enough: float, out_of_time: Callable[[], bool]) -> None:
        """Solve with these constraints and xi >= 0, then drop those idle for long.

        Parameters
        ----------
        enough : float
            Permitted distance of the dual objective from the optimum.
        out_of_time : callable
            Returns True if the run must end.
        """
        k = len(self.cuts)
        G, b = np.zeros((k + 1, k + 1)), np.zeros(k + 1)
        G[:k, :k], b[:k] = self._G, [cut.gain for cut in self.cuts]
        x = maximum(
            G, b, np.append(self.mu, max(1.0 - float(self.mu.sum()), 0.0)), enough, out_of_time
        )
        self.mu = x[:k]
        self.value = float(b @ x - x @ (G @ x) / 2)
        for cut, mu in zip(self.cuts, self.mu, strict=True):
            cut.idle = 0 if mu > 0 else cut.idle + 1
        kept = np.flatnonzero([cut.idle < ROUNDS_BEFORE_DROP for cut in self.cuts])
        self.cuts = [self.cuts[k] for k in kept]
        self.mu, self._G = self.mu[kept], self._G[np.ix_(kept, kept)]

    def at(self) -> PrimalFunction:
        """Return f = sum_k mu_k a_k."""
        n = self.problem.m if self.Z is None else self.Z.q
        v, image = np.zeros(n), np.zeros(n)
        for mu, cut in self._with_multipliers():
            v += mu * cut.pull
            image += mu * cut.image
        return PrimalFunction(v, image if self.Z is None else self.Z @ v, float(v @ image))

    def point(self, v: Array) -> Point:
        """Return the point with f = v and the multipliers of the rows at mu.

        Parameters
        ----------
        v : ndarray of shape (n,)
            f as w or beta.
        """
        active = self._with_multipliers()
        mu, subsets = np.array([mu for mu, _ in active]), [cut.subset for _, cut in active]
        alpha = self.problem.rows.mixed(mu, subsets, self.problem.group_costs)
        return (
            Point(beta=v, b=0.0, alpha=alpha) if self.Z is None else Point(w=v, b=0.0, alpha=alpha)
        )

    def _with_multipliers(self) -> list[tuple[float, Cut]]:
        return [(mu, cut) for mu, cut in zip(self.mu.tolist(), self.cuts, strict=True) if mu > 0]


def _function(problem: MarginProblem, v: Array) -> PrimalFunction:
    """Return f given by v = w or beta."""
    if problem.explicit is not None:
        return PrimalFunction(v, problem.explicit @ v, float(v @ v))
    g = problem.gram @ v
    return PrimalFunction(v, g, float(v @ g))
