"""Ordinal regression: a function f and thresholds b_0, ..., b_{L-2} that separate the levels 0, ..., L - 1 of the points.

A row (i, k) asks f(x_i) to be on its side of the threshold b_k by a margin of 1: s_ik (f(x_i) -
b_k) >= 1 - xi_ik, where s_ik is 1 if the level y_i of x_i is above k, and -1 otherwise. The
families differ in their rows and in what slacks cost.

    ord.implicit       every point and every threshold: the thresholds come out in order, though nothing asks for it
    ord.implicit_l2    the same rows, squared slacks
    ord.explicit       every point and the thresholds next to its level, which must be in order
    ord.sum            in `sum_of_margins`: two thresholds between neighbouring levels, and all in order
    ord.hard           no slack: either set of rows has the optimum of rank.hard times 4, at f = 2 f_rank

Points may have weights, factors of C; rows of a weight of 0 are none. With two levels these are the
classifications svm.soft, svm.l2 and svm.hard with the bias b = -b_0. A soft ranking, however, is
another problem: at the points 0, 1, 2 of the levels 0, 2, 1 the optimal w of ord.implicit is 0 for
every C, and that of rank.l1 never is.

Source: W. Chu, S. S. Keerthi, New approaches to support vector ordinal regression, ICML (2005); A.
Shashua, A. Levin, Ranking with large margin principle: two approaches, NIPS 15 (2003). O, section
1, has the thresholds in words and in a figure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations import Interval, Kernel, linear, ranking
from equimargin.formulations.kernels.gram import Gram
from equimargin.formulations.numeric.arguments import factors, number, reals
from equimargin.formulations.numeric.arrays import Features, is_sparse
from equimargin.formulations.problem.labels import numbers
from equimargin.formulations.programs.reading import NEAR_ULPS
from equimargin.formulations.symbols import cp
from equimargin.own import Family, ProgramProblem, Source, solver
from equimargin.own.drawing import Data, points
from equimargin.solvers import Limits, Status, solve
from equimargin.solvers.interrupt import seconds_left
from equimargin.solvers.ordinal.chain import Neighbours
from equimargin.solvers.ordinal.machine import AnyMachine, Machine, OrdinalFit
from equimargin.solvers.ordinal.newton import newton
from equimargin.solvers.ordinal.smo import smo

CHU = "Chu, Keerthi, New Approaches to Support Vector Ordinal Regression (2005)"
SHASHUA = Source("Shashua 2003", "section 2", "Shashua, Levin, Ranking with Large Margin Principle: Two Approaches (2003)")
CLOSE = 1e-8
"""Relative gap that the points of the specialised solvers have at most: they are made exactly feasible, and worth an exact value."""
ASKED = 1e-12
"""Relative gap that Newton's method is asked for: gaps are relative to P(0) where that is much larger than the optimum, and its last steps
are the fastest.
"""
RATIONAL_ROWS = 2000
"""Rows of a machine, points times thresholds, up to which rational arithmetic proves its optimum: 8,000 rows of 11 features take 5 s."""
LEAST_EIGENVALUE = 1e-14
"""The part of the largest eigenvalue of a Gram matrix below which one is its rounding."""


def drawn(**parameters: list[float]) -> Any:
    """Return a strategy of points of up to four levels.

    Where there is a cost, half of them have weights.
    """
    from hypothesis import strategies as st

    few = st.sampled_from([2, 3, 4]).flatmap(lambda levels: points(labels=levels, least=2, most=6, widest=4, **parameters))
    if "C" not in parameters:
        return few
    weights = st.one_of(st.none(), st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=6, max_size=6).filter(lambda v: v[0] > 0))
    return st.tuples(few, weights).map(lambda of: of[0] if of[1] is None else of[0] | {"weights": np.array(of[1][: len(of[0]["y"])])})


def check(d: Data, cost: bool = True) -> None:
    """Refuse data that are no points with levels, or whose cost or weights are none.

    Raises
    ------
    ValueError : such data, in a sentence.
    """
    needed = ("X", "y", "C") if cost else ("X", "y")
    missing = [name for name in needed if name not in d]
    if missing:
        raise ValueError(f"the data lack {' and '.join(missing)}: ordinal regression takes {', '.join(needed)}")
    X = reals(d["X"], "X")
    if X.ndim != 2 or X.size == 0 or not np.isfinite(X).all():
        raise ValueError("X must hold finite numbers, a row for every point and a column for every feature, and one of each at least")
    _check_levels(numbers(d["y"], len(X), "y"))
    if cost:
        number(d["C"], "C", "a positive finite number", lambda C: 0 < C < np.inf)
    if "weights" in d:
        weights = factors(d["weights"], len(X), "weights")
        if not weights.any() or np.isinf(weights).any():
            raise ValueError("weights must be finite, and not all of them 0")


def _check_levels(y: NDArray[np.float64]) -> None:
    if (y != np.floor(y)).any() or y.min() < 0 or y.max() < 1:
        raise ValueError("y must hold levels, whole numbers from 0 on, and not only 0: with one level there is no threshold")


implicit = Family("ord.implicit", Source("Chu 2005", "section 3", CHU), data=partial(drawn, C=[1.0, 0.25, 4.0]), check=check)
"""X (m, d), y (m,) in {0, ..., L - 1} with L >= 2, C, and weights (m,) of the points or none."""
implicit_l2 = Family(
    "ord.implicit_l2", Source("Chu 2005", "section 3, with squared slacks", CHU), data=partial(drawn, C=[1.0, 0.25, 4.0]), check=check
)
"""X (m, d), y (m,) in {0, ..., L - 1} with L >= 2, C, and weights (m,) of the points or none."""
explicit = Family("ord.explicit", Source("Chu 2005", "section 2", CHU), data=partial(drawn, C=[1.0, 0.25, 4.0]), check=check)
"""X (m, d), y (m,) in {0, ..., L - 1} with L >= 2, C, and weights (m,) of the points or none."""
hard = Family("ord.hard", SHASHUA, data=drawn, check=partial(check, cost=False))
"""X (m, d) and y (m,) in {0, ..., L - 1} with L >= 2."""


def problems_of(
    X: NDArray[np.float64], y: NDArray[np.int64], C: float = 1.0, loss: str | None = None, weights: NDArray[np.float64] | None = None
) -> list[ProgramProblem]:
    """The problems of ordinal regression at points with levels.

    Parameters
    ----------
    X : NDArray[np.float64]
        (m, d) features.
    y : NDArray[np.int64]
        (m,) levels in {0, ..., L - 1}.
    C : float
        Cost of a unit of slack; inf is the hard margin.
    loss : str or None
        "hinge" or "squared_hinge", the families with that loss alone.
    weights : NDArray[np.float64] or None
        (m,) factors of C, finite; of a hard margin, only whether they are 0 matters.
    """
    if np.isinf(C):
        kept = slice(None) if weights is None else weights > 0
        return [hard({"X": X[kept], "y": y[kept]})]
    losses = {implicit: "hinge", explicit: "hinge", implicit_l2: "squared_hinge"}
    data = {"X": X, "y": y, "C": C} | ({} if weights is None else {"weights": weights})
    return [family(data) for family, its in losses.items() if loss in (None, its)]


def features_of(X: Features, kernel: Kernel) -> NDArray[np.float64]:
    """Features whose products are the values of a kernel, but for rounding: (m, d), or (m, r) of a Gram matrix of rank r.

    Raises
    ------
    ValueError : a kernel that is not positive semidefinite, whose values are no products.
    """
    if not kernel.positive_semidefinite:
        raise ValueError(f"kernel must be positive semidefinite for an ordinal regression, and the {kernel.name} kernel is not")
    if kernel == linear():
        return np.asarray(X.toarray() if is_sparse(X) else X)
    values, vectors = np.linalg.eigh(Gram(kernel, X).dense)
    kept = values > LEAST_EIGENVALUE * values[-1]
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))


class Rows(NamedTuple):
    """The rows (i, k) of a problem: points i, thresholds k, sides s and costs c, (p,) each; S (p, L - 1) has s_r in the column k_r."""

    i: NDArray[np.int64]
    k: NDArray[np.int64]
    s: NDArray[np.float64]
    c: NDArray[np.float64]
    S: NDArray[np.float64]


def weights_of(d: Data) -> NDArray[np.float64]:
    """The weights of the points: (m,), of 1 where there are none."""
    return np.asarray(d.get("weights", np.ones(len(d["y"]))), dtype=np.float64)


def rows_of(d: Data, explicit: bool = False) -> Rows:
    """All rows of the points with a weight, or those of the thresholds y_i - 1 and y_i alone.

    Raises
    ------
    ValueError : levels that are no whole numbers from 0 on, or of which there is one alone.
    """
    y, weights = np.asarray(d["y"]), weights_of(d)
    _check_levels(y)
    thresholds = int(y.max())
    chosen = [(i, k) for i, k in product(np.flatnonzero(weights), range(thresholds)) if not explicit or k in (y[i] - 1, y[i])]
    i, k = (np.array(each, dtype=np.int64) for each in zip(*chosen, strict=True))
    s = np.where(y[i] > k, 1.0, -1.0)
    return Rows(i, k, s, d.get("C", 1.0) * weights[i], s[:, None] * np.eye(thresholds)[k])


def _weights(d: Data, rows: Rows, a: Any) -> Any:
    """The w of multipliers a: sum_r a_r s_r x_{i_r}."""
    return (rows.s[:, None] * d["X"][rows.i]).T @ a


def _in_order(b: Any) -> list[Any]:
    """The thresholds in order: b_0 <= b_1 <= ..."""
    return [b[1:] >= b[:-1]] if b.size > 1 else []


def _primal(d: Data, rows: Rows, squared: bool = False, ordered: bool = False) -> cp.Problem:
    """min 1/2 |w|^2 + sum_r c_r xi_r, or sum_r c_r xi_r^2   s.t.   s_r (w.x_{i_r} - b_{k_r}) >= 1 - xi_r,  xi >= 0."""
    w, b, xi = cp.Variable(d["X"].shape[1], name="w"), cp.Variable(rows.S.shape[1], name="b"), cp.Variable(len(rows.i), name="xi")
    margins = cp.multiply(rows.s, (d["X"] @ w)[rows.i] - b[rows.k])
    objective = cp.sum_squares(w) / 2 + rows.c @ (cp.square(xi) if squared else xi)
    return cp.Problem(cp.Minimize(objective), [margins >= 1 - xi, xi >= 0, *(_in_order(b) if ordered else [])])


def _hard(d: Data, rows: Rows, ordered: bool = False) -> cp.Problem:
    """min 1/2 |w|^2   s.t.   s_r (w.x_{i_r} - b_{k_r}) >= 1."""
    w, b = cp.Variable(d["X"].shape[1], name="w"), cp.Variable(rows.S.shape[1], name="b")
    margins = cp.multiply(rows.s, (d["X"] @ w)[rows.i] - b[rows.k])
    return cp.Problem(cp.Minimize(cp.sum_squares(w) / 2), [margins >= 1, *(_in_order(b) if ordered else [])])


def _beta(d: Data, rows: Rows, squared: bool = False, ordered: bool = False) -> cp.Problem:
    """min 1/2 beta'K beta + sum_r c_r loss(1 - s_r ((K beta)_{i_r} - b_{k_r}))  with K = XX', loss(u) = u_+ or u_+^2.

    Neither K beta nor beta'K beta is written with products that are rounded: a K of another rank
    than X has another optimum.
    """
    beta, b, w = cp.Variable(len(d["X"]), name="beta"), cp.Variable(rows.S.shape[1], name="b"), cp.Variable(d["X"].shape[1], name="w")
    short = cp.pos(1 - cp.multiply(rows.s, (d["X"] @ w)[rows.i] - b[rows.k]))
    objective = cp.sum_squares(w) / 2 + rows.c @ (cp.square(short) if squared else short)
    return cp.Problem(cp.Minimize(objective), [w == d["X"].T @ beta, *(_in_order(b) if ordered else [])])


def _dual(d: Data, rows: Rows, bounded: bool = False, square: float = 0.0, ordered: bool = False) -> cp.Problem:
    """max 1'a - 1/2 |sum_r a_r s_r x_{i_r}|^2 - square sum_r a_r^2 / c_r   s.t.   0 <= a,  a <= c,  S'a = 0, or E'mu of the order of b."""
    a, pushes = cp.Variable(len(rows.i), name="a"), rows.S.shape[1] - 1
    objective = cp.sum(a) - cp.sum_squares(_weights(d, rows, a)) / 2 - (cp.square(a) @ (square / rows.c) if square else 0)
    box = [a >= 0, *([a <= rows.c] if bounded else [])]
    if not ordered or not pushes:
        return cp.Problem(cp.Maximize(objective), [*box, rows.S.T @ a == 0])
    mu = cp.Variable(pushes, name="mu")
    E = np.eye(pushes + 1)[1:] - np.eye(pushes + 1)[:-1]
    return cp.Problem(cp.Maximize(objective), [*box, mu >= 0, rows.S.T @ a == E.T @ mu])


