"""Verdict on a certificate of any format: equimargin's, VIPR's or POUNCE's."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from equimargin.proofs import checker
from equimargin.proofs.third_party import pounce, vipr

_VIPR = re.compile(rb"(?:[ \t\r\n\f\v]|%[^\n]*\n)*+VER[ \t\r\n\f\v]")
_POUNCE = f'"{pounce.SCHEMA}'.encode()


class FileVerdict(NamedTuple):
    """Verdict on the certificate in a file.

    Parameters
    ----------
    status : int
        0 if it is accepted, 1 if it is rejected, 2 if it cannot be read.
    sentence : str
        What is proven, or the first reason against it.
    program : str
        Name of the program that writes such files.
    """

    status: int
    sentence: str
    program: str


def verdict(path: str) -> FileVerdict:
    """Return the verdict on a file.

    Parameters
    ----------
    path : str
        Path of the file.
    """
    try:
        with Path(path).open("rb") as file:
            data = file.read(checker.LARGEST_FILE + 1)
    except OSError:
        return FileVerdict(*checker.verdict(path), "equimargin")
    if _VIPR.match(data):
        return FileVerdict(*_decided(data, _statement_of_vipr), "VIPR")
    if _POUNCE in data:
        return FileVerdict(*_decided(data, _statement_of_pounce), "POUNCE")
    return FileVerdict(*_decided(data, _statement), "equimargin")


def _statement(data: bytes) -> str:
    return checker.statement(checker.read_file(data))


def _decided(data: bytes, state: Callable[[bytes], str]) -> tuple[int, str]:
    """Return the exit status and the sentence for the content of a file."""
    try:
        return 0, f"ACCEPTED: {state(data)}"
    except vipr.UnsupportedError as reason:
        return 2, f"cannot be checked: {reason}"
    except MemoryError:
        return 1, "REJECTED: out of memory"
    except (ValueError, ArithmeticError, RecursionError) as reason:
        return 1, f"REJECTED: {reason}"


def _statement_of_vipr(data: bytes) -> str:
    claim = vipr.check(data)
    if claim.infeasible:
        return "linear program of VIPR: no point is feasible"
    lower = -math.inf if claim.lower is None else checker.outward(claim.lower, -1)
    upper = math.inf if claim.upper is None else checker.outward(claim.upper, 1)
    optimum = "maximum" if claim.maximised else "minimum"
    return f"linear program of VIPR: the {optimum} is in [{lower}, {upper}]"


def _statement_of_pounce(data: bytes) -> str:
    statement = checker.statement(pounce.translate(data))
    return f"program of POUNCE: {statement.removeprefix('program: ')}"
