"""Shared parts of the checks: their errors, and the answers of all other solvers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from equimargin.formulations import REGISTRY, Problem, declare, linear, polynomial, rbf
from equimargin.formulations.declarations.user_functions import Quit, kept_from_quitting
from equimargin.proofs import Evidence, examine, examine_solution
from equimargin.proofs.referee.evidence import what_was_raised
from equimargin.solvers import SOLVERS, solve, solve_declaration

KERNELS = {
    "linear()": linear(),
    "rbf(0.4)": rbf(0.4),
    "polynomial(2, 0.5, 1.0)": polynomial(2, 0.5, 1.0),
}
"""Kernels of the checks of formulations and solvers, by source text."""


@contextmanager
def conforming() -> Iterator[None]:
    """Turn an exit requested by the checked code into a failed check."""
    try:
        with kept_from_quitting():
            yield
    except Quit as ended:
        raise AssertionError(what_was_raised(ended)) from ended


def require(holds: bool, sentence: str) -> None:
    """Raise AssertionError if a condition does not hold.

    Parameters
    ----------
    holds : bool
        Condition.
    sentence : str
        Message.
    """
    if not holds:
        raise AssertionError(sentence)


def declared_answers(problem: Problem, without: str = "") -> list[Evidence]:
    """Return the answers of the problem's declared formulations, except negative controls.

    Parameters
    ----------
    problem : Problem
        Problem.
    without : str
        Id of a formulation that is skipped.
    """
    ids = [
        id
        for id, entry in REGISTRY.items()
        if not entry.control and id != without and entry.refusal(problem) is None
    ]
    return [examine(problem, solve_declaration(declare(id, problem))) for id in ids]


def solved_answers(problem: Problem, without: str = "") -> list[Evidence]:
    """Return the answers of the specialised solvers of the problem's family.

    Parameters
    ----------
    problem : Problem
        Problem.
    without : str
        Name of a solver that is skipped.
    """
    others = [
        entry for entry in SOLVERS.values() if entry.name != without and entry.takes(problem.family)
    ]
    return [
        examine_solution(problem, solve(problem, entry, tol=1e-8))
        for entry in others
        if entry.refusal(problem) is None
    ]
