"""Arrays of many machines on common points, one row a machine, and their kernels.

K / unit is stored once, in float64. On a card each method launches one kernel of
`lockstep.cu` or `pairs.cu` for all machines; on the host they are computed in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from equimargin.formulations.kernels.gram import Gram
from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.numeric.workspace import Workspace
from equimargin.solvers.device.card import Card, DeviceArray
from equimargin.solvers.device.conjugate import count_landmarks
from equimargin.solvers.device.face import factor_on_card, largest_face
from equimargin.solvers.device.method import DevicePoints, DeviceSet
from equimargin.solvers.device.pairs import pair_steps_on_card
from equimargin.solvers.device.products import StoredTiles, card_tiles, count_bytes, int32
from equimargin.solvers.dual.newton_on_face import FaceFactor
from equimargin.solvers.dual.smo import PAIR_CURVATURE_FLOOR
from equimargin.solvers.dual.smo_problem import OptimalityState, PointProblem, SeparablePart
from equimargin.solvers.dual.working_set import (
    CROWD,
    Numbers,
    pair_steps,
    violators_outside,
)
from equimargin.solvers.products.tiles import Block, tiles

LOOK_THREADS = 512
"""Threads of a machine's block when it looks."""
FOLLOW_COLUMNS, FOLLOW_SLICES = 32, 8
"""Columns of K of a block of threads, and slices of its rows; as in `lockstep.cu`."""
LOCKSTEP_COSTS = replace(
    DeviceSet.costs,
    outside_entry=0.012,
    face=140_000_000,
    face_entry=0.082,
    factorisation=45_000_000,
)
"""Work of a round: entries of K are read, 8 bytes at some 3 TB/s.

The overhead of a Newton attempt, which one machine takes while the others wait, counts
ten times. Not measured.
"""
ROWS_OF_A_MACHINE = 32
"""Numbers of a machine per point in memory, temporary ones included, in float64."""
PART_OF_MACHINES = 0.75
"""Part of the free memory that machines may take; the rest is for Newton steps."""


