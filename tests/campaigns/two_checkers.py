"""Tampered certificates: the checker in Python against the proved program.

    python -m campaigns two_checkers --seed 1 --examples 420

The proved program is extracted from a Coq proof. The certificates are of every family
that it reads, with linear, polynomial and RBF kernels and given Gram matrices, some
with weights, some of infeasibility, some without a primal or a dual point; and of
programs of all kinds in standard form. Each is changed --examples times in a digit,
half of them with renewed digests, and --examples times in the type of a value. It is
also changed in every hostile form, with wrong digests and schemas, with a key added,
repeated or missing in each of its objects, and to another text of equal values. Both
checkers must accept the same documents. Documents outside the scope of the program,
which it does not read, are counted apart. Exit status 1 if there is any other
difference.
"""

from __future__ import annotations

import copy
import json
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from campaigns.certificate_mutations import OF_DOCUMENTS, accepted, hostile, mutations, signed
from campaigns.exact.program_kinds import DATA, KINDS
from campaigns.rocq import CONE, ONE_NORM, VERIFIED, by_matrix, certified, proved_outcome, singular
from campaigns.runner import At, Campaign, Check, Trial, once
from equimargin.data import load
from equimargin.formulations import (
    Kernel,
    Problem,
    classification,
    linear,
    one_norm_classification,
    one_norm_ranking_from_pairs,
    polynomial,
    precomputed,
    ranking,
    ranking_from_pairs,
    ranking_vector_machine,
    rbf,
    regression,
)
from equimargin.formulations.declarations.family import FAMILIES
from equimargin.formulations.kernels.kernel import Intercept
from equimargin.formulations.problem.choices import LossName
from equimargin.formulations.programs import program_from_arrays
from equimargin.formulations.rows.listed import Pairs
from equimargin.own.instances import drawn
from equimargin.proofs import certificate, checker, enclosure, program_certificate
from equimargin.proofs.certificates.program import certificate_of_definition
from equimargin.proofs.coq import CheckerAnswer, answers, build
from equimargin.solvers import exact_optimum, solve
from equimargin.testing import sample_problem

OF_DATA = ("iris", "diabetes_ranking")
"""Bundled data sets for certificates, in addition to 8 to 32 points of each family."""

INDEFINITE = [[0.0, 1.0], [1.0, -2.0]]
"""Indefinite Gram matrix, which linear programs accept."""

FORMS = (".16e", ".40f", ".30E", ".17g", ".15e")
"""Other formats of doubles.

The first three leave the values equal; the others make some of them integers or other
doubles.
"""
SEPARATORS = re.compile(r"([\[\]{}:,])")
DOUBLE = re.compile(r"-?\d+(\.\d+(e[+-]?\d+)?|e[+-]?\d+)")
"""Number with a point or an exponent, as it stands between two separators of JSON."""

OTHER_VALUES: list[Any] = json.loads(
    '[null, true, false, 0, 1, 0.0, -0.0, 1.0, 0.5, "", "0", "1/2", "0x1", "1.0", "inf", '
    '"-inf", "linear", [], [0], {}]'
)
"""Replacements of a value: every type of JSON, and strings that are numbers."""

UNCHANGED = "nothing"
"""Name of the unchanged document, which the program has to read and accept."""
LOSSES: tuple[LossName, ...] = ("hinge", "squared_hinge")
LIMIT_SECONDS = 3600.0
"""CPU time limit of all changes of a certificate, in seconds."""


