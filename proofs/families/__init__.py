"""Families that somebody brings: functions that return cvxpy problems, judged by what is proven of the optimum of each."""

from equimargin.proofs.families.family import OwnFamily, brought, family
from equimargin.proofs.families.optimum import ProvenOptimum
from equimargin.proofs.families.problem import OwnProblem
from equimargin.proofs.families.solution import OwnSolution

__all__ = ["OwnFamily", "OwnProblem", "OwnSolution", "ProvenOptimum", "brought", "family"]
