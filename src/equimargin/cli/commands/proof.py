"""Commands that prove: `verify`, `audit`, `same`, and its forms `refute` and `suggest`."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from equimargin.cli.group import get_command
from equimargin.cli.options.names import flag, named
from equimargin.cli.options.reading import ReadFields, ScaleOption
from equimargin.cli.options.requests import Without, with_requests
from equimargin.cli.options.shared import (
    HTMLOption,
    JSONOption,
    MarkdownOption,
    PluginOption,
    seconds_option,
)
from equimargin.cli.output.errors import report_errors
from equimargin.cli.output.files import check_writable, writing
from equimargin.cli.output.waiting import WaitingBar

if TYPE_CHECKING:
    from equimargin.data import Data
    from equimargin.equivalence import Same
    from equimargin.proofs.audit import Audit, MachinesAudit
    from equimargin.proofs.equivalence import Statement
    from equimargin.proofs.foreign_machines import AnyModel

UNDECIDED = 4
"""Exit status of an undecided question, as for an undecided family of `compare`."""
SEPARATING_EXAMPLES = 300
"""Instances that `refute` samples; without equivalence proofs it has time for more."""
RELATED_EXAMPLES = 25
"""Instances that `suggest` samples per pair; a family has many pairs."""
A_PROBLEM = (
    "Id of a formulation (see `list formulations`), or MODULE:FUNCTION or FILE.py:FUNCTION, a "
    "function of data or without parameters that returns a cvxpy problem"
)
ProblemArgument = Annotated[str, typer.Argument(metavar="A", help=f"{A_PROBLEM}.")]
DrawsOption = Annotated[
    int, typer.Option(metavar="N", help="Instances on which an equivalence proof is sought.")
]
StrategyOption = Annotated[
    str | None,
    typer.Option(
        metavar="MODULE:STRATEGY",
        help="Hypothesis strategy of the common data; by default the family's; "
        "functions without parameters need none.",
    ),
]
DrawSeedOption = Annotated[int, typer.Option(min=0, help="Seed of the instances.")]
WithoutOption = Annotated[
    str | None,
    typer.Option("--without", metavar="weights", help="Remove the weights from the instances."),
]
DistinctOption = Annotated[bool, flag("--distinct", "Only instances without two equal points.")]
FiniteOption = Annotated[bool, flag("--finite", "Count only differences of two finite optima.")]
SecondsOption = Annotated[
    float, seconds_option("Time limit of the command; with --mutants, of each formulation.")
]


def verify(  # prose-ok: param-section
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Certificates of equimargin, or of VIPR or POUNCE."),
    ],
    prove: Annotated[
        bool,
        flag(
            "--prove",
            "Also write each certificate as a theorem in a Coq file next to it, which Coq checks "
            "if it is installed.",
        ),
    ] = False,
) -> None:
    """Check certificates.

    One line per file says ACCEPTED with what is proven, or REJECTED with the first
    reason. A certificate proves an interval that contains the optimum or, for a path,
    how far its objective is above the optimum at every lambda of a range.

    The last line names the checkers: if `python -m equimargin.proofs.coq` has built the
    checker that is proved in Coq, it checks the accepted files too.

    Files of VIPR are checked if their program is linear, without integer variables, and
    files of POUNCE if it is convex.

    Exit status: 0 all are accepted; 1 one is rejected; 2 a file cannot be read; 4 all
    are accepted, and with --prove a theorem is not checked by Coq, for the reason in
    its line. `python3 -I proofs/checker.py FILE...` does the same without third-party
    files, the proved checker and --prove.
    """
    with report_errors():
        from equimargin.proofs.third_party.verdict import verdict

        status, own = 0, list[str]()
        for file in files:
            with WaitingBar(f"checking {_in_ascii(file)}"):
                found = verdict(file)
            typer.echo(_in_ascii(f"{file}: {found.sentence}"))
            status = max(status, found.status)
            own += [file] if found.program == "equimargin" else []
        if status == 0 and own:
            status = _asked_of_the_program(own)
        if prove and status == 0:
            status = UNDECIDED if [file for file in files if not _proved(file, own)] else 0
    raise typer.Exit(status)


def _in_ascii(sentence: str) -> str:
    """Return a sentence whose names any terminal can print."""
    return sentence.encode("ascii", "backslashreplace").decode()


def _asked_of_the_program(files: list[str]) -> int:
    """Run the proved checker on the accepted files, and return the exit status.

    A line states the result.
    """
    from equimargin.proofs.coq import COVERED, CheckerAnswer, NotProved, answer, built

    if (program := built()) is None:
        typer.echo(
            "Checked by checker.py. To check by the proved checker too, build it: python -m "
            "equimargin.proofs.coq (needs Coq)."
        )
        return 0
    answers = []
    for file in files:
        try:
            answers.append(answer(program, Path(file)))
        except NotProved as reason:
            typer.echo(f"{file}: {reason}")
        else:
            if answers[-1] is CheckerAnswer.REJECTED:
                typer.echo(
                    f"{file}: REJECTED by the proved checker, and accepted by checker.py: one "
                    f"is wrong, please report it"
                )
    accepted, unread = answers.count(CheckerAnswer.ACCEPTED), answers.count(CheckerAnswer.UNREAD)
    not_read = f", and does not support {unread}: {COVERED}" if unread else ""
    typer.echo(
        f"Checked by checker.py, and by the proved checker, which accepts {accepted} of "
        f"{len(files)}{not_read}."
    )
    return 1 if CheckerAnswer.REJECTED in answers else 0


def _proved(file: str, own: list[str]) -> bool:
    """Return True if Coq checks the theorem of a certificate; print a line with the result."""
    from equimargin.proofs.coq import NotProved, condition, prove

    try:
        if file not in own:
            raise NotProved("--prove is for certificates of equimargin; leave it out")
        theorem, given = (
            prove(Path(file), partial(typer.echo, err=True)),
            condition(Path(file).read_bytes()),
        )
        typer.echo(
            f"{file}: PROVED: Coq has checked the theorem {theorem}, which rests on no "
            f"axiom{given and f'; it holds {given}'}"
        )
    except NotProved as reason:
        typer.echo(f"{file}: NOT PROVED: {reason}")
        return False
    return True


@with_requests
def audit(  # prose-ok: param-section
    context: typer.Context,
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            help="LIBSVM, LIBLINEAR or SVMlight model, NPZ/JSON with scikit-learn's coefficients "
            "(keys above), or with --trust a joblib or pickle file.",
        ),
    ],
    *,
    data: Annotated[
        str,
        typer.Option(
            metavar="DATA",
            help="Training data as the model received them: a bundled name or a file.",
        ),
    ],
    cost: Annotated[
        float | None,
        typer.Option("-C", metavar="COST", help="C of the model's problem, if the model lacks it."),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(help="epsilon of the model's problem, if the model lacks it."),
    ] = None,
    class_weight: Annotated[
        str | None,
        typer.Option(
            "--class-weight",
            "-w",
            metavar="NUMBERS",
            help="Factors of C for the labels of a LIBSVM or LIBLINEAR model, in ascending "
            "order (-wi), such as 1,5; all 1 by default.",
        ),
    ] = None,
    free_bias: Annotated[
        bool,
        typer.Option("--free-bias", "-R", help="Bias of a LIBLINEAR model outside the norm."),
    ] = False,
    as_ranker: Annotated[
        bool,
        flag(
            "--ranking",
            "Audit a linear classifier of pair differences as a ranker of the data.",
        ),
    ] = False,
    per_query: Annotated[
        str | None,
        named(
            ("sum", "mean"),
            "Loss of a query of a ranker: {} of the losses of its pairs; by default sum.",
        ),
    ] = None,
    trust: Annotated[
        bool,
        flag(
            "--trust",
            "Read a pickled estimator, whose file may run any program: only if you trust it.",
        ),
    ] = False,
    nearest_rows: Annotated[
        bool,
        flag(
            "--nearest-rows",
            "Replace rounded support vectors of a file by the nearest rows of the data.",
        ),
    ] = False,
    scale: ScaleOption = False,
    reading: Annotated[ReadFields, Without(("best", "preferences", "scale", "sample", "seed"))],
    tol: Annotated[
        float, typer.Option(help="Relative tolerance of the solver that bounds the optimum.")
    ] = 1e-9,
    time_limit: Annotated[float, seconds_option("Time limit of that solver.")] = 60.0,
    markdown: MarkdownOption = None,
    html: HTMLOption = None,
) -> None:
    """Prove how far a third-party model is from its optimum.

    The optimum is that of the problem that the model claims to solve.

    Exit status: 0 the interval is printed; 2 bad usage or input, such as a model
    without C if -C is missing, or coefficients that exceed C.

    Keys of NPZ and JSON: kind (SVC, SVR, LinearSVC, LinearSVR or RankSVM) and intercept;

    of SVC and SVR kernel (linear, poly, rbf or precomputed), gamma (a number), degree,
    coef0, dual_coef (n,), support (n,), the indices of its rows in the data, from 0,
    and optionally support_vectors (n, d);

    of LinearSVC and LinearSVR coef (d,), loss, fit_intercept, intercept_scaling; of all
    optionally C, epsilon, class_weight; of RankSVM only coef, loss, C.

    A joblib or pickle file holds a fitted SVC, NuSVC, SVR, LinearSVC, LinearSVR or Ridge, a
    pipeline that ends in one, or a search that found one. Of more than two classes, every
    machine has a line, and all of them have one.
    """
    with report_errors(), writing(markdown, html) as write:
        check_writable(markdown, html)
        from equimargin.data import load
        from equimargin.proofs.audit import audit as examine
        from equimargin.proofs.audit import audit_ranker
        from equimargin.proofs.pickled_models import read_trusted

        with warnings.catch_warnings(record=True) as caught:
            known = read_trusted(model, trust)
        known = _stated(known, class_weight, free_bias)
        for warning in caught:
            typer.echo(
                f"equimargin: {model.name}: {' '.join(str(warning.message).split())}", err=True
            )
        is_ranker = as_ranker or _task(known) == "ranking"
        rows = load(data, task="ranking" if is_ranker else _task(known), **reading.how)
        rows = rows.scaled() if scale else rows
        typer.echo(rows.describe())
        X = _as_its_pipeline_takes_them(known, rows)
        limits = {"tol": tol, "time_limit": time_limit}
        if is_ranker:
            unused = {"--epsilon": epsilon, "--nearest-rows": nearest_rows or None}
            _check_unused(unused | {"a column of weights (--drop)": rows.weight}, "a ranker")
            pairs = cast("Literal['sum', 'mean']", per_query or "sum")
            with WaitingBar("auditing", gaps=True):
                result = audit_ranker(known, X, rows.y, rows.qid, cost, pairs, **limits)
        else:
            _check_unused({"--per-query": per_query}, "a model that is no ranker")
            by_row = (rows.y, cost, epsilon, rows.weight)
            with WaitingBar("auditing", gaps=True):
                result = examine(known, X, *by_row, nearest_rows=nearest_rows, **limits)
        typer.echo(str(result))
        if markdown is not None:
            write(markdown, result.to_markdown())
        if html is not None:
            settings = {"data": data, "C": cost, "epsilon": epsilon, "scale": scale, "trust": trust}
            settings |= {
                "class_weight": class_weight,
                "free_bias": free_bias,
                "ranking": as_ranker,
                "per_query": per_query,
                "nearest_rows": nearest_rows,
            }
            settings |= {"tol": tol, "time_limit": time_limit}
            write(
                html,
                _page(
                    result,
                    {"model": model.name, "read_as": rows.describe()},
                    settings,
                    get_command(context),
                ),
            )


def _stated(model: AnyModel, class_weight: str | None, free_bias: bool) -> AnyModel:
    """Return a model with the facts of the options, which a model of a pickle has itself."""
    from equimargin.proofs.foreign_machines import stated_for_classes

    factors = None if class_weight is None else _numbers("--class-weight", class_weight)
    return stated_for_classes(model, factors, free_bias)


def _check_unused(options: Mapping[str, Any], subject: str) -> None:
    """Raise a ValueError if an option is given that does not apply to the model."""
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise ValueError(f"{given[0]} does not apply to {subject}; leave it out")


def _task(model: AnyModel) -> str:
    """Return the learning task of a model."""
    from equimargin.proofs.foreign_models import Model

    return model.claimed.task if isinstance(model, Model) else "classification"


def _numbers(option: str, text: str) -> list[float]:
    """Parse the numbers of an option."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(
            f"{option} must be numbers with commas between them, such as 1,5, not {text!r}"
        ) from None


