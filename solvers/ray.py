"""Why no function meets the hard rows of a problem without a bias: weights of some of them under which they cancel."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FarkasRay:
    """Whole numbers a_r > 0 with sum_r a_r A_r phi = 0, exactly: margins of 1 at all of these rows would make sum_r a_r = 0.

    Parameters
    ----------
    rows : tuple[tuple[int, ...], ...]
        Of each weight, the pair (preferred, other), or the classified point, (point,).
    weights : tuple[int, ...]
        a_r.
    reason : str
        How it is known to be exact, in a clause.
    """

    rows: tuple[tuple[int, ...], ...]
    weights: tuple[int, ...]
    reason: str

    def __len__(self) -> int:
        return len(self.rows)
