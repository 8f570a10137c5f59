"""A problem of a family that somebody brings: the family at given data."""

from __future__ import annotations

import time
from collections.abc import Mapping
from copy import copy, deepcopy
from importlib import import_module
from math import inf
from typing import Any, Self

import numpy as np

from equimargin.formulations.formulation import REGISTRY, Formulation
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.base import AnyProblem, Kind
from equimargin.formulations.programs import Program
from equimargin.formulations.programs.rational import Vector
from equimargin.formulations.programs.reading import READINGS
from equimargin.formulations.refusal import Refusal
from equimargin.proofs.families.formulation import program_of_formulation
from equimargin.proofs.families.optimum import (
    LEAST_SECONDS,
    SECONDS,
    ProvenOptimum,
    proven_by,
    proven_optimum,
)


class OwnProblem(AnyProblem):
    """A family at given data, which are copied.

    The rest is found in the registry by the family's id, so that it can be
    sent to another process; there `module` is imported.

    Parameters
    ----------
    family : its id.  data : as the family's functions take them.  module : whose import enters the family.
    """

    def __init__(self, family: str, data: Any, module: str) -> None:
        self._family, self._data, self.module = family, deepcopy(data), module
        self._programs: dict[tuple[str, int], Program] = {}
        self._optima: dict[tuple[str, int], ProvenOptimum] = {}
        self._limit, self._until = SECONDS, inf

    def __getstate__(self) -> dict[str, Any]:
        """What is sent to another process: not the programs, which are large and soon compiled again."""
        return {**vars(self), "_programs": {}}

    def __repr__(self) -> str:
        """One line: the family and its data."""
        return f"<OwnProblem {self.family}: {described(self._data)}>"

    @property
    def family(self) -> str:
        """The id of the family."""
        return self._family

    @property
    def data(self) -> Any:
        """The data, copied for whoever asks: what a function changes in its own copy changes no other answer."""
        return deepcopy(self._data)

    @property
    def formulations(self) -> dict[str, Formulation]:
        """The formulations of the family by their ids, the definition first.

        Raises
        ------
        LookupError : a family that has none, or that importing its module does not enter.
        """
        if not any(entry.family == self.family for entry in REGISTRY.values()):
            import_module(self.module)
        found = {id: entry for id, entry in REGISTRY.items() if entry.family == self.family}
        if not found:
            raise LookupError(f"the family {self.family} has no formulation, or importing {self.module} does not enter it")
        return found

    @property
    def definition(self) -> Formulation:
        """The formulation whose optimum is the family's."""
        return next(iter(self.formulations.values()))

    def proven_within(self, seconds: float, total: float) -> Self:
        """The problem, with a limit on the proof of each optimum, and on all of them from now on."""
        limited = copy(self)
        limited._programs, limited._optima = {**self._programs}, {**self._optima}
        limited._limit, limited._until = min(seconds, SECONDS), time.time() + total
        return limited

    @property
    def seconds(self) -> float:
        """Seconds that a proof may take now; never 0."""
        return max(min(self._limit, self._until - time.time()), LEAST_SECONDS)

    def program(self, id: str) -> Program:
        """A formulation at the data as a program in rational numbers."""
        entry = self.formulations[id]
        if entry.key not in self._programs:
            self._programs[entry.key] = program_of_formulation(entry, self.data)
        return self._programs[entry.key]

    def optimum(self, id: str | None = None) -> ProvenOptimum:
        """What is proven of a formulation's optimum, on the family's scale; of the definition's where none is named.

        Raises
        ------
        ValueError : a problem that is no convex quadratic, linear or second-order cone program.
        """
        entry = self.definition if id is None else self.formulations[id]
        if entry.key not in self._optima:
            found = None if entry.prove is None else entry.prove(self.data, self.seconds)
            self._optima[entry.key] = self._by_program(entry) if found is None else proven_by(found)
        return self._optima[entry.key]

    def _by_program(self, entry: Formulation) -> ProvenOptimum:
        """Prove the optimum of a formulation in rational numbers."""
        return proven_optimum(self.program(entry.id), lambda value: entry.value(value, self.data), self.seconds)

    def admit(self, id: str) -> None:
        self.program(id)

    def rounding(self, id: str | None = None) -> float:
        """By how much roundings of the numbers that a formulation and the definition are stated in may move their optima apart.

        Raises
        ------
        ValueError : as `optimum`.
        """
        due = self.optimum().rounding
        return due if id in (None, self.definition.id) else due + self.optimum(id).rounding

    def values_at(self, id: str, x: Vector) -> dict[str, Array]:
        """The values of the variables of a formulation at a point of its program, by name."""
        columns, variables = self.program(id).columns, self.formulations[id].problem_of(self.data).variables()
        flat = {variable.name(): [float(v) for v in x[columns[variable.name()]]] for variable in variables}
        return {variable.name(): np.reshape(flat[variable.name()], variable.shape, order="F") for variable in variables}

    @property
    def kind(self) -> Kind:
        """What kind of program the definition is; where it cannot be made, the kind that fewest backends take."""
        try:
            program = self.program(self.definition.id)
        except Exception:  # a function of somebody else's may fail in any way: every answer then says so
            return "conic"
        return "conic" if program.cones else "quadratic" if any(program.P.rows) else "linear"

    @property
    def convex(self) -> bool:
        """Always: a formulation that does not follow cvxpy's rules is refused when it is declared."""
        return True

    @property
    def scale(self) -> float:
        """A thousandth of the sizes of the definition's terms at its optimum, as in `ProvenOptimum`; 1 where that is not known."""
        try:
            return self.optimum().size
        except Exception:  # as in `kind`
            return 1.0

    @property
    def constant(self) -> float:
        """The constant of the definition, on the family's scale; 0 where that is not known."""
        try:
            return self.optimum().constant
        except Exception:  # as in `kind`
            return 0.0

    @property
    def undeclarable(self) -> Refusal | None:
        """None: what a formulation does not take it refuses itself."""
        return None

    @property
    def note(self) -> str:
        """How the floats of its programs are read, where that is not as they are."""
        return "" if self.definition.reading == "exact" else f"in {self.family} {READINGS[self.definition.reading]}"

    @property
    def doubt(self) -> str:
        """That the definition's value map computes in floats, where it does."""
        try:
            return self.optimum().doubt
        except Exception:  # as in `kind`
            return ""

    def own_point(self, point: Any) -> Any:
        """Refuse a point to start from: the solvers of a brought family take none."""
        raise ValueError(f"solvers of the family {self.family} take no point to start from")


def described(data: Any) -> str:
    """Data in a line: of a mapping its names, with the shapes of arrays and the values of what is short."""
    if isinstance(data, Mapping):
        return ", ".join(f"{name} {_short(value)}" for name, value in data.items())
    return _short(data)


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.size > 1:
        return f"of {value.size} numbers" if value.ndim == 1 else " x ".join(map(str, value.shape))
    text = " ".join(str(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