def _page(
    found: Audit | MachinesAudit, data: dict[str, Any], settings: dict[str, Any], command: str
) -> str:
    """Return the HTML page of an audit."""
    from equimargin import __version__
    from equimargin.report.pages.audit import audit_page
    from equimargin.report.records import versions

    return audit_page(found, data, settings, {"equimargin": __version__} | versions(), command)


def _as_its_pipeline_takes_them(model: AnyModel, rows: Data) -> Any:
    """Return the features in the columns of the model's pipeline.

    They are selected by name if both the pipeline and the data have column names.
    """
    names = getattr(model.steps, "feature_names_in_", None)
    if names is None or rows.columns is None:
        return rows.X
    missing = [name for name in names if name not in rows.columns]
    if missing:
        raise ValueError(
            f"the pipeline was fitted on a column {missing[0]!r}, which the data do not have"
        )
    ordered = rows.X[:, [rows.columns.index(name) for name in names]]
    try:
        from pandas import DataFrame
    # Without pandas the order is still right, but scikit-learn warns about the names.
    except ImportError:
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        return ordered
    return DataFrame(ordered, columns=list(names))


def same(  # prose-ok: param-section
    a: Annotated[
        str,
        typer.Argument(
            metavar="A",
            help=f"{A_PROBLEM}; or the id of a family, alone, for all of its formulations.",
        ),
    ],
    b: Annotated[str | None, typer.Argument(metavar="[B]", help="The other problem.")] = None,
    counterexample: Annotated[
        bool,
        flag(
            "--counterexample",
            "Only search for the smallest instance with different optima; B is by default "
            "A's family.",
        ),
    ] = False,
    mutants: Annotated[
        bool,
        flag(
            "--mutants",
            "Change the text of A, or of every formulation of the family A, one change at a "
            "time, and print which evidence detects each misprint.",
        ),
    ] = False,
    data: StrategyOption = None,
    plugin: PluginOption = None,
    draws: DrawsOption = 8,
    examples: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help=f"Instances sampled to find a difference; by default 100, "
            f"{RELATED_EXAMPLES} for each pair of a family, "
            f"{SEPARATING_EXAMPLES} with --counterexample.",
        ),
    ] = None,
    seed: DrawSeedOption = 0,
    without: WithoutOption = None,
    distinct: DistinctOption = False,
    finite: FiniteOption = False,
    json: JSONOption = None,
    time_limit: SecondsOption = 300.0,
) -> None:
    """Decide whether two problems have equal optima.

    `same A B` prints EQUAL with a proof, DIFFERENT with a small instance, or UNDECIDED
    with the evidence. `same FAMILY` prints the relations between the formulations of a
    family, each as an entry of the table of links. `same A B --counterexample` searches
    only for an instance on which the optima differ. `same FAMILY --mutants` and `same A
    --mutants` print misprints, and the evidence that detects each: the optimum, the
    predictions, the multipliers, or none.

    Optima are exact rational numbers, and every proof is verified in rational numbers.

    Exit status: 0 EQUAL; 1 DIFFERENT; 4 UNDECIDED; 2 bad usage or input; 130
    interrupted. With --mutants: 0 every misprint is detected, or its optimum is proven
    to be equal; 4 another one.
    """
    if mutants:
        others = ((b, b), ("--counterexample", counterexample), ("--finite", finite))
        return _misprinted(
            a,
            [name for name, given in others if name and given],
            data,
            examples,
            seed,
            without,
            distinct,
            json,
            time_limit,
        )
    if counterexample:
        return refute(
            a,
            b,
            data,
            plugin,
            examples or SEPARATING_EXAMPLES,
            seed,
            without,
            distinct,
            finite,
            json,
            time_limit,
        )
    if b is None:
        return suggest(
            _family_named(a), data, plugin, draws, examples or RELATED_EXAMPLES, seed, time_limit
        )
    with report_errors(), _asking():
        check_writable(json)
        from equimargin.equivalence import same as judge

        first, second, strategy = _asked(a, b, data, without, distinct)
        with WaitingBar("seeking a proof or a counterexample"):
            result = judge(
                first,
                second,
                strategy,
                draws=draws,
                examples=examples or 100,
                seed=seed,
                finite=finite,
                seconds=time_limit,
            )
        _answer(result, json)
    return None


