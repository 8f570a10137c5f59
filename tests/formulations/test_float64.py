"""Numbers outside the float64 range: constructors raise, with a message.

A constructed problem never ends in an exception.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from equimargin import compare
from equimargin.comparison.allowance import Allowance
from equimargin.comparison.job import Job
from equimargin.formulations import (
    Declaration,
    Kernel,
    Problem,
    classification,
    declare,
    one_norm_ranking,
    polynomial,
    precomputed,
    ranking,
    ranking_from_pairs,
    ranking_vector_machine,
    rbf,
    regression,
)
from equimargin.formulations.declarations.family import FAMILIES
from equimargin.formulations.problem import CanonicalPoint
from equimargin.formulations.problem.limits import LARGEST_KERNEL, LARGEST_TARGET, largest_entry
from equimargin.proofs import Agreement, Verdict
from equimargin.solvers import SOLVERS, Solution, Status, solve, solve_declaration
from equimargin.testing import CANONICAL, HARD, ONE_NORM, get_task, sample_problem

X, SIGNS, LEVELS = np.array([[1.0], [-1.0], [2.0]]), [1.0, -1.0, 1.0], [0, 1, 2]


@pytest.mark.parametrize(
    ("construct", "sentence"),
    [
        (lambda: classification(1.8e157 * X, SIGNS, np.inf), "X is too large for float64 at row 0"),
        (
            lambda: classification(1e109 * X, SIGNS, 1.0, polynomial(2)),
            "X is too large for float64 at row 0",
        ),
        (
            lambda: classification(X * [[1.0], [1.0], [1e200]], SIGNS, 1.0, rbf(1.0)),
            "X is too large for float64 at row 2",
        ),
        (
            lambda: classification(X @ X.T * 1e307, SIGNS, 1.0, precomputed()),
            "the Gram matrix has entries above",
        ),
        (lambda: ranking(1e155 * X, LEVELS), "X is too large"),
        (lambda: ranking_vector_machine(1e155 * X, LEVELS), "X is too large"),
        (lambda: one_norm_ranking(1e155 * X, LEVELS), "X is too large"),
        (
            lambda: regression(X, [1e154, -1e154, 0.0]),
            "y is too large for float64: 1e.154 is a target",
        ),
        (
            lambda: regression(X, [-1e100, 1.0, -1e151]),
            "y is too large for float64: -1e.151 is a target",
        ),
        (
            lambda: regression(X, [-1.7e308, 0.0, 0.0], epsilon=1.7e308),
            "y is too large for float64: -1.7e.308 is a target",
        ),
        (
            lambda: classification(X, SIGNS, 1e200, sample_weight=[1e200, 1.0, 1.0]),
            "C = 1e.200 times the weight 1e.200 is too large",
        ),
        (
            lambda: ranking(X, LEVELS, C=1e200, query_weight={0: 1e200}),
            "C = 1e.200 times the weight 1e.200 is too large",
        ),
        (
            lambda: classification(X, SIGNS, 1.0, sample_weight=[1e9, 1.0, np.inf]).with_cost(
                1e300
            ),
            "C = 1e.300 times the weight 1e.09 is",
        ),
    ],
)
def test_what_overflows_is_refused_in_a_sentence(
    construct: Callable[[], Problem], sentence: str
) -> None:
    """The message has the argument and a remedy; numpy's warnings (errors here) stay inside."""
    with pytest.raises(ValueError, match=sentence) as refusal:
        construct()
    assert re.search(r"; (divide|use weight inf) ", str(refusal.value))


def test_the_largest_numbers_are_taken() -> None:
    """Numbers without effect on sizes are accepted too: a tube that holds all targets."""
    root = np.sqrt(LARGEST_KERNEL)
    assert classification([[root], [-root]], [1.0, -1.0]).m == 2
    assert classification(np.diag(np.full(3, LARGEST_KERNEL)), SIGNS, 1.0, precomputed()).m == 3
    assert regression([[1.0], [-1.0]], [LARGEST_TARGET, -LARGEST_TARGET], epsilon=0.0).m == 2
    assert regression([[1.0], [-1.0]], [1.0, -1.0], epsilon=1.7e308).m == 2
    # Three losses of 5e307 add up to 1.5e308.
    assert classification(X, SIGNS, 5e307).m == 3
    assert classification(X, SIGNS, np.inf, sample_weight=[np.inf, 1e308, 1.0]).m == 3
    with pytest.raises(ValueError, match="X is too large"):
        classification([[1.001 * root], [-root]], [1.0, -1.0])


