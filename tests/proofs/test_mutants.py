"""Referee against deliberately wrong formulations: none of their answers may agree.

MUTANTS, INSTANCES and SOURCES are tables: a new formulation needs six entries in the
first, a new family one in the second, a new solver three in the third; tests of the
ordinary suite name missing entries. `make mutants` runs the rest and prints every
outcome.
"""

from __future__ import annotations

import copy
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib import import_module
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from equimargin.formulations import (
    REGISTRY,
    Declaration,
    FormulaValue,
    Kernel,
    MarginProblem,
    Point,
    Problem,
    classification,
    declare,
    linear,
    one_norm_classification,
    one_norm_ranking,
    ordinal,
    polynomial,
    ranking,
    ranking_vector_machine,
    rbf,
    regression,
)
from equimargin.formulations.kernels.kernel import RBF, Linear, Polynomial
from equimargin.formulations.problem import CanonicalPoint
from equimargin.formulations.problem.choices import Bias, LossName
from equimargin.formulations.registry import Registry
from equimargin.formulations.rows.levels import Levels
from equimargin.formulations.rows.listed import Pairs, Signed, Tube
from equimargin.proofs import (
    Agreement,
    Evidence,
    Judgement,
    Verdict,
    examine,
    examine_solution,
    judge,
)
from equimargin.solvers import SOLVERS, Limits, registry, solve, solve_declaration
from equimargin.solvers.backends.solve import Answer, read_declaration
from narrow import as_a, present
from optima import classes_with_outliers
from oracles.own_entries import OWN_SOLVERS, PRINTED

KERNELS: dict[str, Kernel] = {
    "linear": linear(),
    "rbf": rbf(0.5),
    "polynomial": polynomial(2, 0.5, 1.0),
}
NONLINEAR = ("rbf", "polynomial")
SEEDS = (11, 14)
ACCURATE, ROUGH = "CLARABEL", "SCS"
AT_LEAST, AT_LEAST_OF_A_SOLVER = 6, 5

# Instances: noisy and unbalanced, with costs so small that multipliers reach them, or
# feasible with margins below 1 where there is no cost. On these every mutant has
# another optimum.


def _classes(
    kernel: Kernel,
    seed: int,
    C: float = 0.4,
    loss: LossName = "hinge",
    bias: Bias = True,
    delta: float | None = None,
) -> Problem:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(24, 3))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.7 * rng.normal(size=24) > 0.9, 1.0, -1.0)
    return classification(X, y, C, kernel, loss, bias, delta=delta)


def _separable_classes(kernel: Kernel, seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(16, 3))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] > 0.8, 1.0, -1.0)
    return classification(X + np.outer(y, [0.2, 0.1, 0.0]), y, np.inf, kernel)


def _classes_through_the_origin(kernel: Kernel, seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(16, 3))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] > 0, 1.0, -1.0)
    return classification(X + np.outer(y, [0.2, 0.1, 0.0]), y, np.inf, kernel, bias=False)


def _curve(kernel: Kernel, seed: int, loss: LossName = "hinge") -> Problem:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(18, 2))
    y = 2 + X[:, 0] - 0.5 * X[:, 1] ** 2 + 0.5 * rng.normal(size=18)
    # The costs of the two sides of the tube differ.
    return replace(regression(X, y, 1.0, 0.2, kernel, loss), weights=np.repeat([0.6, 0.4], 18))


def _line(kernel: Kernel, seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(14, 2))
    y = 2 + X[:, 0] - 0.5 * X[:, 1] + 0.1 * rng.uniform(-1, 1, 14)
    return regression(X, y, np.inf, 0.2, kernel)


def _levels(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(16, 3))
    score = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.7 * rng.normal(size=16)
    return X, np.digitize(score, [0.0, 0.8]).astype(float), np.repeat([1, 2], 8)


def _order(kernel: Kernel, seed: int, loss: LossName = "hinge") -> Problem:
    X, y, qid = _levels(seed)
    return ranking(X, y, qid, 0.3, kernel, loss)


def _rankable_order(kernel: Kernel, seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(16, 3))
    y = np.digitize(X[:, 0] + 0.5 * X[:, 1], [-0.3, 0.6]).astype(float)
    return ranking(X + np.outer(y, [0.1, 0.05, 0.0]), y, np.repeat([1, 2], 8), np.inf, kernel)


def _sparse_order(kernel: Kernel, seed: int) -> Problem:
    X, y, qid = _levels(seed)
    return ranking_vector_machine(X, y, qid, 0.6, kernel)


def _sparse_pairs(kernel: Kernel, seed: int) -> Problem:
    X, y, qid = _levels(seed)
    return one_norm_ranking(X, y, qid, 0.6, kernel)


def _sparse_classes(kernel: Kernel, seed: int, bias: bool = True) -> Problem:
    whole = as_a(MarginProblem, _classes(kernel, seed))
    return one_norm_classification(whole.X, whole.rows.s, 1.5, kernel, bias)


def _sparse_classes_with_outliers(kernel: Kernel, seed: int) -> Problem:
    return one_norm_classification(*classes_with_outliers(seed=seed), 10.0, kernel)


def _classes_some_hard(kernel: Kernel, seed: int, loss: LossName = "hinge") -> Problem:
    problem = as_a(MarginProblem, _classes_through_the_origin(kernel, seed))
    y = problem.rows.s.copy()
    y[10:13] = -y[10:13]
    weights = np.where(np.arange(16) < 6, np.inf, 1.0)
    return replace(problem, rows=Signed(y), C=0.4, weights=weights, loss=loss)


def _order_one_query_hard(kernel: Kernel, seed: int, loss: LossName = "hinge") -> Problem:
    problem = as_a(MarginProblem, _rankable_order(kernel, seed))
    y = problem.rows.y.copy()
    y[8:] = y[:7:-1]
    return ranking(problem.X, y, np.repeat([1, 2], 8), 0.1, kernel, loss, query_weight={1: np.inf})


def _cuts(kernel: Kernel, seed: int, C: float = 0.3, loss: LossName = "hinge") -> Problem:
    X, y, _ = _levels(seed)
    return ordinal(X, y, C, kernel, loss)


def _one_cut(kernel: Kernel, seed: int, C: float = 0.3, loss: LossName = "hinge") -> Problem:
    X, y, _ = _levels(seed)
    return ordinal(X, np.minimum(y, 1.0), C, kernel, loss)


def _apart(kernel: Kernel, seed: int) -> Problem:
    """Return points and nearly their reflections, of the levels in reverse.

    Both thresholds then count with nonlinear kernels.
    """
    half = as_a(MarginProblem, _rankable_order(kernel, seed))
    chosen = np.flatnonzero(half.rows.y > 0)
    X, y = half.X[chosen], np.asarray(half.rows.y)[chosen]
    return ordinal(
        np.concatenate([X, 0.05 * np.sin(np.arange(X.size)).reshape(X.shape) - X]),
        np.concatenate([y, 2 - y]),
        np.inf,
        kernel,
    )


def _cuts_of_features(kernel: Kernel, seed: int, loss: LossName = "hinge") -> Problem:
    return _cuts(linear(), seed, 0.3 if kernel == linear() else 1.0, loss)


INSTANCES: dict[str, Callable[[Kernel, int], Problem]] = {
    "svm.hard": _separable_classes,
    "svm.soft": _classes,
    "svm.l2": partial(_classes, C=3.0, loss="squared_hinge"),
    "svm.huberised_hinge": partial(_classes, C=3.0, loss="huberised_hinge", delta=0.5),
    "svm.nobias": partial(_classes, bias=False),
    "svm.nobias_hard": _classes_through_the_origin,
    "svm.nobias_l2": partial(_classes, C=3.0, loss="squared_hinge", bias=False),
    "svr.hard": _line,
    "svr.l1": _curve,
    "svr.l2": partial(_curve, loss="squared_hinge"),
    "rank.hard": _rankable_order,
    "rank.l1": _order,
    "rank.l2": partial(_order, loss="squared_hinge"),
    "rank.onenorm": _sparse_pairs,
    "rvm": _sparse_order,
    "ord.hard": _apart,
    "ord.implicit": _cuts,
    "ord.implicit_l2": partial(_cuts, C=3.0, loss="squared_hinge"),
    "svm.onenorm": _sparse_classes,
    "svm.nobias_onenorm": partial(_sparse_classes, bias=False),
}
OF_ONE: dict[str, dict[str, Callable[[Kernel, int], Problem]]] = {
    "ord.implicit.two_levels": {"ord.implicit": _one_cut},
    "ord.implicit_l2.two_levels": {
        "ord.implicit_l2": partial(_one_cut, C=3.0, loss="squared_hinge")
    },
    "threshold_newton": {
        "ord.implicit": _cuts_of_features,
        "ord.implicit_l2": partial(_cuts_of_features, loss="squared_hinge"),
    },
    "svm.onenorm.free": {"svm.onenorm": _sparse_classes_with_outliers},
    "penalty": {
        "svm.nobias": _classes_some_hard,
        "rank.l1": _order_one_query_hard,
        "svm.nobias_l2": partial(_classes_some_hard, loss="squared_hinge"),
        "rank.l2": partial(_order_one_query_hard, loss="squared_hinge"),
    },
}
"""Instances for one solver, formulation or control that differs from its family.

It takes only some problems of the family, or its mutants change only some.
"""


# Mutations. Each takes the true problem and an id, and returns a declaration.

Mutate = Callable[[Any, str], Declaration]
Edit = Callable[[Declaration], Any]


def elsewhere(change: Callable[[Any], Problem]) -> Mutate:
    """Return a mutant with the right declaration of another problem."""
    return lambda problem, id: declare(id, change(problem))


def objective(build: Edit) -> Mutate:
    """Return a mutant with another objective, the expression returned by `build`."""

    def mutate(problem: Problem, id: str) -> Declaration:
        d = declare(id, problem)
        return replace(d, objective=type(d.objective)(build(d)))

    return mutate


def plus(build: Edit) -> Mutate:
    """Return a mutant that adds a term to the declared objective."""
    return objective(lambda d: d.objective.args[0] + build(d))


def constraint(name: str, build: Edit) -> Mutate:
    """Return a mutant with one constraint replaced, or added under a new name."""

    def mutate(problem: Problem, id: str) -> Declaration:
        d = declare(id, problem)
        return replace(d, constraints={**d.constraints, name: build(d)})

    return mutate


def without(name: str) -> Mutate:
    """Return a mutant without one constraint."""

    def mutate(problem: Problem, id: str) -> Declaration:
        d = declare(id, problem)
        return replace(
            d, constraints={key: value for key, value in d.constraints.items() if key != name}
        )

    return mutate


def parameter(name: str, change: Callable[[float], float]) -> Mutate:
    """Return a mutant with another value of one parameter."""

    def mutate(problem: Problem, id: str) -> Declaration:
        d = declare(id, problem)
        d.parameters[name].value = change(d.parameters[name].value)
        return d

    return mutate


def read_as(change: Callable[[Any], CanonicalPoint]) -> Mutate:
    """Return a mutant that states the right problem and reads its point wrongly."""
    return lambda problem, id: replace(
        right := declare(id, problem), to_canonical=lambda d: change(right.to_canonical(d))
    )


def recovered(build: Callable[[Declaration], Point]) -> Mutate:
    """Return a mutant of the right problem with another point from its variables."""
    return lambda problem, id: replace(declare(id, problem), to_canonical=build)


def valued(change: Callable[[float], float]) -> Mutate:
    """Return a mutant that states the right problem and maps its value wrongly."""
    return lambda problem, id: replace(
        declare(id, problem), value=lambda objective, parameters: change(objective)
    )


def without_pairs(choose: Callable[[Any], Any]) -> Mutate:
    """Return a mutant that declares a problem without a pair or several.

    The multipliers of these pairs are 0.
    """

    def mutate(problem: Problem, id: str) -> Declaration:
        kept = np.setdiff1d(np.arange(problem.p), choose(problem))
        whole = as_a(Pairs, problem.rows)
        rows = Pairs(whole.preferred[kept], whole.other[kept], problem.m)
        right = declare(id, replace(problem, rows=rows))

        def recover(d: Declaration) -> CanonicalPoint:
            point = right.to_canonical(d)
            if point.multipliers is None:
                return point
            alpha = np.zeros(problem.p)
            alpha[kept] = point.multipliers
            return point.with_multipliers(alpha)

        def express(completed: Any) -> dict[str, Any]:
            values = declare(id, problem).from_canonical(completed)
            return {
                name: np.asarray(v)[kept] if np.shape(v) == (problem.p,) else v
                for name, v in values.items()
            }

        return replace(right, declared=problem, to_canonical=recover, from_canonical=express)

    return mutate


def cost(factor: float) -> Mutate:
    """Return a mutant with C multiplied by `factor`."""
    return elsewhere(lambda problem: problem.with_cost(factor * problem.C))


def kernel_off(problem: Problem) -> Problem:
    """Return the problem with K changed by about 1 %."""
    kernel = problem.kernel
    if isinstance(kernel, Linear):
        return replace(problem, X=problem.X * np.sqrt(1.01))
    assert isinstance(kernel, RBF | Polynomial)
    return replace(problem, kernel=replace(kernel, gamma=1.01 * kernel.gamma))


def label_flipped(problem: MarginProblem) -> MarginProblem:
    """Return the problem with the first label negated."""
    y = problem.rows.s.copy()
    y[0] = -y[0]
    return replace(problem, rows=Signed(y))


