"""The checker stands alone, encloses what it cannot compute exactly, and is not to be fooled."""

from __future__ import annotations

import ast
import importlib.util
import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from equimargin.formulations import classification, linear, polynomial, rbf
from equimargin.proofs import certificate, certify, checker
from equimargin.solvers import exact_optimum, solve
from equimargin.testing import FAMILIES, sample_problem

_SPEC = importlib.util.spec_from_file_location("certificate_mutations", Path(__file__).with_name("certificate_mutations.py"))
assert _SPEC is not None
assert _SPEC.loader is not None
mutant = importlib.util.module_from_spec(_SPEC)
sys.modules[_SPEC.name] = mutant
_SPEC.loader.exec_module(mutant)

SOURCE = Path(checker.__file__)
XOR = classification([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]], [-1, 1, -1, 1], 1.0, polynomial(2))


@cache
def sample(family: str, name: str = "linear") -> Any:
    """A certificate of a small problem of the family."""
    kernel = {"linear": linear(), "rbf": rbf(0.5), "polynomial": polynomial(2, 0.5, 1.0)}[name]
    problem = sample_problem(family, kernel, n=8)
    return certificate(exact_optimum(problem), "proven") if family == "rank.hard" else certificate(solve(problem, tol=1e-9))


def xor() -> Any:
    """The exact certificate of XOR: alpha = 1/8, value 1/4."""
    return certificate(exact_optimum(XOR))


def refusal(document: Any) -> str:
    """Why the document is rejected, signed as it stands."""
    with pytest.raises(ValueError, match=r".") as reason:
        checker.check(json.dumps(mutant.signed(document)).encode())
    return str(reason.value)


def test_the_checker_is_one_short_file_of_the_standard_library() -> None:
    text = SOURCE.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 300
    modules = {name.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import) for name in node.names}
    modules |= {str(node.module) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in modules} <= sys.stdlib_module_names


def test_the_checker_runs_on_its_own(tmp_path: Path) -> None:
    shutil.copy(SOURCE, tmp_path / "checker.py")
    (tmp_path / "good.json").write_text(json.dumps(xor()))
    (tmp_path / "bad.json").write_text(json.dumps(xor() | {"mode": "proved"}))

    def run(*files: str) -> tuple[int, list[str]]:
        command = [sys.executable, "-I", "-W", "error", "checker.py", *files]
        answer = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert answer.stderr == ""
        return answer.returncode, answer.stdout.splitlines()

    good = "good.json: ACCEPTED: svm.soft: the optimum is in [0.25, 0.25]"
    assert run("good.json") == (0, [good])
    assert run("good.json", "bad.json") == (1, [good, "bad.json: REJECTED: the schema or the mode is not known"])
    code, lines = run("nothing.json")
    assert (code, lines[0].startswith("nothing.json: cannot be read: ")) == (2, True)
    code, lines = run(".")
    assert (code, lines[0].startswith(".: cannot be read: ")) == (2, True)


@pytest.mark.parametrize("arguments", [[], ["-h"], ["--help"]])
def test_without_files_the_checker_says_how_it_is_used(arguments: list[str]) -> None:
    answer = subprocess.run([sys.executable, "-I", str(SOURCE), *arguments], capture_output=True, text=True)
    assert (answer.returncode, answer.stdout) == (1, "")
    assert "python3 -I checker.py FILE..." in answer.stderr


