"""The claims of the ledger, tried again: statements on drawn instances, theorems by their names, formulations against their families."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from equimargin.proofs.theorems import statement as text_of_theorem
from equimargin.testing import check_formulation
from ledger.entries import Claim, Kind, Verdict
from ledger.statement import DRAWS
from ledger.statements import STATEMENTS


def failures(claims: Sequence[Claim], draws: int = DRAWS, seed: int = 0) -> Iterator[str]:
    """Yield a sentence for each claim or formulation that is not as recorded; what shows a claim by a test or an experiment is not run.

    Parameters
    ----------
    claims : of the ledger.  draws : instances on which a statement is tried.  seed : of the first.
    """
    yield from filter(None, (failure(claim, draws, seed) for claim in claims))
    for id in sorted({claim.name for claim in claims if claim.kind in (Kind.FORM, Kind.CONTROL)}):
        try:
            check_formulation(id)
        except AssertionError as wrong:
            yield f"{id}: {wrong}"


def failure(claim: Claim, draws: int = DRAWS, seed: int = 0) -> str:
    """Return a sentence that says what is not as recorded of a claim; empty where all is, and where what shows it has to be run instead.

    Parameters
    ----------
    claim : of the ledger.  draws : instances on which a statement is tried.  seed : of the first.
    """
    if claim.verdict is not Verdict.HOLDS and not claim.note:
        return f"{claim.id}: it is recorded as {claim.verdict}, and no note says what is right, or why nothing decides it"
    if claim.kind is Kind.STATEMENT:
        return _of_statement(claim, draws, seed)
    if claim.kind is Kind.THEOREM:
        try:
            text_of_theorem(claim.name)
        except LookupError as missing:
            return f"{claim.id}: {missing}"
    return ""


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
