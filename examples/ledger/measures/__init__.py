"""Measures of a ranking that only the documents have: W's bound of average precision, and what is proven by it; O's risk."""
