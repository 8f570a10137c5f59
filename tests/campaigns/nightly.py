"""Every formulation, backend and solver on many drawn problems: how often they are right, and what went wrong, ready to be run again.

    python -m campaigns.nightly --seed 1 --examples 1000

Exit status 1 if anything disagrees, if a solver of our own fails where it must not, or if anything raises or hangs. Backends and reference
solvers may fail: that is counted and shown. Every instance of which something is to be said becomes a script under build/nightly.
"""

from __future__ import annotations

import os

for _library in ("OPENBLAS", "OMP", "MKL", "VECLIB_MAXIMUM"):  # read once, when numpy is imported: so this comes first
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import argparse
import faulthandler
import signal
import sys
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from campaigns.shrunk import shrunk
from equimargin import compare
from equimargin.formulations import MarginProblem, OneNormProblem, Problem, ranking, rbf
from equimargin.formulations.problem import AnyProblem
from equimargin.formulations.problem.limits import PAIR_LIMIT
from equimargin.formulations.rows.labelled import LabelledPairs
from equimargin.formulations.rows.levels import Levels
from equimargin.formulations.rows.listed import Pairs, Signed, Tube
from equimargin.formulations.rows.pair_multipliers import PairMultipliers
from equimargin.proofs import Agreement, FamilyVerdict, Judgement
from equimargin.solvers import SOLVERS, Status, solve
from equimargin.testing import CANONICAL, drawn_problem, sample_problem
from narrow import as_a, present

TIME_LIMIT = 5.0
"""Seconds an answer, of CPU time."""
PATIENT = 60.0
"""Seconds an answer where the pairs are many, of CPU time."""
HANG = 300.0
"""Seconds an instance, of CPU time: more is a hang."""
DEADLOCK = 50 * HANG
"""Seconds of the clock after which not even the busiest machine is an excuse: what waits for something uses no CPU time."""
OWN_CORE = 0.9
"""CPU time over time of the clock, of a process that need not share its core: of one that has less, limits are shortened."""
WIDTH = 1e-6
"""Relative width of a proven interval that our own solvers must reach."""
RANGE = 1e-8, 1e8
"""C x mean K_ii at which they must."""
SHARE = 0.05
"""Of the instances that every branch must have."""
LEVELS = 60, 1000, 5000
"""Levels of the rankings whose pairs are summed one by one, in turn: listed pairs, too many to look at one by one, too many to list."""
RANKINGS = 30
"""Instances of a family for each of its rankings with many levels, beside the one that every entry of LEVELS has."""
ROUNDED = 1e-9
"""Relative difference of two sums over the same pairs."""


@dataclass
class Found:
    """What came of one instance: its family's judgements, or what was raised."""

    problem: Problem
    family: FamilyVerdict | None
    error: str
    seconds: float


@dataclass
class Report:
    """The lines on a family, and what is to be counted as a failure."""

    lines: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def add_rankings(self, id: str, found: Sequence[Found]) -> None:
        """What is said of rankings with many levels, which a seed makes again."""
        pairs = ", ".join(f"{each.problem.p:,}" for each in found)
        self.lines.append(f"  many levels: {pairs} pairs, {sum(each.seconds for each in found):.0f} s")
        for number, each in enumerate(found):
            self.failures += [f"{id}, many levels, number {number}: {sentence}" for sentence in _complaints(each)]


# Drawing.


def drawn(family: str, count: int, number: int) -> list[Problem]:
    """Instances of a family, `count` of them, always the same ones for a seed."""
    return [drawn_problem(family, number, k) for k in range(count)]


def many_levels(family: str, count: int, number: int) -> list[Problem]:
    """Rankings with many levels: ties of features and of labels, several queries, all scales; the same ones for a seed."""
    return [_of_levels(family, LEVELS[k % len(LEVELS)], [number, k]) for k in range(count)]


def _of_levels(family: str, levels: int, number: list[int]) -> Problem:
    rng = np.random.default_rng(number)
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


class Hang(BaseException):
    """An instance took longer than it may; no exception of an answer's, which `compare` makes a failed answer."""


def examined(problem: Problem, cpu_limit: float = TIME_LIMIT) -> Found:
    """All answers to an instance, watched."""
    started = time.process_time()
    signal.signal(signal.SIGPROF, _hang)
    signal.setitimer(signal.ITIMER_PROF, HANG, HANG)  # again where a callback of native code has lost the exception
    faulthandler.dump_traceback_later(DEADLOCK, exit=True)  # native code that never comes back ends the process
    family, error = None, ""
    try:
        family = _compared(problem, cpu_limit)
    except (Exception, Hang):
        error = traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        faulthandler.cancel_dump_traceback_later()
    return Found(problem, family, error, time.process_time() - started)


