"""Pages for a browser: of a comparison, a path and an audit. A page loads nothing, and nothing that a file holds can run in it."""