def _classification(d: Data, squared: bool = False) -> cp.Problem:
    """min 1/2 |w|^2 + C sum_i loss(1 - y_i (w.x_i + b)),  y_i in {-1, 1}."""
    w, b, y = cp.Variable(d["X"].shape[1], name="w"), cp.Variable(name="b"), 2.0 * d["y"] - 1.0
    short = cp.pos(1 - cp.multiply(y, d["X"] @ w + b))
    return cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + (d["C"] * weights_of(d)) @ (cp.square(short) if squared else short)))


def _more_levels(d: Data) -> str | None:
    """Why ordinal regression is no classification: it has more than two levels."""
    levels = int(np.max(d["y"])) + 1
    return f"there are {levels} levels, and classification has two" if levels > 2 else None


def _pairs(d: Data) -> NDArray[np.float64]:
    """The differences x_i - x_j of all points with y_i > y_j: (p, d)."""
    i, j = np.nonzero(np.subtract.outer(d["y"], d["y"]) > 0)
    return np.asarray(d["X"][i] - d["X"][j])


def solved(d: Data, kind: Callable[..., AnyMachine], by: Callable[[Any, Limits], OrdinalFit], **more: Any) -> Data:
    """The w and the thresholds of a specialised solver, which gets the points with a weight alone.

    Raises
    ------
    TimeoutError : a run that its time limit ended, which is that of the caller who waits for it.
    ValueError : another run that ended before it reached its accuracy.
    """
    fit = _reached(_fit(d, kind, by, **more))
    return {"w": fit.machine.X.T @ fit.beta if fit.w is None else fit.w, "b": fit.b}


