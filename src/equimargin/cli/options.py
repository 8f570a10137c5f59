"""The parts that commands share: options for data and a kernel, errors in sentences instead of tracebacks, and files written whole."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from equimargin.cli.ending import INTERRUPTED, UNREAD, error_sentence, read_no_more
from equimargin.cli.names import flag, meant, named

if TYPE_CHECKING:
    from equimargin.data import Data, HowToRead
    from equimargin.formulations import Kernel, MarginProblem, Problem
    from equimargin.formulations.problem.choices import LossName


class Task(StrEnum):
    """What is learned."""

    CLASSIFICATION = "classification"
    REGRESSION = "regression"
    RANKING = "ranking"


class ComparedTask(StrEnum):
    """What is learned, as far as it is compared."""

    CLASSIFICATION = "classification"
    REGRESSION = "regression"
    RANKING = "ranking"
    ORDINAL = "ordinal"


class MissingEntries(StrEnum):
    """What becomes of missing entries."""

    DROP = "drop"
    MEAN = "mean"


class Categorical(StrEnum):
    """Treatment of columns of words."""

    ONE_HOT = "one-hot"
    CODES = "codes"
    DROP = "drop"


class Best(StrEnum):
    """End of the labels of a ranking that is the best."""

    HIGHEST = "highest"
    LOWEST = "lowest"


class PerQueryName(StrEnum):
    """What is made of the losses of a query's pairs."""

    SUM = "sum"
    MEAN = "mean"


class BiasName(StrEnum):
    """What becomes of the bias of a classification."""

    FREE = "free"
    NONE = "none"
    PENALIZED = "penalized"


DATA, PROBLEM, ANSWERS, LIMITS, OUTPUT = "Data", "Problem", "Answers", "Limits", "Output"
"""The panels of the help in which the options of `compare`, `shrink` and `path` stand."""


DataArgument = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="Bundled name (see `list data`), file (svmlight/LETOR, CSV, TSV, any table as text, NPZ, Parquet; gz, bz2, xz), or - "
        "for standard input.",
    ),
]
TaskOption = Annotated[Task | None, named(Task, "What is learned: {}; by default what the data look like.", PROBLEM)]
ComparedTaskOption = Annotated[
    ComparedTask | None, named(ComparedTask, "What is learned: {}; by default what the data look like.", PROBLEM)
]
LevelsOption = Annotated[
    str | None,
    typer.Option(
        metavar="LEVELS",
        help="Labels of an ordinal regression, comma-separated, lowest first; by default numbers, ascending.",
        rich_help_panel=PROBLEM,
    ),
]


def _kernel_named(text: str) -> str:
    """Return a kernel's name, of the project's or of a plug-in's."""
    from equimargin.formulations.kernels.registry import KERNELS, called

    return meant(called(text.lower()), list(KERNELS))


def _kernels_begun(text: str) -> list[str]:
    """Return the names of kernels that begin with a text."""
    from equimargin.formulations.kernels.registry import KERNELS

    return [name for name in KERNELS if name.startswith(text)]


def _gamma(text: str) -> str | float:
    """Return the gamma of a kernel: a number, or one of scikit-learn's words for one."""
    try:
        return float(text)
    except ValueError:
        if text in ("scale", "auto"):
            return text
        raise typer.BadParameter(f"{text!r} is neither a number nor scale or auto") from None