def documents() -> list[tuple[str, dict[str, Any]]]:
    """Return the certificates by the names of their subjects."""
    made = [(family, certified(family)) for family in VERIFIED]
    iris, pairs = (load(name) for name in OF_DATA)
    problems = [
        classification(iris.X, iris.y, 1.0),
        regression(iris.X, iris.y, 1.0, 0.1),
        ranking(pairs.X, pairs.y, pairs.qid, 1.0),
    ]
    made += [
        (f"{problem.family}, {problem.m} points", certificate(solve(problem, tol=1e-9)))
        for problem in problems
    ]
    # Doubles are closer below each number than above.
    powers = classification([[2.0**-31], [-(2.0**-45)], [2.0**-61]], [1, -1, 1], 1.0)
    made.append(("svm.soft, powers of two", certificate(solve(powers, tol=1e-9))))
    sides = [*one_sided(certified("svm.l2")), *one_sided(certified("svm.onenorm"))]
    return [
        *made,
        *polynomials(),
        *radials(),
        *weighted(),
        *sides,
        *rays(),
        *linear_programs(),
        *matrices(),
        *programs(),
    ]


def polynomials() -> list[tuple[str, dict[str, Any]]]:
    """Return certificates of every family by a polynomial kernel, and a ray.

    Some have a constant added to the kernel.
    """
    made = []
    # For 8 points the proved checker computes the kernel's matrix; for 32 it expands f
    # as a polynomial in the features if f has more than a few coefficients.
    for family, (degree, n) in product(VERIFIED, ((3, 8), (2, 32))):
        kernel: Kernel = polynomial(degree, 0.5, 1.0)
        problem = sample_problem(
            family, Intercept(kernel) if family in ("svm.nobias", "svm.nobias_l2") else kernel, n=n
        )
        made.append((f"{family}, polynomial, {n} points", certificate(solve(problem, tol=1e-9))))
    equal = classification([[1.0], [-1.0], [0.5]], [1, -1, 1], np.inf, polynomial(2, 1.0, 0.0))
    return [*made, ("svm.hard, polynomial, a ray", certificate(exact_optimum(equal), "exact"))]


def radials() -> list[tuple[str, dict[str, Any]]]:
    """Return certificates of every family by an RBF kernel, some with equal points.

    Some have a constant added to the kernel; in one ray equal points cancel.
    """
    made = []
    for family in VERIFIED:
        kernel: Kernel = rbf(0.5)
        problem = sample_problem(
            family, Intercept(kernel) if family in ("svm.nobias", "svm.nobias_l2") else kernel, n=8
        )
        made.append((f"{family}, RBF", certificate(solve(problem, tol=1e-9))))
    iris = load(OF_DATA[0])
    made.append(
        (
            "svm.soft, RBF, equal points",
            certificate(solve(classification(iris.X, iris.y, 10.0, rbf(0.25)), tol=1e-9)),
        )
    )
    circle = ranking_from_pairs(
        [[0.0], [1.0], [2.0], [0.0]], [[0, 1], [1, 2], [2, 3]], np.inf, rbf(0.5)
    )
    return [*made, ("rank.hard, RBF, a ray", certificate(solve(circle)))]


def linear_programs() -> list[tuple[str, dict[str, Any]]]:
    """Return certificates of the linear programs: exact ones, and one of listed pairs."""
    exact = [
        (
            f"{family}, exact",
            certificate(exact_optimum(sample_problem(family, linear(), n=8)), "exact"),
        )
        for family in ONE_NORM
    ]
    listed = replace(
        sample_problem("rvm", n=8),
        rows=Pairs(np.array([0, 2, 4, 1, 3]), np.array([1, 3, 5, 6, 0]), 8),
    )
    return [*exact, ("rvm, listed pairs", certificate(solve(listed, tol=1e-9)))]


def matrices() -> list[tuple[str, dict[str, Any]]]:
    """Return certificates of every family by a Gram matrix, and by matrices of all kinds."""
    problems = {
        f"{family}, a matrix": by_matrix(sample_problem(family, n=8), polynomial(2, 0.5, 1.0))
        for family in VERIFIED
    }
    problems |= {
        "svm.nobias_l2, a shift": by_matrix(sample_problem("svm.nobias_l2", n=8), linear()),
        "svm.nobias, a matrix and a constant": classification(
            np.eye(3), [1, -1, 1], 1.0, precomputed(), bias="penalized"
        ),
        "svm.soft, a large matrix": by_matrix(
            sample_problem("svm.soft", n=checker.PIVOTED_ROWS + 6), rbf(0.5)
        ),
        "svm.onenorm, an indefinite matrix": one_norm_classification(
            INDEFINITE, [1, -1], 1.0, precomputed()
        ),
    }
    made = [(name, certificate(solve(problem, tol=1e-9))) for name, problem in problems.items()]
    return [*made, ("svm.soft, a singular matrix", singular())]


