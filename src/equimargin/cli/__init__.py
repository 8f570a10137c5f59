"""The command line: the program `equimargin` and its commands."""

from equimargin.cli.app import app, main

__all__ = ["app", "main"]
