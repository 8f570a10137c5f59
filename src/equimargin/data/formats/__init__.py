"""File formats, each read into one common table."""
