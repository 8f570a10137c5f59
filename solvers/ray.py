"""Infeasibility certificate of hard rows without a bias: a weighted sum of rows that is 0."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FarkasRay:
    """Integers a_r > 0 with sum_r a_r A_r phi = 0 exactly, phi being the feature map.

    Margins of at least 1 at all these rows would give 0 >= sum_r a_r > 0.

    Parameters
    ----------
    rows : tuple of tuple of int
        For each weight, the pair (preferred, other), or the classified point, (point,).
    weights : tuple of int
        Weights a_r.
    reason : str
        Reason why the sum is exact, as a phrase.
    """

    rows: tuple[tuple[int, ...], ...]
    weights: tuple[int, ...]
    reason: str

    def __len__(self) -> int:
        return len(self.rows)
