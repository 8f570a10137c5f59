"""Families of a user: functions from data to cvxpy problems, and functions that solve them.

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

import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from inspect import cleandoc
from typing import Any, TypeVar

from equimargin.formulations.family import FAMILIES, Family, check_name, refusal_of_data
from equimargin.formulations.programs.reading import Reading
from equimargin.formulations.refusal import Refusal
from equimargin.formulations.source import Source
from equimargin.formulations.user_functions import kept
from equimargin.proofs.families.problem import OwnProblem
from equimargin.proofs.families.solution import OwnSolution, solved
from equimargin.solvers.registry import SOLVERS, RegisteredSolver
from equimargin.solvers.requirements import Requirements
from equimargin.solvers.solution import Limits

F = TypeVar("F", bound=Callable[..., Any])
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
    module = sys._getframe(1).f_globals.get("__name__", "__main__")
    entered = OwnFamily(
        id, source, problem=lambda data: OwnProblem(id, data, module), data=data, check=check, load=load, reading=reading, module=module
    )
    for name in [name for name in SOLVERS if name.startswith(f"{id}.") and SOLVERS[name].families == (id,)]:
        del SOLVERS[name]
    return entered


def brought() -> dict[str, OwnFamily]:
    """Return the families that users and plug-ins have entered, by their ids."""
    return {id: family for id, family in FAMILIES.items() if isinstance(family, OwnFamily)}


class OwnFamily(Family[OwnProblem]):
    """A family whose problems keep their data alone, and its method `solver`, which enters functions that solve them."""

    is_canonical = False

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
        check_name(name)
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
            requires = Requirements(OwnProblem, also=lambda problem: self._refusal(problem) or refusal(problem.data))
            entry = RegisteredSolver(
                f"{self.id}.{name}",
                run,
                said,
                (self.id,),
                requires,
                reference,
                lambda problem: False,
                library=library,
            )
            SOLVERS.enter(entry)
            return function

        return enter

    def _refusal(self, problem: OwnProblem) -> Refusal | None:
        """Return the reason why a solver of this family does not take a problem, or None."""
        if problem.family != self.id:
            return Refusal(f"it is of the family {problem.family}, and this solver is for {self.id}")
        return None


def _dressed(inner: Any, function: Callable[..., Any]) -> None:
    """Give an inner function the names, the module and the docstring of the one that somebody wrote, which a partial is made of."""
    while isinstance(function, partial):
        function = function.func
    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        if hasattr(function, name):  # a callable object has no name
            setattr(inner, name, getattr(function, name))
