"""Instances for comparing two problems, in exactly computable numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from equimargin.formulations import (
    REGISTRY,
    Kernel,
    MarginProblem,
    OneNormProblem,
    Problem,
    linear,
    polynomial,
)
from equimargin.formulations.declarations.family import FAMILIES, program_families
from equimargin.formulations.numeric.arguments import check_choice, did_you_mean
from equimargin.formulations.numeric.arrays import dense
from equimargin.formulations.rows.listed import Tube
from equimargin.own.instances import drawn_examples
from equimargin.proofs.equivalence import Statement, name_statement, takes_data
from equimargin.testing import margin_problems, sample_problem

MAX_POINTS = 3
"""Maximum number of points of an instance; its exact optimum takes milliseconds."""
TRIED = 10
"""Sample size, in instances, for finding the kernels that a formulation rejects.

The largest instance is used: one without pairs is rejected with any kernel.
"""
QUARTERS = 4
"""Denominator to which targets are rounded."""


def choose_instances(a: Statement, b: Statement | None) -> Any:
    """Return the strategy of instances that two registered problems accept.

    Parameters
    ----------
    a, b : str, callable or None
        Problems, as in `same`.

    Returns
    -------
    SearchStrategy
        Strategy of problems of a family; of None for functions without parameters.

    Raises
    ------
    ValueError
        If neither is a formulation and one takes data, or they are of two families that
        accept different data.
    """
    ids = [statement for statement in (a, b) if isinstance(statement, str)]
    families = dict.fromkeys(map(_family, ids))
    if not families:
        asking = [each for each in (a, b) if each is not None and takes_data(each)]
        if not asking:
            # Imported here: without hypothesis, the modules above say what to install.
            from hypothesis.strategies import none

            return none()
        raise ValueError(
            f"say which data {name_statement(asking[0])} takes: a hypothesis strategy, --data "
            f"MODULE:STRATEGY on the command line; a function without parameters needs none"
        )
    # Two families are comparable if the data of one make problems of the other.
    family, *others = families
    if others and not _has_data_of(others[0], family):
        if not _has_data_of(family, others[0]):
            raise ValueError(
                f"{ids[0]} is of the family {family} and {ids[1]} of {others[0]}: say which data "
                f"both take"
            )
        family = others[0]
    is_canonical = family not in program_families()
    kernel = polynomial() if is_canonical and any(map(_refuses_linear, ids)) else None
    return small_problems(family, kernel)


def small_problems(family: str, kernel: Kernel | None = None) -> Any:
    """Return a strategy of small problems of a family with exact numbers.

    Features are integers, and costs and weights have exact square roots.

    Parameters
    ----------
    family : str
        Family of the registry; a user-defined one has its own strategy.
    kernel : Kernel or None
        Kernel of the problems, linear by default.

    Raises
    ------
    ValueError
        If the family has no strategy.
    """
    if family in program_families():
        from equimargin.own.instances import get_strategy

        return get_strategy(program_families()[family])
    return margin_problems(family, MAX_POINTS, tails=False).map(
        partial(_plain, kernel=linear() if kernel is None else kernel)
    )


def restricted(data: Any, without: str | None = None, distinct: bool = False) -> Any:
    """Return a strategy of instances without weights, or with distinct points.

    Parameters
    ----------
    data : SearchStrategy
        Strategy of canonical problems, or, with `distinct` alone, of data with features
        X.
    without : {"weights"}, optional
        Part of a problem that is removed. The problems of most documents have no
        weights.
    distinct : bool, default False
        True to skip instances with equal points.

    Raises
    ------
    ValueError
        If `without` names another part. Drawing raises it for an instance that cannot
        have this part.
    """
    if without is not None:
        check_choice(without, "without", ("weights",))
        data = data.map(_unweighted)
    return data.filter(_has_distinct_points) if distinct else data


def _unweighted(instance: Any) -> Any:
    if not isinstance(instance, MarginProblem | OneNormProblem):
        raise ValueError(
            f"without='weights' needs canonical problems, not data of type "
            f"{type(instance).__name__}; draw such data without weights"
        )
    return replace(instance, weights=None)


def _has_distinct_points(instance: Any) -> bool:
    """Return True if no two rows of the features are equal."""
    X = instance.get("X") if isinstance(instance, Mapping) else getattr(instance, "X", None)
    if X is None:
        raise ValueError(
            f"distinct needs instances with points X, and data of type "
            f"{type(instance).__name__} have none"
        )
    points = dense(X)
    return len(np.unique(points, axis=0)) == len(points)


def drawn(data: Any, examples: int, seed: int) -> list[Any]:
    """Return distinct instances of a strategy, those with the most numbers first.

    Parameters
    ----------
    data : SearchStrategy
        Hypothesis strategy.
    examples : int
        Number of draws.
    seed : int
        Seed of the draws.

    Raises
    ------
    ValueError
        If the strategy draws nothing, or fails.
    """
    distinct: dict[bytes | int, Any] = {}
    try:
        for instance in drawn_examples(data, examples, seed):
            distinct.setdefault(key(instance), instance)
    # A user-defined strategy may raise any exception.
    except Exception as failure:
        raise ValueError(
            f"the strategy draws no data: {type(failure).__name__}: {failure}"
        ) from failure
    return sorted(distinct.values(), key=lambda instance: -size(instance))


def key(instance: Any) -> bytes | int:
    """Return an identifier of an instance: its pickle, or its id if it has none.

    Parameters
    ----------
    instance : object
        Instance.

    Returns
    -------
    bytes or int
        Identifier.
    """
    import pickle

    try:
        return pickle.dumps(instance)
    except (pickle.PicklingError, TypeError, AttributeError):
        return id(instance)


def size(instance: Any) -> int:
    """Return the number of numbers in an instance, nonzero ones counted twice.

    Parameters
    ----------
    instance : object
        Instance.
    """
    if isinstance(instance, np.ndarray):
        return int(instance.size + np.count_nonzero(instance))
    if isinstance(instance, dict):
        return size(list(instance.values()))
    return sum(map(size, _parts(instance))) or 1


def _parts(instance: Any) -> Iterator[Any]:
    """Yield the parts of an instance."""
    if isinstance(instance, list | tuple):
        yield from instance
    elif hasattr(instance, "__dataclass_fields__"):
        yield from (
            getattr(instance, name)
            for name, kind in instance.__dataclass_fields__.items()
            if kind.init
        )


def _family(id: str) -> str:
    if id not in REGISTRY:
        raise ValueError(f"unknown formulation {id!r}{did_you_mean(id, list(REGISTRY))}")
    return REGISTRY[id].family


def _has_data_of(other: str, family: str) -> bool:
    """Return True if a family's data make problems of another family of its kind.

    Data of a family without canonical points do so if the other family's definition
    states a problem of them.
    """
    if FAMILIES[other].is_canonical != FAMILIES[family].is_canonical:
        return False
    if FAMILIES[other].is_canonical:
        try:
            FAMILIES[other].with_problem_data(sample_problem(family))
        except ValueError:
            return False
        return True
    try:
        sample = drawn(small_problems(family), TRIED, 0)[0]
        posed = program_families()[other](sample)
        return posed.definition.refusal(posed) is None and bool(posed.program(posed.definition.id))
    # A user-defined function may fail in any way with another family's data.
    except Exception:
        return False


def _refuses_linear(id: str) -> bool:
    """Return True if a formulation rejects the linear kernel but not the polynomial one.

    A formulation on a kernel of differences is one example.
    """
    entry = REGISTRY[id]
    instance = drawn(small_problems(entry.family), TRIED, 0)[0]
    return (
        entry.refusal(instance) is not None
        and entry.refusal(replace(instance, kernel=polynomial())) is None
    )


def _plain(problem: Problem, kernel: Kernel) -> Problem:
    """Return the problem in round numbers, with which declarations compute exactly.

    A power of four has an exact root, and differences of integers are exact.
    """
    C = problem.C if np.isinf(problem.C) else float(4.0 ** np.round(np.log(problem.C) / np.log(4)))
    made = replace(problem, X=np.round(np.asarray(problem.X)) + 0.0, kernel=kernel, C=C)
    if not isinstance(made, MarginProblem):
        return made
    if isinstance(made.rows, Tube):
        y, epsilon = np.round(made.rows.y * QUARTERS) + 0.0, np.ceil(made.rows.epsilon * QUARTERS)
        made = replace(made, rows=Tube(y / QUARTERS, float(epsilon) / QUARTERS))
    if made.weights is None:
        return made
    weights = np.select(
        [made.weights == 0, made.weights < 1, made.weights > 1], [0.0, 0.25, 4.0], 1.0
    )
    return replace(made, weights=weights)
