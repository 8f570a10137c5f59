"""Tests named by the claims of `examples/ledger`, run with pytest.

    PYTHONPATH=tests:examples python -m campaigns.claims

Exit status: pytest's.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict

import pytest

from ledger import Kind, claims
from places import ALL_TESTS, ROOT


def named_tests() -> dict[str, list[str]]:
    """Return the pytest ids of all tests, by the names of their functions."""
    found: dict[str, list[str]] = defaultdict(list)
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        for name in re.findall(
            r"^def (test_\w+)\(", file.read_text(encoding="utf-8"), re.MULTILINE
        ):
            found[name].append(f"{file}::{name}")
    return found


if __name__ == "__main__":
    wanted = {claim.name for claim in claims() if claim.kind is Kind.TEST}
    shown = [test for name, tests in named_tests().items() if name in wanted for test in tests]
    sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-m", ALL_TESTS, *shown]))
