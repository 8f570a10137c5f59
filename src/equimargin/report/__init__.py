"""What a comparison says: the page that people read, the wide table, and records for programs. Nothing here solves or judges."""
