"""Exact proofs that no function meets the hard rows: a >= 0 over some of them, not 0, with A'a = 0 in the kernel's space.

A linear kernel's rows are rational vectors. Rows that a method in floats finds to be
dependent, with weights of one sign, are a ray if these rational vectors have one null
vector, and it has one sign. Any other rational kernel has that of the rows' Gram
matrix.

An RBF kernel is strictly positive on distinct points: A'a = 0 in its space only if the
coefficients of every point cancel. For pairs such an a is a circulation of the graph of
preferences, equal points taken as one, so that the rows cannot be met if and only if
that graph has a cycle, whose weights are 1. The graph of pairs of labels has a node for
every level of a query, which stands for all points below it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from equimargin.formulations.kernels.kernel import RBF, Intercept, Kernel
from equimargin.formulations.numeric.arrays import Array, Index, dense
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.solvers.exact.numbers import Integers, gram_in_integers, null_vector, to_dyadic
from equimargin.solvers.exact_limits import rational_kernel
from equimargin.solvers.hard.pricing import HardRows, LabelledRows, ListedRows, RowSubset
from equimargin.solvers.ray import FarkasRay

MOST_EXACT_ROWS = 300
"""Rows, at most, whose null vector is computed in rational numbers, which takes some seconds for this many."""
SUPPORT = 1e-9
"""Share of the largest weight of a ray in floats that a weight must have: less is rounding."""


def exact_ray(problem: MarginProblem, taken: RowSubset, weights: Array) -> FarkasRay | None:
    """Return the exact ray on the rows of a ray in floats; None if they have none of one sign, or the kernel is not computed in fractions.

    Parameters
    ----------
    problem : MarginProblem
        Without a bias.
    taken : RowSubset of shape (k,)
        Rows that are dependent, but for rounding.
    weights : ndarray of shape (k,)
        >= 0 of the ray in floats.
    """
    kept = np.flatnonzero(weights > SUPPORT * weights.max(initial=0.0))
    if not 0 < len(kept) <= MOST_EXACT_ROWS or not rational_kernel(problem.kernel):
        return None
    taken = taken[kept]
    vector = null_vector(_matrix(problem, taken))
    return (
        None
        if vector is None
        else _ray(taken, vector, "their weighted sum is 0 in rational numbers")
    )


def decides_by_cycles(kernel: Kernel) -> bool:
    """Whether the kernel is strictly positive on distinct points, so that hard rows can be met unless they contradict each other."""
    return isinstance(kernel, RBF) or (
        isinstance(kernel, Intercept) and decides_by_cycles(kernel.kernel)
    )


def contradiction(problem: MarginProblem, rows: HardRows) -> FarkasRay | None:
    """Return a ray of the hard rows, at least one, of a kernel that `decides_by_cycles`; None where there is none."""
    first = problem.gram.first_equal
    if isinstance(rows, LabelledRows):
        return _cycle(_graph_of_labels(rows, first))
    assert isinstance(rows, ListedRows)
    taken = rows.take(rows.keys)
    if taken.second is None:
        return _opposite(taken, first)
    return _cycle(
        PreferenceGraph(
            first[taken.first], first[taken.second], taken.first, taken.second, problem.m
        )
    )


@dataclass(frozen=True, eq=False)
class PreferenceGraph:
    """Directed edges between nodes 0, ..., n - 1, of which the first m are points, equal points being the first of them.

    Parameters
    ----------
    tail, head : Index of shape (e,)
        nodes.
    leaving, entered : Index of shape (e,)
        The point itself that an edge leaves or enters, -1 where that is no point.
    """

    tail: Index
    head: Index
    leaving: Index
    entered: Index
    n: int


def _graph_of_labels(rows: LabelledRows, first: Index) -> PreferenceGraph:
    """From every point to the node of its level, from there to all points of the level below and to the node of that level."""
    pairs, m = rows.pairs, rows.m
    points = pairs.active[rows.hard[pairs.query[pairs.active]]]
    base = np.append(0, np.cumsum(pairs.levels))[pairs.place[points]]
    level = pairs.level[points].astype(np.int64)
    own, above = m + base + level, m + base + level + 1
    down, up = level > 0, level < pairs.levels[pairs.place[points]] - 1
    inner = level > 1
    links = np.unique(own[inner])
    none = np.full(len(points), -1)
    return PreferenceGraph(
        np.concatenate([first[points[down]], above[up], links]),
        np.concatenate([own[down], first[points[up]], links - 1]),
        np.concatenate([points[down], none[up], none[: len(links)]]),
        np.concatenate([none[down], points[up], none[: len(links)]]),
        m + int(pairs.levels.sum()),
    )


def _cycle(graph: PreferenceGraph) -> FarkasRay | None:
    """A cycle of the graph as the pairs of points that it passes; None where there is none."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    edges = coo_array(
        (np.ones(len(graph.tail)), (graph.tail, graph.head)), shape=(graph.n, graph.n)
    ).tocsr()
    _, component = connected_components(edges, connection="strong")
    within = np.flatnonzero(component[graph.tail] == component[graph.head])
    if not len(within):
        return None
    inner = coo_array(
        (np.ones(len(within)), (graph.tail[within], graph.head[within])), shape=(graph.n, graph.n)
    ).tocsr()
    last = int(within[0])  # its component leads from its head back to its tail
    start, node = int(graph.head[last]), int(graph.tail[last])
    _, before = breadth_first_order(inner, start)
    tree = within[graph.tail[within] == before[graph.head[within]]]
    entering = np.full(graph.n, -1)
    entering[graph.head[tree]] = tree
    path = [last]
    while node != start:
        path.append(int(entering[node]))
        node = int(before[node])
    path.reverse()
    return _passed(graph.leaving[path], graph.entered[path])


