"""Blocks of a kernel matrix that is stored as a whole, or by rows, if a run needs it again.

A run on a working set reads some entries again and again. With many features, computing
an entry costs more than reading it. The whole matrix is therefore computed as soon as
the entries computed so far, plus those expected for the points that violate optimality,
take as long as the matrix: a run that needs few entries never computes all of them. It
is stored in float64 and serves both precisions, the steps of pairs in float32 and the
values that are reported.

Of a matrix too large for that, the rows of products are stored in float32: the points
whose multipliers change are mostly support vectors, and most of these change again.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from equimargin.formulations.kernels.gram import Gram
from equimargin.formulations.kernels.kernel import Precomputed
from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.numeric.workspace import KEPT_BYTES, Workspace
from equimargin.solvers.products.tiles import Block, GivenTiles, Tiles, add_rows

USES_OF_A_ROW = 2
"""Expected uses of the row of a point that violates optimality.

It is used when the point's multiplier changes, and when the gap is computed.
"""


def kept(exact: Tiles, memory: Workspace) -> tuple[Tiles, Tiles]:
    """Return tiles in float64 and in float32 that share a matrix, once it is stored.

    If the matrix is larger than KEPT_BYTES, only those in float32 store some of its
    rows. If storing saves no time, nothing is stored.

    Parameters
    ----------
    exact : Tiles
        Tiles in float64.
    memory : Workspace
        Memory of the matrix, used by one run at a time.

    Returns
    -------
    float64_tiles, float32_tiles : Tiles
        Tiles of both precisions.
    """
    if not exact.dear:
        return exact, exact.single()
    if exact.gram.m**2 * exact.dtype.itemsize > KEPT_BYTES:
        return exact, KeptRows(exact.single(), memory)
    whole = WholeGram(exact, memory)
    return KeptTiles(exact, whole), KeptTiles(exact.single(), whole)


class WholeGram:
    """K / unit of all points in float64, computed once it pays off.

    Parameters
    ----------
    exact, memory
        As in `kept`.

    Attributes
    ----------
    spent : int
        Entries requested so far; an entry in float64 counts for two.
    ahead : int
        Number of entries that are expected to be requested.
    gram : Gram | None
        The matrix, None before it is stored.
    """

    def __init__(self, exact: Tiles, memory: Workspace) -> None:
        self.exact, self.memory, self.spent, self.ahead = exact, memory, 0, 0
        self.gram: Gram | None = None

    def ask(self, entries: int) -> Gram | None:
        """Return the matrix if it is stored, and count a request.

        The matrix is symmetric, so that half of its entries are computed, and one in
        float64 takes as long as two in float32. In total it costs as much as m^2
        entries in float32.

        Parameters
        ----------
        entries : int
            Number of entries that are requested next.
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
    """Tiles that are computed until the matrix is stored.

    Parameters
    ----------
    tiles : Tiles
        Tiles that compute entries until then.
    whole : WholeGram
        Matrix, shared by the tiles of both precisions.

    Attributes
    ----------
    source : Tiles
        Present source of entries: the tiles given, or those of the matrix.
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

    @cached_property
    def resolution(self) -> Array:
        return self.whole.exact.resolution

    def _after(self, entries: int) -> Tiles:
        """Return the source of entries for a request of this many."""
        gram = self.whole.ask(entries * self.dtype.itemsize // 4)
        if gram is not None and not isinstance(self.source, GivenTiles):
            self.source = GivenTiles(gram, 1.0, self.crew, self.dtype)
        return self.source


class KeptRows(Tiles):
    """Tiles that store the rows of products, up to KEPT_BYTES, from their first use on.

    Rows for which no memory is left are computed at every use.

    Parameters
    ----------
    source : Tiles
        Tiles that compute entries.
    memory : Workspace
        Memory of the rows.

    Attributes
    ----------
    place : ndarray of shape (m,)
        Place of every point's row in `rows`, -1 if it is not stored.
    count : int
        Number of stored rows.
    """

    def __init__(self, source: Tiles, memory: Workspace) -> None:
        super().__init__(source.gram, source.unit, source.crew, source.dtype)
        self.source, self.memory = source, memory
        self.place, self.count = np.full(source.gram.m, -1), 0

    @cached_property
    def rows(self) -> Block:
        """Memory of the rows, shape (places, m)."""
        m = self.gram.m
        places = min(m, KEPT_BYTES // (m * self.dtype.itemsize))
        return self.memory.array("all", (places, m), self.dtype)

    def block(self, rows: Index, columns: Index, out: Block | None = None) -> Block:
        K = np.empty((len(rows), len(columns)), self.dtype) if out is None else out
        places = self.place[rows]
        stored, others = np.flatnonzero(places >= 0), np.flatnonzero(places < 0)
        if not len(stored):
            return self.source.block(rows, columns, K)
        for r in stored:
            np.take(self.rows[places[r]], columns, out=K[r], mode="clip")
        points = rows[others]
        if rows is columns:
            K[np.ix_(others, stored)] = K[np.ix_(stored, others)].T
            K[np.ix_(others, others)] = self.source.block(points, points)
        else:
            K[others] = self.source.block(points, columns)
        return K

    def add_product(self, rows: Index, v: Array, f: Array) -> None:
        new = rows[self.place[rows] < 0][: len(self.rows) - self.count]
        after = self.count + len(new)
        self.source.block(new, np.arange(self.gram.m), self.rows[self.count : after])
        self.place[new], self.count = np.arange(self.count, after), after
        places = self.place[rows]
        stored, others = places >= 0, places < 0
        add_rows(self.rows, places[stored], v[stored], f, 0, self.gram.m)
        if others.any():
            self.source.add_product(rows[others], v[others], f)

    @cached_property
    def resolution(self) -> Array:
        return self.source.resolution
