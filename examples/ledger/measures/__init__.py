"""Measures of a ranking in documents W and O: bounds of average precision, and a risk."""
