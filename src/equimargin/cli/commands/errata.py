"""Form `same --mutants` of `same`: misprints, and the evidence that detects them."""

from __future__ import annotations

from collections import Counter
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from equimargin.cli.output.files import check_writable, writing

if TYPE_CHECKING:
    from equimargin.equivalence import Mutant
    from equimargin.proofs.equivalence import Statement

UNDETECTED = 4
"""Exit status if a misprint is neither detected nor proven to have an equal optimum."""
HEADINGS = ("SEEN BY", "SMALLEST", "MISPRINT")
"""Headings of the table."""


def print_mutants(
    problem: Statement,
    data: Any,
    examples: int | None,
    seed: int,
    json: Path | None,
    seconds: float,
) -> None:
    """Print the misprints of a problem or family, and exit with the status of `same --mutants`.

    Parameters
    ----------
    problem : Statement
        Id of a formulation or family, or a function of data.
    data : SearchStrategy or None
        Strategy of the data.
    examples : int or None
        Number of drawn instances.
    seed : int
        Seed of the draws.
    json : Path or None
        File of the records.
    seconds : float
        Time limit of each formulation in seconds.
    """
    from equimargin.equivalence.errata import EXAMPLES, mutants

    check_writable(json)
    found: list[Mutant] = []
    table = _Table()
    with writing(json) as write:
        for mutant in mutants(
            problem, data, examples=examples or EXAMPLES, seed=seed, seconds=seconds
        ):
            found.append(mutant)
            table.add(mutant)
        table.end()
        if json is not None:
            write(json, dumps([mutant.record() for mutant in found], indent=1))
    open_ones = [m for m in found if not m.seen and not m.is_proven_equal]
    raise typer.Exit(UNDETECTED if open_ones else 0)


class _Table:
    """Table that is printed row by row, with a part for each formulation."""

    def __init__(self) -> None:
        self.problem = ""
        self.instances: dict[str, int] = {}
        self.verdicts: Counter[str] = Counter()

    def add(self, mutant: Mutant) -> None:
        """Print the row of a misprint."""
        from equimargin.equivalence.errata import instance_text
        from equimargin.proofs.equivalence.answers import KINDS

        if mutant.problem != self.problem:
            self.end()
            self.problem, self.instances, self.verdicts = mutant.problem, {}, Counter()
            typer.echo(f"{mutant.problem}\n  {_row(*HEADINGS)}")
        texts = [instance_text(mutant.seen[kind]) for kind in KINDS if kind in mutant.seen]
        numbers = [self.instances.setdefault(text, len(self.instances) + 1) for text in texts]
        self.verdicts[mutant.verdict] += 1
        smallest = " ".join(f"#{number}" for number in numbers)
        typer.echo(f"  {_row(mutant.verdict, smallest, mutant.misprint.name)}")

    def end(self) -> None:
        """Print the instances of a part, and its counts."""
        if not self.problem:
            return
        for text, number in self.instances.items():
            typer.echo(f"  #{number} = {text}")
        typer.echo(f"  {self.verdicts.total()} misprints:")
        for verdict, count in self.verdicts.most_common():
            typer.echo(f"  {count:>4} {verdict}")
        typer.echo()


def _row(verdict: str, smallest: str, misprint: str) -> str:
    return f"{verdict:<36} {smallest:<10} {misprint}"
