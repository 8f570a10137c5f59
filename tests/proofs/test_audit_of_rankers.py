"""Audits of rankers: RankSVM by w, pair differences, LIBLINEAR's extension and SVMrank."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from typer.testing import CliRunner

from equimargin.cli.app import app
from equimargin.formulations import ranking
from equimargin.proofs import audit, audit_ranker
from equimargin.proofs.foreign_files import read
from equimargin.proofs.foreign_models import of_values
from equimargin.solvers import solve

RANDOM = np.random.default_rng(7)
X = RANDOM.normal(size=(48, 4))
QID = np.repeat(np.arange(6), 8)
Y = np.digitize(X[:, 0] - X[:, 1] + 0.7 * RANDOM.normal(size=48), [-0.8, 0.8]).astype(float)
PAIRS = np.array(
    [(i, j) for i, j in product(range(48), repeat=2) if QID[i] == QID[j] and Y[i] > Y[j]]
)
DIFFERENCES = X[PAIRS[:, 0]] - X[PAIRS[:, 1]]
OF_QUERY = QID[PAIRS[:, 0]]
ONE = np.ones(len(PAIRS))


def value(w: np.ndarray, costs: np.ndarray, power: int) -> float:
    """Return 1/2 |w|^2 + sum_r c_r (1 - w.(x_i - x_j))_+^power."""
    return float(w @ w / 2 + costs @ np.maximum(1 - DIFFERENCES @ w, 0) ** power)


def optimum(costs: np.ndarray, power: int) -> float:
    """Return the optimum of the problem with these costs of the pairs, by cvxpy."""
    w = cp.Variable(X.shape[1])
    slack = cp.pos(1 - DIFFERENCES @ w)
    loss = costs @ (slack if power == 1 else cp.square(slack))
    problem = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + loss))
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return float(problem.value)


def holds(found: Any, w: np.ndarray, costs: np.ndarray, power: int) -> None:
    """Check the problem and both ends of the audit of w."""
    own, best = value(w, costs, power), optimum(costs, power)
    assert found.problem.family == ("rank.l1" if power == 1 else "rank.l2")
    assert found.objective.lower <= own * (1 + 1e-12)
    assert own * (1 - 1e-12) <= found.objective.upper
    assert found.optimum.lower - 1e-7 * best <= best <= found.optimum.upper + 1e-7 * best
    assert found.optimum.upper - found.optimum.lower <= 1e-8 * best


def svmrank(w: np.ndarray) -> str:
    """Return a model of SVMrank with these weights, as it writes them."""
    header = ["0 # kernel type", "3 # kernel parameter -d ", "1 # kernel parameter -g "]
    header += [
        "1 # kernel parameter -s ",
        "1 # kernel parameter -r ",
        "empty# kernel parameter -u ",
    ]
    header += [f"{len(w)} # highest feature index ", "6 # number of training documents "]
    header += ["2 # number of support vectors plus 1 "]
    header += ["0 # threshold b, each following line is a SV (starting with alpha*y)"]
    entries = " ".join(f"{k + 1}:{v:.8g}" for k, v in enumerate(w))
    return "\n".join(["SVM-light Version V6.20", *header, f"1 {entries} #", ""])


@pytest.mark.parametrize(("loss", "power"), [("hinge", 1), ("squared_hinge", 2)])
def test_linear_svc_on_pair_differences_is_audited_as_ranker(loss: str, power: int) -> None:
    signs = np.where(np.arange(len(PAIRS)) % 2, 1.0, -1.0)
    model = LinearSVC(C=0.5, loss=loss, fit_intercept=False, tol=1e-6, max_iter=10**6)
    model.fit(signs[:, None] * DIFFERENCES, signs)
    found = audit_ranker(model, X, Y, QID)
    holds(found, model.coef_[0], 0.5 * ONE, power)
    assert found.relative_excess[1] < 1e-3
    assert found.assumed == "trained on one difference of every pair"
    # The proven excess is the one over the optimum of the classification of the differences.
    alone = audit(model, signs[:, None] * DIFFERENCES, signs)
    assert found.excess[1] == pytest.approx(alone.excess[1], abs=1e-7)


@pytest.mark.parametrize("per_query", ["sum", "mean"])
def test_svmrank_file_is_audited_at_its_cost_over_the_number_of_queries(
    per_query: Any, tmp_path: Path
) -> None:
    c, counts = 3.0, np.bincount(OF_QUERY)
    # -l 1 sums the pairs of all queries, -l 2 averages the fraction of every query.
    costs = c / 6 * (ONE if per_query == "sum" else 1 / counts[OF_QUERY])
    problem = ranking(X, Y, QID, c / 6, per_query=per_query)
    w = solve(problem, tol=1e-10).w
    assert w is not None
    (tmp_path / "model").write_text(svmrank(w))
    found = audit_ranker(read(tmp_path / "model"), X, Y, QID, c / 6, per_query)
    rounded = np.array([float(f"{v:.8g}") for v in w])
    holds(found, rounded, costs, 1)
    assert found.relative_excess[1] < 1e-6
    assert "C is the cost of a pair (-c of SVMrank over the number of queries)" in str(found)
    assert "rounded sum" not in str(found)
    (tmp_path / "model").write_text(
        svmrank(w).replace("2 # number of s", "3 # number of s") + "-1 1:1 #\n"
    )
    of_two = audit_ranker(read(tmp_path / "model"), X, Y, QID, c / 6, per_query)
    holds(of_two, rounded - np.eye(4)[0], costs, 1)
    assert "its w is the rounded sum of 2 support vectors" in str(of_two)


def test_rank_svm_of_liblinear_has_the_squared_hinge_of_every_pair(tmp_path: Path) -> None:
    w = np.array([1.0, -0.75, 0.0, 0.125])
    header = ["solver_type L2R_L2LOSS_RANKSVM", "nr_class 2", "nr_feature 4", "bias -1", "w"]
    (tmp_path / "model").write_text("\n".join([*header, *map(str, w.tolist()), ""]))
    model = read(tmp_path / "model")
    holds(audit_ranker(model, X, Y, QID, 0.25), w, 0.25 * ONE, 2)
    # Without queries all pairs of different relevance count.
    every = audit_ranker(model, X, Y, C=0.25)
    assert every.objective.lower > audit_ranker(model, X, Y, QID, 0.25).objective.upper


def test_weights_of_any_ranker_are_audited_at_the_stated_cost_and_loss() -> None:
    w = np.array([0.5, -0.5, 0.25, 0.0])
    for loss, power in (("hinge", 1), ("squared_hinge", 2)):
        model = of_values({"kind": "RankSVM", "coef": w, "C": 2.0, "loss": loss})
        holds(audit_ranker(model, X, Y, QID), w, 2.0 * ONE, power)


def fitted(model: Any) -> Any:
    signs = np.where(np.arange(len(PAIRS)) % 2, 1.0, -1.0)
    return model.fit(signs[:, None] * DIFFERENCES, signs)


@pytest.mark.parametrize(
    ("model", "how", "reason"),
    [
        (LinearSVC(), {}, "a ranker is a linear classifier of pair differences without intercept"),
        (SVC(kernel="linear"), {}, "and this is a SVC; fit it so"),
        (LinearSVC(fit_intercept=False, class_weight={1: 2.0}), {}, "class weights and pipeline"),
        (make_pipeline(StandardScaler(), LinearSVC(fit_intercept=False)), {}, "or audit it as"),
        (LinearSVC(fit_intercept=False), {"C": 2.0}, "C differs: the model has 1.0, and 2.0 was"),
        (LinearSVC(fit_intercept=False), {"qid": QID[:9]}, "qid must have one entry"),
        (LinearSVC(fit_intercept=False), {"time_limit": 0.0}, "time_limit must be a positive"),
    ],
)
def test_what_is_no_ranker_is_a_sentence(model: Any, how: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        audit_ranker(fitted(model), X, Y, **{"qid": QID, **how})


def test_audit_of_a_ranker_without_its_queries_is_a_sentence() -> None:
    with pytest.raises(ValueError, match="a RankSVM is a ranker; call audit_ranker"):
        audit(of_values({"kind": "RankSVM", "coef": np.ones(4), "C": 1.0}), X, Y)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("0 # kernel", "2 # kernel", "linear rankers can be audited, .* kernel type 2 and"),
        ("0 # threshold", "0.5 # threshold", "and threshold 0.5"),
        ("0 # threshold", "b # threshold", "threshold b must be 1 finite number"),
        ("2 # number", "3 # number", "announces 2 support vectors and has 1"),
        ("1 1:1", "1 0:1", "numbered from 1"),
        ("1 1:1", "1 x:1", "feature indices must be finite numbers"),
        ("1 1:1 2:2 #", "#", "coefficients must be 1 finite number"),
    ],
)
def test_bad_file_of_svmlight_is_a_sentence(
    old: str, new: str, reason: str, tmp_path: Path
) -> None:
    text = svmrank(np.array([1.0, 2.0]))
    assert text.count(old) == 1
    (tmp_path / "model").write_text(text.replace(old, new))
    with pytest.raises(ValueError, match=rf"^model: .*{reason}"):
        read(tmp_path / "model")


def test_command_audits_rankers_on_queries_of_the_data(tmp_path: Path) -> None:
    data = tmp_path / "train.svm"
    dump_svmlight_file(X, Y, str(data), zero_based=False, query_id=QID)
    w = solve(ranking(X, Y, QID, 0.5), tol=1e-9).w
    assert w is not None
    (tmp_path / "rank").write_text(svmrank(w))
    np.savez(
        tmp_path / "differences.npz",
        kind="LinearSVC",
        loss="hinge",
        coef=w,
        intercept=0.0,
        fit_intercept=False,
    )
    for name, options, text in (
        ("rank", [], "rank.l1, C=0.5: this model is proven to be"),
        ("differences.npz", ["--ranking"], "rank.l1, C=0.5: this model is proven to be"),
        ("rank", ["--epsilon", "0.1"], "--epsilon does not apply to a ranker"),
        (
            "differences.npz",
            ["--per-query", "mean"],
            "--per-query does not apply to a model that is no ranker",
        ),
    ):
        command = ["audit", str(tmp_path / name), "--data", str(data), "-C", "0.5", *options]
        result = CliRunner().invoke(app, command)
        assert result.exit_code == 2 * ("does not apply" in text), result.output
        assert text in " ".join(result.output.split())


def test_features_beyond_the_weights_must_be_0() -> None:
    model = of_values({"kind": "RankSVM", "coef": [1.0, -1.0, 0.5, 0.0], "C": 1.0})
    padded = np.column_stack([X, np.zeros(48)])
    holds(audit_ranker(model, padded, Y, QID), np.array([1.0, -1.0, 0.5, 0.0]), ONE, 1)
    # A column of queries that is read as a feature makes another problem.
    with pytest.raises(ValueError, match="4 weights, and the data have 5 features"):
        audit_ranker(model, np.column_stack([X, QID]), Y)


def test_assumption_on_class_weights_stays_with_a_ranker(tmp_path: Path) -> None:
    header = ["solver_type L2R_L2LOSS_SVC", "nr_class 2", "label 1 -1", "nr_feature 4", "bias -1"]
    (tmp_path / "model").write_text("\n".join([*header, "w", "1", "0", "0", "0", ""]))
    found = audit_ranker(read(tmp_path / "model"), X, Y, QID, 1.0)
    assert found.assumed == "no class weights (-wi), trained on one difference of every pair"


def test_columns_of_queries_and_of_weights_are_named(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text('{"kind": "RankSVM", "coef": [1, 0, 0, 0], "C": 1}')
    rows = np.column_stack([X, QID, np.full(48, 2.0), Y]).tolist()
    lines = ["a,b,c,d,search,sample_weight,relevance", *(",".join(map(repr, r)) for r in rows)]
    (tmp_path / "rows.csv").write_text("\n".join([*lines, ""]))
    given = ["audit", str(tmp_path / "model.json"), "--data", str(tmp_path / "rows.csv")]
    given += ["--query", "search"]
    done = CliRunner().invoke(app, given)
    assert done.exit_code == 2
    assert "a column of weights (--drop) does not apply to a ranker" in done.output
    done = CliRunner().invoke(app, [*given, "--drop", "sample_weight"])
    assert done.exit_code == 0, done.output
    assert "query `search` (6 queries)" in done.output