@pytest.mark.parametrize("scale", [1.0, 1e-200])
def test_what_is_printed_contains_the_claim(scale: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """84/29 is below the nearest double; the hard margin of tiny features is beyond all doubles."""
    X = scale * np.array([[0.0], [1.0], [2.0], [3.0]])
    if scale == 1.0:
        problem = classification(X, [-1, -1, 1, 1], 1, linear(), "squared_hinge", False)
    else:
        problem = classification(X, [-1, -1, 1, 1], np.inf, linear())
    optimum = exact_optimum(problem)
    assert optimum.value is not None
    certify(optimum, tmp_path / "exact.json")
    assert checker.main([str(tmp_path / "exact.json")]) == 0
    lower, upper = (float(end) for end in capsys.readouterr().out.rsplit("[", 1)[1].rstrip("]\n").split(", "))
    assert lower < optimum.value < upper
    assert math.nextafter(lower, math.inf) == upper


@pytest.mark.parametrize("v", [Fraction(84, 29), Fraction(1, 4), Fraction(10**400), 1 / Fraction(10**400), -Fraction(10**400), math.inf])
def test_a_bound_is_rounded_outwards_whatever_its_size(v: Fraction | float) -> None:
    lower, upper = checker.outward(v, -1), checker.outward(v, 1)
    assert lower <= v <= upper
    assert upper in (lower, math.nextafter(lower, math.inf))
    assert (lower == upper) == (v in (Fraction(1, 4), math.inf))


def test_a_refusal_beyond_all_doubles_is_a_sentence() -> None:
    document = xor() | {"claim": {"lower": "0x1" + "0" * 400, "upper": "0x1" + "0" * 400}}
    assert refusal(document) == "the dual point proves 0.25, less than the claimed lower bound inf"


def test_exp_is_enclosed() -> None:
    rng = np.random.default_rng(0)
    with localcontext(prec=80):
        for x in [0.0, 2.0**-60, 2.0**-9, 2.0**-8, 1.0, 66.0, 95.999, 96.0, 1e6, *rng.exponential(10.0, 300), *rng.exponential(0.01, 100)]:
            numerator, denominator = float(x).as_integer_ratio()
            exact = (-Decimal(numerator) / Decimal(denominator)).exp() * 2**checker.BITS
            assert abs(checker.exp(numerator, denominator) - exact) <= 2


@pytest.mark.parametrize("family", FAMILIES)
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
                exact = known if changed["problem"] == document["problem"] else mutant.truth(changed["problem"])
                assert not mutant.false(found, exact), (kind, found, exact)
        assert True in outcomes


@pytest.mark.parametrize("family", ["svm.soft", "rank.l2", "rvm"])
def test_hostile_documents_are_refused_in_a_sentence(family: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, data in mutant.hostile(sample(family, "rbf")):
        (tmp_path / "hostile.json").write_bytes(data)
        assert checker.main([str(tmp_path / "hostile.json")]) == 1, name
        assert "REJECTED: " in capsys.readouterr().out


def test_a_refusal_is_printed_in_ascii(tmp_path: Path) -> None:
    """Whatever the file and its path contain, and wherever the line goes."""
    file = tmp_path / "\uff11.json"
    file.write_text(json.dumps(mutant.signed(xor() | {"claim": {"lower": "\uff11\ud800", "upper": 1}})))
    command = [sys.executable, "-W", "error", str(SOURCE), str(file)]
    answer = subprocess.run(command, env=os.environ | {"PYTHONIOENCODING": "ascii"}, capture_output=True, text=True)
    assert (answer.returncode, answer.stderr) == (1, "")
    assert "\\uff11.json: REJECTED: " in answer.stdout


def changed(*path: Any, to: Any) -> Callable[[Any], None]:
    """A change of the value at a path."""

    def change(document: Any) -> None:
        for key in path[:-1]:
            document = document[key]
        document[path[-1]] = to

    return change


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (changed("claim", "lower", to="251/1000"), "above the upper one"),
        (changed("claim", "upper", to="251/1000"), "the bounds are not equal"),
        (changed("claim", "upper", to="inf"), "the bounds are not equal"),
        (changed("claim", to={"lower": "inf", "upper": "inf"}), "less than the claimed lower bound"),
        (changed("claim", to={"lower": "2/10", "upper": "2/10"}), "more than the claimed upper bound"),
        (changed("dual", "numerators", 0, to=2), "break s'alpha = 0"),
        (changed("dual", "numerators", 0, to=-1), "negative"),
        (changed("dual", "numerators", 0, to=0.5), "no integer"),
        (changed("dual", "rows", 0, to=3), "a row has two"),
        (changed("dual", "rows", 0, to=4), "out of range"),
        (changed("dual", "denominator", to=0), "negative or no integer"),
        (changed("problem", "C", to=0.1), "above its cost"),
        (changed("problem", "C", to=-1), "C is not positive"),
        (changed("problem", "C", to="inf"), "not what the family has"),
        (changed("problem", "C", to=True), "missing, infinite"),
        (changed("problem", "labels", 0, to=0), "neither -1 nor +1"),
        (changed("problem", "labels", to=[1, -1, 1]), "an array of 4"),
        (changed("problem", "weights", to=[1, 1, 1, -1]), "a weight is negative"),
        (changed("problem", "family", to="svm.penalised"), "the family is not known"),
        (changed("problem", "kernel", "name", to="sigmoid"), "the kernel is not known"),
        (changed("problem", "kernel", "coef0", to=-1), "a parameter of the kernel is negative"),
        (changed("problem", "kernel", "gamma", to=0), "gamma is 0"),
        (changed("problem", "kernel", "degree", to=1.5), "a degree is not in 1 .. 32"),
        (changed("problem", "features", 1, to=[1.0]), "an array of 2"),
        (changed("problem", "features", to=[]), "there are no features"),
        (changed("primal", "beta", to=[0, 0, 0]), "one coefficient for every point"),
        (changed("primal", "b", to="1/0"), "over 0"),
        (changed("primal", "b", to="1/2/3"), "not written p or p/q"),
        (changed("primal", to=None), "less than the claimed|more than the claimed"),
        (changed("semidefinite", to="by factorisation"), "established by theorem"),
        (changed("schema", to="equimargin-certificate/2"), "the schema or the mode is not known"),
    ],
)
def test_what_is_wrong_is_said(change: Callable[[Any], None], reason: str) -> None:
    document = xor()
    change(document)
    assert any(part in refusal(document) for part in reason.split("|"))


