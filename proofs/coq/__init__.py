"""Certificates checked by Coq: theorems about their bytes, and an extracted program.

theorem     the Coq file of a certificate, checked by Coq
program     the checker proved in Coq, extracted to OCaml: faster, and as sound as
            Coq's extraction is
compiled    the files of `rocq` that both need, compiled once
"""

from equimargin.proofs.coq.compiled import NotProved
from equimargin.proofs.coq.program import CheckerAnswer, answer, answers, build, built
from equimargin.proofs.coq.theorem import (
    CONDITION,
    COVERED,
    PIECE,
    condition,
    name_module,
    prove,
    strings,
    theorem,
)

__all__ = [
    "CONDITION",
    "COVERED",
    "PIECE",
    "CheckerAnswer",
    "NotProved",
    "answer",
    "answers",
    "build",
    "built",
    "condition",
    "name_module",
    "prove",
    "strings",
    "theorem",
]
