"""Pairs of rows that take the place of a target: a table of preferences, and clicks on ranked lists."""