@st.composite
def far_problems(draw: st.DrawFn, family: str) -> Problem | None:
    """Draw a problem of three points at any scales from 1e-320 to 1e308, or None.

    The features, targets, costs and a weight each have a scale; None if the constructor
    raises.
    """

    def size() -> float:
        return float(10.0 ** draw(st.one_of(st.floats(-2, 2), st.floats(-320, 308))))

    task, C = get_task(family), np.inf if family in HARD else size()
    kernel: Kernel | None = draw(
        st.sampled_from([None, rbf, lambda gamma: polynomial(draw(st.integers(1, 3)), gamma, 1.0)])
    )
    kernel = None if kernel is None else kernel(size())  # type: ignore[operator]
    x = (
        np.array(draw(st.lists(st.integers(-3, 3).map(float), min_size=6, max_size=6))).reshape(
            3, 2
        )
        * size()
    )
    x[0] *= size()
    weights = (
        None
        if np.isinf(C) or draw(st.booleans())
        else [size(), 1.0, draw(st.sampled_from([0.0, 1.0, np.inf]))]
    )
    data: dict[str, Any] = {
        "X": x,
        "y": SIGNS if task == "classification" else LEVELS,
        "C": C,
        "kernel": kernel,
    }
    if family not in ONE_NORM and task != "ranking":
        data["sample_weight"] = weights
    if task == "regression":
        data |= {
            "y": np.array([1.0, -2.0, 0.5]) * size(),
            "epsilon": draw(st.sampled_from([0.0, 0.1, size()])),
        }
    try:
        problem: Problem = FAMILIES[family](data)
    except ValueError:
        return None
    return problem


@pytest.mark.slow
# Warnings of overflow are ignored: the test is about the effects of overflow.
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("family", CANONICAL)
def test_no_solver_raises_on_what_is_made(family: str) -> None:
    """Numbers in the float64 range may be too large for a solver.

    The solution then has a reason that says so, and its interval.
    """

    @given(far_problems(family))
    def check(problem: Problem | None) -> None:
        for name, solver in SOLVERS.items():
            if problem is None or solver.refusal(problem) is not None:
                continue
            solution = solve(problem, name, time_limit=0.05)
            assert solution.reason
            assert not np.isnan([solution.lower, solution.upper]).any()

    check()


