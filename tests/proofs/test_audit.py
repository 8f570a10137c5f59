"""Audits: bounds on a model's excess over the optimum of its claimed problem.

An audit that is impossible is refused with a message.
"""

from __future__ import annotations

import json
import pickle
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import chi2_kernel, laplacian_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR
from typer.testing import CliRunner

from equimargin.cli.app import app
from equimargin.data import load
from equimargin.formulations import classification, linear, polynomial, regression
from equimargin.proofs import Audit, audit
from equimargin.proofs.audit import MachinesAudit
from equimargin.proofs.foreign_files import read as read_any
from equimargin.proofs.foreign_models import (
    ClaimedProblem,
    Model,
    of_estimator,
    of_values,
    stated,
)
from equimargin.proofs.pickled_models import read_trusted
from equimargin.solvers import solve

DATA = load("breast_cancer").scaled()
X, Y = np.asarray(DATA.X)[:120], DATA.y[:120]
TARGETS = X[:, 0] - 0.3 * X[:, 1] + 0.1 * X[:, 2] ** 2
LIBSVM = "svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 1\nrho 0\nlabel 1 -1\nSV\n"
SUPPORT = '{"kind": "SVC", "kernel": "rbf", "intercept": 0, "dual_coef": [1], "support": [1], %s}'
WEIGHTS = '{"kind": "LinearSVC", "intercept": 2, "coef": [1], %s}'
XOR = (
    np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]]),
    np.array([-1.0, 1.0, -1.0, 1.0]),
)


def read(file: Path) -> Model:
    """Return the model of one function in a file."""
    model = read_any(file)
    assert isinstance(model, Model)
    return model


def holds(found: Audit, own: float) -> None:
    """Check the audit against `own`, an objective value computed here.

    The model must be close to the optimum.
    """
    assert found.objective.lower <= own * (1 + 1e-12)
    assert own * (1 - 1e-12) <= found.objective.upper
    assert 0 <= found.excess[0] <= found.excess[1]
    assert found.relative_excess[1] < 5e-3
    assert found.excess[1] - found.excess[0] <= 1e-6 * found.optimum.size
    assert "above the optimum of the problem it claims to solve" in str(found)


@pytest.mark.parametrize(
    "estimator",
    [
        SVC(C=2.0),
        SVC(kernel="linear", class_weight={-1.0: 2.0, 1.0: 0.5}),
        SVC(kernel="poly", degree=3, gamma=0.05, coef0=1.0),
        SVC(C=0.3, class_weight="balanced"),
    ],
    ids=["rbf", "linear", "poly", "balanced"],
)
def test_a_classifier_with_support_vectors(estimator: Any) -> None:
    estimator.fit(X, Y)
    f = estimator.decision_function(X)
    costs = estimator.C * np.where(Y > 0, estimator.class_weight_[1], estimator.class_weight_[0])
    beta = np.zeros(len(X))
    beta[estimator.support_] = estimator.dual_coef_[0]
    found = audit(estimator, X, Y)
    holds(found, float(beta @ (f - estimator.intercept_[0]) / 2 + costs @ np.maximum(1 - Y * f, 0)))
    assert found.own.lower <= found.optimum.upper
    assert np.isfinite(found.own.relative_width)


def test_a_regression() -> None:
    estimator = SVR(C=3.0, epsilon=0.2, gamma=0.02).fit(X, TARGETS)
    f = estimator.predict(X)
    beta = np.zeros(len(X))
    beta[estimator.support_] = estimator.dual_coef_[0]
    own = (
        beta @ (f - estimator.intercept_[0]) / 2
        + 3.0 * np.maximum(np.abs(TARGETS - f) - 0.2, 0).sum()
    )
    holds(audit(estimator, X, TARGETS), float(own))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize(("intercept", "scaling"), [(True, 1.0), (True, 5.0), (False, 1.0)])
def test_a_linear_classifier(loss: str, intercept: bool, scaling: float) -> None:
    estimator = LinearSVC(
        loss=loss, C=0.1, fit_intercept=intercept, intercept_scaling=scaling, max_iter=100_000
    ).fit(X, Y)
    w, b = estimator.coef_[0], float(np.ravel(estimator.intercept_)[0])
    slacks = np.maximum(1 - Y * (X @ w + b), 0)
    own = (w @ w + (b / scaling) ** 2) / 2 + 0.1 * (
        slacks**2 if loss == "squared_hinge" else slacks
    ).sum()
    holds(audit(estimator, X, Y), float(own))