def _answer(d: Data, by: Callable[[Any, Limits], OrdinalFit], squared: bool = False) -> Data | float:
    """Return the answer of a solver: its w and thresholds.

    Of a large problem it is the value that it proves itself, as `OrdinalClassifier` does.
    """
    if not _is_large(d):
        return solved(d, Machine, by, squared=squared)
    return _reached(_fit(d, Machine, by, squared=squared)).interval.upper


def _prove(d: Data, seconds: float, squared: bool = False) -> Interval | None:
    """Return the interval that Newton's method proves of a large problem.

    It holds however the floats are read.
    """
    if not _is_large(d):
        return None
    fit = _fit(d, Machine, newton, seconds, squared=squared)
    return fit.machine.proven(fit, NEAR_ULPS) if fit.gap <= CLOSE else None


def _is_large(d: Data) -> bool:
    """Return True if all thresholds together have too many rows for rational arithmetic."""
    return int(np.count_nonzero(weights_of(d))) * int(np.max(d["y"])) > RATIONAL_ROWS


def _fit(
    d: Data, kind: Callable[..., AnyMachine], by: Callable[[Any, Limits], OrdinalFit], seconds: float | None = None, **more: Any
) -> OrdinalFit:
    """Return the fit at which a specialised solver ends, on the points with a weight.

    It takes the given seconds at most, by default those for which its caller waits.
    """
    kept = np.flatnonzero(weights_of(d))
    X, y = np.asarray(d["X"])[kept], np.asarray(d["y"], dtype=np.int64)
    machine = kind(X, y[kept], d["C"] * weights_of(d)[kept], linear(), levels=int(y.max()) + 1, **more)
    limit = seconds_left() if seconds is None else seconds
    return by(machine, Limits(CLOSE if by is smo else ASKED, time_limit=limit))


