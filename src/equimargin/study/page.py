"""The page of a study: its problems with their proven optima, how the solvers compare, what failed and why, and every answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

from equimargin.report.cell import Cell
from equimargin.report.pages.drawing import PICTURE_WIDTH, Picture, across, curve, line, upwards
from equimargin.report.pages.rendering import rendered
from equimargin.report.pages.scales import LinearScale, LogarithmicScale
from equimargin.report.sentences import proven_digits
from equimargin.study.summary import Progress, StudiedProblem, data_key, labels

LEFT, RIGHT, TOP, BOTTOM = 46.0, PICTURE_WIDTH - 14, 30.0, 300.0
"""Units at the edges of the picture."""
COLOURS, DASHES = 6, 4
"""Colours and patterns of lines of the style sheet; each solver has one of each."""
SHORTEST = 1e-3
"""Seconds of CPU time: shorter ones count as this much, because the clock of a process tells them apart no more."""
SECONDS = ".4f"
"""How CPU seconds are written: tenths of a millisecond, one below the other; what differs by less is noise of the clock."""
CAPTION = (
    "Higher is better. A line shows on what share of the problems that a solver was put to "
    "it has a solved answer within a factor of the "
    "fastest one's CPU time, that of declaring, solving and proving, without compiled "
    "kernels. Of a backend its fastest formulation "
    "counts. At the left is how often it is the fastest, at the right how often it solves a "
    "problem at all. (A performance profile: "
    "E. D. Dolan and J. J. Moré, 2002.)"
)
"""How the picture is read."""
PROBLEMS = (
    *(
        ("data", True),
        ("seed", False),
        ("kernel", True),
        ("C", False),
        ("family", True),
        ("optimum", False),
        ("digits", False),
    ),
    *(("width", False), ("solved", False), ("fastest", True), ("CPU s", False)),
)
"""The columns of the table of problems, and whether they hold words."""
ANSWERS = (
    *(
        ("data", True),
        ("seed", False),
        ("kernel", True),
        ("C", False),
        ("family", True),
        ("formulation", True),
        ("solver", True),
    ),
    *(
        ("agreement", True),
        ("status", True),
        ("value", False),
        ("width", False),
        ("CPU s", False),
        ("why not solved", True),
    ),
)
"""The columns of the table of answers."""


def study_page(
    about: Mapping[str, str],
    progress: Progress,
    records: Sequence[dict[str, Any]],
    problems: Sequence[StudiedProblem],
    computed_with: Sequence[Mapping[str, Any]],
    versions: Mapping[str, str],
    command: str = "",
) -> str:
    """The text of the page.

    Parameters
    ----------
    about : Mapping[str, str]
        The name and the plan of the study.
    computed_with : Sequence[Mapping[str, Any]]
        The provenances of the answers.
    versions : Mapping[str, str]
        Of what the page is written with.
    command : str
        What writes it again in a shell.
    """
    kind, sentence = verdict(progress, problems)
    names = labels(map(data_key, records))
    return rendered(
        "study.html",
        command,
        {},
        versions,
        name=about.get("name", ""),
        read_as="",
        kind=kind,
        verdict=sentence,
        how_far=progress.sentence,
        against=[
            _named(problem, names[data_key(problem.terms)])
            for problem in problems
            if problem.against
        ],
        picture=profile(problems),
        problem_columns=PROBLEMS,
        problems=[[*_problem_row(problem, names[data_key(problem.terms)])] for problem in problems],
        answer_columns=ANSWERS,
        answers=[[*_answer_row(row, names[data_key(row)])] for row in records],
        reasons=[*_reasons(records)],
        computed_with=[*_computed_with(computed_with)],
        plan=about.get("plan", ""),
    )


def verdict(progress: Progress, problems: Sequence[StudiedProblem]) -> tuple[str, str]:
    """The verdict on a study in a word (agree, disagree, undecided or unfinished) and in a sentence."""
    against = sum(problem.against for problem in problems)
    proven = sum(isfinite(problem.interval.relative_width) for problem in problems)
    of_all = f"{len(problems)} problem{'s' * (len(problems) != 1)}"
    if against:
        return (
            "disagree",
            f"Answers to {against} of {of_all} contradict each other, or what they prove "
            f"themselves.",
        )
    if not progress.complete:
        return (
            "unfinished",
            f"Not finished: {progress.total('answered')} of {progress.total('asked')} "
            f"answers are there.",
        )
    if proven < len(problems):
        return (
            "undecided",
            f"The optimum of {proven} of {of_all} is enclosed by proven bounds; nothing "
            f"contradicts them.",
        )
    return (
        "agree",
        f"The optimum of every one of {of_all} is enclosed by proven bounds, and nothing "
        f"contradicts them.",
    )


def profile(problems: Sequence[StudiedProblem]) -> Picture | None:
    """The performance profile of all solvers; None where nothing was solved."""
    ratios = _ratios(problems)
    known = [ratio for found in ratios.values() for ratio in found if isfinite(ratio)]
    if not known:
        return None
    x = LogarithmicScale.of([1.0, *known], LEFT, RIGHT)
    y = LinearScale(0.0, 1.0, BOTTOM, TOP)
    elements = [
        *across(x, TOP, BOTTOM, "factor of the fastest CPU time"),
        *upwards(y, LEFT, RIGHT, "share of problems"),
    ]
    legend = []
    said = []
    for k, (solver, found) in enumerate(
        sorted(ratios.items(), key=lambda each: -_share(each[1], 1.0))
    ):
        style = f"c{k % COLOURS} dash{k // COLOURS % DASHES}"
        words = (
            f"{solver}: fastest on {_share(found, 1.0):.0%} of {len(found)} problems, solves "
            f"{_share(found, float('inf')):.0%}"
        )
        elements.append(curve([*_steps(found, x, y)], style, words))
        legend.append((line(0, 8, 16, 8, f"curve {style}"), solver))
        said.append(words)
    return Picture(
        "profile",
        "How near each solver is to the fastest",
        "; ".join(said),
        BOTTOM + 34,
        elements,
        CAPTION,
        legend,
    )


def _ratios(problems: Sequence[StudiedProblem]) -> dict[str, list[float]]:
    """Of every solver and each problem that it was put to: its CPU time over that of the fastest; inf where it has not solved it."""
    found: dict[str, list[float]] = {}
    for problem in problems:
        times: dict[str, float] = {}
        for row in problem.answers:
            if row["agreement"] != "skipped":
                seconds = max(row["cpu_seconds"] or 0.0, SHORTEST) if row["ok"] else float("inf")
                times[row["solver"]] = min(times.get(row["solver"], float("inf")), seconds)
        best = min(times.values(), default=float("inf"))
        for solver, seconds in times.items():
            found.setdefault(solver, []).append(
                seconds / best if isfinite(seconds) else float("inf")
            )
    return found


def _share(ratios: Sequence[float], most: float) -> float:
    """The share of ratios up to some finite factor, or that are finite at all."""
    return sum(ratio <= most and isfinite(ratio) for ratio in ratios) / len(ratios)


def _steps(
    ratios: Sequence[float], x: LogarithmicScale, y: LinearScale
) -> Iterator[tuple[float, float]]:
    """The corners of a solver's line."""
    share = 0.0
    for ratio in sorted({1.0, *(ratio for ratio in ratios if isfinite(ratio))}):
        yield x.place(ratio), y.place(share if ratio > 1.0 else _share(ratios, 1.0))
        share = _share(ratios, ratio)
        yield x.place(ratio), y.place(share)
    yield RIGHT, y.place(share)


