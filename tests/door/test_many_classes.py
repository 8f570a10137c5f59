"""Three classes or more: every problem against cvxpy, written from the documents."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.svm import SVC
from typer.testing import CliRunner

from equimargin.cli.app import app
from equimargin.comparison import compare
from equimargin.estimators import MarginClassifier
from equimargin.formulations import Kernel, classification, linear, rbf
from equimargin.formulations.documents.coupling import wlw
from equimargin.formulations.problem.construct import make_family_problem
from equimargin.problems import make_class_problems, make_coupling_problem, split_by_classes
from equimargin.proofs import Verdict
from equimargin.selection.along_path import score_votes_along
from equimargin.selection.grids import votes_by_folds
from equimargin.selection.validation import VoteAccuracy
from equimargin.solvers import regularization_path
from equimargin.solvers.batches.votes import count_votes

Data = tuple[np.ndarray, np.ndarray]
FEW: dict[str, Any] = {
    "formulations": ["*.primal", "*.dual"],
    "solvers": ["CLARABEL", "smo", "coordinate_descent", "column_generation", "newton"],
}
"""A declaration and a specialised solver of every family, to keep the tests short."""

TIGHT = {"tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "tol_feas": 1e-9}
"""Options of CLARABEL for the optima of the documents."""


def words(codes: np.ndarray) -> np.ndarray:
    """Return names of classes in the order of their codes."""
    return np.asarray(np.array(["ash", "beech", "cedar", "douglas fir", "elm"])[codes])


def scaled(data: Any, rows: slice) -> Data:
    X = data.data[rows]
    return X / np.maximum(np.abs(X).max(axis=0), 1.0), data.target[rows]


def below(k: int, X: np.ndarray, y: np.ndarray) -> Data:
    return X[y < k], y[y < k]


DATA: dict[str, Callable[[], Data]] = {
    "iris": lambda: scaled(load_iris(), slice(None, None, 3)),
    "wine": lambda: scaled(load_wine(), slice(None, None, 3)),
    "digits": lambda: below(4, *scaled(load_digits(), slice(0, 130))),
}


def gram(X: np.ndarray, kernel: Kernel | None) -> np.ndarray:
    if kernel is None:
        return np.asarray(X @ X.T)
    distances = ((X[:, None] - X) ** 2).sum(axis=2)
    return np.asarray(np.exp(-kernel.gamma * distances))  # type: ignore[attr-defined]


def optimum(family: str, K: np.ndarray, s: np.ndarray, C: float) -> float:
    """Return the optimum of a family of two classes, written from the documents.

    T (23)-(25), K (2.3), W and T section 5.1.
    """
    b = 0.0 if "nobias" in family else cp.Variable()
    if family.endswith("onenorm"):
        x = cp.Variable(len(s), nonneg=True)
        f = K @ cp.multiply(s, x)
        norm = cp.sum(x)
    else:
        values, vectors = np.linalg.eigh(K)
        kept = values > 1e-12 * values.max()
        L = vectors[:, kept] * np.sqrt(values[kept])
        w = cp.Variable(L.shape[1])
        f, norm = L @ w, cp.sum_squares(w) / 2
    slack = cp.pos(1 - cp.multiply(s, f + b))
    loss = cp.sum_squares(slack) if family.endswith("l2") else cp.sum(slack)
    problem = cp.Problem(cp.Minimize(norm + C * loss))
    problem.solve(solver="CLARABEL", **TIGHT)
    return float(problem.value)


def optimum_of_all(X: np.ndarray, y: np.ndarray, C: float) -> float:
    """Return the optimum of Crammer and Singer (2001), (7)."""
    W = cp.Variable((int(y.max()) + 1, X.shape[1]))
    scores = X @ W.T
    E = np.eye(int(y.max()) + 1)[y]
    worst = cp.max(scores + 1 - E, axis=1)
    loss = cp.sum(worst - cp.sum(cp.multiply(E, scores), axis=1))
    problem = cp.Problem(cp.Minimize(cp.sum_squares(W) / 2 + C * loss))
    problem.solve(solver="CLARABEL", **TIGHT)
    return float(problem.value)


def check(X: np.ndarray, codes: np.ndarray, names: np.ndarray, C: float, kernel: Any) -> int:
    """Compare, check every verdict against cvxpy, and return the number of problems."""
    found = compare(X, names, task="classification", C=C, kernel=kernel, **FEW)
    assert found.agree, str(found)
    k = int(codes.max()) + 1
    pairs = list(combinations(range(k), 2))
    by_part: dict[str, list[Any]] = {}
    for family in found.families:
        by_part.setdefault(family.id, []).append(family)
    for id, families in by_part.items():
        if id == "crammer_singer":
            expected = [optimum_of_all(X, codes, C)]
        else:
            assert len(families) == len(pairs)
            expected = []
            for (i, j), family in zip(pairs, families, strict=True):
                rows = (codes == i) | (codes == j)
                labels = sorted(set(names.tolist()))
                assert family.part == f"{labels[i]} vs {labels[j]}"
                s = np.where(codes[rows] == j, 1.0, -1.0)
                expected.append(optimum(id, gram(X[rows], kernel), s, C))
        for family, value in zip(families, expected, strict=True):
            unit = max(abs(value), 1e-4 * family.interval.scale)
            assert family.interval.lower - 1e-6 * unit <= value, (id, family.part)
            assert value <= family.interval.upper + 1e-6 * unit, (id, family.part)
            assert family.interval.relative_width < 1e-6
    assert ("crammer_singer" in by_part) == (kernel is None)
    return len(found.families)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("kernel", [None, rbf(0.7)], ids=["linear", "rbf"])
def test_compare_many_classes_reaches_the_optimum_of_every_pair(name: str, kernel: Any) -> None:
    X, y = DATA[name]()
    k = int(y.max()) + 1
    assert check(X, y, words(y), 2.0, kernel) == 6 * k * (k - 1) // 2 + (kernel is None)


@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 10**6), st.integers(3, 5), st.sampled_from([0.3, 1.0, 8.0]), st.booleans())
def test_compare_random_classes_reaches_the_optimum_of_every_pair(
    seed: int, k: int, C: float, is_linear: bool
) -> None:
    random = np.random.default_rng(seed)
    y = np.concatenate([np.arange(k), random.integers(0, k, 4 * k)])
    X = random.normal(size=(len(y), 3)).round(2) + np.eye(k)[y][:, :3]
    check(X, y, words(y), C, None if is_linear else rbf(0.5))


def test_compare_of_whole_numbers_asks_for_the_task() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"classes \(task='classification'\), levels"):
        compare(X, y)
    many = np.repeat(np.arange(25), 2)
    with pytest.warns(UserWarning, match="y has 25 distinct integers, which are taken as numbers"):
        found = compare(np.eye(50), many, formulations="svr.l1.primal", solvers="CLARABEL")
    assert [family.id for family in found.families] == ["svr.l1"]


def test_class_problems_have_weights_and_exclude_a_class_without_rows() -> None:
    X, y = DATA["iris"]()
    weights = np.linspace(0.5, 2.0, len(y))
    problems = make_class_problems(X, y, ("a", "b", "c"), sample_weight=weights)
    assert {problem.family for problem in problems} == {
        "svm.soft", "svm.nobias", "svm.l2", "svm.nobias_l2", "svm.onenorm", "svm.nobias_onenorm"
    }  # fmt: skip
    first = problems[0]
    assert first.part == "a vs b"
    assert np.array_equal(first.weights, weights[y < 2])  # type: ignore[attr-defined]
    last = next(problem for problem in problems if problem.part == "b vs c")
    assert np.array_equal(last.weights, weights[y > 0])  # type: ignore[attr-defined]
    parts = {problem.part for problem in make_class_problems(X[y > 0], y[y > 0], ("a", "b", "c"))}
    assert parts == {"b vs c", ""}


def test_a_linear_kernel_by_name_has_the_machine_of_all_classes() -> None:
    X, y = DATA["iris"]()
    by_name = make_class_problems(X, y, ("a", "b", "c"), kernel="linear")
    assert by_name[-1].family == "crammer_singer"
    assert len(by_name) == len(make_class_problems(X, y, ("a", "b", "c")))


def test_long_names_of_classes_stay_different() -> None:
    X, y = DATA["iris"]()
    whole = classification(X, np.ones(len(y)))
    names = ["a very long name of a class, 1", "a very long name of a class, 2", "short"]
    parts = [problem.part for problem in split_by_classes([whole], y, names)]
    assert len(set(parts)) == 3
    assert all(len(part) <= 2 * 16 + 4 for part in parts)


def test_votes_are_those_of_the_estimator() -> None:
    X, y = DATA["wine"]()
    found = compare(X, words(y), C=5.0, formulations="svm.soft.*", solvers=["CLARABEL", "smo"])
    right = (MarginClassifier(C=5.0).fit(X, y).predict(X) == y).sum()
    assert found.votes == {"svm.soft": (int(right), len(y))}
    assert f"svm.soft {right} of {len(y)}" in " ".join(str(found).split())


def test_coupling_problem_is_of_the_row_that_is_least_certain() -> None:
    X, y = DATA["iris"]()
    problem = make_coupling_problem(X, words(y), C=3.0)
    model = MarginClassifier(C=3.0, probability=True).fit(X, y)
    certain = model.predict_proba(X).max(axis=1)
    assert problem.part == f"row {certain.argmin()}"
    r = problem.data["r"]  # type: ignore[attr-defined]
    p = cp.Variable(3)
    terms = [cp.square(r[j, i] * p[i] - r[i, j] * p[j]) for i, j in combinations(range(3), 2)]
    exact = cp.Problem(cp.Minimize(cp.sum(cp.hstack(terms))), [cp.sum(p) == 1, p >= 0])
    exact.solve(solver="CLARABEL")
    (family,) = compare(problem).families
    assert family.verdict is Verdict.AGREE
    assert family.title == f"{wlw.id}, {problem.part}"
    assert abs(family.interval.upper - exact.value) < 1e-8


@pytest.fixture
def iris_file(tmp_path: Path) -> str:
    X, y = DATA["iris"]()
    file = tmp_path / "iris.csv"
    with file.open("w") as out:
        csv.writer(out).writerows(
            [["a", "b", "c", "d", "species"], *([*x, words(k)] for x, k in zip(X, y, strict=True))]
        )
    return str(file)


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, [*arguments])
    return result.exit_code, result.output


def test_command_compares_classes_by_name_in_80_columns(iris_file: str, tmp_path: Path) -> None:
    files = {kind: tmp_path / f"out.{kind}" for kind in ("json", "csv", "html")}
    options = [option for kind, file in files.items() for option in (f"--{kind}", str(file))]
    status, output = run("compare", iris_file, "--family", "svm.soft", "--family", "c*", *options)
    assert status == 0, output
    assert all(len(line) <= 80 for line in output.splitlines())
    assert "3 classes: ash, beech, cedar)" in " ".join(output.split())
    assert output.count(" vs ") == 3
    assert "svm.soft: 3 pairs of classes: 3 agree" in output
    assert "4 problems of 2 families: 4 agree" in output
    record = json.loads(files["json"].read_text())
    assert record["data"]["rows"] == 50
    assert list(record["votes"]) == ["svm.soft"]
    assert [f["part"] for f in record["families"]] == [
        "ash vs beech", "ash vs cedar", "beech vs cedar", ""
    ]  # fmt: skip
    rows = list(csv.DictReader(files["csv"].read_text().splitlines()))
    assert {row["part"] for row in rows if row["family"] == "svm.soft"} == {
        family["part"] for family in record["families"][:3]
    }
    for text in ("svm.soft, beech vs cedar", "Rows in their class by votes of the pairs"):
        assert text in files["html"].read_text()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["compare", "--delta", "0.5"], "compared for two classes; leave it out"),
        (
            ["compare", "--family", "svr.l1"],
            "a classification has no such family; choose svm.soft, ",
        ),
        (["path", "--plot", "path.svg"], "path.svg is a file of one path, and three"),
        (["path", "--metric", "ndcg"], "--metric ndcg is not for three classes or more"),
        (["compare", "--sample", "2"], "the 2 sampled rows are not of all 3 classes; sample more"),
        (["path", "--validate", "40"], "too few for 40 folds"),
        (["path", "--bias", "penalized", "--validate", "3"], "folds do not support --bias"),
        (["compare", "--family", "x*"], "unknown family 'x*'; `equimargin list families` has all"),
        (
            ["compare", "--family", "svm.soft", "--family", "crammer_*", "--kernel", "rbf"],
            "crammer_singer is left out: it has the hinge, a linear kernel",
        ),
        (["compare", "--family", "coupling.wlw", "--bias", "none"], "leave --loss and --bias out"),
        (["compare", "--family", "coupling.wlw", "--loss", "squared_hinge"], "leave --loss and"),
        (["compare", "--family", "nu_svc", "--parameter", "nu=0.2"], "nu_svc has 2 classes, and"),
    ],
)
def test_command_refuses_what_many_classes_do_not_have(
    iris_file: str, options: list[str], reason: str
) -> None:
    command, *rest = options
    status, output = run(command, iris_file, *rest)
    assert status == 2
    assert reason in " ".join(output.split())


def test_path_scores_votes_at_all_lambdas_as_scikit_learn() -> None:
    X, y = scaled(load_wine(), slice(None))
    train, held_out = slice(0, None, 2), slice(1, None, 2)
    whole = classification(X[train], np.ones(len(y[train])), kernel=rbf(3.0))
    parts = split_by_classes([whole], y[train], "abc")
    paths = [regularization_path(part, 1e-1) for part in parts]
    curve = score_votes_along(paths, X[held_out], y[held_out], 3)
    # Between breakpoints the score is constant.
    lower, upper = curve.lambdas[1:], curve.lambdas[:-1]
    wide = np.flatnonzero(upper > 1.001 * lower)[::7]
    scored = 0
    for at in wide:
        lam = np.sqrt(lower[at] * upper[at])
        # A bias that is not unique may be another in scikit-learn.
        ends = [path.at(lam).bias_interval for path in paths]
        if any(high - low > 1e-9 for low, high in ends):
            continue
        scored += 1
        svc = SVC(C=1 / lam, gamma=3.0, tol=1e-9, break_ties=True).fit(X[train], y[train])
        assert curve.scores[at] == curve.scores[at + 1]
        assert curve.scores[at] == pytest.approx(svc.score(X[held_out], y[held_out]), abs=1e-12)
    assert scored > 20
    with pytest.raises(ValueError, match="3 classes have 3 pairs, and paths"):
        score_votes_along(paths[:1], X, y, 3)


def test_ties_of_votes_are_broken_by_sums_and_change_where_sums_cross() -> None:
    # 0 beats 1, 1 beats 2 and 2 beats 0; class 1 has the largest sum, then class 2.
    assert count_votes(np.array([[-1.0, 1.0, -5.0]]), 3).argmax() == 1
    assert count_votes(np.array([[-1.0, 5.0, -1.0]]), 3).argmax() == 2
    random = np.random.default_rng(0)
    n, y = 300, random.integers(0, 3, 300)
    signs = np.array([[-1.0], [1.0], [-1.0]])
    ga, gb = (signs * random.uniform(0.1, 1.0, (3, n)) for _ in range(2))
    lams, scores = VoteAccuracy(y, 3).along(2.0, 1.0, ga.ravel(), gb.ravel())
    for at in np.flatnonzero(lams[:-1] > lams[1:] + 1e-6)[::5]:
        share = 2.0 - (lams[at] + lams[at + 1]) / 2
        g = (1 - share) * ga + share * gb
        assert scores[at] == pytest.approx((count_votes(g.T, 3).argmax(axis=1) == y).mean())
    assert len(set(scores)) > 5


def test_folds_score_votes_of_held_out_rows_at_one_lambda() -> None:
    X, y = DATA["iris"]()
    folds = [
        (np.flatnonzero(np.arange(len(y)) % 3 != k), np.flatnonzero(np.arange(len(y)) % 3 == k))
        for k in range(3)
    ]
    row = votes_by_folds(X, y, rbf(2.0), folds, lambda_min=1e-2)
    right = 0
    for training, held_out in folds:
        svc = SVC(C=row.selected.C, gamma=2.0, tol=1e-9, break_ties=True).fit(
            X[training], y[training]
        )
        right += int((svc.predict(X[held_out]) == y[held_out]).sum())
    assert row.selected.score == pytest.approx(right / len(y))
    assert len(row.folds) == 9


def test_path_command_has_a_line_a_pair_and_one_lambda(iris_file: str) -> None:
    for validation in ("3", iris_file):
        status, output = run("path", iris_file, "--validate", validation, "--lambda-min", "0.1")
        assert status == 0, output
        assert [line.split(":")[0].strip() for line in output.splitlines()[1:4]] == [
            "ash vs beech", "ash vs cedar", "beech vs cedar"
        ]  # fmt: skip
        assert "by votes at one lambda of all pairs" in output


def test_labels_of_any_type_of_text_are_classes_and_missing_ones_a_sentence() -> None:
    X, y = DATA["iris"]()
    expected = compare(X, words(y), formulations="svm.soft.primal", solvers=["CLARABEL", "smo"])
    # A column of a data frame has type object.
    found = compare(
        X, words(y).astype(object), formulations="svm.soft.primal", solvers=["CLARABEL", "smo"]
    )
    assert [f.part for f in found.families] == [f.part for f in expected.families]
    assert found.votes == expected.votes
    missing = words(y).astype(object)
    missing[3] = None
    with pytest.raises(ValueError, match="not None at row 3"):
        compare(X, missing)
    with pytest.raises(ValueError, match="y holds NaN or an infinite number at row 1"):
        compare(X[:4], [0.0, np.nan, 1.0, 2.0], task="classification")


def test_classes_that_are_infeasible_have_no_votes() -> None:
    # The classes 0 and 1 have a common point.
    X, y = np.array([[0.0], [1.0], [1.0], [2.0], [5.0], [6.0]]), np.array([0, 0, 1, 1, 2, 2])
    found = compare(X, words(y), C=np.inf, formulations="svm.hard.*", solvers=["CLARABEL", "*"])
    assert found.agree
    assert [family.feasible for family in found.families] == [False, True, True]
    assert found.votes == {}


@pytest.mark.parametrize(
    ("classes", "k", "message"),
    [
        (np.arange(50) % 3 + 1, 3, "classes must be whole numbers from 0 to 2, not 3"),
        (np.arange(50) % 3 + 0.5, 3, "classes must be whole numbers from 0 to 2, not 0.5"),
        (words(np.arange(50) % 3), 3, "classes must be whole numbers from 0 to 2, not 'ash'"),
        (np.zeros(0), 3, "y is empty: there is no validation point"),
        (np.arange(50) % 2, 2, "k must be at least 3, not 2; use score_along"),
        (np.arange(50) % 4, 4, "4 classes have 6 pairs, and paths must have one for each, not 3"),
    ],
)
def test_scores_of_votes_refuse_other_classes(classes: Any, k: int, message: str) -> None:
    X, y = DATA["iris"]()
    parts = split_by_classes([classification(X, np.ones(len(y)))], y, "abc")
    paths = [regularization_path(part, 1.0) for part in parts]
    with pytest.raises(ValueError, match=message):
        score_votes_along(paths, X[: len(classes)], classes, k)


def test_votes_by_folds_take_labels_and_folds_that_learn_from_every_class() -> None:
    X, y = DATA["iris"]()
    by_number = votes_by_folds(X, 2.5 * y - 1, rbf(2.0), 3, lambda_min=0.1)
    by_name = votes_by_folds(X, words(y), rbf(2.0), 3, lambda_min=0.1)
    assert by_number.selected == by_name.selected
    with pytest.raises(ValueError, match="three classes or more, and y has 2"):
        votes_by_folds(X, np.minimum(y, 1), rbf(2.0))
    fold = np.flatnonzero(y != 1), np.flatnonzero(y == 1)
    with pytest.raises(ValueError, match="fold 1 learns from no point of class 'beech'"):
        votes_by_folds(X, words(y), rbf(2.0), [fold])


def test_votes_of_one_norm_paths_are_scored_down_to_the_last_breakpoint_of_any_pair() -> None:
    # The path of a pair that is far apart ends at a larger lambda than that of the others.
    random = np.random.default_rng(0)
    y = np.arange(30) % 3
    X = random.normal(size=(30, 2)) + np.array([[0.0, 0.0], [1.0, 0.0], [40.0, 0.0]])[y]
    whole = make_family_problem("svm.onenorm", "classification", X, np.ones(30), linear())
    paths = [regularization_path(part, 0.0) for part in split_by_classes([whole], y, "abc")]
    last = [path.lambdas[path.lambdas > 0][-1] for path in paths]
    assert all(path.lambdas[-1] == 0 for path in paths)
    assert max(last) > 4 * min(last)
    curve = score_votes_along(paths, X, y, 3)
    assert curve.lambdas[-1] == min(last) / 2
    lam = 0.7 * min(last)
    f = np.column_stack([path.at(lam).decision_function(X) for path in paths])
    right = (count_votes(f, 3).argmax(axis=1) == y).mean()
    assert curve.scores[-1] == pytest.approx(right)


def test_more_words_than_classes_are_refused_with_their_number(tmp_path: Path) -> None:
    file = tmp_path / "many.csv"
    file.write_text("x,y\n" + "".join(f"{row},w{row % 25}\n" for row in range(75)))
    status, output = run("compare", str(file))
    assert status == 2
    assert "if the 25 words of 75 rows are classes, keep 20 of them" in " ".join(output.split())
