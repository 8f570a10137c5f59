"""Numerical building blocks: array types, rounding, dyadic grids, compiled loops."""
