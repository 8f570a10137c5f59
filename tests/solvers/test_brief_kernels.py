"""Agreement of brief kernels, within rounding error, as Python and as compiled code.

A process with little work runs them as Python; one with more work compiles them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from equimargin.formulations.kernels import additive, features, given_matrix
from equimargin.formulations.numeric import dyadic, rounding
from equimargin.formulations.numeric.jit import as_python, compile_eagerly
from equimargin.formulations.rows import listed, loss, pair_sweeps, slacks
from equimargin.solvers.dual import newton_on_face, smo_problem, sweeps, working_set
from equimargin.solvers.hard import face
from equimargin.solvers.path.budget import Budget
from equimargin.solvers.path.quadratic import active_set, parametric_qp, program, steps
from equimargin.solvers.products import swept_rows, tiles
from equimargin.solvers.sparse_weights import sweeps as weight_sweeps
from places import ROOT

Arguments = Callable[[np.random.Generator], tuple[Any, ...]]


def _queries(rng: np.random.Generator) -> tuple[Any, Any, Any, Any]:
    """Return points by query and level, the level of every point, query starts, and f."""
    levels = rng.integers(3, size=30).astype(np.int32)
    points = np.concatenate(
        [start + np.argsort(levels[start : start + 10], kind="stable") for start in (0, 10, 20)]
    )
    return points, levels, np.array([0, 10, 20, 30]), rng.normal(size=30)


def _sweep_of_weights(rng: np.random.Generator, is_sparse: bool) -> tuple[Any, ...]:
    X = rng.normal(size=(20, 6)) * (rng.random((20, 6)) < 0.5)
    y, costs, w = (
        rng.choice([-1.0, 1.0], 20),
        rng.random(20),
        np.append(rng.normal(size=3), [0.0] * 3),
    )
    columns = weight_sweeps.ColumnArrays.of(
        sparse.csc_array(X) if is_sparse else np.asfortranarray(X)
    )
    largest = 2 * costs @ X**2
    scratch = np.empty((2, columns.longest))
    return rng.permutation(6), columns, costs * y, largest, scratch, w, y - X @ w


def _steps(rng: np.random.Generator) -> tuple[Any, ...]:
    alpha = rng.normal(size=40) * 10.0 ** rng.integers(-9, 9, 40)
    return (
        alpha,
        abs(rng.normal(size=40)),
        rng.choice([-1.0, 0.0, 1.0], 40),
        np.empty(40),
        np.empty(40),
    )


def _place(rng: np.random.Generator) -> tuple[Any, ...]:
    sides = smo_problem.SeparablePart(np.empty(20), np.empty(20), np.empty(20), np.empty((2, 20)))
    return (
        np.tile(np.arange(20), 2),
        np.repeat([1.0, -1.0], 20),
        rng.normal(size=40),
        rng.random(40) * (rng.random(40) < 0.8),
        float(rng.choice([0.0, 0.5])),
        np.empty(20),
        np.zeros((2, 20)),
        sides,
    )


def _least_margins(rng: np.random.Generator) -> tuple[Any, ...]:
    points, levels, starts, f = _queries(rng)
    return points, levels, starts, f, np.zeros((3, 2), np.int64), np.full(3, np.inf)


def _by_query(rng: np.random.Generator) -> tuple[Any, ...]:
    query = (np.arange(8) % 4 - 1).astype(np.int32)
    return rng.permutation(8), query, np.array([0, 2, 4, 6]), np.empty(6, np.int64)


def _middles(rng: np.random.Generator) -> tuple[Any, ...]:
    _, _, starts, f = _queries(rng)
    return (
        np.concatenate([start + np.argsort(f[start : start + 10]) for start in starts[:-1]]),
        f,
        starts,
        np.empty(3),
    )


def _gathered(rng: np.random.Generator) -> tuple[Any, ...]:
    order, f, starts, middle = _middles(rng)
    return (
        order,
        f,
        _queries(rng)[1],
        starts,
        middle,
        1e-9,
        np.empty(30, np.int64),
        np.empty(30, np.int32),
    )


def _panels(rng: np.random.Generator) -> tuple[Any, ...]:
    left = rng.normal(size=(70, 5)).astype(np.float32)
    return left, rng.permutation(70)[:61], np.empty((2, 5, tiles.PANEL_COLUMNS), np.float32), 0, 2


def _sorted_points(rng: np.random.Generator) -> Any:
    """Return points of three queries in sorted order, rounded to whole numbers."""
    z = np.concatenate([np.sort(rng.integers(-500, 500, 10)) for _ in range(3)])
    return pair_sweeps.OrderedPoints(
        z,
        rng.integers(3, size=30).astype(np.int32),
        np.array([0, 10, 20, 30]),
        np.full(3, 3, np.int32),
    )


def _within(rng: np.random.Generator) -> tuple[Any, ...]:
    degree, balance = np.zeros((2, 30), np.int32)
    return (
        _sorted_points(rng),
        300,
        pair_sweeps.ThresholdSums(
            degree, balance, np.zeros(30, np.int64), np.zeros(3), np.zeros(3), np.zeros(3, np.int64)
        ),
    )


def _levelled_points(rng: np.random.Generator) -> Any:
    """Return points of three queries sorted by level, rounded to whole numbers."""
    z, level, starts, levels = _sorted_points(rng)
    level = np.concatenate([np.sort(level[a : a + 10]) for a in starts[:-1]])
    return pair_sweeps.OrderedPoints(rng.permutation(z), level, starts, levels)


def _within_by_pairs(rng: np.random.Generator) -> tuple[Any, ...]:
    return _levelled_points(rng), *_within(rng)[1:]


def _product_by_pairs(rng: np.random.Generator) -> tuple[Any, ...]:
    graph, *others = _laplacian_product(rng)
    return graph._replace(points=_levelled_points(rng)), *others


def _list_pairs(rng: np.random.Generator) -> tuple[Any, ...]:
    points, level, starts, _ = _queries(rng)
    query = np.repeat(np.arange(3), 10)
    lower = (query[:, None] == query) & (level[:, None] > level)
    rows, p = np.cumsum(lower.sum(axis=1)) - lower.sum(axis=1), int(lower.sum())
    return points, level, starts, rows, np.zeros(p, np.int64), np.zeros(p, np.int64)


def _graph(rng: np.random.Generator) -> Any:
    degree = rng.integers(4, size=30).astype(np.int32)
    return pair_sweeps.PairGraph(_sorted_points(rng), 400, 100, degree)


def _laplacian_product(rng: np.random.Generator) -> tuple[Any, ...]:
    return _graph(rng), rng.permutation(30), rng.random(3), rng.normal(size=30)


def _laplacian_gram(rng: np.random.Generator) -> tuple[Any, ...]:
    room = (pair_sweeps.GATHERED_ROWS, 4)
    return (
        rng.normal(size=(30, 4)),
        rng.permutation(30),
        rng.random(3),
        _graph(rng),
        np.zeros(room),
        np.zeros(room),
    )


def _listed_gram(rng: np.random.Generator, precision: Any = np.float64) -> tuple[Any, ...]:
    preferred, room = np.sort(rng.integers(10, size=25)), (listed.GATHERED_ROWS, 3)
    return (
        rng.normal(size=(20, 3)),
        preferred,
        10 + rng.integers(10, size=25),
        rng.normal(size=25),
        np.zeros(20),
        np.zeros(room, precision),
        np.zeros(room, precision),
    )


def _few_products(rng: np.random.Generator, size: int) -> tuple[Any, ...]:
    return (
        rng.normal(size=(9, 3)),
        rng.permutation(9)[:6],
        rng.normal(size=6),
        np.zeros((size, size)),
    )


def _one_number_a_point(rng: np.random.Generator) -> tuple[Any, ...]:
    """Return multipliers of 30 points, some at a bound, and their interval sides.

    The sides have the lower and upper ends, the width and the ridge.
    """
    ridge = np.zeros((2, 30)) if rng.random() < 0.5 else rng.random((2, 30))
    lower, upper = -rng.random(30), rng.random(30)
    a = np.clip(rng.normal(size=30), lower, upper) * (rng.random(30) < 0.8)
    return a, smo_problem.SeparablePart(lower, upper, rng.random(30), ridge)


def _seen(rng: np.random.Generator) -> tuple[Any, ...]:
    a, sides = _one_number_a_point(rng)
    return (
        rng.normal(size=30),
        a,
        rng.normal(size=30),
        sides,
        rng.random((2, 30)),
        np.empty(30),
        np.empty(30),
        np.empty(30, bool),
    )


def _pair_steps(rng: np.random.Generator, precision: Any) -> tuple[Any, ...]:
    """Return the arguments of few steps: rounding may choose a pair that leads elsewhere."""
    a, sides = _one_number_a_point(rng)
    Z = rng.normal(size=(30, 40))
    return (
        (Z @ Z.T / 40).astype(precision),
        rng.normal(size=30).astype(precision),
        a,
        sides,
        1e-10,
        1e-3,
        8,
    )


def _sweep(rng: np.random.Generator, by_value: bool) -> tuple[Any, ...]:
    p, none = 300, np.empty(0, np.uint32)
    Z = rng.normal(size=(p, 4))
    K = Z @ Z.T
    ridge, box = rng.random((2, p))
    terms = np.column_stack([rng.normal(size=p), box, ridge, K.diagonal() + ridge]).ravel()
    rows = sweeps.RowArrays(sweeps.SparseRows(none, none, rng.choice([-1.0, 1.0], p)), terms)
    X = swept_rows.stored_array(K if by_value else Z)
    return (
        rng.permutation(p),
        sweeps.SweepState.before(3, p, 0.0),
        sweeps.SweepGoal(1e-9, 1.0, 5, 6, 500),
        rows,
        X,
        by_value,
        sweeps.SweepIterate(rng.random(p) * box, rng.normal(size=X.d)),
    )


def _climb(rng: np.random.Generator) -> tuple[Any, ...]:
    B = rng.normal(size=(12, 20))
    wide = np.full(12, 1e3)
    return B @ B.T, rng.normal(size=12), rng.random(12), -wide, wide, True, 50, np.array([1e-13])


def _differences(rng: np.random.Generator, explicit: bool) -> active_set.Differences:
    """Return the rows of a classification of 20 points, with a bias."""
    Z = np.column_stack([rng.normal(size=(20, 3)), np.ones(20)])
    E = np.pad(Z, ((0, 1), (0, 0))) if explicit else np.pad(np.exp(Z @ Z.T / 10), (0, 1))
    s = np.repeat([1.0, -1.0], 10)
    i, j = np.where(s > 0, np.arange(20), 20), np.where(s > 0, 20, np.arange(20))
    q = active_set.squared_lengths(E, explicit, i, j)
    return active_set.Differences(E, explicit, i.astype(np.uint32), j.astype(np.uint32), s, q)


def _path(rng: np.random.Generator, explicit: bool) -> parametric_qp.ParametricQP:
    """Return a path at its first breakpoint."""
    of = _differences(rng, explicit)
    begun = parametric_qp.ParametricQP(
        program.QuadraticPathProgram(
            of,
            program.RowConditions(np.ones(20), 0.5 + rng.random(20)),
            True,
            lambda beta: 0.0,
            (0.0, 0.0),
            program.HandedOut(np.zeros(of.E.shape[1]), 0.0, 20.0),
        ),
        float(rng.choice([-1.0, 1.0])),
        Budget(1e-3, None, None, None),
    )
    begun.begin()
    begun.on.before.lam[0] = begun.at.lam[0]
    for array in begun.trace.page:
        array[...] = 0
    return begun


def _walk(rng: np.random.Generator, explicit: bool) -> tuple[Any, ...]:
    path = _path(rng, explicit)
    return path.on, path.trace.page, int(steps.WalkStart.JUDGE), 1e-3, 12


def _judge(rng: np.random.Generator, explicit: bool) -> tuple[Any, ...]:
    on = _path(rng, explicit).on
    return on.of, on.rows, on.facts, on.at, on.before, on.found, True


def _working_set(
    rng: np.random.Generator, explicit: bool
) -> tuple[active_set.Differences, active_set.WorkingSetFactor]:
    """Return rows, and a working set with three of them."""
    of = _differences(rng, explicit)
    working = active_set.PathWorkingSet(of)
    assert all(working.add(row) for row in rng.permutation(20)[:3].tolist())
    return of, working.factor


def _minimise(rng: np.random.Generator, explicit: bool) -> tuple[Any, ...]:
    of = _differences(rng, explicit)
    c, lower, upper = rng.normal(size=20), -rng.random(20), rng.random(20)
    problem = active_set.Subproblem(c, lower, upper, np.arange(20))
    factor = active_set.PathWorkingSet(of).factor
    return of, factor, problem, active_set.State.at_0(of), 1e-10, np.intp(64)


def _leave_bounds(rng: np.random.Generator) -> tuple[Any, ...]:
    at = _path(rng, True).at
    _, W = _working_set(rng, True)
    at.alpha[W.rows[:2]] = 0.0
    return W, np.ones(20), at, np.zeros(20, np.intp)


def _settle(rng: np.random.Generator) -> tuple[Any, ...]:
    X, box = rng.normal(size=(20, 3)), rng.random(20)
    alpha = rng.random(20) * box
    at = sweeps.SweepIterate(alpha, alpha @ X)
    return X, np.arange(20), np.ones(20), box, at, 1e-9, 5, 0


def _triangle(rng: np.random.Generator) -> tuple[Any, ...]:
    return np.tril(rng.normal(size=(6, 6))) + 3 * np.eye(6), 5, rng.normal(size=6)


def _tiles(rng: np.random.Generator, K: Any, symmetric: bool) -> tuple[Any, ...]:
    """Return features of 100 points, some rows, the panels of the columns, and K.

    The columns are the rows if `symmetric`.
    """
    left = (0.3 * rng.normal(size=(100, 5))).astype(np.float32)
    columns = rng.permutation(100)[: K.shape[1]]
    panels = np.empty((2, 5, tiles.PANEL_COLUMNS), np.float32)
    as_python(tiles._fill_panels)(left, columns, panels, 0, 2)
    return (
        left,
        columns if symmetric else rng.permutation(100)[:61],
        panels,
        K,
        symmetric,
        0,
        -(-K.shape[1] // tiles.PANEL_COLUMNS),
    )


def _sums(rng: np.random.Generator, count: int, symmetric: bool) -> tuple[Any, ...]:
    left, rows, panels, *_, last = _tiles(rng, np.empty((61, count), np.float32), symmetric)
    return left, rows, rng.normal(size=len(rows)), panels, np.ones(count), symmetric, 0, last


def _rows_of_sparse(rng: np.random.Generator, m: int) -> tuple[Any, ...]:
    """Return the arrays of a CSR matrix of 6 columns, half of them filled."""
    X = sparse.csr_array(rng.random((m, 6)) * (rng.random((m, 6)) < 0.5))
    return X.indptr, X.indices, X.data


BRIEF: dict[str, tuple[Any, Arguments]] = {
    "steps": (dyadic._steps, _steps),
    "next floats": (
        rounding._step_toward,
        lambda rng: (
            rng.choice([0.0, -0.0, 1.0, -1e300, 5e-324, np.inf, -np.inf, np.nan], 100),
            float(rng.choice([-1.0, 1.0])),
        ),
    ),
    "least margins": (pair_sweeps.least_margins, _least_margins),
    "by query": (pair_sweeps.by_query, _by_query),
    "middles": (pair_sweeps.middles, _middles),
    "gathered": (pair_sweeps.gathered, _gathered),
    "place": (smo_problem._place, _place),
    "shuffle": (
        sweeps.shuffle,
        lambda rng: (np.arange(rng.integers(200)), int(rng.integers(1000))),
    ),
    "thresholds": (sweeps.thresholds, lambda rng: (float(rng.normal()), float(rng.normal()))),
    "drop": (
        face._drop,
        lambda rng: (np.triu(rng.normal(size=(6, 6))), rng.normal(size=(9, 6)), 2, 6),
    ),
    "features": (
        tiles._expand,
        lambda rng: (rng.normal(size=(33, 7)), 0.3, np.empty((33, 9)), np.empty(33)),
    ),
    "panels": (tiles._fill_panels, _panels),
    "asymmetry": (given_matrix.asymmetry, lambda rng: (rng.normal(size=(30, 30)),)),
    "pairs within": (pair_sweeps.within, _within),
    "pairs within, pair by pair": (pair_sweeps.within_by_pairs, _within_by_pairs),
    "list of pairs": (pair_sweeps.list_pairs, _list_pairs),
    "Laplacian of pairs": (pair_sweeps.laplacian_product, _laplacian_product),
    "Gram of pairs": (pair_sweeps.laplacian_gram, _laplacian_gram),
    "Gram of listed pairs": (listed._laplacian_gram, _listed_gram),
}
"""Brief kernels of which Python and compiled code give the same bits."""
ROUNDED: dict[str, tuple[Any, Arguments]] = {
    "Gram of listed pairs in float32": (
        listed._laplacian_gram,
        lambda rng: _listed_gram(rng, np.float32),
    ),
    "scan of a matrix": (given_matrix.scan, lambda rng: (rng.normal(size=(30, 30)),)),
    "squares of rows": (features._add_squares, lambda rng: (rng.normal(size=(9, 3)), np.ones(9))),
    "differences of pairs": (
        listed._add_differences,
        lambda rng: (
            rng.normal(size=20),
            np.sort(rng.integers(7, size=20)),
            rng.integers(7, size=20),
            np.zeros(7),
        ),
    ),
    "Laplacian of pairs, pair by pair": (
        pair_sweeps.laplacian_product_by_pairs,
        _product_by_pairs,
    ),
    "combined rows": (
        features._combined_rows,
        lambda rng: (
            rng.normal(size=(9, 3)),
            rng.permutation(9)[:6],
            rng.normal(size=6),
            np.ones(3),
        ),
    ),
    "few products": (features._few_products, lambda rng: _few_products(rng, 3)),
    "few products and ones": (features._few_products, lambda rng: _few_products(rng, 4)),
    "slopes of losses": (
        slacks._slopes,
        lambda rng: (*rng.normal(size=(3, 40)), 0.3, 2.0, float(rng.choice([0.5, np.inf]))),
    ),
    "losses": (
        loss._expand,
        lambda rng: (
            *rng.normal(size=(3, 40)),
            2.0,
            float(rng.choice([0.5, np.inf])),
            np.empty(40),
            np.empty(40),
        ),
    ),
    "seen": (smo_problem._seen, _seen),
    "pair steps": (working_set.pair_steps, lambda rng: _pair_steps(rng, np.float64)),
    "pair steps in float32": (working_set.pair_steps, lambda rng: _pair_steps(rng, np.float32)),
    "sweeps": (sweeps.sweep_on, lambda rng: _sweep(rng, False)),
    "sweeps by value": (sweeps.sweep_on, lambda rng: _sweep(rng, True)),
    "climb": (newton_on_face._climb, _climb),
    "sums over features": (
        additive._add_terms,
        lambda rng: (
            rng.random((9, 3)),
            rng.random((3, 7)),
            bool(rng.integers(2)),
            np.empty((9, 7)),
        ),
    ),
    "sums over features of sparse points": (
        additive._add_merged,
        lambda rng: (
            *_rows_of_sparse(rng, 9),
            *_rows_of_sparse(rng, 7),
            6,
            bool(rng.integers(2)),
            np.empty((9, 7)),
        ),
    ),
    "sweep of weights": (weight_sweeps.sweep, lambda rng: _sweep_of_weights(rng, False)),
    "sweep of weights of sparse columns": (
        weight_sweeps.sweep,
        lambda rng: _sweep_of_weights(rng, True),
    ),
    "exponentials": (
        tiles._exponentials,
        lambda rng: _tiles(rng, np.empty((61, 61), np.float32), True),
    ),
    "exponentials of other columns": (
        tiles._exponentials,
        lambda rng: _tiles(rng, np.empty((61, 100), np.float32), False),
    ),
    "walk along a path in features": (steps.walk, lambda rng: _walk(rng, True)),
    "walk along a path": (steps.walk, lambda rng: _walk(rng, False)),
    "judgement in features": (program.judge, lambda rng: _judge(rng, True)),
    "judgement": (program.judge, lambda rng: _judge(rng, False)),
    "minimum in features": (active_set.minimise, lambda rng: _minimise(rng, True)),
    "minimum": (active_set.minimise, lambda rng: _minimise(rng, False)),
    "row that enters": (active_set.enter, lambda rng: (*_working_set(rng, False), 19)),
    "refactored": (active_set.refactor, lambda rng: _working_set(rng, True)),
    "forward": (active_set.forward, _triangle),
    "backward": (active_set.backward, _triangle),
    "rows that leave": (steps.leave_bounds, _leave_bounds),
    "closing bias": (
        steps.closing,
        lambda rng: (
            _differences(rng, True),
            np.ones(20),
            rng.choice([-1.0, 1.0], 20),
            rng.normal(size=21),
        ),
    ),
    "collected": (
        program.collect,
        lambda rng: (*_differences(rng, True)[2:4], rng.random(20), np.empty(21)),
    ),
    "settled": (sweeps._settle, _settle),
    "sums of exponentials": (tiles._add_exponentials, lambda rng: _sums(rng, 61, True)),
    "sums of exponentials of other columns": (
        tiles._add_exponentials,
        lambda rng: _sums(rng, 100, False),
    ),
    "rows": (
        tiles.add_rows,
        lambda rng: (
            rng.normal(size=(9, 20)),
            rng.permutation(9)[:6],
            rng.normal(size=6),
            np.ones(20),
            2,
            17,
        ),
    ),
}
"""Brief kernels that sum in any order when compiled."""


@pytest.mark.slow
@pytest.mark.parametrize("name", BRIEF)
def test_python_and_compiled_code_give_the_same_bits(name: str) -> None:
    kernel, arguments = BRIEF[name]
    for seed in range(20):
        one, other = arguments(np.random.default_rng(seed)), arguments(np.random.default_rng(seed))
        with compile_eagerly():
            compiled = kernel(*one)
        with np.errstate(all="ignore"):
            interpreted = as_python(kernel)(*other)
        assert bits(compiled) == bits(interpreted), seed
        for a, b in zip(one, other, strict=True):
            assert bits(a) == bits(b), seed


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name.startswith("walk") else ())
        for name in ROUNDED
    ],
)
def test_python_and_compiled_code_differ_by_no_more_than_rounding(name: str) -> None:
    kernel, arguments = ROUNDED[name]
    for seed in range(20):
        one, other = arguments(np.random.default_rng(seed)), arguments(np.random.default_rng(seed))
        with compile_eagerly():
            compiled = kernel(*one)
        with np.errstate(all="ignore"):
            interpreted = as_python(kernel)(*other)
        for a, b in zip(numbers((compiled, one)), numbers((interpreted, other)), strict=True):
            assert np.allclose(
                a, b, rtol=1e-5 if "32" in name or "exponentials" in name else 1e-10, atol=1e-5
            ), seed


def numbers(value: Any) -> list[Any]:
    """Return all arrays and numbers of a value, those of tuples one after the other."""
    return (
        [part for inner in value for part in numbers(inner)]
        if isinstance(value, tuple)
        else []
        if value is None
        else [value]
    )


def bits(value: Any) -> Any:
    """Return the bits of an array or number, or of several, so that 0 is not -0.

    None gives None.
    """
    return (
        [bits(part) for part in value]
        if isinstance(value, tuple)
        else None
        if value is None
        else np.asarray(value).tobytes()
    )


@pytest.mark.parametrize("extreme", [np.inf, -np.inf, np.nan, 0.0, 5e-324])
def test_also_for_numbers_at_the_end_of_float64(extreme: float) -> None:
    for name in ("steps", "least margins", "drop", "features", "place"):
        kernel, arguments = BRIEF[name]
        one, other = arguments(np.random.default_rng(0)), arguments(np.random.default_rng(0))
        for drawn in (one, other):
            # Of the rows that are placed, only the costs may be extreme, and not below 0.
            for array in drawn[3:4] if name == "place" else drawn:
                if isinstance(array, np.ndarray) and array.dtype == np.float64:
                    array.flat[:: max(array.size // 3, 1)] = (
                        abs(extreme) if name == "place" else extreme
                    )
        with compile_eagerly():
            compiled = kernel(*one)
        with np.errstate(all="ignore"):
            interpreted = as_python(kernel)(*other)
        for a, b in zip(numbers((compiled, one)), numbers((interpreted, other)), strict=True):
            assert np.array_equal(a, b, equal_nan=True), name


def test_every_brief_kernel_is_among_these() -> None:
    found = set()
    for folder in ("formulations", "solvers"):
        for file in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.FunctionDef) and any(
                    ast.unparse(d).startswith("brief") for d in node.decorator_list
                ):
                    found.add(node.name)
    assert found == {kernel.py_func.__name__ for kernel, _ in (BRIEF | ROUNDED).values()}
