"""Where the function of a hard margin lives: in explicit features, or in the span of a kernel's points; and pools of rows there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from equimargin.formulations.kernels.features import Explicit
from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.numeric.rounding import UNIT
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.solvers.hard.ascent import drop_negative_multipliers
from equimargin.solvers.hard.face import Face, FeatureFace, KernelFace
from equimargin.solvers.hard.pricing import HardRows, RowSubset

MOST_FEATURES = 2000
"""Features, at most, whose rows are factorised; with more of them the Gram matrix of the rows takes less time and memory."""
SCALINGS = 10
"""Times, at most, that a function is made larger until its hard margins are 1 in float64 as well."""


@dataclass(frozen=True, eq=False)
class ActivePool:
    """Some hard rows and their face.

    Parameters
    ----------
    keys : Index of shape (k,)
        Of the rows.
    taken : RowSubset
        The rows.
    face : Face
        Of them.
    """

    keys: Index
    taken: RowSubset
    face: Face

    @property
    def active(self) -> Index:
        """Keys of the active rows, (s,)."""
        return self.keys[np.asarray(self.face.S, dtype=np.int64)]


class Space(ABC):
    """The space of a problem's functions.

    Parameters
    ----------
    problem : MarginProblem
        Without a bias.
    rows : HardRows
        Its hard rows.
    """

    def __init__(self, problem: MarginProblem, rows: HardRows) -> None:
        self.problem, self.rows = problem, rows

    @abstractmethod
    def face(self, taken: RowSubset, before: ActivePool | None) -> Face:
        """A face of these rows, none of them active; the first of them are those of the pool before, if there is one."""

    @abstractmethod
    def function(self, pool: ActivePool, alpha: Array) -> Point:
        """The function of a face."""

    @abstractmethod
    def of_multipliers(self, taken: RowSubset, alpha: Array) -> Point:
        """The function A'alpha of some rows' multipliers, (s,)."""

    def rounding(self, alpha: Array) -> float:
        """About how far margins may be off by the rounding of f, where multipliers (s,) are its coefficients."""
        return 0.0

    def pool(self, keys: Index, before: ActivePool | None = None) -> ActivePool:
        """A pool of these rows; of those of the pool before it and these, with the same active ones."""
        taken = self.rows.take(keys)
        if before is None:
            return ActivePool(keys, taken, self.face(taken, None))
        taken, keys = before.taken.joined(taken), np.concatenate([before.keys, keys])
        pool = ActivePool(keys, taken, self.face(taken, before))
        pool.face.take_over(before.face)
        return pool

    def begun(self, pool: ActivePool, S: list[int]) -> Array:
        """Make these rows of a pool the active ones, but for dependent ones and those with a negative multiplier; their multipliers."""
        pool.face.restart(S)
        return drop_negative_multipliers(pool.face)


class FeatureSpace(Space):
    """Functions w of explicit features.

    Parameters
    ----------
    As in Space; Z : the features.
    """

    def __init__(self, problem: MarginProblem, rows: HardRows, Z: Explicit) -> None:
        super().__init__(problem, rows)
        self.Z = Z

    def face(self, taken: RowSubset, before: ActivePool | None) -> Face:
        if before is None:
            return FeatureFace(taken.features(self.Z))
        assert isinstance(before.face, FeatureFace)
        new = taken[np.arange(len(before.keys), len(taken))]
        return FeatureFace(np.vstack([before.face.D, new.features(self.Z)]))

    def function(self, pool: ActivePool, alpha: Array) -> Point:
        assert isinstance(pool.face, FeatureFace)
        return Point(w=pool.face.w, b=0.0)

    def of_multipliers(self, taken: RowSubset, alpha: Array) -> Point:
        return Point(w=alpha @ taken.features(self.Z), b=0.0)


class KernelSpace(Space):
    """Functions of coefficients beta.

    Parameters
    ----------
    As in Space.
    """

    def __init__(self, problem: MarginProblem, rows: HardRows) -> None:
        super().__init__(problem, rows)
        self.scale = float(np.abs(problem.gram.diagonal).max(initial=0.0))

    def gram(self, one: RowSubset, other: RowSubset) -> Array:
        """A K A' between rows and others, (k, l)."""
        if not (len(one) and len(other)):
            return np.zeros((len(one), len(other)))
        points, others = one.points, other.points
        K = self.problem.gram.block(points, others)
        K = np.where(np.equal.outer(points, others), self.problem.gram.diagonal[points][:, None], K)
        return _differences(_differences(K, one, points).T, other, others).T

    def face(self, taken: RowSubset, before: ActivePool | None) -> Face:
        if before is None:
            return KernelFace(self.gram(taken, taken), self.scale)
        assert isinstance(before.face, KernelFace)
        new = taken[np.arange(len(before.keys), len(taken))]
        across, own = self.gram(before.taken, new), self.gram(new, new)
        return KernelFace(np.block([[before.face.G, across], [across.T, own]]), self.scale)

    def function(self, pool: ActivePool, alpha: Array) -> Point:
        return self.of_multipliers(pool.taken[np.asarray(pool.face.S, dtype=np.int64)], alpha)

    def of_multipliers(self, taken: RowSubset, alpha: Array) -> Point:
        return Point(beta=taken.combined(alpha, self.problem.m), b=0.0)

    def rounding(self, alpha: Array) -> float:
        return 2 * UNIT * self.scale * float(alpha.sum())


def _differences(K: Array, taken: RowSubset, points: Index) -> Array:
    """A K, (k, l), for K whose rows are the points (n,) of the rows A."""
    own = K[np.searchsorted(points, taken.first)]
    return (
        taken.sign[:, None] * own
        if taken.second is None
        else own - K[np.searchsorted(points, taken.second)]
    )


def make_space(problem: MarginProblem, rows: HardRows) -> Space:
    """The space in which a problem is solved: its explicit features where they are not too many."""
    Z = problem.explicit
    return (
        KernelSpace(problem, rows)
        if Z is None or Z.q > MOST_FEATURES
        else FeatureSpace(problem, rows, Z)
    )


def values(problem: MarginProblem, function: Point) -> Array:
    """Return f at all points, (m,)."""
    if function.w is None:
        return problem.gram @ np.asarray(function.beta)
    assert problem.explicit is not None
    return problem.explicit @ function.w


def norm2(function: Point, f: Array) -> float:
    """Return the squared norm of a function with the values f, (m,)."""
    return (
        float(np.asarray(function.beta) @ f)
        if function.w is None
        else float(function.w @ function.w)
    )


def scaled(function: Point, factor: float) -> Point:
    """Return the function times a factor."""
    w, beta = function.w, function.beta
    return replace(
        function, w=None if w is None else factor * w, beta=None if beta is None else factor * beta
    )


def factor_that_meets(rows: HardRows, function: Point, factor: float) -> float:
    """Return the factor, a little larger where the function times it has hard margins below 1 in float64.

    Parameters
    ----------
    rows : HardRows
        The hard ones.
    function : Point
        Whose least margin, times the factor, is 1 but for rounding.
    """
    for k in range(SCALINGS):
        least = rows.least_margin(values(rows.problem, scaled(function, factor)))
        if least >= 1.0:
            break
        factor *= 1.0 + 2**k * (1.0 - least + 2 * UNIT)
    return factor
