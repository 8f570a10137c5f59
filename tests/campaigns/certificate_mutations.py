"""Tampered certificates, with old or renewed digests: none may prove a false interval.

`make mutated-certificates SEED=1 MUTATIONS=500` makes 500 changes to every family's
certificate, and prints the outcomes.
"""

from __future__ import annotations

import copy
import itertools
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from itertools import islice, product
from typing import Any

import numpy as np

from campaigns.exact.program_kinds import DATA, KINDS
from campaigns.rocq import weighted_one_norm
from campaigns.runner import At, Campaign, Check, Trial, watched
from equimargin.data import load
from equimargin.formulations import (
    Kernel,
    MarginProblem,
    Problem,
    linear,
    polynomial,
    precomputed,
    ranking_from_pairs,
    rbf,
)
from equimargin.formulations.declarations.family import FAMILIES, program_families
from equimargin.formulations.kernels.kernel import Intercept
from equimargin.formulations.problem.construct import make_task_problems
from equimargin.formulations.programs import Program, program_from_arrays
from equimargin.own.instances import drawn
from equimargin.proofs import certificate, checker, program_certificate
from equimargin.proofs.certificates.path import path_certificate
from equimargin.proofs.certificates.problem import state
from equimargin.proofs.certificates.program import certificate_of_definition
from equimargin.solvers import exact_optimum, regularization_path, solve
from equimargin.solvers.exact.program import Inconclusive, Infeasible, Optimum, program_optimum
from equimargin.testing import ONE_NORM, get_task, sample_problem
from narrow import as_a, present

OF_DOCUMENTS = [
    id
    for id, known in program_families().items()
    if known.module.startswith("equimargin.formulations.documents")
]
"""Families of the documents without canonical points, certified as programs."""
WITH_A_PATH = ("svm.soft", "svm.nobias", "svr.l1", "rank.l1")
"""Families with certified paths."""
DATA_SETS = ("breast_cancer", "diabetes", "diabetes_ranking")
"""Bundled data with changed certificates."""
CHECKER_SECONDS = 120.0
"""CPU time limit of the checker for one certificate, hostile or not, in seconds."""
LONGEST = 60.0
"""Time limit of a solver that encloses an optimum, in seconds."""
Truth = Callable[[dict[str, Any]], tuple[Fraction | float, Fraction | float]]
"""Map from the problem stated in a certificate to an interval that has its optimum."""
OUTCOMES = ("rejected", "accepted and true", "accepted and FALSE")
ASKED_ON_A_PATH = 3
"""Lambdas at which an accepted path is compared with the exact optimum."""
REFUSALS = (ValueError, ArithmeticError, RecursionError)
HOSTILE: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("truncated", lambda text: text[: len(text) // 3]),
    ("cut by one", lambda text: text.rstrip()[:-1]),
    ("nested", lambda text: "[" * 100_000 + "]" * 100_000),
    (
        "nested inside",
        lambda text: text.replace(
            '"claim":', '"claim":' + "[" * 50_000 + "]" * 50_000 + ',"c":', 1
        ),
    ),
    (
        "huge integer",
        lambda text: text.replace('"denominator":', '"denominator":' + "9" * 100_000, 1),
    ),
    (
        "long integer",
        lambda text: text.replace('"denominator":', '"denominator":' + "9" * 4_000, 1),
    ),
    (
        "huge hexadecimal",
        lambda text: text.replace('"C":', '"C":"0x' + "f" * 1_000_000 + '","D":', 1),
    ),
    ("huge float", lambda text: text.replace('"C":', '"C":1e999,"D":', 1)),
    ("huge exponents", lambda text: text.replace('"features":[[', '"features":[[1e308,1e-308,', 1)),
    ("NaN", lambda text: text.replace('"lower":', '"lower":NaN,"l":', 1)),
    ("infinity", lambda text: text.replace('"upper":', '"upper":-Infinity,"u":', 1)),
    ("a key twice", lambda text: text.replace('"mode":', '"mode":"exact","mode":', 1)),
    ("an unknown key", lambda text: text.replace('"mode":', '"more":0,"mode":', 1)),
    ("a null", lambda text: text.replace('"kernel":{', '"kernel":null,"k":{', 1)),
    ("a list for an object", lambda text: text.replace('"problem":{', '"problem":[],"p":{', 1)),
    ("a number for a list", lambda text: text.replace('"features":[', '"features":7,"f":[', 1)),
    ("booleans", lambda text: text.replace('"rows":[', '"rows":[true,', 1)),
    ("not UTF-8", lambda text: "\udcff" + text),
    ("empty", lambda text: ""),
    ("another document", lambda text: '{"schema": "equimargin-certificate/1"}'),
    ("a format for another", lambda text: text.replace("certificate/1", "certificate/2", 1)),
)
HOSTILE_PROGRAMS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("entries that are no triples", lambda text: text.replace('"G":[', '"G":[[0,0],', 1)),
    ("an entry of no row", lambda text: text.replace('"G":[', '"G":[[1000000000,0,1],', 1)),
    ("a cone of booleans", lambda text: text.replace('"cones":[', '"cones":[true', 1)),
)


