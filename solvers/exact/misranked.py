"""The least number of pairs that any ranking function misorders, exactly: document T's problem (83), which is NP-hard.

    min over f of the number of r with (A f)_r <= 0

Rows that no f satisfies together have a ray: alpha >= 0, not 0, with A'alpha = 0 in the
kernel's space. Every f misorders a pair of every ray, and an f that orders all pairs
outside of a set proves that this set is large enough. So the least number is that of
the smallest set that meets all rays: rays are found one by one, and a smallest set that
meets those found is the next guess.

Both sides are proven without a float: from below by rays in rational numbers and a
search in integers, from above by a rational w, or, with an RBF kernel, by a graph of
preferences without a cycle.

Source: T (83); G. Codato, M. Fischetti, Combinatorial Benders' cuts for mixed-integer
linear programming (2006).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from equimargin.formulations.kernels.kernel import RBF, Linear
from equimargin.formulations.numeric.arguments import positive
from equimargin.formulations.numeric.arrays import dense
from equimargin.formulations.numeric.rounding import SMALLEST
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.programs.program import Program
from equimargin.formulations.programs.rational import Matrix, Vector, dot
from equimargin.formulations.rows.listed import Pairs
from equimargin.solvers.exact.hitting_set import disjoint, hitting_set, is_met_by_fewer
from equimargin.solvers.exact.numbers import as_fractions, null_vector, to_common_denominator
from equimargin.solvers.exact.program.clock import Clock, OutOfTime
from equimargin.solvers.exact.program.optimum import Infeasible, Optimum, program_optimum
from equimargin.solvers.interrupt import interruptible

MOST_PAIRS = 5_000
"""Pairs of the largest problem that is looked at: each ray is a linear program of as many rows in rational numbers."""
SMALLEST_SHARE = 1e-12
"""Share of the multipliers of a ray in floats, below which a row is taken to have none; the ray is then found in rational numbers."""


class RankingRay(NamedTuple):
    """Rows that no f satisfies together: sum over them of multiplier_r (A f)_r = 0 for every f, with multipliers above 0."""

    rows: tuple[int, ...]
    multipliers: Vector


@dataclass(frozen=True, eq=False)
class LeastMisranked:
    """How many pairs every f misorders, and an f that misorders no more.

    Parameters
    ----------
    least : int
        The misordered pairs of `w`, or of the f that is known to exist with an RBF
        kernel.
    lower : int
        No f misorders fewer.
    misranked : tuple[int, ...]
        Those pairs, numbers of rows.
    w : Vector | None of shape (d,)
        Of f = w.x with a linear kernel, also at the time limit; None with an RBF
        kernel.
    rays : tuple[RankingRay, ...]
        What proves `lower`.
    reason : str
        How it ended, in a sentence.
    """

    least: int
    lower: int
    misranked: tuple[int, ...] = field(repr=False)
    w: Vector | None = field(repr=False)
    rays: tuple[RankingRay, ...] = field(repr=False)
    reason: str

    @property
    def proven(self) -> bool:
        """Whether both sides are equal."""
        return self.least == self.lower


def least_misranked(problem: MarginProblem, seconds: float = 60.0) -> LeastMisranked:
    """The least number of pairs with f_i <= f_j for i preferred to j, over all f of the kernel's space.

    At every C the RankSVM's f misorders at least this number. It misorders at most the sum of its slacks, because a misordered pair has a
    slack of at least 1.

    Parameters
    ----------
    problem : MarginProblem
        A ranking with a linear or an RBF kernel; its C, loss and weights do not matter,
        and every pair counts 1.
    seconds : float
        The time limit; where it ends the search, least and lower are the best known
        bounds.

    Returns
    -------
    LeastMisranked
        With exact proofs of both sides.

    Raises
    ------
    ValueError
        A problem that is no ranking, another kernel, more than 5,000 pairs, a time
        limit that is not positive.

    Source: T (83).
    """
    if not isinstance(problem, MarginProblem) or not isinstance(problem.rows, Pairs):
        raise ValueError(
            "least_misranked: the problem must be a ranking, from ranking or ranking_from_pairs"
        )
    if problem.p > MOST_PAIRS:
        raise ValueError(
            f"least_misranked: {problem.p:,} pairs are too many for exact rays; "
            f"{MOST_PAIRS:,} are the most"
        )
    if not isinstance(problem.kernel, Linear | RBF):
        raise ValueError(
            f"least_misranked: the kernel must be linear or RBF, not {problem.kernel.name}"
        )
    clock = Clock(positive(seconds, "seconds"))
    if isinstance(problem.kernel, RBF):
        return _search(
            PairOrder(tuple(range(problem.p)), None), problem.p, _Cycles(problem).answer, clock
        )
    differences = _Differences(problem)
    return _search(differences.start(), problem.p, differences.answer, clock)


class PairOrder(NamedTuple):
    """An f that orders all pairs that were asked for.  misranked : the other pairs that it does not order.  w : as of LeastMisranked."""

    misranked: tuple[int, ...]
    w: Vector | None


Oracle = Callable[[Sequence[int], Clock], RankingRay | PairOrder]
"""Whether some rows can be satisfied together: an f that does, or a ray."""


def _search(best: PairOrder, p: int, oracle: Oracle, clock: Clock) -> LeastMisranked:
    rays: dict[frozenset[int], RankingRay] = {}
    reason = (
        "every smallest set of pairs that meets all rays was found, and the other pairs can be "
        "ordered"
    )
    try:
        while True:
            guess = hitting_set(list(rays), clock)
            known = len(rays)
            best = min(
                best,
                _rays_beside(guess, p, oracle, rays, clock),
                key=lambda found: len(found.misranked),
            )
            if len(rays) == known or len(best.misranked) <= disjoint(list(rays)):
                break
        if not is_met_by_fewer(list(rays), len(best.misranked), clock):
            return LeastMisranked(
                len(best.misranked),
                len(best.misranked),
                best.misranked,
                best.w,
                tuple(rays.values()),
                reason,
            )
        reason = "the smallest set that HiGHS found is not the smallest one"
    except OutOfTime as late:
        reason = str(late)
    return LeastMisranked(
        len(best.misranked),
        disjoint(list(rays)),
        best.misranked,
        best.w,
        tuple(rays.values()),
        reason,
    )


def _rays_beside(
    guess: frozenset[int],
    p: int,
    oracle: Oracle,
    rays: dict[frozenset[int], RankingRay],
    clock: Clock,
) -> PairOrder:
    """Rays of the rows outside of a guess, one after another, each time without the heaviest row of the last; and the f that ends them."""
    left = [row for row in range(p) if row not in guess]
    while True:
        clock.ask("another ray")
        found = oracle(left, clock)
        if isinstance(found, PairOrder):
            return found
        rays[frozenset(found.rows)] = found
        heaviest = found.rows[max(range(len(found.rows)), key=lambda at: found.multipliers[at])]
        left = [row for row in left if row != heaviest]


class _Differences:
    """The rows x_i - x_j of a linear kernel, in rational numbers and in floats."""

    def __init__(self, problem: MarginProblem) -> None:
        points = [[Fraction(v) for v in row] for row in dense(problem.X).tolist()]
        pairs = zip(problem.rows.preferred.tolist(), problem.rows.other.tolist(), strict=True)  # type: ignore[attr-defined]
        self.rows = [
            tuple(a - b for a, b in zip(points[i], points[j], strict=True)) for i, j in pairs
        ]
        self.floats = np.array([[float(v) for v in row] for row in self.rows]).reshape(
            -1, len(points[0])
        )
        self.floats /= np.maximum(np.abs(self.floats).max(axis=1, keepdims=True), SMALLEST)

    def start(self) -> PairOrder:
        """The better of the sum of all rows and its negative: where no row is orthogonal to it, it misorders at most half of them."""
        w = tuple(sum(column, Fraction(0)) for column in zip(*self.rows, strict=True))
        both = [w, tuple(-v for v in w)] if self.rows else [(Fraction(0),) * self.floats.shape[1]]
        return min((self._judged(each) for each in both), key=lambda found: len(found.misranked))

    def answer(self, rows: Sequence[int], clock: Clock) -> RankingRay | PairOrder:
        """A vertex of the program of rays in floats, or a w, once its signs hold in rational numbers; else the exact program's answer."""
        if not rows:
            return PairOrder(tuple(range(len(self.rows))), (Fraction(0),) * self.floats.shape[1])
        still = next((row for row in rows if not any(self.rows[row])), None)
        if still is not None:
            return RankingRay((still,), (Fraction(1),))
        held = self._vertex(rows)
        if held:
            ray = self._circuit(held)
            if ray is not None:
                return ray
        else:
            found = self._ordered(tuple(map(Fraction, self._direction(rows))), rows)
            if found is not None:
                return found
        return self._exact(rows, clock)

    def _vertex(self, rows: Sequence[int]) -> list[int]:
        """The support of a vertex of alpha >= 0, 1'alpha = 1, A'alpha = 0 in floats; empty where there is none."""
        from scipy.optimize import linprog

        A = np.vstack([self.floats[rows].T, np.ones(len(rows))])
        b = np.append(np.zeros(len(A) - 1), 1.0)
        found = interruptible(
            lambda: linprog(np.zeros(len(rows)), A_eq=A, b_eq=b, method="highs-ds")
        )
        return (
            []
            if found.x is None
            else [
                row
                for row, share in zip(rows, found.x.tolist(), strict=True)
                if share > SMALLEST_SHARE
            ]
        )

    def _direction(self, rows: Sequence[int]) -> list[float]:
        """A w of size at most 1 with the largest least margin of the rows, in floats."""
        from scipy.optimize import linprog

        d = self.floats.shape[1]
        A = np.hstack([-self.floats[rows], np.ones((len(rows), 1))])
        ends = [(-1.0, 1.0)] * d + [(None, 1.0)]
        found = interruptible(
            lambda: linprog(
                np.append(np.zeros(d), -1.0),
                A_ub=A,
                b_ub=np.zeros(len(rows)),
                bounds=ends,
                method="highs-ds",
            )
        )
        return [0.0] * d if found.x is None else list(found.x[:d].tolist())

    def _circuit(self, support: Sequence[int]) -> RankingRay | None:
        """The ray with this support, if there is one and no other."""
        entries, _ = to_common_denominator(
            as_fractions([v for row in support for v in self.rows[row]])
        )
        multipliers = null_vector(entries.reshape(len(support), -1).T)
        return (
            None
            if multipliers is None or 0 in multipliers
            else RankingRay(tuple(support), tuple(map(Fraction, multipliers)))
        )

    def _ordered(self, w: Vector, rows: Sequence[int]) -> PairOrder | None:
        """What w misorders, if it orders all of these rows."""
        found = self._judged(w)
        return None if set(found.misranked) & set(rows) else found

    def _judged(self, w: Vector) -> PairOrder:
        """What w misorders, in rational numbers."""
        return PairOrder(tuple(row for row, x in enumerate(self.rows) if dot(x, w) <= 0), w)

    def _exact(self, rows: Sequence[int], clock: Clock) -> RankingRay | PairOrder:
        """By the program min 0 s.t. (x_i - x_j).w >= 1 for these rows, in rational numbers."""
        d = len(self.rows[0])
        G = Matrix(tuple({k: -v for k, v in enumerate(self.rows[row]) if v} for row in rows), d)
        program = Program(
            Matrix(({},) * d, d),
            (Fraction(0),) * d,
            Matrix((), d),
            (),
            G,
            (Fraction(-1),) * len(rows),
        )
        found = program_optimum(program, max(clock.left, 1e-3))
        if isinstance(found, Optimum):
            ordered = self._ordered(found.x, rows)
            if ordered is not None:
                return ordered
        if isinstance(found, Infeasible):
            held = [(row, z) for row, z in zip(rows, found.z, strict=True) if z > 0]
            return RankingRay(tuple(row for row, _ in held), tuple(z for _, z in held))
        raise OutOfTime(
            f"no ray was found: {getattr(found, 'reason', 'the exact program gave neither')}"
        )


