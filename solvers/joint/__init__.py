"""Multiclass machine of Crammer and Singer: one problem for all classes."""

from equimargin.solvers.joint.descent import minimise_jointly
from equimargin.solvers.joint.problem import JointProblem
from equimargin.solvers.joint.solution import JointSolution

__all__ = ["JointProblem", "JointSolution", "minimise_jointly"]
