"""Drawings of the relations between formulations, and of regularisation paths."""
