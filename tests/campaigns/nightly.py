"""Every formulation, backend and solver on many random problems.

    python -m campaigns nightly --seed 1 --examples 1000

An answer is what one solver or backend returns for one formulation of a problem. Exit
status 1 if an answer disagrees, if a bundled solver fails where `must_succeed` is True,
or if anything raises or hangs. Backends and reference solvers may fail: their failures
are counted and shown. Every instance with a complaint becomes a script under
build/nightly.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from campaigns.runner import At, Campaign, Check, Trial
from campaigns.shrunk import BY_COMPARING
from equimargin import compare
from equimargin.formulations import MarginProblem, Problem, ranking, rbf
from equimargin.formulations.problem.limits import MAX_DECLARED_ROWS
from equimargin.formulations.rows.labelled import LabelledPairs
from equimargin.formulations.rows.listed import Pairs, Signed, Tube
from equimargin.formulations.rows.pair_multipliers import PairMultipliers
from equimargin.proofs import Agreement, FamilyVerdict, Judgement
from equimargin.solvers import SOLVERS, Status, solve
from equimargin.testing import CANONICAL, draw_problem, sample_problem
from narrow import as_a, present

TIME_LIMIT = 5.0
"""CPU time limit of an answer, in seconds."""
PATIENT = 60.0
"""CPU time limit of an answer to a ranking of more pairs than are listed, in seconds."""
OWN_CORE = 0.9
"""Minimum CPU time over wall time of a process with a core of its own.

With less, a limit of wall time leaves less CPU time than meant.
"""
WIDTH = 1e-6
"""Relative width of a proven interval that the bundled solvers must attain."""
RANGE = 1e-8, 1e8
"""Range of C x mean K_ii in which the solvers must attain WIDTH."""
SHARE = 0.05
"""Minimum share of the instances of a family in each case of `branches`."""
LEVELS = 60, 1000, 5000
"""Numbers of levels of the rankings of `many_levels`, used in turn.

The first has few pairs, the second too many to visit one by one, the third too many to
list.
"""
RANKINGS = 30
"""Number of other instances of a family for each ranking of `many_levels`.

Before these, there is one ranking for each entry of LEVELS.
"""
ROUNDED = 1e-9
"""Maximum relative difference of two computations of a sum over all pairs."""


@dataclass
class Found:
    """Instance, and its family's judgements."""

    problem: Problem
    family: FamilyVerdict


# Drawing.


def many_levels(family: str, seed: int, number: int) -> Problem:
    """Draw a ranking at any scale with many levels and ties, half of them with queries."""
    rng, levels = np.random.default_rng([seed, number]), LEVELS[number % len(LEVELS)]
    m, d = levels + int(rng.integers(1, levels)), int(rng.integers(1, 6))
    X = np.round(rng.normal(size=(m, d)) * 8) / 8 if rng.integers(2) else rng.normal(size=(m, d))
    y = np.argsort(np.argsort(X @ rng.normal(size=d) + rng.normal(size=m))) * levels // m
    qid = None if rng.integers(2) else rng.integers(0, 4, m)
    loss: Literal["hinge", "squared_hinge"] = "hinge" if family == "rank.l1" else "squared_hinge"
    kernel = rbf(10.0 ** rng.uniform(-1, 0.5)) if rng.integers(2) and m < 2500 else None
    scale = 10.0 ** rng.uniform(-2, 2) if kernel is None else 1.0
    whole = ranking(scale * X, y.astype(float), qid, 1.0, kernel, loss)
    return whole.with_cost(10.0 ** rng.uniform(0, 4) / max(whole.p, 1) / scale**2)


# Solving.


def judged(problem: Problem, at: object = None, cpu_limit: float = TIME_LIMIT) -> Trial:
    """Return the complaints about the answers to an instance."""
    family = _compared(problem, cpu_limit)
    return Trial(complaints(problem, family), kept=Found(problem, family))


