"""Solvers of further problems of the field, one file for each of `formulations.field`.

Most of them call scikit-learn or scipy.
"""
