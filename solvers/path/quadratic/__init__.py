"""Regularisation paths of quadratic programs, segment by segment.

Each segment is a straight line, each breakpoint has its gap.
"""
