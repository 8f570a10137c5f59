"""Bounds that a point proves on the optimum, and completion of one-sided points."""

from equimargin.formulations.bounds.intervals import Interval, inner_interval, interval

__all__ = ["Interval", "inner_interval", "interval"]
