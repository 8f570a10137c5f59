"""Values and bounds of losses against rational numbers, above all near the knees.

Wrong arguments raise errors with messages.
"""

from __future__ import annotations

import json
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equimargin.formulations import (
    MarginProblem,
    Point,
    classification,
    declare,
    interval,
    ranking,
    rbf,
)
from equimargin.formulations.problem.bias import bounded_smooth_bias
from equimargin.formulations.rows.labelled import LabelledPairs
from equimargin.formulations.rows.loss import HINGE, SQUARED_HINGE, Loss, huberised_hinge
from equimargin.proofs import certificate, checker, examine, judge, program_certificate
from equimargin.proofs.equivalence.stated import stated
from equimargin.solvers import (
    SOLVERS,
    exact_optimum,
    exact_path,
    regularization_path,
    solve,
    solve_declaration,
)
from equimargin.solvers.batches import cost_grid, one_vs_one
from equimargin.solvers.exact.program.clock import Clock
from equimargin.solvers.exact.program.optimum import Optimum, program_optimum
from equimargin.solvers.exact.sensitivity import Cost, exact_sensitivity
from equimargin.solvers.problem_file import packed, unpacked
from equimargin.testing import sample_problem
from narrow import as_a

FAMILY = "svm.huberised_hinge"
losses = st.one_of(
    st.sampled_from([HINGE, SQUARED_HINGE]),
    st.floats(-6, 6).map(lambda e: huberised_hinge(float(10**e))),
    st.builds(
        Loss,
        st.just("another"),
        st.sampled_from([0.3, 7.0]),
        st.sampled_from([0.0, 0.7]),
        st.sampled_from([0.9, 4.0]),
    ),
)


def exact(loss: Loss, u: Fraction) -> Fraction:
    """Return phi(u), piece by piece."""
    z = max(u + Fraction(float(np.asarray(loss.width))), Fraction(0))
    if not loss.is_smooth:
        return Fraction(loss.top) * z
    slope = Fraction(loss.slope)
    if not loss.is_bounded or slope * z <= Fraction(loss.top):
        return slope * z * z / 2
    return Fraction(loss.top) * z - Fraction(loss.top) ** 2 / (2 * slope)


@st.composite
def slacks(draw: Any, loss: Loss) -> float:
    """Draw a slack anywhere, or within some roundings of an end of the parabola."""
    width = float(np.asarray(loss.width))
    knee = loss.top / loss.slope - width if loss.is_smooth and loss.is_bounded else -width
    anywhere = st.floats(-1e6, 1e6)
    near = st.integers(-6, 6).map(lambda k: 1 + k * 2.0**-52)
    return float(
        draw(st.one_of(anywhere, near.map(lambda v: v * knee), near.map(lambda v: -v * width)))
    )


@given(st.data(), losses, st.floats(1e-6, 1e6))
def test_bound_holds_near_a_knee_and_is_tight(data: st.DataObject, loss: Loss, c: float) -> None:
    u = data.draw(slacks(loss))
    true = Fraction(c) * exact(loss, Fraction(u))
    below, above = (
        Fraction(float(loss.bound(np.array([u]), np.array([c]), way)[0])) for way in (-1.0, 1.0)
    )
    size = abs(Fraction(u)) + Fraction(float(np.asarray(loss.width)))
    room = Fraction(1, 10**14) * Fraction(c) * exact(loss, size) + Fraction(1, 10**300)
    # Where u + width cancels, its rounding is relative to the width.
    room += Fraction(c) * (
        exact(loss, Fraction(u) + size / 2**51) - exact(loss, Fraction(u) - size / 2**51)
    )
    assert true - room <= below <= true <= above <= true + room


@given(st.data(), losses)
def test_value_and_weighed_are_close_to_the_loss(data: st.DataObject, loss: Loss) -> None:
    u = data.draw(slacks(loss))
    size = abs(u) + float(np.asarray(loss.width))
    true, room = (
        float(exact(loss, Fraction(u))),
        1e-14 * float(exact(loss, Fraction(size))) + 1e-300,
    )
    assert loss.value(np.array([u]))[0] == pytest.approx(true, rel=1e-9, abs=room)
    assert loss.weighed(np.array([u]), np.array([3.0]))[0] == pytest.approx(
        3 * true, rel=1e-9, abs=3 * room
    )