@pytest.mark.parametrize(
    ("function", "labels"),
    [(laplacian_kernel, Y), (chi2_kernel, Y), (laplacian_kernel, np.arange(120) % 3)],
)
def test_functions_of_scikit_learn_are_audited_as_kernels(
    function: Any, labels: np.ndarray
) -> None:
    """A function that is optimal for a kernel of another gamma has a larger excess."""
    points = np.abs(X)
    found = audit(SVC(kernel=function, C=0.5, tol=1e-8).fit(points, labels), points, labels)
    assert found.relative_excess[1] < 1e-6


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize(("intercept", "scaling"), [(True, 1.0), (True, 5.0), (False, 1.0)])
def test_a_linear_regression_is_that_of_its_file(
    loss: str, intercept: bool, scaling: float, tmp_path: Path
) -> None:
    how = {"fit_intercept": intercept, "intercept_scaling": scaling, "random_state": 0}
    estimator = LinearSVR(C=0.1, epsilon=0.2, loss=loss, tol=1e-6, max_iter=10**6, **how)
    estimator.fit(X, TARGETS)
    w, b = estimator.coef_, float(np.ravel(estimator.intercept_)[0])
    slacks = np.maximum(np.abs(TARGETS - X @ w - b) - 0.2, 0)
    own = (w @ w + (b / scaling) ** 2) / 2 + 0.1 * (
        slacks @ slacks if loss.startswith("squared") else slacks.sum()
    )
    found = audit(estimator, X, TARGETS)
    holds(found, float(own))
    kind = "L2R_L2LOSS_SVR_DUAL" if loss.startswith("squared") else "L2R_L1LOSS_SVR_DUAL"
    header = [f"solver_type {kind}", "nr_class 2", f"nr_feature {len(w)}"]
    header += [f"bias {scaling if intercept else -1:g}", "w"]
    weights = [*w.tolist(), *([b / scaling] if intercept else [])]
    (tmp_path / "model").write_text("\n".join([*header, *map(repr, weights)]))
    of_file = audit(read(tmp_path / "model"), X, TARGETS, C=0.1, epsilon=0.2)
    assert of_file.excess == pytest.approx(found.excess, rel=1e-9, abs=1e-12)
    assert (of_file.source, of_file.assumed) == (f"LIBLINEAR {kind}", "")


def test_a_free_bias_of_a_regression_of_liblinear_is_outside_the_norm(tmp_path: Path) -> None:
    found = solve(regression(X, TARGETS, 0.1, 0.2, loss="squared_hinge"), tol=1e-9)
    assert found.w is not None
    header = ["solver_type L2R_L2LOSS_SVR", "nr_class 2", f"nr_feature {X.shape[1]}", "bias 1", "w"]
    weights = [*found.w.tolist(), float(found.bias)]
    (tmp_path / "model").write_text("\n".join([*header, *map(repr, weights)]))
    model = read(tmp_path / "model")
    assert model.assumed == "a penalised bias (no -R)"
    within = audit(stated(model, free_bias=True), X, TARGETS, C=0.1, epsilon=0.2)
    assert (within.problem.family, within.relative_excess[1] < 1e-7) == ("svr.l2", True)
    assert audit(model, X, TARGETS, C=0.1, epsilon=0.2).excess[0] > 0


@pytest.mark.parametrize("intercept", [True, False])
def test_ridge_is_a_tube_of_no_width(intercept: bool) -> None:
    """Its objective is 2 alpha times that of the audit."""
    estimator = Ridge(alpha=5.0, fit_intercept=intercept).fit(X, TARGETS)
    residuals = TARGETS - X @ estimator.coef_ - estimator.intercept_
    own = 5.0 * estimator.coef_ @ estimator.coef_ + residuals @ residuals
    found = audit(estimator, X, TARGETS)
    holds(found, float(own) / 10)
    assert (found.C, found.relative_excess[1] < 1e-8) == (0.1, True)
    for wrong in (Ridge(alpha=0.0), Ridge(positive=True)):
        with pytest.raises(ValueError, match="a Ridge of one target, with alpha > 0"):
            audit(wrong.fit(X, TARGETS), X, TARGETS)


def test_an_excess_that_is_known() -> None:
    """XOR's optimum is 1/4 at alpha = 1/8.

    At 3/4 of that f the objective is 9/16 x 1/4 + C x 4 x 1/4.
    """
    labels, points = XOR[1], XOR[0]
    claimed = ClaimedProblem("classification", polynomial(2), "hinge", C=1.0)
    model = Model("by hand", claimed, 0.0, coefficients=labels * 3 / 32, support=np.arange(4))
    least, most = audit(model, points, labels).excess
    assert least <= 9 / 64 + 1 - 1 / 4 <= most
    assert most - least < 1e-8
    optimal = replace(model, coefficients=labels / 8)
    assert audit(optimal, points, labels).excess[1] < 1e-8


@pytest.mark.parametrize("tol", [1e-1, 1e-3])
def test_all_relative_figures_have_one_denominator(tol: float) -> None:
    """The bound by the model's own multipliers is at least that by them and a solver."""
    found = audit(SVC(C=100.0, gamma=0.001, tol=tol).fit(X, Y), X, Y)
    S = found.optimum.size
    own = found.objective.upper - found.own.lower
    figures = (*found.relative_excess, found.own_relative_excess)
    assert figures == pytest.approx([end / S for end in (*found.excess, own)], rel=1e-14)
    assert found.relative_excess[1] <= found.own_relative_excess
    own = float(str(found).rpartition("prove at most ")[2].removesuffix(")"))
    # The figure is printed with two digits, rounded up.
    assert found.own_relative_excess <= own <= 1.1 * found.own_relative_excess
    low, high = (f"{figure:.2g}" for figure in found.relative_excess)
    assert (f"(relative: {high}; " in str(found)) == (low == high)


def test_audit_prints_one_number_or_an_interval_that_contains_the_proven_one() -> None:
    known = audit(SVC(C=100.0, gamma=0.001).fit(X, Y), X, Y)
    exact = replace(
        known,
        objective=replace(known.objective, lower=3.0, upper=3.0),
        optimum=replace(known.optimum, lower=1.0, upper=1.0),
    )
    assert "this model is proven to be 2 above" in str(exact)
    wide = replace(exact, objective=replace(known.objective, lower=3.14159999, upper=4.00000001))
    assert "proven to be between 2.141 and 3.001 above" in str(wide)
    open_below = replace(exact, optimum=replace(known.optimum, lower=0.1234567891, upper=1.0))
    assert "is in [0.12345678, 1] (relative: between 1.6 and 2.4; " in str(open_below)


