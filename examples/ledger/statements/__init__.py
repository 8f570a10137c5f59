"""Statements by subject; importing this package registers all of them."""

# The imports register the statements.
# ruff: noqa: F401
from ledger.statement import STATEMENTS
from ledger.statements import (
    around_paths,
    hard_margins,
    kernels,
    measures,
    one_norms,
    ordinals,
    paths,
    rankings,
    regressions,
    soft_margins,
)

__all__ = ["STATEMENTS"]
