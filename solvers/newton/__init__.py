"""Solvers of the primal by Newton's method: in the features of f, or in its coefficients."""
