"""What a point proves of the optimum: its interval, and how a point with one side is completed by the other."""

from equimargin.formulations.bounds.intervals import Interval, inner_interval, interval
from equimargin.formulations.bounds.stability import Stability, stability

__all__ = ["Interval", "Stability", "inner_interval", "interval", "stability"]
