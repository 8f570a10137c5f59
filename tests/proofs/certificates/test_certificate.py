"""Certificates of all families and kernels, in both modes: claims and refusals.

A certificate states what an answer proves, and nothing more.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from equimargin import compare
from equimargin.cli.app import app
from equimargin.formulations import (
    Kernel,
    MarginProblem,
    OneNormPoint,
    Point,
    Problem,
    classification,
    linear,
    polynomial,
    precomputed,
    ranking,
    ranking_from_pairs,
    rbf,
    regression,
    sigmoid,
)
from equimargin.proofs import certificate, checker, write_certificate
from equimargin.proofs.certificates.problem import certificate_at, certificate_of_ray, state
from equimargin.solvers import exact_optimum, solve
from equimargin.solvers.ray import FarkasRay
from equimargin.testing import margin_problems, sample_problem
from families import OF_THE_CERTIFICATE
from narrow import as_a

XOR = (
    np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]]),
    np.array([-1.0, 1.0, -1.0, 1.0]),
)
KERNELS = (linear(), rbf(0.5), polynomial(2, 0.5, 1.0))
SIDES = 1e-11
"""Relative cost that the repair of hard rows may have."""


def check(document: dict[str, Any]) -> tuple[Fraction | float, Fraction | float]:
    """Return the interval that the checker accepts."""
    family, lower, upper = checker.check(json.dumps(document).encode())
    assert family == document["problem"]["family"]
    return lower, upper


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
@pytest.mark.parametrize(
    "family", [family for family in OF_THE_CERTIFICATE if family != "rank.hard"]
)
def test_what_a_solution_proves_is_accepted(family: str, kernel: Kernel) -> None:
    problem = sample_problem(family, kernel)
    solution = solve(problem, tol=1e-9)
    lower, upper = check(certificate(solution))
    room = SIDES * solution.interval.size if math.isinf(problem.C) else 0.0
    assert solution.lower - room <= lower <= upper <= solution.upper + room


def exact_problems() -> dict[str, Problem]:
    """Return small integer problems, one per family, and special cases.

    Special are pairs, weights, a singular Gram matrix and hard pairs.
    """
    rng = np.random.default_rng(3)
    X, y, levels = (
        rng.integers(-3, 4, (12, 2)).astype(float),
        np.tile([1.0, -1.0], 6),
        np.repeat([0.0, 1.0, 2.0], 4),
    )
    line = np.array([[0.0], [1.0], [3.0], [4.0]])
    problems: dict[str, Problem] = {
        family: sample_problem(family, linear(), seed=1, n=8)
        for family in OF_THE_CERTIFICATE
        if family.split(".")[-1] not in ("hard", "nobias_hard")
    }
    return problems | {
        "svm.hard": classification(line, [-1, -1, 1, 1], np.inf),
        "svm.nobias_hard": classification(line - 2, [-1, -1, 1, 1], np.inf, bias=False),
        "svr.hard": regression(line, [0, 1, 2, 4], np.inf, 0.5),
        "rank.hard": ranking(line, [0, 1, 2, 3], None, np.inf),
        "polynomial": classification(X, y, 0.5, polynomial(2)),
        "singular Gram": classification(X @ X.T, y, 1.0, precomputed()),
        "penalised bias": classification(X, y, 0.5, bias="penalized"),
        "penalised bias of a Gram matrix": classification(
            X @ X.T, y, 0.5, precomputed(), bias="penalized"
        ),
        "pairs": ranking_from_pairs(X, np.array([[0, 1], [0, 1], [5, 2]]), 2.0),
        "weights": classification(X, y, 0.5, sample_weight=np.tile([1.0, 0.0, 2.0], 4)),
        "mean of queries": ranking(
            X, levels, np.tile([0, 1], 6), 1.0, polynomial(2), per_query="mean"
        ),
        "no pairs": ranking(X, np.ones(12)),
        "one class": classification(X, np.ones(12)),
    }


@pytest.mark.parametrize("name", exact_problems())
def test_an_exact_optimum_is_accepted_as_one_number(name: str) -> None:
    problem = exact_problems()[name]
    optimum = exact_optimum(problem)
    document = certificate(optimum)
    assert document["mode"] == "exact"
    assert check(document) == (optimum.value, optimum.value)
    lower, upper = check(certificate(optimum, "proven"))
    assert optimum.value is not None
    assert lower <= optimum.value <= upper


def test_xor_has_the_optimum_one_quarter() -> None:
    document = certificate(exact_optimum(classification(*XOR, kernel=polynomial(2), C=1.0)))
    assert document["claim"] == {"lower": "1/4", "upper": "1/4"}
    assert (set(document["dual"]["numerators"]), document["dual"]["denominator"]) == ({1}, 8)
    assert document["primal"]["b"] == "0/1"


def test_that_no_point_is_feasible_is_accepted_too() -> None:
    problem = classification(np.array([[0.0], [1.0], [2.0]]), [1, -1, 1], np.inf)
    document = certificate(exact_optimum(problem))
    assert check(document) == (math.inf, math.inf)
    document["dual"]["numerators"][0] += 1
    with pytest.raises(ValueError, match=r"digest"):
        check(document)


def infeasible() -> dict[str, MarginProblem]:
    """Return problems with hard rows without a bias that no function satisfies.

    The rows are of every kind, with long weights, next to soft rows, at equal points.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 8))
    noisy = X.sum(axis=1) + rng.normal(size=60) * 3
    twice = np.vstack([X[:10], X[3]])
    return {
        "labels": ranking(X, np.round(noisy), None, np.inf),
        "classes": classification(X, np.sign(noisy), np.inf, bias=False),
        "pairs": ranking_from_pairs(
            X[:, :1], np.array([[4, 5], [0, 1], [1, 2], [2, 0], [0, 1]]), np.inf
        ),
        "beside soft rows": ranking_from_pairs(
            X, np.array([[5, 6], [0, 1], [1, 0]]), 1.0, pair_weight=[1.0, np.inf, np.inf]
        ),
        "soft twins": ranking_from_pairs(
            X, np.array([[0, 1], [0, 1], [1, 0]]), 1.0, pair_weight=[1.0, np.inf, np.inf]
        ),
        "equal points": ranking(twice, np.arange(11.0), None, np.inf, rbf(0.5)),
        "polynomial": classification(
            np.round(X[:, :2]), np.sign(noisy), np.inf, polynomial(2), bias=False
        ),
    }


