"""Options on the problems of the data, and the problems that they select."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from math import isinf
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from equimargin.cli.options.names import match_prefix, named
from equimargin.cli.options.reading import ReadFields, loaded
from equimargin.cli.options.shared import PROBLEM

if TYPE_CHECKING:
    from equimargin.data import Data
    from equimargin.formulations import Kernel, Problem
    from equimargin.formulations.problem import AnyProblem
    from equimargin.formulations.problem.choices import LossName

    P = TypeVar("P", bound=AnyProblem)

TASKS = ("classification", "regression", "ranking")
"""Tasks that have kernels and costs; `compare` also accepts ordinal regression."""
BIAS_ELSEWHERE = {
    "regression": "a regression has a free bias",
    "ranking": "a ranking has no bias, because a bias cancels in every pair",
    "ordinal": "an ordinal regression has thresholds in place of a bias",
}
"""Message for each task without a choice of the intercept."""
WHAT_IS_LEARNED = "Learning task: {}; by default inferred from the data."
TaskOption = Annotated[str | None, named(TASKS, WHAT_IS_LEARNED, PROBLEM)]


def _kernel_named(text: str) -> str:
    """Return the name of a registered kernel."""
    from equimargin.formulations.kernels.registry import KERNELS, called

    return match_prefix(called(text.lower()), list(KERNELS))


def _kernels_begun(text: str) -> list[str]:
    """Return the kernel names that begin with a text."""
    from equimargin.formulations.kernels.registry import KERNELS

    return [name for name in KERNELS if name.startswith(text)]


def _gamma(text: str) -> str | float:
    """Parse gamma: a number, or one of scikit-learn's words "scale" and "auto"."""
    try:
        return float(text)
    except ValueError:
        if text in ("scale", "auto"):
            return text
        raise typer.BadParameter(f"{text!r} is neither a number nor scale or auto") from None


