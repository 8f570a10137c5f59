"""Page of the leaderboard: a ranking for each kind of problem, faults, and a picture."""

from __future__ import annotations

import importlib.metadata
import math
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from trust.instances import Instance
from trust.judge import Judged
from trust.runs import Package

NAME = "leaderboard.md"
PICTURE = "static/leaderboard.svg"
PANEL_WIDTH, PANEL_HEIGHT = 5.0, 3.8
"""Size of a panel of a picture, in inches."""
LEVELS = (1e-2, 1e-4, 1e-6)
"""Proven relative distances above the optimum at which packages are ranked."""
RANKED = 1e-4
"""The one of them that decides the order."""
SHIFT_SECONDS = 1e-3
"""CPU seconds added to every time before its logarithm is taken.

Differences of microseconds then do not decide.
"""
TITLES = {
    "linear hinge": "Linear, hinge",
    "linear squared_hinge": "Linear, squared hinge",
    "rbf hinge": "RBF kernel, hinge",
    "rbf hinge pairs": "RBF kernel, hinge, more than two classes",
}

INTRODUCTION = """# Leaderboard of trust

CPU seconds of packages for support vector machines, and the distance of their models
from the optimum. Every package solves the same problems at three tolerances of its own.
The objective of its model is recomputed, with bounds of every rounding error, and
compared with a proven interval of the optimum; the status that a package prints or
returns plays no part in this. `make leaderboard` writes this page again, on a machine
that runs nothing else.
"""

METHOD = """
The linear problems minimise ½‖w‖² + C Σ loss(1 − yᵢ w·xᵢ), with a last column of ones
in X in place of a bias; the kernel problems minimise ½‖f‖² + C Σ max(0, 1 − yᵢ(f(xᵢ) + b)).
With more than two classes, every pair of them has such a function on its own points, and
the objective is the sum over all pairs.

A distance is relative to the optimum: 0.01 is one per cent above it. *Failures* counts
the problems on which a package returned no model at some tolerance, *false statements*
those on which it reported something that is proven to be false; both are listed at the
end. *Largest final distance* takes the model of the tightest tolerance at which the
package returned one, and is the largest distance over the problems.

The options of every package are in one table, `benchmarks/trust/packages.toml`; options
that it does not name have the package's default. Authors can correct the entry of their
package by a pull request: change it there, and quote in the request the output of
`make leaderboard ARGS='--packages NAME --page build'` before and after. Packages that
approximate the kernel, such as Snap ML, solve the linear problems only.
"""

TIMES = """
Times are CPU seconds on one processor, without reading data or converting them for a
package. A problem that a package solves to within the distance of a column at none of
its tolerances counts as {seconds:g} s. A time in a table is the geometric mean over the
problems, with a shift of a millisecond. Packages are in the order of their times to
within {ranked:g}.
"""


@dataclass(frozen=True)
class Standing:
    """Package on one kind of problem: instances solved and mean time, by level."""

    package: str
    instances: int
    reached: dict[float, int]
    seconds: dict[float, float]


def standings(results: list[Judged], problem: str, limit: float) -> list[Standing]:
    """Return the packages in their order."""
    of_problem = [result for result in results if result.run.instance.problem == problem]
    found = []
    for package in dict.fromkeys(result.run.package for result in of_problem):
        own = [result for result in of_problem if result.run.package == package]
        times = {
            level: [best(own, instance, level) for instance in instances(own)] for level in LEVELS
        }
        reached = {
            level: sum(time is not None for time in of_level) for level, of_level in times.items()
        }
        # An unsolved instance counts as the time limit.
        means = {
            level: mean([limit if time is None else time for time in of_level])
            for level, of_level in times.items()
        }
        found.append(Standing(package, len(instances(own)), reached, means))
    return sorted(found, key=lambda standing: standing.seconds[RANKED])


def instances(results: list[Judged]) -> list[Instance]:
    """Return the instances of some results, once each."""
    return list(dict.fromkeys(result.run.instance for result in results))