@given(st.data(), losses.filter(lambda loss: loss.is_smooth), st.floats(0, 1))
def test_conjugate_and_loss_meet_at_the_derivative(
    data: st.DataObject, loss: Loss, share: float
) -> None:
    """phi(u) + phi*(a) >= a u for every a in the box, with equality at a = phi'(u)."""
    u, width = data.draw(slacks(loss)), float(np.asarray(loss.width))
    slope, top = Fraction(loss.slope), loss.derivative(np.array([u]))[0]
    largest = top if not loss.is_bounded else float(loss.box(np.array([1.0]))[0])
    for a in (Fraction(float(top)), Fraction(share * largest)):
        conjugate = a * a / (2 * slope) - Fraction(width) * a
        assert exact(loss, Fraction(u)) + conjugate >= a * Fraction(u)
    gap = (
        exact(loss, Fraction(u))
        + Fraction(float(top)) ** 2 / (2 * slope)
        - Fraction(float(top)) * (Fraction(u) + Fraction(width))
    )
    assert gap <= Fraction(1, 10**14) * (
        exact(loss, Fraction(abs(u) + width)) + Fraction(1, 10**300)
    )


@given(
    st.lists(
        st.tuples(
            st.integers(-5, 5), st.sampled_from([-1.0, 1.0]), st.sampled_from([0.5, 1.0, 2.0])
        ),
        min_size=1,
        max_size=8,
    )
)
def test_best_bias_balances_the_derivatives(rows: list[tuple[int, float, float]]) -> None:
    v, s, c = (np.array(column, dtype=np.float64) for column in zip(*rows, strict=True))
    phi = huberised_hinge(0.25)
    for b in bounded_smooth_bias(v, s, c, phi):
        if np.isfinite(b):
            assert float(c @ (s * phi.derivative(s * (v - b)))) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("kernel", [None, rbf(0.5)])
@pytest.mark.parametrize("delta", [0.01, 0.5, 3.0])
def test_all_forms_and_newton_agree(kernel: Any, delta: float) -> None:
    problem = sample_problem(FAMILY, kernel)
    problem = classification(problem.X, problem.rows.y, 0.7, kernel, "huberised_hinge", delta=delta)
    found = solve(problem, tol=1e-9)
    assert (found.solver, problem.family) == ("newton", FAMILY)
    assert found.interval.relative_width <= 1e-9
    answers = [
        examine(problem, solve_declaration(declare(f"{FAMILY}.{name}", problem)))
        for name in ("primal", "slacks", "beta", "dual")
    ]
    assert judge(FAMILY, answers, problem.scale).verdict.value == "agree"


@pytest.mark.parametrize("name", ["primal", "slacks", "beta", "dual"])
def test_forms_have_one_exact_optimum_and_certificates_of_format_2(name: str) -> None:
    problem = classification([[0.0], [1.0]], [1, -1], C=1.0, loss="huberised_hinge", delta=0.5)
    form = stated(f"{FAMILY}.{name}", problem, "fractions", Clock(10.0))
    document = program_certificate(form.program, as_a(Optimum, program_optimum(form.program)))
    kind, lower, upper = checker.check(json.dumps(document).encode())
    assert (form.optimum, kind, abs(lower), lower) == (
        Fraction(3, 2),
        "program",
        Fraction(3, 2),
        upper,
    )


def test_float64_values_of_an_optimum_meet() -> None:
    problem = sample_problem(FAMILY)
    found = solve(problem, tol=1e-12)
    primal, dual = problem.values(found.point)
    assert primal == pytest.approx(dual, rel=1e-9)
    assert found.interval.lower - 1e-9 <= dual <= found.interval.upper + 1e-9


def test_interval_of_origin_is_that_of_the_losses() -> None:
    problem = sample_problem(FAMILY)
    at_0 = interval(problem, Point(beta=np.zeros(problem.m), b=0.0, alpha=np.zeros(problem.p)))
    assert at_0.upper == pytest.approx(problem.scale)
    assert at_0.lower == 0.0


