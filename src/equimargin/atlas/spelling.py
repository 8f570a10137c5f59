"""A program in exact fractions, from `proofs/dualize.py`, spelled as equations in LaTeX: its objective and a line for every constraint."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import combinations

import numpy as np

from equimargin.proofs.dualize import Program, Rational

GREEK = frozenset(["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "lambda", "mu", "nu", "xi", "rho", "sigma", "tau"])
"""Names of letters that LaTeX has a command for."""
ACCENTS = ("hat", "bar", "star")
"""Ends of names that stand above the letter, or beside it."""


def spelled(program: Program, labels: bool = False) -> list[str]:
    """The objective, the constraints and the bounds of a program, each as an equation in LaTeX.

    Parameters
    ----------
    program : with the names of its unknowns.  labels : whether each row is preceded by its multiplier's name, as `lagrangian_dual` has it.
    """
    lines = [rf"\min\ {_objective(program)}"]
    for k, (row, end) in enumerate(zip(program.E, program.e, strict=True)):
        lines.append(_labelled(f"y_{k + 1}", labels) + f"{_linear(row, program.names)} = {_fraction(end)}")
    for k, (row, end) in enumerate(zip(program.F, program.f, strict=True)):
        lines.append(_labelled(f"z_{k + 1}", labels) + rf"{_linear(row, program.names)} \le {_fraction(end)}")
    for cone in program.cones:
        body = r",\ ".join(_linear(row, program.names) for row in cone[1:])
        lines.append(rf"\|({body})\| \le {_linear(cone[0], program.names)}")
    return lines + list(_bounds(program))


def letter(name: str) -> str:
    """The name of an unknown in LaTeX: `xihat_2` has a hat and the index 2."""
    base, _, index = name.partition("_")
    accent = next((end for end in ACCENTS if base.endswith(end) and base != end), "")
    base = base.removesuffix(accent)
    shown = rf"\{base}" if base in GREEK else base if len(base) == 1 else rf"\mathrm{{{re.sub('[^A-Za-z0-9]', ' ', base)}}}"
    shown = {"hat": rf"\hat{{{shown}}}", "bar": rf"\bar{{{shown}}}", "star": f"{shown}^*"}.get(accent, shown)
    return shown + (f"_{{{index}}}" if index else "")


def _labelled(name: str, labels: bool) -> str:
    return rf"{letter(name)}:\quad " if labels else ""


def _objective(program: Program) -> str:
    terms = [*_quadratic(program.H, program.names, Fraction(1, 2)), *_terms(program.g, program.names)]
    if program.norm is not None:
        terms.append((Fraction(1), rf"\sqrt{{{_sum(_quadratic(program.norm, program.names, Fraction(1)))}}}"))
    if program.constant:
        terms.append((program.constant, ""))
    return _sum(terms)


def _quadratic(H: Rational, names: tuple[str, ...], factor: Fraction) -> Iterator[tuple[Fraction, str]]:
    """The terms of factor x'Hx that are not 0."""
    for k in np.flatnonzero(H.diagonal()):
        yield factor * H[k, k], f"{letter(names[k])}^2"
    for i, j in combinations(range(len(names)), 2):
        if H[i, j]:
            yield 2 * factor * H[i, j], rf"{letter(names[i])}\,{letter(names[j])}"


def _terms(row: Rational, names: tuple[str, ...]) -> Iterator[tuple[Fraction, str]]:
    return ((row[k], letter(names[k])) for k in np.flatnonzero(row))


def _linear(row: Rational, names: tuple[str, ...]) -> str:
    return _sum(_terms(row, names))


def _sum(terms: Iterable[tuple[Fraction, str]]) -> str:
    """A sum of coefficients times what they belong to, 0 where it is empty."""
    text = ""
    for coefficient, what in terms:
        sign = "-" if coefficient < 0 else "+" if text else ""
        size = abs(coefficient)
        text += f" {sign} {'' if size == 1 and what else _fraction(size)} {what}"
    return " ".join(text.split()) or "0"


def _fraction(value: Fraction) -> str:
    if value.denominator == 1:
        return str(value.numerator)
    sign = "-" if value < 0 else ""
    return rf"{sign}\tfrac{{{abs(value.numerator)}}}{{{value.denominator}}}"


def _bounds(program: Program) -> Iterator[str]:
    for name, low, up in zip(program.names, program.lower, program.upper, strict=True):
        if low is not None and up is not None:
            yield rf"{_fraction(low)} \le {letter(name)} \le {_fraction(up)}"
        elif low is not None:
            yield rf"{letter(name)} \ge {_fraction(low)}"
        elif up is not None:
            yield rf"{letter(name)} \le {_fraction(up)}"
