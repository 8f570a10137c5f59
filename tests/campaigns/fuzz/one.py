"""Fuzzing of one reader by Atheris, in its own process.

Files are random changes of the corpus (raw), or samples of hypothesis (drawn).

python -m campaigns.fuzz.one READER raw|drawn SECONDS FOLDER
"""

from __future__ import annotations

import inspect
import resource
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType

import atheris
from hypothesis import HealthCheck, given, settings

from campaigns.fuzz.drawn import CORPUS
from campaigns.fuzz.readers import READERS
from campaigns.fuzz.watch import Finding, examine

MEMORY = 2**30
"""Memory that a reader may use in addition to that before the first file, in bytes."""
CLOCK = {"certificate": 120}
"""CPU seconds until a reader counts as hanging, for readers with limits above SECONDS."""
SECONDS = 20
"""CPU seconds until any other reader counts as hanging, and the process is ended."""
WAITING = 300
"""Wall time until a reader that uses no CPU time counts as hanging, in seconds.

On a busy machine a reader sometimes waits nearly as long.
"""
LONGEST_FILE = 2**16
"""Maximum size of a file, in bytes; larger files take longer and find no more."""

LENGTHEN = {"raw": 20, "drawn": 0}
"""Value of libFuzzer's len_control: 0 tries long files at once, 20 lengthens them slowly.

hypothesis draws nothing from few bytes.
"""


def functions(module: ModuleType) -> Iterator[FunctionType]:
    """Yield the functions and methods defined by a module."""
    for found in vars(module).values():
        members = (
            list(vars(found).values())
            if inspect.isclass(found) and found.__module__ == module.__name__
            else [found]
        )
        for member in members:
            function = getattr(member, "__func__", getattr(member, "fget", member))
            if isinstance(function, FunctionType) and function.__module__ == module.__name__:
                yield function


def raw(name: str, folder: Path, found: Path) -> Callable[[bytes], None]:
    """Return a function that passes bytes to a reader, and writes failing cases."""
    reader, clock = READERS[name], CLOCK.get(name, SECONDS)

    def put(content: bytes) -> None:
        try:
            signal.setitimer(signal.ITIMER_PROF, clock)
            examine(reader, content, folder)
            signal.setitimer(signal.ITIMER_PROF, 0)
        except Finding:
            (found / sha256(content).hexdigest()[:16]).write_bytes(content)
            raise

    return put


def drawn(name: str, folder: Path, found: Path) -> Callable[[bytes], object]:
    """Return a function that passes to a reader a file drawn by hypothesis from bytes."""
    put = raw(name, folder, found)

    @settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(READERS[name].drawn)
    def test(content: bytes) -> None:
        put(content)

    fuzz: Callable[[bytes], object] = test.hypothesis.fuzz_one_input  # type: ignore[attr-defined]
    # The first call of hypothesis is slow, and must not count as part of a file's time.
    fuzz(bytes(LONGEST_FILE))
    return fuzz


def main(name: str, mode: str, seconds: str, build: str) -> None:
    """Fuzz until the seconds are over; the process ends with the first failing case."""
    warnings.simplefilter("ignore")
    reader = READERS[name]
    for module in reader.modules:
        for function in functions(import_module(module)):
            atheris.instrument_func(function)
    grown, found, folder = (
        Path(build).absolute() / name / part for part in (mode, "findings", f"{mode}_now")
    )
    for each in (grown, found, folder):
        each.mkdir(parents=True, exist_ok=True)
    for seed in sorted((CORPUS / name).iterdir()):
        # Memory used by the first calls must not count as part of a file's memory.
        examine(reader, seed.read_bytes(), folder)
    put = (raw if mode == "raw" else drawn)(name, folder, found)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024 + MEMORY // 2**20
    flags = [
        *(
            f"-max_total_time={seconds}",
            f"-timeout={WAITING}",
            f"-rss_limit_mb={rss}",
            f"-max_len={LONGEST_FILE}",
        ),
        *(
            f"-artifact_prefix={found}/",
            "-print_final_stats=1",
            f"-len_control={LENGTHEN[mode]}",
            str(grown),
        ),
    ]
    atheris.Setup(["fuzz", *flags, *([str(CORPUS / name)] if mode == "raw" else [])], put)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
