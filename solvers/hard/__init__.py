"""Hard margins without a bias: the dual active-set method over the most violated rows, rays, and hard rows among soft ones."""
