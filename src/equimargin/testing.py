"""Tests for formulations and solvers of your own: hypothesis strategies for max-margin problems, and conformance checks.

The strategies construct valid data and filter none. They produce difficult cases on purpose:
repeated rows, contradicting labels, ties, a single class, queries of one level and of one row, zero
rows and columns, fewer points than dimensions, Gram matrices of rank one, integer grids, rows that
cost nothing or must be met, and scales and costs over twelve orders of magnitude.

>>> from hypothesis import given
>>> from equimargin.testing import margin_problems
>>> @given(margin_problems("rank.l1"))
... def test_my_solver(problem): ...

The checks also run from the command line, on a formulation by its id, on a solver by its name, or
on a `Solver` or a class of solvers. The module registers the formulation or the solver, or has the
object or the class:

    python -m equimargin.testing my_module:my.formulation.id
    python -m equimargin.testing my_module:my_solver
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations import (
    REGISTRY,
    Declaration,
    Formulation,
    Interval,
    Kernel,
    MarginProblem,
    OneNormProblem,
    Problem,
    classification,
    complete,
    declare,
    interval,
    linear,
    one_norm_classification,
    one_norm_ranking,
    ordinal,
    polynomial,
    ranking,
    ranking_vector_machine,
    rbf,
    regression,
    sigmoid,
)
from equimargin.formulations.family import FAMILIES, program_families
from equimargin.formulations.kernels.exponential import Exponential
from equimargin.formulations.kernels.kernel import RBF, Polynomial
from equimargin.formulations.numeric.arguments import did_you_mean, said, shown
from equimargin.formulations.numeric.rounding import SMALLEST
from equimargin.formulations.problem import CanonicalPoint
from equimargin.formulations.program_problem import ProgramProblem
from equimargin.formulations.programs import Program, program_from_arrays
from equimargin.formulations.rows.levels import Levels as OrdinalRows
from equimargin.formulations.rows.listed import Signed, Tube
from equimargin.formulations.user_functions import Quit, kept_from_quitting
from equimargin.own.instances import Refutation, check_own_formulation, check_own_solver
from equimargin.proofs import Agreement, Evidence, examine, examine_solution, judge
from equimargin.proofs.referee.evidence import what_was_raised
from equimargin.solvers import SOLVERS, Limits, Refusal, Solution, Solver, Status, solve, solve_declaration
from equimargin.solvers.registry import RegisteredSolver, takes

try:
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import seed as seeded
    from hypothesis import strategies as st
except ImportError as missing:
    raise ImportError("equimargin.testing needs hypothesis: pip install hypothesis") from missing

Array = NDArray[np.float64]
Draw = st.DrawFn

TASK_OF: Mapping[object, str] = {
    classification: "classification",
    one_norm_classification: "classification",
    regression: "regression",
    ranking: "ranking",
    one_norm_ranking: "ranking",
    ranking_vector_machine: "ranking",
    ordinal: "ordinal",
}
"""The tasks of the constructors of canonical problems."""
CANONICAL = tuple(id for id, family in FAMILIES.items() if family.constructor in TASK_OF)
"""The families of `margin_problems`, by their ids."""
ONE_NORM = tuple(id for id in CANONICAL if FAMILIES[id].constructor in (one_norm_classification, one_norm_ranking, ranking_vector_machine))
"""The families of linear programs among them."""
HARD = tuple(id for id in CANONICAL if FAMILIES[id].settings.get("C") == np.inf)
"""The families without slacks among them."""


SMALL, LARGE = (1, 19), (20, 32)
"""Smallest and largest number of points of the two sorts of instances that a seed draws."""
LARGE_IN = 2, 5
"""How many of how many instances are large ones."""


class Classes(NamedTuple):
    """X (m, d), y (m,) in {-1, +1}."""

    X: Array
    y: Array


class Levels(NamedTuple):
    """X (m, d), y (m,) levels in {0, ..., levels - 1}."""

    X: Array
    y: Array
    levels: int


class Targets(NamedTuple):
    """X (m, d), y (m,) and epsilon >= 0."""

    X: Array
    y: Array
    epsilon: float


class Relevances(NamedTuple):
    """X (m, d), y (m,) relevances, qid (m,) queries or None."""

    X: Array
    y: Array
    qid: NDArray[np.int64] | None


def scales(tails: bool = True) -> st.SearchStrategy[float]:
    """Positive factors near 1.

    With `tails` they are, each with the same probability, near 1, anywhere from 1e-6 to 1e6, or
    near an end.

    Parameters
    ----------
    tails : whether to leave [0.1, 10].
    """
    near = st.floats(-1, 1)
    exponents = near if not tails else st.one_of(near, st.floats(-6, 6), st.floats(-6, -4), st.floats(4, 6))
    return exponents.map(lambda e: float(10**e))


def costs(tails: bool = True) -> st.SearchStrategy[float]:
    """C, drawn as `scales` are; 1 is the simplest.

    Parameters
    ----------
    tails : whether to leave [0.1, 10].
    """
    return scales(tails)


@st.composite
def programs(draw: Draw, scaled: bool = True) -> Program:
    """Convex quadratic and linear programs of one to five unknowns, as `program_from_arrays` gives them.

    Feasible ones, infeasible ones and such without a lower bound are drawn, with equations,
    repeated and zero rows, a P of any rank, and optima of several points.

    Parameters
    ----------
    scaled : whether rows and unknowns are multiplied by powers of two from 2^-20 to 2^20.
    """
    n, m, r, rank = (draw(st.integers(*ends)) for ends in ((1, 5), (0, 2), (0, 8), (0, 3)))
    powers = st.sampled_from([0, 0, 0, -20, -3, 3, 20] if scaled else [0])

    def table(height: int) -> Array:
        entries = draw(st.lists(st.integers(-3, 3), min_size=height * n, max_size=height * n))
        return np.array(entries, dtype=np.float64).reshape(height, n)

    def factors(size: int) -> Array:
        return np.exp2(np.array(draw(st.lists(powers, min_size=size, max_size=size)), dtype=np.float64))

    A, G, B, q = table(m), table(r), table(rank), table(1)[0]
    G = G[draw(st.lists(st.integers(0, r - 1), min_size=r, max_size=r))] if r and draw(st.booleans()) else G
    inside, room = table(1)[0], np.array(draw(st.lists(st.integers(0, 2), min_size=r, max_size=r)), dtype=np.float64)
    b, h = (A @ inside, G @ inside + room) if draw(st.integers(0, 3)) else (np.ones(m), room - 1)
    units, rows = factors(n), factors(r)
    return program_from_arrays(
        B.T @ B * np.multiply.outer(units, units), q * units, A * units, b, G * units * rows[:, None], h * rows, draw(st.integers(-2, 2))
    )


def kernels() -> st.SearchStrategy[Kernel]:
    """Linear, polynomial and RBF kernels, the positive semidefinite ones that need features only."""
    gammas = st.sampled_from([1.0, 0.5, 0.1, 2.0])
    return st.one_of(
        st.just(linear()),
        gammas.map(rbf),
        st.builds(polynomial, st.integers(1, 3), gammas, st.sampled_from([1.0, 0.0])),
    )


@st.composite
def features(draw: Draw, max_points: int = 10, tails: bool = True, min_points: int = 1) -> Array:
    """X (m, d), m up to `max_points` and d up to 4 or a little above m, some of it degenerate.

    Parameters
    ----------
    max_points, min_points : int
        Largest and smallest m.
    tails : bool
        Whether entries may be as small as 1e-6 or as large as 1e6.
    """
    m, d = draw(st.integers(min_points, max_points)), draw(st.integers(1, 4))
    if m <= 10 and draw(st.booleans()):
        d = m + draw(st.integers(1, 2))
    entries = draw(st.sampled_from([st.integers(-3, 3).map(float), st.integers(-4000, 4000).map(lambda k: k / 1000)]))
    if draw(st.booleans()) and draw(st.booleans()):
        X = np.outer(_vector(draw, entries, m), _vector(draw, entries, d))  # its linear Gram matrix has rank one
    else:
        X = _vector(draw, entries, m * d).reshape(m, d)
    if draw(st.booleans()):
        X = X[draw(st.lists(st.integers(0, m - 1), min_size=m, max_size=m))]
    if draw(st.booleans()):
        X[draw(st.integers(0, m - 1))] = 0.0
    if draw(st.booleans()):
        X[:, draw(st.integers(0, d - 1))] = 0.0
    return X * draw(scales(tails)) if tails else X


@st.composite
def classification_data(draw: Draw, max_points: int = 10, tails: bool = True, min_points: int = 1) -> Classes:
    """X and y in {-1, +1}: repeated points with the same and with contradicting labels, a single class now and then.

    Parameters
    ----------
    As in `features`.
    """
    X = draw(features(max_points, tails, min_points))
    y = _vector(draw, st.sampled_from([-1.0, 1.0]), len(X))
    if len(X) > 1 and draw(st.booleans()):
        X[-1], y[-1] = X[0], -y[0]
    if draw(st.integers(0, 9)) == 0:
        y[:] = y[0]
    return Classes(X, y)


@st.composite
def regression_data(draw: Draw, max_points: int = 10, tails: bool = True, min_points: int = 1) -> Targets:
    """X, y and epsilon: ties, constant targets, repeated points with different targets, epsilon 0.

    Parameters
    ----------
    As in `features`.
    """
    X = draw(features(max_points, tails, min_points))
    fine = 1000 if tails else 10  # a target of 0.001 alone has an optimum of 1e-6, where backends' tolerances are absolute
    grids = [st.integers(-3, 3).map(float), st.integers(-3 * fine, 3 * fine).map(lambda k: k / fine)]
    y = _vector(draw, draw(st.sampled_from(grids)), len(X))
    if len(X) > 1 and draw(st.booleans()):
        X[-1], y[-1] = X[0], y[0] + 1.0
    if draw(st.integers(0, 9)) == 0:
        y[:] = y[0]
    epsilon = draw(st.sampled_from([0.1, 0.0, 0.5, 5.0]))
    scale = draw(scales(tails)) if tails else 1.0
    return Targets(X, y * scale, epsilon * scale)


@st.composite
def ordinal_data(draw: Draw, max_points: int = 10, tails: bool = True, min_points: int = 1) -> Levels:
    """X, y and two to four levels: levels without a point, repeated points of other levels, a single level now and then.

    Parameters
    ----------
    max_points, min_points : int
        Largest and smallest m.
    tails : bool
        Whether entries may be as small as 1e-6 or as large as 1e6.
    """
    X, levels = draw(features(max_points, tails, min_points)), draw(st.integers(2, 4))
    y = _vector(draw, st.integers(0, levels - 1).map(float), len(X))
    if len(X) > 1 and draw(st.booleans()):
        X[-1], y[-1] = X[0], levels - 1 - y[0]
    if draw(st.integers(0, 9)) == 0:
        y[:] = y[0]
    return Levels(X, y, levels)


@st.composite
def ranking_data(draw: Draw, max_points: int = 10, tails: bool = True, min_points: int = 1) -> Relevances:
    """X, relevances and queries: ties, all distinct levels, queries of one level or one row, no pair at all now and then.

    Parameters
    ----------
    As in `features`.
    """
    X = draw(features(max_points, tails, min_points))
    m = len(X)
    levels = draw(st.sampled_from([2, 3, m]))
    y = _vector(draw, st.integers(0, levels - 1).map(float), m)
    if levels == m and draw(st.booleans()):
        y = np.array(draw(st.permutations(range(m))), dtype=np.float64)
    qid = None if draw(st.booleans()) else np.array(draw(st.lists(st.integers(1, 3), min_size=m, max_size=m)), dtype=np.int64)
    if qid is not None and draw(st.booleans()):
        y[qid == qid[0]] = y[0]
    if qid is not None and m > 2 and draw(st.booleans()):
        qid[0] = 4
    if draw(st.integers(0, 9)) == 0:
        y[:] = y[0]
    elif m > 1:  # one pair at least: drawn at random, most small examples would have none
        y[-1] = y[-2] + 1
        if qid is not None:
            qid[-1] = qid[-2]
    return Relevances(X, y, qid)


DATA_OF: Mapping[str, Callable[..., st.SearchStrategy[Any]]] = {
    "classification": classification_data,
    "regression": regression_data,
    "ranking": ranking_data,
    "ordinal": ordinal_data,
}
"""The strategies for the data of the tasks."""


@st.composite
def weights(draw: Draw, size: int, tails: bool = True) -> Array | None:
    """Factors of C, (size,): None in one of three, else around 1 with zeros, and with `tails` an infinite one now and then.

    Parameters
    ----------
    size : how many.  tails : whether rows may have to be met at any cost.
    """
    if draw(st.integers(0, 2)) == 0:
        return None
    w = _vector(draw, st.sampled_from([1.0, 0.5, 3.0]), size)
    if draw(st.booleans()):
        w[draw(st.integers(0, size - 1))] = 0.0
    if tails and draw(st.integers(0, 2)) == 0:
        w[draw(st.integers(0, size - 1))] = np.inf
    return w


@st.composite
def margin_problems(draw: Draw, family: str, max_points: int = 10, tails: bool = True, min_points: int = 1) -> Problem:
    """A problem of a family; rows or queries of a soft margin may have weights of their own.

    Parameters
    ----------
    family : one of CANONICAL.  max_points, min_points : largest and smallest m.
    tails : whether scales, costs and weights go from 1e-6 to 1e6 and to infinity, or stay near 1.

    Raises
    ------
    ValueError : an unknown family.
    """
    task, settings = task_of(family), FAMILIES[family].settings
    kernel = draw(kernels())
    C = {} if family in HARD else {"C": draw(costs(tails))}
    data = draw(DATA_OF[task](max_points, tails, min_points))._asdict() | C | {"kernel": kernel}
    if "delta" in settings:
        data["delta"] = draw(st.sampled_from([0.5, 0.1, 3.0]))
    if family not in ONE_NORM and family not in HARD:
        may_be_hard = tails and "delta" not in settings
        if task == "ranking":
            names = [0] if data["qid"] is None else np.unique(data["qid"]).tolist()
            factors = draw(weights(len(names), may_be_hard))
            data["query_weight"] = None if factors is None else dict(zip(names, factors.tolist(), strict=True))
        else:
            data["sample_weight"] = draw(weights(len(data["y"]), may_be_hard))
    problem: Problem = FAMILIES[family](data)
    return problem


def task_of(family: str) -> str:
    """Return the task of a canonical family: "classification", "regression", "ranking" or "ordinal".

    Raises
    ------
    ValueError
        An unknown family.
    """
    if family not in CANONICAL:
        raise ValueError(f"unknown family {family!r}; known: {', '.join(CANONICAL)}")
    return TASK_OF[FAMILIES[family].constructor]


def drawn_problem(family: str, seed: int, number: int) -> Problem:
    """An instance of a family, always the same one for a seed and a number: those of `make nightly`.

    Parameters
    ----------
    family : str
        One of CANONICAL.
    seed, number : int
        Two in five numbers have instances of 20 to 32 points, the others of 1 to 19.
    """
    least, most = LARGE if number % LARGE_IN[1] < LARGE_IN[0] else SMALL
    found: list[Problem] = []

    @seeded(f"{seed} {family} {number}")
    @settings(max_examples=2, phases=[Phase.generate], database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(margin_problems(family, most, min_points=least))
    def collect(problem: Problem) -> None:
        found.append(problem)

    collect()
    return found[-1]  # the first example is the simplest one


FLOAT64_BORDERS = (5e-324, 2.3e-308, 1e-165, 1e-154, 1e-85, 1e85, 1.4e154, 1e200)
"""Factors at which numbers, their squares or their cubes begin to underflow or to overflow in float64."""


def extreme_scales() -> st.SearchStrategy[float]:
    """Positive factors near 1, anywhere from 1e-320 to 1e300, or where arithmetic in float64 begins to fail."""
    return st.one_of(scales(False), st.floats(-320, 300).map(lambda e: float(10**e)), st.sampled_from(FLOAT64_BORDERS))


@st.composite
def extreme_problems(draw: Draw, family: str, max_points: int = 4) -> Problem:
    """A tiny problem whose points, targets, costs, weights and kernel parameters have scales of their own anywhere in float64.

    Where it has weights some of them may be infinite, so that rows that must be met stand beside
    others that are paid for.

    Its kernel values, its squares and its optimum may underflow or overflow: a proven interval must
    be true none the less.

    Parameters
    ----------
    family : one of CANONICAL.  max_points : largest m.

    Raises
    ------
    ValueError : an unknown family.
    """
    problem = draw(margin_problems(family, max_points, tails=False))
    extreme, largest = extreme_scales(), float(np.finfo(np.float64).max)

    def scaled(values: Any) -> Any:
        with np.errstate(over="ignore"):
            return np.clip(values * draw(extreme), -largest, largest)

    kernel = problem.kernel
    if isinstance(kernel, RBF | Exponential | Polynomial):
        kernel = replace(kernel, gamma=max(float(scaled(kernel.gamma)), SMALLEST))
    if isinstance(kernel, Polynomial):
        kernel = replace(kernel, coef0=float(scaled(kernel.coef0)))
    C = problem.C if np.isinf(problem.C) else draw(extreme)
    problem = replace(problem, X=scaled(problem.X), kernel=kernel, C=C)
    if isinstance(problem, OneNormProblem):
        return problem
    if isinstance(problem.rows, Tube):
        scale = draw(extreme)
        problem = replace(problem, rows=Tube(problem.rows.y * scale, problem.rows.epsilon * scale))
    if problem.weights is None:
        return problem
    size = len(problem.weights)
    may_be_hard = "delta" not in FAMILIES[family].settings
    hard = draw(st.lists(st.booleans(), min_size=size, max_size=size)) if may_be_hard and draw(st.booleans()) else [False] * size
    return replace(problem, weights=np.where(hard, np.inf, scaled(problem.weights)))


def _vector(draw: Draw, entries: st.SearchStrategy[float], size: int) -> Array:
    return np.array(draw(st.lists(entries, min_size=size, max_size=size)), dtype=np.float64)


def sample_problem(family: str, kernel: Kernel | None = None, seed: int = 0, n: int = 16, levels: int = 3) -> Problem:
    """A small random problem of a family that has an optimum: noisy where slacks are paid for, feasible where they are not.

    Parameters
    ----------
    family : str
        One of CANONICAL.
    kernel : Kernel or None
        Linear by default.
    seed : int
        Seed of the data.
    n : int
        Number of points.
    levels : int
        Number of levels of a ranking or an ordinal regression.

    Raises
    ------
    ValueError : an unknown family.
    """
    task, hard, direction = task_of(family), family in HARD, np.array([1.0, -0.7, 0.4])
    rng = np.random.default_rng([seed, n])
    X = rng.normal(size=(n, 3)) + 0.5
    clean = X @ direction
    score = clean if hard else clean + 0.6 * rng.normal(size=n)
    data = {"kernel": kernel} | ({} if hard else {"C": float(10 ** rng.uniform(-1, 0.5))})
    if task == "regression":
        y = clean + 0.05 * rng.uniform(-1, 1, n) if hard else score
    elif task == "classification":
        through_the_origin = hard and not FAMILIES[family].settings.get("bias", True)
        y = np.where(score > (0.0 if through_the_origin else np.quantile(score, 0.6)), 1.0, -1.0)
        X = X + 0.3 * np.outer(y, direction) if hard else X
    else:
        y = np.digitize(score, np.quantile(score, np.linspace(0.3, 0.7, levels - 1))).astype(np.float64)
    problem: Problem = FAMILIES[family](data | {"X": X, "y": y})
    return problem


@contextmanager
def _conforming() -> Iterator[None]:
    """Turn an exit requested by the checked code into a failed check."""
    try:
        with kept_from_quitting():
            yield
    except Quit as ended:
        raise AssertionError(what_was_raised(ended)) from ended


@_conforming()
def check_formulation(id: str, backend: str = "CLARABEL") -> Refutation | None:
    """Check a declared formulation on small problems of its family with three kernels.

    It must be disciplined with its parameters, equal to its printed formula at random values,
    recover what it expresses, refuse other families, and agree among the right answers of its
    family, or disagree if it is a control. A formulation of a user-defined family is
    checked on data drawn from the family's strategy (`equimargin.own.instances`).

    Parameters
    ----------
    id : of a formulation in the registry.  backend : that solves it.

    Returns
    -------
    The drawn instance that refutes it, where it is a control of a user-defined family; else
    None.

    Raises
    ------
    KeyError
        An unknown id.
    AssertionError
        The check fails; the message says what is wrong, in a sentence.
    """
    entry = REGISTRY[id]
    if entry.family in program_families():
        return check_own_formulation(entry)
    _require(bool(entry.sources and entry.statement and entry.latex), f"{id} must name its source, its statement and its LaTeX")
    stranger = sample_problem("svm.soft" if entry.family != "svm.soft" else "svr.l1")
    _require(entry.refusal(stranger) is not None, f"{id} must refuse a problem of {stranger.family}")
    tried = 0
    for seed, kernel in enumerate((linear(), rbf(0.4), polynomial(2, 0.5, 1.0))):
        samples = (_telling(sample_problem(entry.family, kernel, seed, levels=levels)) for levels in (3, 2))
        problem = next((sample for sample in samples if entry.refusal(sample) is None), None)
        if problem is not None:
            tried += 1
            _check_declaration(entry, declare(id, problem))
            _check_agreement(entry, problem, backend)
    _require(tried > 0, f"{id} refuses every problem of its family")
    return None


def _telling(problem: Problem) -> Problem:
    """The problem, changed so that its look-alikes have another optimum.

    Costs above a tube differ from those below it. Of two classes with a 1-norm, one has outliers
    beyond the other, which would have a coefficient of the wrong sign. Of an ordinal regression,
    some points have the lowest level and the highest, so that all thresholds are violated.
    """
    if isinstance(problem, MarginProblem) and isinstance(problem.rows, OrdinalRows) and np.isfinite(problem.C):
        X, y = problem.X.copy(), problem.rows.y.copy()
        X[1:4], y[:4] = X[0], [0, problem.T, 0, problem.T]
        return ordinal(X, y, 1.0, problem.kernel, problem.loss)
    if isinstance(problem, OneNormProblem) and isinstance(problem.rows, Signed):
        places, y = np.resize([-0.4, -0.2, -0.2, 0.2], problem.m), np.resize([1.0, -1.0, -1.0, 1.0], problem.m)
        X = np.outer(places, [1.0, 0.5]) + 0.02 * np.random.default_rng(0).normal(size=(problem.m, 2))
        return one_norm_classification(X, y, 10.0, problem.kernel, problem.bias)
    if not isinstance(problem, MarginProblem) or not isinstance(problem.rows, Tube) or np.isinf(problem.C):
        return problem
    return replace(problem, weights=np.repeat([0.6, 0.4], problem.m))


def _check_declaration(entry: Formulation, declared: Declaration) -> None:
    _require(declared.problem.is_dcp(dpp=True), f"{entry.id} is not disciplined with its parameters (DPP)")
    if entry.control:  # it may misread on purpose
        return
    rng, problem = np.random.default_rng(0), declared.canonical
    alpha = rng.uniform(0.0, 0.1, problem.p)
    b = problem.bias_at(np.zeros(problem.m))
    declared.assign(complete(problem, problem.point(np.abs(rng.normal(size=problem.size)), alpha, b)))
    tree, printed = float(declared.objective.args[0].value), float(declared.printed(declared.values).objective)
    said = f"the objective that {entry.id} declares is {tree:.12g} at a point of a problem with the {problem.kernel.name} kernel"
    _require(abs(tree - printed) <= 1e-8 * max(1.0, abs(tree)), f"{said}, where its printed formula says {printed:.12g}")
    side = declared.point.multipliers if entry.carries == "multipliers" else None
    _require(side is None or np.allclose(side, alpha), f"{entry.id} does not recover the multipliers that it expresses")


def _check_agreement(entry: Formulation, problem: Problem, backend: str) -> None:
    honest = [*_declared(problem, entry.id), *_solved(problem)]
    evidence = examine(problem, solve_declaration(declare(entry.id, problem), backend), entry.control)
    judgement = judge(entry.family, [*honest, evidence], problem.scale).judgements[-1]
    wanted = Agreement.DISAGREES if entry.control else Agreement.AGREES
    said = f"claim {judgement.claim:.1e}, off {judgement.off:.1e}, accuracy {judgement.accuracy:.1e}: {evidence.run.reason}"
    _require(judgement.agreement is wanted, f"{entry.id} {judgement.agreement} on {problem.kernel.name} where it must be {wanted} ({said})")


def _declared(problem: Problem, without: str = "") -> list[Evidence]:
    """The answers of the problem's declared formulations, controls and the one `without` apart."""
    ids = [id for id, entry in REGISTRY.items() if not entry.control and id != without and entry.refusal(problem) is None]
    return [examine(problem, solve_declaration(declare(id, problem))) for id in ids]


