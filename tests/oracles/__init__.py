"""Oracles that share no code with the tested package.

They compute values in fractions, check conditions of programs and replay proofs.
"""
