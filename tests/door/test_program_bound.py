"""`bound`: intervals of model files and of cvxpy problems, and their refusals."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from cvxpy.tests import solver_test_helpers
from typer.testing import CliRunner

from equimargin import bound
from equimargin.cli.app import app
from equimargin.formulations.programs.model_file import read_model
from equimargin.solution_file import read_solution
from schema import faults

RUN = CliRunner()
MODEL = """NAME          QP
ROWS
 N  obj
 G  r1
 L  r2
COLUMNS
    x         r1        2.0   r2   -1.0
    x         obj       1.5
    y         r1        1.0   r2   2.0
    y         obj       -2.0
RHS
    rhs1      obj       -4.0
    rhs1      r1        2.0   r2   6.0
BOUNDS
 UP bnd1      x         20.0
QUADOBJ
    x         x         8.0
    x         y         2.0
    y         y         10.0
ENDATA
"""
"""CUTEst's example of the QPS format, with the optimum 8.371875 at (0.7625, 0.475)."""
OPTIMUM = 8.371875
MAXIMUM = "Maximize\n obj: 3 x + 2 y\nSubject To\n c1: x + y <= 4\n c2: x - y <= 3\nEnd\n"
"""Maximum 11.5 at (3.5, 0.5), with prices 2.5 and 0.5."""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.qps"
    path.write_text(MODEL)
    return path


def test_model_file_has_its_optimum_within_a_narrow_interval(model: Path) -> None:
    found = bound(model)
    assert found.lower <= OPTIMUM <= found.upper
    assert found.width <= 1e-9
    assert found.objective is None
    assert found.answer == ""


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_prices_of_either_sign_prove_the_interval(model: Path, sign: float) -> None:
    found = bound(str(model), x=[0.7625, 0.475], y={"r1": 4.275 * sign})
    assert found.width <= 1e-9
    assert found.objective == OPTIMUM
    assert found.violation == 0.0


def test_wrong_answer_is_far_from_a_true_interval(model: Path) -> None:
    found = bound(model, x=[5.0, 5.0], y=[100.0, 7.0])
    assert found.lower <= OPTIMUM <= found.upper
    assert found.objective == 276.5
    assert "at most 2.7e+02 from the optimum" in found.answer
    written = found.to_markdown()
    assert "the passed point has the objective 276.5, at most 2.7e+02 from" in written
    assert found.taken in written


def test_figures_of_a_point_are_rounded_up(model: Path) -> None:
    found = replace(bound(model), lower=0.0, upper=1.0, objective=1.11543e-6, violation=1.11e-6)
    assert "violates constraints by at most 1.2e-06" in found.answer
    near = replace(found, upper=1.11543e-6)
    assert "at most 1.2e-06 from the optimum" in near.answer


def test_a_bound_is_printed_with_ends_rounded_outward(model: Path) -> None:
    found = replace(bound(model, x=[5.0, 5.0]), lower=0.1 + 0.2, upper=1 / 3)
    assert "in [0.3, 0.333333333333334], relative width" in found.statement
    assert str(found) == f"{found.statement}\n{found.answer}"
    assert str(bound(model)) == bound(model).statement
    one = replace(found, upper=np.inf)
    assert "the optimum is at least 0.3, by" in one.statement


def test_a_problem_that_is_not_convex_is_refused_by_its_variables() -> None:
    x = cp.Variable(4, name="x")
    curved = cp.quad_form(x, cp.psd_wrap(np.diag([1.0, 1.0, -3.0, 1.0])))
    problem = cp.Problem(cp.Minimize(curved), [cp.abs(x) <= 1])
    with pytest.raises(ValueError, match=r"not convex: .* objective in x\[2\] is -6"):
        bound(problem)


def test_a_table_names_the_ways_that_proved_an_end(model: Path) -> None:
    found = replace(bound(model), lower=-np.inf, lower_by="nothing", upper_by="repair")
    assert found.figures["proven by"] == "repair"
    assert "nothing" not in found.to_markdown()


def test_maximum_keeps_its_sign_and_its_ends(tmp_path: Path) -> None:
    path = tmp_path / "model.lp"
    path.write_text(MAXIMUM)
    found = bound(path, x={"x": 3.5, "y": 0.5}, y={"c1": 2.5, "c2": 0.5})
    assert found.lower <= 11.5 <= found.upper
    assert found.width <= 1e-9
    assert found.objective == 11.5


