"""Whether the claims of the ledger are as recorded, as far as the package alone can tell: statements are tried and theorems looked up."""

from __future__ import annotations

from typing import Any

from equimargin.proofs.claims import statements as _entered  # noqa: F401  entering them is what the import is for
from equimargin.proofs.claims.ledger import Claim, Kind, Verdict
from equimargin.proofs.claims.statement import DRAWS, STATEMENTS, Statement
from equimargin.proofs.theorems import statement as text_of_theorem


def failure(claim: Claim, draws: int = DRAWS, seed: int = 0) -> str:
    """A sentence that says what is not as recorded of a claim; empty where all is, and where what shows it has to be run instead.

    Parameters
    ----------
    claim : of the ledger.  draws : instances on which a statement is tried.  seed : of the first.
    """
    if claim.verdict is not Verdict.HOLDS and not claim.note:
        return f"{claim.id}: it is recorded as {claim.verdict}, and no note says what is right, or why nothing decides it"
    if claim.kind is Kind.STATEMENT:
        return _of_statement(claim, draws, seed)
    if claim.kind is Kind.THEOREM:
        return _of_theorem(claim)
    return ""


def statement_of(claim: Claim) -> Statement[Any]:
    """The statement that shows a claim.

    Parameters
    ----------
    claim : whose kind is STATEMENT.

    Raises
    ------
    KeyError : no statement has the name that the claim points at.
    """
    return STATEMENTS[claim.name]


def _of_statement(claim: Claim, draws: int, seed: int) -> str:
    known = STATEMENTS.get(claim.name)
    if known is None:
        return f"{claim.id}: no statement is called {claim.name}"
    own = claim.name == claim.id
    if own and claim.verdict is Verdict.HOLDS and known.printed is not None:
        return f"{claim.id}: it is recorded as {claim.verdict}, and its statement has a printed version that is wrong"
    if own and claim.verdict is Verdict.REFUTED and known.printed is None:
        return f"{claim.id}: it is recorded as {claim.verdict}, and its statement has no printed version"
    try:
        return known.failure(draws, seed)
    except ArithmeticError as reason:  # the exact optimum of an instance was not found
        return f"{claim.id}: it could not be tried, {reason}"


def _of_theorem(claim: Claim) -> str:
    try:
        text_of_theorem(claim.name)
    except LookupError as missing:
        return f"{claim.id}: {missing}"
    return ""
