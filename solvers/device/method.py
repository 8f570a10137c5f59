"""SMO on a device: the rounds of `dual/smo.py`, with arrays and products on a card.

    min  1/2 a'K a - z'a + width'|a| + 1/2 sum_i ridge_i a_i^2
    s.t. lower <= a <= upper,  1'a = 0

Only the parts that depend on the place of the arrays are here: the slopes, the working
set and its pair steps, the products and the factor of the free points. numpy's
functions dispatch on the arrays, so that the rounds themselves are those of the
processor. Decisions depend on counted work and on the card's free memory, not on time:
equal runs on equal cards give equal bits. On the device "host" the same method runs
with numpy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from equimargin.formulations.kernels.gram import Gram
from equimargin.formulations.kernels.kernel import Precomputed
from equimargin.formulations.numeric.arrays import Array, Index, is_sparse
from equimargin.formulations.numeric.workspace import Workspace, borrow_workspace
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.problem.refusal import Refusal
from equimargin.solvers.device.card import Card, check_memory
from equimargin.solvers.device.conjugate import (
    FEWEST_LANDMARKS,
    LANDMARKS,
    STEPS_EXPECTED,
    ConjugateGradients,
    ImplicitFace,
    count_landmarks,
)
from equimargin.solvers.device.face import factor_on_card, largest_face
from equimargin.solvers.device.multiplier import CardMultiplier
from equimargin.solvers.device.pairs import LARGEST_PAIR_SET, pair_steps_on_card
from equimargin.solvers.device.products import card_tiles, count_bytes, is_supported
from equimargin.solvers.dual.newton_on_face import SMALL_FACE, FaceFactor, FaceMatrix
from equimargin.solvers.dual.smo import FACTORISATIONS_EXPECTED, REQUIREMENTS, Descent, descend
from equimargin.solvers.dual.smo_problem import (
    NEVER,
    OptimalityState,
    PointProblem,
    ProblemScaling,
    SeparablePart,
)
from equimargin.solvers.dual.working_set import (
    Numbers,
    RoundCosts,
    WorkingSet,
    choose_working_set,
    violators_outside,
    with_diagonal,
)
from equimargin.solvers.products.few_points import through_gram
from equimargin.solvers.products.tiles import Block, Tiles, tiles
from equimargin.solvers.registry import device_solver
from equimargin.solvers.solution import HOST, Limits, Solution
from equimargin.solvers.threads import one_thread

SMALL_SET_POINTS = 2048
"""Points of a working set, unless the problem is large.

Its block of K, 16 MB, stays in the card's second-level cache.
"""
MANY_POINTS = 50_000
"""Number of points from which on the working set has LARGEST_PAIR_SET points.