def level_raised(problem: MarginProblem) -> MarginProblem:
    """Return the problem with the first point one level higher, from the highest to 0."""
    y = np.asarray(problem.rows.y).copy()
    y[0] = (y[0] + 1) % (problem.T + 1)
    return replace(problem, rows=Levels(y, problem.T))


def level_left_out(problem: MarginProblem) -> MarginProblem:
    """Return the problem with the highest level merged into the one below."""
    return replace(problem, rows=Levels(np.minimum(problem.rows.y, problem.T - 1), problem.T))


def kinks(factor: float) -> Callable[[MarginProblem], MarginProblem]:
    """Return a change of delta by a factor."""
    return lambda problem: replace(problem, delta=factor * present(problem.delta))


def tube(factor: float) -> Callable[[MarginProblem], MarginProblem]:
    """Return a change of epsilon by a factor."""
    return lambda problem: replace(
        problem, rows=Tube(problem.rows.y, factor * as_a(Tube, problem.rows).epsilon)
    )


def sides_exchanged(problem: Any) -> Any:
    """Return the problem with the costs above and below the tube exchanged."""
    return replace(problem, weights=np.roll(problem.unit_weights, problem.m))


def turned(problem: Problem) -> Problem:
    """Return the problem with every pair reversed, in the same order: A becomes -A."""
    rows = copy.copy(as_a(Pairs, problem.rows))
    rows.__dict__.pop("matrix", None)
    rows._listed = rows.other, rows.preferred
    return replace(problem, rows=rows)


def contradiction(problem: Problem) -> Problem:
    """Return a hard problem with two equal points of different labels."""
    X, y = problem.X.copy(), problem.rows.y
    X[np.argmax(np.abs(y - y[0]))] = X[0]
    return (
        ranking(X, y, None, np.inf, problem.kernel)
        if isinstance(problem.rows, Pairs)
        else replace(problem, X=X)
    )


def violated_pair(problem: Problem) -> int:
    """Return the pair of largest slack: its multiplier is at C in every optimum."""
    return int(np.argmin(_margins(problem)))


def tight_pairs(problem: Problem) -> np.ndarray:
    """Return the pairs that determine a hard margin: without them all, w is smaller."""
    return np.flatnonzero(_margins(problem) <= 1 + 1e-5)


def easy_pair(problem: Problem) -> int:
    """Return the pair of largest margin: above 1, its multiplier is 0 in every optimum."""
    margins = _margins(problem)
    assert margins.max() > 1.01
    return int(np.argmax(margins))


def _margins(problem: Problem) -> np.ndarray:
    point = problem.function(
        present(solve_declaration(declare(f"{problem.family}.primal", problem), ACCURATE).point)
    )
    f = problem.X @ point.w if point.w is not None else problem.gram.dense @ present(point.beta)
    return np.asarray(problem.rows.dot(f))


def kernel_of_differences(problem: Problem, id: str) -> Declaration:
    """Declare k(x_i - x_j, x_u - x_v) for phi_ij.phi_uv in a dual over pairs."""
    rows = as_a(Pairs, problem.rows)
    D = problem.X[rows.preferred] - problem.X[rows.other]
    Q = cp.psd_wrap(problem.kernel.block(D, D))
    return objective(
        lambda d: cp.sum(d.variables["alpha"]) - cp.quad_form(d.variables["alpha"], Q) / 2
    )(problem, id)


def of_any_sign(problem: Problem, id: str) -> Declaration:
    """Declare free coefficients with their absolute values as cost."""
    d = without("sign")(problem, id)
    coefficients = d.variables["beta" if "beta" in d.variables else "alpha"]
    return replace(
        d,
        objective=cp.Minimize(
            cp.norm1(coefficients) + d.parameters["C"] * cp.sum(d.variables["xi"])
        ),
    )


def _x(d: Declaration) -> Any:
    return as_a(MarginProblem, d.canonical).features()


def _value(d: Declaration, name: str) -> float:
    """Return the value of a scalar variable, 0 if there is none."""
    return float(d.variables[name].value) if name in d.variables else 0.0


def _squares(*names: str) -> Edit:
    """Return 1/2 |w|^2 plus C times the squared slacks."""
    return lambda d: (
        _half_norm(d) + d.parameters["C"] * sum(cp.sum_squares(d.variables[name]) for name in names)
    )


def _sums(*names: str) -> Edit:
    """Return 1/2 |w|^2 plus C times the slacks."""
    return lambda d: (
        _half_norm(d) + d.parameters["C"] * sum(cp.sum(d.variables[name]) for name in names)
    )


def _half_norm(d: Declaration) -> Any:
    """Return 1/2 |f|^2, by the form's name for f in an orthonormal basis."""
    return cp.sum_squares(next(d.variables[name] for name in ("w", "f") if name in d.variables)) / 2


def _half_quadratic(d: Declaration, K: np.ndarray) -> Any:
    """Return 1/2 (alpha - alphahat)'K(alpha - alphahat)."""
    return cp.quad_form(d.variables["alpha"] - d.variables["alphahat"], cp.psd_wrap(K)) / 2


def _gain(d: Declaration) -> Any:
    """Return t'alpha of a tube."""
    return d.canonical.rows.t @ cp.hstack([d.variables["alpha"], d.variables["alphahat"]])


def _rows(d: Declaration, f: Any) -> Any:
    """Return A f."""
    return d.canonical.rows.matrix @ f


def _margins_of(d: Declaration) -> Any:
    """Return the margins of all rows of classification or ranking.

    They are in the form's own f and b.
    """
    v = d.variables
    f = v["g"] if "g" in v else _x(d) @ next(v[name] for name in ("w", "f", "u") if name in v)
    if "b" in v and v["b"].shape:
        return _rows(d, f) - as_a(MarginProblem, d.canonical).S @ v["b"]
    return _rows(d, f - v["b"] if "b" in v else f)


def _plus_bias(d: Declaration) -> Any:
    """Return the margins of f plus a bias that the form does not have.

    For pairs the bias is one on every row.
    """
    b = cp.Variable(name="b")
    return _margins_of(d) + (cp.multiply(d.canonical.rows.s, b) if d.canonical.rows.s.any() else b)


def at_least(margin: float, build: Edit = _margins_of) -> Mutate:
    """Return a mutant with another margin, or other margins."""
    return constraint(
        "margin",
        lambda d: (
            build(d)
            >= margin - sum(d.variables[name] for name in ("xi", "zeta") if name in d.variables)
        ),
    )


def priced(loss: Callable[[Any], Any], weight: Callable[[Declaration], Any] = _half_norm) -> Mutate:
    """Return a mutant without slacks: a norm, and C times another loss of the margins.

    The norm is 1/2 |f|^2 by default.
    """
    return objective(lambda d: weight(d) + d.parameters["C"] * loss(1 - _margins_of(d)))


def _no_bias(d: Declaration) -> Any:
    return d.variables["b"] == 0


def _other_bias(point: Point) -> Point:
    return replace(point, b=-present(point.b))


def _bias_reversed(point: Point) -> Point:
    return replace(point, b=np.asarray(point.b)[::-1])


def _of_two_levels(d: Declaration) -> Any:
    """Return the margins of a form with two levels, its bias with the project's sign."""
    return cp.multiply(d.canonical.rows.s, _x(d) @ d.variables["w"] + d.variables["b"])


def _of_classes(d: Declaration) -> Any:
    """Return the margins of a huberised hinge form, its bias with the project's sign."""
    f = d.variables["g"] if "g" in d.variables else _x(d) @ d.variables["w"]
    return cp.multiply(d.canonical.rows.s, f + d.variables["b"])


def lost(loss: Callable[[Any], Any], margins: Edit) -> Mutate:
    """Return a mutant with 1/2 |f|^2 and C times another loss of these margins."""
    return objective(lambda d: _half_norm(d) + d.parameters["C"] * loss(1 - margins(d)))


def rows_of(choose: Callable[[Any, Any], Any]) -> Mutate:
    """Return a mutant of a hard form with some of the rows alone.

    They are chosen by their thresholds k and the levels y of their points.
    """

    def chosen(d: Declaration) -> Any:
        rows = as_a(MarginProblem, d.canonical).rows
        return (
            _margins_of(d)[np.flatnonzero(choose(np.asarray(rows.k), np.tile(rows.y, rows.T)))] >= 1
        )

    def recover(d: Declaration) -> Point:
        return as_a(MarginProblem, d.canonical).point_of_w(
            d.variables["w"].value, -d.variables["b"].value
        )

    return lambda problem, id: replace(
        constraint("margin", chosen)(problem, id), to_canonical=recover
    )


def _differences(d: Declaration) -> Any:
    """Return w.(x_i - x_j) of all pairs of a hard ranking of levels."""
    return d.constraints["margin"].args[1]


def differences_of(choose: Callable[[Any, Any], Any]) -> Mutate:
    """Return a mutant of a hard ranking of levels with some of the pairs alone.

    They are chosen by the levels of both points.
    """

    def chosen(d: Declaration) -> Any:
        y = d.canonical.rows.y
        i, j = np.nonzero(np.subtract.outer(y, y) > 0)
        return _differences(d)[np.flatnonzero(choose(y[i], y[j]))] >= 1

    return constraint("margin", chosen)


def stretched(point: Point, factor: float) -> Point:
    """Return the point with f and b multiplied by `factor`."""
    w, beta = (None if v is None else factor * v for v in (point.w, point.beta))
    return replace(point, w=w, beta=beta, b=None if point.b is None else factor * point.b)


def _subsets(d: Declaration) -> tuple[Any, Any, Any]:
    """Return both sides of the 1-slack form's constraint, and xi.

    The sides are the number of pairs of each subset and the sum of their margins.
    """
    count, margins = d.constraints["subset"].args
    xi = d.variables["xi"]
    return count + xi, margins, xi


def _not_empty(d: Declaration) -> np.ndarray:
    """Return 1 for each subset of the 1-slack form that holds a pair, else 0."""
    d.variables["xi"].value = 0.0
    return np.asarray(_subsets(d)[0].value > 0, dtype=float)


def largest_slack(problem: Problem, id: str) -> Declaration:
    """Declare one slack for all pairs, the largest and not the sum."""
    d = constraint("subset", lambda d: _margins_of(d) >= 1 - d.variables["xi"])(problem, id)
    return replace(
        d,
        to_canonical=lambda d: as_a(MarginProblem, d.canonical).point_of_w(
            d.variables["w"].value, 0.0, d.multiplier("subset")
        ),
    )


@dataclass(frozen=True)
class Special:
    """Mutant with a remark.

    Parameters
    ----------
    remark : str
        Reason for which it is equivalent to a right formulation, or not refuted.
    expected : Agreement
        Agreement of its accurate answer; without a remark it disagrees.
    kernels : tuple[str, ...]
        Kernels of its instances.
    """

    mutate: Mutate
    remark: str = ""
    expected: Agreement = Agreement.AGREES
    kernels: tuple[str, ...] = tuple(KERNELS)

    @property
    def outcome(self) -> Agreement:
        """Agreement of its accurate answer."""
        return self.expected if self.remark else Agreement.DISAGREES

    @property
    def excepted(self) -> str:
        """Reason for which its optimum is right despite the change."""
        return self.remark if self.outcome is Agreement.AGREES else ""


EVEN = "A K A' is the same for A and -A, and alpha does not say which it was"
IDLE = "a pair of margin above 1 has multiplier 0 in every optimum"
BILINEAR = "for a linear kernel k(x_i - x_j, x_u - x_v) is phi_ij.phi_uv itself"
REDUNDANT = "squared slacks are never below 0: (u)_+ costs less than what is below it"
APPENDIX_A = "the multipliers of the dual are an optimum of the form in them, Appendix A of K"
SCALED = "repair stretches a hard family's f to margin 1 and scales its alpha to the best multiple"
EMPTY = (
    "the slack of pairs that cannot all be ranked is above 0, so that the empty subset asks nothing"
)
IN_ORDER = "thresholds with all rows are in order at every optimum"
BETWEEN = "a level between two others has points, which keep what is on both sides of it apart"
SMOOTH = "where z is below 0 the square is larger than at 0"
UNRESOLVED = (
    "a margin of 0 is not told from one below 1e-6: the form has no ray, and claims nothing"
)
CONTRADICTED = "nothing is feasible"
"""Name of the mutants of hard forms that prove another problem infeasible."""