@dataclass(frozen=True)
class ProblemFields:
    """Options on the problems of the data."""

    task: Annotated[str | None, named((*TASKS, "ordinal"), WHAT_IS_LEARNED, PROBLEM)] = None
    levels: Annotated[
        str | None,
        typer.Option(
            metavar="LEVELS",
            help="Labels of an ordinal regression, comma-separated, lowest first; by default "
            "numbers, ascending.",
            rich_help_panel=PROBLEM,
        ),
    ] = None
    family: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN",
            help="Only these families, * and ? allowed; may be given again.",
            rich_help_panel=PROBLEM,
        ),
    ] = None
    loss: Annotated[
        str | None,
        named(("hinge", "squared_hinge"), "Loss of a slack: {}; by default both.", PROBLEM),
    ] = None
    kernel: Annotated[
        str,
        typer.Option(
            parser=_kernel_named,
            metavar="NAME",
            help="Kernel: linear, poly, rbf, precomputed (the features are the Gram matrix) or "
            "another of `list kernels`.",
            rich_help_panel=PROBLEM,
            autocompletion=_kernels_begun,
        ),
    ] = "linear"
    gamma: Annotated[
        str | None,
        typer.Option(
            # Named explicitly: typer 0.27 would name the option after its metavar.
            "--gamma",
            parser=_gamma,
            metavar="GAMMA",
            help="Kernel parameter: a number, scale for 1/(d var(X)) with d features, the default "
            "of poly, rbf and sigmoid, or auto for 1/d, the default of laplacian.",
            rich_help_panel=PROBLEM,
        ),
    ] = None
    degree: Annotated[
        int | None,
        typer.Option(metavar="N", help="Degree of poly; by default 3.", rich_help_panel=PROBLEM),
    ] = None
    coef0: Annotated[
        float | None,
        typer.Option(
            metavar="X", help="Constant of poly and sigmoid; by default 0.", rich_help_panel=PROBLEM
        ),
    ] = None
    cost: Annotated[
        float | None,
        typer.Option(
            "-C",
            "--cost",
            metavar="COST",
            help="Cost of a unit of slack, by default 1; inf for a hard margin.",
            rich_help_panel=PROBLEM,
        ),
    ] = None
    lambda_: Annotated[
        float | None,
        typer.Option(
            "--lambda",
            metavar="LAMBDA",
            help="Weight of the norm in place of -C, lambda = 1/C; 0 for a hard margin.",
            rich_help_panel=PROBLEM,
        ),
    ] = None
    epsilon: Annotated[
        float,
        typer.Option(
            metavar="EPSILON",
            help="Half the width of the regression tube, in units of the target.",
            rich_help_panel=PROBLEM,
        ),
    ] = 0.1
    delta: Annotated[
        float | None,
        typer.Option(
            metavar="DELTA",
            help="Half the width of the parabola of svm.huberised_hinge; by default 0.5.",
            rich_help_panel=PROBLEM,
        ),
    ] = None
    per_query: Annotated[
        str | None,
        named(
            ("sum", "mean"),
            "Loss of a query in a ranking: {} of the losses of its pairs; by default sum.",
            PROBLEM,
        ),
    ] = None
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Parameter of a family that reads DATA as a table, such as nu=0.5; a list is "
            "separated by commas; may be given again.",
            rich_help_panel=PROBLEM,
        ),
    ] = None
    bias: Annotated[
        str | None,
        named(
            ("free", "none", "penalized"),
            "Bias of a classification: {} (part of the norm); by default the first two in "
            "`compare`, and the first in `path`.",
            PROBLEM,
        ),
    ] = None

    def check(self, data: Data) -> None:
        """Refuse options that the problems of the data do not have.

        Parameters
        ----------
        data : Data
            Data of the problems.

        Raises
        ------
        ValueError
            If an option does not apply to the task of the data.
        """
        if self.bias is not None and data.task != "classification":
            raise ValueError(
                f"--bias is for classification: {BIAS_ELSEWHERE[data.task]}; leave it out"
            )
        if self.delta is not None and (data.task != "classification" or data.has_many_classes):
            raise ValueError(
                f"--delta applies to {HUBERISED}, which is compared for two classes; leave it out"
            )
        if self.per_query is None:
            return
        if data.task != "ranking":
            raise ValueError(
                f"--per-query is for a ranking by query, and the task is {data.task}; leave it out"
            )
        if data.pairs is not None:
            raise ValueError(
                "--per-query is for labels, and the pairs of --preferences have their own "
                "weights; leave out one of the two"
            )
        if data.qid is None:
            raise ValueError(
                "--per-query: the data have no queries; name the column that has them "
                "(--query COLUMN), or leave it out"
            )

    @property
    def C(self) -> float:
        """Cost of a unit of slack, from -C or as 1 / lambda.

        Raises
        ------
        ValueError
            If both are given, or lambda is below 0 or not finite, or so small that 1 /
            lambda is not finite.
        """
        if self.lambda_ is None:
            return 1.0 if self.cost is None else self.cost
        if self.cost is not None:
            raise ValueError(
                "-C and --lambda both give the cost, C = 1/lambda; leave out one of the two"
            )
        if not 0 <= self.lambda_ < float("inf"):
            raise ValueError(
                f"--lambda must be a finite number, 0 or more, not {self.lambda_:g}; it is 1/C"
            )
        cost = 1 / self.lambda_ if self.lambda_ else float("inf")
        if self.lambda_ and cost == float("inf"):
            raise ValueError(
                f"--lambda {self.lambda_:g} is too small, as C = 1/lambda is not finite; 0 is a "
                f"hard margin"
            )
        return cost

    @property
    def losses(self) -> tuple[LossName, ...]:
        """Losses of the problems."""
        from equimargin.formulations.problem.choices import LOSSES

        return tuple(loss for loss in LOSSES if self.loss in (None, loss))

    def variant_arguments(self) -> dict[str, Any]:
        """Return the arguments of the task's constructor, without the weights.

        "No intercept" is not among them: it is a family of its own.
        """
        if self.bias == "penalized":
            return {"bias": "penalized"}
        return {"per_query": "mean"} if self.per_query == "mean" else {}

    def variant_record(self) -> dict[str, str | None]:
        """Return the options on queries and the intercept for a record."""
        return {"per_query": self.per_query, "bias": self.bias}

    def in_words(self, task: str) -> str:
        """Return a task with the options that exclude some of its families as text.

        Parameters
        ----------
        task : str
            Task of the data.
        """
        options = [f"{self.loss.replace('_', ' ')} loss"] if self.loss else []
        options += ["infinite C"] if isinf(self.C) else []
        noun = "an ordinal regression" if task == "ordinal" else f"a {task}"
        words = "".join(f", {option}" for option in options) + self.variant_in_words()
        return noun + words.replace(",", " with", 1)

    def variant_in_words(self) -> str:
        """Return the part of a heading on queries and the intercept."""
        if self.bias is not None:
            return {
                "free": ", a free bias",
                "none": ", no bias",
                "penalized": ", a penalised bias",
            }[self.bias]
        return (
            ""
            if self.per_query is None
            else f", the {self.per_query} of the losses of a query's pairs"
        )


