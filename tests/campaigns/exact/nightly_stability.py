"""Derivatives of exact optima against differences of exact optima, and functions near the optimum against what is said of them all.

    python -m campaigns.exact.nightly_stability --seed 1 --examples 1000

The instances are degenerate: grids of integers with repeated points, ties and contradictions, so that many of them stand on a kink. Exit
status 1 if anything does not hold.
"""

from __future__ import annotations

import os

for _library in ("OPENBLAS", "OMP", "MKL", "VECLIB_MAXIMUM"):  # read once, when numpy is imported: so this comes first
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from campaigns.exact.differences import wrong_derivatives
from campaigns.exact.near_optimal import SIZES, wrong_bounds
from campaigns.exact.nightly import FAMILIES, drawn
from equimargin.formulations import MarginProblem
from equimargin.formulations.rows.listed import Tube
from equimargin.solvers.exact import exact_optimum
from equimargin.solvers.exact.sensitivity import Cost, ExactSensitivity, Feature, Parameter, Target, Weight, exact_sensitivity

LARGEST = 10
"""Points of the largest instance: every difference is an optimum that is found from nothing."""


def instance(family: str, number: Sequence[int]) -> MarginProblem | None:
    """The instance of the campaign of exact optima of that number, if it has no hard rows and is not too large."""
    problem = drawn(family, number)
    soft = isinstance(problem, MarginProblem) and problem.m <= LARGEST and not np.isinf(problem.costs).any()
    return problem if isinstance(problem, MarginProblem) and soft else None


def parameter(problem: MarginProblem, rng: np.random.Generator) -> Parameter:
    """A number of the problem, drawn."""
    targets = problem.m if isinstance(problem.rows, Tube) else problem.p
    kinds: list[Parameter] = [Cost(), Weight(int(rng.integers(problem.rows.groups)))]
    kinds += [Target(int(rng.integers(targets)))] if targets else []
    if not problem.kernel.given:
        kinds += [Feature(int(rng.integers(problem.m)), int(rng.integers(problem.X.shape[1]))) for _ in range(2)]
    return kinds[int(rng.integers(len(kinds)))]


def derived(problem: MarginProblem, number: Sequence[int]) -> tuple[ExactSensitivity, list[str]]:
    """The derivatives in a number that is drawn, and what differences say against them."""
    rng = np.random.default_rng([*number, 1])
    new = None if problem.kernel.given else rng.integers(-2, 3, (2, problem.X.shape[1])).astype(np.float64)
    found = exact_sensitivity(problem, parameter(problem, rng), new, exact_optimum(problem))
    return found, list(wrong_derivatives(found, new))


def main(arguments: Sequence[str] | None = None, say: Callable[[str], None] = lambda line: print(line, flush=True)) -> int:
    """Draw, differentiate, judge, report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--examples", type=int, default=160, help="instances, over all families")
    options = parser.parse_args(arguments)
    families = [family for family in FAMILIES if not family.endswith(("hard", "onenorm", "rvm"))]
    started, failures, judged = time.perf_counter(), 0, 0
    for k, family in enumerate(families):
        tally: Counter[str] = Counter()
        for i in range(options.examples // len(families) + (k < options.examples % len(families))):
            number = [options.seed, FAMILIES.index(family), i]
            problem = instance(family, number)
            if problem is None:
                tally["left out"] += 1
                continue
            try:
                found, said = derived(problem, number)
                tally["regular" if found.regular else "kinks" if found.kink else "degenerate without a kink"] += 1
                said += wrong_bounds(problem, number)
            except Exception as error:  # one instance must not end the run
                said = [f"{type(error).__name__}: {error}"]
            judged, failures = judged + 1, failures + bool(said)
            for complaint in said:
                say(f"  ! {family} {number}: {complaint}")
        say(f"{family:<18} " + ", ".join(f"{count} {what}" for what, count in sorted(tally.items())))
    near, seconds = judged * len(SIZES), time.perf_counter() - started
    say(f"{judged} instances, {near} functions near their optima, {failures} failures, {seconds:.0f} s, seed {options.seed}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
