"""Exact regularisation path as an object, evaluated at any C in rational numbers."""

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
from equimargin.solvers.exact.numbers import IntegerProblem, integral, relative_weights
from equimargin.solvers.exact.path.piece import ExactPiece, best_biases


def rational(value: Any, name: str) -> Fraction:
    """Return a number as a Fraction.

    Parameters
    ----------
    value : int, float or Fraction
        Finite number of any size.
    name : str
        Name for the error message.

    Raises
    ------
    ValueError
        If the value is no finite number.
    """
    if isinstance(value, Rational) and not isinstance(value, bool):
        # The parts of a numpy integer would stay numpy integers, which overflow.
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, Real) and not isinstance(value, Rational) and isfinite(value):
        return Fraction(float(value))
    raise ValueError(f"{name} must be an integer, a float or a Fraction, not {value!r}")


@dataclass(frozen=True, eq=False)
class ExactPath:
    """Optima of a hinge problem for C = 1 / lambda from low to high, in rationals.

        alpha(C) = constant + C slope,   f = sum_i (A'alpha)_i k(x_i, .)      on every segment

    Parameters
    ----------
    problem : MarginProblem
        Problem of the path; its C is ignored.
    low, high : Fraction
        Ends of C; a high of None is infinity.
    pieces : tuple[ExactPiece, ...]
        Segments from low to high. f is continuous from one to the next; alpha may jump
        where it is not unique.
    stopped : str
        Reason why segments are missing, as a sentence; empty if none is.
    seconds : float
        Wall time in seconds.

    References
    ----------
    Document P, section 5.
    """

    problem: MarginProblem = field(repr=False)
    low: Fraction
    high: Fraction | None
    pieces: tuple[ExactPiece, ...] = field(repr=False)
    stopped: str
    seconds: float

    @property
    def complete(self) -> bool:
        """True if no segment is missing."""
        return not self.stopped

    @cached_property
    def breakpoints(self) -> tuple[Fraction, ...]:
        """Breakpoints: the C inside (low, high) at which the line of f or bias changes.

        They are in increasing order; a bias counts if it is unique. Of an incomplete
        path they are those between segments that meet. Multipliers may change lines at
        more places where segments meet.
        """
        return tuple(
            new.low
            for old, new in pairwise(self.pieces)
            if old.high == new.low and not old.same_function(new)
        )

    def piece(self, C: Any) -> ExactPiece:
        """Return the segment of C; of two that meet at C, the upper one.

        Parameters
        ----------
        C : int, float or Fraction
            Cost from low to high.

        Raises
        ------
        ValueError
            If C is outside of the path.
        """
        C = rational(C, "C")
        place = bisect_right([piece.low for piece in self.pieces], C) - 1
        if place < 0 or not self.pieces[place].holds(C):
            raise ValueError(
                f"the path has no piece at C = {C}" + (f": {self.stopped}" if self.stopped else "")
            )
        return self.pieces[place]

    def alpha(self, C: Any) -> tuple[Fraction, ...]:
        """Return optimal multipliers at C, (p,).

        Parameters
        ----------
        C : int, float or Fraction
            Cost from low to high.
        """
        return tuple(self.piece(C).alpha(rational(C, "C")))

    def f(self, C: Any) -> tuple[Fraction, ...]:
        """Return f of the training points at C, (m,), without the bias.

        Parameters
        ----------
        C : int, float or Fraction
            Cost from low to high.
        """
        return tuple(self.piece(C).f(rational(C, "C")))

    def value(self, C: Any) -> Fraction:
        """Return the optimal value at C, t'alpha - 1/2 alpha'A f.

        Parameters
        ----------
        C : int, float or Fraction
            Cost from low to high.
        """
        C, piece = rational(C, "C"), self.piece(C)
        alpha, margins = piece.alpha(C), self._numbers.dot(piece.f(C))
        return Fraction((alpha * (self._numbers.targets - margins / 2)).sum())

    def bias(self, C: Any) -> Ends:
        """Return the endpoints of all optimal biases at C; None if infinite.

        (0, 0) without a bias.

        Parameters
        ----------
        C : int, float or Fraction
            Cost from low to high.
        """
        C, piece = rational(C, "C"), self.piece(C)
        box = C * relative_weights(self.problem)
        return best_biases(self._numbers, box, piece.alpha(C), piece.f(C))

    @cached_property
    def _numbers(self) -> IntegerProblem:
        return integral(self.problem)
