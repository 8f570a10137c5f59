"""Exact optima: the float64 data are rational, and so is the optimum."""
