"""Drawings of the graph of links, and of regularisation paths."""
