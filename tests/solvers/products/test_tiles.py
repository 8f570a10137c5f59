"""Blocks and products of kernel matrices by tiles, against the kernel's own formula."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from equimargin.formulations import rbf
from equimargin.formulations.kernels.gram import Gram
from equimargin.formulations.numeric.jit import fast
from equimargin.formulations.numeric.rows_by_panel import ROWS, rows_by_panel
from equimargin.formulations.numeric.workspace import Workspace
from equimargin.solvers.products import kept_tiles
from equimargin.solvers.products.kept_tiles import KeptRows, KeptTiles, kept
from equimargin.solvers.products.tiles import DEAR_FEATURES, PANEL_COLUMNS, GivenTiles, tiles

M = 3 * PANEL_COLUMNS + 17


@fast
def _product(left: Any, rows: Any, first: int, panel: Any, E: Any) -> None:
    rows_by_panel(left, rows, first, panel, E)


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("features", [1, 2, 7, 130])
def test_rows_times_a_panel(precision: Any, features: int) -> None:
    """The last rows are fewer than a product takes: the last one stands in for the rest."""
    rng = np.random.default_rng(features)
    left, panel = (
        rng.normal(size=(20, features)).astype(precision),
        rng.normal(size=(features, PANEL_COLUMNS)).astype(precision),
    )
    rows, E = rng.permutation(20)[:9], np.empty((ROWS, PANEL_COLUMNS), precision)
    for first in (0, 2, 6):
        _product(left, rows, first, panel, E)
        expected = left[rows[np.minimum(np.arange(first, first + ROWS), 8)]] @ panel
        assert np.abs(E - expected).max() <= 8 * features * np.finfo(precision).eps


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("features", [1, 6, 70])
def test_products_and_blocks_of_an_rbf_kernel(precision: Any, features: int, n_jobs: int) -> None:
    """All, some or none of the rows are among the columns, in any order.

    No rows or columns at all are a case, too.
    """
    rng = np.random.default_rng(features)
    X, kernel, unit = rng.normal(size=(M, features)), rbf(0.5 / features), 1.0
    K, exact = kernel.block(X, X), tiles(Gram(kernel, X), unit, n_jobs)
    used = exact if precision is np.float64 else exact.single()
    eps = 100 * float(np.finfo(precision).eps)
    rows = np.sort(rng.permutation(M)[:130])
    v, others = rng.normal(size=130), np.setdiff1d(np.arange(M), rows)
    for columns in (rows, rng.permutation(M), np.arange(M), others, others[:1], rows[1:], rows[:0]):
        assert (
            np.abs(used.product(rows, v, columns) - K[np.ix_(columns, rows)] @ v).max(initial=0.0)
            <= eps * np.abs(v).sum()
        )
        assert np.abs(used.block(rows, columns) - K[np.ix_(rows, columns)]).max(initial=0.0) <= eps
    square = used.block(rows, rows)
    assert np.abs(square - K[np.ix_(rows, rows)]).max() <= eps
    assert not used.product(rows[:0], v[:0], rows).any()
    f = np.ones(M)
    used.add_product(rows, v, f)
    assert np.abs(f - 1.0 - K[:, rows] @ v).max() <= eps * np.abs(v).sum()


def test_tiles_are_kept_when_much_of_the_matrix_has_been_computed() -> None:
    """The numbers of both precisions are the same before and after.

    Tiles of low cost are not stored, and those of a large matrix only by rows.
    """
    rng = np.random.default_rng(0)
    X, rows = rng.normal(size=(M, DEAR_FEATURES)), np.arange(40, 100)
    K, plain = rbf(0.01).block(X, X), tiles(Gram(rbf(0.01), X), 1.0)
    both = kept(plain, Workspace())
    assert all(isinstance(used, KeptTiles) for used in both)
    assert np.array_equal(both[0].resolution, plain.resolution)
    v, sources = rng.normal(size=len(rows)), []
    for _ in range(2):
        for used, eps in zip(both, (1e-12, 1e-4), strict=True):
            f = np.zeros(M)
            used.add_product(rows, v, f)
            assert np.abs(f - K[:, rows] @ v).max() <= eps
            assert (
                np.abs(used.product(rows, v, rows[5:]) - K[np.ix_(rows[5:], rows)] @ v).max() <= eps
            )
            assert np.abs(used.block(rows, rows) - K[np.ix_(rows, rows)]).max() <= eps
            assert used.block(rows, rows).dtype == used.dtype
            assert isinstance(used, KeptTiles)
            sources.append(isinstance(used.source, GivenTiles))
    assert sources == [False, True, True, True]
    few = tiles(Gram(rbf(0.01), X[:, :5]), 1.0)
    assert kept(few, Workspace())[0] is few
    many = tiles(Gram(rbf(0.01), np.resize(X, (7000, DEAR_FEATURES))), 1.0)
    exact, single = kept(many, Workspace())
    assert exact is many
    assert isinstance(single, KeptRows)


@pytest.mark.parametrize("places", [0, 70, M])
def test_rows_of_products_are_stored_while_memory_is_left(
    monkeypatch: pytest.MonkeyPatch, places: int
) -> None:
    """Products and blocks are those of K, whichever of their rows are stored."""
    monkeypatch.setattr(kept_tiles, "KEPT_BYTES", places * M * 4)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(M, DEAR_FEATURES))
    K, single = rbf(0.01).block(X, X), kept(tiles(Gram(rbf(0.01), X), 1.0), Workspace())[1]
    assert isinstance(single, KeptRows)
    computed, block = list[int](), single.source.block

    def noted(rows: Any, *at: Any) -> Any:
        computed.append(len(rows))
        return block(rows, *at)

    monkeypatch.setattr(single.source, "block", noted)
    for rows in (np.arange(40, 100), np.arange(80, 120), np.arange(60, 120)):
        v, computed[:] = rng.normal(size=len(rows)), []
        f = single.product(rows, v, rows[5:])
        assert np.abs(f - K[np.ix_(rows[5:], rows)] @ v).max() <= 1e-4
    assert single.count == min(places, 80)
    assert sum(computed) == 0
    for points, columns in ((rows, rows), (np.arange(130), np.arange(30, M)), (rows[:0], rows)):
        error = np.abs(single.block(points, columns) - K[np.ix_(points, columns)])
        assert error.max(initial=0.0) <= 1e-6
    places_of = single.place[single.place >= 0]
    assert sorted(places_of.tolist()) == list(range(single.count))


@pytest.mark.parametrize("wanted", [0, M // 3, M // 2 + 1])
def test_tiles_are_kept_at_once_where_many_rows_are_expected(wanted: int) -> None:
    """Each of these rows is requested about twice.

    Half of the points thus request as many entries as there are.
    """
    X, rows = np.random.default_rng(0).normal(size=(M, DEAR_FEATURES)), np.arange(5)
    exact, single = kept(tiles(Gram(rbf(0.01), X), 1.0), Workspace())
    single.expect(wanted)
    for used in (single, exact):
        used.block(rows, rows)
        assert isinstance(used, KeptTiles)
        assert isinstance(used.source, GivenTiles) == (wanted > M / 2)
