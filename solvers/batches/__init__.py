"""Many problems that share their data: a grid of costs, and one class against another."""
