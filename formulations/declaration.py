"""What a printed problem is once it is declared, and the registry of all of them.

A printed problem is a formula of a document. Its declaration is a cvxpy problem whose variables, constraints and parameters have the names
that the formula gives them, and two maps: from the values of these variables to a canonical point, and back. The registry has an entry for
every printed problem, with its name, its source and the function that declares it. cvxpy is imported only when a problem is declared.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from equimargin.formulations.numeric.arguments import number
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.base import AnyProblem
from equimargin.formulations.problem.one_norm import Problem
from equimargin.formulations.problem.point import CanonicalPoint
from equimargin.formulations.refusal import Refusal

if TYPE_CHECKING:
    import cvxpy as cp

DOCUMENTS: dict[str, str] = {
    "T": "Yu and Kim, SVM Tutorial: Classification, Regression, and Ranking (2012)",
    "P": "Zapien, Gasso, Gärtner, Canu, Model Selection for Ranking SVM Using Regularization Path (2009)",
    "K": "Kuo, Lee, Lin, Large-scale Kernel RankSVM (2014)",
    "W": "Ranking SVM, encyclopedia page",
    "O": "Herbrich, Graepel, Obermayer, Support Vector Learning for Ordinal Regression (1999)",
}
"""The documents that print the problems, by the letters that stand for them in sources."""


def reciprocal(v: float) -> float:
    """1 / v for v >= 0, inf at 0."""
    return 1 / v if v > 0 else np.inf


COSTS: Mapping[str, Callable[[float], float]] = {
    "C": lambda v: v,
    "1/C": reciprocal,
    "lambda": reciprocal,
    "1/lambda": lambda v: v,
}
"""How C follows from the value of a declared problem's parameter, by the name of the parameter."""
HARD_AT_0 = "1/C"
"""The name of the one parameter that may be 0. It multiplies the squared multipliers of a dual, which at 0 is that of the hard margin.

All other parameters multiply the slacks or the norm. At 0 one of these would vanish, and the problem would be none of its family.
"""


@dataclass(frozen=True)
class Source:
    """Where a problem is printed: the document and the equations.

    document : a letter of DOCUMENTS, or what another document is called in short.  title : of that other one, with its authors and year.
    """

    document: str
    equations: str
    title: str = ""

    @property
    def full(self) -> str:
        """The document with its title, as far as it is known."""
        return self.title or DOCUMENTS.get(self.document, self.document)

    def __str__(self) -> str:
        return f"{self.document} {self.equations}"


@dataclass(frozen=True, eq=False)
class Printed:
    """The printed formula in numpy, at given values of its variables and parameters."""

    objective: float
    """The objective, in the formula's own units."""
    violations: Mapping[str, Any] = field(default_factory=dict)
    """By how much each constraint is violated, by name: a number or an array, at most 0 where the constraint is met."""


