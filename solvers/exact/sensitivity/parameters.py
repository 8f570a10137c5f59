"""Parameters of a problem: its cost C, a weight, a target or an entry of the features."""

from __future__ import annotations

from dataclasses import dataclass

from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.rows.listed import Tube


@dataclass(frozen=True)
class Cost:
    """Common factor C of all costs."""


@dataclass(frozen=True)
class Weight:
    """Factor of C.

    Parameters
    ----------
    index : int
        Index in the problem's weights: of a row; of a tube, first the m rows above it,
        then the m below; for labelled pairs, of a query.
    """

    index: int


@dataclass(frozen=True)
class Target:
    """Target of a point or row.

    Parameters
    ----------
    index : int
        Index in y for a regression; otherwise in t, whose entries are 1.
    """

    index: int


@dataclass(frozen=True)
class Feature:
    """Entry of X.

    Parameters
    ----------
    point : int
        Row of X.
    column : int
        Column of X.
    """

    point: int
    column: int


Parameter = Cost | Weight | Target | Feature
"""Parameter of an optimum."""


def check_parameter(problem: MarginProblem, parameter: Parameter) -> None:
    """Raise ValueError if the problem does not have a parameter.

    Parameters
    ----------
    problem : MarginProblem
        Problem.
    parameter : Parameter
        Parameter to check.

    Raises
    ------
    ValueError
        If an index is out of range, or a feature of a precomputed Gram matrix is given.
    """
    if isinstance(parameter, Weight):
        _within(parameter.index, problem.rows.groups, "the weight's index")
    elif isinstance(parameter, Target):
        _within(
            parameter.index,
            problem.m if isinstance(problem.rows, Tube) else problem.p,
            "the target's index",
        )
    elif isinstance(parameter, Feature):
        if problem.kernel.given:
            raise ValueError("a precomputed Gram matrix has no features to differentiate")
        _within(parameter.point, problem.m, "the point")
        _within(parameter.column, problem.X.shape[1], "the column")


def _within(index: int, size: int, name: str) -> None:
    if not 0 <= index < size:
        raise ValueError(f"{name} must be a whole number from 0 to {size - 1}, not {index}")
