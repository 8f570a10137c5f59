"""Function spaces of a hard margin (features or kernel span), and row pools."""

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
"""Maximum number of features whose rows are factorised.

With more features the Gram matrix of the rows takes less time and memory.
"""
SCALINGS = 10
"""Maximum number of times a function is enlarged until its float64 hard margins are 1."""


@dataclass(frozen=True, eq=False)
class ActivePool:
    """Pool of hard rows and their face.

    Parameters
    ----------
    keys : Index of shape (k,)
        Keys of the rows.
    taken : RowSubset
        Rows.
    face : Face
        Face of the rows.
    """

    keys: Index
    taken: RowSubset
    face: Face

    @property
    def active(self) -> Index:
        """Keys of the active rows, shape (s,)."""
        return self.keys[np.asarray(self.face.S, dtype=np.int64)]


class Space(ABC):
    """Function space of a problem.

    Parameters
    ----------
    problem : MarginProblem
        Problem without a bias.
    rows : HardRows
        Its hard rows.
    """

    def __init__(self, problem: MarginProblem, rows: HardRows) -> None:
        self.problem, self.rows = problem, rows

    @abstractmethod
    def face(self, taken: RowSubset, before: ActivePool | None) -> Face:
        """Return a face of these rows, with no active row.

        Parameters
        ----------
        taken : RowSubset
            Rows.
        before : ActivePool | None
            Pool of the first of these rows, if there is one.
        """

    @abstractmethod
    def function(self, pool: ActivePool, alpha: Array) -> Point:
        """Return the function of a face.

        Parameters
        ----------
        pool : ActivePool
            Pool with the face.
        alpha : ndarray of shape (s,)
            Multipliers of the active rows.
        """

    @abstractmethod
    def of_multipliers(self, taken: RowSubset, alpha: Array) -> Point:
        """Return the function A'alpha of some rows.

        Parameters
        ----------
        taken : RowSubset
            Rows.
        alpha : ndarray of shape (s,)
            Their multipliers.
        """

    def rounding(self, alpha: Array) -> float:
        """Return an estimate of the margins' error due to the rounding of f.

        Parameters
        ----------
        alpha : ndarray of shape (s,)
            Multipliers of the active rows; f is A'alpha.
        """
        return 0.0

    def pool(self, keys: Index, before: ActivePool | None = None) -> ActivePool:
        """Return a pool of these rows, appended to those of an earlier pool if given.

        Parameters
        ----------
        keys : Index
            Keys of the rows.
        before : ActivePool | None
            Earlier pool, whose active rows stay active.
        """
        taken = self.rows.take(keys)
        if before is None:
            return ActivePool(keys, taken, self.face(taken, None))
        taken, keys = before.taken.joined(taken), np.concatenate([before.keys, keys])
        pool = ActivePool(keys, taken, self.face(taken, before))
        pool.face.take_over(before.face)
        return pool

    def begun(self, pool: ActivePool, S: list[int]) -> Array:
        """Make rows of a pool active and return their multipliers.

        Dependent rows and those with a negative multiplier are skipped.

        Parameters
        ----------
        pool : ActivePool
            Pool, modified in place.
        S : list[int]
            Rows of the pool.
        """
        pool.face.restart(S)
        return drop_negative_multipliers(pool.face)


class FeatureSpace(Space):
    """Functions w of explicit features.

    Parameters
    ----------
    problem : MarginProblem
        Problem without a bias.
    rows : HardRows
        Its hard rows.
    Z : Explicit
        Features of the points.
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
    problem : MarginProblem
        Problem without a bias.
    rows : HardRows
        Its hard rows.
    """

    def __init__(self, problem: MarginProblem, rows: HardRows) -> None:
        super().__init__(problem, rows)
        self.scale = float(np.abs(problem.gram.diagonal).max(initial=0.0))

    def gram(self, one: RowSubset, other: RowSubset) -> Array:
        """Return A K A' between two selections of rows, (k, l).

        Parameters
        ----------
        one : RowSubset
            k rows.
        other : RowSubset
            l rows.
        """
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
    """Return A K for rows A; row i of K belongs to `points[i]`, which is sorted."""
    own = K[np.searchsorted(points, taken.first)]
    return (
        taken.sign[:, None] * own
        if taken.second is None
        else own - K[np.searchsorted(points, taken.second)]
    )


def make_space(problem: MarginProblem, rows: HardRows) -> Space:
    """Return the function space of a problem: features, if they are not too many.

    Parameters
    ----------
    problem : MarginProblem
        Problem without a bias.
    rows : HardRows
        Its hard rows.
    """
    Z = problem.explicit
    return (
        KernelSpace(problem, rows)
        if Z is None or Z.q > MOST_FEATURES
        else FeatureSpace(problem, rows, Z)
    )


def values(problem: MarginProblem, function: Point) -> Array:
    """Return f at all points, (m,).

    Parameters
    ----------
    problem : MarginProblem
        Problem with the points.
    function : Point
        Function, w or beta.
    """
    if function.w is None:
        return problem.gram @ np.asarray(function.beta)
    assert problem.explicit is not None
    return problem.explicit @ function.w


def norm2(function: Point, f: Array) -> float:
    """Return the squared norm of a function.

    Parameters
    ----------
    function : Point
        Function, w or beta.
    f : ndarray of shape (m,)
        Its values at the points.
    """
    return (
        float(np.asarray(function.beta) @ f)
        if function.w is None
        else float(function.w @ function.w)
    )


def scaled(function: Point, factor: float) -> Point:
    """Return the function times a factor.

    Parameters
    ----------
    function : Point
        Function, w or beta.
    factor : float
        Factor.
    """
    w, beta = function.w, function.beta
    return replace(
        function, w=None if w is None else factor * w, beta=None if beta is None else factor * beta
    )


def factor_that_meets(rows: HardRows, function: Point, factor: float) -> float:
    """Return the factor, increased until the scaled float64 hard margins reach 1.

    Parameters
    ----------
    rows : HardRows
        Hard rows.
    function : Point
        Function with a minimum margin of 1, within rounding, after scaling.
    factor : float
        Initial factor.
    """
    for k in range(SCALINGS):
        least = rows.least_margin(values(rows.problem, scaled(function, factor)))
        if least >= 1.0:
            break
        factor *= 1.0 + 2**k * (1.0 - least + 2 * UNIT)
    return factor
