"""Rows A of a margin problem, explicit or implicit, and sums of losses over them."""
