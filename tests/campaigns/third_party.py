"""Certificates in the formats of VIPR and POUNCE, valid and forged.

    make third-party SEED=1 EXAMPLES=1000

Programs of small integers are solved in rational numbers, and written with their
optimum in a third party's format: each valid file must be accepted. Then CHANGES files
with a number, a sense or a line changed: each must be rejected, or state a program
whose optimum, computed anew, is as it claims. Exit status 1 if there is another one.
"""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from campaigns.runner import At, Campaign, Check, Trial
from equimargin.formulations.programs import Program, program_from_arrays
from equimargin.proofs import checker
from equimargin.proofs.third_party import pounce, vipr
from equimargin.solvers.exact.program import (
    Inconclusive,
    Infeasible,
    Optimum,
    UnboundedProgram,
    program_optimum,
)

CHANGES = 20
"""Forged files of one valid file."""
INFINITY = float("inf")
SENSES = "GLE"
Outcome = Optimum | Infeasible | UnboundedProgram | Inconclusive
Document = dict[str, Any]


def draw_program(rng: np.random.Generator, quadratic: bool) -> Document:
    """Return a program with rows, as plain values: sense, right side, coefficients."""
    n, m = int(rng.integers(1, 5)), int(rng.integers(1, 6))
    left = np.vstack([np.eye(n, dtype=int), rng.integers(-3, 4, (m, n))])
    # A bound of every variable is an inequality.
    senses = [SENSES[int(rng.integers(2 if i < n else 3))] for i in range(n + m)]
    root = rng.integers(-1, 2, (n, n))
    return {
        "maximised": False if quadratic else bool(rng.integers(2)),
        "P": [exact(row) for row in root.T @ root] if quadratic else None,
        "q": exact(rng.integers(-3, 4, n)),
        "rows": [
            [sense, side, exact(row)]
            for sense, side, row in zip(
                senses, exact(rng.integers(-4, 5, n + m)), left, strict=True
            )
        ],
    }


def exact(numbers: np.ndarray[Any, Any]) -> list[Fraction]:
    """Return integers as fractions."""
    return [Fraction(int(v)) for v in numbers]


def stated_program(document: Document) -> Program:
    """Return the minimisation that a document states."""
    equations = [row for row in document["rows"] if row[0] == "E"]
    others = [row for row in document["rows"] if row[0] != "E"]
    signs = [-1 if row[0] == "G" else 1 for row in others]
    factor = -1 if document["maximised"] else 1
    return program_from_arrays(
        document["P"],
        [factor * v for v in document["q"]],
        [row[2] for row in equations],
        [row[1] for row in equations],
        [[s * v for v in row[2]] for s, row in zip(signs, others, strict=True)],
        [s * row[1] for s, row in zip(signs, others, strict=True)],
    )


def factors(document: Document, found: Optimum | Infeasible) -> list[Fraction]:
    """Return the factors of the rows whose sum is the gradient of the minimised objective."""
    y, z = iter(found.y), iter(found.z)
    return [
        -next(y) if sense == "E" else next(z) if sense == "G" else -next(z)
        for sense, *_ in document["rows"]
    ]


def optimum(outcome: Outcome) -> Fraction | float | None:
    """Return the optimum of a minimisation, infinite ones included; None if unknown."""
    if isinstance(outcome, Optimum):
        return outcome.value
    if isinstance(outcome, Inconclusive):
        return None
    return INFINITY if isinstance(outcome, Infeasible) else -INFINITY


def draw_vipr(rng: np.random.Generator) -> Document | None:
    """Return a certificate as plain values, None if the program is unbounded."""
    document = draw_program(rng, quadratic=False)
    found = program_optimum(stated_program(document))
    if not isinstance(found, Optimum | Infeasible):
        return None
    sign = -1 if document["maximised"] else 1
    parts = {i: sign * v for i, v in enumerate(factors(document, found)) if v}
    m, derived = len(document["rows"]), []
    if rng.integers(3) == 0:
        derived.append(
            ["L", Fraction(int(rng.integers(-3, 4))), [Fraction(1)] * len(document["q"]), None]
        )
    if len(parts) > 1 and rng.integers(2):
        chosen = dict(list(parts.items())[: int(rng.integers(1, len(parts)))])
        derived.append([*combination(document, chosen, sign), chosen])
        parts = {i: v for i, v in parts.items() if i not in chosen} | {
            m + len(derived) - 1: Fraction(1)
        }
    all_rows = {"rows": [*document["rows"], *derived]}
    last = combination(all_rows, parts, sign)
    if isinstance(found, Optimum):
        last = ["L" if sign < 0 else "G", last[1], list(document["q"])]
    document["derived"] = [*derived, [*last, parts]]
    document["solutions"] = [list(found.x)] if isinstance(found, Optimum) else []
    value = sign * found.value if isinstance(found, Optimum) else None
    loose = Fraction(int(rng.integers(0, 2)))
    document["claim"] = None if value is None else [value - loose, value + loose]
    return document


