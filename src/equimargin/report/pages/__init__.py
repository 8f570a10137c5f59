"""HTML pages of a comparison, a path and an audit.

A page loads nothing, and no content of a file can run in it.
"""
