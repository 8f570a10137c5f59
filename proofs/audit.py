"""Audits: proven distance of a third-party model from the optimum of its problem.

    excess = 1/2 |f|^2 + sum_r c_r loss(u_r) - optimum

f and b are the model's own, without any repair. Their objective is computed with a
bound on its rounding error. The optimum lies in the intersection of the intervals that
a solver, which starts from the model, and the model's own multipliers prove. The excess
therefore has a proven lower and a proven upper bound.

A file may contain rounded features of support vectors, which then differ from the rows
of the data. Such vectors become further points of the problem, of weight 0: the optimum
is unchanged, and f is the function that the file defines.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from fractions import Fraction
from math import fsum, inf, nextafter
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equimargin.formulations.bounds.intervals import (
    Interval,
    inner_interval,
    interval,
    prepare_intervals,
)
from equimargin.formulations.declarations.program_problem import ProgramProblem
from equimargin.formulations.field.multiclass import crammer_singer, primal
from equimargin.formulations.kernels.kernel import Linear, Precomputed
from equimargin.formulations.markdown import markdown_table, markdown_text
from equimargin.formulations.notebook import notebook_html
from equimargin.formulations.numeric.arguments import check_weights, positive
from equimargin.formulations.numeric.arrays import Array, dense, is_sparse
from equimargin.formulations.numeric.decimals import (
    format_bounds,
    format_lower,
    format_range,
    format_upper,
)
from equimargin.formulations.problem.choices import Bias
from equimargin.formulations.problem.construct import (
    classification,
    ordinal,
    ranking,
    regression,
)
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.programs import compile_program
from equimargin.formulations.rows.listed import Tube
from equimargin.proofs.checker import outward
from equimargin.proofs.enclosure import enclosure
from equimargin.proofs.foreign_machines import (
    AnyModel,
    JointModel,
    Machines,
    encode_labels,
    to_ranker,
)
from equimargin.proofs.foreign_models import Model
from equimargin.proofs.foreign_packages import of_fitted
from equimargin.proofs.program.proven_optimum import above, below
from equimargin.solvers.registry import solve

COLUMNS = ("quantity", "proven")
"""Columns of the table of figures."""
LEAST_SECONDS = 0.1
"""Seconds that the solver of a machine has at least, once the time of all is over."""
EXCESS_OVER_COST = 2.0**-23
"""Largest excess of a dual coefficient over its row's cost that counts as rounding.

It is relative to the cost, and the spacing of single precision, in which ThunderSVM
stores C. A larger excess contradicts C.
"""
LARGEST_IMBALANCE = 1e-6
"""Largest |sum of the dual coefficients| over the sum of their absolute values.

A larger ratio contradicts a free bias.
"""
FEATURE_ROUNDING = 2.0**-23
"""Largest relative difference between a feature of a support vector and its row's.

