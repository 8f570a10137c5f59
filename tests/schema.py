"""Check of written documents against the JSON Schemas in the package."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

SCHEMA: dict[str, Any] = json.loads(
    (files("equimargin.report") / "schema.json").read_text(encoding="utf-8")
)
CERTIFICATES: dict[str, Any] = json.loads(
    (files("equimargin.proofs.certificates") / "schema.json").read_text(encoding="utf-8")
)
PLANS: dict[str, Any] = json.loads(
    (files("equimargin.study") / "schema.json").read_text(encoding="utf-8")
)
TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}
KNOWN = {
    "$ref",
    "anyOf",
    "type",
    "const",
    "enum",
    "minimum",
    "maximum",
    "not",
    "minLength",
    "minItems",
    "maxItems",
    "pattern",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "description",
}
"""Keywords of JSON Schema that the validator below supports."""


def _faults(
    value: Any, schema: dict[str, Any], root: dict[str, Any], where: str = "$"
) -> Iterator[str]:
    """Yield the violations of a schema; a keyword outside KNOWN raises an error."""
    assert set(schema) <= KNOWN, schema
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        yield from _faults(value, root["$defs"][name], root, where)
    if "anyOf" in schema:
        tried = [list(_faults(value, one, root, where)) for one in schema["anyOf"]]
        yield from min(tried, key=len)
    if "not" in schema and not [*_faults(value, schema["not"], root, where)]:
        yield f"{where} is {value!r}, which is excluded"
    yield from (f"{where} is {value!r}, {wrong}" for wrong in _own_faults(value, schema))
    if isinstance(value, dict):
        known = schema.get("properties", {})
        yield from (
            f"{where} has no {name}" for name in schema.get("required", ()) if name not in value
        )
        yield from (
            f"{where}.{name} is not known"
            for name in value
            if name not in known and not schema.get("additionalProperties", True)
        )
        for name in value.keys() & known.keys():
            yield from _faults(value[name], known[name], root, f"{where}.{name}")
    if isinstance(value, list):
        count = len(value)
        if not schema.get("minItems", 0) <= count <= schema.get("maxItems", count):
            yield f"{where} has {count} items"
        for place, item in enumerate(value if "items" in schema else []):
            yield from _faults(item, schema["items"], root, f"{where}[{place}]")


def _own_faults(value: Any, schema: dict[str, Any]) -> Iterator[str]:
    """Yield the violations of the type and of the range of a value itself."""
    kinds = schema.get("type", list(TYPES))
    allowed = tuple(
        kind for name in ([kinds] if isinstance(kinds, str) else kinds) for kind in TYPES[name]
    )
    # As in JSON, 2.0 is an integer.
    if isinstance(value, float) and value.is_integer() and int in allowed:
        allowed = (*allowed, float)
    if not isinstance(value, allowed) or (isinstance(value, bool) and bool not in allowed):
        yield f"not {kinds}"
    if "const" in schema and value != schema["const"]:
        yield f"not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"none of {schema['enum']}"
    if isinstance(value, int | float):
        if value < schema.get("minimum", value):
            yield "too small"
        if value > schema.get("maximum", value):
            yield "too large"
    if isinstance(value, str):
        if len(value) < schema.get("minLength", 0):
            yield "too short"
        if not re.search(schema.get("pattern", ""), value):
            yield f"not of the pattern {schema['pattern']}"


def faults(record: Any, command: str) -> Iterator[str]:
    """Yield the violations of the schema of a command's records."""
    return _faults(record, SCHEMA["$defs"][command], SCHEMA)


def certificate_faults(document: Any) -> Iterator[str]:
    """Yield the violations of the schema of certificates."""
    return _faults(document, {"anyOf": CERTIFICATES["anyOf"]}, CERTIFICATES)


def plan_faults(tables: Any) -> Iterator[str]:
    """Yield the violations of the schema of plans of studies."""
    about = ("$schema", "$id", "title", "$defs")
    schema = {key: value for key, value in PLANS.items() if key not in about}
    return _faults(tables, schema, PLANS)
