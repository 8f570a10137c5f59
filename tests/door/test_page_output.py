"""Comparison of printed output with the output on a page."""

from __future__ import annotations

import pytest

import pages


def test_a_cut_off_word_may_be_cut_elsewhere_and_a_mark_may_not_change() -> None:
    """A cell of "<.001" is wider than one of ".001"; the next column has a letter less."""
    page = "dual  T (26) as printed, without …  ✗ .003\n"
    assert not list(
        pages.differences("a page", page, "dual  T (26) as printed, without…  ✗ <.001\n")
    )
    assert list(pages.differences("a page", page, "dual  T (26) as printed, without…  ✓ <.001\n"))


PAGE = """1,767 pairs: AGREE, optimum 202.080837, gap 1.3e-09, multiplier 1/4, residual 3e-01
    smo .001 s   CLARABEL ✓ .008
163 answers in 22 s
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("202.080837", "202.080838"),
        ("1.3e-09", "-2e-12"),
        ("smo .001", "smo <.001"),
        ("smo .001", "smo 1.2"),
        ("✓ .008", "✓ .019"),
        ("22 s", "31.5 s"),
        ("1,767", "0 of 0\n1,767"),
    ],
)
def test_page_matches_output_that_differs_by_rounding_or_time(old: str, new: str) -> None:
    assert PAGE.count(old) == 1
    assert not list(pages.differences("a page", PAGE, PAGE.replace(old, new)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("1,767", "1,764"),
        ("202.080837", "202.380837"),
        ("202.080837", "-202.080837"),
        ("1.3e-09", "1.3e-05"),
        ("1/4", "1/5"),
        ("3e-01", "2e-01"),
        ("163", "164"),
        ("✓ .008", "✗ .008"),
    ],
)
def test_page_differs_from_output_with_another_number(old: str, new: str) -> None:
    assert PAGE.count(old) == 1
    assert len(list(pages.differences("a page", PAGE, PAGE.replace(old, new)))) == 1


def test_numbers_of_a_part_are_those_of_one_place() -> None:
    printed = "C = 1: 2 of 9\nC = 2: 3 of 9\n"
    assert not list(pages.differences("a page", "...\nC = 2: 3 of 9\n", printed))
    assert list(pages.differences("a page", "...\nC = 2: 2 of 9\n", printed))