def make_kernel(posing: ProblemFields, rows: Data) -> Kernel:
    """Make the kernel that the options name.

    Parameters
    ----------
    posing : ProblemFields
        Options on the problems.
    rows : Data
        Rows after sampling and scaling; the default gamma depends on them.

    Returns
    -------
    Kernel
        Kernel with its parameters.

    Raises
    ------
    ValueError
        If the kernel does not have a parameter that is given.
    """
    from equimargin.formulations.kernels.registry import list_parameters, named_kernel

    options = {"gamma": posing.gamma, "degree": posing.degree, "coef0": posing.coef0}
    given = {parameter: value for parameter, value in options.items() if value is not None}
    own = list_parameters(posing.kernel)
    wrong = [parameter for parameter in given if parameter not in own]
    if wrong:
        has = (
            f"has {' and '.join(f'--{parameter}' for parameter in own)}"
            if own
            else "has no parameters"
        )
        raise ValueError(
            f"--{wrong[0]} is not for the {posing.kernel} kernel, which {has}; leave it "
            f"out, or choose another --kernel"
        )
    return named_kernel(posing.kernel, rows.X, rows.weight, given)


def data_record(data: Data, problem: Problem) -> dict[str, Any]:
    """Return the record of the data of a problem; read_as names the columns, rows and weights.

    Parameters
    ----------
    data : Data
        Data of the problems.
    problem : Problem
        Any problem of the data.
    """
    rows = rows_record(data, described(data, problem))
    return rows | {"rows": problem.m, "pairs_or_rows": problem.p}


def rows_record(data: Data, read_as: str) -> dict[str, Any]:
    """Return the record of the rows of data.

    Parameters
    ----------
    data : Data
        Data of the problems.
    read_as : str
        Interpretation of the data, as text.
    """
    m, d = map(int, data.X.shape)
    return {
        "name": data.name,
        "task": data.task,
        "rows": m,
        "features": d,
        "pairs_or_rows": m,
        "read_as": read_as,
    }


def described(data: Data, problem: Problem) -> str:
    """Return a sentence on the interpretation of the data.

    Parameters
    ----------
    data : Data
        Data of the problems.
    problem : Problem
        Any problem of the data.
    """
    return data.describe(problem.p if data.task == "ranking" else None)


def headline(data: Data, problem: Problem, kernel: Kernel, posing: ProblemFields) -> str:
    """Return a line on the data, the kernel and the variant.

    Parameters
    ----------
    data : Data
        Data of the problems.
    problem : Problem
        Any problem of the data.
    kernel : Kernel
        Kernel of the options.
    posing : ProblemFields
        Options on the problems.
    """
    shift = problem.proven.shift
    shifted = (
        f", diagonal shifted by {shift:.3g} to be provably positive semidefinite" if shift else ""
    )
    return f"{described(data, problem)}; {in_words(kernel)}{shifted}{posing.variant_in_words()}"


def kernel_record(kernel: Kernel) -> dict[str, Any]:
    """Return the record of a kernel.

    Parameters
    ----------
    kernel : Kernel
        Kernel to describe.
    """
    return {"name": kernel.name, **vars(kernel)}


