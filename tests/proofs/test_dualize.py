"""The Lagrangian duals that a machine derives, against those that are declared, right and misprinted."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from equimargin.formulations import (
    REGISTRY,
    Kernel,
    MarginProblem,
    Problem,
    classification,
    declare,
    linear,
    polynomial,
    precomputed,
    rbf,
)
from equimargin.formulations.family import FAMILIES
from equimargin.proofs.dualize import DUAL_OF, Program, canonical, differences, dualize, exact, homogeneous, reduced, same_dual
from equimargin.testing import HARD, task_of
from oracles.own_entries import PRINTED

POINTS, SCORES = np.array([[2.0, 0.5], [1.0, -1.25], [-0.5, 1.0], [-2.0, -0.25], [0.75, 0.0]]), np.array([2.0, 1.0, 0.0, 0.0, 1.0])
READ_OUTS = {"svm.hard.bias.as_printed", "rank.l2.value.as_printed", "ord.hard.rank_hard.unscaled"}
"""Misprints of how a solution is read, not of a problem: what they declare is right."""
MISPRINTED = {
    "svm.soft.dual.as_printed": ("svm.soft.primal", ["quadratic"]),
    "svr.l1.dual.as_printed": ("svr.l1.primal", ["quadratic"]),
    "rank.l1.dual.as_printed": ("rank.l1.primal", ["quadratic"]),
    "rank.differences.dual": ("rank.l1.primal", ["quadratic"]),
    "rank.lambda.function.as_lambda_half": ("rank.lambda.dual", ["quadratic"]),
    "rank.reduced": ("rank.l1.dual", ["5 unknowns and 8"]),
    "rank.onenorm.differences": ("rank.onenorm.dual", ["inequalities"]),
    "rank.onenorm.free": ("rvm.dual", ["18 unknowns and 8"]),
    "svm.onenorm.free": ("svm.onenorm.dual", ["15 unknowns and 5"]),
    "rvm.as_printed": ("rvm.dual", ["0 unknowns and 8"]),
    "svm.penalized.primal": ("svm.soft.dual", ["quadratic", "equations"]),
    "ord.implicit.neighbours": ("ord.implicit.dual", ["7 unknowns and 10"]),
    "ord.implicit.rank_l1": ("ord.implicit.dual", ["8 unknowns and 10"]),
    "ord.implicit_l2.dual.of_half": ("ord.implicit_l2.primal", ["quadratic"]),
}
"""Every control, the declaration that it must not be dual to, and in what it differs from that."""


def grid(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Four points in eighths, and scores with one point of its own level and both classes."""
    rng = np.random.default_rng(seed)
    return rng.integers(-40, 41, (4, 3)) / 8, rng.permutation([2.0, 1.0, 0.0, 0.0])


def problem_of(family: str, kernel: Kernel, C: float = 0.5, data: tuple[np.ndarray, np.ndarray] = (POINTS, SCORES)) -> Problem:
    """A problem on a grid, with numbers that every declaration computes with exactly."""
    points, scores = data
    task = task_of(family)
    y = {"classification": np.sign(scores - 0.5), "regression": scores - 0.75, "ranking": scores, "ordinal": scores}[task]
    settings: dict[str, Any] = {"X": points @ points.T if kernel.name == "precomputed" else points, "y": y, "kernel": kernel}
    if family not in HARD:
        settings["C"] = C
    if task == "regression":
        settings["epsilon"] = 0.25
    problem: Problem = FAMILIES[family](settings)
    return problem


def takes_no_differences(family: str) -> bool:
    """Whether a family's declarations take no differences of the features of K, which are exact floats for a linear kernel only."""
    return not family.startswith(("rank", "rvm"))


@pytest.mark.slow
@pytest.mark.parametrize(("primal", "dual"), DUAL_OF.items())
def test_the_derived_dual_is_the_declared_one(primal: str, dual: str) -> None:
    family = REGISTRY[primal].family
    others = [polynomial(2, 0.5, 1.0), rbf(0.5), precomputed()] if takes_no_differences(family) else []
    for kernel in (linear(), *others):
        assert same_dual(primal, dual, problem_of(family, kernel))
    assert same_dual(primal, dual, problem_of(family, linear(), C=4.0))


@pytest.mark.parametrize(("primal", "dual"), DUAL_OF.items())
def test_so_it_is_on_other_data(primal: str, dual: str) -> None:
    """Entry by entry both duals are polynomials in the data: equal at points drawn at random, they are equal."""
    for seed in (1, 2):
        assert same_dual(primal, dual, problem_of(REGISTRY[primal].family, linear(), C=2.0, data=grid(seed)))


@pytest.mark.parametrize("primal", [id for id in DUAL_OF if "onenorm" in id or id.startswith("rvm")])
def test_a_point_of_one_number_is_a_row_like_any_other(primal: str) -> None:
    """A price of such a point has one unknown w_j of a linear kernel: it is no bound, and no other price takes its place."""
    points = np.array([[2.0, 0.0], [0.0, -1.25], [0.0, 0.0], [-2.0, -0.25], [1.0, 0.0]])
    family = REGISTRY[primal].family
    assert same_dual(primal, DUAL_OF[primal], problem_of(family, linear(), data=(points, SCORES)))


