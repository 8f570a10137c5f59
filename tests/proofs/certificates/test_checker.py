"""Checker of certificates: independence, sound enclosures and refusal of forgeries."""

from __future__ import annotations

import ast
import copy
import json
import math
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
import pytest

from campaigns import certificate_mutations as mutant
from equimargin.formulations import classification, linear, polynomial, precomputed, rbf
from equimargin.formulations.programs import Program, program_from_arrays
from equimargin.proofs import certificate, checker, program_certificate, write_certificate
from equimargin.solvers import exact_optimum, solve
from equimargin.solvers.exact.program import (
    Inconclusive,
    Infeasible,
    Optimum,
    UnboundedProgram,
    program_optimum,
)
from equimargin.testing import sample_problem
from families import OF_THE_CERTIFICATE
from places import HANG

SOURCE = Path(checker.__file__)
TREE = ast.parse(SOURCE.read_text(encoding="utf-8"))
DESCRIPTION = SOURCE.with_name("certificate.md").read_text(encoding="utf-8")
XOR = classification(
    [[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]], [-1, 1, -1, 1], 1.0, polynomial(2)
)


@cache
def sample(family: str, name: str = "linear") -> Any:
    """Return a certificate of a small problem of the family."""
    kernel = {"linear": linear(), "rbf": rbf(0.5), "polynomial": polynomial(2, 0.5, 1.0)}[name]
    problem = sample_problem(family, kernel, n=8)
    return (
        certificate(exact_optimum(problem), "proven")
        if family == "rank.hard"
        else certificate(solve(problem, tol=1e-9))
    )


TOO_MUCH = "arithmetic_is_affordable does not hold: this is more arithmetic than the checker does"
TOO_LONG = (
    "common_denominator_is_short does not hold: the common denominator of some numbers is too long"
)


def xor() -> Any:
    """Return the exact certificate of XOR: alpha = 1/8, value 1/4."""
    return certificate(exact_optimum(XOR))


def quadratic() -> Any:
    """Return a certificate of a quadratic program with optimum 13/4 at (1/2, 3/2).

    min x1^2 + x1 x2 + x2^2 s.t. x1 + x2 = 2, x1 <= 1/2.
    """
    program = program_from_arrays([[2, 1], [1, 2]], [0, 0], [[1, 1]], [2], [[2, 0]], [1])
    return program_certificate(program, decided(program))


def linear_program() -> Any:
    """Return a certificate of min x1 + x2 over x1 >= 1, x2 >= 1: the optimum is 2.

    A further row is always satisfied.
    """
    program = program_from_arrays(None, [1, 1], G=[[-1, 0], [0, -1], [0, 0]], h=[-1, -1, 1])
    return program_certificate(program, decided(program))


def endless() -> Any:
    """Return a certificate that min -x over x >= 0 is unbounded below."""
    program = program_from_arrays(None, [-1], G=[[-1]], h=[0])
    return program_certificate(program, decided(program))


def empty() -> Any:
    """Return a certificate that no point satisfies x <= 0 and x >= 1."""
    program = program_from_arrays(None, [0], G=[[1], [-1]], h=[0, -1])
    return program_certificate(program, decided(program))


def decided(program: Program) -> Optimum | Infeasible | UnboundedProgram:
    """Return the exact outcome of a program that has one."""
    outcome = program_optimum(program)
    assert not isinstance(outcome, Inconclusive)
    return outcome


OPEN = {"lower": "-inf", "upper": "inf"}
"""Claim that any feasible point proves."""


def opened(document: Any) -> Any:
    """Return the certificate with a claim that any feasible point proves."""
    return document | {"mode": "proven", "claim": OPEN}


def gram() -> Any:
    """Return a certificate for two points and their Gram matrix, in mode proven.

    alpha = 1/2 each, value 1/2.
    """
    problem = classification([[1.0, 0.0], [0.0, 1.0]], [1, -1], 0.5, precomputed())
    return certificate(exact_optimum(problem), "proven")


def xor_path() -> Any:
    """Return the exact path of XOR: alpha = 1 down to lambda = 8, then lambda / 8.

    From lambda = 8 on it has no loss, either.
    """
    places = list(range(4))
    points = [
        {"lambda": 16, "b": 0, "rows": places, "numerators": [8] * 4},
        {"lambda": 8, "b": 0, "rows": [], "numerators": []},
        {"lambda": "1/1", "b": 0, "rows": places, "numerators": [1] * 4},
    ]
    parts = {
        "problem": xor()["problem"],
        "path": {"denominator": 8, "points": points},
        "claim": {"from": 1, "to": 16, "gap": 0},
    }
    return {"schema": checker.PATH_SCHEMA, "semidefinite": "by theorem"} | parts | {"digests": {}}


def without_loss() -> Any:
    """Return the part of the path of XOR that has no loss."""
    document = xor_path()
    del document["path"]["points"][0]
    document["path"]["points"][0] |= {"rows": [0, 1, 2, 3], "numerators": [8] * 4}
    return document | {"claim": {"from": 1, "to": 8, "gap": 0}}


def check(data: bytes) -> str:
    """Return the statement that a file proves, or raise ValueError."""
    return checker.statement(checker.read_file(data))


def refusal(document: Any) -> str:
    """Return the reason for the rejection of the document, signed unchanged."""
    return refusal_of(json.dumps(mutant.signed(document)).encode())


def refusal_of(data: bytes) -> str:
    with pytest.raises(ValueError, match=r".") as reason:
        check(data)
    return str(reason.value)


def stated(family: str, **parts: Any) -> dict[str, Any]:
    """Return a problem with a linear kernel and C = 1, updated by the parts."""
    return {
        "family": family,
        "kernel": {"name": "linear", "constant": 0},
        "C": 1,
        "weights": None,
    } | parts


def test_the_checker_is_one_file_of_the_standard_library() -> None:
    modules = {
        name.name for node in ast.walk(TREE) if isinstance(node, ast.Import) for name in node.names
    }
    modules |= {str(node.module) for node in ast.walk(TREE) if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in modules} <= sys.stdlib_module_names


def test_the_checker_is_plain_code() -> None:
    """No assignment inside an expression, no chained comparison, no long or deep function.

    The lines of a docstring do not count.
    """
    compared = [len(node.ops) for node in ast.walk(TREE) if isinstance(node, ast.Compare)]
    assert not any(isinstance(node, ast.NamedExpr) for node in ast.walk(TREE))
    assert max(compared) == 1
    assert max(map(lines_of_code, functions().values())) <= 25
    assert max(depth(node) for node in functions().values()) <= 3


