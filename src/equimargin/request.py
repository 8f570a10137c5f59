"""The request of a comparison, filled by options, by plans of studies or by keyword arguments.

A field has its meaning, its default and its option here. Findings and plans of studies
hold a request; the table of a study has columns of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from equimargin.formulations import Kernel
    from equimargin.solvers import Solver

ANSWERS, LIMITS = "Answers", "Limits"
"""The panels of the help in which the options of a comparison stand."""


class ProblemOptions(TypedDict, total=False):
    """How arrays become problems.

    Attributes
    ----------
    task : str or None
        "classification", "regression" or "ranking"; by default ranking where there are queries,
        classification where y has two values, and regression where its values can be neither
        classes nor levels.
    qid : ArrayLike | None
        ArrayLike or None (m,) queries of a ranking.
    C : float
        Cost of a unit of loss, 1 by default.
    kernel : Kernel | None
        Kernel or None Linear by default.
    epsilon : float
        Half-width of the tube of a regression, 0.1 by default.
    """

    task: str | None
    qid: ArrayLike | None
    C: float
    kernel: Kernel | None
    epsilon: float


class CompareOptions(ProblemOptions, total=False):
    """Keyword arguments of `compare`: fields of `ComparisonRequest`, and data for arrays X.

    Attributes
    ----------
    y : ArrayLike
        (m,) labels, targets or relevances of the rows of X; with task, qid, C, kernel and
        epsilon, as in `ProblemOptions`.
    formulations, solvers, tol, agree_tol, time_limit, total_time, patient, jobs, include_controls
        As in `ComparisonRequest`.
    """

    y: ArrayLike
    formulations: str | Sequence[str]
    solvers: str | Solver | Sequence[str | Solver]
    tol: float
    agree_tol: float
    time_limit: float
    total_time: float | None
    patient: bool
    jobs: int
    include_controls: bool


def option(
    *names: str, help: str, panel: str, kind: Any = None, metavar: str = ""
) -> Mapping[str, Any]:
    """Return the metadata of a field that is an option of the command line, too.

    Parameters
    ----------
    names
        Names of the option; by default that of the field.
    help : str
        Help text.
    panel : str
        Panel of the help in which the option stands.
    kind : Any
        Type or None Type of the option where it is not that of the field.
    metavar : str
        Name of the value in the help; empty for a flag.
    """
    return {
        "names": names,
        "help": help,
        "rich_help_panel": panel,
        "kind": kind,
        "metavar": metavar,
    }


@dataclass(frozen=True)
class ComparisonRequest:
    """The request of a comparison.

    Attributes
    ----------
    formulations, solvers
        Names or patterns with * and ?. Families without a chosen formulation are left out where
        others have one. A backend that is weak on a kind of program (OSQP on linear, HIGHS on
        quadratic ones) takes part there only if it is asked for by its full name. A solver may also
        be passed itself, entered or not: any `Solver`, such as those of `equimargin.adapters`;
        `["*", mine]` compares it with all others.
    tol : float
        Relative accuracy asked of every solver.
    agree_tol : float
        Relative tolerance of the referee.
    time_limit : float
        Seconds an answer, and the proof of an optimum of one's own formulation.
    total_time : float or None
        Seconds in all, None for any; what there is then is the result. A step that is at work, such
        as a proof or the compilation of a kernel, is waited for; the compilation of a declaration
        is not.
    patient : bool
        Whether all answers are waited for: backends may go on to the time limit although the
        optimum is proven, and answers are begun that no verdict waits for, however long the
        comparison has taken.
    jobs : int
        Processes; -1 is all cores. Above 1, formulations and solvers of one's own must be entered
        by modules that other processes can import; the answers of those that are not are failed
        ones, and say so.
    include_controls : bool
        Also declare the formulations that are wrong on purpose.

    Raises
    ------
    ValueError
        A tolerance or limit that is no positive, finite number, or an impossible number of
        processes.
    TypeError
        A formulation that is named by anything but text.
    """

    formulations: str | Sequence[str] = field(
        default="*",
        metadata=option(
            "--formulation",
            kind=list[str] | None,
            metavar="PATTERN",
            help="Only these formulations, * and ? allowed.",
            panel=ANSWERS,
        ),
    )
    solvers: str | Solver | Sequence[str | Solver] = field(
        default="*",
        metadata=option(
            "--solver",
            kind=list[str] | None,
            metavar="PATTERN",
            help="Only these backends and solvers, * and ? allowed.",
            panel=ANSWERS,
        ),
    )
    tol: float = field(
        default=1e-8,
        metadata=option(
            metavar="TOL", help="Relative accuracy that every solver is asked for.", panel=ANSWERS
        ),
    )
    agree_tol: float = field(
        default=1e-6,
        metadata=option(
            metavar="TOL", help="Relative tolerance within which answers agree.", panel=ANSWERS
        ),
    )
    time_limit: float = field(
        default=60.0, metadata=option(metavar="SECONDS", help="Time for each answer.", panel=LIMITS)
    )
    total_time: float | None = field(
        default=None,
        metadata=option(
            kind=float | None,
            metavar="SECONDS",
            help="Time for all answers; at its end the results so far are printed and written.",
            panel=LIMITS,
        ),
    )
    patient: bool = field(
        default=False,
        metadata=option(
            "--patient",
            help="Wait for all answers: slow ones, and those that no verdict needs.",
            panel=LIMITS,
        ),
    )
    jobs: int = field(
        default=1, metadata=option(metavar="N", help="Processes; -1 for all cores.", panel=LIMITS)
    )
    include_controls: bool = field(
        default=False,
        metadata=option(
            "--include-controls",
            help="Declare the misprints and look-alikes too, which must disagree.",
            panel=ANSWERS,
        ),
    )

    def __post_init__(self) -> None:
        """Make numbers and lists of what is given, and refuse what cannot be: see Raises."""
        from collections.abc import Iterable

        from equimargin.formulations.numeric.arguments import (
            check_number,
            format_value,
            optional_limit,
            positive_finite,
        )

        made: dict[str, Any] = {
            name: bool(getattr(self, name)) for name in ("patient", "include_controls")
        }
        made |= {
            name: positive_finite(getattr(self, name), name)
            for name in ("tol", "agree_tol", "time_limit")
        }
        made["total_time"] = optional_limit(self.total_time, "total_time")
        processes = "a whole number of processes from 1 on, or -1 for all cores"
        made["jobs"] = int(
            check_number(self.jobs, "jobs", processes, lambda v: v % 1 == 0 and v != 0)
        )
        for name in ("formulations", "solvers"):
            chosen = getattr(self, name)
            made[name] = (
                tuple(chosen)
                if isinstance(chosen, Iterable) and not isinstance(chosen, str)
                else (chosen,)
            )
        wrong = [each for each in made["formulations"] if not isinstance(each, str)]
        if wrong:
            raise TypeError(
                f"formulations are names or patterns, such as 'svm.soft.*', not "
                f"{format_value(wrong[0])}; '*' takes all"
            )
        for name, value in made.items():
            object.__setattr__(self, name, value)

    @property
    def wanted(self) -> list[str | Solver]:
        """The solvers and patterns of solvers, as a list."""
        return [*self.solvers]  # type: ignore[misc]