def _solved(problem: Problem, without: str = "") -> list[Evidence]:
    """The answers of the specialised solvers of the problem's family, the one `without` apart."""
    others = [entry for entry in SOLVERS.values() if entry.name != without and entry.takes(problem.family)]
    return [examine_solution(problem, solve(problem, entry, tol=1e-8)) for entry in others if entry.refusal(problem) is None]


TOL = 1e-6
"""Relative width of the proven interval that `check_solver` asks for."""
WITHIN = 1.1
"""Multiple of a tolerance that a proven width may come to: solvers stop by a gap in float64."""
SECONDS_OVER_TIME = 1.0
"""Seconds that a solver may go on after its time limit, of the clock and of processors: a loaded machine uses up the first alone."""
KERNELS = {"linear()": linear(), "rbf(0.4)": rbf(0.4), "polynomial(2, 0.5, 1.0)": polynomial(2, 0.5, 1.0)}
"""The kernels that a solver is checked with, by how they are written."""


@_conforming()
def check_solver(solver: str | Solver) -> None:
    """Check a specialised solver on small problems of its families that it does not refuse, with three kernels.

    Its interval must be as narrow as asked, it must agree with the declared formulations, obey
    `max_iter`, `time_limit` and a callback that stops it, give reasons, start from another
    solution, also one of a larger C, and refuse in a sentence what it does not take. A function
    that it returns without multipliers must be as near to the optimum that the other answers prove.
    A solver of a user-defined family is checked on data drawn from the family's strategy
    (`equimargin.own.instances`).

    Parameters
    ----------
    solver : a name of SOLVERS, or any object that is a `Solver`, entered there or not.

    Raises
    ------
    KeyError
        An unknown name.
    AssertionError
        The check fails; the message says what is wrong, in a sentence, on which problem and under
        which limits.
    """
    checked = SOLVERS[solver] if isinstance(solver, str) else solver
    if isinstance(checked, RegisteredSolver) and checked.requires.shape is ProgramProblem:
        return check_own_solver(checked)
    families = [family for family in CANONICAL if takes(checked, family)]
    taken = _taken(checked, families) or _taken(checked, families, hard=True)
    _require(bool(taken), f"{checked.name} refuses a problem of every family that it is for ({', '.join(families) or checked.families})")
    for sample in taken:
        sample.check()
    for family in families:
        _Checked(checked, family, "sigmoid(0.5, -1.0)").claims_nothing_without_convexity()
    return None


