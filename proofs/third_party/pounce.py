"""Translation of POUNCE's certificates of convex programs into certificates of format 2.

POUNCE writes a program in rational numbers, and a point with multipliers, or multipliers
that prove that no point is feasible, or a direction along which the objective is
unbounded. Only these numbers are taken over: the checker of format 2 decides anew if
the objective is convex and the claim proven. POUNCE's rows `lower <= a'x` and
`a'x <= upper` with multipliers >= 0, and its equations with multipliers of any sign,

    M x + c  =  sum_i lambda_i (+-a_i)  +  sum_k mu_k e_k,

are rows of G with z = lambda, and rows of A with y = -mu.

References
----------
"POUNCE Lean-certificate schema, v1", of the POUNCE project.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

from equimargin.proofs import checker
from equimargin.proofs.certificates.writing import document, number
from equimargin.proofs.third_party.vipr import UnsupportedError

SCHEMA = "pounce.lean-cert/v1"
"""First characters of the key `schema`."""


def translate(data: bytes) -> dict[str, Any]:
    """Return the certificate of format 2 with the program, points and claim of POUNCE's.

    Parameters
    ----------
    data : bytes
        Content of POUNCE's file.

    Raises
    ------
    UnsupportedError
        If the certificate is of a problem, verdict or tolerance that is not checked.
    ValueError
        If the certificate is not in the format, or is not of a convex program.
    """
    given = checker.read_file(data)
    if not str(_key(given, "schema")).startswith(SCHEMA):
        raise ValueError(f"the schema must begin with {SCHEMA}")
    if (kind := _key(given, "problem_class")) != "qp-convex":
        raise UnsupportedError(f"the problem class {kind!r:.40} is not checked, only qp-convex")
    if _rational(_key(given, "tolerance")) != 0:
        raise UnsupportedError("the tolerance must be 0")
    stated, equations = _program(_key(given, "problem"))
    claimed, primal, dual = _sides(given, equations)
    points = {"primal": primal, "dual": dual}
    return document(
        checker.PROGRAM_SCHEMA,
        "exact",
        {"lower": claimed, "upper": claimed},
        checker.semidefiniteness_of_program(checker.read_program(stated).P),
        stated,
        points,
    )


def _program(given: Any) -> tuple[dict[str, Any], list[bool]]:
    """Return the program in standard form, and for every row True if it is an equation."""
    objective, bounds = _key(given, "objective"), _key(given, "var_bounds")
    if (kind := _key(objective, "kind")) != "quadratic":
        raise UnsupportedError(f"the objective is {kind!r:.40}, only quadratic ones are checked")
    q = [_text(v) for v in _array(_key(objective, "c"))]
    n = len(q)
    if _key(given, "n_vars") != n:
        raise ValueError(f"n_vars must be the number of entries of c, {n}")
    if _key(bounds, "lower") != ["-inf"] * n or _key(bounds, "upper") != ["+inf"] * n:
        raise ValueError("var_bounds must be infinite, with the bounds among the constraints")
    rows = [_Row.read(row, n) for row in _array(_key(given, "constraints"))]
    A, b = _part([row for row in rows if row.is_equation])
    G, h = _part([row for row in rows if not row.is_equation])
    c, P = _text(_key(objective, "constant")), _quadratic_part(objective, n)
    stated = {"P": P, "q": q, "c": c, "A": A, "b": b, "G": G, "h": h, "cones": []}
    return stated, [row.is_equation for row in rows]


class _Row(NamedTuple):
    """Constraint left'x = side, or left'x <= side."""

    is_equation: bool
    left: list[Fraction]
    side: Fraction

    @classmethod
    def read(cls, given: Any, n: int) -> _Row:
        """Return a constraint of a certificate, lower <= left'x as -left'x <= -lower."""
        left = [_rational(v) for v in _array(_key(given, "coeffs"))]
        if len(left) != n:
            raise ValueError(f"a constraint must have {n} coefficients")
        lower, upper = _key(given, "lower"), _key(given, "upper")
        if lower == upper or (lower == "-inf" and upper != "+inf"):
            return cls(lower == upper, left, _rational(upper))
        if upper != "+inf":
            raise ValueError("a constraint must be an equation, or have one finite side")
        return cls(False, [-v for v in left], -_rational(lower))


def _part(rows: list[_Row]) -> tuple[list[list[Any]], list[int | str]]:
    """Return the nonzero entries of the left sides, and the right sides."""
    entries = [[i, j, number(v)] for i, row in enumerate(rows) for j, v in enumerate(row.left) if v]
    return entries, [number(row.side) for row in rows]


def _quadratic_part(objective: Any, n: int) -> list[list[Any]]:
    """Return the entries of P on and below its diagonal."""
    Q, half = _key(objective, "Q"), _key(objective, "half_quadratic")
    if not isinstance(half, bool) or (_key(Q, "rows"), _key(Q, "cols")) != (n, n):
        raise ValueError(f"Q must be {n} x {n}, and half_quadratic true or false")
    if _key(Q, "symmetric") is not True:
        raise ValueError("Q must be symmetric, with its entries on and below the diagonal")
    factor = 1 if half else 2
    return [
        [_key(entry, "i"), _key(entry, "j"), number(factor * _rational(_key(entry, "val")))]
        for entry in _array(_key(Q, "entries"))
    ]


def _sides(
    given: Any, equations: list[bool]
) -> tuple[int | str, dict[str, Any] | None, dict[str, Any] | None]:
    """Return the claimed optimum, and the primal and the dual point that prove it."""
    verdict, witnesses = _key(given, "verdict"), _key(given, "witnesses")
    if verdict == "global-min":
        candidate = _key(given, "candidate")
        x = [_text(v) for v in _array(_key(candidate, "x"))]
        dual = _multipliers(_key(witnesses, "duals"), equations)
        return _text(_key(candidate, "objective")), {"x": x}, {"x": x} | dual
    if verdict == "infeasible":
        return "inf", None, _multipliers(_key(_key(witnesses, "farkas"), "y"), equations)
    if verdict == "unbounded":
        ray = _key(witnesses, "recession")
        x, d = ([_text(v) for v in _array(_key(ray, name))] for name in ("x0", "d"))
        return "-inf", {"x": x, "d": d}, None
    raise UnsupportedError(
        f"the verdict {verdict!r:.40} is not checked, only global-min, infeasible and unbounded"
    )


def _multipliers(given: Any, equations: list[bool]) -> dict[str, Any]:
    """Return the multipliers y of the equations and z of the inequalities."""
    numbers = [_rational(v) for v in _array(given)]
    if len(numbers) != len(equations):
        raise ValueError(f"there must be {len(equations)} multipliers, one for each constraint")
    pairs = list(zip(numbers, equations, strict=True))
    return {
        "y": [number(-v) for v, equal in pairs if equal],
        "z": [number(v) for v, equal in pairs if not equal],
    }


def _key(given: Any, name: str) -> Any:
    if not isinstance(given, dict) or name not in given:
        raise ValueError(f"an object with the key {name} is missing")
    return given[name]


def _array(given: Any) -> list[Any]:
    if not isinstance(given, list):
        raise ValueError(f"an array must stand where {given!r:.40} is")
    return given


def _rational(given: Any) -> Fraction:
    """Return the number of an object with the texts `num` and `den`."""
    parts = _key(given, "num"), _key(given, "den")
    if not all(isinstance(part, str) for part in parts):
        raise ValueError("num and den must be texts of decimal digits")
    return checker.rational("/".join(parts))


def _text(given: Any) -> int | str:
    return number(_rational(given))
