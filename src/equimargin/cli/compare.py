"""The command `compare`: formulations and solvers on data of the user."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equimargin.cli.names import command_of, flag, named
from equimargin.cli.options import (
    ANSWERS,
    LIMITS,
    NO_PAIRS,
    OUTPUT,
    PROBLEM,
    STDOUT,
    BestOption,
    BiasName,
    BiasOption,
    CategoricalOption,
    Coef0Option,
    ComparedTask,
    ComparedTaskOption,
    CostOption,
    DataArgument,
    DecimalOption,
    DegreeOption,
    DropOption,
    EpsilonOption,
    GammaOption,
    HeaderOption,
    HTMLOption,
    JSONOption,
    KernelOption,
    LevelsOption,
    MissingOption,
    NaOption,
    PerQueryName,
    PerQueryOption,
    PluginOption,
    PreferencesOption,
    QueryOption,
    SampleOption,
    ScaleOption,
    SeedOption,
    SepOption,
    TargetOption,
    Variant,
    WeightOption,
    check_writable,
    data_record,
    end,
    finish,
    headline,
    how_to_encode,
    how_to_read,
    in_words,
    kernel_of,
    kernel_record,
    leave,
    loaded,
    margin_problem,
    printed_apart,
    sentences,
    without_warnings_of_trackers,
    writing,
)
from equimargin.cli.screen import Screen

if TYPE_CHECKING:
    from equimargin.data import Data
    from equimargin.formulations import Kernel, Problem
    from equimargin.formulations.problem import AnyProblem
    from equimargin.formulations.problem.choices import LossName
    from equimargin.report.comparison import Comparison


OptionalDataArgument = Annotated[str | None, *DataArgument.__metadata__]
OF_ROWS = (
    *("task", "levels", "loss", "kernel", "gamma", "degree", "coef0", "cost", "epsilon", "delta", "scale", "sample", "seed", "preferences"),
    *("per_query", "bias", "target", "query", "weight", "drop", "header", "sep", "decimal", "missing", "na", "categorical", "best"),
)
"""The names of the options that user-defined families do not have.

They are about rows of features and the problems made of them.
"""
HUBERISED = "svm.huberised_hinge"
"""The family that is compared only where it is named, because its loss has a width of its own."""
BY_HAND = "by Ctrl-C or SIGTERM"
"""Cause of the end of a comparison that the user ended.

