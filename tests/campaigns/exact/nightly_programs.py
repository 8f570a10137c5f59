"""Exact optima and proven intervals of programs of every kind.

    python -m campaigns exact.nightly_programs --seed 1 --examples 2000

Every program has an exact optimum or an exact ray, or is undecided with a cause, and
the causes are counted. The optimality or infeasibility conditions of an outcome are
checked in fractions (`program_conditions`). The value must be that of HiGHS or OSQP if
the program is neither scaled nor nearly infeasible, and must be in the interval of
`enclosure`. The Maros-Meszaros problems are tried, too, if their files are present.
Exit status 1 if anything does not hold.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from math import inf

import numpy as np
import osqp
from scipy import sparse
from scipy.optimize import linprog

from campaigns.exact import maros_meszaros
from campaigns.exact.program_kinds import DATA, HARD, KINDS, nearly_infeasible, scaled_unknowns
from campaigns.runner import At, Campaign, Check, Trial
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.programs import Program
from equimargin.formulations.programs.rational import Matrix
from equimargin.formulations.programs.standard_form import StandardForm
from equimargin.proofs.enclosure import enclosure
from equimargin.proofs.outward import form_interval
from equimargin.solvers.backends.form import solve_form
from equimargin.solvers.exact.program import (
    Inconclusive,
    Infeasible,
    Optimum,
    Outcome,
    UnboundedProgram,
    program_optimum,
)
from equimargin.solvers.exact.program.clock import Clock, OutOfTime
from equimargin.solvers.exact.program.face import Pair
from equimargin.solvers.exact.program.floats import FloatSolution
from equimargin.solvers.exact.program.parametric import optimum_by_parametric_pivots
from oracles.program_conditions import holds

FLOATS_AGREE = 1e-5
"""Relative difference up to which a float value equals the exact one.

HiGHS's tolerance is 1e-7, OSQP's is 1e-9.
"""
PIVOT_SECONDS = 5.0
"""Time limit of exact pivots from a random initial point, in seconds."""
SECONDS = 30.0
"""Time limit of an exact optimum, and of an interval, in seconds."""


def drawn(kind: int, number: Sequence[int]) -> tuple[Program, bool]:
    """Draw a program of a kind, an index of KINDS and HARD.

    Return also True if a float solver is to be compared.
    """
    rng = np.random.default_rng(number)
    if kind >= len(KINDS):
        make = HARD[kind - len(KINDS)]
        return make(rng), make not in (nearly_infeasible, scaled_unknowns)
    data = DATA[number[-1] % len(DATA)]
    return KINDS[kind](rng, int(rng.integers(1, 13)), int(rng.integers(1, 5)), data), data in (
        "integer",
        "degenerate",
    )


def judged(case: tuple[Program, bool], at: object) -> Trial:
    """Solve a program exactly, and judge the outcome, if requested with a float solver."""
    program, ask_floats = case
    started = time.perf_counter()
    outcome = program_optimum(program, SECONDS)
    found = Trial(
        counts=Counter([word(outcome)]), worst={"s of an optimum": time.perf_counter() - started}
    )
    if isinstance(outcome, Inconclusive) and outcome.cause == "not convex":
        return found
    found.said += (
        []
        if isinstance(outcome, Inconclusive) or holds(program, outcome)
        else [f"{word(outcome)} is not proven"]
    )
    found.said += against_floats(program, outcome) if ask_floats else []
    found.said += (
        []
        if pivots_agree(program, outcome)
        else [f"{word(outcome)}, and pivots from elsewhere end otherwise"]
    )
    proven = enclosure(program, seconds=SECONDS)
    found.counts[f"ends by {proven.lower_by} / {proven.upper_by}"] += 1
    if isinstance(outcome, Optimum):
        inside = proven.lower <= outcome.value <= proven.upper
        found.worst["wide"] = float(proven.upper - proven.lower) / max(
            abs(float(outcome.value)), 1e-4
        )
    else:
        above, below = isinstance(outcome, Infeasible), isinstance(outcome, UnboundedProgram)
        inside = (proven.upper == inf or not above) and (proven.lower == -inf or not below)
    found.said += [] if inside else [f"{word(outcome)} is not in the interval"]
    found.said += against_intervals(program, outcome, found)
    return found


def against_intervals(program: Program, outcome: Outcome, found: Trial) -> Iterator[str]:
    """Yield intervals in floats that contradict an outcome; count the ways of the true ones.

    Answers are Clarabel's, and forged ones at all scales, for which only the width may be
    large.
    """
    form = form_of(program)
    rng = np.random.default_rng(program.n + len(program.h))
    rows = len(form.h)
    answer = clarabel_answer(form)
    forged = [
        (rng.normal(size=program.n) * size, rng.normal(size=rows) * size)
        for size in 10.0 ** rng.uniform(-6, 6, 1)
    ]
    if answer is not None:
        x, z = answer
        forged = [forged[0], (x * (1 + 1e-6), z + rng.normal(size=rows) * 1e-6)]
    for kind, (x, z) in [("answer", answer or forged[0]), *(("forged", pair) for pair in forged)]:
        # Rational numbers are the oracle here, and are not tried.
        interval = form_interval(form, x, z, width=1e-12, rational=False)
        if isinstance(outcome, Optimum):
            inside = interval.lower <= outcome.value <= interval.upper
        else:
            above, below = isinstance(outcome, Infeasible), isinstance(outcome, UnboundedProgram)
            inside = (interval.upper == inf or not above) and (interval.lower == -inf or not below)
        if not inside:
            yield f"{word(outcome)} is not in [{interval.lower}, {interval.upper}] of a {kind}"
        if kind == "answer" and isinstance(outcome, Optimum):
            found.counts[f"in floats by {interval.lower_by} / {interval.upper_by}"] += 1


def clarabel_answer(form: StandardForm) -> tuple[Array, Array] | None:
    """Return Clarabel's point and multipliers, or None if it returns none."""
    try:
        return solve_form(form, "CLARABEL", 60.0)
    except ValueError:
        return None


