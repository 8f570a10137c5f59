"""Campaigns on exact optima of families and programs."""