def lines_of_code(node: ast.FunctionDef) -> int:
    """Return the number of lines of a function without its docstring."""
    text = ast.get_docstring(node, clean=False)
    documented = 0 if text is None else text.count("\n") + 1
    return (node.end_lineno or node.lineno) - node.lineno + 1 - documented


def depth(node: ast.AST) -> int:
    """Return the nesting depth of loops, branches, try and with statements."""
    inside = max((depth(child) for child in ast.iter_child_nodes(node)), default=0)
    return inside + isinstance(node, ast.For | ast.While | ast.If | ast.Try | ast.With)


def functions() -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in ast.walk(TREE) if isinstance(node, ast.FunctionDef)}


def listed_conditions() -> dict[str, str]:
    """Return the names of the conditions in `certificate.md` with numbered sentences."""
    rows = re.findall(r"^\| ([0-9]+) \| `(\w+)` \| (.+) \|$", DESCRIPTION, re.MULTILINE)
    return {name: f"{number}. {sentence}" for number, name, sentence in rows}


def test_every_condition_that_is_listed_is_a_function_of_its_name_and_in_its_place() -> None:
    found = {name: ast.get_docstring(node) or "" for name, node in functions().items()}
    found = {name: text for name, text in found.items() if re.match(r"[0-9]+\. ", text)}
    assert list(found.items()) == list(listed_conditions().items())
    assert [int(text.split(".")[0]) for text in found.values()] == list(range(1, len(found) + 1))


def test_a_condition_rejects_by_its_name_and_nothing_else_rejects() -> None:
    raising = {
        name
        for name, node in functions().items()
        if any(isinstance(part, ast.Raise) for part in ast.walk(node))
    }
    assert raising == {"require"}
    asked = {
        name: [call.args[1] for call in ast.walk(node) if is_require(call)]
        for name, node in functions().items()
    }
    asked = {name: arguments for name, arguments in asked.items() if arguments}
    assert set(asked) == set(listed_conditions())
    for name, arguments in asked.items():
        assert [getattr(argument, "value", None) for argument in arguments] == [name]


def is_require(node: ast.AST) -> TypeGuard[ast.Call]:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "require"
    )


def test_the_limits_are_those_that_are_listed() -> None:
    limits = re.findall(r"^\| `([A-Z_]+)` \| ([0-9x^ ]+) \|", DESCRIPTION, re.MULTILINE)
    assert len(limits) >= 7
    for name, value in limits:
        assert getattr(checker, name) == math.prod(
            int(base) ** int(power or 1) for base, power in re.findall(r"(\d+)(?:\^(\d+))?", value)
        )


INTERVALS = [
    (Fraction(1, 4), 0.5, "the optimum is in [0.25, 0.5]"),
    (-math.inf, Fraction(1, 2), "the optimum is at most 0.5"),
    (Fraction(1, 2), math.inf, "the optimum is at least 0.5"),
    (math.inf, math.inf, "no point is feasible"),
    (-math.inf, -math.inf, "the objective has no lower bound"),
    (-math.inf, math.inf, "no bound of the optimum is claimed"),
]


@pytest.mark.parametrize(("lower", "upper", "said"), INTERVALS)
def test_infinite_bounds_are_said_in_words(
    lower: Fraction | float, upper: Fraction | float, said: str
) -> None:
    assert checker.describe_interval(lower, upper) == said


def test_the_checker_runs_on_its_own(tmp_path: Path) -> None:
    shutil.copy(SOURCE, tmp_path / "checker.py")
    (tmp_path / "good.json").write_text(json.dumps(xor()))
    (tmp_path / "bad.json").write_text(json.dumps(xor() | {"mode": "proved"}))

    def run(*files: str) -> tuple[int, list[str]]:
        command = [sys.executable, "-I", "-W", "error", "checker.py", *files]
        answer = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=HANG)
        assert answer.stderr == ""
        return answer.returncode, answer.stdout.splitlines()

    good = "good.json: ACCEPTED: svm.soft: the optimum is in [0.25, 0.25]"
    assert run("good.json") == (0, [good])
    bad = "bad.json: REJECTED: mode_is_known does not hold: the mode is neither proven nor exact"
    assert run("good.json", "bad.json") == (1, [good, bad])
    code, lines = run("nothing.json")
    assert (code, lines) == (
        2,
        ["nothing.json: cannot be read: No such file or directory; give the path of a certificate"],
    )
    code, lines = run(".")
    assert (code, lines) == (
        2,
        [".: cannot be read: Is a directory; give the path of a certificate"],
    )


@pytest.mark.parametrize("arguments", [[], ["-h"], ["--help"]])
def test_without_files_the_checker_says_how_it_is_used(arguments: list[str]) -> None:
    answer = subprocess.run(
        [sys.executable, "-I", str(SOURCE), *arguments],
        capture_output=True,
        text=True,
        timeout=HANG,
    )
    assert (answer.returncode, answer.stdout) == (1, "")
    assert "python3 -I checker.py FILE..." in answer.stderr


