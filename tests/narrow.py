"""Assertions that narrow types: a value is not None, or is an instance of a class."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def present(value: T | None) -> T:
    """Return the value; assert that it is not None."""
    assert value is not None
    return value


def as_a(kind: type[T], value: object) -> T:
    """Return the value; assert that it is an instance of a class."""
    assert isinstance(value, kind), f"{type(value).__name__} is no {kind.__name__}"
    return value
