"""How somebody brings a family of problems: functions from data to cvxpy problems, and functions that solve them.

    ocsvm = family("ocsvm", data=strategy, source=Source("Schölkopf 2001", "(5)-(6)"))

    @ocsvm.formulation("primal")
    def primal(d): ... return cp.Problem(...)

    @ocsvm.solver("libsvm", accuracy=1e-6)
    def by_libsvm(d): ... return "dual", {"a": a}

The first formulation is the definition: its optimum is the family's. `ocsvm(data)` is a
problem for `compare`, `declare`, `judge`; and `check_formulation` and `check_solver`
draw data from the strategy.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from importlib import import_module
from inspect import cleandoc
from typing import Any, TypeVar

from equimargin.formulations.declaration import REGISTRY, Declaration, Source
from equimargin.formulations.numeric.arguments import shown
from equimargin.formulations.programs.reading import READINGS, Reading
from equimargin.formulations.refusal import Refusal
from equimargin.proofs.families.formulation import OwnFormulation, refusal_of_data, unchanged
from equimargin.proofs.families.problem import OwnProblem
from equimargin.proofs.families.solution import OwnSolution, solved
from equimargin.solvers.interrupt import Quit, kept
from equimargin.solvers.needs import Needs
from equimargin.solvers.registry import SOLVERS, Entry
from equimargin.solvers.solution import Limits

F = TypeVar("F", bound=Callable[..., Any])
FAMILIES: dict[str, OwnFamily] = {}
"""All families that were brought, by their ids."""
EDITIONS: Counter[str] = Counter()
"""How often a formulation of each id has been entered."""
LEAST_ACCURATE = 1e-3
"""The largest accuracy that a solver may admit, relative to the optimum: the referee
takes less accurate answers for failed ones."""


def family(
    id: str,
    data: Any = None,
    source: Source | None = None,
    *,
    reading: Reading = "fractions",
    load: Callable[[str], Any] | None = None,
    check: Callable[[Any], None] | None = None,
) -> OwnFamily:
    """Enter a family of convex quadratic, linear or second-order cone problems.

    Parameters
    ----------
    id : of no other family.
    data : a hypothesis strategy of whatever its functions take, or a function that
        makes one, so that hypothesis is imported only where data are drawn: in tests,
        and from the command line.
    source : where the family is printed; by default its own id.
    reading : how floats of the compiled problems are read: "fractions" takes one within
        4 ulp of a simple fraction for that fraction, so that 1 / (nu m) is what it
        says; "exact" takes every float as the dyadic number that it is.
    load : from the name of a file to data, for the command line; by default JSON and
        NPZ become a mapping of numbers and arrays by name.
    check : raises ValueError, with a sentence, at data that the family does not have;
        it is called before a problem is made.

    Returns
    -------
    OwnFamily : `.formulation` and `.solver` enter functions; called with data it is a problem.

    Raises
    ------
    ValueError : an id that another family has, or with other characters than letters,
        digits, _, - and dots; an unknown reading.
    """
    _check_name(id)
    if reading not in READINGS:
        raise ValueError(f"unknown reading {reading!r}; known: {', '.join(READINGS)}")
    module = sys._getframe(1).f_globals.get("__name__", "__main__")
    known = {entry.family: entry.builder.__module__ for entry in REGISTRY.values()} | {id: f.module for id, f in FAMILIES.items()}
    if known.get(id, module) != module:
        raise ValueError(f"a family {id!r} is entered already, by {known[id]}; take another id")
    for name in [name for name, entry in REGISTRY.items() if entry.family == id]:
        del REGISTRY[name]  # the module is loaded again, or the cell of a notebook is run again
    for name in [name for name in SOLVERS if name.startswith(f"{id}.") and SOLVERS[name].families == (id,)]:
        del SOLVERS[name]
    FAMILIES[id] = OwnFamily(id, data, source or Source(id, ""), reading, load, module, check)
    return FAMILIES[id]


class OwnFamily:
    """A family that somebody brings; its attributes are the parameters of `family`, and module is where it is entered."""

    def __init__(
        self,
        id: str,
        data: Any,
        source: Source,
        reading: Reading,
        load: Callable[[str], Any] | None,
        module: str,
        check: Callable[[Any], None] | None,
    ) -> None:
        self.id, self.data, self.source, self.reading, self.module = id, data, source, reading, module
        self.load, self.check = load and kept(load), check and kept(check)

    def __call__(self, data: Any) -> OwnProblem:
        """The problem of the family at these data, which are copied.

        Raises
        ------
        ValueError : data that the family's check refuses.
        """
        if self.check is not None:
            try:
                self.check(data)
            except (ValueError, Quit) as reason:
                raise ValueError(f"data of {self.id}: {reason}") from None
        return OwnProblem(self.id, data, self.module)

    def __repr__(self) -> str:
        """The id and what has been entered."""
        names = [entry.id for entry in REGISTRY.values() if entry.family == self.id]
        return f"<OwnFamily {self.id}: {', '.join(names) or 'no formulation yet'}>"

    def formulation(
        self,
        name: str,
        *,
        value: Callable[[Any, Any], Any] = unchanged,
        source: Source | None = None,
        latex: str = "",
        control: bool = False,
        applies: Callable[[Any], str | Refusal | None] | None = None,
        **stronger: Any,
    ) -> Callable[[F], F]:
        """Enter a function from data to a cvxpy problem; the first is the definition.

        Parameters
        ----------
        name : within the family; the id is FAMILY.NAME.
        value : from a value of the objective, and data, to the family's scale;
            monotone. It gets exact fractions, infinities too.
        source : where it is printed; by default the family's.  latex : the equation.  control : whether it is wrong on purpose.
        applies : from data to the sentence why they cannot be declared so, or None.
        stronger : recover, express and printed, as in `OwnFormulation`: where they are
            written, `check_formulation` tests more. Of the definition also prove, the
            proof of problems too large for rational arithmetic.

        Raises
        ------
        ValueError : an id that is entered already, or with other characters; a first
            formulation that is a control.
        TypeError : another argument.
        """
        _check_name(name)
        id = f"{self.id}.{name}"
        unknown = stronger.keys() - {"recover", "express", "printed", "prove"}
        if unknown:
            raise TypeError(f"a formulation takes no argument {', '.join(sorted(unknown))}; it takes recover, express, printed and prove")

        def enter(function: F) -> F:
            if id in REGISTRY:
                raise ValueError(f"{id!r} is entered already, by {REGISTRY[id].builder.__module__}; take another name")
            if control and not any(entry.family == self.id for entry in REGISTRY.values()):
                raise ValueError(f"{id!r} is the first formulation of its family, its definition, and that cannot be wrong on purpose")

            def builder(problem: OwnProblem) -> Declaration:
                return entry.declaration(problem)

            parts: dict[str, Any] = {}
            parts.update((name, part and kept(part)) for name, part in stronger.items())
            _dressed(builder, function)
            EDITIONS[id] += 1
            entry = OwnFormulation(
                id,
                self.id,
                (source or self.source,),
                builder,
                latex,
                "own",
                control,
                refusal_of_data(applies and kept(applies)),
                stated=kept(function),
                value=value if value is unchanged else kept(value),
                reading=self.reading,
                edition=EDITIONS[id],
                **parts,
            )
            REGISTRY[id] = entry
            return function

        return enter

    def solver(
        self,
        name: str,
        *,
        algorithm: str = "",
        accuracy: float = 1e-6,
        reference: bool = True,
        applies: Callable[[Any], str | Refusal | None] | None = None,
        libraries: tuple[str, ...] = (),
        library: str = "",
    ) -> Callable[[F], F]:
        """Enter a function from data to an answer.

        The answer is a value of the family; or values of variables of the definition,
        by name; or the name of another formulation and values of its variables.
        Variables that it does not name are optimised.

        Parameters
        ----------
        name : within the family; the solver is called FAMILY.NAME.  algorithm : in a clause; by default the docstring's first line.
        accuracy : relative to the optimum, as the solver admits; at most 1e-3.  reference : whether "auto" never chooses it.
        applies : from data to the sentence why the solver does not take them, or None.
        libraries : modules that the function itself imports: they are imported before
            its clock starts.
        library : whose code solves the problem, by the backend's name where it is one;
            empty where that is the function's own.

        Raises
        ------
        ValueError : a name that another solver has, or with other characters; an
            accuracy that is not above 0 and at most 1e-3.
        """
        _check_name(name)
        if not 0 < accuracy <= LEAST_ACCURATE:
            raise ValueError(f"the accuracy of {self.id}.{name} is {accuracy}: it must be above 0 and at most {LEAST_ACCURATE}")

        refusal = refusal_of_data(applies and kept(applies))

        def enter(function: F) -> F:
            def run(problem: OwnProblem, limits: Limits, start: Any) -> OwnSolution:
                for module in libraries:
                    import_module(module)
                return solved(problem, f"{self.id}.{name}", kept(function), accuracy, limits.time_limit)

            _dressed(run, function)
            said = algorithm or cleandoc(function.__doc__ or "").partition("\n")[0]
            needs = Needs(OwnProblem, also=lambda problem: self._refusal(problem) or refusal(problem))
            entry = Entry(
                f"{self.id}.{name}",
                run,
                said,
                (self.id,),
                needs,
                reference,
                lambda problem: False,
                library=library,
            )
            SOLVERS.enter(entry)
            return function

        return enter

    def _refusal(self, problem: OwnProblem) -> Refusal | None:
        """Why a solver of this family does not take a problem, or None."""
        if problem.family != self.id:
            return Refusal(f"it is of the family {problem.family}, and this solver is for {self.id}")
        return None


def _check_name(name: str) -> None:
    """Refuse a name that no pattern, file or command line could have."""
    if not re.fullmatch(r"[^\W\d_][\w.-]*", name):
        raise ValueError(f"{shown(name)} is no name here: names consist of letters, digits, _, - and dots, and begin with a letter")


def _dressed(inner: Any, function: Callable[..., Any]) -> None:
    """Give an inner function the names, the module and the docstring of the one that somebody wrote, which a partial is made of."""
    while isinstance(function, partial):
        function = function.func
    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        if hasattr(function, name):  # a callable object has no name
            setattr(inner, name, getattr(function, name))