def combination(document: Document, parts: dict[int, Fraction], sign: int) -> list[Any]:
    """Return the combination of rows as a row."""
    rows = [(v, document["rows"][i]) for i, v in parts.items()]
    width = len(document["rows"][0][2])
    left = [sum((v * row[2][j] for v, row in rows), Fraction(0)) for j in range(width)]
    equal = all(row[0] == "E" for _, row in rows)
    side = sum((v * row[1] for v, row in rows), Fraction(0))
    return ["E" if equal else "G" if sign > 0 else "L", side, left]


def write_vipr(document: Document) -> bytes:
    """Return the file of a certificate in VIPR's format."""
    q, rows, claim = document["q"], document["rows"], document["claim"]

    def entries(values: Any) -> str:
        given = dict(enumerate(values)) if isinstance(values, list) else values
        return f"{len(given)} " + " ".join(f"{i} {v}" for i, v in given.items())

    def written(name: str, row: Any) -> str:
        return f"{name} {row[0]} {row[1]} {'OBJ' if row[2] == q else entries(row[2])}"

    ends = "infeas" if claim is None else "range " + " ".join(map(str, claim))
    reasons = ["asm" if row[3] is None else f"lin {entries(row[3])}" for row in document["derived"]]
    lines = [
        "% drawn",
        "VER 1.0",
        f"VAR {len(q)} " + " ".join(f"x{j}" for j in range(len(q))),
        "INT 0",
        f"OBJ {'max' if document['maximised'] else 'min'} {entries(q)}",
        f"CON {len(rows)} 0",
        *(written(f"C{i}", row) for i, row in enumerate(rows)),
        f"RTP {ends}",
        f"SOL {len(document['solutions'])}",
        *(f"s{i} {entries(x)}" for i, x in enumerate(document["solutions"])),
        f"DER {len(reasons)}",
        *(
            f"{written(f'D{i}', row)} {{ {reason} }} -1"
            for i, (row, reason) in enumerate(zip(document["derived"], reasons, strict=True))
        ),
    ]
    return "\n".join(lines).encode()


def accept_vipr(document: Document) -> bool:
    """Return True if a certificate is accepted, with the claim that it has."""
    try:
        claim = vipr.check(write_vipr(document))
    except ValueError:
        return False
    stated = [None, None] if document["claim"] is None else document["claim"]
    assert [claim.lower, claim.upper] == [None if v in ("-inf", "inf") else v for v in stated]
    assert (claim.infeasible, claim.maximised) == (document["claim"] is None, document["maximised"])
    return True


def draw_pounce(rng: np.random.Generator) -> Document | None:
    """Return a certificate as plain values, None if the program is undecided."""
    document = draw_program(rng, quadratic=bool(rng.integers(2)))
    document["maximised"] = False
    found = program_optimum(stated_program(document))
    if isinstance(found, Inconclusive):
        return None
    if isinstance(found, Optimum):
        points = {"x": list(found.x), "objective": found.value}
    elif isinstance(found, UnboundedProgram):
        points = {"x0": list(found.x), "d": list(found.ray)}
    else:
        points = {}
    if not isinstance(found, UnboundedProgram):
        senses = [row[0] for row in document["rows"]]
        multipliers = zip(senses, factors(document, found), strict=True)
        points["duals"] = [abs(v) if sense != "E" else v for sense, v in multipliers]
    return document | {"points": points}


def write_pounce(document: Document) -> bytes:
    """Return the file of a certificate in POUNCE's format."""
    points, n = document["points"], len(document["q"])

    def number(v: Fraction) -> dict[str, str]:
        return {"num": str(v.numerator), "den": str(v.denominator)}

    def numbers(values: Any) -> list[dict[str, str]]:
        return [number(v) for v in values]

    witnesses: Document = {"duals": numbers(points.get("duals", ()))}
    candidate: Document = {}
    if "objective" in points:
        verdict = "global-min"
        candidate = {"x": numbers(points["x"]), "objective": number(points["objective"])}
    elif "d" in points:
        verdict = "unbounded"
        witnesses = {"recession": {name: numbers(points[name]) for name in ("x0", "d")}}
    else:
        verdict, witnesses = "infeasible", {"farkas": {"y": witnesses["duals"]}}
    entries = [
        {"i": i, "j": j, "val": number(v)}
        for i, row in enumerate(document["P"] or [])
        for j, v in enumerate(row[: i + 1])
        if v
    ]
    objective = {
        "kind": "quadratic",
        "half_quadratic": True,
        "Q": {"rows": n, "cols": n, "symmetric": True, "entries": entries},
        "c": numbers(document["q"]),
        "constant": number(Fraction(0)),
    }
    constraints = [
        {
            "name": f"c{k}",
            "coeffs": numbers(left),
            "lower": "-inf" if sense == "L" else number(side),
            "upper": "+inf" if sense == "G" else number(side),
        }
        for k, (sense, side, left) in enumerate(document["rows"])
    ]
    made = {
        "schema": "pounce.lean-cert/v1",
        "verdict": verdict,
        "problem_class": "qp-convex",
        "tolerance": number(Fraction(0)),
        "binding": {"solver": "drawn"},
        "problem": {
            "n_vars": n,
            "objective": objective,
            "var_bounds": {"lower": ["-inf"] * n, "upper": ["+inf"] * n},
            "constraints": constraints,
        },
        "witnesses": witnesses,
    }
    return json.dumps(made | ({"candidate": candidate} if candidate else {})).encode()


