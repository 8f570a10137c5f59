"""Polynomials in the parameters of a problem over products of powers of some of them, those that are above 0 and may divide.

A step of a reason divides by its pivot, and a renaming scales. Where pivot and scale
are C, say, the step holds for all C above 0. The numbers of a form are then such
quotients, and every step goes through with them as it does with rational numbers.
"""

from __future__ import annotations

from typing import Any

from flint import fmpq

DIVIDING = "u"
"""First letter of the names of the unknowns that are above 0, so that a quotient may divide by them."""


class NotANumber(ValueError):
    """A step divides by a number, or asks its sign, and meets a polynomial: it does not hold for all values of the parameters."""


class Quotient:
    """top / bottom, in lowest terms.

    Parameters
    ----------
    top : Any
        A polynomial of flint's.
    bottom : Any
        A product of powers of unknowns that may divide.
    """

    __slots__ = ("bottom", "top")

    def __init__(self, top: Any, bottom: Any) -> None:
        common = top.gcd(bottom) if top != 0 else bottom
        self.top, self.bottom = top / common, bottom / common

    def __add__(self, other: Any) -> Quotient:
        """Return the sum with a quotient or a number."""
        if not isinstance(other, Quotient):
            return Quotient(self.top + self.bottom * other, self.bottom)
        return Quotient(
            self.top * other.bottom + other.top * self.bottom, self.bottom * other.bottom
        )

    def __mul__(self, other: Any) -> Quotient:
        """Return the product with a quotient or a number."""
        if not isinstance(other, Quotient):
            return Quotient(self.top * other, self.bottom)
        return Quotient(self.top * other.top, self.bottom * other.bottom)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Quotient:
        """Return minus the quotient."""
        return Quotient(-self.top, self.bottom)

    def __sub__(self, other: Any) -> Quotient:
        """Return the difference."""
        return self.__add__(-other)

    def __rsub__(self, other: Any) -> Quotient:
        """Return the difference from a number."""
        return (-self).__add__(other)

    def __truediv__(self, other: Any) -> Quotient:
        """Return the quotient; NotANumber where the divisor may be 0."""
        return self.__mul__(other.inverse() if isinstance(other, Quotient) else 1 / fmpq(other))

    def __rtruediv__(self, other: Any) -> Quotient:
        """Return a number over it."""
        return self.inverse().__mul__(other)

    def __eq__(self, other: object) -> bool:
        """Return True if it is equal for all values."""
        if isinstance(other, Quotient):
            return bool(self.top == other.top and self.bottom == other.bottom)
        return bool(self.bottom == 1 and self.top == other)

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        """Return the quotient as it is written."""
        return f"({self.top}) / ({self.bottom})"

    def inverse(self) -> Quotient:
        """Return 1 over the quotient; NotANumber where it may be 0."""
        ((exponents, factor),) = self.top.terms() if len(self.top) == 1 else [((), None)]
        names = self.top.context().names()
        if factor is None or any(
            k and not name.startswith(DIVIDING) for k, name in zip(exponents, names, strict=True)
        ):
            raise NotANumber(f"{self} may be 0")
        return Quotient(self.bottom / factor, self.top / factor)

    def terms(self) -> list[tuple[tuple[int, ...], Any]]:
        """Return exponents, which may be negative, and factor of every term."""
        ((below, _),) = self.bottom.terms()
        return [
            (tuple(int(a) - int(b) for a, b in zip(above, below, strict=True)), factor)
            for above, factor in self.top.terms()
        ]


def divisor(v: Any) -> Any:
    """Return v, if it is no 0 for any values of the parameters, or 0 for all; NotANumber else. A constant is a rational number."""
    if not isinstance(v, Quotient):
        return v
    if v.bottom == 1 and v.top.is_constant():
        return v.top.coeffs()[0] if v.top != 0 else fmpq(0)
    return v.inverse().inverse()


def positive(v: Any) -> bool:
    """Return True if v is above 0 for all values of the parameters, as far as its form shows."""
    v = divisor(v)
    return bool(v > 0) if isinstance(v, fmpq) else bool(v.top.leading_coefficient() > 0)


def nonnegative(v: Any) -> bool:
    """Return True if v is at least 0 for all values of the parameters, as far as its form shows: squares with factors of at least 0."""
    if not isinstance(v, Quotient):
        return bool(v >= 0)
    return all(factor >= 0 and not any(k % 2 for k in exponents) for exponents, factor in v.terms())
