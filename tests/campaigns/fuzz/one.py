"""One reader in Atheris, in a process of its own: random bytes from the corpus on, or what hypothesis draws.

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
"""Bytes that a reader may take beyond what the process has before the first file."""
CLOCK = {"certificate": 120}
"""CPU seconds after which a file hangs its reader, where a reader's own limits allow more than SECONDS."""
SECONDS = 20
"""CPU seconds after which a file hangs its reader: the process is ended then."""
WAITING = 300
"""Seconds after which a reader that waits, and takes no CPU time, hangs; a machine that is busy takes as long at times."""
LONGEST_FILE = 2**16
"""Bytes of the longest file that is tried; longer ones are slower and show nothing else."""

LENGTHEN = {"raw": 20, "drawn": 0}
"""How slowly Atheris makes files longer: hypothesis draws nothing of few bytes, so there at once."""


def functions(module: ModuleType) -> Iterator[FunctionType]:
    """The functions and methods that a module defines."""
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
    """A function that puts bytes to a reader, and keeps those that are a finding."""
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
    """Such a function that makes its bytes a file by the reader's strategy."""
    put = raw(name, folder, found)

    @settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(READERS[name].drawn)
    def test(content: bytes) -> None:
        put(content)

    fuzz: Callable[[bytes], object] = test.hypothesis.fuzz_one_input  # type: ignore[attr-defined]
    fuzz(bytes(LONGEST_FILE))  # what hypothesis makes once is not on the clock of a file
    return fuzz


def main(name: str, mode: str, seconds: str, build: str) -> None:
    """Fuzz until the seconds are over; the process ends with the first finding."""
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
        # what is loaded at first use is no part of the memory of a file
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
