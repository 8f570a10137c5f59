"""Interface of all problems, and the base of the two canonical shapes.

`AnyProblem` is the interface that comparisons, the referee and the command line use;
`CanonicalProblem` adds data, kernel, rows and costs, which `MarginProblem` and
`OneNormProblem` share.

Notation: m points, p rows, K the (m, m) Gram matrix, A the (p, m) row operator, t the
targets and s the bias signs of the rows, c the costs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.kernels.features import Explicit, explicit
from equimargin.formulations.kernels.given_matrix import UnprovenShift
from equimargin.formulations.kernels.gram import Gram
from equimargin.formulations.kernels.kernel import Kernel
from equimargin.formulations.numeric.arguments import check_reals
from equimargin.formulations.numeric.arrays import Array, Features
from equimargin.formulations.numeric.rounding import bound_products
from equimargin.formulations.problem.limits import refuse_declaration_size
from equimargin.formulations.problem.point import AnyBias, CanonicalPoint, OneNormPoint, Point
from equimargin.formulations.problem.refusal import Refusal
from equimargin.formulations.rows.base import Rows
from equimargin.formulations.rows.loss import Loss
from equimargin.formulations.rows.pair_multipliers import AnyMultipliers, ImplicitMultipliers

P = TypeVar("P", Point, OneNormPoint)

Kind = Literal["linear", "quadratic", "conic"]
"""Class of a convex program; "conic" programs have second-order cones."""


class AnyProblem(ABC):
    """Interface of all problems, canonical and user-defined.

    Attributes
    ----------
    part : str
        Part of the data that the problem concerns, such as the names of two classes;
        empty if it concerns all.
    """

    part: str = ""

    @property
    @abstractmethod
    def kind(self) -> Kind:
        """Class of the convex program."""

    @property
    @abstractmethod
    def family(self) -> str:
        """Id of the problem's family, whose formulations share its optimum."""

    @property
    @abstractmethod
    def convex(self) -> bool:
        """True if known to be convex; otherwise no optimum is claimed."""

    @property
    @abstractmethod
    def undeclarable(self) -> Refusal | None:
        """Reason why the family's formulations cannot declare the problem, or None.

        Those in w alone have `undeclarable_in_features`.
        """

    @property
    def undeclarable_in_features(self) -> Refusal | None:
        """Reason why no formulation in w alone declares the problem; None if one may.

        Such a formulation is over explicit features.
        """
        return self.undeclarable

    def admit(self, id: str) -> None:  # noqa: B027 - nothing, by default
        """Raise an error if the optimum of a formulation cannot be proven.

        Parameters
        ----------
        id : str
            Id of a formulation of the problem's family.

        Raises
        ------
        ValueError
            If the formulation is no convex quadratic, linear or second-order cone program.
        """

    @property
    def has_features(self) -> bool:
        """True if the data are points with features, which can be scaled and subsampled."""
        return False

    @property
    def note(self) -> str:
        """Note on how floats are interpreted, without a final period; may be empty."""
        return ""

    @property
    def proven(self) -> Self:
        """The problem itself; of a given Gram matrix, the problem with a proven shift."""
        return self

    def proven_within(self, seconds: float, total: float) -> Self:
        """Return the problem with a time limit on slow proofs.

        The default returns the problem itself, for families whose proofs are immediate.

        Parameters
        ----------
        seconds : float
            Time limit of the proof of one optimum, in seconds.
        total : float
            Time limit of all proofs from now on, in seconds.
        """
        return self


