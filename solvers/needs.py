"""What a solver needs of a problem, as data; and the sentence that says which need a problem does not meet.

Every sentence stands here once. Where solvers differ in why they need something, the need is given as that reason, which ends the sentence:

>>> from equimargin.formulations import MarginProblem, classification
>>> needs = Needs(MarginProblem, no_bias="which this method does not know")
>>> print(needs.refusal(classification([[0.0], [1.0]], [-1, 1])))
there is a bias, which this method does not know
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from equimargin.formulations.numeric.arguments import shown
from equimargin.formulations.problem.base import AnyProblem, CanonicalProblem
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.refusal import Refusal
from equimargin.formulations.rows.listed import Signed, Tube

P = TypeVar("P", bound=AnyProblem)


@dataclass(frozen=True)
class Needs(Generic[P]):
    """Requirements of a solver on its problem.

    Without any other argument the solver takes every problem of the shape.

    Parameters
    ----------
    shape : type
        Class of problems that the solver is called with: MarginProblem, OneNormProblem, or that
        of user-defined families.
    no_hinge, no_squared_hinge : str
        Why it does not take this loss, after "the hinge ..." or "the squared hinge ...".
    no_bias : str
        Why no row may have a free bias, after "there is a bias, ...".
    bias : str
        Why every row needs one, after "there is no bias, ...".
    no_hard_rows : str
        Why it does not take rows of infinite cost, after "hard rows (infinite costs), ...".
    linear : bool
        True if the kernel has to be linear, with an intercept or without, so that f(x) = w.x
        with one weight per feature.
    single_entries : bool
        True if every row of A must have one entry, 1 or -1, as in classification and regression.
    convex : bool
        True if the kernel matrix has to be positive semidefinite.
    most_rows : float
        The largest p.
    most_points : float
        The largest m whose Gram matrix it keeps.
    features_at_any_size : bool
        True if `most_points` does not count for kernels with explicit features.
    also : callable
        What else it needs, and no other solver does: the refusal of a problem that meets all
        needs above, or None.

    Raises
    ------
    ValueError
        If the shape is no class.
    """

    shape: type[P]
    no_hinge: str = ""
    no_squared_hinge: str = ""
    no_bias: str = ""
    bias: str = ""
    no_hard_rows: str = ""
    linear: bool = False
    single_entries: bool = False
    convex: bool = False
    most_rows: float = np.inf
    most_points: float = np.inf
    features_at_any_size: bool = False
    also: Callable[[P], Refusal | None] = lambda problem: None

    def __post_init__(self) -> None:
        if not isinstance(self.shape, type):
            raise ValueError(f"Needs: shape must be a class of problems, such as MarginProblem, not {shown(self.shape)}")

    def refusal(self, problem: AnyProblem) -> Refusal | None:
        """Return the first need that the problem does not meet, or None.

        The order is that of the parameters, but with the sizes before `convex`.
        """
        if not isinstance(problem, self.shape):
            return _of_another_shape(problem)
        unmet = next(self._unmet(problem), None) if isinstance(problem, CanonicalProblem) else None
        return unmet or self.also(problem)

    def _unmet(self, problem: CanonicalProblem) -> Iterator[Refusal]:
        if isinstance(problem, MarginProblem):
            yield from self._unmet_by_loss(problem)
            yield from self._unmet_by_rows(problem)
        if problem.p > self.most_rows:
            rows = "rows" if isinstance(problem.rows, Signed | Tube) else "pairs"
            yield Refusal(f"{problem.p:,} {rows}, more than the {self.most_rows:,} that are listed one by one", too_large=True)
        if problem.m > self.most_points and not (self.features_at_any_size and problem.explicit is not None):
            yield Refusal(f"{problem.m:,} points, more than the {self.most_points:,} whose Gram matrix is kept", too_large=True)
        if self.convex and not problem.convex:
            yield Refusal("the kernel matrix is not positive semidefinite")

    def _unmet_by_loss(self, problem: MarginProblem) -> Iterator[Refusal]:
        """The losses that it does not take. A hard margin has no loss, whatever its `loss` says."""
        if self.no_hinge and problem.loss == "hinge" and np.isfinite(problem.C):
            yield Refusal(f"the hinge {self.no_hinge}")
        if self.no_squared_hinge and problem.loss == "squared_hinge" and np.isfinite(problem.C):
            yield Refusal(f"the squared hinge {self.no_squared_hinge}")

    def _unmet_by_rows(self, problem: MarginProblem) -> Iterator[Refusal]:
        if self.no_bias and problem.bias and problem.bias_signs.any():
            yield Refusal(f"there is a bias, {self.no_bias}")
        if self.bias and not (problem.bias and problem.bias_signs.all()):
            yield Refusal(f"there is no bias, {self.bias}")
        if self.linear and problem.explicit is None:
            yield Refusal(f"the {problem.kernel.name} kernel has no w")
        if self.single_entries and (problem.rows.absolute_dot(np.ones(problem.m)) != 1.0).any():
            yield Refusal("rows have more than one entry")
        if self.no_hard_rows and np.isinf(problem.group_costs).any():
            yield Refusal(f"hard rows (infinite costs), {self.no_hard_rows}")


def _of_another_shape(problem: AnyProblem) -> Refusal:
    if not isinstance(problem, CanonicalProblem):
        return Refusal(f"it is of the family {problem.family}, which has solvers of its own")
    return Refusal("it is a linear program" if problem.kind == "linear" else "it is a quadratic problem")