COST: dict[str, Mutate | Special] = {
    "2 C": cost(2),
    "C / 2": parameter("C", lambda C: C / 2),
    "kernel 1 % off": elsewhere(kernel_off),
}
SQUARED_COST: dict[str, Mutate | Special] = {
    "2 C": cost(2),
    "ridge doubled": parameter("1/C", lambda inverse: 2 * inverse),
    "ridge dropped": parameter("1/C", lambda inverse: 0.0),
    "lower bound dropped": without("lower"),
    "1/2 dropped": plus(lambda d: -_half_norm(d)),
    "kernel 1 % off": elsewhere(kernel_off),
}
PRIMAL: dict[str, Mutate | Special] = {
    **COST,
    "1/2 dropped": plus(_half_norm),
    "squared slacks": objective(_squares("xi")),
    "margin 1.01": at_least(1.01),
    "slacks free": without("slack"),
}
SQUARED_PRIMAL: dict[str, Mutate | Special] = {
    **COST,
    "1/2 dropped": plus(_half_norm),
    "linear slacks": objective(_sums("xi")),
    "margin 1.01": at_least(1.01),
    "slacks free": Special(without("slack"), REDUNDANT),
}
DUAL: dict[str, Mutate | Special] = {
    **COST,
    "1/2 dropped": plus(lambda d: -_half_norm(d)),
    "no upper bound": without("upper"),
    "upper bound 1.01 C": constraint(
        "upper", lambda d: d.variables["alpha"] <= 1.01 * d.parameters["C"]
    ),
    "lower bound -C": constraint("lower", lambda d: d.variables["alpha"] >= -d.parameters["C"]),
}
HARD_PRIMAL: dict[str, Mutate | Special] = {
    "1/2 dropped": plus(_half_norm),
    "margin 1.01": at_least(1.01),
    "margin 0": at_least(0.0),
    "kernel 1 % off": elsewhere(kernel_off),
    CONTRADICTED: constraint("contradiction", lambda d: -_margins_of(d) >= 1),
}
HARD_DUAL: dict[str, Mutate | Special] = {
    "1/2 dropped": plus(lambda d: -_half_norm(d)),
    "upper bound 0.1": constraint("upper", lambda d: d.variables["alpha"] <= 0.1),
    "lower bound dropped": without("lower"),
    "f not of alpha": without("w"),
    "kernel 1 % off": elsewhere(kernel_off),
    CONTRADICTED: objective(lambda d: cp.sum(d.variables["alpha"])),
}
HARD_MARGIN: dict[str, Mutate | Special] = {
    "ball 1.01": constraint("ball", lambda d: cp.norm(d.variables["u"], 2) <= 1.01),
    "ball of the 1-norm": constraint("ball", lambda d: cp.norm1(d.variables["u"]) <= 1),
    "no ball": without("ball"),
    "value t": valued(lambda t: t),
    "value 1 / t": valued(lambda t: 1 / max(t, 1e-9)),
    "value 1 / t^2": valued(lambda t: 1 / max(t, 1e-9) ** 2),
    "kernel 1 % off": elsewhere(kernel_off),
    "w = 2 u / t": read_as(lambda point: stretched(point, 2.0)),
    "w = u / (2 t)": Special(read_as(lambda point: stretched(point, 0.5)), SCALED),
    "alpha = 2 mu / t^2": Special(
        read_as(lambda point: replace(point, alpha=2 * point.alpha)), SCALED
    ),
    CONTRADICTED: Special(
        constraint("contradiction", lambda d: -_margins_of(d) >= d.variables["t"]),
        UNRESOLVED,
        Agreement.FAILED,
    ),
}


def _wrong_sparse_primal() -> dict[str, Mutate | Special]:
    """Return mistakes in the primal of a one-norm classification."""
    return {
        "alpha free": without("sign"),
        "margin 1.01": constraint("margin", lambda d: _margins_of(d) >= 1.01 - d.variables["xi"]),
        "slacks free": without("slack"),
        "1'alpha dropped": plus(lambda d: -cp.sum(d.variables["alpha"])),
        "labels forgotten": constraint(
            "g", lambda d: d.variables["g"] == d.canonical.gram.dense @ d.variables["alpha"]
        ),
        "a label flipped": elsewhere(label_flipped),
    }


def _prices(d: Declaration) -> Any:
    """Return YKYu of a one-norm classification."""
    return _rows(d, d.canonical.gram.dense @ _rows(d, d.variables["u"]))


def _wrong_sparse_dual() -> dict[str, Mutate | Special]:
    """Return mistakes in the dual of a one-norm classification."""
    return {
        "upper bound 1.01 C": constraint(
            "upper", lambda d: d.variables["u"] <= 1.01 * d.parameters["C"]
        ),
        "lower bound dropped": without("lower"),
        "K Y u <= 1": constraint(
            "price",
            lambda d: (
                d.canonical.gram.dense @ cp.multiply(d.canonical.rows.s, d.variables["u"]) <= 1
            ),
        ),
        "price 1.01": constraint("price", lambda d: _prices(d) <= 1.01),
        "a label flipped": elsewhere(label_flipped),
    }


THRESHOLDS: dict[str, Mutate | Special] = {
    "the first threshold 0": constraint("no bias", lambda d: d.variables["b"][0] == 0),
    "thresholds penalised": plus(lambda d: cp.sum_squares(d.variables["b"]) / 2),
    "thresholds read with the other sign": read_as(_other_bias),
    "thresholds read in reverse": read_as(_bias_reversed),
    "a level raised": elsewhere(level_raised),
    "two levels for one": elsewhere(level_left_out),
}
OF_LEVELS: dict[str, Mutate | Special] = {
    **THRESHOLDS,
    "one threshold for all": constraint("one", lambda d: cp.diff(d.variables["b"]) == 0),
    "thresholds in the wrong order": constraint("order", lambda d: cp.diff(d.variables["b"]) <= 0),
    "thresholds in order": Special(
        constraint("order", lambda d: cp.diff(d.variables["b"]) >= 0), IN_ORDER
    ),
}
"""Mistakes in a form with thresholds, all rows and slacks."""
BALANCED: dict[str, Mutate | Special] = {
    "no balance": without("balance"),
    "no balance of the first threshold": constraint(
        "balance", lambda d: as_a(MarginProblem, d.canonical).S[:, 1:].T @ d.variables["alpha"] == 0
    ),
    "one balance for all thresholds": constraint(
        "balance", lambda d: d.canonical.rows.s @ d.variables["alpha"] == 0
    ),
    "a level raised": elsewhere(level_raised),
    "two levels for one": elsewhere(level_left_out),
}
"""Mistakes in a dual of thresholds."""
OF_TWO_LEVELS: dict[str, Mutate | Special] = {
    **COST,
    "1/2 dropped": plus(_half_norm),
    "absolute loss": lost(cp.norm1, _of_two_levels),
    "bias dropped": constraint("no bias", _no_bias),
    "bias penalised": plus(lambda d: cp.square(d.variables["b"]) / 2),
    "bias read with the other sign": read_as(_other_bias),
    "a level raised": elsewhere(level_raised),
}
HUBERISED: dict[str, Mutate | Special] = {
    **COST,
    "1/2 dropped": plus(_half_norm),
    "2 delta": elsewhere(kinks(2.0)),
    "delta 0": elsewhere(kinks(1e-3)),
    "bias dropped": constraint("no bias", _no_bias),
    "bias penalised": plus(lambda d: cp.square(d.variables["b"]) / 2),
    "bias read with the other sign": read_as(_other_bias),
    "one label flipped": elsewhere(label_flipped),
}


def _parabola_and_line(d: Declaration, slope: float) -> Any:
    """Return C times the squares and lines of the slacks of a huberised hinge."""
    return d.parameters["C"] * (
        slope / 2 * cp.sum_squares(d.variables["z"]) + cp.sum(d.variables["v"])
    )


def _phi(d: Declaration) -> Any:
    return as_a(MarginProblem, d.canonical).phi