def _reached(fit: OrdinalFit) -> OrdinalFit:
    """Return the fit, if it has reached its accuracy."""
    if fit.gap <= CLOSE:
        return fit
    if fit.status is Status.TIME_LIMIT:
        raise TimeoutError(f"no accurate point within {fit.seconds:.3g} s; the relative gap is {fit.gap:.2g}")
    raise ValueError(f"{fit.status.sentence} {fit.reason}; the relative gap is {fit.gap:.2g}")


def _of_dual(explicit: bool) -> Callable[[Mapping[str, Any], Any], Data]:
    return lambda values, d: {"w": _weights(d, rows_of(d, explicit), values["a"])}


def _cut(w: NDArray[np.float64], d: Data) -> Data:
    """Return a w that keeps levels apart, with thresholds half way between them.

    What lies below all levels gets a margin of 1.
    """
    f, y = np.asarray(d["X"] @ w), np.asarray(d["y"])
    ends = [(f[y <= k].max() if k >= y.min() else f.min() - 2, f[y > k].min()) for k in range(int(y.max()))]
    return {"w": w, "b": np.array([(low + high) / 2 for low, high in ends])}


def _of_beta(values: Mapping[str, Any], d: Data) -> Data:
    return {"w": d["X"].T @ values["beta"], "b": values["b"]}


