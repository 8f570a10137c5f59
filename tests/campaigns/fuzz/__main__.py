"""Every reader in Atheris, one after the other: files that nobody would write.

    python -m campaigns.fuzz --seconds 600 svmlight csv

Half of the seconds of a reader are random bytes, which begin with its corpus; half are files that hypothesis draws, nearly right ones. What
is a finding: an exception that the reader does not document, a file that takes its reader longer than its clock, or more memory than a
gigabyte, and anything that a file makes it run. Files that are findings are kept in build/fuzz/READER/findings. Exit status 1 if there are.
"""

from __future__ import annotations

import argparse
import re
import resource
import subprocess
import sys
from importlib.util import find_spec

from campaigns.fuzz.readers import READERS
from places import HANG, ROOT

FOLDER = ROOT / "build" / "fuzz"
"""Where findings are kept, and what Atheris has found worth trying again."""
MODES = ("raw", "drawn")


def fuzzed(reader: str, mode: str, seconds: int) -> bool:
    """Fuzz a reader in a process of its own, and say what came of it; whether there was no finding."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    command = [sys.executable, "-m", "campaigns.fuzz.one", reader, mode, str(seconds), str(FOLDER)]
    ended = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", timeout=2 * seconds + HANG
    )
    log = FOLDER / reader / f"{mode}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(ended.stdout, encoding="utf-8")
    runs = re.search(r"stat::number_of_executed_units: (\d+)", ended.stdout)
    clean = ended.returncode == 0 and runs is not None
    said = "no finding" if clean else f"A FINDING, in {log}"
    cpu = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    print(f"{reader:12} {mode:6} {seconds:5} s, {cpu:5.0f} s of CPU time, {int(runs[1]) if runs else 0:10,} files: {said}", flush=True)
    return clean


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(prog="campaigns.fuzz", description="Files that nobody would write, for everything that reads files.")
    parser.add_argument("readers", nargs="*", help=f"by default all: {', '.join(READERS)}")
    parser.add_argument("--seconds", type=int, default=600, help="of each reader")
    asked = parser.parse_args()
    unknown = [name for name in asked.readers if name not in READERS]
    if unknown:
        parser.error(f"there is no reader {unknown[0]!r}; there are {', '.join(READERS)}")
    if find_spec("atheris") is None:
        parser.error("Atheris is not installed: pip install -c constraints.txt -e '.[test,fuzz]'")
    clean = [fuzzed(name, mode, asked.seconds // len(MODES)) for name in asked.readers or READERS for mode in MODES]
    return 0 if all(clean) else 1


if __name__ == "__main__":
    sys.exit(main())
