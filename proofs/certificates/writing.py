"""JSON document of a certificate: order of its parts, numbers, digests, and file."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from equimargin.proofs import checker
from equimargin.solvers.problem_file import whole

Mode = Literal["proven", "exact"]
LONGEST_DECIMAL = 1024
"""Longest integer that is written in decimals, in bits.

Longer ones are parsed faster in hexadecimal.
"""


def document(
    schema: str,
    mode: Mode | None,
    claim: Mapping[str, Any],
    semidefinite: str,
    stated: Mapping[str, Any],
    points: Mapping[str, Any],
) -> dict[str, Any]:
    """Return a certificate, with the digests of its problem and of its points.

    Parameters
    ----------
    schema : str
        Name of the schema.
    mode : Mode or None
        Value of the key `mode`; None for the schema of paths, which has no such key.
    claim : mapping
        Claimed bounds, or claimed range and gap of a path.
    semidefinite : str
        Argument that the quadratic term is positive semidefinite, as named by the
        checker.
    stated : mapping
        Problem, or program.
    points : mapping
        Points that prove the claim, by the names of the schema.
    """
    kind = {} if mode is None else {"mode": mode}
    proof = list(points.values())
    digests = {
        "problem": checker.sha256(stated),
        "points": checker.sha256(proof if mode is not None else proof[0]),
    }
    return {
        "schema": schema,
        **kind,
        "claim": claim,
        "semidefinite": semidefinite,
        "problem": stated,
        **points,
        "digests": digests,
    }


def integer(v: int) -> int | str:
    """Return an integer as JSON; as hexadecimal text if decimals would be slow to parse.

    Parameters
    ----------
    v : int
        Integer.
    """
    return v if v.bit_length() <= LONGEST_DECIMAL else hex(v)


def ratio(v: Fraction) -> str:
    """Return a rational number as the text p/q.

    Parameters
    ----------
    v : Fraction
        Number.
    """
    return "/".join(str(integer(part)) for part in v.as_integer_ratio())


def number(v: Fraction) -> int | str:
    """Return a rational number as JSON: an integer, or the text p/q.

    Parameters
    ----------
    v : Fraction
        Number.
    """
    return integer(v.numerator) if v.denominator == 1 else ratio(v)


def write_certificate(certificate: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Write a certificate to a file; after an error the file is as it was before.

    Parameters
    ----------
    certificate : mapping
        Certificate.
    path : str or path-like
        Path of the file.

    Raises
    ------
    ValueError
        If the certificate is longer than the checker reads.
    OSError
        If the file cannot be written.
    """
    text = json.dumps(certificate, allow_nan=False, separators=(",", ":")) + "\n"
    if len(text) > checker.LARGEST_FILE:
        raise ValueError(
            f"the certificate has {len(text):,} bytes, and its checker reads "
            f"{checker.LARGEST_FILE:,}"
        )
    with whole(Path(path)) as part:
        part.write_text(text, encoding="ascii", newline="\n")
