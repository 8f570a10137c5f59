"""Solvers of problems of the field, most of them calls of scikit-learn and scipy; one file for each of `formulations.field`."""
