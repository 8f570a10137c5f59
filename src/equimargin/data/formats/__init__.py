"""File formats: tables, each read into one common table, and files of TREC."""
