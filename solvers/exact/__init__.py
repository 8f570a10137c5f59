"""Exact optima: the float64 data are rational, and so is the optimum."""

from equimargin.solvers.exact.optimum import ExactOptimum, exact_optimum, given_gram

__all__ = ["ExactOptimum", "exact_optimum", "given_gram"]
