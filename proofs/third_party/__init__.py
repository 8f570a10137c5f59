"""Check of certificates that third-party solvers write, in exact arithmetic."""