def _passed(leaving: Index, entered: Index) -> FarkasRay:
    """The pairs of a cycle of edges: from the point that one edge leaves to the next point that is entered."""
    at = next(k for k in range(len(leaving)) if leaving[k] >= 0)
    pairs, preferred = [], -1
    for k in range(len(leaving)):
        e = (at + k) % len(leaving)
        if leaving[e] >= 0:
            preferred = int(leaving[e])
        if entered[e] >= 0:
            pairs.append((preferred, int(entered[e])))
    return FarkasRay(
        tuple(pairs),
        (1,) * len(pairs),
        "the preferences go round in a circle of points, equal points taken as one",
    )


def _opposite(taken: RowSubset, first: Index) -> FarkasRay | None:
    """Two equal points of opposite classes."""
    seen: dict[int, int] = {}
    for point, sign in zip(taken.first.tolist(), taken.sign.tolist(), strict=True):
        key = int(first[point])
        other = seen.setdefault(key, point if sign > 0 else -point - 1)
        if (other >= 0) != (sign > 0):
            both = (other if other >= 0 else -other - 1, point)
            return FarkasRay(
                tuple((v,) for v in both),
                (1, 1),
                "the two points are equal and of opposite classes",
            )
    return None


def _matrix(problem: MarginProblem, taken: RowSubset) -> Integers:
    """Integers whose null vectors are those of the rows: their features by columns, or their Gram matrix."""
    Z = problem.explicit
    points = taken.points
    place = {int(point): k for k, point in enumerate(points)}
    A = np.zeros((len(taken), len(points)), dtype=object)
    for r in range(len(taken)):
        A[r, place[int(taken.first[r])]] += int(taken.sign[r])
        if taken.second is not None:
            A[r, place[int(taken.second[r])]] -= 1
    if Z is not None:
        values, _ = to_dyadic(np.asarray(dense(Z.rows(points)), dtype=np.float64))
        return np.asarray((A @ values).T)
    X = problem.X[np.ix_(points, points)] if problem.kernel.given else problem.X[points]
    K, _ = gram_in_integers(problem.kernel, X, problem.shift or 0.0)
    return np.asarray(A @ K @ A.T)


def _ray(taken: RowSubset, vector: list[int], reason: str) -> FarkasRay:
    """The ray of these weights, rows of weight 0 left out."""
    kept = np.flatnonzero(np.array([weight > 0 for weight in vector]))
    points = (
        [taken.first[kept]] if taken.second is None else [taken.first[kept], taken.second[kept]]
    )
    rows = tuple(tuple(row) for row in np.column_stack(points).tolist())
    return FarkasRay(rows, tuple(vector[k] for k in kept), reason)
