"""Proven intervals of the optimum of any convex program, from a solution in floats.

The program is quadratic, linear or second-order cone.
"""

from equimargin.proofs.enclosure.interval import Enclosure, boxed, enclosure

__all__ = ["Enclosure", "boxed", "enclosure"]
