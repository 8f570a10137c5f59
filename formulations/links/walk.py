"""Paths in the relation graph, from one formulation to another."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

from equimargin.formulations.declarations.formulation import REGISTRY
from equimargin.formulations.links.kinds import Equivalence, Link, NotEquivalent, same_problem
from equimargin.formulations.links.table import LINKS
from equimargin.formulations.problem.point import CanonicalPoint


@dataclass(frozen=True)
class Path:
    """Sequence of relations, each followed forwards or backwards.

    Parameters
    ----------
    steps : tuple of (Equivalence, bool)
        Relations, with True if followed forwards.
    """

    steps: tuple[tuple[Equivalence, bool], ...]

    def problem(self, problem: Any) -> Any:
        """Return the problem of the last formulation.

        Parameters
        ----------
        problem : Problem
            Problem of the first formulation.

        Returns
        -------
        Problem
            Problem of the last formulation.
        """
        return self._walk(problem)[-1]

    def value(self, value: float, problem: Any) -> float:
        """Return the optimum of the last formulation.

        Parameters
        ----------
        value : float
            Optimum of the first formulation.
        problem : Problem
            Problem of the first formulation.

        Returns
        -------
        float
            Optimum of the last formulation.
        """
        for (link, _), start in zip(self.steps, self._walk(problem), strict=False):
            value = link.value(value, start)
        return value

    def map(self, point: CanonicalPoint, problem: Any) -> CanonicalPoint:
        """Return a solution of the last formulation.

        Parameters
        ----------
        point : CanonicalPoint
            Solution of `problem`.
        problem : Problem
            Problem of the first formulation.

        Returns
        -------
        CanonicalPoint
            Point of the last formulation's problem.
        """
        for (link, forwards), start in zip(self.steps, self._walk(problem), strict=False):
            point = (link.forward if forwards else link.backward)(start, point)
        return point

    def _walk(self, problem: Any) -> list[Any]:
        problems = [problem]
        for link, forwards in self.steps:
            if not forwards and link.problem is not same_problem:
                raise ValueError(
                    f"the link from {link.a} to {link.b} has one direction: the problem of "
                    f"{link.b} does not determine that of {link.a}"
                )
            problems.append(link.problem(problems[-1]) if forwards else problems[-1])
        return problems


def path(a: str, b: str) -> Path:
    """Return the shortest sequence of equivalences from formulation `a` to `b`.

    Parameters
    ----------
    a, b : str
        Ids of formulations.

    Returns
    -------
    Path
        Path, empty if a is b.

    Raises
    ------
    KeyError
        If a formulation is unknown.
    ValueError
        If there is no path; the message has a counterexample if one is stored.
    """
    for id in (a, b):
        if id not in REGISTRY:
            raise KeyError(f"unknown formulation {id!r}")
    # Breadth-first search; only a relation between equal problems can be followed backwards.
    chains: dict[str, tuple[tuple[Equivalence, bool], ...]] = {a: ()}
    queue = deque([a])
    while queue:
        current = queue.popleft()
        for link in LINKS:
            if not isinstance(link, Equivalence):
                continue
            for start, end, forwards in ((link.a, link.b, True), (link.b, link.a, False)):
                if (
                    start == current
                    and end not in chains
                    and (forwards or link.problem is same_problem)
                ):
                    chains[end] = (*chains[current], (link, forwards))
                    queue.append(end)
    if b not in chains:
        statements = [
            link.statement
            for link in LINKS
            if isinstance(link, NotEquivalent) and {link.a, link.b} == {a, b}
        ]
        raise ValueError(
            f"{a} and {b} are not linked" + (f": {statements[0]}" if statements else "")
        )
    return Path(chains[b])


def of(id: str) -> list[Link]:
    """Return the relations of one formulation, equivalences first.

    Parameters
    ----------
    id : str
        Id of the formulation.

    Returns
    -------
    list of Link
        Relations.
    """
    return sorted(
        (link for link in LINKS if id in (link.a, link.b)),
        key=lambda link: isinstance(link, NotEquivalent),
    )
