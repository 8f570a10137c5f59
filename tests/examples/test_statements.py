"""Sensitivity of the ledger's statements to wrong instances and wrong formulas.

A wrong instance makes a statement false, or a wrong number in its formula does.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from itertools import islice
from random import Random
from typing import Any

import pytest

from ledger.statement import DRAWS
from ledger.statements import STATEMENTS

SENSELESS = (ArithmeticError, AssertionError, IndexError, TypeError, ValueError)
"""Errors of a statement whose instance or formula makes no sense: they show nothing."""
UNIVERSAL = {
    "T.4.distance": "the foot of a point on any line",
    "T.7.convex": "any two vectors",
    "T.13": "any w, b and alpha: the terms of (8) in another order",
    "T.39": "any two numbers",
    "T.40": "any points and any function",
    "T.40.map": "any two points",
    "T.44.largest": "any two points",
    "T.45": "any points: the package's kernel is that of (45)",
    "T.46": "any two points",
    "T.47": "any two points",
    "T.48": "any multipliers",
    "T.48.equations": "any multipliers",
    "T.2.3.separable": "any three equidistant points of a line",
    "T.5.3.tau": "any order",
    "W.precision": "any relevant and any retrieved documents",
    "W.recall": "any relevances",
    "W.average_precision": "any relevances: an integral of steps",
    "W.bound": "any relevances, by the inequality of Cauchy and Schwarz",
    "W.bound.perfect": "any number of relevant documents",
    "T.25.errors": "any F, of which a slack bounds the error",
    "T.figure3.errors": "any F",
    "T.84.bound": "any w, of which a slack bounds the misranked pair",
    "T.91": "any multipliers: a sum over pairs or over points",
    "K.1.1": "any relevances and queries",
    "K.2.5": "any points",
    "K.2.7": "any points and pairs",
    "K.2.8": "any slacks: the largest sum of a subset is that of the positive ones",
    "K.3.1.rank": "any points and pairs",
    "K.3.1.singular": "any tree or circle of pairs",
    "K.3.3.linear": "any points",
    "K.B.1": "any beta",
    "K.B.2": "any beta",
    "K.B.3": "any beta",
    "T.101.misranked": "any margins",
    "T.102.omega": "any point that is there twice",
    "O.1": "any ranks",
    "O.pairs": "any ranks",
    "O.risk": "any ranks",
    "O.sets": "any ranks",
    "O.utility": "any ranks",
    "O.nominal": "any loss",
    "P.theorem1.necessary": "any f: none has less than the path's",
    "P.5.3.total": "any number of pairs",
    "P.5.1.alpha": "any ranking, solved anew at a large lambda",
    "P.4.size": "any relevances",
    "P.figure2": "any graph",
    "P.3.ties": "any relevances and scores",
    "T.5.3.map": "any grades",
    "P.6.size": "any relevances",
}
"""Statements true of all instances, not of optima alone, by subject.

These are identities, bounds and counts.
"""
SWAPPED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
}
"""Operators that are changed, with their replacements."""


def changed(value: Any) -> Iterator[Any]:
    """Yield the instances next to an instance.

    One of its numbers is changed, or the last entry of a tuple is removed.
    """
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int | Fraction):
        yield from (value + 1, value - 1, -value - 1)
    elif isinstance(value, tuple):
        for at, entry in enumerate(value):
            yield from ((*value[:at], other, *value[at + 1 :]) for other in changed(entry))
        yield value[:-1]
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from (
                replace(value, **{field.name: other})
                for other in changed(getattr(value, field.name))
            )


def fails(right: Callable[[Any], bool], instance: Any) -> bool:
    """Return True if a statement is false of an instance."""
    try:
        return not right(instance)
    except SENSELESS:
        return False


@pytest.mark.slow
@pytest.mark.parametrize("id", [id for id in STATEMENTS if id not in UNIVERSAL])
def test_a_wrong_instance_is_noticed(id: str) -> None:
    known = STATEMENTS[id]
    instances = (known.draw(Random(seed)) for seed in range(DRAWS))
    assert any(fails(known.right, other) for instance in instances for other in changed(instance))


@pytest.mark.slow
@pytest.mark.parametrize("id", UNIVERSAL)
def test_a_universal_statement_is_true_of_wrong_instances_too(id: str) -> None:
    """An entry of UNIVERSAL that is not universal would hide a failure.

    `test_a_wrong_instance_is_noticed` skips the entries.
    """
    known = STATEMENTS[id]
    assert not any(
        fails(known.right, other)
        for seed in range(3)
        for other in islice(changed(known.draw(Random(seed))), 30)
    )


def called(tree: ast.Module, name: str) -> Iterator[ast.FunctionDef]:
    """Yield a function and all functions and properties of its module that it uses.

    Use is direct or through others.
    """
    known = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    seen, waiting = {name}, [name]
    while waiting:
        yield known[(at := waiting.pop())]
        names = {getattr(node, "id", getattr(node, "attr", "")) for node in ast.walk(known[at])}
        waiting += sorted(names & known.keys() - seen)
        seen |= names


def changes(tree: ast.Module, name: str) -> Iterator[None]:
    """Yield after each change of one number or operator of a formula in the tree.

    The change is in place and undone before the next.
    """
    for function in called(tree, name):
        for node in [node for part in function.body for node in ast.walk(part)]:
            if isinstance(node, ast.Constant) and type(node.value) is int:
                number = node.value
                for other in (number + 1, number - 1):
                    node.value = other
                    yield
                node.value = number
            elif isinstance(node, ast.BinOp) and type(node.op) in SWAPPED:
                operator = node.op
                node.op = SWAPPED[type(operator)]()
                yield
                node.op = operator


def wrong_versions(right: Callable[[Any], bool]) -> Iterator[Callable[[Any], bool]]:
    """Yield a statement with one number or operator changed, in it or in its module."""
    module = sys.modules[right.__module__]
    tree = ast.parse(inspect.getsource(module))
    for node in ast.walk(tree):
        # A statement is registered once, and not by its copies.
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = [
                one for one in node.decorator_list if not isinstance(one, ast.Call)
            ]
    for _ in changes(tree, right.__name__):
        names: dict[str, Any] = {"__name__": right.__module__}
        exec(compile(tree, str(module.__file__), "exec"), names)
        yield names[right.__name__]


@pytest.mark.slow
@pytest.mark.parametrize("id", UNIVERSAL)
def test_a_wrong_formula_of_a_universal_statement_is_noticed(id: str) -> None:
    known = STATEMENTS[id]
    instances = [known.draw(Random(seed)) for seed in range(10)]
    assert any(
        fails(wrong, instance) for wrong in wrong_versions(known.right) for instance in instances
    )


def test_what_cannot_fail_is_found() -> None:
    def slacks_are_what_is_missing(at: Any) -> bool:
        return all(at.xi(i) >= 1 - at.margin(i) for i in at.all)

    assert not any(
        fails(slacks_are_what_is_missing, other)
        for other in changed(STATEMENTS["T.23"].draw(Random(0)))
    )
