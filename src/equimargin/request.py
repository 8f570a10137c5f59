"""Request of a comparison, made from options, study plans or keyword arguments.

Each field is defined here, with its default and its option. Files of failing cases and
study plans contain a request; the table of a study has its own columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from equimargin.formulations import Kernel
    from equimargin.solvers import Solver

ANSWERS, LIMITS = "Answers", "Limits"
"""Help panels of the options of a comparison."""


class ProblemOptions(TypedDict, total=False):
    """Options of the problems made from arrays.

    Parameters
    ----------
    task : str or None
        "classification", "regression" or "ranking"; by default ranking if there are
        queries, classification if y has two values, and regression if its values can be
        neither classes nor levels.
    qid : array-like of shape (m,) or None
        Queries of a ranking.
    C : float
        Cost of a unit of loss, by default 1.
    kernel : Kernel, str or None
        Kernel or its name, by default linear.
    epsilon : float
        Half-width of the tube of a regression, by default 0.1.
    """

    task: str | None
    qid: ArrayLike | None
    C: float
    kernel: Kernel | str | None
    epsilon: float


class CompareOptions(ProblemOptions, total=False):
    """Keyword arguments of `compare`: fields of `ComparisonRequest`, and data for arrays X.

    Parameters
    ----------
    y : array-like of shape (m,)
        Labels, targets or relevances of the rows of X; with task, qid, C, kernel and
        epsilon, as in `ProblemOptions`.
    formulations, solvers, tol, agree_tol, time_limit, total_time : object
        As in `ComparisonRequest`.
    patient, jobs, include_controls, device : object
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
    device: str


def option(
    *names: str, help: str, panel: str, kind: Any = None, metavar: str = ""
) -> Mapping[str, Any]:
    """Return the metadata of a field that is also an option of the command line.

    Parameters
    ----------
    help : str
        Help text.
    panel : str
        Panel of the help.
    kind : type, optional
        Type of the option; by default that of the field.
    metavar : str, default ""
        Name of the value in the help; empty for a flag.
    *names : str
        Names of the option; by default that of the field.
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
    """Request of a comparison.

    Parameters
    ----------
    formulations, solvers : str or sequence of str
        Names or patterns with * and ?. Families without a chosen formulation are
        excluded if others have one. A backend that is weak on a class of programs (OSQP
        on linear, HIGHS on quadratic ones) runs there only if named in full, as does any
        other installed backend that `equimargin list solvers` has. A solver
        may also be passed as a `Solver` object, registered or not, such as those of
        `equimargin.adapters`; `["*", mine]` compares it with all others.
    tol : float, optional
        Relative tolerance requested of every solver.
    agree_tol : float, optional
        Relative tolerance of the referee.
    time_limit : float, optional
        Time limit of an answer, and of the proof of a user-defined formulation's
        optimum, in seconds.
    total_time : float or None, optional
        Time limit of the comparison in seconds; None for no limit. The result then has
        the answers so far. A running step, such as a proof or the compilation of a
        function, is completed; the compilation of a declaration is not.
    patient : bool, optional
        True to complete all answers: backends may run to the time limit although the
        optimum is proven, and answers that no verdict needs are started, however long
        the comparison has taken.
    jobs : int, optional
        Number of processes; -1 uses all cores, -2 all but one. Above 1, user-defined
        formulations and solvers must be registered by modules that other processes can
        import; otherwise their answers fail, with that reason.
    include_controls : bool, optional
        True to declare the negative controls, too.
    device : str, optional
        "cpu", or "cuda" ("cuda:1", ...) for one more answer of smo, on an NVIDIA card.

    Raises
    ------
    ValueError
        If a tolerance or limit is not positive and finite, or the number of processes
        or the device is invalid.
    TypeError
        If a formulation is named by anything but text.
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
        metadata=option(metavar="TOL", help="Relative tolerance of every solver.", panel=ANSWERS),
    )
    agree_tol: float = field(
        default=1e-6,
        metadata=option(
            metavar="TOL", help="Relative tolerance within which answers agree.", panel=ANSWERS
        ),
    )
    time_limit: float = field(
        default=60.0,
        metadata=option(metavar="SECONDS", help="Time limit of an answer.", panel=LIMITS),
    )
    total_time: float | None = field(
        default=None,
        metadata=option(
            kind=float | None,
            metavar="SECONDS",
            help="Time limit of all answers; the results so far are then printed and written.",
            panel=LIMITS,
        ),
    )
    patient: bool = field(
        default=False,
        metadata=option(
            "--patient",
            help="Complete all answers, including slow ones and those that no verdict needs.",
            panel=LIMITS,
        ),
    )
    jobs: int = field(
        default=1,
        metadata=option(metavar="N", help="Number of processes; -1 for all cores.", panel=LIMITS),
    )
    include_controls: bool = field(
        default=False,
        metadata=option(
            "--include-controls",
            help="Also declare misprints and other negative controls, which must disagree.",
            panel=ANSWERS,
        ),
    )

    device: str = field(
        default="cpu",
        metadata=option(
            metavar="DEVICE",
            help="Device of one more answer of smo: cuda, or cuda:1 for the second NVIDIA card.",
            panel=ANSWERS,
        ),
    )

    def __post_init__(self) -> None:
        """Convert the fields to numbers and tuples, and refuse invalid values."""
        from equimargin.formulations.numeric.arguments import (
            check_jobs,
            format_value,
            optional_limit,
            positive_finite,
        )
        from equimargin.solvers.solution import check_device

        made: dict[str, Any] = {
            name: bool(getattr(self, name)) for name in ("patient", "include_controls")
        }
        made |= {
            name: positive_finite(getattr(self, name), name)
            for name in ("tol", "agree_tol", "time_limit")
        }
        made["total_time"] = optional_limit(self.total_time, "total_time")
        made["device"] = check_device(self.device)
        made["jobs"] = check_jobs(self.jobs, "jobs") or 1
        for name in ("formulations", "solvers"):
            chosen = getattr(self, name)
            made[name] = (
                tuple(chosen)
                if isinstance(chosen, Iterable) and not isinstance(chosen, str)
                else (chosen,)
            )
        wrong = [pattern for pattern in made["formulations"] if not isinstance(pattern, str)]
        if wrong:
            raise TypeError(
                f"formulations are names or patterns, such as 'svm.soft.*', not "
                f"{format_value(wrong[0])}; '*' takes all"
            )
        for name, value in made.items():
            object.__setattr__(self, name, value)

    @property
    def wanted(self) -> list[str | Solver]:
        """Solvers and patterns of solvers, as a list."""
        return [*self.solvers]  # type: ignore[misc]