@pytest.mark.parametrize("scale", [1.0, 1e-200])
def test_what_is_printed_contains_the_claim(
    scale: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """84/29 is below the nearest double; a tiny hard margin is outside the float64 range."""
    X = scale * np.array([[0.0], [1.0], [2.0], [3.0]])
    if scale == 1.0:
        problem = classification(X, [-1, -1, 1, 1], 1, linear(), "squared_hinge", False)
    else:
        problem = classification(X, [-1, -1, 1, 1], np.inf, linear())
    optimum = exact_optimum(problem)
    assert optimum.value is not None
    write_certificate(certificate(optimum), tmp_path / "exact.json")
    assert checker.main([str(tmp_path / "exact.json")]) == 0
    lower, upper = (
        float(end) for end in capsys.readouterr().out.rsplit("[", 1)[1].rstrip("]\n").split(", ")
    )
    assert lower < optimum.value < upper
    assert math.nextafter(lower, math.inf) == upper


@pytest.mark.parametrize(
    "v",
    [
        Fraction(84, 29),
        Fraction(1, 4),
        Fraction(10**400),
        1 / Fraction(10**400),
        -Fraction(10**400),
        math.inf,
    ],
)
def test_a_bound_is_rounded_outwards_whatever_its_size(v: Fraction | float) -> None:
    lower, upper = checker.outward(v, -1), checker.outward(v, 1)
    assert lower <= v <= upper
    assert upper in (lower, math.nextafter(lower, math.inf))
    assert (lower == upper) == (v in (Fraction(1, 4), math.inf))


def test_a_refusal_beyond_all_doubles_is_a_sentence() -> None:
    document = xor() | {"claim": {"lower": "0x1" + "0" * 400, "upper": "0x1" + "0" * 400}}
    assert (
        refusal(document)
        == "lower_bound_is_proved does not hold: the dual point proves 0.25, less than the "
        "claimed lower bound inf"
    )


def test_exp_is_enclosed() -> None:
    rng = np.random.default_rng(0)
    with localcontext(prec=80):
        for x in [
            0.0,
            2.0**-60,
            2.0**-9,
            2.0**-8,
            1.0,
            66.0,
            95.999,
            96.0,
            1e6,
            *rng.exponential(10.0, 300),
            *rng.exponential(0.01, 100),
        ]:
            numerator, denominator = float(x).as_integer_ratio()
            exact = (-Decimal(numerator) / Decimal(denominator)).exp() * 2**checker.EXP_BITS
            assert abs(checker.exp(numerator, denominator) - exact) <= checker.EXP_ERROR == 2


@pytest.mark.parametrize("family", OF_THE_CERTIFICATE)
def test_no_changed_certificate_is_accepted_with_a_false_interval(family: str) -> None:
    rng = np.random.default_rng(len(family))
    for name in ("linear", "polynomial"):
        if family == "rank.hard" and name == "polynomial":
            continue
        document = sample(family, name)
        known = mutant.truth(document["problem"])
        outcomes = set()
        for kind, changed in mutant.mutations(document, rng, 25):
            found = mutant.accepted(json.dumps(changed).encode())
            outcomes.add(found is None)
            if found is not None:
                exact = (
                    known
                    if changed["problem"] == document["problem"]
                    else mutant.truth(changed["problem"])
                )
                assert not mutant.false(found, exact), (kind, found, exact)
        assert True in outcomes


@pytest.mark.parametrize("family", ["svm.soft", "rank.l2", "rvm"])
def test_hostile_documents_are_refused_in_a_sentence(
    family: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, data in mutant.hostile(sample(family, "rbf")):
        (tmp_path / "hostile.json").write_bytes(data)
        assert checker.main([str(tmp_path / "hostile.json")]) == 1, name
        assert "REJECTED: " in capsys.readouterr().out


def test_a_refusal_is_printed_in_ascii(tmp_path: Path) -> None:
    """This holds for any file and path, and any output stream."""
    file = tmp_path / "\uff11.json"
    file.write_text(
        json.dumps(mutant.signed(xor() | {"claim": {"lower": "\uff11\ud800", "upper": 1}}))
    )
    command = [sys.executable, "-W", "error", str(SOURCE), str(file)]
    answer = subprocess.run(
        command,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        timeout=HANG,
    )
    assert (answer.returncode, answer.stderr) == (1, "")
    assert "\\uff11.json: REJECTED: " in answer.stdout


def changed(*path: Any, to: Any) -> Callable[[Any], None]:
    """Return a change of the value at a path."""

    def change(document: Any) -> None:
        for key in path[:-1]:
            document = document[key]
        document[path[-1]] = to

    return change


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (changed("claim", "lower", to="251/1000"), "above the upper one"),
        (changed("claim", "upper", to="251/1000"), "the claimed bounds are not equal"),
        (changed("claim", "upper", to="inf"), "the claimed bounds are not equal"),
        (
            changed("claim", to={"lower": "inf", "upper": "inf"}),
            "less than the claimed lower bound",
        ),
        (
            changed("claim", to={"lower": "2/10", "upper": "2/10"}),
            "more than the claimed upper bound",
        ),
        (changed("dual", "numerators", 0, to=2), "break s'alpha = 0"),
        (changed("dual", "numerators", 0, to=-1), "negative"),
        (changed("dual", "numerators", 0, to=0.5), "no integer"),
        (changed("dual", "rows", 0, to=3), "a row has two"),
        (changed("dual", "rows", 0, to=4), "an index is not one of 0 .. 3"),
        (
            changed("dual", "denominator", to=0),
            "negative or no integer, or their denominator is not positive",
        ),
        (changed("problem", "C", to=0.1), "above its cost"),
        (changed("problem", "C", to=-1), "C is not positive"),
        (changed("problem", "C", to="inf"), "infinite where the family is not hard"),
        (changed("problem", "C", to=True), "missing, infinite"),
        (changed("problem", "labels", 0, to=0), "neither -1 nor +1"),
        (changed("problem", "labels", to=[1, -1, 1]), "an array of 4"),
        (changed("problem", "weights", to=[1, 1, 1, -1]), "a weight is negative"),
        (changed("problem", "family", to="svm.penalised"), "the family is not known"),
        (changed("problem", "kernel", "name", to="sigmoid"), "the kernel is not known"),
        (changed("problem", "kernel", "coef0", to=-1), "a parameter of the kernel is negative"),
        (changed("problem", "kernel", "gamma", to=0), "gamma is 0"),
        (changed("problem", "kernel", "degree", to=1.5), "the degree is not one of 1 .. 32"),
        (changed("problem", "features", 1, to=[1.0]), "an array of 2"),
        (changed("problem", "features", to=[]), "there are no features"),
        (changed("primal", "beta", to=[0, 0, 0]), "3 coefficients, not 4: one for every point"),
        (changed("primal", "b", to="1/0"), "divided by 0"),
        (changed("primal", "b", to="1/2/3"), "not written p or p/q"),
        (changed("primal", to=None), "less than the claimed|more than the claimed"),
        (
            changed("semidefinite", to="by factorisation"),
            "established by theorem, not as the document says",
        ),
        (
            changed("schema", to="equimargin-certificate/4"),
            "the schema is not equimargin-certificate/1 or equimargin-certificate/2",
        ),
        (
            changed("schema", to="equimargin-certificate/3"),
            "an object with the keys schema claim semidefinite problem path digests",
        ),
    ],
)
def test_what_is_wrong_is_said(change: Callable[[Any], None], reason: str) -> None:
    document = xor()
    change(document)
    assert any(part in refusal(document) for part in reason.split("|"))


def test_a_path_and_an_interval_have_their_own_schemas() -> None:
    with pytest.raises(
        ValueError, match=r"the schema is not equimargin-certificate/1 or equimargin-certificate/2$"
    ):
        checker.check(json.dumps(xor() | {"schema": checker.PATH_SCHEMA}).encode())
    with pytest.raises(ValueError, match=r"the schema is not equimargin-certificate/3$"):
        checker.check_path(
            json.dumps(mutant.signed(xor_path()) | {"schema": checker.SCHEMA}).encode()
        )