@dataclass(frozen=True, eq=False, repr=False)
class CanonicalProblem(AnyProblem):
    """Problem in a function f of the kernel's space; base of both canonical shapes.

    Parameters
    ----------
    X : ndarray or sparse array of shape (m, d)
        Features.
    kernel : Kernel
        Kernel k(x, z).
    rows : Rows
        Row operator A with targets t and bias signs s.
    C : float
        Cost per unit of loss.
    shift : float, UnprovenShift or None
        Number added to the diagonal of a precomputed Gram matrix; None if the matrix is
        indefinite. An `UnprovenShift` counts as 0 until `proven` replaces it. Linear
        programs need no shift.
    feature_names : tuple of str of length d, or None
        Column names of X, if X was a table. f is then evaluated only at tables with
        these columns.
    part : str
        As in `AnyProblem`.
    """

    X: Features
    kernel: Kernel
    rows: Rows
    C: float = 1.0
    shift: float | UnprovenShift | None = field(default=0.0, kw_only=True)
    feature_names: tuple[str, ...] | None = field(default=None, kw_only=True)
    part: str = field(default="", kw_only=True)

    @property
    @abstractmethod
    def weights(self) -> Array | None:
        """Factors of C, shape (groups,); None if all are 1."""

    @property
    @abstractmethod
    def phi(self) -> Loss:
        """Loss as an object."""

    @property
    @abstractmethod
    def scale(self) -> float:
        """Unit of relative errors near the optimum 0: the primal objective at f = 0."""

    @property
    def proven(self) -> Self:
        return self._proven if isinstance(self.shift, UnprovenShift) else self

    @cached_property
    def _proven(self) -> Self:
        assert isinstance(self.shift, UnprovenShift)
        return replace(self, shift=self.shift.proven)

    @property
    def has_gap(self) -> bool:
        """False if K is known to be indefinite: a gap is then no error bound.

        Unlike `convex`, it needs no proof.
        """
        return self.convex

    @property
    def has_features(self) -> bool:
        """True if the kernel is computed from features, not given as a Gram matrix."""
        return not self.kernel.given

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of coefficients of f, one per point or one per row."""

    @property
    @abstractmethod
    def origin(self) -> CanonicalPoint:
        """Point with all entries 0."""

    @abstractmethod
    def point(
        self,
        coefficients: Array | None = None,
        multipliers: AnyMultipliers | None = None,
        b: AnyBias = None,
    ) -> CanonicalPoint:
        """Return a point of this problem's type.

        Parameters
        ----------
        coefficients : ndarray of shape (size,), or None
            Coefficients of f.
        multipliers : AnyMultipliers of shape (p,), or None
            Dual multipliers of the rows.
        b : float, ndarray of shape (T,), or None
            Bias, for a problem with a bias.
        """

    @abstractmethod
    def own_point(self, point: CanonicalPoint) -> CanonicalPoint:
        """Check that a point fits the problem, and return it with float64 entries.

        Parameters
        ----------
        point : CanonicalPoint
            Point with entries of any real type.

        Raises
        ------
        ValueError
            If the point is of the other canonical shape, or a part is unknown, not
            numeric or of another size.
        """

    @property
    @abstractmethod
    def parts(self) -> dict[str, tuple[tuple[int, ...], str]]:
        """Shape and description of every part of a point, by the part's name."""

    @abstractmethod
    def function(self, point: CanonicalPoint) -> Point:
        """Return f and the bias of a point, for evaluation at new points.

        Parameters
        ----------
        point : CanonicalPoint
            Point of this problem's type.
        """

    @abstractmethod
    def values(self, point: CanonicalPoint) -> tuple[float, float]:
        """Return the float64 primal and dual objective of a point.

        Parameters
        ----------
        point : CanonicalPoint
            Point of this problem's type.

        Returns
        -------
        primal, dual : float
            inf if the point has no primal value, -inf if it has no multipliers.
        """

    def best_bias(self, f: Array) -> tuple[AnyBias, AnyBias]:
        """Return the interval of optimal biases for given function values.

        Parameters
        ----------
        f : ndarray of shape (m,)
            Values at the points.

        Returns
        -------
        lower, upper : float or ndarray of shape (T,)
            Interval endpoints; (0, 0) for a problem without a bias.
        """
        return 0.0, 0.0

    def bias_at(self, f: Array) -> AnyBias:
        """Return the midpoint of `best_bias(f)`.

        Parameters
        ----------
        f : ndarray of shape (m,)
            Values at the points.
        """
        lower, upper = self.best_bias(f)
        return (lower + upper) / 2

    @abstractmethod
    def with_cost(self, C: float) -> Self:
        """Return the same problem at another cost.

        Parameters
        ----------
        C : float
            New cost per unit of loss.
        """

    def __repr__(self) -> str:
        """Return the family, the sizes, the kernel and C on one line."""
        points, columns = self.X.shape
        sizes = f"{self.p:,} rows of {points:,} points" + (
            "" if self.kernel.given else f" with {columns:,} features"
        )
        return f"<{type(self).__name__} {self.family}: {sizes}, {self.kernel!r}, C={self.C:g}>"

    @property
    def undeclarable(self) -> Refusal | None:
        """Reason why no formulation declares the problem, or None.

        The problem is nonconvex or too large, or it is a hard margin with rows of weight 0.
        """
        refusal = refuse_declaration_size(self.p, self.m)
        # A proof of convexity would take long where the size refuses the problem.
        if not (self.convex if refusal is None else self.has_gap):
            return Refusal(
                "the kernel matrix is not positive semidefinite: the problem is not convex, "
                "no optimum is claimed"
            )
        if refusal is None and np.isinf(self.C) and (self.unit_weights == 0).any():
            return Refusal("hard forms have no rows of weight 0: leave those rows out of the data")
        return refusal

    @property
    def m(self) -> int:
        """Number of points."""
        return self.rows.m

    @property
    def p(self) -> int:
        """Number of rows."""
        return self.rows.p

    @cached_property
    def gram(self) -> Gram:
        """Gram matrix K as a linear operator."""
        shift = self.shift
        decided = 0.0 if shift is None or isinstance(shift, UnprovenShift) else shift
        return Gram(self.kernel, self.X, decided)

    @cached_property
    def explicit(self) -> Explicit | None:
        """Features Z (m, q) with K = Z Z' if the data hold them; None otherwise."""
        return explicit(self.kernel, self.X)

    @cached_property
    def mean_diagonal(self) -> float:
        """Mean |K_ii|, or 1 if all are 0, from the explicit features if there are any."""
        Z = self.explicit
        return self.gram.mean_diagonal if Z is None else Z.mean_square() or 1.0

    @cached_property
    def unit_weights(self) -> Array:
        """Weight of every row, shape (p,); ones if no weights were given."""
        return np.ones(self.p) if self.weights is None else self.rows.spread(self.weights)

    @cached_property
    def hard(self) -> NDArray[np.bool_]:
        """True for rows of infinite weight, shape (p,)."""
        return np.isinf(self.unit_weights)

    @cached_property
    def soft_weights(self) -> Array:
        """Weights of slacks in an objective, shape (p,): weight_r, 0 on hard rows."""
        return np.where(self.hard, 0.0, self.unit_weights)

    @cached_property
    def group_costs(self) -> Array:
        """Costs C x weight of the row groups, shape (groups,).

        0 for a group without rows, and for weight 0 even if C = inf.
        """
        # 0 x inf is NaN: an infinite C is handled apart so that weight 0 costs nothing.
        w = self._used_weights
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(self.C * w if np.isfinite(self.C) else np.where(w > 0, np.inf, 0.0))

    @cached_property
    def group_costs_within(self) -> tuple[Array, Array]:
        """Bounds of the exact products C x weight, shape (groups,) each.

        Both bounds are infinite only for hard rows.
        """
        # C x 1 is exact.
        if self.weights is None:
            return self.group_costs, self.group_costs
        return bound_products(np.asarray(self.C), self._used_weights)

    @cached_property
    def free(self) -> NDArray[np.bool_]:
        """True for rows of weight 0, shape (p,), but not for costs that underflow to 0."""
        return np.asarray(self.rows.spread(self.group_costs_within[1]) == 0)

    @property
    def _used_weights(self) -> Array:
        """Weight of every group, shape (groups,); 0 for a group without rows."""
        return self.rows.used(np.ones(self.rows.groups) if self.weights is None else self.weights)

    @cached_property
    def costs(self) -> Array:
        """Cost c_r of every row, shape (p,)."""
        return self.rows.spread(self.group_costs)

    @cached_property
    def box(self) -> Array:
        """Upper bounds of the multipliers, shape (p,).

        c, but inf for the squared hinge, and 0 if the row costs nothing.
        """
        return self.phi.box(self.costs)

    @cached_property
    def exact_box(self) -> Array:
        """Upper bounds of the multipliers, shape (p,), at most the exact products C x weight.

        `box` has the products rounded to nearest.
        """
        return self.phi.box(self.rows.spread(self.group_costs_within[0]))


