"""Bounds that a point proves on the optimum, and completion of one-sided points."""

from equimargin.formulations.bounds.intervals import Interval, inner_interval, interval
from equimargin.formulations.bounds.stability import Stability, stability

__all__ = ["Interval", "Stability", "inner_interval", "interval", "stability"]
