"""Pairs of rows that replace a target: tables of preferences, and clicks on ranked lists."""
