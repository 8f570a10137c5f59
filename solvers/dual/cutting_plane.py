"""The cutting-plane method for the 1-slack form of margin problems with the hinge and no bias.

    min over f, xi >= 0    1/2 |f|^2 + xi    s.t.    sum_r c_r s_r (t_r - (A f)_r) <= xi    for all s in {0, 1}^p

Of the 2^p constraints a round adds the one that the last f violates most: the rows with u_r > 0. With a_k = A'(c s) and b_k = t'(c s) of
the constraints found so far, the next f is that of the restricted problem's dual,

    max over mu >= 0, 1'mu <= 1    b'mu - 1/2 |sum_k mu_k a_k|_K^2,        f = sum_k mu_k a_k,    alpha_r = c_r sum_k mu_k s_kr,

a lower bound that rises from round to round; the upper one is the best f seen. For pairs of labels a constraint is found, and its a_k
counted, by one sweep, and no pair is listed.

Source: document K, (2.8), which has C xi and so C times our mu; T. Joachims, Training linear SVMs in linear time (KDD 2006);
T. Joachims, T. Finley, C.-N. J. Yu, Cutting-plane training of structural SVMs, Machine Learning 77 (2009), for the constraints left out.
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
from equimargin.solvers.needs import Needs
from equimargin.solvers.progress import Progress, multipliers
from equimargin.solvers.registry import solver
from equimargin.solvers.solution import Limits, Solution

ROUNDS = 5000
"""Constraints found before the run ends."""
IDLE = 50
"""A constraint is left out once its multiplier has been 0 for so many rounds."""
SHARE = 1e-3
"""The restricted problem is solved to that much of the gap asked for."""
NOISE = 1e-14
"""A lower bound that rises by more, over itself, is progress."""


NEEDS = Needs(
    MarginProblem,
    no_squared_hinge="is not what one slack for all rows stands for",
    no_bias="which is free, and not part of the norm",
    no_hard_rows="which no slack is to share",
    convex=True,
)


class Round(NamedTuple):
    """How a round ended: constraints kept, those with a multiplier, the bounds and the relative gap."""

    iteration: int
    constraints: int
    active: int
    lower: float
    upper: float
    gap: float


@solver("cutting_plane", algorithm="cutting planes for the 1-slack form, for the hinge", families=("rank.l1",), needs=NEEDS)
def _solve(problem: MarginProblem, limits: Limits, warm_start: Point | None) -> Solution:
    """One constraint a round, until the gap is small enough."""
    progress = Progress("cutting_plane", problem, limits, limits.max_iter or ROUNDS)
    restricted = Restricted(problem)
    at, upper, iteration, moved = restricted.at(), np.inf, 0, True
    if warm_start is not None:
        at = _started(problem, warm_start)
    best, trajectory = at.v, []
    while True:
        slacks = problem.rows.slacks(at.g, problem.group_costs)
        value = at.norm2 / 2 + slacks.hinge()
        if value < upper:
            upper, best = value, at.v
        point = restricted.point(best)
        over = progress.weigh(point, upper, restricted.value, iteration, moved)
        trajectory.append(Round(iteration, len(restricted.cuts), restricted.active, restricted.value, upper, progress.gap))
        if over:
            break
        before = restricted.value
        new = restricted.add(slacks)
        restricted.solve(SHARE * limits.tol * upper, lambda: progress.out_of_time)
        at, iteration = restricted.at(), iteration + 1
        moved = new and restricted.value > before + NOISE * abs(before)  # what is kept is violated by rounding alone
    found = progress.solution()
    return replace(found, point=found.point.with_multipliers(problem.repaired(found.point.multipliers)), trajectory=tuple(trajectory))


@dataclass(frozen=True, eq=False)
class Function:
    """v = w (q,) or beta (m,), its values g (m,) at the points and |f|^2."""

    v: Array
    g: Array
    norm2: float


@dataclass(eq=False)
class Cut:
    """A constraint of K (2.8).

    subset : of the rows, as `Slacks.violated` has it.  gain : b_k.  pull : (n,) a_k as w or beta.  image : (n,) what inner products with
    pulls are of: itself, or K a_k.  idle : rounds without a multiplier.
    """

    subset: Any
    gain: float
    pull: Array
    image: Array
    idle: int = 0


class Restricted:
    """The constraints found so far and the optimum of the problem with them alone.

    cuts : k of them.  mu : (k,) multipliers.  value : of the dual at mu.
    """

    def __init__(self, problem: MarginProblem) -> None:
        self.problem, self.Z = problem, problem.explicit
        self.cuts: list[Cut] = []
        self.mu, self.value = np.zeros(0), 0.0
        self._G = np.zeros((0, 0))

    @property
    def active(self) -> int:
        """How many constraints have a multiplier."""
        return int(np.count_nonzero(self.mu))

    def add(self, slacks: Slacks) -> bool:
        """Keep the constraint that these slacks violate most; whether it was not kept already."""
        problem = self.problem
        subset = slacks.violated()
        alpha = problem.rows.mixed(np.ones(1), [subset], problem.group_costs)
        pull = problem.rows.rdot(alpha)
        pull = pull if self.Z is None else self.Z.rdot(pull)
        image = problem.gram @ pull if self.Z is None else pull
        cut = Cut(subset, problem.rows.gain(alpha), pull, image)
        if any(cut.gain == other.gain and np.array_equal(pull, other.pull) for other in self.cuts):
            return False
        across = np.array([other.pull @ image for other in self.cuts])
        self._G = np.block([[self._G, across[:, None]], [across, float(pull @ image)]])
        self.cuts.append(cut)
        self.mu = np.append(self.mu, 0.0)
        return True

    def solve(self, enough: float, out_of_time: Callable[[], bool]) -> None:
        """The optimum with the constraints found, the empty one among them; those that have been idle for long are left out."""
        k = len(self.cuts)
        G, b = np.zeros((k + 1, k + 1)), np.zeros(k + 1)
        G[:k, :k], b[:k] = self._G, [cut.gain for cut in self.cuts]
        x = maximum(G, b, np.append(self.mu, max(1.0 - float(self.mu.sum()), 0.0)), enough, out_of_time)
        self.mu = x[:k]
        self.value = float(b @ x - x @ (G @ x) / 2)
        for cut, mu in zip(self.cuts, self.mu, strict=True):
            cut.idle = 0 if mu > 0 else cut.idle + 1
        kept = np.array([cut.idle < IDLE for cut in self.cuts])
        if not kept.all():
            self.cuts = [cut for cut in self.cuts if cut.idle < IDLE]
            self.mu, self._G = self.mu[kept], self._G[np.ix_(kept, kept)]

    def at(self) -> Function:
        """f = sum_k mu_k a_k."""
        n = self.problem.m if self.Z is None else self.Z.q
        v, image = np.zeros(n), np.zeros(n)
        for mu, cut in self._with_multipliers():
            v += mu * cut.pull
            image += mu * cut.image
        return Function(v, image if self.Z is None else self.Z @ v, float(v @ image))

    def point(self, v: Array) -> Point:
        """A function v = w or beta, and the multipliers of the rows."""
        active = self._with_multipliers()
        mu, subsets = np.array([mu for mu, _ in active]), [cut.subset for _, cut in active]
        alpha = self.problem.rows.mixed(mu, subsets, self.problem.group_costs)
        return Point(beta=v, b=0.0, alpha=alpha) if self.Z is None else Point(w=v, b=0.0, alpha=alpha)

    def _with_multipliers(self) -> list[tuple[float, Cut]]:
        return [(mu, cut) for mu, cut in zip(self.mu.tolist(), self.cuts, strict=True) if mu > 0]


def _started(problem: MarginProblem, start: Point) -> Function:
    """A start's function, or where its multipliers lead."""
    Z = problem.explicit
    if start.w is not None and Z is not None:
        return Function(start.w, Z @ start.w, float(start.w @ start.w))
    beta = start.beta if start.beta is not None else problem.rows.rdot(problem.repaired(multipliers(start, problem)))
    if Z is not None:
        return _started(problem, Point(w=Z.rdot(beta)))
    g = problem.gram @ beta
    return Function(beta, g, float(beta @ g))
