"""Tests of user-defined formulations, solvers and kernels: strategies and checks.

The hypothesis strategies construct valid data without filtering. They produce difficult
cases on purpose: repeated rows, contradicting labels, ties, a single class, queries of
one level and of one row, zero rows and columns, fewer points than dimensions, Gram
matrices of rank one, integer grids, rows without cost or of infinite cost, and scales
and costs over twelve orders of magnitude.

>>> from hypothesis import given
>>> from equimargin.testing import margin_problems
>>> @given(margin_problems("rank.l1"))
... def test_my_solver(problem): ...

The checks also run from the command line, on the id of a formulation, the name of a
solver or a kernel, or a `Solver`, a `Kernel` or a class of one. The module registers
the formulation, the solver or the kernel, or has the object or the class:

    python -m equimargin.testing my_module:my.formulation.id
    python -m equimargin.testing my_module:my_solver
    python -m equimargin.testing my_module:my_kernel
"""

from __future__ import annotations

try:
    import hypothesis  # noqa: F401
except ImportError as missing:
    raise ImportError(
        "equimargin.testing needs hypothesis: pip install 'equimargin[testing]'"
    ) from missing

from equimargin.own.instances import drawn_examples
from equimargin.testing.data import (
    Classes,
    OrdinalData,
    Relevances,
    Targets,
    classification_data,
    features,
    kernels,
    ordinal_data,
    programs,
    ranking_data,
    regression_data,
    scales,
    weights,
)
from equimargin.testing.families import CANONICAL, HARD, ONE_NORM, get_task
from equimargin.testing.formulation_check import check_formulation
from equimargin.testing.kernel_check import check_kernel
from equimargin.testing.long_paths import classification_with_a_long_path, ranking_with_a_long_path
from equimargin.testing.problems import (
    FLOAT64_BORDERS,
    draw_problem,
    extreme_problems,
    extreme_scales,
    margin_problems,
    sample_problem,
)
from equimargin.testing.solver_check import check_solver

__all__ = [
    "CANONICAL",
    "FLOAT64_BORDERS",
    "HARD",
    "ONE_NORM",
    "Classes",
    "OrdinalData",
    "Relevances",
    "Targets",
    "check_formulation",
    "check_kernel",
    "check_solver",
    "classification_data",
    "classification_with_a_long_path",
    "draw_problem",
    "drawn_examples",
    "extreme_problems",
    "extreme_scales",
    "features",
    "get_task",
    "kernels",
    "margin_problems",
    "ordinal_data",
    "programs",
    "ranking_data",
    "ranking_with_a_long_path",
    "regression_data",
    "sample_problem",
    "scales",
    "weights",
]
