"""Published max-margin convex programs, declared as cvxpy problems."""

# A second copy of every class would exist under the bare name.
if __name__ != "equimargin.formulations":
    raise ImportError("use: from equimargin.formulations import ...")

# The import of documents and field registers their formulations.
from equimargin.formulations import (
    documents,
    field,
    links,
)
from equimargin.formulations.bounds.complete import complete
from equimargin.formulations.bounds.intervals import Interval, interval
from equimargin.formulations.declarations.declaration import Declaration, FormulaValue
from equimargin.formulations.declarations.family import FAMILIES, Family
from equimargin.formulations.declarations.formulation import REGISTRY, Formulation, declare
from equimargin.formulations.declarations.program_problem import ProgramProblem
from equimargin.formulations.declarations.source import DOCUMENTS, Source
from equimargin.formulations.declarations.symbols import (
    DeclarationValues,
    Symbols,
    maximize,
    minimize,
)
from equimargin.formulations.documents.shared.reduced_graph import (
    reduced_preferences,
    reduction_factor,
)
from equimargin.formulations.kernels.chi2 import chi2
from equimargin.formulations.kernels.exponential import exponential
from equimargin.formulations.kernels.kernel import (
    Kernel,
    linear,
    polynomial,
    precomputed,
    rbf,
    sigmoid,
)
from equimargin.formulations.kernels.laplacian import laplacian
from equimargin.formulations.problem.construct import (
    classification,
    one_norm_classification,
    one_norm_ranking,
    one_norm_ranking_from_pairs,
    ordinal,
    ranking,
    ranking_from_pairs,
    ranking_vector_machine,
    regression,
)
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.one_norm import OneNormProblem, Problem
from equimargin.formulations.problem.point import OneNormPoint, Point
from equimargin.formulations.problem.refusal import Refusal

__all__ = [
    "DOCUMENTS",
    "FAMILIES",
    "REGISTRY",
    "Declaration",
    "DeclarationValues",
    "Family",
    "FormulaValue",
    "Formulation",
    "Interval",
    "Kernel",
    "MarginProblem",
    "OneNormPoint",
    "OneNormProblem",
    "Point",
    "Problem",
    "ProgramProblem",
    "Refusal",
    "Source",
    "Symbols",
    "chi2",
    "classification",
    "complete",
    "declare",
    "documents",
    "exponential",
    "field",
    "interval",
    "laplacian",
    "linear",
    "links",
    "maximize",
    "minimize",
    "one_norm_classification",
    "one_norm_ranking",
    "one_norm_ranking_from_pairs",
    "ordinal",
    "polynomial",
    "precomputed",
    "ranking",
    "ranking_from_pairs",
    "ranking_vector_machine",
    "rbf",
    "reduced_preferences",
    "reduction_factor",
    "regression",
    "sigmoid",
]
