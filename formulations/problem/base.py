"""What every problem answers, and what the two canonical shapes have in common: data, kernel, rows and costs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.kernels.features import Explicit, explicit
from equimargin.formulations.kernels.gram import Gram
from equimargin.formulations.kernels.kernel import Kernel
from equimargin.formulations.numeric.arguments import check_reals
from equimargin.formulations.numeric.arrays import Array, Features
from equimargin.formulations.numeric.rounding import bound_products
from equimargin.formulations.problem.limits import refuse_declaration_size
from equimargin.formulations.problem.point import AnyBias, CanonicalPoint, OneNormPoint, Point
from equimargin.formulations.problem.refusal import Refusal
from equimargin.formulations.rows.base import Rows
from equimargin.formulations.rows.pair_multipliers import AnyMultipliers, ImplicitMultipliers

P = TypeVar("P", Point, OneNormPoint)

Kind = Literal["linear", "quadratic", "conic"]
"""The kinds of convex programs: linear and quadratic ones, and those with second-order cones."""


class AnyProblem(ABC):
    """A problem, as comparisons, the referee and the command line see it: canonical, or of which nothing but the data is known."""

    @property
    @abstractmethod
    def kind(self) -> Kind:
        """What kind of program the problem is."""

    @property
    @abstractmethod
    def family(self) -> str:
        """The id of the family whose optimum it has."""

    @property
    @abstractmethod
    def convex(self) -> bool:
        """Whether the problem is known to be convex: an optimum is claimed of no other."""

    @property
    @abstractmethod
    def undeclarable(self) -> Refusal | None:
        """Reason why no formulation of its family declares the problem, or None.

        Formulations in w alone may declare it all the same.
        """

    @property
    def undeclarable_in_features(self) -> Refusal | None:
        """Reason why no formulation in w alone declares the problem; None where one may.

        Such a formulation is over explicit features.
        """
        return self.undeclarable

    def admit(self, id: str) -> None:  # noqa: B027 - nothing, by default
        """Refuse a formulation of its family, by its id, that is no program of a kind whose optimum can be proven.

        Raises
        ------
        ValueError
            If it is no convex quadratic, linear or second-order cone program.
        """

    @property
    def has_features(self) -> bool:
        """True if it consists of features, which may be scaled, and of points.

        Fewer of the points may be taken.
        """
        return False

    @property
    def note(self) -> str:
        """Remark on how its numbers are read, a sentence without its final period.

        It is empty where none is needed.
        """
        return ""

    def proven_within(self, seconds: float, total: float) -> Self:
        """Return the problem with a limit on proofs that take long.

        It is the problem itself where what is proven of it is proven at once.

        Parameters
        ----------
        seconds : float
            Seconds that the proof of one optimum may take.
        total : float
            Seconds from now on, after which no more time is spent on proofs.
        """
        return self


@dataclass(frozen=True, eq=False, repr=False)
class CanonicalProblem(AnyProblem):
    """A problem over f in the kernel's space: the fields and methods that both canonical shapes have.

    Parameters
    ----------
    X : Features of shape (m, d)
        features.
    kernel : Kernel
        k.
    rows : Rows
        A, t, s.
    C : float
        Cost of a unit of loss.
    shift : float | None
        Added to the diagonal of a precomputed Gram matrix; None if the matrix is
        indefinite. Linear programs need none.
    feature_names : tuple[str, ...] | None of shape (d,)
        Names of the columns of X, if X came as a table; f is then evaluated only at
        tables with the same columns.
    """

    X: Features
    kernel: Kernel
    rows: Rows
    C: float = 1.0
    shift: float | None = field(default=0.0, kw_only=True)
    feature_names: tuple[str, ...] | None = field(default=None, kw_only=True)

    @property
    @abstractmethod
    def weights(self) -> Array | None:
        """Factors of C, (groups,); None where all are 1."""

    @property
    @abstractmethod
    def scale(self) -> float:
        """Unit of relative figures where the optimum is almost 0: the primal value at f = 0."""

    @property
    def has_features(self) -> bool:
        """Whether the kernel is computed from features: a given Gram matrix has none."""
        return not self.kernel.given

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of coefficients of a function in this problem, one a point or one a row."""

    @property
    @abstractmethod
    def origin(self) -> CanonicalPoint:
        """The point whose numbers are all 0."""

    @abstractmethod
    def point(
        self,
        coefficients: Array | None = None,
        multipliers: AnyMultipliers | None = None,
        b: AnyBias = None,
    ) -> CanonicalPoint:
        """A point of this problem's kind.

        Parameters
        ----------
        coefficients : Array | None of shape (size,)
            Of its function.
        multipliers : AnyMultipliers | None of shape (p,)
            Of the rows.
        b : AnyBias
            The bias, for a problem that has one.
        """

    @abstractmethod
    def own_point(self, point: CanonicalPoint) -> CanonicalPoint:
        """The point, if it is of this problem's kind and size; its numbers as float64, whatever held them.

        Raises
        ------
        ValueError
            A point of the other canonical shape; a part that this shape does not have,
            of another size, or of no numbers.
        """

    @property
    @abstractmethod
    def parts(self) -> dict[str, tuple[tuple[int, ...], str]]:
        """The shape of every part that a point of this problem may have, and what the part is, in words."""

    @abstractmethod
    def function(self, point: CanonicalPoint) -> Point:
        """The function and the bias of a point of this problem's kind: how f is evaluated at other points."""

    @abstractmethod
    def values(self, point: CanonicalPoint) -> tuple[float, float]:
        """The primal and the dual value of a point in float64: inf and -inf where it lacks that side."""

    def best_bias(self, f: Array) -> tuple[AnyBias, AnyBias]:
        """The ends of all biases b that are best for f (m,): (0, 0) for a problem without a bias."""
        return 0.0, 0.0

    def bias_at(self, f: Array) -> AnyBias:
        """The middle of `best_bias(f)`."""
        lower, upper = self.best_bias(f)
        return (lower + upper) / 2

    @abstractmethod
    def with_cost(self, C: float) -> Self:
        """The same problem at another C."""

    def __repr__(self) -> str:
        """One line: the family, its sizes, the kernel and C."""
        points, columns = self.X.shape
        sizes = f"{self.p:,} rows of {points:,} points" + (
            "" if self.kernel.given else f" with {columns:,} features"
        )
        return f"<{type(self).__name__} {self.family}: {sizes}, {self.kernel!r}, C={self.C:g}>"

    @property
    def undeclarable(self) -> Refusal | None:
        """Why the problem is not declared: no convexity, its size, or hard rows of weight 0; or None."""
        if not self.convex:
            return Refusal(
                "the kernel matrix is not positive semidefinite: the problem is not convex, "
                "no optimum is claimed"
            )
        refusal = refuse_declaration_size(self.p, self.m)
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
        """K as an operator."""
        return Gram(self.kernel, self.X, self.shift or 0.0)

    @cached_property
    def explicit(self) -> Explicit | None:
        """Z (m, q) with K = Z Z' where the kernel has such features without computing any, None otherwise."""
        return explicit(self.kernel, self.X)

    @cached_property
    def unit_weights(self) -> Array:
        """weight_r, (p,), ones where none were given."""
        return np.ones(self.p) if self.weights is None else self.rows.spread(self.weights)

    @cached_property
    def hard(self) -> NDArray[np.bool_]:
        """Which rows have an infinite weight, (p,)."""
        return np.isinf(self.unit_weights)

    @cached_property
    def group_costs(self) -> Array:
        """c of the rows of every group, (groups,), C x weight; 0 for weight 0 even where C = inf, and for a group without rows."""
        w = self._used_weights
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(self.C * w if np.isfinite(self.C) else np.where(w > 0, np.inf, 0.0))

    @cached_property
    def group_costs_within(self) -> tuple[Array, Array]:
        """The ends, (groups,) each, between which the exact products C x weight lie; infinite both only where a row is hard."""
        if self.weights is None:  # C x 1 is no rounding
            return self.group_costs, self.group_costs
        return bound_products(np.asarray(self.C), self._used_weights)

    @cached_property
    def free(self) -> NDArray[np.bool_]:
        """True for rows of weight 0, shape (p,); a cost that underflows is above 0."""
        return np.asarray(self.rows.spread(self.group_costs_within[1]) == 0)

    @property
    def _used_weights(self) -> Array:
        """The weight of every group, (groups,), 0 for one without rows."""
        return self.rows.used(np.ones(self.rows.groups) if self.weights is None else self.weights)

    @cached_property
    def costs(self) -> Array:
        """c_r, (p,)."""
        return self.rows.spread(self.group_costs)


def check_point_parts(point: P, problem: CanonicalProblem) -> P:
    """The point of a problem's kind, its parts as float64 of the problem's shapes; multipliers that are not stored stay so.

    Raises
    ------
    ValueError
        As in `CanonicalProblem.own_point`.
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
    """The error that says which points a problem has."""
    return ValueError(
        f"a {type(point).__name__} is no point of a {problem.family} problem: its points "
        f"are {wanted}"
    )
