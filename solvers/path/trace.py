"""What is written down along a regularisation path: breakpoints, what happens to rows there, and why it ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arrays import Array

Index = NDArray[np.intp]


class Kind(IntEnum):
    """What happens to a row at a breakpoint: it enters the margin set, or leaves it for alpha = 0 or for alpha = weight."""

    ENTER = 0
    ZERO = 1
    WEIGHT = 2


class Stop(StrEnum):
    """Why a path ended, as a sentence about the last breakpoint."""

    REACHED = "lambda_min was reached"
    ZERO = "lambda = 0 was reached: f is the same from the breakpoint before on"
    CONSTANT = "f is the same constant at every lambda"
    CALLBACK = "the callback ended the path early"
    LIMIT = "the limit of events ended the path early"
    TIME = "the time limit ended the path early"
    PRECISION = "double precision ended the path early: gaps of 1e-9 can no longer be held below"
    STUCK = "events too close for double precision ended the path early"

    @property
    def complete(self) -> bool:
        """Whether nothing of the path is missing."""
        return self in (Stop.REACHED, Stop.ZERO, Stop.CONSTANT)


@dataclass(eq=False)
class Trace:
    """What a path leaves behind, a list entry a breakpoint.

    alpha : (p,) at the first one.  rows, values : alpha at the rows that may have moved since the breakpoint before.
    betas, functions, biases : A'alpha, v where that is of features, and lambda b.  gaps, midpoint_gaps : relative,
    rounding included.  computed : the last one without.
     margins : how many rows are in W on the way on.
    event_rows, event_kinds : the rows that came into W there, or went out of it to 0 or to their weight, and which of these.
    """

    alpha: Array
    lambdas: list[float] = field(default_factory=list)
    betas: list[Array] = field(default_factory=list)
    functions: list[Array] = field(default_factory=list)
    biases: list[float] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)
    midpoint_gaps: list[float] = field(default_factory=list)
    rows: list[Index] = field(default_factory=list)
    values: list[Array] = field(default_factory=list)
    margins: list[int] = field(default_factory=list)
    event_rows: list[Index] = field(default_factory=list)
    event_kinds: list[NDArray[np.int8]] = field(default_factory=list)
    computed: float = 0.0
    stopped: Stop = Stop.TIME
