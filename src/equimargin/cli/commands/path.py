"""Command `path`: regularisation path, best lambda on validation points, and a drawing."""

from __future__ import annotations

import json as js
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, cast

import typer

from equimargin import __version__
from equimargin.cli.commands.cost_grid import check_grid, grid_record, print_grid, score_grid
from equimargin.cli.group import get_command
from equimargin.cli.options.families import check_names
from equimargin.cli.options.posing import (
    ProblemFields,
    TaskOption,
    data_record,
    described,
    headline,
    kernel_record,
    make_kernel,
)
from equimargin.cli.options.reading import ReadFields, loaded
from equimargin.cli.options.requests import Without, with_requests
from equimargin.cli.options.shared import (
    DATA,
    OUTPUT,
    PROBLEM,
    DataArgument,
    HTMLOption,
    JSONOption,
    PluginOption,
    output_option,
    seconds_option,
)
from equimargin.cli.output.errors import exit_interrupted, report_errors
from equimargin.cli.output.files import check_writable, writing
from equimargin.cli.output.waiting import WaitingBar
from equimargin.request import ANSWERS, LIMITS

if TYPE_CHECKING:
    from equimargin.data import Data
    from equimargin.formulations import Kernel, Problem
    from equimargin.selection.along_path import Curve, SelectionResult
    from equimargin.selection.grids import Task
    from equimargin.solvers.path import AnyPath


READ_TWICE = (
    "standard input (-) can be read only once, and is named twice; name a file for --validate"
)
"""Message about standard input."""