Measured by a prototype.
"""


def _unsupported(problem: MarginProblem) -> Refusal | None:
    """Return the refusal of a kernel that a card does not have, or None."""
    if is_supported(problem.kernel, problem.X):
        return None
    kind = "sparse features" if is_sparse(problem.X) else f"a {problem.kernel.name} kernel"
    return Refusal(f"it has {kind}, which a card does not compute")


ON_A_DEVICE = replace(
    REQUIREMENTS,
    no_hard_rows="whose bounds this method does not prove on a card",
    convex=True,
    also=_unsupported,
)


@device_solver("smo", requires=ON_A_DEVICE)
@through_gram
def _solve(problem: MarginProblem, limits: Limits, warm_start: Point | None) -> Solution:
    """Solve one problem on the device of the limits."""
    with one_thread(), borrow_workspace() as memory, use_device(limits.device) as card:
        descent = begin(card, problem, warm_start, limits, memory)
        found = descend(descent, limits, warm_start is not None)
    return proved_on(limits.device, found)


def proved_on(device: str, solution: Solution) -> Solution:
    """Return a solution whose proven interval is computed on a card.

    Parameters
    ----------
    device : str
        Device of the run.
    solution : Solution
        Result of the run; its problem is copied.
    """
    if device == HOST:
        return solution
    problem = replace(solution.problem)
    problem.gram.multiplier = CardMultiplier(device)
    return replace(solution, problem=problem)


@contextmanager
def use_device(device: str) -> Iterator[Card | None]:
    """Use a device while entered.

    Parameters
    ----------
    device : str
        Name of the device.

    Yields
    ------
    Card or None
        The card; None for the host.
    """
    if device == HOST:
        yield None
        return
    card = Card(device)
    with card.used:
        yield card


def begin(
    card: Card | None,
    problem: MarginProblem,
    start: Point | None,
    limits: Limits,
    memory: Workspace,
) -> Descent:
    """Return the initial state of a run, as `Descent.of` does.

    Parameters
    ----------
    card : Card or None
        Card of the run; None for the host.
    problem : MarginProblem
        Problem to solve.
    start : Point or None
        Warm start.
    limits : Limits
        Limits of the run.
    memory : Workspace
        Memory of the processor.

    Raises
    ------
    ValueError
        If the card has too little memory.
    """
    points = PointProblem.of(problem, ProblemScaling.of(problem))
    gram, unit = problem.gram, points.units.unit
    working: DeviceSet
    if card is None:
        working = DeviceSet(tiles(gram, unit), memory)
    else:
        needed = count_bytes(gram) + 4.0 * min(gram.m, LARGEST_PAIR_SET) ** 2
        free = card.free_bytes
        check_memory(needed, free, limits.device)
        working = CardSet(card, gram, unit, memory, free - needed)
    return Descent.starting(DevicePoints.on(working, points), working, start, limits)


class DeviceSet(WorkingSet):
    """Working set of at most a fixed size, whose block of K is in float32.

    K is computed anew for every product. This class is the set of the host, where
    arrays are numpy's.

    Parameters
    ----------
    exact : Tiles
        K in float64 on the device.
    memory : Workspace
        Memory of the processor.
    single : Tiles or None
        K in float32; by default that of `exact`.
    """

    costs = RoundCosts(
        pair_step=2500,
        steps_per_point=2,
        outside_entry=0.01,
        face=14_000_000,
        face_entry=0.08,
        factorisation=4_500_000,
        cubes=15_000,
        max_face=4000,
    )
    """Work of a round on a card, measured by a prototype.

    A pair step spends .22 ns per point and pass.
    """
    landmarks = LANDMARKS
    """Maximum number of landmarks of a face of more than `costs.max_face` points."""

    def __init__(self, exact: Tiles, memory: Workspace, single: Tiles | None = None) -> None:
        super().__init__(exact, single or exact.single(), memory)
        self.size = self.size_of_set(self.m)
        self.points = self.placed(self.points)

    @staticmethod
    def size_of_set(m: int) -> int:
        """Return the points of a working set of m points.

        Parameters
        ----------
        m : int
            Number of points.
        """
        return min(m, SMALL_SET_POINTS if m < MANY_POINTS else LARGEST_PAIR_SET)

    def fetched(self, v: Numbers) -> Numbers:
        """Return an array of the device as one of numpy.

        Parameters
        ----------
        v : ndarray
            Array of the device.
        """
        return v

    @property
    def whole(self) -> bool:
        return self.m <= self.size

    @property
    def has_fast_product(self) -> bool:
        return True

    def product(self, points: Index, v: Array) -> Array:
        f = self.placed(np.zeros(self.m))
        self.exact.add_product(self.placed(points), self.placed(v), f)
        return self.fetched(f)

    def work_in(self, tiles: Tiles) -> None:
        self.tiles = tiles

    def choose(self, look: OptimalityState) -> int:
        margin = 0.1 * look.violation
        if self.K is not None and (self.whole or not violators_outside(look, margin, self.points)):
            return 0
        self.points = (
            self.placed(np.arange(self.m))
            if self.whole
            else choose_working_set(look, self.points, self.size)
        )
        # Drop the old block first: the new one may use its memory.
        self.K = None
        self.K = self.single.block(self.points, self.points)
        return int(self.costs.outside_entry * len(self.points) ** 2)

    def stores_matrix(self, n: int) -> bool:
        """Return True if the matrix of n free points is stored; small ones always are.

        Parameters
        ----------
        n : int
            Number of free points.
        """
        return n <= max(self.costs.max_face, SMALL_FACE)

    def newton_work(self, n: int) -> tuple[float, float]:
        costs = self.costs
        if self.stores_matrix(n):
            return super().newton_work(n)
        if self.landmarks < FEWEST_LANDMARKS:
            return math.inf, math.inf
        # A direction takes two systems.
        products = 2 * STEPS_EXPECTED * costs.outside_entry * n**2
        landmarks = costs.outside_entry * n * self.landmarks
        once = costs.face + costs.outside_entry * n * self.m
        return once, costs.factorisation + products + landmarks

    def newton_work_done(self, n: int) -> int:
        if self.stores_matrix(n):
            return super().newton_work_done(n)
        once, each = self.newton_work(n)
        return int(once + FACTORISATIONS_EXPECTED * each)

    def face(self, points: Index, ridge: Array) -> FaceMatrix:
        if self.stores_matrix(len(points)):
            return with_diagonal(self.exact.block(points, points), ridge)
        of_all = self.placed(np.zeros(self.m))
        of_all[points] = ridge
        return ImplicitFace(self.tiles, of_all, points, points)

    def factor(self, H: FaceMatrix, out_of_time: Callable[[], bool]) -> FaceFactor | None:
        if not isinstance(H, ImplicitFace):
            return self.factor_matrix(H, out_of_time)
        diagonal = self.placed(self.exact.gram.diagonal / self.exact.unit)
        return ConjugateGradients.of(H, diagonal, self.landmarks, self.factor_matrix, out_of_time)

    def factor_matrix(self, H: Block, out_of_time: Callable[[], bool]) -> FaceFactor | None:
        """Return the damped factor of a stored matrix, as `factor_face` does.

        Parameters
        ----------
        H : ndarray of shape (n, n)
            Matrix.
        out_of_time : callable
            Returns True if the run must end.
        """
        return super().factor(H, out_of_time)

    def follow(self, points: Index, change: Array, G: Array) -> int:
        moved = np.flatnonzero(change)
        self.tiles.add_product(points[moved], change[moved], G)
        return int(self.costs.outside_entry * len(moved) * self.m)


class CardSet(DeviceSet):
    """Working set on a card.

    Parameters
    ----------
    card : Card
        Card.
    gram : Gram
        K.
    unit : float
        Divisor of K.
    memory : Workspace
        Memory of the processor.
    spare : float
        Bytes that Newton steps may take: the matrix of the free points or, of more
        points than it has room for, the landmarks.
    """

    def __init__(
        self, card: Card, gram: Gram, unit: float, memory: Workspace, spare: float
    ) -> None:
        self.card = card
        exact, single = card_tiles(card, gram, unit)
        super().__init__(exact, memory, single)
        # Measured by a prototype for 20 and 784 features: .3 ps a feature of an entry in
        # float32. Entries of a given matrix are read.
        features = 0 if isinstance(gram.kernel, Precomputed) else gram.X.shape[1]
        entry = 0.0055 + 0.0003 * features
        self.costs = replace(
            self.costs,
            outside_entry=entry,
            face_entry=0.07 + entry,
            max_face=largest_face(spare),
        )
        self.landmarks = count_landmarks(spare, self.m)

    def placed(self, v: Numbers) -> Numbers:
        return self.card.put(v)  # type: ignore[no-any-return]

    def fetched(self, v: Numbers) -> Numbers:
        return self.card.get(v)  # type: ignore[no-any-return]

    def pair_steps(
        self, G: Block, a: Array, sides: SeparablePart, floor: float, eps: float, steps: int
    ) -> tuple[int, float]:
        alone = SeparablePart(*(v[None] for v in sides))
        slot, limits = self.card.put(np.zeros(1, np.int32)), (np.array([eps]), np.array([steps]))
        ((done, violation),) = pair_steps_on_card(
            self.card, self.K[None], slot, G[None], a[None], alone, floor, *limits
        )
        return int(done), float(violation)

    def factor_matrix(self, H: Block, out_of_time: Callable[[], bool]) -> FaceFactor | None:
        return factor_on_card(self.card, H, out_of_time)


@dataclass(frozen=True)
class DevicePoints(PointProblem):
    """Problem in one variable per point, with arrays on a device.

    Parameters
    ----------
    working : DeviceSet
        Working set of the device.
    """

    working: DeviceSet

    @classmethod
    def on(cls, working: DeviceSet, points: PointProblem) -> DevicePoints:
        """Return a problem on the device of a working set.

        Parameters
        ----------
        working : DeviceSet
            Working set.
        points : PointProblem
            Problem whose arrays are numpy's.
        """
        return cls(
            points.margin,
            points.units,
            SeparablePart(*map(working.placed, points.sides)),
            working.placed(points.z),
            working.placed(points.costs),
            points.hard,
            points.at_0,
            points.most_dual,
            working,
        )

    def at_costs(self, problem: MarginProblem) -> PointProblem:
        return self.on(self.working, PointProblem.of(problem, self.units))

    def multipliers(self, a: Array) -> Array:
        return super().multipliers(self.working.fetched(a))

    def numbers(self, alpha: Array) -> Array:
        return self.working.placed(super().numbers(alpha))

    def look(self, a: Array, G: Array) -> OptimalityState:
        """Return the slopes and the estimated gap, by the formulas of `_seen`.

        Parameters
        ----------
        a : ndarray of shape (m,)
            Variables.
        G : ndarray of shape (m,)
            Gradient K a - z.
        """
        lower, upper, width, ridge = self.sides
        above, below = width + ridge[1] * a, ridge[0] * a - width
        rise = np.where(a >= upper, NEVER, G + np.where(a >= 0, above, below))
        fall = np.where(a <= lower, -NEVER, G + np.where(a > 0, above, below))
        free = rise == fall
        least, most = float(rise.min()), float(fall.max())
        count = int(np.count_nonzero(free))
        level = float(np.where(free, rise, 0.0).sum()) / count if count else 0.5 * (least + most)
        level = max(min(level, max(least, most)), min(least, most))
        duals = a * (0.5 * (self.z - G))
        gaps = np.zeros_like(duals)
        for side, sign in ((0, -1.0), (1, 1.0)):
            part, u = np.maximum(sign * a, 0.0), sign * (level - G) - width
            loss, c, r = np.maximum(u, 0.0), self.costs[side], ridge[side]
            squared = r > 0
            conjugate = 0.5 * r * part * part
            curve = 0.5 * loss * loss / np.where(squared, r, 1.0) + conjugate
            # Where a side has no row, c and part are 0.
            gaps += np.where(squared, curve, c * loss) - part * u
            duals -= part * width + conjugate
        gap, dual = float(np.sum(gaps)), float(np.sum(duals))
        return self.state(rise, fall, free, least, most, level, gap, dual)