LIBSVM writes features with 8 digits, and ThunderSVM those of numbers in single
precision. A larger difference shows that the model was trained on other data. Within
this difference a support vector is matched to its row; f is not affected.
"""


@dataclass(frozen=True, eq=False)
class Audit:
    """Proven statements on a model.

    Attributes
    ----------
    source : str
        Kind of the model, as text.
    problem : MarginProblem or ProgramProblem
        Problem that it claims to solve; a ProgramProblem for that of all classes.
    C : float
        Cost of a unit of loss.
    point : Point or None
        The model's f, b and, if it has them, multipliers: those of the rows, then those of
        support vectors that equal no row; None for the problem of all classes.
    objective : Interval
        Interval of the model's objective value.
    optimum : Interval
        Proven interval of the problem's optimum.
    own : Interval
        Interval of the optimum that the model proves by itself, without any solver;
        lower = -inf if it has no multipliers.
    assumed : str
        Assumptions on the problem that the model's file does not state, as text.
    vectors : str
        Agreement of a file's support vectors with the rows of the data, or rounding of the
        w of a ranker of several, as a sentence; empty if the model lists the indices of its
        rows.
    """

    source: str
    problem: MarginProblem | ProgramProblem
    C: float
    point: Point | None
    objective: Interval
    optimum: Interval
    own: Interval
    assumed: str = ""
    vectors: str = ""

    @property
    def excess(self) -> tuple[float, float]:
        """Lower and upper bound of the excess over the optimum, in units of the objective."""
        return (
            max(_difference(self.objective.lower, self.optimum.upper, -1), 0.0),
            _difference(self.objective.upper, self.optimum.lower, 1),
        )

    @property
    def relative_excess(self) -> tuple[float, float]:
        """Bounds of the excess over S = max(|lower|, |upper|, 1e-4 P(0)).

        lower and upper bound the optimum, and P(0) is the objective at f = 0.
        """
        return _relative(self.excess, Fraction(self.optimum.size))

    @property
    def own_relative_excess(self) -> float:
        """Upper bound of the excess over S by the model's multipliers alone; inf without any."""
        own = 0.0, _difference(self.own.upper, self.own.lower, 1)
        return _relative(own, Fraction(self.optimum.size))[1]

    @property
    def figures(self) -> dict[str, str]:
        """Proven quantities as text, rounded outward, by name."""
        own = (
            format_upper(self.own_relative_excess, 3)
            if np.isfinite(self.own.lower)
            else "nothing: it has no multipliers"
        )
        return {
            "optimum of the problem": format_ends(self.optimum),
            "objective of the model": format_ends(self.objective),
            "excess of the model": format_bounds(*self.excess, 6),
            "relative excess": format_bounds(*self.relative_excess, 3),
            "relative excess that its own multipliers prove": own,
        }

    def _repr_html_(self) -> str:
        """Return the statement and the figures for a notebook."""
        return notebook_html(str(self), self.figures.items())

    def to_markdown(self) -> str:
        """Return the statement and the figures as Markdown text."""
        table = markdown_table(COLUMNS, self.figures.items(), words=COLUMNS)
        return markdown_text(str(self), [], table)

    def __str__(self) -> str:
        alone = (
            f"; its own multipliers, without a solver, prove at most "
            f"{format_upper(self.own_relative_excess, 2)}"
        )
        own = alone if np.isfinite(self.own.lower) else ""
        vectors = f"; {self.vectors}" if self.vectors else ""
        assumed = f"; assumed, as its file does not say it: {self.assumed}" if self.assumed else ""
        return (
            f"{self.source}, {self.problem.family}, C={self.C:g}: this model is "
            f"proven to be {format_range(*self.excess, 4)} "
            f"above the optimum of the problem it claims to solve, which is in "
            f"[{format_lower(self.optimum.lower, 8)}, "
            f"{format_upper(self.optimum.upper, 8)}] (relative: "
            f"{format_range(*self.relative_excess, 2)}{own}){vectors}{assumed}"
        )


@dataclass(frozen=True, eq=False)
class MachinesAudit:
    """Proven statements on a classifier of several classes, machine by machine.

    Attributes
    ----------
    source : str
        Kind of the classifier, as text.
    machines : dict of str to Audit
        Audit of every machine, by the names of its classes.
    """

    source: str
    machines: dict[str, Audit]

    @property
    def excess(self) -> tuple[float, float]:
        """Bounds of the sum of all excesses, in units of the objective."""
        lower, upper = zip(*(audited.excess for audited in self.machines.values()), strict=True)
        # `fsum` rounds to nearest, so the next float outwards is a bound.
        return max(nextafter(fsum(lower), -inf), 0.0), nextafter(fsum(upper), inf)

    @property
    def relative_excess(self) -> tuple[float, float]:
        """Bounds of the sum of all excesses over the sum of the sizes S of the optima."""
        sizes = (Fraction(audited.optimum.size) for audited in self.machines.values())
        return _relative(self.excess, sum(sizes, Fraction(0)))

    @property
    def worst(self) -> str:
        """Name of the machine with the largest proven bound of its relative excess."""
        return max(self.machines, key=lambda name: self.machines[name].relative_excess[1])

    @property
    def figures(self) -> dict[str, str]:
        """Bounds of the relative excess of every machine, and of all, rounded outward, by name."""
        bounds = {name: audited.relative_excess for name, audited in self.machines.items()}
        bounds |= {"all machines": self.relative_excess}
        return {
            f"relative excess, {name}": format_bounds(*ends, 3) for name, ends in bounds.items()
        }

    def _repr_html_(self) -> str:
        """Return the statement on all machines and the figures for a notebook."""
        return notebook_html(str(self).splitlines()[-1], self.figures.items())

    def to_markdown(self) -> str:
        """Return the statement on all machines and the figures as Markdown text."""
        table = markdown_table(COLUMNS, self.figures.items(), words=COLUMNS)
        return markdown_text(str(self).splitlines()[-1], [], table)

    def __str__(self) -> str:
        lines = [f"{name}: {audited}" for name, audited in self.machines.items()]
        return "\n".join(
            [
                *lines,
                f"{self.source}, all {len(lines)} machines: in total this classifier is proven to "
                f"be {format_range(*self.excess, 4)} above the sum of their optima (relative: "
                f"{format_range(*self.relative_excess, 2)}; the machine with the largest bound, "
                f"{self.worst}: {format_range(*self.machines[self.worst].relative_excess, 2)})",
            ]
        )


