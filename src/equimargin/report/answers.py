"""View of one answer: names, table cells, and figures in few digits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from equimargin.formulations import REGISTRY
from equimargin.formulations.declarations.source import Source
from equimargin.proofs import Agreement, Judgement
from equimargin.proofs.referee.evidence import Run
from equimargin.report.cell import Cell
from equimargin.report.words import MARKS, NO_BREAK
from equimargin.solvers import Status

COLUMNS = ("formulation", "source", "solver", "value", "width", "agreement", "compile s", "solve s")
"""Columns of the table of all answers."""
WORDS = (
    *("family", "verdict", "fastest", "formulation", "source", "solver", "agreement"),
    *("data", "kernel", "status", "why not solved"),
)
"""Text columns of any table, of a study too; all others have figures."""


@dataclass(frozen=True)
class AnswerView:
    """View of an answer, common to all outputs."""

    judgement: Judgement
    """Assessment of the answer, with the figures to draw."""
    label: str
    """Name of its formulation within the family; empty for a specialised solver."""
    sources: tuple[Source, ...]
    """Places that publish the formulation."""
    seconds: str
    """Solve time in seconds, in few digits; empty if nothing was solved."""
    figure: str
    """Relative error in one digit; empty if the answer agrees or the error is not finite."""
    cells: tuple[Cell, ...]
    """Cells of the columns COLUMNS."""

    @classmethod
    def of(cls, j: Judgement) -> Self:
        """Return the view of an assessment.

        Parameters
        ----------
        j : Judgement
            Assessment of the answer.

        Returns
        -------
        AnswerView
            View.
        """
        run = j.evidence.run
        sources = () if run.formulation is None else REGISTRY[run.formulation].sources
        seconds = "" if j.agreement is Agreement.SKIPPED else _in_few_digits(run.solve_seconds)
        off = (
            np.nan
            if j.agreement in (Agreement.AGREES, Agreement.SKIPPED)
            else np.fmax(j.claim, j.off)
        )
        figure = f"{off:.0e}" if np.isfinite(off) else ""
        return cls(
            j, _label(run.family, run.formulation), sources, seconds, figure, _cells(j, sources)
        )

    @property
    def run(self) -> Run:
        """Solver, formulation, times and reported status of the answer."""
        return self.judgement.evidence.run

    @property
    def agreement(self) -> Agreement:
        """Agreement of the answer with its family."""
        return self.judgement.agreement

    @property
    def name(self) -> str:
        """Name among the answers of all families."""
        return self.run.name.removeprefix("solver by ")

    @property
    def was_run(self) -> bool:
        """True unless the answer was skipped."""
        return self.agreement is not Agreement.SKIPPED

    @property
    def ended_early(self) -> bool:
        """True if the answer failed, or is inaccurate for a reason other than its residual."""
        unfinished = self.run.status is not Status.OPTIMAL or self.judgement.explained is not None
        return self.agreement is Agreement.FAILED or (
            self.agreement is Agreement.INACCURATE and unfinished
        )

    def said(self, ascii: bool = False) -> str:
        """Return solver, seconds and error on one line, with the mark unless the answer agrees.

        Parameters
        ----------
        ascii : bool, default False
            True if only ASCII may be used.

        Returns
        -------
        str
            Line.
        """
        mark = "" if self.agreement is Agreement.AGREES else MARKS[self.agreement][ascii]
        time = f"{self.seconds}{NO_BREAK}s" if self.seconds else ""
        return NO_BREAK.join(filter(None, (mark, self.run.solver, time, self.figure)))


def _label(family: str, formulation: str | None) -> str:
    """Return the name of a formulation within a family; a negative control is marked."""
    if formulation is None:
        return ""
    return formulation.removeprefix(f"{family}.") + (
        " (control)" if REGISTRY[formulation].control else ""
    )


def _in_few_digits(seconds: float | None) -> str:
    """Format seconds in three digits at most, without a leading zero; empty for None."""
    if seconds is None:
        return ""
    if seconds < 0.0005:
        return "<.001"
    if seconds < 1:
        return f"{seconds:.3f}".removeprefix("0")
    return f"{seconds:.3g}" if seconds < 100 else f"{seconds:.0f}"


def _cells(j: Judgement, sources: tuple[Source, ...]) -> tuple[Cell, ...]:
    """Return the cells of an answer; a skipped one has no figures."""
    run = j.evidence.run
    words = (
        Cell.word(_label("", run.formulation) or "specialised solver"),
        Cell.word("; ".join(map(str, sources)), "long"),
        Cell.word(run.solver),
    )
    agreement = Cell(str(j.agreement), list(Agreement).index(j.agreement), str(j.agreement))
    if j.agreement is Agreement.SKIPPED:
        empty = Cell("", "")
        return (*words, empty, empty, agreement, empty, empty)
    return (
        *words,
        Cell.of(j.evidence.value, ".10g"),
        Cell.at_most(j.relative_width),
        agreement,
        Cell.of(run.compile_seconds, ".3f"),
        Cell.of(run.solve_seconds, ".3f"),
    )
