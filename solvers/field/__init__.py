"""Solvers of further problems of the field, one file for each of `formulations.field`.

Most call scikit-learn or scipy.
"""
