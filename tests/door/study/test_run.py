"""Running studies: missing answers are run once, and failures are answers with reasons."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from importlib.metadata import EntryPoint
from itertools import islice
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest

from equimargin.formulations import classification, rbf
from equimargin.own import plugins
from equimargin.proofs.referee.judgement import Judgement
from equimargin.request import ComparisonRequest
from equimargin.study import Study
from equimargin.study import answer as module
from equimargin.study.answer import ChangedData, answer, provenance
from equimargin.study.database import Database
from equimargin.study.executors import Done, Executor, Work, WorkersDied, local
from equimargin.study.grid import AnswerSpec, grid
from equimargin.study.memory import estimate, in_words, parse_bytes
from equimargin.study.plan import DataPlan, KernelPlan, Plan
from equimargin.study.run import WorkerFailed, _AnswerLeases, run
from places import HANG

TIMES = ("compile_seconds", "solve_seconds", "cpu_seconds", "finished")


def of_xor(time_limit: float = 60.0) -> list[AnswerSpec]:
    """Return answers on exclusive or."""
    request = ComparisonRequest(solvers=("smo", "CLARABEL"), tol=1e-6, time_limit=time_limit)
    kernels = (KernelPlan("polynomial", {"degree": 2, "gamma": 1.0, "coef0": 1.0}),)
    return grid(
        Plan("xor", "", (DataPlan("xor"),), kernels, families=("svm.soft",), request=request)
    )


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Database]:
    """Yield a database that requests answers on exclusive or."""
    with Database(tmp_path / "study.sqlite", writes=True) as database:
        database.enter("xor", "", of_xor())
        yield database


def test_every_answer_is_a_row_with_its_proof(opened: Database) -> None:
    run(opened, local())
    study = Study(opened.file)
    assert study.progress().complete
    assert study.progress().holders == []
    records = study.records()
    assert len(records) == len(of_xor())
    for row in records:
        assert (row["ok"], row["agreement"], row["points"], row["features"]) == (1, "agrees", 4, 2)
        assert row["lower"] <= 0.25 <= row["upper"]
        assert row["cpu_seconds"] >= 0
        assert len(row["code"]) == 16
    (problem,) = study.problems()
    assert problem.interval.relative_width < 1e-6
    assert not problem.against


def test_what_is_there_is_not_run_again(opened: Database) -> None:
    ran: list[AnswerSpec] = []

    def stopping(leased: Iterator[AnswerSpec]) -> Iterator[Done]:
        for asked in leased:
            ran.append(asked)
            if len(ran) == 2:
                raise KeyboardInterrupt
            yield asked, answer(asked)

    with pytest.raises(KeyboardInterrupt):
        run(opened, Executor(lambda: nullcontext(stopping)))
    assert Study(opened.file).progress().total("leased") == 0
    run(opened, Executor(lambda: nullcontext(stopping)))
    assert [ran.count(asked) for asked in of_xor()] == [1, 2, *[1] * (len(of_xor()) - 2)]


def test_what_ends_its_process_is_tried_again_and_then_told(opened: Database) -> None:
    deadly = of_xor()[0]
    tries = []

    def dying(leased: Iterator[AnswerSpec]) -> Iterator[Done]:
        """Yield all answers at once, so that one crash is that of all."""
        together = list(leased)
        if deadly in together:
            tries.append(len(together))
            raise WorkersDied
        yield from ((asked, answer(asked)) for asked in together)

    run(opened, Executor(lambda: nullcontext(dying)))
    assert tries == [len(of_xor()), 1, 1, 1, 1]
    rows = Study(opened.file).records()
    assert [row["ok"] for row in rows] == [0, *[1] * (len(of_xor()) - 1)]
    assert rows[0]["reason"] == f"the process that ran it crashed, {len(tries)} times"


def test_an_exception_is_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object, **__: object) -> object:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(module, "compare", failing)
    found = answer(of_xor()[0])
    assert (found["status"], found["ok"], found["reason"]) == (
        "numerical_failure",
        False,
        "ZeroDivisionError: by zero",
    )


def test_the_reason_of_an_answer_is_why_it_does_not_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """The status "optimal" of its backend is no reason for a failure."""
    monkeypatch.setattr(
        Judgement, "ground", property(lambda judgement: "its own conditions are missed")
    )
    assert answer(of_xor()[0])["reason"] == "its own conditions are missed"


def test_no_time_is_an_answer() -> None:
    asked = next(each for each in of_xor(time_limit=1e-9) if each.formulation is None)
    found = answer(asked)
    assert found["status"] in ("time_limit", "optimal")
    assert found["reason"]


def test_an_answer_that_is_too_large_is_not_begun() -> None:
    found = answer(of_xor()[0], memory=100)
    assert (found["status"], found["agreement"]) == ("too_large", "skipped")
    assert found["reason"].endswith("and --memory allows 100 B")


def test_a_study_with_more_memory_runs_what_was_too_large(opened: Database) -> None:
    run(opened, local(memory=100))
    assert Study(opened.file).progress().total("skipped") == len(of_xor())
    run(opened, local(memory=100))
    assert Study(opened.file).progress().total("skipped") == len(of_xor())
    run(opened, local())
    assert Study(opened.file).progress().total("solved") == len(of_xor())


def test_suspects_are_run_by_one_executor(opened: Database) -> None:
    times: list[str] = []

    @contextmanager
    def once() -> Iterator[Work]:
        times.append("opened")
        yield lambda leased: (
            (asked, {"status": "optimal", "ok": 1, "agreement": "agrees", "provenance": {}})
            for asked in leased
        )

    with opened.held():
        while opened.lease():
            pass
        opened.give_back(died=True)
    run(opened, Executor(once))
    assert Study(opened.file).progress().complete
    assert times == ["opened"]


def test_nothing_is_leased_once_it_is_over(opened: Database) -> None:
    """A thread of joblib may request an answer after the others were returned."""
    kept: list[Iterator[AnswerSpec]] = []

    def dying(leased: Iterator[AnswerSpec]) -> Iterator[Done]:
        kept.append(leased)
        yield from ((asked, answer(asked)) for asked in islice(leased, 1))
        raise WorkersDied

    run(opened, Executor(lambda: nullcontext(dying)))
    with opened.held():
        opened._sql.execute("DELETE FROM answer")
        assert [next(leased, None) for leased in kept] == [None] * len(kept)
        assert opened.lease() is not None


def test_what_is_being_leased_is_leased_before_it_is_over(
    opened: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lease after all were returned would have no worker."""
    order: list[str] = []
    begun, may_end = Event(), Event()

    def slow(_: Database) -> None:
        begun.set()
        may_end.wait(1.0)
        order.append("leased")

    monkeypatch.setattr(Database, "lease", slow)
    leased = _AnswerLeases(opened)
    thread = Thread(target=lambda: next(leased, None))
    thread.start()
    assert begun.wait(HANG)
    leased.end()
    order.append("over")
    may_end.set()
    thread.join(HANG)
    assert order == ["leased", "over"]