def _compared(problem: Problem, cpu_limit: float) -> FamilyVerdict:
    """Compare a problem, and again with longer limits if a solver lacked CPU time.

    Limits are in wall time, and other processes may have used the cores.
    """
    clock, used = time.perf_counter(), time.process_time()
    (family,) = compare(problem, time_limit=cpu_limit, patient=True).families
    share = (time.process_time() - used) / (time.perf_counter() - clock)
    ran_out = any(
        j.evidence.run.formulation is None and j.evidence.run.status is Status.TIME_LIMIT
        for j in family.judgements
    )
    if ran_out and share < OWN_CORE:
        (family,) = compare(problem, time_limit=2 * cpu_limit / share, patient=True).families
    return family


def summed(problem: Problem, at: object = None) -> Trial:
    """Return the complaints about a ranking, whose pairs are also summed one by one."""
    trial = judged(problem, cpu_limit=TIME_LIMIT if problem.p <= MAX_DECLARED_ROWS else PATIENT)
    wrong = _wrong_sums(as_a(MarginProblem, problem))
    trial.said += [wrong] if wrong else []
    trial.counts["pairs"] = problem.p
    return trial


def _wrong_sums(problem: MarginProblem) -> str:
    """Return the fault of a solver's value, lower bound or A'alpha as text, or "".

    They are compared with sums over all pairs.
    """
    solution, rows = solve(problem, time_limit=PATIENT), as_a(LabelledPairs, problem.rows)
    y, query = rows.y, rows.query
    f, beta, squared = (
        solution.decision_function(problem.X),
        np.zeros(problem.m),
        problem.loss == "squared_hinge",
    )
    alpha, loss = solution.dual, 0.0
    for i in range(problem.m):
        losers = np.flatnonzero((y < y[i]) & (query == query[i]))
        u = np.maximum(1.0 - f[i] + f[losers], 0.0)
        loss += problem.C * float((u**2 if squared else u).sum())
        if isinstance(alpha, PairMultipliers):
            pull = problem.C * alpha.phi.derivative(
                1.0 - alpha.slacks.f[i] + alpha.slacks.f[losers]
            )
            beta[i] += pull.sum()
            beta[losers] -= pull
    norm2 = (
        float(solution.w @ solution.w)
        if solution.w is not None
        else float(present(solution.beta) @ f)
    )
    value = norm2 / 2 + loss
    if abs(value - solution.value) > ROUNDED * abs(value):
        return f"the value is {solution.value!r}, its pairs sum to {value!r}"
    if not solution.lower <= value * (1 + ROUNDED):
        return (
            f"the lower bound {solution.lower!r} is above the value {value!r} that the pairs sum to"
        )
    off = (
        np.abs(alpha.pull() - beta).max() / max(np.abs(beta).max(), 1e-300)
        if isinstance(alpha, PairMultipliers)
        else 0.0
    )
    return f"A'alpha is off by {off:.1e} from the sum over the pairs" if off > ROUNDED else ""


# Degenerate cases.


def branches(problem: Problem) -> dict[str, bool | None]:
    """Return True for each degenerate case of an instance; None where it has no meaning."""
    X, rows, m = np.asarray(problem.X), problem.rows, problem.m
    y, pairs = rows.y, isinstance(rows, Pairs)
    query = np.zeros(m) if not isinstance(rows, Pairs) or rows.query is None else rows.query
    size = float(np.abs(X).max())
    points = np.unique(X, axis=0, return_inverse=True)[1].ravel()
    weights = (
        problem.unit_weights
        if isinstance(problem, MarginProblem) and not np.isinf(problem.C)
        else None
    )
    groups = [y[query == name] for name in np.unique(query)]
    same = (points[:, None] == points) & (query[:, None] == query)
    soft = not np.isinf(problem.C)
    return {
        "duplicated rows": len(set(points.tolist())) < m,
        "contradicting duplicates": bool((same & (y[:, None] != y)).any()),
        "ties": None
        if isinstance(rows, Signed)
        else any(len(np.unique(group)) < len(group) for group in groups),
        "one query": len(groups) == 1 if pairs else None,
        "single-level query": any(len(group) > 1 and len(np.unique(group)) == 1 for group in groups)
        if pairs
        else None,
        "one-row query": m > 1 and any(len(group) == 1 for group in groups) if pairs else None,
        "single class": len(np.unique(y)) == 1 or problem.p == 0,
        "many levels": max(len(np.unique(group)) for group in groups) >= 5 if pairs else None,
        "zero rows": not X.any(axis=1).all(),
        "zero columns": not X.any(axis=0).all(),
        "n < d": m < X.shape[1],
        "singular Gram": int(np.linalg.matrix_rank(problem.gram.dense)) < m,
        "rank one": int(np.linalg.matrix_rank(X)) == 1,
        "integer grid": bool((np.rint(X) == X).all()),
        "scale <= 1e-4": 0 < size <= 1e-4,
        "scale >= 1e4": size >= 1e4,
        "C <= 1e-4": problem.C <= 1e-4 if soft else None,
        "C >= 1e4": problem.C >= 1e4 if soft else None,
        "zero weights": None if weights is None else bool((weights == 0).any()),
        "infinite weights": None if weights is None else bool(np.isinf(weights).any()),
    }


