"""Comparison of formulations and solvers on the user's problem.

An answer is what one solver, or one backend for one formulation, returns. Every answer
is examined as it arrives, and every family gets a verdict. `schedule` determines the
order of the answers and their time limits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from math import inf
from typing import Any, Unpack

from equimargin.comparison.choice import Choice
from equimargin.comparison.family_progress import FamilyProgress
from equimargin.comparison.schedule import Schedule
from equimargin.data import Data, load
from equimargin.data.formats.frames import is_frame
from equimargin.formulations import REGISTRY
from equimargin.formulations.problem import AnyProblem
from equimargin.problems import make_problems_from_arrays, make_problems_from_data
from equimargin.proofs.referee import find_available_answers
from equimargin.report.comparison import Comparison
from equimargin.request import CompareOptions, ComparisonRequest, ProblemOptions
from equimargin.solvers import Solver
from equimargin.solvers.registry import DEVICE_SOLVERS, on_device
from equimargin.solvers.solution import PROCESSOR

__all__ = [
    "CompareOptions",
    "Comparison",
    "ComparisonRequest",
    "compare",
    "comparisons",
    "run_request",
]

REQUESTED = {field.name for field in fields(ComparisonRequest)}
"""Names of the arguments of the request."""
POSED = {"y", *ProblemOptions.__annotations__}
"""Names of the arguments from which the problems of X are made."""
BEHIND_PROBLEMS = ("formulations", "solvers", "tol", "agree_tol")
"""Names of the positional arguments after problems, in order."""
BEHIND_FEATURES = ("y",)
"""Names of the positional arguments after X."""


def compare(
    problem: Any,
    *more: Any,
    progress: Callable[[Comparison], object] = lambda found: None,
    **how: Unpack[CompareOptions],
) -> Comparison:
    """Solve a problem by formulations, backends and solvers, and check every answer.

        compare(problem)
        compare(problem, formulations, solvers, tol, agree_tol)
        compare(X, y)
        compare(X, y, qid=qid)
        compare(load(file))

    Parameters
    ----------
    problem : AnyProblem, sequence of AnyProblem, array-like of shape (m, d), Data or data frame
        One problem, or several; each is a family. Or features X followed by y, for all
        families of their task. Or the result of `equimargin.data.load`, or a data frame
        that it accepts.
    progress : callable, optional
        Function called with the comparison so far, before the first answer and after
        each.
    *more : object
        After problems: formulations, solvers, tol and agree_tol; after X: y. All may be
        passed by name instead.
    **how : object
        Keyword arguments of `CompareOptions`.

    Returns
    -------
    Comparison
        Result with `.agree`, `.families`, `.answers` and `.to_json()`; printing it
        shows a report. `.interrupted` is set if `total_time` ended before all answers.

    Raises
    ------
    ValueError
        If a pattern matches nothing, or a tolerance or limit is not positive.
    TypeError
        If an argument is unknown.
    """
    for found in comparisons(problem, *more, **how):
        progress(found)
    return found


def comparisons(problem: Any, *more: Any, **how: Unpack[CompareOptions]) -> Iterator[Comparison]:
    """Yield the comparison before the first answer and after each; `compare` returns the last.

    Parameters and errors are those of `compare`; errors of arguments are raised at
    once.

    Parameters
    ----------
    problem, more, how : object
        As in `compare`.

    Yields
    ------
    Comparison
        Comparison so far.
    """
    named = _named(problem, more, how)
    request = ComparisonRequest(
        **{name: value for name, value in named.items() if name in REQUESTED}
    )
    return run_request(
        _problems(problem, {name: value for name, value in named.items() if name in POSED}), request
    )


def run_request(problems: Sequence[AnyProblem], request: ComparisonRequest) -> Iterator[Comparison]:
    """Return the comparisons of problems for a request, as `comparisons` does.

    Parameters
    ----------
    problems : sequence of AnyProblem
        Problems, one per family.
    request : ComparisonRequest
        Options of the comparison.

    Returns
    -------
    iterator of Comparison
        Comparisons so far, one per answer.

    Raises
    ------
    ValueError
        If a pattern matches nothing, none of the choices applies to any problem, or the
        device is missing.
    """
    # The total time includes the planning.
    started = time.perf_counter()
    choice = Choice.of(request.formulations, [*request.wanted, *_of_device(request.device)])
    total = inf if request.total_time is None else request.total_time
    meant = [
        problem.proven.proven_within(request.time_limit, total)
        for problem in _meant(problems, choice.ids)
    ]
    planned = [
        (problem, choice.jobs(problem, request.tol, request.include_controls)) for problem in meant
    ]
    families = [
        FamilyProgress(problem, jobs, request.agree_tol, find_available_answers(problem))
        for problem, jobs in planned
        if jobs
    ]
    if not families:
        raise ValueError(
            f"none of the chosen formulations and solvers is for "
            f"{', '.join(problem.family for problem in problems)}"
        )
    settings: dict[str, Any] = {
        name: getattr(request, name)
        for name in ("tol", "agree_tol", "time_limit", "total_time", "patient")
    }
    settings |= {"formulations": sorted(choice.ids), "solvers": [*choice.backends, *choice.solvers]}
    jobs = [job for family in families for job in family.jobs]
    left_out = tuple(choice.left_out(meant, jobs, request.formulations))
    return Schedule(families, request, choice.asked, settings, left_out, started).comparisons()


def _of_device(device: str) -> Iterator[Solver]:
    """Yield the solvers that run on a device, which must exist; none for the processor."""
    if device == PROCESSOR:
        return
    # Imported here: a comparison on the processor does not need it.
    from equimargin.solvers.device.method import use_device

    with use_device(device):
        yield from (on_device(name, device) for name in DEVICE_SOLVERS)


def _named(first: Any, more: Sequence[Any], how: Mapping[str, Any]) -> dict[str, Any]:
    """Return all arguments by name, including positional ones.

    Raises
    ------
    TypeError
        If an argument is unknown to `compare`, there are too many, or one is given
        twice.
    """
    known = POSED | REQUESTED
    unknown = how.keys() - known
    if unknown:
        raise TypeError(
            f"compare takes no argument {', '.join(sorted(unknown))}; it takes "
            f"{', '.join(sorted(known))}"
        )
    several = (
        isinstance(first, Sequence)
        and len(first) > 0
        and all(isinstance(item, AnyProblem) for item in first)
    )
    places = BEHIND_PROBLEMS if several or isinstance(first, AnyProblem | Data) else BEHIND_FEATURES
    if len(more) > len(places):
        raise TypeError(
            f"after {'problems' if places is BEHIND_PROBLEMS else 'X'} compare takes "
            f"{', '.join(places)}; pass all else by name"
        )
    by_place = dict(zip(places, more, strict=False))
    twice = sorted(by_place.keys() & how.keys())
    if twice:
        raise TypeError(
            f"compare received {' and '.join(twice)} by position and by name; leave out one of them"
        )
    return {**how, **by_place}


def _problems(given: Any, data: dict[str, Any]) -> list[AnyProblem]:
    """Return the problems that were passed, or those of arrays or loaded data."""
    if "y" in data:
        return [*make_problems_from_arrays(given, data.pop("y"), **data)]
    if is_frame(given):
        given = load(given, task=data.pop("task", None))
    if isinstance(given, Data):
        _check_loaded(given, data)
        return [*make_problems_from_data(given, **data)]
    problems: list[Any] = (
        [given]
        if isinstance(given, AnyProblem)
        else list(given)
        if isinstance(given, Iterable)
        else []
    )
    if data or not problems or not all(isinstance(problem, AnyProblem) for problem in problems):
        raise ValueError(
            "compare takes a problem, several problems, loaded data, a data frame, or "
            "arrays: compare(X, y), optionally with task, qid or kernel"
        )
    return problems


def _check_loaded(data: Data, named: Mapping[str, Any]) -> None:
    """Refuse loaded data with an unclear task, a task named twice, or ordinal regression."""
    again = sorted({"task", "qid"} & named.keys())
    if again:
        raise ValueError(
            f"{again[0]} is fixed by the loaded data; pass it to load(...), not to compare"
        )
    if data.origin.question:
        raise ValueError(
            f"the target of {data.name} has {data.origin.question} Name the task in "
            f"load(..., task=...)"
        )
    if data.task == "ordinal":
        raise ValueError(
            "compare takes no ordinal regression in Python; run `equimargin compare FILE "
            "--task ordinal`"
        )


def _meant(problems: Sequence[AnyProblem], ids: Sequence[str]) -> list[AnyProblem]:
    """Return the problems with a chosen formulation; all if there is none, or all are chosen."""
    families = (
        {REGISTRY[id].family for id in ids}
        if len(ids) < len(REGISTRY)
        else {problem.family for problem in problems}
    )
    return [problem for problem in problems if problem.family in families] or list(problems)
