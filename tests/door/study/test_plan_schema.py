"""JSON Schema of plans: it refuses what the reader refuses, and nothing else."""

from __future__ import annotations

import ast
import copy
import json
import re
import tomllib
from collections.abc import Iterator
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equimargin.formulations.kernels.registry import KERNELS, list_parameters
from equimargin.study.plan import DATA, GRID, KERNEL, STUDY, PlanError, read_plan
from places import ROOT
from schema import PLANS, plan_faults

WHOLE: dict[str, Any] = tomllib.loads((ROOT / "tests/corpus/plan/whole").read_text())
"""Plan with most of the keys."""
VALUES: tuple[Any, ...] = (
    *(0, 1, 3, -1, 2**32 - 1, 2**32, 10**400, 0.5, 2.0, -0.5, 1e308, 5e-324, inf, -inf, nan),
    *(True, False, "", "a", ".", "mean", "one-hot", "highest", "ranking", "ordinal", "scale"),
    *("rbf", "linear", "poly", "polynomial", "sigmoid", "precomputed", "mine"),
    *([], [1], [0.5, 2], [1, "a"], ["a"], [""], [True], [nan], [inf], [[1]], {}, {"a": 1}, [{}]),
)
"""Values, right for some keys and wrong for others."""
KEYS = [
    *((name, key) for name, readers in (("study", STUDY), ("grid", GRID)) for key in readers),
    *((name, key) for name, readers in (("data", DATA), ("kernel", KERNEL)) for key in readers),
    *((name, "other") for name in ("study", "grid", "data", "kernel")),
    *(("", name) for name in ("study", "grid", "data", "kernel", "other")),
]
"""Tables with their keys; an empty name is the plan itself."""


def written(value: Any) -> str:
    """Return a value in TOML."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{json.dumps(k)} = {written(v)}' for k, v in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    return json.dumps(value) if isinstance(value, str | bool) else repr(value)


@st.composite
def plans(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a plan in which a few values are replaced or missing."""
    plan = copy.deepcopy(WHOLE)
    for name, key in draw(st.lists(st.sampled_from(KEYS), min_size=1, max_size=4)):
        at = plan if not name else plan.get(name)
        at = at[0] if isinstance(at, list) and at else at
        if not isinstance(at, dict):
            continue
        if draw(st.integers(0, 3)):
            at[key] = draw(st.sampled_from(VALUES))
        else:
            at.pop(key, None)
    return plan


def is_read(text: str, folder: Path) -> bool:
    """Return True if the reader takes a plan."""
    file = folder / "plan.toml"
    file.write_text(text, encoding="utf-8")
    try:
        read_plan(file)
    except PlanError:
        return False
    return True


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder for plans."""
    return tmp_path_factory.mktemp("plans")


@settings(max_examples=120)
@given(plan=plans())
def test_schema_and_reader_refuse_the_same_plans(folder: Path, plan: dict[str, Any]) -> None:
    text = "\n".join(f"{name} = {written(value)}" for name, value in plan.items())
    assert is_read(text, folder) == (not [*plan_faults(plan)]), text


def texts_of_plans() -> Iterator[str]:
    """Yield the plans of the documentation, of the corpus and of the tests."""
    yield (ROOT / "tests/corpus/plan/whole").read_text()
    for page in sorted((ROOT / "docs").rglob("*.md")):
        yield from re.findall(
            r"```\{code-block\} toml\n(?::.*\n)*(.*?)```", page.read_text(encoding="utf-8"), re.S
        )
    for module in sorted((ROOT / "tests").rglob("*.py")):
        if "[[data]]" in (source := module.read_text(encoding="utf-8")):
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield node.value


def test_schema_and_reader_agree_on_every_written_plan(folder: Path) -> None:
    agreed = {True: 0, False: 0}
    for text in texts_of_plans():
        try:
            tables = tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            continue
        if "data" in tables:
            taken = is_read(text, folder)
            assert taken == (not [*plan_faults(tables)]), text
            agreed[taken] += 1
    assert agreed[True] >= 5
    assert agreed[False] >= 5


def test_schema_has_the_keys_of_the_reader_and_the_kernels_of_the_package() -> None:
    tables = PLANS["properties"]
    assert {*tables["study"]["properties"]} == {*STUDY}
    assert {*tables["grid"]["properties"]} == {*GRID}
    assert {*tables["data"]["items"]["properties"]} == {*DATA}
    *of_package, of_plugins = PLANS["$defs"]["kernel"]["anyOf"]
    assert {*of_plugins["properties"]} == {*KERNEL}
    names = [name for name in KERNELS if KERNELS[name].__module__.startswith("equimargin.")]
    parameters = {
        name: {*one["properties"]} - {"name"}
        for one in of_package
        for name in one["properties"]["name"].get("enum", [one["properties"]["name"].get("const")])
    }
    assert parameters == {name: {*list_parameters(name)} for name in (*names, "polynomial")}
    assert {*PLANS["$defs"]["known"]["enum"]} == {*parameters}