def _taken(solver: Solver, families: Sequence[str], hard: bool = False) -> list[_Checked]:
    """The sample problems of these families that a solver takes; hard : whether the first row is, where each has a cost of its own."""
    samples = [_Checked(solver, family, kernel, seed, hard) for family in CANONICAL for seed, kernel in enumerate(KERNELS)]
    return [sample for sample in samples if sample.is_taken() and sample.problem.family in families]


class _Checked:
    """A solver under test, by its name, on one problem."""

    def __init__(self, solver: Solver, family: str, kernel: str, seed: int = 0, hard: bool = False) -> None:
        self.solver, self.name = solver, solver.name
        self.problem = sample_problem(family, KERNELS.get(kernel, sigmoid(0.5, -1.0)), seed)
        self.sample = f"sample_problem({family!r}, {kernel}, {seed}){' with its first row hard' if hard else ''}"
        if hard and isinstance(self.problem, MarginProblem) and len(self.problem.group_costs) == self.problem.p:
            self.problem = replace(self.problem, weights=np.where(np.arange(self.problem.p) == 0, np.inf, 1.0))
        self.where = f"{family} with the {self.problem.kernel.name} kernel"
        self.seconds = 0.0
        """That the solver's last run took: of the clock, or of processors if these are fewer."""

    def is_taken(self) -> bool:
        """Whether it does not refuse the problem; a refusal must be a sentence."""
        refusal = self.solver.refusal(self.problem)
        said = refusal is None or (isinstance(refusal, Refusal) and len(refusal.sentence.split()) > 1)
        family = self.problem.family
        _require(said, f"{self.name} must refuse a problem of {family} with a Refusal in a sentence, not with {str(refusal)!r}")
        return refusal is None

    def check(self) -> None:
        """All that a solver must do with a problem that it takes."""
        cold = self.reaches(self.problem, None, "")
        self.agrees(cold)
        self.obeys()
        self.reaches(self.problem, cold.point, ", started from its own solution")
        if not np.isinf(self.problem.C):
            cheaper = self.problem.with_cost(self.problem.C / 20)
            self.reaches(cheaper, cold.point, ", started from the solution of a larger C")

    def require(self, holds: bool, sentence: str, limits: Limits) -> None:
        """What must hold.

        The sentence ends with the limits of the run, and with the problem, so that it can be run
        again.
        """
        if not holds:
            raise AssertionError(f"{sentence} ({self._circumstances(limits)})")

    def _circumstances(self, limits: Limits) -> str:
        given = {"max_iter": limits.max_iter, "time_limit": limits.time_limit, "callback": limits.callback and "one that stops"}
        named = [f"tol={limits.tol:g}", *(f"{name}={value}" for name, value in given.items() if value is not None)]
        return f"limits: {', '.join(named)}; problem: {self.sample} of equimargin.testing"

    def run(self, problem: Problem, limits: Limits, start: CanonicalPoint | None = None, how: str = "") -> Solution:
        """The solution, which must be of the given problem, have a point and a reason, and not claim what it does not prove."""
        where, started = self.where + how, _clocks()
        try:
            found = self.solver.run(problem, limits, start)
        except Exception as failure:
            raised = f"{self.name} raises {type(failure).__name__} on {where}: {failure}"
            raise AssertionError(f"{raised} ({self._circumstances(limits)})") from failure
        self.seconds = float(np.min(_clocks() - started))
        self.require(isinstance(found, Solution), f"{self.name} must hand back a Solution on {where}, not {type(found).__name__}", limits)
        self.require(found.problem is problem, f"{self.name} hands back the solution of another problem on {where}", limits)
        self.require(bool(found.reason.strip()), f"{self.name} gives no reason why it stopped on {where}", limits)
        width = self.width(found) if found.status is Status.OPTIMAL and problem.convex else 0.0
        said = f"{self.name} says optimal on {where}, but proves a relative width of {width:.1e} only"
        self.require(width <= WITHIN * limits.tol, said, limits)
        return found

    def width(self, found: Solution) -> float:
        """The relative width of what a solution proves; of a function alone, together with what the other answers prove from below."""
        problem, own = found.problem, interval(found.problem, found.point)
        if found.point.has_multipliers or not problem.convex:
            return own.relative_width
        others = [*_declared(problem), *_solved(problem, self.name)]
        lower = judge(problem.family, others, problem.scale).interval.lower
        return Interval(lower, max(own.upper, lower), own.scale).relative_width

    def reaches(self, problem: Problem, start: CanonicalPoint | None, how: str) -> Solution:
        """The solution at TOL, which must be proven; that of a function alone by others."""
        limits = Limits(TOL)
        found = self.run(problem, limits, start, how)
        width = self.width(found)
        ended = found.status is Status.OPTIMAL or (found.status is Status.FINISHED and not found.point.has_multipliers)
        ended_so = f"status {found.status}, proven width {width:.1e}: {found.reason}"
        sentence = f"{self.name} does not reach the optimum of {self.where}{how}: {ended_so}"
        self.require(ended and width <= WITHIN * TOL, sentence, limits)
        return found

    def agrees(self, found: Solution) -> None:
        """Its answer must be right among those of the declared formulations."""
        problem = found.problem
        judgement = judge(problem.family, [*_declared(problem), examine_solution(problem, found)], problem.scale, 2 * TOL).judgements[-1]
        said = f"claim {judgement.claim:.1e}, off {judgement.off:.1e}"
        agrees = judgement.agreement is Agreement.AGREES
        self.require(agrees, f"{self.name} {judgement.agreement} on {problem.family} ({said})", Limits(TOL))

    def obeys(self) -> None:
        """One iteration, no time, a callback that stops: each must end the run."""
        family, limits = self.problem.family, Limits(TOL, max_iter=1)
        one = self.run(self.problem, limits)
        self.require((one.iterations or 0) <= 1, f"{self.name} does {one.iterations} iterations on {family} where max_iter is 1", limits)
        limits = Limits(TOL, time_limit=1e-6)
        self.run(self.problem, limits)
        late = f"{self.name} goes on for {self.seconds:.1f} s on {family} where time_limit is 1e-6 s"
        advice = f"{SECONDS_OVER_TIME:g} s more is allowed: let it take `limits` after the problem, and look at limits.time_limit"
        self.require(self.seconds <= SECONDS_OVER_TIME, f"{late}; {advice}", limits)
        calls: list[tuple[int, float, float, CanonicalPoint]] = []
        limits = Limits(TOL, callback=lambda *shown: calls.append(shown) or True)  # type: ignore[func-returns-value]
        self.run(self.problem, limits)
        self.require(len(calls) == 1, f"{self.name} calls a callback that stops it {len(calls)} times on {family}, not once", limits)
        _, lower, upper, point = calls[0]
        right = lower <= upper * (1 + TOL) + TOL
        self.require(right, f"{self.name} shows the callback lower {lower} above upper {upper} on {family}", limits)
        own = isinstance(point, type(self.problem.origin))
        self.require(own, f"{self.name} shows the callback no point of {family}, but {type(point).__name__}", limits)

    def claims_nothing_without_convexity(self) -> None:
        """No optimum of a problem that has no certificate."""
        if isinstance(self.problem, MarginProblem) and not np.isinf(self.problem.C) and self.is_taken():
            limits = Limits(TOL, time_limit=5.0)
            claims = self.run(self.problem, limits).status is Status.OPTIMAL
            self.require(not claims, f"{self.name} claims an optimum of {self.problem.family} with an indefinite kernel", limits)


