"""Proofs of a formulation's optimum as a program in rationals, and of solvers' values."""

from equimargin.proofs.program.proven_optimum import ProvenOptimum, optimum

__all__ = ["ProvenOptimum", "optimum"]