@pytest.mark.parametrize("name", infeasible())
def test_the_ray_of_hard_rows_is_accepted(name: str) -> None:
    found = solve(infeasible()[name])
    assert found.ray is not None
    document = certificate(found)
    assert (document["mode"], document["primal"]) == ("exact", None)
    assert check(document) == (math.inf, math.inf)
    assert certificate(found, "proven")["mode"] == "proven"


@pytest.mark.parametrize("name", infeasible())
def test_a_forged_ray_is_rejected_by_the_writer_and_by_the_checker(name: str) -> None:
    problem = infeasible()[name]
    ray = solve(problem).ray
    assert ray is not None
    more = replace(ray, weights=(ray.weights[0] + 1, *ray.weights[1:]))
    fewer = replace(ray, rows=ray.rows[1:], weights=ray.weights[1:])
    for forged in (more, fewer):
        with pytest.raises(ValueError, match="the ray proves nothing: its rows do not cancel"):
            certificate_of_ray(problem, forged)
    stranger = (problem.m,) * len(ray.rows[0])
    with pytest.raises(ValueError, match=rf"names a row of \({problem.m},"):
        certificate_of_ray(problem, replace(ray, rows=(stranger, *ray.rows[1:])))
    document = certificate_of_ray(problem, ray)
    document["dual"]["numerators"][0] = hex(ray.weights[0] + 1)
    document["digests"]["points"] = checker.sha256([None, document["dual"]])
    with pytest.raises(ValueError, match="less than the claimed lower bound"):
        check(document)


