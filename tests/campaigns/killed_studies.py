"""Studies that are killed at random moments and resumed.

    python -m campaigns killed_studies --seed 1 --runs 20 process

A study stores an answer of every solver to every problem of its plan. No answer may be
lost or present twice, and the table must be that of a study without a kill. The killed
process is the study itself, one of joblib's workers, one of Dask's workers, or the
scheduler of a Dask cluster. Exit status 1 if the table is another one, or if no study
was running when it was to be killed.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from campaigns.runner import At, Campaign, Check, Trial
from equimargin.study import Study

PLAN = """
[grid]
C = [0.1, 0.3, 1, 3, 10]
seed = [0, 1, 2, 3]
family = ["svm.soft", "svm.l2"]
solver = ["CLARABEL", "SCS", "smo"]

[[data]]
source = "iris"
sample = 25
"""
"""Plan of every study; its answers take about ten milliseconds each."""
TIMES = ("compile_seconds", "solve_seconds", "cpu_seconds", "finished")
"""Columns that differ from run to run."""
ANSWERS = 200
"""Number of answers of a study."""
MET = "killed at work"
"""Outcome of a study that was killed while it was running."""
THROUGH = "was through already"
"""Outcome of a study that had all its answers before the kill."""
ABOUT_AN_ANSWER = 0.02
"""Maximum delay of a kill after a random number of answers, in seconds.

An answer takes less, so that a kill may fall at any moment of it.
"""
LONGEST = 300.0
"""Time limit of a study to begin or to end, in seconds; beyond it the study hangs."""
EXECUTORS = {
    "process": (),
    "joblib-worker": ("--executor", "joblib", "--jobs", "2"),
    "dask-worker": ("--executor", "dask", "--jobs", "2"),
    "dask-scheduler": ("--executor", "dask"),
}
"""Options of a study, by the kind of process that is killed."""


def study(folder: Path, name: str, *options: str) -> subprocess.Popen[bytes]:
    """Begin or resume a study of the plan."""
    plan = folder / f"{name}.toml"
    plan.write_text(PLAN, encoding="utf-8")
    command = [sys.executable, "-m", "equimargin", "study", str(plan), "--resume", *options]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def answered(file: Path) -> int:
    """Return the number of answers of a study."""
    with suppress(OSError):
        return Study(file).progress().total("answered")
    return 0


def table(file: Path) -> list[dict[str, Any]]:
    """Return the final table without its times."""
    return [
        {name: value for name, value in row.items() if name not in TIMES}
        for row in Study(file).records()
    ]


def descendants(process: int) -> Iterator[int]:
    """Yield the descendants of a process."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, IndexError):
            if int(stat.read_text().rpartition(")")[2].split()[1]) == process:
                yield int(stat.parent.name)
                yield from descendants(int(stat.parent.name))


def workers(process: int) -> list[int]:
    """Return the descendants that are workers of joblib or Dask."""
    found = []
    for each in descendants(process):
        with suppress(OSError):
            command = Path(f"/proc/{each}/cmdline").read_text()
            if ("popen_loky" in command or "spawn_main" in command) and "tracker" not in command:
                found.append(each)
    return found


