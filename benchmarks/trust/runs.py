"""Runs of all packages on all instances: each package in a process of its own.

The process is started anew where it ended.
"""

from __future__ import annotations

import importlib.util
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from clock import cpu_so_far

from trust.instances import Instance
from trust.load import LIMIT_SHARE, share

HERE = Path(__file__).parent
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
GIGABYTES = 4.0
"""Largest memory of a package."""
SILENCE_SECONDS = 6.0
"""Wall seconds for each CPU second of the limit until a silent process is ended.

It then sleeps, or the machine runs other work.
"""
CHECK_SECONDS = 0.5
"""Seconds between two checks of the CPU time of a process."""
LINES = 12
"""Lines of standard error that are kept of a failure: the end of a traceback."""
START_UP_SECONDS = 120.0
"""Wall seconds that a process has besides.

They are for its imports, its data and its first, small fit, or to write its answer.
"""


@dataclass(frozen=True)
class Package:
    """Entry of packages.toml."""

    name: str
    package: str
    module: str
    fit: str
    tolerances: tuple[float, ...]
    problems: Mapping[str, Mapping[str, Any]]

    @property
    def present(self) -> bool:
        """True if it is installed."""
        return all(
            importlib.util.find_spec(name) is not None
            for name in (self.module, *(["cvxpy"] if self.fit == "cvxpy" else []))
        )


@dataclass(frozen=True)
class Run:
    """Result of a package on an instance at a tolerance.

    Attributes
    ----------
    package : str
        Name of the package.
    instance : Instance
        Problem to solve.
    tolerance : float
        Tolerance of the package.
    rough : bool
        True if it is the package's loosest tolerance.
    file : Path
        File of its model.
    seconds : float or None
        CPU seconds of the fit; None if it failed.
    done, claimed, dual
        Report of the package (see `fits.Model`).
    wall : float
        Wall seconds of the fit.
    failure : str
        Reason that there is no model.
    said : str
        End of the standard error of a failed run.
    """

    package: str
    instance: Instance
    tolerance: float
    rough: bool
    file: Path
    seconds: float | None = None
    done: bool | None = None
    claimed: float | None = None
    dual: bool = False
    wall: float = 0.0
    failure: str = ""
    said: str = ""


class Crash(Exception):
    """The end or silence of a process, which need not be the fault of the package."""


class Broken(Exception):
    """The failure of a package on every instance."""


