"""Decimal texts of bounds, against rational numbers."""

from __future__ import annotations

import sys
from fractions import Fraction

from hypothesis import example, given
from hypothesis import strategies as st

from equimargin.formulations.numeric.decimals import format_lower, format_upper


@given(value=st.floats(allow_nan=False, allow_infinity=False), digits=st.integers(1, 15))
@example(value=3.68522338937557e-310, digits=15)
@example(value=5e-324, digits=2)
@example(value=-5e-324, digits=2)
@example(value=sys.float_info.max, digits=2)
@example(value=-sys.float_info.max, digits=15)
def test_texts_lie_outward_and_near(value: float, digits: int) -> None:
    exact = Fraction(value)
    lower, upper = (Fraction(f(value, digits)) for f in (format_lower, format_upper))
    assert lower <= exact <= upper
    assert upper - lower <= abs(exact) * Fraction(10) ** (1 - digits)


def test_texts_are_those_of_floats() -> None:
    assert format_upper(1.1e-9, 2) == "1.1e-09"
    assert format_lower(-float("inf"), 2) == "-inf"
    assert format_upper(float("inf"), 15) == "inf"
