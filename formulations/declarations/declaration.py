"""A formulation at given data: a cvxpy problem with names, and the maps between its variables and canonical points."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from equimargin.formulations.declarations.symbols import COSTS, HARD_AT_0, cp
from equimargin.formulations.numeric.arguments import check_number
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.base import CanonicalProblem
from equimargin.formulations.problem.one_norm import Problem
from equimargin.formulations.problem.point import CanonicalPoint


@dataclass(frozen=True, eq=False)
class FormulaValue:
    """The value of a printed formula at given values of its variables and parameters."""

    objective: float
    """The objective, in the formula's own units."""
    violations: Mapping[str, Any] = field(default_factory=dict)
    """The violation of each constraint, by name: a number or an array, at most 0 where the constraint is met."""


def unchanged(value: Any, data: Any) -> Any:
    """Return the value: the map of an objective that has the family's scale."""
    return value


@dataclass(frozen=True, eq=False)
class Declaration:
    """A cvxpy problem with the names its equation gives to things.

    Its parameters may be given other values, and constraints may be added, replaced and taken out; the next solve takes them as they are
    then. `printed` and `value` depend on their arguments alone: they neither read nor write a variable or a parameter.
    """

    declared: Any
    """The declared problem."""
    objective: Any
    """The objective of the equation, `cp.Minimize` or `cp.Maximize`."""
    constraints: dict[str, Any]
    """The constraints of the equation, by name."""
    variables: dict[str, Any]
    """The variables of the equation, by name."""
    parameters: dict[str, Any]
    """The parameters of the equation, by name; no variable has the same name."""
    to_canonical: Callable[[Declaration], CanonicalPoint]
    """The canonical point of the variables' present values."""
    from_canonical: Callable[[Any], dict[str, Any]]
    """Values of the variables, by name, at a canonical point that `bounds/complete.py` has completed."""
    printed: Callable[[Mapping[str, Any]], FormulaValue]
    """The printed formula, with the canonical problem's data, at values of the variables and parameters by name."""
    value: Callable[[float, Mapping[str, Any]], float] = unchanged
    """The value on the family's scale of a declared objective, at values of the parameters by name."""
    id: str = ""
    """The id of its formulation; empty where it has none."""
    statement: str = ""
    """The equation in words and symbols, as its formulation states it; empty where it has none."""
    cost: Callable[[float], float] | None = None
    """C of the value of its one parameter; None where COSTS says it."""
    reference: Mapping[str, Any] | None = None
    """The values that the parameters had when it was declared, by name; filled in where it is None."""
    _made: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.reference is None:
            object.__setattr__(self, "reference", self.parameter_values)

    def __repr__(self) -> str:
        return (
            f"<Declaration {self.id or 'of no formulation'}: {', '.join(self.variables)}; "
            f"{', '.join(self.constraints)}>"
        )

    def __str__(self) -> str:
        """The equation, as its formulation states it, and the names of what is in it; `print(declaration.problem)` is cvxpy's text."""
        equation = self.statement.partition("\n\n")[0] or str(self.objective)
        shapes = ", ".join(
            f"{name} {'x'.join(map(str, v.shape)) or 'a number'}"
            for name, v in self.variables.items()
        )
        values = ", ".join(
            f"{name} = {v:g}" if np.ndim(v) == 0 else name
            for name, v in self.parameter_values.items()
        )
        lines = [
            f"{self.id or 'a declaration'}: {' '.join(equation.split())}",
            f"variables: {shapes}",
        ]
        lines += [f"parameters: {values}"] if values else []
        return "\n    ".join(
            [
                *lines,
                f"constraints: {', '.join(self.constraints) or 'none'}",
                f"declared for {self.declared}",
            ]
        )

    @property
    def problem(self) -> cp.Problem:
        """The cvxpy problem of the present constraints, one object as long as these are the same: it keeps what cvxpy compiled."""
        constraints = list(self.constraints.values())
        if "problem" not in self._made or list(map(builtins.id, self._made["constraints"])) != list(
            map(builtins.id, constraints)
        ):
            self._made.update(
                constraints=constraints, problem=cp.Problem(self.objective, constraints)
            )
        return self._made["problem"]

    @property
    def canonical(self) -> Problem:
        """The canonical problem that it declares, at the cost that its parameter says now; raises as `canonical_at` does."""
        return self.canonical_at(self.parameter_values)

    def canonical_at(self, parameters: Mapping[str, Any]) -> Problem:
        """The canonical problem that it declares at these values of its parameters, by name.

        Raises
        ------
        ValueError
            The parameter has a value that is no cost; another parameter than the cost
            differs from what was declared.
        """
        assert self.reference is not None
        changed = [
            name
            for name, value in self.reference.items()
            if not np.array_equal(parameters[name], value)
        ]
        declared: Problem = self.declared
        if not changed:
            return declared
        name = changed[0]
        if len(changed) > 1 or name not in COSTS or not isinstance(declared, CanonicalProblem):
            raise ValueError(
                f"the cost alone may be changed after a problem has been declared, and the "
                f"parameters changed are {', '.join(changed)}: "
                "declare the changed problem anew"
            )
        if name == HARD_AT_0:
            wanted, least = "a finite number, at least 0", 0.0
        else:
            wanted, least = "a finite number above 0", np.nextafter(0.0, 1.0)
        value = check_number(
            parameters[name], f"the parameter {name}", wanted, lambda v: least <= v < np.inf
        )
        C = (self.cost or COSTS[name])(value)
        if "canonical" not in self._made or self._made["canonical"].C != C:
            self._made["canonical"] = declared.with_cost(C)
        made: Problem = self._made["canonical"]
        return made

    @property
    def parameter_values(self) -> dict[str, Any]:
        """The parameters' present values by name."""
        return {name: parameter.value for name, parameter in self.parameters.items()}

    @property
    def values(self) -> dict[str, Any]:
        """The present values of variables and parameters by name; a variable's is None before a solve."""
        return {
            name: variable.value for name, variable in self.variables.items()
        } | self.parameter_values

    def multiplier(self, constraint: str) -> Array | None:
        """The present multiplier of a constraint, as cvxpy signs it; None before a solve."""
        dual = self.constraints[constraint].dual_value
        return None if dual is None else np.asarray(dual, dtype=np.float64)

    @property
    def point(self) -> CanonicalPoint:
        """The canonical point of the variables' present values."""
        return self.to_canonical(self)

    def assign(self, completed: Any) -> None:
        """Give the variables their values at a canonical point that `bounds/complete.py` has completed for the present problem."""
        for name, value in self.from_canonical(completed).items():
            self.variables[name].value = value