def must_succeed(problem: Problem, family: FamilyVerdict) -> bool:
    """Return True if the bundled solvers must succeed on the problem.

    They must if C K is within RANGE, with K the mean of K_ii. For the hinge, C K over
    the largest target must be, too. With hard rows an upper bound of the optimum, which
    is half the sum of the multipliers, replaces C. Hard rows in a tube of width 0
    cannot be satisfied by float64 points.
    """
    hard = isinstance(problem, MarginProblem) and bool(np.isinf(problem.group_costs).any())
    if hard and isinstance(problem.rows, Tube) and problem.rows.epsilon == 0:
        return False
    K, t = float(problem.gram.diagonal.mean()), problem.rows.largest_target
    prices = [problem.C * K] if np.isfinite(problem.C) else []
    if prices and isinstance(problem, MarginProblem) and problem.loss == "hinge":
        prices.append(problem.C * K / t)
    if hard:
        prices.append(family.interval.upper * K / t**2 if family.feasible else np.inf)
    return all(price == 0 or RANGE[0] <= price <= RANGE[1] for price in prices)


# Complaints.


def complaint(problem: Problem, family: FamilyVerdict, judgement: Judgement) -> str | None:
    """Return the complaint about an answer as text, or None."""
    run, point = judgement.evidence.run, judgement.evidence.point
    who = run.name
    if run.raised:
        return f"{who} raised {run.raised}"
    told = (
        f"{run.status}, claim {judgement.claim:.1e}, off {judgement.off:.1e}, accuracy "
        f"{judgement.accuracy:.1e}: {run.reason}"
    )
    if judgement.agreement is Agreement.DISAGREES:
        return f"{who} disagrees ({told})"
    if run.formulation is not None or judgement.agreement is Agreement.SKIPPED:
        return None
    lower, upper = (-np.inf, np.inf) if point is None else (point.proven.lower, point.proven.upper)
    if not (lower <= upper and lower <= family.interval.upper and family.interval.lower <= upper):
        return f"{who} has an interval that is not true: [{lower!r}, {upper!r}]"
    if not run.reason:
        return f"{who} gives no reason"
    if (
        must_succeed(problem, family)
        and not SOLVERS[run.solver].reference
        and not _succeeds(family, judgement)
    ):
        return f"{who} {judgement.agreement}, width {judgement.relative_width:.1e} ({told})"
    return None


def _succeeds(family: FamilyVerdict, judgement: Judgement) -> bool:
    narrow = judgement.relative_width <= WIDTH or not family.feasible
    return judgement.agreement is Agreement.AGREES and narrow


def complaints(problem: Problem, family: FamilyVerdict) -> list[str]:
    """Return the complaints about the answers to an instance."""
    return [said for j in family.judgements if (said := complaint(problem, family, j)) is not None]


# The report.


