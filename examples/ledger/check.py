"""Checks of the claims by statements, theorems and formulations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from equimargin.proofs.theorems import statement as text_of_theorem
from equimargin.testing import check_formulation
from ledger.entries import Claim, Kind, Verdict
from ledger.statement import DRAWS
from ledger.statements import STATEMENTS


def failures(claims: Sequence[Claim], draws: int = DRAWS, seed: int = 0) -> Iterator[str]:
    """Yield a sentence for each claim or formulation that is not as recorded.

    Tests and experiments are not run.

    Parameters
    ----------
    claims : Sequence[Claim]
        Claims to check.
    draws : int, default 25
        Number of instances of each statement.
    seed : int, default 0
        Seed of the first instance.
    """
    yield from filter(None, (failure(claim, draws, seed) for claim in claims))
    for id in sorted({claim.name for claim in claims if claim.kind in (Kind.FORM, Kind.CONTROL)}):
        try:
            check_formulation(id)
        except AssertionError as wrong:
            yield f"{id}: {wrong}"


def failure(claim: Claim, draws: int = DRAWS, seed: int = 0) -> str:
    """Return a sentence on a claim that is not as recorded, else an empty one.

    Parameters
    ----------
    claim : Claim
        Claim to check.
    draws : int, default 25
        Number of instances of a statement.
    seed : int, default 0
        Seed of the first instance.
    """
    if claim.verdict is not Verdict.HOLDS and not claim.note:
        return (
            f"{claim.id}: it is recorded as {claim.verdict}, and no note says what is right, or "
            f"why nothing decides it"
        )
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
        return (
            f"{claim.id}: it is recorded as {claim.verdict}, and its statement has a printed "
            f"version that is wrong"
        )
    if own and claim.verdict is Verdict.REFUTED and known.printed is None:
        return (
            f"{claim.id}: it is recorded as {claim.verdict}, and its statement has no printed "
            f"version"
        )
    try:
        return known.failure(draws, seed)
    except ArithmeticError as reason:  # the exact optimum of an instance was not found
        return f"{claim.id}: it could not be tried, {reason}"
