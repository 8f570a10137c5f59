"""Margin problems of a linear f whose rows lie in partitions: what a partition says of itself, and what all of them prove together."""
