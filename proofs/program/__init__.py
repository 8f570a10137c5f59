"""Proofs of the optimum of any formulation as a rational program, and of solver answers."""

from equimargin.proofs.program.proven_optimum import ProvenOptimum, optimum

__all__ = ["ProvenOptimum", "optimum"]
