"""What a document says, as a function of an instance in rational numbers that is true where it holds.

A statement has up to two versions. The version that holds must be true of every instance that is drawn. The version as printed, where the
two differ, must be false of one of them at least. All numbers are integers and fractions: what is said to be equal is equal, not close.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, Generic, TypeVar

T = TypeVar("T")
DRAWS = 25
"""Instances that each version is tried on: every misprint of the documents shows on one of ten."""


@dataclass(frozen=True)
class Statement(Generic[T]):
    """A claim of a document, to be tried.

    claim : its id in the ledger.  draw : makes an instance.  right : the version that holds.
    printed : the version that the document prints; None where it prints the right one.
    """

    claim: str
    draw: Callable[[Random], T]
    right: Callable[[T], bool]
    printed: Callable[[T], bool] | None = None

    def failure(self, draws: int = DRAWS, seed: int = 0) -> str:
        """A sentence that says what is not as recorded; empty where all is.

        Parameters
        ----------
        draws : instances that are tried.  seed : of the first; the others have the numbers after it.
        """
        instances = [self.draw(Random(seed + i)) for i in range(draws)]
        for i, instance in enumerate(instances):
            if not self.right(instance):
                return f"{self.claim}: the version that is recorded as right is wrong of the instance of seed {seed + i}, {instance}"
        if self.printed is not None and all(self.printed(instance) for instance in instances):
            return f"{self.claim}: the printed version is recorded as wrong, and holds of {draws} instances"
        return ""


STATEMENTS: dict[str, Statement[Any]] = {}
"""All statements, by their claims."""


def statement(claim: str, draw: Callable[[Random], T]) -> Callable[[Callable[[T], bool]], Callable[[T], bool]]:
    """Enter a function as the version of a claim that holds.

    Parameters
    ----------
    claim : its id.  draw : makes an instance.

    Raises
    ------
    ValueError : the claim has a statement already.
    """

    def enter(right: Callable[[T], bool]) -> Callable[[T], bool]:
        if claim in STATEMENTS:
            raise ValueError(f"{claim} has a statement already")
        STATEMENTS[claim] = Statement(claim, draw, right)
        return right

    return enter


def as_printed(claim: str) -> Callable[[Callable[[T], bool]], Callable[[T], bool]]:
    """Enter a function as the printed version of a claim, after the one that holds.

    Parameters
    ----------
    claim : its id.

    Raises
    ------
    LookupError : no version that holds has been entered.
    """

    def enter(printed: Callable[[T], bool]) -> Callable[[T], bool]:
        known = STATEMENTS[claim]
        STATEMENTS[claim] = Statement(claim, known.draw, known.right, printed)
        return printed

    return enter
