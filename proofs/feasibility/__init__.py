"""Proofs in rational numbers that a program is infeasible, or unbounded."""

from equimargin.proofs.feasibility.constraints import LinearConstraints
from equimargin.proofs.feasibility.irreducible import (
    Contradiction,
    find_contradiction,
    make_irreducible,
    measure_excess,
    weights_on,
)
from equimargin.proofs.feasibility.relaxed import least_violation
from equimargin.proofs.feasibility.unbounded import find_ray

__all__ = [
    "Contradiction",
    "LinearConstraints",
    "find_contradiction",
    "find_ray",
    "least_violation",
    "make_irreducible",
    "measure_excess",
    "weights_on",
]
