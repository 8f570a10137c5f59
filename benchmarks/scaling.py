"""Growth of CPU time with the number of points, and its exponents.

Kernel machines have 1,000 to 100,000 points, rankings 100,000 to 10,000,000.

    python benchmarks/run.py scaling [--sizes 3] [--page docs]

Kernel machines are C-SVC, RBF, C = 1, on the clusters of `kinds.svm` with 20 features.
Other packages run at their default tolerance, and equimargin to the gap that
scikit-learn's model has at that size, or at the largest at which it is run, and to
LOOSE_GAP. Rankings have all pairs of one query, a linear
kernel and a squared hinge, and run to a gap of 1e-6, each size in a process of its own.
TRON, the solver of Kuo, Lee and Lin (2014), is this package's implementation, and
"proof" is the additional time of the proven interval. All runs use one processor; a
side that took more than LIMIT_SECONDS is not run at larger sizes. An exponent is the
slope of a line fitted to the logarithms. The page `scaling.md` and its picture are
written to docs/.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from clock import gigabytes, settled, timed
from kinds import ranking, svm
from table import ROOT, Benchmark, Line, Table, alone, on_one_processor
from trust.fits import FITS, Task
from trust.load import refuse_load
from trust.page import measured_with, pictured
from trust.runs import Package, packages
from trust.worker import printed

from equimargin.formulations.kernels.kernel import rbf
from equimargin.formulations.problem.construct import classification
from equimargin.solvers import solve

NAME, PICTURE = "scaling.md", "static/scaling.svg"
"""Names of the page and of its picture in the folder of the page."""
HEAD = """# How time grows with the number of points

CPU seconds of one processor and one thread against the number of points n, and the
exponents of n fitted to them. The kernel machines are C-SVC with an RBF kernel and
C = 1 on clusters of 20 features: the other packages run at their default tolerance, and
equimargin to the gap of scikit-learn's model at that size (where it is no longer run,
at its last size), and to a gap of {loose:g}. The rankings are all pairs
of one query with a linear kernel and a squared hinge, to a relative gap of 1e-6. *TRON*
is equimargin's implementation of the method of Kuo et al. (2014), and *proof* is the
additional time for the proven interval. A column ends at the first size that took more
than {limit:g} s. `make scaling` writes this page again.
"""
KERNEL_SIZES = (1000, 2000, 5000, 10_000, 20_000, 40_000, 60_000, 100_000)
RANKING_SIZES = (100_000, 200_000, 500_000, 1_000_000, 2_000_000, 4_000_000, 10_000_000)
FEATURES = 20
LIMIT_SECONDS = 60.0
"""CPU seconds of a run beyond which its side is not run at larger sizes."""
SHORT_SECONDS = 1.0
"""CPU seconds below which a run is repeated."""
LOOSE_GAP = 1e-3
"""Relative gap of the second column of equimargin."""
MANY_POINTS = 10_000
"""Number of points from which the second exponent is fitted."""
OURS = "equimargin"
LOOSE = f"{OURS}, {LOOSE_GAP:g}"
PEER_OF_GAP = "scikit-learn SVC"
"""The package whose gap equimargin reaches."""
KERNEL, RANKING = "RBF kernel", "ranking, all pairs"
"""Names of the two kinds of work."""
WARM_UP_POINTS = 100_000
"""Points of the ranking that is solved first, to compile all functions.

