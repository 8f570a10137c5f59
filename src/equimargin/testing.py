"""Tests of one's own formulations: hypothesis strategies for max-margin problems, and a conformance check.

Data are constructed valid, never filtered, and every strategy goes into nasty branches on purpose: repeated rows, contradicting
labels, ties, a single class, queries of one level, zero rows and columns, fewer points than dimensions, rank-one Gram matrices,
integer grids, and scales and costs over twelve orders of magnitude.

>>> from hypothesis import given
>>> from equimargin.testing import margin_problems
>>> @given(margin_problems("rank.l1"))
... def test_my_solver(problem): ...
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations import (
    REGISTRY,
    Declaration,
    Formulation,
    Kernel,
    Point,
    Problem,
    classification,
    declare,
    linear,
    one_norm_ranking,
    polynomial,
    ranking,
    ranking_vector_machine,
    rbf,
    regression,
)
from equimargin.proofs import Agreement, examine, examine_solution, judge
from equimargin.solvers import SOLVERS, solve, solve_declaration

try:
    from hypothesis import strategies as st
except ImportError as missing:
    raise ImportError("equimargin.testing needs hypothesis: pip install 'equimargin[test]'") from missing

Array = NDArray[np.float64]
Draw = st.DrawFn

FAMILIES: dict[str, dict[str, Any]] = {
    "svm.hard": {"hard": True},
    "svm.soft": {},
    "svm.l2": {"loss": "squared_hinge"},
    "svm.nobias": {"bias": False},
    "svm.nobias_l2": {"bias": False, "loss": "squared_hinge"},
    "svr.hard": {"hard": True},
    "svr.l1": {},
    "svr.l2": {"loss": "squared_hinge"},
    "rank.hard": {"hard": True},
    "rank.l1": {},
    "rank.l2": {"loss": "squared_hinge"},
    "rank.onenorm": {},
    "rvm": {},
}
"""The families of `margin_problems`, and what sets each apart."""


class Classes(NamedTuple):
    """X (m, d), y (m,) in {-1, +1}."""

    X: Array
    y: Array


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
    """Positive factors: mostly near 1, with `tails` down to 1e-6 and up to 1e6.

    Parameters
    ----------
    tails : whether to leave [0.1, 10].
    """
    near = st.floats(-1, 1)
    exponents = near if not tails else st.one_of(near, near, st.floats(-6, 6), st.sampled_from([-6.0, 6.0]))
    return exponents.map(lambda e: float(10**e))


def costs(tails: bool = True) -> st.SearchStrategy[float]:
    """C: mostly in [0.1, 10], with `tails` down to 1e-6 and up to 1e6; 1 is the simplest.

    Parameters
    ----------
    tails : whether to leave [0.1, 10].
    """
    return st.one_of(st.just(1.0), scales(tails))


def kernels() -> st.SearchStrategy[Kernel]:
    """Linear, polynomial and RBF kernels, the positive semidefinite ones that need features only."""
    gammas = st.sampled_from([1.0, 0.5, 0.1, 2.0])
    return st.one_of(
        st.just(linear()),
        gammas.map(rbf),
        st.builds(polynomial, st.integers(1, 3), gammas, st.sampled_from([1.0, 0.0])),
    )


@st.composite
def features(draw: Draw, max_points: int = 10, tails: bool = True) -> Array:
    """X (m, d), m up to `max_points` and d up to 4, some of it degenerate.

    Parameters
    ----------
    max_points : largest m.  tails : whether entries may be as small as 1e-6 or as large as 1e6.
    """
    m, d = draw(st.integers(1, max_points)), draw(st.integers(1, 4))
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
def classification_data(draw: Draw, max_points: int = 10, tails: bool = True) -> Classes:
    """X and y in {-1, +1}: repeated points with the same and with contradicting labels, a single class now and then.

    Parameters
    ----------
    As in `features`.
    """
    X = draw(features(max_points, tails))
    y = _vector(draw, st.sampled_from([-1.0, 1.0]), len(X))
    if len(X) > 1 and draw(st.booleans()):
        X[-1], y[-1] = X[0], -y[0]
    if draw(st.integers(0, 9)) == 0:
        y[:] = y[0]
    return Classes(X, y)


@st.composite
def regression_data(draw: Draw, max_points: int = 10, tails: bool = True) -> Targets:
    """X, y and epsilon: ties, constant targets, repeated points with different targets, epsilon 0.

    Parameters
    ----------
    As in `features`.
    """
    X = draw(features(max_points, tails))
    y = _vector(draw, draw(st.sampled_from([st.integers(-3, 3).map(float), st.floats(-3, 3, width=32)])), len(X))
    if len(X) > 1 and draw(st.booleans()):
        X[-1], y[-1] = X[0], y[0] + 1.0
    if draw(st.integers(0, 9)) == 0:
        y[:] = y[0]
    epsilon = draw(st.sampled_from([0.1, 0.0, 0.5, 5.0]))
    scale = draw(scales(tails)) if tails else 1.0
    return Targets(X, y * scale, epsilon * scale)


@st.composite
def ranking_data(draw: Draw, max_points: int = 10, tails: bool = True) -> Relevances:
    """X, relevances and queries: ties, all distinct levels, queries of one level or one point, no pair at all now and then.

    Parameters
    ----------
    As in `features`.
    """
    X = draw(features(max_points, tails))
    m = len(X)
    levels = draw(st.sampled_from([2, 3, m]))
    y = _vector(draw, st.integers(0, levels - 1).map(float), m)
    if levels == m and draw(st.booleans()):
        y = np.array(draw(st.permutations(range(m))), dtype=np.float64)
    qid = None if draw(st.booleans()) else np.array(draw(st.lists(st.integers(1, 3), min_size=m, max_size=m)), dtype=np.int64)
    if qid is not None and draw(st.booleans()):
        y[qid == qid[0]] = y[0]
    if draw(st.integers(0, 9)) == 0:
        y[:] = y[0]
    elif m > 1:  # one pair at least: drawn at random, most small examples would have none
        y[-1] = y[-2] + 1
        if qid is not None:
            qid[-1] = qid[-2]
    return Relevances(X, y, qid)


@st.composite
def margin_problems(draw: Draw, family: str, max_points: int = 10, tails: bool = True) -> Problem:
    """A problem of a family.

    Parameters
    ----------
    family : a key of FAMILIES.  max_points : largest m.  tails : whether scales and costs go from 1e-6 to 1e6 or stay near 1.

    Raises
    ------
    ValueError : an unknown family.
    """
    if family not in FAMILIES:
        raise ValueError(f"unknown family {family!r}; known: {', '.join(FAMILIES)}")
    options = FAMILIES[family]
    kernel = draw(kernels())
    C = float("inf") if options.get("hard") else draw(costs(tails))
    loss: Literal["hinge", "squared_hinge"] = options.get("loss", "hinge")
    if family.startswith("svm"):
        X, y = draw(classification_data(max_points, tails))
        return classification(X, y, C, kernel, loss, options.get("bias", True))
    if family.startswith("svr"):
        X, y, epsilon = draw(regression_data(max_points, tails))
        return regression(X, y, C, epsilon, kernel, loss)
    X, y, qid = draw(ranking_data(max_points, tails))
    if family == "rvm":
        return ranking_vector_machine(X, y, qid, C, kernel)
    if family == "rank.onenorm":
        return one_norm_ranking(X, y, qid, C, kernel)
    return ranking(X, y, qid, C, kernel, loss)


def _vector(draw: Draw, entries: st.SearchStrategy[float], size: int) -> Array:
    return np.array(draw(st.lists(entries, min_size=size, max_size=size)), dtype=np.float64)


def sample_problem(family: str, kernel: Kernel | None = None, seed: int = 0, n: int = 16) -> Problem:
    """A small random problem of a family that has an optimum: noisy where slacks are paid for, feasible where they are not.

    Parameters
    ----------
    family : a key of FAMILIES.  kernel : linear by default.  seed : of the data.  n : number of points.

    Raises
    ------
    ValueError : an unknown family.
    """
    if family not in FAMILIES:
        raise ValueError(f"unknown family {family!r}; known: {', '.join(FAMILIES)}")
    rng = np.random.default_rng([seed, n])
    options, direction = FAMILIES[family], np.array([1.0, -0.7, 0.4])
    hard, loss = "hard" in options, options.get("loss", "hinge")
    X = rng.normal(size=(n, 3)) + 0.5
    clean = X @ direction
    score = clean if hard else clean + 0.6 * rng.normal(size=n)
    C = float("inf") if hard else float(10 ** rng.uniform(-1, 0.5))
    if family.startswith("svm"):
        y = np.where(score > np.quantile(score, 0.6), 1.0, -1.0)
        return classification(X + 0.3 * np.outer(y, direction) if hard else X, y, C, kernel, loss, options.get("bias", True))
    if family.startswith("svr"):
        return regression(X, clean + 0.05 * rng.uniform(-1, 1, n) if hard else score, C, 0.1, kernel, loss)
    y = np.digitize(score, np.quantile(score, [0.3, 0.7])).astype(np.float64)
    if family == "rvm":
        return ranking_vector_machine(X, y, None, C, kernel)
    return one_norm_ranking(X, y, None, C, kernel) if family == "rank.onenorm" else ranking(X, y, None, C, kernel, loss)


def check_formulation(id: str, backend: str = "CLARABEL") -> None:
    """Whether a declared formulation is what it says, on small problems of its family with three kernels.

    It must be disciplined with its parameters, equal to its printed formula at random values, recover what it expresses, refuse other
    families, and agree among the right answers of its family, or disagree if it is a control.

    Parameters
    ----------
    id : of a formulation in the registry.  backend : that solves it.

    Raises
    ------
    KeyError : an unknown id.  AssertionError : what is wrong, in a sentence.
    """
    entry = REGISTRY[id]
    _require(bool(entry.sources and entry.statement and entry.latex), f"{id} must name its source, its statement and its LaTeX")
    stranger = sample_problem("svm.soft" if entry.family != "svm.soft" else "svr.l1")
    _require(entry.refusal(stranger) is not None, f"{id} must refuse a problem of {stranger.family}")
    tried = 0
    for seed, kernel in enumerate((linear(), rbf(0.4), polynomial(2, 0.5, 1.0))):
        problem = sample_problem(entry.family, kernel, seed)
        if entry.refusal(problem) is None:
            tried += 1
            _check_declaration(entry, declare(id, problem))
            _check_agreement(entry, problem, backend)
    _require(tried > 0, f"{id} refuses every problem of its family")


def _check_declaration(entry: Formulation, declared: Declaration) -> None:
    _require(declared.problem.is_dcp(dpp=True), f"{entry.id} is not disciplined with its parameters (DPP)")
    if entry.control:  # it may misread on purpose
        return
    rng, problem = np.random.default_rng(0), declared.canonical
    size = problem.p if entry.family == "rank.onenorm" else problem.m
    alpha = rng.uniform(0.0, 0.1, problem.p)
    point = Point(beta=np.abs(rng.normal(size=size)), b=0.0, alpha=alpha)
    declared.assign(point)
    tree, printed = float(declared.objective.args[0].value), float(declared.printed(declared.values).objective)
    _require(abs(tree - printed) <= 1e-8 * max(1.0, abs(tree)), f"{entry.id} declares {tree}, its printed formula says {printed}")
    back = declared.point
    side = back.alpha if entry.carries == "multipliers" and back.alpha is not None else None
    _require(side is None or np.allclose(side, alpha), f"{entry.id} does not recover the multipliers that it expresses")


def _check_agreement(entry: Formulation, problem: Problem, backend: str) -> None:
    others = [e.id for e in REGISTRY.values() if e.family == entry.family and not e.control and e.id != entry.id]
    honest = [examine(problem, solve_declaration(declare(other, problem))) for other in others if REGISTRY[other].refusal(problem) is None]
    takes = [solver.name for solver in SOLVERS.values() if solver.takes(entry.family) and solver.refusal(problem) is None]
    honest += [examine_solution(problem, solve(problem, name, tol=1e-8)) for name in takes]
    evidence = examine(problem, solve_declaration(declare(entry.id, problem), backend), entry.control)
    judgement = judge(entry.family, [*honest, evidence], problem.scale).judgements[-1]
    wanted = Agreement.DISAGREES if entry.control else Agreement.AGREES
    said = f"claim {judgement.claim:.1e}, off {judgement.off:.1e}, accuracy {judgement.accuracy:.1e}: {evidence.reason}"
    _require(judgement.agreement is wanted, f"{entry.id} {judgement.agreement} on {problem.kernel.name} where it must be {wanted} ({said})")


def _require(holds: bool, sentence: str) -> None:
    if not holds:
        raise AssertionError(sentence)
