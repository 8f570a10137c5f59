"""Optima of formulations of a canonical problem, proven in rational arithmetic."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from equimargin.formulations import REGISTRY, MarginProblem
from equimargin.formulations.declarations.formulation import formulation_data
from equimargin.proofs.program.proven_optimum import ProvenOptimum, proven_optimum
from narrow import present


def proven(problem: MarginProblem, name: str = "primal") -> ProvenOptimum:
    """Return the proven optimum of a formulation, as a value of the family's objective.

    `name` is the name of the formulation within the problem's family.
    """
    entry = REGISTRY[f"{problem.family}.{name}"]
    data = formulation_data(problem)
    return proven_optimum(entry.program(data), lambda value: entry.value(value, data))


def exact(problem: MarginProblem, name: str = "primal") -> Fraction:
    """Return the optimum of a formulation as a fraction."""
    return present(proven(problem, name).exact)


def values(problem: MarginProblem, name: str = "primal") -> dict[str, Any]:
    """Return the variables of a formulation at an exact optimum, rounded to floats."""
    program = REGISTRY[f"{problem.family}.{name}"].program(formulation_data(problem))
    x = np.array(list(map(float, present(proven(problem, name).x))))
    return {name: x[columns] for name, columns in program.columns.items()}
