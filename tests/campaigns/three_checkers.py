"""Tampered certificates, checked by all three checkers.

    python -m campaigns three_checkers --seed 1 --examples 90

The checkers are `checker.py`, the program extracted from the Coq proof, and Coq itself,
which computes a verdict by `vm_compute`. The certificates are those of
`campaigns.rocq`: families at 8 to 32 points, and programs. A digit of each is changed
--examples times, with old and with renewed digests; there are also the changes of
`two_checkers.of_form` and some of `two_checkers.of_type`. Exit status 1 if two checkers
differ.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from campaigns.certificate_mutations import accepted, mutations, signed
from campaigns.rocq import certificates, quoted
from campaigns.runner import At, Campaign, Check, Trial, once
from campaigns.two_checkers import LIMIT_SECONDS, drawn_types, of_form
from equimargin.proofs.coq import CheckerAnswer, answers, build
from equimargin.proofs.coq.compiled import NotProved, coqc, library

TOGETHER = 60
"""Number of certificates in one file of Coq.

Loading Coq's libraries takes as long as some ten certificates, and memory increases
with each certificate.
"""
OF_TYPE = 20
"""Number of random documents with a value of another type, per certificate.

All 700 of a certificate would take Coq minutes.
"""
HEAD = """From mathcomp Require Import all_ssreflect all_algebra.
From equimargin.checker Require Import json certificate.
Open Scope text_scope.
"""


def checks(examples: int) -> Iterator[Check]:
    """Yield the check of every certificate."""
    program = build()
    with library() as compiled, tempfile.TemporaryDirectory() as made:
        for name, document in certificates().items():
            judge = partial(judged, program, compiled, Path(made), examples)
            yield Check(
                name,
                judge,
                lambda at, document=document: document,  # type: ignore[misc]
                once,
                LIMIT_SECONDS,
            )


def judged(
    program: Path, compiled: Path, folder: Path, examples: int, document: dict[str, Any], at: At
) -> Trial:
    """Return the number of accepted changes of a certificate, and disagreements."""
    rng = at.rng()
    changed = [
        one
        for _, mutation in mutations(document, rng, examples)
        for one in (mutation, signed(mutation))
    ]
    changed += [form for _, form in of_form(document)]
    changed += [one for _, one in drawn_types(document, rng, OF_TYPE)]
    verdicts = [accepted(json.dumps(one).encode()) is not None for one in changed]
    trial = Trial(counts=Counter({"accepted": sum(verdicts), "rejected": verdicts.count(False)}))
    if _program(program, changed, folder) != verdicts:
        trial.said.append("DIFFERENT from the program's")
    for start in range(0, len(changed), TOGETHER):
        part = slice(start, start + TOGETHER)
        trial.said += [
            f"DIFFERENT from Coq's: {reason}"
            for reason in _coq(changed[part], verdicts[part], compiled, folder)
        ]
    return trial


def _program(program: Path, changed: list[dict[str, Any]], folder: Path) -> list[bool]:
    """Return True for each document that the program accepts."""
    paths = [folder / f"{place}.json" for place in range(len(changed))]
    for path, one in zip(paths, changed, strict=True):
        path.write_text(json.dumps(one))
    return [answer is CheckerAnswer.ACCEPTED for answer in answers(program, paths)]


def _coq(
    changed: list[dict[str, Any]], verdicts: list[bool], compiled: Path, folder: Path
) -> Iterator[str]:
    """Yield the reason if Coq's verdicts differ from given ones."""
    lemmas = (
        f"Lemma verdict_{place} : check {quoted(one)} = {str(told).lower()}. Proof. by "
        f"vm_compute. Qed."
        for place, (one, told) in enumerate(zip(changed, verdicts, strict=True))
    )
    file = folder / "verdicts.v"
    file.write_text("\n".join([HEAD, *lemmas, ""]), encoding="ascii")
    try:
        coqc(file, compiled)
    except NotProved as reason:
        yield str(reason)


CAMPAIGN = Campaign(__name__, __doc__, checks, 90)