def accept_pounce(document: Document) -> bool:
    """Return True if a certificate is accepted."""
    try:
        checker.statement(pounce.translate(write_pounce(document)))
    except ValueError:
        return False
    return True


def is_true(document: Document) -> bool:
    """Return True if the optimum of a document's program is as the document claims."""
    truth = optimum(program_optimum(stated_program(document)))
    if "points" in document:
        points = document["points"]
        claimed = points.get("objective", -INFINITY if "d" in points else INFINITY)
        return bool(truth == claimed)
    if document["claim"] is None:
        return truth == INFINITY
    low, high = (
        -INFINITY if v == "-inf" else INFINITY if v == "inf" else v for v in document["claim"]
    )
    if truth is None:
        return False
    return bool(low <= (-truth if document["maximised"] else truth) <= high)


def forge(document: Document, rng: np.random.Generator) -> Document:
    """Return a document with one number, sense or line changed."""
    forged = copy.deepcopy(document)
    if "derived" in forged and rng.integers(4) == 0:
        return _forge_lines(forged, rng)
    places = list(_places(forged))
    part, key = places[int(rng.integers(len(places)))]
    if isinstance(part[key], str):
        part[key] = SENSES[int(rng.integers(3))]
    else:
        changes = (part[key] + 1, part[key] - 1, -part[key], part[key] / 2, Fraction(0))
        part[key] = changes[int(rng.integers(len(changes)))]
    for i, row in enumerate(forged["P"] or []):
        row[:i] = [forged["P"][j][i] for j in range(i)]
    return forged


def _forge_lines(forged: Document, rng: np.random.Generator) -> Document:
    """Return a document with a derivation, a solution or an end of the claim changed."""
    kind = int(rng.integers(4))
    if kind == 0:
        forged["derived"].pop(int(rng.integers(len(forged["derived"]))))
    elif kind == 1:
        forged["derived"][int(rng.integers(len(forged["derived"])))][3] = None
    elif kind == 2:
        forged["solutions"] = []
    elif forged["claim"] is None:
        forged["claim"] = [Fraction(0), "inf"]
    else:
        forged["claim"] = [["-inf", forged["claim"][1]], [forged["claim"][0], "inf"], None][
            int(rng.integers(3))
        ]
    return forged


def _places(part: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the numbers and senses of a document, as their container and key."""
    for key, value in part.items() if isinstance(part, dict) else enumerate(part):
        if isinstance(value, Fraction) or (isinstance(value, str) and value in SENSES):
            yield part, key
        elif isinstance(value, list | dict):
            yield from _places(value)


def examined(
    draw: Callable[[np.random.Generator], Document | None],
    accept: Callable[[Document], bool],
    rng: np.random.Generator,
    at: At,
) -> Trial:
    """Return the outcomes of a valid file and of its forgeries."""
    document = draw(rng)
    if document is None:
        return Trial([], Counter(["no certificate"]))
    said = [] if accept(document) else ["a valid file is rejected"]
    counts = Counter(["valid"])
    for _ in range(CHANGES):
        forged = forge(document, rng)
        if forged == document:
            counts["unchanged"] += 1
        elif not accept(forged):
            counts["forged and rejected"] += 1
        elif is_true(forged):
            counts["changed and true"] += 1
        else:
            said.append("a forged file is accepted")
    return Trial(said, counts)


FORMATS = {"VIPR": (draw_vipr, accept_vipr), "POUNCE": (draw_pounce, accept_pounce)}


def checks(examples: int) -> Iterator[Check]:
    """Yield the check of every format."""
    for name, (draw, accept) in FORMATS.items():
        yield Check(name, partial(examined, draw, accept))


CAMPAIGN = Campaign(__name__, __doc__, checks, 1000)
