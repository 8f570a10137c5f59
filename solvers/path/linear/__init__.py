"""Regularisation paths of linear programs, vertex by vertex.

Each vertex is optimal on an interval of lambda.
"""