def audit(
    model: Any,
    X: Any,
    y: ArrayLike,
    C: float | None = None,
    epsilon: float | None = None,
    sample_weight: ArrayLike | None = None,
    tol: float = 1e-9,
    time_limit: float = 60.0,
    nearest_rows: bool = False,
) -> Audit | Any:
    """Return the proven distance of a model from the optimum of the problem that it claims.

    An SVC or NuSVC of more than two classes has a machine per pair of classes, a
    LinearSVC one per class against all others; each is audited. With
    multi_class="crammer_singer" there is one problem. `audit_ranker` audits rankers.

    Parameters
    ----------
    model : estimator or AnyModel
        Fitted scikit-learn SVC, NuSVC, SVR, LinearSVC, LinearSVR or Ridge, a class of
        `foreign_packages`, a pipeline that ends in one, a parameter search whose best
        estimator is one, or a model of `foreign_models` or `foreign_machines`.
    X : array-like of shape (m, d)
        Training features, as passed to the model or its pipeline; the Gram matrix for a
        precomputed kernel.
    y : array-like of shape (m,)
        Labels, of which the larger of two is positive, levels or targets. For a model of
        a LIBSVM or LIBLINEAR file, whose labels are numbers, "+1" is the number 1.
    C, epsilon : float, optional
        Parameters of the problem, if the model does not have them.
    sample_weight : array-like of shape (m,), optional
        Factors of C.
    tol : float, default 1e-09
        Relative tolerance of the solver that brackets the optimum.
    time_limit : float, default 60.0
        Time limit of that solver, in seconds; of all its runs for several machines.
    nearest_rows : bool, default False
        True to replace a rounded support vector of a file by the nearest row of X, as
        in the training. By default f is the function of the vectors in the file.

    Returns
    -------
    Audit or MachinesAudit
        The latter if the model has several machines; few callers have to distinguish
        them, so that the annotation does not name it.

    Raises
    ------
    ValueError
        If C or epsilon is missing, or contradicted by the model; if the coefficients
        contradict C or the labels; if support vectors are not rows of X (in a file
        without indices of rows, up to 2^-23 relative); or as the problem's constructor.
    """
    known = model if isinstance(model, AnyModel) else of_fitted(model)
    limits = {"tol": tol, "time_limit": positive(time_limit, "time_limit")}
    if isinstance(known, JointModel):
        return _of_joint(known, X, y, C, epsilon, sample_weight, time_limit)
    if isinstance(known, Machines):
        return _of_machines(known, X, y, C, epsilon, sample_weight, nearest_rows, **limits)
    if known.claimed.task == "ranking":
        raise ValueError(
            f"a {known.source} is a ranker; call audit_ranker, which takes its queries"
        )
    return _of_one(known, X, y, C, epsilon, sample_weight, nearest_rows, **limits)


def audit_ranker(
    model: Any,
    X: Any,
    y: ArrayLike,
    qid: ArrayLike | None = None,
    C: float | None = None,
    per_query: Literal["sum", "mean"] = "sum",
    tol: float = 1e-9,
    time_limit: float = 60.0,
) -> Audit:
    """Return the proven distance of a linear ranker from the optimum of its RankSVM.

    The problem is 1/2 |w|^2 + C sum over pairs loss(1 - w.(x_i - x_j)), where i is
    preferred to j.

    Parameters
    ----------
    model : estimator or Model
        Ranker of a file of SVMlight, SVMrank or LIBLINEAR, or of kind "RankSVM"
        (`foreign_models`); or a LinearSVC without an intercept that was trained on the
        difference x_i - x_j of every pair once, labelled 1 if i is preferred and -1 if j
        is.
    X : array-like of shape (m, d)
        Features of the ranked points, not of the pairs.
    y : array-like of shape (m,)
        Relevances, higher is better.
    qid : array-like of shape (m,), optional
        Queries; pairs are within a query. Without any, all rows are of one query.
    C : float, optional
        Cost of a pair, if the model does not have it: that of SVMlight (-c), of LIBLINEAR,
        and of SVMrank over the number of queries.
    per_query : {"sum", "mean"}, default "sum"
        "mean" if the pairs of a query share C, as in SVMrank with -l 2.
    tol, time_limit : float
        As in `audit`.

    Raises
    ------
    ValueError
        If the model is no ranker, C is missing or contradicted by the model, or as
        `ranking`.
    """
    known = to_ranker(model if isinstance(model, AnyModel) else of_fitted(model))
    claimed, C = known.claimed, _agreed("C", known.claimed.C, C)
    X = _extended(known, X)
    problem = ranking(X, y, qid, _finite(C), claimed.kernel, claimed.loss, per_query)
    # One vector of coefficient 1, as SVMrank writes it, is w without rounding.
    n = 0 if known.coefficients is None else len(known.coefficients)
    vectors = f"its w is the rounded sum of {n} support vectors" if n > 1 else ""
    known = _with_weights(known, problem)
    point = _linear_point(known, problem)
    return _compared(
        known, problem, problem, point, vectors, tol, positive(time_limit, "time_limit")
    )


