"""First use of `compare` on a user's file, in a terminal or behind a pipe."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

from equimargin.comparison import compare
from equimargin.data import load
from places import HANG, ROOT
from schema import faults
from terminal import Terminal, hard_ranking

FEW = ("--family", "svm.soft", "--solver", "CLARABEL", "--solver", "smo")
OPTIMUM = re.compile(
    r"^svm\.soft +optimum 15\.759871[89]\d*, \d+ digits proven \(width \S+\) +AGREE$", re.MULTILINE
)
"""Head of the last block of the output on the flowers below, 80 columns wide."""
MARKS = "✓ agrees  ≈ inaccurate  ✗ disagrees  ! failed  - skipped   --explain, --wide"


def flowers(header: bool = True, sep: str = ",") -> str:
    """Return two species of iris as an exported table, the species in the last column.

    No plane separates the two species.
    """
    iris = load_iris()
    rows = [
        [*map(str, x), iris.target_names[t]]
        for x, t in zip(iris.data.tolist(), iris.target.tolist(), strict=True)
        if t > 0
    ]
    names = (
        [["sepal length", "sepal width", "petal length", "petal width", "species"]]
        if header
        else []
    )
    return "".join(f"{sep.join(row)}\n" for row in [*names, *rows])


def seen(folder: Path, *arguments: str, columns: int = 80) -> tuple[int, str]:
    """Return the exit status of `compare` and the final screen of the terminal."""
    terminal = Terminal("compare", *arguments, columns=columns, folder=folder)
    status = terminal.finish()
    assert "Traceback" not in terminal.output, terminal.output
    page = [
        line for line in terminal.screen.splitlines() if not line.startswith("equimargin: ")
    ]  # A sentence on standard error is one line.
    assert max(map(len, page), default=0) <= columns
    return status, terminal.screen


def test_a_table_with_a_header(tmp_path: Path) -> None:
    (tmp_path / "flowers.csv").write_text(flowers())
    status, screen = seen(tmp_path, "flowers.csv", *FEW)
    assert status == 0, screen
    assert screen.startswith(
        "flowers.csv: classification, 100 rows: target `species` (the last column,\n"
    )
    assert (
        "versicolor is -1, virginica is +1), 4 features; first row read as column names; linear"
        in " ".join(screen.split())
    )
    assert OPTIMUM.search(screen), screen
    assert screen.rstrip().endswith(MARKS)


def test_a_table_without_a_header_keeps_its_first_row(tmp_path: Path) -> None:
    (tmp_path / "bare.csv").write_text(flowers(header=False))
    status, screen = seen(tmp_path, "bare.csv", *FEW)
    assert status == 0, screen
    said = " ".join(screen.split())
    assert (
        "bare.csv: classification, 100 rows: target `column 5` (the last column, versicolor "
        "is -1, virginica is +1)" in said
    )
    assert "first row read as data (--header reads it as column names)" in said
    assert OPTIMUM.search(screen), screen


def test_a_file_of_letor(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    rows = [
        f"{random.integers(3)} qid:{i // 6} 1:{random.normal():.3f} 2:{random.normal():.3f} "
        f"#docid = {i}"
        for i in range(24)
    ]
    (tmp_path / "train.txt").write_text("\n".join(rows) + "\n")
    status, screen = seen(
        tmp_path,
        "train.txt",
        "--family",
        "rank.l1",
        "--solver",
        "CLARABEL",
        "--solver",
        "coordinate_descent",
    )
    assert status == 0, screen
    said = " ".join(screen.split())
    assert re.match(
        r"train\.txt: ranking, 24 rows, \d+ pairs: target \(0 to 2\), query `qid` \(4 "
        r"queries\), 2 features; ",
        said,
    )
    assert re.search(r"^rank\.l1 +optimum .* proven \(width \S+\) +AGREE$", screen, re.MULTILINE)


class Frame:
    """Minimal stand-in for a data frame of any library, convertible to an array."""

    def __init__(self, columns: dict[str, Any]) -> None:
        self.columns = columns

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.column_stack(list(self.columns.values())).astype(dtype)


def test_a_frame_in_python(tmp_path: Path) -> None:
    """X is a frame that numpy can read, y a list of words by position.

    The problem is that of the file.
    """
    (tmp_path / "flowers.csv").write_text(flowers())
    data = load(tmp_path / "flowers.csv")
    frame = Frame(dict(zip(data.columns or (), data.X.T, strict=True)))
    words = np.where(data.y > 0, "virginica", "versicolor").tolist()
    found = compare(frame, words, formulations="svm.soft.*", solvers=["CLARABEL", "smo"])
    assert OPTIMUM.search(str(found)), str(found)
    assert MARKS in str(found)
    assert "documents with these equations, named by --explain" in str(found)


def test_a_compressed_table(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "flowers.csv.gz", "wt") as stream:
        stream.write(flowers(sep=";"))
    status, screen = seen(tmp_path, "flowers.csv.gz", *FEW)
    assert status == 0, screen
    assert screen.startswith("flowers.csv.gz: classification, 100 rows: target `species`")
    assert OPTIMUM.search(screen), screen


def piped(command: str, folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    """Run a shell line, with the command in $compare and a text as its standard input."""
    environment = os.environ | {
        "PYTHONPATH": str(ROOT / "src"),
        "PYTHONIOENCODING": "utf-8",
        "compare": f"{sys.executable} -m equimargin compare",
    }
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        input=text,
        capture_output=True,
        text=True,
        timeout=HANG,
    )


@pytest.mark.slow
def test_a_pipe_at_both_ends(tmp_path: Path) -> None:
    """The output is plain lines, and the first proof is printed once it is found.

    The JSON record may replace the page.
    """
    answer = piped(f"$compare - {' '.join(FEW)} | cat", tmp_path, flowers(sep="\t"))
    assert (answer.returncode, answer.stderr) == (0, "")
    assert answer.stdout.startswith("standard input: classification, 100 rows: target `species`")
    assert "\x1b" not in answer.stdout
    assert max(map(len, answer.stdout.splitlines())) <= 80
    assert re.search(
        r"^ *svm\.soft:? +optimum \S+, \d+ digits proven; running other solvers$",
        answer.stdout,
        re.MULTILINE,
    )
    assert OPTIMUM.search(answer.stdout)
    record = json.loads(piped(f"$compare - {' '.join(FEW)} --json -", tmp_path, flowers()).stdout)
    assert list(faults(record, "compare")) == []
    assert record["data"]["rows"] == 100


def test_a_pipe_that_nobody_reads_ends_it_without_a_word(tmp_path: Path) -> None:
    """The exit status does not depend on the answers."""
    for more in ("", "--wide"):
        answer = piped(
            f"$compare - {' '.join(FEW)} {more} | true; exit ${{PIPESTATUS[0]}}",
            tmp_path,
            flowers(),
        )
        assert (answer.returncode, answer.stdout, answer.stderr) == (141, "", "")


def test_files_are_written_whole_where_nobody_reads_the_page(tmp_path: Path) -> None:
    outputs = "--json out.json --csv out.csv --html out.html --certify proofs"
    answer = piped(
        f"$compare - {' '.join(FEW)} {outputs} | true; exit ${{PIPESTATUS[0]}}", tmp_path, flowers()
    )
    assert (answer.returncode, answer.stdout, answer.stderr) == (141, "", "")
    record = json.loads((tmp_path / "out.json").read_text())
    assert (list(faults(record, "compare")), record["interrupted"]) == ([], False)
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 1 + len(record["answers"])
    assert (tmp_path / "out.html").read_text().rstrip().endswith("</html>")
    assert (
        json.loads((tmp_path / "proofs" / "svm.soft.json").read_text())["schema"]
        == "equimargin-certificate/1"
    )


def test_a_record_that_nobody_reads_keeps_no_other_from_being_written(tmp_path: Path) -> None:
    answer = piped(
        f"$compare - {' '.join(FEW)} --json - --csv out.csv 2>/dev/null | true; exit "
        f"${{PIPESTATUS[0]}}",
        tmp_path,
        flowers(),
    )
    assert answer.returncode == 141
    assert (tmp_path / "out.csv").read_text().startswith("family,part,formulation,")


UNREAD = """
import os, sys, time
from equimargin.cli.output.screen import unread_output_kept
try:
    with unread_output_kept():
        sys.stdout.write("x" * 10_000)
        sys.stdout.flush()
        open("written", "w").close()
        time.sleep(300)