Other processes may then still be running; where its time was over they are not.
"""


class LossChoice(StrEnum):
    """What a unit of slack costs."""

    HINGE = "hinge"
    SQUARED_HINGE = "squared_hinge"


FamilyOption = Annotated[
    list[str] | None,
    typer.Option(metavar="PATTERN", help="Only these families, * and ? allowed; may be given again.", rich_help_panel=PROBLEM),
]
FormulationOption = Annotated[
    list[str] | None,
    typer.Option(metavar="PATTERN", help="Only these formulations, * and ? allowed.", rich_help_panel=ANSWERS),
]
SolverOption = Annotated[
    list[str] | None,
    typer.Option(metavar="PATTERN", help="Only these backends and solvers, * and ? allowed.", rich_help_panel=ANSWERS),
]
LossOption = Annotated[LossChoice | None, named(LossChoice, "Loss of a slack: {}; by default both.", PROBLEM)]
DeltaOption = Annotated[
    float | None,
    typer.Option(metavar="DELTA", help="Half the width of the parabola of svm.huberised_hinge; by default 0.5.", rich_help_panel=PROBLEM),
]
TolOption = Annotated[float, typer.Option(metavar="TOL", help="Relative accuracy that every solver is asked for.", rich_help_panel=ANSWERS)]
AgreeTolOption = Annotated[
    float, typer.Option(metavar="TOL", help="Relative tolerance within which answers agree.", rich_help_panel=ANSWERS)
]
TimeLimitOption = Annotated[float, typer.Option(metavar="SECONDS", help="Time for each answer.", rich_help_panel=LIMITS)]


def _explain(asked: bool) -> None:
    if asked:
        from equimargin.report.words import EXPLANATION

        typer.echo(EXPLANATION, nl=False)
        raise typer.Exit


def compare(
    context: typer.Context,
    data: OptionalDataArgument = None,
    target: TargetOption = None,
    query: QueryOption = None,
    weight: WeightOption = None,
    drop: DropOption = None,
    header: HeaderOption = None,
    sep: SepOption = None,
    decimal: DecimalOption = ".",
    missing: MissingOption = None,
    na: NaOption = None,
    categorical: CategoricalOption = None,
    best: BestOption = None,
    preferences: PreferencesOption = None,
    scale: ScaleOption = False,
    sample: SampleOption = None,
    seed: SeedOption = 0,
    draw: Annotated[
        int | None,
        typer.Option(metavar="SEED", min=0, help="Draw the data of a plug-in's family in place of reading DATA."),
    ] = None,
    task: ComparedTaskOption = None,
    levels: LevelsOption = None,
    family: FamilyOption = None,
    formulation: FormulationOption = None,
    solver: SolverOption = None,
    loss: LossOption = None,
    kernel: KernelOption = "linear",
    gamma: GammaOption = None,
    degree: DegreeOption = None,
    coef0: Coef0Option = None,
    cost: CostOption = 1.0,
    epsilon: EpsilonOption = 0.1,
    delta: DeltaOption = None,
    tol: TolOption = 1e-8,
    agree_tol: AgreeTolOption = 1e-6,
    time_limit: TimeLimitOption = 60.0,
    total_time: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="Time for all answers; at its end the results so far are printed and written.",
            rich_help_panel=LIMITS,
        ),
    ] = None,
    patient: Annotated[bool, flag("--patient", "Wait for all answers: slow ones, and those that no verdict needs.", LIMITS)] = False,
    jobs: Annotated[int, typer.Option(metavar="N", help="Processes; -1 for all cores.", rich_help_panel=LIMITS)] = 1,
    per_query: PerQueryOption = None,
    bias: BiasOption = None,
    include_controls: Annotated[
        bool, flag("--include-controls", "Declare the misprints and look-alikes too, which must disagree.", ANSWERS)
    ] = False,
    wide: Annotated[bool, flag("--wide", "Print a table of 150 columns, one line for each answer.", OUTPUT)] = False,
    explain: Annotated[
        bool, flag("--explain", "Explain the words and marks of the page, and exit.", OUTPUT, callback=_explain, is_eager=True)
    ] = False,
    json: JSONOption = None,
    csv: Annotated[
        Path | None, typer.Option(metavar="FILE", help="CSV file of the answers; - for standard output.", rich_help_panel=OUTPUT)
    ] = None,
    html: HTMLOption = None,
    certify: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Folder for a certificate of every family, FAMILY.json.", rich_help_panel=OUTPUT),
    ] = None,
    plugin: PluginOption = None,
) -> None:
    """Compare formulations and solvers on your data.

    Every answer is checked: what it proves of the optimum is computed anew, and what a solver says of its own success is not believed.

    A family that a plug-in enters, or one of `list families` beyond those of the task, is compared by its name: --family ID with a file of
    its own data, or with --draw SEED.

    Exit status: 0 every family agrees; 1 a family disagrees; 2 bad usage or input; 3 nothing was solved; 4 a family is undecided;
    130 interrupted by Ctrl-C or --total-time: what there is is printed and written.
    """
    with sentences(), writing(json, csv, html, certify) as write:
        check_writable(json, csv, html)
        _check_folder(certify)
        with _no_answer_yet(json, csv, html):
            posed = None if task is ComparedTask.ORDINAL or levels is not None else brought(context, data, family, draw)
            if posed is None:
                how = how_to_read(target, query, weight, drop, header, sep, decimal, missing, na) | how_to_encode(categorical, best)
                rows = loaded(required(data), task, how, preferences, sample, seed, kernel, scale, levels)
                variant = Variant(per_query, bias)
                asked = {"loss": None if loss is None else loss.value, "C": cost, "epsilon": epsilon, "scale": scale}
                asked |= {"sample": sample, "seed": seed, **variant.record()} | ({} if delta is None else {"delta": delta})
                rows = rows.scaled() if scale else rows
                posed = at_rows(rows, kernel_of(kernel, gamma, degree, coef0, rows), family, variant, asked)
            if jobs != 1:
                without_warnings_of_trackers()
            from equimargin.comparison import comparisons

            stream = comparisons(
                posed.problems,
                formulation or "*",
                solver or "*",
                tol,
                agree_tol,
                time_limit=time_limit,
                total_time=total_time,
                patient=patient,
                jobs=jobs,
                include_controls=include_controls or names_control(formulation),
            )
            screen = Screen(wide)
            screen.headline(posed.headline)
            result = _followed(stream, screen)
        result = replace(result, data=posed.data, settings={**result.settings, **posed.settings})
        for file, text in ((json, result.to_json), (csv, result.to_csv), (html, lambda: result.to_html(command_of(context)))):
            if file is not None:
                write(file, text())
        screen.end(result)
        if certify is not None:
            for id, outcome in result.certify(certify).items():
                typer.echo(f"{id}: certificate {outcome}" if isinstance(outcome, Path) else f"{id}: no certificate: {outcome}")
        if result.interrupted:
            files = _named(json, csv, html)
            written = f", written to {', '.join(files)}" if files else ""
            others_work = jobs != 1 and result.interrupted == BY_HAND
            end(f"interrupted ({result.interrupted}): {result.done} of {result.total} answers{written}", others_work)
    finish(result.exit_code)


@dataclass(frozen=True)
class Posed:
    """What is compared: the problems, a line that says how they were got, and the records of data and of settings."""

    problems: Sequence[AnyProblem]
    headline: str
    data: dict[str, Any]
    settings: dict[str, Any]


def at_rows(rows: Data, kernel: Kernel, wanted: list[str] | None, variant: Variant, asked: dict[str, Any]) -> Posed:
    """Return the problems of a task at the rows of a file, already scaled.

    The command ends where there is nothing to rank.

    Parameters
    ----------
    rows : Data
        Rows of the file, already scaled.
    kernel : Kernel
        Kernel of the problems.
    wanted : list of str or None
        Families that the options name; None for those of the task.
    variant : Variant
        Variant of the problems.
    asked : dict
        Options about the problems, as the record has them.

    Raises
    ------
    ValueError
        If the options do not go with the data.
    """
    variant.check(rows)
    loss = None if asked["loss"] is None else LossChoice(asked["loss"])
    if rows.task == "ordinal":
        return _of_levels(rows, kernel, loss, wanted, asked)
    problems = _problems(rows, kernel, asked, loss, wanted, variant)
    if problems[0].p == 0:
        typer.echo(NO_PAIRS)
        raise typer.Exit
    return _of_rows(rows, kernel, problems, variant, asked)


def _of_rows(rows: Data, kernel: Kernel, problems: list[Problem], variant: Variant, asked: dict[str, Any]) -> Posed:
    """The problems of a task at the rows of a file."""
    said = f"{headline(rows, problems[0], kernel, variant)}, C={asked['C']:g}{_left_out(rows, variant)}"
    settings = {"task": rows.task, "kernel": kernel_record(kernel), **asked}
    return Posed(problems, said, data_record(rows, problems[0]), settings)


def _of_levels(rows: Data, kernel: Kernel, loss: LossChoice | None, wanted: list[str] | None, asked: dict[str, Any]) -> Posed:
    """The problems of an ordinal regression at the rows of a file.

    Raises
    ------
    ValueError
        Families of another name.
    """
    from equimargin.comparison.choice import matching
    from equimargin.families import problems_of_levels
    from equimargin.formulations.problem.choices import LOSSES

    losses: tuple[LossName, ...] = LOSSES if loss is None else (loss.value,)
    problems = problems_of_levels(rows.X, rows.y.astype(int), asked["C"], kernel, losses, rows.weight)
    chosen = matching(wanted or ["*"], [problem.family for problem in problems], "family")
    read_as = rows.describe()
    m, d = rows.X.shape
    record = {"name": rows.name, "task": rows.task, "rows": m, "features": d, "pairs_or_rows": m, "read_as": read_as}
    settings = {"task": rows.task, "kernel": kernel_record(kernel), **asked}
    said = f"{read_as}; {in_words(kernel)}, C={asked['C']:g}"
    return Posed([problem for problem in problems if problem.family in chosen], said, record, settings)


def brought(context: typer.Context, data: str | None, patterns: list[str] | None, draw: int | None) -> Posed | None:
    """Return the problems of user-defined families, or None.

    They are those that the patterns name where data are drawn, or that are named in full.

    Raises
    ------
    ValueError
        No such family, data of both kinds or of none, options that the family does not have.
    """
    if patterns is None and draw is None:
        if data is not None and data.endswith(".json"):
            raise ValueError(f"{data}: a JSON file has the data of a family from elsewhere; say of which: --family ID")
        return None
    from equimargin.own.data import chosen_families, names_of_families, problem_of

    _check_names(patterns or [])
    families = chosen_families(patterns or [])
    named = [pattern for pattern in patterns or [] if any(pattern.lower() == family.id.lower() for family in families)]
    if draw is None and (not named or len(named) < len(patterns or [])):
        return None
    if not families:
        raise ValueError(f"--draw needs --family with the name of a family from elsewhere; known: {names_of_families()}")
    sources = {name: context.get_parameter_source(name) for name in OF_ROWS}
    given = [name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"]
    if given:
        raise ValueError(f"--{given[0].replace('_', '-')} is not for {families[0].id}: its data say all that it needs")
    with printed_apart():
        found = [problem_of(family, data, draw) for family in families]
    said = "; ".join(line for _, line in found)
    record = {"name": data or f"seed {draw}", "task": None, "rows": None, "features": None, "pairs_or_rows": None, "read_as": said}
    settings = {"task": None, "kernel": None, "scale": False, "sample": None, "seed": draw or 0}
    return Posed([problem for problem, _ in found], said, record, settings)


def _check_names(patterns: Sequence[str]) -> None:
    """Refuse a name that no family has, before data are read for it."""
    from equimargin.formulations import families
    from equimargin.formulations.numeric.arguments import did_you_mean

    known = families()
    for name in patterns:
        if not set("*?[") & set(name) and name.lower() not in {id.lower() for id in known}:
            near = did_you_mean(name, known) or "; `equimargin list families` has all, and --plugin MODULE brings others"
            raise ValueError(f"unknown family {name!r}{near}")


def required(data: str | None) -> str:
    """Return the argument DATA, without which only user-defined families can be compared."""
    if data is None:
        raise ValueError("missing argument 'DATA'; see equimargin compare --help")
    return data


def _check_folder(certify: Path | None) -> None:
    """Make the folder of the certificates, before the work is done."""
    if certify is None:
        return
    if certify == STDOUT:
        raise ValueError("--certify writes a file of every family and takes a folder, not standard output (-)")
    try:
        certify.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise ValueError(f"--certify: {certify} is not a folder") from None


def _named(*files: Path | None) -> list[str]:
    """Return the names of the files, standard output left out."""
    return [str(file) for file in files if file not in (None, STDOUT)]


@contextmanager
def _no_answer_yet(*files: Path | None) -> Iterator[None]:
    """End at an interrupt with a sentence on the files that are not written.

    An interrupt that comes when there are answers does not get here.
    """
    try:
        yield
    except KeyboardInterrupt:
        names = _named(*files)
        unwritten = f"; {' and '.join(names)} {'is' if len(names) == 1 else 'are'} not written" if names else ""
        leave(f"interrupted before the first answer{unwritten}")


def _followed(stream: Iterator[Comparison], screen: Screen) -> Comparison:
    """Show every comparison of a stream, and return the last one.

    Where an interrupt ends the stream, that is the last that there was.
    """
    with printed_apart():
        found = next(stream)
    started = time.perf_counter() - found.seconds
    try:
        with screen, printed_apart():
            screen.update(found)
            for found in stream:
                screen.update(found)
    except KeyboardInterrupt:
        found = replace(found, interrupted=BY_HAND, seconds=time.perf_counter() - started)
    return found


def _problems(
    data: Data, kernel: Kernel, asked: dict[str, Any], loss: LossChoice | None, wanted: list[str] | None, variant: Variant
) -> list[Problem]:
    """The problems of all families of the data's task that have the variant, or of those of them that are wanted.

    The family of the huberised hinge is among them where its full name is.
    """
    from equimargin.formulations.problem.choices import LOSSES
    from equimargin.formulations.problem.construct import problems_of

    C, epsilon, delta = asked["C"], asked["epsilon"], asked.get("delta")
    losses: tuple[LossName, ...] = LOSSES if loss is None else (loss.value,)
    problems: list[Problem]
    if data.pairs is not None or variant.bias is BiasName.PENALIZED:
        each_loss = LOSSES[:1] if float("inf") == C else losses
        problems = [margin_problem(data, kernel, C, epsilon, each, **variant.arguments()) for each in each_loss]
    else:
        problems = problems_of(data.task, data.X, data.y, C, kernel, losses, epsilon, data.qid, **data.weights, **variant.arguments())
    if wanted is not None and HUBERISED in wanted and data.task == "classification" and loss is None:
        own = {"delta": 0.5 if delta is None else delta, **variant.arguments()}
        problems.append(margin_problem(data, kernel, C, epsilon, "huberised_hinge", **own))
    elif delta is not None:
        raise ValueError(f"--delta is of the huberised hinge: name that family, --family {HUBERISED}, or leave it out")
    if variant.bias is not None:
        problems = [problem for problem in problems if problem.bias == (variant.bias is BiasName.FREE)]
    if wanted is None:
        return problems
    from equimargin.comparison.choice import matching

    known = [problem.family for problem in problems]
    if data.task == "classification" and loss is None and HUBERISED not in known:
        known.append(HUBERISED)
    chosen = matching(wanted, known, f"family{variant.in_words().replace(',', ' with', 1)}")
    return [problem for problem in problems if problem.family in chosen]


def _left_out(data: Data, variant: Variant) -> str:
    """Why there are no one-norm families, where the data or the options keep them out."""
    if variant.bias is BiasName.PENALIZED:
        return "; one-norm families have no penalised bias"
    if data.task == "ranking" and (data.weight is not None or data.pairs is not None):
        return "; one-norm families know neither weights nor preferences"
    return "; one-norm families know no means over queries" if variant.per_query is PerQueryName.MEAN else ""


def names_control(patterns: list[str] | None) -> bool:
    """Return True if a pattern is the full name of a control."""
    from equimargin.formulations import REGISTRY

    controls = {entry.id.lower() for entry in REGISTRY.values() if entry.control}
    return any(pattern.lower() in controls for pattern in patterns or [])
