"""Evidence of one answer, before the comparison with other answers.

It has the run that gave the answer, the answer's claim, the bounds of its point, and
its accuracy. All figures are absolute, in units of the family's objective, unless their
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
"""Names of folders of libraries.

Their own lines do not help a user whose function has called them in a wrong way.
"""
Side = Literal["f", "alpha"]
"""Side of a point: the function with its bias, or the multipliers."""


@dataclass(frozen=True)
class Run:
    """Source of an answer, its declaration, and the reported end of the run.

    The reported status is no evidence of optimality.
    """

    family: str
    """Id of the family of the requested optimum."""
    formulation: str | None
    """Id of the declaration; None for a specialised solver."""
    solver: str
    """Name of the backend or of the solver."""
    control: bool
    """True if the declaration is wrong on purpose.

    Its answer then counts neither as a proof nor as a disagreement of the family.
    """
    status: Status
    """Status of the run as reported by the solver."""
    reason: str
    """Reported reason of the status, as a sentence."""
    skipped: bool = False
    """True if it was not run at all."""
    raised: str = ""
    """Exception raised in place of an answer, and its source line; empty if none was."""
    compile_seconds: float | None = None
    """Wall seconds of declaring and compiling; None if nothing is compiled."""
    solve_seconds: float | None = None
    """Wall seconds of solving; None if nothing was solved."""
    iterations: int | None = None
    """Iterations as the solver counts them; None if it does not."""
    library: str = ""
    """Name of the solving code, such as the name of a backend.

    It is empty if that is the code of the solver itself.
    """

    @property
    def claims_the_end(self) -> bool:
        """True if a specialised solver reports an optimal or finished run.

        Its point is then its optimum.
        """
        return self.formulation is None and self.status in (Status.OPTIMAL, Status.FINISHED)

    @property
    def witness(self) -> str:
        """Name of the code that computed the answer; answers of one code are one witness."""
        return self.library or self.solver

    @property
    def name(self) -> str:
        """Name of the run in sentences."""
        return f"{self.formulation or 'solver'} by {self.solver}"


@dataclass(frozen=True)
class Claim:
    """Optimum that an answer claims, and the numerical accuracy of the claim."""

    value: float
    """Declared objective on the family's scale; inf or -inf by a verified ray."""
    mismatch: float = 0.0
    """Largest difference of the declaration from the published formula.

    It is the largest of |declared - published| objective, and of the violations of the
    declared and of the published constraints, each times its multiplier.
    """
    cancellation: float = 0.0
    """Rounding error of the quadratic term of its value: published, declared or computed."""
    reach: float | None = None
    """Change of the objective along the ray before it ends; None for a point's claim."""
    infeasible: bool = False
    """True if the answer proves that no point is feasible."""

    @property
    def of_ray(self) -> bool:
        """True if the claim is that of a verified ray."""
        return self.reach is not None


@dataclass(frozen=True)
class PointProof:
    """Bounds of the optimum that the point of an answer proves, for any claim."""

    supplied: CanonicalPoint = field(repr=False, compare=False)
    """Canonical point, in the terms of the family's problem."""
    proven: Interval
    """Interval of the repaired point, with every rounding counted outward."""
    inner: Interval
    """Interval of the repaired point, with every rounding counted inward.

    Exact arithmetic would prove no narrower one.
    """
    lp_multiplier_side: Side | None = None
    """Side that a linear program's multipliers supply; None for any other program.

    The point test does not apply to it.
    """
    derived_lower: float = -np.inf
    """Lower bound proven from multipliers that equimargin derived from its f.

    -inf if the answer has its own multipliers, or none could be derived.
    """
    own: Interval | None = None
    """Proven interval of the answer's own optimum or value, on the family's scale.

    It is that of the optimum of the answer's own declaration, or of the value of a
    solver's own point. It takes the place of `proven` if a family has no canonical
    point to which all answers are mapped. `proven` is then the interval of the family's
    definition, and nothing is supplied.
    """
    stated_rounding: float = 0.0
    """Distance by which roundings may move values apart.

    The roundings are those of the numbers of an own declaration, of the definition and of a
    solver's point.
    """
    difference: float = 0.0
    """Difference of the exact optimum of an own declaration from the definition's.

    It is 0 if they are equal, or not known exactly.
    """

    @property
    def has_f(self) -> bool:
        """True if the answer supplied a function."""
        return self.supplied.has_function

    @property
    def has_alpha(self) -> bool:
        """True if the answer supplied multipliers."""
        return self.supplied.has_multipliers

    @property
    def rounding(self) -> float:
        """Larger share of rounding in a supplied side of `proven`."""
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
    """Residuals of the solver in its own problem, recomputed from its raw vectors."""

    residual: float | None = np.inf
    """Approximate error of its objective, auxiliary variables eliminated too.

    inf if it returned no vectors. None for a function without multipliers, which has no
    residual of its own: the distance of its point from the family's interval then
    counts.
    """
    normwise: float = np.inf
    """Largest of its relative residuals, without a unit, auxiliary variables eliminated too.

    inf if it returned no vectors.
    """
    arithmetic: float = 0.0
    """Approximate rounding error of margins in any float64 solver, relative to row targets."""
    blur: float = 0.0
    """Error of unit margins of hard rows in the declaration, over the optimum.

    0 if no row is hard.
    """