MUTANTS: dict[str, dict[str, Mutate | Special]] = {
    "svm.hard.primal": {
        **HARD_PRIMAL,
        "bias dropped": constraint("no bias", _no_bias),
        "bias penalised": plus(lambda d: cp.square(d.variables["b"]) / 2),
        "bias read with the other sign": read_as(_other_bias),
        "one label flipped": elsewhere(label_flipped),
    },
    "svm.hard.dual": {
        **HARD_DUAL,
        "labels forgotten in f": constraint(
            "w", lambda d: d.variables["w"] == _x(d).T @ d.variables["alpha"]
        ),
        "no balance": without("balance"),
        "balance 1'alpha = 0": constraint("balance", lambda d: cp.sum(d.variables["alpha"]) == 0),
        "one label flipped": elsewhere(label_flipped),
    },
    "svm.hard.margin": {
        **HARD_MARGIN,
        "bias dropped": Special(constraint("no bias", _no_bias), kernels=NONLINEAR),
        "bias in the ball": constraint(
            "ball", lambda d: cp.norm(cp.hstack([d.variables["u"], d.variables["b"]]), 2) <= 1
        ),
        "bias read with the other sign": read_as(_other_bias),
        "one label flipped": elsewhere(label_flipped),
    },
    "svm.soft.primal": {
        **PRIMAL,
        "bias dropped": constraint("no bias", _no_bias),
        "bias penalised": plus(lambda d: cp.square(d.variables["b"]) / 2),
        "bias read with the other sign": read_as(_other_bias),
        "one label flipped": elsewhere(label_flipped),
    },
    "svm.soft.dual": {
        **DUAL,
        "no balance": without("balance"),
        "balance 1'alpha = 0": constraint("balance", lambda d: cp.sum(d.variables["alpha"]) == 0),
        "ridge": plus(lambda d: -cp.sum_squares(d.variables["alpha"]) / (4 * d.canonical.C)),
        "one label flipped": elsewhere(label_flipped),
    },
    "svm.soft.beta": {
        **COST,
        "1/2 dropped": plus(_half_norm),
        "squared loss": priced(lambda u: cp.sum_squares(cp.pos(u))),
        "absolute loss": priced(cp.norm1),
        "betabar'betabar for betabar'Qbar betabar": priced(
            lambda u: cp.sum(cp.pos(u)), lambda d: cp.sum_squares(d.variables["betabar"]) / 2
        ),
        "bias dropped": constraint("no bias", _no_bias),
        "bias penalised": plus(lambda d: cp.square(d.variables["b"]) / 2),
        "bias read with the other sign": read_as(_other_bias),
        "one label flipped": elsewhere(label_flipped),
        "f of betabar without the labels": recovered(
            lambda d: Point(beta=d.variables["betabar"].value, b=-float(d.variables["b"].value))
        ),
    },
    "svm.soft.lambda.primal": {
        "lambda = C": parameter("lambda", lambda lam: 1 / lam),
        "1/2 dropped": plus(lambda d: d.parameters["lambda"] * _half_norm(d)),
        "squared slacks": plus(
            lambda d: cp.sum_squares(d.variables["zeta"]) - cp.sum(d.variables["zeta"])
        ),
        "margin 1.01": at_least(1.01),
        "slacks free": without("slack"),
        "bias dropped": constraint("no bias", _no_bias),
        "bias read with the other sign": read_as(_other_bias),
        "value not divided by lambda": valued(lambda v: v),
        "alpha not divided by lambda": read_as(lambda point: replace(point, alpha=point.alpha / 2)),
    },
    "svm.soft.lambda.dual": {
        "lambda = C": parameter("1/lambda", lambda inverse: 1 / inverse),
        "1/2 dropped": plus(lambda d: -d.parameters["1/lambda"] * _half_norm(d)),
        "upper bound 1.01": constraint("upper", lambda d: d.variables["alpha"] <= 1.01),
        "upper bound C": constraint("upper", lambda d: d.variables["alpha"] <= d.canonical.C),
        "no upper bound": without("upper"),
        "no balance": without("balance"),
        "value not divided by lambda": valued(lambda v: v),
    },
    "svm.l2.primal": {
        **SQUARED_PRIMAL,
        "bias dropped": constraint("no bias", _no_bias),
        "bias penalised": plus(lambda d: cp.square(d.variables["b"]) / 2),
        "bias read with the other sign": read_as(_other_bias),
        "one label flipped": elsewhere(label_flipped),
    },
    "svm.l2.dual": {
        **SQUARED_COST,
        "upper bound C / 2": constraint(
            "upper", lambda d: d.variables["alpha"] <= d.canonical.C / 2
        ),
        "no balance": without("balance"),
        "one label flipped": elsewhere(label_flipped),
    },
    "svm.l2.beta": {
        **COST,
        "1/2 dropped": plus(_half_norm),
        "linear loss": priced(lambda u: cp.sum(cp.pos(u))),
        "loss of both signs": priced(cp.sum_squares),
        "betabar'betabar for betabar'Qbar betabar": priced(
            lambda u: cp.sum_squares(cp.pos(u)),
            lambda d: cp.sum_squares(d.variables["betabar"]) / 2,
        ),
        "bias dropped": constraint("no bias", _no_bias),
        "bias penalised": plus(lambda d: cp.square(d.variables["b"]) / 2),
        "bias read with the other sign": read_as(_other_bias),
        "one label flipped": elsewhere(label_flipped),
        "f of betabar without the labels": recovered(
            lambda d: Point(beta=d.variables["betabar"].value, b=-float(d.variables["b"].value))
        ),
    },
    "svm.nobias.primal": {
        **PRIMAL,
        "bias added": at_least(1.0, _plus_bias),
        "one label flipped": elsewhere(label_flipped),
    },
    "svm.nobias.dual": {
        **DUAL,
        "balance added": constraint(
            "balance", lambda d: d.canonical.rows.s @ d.variables["alpha"] == 0
        ),
        "labels forgotten in f": constraint(
            "w", lambda d: d.variables["w"] == _x(d).T @ d.variables["alpha"]
        ),
        "one label flipped": elsewhere(label_flipped),
    },
    "svm.nobias.beta": {
        **COST,
        "1/2 dropped": plus(_half_norm),
        "squared loss": priced(lambda u: cp.sum_squares(cp.pos(u))),
        "absolute loss": priced(cp.norm1),
        "betabar'betabar for betabar'Qbar betabar": priced(
            lambda u: cp.sum(cp.pos(u)), lambda d: cp.sum_squares(d.variables["betabar"]) / 2
        ),
        "f of betabar without the labels": recovered(
            lambda d: Point(beta=d.variables["betabar"].value, b=0.0)
        ),
        "betabar <= C / 2": Special(
            constraint("upper", lambda d: d.variables["betabar"] <= d.parameters["C"] / 2),
            kernels=("rbf",),
        ),
        "betabar >= 0": Special(
            constraint("lower", lambda d: d.variables["betabar"] >= 0), APPENDIX_A
        ),
        "betabar <= C": Special(
            constraint("upper", lambda d: d.variables["betabar"] <= d.parameters["C"]), APPENDIX_A
        ),
    },
    "svm.nobias_l2.beta": {
        **COST,
        "1/2 dropped": plus(_half_norm),
        "linear loss": priced(lambda u: cp.sum(cp.pos(u))),
        "loss of both signs": priced(cp.sum_squares),
        "betabar'betabar for betabar'Qbar betabar": priced(
            lambda u: cp.sum_squares(cp.pos(u)),
            lambda d: cp.sum_squares(d.variables["betabar"]) / 2,
        ),
        "one label flipped": elsewhere(label_flipped),
        "f of betabar without the labels": recovered(
            lambda d: Point(beta=d.variables["betabar"].value, b=0.0)
        ),
    },
    "svm.nobias_hard.primal": {
        **HARD_PRIMAL,
        "bias added": at_least(1.0, _plus_bias),
        "one label flipped": elsewhere(label_flipped),
        "w = 2 w": Special(read_as(lambda point: stretched(point, 2.0))),
    },
    "svm.nobias_hard.dual": {
        **HARD_DUAL,
        "balance added": constraint(
            "balance", lambda d: d.canonical.rows.s @ d.variables["alpha"] == 0
        ),
        "labels forgotten in f": constraint(
            "w", lambda d: d.variables["w"] == _x(d).T @ d.variables["alpha"]
        ),
        "one label flipped": elsewhere(label_flipped),
    },
    "svm.nobias_hard.margin": {
        **HARD_MARGIN,
        "bias added": constraint("margin", lambda d: _plus_bias(d) >= d.variables["t"]),
        "one label flipped": elsewhere(label_flipped),
    },
    "svm.nobias_hard.beta": {
        **HARD_PRIMAL,
        "bias added": at_least(1.0, _plus_bias),
        "betabar'betabar for betabar'Qbar betabar": objective(
            lambda d: cp.sum_squares(d.variables["betabar"]) / 2
        ),
        "f of betabar without the labels": recovered(
            lambda d: Point(beta=d.variables["betabar"].value, b=0.0)
        ),
        "betabar <= 0.1": Special(
            constraint("upper", lambda d: d.variables["betabar"] <= 0.1), kernels=("rbf",)
        ),
    },
    "svm.nobias_l2.primal": {
        **SQUARED_PRIMAL,
        "bias added": at_least(1.0, _plus_bias),
        "one label flipped": elsewhere(label_flipped),
    },
    "svm.nobias_l2.dual": {
        **SQUARED_COST,
        "balance added": constraint(
            "balance", lambda d: d.canonical.rows.s @ d.variables["alpha"] == 0
        ),
        "upper bound C / 2": constraint(
            "upper", lambda d: d.variables["alpha"] <= d.canonical.C / 2
        ),
    },
    "svr.hard.primal": {
        "1/2 dropped": plus(_half_norm),
        "epsilon doubled": elsewhere(tube(2)),
        "bias dropped": constraint("no bias", _no_bias),
        "bias penalised": plus(lambda d: cp.square(d.variables["b"]) / 2),
        "bias read with the other sign": read_as(_other_bias),
        "no lower side of the tube": constraint(
            "below", lambda d: _x(d) @ d.variables["w"] + d.variables["b"] <= 100
        ),
        "kernel 1 % off": elsewhere(kernel_off),
        CONTRADICTED: constraint(
            "contradiction",
            lambda d: _x(d) @ d.variables["w"] + d.variables["b"] >= d.canonical.rows.y + 1,
        ),
    },
    "svr.hard.dual": {
        "1/2 dropped": plus(lambda d: -_half_norm(d)),
        "epsilon doubled": elsewhere(tube(2)),
        "plus epsilon": plus(
            lambda d: (
                2
                * as_a(Tube, d.canonical.rows).epsilon
                * cp.sum(d.variables["alpha"] + d.variables["alphahat"])
            )
        ),
        "no balance": without("balance"),
        "no lower bound below": without("lowerhat"),
        "upper bound 0.1": constraint("upper", lambda d: d.variables["alpha"] <= 0.1),
        "f of the sum": constraint(
            "w",
            lambda d: (
                d.variables["w"] == _x(d).T @ (d.variables["alpha"] + d.variables["alphahat"])
            ),
        ),
        "kernel 1 % off": elsewhere(kernel_off),
        CONTRADICTED: objective(lambda d: _gain(d)),
    },
    "svr.l1.primal": {
        **COST,
        "costs of the sides exchanged": elsewhere(sides_exchanged),
        "1/2 dropped": plus(_half_norm),
        "squared slacks": objective(_squares("xi", "xihat")),
        "epsilon doubled": elsewhere(tube(2)),
        "bias dropped": constraint("no bias", _no_bias),
        "bias penalised": plus(lambda d: cp.square(d.variables["b"]) / 2),
        "bias read with the other sign": read_as(_other_bias),
        "one side of the tube": constraint("below", lambda d: d.variables["xihat"] >= -1),
        "slacks above free": without("slack"),
    },
    "svr.l1.dual": {
        **COST,
        "costs of the sides exchanged": elsewhere(sides_exchanged),
        "plus epsilon": plus(
            lambda d: (
                2
                * as_a(Tube, d.canonical.rows).epsilon
                * cp.sum(d.variables["alpha"] + d.variables["alphahat"])
            )
        ),
        "epsilon 0": elsewhere(tube(0)),
        "1/2 dropped": plus(lambda d: -_half_norm(d)),
        "i = j alone in the double sum": objective(
            lambda d: _gain(d) - _half_quadratic(d, np.diag(d.canonical.gram.diagonal))
        ),
        "upper bound 2 C": constraint(
            "upper", lambda d: d.variables["alpha"] <= 2 * d.parameters["C"]
        ),
        "no upper bound below": without("upperhat"),
        "no balance": without("balance"),
    },
    "svr.l1.beta": {
        **COST,
        "costs of the sides exchanged": elsewhere(sides_exchanged),
        "1/2 dropped": plus(_half_norm),
        "epsilon doubled": elsewhere(tube(2)),
        "bias dropped": constraint("no bias", _no_bias),
        "bias penalised": plus(lambda d: cp.square(d.variables["b"]) / 2),
        "bias read with the other sign": read_as(_other_bias),
        "g = beta": constraint("g", lambda d: d.variables["g"] == d.variables["beta"]),
    },
    "svr.l1.lambda.primal": {
        "lambda = 2 / C": parameter("lambda", lambda lam: 2 * lam),
        "1/2 dropped": plus(lambda d: d.parameters["lambda"] * _half_norm(d)),
        "epsilon doubled": elsewhere(tube(2)),
        "bias dropped": constraint("no bias", _no_bias),
        "bias read with the other sign": read_as(_other_bias),
        "one side of the tube": constraint("below", lambda d: d.variables["zetahat"] >= -1),
        "slacks above free": without("slack"),
        "value at half the cost": valued(lambda v: v / 2),
    },
    "svr.l1.lambda.dual": {
        "lambda = 2 / C": parameter("1/lambda", lambda inverse: inverse / 2),
        "1/2 dropped": plus(lambda d: -d.parameters["1/lambda"] * _half_norm(d)),
        "epsilon 0": elsewhere(tube(0)),
        "upper bound 2": constraint("upper", lambda d: d.variables["alpha"] <= 2),
        "no upper bound below": without("upperhat"),
        "no balance": without("balance"),
        "value at half the cost": valued(lambda v: v / 2),
    },
    "svr.l2.primal": {
        **COST,
        "costs of the sides exchanged": elsewhere(sides_exchanged),
        "1/2 dropped": plus(_half_norm),
        "linear slacks": objective(_sums("xi", "xihat")),
        "epsilon doubled": elsewhere(tube(2)),
        "bias dropped": constraint("no bias", _no_bias),
        "bias penalised": plus(lambda d: cp.square(d.variables["b"]) / 2),
        "bias read with the other sign": read_as(_other_bias),
        "one side of the tube": constraint("below", lambda d: d.variables["xihat"] >= -1),
        "slacks free": Special(without("slack"), REDUNDANT),
    },
    "svr.l2.dual": {
        **SQUARED_COST,
        "costs of the sides exchanged": elsewhere(sides_exchanged),
        "ridge doubled on one side": plus(
            lambda d: -d.parameters["1/C"] / 4 * cp.sum_squares(d.variables["alphahat"])
        ),
        "upper bound C / 2": constraint(
            "upper", lambda d: d.variables["alpha"] <= d.canonical.C / 2
        ),
        "epsilon 0": elsewhere(tube(0)),
        "no balance": without("balance"),
    },
    "svr.l2.beta": {
        **COST,
        "costs of the sides exchanged": elsewhere(sides_exchanged),
        "1/2 dropped": plus(_half_norm),
        "epsilon doubled": elsewhere(tube(2)),
        "bias dropped": constraint("no bias", _no_bias),
        "bias penalised": plus(lambda d: cp.square(d.variables["b"]) / 2),
        "bias read with the other sign": read_as(_other_bias),
        "g = beta": constraint("g", lambda d: d.variables["g"] == d.variables["beta"]),
    },
    "rank.hard.primal": {
        **HARD_PRIMAL,
        "orientation": elsewhere(turned),
        "bias added": constraint("margin", lambda d: _plus_bias(d) >= 1),
        "the tight pairs dropped": without_pairs(tight_pairs),
        "an easy pair dropped": Special(without_pairs(easy_pair), IDLE),
    },
    "rank.hard.dual": {
        **HARD_DUAL,
        "1'alpha = 0": constraint("balance", lambda d: cp.sum(d.variables["alpha"]) == 0),
        "the tight pairs dropped": without_pairs(tight_pairs),
        "an easy pair dropped": Special(without_pairs(easy_pair), IDLE),
        "orientation": Special(elsewhere(turned), EVEN),
    },
    "rank.hard.margin": {
        **HARD_MARGIN,
        "orientation": elsewhere(turned),
        "bias added": constraint("margin", lambda d: _plus_bias(d) >= d.variables["t"]),
        "the tight pairs dropped": without_pairs(tight_pairs),
        "an easy pair dropped": Special(without_pairs(easy_pair), IDLE),
    },
    "rank.l1.primal": {
        **PRIMAL,
        "orientation": elsewhere(turned),
        "bias added": at_least(1.0, _plus_bias),
        "a violated pair dropped": without_pairs(violated_pair),
        "an easy pair dropped": Special(without_pairs(easy_pair), IDLE),
    },
    "rank.l1.dual": {
        **DUAL,
        "1'alpha = 0": constraint("balance", lambda d: cp.sum(d.variables["alpha"]) == 0),
        "a violated pair dropped": without_pairs(violated_pair),
        "an easy pair dropped": Special(without_pairs(easy_pair), IDLE),
        "orientation": Special(elsewhere(turned), EVEN),
        "kernel of differences": Special(kernel_of_differences, kernels=NONLINEAR),
        "kernel of differences, linear": Special(
            kernel_of_differences, BILINEAR, kernels=("linear",)
        ),
    },
    "rank.l1.beta": {
        **COST,
        "1/2 dropped": plus(_half_norm),
        "squared loss": priced(lambda u: cp.sum_squares(cp.pos(u))),
        "absolute loss": priced(cp.norm1),
        "beta'beta for beta'K beta": priced(
            lambda u: cp.sum(cp.pos(u)), lambda d: cp.sum_squares(d.variables["beta"]) / 2
        ),
        "orientation": elsewhere(turned),
        "beta >= 0": Special(
            constraint("sign", lambda d: d.variables["beta"] >= 0), kernels=NONLINEAR
        ),
    },
    "rank.l1.betahat": {
        **COST,
        "1/2 dropped": plus(_half_norm),
        "squared loss": priced(lambda u: cp.sum_squares(cp.pos(u))),
        "absolute loss": priced(cp.norm1),
        "betahat'betahat for betahat'Qhat betahat": priced(
            lambda u: cp.sum(cp.pos(u)), lambda d: cp.sum_squares(d.variables["betahat"]) / 2
        ),
        "orientation": elsewhere(turned),
        "betahat for alpha": recovered(lambda d: Point(alpha=d.variables["betahat"].value)),
        "betahat >= 0": Special(
            constraint("lower", lambda d: d.variables["betahat"] >= 0), APPENDIX_A
        ),
        "betahat <= C": Special(
            constraint("upper", lambda d: d.variables["betahat"] <= d.parameters["C"]), APPENDIX_A
        ),
    },
    "rank.oneslack": {
        # Its cuts have one cost, which is no parameter.
        **COST | {"C / 2": cost(0.5)},
        "1/2 dropped": plus(_half_norm),
        "squared slack": objective(
            lambda d: _half_norm(d) + d.canonical.C * cp.square(d.variables["xi"])
        ),
        "C / p": plus(lambda d: -d.canonical.C * (1 - 1 / d.canonical.p) * d.variables["xi"]),
        "margin 1.01": constraint(
            "subset", lambda d: 1.01 * _subsets(d)[0] - _subsets(d)[2] <= _subsets(d)[1]
        ),
        "the slack twice": constraint(
            "subset", lambda d: _subsets(d)[0] - 2 * _subsets(d)[2] <= _subsets(d)[1]
        ),
        "p for the size of every subset": constraint(
            "subset", lambda d: d.canonical.p - _subsets(d)[2] <= _subsets(d)[1]
        ),
        "pairs for subsets": largest_slack,
        "the whole set for every subset": constraint(
            "subset",
            lambda d: (
                cp.multiply(_not_empty(d), d.canonical.p - cp.sum(_margins_of(d))) <= _subsets(d)[2]
            ),
        ),
        "orientation": elsewhere(turned),
        "the empty subset dropped": Special(
            constraint(
                "subset",
                lambda d: (
                    cp.multiply(_not_empty(d), _subsets(d)[0] - _subsets(d)[2] - _subsets(d)[1])
                    <= 0
                ),
            ),
            EMPTY,
        ),
    },
    "rank.lambda.function": {
        "lambda = 1 / C": parameter("lambda", lambda lam: 2 * lam),
        "lambda = C": parameter("lambda", lambda lam: 1 / (2 * lam)),
        "lambda |f|^2 / 2": objective(
            lambda d: cp.sum(d.variables["zeta"]) + d.parameters["lambda"] * _half_norm(d)
        ),
        "squared slacks": plus(
            lambda d: cp.sum_squares(d.variables["zeta"]) - cp.sum(d.variables["zeta"])
        ),
        "orientation": elsewhere(turned),
        "margin 1.01": at_least(1.01),
        "slacks free": without("slack"),
        "value not divided by lambda": valued(lambda v: v),
        "alpha not divided by lambda": read_as(lambda point: replace(point, alpha=point.alpha / 2)),
        "kernel 1 % off": elsewhere(kernel_off),
    },
    "rank.lambda.primal": {
        "lambda = C": parameter("lambda", lambda lam: 1 / lam),
        "1/2 dropped, (5) read as (6)": plus(lambda d: d.parameters["lambda"] * _half_norm(d)),
        "squared slacks": plus(
            lambda d: cp.sum_squares(d.variables["zeta"]) - cp.sum(d.variables["zeta"])
        ),
        "orientation": elsewhere(turned),
        "slacks free": without("slack"),
        "g = beta": constraint("g", lambda d: d.variables["g"] == d.variables["beta"]),
        "alpha not divided by lambda": read_as(lambda point: replace(point, alpha=point.alpha / 2)),
        "a violated pair dropped": without_pairs(violated_pair),
    },
    "rank.lambda.dual": {
        "lambda = C": parameter("1/lambda", lambda inverse: 1 / inverse),
        "1/2 dropped": plus(lambda d: -d.parameters["1/lambda"] * _half_norm(d)),
        "upper bound 1.01": constraint("upper", lambda d: d.variables["alpha"] <= 1.01),
        "upper bound C": constraint("upper", lambda d: d.variables["alpha"] <= d.canonical.C),
        "no upper bound": without("upper"),
        "value not divided by lambda": valued(lambda v: v),
        "orientation": Special(elsewhere(turned), EVEN),
    },
    "rank.path": {
        "lambda = C": parameter("lambda", lambda lam: 1 / lam),
        "lambda = 2 / C": parameter("lambda", lambda lam: 2 * lam),
        "1/2 dropped": plus(lambda d: -_half_norm(d)),
        "upper bound 1.01": constraint("upper", lambda d: d.variables["alpha"] <= 1.01),
        "upper bound lambda": constraint(
            "upper", lambda d: d.variables["alpha"] <= d.parameters["lambda"]
        ),
        "no upper bound": without("upper"),
        "value not divided by lambda": valued(lambda v: v),
        "orientation": Special(elsewhere(turned), EVEN),
    },
    "rank.l2.primal": {
        **SQUARED_PRIMAL,
        "orientation": elsewhere(turned),
        "bias added": at_least(1.0, _plus_bias),
        "a violated pair dropped": without_pairs(violated_pair),
        "an easy pair dropped": Special(without_pairs(easy_pair), IDLE),
    },
    "rank.l2.dual": {
        **SQUARED_COST,
        "upper bound C / 2": constraint(
            "upper", lambda d: d.variables["alpha"] <= d.canonical.C / 2
        ),
        "1'alpha = 0": constraint("balance", lambda d: cp.sum(d.variables["alpha"]) == 0),
        "a violated pair dropped": without_pairs(violated_pair),
        "orientation": Special(elsewhere(turned), EVEN),
    },
    "rank.l2.beta": {
        **COST,
        "1/2 dropped": plus(_half_norm),
        "linear loss": priced(lambda u: cp.sum(cp.pos(u))),
        "loss of both signs": priced(cp.sum_squares),
        "C / 2 for C": priced(lambda u: cp.sum_squares(cp.pos(u)) / 2),
        "beta'beta for beta'K beta": priced(
            lambda u: cp.sum_squares(cp.pos(u)), lambda d: cp.sum_squares(d.variables["beta"]) / 2
        ),
        "orientation": elsewhere(turned),
    },
    "rank.l2.betahat": {
        **COST,
        "1/2 dropped": plus(_half_norm),
        "linear loss": priced(lambda u: cp.sum(cp.pos(u))),
        "loss of both signs": priced(cp.sum_squares),
        "betahat'betahat for betahat'Qhat betahat": priced(
            lambda u: cp.sum_squares(cp.pos(u)),
            lambda d: cp.sum_squares(d.variables["betahat"]) / 2,
        ),
        "orientation": elsewhere(turned),
        "betahat for alpha": recovered(
            lambda d: Point(alpha=np.maximum(1.01 * d.variables["betahat"].value, 0.0))
        ),
        "betahat >= 0": Special(
            constraint("lower", lambda d: d.variables["betahat"] >= 0), APPENDIX_A
        ),
    },
    "rank.onenorm.primal": {
        **COST,
        "alpha free": without("sign"),
        "margin 1.01": constraint("margin", lambda d: _margins_of(d) >= 1.01 - d.variables["xi"]),
        "slacks free": without("slack"),
        "1'alpha dropped": plus(lambda d: -cp.sum(d.variables["alpha"])),
        "1'alpha / 2": plus(lambda d: -cp.sum(d.variables["alpha"]) / 2),
        "beta >= 0": constraint("price", lambda d: d.variables["beta"] >= 0),
        "orientation": Special(elsewhere(turned), EVEN),
    },
    "rank.onenorm.dual": {
        **COST,
        "no upper bound": without("upper"),
        "upper bound 1.01 C": constraint(
            "upper", lambda d: d.variables["u"] <= 1.01 * d.parameters["C"]
        ),
        "lower bound -C": constraint("lower", lambda d: d.variables["u"] >= -d.parameters["C"]),
        "price 1.01": constraint("price", lambda d: _margins_of(d) <= 1.01),
        "lower bound dropped": without("lower"),
        "orientation": Special(elsewhere(turned), EVEN),
    },
    "rvm.primal": {
        **COST,
        "beta free": without("sign"),
        "beta free, |beta|_1": of_any_sign,
        "orientation": elsewhere(turned),
        "margin 1.01": constraint("margin", lambda d: _margins_of(d) >= 1.01 - d.variables["xi"]),
        "slacks free": without("slack"),
        "1'beta dropped": plus(lambda d: -cp.sum(d.variables["beta"])),
        "a violated pair dropped": without_pairs(violated_pair),
    },
    "rvm.dual": {
        **COST,
        "no upper bound": without("upper"),
        "upper bound 1.01 C": constraint(
            "upper", lambda d: d.variables["u"] <= 1.01 * d.parameters["C"]
        ),
        "lower bound -C": constraint("lower", lambda d: d.variables["u"] >= -d.parameters["C"]),
        "K v = 1": constraint("price", lambda d: d.canonical.gram.dense @ d.variables["v"] == 1),
        "price 1.01": constraint(
            "price", lambda d: d.canonical.gram.dense @ d.variables["v"] <= 1.01
        ),
        "orientation": elsewhere(turned),
        "a violated pair dropped": without_pairs(violated_pair),
    },
    "ord.hard.primal": {
        **HARD_PRIMAL,
        **THRESHOLDS,
        "thresholds in order": OF_LEVELS["thresholds in order"],
        "the threshold above a level alone": rows_of(lambda k, y: k == y),
        "the threshold below a level alone": rows_of(lambda k, y: k == y - 1),
        "the thresholds next to a level alone": Special(
            rows_of(lambda k, y: (k == y) | (k == y - 1)), BETWEEN
        ),
    },
    "ord.hard.neighbours": {
        **HARD_PRIMAL,
        **THRESHOLDS,
        "the first threshold 0": Special(
            constraint("no bias", lambda d: d.variables["b"][0] == 0), kernels=NONLINEAR
        ),
        CONTRADICTED: constraint("contradiction", lambda d: -d.constraints["margin"].args[1] >= 1),
        "the threshold above a level alone": rows_of(lambda k, y: k == y),
        "the threshold below a level alone": rows_of(lambda k, y: k == y - 1),
        "no order": Special(without("order"), BETWEEN),
    },
    "ord.hard.dual": {
        **HARD_DUAL,
        **BALANCED,
        # Linear ones depend on the first threshold alone.
        "two levels for one": Special(elsewhere(level_left_out), kernels=NONLINEAR),
        "sides forgotten in f": constraint(
            "w",
            lambda d: (
                d.variables["w"]
                == _x(d).T @ np.abs(d.canonical.rows.matrix).T @ d.variables["alpha"]
            ),
        ),
    },
    "ord.hard.rank_hard": {
        "1/2 dropped": plus(_half_norm),
        "margin 1.01": constraint("margin", lambda d: _differences(d) >= 1.01),
        "margin 2": constraint("margin", lambda d: _differences(d) >= 2),
        "margin 0": constraint("margin", lambda d: _differences(d) >= 0),
        "kernel 1 % off": elsewhere(kernel_off),
        "orientation": constraint("margin", lambda d: -_differences(d) >= 1),
        "value not times 4": valued(lambda value: value),
        "value times 2": valued(lambda value: 2 * value),
        "the highest level left out": Special(
            differences_of(lambda above, below: above < 2), kernels=NONLINEAR
        ),
        "outermost levels alone": differences_of(lambda above, below: above - below == 2),
        "neighbouring levels alone": Special(
            differences_of(lambda above, below: above - below == 1), BETWEEN
        ),
        "a level raised": elsewhere(level_raised),
        "w for 2 w": Special(read_as(lambda point: stretched(point, 0.5)), SCALED),
        CONTRADICTED: constraint("contradiction", lambda d: -_differences(d) >= 1),
    },
    "ord.implicit.primal": {**PRIMAL, **OF_LEVELS},
    "ord.implicit.dual": {
        **DUAL,
        **BALANCED,
        "ridge": plus(lambda d: -cp.sum_squares(d.variables["alpha"]) / (4 * d.canonical.C)),
        "upper bound C of the sum of a point": constraint(
            "upper",
            lambda d: (
                cp.sum(cp.reshape(d.variables["alpha"], (d.canonical.m, 2), order="F"), axis=1)
                <= d.parameters["C"]
            ),
        ),
    },
    "ord.implicit.beta": {
        **COST,
        **OF_LEVELS,
        "1/2 dropped": plus(_half_norm),
        "squared loss": priced(lambda u: cp.sum_squares(cp.pos(u))),
        "absolute loss": priced(cp.norm1),
        "beta'beta for beta'K beta": priced(
            lambda u: cp.sum(cp.pos(u)), lambda d: cp.sum_squares(d.variables["beta"]) / 2
        ),
    },
    "ord.implicit.two_levels": {
        **OF_TWO_LEVELS,
        "squared loss": lost(lambda u: cp.sum_squares(cp.pos(u)), _of_two_levels),
    },
    "ord.implicit_l2.primal": {**SQUARED_PRIMAL, **OF_LEVELS},
    "ord.implicit_l2.dual": {
        **SQUARED_COST,
        **BALANCED,
        "upper bound C / 2": constraint(
            "upper", lambda d: d.variables["alpha"] <= d.canonical.C / 2
        ),
    },
    "ord.implicit_l2.beta": {
        **COST,
        **OF_LEVELS,
        "1/2 dropped": plus(_half_norm),
        "linear loss": priced(lambda u: cp.sum(cp.pos(u))),
        "loss of both signs": priced(cp.sum_squares),
        "beta'beta for beta'K beta": priced(
            lambda u: cp.sum_squares(cp.pos(u)), lambda d: cp.sum_squares(d.variables["beta"]) / 2
        ),
    },
    "ord.implicit_l2.two_levels": {
        **OF_TWO_LEVELS,
        "linear loss": lost(lambda u: cp.sum(cp.pos(u)), _of_two_levels),
        "loss of both signs": lost(cp.sum_squares, _of_two_levels),
    },
    "svm.huberised_hinge.primal": {
        **HUBERISED,
        "the hinge": lost(lambda u: cp.sum(cp.pos(u)), _of_classes),
        "the squared hinge": lost(lambda u: cp.sum_squares(cp.pos(u)), _of_classes),
    },
    "svm.huberised_hinge.slacks": {
        **HUBERISED,
        "half the parabola": objective(
            lambda d: _half_norm(d) + _parabola_and_line(d, _phi(d).slope / 2)
        ),
        "twice the line": plus(lambda d: d.parameters["C"] * cp.sum(d.variables["v"])),
        "no line": constraint("line", lambda d: d.variables["v"] == 0),
        "the line of any sign": without("line"),
        "margin 1 for 1 + delta": constraint(
            "margin", lambda d: _of_classes(d) >= 1 - d.variables["z"] - d.variables["v"]
        ),
        "z >= 0": Special(constraint("z", lambda d: d.variables["z"] >= 0), SMOOTH),
    },
    "svm.huberised_hinge.beta": {
        **HUBERISED,
        "the hinge": lost(lambda u: cp.sum(cp.pos(u)), _of_classes),
        "the squared hinge": lost(lambda u: cp.sum_squares(cp.pos(u)), _of_classes),
        "g = beta": constraint("g", lambda d: d.variables["g"] == d.variables["beta"]),
    },
    "svm.huberised_hinge.dual": {
        "2 C": cost(2),
        "lambda / 2": parameter("lambda", lambda inverse: inverse / 2),
        "kernel 1 % off": elsewhere(kernel_off),
        "1/2 dropped": plus(lambda d: -_half_norm(d)),
        "2 delta": elsewhere(kinks(2.0)),
        "1 for 1 + delta": plus(lambda d: -_phi(d).width * cp.sum(d.variables["alpha"])),
        "ridge doubled": plus(
            lambda d: (
                -d.parameters["lambda"] / (2 * _phi(d).slope) * cp.sum_squares(d.variables["alpha"])
            )
        ),
        "no upper bound": without("upper"),
        "upper bound 1.01 C": constraint(
            "upper", lambda d: d.parameters["lambda"] * d.variables["alpha"] <= 1.01
        ),
        "lower bound dropped": without("lower"),
        "no balance": without("balance"),
        "balance 1'alpha = 0": constraint("balance", lambda d: cp.sum(d.variables["alpha"]) == 0),
        "one label flipped": elsewhere(label_flipped),
    },
    "svm.onenorm.primal": {
        **COST,
        **_wrong_sparse_primal(),
        "without the bias": lambda problem, id: declare(
            "svm.nobias_onenorm.primal", replace(problem, bias=False)
        ),
        "bias penalised": plus(lambda d: cp.abs(d.variables["b"])),
        "alpha free, |alpha|_1": Special(of_any_sign, kernels=("polynomial",)),
    },
    "svm.onenorm.dual": {
        **COST,
        **_wrong_sparse_dual(),
        "prices >= -1 besides": Special(
            constraint("price from below", lambda d: _prices(d) >= -1), kernels=("polynomial",)
        ),
        "balance dropped": without("balance"),
        "1'u = 0 for y'u = 0": constraint("balance", lambda d: cp.sum(d.variables["u"]) == 0),
    },
    "svm.nobias_onenorm.primal": {
        **COST,
        **_wrong_sparse_primal(),
        "with a bias": constraint("margin", lambda d: _plus_bias(d) >= 1 - d.variables["xi"]),
    },
    "svm.nobias_onenorm.dual": {
        **COST,
        **_wrong_sparse_dual(),
        "balanced": lambda problem, id: declare("svm.onenorm.dual", replace(problem, bias=True)),
    },
}
FINITE = {
    "svm.hard.primal": "margin 0",
    "svm.hard.dual": "upper bound 0.1",
    "svm.nobias_hard.primal": "margin 0",
    "svm.nobias_hard.dual": "upper bound 0.1",
    "ord.hard.primal": "the threshold above a level alone",
    "ord.hard.neighbours": "margin 0",
    "ord.hard.dual": "upper bound 0.1",
    "ord.hard.rank_hard": "margin 0",
    "svr.hard.primal": "no lower side of the tube",
    "svr.hard.dual": "upper bound 0.1",
    "rank.hard.primal": "margin 0",
    "rank.hard.dual": "upper bound 0.1",
}
"""Mutants with an optimum where the family is infeasible."""
BY_FORMULA = ("rank.l2.value.as_printed",)
"""Controls that misprint the value of a right answer: wrong by their formula alone."""

