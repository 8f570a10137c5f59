"""Statements of the documents as functions of an instance in rational numbers.

A statement has up to two versions. The right version must be True for every drawn
instance. The printed version, if it differs, must be False for at least one of them.
All numbers are integers and fractions: equality is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, Generic, TypeVar

T = TypeVar("T")
DRAWS = 25
"""Number of drawn instances of each version; ten are enough for every misprint."""


@dataclass(frozen=True)
class Statement(Generic[T]):
    """Claim of a document as one or two predicates.

    Parameters
    ----------
    claim : str
        Id of the claim in the ledger.
    draw : callable
        Function that draws an instance.
    right : callable
        Right version.
    printed : callable, optional
        Printed version, if it differs.
    """

    claim: str
    draw: Callable[[Random], T]
    right: Callable[[T], bool]
    printed: Callable[[T], bool] | None = None

    def failure(self, draws: int = DRAWS, seed: int = 0) -> str:
        """Return a sentence if a version is not as recorded, else "".

        Parameters
        ----------
        draws : int, default 25
            Number of instances.
        seed : int, default 0
            Seed of the first instance; the next ones follow it.
        """
        instances = [self.draw(Random(seed + i)) for i in range(draws)]
        for i, instance in enumerate(instances):
            if not self.right(instance):
                return (
                    f"{self.claim}: the version that is recorded as right is wrong of the "
                    f"instance of seed {seed + i}, {instance}"
                )
        if self.printed is not None and all(self.printed(instance) for instance in instances):
            return (
                f"{self.claim}: the printed version is recorded as wrong, and holds of {draws} "
                f"instances"
            )
        return ""


STATEMENTS: dict[str, Statement[Any]] = {}
"""All statements, by the ids of their claims."""


def statement(
    claim: str, draw: Callable[[Random], T]
) -> Callable[[Callable[[T], bool]], Callable[[T], bool]]:
    """Register a function as the right version of a claim.

    Parameters
    ----------
    claim : str
        Id of the claim.
    draw : callable
        Function that draws an instance.

    Raises
    ------
    ValueError
        If the claim has a statement already.
    """

    def enter(right: Callable[[T], bool]) -> Callable[[T], bool]:
        if claim in STATEMENTS:
            raise ValueError(f"{claim} has a statement already")
        STATEMENTS[claim] = Statement(claim, draw, right)
        return right

    return enter


def as_printed(claim: str) -> Callable[[Callable[[T], bool]], Callable[[T], bool]]:
    """Register a function as the printed version of a claim, after the right version.

    Parameters
    ----------
    claim : str
        Id of the claim.

    Raises
    ------
    KeyError
        If no right version is registered.
    """

    def enter(printed: Callable[[T], bool]) -> Callable[[T], bool]:
        known = STATEMENTS[claim]
        STATEMENTS[claim] = Statement(claim, known.draw, known.right, printed)
        return printed

    return enter