@dataclass(frozen=True)
class Evidence:
    """Evidence of one answer: its run, claim, point and accuracy."""

    run: Run
    """Source of the answer, and its reported end."""
    claim: Claim | None = None
    """Claimed optimum; None without values and without a verified ray."""
    point: PointProof | None = None
    """Proof by its point; None without a point."""
    accuracy: SolveAccuracy | None = None
    """Residuals in its own problem; None without values and without a verified ray."""
    ray: FarkasRay | None = None
    """Integers with which a specialised solver proves its hard rows infeasible, unchanged."""

    @property
    def value(self) -> float:
        """Claimed optimum on the family's scale; NaN without a claim."""
        return float("nan") if self.claim is None else self.claim.value


def worst(*figures: float) -> float:
    """Return the largest of the figures; inf if one is NaN, which `max` may drop.

    Parameters
    ----------
    *figures : float
        Figures to compare.
    """
    return np.inf if any(np.isnan(figures)) else max(figures)


def skipped(
    family: str, formulation: str | None, solver: str, control: bool, status: Status, reason: str
) -> Evidence:
    """Return the evidence of a run that did not take place, with the reason.

    Parameters
    ----------
    family : str
        Id of the family.
    formulation : str or None
        Id of the declaration; None for a specialised solver.
    solver : str
        Name of the backend or of the solver.
    control : bool
        True if the declaration is wrong on purpose.
    status : Status
        Status of the run.
    reason : str
        Reason of the status, as a sentence.
    """
    return Evidence(Run(family, formulation, solver, control, status, reason, skipped=True))


def failed(
    family: str, formulation: str | None, solver: str, control: bool, failure: Exception
) -> Evidence:
    """Return the evidence of a run that ended in an exception.

    It has no claim and no point, and names the exception.

    Parameters
    ----------
    family : str
        Id of the family.
    formulation : str or None
        Id of the declaration; None for a specialised solver.
    solver : str
        Name of the backend or of the solver.
    control : bool
        True if the declaration is wrong on purpose.
    failure : Exception
        Exception of the run.
    """
    raised = what_was_raised(failure)
    reason = f"stopped by an exception: {raised}"
    return Evidence(
        Run(family, formulation, solver, control, Status.NUMERICAL_FAILURE, reason, raised=raised)
    )


def what_was_raised(failure: Exception) -> str:
    """Return an exception as text, with its file and line.

    The line is the one that raised it, or that called the library that raised it.

    Parameters
    ----------
    failure : Exception
        Exception of the run.
    """
    frames = traceback.extract_tb(failure.__traceback__)
    outside = [frame for frame in frames if not LIBRARIES & set(Path(frame.filename).parts)]
    last = (outside or frames)[-1]
    words = " ".join(f"{type(failure).__name__}: {failure}".split())
    return f"{words[:200]} ({Path(last.filename).name}, line {last.lineno})"
