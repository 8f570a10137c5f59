"""Class probabilities from decision values: Platt's sigmoid and pairwise coupling."""