@pytest.mark.parametrize("value", [4.0, 5.0])
def test_relative_excess_of_a_third_is_rounded_outward(value: float) -> None:
    """The doubles nearest to 1/3 and 2/3 are below and above them."""
    known = audit(SVC(C=100.0, gamma=0.001).fit(X, Y), X, Y)
    objective = replace(known.objective, lower=value, upper=value)
    optimum = replace(known.optimum, lower=3.0, upper=3.0, scale=1.0)
    found = replace(known, objective=objective, optimum=optimum, own=replace(optimum, upper=value))
    exact = Fraction(value - 3) / 3
    assert found.own_relative_excess > exact
    for figures in (found, MachinesAudit("", {"a": found, "b": found})):
        least, most = figures.relative_excess
        assert least < exact < most


def liblinear(constant: float, kind: str = "L2R_L2LOSS_SVC_DUAL") -> str:
    """Return a LIBLINEAR model of one feature with weight 1 and bias 0, as text."""
    return (
        f"solver_type {kind}\nnr_class 2\nlabel 1 -1\nnr_feature 1\nbias {constant:g}\nw\n1\n"
        + "0\n" * (constant >= 0)
    )


@pytest.mark.parametrize(
    ("text", "assumed"),
    [
        (liblinear(-1), "no class weights (-wi)"),
        (liblinear(5), "no class weights (-wi)"),
        (liblinear(1), "no class weights (-wi)"),
        (liblinear(1, "L2R_L1LOSS_SVC_DUAL"), "no class weights (-wi)"),
        (liblinear(1, "L2R_L2LOSS_SVC"), "no class weights (-wi), a penalised bias (no -R)"),
        (LIBSVM + "1 1:1\n", "no class weights (-wi)"),
        (LIBSVM.replace("c_svc", "epsilon_svr").replace("nr_class 2\n", "") + "1 1:1\n", ""),
        (SUPPORT % '"gamma": 1', ""),
    ],
)
def test_what_a_file_does_not_say_is_said(text: str, assumed: str, tmp_path: Path) -> None:
    (tmp_path / "model").write_text(text)
    assert read(tmp_path / "model").assumed == assumed


def test_an_audit_says_what_it_assumes(tmp_path: Path) -> None:
    """A model with class weights is close to the optimum of another problem.

    Nothing in its file distinguishes it from a model without class weights.
    """
    (tmp_path / "model").write_text(liblinear(1, "L2R_L2LOSS_SVC"))
    np.savez(tmp_path / "data.npz", X=np.array([[1.0], [-1.0]]), y=np.array([1.0, -1.0]))
    result = CliRunner().invoke(
        app, ["audit", str(tmp_path / "model"), "--data", str(tmp_path / "data.npz"), "-C", "1"]
    )
    assert result.exit_code == 0, result.output
    sentence = (
        "; assumed, as its file does not say it: no class weights (-wi), a penalised bias (no -R)"
    )
    assert result.output.rstrip().endswith(sentence)
    assert sentence not in str(audit(SVC().fit(X, Y), X, Y))


@pytest.mark.parametrize("first", [1, -1])
def test_audit_class_weights_that_are_stated_are_those_of_the_problem(
    first: int, tmp_path: Path
) -> None:
    estimator = SVC(C=2.0, gamma=0.02, class_weight={-1: 0.5, 1: 5.0}, tol=1e-6).fit(X, Y)
    (tmp_path / "model").write_text(libsvm(estimator, first))
    model = read(tmp_path / "model")
    found = audit(stated(model, class_weight=(0.5, 5.0)), X, Y, C=2.0)
    assert found.relative_excess[1] < 1e-6
    assert found.assumed == ""
    with pytest.raises(ValueError, match=r"^C = 2 is contradicted"):
        audit(model, X, Y, C=2.0)
    np.savez(tmp_path / "data.npz", X=X, y=Y)
    arguments = [
        "audit",
        str(tmp_path / "model"),
        "--data",
        str(tmp_path / "data.npz"),
        "-C",
        "2",
        "--class-weight",
    ]
    result = CliRunner().invoke(app, [*arguments, "0.5,5"])
    assert (result.exit_code, "assumed" in result.output) == (0, False), result.output
    result = CliRunner().invoke(app, [*arguments, "5"])
    assert (result.exit_code, "class_weight must be 2 finite numbers" in result.output) == (
        2,
        True,
    ), result.output


def test_audit_a_free_bias_of_liblinear_is_outside_the_norm(tmp_path: Path) -> None:
    point: Any = solve(classification(X, Y, C=0.1, loss="squared_hinge"), tol=1e-9).point
    header = [
        "solver_type L2R_L2LOSS_SVC",
        "nr_class 2",
        "label 1 -1",
        f"nr_feature {X.shape[1]}",
        "bias 1",
        "w",
    ]
    (tmp_path / "model").write_text(
        "\n".join([*header, *(f"{v:.17g} " for v in [*point.w, point.b])]) + "\n"
    )
    model = read(tmp_path / "model")
    found = audit(stated(model, free_bias=True), X, Y, C=0.1)
    assert (found.problem.family, found.assumed) == ("svm.l2", "no class weights (-wi)")
    assert found.relative_excess[1] < 1e-6 < audit(model, X, Y, C=0.1).relative_excess[0]


