"""Proofs about optima: verdicts on answers, certificates, audits, equivalence, theorems.

Names that a comparison does not need are imported on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if __name__ != "equimargin.proofs":  # a second copy of every class would exist under the bare name
    raise ImportError("use: from equimargin.proofs import ...")

from equimargin.proofs.audit import Audit, audit, audit_ranker
from equimargin.proofs.enclosure import Enclosure, enclosure
from equimargin.proofs.referee import (
    Agreement,
    Evidence,
    FamilyVerdict,
    Judgement,
    Verdict,
    examine,
    examine_solution,
    judge,
)

if TYPE_CHECKING:
    from equimargin.proofs.all_optima.optimal_ranges import OptimalRanges, Range, optimal_ranges
    from equimargin.proofs.all_optima.sparsest import FewestNonzeros, fewest_nonzeros
    from equimargin.proofs.certificates.path import path_certificate
    from equimargin.proofs.certificates.problem import certificate
    from equimargin.proofs.certificates.program import program_certificate
    from equimargin.proofs.certificates.writing import write_certificate
    from equimargin.proofs.rankings.reduced_graph import (
        ReducedExcess,
        least_reduced_excess,
        reduced_excess,
    )
    from equimargin.proofs.rankings.surrogate_regret import (
        PairCount,
        SurrogateRegret,
        surrogate_regret,
    )

_LATER = {
    "OptimalRanges": "all_optima.optimal_ranges",
    "Range": "all_optima.optimal_ranges",
    "optimal_ranges": "all_optima.optimal_ranges",
    "FewestNonzeros": "all_optima.sparsest",
    "fewest_nonzeros": "all_optima.sparsest",
    "path_certificate": "certificates.path",
    "certificate": "certificates.problem",
    "program_certificate": "certificates.program",
    "write_certificate": "certificates.writing",
    "ReducedExcess": "rankings.reduced_graph",
    "least_reduced_excess": "rankings.reduced_graph",
    "reduced_excess": "rankings.reduced_graph",
    "PairCount": "rankings.surrogate_regret",
    "SurrogateRegret": "rankings.surrogate_regret",
    "surrogate_regret": "rankings.surrogate_regret",
}
"""Modules of the names that are imported on first use."""

__all__ = [
    "Agreement",
    "Audit",
    "Enclosure",
    "Evidence",
    "FamilyVerdict",
    "FewestNonzeros",
    "Judgement",
    "OptimalRanges",
    "PairCount",
    "Range",
    "ReducedExcess",
    "SurrogateRegret",
    "Verdict",
    "audit",
    "audit_ranker",
    "certificate",
    "enclosure",
    "examine",
    "examine_solution",
    "fewest_nonzeros",
    "judge",
    "least_reduced_excess",
    "optimal_ranges",
    "path_certificate",
    "program_certificate",
    "reduced_excess",
    "surrogate_regret",
    "write_certificate",
]


def __getattr__(name: str) -> Any:
    if name in {module.partition(".")[0] for module in _LATER.values()}:
        return import_module(f"{__name__}.{name}")
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
