"""LaTeX of a `Form` of `proofs/equivalence`: its objective, and a line per constraint."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any

import numpy as np

from equimargin.formulations.programs.extras import flint
from equimargin.proofs.equivalence.steps.form import Form, Numbers
from equimargin.proofs.equivalence.steps.moves import multiplier_names

GREEK = frozenset(
    [
        "alpha",
        "beta",
        "gamma",
        "delta",
        "epsilon",
        "zeta",
        "eta",
        "lambda",
        "mu",
        "nu",
        "xi",
        "rho",
        "sigma",
        "tau",
    ]
)
"""Names of letters with a LaTeX command."""
ACCENTS = ("hat", "bar", "star")
"""Suffixes of names that become an accent or a superscript."""


def spelled(form: Form, labels: bool = False) -> list[str]:
    """Return the objective, the constraints and the bounds of a program in LaTeX.

    Parameters
    ----------
    form : Form
        Program with the names of its variables.
    labels : bool, default False
        True to precede every row, bounds included, by the name of its multiplier.
    """
    equations = [
        f"{_linear(row, form.names)} = {_fraction(end)}"
        for row, end in zip(form.E, form.e, strict=True)
    ]
    inequalities = [
        rf"{_linear(row, form.names)} \le {_fraction(end)}"
        for row, end in zip(form.F, form.f, strict=True)
    ]
    objective = rf"\min\ {_objective(form)}"
    if labels:
        named = zip(multiplier_names(form), [*equations, *inequalities], strict=True)
        return [objective, *(rf"{letter(name)}:\quad {row}" for name, row in named)]
    return [
        objective,
        *equations,
        *(row for row, lone in zip(inequalities, form.bounds, strict=True) if not lone),
        *_bounds(form),
    ]


def letter(name: str) -> str:
    """Return the name of a variable in LaTeX: `xihat_2` has a hat and the index 2.

    Parameters
    ----------
    name : str
        Name with an optional accent and index.

    Returns
    -------
    str
        LaTeX.
    """
    base, _, index = name.partition("_")
    accent = next((end for end in ACCENTS if base.endswith(end) and base != end), "")
    base = base.removesuffix(accent)
    shown = (
        rf"\{base}"
        if base in GREEK
        else base
        if len(base) == 1
        else rf"\mathrm{{{re.sub('[^A-Za-z0-9]', ' ', base)}}}"
    )
    shown = {"hat": rf"\hat{{{shown}}}", "bar": rf"\bar{{{shown}}}", "star": f"{shown}^*"}.get(
        accent, shown
    )
    return shown + (f"_{{{index}}}" if index else "")


def _objective(form: Form) -> str:
    constant = [(form.constant, "")] if form.constant != 0 else []
    return _sum([*_quadratic(form.H, form.names), *_terms(form.g, form.names), *constant])


def _quadratic(H: Numbers, names: tuple[str, ...]) -> Iterator[tuple[Any, str]]:
    """Yield the nonzero terms of 1/2 x'Hx."""
    for k in np.flatnonzero(H.diagonal() != 0):
        yield H[k, k] / flint.fmpq(2), f"{letter(names[k])}^2"
    for i, j in combinations(range(len(names)), 2):
        if H[i, j] != 0:
            yield H[i, j], rf"{letter(names[i])}\,{letter(names[j])}"


def _terms(row: Numbers, names: tuple[str, ...]) -> Iterator[tuple[Any, str]]:
    return ((row[k], letter(names[k])) for k in np.flatnonzero(row != 0))


def _linear(row: Numbers, names: tuple[str, ...]) -> str:
    return _sum(_terms(row, names))


def _sum(terms: Iterable[tuple[Any, str]]) -> str:
    """Return a sum of coefficients times symbols; "0" if it is empty."""
    text = ""
    for coefficient, what in terms:
        sign = "-" if coefficient < 0 else "+" if text else ""
        size = abs(coefficient)
        text += f" {sign} {'' if size == 1 and what else _fraction(size)} {what}"
    return " ".join(text.split()) or "0"


def _fraction(value: Any) -> str:
    if value.q == 1:
        return str(value.p)
    sign = "-" if value < 0 else ""
    return rf"{sign}\tfrac{{{abs(value.p)}}}{{{value.q}}}"


def _bounds(form: Form) -> Iterator[str]:
    # A row of F is a bound, upper if its coefficient is positive.
    for k, name in enumerate(form.names):
        ends = [(form.F[r, k] > 0, form.f[r] / form.F[r, k]) for r in form.find_bounds(k)]
        below = max((end for upper, end in ends if not upper), default=None)
        above = min((end for upper, end in ends if upper), default=None)
        if below is not None and above is None:
            yield rf"{letter(name)} \ge {_fraction(below)}"
        elif above is not None:
            yield (
                "" if below is None else rf"{_fraction(below)} \le "
            ) + rf"{letter(name)} \le {_fraction(above)}"
