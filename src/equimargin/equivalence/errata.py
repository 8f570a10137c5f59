"""Errata engine: misprints of a problem, and the evidence that detects each of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import Any, Literal

import numpy as np

from equimargin.equivalence.instances import choose_instances, drawn
from equimargin.equivalence.misprints import Misprint, misprints
from equimargin.equivalence.questions import same
from equimargin.equivalence.reproduction import Code
from equimargin.formulations import FAMILIES, REGISTRY
from equimargin.formulations.declarations.formulation import Formulation, formulation_data
from equimargin.formulations.declarations.symbols import DeclarationValues
from equimargin.formulations.declarations.user_functions import kept
from equimargin.formulations.numeric.arguments import check_count, positive
from equimargin.formulations.programs.reading import Reading
from equimargin.proofs.equivalence import Same, StatedProgram, Statement, name_statement, stated
from equimargin.proofs.equivalence.comparison import apart
from equimargin.proofs.equivalence.optimal_values import (
    Values,
    are_optimal_multipliers,
    is_optimal_at,
    read_multipliers,
    read_variables,
)
from equimargin.proofs.equivalence.stated import RefusalError, find_formulation
from equimargin.solvers.exact.program import Optimum
from equimargin.solvers.exact.program.clock import Clock, OutOfTime

Kind = Literal["rejected", "optimum", "predictions", "multipliers"]
"""Kind of evidence: the problem is rejected, or a part of its answer is another."""
KINDS: tuple[Kind, ...] = ("rejected", "optimum", "predictions", "multipliers")
"""All kinds of evidence, in the order of a table."""
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

    - rejected: the misprint states no convex problem that cvxpy compiles;
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


def detected(
    right: StatedProgram, wrong: StatedProgram, of: SymbolRoles, sought: Collection[Kind] = KINDS
) -> set[Kind]:
    """Return the kinds of evidence that distinguish two problems at one instance.

    Parameters
    ----------
    right, wrong : StatedProgram
        Problems with equal names of variables and constraints.
    of : Roles
        Parts of an answer.
    sought : collection of str
        Kinds that are examined.

    Raises
    ------
    ValueError
        If an optimum is not known, or a test of the answers is undecided.
    OutOfTime
        If the time is up.
    """
    seen: set[Kind] = set()
    values = right.optimum, wrong.optimum
    if apart(*values) and apart(*values, right.rounding + wrong.rounding):
        seen.add("optimum")
    if isinstance(right.outcome, Optimum) and isinstance(wrong.outcome, Optimum):
        parts = ((of.of_variables, _accepts_variables), (of.of_constraints, _accepts_multipliers))
        for kind, accepts in parts:
            if kind in sought and not (accepts(right, wrong, of) and accepts(wrong, right, of)):
                seen.add(kind)
    return seen


@dataclass(frozen=True)
class SymbolRoles:
    """Parts of a problem's answer.

    Parameters
    ----------
    variables : frozenset of str
        Variables that give the answer; the others, such as slacks, follow from them.
    in_multipliers : bool
        True if they are multipliers, so that those of its constraints give the function.
    """

    variables: frozenset[str]
    in_multipliers: bool

    @property
    def of_variables(self) -> Kind:
        """Kind of evidence of the variables."""
        return "multipliers" if self.in_multipliers else "predictions"

    @property
    def of_constraints(self) -> Kind:
        """Kind of evidence of the constraints' multipliers."""
        return "predictions" if self.in_multipliers else "multipliers"


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
        found: dict[Any, tuple[Any, StatedProgram]] = {}
        for instance in instances:
            try:
                right = stated(self.problem, instance, self.reading, self.clock)
                found.setdefault(right.optimum, (instance, right))
            except OutOfTime:
                break
            except ValueError:
                continue
        if not found:
            raise ValueError(
                f"no drawn instance has a known optimum of {name_statement(self.problem)}: give "
                f"more examples, or another strategy"
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
            return misprint.function
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


def roles(entry: Formulation | None, right: StatedProgram, instance: Any) -> SymbolRoles:
    """Return the parts of the answer of a problem at an instance.

    The variables of a canonical formulation are those that its map to a canonical point
    reads; of any other problem they are all variables.

    Parameters
    ----------
    entry : Formulation or None
        Formulation; None for a function of data.
    right : StatedProgram
        Problem at the instance.
    instance : object
        Instance.
    """
    every = frozenset(_names(right))
    if entry is None or entry.to_canonical is None or not FAMILIES[entry.family].is_canonical:
        return SymbolRoles(every, False)
    read = _Reads({name: np.zeros(v.shape) for name, v in _variables(right).items()})
    # A map may need values of an optimum; it has read its variables before.
    with suppress(Exception):
        entry.to_canonical(read, formulation_data(instance))
    return SymbolRoles(frozenset(read.names) & every or every, entry.carries == "multipliers")


class _Reads(DeclarationValues):
    """Values by name, with a record of the names read."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__(values, lambda name: None)
        self.names: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.names.add(name)
        return super().__getitem__(name)


def _variables(right: StatedProgram) -> dict[str, Any]:
    return {variable.name(): variable for variable in right.problem.variables()}


def _accepts_variables(one: StatedProgram, other: StatedProgram, of: SymbolRoles) -> bool:
    """Return True if this problem has an optimum at the variables of another one's."""
    first, second = _optima(one, other)
    if (
        _are_alike(one, other)
        and one.program.is_feasible(second.x)
        and one.program.objective(second.x) == first.value
    ):
        return True
    mine, theirs, values = _names(one), _names(other), read_variables(other.program, second)
    given = {
        mine[name]: values[theirs[name]]
        for name in of.variables
        if name in mine and values.keys() >= {theirs.get(name)}
    }
    return is_optimal_at(one.program, first, given, one.clock.left)


def _accepts_multipliers(one: StatedProgram, other: StatedProgram, of: SymbolRoles) -> bool:
    """Return True if the multipliers of another problem's constraints are optimal in this one.

    A constraint that is missing has the multiplier 0. If an inequality has become an
    equation, the sign of its multiplier is a matter of convention, and both are tried.
    """
    first, second = _optima(one, other)
    if _are_alike(one, other) and one.program.is_optimal(first.x, second.y, second.z):
        return True
    given, choices = read_multipliers(other.program, second), list[Sequence[Values]]()
    for name, place in one.program.rows.items():
        size = place.stop - place.start
        values = given.get(name, (Fraction(0),) * size)
        if len(values) != size:
            continue
        signs = (1, -1) if _is_equation(one, name) != _is_equation(other, name) else (1,)
        choices.append([{name: tuple(sign * v for v in values)} for sign in signs])
    return any(
        are_optimal_multipliers(one.program, first, _merged(choice), one.clock.left)
        for choice in product(*choices)
    )


def _optima(one: StatedProgram, other: StatedProgram) -> tuple[Optimum, Optimum]:
    first, second = one.outcome, other.outcome
    assert isinstance(first, Optimum)
    assert isinstance(second, Optimum)
    return first, second


def _are_alike(one: StatedProgram, other: StatedProgram) -> bool:
    """Return True if two programs have the same variables and constraints in the same places."""
    first, second = one.program, other.program
    sizes = [(p.n, len(p.b), len(p.h), p.cones) for p in (first, second)]
    columns = [
        {name: of.program.columns.get(own) for name, own in _names(of).items()}
        for of in (one, other)
    ]
    return sizes[0] == sizes[1] and columns[0] == columns[1] and first.rows == second.rows


def _names(of: StatedProgram) -> dict[str, str]:
    """Return the variables' names, by names that are equal in every call of a function.

    cvxpy numbers the variables without a name; they are identified by their order.
    """
    variables = sorted(of.problem.variables(), key=lambda variable: variable.id)
    unnamed = [v.name() for v in variables if v.name() == f"var{v.id}"]
    numbered = {name: f"unnamed {k} of {len(unnamed)}" for k, name in enumerate(unnamed, start=1)}
    return {numbered.get(v.name(), v.name()): v.name() for v in variables}


def _merged(parts: Sequence[Values]) -> Values:
    return {name: values for part in parts for name, values in part.items()}


def _is_equation(of: StatedProgram, name: str) -> bool | None:
    """Return True if a constraint is an equation, None if there is none of this name."""
    place = of.program.rows.get(name)
    return None if place is None else place.stop <= len(of.program.b)


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
