"""Certificates of a problem, a program and a path, as portable files."""
