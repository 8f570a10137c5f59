"""What the atlas says of a formulation: its equation, its code, its multipliers, its links, and its dual step by step."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from textwrap import dedent
from typing import Any, NamedTuple

from markupsafe import Markup

from equimargin.atlas.duals import Derivation, derivation, instance
from equimargin.formulations import declare, links
from equimargin.formulations.family import program_families
from equimargin.formulations.formulation import Formulation
from equimargin.formulations.links.kinds import Equivalence, Link, NotEquivalent
from equimargin.proofs import theorems
from equimargin.proofs.equivalence.duals import DUAL_OF

SIGNS = {
    "Equality": "an equation: of either sign",
    "Zero": "an equation: of either sign",
    "Inequality": "an inequality: at least 0",
    "NonPos": "an inequality: at least 0",
    "NonNeg": "an inequality: at least 0",
    "SOC": "a cone: within the dual cone",
}
"""What is known of the multiplier of a constraint, by the name of cvxpy's class."""


class Relation(NamedTuple):
    """A link as the page shows it.

    link : of the table.  other : the formulation that it leads to.  maps : what the two maps of points do, in sentences.
    theorem : file, line and statement in Coq, or None.  instance : the data of a counterexample, or "".
    """

    link: Link
    other: str
    maps: list[str]
    theorem: tuple[str, int, str] | None
    instance: str


def anchor(link: Link) -> str:
    """The place of a link on the pages of its two ends."""
    return f"{link.kind.replace(' ', '-')}-{address(link.a)}-{address(link.b)}"


def address(id: str) -> str:
    """The name of a page's file, without its ending: letters, digits, points, hyphens and underscores stay, others become ~code."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "._-") else f"~{ord(c):x}" for c in id)


def relations(id: str) -> list[Relation]:
    """The links of a formulation.

    Parameters
    ----------
    id : of the registry.
    """
    return [_relation(link, link.b if link.a == id else link.a) for link in links.of(id)]


def code(entry: Formulation) -> Markup:
    """The function that declares a formulation, and the private functions of its file that it calls, highlighted."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    function = inspect.unwrap(entry.stated)
    parts = [inspect.getsource(part) for part in (function, *_called(function))]
    return Markup(highlight("\n\n".join(map(dedent, parts)), PythonLexer(), HtmlFormatter(nowrap=True)))


def multipliers(entry: Formulation) -> list[tuple[str, str]]:
    """The constraints of a printed problem by name, and the sign of the multiplier of each; empty for families without a small instance."""
    if entry.family in program_families():
        return []
    problem = instance(entry.family)
    if entry.refusal(problem) is not None:
        return []
    declared = declare(entry.id, problem).constraints
    return [(name, SIGNS.get(type(constraint).__name__, "a constraint of cvxpy")) for name, constraint in declared.items()]


@cache
def dual_of(id: str) -> Derivation | None:
    """The derivation of the dual that a formulation is, or has; None where none is declared."""
    primal = id if id in DUAL_OF else next((one for one, other in DUAL_OF.items() if other == id), None)
    return None if primal is None else derivation(primal)


def _called(function: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """The functions of the same module, whose names begin with an underscore, that a function calls."""
    module = import_module(function.__module__)
    for name in dict.fromkeys(re.findall(r"\b(_\w+)\(", inspect.getsource(function))):
        found = vars(module).get(name)
        if inspect.isfunction(found) and found.__module__ == function.__module__:
            yield found


def _relation(link: Link, other: str) -> Relation:
    maps = []
    if isinstance(link, Equivalence):
        for one, way in ((f"{link.a} to {link.b}", link.forward), (f"{link.b} to {link.a}", link.backward)):
            said = (inspect.getdoc(way) or "").partition("\n")[0]
            if said:
                maps.append(f"{one}: {said}")
    theorem = None
    if link.theorem:
        file = link.theorem.partition(".")[0]
        theorem = (file, theorems.line_of(link.theorem), theorems.statement(link.theorem))
    shown = "\n\n".join(map(_data, link.counterexample())) if isinstance(link, NotEquivalent) else ""
    return Relation(link, other, maps, theorem, shown)


def _data(problem: Any) -> str:
    """A small problem with its data in full."""
    rows = problem.rows
    given = [] if rows.y is None else [f"y = {rows.y.tolist()}"]
    said = [repr(problem), f"X = {problem.X.tolist()}", *given, f"A = {rows.matrix.toarray().tolist()}   (its rows are the margins)"]
    return "\n".join([*said, f"t = {rows.t.tolist()}   (their targets)", f"s = {rows.s.tolist()}   (the signs of the bias)"])
