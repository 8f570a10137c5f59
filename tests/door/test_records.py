"""The JSON records of `compare` and `path` are what their schema in the package says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from equimargin.cli.app import app

RUN = CliRunner()
SCHEMA: dict[str, Any] = json.loads((files("equimargin.report") / "schema.json").read_text(encoding="utf-8"))
TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}
KNOWN = {"$ref", "type", "const", "enum", "minimum", "properties", "required", "additionalProperties", "items", "description"}
"""The words of JSON Schema that the validator below understands."""


def faults(value: Any, schema: dict[str, Any], where: str = "$") -> Iterator[str]:
    """What of a value is not as a schema says, by the words in KNOWN; others are an error."""
    assert set(schema) <= KNOWN, schema
    if "$ref" in schema:
        yield from faults(value, SCHEMA["$defs"][schema["$ref"].removeprefix("#/$defs/")], where)
    kinds = schema.get("type", list(TYPES))
    allowed = tuple(kind for name in ([kinds] if isinstance(kinds, str) else kinds) for kind in TYPES[name])
    if not isinstance(value, allowed) or (isinstance(value, bool) and bool not in allowed):
        yield f"{where} is {value!r}, not {kinds}"
    if "const" in schema and value != schema["const"]:
        yield f"{where} is {value!r}, not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where} is {value!r}, none of {schema['enum']}"
    if isinstance(value, int | float) and value < schema.get("minimum", value):
        yield f"{where} is {value!r}, too small"
    if isinstance(value, dict):
        known = schema.get("properties", {})
        yield from (f"{where} has no {name}" for name in schema.get("required", ()) if name not in value)
        yield from (f"{where}.{name} is not known" for name in value if name not in known and not schema.get("additionalProperties", True))
        for name in value.keys() & known.keys():
            yield from faults(value[name], known[name], f"{where}.{name}")
    if isinstance(value, list) and "items" in schema:
        for place, item in enumerate(value):
            yield from faults(item, schema["items"], f"{where}[{place}]")


def record(file: Path, *arguments: str) -> dict[str, Any]:
    """What a command writes."""
    result = RUN.invoke(app, [*arguments, "--json", str(file)])
    assert file.exists(), result.output
    found: dict[str, Any] = json.loads(file.read_text())
    return found


@pytest.mark.parametrize(
    "arguments",
    [
        ("compare", "xor", "--kernel", "polynomial", "--include-controls", "--solver", "CLARABEL", "--solver", "smo"),
        ("compare", "xor", "-C", "inf", "--solver", "CLARABEL"),
        ("compare", "diabetes", "--sample", "15", "--solver", "huber", "--scale"),
        ("compare", "xor", "--kernel", "sigmoid", "--solver", "CLARABEL"),
        ("compare", "xor", "--total-time", "0.001"),
        ("path", "xor", "--lambda-min", "0.1"),
        ("path", "breast_cancer", "--sample", "40", "--lambda-min", "0.1", "--validate", "2", "--max-events", "5"),
    ],
    ids=" ".join,
)
def test_records_are_as_their_schema_says(arguments: tuple[str, ...], tmp_path: Path) -> None:
    found = record(tmp_path / "out.json", *arguments)
    assert list(faults(found, SCHEMA["$defs"][arguments[0]])) == []
    other = {"compare": "path", "path": "compare"}[arguments[0]]
    assert list(faults(found, SCHEMA["$defs"][other])) != []


def test_both_commands_share_their_names(tmp_path: Path) -> None:
    compared = record(tmp_path / "a.json", "compare", "xor", "--solver", "smo", "--family", "svm.soft")
    followed = record(tmp_path / "b.json", "path", "xor", "--lambda-min", "0.1")
    shared = {"schema", "command", "equimargin", "data", "settings", "interrupted", "stopped", "seconds"}
    assert compared.keys() & followed.keys() == shared
    assert compared["data"] == followed["data"]
    assert compared["settings"]["kernel"] == followed["settings"]["kernel"]
    for name in shared:
        assert SCHEMA["$defs"]["compare"]["properties"].get(name) is not None
        assert SCHEMA["$defs"]["path"]["properties"].get(name) is not None


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda found: found.pop("planned"), "$ has no planned"),
        (lambda found: found.update(schema=1), "$.schema is 1, not 2"),
        (lambda found: found.update(interrupted=0), "$.interrupted is 0, not boolean"),
        (lambda found: found["answers"][0].update(agreement="right"), "$.answers[0].agreement is 'right', none of"),
        (lambda found: found["answers"][0].update(extra=1), "$.answers[0].extra is not known"),
        (lambda found: found["families"][0].update(agreeing=-1), "$.families[0].agreeing is -1, too small"),
    ],
)
def test_the_validator_finds_faults(change: Any, fault: str, tmp_path: Path) -> None:
    found = record(tmp_path / "out.json", "compare", "xor", "--solver", "smo", "--family", "svm.soft")
    change(found)
    assert any(said.startswith(fault) for said in faults(found, SCHEMA["$defs"]["compare"]))