@with_requests
def path(  # prose-ok: param-section
    context: typer.Context,
    data: DataArgument,
    *,
    reading: ReadFields,
    posing: Annotated[
        ProblemFields, Without(("levels", "loss", "cost", "lambda_", "delta", "parameter"))
    ],
    seed: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, help="Seed of the sample and of the folds.", rich_help_panel=DATA
        ),
    ] = 0,
    task: TaskOption = None,
    family: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="Family of the task, such as svm.nobias, svm.onenorm, rank.onenorm or rvm.",
            rich_help_panel=PROBLEM,
        ),
    ] = None,
    validate: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|N",
            help="Choose the best lambda on the rows of a file, or by N folds of DATA.",
            rich_help_panel=ANSWERS,
        ),
    ] = None,
    metric: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Metric of --validate: auto, pairwise_accuracy, ndcg@10, average_precision, ...",
            rich_help_panel=ANSWERS,
        ),
    ] = "auto",
    grid_of_costs: Annotated[
        bool,
        typer.Option(
            "--grid",
            help="Choose C and gamma of the squared hinge from a grid by --validate, without a "
            "path: C from 2^-5 to 2^5, gamma from 2^-6 to 2^-1 or that of --gamma.",
            rich_help_panel=ANSWERS,
        ),
    ] = False,
    lambda_min: Annotated[
        float,
        typer.Option(
            metavar="LAMBDA",
            help="End of the path, lambda = 1/C; 0 for the whole path.",
            rich_help_panel=LIMITS,
        ),
    ] = 1e-4,
    max_events: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Maximum number of breakpoints.", rich_help_panel=LIMITS
        ),
    ] = None,
    device: Annotated[
        str,
        typer.Option(
            metavar="DEVICE",
            help="Device of --grid, except for rankings: cuda, or cuda:1 for the second NVIDIA "
            "card.",
            rich_help_panel=ANSWERS,
        ),
    ] = "cpu",
    time_limit: Annotated[float | None, seconds_option("Time limit of a path.", LIMITS)] = None,
    plot: Annotated[Path | None, output_option("Drawing of the path: .svg, .png or .pdf.")] = None,
    save: Annotated[Path | None, output_option("Data of the path: .npz.")] = None,
    certify: Annotated[
        Path | None,
        output_option("Certificate for all lambdas from the first breakpoint to the last: .json."),
    ] = None,
    certify_gap: Annotated[
        float,
        typer.Option(
            metavar="GAP",
            help="Relative gap between objective and optimum that the certificate proves.",
            rich_help_panel=OUTPUT,
        ),
    ] = 1e-3,
    json: JSONOption = None,
    html: HTMLOption = None,
    plugin: PluginOption = None,
) -> None:
    """Compute the regularisation path, and choose lambda.

    The path of a problem with hinge loss is computed from one breakpoint of lambda =
    1/C to the next. Between breakpoints lambda f is linear in lambda; f of a one-norm
    problem is constant there, and jumps at breakpoints. --grid solves the squared hinge,
    which has no such path, at costs of a grid.

    Exit status: 0 the path reached its end; 1 a gap is too large to trust; 2 bad usage
    or input; 3 the path has no breakpoint; 4 the path stopped before --lambda-min, or a
    fold's path stopped early and the best lambda is the smallest that all folds reached.
    """
    with report_errors(), writing(json, html, save, plot, certify) as write:
        from equimargin.formulations.numeric.arguments import optional_limit

        check_writable(plot, save, json, html, certify)
        _check_endings(plot, save)
        time_limit = optional_limit(time_limit, "time_limit")
        check_names([] if family is None else [family])
        raw = loaded(data, reading, task, posing.kernel)
        rows = raw.scaled() if reading.scale else raw
        chosen = make_kernel(posing, rows)
        posing.check(rows)
        check_grid(context, grid_of_costs, validate, rows)
        family, folds = _family(family, posing), _folds(validate)
        _check_folds(folds, raw, posing)
        what, limits = cast("Task", rows.task), (lambda_min, max_events, time_limit)
        validated_on = validate if folds is None else f"{folds} folds"
        if rows.has_many_classes:
            _refuse_files(plot, save, json, html, certify)
            _check_for_classes(chosen, validate, folds, metric)
            held_out = _held_out(validate, folds, raw, reading)
            _of_classes(rows, held_out, folds, chosen, family, posing, seed, limits, validated_on)
        problem = _problem(rows, chosen, family, posing)
        if problem.p == 0:
            _exit_without_pairs(json, html, save, plot, certify)
        held_out = _held_out(validate, folds, raw, reading)
        _check_metric(held_out, raw, problem, metric)
        if grid_of_costs:
            with WaitingBar("scoring the grid", gaps=True):
                table = score_grid(rows, held_out, folds, posing, metric, seed, time_limit, device)
            typer.echo(f"{described(rows, problem)}; squared hinge, validated on {validated_on}")
            chosen_by = {"validate": validate, "metric": metric, "seed": seed}
            limited = {"scale": reading.scale, "time_limit": time_limit, "device": device}
            if json is not None:
                write(json, grid_record(data_record(rows, problem), table, chosen_by | limited))
            raise typer.Exit(print_grid(table, f"{validated_on}"))
        from equimargin.selection.along_path import NoBreakpoint, NothingToChoose, score_along
        from equimargin.selection.grids import grid, make_folds
        from equimargin.solvers import regularization_path
        from equimargin.solvers.path.result import OPTIMAL_GAP

        if folds is not None:
            make_folds(rows.y, rows.qid, what, folds, seed)
        curve: Curve | None = None
        folded_early, chosen_early = "", False
        no_choice: NothingToChoose | None = None
        with _progress(lambda_min) as (followed, folded):
            computed = regularization_path(problem, *limits, followed)
            try:
                if len(computed) and held_out is not None:
                    curve = score_along(computed, held_out.X, held_out.y, metric, held_out.qid)
                elif len(computed) and folds is not None:
                    row = grid(
                        rows.X,
                        rows.y,
                        [problem.kernel],
                        what,
                        rows.qid,
                        metric,
                        folds,
                        family=family,
                        epsilon=posing.epsilon,
                        # Folds end where the path of all rows ended.
                        lambda_min=max(lambda_min, float(computed.lambdas[-1])),
                        max_events=max_events,
                        time_limit=time_limit,
                        random_state=seed,
                        progress=folded,
                    ).best
                    curve, folded_early = row.curve, row.stopped
                    chosen_early = bool(row.stopped) and row.chosen_at_the_end
            except NothingToChoose as reason:
                no_choice = reason
        title = headline(rows, problem, chosen, posing)
        typer.echo(title)
        notes = [f"nothing to choose: {no_choice}"] if no_choice is not None else []
        notes += [folded_early] if folded_early else []
        for line in (
            *_summary(computed, None if curve is None else curve.best, validated_on),
            *notes,
        ):
            typer.echo(f"  {line}")
        if not len(computed):
            raise typer.Exit(3)
        settings = {
            "kernel": kernel_record(chosen),
            "epsilon": posing.epsilon if what == "regression" else None,
            "scale": reading.scale,
            "sample": reading.sample,
            "seed": seed,
            "validate": validate,
            "family": problem.family,
            "metric": metric,
        }
        settings |= {
            "lambda_min": lambda_min,
            "max_events": max_events,
            "time_limit": time_limit,
            **posing.variant_record(),
        }
        if json is not None:
            write(json, _json(rows, computed, None if curve is None else curve.best, settings))
        if html is not None:
            write(
                html,
                _html(rows, computed, notes, curve, validated_on, settings, get_command(context)),
            )
        _write(computed, title, curve, save, plot)
        _certify(computed, certify, certify_gap)
    worst = max(computed.gaps.max(), computed.midpoint_gaps.max(initial=0.0))
    early = not computed.complete or isinstance(no_choice, NoBreakpoint) or chosen_early
    raise typer.Exit(1 if not worst <= OPTIMAL_GAP else 4 if early else 0)


