"""Solvers of the one-norm problems: the whole linear program, or columns and rows as they are needed."""