NO_COST = "twice an infinite cost is the same"
NO_UPPER_END = "the multipliers of squared slacks have no upper end"
ELSEWHERE = "the line is in the branch of the other linear program"
IN_ROWS = dict.fromkeys(("rank.onenorm", "svm.onenorm", "svm.nobias_onenorm"), ELSEWHERE)
"""Families with a variable for every row.

A line for those with one for every point changes nothing there.
"""


@dataclass(frozen=True)
class Change:
    """Change of one piece of a solver's source.

    Parameters
    ----------
    old, new : str
        Piece before and after the change.
    same : Mapping[str, str]
        Families without an effect of the change, with the argument; they are expected
        to agree.
    families : tuple[str, ...]
        Families of the change; all those of the solver if empty. Without upper bounds
        later steps make up for a missing clip, without a ridge nothing is dropped.
    module : str
        Module with the source, one of the solver's PARTS; its own if empty.
    """

    old: str
    new: str
    same: Mapping[str, str] = field(default_factory=dict)
    families: tuple[str, ...] = ()
    module: str = ""


PARTS = {
    "smo": ("dual.smo_problem", "dual.working_set"),
    "coordinate_descent": ("dual.sweeps",),
    "newton": (
        "newton.base",
        "newton.hessian",
        "newton.in_features",
        "newton.in_kernel",
        "newton.start",
    ),
    "threshold_newton": ("ordinal.machine", "ordinal.smoothed", "ordinal.newton"),
    "dual_active_set": (
        "hard.pricing",
        "hard.face",
        "hard.ascent",
        "hard.block_pivots",
        "hard.spaces",
    ),
}
"""Other modules of a solver, each after the modules that it imports."""
AT_ONCE = """stops = {}
    from equimargin.solvers.solution import Status as Word
    progress.end(Word.OPTIMAL, "what it says")
    stops = True"""