def test_ranges_become_two_rows_with_multipliers_of_one_sign(tmp_path: Path) -> None:
    path = tmp_path / "model.mps"
    path.write_text(MODEL.replace("BOUNDS\n", "RANGES\n    g         r1        1.0\nBOUNDS\n"))
    model = read_model(path)
    assert not model.maximised
    assert model.rows == ("r1", "r2")
    assert model.form.h.tolist() == [3.0, 6.0, -2.0]
    assert model.multipliers(np.array([4.0, -0.5])).tolist() == [0.0, 0.5, 4.0]
    assert model.multipliers(np.array([-4.0, 0.5])).tolist() == [4.0, 0.0, 0.0]


@pytest.mark.parametrize("solver", ["CLARABEL", "SCS", "HIGHS"])
def test_answer_of_any_solver_gives_an_interval(solver: str) -> None:
    x = cp.Variable(3, name="x")
    A = np.arange(12.0).reshape(4, 3) ** 1.5
    problem = cp.Problem(cp.Minimize(cp.norm(A @ x - 1, 1) + cp.sum(x)), [x >= 0.1, x <= 5])
    problem.solve(solver=solver)
    found = bound(problem, solver=solver)
    assert found.lower <= found.upper
    assert found.width <= 1e-6
    assert found.objective == pytest.approx(problem.value)


def test_values_of_some_variables_are_no_point() -> None:
    x, y = cp.Variable(name="x"), cp.Variable(name="y")
    problem = cp.Problem(cp.Minimize(x), [x + y >= 1, y <= 2])
    x.value = 5.0
    found = bound(problem)
    assert found.objective is None
    assert found.answer == ""
    y.value = 1.0
    assert bound(problem).objective == 5.0


@pytest.mark.parametrize(
    ("rows", "x", "proven"),
    [
        ("c1: x - y = 1", 0.0, "neither end of an interval is proven"),
        ("c1: x - y = 1\n c2: x + 2 y <= 3", 0.0, "only one end is proven"),
        ("c1: x - y = 1\n c2: x + 2 y <= 3", 5.0, "the optimum is in [-7"),
    ],
)
def test_a_time_limit_that_ended_the_proof_is_said(
    tmp_path: Path, rows: str, x: float, proven: str
) -> None:
    path = tmp_path / "model.lp"
    path.write_text(f"Minimize\n obj: x + y\nSubject To\n {rows}\nEnd\n")
    cut = bound(path, {"x": x}, {"c1": 5.0}, seconds=1e-9)
    assert proven in cut.statement
    assert "the time limit ended the proof; raise `seconds`" in cut.statement
    assert "answer" not in cut.statement
    assert "time limit" not in bound(path, {"x": x}, {"c1": 5.0}).statement


CVXPY_PROBLEMS = (
    *(f"lp_{i}" for i in range(3)),
    *(f"qp_{i}" for i in range(1)),
    *(f"socp_{i}" for i in range(4)),
)
"""cvxpy's own test problems with an optimum."""


@pytest.mark.parametrize("name", CVXPY_PROBLEMS)
def test_expected_optimum_of_cvxpy_tests_is_inside(name: str) -> None:
    make = getattr(solver_test_helpers, name)
    case = make(axis=0) if name == "socp_3" else make()
    found = bound(case.prob)
    slack = 1e-6 * (1 + abs(case.expect_val))
    assert found.lower - slack <= case.expect_val <= found.upper + slack
    assert found.lower <= found.upper


def test_infeasible_problem_has_no_interval_of_a_solver() -> None:
    x = cp.Variable(name="x")
    with pytest.raises(ValueError, match="infeasible"):
        bound(cp.Problem(cp.Minimize(x), [x >= 1, x <= 0]))


