"""Proven intervals of the optimum of a convex program, from a solution in floats.

The program is a quadratic, linear or second-order cone program.
"""

from equimargin.proofs.enclosure.interval import Enclosure, boxed, enclosure

__all__ = ["Enclosure", "boxed", "enclosure"]
