"""Solvers of the dual: one multiplier, a few, or a whole face at a time, and cutting planes."""
