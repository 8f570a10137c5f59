"""A certificate as a theorem: a Coq file that holds the certificate's bytes, and its proof by the checker that is proved in `rocq/checker`.

    forall R : realFieldType, holds R certificate        the minimum of the stated problem exists, and lies in the claimed interval

over every ordered field R; or, where the file claims only that, the one end of the
interval, that no point is feasible, or that there is no lower bound. Nothing of the
certificate is read here but whether its kernel is an RBF: it is cut into pieces, and
Coq reads them.

Formats 1 and 2 are covered. Of an RBF kernel `holds` speaks of every exponential on R,
and of all points whose inner products are the kernel's values: that there are such is
not proved. Of programs with second-order cones whose two ends differ, it says that no
feasible point is below the one and some is not above the other, as a minimum need not
exist. `rocq` is compiled at its first use, and kept in the user's cache.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from equimargin.proofs.coq.compiled import NotProved, coqc, library
from equimargin.solvers.problem_file import whole

PIECE = 1000
"""Bytes of a string in the Coq file: Coq's stack is too small for strings of 100,000."""
COVERED = (
    "it reads formats 1 and 2 as they are written here, with matrices of at most ten million "
    "entries, zeros included"
)
"""What the proved checker reads, as a sentence on a certificate that it refuses says it."""
INSTALL = "apt-get install coq libcoq-mathcomp-algebra libcoq-mathcomp-algebra-tactics"
"""What installs Coq and the libraries that the theorems need."""
CLOSED = "Closed under the global context"
"""What Coq says of a theorem that rests on no axiom."""

CONDITION = (
    "for every exponential, and for points with these inner products; that there are such is "
    "not proved"
)
"""What a theorem about an RBF kernel is conditional on."""

HEAD = (
    "(** A certificate, byte by byte, and the theorem that its claim holds: written by "
    "equimargin, checked by"
)
FILE = """{head}
        coqc -Q ROCQ equimargin {module}.v          where ROCQ is the folder proofs/rocq of equimargin, compiled{condition} *)
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
    """The bytes of a certificate as strings of Coq.

    Parameters
    ----------
    data : bytes
        The certificate, in ASCII.

    Raises
    ------
    NotProved
        A byte is not ASCII.
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
    """The Coq file of a certificate.

    Parameters
    ----------
    data : bytes
        The certificate, in ASCII.
    module : str
        The name of the Coq file, without its ending.

    Raises
    ------
    NotProved
        A byte is not ASCII.
    """
    given = condition(data)
    return FILE.format(
        head=HEAD,
        module=module,
        pieces=strings(data),
        condition=f". The theorem holds\n        {given}" if given else "",
    )


def condition(data: bytes) -> str:
    """What the theorem about a certificate is conditional on: nothing, but for an RBF kernel.

    Parameters
    ----------
    data : bytes
        The certificate.
    """
    try:
        kernel = json.loads(data)["problem"]["kernel"]
        return CONDITION if kernel["name"] == "rbf" else ""
    except (ValueError, LookupError, TypeError, RecursionError):
        return ""


def name_module(certificate: Path) -> str:
    """The name of a certificate's Coq file: Coq takes letters, digits and underscores, and no digit first."""
    name = re.sub(r"[^A-Za-z0-9_]", "_", certificate.stem)
    return name if name[:1].isalpha() else f"certificate_{name}"


def prove(certificate: Path, announce: Callable[[str], object] = lambda said: None) -> Path:
    """Write the theorem of a certificate beside it, and have Coq check it.

    Parameters
    ----------
    certificate : Path
        Its file.
    announce : Callable[[str], object]
        As in `library`.

    Returns
    -------
    The Coq file.

    Raises
    ------
    NotProved
        Coq does not check it, with the reason. The Coq file may then be there.
    OSError
        A file cannot be read or written.
    """
    module = name_module(certificate)
    target = certificate.with_name(f"{module}.v")
    if target.exists() and not target.read_text(encoding="utf-8", errors="replace").startswith(
        HEAD
    ):
        raise NotProved(f"{target} is there and is no theorem of a certificate; move it")
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
    """What Coq says of a theorem; that the proved checker does not accept the certificate is a sentence of its own."""
    try:
        return coqc(file, compiled)
    except NotProved as reason:
        if "check certificate" in str(reason):
            raise NotProved(
                f"the checker that is proved in Coq does not accept it, or does not read "
                f"it: {COVERED}"
            ) from None
        raise
