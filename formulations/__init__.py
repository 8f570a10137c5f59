"""What is minimised: the convex programs of max-margin learning, declared."""

if __name__ != "equimargin.formulations":  # a second copy of every class would exist under the bare name
    raise ImportError("use: from equimargin.formulations import ...")

from equimargin.formulations import links, look_alikes, one_norm, ranksvm, svm, svr  # each enters its declarations into the registry
from equimargin.formulations.bounds.complete import complete
from equimargin.formulations.bounds.intervals import Interval, interval
from equimargin.formulations.declaration import (
    DOCUMENTS,
    REGISTRY,
    Declaration,
    Formulation,
    Printed,
    Source,
    declare,
    families,
    formulation,
)
from equimargin.formulations.kernels.kernel import Kernel, linear, polynomial, precomputed, rbf, sigmoid
from equimargin.formulations.problem.construct import (
    classification,
    one_norm_classification,
    one_norm_ranking,
    ranking,
    ranking_from_pairs,
    ranking_vector_machine,
    regression,
)
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.one_norm import OneNormProblem, Problem
from equimargin.formulations.problem.point import OneNormPoint, Point
from equimargin.formulations.reduced_graph import reduced_preferences, reduction_factor
from equimargin.formulations.refusal import Refusal

__all__ = [
    "DOCUMENTS",
    "REGISTRY",
    "Declaration",
    "Formulation",
    "Interval",
    "Kernel",
    "MarginProblem",
    "OneNormPoint",
    "OneNormProblem",
    "Point",
    "Printed",
    "Problem",
    "Refusal",
    "Source",
    "classification",
    "complete",
    "declare",
    "families",
    "formulation",
    "interval",
    "linear",
    "links",
    "look_alikes",
    "one_norm",
    "one_norm_classification",
    "one_norm_ranking",
    "polynomial",
    "precomputed",
    "ranking",
    "ranking_from_pairs",
    "ranking_vector_machine",
    "ranksvm",
    "rbf",
    "reduced_preferences",
    "reduction_factor",
    "regression",
    "sigmoid",
    "svm",
    "svr",
]