def test_a_worker_that_cannot_work_is_a_sentence(opened: Database) -> None:
    def failing(leased: Iterator[AnswerSpec]) -> Iterator[Done]:
        next(leased)
        yield from ()
        raise ModuleNotFoundError("No module named\n'cvxpy'")

    with pytest.raises(
        WorkerFailed,
        match=r"ModuleNotFoundError: No module named 'cvxpy'\); the answers that were written are "
        r"kept",
    ):
        run(opened, Executor(lambda: nullcontext(failing)))
    assert Study(opened.file).progress().total("leased") == 0


def test_plug_ins_belong_to_the_code(tmp_path: Path) -> None:
    file = tmp_path / "plug_in_of_a_digest.py"
    file.write_text("X = 1")
    first = provenance((str(file),))["code"]
    provenance.cache_clear()
    file.write_text("X = 2")
    assert len({first, provenance((str(file),))["code"], provenance()["code"]}) == 3


def test_installed_plug_ins_are_of_every_answer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    point = EntryPoint("mine", "plug_in_of_an_installation", plugins.GROUP)
    (tmp_path / "plug_in_of_an_installation.py").write_text("X = 1")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(plugins, "entry_points", lambda group: [point])
    monkeypatch.setattr(plugins, "LOADED", {})
    assert [*plugins.load_installed()] == []
    assert {each.plugins for each in of_xor()} == {("plug_in_of_an_installation",)}
    assert answer(of_xor()[0])["provenance"]["code"] != provenance()["code"]


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="only Linux limits the memory of a process"
)
def test_an_answer_that_takes_too_much_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy(*_: object, **__: object) -> object:
        return np.ones(10**8)

    monkeypatch.setattr(module, "compare", greedy)
    found = answer(of_xor()[0], memory=10**8)
    assert (found["status"], found["agreement"], found["reason"]) == (
        "too_large",
        "failed",
        "stopped: --memory 95.4 MB was not enough",
    )
    assert len(np.ones(10**8)) == 10**8