ALONE: dict[str, tuple[Callable[[], Any], Callable[[Any], None]]] = {
    "keys_are_those_listed": (xor, changed("more", to=0)),
    "number_is_rational": (xor, changed("problem", "C", to=True)),
    "array_has_its_length": (xor, changed("problem", "features", 3, to=[1.0, -1.0, 0.0])),
    "indices_are_in_range": (xor, changed("dual", "rows", 3, to=-1)),
    "common_denominator_is_short": (
        lambda: opened(xor()),
        changed("primal", "beta", 0, to="1/0x" + "f" * 65536),
    ),
    "schema_is_known": (xor, changed("schema", to="equimargin-certificate/4")),
    "mode_is_known": (xor, changed("mode", to="proved")),
    "a_point_is_given": (lambda: opened(xor()) | {"primal": None}, changed("dual", to=None)),
    "constant_is_zero_or_one": (
        lambda: opened(xor()),
        changed("problem", "kernel", "constant", to=2),
    ),
    "parameters_are_not_negative": (
        lambda: opened(xor()),
        changed("problem", "kernel", "coef0", to=-1),
    ),
    "degree_is_admitted": (lambda: opened(xor()), changed("problem", "kernel", "degree", to=33)),
    "gamma_is_positive": (lambda: opened(xor()), changed("problem", "kernel", "gamma", to=0)),
    "features_are_given": (
        lambda: opened(sample("svm.soft")),
        lambda document: without_features(document),
    ),
    "labels_are_signs": (
        lambda: opened(xor()) | {"dual": None},
        changed("problem", "labels", 0, to=0),
    ),
    "epsilon_is_not_negative": (
        lambda: opened(sample("svr.l1")),
        changed("problem", "epsilon", to=-1),
    ),
    "pairs_stand_alone": (
        lambda: opened(sample("rank.l1")) | {"dual": None},
        changed("problem", "pairs", to=[[1, 0]]),
    ),
    "cost_fits_the_family": (
        lambda: opened(xor()) | {"dual": None},
        changed("problem", "C", to=-1),
    ),
    "weights_are_not_negative": (
        lambda: opened(xor()) | {"dual": None},
        changed("problem", "weights", to=[1, 1, 1, -1]),
    ),
    "one_norm_weights_are_finite": (
        lambda: opened(sample("rvm")) | {"primal": None},
        changed("problem", "weights", to=["inf"]),
    ),
    "gram_matrix_is_semidefinite": (
        lambda: opened(gram()),
        changed("problem", "features", 1, to=[5, 2]),
    ),
    "semidefiniteness_is_as_stated": (xor, changed("semidefinite", to="by factorisation")),
    "multipliers_are_natural": (
        lambda: opened(xor()),
        changed("dual", "numerators", to=[-1, -1, -1, -1]),
    ),
    "rows_occur_once": (lambda: opened(xor()), changed("dual", "rows", to=[0, 1, 0, 1])),
    "coefficients_fit": (xor, lambda document: document["primal"]["beta"].append(1)),
    "multipliers_are_within_costs": (lambda: opened(xor()), changed("problem", "C", to=0.1)),
    "prices_are_at_most_one": (
        lambda: opened(sample("rvm")),
        changed("problem", "features", 0, to=[1e6, 1e6, 1e6]),
    ),
    "multipliers_are_balanced": (lambda: opened(xor()), changed("dual", "numerators", 0, to=2)),
    "bias_belongs_to_the_family": (
        lambda: opened(sample("svm.nobias")),
        changed("primal", "b", to=0.5),
    ),
    "hard_rows_are_met": (lambda: opened(sample("svm.hard")), changed("primal", "w", 0, to=0)),
    "entries_occur_once": (
        lambda: opened(quadratic()),
        lambda document: document["problem"]["A"].append([0, 0, 0]),
    ),
    "entries_are_below_the_diagonal": (
        lambda: opened(linear_program()),
        changed("problem", "P", to=[[0, 1, 0]]),
    ),
    "quadratic_part_is_semidefinite": (
        lambda: opened(quadratic()) | {"dual": None},
        changed("problem", "P", 1, to=[1, 0, 3]),
    ),
    "equations_are_met": (
        lambda: opened(quadratic()) | {"dual": None},
        changed("problem", "b", 0, to=3),
    ),
    "slack_is_in_the_cone": (
        lambda: opened(quadratic()) | {"dual": None},
        changed("problem", "h", 0, to=-9),
    ),
    "direction_descends_for_ever": (endless, changed("primal", "d", 0, to=-1)),
    "multipliers_are_in_the_cone": (
        lambda: opened(linear_program()),
        changed("dual", "z", 2, to=-1),
    ),
    "multipliers_separate": (empty, changed("dual", "z", 0, to=2)),
    "gradient_vanishes": (lambda: opened(quadratic()), changed("dual", "y", 0, to=7)),
    "lower_bound_is_proved": (gram, changed("claim", to={"lower": 2, "upper": "inf"})),
    "upper_bound_is_proved": (gram, changed("claim", to={"lower": "-inf", "upper": "1/8"})),
    "exact_bounds_are_equal": (xor, changed("claim", to={"lower": "1/8", "upper": "1/2"})),
    "claim_is_a_range_and_a_gap": (xor_path, changed("claim", "from", to=17)),
    "family_has_a_path": (without_loss, changed("problem", "family", to="svm.l2")),
    "costs_are_weights": (without_loss, changed("problem", "C", to=2)),
    "lambdas_decrease": (
        xor_path,
        lambda document: document["path"]["points"].insert(1, document["path"]["points"][0]),
    ),
    "gap_is_proved_at_points": (
        xor_path,
        lambda document: alone(document["path"]["points"], document["claim"]),
    ),
    "gap_is_proved_between_points": (xor_path, lambda document: document["path"]["points"].pop(1)),
    "path_covers_the_range": (xor_path, changed("claim", "to", to=17)),
}
"""For each condition an accepted certificate and a change that violates it alone."""


def alone(points: Any, claim: Any) -> None:
    """Keep one point of a path, with multipliers that are all 0."""
    points[1:] = []
    points[0] |= {"numerators": [0] * 4}
    claim |= {"from": 16}


def without_features(document: Any) -> None:
    document["problem"]["features"] = [[] for _ in document["problem"]["features"]]
    document["primal"]["w"] = []


