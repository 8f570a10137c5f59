"""What proves bounds of a family's optimum: an interface, for canonical problems and for all others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from equimargin.proofs.referee.evidence import Evidence, Run
from equimargin.solvers.backends.solve import Answer


class Bounds(ABC):
    """What proves bounds of one problem's optimum by answers to it."""

    @abstractmethod
    def of_answer(self, run: Run, answer: Answer) -> Evidence:
        """The evidence of a backend's answer to a declaration."""

    @abstractmethod
    def of_solution(self, run: Run, solution: Any) -> Evidence:
        """The evidence of a solution, of the kind that solvers of this problem return."""
