"""Data sets, packages and judge of the leaderboard (folder `trust`) for benchopt."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from trust import fits, instances, judge, runs

__all__ = ["fits", "instances", "judge", "runs"]
