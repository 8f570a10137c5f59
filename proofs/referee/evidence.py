"""Evidence: what one answer shows by itself, before it is compared with others.

It has the run that gave the answer, the answer's claim, what its point proves, and its
accuracy. All figures are absolute, in units of the family's objective, unless their
docstring says otherwise. Parts that an answer does not have are None.
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from equimargin.formulations.bounds.intervals import Interval
from equimargin.formulations.problem.point import CanonicalPoint
from equimargin.solvers.ray import FarkasRay
from equimargin.solvers.solution import Status

LIBRARIES = {"cvxpy", "hypothesis", "numpy", "scipy", "sklearn"}
"""Names of folders of libraries, whose own lines say nothing to somebody whose function has called them in a wrong way."""
Side = Literal["f", "alpha"]
"""The two sides of a point: the function with its bias, and the multipliers."""


@dataclass(frozen=True)
class Run:
    """Who gave an answer, to what, and how the run ended according to the solver, which is reported and never believed."""

    family: str
    """Id of the family whose optimum was asked for."""
    formulation: str | None
    """Id of the declaration; None for a specialised solver."""
    solver: str
    """Name of the backend or of the solver."""
    control: bool
    """Whether the declaration is wrong on purpose: its answer then counts neither as a proof nor as a disagreement of the family."""
    status: Status
    """How the run ended, according to the solver."""
    reason: str
    """The same in a sentence."""
    skipped: bool = False
    """Whether it was not run at all."""
    raised: str = ""
    """The exception that took the answer's place, and where it was raised; empty if there was none."""
    compile_seconds: float | None = None
    """Wall time of declaring and compiling; None where nothing is compiled."""
    solve_seconds: float | None = None
    """Wall time of solving; None where nothing was solved."""
    iterations: int | None = None
    """Iterations of the solver's own kind; None where it does not count any."""
    library: str = ""
    """Name of the solving code, a backend's name where it is one.

    It is empty where that is the code of the solver itself.
    """

    @property
    def claims_the_end(self) -> bool:
        """Whether a specialised solver says that it has done all it can, so that its point stands for its optimum."""
        return self.formulation is None and self.status in (Status.OPTIMAL, Status.FINISHED)

    @property
    def witness(self) -> str:
        """Name of the code that computed the answer: two answers of one are one witness."""
        return self.library or self.solver

    @property
    def name(self) -> str:
        """The name of the run in sentences."""
        return f"{self.formulation or 'solver'} by {self.solver}"


@dataclass(frozen=True)
class Claim:
    """The optimum that an answer claims, and how accurate the claim is as a number."""

    value: float
    """The declared objective on the family's scale; inf or -inf where a verified ray says so."""
    mismatch: float = 0.0
    """The largest of three figures: |declared - printed| objective, and the violations of the declared and of the printed constraints, each
    violation times its multiplier.
    """
    cancellation: float = 0.0
    """How far the quadratic of its value may be off by rounding, as printed, as declared or as computed."""
    reach: float | None = None
    """How far the objective goes along its ray before the ray ends; None where the claim is that of a point, and not of a ray."""
    infeasible: bool = False
    """Whether it proves that no point is feasible."""

    @property
    def of_ray(self) -> bool:
        """Whether the claim is that of a verified ray."""
        return self.reach is not None