def form_of(program: Program) -> StandardForm:
    """Return a program of floats in floats; it has no second-order cones."""
    G = sparse.csr_array(np.vstack([table(program.A), table(program.G)]))
    ends = np.array([*program.b, *program.h], dtype=np.float64)
    q, free = np.array(program.q, dtype=np.float64), np.full(program.n, np.inf)
    return StandardForm(
        sparse.csr_array(table(program.P)),
        q,
        G,
        ends,
        len(program.b),
        len(program.h),
        (),
        -free,
        free,
        float(program.c),
    )


def pivots_agree(program: Program, outcome: Outcome) -> bool:
    """Return True if pivots from a random initial point lead to the same outcome.

    A timeout counts as agreement.
    """
    rng = np.random.default_rng(program.n)
    x, y, z, s = (
        rng.random(size) for size in (program.n, len(program.b), len(program.h), len(program.h))
    )
    try:
        found = optimum_by_parametric_pivots(
            program, FloatSolution(x, y, z, s), Clock(PIVOT_SECONDS)
        )
    except OutOfTime:
        return True
    if isinstance(outcome, Optimum):
        return isinstance(found, Pair) and program.objective(found.x) == outcome.value
    return not isinstance(found, Pair) or isinstance(outcome, Inconclusive)


def word(outcome: Outcome) -> str:
    """Return an outcome as text, for counting."""
    if isinstance(outcome, Optimum):
        return (
            "optimal by pivots"
            if "pivots" in outcome.reason
            else "optimal, mended"
            if "mended" in outcome.reason
            else "optimal"
        )
    return (
        f"undecided ({outcome.cause})"
        if isinstance(outcome, Inconclusive)
        else type(outcome).__name__.lower()
    )


def against_floats(program: Program, outcome: Outcome) -> Iterator[str]:
    """Yield the contradictions between an outcome and an optimum of HiGHS or OSQP.

    Any other status of them is ignored. A quadratic program that is unbounded only
    because its numbers are rounded has an optimum in floats: that is no contradiction.
    """
    linear = not any(program.P.rows)
    value = highs_value(program) if linear else osqp_value(program)
    if (
        value is None
        or isinstance(outcome, Inconclusive)
        or (isinstance(outcome, UnboundedProgram) and not linear)
    ):
        return
    if not isinstance(outcome, Optimum):
        yield f"{word(outcome)}, and in floats the optimum is {value}"
    elif abs(float(outcome.value) - value) > FLOATS_AGREE * max(1.0, abs(value)):
        yield f"{float(outcome.value)} is optimal, and in floats the optimum is {value}"


def highs_value(program: Program) -> float | None:
    """Return HiGHS's optimum of a linear program; None for any other status."""
    q, equal, ends = (np.array(v, dtype=np.float64) for v in (program.q, program.b, program.h))
    parts = (table(program.G), ends, table(program.A), equal)
    found = linprog(q, *(part if len(part) else None for part in parts), bounds=(None, None))
    return float(found.fun) + float(program.c) if found.status == 0 else None


def osqp_value(program: Program) -> float | None:
    """Return OSQP's optimum of a quadratic program; None if it is not solved."""
    q, equal, ends = (np.array(v, dtype=np.float64) for v in (program.q, program.b, program.h))
    rows = np.vstack([table(program.A), table(program.G), np.zeros((1, program.n))])
    low, high = (
        np.concatenate([equal, np.full(len(ends), -np.inf), [0.0]]),
        np.concatenate([equal, ends, [0.0]]),
    )
    solver = osqp.OSQP()
    P = sparse.csc_matrix(np.triu(table(program.P)))
    solver.setup(
        P,
        q,
        sparse.csc_matrix(rows),
        low,
        high,
        eps_abs=1e-9,
        eps_rel=1e-9,
        max_iter=20_000,
        polishing=True,
        verbose=False,
    )
    found = solver.solve(raise_error=False)
    return float(found.info.obj_val) + float(program.c) if found.info.status == "solved" else None


def table(M: Matrix) -> Array:
    """Return a matrix in floats."""
    out = np.zeros((M.height, M.width))
    for i, row in enumerate(M.rows):
        for j, v in row.items():
            out[i, j] = float(v)
    return out


def checks(_: int) -> Iterator[Check]:
    """Yield the check of each kind, and of the Maros-Meszaros problems if present."""
    for kind, make in enumerate((*KINDS, *HARD)):
        yield Check(make.__name__, judged, partial(drawn, kind))
    if maros_meszaros.FOLDER.is_dir():
        files = sorted(maros_meszaros.FOLDER.glob("*.mat"))

        def read(at: At) -> tuple[Program, bool]:
            return maros_meszaros.problem(files[at.number]), True

        yield Check("maros_meszaros", judged, read, lambda _: len(files))


CAMPAIGN = Campaign(__name__, __doc__, checks, 180, shared=True)
