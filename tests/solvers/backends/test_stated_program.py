"""cvxpy problems as programs in rational numbers, and the effect of cvxpy's own bounds."""

from __future__ import annotations

import re
import warnings
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

from equimargin.formulations.declarations.formulation import declare
from equimargin.formulations.problem.construct import classification
from equimargin.formulations.programs import compile_program
from equimargin.formulations.programs.standard_form import with_stated_bounds
from equimargin.solvers import BACKENDS, exact_optimum
from equimargin.solvers.exact.program import Infeasible, Optimum, program_optimum
from equimargin.solvers.interrupt import interruptible
from places import example

X, Y = np.array([[0.0], [1.0], [3.0]]), np.array([-1.0, 1.0, -1.0])


@pytest.mark.parametrize("id", ["svm.soft.primal", "svm.soft.dual"])
def test_a_declaration_has_the_optimum_of_its_family(id: str) -> None:
    problem = classification(X, Y, C=2.0)
    declaration = declare(id, problem)
    program = compile_program(declaration.problem)
    outcome = program_optimum(program)
    assert isinstance(outcome, Optimum)
    assert program.stated(outcome.value) == exact_optimum(problem).value
    assert set(declaration.variables) <= set(program.columns)


def test_columns_are_where_the_values_are() -> None:
    x, Z = cp.Variable(2, name="x", nonneg=True), cp.Variable((2, 2), name="Z")
    lost = cp.sum_squares(x - np.array([1, 2])) + cp.sum_squares(Z - np.array([[1, 2], [3, 4]]))
    program = compile_program(cp.Problem(cp.Maximize(3 - lost), [x <= 1.5]))
    outcome = program_optimum(program)
    assert isinstance(outcome, Optimum)
    assert program.stated(outcome.value) == Fraction(11, 4)
    assert list(map(float, outcome.x[program.columns["x"]])) == [1, 1.5]
    assert list(map(float, outcome.x[program.columns["Z"]])) == [1, 3, 2, 4]


def test_what_is_no_such_program_is_refused_with_the_reason() -> None:
    x, S, k = cp.Variable(2, name="x"), cp.Variable((2, 2), PSD=True), cp.Variable(integer=True)
    for problem, message in (
        (cp.Problem(cp.Minimize(cp.sum(cp.exp(x)))), "exp"),
        (cp.Problem(cp.Minimize(cp.trace(S))), "psd"),
        (cp.Problem(cp.Minimize(cp.square(k))), "integer or boolean variables"),
        (cp.Problem(cp.Maximize(cp.sum_squares(x))), "does not compile"),
        (cp.Problem(cp.Minimize(cp.sum(x)), [cp.FiniteSet(x, [1, 2])]), "to integer variables"),
        (
            cp.Problem(cp.Minimize(cp.sum(x)), [x >= cp.Parameter(name="low")]),
            "parameter low of the problem must have a value",
        ),
        (cp.Problem(cp.Minimize(cp.sum_squares(cp.Variable(0)))), "does not compile"),
    ):
        with pytest.raises(ValueError, match=message):
            compile_program(problem)
    with pytest.raises(ValueError, match="same name"):
        compile_program(
            cp.Problem(cp.Minimize(cp.sum_squares(x) + cp.sum_squares(cp.Variable(2, name="x"))))
        )


@pytest.mark.parametrize("kind", [cp.Minimize, cp.Maximize])
def test_a_problem_without_variables_is_a_program(kind: type[cp.Minimize | cp.Maximize]) -> None:
    program = compile_program(cp.Problem(kind(cp.Constant(3.5)), [cp.Constant(1) <= 2]))
    outcome = program_optimum(program)
    assert isinstance(outcome, Optimum)
    assert program.stated(outcome.value) == Fraction(7, 2)
    assert not program.columns
    assert isinstance(
        program_optimum(compile_program(cp.Problem(kind(3), [cp.Constant(1) <= 0]))), Infeasible
    )


