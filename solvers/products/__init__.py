"""Products with the Gram matrix and with the rows of features, computed tile by tile."""