def _refuse_files(*files: Path | None) -> None:
    """Refuse files of one path for the paths of all pairs of classes."""
    names = [str(file) for file in files if file is not None]
    if names:
        raise ValueError(
            f"{names[0]} is a file of one path, and three classes or more have a path for every "
            f"pair; keep two classes, or leave the file out"
        )


def _of_classes(
    rows: Data,
    held_out: Data | None,
    folds: int | None,
    kernel: Kernel,
    family: str | None,
    posing: ProblemFields,
    seed: int,
    limits: tuple[float, int | None, float | None],
    validated_on: str | None,
) -> NoReturn:
    """Follow the path of every pair of classes, choose one lambda by votes, and exit."""
    # Imported here: the command line starts without numpy.
    import numpy as np

    from equimargin.formulations.problem.construct import make_family_problem
    from equimargin.problems import split_by_classes
    from equimargin.solvers import regularization_path

    whole = make_family_problem(
        family,
        "classification",
        rows.X,
        np.ones(len(rows.y)),
        kernel,
        **rows.weights,
        **posing.variant_arguments(),
    )
    parts = split_by_classes([whole], rows.y.astype(int), rows.classes or ())
    with _progress(limits[0]) as (followed, folded):
        paths = [regularization_path(part, *limits, followed) for part in parts]
        chosen, note, is_early = _voted(
            paths, rows, held_out, folds, family, seed, limits, progress=folded
        )
    typer.echo(f"{headline(rows, whole, kernel, posing)}; a path for every pair of classes")
    status = _print_paths(paths, chosen, note, f"{validated_on}")
    raise typer.Exit(4 if status == 0 and is_early else status)


def _check_for_classes(
    kernel: Kernel, validate: str | None, folds: int | None, metric: str
) -> None:
    """Refuse options that three classes or more do not have."""
    from equimargin.formulations.kernels.kernel import Precomputed

    if metric not in ("auto", "accuracy"):
        raise ValueError(
            f"--metric {metric} is not for three classes or more, which are scored by their "
            f"votes; leave it out, or choose accuracy"
        )
    if validate is not None and folds is None and isinstance(kernel, Precomputed):
        raise ValueError(
            f"--validate {validate}: a file has kernel values with all training rows, and a pair "
            f"of classes needs those with its own rows; validate by folds (--validate N)"
        )


