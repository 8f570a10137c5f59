"""Drawings: the graph of the links, and regularisation paths."""