def test_an_exception_is_one_failed_answer_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception of a solver or of a backend leaves the other answers judged.

    The reason names the exception and the line that raised it.
    """

    def fails(problem: Problem) -> Solution:
        raise ZeroDivisionError("float division by zero")

    def stumbles(declaration: Any, backend: str, *limits: Any, **total: Any) -> Any:
        if backend == "SCS":
            raise np.linalg.LinAlgError("Eigenvalues did not converge")
        return solve_declaration(declaration, backend, *limits, **total)

    monkeypatch.setattr("equimargin.comparison.job.solve_declaration", stumbles)
    failing = replace(SOLVERS["huber"], name="failing", function=fails)
    result = compare(
        sample_problem("svm.soft"), "svm.soft.dual", ["CLARABEL", "SCS", "smo", failing]
    )
    (family,) = result.families
    assert family.verdict is Verdict.AGREE
    found = {j.evidence.run.solver: j for j in family.judgements}
    for solver, said in (
        ("SCS", "LinAlgError: Eigenvalues did not converge"),
        ("failing", "ZeroDivisionError: float division by zero"),
    ):
        assert (found[solver].agreement, found[solver].evidence.run.status) == (
            Agreement.FAILED,
            Status.NUMERICAL_FAILURE,
        )
        assert found[solver].evidence.run.raised.startswith(f"{said} (test_float64.py, line ")
        whom = solver if solver == "failing" else f"{solver} on dual"
        assert f" {whom}: stopped by an exception: {said}" in " ".join(str(result).split())
    assert all(found[solver].agreement is Agreement.AGREES for solver in ("CLARABEL", "smo"))


@pytest.mark.usefixtures("hearing")
def test_an_interrupt_ends_a_comparison() -> None:
    """Ctrl-C does not count as an exception of an answer."""

    def interrupted(problem: Problem) -> Solution:
        signal.raise_signal(signal.SIGINT)
        return solve(problem, "smo")

    solver = replace(SOLVERS["smo"], function=interrupted)
    with pytest.raises(KeyboardInterrupt):
        Job(sample_problem("svm.soft"), None, "smo", 1e-8, given=solver).run(Allowance(1.0))


def test_highs_is_not_given_what_brings_the_process_down() -> None:
    """HiGHS treats entries of the Hessian as infinite."""
    answer = solve_declaration(
        declare("svm.l2.dual", classification(X, SIGNS, 1e-20, loss="squared_hinge")), "HIGHS"
    )
    assert answer.status is Status.NUMERICAL_FAILURE
    assert answer.reason == "HIGHS failed: matrix entries must be below 1e+15, not 5.0e+19"


def test_a_matrix_with_a_nan_is_given_to_no_backend() -> None:
    """The NaN may be in a constraint, with a Hessian of finite entries."""
    declared = declare("svm.soft.dual", classification(X, SIGNS, 1.0))
    alpha, factor = declared.variables["alpha"], cp.Parameter(value=1.0)
    declared.constraints["spoilt"] = factor * alpha[0] <= 1.0
    # cvxpy's setter may reject a NaN.
    factor._value = np.array(np.nan)
    answer = solve_declaration(declared, "CLARABEL")
    assert answer.status is Status.NUMERICAL_FAILURE
    assert answer.reason == "CLARABEL failed: matrix entries must be below inf, not nan"


def test_a_comparison_that_proves_nothing_ends() -> None:
    """The costs overflow, so that no answer has a finite bound, and P(0) is infinite.

    No answer is measured by the size of the interval.
    """
    problem = one_norm_ranking([[1.0], [-1.0], [2.0], [3.0], [-2.0], [0.5]], [0, 1, 2, 0, 1, 2])
    # The constructor rejects this cost.
    problem = replace(problem, C=1e308)
    assert problem.scale == np.inf
    (family,) = compare(problem, solvers=["CLARABEL"], time_limit=2).families
    assert family.verdict is Verdict.UNDECIDED


def test_no_warning_of_cvxpys_comes_out() -> None:
    """This holds while cvxpy compiles and solves, and while its values are read.

    Warnings are errors here.
    """
    declared = declare("svm.soft.dual", sample_problem("svm.soft"))

    def recover(answered: Declaration) -> CanonicalPoint:
        # A value of cvxpy overflows like this product.
        np.multiply(np.array([1e300]), 1e300)
        return declared.to_canonical(answered)

    answer = solve_declaration(replace(declared, to_canonical=recover), "CLARABEL")
    assert answer.status is Status.OPTIMAL


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("hard", [True, False])
def test_kernel_values_that_underflow_are_no_division_by_zero(loss: Any, hard: bool) -> None:
    """Their mean is the unit of SMO; 1e-308 / 1e66 is 0."""
    if hard and loss == "squared_hinge":
        return
    X, y = [[1e-154], [-3e-154], [2e-154]], [1e66, -1e66, 2e66]
    settings: dict[str, Any] = (
        {"C": np.inf} if hard else {"C": 1.0, "sample_weight": [1.0, np.inf, 1.0]}
    )
    solution = solve(regression(X, y, epsilon=1.0, loss=loss, **settings), time_limit=1)
    assert solution.lower <= solution.upper
    assert solution.reason


@pytest.mark.parametrize(
    "made",
    [
        lambda: classification([[1.0], [-1.0], [2.0]], [1.0, -1.0, 1.0], C=1e308),
        lambda: regression([[1.0], [2.0]], [1e150, -1e150], C=1e200),
        lambda: ranking_vector_machine([[1.0], [-1.0], [2.0]], [0, 1, 2], C=1e308),
        lambda: classification([[1.0], [-1.0]], [1.0, -1.0]).with_cost(1e308),
        lambda: ranking_vector_machine([[1.0], [-1.0], [2.0]], [0, 1, 2]).with_cost(1e308),
    ],
)
def test_losses_that_add_up_beyond_float64_are_refused(made: Callable[[], Problem]) -> None:
    with pytest.raises(
        ValueError, match=r"C = 1e\+\d+ is too large for float64: \d losses of f = 0"
    ):
        made()


def test_an_exponent_beyond_float64_is_an_entry_of_0() -> None:
    """gamma |x - z|^2 overflows; warnings are errors here."""
    problem = classification([[1e153], [-1e153]], [1.0, -1.0], kernel=rbf(1e184))
    assert np.array_equal(problem.gram.dense, np.eye(2))


@pytest.mark.parametrize("solver", ["linear_program", "column_generation"])
def test_threads_of_native_code_keep_numpys_settings(solver: str) -> None:
    """The prices of these points overflow in the thread of HiGHS."""
    problem = ranking_vector_machine(
        [[1e153, 1.0], [-1e153, 2.0], [3e152, -1.0]], [0, 1, 2], C=1e200
    )
    solution = solve(problem, solver, time_limit=2)
    assert solution.lower <= solution.upper


def test_a_weight_that_makes_losses_too_large_is_named() -> None:
    with pytest.raises(
        ValueError, match=r"C = 1 times the weight 1e\+308 is too large for float64: 2 losses"
    ):
        ranking_from_pairs(np.eye(3), [[0, 1], [1, 2]], pair_weight=[1e308, 1.0])


@pytest.mark.parametrize("scale", [0.0, 1e-300, 1e-160, 1.0, 1e150, 1e200, 1e305])
@pytest.mark.parametrize("odd", [None, np.nan, np.inf, -np.inf])
def test_the_largest_entry_is_no_smaller_than_any_and_finite_where_all_are(
    scale: float, odd: float | None
) -> None:
    """Squares of the entries may overflow or underflow; features may be sparse."""
    X = scale * np.random.default_rng(0).uniform(-1.0, 1.0, (5, 4))
    largest = float(np.abs(X).max())
    if odd is not None:
        X[3, 2] = odd
    for features in (X, sparse.csr_array(X), X.T):
        found = largest_entry(features)
        assert np.isfinite(found) if odd is None else not np.isfinite(found)
        assert odd is not None or largest * (1 - 1e-12) <= found <= 5 * largest
