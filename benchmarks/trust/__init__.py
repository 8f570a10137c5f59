"""Parts of `leaderboard.py`: answers of packages for SVMs and their proven distances."""
