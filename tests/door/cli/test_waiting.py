"""Logs and bars of the command line, on standard error alone."""

from __future__ import annotations

import io
import logging
import re
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from equimargin.cli.app import app
from equimargin.cli.output import waiting
from equimargin.cli.output.waiting import WaitingBar
from equimargin.solvers.progress import CHECK, LOG
from places import HANG
from terminal import Terminal

RUN = CliRunner()
XOR = ("compare", "xor", "--kernel", "rbf", "--family", "svm.soft", "--solver", "smo")


class FakeTerminal(io.StringIO):
    """Standard error that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def make_terminal(monkeypatch: pytest.MonkeyPatch) -> FakeTerminal:
    """Make standard error a terminal on which bars are shown at once.

    It is called in a test: pytest replaces the streams of a fixture.
    """
    stream = FakeTerminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(waiting, "SECONDS_UNTIL_SHOWN", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    return stream


def wait_for(stream: FakeTerminal, text: str) -> None:
    """Wait until a text is drawn."""
    until = time.monotonic() + HANG
    while text not in stream.getvalue():
        assert time.monotonic() < until, stream.getvalue()
        time.sleep(0.01)


def test_v_logs_to_standard_error_and_leaves_the_report_as_it_is() -> None:
    plain, said, all_said = (RUN.invoke(app, [*XOR, *more]) for more in ([], ["-v"], ["-vv"]))
    heads = [result.stdout.splitlines()[:2] for result in (plain, said, all_said)]
    assert heads[0] == heads[1] == heads[2]
    assert plain.stderr == ""
    assert "equimargin." not in said.stdout + all_said.stdout
    assert "equimargin.solvers.registry: smo: optimal, " in said.stderr
    assert "equimargin.solvers.progress" not in said.stderr
    assert re.search(r"^equimargin.solvers.progress: smo: iteration \d+, ", all_said.stderr, re.M)
    assert logging.getLogger("equimargin").level == logging.NOTSET
    assert len(logging.getLogger("equimargin").handlers) == 1


def test_a_bar_has_the_phrase_the_share_and_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    error = make_terminal(monkeypatch)
    with WaitingBar("counting") as bar:
        wait_for(error, "counting")
        bar.show("1 of 4", 0.25)
        time.sleep(0.01)
        bar.show("2 of 4", 0.5)
        wait_for(error, "2 of 4, about 0 s left")
        bar.show("almost")
        wait_for(error, "almost ")
    assert error.getvalue().endswith("\x1b[2K")
    assert "\x1b[?25h" in error.getvalue()


def test_a_bar_has_the_gap_of_the_running_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    error = make_terminal(monkeypatch)
    figures = {"solver": "smo", "primal": 2.0, "dual": 1.0, "tol": 1e-6, "seconds": 0.1}
    with WaitingBar("auditing", gaps=True) as bar:
        shares = []
        for iterations, gap in ((1, 1.0), (2, 1e-2), (3, 1e-3), (1, 1e-1), (2, 1e-7)):
            LOG.debug(CHECK, figures | {"iterations": iterations, "gap": gap})
            shares.append((bar.doing, bar._share))
        wait_for(error, "auditing")
        LOG.debug(CHECK, figures | {"iterations": 1, "gap": 1.8e-6, "tol": 1.5e-6})
        assert bar.doing == "smo, this run: relative gap 1.8e-06 of 1.5e-06"
    assert shares == [
        ("smo, this run: relative gap 1.0e+00 of 1e-06", 0.0),
        ("smo, this run: relative gap 1.0e-02 of 1e-06", pytest.approx(1 / 3)),
        ("smo, this run: relative gap 1.0e-03 of 1e-06", pytest.approx(1 / 2)),
        ("smo, this run: relative gap 1.0e-01 of 1e-06", 0.0),
        ("auditing", None),
    ]
    assert not LOG.isEnabledFor(logging.DEBUG)
    assert LOG.handlers == []


def test_no_bar_in_a_pipe_or_with_logs(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    error = make_terminal(monkeypatch)
    with caplog.at_level(logging.INFO, "equimargin"), WaitingBar("working"):
        time.sleep(0.05)
    pipe = io.StringIO()
    monkeypatch.setattr(sys, "stderr", pipe)
    with WaitingBar("working"):
        time.sleep(0.05)
    assert error.getvalue() == pipe.getvalue() == ""


def test_a_short_wait_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    error = make_terminal(monkeypatch)
    monkeypatch.setattr(waiting, "SECONDS_UNTIL_SHOWN", 60.0)
    with WaitingBar("working"):
        pass
    assert error.getvalue() == ""


def test_no_bar_starts_after_its_context(monkeypatch: pytest.MonkeyPatch) -> None:
    error = make_terminal(monkeypatch)
    monkeypatch.setattr(waiting, "SECONDS_UNTIL_SHOWN", 60.0)
    with WaitingBar("working") as bar:
        pass
    bar._draw()  # As by a thread that has imported rich meanwhile.
    assert error.getvalue() == ""
    assert bar._bar is None


AT_ONCE = (
    "import equimargin.cli.output.waiting as w; w.SECONDS_UNTIL_SHOWN = 0.0; "
    "from equimargin.cli import main; main()"
)


@pytest.mark.slow
def test_a_terminal_shows_a_bar_and_removes_it(tmp_path: Path) -> None:
    terminal = Terminal(
        "path", "breast_cancer", "--scale", "--lambda-min", "0.01", columns=100,
        program=("-c", AT_ONCE),
    )  # fmt: skip
    assert terminal.finish() == 0, terminal.output
    assert re.search(r"breakpoints, lambda = [0-9.]+", terminal.text)
    assert "\x1b[?25h" in terminal.output
    assert terminal.screen.splitlines()[0].startswith("breast_cancer")
    assert "━" not in terminal.screen
