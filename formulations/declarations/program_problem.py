"""Problems of which nothing but the data is known: their formulations are programs in rational numbers."""

from __future__ import annotations

import time
from collections.abc import Mapping
from copy import copy, deepcopy
from importlib import import_module
from math import inf
from typing import Any, Self

import numpy as np

from equimargin.formulations.declarations.formulation import REGISTRY, Formulation
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.base import AnyProblem, Kind
from equimargin.formulations.problem.refusal import Refusal
from equimargin.formulations.programs import Program
from equimargin.formulations.programs.rational import Vector
from equimargin.formulations.programs.reading import READINGS

SECONDS = 60.0
"""Seconds that the proof of one optimum may take.

Half of them are for an interval, the rest for an exact optimum where that is infinite.
"""
LEAST_SECONDS = 1e-3
"""Seconds of the shortest limit of a proof, where no time is left."""


class ProgramProblem(AnyProblem):
    """A family at given data, which are copied.

    The rest is found in the registry by the family's id, so that it can be sent to another
    process; there `module` is imported.

    Parameters
    ----------
    family : str
        Id of the family.
    data : object
        As the family's formulations take them.
    module : str
        Module whose import enters the family.

    Attributes
    ----------
    optima : dict
        What is proven of the optima of its formulations, by their keys: `proofs.program` keeps it here.
    """

    def __init__(self, family: str, data: Any, module: str) -> None:
        self._family, self._data, self.module = family, deepcopy(data), module
        self._programs: dict[tuple[str, int], Program] = {}
        self.optima: dict[tuple[str, int], Any] = {}
        self._limit, self._until = SECONDS, inf

    def __getstate__(self) -> dict[str, Any]:
        """Return what is sent to another process: not the programs, which are large and soon compiled again."""
        return {**vars(self), "_programs": {}}

    def __repr__(self) -> str:
        """Show the family and its data in a line."""
        return f"<ProgramProblem {self.family}: {described(self._data)}>"

    @property
    def family(self) -> str:
        """The id of the family."""
        return self._family

    @property
    def data(self) -> Any:
        """The data, copied at each call: what a function changes in its own copy changes no other answer."""
        return deepcopy(self._data)

    @property
    def formulations(self) -> dict[str, Formulation]:
        """The formulations of the family by their ids, the definition first.

        Raises
        ------
        LookupError
            If the family has none, or importing its module does not enter it.
        """
        if self.module and not any(entry.family == self.family for entry in REGISTRY.values()):
            import_module(self.module)
        found = {id: entry for id, entry in REGISTRY.items() if entry.family == self.family}
        if not found:
            raise LookupError(
                f"the family {self.family} has no formulation, or importing its module "
                f"{self.module} does not enter it"
            )
        return found

    @property
    def definition(self) -> Formulation:
        """The formulation whose optimum is the family's."""
        return next(iter(self.formulations.values()))

    def proven_within(self, seconds: float, total: float) -> Self:
        """Return the problem with a limit on the proof of each optimum, and on all of them from now on."""
        limited = copy(self)
        limited._programs, limited.optima = {**self._programs}, {**self.optima}
        limited._limit, limited._until = min(seconds, SECONDS), time.time() + total
        return limited

    @property
    def seconds(self) -> float:
        """Seconds that a proof may take now; never 0."""
        return max(min(self._limit, self._until - time.time()), LEAST_SECONDS)

    def program(self, id: str) -> Program:
        """Return a formulation at the data as a program in rational numbers.

        Raises
        ------
        ValueError
            If it is no convex quadratic, linear or second-order cone program.
        """
        entry = self.formulations[id]
        if entry.key not in self._programs:
            self._programs[entry.key] = entry.program(self.data)
        return self._programs[entry.key]

    def admit(self, id: str) -> None:
        """Refuse a formulation that is no program of a kind whose optimum can be proven."""
        self.program(id)

    def values_at(self, id: str, x: Vector) -> dict[str, Array]:
        """Return the values of a formulation's variables at a point of its program, by name."""
        columns, variables = (
            self.program(id).columns,
            self.formulations[id].problem_of(self.data).variables(),
        )
        flat = {
            variable.name(): [float(v) for v in x[columns[variable.name()]]]
            for variable in variables
        }
        return {
            variable.name(): np.reshape(flat[variable.name()], variable.shape, order="F")
            for variable in variables
        }

    @property
    def kind(self) -> Kind:
        """The kind of the definition's program; where it cannot be made, the kind that fewest backends take."""
        try:
            program = self.program(self.definition.id)
        except Exception:  # a user's function may fail in any way: every answer then says so
            return "conic"
        return "conic" if program.cones else "quadratic" if any(program.P.rows) else "linear"

    @property
    def convex(self) -> bool:
        """Always True: a formulation that does not follow cvxpy's rules is refused when it is declared."""
        return True

    @property
    def undeclarable(self) -> Refusal | None:
        """None: what a formulation does not take it refuses itself."""
        return None

    def own_point(self, point: Any) -> Any:
        """Refuse a point to start from: solvers of such a family take none."""
        raise ValueError(f"solvers of the family {self.family} take no point to start from")

    @property
    def note(self) -> str:
        """The reading of the floats of its programs, where they are not read as they are."""
        return (
            ""
            if self.definition.reading == "exact"
            else f"in {self.family} {READINGS[self.definition.reading]}"
        )


def described(data: Any) -> str:
    """Return data in a line: of a mapping its names, with the shapes of arrays and the values of what is short."""
    if isinstance(data, Mapping):
        return ", ".join(f"{name} {_short(value)}" for name, value in data.items())
    return _short(data)


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.size > 1:
        return f"of {value.size} numbers" if value.ndim == 1 else " x ".join(map(str, value.shape))
    text = " ".join(str(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
