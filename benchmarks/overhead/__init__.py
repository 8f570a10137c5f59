"""Overhead of answers elsewhere: studies, and partitions on a cluster."""
