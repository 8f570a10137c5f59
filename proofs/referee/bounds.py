"""Interface of the classes that bound a family's optimum from its answers."""

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
        """P(0) or its equivalent: relative figures are over 1e-4 of it if the optimum is near 0."""

    @property
    def constant(self) -> float:
        """Part of the objective that is equal at every feasible point.

        The unit S of relative figures excludes this part.
        """
        return 0.0

    @property
    def doubt(self) -> str:
        """Reason why the bounds are not proven, without final period; empty if they are."""
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
        """Return the evidence of a specialised solver's solution.

        Parameters
        ----------
        run : Run
            Run that gave the answer.
        solution : solution of a specialised solver
            Solution of the problem.
        """
