"""Sampled instances of user-defined families, to test formulations and solvers.

A formulation is checked on every sampled instance: its proven optimum must be that of
the family's first formulation. If it has a map of its variables to those of the first
formulation (`to_canonical`), or the inverse map (`from_canonical`), optimal points are
mapped, and must be optimal there. hypothesis shrinks a failing instance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from random import Random
from typing import Any

import numpy as np

from equimargin.formulations.declarations.family import Family, program_families
from equimargin.formulations.declarations.formulation import Formulation
from equimargin.formulations.declarations.program_problem import ProgramProblem, described
from equimargin.formulations.declarations.user_functions import kept_from_quitting
from equimargin.proofs.program import ProvenOptimum, optimum
from equimargin.proofs.program.completion import completed
from equimargin.proofs.program.proven_optimum import stated_rounding
from equimargin.proofs.program.worth import worth
from equimargin.proofs.referee.evidence import what_was_raised
from equimargin.solvers.registry import RegisteredSolver
from equimargin.solvers.solution import Limits, Status

try:
    import hypothesis
    from hypothesis.strategies import SearchStrategy
except ImportError as missing:
    raise ImportError(
        "sampling data needs hypothesis: pip install 'equimargin[testing]'"
    ) from missing

DIFFERENT = 1e-7
"""Relative difference from which two proven optima count as different.

Data may have been rounded before they were declared.
"""
OPTIMAL = 1e-6
"""Relative distance from the optimum within which a mapped point counts as optimal.

