"""Declaration: a formulation at given data, as a cvxpy problem with named parts.

It includes the maps between its variables and canonical points.
"""

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
    """Value of a published formula at given values of its variables and parameters."""

    objective: float
    """Objective, in the formula's own units."""
    violations: Mapping[str, Any] = field(default_factory=dict)
    """Violation of each constraint, by name; at most 0 if the constraint is satisfied.

    A violation is a number or an array.
    """


def unchanged(value: Any, data: Any) -> Any:
    """Return the value unchanged: the map of an objective on the family's scale.

    Parameters
    ----------
    value : float
        Value of an objective.
    data : object
        Data of the formulation, unused.

    Returns
    -------
    float
        The value.
    """
    return value


@dataclass(frozen=True, eq=False)
class Declaration:
    """cvxpy problem with the names of its equation.

    Its parameters may be given other values, and constraints may be added, replaced and
    removed; the next solve uses their present state. `printed` and `value` depend on
    their arguments alone: they neither read nor write a variable or a parameter.
    """

    declared: Any
    """Declared problem."""
    objective: Any
    """Objective of the equation, `cp.Minimize` or `cp.Maximize`."""
    constraints: dict[str, Any]
    """Constraints of the equation, by name."""
    variables: dict[str, Any]
    """Variables of the equation, by name."""
    parameters: dict[str, Any]
    """Parameters of the equation, by name; no variable has one of these names."""
    to_canonical: Callable[[Declaration], CanonicalPoint]
    """Map to the canonical point of the variables' present values."""
    from_canonical: Callable[[Any], dict[str, Any]]
    """Map from a completed canonical point to values of the variables, by name.

    Points are completed by `bounds/complete.py`.
    """
    printed: Callable[[Mapping[str, Any]], FormulaValue]
    """Published formula, with the canonical problem's data.

    It is evaluated at values of the variables and parameters, by name.
    """
    value: Callable[[float, Mapping[str, Any]], float] = unchanged
    """Map from a declared objective, at parameter values by name, to the family's one."""
    id: str = ""
    """Id of its formulation; empty if it has none."""
    statement: str = ""
    """Equation as text and symbols, as its formulation states it; empty without one."""
    cost: Callable[[float], float] | None = None
    """Map from the value of its only parameter to C; None for the map in COSTS."""
    reference: Mapping[str, Any] = field(init=False)
    """Parameter values at the time of the declaration, by name."""
    _made: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "reference", self.parameter_values)

    def __repr__(self) -> str:
        return (
            f"<Declaration {self.id or 'of no formulation'}: {', '.join(self.variables)}; "
            f"{', '.join(self.constraints)}>"
        )

    def __str__(self) -> str:
        """Return the equation as its formulation states it, and the names of its parts.

        `print(declaration.problem)` prints cvxpy's text.
        """
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
        """cvxpy problem of the present constraints.

        While the constraints are unchanged, it is one object, in which cvxpy caches its
        compilation.
        """
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
        """Canonical problem that it declares, at the present value of its cost parameter.

        Raises as `canonical_at` does.
        """
        return self.canonical_at(self.parameter_values)

    def canonical_at(self, parameters: Mapping[str, Any]) -> Problem:
        """Return the canonical problem that it declares, at given parameter values.

        Parameters
        ----------
        parameters : mapping of str to float or ndarray
            Values of its parameters, by name.

        Returns
        -------
        Problem
            MarginProblem or OneNormProblem.

        Raises
        ------
        ValueError
            If the value of the cost parameter is no valid cost, or another parameter
            differs from its declared value.
        """
        # Another cost gives a canonical problem; any other changed parameter does not.
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
            others = [other for other in changed if other not in COSTS] or changed
            raise ValueError(
                f"only the cost may change after a declaration, not the parameters "
                f"{', '.join(others)}; declare the changed problem anew"
            )
        if name == HARD_AT_0:
            condition, least = "a finite number, at least 0", 0.0
        else:
            condition, least = "a finite number above 0", np.nextafter(0.0, 1.0)
        value = check_number(
            parameters[name], f"the parameter {name}", condition, lambda v: least <= v < np.inf
        )
        C = (self.cost or COSTS[name])(value)
        if "canonical" not in self._made or self._made["canonical"].C != C:
            self._made["canonical"] = declared.with_cost(C)
        problem: Problem = self._made["canonical"]
        return problem

    @property
    def parameter_values(self) -> dict[str, Any]:
        """Present values of the parameters, by name."""
        return {name: parameter.value for name, parameter in self.parameters.items()}

    @property
    def values(self) -> dict[str, Any]:
        """Present values of variables and parameters, by name.

        Variables are None before a solve.
        """
        return {
            name: variable.value for name, variable in self.variables.items()
        } | self.parameter_values

    def multiplier(self, constraint: str) -> Array | None:
        """Return the present multiplier of a constraint, with cvxpy's sign.

        Parameters
        ----------
        constraint : str
            Name of the constraint.

        Returns
        -------
        ndarray or None
            Multiplier in the shape of the constraint; None before a solve.
        """
        dual = self.constraints[constraint].dual_value
        return None if dual is None else np.asarray(dual, dtype=np.float64)

    @property
    def point(self) -> CanonicalPoint:
        """Canonical point of the variables' present values."""
        return self.to_canonical(self)

    def assign(self, completed: Any) -> None:
        """Set the variables to their values at a completed canonical point.

        Parameters
        ----------
        completed : CompletedPoint
            Point that `bounds/complete.py` has completed for the present problem.
        """
        for name, value in self.from_canonical(completed).items():
            self.variables[name].value = value
