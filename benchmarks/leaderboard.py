"""Leaderboard of SVM packages: CPU seconds, proven distances from the optimum.

    python benchmarks/run.py leaderboard [--quick] [--only TEXT] [--points 2000]
        [--packages NAME ...] [--seconds 10] [--runs FOLDER]

Every installed package of `benchmarks/trust/packages.toml` solves the problems that it
supports, at three of its tolerances, on one processor and one thread, in a process of
its own with limits of time and memory. The objective of its model is recomputed with a
bound on rounding, and compared with the proven interval of the optimum. The status and
the objective that a package prints are not used; the page states where one of them
cannot be true. All figures are written to build/leaderboard.json, the page and its
picture to docs/. With `--runs FOLDER` an interrupted command can be continued: pass the
same folder again. If a package fails on all problems, or the machine runs other work
(`trust/load.py`), the command ends without a page.
"""

from __future__ import annotations

import resource
import tempfile
import time
from argparse import Namespace
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue

from table import ROOT, Benchmark, Line, Table
from trust import page
from trust.instances import DATA, FILES, Instance, data, instances, present
from trust.judge import Judged, judged, optimum_of, parts_of
from trust.load import refuse_load
from trust.runs import Broken, Package, Run, packages, processors, runs

AGAIN = "run this again on a quiet machine; with --runs only the fits that waited are measured anew"
"""Advice on a loaded machine."""


def measured(
    entries: list[Package], chosen: list[Instance], folder: Path, seconds: float
) -> list[Run]:
    """Return all runs, of one package per processor at a time, of two at most."""
    free: SimpleQueue[int] = SimpleQueue()
    for processor in processors()[:2]:
        free.put(processor)

    def all_of(package: Package) -> list[Run]:
        processor = free.get_nowait()
        start = time.monotonic()
        try:
            found = list(runs(package, chosen, folder, seconds, processor))
        finally:
            free.put(processor)
        failed = sum(bool(run.failure) for run in found)
        print(
            f"{package.name:24s} {len(found):4d} runs, {failed:3d} failed, "
            f"{time.monotonic() - start:6.1f} s",
            flush=True,
        )
        return found

    with ThreadPoolExecutor(free.qsize()) as pool:
        return [run for found in pool.map(all_of, entries) for run in found]


def verdicts(found: Iterable[Run]) -> list[Judged]:
    """Return the proven statements on every run; each optimum is enclosed once."""
    by_instance: dict[Instance, list[Run]] = defaultdict(list)
    for run in found:
        by_instance[run.instance].append(run)
    results = []
    for instance, group in by_instance.items():
        parts = parts_of(instance)
        optimum = optimum_of(parts)
        print(
            f"{instance.name:48s} optimum {optimum.upper:.12g}, proven width "
            f"{optimum.relative_width:.1e}",
            flush=True,
        )
        results += [judged(run, parts, optimum) for run in group]
    return results


def record(results: list[Judged]) -> list[Line]:
    """Return the results for JSON."""
    return [{**asdict(result), "run": {**asdict(result.run), "file": None}} for result in results]


def tables(asked: Namespace) -> Iterator[Table]:
    """Measure, judge, store the figures, and write the page."""
    entries = [
        entry for entry in packages() if not any(asked.packages) or entry.name in asked.packages
    ]
    there = [entry for entry in entries if entry.present]
    for entry in entries:
        if entry not in there:
            print(
                f"{entry.name} is left out: {entry.package} is not installed (pip install "
                f"'equimargin[peers]')"
            )
    for name in FILES.keys() - set(present()):
        print(f"the data set {name} is left out: {FILES[name]} is not there")
    chosen = [
        instance
        for instance in instances(asked.only, asked.quick)
        if len(data(instance.data)[1]) <= asked.points
    ]
    sets = len({instance.data for instance in chosen})
    print(
        f"{len(there)} entries, {len(chosen)} instances of {sets} of {len(DATA)} data sets",
        flush=True,
    )
    # Without a folder of runs, the models are kept until they are judged.
    with tempfile.TemporaryDirectory() as empty:
        folder = Path(asked.runs or empty)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            found = measured(there, chosen, folder, asked.seconds)
        except Broken as broken:
            raise SystemExit(str(broken)) from None
        refuse_load(sum(run.seconds or 0.0 for run in found), sum(run.wall for run in found), AGAIN)
        results = verdicts(found)
    yield Table({}, record(results))
    page.written(asked.page, there, results, asked.seconds)
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(
        f"{sum(used.ru_utime + used.ru_stime for used in both):.0f} CPU seconds in all; "
        f"written: {asked.page / page.NAME}"
    )


OPTIONS = {
    "quick": (False, "four small data sets and one C: about three minutes"),
    "only": ("", "instances whose name contains this text"),
    "points": (float("inf"), "data sets of at most this many points"),
    "packages": (("",), "entries of packages.toml; all of them if none are given"),
    "seconds": (10.0, "CPU seconds that a fit may take"),
    "runs": ("", "a folder that keeps every run; those that are there are not made again"),
    "page": (ROOT / "docs", "the folder of leaderboard.md and static/leaderboard.svg"),
}
BENCHMARK = Benchmark(__doc__, tables, OPTIONS)
