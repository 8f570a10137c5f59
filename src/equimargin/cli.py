"""The command line: compare formulations and solvers on one's own data, and look things up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from equimargin import __version__

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


class Task(StrEnum):
    """What is learned."""

    CLASSIFICATION = "classification"
    REGRESSION = "regression"
    RANKING = "ranking"


class KernelName(StrEnum):
    """The kernels of document T, section 2.3, and one's own Gram matrix."""

    LINEAR = "linear"
    RBF = "rbf"
    POLYNOMIAL = "polynomial"
    SIGMOID = "sigmoid"
    PRECOMPUTED = "precomputed"


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
    data: Annotated[str, typer.Argument(metavar="DATA", help="A bundled name (see `list data`) or a file: svmlight/LETOR, CSV/TSV, NPZ.")],
    task: Annotated[Task | None, typer.Option(help="What is learned; by default what the data look like.")] = None,
    family: Annotated[list[str] | None, typer.Option(metavar="ID", help="Only these families; may be given again.")] = None,
    formulation: Annotated[list[str] | None, typer.Option(metavar="PATTERN", help="Only these formulations, * and ? allowed.")] = None,
    solver: Annotated[list[str] | None, typer.Option(metavar="PATTERN", help="Only these backends and solvers, * and ? allowed.")] = None,
    loss: Annotated[LossName | None, typer.Option(help="Only families with this loss of the slacks; both by default.")] = None,
    kernel: Annotated[KernelName, typer.Option(help="Kernel; precomputed takes the features as the Gram matrix.")] = KernelName.LINEAR,
    gamma: Annotated[float | None, typer.Option(help="Of rbf and sigmoid (1/d) and polynomial (1).")] = None,
    degree: Annotated[int, typer.Option(help="Of polynomial.")] = 2,
    coef0: Annotated[float | None, typer.Option(help="Of polynomial (1) and sigmoid (0).")] = None,
    cost: Annotated[float, typer.Option("-C", metavar="COST", help="Cost of a unit of slack; inf is the hard margin.")] = 1.0,
    epsilon: Annotated[float, typer.Option(help="Half the width of the regression tube, in the units of the target.")] = 0.1,
    scale: Annotated[bool, typer.Option("--scale", help="Bring every feature to mean 0 and deviation 1.")] = False,
    sample: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="So many rows; for ranking whole queries, the last one cut.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the sample.")] = 0,
    tol: Annotated[float, typer.Option(help="Relative accuracy asked of every solver.")] = 1e-8,
    agree_tol: Annotated[float, typer.Option(help="Relative tolerance of the referee.")] = 1e-6,
    time_limit: Annotated[float, typer.Option(metavar="SECONDS", help="For each answer.")] = 60.0,
    jobs: Annotated[int, typer.Option(metavar="N", help="Processes; -1 is all cores.")] = 1,
    target: Annotated[str | None, typer.Option(metavar="COLUMN", help="Target column of a CSV file; by default the last.")] = None,
    query: Annotated[str | None, typer.Option(metavar="COLUMN", help="Query column of a CSV file.")] = None,
    include_controls: Annotated[bool, typer.Option("--include-controls", help="Also declare the misprints; they must disagree.")] = False,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write all figures as JSON.")] = None,
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the answers as CSV.")] = None,
) -> None:
    """Solve the formulations of a task by several backends and solvers, and judge every answer.

    Exit status: 0 every family agrees; 1 an answer disagrees; 2 bad usage or input; 3 nothing was solved; 4 a family is undecided.
    """
    with _sentences():
        _check_writable(json, csv)
        from equimargin.compare import Comparison
        from equimargin.compare import compare as run

        loaded = _load(data, task, target, query, scale, sample, seed, kernel)
        chosen = _kernel(kernel, gamma, degree, coef0, loaded.X.shape[1])
        if loaded.task == "classification" and len(set(loaded.y.tolist())) < 2:
            raise ValueError(f"the {len(loaded.y)} sampled rows are of one class, and one class cannot be classified; sample more rows")
        problems = _problems(loaded, chosen, cost, loss, epsilon, family)
        if problems[0].p == 0:
            typer.echo("No preference pairs: within every query all rows have the same label, so there is nothing to rank.")
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
            "task": loaded.task,
            "kernel": {"name": chosen.name, **vars(chosen)},
            "loss": None if loss is None else loss.value,
            "C": cost,
            "epsilon": epsilon,
            "scale": scale,
            "sample": sample,
            "seed": seed,
        }
        described = {"name": loaded.name, "rows": problems[0].m, "features": int(loaded.X.shape[1]), "pairs_or_rows": problems[0].p}
        result = Comparison(result.families, described, settings)
        _print(result, _headline(loaded, problems[0], chosen, cost))
        for path, text in ((json, result.to_json), (csv, result.to_csv)):
            if path is not None:
                _write(path, text())
    raise typer.Exit(result.exit_code)


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
    with _sentences():
        typer.echo(_page(id))


