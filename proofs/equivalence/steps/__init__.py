"""Equivalence proofs: forms of a program, steps between them, and their search."""
