"""Limits of calls that wait for a process, a thread, a queue or a cluster, and of tests."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from places import HANG, ROOT

FOLDERS = (
    "formulations",
    "solvers",
    "proofs",
    "src/equimargin",
    "tests",
    "benchmarks",
    "examples",
    "docs",
)
LIMITED_BY_KEYWORD = {
    "run",
    "call",
    "check_call",
    "check_output",
    "communicate",
    "wait_for_workers",
    "as_completed",
}
"""Functions with the time limit in the argument `timeout`."""
LIMITED_BY_AN_ARGUMENT = {"wait", "join", "get", "result", "exception", "acquire"}
"""Methods that wait without limit if called without arguments, unlike `text.join(parts)`."""
PROCESSES = {"run", "call", "check_call", "check_output"}


def is_without_limit(call: ast.Call) -> bool:
    """Return True if a call waits and has no limit."""
    if any(word.arg == "timeout" for word in call.keywords):
        return False
    if isinstance(call.func, ast.Name):  # In `concurrent.futures` the second argument is the limit.
        return call.func.id in ("wait", "as_completed") and len(call.args) < 2
    if not isinstance(call.func, ast.Attribute):
        return False
    name, owner = call.func.attr, call.func.value
    if name in PROCESSES:
        return isinstance(owner, ast.Name) and owner.id == "subprocess"
    if isinstance(owner, ast.Name) and owner.id.isupper():  # a ContextVar
        return False
    return name in LIMITED_BY_KEYWORD or (name in LIMITED_BY_AN_ARGUMENT and not call.args)


def waits_without_limit(source: str) -> Iterator[int]:
    """Yield the lines of calls that wait and have no limit."""
    return (
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and is_without_limit(node)
    )


def test_every_wait_has_a_limit() -> None:
    files = [
        file
        for folder in FOLDERS
        for file in (ROOT / folder).rglob("*.py")
        if not file.is_symlink()
    ]
    assert len(files) > 300
    places = [
        f"{file.relative_to(ROOT)}:{line}"
        for file in files
        for line in waits_without_limit(file.read_text(encoding="utf-8"))
    ]
    assert not places, f"calls that may wait for ever; give each a timeout: {', '.join(places)}"


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("subprocess.run(command)\nsubprocess.run(command, timeout=3)", [1]),
        ("process.wait()\nprocess.wait(3)\nprocess.communicate(text)", [1, 3]),
        ("client.wait_for_workers(2)\nclient.wait_for_workers(2, timeout=3)", [1]),
        ("thread.join()\n', '.join(parts)\nthread.join(timeout=3)", [1]),
        ("queue.get()\ntable.get(key)\n_CLOCK.get()", [1]),
        ("wait(futures)\nwait(futures, 3)\nfuture.result()", [1, 3]),
    ],
)
def test_waits_without_limit_are_found(source: str, lines: list[int]) -> None:
    assert list(waits_without_limit(source)) == lines


def test_stuck_test_is_ended_with_all_stacks(tmp_path: Path) -> None:
    stuck = tmp_path / "test_stuck.py"
    stuck.write_text(
        "import threading\n\ndef test_stuck():\n    threading.Event().wait()\n", encoding="utf-8"
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-c",
        str(ROOT / "pyproject.toml"),
        "-o",
        "faulthandler_timeout=1",
        "-p",
        "no:cacheprovider",
    ]
    ended = subprocess.run(
        [*command, str(stuck)], cwd=tmp_path, capture_output=True, text=True, timeout=HANG
    )
    assert ended.returncode == 1
    assert "Timeout (0:00:01)!" in ended.stderr
    assert "in test_stuck" in ended.stderr


def test_every_test_has_a_limit(pytestconfig: pytest.Config) -> None:
    assert float(pytestconfig.getini("faulthandler_timeout")) > HANG
    assert pytestconfig.getini("faulthandler_exit_on_timeout")
