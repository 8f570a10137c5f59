"""What a point proves of the optimum: its interval, and how a point with one side is completed by the other."""

from equimargin.formulations.bounds.intervals import Interval, inner_interval, interval

__all__ = ["Interval", "inner_interval", "interval"]
