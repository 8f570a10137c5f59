"""Exact optima and proven intervals of programs of every kind, judged by the conditions from their definitions, by HiGHS and OSQP.

    python -m campaigns.exact.nightly_programs --seed 1 --examples 2000

Every program has an exact optimum or an exact ray, or is left undecided with a cause, which is counted. What an outcome carries proves it,
in plain fractions (`program_conditions`); the value is that of HiGHS or OSQP, where data are neither scaled nor nearly infeasible; and the
interval of `enclosure` holds it. The Maros-Meszaros problems are run too, where their files are. Exit status 1 if anything does not hold.
"""

from __future__ import annotations

import os

for _library in ("OPENBLAS", "OMP", "MKL", "VECLIB_MAXIMUM"):  # read once, when numpy is imported: so this comes first
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import inf

import numpy as np
import osqp
from scipy import sparse
from scipy.optimize import linprog

from campaigns.exact import maros_meszaros
from campaigns.exact.program_kinds import DATA, HARD, KINDS, nearly_infeasible, scaled_unknowns
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.programs import Program
from equimargin.formulations.programs.rational import Matrix
from equimargin.proofs.enclosure import enclosure
from equimargin.solvers.exact.program import Infeasible, Optimum, Outcome, Unbounded, Undecided, program_optimum
from equimargin.solvers.exact.program.clock import Clock, OutOfTime
from equimargin.solvers.exact.program.face import Pair
from equimargin.solvers.exact.program.floats import FloatSolution
from equimargin.solvers.exact.program.parametric import optimum_by_parametric_pivots
from oracles.program_conditions import holds

FLOATS_AGREE = 1e-5
"""Relative difference at which a value in floats is taken to be the exact one: HiGHS's tolerance is 1e-7, OSQP's is 1e-9."""
PIVOT_SECONDS = 5.0
"""Time limit of exact pivots from elsewhere."""
SECONDS = 30.0
"""Time limit of an exact optimum, and of an interval."""


@dataclass
class Tally:
    """What became of the programs of one kind."""

    outcomes: Counter[str] = field(default_factory=Counter)
    ways: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    widths: list[float] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        said = ", ".join(f"{count} {name}" for name, count in sorted(self.outcomes.items()))
        ways = ", ".join(f"{count} {name}" for name, count in sorted(self.ways.items()))
        times = f"{1e3 * np.median(self.seconds):.0f} ms, at most {max(self.seconds):.1f} s"
        return f"{said}; intervals: {ways}, widest {max(self.widths, default=0):.0e}; {times}"


def drawn(kind: int, number: Sequence[int]) -> tuple[Program, bool]:
    """A program of a kind, counted over KINDS and HARD, and whether a solver in floats is asked too."""
    rng = np.random.default_rng(number)
    if kind >= len(KINDS):
        make = HARD[kind - len(KINDS)]
        return make(rng), make not in (nearly_infeasible, scaled_unknowns)
    data = DATA[number[-1] % len(DATA)]
    return KINDS[kind](rng, int(rng.integers(1, 13)), int(rng.integers(1, 5)), data), data in ("integer", "degenerate")


def check(program: Program, ask_floats: bool, tally: Tally) -> None:
    """Decide a program, judge what was decided, and enter it all."""
    started = time.perf_counter()
    outcome = program_optimum(program, SECONDS)
    tally.seconds.append(time.perf_counter() - started)
    tally.outcomes[word(outcome)] += 1
    if isinstance(outcome, Undecided) and outcome.cause == "not convex":
        return
    tally.complaints += [] if isinstance(outcome, Undecided) or holds(program, outcome) else [f"{word(outcome)} is not proven"]
    tally.complaints += against_floats(program, outcome) if ask_floats else []
    tally.complaints += [] if pivots_agree(program, outcome) else [f"{word(outcome)}, and pivots from elsewhere end otherwise"]
    found = enclosure(program, seconds=SECONDS)
    tally.ways[f"{found.lower_by} / {found.upper_by}"] += 1
    if isinstance(outcome, Optimum):
        inside = found.lower <= outcome.value <= found.upper
        tally.widths.append(float(found.upper - found.lower) / max(abs(float(outcome.value)), 1e-4))
    else:
        inside = (found.upper == inf or not isinstance(outcome, Infeasible)) and (found.lower == -inf or not isinstance(outcome, Unbounded))
    tally.complaints += [] if inside else [f"{word(outcome)} is not in the interval"]


def pivots_agree(program: Program, outcome: Outcome) -> bool:
    """Whether pivots from a face that has nothing to do with the optimum end in it, or in a ray, where they end in time."""
    rng = np.random.default_rng(program.n)
    x, y, z, s = (rng.random(size) for size in (program.n, len(program.b), len(program.h), len(program.h)))
    try:
        found = optimum_by_parametric_pivots(program, FloatSolution(x, y, z, s), Clock(PIVOT_SECONDS))
    except OutOfTime:
        return True
    if isinstance(outcome, Optimum):
        return isinstance(found, Pair) and program.objective(found.x) == outcome.value
    return not isinstance(found, Pair) or isinstance(outcome, Undecided)


