"""Hosted workflows: pinned actions, least permissions, the Pythons of the classifiers."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

from places import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
CHECK = (ROOT / ".github" / "workflows" / "check.yml").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PINNED = re.compile(r"([\w-]+/[\w-]+)(/[\w-]+)*@([0-9a-f]{40}) # (v\d+\.\d+\.\d+)")
"""Action, digest of its commit, and version."""


def uses(text: str) -> list[str]:
    """Return the actions of a workflow, as written."""
    return re.findall(r"^ *(?:- )?uses: *(.+)$", text, re.MULTILINE)


def test_every_action_is_pinned_by_one_digest() -> None:
    pins = defaultdict(set)
    for file in WORKFLOWS:
        actions = uses(file.read_text(encoding="utf-8"))
        assert actions, file.name
        for action in actions:
            pin = PINNED.fullmatch(action)
            assert pin is not None, (
                f"{file.name}: pin {action} by 40 hex digits, and name its version in a comment"
            )
            pins[pin[1]].add((pin[3], pin[4]))
    assert [action for action, digests in pins.items() if len(digests) > 1] == []


@pytest.mark.parametrize(
    "action",
    [
        "actions/checkout@v4",
        "actions/checkout@main # v4.2.2",
        f"actions/checkout@{'0' * 39} # v4.2.2",
        f"actions/checkout@{'0' * 40}",
        f"actions/checkout@{'0' * 40} # v4",
    ],
)
def test_actions_that_are_not_pinned_are_found(action: str) -> None:
    assert uses(f"steps:\n  - uses: {action}\n") == [action]
    assert PINNED.fullmatch(action) is None


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_a_workflow_may_read_and_only_report(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert re.findall(r"^permissions:\n((?: +.+\n)+)", text, re.MULTILINE) == ["  contents: read\n"]
    granted = set(re.findall(r"^ +([a-z-]+): write", text, re.MULTILINE))
    assert granted <= ({"security-events"} if file.stem != "check" else set())
    assert text.count("actions/checkout@") == text.count("persist-credentials: false")
    assert text.count("runs-on:") == text.count("timeout-minutes:")


def test_the_pythons_are_those_of_the_classifiers() -> None:
    pythons = {
        version.removeprefix("Programming Language :: Python :: ")
        for version in PROJECT["classifiers"]
        if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", version)
    }
    assert set(re.findall(r'python: "(3\.\d+)"', CHECK)) == pythons
    minors = sorted(int(version.removeprefix("3.")) for version in pythons)
    assert PROJECT["requires-python"] == f">=3.{minors[0]}"
    assert minors == list(range(minors[0], minors[-1] + 1))


def test_commands_of_the_workflow_exist() -> None:
    targets = set(re.findall(r"\bmake ([a-z-]+)", CHECK))
    assert targets >= {"check", "check-oldest", "check-newest"}
    assert targets <= set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
    tests = re.findall(r"\btests/\S+\.py", CHECK)
    assert tests
    assert [test for test in tests if not (ROOT / test).is_file()] == []
    assert "bash .ci/run" in CHECK


def test_only_pre_releases_may_fail() -> None:
    may_fail = [line for line in CHECK.splitlines() if "may-fail: true" in line]
    assert ["PIP_PRE=1" in line for line in may_fail] == [True]
