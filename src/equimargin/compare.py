"""Comparisons of formulations and solvers on a user's own problem: every answer is judged, and every family gets a verdict."""

from __future__ import annotations

import io
import json
import os
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from equimargin import __version__
from equimargin.families import HowToPose, families_of
from equimargin.formulations import REGISTRY, Problem, declare
from equimargin.formulations.numeric.arguments import number
from equimargin.formulations.problem import CanonicalProblem
from equimargin.proofs import Agreement, Evidence, Family, Verdict, examine, examine_solution, judge
from equimargin.proofs.certificate import best_point, certificate_at, write
from equimargin.proofs.referee import failed, skipped, ways
from equimargin.report import closing_lines, record, solved, summary, table
from equimargin.solvers import BACKENDS, SOLVERS, Status, solve, solve_declaration

ACCURATE = "CLARABEL"
"""The name of the backend that runs the controls: a misprint must be solved accurately to be refuted."""


class Labelled(HowToPose, total=False):
    """What belongs to X where it is compared instead of a problem.

    y : (m,) labels, targets or relevances.
    """

    y: ArrayLike


@dataclass(frozen=True)
class Job:
    """One answer that is wanted: a declaration solved by a backend, or a specialised solver (formulation None).

    module : the module whose import registers the formulation or the solver, for a process that does not know it yet.
    control : whether the formulation is wrong on purpose.
    """

    problem: Problem
    formulation: str | None
    solver: str
    tol: float
    time_limit: float
    module: str = "equimargin.solvers"
    control: bool = False

    def run(self) -> Evidence:
        """Solve and examine. A job that cannot be run is skipped with its reason, and an exception makes a failed answer."""
        try:
            return self._examined()
        except Exception as failure:
            return failed(self.problem.family, self.formulation, self.solver, self.control, failure)

    def _examined(self) -> Evidence:
        self._enter()
        entry = None if self.formulation is None else REGISTRY[self.formulation]
        refusal = SOLVERS[self.solver].refusal(self.problem) if entry is None else entry.refusal(self.problem)
        if refusal is not None:
            status = Status.TOO_LARGE if refusal.too_large else Status.UNSUPPORTED
            return skipped(self.problem.family, self.formulation, self.solver, self.control, status, str(refusal))
        if entry is None:
            return examine_solution(self.problem, solve(self.problem, self.solver, tol=self.tol, time_limit=self.time_limit))
        started = time.perf_counter()
        try:
            declared = declare(entry.id, self.problem)
        except ValueError as failure:
            return skipped(self.problem.family, entry.id, self.solver, self.control, Status.NUMERICAL_FAILURE, str(failure))
        declaring = time.perf_counter() - started
        answer = solve_declaration(declared, self.solver, self.tol, self.time_limit)
        return examine(self.problem, replace(answer, compile_seconds=answer.compile_seconds + declaring), self.control)

    def _enter(self) -> None:
        """Register the formulation or the solver by importing its module: another process knows only those of the project.

        Raises
        ------
        LookupError : importing the module does not register it.
        """
        name = self.formulation or self.solver
        known: Container[str] = REGISTRY if self.formulation else SOLVERS
        if name not in known:
            with suppress(ImportError):
                import_module(self.module)
        if name not in known:
            where = f"{name} is not entered by importing {self.module} in another process"
            raise LookupError(f"{where}: put it into a module that can be imported there, or run one job at a time")