KernelOption = Annotated[
    str,
    typer.Option(
        parser=_kernel_named,
        metavar="NAME",
        help="Kernel: linear, poly, rbf, precomputed (the features are the Gram matrix) or another of `list kernels`.",
        rich_help_panel=PROBLEM,
        autocompletion=_kernels_begun,
    ),
]
GammaOption = Annotated[
    str | None,
    typer.Option(
        "--gamma",  # typer 0.27 would call it after its metavar
        parser=_gamma,
        metavar="GAMMA",
        help="A number, scale for 1/(d var(X)) of d features, the default of poly, rbf and sigmoid, or auto for 1/d.",
        rich_help_panel=PROBLEM,
    ),
]
DegreeOption = Annotated[int | None, typer.Option(metavar="N", help="Of poly; by default 3.", rich_help_panel=PROBLEM)]
Coef0Option = Annotated[
    float | None, typer.Option(metavar="X", help="Constant of poly and sigmoid; by default 0.", rich_help_panel=PROBLEM)
]
CostOption = Annotated[
    float,
    typer.Option("-C", "--cost", metavar="COST", help="Cost of a unit of slack; inf for a hard margin.", rich_help_panel=PROBLEM),
]
EpsilonOption = Annotated[
    float,
    typer.Option(metavar="EPSILON", help="Half the width of the regression tube, in units of the target.", rich_help_panel=PROBLEM),
]
ScaleOption = Annotated[bool, flag("--scale", "Bring every feature to mean 0 and deviation 1 over all rows.", DATA)]
SampleOption = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Rows to take at random; of a ranking whole queries, the last one cut.", rich_help_panel=DATA),
]
SeedOption = Annotated[int, typer.Option(metavar="N", min=0, help="Seed of the sample.", rich_help_panel=DATA)]
TargetOption = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Target column of a table; by default label, target, relevance, class or y, else the last.",
        rich_help_panel=DATA,
    ),
]
QueryOption = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Query column of a table; by default qid, query or query_id; '' for none.", rich_help_panel=DATA),
]
WeightOption = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column of factors of each row's cost; by default sample_weight, or weight in a table whose target or query column has "
        "a name that --target or --query finds by default; '' for none.",
        rich_help_panel=DATA,
    ),
]
PerQueryOption = Annotated[
    PerQueryName | None,
    named(PerQueryName, "Loss of a query in a ranking: {} of the losses of its pairs; by default sum.", PROBLEM),
]
BiasOption = Annotated[
    BiasName | None,
    named(
        BiasName,
        "Bias of a classification: {} (part of the norm); by default `compare` takes the first two and `path` the first.",
        PROBLEM,
    ),
]
DropOption = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN", help="Column to leave out; may be given again.", rich_help_panel=DATA)
]
HeaderOption = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        metavar="",
        help="First row of a table is column names, or is data; by default what it looks like.",
        rich_help_panel=DATA,
    ),
]
SepOption = Annotated[
    str | None,
    typer.Option(metavar="MARK", help="Separator of a table's fields: one character, tab or whitespace.", rich_help_panel=DATA),
]
DecimalOption = Annotated[str, typer.Option(metavar="MARK", help="Decimal point of a table: . or a comma.", rich_help_panel=DATA)]
MissingOption = Annotated[
    MissingEntries | None,
    named(MissingEntries, "Treatment of missing entries: {} (drop the rows, or take the mean of the feature).", DATA),
]
NaOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="WORD",
        help="Word for a missing entry; may be given again. By default NA, N/A, nan, null, none, ?, - and . are; '' for no word. "
        "An empty entry is always missing.",
        rich_help_panel=DATA,
    ),
]
CategoricalOption = Annotated[
    Categorical | None,
    named(Categorical, "Columns of words: {} (an indicator of every word, its place in alphabetical order, or left out).", DATA),
]
BestOption = Annotated[Best | None, named(Best, "Best label of a ranking: {}; by default highest.", PROBLEM)]
PreferencesOption = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Pairs of rows in place of the target: preferred, other[, query][, weight]; rows by DATA's column id, or from 0.",
        rich_help_panel=DATA,
    ),
]
JSONOption = Annotated[
    Path | None,
    typer.Option("--json", "--output", metavar="FILE", help="JSON file of all figures; - for standard output.", rich_help_panel=OUTPUT),
]

HTMLOption = Annotated[Path | None, typer.Option(metavar="FILE", help="Page for a browser; - for standard output.", rich_help_panel=OUTPUT)]


def load_plugins(names: list[str] | None) -> list[str] | None:
    """Load the plug-ins of installed packages, then those that are named."""
    with sentences(), printed_apart():
        from equimargin.own.plugins import load, load_installed

        for sentence in load_installed():
            typer.echo(f"equimargin: {sentence}", err=True)
        for name in names or []:
            load(name)
    return names


