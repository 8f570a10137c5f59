"""View model of a comparison, and its outputs: terminal report, wide table, HTML, records."""