@pytest.mark.parametrize(
    ("failure", "sentence"),
    [(None, "took more than 0.2 s, and was abandoned"), (OSError, "broken")],
)
def test_solver_that_hangs_or_raises_is_a_sentence(
    model: Path, monkeypatch: pytest.MonkeyPatch, failure: type[Exception] | None, sentence: str
) -> None:
    def compile(problem: cp.Problem, solver: str, solver_opts: Any) -> None:
        if failure is not None:
            raise failure("broken")
        Event().wait(timeout=2.0)

    monkeypatch.setattr(cp.Problem, "get_problem_data", compile)
    with pytest.raises(ValueError, match=sentence):
        bound(model, seconds=0.2)


def test_refusals_name_what_is_wrong(model: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="x has 3 numbers, and the model 2 variables"):
        bound(model, x=[1, 2, 3])
    with pytest.raises(ValueError, match="y names 'r9', which is none of the rows"):
        bound(model, y={"r9": 1.0})
    with pytest.raises(ValueError, match="unknown solver 'CLARABLE'"):
        bound(model, solver="CLARABLE")
    with pytest.raises(ValueError, match="no model file that is known by its suffix"):
        bound(tmp_path / "model.txt")
    with pytest.raises(OSError, match="missing"):
        bound(tmp_path / "missing.mps")
    indefinite = tmp_path / "indefinite.qps"
    indefinite.write_text(MODEL.replace("8.0\n", "-8.0\n"))
    with pytest.raises(ValueError, match=r"not convex: the second derivative .* in x is -8"):
        bound(indefinite)
    indefinite.write_text(MODEL.replace("2.0\n    y         y", "20.0\n    y         y"))
    with pytest.raises(ValueError, match="not convex in x, y: P is not positive semidefinite"):
        bound(indefinite)
    integer = tmp_path / "integer.lp"
    integer.write_text(MAXIMUM.replace("End", "General\n x\nEnd"))
    with pytest.raises(ValueError, match="1 integer or semicontinuous variable, and"):
        bound(integer)
    broken = tmp_path / "broken.mps"
    broken.write_text("ROWS\n nonsense")
    with pytest.raises(ValueError, match="is no MPS file that HiGHS reads"):
        bound(broken)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("x         r1", "x         r9", 'Row name "r9" in COLUMNS section is not defined'),
        ("-1.0\n", "1e-13\n", "1e-12: ignored"),
        ("1.5\n", "1.5\n    x         r1        3.0\n", "duplicate nonzero"),
        ("8.0\n", "8.0\n    y         x         2.0\n", "duplicate"),
        ("-1.0\n", "nan\n", "has a nan"),
        ("1.5\n", "inf\n", "a number that is not finite"),
        ("RHS\n", "HS\n", "names with spaces, or words out of place"),
        ("QUADOBJ\n", "QCMATRIX   r2\n", "Quadratic rows not supported"),
        (MODEL, "", "is empty"),
        (MODEL, "NAME\nROWS\nCOLUMNS\nRHS\nENDATA\n", "has no variables"),
    ],
)
def test_file_that_highs_would_read_only_in_part_is_refused(
    model: Path, old: str, new: str, message: str
) -> None:
    model.write_text(MODEL.replace(old, new, 1))
    with pytest.raises(ValueError, match=message):
        bound(model)


def test_small_and_large_coefficients_are_kept(model: Path) -> None:
    model.write_text(MODEL.replace("-1.0\n", "-1e-11\n").replace("2.0   r2", "2e16   r2", 1))
    entries = read_model(model).form.G.toarray()
    assert {-1e-11, -2e16} <= set(entries.ravel().tolist())


def test_packed_file_is_read_and_a_damaged_one_refused(model: Path, tmp_path: Path) -> None:
    packed, whole = tmp_path / "model.QPS.gz", gzip.compress(MODEL.encode())
    packed.write_bytes(whole)
    assert read_model(packed).form.q.tolist() == read_model(model).form.q.tolist()
    packed.write_bytes(whole[:60])
    with pytest.raises(ValueError, match="is a damaged gzip file"):
        bound(packed)


def test_names_may_be_of_latin_1(model: Path) -> None:
    text = MODEL.replace("x   ", "\xe9   ")
    model.write_bytes(text.encode("latin-1"))
    assert read_model(model).columns == ("\xe9", "y")
    model.write_bytes(text.replace("20.0", "2.0\n UP bnd1 \xe9 20.0").encode("latin-1"))
    with pytest.raises(ValueError, match='Column name "\xe9" in BOUNDS'):
        read_model(model)


