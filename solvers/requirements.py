"""Requirements of a solver on its problem, as data, and the message if one is unmet.

Each message is defined here once. If solvers have different reasons for a requirement,
each passes its reason, which ends the message:

>>> from equimargin.formulations import MarginProblem, classification
>>> unknown = "which this method does not know"
>>> requires = Requirements(MarginProblem, losses=("hinge",), no_bias=unknown)
>>> print(requires.refusal(classification([[0.0], [1.0]], [-1, 1])))
there is a bias, which this method does not know
>>> print(requires.refusal(classification([[0.0], [1.0]], [-1, 1], loss="squared_hinge")))
it takes the hinge, and the loss is the squared hinge
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np

from equimargin.formulations.declarations.user_functions import guarded
from equimargin.formulations.numeric.arguments import did_you_mean, format_value
from equimargin.formulations.problem.base import AnyProblem, CanonicalProblem
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.refusal import Refusal
from equimargin.formulations.rows.levels import Levels
from equimargin.formulations.rows.listed import Pairs
from equimargin.formulations.rows.loss import LOSS_NAMES

P = TypeVar("P", bound=AnyProblem)


@dataclass(frozen=True)
class Requirements(Generic[P]):
    """Requirements of a solver on its problem.

    Without any other argument the solver takes every problem of the class that has no
    loss: all linear programs and hard margins.

    Parameters
    ----------
    shape : type
        Class of problems that the solver supports: MarginProblem, OneNormProblem, or
        that of user-defined families.
    losses : tuple of str
        Supported losses of margin problems. Every other loss is unsupported, including
        losses added later.
    why : mapping of str to str
        Reason why a loss is unsupported, by the name of the loss; it follows "the hinge
        ..." or "the squared hinge ...". The message for any other loss lists `losses`.
    no_bias : str
        Reason why no row may have a free bias, after "there is a bias, ...".
    bias : str
        Reason why every row needs a bias, after "there is no bias, ...".
    no_hard_rows : str
        Reason against rows of infinite cost, after "hard rows (infinite costs), ...".
    linear : bool
        True if the kernel must be linear, with or without an intercept, so that f(x) =
        w.x with one weight per feature.
    single_entries : bool
        True if every row of A must have one entry, 1 or -1, as in classification and
        regression.
    thresholds : float
        Maximum number of free thresholds: 1, the default, is a bias.
    convex : bool
        True if the kernel matrix must be positive semidefinite.
    most_rows : float
        Maximum number of rows p.
    most_points : float
        Maximum number of points m of a solver that stores the Gram matrix.
    features_at_any_size : bool
        True if `most_points` does not apply to kernels with explicit features.
    also : callable
        Further condition, tested last: returns the reason, as a sentence, why a problem
        is unsupported, or None.

    Raises
    ------
    ValueError
        If the shape is no class, `losses` is a string, or a loss is unknown.
    """

    shape: type[P]
    losses: tuple[str, ...] = ()
    why: Mapping[str, str] = field(default_factory=dict)
    no_bias: str = ""
    bias: str = ""
    no_hard_rows: str = ""
    linear: bool = False
    single_entries: bool = False
    thresholds: float = 1
    convex: bool = False
    most_rows: float = np.inf
    most_points: float = np.inf
    features_at_any_size: bool = False
    also: Callable[[P], Refusal | str | None] = lambda problem: None

    def __post_init__(self) -> None:
        if not isinstance(self.shape, type):
            raise ValueError(
                f"Requirements: shape must be a class of problems, such as MarginProblem, "
                f"not {format_value(self.shape)}"
            )
        if isinstance(self.losses, str):
            raise ValueError(
                f"Requirements: losses must be names of losses, such as ('hinge',), not "
                f"{format_value(self.losses)}"
            )
        unknown = [name for name in (*self.losses, *self.why) if name not in LOSS_NAMES]
        if unknown:
            raise ValueError(
                f"Requirements: there is no loss "
                f"{format_value(unknown[0])}{did_you_mean(str(unknown[0]), list(LOSS_NAMES))}"
            )

    def refusal(self, problem: AnyProblem) -> Refusal | None:
        """Return the first requirement that the problem does not satisfy, or None.

        The order is: loss, thresholds, bias, kernel, entries of rows, hard rows, sizes,
        convexity, `also`.

        Parameters
        ----------
        problem : AnyProblem
            Problem to solve.
        """
        if not isinstance(problem, self.shape):
            return _of_another_shape(problem)
        unmet = next(self._unmet(problem), None) if isinstance(problem, CanonicalProblem) else None
        reason = unmet or self._also(problem)
        return Refusal(reason) if isinstance(reason, str) else reason

    @cached_property
    def _also(self) -> Callable[[P], Refusal | str | None]:
        """`also`; a user's function is wrapped, so that it cannot exit Python."""
        return guarded(self.also)

    def _unmet(self, problem: CanonicalProblem) -> Iterator[Refusal]:
        if isinstance(problem, MarginProblem):
            yield from self._unmet_by_loss(problem)
            yield from self._unmet_by_rows(problem)
        if problem.p > self.most_rows:
            rows = "pairs" if isinstance(problem.rows, Pairs) else "rows"
            yield Refusal(
                f"{problem.p:,} {rows}, more than the {self.most_rows:,} that are listed one "
                f"by one",
                too_large=True,
            )
        if problem.m > self.most_points and not (
            self.features_at_any_size and problem.explicit is not None
        ):
            yield Refusal(
                f"{problem.m:,} points, more than the {self.most_points:,} whose Gram "
                f"matrix is stored",
                too_large=True,
            )
        if self.convex and not problem.has_gap:
            yield Refusal("the kernel matrix is not positive semidefinite")

    def _unmet_by_loss(self, problem: MarginProblem) -> Iterator[Refusal]:
        """Yield the refusal of a loss. A hard margin has no loss, whatever `loss` is."""
        if problem.loss in self.losses or np.isinf(problem.C):
            return
        if problem.loss in self.why:
            yield Refusal(f"{_article(problem.loss)} {self.why[problem.loss]}")
        else:
            supported = " and ".join(map(_article, self.losses)) or "hard margins only"
            yield Refusal(f"it takes {supported}, and the loss is {_article(problem.loss)}")

    def _unmet_by_rows(self, problem: MarginProblem) -> Iterator[Refusal]:
        if self.thresholds < problem.T:
            supported = "one bias" if self.thresholds == 1 else f"{self.thresholds:g} at most"
            yield Refusal(f"there are {problem.T} thresholds, and this method supports {supported}")
        if self.no_bias and problem.bias and problem.bias_signs.any():
            yield Refusal(f"there is a bias, {self.no_bias}")
        if self.bias and not (problem.bias and problem.bias_signs.all()):
            yield Refusal(f"there is no bias, {self.bias}")
        if self.linear and problem.explicit is None:
            yield Refusal(f"the {problem.kernel.name} kernel has no w")
        # (|A| 1)_r = 1 exactly if the only entry of row r is 1 or -1.
        if self.single_entries and (problem.rows.absolute_dot(np.ones(problem.m)) != 1.0).any():
            yield Refusal("rows have more than one entry")
        if self.no_hard_rows and np.isinf(problem.group_costs).any():
            yield Refusal(f"hard rows (infinite costs), {self.no_hard_rows}")


def without_levels(problem: MarginProblem) -> Refusal | None:
    """Return the refusal of a problem without levels and thresholds, or None.

    Parameters
    ----------
    problem : MarginProblem
        Problem to solve.
    """
    return (
        None
        if isinstance(problem.rows, Levels)
        else Refusal("its points have no levels with thresholds between them")
    )


def _article(loss: str) -> str:
    """Return the name of a loss with its article."""
    return f"the {loss.replace('_', ' ')}"


def _of_another_shape(problem: AnyProblem) -> Refusal:
    if not isinstance(problem, CanonicalProblem):
        return Refusal(f"it is of the family {problem.family}, which has solvers of its own")
    return Refusal(
        "it is a linear program" if problem.kind == "linear" else "it is a quadratic problem"
    )
