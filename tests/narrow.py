"""Assertions with types: a value is present, or it is of a class."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def present(value: T | None) -> T:
    """Return the value, which is not None."""
    assert value is not None
    return value


def as_a(kind: type[T], value: object) -> T:
    """Return the value, which is an instance of a class.

    Examples are pairs for the rows of a ranking and a Point for an answer to a margin
    problem.
    """
    assert isinstance(value, kind), f"{type(value).__name__} is no {kind.__name__}"
    return value
