"""Exact optima, of the families and of any program, against their definitions and closed forms."""
