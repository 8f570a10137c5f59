"""`explain`: contradictions, rays and intervals by name, row and line, and their refusals."""

from __future__ import annotations

import gzip
import json
from fractions import Fraction
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest
from typer.testing import CliRunner

from equimargin import bound, explain
from equimargin.cli.app import app
from equimargin.explanation import Explanation
from equimargin.formulations.programs.model_lines import find_lines
from equimargin.proofs import checker

RUN = CliRunner()
BAKERY = """\\ A bakery with too many orders
Maximize
 profit: 3 bread + 2 cake
Subject To
 flour: 2 bread
   + cake <= 10
 bread <= 50
 orders: bread >= 6
Bounds
 bread <= 100
 1 <= cake <= 9
End
"""
MPS = """NAME
ROWS
 N  cost
 G  need
 L  other
COLUMNS
    x         cost      1.0   need   1.0
    y         cost      1.0   need   1.0
    y         other     -1.0
RHS
    rhs       need      20.0
BOUNDS
 UP bnd       x         4.0
 UP bnd       y         5.0
ENDATA
"""


def write(folder: Path, text: str, name: str = "model.lp") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def titles(found: Explanation) -> list[str]:
    return [member.title for member in found.members]


def test_contradiction_is_named_by_row_bound_and_line(tmp_path: Path) -> None:
    found = explain(write(tmp_path, BAKERY))
    assert found.verdict == "infeasible"
    assert titles(found) == [
        "row flour (line 5)",
        "row orders (line 8)",
        "lower bound of cake (line 11)",
    ]
    assert [member.text for member in found.members] == [
        "2 bread + cake <= 10",
        "bread >= 6",
        "cake >= 1",
    ]
    assert [member.weight for member in found.members] == [1, -2, -1]
    assert found.excess == 3
    assert found.violation == 0.75
    assert found.members[0].point == {"bread": Fraction(6), "cake": Fraction(1)}


def test_bounds_of_an_mps_file_against_a_row(tmp_path: Path) -> None:
    for path in (write(tmp_path, MPS, "model.mps"), tmp_path / "model.mps.gz"):
        if path.suffix == ".gz":
            path.write_bytes(gzip.compress(MPS.encode()))
        assert titles(explain(path)) == [
            "row need (lines 4, 11)",
            "upper bound of x (line 13)",
            "upper bound of y (line 14)",
        ]


def test_default_bound_has_no_line(tmp_path: Path) -> None:
    found = explain(write(tmp_path, "Minimize\n c: x\nSubject To\n x + y <= -1\nEnd\n"))
    assert titles(found) == [
        "row HiGHS_R0 (line 4)",
        "lower bound of x (default of the format)",
        "lower bound of y (default of the format)",
    ]


def test_lines_of_bounds_of_every_form(tmp_path: Path) -> None:
    bounds = "Bounds\n x >= 1\n 2 <= y\n -1 <= z <= 3\n u = 4\n v free\n -inf <= w <= 2\nEnd\n"
    lines = find_lines(write(tmp_path, f"Minimize\n c: x\nst\n r: x + y >= 0\n{bounds}"))
    assert lines == {
        ("row", "r"): (4,),
        ("lower bound", "x"): (6,),
        ("lower bound", "y"): (7,),
        ("lower bound", "z"): (8,),
        ("upper bound", "z"): (8,),
        ("lower bound", "u"): (9,),
        ("upper bound", "u"): (9,),
        ("lower bound", "w"): (11,),
        ("upper bound", "w"): (11,),
    }


def test_both_ends_of_a_range_are_distinguished(tmp_path: Path) -> None:
    text = MPS.replace(" UP bnd       x         4.0", " LO bnd       x         24.0").replace(
        "BOUNDS", "RANGES\n    rng       need      3.0\nBOUNDS"
    )
    (row, *bounds) = explain(write(tmp_path, text, "model.mps")).members
    assert row.lines == (4, 11, 13)
    assert row.text == "x + y <= 23"
    assert row.weight > 0
    assert {member.kind for member in bounds} == {"lower bound"}


