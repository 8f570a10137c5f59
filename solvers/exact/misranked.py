"""Minimum number of misordered pairs over all ranking functions, exactly (NP-hard).

    min over f of the number of r with (A f)_r <= 0

This is problem (83) of Yu and Kim (2012). Rows that no f satisfies together have a ray:
alpha >= 0, alpha != 0, with A'alpha = 0 in the kernel's space. Every f misorders a pair
of every ray, and an f that orders all pairs outside of a set proves that this set
suffices. So the minimum is the size of the minimum hitting set of all rays: rays are
found one by one, and a minimum hitting set of the known rays is the next candidate.

Both bounds are proven without floats: the lower bound by rays in rational numbers and a
search in integers, or at the time limit a fractional packing of the rays; the upper
bound by a rational w, or, with an RBF kernel, by an acyclic preference graph.

References
----------
Document T (Yu and Kim), (83).

G. Codato, M. Fischetti. Combinatorial Benders' cuts for mixed-integer linear
programming. 2006.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

import numpy as np

from equimargin.formulations.kernels.kernel import RBF, Linear
from equimargin.formulations.numeric.arguments import positive
from equimargin.formulations.numeric.arrays import dense
from equimargin.formulations.numeric.rounding import SMALLEST
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.programs.program import Program
from equimargin.formulations.programs.rational import Matrix, Vector, dot, negative
from equimargin.formulations.rows.listed import Pairs
from equimargin.solvers.exact.hitting_set import Candidate, Fewest, Obstruction, fewest
from equimargin.solvers.exact.numbers import (
    as_fractions,
    gram_in_integers,
    null_vector,
    to_common_denominator,
)
from equimargin.solvers.exact.program.clock import Clock, OutOfTime
from equimargin.solvers.exact.program.optimum import Infeasible, Optimum, program_optimum
from equimargin.solvers.exact_limits import rational_kernel
from equimargin.solvers.interrupt import interruptible

MOST_PAIRS = 5_000
"""Maximum number of pairs.

Each ray is a linear program with a rational row per pair.
"""
PairOrder = Candidate[Vector | None]
"""Pairs that an f misorders, and its weights, as in LeastMisranked."""
SMALLEST_SHARE = 1e-12
"""Fraction of a float ray's multipliers below which a row counts as absent.