SIGNATURE = (
    "def _solve(problem: MarginProblem, limits: Limits, warm_start: Point | None) -> Solution:\n"
)


def of_programs(source: str) -> str:
    """Return source for margin problems rewritten for linear programs."""
    return source.replace("MarginProblem", "OneNormProblem").replace(": Point", ": OneNormPoint")


ANOTHER = SIGNATURE, f"{SIGNATURE}    problem = problem.with_cost(2 * problem.C)\n"
ANOTHER_PROGRAM = of_programs(ANOTHER[0]), of_programs(ANOTHER[1])
READ_OUT = """s = progress.solution()
    from dataclasses import replace
    return replace(s, point=replace(s.point, {}))"""
REVERSED = "problem.repaired(solution.dual)", "problem.repaired(solution.dual)[::-1]"

SOURCES: dict[str, dict[str, Change]] = {
    "smo": {
        "solves and reports 2 C": Change(*ANOTHER, same={"svm.hard": NO_COST, "svr.hard": NO_COST}),
        "signs of the targets forgotten": Change(
            "(s * t - units.middle)", "(t - units.middle)", module="dual.smo_problem"
        ),
        "step the wrong way": Change(
            "G.dtype.type(delta), work)", "G.dtype.type(-delta), work)", module="dual.working_set"
        ),
        "balance forgotten": Change(
            "a[j] = bottom if delta == down else a[j] - delta", "pass", module="dual.working_set"
        ),
        "no clip to the box": Change(
            "delta = min(delta, up, down)",
            "pass",
            families=("svm.soft",),
            module="dual.working_set",
        ),
        "no ridge": Change(
            "0.5 / units.spread if problem.squared else 0.0",
            "0.0",
            families=("svm.l2", "svr.l2"),
            module="dual.smo_problem",
        ),
        "optimal at once": Change(
            "_run_rounds(descent, progress, watched or limits.callback is not None)",
            'progress.end(Status.OPTIMAL, "what it says")',
        ),
        "bias forgotten": Change("return progress.solution()", READ_OUT.format("b=0.0")),
        "bias with the other sign": Change(
            "return progress.solution()", READ_OUT.format("b=-s.point.b")
        ),
    },
    "coordinate_descent": {
        "solves and reports 2 C": Change(*ANOTHER),
        "no clip to the box": Change(
            "smaller(larger(alpha + omega * u / q, 0.0), box)",
            "larger(alpha + omega * u / q, 0.0)",
            same={"svm.nobias_l2": NO_UPPER_END, "rank.l2": NO_UPPER_END},
            module="dual.sweeps",
        ),
        "step the wrong way": Change(
            "larger(alpha + omega * u / q, 0.0)",
            "larger(alpha - omega * u / q, 0.0)",
            module="dual.sweeps",
        ),
        "no ridge": Change(
            "np.divide(0.5, problem.costs, out=ridge",
            "np.divide(0.0, problem.costs, out=ridge",
            families=("svm.nobias_l2", "rank.l2"),
        ),
        "optimal at once": Change(
            "stops = progress.show(alpha, 0)", AT_ONCE.format("progress.show(alpha, 0)")
        ),
        "multipliers in reverse": Change(
            "return progress.solution()", READ_OUT.format("alpha=s.point.alpha[::-1]")
        ),
    },
    "newton": {
        "solves and reports 2 C": Change(*ANOTHER),
        "costs 2 % off": Change(
            "(g, self.problem.group_costs)",
            "(g, 1.02 * self.problem.group_costs)",
            module="newton.base",
        ),
        "half the pull": Change(
            "G = at.image - pull", "G = at.image - pull / 2", module="newton.in_features"
        ),
        "step the wrong way": Change("t = _least(", "t = -_least(", module="newton.base"),
        "slacks that do not follow": Change(
            "line.to(t)", "line.to(0.9 * t)", module="newton.in_features"
        ),
        "optimal at once": Change(
            "stops = unknowns.show(seen, progress)\n    while",
            AT_ONCE.format("unknowns.show(seen, progress)") + "\n    while",
        ),
        "bias with the other sign": Change(
            "return progress.solution()",
            READ_OUT.format("b=-s.point.b"),
            families=("svm.l2", "svr.l2"),
        ),
        "multipliers in reverse": Change(
            "return progress.solution()",
            READ_OUT.format("alpha=__import__('numpy').asarray(s.point.alpha)[::-1]"),
        ),
    },
    "huber": {
        "solves and reports 2 C": Change(*ANOTHER),
        "multipliers above the costs": Change("width, 1.0)", "width, 1.2)"),
        "optimal at once": Change(
            "stops = unknowns.show(seen, progress)\n    while",
            AT_ONCE.format("unknowns.show(seen, progress)") + "\n    while",
        ),
        "bias with the other sign": Change(
            "return progress.solution()",
            READ_OUT.format("b=-s.point.b"),
            families=("svm.soft", "svr.l1"),
        ),
        "multipliers in reverse": Change(
            "return progress.solution()", READ_OUT.format("alpha=s.point.alpha[::-1]")
        ),
    },
    "tron": {
        "solves and reports 2 C": Change(*ANOTHER),
        "half the loss": Change("/ 2 + expansion.loss", "/ 2 + expansion.loss / 2"),
        "step the wrong way": Change("trial = at.moved(s)", "trial = at.moved(-s)"),
        "slope of another loss": Change(
            ".expanded(SQUARED_HINGE)", ".expanded(replace(SQUARED_HINGE, slope=2.2))"
        ),
        "optimal at once": Change(
            "stops = progress.weigh(at.point, at.fun, at.dual, 0)",
            AT_ONCE.format("progress.weigh(at.point, at.fun, at.dual, 0)"),
        ),
        "multipliers in reverse": Change(*REVERSED),
    },
    "cutting_plane": {
        "solves and reports 2 C": Change(*ANOTHER),
        "gain 1 % off": Change(
            "problem.rows.multipliers(alpha).gain(), pull",
            "1.01 * problem.rows.multipliers(alpha).gain(), pull",
        ),
        "f with the other sign": Change(
            "v += mu * cut.pull\n            image += mu * cut.image",
            "v -= mu * cut.pull\n            image -= mu * cut.image",
        ),
        "optimal at once": Change(
            "        if stops:\n",
            "        from equimargin.solvers.solution import Status as Word\n"
            "        progress.end(Word.OPTIMAL, 'what it says')\n"
            "        if True:\n",
        ),
        "multipliers in reverse": Change(*REVERSED),
    },
    "dual_active_set": {
        "solves and reports twice the features": Change(
            SIGNATURE,
            f"{SIGNATURE}    from dataclasses import replace as other\n    from "
            f"equimargin.formulations import rbf\n"
            "    problem = other(problem, X=2 * problem.X, kernel=problem.kernel if "
            "problem.explicit else rbf(0.9))\n",
        ),
        "no row joins the pool": Change(
            "tol, NEW_ROWS), pool.keys", "tol, NEW_ROWS)[:0], pool.keys", families=("rank.hard",)
        ),
        "optimal at once": Change(
            "        while judge.status is None:\n",
            "        self._weighed(self.space.of_multipliers(pool.taken[:0], alpha[:0]), "
            "np.zeros(self.problem.m), pool,\n"
            "                      np.zeros(0, dtype=np.int64), alpha[:0])\n"
            "        judge.end(Status.OPTIMAL, 'what it says')\n"
            "        while judge.status is None:\n",
            families=("rank.hard",),
        ),
        "multipliers in reverse": Change(
            "self.rows.multipliers(pool.keys[active], alpha)",
            "self.rows.multipliers(pool.keys[active], alpha[::-1])",
        ),
        "one multiplier three times as large": Change(
            "self.rows.multipliers(pool.keys[active], alpha)",
            "self.rows.multipliers(pool.keys[active], np.where(np.arange(len(alpha)) == 0, "
            "3 * alpha, alpha))",
        ),
        "a ray where there is none": Change(
            "            if state.ray is not None:\n                return "
            "self._with_ray(pool, state)\n",
            "            judge.end(Status.INFEASIBLE, 'what it says')\n"
            "            return replace(judge.solution(), point=self.problem.origin)\n",
            families=("rank.hard",),
        ),
    },
    "penalty": {
        "solves and reports 2 C": Change(*ANOTHER),
        "hard rows are soft": Change(
            "        over, before = judge.weigh(",
            "        return replace(solution, problem=problem)\n"
            "        over, before = judge.weigh(",
            families=("svm.nobias_l2", "rank.l2"),
        ),
        "an upper bound of nobody": Change(
            "return function.with_multipliers(alpha)",
            "return scaled(function, 1.01).with_multipliers(alpha / 1.01)",
        ),
        "soft rows at half their cost": Change(
            "np.where(hard, cost, problem.group_costs)",
            "np.where(hard, 1e3, problem.group_costs / 2)",
        ),
        "multipliers in reverse": Change(
            "function.with_multipliers(alpha)", "function.with_multipliers(alpha[::-1])"
        ),
        "infeasible at once": Change(
            "if first.status is Status.INFEASIBLE:",
            "if True:\n        first = replace(first, status=Status.INFEASIBLE)",
        ),
    },
    "homotopy": {
        "solves and reports 2 C": Change(*ANOTHER),
        "lambda = 2 / C": Change(
            "followed.at(1 / C)", "followed.at(2 / C)", families=("svr.l1", "rank.l1")
        ),
        "alpha not divided by lambda": Change(
            "    return np.asarray(alpha)\n", "    return np.asarray(alpha) / (2 * C)\n"
        ),
        "optimal at once": Change(
            "    if not progress.show(multipliers(",
            "    progress.end(Status.OPTIMAL, 'what it says')\n    if not progress.show(0.5 "
            "* multipliers(",
        ),
        "bias with the other sign": Change(
            "return progress.solution()",
            READ_OUT.format("b=-s.point.b"),
            families=("svm.soft", "svr.l1"),
        ),
        "multipliers in reverse": Change(
            "return progress.solution()", READ_OUT.format("alpha=s.point.alpha[::-1]")
        ),
    },
    "columns": {
        "solves and reports 2 C": Change(
            "    m, T, gram = problem.m,",
            "    problem = problem.with_cost(2 * problem.C)\n    m, T, gram = problem.m,",
        ),
        "step the wrong way": Change("V[r, c] -= moved", "V[r, c] += moved"),
        "balance forgotten": Change(
            "G[j, k] = low[j, k] if d == G[j, k] - low[j, k] else G[j, k] - d", "pass"
        ),
        "no clip to the box": Change(
            "d = min((V[i, k] - V[j, k]) / curvature, high[i, k] - G[i, k], G[j, k] - low[j, k])",
            "d = (V[i, k] - V[j, k]) / curvature",
            families=("ord.implicit",),
        ),
        "half of f": Change(
            "gram @ G.sum(axis=1)\n    return",
            "gram @ G.sum(axis=1) / 2\n    return",
            families=("ord.implicit_l2",),
        ),
        "no ridge": Change(
            "np.divide(0.5, costs", "np.divide(0.0, costs", families=("ord.implicit_l2",)
        ),
        "sides exchanged": Change(
            "low, high = np.where(S > 0,",
            "S = -S\n    low, high = np.where(S > 0,",
            same={"ord.implicit": EVEN, "ord.implicit_l2": EVEN},
        ),
        "the first threshold alone": Change("for k in range(columns):", "for k in range(1):"),
        "multipliers by points": Change("(S * G).T.ravel()", "(S * G).ravel()"),
        "signs of the multipliers": Change("(S * G).T.ravel()", "np.abs(S + G).T.ravel()"),
        "optimal at once": Change(
            "        if progress.show((S * G).T.ravel(), steps, violation):\n",
            "        progress.show((S * G).T.ravel(), steps, violation)\n"
            "        from equimargin.solvers.solution import Status as Word\n"
            "        progress.end(Word.OPTIMAL, 'what it says')\n"
            "        if True:\n",
        ),
        "bias with the other sign": Change(
            "return progress.solution()", READ_OUT.format("b=-s.point.b")
        ),
        "thresholds in reverse": Change(
            "return progress.solution()", READ_OUT.format("b=s.point.b[::-1]")
        ),
    },
    "threshold_newton": {
        "solves and reports 2 C": Change(
            "    kept = np.flatnonzero(problem",
            "    problem = problem.with_cost(2 * problem.C)\n    kept = np.flatnonzero(problem",
        ),
        "costs 2 % off": Change("problem.group_costs[kept]", "1.02 * problem.group_costs[kept]"),
        "a level higher": Change(
            "y[:, None] > np.arange(T)",
            "y[:, None] >= np.arange(T)",
            module="ordinal.machine",
        ),
        "half the pull": Change(
            "at.w - machine.Z.rdot(sums.beta)",
            "at.w - machine.Z.rdot(sums.beta) / 2",
            module="ordinal.newton",
        ),
        "no pull of the last threshold": Change(
            "machine.push + sums.G.sum(axis=1)",
            "machine.push + np.append(sums.G.sum(axis=1)[:-1], 0.0)",
            module="ordinal.newton",
        ),
        "step the wrong way": Change(
            "step = -_solved(", "step = _solved(", module="ordinal.newton"
        ),
        "bias with the other sign": Change("b=-b if self", "b=b if self"),
        "thresholds in reverse": Change("b=-b if self", "b=-b[::-1] if self"),
        "multipliers by points": Change("alpha=alpha.ravel()", "alpha=alpha.T.ravel()"),
        "multipliers of one threshold": Change("np.abs(G).T", "np.abs(G).T * [[1.0], [0.0]]"),
        "optimal at once": Change(
            "        return self.judge.weigh(point, *values",
            "        from equimargin.solvers.solution import Status as Word\n"
            "        self.judge.weigh(point, *values, iterations)\n"
            "        self.judge.end(Word.OPTIMAL, 'what it says')\n"
            "        return True or self.judge.weigh(point, *values",
        ),
    },
    "hard_levels": {
        "f with the other sign": Change("else 2 * part for part", "else -2 * part for part"),
        "f not doubled": Change(
            "else 2 * part for part", "else part for part", same={"ord.hard": SCALED}
        ),
        "multipliers not doubled": Change(
            "2 * multipliers, problem.p", "multipliers, problem.p", same={"ord.hard": SCALED}
        ),
        "pairs at the threshold below the preferred level": Change(
            "np.asarray(problem.rows.y)[pairs.other]",
            "(np.asarray(problem.rows.y)[pairs.preferred] - 1)",
            same={"ord.hard": BETWEEN},
        ),
        "rows above thresholds alone": Change("np.asarray(above + below)", "np.asarray(above)"),
        "multipliers in reverse": Change(
            "np.asarray(above + below)", "np.asarray(above + below)[::-1]"
        ),
        "thresholds at 0": Change(
            "beta=beta, alpha=np.asarray", "beta=beta, b=np.zeros(problem.T), alpha=np.asarray"
        ),
        "a pair of no threshold": Change(
            "2 * multipliers, problem.p",
            "2 * multipliers * (multipliers < multipliers.max()), problem.p",
        ),
        "infeasible at once": Change(
            "    return replace(\n        solution,\n        problem=problem,",
            "    from equimargin.solvers.solution import Status as Word\n"
            "    solution = replace(solution, status=Word.INFEASIBLE)\n"
            "    _doubled = lambda *at: problem.origin\n"
            "    return replace(\n        solution,\n        problem=problem,",
        ),
    },
    "linear_program": {
        "solves and reports 2 C": Change(*ANOTHER_PROGRAM),
        "twice the cost": Change(
            "problem.costs * problem.gram.mean", "2 * problem.costs * problem.gram.mean"
        ),
        "identity for K": Change(
            "return [A.T, *kernel] if",
            "kernel = [sparse.eye_array(problem.m)]\n    return [A.T, *kernel] if",
        ),
        "sign of the multipliers": Change(
            "np.maximum(-np.array(solution.row_dual)", "np.maximum(np.array(solution.row_dual)"
        ),
        "orientation over points": Change(
            "return [A.T, *kernel] if", "return [-A.T, *kernel] if", same=IN_ROWS
        ),
        "orientation over pairs": Change(
            "else [A.T, *kernel, A]", "else [-A.T, *kernel, A]", same={"rvm": ELSEWHERE}
        ),
    },
    "column_generation": {
        "solves and reports 2 C": Change(*ANOTHER_PROGRAM),
        "half the cost": Change(
            "            ends,\n            self.basis",
            "            0.5 * ends,\n            self.basis",
        ),
        # With few rows to a group the point is right all the same.
        "half the slacks": Change(
            "float(x.sum() + self.costs @",
            "float(x.sum() + 0.5 * self.costs @",
            families=("rvm", "rank.onenorm"),
        ),
        "orientation": Change("signs * share for", "-signs * share for"),
        "columns without signs": Change(
            "F += signs[columns] * self", "F += self", same={"rvm": "its columns have the sign 1"}
        ),
        "no balance": Change(
            "_totals(self.group, share * self.problem.bias_signs),",
            "0.0 * ends,",
            families=("svm.onenorm",),
        ),
        "optimal at once": Change(
            "        if judge.weigh(shown, primal, dual, master.iterations):\n",
            "        judge.weigh(shown, primal, dual, master.iterations)\n"
            "        judge.end(Status.OPTIMAL, 'what it says')\n"
            "        if True:\n",
        ),
    },
}

