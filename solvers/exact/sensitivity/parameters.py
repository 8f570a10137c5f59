"""Which number of a problem moves: its cost C, a weight, a target or an entry of the features."""

from __future__ import annotations

from dataclasses import dataclass

from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.rows.listed import Tube


@dataclass(frozen=True)
class Cost:
    """C, the common factor of all costs."""


@dataclass(frozen=True)
class Weight:
    """One factor of C.

    Parameters
    ----------
    index : int
        In the problem's weights: of a row; of a tube, first the m rows above it, then
        the m below; where pairs come from labels, of a query.
    """

    index: int


@dataclass(frozen=True)
class Target:
    """One target.  index : of the point whose y it is, for a regression; otherwise of the row whose t it is, which is 1."""

    index: int


@dataclass(frozen=True)
class Feature:
    """One entry of X.  point, column : where it stands."""

    point: int
    column: int


Parameter = Cost | Weight | Target | Feature
"""A number that an optimum depends on."""


def check_parameter(problem: MarginProblem, parameter: Parameter) -> None:
    """Refuse a parameter that the problem does not have.

    Raises
    ------
    ValueError
        An index beyond the problem, an entry of the features of a given Gram matrix.
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
            raise ValueError("a given Gram matrix has no features that could move")
        _within(parameter.point, problem.m, "the point")
        _within(parameter.column, problem.X.shape[1], "the column")


def _within(index: int, size: int, name: str) -> None:
    if not 0 <= index < size:
        raise ValueError(f"{name} must be a whole number from 0 to {size - 1}, not {index}")