def in_words(kernel: Kernel) -> str:
    """Return the name and the parameters of a kernel as text.

    Parameters
    ----------
    kernel : Kernel
        Kernel to describe.
    """
    parameters = ", ".join(f"{name}={value:g}" for name, value in vars(kernel).items())
    return f"{kernel.name} kernel ({parameters})" if parameters else f"{kernel.name} kernel"


COUPLING = "coupling.wlw"
"""Family of a table with three classes or more, which also has data of its own."""
HUBERISED = "svm.huberised_hinge"
"""Family that is compared only by name, because its loss has a width parameter."""


@dataclass(frozen=True)
class ComparisonInput:
    """Problems to compare, a line on their origin, and the records of data and settings."""

    problems: Sequence[AnyProblem]
    headline: str
    data: dict[str, Any]
    settings: dict[str, Any]


def posed(source: str, reading: ReadFields, posing: ProblemFields) -> ComparisonInput:
    """Make the problems of the task, for the rows that the options name.

    The command ends if a ranking has no pairs.

    Parameters
    ----------
    source : str
        Bundled name or file.
    reading : ReadFields
        Options on the rows.
    posing : ProblemFields
        Options on the problems.

    Returns
    -------
    ComparisonInput
        Problems with their records.

    Raises
    ------
    ValueError
        If the options do not fit the data or each other.
    """
    if posing.parameter:
        raise ValueError(
            f"--parameter {posing.parameter[0]}: parameters are those of a family that is named "
            f"in full (--family ID) and is none of a task; leave it out"
        )
    rows = loaded(source, reading, posing.task, posing.kernel, posing.levels)
    rows = rows.scaled() if reading.scale else rows
    kernel = make_kernel(posing, rows)
    posing.check(rows)
    settings: dict[str, Any] = {"task": rows.task, "kernel": kernel_record(kernel)}
    settings |= {"loss": posing.loss, "C": posing.C, "epsilon": posing.epsilon}
    settings |= {
        "scale": reading.scale,
        "sample": reading.sample,
        "seed": reading.seed,
        **posing.variant_record(),
    }
    settings |= {} if posing.delta is None else {"delta": posing.delta}
    if rows.task == "ordinal":
        return _of_levels(rows, kernel, posing, settings)
    if rows.has_many_classes:
        return _of_classes(rows, kernel, posing, settings)
    problems = _problems(rows, kernel, posing)
    if problems[0].p == 0:
        # Imported here: `equimargin --help` imports no numpy.
        from equimargin.data.words import NO_PAIRS

        typer.echo(NO_PAIRS)
        raise typer.Exit
    title = (
        f"{headline(rows, problems[0], kernel, posing)}, C={posing.C:g}"
        f"{_left_out(rows, problems[0])}"
    )
    return ComparisonInput(problems, title, data_record(rows, problems[0]), settings)


def _of_levels(
    rows: Data, kernel: Kernel, posing: ProblemFields, settings: dict[str, Any]
) -> ComparisonInput:
    """Make the problems of an ordinal regression for the rows of a file.

    Raises
    ------
    ValueError
        If --family names another family.
    """
    from equimargin.problems import make_ordinal_problems

    problems = make_ordinal_problems(
        rows.X, rows.y.astype(int), posing.C, kernel, posing.losses, rows.weight
    )
    return _chosen(problems, rows, kernel, posing, settings)


def _of_classes(
    rows: Data, kernel: Kernel, posing: ProblemFields, settings: dict[str, Any]
) -> ComparisonInput:
    """Make the problems of a classification into three classes or more for the rows of a file.

    Raises
    ------
    ValueError
        If --family names another family, or an option does not apply to `coupling.wlw`.
    """
    from equimargin.problems import make_coupling_problem, make_problems_from_data

    problems = make_problems_from_data(
        rows, posing.C, kernel, posing.epsilon, posing.losses, **posing.variant_arguments()
    )
    if posing.bias is not None:
        # crammer_singer has no bias.
        problems = [
            problem
            for problem in problems
            if getattr(problem, "bias", False) == (posing.bias == "free")
        ]
    left_out = (
        ""
        if problems[-1].family == "crammer_singer"
        else "; crammer_singer is left out: it has the hinge, a linear kernel, finite C, no bias "
        "and no weights"
    )
    # It needs solutions of all pairs, also without held-out rows, before the comparison.
    if COUPLING in {name.lower() for name in posing.family or []}:
        if posing.loss == "squared_hinge" or posing.bias not in (None, "free"):
            raise ValueError(
                f"{COUPLING} couples the probabilities of pairs of classes with hinge loss and a "
                f"free bias; leave --loss and --bias out"
            )
        problems.append(make_coupling_problem(rows.X, rows.y, posing.C, kernel, rows.weight))
    return _chosen(problems, rows, kernel, posing, settings, left_out)


