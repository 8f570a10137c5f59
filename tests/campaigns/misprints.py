"""Deliberate misprints of all published problems, which the referee must detect.

    python -m campaigns misprints                 all canonical formulations
    python -m campaigns misprints svm.soft rvm    those whose ids contain one of these

Every sign, factor, number, symbol, function and constraint is changed, one at a time
(`equivalence/misprints.py`). The equation is stated nowhere else, so that its file
alone cannot reveal a misprint: the other formulations of its family, the solvers and
the proven interval can. Each misprint is tried on several small problems, on all of
which the right formulation agrees. It is detected if the verdict on one of them is
DISAGREES, if its optimum is infinite, or if the problem is rejected because it is not
convex or lacks a part needed by the map to a point. An undetected misprint leaves the
problem equal, by a reason in THE_SAME, or is a failure: exit status 1. Only the
function of a formulation is changed, and therefore has the whole equation. Wrong maps
to and from canonical points are in `make mutants`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from campaigns.runner import Campaign, Check, Trial, once
from equimargin.equivalence.misprints import Misprint, misprints
from equimargin.formulations import (
    FAMILIES,
    REGISTRY,
    Formulation,
    MarginProblem,
    Problem,
    linear,
    rbf,
)
from equimargin.formulations.bounds.complete import complete
from equimargin.formulations.declarations.user_functions import kept
from equimargin.formulations.kernels.kernel import Linear
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.rows.labelled import LabelledPairs
from equimargin.formulations.rows.levels import Levels
from equimargin.formulations.rows.listed import Signed, Tube
from equimargin.proofs import Agreement, Evidence, examine, examine_solution, judge
from equimargin.solvers import SOLVERS, solve, solve_declaration
from equimargin.testing import sample_problem

REDUNDANT = (
    "at an optimum of squared slacks none is below 0: 0 has the smaller square, and is feasible too"
)
A_SQUARE = "the unknown z is free, and costs its square: -z costs as much"
A_MULTIPLE_OF_0 = "the equation is that a sum is 0, and so is twice the sum"
THE_SAME: dict[str, str] = {
    "svr.l2.primal: no slack": REDUNDANT,
    "svr.l2.primal: no slackhat": REDUNDANT,
    "svm.l2.primal: no slack": REDUNDANT,
    "rank.l2.primal: no slack": REDUNDANT,
    "ord.implicit_l2.primal: no slack": REDUNDANT,
    "svm.nobias_l2.primal: no slack": REDUNDANT,
    "svr.hard.dual: twice the sum in cp.sum(delta)": A_MULTIPLE_OF_0,
    "svr.l2.dual: twice the sum in cp.sum(delta)": A_MULTIPLE_OF_0,
    "svr.l1.dual: twice the sum in cp.sum(delta)": A_MULTIPLE_OF_0,
    "svr.l1.lambda.dual: twice the sum in cp.sum(delta)": A_MULTIPLE_OF_0,
    "svm.hard.dual: twice in d.y @ alpha": A_MULTIPLE_OF_0,
    "svm.soft.dual: twice in d.y @ alpha": A_MULTIPLE_OF_0,
    "svm.soft.lambda.dual: twice in d.y @ alpha": A_MULTIPLE_OF_0,
    "svm.l2.dual: twice in d.y @ alpha": A_MULTIPLE_OF_0,
    "svm.onenorm.dual: twice in d.y @ u": A_MULTIPLE_OF_0,
    "svm.huberised_hinge.dual: twice in d.y @ alpha": A_MULTIPLE_OF_0,
    "ord.implicit.dual: twice in d.S.T @ alpha": A_MULTIPLE_OF_0,
    "ord.implicit_l2.dual: twice in d.S.T @ alpha": A_MULTIPLE_OF_0,
    "ord.hard.dual: twice in d.S.T @ alpha": A_MULTIPLE_OF_0,
    "svm.huberised_hinge.slacks: another sign in 1 + d.width - z": A_SQUARE,
}
"""Reasons why misprints leave the problem equal, by the id and name of the misprint."""

LIMIT_SECONDS = 3600.0
"""Maximum CPU seconds of all misprints of a formulation."""


def checks(_: int) -> Iterator[Check]:
    """Yield the check of every canonical formulation that is no negative control."""
    for entry in REGISTRY.values():
        if FAMILIES[entry.family].is_canonical and not entry.control:
            yield Check(entry.id, judged, partial(drawn, entry), once, LIMIT_SECONDS)


def drawn(entry: Formulation, at: object) -> Formulation:
    """Return the formulation; its problems do not depend on a seed."""
    return entry


def judged(entry: Formulation, at: object) -> Trial:
    """Return how the misprints of a formulation are detected, and complaints on misses."""
    known = [(problem, answers(problem, entry.id)) for problem in problems(entry)]
    for problem, honest in known:
        right = judge(
            entry.family,
            [*honest, examine(problem, solve_declaration(entry.declaration(problem)))],
            problem.scale,
        )
        assert right.judgements[-1].agreement is Agreement.AGREES, (
            f"{entry.id} does not agree as it is"
        )
    trial, same = Trial(), {key for key in THE_SAME if key.startswith(f"{entry.id}: ")}
    for change in misprints(entry.stated):
        found, key = noticed(entry, change, known), f"{entry.id}: {change.name}"
        if not found and key not in same:
            trial.said.append(f"{change.name}: NOT NOTICED")
        trial.counts[found or "the same"] += 1
        same -= set() if found else {key}
    trial.said += [f"{key}: noticed, though said to make the same problem" for key in sorted(same)]
    return trial


def problems(entry: Formulation) -> list[Problem]:
    """Return small problems for a formulation, weighted if it supports weights."""
    found: list[Problem] = []
    for levels in (3, 2):
        kernels = enumerate((rbf(0.5), linear(), rbf(0.2)))
        drawn = [
            weighted(sample_problem(entry.family, kernel, seed, levels=levels))
            for seed, kernel in kernels
        ]
        more = [
            with_a_hard_row(drawn[0], np.argmax),
            with_a_hard_row(drawn[1], np.argmin),
            *with_a_missing_level(drawn[1]),
        ]
        found = found or [problem for problem in (*drawn, *more) if entry.refusal(problem) is None]
    return found


def with_a_missing_level(problem: Problem) -> Iterator[Problem]:
    """Yield an ordinal regression without points of level 1, its thresholds far apart.

    The thresholds are in order only if the formulation requires it.
    """
    if isinstance(problem.rows, Levels) and isinstance(problem, MarginProblem) and problem.T > 1:
        y = np.asarray(problem.rows.y)
        yield replace(problem, X=5 * problem.X, rows=Levels(np.where(y == 1, 2.0, y), problem.T))


def weighted(problem: Problem) -> Problem:
    """Return a margin problem with different costs, some of them 0.

    A hard problem with a linear kernel has larger features instead.
    """
    if np.isinf(problem.C):
        return replace(problem, X=10 * problem.X) if isinstance(problem.kernel, Linear) else problem
    rows: Any = problem.rows.listed() if isinstance(problem.rows, LabelledPairs) else problem.rows
    return replace(problem, rows=rows, weights=np.resize([0.5, 1.7, 1.0, 0.8, 0.0], rows.groups))


def with_a_hard_row(problem: Problem, choose: Callable[[Array], Any]) -> Problem:
    """Return the problem with its most or least violated row hard; for a tube one on each side.

    Violations are those at an optimum. With the huberised hinge, which has no hard
    rows, the classes are exchanged instead.
    """
    if not isinstance(problem, MarginProblem) or np.isinf(problem.C):
        return problem
    if problem.delta is not None:
        return replace(problem, rows=Signed(-problem.rows.s))
    at = complete(problem, solve(problem, tol=1e-9).point)
    weights = np.array(problem.weights)
    for side in np.split(np.arange(problem.p), 2 if isinstance(problem.rows, Tube) else 1):
        weights[side[choose(at.u[side])] % problem.rows.groups] = np.inf
    return replace(problem, weights=weights)


def answers(problem: Problem, without: str) -> list[Evidence]:
    """Return the evidence of the other formulations and the solvers of a problem."""
    others = [
        e
        for e in REGISTRY.values()
        if not e.control and e.id != without and e.refusal(problem) is None
    ]
    solvers = [
        solver
        for solver in SOLVERS.values()
        if solver.takes(problem.family) and solver.refusal(problem) is None
    ]
    declared = [examine(problem, solve_declaration(entry.declaration(problem))) for entry in others]
    return [
        *declared,
        *(examine_solution(problem, solve(problem, solver, tol=1e-9)) for solver in solvers),
    ]


def noticed(
    entry: Formulation, change: Misprint, known: list[tuple[Problem, list[Evidence]]]
) -> str:
    """Return how a misprint is detected, or ""."""
    changed = replace(entry, stated=kept(change.function))
    for problem, honest in known:
        try:
            evidence = examine(problem, solve_declaration(changed.declaration(problem)))
        except ValueError as reason:
            if "rules of convex programs" not in str(reason):
                raise
            return "refused as not convex"
        # A variable or a multiplier for the map to a point is missing.
        except KeyError:
            return "refused, a part is missing"
        judgement = judge(entry.family, [*honest, evidence], problem.scale).judgements[-1]
        if judgement.agreement is Agreement.DISAGREES:
            return "disagrees"
        if evidence.claim is not None and np.isinf(evidence.claim.value):
            return "no finite value"
    return ""


CAMPAIGN = Campaign(__name__, __doc__, checks, 1)