@dataclass(frozen=True, eq=False)
class Comparison:
    """The result of `compare`: the families with their judgements. Printing it shows the tables.

    families : one verdict each.  problems : one for every family, in the same order.  data, settings : what was compared, for the record.
    """

    families: tuple[Family, ...]
    problems: tuple[Problem, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def agree(self) -> bool:
        """Whether every family's verdict is agree and nothing that was run disagrees, controls included."""
        return bool(self.families) and self.exit_code == 0

    @property
    def exit_code(self) -> int:
        """0 every verdict is agree; 1 something disagrees, a control included; 3 nothing was solved; 4 a family is undecided."""
        judgements = [j for family in self.families for j in family.judgements]
        if any(j.agreement is Agreement.DISAGREES for j in judgements):
            return 1
        if not any(solved(j) for j in judgements):
            return 3
        return 4 if any(family.verdict is not Verdict.AGREE for family in self.families) else 0

    @property
    def answers(self) -> list[dict[str, Any]]:
        """One flat record an answer, finite numbers or None."""
        return [record(family, j) for family in self.families for j in family.judgements]

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, schema 1."""
        return {
            "schema": 1,
            "equimargin": __version__,
            "data": dict(self.data),
            "settings": {name: str(v) if isinstance(v, float) and not np.isfinite(v) else v for name, v in self.settings.items()},
            "answers": self.answers,
            "families": [summary(family) for family in self.families],
            "agree": self.agree,
        }

    def certify(self, folder: str | os.PathLike[str]) -> dict[str, Path | str]:
        """Write a certificate of every family, FAMILY.json, from the best points of its answers.

        Returns
        -------
        The file of every family, or the sentence why it has none: its answers prove nothing, its kernel is not positive semidefinite,
        it is too large.

        Raises
        ------
        OSError : the folder cannot be made, or a file cannot be written.
        """
        Path(folder).mkdir(parents=True, exist_ok=True)
        outcome: dict[str, Path | str] = {}
        for problem, family in zip(self.problems, self.families, strict=True):
            path = Path(folder) / f"{family.id}.json"
            try:
                write(certificate_at(problem, best_point(problem, family)), path)
                outcome[family.id] = path
            except ValueError as reason:
                outcome[family.id] = str(reason)
        return outcome

    def to_json(self) -> str:
        """All of it as JSON text, schema 1."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False)

    def to_csv(self) -> str:
        """The answers as CSV text with a header."""
        import csv

        text = io.StringIO()
        answers = self.answers
        writer = csv.DictWriter(text, list(answers[0]) if answers else ["family"])
        writer.writeheader()
        writer.writerows(answers)
        return text.getvalue()

    def __str__(self) -> str:
        from rich.console import Console

        console = Console(file=io.StringIO(), width=150, color_system=None, force_terminal=False)
        self.show(console)
        return str(console.file.getvalue())  # type: ignore[attr-defined]

    def show(self, console: Any) -> None:
        """Print the table of every family, its proven interval and its verdict to a rich console."""
        for family in self.families:
            console.print(table(family))
            for line in closing_lines(family):
                console.print(line, highlight=False, markup=False)
            console.print()


def compare(
    problem: Problem | Sequence[Problem] | Any,
    formulations: str | Sequence[str] = "*",
    solvers: str | Sequence[str] = "*",
    tol: float = 1e-8,
    agree_tol: float = 1e-6,
    time_limit: float = 60.0,
    jobs: int = 1,
    include_controls: bool = False,
    progress: Callable[[int, int, str], None] | None = None,
    **data: Unpack[Labelled],
) -> Comparison:
    """Solve a problem's formulations by several backends and specialised solvers, and judge every answer.

    Parameters
    ----------
    problem : one problem, or several; each is a family. Or X, (m, d) features, with `y=`; then all families of the task are compared.
    formulations, solvers : names or patterns with * and ?. A backend that is weak on a kind of program (OSQP on linear, HIGHS on quadratic
        ones) takes part there only if it is asked for by its full name.
    tol : relative accuracy asked of every solver.  agree_tol : relative tolerance of the referee.  time_limit : seconds an answer.
    jobs : processes; -1 is all cores. Above 1, formulations and solvers of one's own must be entered by modules that other processes can
        import; the answers of those that are not are failed ones, and say so.
    include_controls : also declare the formulations that are wrong on purpose.
    progress : called with (done, total, what was just done).
    data : y, (m,) labels, targets or relevances, where the problem is X; and task, qid, C, kernel and epsilon, as in `families_of`.

    Returns
    -------
    Comparison : `.agree`, `.families`, `.answers`, `.to_json()`, and a table when printed.

    Raises
    ------
    ValueError : a pattern that matches nothing, a tolerance or limit that is not positive.
    """
    for name, limit in (("tol", tol), ("agree_tol", agree_tol), ("time_limit", time_limit)):
        number(limit, name, "a positive, finite number", lambda v: 0 < v < np.inf)
    tol, agree_tol, time_limit = float(tol), float(agree_tol), float(time_limit)
    problems = _problems(problem, data)
    ids = _matching(formulations, REGISTRY, "formulation")
    names = _matching(solvers, [*BACKENDS, *SOLVERS], "solver")
    asked = {name.upper() for name in ([solvers] if isinstance(solvers, str) else solvers)}
    planned = [list(_jobs(p, ids, _suited(p, names, asked), tol, time_limit, include_controls)) for p in problems]
    total = sum(map(len, planned))
    if not total:
        raise ValueError(f"none of the chosen formulations and solvers is for {', '.join(p.family for p in problems)}")
    evidence = []
    for done, (job, found) in enumerate(_run([job for group in planned for job in group], jobs), start=1):
        evidence.append(found)
        if progress is not None:
            progress(done, total, f"{job.formulation or 'solver'} by {job.solver}")
    families, start = [], 0
    for p, group in zip(problems, planned, strict=True):
        families.append(judge(p.family, evidence[start : start + len(group)], p.scale, agree_tol, p.convex, ways(p)))
        start += len(group)
    settings = {"tol": tol, "agree_tol": agree_tol, "time_limit": time_limit, "formulations": sorted(ids), "solvers": names}
    return Comparison(tuple(families), tuple(problems), settings=settings)


def _problems(given: Any, data: Labelled) -> list[Problem]:
    """The problems that were given, or those of the arrays X and y that were."""
    if "y" in data:
        how: dict[str, Any] = {**data}
        return families_of(given, how.pop("y"), **how)
    problems: list[Any] = [given] if isinstance(given, CanonicalProblem) else list(given)
    if data or not all(isinstance(problem, CanonicalProblem) for problem in problems):
        raise ValueError("compare takes a problem, several problems, or arrays: compare(X, y=y), with a task, qid or kernel if need be")
    return problems


def _jobs(problem: Problem, ids: Sequence[str], names: Sequence[str], tol: float, time_limit: float, controls: bool) -> Iterator[Job]:
    """The answers that are wanted for one family, controls last."""
    entries = [REGISTRY[id] for id in ids if REGISTRY[id].family == problem.family]
    for entry in entries:
        if not entry.control:
            module = entry.builder.__module__
            yield from (Job(problem, entry.id, name, tol, time_limit, module) for name in names if name in BACKENDS)
    for name in names:
        if name in SOLVERS and SOLVERS[name].takes(problem.family):
            yield Job(problem, None, name, tol, time_limit, SOLVERS[name].module)
    if controls:
        wrong = (entry for entry in entries if entry.control)
        yield from (Job(problem, entry.id, ACCURATE, tol, time_limit, entry.builder.__module__, control=True) for entry in wrong)


def _suited(problem: Problem, names: Sequence[str], asked: set[str]) -> list[str]:
    """The solvers without the backends that are weak on this kind of problem, unless they are asked for by name."""
    return [name for name in names if name not in BACKENDS or name in asked or BACKENDS[name].suited in ("any", problem.kind)]


def _run(jobs: Sequence[Job], processes: int) -> Iterator[tuple[Job, Evidence]]:
    if processes == 1:
        yield from ((job, job.run()) for job in jobs)
        return
    from joblib import Parallel, delayed

    found = Parallel(n_jobs=processes, return_as="generator")(delayed(job.run)() for job in jobs)
    yield from zip(jobs, found, strict=True)


def _matching(patterns: str | Sequence[str], known: Iterable[str], what: str) -> list[str]:
    """The known names that match any of the patterns, in their own order; upper and lower case are the same."""
    wanted = [patterns] if isinstance(patterns, str) else list(patterns)
    names = list(known)
    for pattern in wanted:
        if not any(fnmatchcase(name.lower(), pattern.lower()) for name in names):
            raise ValueError(f"unknown {what} {pattern!r}; known: {', '.join(names)}")
    return [name for name in names if any(fnmatchcase(name.lower(), pattern.lower()) for pattern in wanted)]