def _voted(
    paths: Sequence[AnyPath],
    rows: Data,
    held_out: Data | None,
    folds: int | None,
    family: str | None,
    seed: int,
    limits: tuple[float, int | None, float | None],
    progress: Callable[[int, int], None],
) -> tuple[SelectionResult | None, str, bool]:
    """Return the best lambda by votes, a note, and True if a fold ended early there."""
    from equimargin.selection.along_path import NothingToChoose, score_votes_along
    from equimargin.selection.grids import votes_by_folds

    k, codes = len(rows.classes or ()), rows.y.astype(int)
    try:
        if held_out is not None:
            curve = score_votes_along(paths, held_out.X, held_out.y.astype(int), k)
            return curve.best, "", False
        if folds is None or not all(len(path) for path in paths):
            return None, "", False
        row = votes_by_folds(
            rows.X,
            codes,
            paths[0].problem.kernel,
            folds,
            family=family,
            # No fold goes to a lambda that a path of all rows did not reach.
            lambda_min=max(limits[0], *(float(path.lambdas[-1]) for path in paths)),
            max_events=limits[1],
            time_limit=limits[2],
            random_state=seed,
            progress=progress,
        )
    except NothingToChoose as reason:
        return None, f"nothing to choose: {reason}", False
    return row.selected, row.stopped, bool(row.stopped) and row.chosen_at_the_end


def _print_paths(
    paths: Sequence[AnyPath], chosen: SelectionResult | None, note: str, validated_on: str
) -> int:
    """Print a line for the path of every pair and one for lambda; return the exit status."""
    from equimargin.formulations.numeric.decimals import format_upper
    from equimargin.solvers.path.result import OPTIMAL_GAP

    for path in paths:
        typer.echo(f"  {path.problem.part}: {next(_summary(path, None, None))}")
    gaps = [
        max(path.gaps.max(), path.midpoint_gaps.max(initial=0.0)) for path in paths if len(path)
    ]
    if gaps:
        gap = format_upper(max(gaps), 2)
        typer.echo(f"  relative gap at most {gap} at breakpoints and half way between")
    if chosen is not None:
        typer.echo(f"  {_best(chosen, f'by votes at one lambda of all pairs, on {validated_on}')}")
    if note:
        typer.echo(f"  {note}")
    typer.echo(f"  {sum(path.seconds for path in paths):.3f} s")
    # Exit statuses of the command: 3 no breakpoint, 1 a gap too large, 4 an early end.
    if len(gaps) < len(paths):
        return 3
    if not max(gaps) <= OPTIMAL_GAP:
        return 1
    return 0 if all(path.complete for path in paths) else 4


def _best(selected: SelectionResult, on: str) -> str:
    """Return the phrase on the best lambda; `on` names the points that were scored."""
    low, high = selected.interval
    where = f"at lambda = {selected.lam:.6g} (C = {selected.C:.6g})" + (
        f" and all from {low:.6g} to {high:.6g}" if low < high else ""
    )
    return f"best {selected.metric} {selected.score:.6g} {on}: {where}"


def _family(named: str | None, posing: ProblemFields) -> str | None:
    """Return the family that the options name, or None.

    `--bias none` names a family, too.
    """
    if named is not None and posing.bias is not None:
        raise ValueError(
            f"--bias {posing.bias}: --family {named} determines the bias; leave out one of the "
            f"two options"
        )
    return "svm.nobias" if posing.bias == "none" else named


def _problem(data: Data, kernel: Kernel, family: str | None, posing: ProblemFields) -> Problem:
    """Make the problem of a family; by default the max-margin problem of the task."""
    from equimargin.formulations.problem.construct import find_related_problem
    from equimargin.problems import make_margin_problem_from_data

    variant = posing.variant_arguments()
    first = make_margin_problem_from_data(data, 1.0, kernel, posing.epsilon, **variant)
    if family is None:
        return first
    return find_related_problem(family, first, data.task, "bias" in variant)


def _exit_without_pairs(*files: Path | None) -> NoReturn:
    """Print that there is no path, name the files not written, and exit."""
    names = [str(file) for file in files if file is not None]
    are = "is" if len(names) == 1 else "are"
    # Imported here: `equimargin --help` imports no numpy.
    from equimargin.data.words import NO_PAIRS

    typer.echo(NO_PAIRS + (f" {' and '.join(names)} {are} not written." if names else ""))
    raise typer.Exit


