"""Derivatives of exact optima against differences, and functions near the optimum.

    python -m campaigns exact.nightly_stability --seed 1 --examples 1000

The differences are those of exact optima (`differences`); random functions near the
optimum must have the proven properties (`near_optimal`). The instances are degenerate:
integer grids with repeated points, ties and contradictions, so that many of them are at
a nondifferentiable point. Exit status 1 if anything does not hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from campaigns.exact.differences import wrong_derivatives
from campaigns.exact.near_optimal import SIZES, wrong_bounds
from campaigns.exact.nightly import FAMILIES, drawn
from campaigns.runner import Campaign, Check, Trial
from equimargin.formulations import MarginProblem
from equimargin.formulations.rows.listed import Tube
from equimargin.solvers import exact_optimum
from equimargin.solvers.exact.sensitivity import (
    Cost,
    ExactSensitivity,
    Feature,
    Parameter,
    Target,
    Weight,
    exact_sensitivity,
)

LARGEST = 10
"""Size of the largest instance, in points: each difference needs a new optimum."""


def instance(family: str, number: Sequence[int]) -> MarginProblem | None:
    """Return the instance with this number of the campaign `exact.nightly`.

    Return None if it has hard rows or is too large.
    """
    problem = drawn(family, number)
    soft = (
        isinstance(problem, MarginProblem)
        and problem.m <= LARGEST
        and not np.isinf(problem.costs).any()
    )
    return problem if isinstance(problem, MarginProblem) and soft else None


def parameter(problem: MarginProblem, rng: np.random.Generator) -> Parameter:
    """Draw a parameter of the problem."""
    targets = problem.m if isinstance(problem.rows, Tube) else problem.p
    kinds: list[Parameter] = [Cost(), Weight(int(rng.integers(problem.rows.groups)))]
    kinds += [Target(int(rng.integers(targets)))] if targets else []
    if not problem.kernel.given:
        kinds += [
            Feature(int(rng.integers(problem.m)), int(rng.integers(problem.X.shape[1])))
            for _ in range(2)
        ]
    return kinds[int(rng.integers(len(kinds)))]


def derived(problem: MarginProblem, number: Sequence[int]) -> tuple[ExactSensitivity, list[str]]:
    """Return derivatives in a random parameter, and how differences contradict them."""
    rng = np.random.default_rng([*number, 1])
    new = (
        None
        if problem.kernel.given
        else rng.integers(-2, 3, (2, problem.X.shape[1])).astype(np.float64)
    )
    found = exact_sensitivity(problem, parameter(problem, rng), new, exact_optimum(problem))
    return found, list(wrong_derivatives(found, new))


def judged(problem: MarginProblem | None, number: Sequence[int]) -> Trial:
    """Return the complaints about derivatives and about properties of an instance."""
    if problem is None:
        return Trial(counts=Counter(["left out"]))
    found, said = derived(problem, number)
    kind = "regular" if found.regular else "kinks" if found.kink else "degenerate without a kink"
    return Trial(
        [*said, *wrong_bounds(problem, number)],
        Counter({kind: 1, "functions near their optima": len(SIZES)}),
    )


def checks(_: int) -> Iterator[Check]:
    """Yield the check of each family whose derivatives are known."""
    for place, family in enumerate(FAMILIES):
        if not family.endswith(("hard", "onenorm", "rvm")):
            yield Check(
                family,
                judged,
                lambda at, family=family, place=place: instance(  # type: ignore[misc]
                    family, at._replace(place=place)
                ),
            )


CAMPAIGN = Campaign(__name__, __doc__, checks, 160, shared=True)
