"""Portable certificates, written: of a problem, of a program, and of a path."""
