"""Proofs of the optimum of any formulation as a program in rational numbers, and of what a solver's answer is worth."""

from equimargin.proofs.program.proven_optimum import ProvenOptimum, optimum

__all__ = ["ProvenOptimum", "optimum"]