@pytest.mark.parametrize("n", [3, 70])
@pytest.mark.parametrize(("smallest", "holds"), [(-1e-9, False), (1e-9, True)])
def test_a_gram_matrix_that_is_not_positive_semidefinite_is_refused(n: int, smallest: float, holds: bool) -> None:
    rng = np.random.default_rng(n)
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    K = (Q * np.append(rng.uniform(1, 2, n - 1), smallest)) @ Q.T
    space = checker.Space({"name": "precomputed", "constant": 0, "shift": 0}, [K[i, : i + 1].tolist() for i in range(n)])
    if holds:
        assert space.positive_semidefinite() == "by factorisation"
    else:
        with pytest.raises(ValueError, match=r"not proved positive semidefinite"):
            space.positive_semidefinite()


def test_a_zero_on_the_diagonal_asks_for_zeros_beside_it() -> None:
    kernel = {"name": "precomputed", "constant": 0, "shift": 0}
    assert checker.Space(kernel, [[0], [0, 1]]).positive_semidefinite() == "by factorisation"
    with pytest.raises(ValueError, match=r"not proved positive semidefinite"):
        checker.Space(kernel, [[0], [1, 0]]).positive_semidefinite()


@pytest.mark.parametrize("text", ["1", "-1", "007", "-0x1f", "22/7", "0x16/0x7", "9" * 4300, "0x" + "f" * 65536])
def test_a_number_is_an_integer_or_a_fraction_of_integers(text: str) -> None:
    p, q = f"{text}/1".split("/")[:2]
    assert checker.rational(text) == Fraction(int(p, 16 if "x" in p else 10), int(q, 16 if "x" in q else 10))


STRANGE = ["\uff11", "\u0661", "1_0", " 1", "1 ", "1\n", "+1", "0b1", "0o7", "0X1", "0xF", "1.5", "1/-2", "1/", "/1", "", "inf", "NaN"]


@pytest.mark.parametrize("text", [*STRANGE, "9" * 4301, "0x" + "f" * 65537])
def test_nothing_else_is_a_number(text: str) -> None:
    with pytest.raises(ValueError, match=r"^a number is not written p or p/q, or too long$"):
        checker.rational(text)


def test_integers_are_exact_doubles_are_doubles_and_both_are_short() -> None:
    document = xor()
    text = json.dumps(mutant.signed(document | {"claim": {"lower": 10**17 + 1, "upper": 1e17}}))
    with pytest.raises(ValueError, match=r"a lower bound above the upper one"):
        checker.check(text.encode())
    for sign in ("", "-"):
        with pytest.raises(ValueError, match=r"^a number is not written p or p/q, or too long$"):
            checker.check(text.replace(str(10**17 + 1), sign + "9" * 4301).encode())


def test_a_hard_row_must_be_met_exactly() -> None:
    document = sample("svm.hard")
    document = document | {"primal": document["primal"] | {"w": [v * (1 - 1e-9) for v in document["primal"]["w"]]}}
    assert refusal(document) == "the primal point violates a hard row"


@pytest.mark.parametrize(("family", "most"), [("rvm", 1), ("rank.onenorm", Fraction(1, 4))])
def test_the_prices_of_a_linear_program_must_be_met_exactly(family: str, most: Fraction) -> None:
    """Two points on a line at 0 and 1 (rvm: B = (0 1)), or at 0 and 2 (B = 4), and u <= 1 or 1/4."""
    points = [[0.0], [1.0 if family == "rvm" else 2.0]]
    stated = {"family": family, "kernel": {"name": "linear", "constant": 0}, "features": points, "labels": [0, 1], "queries": None}
    problem = checker.Problem(stated | {"C": 8, "weights": None, "pairs": None})
    n, d = Fraction(most).as_integer_ratio()
    assert problem.lower({"rows": [0], "numerators": [n], "denominator": d}, False) == most
    with pytest.raises(ValueError, match=r"break B'u <= 1"):
        problem.lower({"rows": [0], "numerators": [n * 1000 + 1], "denominator": d * 1000}, False)


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
    assert refusal(document | {"problem": problem}) == "this is more arithmetic than the checker does"


