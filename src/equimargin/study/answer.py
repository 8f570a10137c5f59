"""One answer of a study: run through `compare`, timed, and converted to a row.

An answer that fails gets a row, too, with the reason.
"""

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
"""Columns of a row with the result of an answer, with their types in SQL.

As in a record of `compare`, plus the CPU seconds of everything except compilation.
"""
KEPT_PROBLEMS = 2
"""Number of problem sets that a process caches; a problem's answers are consecutive."""
DECLARING = 2.0
"""Total time of a backend's answer, in multiples of the time limit.

Declaring and compiling may take as long as solving.
"""


class ChangedData(ValueError):
    """The data have changed since the study was planned."""


_kept_data: dict[str, Data] = {}
_kept_problems: OrderedDict[tuple[Any, ...], list[Problem]] = OrderedDict()


def answer(
    asked: AnswerSpec, memory: int | None = None, data: Data | None = None
) -> dict[str, Any]:
    """Run one answer.

    Parameters
    ----------
    asked : AnswerSpec
        Requested answer.
    memory : int or None
        Memory limit in bytes, in addition to what the process has; None is unlimited.
    data : Data or None
        Rows, if another process has read them; by default this one reads them, once.

    Returns
    -------
    dict
        Row: the columns of ANSWER, the numbers of points and features, and
        "provenance", a record of versions and machine.

    Raises
    ------
    ChangedData
        If the file has changed since the study was planned.
    """
    for plugin in asked.plugins:
        load(plugin)
    computed_with = provenance(asked.plugins) | {"memory": memory}
    for library in LIBRARIES:
        import_module(library)
    rows = data if data is not None else load_rows(asked)
    started = clocks()
    row: dict[str, Any] = {"points": len(rows.y), "features": int(rows.X.shape[1])}
    try:
        problem = _problem(asked, rows)
        row["points"] = problem.m
        wanted = of_memory.estimate(problem, asked.formulation is not None)
        if memory is not None and wanted > memory:
            sizes = (
                f"about {of_memory.in_words(wanted)}, and --memory allows "
                f"{of_memory.in_words(memory)}"
            )
            row |= _not_solved("too_large", "skipped", f"not begun: it takes {sizes}")
        else:
            with of_memory.limited(memory):
                row |= _compared(asked, problem)
    except MemoryError:
        limit = "the memory" if memory is None else f"--memory {of_memory.in_words(memory)}"
        row |= _not_solved("too_large", "failed", f"stopped: {limit} was not enough")
    # Any other exception is an answer of the study, too: the next one must still run.
    except Exception as failure:
        row |= _not_solved("numerical_failure", "failed", f"{type(failure).__name__}: {failure}")
    cpu, wall, compiling = (after - before for before, after in zip(started, clocks(), strict=True))
    row["cpu_seconds"] = cpu * max(wall - compiling, 0.0) / wall if wall else cpu
    return row | {"provenance": computed_with}


def died(asked: AnswerSpec, times: int, memory: int | None = None) -> dict[str, Any]:
    """Return the row of an answer at which MOST_DEATHS processes crashed.

    A study does not retry it without more memory.

    Parameters
    ----------
    asked : AnswerSpec
        Requested answer.
    times : int
        Number of crashes.
    memory : int or None
        Memory limit of the answer, in bytes; None is unlimited.
    """
    reason = f"the process that ran it crashed, {times} times"
    return _not_solved("numerical_failure", "failed", reason) | {
        "provenance": provenance(asked.plugins) | {"memory": memory}
    }


def _compared(asked: AnswerSpec, problem: Problem) -> dict[str, Any]:
    """Return the record of `compare` for one answer."""
    declared = asked.formulation is not None
    comparison = compare(
        problem,
        formulations=asked.formulation or "*",
        solvers=asked.solver,
        tol=asked.tol,
        time_limit=asked.time_limit,
        total_time=DECLARING * asked.time_limit if declared else None,
        patient=True,
    )
    for family in comparison.families:
        for judgement in family.judgements:
            values = record(family, judgement) | {"reason": judgement.ground}
            return {name: values[name] for name in ANSWER if name in values}
    return _not_solved("time_limit", "skipped", f"{comparison.interrupted} before it began")


def _not_solved(status: str, agreement: str, reason: str) -> dict[str, Any]:
    """Return the row of an answer without figures."""
    return {"status": status, "ok": False, "agreement": agreement, "reason": reason}


def load_rows(asked: AnswerSpec) -> Data:
    """Return the data of an answer, read once per process.

    Parameters
    ----------
    asked : AnswerSpec
        Requested answer.

    Raises
    ------
    ChangedData
        If the file has changed since the study was planned.
    """
    if asked.digest not in _kept_data:
        rows = loaded(asked.data)
        digest = digest_data(rows)
        if digest != asked.digest:
            advice = "repeat the command with --resume, which plans the study anew"
            raise ChangedData(
                f"{asked.data.source} has changed since the study was planned; {advice}"
            )
        _kept_data[asked.digest] = rows
    return _kept_data[asked.digest]


def _problem(asked: AnswerSpec, rows: Data) -> Problem:
    """Return the problem of an answer, cached while answers of it are consecutive."""
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
    """Return the versions, code digest, machine and threads of this process.

    Parameters
    ----------
    plugins : tuple of str
        Plug-ins that belong to the code.
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
    """Return a digest of all modules of the package and of the plug-ins."""
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
    """Return the name of the processor, if the operating system provides it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8", errors="replace").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