def test_stated_what_the_model_says_itself_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model").write_text(liblinear(1))
    model = read(tmp_path / "model")
    with pytest.raises(
        ValueError,
        match=r"^free_bias is for LIBLINEAR's L2R_L2LOSS_SVC and L2R_L2LOSS_SVR with a bias",
    ):
        stated(model, free_bias=True)
    with pytest.raises(ValueError, match="class_weight must be 2 positive numbers, not 0 and 1"):
        stated(model, class_weight=(0, 1))
    with pytest.raises(ValueError, match="this is a SVC"):
        stated(of_estimator(SVC().fit(X, Y)), class_weight=(1, 2))


def test_labels_may_have_any_names() -> None:
    names = np.where(Y > 0, "benign", "malignant")
    other = np.where(names == "malignant", 1.0, -1.0)
    estimator = SVC().fit(X, names)
    assert audit(estimator, X, names).excess == audit(SVC().fit(X, other), X, other).excess


def libsvm(estimator: Any, first: int, points: Any = X, digits: int = 8) -> str:
    """Return an estimator in the text format of LIBSVM.

    It has 8 digits a feature, and the first label's decision values are positive.
    """
    sign, kind = (1, "epsilon_svr") if isinstance(estimator, SVR) else (first, "c_svc")
    lines = [
        f"svm_type {kind}",
        "kernel_type rbf",
        f"gamma {float(estimator._gamma)!r}",
        "nr_class 2",
    ]
    lines += [
        f"total_sv {len(estimator.support_)}",
        f"rho {-sign * float(estimator.intercept_[0])!r}",
    ]
    lines += [] if kind == "epsilon_svr" else [f"label {first} {-first}", "nr_sv 1 1"]
    lines.append("SV")
    for coefficient, i in zip(sign * estimator.dual_coef_[0], estimator.support_, strict=True):
        lines.append(
            f"{coefficient:.17g} "
            + " ".join(f"{k}:{v:.{digits}g}" for k, v in enumerate(points[i], 1))
        )
    return "\n".join(lines) + "\n"


def objective_of_file(
    text: str, points: Any, targets: Any, C: float, epsilon: float | None = None
) -> float:
    """Return the objective of the function in a LIBSVM file of an RBF kernel."""
    lines = text.splitlines()
    header = dict(line.split(" ", 1) for line in lines[: lines.index("SV")])
    rows = [line.split() for line in lines[lines.index("SV") + 1 :]]
    beta = np.array([float(row[0]) for row in rows]) * (
        float(header["label"].split()[0]) if "label" in header else 1.0
    )
    vectors = np.array([[float(entry.split(":")[1]) for entry in row[1:]] for row in rows])
    b = -float(header["rho"]) * (float(header["label"].split()[0]) if "label" in header else 1.0)

    def gram(U: Any, V: Any) -> Any:
        return np.exp(-float(header["gamma"]) * ((U[:, None, :] - V[None, :, :]) ** 2).sum(axis=2))

    f = gram(points, vectors) @ beta + b
    slacks = (
        np.maximum(1 - targets * f, 0)
        if epsilon is None
        else np.maximum(np.abs(targets - f) - epsilon, 0)
    )
    return float(beta @ gram(vectors, vectors) @ beta / 2 + C * slacks.sum())


@given(st.integers(0, 7), st.sampled_from([1, -1]), st.booleans(), st.integers(0, 2**16))
@settings(max_examples=12)
def test_audit_of_libsvm_file_is_of_the_function_in_the_file(
    magnitude: int, first: int, regression: bool, seed: int
) -> None:
    """At 1e7 and 2 apart, 8 digits move features by up to half a unit."""
    random = np.random.default_rng(seed)
    points = 10.0**magnitude + 2 * np.arange(14)[:, None] + random.uniform(-0.5, 0.5, (14, 2))
    targets = np.where(random.permutation(14) < 7, 1.0, -1.0)
    estimator = (SVR(C=3.0, epsilon=0.2, gamma=0.3) if regression else SVC(C=3.0, gamma=0.3)).fit(
        points, targets
    )
    text = libsvm(estimator, first, points)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "model").write_text(text)
        model = read(Path(folder) / "model")
    found = audit(model, points, targets, 3.0, 0.2 if regression else None)
    own = objective_of_file(text, points, targets, 3.0, 0.2 if regression else None)
    assert found.objective.lower - 1e-9 <= own <= found.objective.upper + 1e-9
    assert found.own.lower <= found.optimum.upper
    assert "are audited as the file has them" in str(found)
    trained = audit(model, points, targets, 3.0, 0.2 if regression else None, nearest_rows=True)
    assert trained.excess == pytest.approx(
        audit(estimator, points, targets).excess, rel=1e-6, abs=1e-9
    )
    assert "are taken to be those rows" in str(trained)


@given(st.integers(0, 2**16))
@settings(max_examples=8)
def test_vectors_of_equal_rows_are_distinct_rows_of_their_class(seed: int) -> None:
    """Half of the rows have equals, some of them with the other label."""
    random = np.random.default_rng(seed)
    points = random.normal(size=(40, 2))
    points[:20] = points[:20:4].repeat(4, axis=0)
    labels = np.where(points[:, 0] + random.normal(size=40) > 0, 1.0, -1.0)
    estimator = SVC(C=3.0, gamma=0.3).fit(points, labels)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "model").write_text(libsvm(estimator, 1, points))
        model = read(Path(folder) / "model")
    found = audit(model, points, labels, 3.0, nearest_rows=True)
    expected = audit(estimator, points, labels)
    assert found.excess == pytest.approx(expected.excess, abs=1e-6)
    assert found.own_relative_excess == pytest.approx(expected.own_relative_excess, abs=1e-8)


