"""Relation graph of the published problems: maps, counterexamples and paths.

Maps hold pointwise or at an optimum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import find, settings
from hypothesis import strategies as st

from equimargin.formulations import (
    REGISTRY,
    MarginProblem,
    Point,
    Problem,
    classification,
    declare,
    interval,
    linear,
    links,
    one_norm_classification,
    one_norm_ranking,
    ordinal,
    polynomial,
    ranking,
    ranking_vector_machine,
    rbf,
    regression,
)
from equimargin.formulations.bounds.complete import complete
from equimargin.formulations.links.kinds import (
    Equivalence,
    NotEquivalent,
    Relaxation,
    StrongEquivalence,
)
from equimargin.formulations.links.maps import to_function
from equimargin.formulations.problem import CanonicalPoint
from equimargin.solvers import Answer, Status, solve_declaration
from narrow import as_a, present
from oracles.own_entries import PRINTED

KERNELS = {"linear": linear(), "rbf": rbf(0.4), "polynomial": polynomial()}
EQUIVALENCES = [link for link in links.LINKS if isinstance(link, Equivalence)]
RELAXATIONS = [link for link in links.LINKS if isinstance(link, Relaxation)]
UNLINKED = "svm.huberised_hinge"
"""Family without a theorem, and so without links."""
COUNTEREXAMPLES = [link for link in links.LINKS if isinstance(link, NotEquivalent)]


def name(link: links.Link) -> str:
    return f"{link.a} {link.b}"


def instance(family: str, kernel: Any, seed: int, n: int = 14) -> Problem:
    """Make a random problem of a family that has an optimum.

    rank.hard alternates between two levels and a total order.
    """
    rng = np.random.default_rng([seed, 7])
    X = rng.normal(size=(n, 3)) + 0.5
    C = float(10 ** rng.uniform(-1, 0.5))
    score = X @ np.array([1.0, -0.7, 0.4])
    noisy = score + 0.6 * rng.normal(size=n)
    signs = np.where(noisy > np.median(noisy), 1.0, -1.0)
    clean = np.where(score > np.median(score), 1.0, -1.0)
    levels = np.digitize(noisy, np.quantile(noisy, [0.3, 0.7])).astype(float)
    order = np.argsort(np.argsort(score)).astype(float)
    make: dict[str, Callable[[], Problem]] = {
        "svm.hard": lambda: classification(
            X + 0.3 * clean[:, None] * np.array([1.0, -0.7, 0.4]), clean, np.inf, kernel
        ),
        "svm.soft": lambda: classification(X, signs, C, kernel),
        "svm.l2": lambda: classification(X, signs, C, kernel, "squared_hinge"),
        "svm.huberised_hinge": lambda: classification(
            X, signs, C, kernel, "huberised_hinge", delta=0.5
        ),
        "svm.nobias": lambda: classification(X, signs, C, kernel, bias=False),
        "svm.nobias_hard": lambda: classification(
            X, np.where(score > 0, 1.0, -1.0), np.inf, kernel, bias=False
        ),
        "svm.nobias_l2": lambda: classification(X, signs, C, kernel, "squared_hinge", bias=False),
        "svr.hard": lambda: regression(
            X, score + 0.05 * rng.uniform(-1, 1, n), np.inf, 0.08, kernel
        ),
        "svr.l1": lambda: regression(X, noisy, C, 0.2, kernel),
        "svr.l2": lambda: regression(X, noisy, C, 0.2, kernel, "squared_hinge"),
        "rank.hard": lambda: ranking(
            X, order if seed % 2 else (clean + 1) / 2, None, np.inf, kernel
        ),
        "rank.l1": lambda: ranking(X, levels, None, C, kernel),
        "rank.l2": lambda: ranking(X, levels, None, C, kernel, "squared_hinge"),
        "ord.implicit": lambda: ordinal(X, np.maximum(levels - seed % 2, 0), C, kernel),
        "ord.implicit_l2": lambda: ordinal(
            X, np.maximum(levels - seed % 2, 0), C, kernel, "squared_hinge"
        ),
        "ord.hard": lambda: ordinal(
            X,
            np.digitize(score, np.quantile(score, [0.5] if seed % 2 else [0.3, 0.7])),
            np.inf,
            kernel,
        ),
        "rank.onenorm": lambda: one_norm_ranking(X, levels, None, C, kernel),
        "rvm": lambda: ranking_vector_machine(X, levels, None, C, kernel),
        "svm.onenorm": lambda: one_norm_classification(X, signs, C, kernel),
        "svm.nobias_onenorm": lambda: one_norm_classification(X, signs, C, kernel, bias=False),
    }
    return make[family]()


def solved(id: str, problem: Problem) -> tuple[float, Answer]:
    """Return the declared optimum on the family's scale, and the answer."""
    declaration = declare(id, problem)
    answer = solve_declaration(declaration, "HIGHS" if problem.kind == "linear" else "CLARABEL")
    assert answer.status is Status.OPTIMAL, (id, answer.reason)
    return answer.value, answer