def check_point_parts(point: P, problem: CanonicalProblem) -> P:
    """Return a point with its parts as float64 arrays of the problem's shapes.

    Implicit multipliers are not converted.

    Parameters
    ----------
    point : Point or OneNormPoint
        Point of the problem's type.
    problem : CanonicalProblem
        Problem that defines names and shapes of the parts.

    Returns
    -------
    Point or OneNormPoint
        The point itself if no part had to be converted.

    Raises
    ------
    ValueError
        If a part is unknown, not numeric, or of another shape.
    """
    changed: dict[str, Any] = {}
    parts = problem.parts
    for name, value in vars(point).items():
        if value is None:
            continue
        if name not in parts:
            raise ValueError(
                f"a point of this {problem.family} problem has no {name}: its parts are "
                f"{', '.join(parts)}"
            )
        shape, meaning = parts[name]
        part = (
            value
            if isinstance(value, ImplicitMultipliers)
            else check_reals(value, f"the point's {name}")
        )
        if part.shape != shape:
            raise ValueError(
                f"the point's {name} must be {meaning}, of shape {shape}, and is of shape "
                f"{part.shape}"
            )
        if part is not value:
            changed[name] = part if shape else float(np.asarray(part))
    return replace(point, **changed) if changed else point


def wrong_point_type_error(
    point: CanonicalPoint, problem: CanonicalProblem, wanted: str
) -> ValueError:
    """Return the error for a point of the wrong type.

    Parameters
    ----------
    point : CanonicalPoint
        Rejected point.
    problem : CanonicalProblem
        Problem that rejects it.
    wanted : str
        Accepted types, for the message.
    """
    return ValueError(
        f"a {type(point).__name__} is no point of a {problem.family} problem: its points "
        f"are {wanted}"
    )