@pytest.mark.parametrize("sense", ["Minimize", "Maximize"])
def test_unbounded_objective_has_a_ray_and_a_point(tmp_path: Path, sense: str) -> None:
    sign = "" if sense == "Maximize" else "- "
    text = f"{sense}\n c: {sign}x + 0 y\nSubject To\n r: x - y <= 3\n s: y >= 2\nEnd\n"
    found = explain(write(tmp_path, text))
    assert found.verdict == "unbounded"
    assert found.ray["x"] > 0
    assert found.ray["x"] <= found.ray["y"]
    assert found.point["y"] >= 2
    assert found.rate == (1 if sense == "Maximize" else -1) * found.ray["x"]
    assert "infinity" not in found.text


def test_curved_direction_of_a_quadratic_objective_is_no_ray(tmp_path: Path) -> None:
    text = "Minimize\n c: - x - y + [ x^2 ] / 2\nSubject To\n r: x - y <= 3\nEnd\n"
    assert set(explain(write(tmp_path, text)).ray) == {"y"}
    bounded = explain(write(tmp_path, text.replace("[ x^2 ]", "[ x^2 + y^2 ]")))
    assert bounded.verdict == "feasible and bounded"
    assert bounded.lower <= -1.0 <= bounded.upper


def test_maximum_of_a_bounded_program_is_in_its_interval(tmp_path: Path) -> None:
    found = explain(write(tmp_path, BAKERY.replace(">= 6", ">= 2")))
    assert found.verdict == "feasible and bounded"
    assert found.lower <= 18.0 <= found.upper
    assert found.upper - found.lower < 1e-4
    with pytest.raises(ValueError, match="bound --certificate"):
        found.certificate()


def test_contradiction_below_the_tolerance_of_solvers_is_found(tmp_path: Path) -> None:
    text = f"Minimize\n c: x\nSubject To\n a: x <= 1\n b: x >= {1 + 2**-30!r}\nEnd\n"
    found = explain(write(tmp_path, text))
    assert titles(found) == ["row a (line 4)", "row b (line 5)"]
    assert found.excess == Fraction(1, 2**30)
    assert "a solver with a tolerance of 1e-06 may return a point" in found.float64


def test_contradiction_of_rounded_decimals_is_said_to_be_one(tmp_path: Path) -> None:
    text = "Minimize\n c: x\nSubject To\n r: x + y = 0.8\nBounds\n x <= 0.1\n y <= 0.7\nEnd\n"
    found = explain(write(tmp_path, text))
    assert found.verdict == "infeasible"
    assert "float64 does not decide that" in found.float64
    assert "with 0.1 read as 1/10, these constraints have a common point" in found.float64
    clear = explain(write(tmp_path, text.replace("0.8", "0.9")))
    assert "1/10" not in clear.float64


def test_scales_name_the_smallest_and_largest_numbers(tmp_path: Path) -> None:
    text = "Minimize\n c: 5 x + 7000 y\nSubject To\n r: 0.001 x + 20 y >= 3\nEnd\n"
    scales = {scale.part: scale for scale in explain(write(tmp_path, text)).scales}
    assert set(scales) == {"matrix", "right-hand sides", "costs"}
    assert (scales["matrix"].smallest, scales["matrix"].largest) == (0.001, 20.0)
    assert scales["matrix"].smallest_place == "row r, x"
    assert scales["costs"].ratio == 1400.0


def test_entries_of_cvxpy_constraints_are_named() -> None:
    y, t = cp.Variable((2, 2), name="y"), cp.Variable(name="t")
    problem = cp.Problem(cp.Minimize(t), [y <= 1, y[0, 1] + y[1, 0] >= 3, t >= 0])
    found = explain(problem)
    assert titles(found) == ["row c0[1, 0]", "row c0[0, 1]", "row c1"]
    assert found.members[2].text == "y[1, 0] + y[0, 1] >= 3"
    assert checker.check(json.dumps(found.certificate()).encode())