def _compared(problem: Problem, cpu_limit: float) -> FamilyVerdict:
    """The family's judgements; limits being of the clock, once more with longer ones where others had the cores and a solver ran out."""
    clock, used = time.perf_counter(), time.process_time()
    (family,) = compare(problem, time_limit=cpu_limit, patient=True).families
    share = (time.process_time() - used) / (time.perf_counter() - clock)
    ran_out = any(j.evidence.run.formulation is None and j.evidence.run.status is Status.TIME_LIMIT for j in family.judgements)
    if ran_out and share < OWN_CORE:
        (family,) = compare(problem, time_limit=2 * cpu_limit / share, patient=True).families
    return family


def _hang(*_: Any) -> None:
    raise Hang(f"no end after {HANG:g} s")


def summed(problem: Problem) -> Found:
    """All answers to a ranking of many levels, and what its pairs one by one say of the first solver's."""
    found = examined(problem, TIME_LIMIT if problem.p <= PAIR_LIMIT else PATIENT)
    assert isinstance(problem, MarginProblem)
    wrong = "" if found.error else _wrong_sums(problem)
    return replace(found, family=None, error=wrong) if wrong else found


def _wrong_sums(problem: MarginProblem) -> str:
    """Where a solution's value or A'alpha is not what its pairs sum to, in a sentence."""
    solution, rows = solve(problem, time_limit=PATIENT), as_a(LabelledPairs, problem.rows)
    y, query = rows.y, rows.query
    f, beta, squared = solution.decision_function(problem.X), np.zeros(problem.m), problem.loss == "squared_hinge"
    alpha, loss = solution.dual, 0.0
    for i in range(problem.m):
        losers = np.flatnonzero((y < y[i]) & (query == query[i]))
        u = np.maximum(1.0 - f[i] + f[losers], 0.0)
        loss += problem.C * float((u**2 if squared else u).sum())
        if isinstance(alpha, PairMultipliers):
            pull = problem.C * alpha.phi.derivative(1.0 - alpha.slacks.f[i] + alpha.slacks.f[losers])
            beta[i] += pull.sum()
            beta[losers] -= pull
    norm2 = float(solution.w @ solution.w) if solution.w is not None else float(present(solution.beta) @ f)
    value = norm2 / 2 + loss
    if abs(value - solution.value) > ROUNDED * abs(value):
        return f"the value is {solution.value!r}, its pairs sum to {value!r}"
    if not solution.lower <= value * (1 + ROUNDED):
        return f"the lower bound {solution.lower!r} is above the value {value!r} that the pairs sum to"
    off = np.abs(alpha.pull() - beta).max() / max(np.abs(beta).max(), 1e-300) if isinstance(alpha, PairMultipliers) else 0.0
    return f"A'alpha is off by {off:.1e} from the sum over the pairs" if off > ROUNDED else ""


def run(problems: Sequence[Problem], processes: int, of_each: Callable[[Problem], Found] = examined) -> Iterator[Found]:
    """What came of each, in order."""
    if processes == 1:
        yield from map(of_each, problems)
        return
    from joblib import Parallel, delayed

    yield from Parallel(n_jobs=processes, return_as="generator", batch_size=1)(delayed(of_each)(problem) for problem in problems)


# What an instance has of everything nasty.