def test_problem_survives_pickle_and_file() -> None:
    problem = sample_problem(FAMILY, rbf(0.5))
    for copy in (pickle.loads(pickle.dumps(problem)), unpacked(*packed(problem))):
        assert isinstance(copy, MarginProblem)
        assert (copy.loss, copy.delta, copy.family) == ("huberised_hinge", 0.5, FAMILY)
        assert solve(copy).value == pytest.approx(solve(problem).value)


@pytest.mark.parametrize("name", [name for name in SOLVERS if name != "newton"])
def test_every_other_solver_refuses_it_in_words(name: str) -> None:
    refusal = SOLVERS[name].refusal(sample_problem(FAMILY))
    assert refusal is not None
    assert "huberised hinge" in str(refusal) or "quadratic problem" in str(refusal)


X, Y = np.arange(4.0)[:, None], [-1, -1, 1, 1]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: classification(X, Y, loss="huberised_hinge"), "needs delta, a number above 0"),
        (
            lambda: classification(X, Y, loss="huberised_hinge", delta=0.0),
            "delta must be a number from",
        ),
        (
            lambda: classification(X, Y, loss="huberised_hinge", delta=np.nan),
            "delta must be a number from",
        ),
        (
            lambda: classification(
                X,
                Y,
                loss="huberised_hinge",
                delta="wide",  # type: ignore[arg-type]
            ),
            "delta must be a number from",
        ),
        (lambda: classification(X, Y, delta=0.5), "no other loss has one"),
        (
            lambda: classification(X, Y, loss="huberised_hinge", delta=0.5, bias=False),
            "with a free bias",
        ),
        (
            lambda: classification(X, Y, 1e250, loss="huberised_hinge", delta=1e100),
            "too large for float64",
        ),
        (
            lambda: classification(X, Y, np.inf, loss="huberised_hinge", delta=0.5),
            "has no hard rows",
        ),
        (
            lambda: classification(
                X, Y, loss="huberised_hinge", delta=0.5, sample_weight=[1, np.inf, 1, 1]
            ),
            "has no hard rows",
        ),
        (lambda: ranking(X, [0, 1, 2, 3], loss="huberised_hinge"), "loss must be"),
        (
            lambda: MarginProblem(
                X,
                rbf(1.0),
                LabelledPairs(np.arange(4.0), None),
                loss="huberised_hinge",
                bias=False,
                delta=0.5,
            ),
            "with a free bias",
        ),
        (
            lambda: certificate(solve(sample_problem(FAMILY))),
            "a certificate of format 1 needs the hinge or the squared hinge",
        ),
        (
            lambda: one_vs_one.one_vs_one(X, Y, loss="huberised_hinge"),
            "loss must be 'hinge' or 'squared_hinge'",
        ),
        (
            lambda: regularization_path(as_a(MarginProblem, sample_problem(FAMILY))),
            "paths exist for the hinge loss only",
        ),
        (
            lambda: exact_path(as_a(MarginProblem, sample_problem(FAMILY)), 0.1, 1.0),
            "an exact path needs the hinge",
        ),
        (
            lambda: cost_grid.solve_grid(as_a(MarginProblem, sample_problem(FAMILY)), [1.0]),
            "the loss is the huberised hinge",
        ),
        (
            lambda: exact_sensitivity(sample_problem(FAMILY), Cost()),
            "the loss is the huberised hinge",
        ),
        (lambda: exact_optimum(sample_problem(FAMILY)), "the huberised hinge"),
        (lambda: solve(sample_problem(FAMILY)).stability(), "the huberised hinge"),
        (lambda: solve(sample_problem(FAMILY)).sensitivity(), "the huberised hinge"),
    ],
)
def test_what_has_no_huberised_hinge_says_so(make: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()


def test_a_loss_without_a_width_has_the_conjugate_of_its_own_slope() -> None:
    """alpha^2 / (2 slope c), which is that of the squared hinge for a slope of 2 alone."""
    problem = as_a(MarginProblem, classification(X, Y, 0.5))
    vars(problem)["phi"] = Loss("capped", 0.5, 0.0, 1.0)
    alpha = np.array([0.25, 0.25, 0.0, 0.0])
    np.testing.assert_array_equal(problem.conjugate(alpha), alpha**2 / (2 * 0.5 * 0.5))
    assert problem.dual(alpha, 0.5) == alpha.sum() - 0.25 - problem.conjugate(alpha).sum()
