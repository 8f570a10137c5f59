"""Where the tests find the tree, and the data that a checkout may have beside it."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "data"
"""Public data sets that do not ship with the project; what needs them is skipped with a reason where the folder is missing."""
