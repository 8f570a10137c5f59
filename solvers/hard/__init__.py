"""Solvers for hard margins without an intercept, and for hard rows among soft ones."""
