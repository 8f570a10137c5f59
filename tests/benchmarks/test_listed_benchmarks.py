"""List of the benchmarks: `python benchmarks/run.py`."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from places import HANG, ROOT

COLUMNS = 100
"""Maximum columns of a line of the list."""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the program that starts all benchmarks."""
    return subprocess.run(
        [sys.executable, "benchmarks/run.py", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=HANG,
    )


@pytest.mark.parametrize("arguments", [(), ("--help",)])
def test_run_without_a_name_lists_every_benchmark(arguments: tuple[str, ...]) -> None:
    answer = run(*arguments)
    assert (answer.returncode, answer.stderr) == (0, "")
    usage, listed = answer.stdout.split("\n\n")
    assert "NAME --help" in usage
    summaries = dict(line.split(maxsplit=1) for line in listed.splitlines())
    files = {name: ROOT / "benchmarks" / f"{name.replace('.', '/')}.py" for name in summaries}
    for name, file in files.items():
        assert f'"""{summaries[name]}.\n' in file.read_text(encoding="utf-8")
    assert max(map(len, listed.splitlines())) <= COLUMNS
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    in_text = re.compile(r"benchmarks/run\.py ([\w.]+)")
    assert set(in_text.findall(page + makefile)) - {"kinds."} == set(summaries)


def test_run_of_an_unknown_name_fails_and_names_the_list() -> None:
    answer = run("kinds.none", "--quick")
    assert answer.returncode == 1
    assert answer.stderr == (
        "there is no benchmark 'kinds.none'; python benchmarks/run.py lists all\n"
    )