def test_prices_are_not_the_statuses_of_a_basis(tmp_path: Path) -> None:
    path = tmp_path / "s.sol"
    path.write_text(
        f"{SOLUTION}\n# Basis\nHiGHS_basis_file v2\nValid\n# Columns 2\nx 1\ny 1\n"
        "# Rows 2\nr1 2\nr2 2\n"
    )
    assert read_solution(path) == ({"x": 0.7625, "y": 0.475}, {"r1": 4.275, "r2": 0.0})


@pytest.mark.parametrize("style", [1, 2, 3])
def test_solution_without_names_or_digits_is_refused(
    tmp_path: Path, model: Path, style: int
) -> None:
    import highspy

    solver: Any = vars(highspy)["Highs"]()
    path = tmp_path / "s.sol"
    solver.silent()
    # HiGHS does not know the suffix .qps.
    solver.readModel(str(model.rename(model.with_suffix(".mps"))))
    solver.run()
    solver.writeSolution(str(path), style)
    with pytest.raises(ValueError, match="write_solution_style = 0"):
        read_solution(path)


@pytest.mark.parametrize(
    "x", ['"34"', "[[1]]", "1" + 400 * "0", f"[1{400 * '0'}]", "[1" + "0" * 5000]
)
def test_json_without_numbers_is_refused(tmp_path: Path, x: str) -> None:
    path = tmp_path / "s.json"
    path.write_text(f'{{"x": {x}}}')
    with pytest.raises(ValueError, match=r"s\.json"):
        read_solution(path)


def test_value_that_is_no_number_is_refused(tmp_path: Path, model: Path) -> None:
    path = tmp_path / "s.sol"
    for lines in ("Status Optimal\nx 1\ny 0,475\n", "# Status: Optimal\n\ny 0,475\nx 1\n"):
        path.write_text(lines)
        with pytest.raises(ValueError, match=r"line 3 of .*s\.sol gives y the value '0,475'"):
            read_solution(path)
    with pytest.raises(ValueError, match="not finite, nan for y; give finite numbers"):
        bound(model, x=[0.0, float("nan")])


def test_broken_model_is_named_by_its_own_name(tmp_path: Path) -> None:
    path = tmp_path / "mine.lp"
    path.write_text("hello\n")
    with pytest.raises(ValueError, match=r"mine\.lp") as raised:
        bound(path)
    # HiGHS reads a copy of another name, which its messages give from version 1.16 on.
    assert "model.lp" not in str(raised.value)


def test_missing_file_and_folder_are_sentences(tmp_path: Path, model: Path) -> None:
    typo = model.with_name("x" + model.name)
    for path, sentence in (
        (typo, f"{typo} does not exist (there is {model}); check the name"),
        (tmp_path / "no" / "m.lp", "m.lp does not exist, nor does its folder; check the name"),
    ):
        result = RUN.invoke(app, ["bound", str(path)])
        assert result.exit_code == 2
        assert sentence in result.output
    result = RUN.invoke(app, ["bound", str(model), "--solution", str(tmp_path)])
    assert f"{tmp_path} is a folder; name a file" in result.output


def test_no_proof_and_no_problem_are_said() -> None:
    x = cp.Variable(2, name="x")
    found = bound(cp.Problem(cp.Minimize(cp.sum(x)), [x >= 0, cp.norm(x) <= 0]))
    assert "nothing" not in found.statement
    with pytest.raises(ValueError, match="5 is no problem"):
        bound(5)


SOLUTION = """Model status
Optimal

# Primal solution values
Feasible
Objective 8.371875
# Columns 2
x 0.7625
y 0.475
# Rows 2
r1 2
r2 0.1875

# Dual solution values
Feasible
# Columns 2
x 0
y 0
# Rows 2
r1 4.275
r2 0
"""


