"""Solution of declared problems by cvxpy's backends, with data to check the results."""
