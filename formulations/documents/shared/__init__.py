"""Parts of several declarations: maps between variables and points, the reduced graph, subsets."""