def _of_one(
    known: Model,
    X: Any,
    y: ArrayLike,
    C: float | None,
    epsilon: float | None,
    sample_weight: ArrayLike | None,
    nearest_rows: bool,
    tol: float,
    time_limit: float,
) -> Audit:
    """Return the audit of a model of one function."""
    C = _cost(known, len(np.asarray(y)), C, sample_weight)
    problem = _problem(known, known.features(X), y, _finite(C), epsilon, sample_weight)
    known = _with_weights(known, problem)
    # A linear model has w alone; any other has the coefficients of its support vectors.
    if known.coefficients is None:
        whole, point, vectors = problem, _linear_point(known, problem), ""
    else:
        whole, point, vectors = _expansion(known, problem, sample_weight, nearest_rows)
    return _compared(known, problem, whole, point, vectors, tol, time_limit)


def _compared(
    known: Model,
    problem: MarginProblem,
    whole: MarginProblem,
    point: Point,
    vectors: str,
    tol: float,
    time_limit: float,
) -> Audit:
    """Return the audit of a point of a problem, or of the problem with further points."""
    start = _start(problem, whole, point)
    solution = solve(problem, tol=tol, time_limit=time_limit, warm_start=start)
    if whole is problem:
        prepare_intervals(problem, point, problem.own_point(solution.point))
    proven, inner = (
        interval(whole, point),
        inner_interval(whole, Point(w=point.w, beta=point.beta, b=point.b)),
    )
    optimum = solution.interval if point.alpha is None else solution.interval.intersected(proven)
    objective = Interval(inner.upper, proven.upper, problem.scale)
    return Audit(
        known.source,
        problem,
        problem.C,
        point,
        objective,
        optimum,
        proven,
        known.assumed,
        vectors,
    )


def _start(problem: MarginProblem, whole: MarginProblem, point: Point) -> Point | None:
    """Return the point of the model, from which the solver starts: it is near the optimum.

    None if the model has no multipliers and vectors that are no rows.
    """
    if whole is problem:
        return point
    if point.alpha is None:
        return None
    return Point(alpha=_multipliers(whole.rows.rdot(point.alpha)[: problem.m], problem))


def _difference(first: float, second: float, way: int) -> float:
    """Return first - second, rounded down (way -1) or up (1)."""
    difference = first - second
    if not np.isfinite(difference):
        return difference
    return outward(Fraction(first) - Fraction(second), way)


def _relative(excess: tuple[float, float], size: Fraction) -> tuple[float, float]:
    """Return the bounds of an excess over a size, rounded outward."""
    least, most = (Fraction(end) / size if np.isfinite(end) else end for end in excess)
    return outward(least, -1), outward(most, 1)


def _finite(C: float) -> float:
    """Return C; raise a ValueError if it is infinite."""
    if not np.isfinite(C):
        raise ValueError(
            "C must be finite; a hard-margin model in floating point has no objective value"
        )
    return C


def _cost(model: Model, m: int, C: float | None, sample_weight: ArrayLike | None) -> float:
    """Return C of the model's problem on m rows.

    That of a NuSVC follows from its coefficients, whose sum is C nu m.
    """
    if model.nu is None:
        return _agreed("C", model.claimed.C, C)
    if C is not None:
        raise ValueError("C of a NuSVC follows from its coefficients; leave it out")
    if sample_weight is not None:
        raise ValueError(
            "a NuSVC with sample weights solves no known problem; audit it without weights"
        )
    assert model.coefficients is not None
    return fsum(np.abs(model.coefficients)) / (model.nu * m)