def _misprinted(
    a: str,
    others: list[str],
    data: str | None,
    examples: int | None,
    seed: int,
    without: str | None,
    distinct: bool,
    json: Path | None,
    seconds: float,
) -> None:
    """Print the misprints of a problem or family."""
    with report_errors(), _asking():
        from equimargin.cli.commands.errata import print_mutants
        from equimargin.equivalence.instances import choose_instances, restricted
        from equimargin.equivalence.names import statement, strategy
        from equimargin.formulations import FAMILIES, REGISTRY

        if others:
            raise ValueError(
                f"--mutants examines the misprints of {a} alone; leave out {' and '.join(others)}"
            )
        problem = a if a in FAMILIES else statement(a)
        drawn = None if data is None else strategy(data)
        if without is not None or distinct:
            first = next((id for id, entry in REGISTRY.items() if entry.family == a), problem)
            drawn = restricted(
                choose_instances(first, None) if drawn is None else drawn, without, distinct
            )
        print_mutants(problem, drawn, examples, seed, json, seconds)


def _family_named(name: str) -> str:
    """Return the name of a family.

    A formulation is refused: it needs another one for a comparison.
    """
    with report_errors():
        from equimargin.formulations import REGISTRY

        if name not in REGISTRY and ":" not in name:
            return name
        others = (
            f", or the family {REGISTRY[name].family} for all of its formulations, or search with "
            f"--counterexample"
            if name in REGISTRY
            else ""
        )
        raise ValueError(f"{name} is one problem; name the one to compare it with{others}")