def _of_bias(values: Mapping[str, Any], d: Data) -> Data:
    return {"w": values["w"], "b": -np.ravel(values["b"])}


@implicit.formulation("primal", latex=r"\min \tfrac12 |w|^2 + C \sum_{ik} \xi_{ik}", prove=_prove)
def implicit_primal(d: Data) -> cp.Problem:
    """min 1/2 |w|^2 + C sum_ik xi_ik   s.t.   s_ik (w.x_i - b_k) >= 1 - xi_ik,  xi >= 0,  of all points i and thresholds k."""
    return _primal(d, rows_of(d))


@implicit.formulation("dual", latex=r"\max 1'a - \tfrac12 |\sum_{ik} a_{ik} s_{ik} x_i|^2", to_canonical=_of_dual(explicit=False))
def implicit_dual(d: Data) -> cp.Problem:
    """max sum_ik a_ik - 1/2 |sum_ik a_ik s_ik x_i|^2   s.t.   0 <= a <= C,  sum_i s_ik a_ik = 0 of every threshold k."""
    return _dual(d, rows_of(d), bounded=True)


@implicit.formulation("beta", to_canonical=_of_beta)
def implicit_beta(d: Data) -> cp.Problem:
    """min 1/2 beta'K beta + C sum_ik (1 - s_ik ((K beta)_i - b_k))_+  with K = XX'."""
    return _beta(d, rows_of(d))


@implicit.formulation("two_levels", applies=_more_levels, to_canonical=_of_bias)
def implicit_two_levels(d: Data) -> cp.Problem:
    """svm.soft at the labels -1 and 1 of the levels 0 and 1: min 1/2 |w|^2 + C sum_i (1 - y_i (w.x_i + b))_+, with b = -b_0."""
    return _classification(d)


@implicit.formulation("neighbours", control=True)
def implicit_neighbours(d: Data) -> cp.Problem:
    """The thresholds next to a point's level alone, without an order of b."""
    return _primal(d, rows_of(d, explicit=True))


@implicit.formulation("rank_l1", control=True)
def implicit_rank_l1(d: Data) -> cp.Problem:
    """rank.l1, which looks alike: min 1/2 |w|^2 + C sum over y_i > y_j of (1 - w.(x_i - x_j))_+."""
    w = cp.Variable(d["X"].shape[1], name="w")
    return cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + d["C"] * cp.sum(cp.pos(1 - _pairs(d) @ w))))


@solver(
    "ord.implicit.newton",
    implicit,
    algorithm="Newton's method on w and the thresholds, hinges smoothed around their multipliers",
    reference=False,
)
def implicit_newton(problem: ProgramProblem) -> Data | float:
    """The optimal w and thresholds."""
    d = problem.data
    return _answer(d, newton)


@solver(
    "ord.implicit.smo", implicit, algorithm="sequential minimal optimisation, two multipliers of one threshold at a time", reference=False
)
def implicit_smo(problem: ProgramProblem) -> Data | float:
    """The w of the multipliers, and the best thresholds of it."""
    d = problem.data
    return _answer(d, smo)