def _of_machines(
    known: Machines,
    X: Any,
    y: ArrayLike,
    C: float | None,
    epsilon: float | None,
    sample_weight: ArrayLike | None,
    nearest_rows: bool,
    tol: float,
    time_limit: float,
) -> MachinesAudit:
    """Return the audit of every machine on its rows; machines share the time that is left."""
    points = known.features(X)
    points = points.tocsr() if is_sparse(points) else np.asarray(points, dtype=np.float64)
    m = points.shape[0]
    codes = encode_labels(y, m, known.k, known.numeric_labels)
    weights = None if sample_weight is None else check_weights(sample_weight, m, "sample_weight")
    until, audits = time.monotonic() + time_limit, {}
    for number, machine in enumerate(known.machines):
        model, is_given = machine.model, isinstance(machine.model.claimed.kernel, Precomputed)
        rows = np.flatnonzero(np.isin(codes, machine.negative + machine.positive))
        # Rows without weight change nothing, and scikit-learn does not number them.
        weighed = np.arange(m) if weights is None else np.flatnonzero(weights > 0)
        rows = np.intersect1d(rows, weighed)
        try:
            if is_given and points.shape != (m, m):
                raise ValueError(
                    f"a precomputed kernel needs the square Gram matrix; this one is {m} x "
                    f"{points.shape[1]}"
                )
            of_rows = points[np.ix_(rows, rows)] if is_given else points[rows]
            if model.support is not None:
                model = _within(model, points, rows, weighed)
            share = max((until - time.monotonic()) / (len(known.machines) - number), LEAST_SECONDS)
            audits[machine.name] = _of_one(
                model,
                of_rows,
                np.isin(codes[rows], machine.positive).astype(np.float64),
                C,
                epsilon,
                None if weights is None else weights[rows],
                nearest_rows,
                tol,
                share,
            )
        except ValueError as reason:
            raise ValueError(f"{machine.name}: {reason}") from None
    return MachinesAudit(known.source, audits)


def _within(
    model: Model, points: Any, rows: NDArray[np.int64], weighed: NDArray[np.int64]
) -> Model:
    """Return a machine whose support vectors are numbered within its rows."""
    assert model.support is not None
    support = _numbered(model, model.support, points, weighed)
    if not np.isin(support, rows).all():
        raise ValueError(
            "the labels are contradicted: a support vector is a row of another class, or has no "
            "weight"
        )
    return replace(model, support=np.searchsorted(rows, support))


def _of_joint(
    known: JointModel,
    X: Any,
    y: ArrayLike,
    C: float | None,
    epsilon: float | None,
    sample_weight: ArrayLike | None,
    seconds: float,
) -> Audit:
    """Return the audit of the weights of all classes of one problem, in rational numbers."""
    C = _agreed("C", known.C, C)
    if epsilon is not None or sample_weight is not None:
        raise ValueError("crammer_singer has neither an epsilon nor sample weights; leave them out")
    points = known.features(X)
    codes = encode_labels(y, len(points), len(known.W), known.numeric_labels)
    if points.shape[1] != known.W.shape[1]:
        constant = known.constant is not None
        raise ValueError(
            f"the model has {known.W.shape[1] - constant} features and the data "
            f"{points.shape[1] - constant}"
        )
    data = {"X": points, "y": codes.astype(np.float64), "C": C}
    problem = crammer_singer(data)
    # The floats of X are read as they are, as those of W.
    proven = enclosure(compile_program(primal(data)), seconds=seconds)
    value, scale = _joint_value(known.W, points, codes, C), C * len(codes)
    optimum = Interval(below(proven.lower), above(proven.upper), scale)
    objective = Interval(below(value), above(value), scale)
    own = Interval(-inf, objective.upper, scale)
    return Audit(known.source, problem, C, None, objective, optimum, own, known.assumed)


def _joint_value(W: Array, X: Array, codes: NDArray[np.int64], C: float) -> Fraction:
    """Return 1/2 |W|^2 + C sum_i max_r ([r != y_i] + w_r.x_i - w_{y_i}.x_i), exactly."""
    weights = [[Fraction(v) for v in row] for row in W.tolist()]
    loss = Fraction(0)
    for x, own in zip(X.tolist(), codes.tolist(), strict=True):
        point = [(at, Fraction(v)) for at, v in enumerate(x) if v != 0]
        scores = [sum(row[at] * v for at, v in point) + (r != own) for r, row in enumerate(weights)]
        loss += max(scores) - scores[own]
    norm2 = sum((v * v for row in weights for v in row), Fraction(0))
    return norm2 / 2 + Fraction(C) * loss