def reach(id: str, problem: Problem, point: CanonicalPoint, optimum: float) -> float:
    """Return the relative distance of a mapped point from the optimum of its new problem.

    The side is the one that formulation `id` carries.
    """
    control = REGISTRY[id].control
    if control or id == "svm.penalized.primal":
        declaration = declare(id, problem)
        declaration.assign(complete(declaration.canonical, point))
        worth = declaration.value(
            float(declaration.objective.args[0].value), declaration.parameter_values
        )
        return abs(worth - optimum) / max(abs(optimum), 1e-9)
    proven = interval(problem, point)
    side = (
        proven.upper
        if REGISTRY[id].carries == "function" or not point.has_multipliers
        else proven.lower
    )
    return abs(side - optimum) / max(abs(optimum), 1e-9)


def map_errors(link: Equivalence, problem: Problem) -> dict[str, float]:
    """Return the errors of the value map and of both point maps of a link at an optimum."""
    value, answer = solved(link.a, problem)
    other = link.problem(problem)
    image, back = solved(link.b, other)
    assert answer.point is not None
    assert back.point is not None
    size = max(abs(image), 1e-9)
    return {
        "value": abs(link.value(value, problem) - image) / size,
        "forward": reach(link.b, other, link.forward(problem, answer.point), image),
        "backward": reach(link.a, problem, link.backward(problem, back.point), value),
    }


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("link", EQUIVALENCES, ids=name)
def test_optima_map_to_optima(link: Equivalence, kernel: str) -> None:
    """Two instances per link; the benchmark runs fifty and prints the table."""
    checked = 0
    for seed in range(4):
        problem = instance(REGISTRY[link.a].family, KERNELS[kernel], seed)
        if link.applies(problem):
            errors = map_errors(link, problem)
            assert max(errors.values()) <= 1e-6, errors
            checked += 1
        if checked == 2:
            break
    assert checked or (kernel != "linear" and "linear" in link.conditions)


@pytest.mark.benchmark
def test_fifty_instances_of_every_link() -> None:
    """The worst error of every map over fifty random instances and three kernels."""
    worst = 0.0
    for link in EQUIVALENCES:
        for label, kernel in KERNELS.items():
            problems = [instance(REGISTRY[link.a].family, kernel, seed) for seed in range(100)]
            errors = [
                map_errors(link, problem)
                for problem in [p for p in problems if link.applies(p)][:50]
            ]
            if errors:
                row = {key: max(e[key] for e in errors) for key in errors[0]}
                print(
                    f"{name(link):64s} {label:10s} {len(errors):3d}  "
                    + "  ".join(f"{k} {v:.1e}" for k, v in row.items())
                )
                worst = max(worst, *row.values())
    print(f"worst {worst:.1e}")
    assert worst <= 1e-6


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    "link", [link for link in EQUIVALENCES if isinstance(link, StrongEquivalence)], ids=name
)
def test_strong_equivalences_hold_at_any_point(link: StrongEquivalence, kernel: str) -> None:
    """Feasible maps to feasible and the values are equal, without a solver."""
    rng = np.random.default_rng(3)
    for seed in range(5):
        problem = instance(REGISTRY[link.a].family, KERNELS[kernel], seed, n=6)
        if link.b == "rank.oneslack" and problem.p > 8:
            problem = ranking(problem.X[:4], [0.0, 1.0, 1.0, 2.0], None, problem.C, problem.kernel)
        assert isinstance(problem, MarginProblem)
        point = Point(
            beta=rng.normal(size=problem.m), b=np.zeros(problem.T) if problem.T > 1 else 0.0
        )
        values = []
        for id, at in (
            (link.a, point),
            (link.b, link.forward(problem, point)),
            (link.a, link.backward(problem, point)),
        ):
            declaration = declare(id, problem)
            declaration.assign(complete(declaration.canonical, at))
            values.append(
                declaration.value(
                    float(declaration.objective.args[0].value), declaration.parameter_values
                )
            )
            for constraint in declaration.constraints.values():
                assert np.max(constraint.violation()) <= 1e-8
        assert values == pytest.approx([values[0]] * 3, rel=1e-8)


