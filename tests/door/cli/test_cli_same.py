"""`equimargin same` and `refute`: output, refusals and exit status."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from equimargin.cli.app import app
from places import HANG, ROOT
from schema import faults

RUN = CliRunner()
HERE = os.environ | {"PYTHONPATH": str(ROOT / "src")}
"""Environment in which another process finds the package."""
OWN = """
import cvxpy as cp
from hypothesis import strategies as st

data = st.integers(1, 4)
number = 3
nothing = st.nothing()
broken = data.map(lambda bound: 1 / 0)

def size(bound):
    return bound

def least(bound):
    x = cp.Variable()
    return cp.Problem(cp.Minimize(x), [x >= bound, x >= 0])

def most(bound):
    z = cp.Variable()
    return cp.Problem(cp.Maximize(bound * z), [z <= 1, z >= 0])

def wrong(bound):
    x = cp.Variable()
    return cp.Problem(cp.Minimize(x), [2 * x >= bound])
"""


def run(*arguments: str) -> tuple[int, str]:
    """Return the exit status and the complete output."""
    result = RUN.invoke(app, list(arguments))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the name of a user-defined module in the current folder."""
    name = f"own_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    return name


def test_two_functions_of_a_file_are_equal(own: str) -> None:
    status, output = run(
        "same",
        f"{own}:least",
        f"{own}:most",
        "--data",
        f"{own}:data",
        "--draws",
        "3",
        "--examples",
        "5",
    )
    assert (status, output.splitlines()[0]) == (0, "EQUAL: A = least, B = most")
    assert "B is the Lagrangian dual of A" in output


@pytest.mark.slow
def test_two_functions_that_differ_exit_one_and_are_written(own: str, tmp_path: Path) -> None:
    file = tmp_path / "found.json"
    status, output = run(
        "same", f"{own}:least", f"{own}:wrong", "--data", f"{own}:data", "--json", str(file)
    )
    record = json.loads(file.read_text())
    assert not list(faults(record, "same"))
    assert (status, record["verdict"], record["optima"]) == (1, "DIFFERENT", ["1", "1/2"])
    assert "data = 1" in output
    command = [sys.executable, "-c", record["code"]]
    lines = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, env=HERE, check=True, timeout=HANG
    )
    assert lines.stdout.split() == record["optima"]


def test_misprints_of_a_function_are_a_table_with_their_evidence(own: str, tmp_path: Path) -> None:
    record = tmp_path / "mutants.json"
    status, output = run(
        *("same", f"{own}:least", "--mutants", "--data", f"{own}:data"),
        *("--examples", "6", "--json", str(record)),
    )
    lines = output.splitlines()
    assert status == 0, output
    assert lines[0] == "least"
    assert lines[1].split() == ["SEEN", "BY", "SMALLEST", "MISPRINT"]
    (count,) = (line for line in lines if line.endswith(" none (optima proven equal)"))
    assert int(count.split()[0]) >= 1
    (bound,) = (line for line in lines if line.endswith("no constraint in x >= bound"))
    assert bound.split()[:4] == ["optimum,", "predictions,", "multipliers", "#1"]
    # x >= 0 is never tight: without it the problem is equal.
    records = json.loads(record.read_text())
    assert not list(faults(records, "mutants"))
    found = {(m["mutation"], m["place"]): m for m in records}
    redundant = found["no constraint", "x >= 0"]
    assert redundant["verdict"] == "none (optima proven equal)"
    assert redundant["smallest"] == {}
    assert set(found["no constraint", "x >= bound"]["smallest"]) == {
        "optimum",
        "predictions",
        "multipliers",
    }


def test_misprints_are_of_one_problem(own: str) -> None:
    status, output = run("same", f"{own}:least", f"{own}:most", "--mutants")
    assert status == 2
    assert f"--mutants examines the misprints of {own}:least alone" in output
    status, output = run("same", f"{own}:least", "--mutants", "--finite", "--counterexample")
    assert status == 2
    assert "leave out --counterexample and --finite" in output
    assert run("same", f"{own}:least", "--mutants", "--examples", "0")[0] == 2


@pytest.mark.slow
def test_refute_without_weights_and_with_distinct_points_prints_such_an_instance() -> None:
    status, output = run(
        "refute",
        "rank.l1.primal",
        "rank.reduced",
        "--without",
        "weights",
        "--distinct",
        "--examples",
        "80",
    )
    assert status == 1
    assert "data = MarginProblem(X=array([[" in output
    assert "weights=" not in output
    status, output = run("refute", "rank.l1.primal", "rank.reduced", "--without", "pairs")
    assert status == 2
    assert "without must be" in output


ALONE = """
import cvxpy as cp

def short():
    x = cp.Variable(name="x")
    return cp.Problem(cp.Minimize(x), [x >= 2, x >= 0])

def priced():
    z = cp.Variable(name="z")
    return cp.Problem(cp.Maximize(2 * z), [z <= 1, z >= 0])

def long():
    x = cp.Variable(name="x")
    return cp.Problem(cp.Minimize(x), [x >= 3])
"""
"""Problems that have their numbers, as functions without parameters."""


