"""Tiles of a kernel matrix that is kept as a whole where a run will need much of it.

A run on a working set asks for the same entries again and again. Where an entry takes
many features, computing it costs more than reading it back. The whole matrix is
therefore computed as soon as the entries that were asked for, and those that the points
still out of place will ask for, take as long: a run that needs few entries never pays
for all of them. It is kept in float64 and serves both precisions, the pair steps in
float32 and the values that are reported.
"""

from __future__ import annotations

import numpy as np

from equimargin.formulations.kernels.gram import Gram
from equimargin.formulations.kernels.kernel import Precomputed
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.workspace import KEPT_BYTES, Workspace
from equimargin.solvers.products.tiles import Block, GivenTiles, Index, Tiles

USES_OF_A_ROW = 2
"""Times that the row of a point that violates optimality will be asked for, about: when the point moves, and when the gap is computed."""


def kept(exact: Tiles, memory: Workspace) -> tuple[Tiles, Tiles]:
    """Tiles in float64 and in float32 that share a matrix, once it is kept; plain ones where it is above KEPT_BYTES or gains nothing.

    Parameters
    ----------
    exact : Tiles
        Tiles in float64.
    memory : Workspace
        Where the matrix is kept; of one run at a time.
    """
    if not exact.dear or exact.gram.m**2 * exact.dtype.itemsize > KEPT_BYTES:
        return exact, exact.single()
    whole = WholeGram(exact, memory)
    return KeptTiles(exact, whole), KeptTiles(exact.single(), whole)


class WholeGram:
    """K / unit of all points in float64, from the time on when it is worth its price.

    Parameters
    ----------
    exact, memory
        As of `kept`.
    spent
        Entries that were asked for so far; one in float64 counts for two.
    ahead
        Those expected.
    gram : Gram | None
        The matrix, None before it is kept.
    """

    def __init__(self, exact: Tiles, memory: Workspace) -> None:
        self.exact, self.memory, self.spent, self.ahead = exact, memory, 0, 0
        self.gram: Gram | None = None

    def ask(self, entries: int) -> Gram | None:
        """The matrix where it is kept, before this many more entries are asked for.

        Half of its entries make a symmetric matrix, and one in float64 takes as long as two in float32: it costs as much as m^2 of these.
        """
        m = self.exact.gram.m
        if self.gram is None and self.spent + self.ahead > m**2:
            points = np.arange(m)
            self.gram = Gram(
                Precomputed(),
                self.exact.block(
                    points, points, self.memory.array("all", (m, m), self.exact.dtype)
                ),
            )
        self.spent += entries
        return self.gram


class KeptTiles(Tiles):
    """Tiles of others, until the matrix is kept.

    source : where entries come from now: the tiles given, or the matrix.  whole : the matrix, shared by the tiles of both precisions.
    """

    def __init__(self, tiles: Tiles, whole: WholeGram) -> None:
        super().__init__(tiles.gram, tiles.unit, tiles.crew, tiles.dtype)
        self.source, self.whole = tiles, whole

    def expect(self, rows: int) -> None:
        self.whole.ahead = USES_OF_A_ROW * rows * self.gram.m

    def block(self, rows: Index, columns: Index, out: Block | None = None) -> Block:
        return self._after(len(rows) * len(columns) // (2 if rows is columns else 1)).block(
            rows, columns, out
        )

    def add_product(self, rows: Index, v: Array, f: Array) -> None:
        self._after(len(rows) * self.gram.m).add_product(rows, v, f)

    def product(self, rows: Index, v: Array, columns: Index) -> Array:
        return self._after(len(rows) * len(columns)).product(rows, v, columns)

    def _resolution(self) -> Array:
        return self.whole.exact.resolution

    def _after(self, entries: int) -> Tiles:
        """Where entries come from when this many more are asked for."""
        gram = self.whole.ask(entries * self.dtype.itemsize // 4)
        if gram is not None and not isinstance(self.source, GivenTiles):
            self.source = GivenTiles(gram, 1.0, self.crew, self.dtype)
        return self.source
