"""The formats of files, each read into the same table."""