Its pairs are implicit, like those of the larger rankings.
"""
PAIR_COST = 500.0
"""C times the number of pairs of a ranking."""


def measured(
    work: str, side: str, n: int, seconds: float, wall: float, memory: float | None = None
) -> Line:
    """Return the line of a side on n points, with memory in GB if it was measured."""
    return {"work": work, "side": side, "n": n, "s": seconds, "wall": wall, "GB": memory}


def peers() -> Iterator[Package]:
    """Yield the installed peers for kernel machines; print the names of missing ones."""
    for package in packages():
        if "rbf hinge" in package.problems and package.name != OURS:
            if package.present:
                yield package
            else:
                print(
                    f"{package.name} is left out: {package.package} is not installed (pip "
                    f"install 'equimargin[peers]')"
                )


def fitted(package: Package, n: int) -> Callable[[], Any]:
    """Return a function that fits a peer at its default tolerance."""
    X, y = svm.classes(f"{n} x {FEATURES}")
    task = Task(
        X, y, 1.0, "hinge", 1 / FEATURES, package.tolerances[1], package.problems["rbf hinge"]
    )
    run = FITS[package.fit](task).run
    return lambda: printed(run)  # what it prints is kept from the table


def solved(n: int, tol: float) -> Any:
    """Build and solve a problem with equimargin; both are timed."""
    X, y = svm.classes(f"{n} x {FEATURES}")
    return solve(classification(X, y, 1.0, rbf(1 / FEATURES)), "smo", tol=tol)


def kernel_machines(sizes: tuple[int, ...]) -> Iterator[Line]:
    """Measure equimargin and the peers, size by size."""
    sides: dict[str, Callable[[int], Callable[[], Any]]] = {
        package.name: partial(fitted, package) for package in peers()
    }
    solved(sizes[0], 1e-3)
    for side in sides.values():
        side(sizes[0])()  # libraries load at the first fit
    tol = LOOSE_GAP
    for n in sizes:
        if PEER_OF_GAP in sides:
            tol = svm.peer_gap(svm.Contest("", f"{n} x {FEATURES}", 0, 1.0, 0, 0))
        runs: dict[str, Callable[[], Any]] = {
            OURS: partial(solved, n, tol),
            LOOSE: partial(solved, n, LOOSE_GAP),
            **{name: side(n) for name, side in sides.items()},
        }
        runs[OURS]()  # a kernel that only problems of this size need is compiled here
        for name, run in runs.items():
            _, seconds, wall = settled(run, SHORT_SECONDS)
            yield measured(KERNEL, name, n, seconds, wall)
            if seconds > LIMIT_SECONDS:
                sides.pop(name, None)


def ranked(n: int, solver: str) -> list[Line]:
    """Measure a ranking of n points in this process.

    Compilation, on a small ranking, and the drawing of data are not timed.
    """
    for size in (WARM_UP_POINTS, n):
        drawn = ranking.many(size, "real")
        row = ranking.Row(
            "",
            lambda drawn=drawn: drawn,  # type: ignore[misc]
            "squared_hinge",
            PAIR_COST,
            (),
            total=True,
        )
        answer = timed(
            lambda row=row: solve(  # type: ignore[misc]
                row.problem(), solver, tol=1e-6, time_limit=3 * LIMIT_SECONDS
            )
        )
        proof = timed(partial(getattr, answer.result, "interval"))
        assert proof.result.relative_width < 1e-5 or solver != "auto"
    found = [
        measured(
            RANKING, OURS if solver == "auto" else "TRON", n, answer.cpu, answer.wall, gigabytes()
        )
    ]
    return (
        [*found, measured(RANKING, "proof", n, proof.cpu, proof.wall)]
        if solver == "auto"
        else found
    )


def rankings(sizes: tuple[int, ...]) -> Iterator[Line]:
    """Measure equimargin's solver, its proof, and TRON."""
    solvers = ["auto", "tron"]
    for n in sizes:
        for solver in tuple(solvers):
            found = alone(ranked, n, solver)
            yield from found
            if found[0]["s"] > LIMIT_SECONDS:
                solvers.remove(solver)


def exponent(points: Mapping[int, float]) -> float:
    """Return the slope of log seconds over log n by least squares, NaN below two points.

    Parameters
    ----------
    points : Mapping[int, float]
        Seconds by n.
    """
    if len(points) < 2:
        return float("nan")
    return float(np.polyfit(np.log(list(points)), np.log(list(points.values())), 1)[0])


