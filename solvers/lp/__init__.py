"""Solvers of one-norm problems: the whole linear program, or column generation."""