def best(own: list[Judged], instance: Instance, level: float) -> float | None:
    """Return the least CPU seconds in which a package proves a level on an instance.

    None if it does not.
    """
    times = [
        result.run.seconds
        for result in own
        if result.run.instance == instance
        and result.run.seconds is not None
        and result.excess is not None
        and result.excess[1] <= level
    ]
    return min(times, default=None)


def mean(times: list[float]) -> float:
    """Return the geometric mean, with the shift."""
    return (
        math.exp(sum(math.log(time + SHIFT_SECONDS) for time in times) / len(times)) - SHIFT_SECONDS
    )


def table(results: list[Judged], problem: str, limit: float) -> Iterator[str]:
    """Yield the ranking of a kind of problem, in Markdown."""
    order = standings(results, problem, limit)
    if not order:
        return
    yield f"\n## {TITLES[problem]}\n"
    number = len(
        instances([result for result in results if result.run.instance.problem == problem])
    )
    yield (
        f"{number} problems; a cell has the number that a package solves to within a distance, the "
        f"mean time, and its ratio to the smallest mean time of the column.\n"
    )
    # Cells have the time relative to the fastest package of their column.
    least = {level: min(standing.seconds[level] for standing in order) for level in LEVELS}
    yield (
        "| | package | "
        + " | ".join(f"within {level:g}" for level in LEVELS)
        + " | failures | false statements | largest final distance |"
    )
    yield "| --- | --- |" + " ---: |" * (len(LEVELS) + 2) + " --- |"
    for place, standing in enumerate(order, start=1):
        own = [
            result
            for result in results
            if result.run.package == standing.package and result.run.instance.problem == problem
        ]
        cells = [
            f"{standing.reached[level]}, {shown(standing.seconds[level])}, "
            f"{standing.seconds[level] / least[level]:.3g} x"
            for level in LEVELS
        ]
        failed, false = (
            len(instances([result for result in own if of(result)]))
            for of in (lambda r: r.excess is None, lambda r: r.wrong)
        )
        yield (
            f"| {place} | {standing.package} | "
            + " | ".join([*cells, str(failed), str(false), furthest(own)])
            + " |"
        )


def tightest(own: list[Judged]) -> list[Judged]:
    """Return the last run with a model on every instance."""
    return list(
        {result.run.instance: result for result in own if result.excess is not None}.values()
    )


def furthest(own: list[Judged]) -> str:
    """Return the instance with the largest distance of a package's tightest model."""
    worst = max(
        tightest(own), key=lambda result: result.excess[1] if result.excess else 0.0, default=None
    )
    return (
        ""
        if worst is None or worst.excess is None
        else f"{worst.excess[1]:.1e} ({label(worst.run.instance)})"
    )


def label(instance: Instance) -> str:
    """Return the label of an instance within a table of its kind."""
    return f"{instance.data}, C = {instance.C:g}"


def shown(seconds: float) -> str:
    """Return a time with its unit."""
    return f"{1e3 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def wrongs(results: list[Judged]) -> Iterator[str]:
    """Yield failures and false reports, with the instance and the tolerance."""
    yield "\n## Failures and false statements\n"
    yield (
        "A row has the first tolerance at which the failure or the false statement occurred. A "
        "package makes a false statement if its model is"
    )
    yield (
        "more than 1 % above the optimum and it gives no warning (its loosest tolerance is "
        "exempt), or if an objective that it states is proven"
    )
    yield "to be impossible.\n"
    yield "| package | problem | tolerance | what happened |"
    yield "| --- | --- | ---: | --- |"
    seen = set()
    for result in results:
        run = result.run
        said = run.failure or result.wrong
        kind = (run.package, run.instance, bool(run.failure))
        if said and kind not in seen:
            seen.add(kind)
            yield (
                f"| {run.package} | {run.instance.name} | {run.tolerance:g} | "
                f"{said.replace('|', '/')} |"
            )


def circumstances(entries: list[Package], results: list[Judged]) -> str:
    """Return the conditions of the measurements."""
    sets = "; ".join(dict.fromkeys(result.run.instance.data for result in results))
    return f"\n*{measured_with(entries)}. Data sets: {sets}.*\n"


