"""One answer of a study: run through `compare`, timed, and made a row. Whatever goes wrong with it is an answer, too, with its reason."""

from __future__ import annotations

import platform
from collections import OrderedDict
from functools import cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

from joblib import cpu_count

from equimargin import __version__, formulations, proofs, solvers
from equimargin.comparison import compare
from equimargin.comparison.job_result import clocks
from equimargin.data import Data
from equimargin.formulations import Problem
from equimargin.own.plugins import find_sources, load
from equimargin.report.records import LIBRARIES, record, versions
from equimargin.study import memory as of_memory
from equimargin.study.grid import AnswerSpec, digest_data, loaded, make_problems_from_plan

ANSWER = {
    "status": "TEXT",
    "ok": "INTEGER",
    "agreement": "TEXT",
    "value": "REAL",
    "claim": "REAL",
    "off": "REAL",
    "accuracy": "REAL",
    "lower": "REAL",
    "upper": "REAL",
    "relative_width": "REAL",
    "iterations": "INTEGER",
    "reason": "TEXT",
    "compile_seconds": "REAL",
    "solve_seconds": "REAL",
    "cpu_seconds": "REAL",
}
"""What a row says of an answer, each with its type in SQL: as a record of `compare`, and the CPU seconds of all of it but compiling."""
KEPT_PROBLEMS = 2
"""Sets of problems that a process keeps: answers of one problem come one behind the other."""
DECLARING = 2.0
"""Time limits that an answer of a backend may take in all: declaring and compiling may take as long as solving."""


class ChangedData(ValueError):
    """Data that are no longer those that the study was planned with."""


_kept_data: dict[str, Data] = {}
_kept_problems: OrderedDict[tuple[Any, ...], list[Problem]] = OrderedDict()


def answer(
    asked: AnswerSpec, memory: int | None = None, data: Data | None = None
) -> dict[str, Any]:
    """Run one answer.

    Parameters
    ----------
    memory : int | None
        Bytes that it may take beside what the process has; None for any.
    data : Data | None
        The rows, where another process has read them; by default this one reads them,
        once.

    Returns
    -------
    A row: what ANSWER lists, the numbers of points and features, and "provenance", a record of what it was computed with.

    Raises
    ------
    ChangedData
        The file has changed since the study was planned.
    """
    for plugin in asked.plugins:
        load(plugin)
    computed_with = provenance(asked.plugins) | {"memory": memory}
    for library in LIBRARIES:
        import_module(library)
    rows = data if data is not None else load_rows(asked)
    started = clocks()
    found: dict[str, Any] = {"points": len(rows.y), "features": int(rows.X.shape[1])}
    try:
        problem = _problem(asked, rows)
        found["points"] = problem.m
        wanted = of_memory.estimate(problem, asked.formulation is not None)
        if memory is not None and wanted > memory:
            much = (
                f"about {of_memory.in_words(wanted)}, and --memory allows "
                f"{of_memory.in_words(memory)}"
            )
            found |= _not_solved("too_large", "skipped", f"not begun: it takes {much}")
        else:
            with of_memory.limited(memory):
                found |= _compared(asked, problem)
    except MemoryError:
        limit = "the memory" if memory is None else f"--memory {of_memory.in_words(memory)}"
        found |= _not_solved("too_large", "failed", f"stopped: {limit} was not enough")
    except Exception as failure:
        found |= _not_solved("numerical_failure", "failed", f"{type(failure).__name__}: {failure}")
    cpu, wall, compiling = (after - before for before, after in zip(started, clocks(), strict=True))
    found["cpu_seconds"] = cpu * max(wall - compiling, 0.0) / wall if wall else cpu
    return found | {"provenance": computed_with}


def died(asked: AnswerSpec, times: int, memory: int | None = None) -> dict[str, Any]:
    """The row of an answer at which MOST_DEATHS processes have died: a study does not try it again with no more memory."""
    said = f"the process that was at work on it died, {times} times"
    return _not_solved("numerical_failure", "failed", said) | {
        "provenance": provenance(asked.plugins) | {"memory": memory}
    }


def _compared(asked: AnswerSpec, problem: Problem) -> dict[str, Any]:
    """What `compare` says of the answer by itself."""
    declared = asked.formulation is not None
    found = compare(
        problem,
        formulations=asked.formulation or "*",
        solvers=asked.solver,
        tol=asked.tol,
        time_limit=asked.time_limit,
        total_time=DECLARING * asked.time_limit if declared else None,
        patient=True,
    )
    for family in found.families:
        for judgement in family.judgements:
            told = record(family, judgement) | {"reason": judgement.ground}
            return {name: told[name] for name in ANSWER if name in told}
    return _not_solved("time_limit", "skipped", f"{found.interrupted} before it began")


def _not_solved(status: str, agreement: str, reason: str) -> dict[str, Any]:
    """The row of an answer without figures."""
    return {"status": status, "ok": False, "agreement": agreement, "reason": reason}


def load_rows(asked: AnswerSpec) -> Data:
    """The data of an answer, read once by this process.

    Raises
    ------
    ChangedData
        The file has changed since the study was planned.
    """
    if asked.digest not in _kept_data:
        rows = loaded(asked.data)
        found = digest_data(rows)
        if found != asked.digest:
            again = "give the command again with --resume, which plans it anew"
            raise ChangedData(
                f"{asked.data.source} has changed since the study was planned; {again}"
            )
        _kept_data[asked.digest] = rows
    return _kept_data[asked.digest]


def _problem(asked: AnswerSpec, rows: Data) -> Problem:
    """The problem of an answer, made once by this process as long as its answers come one behind the other."""
    kernel = (asked.kernel.name, *sorted(asked.kernel.given.items()))
    key = (
        asked.digest,
        asked.data.sample,
        asked.data.scale,
        asked.epsilon,
        asked.seed,
        kernel,
        asked.C,
    )
    if key not in _kept_problems:
        _kept_problems[key] = make_problems_from_plan(
            rows, asked.data, asked.seed, asked.kernel, asked.C
        )
        while len(_kept_problems) > KEPT_PROBLEMS:
            _kept_problems.popitem(last=False)
    return next(problem for problem in _kept_problems[key] if problem.family == asked.family)


@cache
def provenance(plugins: tuple[str, ...] = ()) -> dict[str, Any]:
    """What this process computes with: versions, a digest of the code, the machine, and the threads of linear algebra.

    Parameters
    ----------
    plugins : tuple[str, ...]
        The plug-ins that belong to the code.
    """
    return {
        "equimargin": __version__,
        "code": _digest_of_code(plugins),
        **versions(),
        "system": platform.platform(),
        "machine": platform.node(),
        "processor": _processor(),
        "processors": cpu_count(),
        "threads": 1,
    }


def _digest_of_code(plugins: tuple[str, ...]) -> str:
    """A digest of all modules of the package and of the plug-ins."""
    digest = sha256()
    floors = [Path(str(floor.__file__)).parent for floor in (formulations, solvers, proofs)]
    for folder in (Path(__file__).parents[1], *floors):
        for source in sorted(folder.rglob("*.py")):
            digest.update(f"\n{source.relative_to(folder).as_posix()} ".encode())
            digest.update(source.read_bytes())
    for source in (source for plugin in plugins for source in find_sources(plugin)):
        digest.update(f"\n{source.name} ".encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _processor() -> str:
    """The name of the processor, as far as the operating system says it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(errors="replace").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