def curves(found: list[Line]) -> dict[str, dict[str, dict[int, float]]]:
    """Return seconds by work, side and n."""
    table: dict[str, dict[str, dict[int, float]]] = {}
    for one in found:
        table.setdefault(one["work"], {}).setdefault(one["side"], {})[one["n"]] = one["s"]
    return table


def draw(found: list[Line], file: Path) -> None:
    """Draw CPU seconds against n, both logarithmic, a panel for each kind of work."""
    table = curves(found)
    with pictured(file, len(table)) as panels:
        for panel, (work, sides) in zip(panels, table.items(), strict=True):
            for (side, points), marker in zip(sides.items(), "os^vD<>PX*", strict=False):
                label = f"{side}: n^{exponent(points):.2f}"
                panel.plot(
                    list(points),
                    list(points.values()),
                    marker=marker,
                    label=label,
                    linewidth=2.0 if side == OURS else 1.0,
                )
            panel.set(title=work, xlabel="points n", ylabel="CPU seconds")
            panel.legend(fontsize=8)


def exponents(head: str, sides: Mapping[str, Mapping[int, float]], least: int) -> str:
    """Return the row of a table that has the exponents of all sides from `least` points on."""
    fitted = (
        exponent({n: s for n, s in points.items() if n >= least}) for points in sides.values()
    )
    return f"| {head} | {' | '.join('-' if np.isnan(e) else f'{e:.2f}' for e in fitted)} |"


def page(found: list[Line], there: list[Package]) -> str:
    """Return the page, with a table for each kind of work."""
    lines = [HEAD.format(limit=LIMIT_SECONDS, loose=LOOSE_GAP), f"*{measured_with(there)}.*", ""]
    lines.append(
        f"![CPU seconds against the number of points, a line for each column of a table]({PICTURE})"
    )
    for work, sides in curves(found).items():
        sizes = dict.fromkeys(n for t in sides.values() for n in t)
        lines += [
            "",
            f"## {work[0].upper()}{work[1:]}",
            "",
            f"| n | {' | '.join(sides)} |",
            f"| ---: {'| ---: ' * len(sides)}|",
        ]
        lines += [
            f"| {n:,} | {' | '.join(f'{t[n]:.3g} s' if n in t else '-' for t in sides.values())} |"
            for n in sizes
        ]
        lines.append(exponents("exponent", sides, 0))
        if min(sizes) < MANY_POINTS < max(sizes):
            lines.append(exponents(f"exponent from {MANY_POINTS:,} on", sides, MANY_POINTS))
    return "\n".join(lines) + "\n"


def tables(asked: Namespace) -> Iterator[Table]:
    """Yield the table, and write the page where the machine was not loaded."""
    on_one_processor()
    kernel, many = (sizes[: asked.sizes or None] for sizes in (KERNEL_SIZES, RANKING_SIZES))
    found: list[Line] = []
    lines = (
        found.append(one) or one  # type: ignore[func-returns-value]
        for one in chain(rankings(many), kernel_machines(kernel))
    )
    yield Table({"work": "20s", "side": "24s", "n": "10,d", "s": "10.3f", "GB": "6.2f"}, lines)
    for work, sides in curves(found).items():
        print(
            f"{work}: "
            + ", ".join(f"{side} n^{exponent(points):.2f}" for side, points in sides.items())
        )
    # The figures are stored before; on a loaded machine the command ends here with no
    # page.
    refuse_load(
        sum(one["s"] for one in found),
        sum(one["wall"] for one in found),
        "run this again on a quiet machine",
    )
    draw(found, asked.page / PICTURE)
    (asked.page / NAME).write_text(
        page(found, [package for package in packages() if package.present]), encoding="utf-8"
    )


OPTIONS = {
    "sizes": (0, "how many sizes of either kind, the smallest first; 3 take about a minute"),
    "page": (ROOT / "docs", "the folder of scaling.md and static/scaling.svg"),
}
BENCHMARK = Benchmark(__doc__, tables, OPTIONS)