def quiet(*command: str) -> subprocess.Popen[bytes]:
    """Start a program without output."""
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@contextmanager
def cluster(folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Yield a Dask cluster of two workers: its scheduler's address, and the scheduler."""
    file = folder / "scheduler.json"
    file.unlink(missing_ok=True)
    scheduler = [
        sys.executable,
        "-m",
        "distributed.cli.dask_scheduler",
        "--host",
        "127.0.0.1",
        "--port",
        "0",
        "--no-dashboard",
    ]
    worker = [
        sys.executable,
        "-m",
        "distributed.cli.dask_worker",
        "--nthreads",
        "1",
        "--no-dashboard",
        "--death-timeout",
        "10",
    ]
    running = [quiet(*scheduler, "--scheduler-file", str(file))]
    try:
        until = time.monotonic() + LONGEST
        while not file.exists() and time.monotonic() < until:
            time.sleep(0.1)
        # The file is being written.
        time.sleep(0.5)
        options = ["--scheduler-file", str(file), "--local-directory", str(folder)]
        running += [quiet(*worker, *options) for _ in range(2)]
        yield json.loads(file.read_text())["address"], running[0]
    finally:
        for process in running:
            process.terminate()
        for process in running:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(20)


def killed_once(folder: Path, name: str, victim: str, chance: random.Random) -> str:
    """Begin or resume a study, kill a process of it at random, and return the outcome."""
    file = folder / f"{name}.sqlite"
    before = answered(file)
    if before >= ANSWERS:
        return THROUGH
    if victim == "dask-scheduler":
        with cluster(folder) as (address, scheduler):
            return _killed(
                study(folder, name, *EXECUTORS[victim], "--scheduler", address),
                file,
                before,
                chance,
                lambda _: scheduler.pid,
            )
    own = victim == "process"
    running = study(folder, name, *EXECUTORS[victim])
    return _killed(
        running,
        file,
        before,
        chance,
        lambda process: process if own else chance.choice(workers(process) or [process]),
    )


def _killed(
    running: subprocess.Popen[bytes],
    file: Path,
    before: int,
    chance: random.Random,
    whom: Callable[[int], int],
) -> str:
    """Kill a victim at a random moment, and wait for the study.

    The moment follows a random number of answers.
    """
    until, wanted = time.monotonic() + LONGEST, chance.randrange(before, ANSWERS)
    while running.poll() is None and answered(file) < wanted and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(chance.uniform(0.0, ABOUT_AN_ANSWER))
    said = THROUGH
    if running.poll() is None:
        at = answered(file)
        os.kill(whom(running.pid), signal.SIGKILL)
        said = f"killed at {at}"
    try:
        _, errors = running.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        running.kill()
        running.communicate(timeout=LONGEST)
        return f"{said}, HANGS"
    return f"{said}, TRACEBACK {errors.decode()[-2000:]}" if b"Traceback" in errors else said


def examined(folder: Path, victim: str, whole: list[dict[str, Any]], name: str, at: At) -> Trial:
    """Kill and resume one study; return complaints, and if it was running at the kill."""
    file, chance = folder / f"{name}.sqlite", random.Random(str([*at]))
    said = [killed_once(folder, name, victim, chance)]
    last = study(folder, name)
    _, errors = last.communicate(timeout=LONGEST)
    rows = table(file)
    with sqlite3.connect(file) as sql:
        checked = sql.execute("PRAGMA integrity_check").fetchone()[0]
    keys = [row["key"] for row in rows]
    lost, twice = len({row["key"] for row in whole} - set(keys)), len(keys) - len(set(keys))
    compared = "the same table" if rows == whole else f"ANOTHER TABLE: {difference(rows, whole)}"
    good = last.returncode == 0 and not lost and not twice and checked == "ok" and rows == whole
    wrong = any(word in each for each in said for word in ("HANGS", "TRACEBACK"))
    said += [f"{lost} lost, {twice} twice, integrity {checked}, {compared}", errors.decode()]
    met = THROUGH if said[0].startswith(THROUGH) else MET
    return Trial([] if good and not wrong else ["; ".join(said)], Counter([met]))


def no_kill(trials: Sequence[Trial]) -> Iterator[str]:
    """Yield a complaint if no kill met a running study."""
    if not any(trial.counts[MET] for trial in trials):
        yield "no kill met a study at work"


def difference(rows: list[dict[str, Any]], whole: list[dict[str, Any]]) -> str:
    """Return the first difference of a table from that of the study without a kill."""
    for row, other in zip(rows, whole, strict=False):
        if row != other:
            differences = {
                name: (value, other.get(name))
                for name, value in row.items()
                if value != other.get(name)
            }
            return f"{row['key']}: {differences}"
    return f"{len(rows)} rows in the place of {len(whole)}"


def checks(_: int) -> Iterator[Check]:
    """Yield the check of each kind of victim, after a study without a kill."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        study(folder, "whole").communicate(timeout=LONGEST)
        whole = table(folder / "whole.sqlite")
        for victim in EXECUTORS:
            yield Check(
                victim,
                partial(examined, folder, victim, whole),
                lambda at, victim=victim: f"{victim}-{at.number}",  # type: ignore[misc]
                wrong=no_kill,
            )


CAMPAIGN = Campaign(__name__, __doc__, checks, 20, unit="runs")