def test_audit_of_rounded_file_excludes_the_rows_it_came_from(tmp_path: Path) -> None:
    """At 1e7 the file is far above the optimum, and the trained model close to it."""
    points = 1e7 + 2 * np.arange(40.0)[:, None] + 0.4
    labels = np.where(np.arange(40) % 3 > 0, 1.0, -1.0)
    estimator = SVC(C=10.0, gamma=0.3, tol=1e-9).fit(points, labels)
    (tmp_path / "model").write_text(libsvm(estimator, 1, points))
    model = read(tmp_path / "model")
    assert audit(model, points, labels, 10.0).excess[0] > 10
    assert audit(model, points, labels, 10.0, nearest_rows=True).excess[1] < 0.1
    (tmp_path / "exact").write_text(libsvm(estimator, 1, points, digits=17))
    found = audit(read(tmp_path / "exact"), points, labels, 10.0)
    assert found.excess[1] < 0.1
    assert "; every support vector of its file equals a row of the data" in str(found)


@pytest.mark.parametrize("first", [1, -1])
def test_a_libsvm_model(first: int, tmp_path: Path) -> None:
    estimator = SVC(C=2.0, gamma=0.02).fit(X, Y)
    (tmp_path / "model").write_text(libsvm(estimator, first))
    found, wanted = (
        audit(read(tmp_path / "model"), X, Y, C=2.0, nearest_rows=True),
        audit(estimator, X, Y),
    )
    assert found.excess == pytest.approx(wanted.excess, rel=1e-6)
    with pytest.raises(ValueError, match=r"support vector 1 of \d+ is no row of the data"):
        audit(read(tmp_path / "model"), 2 * X, Y, C=2.0)


def test_a_libsvm_regression(tmp_path: Path) -> None:
    estimator = SVR(C=3.0, epsilon=0.2, gamma=0.02).fit(X, TARGETS)
    (tmp_path / "model").write_text(libsvm(estimator, 1))
    model = read(tmp_path / "model")
    found = audit(model, X, TARGETS, 3.0, 0.2, nearest_rows=True)
    assert found.excess == pytest.approx(audit(estimator, X, TARGETS).excess, rel=1e-6)
    with pytest.raises(ValueError, match=r"^epsilon is missing"):
        audit(model, X, TARGETS, 3.0)


@pytest.mark.parametrize("first", [1, -1])
@pytest.mark.parametrize("constant", [-1.0, 1.0, 5.0])
def test_a_liblinear_model(first: int, constant: float, tmp_path: Path) -> None:
    estimator = LinearSVC(
        C=0.1, fit_intercept=constant > 0, intercept_scaling=max(constant, 1.0)
    ).fit(X, Y)
    w = first * np.append(
        estimator.coef_[0], estimator.intercept_ / constant if constant > 0 else []
    )
    header = [
        "solver_type L2R_L2LOSS_SVC_DUAL",
        "nr_class 2",
        f"label {first} {-first}",
        f"nr_feature {X.shape[1]}",
        f"bias {constant:g}",
        "w",
    ]
    (tmp_path / "model").write_text("\n".join([*header, *(f"{v:.17g} " for v in w)]) + "\n")
    assert audit(read(tmp_path / "model"), X, Y, C=0.1).excess == pytest.approx(
        audit(estimator, X, Y).excess, rel=1e-6
    )


def test_coefficients_in_files(tmp_path: Path) -> None:
    estimator = SVC(C=2.0, gamma=0.02).fit(X, Y)
    values = {
        "kind": "SVC",
        "kernel": "rbf",
        "gamma": 0.02,
        "intercept": estimator.intercept_,
        "C": 2.0,
    }
    np.savez(
        tmp_path / "model.npz", **values, dual_coef=estimator.dual_coef_, support=estimator.support_
    )
    wanted = audit(estimator, X, Y).excess
    assert audit(read(tmp_path / "model.npz"), X, Y).excess == wanted
    lists = {
        "dual_coef": estimator.dual_coef_.tolist(),
        "support": estimator.support_.tolist(),
        "intercept": estimator.intercept_.tolist(),
    }
    (tmp_path / "model.json").write_text(json.dumps(values | lists))
    assert audit(read(tmp_path / "model.json"), X, Y).excess == wanted


def fitted(**parameters: Any) -> SVC:
    return SVC(C=2.0, gamma=0.02, **parameters).fit(X, Y)


