"""Exact optima of families and programs, against definitions and closed forms."""
