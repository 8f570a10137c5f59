"""Proven intervals of the optimum of any convex quadratic, linear or second-order cone program, from a solution in floats."""

from equimargin.proofs.enclosure.interval import Enclosure, boxed, enclosure

__all__ = ["Enclosure", "boxed", "enclosure"]