@implicit_l2.formulation("primal", latex=r"\min \tfrac12 |w|^2 + C \sum_{ik} \xi_{ik}^2", prove=partial(_prove, squared=True))
def implicit_l2_primal(d: Data) -> cp.Problem:
    """min 1/2 |w|^2 + C sum_ik xi_ik^2   s.t.   s_ik (w.x_i - b_k) >= 1 - xi_ik,  xi >= 0,  of all points i and thresholds k."""
    return _primal(d, rows_of(d), squared=True)


@implicit_l2.formulation(
    "dual", latex=r"\max 1'a - \tfrac12 |\sum_{ik} a_{ik} s_{ik} x_i|^2 - \tfrac1{4C} |a|^2", to_canonical=_of_dual(explicit=False)
)
def implicit_l2_dual(d: Data) -> cp.Problem:
    """max sum_ik a_ik - 1/2 |sum_ik a_ik s_ik x_i|^2 - |a|^2 / (4C)   s.t.   a >= 0,  sum_i s_ik a_ik = 0 of every threshold k."""
    return _dual(d, rows_of(d), square=0.25)


@implicit_l2.formulation("beta", to_canonical=_of_beta)
def implicit_l2_beta(d: Data) -> cp.Problem:
    """min 1/2 beta'K beta + C sum_ik (1 - s_ik ((K beta)_i - b_k))_+^2  with K = XX'."""
    return _beta(d, rows_of(d), squared=True)


@implicit_l2.formulation("two_levels", applies=_more_levels, to_canonical=_of_bias)
def implicit_l2_two_levels(d: Data) -> cp.Problem:
    """svm.l2 at the labels -1 and 1 of the levels 0 and 1: min 1/2 |w|^2 + C sum_i (1 - y_i (w.x_i + b))_+^2, with b = -b_0."""
    return _classification(d, squared=True)


@implicit_l2.formulation("dual.of_half", control=True)
def implicit_l2_dual_of_half(d: Data) -> cp.Problem:
    """The dual of C/2 sum xi^2, with |a|^2 / (2C)."""
    return _dual(d, rows_of(d), square=0.5)


@solver(
    "ord.implicit_l2.newton",
    implicit_l2,
    algorithm="finite Newton on w and the thresholds, as fast as that of a classification",
    reference=False,
)
def implicit_l2_newton(problem: ProgramProblem) -> Data | float:
    """The optimal w and thresholds."""
    d = problem.data
    return _answer(d, newton, squared=True)


@solver(
    "ord.implicit_l2.smo",
    implicit_l2,
    algorithm="sequential minimal optimisation, two multipliers of one threshold at a time",
    reference=False,
)
def implicit_l2_smo(problem: ProgramProblem) -> Data | float:
    """The w of the multipliers, and the best thresholds of it."""
    d = problem.data
    return _answer(d, smo, squared=True)


@explicit.formulation("primal", latex=r"\min \tfrac12 |w|^2 + C \sum_{ik} \xi_{ik},\; b_k \le b_{k+1}")
def explicit_primal(d: Data) -> cp.Problem:
    """min 1/2 |w|^2 + C sum_ik xi_ik   s.t.   s_ik (w.x_i - b_k) >= 1 - xi_ik,  xi >= 0,  of k = y_i - 1 and y_i,  b_k <= b_{k+1}."""
    return _primal(d, rows_of(d, explicit=True), ordered=True)


@explicit.formulation("dual", latex=r"\max 1'a - \tfrac12 |\sum_{ik} a_{ik} s_{ik} x_i|^2", to_canonical=_of_dual(explicit=True))
def explicit_dual(d: Data) -> cp.Problem:
    """max sum a - 1/2 |sum a_ik s_ik x_i|^2   s.t.   0 <= a <= C,  mu >= 0,  sum_i s_ik a_ik = mu_{k-1} - mu_k,  none at the ends."""
    return _dual(d, rows_of(d, explicit=True), bounded=True, ordered=True)


@explicit.formulation("beta", to_canonical=_of_beta)
def explicit_beta(d: Data) -> cp.Problem:
    """min 1/2 beta'K beta + C sum_ik (1 - s_ik ((K beta)_i - b_k))_+   s.t.   b_k <= b_{k+1},  of k = y_i - 1 and y_i, with K = XX'."""
    return _beta(d, rows_of(d, explicit=True), ordered=True)


