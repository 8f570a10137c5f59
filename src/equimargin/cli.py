"""The command line: compare formulations and solvers on one's own data, and look things up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equimargin import __version__
from equimargin.cli_path import path
from equimargin.options import (
    NO_PAIRS,
    STDOUT,
    Coef0Option,
    DataArgument,
    DegreeOption,
    EpsilonOption,
    GammaOption,
    HeaderOption,
    JSONOption,
    KernelName,
    KernelOption,
    QueryOption,
    SampleOption,
    ScaleOption,
    SeedOption,
    TargetOption,
    TaskOption,
    check_writable,
    headline,
    kernel_of,
    leave,
    loaded,
    sentences,
    writing,
)

if TYPE_CHECKING:
    from equimargin.data import Data
    from equimargin.formulations import Kernel, Problem

_ARROWS = {"equivalence": "<->", "strong equivalence": "<=>", "rescaling": "<~>", "relaxation": "<=", "not equivalent": "=/="}

app = typer.Typer(
    name="equimargin",
    help="Formulations of max-margin learning, solved many ways, and proof that the answers agree.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


class LossName(StrEnum):
    """What a unit of slack costs."""

    HINGE = "hinge"
    SQUARED_HINGE = "squared_hinge"


class Subject(StrEnum):
    """What can be listed."""

    FORMULATIONS = "formulations"
    SOLVERS = "solvers"
    LINKS = "links"
    FAMILIES = "families"
    DATA = "data"


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"equimargin {__version__}")
        raise typer.Exit


@app.callback()
def root(version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False) -> None:
    """Formulations of max-margin learning, solved many ways, and proof that the answers agree."""


@app.command()
def compare(
    data: DataArgument,
    task: TaskOption = None,
    family: Annotated[list[str] | None, typer.Option(metavar="ID", help="Only these families; may be given again.")] = None,
    formulation: Annotated[list[str] | None, typer.Option(metavar="PATTERN", help="Only these formulations, * and ? allowed.")] = None,
    solver: Annotated[list[str] | None, typer.Option(metavar="PATTERN", help="Only these backends and solvers, * and ? allowed.")] = None,
    loss: Annotated[LossName | None, typer.Option(help="Only families with this loss of the slacks; both by default.")] = None,
    kernel: KernelOption = KernelName.LINEAR,
    gamma: GammaOption = None,
    degree: DegreeOption = 2,
    coef0: Coef0Option = None,
    cost: Annotated[float, typer.Option("-C", metavar="COST", help="Cost of a unit of slack; inf is the hard margin.")] = 1.0,
    epsilon: EpsilonOption = 0.1,
    scale: ScaleOption = False,
    sample: SampleOption = None,
    seed: SeedOption = 0,
    tol: Annotated[float, typer.Option(help="Relative accuracy asked of every solver.")] = 1e-8,
    agree_tol: Annotated[float, typer.Option(help="Relative tolerance of the referee.")] = 1e-6,
    time_limit: Annotated[float, typer.Option(metavar="SECONDS", help="For each answer.")] = 60.0,
    jobs: Annotated[int, typer.Option(metavar="N", help="Processes; -1 is all cores.")] = 1,
    target: TargetOption = None,
    query: QueryOption = None,
    header: HeaderOption = None,
    include_controls: Annotated[bool, typer.Option("--include-controls", help="Also declare the misprints; they must disagree.")] = False,
    json: JSONOption = None,
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the answers as CSV; - is standard output.")] = None,
    certify: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Write a certificate of every family, FAMILY.json.")] = None,
) -> None:
    """Solve the formulations of a task by several backends and solvers, and judge every answer.

    Exit status: 0 every family agrees; 1 an answer disagrees; 2 bad usage or input; 3 nothing was solved; 4 a family is undecided.
    """
    with sentences(), writing(json, csv) as write:
        check_writable(json, csv)
        if certify == STDOUT:
            raise ValueError("--certify writes a file of every family and takes a folder, not standard output (-)")
        if certify is not None:
            try:
                certify.mkdir(parents=True, exist_ok=True)
            except (FileExistsError, NotADirectoryError):
                raise ValueError(f"--certify: {certify} is not a folder") from None
        from equimargin.compare import compare as run

        rows = loaded(data, task, (target, query, header), sample, seed, kernel, scale)
        rows = rows.scaled() if scale else rows
        chosen = kernel_of(kernel, gamma, degree, coef0, rows.X.shape[1])
        problems = _problems(rows, chosen, cost, loss, epsilon, family)
        if problems[0].p == 0:
            typer.echo(NO_PAIRS)
            raise typer.Exit
        with _progress() as progress:
            result = run(
                problems,
                formulation or "*",
                solver or "*",
                tol,
                agree_tol,
                time_limit,
                jobs,
                include_controls or _names_control(formulation),
                progress,
            )
        settings = {
            **result.settings,
            "task": rows.task,
            "kernel": {"name": chosen.name, **vars(chosen)},
            "loss": None if loss is None else loss.value,
            "C": cost,
            "epsilon": epsilon,
            "scale": scale,
            "sample": sample,
            "seed": seed,
        }
        described = {"name": rows.name, "rows": problems[0].m, "features": int(rows.X.shape[1]), "pairs_or_rows": problems[0].p}
        result = replace(result, data=described, settings=settings)
        _print(result, f"{headline(rows, problems[0])}, C={cost:g}")
        for file, text in ((json, result.to_json), (csv, result.to_csv)):
            if file is not None:
                write(file, text())
        if certify is not None:
            for id, outcome in result.certify(certify).items():
                typer.echo(f"{id}: certificate {outcome}" if isinstance(outcome, Path) else f"{id}: no certificate: {outcome}")
    raise typer.Exit(result.exit_code)


app.command()(path)


@app.command()
def verify(files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Certificates.")]) -> None:
    """Check certificates, a line each: ACCEPTED with the interval, or REJECTED with the first reason.

    Exit status: 0 all are accepted; 1 one is rejected; 2 a file cannot be read. `python3 -I proofs/checker.py FILE...` does the same.
    """
    from equimargin.proofs.checker import main as check

    raise typer.Exit(check(files))


@app.command()
def audit(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="LIBSVM or LIBLINEAR model, or NPZ/JSON with scikit-learn's coefficients.")
    ],
    data: Annotated[str, typer.Option(metavar="DATA", help="What it was trained on, as it saw it: a bundled name or a file.")],
    cost: Annotated[float | None, typer.Option("-C", metavar="COST", help="Of its problem, where the model does not say it.")] = None,
    epsilon: Annotated[float | None, typer.Option(help="Of its problem, where the model does not say it.")] = None,
    scale: ScaleOption = False,
    target: TargetOption = None,
    header: HeaderOption = None,
    tol: Annotated[float, typer.Option(help="Relative accuracy asked of the solver that brackets the optimum.")] = 1e-9,
    time_limit: Annotated[float, typer.Option(metavar="SECONDS", help="For that solver.")] = 60.0,
) -> None:
    """Say how far somebody else's model is from the optimum of the problem that it claims to solve, proven.

    Exit status: 0 the interval is printed; 2 bad usage or input, or C missing or contradicted by the coefficients.
    """
    with sentences():
        from equimargin.data import load
        from equimargin.proofs.audit import audit as examine
        from equimargin.proofs.foreign_models import read

        known = read(model)
        rows = load(data, task=known.task, target=target, header=header)
        rows = rows.scaled() if scale else rows
        if rows.header_note:
            typer.echo(f"{rows.name}: {rows.header_note}")
        typer.echo(str(examine(known, rows.X, rows.y, cost, epsilon, tol=tol, time_limit=time_limit)))


@app.command("list")
def list_(subject: Annotated[Subject, typer.Argument(help="What to list.")]) -> None:
    """List formulations, solvers, links, families or bundled data."""
    entries = list(_listing(subject))
    width = max(len(name) for name, _ in entries)
    for name, text in entries:
        typer.echo(f"{name:{width}s}  {text}".rstrip())


@app.command()
def show(id: Annotated[str, typer.Argument(metavar="ID", help="Of a formulation, a family or a solver.")]) -> None:
    """Show a formulation with its equation, source, signs and links, or a family, or a solver."""
    with sentences():
        typer.echo(_page(id))


@app.command()
def graph(file: Annotated[Path, typer.Argument(metavar="FILE", help="To write: .svg or .png for a drawing, .dot for graphviz.")]) -> None:
    """Draw the families and the links between their formulations."""
    with sentences():
        check_writable(file)
        from equimargin.graph import draw

        draw(file)


def main() -> None:
    """Run the command line."""
    app()


def _listing(subject: Subject) -> Iterator[tuple[str, str]]:
    from equimargin.data import BUNDLED
    from equimargin.formulations import REGISTRY, families

    if subject is Subject.DATA:
        yield from ((name, f"{text} ({task})") for name, (text, task) in BUNDLED.items())
    elif subject is Subject.FAMILIES:
        for family in families():
            yield family, ", ".join(entry.id for entry in REGISTRY.values() if entry.family == family and not entry.control)
    elif subject is Subject.FORMULATIONS:
        for entry in REGISTRY.values():
            yield entry.id, "; ".join(map(str, entry.sources)) + (" [control]" if entry.control else "")
    elif subject is Subject.SOLVERS:
        from equimargin.solvers import BACKENDS, SOLVERS

        yield from ((name, "cvxpy backend for declared problems") for name in BACKENDS)
        yield from ((solver.name, solver.algorithm) for solver in SOLVERS.values())
    else:
        from equimargin.formulations import links

        for link in links.LINKS:
            yield f"{link.a} {_ARROWS[link.kind]} {link.b}", f"[{link.kind}; {link.status}] {link.statement}"


def _page(id: str) -> str:
    from equimargin.formulations import DOCUMENTS, REGISTRY, families, links
    from equimargin.solvers import BACKENDS, SOLVERS

    if id in REGISTRY:
        entry = REGISTRY[id]
        lines = [f"{entry.id}   (family {entry.family})"]
        if entry.control:
            lines.append("A control: wrong on purpose or a look-alike, it must disagree.")
        lines += ["", entry.statement, "", f"LaTeX   {entry.latex}", "", "Printed in"]
        lines += [f"  {source}: {DOCUMENTS[source.document]}" for source in entry.sources]
        for link in links.of(id):
            other = link.b if link.a == id else link.a
            lines += ["", f"{link.kind.capitalize()}: {other}   [{link.status}]", f"  {link.statement}"]
            lines += [f"  Holds for {link.conditions}."] if link.conditions != "always" else []
            if isinstance(link, links.NotEquivalent):
                lines.append(f"  On the counterexample {link.a} is worth {link.values[0]:.6g}, {link.b} {link.values[1]:.6g}.")
        return "\n".join(lines)
    if id in families():
        return f"{id}\n" + "\n".join(f"  {entry.id}" for entry in REGISTRY.values() if entry.family == id)
    if id in SOLVERS:
        return f"{id}\n  {SOLVERS[id].algorithm}"
    if id in BACKENDS:
        return f"{id}\n  cvxpy backend for declared problems"
    raise ValueError(f"nothing is called {id!r}; see `equimargin list formulations`, `list families`, `list solvers`")


def _problems(data: Data, kernel: Kernel, C: float, loss: LossName | None, epsilon: float, wanted: list[str] | None) -> list[Problem]:
    """The families of the data's task, or those of them that are wanted."""
    from equimargin.formulations import classification, one_norm_ranking, ranking, ranking_vector_machine, regression

    X, y, qid = data.X, data.y, data.qid
    losses = ["hinge"] if float("inf") == C else ["hinge", "squared_hinge"] if loss is None else [loss]
    problems: list[Problem] = []
    for each in losses:
        if data.task == "classification":
            problems.append(classification(X, y, C, kernel, each))  # type: ignore[arg-type]
            if float("inf") != C:
                problems.append(classification(X, y, C, kernel, each, bias=False))  # type: ignore[arg-type]
        elif data.task == "regression":
            problems.append(regression(X, y, C, epsilon, kernel, each))  # type: ignore[arg-type]
        else:
            problems.append(ranking(X, y, qid, C, kernel, each))  # type: ignore[arg-type]
    if data.task == "ranking" and float("inf") != C and loss is not LossName.SQUARED_HINGE:
        problems += [one_norm_ranking(X, y, qid, C, kernel), ranking_vector_machine(X, y, qid, C, kernel)]
    if wanted is None:
        return problems
    known = [problem.family for problem in problems]
    for name in wanted:
        if name not in known:
            raise ValueError(f"unknown family {name!r} for {data.task} with these settings; known: {', '.join(known)}")
    return [problem for problem in problems if problem.family in wanted]


def _names_control(patterns: list[str] | None) -> bool:
    """Whether a control is asked for by its own name."""
    from equimargin.formulations import REGISTRY

    return any(pattern in REGISTRY and REGISTRY[pattern].control for pattern in patterns or [])


def _print(result: Any, headline: str) -> None:
    import sys

    from rich.console import Console

    console = Console() if sys.stdout.isatty() else Console(width=150)
    console.print(headline, highlight=False)
    result.show(console)


@contextmanager
def _progress() -> Iterator[Callable[[int, int, str], None]]:
    """A progress bar on a terminal, nothing elsewhere; an interrupt ends the program with what it has come to."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        line = bar.add_task("compiling and solving", total=None)
        try:
            yield lambda done, total, what: bar.update(line, completed=done, total=total, description=what)
        except KeyboardInterrupt:
            bar.stop()
            task = bar.tasks[0]
            leave("interrupted" if task.total is None else f"interrupted after {task.completed:.0f} of {task.total:.0f} answers")
