"""Linear classifiers with the 1-norm of their weights and the squared hinge."""
