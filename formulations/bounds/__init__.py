"""What a point proves: its interval, and what completes a point for it."""

from equimargin.formulations.bounds.intervals import Interval, inner_interval, interval

__all__ = ["Interval", "inner_interval", "interval"]
