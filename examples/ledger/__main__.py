"""Commands `list`, `show` and `check`: `python -m ledger COMMAND`, in the folder `examples`."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import typer

from equimargin.cli.output.errors import report_errors
from ledger.entries import Kind, Verdict, chosen, claim
from ledger.statement import DRAWS

Document = Annotated[
    str | None, typer.Option(metavar="LETTER", help="Claims of one document: T, P, K, W or O.")
]
SHOWN_BY = {
    Kind.STATEMENT: "is tried in rational numbers: python -m ledger check",
    Kind.THEOREM: "is a theorem that Coq has checked",
    Kind.FORM: "is a declared formulation",
    Kind.CONTROL: "is a declared formulation that must disagree",
    Kind.TEST: "is a test of the repository",
    Kind.EXPERIMENT: "is an experiment of the repository: make experiments",
}
"""Description of the evidence for a claim, by its kind."""
app = typer.Typer(
    name="ledger",
    help="Claims of the documents, each with its verdict and its evidence.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command("list")
def list_(
    document: Document = None,
    verdict: Annotated[Verdict | None, typer.Option(help="Claims with one verdict.")] = None,
) -> None:
    """List the claims with their verdicts."""
    with report_errors():
        found = chosen(document, verdict)
        width = max((len(row.id) for row in found), default=0)
        for row in found:
            typer.echo(f"{row.id:{width}s}  {row.verdict:24s} {row.says}")
        typer.echo(f"{len(found)} claims")


def join_lines(text: str | None) -> str:
    """Return a docstring on one line."""
    return " ".join((text or "").split())


@app.command()
def show(
    id: Annotated[str, typer.Argument(metavar="ID", help="Of a claim, such as T.26.")],
) -> None:
    """Show a claim with its place, its verdict and its evidence."""
    with report_errors():
        row = claim(id)
        typer.echo(
            f"{row.id}   (a claim of document {row.document}, "
            f"{row.place})\n\n{row.says}\n\nVerdict  {row.verdict}"
        )
        if row.note:
            typer.echo(f"Note     {row.note}")
        typer.echo(
            f"Shown by {row.name}, which {SHOWN_BY[row.kind]}"
            if row.kind is not Kind.NONE
            else "Shown by nothing that runs"
        )
        if row.kind is Kind.STATEMENT:
            from ledger.statements import STATEMENTS

            tried = STATEMENTS[row.name]
            typer.echo(f"Right    {join_lines(tried.right.__doc__)}")
            if tried.printed is not None:
                typer.echo(f"Printed  {join_lines(tried.printed.__doc__)}")


@app.command()
def check(
    document: Document = None,
    draws: Annotated[
        int, typer.Option(min=1, help="Instances on which every statement is tried.")
    ] = DRAWS,
    seed: Annotated[int, typer.Option(min=0, help="Of the first instance.")] = 0,
) -> None:
    """Check every claim by its statement, theorem or formulation.

    Tests and experiments are counted and not run: `make check-claims` and `make
    experiments` run those.

    Exit status: 0 all claims are as recorded; 1 one is not.
    """
    with report_errors():
        from ledger.check import failures

        claims = chosen(document)
        found = list(failures(claims, draws, seed))
        for sentence in found:
            typer.echo(sentence)
        verdicts = Counter(claim.verdict.value for claim in claims)
        typer.echo("\n".join(f"{count:5d}  {verdict}" for verdict, count in verdicts.most_common()))
        kinds, exact = Counter(claim.kind for claim in claims), sum(claim.exact for claim in claims)
        shown = (
            f"{exact} exact, {kinds[Kind.TEST]} by tests and {kinds[Kind.EXPERIMENT]} by "
            f"experiments of the repository"
        )
        typer.echo(f"{len(claims)} claims: {shown}; {len(found)} not as recorded")
    if found:
        raise typer.Exit(1)


if __name__ == "__main__":
    app()
