"""The command `check-claims`: what the documents claim, tried again."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import typer

from equimargin.cli.options import sentences


def check_claims(
    document: Annotated[str | None, typer.Option(metavar="LETTER", help="Claims of one document: T, P, K, W or O.")] = None,
    draws: Annotated[int, typer.Option(min=1, help="Instances on which every statement is tried.")] = 25,
    seed: Annotated[int, typer.Option(min=0, help="Of the first instance.")] = 0,
) -> None:
    """Try every claim of the documents again.

    Those are statements in rational numbers, theorems, and formulations against their families. What rests on a test or an experiment of
    the repository is counted and not run: `make check-claims` and `make experiments` in a clone run that, too.

    Exit status: 0 all claims are as recorded; 1 one is not.
    """
    with sentences():
        from equimargin.proofs.claims import Kind, chosen, failure

        claims = chosen(document)
        failures = [sentence for claim in claims if (sentence := failure(claim, draws, seed))]
        failures += _of_forms(sorted({claim.name for claim in claims if claim.kind in (Kind.FORM, Kind.CONTROL)}))
        for sentence in failures:
            typer.echo(sentence)
        verdicts = Counter(claim.verdict.value for claim in claims)
        typer.echo("\n".join(f"{count:5d}  {verdict}" for verdict, count in verdicts.most_common()))
        kinds, exact = Counter(claim.kind for claim in claims), sum(claim.exact for claim in claims)
        shown = f"{exact} exact, {kinds[Kind.TEST]} by tests and {kinds[Kind.EXPERIMENT]} by experiments of the repository"
        typer.echo(f"{len(claims)} claims: {shown}; {len(failures)} not as recorded")
    if failures:
        raise typer.Exit(1)


def _of_forms(ids: list[str]) -> list[str]:
    """What is not as recorded of declared formulations, which must agree with their families, or disagree where they are controls."""
    if not ids:
        return []
    try:
        from equimargin.testing import check_formulation
    except ImportError:
        return [f"{len(ids)} formulations are not checked: drawing data needs hypothesis, pip install hypothesis"]
    found = []
    for id in ids:
        try:
            check_formulation(id)
        except AssertionError as wrong:
            found.append(f"{id}: {wrong}")
    return found
