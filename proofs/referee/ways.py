"""Availability of answers: declarations and specialised solvers of a problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from equimargin.formulations import REGISTRY
from equimargin.formulations.declarations.formulation import Formulation
from equimargin.formulations.declarations.user_functions import kept_from_quitting
from equimargin.formulations.problem.base import AnyProblem
from equimargin.formulations.problem.refusal import Refusal
from equimargin.solvers.registry import SOLVERS, Solver


@dataclass(frozen=True)
class Availability:
    """Availability of formulations and solvers for a problem, requested or not.

    Parameters
    ----------
    undeclarable : str, default ''
        Reason why no formulation of the family declares the problem, as text; empty if
        one does.
    unsolvable : str, default ''
        Reason why no specialised solver supports the problem, as text; empty if one
        does.
    too_large : bool, default False
        True if the size of the problem is the only reason why no formulation declares it.
    refusals : Mapping[Formulation or Solver, Refusal or None]
        Reason why each formulation and solver of the family does not support the
        problem, or None; negative controls are excluded.
    """

    undeclarable: str = ""
    unsolvable: str = ""
    too_large: bool = False
    refusals: Mapping[Formulation | Solver, Refusal | None] = field(
        default_factory=dict, compare=False, repr=False
    )


def find_available_answers(problem: AnyProblem) -> Availability:
    """Return which formulations and specialised solvers support a problem.

    Parameters
    ----------
    problem : AnyProblem
        Problem of any kind.
    """
    declaring = [
        entry for entry in REGISTRY.values() if entry.family == problem.family and not entry.control
    ]
    solving = [solver for solver in SOLVERS.values() if solver.takes(problem.family)]
    ways: list[Formulation | Solver] = [*declaring, *solving]
    refusals = {way: find_refusal(way, problem) for way in ways}
    undeclared = [refusals[entry] for entry in declaring]
    too_large = bool(undeclared) and all(
        refusal is not None and refusal.too_large for refusal in undeclared
    )
    undeclarable = (
        "the problem is too large to declare" if too_large else "no formulation takes the problem"
    )
    # A solver may also support families that it does not list.
    others = (solver for solver in SOLVERS.values() if solver not in refusals)
    solvable = None in [refusals[solver] for solver in solving] or any(
        find_refusal(solver, problem) is None for solver in others
    )
    unsolvable = "" if solvable else "no specialised solver takes the problem"
    return Availability("" if None in undeclared else undeclarable, unsolvable, too_large, refusals)


def find_refusal(way: Formulation | Solver, problem: AnyProblem) -> Refusal | None:
    """Return the reason why a formulation or solver does not support a problem, or None.

    None also if its test raises an exception, which the run will then raise, too.

    Parameters
    ----------
    way : Formulation or Solver
        Formulation or solver.
    problem : AnyProblem
        Problem of any kind.
    """
    try:
        with kept_from_quitting():
            return way.refusal(problem)
    except Exception:
        # A user-defined function may fail in any way.
        return None
