"""Certificates of the optimum of a problem, a program or a path, as portable files."""
