"""Who could answer at all: whether any formulation declares a problem, and whether any specialised solver takes it."""

from __future__ import annotations

from dataclasses import dataclass

from equimargin.formulations import REGISTRY
from equimargin.formulations.problem.one_norm import Problem
from equimargin.solvers.registry import SOLVERS


@dataclass(frozen=True)
class Ways:
    """Whether anybody takes a family's problem, asked for or not.

    undeclarable : why no formulation of the family declares it, a clause; empty where one does.
    unsolvable : the same of the specialised solvers.  too_large : whether its size is all that keeps it from being declared.
    """

    undeclarable: str = ""
    unsolvable: str = ""
    too_large: bool = False


def ways(problem: Problem) -> Ways:
    """Who takes a problem, by what every formulation of its family and every specialised solver says of it.

    Parameters
    ----------
    problem : MarginProblem or OneNormProblem.
    """
    refusals = [entry.refusal(problem) for entry in REGISTRY.values() if entry.family == problem.family and not entry.control]
    too_large = bool(refusals) and all(refusal is not None and refusal.too_large for refusal in refusals)
    undeclarable = "the problem is too large to declare" if too_large else "no formulation takes the problem"
    solvable = any(solver.refusal(problem) is None for solver in SOLVERS.values())
    return Ways("" if None in refusals else undeclarable, "" if solvable else "no specialised solver takes the problem", too_large)