def format_ends(interval: Interval) -> str:
    """Return the endpoints of an interval as text, rounded outward.

    Parameters
    ----------
    interval : Interval
        Interval.
    """
    return f"[{format_lower(interval.lower, 15)}, {format_upper(interval.upper, 15)}]"


def _problem(
    model: Model,
    X: Any,
    y: ArrayLike,
    C: float,
    epsilon: float | None,
    sample_weight: ArrayLike | None,
) -> MarginProblem:
    """Return the problem that the model claims to solve, with the caller's parameters."""
    targets, claimed = np.asarray(y), model.claimed
    X = _extended(model, X)
    if claimed.task == "regression":
        half_width = _agreed("epsilon", claimed.epsilon, epsilon)
        tube = regression(X, targets, C, half_width, claimed.kernel, claimed.loss, sample_weight)
        return tube if claimed.free_bias else replace(tube, bias=False)
    if epsilon is not None:
        raise ValueError(f"epsilon belongs to regression, and this is a model for {claimed.task}")
    if model.thresholds is not None:
        if sample_weight is not None:
            raise ValueError(f"a {model.source} has no sample weights; leave them out")
        levels = len(model.thresholds) + 1
        codes = encode_labels(targets, targets.size, levels, model.numeric_labels)
        return ordinal(X, codes, C, claimed.kernel, claimed.loss, levels=levels)
    # The larger of two labels is the positive class.
    codes = encode_labels(targets, targets.size, 2, model.numeric_labels)
    signs = 2.0 * codes - 1.0
    of_class = np.where(signs > 0, claimed.class_weight[1], claimed.class_weight[0])
    weights = of_class * (
        1.0
        if sample_weight is None
        else check_weights(sample_weight, targets.size, "sample_weight")
    )
    bias: Bias = True if claimed.free_bias else "penalized" if claimed.constant == 1.0 else False
    given = None if (weights == 1.0).all() else weights
    return classification(X, signs, C, claimed.kernel, claimed.loss, bias, given)


def _with_weights(model: Model, problem: MarginProblem) -> Model:
    """Return a model with w if vectors that are no rows have its linear function.

    With a free bias the coefficients of a trained model sum to 0, so that it has two
    support vectors or none. A linear function may be written as one, which is w, and that
    of a ranker as many, whose coefficients are no multipliers of pairs.
    """
    beta, task = model.coefficients, model.claimed.task
    if beta is None or model.support is not None or not isinstance(model.claimed.kernel, Linear):
        return model
    if len(beta) != 1 and task != "ranking":
        return model
    w = beta @ _as_wide_as(problem, model.vectors)
    return replace(model, w=w, coefficients=None, vectors=None)


def _linear_point(model: Model, problem: MarginProblem) -> Point:
    """Return the point of a linear model; the weight of an appended constant is part of w."""
    constant, w = model.claimed.constant, model.w
    assert w is not None
    d = problem.X.shape[1] - model.claimed.extra_features
    if len(w) > d:
        raise ValueError(f"the model has {len(w)} weights and the data {d} features")
    # Programs of sparse data leave trailing features of value 0 out.
    if (problem.X[:, len(w) : d] != 0).sum() > 0:
        raise ValueError(
            f"the model has {len(w)} weights, and the data have {d} features, of which a further "
            f"one is not 0; pass the features of its training"
        )
    bias = [] if constant is None else [model.b / constant]
    return Point(
        w=np.concatenate([w, np.zeros(d - len(w)), bias]),
        b=model.b if model.claimed.free_bias else 0.0,
    )


