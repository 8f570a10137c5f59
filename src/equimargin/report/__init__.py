"""View model of a comparison, and its outputs: terminal page, wide table, HTML, records."""
