"""Probabilities of classes from decision values: a sigmoid for two classes, and couplings of the probabilities of every two."""