@dataclass(frozen=True)
class PointProof:
    """What the point of an answer proves of the optimum, whatever the answer claims."""

    supplied: CanonicalPoint = field(repr=False, compare=False)
    """The canonical point, in the terms of the family's problem."""
    proven: Interval
    """The interval of the point, repaired, every rounding counted outward."""
    inner: Interval
    """The inner interval of that point, every rounding counted inward: exact arithmetic would prove no narrower one."""
    lp_multiplier_side: Side | None = None
    """The side that a linear program's multipliers supply, which is not put to the point test; None for any other program."""
    derived_lower: float = -np.inf
    """A lower bound proven from multipliers that we made from its f; -inf where it brought its own, or none could be made."""
    own: Interval | None = None
    """What is proven of the optimum of the answer's own declaration, or of the value of a solver's own point, on the family's scale.

    It takes the place of `proven` where a family has no canonical point to which all answers are mapped. `proven` is then what is known of
    the family's definition, and nothing is supplied.
    """
    stated_rounding: float = 0.0
    """Distance by which roundings may move values apart.

    The roundings are those of the numbers of an own declaration, of the definition and of a
    solver's point.
    """
    difference: float = 0.0
    """Difference of the exact optimum of an own declaration from the definition's.

    It is 0 where they are equal, or not known exactly.
    """

    @property
    def has_f(self) -> bool:
        """Whether the answer supplied a function."""
        return self.supplied.has_function

    @property
    def has_alpha(self) -> bool:
        """Whether the answer supplied multipliers."""
        return self.supplied.has_multipliers

    @property
    def rounding(self) -> float:
        """The larger share that rounding has in a side of `proven` that it supplied."""
        sides = (
            (self.has_f, self.proven.upper, self.inner.upper),
            (self.has_alpha, self.inner.lower, self.proven.lower),
        )
        return max(
            (
                larger - smaller
                for supplied, larger, smaller in sides
                if supplied and larger > smaller
            ),
            default=0.0,
        )


@dataclass(frozen=True)
class SolveAccuracy:
    """How well the solver solved its own problem, recomputed from its raw vectors."""

    residual: float | None = np.inf
    """About the error of its objective, auxiliary variables eliminated too; inf where it returned no vectors.

    None of a function without multipliers, which says nothing of itself: how far its point is from the family's interval then counts.
    """
    normwise: float = np.inf
    """The largest of its relative residuals, without a unit, auxiliary variables eliminated too; inf where it returned no vectors."""
    arithmetic: float = 0.0
    """About the rounding error of margins in any solver that uses float64, relative to the margins that the rows ask for."""
    blur: float = 0.0
    """By how much margins of 1 of hard rows may be off in what is declared, over the optimum; 0 where no row is hard."""


@dataclass(frozen=True)
class Evidence:
    """What one answer shows by itself: the run, and the three things that the referee asks about."""

    run: Run
    """Who gave the answer and how it ended."""
    claim: Claim | None = None
    """What it says of the optimum; None where it gave neither values nor a verified ray."""
    point: PointProof | None = None
    """What its point proves; None where it gave none."""
    accuracy: SolveAccuracy | None = None
    """How well it solved its own problem; None where it gave neither values nor a verified ray."""
    ray: FarkasRay | None = None
    """The whole numbers with which a specialised solver says that its hard rows cannot be met, as it gave them."""

    @property
    def value(self) -> float:
        """The claimed optimum on the family's scale; NaN without a claim."""
        return float("nan") if self.claim is None else self.claim.value


def worst(*figures: float) -> float:
    """The largest of the figures; inf if one is NaN, which `max` may drop."""
    return np.inf if any(np.isnan(figures)) else max(figures)


def skipped(
    family: str, formulation: str | None, solver: str, control: bool, status: Status, reason: str
) -> Evidence:
    """The evidence of a run that did not take place, with the reason."""
    return Evidence(Run(family, formulation, solver, control, status, reason, skipped=True))


def failed(
    family: str, formulation: str | None, solver: str, control: bool, failure: Exception
) -> Evidence:
    """The evidence of a run that ended in an exception: it has no claim and no point, and says what went wrong."""
    raised = what_was_raised(failure)
    reason = f"stopped by an exception: {raised}"
    return Evidence(
        Run(family, formulation, solver, control, Status.NUMERICAL_FAILURE, reason, raised=raised)
    )


def what_was_raised(failure: Exception) -> str:
    """An exception in a clause, with the file and the line in which it was raised, or from which the library that raised it was called."""
    frames = traceback.extract_tb(failure.__traceback__)
    outside = [frame for frame in frames if not LIBRARIES & set(Path(frame.filename).parts)]
    last = (outside or frames)[-1]
    words = " ".join(f"{type(failure).__name__}: {failure}".split())
    return f"{words[:200]} ({Path(last.filename).name}, line {last.lineno})"
