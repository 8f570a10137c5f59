"""Which solver takes which problem: whoever is sent elsewhere arrives there."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equimargin.formulations import MarginProblem, Problem, classification, declare, families, polynomial, ranking, rbf, sigmoid
from equimargin.solvers import SOLVERS, Status, exact_optimum, solve
from equimargin.testing import FAMILIES, margin_problems

LINE = np.array([[0.0], [1.0], [3.0]])


@st.composite
def any_problems(draw: st.DrawFn) -> Problem:
    """Of every family and a few more: hard margins without a bias, penalised biases, kernels that are not positive semidefinite."""
    problem = draw(margin_problems(draw(st.sampled_from(list(FAMILIES))), max_points=5))
    changes: dict[str, Any] = {}
    if isinstance(problem, MarginProblem):
        if problem.bias and draw(st.booleans()):
            changes["bias"] = False
        if draw(st.integers(0, 3)) == 0:
            changes["C"] = np.inf
        if draw(st.integers(0, 3)) == 0:
            changes["kernel"] = sigmoid(1.0, -1.0)
    return replace(problem, **changes)


@given(any_problems())
def test_a_refusal_names_who_takes_the_problem_or_says_that_nobody_does(problem: Problem) -> None:
    taking = [name for name, solver in SOLVERS.items() if solver.refusal(problem) is None]
    for name in ("auto", *(name for name in SOLVERS if name not in taking)):
        if name == "auto" and any(not SOLVERS[other].reference for other in taking):
            continue
        with pytest.raises(ValueError, match=problem.family) as refused:
            solve(problem, name)
        said = str(refused.value)
        why, _, advice = said.rpartition("; ")
        assert advice, said
        assert name == "auto" or not any(re.search(rf"\b{other}\b", why.removeprefix(name)) for other in SOLVERS), said
        if taking:
            assert advice == f"try {', '.join(taking)}"
        else:
            assert advice.startswith("no specialised solver takes it")
            for id in re.findall(r"\b\w+\.\w+\.\w+\b", advice):
                declare(id, problem)
            if "exact_optimum" in advice:
                assert exact_optimum(problem, max_iter=1).reason


def test_hard_rankings_are_sent_to_their_declarations() -> None:
    """Three solvers sent them from one to the next, and the last one back."""
    with pytest.raises(ValueError, match=r"no specialised solver takes it, but solve_declaration does: declare rank\.hard\.primal or "):
        solve(ranking(LINE, [0, 1, 2], C=np.inf), "tron")


def test_a_hard_margin_without_a_bias_is_sent_to_exact_arithmetic() -> None:
    problem = classification(LINE[1:], [1, -1], np.inf, polynomial(2, 1.0, 1.0), bias=False)
    with pytest.raises(ValueError, match=r"no specialised solver takes it and nothing declares it, but exact_optimum takes it$"):
        solve(problem)
    assert exact_optimum(problem).status is Status.OPTIMAL
    with pytest.raises(ValueError, match=r"no specialised solver takes it, and nothing declares it$"):  # no rational kernel
        solve(classification(LINE, [1, -1, 1], np.inf, rbf(1.0), bias=False))


@pytest.mark.parametrize("size", [400, 500])
def test_what_is_too_large_to_declare_is_not_undeclared(size: int) -> None:
    """79,800 hard pairs, which exact arithmetic looks at one by one, and 124,750, which it does not."""
    X = np.arange(float(size))[:, None]
    rows = size * (size - 1) // 2
    ending = r", but exact_optimum takes it$" if rows < 100_000 else "$"
    with pytest.raises(ValueError, match=rf"it is too large to declare: {rows:,} rows, the limit is 20,000{ending}"):
        solve(ranking(X, X[:, 0], C=np.inf))


def test_every_family_of_a_solver_exists() -> None:
    for solver in SOLVERS.values():
        for name in solver.families:
            assert any(f"{family}.".startswith(f"{name}.") for family in families()), (solver.name, name)