@pytest.mark.parametrize("link", RELAXATIONS, ids=name)
def test_a_relaxation_is_never_worth_more(link: Relaxation) -> None:
    for seed in range(4):
        problem = instance(REGISTRY[link.a].family, linear(), seed)
        if np.isinf(link.problem(problem).C):
            problem = instance(REGISTRY[link.b].family, linear(), seed).with_cost(problem.C)
        assert solved(link.a, problem)[0] <= solved(link.b, link.problem(problem))[0] * (1 + 1e-8)


def worth(id: str, problem: Problem) -> float:
    """Return the optimum of formulation `id`, or the claim of a misprinted read-out."""
    declaration = declare(id, problem)
    answer = solve_declaration(declaration, "CLARABEL")
    if answer.status is Status.UNBOUNDED:
        return -np.inf
    assert answer.values is not None
    assert answer.point is not None
    if id == "rank.l2.value.as_printed":
        return float(declaration.printed(answer.values).objective)
    if id == "svm.hard.bias.as_printed":
        return interval(problem, answer.point).upper
    return answer.value


@pytest.mark.parametrize("link", [link for link in COUNTEREXAMPLES if link.b in REGISTRY], ids=name)
def test_counterexamples(link: NotEquivalent) -> None:
    found = [
        worth(id, problem)
        for id, problem in zip((link.a, link.b), link.counterexample(), strict=True)
    ]
    assert found == pytest.approx(link.values, abs=1e-6)
    assert abs(found[0] - found[1]) > 1e-2


def test_strict_complementarity_fails() -> None:
    """The optimum of the counterexample has a point with neither multiplier nor slack."""
    (link,) = (link for link in COUNTEREXAMPLES if link.b == "strict complementarity")
    problem = link.counterexample()[0]
    _, answer = solved("svm.hard.primal", problem)
    point = as_a(Point, answer.point)
    slack = -problem.slack(problem.X @ point.w, present(point.b))
    alpha = as_a(np.ndarray, point.alpha)
    # An interior point is within about the root of its residual.
    assert np.maximum(alpha, slack).min() <= 1e-4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("a", "b", "kernel"),
    [
        ("rank.differences.dual", "rank.l1.dual", rbf(1.0)),
        ("rank.reduced", "rank.l1.primal", linear()),
        ("rank.lambda.function.as_lambda_half", "rank.lambda.function", linear()),
        ("rank.l1.dual.as_printed", "rank.l1.dual", linear()),
        ("rank.onenorm.free", "rvm.primal", linear()),
    ],
)
def test_hypothesis_finds_a_counterexample_itself(a: str, b: str, kernel: Any) -> None:
    """Small integer points with integer labels: some optima differ."""
    points = st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 2)), min_size=2, max_size=4)

    def differ(rows: list[tuple[int, int]]) -> bool:
        X, y = np.array([[float(x)] for x, _ in rows]), np.array([float(y) for _, y in rows])
        problem: Problem = (
            ranking_vector_machine(X, y, kernel=kernel)
            if b == "rvm.primal"
            else ranking(X, y, kernel=kernel)
        )
        if problem.p == 0 or REGISTRY[a].refusal(problem):
            return False
        return abs(worth(a, problem) - worth(b, problem)) > 1e-3

    assert differ(
        find(
            points,
            differ,
            settings=settings(deadline=None, max_examples=200, derandomize=True, database=None),
        )
    )


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_soft_margin_is_hard_exactly_from_the_critical_cost_on(kernel: str) -> None:
    for seed in range(3):
        hard = as_a(MarginProblem, instance("svm.hard", KERNELS[kernel], seed))
        value, answer = solved("svm.hard.dual", hard)
        critical = links.critical_cost(hard, to_function(hard, as_a(Point, answer.point)))
        above, _ = solved("svm.soft.dual", hard.with_cost(1.001 * critical))
        below, _ = solved("svm.soft.dual", hard.with_cost(0.98 * critical))
        assert above == pytest.approx(value, rel=1e-6)
        assert below < value * (1 - 1e-6)


