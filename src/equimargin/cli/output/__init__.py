"""Printed output, written files and the end of a command."""
