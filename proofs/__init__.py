"""Proofs about optima: verdicts on answers, certificates, audits, equivalence, theorems."""

if __name__ != "equimargin.proofs":  # a second copy of every class would exist under the bare name
    raise ImportError("use: from equimargin.proofs import ...")

from equimargin.proofs.all_optima.optimal_ranges import OptimalRanges, Range, optimal_ranges
from equimargin.proofs.all_optima.sparsest import FewestNonzeros, fewest_nonzeros
from equimargin.proofs.audit import Audit, audit, audit_ranker
from equimargin.proofs.certificates.path import path_certificate
from equimargin.proofs.certificates.problem import certificate
from equimargin.proofs.certificates.program import program_certificate
from equimargin.proofs.certificates.writing import write_certificate
from equimargin.proofs.enclosure import Enclosure, enclosure
from equimargin.proofs.rankings.reduced_graph import (
    ReducedExcess,
    least_reduced_excess,
    reduced_excess,
)
from equimargin.proofs.rankings.surrogate_regret import PairCount, SurrogateRegret, surrogate_regret
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
