"""The regularisation paths of quadratic programs: one straight line after another, each breakpoint with its gap."""