def _expansion(
    model: Model, problem: MarginProblem, sample_weight: ArrayLike | None, nearest_rows: bool
) -> tuple[MarginProblem, Point, str]:
    """Return the problem with all support vectors, the point, and a sentence on the vectors."""
    assert model.coefficients is not None
    n = len(model.coefficients)
    if not model.has_multipliers and n != problem.m:
        raise ValueError(
            f"the {model.source} was fitted on {n} rows, and the data have {problem.m}"
        )
    if model.support is not None:
        weighed = (
            np.arange(problem.m)
            if sample_weight is None
            else np.flatnonzero(np.asarray(sample_weight) > 0)
        )
        support, vectors = _numbered(model, model.support, problem.X, weighed), None
    else:
        vectors = _as_wide_as(problem, model.vectors)
        support = _matched(model, vectors, problem)
    if len(np.unique(support)) < n:
        raise ValueError("two support vectors are one row of the data")
    places, whole, sentence = support.copy(), problem, ""
    if vectors is not None:
        rounded = np.flatnonzero((vectors != _dense(problem.X[support])).any(axis=1))
        sentence = _said_of_vectors(n, len(rounded), nearest_rows)
        if len(rounded) and not nearest_rows:
            places[rounded], whole = (
                problem.m + np.arange(len(rounded)),
                _with_points(problem, vectors[rounded]),
            )
    coefficient_of_row, beta = np.zeros(whole.m), np.zeros(whole.m)
    coefficient_of_row[support], beta[places] = model.coefficients, model.coefficients
    if not model.has_multipliers:
        b = model.b if model.thresholds is None else np.squeeze(-model.thresholds)
        return whole, Point(beta=beta, b=b), sentence
    alpha = _multipliers(coefficient_of_row, whole)
    # LIBSVM divides the multipliers by the margin, which may be of either sign if it is 0.
    if model.nu is not None and not (alpha > 0).any():
        raise ValueError(
            "the margin of this NuSVC is 0 within its tolerance, so that it is the solution at no "
            "finite C; train it with a larger nu"
        )
    _check_coefficients(coefficient_of_row, alpha, whole, sample_weight is not None)
    return whole, Point(beta=beta, b=model.b, alpha=alpha), sentence


def _said_of_vectors(n: int, rounded: int, nearest_rows: bool) -> str:
    """Return a sentence on the rounded ones among the n support vectors of a file."""
    if not rounded:
        return "every support vector of its file equals a row of the data"
    audited = "are taken to be those rows" if nearest_rows else "are audited as the file has them"
    return (
        f"{rounded} of {n} support vectors of its file differ from their rows of the data, by "
        f"rounding, and {audited}"
    )


def _with_points(problem: MarginProblem, vectors: Array) -> MarginProblem:
    """Return the problem with further points, whose rows have weight 0."""
    rows, none = problem.rows, np.zeros(len(vectors))
    weights = np.concatenate(
        [np.ones(problem.m) if problem.weights is None else problem.weights[: problem.m], none]
    )
    X = np.vstack([_dense(problem.X), vectors])
    if isinstance(rows, Tube):
        return regression(
            X,
            np.concatenate([rows.y, none]),
            problem.C,
            rows.epsilon,
            problem.kernel,
            problem.loss,
            weights,
        )
    signs = np.concatenate([rows.y, none + 1])
    return classification(X, signs, problem.C, problem.kernel, problem.loss, problem.bias, weights)


def _multipliers(coefficients: Array, problem: MarginProblem) -> Array:
    """Return the multipliers alpha, (p,), of the points' coefficients."""
    if isinstance(problem.rows, Tube):
        return np.concatenate([np.maximum(coefficients, 0.0), np.maximum(-coefficients, 0.0)])
    alpha: Array = problem.rows.y * coefficients
    return alpha


def _check_coefficients(
    beta: Array, alpha: Array, problem: MarginProblem, is_weighted: bool
) -> None:
    """Raise a ValueError if the coefficients are not those of feasible multipliers."""
    if (excess := float((alpha - problem.costs * (1 + EXCESS_OVER_COST)).max(initial=0.0))) > 0:
        worst = int(np.argmax(alpha - problem.costs))
        raise ValueError(
            f"C = {problem.C:g} is contradicted: the dual coefficient of a row is "
            f"{alpha[worst]:.9g}, {excess:.3g} above its cost"
            + ("" if is_weighted else "; if it was fitted with sample_weight, pass it")
        )
    if (alpha < -EXCESS_OVER_COST * problem.costs).any():
        raise ValueError(
            "the labels are contradicted: a dual coefficient has the sign of the other class"
        )
    if abs(float(beta.sum())) > LARGEST_IMBALANCE * float(np.abs(beta).sum()):
        raise ValueError(
            "the dual coefficients do not sum to 0: the model has no free bias, or is not "
            "of these rows"
        )