@pytest.mark.parametrize(
    "text",
    [
        SOLUTION,
        '{"x": [0.7625, 0.475], "y": {"r1": 4.275}}',
        "# Objective value: 8.4\nx 0.7625\ny 0.475\n",
    ],
)
def test_command_writes_a_certificate_that_verify_accepts(
    model: Path, tmp_path: Path, text: str
) -> None:
    solution, certificate, record = (tmp_path / name for name in ("s.sol", "c.json", "r.json"))
    solution.write_text(text)
    options = ["--solution", solution, "--certificate", certificate, "--json", record]
    result = RUN.invoke(app, ["bound", str(model), *map(str, options)])
    assert result.exit_code == 0, result.output
    assert "the optimum is in [8.37187" in result.output
    assert "the passed point has the objective 8.371875" in result.output
    figures = json.loads(record.read_text())
    assert not list(faults(figures, "bound"))
    assert figures["lower"] <= OPTIMUM <= figures["upper"]
    assert "ACCEPTED" in RUN.invoke(app, ["verify", str(certificate)]).output


def test_command_refuses_an_empty_solution(model: Path, tmp_path: Path) -> None:
    solution = tmp_path / "s.sol"
    solution.write_text("no numbers\n")
    result = RUN.invoke(app, ["bound", str(model), "--solution", str(solution)])
    assert result.exit_code == 2
    assert "has no values" in result.output


CONE: dict[str, Any] = {
    "schema": "equimargin-certificate/2",
    "problem": {
        "P": [[0, 0, 1], [1, 1, 1]],
        "q": [3, 4],
        "c": 0,
        "A": [],
        "b": [],
        "G": [[1, 0, -1], [2, 1, -1]],
        "h": [1, 0, 0],
        "cones": [3],
    },
}
"""min 1/2 |x|^2 + (3, 4)'x  s.t.  |x| <= 1, with the optimum -4.5 and prices (4, 2.4, 3.2)."""


@pytest.fixture
def stated(tmp_path: Path) -> Path:
    path = tmp_path / "program.json"
    path.write_text(json.dumps(CONE))
    return path


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_program_of_a_certificate_has_its_optimum_inside(stated: Path, sign: float) -> None:
    prices = {"r0": 4.0 * sign, "r1": 2.4 * sign, "r2": 3.2 * sign}
    for found in (bound(stated), bound(stated, x=[-0.6, -0.8], y=prices)):
        assert found.lower <= -4.5 <= found.upper
        assert found.width <= 1e-8
        assert found.taken == "the program is that of the file"


def test_certificate_of_a_model_is_a_model(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(json.dumps(bound(model).certificate()))
    found = bound(path)
    assert found.lower <= OPTIMUM <= found.upper
    assert found.width <= 1e-9
    result = RUN.invoke(app, ["bound", str(path), "--solver", "HIGHS", "--solver", "CLARABEL"])
    assert result.exit_code == 0, result.output


def test_numbers_of_a_program_are_rounded_to_doubles(stated: Path) -> None:
    problem = CONE["problem"] | {"c": "1/3"}
    stated.write_text(json.dumps(CONE | {"problem": problem}))
    found = bound(stated)
    assert found.lower <= -4.5 + 1 / 3 <= found.upper
    assert found.taken == "the program is that of the file, rounded to doubles"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"schema": "equimargin-certificate/1"}, "its schema is not equimargin-certificate/2"),
        ({"problem": None}, "there must be an object with the keys P q"),
        ({"problem": CONE["problem"] | {"c": 10**400}}, "too large"),
        ({"problem": CONE["problem"] | {"q": [], "P": [], "G": []}}, "it has no variables"),
    ],
)
def test_object_without_a_program_is_refused(
    stated: Path, change: dict[str, Any], reason: str
) -> None:
    stated.write_text(json.dumps(CONE | change))
    with pytest.raises(ValueError, match=f"states no program in float64: .*{reason}.*; give a"):
        bound(stated)


def test_cones_that_are_refused_have_a_remedy() -> None:
    x, X = cp.Variable(name="x"), cp.Variable((2, 2), symmetric=True, name="X")
    for objective, remedy in ((cp.exp(x), "exp, log"), (cp.lambda_max(X), "semidefinite")):
        with pytest.raises(ValueError, match=f"state it without {remedy}"):
            bound(cp.Problem(cp.Minimize(objective)))


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan")])
def test_time_limit_that_is_not_positive_is_refused(model: Path, seconds: float) -> None:
    with pytest.raises(ValueError, match="seconds must be a positive number"):
        bound(model, seconds=seconds)
