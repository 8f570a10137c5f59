"""Referee: verdict on a problem family from its answers.

Each answer is examined for three things:

    claim      is the value that the answer declares the family's optimum?
    point      are the f, b and alpha that it supplies near-optimal, after exact repair?
    accuracy   how well did the backend solve its own problem, by its raw vectors?

The referee relies on no status and no objective value that a solver reports. `examine`
examines one answer alone, and returns `Evidence`: a claim, the bounds of its point, and
an accuracy, all of them recomputed and in units of the family's objective. `judge` then
compares the answers of a family. A repaired point always proves a true interval, so
that the interval alone never shows that an answer is right. A disagreement is proven:
rounding in equimargin's own computations never counts against an answer. The referee
changes no answer.

All relative figures are absolute differences on the family's value scale over
S = max(|lower|, |upper|, 1e-4 P(0)).
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