@app.command()
def graph(file: Annotated[Path, typer.Argument(metavar="FILE", help="To write: .svg or .png for a drawing, .dot for graphviz.")]) -> None:
    """Draw the families and the links between their formulations."""
    with _sentences():
        _check_writable(file)
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


def _load(
    source: str, task: Task | None, target: str | None, query: str | None, scale: bool, sample: int | None, seed: int, kernel: KernelName
) -> Data:
    from equimargin.data import load

    loaded = load(source, task=None if task is None else task.value, target=target, query=query)
    if kernel is KernelName.PRECOMPUTED and (scale or sample is not None):
        raise ValueError("--scale and --sample do not go with --kernel precomputed: the Gram matrix is taken as it is")
    if sample is not None:
        loaded = loaded.sampled(sample, seed)
    return loaded.scaled() if scale else loaded


def _kernel(name: KernelName, gamma: float | None, degree: int, coef0: float | None, d: int) -> Kernel:
    from equimargin.formulations import linear, polynomial, precomputed, rbf, sigmoid

    if name is KernelName.RBF:
        return rbf(1 / d if gamma is None else gamma)
    if name is KernelName.POLYNOMIAL:
        return polynomial(degree, 1.0 if gamma is None else gamma, 1.0 if coef0 is None else coef0)
    if name is KernelName.SIGMOID:
        return sigmoid(1 / d if gamma is None else gamma, 0.0 if coef0 is None else coef0)
    return precomputed() if name is KernelName.PRECOMPUTED else linear()


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


def _headline(data: Data, problem: Problem, kernel: Kernel, C: float) -> str:
    parameters = ", ".join(f"{name}={value:g}" for name, value in vars(kernel).items())
    rows = f"{problem.m:,} rows, {problem.p:,} pairs" if data.task == "ranking" else f"{problem.m:,} rows"
    shift = f", diagonal shifted by {problem.shift:.3g} to be provably positive semidefinite" if problem.shift else ""
    described = f"{kernel.name} kernel ({parameters})" if parameters else f"{kernel.name} kernel"
    return f"{data.name}: {data.task}, {rows}, {data.X.shape[1]:,} features; {described}, C={C:g}{shift}"


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
            _leave("interrupted" if task.total is None else f"interrupted after {task.completed:.0f} of {task.total:.0f} answers")


@contextmanager
def _sentences() -> Iterator[None]:
    """Bad input ends in one sentence and exit status 2, an interrupt in one and 130."""
    try:
        yield
    except (ValueError, OSError) as error:
        _refuse(str(error))
    except KeyboardInterrupt:
        _leave("interrupted")


def _leave(sentence: str) -> NoReturn:
    """Exit at once: native code that goes on, here or in another process, must not delay or outlive it."""
    import multiprocessing
    import os
    import sys

    typer.echo(f"equimargin: {sentence}", err=True)
    sys.stdout.flush()
    for process in multiprocessing.active_children():
        process.kill()
    os._exit(130)


def _refuse(sentence: str) -> NoReturn:
    typer.echo(f"equimargin: {sentence}", err=True)
    raise typer.Exit(2)


def _check_writable(*paths: Path | None) -> None:
    """Refuse before the work what could not be written after it."""
    for path in paths:
        if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
            raise ValueError(f"{path} cannot be written: {'it is a folder' if path.is_dir() else 'its folder does not exist'}")


def _write(path: Path, text: str) -> None:
    """Write whole or not at all."""
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