def _numbered(
    model: Model, support: NDArray[np.int64], X: Any, weighed: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the indices of the support vectors in the data.

    scikit-learn counts only rows of positive sample weight.
    """
    m = X.shape[0]
    outside = support[(support < 0) | (support >= m)]
    if len(outside):
        raise ValueError(
            f"a support vector is row {int(outside[0])} of the data, which have {m} rows"
        )
    if model.vectors is None:
        if len(weighed) < m:
            raise ValueError(
                "the rows of the support vectors are unknown if a sample weight is 0; leave those "
                "rows out of the data"
            )
        return support
    vectors = _dense(model.vectors)
    if vectors.shape[1] != X.shape[1]:
        raise ValueError(f"the model has {vectors.shape[1]} features and the data {X.shape[1]}")
    for rows in (weighed, np.arange(m)):
        if support.max(initial=-1) < len(rows) and np.array_equal(
            _dense(X[rows[support]]), vectors
        ):
            return rows[support]
    raise ValueError(
        "the support vectors are not the rows of the data with their numbers: the model is of "
        "other data, or of scaled data; pass the data of its training"
    )


def _as_wide_as(problem: MarginProblem, vectors: Any) -> Array:
    """Return support vectors with all features of the data; absent ones are 0."""
    n, d = vectors.shape[0], problem.X.shape[1]
    if vectors.shape[1] > d:
        raise ValueError(f"the model has {vectors.shape[1]} features and the data {d}")
    return np.hstack([_dense(vectors), np.zeros((n, d - vectors.shape[1]))])


def _matched(model: Model, vectors: Array, problem: MarginProblem) -> NDArray[np.int64]:
    """Return the index of the nearest row to each support vector; a row is used only once.

    Rows whose label fits the sign of the coefficient are preferred.
    """
    assert model.coefficients is not None
    X, y, m = _dense(problem.X), problem.rows.y, problem.m
    order, first, last = _windows(vectors, X)
    free, support = np.ones(m, dtype=bool), np.zeros(len(vectors), dtype=np.int64)
    # Most vectors have one candidate, which is that of no other.
    alone = np.flatnonzero(last - first == 1)
    only = order[first[alone]]
    sure = _is_near(X[only], vectors[alone]) & (np.bincount(only, minlength=m)[only] == 1)
    support[alone[sure]], free[only[sure]] = only[sure], False
    for k in np.setdiff1d(np.arange(len(vectors)), alone[sure]).tolist():
        z, near = vectors[k], np.sort(order[first[k] : last[k]])
        near = near[free[near] & _is_near(X[near], z)]
        if not len(near):
            raise ValueError(
                f"support vector {k + 1} of {len(vectors)} is no row of the data: the model is "
                f"of other data, or of scaled data; pass the data of its training"
            )
        if model.claimed.task == "classification":
            fitting = near[y[near] * model.coefficients[k] > 0]
            near = fitting if len(fitting) else near
        support[k] = near[int(np.argmin(np.abs(X[near] - z).sum(axis=1)))]
        free[support[k]] = False
    return support


def _is_near(rows: Array, vectors: Array) -> NDArray[np.bool_]:
    """Return True for rows whose features differ from a vector's by FEATURE_ROUNDING at most."""
    return np.asarray((np.abs(rows - vectors) <= FEATURE_ROUNDING * np.abs(vectors)).all(axis=1))


def _windows(
    vectors: Array, X: Array
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows by a weighted mean of their features, and a part of these for each vector.

    Rows near a vector z are in order[first : last]: their means differ from that of z by at
    most FEATURE_ROUNDING times that of |z|, and by the rounding of both, which is less for
    2^28 features.
    """
    weights = np.random.default_rng(0).uniform(0.5, 1.0, X.shape[1]) / X.shape[1]
    means, middle = X @ weights, vectors @ weights
    order = np.argsort(means)
    reach = 2 * FEATURE_ROUNDING * (np.abs(vectors) @ weights) + np.finfo(np.float64).tiny
    first = np.searchsorted(means, middle - reach, "left", order)
    return order, first, np.searchsorted(means, middle + reach, "right", order)


def _agreed(name: str, known: float | None, given: float | None) -> float:
    """Return a parameter of the model or of the caller; raise a ValueError if they differ."""
    if known is None and given is None:
        raise ValueError(f"{name} is missing: the model does not have it; pass {name}")
    if known is not None and given is not None and known != given:
        raise ValueError(
            f"{name} differs: the model has {float(known)!r}, and {float(given)!r} was passed"
        )
    return float(known if given is None else given)  # type: ignore[arg-type]


def _dense(A: Any) -> Array:
    """Return features of any kind as a dense array of float64."""
    return np.asarray(dense(A), dtype=np.float64)


def _extended(model: Model, X: Any) -> Any:
    """Return X with the model's constant as a last column, if it is a feature."""
    constant = model.claimed.constant
    if constant is None or not model.claimed.extra_features:
        return X
    if is_sparse(X):
        from scipy import sparse

        return sparse.hstack([X, np.full((X.shape[0], 1), constant)]).tocsr()
    return np.column_stack([np.asarray(X), np.full(len(X), constant)])
