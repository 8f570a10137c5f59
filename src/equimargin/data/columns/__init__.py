"""Roles of a table's columns: target, queries, weights of the rows, and features."""