def _clocks() -> Array:
    """Seconds of the clock, and seconds that processors have worked for this process and for those that it started and that have ended."""
    return np.array([time.perf_counter(), sum(os.times()[:4])])


def _require(holds: bool, sentence: str) -> None:
    if not holds:
        raise AssertionError(sentence)


def main(arguments: Sequence[str]) -> int:
    """Run a check from the command line: 0 it conforms, 1 it does not, 2 it cannot be found or checked; each is a sentence."""
    if len(arguments) != 1:
        print("usage: python -m equimargin.testing [MODULE:]NAME - the id of a formulation, the name of a solver, or a class of solvers")
        return 2
    module, _, name = arguments[0].rpartition(":")
    try:
        with kept_from_quitting():
            check = _named(module, name)
    except (ImportError, LookupError) as error:
        print(f"{arguments[0]} cannot be found: {error}")
        return 2
    except Exception as error:
        print(f"{arguments[0]} cannot be checked: {said(error)}")
        return 2
    try:
        refuted = check()
    except AssertionError as wrong:
        print(wrong)
        return 1
    except ValueError as impossible:
        print(f"{arguments[0]} cannot be checked: {impossible}")
        return 2
    print(f"{name} conforms" + (f": it is a control, and {refuted}" if refuted else ""))
    return 0