def data_of(document: Any, change: Callable[[Any], None]) -> bytes:
    """Return the file of a document that is changed and signed again."""
    document = copy.deepcopy(document)
    change(document)
    return json.dumps(mutant.signed(document)).encode()


@pytest.mark.parametrize("name", ALONE)
def test_a_certificate_that_violates_one_condition_only_is_rejected_by_its_name(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the change, and without the condition, it is accepted."""
    make, change = ALONE[name]
    document = make()
    check(data_of(document, lambda document: None))
    data = data_of(document, change)
    assert refusal_of(data).startswith(f"{name} does not hold: ")
    monkeypatch.setattr(checker, name, lambda *parts: None)
    check(data)


def test_a_direction_along_which_the_objective_is_level_proves_nothing() -> None:
    assert refusal_of(data_of(endless(), changed("primal", "d", 0, to=0))).startswith(
        "direction_descends_for_ever does not hold: "
    )


def test_a_product_with_the_points_counts_all_numbers_of_all_points(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted: list[tuple[int, int]] = []
    monkeypatch.setattr(checker, "arithmetic_is_affordable", lambda *asked: counted.append(asked))
    space = checker.PointSpace(
        linear=True, rows=[[1] * 7] * 5, unit=1, error=0, bits=11, first=[0] * 5
    )
    checker.product_is_affordable(space, [1, -2])
    assert counted == [(35, 22)]


def texts() -> dict[str, bytes]:
    """Return files that violate one condition only before their values are read."""
    text = json.dumps(xor())
    return {
        "file_is_not_too_large": text.encode().ljust(checker.LARGEST_FILE + 1),
        "keys_occur_once": text.replace('"mode":', '"mode": "exact", "mode":', 1).encode(),
        "digests_match": text.replace('"points": "', '"points": "0', 1).encode(),
    }


@pytest.mark.parametrize("name", texts())
def test_a_text_that_violates_one_condition_only_is_rejected_by_its_name(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = texts()[name]
    assert refusal_of(data).startswith(f"{name} does not hold: ")
    monkeypatch.setattr(checker, name, lambda *parts: None)
    checker.check(data)


def broken() -> dict[str, list[bytes]]:
    """Return files that violate a condition that the rest of the check requires."""
    document, text = xor(), json.dumps(xor()).encode()
    return {
        "text_is_json": [text + b"}", b"[" * 100_000, b"\xff" + text, b""],
        "integer_is_not_too_long": [
            text.replace(b'"denominator": 8', b'"denominator": ' + b"8" * 4301)
        ],  # Python reads no longer ones
        "denominator_is_positive": [data_of(document, changed("primal", "b", to="1/0"))],
        "arithmetic_is_affordable": [
            data_of(document, changed("problem", "features", to=[[k] for k in range(30_000)]))
        ],
        "claim_is_an_interval": [
            data_of(document, changed("claim", to={"lower": "1/4", "upper": "1/5"}))
        ],  # one would be unproved
        "family_is_known": [data_of(document, changed("problem", "family", to="svm.penalised"))],
        "cones_fit": [
            data_of(quadratic(), changed("problem", "cones", to=sizes)) for sizes in ([0], [1, 1])
        ],
        "kernel_is_known": [data_of(document, changed("problem", "kernel", "name", to="sigmoid"))],
    }


@pytest.mark.parametrize("name", broken())
def test_a_certificate_that_cannot_be_read_on_is_rejected_by_the_name_of_the_condition(
    name: str,
) -> None:
    for data in broken()[name]:
        assert refusal_of(data).startswith(f"{name} does not hold: ")


def test_every_condition_is_violated_alone() -> None:
    assert sorted([*ALONE, *texts(), *broken()]) == sorted(listed_conditions())


@pytest.mark.parametrize("n", [3, 70])
@pytest.mark.parametrize(("smallest", "holds"), [(-1e-9, False), (1e-9, True)])
def test_a_gram_matrix_that_is_not_positive_semidefinite_is_refused(
    n: int, smallest: float, holds: bool
) -> None:
    rng = np.random.default_rng(n)
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    K = (Q * np.append(rng.uniform(1, 2, n - 1), smallest)) @ Q.T
    triangle = [K[i, : i + 1].tolist() for i in range(n)]
    if holds:
        establish(triangle)
    else:
        with pytest.raises(ValueError, match=r"not proved positive semidefinite"):
            establish(triangle)


def establish(triangle: list[list[float]]) -> None:
    """Have the checker prove that a Gram matrix is positive semidefinite."""
    space = checker.read_space({"name": "precomputed", "constant": 0, "shift": 0}, triangle)
    checker.gram_matrix_is_semidefinite(space.rows, space.bits)


@pytest.mark.parametrize("entry", [1e300, -1e300, 1.7e308])
def test_a_large_gram_matrix_beyond_floats_is_refused_in_a_sentence(entry: float) -> None:
    """There is no factor in float64 to propose."""
    with pytest.raises(ValueError, match=r"^gram_matrix_is_semidefinite does not hold: "):
        establish([[entry] * i + [1e-300] for i in range(70)])


def test_a_factorisation_that_takes_too_long_is_refused_before_it_takes_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The table of a quadratic part of 9000 unknowns would take more than half a gigabyte."""
    one = (1, 1)
    P = checker.matrix([(1, 0, one), (0, 1, one), *((i, i, one) for i in range(9000))], 9000)
    monkeypatch.setattr(checker, "dense_part", lambda *parts: pytest.fail("the table was made"))
    with pytest.raises(ValueError, match=r"^arithmetic_is_affordable does not hold: "):
        checker.quadratic_part_is_semidefinite(P)


def test_a_zero_on_the_diagonal_asks_for_zeros_beside_it() -> None:
    establish([[0], [0, 1]])
    with pytest.raises(ValueError, match=r"not proved positive semidefinite"):
        establish([[0], [1, 0]])


@pytest.mark.parametrize(
    "text", ["1", "-1", "007", "-0x1f", "22/7", "0x16/0x7", "9" * 4300, "0x" + "f" * 65536]
)
def test_a_number_is_an_integer_or_a_fraction_of_integers(text: str) -> None:
    p, q = f"{text}/1".split("/")[:2]
    assert checker.rational(text) == Fraction(
        int(p, 16 if "x" in p else 10), int(q, 16 if "x" in q else 10)
    )


STRANGE = [
    "\uff11",
    "\u0661",
    "1_0",
    " 1",
    "1 ",
    "1\n",
    "+1",
    "0b1",
    "0o7",
    "0X1",
    "0xF",
    "1.5",
    "1/-2",
    "1/",
    "/1",
    "",
    "inf",
    "NaN",
]


@pytest.mark.parametrize("text", [*STRANGE, "9" * 4301, "0x" + "f" * 65537])
def test_nothing_else_is_a_number(text: str) -> None:
    with pytest.raises(
        ValueError,
        match=r"^number_is_rational does not hold: a number is .*, not written p or p/q, or too "
        r"long$",
    ):
        checker.rational(text)


def test_integers_are_exact_doubles_are_doubles_and_both_are_short() -> None:
    document = xor()
    text = json.dumps(mutant.signed(document | {"claim": {"lower": 10**17 + 1, "upper": 1e17}}))
    with pytest.raises(ValueError, match=r"the claimed lower bound is above the upper one"):
        checker.check(text.encode())
    for sign in ("", "-"):
        with pytest.raises(
            ValueError,
            match=r"^integer_is_not_too_long does not hold: an integer has 4,301 digits$",
        ):
            checker.check(text.replace(str(10**17 + 1), sign + "9" * 4301).encode())
        assert "integer_is_not_too_long" not in refusal_of(
            text.replace(str(10**17 + 1), sign + "9" * 4300).encode()
        )


def test_a_hard_row_must_be_met_exactly() -> None:
    document = sample("svm.hard")
    document = document | {
        "primal": document["primal"] | {"w": [v * (1 - 1e-9) for v in document["primal"]["w"]]}
    }
    assert (
        refusal(document) == "hard_rows_are_met does not hold: the primal point violates a hard row"
    )


@pytest.mark.parametrize(("family", "most"), [("rvm", 1), ("rank.onenorm", Fraction(1, 4))])
def test_the_prices_of_a_linear_program_must_be_met_exactly(family: str, most: Fraction) -> None:
    """Two points on a line at 0 and 1 (rvm: B = (0 1)), or at 0 and 2 (B = 4).

    u <= 1 or 1/4.
    """
    points = [[0.0], [1.0 if family == "rvm" else 2.0]]
    problem = checker.read_problem(
        stated(family, features=points, labels=[0, 1], queries=None, C=8, pairs=None)
    )
    n, d = Fraction(most).as_integer_ratio()
    assert (
        checker.lower_bound(problem, {"rows": [0], "numerators": [n], "denominator": d}, False)
        == most
    )
    with pytest.raises(ValueError, match=r"break B'u <= 1"):
        checker.lower_bound(
            problem, {"rows": [0], "numerators": [n * 1000 + 1], "denominator": d * 1000}, False
        )


@pytest.mark.parametrize("part", ["problem", "points"])
def test_a_digest_must_fit(part: str) -> None:
    document = xor()
    digest = document["digests"][part]
    document["digests"][part] = ("1" if digest[0] == "0" else "0") + digest[1:]
    with pytest.raises(ValueError, match=r"a digest is not that of its part"):
        checker.check(json.dumps(document).encode())


def test_too_much_arithmetic_is_refused_at_once() -> None:
    document = sample("svm.soft", "rbf")
    rows = [[float(i)] for i in range(30_000)]
    problem = document["problem"] | {"features": rows, "labels": [1] * 30_000}
    assert refusal(document | {"problem": problem}) == TOO_MUCH


def test_numbers_are_not_hashed() -> None:
    """Hashes are remainders modulo 2^61 - 1.

    A set of denominators that differ by multiples of it took quadratic time.
    """

    class Denominator(int):
        __hash__ = None  # type: ignore[assignment]

    ratios = [(1, Denominator(2)), (1, Denominator(3)), (5, Denominator(3)), (7, Denominator(1))]
    assert checker.common_denominator(ratios) == ([3, 2, 10, 42], 6)
    colliding = [(1, 1 + k * (2**61 - 1)) for k in range(1, 5000)]
    with pytest.raises(ValueError, match=f"^{TOO_LONG}$"):
        checker.common_denominator(colliding)
    assert checker.common_denominator(colliding[:2]) == ([2**62 - 1, 2**61], 2**61 * (2**62 - 1))


@pytest.mark.parametrize(
    "doubles",
    [
        [0.1, -3.0, 2.0**-60, 0.0],
        [1 + 2.0**-52, 0.5 + 2.0**-53],
        [6.0, -4.0],
        [0.0, -0.0],
        [],
        [1, -2],
        [1, 2.5],
        [2.0**200, -(2.0**-200)],
        [-0.75, 1 / 3, -5e300],
        [5e-324, 1.0],
    ],
)
def test_doubles_converted_at_once_are_those_converted_one_by_one(doubles: list[float]) -> None:
    """The integers and their unit do not depend on the way in which doubles are converted."""
    one_by_one = checker.common_denominator(v.as_integer_ratio() for v in doubles)
    assert checker.integers_over_unit(doubles) == one_by_one


def test_only_positive_weights_have_an_infinite_cost() -> None:
    soft, hard = checker.FAMILY_OF_NAME["svm.soft"], checker.FAMILY_OF_NAME["svm.hard"]
    assert checker.read_costs("inf", [0, 1, "1/2"], hard, 3).infinite == [False, True, True]
    assert checker.read_costs(2, [0, 1, "inf"], soft, 3).infinite == [False, False, True]


@pytest.mark.parametrize("numbers", [[math.inf], [1.0, -math.inf], [True, 1], [1.0, None]])
def test_what_is_no_number_is_refused_among_numbers(numbers: list[Any]) -> None:
    with pytest.raises(ValueError, match=r"^number_is_rational does not hold"):
        checker.integers_over_unit(numbers)


def test_no_file_has_too_many_doubles_that_are_converted_at_once() -> None:
    """A number and its comma take four bytes, so that condition 10 holds without a check."""
    count = checker.LARGEST_FILE // 4 + checker.LEAST_COMMON_COUNT
    bits = 53 + 2 + int(math.log2(checker.LARGEST_MODERATE))
    assert bits * count <= checker.MOST_COMMON_BITS


@pytest.mark.parametrize("squared", [False, True])
def test_the_costs_have_a_common_denominator_or_are_refused(squared: bool) -> None:
    family = "svm.nobias_l2" if squared else "svm.nobias"
    three = stated(family, features=[[0]] * 3, labels=[1, 1, -1], C="5/3")
    problem = checker.read_problem(three | {"weights": ["1/7", 0, "3/11"]})
    costs = [Fraction(5, 21), Fraction(0), Fraction(5, 11)]
    assert [Fraction(cost, problem.costs.unit) for cost in problem.costs.numerators] == costs
    assert checker.upper_bound(problem, {"w": [0], "b": 0}) == sum(costs)
    alpha = {"rows": [0, 2], "numerators": [55, 105], "denominator": 231}
    assert (
        checker.lower_bound(problem, alpha, True) == Fraction(160, 231) - squared * sum(costs) / 4
    )
    if not squared:
        with pytest.raises(ValueError, match=r"above its cost"):
            checker.lower_bound(problem, alpha | {"numerators": [56, 105]}, True)
    weights = [f"1/{2**20_000 + k:#x}" for k in range(1, 60, 2)]
    with pytest.raises(ValueError, match=f"^{TOO_LONG}$"):
        checker.read_problem(
            three | {"features": [[0]] * 30, "labels": [1] * 30, "weights": weights}
        )


def test_inverse_costs_without_a_short_common_denominator_are_refused() -> None:
    """Mode exact alone requires their sum."""
    weights = [hex(2**20_000 + k) for k in range(1, 60, 2)]
    problem = checker.read_problem(
        stated("svm.nobias_l2", features=[[0]] * 30, labels=[1] * 30, weights=weights)
    )
    alpha = {"rows": list(range(30)), "numerators": [1] * 30, "denominator": 1}
    assert 30 - Fraction(1, 2**900) < checker.lower_bound(problem, alpha, False) < 30
    with pytest.raises(ValueError, match=f"^{TOO_LONG}$"):
        checker.lower_bound(problem, alpha, True)


@pytest.mark.parametrize(
    ("queries", "comparisons"), [([0, 0, 0, 2], 10), ([0, 1, 2, 3], 4), (None, 16)]
)
def test_the_work_of_listing_pairs_is_counted_before_it_is_done(
    queries: list[int] | None, comparisons: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each point is compared with every point of its query."""
    counted: list[int] = []
    monkeypatch.setattr(checker, "arithmetic_is_affordable", counted.append)
    rows = checker.labelled_pairs([1, 2, 3, 4], queries)
    assert counted == [checker.OPERATIONS_OF_A_COMPARISON * comparisons]
    assert len(rows.plus) == {10: 3, 4: 0, 16: 6}[comparisons]


def test_pairs_beyond_number_are_refused() -> None:
    with pytest.raises(ValueError, match=f"^{TOO_MUCH}$"):
        checker.read_problem(
            stated(
                "rank.l1",
                features=[[0], [1]],
                labels=None,
                queries=None,
                pairs=[[1, 0]] * 1_600_000,
            )
        )


def test_the_end_of_memory_is_a_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def exhausted(data: bytes) -> Any:
        raise MemoryError

    monkeypatch.setattr(checker, "read_file", exhausted)
    (tmp_path / "large.json").write_text("[]")
    assert checker.main([str(tmp_path / "large.json")]) == 1
    assert capsys.readouterr().out.endswith("large.json: REJECTED: out of memory\n")


def test_a_bound_is_exact_to_the_last_digit() -> None:
    document = sample("svm.soft")
    lower, upper = document["claim"]["lower"], document["claim"]["upper"]
    assert checker.check(json.dumps(document).encode())[1:] == (Fraction(lower), Fraction(upper))
    assert "less than the claimed" in refusal(
        document | {"claim": {"lower": math.nextafter(lower, upper), "upper": upper}}
    )
    assert "more than the claimed" in refusal(
        document | {"claim": {"lower": lower, "upper": math.nextafter(upper, lower)}}
    )


def test_values_of_an_rbf_kernel_are_enclosed() -> None:
    """f, |f|^2 and the value of the problem, against sixty decimals."""
    rng = np.random.default_rng(1)
    for _ in range(10):
        X, beta, y = rng.normal(size=(5, 2)), rng.normal(size=5), [1, -1, 1, -1, 1]
        kernel = {"name": "rbf", "constant": 0, "gamma": 0.7}
        problem = checker.read_problem(
            stated("svm.soft", kernel=kernel, features=X.tolist(), labels=y, C=10**9)
        )
        with localcontext(prec=80):
            K = [[_rbf(X[i], X[j], 0.7) for j in range(5)] for i in range(5)]
            f = [sum((K[i][j] * Decimal(beta[j]) for j in range(5)), Decimal(0)) for i in range(5)]
            norm2 = sum((Decimal(beta[i]) * f[i] for i in range(5)), Decimal(0))
            exact = norm2 / 2 + 10**9 * sum(
                (max(1 - y[i] * (f[i] + Decimal("0.25")), Decimal(0)) for i in range(5)), Decimal(0)
            )
            steps, unit = checker.common_denominator(v.as_integer_ratio() for v in beta.tolist())
            found = checker.function_of_points(problem.space, steps, unit)
            assert all(
                abs(Decimal(v) - g * found.unit) <= found.error
                for v, g in zip(found.values, f, strict=False)
            )
            assert (
                0
                <= Decimal(found.norm2.numerator) / found.norm2.denominator - norm2
                < Decimal(2) ** -80
            )
            upper = checker.upper_bound(problem, {"beta": beta.tolist(), "b": 0.25})
            assert 0 <= Decimal(upper.numerator) / upper.denominator - exact < Decimal(2) ** -50
            alpha = {"rows": [0, 1, 2, 3], "numerators": [3, 1, 1, 3], "denominator": 8}
            pull = [Decimal(3) / 8, -Decimal(1) / 8, Decimal(1) / 8, -Decimal(3) / 8]
            dual = (
                1
                - sum((pull[i] * K[i][j] * pull[j] for i in range(4) for j in range(4)), Decimal(0))
                / 2
            )
            lower = Fraction(checker.lower_bound(problem, alpha, False))
            assert 0 <= dual - Decimal(lower.numerator) / lower.denominator < Decimal(2) ** -80


def _rbf(x: Any, z: Any, gamma: float) -> Decimal:
    return (
        -Decimal(gamma)
        * sum((Decimal(a) - Decimal(b)) ** 2 for a, b in zip(x.tolist(), z.tolist(), strict=True))
    ).exp()


def test_a_direction_of_finite_costs_is_no_ray() -> None:
    """Equal points of both classes: A'alpha = 0 and t'alpha > 0.

    It proves infeasibility only where slacks are forbidden.
    """
    alpha = {"rows": [0, 1], "numerators": [1, 1], "denominator": 1}
    for weights, proved in ((None, 2), (["inf", 1], 2), (["inf", "inf"], math.inf)):
        problem = checker.read_problem(
            stated("svm.soft", features=[[1.0], [1.0]], labels=[1, -1], weights=weights)
        )
        assert checker.lower_bound(problem, alpha, False) == proved


def test_the_coefficients_of_equal_points_are_added_up() -> None:
    """A circle of preferences through equal points cancels in an RBF kernel's space.

    Through points that are nearly equal it does not.
    """
    assert checker.first_equal([[3, 1], [0, 1], [3, 1], [0, 2], [0, 1], [3, 1]]) == [
        0,
        1,
        0,
        3,
        1,
        0,
    ]
    circle, kernel = (
        {"rows": [0, 1], "numerators": [1, 1], "denominator": 1},
        {"name": "rbf", "constant": 0, "gamma": 0.5},
    )
    for last, proved in ((1.0, math.inf), (1.0 + 2.0**-52, 2)):
        features = [[1.0], [3.0], [last]]
        problem = checker.read_problem(
            stated(
                "rank.hard",
                kernel=kernel,
                features=features,
                labels=None,
                pairs=[[0, 1], [1, 2]],
                C="inf",
                queries=None,
            )
        )
        assert checker.lower_bound(problem, circle, False) <= proved
        assert (checker.lower_bound(problem, circle, False) == math.inf) == (proved == math.inf)


def test_weights_of_zero_allow_no_multiplier() -> None:
    problem = checker.read_problem(
        stated("svm.nobias_l2", features=[[1.0], [2.0]], labels=[1, -1], weights=[0, 1])
    )
    with pytest.raises(ValueError, match=r"above its cost"):
        checker.lower_bound(problem, {"rows": [0], "numerators": [1], "denominator": 8}, False)
    proved = checker.lower_bound(problem, {"rows": [1], "numerators": [1], "denominator": 2}, False)
    assert proved == Fraction(1, 2) - Fraction(1, 2) - Fraction(1, 16)


def test_the_squared_terms_of_many_costs_are_rounded_up() -> None:
    weights = [1 / 3, 1 / 7, 0.1]
    problem = checker.read_problem(
        stated("svm.nobias_l2", features=[[0.0]] * 3, labels=[1, 1, 1], weights=weights)
    )
    alpha = {"rows": [0, 1, 2], "numerators": [1, 2, 3], "denominator": 4}
    exact = Fraction(6, 4) - sum(
        Fraction(k, 4) ** 2 / (4 * Fraction(w)) for k, w in zip((1, 2, 3), weights, strict=True)
    )
    assert checker.lower_bound(problem, alpha, True) == exact
    rounded = checker.lower_bound(problem, alpha, False)
    assert exact - Fraction(1, 2**390) < rounded < exact


def test_the_exact_path_of_xor_is_proved_without_a_gap() -> None:
    proved = check(json.dumps(mutant.signed(xor_path())).encode())
    assert (
        proved == "svm.soft: for every lambda in [1.0, 16.0] the path's objective is above the "
        "optimum by at most 0.0 of it"
    )


@pytest.mark.parametrize(
    ("to", "reason"),
    [(-1, "the gap is negative"), ("1/0", "divided by 0"), (True, "a number is missing")],
)
def test_a_gap_is_a_number_that_is_not_negative(to: Any, reason: str) -> None:
    document = xor_path()
    document["claim"]["gap"] = to
    assert reason in refusal(document)


@pytest.mark.parametrize(
    "change",
    [
        changed("claim", "from", to=0),
        changed("claim", "from", to="1/2"),
        changed("path", "points", to=[]),
        changed("path", "points", 2, "lambda", to=2),
        changed("path", "points", 1, "lambda", to=9),
        changed("path", "points", 2, "lambda", to=-1),
        changed("path", "points", 1, "b", to="1/1000"),
        changed("path", "points", 2, "numerators", 0, to=2),
        changed("path", "points", 2, "numerators", to=[2] * 4),
        changed("path", "points", 0, "numerators", to=[9] * 4),
        changed("path", "points", 0, "rows", to=[0, 1, 2, 2]),
        changed("path", "points", 0, "rows", to=[0, 1, 2, 4]),
        changed("path", "points", 0, "weight", to=1),
        changed("path", "more", to=1),
        changed("path", "denominator", to=9),
        changed("problem", "labels", to=[1, 1, 1, -1]),
    ],
)
def test_a_changed_path_is_rejected(change: Callable[[Any], None]) -> None:
    document = xor_path()
    change(document)
    assert " does not hold: " in refusal(document)


def test_points_of_a_path_without_a_loss_prove_half_the_square_of_their_functions() -> None:
    """They are optimal, so that lambda^2 L is lambda^2 U, which is |g|^2 / 2 without a loss."""
    problem = checker.read_problem(without_loss()["problem"])
    for knot in checker.list_of_knots(problem, without_loss()["path"]):
        assert knot.gap == 0
        assert knot.lower == knot.g.norm2 / 2 == knot.lam**2 / 4


def test_an_error_of_the_kernel_counts_against_a_piece() -> None:
    """Its curvature is larger by (1 + gap / 2) e |dbeta|_1^2, where e is the error of an entry."""
    problem = checker.read_problem(without_loss()["problem"])
    first, second = checker.list_of_knots(problem, without_loss()["path"])
    wrong = problem.space._replace(error=3)
    larger = checker.curvature(wrong, first, second, Fraction(1, 2)) - checker.curvature(
        problem.space, first, second, Fraction(1, 2)
    )
    assert larger == Fraction(5, 4) * Fraction(3, problem.space.unit) * Fraction(4 * 7, 8) ** 2


@pytest.mark.parametrize(("gap", "value"), [(Fraction(0), 0), (Fraction(1, 2), Fraction(49, 8))])
def test_the_curvature_of_a_piece_of_the_exact_path(gap: Fraction, value: Fraction) -> None:
    """From lambda = 8 to 1 both dlambda t'dalpha and |A'dalpha|^2 are 49/2.

    The difference of 1 + gap and 1 + gap / 2 is left.
    """
    problem = checker.read_problem(without_loss()["problem"])
    first, second = checker.list_of_knots(problem, without_loss()["path"])
    assert checker.curvature(problem.space, first, second, gap) == value


def test_a_path_with_too_many_points_is_refused_before_they_are_computed() -> None:
    document = xor_path()
    document["path"]["points"] *= 10**7 // 3
    with pytest.raises(ValueError, match=r"^arithmetic_is_affordable does not hold"):
        next(checker.list_of_knots(checker.read_problem(document["problem"]), document["path"]))
