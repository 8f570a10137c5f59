"""The command line."""

from equimargin.cli.app import app, main

__all__ = ["app", "main"]