def test_hard_ranking_of_two_levels_is_half_of_classification() -> None:
    (link,) = (link for link in EQUIVALENCES if name(link) == "rank.hard.primal svm.hard.primal")
    for kernel in KERNELS.values():
        problem = instance("rank.hard", kernel, 0)
        assert link.applies(problem)
        assert max(map_errors(link, problem).values()) <= 1e-6


def test_paths_compose() -> None:
    problem = instance("rank.l1", rbf(0.4), 1)
    path = links.path("rank.lambda.dual", "rank.oneslack")
    value, answer = solved("rank.lambda.dual", problem)
    assert answer.point is not None
    assert [link.kind for link, _ in path.steps] == [
        "rescaling",
        "equivalence",
        "strong equivalence",
    ]
    assert path.value(value, problem) == pytest.approx(value)
    assert interval(problem, path.map(answer.point, problem)).upper == pytest.approx(
        value, rel=1e-6
    )
    assert links.path("rvm.dual", "rvm.dual").steps == ()


def test_every_declaration_that_claims_a_family_is_linked_to_the_others() -> None:
    for entry in PRINTED.values():
        first = next(
            other
            for other in REGISTRY.values()
            if other.family == entry.family and not other.control
        )
        if not entry.control and entry.family != UNLINKED:
            links.path(entry.id, first.id)


def test_look_alikes_are_not_linked() -> None:
    with pytest.raises(ValueError, match="not linked: RVM has beta >= 0"):
        links.path("rvm.primal", "rank.l1.primal")
    with pytest.raises(KeyError, match="unknown formulation 'nothing'"):
        links.path("nothing", "rvm.primal")


@pytest.mark.slow
@pytest.mark.parametrize("id", [id for id, entry in PRINTED.items() if not entry.control])
def test_a_swept_parameter_gives_the_values_of_fresh_problems(id: str) -> None:
    """One DPP problem, re-solved over C."""
    problem = instance(REGISTRY[id].family, rbf(0.4), 3 if id.endswith("two_levels") else 2, n=8)
    if not declare(id, problem).parameters or id == "rank.oneslack":
        pytest.skip("no parameter to sweep, or the cuts depend on it")
    declared = declare(id, problem)
    for C in (0.2, 1.0, 4.0):
        fresh = declare(id, problem.with_cost(C))
        for label, parameter in declared.parameters.items():
            parameter.value = fresh.parameters[label].value
        values = [solve_declaration(d, "CLARABEL").value for d in (declared, fresh)]
        assert values[0] == pytest.approx(values[1], rel=1e-7)


@pytest.mark.parametrize("id", list(PRINTED))
def test_expressing_and_recovering_is_a_round_trip(id: str) -> None:
    """A canonical point given to the variables and read back has the same values."""
    entry = REGISTRY[id]
    problem = instance(entry.family, rbf(0.4) if "differences" in id else linear(), 1, n=8)
    if id == "svm.hard.bias.as_printed" or id.endswith("betahat"):
        pytest.skip("read with another b, or another coefficient vector, on purpose")
    rng = np.random.default_rng(0)
    alpha = rng.uniform(0.0, 0.1, problem.p)
    T = problem.T if isinstance(problem, MarginProblem) else 0
    b: Any = np.linspace(0.25, -0.25, T) if T > 1 else 0.25 * T
    point = problem.point(np.abs(rng.normal(size=problem.size)), alpha, b)
    declaration = declare(id, problem)
    declaration.assign(complete(declaration.canonical, point))
    back = declaration.point
    if entry.carries == "multipliers":
        assert back.multipliers == pytest.approx(alpha)
        return
    completed = [complete(problem, p) for p in (point, back)]
    scale = completed[0].f[0] / completed[1].f[0] if id.endswith("margin") else 1.0
    assert completed[1].f * scale == pytest.approx(completed[0].f, rel=1e-8, abs=1e-8)
