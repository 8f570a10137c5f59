"""Proofs about rankings along a path: the reduced graph, and misordered pairs."""