@pytest.mark.parametrize(
    ("rows", "weights", "words"),
    [
        (((0, 1), (1, 0)), (0.5, 0.5), "a whole number as weight"),
        (((0, 1), (1, 0)), (float("nan"), 1), "a whole number as weight"),
        (((0, 1), (1, 0)), ("1", "1"), "a whole number as weight"),
        (((0, 1), (1, 0)), (1,), "2 rows and 1 weights"),
        ((0, 1), (1, 1), "each a pair"),
        (((0,), (1,)), (1, 1), r"names a row of \(0,\)"),
        ((), (), "do not cancel"),
    ],
)
def test_a_ray_of_another_form_is_refused_in_a_sentence(
    rows: Any, weights: Any, words: str
) -> None:
    circle = ranking_from_pairs(np.array([[0.0], [1.0]]), np.array([[0, 1], [1, 0]]), np.inf)
    with pytest.raises(ValueError, match=words):
        certificate_of_ray(circle, FarkasRay(rows, weights, "made by hand"))
    arrays: Any = FarkasRay(
        np.array([[0, 1], [1, 0]]),  # type: ignore[arg-type]
        np.array([1, 1]),  # type: ignore[arg-type]
        "a circle",
    )
    assert check(certificate_of_ray(circle, arrays)) == (math.inf, math.inf)


def test_a_ray_of_soft_rows_proves_nothing() -> None:
    """Equal rows: the soft one cancels as well, but need not be satisfied."""
    X = np.array([[0.0], [1.0]])
    soft = ranking_from_pairs(X, np.array([[0, 1], [1, 0]]), 1.0)
    with pytest.raises(ValueError, match="is not a hard row of the problem"):
        certificate_of_ray(soft, FarkasRay(((0, 1), (1, 0)), (1, 1), "a circle"))


def test_nearly_equal_points_are_not_taken_as_one() -> None:
    """Their kernel values are equal in every digit that the checker has.

    Functions distinguish them all the same.
    """
    X = np.array([[1.0], [1.0 + 2.0**-52], [3.0]])
    near = ranking_from_pairs(X, np.array([[0, 2], [2, 1]]), np.inf, rbf(0.5))
    ray = FarkasRay(((0, 2), (2, 1)), (1, 1), "a circle")
    with pytest.raises(ValueError, match="its rows do not cancel"):
        certificate_of_ray(near, ray)
    X[1] = X[0]
    assert check(certificate_of_ray(replace(near, X=X.copy()), ray)) == (math.inf, math.inf)


def test_a_comparison_certifies_that_nothing_is_feasible(tmp_path: Path) -> None:
    problem = infeasible()["labels"]
    result = compare(problem, solvers=["CLARABEL", "dual_active_set"])
    outcome = result.certify(tmp_path)
    path = Path(outcome["rank.hard"])
    assert checker.check(path.read_bytes())[1:] == (math.inf, math.inf)
    assert checker.verdict(str(path)) == (0, "ACCEPTED: rank.hard: no point is feasible")


def test_long_numbers_are_written_and_read() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 12))
    optimum = exact_optimum(classification(X, np.sign(X[:, 0] + rng.normal(size=40)), 1.0))
    assert optimum.value is not None
    document = certificate(optimum)
    assert document["claim"]["lower"].startswith("0x")
    assert check(document) == (optimum.value, optimum.value)


def test_a_point_proves_the_sides_that_it_has() -> None:
    problem = sample_problem("svm.soft")
    assert isinstance(problem, MarginProblem)
    point = as_a(Point, solve(problem, tol=1e-9).point)
    both = certificate_at(problem, Point(alpha=point.alpha))
    assert both["primal"] is not None
    only = certificate_at(sample_problem("rvm"), OneNormPoint(x=np.zeros(16)))
    assert (only["claim"]["lower"], only["dual"]) == ("-inf", None)
    zero, upper = Fraction(only["problem"]["C"]) * sample_problem("rvm").p, only["claim"]["upper"]
    assert math.nextafter(upper, 0.0) < zero <= check(only)[1] == upper
    with pytest.raises(ValueError, match=r"^the point proves nothing: it has neither"):
        certificate_at(problem, Point())
    hard = sample_problem("svm.hard")
    broken = certificate_at(hard, Point(w=np.zeros(3), b=0.0, alpha=np.full(16, np.nan)))
    assert check(broken) == (0, math.inf)


