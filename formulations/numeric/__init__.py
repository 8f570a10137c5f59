"""Arithmetic: names of arrays, rounding, dyadic grids, compiled loops."""
