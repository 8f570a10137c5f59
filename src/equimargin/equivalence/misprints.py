"""Misprints of a function that states a problem: its text, with one change at a time.

The equation of a problem is the text of its function. Changed are signs, divisors and
factors, indices, relations and bounds, functions, and constraints, which are left out.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from itertools import permutations
from types import CodeType
from typing import Any

import numpy as np

from equimargin.formulations.declarations.user_functions import innermost

OTHER_FUNCTIONS = {"pos": "abs", "square": "abs", "norm1": "sum_squares"}
"""Functions of cvxpy, and their replacements."""
STATEMENTS = ("minimize", "maximize")
"""Names of the functions that state a problem with constraints as keywords."""
OBJECTIVES = ("Minimize", "Maximize")
"""Names of cvxpy's objectives."""
WEIGHTS = ("d.c", "c", "chat")
"""Names of the rows' weights in the documents' functions, as text."""
MAX_ROUNDS = 100_000
"""Rounds of the loops of one call of a misprint, which may be an endless loop."""

Edit = Callable[[Any], Any]
"""Change of a copied node, in place."""


@dataclass(frozen=True)
class Misprint:
    """Function with one change of its text.

    Attributes
    ----------
    mutation : str
        Change, such as "no divisor".
    place : str
        Changed part of the text; empty if that is the whole problem.
    function : callable
        Changed function.
    """

    mutation: str
    place: str
    function: Callable[..., Any]

    @property
    def name(self) -> str:
        """Change and place in one phrase."""
        return f"{self.mutation} in {self.place}" if self.place else self.mutation


def misprints(function: Callable[..., Any]) -> Iterator[Misprint]:
    """Yield every misprint of a function, each with one change of its text.

    Only the text of the function itself is changed, not that of functions it calls.

    Parameters
    ----------
    function : callable
        Function of data that returns a cvxpy problem.

    Yields
    ------
    Misprint
        Changed function; two of one text are yielded once.

    Raises
    ------
    ValueError
        If the text is not known, or is no `def`.
    """
    stated = inspect.unwrap(innermost(function))
    tree = _tree(stated)
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef)
    name = definition.name
    loops = sorted(_loop_variables(tree))
    seen = {ast.dump(tree)}
    for at, node in enumerate(ast.walk(tree)):
        for mutation, place, edit in _changes(node, loops):
            copied = deepcopy(tree)
            edit(list(ast.walk(copied))[at])
            text = ast.dump(copied)
            if text in seen:
                continue
            seen.add(text)
            _limit_loops(copied)
            try:
                code = compile(ast.fix_missing_locations(copied), f"<misprint of {name}>", "exec")
            except (SyntaxError, ValueError):
                # A changed pattern of `match` may be no Python.
                continue
            yield Misprint(mutation, place, _executed(code, stated, name))


def _tree(function: Callable[..., Any]) -> ast.Module:
    """Return the text of a function as a tree of its arguments and its body.

    Decorators, types, values of arguments and the docstring are no part of the equation.
    """
    name = getattr(function, "__qualname__", repr(function))
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        raise ValueError(
            f"the text of {name} is not known, so that it has no misprints: write it in a file"
        ) from None
    definition = tree.body[0]
    if not isinstance(definition, ast.FunctionDef):
        raise ValueError(f"{name} is no `def`, so that it has no misprints: write it as one")
    definition.decorator_list, definition.returns = [], None
    definition.args.defaults = []
    definition.args.kw_defaults = [None] * len(definition.args.kwonlyargs)
    for part in ast.walk(definition.args):
        if isinstance(part, ast.arg):
            part.annotation = None
    if ast.get_docstring(definition) is not None and len(definition.body) > 1:
        definition.body = definition.body[1:]
    return tree


def _limit_loops(tree: ast.Module) -> None:
    """Let every loop of a function raise an error after MAX_ROUNDS rounds of a call."""
    (definition,) = tree.body
    for node in list(ast.walk(tree)):
        if isinstance(node, ast.For | ast.While):
            node.body.insert(0, ast.Expr(_parsed("_begin_round()")))
    assert isinstance(definition, ast.FunctionDef)
    definition.body[:0] = ast.parse("_begin_round = _start_call()").body


