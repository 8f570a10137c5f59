"""Changed certificates put to all three checkers: `checker.py`, the program that is extracted from the proof, and Coq itself.

    python -m campaigns.three_checkers --seed 1 --examples 90

The certificates are those that `campaigns.rocq` proves, of 8 to 32 points a family and of programs. Each is changed so often in a digit,
with its digests and with renewed ones, and in every form of `two_checkers`; some have a value of another type. Coq computes the verdict of
each by `vm_compute`. A line for every certificate; exit status 1 where two checkers differ.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from campaigns.certificate_mutations import accepted, mutations, signed
from campaigns.rocq import certificates, quoted
from campaigns.two_checkers import drawn_types, of_form
from equimargin.proofs.coq import Answer, answers, build
from equimargin.proofs.coq.compiled import NotProved, coqc, library

TOGETHER = 60
"""Certificates in one file of Coq: loading its libraries takes as long as some ten of them, and memory grows with each."""
OF_TYPE = 20
"""Documents with a value of another type that are drawn for each certificate: of the 700 that there are, Coq would take minutes."""
HEAD = """From mathcomp Require Import all_ssreflect all_algebra.
From equimargin.checker Require Import json certificate.
Open Scope text_scope.
"""


def main() -> int:
    """Run from a shell; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--examples", type=int, default=90, help="changes of a digit for every certificate")
    options = parser.parse_args()
    rng, program, files, accepting, different = np.random.default_rng(options.seed), build(), 0, 0, 0
    with library() as compiled, tempfile.TemporaryDirectory() as folder:
        for name, document in certificates().items():
            changed = [one for _, mutation in mutations(document, rng, options.examples) for one in (mutation, signed(mutation))]
            changed += [form for _, form in of_form(document)]
            changed += [one for _, one in drawn_types(document, rng, OF_TYPE)]
            verdicts = [accepted(json.dumps(one).encode()) is not None for one in changed]
            said = "" if _program(program, changed, Path(folder)) == verdicts else ", DIFFERENT from the program's"
            if not all(_coq(batch, told, compiled, Path(folder)) for batch, told in _batches(changed, verdicts)):
                said += ", DIFFERENT from Coq's"
            files, accepting, different = files + len(changed), accepting + sum(verdicts), different + bool(said)
            print(f"{name}: {sum(verdicts)} of {len(changed)} accepted{said}", flush=True)
    print(f"in all: {accepting} of {files} accepted by checker.py, by the program and by Coq; {different} certificates with a difference")
    return 1 if different or not files else 0


def _batches(changed: list[dict[str, Any]], verdicts: list[bool]) -> Iterator[tuple[list[dict[str, Any]], list[bool]]]:
    """The changed certificates and their verdicts, as many at a time as Coq takes together."""
    for start in range(0, len(changed), TOGETHER):
        yield changed[start : start + TOGETHER], verdicts[start : start + TOGETHER]


def _program(program: Path, changed: list[dict[str, Any]], folder: Path) -> list[bool]:
    """Which of them the program accepts."""
    paths = [folder / f"{place}.json" for place in range(len(changed))]
    for path, one in zip(paths, changed, strict=True):
        path.write_text(json.dumps(one))
    return [answer is Answer.ACCEPTED for answer in answers(program, paths)]


def _coq(changed: list[dict[str, Any]], verdicts: list[bool], compiled: Path, folder: Path) -> bool:
    """Whether Coq's verdicts are these."""
    lemmas = (
        f"Lemma verdict_{place} : check {quoted(one)} = {str(told).lower()}. Proof. by vm_compute. Qed."
        for place, (one, told) in enumerate(zip(changed, verdicts, strict=True))
    )
    file = folder / "verdicts.v"
    file.write_text("\n".join([HEAD, *lemmas, ""]), encoding="ascii")
    try:
        coqc(file, compiled)
    except NotProved as reason:
        print(reason)
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
