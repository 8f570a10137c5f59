"""Two canonical shapes of all published problems, and the public constructors."""

from equimargin.formulations.problem.base import AnyProblem, CanonicalProblem
from equimargin.formulations.problem.construct import (
    classification,
    one_norm_classification,
    one_norm_ranking,
    one_norm_ranking_from_pairs,
    ranking,
    ranking_from_pairs,
    ranking_vector_machine,
    regression,
)
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.one_norm import OneNormProblem, Problem
from equimargin.formulations.problem.point import CanonicalPoint, OneNormPoint, Point

__all__ = [
    "AnyProblem",
    "CanonicalPoint",
    "CanonicalProblem",
    "MarginProblem",
    "OneNormPoint",
    "OneNormProblem",
    "Point",
    "Problem",
    "classification",
    "one_norm_classification",
    "one_norm_ranking",
    "one_norm_ranking_from_pairs",
    "ranking",
    "ranking_from_pairs",
    "ranking_vector_machine",
    "regression",
]