class MachineBatch:
    """Machines on common points, on the host.

    Parameters
    ----------
    gram : Gram
        K.
    unit : float
        Divisor of K.
    slots : int
        Maximum number of machines at a time.

    Attributes
    ----------
    exact, single : StoredTiles
        K in float64, with the precisions of the pair steps.
    costs : RoundCosts
        Work of a round.
    landmarks : int
        Landmarks of large faces.
    a, G, z, lower, upper, width, rise, fall : ndarray of shape (slots, m)
        Variables, gradients, problems and slopes.
    ridge, limits : ndarray of shape (slots, 2, m)
        Ridges and costs of the rows, below and above 0.
    free, inside : ndarray of bool of shape (slots, m)
        Free points, and those of the working set.
    W : ndarray of shape (slots, q)
        Working sets.
    blocks : ndarray of shape (slots, q, q)
        Their blocks of K, in float32.
    """

    costs = LOCKSTEP_COSTS
    landmarks = DeviceSet.landmarks

    def __init__(self, gram: Gram, unit: float, slots: int) -> None:
        self.gram, self.unit, self.m, self.slots = gram, unit, gram.m, slots
        K = self._stored()
        self.exact, self.single = (
            StoredTiles(gram, unit, K, dtype) for dtype in (np.float64, np.float32)
        )
        m, self.q = self.m, DeviceSet.size_of_set(self.m)
        names = ("a", "G", "z", "lower", "upper", "width", "rise", "fall")
        self.a, self.G, self.z, self.lower, self.upper, self.width, self.rise, self.fall = (
            self.zeros(slots, m) for _ in names
        )
        self.ridge, self.limits = self.zeros(slots, 2, m), self.zeros(slots, 2, m)
        self.free, self.inside = (self.zeros(slots, m, dtype=np.bool_) for _ in range(2))
        self.W = self.zeros(slots, self.q, dtype=np.int64)
        self.blocks = self.zeros(slots, self.q, self.q, dtype=np.float32)
        self.both = self.placed(np.arange(2))[None, :, None]
        self.points: list[DevicePoints | None] = [None] * slots
        self.outside, self.chosen = [True] * slots, [False] * slots

    def zeros(self, *shape: int, dtype: DTypeLike = np.float64) -> DeviceArray:
        """Return an array of zeros on the device.

        Parameters
        ----------
        *shape : int
            Shape.
        dtype : dtype
            Type.
        """
        return np.zeros(shape, dtype)

    def placed(self, v: Numbers) -> Numbers:
        """Return an array of numpy as one of the device.

        Parameters
        ----------
        v : ndarray
            Numbers.
        """
        return v

    def fetched(self, v: Numbers) -> Numbers:
        """Return an array of the device as one of numpy.

        Parameters
        ----------
        v : ndarray
            Numbers.
        """
        return v

    def factor(
        self, H: Block, working: DeviceSet, out_of_time: Callable[[], bool]
    ) -> FaceFactor | None:
        """Return the damped factor of a matrix of free points.

        Parameters
        ----------
        H : ndarray of shape (n, n)
            Matrix.
        working : DeviceSet
            Working set of its machine.
        out_of_time : callable
            Returns True if the run must end.
        """
        return DeviceSet.factor_matrix(working, H, out_of_time)

    def enter(self, slot: int, points: PointProblem) -> MachinePoints:
        """Return a machine's problem, with its arrays in a row of the batch, at a = 0.

        Parameters
        ----------
        slot : int
            Row.
        points : PointProblem
            Problem whose arrays are numpy's.
        """
        names = ("lower", "upper", "width", "ridge")
        for name, v in zip(names, points.sides, strict=True):
            getattr(self, name)[slot] = self.placed(v)
        self.z[slot], self.limits[slot] = self.placed(points.z), self.placed(points.costs)
        self.a[slot], self.G[slot], self.inside[slot] = 0.0, -self.z[slot], False
        self.outside[slot], self.chosen[slot] = True, False
        own = MachinePoints(
            points.margin,
            points.units,
            SeparablePart(*(getattr(self, name)[slot] for name in names)),
            self.z[slot],
            self.limits[slot],
            points.hard,
            points.at_0,
            points.most_dual,
            MachineSet(self, slot),
        )
        self.points[slot] = own
        return own

    def look(self, slots: Sequence[int]) -> list[OptimalityState]:
        """Return the slopes and the estimated gaps of some machines.

        Parameters
        ----------
        slots : sequence of int
            Machines.
        """
        states = []
        for slot in slots:
            points = self.points[slot]
            assert points is not None
            state = DevicePoints.look(points, self.a[slot], self.G[slot])
            self.rise[slot], self.fall[slot], self.free[slot] = state.rise, state.fall, state.free
            margin, W = 0.1 * state.violation, np.flatnonzero(self.inside[slot])
            self.outside[slot] = violators_outside(state, margin, W)
            states.append(state)
        return states

    def choose(self, slots: Sequence[int], looks: Sequence[OptimalityState]) -> list[int]:
        """Choose the working sets of machines with violators outside of their sets.

        Parameters
        ----------
        slots : sequence of int
            Machines.
        looks : sequence of OptimalityState
            Their states.

        Returns
        -------
        list of int
            Work of every machine.
        """
        keeps = self.q == self.m
        new = [not self.chosen[slot] or (self.outside[slot] and not keeps) for slot in slots]
        changing = [slot for slot, is_new in zip(slots, new, strict=True) if is_new]
        if changing:
            ends = [(look.least, look.most, look.level) for look in looks]
            self._choose(changing, np.array(ends)[np.array(new), None])
        return [int(is_new * self.costs.outside_entry * self.q**2) for is_new in new]

    def _choose(self, slots: list[int], ends: Array) -> None:
        """Write the working sets of some machines, and their blocks of K."""
        rows: DeviceArray = self.placed(np.array(slots, dtype=np.int32))
        if self.q == self.m:
            self.W[rows], self.inside[rows] = self.placed(np.arange(self.m)), True
        else:
            slopes = self.rise[rows], self.fall[rows], self.free[rows]
            before = self.inside[rows]
            W = choose_working_sets(*slopes, self.placed(ends), before, self.q)
            self.W[rows], self.inside[rows] = W, False
            self.inside[rows[:, None], W] = True
        self.gather(rows)
        for slot in slots:
            self.chosen[slot] = True

    def gather(self, rows: DeviceArray) -> None:
        """Write the blocks of K of some working sets.

        Parameters
        ----------
        rows : ndarray of int32
            Machines.
        """
        for slot in rows:
            W = self.W[slot]
            self.blocks[slot] = self.exact.K[W[:, None], W]

    def sides(self, rows: DeviceArray, W: DeviceArray) -> SeparablePart:
        """Return the separable parts at the working sets, (n, q) and (n, 2, q).

        Parameters
        ----------
        rows : ndarray of int32 of shape (n,)
            Machines.
        W : ndarray of shape (n, q)
            Their working sets.
        """
        places = rows[:, None], W
        ridge = self.ridge[rows[:, None, None], self.both, W[:, None, :]]
        return SeparablePart(self.lower[places], self.upper[places], self.width[places], ridge)

    def pair_steps(
        self,
        rows: DeviceArray,
        G: DeviceArray,
        a: DeviceArray,
        sides: SeparablePart,
        eps: Array,
        steps: Array,
    ) -> Array:
        """Take pair steps on the working sets of machines, on G and a in place.

        Parameters
        ----------
        rows, G, a, sides, eps, steps
            As in `pair_steps_on_card`.

        Returns
        -------
        ndarray of shape (n, 2)
            Number of steps taken, and violation of the last pair.
        """
        floor, found = PAIR_CURVATURE_FLOOR[self.blocks.dtype], np.zeros((len(rows), 2))
        for k, slot in enumerate(rows):
            own = SeparablePart(*(v[k] for v in sides))
            block, most = self.blocks[slot], int(steps[k])
            found[k] = pair_steps(block, G[k], a[k], own, floor, float(eps[k]), most)
        return found

    def follow(
        self, rows: DeviceArray, points: DeviceArray, v: DeviceArray, f: DeviceArray
    ) -> None:
        """Add K[:, points] v to f for every machine.

        Parameters
        ----------
        rows : ndarray of int32 of shape (n,)
            Rows of f.
        points : ndarray of int64 of shape (n, k)
            Points.
        v : ndarray of shape (n, k)
            Coefficients.
        f : ndarray of shape (slots, m)
            Sums, changed in place.
        """
        for k, row in enumerate(rows):
            moved = np.flatnonzero(v[k])
            f[row] += v[k][moved] @ self.exact.K[points[k][moved]]

    def _stored(self) -> Any:
        """Return K / unit on the device."""
        every = np.arange(self.m)
        return tiles(self.gram, self.unit).block(every, every)


