"""Problems of families without canonical points, which consist of their data.

Their formulations are compiled to programs in rational numbers.
"""

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
"""Seconds: time limit of the proof of one optimum.

Half of it is for an interval, the rest for an exact optimum if the interval is
infinite.
"""
LEAST_SECONDS = 1e-3
"""Seconds: minimum time limit of a proof, if no time is left."""


class ProgramProblem(AnyProblem):
    """Problem of a family without canonical points, with a copy of the given data.

    Its formulations are found in the registry by the family's id. It can therefore be
    sent to another process, in which `module` is imported.

    Parameters
    ----------
    family : str
        Id of the family.
    data : object
        Arguments of the family's formulations.
    module : str
        Module whose import registers the family.

    Attributes
    ----------
    optima : dict
        Proven facts about the optima of its formulations, by their keys;
        `proofs.program` stores them here.
    """

    def __init__(self, family: str, data: Any, module: str) -> None:
        self._family, self._data, self.module = family, deepcopy(data), module
        self._programs: dict[tuple[str, int], Program] = {}
        self.optima: dict[tuple[str, int], Any] = {}
        self._limit, self._until = SECONDS, inf

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for another process.

        It excludes the programs, which are large and compile quickly.
        """
        return {**vars(self), "_programs": {}}

    def __repr__(self) -> str:
        """Return the family and its data on one line."""
        return f"<ProgramProblem {self.family}: {described(self._data)}>"

    @property
    def family(self) -> str:
        """Id of the family."""
        return self._family

    @property
    def data(self) -> Any:
        """Data, copied at each access.

        A function that changes its copy therefore affects no other result.
        """
        return deepcopy(self._data)

    @property
    def formulations(self) -> dict[str, Formulation]:
        """Formulations of the family by their ids, in the order of their registration.

        Raises
        ------
        LookupError
            If the family has none, or importing its module does not register it.
        """
        if self.module and not any(entry.family == self.family for entry in REGISTRY.values()):
            import_module(self.module)
        entries = {id: entry for id, entry in REGISTRY.items() if entry.family == self.family}
        if not entries:
            raise LookupError(
                f"the family {self.family} has no formulation, or importing its module "
                f"{self.module} does not register it"
            )
        return entries

    @property
    def definition(self) -> Formulation:
        """First formulation of the family, which defines its optimum."""
        return next(iter(self.formulations.values()))

    def proven_within(self, seconds: float, total: float) -> Self:
        limited = copy(self)
        limited._programs, limited.optima = {**self._programs}, {**self.optima}
        limited._limit, limited._until = min(seconds, SECONDS), time.time() + total
        return limited

    @property
    def seconds(self) -> float:
        """Seconds left for a proof, never 0."""
        return max(min(self._limit, self._until - time.time()), LEAST_SECONDS)

    def program(self, id: str) -> Program:
        """Return a formulation at the data as a program in rational numbers.

        Parameters
        ----------
        id : str
            Id of a formulation of the family.

        Returns
        -------
        Program
            Compiled program, cached.

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
        self.program(id)

    def values_at(self, id: str, x: Vector) -> dict[str, Array]:
        """Return the values of a formulation's variables at a point of its program, by name.

        Parameters
        ----------
        id : str
            Id of a formulation of the family.
        x : Vector
            Rational point of the program.

        Returns
        -------
        dict of str to ndarray
            Values in the shapes of the variables.
        """
        columns, variables = (
            self.program(id).columns,
            self.formulations[id].make_problem(self.data).variables(),
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
        """Class of the first formulation's program.

        If that cannot be compiled, the class that fewest backends support.
        """
        try:
            program = self.program(self.definition.id)
        # A user-defined function may fail in any way; every answer then reports it.
        except Exception:
            return "conic"
        return "conic" if program.cones else "quadratic" if any(program.P.rows) else "linear"

    @property
    def convex(self) -> bool:
        """Always True.

        A formulation that violates cvxpy's convexity rules raises when it is declared.
        """
        return True

    @property
    def undeclarable(self) -> Refusal | None:
        """None; a formulation itself reports data that it does not support."""
        return None

    def own_point(self, point: Any) -> Any:
        """Raise ValueError: solvers of such a family take no initial point.

        Parameters
        ----------
        point : object
            Initial point passed by the user.
        """
        raise ValueError(f"solvers of the family {self.family} take no initial point")

    @property
    def note(self) -> str:
        """Interpretation of the floats of its programs; empty if they are taken literally."""
        return (
            ""
            if self.definition.reading == "exact"
            else f"in {self.family} {READINGS[self.definition.reading]}"
        )


def described(data: Any) -> str:
    """Return data as one line of text.

    For a mapping these are its names, with the shapes of arrays and short values.

    Parameters
    ----------
    data : object
        Data of a family.

    Returns
    -------
    str
        Text without line breaks.
    """
    if isinstance(data, Mapping):
        return ", ".join(f"{name} {_short(value)}" for name, value in data.items())
    return _short(data)


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.size > 1:
        return f"of {value.size} numbers" if value.ndim == 1 else " x ".join(map(str, value.shape))
    text = " ".join(str(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