def refute(  # prose-ok: param-section
    a: ProblemArgument,
    b: Annotated[
        str | None,
        typer.Argument(
            metavar="[B]",
            help="The other problem; by default the first formulation of A's family.",
        ),
    ] = None,
    data: StrategyOption = None,
    plugin: PluginOption = None,
    examples: Annotated[
        int, typer.Option(metavar="N", help="Number of sampled instances.")
    ] = SEPARATING_EXAMPLES,
    seed: DrawSeedOption = 0,
    without: WithoutOption = None,
    distinct: DistinctOption = False,
    finite: FiniteOption = False,
    json: JSONOption = None,
    time_limit: SecondsOption = 300.0,
) -> None:
    """Find the smallest instance on which two optima differ: `same A B --counterexample`.

    Exit status: 1 an instance is printed, with lines of Python that compute both
    optima; 4 none was found; 2 bad usage or input; 130 interrupted.
    """
    with report_errors(), _asking():
        check_writable(json)
        from equimargin.equivalence import refute as search

        first, second, strategy = _asked(a, b, data, without, distinct)
        with WaitingBar("seeking a counterexample"):
            found = search(
                first,
                second,
                strategy,
                examples=examples,
                seed=seed,
                finite=finite,
                seconds=time_limit,
            )
        _answer(found, json)


