"""An exact path as an object that answers at any C in rational numbers."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import isfinite
from numbers import Rational, Real
from typing import Any

from equimargin.formulations.problem.margin import MarginProblem
from equimargin.solvers.exact.active_set import Ends
from equimargin.solvers.exact.numbers import IntegerProblem, as_fractions, integral
from equimargin.solvers.exact.path.piece import ExactPiece, best_biases


def rational(value: Any, name: str) -> Fraction:
    """A number as a Fraction.

    Parameters
    ----------
    value : Any
        An integer, a Fraction, or a finite float of any size.
    name : str
        For the error.

    Raises
    ------
    ValueError
        What is no finite number.
    """
    if isinstance(value, Real) and not isinstance(value, bool) and isfinite(value):
        return Fraction(value) if isinstance(value, Rational) else Fraction(float(value))
    raise ValueError(f"{name} must be an integer, a float or a Fraction, not {value!r}")


@dataclass(frozen=True, eq=False)
class ExactPath:
    """Every optimum of a hinge's problem for C = 1 / lambda from low to high, in rational numbers.

        alpha(C) = constant + C slope,   f = sum_i (A'alpha)_i k(x_i, .)      on every piece

    Parameters
    ----------
    problem : MarginProblem
        Whose path it is; its C means nothing.
    low, high
        The ends of C; a high of None is infinity.
    pieces : tuple[ExactPiece, ...]
        From low to high. f is continuous from one to the next; alpha may jump where it
        is not unique.
    stopped : str
        Why pieces are missing, in a sentence; empty if none is.
    seconds : float
        Of wall time.

    Source: document P, section 5.
    """

    problem: MarginProblem = field(repr=False)
    low: Fraction
    high: Fraction | None
    pieces: tuple[ExactPiece, ...] = field(repr=False)
    stopped: str
    seconds: float

    @property
    def complete(self) -> bool:
        """Whether no piece is missing."""
        return not self.stopped

    @cached_property
    def breakpoints(self) -> tuple[Fraction, ...]:
        """The C strictly between low and high where f or the only best bias changes its straight line, in increasing order.

        Of a path that is not complete those between pieces that meet. Multipliers may change theirs at more places: where pieces meet.
        """
        return tuple(
            new.low
            for old, new in pairwise(self.pieces)
            if old.high == new.low and not old.same_function(new)
        )

    def piece(self, C: Any) -> ExactPiece:
        """The piece that C is in; of two that meet there the one above.

        Parameters
        ----------
        C : Any
            From low to high, an integer, a float or a Fraction.

        Raises
        ------
        ValueError
            A C that the path does not reach.
        """
        C = rational(C, "C")
        place = bisect_right([piece.low for piece in self.pieces], C) - 1
        if place < 0 or not self.pieces[place].holds(C):
            raise ValueError(
                f"the path has no piece at C = {C}" + (f": {self.stopped}" if self.stopped else "")
            )
        return self.pieces[place]

    def alpha(self, C: Any) -> tuple[Fraction, ...]:
        """Optimal multipliers at C, (p,); C as in `piece`."""
        return tuple(self.piece(C).alpha(Fraction(C)))

    def f(self, C: Any) -> tuple[Fraction, ...]:
        """f of the training points at C, (m,), without the bias; C as in `piece`."""
        return tuple(self.piece(C).f(Fraction(C)))

    def value(self, C: Any) -> Fraction:
        """The optimum at C, t'alpha - 1/2 alpha'A f; C as in `piece`."""
        alpha, margins = (
            self.piece(C).alpha(Fraction(C)),
            self._numbers.dot(self.piece(C).f(Fraction(C))),
        )
        return Fraction((alpha * (self._numbers.targets - margins / 2)).sum())

    def bias(self, C: Any) -> Ends:
        """The ends of all best biases at C, None for an end at infinity; (0, 0) without a bias; C as in `piece`."""
        C = rational(C, "C")
        box = as_fractions([C * Fraction(w) for w in self.problem.unit_weights.tolist()])
        return best_biases(self._numbers, box, self.piece(C).alpha(C), self.piece(C).f(C))

    @cached_property
    def _numbers(self) -> IntegerProblem:
        return integral(self.problem)