def test_functions_without_parameters_need_no_data(own: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    file = tmp_path / "folder" / f"{own}_alone.py"
    file.write_text(ALONE)
    status, output = run("same", f"{file}:short", f"folder/{file.name}:priced")
    assert (status, output.splitlines()[0]) == (0, "EQUAL: A = short, B = priced")
    status, output = run("same", f"{file}:short", f"{file}:long", "--counterexample")
    assert (status, output.splitlines()[0]) == (1, "DIFFERENT: A = short, B = long")
    assert "data = None\n" in output
    status, output = run("same", f"{file}:short", f"{own}:least")
    assert (status, "say which data least takes" in " ".join(output.split())) == (2, True)
    status, output = run("same", f"{file}:short")
    assert status == 2
    assert " ".join(output.split()).endswith("one problem; name the one to compare it with")


def test_file_with_the_name_of_another_module_is_refused(own: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / f"{own}.py").write_text(OWN)
    for file, why in (
        (f"folder/{own}.py", "has the name of another module"),
        ("folder/missing.py", "the file folder/missing.py does not exist"),
    ):
        status, output = run("same", f"{own}.py:least", f"{file}:wrong", "--data", f"{own}:data")
        assert (status, why in " ".join(output.split())) == (2, True)


def test_refute_finds_the_difference_or_exits_four(own: str) -> None:
    assert run("refute", f"{own}:least", f"{own}:wrong", "--data", f"{own}:data")[0] == 1
    status, output = run(
        "refute", f"{own}:least", f"{own}:most", "--data", f"{own}:data", "--examples", "5"
    )
    assert (status, "No instance was found on which they differ." in output) == (4, True)


def test_a_strategy_that_fails_is_refused_by_a_search_too(own: str) -> None:
    status, output = run("refute", f"{own}:least", f"{own}:most", "--data", f"{own}:broken")
    assert (status, "the strategy draws no data: ZeroDivisionError" in output) == (2, True)


def test_formulations_have_names_and_data(own: str) -> None:
    assert (
        run("same", "svm.nobias.primal", "svm.nobias.dual", "--draws", "2", "--examples", "2")[0]
        == 0
    )
    assert run("refute", "svm.nobias.dual", "--examples", "2", "--plugin", own)[0] == 4


def test_json_on_standard_output_is_alone_there(own: str) -> None:
    result = RUN.invoke(
        app, ["refute", f"{own}:least", f"{own}:wrong", "--data", f"{own}:data", "--json", "-"]
    )
    assert json.loads(result.stdout)["verdict"] == "DIFFERENT"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["svm.soft.primal", "svm.soft.dul"],
            "'svm.soft.dul' is no formulation; did you mean svm.soft.dual",
        ),
        (["OWN:lest", "OWN:most"], "has no 'lest'; did you mean least"),
        (["OWN:number", "OWN:most"], "is no function, but int"),
        (["OWN:least", "OWN:most"], "say which data least takes"),
        (["OWN:least", "OWN:most", "--data", "OWN:number"], "must be a hypothesis strategy"),
        (["OWN:least", "OWN:most", "--data", "data"], "--data 'data' is not MODULE:STRATEGY"),
        (
            ["no_such_module:f", "OWN:most"],
            "the module 'no_such_module' cannot be imported: ModuleNotFoundError",
        ),
        (
            ["OWN:least", "OWN:most", "--plugin", "no_such_module"],
            "the plug-in no_such_module cannot be loaded",
        ),
        (["OWN:least", "OWN:most", "--data", "OWN:data", "--draws", "0"], "draws"),
        (["OWN:least", "OWN:size", "--data", "OWN:data"], "size returns no cvxpy problem, but int"),
        (
            ["OWN:least", "OWN:most", "--data", "OWN:nothing"],
            "the strategy draws no data: Unsatisfiable: ",
        ),
        (
            ["OWN:least", "OWN:most", "--data", "OWN:broken"],
            "the strategy draws no data: ZeroDivisionError: division by zero",
        ),
        (
            ["OWN:least", "OWN:most", "--data", "OWN:data", "--time-limit", "-1"],
            "--time-limit must be",
        ),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(
    own: str, arguments: list[str], sentence: str
) -> None:
    status, output = run("same", *(argument.replace("OWN", own) for argument in arguments))
    assert status == 2
    assert sentence in output
    assert "Traceback" not in output


@pytest.mark.slow
@pytest.mark.usefixtures("hearing")
def test_an_interrupt_exits_130_with_a_sentence(own: str) -> None:
    command = [
        sys.executable,
        "-m",
        "equimargin",
        "same",
        "rank.l1.primal",
        "rank.l1.dual",
        "--draws",
        "200",
        "--examples",
        "10000",
    ]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=HERE
    ) as running:
        time.sleep(8)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
    assert (running.returncode, said.strip()) == (130, "equimargin: interrupted")


