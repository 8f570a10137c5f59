"""Answer of one solver to a program, and its verdict."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from equimargin.formulations.numeric.decimals import format_upper
from equimargin.judging.stated import PointValues


class AnswerVerdict(StrEnum):
    """Verdict on one answer."""

    AGREES = "agrees"
    FAR = "not within tolerance"
    INFEASIBLE = "infeasible"
    UNDECIDED = "undecided"
    NO_ANSWER = "no answer"


@dataclass(frozen=True, eq=False)
class ProgramAnswer:
    """Answer of one solver, recomputed from its point.

    Parameters
    ----------
    name : str
        Name of the solver, or of the passed answer.
    verdict : AnswerVerdict
        Verdict.
    reason : str
        Reason of the verdict, as a sentence.
    objective : float or None
        Stated objective at the point, in float64; None without a point.
    distance : float or None
        Proven upper bound on the distance of `objective` from the optimum; inf if none
        is proven.
    violation : float or None
        Largest violation of a constraint, in float64.
    constraint : str
        Name of that constraint, empty if all hold.
    seconds : float or None
        Wall seconds of the solver; None without its point.
    values : mapping of str to ndarray, or None
        Values of the variables by name.
    """

    name: str
    verdict: AnswerVerdict
    reason: str
    objective: float | None = None
    distance: float | None = None
    violation: float | None = None
    constraint: str = ""
    seconds: float | None = None
    values: PointValues | None = field(default=None, repr=False)

    @property
    def cells(self) -> tuple[str, ...]:
        """Texts of the row of the table."""
        if self.objective is None or self.distance is None or self.violation is None:
            return (self.name, str(self.verdict), "", "", "")
        place = f" in {self.constraint}" if self.constraint else ""
        return (
            self.name,
            str(self.verdict),
            f"{self.objective:.10g}",
            format_upper(self.distance, 2),
            f"{format_upper(self.violation, 2)}{place}",
        )