@pytest.mark.parametrize("control", MISPRINTED)
def test_a_misprint_is_no_dual(control: str) -> None:
    kernel = polynomial(2, 1.0, 1.0) if "differences" in control else linear()
    counterpart, wanted = MISPRINTED[control]
    primal, dual = (counterpart, control) if REGISTRY[control].carries == "multipliers" else (control, counterpart)
    problem = problem_of(REGISTRY[control].family, kernel)
    assert not same_dual(primal, dual, problem)
    assert differences(dualize(declare(primal, problem)), reduced(canonical(declare(dual, problem)))) == wanted


def test_every_control_is_judged() -> None:
    assert {id for id, entry in PRINTED.items() if entry.control} == set(MISPRINTED) | READ_OUTS


def test_a_dual_with_weights_has_a_box_for_every_row() -> None:
    problem = classification(POINTS, np.sign(SCORES - 0.5), 0.5, sample_weight=[1.0, 4.0, 0.25, 1.0, 16.0])
    assert same_dual("svm.soft.primal", "svm.soft.dual", problem)
    assert same_dual("svm.l2.primal", "svm.l2.dual", replace(problem, loss="squared_hinge"))
    assert dualize(declare("svm.soft.primal", problem)).upper == tuple(Fraction(c) for c in (0.5, 2.0, 0.125, 0.5, 8.0))


def test_the_derived_dual_of_the_tutorial_is_its_equation() -> None:
    problem = problem_of("svm.soft", linear())
    assert isinstance(problem, MarginProblem)
    dual, signed = dualize(declare("svm.soft.primal", problem)), exact(problem.rows.s)[:, None] * exact(POINTS)
    assert (signed @ signed.T == dual.H).all()  # (26) with the 1/2
    assert dual.g.tolist() == [Fraction(-1)] * 5
    assert [abs(v) for v in dual.E[0]] == [abs(dual.E[0, 0])] * 5
    assert (np.sign((dual.E[0] / dual.E[0, 0]).astype(float)) == problem.rows.s / problem.rows.s[0]).all()
    assert (dual.lower, dual.upper) == ((Fraction(0),) * 5, (Fraction(1, 2),) * 5)
    assert not len(dual.F)


@pytest.mark.parametrize("family", ["svm.soft", "svm.l2", "svr.l1", "rank.l1", "rvm", "rank.onenorm", "svm.onenorm"])
def test_one_number_changed_anywhere_is_seen(family: str) -> None:
    problem = problem_of(family, linear())
    derived, declared = dualize(declare(f"{family}.primal", problem)), reduced(canonical(declare(f"{family}.dual", problem)))
    assert differences(derived, declared) == []
    changed = [
        replace(declared, g=_nudged(declared.g)),
        replace(declared, constant=declared.constant + 1),
        replace(declared, upper=(declared.g[0], *declared.upper[1:])),
        replace(declared, lower=(Fraction(-1), *declared.lower[1:])),
        *([replace(declared, H=_nudged(declared.H))] if declared.H.any() else []),
        *([replace(declared, E=_nudged(declared.E))] if len(declared.E) else []),
        *([replace(declared, F=_nudged(declared.F)), replace(declared, f=_nudged(declared.f))] if len(declared.F) else []),
    ]
    assert all(differences(derived, wrong) for wrong in changed)


def test_an_equation_is_put_into_a_quadratic() -> None:
    """min z0^2 + z1 with z0 + z1 = 2 and z1 >= 0 is min z1^2 - 3 z1 + 4."""
    one, none = Fraction(1), exact(np.zeros(0))
    program = Program(
        ("z_0", "z_1"), exact(np.diag([2.0, 0.0])), exact(np.array([0.0, 1.0])), 0 * one, exact(np.ones((1, 2))), exact(np.array([2.0])),
        exact(np.zeros((0, 2))), none, (None, 0 * one), (None, None),
    )  # fmt: skip
    after = reduced(program)
    assert (after.H.tolist(), after.g.tolist(), after.constant) == ([[2]], [-3], Fraction(4))
    assert (after.lower, after.upper, len(after.E)) == ((Fraction(0),), (None,), 0)


def test_equations_are_compared_by_their_solutions() -> None:
    program = reduced(canonical(declare("svm.soft.dual", problem_of("svm.soft", linear()))))
    assert not differences(program, replace(program, E=-3 * program.E))
    assert not differences(program, replace(program, E=np.vstack([program.E, program.E]), e=np.append(program.e, program.e)))


def test_only_a_program_over_a_cone_is_made_homogeneous() -> None:
    program: Program = reduced(canonical(declare("svm.soft.dual", problem_of("svm.soft", linear()))))
    with pytest.raises(ValueError, match="cone"):
        homogeneous(program)


def _nudged(values: np.ndarray) -> np.ndarray:
    """The same with a 2^-60 of its first entry more in it, of 1 where that is 0."""
    nudged = values.copy()
    nudged.ravel()[0] += (abs(nudged.ravel()[0]) or 1) * Fraction(1, 2**60)
    return nudged
