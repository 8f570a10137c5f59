"""Solvers of the dual: coordinate, pair and face steps, and cutting planes."""