class CardBatch(MachineBatch):
    """Machines on common points, on a card.

    Parameters
    ----------
    card : Card
        Card.
    gram : Gram
        K.
    unit : float
        Divisor of K.
    slots : int
        Maximum number of machines at a time.
    spare : float
        Bytes that Newton steps may take.
    """

    def __init__(self, card: Card, gram: Gram, unit: float, slots: int, spare: float) -> None:
        self.card = card
        super().__init__(gram, unit, slots)
        self.costs = replace(self.costs, max_face=largest_face(spare))
        self.landmarks = count_landmarks(spare, gram.m)

    @classmethod
    def fitting(cls, card: Card, gram: Gram, unit: float, machines: int) -> CardBatch | None:
        """Return a batch of as many slots as fit into the memory; None if none does.

        Parameters
        ----------
        card : Card
            Card.
        gram : Gram
            K.
        unit : float
            Divisor of K.
        machines : int
            Number of machines.
        """
        spare, own = card.free_bytes - count_shared_bytes(gram), count_machine_bytes(gram.m)
        if spare < own:
            return None
        slots = min(machines, max(int(PART_OF_MACHINES * spare / own), 1))
        # Independent of the number of machines, on which no decision of a run may depend.
        return cls(card, gram, unit, slots, min((1.0 - PART_OF_MACHINES) * spare, spare - own))

    def zeros(self, *shape: int, dtype: DTypeLike = np.float64) -> DeviceArray:
        return self.card.cupy.zeros(shape, dtype)

    def placed(self, v: Numbers) -> Numbers:
        return self.card.put(v)  # type: ignore[no-any-return]

    def fetched(self, v: Numbers) -> Numbers:
        return self.card.get(v)  # type: ignore[no-any-return]

    def factor(
        self, H: Block, working: DeviceSet, out_of_time: Callable[[], bool]
    ) -> FaceFactor | None:
        return factor_on_card(self.card, H, out_of_time)

    def look(self, slots: Sequence[int]) -> list[OptimalityState]:
        n, rows = len(slots), self.placed(np.array(slots, dtype=np.int32))
        out = self.card.cupy.empty((n, 6))
        problem = (self.z, self.lower, self.upper, self.width, self.ridge, self.limits)
        slopes = (self.inside, self.rise, self.fall, self.free)
        given = (rows, self.a, self.G, *problem, *slopes, out, *int32(self.m))
        self._run("look", (n,), LOOK_THREADS, given)
        states = []
        for slot, (*numbers, outside) in zip(slots, self.fetched(out).tolist(), strict=True):
            points = self.points[slot]
            assert points is not None
            self.outside[slot] = outside > 0
            own = self.rise[slot], self.fall[slot], self.free[slot]
            states.append(points.state(*own, *numbers))
        return states

    def gather(self, rows: DeviceArray) -> None:
        given = (self.exact.K, rows, self.W, self.blocks, *int32(self.m, self.q))
        self._run("gather", (self.q, len(rows)), 256, given)

    def pair_steps(
        self,
        rows: DeviceArray,
        G: DeviceArray,
        a: DeviceArray,
        sides: SeparablePart,
        eps: Array,
        steps: Array,
    ) -> Array:
        floor = PAIR_CURVATURE_FLOOR[np.dtype(np.float32)]
        return pair_steps_on_card(self.card, self.blocks, rows, G, a, sides, floor, eps, steps)

    def follow(
        self, rows: DeviceArray, points: DeviceArray, v: DeviceArray, f: DeviceArray
    ) -> None:
        (n, k), columns = v.shape, -(-self.m // FOLLOW_COLUMNS)
        threads = FOLLOW_COLUMNS * FOLLOW_SLICES
        given = (self.exact.K, rows, points, v, f, *int32(self.m, k))
        self._run("follow", (columns, n), threads, given)

    def _run(self, name: str, grid: tuple[int, ...], threads: int, given: tuple[Any, ...]) -> None:
        macros = {"THREADS": LOOK_THREADS}
        self.card.kernel("lockstep", name, macros)(grid, (threads,), given)

    def _stored(self) -> Any:
        exact, _ = card_tiles(self.card, self.gram, self.unit)
        if isinstance(exact, StoredTiles):
            return exact.K
        every = self.placed(np.arange(self.m))
        return exact.block(every, every)


class MachineSet(DeviceSet):
    """Working set of one machine of a batch.

    Parameters
    ----------
    batch : MachineBatch
        Batch.
    slot : int
        Row of the machine.
    """

    def __init__(self, batch: MachineBatch, slot: int) -> None:
        self.batch, self.slot = batch, slot
        super().__init__(batch.exact, Workspace(), batch.single)
        self.costs, self.landmarks = batch.costs, batch.landmarks

    def placed(self, v: Numbers) -> Numbers:
        return self.batch.placed(v)

    def fetched(self, v: Numbers) -> Numbers:
        return self.batch.fetched(v)

    def product(self, points: Index, v: Array) -> Array:
        f = self.batch.zeros(1, self.m)
        self._add(0, self.placed(points), self.placed(v), f)
        product: Array = self.fetched(f)[0]
        return product

    def follow(self, points: Index, change: Array, G: Array) -> int:
        self._add(self.slot, points, change, self.batch.G)
        return int(self.costs.outside_entry * len(points) * self.m)

    def factor_matrix(self, H: Block, out_of_time: Callable[[], bool]) -> FaceFactor | None:
        return self.batch.factor(H, self, out_of_time)

    def _add(self, row: int, points: Index, v: Array, f: DeviceArray) -> None:
        if len(points):
            rows = self.placed(np.array([row], dtype=np.int32))
            self.batch.follow(rows, points[None], v[None], f)


@dataclass(frozen=True)
class MachinePoints(DevicePoints):
    """Problem of one machine, with its arrays in a row of a batch."""

    working: MachineSet

    def look(self, a: Array, G: Array) -> OptimalityState:
        """Return the slopes and the estimated gap at the machine's row.

        Parameters
        ----------
        a, G : ndarray of shape (m,)
            The row; they are not read.
        """
        return self.working.batch.look([self.working.slot])[0]


def choose_working_sets(
    rise: DeviceArray,
    fall: DeviceArray,
    free: DeviceArray,
    ends: DeviceArray,
    before: DeviceArray,
    size: int,
) -> DeviceArray:
    """Choose the working sets of n machines, each as `choose_working_set` does.

    Points are ranked by sorts along the rows, so that no machine has a launch of its
    own; points with equal slopes are taken in their order.

    Parameters
    ----------
    rise, fall : ndarray of shape (n, m)
        Slopes.
    free : ndarray of bool of shape (n, m)
        Free points.
    ends : ndarray of shape (n, 1, 3)
        Least slope to rise, largest to fall, and level.
    before : ndarray of bool of shape (n, m)
        Points of the sets before.
    size : int
        Points of a set.

    Returns
    -------
    ndarray of shape (n, size)
        Points of every set, in ascending order.
    """
    least, most, level = ends[:, :, 0], ends[:, :, 1], ends[:, :, 2]
    held = np.count_nonzero(before & free, axis=1)[:, None]
    half = np.maximum(size // 2, size - held) // 2
    taken = np.zeros_like(before)
    for key, end, middle in ((rise, most, level), (-fall, -least, -level)):
        order = np.argsort(key, axis=1, kind="stable")
        rank = np.argsort(order, axis=1, kind="stable")
        crowd = np.count_nonzero(key < middle, axis=1)[:, None]
        # Of a crowd, ranks at equal distances: k (crowd - 1) // (half - 1) for all k < half.
        last, parts = np.maximum(crowd - 1, 1), np.maximum(half - 1, 1)
        k = (rank * parts + last - 1) // last
        spread = (k < half) & (k * last // parts == rank)
        taken |= (key < end) & np.where(crowd > CROWD * half, spread, rank < half)
    slack = np.minimum(rise - least, most - fall)
    kept = np.where(free, -4.0, -2.0)
    order = np.where(taken, -6.0, np.where(before, kept, slack / (1.0 + abs(slack))))
    return np.sort(np.argsort(order, axis=1, kind="stable")[:, :size], axis=1)


def count_shared_bytes(gram: Gram) -> float:
    """Return the bytes of a card's memory for K and the points of all machines.

    Parameters
    ----------
    gram : Gram
        K.
    """
    return count_bytes(gram) + 8.0 * gram.m**2


def count_machine_bytes(m: int) -> float:
    """Return the bytes of a card's memory for one machine.

    Parameters
    ----------
    m : int
        Number of points.
    """
    return 8.0 * ROWS_OF_A_MACHINE * m + 4.0 * DeviceSet.size_of_set(m) ** 2
