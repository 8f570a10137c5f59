"""What a test relies on, asserted and typed in one word: that a value is there, or that it is of a kind."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def present(value: T | None) -> T:
    """The value, which is not None."""
    assert value is not None
    return value


def as_a(kind: type[T], value: object) -> T:
    """The value, which is of this kind: pairs for the rows of a ranking, a Point for an answer to a margin problem."""
    assert isinstance(value, kind), f"{type(value).__name__} is no {kind.__name__}"
    return value
