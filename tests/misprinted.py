"""A small problem, its misprints by name, and the programs that they state, by hand.

The evidence that must detect each misprint is known from an enumeration.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
from hypothesis import strategies as st

from equimargin.equivalence import misprints
from equimargin.equivalence.instances import drawn
from equimargin.proofs.equivalence import stated
from equimargin.proofs.equivalence.answers import SymbolRoles, detected
from equimargin.solvers.exact.program.clock import Clock
from oracles.small_programs import SmallProgram

BOTH = SymbolRoles(frozenset({"x"}), False)


def bounded(data: Any) -> cp.Problem:
    """Return min 1/2 sum p_j x_j^2 - q'x s.t. G x >= h, x >= 0."""
    x = cp.Variable(2, "x")
    return cp.Problem(
        cp.Minimize(data["p"] @ cp.square(x) / 2 - data["q"] @ x),
        [(data["G"] @ x >= data["h"]).set_label("rows"), (x >= 0).set_label("sign")],
    )


def program(data: Any) -> SmallProgram:
    """Return the problem of `bounded` in fractions; rows 0 and 1 are G, 2 and 3 the signs."""
    G = [*data["G"].tolist(), [1, 0], [0, 1]]
    return SmallProgram(
        *(
            [Fraction(v) for v in data["p"]],
            [Fraction(v) for v in data["q"]],
            [[Fraction(v) for v in row] for row in G],
            [*(Fraction(v) for v in data["h"]), Fraction(0), Fraction(0)],
        )
    )


def scaled(rows: range, factor: int, of: SmallProgram, end: int = 1) -> SmallProgram:
    """Return the program with some rows of G times a factor, and their ends times another."""
    G = [[factor * v for v in row] if i in rows else row for i, row in enumerate(of.G)]
    return replace(of, G=G, h=[end * v if i in rows else v for i, v in enumerate(of.h)])


def without(rows: range, of: SmallProgram) -> SmallProgram:
    """Return the program with rows that always hold in place of some."""
    G = [[Fraction(0)] * 2 if i in rows else row for i, row in enumerate(of.G)]
    return replace(of, G=G, h=[Fraction(-1) if i in rows else v for i, v in enumerate(of.h)])


GENERAL, SIGNS = range(2), range(2, 4)
OBJECTIVE = "data['p'] @ cp.square(x) / 2 - data['q'] @ x"
CHANGES: dict[str, Callable[[SmallProgram], SmallProgram]] = {
    "no divisor in data['p'] @ cp.square(x) / 2": lambda of: replace(of, p=[2 * v for v in of.p]),
    "twice in data['p'] @ cp.square(x)": lambda of: replace(of, p=[2 * v for v in of.p]),
    f"another sign in {OBJECTIVE}": lambda of: replace(of, q=[-v for v in of.q]),
    "twice in data['q'] @ x": lambda of: replace(of, q=[2 * v for v in of.q]),
    "twice in data['G'] @ x": lambda of: scaled(GENERAL, 2, of),
    "no constraint in (data['G'] @ x >= data['h']).set_label('rows')": lambda of: without(
        GENERAL, of
    ),
    "no constraint in (x >= 0).set_label('sign')": lambda of: without(SIGNS, of),
    "another relation in data['G'] @ x >= data['h']": lambda of: scaled(GENERAL, -1, of, -1),
    "another relation in x >= 0": lambda of: scaled(SIGNS, -1, of, -1),
    "an equation in data['G'] @ x >= data['h']": lambda of: replace(
        of, equations=frozenset(GENERAL)
    ),
    "an equation in x >= 0": lambda of: replace(of, equations=frozenset(SIGNS)),
    "one more in data['G'] @ x >= data['h']": lambda of: replace(
        of, h=[v + (i in GENERAL) for i, v in enumerate(of.h)]
    ),
    "one more in x >= 0": lambda of: replace(of, h=[v + (i in SIGNS) for i, v in enumerate(of.h)]),
}
"""Misprints of `bounded`, and the programs that they state, written by hand."""
REJECTED = {
    f"exchanged terms in {OBJECTIVE}",
    "the other of minimize and maximize",
}
"""Misprints of `bounded` that maximise a convex function, or minimise a concave one."""

numbers = st.integers(-3, 3)
PROGRAMS = st.fixed_dictionaries(
    {
        "p": st.lists(st.integers(1, 3), min_size=2, max_size=2).map(np.array),
        "q": st.lists(numbers, min_size=2, max_size=2).map(np.array),
        "G": st.lists(numbers, min_size=4, max_size=4).map(lambda v: np.reshape(v, (2, 2))),
        "h": st.lists(numbers, min_size=2, max_size=2).map(np.array),
    }
)


def due(right: SmallProgram, wrong: SmallProgram) -> set[str] | None:
    """Return the evidence by enumeration; None if an optimum or a multiplier is not unique."""
    first, second = right.vertices(), wrong.vertices()
    if len(first) != 1 or len(second) > 1:
        return None
    # The enumeration finds no optimum where equations depend on each other.
    if not wrong.are_independent(wrong.equations):
        return None
    if not second:
        return {"optimum"}
    (x, z), (other_x, other_z) = first[0], second[0]
    if not (right.is_regular(x) and wrong.is_regular(other_x)):
        return None
    signs = (1, -1) if wrong.equations else (1,)
    same_multipliers = any(
        all(
            u == (sign * v if i in wrong.equations else v)
            for i, (u, v) in enumerate(zip(z, other_z, strict=True))
        )
        for sign in signs
    )
    seen = {"optimum"} if right.value(x) != wrong.value(other_x) else set()
    seen |= {"predictions"} if x != other_x else set()
    return seen | (set() if same_multipliers else {"multipliers"})


def examined(instances: int, seed: int) -> tuple[list[str], Counter[str]]:
    """Return the wrong classifications on drawn instances, and the counts of all."""
    functions = {misprint.name: misprint.function for misprint in misprints(bounded)}
    assert set(functions) >= set(CHANGES) | REJECTED
    wrong, counts = list[str](), Counter[str]()
    for data in drawn(PROGRAMS, 6 * instances, seed):
        right = program(data)
        if counts["instances"] == instances or len(right.vertices()) != 1:
            continue
        counts["instances"] += 1
        here = stated(bounded, data, "exact", Clock(60))
        for name, change in CHANGES.items():
            expected = due(right, change(right))
            if expected is None:
                continue
            found = detected(here, stated(functions[name], data, "exact", Clock(60)), BOTH)
            counts[", ".join(sorted(found)) or "none"] += 1
            if found != expected:
                wrong.append(f"{name}: {found or 'none'} and not {expected or 'none'}, on {data}")
    return wrong, counts