Its coordinates are floats.
"""
EXAMPLES = 50
"""Number of instances that a check samples."""
TRIED_OUT = 25
"""Number of sampled instances of which the largest is returned."""
SECONDS = 30.0
"""Time limit of a solver on a sampled instance, in seconds."""


@dataclass(frozen=True)
class Refutation:
    """Failing instance: its data, and a sentence on the failure."""

    data: Any
    sentence: str

    def __str__(self) -> str:
        return f"{self.sentence}, on {exactly(self.data)}"


def exactly(data: Any) -> str:
    """Format small data in full, as names and values of a mapping.

    Parameters
    ----------
    data : object
        Data of a family.

    Returns
    -------
    str
        Text.
    """
    if isinstance(data, dict):
        return ", ".join(
            f"{name} = {value.tolist() if isinstance(value, np.ndarray) else value}"
            for name, value in data.items()
        )
    return described(data)


def drawn(family: Family[ProgramProblem], seed: int) -> Any:
    """Sample data of a family, the largest of a few.

    On the simplest data most formulations agree.

    Parameters
    ----------
    family : Family[ProgramProblem]
        Family with a strategy.
    seed : int
        Seed of the sample.

    Returns
    -------
    object
        Data.

    Raises
    ------
    ValueError
        If the family has no strategy.
    """
    return max(
        drawn_examples(get_strategy(family), TRIED_OUT, seed), key=lambda data: len(exactly(data))
    )


def refutation(id: str, examples: int = EXAMPLES, seed: int = 0) -> Refutation | None:
    """Return the smallest sampled instance on which a formulation has another optimum.

    Its optimum is compared with that of the family's first formulation.

    Parameters
    ----------
    id : str
        Id of a formulation of a user-defined family.
    examples : int, default EXAMPLES
        Number of sampled instances.
    seed : int, default 0
        Seed of the samples.

    Returns
    -------
    Refutation or None
        Instance; None if none is found.

    Raises
    ------
    KeyError
        If the id is unknown.
    ValueError
        If the family has no strategy.
    """
    from equimargin.formulations import REGISTRY

    entry = REGISTRY[id]
    return _smallest(
        program_families()[entry.family],
        lambda problem: value_complaint(entry, problem),
        examples,
        seed,
    )


def check_own_formulation(
    entry: Formulation, examples: int = EXAMPLES, seed: int = 0
) -> Refutation | None:
    """Check a formulation of a user-defined family on sampled instances.

    Parameters
    ----------
    entry : Formulation
        Formulation in the registry.
    examples : int, default EXAMPLES
        Number of sampled instances.
    seed : int, default 0
        Seed of the samples.

    Returns
    -------
    Refutation or None
        Instance that refutes a negative control, as required; None for other
        formulations.

    Raises
    ------
    AssertionError
        If its optimum differs from that of the family's first formulation, its maps
        fail, or no instance refutes a negative control; the message has the smallest
        instance.
    ValueError
        If the family has no strategy.
    """
    family, seen = program_families()[entry.family], list[ProgramProblem]()

    def complaint(problem: ProgramProblem) -> str:
        if entry.refusal(problem) is not None:
            return ""
        seen.append(problem)
        message = value_complaint(entry, problem)
        return message if message or entry.control else _complaint_of_maps(entry, problem)

    refuted = _smallest(family, complaint, examples, seed)
    if not seen:
        raise AssertionError(f"{entry.id} supports none of the {examples} sampled instances")
    if refuted is not None and not entry.control:
        raise AssertionError(str(refuted))
    if refuted is None and entry.control:
        raise AssertionError(
            f"{entry.id} is a negative control, but has the optimum of {family.id} on all "
            f"{len(seen)} sampled instances"
        )
    return refuted


def check_own_solver(
    solver: RegisteredSolver[Any], examples: int = EXAMPLES, seed: int = 0
) -> None:
    """Check a solver of a user-defined family on sampled instances.

    The values of its results must be the optimum within its declared accuracy. It may
    refuse data by `applies`, or by a ValueError.

    Parameters
    ----------
    solver : RegisteredSolver
        Entry of SOLVERS.
    examples : int, default EXAMPLES
        Number of sampled instances.
    seed : int, default 0
        Seed of the samples.

    Raises
    ------
    AssertionError
        If a result has another value, is missing, or cannot be made feasible; the
        message has the smallest instance.
    """
    family, seen = program_families()[solver.families[0]], list[ProgramProblem]()

    def complaint(problem: ProgramProblem) -> str:
        proven = optimum(problem)
        finite = isfinite(proven.lower) and isfinite(proven.upper)
        if not finite or solver.refusal(problem) is not None:
            return ""
        try:
            solution: Any = solver.run(problem, Limits(time_limit=SECONDS), None)
        except ValueError:
            return ""
        if solution.status is not Status.OPTIMAL:
            return f"{solver.name}: {solution.reason}"
        try:
            value = worth(problem, solution).interval
        except ValueError as wrong:
            return f"{solver.name}: {wrong}"
        seen.append(problem)
        apart = max(value.lower - proven.upper, proven.lower - value.upper)
        rounding = stated_rounding(problem, solution.formulation)
        if apart <= max(max(solution.accuracy, DIFFERENT) * proven.interval.size, rounding):
            return ""
        return (
            f"{solver.name} has the value {value.upper!r}, where the optimum is {proven}, and its "
            f"declared accuracy is {solution.accuracy:.0e} of the size of the objective's terms"
        )

    refuted = _smallest(family, complaint, examples, seed)
    if refuted is not None:
        raise AssertionError(str(refuted))
    if not seen:
        raise AssertionError(f"{solver.name} supports none of the {examples} sampled instances")


def value_complaint(entry: Formulation, problem: ProgramProblem) -> str:
    """Return a message if a proven optimum differs from the first formulation's.

    Parameters
    ----------
    entry : Formulation
        Formulation in the registry.
    problem : ProgramProblem
        Problem of its family.

    Returns
    -------
    str
        Message; empty if the optima may be equal.
    """
    if entry.refusal(problem) is not None:
        return ""
    own, due = optimum(problem, entry.id), optimum(problem)
    apart = max(own.lower - due.upper, due.lower - own.upper)
    differs = apart > max(DIFFERENT * due.interval.size, stated_rounding(problem, entry.id))
    return (
        f"{entry.id} has the optimum {own}, and {problem.definition.id} has {due}"
        if differs
        else ""
    )


def _complaint_of_maps(entry: Formulation, problem: ProgramProblem) -> str:
    """Return the failure of to_canonical, from_canonical or printed, if they are defined."""
    own, due = optimum(problem, entry.id), optimum(problem)
    message = "" if entry.printed is None else _complaint_of_printed(entry, problem)
    if not (isfinite(own.upper) and isfinite(due.upper)):
        # Without a finite optimum there is no optimal point to map.
        return message
    if not message and entry.to_canonical is not None and own.x is not None:
        given = entry.to_canonical(problem.values_at(entry.id, own.x), problem.data)
        message = _complaint_of_point(
            f"the point that {entry.id} maps to the first formulation",
            problem.definition,
            given,
            problem,
            due,
        )
    if not message and entry.from_canonical is not None and due.x is not None:
        given = entry.from_canonical(problem.values_at(problem.definition.id, due.x), problem.data)
        message = _complaint_of_point(
            f"the point that {entry.id} maps from the first formulation", entry, given, problem, due
        )
    return message


def _complaint_of_point(
    what: str, entry: Formulation, given: Any, problem: ProgramProblem, due: ProvenOptimum
) -> str:
    program = problem.program(entry.id)
    try:
        completed_point = completed(program, given, SECONDS)
    except ValueError as wrong:
        return f"{what} is no point of {entry.id}: {wrong}"
    worth = float(entry.value(program.stated(completed_point.objective), problem.data))
    off = max(due.lower - worth, worth - due.upper)
    if off > OPTIMAL * due.interval.size or completed_point.moved > OPTIMAL:
        return (
            f"{what} has the value {worth!r} in {entry.id}, moved by {completed_point.moved:.1e}, "
            f"where the optimum is {due}"
        )
    return ""


def _complaint_of_printed(entry: Formulation, problem: ProgramProblem) -> str:
    """Return a message if `printed` differs from the objective at random variables."""
    assert entry.printed is not None
    stated, rng = entry.make_problem(problem.data), np.random.default_rng(0)
    for variable in stated.variables():
        variable.save_value(np.abs(rng.normal(size=variable.shape)))
    values = {variable.name(): np.asarray(variable.value) for variable in stated.variables()}
    declared, printed = (
        float(stated.objective.args[0].value),
        float(entry.printed(values, problem.data).objective),
    )
    if abs(declared - printed) <= 1e-8 * max(1.0, abs(declared)):
        return ""
    return f"{entry.id} declares {declared!r}, its printed formula is {printed!r}"


def _smallest(
    family: Family[ProgramProblem],
    complaint: Callable[[ProgramProblem], str],
    examples: int,
    seed: int,
) -> Refutation | None:
    """Return the smallest sampled instance with a complaint.

    Raises
    ------
    AssertionError
        If a function raises, with the smallest such instance.
    """
    refutations: list[Refutation] = []

    def refutes(data: Any) -> bool:
        try:
            message = complaint(family(data))
        # A user-defined function may raise any exception.
        except Exception as failure:
            raise AssertionError(f"{what_was_raised(failure)}, on {exactly(data)}") from failure
        if message:
            refutations.append(Refutation(data, message))
        return bool(message)

    try:
        with kept_from_quitting():
            hypothesis.find(
                get_strategy(family), refutes, settings=unhurried(examples), random=Random(seed)
            )
    except hypothesis.errors.NoSuchExample:
        return None
    return refutations[-1]


def drawn_examples(strategy: Any, count: int, seed: int | str) -> list[Any]:
    """Return examples of a strategy, the same for a seed, the simplest first.

    Parameters
    ----------
    strategy : SearchStrategy
        Strategy of the examples.
    count : int
        Maximum number of examples.
    seed : int or str
        Seed of the samples.
    """
    sampled: list[Any] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(unhurried(count), phases=[hypothesis.Phase.generate])
    @hypothesis.given(strategy)
    def collect(example: Any) -> None:
        sampled.append(example)

    with kept_from_quitting():
        collect()
    return sampled


def unhurried(examples: int) -> hypothesis.settings:
    """Return settings without a time limit per example.

    Parameters
    ----------
    examples : int
        Maximum number of examples.
    """
    slow = list(hypothesis.HealthCheck)
    return hypothesis.settings(
        max_examples=examples,
        deadline=None,
        database=None,
        report_multiple_bugs=False,
        suppress_health_check=slow,
    )


def get_strategy(family: Family[ProgramProblem]) -> Any:
    """Return the strategy of a family's data, created now if the family has a function.

    Parameters
    ----------
    family : Family[ProgramProblem]
        Family of programs.

    Returns
    -------
    SearchStrategy
        Strategy.

    Raises
    ------
    ValueError
        If the family has no strategy.
    """
    if family.data is None:
        raise ValueError(
            f"the family {family.id} has no data strategy; define one by "
            f"Family({family.id!r}, ..., data=strategy)"
        )
    return family.data if isinstance(family.data, SearchStrategy) else family.data()