def word(outcome: Outcome) -> str:
    """An outcome in words, for counting."""
    if isinstance(outcome, Optimum):
        return "optimal by pivots" if "pivots" in outcome.reason else "optimal, mended" if "mended" in outcome.reason else "optimal"
    return f"undecided ({outcome.cause})" if isinstance(outcome, Undecided) else type(outcome).__name__.lower()


def against_floats(program: Program, outcome: Outcome) -> Iterator[str]:
    """Where HiGHS or OSQP, which finds an optimum, contradicts an outcome; their other statuses are not believed.

    A quadratic program whose exact numbers have no lower bound by a rounding alone has an optimum in floats: that is no contradiction.
    """
    linear = not any(program.P.rows)
    value = highs_value(program) if linear else osqp_value(program)
    if value is None or isinstance(outcome, Undecided) or (isinstance(outcome, Unbounded) and not linear):
        return
    if not isinstance(outcome, Optimum):
        yield f"{word(outcome)}, and in floats the optimum is {value}"
    elif abs(float(outcome.value) - value) > FLOATS_AGREE * max(1.0, abs(value)):
        yield f"{float(outcome.value)} is optimal, and in floats the optimum is {value}"


def highs_value(program: Program) -> float | None:
    """HiGHS's optimum of a linear program; None where it says anything but optimal."""
    q, equal, ends = (np.array(v, dtype=np.float64) for v in (program.q, program.b, program.h))
    parts = (table(program.G), ends, table(program.A), equal)
    found = linprog(q, *(part if len(part) else None for part in parts), bounds=(None, None))
    return float(found.fun) + float(program.c) if found.status == 0 else None


def osqp_value(program: Program) -> float | None:
    """OSQP's optimum of a quadratic program; None where it says anything but solved."""
    q, equal, ends = (np.array(v, dtype=np.float64) for v in (program.q, program.b, program.h))
    rows = np.vstack([table(program.A), table(program.G), np.zeros((1, program.n))])
    low, high = np.concatenate([equal, np.full(len(ends), -np.inf), [0.0]]), np.concatenate([equal, ends, [0.0]])
    solver = osqp.OSQP()
    P = sparse.csc_matrix(np.triu(table(program.P)))
    solver.setup(P, q, sparse.csc_matrix(rows), low, high, eps_abs=1e-9, eps_rel=1e-9, max_iter=20_000, polishing=True, verbose=False)
    found = solver.solve(raise_error=False)
    return float(found.info.obj_val) + float(program.c) if found.info.status == "solved" else None


def table(M: Matrix) -> Array:
    """A matrix in floats."""
    out = np.zeros((M.height, M.width))
    for i, row in enumerate(M.rows):
        for j, v in row.items():
            out[i, j] = float(v)
    return out


def main(arguments: Sequence[str] | None = None, say: Callable[[str], None] = lambda line: print(line, flush=True)) -> int:
    """Draw, decide, judge, report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--examples", type=int, default=180, help="programs, over all kinds")
    options = parser.parse_args(arguments)
    started, names = time.perf_counter(), [make.__name__ for make in (*KINDS, *HARD)]
    tallies: dict[str, Tally] = {}
    for k, name in enumerate(names):
        count = options.examples // len(names) + (k < options.examples % len(names))
        cases = (drawn(k, (options.seed, k, i)) for i in range(count))
        tallies[name] = judged(cases, say, name)
    if maros_meszaros.FOLDER.is_dir():
        tallies["maros_meszaros"] = judged(((program, True) for _, program in maros_meszaros.problems()), say, "maros_meszaros")
    wrong = sum(len(tally.complaints) for tally in tallies.values())
    total = sum((tally.outcomes for tally in tallies.values()), Counter[str]())
    said = ", ".join(f"{count} {name}" for name, count in sorted(total.items()))
    say(f"{total.total()} programs, {wrong} wrong, {time.perf_counter() - started:.0f} s, seed {options.seed}: {said}")
    return 1 if wrong else 0


def judged(cases: Iterator[tuple[Program, bool]], say: Callable[[str], None], name: str) -> Tally:
    """All programs of a kind, decided and judged; one that ends in an error does not end the run."""
    tally = Tally()
    for number, (program, ask_floats) in enumerate(cases):
        before = len(tally.complaints)
        try:
            check(program, ask_floats, tally)
        except Exception as error:  # one program must not end the run
            tally.complaints.append(f"{type(error).__name__}: {error}")
        for complaint in tally.complaints[before:]:
            say(f"  ! {name} {number}: {complaint}")
    if tally.seconds:
        say(f"{name:<26} {tally}")
    return tally


if __name__ == "__main__":
    sys.exit(main())
