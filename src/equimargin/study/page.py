"""Page of a study: proven optima, comparison of solvers, failures, all answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

from equimargin.formulations.markdown import markdown_table, markdown_text
from equimargin.report.answers import WORDS
from equimargin.report.cell import Cell
from equimargin.report.pages.drawing import PICTURE_WIDTH, Picture, across, curve, line, upwards
from equimargin.report.pages.rendering import rendered
from equimargin.report.pages.scales import LinearScale, LogarithmicScale
from equimargin.study.summary import Progress, StudiedProblem, data_key, labels

LEFT, RIGHT, TOP, BOTTOM = 46.0, PICTURE_WIDTH - 14, 30.0, 300.0
"""Edges of the picture, in units of the drawing."""
COLOURS, DASHES = 6, 4
"""Numbers of colours and line patterns of the style sheet; a solver has one of each."""
SHORTEST = 1e-3
"""Lower bound on CPU times, in seconds; the clock of a process is not more accurate."""
SECONDS = ".4f"
"""Format of CPU seconds: tenths of a millisecond; smaller differences are noise."""
CAPTION = (
    "Higher is better. The line of a solver shows the share of its problems that it solved "
    "within a factor of the CPU time of the fastest solver. This is the time of declaring, "
    "solving and proving, without compilation; a backend counts with its fastest formulation. "
    "The left end shows how often the solver is the fastest, the right end how often it solves "
    "a problem at all. (A performance profile: E. D. Dolan and J. J. Moré, 2002.)"
)
"""Caption of the picture."""
ASKED = ("data", "seed", "kernel", "C", "family")
"""Columns that identify a problem."""
PROBLEMS = (*ASKED, "optimum", "digits", "width", "solved", "fastest", "CPU s")
"""Columns of the table of problems."""
ANSWERS = (
    *(*ASKED, "formulation", "solver", "agreement", "status"),
    *("value", "width", "CPU s", "why not solved"),
)
"""Columns of the table of answers."""


def study_page(
    about: Mapping[str, str],
    progress: Progress,
    records: Sequence[dict[str, Any]],
    problems: Sequence[StudiedProblem],
    computed_with: Sequence[Mapping[str, Any]],
    versions: Mapping[str, str],
    command: str = "",
) -> str:
    """Return the page of a study as HTML.

    Parameters
    ----------
    about, versions : mapping of str to str
        Name and plan of the study; versions of the software that writes the page.
    progress : Progress
        Progress of the study.
    records : sequence of dict
        Answers.
    problems : sequence of StudiedProblem
        Problems with their answers.
    computed_with : sequence of mapping
        Provenances of the answers.
    command : str
        Shell command that writes the page.
    """
    kind, sentence = _verdict(progress, problems)
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
        picture=_profile(problems),
        problem_columns=[(name, name in WORDS) for name in PROBLEMS],
        problems=[[*_problem_row(problem, names[data_key(problem.terms)])] for problem in problems],
        answer_columns=[(name, name in WORDS) for name in ANSWERS],
        answers=[[*_answer_row(row, names[data_key(row)])] for row in records],
        reasons=[*_reasons(records)],
        computed_with=[*_computed_with(computed_with)],
        plan=about.get("plan", ""),
    )


def study_markdown(progress: Progress, problems: Sequence[StudiedProblem]) -> str:
    """Return the verdict on a study and the table of its problems as Markdown text.

    Parameters
    ----------
    progress : Progress
        Progress of the study.
    problems : sequence of StudiedProblem
        Problems with their answers.
    """
    names = labels(data_key(problem.terms) for problem in problems)
    table = markdown_table(
        PROBLEMS,
        (
            [cell.text for cell in _problem_row(problem, names[data_key(problem.terms)])]
            for problem in problems
        ),
        WORDS,
    )
    _, sentence = _verdict(progress, problems)
    return markdown_text(sentence, [], table)


def _verdict(progress: Progress, problems: Sequence[StudiedProblem]) -> tuple[str, str]:
    """Return the verdict on a study, a keyword of the style sheet, and a sentence."""
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


def _profile(problems: Sequence[StudiedProblem]) -> Picture | None:
    """Return the performance profile of all solvers; None if nothing was solved."""
    ratios = _ratios(problems)
    finite = [ratio for row_ratios in ratios.values() for ratio in row_ratios if isfinite(ratio)]
    if not finite:
        return None
    x = LogarithmicScale.of([1.0, *finite], LEFT, RIGHT)
    y = LinearScale(0.0, 1.0, BOTTOM, TOP)
    elements = [
        *across(x, TOP, BOTTOM, "factor of the fastest CPU time"),
        *upwards(y, LEFT, RIGHT, "share of problems"),
    ]
    legend = []
    descriptions = []
    for k, (solver, row_ratios) in enumerate(
        sorted(ratios.items(), key=lambda each: -_share(each[1], 1.0))
    ):
        style = f"c{k % COLOURS} dash{k // COLOURS % DASHES}"
        words = (
            f"{solver}: fastest on {_share(row_ratios, 1.0):.0%} of {len(row_ratios)} "
            f"problems, solves {_share(row_ratios, float('inf')):.0%}"
        )
        elements.append(curve([*_steps(row_ratios, x, y)], style, words))
        legend.append((line(0, 8, 16, 8, f"curve {style}"), solver))
        descriptions.append(words)
    return Picture(
        "profile",
        "Performance profile of the solvers",
        "; ".join(descriptions),
        BOTTOM + 34,
        elements,
        CAPTION,
        legend,
    )


def _ratios(problems: Sequence[StudiedProblem]) -> dict[str, list[float]]:
    """Return CPU times relative to the fastest solver, by solver, one per problem.

    The ratio is inf if the solver did not solve the problem.
    """
    ratios: dict[str, list[float]] = {}
    for problem in problems:
        times: dict[str, float] = {}
        for row in problem.answers:
            if row["agreement"] != "skipped":
                seconds = max(row["cpu_seconds"] or 0.0, SHORTEST) if row["ok"] else float("inf")
                times[row["solver"]] = min(times.get(row["solver"], float("inf")), seconds)
        best = min(times.values(), default=float("inf"))
        for solver, seconds in times.items():
            ratios.setdefault(solver, []).append(
                seconds / best if isfinite(seconds) else float("inf")
            )
    return ratios


def _share(ratios: Sequence[float], most: float) -> float:
    """Return the share of finite ratios up to `most`."""
    return sum(ratio <= most and isfinite(ratio) for ratio in ratios) / len(ratios)


def _steps(
    ratios: Sequence[float], x: LogarithmicScale, y: LinearScale
) -> Iterator[tuple[float, float]]:
    """Yield the corners of a solver's line."""
    share = 0.0
    for ratio in sorted({1.0, *(ratio for ratio in ratios if isfinite(ratio))}):
        yield x.place(ratio), y.place(share if ratio > 1.0 else _share(ratios, 1.0))
        share = _share(ratios, ratio)
        yield x.place(ratio), y.place(share)
    yield RIGHT, y.place(share)


