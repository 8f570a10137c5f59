"""Quotients of polynomials in the parameters of a problem.

The denominators are products of powers of parameters that are above 0. A step of an
equivalence proof divides by a pivot, and a renaming by a scale; if these are C, say, the
step holds for all C above 0. With such quotients as numbers of a form, every step
applies as with rational numbers.
"""

from __future__ import annotations

from typing import Any

from equimargin.formulations.programs.extras import flint

DIVIDING = "u"
"""First letter of the names of indeterminates above 0, which may be divisors."""


class NotANumber(ValueError):
    """A divisor or a sign is not known for all values of the parameters."""


class Quotient:
    """top / bottom, in lowest terms.

    Parameters
    ----------
    top : flint polynomial
        Numerator.
    bottom : flint polynomial
        Product of powers of indeterminates that may be divisors.
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
        """Return the quotient; raise NotANumber if the divisor may be 0."""
        return self.__mul__(
            other.inverse() if isinstance(other, Quotient) else 1 / flint.fmpq(other)
        )

    def __rtruediv__(self, other: Any) -> Quotient:
        """Return a number divided by the quotient."""
        return self.inverse().__mul__(other)

    def __eq__(self, other: object) -> bool:
        """Return True if both are equal for all values of the parameters."""
        if isinstance(other, Quotient):
            return bool(self.top == other.top and self.bottom == other.bottom)
        return bool(self.bottom == 1 and self.top == other)

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        """Return the quotient as text."""
        return f"({self.top}) / ({self.bottom})"

    def inverse(self) -> Quotient:
        """Return 1 over the quotient; raise NotANumber if it may be 0."""
        ((exponents, factor),) = self.top.terms() if len(self.top) == 1 else [((), None)]
        names = self.top.context().names()
        if factor is None or any(
            k and not name.startswith(DIVIDING) for k, name in zip(exponents, names, strict=True)
        ):
            raise NotANumber(f"{self} may be 0")
        return Quotient(self.bottom / factor, self.top / factor)

    def terms(self) -> list[tuple[tuple[int, ...], Any]]:
        """Return the exponents, which may be negative, and the coefficient of every term."""
        ((below, _),) = self.bottom.terms()
        return [
            (tuple(int(a) - int(b) for a, b in zip(above, below, strict=True)), factor)
            for above, factor in self.top.terms()
        ]


def divisor(v: Any) -> Any:
    """Return v if it is nonzero for all values of the parameters, or 0 for all.

    A constant is returned as a rational number.

    Parameters
    ----------
    v : number or Quotient
        Number.

    Raises
    ------
    NotANumber
        If it is not known to be nonzero for all values, or 0 for all.
    """
    if not isinstance(v, Quotient):
        return v
    if v.bottom == 1 and v.top.is_constant():
        return v.top.coeffs()[0] if v.top != 0 else flint.fmpq(0)
    return v.inverse().inverse()


def positive(v: Any) -> bool:
    """Return True if a number is proven to be above 0 for all values of the parameters.

    Parameters
    ----------
    v : number or Quotient
        Number.
    """
    v = divisor(v)
    return bool(v > 0) if isinstance(v, flint.fmpq) else bool(v.top.leading_coefficient() > 0)


def nonnegative(v: Any) -> bool:
    """Return True if a number is proven to be at least 0 for all values of the parameters.

    The proof: all its terms are squares of monomials times coefficients of at least 0.

    Parameters
    ----------
    v : number or Quotient
        Number.
    """
    if not isinstance(v, Quotient):
        return bool(v >= 0)
    return all(factor >= 0 and not any(k % 2 for k in exponents) for exponents, factor in v.terms())