The ray is then computed in rational numbers.
"""


@dataclass(frozen=True, eq=False)
class LeastMisranked:
    """Minimum number of misordered pairs, and an f that attains it.

    Parameters
    ----------
    least : int
        Number of pairs misordered by `w`, or by the f that is known to exist with an
        RBF kernel.
    lower : int
        Lower bound on the misordered pairs of every f.
    misranked : tuple[int, ...]
        Rows of the `least` pairs.
    w : Vector of shape (d,), or None
        Weights of f = w.x with a linear kernel, and coefficients of f = sum_i w_i
        k(x_i, .), d = m, with another rational kernel; None with an RBF kernel.
    rays : tuple[Obstruction, ...]
        Proof of `lower`: rows that no f satisfies together, with positive multipliers of
        sum_r multiplier_r (A f)_r = 0 for every f.
    reason : str
        Reason for stopping, as a sentence.
    """

    least: int
    lower: int
    misranked: tuple[int, ...] = field(repr=False)
    w: Vector | None = field(repr=False)
    rays: tuple[Obstruction, ...] = field(repr=False)
    reason: str

    @property
    def proven(self) -> bool:
        """True if both bounds are equal."""
        return self.least == self.lower


def least_misranked(problem: MarginProblem, seconds: float = 60.0) -> LeastMisranked:
    """Return the minimum number of misordered pairs over all f of the kernel's space.

    A pair of i preferred to j is misordered if f_i <= f_j. At every C the RankSVM's f
    misorders at least this number. It misorders at most the sum of its slacks, because
    a misordered pair has a slack of at least 1.

    Parameters
    ----------
    problem : MarginProblem
        Ranking with a kernel of rational values or an RBF kernel; its C, loss and
        weights are ignored, and every pair counts 1.
    seconds : float
        Time limit in seconds; if it ends the search, least and lower are the best known
        bounds.

    Returns
    -------
    LeastMisranked
        Bounds, with exact proofs.

    Raises
    ------
    ValueError
        If the problem is no ranking, its kernel is neither rational nor RBF, it has
        more than 5,000 pairs, or the time limit is not positive.

    References
    ----------
    Document T (Yu and Kim), (83).
    """
    if not isinstance(problem, MarginProblem) or not isinstance(problem.rows, Pairs):
        raise ValueError(
            "least_misranked: the problem must be a ranking, from ranking or ranking_from_pairs"
        )
    if problem.p > MOST_PAIRS:
        raise ValueError(
            f"least_misranked: {problem.p:,} pairs are too many for exact rays; "
            f"the limit is {MOST_PAIRS:,}"
        )
    if not (isinstance(problem.kernel, RBF) or rational_kernel(problem.kernel)):
        raise ValueError(
            f"least_misranked: the kernel must be RBF or have rational values, which the "
            f"{problem.kernel.name} kernel has not; give its float Gram matrix (`given_gram`)"
        )
    clock = Clock(positive(seconds, "seconds"))
    if isinstance(problem.kernel, RBF):
        start: PairOrder = Candidate(tuple(range(problem.p)), None)
        return _least(fewest(start, problem.p, _Cycles(problem).answer, clock))
    differences = _Differences(problem.proven)
    return _least(fewest(differences.start(), problem.p, differences.answer, clock))


def _least(found: Fewest[Vector | None]) -> LeastMisranked:
    best, reason = found.best, found.reason
    return LeastMisranked(
        len(best.elements),
        found.lower,
        best.elements,
        best.point,
        found.obstructions,
        reason or "a smallest set of pairs that hits all rays, and all other pairs can be ordered",
    )


class _Differences:
    """Rows x_i - x_j of a linear kernel, in rational numbers and in floats.

    With another kernel they are K_i - K_j, with the rows of the Gram matrix as points.
    """

    def __init__(self, problem: MarginProblem) -> None:
        if isinstance(problem.kernel, Linear):
            points = [[Fraction(v) for v in row] for row in dense(problem.X).tolist()]
        else:
            K, unit = gram_in_integers(problem.kernel, problem.X, problem.gram.shift)
            points = [[Fraction(v, unit) for v in row] for row in K.tolist()]
        pairs = zip(
            problem.rows.preferred.tolist(),  # type: ignore[attr-defined]
            problem.rows.other.tolist(),  # type: ignore[attr-defined]
            strict=True,
        )
        self.rows = [
            tuple(a - b for a, b in zip(points[i], points[j], strict=True)) for i, j in pairs
        ]
        self.floats = np.array([[float(v) for v in row] for row in self.rows]).reshape(
            -1, len(points[0])
        )
        self.floats /= np.maximum(np.abs(self.floats).max(axis=1, keepdims=True), SMALLEST)

    def start(self) -> PairOrder:
        """Return the better result of two: of the sum of all rows, and of its negative.

        If no row is orthogonal to the sum, it misorders at most half of the rows.
        """
        zero = (Fraction(0),) * self.floats.shape[1]
        w = tuple(sum(column, Fraction(0)) for column in zip(zero, *self.rows, strict=True))
        both = self._judged(w), self._judged(tuple(negative(w)))
        return min(both, key=lambda found: len(found.elements))

    def answer(self, rows: Sequence[int], clock: Clock) -> Obstruction | PairOrder:
        """Return a ray of these rows, or a w that orders them.

        A float solution is used if its signs hold in rational numbers; otherwise the
        exact program is solved.

        Parameters
        ----------
        rows : Sequence[int]
            Rows to satisfy together.
        clock : Clock
            Time limit.
        """
        if not rows:
            return PairOrder(tuple(range(len(self.rows))), (Fraction(0),) * self.floats.shape[1])
        zero_row = next((row for row in rows if not any(self.rows[row])), None)
        if zero_row is not None:
            return Obstruction((zero_row,), (Fraction(1),))
        support = self._vertex(rows)
        if support:
            ray = self._circuit(support)
            if ray is not None:
                return ray
        else:
            order = self._ordered(tuple(map(Fraction, self._direction(rows))), rows)
            if order is not None:
                return order
        return self._exact(rows, clock)

    def _vertex(self, rows: Sequence[int]) -> list[int]:
        """Return the support of a vertex of alpha >= 0, 1'alpha = 1, A'alpha = 0.

        It is computed in floats, and is empty if there is no vertex.
        """
        from scipy.optimize import linprog

        A = np.vstack([self.floats[rows].T, np.ones(len(rows))])
        b = np.append(np.zeros(len(A) - 1), 1.0)
        result = interruptible(
            lambda: linprog(np.zeros(len(rows)), A_eq=A, b_eq=b, method="highs-ds")
        )
        return (
            []
            if result.x is None
            else [
                row
                for row, share in zip(rows, result.x.tolist(), strict=True)
                if share > SMALLEST_SHARE
            ]
        )

    def _direction(self, rows: Sequence[int]) -> list[float]:
        """Return the w, |w_k| <= 1, of the largest minimum margin, in floats."""
        from scipy.optimize import linprog

        d = self.floats.shape[1]
        A = np.hstack([-self.floats[rows], np.ones((len(rows), 1))])
        ends = [(-1.0, 1.0)] * d + [(None, 1.0)]
        result = interruptible(
            lambda: linprog(
                np.append(np.zeros(d), -1.0),
                A_ub=A,
                b_ub=np.zeros(len(rows)),
                bounds=ends,
                method="highs-ds",
            )
        )
        return [0.0] * d if result.x is None else list(result.x[:d].tolist())

    def _circuit(self, support: Sequence[int]) -> Obstruction | None:
        """Return the ray with this support, if it is unique; otherwise None."""
        entries, _ = to_common_denominator(
            as_fractions([v for row in support for v in self.rows[row]])
        )
        multipliers = null_vector(entries.reshape(len(support), -1).T)
        return (
            None
            if multipliers is None or 0 in multipliers
            else Obstruction(tuple(support), tuple(map(Fraction, multipliers)))
        )

    def _ordered(self, w: Vector, rows: Sequence[int]) -> PairOrder | None:
        """Return the result of w, if it orders all of these rows; otherwise None."""
        order = self._judged(w)
        return None if set(order.elements) & set(rows) else order

    def _judged(self, w: Vector) -> PairOrder:
        """Return the pairs that w misorders, in rational numbers."""
        return PairOrder(tuple(row for row, x in enumerate(self.rows) if dot(x, w) <= 0), w)

    def _exact(self, rows: Sequence[int], clock: Clock) -> Obstruction | PairOrder:
        """Solve min 0 s.t. (x_i - x_j).w >= 1 for these rows, in rational numbers."""
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
        # The objective is 0, so that the result is an ordering w or a ray z.
        result = program_optimum(program, max(clock.left, 1e-3))
        if isinstance(result, Optimum):
            ordered = self._ordered(result.x, rows)
            if ordered is not None:
                return ordered
        if isinstance(result, Infeasible):
            support = [(row, z) for row, z in zip(rows, result.z, strict=True) if z > 0]
            return Obstruction(tuple(row for row, _ in support), tuple(z for _, z in support))
        raise OutOfTime(
            f"no ray was found: {getattr(result, 'reason', 'the exact program gave neither')}"
        )


class _Cycles:
    """Preference graph of distinct points; with an RBF kernel its cycles are rays.

    The Gram matrix of an RBF kernel on different points is positive definite, so that a
    ray, with A'alpha = 0, is a circulation in the graph. Any values at different points
    are those of some f, so that rows without a cycle are feasible.
    """

    def __init__(self, problem: MarginProblem) -> None:
        place = np.unique(dense(problem.X), axis=0, return_inverse=True)[1].ravel()
        rows: Pairs = problem.rows  # type: ignore[assignment]
        self.tail, self.head = place[rows.preferred].tolist(), place[rows.other].tolist()

    def answer(self, rows: Sequence[int], clock: Clock) -> Obstruction | PairOrder:
        """Return the rows of a cycle, or an f that orders these rows if there is none.

        f increases from every point to those preferred to it.

        Parameters
        ----------
        rows : Sequence[int]
            Rows to satisfy together.
        clock : Clock
            Time limit, unused.
        """
        edges = {(self.tail[row], self.head[row]): row for row in rows}
        order = TopologicalSorter[int]()
        for tail, head in edges:
            order.add(tail, head)
        try:
            f = {point: place for place, point in enumerate(order.static_order())}
        except CycleError as found:
            cycle = sorted(edges[tail, head] for head, tail in pairwise(found.args[1]))
            return Obstruction(tuple(cycle), (Fraction(1),) * len(cycle))
        differences = (
            f.get(tail, -1) - f.get(head, -1)
            for tail, head in zip(self.tail, self.head, strict=True)
        )
        return PairOrder(
            tuple(row for row, difference in enumerate(differences) if difference <= 0), None
        )
