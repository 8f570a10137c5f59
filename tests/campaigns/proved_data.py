"""Certificates of whole data sets, of all families by three kernels, put to all three checkers: a table of verdicts and CPU seconds.

    python -m campaigns.proved_data [--data DIR] [--folder DIR] [--only TEXT]

Each bundled data set is compared as a user does it,
`equimargin compare NAME --kernel KERNEL --certify FOLDER`, and once more with C = inf; with --data,
so are the first 20 queries of MQ2008 and the first one of OHSUMED. `checker.py`, the program that
is extracted from the proof, and Coq itself are asked about every certificate that is written.
Certificates that --folder has are not made again. All sets take two hours of CPU time, nearly all
of it Coq's, and up to 3 GB of memory. Exit status 1 where two checkers differ, a comparison fails,
Coq does not prove a certificate, or there is none.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from equimargin.data import BUNDLED
from equimargin.proofs import checker
from equimargin.proofs.coq import Answer, NotProved, answer, build, prove

KERNELS = "linear", "polynomial", "rbf"
COSTS = {"": "1", " hard": "inf"}
"""What is said of a comparison by its cost, and the cost."""
QUERIES = 20
"""Queries of MQ2008 that are taken."""
LONGEST = 3600
"""Time limit of one comparison, in seconds of the clock."""
UNDECIDED = 4
"""The exit status of a comparison of which a family stays open."""


def main() -> int:
    """Run from a shell; the exit status."""
    options = _options()
    where = Path(options.folder or tempfile.mkdtemp())
    program = build()
    print(f"{'certificate':<52} {'kB':>7} {'Python s':>9} {'program s':>9} {'Coq s':>8}")
    asked = failed = refused = 0
    for name, data in _sets(options.data, where):
        for kernel, cost in product(KERNELS, COSTS):
            title = f"{name} {kernel}{cost}"
            if options.only in title:
                files = _certificates(title, data, ["--kernel", kernel, "--cost", COSTS[cost]], where)
                failed += files is None
                for file in files or ():
                    asked += 1
                    refused += not _judged(f"{title} {file.stem}", file, program)
    print(f"{asked} certificates, {refused} on which the checkers differ or that are not proved; {failed} comparisons failed")
    return 1 if failed or refused or not asked else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="the folder of public data sets")
    parser.add_argument("--folder", type=Path, help="where the certificates are kept; by default a temporary folder")
    parser.add_argument("--only", default="", help="only data sets and kernels whose names contain this")
    return parser.parse_args()


def _sets(public: Path | None, where: Path) -> Iterator[tuple[str, str]]:
    """The data sets: what they are called, and what `compare` calls them."""
    yield from zip(BUNDLED, BUNDLED, strict=True)
    if public is None:
        return
    where.mkdir(parents=True, exist_ok=True)
    for name, file, queries in (("mq2008", public / "mq2008" / "S1.txt", QUERIES), ("ohsumed", public / "ohsumed-queries-1-6.txt", 1)):
        first = where / f"{name}.txt"
        first.write_text("".join(_of_first_queries(file.read_text().splitlines(keepends=True), queries)))
        yield name, str(first)


def _of_first_queries(lines: list[str], queries: int) -> Iterator[str]:
    """The lines of the first queries, which are together in a file."""
    seen: list[str] = []
    for line in lines:
        query = line.split()[1]
        if query not in seen:
            seen.append(query)
        if len(seen) > queries:
            return
        yield line


def _certificates(title: str, data: str, choices: list[str], where: Path) -> list[Path] | None:
    """The certificates of a comparison, made if they are not there, or None where it fails.

    Lines say why it fails, and, where they are made, of which families none is written, and why.
    """
    name = title.replace(" ", ".")
    folder, made = where / name, where / f"{name}.made"
    if not folder.is_dir():
        task = ["--task", "ranking"] if Path(data).is_file() else []
        command = [sys.executable, "-m", "equimargin", "compare", data, *task, *choices, "--certify", str(made)]
        run = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST)
        if run.returncode not in (0, UNDECIDED):
            print(f"{title}: compare ended with {run.returncode}: {run.stderr.strip()}")
            return None
        for line in run.stdout.splitlines():
            if ": no certificate: " in line:
                print(f"{title} {line}")
        made.rename(folder)
    return sorted(folder.glob("*.json"))


def _judged(title: str, file: Path, program: Path) -> bool:
    """Print a line on a certificate; whether all checkers accept it."""
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
    print(f"{title:<52} {size / 1000:7.1f} {python:9.3f} {extracted:9.3f} {said:>8}", flush=True)
    accepted = status == 0 and verified == Answer.ACCEPTED.value
    if not accepted:
        print(f"{title}: {sentence} The program: {verified}.")
    return accepted and proved


def _seconds() -> float:
    """CPU seconds of this process and of the children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


if __name__ == "__main__":
    sys.exit(main())