def test_highs_gets_no_bounds_that_nobody_stated() -> None:
    problem = example("cvxpy_bounds").hinge()
    with warnings.catch_warnings():
        # The warning is the product 0 times inf that makes the wrong bounds.
        warnings.simplefilter("ignore")
        data, chain, inverse = problem.get_problem_data("HIGHS", solver_opts={})
    problem.unpack_results(
        chain.solve_via_data(problem, with_stated_bounds(problem, data, chain), False, False, {}),
        chain,
        inverse,
    )
    outcome = program_optimum(compile_program(example("cvxpy_bounds").hinge()))
    assert isinstance(outcome, Optimum)
    assert problem.value == pytest.approx(1.0)
    assert outcome.value == 1


def test_the_report_of_wrong_bounds_runs(capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        example("cvxpy_bounds").main()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "CLARABEL  1.000000"
    assert re.fullmatch(r"HIGHS +[0-9.]+", lines[3])
    assert lines[-1] == "exactly   1"


def hinges() -> dict[str, cp.Expression]:
    """Return losses of an affine expression of free variables, each with a lower bound.

    They cover the atoms that cvxpy has for them.
    """
    table = np.array([[1.0, 0.0, 2.0], [-1.0, 3.0, 0.0], [0.0, -2.0, 1.0], [2.0, 1.0, -1.0]])
    w, b = cp.Variable(3, name="w"), cp.Variable(name="b")
    short = 1 - cp.multiply([1.0, -1.0, 2.0, -2.0], table @ w + b)
    norm = cp.norm1(w) / 4
    return {
        "pos": cp.sum(cp.pos(short)) + norm,
        "neg": cp.sum(cp.neg(-short)) + norm,
        "abs": cp.sum(cp.abs(short)) + norm,
        "maximum": cp.sum(cp.maximum(short, -2 * short)) + norm,
        "minimum": norm - cp.sum(cp.minimum(-short, 0)),
        "norm_inf": cp.norm_inf(short) + norm,
        "norm1": cp.norm1(short) + norm,
        "tv": cp.tv(w) + cp.sum(cp.pos(short)),
        "ptp": cp.ptp(short) + cp.sum(cp.abs(w - 1)),
        "square": cp.sum_squares(cp.pos(short)) + norm,
    }


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
# The warning is the product 0 times inf that makes the wrong bounds.
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("loss", hinges())
def test_every_backend_has_the_exact_optimum_of_every_kind_of_hinge(
    loss: str, backend: str
) -> None:
    """HiGHS with the bounds that cvxpy derives is wrong on seven of these ten."""
    problem, entry = cp.Problem(cp.Minimize(hinges()[loss])), BACKENDS[backend]
    outcome = program_optimum(compile_program(problem))
    assert isinstance(outcome, Optimum)
    options = entry.options(1e-8, 60.0, None)
    data, chain, inverse = problem.get_problem_data(backend, solver_opts=dict(options))
    data = with_stated_bounds(problem, data, chain)
    # A separate thread is needed: HiGHS 1.16 refuses a number of threads other than
    # that of its first run in a thread.
    raw = interruptible(lambda: chain.solve_via_data(problem, data, False, False, dict(options)))
    problem.unpack_results(raw, chain, inverse)
    assert problem.objective.args[0].value == pytest.approx(
        float(outcome.value), rel=1e-5, abs=1e-6
    )


def test_highs_keeps_the_bounds_that_are_stated() -> None:
    x = cp.Variable(2, name="x", bounds=[-1.0, 2.0])
    problem = cp.Problem(cp.Minimize(cp.sum(cp.abs(x - 3))))
    data, chain, _ = problem.get_problem_data("HIGHS", solver_opts={})
    kept = with_stated_bounds(problem, data, chain)
    own = slice(data["param_prob"].var_id_to_col[x.id], data["param_prob"].var_id_to_col[x.id] + 2)
    assert (kept["lower_bounds"][own] == -1).all()
    assert (kept["upper_bounds"][own] == 2).all()
    assert np.isinf(np.delete(kept["lower_bounds"], np.r_[own])).all()