def test_numbers_are_not_hashed() -> None:
    """Hashes are remainders modulo 2^61 - 1: denominators that differ by multiples of it made a set of them take its square."""

    class Denominator(int):
        __hash__ = None  # type: ignore[assignment]

    class Number(Fraction):
        def as_integer_ratio(self) -> tuple[int, Denominator]:
            return self.numerator, Denominator(self.denominator)

        __hash__ = None  # type: ignore[assignment]

    assert checker.grid([Number(1, 2), Number(1, 3), Number(5, 3), Number(7)]) == ([3, 2, 10, 42], 6)
    colliding = [Fraction(1, 1 + k * (2**61 - 1)) for k in range(1, 5000)]
    with pytest.raises(ValueError, match=r"^a common denominator is too long$"):
        checker.grid(colliding)
    assert checker.grid(colliding[:2]) == ([2**62 - 1, 2**61], 2**61 * (2**62 - 1))


@pytest.mark.parametrize("squared", [False, True])
def test_the_costs_have_a_common_denominator_or_are_refused(squared: bool) -> None:
    stated = {"family": "svm.nobias_l2" if squared else "svm.nobias", "kernel": {"name": "linear", "constant": 0}, "C": "5/3"}
    stated |= {"features": [[0]] * 3, "labels": [1, 1, -1]}
    problem = checker.Problem(stated | {"weights": ["1/7", 0, "3/11"]})
    costs = [Fraction(5, 21), Fraction(0), Fraction(5, 11)]
    assert [Fraction(int(cost), problem.price) for cost in problem.costs] == costs
    assert problem.upper({"w": [0], "b": 0}) == sum(costs)
    alpha = {"rows": [0, 2], "numerators": [55, 105], "denominator": 231}
    assert problem.lower(alpha, True) == Fraction(160, 231) - squared * sum(costs) / 4
    if not squared:
        with pytest.raises(ValueError, match=r"above its cost"):
            problem.lower(alpha | {"numerators": [56, 105]}, True)
    weights = [f"1/{2**20_000 + k:#x}" for k in range(1, 60, 2)]
    with pytest.raises(ValueError, match=r"^a common denominator is too long$"):
        checker.Problem(stated | {"features": [[0]] * 30, "labels": [1] * 30, "weights": weights})


def test_inverse_costs_without_a_short_common_denominator_are_refused() -> None:
    """Their sum is needed in mode exact only."""
    stated = {"family": "svm.nobias_l2", "kernel": {"name": "linear", "constant": 0}, "features": [[0]] * 30, "labels": [1] * 30}
    problem = checker.Problem(stated | {"C": 1, "weights": [hex(2**20_000 + k) for k in range(1, 60, 2)]})
    alpha = {"rows": list(range(30)), "numerators": [1] * 30, "denominator": 1}
    assert 30 - Fraction(1, 2**900) < problem.lower(alpha, False) < 30
    with pytest.raises(ValueError, match=r"^a common denominator is too long$"):
        problem.lower(alpha, True)


def test_pairs_beyond_number_are_refused() -> None:
    stated = {"family": "rank.l1", "kernel": {"name": "linear", "constant": 0}, "features": [[0], [1]], "C": 1, "weights": None}
    with pytest.raises(ValueError, match=r"^this is more arithmetic than the checker does$"):
        checker.Problem(stated | {"labels": None, "queries": None, "pairs": [[1, 0]] * 1_600_000})


def test_the_end_of_memory_is_a_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def exhausted(data: bytes) -> Any:
        raise MemoryError

    monkeypatch.setattr(checker, "check", exhausted)
    (tmp_path / "large.json").write_text("[]")
    assert checker.main([str(tmp_path / "large.json")]) == 1
    assert capsys.readouterr().out.endswith("large.json: REJECTED: out of memory\n")


def test_a_bound_is_exact_to_the_last_digit() -> None:
    document = sample("svm.soft")
    lower, upper = document["claim"]["lower"], document["claim"]["upper"]
    assert checker.check(json.dumps(document).encode())[1:] == (Fraction(lower), Fraction(upper))
    assert "less than the claimed" in refusal(document | {"claim": {"lower": math.nextafter(lower, upper), "upper": upper}})
    assert "more than the claimed" in refusal(document | {"claim": {"lower": lower, "upper": math.nextafter(upper, lower)}})