def test_linear_constraints_contradict_each_other_beside_a_cone() -> None:
    x = cp.Variable(2, name="x")
    contradictory = [cp.norm(x) <= 1, x[0] >= 5, x[0] <= 4]
    assert titles(explain(cp.Problem(cp.Minimize(x[1]), contradictory))) == ["row c1", "row c2"]
    found = explain(cp.Problem(cp.Minimize(x[1]), [cp.norm(x) <= 1, x[0] <= 5]))
    assert found.verdict == "feasible and bounded"
    free = cp.Variable(name="free")
    found = explain(cp.Problem(cp.Minimize(free), [cp.norm(x) <= 1]))
    assert found.verdict == "undecided"
    assert "no second-order cones" in found.reason


def test_cone_without_a_point_within_the_other_constraints_is_infeasible() -> None:
    x = cp.Variable(2, name="x")
    far = (cp.sum(x) >= 5).set_label("far")
    for radius in (3.0, 3.53):
        near = (cp.norm(x) <= radius).set_label("near")
        found = explain(cp.Problem(cp.Minimize(x[1]), [near, far]))
        assert found.verdict == "infeasible"
        assert "multipliers of near, far" in found.reason
        # cvxpy states near as |x| <= u and u <= radius; with t in all rows, it is t that
        # makes 2^0.5 (radius + 2 t) = 5 - t.
        least = (5 - 2**0.5 * radius) / (1 + 2 * 2**0.5)
        assert least * (1 - 1e-3) < found.violation < least * (1 + 1e-12)
    with pytest.raises(ValueError, match="replace the cones by inequalities"):
        found.certificate()
    feasible = explain(cp.Problem(cp.Minimize(x[1]), [cp.norm(x) <= 3.54, far]))
    assert feasible.verdict == "feasible and bounded"


def test_time_that_does_not_suffice_is_said(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    A = rng.normal(size=(60, 40))
    x = cp.Variable(40, name="x")
    found = explain(cp.Problem(cp.Minimize(x[0]), [A @ x <= -1]), seconds=1e-6)
    assert found.verdict in ("undecided", "infeasible")
    assert found.verdict == "infeasible" or "raise the limit" in found.reason


def test_refusals_name_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="1 integer or semicontinuous variable, and"):
        explain(write(tmp_path, BAKERY.replace("End", "General\n cake\nEnd")))
    with pytest.raises(ValueError, match="is empty"):
        explain(write(tmp_path, ""))
    with pytest.raises(ValueError, match="5 is no problem"):
        explain(5)
    with pytest.raises(ValueError, match="seconds must be a positive number"):
        explain(write(tmp_path, BAKERY), seconds=0)
    with pytest.raises(ValueError, match="integer or boolean variables"):
        explain(cp.Problem(cp.Minimize(cp.sum(cp.Variable(2, integer=True, name="i")))))


def test_program_that_is_not_convex_is_undecided(tmp_path: Path) -> None:
    found = explain(write(tmp_path, "Minimize\n c: [ - x^2 ] / 2\nSubject To\n r: x <= 3\nEnd\n"))
    assert found.verdict == "undecided"
    assert "not convex" in found.reason


@pytest.mark.parametrize(
    ("old", "new", "status", "said"),
    [
        ("", "", 1, "no point is feasible"),
        (">= 6", ">= 2", 0, ""),
        ("2 bread\n", "- bread\n", 1, ""),
    ],
)
def test_command_has_a_status_and_a_certificate(
    tmp_path: Path, old: str, new: str, status: int, said: str
) -> None:
    path = write(
        tmp_path, BAKERY.replace(old, new).replace("<= 100", ">= 0").replace("<= 50", ">= 0")
    )
    record, certificate = tmp_path / "r.json", tmp_path / "c.json"
    options = ["--certificate", str(certificate)] if status else []
    result = RUN.invoke(app, ["explain", str(path), "--json", str(record), *options])
    assert result.exit_code == status, result.output
    figures = json.loads(record.read_text())
    assert figures["verdict"] in result.output
    if status:
        assert "ACCEPTED" in RUN.invoke(app, ["verify", str(certificate)]).output
    assert said in RUN.invoke(app, ["verify", str(certificate)]).output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--time-limit", "0"], "--time-limit must be a positive number"),
        (["--certificate", "{folder}/none/c.json"], "cannot be written"),
    ],
)
def test_command_refuses_bad_options(tmp_path: Path, arguments: list[str], said: str) -> None:
    given = [part.format(folder=tmp_path) for part in arguments]
    result = RUN.invoke(app, ["explain", str(write(tmp_path, BAKERY)), *given])
    assert result.exit_code == 2
    assert said in result.output