class _Cycles:
    """The graph of the preferences between points, equal ones put together: with an RBF kernel its cycles are the rays.

    The Gram matrix of an RBF kernel on different points is positive definite, so that A'alpha = 0 is a circulation; and any values at
    different points are those of some f, so that rows without a cycle can be satisfied together.
    """

    def __init__(self, problem: MarginProblem) -> None:
        place = np.unique(dense(problem.X), axis=0, return_inverse=True)[1].ravel()
        rows: Pairs = problem.rows  # type: ignore[assignment]
        self.tail, self.head = place[rows.preferred].tolist(), place[rows.other].tolist()

    def answer(self, rows: Sequence[int], clock: Clock) -> RankingRay | PairOrder:
        """Return the rows of a cycle; where there is none, an f that rises from every point to those that are preferred to it."""
        edges = {(self.tail[row], self.head[row]): row for row in rows}
        order = TopologicalSorter[int]()
        for tail, head in edges:
            order.add(tail, head)
        try:
            f = {point: place for place, point in enumerate(order.static_order())}
        except CycleError as found:
            cycle = sorted(edges[tail, head] for head, tail in pairwise(found.args[1]))
            return RankingRay(tuple(cycle), (Fraction(1),) * len(cycle))
        differences = (
            f.get(tail, -1) - f.get(head, -1)
            for tail, head in zip(self.tail, self.head, strict=True)
        )
        return PairOrder(
            tuple(row for row, difference in enumerate(differences) if difference <= 0), None
        )