@dataclass(frozen=True, eq=False)
class Declaration:
    """A cvxpy problem with the names its equation gives to things.

    Its parameters may be given other values, and constraints may be added, replaced and taken out; the next solve takes them as they are
    then. `printed` and `value` depend on their arguments alone: they neither read nor write a variable or a parameter.
    """

    declared: Any
    """The problem that it was declared for: a canonical one, or one of a family that somebody brings."""
    objective: Any
    """The objective of the equation, `cp.Minimize` or `cp.Maximize`."""
    constraints: dict[str, Any]
    """The constraints of the equation, by name."""
    variables: dict[str, Any]
    """The variables of the equation, by name."""
    parameters: dict[str, Any]
    """The parameters of the equation, by name; no variable has the same name."""
    recover: Callable[[Declaration], CanonicalPoint]
    """The canonical point of the variables' present values."""
    express: Callable[[Any], dict[str, Any]]
    """The way back: values of the variables, by name, at a canonical point that `bounds/complete.py` has completed."""
    printed: Callable[[Mapping[str, Any]], Printed]
    """The printed formula in numpy, with the canonical problem's data, at values of the variables and parameters by name."""
    value: Callable[[float, Mapping[str, Any]], float] = lambda objective, parameters: objective
    """The value on the family's scale of a declared objective, at values of the parameters by name."""
    id: str = ""
    """Its id in the registry; empty for one that is not from there."""
    cost: Callable[[float], float] | None = None
    """C of the value of its one parameter; None where COSTS says it."""
    reference: Mapping[str, Any] | None = None
    """The values that the parameters had when it was declared, by name; filled in where it is None."""
    _made: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.reference is None:
            object.__setattr__(self, "reference", self.parameter_values)

    def __repr__(self) -> str:
        return f"<Declaration {self.id or 'of no formulation'}: {', '.join(self.variables)}; {', '.join(self.constraints)}>"

    def __str__(self) -> str:
        """The equation, as its formulation states it, and the names of what is in it; `print(declaration.problem)` is cvxpy's text."""
        equation = REGISTRY[self.id].statement.partition("\n\n")[0] if self.id in REGISTRY else str(self.objective)
        shapes = ", ".join(f"{name} {'x'.join(map(str, v.shape)) or 'a number'}" for name, v in self.variables.items())
        values = ", ".join(f"{name} = {v:g}" if np.ndim(v) == 0 else name for name, v in self.parameter_values.items())
        lines = [f"{self.id or 'a declaration'}: {' '.join(equation.split())}", f"variables: {shapes}"]
        lines += [f"parameters: {values}"] if values else []
        return "\n    ".join([*lines, f"constraints: {', '.join(self.constraints) or 'none'}", f"declared for {self.declared}"])

    @property
    def problem(self) -> cp.Problem:
        """The cvxpy problem of the present constraints, one object as long as these are the same: it keeps what cvxpy compiled."""
        import cvxpy as cp

        constraints = list(self.constraints.values())
        if "problem" not in self._made or list(map(builtins.id, self._made["constraints"])) != list(map(builtins.id, constraints)):
            self._made.update(constraints=constraints, problem=cp.Problem(self.objective, constraints))
        return self._made["problem"]

    @property
    def canonical(self) -> Problem:
        """The canonical problem that it declares, at the cost that its parameter says now; raises as `canonical_at` does."""
        return self.canonical_at(self.parameter_values)

    def canonical_at(self, parameters: Mapping[str, Any]) -> Problem:
        """The canonical problem that it declares at these values of its parameters, by name.

        Raises
        ------
        ValueError : the parameter has a value that is no cost; another parameter than the cost differs from what was declared.
        """
        assert self.reference is not None
        changed = [name for name, value in self.reference.items() if not np.array_equal(parameters[name], value)]
        declared: Problem = self.declared
        if not changed:
            return declared
        name = changed[0]
        if len(changed) > 1 or name not in COSTS:
            raise ValueError(
                f"the cost alone may be changed after a problem has been declared, and the parameters changed are {', '.join(changed)}: "
                "declare the changed problem anew"
            )
        if name == HARD_AT_0:
            wanted, least = "a finite number, at least 0", 0.0
        else:
            wanted, least = "a finite number above 0", np.nextafter(0.0, 1.0)
        value = number(parameters[name], f"the parameter {name}", wanted, lambda v: least <= v < np.inf)
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
        return {name: variable.value for name, variable in self.variables.items()} | self.parameter_values

    def multiplier(self, constraint: str) -> Array | None:
        """The present multiplier of a constraint, as cvxpy signs it; None before a solve."""
        dual = self.constraints[constraint].dual_value
        return None if dual is None else np.asarray(dual, dtype=np.float64)

    @property
    def point(self) -> CanonicalPoint:
        """The canonical point of the variables' present values."""
        return self.recover(self)

    def assign(self, completed: Any) -> None:
        """Give the variables their values at a canonical point that `bounds/complete.py` has completed for the present problem."""
        for name, value in self.express(completed).items():
            self.variables[name].value = value