def suggest(  # prose-ok: param-section
    family: Annotated[
        str, typer.Argument(metavar="FAMILY", help="Id of a family (see `list families`).")
    ],
    data: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:STRATEGY", help="Hypothesis strategy; by default the family's."
        ),
    ] = None,
    plugin: PluginOption = None,
    draws: DrawsOption = 8,
    examples: Annotated[
        int, typer.Option(metavar="N", help="Instances sampled to find a difference.")
    ] = RELATED_EXAMPLES,
    seed: DrawSeedOption = 0,
    time_limit: Annotated[float, seconds_option("Time limit of all pairs.")] = 600.0,
) -> None:
    """Print the relations between the formulations of a family: `same FAMILY`.

    Each is printed as an entry of the table of links, as soon as it is found.

    Expected are equal optima of two formulations, and a different optimum of a negative
    control; a line names every pair for which this is not found. Exit status: 0 no such
    line; 1 two formulations are DIFFERENT; 4 a pair is undecided; 2 bad usage or input;
    130 interrupted.
    """
    with report_errors(), _asking():
        from equimargin.equivalence import suggest as relations
        from equimargin.equivalence.names import strategy
        from equimargin.equivalence.suggestions import OUT_OF_TIME

        verdicts: list[str] = []

        def said(a: str, b: str, why: str) -> None:
            verdicts.append(why)
            more = (
                f"; `equimargin same {a} {b} --counterexample` shows one"
                if why == "DIFFERENT"
                else ""
            )
            if why != OUT_OF_TIME:
                typer.echo(f"# {a} and {b}: nothing to suggest, {why}{more}")

        drawn = None if data is None else strategy(data)
        related = 0
        for relation in relations(
            family,
            drawn,
            draws=draws,
            examples=examples,
            seed=seed,
            seconds=time_limit,
            passed_over=said,
        ):
            related += 1
            typer.echo(str(relation))
        late = verdicts.count(OUT_OF_TIME)
        ended = f"; {late} were not reached within the time (--time-limit)" if late else ""
        typer.echo(
            f"# {family}: {related} of {related + len(verdicts)} pairs have a relation{ended}"
        )
    raise typer.Exit(1 if "DIFFERENT" in verdicts else UNDECIDED if verdicts else 0)


