"""Conformance check of formulations: registered ones pass, wrong ones give a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from equimargin.formulations import (
    REGISTRY,
    Formulation,
    FormulaValue,
    Kernel,
    MarginProblem,
    Symbols,
    chi2,
    exponential,
    laplacian,
    linear,
    minimize,
    polynomial,
    precomputed,
    rbf,
    sigmoid,
)
from equimargin.formulations.kernels.exponential import Exponential
from equimargin.solvers import SOLVERS, solver
from equimargin.solvers.requirements import Requirements
from equimargin.testing import (
    CANONICAL,
    check_formulation,
    check_kernel,
    check_solver,
    sample_problem,
)
from oracles.own_entries import PRINTED
from places import ROOT, example

EXAMPLE = ROOT / "examples" / "formulations" / "own_formulation.py"


@pytest.fixture
def own() -> Iterator[str]:
    """Yield the example's formulation, registered for one test."""
    example("own_formulation")
    yield "svm.soft.hinge"
    del REGISTRY["svm.soft.hinge"]


@pytest.mark.slow
@pytest.mark.parametrize("id", list(PRINTED))
def test_every_formulation_conforms(id: str) -> None:
    check_formulation(id)


def test_the_example_is_short_and_conforms(own: str) -> None:
    assert (
        len([line for line in EXAMPLE.read_text(encoding="utf-8").splitlines() if line.strip()])
        < 40
    )
    check_formulation(own)


def test_what_is_wrong_is_said(own: str) -> None:
    right = REGISTRY[own]

    def halved(v: Mapping[str, Any], d: Symbols) -> FormulaValue:
        return FormulaValue(
            (v["w"] @ v["w"] / 2 + v["C"] * d.c @ np.maximum(1 - d.y * (d.X @ v["w"] - v["b"]), 0))
            / 2
        )

    wrong: list[tuple[Formulation, str]] = [
        (replace(right, printed=halved), "its published formula is"),
        (
            replace(right, to_canonical=lambda v, d: d.point(v["w"], v["b"])),
            r"svm.soft.hinge disagrees on svm.soft with linear\(\), .*, and a correct formulation "
            r"agrees: its value has the error",
        ),
    ]
    for changed, words in wrong:
        REGISTRY.enter(own, changed, REGISTRY.find_module(own))
        with pytest.raises(AssertionError, match=words):
            check_formulation(own)
    REGISTRY.enter(own, replace(right, family="svr.l1"), REGISTRY.find_module(own))
    with pytest.raises((AssertionError, ValueError)):
        check_formulation(own)


def test_sample_problems_are_of_their_family() -> None:
    for family in CANONICAL:
        assert sample_problem(family, linear(), 3).family == family
    with pytest.raises(ValueError, match="unknown family"):
        sample_problem("svm.soft.primal")
    assert not np.array_equal(sample_problem("rvm", seed=0).X, sample_problem("rvm", seed=1).X)


def test_a_form_that_leaves_out_hard_rows_is_found(own: str) -> None:
    right = REGISTRY[own]

    def without_hard_rows(d: Symbols) -> Any:
        """min  1/2 |w|^2 + C sum_i (1 - y_i (w.x_i - b))_+, over the rows of finite weight."""
        w, b, C = cp.Variable(d.X.shape[1], "w"), cp.Variable(name="b"), d.parameter("C")
        return minimize(
            cp.sum_squares(w) / 2 + C * (d.c @ cp.pos(1 - cp.multiply(d.y, d.X @ w - b)))
        )

    REGISTRY.enter(own, replace(right, stated=without_hard_rows), REGISTRY.find_module(own))
    with pytest.raises(AssertionError, match=r"a hard row .*, and a correct formulation agrees"):
        check_formulation(own)


def test_a_variable_without_a_value_is_named(own: str) -> None:
    REGISTRY.enter(
        own,
        replace(REGISTRY[own], from_canonical=lambda at, d: {"w": at.w}),
        REGISTRY.find_module(own),
    )
    with pytest.raises(AssertionError, match="from_canonical gives no value to b"):
        check_formulation(own)


@pytest.mark.parametrize(
    "kernel",
    [
        rbf(0.5),
        polynomial(3, 0.5, 1.0),
        exponential(0.7),
        sigmoid(0.5, -1.0),
        laplacian(0.7),
        chi2(0.7),
        2.0 * rbf(0.5) + linear(),
        laplacian(0.7) * polynomial(2, 0.5, 1.0),
    ],
)
def test_every_kernel_conforms(kernel: Kernel) -> None:
    check_kernel(kernel)


class Narrow(Exponential):
    """Kernel with a rounding bound that is too small."""

    def rounding(self, X: Any, Z: Any, K: Any, v: Any) -> Any:
        """Return a tenth of a unit in the last place."""
        return 0.1 * np.finfo(np.float64).eps * np.abs(K) @ v


class Distance(Exponential):
    """Kernel that is not positive semidefinite."""

    def block(self, X: Any, Z: Any) -> Any:
        """Return log k."""
        return np.log(super().block(X, Z))

    def diagonal(self, X: Any) -> Any:
        """Return zeros."""
        return np.zeros(len(X))

    def rounding(self, X: Any, Z: Any, K: Any, v: Any) -> Any:
        """Return a wide bound."""
        return np.full(len(X), 1e-9) * v.sum()


def test_a_false_bound_and_a_false_word_of_a_kernel_are_found() -> None:
    with pytest.raises(
        AssertionError,
        match=r"points of size 0.001: the value of points \d+ and \d+ .* `rounding` returns",
    ):
        check_kernel(Narrow(0.7))
    with pytest.raises(
        AssertionError,
        match="is declared positive semidefinite, and its matrix has the eigenvalue -",
    ):
        check_kernel(Distance(0.7))
    with pytest.raises(ValueError, match="no values to be computed"):
        check_kernel(precomputed())


def test_misspelt_families_and_losses_of_a_solver_are_named() -> None:
    with pytest.raises(ValueError, match="there is no loss 'hinges'; did you mean hinge"):
        Requirements(MarginProblem, losses=("hinges",))
    with pytest.raises(
        ValueError,
        match=r"test.misspelt: there is no family 'svm.no_bias'; did you mean svm.nobias",
    ):
        solver("test.misspelt", "svm.no_bias")
    misspelt = replace(SOLVERS["smo"], families=("svm.no_bias",))
    with pytest.raises(
        AssertionError,
        match=r"smo declares svm.no_bias, and there is no such family; did you mean svm.nobias",
    ):
        check_solver(misspelt)


@pytest.mark.slow
def test_a_solver_of_hard_rows_alone_can_be_checked() -> None:
    """A hard row is tried in every family of a solver; the huberised hinge has none."""
    check_solver("penalty")