def lines(trials: Sequence[Trial]) -> Iterator[str]:
    """Yield lines on the sizes, degenerate cases and solvers of a family."""
    found = [trial.kept for trial in trials if trial.kept is not None]
    sizes = np.array([each.problem.m for each in found] or [0])
    yield (
        f"n from {sizes.min()} to {sizes.max()}, median {np.median(sizes):.0f}, "
        f"{np.mean(sizes >= 20):.0%} with n >= 20"
    )
    yield ", ".join(
        f"{name} {'-' if count is None else count}"
        for name, count in _counted_branches(found).items()
    )
    yield from _solver_lines(found)


def rare_branches(trials: Sequence[Trial]) -> Iterator[str]:
    """Yield a complaint if a degenerate case is too rare among enough instances."""
    found = [trial.kept for trial in trials if trial.kept is not None]
    rare = [
        name
        for name, count in _counted_branches(found).items()
        if count is not None and count < SHARE * len(found)
    ]
    if rare and len(found) >= 60:
        yield f"too few instances: {', '.join(rare)}"


def _counted_branches(found: Sequence[Found]) -> dict[str, int | None]:
    counts: dict[str, int | None] = {}
    for each in found:
        for name, here in branches(each.problem).items():
            counts[name] = None if here is None else (counts.get(name) or 0) + here
    return counts


def _solver_lines(found: Sequence[Found]) -> Iterator[str]:
    """Yield one line per backend or solver: answers, agreement, status, worst figures."""
    groups: dict[tuple[bool, str], list[tuple[Found, Judgement]]] = defaultdict(list)
    for each in found:
        for j in each.family.judgements:
            if j.agreement is not Agreement.SKIPPED:
                groups[j.evidence.run.formulation is None, j.evidence.run.solver].append((each, j))
    form = "{:<20} {:>7} {:>8} {:>9} {:>9} {:>8}   {}"
    yield form.format("", "answers", "ok", "claim", "width", "seconds", "agreement; status")
    for (own, name), group in sorted(groups.items()):
        judgements = [j for _, j in group]
        ok = [(f, j) for f, j in group if j.agreement in (Agreement.AGREES, Agreement.INACCURATE)]
        agreements = Counter(str(j.agreement) for j in judgements)
        statuses = Counter(str(j.evidence.run.status) for j in judgements)
        yield form.format(
            name,
            len(group),
            f"{len(ok) / len(group):.2%}",
            _worst(j.claim for f, j in ok if f.family.feasible),
            _worst(j.relative_width for f, j in ok if own and f.family.feasible),
            f"{max(j.evidence.run.solve_seconds or 0.0 for j in judgements):.1f}",
            f"{_counted(agreements)}; {_counted(statuses)}",
        )
    undecided = Counter(str(each.family.verdict) for each in found)
    infeasible = sum(not each.family.feasible for each in found)
    yield f"verdicts: {_counted(undecided)}; {infeasible} infeasible"


def _worst(figures: Iterator[float]) -> str:
    worst = max(figures, default=float("nan"))
    return "-" if np.isnan(worst) else f"{worst:.1e}"


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.most_common())


def checks(_: int) -> Iterator[Check]:
    """Yield the check of each family, and of its rankings with many levels."""
    for family in CANONICAL:

        def draw(at: At, family: str = family) -> Problem:
            return draw_problem(family, at.seed, at.number)

        yield Check(family, judged, draw, lines=lines, wrong=rare_branches, shown=BY_COMPARING)
        if family in ("rank.l1", "rank.l2"):

            def of_levels(at: At, family: str = family) -> Problem:
                return many_levels(family, at.seed, at.number)

            count = lambda examples: examples and len(LEVELS) + examples // RANKINGS  # noqa: E731
            yield Check(f"{family}, many levels", summed, of_levels, count)


def compile_all() -> None:
    """Compare a problem of each family, so that no timed answer includes compilation."""
    compare(
        [sample_problem(family, kernel) for family in CANONICAL for kernel in (None, rbf())],
        solvers=list(SOLVERS),
    )


CAMPAIGN = Campaign(__name__, __doc__, checks, 130, shared=True, processes=2, start=compile_all)