@contextmanager
def _asking() -> Iterator[None]:
    """Store the files of hypothesis in a temporary folder.

    A function that returns no problem ends the command with a message.
    """
    from tempfile import TemporaryDirectory

    # Without hypothesis, this import says what to install.
    import equimargin.own.instances  # noqa: F401
    from equimargin.proofs.equivalence import NoProblem

    with TemporaryDirectory() as folder:
        from hypothesis.configuration import set_hypothesis_home_dir

        set_hypothesis_home_dir(folder)
        try:
            yield
        except NoProblem as wrong:
            raise ValueError(str(wrong)) from wrong
        finally:
            set_hypothesis_home_dir(None)


def _asked(
    a: str, b: str | None, data: str | None, without: str | None, distinct: bool
) -> tuple[Statement, Statement, object]:
    """Return two problems and the strategy of their data, by name."""
    from equimargin.equivalence.instances import choose_instances, restricted
    from equimargin.equivalence.names import statement, strategy
    from equimargin.equivalence.questions import definition

    first, second = statement(a), definition(statement(a)) if b is None else statement(b)
    drawn = None if data is None else strategy(data)
    if without is not None or distinct:
        drawn = restricted(
            choose_instances(first, second) if drawn is None else drawn, without, distinct
        )
    return first, second, drawn


def _answer(found: Same, json: Path | None) -> None:
    """Print a verdict, write it, and exit with its status."""
    from json import dumps

    with writing(json) as write:
        typer.echo(str(found))
        if json is not None:
            write(json, dumps(found.record(), indent=1))
    raise typer.Exit({"EQUAL": 0, "DIFFERENT": 1, "UNDECIDED": UNDECIDED}[found.verdict])