def signed(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document with its digests recomputed."""
    points = checker.sha256(
        document["path"] if "path" in document else [document["primal"], document["dual"]]
    )
    return document | {
        "digests": {"problem": checker.sha256(document["problem"]), "points": points}
    }


def hostile(document: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    """Yield the document after each change of HOSTILE, or of HOSTILE_PROGRAMS, too."""
    text = json.dumps(document, separators=(",", ":"))
    for name, change in (
        *HOSTILE,
        *(HOSTILE_PROGRAMS if document["schema"] == checker.PROGRAM_SCHEMA else ()),
    ):
        yield name, change(text).encode("utf-8", "surrogateescape")


def mutations(
    document: dict[str, Any], rng: np.random.Generator, count: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the document with one digit changed, half of the time with digests renewed."""
    places = list(_places(document, ()))
    kinds = sorted({_kind(path) for path in places})
    for _ in range(count):
        kind = kinds[rng.integers(len(kinds))]
        chosen = [path for path in places if _kind(path) == kind]
        path = chosen[rng.integers(len(chosen))]
        changed = copy.deepcopy(document)
        at: Any = changed
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = _another(at[path[-1]], rng)
        again = bool(rng.integers(2)) and kind != "digests"
        yield f"{kind}{' signed again' if again else ''}", signed(changed) if again else changed


def accepted(data: bytes) -> tuple[Fraction | float, Fraction | float] | None:
    """Return the interval that the checker accepts, or None if it rejects the document.

    Any other exception is a fault of the checker.
    """
    try:
        return checker.check(data)[1:]
    except REFUSALS:
        return None


def false(
    interval: tuple[Fraction | float, Fraction | float],
    truth: tuple[Fraction | float, Fraction | float],
) -> bool:
    """Return True if an accepted interval and one that has the optimum are disjoint."""
    return interval[1] < truth[0] or truth[1] < interval[0]


def truth(stated: dict[str, Any]) -> tuple[Fraction | float, Fraction | float]:
    """Return an interval of the optimum of a certificate's problem, exact if possible."""
    problem = restated(stated)
    if stated["kernel"]["name"] != "rbf" and problem.m <= 40:
        found = exact_optimum(problem)
        if found.value is not None:
            return found.value, found.value
        if found.ray is not None:
            return math.inf, math.inf
    solution = solve(problem, tol=1e-10, time_limit=LONGEST)
    return solution.lower, solution.upper


def restated(stated: dict[str, Any]) -> Problem:
    """Return the problem that a certificate states."""
    given, family = stated["kernel"], stated["family"]
    parameters = [v for key, v in given.items() if key not in ("name", "constant", "shift")]
    made: dict[str, Callable[..., Kernel]] = {
        "linear": linear,
        "polynomial": polynomial,
        "rbf": rbf,
        "precomputed": precomputed,
    }
    data = {
        "X": _features(stated),
        "C": float(stated["C"]),
        "kernel": made[given["name"]](*parameters),
    }
    if get_task(family) == "ranking" and family not in ONE_NORM and stated["pairs"] is not None:
        problem: Problem = ranking_from_pairs(
            **data,
            pairs=stated["pairs"],
            loss="squared_hinge" if family.endswith("l2") else "hinge",
        )
    else:
        epsilon = {"epsilon": stated["epsilon"]} if get_task(family) == "regression" else {}
        queries = {"qid": stated["queries"]} if get_task(family) == "ranking" else {}
        problem = FAMILIES[family](data | {"y": stated["labels"]} | epsilon | queries)
    if stated["weights"] is not None:
        problem = replace(problem, weights=np.array([float(w) for w in stated["weights"]]))
    return replace(problem, kernel=Intercept(problem.kernel)) if given["constant"] else problem


def path_holds(document: dict[str, Any], C: float) -> bool:
    """Return True if a path's objective exceeds the exact optimum at C by at most its gap.

    The kernel is linear or polynomial.
    """
    stated = restated(document["problem"])
    assert isinstance(stated, MarginProblem)
    problem = stated.with_cost(C)
    lam, optimum = 1 / Fraction(C), exact_optimum(problem).value
    assert optimum is not None
    beta, b = _on_path(document, problem, lam)
    judge = checker.read_problem(state(problem))
    primal: dict[str, Any] = {"beta": [str(v / lam) for v in beta], "b": str(b / lam)}
    if judge.space.linear:
        columns = zip(*judge.space.rows, strict=True)
        primal = {
            "w": [str(checker.dot(column, beta) / judge.space.unit / lam) for column in columns],
            "b": str(b / lam),
        }
    return (
        checker.upper_bound(judge, primal)
        <= (1 + checker.rational(document["claim"]["gap"])) * optimum
    )


def _on_path(
    document: dict[str, Any], problem: MarginProblem, lam: Fraction
) -> tuple[list[Fraction], Fraction]:
    """Return A'alpha and lambda times the bias at a lambda between two points of a path."""
    points, alpha = document["path"]["points"], [Fraction(0)] * problem.p
    known = []
    for point in points:
        for r, numerator in zip(point["rows"], point["numerators"], strict=True):
            alpha[r] = checker.rational(numerator) / checker.rational(
                document["path"]["denominator"]
            )
        known.append((checker.rational(point["lambda"]), list(alpha), checker.rational(point["b"])))
    (l1, alpha1, b1), (l2, alpha2, b2) = next(
        (p, q) for p, q in itertools.pairwise(known) if p[0] >= lam >= q[0]
    )
    x = (l1 - lam) / (l1 - l2)
    beta = [Fraction(0)] * (problem.m + 1)
    rows = checker.read_problem(state(problem)).rows
    for r, (v, w) in enumerate(zip(alpha1, alpha2, strict=True)):
        beta[rows.plus[r]] += (1 - x) * v + x * w
        beta[rows.minus[r]] -= (1 - x) * v + x * w
    return beta[:-1], (1 - x) * b1 + x * b2


def path_outcome(document: dict[str, Any], rng: np.random.Generator) -> str:
    """Return the outcome of a path's certificate.

    If the checker accepts it, its gap is checked at random lambdas of its range.
    """
    try:
        claim = checker.check_path(json.dumps(document).encode())
    except REFUSALS:
        return OUTCOMES[0]
    ends = math.log(claim.low), math.log(claim.high)
    costs = (
        [math.exp(-rng.uniform(*ends)) for _ in range(ASKED_ON_A_PATH)]
        if claim.low < claim.high
        else []
    )
    inside = [C for C in costs if claim.low <= 1 / Fraction(C) <= claim.high]
    return OUTCOMES[1 if all(path_holds(document, C) for C in inside) else 2]


def program_truth(stated: dict[str, Any]) -> tuple[Fraction | float, Fraction | float]:
    """Return an interval of a certified program's optimum; all reals if undecided."""
    outcome = program_optimum(restated_program(stated))
    if isinstance(outcome, Inconclusive):
        return -math.inf, math.inf
    value = (
        outcome.value
        if isinstance(outcome, Optimum)
        else math.inf
        if isinstance(outcome, Infeasible)
        else -math.inf
    )
    return value, value


def restated_program(stated: dict[str, Any]) -> Program:
    """Return the program of a certificate, its numbers parsed as by the checker."""
    q, b, h = ([checker.rational(v) for v in stated[key]] for key in ("q", "b", "h"))

    def table(key: str, height: int) -> list[list[Fraction]]:
        rows = [[Fraction(0)] * len(q) for _ in range(height)]
        for i, j, v in stated[key]:
            rows[i][j] = checker.rational(v)
        return rows

    P = table("P", len(q))
    for i, j, _ in stated["P"]:
        P[j][i] = P[i][j]
    return program_from_arrays(
        P,
        q,
        table("A", len(b)),
        b,
        table("G", len(h)),
        h,
        checker.rational(stated["c"]),
        stated["cones"],
    )


def _features(stated: dict[str, Any]) -> Any:
    rows = stated["features"]
    if stated["kernel"]["name"] != "precomputed":
        return np.array(rows)
    lower = np.zeros((len(rows), len(rows)))
    for i, row in enumerate(rows):
        lower[i, : i + 1] = row
    return lower + np.tril(lower, -1).T + stated["kernel"]["shift"] * np.eye(len(rows))


def _places(part: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of the numbers and digests."""
    if isinstance(part, dict):
        for key, value in part.items():
            yield from _places(value, (*path, key))
    elif isinstance(part, list):
        for key, value in enumerate(part):
            yield from _places(value, (*path, key))
    elif (
        isinstance(part, int | float)
        or "digests" in path
        or (isinstance(part, str) and part.removeprefix("-")[:1].isdigit())
    ):
        yield path


def _kind(path: tuple[Any, ...]) -> str:
    """Return the kind of a number: the keys on its path, without indices."""
    return (
        "digests" if path[0] == "digests" else ".".join(key for key in path if isinstance(key, str))
    )


def _another(value: Any, rng: np.random.Generator) -> Any:
    """Return the value with one digit changed, or sometimes with its sign changed."""
    text = value if isinstance(value, str) else repr(value)
    if not isinstance(value, str) and rng.random() < 0.1:
        return -value
    digits = [k for k, letter in enumerate(text) if letter.isdigit()]
    k = digits[rng.integers(len(digits))]
    other = str((int(text[k]) + 1 + int(rng.integers(9))) % 10)
    return (
        type(value)(text[:k] + other + text[k + 1 :])
        if not isinstance(value, int)
        else int(text[:k] + other + text[k + 1 :])
    )


def instances(source: str) -> Iterator[Problem]:
    """Yield problems of every family on a data set: two kernels; C = inf with a third."""
    data = load(source)
    data = data.scaled() if data.task == "classification" else data
    for kernel, C in ((linear(), 1.0), (rbf(1 / data.X.shape[1]), 1.0), (rbf(1.0), np.inf)):
        yield from make_task_problems(data.task, data.X, data.y, C, kernel, qid=data.qid)


def checks(examples: int) -> Iterator[Check]:
    """Yield checks of certificates of data sets, random programs, families and paths."""
    for source in DATA_SETS:
        for problem in instances(source):
            made = partial(certificate_of_problem, problem)
            yield of_document(
                f"{source}, {problem.kernel.name}, {problem.family}",
                made,
                truth,
                examples,
                len(HOSTILE),
            )
    for family, kernel in product(ONE_NORM, (linear(), rbf(0.5))):
        yield of_document(
            f"{family}, {kernel.name}, weights",
            partial(certificate_of_problem, weighted_one_norm(family, kernel)),
            truth,
            examples,
            len(HOSTILE),
        )
    forms = len(HOSTILE) + len(HOSTILE_PROGRAMS)
    for make, data in product(KINDS, DATA):
        yield of_document(
            f"{make.__name__}, {data}",
            partial(certificate_of_kind, make, data),
            program_truth,
            examples,
            forms,
        )
    for id in OF_DOCUMENTS:
        yield of_document(id, partial(certificate_of_family, id), program_truth, examples, forms)
    for family in WITH_A_PATH:
        path = cache(partial(certificate_of_path, family))
        yield Check(
            f"path, {family}",
            judged_path,
            lambda at, path=path: next(mutations(path(), at.rng(), 1))[1],  # type: ignore[misc]
        )


def certificate_of_problem(problem: Problem, seed: int) -> dict[str, Any]:
    """Return the certificate of a problem."""
    return certificate(solve(problem, tol=1e-9))


def certificate_of_kind(
    make: Callable[..., Program], data: str, seed: int
) -> dict[str, Any] | None:
    """Return the certificate of a random program, None if its optimum is undecided."""
    program = make(np.random.default_rng(seed), 8, 3, data)
    outcome = program_optimum(program)
    return None if isinstance(outcome, Inconclusive) else program_certificate(program, outcome)


def certificate_of_family(id: str, seed: int) -> dict[str, Any]:
    """Return the certificate of a random instance of a family of the documents."""
    return certificate_of_definition(FAMILIES[id](drawn(FAMILIES[id], seed)))


def certificate_of_path(family: str) -> dict[str, Any]:
    """Return the certificate of a path."""
    return path_certificate(
        regularization_path(as_a(MarginProblem, sample_problem(family, linear(), n=8)), 1e-2),
        gap=1e-2,
    )


def judged_path(changed: dict[str, Any], at: At) -> Trial:
    """Return the outcome of a changed certificate of a path."""
    outcome = path_outcome(changed, at.rng(1))
    return Trial(["a gap that does not hold"] if outcome == OUTCOMES[2] else [], Counter([outcome]))


def of_document(
    name: str,
    made: Callable[[int], dict[str, Any] | None],
    truth_of: Truth,
    examples: int,
    forms: int,
) -> Check:
    """Return the check of random changes of a certificate, then of its hostile forms.

    Parameters
    ----------
    name : str
        Name of the check.
    made : callable
        Map from a seed to the certificate.
    truth_of : callable
        Map from a stated problem to an interval that has its optimum.
    examples, forms : int
        Numbers of random changes and of hostile forms.
    """
    document, known = partial(_once, made), partial(_known, made, truth_of)

    def draw(at: At) -> tuple[str, bytes, dict[str, Any] | None] | None:
        whole = document(at.seed)
        if whole is None:
            return None
        if at.number >= examples:
            return (*next(islice(hostile(whole), at.number - examples, None)), None)
        kind, changed = next(mutations(whole, at.rng(), 1))
        return kind, json.dumps(changed).encode(), changed

    def examine(case: tuple[str, bytes, dict[str, Any] | None] | None, at: At) -> Trial:
        if case is None:
            return Trial(counts=Counter(["undecided"]))
        kind, data, changed = case
        with watched(CHECKER_SECONDS):
            found = accepted(data)
        same = changed is None or changed["problem"] == present(document(at.seed))["problem"]
        outcome = OUTCOMES[
            0
            if found is None
            else 1 + false(found, known(at.seed) if same else truth_of(present(changed)["problem"]))
        ]
        return Trial(
            [f"a false interval is accepted, {kind}"] if outcome == OUTCOMES[2] else [],
            Counter([outcome]),
        )

    return Check(name, examine, draw, lambda count: count + forms)


@cache
def _once(made: Callable[[int], dict[str, Any] | None], seed: int) -> dict[str, Any] | None:
    return made(seed)


@cache
def _known(made: Callable[[int], dict[str, Any] | None], truth_of: Truth, seed: int) -> Any:
    return truth_of(present(_once(made, seed))["problem"])


CAMPAIGN = Campaign(__name__, __doc__, checks, 500)
