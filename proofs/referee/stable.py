"""Properties shared by all optima of a problem, proven by the best point of the answers."""

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
    """Shares that are proven to be equal at every optimum, between 0 and 1.

    Parameters
    ----------
    labels : float or None
        Share of the training points with a proven sign of f(x) + b; None if the rows
        are not those of two classes.
    rows : float
        Share of the rows whose multiplier is proven to be 0, or at its upper bound (for
        the squared hinge: above 0).
    """

    labels: float | None
    rows: float


def stable(problem: Any, evidence: Iterable[Evidence]) -> Stable | None:
    """Return properties of all optima, from the point with the narrowest proven interval.

    The point proves |f_alpha - f*|_K <= sqrt(2 (U - L(alpha))).

    Parameters
    ----------
    problem : problem of any kind
        Problem of the answers.
    evidence : iterable of Evidence
        Evidence of the answers; negative controls are excluded.

    Returns
    -------
    Stable or None
        None if no answer has both f and alpha and a finite interval.

    References
    ----------
    `formulations/bounds/stability.py`.
    """
    if (
        not isinstance(problem, MarginProblem)
        or not problem.convex
        or not problem.p
        or problem.loss not in LOSSES
    ):
        return None
    # Only a point with both f and alpha proves a ball that contains the optimal function.
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