def fitted_at(C: float | None) -> Model:
    """Return the model with another claimed C, or none."""
    model = of_estimator(fitted())
    return replace(model, claimed=replace(model.claimed, C=C))


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (
            lambda: audit(of_values({"kind": "LinearSVC", "coef": [1.0], "intercept": 0}), X, Y),
            r"^C is missing",
        ),
        (
            lambda: audit(fitted(), X, Y, C=1.0),
            r"^C differs: the model has 2.0, and 1.0 was passed",
        ),
        (
            lambda: audit(fitted_at(None), X, Y, C=1.0),
            r"^C = 1 is contradicted: the dual coefficient of a row is 2, 1 above its cost; if it "
            r"was fitted with sample_weight, pass it$",
        ),
        (
            lambda: audit(fitted_at(None), X, Y, C=1.0, sample_weight=np.ones(len(Y))),
            r"1 above its cost$",
        ),
        (lambda: audit(fitted(), X, Y, epsilon=0.1), r"^epsilon belongs to regression"),
        (
            lambda: audit(SVR(epsilon=0.2).fit(X, TARGETS), X, TARGETS, epsilon=0.1),
            r"^epsilon differs",
        ),
        (lambda: audit(fitted(), X, -Y), r"^the labels are contradicted"),
        (lambda: audit(fitted_at(np.inf), X, Y), r"^C must be finite"),
        (
            lambda: audit(fitted(), X[:60], Y[:60]),
            r"a support vector is row \d+ of the data, which have 60 rows",
        ),
        (lambda: audit(fitted(), X, np.arange(120) % 3), r"2 classes and the data 3"),
        (
            lambda: audit(SVC(kernel="sigmoid").fit(X, Y), X, Y),
            r"sigmoid kernel is not positive semidefinite",
        ),
        (
            lambda: audit(SVC(kernel=lambda x, z: x @ z.T).fit(X, Y), X, Y),
            r"a kernel that is a function",
        ),
        (lambda: audit(SVC().fit(X, np.arange(120) % 3), X, Y), r"the model has 3 classes"),
        (lambda: audit(SVC(), X, Y), r"not fitted"),
        (
            lambda: audit(type("SVC", (), {"__module__": "skglm.estimators"})(), X, Y),
            r"not SVC of skglm; save its coefficients",
        ),
        (lambda: audit(NuSVC(), X, Y), r"the NuSVC is not fitted"),
        (lambda: audit(NuSVR(), X, Y), r"LinearSVR and Ridge can be audited, not NuSVR"),
        (lambda: audit(LinearSVC(penalty="l1", dual=False).fit(X, Y), X, Y), r"1-norm"),
        (lambda: audit(LinearSVC(multi_class="crammer_singer").fit(X, Y), X, Y), r"crammer_singer"),
        (
            lambda: audit(
                Model(
                    "m", ClaimedProblem("classification", linear(), "hinge", 1.0), 0.0, np.ones(40)
                ),
                X,
                Y,
            ),
            r"40 weights",
        ),
        (
            lambda: of_values(
                {"kind": "SVC", "kernel": "rbf", "intercept": 0, "dual_coef": [1], "support": [1]}
            ),
            r"the model has no gamma",
        ),
        (lambda: of_values({"kind": "SVC", "intercept": 0, "coef": [1.0]}), r"has no key 'coef'"),
        (
            lambda: of_values({"kind": "LinearSVC", "intercept": np.nan, "coef": [1.0]}),
            r"^intercept must be 1 finite number$",
        ),
    ],
)
def test_what_cannot_be_audited_is_a_sentence(call: Callable[[], Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        call()


def test_a_feature_index_beyond_the_data_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "model").write_text(LIBSVM + "1 99999999999:1\n")
    with pytest.raises(ValueError, match=r"^the model has 99999999999 features and the data 30"):
        audit(read(tmp_path / "model"), X, Y, C=1.0)


@pytest.mark.parametrize("bias", [0, -1])
def test_a_liblinear_constant_of_zero_is_no_bias(bias: int, tmp_path: Path) -> None:
    weights = "w\n1\n2\n" + "7\n" * (bias == 0)
    (tmp_path / "model").write_text(
        f"solver_type L2R_L2LOSS_SVC\nnr_class 2\nlabel 1 -1\nnr_feature 2\nbias {bias}\n{weights}"
    )
    found = audit(read(tmp_path / "model"), XOR[0], XOR[1], C=1.0)
    slacks = np.maximum(1 - XOR[1] * (XOR[0] @ [1.0, 2.0]), 0)
    assert found.objective.lower <= 2.5 + slacks @ slacks <= found.objective.upper


def test_a_damaged_archive_is_a_sentence(tmp_path: Path) -> None:
    np.savez_compressed(
        tmp_path / "model.npz", kind="LinearSVC", coef=np.arange(1000.0), intercept=0.0
    )
    good = (tmp_path / "model.npz").read_bytes()
    for at in range(0, len(good), 29):
        (tmp_path / "model").write_bytes(good[:at] + b"\xff\x07\x99" + good[at + 3 :])
        with suppress(ValueError):  # a sentence, or a model where the archive does not mind
            read(tmp_path / "model")


def test_a_free_bias_asks_for_a_sum_of_zero() -> None:
    model = of_estimator(fitted())
    assert model.coefficients is not None
    coefficients = model.coefficients.copy()
    coefficients[np.argmax(np.abs(coefficients) < 1)] *= 0.5
    with pytest.raises(ValueError, match=r"do not sum to 0"):
        audit(replace(model, coefficients=coefficients), X, Y)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("svm_type nu_svc\nSV\n", "nu_svc"),
        ("svm_type c_svc\nnr_class 2\n", "cut off"),
        ("svm_type c_svc\nkernel_type linear\nnr_class 3\nlabel 1 2\nSV\n", "label must be 3"),
        (
            "svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 2\nrho 0\nlabel 1 "
            "-1\nSV\n1 1:0\n",
            "announces 2 support vectors and has 1",
        ),
        ("solver_type L2R_LR\nw\n", "not L2R_LR"),
        (
            "solver_type L2R_L2LOSS_SVC\nnr_class 2\nlabel 1 2\nnr_feature 2\nbias -1\nw\n1\n",
            "2 finite numbers",
        ),
        ('{"kind": "Ridge"}', "not 'Ridge'"),
        (WEIGHTS.replace("LinearSVC", "RankSVM") % '"C": 1', "has no key 'intercept'"),
        (WEIGHTS.replace("LinearSVC", "LinearSVR") % '"loss": "hinge"', "not 'hinge'"),
        ("{", "Expecting property name"),
        (LIBSVM + "1 99999999999999999999:1\n", "feature indices must be whole numbers"),
        (LIBSVM + "1 0:1\n", "numbered from 1"),
        (LIBSVM + "1 -1:1\n", "feature indices must be whole numbers"),
        (LIBSVM + "1 2:1 2:3\n", "in ascending order"),
        (LIBSVM + "1 1:nan\n", "features must be finite numbers"),
        (LIBSVM.replace("rho 0", "rho nan") + "1 1:1\n", "rho must be 1 finite number"),
        (LIBSVM.replace("label 1 -1\n", "") + "1 1:1\n", "the model has no label"),
        (LIBSVM.replace("label 1 -1", "label 1 1") + "1 1:1\n", "two labels are equal"),
        (
            LIBSVM.replace(
                "kernel_type linear", "kernel_type polynomial\ngamma 1\ncoef0 0\ndegree 2.7"
            )
            + "1 1:1\n",
            "degree must be whole",
        ),
        (
            LIBSVM.replace("linear", "precomputed") + "1 0:2.5\n",
            "support vectors must be whole numbers",
        ),
        (SUPPORT % '"gamma": null', "gamma must be 1 finite number"),
        (SUPPORT % '"gamma": [1, 2]', "gamma must be 1 finite number"),
        (SUPPORT % '"gamma": "scale"', "gamma must be a number, not 'scale'; .*`model._gamma`"),
        (SUPPORT % '"gamma": 1, "C": true', "C must be 1 finite number"),
        (SUPPORT % '"gamma": 1, "support": [-1]', "support must be whole numbers, 0 or more"),
        (SUPPORT % '"gamma": 1, "support": [0.5]', "support must be whole numbers"),
        (SUPPORT % '"gamma": 1, "support": [1e300]', "support must be whole numbers"),
        (SUPPORT % '"gamma": 1, "dual_coef": {"a": 1}', "dual_coef must be finite numbers"),
        (SUPPORT % f'"gamma": {10**400}', "gamma must be 1 finite number"),
        (WEIGHTS % '"fit_intercept": "false"', "fit_intercept is true or false, not 'false'"),
        (WEIGHTS % '"fit_intercept": false', "fit_intercept is false, and the intercept is 2"),
        (WEIGHTS % '"intercept_scaling": 0', "intercept_scaling must be positive"),
        ('{"kind": ' + 100_000 * "[", "recursion"),
        ("PK\x03\x04garbage", "zip"),
        ("hello", "is no NPZ, JSON, LIBSVM, LIBLINEAR or SVMlight model"),
    ],
)
def test_a_bad_model_file_is_a_sentence(text: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "model").write_text(text)
    with pytest.raises(ValueError, match=rf"^model.*{reason}"):
        read(tmp_path / "model")