def branches(problem: Problem) -> dict[str, bool | None]:
    """Which nasty branches an instance is in; None where a branch makes no sense for its family."""
    X, rows, m = np.asarray(problem.X), problem.rows, problem.m
    y, pairs = rows.y, isinstance(rows, Pairs)
    query = np.zeros(m) if not isinstance(rows, Pairs) or rows.query is None else rows.query
    size = float(np.abs(X).max())
    points = np.unique(X, axis=0, return_inverse=True)[1].ravel()
    weights = problem.unit_weights if isinstance(problem, MarginProblem) and not np.isinf(problem.C) else None
    groups = [y[query == name] for name in np.unique(query)]
    same = (points[:, None] == points) & (query[:, None] == query)
    soft = not np.isinf(problem.C)
    return {
        "duplicated rows": len(set(points.tolist())) < m,
        "contradicting duplicates": bool((same & (y[:, None] != y)).any()),
        "ties": None if isinstance(rows, Signed) else any(len(np.unique(group)) < len(group) for group in groups),
        "one query": len(groups) == 1 if pairs else None,
        "single-level query": any(len(group) > 1 and len(np.unique(group)) == 1 for group in groups) if pairs else None,
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
    """Whether our own solvers have no excuse: the rounding of C K, or rows to be met in a tube of no width, which no float64 point is.

    The margins that a tube asks for are its targets: of the hinge's problem, C K over them is what is scale-free. Where rows have to be
    met, the multipliers, which sum to twice the optimum, take the place of C.
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


# What is wrong with an answer.


def complaint(problem: Problem, family: FamilyVerdict, judgement: Judgement) -> str | None:
    """What is to be held against an answer, in a sentence, or None."""
    run, point = judgement.evidence.run, judgement.evidence.point
    who = run.name
    if run.raised:
        return f"{who} raised {run.raised}"
    told = f"{run.status}, claim {judgement.claim:.1e}, off {judgement.off:.1e}, accuracy {judgement.accuracy:.1e}: {run.reason}"
    if judgement.agreement is Agreement.DISAGREES:
        return f"{who} disagrees ({told})"
    if run.formulation is not None or judgement.agreement is Agreement.SKIPPED:
        return None
    lower, upper = (-np.inf, np.inf) if point is None else (point.proven.lower, point.proven.upper)
    if not (lower <= upper and lower <= family.interval.upper and family.interval.lower <= upper):
        return f"{who} has an interval that is not true: [{lower!r}, {upper!r}]"
    if not run.reason:
        return f"{who} gives no reason"
    if must_succeed(problem, family) and not SOLVERS[run.solver].reference and not _succeeds(family, judgement):
        return f"{who} {judgement.agreement}, width {judgement.relative_width:.1e} ({told})"
    return None


def _succeeds(family: FamilyVerdict, judgement: Judgement) -> bool:
    narrow = judgement.relative_width <= WIDTH or not family.feasible
    return judgement.agreement is Agreement.AGREES and narrow


# A script that shows it again.


def script(problem: Problem, sentences: Sequence[str]) -> str:
    """A self-contained program that rebuilds the instance to the last bit and compares."""
    said = "\n".join(sentences)
    return (
        f'"""{said}"""\n\nimport numpy as np\n\nfrom equimargin import compare\n'
        "from equimargin.formulations import MarginProblem, OneNormProblem\n"
        "from equimargin.formulations.kernels.exponential import Exponential\n"
        "from equimargin.formulations.kernels.kernel import RBF, Linear, Polynomial\n"
        "from equimargin.formulations.rows.labelled import LabelledPairs\n"
        "from equimargin.formulations.rows import Signed, Tube\nfrom equimargin.formulations.rows.levels import Levels\n\ninf = np.inf\n"
        f"X = np.array({np.asarray(problem.X).tolist()!r})\nrows = {_rows_text(problem)}\nproblem = {_problem_text(problem)}\n"
        f"print(compare(problem, time_limit={TIME_LIMIT}, patient=True))\n"
    )


def _rows_text(problem: Problem) -> str:
    rows = problem.rows
    y = f"np.array({rows.y.tolist()!r})"
    if isinstance(rows, Pairs):
        query = "None" if rows.query is None else f"np.array({rows.query.tolist()!r})"
        return f"LabelledPairs({y}, {query})"
    if isinstance(rows, Levels):
        return f"Levels({y}, {rows.T})"
    return f"Tube({y}, {rows.epsilon!r})" if isinstance(rows, Tube) else f"Signed({y})"


def _problem_text(problem: Problem) -> str:
    if not isinstance(problem, MarginProblem):
        return f"OneNormProblem(X, {problem.kernel!r}, rows, {problem.C!r}, {problem.over!r}, {problem.bias!r})"
    weights = "None" if problem.weights is None else f"np.array({problem.weights.tolist()!r})"
    return f"MarginProblem(X, {problem.kernel!r}, rows, {problem.C!r}, {problem.loss!r}, {problem.bias!r}, {weights}, {problem.delta!r})"


# The report.


def report(id: str, found: Sequence[Found], folder: Path) -> Report:
    """All that is said of a family."""
    out = Report()
    sizes = np.array([f.problem.m for f in found])
    seconds = sum(f.seconds for f in found)
    out.lines.append(
        f"\n{id}: {len(found)} instances, n from {sizes.min()} to {sizes.max()}, median {np.median(sizes):.0f}, "
        f"{np.mean(sizes >= 20):.0%} with n >= 20, {seconds:.0f} s"
    )
    out.lines += _branch_lines(found, out)
    out.lines += _solver_lines(found)
    for number, each in enumerate(found):
        sentences = _complaints(each)
        if sentences:
            path = folder / f"{id}-{number}.py"
            path.write_text(script(each.problem, sentences), encoding="utf-8")
            out.failures += [f"{path}: {sentence}" for sentence in sentences]
            out.lines.append(f"  small: {shrunk(each.problem, complaints, sentences, path)}")
    return out


def complaints(problem: AnyProblem) -> list[str]:
    """What is to be said of the answers to an instance."""
    assert isinstance(problem, MarginProblem | OneNormProblem)
    return _complaints(examined(problem))


def _complaints(found: Found) -> list[str]:
    if found.family is None:
        return [found.error.strip().splitlines()[-1]]
    family = found.family
    return [said for j in family.judgements if (said := complaint(found.problem, family, j)) is not None]


def _branch_lines(found: Sequence[Found], out: Report) -> Iterator[str]:
    """Counts of the branches; one that is too rare is a failure once there are enough instances to tell."""
    counts: dict[str, int | None] = {}
    for each in found:
        for name, here in branches(each.problem).items():
            counts[name] = None if here is None else (counts.get(name) or 0) + here
    yield "  " + ", ".join(f"{name} {'-' if count is None else count}" for name, count in counts.items())
    rare = [name for name, count in counts.items() if count is not None and count < SHARE * len(found)]
    if rare and len(found) >= 60:
        out.failures.append(f"too few instances: {', '.join(rare)}")


def _solver_lines(found: Sequence[Found]) -> Iterator[str]:
    """One line a backend or solver: how many answers, how they were judged, how they ended, and the worst figures."""
    groups: dict[tuple[bool, str], list[tuple[Found, Judgement]]] = defaultdict(list)
    for each in found:
        for j in each.family.judgements if each.family is not None else ():
            if j.agreement is not Agreement.SKIPPED:
                groups[j.evidence.run.formulation is None, j.evidence.run.solver].append((each, j))
    form = "  {:<20} {:>7} {:>8} {:>9} {:>9} {:>8}   {}"
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
            _worst(j.claim for f, j in ok if _feasible(f)),
            _worst(j.relative_width for f, j in ok if own and _feasible(f)),
            f"{max(j.evidence.run.solve_seconds or 0.0 for j in judgements):.1f}",
            f"{_counted(agreements)}; {_counted(statuses)}",
        )
    undecided = Counter(str(each.family.verdict) for each in found if each.family is not None)
    infeasible = sum(each.family is not None and not each.family.feasible for each in found)
    yield f"  verdicts: {_counted(undecided)}; {infeasible} infeasible"


def _feasible(found: Found) -> bool:
    return found.family is not None and found.family.feasible


def _worst(figures: Iterator[float]) -> str:
    worst = max(figures, default=float("nan"))
    return "-" if np.isnan(worst) else f"{worst:.1e}"


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.most_common())


def main(arguments: Sequence[str] | None = None, say: Callable[[str], None] = lambda line: print(line, flush=True)) -> int:
    """Draw, solve, report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--examples", type=int, default=130, help="instances, over all families")
    parser.add_argument("--family", action="append", choices=list(CANONICAL), help="only these")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=Path("build/nightly"))
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    families = options.family or list(CANONICAL)
    share = [options.examples // len(families) + (k < options.examples % len(families)) for k in range(len(families))]
    samples = [sample_problem(family, kernel) for family in CANONICAL for kernel in (None, rbf())]
    compare(samples, solvers=list(SOLVERS))  # compiles: an answer's time is not for that
    started, failures = time.perf_counter(), []
    for family, count in zip(families, share, strict=True):
        if count:
            found = list(run(drawn(family, count, options.seed), options.processes))
            of_family = report(family, found, options.folder)
            if family in ("rank.l1", "rank.l2"):
                rankings = many_levels(family, len(LEVELS) + count // RANKINGS, options.seed)
                of_family.add_rankings(family, list(run(rankings, options.processes, summed)))
            failures += of_family.failures
            for line in [*of_family.lines, *(f"  ! {failure}" for failure in of_family.failures)]:
                say(line)
    say(f"\n{sum(share)} instances, {len(failures)} failures, {time.perf_counter() - started:.0f} s, seed {options.seed}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
