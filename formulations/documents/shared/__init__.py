"""Parts of several declarations: maps of points, the reduced graph, subsets."""
