"""Reason why a formulation or solver does not support a problem."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Refusal:
    """Reason why a problem is not supported.

    Converted to text it is the reason, followed by the alternative, if one is known.

    Parameters
    ----------
    sentence : str
        Reason, as text.
    instead : str
        Supported alternative or suggested change; may be empty.
    too_large : bool
        True if the size of the problem is the only reason.
    """

    sentence: str
    instead: str = ""
    too_large: bool = False

    def __str__(self) -> str:
        return f"{self.sentence}; {self.instead}" if self.instead else self.sentence


def refuse_size(why: str) -> Refusal:
    """Return the refusal of a problem that is only too large to be declared.

    Parameters
    ----------
    why : str
        Size and limit.
    """
    return Refusal(f"too large to declare: {why}", too_large=True)