def _folds(validate: str | None) -> int | None:
    """Return the number of folds in `--validate`; None if it is a file or is missing."""
    try:
        number = float(validate or "")
    except ValueError:
        return None
    if not (number >= 2 and number.is_integer()):
        raise ValueError(
            f"--validate {validate}: the number of folds must be a whole number, at least 2; put "
            f"./ before the name of a file"
        )
    return int(number)


def _check_folds(folds: int | None, data: Data, posing: ProblemFields) -> None:
    """Refuse folds of what only a file of validation rows supports."""
    if folds is not None and (data.weight is not None or data.pairs is not None):
        raise ValueError(
            f"--validate {folds}: folds support neither weights nor preferences; name a "
            f"file of validation rows"
        )
    if folds is not None and posing.variant_arguments():
        option = "--bias penalized" if posing.bias else "--per-query mean"
        raise ValueError(
            f"--validate {folds}: folds do not support {option}; name a file of validation rows"
        )


def _check_endings(plot: Path | None, save: Path | None) -> None:
    if plot is not None and plot.suffix not in (".svg", ".png", ".pdf"):
        raise ValueError(f"{plot}: the name of a drawing must end in .svg, .png or .pdf")
    if save is not None and save.suffix != ".npz":
        raise ValueError(f"{save}: the name of a saved path must end in .npz")


def _check_metric(data: Data | None, training: Data, problem: Problem, metric: str) -> None:
    """Refuse validation rows on which the metric is undefined."""
    if data is None:
        return
    from equimargin.data import DataError
    from equimargin.selection.validation import find_metric

    try:
        find_metric(problem, metric, data.y, data.qid)
    except ValueError as reason:
        worst = training.origin.worst
        if worst is None or data.y.min() >= 0:
            raise
        above = f"labels are above {worst:g}, the largest of {training.name}"
        raise DataError(f"{data.name}: {reason}, as {above}; choose another metric") from None


def _held_out(
    source: str | None, folds: int | None, training: Data, reading: ReadFields
) -> Data | None:
    """Load the rows of another file with the features and the scaling of the training rows.

    None without a file.
    """
    if source is None or folds is not None:
        return None
    if source == "-" and (training.name == "standard input" or reading.preferences == "-"):
        raise ValueError(READ_TWICE)
    from scipy.sparse import csr_array

    from equimargin.data import load
    from equimargin.formulations.numeric.arrays import dense, is_sparse

    data = load(source, like=training, **reading.how)
    if is_sparse(data.X) != is_sparse(training.X):
        data = replace(data, X=csr_array(data.X) if is_sparse(training.X) else dense(data.X))
    return data.scaled(by=training) if reading.scale else data


def _summary(
    found: AnyPath, selected: SelectionResult | None, validated_on: str | None
) -> Iterator[str]:
    if not len(found):
        yield f"no breakpoint: {found.stopped}"
        return
    from equimargin.formulations.numeric.decimals import format_upper
    from equimargin.solvers import OneNormPath

    rows = "row" if found.problem.family.startswith("sv") else "pair"
    count = "1 breakpoint" if len(found) == 1 else f"{len(found):,} breakpoints"
    yield (
        f"{count} from lambda = {found.lambdas[0]:.6g} to {found.lambdas[-1]:.6g}, where "
        f"{found.stopped}"
    )
    if isinstance(found, OneNormPath):
        yield (
            f"f is constant between breakpoints, {len(found) / found.problem.p:.3g} for each "
            f"{rows}; at most {found.sizes.max():,} rows are on the margin"
        )
        yield f"relative gap at most {format_upper(found.gaps.max(), 2)} at all lambdas"
    else:
        gap, half_way = (
            format_upper(gaps.max(initial=0.0), 2) for gaps in (found.gaps, found.midpoint_gaps)
        )
        changes = len(found.events) / found.problem.p
        yield (
            f"{changes:.3g} changes of the margin set for each {rows}; at most "
            f"{found.margins.max():,} {rows}s in it at once"
        )
        yield (f"relative gap at most {gap} at breakpoints, {half_way} half way between them")
    if selected is not None:
        yield _best(selected, f"on {validated_on}")
    yield f"{found.seconds:.3f} s"


