"""Exact infeasibility proofs of hard rows: a >= 0, a != 0, A'a = 0 in kernel space.

A linear kernel's rows are rational vectors. Rows that a method in floats finds to be
dependent, with weights of one sign, have a ray if the null space of these vectors has
dimension one and is spanned by a vector of one sign. For any other rational kernel the
null space of the rows' Gram matrix is used.

An RBF kernel is strictly positive definite on distinct points: A'a = 0 in its space
only if the coefficients of every point cancel. For pairs such an a is a circulation of
the preference graph, with equal points identified, so that the rows are infeasible if
and only if that graph has a cycle, whose weights are 1. The graph of labelled pairs has
a node for every level of a query, which represents all points below that level.
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
"""Maximum number of rows whose null vector is computed exactly, in some seconds."""
SUPPORT = 1e-9
"""Fraction of a float ray's largest weight below which a weight is rounding."""


def exact_ray(problem: MarginProblem, taken: RowSubset, weights: Array) -> FarkasRay | None:
    """Return the exact ray on the rows of a float ray.

    Parameters
    ----------
    problem : MarginProblem
        Problem without a bias.
    taken : RowSubset of shape (k,)
        Rows that are dependent within rounding.
    weights : ndarray of shape (k,)
        Weights >= 0 of the float ray.

    Returns
    -------
    FarkasRay or None
        None if the rows have no ray, or the kernel is not rational.
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
    """Return True if the kernel is strictly positive definite on distinct points.

    Hard rows are then feasible unless the preferences have a cycle, or equal points
    have opposite classes.

    Parameters
    ----------
    kernel : Kernel
        Kernel.
    """
    return isinstance(kernel, RBF) or (
        isinstance(kernel, Intercept) and decides_by_cycles(kernel.kernel)
    )


def contradiction(problem: MarginProblem, rows: HardRows) -> FarkasRay | None:
    """Return a ray of the hard rows, or None if they have none.

    Parameters
    ----------
    problem : MarginProblem
        Problem with a kernel that `decides_by_cycles` accepts.
    rows : HardRows
        Its hard rows.
    """
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
    """Directed graph on nodes 0, ..., n - 1; the first m nodes are points.

    Equal points are represented by the first of them.

    Parameters
    ----------
    tail, head : Index of shape (e,)
        Nodes of the edges.
    leaving, entered : Index of shape (e,)
        Point that an edge leaves or enters, -1 if the node is no point.
    n : int
        Number of nodes.
    """

    tail: Index
    head: Index
    leaving: Index
    entered: Index
    n: int


def _graph_of_labels(rows: LabelledRows, first: Index) -> PreferenceGraph:
    """Return the preference graph of labelled pairs.

    Its edges lead from every point to the node of its level, and from a level's node to
    all points of the level below and to that level's node.
    """
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
    """Return the pairs of points along a cycle of the graph, or None if it has none."""
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
    # An edge within a strong component lies on a cycle: the component contains a path
    # from its head back to its tail.
    last = int(within[0])
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
    """Return the ray of a cycle, with a pair for each point left and the next one entered."""
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
        "the preferences have a cycle of points, with equal points taken as one",
    )


def _opposite(taken: RowSubset, first: Index) -> FarkasRay | None:
    """Return the ray of two equal points of opposite classes, or None."""
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
    """Return an integer matrix whose null vectors are those of the rows.

    Its columns are the features of the rows, or it is the Gram matrix of the rows.
    """
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
    K, _ = gram_in_integers(problem.kernel, X, problem.proven.gram.shift)
    return np.asarray(A @ K @ A.T)


def _ray(taken: RowSubset, vector: list[int], reason: str) -> FarkasRay:
    """Return the ray of these weights without rows of weight 0."""
    kept = np.flatnonzero(np.array([weight > 0 for weight in vector]))
    points = (
        [taken.first[kept]] if taken.second is None else [taken.first[kept], taken.second[kept]]
    )
    rows = tuple(tuple(row) for row in np.column_stack(points).tolist())
    return FarkasRay(rows, tuple(vector[k] for k in kept), reason)
