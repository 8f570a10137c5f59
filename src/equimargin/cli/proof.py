"""The commands that prove: certificates are checked, models of other programs are bounded, and two problems are told to be one or two."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equimargin.cli.names import command_of
from equimargin.cli.options import (
    DecimalOption,
    DropOption,
    HeaderOption,
    HTMLOption,
    JSONOption,
    MissingOption,
    NaOption,
    PluginOption,
    ScaleOption,
    SepOption,
    TargetOption,
    WeightOption,
    check_writable,
    how_to_read,
    sentences,
    writing,
)

if TYPE_CHECKING:
    from equimargin.data import Data
    from equimargin.proofs.audit import Audit
    from equimargin.proofs.foreign_models import Model
    from equimargin.proofs.sameness import Statement
    from equimargin.sameness import Same

UNDECIDED = 4
"""The exit status of a question that stays open, as `compare` has it for a family that is undecided."""
SEPARATING_EXAMPLES = 300
"""Instances that `refute` draws: it asks no reasons, and has time for more than `same`."""
ProblemArgument = Annotated[
    str, typer.Argument(metavar="A", help="The id of a formulation (see `list`), or MODULE:FUNCTION, from data to a cvxpy problem.")
]
StrategyOption = Annotated[
    str | None, typer.Option(metavar="MODULE:STRATEGY", help="Which data both take, a hypothesis strategy; by default the family's.")
]
DrawSeedOption = Annotated[int, typer.Option(min=0, help="Seed of the instances.")]
WithoutOption = Annotated[str | None, typer.Option("--without", metavar="weights", help="Leave out what the documents do not have.")]
DistinctOption = Annotated[bool, typer.Option("--distinct", help="Only instances without two equal points.")]
FiniteOption = Annotated[bool, typer.Option("--finite", help="Only a difference of two finite optima counts.")]
SecondsOption = Annotated[float, typer.Option(metavar="SECONDS", help="For the whole verdict.")]


def verify(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Certificates.")],
    prove: Annotated[
        bool, typer.Option("--prove", help="Also write each as a theorem beside it, a Coq file, which Coq checks where it is installed.")
    ] = False,
) -> None:
    """Check certificates, and print a line for each: ACCEPTED with what it proves, or REJECTED with the first reason.

    That is an interval that holds the optimum or, of a path, how far its objective is above the optimum at every lambda of a range.

    The last line says which checkers there were: where `python -m equimargin.proofs.coq` has built the program that is extracted from a
    proof, it is asked too about files that are accepted. Exit status: 0 all are accepted; 1 one is rejected; 2 a file cannot be read; 4 all
    are accepted, and with --prove a theorem is not checked by Coq, whose line says why. `python3 -I proofs/checker.py FILE...` does the
    same without the program and without --prove.
    """
    from equimargin.proofs.checker import main as check

    status = check(files)
    if status == 0:
        status = _asked_of_the_program(files)
    if prove and status == 0:
        status = UNDECIDED if [file for file in files if not _proved(file)] else 0
    raise typer.Exit(status)


def _asked_of_the_program(files: list[str]) -> int:
    """The exit status when the program that is proved is asked too about files that are accepted; a line says what it answers."""
    from equimargin.proofs.coq import COVERED, Answer, NotProved, answer, built

    if (program := built()) is None:
        typer.echo("Checked by checker.py; the program that is extracted from a proof is not built (python -m equimargin.proofs.coq).")
        return 0
    answers = []
    for file in files:
        try:
            answers.append(answer(program, Path(file)))
        except NotProved as reason:
            typer.echo(f"{file}: {reason}")
        else:
            if answers[-1] is Answer.REJECTED:
                typer.echo(f"{file}: REJECTED by the program that is proved, and accepted by checker.py: one is wrong, please report it")
    accepted, unread = answers.count(Answer.ACCEPTED), answers.count(Answer.UNREAD)
    not_read = f", and does not read {unread}: {COVERED}" if unread else ""
    typer.echo(f"Checked by checker.py, and by the program that is proved, which accepts {accepted} of {len(files)}{not_read}.")
    return 1 if Answer.REJECTED in answers else 0


def _proved(file: str) -> bool:
    """Whether Coq checks the theorem of a certificate; a line says so, or why not."""
    from equimargin.proofs.coq import NotProved, condition, prove

    try:
        with sentences():
            theorem, given = prove(Path(file)), condition(Path(file).read_bytes())
            typer.echo(f"{file}: PROVED: Coq has checked the theorem {theorem}, which rests on no axiom{given and f'; it holds {given}'}")
    except NotProved as reason:
        typer.echo(f"{file}: NOT PROVED: {reason}")
        return False
    return True


def audit(
    context: typer.Context,
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            help="LIBSVM or LIBLINEAR model, NPZ/JSON with scikit-learn's coefficients (the keys are listed below), or with --trust a "
            "joblib or pickle file.",
        ),
    ],
    data: Annotated[
        str, typer.Option(metavar="DATA", help="The data that the model was trained on, as it saw them: a bundled name or a file.")
    ],
    cost: Annotated[
        float | None, typer.Option("-C", metavar="COST", help="C of the model's problem, where the model does not say it.")
    ] = None,
    epsilon: Annotated[float | None, typer.Option(help="epsilon of the model's problem, where the model does not say it.")] = None,
    trust: Annotated[
        bool,
        typer.Option("--trust", help="Read a pickled estimator, and let its file run any program that it holds: only if you trust it."),
    ] = False,
    nearest_rows: Annotated[
        bool, typer.Option("--nearest-rows", help="Take rounded support vectors of a file to be the nearest rows of the data.")
    ] = False,
    scale: ScaleOption = False,
    target: TargetOption = None,
    weight: WeightOption = None,
    drop: DropOption = None,
    header: HeaderOption = None,
    sep: SepOption = None,
    decimal: DecimalOption = ".",
    missing: MissingOption = None,
    na: NaOption = None,
    tol: Annotated[float, typer.Option(help="Relative accuracy asked of the solver that brackets the optimum.")] = 1e-9,
    time_limit: Annotated[float, typer.Option(metavar="SECONDS", help="Time limit of that solver.")] = 60.0,
    html: HTMLOption = None,
) -> None:
    """Print a proven bound on how far a model of another program is from the optimum of the problem that it claims to solve.

    Exit status: 0 the interval is printed; 2 bad usage or input, or C missing or contradicted by the coefficients.

    Keys of NPZ and JSON: kind (SVC, SVR or LinearSVC) and intercept;

    of SVC and SVR kernel (linear, poly, rbf or precomputed), gamma (a number), degree, coef0, dual_coef (n,), support (n,), the rows of the
    data that these belong to, from 0, and perhaps support_vectors (n, d);

    of LinearSVC coef (d,), loss, fit_intercept, intercept_scaling; of all perhaps C, epsilon, class_weight.

    A joblib or pickle file holds a fitted SVC, SVR or LinearSVC, a pipeline that ends in one, or a search that found one.
    """
    with sentences(), writing(html) as write:
        check_writable(html)
        from equimargin.data import load
        from equimargin.proofs.audit import audit as examine
        from equimargin.proofs.pickled_models import read_trusted

        with warnings.catch_warnings(record=True) as said:
            known = read_trusted(model, trust)
        for warning in said:
            typer.echo(f"equimargin: {model.name}: {' '.join(str(warning.message).split())}", err=True)
        rows = load(data, task=known.claimed.task, **how_to_read(target, None, weight, drop, header, sep, decimal, missing, na))
        rows = rows.scaled() if scale else rows
        typer.echo(rows.describe())
        X = _as_its_pipeline_takes_them(known, rows)
        found = examine(known, X, rows.y, cost, epsilon, rows.weight, tol=tol, time_limit=time_limit, nearest_rows=nearest_rows)
        typer.echo(str(found))
        if html is not None:
            settings = {"data": data, "C": cost, "epsilon": epsilon, "scale": scale, "trust": trust, "tol": tol, "time_limit": time_limit}
            settings |= {"nearest_rows": nearest_rows}
            write(html, _page(found, {"model": model.name, "read_as": rows.describe()}, settings, command_of(context)))


def _page(found: Audit, data: dict[str, Any], settings: dict[str, Any], command: str) -> str:
    """The page of an audit."""
    from equimargin import __version__
    from equimargin.report.pages.audit import audit_page
    from equimargin.report.records import versions

    return audit_page(found, data, settings, {"equimargin": __version__} | versions(), command)


def _as_its_pipeline_takes_them(model: Model, rows: Data) -> Any:
    """The features by the names of columns, where the model is a pipeline that knows its columns by name, and the data have names."""
    names = getattr(model.steps, "feature_names_in_", None)
    if names is None or rows.columns is None:
        return rows.X
    missing = [name for name in names if name not in rows.columns]
    if missing:
        raise ValueError(f"the pipeline was fitted on a column {missing[0]!r}, which the data do not have")
    ordered = rows.X[:, [rows.columns.index(name) for name in names]]
    try:
        from pandas import DataFrame
    except ImportError:  # the array is in the right order, which is what scikit-learn warns of
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        return ordered
    return DataFrame(ordered, columns=list(names))


def same(
    a: ProblemArgument,
    b: Annotated[str, typer.Argument(metavar="B", help="The other one.")],
    data: StrategyOption = None,
    plugin: PluginOption = None,
    draws: Annotated[int, typer.Option(metavar="N", help="Instances on which a reason is sought.")] = 8,
    examples: Annotated[int, typer.Option(metavar="N", help="Instances that are drawn to find a difference.")] = 100,
    seed: DrawSeedOption = 0,
    without: WithoutOption = None,
    distinct: DistinctOption = False,
    finite: FiniteOption = False,
    json: JSONOption = None,
    time_limit: SecondsOption = 300.0,
) -> None:
    """Say whether two problems have equal optima: EQUAL with the reason, DIFFERENT with a small instance, UNDECIDED with the evidence.

    Optima are exact rational numbers, and every reason is verified in rational numbers. Exit status: 0 EQUAL; 1 DIFFERENT; 4 UNDECIDED;
    2 bad usage or input; 130 interrupted.
    """
    with sentences(), _asking():
        check_writable(json)
        from equimargin.sameness import same as judge

        first, second, strategy = _asked(a, b, data, without, distinct)
        found = judge(first, second, strategy, draws=draws, examples=examples, seed=seed, finite=finite, seconds=time_limit)
        _answer(found, json)


def refute(
    a: ProblemArgument,
    b: Annotated[str | None, typer.Argument(metavar="[B]", help="The other one; by default the definition of A's family.")] = None,
    data: StrategyOption = None,
    plugin: PluginOption = None,
    examples: Annotated[int, typer.Option(metavar="N", help="Instances that are drawn.")] = SEPARATING_EXAMPLES,
    seed: DrawSeedOption = 0,
    without: WithoutOption = None,
    distinct: DistinctOption = False,
    finite: FiniteOption = False,
    json: JSONOption = None,
    time_limit: SecondsOption = 300.0,
) -> None:
    """Search for the smallest instance on which two problems have different optima.

    Exit status: 1 an instance is printed, with lines of Python that compute both optima; 4 none was found; 2 bad usage or input;
    130 interrupted.
    """
    with sentences(), _asking():
        check_writable(json)
        from equimargin.sameness import refute as search

        first, second, strategy = _asked(a, b, data, without, distinct)
        _answer(search(first, second, strategy, examples=examples, seed=seed, finite=finite, seconds=time_limit), json)


def suggest(
    family: Annotated[str, typer.Argument(metavar="FAMILY", help="The id of a family (see `list families`).")],
    data: Annotated[str | None, typer.Option(metavar="MODULE:STRATEGY", help="Other data than the family's own, a strategy.")] = None,
    plugin: PluginOption = None,
    draws: Annotated[int, typer.Option(metavar="N", help="Instances on which a reason is sought.")] = 8,
    examples: Annotated[int, typer.Option(metavar="N", help="Instances that are drawn to find a difference.")] = 25,
    seed: DrawSeedOption = 0,
    time_limit: Annotated[float, typer.Option(metavar="SECONDS", help="For all pairs together.")] = 600.0,
) -> None:
    """Print the relations between the formulations of a family, each as an entry of the table of links, as soon as it is found.

    Formulations must have equal optima, and one that is wrong on purpose another one; a pair of which this is not found is a line
    that says so. Exit status: 0 it is found of every pair; 1 two formulations are DIFFERENT; 4 a pair is left open; 2 bad usage or
    input; 130 interrupted.
    """
    with sentences(), _asking():
        from equimargin.own.plugins import load_shipped
        from equimargin.sameness import suggest as relations
        from equimargin.sameness.names import strategy
        from equimargin.sameness.suggestions import OUT_OF_TIME

        load_shipped()
        verdicts: list[str] = []

        def said(a: str, b: str, why: str) -> None:
            verdicts.append(why)
            more = f"; `equimargin refute {a} {b}` shows an instance" if why == "DIFFERENT" else ""
            if why != OUT_OF_TIME:
                typer.echo(f"# {a} and {b}: nothing to suggest, {why}{more}")

        drawn = None if data is None else strategy(data)
        found = 0
        for relation in relations(family, drawn, draws=draws, examples=examples, seed=seed, seconds=time_limit, passed_over=said):
            found += 1
            typer.echo(str(relation))
        late = verdicts.count(OUT_OF_TIME)
        ended = f"; {late} were not asked about when the time was over (--time-limit)" if late else ""
        typer.echo(f"# {family}: {found} of {found + len(verdicts)} pairs have a relation{ended}")
    raise typer.Exit(1 if "DIFFERENT" in verdicts else UNDECIDED if verdicts else 0)


@contextmanager
def _asking() -> Iterator[None]:
    """Let hypothesis keep what it keeps in a folder that is deleted, not in the present one; end a function of no problem in a sentence."""
    from tempfile import TemporaryDirectory

    from hypothesis.configuration import set_hypothesis_home_dir

    from equimargin.proofs.sameness import NoProblem

    with TemporaryDirectory() as folder:
        set_hypothesis_home_dir(folder)
        try:
            yield
        except NoProblem as wrong:
            raise ValueError(str(wrong)) from wrong
        finally:
            set_hypothesis_home_dir(None)


def _asked(a: str, b: str | None, data: str | None, without: str | None, distinct: bool) -> tuple[Statement, Statement, object]:
    """Return two problems and the strategy of their data, by their names."""
    from equimargin.own.plugins import load_shipped
    from equimargin.sameness.instances import instances_of, restricted
    from equimargin.sameness.names import statement, strategy
    from equimargin.sameness.verdict import definition

    load_shipped()
    first, second = statement(a), definition(statement(a)) if b is None else statement(b)
    drawn = None if data is None else strategy(data)
    if without is not None or distinct:
        drawn = restricted(instances_of(first, second) if drawn is None else drawn, without, distinct)
    return first, second, drawn


def _answer(found: Same, json: Path | None) -> None:
    """Print a verdict, write it, and exit with the status that says it too."""
    from json import dumps

    with writing(json) as write:
        typer.echo(str(found))
        if json is not None:
            write(json, dumps(found.record(), indent=1))
    raise typer.Exit({"EQUAL": 0, "DIFFERENT": 1, "UNDECIDED": UNDECIDED}[found.verdict])