@dataclass(frozen=True)
class Formulation:
    """A printed problem, and its declaration.

    Attributes
    ----------
    id : str
        Dotted name, of no other formulation.
    family : str
        Id of the family whose optimum it has.
    sources : tuple of Source
        Where it is printed.
    builder : callable
        Function that declares a problem of the family.
    latex : str
        The equation.
    carries : {"function", "multipliers", "own"}
        "function" if its variables are an f, "multipliers" if they are an alpha, "own" if no
        other formulation has them.
    control : bool
        True for a misprint or a negative control that is declared to come out as disagreeing;
        it is not counted in the family's verdict.
    applies : callable
        Refusal of a problem of the family that cannot be declared so all the same, or None.
    in_features : bool
        True if it is in w alone, and needs no Gram matrix where the kernel has explicit
        features.
    """

    id: str
    family: str
    sources: tuple[Source, ...]
    builder: Callable[[Any], Declaration]
    latex: str
    carries: Literal["function", "multipliers", "own"]
    control: bool = False
    applies: Callable[[Any], Refusal | None] = lambda problem: None
    in_features: bool = False

    @property
    def unknowns(self) -> str:
        """What formulations of the same unknowns have in common."""
        return self.id if self.carries == "own" else self.carries

    @property
    def statement(self) -> str:
        """The equation in words and symbols, as the declaring function states it."""
        return cleandoc(self.builder.__doc__ or "")

    def refusal(self, problem: AnyProblem) -> Refusal | None:
        """Why this problem cannot be declared so, or None."""
        if problem.family != self.family:
            return Refusal(f"{self.id} declares {self.family}, this problem is {problem.family}")
        undeclarable = problem.undeclarable_in_features if self.in_features else problem.undeclarable
        return undeclarable or self.applies(problem)


REGISTRY: dict[str, Formulation] = {}
"""All printed problems that can be declared, by their ids."""


def formulation(
    id: str,
    family: str,
    *sources: Source,
    latex: str,
    carries: Literal["function", "multipliers"],
    control: bool = False,
    applies: Callable[[Any], Refusal | None] = lambda problem: None,
    in_features: bool = False,
) -> Callable[[Callable[[Any], Declaration]], Callable[[Any], Declaration]]:
    """Enter a declaring function into the registry under its id.

    Parameters
    ----------
    id : str
        Dotted name, of no other formulation.
    family : str
        Id of the family whose optimum it has.
    *sources : Source
        Where it is printed.
    latex, carries, control, applies, in_features
        As in `Formulation`.

    Raises
    ------
    ValueError
        If the id is registered already.
    """

    def enter(builder: Callable[[Any], Declaration]) -> Callable[[Any], Declaration]:
        if id in REGISTRY:
            where = f"{REGISTRY[id].builder.__module__}.{REGISTRY[id].builder.__qualname__}"
            raise ValueError(f"{id!r} is registered already, by {where}; take another id, or `del REGISTRY[{id!r}]` first")
        REGISTRY[id] = Formulation(id, family, sources, builder, latex, carries, control, applies, in_features)
        return builder

    return enter


def declare(id: str, problem: AnyProblem) -> Declaration:
    """The printed problem `id` as a cvxpy problem over the data of `problem`.

    Parameters
    ----------
    id : a key of REGISTRY.  problem : MarginProblem, OneNormProblem or own problem of the formulation's family.

    Returns
    -------
    Declaration : `.problem` is the cvxpy problem, its parameters are set.

    Raises
    ------
    KeyError : an unknown id.  ValueError : a problem of another family, not convex, or too large.
    """
    if id not in REGISTRY:
        raise KeyError(f"unknown formulation {id!r}; known: {', '.join(sorted(REGISTRY))}")
    entry = REGISTRY[id]
    refusal = entry.refusal(problem)
    if refusal is not None:
        raise ValueError(str(refusal))
    return replace(entry.builder(problem), id=id)


def families() -> tuple[str, ...]:
    """The families of the registry, in the order of their first formulation."""
    return tuple(dict.fromkeys(entry.family for entry in REGISTRY.values()))
