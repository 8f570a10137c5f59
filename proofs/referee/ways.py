"""Whether a problem can be answered at all: by any formulation that declares it, and by any specialised solver that takes it."""

from __future__ import annotations

from dataclasses import dataclass

from equimargin.formulations import REGISTRY
from equimargin.formulations.formulation import Formulation
from equimargin.formulations.problem.base import AnyProblem
from equimargin.formulations.refusal import Refusal
from equimargin.formulations.user_functions import kept_from_quitting
from equimargin.solvers.registry import SOLVERS, Solver


@dataclass(frozen=True)
class Availability:
    """Whether any formulation and any solver takes a family's problem, whether or not it was asked to.

    undeclarable : why no formulation of the family declares the problem, a clause; empty where one does.
    unsolvable : why no specialised solver takes it, a clause; empty where one does.
    too_large : whether its size is the only reason why it is not declared.
    """

    undeclarable: str = ""
    unsolvable: str = ""
    too_large: bool = False


def find_available_answers(problem: AnyProblem) -> Availability:
    """Whether a problem can be declared and solved, from the refusals of all formulations of its family and of all specialised solvers.

    Parameters
    ----------
    problem : of any kind.
    """
    refusals = [_refusal(entry, problem) for entry in REGISTRY.values() if entry.family == problem.family and not entry.control]
    too_large = bool(refusals) and all(refusal is not None and refusal.too_large for refusal in refusals)
    undeclarable = "the problem is too large to declare" if too_large else "no formulation takes the problem"
    solvable = any(_refusal(solver, problem) is None for solver in SOLVERS.values())
    return Availability("" if None in refusals else undeclarable, "" if solvable else "no specialised solver takes the problem", too_large)


def _refusal(way: Formulation | Solver, problem: AnyProblem) -> Refusal | None:
    """Return the refusal of a problem by a formulation or a solver, or None.

    It is None also where the function of the refusal fails; the failure shows at the run.
    """
    try:
        with kept_from_quitting():
            return way.refusal(problem)
    except Exception:  # a user-defined function may fail in any way
        return None
