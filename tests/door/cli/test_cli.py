"""Command line: output, refusals, exit status and imported modules."""

from __future__ import annotations

import csv
import json
import os
import pickle
import re
import subprocess
import sys
from importlib import import_module
from inspect import getdoc
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import joblib
import numpy as np
import pytest
import typer
from joblib.externals.loky.process_executor import TerminatedWorkerError
from typer.testing import CliRunner

from equimargin import __version__
from equimargin.cli.app import app
from equimargin.cli.commands import warm_up
from equimargin.cli.options.posing import ProblemFields, make_kernel
from equimargin.cli.options.reading import ReadFields
from equimargin.cli.options.requests import with_requests
from equimargin.data import load
from equimargin.estimators import MarginClassifier
from equimargin.formulations.numeric import jit
from equimargin.solvers import SOLVERS
from places import ROOT

RUN = CliRunner()
QUADRATIC = ("--kernel", "poly", "--degree", "2", "--gamma", "1", "--coef0", "1")
"""Kernel for which four points of XOR have the optimum 0.25."""


def compare(*arguments: str) -> tuple[int, str]:
    """Return the exit status and the complete output of `equimargin compare --wide`."""
    result = RUN.invoke(app, ["compare", "--wide", *arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def refusal(*arguments: str) -> str:
    """Return the one sentence of a refused comparison."""
    status, output = compare(*arguments)
    assert status == 2, output
    assert "Traceback" not in output
    return output


def test_xor_agrees_at_a_quarter() -> None:
    status, output = compare("xor", *QUADRATIC)
    assert status == 0, output
    assert "verdict: AGREE" in output
    assert output.count("0.25") >= 5


def test_controls_that_disagree_change_no_exit_status() -> None:
    status, output = compare("xor", *QUADRATIC, "-C", "0.1", "--include-controls")
    assert status == 0, output
    assert "svm.soft.dual.as_printed (control)" in output
    assert "disagrees" in output


def test_a_control_asked_for_by_name_is_run() -> None:
    status, _ = compare("xor", *QUADRATIC, "-C", "0.1", "--formulation", "svm.soft.dual.as_printed")
    assert status == 4


def test_a_control_is_known_in_any_case() -> None:
    status, _ = compare("xor", *QUADRATIC, "-C", "0.1", "--formulation", "SVM.Soft.Dual.As_Printed")
    assert status == 4


def test_families_without_a_chosen_formulation_are_left_out() -> None:
    status, output = compare("xor", "--formulation", "svm.soft.dual")
    assert status == 0, output
    assert output.count("verdict") == 1


def test_a_full_disk_is_named() -> None:
    output = RUN.invoke(
        app, ["compare", "xor", "--family", "svm.soft", "--solver", "smo", "--json", "/dev/full"]
    ).output
    assert "No space left on device: '/dev/full'" in output


def test_too_little_memory_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object, **more: object) -> None:
        raise MemoryError("Unable to allocate 3.73 GiB")

    monkeypatch.setattr("equimargin.cli.commands.path._problem", fail)
    result = RUN.invoke(app, ["path", "xor"])
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
    assert "there is not enough memory (Unable to allocate 3.73 GiB)" in result.stderr


def test_one_declaration_alone_is_undecided() -> None:
    status, output = compare("xor", "--formulation", "svm.soft.dual", "--solver", "CLARABEL")
    assert status == 4, output
    assert "UNDECIDED" in output


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--solver", "smo"], "no declaration was requested; one specialised solver agrees"),
        (
            ["--solver", "smo", "--solver", "huber"],
            "no declaration was requested; 2 specialised solvers agree",
        ),
        # A third solver may wait for the compilation of its code.
        (["--formulation", "svm.l2.*"], "no declaration was requested; "),
        (
            ["--solver", "SCS", "--formulation", "svm.soft.dual"],
            "one declaration agrees; no specialised solver was requested",
        ),
    ],
)
def test_what_a_user_left_out_is_no_property_of_the_problem(
    arguments: list[str], reason: str
) -> None:
    """The problem is declarable and has a solver; the verdict names what was excluded."""
    status, output = compare("xor", "--family", "svm.soft", *arguments)
    assert status == 4, output
    assert f"verdict: UNDECIDED - {reason}" in output