def weighted() -> list[tuple[str, dict[str, Any]]]:
    """Return certificates of problems with weights, one of which is 0.

    The weights are those of points, of rows, of queries and of pairs. One-norm problems
    have an RBF kernel, too.
    """
    rng = np.random.default_rng(0)
    X, labels, targets = (
        rng.integers(-8, 9, (10, 2)) / 4,
        np.resize([1.0, -1.0, 1.0], 10),
        rng.integers(-8, 9, 10) / 4,
    )
    weights = rng.integers(1, 6, 20) / 2
    weights[3] = 0
    queries, pairs = [0] * 4 + [2] * 6, [[0, 1], [2, 3], [4, 5], [1, 6]]
    made = []
    for loss in LOSSES:
        problems = [
            classification(X, labels, 1.0, loss=loss, sample_weight=weights[:10]),
            classification(X, labels, 1.0, loss=loss, bias=False, sample_weight=weights[:10]),
            replace(regression(X, targets, 1.0, 0.25, loss=loss), weights=weights),
            replace(ranking(X, targets, queries, 1.0, loss=loss), weights=weights[:2]),
            replace(ranking_from_pairs(X, pairs, 1.0, loss=loss), weights=weights[:4]),
        ]
        made += [
            (f"{problem.family}, weights", certificate(solve(problem, tol=1e-9)))
            for problem in problems
        ]
    for kernel in (linear(), rbf(0.5)):
        one_norm: list[Problem] = [
            one_norm_classification(X, labels, 2.0, kernel, bias, weights[:10])
            for bias in (True, False)
        ]
        one_norm += [
            one_norm_ranking_from_pairs(X, pairs, 2.0, kernel, "points", weights[:4]),
            one_norm_ranking_from_pairs(X, pairs, 2.0, kernel, "pairs", weights[:4]),
            ranking_vector_machine(
                X, labels, queries, 2.0, kernel, per_query="mean", query_weight={0: 0.5, 2: 3.0}
            ),
        ]
        made += [
            (f"{problem.family}, weights, {kernel.name}", certificate(solve(problem, tol=1e-9)))
            for problem in one_norm
        ]
    exact = exact_optimum(
        classification(X, labels, 1.0, loss="squared_hinge", sample_weight=weights[:10])
    )
    endless = classification(X[:5], labels[:5], 2.0, sample_weight=[1, 1, np.inf, 1, np.inf])
    made.append(("svm.soft, infinite weights", certificate(solve(endless, tol=1e-9))))
    return [*made, ("svm.l2, weights, exact", certificate(exact, "exact"))]


def rays() -> list[tuple[str, dict[str, Any]]]:
    """Return infeasibility certificates: XOR, and preferences in a circle."""
    X = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]
    xor, circle = (
        classification(X, [1, 1, -1, -1], np.inf),
        ranking_from_pairs(X, [[0, 2], [2, 1], [1, 0]], np.inf),
    )
    return [
        (f"{problem.family}, a ray", certificate(exact_optimum(problem), "exact"))
        for problem in (xor, circle)
    ]