def measured_with(entries: list[Package]) -> str:
    """Return the day, the machine, and the versions of packages."""
    names = dict.fromkeys(entry.package for entry in entries)
    versions = ", ".join(
        f"{name} {importlib.metadata.version(name)}" for name in names if name != "equimargin"
    )
    machine = (
        f"{platform.machine()}, Python {platform.python_version()}, load "
        f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} processors"
    )
    return f"Measured on {date.today():%d %B %Y}, {machine}: {versions}"


@contextmanager
def pictured(file: Path, panels: int, **options: Any) -> Iterator[Any]:
    """Draw panels below each other, both axes logarithmic, and save them as a picture.

    It can be read on a narrow screen. Its bytes depend on its figures alone.
    """
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update(
        {"svg.hashsalt": "equimargin", "svg.fonttype": "none", "font.size": 9}
    )
    import matplotlib.pyplot as plt

    size = (PANEL_WIDTH, PANEL_HEIGHT * panels)
    figure, axes = plt.subplots(
        panels, 1, squeeze=False, layout="constrained", figsize=size, **options
    )
    for panel in axes[:, 0]:
        panel.set(xscale="log", yscale="log")
        panel.grid(alpha=0.3)
    yield axes[:, 0]
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, metadata={"Date": None})
    plt.close(figure)


def draw(results: list[Judged], entries: list[Package], file: Path) -> None:
    """Draw the proven distance above the optimum against CPU seconds, by kind of problem.

    A faint dot is a run; a line joins the geometric means of a package at its three
    tolerances.
    """
    from matplotlib import colormaps

    problems = [
        problem
        for problem in TITLES
        if any(result.run.instance.problem == problem for result in results)
    ]
    with pictured(file, len(problems), sharex=True, sharey=True) as panels:
        for panel, problem in zip(panels, problems, strict=True):
            for number, entry in enumerate(entries):
                own = [
                    result
                    for result in results
                    if result.run.package == entry.name and result.run.instance.problem == problem
                ]
                points = [
                    # The axis is logarithmic: a distance of 0 is drawn at 1e-12.
                    (r.run.tolerance, r.run.seconds, max(r.excess[1], 1e-12))
                    for r in own
                    if r.excess and r.run.seconds is not None
                ]
                if points:
                    style: dict[str, Any] = {
                        "color": colormaps["tab20"](number % 20),
                        "marker": "osD^v<>PX*hdp8"[number % 14],
                    }
                    panel.scatter(
                        [p[1] for p in points],
                        [p[2] for p in points],
                        s=5,
                        color=style["color"],
                        alpha=0.25,
                        linewidths=0,
                    )
                    line = [
                        middle([p[1:] for p in points if p[0] == tol])
                        for tol in entry.tolerances
                        if any(p[0] == tol for p in points)
                    ]
                    panel.plot(
                        *zip(*line, strict=True),
                        label=entry.name,
                        markersize=5,
                        linewidth=1,
                        **style,
                    )
            panel.set(title=TITLES[problem], ylabel="proven distance, relative")
            panel.legend(fontsize=7, loc="best")
        panels[-1].set_xlabel("CPU seconds")


def middle(points: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the geometric mean of points."""
    logs = [sum(math.log(point[axis]) for point in points) / len(points) for axis in (0, 1)]
    return math.exp(logs[0]), math.exp(logs[1])


def written(folder: Path, entries: list[Package], results: list[Judged], limit: float) -> None:
    """Write the page and its picture."""
    draw(results, entries, folder / PICTURE)
    lines = [
        INTRODUCTION + METHOD + TIMES.format(seconds=limit, ranked=RANKED),
        circumstances(entries, results),
    ]
    lines.append(
        f"![CPU seconds against the proven distance above the optimum, a line for each "
        f"package]({PICTURE})"
    )
    for problem in TITLES:
        lines += table(results, problem, limit)
    lines += wrongs(results)
    (folder / NAME).write_text("\n".join(lines) + "\n", encoding="utf-8")