def _write(
    found: AnyPath, title: str, curve: Curve | None, save: Path | None, plot: Path | None
) -> None:
    """Write the requested files of the path and its drawing."""
    if save is not None:
        found.save(save)
    if plot is not None and not (found.lambdas > 0).any():
        typer.echo(f"  nothing to draw: {found.stopped}")
    elif plot is not None:
        from equimargin.draw.path_plot import draw
        from equimargin.solvers.problem_file import whole

        with whole(plot) as part:
            draw(found, part, title, curve)


def _certify(found: AnyPath, file: Path | None, gap: float) -> None:
    """Write the certificate of a path if it is requested, and print what it proves."""
    if file is None:
        return
    from equimargin.proofs.certificates.path import path_certificate
    from equimargin.proofs.certificates.writing import write_certificate
    from equimargin.solvers import OneNormPath

    if isinstance(found, OneNormPath):
        raise ValueError(f"--certify {file}: the path of a one-norm problem has no certificate")
    document = path_certificate(found, gap=gap)
    write_certificate(document, file)
    claim, count = document["claim"], len(document["path"]["points"])
    points = "1 point proves" if count == 1 else f"{count:,} points prove"
    typer.echo(
        f"  certificate {file}: {points} a relative gap of {gap:g} at every lambda from "
        f"{claim['from']:.6g} to {claim['to']:.6g}"
    )


def _json(
    data: Data, found: AnyPath, selected: SelectionResult | None, settings: dict[str, Any]
) -> str:
    from equimargin.report.records import SCHEMA_VERSION
    from equimargin.solvers import OneNormPath

    record = {
        "schema": SCHEMA_VERSION,
        "command": "path",
        "equimargin": __version__,
        "data": data_record(data, found.problem),
        "settings": settings,
        "complete": found.complete,
        "interrupted": False,
        "stopped": found.stopped,
        "seconds": found.seconds,
        "events": len(found) if isinstance(found, OneNormPath) else len(found.events),
        "selected": None if selected is None else asdict(selected) | {"C": selected.C},
        "breakpoints": {
            "lambda": found.lambdas.tolist(),
            "bias": found.bias.tolist(),
            "gap": found.gaps.tolist(),
            "midpoint_gap": found.midpoint_gaps.tolist(),
            "margin_set": found.margins.tolist(),
        },
    }
    return js.dumps(record, indent=1, allow_nan=False)


def _html(
    data: Data,
    found: AnyPath,
    notes: list[str],
    curve: Curve | None,
    validated_on: str | None,
    settings: dict[str, Any],
    command: str,
) -> str:
    from equimargin.report.pages.path import path_page
    from equimargin.report.records import versions

    lines = [*_summary(found, None, None), *notes]
    used = {"equimargin": __version__} | versions()
    return path_page(
        found,
        lines,
        data_record(data, found.problem),
        settings,
        used,
        command,
        curve,
        validated_on or "",
        data.columns,
    )


@contextmanager
def _progress(
    lambda_min: float,
) -> Iterator[tuple[Callable[[int, float, float], None], Callable[[int, int], None]]]:
    """Yield two functions to call after every breakpoint and after every fold.

    A bar shows the progress on a terminal, and the message of an interrupt states it.
    """
    from math import log

    first, bar = 0.0, WaitingBar("compiling")

    def followed(breakpoints: int, lam: float, gap: float) -> None:
        nonlocal first
        first = first or lam
        share = (
            log(first / lam) / log(first / lambda_min)
            if 0 < lambda_min < first and 0 < lam <= first
            else None
        )
        bar.show(f"{breakpoints:,} breakpoints, lambda = {lam:.4g}", share)

    def folded(done: int, total: int) -> None:
        bar.show(f"{done} of {total} folds", done / total)

    try:
        with bar:
            yield followed, folded
    except KeyboardInterrupt:
        exit_interrupted(f"interrupted: {bar.doing}")