def test_an_estimate_grows_with_what_is_kept() -> None:
    X, y = np.random.default_rng(0).normal(size=(100, 2)), np.resize([1.0, -1.0], 100)
    flat, round_ = classification(X, y), classification(X, y, kernel=rbf(1.0))
    assert (
        estimate(flat, declared=False)
        < estimate(flat, declared=True)
        < estimate(round_, declared=True)
    )
    assert estimate(round_, declared=True) == 12 * 8 * 100 * 100


@pytest.mark.parametrize(
    ("text", "count"), [("500M", 500 * 2**20), ("2g", 2**31), ("1.5 KB", 1536), ("7", 7)]
)
def test_bytes_in_words(text: str, count: int) -> None:
    assert parse_bytes(text) == count
    assert parse_bytes(in_words(count)) == pytest.approx(count)


@pytest.mark.parametrize(
    ("count", "text"),
    [(1000, "1000 B"), (1000 * 2**20, "1000 MB"), (95 * 2**20, "95 MB"), (2**30, "1 GB")],
)
def test_words_of_bytes(count: int, text: str) -> None:
    assert in_words(count) == text


@pytest.mark.parametrize("text", ["", "0", "0.5", "-1G", "2X", "a lot"])
def test_no_bytes(text: str) -> None:
    with pytest.raises(ValueError, match="--memory must be a number of bytes"):
        parse_bytes(text)


def test_data_that_have_changed_end_the_study(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("a,b,label\n0,1,1\n1,0,-1\n2,2,1\n")
    (asked, *_) = grid(
        Plan(
            "rows",
            "",
            (DataPlan(str(rows)),),
            families=("svm.soft",),
            request=ComparisonRequest(solvers="smo"),
        )
    )
    rows.write_text("a,b,label\n0,1,1\n1,0,-1\n2,3,1\n")
    with pytest.raises(ChangedData, match="has changed since the study was planned"):
        answer(asked)


def command(plan: Path, *options: str) -> list[str]:
    """Return the command `study`."""
    return [sys.executable, "-m", "equimargin", "study", str(plan), *options]


@pytest.fixture
def planned(tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that writes a plan of 36 answers under a name."""

    def write(name: str) -> Path:
        file = tmp_path / f"{name}.toml"
        grid = (
            '[grid]\nC = [0.1, 1, 10]\nseed = [0, 1]\nfamily = "svm.soft"\nsolver = '
            '["CLARABEL", "SCS", "OSQP"]\nformulation = ["svm.soft.primal", "svm.soft.dual"]\n'
        )
        file.write_text(f'{grid}[[data]]\nsource = "iris"\nsample = 20\n')
        return file

    return write


def table(plan: Path) -> list[dict[str, Any]]:
    """Return the final table of a study without its times."""
    rows = Study(plan.with_suffix(".sqlite")).records()
    return [{name: value for name, value in row.items() if name not in TIMES} for row in rows]


@pytest.mark.slow
def test_a_killed_study_ends_as_one_that_was_not(planned: Callable[[str], Path]) -> None:
    killed, whole = planned("killed"), planned("whole")
    file = killed.with_suffix(".sqlite")
    with subprocess.Popen(command(killed), stdout=subprocess.DEVNULL) as process:
        while process.poll() is None and not (file.exists() and _answered(file) >= 5):
            pass
        process.send_signal(signal.SIGKILL)
    before = _answered(file)
    assert before >= 5
    assert (
        subprocess.run(
            command(killed, "--resume"), stdout=subprocess.DEVNULL, timeout=HANG
        ).returncode
        == 0
    )
    assert subprocess.run(command(whole), stdout=subprocess.DEVNULL, timeout=HANG).returncode == 0
    assert table(killed) == table(whole)
    assert len(table(whole)) == 36


def _answered(file: Path) -> int:
    """Return the number of answers of a study."""
    try:
        return Study(file).progress().total("answered")
    except OSError:  # The file is being created.
        return 0
