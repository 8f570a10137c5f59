"""Portable certificates, written: of a problem, of a program, and of a path, each a state, and one writer."""
