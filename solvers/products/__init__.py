"""Blockwise products with the Gram matrix and with rows of features."""