def test_bound_points_to_explain(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="infeasible; that is not proven: `equimargin explain`"):
        bound(write(tmp_path, BAKERY))


@pytest.mark.parametrize("labels", [("a", "a"), ("c1", None), ("c0", "c0")])
def test_constraints_of_one_label_are_told_apart(labels: tuple[str, str | None]) -> None:
    y = cp.Variable(name="y")
    parts = [y >= 3, y <= 2]
    for part, label in zip(parts, labels, strict=True):
        if label is not None:
            part.set_label(label)
    found = explain(cp.Problem(cp.Minimize(y), parts))
    assert [member.name for member in found.members] == [labels[0], f"{labels[0]} (2)"]


def test_stated_bound_without_a_line_is_not_called_the_default(tmp_path: Path) -> None:
    text = "min\n x\nst\n a: x + y <= 4\nbounds\n x >= 5 y >= 2\nend\n"
    titles, refusal = list[str](), ""
    try:
        titles = [member.title for member in explain(write(tmp_path, text)).members]
    except ValueError as reason:
        refusal = str(reason)
    # Newer versions of HiGHS refuse two bounds in one line.
    assert titles[1:] == ["lower bound of x", "lower bound of y"] or "on its own line" in refusal
    default = "min\n x\nst\n a: x <= -1\nend\n"
    found = explain(write(tmp_path, default))
    assert found.members[1].title == "lower bound of x (default of the format)"


def test_printed_explanation_is_its_page(tmp_path: Path) -> None:
    found = explain(write(tmp_path, "min\n x\nst\n a: x <= -1\nend\n"))
    assert str(found) == found.text


@pytest.mark.parametrize("end", [np.inf, np.nan])
def test_numbers_that_are_not_finite_are_refused(end: float) -> None:
    y = cp.Variable(name="y")
    with pytest.raises(ValueError, match="inf or nan; mend it"):
        explain(cp.Problem(cp.Minimize(y), [y >= 1, y <= end]))


def test_certificate_of_a_contradiction_beside_cones_is_refused_with_a_remedy() -> None:
    x, y = cp.Variable(2, name="x"), cp.Variable(name="y")
    found = explain(cp.Problem(cp.Minimize(y), [cp.norm(x) <= 1, y >= 2, y <= 1]))
    assert found.verdict == "infeasible"
    with pytest.raises(ValueError, match="state the members alone as a linear program"):
        found.certificate()


def test_right_hand_side_without_the_name_of_its_set_has_a_line(tmp_path: Path) -> None:
    text = MPS.replace("    rhs       need      20.0", "    need      20.0   other   3.0")
    lines = find_lines(write(tmp_path, text, "model.mps"))
    assert (lines["row", "need"], lines["row", "other"]) == ((4, 11), (5, 11))


def test_page_is_wrapped_to_the_terminal_and_whole_in_a_pipe(tmp_path: Path) -> None:
    path = str(write(tmp_path, BAKERY))
    narrow, pipe = (
        RUN.invoke(app, ["explain", path], env={"COLUMNS": columns}).output
        for columns in ("60", None)
    )
    assert max(map(len, narrow.splitlines())) <= 60
    assert narrow.split() == pipe.split()
    assert pipe.splitlines()[0].endswith("in doubles")


def test_standard_output_has_the_record_alone(tmp_path: Path) -> None:
    result = RUN.invoke(app, ["explain", str(write(tmp_path, BAKERY)), "--json", "-"])
    record = json.loads(result.stdout)
    assert [member["lines"] for member in record["members"]] == [[5], [8], [11]]
    assert "flour" in result.stderr


def test_program_of_a_certificate_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "program.json"
    path.write_text(json.dumps(explain(write(tmp_path, BAKERY)).certificate()))
    found = explain(path)
    assert found.verdict == "infeasible"
    assert len(found.members) == 3
    assert {member.lines for member in found.members} == {()}
