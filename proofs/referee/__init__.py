"""Referee: verdict on a problem family from its answers.

An answer is the result of one backend for one formulation, or of one specialised
solver. It is examined for three things:

    value      is its objective value the family's optimum?
    point      are its f, b and alpha near-optimal, once they are made exactly feasible?
    accuracy   how well did the backend solve its own problem, by its raw vectors?

The referee relies on no status and no objective value that a solver reports. `examine`
examines one answer alone, and returns `Evidence`: its value as a `Claim`, the bounds
that its point proves, and an accuracy, all of them recomputed and in units of the
family's objective. `judge` then compares the answers of a family. As a point is made
feasible first, it always proves a valid interval; the interval alone therefore does not
show that the answer is right. An answer disagrees only if that is proven: rounding in
equimargin's computations never counts against an answer. The referee changes no answer.

All relative figures are absolute differences in units of the family's objective, over
S = max(|lower|, |upper|, 1e-4 P(0)), where lower and upper are the proven bounds of the
optimum and P(0) is the objective at f = 0.
"""

from equimargin.proofs.referee.evidence import (
    Claim,
    Evidence,
    PointProof,
    Run,
    SolveAccuracy,
    failed,
    skipped,
)
from equimargin.proofs.referee.examination import examine, examine_solution
from equimargin.proofs.referee.judgement import Agreement, FamilyVerdict, Judgement, Verdict, judge
from equimargin.proofs.referee.rays import extract_ray
from equimargin.proofs.referee.residuals import own_residual
from equimargin.proofs.referee.stable import Stable, stable
from equimargin.proofs.referee.ways import Availability, find_available_answers

__all__ = [
    "Agreement",
    "Availability",
    "Claim",
    "Evidence",
    "FamilyVerdict",
    "Judgement",
    "PointProof",
    "Run",
    "SolveAccuracy",
    "Stable",
    "Verdict",
    "examine",
    "examine_solution",
    "extract_ray",
    "failed",
    "find_available_answers",
    "judge",
    "own_residual",
    "skipped",
    "stable",
]
