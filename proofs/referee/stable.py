"""What is the same at every optimum of a family, proven by the best point that its answers have brought."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

from equimargin.formulations.bounds.stability import stability
from equimargin.formulations.problem.choices import LOSSES
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.rows.listed import Signed
from equimargin.proofs.referee.evidence import Evidence


class Stable(NamedTuple):
    """Shares that are proven to be the same at every optimum, between 0 and 1.

    Parameters
    ----------
    labels : float | None
        Of the training points whose sign of f(x) + b is; None where the rows are not
        those of two classes.
    rows : float
        Of the rows whose multiplier is 0, or at its bound (of the squared hinge: above
        0).
    """

    labels: float | None
    rows: float


def stable(problem: Any, evidence: Iterable[Evidence]) -> Stable | None:
    """What the narrowest proven point says of every optimum, or None where no answer has both f and alpha and a finite interval.

        |f_alpha - f*|_K <= sqrt(2 (U - L(alpha)))

    Parameters
    ----------
    problem : Any
        Of the answers, of any kind.
    evidence : Iterable[Evidence]
        Of the answers; what controls bring is left out.

    Source: `formulations/bounds/stability.py`.
    """
    if (
        not isinstance(problem, MarginProblem)
        or not problem.convex
        or not problem.p
        or problem.loss not in LOSSES
    ):
        return None
    points = [
        e.point
        for e in evidence
        if e.point is not None and not e.run.control and e.point.has_f and e.point.has_alpha
    ]
    best = min(points, key=lambda point: point.proven.relative_width, default=None)
    if best is None or not math.isfinite(best.proven.relative_width):
        return None
    ball = stability(problem, best.supplied)
    same, violated = ball.counts()
    labels = float((ball.signs() != 0).mean()) if isinstance(problem.rows, Signed) else None
    return Stable(labels, (same + violated) / problem.p)