PluginOption = Annotated[
    list[str] | None,
    typer.Option(
        "--plugin",
        metavar="MODULE",
        callback=load_plugins,
        is_eager=True,
        help="Module, or file ending in .py, whose import enters families, kernels and solvers; may be given again.",
    ),
]

STDOUT = Path("-")
"""The file name that stands for standard output, as in other Unix tools."""
OF_TRACKERS = "ignore:resource_tracker:UserWarning"
"""The filter of the warnings of multiprocessing's resource tracker: that it clears up after ended processes is no user's concern."""
BIAS_ELSEWHERE = {
    "regression": "a regression has a free bias",
    "ranking": "a ranking has no bias, because one cancels in every pair",
    "ordinal": "an ordinal regression has thresholds in place of a bias",
}
"""What other tasks have instead of a choice of the bias, as a sentence for each."""
NO_PAIRS = "No preference pairs: within every query all rows have the same label, so there is nothing to rank."
"""What a command prints for a ranking without pairs."""


def how_to_read(
    target: str | None,
    query: str | None,
    weight: str | None,
    drop: list[str] | None,
    header: bool | None,
    sep: str | None,
    decimal: str,
    missing: MissingEntries | None,
    na: list[str] | None,
) -> HowToRead:
    """The options that say how to read a table, as keyword arguments of `data.load`."""
    return {
        "target": target,
        "query": query,
        "weight": weight,
        "drop": drop,
        "header": header,
        "sep": sep,
        "decimal": decimal,
        "missing": None if missing is None else missing.value,
        "na": na or None,
    }


def how_to_encode(categorical: Categorical | None, best: Best | None = None) -> HowToRead:
    """Return the options on words and labels, as keyword arguments of `data.load`.

    Parameters
    ----------
    categorical : Categorical or None
        What columns of words become.
    best : Best or None
        The end of a ranking's labels that is the best.
    """
    return {"categorical": None if categorical is None else categorical.value, "best": None if best is None else best.value}


def loaded(
    source: str,
    task: Task | ComparedTask | None,
    how: HowToRead,
    preferences: str | None,
    sample: int | None,
    seed: int,
    kernel: str,
    scale: bool,
    levels: str | None = None,
) -> Data:
    """The data that the options name, not yet scaled."""
    from equimargin.data import load

    ordered = None if levels is None else [level.strip() for level in levels.split(",")]
    data = load(source, task=None if task is None else task.value, preferences=preferences, levels=ordered, **how)
    if kernel == "precomputed" and (scale or sample is not None):
        raise ValueError("--scale and --sample do not go with --kernel precomputed: the Gram matrix is taken as it is")
    if sample is not None:
        data = data.sampled(sample, seed)
    if data.task == "classification" and len(set(data.y.tolist())) < 2:
        raise ValueError(f"the {len(data.y)} sampled rows are of one class, and one class cannot be classified; sample more rows")
    return data


def kernel_of(name: str, gamma: str | float | None, degree: int | None, coef0: float | None, rows: Data) -> Kernel:
    """Return the kernel that the options name, for the rows as the problems take them.

    Parameters
    ----------
    name : str
        Name of the kernel.
    gamma, degree, coef0
        Parameters of the kernel; None where no option gives them.
    rows : Data
        Rows as the problems take them.

    Raises
    ------
    ValueError
        If the kernel does not have a parameter that is given.
    """
    from equimargin.formulations.kernels.registry import named_kernel, parameters_of

    options = {"gamma": gamma, "degree": degree, "coef0": coef0}
    given = {parameter: value for parameter, value in options.items() if value is not None}
    own = parameters_of(name)
    wrong = [parameter for parameter in given if parameter not in own]
    if wrong:
        has = f"has {' and '.join(f'--{parameter}' for parameter in own)}" if own else "has no parameters"
        raise ValueError(f"--{wrong[0]} is not for the {name} kernel, which {has}; leave it out, or choose another --kernel")
    return named_kernel(name, rows.X, rows.weight, given)


