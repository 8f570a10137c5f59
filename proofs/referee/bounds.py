"""Bounds of a family's optimum, proven by answers: an interface for canonical problems and for all others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from equimargin.proofs.referee.evidence import Evidence, Run
from equimargin.solvers.backends.solve import Answer


class Bounds(ABC):
    """Bounds of one problem's optimum, proven by answers."""

    @property
    @abstractmethod
    def scale(self) -> float:
        """Unit of relative figures where the optimum is almost 0."""

    @property
    def constant(self) -> float:
        """Part of the objective that is equal at every feasible point, of which no relative figure is in units."""
        return 0.0

    @property
    def doubt(self) -> str:
        """Reason why statements on the optimum are not proven, without a final period; empty where they are."""
        return ""

    @abstractmethod
    def of_answer(self, run: Run, answer: Answer) -> Evidence:
        """Return the evidence of a backend's answer to a declaration."""

    @abstractmethod
    def of_solution(self, run: Run, solution: Any) -> Evidence:
        """Return the evidence of a solution, of the kind that solvers of this problem return."""