def test_the_command_line_audits(tmp_path: Path) -> None:
    estimator = LinearSVC().fit(DATA.X, DATA.y)
    values = {
        "kind": "LinearSVC",
        "coef": estimator.coef_.tolist(),
        "intercept": estimator.intercept_.tolist(),
    }
    (tmp_path / "model.json").write_text(json.dumps(values))
    command = ["audit", str(tmp_path / "model.json"), "--data", "breast_cancer", "--scale"]
    answer = CliRunner().invoke(app, [*command, "-C", "1"])
    assert (answer.exit_code, "this model is proven to be" in answer.stdout) == (0, True)
    answer = CliRunner().invoke(app, command)
    assert (answer.exit_code, "C is missing" in answer.output) == (2, True)


@pytest.mark.parametrize(
    "change",
    [lambda X: 10 * X + 3, lambda X: X[::-1], lambda X: X[:, 1:]],
    ids=["scaled", "other order", "fewer"],
)
@pytest.mark.parametrize("estimator", [SVC(kernel="linear"), SVR()], ids=["SVC", "SVR"])
def test_other_data_than_the_estimators_are_refused(
    estimator: Any, change: Callable[[Any], Any]
) -> None:
    model = estimator.fit(X, Y)
    with pytest.raises(ValueError, match=r"other data|features and the data"):
        audit(model, change(X), Y)


def test_other_data_than_a_files_support_vectors_are_refused(tmp_path: Path) -> None:
    estimator = fitted()
    values = {
        "kind": "SVC",
        "kernel": "rbf",
        "gamma": 0.02,
        "intercept": float(estimator.intercept_[0]),
        "C": 2.0,
    }
    values |= {"dual_coef": estimator.dual_coef_.tolist(), "support": estimator.support_.tolist()}
    values |= {"support_vectors": estimator.support_vectors_.tolist()}
    (tmp_path / "model.json").write_text(json.dumps(values))
    assert audit(read(tmp_path / "model.json"), X, Y).excess == audit(estimator, X, Y).excess
    with pytest.raises(ValueError, match=r"of other data, or of scaled data"):
        audit(read(tmp_path / "model.json"), 2 * X, Y)
    with pytest.raises(ValueError, match=r"support_vectors must be \d+ rows"):
        of_values(values | {"support_vectors": [[1.0]]})


def test_sparse_data_are_compared() -> None:
    sparse = csr_matrix(X)
    assert audit(SVC().fit(sparse, Y), sparse, Y).relative_excess[1] < 5e-3
    with pytest.raises(ValueError, match=r"of other data"):
        audit(SVC().fit(sparse, Y), 2 * sparse, Y)