def processors() -> list[int]:
    """Return the processors that this process may use."""
    return (
        sorted(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else list(range(os.cpu_count() or 1))
    )


def packages(table: Path = HERE / "packages.toml") -> list[Package]:
    """Return all entries of the table of options."""
    entries = tomllib.loads(table.read_text(encoding="utf-8"))
    return [
        Package(name, **{**entry, "tolerances": tuple(entry["tolerances"])})
        for name, entry in entries.items()
    ]


class Worker:
    """The process of a package, on one processor; its standard error goes to a file."""

    def __init__(self, processor: int, errors: IO[bytes]) -> None:
        self.command = [sys.executable, "-m", "trust.worker", str(processor), f"{GIGABYTES:g}"]
        self.process: subprocess.Popen[bytes] | None = None
        self.errors = errors

    def start(self) -> subprocess.Popen[bytes]:
        """Return the process, a new one if there is none."""
        if self.process is None:
            paths = [
                str(HERE.parent),
                str(HERE.parents[1] / "src"),
                *filter(None, [os.environ.get("PYTHONPATH")]),
            ]
            environment = os.environ | ONE_THREAD | {"PYTHONPATH": os.pathsep.join(paths)}
            # without a buffer, in which a line could lie that `select` does not see
            pipe = subprocess.PIPE
            self.errors.seek(0)
            self.errors.truncate()
            self.process = subprocess.Popen(
                self.command,
                env=environment,
                stdin=pipe,
                stdout=pipe,
                stderr=self.errors,
                bufsize=0,
            )
        return self.process

    def asked(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Ask for an answer to a request.

        Raises
        ------
        Crash
            The process ended, or did not answer.
        """
        process, seconds = self.start(), float(request["seconds"])
        assert process.stdin is not None
        with suppress(BrokenPipeError):
            process.stdin.write(json.dumps(request).encode() + b"\n")
        first = self.line(START_UP_SECONDS, np.inf)
        return (
            self.line(START_UP_SECONDS + SILENCE_SECONDS * seconds, seconds)
            if "started" in first
            else first
        )

    def line(self, wall: float, cpu: float) -> dict[str, Any]:
        """Return the next line of the process, or the reason that there is none.

        The process is ended if that takes too many seconds, of wall or of CPU time.
        """
        process, start = self.start(), time.monotonic()
        assert process.stdout is not None
        spent = cpu_so_far(process.pid)
        while not select.select([process.stdout], [], [], CHECK_SECONDS)[0]:
            if cpu_so_far(process.pid) - spent > cpu:
                self.stop()
                return {"failure": f"more than {cpu:g} CPU seconds"}
            if time.monotonic() - start > wall:
                self.stop()
                raise Crash(f"no answer within {wall:g} seconds of wall time")
        if text := process.stdout.readline():
            answer: dict[str, Any] = json.loads(text)
            return answer
        process.wait(START_UP_SECONDS)
        raise Crash(ended(self.stop()))

    def close(self) -> None:
        """End the process."""
        self.stop()

    def said(self) -> str:
        """Return the end of the standard error of the process."""
        self.errors.seek(0)
        return "\n".join(
            self.errors.read().decode("utf-8", errors="replace").strip().splitlines()[-LINES:]
        )

    def stop(self) -> int:
        """End the process, and return its status."""
        if self.process is None:
            return 0
        self.process.kill()
        status = self.process.wait(START_UP_SECONDS)
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()
        self.process = None
        return status


def ended(status: int) -> str:
    """Return the reason that a process ended by itself, as text."""
    return (
        f"crashed by {signal.Signals(-status).name}"
        if status < 0
        else f"its process ended with status {status}"
    )


def runs(
    package: Package, chosen: list[Instance], folder: Path, seconds: float, processor: int
) -> Iterator[Run]:
    """Return all runs of a package, the loosest tolerance first.

    One that failed is not tried at a tighter tolerance.

    Parameters
    ----------
    folder : Path
        Folder of models and answers. A run that was answered there is not repeated if the
        answer `is_sound`. Crashes, and fits that waited for their processor, are not
        kept: they say more of the machine than of the package.

    Raises
    ------
    Broken
        If every run failed.
    """
    found = []
    with tempfile.TemporaryFile() as errors, closing(Worker(processor, errors)) as worker:
        for instance in chosen:
            if instance.problem not in package.problems:
                continue
            failed: dict[str, Any] = {}
            for tolerance in package.tolerances:
                file = folder / f"{package.name}, {instance.name}, {tolerance:g}.npz"
                request: dict[str, Any] = {
                    "instance": asdict(instance),
                    "fit": package.fit,
                    "options": package.problems[instance.problem],
                }
                request |= {"tolerance": tolerance, "file": str(file), "seconds": seconds}
                answer = failed or answered(worker, request)
                failed = answer if "failure" in answer else {}
                found.append(
                    Run(
                        package.name,
                        instance,
                        tolerance,
                        tolerance == package.tolerances[0],
                        file,
                        **answer,
                    )
                )
                yield found[-1]
    if found and all(run.failure for run in found):
        raise Broken(
            f"{package.name}: all {len(found)} runs failed, the last one because "
            f"{found[-1].failure!r}; {said(found[-1])}"
        )


def answered(worker: Worker, request: Mapping[str, Any]) -> dict[str, Any]:
    """Take the answer to a request from its folder, or ask for it."""
    before = Path(request["file"] + ".json")
    if before.is_file() and is_sound(kept := json.loads(before.read_text(encoding="utf-8"))):
        return dict(kept)
    try:
        answer = worker.asked(request)
    except Crash as crash:
        return {"failure": str(crash), "said": worker.said()}
    if "failure" in answer:
        answer["said"] = worker.said()
    if is_sound(answer):
        before.write_text(json.dumps(answer), encoding="utf-8")
    return answer


def is_sound(answer: Mapping[str, Any]) -> bool:
    """Return True if an answer can be reused.

    It is a failure with its process's message, or a fit whose seconds show little
    waiting.
    """
    if "failure" in answer:
        return "said" in answer
    return "wall" in answer and share(answer["seconds"], answer["wall"]) <= LIMIT_SHARE


def said(run: Run) -> str:
    """Return the standard error of a failed run, and some advice."""
    wrote = (
        f"it wrote to standard error:\n{run.said}\n"
        if run.said
        else "it wrote nothing to standard error; "
    )
    return (
        f"{wrote}mend its entry in benchmarks/trust/packages.toml, or name the other packages "
        f"by --packages"
    )
