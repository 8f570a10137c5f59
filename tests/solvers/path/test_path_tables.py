"""Experiment that reruns document P's tables, with the splits of Table 2.

One of them is run to its result.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

import places
from public_data import SHARED, needs_data

pytestmark = needs_data("esl-mixture.csv", "auto-mpg.csv", "pima.csv")


@pytest.fixture(scope="module")
def example() -> ModuleType:
    return places.example("path_tables")


@pytest.fixture(scope="module")
def sets(example: ModuleType) -> Any:
    return example.read(SHARED)


@pytest.mark.parametrize(
    ("name", "sizes", "pairs"),
    [
        ("Mixtures", (100, 50, 50), 99),
        # Table 2 has 305 pairs; the number depends on the split.
        ("Auto", (196, 98, 98), None),
        ("Diabetes", (384, 192, 192), 383),
        ("Cancer", (285, 142, 142), 284),
    ],
)
def test_its_splits_are_those_of_table_2(
    example: ModuleType, sets: Any, name: str, sizes: tuple[int, ...], pairs: int | None
) -> None:
    """Its columns of instances and constraints are swapped.

    A tree on n points has n - 1 edges.
    """
    parts = example.split(sets[name], 0)
    assert tuple(len(part.y) for part in parts) == sizes
    edges = len(example.reduced_preferences(parts[0].y))
    assert edges == pairs or (pairs is None and 290 <= edges <= 310)


@pytest.mark.parametrize("reduced", [True, False])
def test_a_split_comes_to_something(example: ModuleType, sets: Any, reduced: bool) -> None:
    found = example.run(sets["Mixtures"], 0, reduced)
    assert found.complete
    assert found.pairs == (99 if reduced else 2500)
    assert 1.5 <= found.breakpoints / found.pairs <= 3.0
    assert found.lam >= example.LAMBDA_MIN
    assert 0.0 <= found.error < 0.35
    assert 2 <= found.size <= 100


def test_the_narrow_kernel_has_the_printed_lambdas(example: ModuleType, sets: Any) -> None:
    said = "\n".join(example.narrow(sets))
    assert "Cancer: last breakpoint 0.793872, n / (n + |n_e - n_p|) = 0.793872" in said
    assert "Diabetes: last breakpoint 0.769539, n / (n + |n_e - n_p|) = 0.769539" in said
