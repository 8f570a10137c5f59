"""Problems of every family: drawn, extreme, and random ones with an optimum."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from equimargin.formulations import Kernel, OneNormProblem, Problem
from equimargin.formulations.declarations.family import FAMILIES
from equimargin.formulations.kernels.exponential import Exponential
from equimargin.formulations.kernels.kernel import RBF, Polynomial
from equimargin.formulations.numeric.rounding import SMALLEST
from equimargin.formulations.rows.listed import Tube
from equimargin.own.instances import drawn_examples
from equimargin.testing.data import DATA_OF, Draw, kernels, scales, weights
from equimargin.testing.families import HARD, ONE_NORM, get_task

SMALL, LARGE = (1, 19), (20, 32)
"""Smallest and largest number of points of the two sorts of instances that a seed draws."""
LARGE_IN = 2, 5
"""Numerator and denominator of the share of large instances."""


@st.composite
def margin_problems(
    draw: Draw, family: str, max_points: int = 10, tails: bool = True, min_points: int = 1
) -> Problem:
    """Draw a problem of a family; rows or queries of a soft margin may have weights.

    Parameters
    ----------
    family : str
        One of CANONICAL.
    max_points, min_points : int
        Maximum and minimum number m of points.
    tails : bool
        True for scales, costs and weights from 1e-6 to 1e6 and infinite ones, False for
        factors close to 1.

    Raises
    ------
    ValueError
        If the family is unknown.
    """
    task, settings = get_task(family), FAMILIES[family].settings
    kernel = draw(kernels())
    C = {} if family in HARD else {"C": draw(scales(tails))}
    data = draw(DATA_OF[task](max_points, tails, min_points))._asdict() | C | {"kernel": kernel}
    if "delta" in settings:
        data["delta"] = draw(st.sampled_from([0.5, 0.1, 3.0]))
    if family not in HARD:
        may_be_hard = tails and "delta" not in settings and family not in ONE_NORM
        if task == "ranking":
            names = [0] if data["qid"] is None else np.unique(data["qid"]).tolist()
            factors = draw(weights(len(names), may_be_hard))
            data["query_weight"] = (
                None if factors is None else dict(zip(names, factors.tolist(), strict=True))
            )
        else:
            data["sample_weight"] = draw(weights(len(data["y"]), may_be_hard))
    problem: Problem = FAMILIES[family](data)
    return problem


def draw_problem(family: str, seed: int, number: int) -> Problem:
    """Return the instance of a family for a seed and a number, as in `make nightly`.

    The instance depends on the arguments alone.

    Parameters
    ----------
    family : str
        One of CANONICAL.
    seed, number : int
        Two in five numbers have instances of 20 to 32 points, the others of 1 to 19.
    """
    least, most = LARGE if number % LARGE_IN[1] < LARGE_IN[0] else SMALL
    # The first example is the simplest one.
    problem: Problem = drawn_examples(
        margin_problems(family, most, min_points=least), 2, f"{seed} {family} {number}"
    )[-1]
    return problem


FLOAT64_BORDERS = (5e-324, 2.3e-308, 1e-165, 1e-154, 1e-85, 1e85, 1.4e154, 1e200)
"""Factors at which numbers, squares or cubes start to underflow or overflow."""


def extreme_scales() -> st.SearchStrategy[float]:
    """Return a strategy of positive factors, close to 1 or extreme.

    They are close to 1, anywhere from 1e-320 to 1e300, or in FLOAT64_BORDERS.
    """
    return st.one_of(
        scales(False),
        st.floats(-320, 300).map(lambda e: float(10**e)),
        st.sampled_from(FLOAT64_BORDERS),
    )


@st.composite
def extreme_problems(draw: Draw, family: str, max_points: int = 4) -> Problem:
    """Draw a tiny problem whose numbers have separate scales anywhere in float64.

    Points, targets, costs, weights and kernel parameters have one scale each. Some
    weights may be infinite. Kernel values, squares and the optimum may underflow or
    overflow: a proven interval must be valid nevertheless.

    Parameters
    ----------
    family : str
        One of CANONICAL.
    max_points : int
        Maximum number m of points.

    Raises
    ------
    ValueError
        If the family is unknown.
    """
    problem = draw(margin_problems(family, max_points, tails=False))
    extreme, largest = extreme_scales(), float(np.finfo(np.float64).max)

    def scaled(values: Any) -> Any:
        with np.errstate(over="ignore"):
            return np.clip(values * draw(extreme), -largest, largest)

    kernel = problem.kernel
    if isinstance(kernel, RBF | Exponential | Polynomial):
        kernel = replace(kernel, gamma=max(float(scaled(kernel.gamma)), SMALLEST))
    if isinstance(kernel, Polynomial):
        kernel = replace(kernel, coef0=float(scaled(kernel.coef0)))
    C = problem.C if np.isinf(problem.C) else draw(extreme)
    problem = replace(problem, X=scaled(problem.X), kernel=kernel, C=C)
    if isinstance(problem, OneNormProblem):
        return problem
    if isinstance(problem.rows, Tube):
        scale = draw(extreme)
        problem = replace(problem, rows=Tube(problem.rows.y * scale, problem.rows.epsilon * scale))
    if problem.weights is None:
        return problem
    size = len(problem.weights)
    may_be_hard = "delta" not in FAMILIES[family].settings
    hard = (
        draw(st.lists(st.booleans(), min_size=size, max_size=size))
        if may_be_hard and draw(st.booleans())
        else [False] * size
    )
    return replace(problem, weights=np.where(hard, np.inf, scaled(problem.weights)))


def sample_problem(
    family: str, kernel: Kernel | None = None, seed: int = 0, n: int = 16, levels: int = 3
) -> Problem:
    """Return a small random problem of a family that has an optimum.

    Its data are noisy if the family has slacks, and feasible otherwise.

    Parameters
    ----------
    family : str
        One of CANONICAL.
    kernel : Kernel or None
        Kernel, linear by default.
    seed : int
        Seed of the data.
    n : int
        Number of points.
    levels : int
        Number of levels of a ranking or an ordinal regression.

    Raises
    ------
    ValueError
        If the family is unknown.
    """
    task, hard, direction = get_task(family), family in HARD, np.array([1.0, -0.7, 0.4])
    rng = np.random.default_rng([seed, n])
    X = rng.normal(size=(n, 3)) + 0.5
    clean = X @ direction
    score = clean if hard else clean + 0.6 * rng.normal(size=n)
    data = {"kernel": kernel} | ({} if hard else {"C": float(10 ** rng.uniform(-1, 0.5))})
    if task == "regression":
        y = clean + 0.05 * rng.uniform(-1, 1, n) if hard else score
    elif task == "classification":
        through_the_origin = hard and not FAMILIES[family].settings.get("bias", True)
        y = np.where(score > (0.0 if through_the_origin else np.quantile(score, 0.6)), 1.0, -1.0)
        X = X + 0.3 * np.outer(y, direction) if hard else X
    else:
        y = np.digitize(score, np.quantile(score, np.linspace(0.3, 0.7, levels - 1))).astype(
            np.float64
        )
    problem: Problem = FAMILIES[family](data | {"X": X, "y": y})
    return problem