except KeyboardInterrupt:
    print("end")
"""
"""Program that prints more than a terminal reads at once, and ends at Ctrl-C."""


def test_ctrl_c_drops_nothing_that_the_terminal_has_not_shown_yet(tmp_path: Path) -> None:
    terminal = Terminal(columns=80, folder=tmp_path, program=("-c", UNREAD))
    while not (tmp_path / "written").exists():
        assert time.monotonic() < terminal.until
        time.sleep(0.01)
    os.write(terminal.master, b"\x03")
    assert terminal.finish() == 0
    assert (terminal.output.count("x"), terminal.output.endswith("end\r\n")) == (10_000, True)


@pytest.mark.slow
@pytest.mark.parametrize("columns", [80, 40])
def test_a_page_of_all_families_fits_the_terminal(columns: int, tmp_path: Path) -> None:
    (tmp_path / "flowers.csv").write_text(flowers())
    status, screen = seen(
        tmp_path,
        "flowers.csv",
        "--solver",
        "CLARABEL",
        "--solver",
        "smo",
        "--solver",
        "huber",
        columns=columns,
    )
    assert status == 0, screen
    lines = screen.splitlines()
    for family in ("svm.soft", "svm.nobias", "svm.l2", "svm.nobias_l2"):
        (head,) = (line for line in lines if line.startswith(f"{family} "))
        assert head.endswith("AGREE")
        assert len(head) == columns
    assert " ".join(screen.split()).endswith(" ".join(MARKS.split()))
    # No unit and no mark is separated from its number by a line break.
    assert not re.search(r"(?m)^ *s\b|[✓≈✗]$| -$", screen)


@pytest.mark.slow
def test_a_terminal_says_that_code_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    # Sweeps over fewer points run as Python.
    chosen = ("--family", "svm.nobias", "--solver", "CLARABEL", "--solver", "coordinate_descent")
    terminal = Terminal("compare", "digits_even_odd", "--scale", *chosen, columns=60)
    assert terminal.finish() == 0, terminal.output
    assert re.search(r"compiling code of a solver, about [1-9]\.\d s, once", terminal.output)
    assert "compiling code" not in terminal.screen


def test_ctrl_c_leaves_the_page_and_files_that_are_whole(tmp_path: Path) -> None:
    """Answers received so far are printed, written and certified.

    For a family without answers the output says that it has no certificate.
    """
    (tmp_path / "hard.csv").write_text(hard_ranking())
    outputs = (
        "--json",
        "out.json",
        "--csv",
        "out.csv",
        "--html",
        "out.html",
        "--certify",
        "proofs",
    )
    terminal = Terminal(
        "compare",
        "hard.csv",
        "--task",
        "ranking",
        "--patient",
        *outputs,
        columns=80,
        folder=tmp_path,
    )
    terminal.read_until(r"[1-9]\d* of \d+ answers")
    os.write(terminal.master, b"\x03")
    assert terminal.finish() == 130, terminal.output
    said = " ".join(terminal.screen.split())
    assert re.search(
        r"4 families: .*unfinished.* interrupted: by Ctrl-C or SIGTERM; \d+ of \d+ answers in", said
    )
    assert "to come" not in said.partition("4 families:")[2]
    assert said.endswith("answers, written to out.json, out.csv, out.html")
    record = json.loads((tmp_path / "out.json").read_text())
    assert list(faults(record, "compare")) == []
    assert record["interrupted"] is True
    assert "interrupted: by Ctrl-C" in (tmp_path / "out.html").read_text()
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 1 + len(record["answers"])
    answered = {answer["family"] for answer in record["answers"] if answer["upper"] is not None}
    for family in ("rank.l1", "rank.l2", "rank.onenorm", "rvm"):
        file = tmp_path / "proofs" / f"{family}.json"
        assert file.exists() is (family in answered)
        outcome = (
            f"{family}: certificate proofs/{family}.json"
            if family in answered
            else f"{family}: no certificate: "
        )
        assert outcome in said
    for file in (tmp_path / "proofs").iterdir():
        assert json.loads(file.read_text())["schema"] == "equimargin-certificate/1"
    assert not [path for path in tmp_path.rglob("*") if "part" in path.name]


@pytest.mark.slow
def test_the_total_time_ends_it_with_what_there_is(tmp_path: Path) -> None:
    (tmp_path / "hard.csv").write_text(hard_ranking())
    status, screen = seen(
        tmp_path,
        "hard.csv",
        "--task",
        "ranking",
        "--patient",
        "--total-time",
        "5",
        "--json",
        "out.json",
    )
    assert status == 130, screen
    said = " ".join(screen.split())
    assert re.search(r"interrupted: the total time of 5 s is over; \d+ of \d+ answers in", said)
    assert (
        "hard.csv: ranking, 200 rows, 14,915 pairs: target `relevance` (0 to 3), 5 features" in said
    )
    record = json.loads((tmp_path / "out.json").read_text())
    assert list(faults(record, "compare")) == []
    assert (record["interrupted"], record["stopped"]) == (True, "the total time of 5 s is over")


@pytest.mark.slow
def test_an_output_that_cannot_be_written_is_said_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "flowers.csv").write_text(flowers())
    (tmp_path / "locked").mkdir()
    for option, name, why in (
        ("--json", "missing/out.json", "its folder does not exist"),
        ("--html", "locked", "it is a folder"),
    ):
        status, screen = seen(tmp_path, "flowers.csv", option, name)
        assert status == 2
        assert screen.strip() == f"equimargin: {name} cannot be written: {why}"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["flowers.csv", "locked"]