@pytest.mark.parametrize("estimator", [SVC(gamma=0.02), SVR(gamma=0.02)], ids=["SVC", "SVR"])
def test_rows_of_weight_zero_shift_no_support_vector(estimator: Any) -> None:
    """scikit-learn numbers the rows of positive weight alone."""
    weights = np.where(np.arange(len(X)) < 9, 0.0, 1.5)
    model = estimator.fit(X, Y, sample_weight=weights)
    wanted = audit(
        replace(of_estimator(model), support=model.support_),
        X[9:],
        Y[9:],
        sample_weight=weights[9:],
    )
    found = audit(model, X, Y, sample_weight=weights)
    assert found.relative_excess[1] < 5e-3
    assert found.excess == pytest.approx(wanted.excess, rel=1e-3, abs=1e-7)
    with pytest.raises(ValueError, match=r"leave those rows out"):
        audit(replace(of_estimator(model), vectors=None), X, Y, sample_weight=weights)


@pytest.mark.parametrize("compress", [0, 3])
def test_a_pickled_pipeline_is_read_on_trust_alone(compress: int, tmp_path: Path) -> None:
    """The audit is that of its last step on the output of its first step.

    Without trust no code of the file is run.
    """
    raw = load("breast_cancer")
    pipeline = make_pipeline(StandardScaler(), SVC(kernel="linear", C=0.5)).fit(raw.X, raw.y)
    file = tmp_path / "model.joblib"
    joblib.dump(pipeline, file, compress=compress)
    command = ["audit", str(file), "--data", "breast_cancer"]
    refused = CliRunner().invoke(app, command)
    assert (refused.exit_code, refused.output.count("\n")) == (2, 1)
    assert "model.joblib is a pickled object" in refused.output
    answer = CliRunner().invoke(app, [*command, "--trust"])
    assert answer.exit_code == 0, answer.output
    alone = audit(pipeline[-1], pipeline[0].transform(raw.X), raw.y)
    said = str(alone).partition(" above")[0].removeprefix("SVC,")
    assert "SVC at the end of a pipeline," in answer.output
    assert said in answer.output


@pytest.mark.parametrize("trust", [False, True])
def test_nothing_is_run_without_trust(trust: bool, tmp_path: Path) -> None:
    """A file that makes a folder when read makes it with trust alone, under any name."""
    for name in ("model.pkl", "model.npz", "model"):
        made = tmp_path / f"{name}.ran"
        text = str(made).encode()
        (tmp_path / name).write_bytes(
            b"\x80\x02cos\nmkdir\nX" + len(text).to_bytes(4, "little") + text + b"\x85R."
        )
        with pytest.raises(
            ValueError, match="can be audited, not NoneType" if trust else "is a pickled object"
        ):
            read_trusted(tmp_path / name, trust)
        assert made.exists() == trust


def test_a_search_is_audited_as_what_it_found() -> None:
    search = GridSearchCV(SVC(), {"C": [0.1, 1.0]}, cv=2).fit(X, Y)
    assert str(audit(search, X, Y)) == str(audit(search.best_estimator_, X, Y))


def test_a_pipeline_without_steps_before_its_last_one() -> None:
    alone = SVC().fit(X, Y)
    assert audit(make_pipeline(alone), X, Y).objective == audit(alone, X, Y).objective


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\x80nonsense", "cannot be unpickled"),
        (pickle.dumps({"a": 1}), "can be audited, not dict"),
        (pickle.dumps(SVC()), "not fitted"),
    ],
)
def test_a_bad_pickle_is_a_sentence(content: bytes, reason: str, tmp_path: Path) -> None:
    (tmp_path / "model.pkl").write_bytes(content)
    with pytest.raises(ValueError, match=rf"^model\.pkl: .*{reason}"):
        read_trusted(tmp_path / "model.pkl", trust=True)


def test_a_pipeline_takes_columns_by_name(tmp_path: Path) -> None:
    """Data whose columns have another order are put in order, and a missing column is named."""
    pipeline = make_pipeline(StandardScaler(), SVC(kernel="linear")).fit(X[:, :3], Y)
    # scikit-learn sets this attribute when it fits a data frame.
    pipeline[0].feature_names_in_ = np.array(["a", "b", "c"], dtype=object)
    joblib.dump(pipeline, tmp_path / "model.joblib")
    lines = [
        ",".join(map(repr, [*x.tolist(), label]))
        for x, label in zip(X[:, [2, 0, 1]], Y.tolist(), strict=True)
    ]
    (tmp_path / "data.csv").write_text("\n".join(["c,a,b,label", *lines]))
    command = [
        "audit",
        str(tmp_path / "model.joblib"),
        "--trust",
        "--data",
        str(tmp_path / "data.csv"),
    ]
    answer = CliRunner().invoke(app, command)
    assert answer.exit_code == 0, answer.output
    assert "this model is proven to be" in answer.output
    refused = CliRunner().invoke(app, [*command, "--drop", "b"])
    assert (refused.exit_code, "column 'b', which the data do not have" in refused.output) == (
        2,
        True,
    )


def test_steps_that_refuse_the_features_are_a_sentence() -> None:
    pipeline = make_pipeline(StandardScaler(), SVC(kernel="linear")).fit(X, Y)
    with pytest.raises(
        ValueError,
        match="the pipeline's steps before its last one reject these features: X has 2 features",
    ):
        audit(pipeline, X[:, :2], Y)