def _chosen(
    problems: Sequence[AnyProblem],
    rows: Data,
    kernel: Kernel,
    posing: ProblemFields,
    settings: dict[str, Any],
    left_out: str = "",
) -> ComparisonInput:
    """Return the problems of the named families, with the records of all rows."""
    read_as = rows.describe()
    title = f"{read_as}; {in_words(kernel)}{posing.variant_in_words()}, C={posing.C:g}"
    title += "" if posing.family else left_out
    chosen = _named(problems, rows.task, posing, left_out)
    return ComparisonInput(chosen, title, rows_record(rows, read_as), settings)


def _problems(data: Data, kernel: Kernel, posing: ProblemFields) -> list[Problem]:
    """Make the problems of the task, restricted to the named families and the bias.

    The huberised hinge is included if a pattern matches its family and no other.
    """
    from equimargin.formulations import Problem
    from equimargin.problems import make_margin_problem_from_data, make_problems_from_data

    of_hinges = data.task == "classification" and posing.loss is None
    made = make_problems_from_data(
        data, posing.C, kernel, posing.epsilon, posing.losses, **posing.variant_arguments()
    )
    problems = [problem for problem in made if isinstance(problem, Problem)]
    # A pattern such as "svm.*" does not select the huberised hinge: it has a width.
    usual = [problem.family for problem in problems]
    if of_hinges and any(
        [id for id in (*usual, HUBERISED) if fnmatchcase(id, pattern.lower())] == [HUBERISED]
        for pattern in posing.family or []
    ):
        own = {"delta": 0.5 if posing.delta is None else posing.delta, **posing.variant_arguments()}
        problems.append(
            make_margin_problem_from_data(
                data, posing.C, kernel, posing.epsilon, "huberised_hinge", **own
            )
        )
    elif posing.delta is not None:
        raise ValueError(
            f"--delta applies to the huberised hinge only; add --family {HUBERISED}, or leave "
            f"it out"
        )
    if posing.bias is not None:
        problems = [problem for problem in problems if problem.bias == (posing.bias == "free")]
    question = f"; the target has {data.origin.question}" if data.origin.question else ""
    return _named(problems, data.task, posing, f"{_left_out(data, made[0])}{question}")


def _named(problems: Sequence[P], task: str, posing: ProblemFields, note: str) -> list[P]:
    """Return the problems of the named families, by default all.

    Raises
    ------
    ValueError
        If a name or pattern matches none; the message ends with the note.
    """
    if posing.family is None:
        return list(problems)
    from equimargin.formulations.numeric.arguments import matches_any, one_of_these

    ids = list(dict.fromkeys(problem.family for problem in problems))
    for pattern in posing.family:
        if not any(matches_any(id, [pattern]) for id in ids):
            raise ValueError(
                f"--family {pattern}: {posing.in_words(task)} has no such family; choose "
                f"{one_of_these(ids)}{note}"
            )
    return [problem for problem in problems if matches_any(problem.family, posing.family)]


def _left_out(data: Data, problem: AnyProblem) -> str:
    """Return the reason why one-norm families are excluded; empty if they are not."""
    from equimargin.formulations import MarginProblem
    from equimargin.formulations.problem.construct import refuse_one_norm

    if data.task == "regression" or not isinstance(problem, MarginProblem):
        return ""
    reason = refuse_one_norm(problem)
    return f"; one-norm families have {reason}" if reason else ""
