"""Brief kernels, run as Python in a process that does little and compiled in one that does more: the same bits from both."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from equimargin.formulations.numeric import dyadic
from equimargin.formulations.numeric.jit import compiled_at_once
from equimargin.formulations.rows import pair_sweeps
from equimargin.solvers.dual import smo_problem, sweeps
from equimargin.solvers.hard import face
from equimargin.solvers.products import tiles
from places import ROOT

Arguments = Callable[[np.random.Generator], tuple[Any, ...]]


def _queries(rng: np.random.Generator) -> tuple[Any, Any, Any, Any]:
    """Points by query and level, the level of every point, where the queries begin, and f."""
    levels = rng.integers(3, size=30).astype(np.int32)
    points = np.concatenate([start + np.argsort(levels[start : start + 10], kind="stable") for start in (0, 10, 20)])
    return points, levels, np.array([0, 10, 20, 30]), rng.normal(size=30)


def _steps(rng: np.random.Generator) -> tuple[Any, ...]:
    alpha = rng.normal(size=40) * 10.0 ** rng.integers(-9, 9, 40)
    return alpha, abs(rng.normal(size=40)), rng.choice([-1.0, 0.0, 1.0], 40), np.empty(40), np.empty(40)


def _place(rng: np.random.Generator) -> tuple[Any, ...]:
    sides = np.repeat([1.0, -1.0], 20)
    return np.tile(np.arange(20), 2), sides, rng.normal(size=40), rng.random(40), np.empty(20), np.empty(20), np.zeros((2, 20))


def _bound(rng: np.random.Generator) -> tuple[Any, ...]:
    return rng.random((2, 20)) * (rng.random((2, 20)) < 0.8), 0.5, np.empty(20), np.empty(20), np.empty((2, 20))


def _least_margins(rng: np.random.Generator) -> tuple[Any, ...]:
    points, levels, starts, f = _queries(rng)
    return points, levels, starts, f, np.zeros((3, 2), np.int64), np.full(3, np.inf)


def _by_query(rng: np.random.Generator) -> tuple[Any, ...]:
    return rng.permutation(8), np.arange(8) % 4 - 1, np.array([0, 2, 4, 6]), np.empty(6, np.int64)


def _middles(rng: np.random.Generator) -> tuple[Any, ...]:
    _, _, starts, f = _queries(rng)
    return np.concatenate([start + np.argsort(f[start : start + 10]) for start in starts[:-1]]), f, starts, np.empty(3)


def _gathered(rng: np.random.Generator) -> tuple[Any, ...]:
    order, f, starts, middle = _middles(rng)
    return order, f, _queries(rng)[1], starts, middle, 1e-9, np.empty(30, np.int64), np.empty(30, np.int32)


def _panels(rng: np.random.Generator) -> tuple[Any, ...]:
    left = rng.normal(size=(70, 5)).astype(np.float32)
    return left, rng.permutation(70)[:61], np.empty((2, 5, tiles.PANEL_COLUMNS), np.float32), 0, 2


BRIEF: dict[str, tuple[Any, Arguments]] = {
    "steps": (dyadic._steps, _steps),
    "least margins": (pair_sweeps.least_margins, _least_margins),
    "by query": (pair_sweeps.by_query, _by_query),
    "middles": (pair_sweeps.middles, _middles),
    "gathered": (pair_sweeps.gathered, _gathered),
    "place": (smo_problem._place, _place),
    "bound": (smo_problem._bound, _bound),
    "shuffle": (sweeps.shuffle, lambda rng: (np.arange(rng.integers(200)), int(rng.integers(1000)))),
    "thresholds": (sweeps.thresholds, lambda rng: (float(rng.normal()), float(rng.normal()))),
    "drop": (face._drop, lambda rng: (np.triu(rng.normal(size=(6, 6))), rng.normal(size=(9, 6)), 2, 6)),
    "features": (tiles._expand, lambda rng: (rng.normal(size=(33, 7)), 0.3, np.empty((33, 9)))),
    "panels": (tiles._fill_panels, _panels),
}


@pytest.mark.parametrize("name", BRIEF)
def test_python_and_compiled_code_give_the_same_bits(name: str) -> None:
    kernel, arguments = BRIEF[name]
    for seed in range(20):
        one, other = arguments(np.random.default_rng(seed)), arguments(np.random.default_rng(seed))
        with compiled_at_once():
            compiled = kernel(*one)
        with np.errstate(all="ignore"):
            interpreted = kernel.py_func(*other)
        assert bits(compiled) == bits(interpreted), seed
        for a, b in zip(one, other, strict=True):
            assert bits(a) == bits(b), seed


def bits(value: Any) -> Any:
    """The bits of an array or a number, or of several, so that 0 is not -0; None of None."""
    return [bits(part) for part in value] if isinstance(value, tuple) else None if value is None else np.asarray(value).tobytes()


@pytest.mark.parametrize("extreme", [np.inf, -np.inf, np.nan, 0.0, 5e-324])
def test_also_for_numbers_at_the_end_of_float64(extreme: float) -> None:
    for name in ("steps", "least margins", "bound", "drop", "features", "place"):
        kernel, arguments = BRIEF[name]
        one, other = arguments(np.random.default_rng(0)), arguments(np.random.default_rng(0))
        for drawn in (one, other):
            for array in drawn:
                if isinstance(array, np.ndarray) and array.dtype == np.float64 and name != "place":
                    array.flat[:: max(array.size // 3, 1)] = abs(extreme) if name == "bound" else extreme
        with compiled_at_once():
            compiled = kernel(*one)
        with np.errstate(all="ignore"):
            interpreted = kernel.py_func(*other)
        for a, b in zip((compiled, *one), (interpreted, *other), strict=True):
            assert a is b is None or np.array_equal(a, b, equal_nan=True), name


def test_every_brief_kernel_is_among_these() -> None:
    found = set()
    for folder in ("formulations", "solvers"):
        for file in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.FunctionDef) and any(isinstance(d, ast.Name) and d.id == "brief" for d in node.decorator_list):
                    found.add(node.name)
    assert found == {kernel.py_func.__name__ for kernel, _ in BRIEF.values()}
