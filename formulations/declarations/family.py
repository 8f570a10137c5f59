"""Families: problems with one optimum and several formulations, built-in or user-defined."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from inspect import signature
from typing import Any, Generic, Literal, TypeVar, cast, overload

from equimargin.formulations.declarations.checks import DataCheck, Part
from equimargin.formulations.declarations.declaration import FormulaValue, unchanged
from equimargin.formulations.declarations.formulation import REGISTRY, Formulation
from equimargin.formulations.declarations.program_problem import ProgramProblem
from equimargin.formulations.declarations.source import Source
from equimargin.formulations.declarations.user_functions import Quit, kept
from equimargin.formulations.numeric.arguments import format_value
from equimargin.formulations.problem.arguments import read_arguments
from equimargin.formulations.problem.base import AnyProblem, CanonicalProblem
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.one_norm import OneNormProblem
from equimargin.formulations.problem.refusal import Refusal
from equimargin.formulations.programs.reading import READINGS, Reading
from equimargin.formulations.registry import Registry
from equimargin.formulations.rows.levels import Levels
from equimargin.formulations.rows.listed import Pairs, Signed, Tube

F = TypeVar("F", bound=Callable[..., Any])
P = TypeVar("P", bound=AnyProblem)
FAMILIES: Registry[Family[Any]] = Registry("family")
"""All families that have a formulation, by their ids."""
EDITIONS: Counter[str] = Counter()
"""Number of registrations of a formulation of each id."""


class Family(Generic[P]):
    """Family of problems with one optimum; `formulation` registers functions of its data.

    Parameters
    ----------
    id : str
        Name, unique among the families.
    source : Source or None
        Publication of the family; by default the id stands for it.
    problem : callable or None
        Constructor of a canonical problem, called with the data by name; a
        `functools.partial` of one fixes arguments that define the family. None for a
        `ProgramProblem`, which consists of its data.
    data : hypothesis.strategies.SearchStrategy, callable or None
        Strategy of the arguments of its functions, or a function that makes one, so
        that hypothesis is imported only if data are generated: in tests, and from the
        command line.
    check : callable or None
        Check that raises ValueError, with a sentence, for invalid data; it is called
        before a problem is made.
    load : callable or None
        Map from the name of a file to data, for the command line; None reads JSON and
        NPZ as a mapping of numbers and arrays by name, and any other file as a table,
        if `check` names the data (`needing`).
    reading : {'fractions', 'exact'}
        Interpretation of the floats of the compiled problem. "fractions" replaces a
        float within 4 ulp of a simple fraction by the fraction, so that 1 / (nu m) has
        its exact value; "exact" leaves every float the dyadic number that it is.

    Attributes
    ----------
    parts : mapping of str to Part
        Checks of the data by name, if `check` is a `needing`; empty otherwise.
    module : str
        Module of its first formulation, whose import registers the family; empty
        without one.
    when_replaced : list of callable
        Functions that are called when a family of this id replaces it, because its
        module is reloaded or its notebook cell runs again.

    Raises
    ------
    ValueError
        If the id has other characters than letters, digits, _, - and dots, or the
        reading is unknown.
    """

    @overload
    def __init__(
        self: Family[ProgramProblem],
        id: str,
        source: Source | None = None,
        *,
        data: Any = None,
        check: Callable[[Any], None] | None = None,
        load: Callable[[str], Any] | None = None,
        reading: Reading = "fractions",
    ) -> None: ...

    @overload
    def __init__(
        self,
        id: str,
        source: Source | None = None,
        *,
        problem: Callable[..., P],
        data: Any = None,
        check: Callable[[Any], None] | None = None,
        load: Callable[[str], Any] | None = None,
        reading: Reading = "fractions",
    ) -> None: ...

    def __init__(
        self,
        id: str,
        source: Source | None = None,
        *,
        problem: Callable[..., P] | None = None,
        data: Any = None,
        check: Callable[[Any], None] | None = None,
        load: Callable[[str], Any] | None = None,
        reading: Reading = "fractions",
    ) -> None:
        check_name(id)
        if reading not in READINGS:
            raise ValueError(f"unknown reading {reading!r}; known: {', '.join(READINGS)}")
        self.id, self.source, self.problem, self.reading = (
            id,
            source or Source(id, ""),
            problem,
            reading,
        )
        self.data, self.check, self.load = data, check and kept(check), load and kept(load)
        self.parts: Mapping[str, Part] = check.parts if isinstance(check, DataCheck) else {}
        self.module = ""
        self.when_replaced: list[Callable[[], object]] = []

    @property
    def is_canonical(self) -> bool:
        """True if the problems have canonical points.

        Every formulation then maps its variables to a canonical point.
        """
        return self.problem is not None

    @property
    def constructor(self) -> Callable[..., P] | None:
        """Constructor of the canonical problem; None for a `ProgramProblem`."""
        return self.problem.func if isinstance(self.problem, partial) else self.problem

    @property
    def settings(self) -> Mapping[str, Any]:
        """Constructor arguments that the family fixes, such as its loss."""
        return self.problem.keywords if isinstance(self.problem, partial) else {}

    def __call__(self, data: Any) -> P:
        """Return the problem of the family at these data.

        Parameters
        ----------
        data : mapping or object
            Data of the family; a mapping if the family is canonical.

        Returns
        -------
        AnyProblem
            Problem of the family.

        Raises
        ------
        ValueError
            If the family's check rejects the data, or they make a problem of another
            family.
        """
        if self.check is not None:
            try:
                self.check(data)
            except (ValueError, Quit) as reason:
                raise ValueError(f"data of {self.id}: {reason}") from None
        problem: Any = (
            ProgramProblem(self.id, data, self.module)
            if self.problem is None
            else self.problem(**data)
        )
        if problem.family != self.id:
            raise ValueError(f"these data make a problem of {problem.family}, not of {self.id}")
        return cast(P, problem)

    def with_problem_data(self, problem: CanonicalProblem) -> P:
        """Return the problem of this canonical family with the data of another problem.

        The data are points, labels, cost, kernel and weights.

        Parameters
        ----------
        problem : CanonicalProblem
            Problem of another family.

        Returns
        -------
        CanonicalProblem
            Problem of this family.

        Raises
        ------
        ValueError
            If the family takes other data.
        """
        if self.constructor is None:
            raise ValueError(
                f"{self.id} has no canonical problems, and cannot take data of another problem"
            )
        assert isinstance(problem, MarginProblem | OneNormProblem)
        _, given = read_arguments(problem)
        fixed = {"loss", "bias", "delta", *self.settings}
        given = {name: value for name, value in given.items() if name not in fixed} | {
            "kernel": problem.kernel
        }
        unknown = [name for name in given if name not in signature(self.constructor).parameters]
        if unknown:
            raise ValueError(f"{self.id} takes no {' and no '.join(unknown)}")
        result: Any = self(given)
        if not any(
            isinstance(problem.rows, kind) and isinstance(result.rows, kind)
            for kind in (Signed, Tube, Pairs, Levels)
        ):
            raise ValueError(f"{self.id} takes other data than {problem.family}")
        return cast(P, result)

    def __repr__(self) -> str:
        """Return the id and the formulations as text."""
        names = [entry.id for entry in REGISTRY.values() if entry.family == self.id]
        return f"<{type(self).__name__} {self.id}: {', '.join(names) or 'no formulation yet'}>"

    def formulation(  # noqa: PLR0913 - one keyword per property of an equation
        self,
        name: str,
        *sources: Source,
        latex: str = "",
        carries: Literal["function", "multipliers", "own"] = "own",
        control: bool = False,
        applies: Callable[[Any], str | Refusal | None] | None = None,
        in_features: bool = False,
        value: Callable[[Any, Any], Any] = unchanged,
        to_canonical: Callable[[Any, Any], Any] | None = None,
        from_canonical: Callable[[Any, Any], Mapping[str, Any]] | None = None,
        printed: Callable[[Mapping[str, Any], Any], FormulaValue] | None = None,
        id: str = "",
    ) -> Callable[[F], F]:
        """Register a function from data to a cvxpy problem; the first defines the optimum.

        Parameters
        ----------
        name : str
            Name within the family; the id is FAMILY.NAME.
        *sources : Source
            Publications of the equation; by default that of the family.
        applies : callable or None
            Map from data to the reason why this formulation cannot declare them, or
            None.
        id : str
            Id, if it does not begin with the family's.
        latex, carries, control, in_features, value, to_canonical, from_canonical,
        printed
            Attributes of `Formulation`.

        Returns
        -------
        callable
            Decorator that returns the function itself.

        Raises
        ------
        ValueError
            If the id, or that of the family, is registered already by another module;
            the id has other characters; or the first formulation is a control.
        """
        check_name(name)
        id = id or f"{self.id}.{name}"
        check_name(id)
        # Canonical families are compared at canonical points, which these arguments give.
        if self.is_canonical and (to_canonical is None or carries == "own"):
            raise ValueError(
                f"{id!r} needs to_canonical, a map from its variables to the family's "
                f"point, and carries='function' or 'multipliers', "
                "the part of the point that its variables represent"
            )

        def enter(function: F) -> F:
            stated = kept(function)
            if FAMILIES.get(self.id) is not self:
                if control:
                    raise ValueError(
                        f"{id!r} is the first formulation of its family, which defines the "
                        f"optimum and cannot be a negative control"
                    )
                self._enter(stated.__module__)
            if id in REGISTRY:
                raise ValueError(
                    f"{id!r} is registered already, by {REGISTRY[id].module}; take another "
                    f"name, or `del REGISTRY[{id!r}]` first"
                )
            EDITIONS[id] += 1
            entry = Formulation(
                id,
                name,
                self.id,
                sources or (self.source,),
                stated,
                latex,
                carries,
                control,
                applies and kept(applies),
                in_features,
                value if value is unchanged else kept(value),
                to_canonical and kept(to_canonical),
                from_canonical and kept(from_canonical),
                printed and kept(printed),
                self.reading,
                EDITIONS[id],
            )
            REGISTRY.enter(id, entry, entry.module)
            return function

        return enter

    def _enter(self, module: str) -> None:
        """Register the family with its first formulation.

        It replaces an earlier family of its id from the module.
        """
        previous = FAMILIES.get(self.id)
        self.module = module
        FAMILIES.enter(self.id, self, module)
        if previous is not None:
            for name in [
                name
                for name, entry in REGISTRY.items()
                if (entry.family, entry.module) == (self.id, module)
            ]:
                del REGISTRY[name]
            for forget in previous.when_replaced:
                forget()


def program_families() -> dict[str, Family[ProgramProblem]]:
    """Return the families without canonical points, by their ids."""
    return {id: family for id, family in FAMILIES.items() if not family.is_canonical}


def check_name(name: str) -> None:
    """Raise ValueError for a name that is unusable in patterns, files or command lines.

    Parameters
    ----------
    name : str
        Name of a family or formulation.
    """
    if not re.fullmatch(r"[^\W\d_][\w.-]*", name):
        raise ValueError(
            f"{format_value(name)} is no valid name: names consist of letters, digits, _, - "
            f"and dots, and begin with a letter"
        )