def _executed(code: CodeType, function: Any, name: str) -> Callable[..., Any]:
    """Return the function of a changed text, with the names that the given one sees."""
    names = {
        "_start_call": lambda: iter(range(MAX_ROUNDS)).__next__,
        "np": np,
        **function.__globals__,
        **inspect.getclosurevars(function).nonlocals,
    }
    exec(code, names)
    changed = names[name]
    changed.__defaults__, changed.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    # A method has its object as first argument.
    owner = getattr(function, "__self__", None)
    bound: Callable[..., Any] = changed if owner is None else changed.__get__(owner)
    return bound


def _loop_variables(tree: ast.AST) -> set[str]:
    """Return the names of the indices of loops and comprehensions."""
    targets = [
        node.target for node in ast.walk(tree) if isinstance(node, ast.For | ast.comprehension)
    ]
    return {
        name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)
    }


def _changes(node: ast.AST, loops: list[str]) -> Iterator[tuple[str, str, Edit]]:
    """Yield the changes of one node: change, place, and a function that makes it in a copy."""
    if isinstance(node, ast.Call):
        yield from _of_call(node)
    elif isinstance(node, ast.Compare):
        yield from _of_relation(node)
    elif isinstance(node, ast.BinOp):
        yield from _of_operation(node)
    elif (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and not isinstance(node.operand, ast.Constant)  # an index from the end
    ):
        # A cvxpy expression has no unary plus.
        twice_negated = ast.UnaryOp(ast.USub(), node.operand)
        yield "no minus", ast.unparse(node), _set(operand=twice_negated)
    elif isinstance(node, ast.Subscript):
        yield from _of_indices(node, loops)
    elif isinstance(node, ast.List):
        for i, entry in enumerate(node.elts):
            if _relates(entry):
                yield "no constraint", ast.unparse(entry), _always("elts", i)
    elif isinstance(node, ast.ListComp) and isinstance(node.elt, ast.Compare):
        yield "no constraint", ast.unparse(node.elt), _set(elt=ast.Constant(True))
    elif isinstance(node, ast.Attribute) and ast.unparse(node) == "d.epsilon":
        yield "another tube", "d.epsilon", _set(attr="m")


def _of_relation(node: ast.Compare) -> Iterator[tuple[str, str, Edit]]:
    """Yield the changes of a relation: the other one, an equation, another bound."""
    relation, place = node.ops[0], ast.unparse(node)
    # A chain of relations, as in 0 <= i < n, is no constraint of cvxpy.
    if len(node.ops) > 1 or not isinstance(relation, ast.GtE | ast.LtE | ast.Eq):
        return
    other = ast.LtE() if isinstance(relation, ast.GtE) else ast.GtE()
    yield "another relation", place, _set(ops=[other])
    if not isinstance(relation, ast.Eq):
        yield "an equation", place, _set(ops=[ast.Eq()])
    one_more = ast.BinOp(node.comparators[0], ast.Add(), ast.Constant(1))
    yield "one more", place, _set(comparators=[one_more])


def _of_operation(node: ast.BinOp) -> Iterator[tuple[str, str, Edit]]:
    """Yield the changes of an operation: of its sign, its order, or a factor."""
    place, left, right = ast.unparse(node), ast.unparse(node.left), node.right
    # Products with K and with weights have changes of their own.
    if isinstance(node.op, ast.Add | ast.Sub):
        sign = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
        yield "another sign", place, _set(op=sign)
        if isinstance(node.op, ast.Sub):
            yield "exchanged terms", place, _set(left=node.right, right=node.left)
    elif isinstance(node.op, ast.Div):
        yield "no divisor", place, _set(right=ast.Constant(1))
    elif isinstance(node.op, ast.Mult):
        yield "twice", place, _set(right=_twice(right))
        if isinstance(node.left, ast.Constant):
            yield "no factor", place, _set(left=ast.Constant(1))
    elif isinstance(node.op, ast.MatMult) and left in WEIGHTS:
        yield "no weights", place, _set(left=_parsed(f"np.ones_like({left})"))
    elif isinstance(node.op, ast.MatMult) and left == "d.K":
        yield "no K", place, _set(left=_parsed("np.eye(d.m)"))
    elif isinstance(node.op, ast.MatMult):
        yield "twice", place, _set(left=_twice(node.left))


