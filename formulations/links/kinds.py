"""Kinds of relation between two formulations: statement, sources and maps of points.

A relation is data plus two maps of canonical points, and its statement is a complete
sentence, as in a paper. Values are those of the families' objectives;
`Declaration.value` converts the objective of a formulation to them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from equimargin.formulations.declarations.declaration import unchanged
from equimargin.formulations.declarations.source import Source
from equimargin.formulations.problem.point import CanonicalPoint

PointMap = Callable[[Any, Any], CanonicalPoint]
"""Map from a problem and one of its points to a point of the related problem."""
EVIDENCE = "numerical evidence only"
"""Status of a relation without a machine-checked theorem about the optima."""


def same_problem(problem: Any) -> Any:
    """Return the problem itself: both formulations have the same data and settings.

    Parameters
    ----------
    problem : Problem
        Problem of the first formulation.

    Returns
    -------
    Problem
        The problem.
    """
    return problem


@dataclass(frozen=True, kw_only=True)
class Link:
    """Relation of formulation `a` to formulation `b`.

    Parameters
    ----------
    a, b : str
        Ids of the formulations.
    statement : str
        Relation as a sentence.
    sources : tuple of Source
        Publications from which it follows.
    conditions : str
        Conditions under which it holds.
    theorem : str
        Machine-checked theorem about the two optima, without sample weights, as
        file.name in proofs/rocq; "" if there is no theorem and the evidence is
        numerical. All else in the statement is tested, not proved.
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
        """Theorem about its optima, or `EVIDENCE` if there is none."""
        return f"optima proved: {self.theorem}" if self.theorem else EVIDENCE


@dataclass(frozen=True, kw_only=True)
class Equivalence(Link):
    """Optimal points map to optimal points, both ways.

    Parameters
    ----------
    forward, backward : callable
        Maps from canonical points of a's problem to those of b's, and back; both take
        a's problem first.
    problem : callable
        Map from a's problem to b's.
    value : callable
        Map from a's optimum, and a's problem, to b's optimum.
    applies : callable
        Predicate of a's problems; True if the conditions hold.
    """

    kind = "equivalence"
    forward: PointMap
    backward: PointMap
    problem: Callable[[Any], Any] = same_problem
    value: Callable[[float, Any], float] = unchanged
    applies: Callable[[Any], bool] = lambda problem: True


@dataclass(frozen=True, kw_only=True)
class StrongEquivalence(Equivalence):
    """Every feasible point maps to a feasible point of the same value, both ways.

    Its test needs no optimum.
    """

    kind = "strong equivalence"


@dataclass(frozen=True, kw_only=True)
class Rescaling(Equivalence):
    """One problem at two parameter values, whose optima are multiples of each other."""

    kind = "rescaling"


@dataclass(frozen=True, kw_only=True)
class Relaxation(Link):
    """The optimum of `a` is at most that of `b`: value(optimum of a) <= optimum of b.

    Parameters
    ----------
    problem : callable
        Map from a's problem to b's.
    """

    kind = "relaxation"
    problem: Callable[[Any], Any] = same_problem


@dataclass(frozen=True, kw_only=True)
class NotEquivalent(Link):
    """Two similar problems; their optima differ at the counterexample.

    Parameters
    ----------
    counterexample : callable
        Function that returns a problem for `a` and one for `b`.
    values : tuple of float
        Optima of `a` and `b` there, as values of the families' objectives; -inf if a
        problem is unbounded. For a misprinted formula of a solution, the value that it
        gives, or inf if its b violates a hard margin.
    """

    kind = "not equivalent"
    counterexample: Callable[[], tuple[Any, Any]]
    values: tuple[float, float]
