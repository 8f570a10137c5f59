"""Certificates of whole data sets, checked by all three checkers.

    python -m campaigns proved_data [PART ...]

The output is a table of verdicts and CPU seconds, for all families by three kernels.
The certificates come from `equimargin compare NAME --kernel KERNEL --certify FOLDER`,
with C = 1 and C = inf, on each bundled data set, and on the first 20 queries of MQ2008
and the first one of OHSUMED if `shared/data` has them. Every certificate is checked by
`checker.py`, by the program extracted from the Coq proof, and by Coq itself. All sets
take two hours of CPU time, nearly all of it in Coq, and up to 3 GB of memory. Exit
status 1 if two checkers differ, a comparison fails, Coq does not prove a certificate,
or a comparison gives no certificate.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from pathlib import Path

from campaigns.runner import Campaign, Check, Trial, once
from equimargin.data import BUNDLED
from equimargin.proofs import checker
from equimargin.proofs.coq import CheckerAnswer, NotProved, answer, build, prove
from public_data import SHARED

KERNELS = "linear", "polynomial", "rbf"
COSTS = {"": "1", " hard": "inf"}
"""Suffix of a comparison's name, and its cost."""
QUERIES = 20
"""Number of the first queries of MQ2008 used."""
LONGEST = 3600
"""Time limit of one comparison, in seconds of wall time."""
UNDECIDED = 4
"""Exit status of `equimargin compare` with an undecided family."""


def checks(_: int) -> Iterator[Check]:
    """Yield the check of each data set by each kernel and cost."""
    program = build()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for (name, data), kernel, cost in product(_sets(SHARED, folder), KERNELS, COSTS):
            command = [
                data,
                *(["--task", "ranking"] if Path(data).is_file() else []),
                "--kernel",
                kernel,
                "--cost",
                COSTS[cost],
            ]
            where = folder / f"{name}.{kernel}{cost}".replace(" ", ".")
            yield Check(
                f"{name} {kernel}{cost}",
                partial(judged, program, where),
                lambda _, command=command: command,  # type: ignore[misc]
                once,
                lines=rows,
            )


def rows(trials: Sequence[Trial]) -> Iterator[str]:
    """Yield a row for each certificate."""
    yield f"{'certificate':<40} {'kB':>7} {'Python s':>9} {'program s':>9} {'Coq s':>8}"
    for trial in trials:
        yield from trial.kept or ()


def _sets(public: Path, where: Path) -> Iterator[tuple[str, str]]:
    """Yield the names of the data sets, and the argument of `compare` for each."""
    yield from zip(BUNDLED, BUNDLED, strict=True)
    for name, file, queries in (
        ("mq2008", public / "mq2008" / "S1.txt", QUERIES),
        ("ohsumed", public / "ohsumed-queries-1-6.txt", 1),
    ):
        first = where / f"{name}.txt"
        if not file.is_file():
            continue
        first.write_text(
            "".join(_of_first_queries(file.read_text().splitlines(keepends=True), queries))
        )
        yield name, str(first)


def _of_first_queries(lines: list[str], queries: int) -> Iterator[str]:
    """Yield the lines of the first queries, whose rows are contiguous in the file."""
    seen: list[str] = []
    for line in lines:
        query = line.split()[1]
        if query not in seen:
            seen.append(query)
        if len(seen) > queries:
            return
        yield line


def judged(program: Path, where: Path, command: list[str], at: object) -> Trial:
    """Make the certificates of a comparison and return the verdicts of the three checkers."""
    run = subprocess.run(
        [sys.executable, "-m", "equimargin", "compare", *command, "--certify", str(where)],
        capture_output=True,
        text=True,
        timeout=LONGEST,
    )
    if run.returncode not in (0, UNDECIDED):
        return Trial([f"compare ended with {run.returncode}: {run.stderr.strip()}"])
    trial = Trial(kept=[line for line in run.stdout.splitlines() if ": no certificate: " in line])
    for file in sorted(where.glob("*.json")):
        _judge(file, program, trial)
        trial.counts["certificates"] += 1
    return trial if trial.counts else Trial(["there is no certificate"], kept=trial.kept)


def _judge(file: Path, program: Path, trial: Trial) -> None:
    """Check a certificate with all checkers, and note its row and faults in `trial`."""
    started = _seconds()
    status, sentence = checker.verdict(str(file))
    python, started = _seconds() - started, _seconds()
    try:
        verified = answer(program, file).value
    except NotProved as reason:
        verified = f"no answer: {reason}"
    extracted, started = _seconds() - started, _seconds()
    size, proved = file.stat().st_size, True
    try:
        prove(file)
        said = f"{_seconds() - started:8.1f}"
    except NotProved as reason:
        proved, said = False, f"NOT PROVED: {reason}"
    trial.kept.append(
        f"{file.stem:<40} {size / 1000:7.1f} {python:9.3f} {extracted:9.3f} {said:>8}"
    )
    if not (status == 0 and verified == CheckerAnswer.ACCEPTED.value and proved):
        trial.said.append(f"{file.stem}: {sentence} The program: {verified}. Coq: {said}.")


def _seconds() -> float:
    """Return the CPU seconds of this process and of its terminated children."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


CAMPAIGN = Campaign(__name__, __doc__, checks, 1)