def _of_indices(node: ast.Subscript, loops: list[str]) -> Iterator[tuple[str, str, Edit]]:
    """Yield the changes of indices: two exchanged, or that of another loop for one."""
    place, index = ast.unparse(node), node.slice
    parts = index.elts if isinstance(index, ast.Tuple) else []
    # A slice or None, as in v[:, None], is no index.
    if len(parts) == 2 and not any(isinstance(part, ast.Slice | ast.Constant) for part in parts):
        swapped = ast.Tuple(parts[::-1], ast.Load())
        yield "exchanged indices", place, _set(slice=swapped)
    if isinstance(index, ast.Name):
        for one, other in permutations(loops, 2):
            if index.id == one:
                yield f"{other} for {one}", place, _set(slice=ast.Name(other, ast.Load()))


def _of_call(node: ast.Call) -> Iterator[tuple[str, str, Edit]]:
    """Yield the changes of a call: a constraint less, another function, a factor less."""
    called, place = ast.unparse(node.func), ast.unparse(node)
    name = called.removeprefix("cp.").removeprefix("cvxpy.")
    # Constraints are keywords of the documents' functions, and a list elsewhere.
    if called in STATEMENTS:
        other = STATEMENTS[called == STATEMENTS[0]]
        yield "the other of minimize and maximize", "", _set(func=_parsed(other))
        for i, keyword in enumerate(node.keywords):
            yield f"no {keyword.arg}", "", _without("keywords", i)
    elif name in OBJECTIVES:
        other = called.replace(name, OBJECTIVES[name == OBJECTIVES[0]])
        yield "the other of minimize and maximize", "", _set(func=_parsed(other))
    elif name in OTHER_FUNCTIONS:
        other = OTHER_FUNCTIONS[name]
        yield f"{other} for {name}", place, _set(func=_parsed(called.replace(name, other)))
    elif called == "d.K.quad":
        yield "no K", place, _set(func=_parsed("cp.sum_squares"))
    elif name == "multiply" and len(node.args) == 2:
        what = "no labels" if ast.unparse(node.args[0]) == "d.y" else "no factor"
        ones = ast.Constant(1)
        yield what, place, _set(args=[ones, node.args[1]])
    elif name == "sum" and len(node.args) == 1:
        yield "twice the sum", place, _with_twice_the_terms
    elif called.endswith(".append") and _relates(node):
        yield "no constraint", ast.unparse(node.args[0]), _always("args", 0)


def _set(**fields: Any) -> Edit:
    """Return a function that sets fields of a node."""

    def edit(copied: Any) -> None:
        for name, value in fields.items():
            setattr(copied, name, value)

    return edit


def _without(field: str, i: int) -> Edit:
    """Return a function that leaves out an entry of a node's list."""
    return lambda copied: getattr(copied, field).pop(i)


def _always(field: str, i: int) -> Edit:
    """Return a function that replaces a constraint by True; the others keep their places."""
    return lambda copied: getattr(copied, field).__setitem__(i, ast.Constant(True))


def _with_twice_the_terms(copied: Any) -> None:
    """Double the argument of a sum, or every term if the argument is a comprehension."""
    (terms,) = copied.args
    if isinstance(terms, ast.GeneratorExp | ast.ListComp):
        terms.elt = _twice(terms.elt)
    else:
        copied.args = [_twice(terms)]


def _relates(node: ast.AST) -> bool:
    """Return True if a part of the text is a relation."""
    return any(isinstance(part, ast.Compare) for part in ast.walk(node))


def _twice(node: ast.expr) -> ast.expr:
    return ast.BinOp(ast.Constant(2), ast.Mult(), node)


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body
