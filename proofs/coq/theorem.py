"""Certificate as a theorem: a Coq file with its bytes, proved by the checker in `rocq`.

    forall R : realFieldType, holds R certificate

The theorem states for every ordered field R: the minimum of the stated problem exists
and lies in the claimed interval. If the certificate claims less, the theorem states
only that: one end of the interval, that no point is feasible, or that the objective is
unbounded below. Python only looks up if the kernel is an RBF, and cuts the file into
strings, which Coq parses.

Formats 1 and 2 are covered. For an RBF kernel `holds` states the claim for every
exponential function on R, and for all points whose inner products are the kernel's
values; that such functions and points exist is not proved. For programs with
second-order cones whose two claimed bounds differ, a minimum need not exist: `holds`
states that no feasible point is below the lower bound, and that one is at most the
upper bound. The files of `rocq` are compiled at their first use, and stored in the
user's cache.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from equimargin.proofs.coq.compiled import NotProved, coqc, library, refuse_pipe
from equimargin.solvers.problem_file import whole

PIECE = 1000
"""Longest string in the Coq file, in bytes.

Coq's stack is too small for strings of 100,000.
"""
COVERED = (
    "it reads formats 1 and 2 as they are written here, with matrices of at most ten million "
    "entries, zeros included"
)
"""Scope of the checker proved in Coq, for the message on a rejected certificate."""
INSTALL = "apt-get install coq libcoq-mathcomp-algebra libcoq-mathcomp-algebra-tactics"
"""Command that installs Coq and the libraries of the theorems."""
CLOSED = "Closed under the global context"
"""Output of Coq's `Print Assumptions` for a theorem without axioms."""

CONDITION = (
    "for every exponential, and for points with these inner products; that there are such is "
    "not proved"
)
"""Condition of a theorem about an RBF kernel."""

HEAD = (
    "(** A certificate, byte by byte, and the theorem that its claim holds: written by "
    "equimargin, checked by"
)
FILE = """{head}
        coqc -Q ROCQ equimargin {module}.v          \
where ROCQ is the folder proofs/rocq of equimargin, compiled{condition} *)
From mathcomp Require Import all_ssreflect all_algebra.
From equimargin.checker Require Import json certificate.
Open Scope text_scope.
Definition certificate : seq text := [::
  {pieces}].
Theorem claim_holds : forall R : realFieldType, holds R certificate.
Proof. apply: check_sound. vm_cast_no_check (erefl true). Qed.
Print Assumptions claim_holds.
"""


def strings(data: bytes) -> str:
    """Return the bytes of a certificate as Coq strings of at most PIECE bytes.

    Parameters
    ----------
    data : bytes
        Certificate, in ASCII.

    Raises
    ------
    NotProved
        If a byte is not ASCII.
    """
    if not data.isascii():
        raise NotProved(
            "the certificate has characters that are not ASCII, which its format does not need"
        )
    text = data.decode("ascii")
    return ";\n  ".join(
        '"' + text[at : at + PIECE].replace('"', '""') + '"' for at in range(0, len(text), PIECE)
    )


def theorem(data: bytes, module: str) -> str:
    """Return the Coq file of a certificate.

    Parameters
    ----------
    data : bytes
        Certificate, in ASCII.
    module : str
        Name of the Coq file without suffix.

    Raises
    ------
    NotProved
        If a byte is not ASCII.
    """
    given = condition(data)
    return FILE.format(
        head=HEAD,
        module=module,
        pieces=strings(data),
        condition=f". The theorem holds\n        {given}" if given else "",
    )


def condition(data: bytes) -> str:
    """Return the condition of a certificate's theorem; empty unless the kernel is an RBF.

    Parameters
    ----------
    data : bytes
        Certificate.
    """
    try:
        kernel = json.loads(data)["problem"]["kernel"]
        return CONDITION if kernel["name"] == "rbf" else ""
    except (ValueError, LookupError, TypeError, RecursionError):
        return ""


def name_module(certificate: Path) -> str:
    """Return the name of a certificate's Coq file without suffix.

    Coq accepts letters, digits and underscores, and a letter as the first character.

    Parameters
    ----------
    certificate : Path
        Path of the certificate.
    """
    name = re.sub(r"[^A-Za-z0-9_]", "_", certificate.stem)
    return name if name[:1].isalpha() else f"certificate_{name}"


def prove(certificate: Path, announce: Callable[[str], object] = lambda said: None) -> Path:
    """Write the theorem of a certificate to a file in its folder, and have Coq check it.

    Parameters
    ----------
    certificate : Path
        Path of the certificate.
    announce : callable, optional
        Called with a sentence before files are compiled, as in `library`.

    Returns
    -------
    Path
        Path of the Coq file.

    Raises
    ------
    NotProved
        If Coq does not accept the theorem; the message has the reason. The Coq file may
        have been written all the same.
    OSError
        If a file cannot be read or written.
    """
    refuse_pipe(certificate)
    module = name_module(certificate)
    target = certificate.with_name(f"{module}.v")
    if target.exists() and not target.read_text(encoding="utf-8", errors="replace").startswith(
        HEAD
    ):
        raise NotProved(f"{target} exists and is no theorem of a certificate; move it")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / target.name
        copy.write_text(theorem(certificate.read_bytes(), module), encoding="ascii", newline="")
        with whole(target) as part:
            part.write_bytes(copy.read_bytes())
        if shutil.which("coqc") is None:
            raise NotProved(f"{target} is written, and there is no coqc to check it: {INSTALL}")
        with library(announce) as compiled:
            said = _checked(copy, compiled)
    if CLOSED not in said:
        raise NotProved(f"the theorem of {target} rests on axioms: {' '.join(said.split())}")
    return target


def _checked(file: Path, compiled: Path) -> str:
    """Return the output of Coq for a theorem.

    If the checker proved in Coq does not accept the certificate, the message says so.
    """
    try:
        return coqc(file, compiled)
    except NotProved as reason:
        if "check certificate" in str(reason):
            raise NotProved(
                f"the checker that is proved in Coq rejects the certificate, or cannot read it: "
                f"{COVERED}"
            ) from None
        raise