TABLE = [
    (id, name, entry if isinstance(entry, Special) else Special(entry))
    for id, entries in MUTANTS.items()
    for name, entry in entries.items()
]
DECLARED = [id for id, entry in PRINTED.items() if not entry.control and entry.family in INSTANCES]
CONTROLS = [id for id, entry in PRINTED.items() if entry.control and entry.family in INSTANCES]
HARD = [id for id in DECLARED if REGISTRY[id].family.endswith("hard")]


# The run.


@dataclass(frozen=True)
class Outcome:
    """Line of the table: outcome of one wrong answer."""

    formulation: str
    name: str
    solver: str
    judgement: Judgement
    excepted: str = ""

    @property
    def caught(self) -> bool:
        """True if the answer did not agree."""
        return self.judgement.agreement is not Agreement.AGREES

    @property
    def closeness(self) -> float:
        """Distance of the answer from a right one, by claim and point."""
        return float(np.nanmax([self.judgement.claim, self.judgement.off]))


OUTCOMES: list[Outcome] = []


@pytest.fixture(scope="module")
def kernels() -> None:
    """Compile the kernels of a mutated source outside any time limit.

    Both precisions are compiled.
    """
    for family in ("svm.soft", "svm.hard", "svm.nobias"):
        for case in CASES:
            solve(instance(family, case))


@pytest.fixture(scope="module", autouse=True)
def table() -> Iterator[None]:
    """Print every outcome at the end, and the count.

    There is one line a mutant and solver, with the instance closest to agreeing.
    """
    OUTCOMES.clear()
    yield
    if OUTCOMES:
        print("\n" + "\n".join(_lines(OUTCOMES)))