def _named(problem: StudiedProblem, data: str) -> str:
    """A problem in words; data : what its data set is called."""
    terms = problem.terms
    seed = "" if terms["seed"] is None else f", seed {terms['seed']}"
    return f"{terms['family']} on {data}{seed}, {terms['kernel']}, C = {terms['C']:g}"


def _asked(terms: Mapping[str, Any], data: str) -> Iterator[Cell]:
    """The cells that say which problem it is; data : what its data set is called."""
    yield Cell.word(data)
    yield Cell(
        "" if terms["seed"] is None else str(terms["seed"]),
        "" if terms["seed"] is None else terms["seed"],
    )
    yield Cell.word(terms["kernel"])
    yield Cell(f"{terms['C']:g}", terms["C"])
    yield Cell.word(terms["family"])


def _problem_row(problem: StudiedProblem, data: str) -> Iterator[Cell]:
    """The row of a problem."""
    yield from _asked(problem.terms, data)
    digits, count = proven_digits(problem.interval)
    width = problem.interval.relative_width
    yield Cell(digits, problem.interval.upper if digits else "")
    yield Cell(str(count) if count else "", count or "")
    yield Cell(f"{width:.0e}" if isfinite(width) else "", width if isfinite(width) else "")
    put = sum(row["agreement"] != "skipped" for row in problem.answers)
    yield Cell(f"{len(problem.solved)} of {put}", len(problem.solved) / put if put else "")
    fastest = problem.solved[0] if problem.solved else None
    name = (
        ""
        if fastest is None
        else " by ".join(filter(None, (fastest["formulation"], fastest["solver"])))
    )
    yield Cell.word(name)
    yield Cell.of(None if fastest is None else fastest["cpu_seconds"], SECONDS)


def _answer_row(row: Mapping[str, Any], data: str) -> Iterator[Cell]:
    """The row of an answer."""
    yield from _asked(row, data)
    yield Cell(row["formulation"] or "specialised solver", row["formulation"] or "", "word")
    yield Cell.word(row["solver"])
    yield Cell(row["agreement"], row["agreement"], row["agreement"])
    yield Cell(row["status"].replace("_", " "), row["status"], "word")
    yield Cell.of(row["value"], ".10g")
    yield Cell.of(row["relative_width"], ".1e")
    yield Cell.of(row["cpu_seconds"], SECONDS)
    reason = "" if row["ok"] else row["reason"] or ""
    yield Cell(reason, reason, "long" if reason else "word")


def _reasons(records: Sequence[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Why answers failed or were skipped, the most frequent first, each with how often and with whose answers."""
    unsolved = [row for row in records if not row["ok"]]
    counts = Counter((row["agreement"], row["reason"]) for row in unsolved)
    for (agreement, reason), count in counts.most_common():
        who = sorted(
            {
                row["solver"]
                for row in unsolved
                if (row["agreement"], row["reason"]) == (agreement, reason)
            }
        )
        yield f"{agreement}: {reason}", f"{count} ({', '.join(who)})"


def _computed_with(records: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """What answers were computed with: one line a name, with all values that occur."""
    for name in dict.fromkeys(name for record in records for name in record):
        values = (record.get(name, "") for record in records)
        yield (
            name,
            "; ".join(
                dict.fromkeys("no limit" if value is None else str(value) for value in values)
            ),
        )
