"""The tests that the ledger of claims points at, run by name.

    python -m campaigns.claims

Exit status: pytest's.
"""

from __future__ import annotations

import re
import sys

import pytest

from equimargin.proofs.claims import Kind, claims
from places import ALL_TESTS, ROOT


def named() -> list[str]:
    """The tests that show a claim, as pytest calls them."""
    wanted = {claim.name for claim in claims() if claim.kind is Kind.TEST}
    found = []
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        names = re.findall(r"^def (test_\w+)\(", file.read_text(encoding="utf-8"), re.MULTILINE)
        found += [f"{file}::{name}" for name in names if name in wanted]
    return found


if __name__ == "__main__":
    sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-m", ALL_TESTS, *named()]))