@explicit.formulation("two_levels", applies=_more_levels, to_canonical=_of_bias)
def explicit_two_levels(d: Data) -> cp.Problem:
    """svm.soft at the labels -1 and 1 of the levels 0 and 1: min 1/2 |w|^2 + C sum_i (1 - y_i (w.x_i + b))_+, with b = -b_0."""
    return _classification(d)


@explicit.formulation("unordered", control=True)
def explicit_unordered(d: Data) -> cp.Problem:
    """The primal without b_k <= b_{k+1}, which is lower where none of its optima has b in order."""
    return _primal(d, rows_of(d, explicit=True))


@solver(
    "ord.explicit.newton", explicit, algorithm="Newton's method, hinges and the order smoothed around their multipliers", reference=False
)
def explicit_newton(problem: ProgramProblem) -> Data:
    """The optimal w and thresholds."""
    d = problem.data
    return solved(d, Neighbours, newton)


@hard.formulation("primal", latex=r"\min \tfrac12 |w|^2,\; s_{ik} (w \cdot x_i - b_k) \ge 1")
def hard_primal(d: Data) -> cp.Problem:
    """min 1/2 |w|^2   s.t.   s_ik (w.x_i - b_k) >= 1,  of all points i and thresholds k."""
    return _hard(d, rows_of(d))


@hard.formulation("neighbours")
def hard_neighbours(d: Data) -> cp.Problem:
    """min 1/2 |w|^2   s.t.   s_ik (w.x_i - b_k) >= 1,  of k = y_i - 1 and y_i,  b_k <= b_{k+1}."""
    return _hard(d, rows_of(d, explicit=True), ordered=True)


@hard.formulation(
    "dual", latex=r"\max 1'a - \tfrac12 |\sum_{ik} a_{ik} s_{ik} x_i|^2", to_canonical=lambda v, d: _cut(_weights(d, rows_of(d), v["a"]), d)
)
def hard_dual(d: Data) -> cp.Problem:
    """max sum_ik a_ik - 1/2 |sum_ik a_ik s_ik x_i|^2   s.t.   a >= 0,  sum_i s_ik a_ik = 0 of every threshold k."""
    return _dual(d, rows_of(d))


@hard.formulation("rank_hard", value=lambda value, d: 4 * value, to_canonical=lambda values, d: _cut(2 * values["w"], d))
def hard_rank_hard(d: Data) -> cp.Problem:
    """rank.hard, times 4: min 1/2 |w|^2   s.t.   w.(x_i - x_j) >= 1  of all y_i > y_j. Two w of it have thresholds, with margins of 1."""
    w = cp.Variable(d["X"].shape[1], name="w")
    return cp.Problem(cp.Minimize(cp.sum_squares(w) / 2), [_pairs(d) @ w >= 1])


@hard.formulation("rank_hard.unscaled", control=True)
def hard_unscaled(d: Data) -> cp.Problem:
    """rank.hard as it is, with a quarter of the value."""
    return hard_rank_hard(d)


@solver(
    "ord.hard.dual_active_set",
    hard,
    algorithm="the hard ranking by its dual active-set method, with thresholds in the middle",
    reference=False,
)
def hard_dual_active_set(problem: ProgramProblem) -> Any:
    """Twice the w of rank.hard, with thresholds; inf where a ray proves that no w keeps the levels apart."""
    d = problem.data
    y = np.asarray(d["y"])
    if y.min() == y.max():
        return {"w": np.zeros(np.shape(d["X"])[1])}  # one level, without a pair; the thresholds lie below it
    limit = seconds_left()
    # `solve` refuses a limit that is over.
    if limit is not None and limit <= 0:
        raise TimeoutError("no accurate point: its time was over at its start")
    found = solve(ranking(d["X"], y, C=np.inf), solver="dual_active_set", tol=CLOSE, time_limit=limit)
    if found.ray is not None:
        return np.inf
    if found.status is Status.TIME_LIMIT:
        raise TimeoutError(f"no accurate point within {found.seconds:.3g} s")
    return _cut(2 * np.asarray(found.w), d)
