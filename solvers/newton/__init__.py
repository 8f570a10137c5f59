"""Newton solvers of the primal, in the features of f or in its coefficients."""
