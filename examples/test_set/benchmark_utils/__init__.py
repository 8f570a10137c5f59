"""Certificates of format 2 as programs in doubles with their exact optimum."""

import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from scipy import sparse

INSTANCES = Path(__file__).parents[1] / "instances"
"""Folder of the certificates."""


@dataclass(frozen=True)
class CertifiedProgram:
    """Program min 1/2 x'Px + q'x + c  s.t.  A x = b, G x <= h, with its exact optimum.

    Parameters
    ----------
    P, A, G : csc_matrix
        Matrices in doubles, without rounding.
    q, b, h : ndarray
        Vectors in doubles, without rounding.
    c : Fraction
        Constant of the objective.
    optimum : Fraction
        Optimal value, which the certificate proves.
    """

    name: str
    P: sparse.csc_matrix
    q: np.ndarray
    c: Fraction
    A: sparse.csc_matrix
    b: np.ndarray
    G: sparse.csc_matrix
    h: np.ndarray
    optimum: Fraction


def names() -> list[str]:
    """Return the names of all instances."""
    return sorted(file.stem for file in INSTANCES.glob("*.json"))


def read(name: str) -> CertifiedProgram:
    """Return an instance by its name.

    Raises
    ------
    ValueError
        If the certificate is not of an exact optimum, or a number is no double.
    """
    document = json.loads((INSTANCES / f"{name}.json").read_text(encoding="ascii"))
    stated = document["problem"]
    if document["mode"] != "exact" or stated["cones"] or document["primal"] is None:
        raise ValueError(f"{name} has no exact optimum of a quadratic or linear program")
    q, b, h = (np.array([_double(v) for v in stated[key]]) for key in ("q", "b", "h"))
    lower, A, G = (
        sparse.csc_matrix(
            (
                [_double(v) for _, _, v in stated[key]],
                ([i for i, _, _ in stated[key]], [j for _, j, _ in stated[key]]),
            ),
            shape=(rows, len(q)),
        )
        for key, rows in (("P", len(q)), ("A", len(b)), ("G", len(h)))
    )
    P = sparse.csc_matrix(lower + sparse.tril(lower, -1).T)
    optimum = _rational(document["claim"]["lower"])
    return CertifiedProgram(name, P, q, _rational(stated["c"]), A, b, G, h, optimum)


def _rational(number: int | float | str) -> Fraction:
    """Return the rational number that a certificate has as a number or a text."""
    if not isinstance(number, str):
        return Fraction(number)
    parts = [int(part, 16 if "x" in part else 10) for part in number.split("/")]
    return Fraction(*parts)


def _double(number: int | float | str) -> float:
    exact = _rational(number)
    if Fraction(float(exact)) != exact:
        raise ValueError(f"{number} is no double")
    return float(exact)