LOST = """
import gc, os, signal, sys
import equimargin.equivalence
from equimargin.cli.app import main
judge, collected = equimargin.equivalence.same, []
def interrupt(phase, info):
    collected.append(phase)
    if len(collected) == 1:
        os.kill(os.getpid(), signal.SIGINT)
def same(*asked, **options):
    gc.callbacks.append(interrupt)
    return judge(*asked, **options)
equimargin.equivalence.same = same
sys.argv = ["equimargin", "same", "rank.l1.primal", "rank.l1.dual", \
"--draws", "200", "--examples", "10000"]
main()
"""
"""Command interrupted in a callback of the garbage collector, where errors are ignored."""


@pytest.mark.slow
@pytest.mark.usefixtures("hearing")
def test_an_interrupt_in_a_callback_of_the_collector_is_not_lost(own: str) -> None:
    found = subprocess.run(
        [sys.executable, "-c", LOST], capture_output=True, text=True, env=HERE, timeout=120
    )
    assert (found.returncode, found.stderr.strip()) == (130, "equimargin: interrupted")


BROUGHT = """
import cvxpy as cp
from hypothesis import strategies as st
from equimargin.own import Family

nearest = Family("{family}", data=lambda: st.fixed_dictionaries({{"end": st.integers(1, 4)}}))

@nearest.formulation("primal")
def primal(d):
    x = cp.Variable(name="x")
    return cp.Problem(cp.Minimize(x), [x >= d["end"], x >= 0])

@nearest.formulation("dual")
def dual(d):
    z = cp.Variable(name="z")
    return cp.Problem(cp.Maximize(d["end"] * z), [z <= 1, z >= 0])

@nearest.formulation("halved"{control})
def halved(d):
    x = cp.Variable(name="x")
    return cp.Problem(cp.Minimize(x), [2 * x >= d["end"]])
"""


@pytest.mark.parametrize("control", [True, False])
def test_the_relations_of_a_family_are_suggested(
    control: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A known nonequivalent formulation is distinguished by the relations.

    An unknown one is named, with the command that shows the difference.
    """
    monkeypatch.chdir(tmp_path)
    family = f"suggested_{control}".lower()
    (tmp_path / f"{family}.py").write_text(
        BROUGHT.format(family=family, control=", control=True" if control else "")
    )
    status, output = run("suggest", family, "--plugin", family, "--draws", "3", "--examples", "5")
    assert (
        f"# {family}.primal and {family}.dual: the optima are equal. B is the Lagrangian "
        f"dual of A, on 3 of 3 instances." in output
    )
    if control:
        assert (status, output.splitlines()[-1]) == (0, f"# {family}: 3 of 3 pairs have a relation")
        assert output.count("NotEquivalent(") == 2
    else:
        assert (status, output.splitlines()[-1]) == (1, f"# {family}: 1 of 3 pairs have a relation")
        refute = f"`equimargin same {family}.primal {family}.halved --counterexample` shows one"
        assert (
            f"# {family}.primal and {family}.halved: nothing to suggest, DIFFERENT; {refute}"
            in output
        )


@pytest.mark.slow
def test_same_has_the_forms_of_refute_and_suggest(own: str) -> None:
    pair = (f"{own}:least", f"{own}:wrong", "--data", f"{own}:data", "--examples", "5")
    assert without_seconds(run("same", *pair, "--counterexample")) == without_seconds(
        run("refute", *pair)
    )
    family = ("svm.nobias", "--draws", "2", "--examples", "2")
    assert without_seconds(run("same", *family)) == without_seconds(run("suggest", *family))


def without_seconds(printed: tuple[int, str]) -> tuple[int, str]:
    """Return the output without run times."""
    return printed[0], re.sub(r"[0-9.]+ s\b", "", printed[1])


def test_same_of_one_formulation_asks_for_another() -> None:
    status, output = run("same", "svm.soft.dual")
    assert status == 2
    assert (
        "svm.soft.dual is one problem; name the one to compare it with, or the family svm.soft"
        in output
    )


@pytest.mark.slow
def test_suggestions_keep_their_time_and_name_families_that_are_meant(own: str) -> None:
    status, output = run("suggest", "quantile", "--time-limit", "1e-9")
    assert (status, output.splitlines()) == (
        4,
        [
            "# quantile: 0 of 3 pairs have a relation; 3 were not reached within the time "
            "(--time-limit)"
        ],
    )
    status, output = run("suggest", "quantle")
    assert (status, "did you mean quantile?" in output, output.count("\n")) == (2, True, 1)
    status, output = run("suggest", "svm.nobias", "--draws", "2", "--examples", "2")
    assert (status, output.count("Equivalence(")) == (0, 3)


def test_families_that_come_along_are_compared_on_their_own_data() -> None:
    """Their strategies are made on demand."""
    status, output = run(
        "same", "quantile.primal", "quantile.dual", "--draws", "2", "--examples", "2"
    )
    assert (status, output.splitlines()[0]) == (0, "EQUAL: A = quantile.primal, B = quantile.dual")
