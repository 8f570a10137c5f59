"""Oracles that share no code with the tested package.

They compute values in fractions, check optimality conditions of programs, and apply the
steps of equivalence proofs.
"""
