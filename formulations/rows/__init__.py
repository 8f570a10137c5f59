"""The rows A of a margin problem, listed or implicit, and the sums of losses over them."""
