"""Other systems: names, signals and limits that only Unix or only Linux has."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from equimargin.cli import app
from equimargin.cli.output.errors import _exit_at_once
from equimargin.cli.output.screen import unread_output_kept
from equimargin.formulations.numeric import jit
from equimargin.solvers.interrupt import interruptible
from equimargin.study import database, memory
from places import HANG, ROOT


@pytest.fixture
def windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Name the system Windows, without Unix's signals; return the calls of `os.kill`.

    pytest needs users to make its folder, which is therefore made first.
    """
    calls: list[tuple[Any, ...]] = []
    monkeypatch.setattr(sys, "platform", "win32")
    for name in ("SIGKILL", "pthread_sigmask", "sigpending", "setitimer"):
        monkeypatch.delattr(signal, name)
    monkeypatch.delattr(os, "getuid")
    for module in ("fcntl", "resource", "termios"):
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr(os, "kill", lambda *arguments: calls.append(arguments))
    return calls


@pytest.fixture
def without_proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the files of Linux's kernel from the modules of studies."""
    for module in (database, memory):
        monkeypatch.setattr(module, "Path", lambda name: tmp_path / name.lstrip("/"))


def test_processes_are_ended_by_a_signal_of_windows(
    windows: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    children = [SimpleNamespace(pid=7), SimpleNamespace(pid=None)]
    monkeypatch.setattr(multiprocessing, "active_children", lambda: children)
    statuses: list[int] = []
    monkeypatch.setattr(os, "_exit", statuses.append)
    _exit_at_once(3)
    assert (windows, statuses) == ([(7, signal.SIGTERM)], [3])


def test_a_lost_interrupt_does_not_end_the_process_on_windows(
    windows: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    raised: list[int] = []
    monkeypatch.setattr(signal, "raise_signal", raised.append)
    app._interrupt()
    assert (windows, raised) == ([], [signal.SIGINT])


@pytest.mark.usefixtures("hearing", "windows")
def test_native_work_is_interrupted_where_signals_cannot_be_blocked() -> None:
    asked = threading.Event()
    threading.Timer(0.2, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        interruptible(lambda: asked.wait(20), asked.set)
    assert asked.is_set()
    assert interruptible(lambda: 7) == 7


@pytest.mark.usefixtures("windows")
def test_a_cache_without_users_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "equimargin").mkdir(mode=0o777)
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    assert jit.cache_directory.__wrapped__() is not None


@pytest.mark.usefixtures("windows")
def test_a_terminal_without_settings_is_left_as_it_is() -> None:
    with unread_output_kept():
        pass


@pytest.mark.usefixtures("windows", "without_proc")
def test_memory_is_limited_on_linux_alone() -> None:
    with memory.limited(10):
        assert len(bytes(10**8)) == 10**8


def row(process: int, seen: float) -> dict[str, Any]:
    """Return the row of a process of this machine in a study's database."""
    return {"process": process, "machine": database._machine(), "born": "", "seen": seen}


@pytest.mark.usefixtures("without_proc")
def test_a_process_is_looked_up_where_its_start_is_unknown() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait(HANG)
    assert database._lives(row(os.getpid(), 0.0))
    assert not database._lives(row(ended.pid, time.time()))


def test_a_process_on_windows_must_have_reported(windows: list[tuple[Any, ...]]) -> None:
    """There os.kill(process, 0) would interrupt it."""
    assert database._lives(row(os.getpid(), time.time()))
    assert not database._lives(row(os.getpid(), 0.0))
    assert windows == []


WINDOWS = """
from types import SimpleNamespace
import os, signal, sys, warnings
# They were made for their system.
import cvxpy, highspy, joblib, numba, sklearn.svm, sqlite3, threadpoolctl, typer, rich.console
from rich import box, live, progress, table
warnings.filterwarnings("error", category=EncodingWarning, module=r"equimargin\\b")
for name in ("SIGKILL", "SIGALRM", "SIGHUP", "pthread_sigmask", "sigpending", "setitimer"):
    delattr(signal, name)
for name in ("fork", "getuid", "geteuid", "getpgrp", "killpg", "tcgetpgrp", "mkfifo"):
    delattr(os, name)
for name in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules[name] = None
# It looks at the platform again with some calls.
threadpoolctl.sys = SimpleNamespace(**vars(sys))
os.kill, sys.platform = None, "win32"
from equimargin.cli import main
sys.argv[:] = ["equimargin", *sys.argv[1:]]
main()
"""
"""Command line without the names of Unix; a text file without an encoding is an error."""
PLAN = """
[grid]
family = "svm.soft"
solver = ["smo", "newton", "CLARABEL"]

[[data]]
source = "xor"
"""
"""Plan of a study."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["compare", "xor", "--jobs", "1", "--certify", "."], "AGREE"),
        (["study", "plan.toml", "--database", "plan.sqlite"], " solved, 0 failed"),
    ],
)
def test_commands_work_without_what_unix_alone_has(
    tmp_path: Path, command: list[str], said: str
) -> None:
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, "-X", "warn_default_encoding", "-c", WINDOWS, *command],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=HANG,
    )
    assert ended.returncode == 0, ended.stderr
    assert said in ended.stdout