def _lines(outcomes: list[Outcome]) -> Iterator[str]:
    form = "{:<42} {:<36} {:<18} {:<21} {:>8} {:>8} {:>8}  {}"
    yield form.format(
        "mutant", "formulation", "solver", "agreement", "claim", "off", "accuracy", ""
    )
    groups: dict[tuple[str, str, str], list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault((outcome.name, outcome.formulation, outcome.solver), []).append(outcome)
    for (name, id, solver), group in groups.items():
        j = min(group, key=lambda outcome: outcome.closeness).judgement
        kinds = "/".join(sorted({str(outcome.judgement.agreement) for outcome in group}))
        yield form.format(
            name,
            id,
            solver,
            kinds,
            f"{j.claim:.1e}",
            f"{j.off:.1e}",
            f"{j.accuracy:.1e}",
            group[0].excepted,
        ).rstrip()
    mutants = {
        (o.name, o.formulation): [
            p for p in outcomes if (p.name, p.formulation) == (o.name, o.formulation)
        ]
        for o in outcomes
    }
    excepted = sum(any(o.excepted for o in group) for group in mutants.values())
    caught = sum(all(o.caught for o in group) for group in mutants.values())
    runs = Counter(str(o.judgement.agreement) for o in outcomes)
    yield f"{len(mutants)} mutants, {caught} caught, {excepted} excepted"
    yield f"{len(outcomes)} answers: " + ", ".join(
        f"{count} {kind}" for kind, count in sorted(runs.items())
    )


Case = tuple[str, int]
CASES: list[Case] = [(kernel, seed) for kernel in KERNELS for seed in SEEDS]


@cache
def instance(family: str, case: Case, one: str = "") -> Problem:
    """Return a family's instance of a kernel and a seed.

    It satisfies the requirements of the solver or control `one`.
    """
    kernel, seed = case
    return (INSTANCES | OF_ONE.get(one, {}))[family](KERNELS[kernel], seed)


CONTROL_CASES = [
    (id, case)
    for id in CONTROLS
    for case in CASES
    if REGISTRY[id].refusal(instance(REGISTRY[id].family, case, id)) is None
]


def named(id: str, name: str) -> Special:
    """Return the mutant of a formulation by its name."""
    return next(mutant for of, its, mutant in TABLE if (of, its) == (id, name))


@cache
def honest(family: str, case: Case, one: str = "") -> tuple[Evidence, ...]:
    """Return the family's right answers.

    They are every declaration by the accurate backend, and the specialised solvers.
    """
    problem = instance(family, case, one)
    ids = [id for id in DECLARED if REGISTRY[id].refusal(problem) is None]
    declared = [examine(problem, solve_declaration(declare(id, problem), ACCURATE)) for id in ids]
    taking = [
        solver.name
        for solver in SOLVERS.values()
        if solver.takes(family) and solver.refusal(problem) is None
    ]
    return (
        *declared,
        *(examine_solution(problem, solve(problem, name, tol=1e-8)) for name in taking),
    )


def judged(family: str, case: Case, evidence: Evidence) -> Judgement:
    """Return the referee's judgement of an answer among the family's right ones."""
    return judge(
        family,
        [*others(family, case, evidence), evidence],
        instance(family, case, _one(evidence)).scale,
    ).judgements[-1]


def _one(evidence: Evidence) -> str:
    """Return the solver or control of an answer if it has its own instances, or ""."""
    return (
        next(
            (name for name in (evidence.run.solver, evidence.run.formulation) if name in OF_ONE), ""
        )
        or ""
    )


def others(family: str, case: Case, evidence: Evidence) -> list[Evidence]:
    """Return the right answers without those to the declaration itself.

    Those would reclassify a wrong answer.
    """
    return [
        e
        for e in honest(family, case, _one(evidence))
        if e.run.formulation is None or e.run.formulation != evidence.run.formulation
    ]


def blind(answer: Answer) -> Answer:
    """Return the answer as if the printed formula had the same mistake.

    Value and point alone must reveal it.
    """
    printed = FormulaValue(answer.objective)
    return replace(answer, declaration=replace(answer.declaration, printed=lambda v: printed))


def record(
    id: str, name: str, case: Case, solver: str, evidence: Evidence, excepted: str = ""
) -> Agreement:
    """Judge a wrong answer and add it to the table."""
    judgement = judged(evidence.run.family, case, evidence)
    OUTCOMES.append(Outcome(id, name, solver, judgement, excepted))
    return judgement.agreement


def zeroed(answer: Answer) -> Answer:
    """Return the answer with every number set to zero, and read back."""
    d = answer.declaration
    for variable in d.variables.values():
        variable.value = np.zeros(variable.shape)
    for equation in d.constraints.values():
        for dual in equation.dual_variables:
            dual.save_value(np.zeros(dual.shape))
    reading, raw, before = read_declaration(d), answer.raw, answer.reading
    assert reading is not None
    assert raw is not None
    eliminated, objective = (
        (np.inf, np.nan) if before is None else (before.eliminated, before.eliminated_objective)
    )
    return replace(
        answer,
        raw=replace(raw, x=np.zeros_like(raw.x), z=np.zeros_like(raw.z)),
        reading=replace(reading, eliminated=eliminated, eliminated_objective=objective),
    )


def compiled(name: str, change: Change, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return a solver's module with a changed source and interpreted kernels.

    None of its kernels is written to the kernel cache.
    """
    if change.module:
        assert change.module in PARTS[name], f"{change.module} is no part of {name}"
        for part in PARTS[name]:
            executed(
                part,
                f"equimargin.solvers.{part}",
                change if part == change.module else None,
                monkeypatch,
            )
        return executed(
            SOLVERS[name].module.removeprefix("equimargin.solvers."),
            f"mutant_{name}",
            None,
            monkeypatch,
        )
    return executed(
        SOLVERS[name].module.removeprefix("equimargin.solvers."),
        f"mutant_{name}",
        change,
        monkeypatch,
    )


def source_of(part: str) -> str:
    """Return the source text of a module of solvers."""
    return Path(str(import_module(f"equimargin.solvers.{part}").__file__)).read_text(
        encoding="utf-8"
    )


def executed(
    name: str, known: str, change: Change | None, monkeypatch: pytest.MonkeyPatch
) -> ModuleType:
    """Return a module of solvers, changed or unchanged, under another name or its own."""
    original, source = import_module(f"equimargin.solvers.{name}"), source_of(name)
    if change is not None:
        assert change.old in source, f"{name} has changed: {change.old!r} is not in it"
        source = source.replace(change.old, change.new)
    # Fast kernels stay those of the original: Python lacks their instructions.
    for imported in (
        "fast",
        "jit",
        "fast, jit",
    ):
        source = source.replace(
            f"from equimargin.formulations.numeric.jit import {imported}\n",
            "jit, fast = (lambda kernel: kernel), ORIGINAL\n",
        )
    module = ModuleType(known)
    module.__dict__["ORIGINAL"] = lambda kernel: getattr(original, kernel.__name__)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    with monkeypatch.context() as aside:
        # A wrong solver is registered in an empty registry.
        aside.setattr(registry, "SOLVERS", Registry("solver"))
        exec(compile(source, f"<{module.__name__}>", "exec"), module.__dict__)
    if "MULTIPLICATIONS_BETWEEN_CLOCK_CHECKS" in module.__dict__:
        # Interpreted kernels take longer for them.
        module.__dict__["MULTIPLICATIONS_BETWEEN_CLOCK_CHECKS"] = 20_000
    if "SOLVERS" in module.__dict__:
        # Other solvers that it queries are unchanged.
        module.__dict__["SOLVERS"] = SOLVERS
    return module


def run_module(module: ModuleType, problem: Problem) -> Evidence:
    """Return the evidence of a mutated solver's solution.

    Kernels that are not compiled may warn.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        given = (problem, Limits(tol=1e-8, time_limit=0.5), None)[
            : len(signature(module._solve).parameters)
        ]
        return examine_solution(problem, module._solve(*given))


def solver_cases(name: str, families: tuple[str, ...] = ()) -> Iterator[tuple[str, Case]]:
    """Yield the instances of a solver, one a family and kernel."""
    for family in INSTANCES:
        if SOLVERS[name].takes(family) and (not families or family in families):
            yield from ((family, (kernel, SEEDS[0])) for kernel in KERNELS)


def test_every_formulation_has_mutants() -> None:
    """Each has at least six wrong ones; exceptions do not count."""
    wrong = Counter(id for id, _, mutant in TABLE if mutant.outcome is Agreement.DISAGREES)
    assert {id: wrong[id] for id in DECLARED if wrong[id] < AT_LEAST} == {}
    assert set(MUTANTS) <= set(DECLARED)


def test_every_change_of_a_solver_has_its_place_in_the_source() -> None:
    without = [
        (name, label)
        for name, changes in SOURCES.items()
        for label, change in changes.items()
        if change.old
        not in source_of(change.module or SOLVERS[name].module.removeprefix("equimargin.solvers."))
    ]
    assert without == []


def test_every_family_has_instances_and_two_ways_of_solving_them() -> None:
    """Wrong answers are judged together with right ones of both kinds.

    Where the family has no solver, they are those of two declarations.
    """
    families = Counter(REGISTRY[id].family for id in DECLARED)
    assert set(families) == set(INSTANCES)
    meant_here = [
        name for name in OWN_SOLVERS if any(SOLVERS[name].takes(family) for family in families)
    ]
    assert {
        name for name in meant_here if len(SOURCES.get(name, ())) < AT_LEAST_OF_A_SOLVER
    } == set()
    for family, declarations in families.items():
        meant = [solver for solver in SOLVERS.values() if solver.takes(family)]
        assert declarations >= 2 or meant, family
        assert all(
            solver.refusal(instance(family, case, solver.name)) is None
            for solver in meant
            for case in CASES
        ), family


def test_every_control_is_judged_with_every_kernel() -> None:
    """The kernel of differences is excepted: with the linear kernel it is equivalent."""
    judged_on = {id: {kernel for of, (kernel, _) in CONTROL_CASES if of == id} for id in CONTROLS}
    assert [id for id, kernels in judged_on.items() if not kernels >= set(NONLINEAR)] == []
    assert [id for id, kernels in judged_on.items() if "linear" not in kernels] == [
        "rank.differences.dual",
        "rank.onenorm.differences",
    ]


def test_every_hard_formulation_has_a_mutant_that_proves_infeasibility() -> None:
    assert [id for id in HARD if CONTRADICTED not in MUTANTS[id]] == []


@pytest.mark.mutants
@pytest.mark.parametrize("case", CASES, ids=[f"{kernel} {seed}" for kernel, seed in CASES])
@pytest.mark.parametrize("family", INSTANCES)
def test_the_right_answers_agree(family: str, case: Case) -> None:
    """Without this, a mutant could be detected for the wrong reason."""
    judgements = judge(family, honest(family, case), instance(family, case).scale).judgements
    assert {j.agreement for j in judgements} == {Agreement.AGREES}


@pytest.mark.mutants
@pytest.mark.parametrize("solver", [ACCURATE, ROUGH])
@pytest.mark.parametrize(
    ("id", "name", "mutant"), TABLE, ids=[f"{id}: {name}" for id, name, _ in TABLE]
)
def test_a_wrong_formulation_is_not_believed(
    id: str, name: str, mutant: Special, solver: str
) -> None:
    """An accurate answer disagrees, an inaccurate one never agrees. An exception agrees."""
    family = REGISTRY[id].family
    for case in (case for case in CASES if case[0] in mutant.kernels):
        problem = instance(family, case, id)
        answer = solve_declaration(mutant.mutate(problem, id), solver)
        verdict = record(id, name, case, solver, examine(problem, blind(answer)), mutant.excepted)
        checked = judged(family, case, examine(problem, answer)).agreement
        if solver == ACCURATE:
            assert verdict is mutant.outcome, case
            assert checked is mutant.outcome or mutant.excepted, case
        else:
            assert mutant.excepted or Agreement.AGREES not in (verdict, checked), case


@pytest.mark.mutants
@pytest.mark.parametrize(
    ("id", "case"),
    CONTROL_CASES,
    ids=[f"{id} {kernel} {seed}" for id, (kernel, seed) in CONTROL_CASES],
)
def test_a_control_disagrees(id: str, case: Case) -> None:
    """The misprints and negative controls of the documents disagree as printed.

    They do so by value and point alone unless only the formula is wrong.
    """
    problem = instance(REGISTRY[id].family, case, id)
    answer = solve_declaration(declare(id, problem), ACCURATE)
    assert (
        record(id, "control", case, ACCURATE, examine(problem, answer, control=True))
        is Agreement.DISAGREES
    )
    silent = judged(problem.family, case, examine(problem, blind(answer), control=True)).agreement
    assert silent is (Agreement.AGREES if id in BY_FORMULA else Agreement.DISAGREES)


@pytest.mark.mutants
@pytest.mark.parametrize("case", CASES, ids=[f"{kernel} {seed}" for kernel, seed in CASES])
@pytest.mark.parametrize("id", HARD)
def test_a_wrong_claim_of_infeasibility_is_not_believed(id: str, case: Case) -> None:
    """A form proves by a verified ray that nothing is feasible; the family has an optimum."""
    family, mutant = REGISTRY[id].family, named(id, CONTRADICTED)
    problem = instance(family, case)
    evidence = examine(problem, solve_declaration(mutant.mutate(problem, id), ACCURATE))
    assert evidence.claim is not None
    assert evidence.claim.infeasible
    assert evidence.claim.of_ray is (mutant.outcome is Agreement.DISAGREES)
    found = judge(family, [*others(family, case, evidence), evidence], problem.scale)
    assert found.feasible
    assert found.judgements[-1].agreement is mutant.outcome
    assert found.verdict is (Verdict.DISAGREE if evidence.claim.of_ray else Verdict.AGREE)


@pytest.mark.mutants
@pytest.mark.parametrize("id", FINITE)
def test_an_optimum_of_an_infeasible_family_is_not_believed(id: str) -> None:
    """Two rows are inconsistent, and the form is feasible all the same."""
    family = REGISTRY[id].family
    problem = contradiction(instance(family, CASES[0]))
    ids = [other for other in HARD if REGISTRY[other].family == family]
    right = [
        examine(problem, solve_declaration(declare(other, problem), backend))
        for other in ids
        for backend in (ACCURATE, ROUGH)
    ]
    found = judge(family, right, problem.scale)
    assert (found.verdict, found.feasible) == (Verdict.AGREE, False)
    for solver in (ACCURATE, ROUGH):
        evidence = examine(
            problem, solve_declaration(named(id, FINITE[id]).mutate(problem, id), solver)
        )
        assert np.isfinite(evidence.value)
        wanted = (
            {Agreement.DISAGREES} if solver == ACCURATE else {Agreement.DISAGREES, Agreement.FAILED}
        )
        assert judge(family, [*right, evidence], problem.scale).judgements[-1].agreement in wanted


@pytest.mark.mutants
@pytest.mark.parametrize("solver", [ACCURATE, ROUGH])
@pytest.mark.parametrize("id", DECLARED)
def test_an_unfinished_or_empty_answer_is_not_believed(id: str, solver: str) -> None:
    """The answers are the right formulation after three iterations, and all zeros."""
    family = REGISTRY[id].family
    for case in CASES:
        problem = instance(family, case, id)
        unfinished = solve_declaration(declare(id, problem), solver, max_iter=3)
        empty = zeroed(solve_declaration(declare(id, problem), solver))
        for name, answer in (("three iterations", unfinished), ("all zeros", empty)):
            assert (
                record(id, name, case, solver, examine(problem, answer)) is not Agreement.AGREES
            ), (name, case)


@pytest.mark.mutants
@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("solver", SOURCES)
def test_an_unchanged_solver_agrees(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without this, a mutated source could be detected because of its execution."""
    module = compiled(solver, Change("def _solve(", "def _solve("), monkeypatch)
    for family, case in solver_cases(solver):
        of = solver if solver in OF_ONE else ""
        # First, so that the kernels that the module imports are compiled.
        honest(family, case, of)
        evidence = run_module(module, instance(family, case, of))
        assert judged(family, case, evidence).agreement is Agreement.AGREES, (family, case)


@pytest.mark.mutants
@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize(
    ("solver", "name"),
    [(solver, name) for solver in SOURCES for name in SOURCES[solver]],
    ids=lambda text: str(text),
)
def test_a_wrong_solver_is_not_believed(
    solver: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This holds for any reported status. Where the change has no effect, it agrees."""
    change = SOURCES[solver][name]
    module = compiled(solver, change, monkeypatch)
    for family, case in solver_cases(solver, change.families):
        same = change.same.get(family, "")
        of = solver if solver in OF_ONE else ""
        honest(family, case, of)
        found = record(
            f"({family})", name, case, solver, run_module(module, instance(family, case, of)), same
        )
        assert (found is Agreement.AGREES) is bool(same), (family, case)
