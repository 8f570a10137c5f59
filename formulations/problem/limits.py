"""How large the numbers of a problem may be, so that float64 can square them and add them up."""

from __future__ import annotations

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.choices import Loss
from equimargin.formulations.rows.base import Rows
from equimargin.formulations.rows.listed import Tube

LARGEST_KERNEL = 2.0**1020
"""The largest |x_i|^2 and |K_ij| that are accepted: sums of four of them stay below 2^1024, where float64 ends."""
LARGEST_LOSS = float(np.finfo(np.float64).max)
"""The largest sum of losses at f = 0 that is accepted: it is the largest float64."""
LARGEST_TARGET = 2.0**500
"""The largest t_r that is accepted, about 3e150: losses and |f|^2 contain its square, and sums of millions of squares stay below 2^1024."""


def within_float64(rows: Rows, C: float, loss: Loss = "hinge", weights: Array | None = None) -> None:
    """Refuse numbers that float64 cannot hold; the features are looked at by `_features`.

    Raises
    ------
    ValueError : a target above LARGEST_TARGET, a margin t_r, a cost C x weight or a sum P(0) of losses that is no float64.
    """
    tube = isinstance(rows, Tube)
    if tube and not (rows.t.max() <= LARGEST_TARGET and np.isfinite(rows.t).all()):
        outlier = float(rows.y[np.abs(rows.y).argmax()])
        raise ValueError(f"y is too large for float64: {outlier:.3g} is a target, {LARGEST_TARGET:.1e} the limit; divide y and epsilon")
    largest = 1.0 if weights is None else float(weights.max(initial=0.0, where=np.isfinite(weights)))
    if np.isfinite(C) and not np.isfinite(C * largest):
        raise ValueError(f"C = {C:g} times the weight {largest:g} is too large for float64; rows that must be met have weight inf")
    worst = max(float(rows.t.max()), 0.0) if tube else 1.0
    if np.isfinite(C) and not np.isfinite(C * largest * worst * (worst if loss == "squared_hinge" else 1.0) * rows.p):
        raise ValueError(f"C = {C:g} is too large for float64: {rows.p:,} losses of f = 0 may add up to more than {LARGEST_LOSS:.1e}")
