"""The kinds of relation between two formulations, each with its statement, its sources and its two maps of canonical points.

A link is data plus two maps, and its statement is a sentence that could stand in a
paper. Values are on the families' scales; `Declaration.value` converts a formulation's
own objective to that scale.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from equimargin.formulations.declarations.source import Source
from equimargin.formulations.problem.point import CanonicalPoint

PointMap = Callable[[Any, Any], CanonicalPoint]
"""From a problem and a point of it to a point of the linked problem."""
EVIDENCE = "numerical evidence only"
"""The status of a link whose statement about the optima is not proved by a machine-checked theorem."""


def same_problem(problem: Any) -> Any:
    """The problem itself: the linked formulation is of the same data and settings."""
    return problem


def same_value(value: float, problem: Any) -> float:
    """The value itself: the linked formulations have the same optimum."""
    return value


@dataclass(frozen=True, kw_only=True)
class Link:
    """A relation of formulation `a` to formulation `b`.

    Parameters
    ----------
    statement : str
        The relation in a sentence.
    sources : tuple[Source, ...]
        Where it is printed or follows from.
    conditions : str
        When it holds.
    theorem : str
        The machine-checked theorem about the two optima, file.name in proofs/rocq,
        without sample weights; "" where there is no theorem and the evidence is
        numerical. Whatever the statement says beyond the two optima is tested, not
        proved.
    """

    kind: ClassVar[str]
    a: str
    b: str
    statement: str
    sources: tuple[Source, ...]
    conditions: str = "always"
    theorem: str = ""

    @property
    def status(self) -> str:
        """The theorem about its optima, or that there is none."""
        return f"optima proved: {self.theorem}" if self.theorem else EVIDENCE


@dataclass(frozen=True, kw_only=True)
class Equivalence(Link):
    """Optimal points map to optimal points, both ways.

    Parameters
    ----------
    problem : Callable[[Any], Any]
        b's problem from a's.
    value : Callable[[float, Any], float]
        b's optimum from a's, given a's problem.
    forward, backward : PointMap
        From canonical points of a's problem to those of b's, and back; both take a's
        problem first.
    applies : Callable[[Any], bool]
        Whether a problem of a's family meets the conditions.
    """

    kind = "equivalence"
    forward: PointMap
    backward: PointMap
    problem: Callable[[Any], Any] = same_problem
    value: Callable[[float, Any], float] = same_value
    applies: Callable[[Any], bool] = lambda problem: True


@dataclass(frozen=True, kw_only=True)
class StrongEquivalence(Equivalence):
    """Every feasible point maps to a feasible point of the same value, both ways: no optimum is needed to test it."""

    kind = "strong equivalence"


@dataclass(frozen=True, kw_only=True)
class Rescaling(Equivalence):
    """The same problem at another parameter, its objective multiplied: one optimum, two scales."""

    kind = "rescaling"


@dataclass(frozen=True, kw_only=True)
class Relaxation(Link):
    """The optimum of `a` is at most that of `b` on its problem, value(optimum of a) <= optimum of b.

    Parameters
    ----------
    problem : Callable[[Any], Any]
        b's problem from a's.
    """

    kind = "relaxation"
    problem: Callable[[Any], Any] = same_problem


@dataclass(frozen=True, kw_only=True)
class NotEquivalent(Link):
    """Two problems that a document, or a reader, may take for the same; their optima differ on the counterexample.

    Parameters
    ----------
    counterexample : Callable[[], tuple[Any, Any]]
        A problem for `a` and one for `b`.
    values : tuple[float, float]
        The optima of `a` and `b` there, on the families' scales; -inf where a problem
        is unbounded. For a misprinted formula that reads a solution off, the value is
        the one that it claims, and inf where its b violates a hard margin.
    """

    kind = "not equivalent"
    counterexample: Callable[[], tuple[Any, Any]]
    values: tuple[float, float]
