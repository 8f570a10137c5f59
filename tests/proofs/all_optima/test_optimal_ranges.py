"""Ranges of variables over all optima, against another method and other solvers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from equimargin.equivalence.instances import drawn, small_problems
from equimargin.formulations import (
    classification,
    declare,
    one_norm_classification,
    one_norm_ranking,
    ranking_vector_machine,
)
from equimargin.formulations.documents.general_machine import general
from equimargin.proofs import Range, optimal_ranges
from equimargin.proofs.equivalence.stated import stated
from equimargin.solvers import solve_declaration
from equimargin.solvers.exact.program.clock import Clock
from narrow import present

LINEAR = (
    "rvm.primal",
    "rvm.dual",
    "rank.onenorm.primal",
    "svm.onenorm.primal",
    "svm.onenorm.dual",
    "svm.nobias_onenorm.primal",
)
"""Formulations that are linear programs."""
FAR = 1e5
"""Size above which an end counts as infinite: data and costs are small numbers."""


def by_highs(id: str, problem: Any) -> dict[str, list[tuple[float, float]]]:
    """Return the ends of every variable of a linear program.

    Each is found by a program in floats whose cost is at most the optimum.
    """
    program = stated(id, problem, "fractions", Clock(60)).program
    q, b, h = (np.array(values, dtype=float) for values in (program.q, program.b, program.h))
    A, G = (np.zeros((M.height, program.n)) for M in (program.A, program.G))
    for dense, M in ((A, program.A), (G, program.G)):
        for i, row in enumerate(M.rows):
            for j, entry in row.items():
                dense[i, j] = float(entry)
    rows = {"A_eq": A, "b_eq": b} if len(b) else {}
    best = linprog(q, A_ub=G, b_ub=h, bounds=(None, None), **rows).fun
    no_more = {"A_ub": np.vstack([G, q]), "b_ub": np.append(h, best + 1e-10)}

    def least(j: int, sign: int) -> float:
        found = linprog(sign * np.eye(program.n)[j], bounds=(None, None), **no_more, **rows)
        return sign * found.fun if found.status == 0 else -sign * np.inf

    return {
        name: [(least(j, 1), least(j, -1)) for j in range(program.n)[at]]
        for name, at in program.columns.items()
    }


def in_floats(end: Fraction | None, infinity: float) -> float:
    """Return an end of a range as a float."""
    return infinity if end is None else float(end)


@pytest.mark.parametrize("id", LINEAR)
def test_linear_programs_have_the_ends_that_highs_finds(id: str) -> None:
    for problem in drawn(small_problems(id.rpartition(".")[0]), 6, 3)[:4]:
        expected = by_highs(id, problem)
        for name, ranges in optimal_ranges(id, problem).items():
            for range_, ends in zip(ranges, expected[name], strict=True):
                assert in_floats(range_.low, -np.inf) == pytest.approx(ends[0], abs=1e-6)
                assert in_floats(range_.high, np.inf) == pytest.approx(ends[1], abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    "id",
    [
        "svm.soft.primal",
        "svm.soft.dual",
        "svr.l1.primal",
        "rank.l1.dual",
        "rank.l1.beta",
        "svm.l2.primal",
    ],
)
def test_an_optimum_of_a_backend_lies_within(id: str) -> None:
    for problem in drawn(small_problems(id.rpartition(".")[0]), 6, 4)[:4]:
        declared = declare(id, problem)
        answer = solve_declaration(declared, "CLARABEL", tol=1e-10)
        assert answer.value == pytest.approx(
            float(optimal_ranges(id, problem).value), rel=1e-6, abs=1e-8
        )
        for name, ranges in optimal_ranges(id, problem).items():
            for value, range_ in zip(
                np.asarray(present(answer.values)[name]).ravel("F"), ranges, strict=True
            ):
                assert (
                    in_floats(range_.low, -np.inf) - 1e-4
                    <= value
                    <= in_floats(range_.high, np.inf) + 1e-4
                )


@given(st.lists(st.integers(-3, 3), min_size=2, max_size=4), st.sampled_from([0.125, 0.5, 2.0]))
def test_the_interval_of_the_bias_is_where_the_objective_is_level(x: list[int], C: float) -> None:
    y = [1, -1, *([1, -1] * len(x))][: len(x)]
    problem = classification(np.array(x, dtype=float)[:, None], y, C=C)
    known = optimal_ranges("svm.soft.primal", problem)
    w, low, high = (present(end) for end in (known["w"][0].low, *known["b"][0]))

    def objective(bias: Fraction) -> Fraction:
        slacks = (max(Fraction(0), 1 - s * (w * v - bias)) for v, s in zip(x, y, strict=True))
        return w * w / 2 + Fraction(C) * sum(slacks, Fraction(0))

    assert objective(low) == objective(high) == known.value
    assert min(objective(low - Fraction(1, 9)), objective(high + Fraction(1, 9))) > known.value


def test_ranges_are_written_as_intervals() -> None:
    assert [
        str(Range(*ends))
        for ends in (
            (Fraction(1, 2), Fraction(1, 2)),
            (Fraction(0), None),
            (None, Fraction(3)),
            (None, None),
        )
    ] == [*("1/2", "[0, inf)", "(-inf, 3]", "(-inf, inf)")]
    known = optimal_ranges(
        "svm.onenorm.primal", one_norm_classification([[0.0], [1.0]], [1, -1], C=0.5)
    )
    assert list(known) == ["alpha", "xi", "g", "b"]
    assert len(known) == 4
    assert known.value == 1


def test_what_has_no_optima_says_why() -> None:
    same = classification([[1.0], [1.0]], [1, -1], C=np.inf)
    with pytest.raises(
        ValueError, match=r"svm\.hard\.primal has no exact optimum here: the multipliers"
    ):
        optimal_ranges("svm.hard.primal", same)
    plane = classification(np.eye(2), [1, -1], C=np.inf)
    with pytest.raises(ValueError, match="second-order cones"):
        optimal_ranges("svm.hard.margin", plane)
    with pytest.raises(ValueError, match="seconds must be a positive number"):
        optimal_ranges("svm.hard.primal", plane, seconds=0)
    with pytest.raises(ValueError, match="time limit"):
        optimal_ranges(
            "rank.onenorm.primal",
            one_norm_ranking(np.arange(12.0)[:, None], np.arange(12)),
            seconds=1e-6,
        )
    with pytest.raises(KeyError, match="unknown formulation"):
        optimal_ranges("svm.nothing", plane)
    with pytest.raises(ValueError, match="cannot be declared for these data"):
        optimal_ranges(
            "svm.general.sum",
            general({"X": np.eye(2), "y": np.array([0, 1]), "C": 1.0, "sigma": 2.0, "tau": 0.5}),
        )
    assert optimal_ranges("rvm.dual", ranking_vector_machine([[1.0], [0.0]], [1, 0])).unique("u")
