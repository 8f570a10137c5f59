"""Errata engine: misprints of a problem, and the evidence that detects each of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any

import numpy as np

from equimargin.equivalence.instances import choose_instances, drawn
from equimargin.equivalence.misprints import Misprint, misprints
from equimargin.equivalence.questions import same
from equimargin.equivalence.reproduction import Code
from equimargin.formulations import FAMILIES, REGISTRY
from equimargin.formulations.declarations.formulation import Formulation
from equimargin.formulations.declarations.user_functions import kept
from equimargin.formulations.numeric.arguments import check_count, positive
from equimargin.formulations.programs.reading import Reading
from equimargin.proofs.equivalence import (
    NoProblem,
    Same,
    StatedProgram,
    Statement,
    name_statement,
    stated,
)
from equimargin.proofs.equivalence.answers import KINDS, Kind, SymbolRoles, detected, roles
from equimargin.proofs.equivalence.stated import RefusalError, find_formulation
from equimargin.solvers.exact.program.clock import Clock, OutOfTime

EXAMPLES = 100
"""Default of `examples`, the instances drawn to examine the misprints of a problem."""
EXAMINED = 24
"""Maximum number of drawn instances that are examined, spread over all sizes.

Most small instances are trivial: only the smallest of each optimum is examined.
"""
SECONDS = 300.0
"""Default time limit of all misprints of a problem, in seconds."""
SAME_SECONDS = 30.0
"""Time limit of the verdict on a misprint whose optima are equal, in seconds."""


@dataclass(frozen=True, eq=False)
class Mutant:
    """Misprint of a problem, and the evidence that detects it.

    Attributes
    ----------
    problem : str
        Name of the right problem.
    misprint : Misprint
        Change.
    seen : mapping of str to object
        Smallest instance drawn on which each kind of evidence detects the misprint; a
        kind that detects it on none is missing.
    instances : int
        Number of instances examined.
    same : Same or None
        Verdict on the two optima, if they are equal on all instances examined.
    """

    problem: str
    misprint: Misprint
    seen: Mapping[Kind, Any] = field(repr=False)
    instances: int
    same: Same | None = field(default=None, repr=False)

    @property
    def verdict(self) -> str:
        """Kinds of evidence that detect it, and whether the optima are proven to be equal."""
        if not self.seen and self.instances == 0:
            return "not examined"
        kinds = ", ".join(kind for kind in KINDS if kind in self.seen) or "none"
        return f"{kinds} (optima proven equal)" if self.is_proven_equal else kinds

    @property
    def is_proven_equal(self) -> bool:
        """True if an equivalence proof of the two optima was found on every instance."""
        return self.same is not None and self.same.verdict == "EQUAL"

    def record(self) -> dict[str, Any]:
        """Return the mutant as a JSON object."""
        return {
            "problem": self.problem,
            "mutation": self.misprint.mutation,
            "place": self.misprint.place,
            "verdict": self.verdict,
            "smallest": {kind: instance_text(data) for kind, data in self.seen.items()},
            "instances": self.instances,
            "equal": None if self.same is None else list(self.same.reasons),
        }


def mutants(
    problem: Statement,
    data: Any = None,
    *,
    examples: int = EXAMPLES,
    seed: int = 0,
    reading: Reading = "fractions",
    seconds: float = SECONDS,
) -> Iterator[Mutant]:
    """Yield the misprints of a problem, each with the evidence that detects it.

    The text of the problem's function is changed, one change at a time. On every drawn
    instance, from the smallest on, the exact answers of both are compared:

    - rejected: the misprint fails, or states no convex problem that cvxpy compiles;
    - optimum: the optima differ;
    - predictions: the two have different sets of optimal functions. Of a formulation
      in multipliers, the function is given by the multipliers of its constraints; of a
      family without canonical points, it is all variables;
    - multipliers: the two have different sets of optimal multipliers.

    A misprint whose optimum is equal on all of them is given to `same`, which finds
    another instance, or an equivalence proof.

    Parameters
    ----------
    problem : str or callable
        Id of a formulation or of a family, whose formulations are examined in turn; or
        a function of data that returns a cvxpy problem.
    data : SearchStrategy or None
        Hypothesis strategy of the data; by default small problems of the family.
    examples : int
        Number of drawn instances; two equal ones count once.
    seed : int
        Seed of the draws.
    reading : {"fractions", "exact"}
        Interpretation of the floats.
    seconds : float
        Time limit of every formulation in seconds. Misprints that are not reached are
        yielded with no instance.

    Yields
    ------
    Mutant
        Misprint, and the evidence.

    Raises
    ------
    KeyError, TypeError, ValueError
        As in `same`; a ValueError also if the text of a function is not known, or no
        drawn instance has a known optimum.
    """
    if isinstance(problem, str) and problem in FAMILIES:
        ids = [id for id, e in REGISTRY.items() if e.family == problem and not e.control]
        for id in ids:
            yield from mutants(
                id, data, examples=examples, seed=seed, reading=reading, seconds=seconds
            )
        return
    clock = Clock(positive(seconds, "seconds"))
    strategy = choose_instances(problem, None) if data is None else data
    entry = find_formulation(problem)
    examination = _Examination(problem, entry, reading, clock)
    examination.take(drawn(strategy, check_count(examples, "examples"), seed)[::-1])
    function = problem if entry is None else entry.stated
    assert callable(function)
    for misprint in misprints(function):
        yield examination.of(misprint, strategy, seed)


@dataclass(eq=False)
class _Examination:
    """Examination of the misprints of one problem on drawn instances."""

    problem: Statement
    entry: Formulation | None
    reading: Reading
    clock: Clock
    known: list[tuple[Any, StatedProgram, SymbolRoles]] = field(default_factory=list)

    def take(self, instances: Sequence[Any]) -> None:
        """Keep instances of all sizes, the first of each known optimum of the right problem."""
        found, reason = dict[Any, tuple[Any, StatedProgram]](), Exception("no instance is drawn")
        for instance in instances:
            try:
                right = stated(self.problem, instance, self.reading, self.clock)
                found.setdefault(right.optimum, (instance, right))
            except OutOfTime as late:
                reason = late
                break
            except ValueError as failure:
                reason = failure
        if not found:
            raise ValueError(
                f"no drawn instance has a known optimum of {name_statement(self.problem)} "
                f"({reason}); give more examples, another strategy, or more time"
            )
        kept_ones = list(found.values())
        spread = np.unique(np.linspace(0, len(kept_ones) - 1, EXAMINED).astype(int))
        for instance, right in (kept_ones[i] for i in spread):
            self.known.append((instance, right, roles(self.entry, right, instance)))

    def of(self, misprint: Misprint, strategy: Any, seed: int) -> Mutant:
        """Return a misprint with the evidence that detects it."""
        name = name_statement(self.problem)
        wrong, seen, examined = self._changed(misprint), dict[Kind, Any](), 0
        try:
            for instance, right, of in self.known:
                if "rejected" in seen or len(seen) == len(KINDS) - 1:
                    break
                kinds = self._kinds(right, wrong, instance, of, set(KINDS) - set(seen))
                examined += kinds is not None
                for kind in kinds or ():
                    seen.setdefault(kind, instance)
        except OutOfTime:
            return Mutant(name, misprint, seen, examined)
        if {"rejected", "optimum"} & set(seen) or self.clock.left <= 0:
            return Mutant(name, misprint, seen, examined)
        found = same(
            self.problem,
            wrong,
            strategy,
            seed=seed,
            reading=self.reading,
            seconds=min(self.clock.left, SAME_SECONDS),
        )
        if found.difference is not None:
            seen["optimum"] = found.difference.data
        return Mutant(name, misprint, seen, examined, found)

    def _changed(self, misprint: Misprint) -> Statement:
        """Return the misprinted problem."""
        if self.entry is None:
            return _raising(misprint.function)
        return replace(self.entry, stated=kept(misprint.function))

    def _kinds(
        self,
        right: StatedProgram,
        wrong: Statement,
        instance: Any,
        of: SymbolRoles,
        sought: Collection[Kind],
    ) -> set[Kind] | None:
        """Return the kinds of evidence at an instance; None if it decides nothing."""
        try:
            other = stated(wrong, instance, self.reading, self.clock)
            other.program  # noqa: B018 - a problem that is not compiled raises
        except RefusalError:
            return None
        except (ValueError, TypeError):
            return {"rejected"}
        try:
            return detected(right, other, of, sought)
        except ValueError:
            return None


def _raising(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Wrap a misprint, so that a result that is no problem is an error of the misprint.

    Such a result of a given function ends `same`.
    """

    @wraps(function)
    def called(data: Any) -> Any:
        result = function(data)
        problem = result[0] if isinstance(result, tuple) else result
        if not hasattr(problem, "get_problem_data"):
            raise NoProblem(f"it returns no cvxpy problem, but {type(problem).__name__}")
        return result

    return called


def instance_text(data: Any) -> str:
    """Return an instance as an expression of Python, or as text if it has none.

    Parameters
    ----------
    data : object
        Instance.
    """
    try:
        return Code().of(data)
    except ValueError:
        return repr(data)