def _named(problem: StudiedProblem, data: str) -> str:
    """Return the name of a problem; `data` is the name of its data set."""
    terms = problem.terms
    seed = "" if terms["seed"] is None else f", seed {terms['seed']}"
    return f"{terms['family']} on {data}{seed}, {terms['kernel']}, C = {terms['C']:g}"


def _asked(terms: Mapping[str, Any], data: str) -> Iterator[Cell]:
    """Yield the cells that identify a problem; `data` is the name of its data set."""
    yield Cell.word(data)
    yield Cell.of(terms["seed"], "d")
    yield Cell.word(terms["kernel"])
    yield Cell.of(terms["C"], "g")
    yield Cell.word(terms["family"])


def _problem_row(problem: StudiedProblem, data: str) -> Iterator[Cell]:
    """Yield the cells of a problem."""
    yield from _asked(problem.terms, data)
    digits, count = problem.interval.digits
    width = problem.interval.relative_width
    yield Cell(digits, problem.interval.upper if digits else "")
    yield Cell.of(count or None, "d")
    yield Cell.at_most(width if isfinite(width) else None)
    # Skipped answers were not run, so they do not count as attempts.
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
    """Yield the cells of an answer."""
    yield from _asked(row, data)
    yield Cell(row["formulation"] or "specialised solver", row["formulation"] or "", "word")
    yield Cell.word(row["solver"])
    yield Cell.word(row["agreement"], row["agreement"])
    yield Cell(row["status"].replace("_", " "), row["status"], "word")
    yield Cell.of(row["value"], ".10g")
    yield Cell.at_most(row["relative_width"])
    yield Cell.of(row["cpu_seconds"], SECONDS)
    reason = "" if row["ok"] else row["reason"] or ""
    yield Cell.word(reason, "long" if reason else "word")


def _reasons(records: Sequence[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield the reasons of failed and skipped answers, the most frequent first.

    Each with its count and its solvers.
    """
    unsolved = [row for row in records if not row["ok"]]
    counts = Counter((row["agreement"], row["reason"]) for row in unsolved)
    for (agreement, reason), count in counts.most_common():
        solvers = sorted(
            {
                row["solver"]
                for row in unsolved
                if (row["agreement"], row["reason"]) == (agreement, reason)
            }
        )
        yield f"{agreement}: {reason}", f"{count} ({', '.join(solvers)})"


def _computed_with(records: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield the provenance, one line per name with all values that occur."""
    for name in dict.fromkeys(name for record in records for name in record):
        values = (record.get(name, "") for record in records)
        yield (
            name,
            "; ".join(
                dict.fromkeys("no limit" if value is None else str(value) for value in values)
            ),
        )
