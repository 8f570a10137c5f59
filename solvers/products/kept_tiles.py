"""Tiles of a kernel matrix that is kept as a whole once much of it has been computed.

A run on a working set computes the same entries again and again. Where an entry takes many features, computing it costs more than reading
it back. The whole matrix is therefore computed when the entries that were asked for have cost a good part of it: a run that needs few
entries never pays for all of them.
"""

from __future__ import annotations

import numpy as np

from equimargin.formulations.kernels.gram import Gram
from equimargin.formulations.kernels.kernel import Precomputed
from equimargin.formulations.numeric.arrays import Array
from equimargin.solvers.products.tiles import Block, GivenTiles, Index, Tiles
from equimargin.solvers.products.workspace import KEPT_BYTES, Workspace

KEPT_AFTER = 0.4
"""Entries that were asked for, over those of the matrix, from which on it is kept: half a symmetric matrix, 0.5, is what it costs."""


def kept(tiles: Tiles, memory: Workspace) -> Tiles:
    """Tiles that are kept once much of them has been computed; the same ones where that needs more than KEPT_BYTES or gains nothing."""
    fits = tiles.gram.m**2 * tiles.dtype.itemsize <= KEPT_BYTES
    return KeptTiles(tiles, memory) if fits and tiles.dear else tiles


class KeptTiles(Tiles):
    """Tiles of others, until they are kept.

    source : where entries come from now: the tiles given, or the matrix that is kept.  computed : entries that were asked for so far.
    memory : where the matrix is kept; of one run at a time.
    """

    def __init__(self, tiles: Tiles, memory: Workspace) -> None:
        super().__init__(tiles.gram, tiles.unit, tiles.n_jobs, tiles.dtype)
        self.source, self.memory, self.computed = tiles, memory, 0

    def block(self, rows: Index, columns: Index, out: Block | None = None) -> Block:
        return self._after(len(rows) * len(columns) // (2 if rows is columns else 1)).block(rows, columns, out)

    def add_product(self, rows: Index, v: Array, f: Array) -> None:
        self._after(len(rows) * self.gram.m).add_product(rows, v, f)

    def product(self, rows: Index, v: Array, columns: Index) -> Array:
        return self._after(len(rows) * len(columns)).product(rows, v, columns)

    def _after(self, entries: int) -> Tiles:
        """Where entries come from after this many more have been asked for."""
        m, self.computed = self.gram.m, self.computed + entries
        if self.computed > KEPT_AFTER * m**2 and not isinstance(self.source, GivenTiles):
            points = np.arange(m)
            K = self.source.block(points, points, self.memory.square("all", m, self.dtype))
            self.source = GivenTiles(Gram(Precomputed(), K), 1.0, self.n_jobs, self.dtype)
        return self.source
