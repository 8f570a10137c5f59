"""Fuzzing of all file readers by Atheris, one after another, on damaged files.

    python -m campaigns fuzz.every --seconds 600 svmlight csv

For half of the seconds of a reader the files are random changes of its corpus, for the
other half nearly valid files from hypothesis. A case fails if the reader raises an
exception that it does not document, exceeds its time limit or a gigabyte of memory, or
runs code because of the file. Files of failing cases are written to
build/fuzz/READER/findings. Exit status 1 if there are any.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec

from campaigns.fuzz.readers import READERS
from campaigns.runner import HANG_SECONDS, Campaign, Check, Trial
from places import HANG, ROOT

FOLDER = ROOT / "build" / "fuzz"
"""Folder of failing cases, and of the corpora that Atheris extends."""
MODES = ("raw", "drawn")


def fuzzed(reader: str, seconds: int, mode: str, at: object) -> Trial:
    """Fuzz a reader in its own process and return the result."""
    command = [sys.executable, "-m", "campaigns.fuzz.one", reader, mode, str(seconds), str(FOLDER)]
    ended = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        timeout=2 * seconds + HANG,
    )
    log = FOLDER / reader / f"{mode}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(ended.stdout, encoding="utf-8")
    runs = re.search(r"stat::number_of_executed_units: (\d+)", ended.stdout)
    clean = ended.returncode == 0 and runs is not None
    return Trial(
        [] if clean else [f"A FINDING, in {log}"],
        Counter({f"{mode} files": int(runs[1]) if runs else 0}),
    )


def checks(seconds: int) -> Iterator[Check]:
    """Yield the check of every reader."""
    if find_spec("atheris") is None:
        raise SystemExit(
            "Atheris is not installed: pip install -c constraints.txt -e '.[test,fuzz]'"
        )
    for reader in READERS:
        share = seconds // len(MODES)
        yield Check(
            reader,
            partial(fuzzed, reader, share),
            lambda at: MODES[at.number],
            lambda _: len(MODES),
            share + HANG_SECONDS,
        )


CAMPAIGN = Campaign(__name__, __doc__, checks, 600, unit="seconds")
