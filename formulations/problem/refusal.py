"""What a formulation or a solver answers where it does not take a problem."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Refusal:
    """Why a problem is not taken; as text it is the sentence, and what to do instead where that is known.

    sentence : what the problem has or lacks.  instead : what does take it, or what to change; may be empty.
    too_large : whether the size of the problem is the only reason.
    """

    sentence: str
    instead: str = ""
    too_large: bool = False

    def __str__(self) -> str:
        return f"{self.sentence}; {self.instead}" if self.instead else self.sentence