def test_nothing_solved_is_exit_three() -> None:
    status, output = compare("diabetes_ranking_full", "--solver", "CLARABEL", "--family", "rank.l1")
    assert status == 3, output
    assert "too large to declare: 97,090 rows, the limit is 20,000" in output


def test_no_pairs_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "flat.txt"
    path.write_text("1 qid:1 1:0.5\n1 qid:1 1:0.7\n2 qid:2 1:0.1\n")
    status, output = compare(str(path))
    assert status == 0
    assert "nothing to rank" in output


def test_sigmoid_claims_no_optimum_of_a_quadratic_program() -> None:
    """Optima of one-norm machines are those of linear programs, with any kernel."""
    families = ("svm.soft", "svm.l2", "svm.nobias", "svm.nobias_l2")
    status, output = compare(
        "xor",
        "--kernel",
        "sigmoid",
        "--solver",
        "CLARABEL",
        *(word for id in families for word in ("--family", id)),
    )
    assert status == 3
    assert "not positive semidefinite" in output


def test_records_are_finite_and_complete(tmp_path: Path) -> None:
    as_json, as_csv = tmp_path / "out.json", tmp_path / "out.csv"
    status, output = compare(
        "diabetes_ranking",
        "--sample",
        "20",
        "--json",
        str(as_json),
        "--csv",
        str(as_csv),
        "--solver",
        "*L*",
    )
    assert status == 0, output
    found = json.loads(as_json.read_text())
    assert found["schema"] == 2
    assert found["agree"] is True
    assert {family["family"] for family in found["families"]} == {
        "rank.l1",
        "rank.l2",
        "rank.onenorm",
        "rvm",
    }
    for family in found["families"]:
        parts = ("agreeing", "inaccurate", "disagreements", "failures", "skipped")
        assert family["answers"] == sum(family[name] for name in parts)
        assert family["lower"] <= family["upper"]
    for answer in found["answers"]:
        if answer["agreement"] == "agrees":
            assert answer["claim"] <= 1e-6
            assert answer["lower"] <= answer["upper"]
    assert found["settings"]["tol"] == 1e-8
    rows = list(csv.DictReader(as_csv.read_text().splitlines()))
    assert [row["solver"] for row in rows] == [answer["solver"] for answer in found["answers"]]
    assert not list(tmp_path.glob(".equimargin-*"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        (
            "compare",
            "xor",
            "--solver",
            "CLARABEL",
            "--solver",
            "smo",
            "--family",
            "svm.soft",
            "--json",
            "-",
        ),
        ("path", "xor", "--lambda-min", "0.01", "--json", "-"),
    ],
    ids=["compare", "path"],
)
def test_a_hyphen_is_standard_output_and_nothing_else_is_printed_there(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = RUN.invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["schema"] == 2
    assert result.stdout.endswith("}\n")
    assert "xor: classification, 4 rows" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_one_record_goes_to_standard_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    chosen = (
        "compare",
        "xor",
        "--solver",
        "smo",
        "--family",
        "svm.soft",
        "--certify",
        str(tmp_path / "proofs"),
    )
    result = RUN.invoke(app, [*chosen, "--csv", "-", "--json", "out.json"])
    assert [row["solver"] for row in csv.DictReader(result.stdout.splitlines())] == ["smo"]
    assert json.loads(Path("out.json").read_text())["answers"][0]["solver"] == "smo"
    assert "svm.soft: certificate" in result.stderr
    both = RUN.invoke(app, [*chosen, "--csv", "-", "--json", "-"])
    assert (both.exit_code, both.stdout) == (2, "")
    assert "two records would go to standard output (-), which holds one" in both.stderr


def test_certificates_do_not_go_to_standard_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command used to create a folder of the name `-`."""
    monkeypatch.chdir(tmp_path)
    result = RUN.invoke(
        app, ["compare", "xor", "--solver", "smo", "--family", "svm.soft", "--certify", "-"]
    )
    assert (result.exit_code, result.stdout) == (2, "")
    assert (
        "--certify must be a folder, for a file of every family, not standard output (-)"
        in result.stderr
    )
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_printed_to_standard_output_without_pairs(tmp_path: Path) -> None:
    path = tmp_path / "flat.txt"
    path.write_text("1 qid:1 1:0.5\n1 qid:1 1:0.7\n2 qid:2 1:0.1\n")
    for command in ("compare", "path"):
        result = RUN.invoke(app, [command, str(path), "--json", "-"])
        assert (result.exit_code, result.stdout) == (0, "")
        assert "nothing to rank" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.txt"], ["nowhere.txt", "no such file"]),
        (["xor", "-C", "-1"], ["C must be"]),
        (["xor", "-C", "nan"], ["C must be", "nan"]),
        (["xor", "--lambda", "-1"], ["--lambda must be", "-1"]),
        (["xor", "--lambda", "inf"], ["--lambda must be", "inf"]),
        (["xor", "--lambda", "1e-320"], ["1/lambda is not finite", "0 is a hard margin"]),
        (["xor", "--lambda", "2", "-C", "0.5"], ["-C and --lambda", "leave out one of the two"]),
        (["xor", "--solver", "FOO"], ["unknown solver 'FOO'", "CLARABEL"]),
        (["xor", "--kernel", "foo"], ["--kernel", "foo"]),
        (["xor", "--formulation", "foo"], ["unknown formulation 'foo'", "svm.soft.dual"]),
        (
            ["xor", "--family", "foo"],
            ["unknown family 'foo'", "`equimargin list families` has all"],
        ),
        (["xor", "--kernel", "rbf", "--gamma", "-1"], ["gamma"]),
        (["xor", "--tol", "nan"], ["tol"]),
        (["xor", "--time-limit", "inf"], ["time_limit", "finite"]),
        (["xor", "--jobs", "0"], ["jobs must be a whole number from 1 on", "not 0"]),
        (["xor", "--sample", "1"], ["one class"]),
        (
            ["xor", "--formulation", "rank.*", "--solver", "CLARABEL"],
            ["none of the chosen formulations"],
        ),
        (["diabetes", "--epsilon", "-1"], ["epsilon"]),
        (["xor", "--json", "no/such/folder/x.json"], ["no/such/folder", "does not exist"]),
        (["breast_cancer", "--kernel", "precomputed"], ["square", "569 x 30"]),
        (["breast_cancer", "--kernel", "precomputed", "--scale"], ["--scale"]),
        (["diabetes", "--task", "classification"], ["classif"]),
    ],
)
def test_bad_arguments_are_one_sentence(arguments: list[str], words: list[str]) -> None:
    output = refusal(*arguments)
    for word in words:
        assert word in output


@pytest.mark.parametrize(
    ("content", "arguments", "words"),
    [
        (b"", [], ["empty"]),
        (b"1 qid:3 1:0.5 2:", [], ["line 1"]),
        (b"1 qid:1 1:0.5\n0 1:0.3\n", [], ["line 2", "qid"]),
        (b"a,b,y\n1,2,1\n3,nan,0\n", [], ["line 3", "'b'"]),
        (
            b"1 500000000:0.5\n-1 1:1\n",
            [],
            ["features go to number 500000000, and rows hold 2 of them; number these from 1 on"],
        ),
        (b"a,b,y\n1,2,1\n3,4,1\n", ["--task", "classification"], ["one class"]),
        (b"a,b,y\n1,2,1\n3,4,0\n", ["--target", "zz"], ["'zz'", "'a', 'b', 'y'"]),
        (bytes(range(256)) * 8, [], ["binary"]),
        (pickle.dumps([1, 2]), [], ["pickle"]),
    ],
)
def test_bad_files_are_one_sentence_with_the_place(
    content: bytes, arguments: list[str], words: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    output = refusal(str(path), *arguments)
    assert "bad.csv" in output
    assert len(output.strip().splitlines()) == 1
    for word in words:
        assert word in output


def test_an_asymmetric_gram_matrix_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "gram.npz"
    np.savez(path, X=np.array([[1.0, 0.5], [0.4, 1.0]]), y=np.array([1.0, -1.0]))
    assert "not symmetric" in refusal(str(path), "--kernel", "precomputed")


@pytest.mark.parametrize("command", ["compare", "path"])
def test_help_loads_nothing_heavy(command: str) -> None:
    code = (
        "import sys\nfrom typer.testing import CliRunner\nfrom equimargin.cli.app import app\n"
        f"assert CliRunner().invoke(app, [{command!r}, '--help']).exit_code == 0\n"
        "heavy = {'cvxpy', 'numba', 'sklearn', 'scipy', 'numpy', 'matplotlib'} & "
        "set(sys.modules)\nassert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_version_and_lists() -> None:
    assert RUN.invoke(app, ["--version"]).output.strip() == f"equimargin {__version__}"
    for subject in ("formulations", "solvers", "links", "families", "data"):
        result = RUN.invoke(app, ["list", subject])
        assert result.exit_code == 0
        assert result.output.strip()


def test_graph_draws_and_refuses_other_endings(tmp_path: Path) -> None:
    for ending in (".svg", ".dot"):
        assert RUN.invoke(app, ["graph", str(tmp_path / f"links{ending}")]).exit_code == 0
    drawn = (tmp_path / "links.svg").read_text()
    assert drawn.startswith("<?xml")
    assert "svm.soft" not in (tmp_path / "links.dot").read_text().split("subgraph")[0]
    assert '"rank.l1.primal" -- "rank.l1.dual"' in (tmp_path / "links.dot").read_text()
    assert RUN.invoke(app, ["graph", str(tmp_path / "links.txt")]).exit_code == 2


def test_show_prints_what_a_look_alike_is_worth() -> None:
    output = RUN.invoke(app, ["show", "rank.differences.dual"]).output
    assert "Not equivalent: rank.l1.dual" in output
    assert "0.395494" in output
    assert "LaTeX" in output


def test_show_prints_the_equation_and_its_source() -> None:
    output = RUN.invoke(app, ["show", "svm.soft.primal"]).output
    assert "1/2 |w|^2 + C sum_i xi_i" in output
    assert "(23)-(25)" in output
    assert RUN.invoke(app, ["show", "nothing"]).exit_code == 2


def test_how_the_first_row_is_read_is_said_and_can_be_chosen(tmp_path: Path) -> None:
    """Header detection: rows without a header, and a header of numbers.

    An ambiguous file is refused until the user says if it has a header.
    """
    rows = "".join(f"{i % 7}.5,{i * i % 5},{'yes' if i % 3 else 'no'}\n" for i in range(12))
    bare, years, doubtful = (tmp_path / f"{name}.csv" for name in ("bare", "years", "doubtful"))
    bare.write_text(rows)
    years.write_text(f"2019,2020,y\n{rows}")
    doubtful.write_text("0,1,2\n" + rows.replace("yes", "1").replace("no", "-1"))
    for command in ("compare", "path"):
        rest = (
            ("--family", "svm.soft", "--solver", "smo")
            if command == "compare"
            else ("--lambda-min", "0.1")
        )
        for file, options, said in (
            (
                bare,
                (),
                "(the last column, no is -1, yes is +1), 2 features; first row read as data "
                "(--header",
            ),
            (
                years,
                (),
                "12 rows: target `y` (no is -1, yes is +1), 2 features; first row read as "
                "column names (--no-header",
            ),
            (
                doubtful,
                ("--header",),
                "12 rows: target `2` (the last column, -1, +1), 2 features; first row read "
                "as column names",
            ),
            (
                doubtful,
                ("--no-header", "--task", "regression"),
                "(the last column, -1 to 2), 2 features; first row read as data",
            ),
        ):
            chosen = (
                rest
                if "regression" not in options or command == "path"
                else ("--family", "svr.l1", "--solver", "smo")
            )
            result = RUN.invoke(app, [command, str(file), *options, *chosen])
            assert said in " ".join(result.output.split()), result.output
        result = RUN.invoke(app, [command, str(doubtful)])
        assert result.exit_code == 2
        assert "--header or --no-header" in result.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("compare", "xor", "--kernal", "1"),
            "no such option: --kernal (Possible options: --kernel, --na); see equimargin "
            "compare --help",
        ),
        (
            ("compare", "xor", "--kernel", "p"),
            "linear, poly, rbf, sigmoid, precomputed, chi2, exponential, laplacian; did you "
            "mean poly or precomputed?",
        ),
        (
            ("compare", "xor", "--task", "rnking"),
            "'rnking' is not one of classification, regression, ranking, ordinal; did you mean ",
        ),
        (
            ("compare", "xor", "--family", "svm.sft"),
            "unknown family 'svm.sft'; did you mean svm.soft",
        ),
        (
            ("compare", "xor", "--solver", "clarabell"),
            "unknown solver 'clarabell'; did you mean CLARABEL?",
        ),
        (("compare",), "missing argument 'DATA'; see equimargin compare --help"),
        (
            ("comparee",),
            "no such command 'comparee'; did you mean 'compare'?",
        ),
        (("show", "svm.sofft"), "unknown name 'svm.sofft'; did you mean svm.soft"),
        (
            ("show", "xor"),
            "xor is a data set, which has no page; `equimargin list data` describes it",
        ),
        (
            ("compare", "irs"),
            "irs: there is no such file and no such data set; did you mean iris",
        ),
        (("show", "svm"), "unknown name 'svm'; did you mean svm.soft, svm.l2 or svm.hard?"),
        (("show", "soft"), "unknown name 'soft'; did you mean svm.soft"),
        (
            ("list", "family"),
            "'family' is not one of data, families, formulations, solvers, kernels, links, "
            "plugins; did you mean",
        ),
        (
            ("compare", "xor", "--kernel", "rbf", "--degree", "3"),
            "--degree is not for the rbf kernel, which has --gamma; leave it out",
        ),
        (
            ("path", "xor", "--gamma", "1"),
            "--gamma is not for the linear kernel, which has no parameters; leave it out",
        ),
        (
            ("compare", "xor", "--kernel", "rbf", "--gamma", "wide"),
            "'wide' is neither a number nor scale or auto",
        ),
        (
            ("compare", "xor", "--bias", "none", "--family", "svm.huberised_hinge"),
            "huberised_hinge: a classification with no bias has no such family; choose svm.nobias,",
        ),
        (
            ("compare", "xor", "--loss", "hinge", "--family", "svm.hub*"),
            "svm.hub*: a classification with hinge loss has no such family; choose svm.soft,",
        ),
        (
            ("compare", "xor", "--bias", "none", "--loss", "hinge", "--family", "svm.onenorm"),
            "--family svm.onenorm: a classification with hinge loss, no bias has no such family",
        ),
        (
            ("compare", "xor", "--family", "svr.l1"),
            "--family svr.l1: a classification has no such family; choose svm.soft, ",
        ),
        (
            ("compare", "iris_ranking", "--task", "ordinal", "--family", "svr.*"),
            "--family svr.*: an ordinal regression has no such family; choose ord.implicit, ",
        ),
        (
            ("compare", "xor", "--lambda", "0", "--family", "svm.soft"),
            "with infinite C has no such family; choose svm.hard or svm.nobias_hard; one-norm",
        ),
        (
            ("shrink", "xor", "--total-time", "-1"),
            "--total-time must be a positive number, not -1.0",
        ),
        (("path", "xor", "--max-events", "0"), "invalid value for '--max-events'"),
        (
            ("path", "xor", "--time-limit", "inf"),
            "time_limit must be a positive, finite number, not inf",
        ),
    ],
)
def test_every_error_is_a_sentence_and_says_what_was_probably_meant(
    arguments: tuple[str, ...], said: str
) -> None:
    result = RUN.invoke(app, arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("equimargin: ")
    assert len(result.stderr.splitlines()) == 1
    assert said in result.stderr


@pytest.mark.parametrize(("lam", "cost"), [("4", "0.25"), ("0", "inf")])
def test_lambda_is_the_cost_that_it_divides_one_by(lam: str, cost: str, tmp_path: Path) -> None:
    found = []
    for number, option in enumerate((("--lambda", lam), ("-C", cost))):
        file = tmp_path / f"{number}.json"
        how = ["--family", "svm.*", "--solver", "CLARABEL", "--json", str(file)]
        RUN.invoke(app, ["compare", "xor", *how, *option])
        found.append(json.loads(file.read_text()))
    assert found[0]["settings"]["C"] == found[1]["settings"]["C"]
    intervals = [
        [(each["family"], each["lower"], each["upper"]) for each in record["families"]]
        for record in found
    ]
    assert intervals[0] == intervals[1]


def test_beginnings_and_other_names_are_understood(tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    chosen = [
        "--kernel",
        "POLY",
        "--cost",
        "0.5",
        "--family",
        "SVM.*soft",
        "--solver",
        "Clarabel",
        "--solver",
        "SMO",
        "--output",
        str(file),
    ]
    result = RUN.invoke(app, ["compare", "xor", "--task", "class", *chosen])
    assert result.exit_code == 0, result.output
    found = json.loads(file.read_text())
    assert (found["settings"]["kernel"]["name"], found["settings"]["C"]) == ("polynomial", 0.5)
    assert [family["family"] for family in found["families"]] == ["svm.soft"]
    assert RUN.invoke(
        app, ["compare", "xor", "--task", "rank", "--family", "rank.l*", "--solver", "huber"]
    ).exit_code in (0, 4)


@pytest.mark.parametrize("pattern", ["svm.hub*", "SVM.Huberised_Hinge", "*.*hinge"])
def test_the_huberised_hinge_is_compared_where_a_pattern_means_it(pattern: str) -> None:
    status, output = compare("xor", "--family", pattern, "--delta", "0.25", "--solver", "CLARABEL")
    assert status in (0, 4), output
    assert "svm.huberised_hinge" in output


def test_help_at_80_columns_cuts_nothing_off() -> None:
    narrow = CliRunner(env={"COLUMNS": "80", "TERM": "dumb"})
    commands = [str(command.name) for command in app.registered_commands]
    for arguments in ([], *(name.split() for name in commands)):
        output = narrow.invoke(app, [*arguments, "-h"]).output
        assert "Usage: " in output
        assert "\u2026" not in output, output
        assert max(len(line) for line in output.splitlines()) <= 80
    listed = narrow.invoke(app, ["-h"]).output
    assert all(
        (getdoc(command.callback) or "").partition("\n")[0] in listed
        for command in app.registered_commands
        if not command.hidden
    )


def test_help_lists_few_commands_first_and_each_in_a_line() -> None:
    output = CliRunner(env={"COLUMNS": "80"}).invoke(app, ["--help"]).output
    first, more = (
        panel.partition("\u256f")[0].splitlines()[1:-1]
        for panel in output.split(" Commands ")[1].split(" More ")
    )
    assert [line.split()[1] for line in first][:2] == ["compare", "audit"]
    assert len(first) <= 10
    assert [line.split()[1] for line in more] == [
        *("shrink", "graph", "atlas", "warm-up"),
        *("study", "data"),
    ]


@pytest.mark.parametrize("command", ["compare", "shrink", "path"])
def test_help_has_the_options_in_panels(command: str) -> None:
    """An option without a panel is listed under Options, where few belong."""
    output = RUN.invoke(app, [command, "--help"]).output
    titles = re.findall(r"\u256d\u2500 (\w+) ", output)
    assert titles == ["Arguments", "Options", "Data", "Problem", "Answers", "Limits", "Output"]
    loose = output.split(" Options ")[1].split(" Data ")[0]
    assert re.findall(r"--\w+", loose) == [
        *["--draw"] * (command == "compare"),
        "--plugin",
        "--help",
    ]
    assert "bool" not in output


def test_list_without_a_subject_says_what_can_be_listed() -> None:
    result = RUN.invoke(app, ["list"])
    assert result.exit_code == 0
    for line in result.output.splitlines():
        assert RUN.invoke(app, ["list", line.split()[0]]).exit_code == 0
    assert RUN.invoke(app, ["list", "fam"]).output == RUN.invoke(app, ["list", "families"]).output


def test_short_options_are_the_long_ones() -> None:
    for short, long in (("-h", "--help"), ("-V", "--version")):
        assert RUN.invoke(app, [short]).output == RUN.invoke(app, [long]).output


def test_completion_offers_commands_and_values() -> None:
    for line, wanted in (
        ("com", "compare"),
        ("compare xor --kernel r", "rbf"),
        ("path --task re", "regression"),
    ):
        words = f"equimargin {line}"
        env = {
            "_EQUIMARGIN_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split()) - 1),
        }
        assert wanted in RUN.invoke(app, [], prog_name="equimargin", env=env).output.split()


@pytest.mark.parametrize("name", ["linear", "poly", "rbf", "sigmoid"])
def test_kernels_of_the_command_line_are_those_of_the_estimators(name: str) -> None:
    data = load("iris")
    assert make_kernel(ProblemFields(kernel=name), data) == MarginClassifier(kernel=name)._kernel(
        data.X
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [("list", "data"), ("--help",), ("--version",), ("show", "svm.soft"), ("compare", "--explain")],
)
def test_output_to_a_full_disk_is_a_sentence(arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        command = [sys.executable, "-m", "equimargin", *arguments]
        ended = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False
        )
    assert (ended.returncode, ended.stderr) == (
        2,
        "equimargin: the output cannot be written: No space left on device\n",
    )


@pytest.mark.parametrize("arguments", ["list", "compare xor", "show svm.soft"])
def test_closed_output_is_a_sentence(arguments: str) -> None:
    command = f"exec {sys.executable} -m equimargin {arguments} >&-"
    ended = subprocess.run(
        ["bash", "-c", command], stderr=subprocess.PIPE, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stderr) == (
        2,
        "equimargin: the output cannot be written: Bad file descriptor\n",
    )


AT_IMPORT = """
import os, signal, sys
class Interrupts:
    def find_spec(self, name, *rest):
        if name == {name!r}:
            os.kill(os.getpid(), signal.SIGTERM)
sys.meta_path.insert(0, Interrupts())
from equimargin.cli import main
main()
"""
"""Program that gets SIGTERM while a module is imported."""


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("typer", "interrupted"),
        (
            "equimargin.comparison",
            "interrupted before the first answer; out.json and out.html are not written",
        ),
    ],
)
def test_termination_before_an_answer_is_a_sentence(name: str, said: str, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-c",
        AT_IMPORT.format(name=name),
        "compare",
        "xor",
        "--json",
        "out.json",
        "--html",
        "out.html",
    ]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    ended = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", f"equimargin: {said}\n")
    assert not list(tmp_path.iterdir())


def test_an_interrupt_at_start_up_is_a_sentence() -> None:
    """The command line is being imported, as by Ctrl-C in the first tenths of a second."""
    code = (
        "import sys\nclass Interrupts:\n    def find_spec(self, name, *rest):\n"
        "        if name == 'typer': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupts())\nfrom equimargin.cli import main\nmain()\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "equimargin: interrupted\n")


def test_a_command_without_arguments_is_help() -> None:
    result = RUN.invoke(app, [])
    assert result.exit_code == 2
    assert "Usage:" in result.output
    assert RUN.invoke(app, ["compare", "--help"]).exit_code == 0


def test_show_says_what_a_family_a_solver_and_a_backend_are() -> None:
    family = RUN.invoke(app, ["show", "svm.soft"]).output
    for said in (
        "1/2 |w|^2 + C sum_i xi_i",
        "LaTeX",
        "smo: ",
        "[a reference: auto never chooses it]",
        "K: Kuo",
    ):
        assert said in family
    (control,) = (
        line for line in family.splitlines() if line.strip().startswith("svm.soft.dual.as_printed ")
    )
    assert control.endswith("[negative control: wrong on purpose, or nonequivalent]")
    # The negative controls of rank.l1 are declared before it.
    ranking = RUN.invoke(app, ["show", "rank.l1"]).output
    assert "1/2 |w|^2 + C sum_ij xi_ij" in ranking.partition("Formulations")[0]
    assert ranking.index("rank.l1.primal ") < ranking.index("rank.differences.dual ")
    solver = RUN.invoke(app, ["show", "huber"]).output
    for said in (
        "equimargin.solvers.newton.huber",
        "if it supports the problem, after smo",
        "For      ",
    ):
        assert said in solver
    assert (
        "never chooses it: it is for comparison only"
        in RUN.invoke(app, ["show", "homotopy"]).output
    )
    assert "used by compare on quadratic programs" in RUN.invoke(app, ["show", "osqp"]).output


@pytest.mark.slow
def test_every_name_has_a_page() -> None:
    for subject in ("formulations", "solvers", "families", "kernels"):
        for line in RUN.invoke(app, ["list", subject]).output.splitlines():
            result = RUN.invoke(app, ["show", line.split()[0]])
            assert result.exit_code == 0, result.output
            assert len(result.output.splitlines()) > 2


def test_the_help_of_audit_lists_the_keys() -> None:
    output = RUN.invoke(app, ["audit", "--help"]).output
    for key in ("dual_coef", "support_vectors", "intercept_scaling", "class_weight"):
        assert key in output


@pytest.mark.slow
def test_warm_up_says_where_kernels_are_kept() -> None:
    """Solvers of plug-ins are compiled, too; other processes have not registered them."""
    import_module("brought")
    result = RUN.invoke(app, ["warm-up"])
    assert result.exit_code == 0, result.output
    assert "functions compiled or loaded in" in result.output


def test_warm_up_without_a_folder_for_the_code_compiles_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jit, "cache_directory", lambda: None)
    monkeypatch.delattr(warm_up, "_compile")
    result = RUN.invoke(app, ["warm-up"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "set NUMBA_CACHE_DIR" in result.stderr


def test_warm_up_compiles_the_rest_if_a_process_is_killed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled: list[str] = []

    class Killed(joblib.Parallel):  # type: ignore[misc]
        def __call__(self, tasks: Any) -> Any:
            if self.n_jobs > 1:
                raise TerminatedWorkerError("The exit codes of the workers are {SIGKILL(-9)}")
            return super().__call__(tasks)

    monkeypatch.setattr(joblib, "cpu_count", lambda: 2)
    monkeypatch.setattr(joblib, "Parallel", Killed)
    monkeypatch.setattr(warm_up, "_compile", lambda solver, module: compiled.append(solver))
    monkeypatch.setattr(warm_up, "_multiply", lambda: None)
    result = RUN.invoke(app, ["warm-up"])
    assert result.exit_code == 0, result.output
    assert "a process was killed, perhaps for lack of memory" in result.stderr
    assert set(compiled) == set(SOLVERS)


def test_warm_up_without_memory_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise MemoryError

    monkeypatch.setattr(warm_up, "_compile", lambda solver, module: fail())
    monkeypatch.setattr(joblib, "cpu_count", lambda: 1)
    result = RUN.invoke(app, ["warm-up"])
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
    assert "end other programs, and run this command again" in result.stderr


def test_an_option_that_takes_the_place_of_a_field_fills_it() -> None:
    found: list[ReadFields] = []

    def command(*, reading: ReadFields, seed: Annotated[int, typer.Option()] = 7) -> None:
        found.append(reading)

    shown = typer.Typer()
    shown.command()(with_requests(command))
    for arguments in ([], ["--seed", "3"]):
        assert RUN.invoke(shown, arguments).exit_code == 0
    assert [reading.seed for reading in found] == [7, 3]


def test_every_time_limit_must_be_positive() -> None:
    arguments = {"compare": ["xor"], "shrink": ["1"]}
    group: Any = typer.main.get_command(app)
    options = [
        (name, parameter.opts[0])
        for name, command in group.commands.items()
        for parameter in command.params
        if parameter.metavar == "SECONDS"
    ]
    assert ("bound", "--time-limit") in options
    for (name, option), seconds in product(options, ("0", "-1", "nan")):
        result = RUN.invoke(app, [name, *arguments.get(name, []), option, seconds])
        assert (result.exit_code, "must be a positive" in result.output) == (2, True), (
            name,
            option,
            result.output,
        )
