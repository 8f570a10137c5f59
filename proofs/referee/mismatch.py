"""Difference between an answer's declared and published formula; value of a verified ray.

Both are on the family's scale.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.proofs.referee.evidence import Claim
from equimargin.proofs.referee.rays import Ray
from equimargin.solvers.backends.solve import Answer, BackendValues
from equimargin.solvers.solution import Status


def claim_of_ray(answer: Answer, ray: Ray) -> Claim:
    """Return the infinite optimum that a verified ray proves.

    An unbounded minimisation has -inf, an infeasible one inf; a maximisation the opposite.

    Parameters
    ----------
    answer : Answer
        Answer of the backend.
    ray : Ray
        Verified ray.
    """
    minimised = answer.declaration.objective.NAME == "minimize"
    value = answer.on_family_scale(
        np.inf if minimised == (answer.status is Status.INFEASIBLE) else -np.inf
    )
    return Claim(
        value, reach=_moved(answer.on_family_scale, 0.0, ray.reach), infeasible=value == np.inf
    )


def mismatch(answer: Answer, reading: BackendValues) -> float:
    """Return the largest difference between declared and published formula at an answer.

    It is on the family's scale.

    Parameters
    ----------
    answer : Answer
        Answer of the backend.
    reading : BackendValues
        Values of the answer, as the backend returned them.
    """
    return max(spread(answer, worth) for worth in _worths(answer, reading))


def _worths(answer: Answer, reading: BackendValues) -> tuple[float, float, float]:
    """Return three differences between declared and published formula, in declared units.

    They are |declared - published| objective, and the violations of the declared and of
    the published constraints, times their multipliers.
    """
    printed = answer.declaration.printed(reading.values)
    return (
        abs(float(printed.objective) - reading.objective),
        worth_of_all(reading, reading.violations),
        worth_of_all(reading, printed.violations),
    )


def worth_of_all(reading: BackendValues, violations: Mapping[str, Any]) -> float:
    """Return the sum of violations times multipliers, in units of the objective.

    Parameters
    ----------
    reading : BackendValues
        Values of the answer, as the backend returned them.
    violations : mapping
        Violation of each constraint, by name.
    """
    default = max(1.0, abs(reading.objective))

    def worth(name: str, violation: Array) -> float:
        weight = reading.multipliers.get(name)
        size = np.atleast_1d(np.maximum(violation, 0.0))
        if weight is None:
            return float(size.sum()) * default
        # A name may have more or fewer published constraints than declared ones.
        if np.shape(weight) != np.shape(violation):
            return float(size.sum()) * float(np.abs(weight).sum())
        return float(np.abs(np.atleast_1d(weight)) @ size)

    return sum(worth(name, np.asarray(violation)) for name, violation in violations.items())


def spread(answer: Answer, by: float) -> float:
    """Return a difference of the declared objective, converted to the family's scale.

    Parameters
    ----------
    answer : Answer
        Answer of the backend.
    by : float
        Difference, in units of the declared objective.
    """
    return _moved(answer.on_family_scale, answer.objective, by)


def _moved(mapping: Callable[[float], float], at: float, by: float) -> float:
    """Return the largest change of mapping(at) if `at` changes by `by`, up or down."""
    if not np.isfinite(by):
        return np.inf
    return max(abs(mapping(at + by) - mapping(at)), abs(mapping(at - by) - mapping(at)))