def test_values_of_an_rbf_kernel_are_enclosed() -> None:
    """f, |f|^2 and the value of the problem, against sixty decimals."""
    rng = np.random.default_rng(1)
    for _ in range(10):
        X, beta, y = rng.normal(size=(5, 2)), rng.normal(size=5), [1, -1, 1, -1, 1]
        stated = {"family": "svm.soft", "kernel": {"name": "rbf", "constant": 0, "gamma": 0.7}, "features": X.tolist()}
        problem = checker.Problem(stated | {"C": 10**9, "weights": None, "labels": y})
        with localcontext(prec=80):
            K = [[_rbf(X[i], X[j], 0.7) for j in range(5)] for i in range(5)]
            f = [sum((K[i][j] * Decimal(beta[j]) for j in range(5)), Decimal(0)) for i in range(5)]
            norm2 = sum((Decimal(beta[i]) * f[i] for i in range(5)), Decimal(0))
            exact = norm2 / 2 + 10**9 * sum((max(1 - y[i] * (f[i] + Decimal("0.25")), Decimal(0)) for i in range(5)), Decimal(0))
            values, unit, error, above = problem.space.values(*checker.grid(beta.tolist()), True)
            assert all(abs(Decimal(v) - g * unit) <= error for v, g in zip(values, f, strict=False))
            assert 0 <= Decimal(above.numerator) / above.denominator - norm2 < Decimal(2) ** -80
            upper = problem.upper({"beta": beta.tolist(), "b": 0.25})
            assert 0 <= Decimal(upper.numerator) / upper.denominator - exact < Decimal(2) ** -50
            alpha = {"rows": [0, 1, 2, 3], "numerators": [3, 1, 1, 3], "denominator": 8}
            steps = [Decimal(3) / 8, -Decimal(1) / 8, Decimal(1) / 8, -Decimal(3) / 8]
            dual = 1 - sum(steps[i] * K[i][j] * steps[j] for i in range(4) for j in range(4)) / 2
            lower = Fraction(problem.lower(alpha, False))
            assert 0 <= dual - Decimal(lower.numerator) / lower.denominator < Decimal(2) ** -80


def _rbf(x: Any, z: Any, gamma: float) -> Decimal:
    return (-Decimal(gamma) * sum((Decimal(a) - Decimal(b)) ** 2 for a, b in zip(x.tolist(), z.tolist(), strict=True))).exp()


def test_a_direction_of_finite_costs_is_no_ray() -> None:
    """Equal points of both classes: A'alpha = 0 and t'alpha > 0, which proves infeasibility only where slacks are forbidden."""
    stated = {"family": "svm.soft", "kernel": {"name": "linear", "constant": 0}, "features": [[1.0], [1.0]], "labels": [1, -1]}
    alpha = {"rows": [0, 1], "numerators": [1, 1], "denominator": 1}
    assert checker.Problem(stated | {"C": 1, "weights": None}).lower(alpha, False) == 2
    assert checker.Problem(stated | {"C": 1, "weights": ["inf", 1]}).lower(alpha, False) == 2
    assert checker.Problem(stated | {"C": 1, "weights": ["inf", "inf"]}).lower(alpha, False) == math.inf


def test_weights_of_zero_allow_no_multiplier() -> None:
    stated = {"family": "svm.nobias_l2", "kernel": {"name": "linear", "constant": 0}, "features": [[1.0], [2.0]], "labels": [1, -1]}
    problem = checker.Problem(stated | {"C": 1, "weights": [0, 1]})
    with pytest.raises(ValueError, match=r"above its cost"):
        problem.lower({"rows": [0], "numerators": [1], "denominator": 8}, False)
    assert problem.lower({"rows": [1], "numerators": [1], "denominator": 2}, False) == Fraction(1, 2) - Fraction(1, 2) - Fraction(1, 16)


def test_the_squared_terms_of_many_costs_are_rounded_up() -> None:
    weights = [1 / 3, 1 / 7, 0.1]
    stated = {"family": "svm.nobias_l2", "kernel": {"name": "linear", "constant": 0}, "features": [[0.0]] * 3, "labels": [1, 1, 1]}
    problem = checker.Problem(stated | {"C": 1, "weights": weights})
    alpha = {"rows": [0, 1, 2], "numerators": [1, 2, 3], "denominator": 4}
    exact = Fraction(6, 4) - sum(Fraction(k, 4) ** 2 / (4 * Fraction(w)) for k, w in zip((1, 2, 3), weights, strict=True))
    assert problem.lower(alpha, True) == exact
    rounded = problem.lower(alpha, False)
    assert exact - Fraction(1, 2**390) < rounded < exact
