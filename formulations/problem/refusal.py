"""The answer of a formulation or a solver that does not take a problem."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Refusal:
    """Why a problem is not taken. Converted to text it is the sentence, followed by what to do instead, if that is known.

    Parameters
    ----------
    sentence : str
        The reason, in words.
    instead : str
        What takes the problem, or what to change; may be empty.
    too_large : bool
        Whether the size of the problem is the only reason.
    """

    sentence: str
    instead: str = ""
    too_large: bool = False

    def __str__(self) -> str:
        return f"{self.sentence}; {self.instead}" if self.instead else self.sentence


def refuse_size(why: str) -> Refusal:
    """The refusal of a problem whose size alone keeps it from being declared; `why` gives the size and the limit."""
    return Refusal(f"too large to declare: {why}", too_large=True)
