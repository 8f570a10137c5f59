"""Benchmarks: a module has a `BENCHMARK`, which yields tables.

Lines are printed as they are measured, and all tables are written to build/NAME.json.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

ROOT = Path(__file__).resolve().parents[1]


def find_public_data() -> Path:
    """Return the folder of public data: next to the checkout, or that of fetched sets."""
    beside = ROOT.parent / "shared" / "data"
    if beside.is_dir():
        return beside
    # Imported here: `between_versions` runs this module with older versions of equimargin.
    from equimargin.data import data_folder

    return data_folder(beside)


DATA = find_public_data()
"""Folder of public data."""
LONGEST = 3600.0
"""Time limit of a measurement in its own process, in wall seconds."""
Line = dict[str, Any]
"""Line of a table: figures by column head, and further entries for the file."""


@dataclass(frozen=True)
class Table:
    """Lines and their format.

    Parameters
    ----------
    columns : Mapping[str, str]
        Format of each column, by head: its width first, "s" for words.
    lines : Iterable[Line]
        Lines, which are measured one by one.
    """

    columns: Mapping[str, str]
    lines: Iterable[Line]

    def printed(self) -> Iterator[Line]:
        """Print the heads and every line; yield the lines."""
        if self.columns:
            print(" ".join(aligned(head, form) for head, form in self.columns.items()), flush=True)
        for line in self.lines:
            if self.columns:
                cells = (cell(line.get(head), form) for head, form in self.columns.items())
                print(" ".join(cells).rstrip(), flush=True)
            yield line


def aligned(text: str, form: str) -> str:
    """Return a text padded to its column: words left-aligned, figures right-aligned."""
    width = int(re.sub(r"\D.*", "", form) or 0)
    return text.ljust(width) if form.endswith("s") else text.rjust(width)


def cell(value: Any, form: str) -> str:
    """Return a figure padded to its column; "-" for None."""
    if form.endswith("s"):
        return aligned("" if value is None else str(value), form)
    return aligned("-", form) if value is None or math.isnan(value) else format(value, form)


@contextmanager
def quiet() -> Iterator[None]:
    """Limit linear algebra to one thread, compile at first calls, hide warnings of peers.

    Some functions otherwise run as Python on small problems until they are compiled.
    """
    # Imported here: `between_versions` runs this module with older versions of equimargin.
    from equimargin.formulations.numeric.jit import compile_eagerly

    with threadpool_limits(1), compile_eagerly(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def quietly(measure: Callable[..., Any], *arguments: Any) -> Any:
    """Measure in this process."""
    with quiet():
        return measure(*arguments)


def alone(measure: Callable[..., Any], *arguments: Any) -> Any:
    """Measure in a new process, whose memory is used by one row only."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as own:
        return own.submit(quietly, measure, *arguments).result(LONGEST)


def on_one_processor() -> None:
    """Restrict this process to one processor, if the system supports it.

    Libraries that are loaded later then start no threads.
    """
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


@dataclass(frozen=True)
class Benchmark:
    """Measurements on one BLAS thread.

    Parameters
    ----------
    about : str | None
        Description, the docstring of the module.
    tables : Callable[[argparse.Namespace], Iterator[Table]]
        Function that makes the tables from the options.
    options : Mapping[str, tuple[Any, str]]
        Defaults and explanations of the options, by name.
    """

    about: str | None
    tables: Callable[[argparse.Namespace], Iterator[Table]]
    options: Mapping[str, tuple[Any, str]] = field(default_factory=dict)

    def main(self, name: str, arguments: Sequence[str] | None = None) -> None:
        """Measure, print and write the tables by the options."""
        parser = argparse.ArgumentParser(
            prog=f"run.py {name}",
            description=self.about,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        for option, (default, words) in self.options.items():
            if isinstance(default, bool):
                parser.add_argument(f"--{option}", action="store_true", help=words)
            elif isinstance(default, tuple):
                parser.add_argument(
                    f"--{option}", nargs="*", type=type(default[0]), default=default, help=words
                )
            else:
                parser.add_argument(f"--{option}", type=type(default), default=default, help=words)
        parser.add_argument(
            "--json",
            type=Path,
            default=ROOT / "build" / f"{name.rpartition('.')[2]}.json",
            help="where all figures go",
        )
        asked = parser.parse_args(arguments)
        print(f"load {os.getloadavg()[0]:.1f}")
        asked.json.parent.mkdir(parents=True, exist_ok=True)
        found: list[Line] = []
        with quiet():
            for table in self.tables(asked):
                found += table.printed()
                asked.json.write_text(
                    json.dumps(found, indent=1, default=str) + "\n", encoding="utf-8"
                )


QUICK = {"quick": (False, "the small rows")}
"""Option of benchmarks whose rows have a flag `quick`."""


def chosen(rows: Iterable[Any], asked: argparse.Namespace) -> list[Any]:
    """Return the rows that the options choose."""
    return [row for row in rows if row.quick or not asked.quick]