@dataclass(frozen=True)
class Variant:
    """Which variant of a task's problems a user asked for; None where the options do not say it."""

    per_query: PerQueryName | None
    bias: BiasName | None

    def check(self, data: Data) -> None:
        """Refuse what the problems of the data do not have."""
        if self.bias is not None and data.task != "classification":
            raise ValueError(f"--bias is for classification: {BIAS_ELSEWHERE[data.task]}; leave it out")
        if self.per_query is None:
            return
        if data.task != "ranking":
            raise ValueError(f"--per-query is for a ranking by query, and the task is {data.task}; leave it out")
        if data.pairs is not None:
            raise ValueError("--per-query is for labels: the pairs of --preferences have weights of their own; leave one of the two out")
        if data.qid is None:
            raise ValueError("--per-query: the data have no queries; name the column that has them (--query COLUMN), or leave it out")

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the constructor of the task, without the weights.

        That there is no bias is not among them: that is a family of its own.
        """
        if self.bias is BiasName.PENALIZED:
            return {"bias": "penalized"}
        return {"per_query": "mean"} if self.per_query is PerQueryName.MEAN else {}

    def record(self) -> dict[str, str | None]:
        """The options in a record."""
        return {name: None if value is None else value.value for name, value in vars(self).items()}

    def in_words(self) -> str:
        """What a heading says of it, after the kernel."""
        if self.bias is not None:
            return {"free": ", a free bias", "none": ", no bias", "penalized": ", a penalised bias"}[self.bias]
        return "" if self.per_query is None else f", the {self.per_query.value} of the losses of a query's pairs"


def margin_problem(
    data: Data, kernel: Kernel, C: float = 1.0, epsilon: float = 0.1, loss: LossName = "hinge", **variant: Any
) -> MarginProblem:
    """The margin problem of the data's task, or of its preferences, with the weights of its rows or queries.

    variant : what `Variant.arguments` returns.
    """
    from equimargin.formulations import ranking_from_pairs
    from equimargin.formulations.problem.construct import problem_of

    if data.pairs is not None:
        return ranking_from_pairs(data.X, data.pairs, C, kernel, loss, data.pair_weight)
    return problem_of(data.task, data.X, data.y, C, kernel, loss, epsilon, data.qid, **data.weights, **variant)


def data_record(data: Data, problem: Problem) -> dict[str, Any]:
    """The data in a record; read_as is the sentence that says which columns, rows and weights were read."""
    return {
        "name": data.name,
        "task": data.task,
        "rows": problem.m,
        "features": int(data.X.shape[1]),
        "pairs_or_rows": problem.p,
        "read_as": described(data, problem),
    }


def described(data: Data, problem: Problem) -> str:
    """A sentence that says how the data were read."""
    return data.describe(problem.p if data.task == "ranking" else None)


def headline(data: Data, problem: Problem, kernel: Kernel, variant: Variant) -> str:
    """The data, the kernel that was asked for, and the variant in a line."""
    shift = f", diagonal shifted by {problem.shift:.3g} to be provably positive semidefinite" if problem.shift else ""
    return f"{described(data, problem)}; {in_words(kernel)}{shift}{variant.in_words()}"


def kernel_record(kernel: Kernel) -> dict[str, Any]:
    """A kernel in a record."""
    return {"name": kernel.name, **vars(kernel)}


def in_words(kernel: Kernel) -> str:
    """A kernel with its parameters."""
    parameters = ", ".join(f"{name}={value:g}" for name, value in vars(kernel).items())
    return f"{kernel.name} kernel ({parameters})" if parameters else f"{kernel.name} kernel"


@contextmanager
def printed_apart() -> Iterator[None]:
    """Send what a plug-in prints to standard error.

    Standard output is for the page or for a record.
    """
    with redirect_stdout(sys.stderr):
        yield


@contextmanager
def sentences() -> Iterator[None]:
    """End with a sentence instead of a traceback: exit status 2 after bad input, 130 after an interrupt.

    Where nobody reads standard output any more, as behind `| head`, end without a word, as programs do then.
    """
    try:
        yield
    except BrokenPipeError:
        read_no_more(sys.stdout)
        _exit_at_once(UNREAD)
    except ValueError as error:
        refuse(str(error))
    except OSError as error:
        refuse(error_sentence(error))
    except ImportError as missing:
        if "hypothesis" not in str(missing):
            raise
        refuse("drawing data needs hypothesis: pip install hypothesis")
    except MemoryError as error:
        refuse(f"the memory is not enough ({error or 'no word on how much'}); take fewer rows (--sample) or features (--drop)")
    except KeyboardInterrupt:
        leave("interrupted")


def leave(sentence: str) -> NoReturn:
    """Print a sentence and exit at once with status 130, without waiting for compiled code in this process or in its children."""
    typer.echo(f"equimargin: {sentence}", err=True)
    _exit_at_once(INTERRUPTED)


def end(sentence: str, others_work: bool) -> NoReturn:
    """Exit with status 130, at once if any work goes on that nobody waits for, be it in other processes (others_work)."""
    typer.echo(f"equimargin: {sentence}", err=True)
    if others_work:
        _exit_at_once(INTERRUPTED)
    finish(INTERRUPTED)


def finish(status: int) -> NoReturn:
    """Exit with a status, at once if any work goes on that nobody waits for."""
    from equimargin.solvers.interrupt import is_work_left

    if is_work_left():
        _exit_at_once(status)
    raise typer.Exit(status)


def without_warnings_of_trackers() -> None:
    """Let the process that clears up behind other processes do so without a word where these are ended by force."""
    known = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = f"{known},{OF_TRACKERS}" if known else OF_TRACKERS


def _exit_at_once(status: int) -> NoReturn:
    import multiprocessing
    import signal

    sys.stdout.flush()
    sys.stderr.flush()
    for process in multiprocessing.active_children():
        if process.pid is not None:
            os.kill(process.pid, signal.SIGKILL)
    os._exit(status)


def refuse(sentence: str) -> NoReturn:
    """Exit with status 2."""
    typer.echo(f"equimargin: {sentence}", err=True)
    raise typer.Exit(2)


def check_writable(*paths: Path | None) -> None:
    """Refuse files that cannot be written, before the work is done."""
    named = [path for path in paths if path is not None and path != STDOUT]
    for path in named:
        try:
            _open_once(path)
        except OSError as error:
            raise ValueError(f"{path} cannot be written: {error.strerror or error}") from None
    if paths.count(STDOUT) > 1:
        raise ValueError("two records would go to standard output (-), which holds one; name a file for all but one")
    files = [path.resolve() for path in named]
    for file in files:
        if files.count(file) > 1:
            raise ValueError(f"{file.name} is named for two files, and one would be lost; name two")


def _open_once(path: Path) -> None:
    """Open for writing what will be written after the work, and leave it as it is.

    Raises
    ------
    OSError : it cannot be opened.
    """
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise OSError("it is a folder" if path.is_dir() else "its folder does not exist")
    if path.exists():
        with path.open("ab"):
            pass
    from equimargin.solvers.problem_file import whole

    with whole(path, keep=False):
        pass


@contextmanager
def writing(*paths: Path | None) -> Iterator[Callable[[Path, str], None]]:
    """A function that writes text to one of the files, whole or not at all.

    Where standard output is one of them it holds that text alone: what is printed for a person goes to standard error. Where nobody reads
    standard output any more, files are written all the same.

    Raises
    ------
    BrokenPipeError : at the end, where nobody has read standard output.
    """
    lasting = _Lasting(sys.stdout)
    out: Any = lasting if any(paths) else sys.stdout

    def write(path: Path, text: str) -> None:
        if path == STDOUT:
            out.write(text if text.endswith("\n") else f"{text}\n")
            return
        from equimargin.solvers.problem_file import whole

        with whole(path) as part:
            part.write_text(text, encoding="utf-8")

    with redirect_stdout(sys.stderr if STDOUT in paths else out):
        yield write
    if lasting.unread:
        raise BrokenPipeError


class _Lasting:
    """Standard output that takes what nobody reads.

    unread : whether somebody has closed the other end.
    """

    def __init__(self, out: Any) -> None:
        self._out, self.unread = out, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._out, name)

    def write(self, text: str) -> int:
        """Write a text."""
        with self._unbroken():
            self._out.write(text)
        return len(text)

    def flush(self) -> None:
        """Hand on what was written."""
        with self._unbroken():
            self._out.flush()

    @contextmanager
    def _unbroken(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            self.unread = True
            read_no_more(self._out)
