"""Set of all optima of a formulation: ranges of its variables, and fewest nonzeros."""