def one_sided(document: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return a certificate without its primal point, and without its dual point."""
    lower, upper = (document["claim"][end] for end in ("lower", "upper"))
    return [
        (
            "without a primal point",
            signed(document | {"primal": None, "claim": {"lower": lower, "upper": "inf"}}),
        ),
        (
            "without a dual point",
            signed(document | {"dual": None, "claim": {"lower": "-inf", "upper": upper}}),
        ),
    ]


def programs() -> list[tuple[str, dict[str, Any]]]:
    """Return certificates of programs in standard form.

    They are exact ones of all kinds, families of the documents, programs with cones,
    rays, and certificates without a primal or a dual point.
    """
    rng, made = np.random.default_rng(0), []
    for kind, data in ((kind, data) for kind in KINDS for data in DATA):
        program = kind(rng, 8, 3, data)
        made.append(
            (f"{kind.__name__}, {data}", program_certificate(program, proved_outcome(program)))
        )
    made += [
        (id, certificate_of_definition(FAMILIES[id](drawn(FAMILIES[id], 0)))) for id in OF_DOCUMENTS
    ]
    G, h = [[1, 0, 0], [0, 0, 0], [-1, 0, 0], [0, -1, 0], [0, 0, -1]], [1, 2, 0, 0, 0]
    two_cones = program_from_arrays(
        np.diag([2.0, 0.0, 1.0]), [1, -1, 0], [[1, 1, 1]], [2], G, h, cones=[3, 1]
    )
    B = np.random.default_rng(0).integers(-9, 10, (checker.PIVOTED_ROWS + 6, 2)).astype(np.float64)
    singular = program_from_arrays(B @ B.T, -B.sum(axis=1))
    for name, program in (("a cone", CONE), ("two cones", two_cones)):
        made.append((name, program_certificate(program, enclosure(program))))
        made += [(f"{name}, {side}", document) for side, document in one_sided(made[-1][1])]
    return [
        *made,
        ("a large singular matrix", program_certificate(singular, proved_outcome(singular))),
    ]


def compared(program: Path, examples: int, document: dict[str, Any], at: At) -> Trial:
    """Compare the verdicts of the two checkers on changes of a certificate."""
    trial, rng = Trial(), at.rng()
    changes = [(UNCHANGED, json.dumps(document).encode())]
    mutated = [
        *mutations(document, rng, examples),
        *of_form(document),
        *drawn_types(document, rng, examples),
    ]
    changes += [(kind, json.dumps(changed).encode()) for kind, changed in mutated]
    changes += [*doubled(document), *rewritten(document)]
    changes += [(kind, signed_where_read(data)) for kind, data in hostile(document)]
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{k}.json" for k in range(len(changes))]
        for file, (_, data) in zip(files, changes, strict=True):
            file.write_bytes(data)
        said = answers(program, files)
    for (kind, data), ours in zip(changes, said, strict=True):
        theirs = accepted(data) is not None
        if theirs == (ours is CheckerAnswer.ACCEPTED):
            outcome = "both accept" if theirs else "both reject"
        else:
            outcome = (
                "unread by the program"
                if ours is CheckerAnswer.UNREAD and kind != UNCHANGED
                else "DIFFERENT"
            )
        trial.counts[outcome] += 1
        if outcome == "DIFFERENT":
            trial.said.append(
                f"DIFFERENT: {kind}: checker.py {'accepts' if theirs else 'rejects'}, the "
                f"program says {ours.value}"
            )
    return trial


def of_form(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the document with wrong digests and schemas.

    Then with a key added or removed in each of its objects, and renewed digests.
    """
    digests = document["digests"]
    for schema in (
        *(f"equimargin-certificate/{number}" for number in (0, 3, 10)),
        "Equimargin-certificate/1",
        "",
        1,
        None,
    ):
        yield "schema", document | {"schema": schema}
    for name, digest in digests.items():
        wrong = (
            digest.upper(),
            digest[:-1],
            digest + "0",
            "",
            None,
            [digest],
            *(other for other in digests.values() if other != digest),
        )
        for value in wrong:
            yield f"digest of {name}", document | {"digests": digests | {name: value}}
    yield (
        "digests of a point and of none",
        document | {"digests": digests | {"points": checker.sha256([document["primal"], None])}},
    )
    for path in _objects(document, ()):
        part = _at(document, path)
        for spoiled in (part | {"more": 0}, dict(list(part.items())[1:])):
            changed = _with(document, path, spoiled)
            yield (
                f"keys of {'.'.join(path)}",
                signed(changed) if path and path != ("digests",) else changed,
            )


def of_type(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the document with one value of another type, and renewed digests.

    These values are all values of objects, and the first entry of every list.
    """
    for path in _firsts({key: value for key, value in document.items() if key != "digests"}, ()):
        value: Any = document
        for key in path:
            value = value[key]
        alike = (
            [float(value), int(value), bool(value)]
            if isinstance(value, int | float) and abs(value) <= sys.float_info.max
            else []
        )
        for other in (*OTHER_VALUES, *alike, json.dumps(value), [value], {"": value}):
            if json.dumps(other) == json.dumps(value):
                continue
            changed = copy.deepcopy(document)
            at: Any = changed
            for key in path[:-1]:
                at = at[key]
            at[path[-1]] = other
            yield f"type of {'.'.join(map(str, path))}", signed(changed)


def drawn_types(
    document: dict[str, Any], rng: np.random.Generator, count: int
) -> list[tuple[str, dict[str, Any]]]:
    """Draw `count` documents with a value of another type."""
    every = list(of_type(document))
    return [every[place] for place in rng.choice(len(every), min(count, len(every)), replace=False)]


def _firsts(part: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all values of objects, and of the first entry of every list."""
    if path:
        yield path
    if isinstance(part, dict):
        for key, value in part.items():
            yield from _firsts(value, (*path, key))
    elif isinstance(part, list) and part:
        yield from _firsts(part[0], (*path, 0))


def doubled(document: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    """Yield the document with one key twice: with null first, and with its value twice."""
    for path in _objects(document, ()):
        for key, value in _at(document, path).items():
            for again in ({"": None} | _at(document, path), _at(document, path) | {"": value}):
                yield (
                    f"{key} twice",
                    json.dumps(_with(document, path, again))
                    .replace('"":', f'"{key}":', 1)
                    .encode(),
                )


def rewritten(document: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    """Yield other texts of the document, with unchanged digests.

    The values are equal, or nearly equal if a format has fewer digits.
    """
    text = json.dumps(document, separators=(",", ":"))
    yield "with spaces", json.dumps(document, indent=2).encode()
    yield (
        "keys from z to a",
        json.dumps(
            json.loads(text, object_pairs_hook=lambda pairs: dict(sorted(pairs, reverse=True)))
        ).encode(),
    )
    for form in FORMS:
        pieces = [
            format(float(piece), form) if DOUBLE.fullmatch(piece) else piece
            for piece in SEPARATORS.split(text)
        ]
        yield f"doubles as {form}", "".join(pieces).encode()


def _objects(part: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the paths of the objects of a document."""
    if isinstance(part, dict):
        yield path
        for key, value in part.items():
            yield from _objects(value, (*path, key))


def _at(document: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    part = document
    for key in path:
        part = part[key]
    return part


def _with(document: dict[str, Any], path: tuple[str, ...], part: dict[str, Any]) -> dict[str, Any]:
    """Return the document with the object at a path replaced."""
    return document | {path[0]: _with(document[path[0]], path[1:], part)} if path else part


def signed_where_read(data: bytes) -> bytes:
    """Return a hostile form with renewed digests if JSON reads and writes it unchanged.

    Any other form is returned as it is.
    """
    try:
        document = json.loads(data)
        same = json.dumps(document, separators=(",", ":")).encode() == data
        return json.dumps(signed(document), separators=(",", ":")).encode() if same else data
    except (ValueError, RecursionError, KeyError, TypeError):
        return data


def checks(examples: int) -> Iterator[Check]:
    """Yield the check of every certificate."""
    program = build()
    for name, document in documents():
        yield Check(
            name,
            partial(compared, program, examples),
            lambda at, document=document: document,  # type: ignore[misc]
            once,
            LIMIT_SECONDS,
        )


CAMPAIGN = Campaign(__name__, __doc__, checks, 420)
