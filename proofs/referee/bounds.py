"""Interface of bounds of a family's optimum, for canonical and all other problems."""

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
        """Part of the objective that is equal at every feasible point.

        No relative figure is in units of this part.
        """
        return 0.0

    @property
    def doubt(self) -> str:
        """Reason why statements on the optimum are not proven, without final period, or empty."""
        return ""

    @abstractmethod
    def of_answer(self, run: Run, answer: Answer) -> Evidence:
        """Return the evidence of a backend's answer to a declaration.

        Parameters
        ----------
        run : Run
            Run that gave the answer.
        answer : Answer
            Answer of the backend.
        """

    @abstractmethod
    def of_solution(self, run: Run, solution: Any) -> Evidence:
        """Return the evidence of a solution, of the kind that solvers of this problem return.

        Parameters
        ----------
        run : Run
            Run that gave the answer.
        solution : solution of a specialised solver
            Solution of the problem.
        """
