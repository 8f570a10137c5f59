"""Two canonical shapes of all published problems, and their points and constructors."""

from equimargin.formulations.problem.base import AnyProblem
from equimargin.formulations.problem.one_norm import Problem
from equimargin.formulations.problem.point import CanonicalPoint, OneNormPoint, Point

__all__ = ["AnyProblem", "CanonicalPoint", "OneNormPoint", "Point", "Problem"]
