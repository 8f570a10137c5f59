"""Problems that share their data: grids of costs, certified maps, pairs of classes."""