def test_a_bound_beyond_all_doubles_is_a_rational() -> None:
    # The constructor of the problem refuses this C.
    problem = replace(classification(*XOR, 1.0, linear(), "hinge", False), C=1.7e308)
    document = certificate_at(problem, Point(w=np.zeros(2), b=0.0, alpha=np.zeros(4)))
    assert check(document) == (0, 4 * Fraction(1.7e308))


@pytest.mark.parametrize("weight", [np.inf, 1e-3])
def test_weights_of_every_size(weight: float) -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(20, 2))
    weights = np.where(np.arange(20) < 2, weight, rng.uniform(0, 2, 20))
    problem = classification(
        X, np.sign(X[:, 0] + 0.1), 0.3, rbf(1.0), "squared_hinge", sample_weight=weights
    )
    solution = solve(problem, tol=1e-9)
    lower, upper = check(certificate(solution))
    assert float(upper) - float(lower) <= 1e-7 * solution.interval.size


def test_a_larger_gram_matrix_is_found_positive_semidefinite() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    for K in (rbf(1.0).block(X, X), X @ X.T):
        problem = classification((K + K.T) / 2, np.sign(X[:, 0] + 0.2), 1.0, precomputed())
        document = certificate(solve(problem, tol=1e-8))
        assert document["semidefinite"] == "by factorisation"
        check(document)
    assert document["problem"]["kernel"]["shift"] > 0


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (classification(*XOR, kernel=sigmoid(1.0)), "not positive semidefinite"),
        (
            classification(np.array([[0.0, 1.0], [1.0, 0.0]]), [1, -1], kernel=precomputed()),
            "not positive semidefinite",
        ),
        (classification(*XOR, kernel=polynomial(33)), "polynomials of degree 32 at most, not 33$"),
        (ranking(np.ones((1500, 1)), np.arange(1500.0)), "at most 1,000,000 rows or pairs"),
    ],
)
def test_what_cannot_be_certified_is_a_sentence(problem: Problem, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        state(problem)


def test_a_solution_in_floating_point_is_not_exact() -> None:
    solution = solve(classification(*XOR, kernel=polynomial(2)))
    with pytest.raises(ValueError, match=r"needs an exact optimum"):
        certificate(solution, "exact")
    with pytest.raises(ValueError, match=r"'proven' or 'exact'"):
        certificate(solution, "true")  # type: ignore[arg-type]


def test_the_digest_is_that_of_the_problem() -> None:
    problem = classification(*XOR, kernel=polynomial(2))
    digest = checker.sha256(state(problem))
    assert digest == certificate(solve(problem))["digests"]["problem"]
    assert digest != checker.sha256(state(replace(problem, C=np.nextafter(1.0, 2.0))))


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    solution = solve(classification(*XOR, kernel=polynomial(2)))
    write_certificate(certificate(solution), tmp_path / "xor.json")
    assert checker.main([str(tmp_path / "xor.json")]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["xor.json"]
    with pytest.raises(ValueError, match=r"exact"):
        write_certificate(certificate(solution, "exact"), tmp_path / "xor.json")
    assert checker.main([str(tmp_path / "xor.json")]) == 0


def test_nothing_is_written_that_the_checker_does_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker, "LARGEST_FILE", 500)
    with pytest.raises(ValueError, match=r"bytes, and its checker reads 500$"):
        write_certificate(
            certificate(solve(classification(*XOR, kernel=polynomial(2)))), tmp_path / "xor.json"
        )
    assert list(tmp_path.iterdir()) == []


def test_a_comparison_certifies_its_families(tmp_path: Path) -> None:
    problems = [
        sample_problem("rank.l1"),
        sample_problem("rvm"),
        classification(*XOR, kernel=sigmoid(1.0)),
    ]
    result = compare(problems, solvers=["CLARABEL", "coordinate_descent", "linear_program", "smo"])
    outcome = result.certify(tmp_path / "certificates")
    assert list(outcome) == ["rank.l1", "rvm", "svm.soft"]
    assert str(outcome["svm.soft"]).startswith("the sigmoid kernel is not positive semidefinite")
    assert sorted(path.name for path in (tmp_path / "certificates").iterdir()) == [
        "rank.l1.json",
        "rvm.json",
    ]
    for family in result.families[:2]:
        lower, upper = checker.check(Path(outcome[family.id]).read_bytes())[1:]
        assert (
            float(upper - lower)
            <= family.interval.upper - family.interval.lower + SIDES * family.interval.size
        )


def test_the_command_line_writes_and_checks(tmp_path: Path) -> None:
    runner = CliRunner()
    kernel = ["--kernel", "poly", "--degree", "2", "--gamma", "1", "--coef0", "1"]
    options = [
        *kernel,
        "--family",
        "svm.soft",
        "--solver",
        "CLARABEL",
        "--solver",
        "smo",
        "--certify",
        str(tmp_path),
    ]
    answer = runner.invoke(app, ["compare", "xor", *options])
    assert (answer.exit_code, "svm.soft: certificate " in answer.stdout) == (0, True)
    file = tmp_path / "svm.soft.json"
    answer = runner.invoke(app, ["verify", str(file)])
    assert (answer.exit_code, "ACCEPTED: svm.soft: the optimum is in [0.2" in answer.stdout) == (
        0,
        True,
    )
    file.write_text(file.read_text().replace('"lower":0.2', '"lower":0.3', 1))
    answer = runner.invoke(app, ["verify", str(file)])
    assert (answer.exit_code, "REJECTED: " in answer.stdout) == (1, True)
    assert runner.invoke(app, ["verify", str(tmp_path / "nothing.json")]).exit_code == 2
    answer = runner.invoke(app, [*["compare", "xor", *options][:-1], str(file)])
    assert (answer.exit_code, "Traceback" in answer.output) == (2, False)
    assert f"--certify: {file} is not a folder" in " ".join(answer.output.split())


@pytest.mark.parametrize("y", [[1, 1, -1], [-1, -1, 1], [1, -1, 1]])
def test_a_certificate_states_the_function_that_intervals_judge(y: list[int]) -> None:
    """Coefficients of equal points are added in floats.

    At a slope of C = 1000 the rounding of that sum shows.
    """
    solution = solve(
        classification(np.zeros((3, 1)), y, 1000.0, rbf(1.0), bias=False), "coordinate_descent"
    )
    lower, upper = check(certificate(solution))
    assert solution.lower <= lower <= upper <= solution.upper


@settings(max_examples=40)
@given(st.data())
def test_float64_bounds_contain_what_exact_arithmetic_proves(data: st.DataObject) -> None:
    """`interval` and the checker share nothing.

    The rounding bounds of one must cover the exact values of the other.
    """
    family = data.draw(
        st.sampled_from(
            [
                family
                for family in OF_THE_CERTIFICATE
                if family.split(".")[-1] not in ("hard", "nobias_hard")
            ]
        )
    )
    problem = data.draw(margin_problems(family))
    assume(
        problem.weights is None
        or (isinstance(problem, MarginProblem) and np.isfinite(problem.weights).all())
    )
    solution = solve(problem, tol=1e-7, max_iter=2000)
    assume(problem.kernel.positive_semidefinite and problem.convex)
    lower, upper = check(certificate(solution))
    room = (
        2.0**-48 * solution.interval.size
        if isinstance(problem, MarginProblem) and problem.weights is not None
        else 0.0
    )
    assert solution.lower - room <= lower <= upper <= solution.upper