def _named(module: str, name: str) -> Callable[[], object]:
    """Return the check of what has this name, once its module has been imported."""
    home = import_module(module) if module else None
    if name in REGISTRY:
        return lambda: check_formulation(name)
    if name in SOLVERS:
        return lambda: check_solver(name)
    found = getattr(home, name, None)
    if found is None:
        known = _names_of(home) if home else [*REGISTRY, *SOLVERS]
        near = did_you_mean(name, known) or (f"; it has {', '.join(known) or 'none'}" if home else "")
        raise LookupError(f"neither a formulation nor a solver{f' of {module}' if module else ''} is called {name}{near}")
    # A class, or a function that makes a solver, is called; a Solver may be callable itself.
    solver = found() if isinstance(found, type) or (callable(found) and not isinstance(found, Solver)) else found
    if not isinstance(solver, Solver):
        wrapped = "`equimargin.adapters.from_estimator` makes one of it" if hasattr(solver, "fit") else "see `equimargin.solvers.Solver`"
        raise ValueError(f"{shown(solver)} is no Solver; {wrapped}")
    return lambda: check_solver(solver)


def _names_of(home: ModuleType) -> list[str]:
    """Return the names of formulations and solvers that a module enters or holds."""
    entered = [id for id, entry in REGISTRY.items() if entry.module == home.__name__]
    entered += [solver.name for solver in SOLVERS.values() if solver.module == home.__name__]
    own = [name for name, value in vars(home).items() if getattr(value, "__module__", home.__name__) == home.__name__]
    return [*entered, *(name for name in own if not name.startswith("_") and isinstance(vars(home)[name], Solver))]


if __name__ == "__main__":
    import sys

    sys.exit(main(sys.argv[1:]))
