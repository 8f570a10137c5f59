"""Audits of classifiers of several classes, machine by machine, against cvxpy and libsvm."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import combinations
from math import nextafter
from pathlib import Path
from typing import Any

import cvxpy as cp
import joblib
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC
from typer.testing import CliRunner

from equimargin.cli.app import app
from equimargin.formulations.bounds.intervals import Interval
from equimargin.proofs import audit
from equimargin.proofs.audit import Audit, MachinesAudit
from equimargin.proofs.foreign_files import read
from equimargin.proofs.foreign_machines import of_classifier, stated_for_classes
from equimargin.report.pages.audit import verdict

pytestmark = pytest.mark.filterwarnings("ignore:Liblinear failed to converge")
TIGHT = {"tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "tol_feas": 1e-9}
WORDS = np.array(["ash", "beech", "cedar", "douglas fir", "elm"])
WEIGHTS = {"ash": 2.0, "cedar": 0.5}


def some(load: Any, step: int, k: int = 3) -> tuple[np.ndarray, np.ndarray]:
    data = load()
    X, y = data.data[data.target < k][::step], data.target[data.target < k][::step]
    return X / np.maximum(np.abs(X).max(axis=0), 1.0), y


DATA = {
    "iris": some(load_iris, 2),
    "wine": some(load_wine, 2),
    "digits": some(load_digits, 9, k=4),
}


def optimum(K: np.ndarray, s: np.ndarray, c: np.ndarray, has_bias: bool = True) -> tuple[Any, Any]:
    """Return the optima of T (23)-(25) and of K (2.3) with squared slacks, by cvxpy."""
    values, vectors = np.linalg.eigh(K)
    kept = values > 1e-12 * values.max()
    w = cp.Variable(int(kept.sum()))
    b = cp.Variable() if has_bias else 0.0
    slack = cp.pos(1 - cp.multiply(s, vectors[:, kept] * np.sqrt(values[kept]) @ w + b))
    optima = []
    for loss in (c @ slack, c @ cp.square(slack)):
        problem = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + loss))
        problem.solve(solver="CLARABEL", **TIGHT)
        optima.append(float(problem.value))
    return optima[0], optima[1]


def near(found: Audit, value: float) -> bool:
    """Return True if the proven interval of the optimum meets a value at 1e-6."""
    unit = 1e-6 * max(abs(value), 1e-4 * found.problem.scale)  # type: ignore[union-attr]
    return bool(found.optimum.lower - unit <= value <= found.optimum.upper + unit)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_svc_is_audited_a_pair_of_classes_each(name: str, kernel: str, weights: Any) -> None:
    X, y = DATA[name]
    gram = X @ X.T if kernel != "rbf" else np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))
    features = gram if kernel == "precomputed" else X
    model = SVC(C=3.0, kernel=kernel, gamma=0.5, class_weight=weights, tol=1e-5)
    found = audit(model.fit(features, WORDS[y]), features, WORDS[y])
    assert isinstance(found, MachinesAudit)
    pairs = list(combinations(range(y.max() + 1), 2))
    assert list(found.machines) == [f"{WORDS[i]} vs {WORDS[j]}" for i, j in pairs]
    factor = np.array([(weights or {}).get(str(word), 1.0) for word in WORDS])
    for (i, j), machine in zip(pairs, found.machines.values(), strict=True):
        rows = np.isin(y, (i, j))
        s = np.where(y[rows] == j, 1.0, -1.0)
        value, _ = optimum(gram[np.ix_(rows, rows)], s, 3.0 * factor[y[rows]])
        assert near(machine, value)
        assert machine.relative_excess[1] < 1e-3
        assert machine.own_relative_excess < 1e-3
    lines = str(found).splitlines()
    assert len(lines) == len(pairs) + 1
    assert lines[-1].startswith(f"SVC, all {len(pairs)} machines: in total")
    assert found.worst in lines[-1]
    assert found.excess[0] <= sum(m.excess[1] for m in found.machines.values()) <= found.excess[1]


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("has_intercept", [True, False])
def test_linear_svc_is_audited_a_class_against_the_rest_each(
    loss: str, has_intercept: bool
) -> None:
    X, y = DATA["iris"]
    how = {"loss": loss, "fit_intercept": has_intercept, "class_weight": WEIGHTS}
    model = LinearSVC(C=0.5, tol=1e-8, max_iter=10**6, random_state=0, **how)
    found = audit(model.fit(X, WORDS[y]), X, WORDS[y])
    assert isinstance(found, MachinesAudit)
    Z = np.column_stack([X, np.ones(len(X))]) if has_intercept else X
    for k, (name, machine) in enumerate(found.machines.items()):
        assert name == f"{WORDS[k]} vs rest"
        # LIBLINEAR weights the class itself, and not the rest.
        c = 0.5 * np.where(y == k, WEIGHTS.get(WORDS[k], 1.0), 1.0)
        values = optimum(Z @ Z.T, np.where(y == k, 1.0, -1.0), c, has_bias=False)
        assert near(machine, values[loss == "squared_hinge"])
        assert machine.relative_excess[1] < 1e-4


@pytest.mark.parametrize("k", [2, 3, 4])
def test_nu_svc_is_audited_at_the_cost_of_its_coefficients(k: int) -> None:
    X, y = some(load_digits, 6, k)
    model = NuSVC(nu=0.2, kernel="linear", tol=1e-8).fit(X, y)
    found = audit(model, X, y)
    machines = [found] if isinstance(found, Audit) else list(found.machines.values())
    assert len(machines) == k * (k - 1) // 2
    for (i, j), machine in zip(combinations(range(k), 2), machines, strict=True):
        rows = np.isin(y, (i, j))
        s, m = np.where(y[rows] == j, 1.0, -1.0), int(rows.sum())
        # Schölkopf et al. (2000): min 1/2 |w|^2 - nu rho + sum_i xi_i / m, rho >= 0.
        w, b, rho = cp.Variable(X.shape[1]), cp.Variable(), cp.Variable(nonneg=True)
        loss = cp.sum(cp.pos(rho - cp.multiply(s, X[rows] @ w + b))) / m
        problem = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 - 0.2 * rho + loss))
        problem.solve(solver="CLARABEL", **TIGHT)
        assert pytest.approx(1 / (m * float(rho.value)), rel=1e-4) == machine.C
        assert machine.relative_excess[1] < 1e-6


@pytest.mark.parametrize("has_intercept", [True, False])
def test_crammer_singer_is_audited_as_one_problem(has_intercept: bool) -> None:
    X, y = some(load_iris, 4)
    model = LinearSVC(
        multi_class="crammer_singer", fit_intercept=has_intercept, C=2.0, tol=1e-4, random_state=0
    ).fit(X, y)
    found = audit(model, X, y)
    assert isinstance(found, Audit)
    Z = np.column_stack([X, np.ones(len(X))]) if has_intercept else X
    W, E = cp.Variable((3, Z.shape[1])), np.eye(3)[y]

    def value(W: Any, scores: Any, top: Any, total: Any) -> Any:
        own = total(E * scores if isinstance(scores, np.ndarray) else cp.multiply(E, scores))
        return total(W**2) / 2 + 2.0 * (total(top(scores + 1 - E, axis=1)) - own)

    problem = cp.Problem(cp.Minimize(value(W, Z @ W.T, cp.max, cp.sum)))
    problem.solve(solver="CLARABEL", **TIGHT)
    assert found.optimum.lower - 1e-6 <= problem.value <= found.optimum.upper + 1e-6
    own = np.column_stack([model.coef_, model.intercept_]) if has_intercept else model.coef_
    stated = value(own, Z @ own.T, np.max, np.sum)
    assert found.objective.lower - 1e-9 <= stated <= found.objective.upper + 1e-9
    assert 0 <= found.relative_excess[1] < 1e-2


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 10**6), st.integers(3, 5))
def test_random_sample_weights_give_the_problem_of_their_pair(seed: int, k: int) -> None:
    random = np.random.default_rng(seed)
    y = np.concatenate([np.arange(k), np.arange(k), random.integers(0, k, 6 * k)])
    X, weights = random.normal(size=(len(y), 3)), random.integers(0, 3, len(y)).astype(float)
    weights[: 2 * k] = 1.0
    model = SVC(C=2.0, kernel="linear", tol=1e-6).fit(X, y, sample_weight=weights)
    found = audit(model, X, y, sample_weight=weights)
    assert isinstance(found, MachinesAudit)
    for (i, j), machine in zip(combinations(range(k), 2), found.machines.values(), strict=True):
        rows = np.isin(y, (i, j)) & (weights > 0)
        s = np.where(y[rows] == j, 1.0, -1.0)
        assert near(machine, optimum(X[rows] @ X[rows].T, s, 2.0 * weights[rows])[0])
        assert machine.relative_excess[1] < 1e-4


def test_wrong_labels_classes_and_weights_are_a_sentence() -> None:
    X, y = DATA["iris"]
    model = SVC(C=2.0).fit(X, y)
    nu, joint = NuSVC(nu=0.2).fit(X, y), LinearSVC(multi_class="crammer_singer", max_iter=10**5)
    cases: list[tuple[Any, dict[str, Any], str]] = [
        (model, {"y": (y + 1) % 3}, "0 vs 1: the labels are contradicted"),
        (model, {"y": np.minimum(y, 1)}, "the model has 3 classes and the data 2"),
        (model, {"C": 1.0}, "0 vs 1: C differs: the model has 2.0, and 1.0 was passed"),
        (nu, {"C": 1.0}, "C of a NuSVC follows from its coefficients; leave it out"),
        (nu, {"sample_weight": np.ones(len(y))}, "a NuSVC with sample weights"),
        (joint.fit(X, y), {"epsilon": 0.1}, "crammer_singer has neither an epsilon nor"),
        (joint, {"X": X[:, :2]}, "the model has 4 features and the data 2"),
        (model, {"y": y[:-1]}, "y must have one entry for each of the 75 rows"),
        (joint, {"y": y[:-1]}, "y must have one entry for each of the 75 rows"),
        (model, {"y": np.where(y == 2, np.nan, y)}, "y holds NaN or an infinite number"),
        (model, {"sample_weight": y - 1.0}, r"sample_weight must be 75 numbers in \[0, inf\]"),
        (model, {"sample_weight": np.ones(4)}, r"sample_weight must be 75 numbers in \[0, inf\]"),
        (model, {"time_limit": 0.0}, "time_limit must be a positive number, not 0.0"),
        (
            SVC(kernel="precomputed").fit(X @ X.T, y),
            {},
            "0 vs 1: a precomputed kernel needs the square Gram matrix; this one is 75 x 4",
        ),
        (
            SVC().fit(X, y, sample_weight=y > 0),
            {"sample_weight": y > 0},
            "the SVC has no machine for some of its 3 classes",
        ),
    ]
    for fitted, changed, reason in cases:
        with pytest.raises(ValueError, match=reason):
            audit(fitted, **{"X": X, "y": y, **changed})
    # Otherwise the sum would lack a machine.
    alike = np.array(["p", "q vs r", "p vs q", "r"])[np.arange(len(y)) % 4]
    with pytest.raises(ValueError, match="two machines of the SVC have the name 'p vs q vs r'"):
        of_classifier(SVC().fit(X, alike))
    with pytest.raises(ValueError, match="class_weight of a NuSVC"):
        of_classifier(NuSVC(nu=0.2, class_weight={0: 2.0}).fit(X, y))
    with pytest.raises(ValueError, match="with a 1-norm of w"):
        of_classifier(LinearSVC(penalty="l1", dual=False).fit(X, y))
    with pytest.raises(ValueError, match="a cost for each class"):
        audit(
            LinearSVC(multi_class="crammer_singer", class_weight={0: 2.0}, max_iter=10**5).fit(
                X, y
            ),
            X,
            y,
        )


@pytest.mark.parametrize("k", [2, 3])
def test_nu_svc_without_a_margin_is_a_sentence(k: int) -> None:
    # The reduced convex hulls of the classes meet at this nu.
    X, y = np.random.default_rng(2).normal(size=(36, 2)), np.arange(36) % k
    model = NuSVC(nu=0.1, kernel="linear").fit(X, y)
    with pytest.raises(ValueError, match="the margin of this NuSVC is 0 within its tolerance"):
        audit(model, X, y)


def test_command_audits_every_machine_and_sums_them_up(tmp_path: Path) -> None:
    X, y = DATA["iris"]
    data = tmp_path / "rows.csv"
    rows = [
        "a,b,c,d,y",
        *(",".join([*map(repr, x.tolist()), WORDS[k]]) for x, k in zip(X, y, strict=False)),
    ]
    data.write_text("\n".join(rows))
    model, page = tmp_path / "model.joblib", tmp_path / "page.html"
    joblib.dump(make_pipeline(StandardScaler(), SVC()).fit(X, WORDS[y]), model)
    result = CliRunner().invoke(
        app, ["audit", str(model), "--data", str(data), "--trust", "--html", str(page)]
    )
    assert result.exit_code == 0, result.output
    for line in ("ash vs beech: SVC", "beech vs cedar: SVC", "end of a pipeline, all 3 machines"):
        assert line in result.output
    assert "relative excess, ash vs cedar" in page.read_text()
    refused = CliRunner().invoke(
        app, ["audit", str(model), "--data", str(data), "--trust", "--free-bias"]
    )
    assert refused.exit_code == 2
    assert "free_bias is for LIBLINEAR" in " ".join(refused.output.split())


def liblinear(estimator: LinearSVC, kind: str, constant: float) -> str:
    """Return a LinearSVC as LIBLINEAR writes it, with the labels 3, 1 and 2 in this order."""
    W = np.column_stack([estimator.coef_, estimator.intercept_ / constant])[[2, 0, 1]]
    header = [
        f"solver_type {kind}",
        "nr_class 3",
        "label 3 1 2",
        f"nr_feature {W.shape[1] - 1}",
        f"bias {constant:g}",
        "w",
    ]
    rows = (" ".join(f"{v:.17g}" for v in row) + " " for row in W.T)
    return "\n".join([*header, *rows]) + "\n"


@pytest.mark.parametrize("multi_class", ["ovr", "crammer_singer"])
def test_liblinear_file_of_three_classes_is_audited_as_the_estimator(
    multi_class: str, tmp_path: Path
) -> None:
    X, y = DATA["iris"]
    X, y = X[::3], y[::3] + 1
    weights = {1: 2.0, 2: 1.0, 3: 0.5} if multi_class == "ovr" else None
    estimator = LinearSVC(
        C=0.5, multi_class=multi_class, intercept_scaling=2.0, class_weight=weights, random_state=0
    ).fit(X, y)
    kind = "L2R_L2LOSS_SVC_DUAL" if multi_class == "ovr" else "MCSVM_CS"
    (tmp_path / "model").write_text(liblinear(estimator, kind, 2.0))
    model = read(tmp_path / "model")
    given = None if weights is None else list(weights.values())
    found: Any = audit(stated_for_classes(model, given), X, y, C=0.5)
    assert found.source == f"LIBLINEAR {kind}"
    wanted = audit(estimator, X, y)
    assert found.excess == pytest.approx(wanted.excess, rel=1e-6, abs=1e-9)
    if weights is None:
        assert found.assumed == "no class weights (-wi)"
        with pytest.raises(ValueError, match="LIBLINEAR MCSVM_CS change no known problem"):
            stated_for_classes(model, [1.0, 1.0, 2.0])


def test_bias_outside_the_norm_of_three_classes_is_that_of_every_machine(tmp_path: Path) -> None:
    X, y = DATA["iris"]
    estimator = LinearSVC(C=0.5, random_state=0).fit(X, y)
    (tmp_path / "model").write_text(liblinear(estimator, "L2R_L2LOSS_SVC", 1.0))
    found: Any = audit(stated_for_classes(read(tmp_path / "model"), free_bias=True), X, y, C=0.5)
    families = {machine.problem.family for machine in found.machines.values()}
    assert (list(found.machines), families) == (["1 vs rest", "2 vs rest", "3 vs rest"], {"svm.l2"})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("nr_class 3\ntotal_sv 1\nrho 0 0\nlabel 1 2 3\nSV\n1 0 1:1\n", "rho must be 3 finite"),
        ("nr_class 3\ntotal_sv 1\nrho 0 0 0\nlabel 1 2 3\nSV\n1 0 1:1\n", "has no nr_sv"),
        (
            "nr_class 3\ntotal_sv 1\nrho 0 0 0\nlabel 1 2 3\nnr_sv 1 1 0\nSV\n1 0 1:1\n",
            "nr_sv announces 2 support vectors, and total_sv 1",
        ),
        (
            "nr_class 3\ntotal_sv 1\nrho 0 0 0\nlabel 1 2 3\nnr_sv 1 0 0\nSV\n1 1:1\n",
            "coefficients must be 2 finite numbers",
        ),
        ("nr_class 1\ntotal_sv 0\nrho 0\nlabel 1\nSV\n", "nr_class must be 2 or more, not 1"),
    ],
)
def test_bad_libsvm_file_of_several_classes_is_a_sentence(
    text: str, reason: str, tmp_path: Path
) -> None:
    (tmp_path / "model").write_text(f"svm_type c_svc\nkernel_type linear\n{text}")
    with pytest.raises(ValueError, match=rf"^model: .*{reason}"):
        read(tmp_path / "model")


def test_notebook_shows_the_figures_with_names_escaped() -> None:
    X, y = DATA["iris"]
    found: Any = audit(
        SVC().fit(X, np.array(["<b>", "c", "d"])[y]), X, np.array(["<b>", "c", "d"])[y]
    )
    shown = found._repr_html_()
    assert ">relative excess, &lt;b&gt; vs c</th>" in shown
    assert (shown.count("<tr>"), shown.count("<p>"), "<b>" in shown) == (4, 1, False)
    one = found.machines["c vs d"]
    assert f">{one.figures['relative excess']}</td>" in one._repr_html_()


@pytest.mark.parametrize("excess", [1.23456789e-7, 9.9999996e-4])
def test_figures_are_rounded_outward(excess: float) -> None:
    optimum = Interval(1 / 3, nextafter(1 / 3, 1.0), 1.0)
    objective = Interval(optimum.lower + excess, optimum.upper + excess, 1.0)
    found: Any = Audit("SVC", None, 1.0, None, objective, optimum, optimum)  # type: ignore[arg-type]
    for name, (lower, upper) in {
        "optimum of the problem": (optimum.lower, optimum.upper),
        "objective of the model": (objective.lower, objective.upper),
        "excess of the model": found.excess,
        "relative excess": found.relative_excess,
    }.items():
        low, high = re.split(" to |, ", found.figures[name].strip("[]"))
        assert Fraction(low) <= Fraction(lower) <= Fraction(upper) <= Fraction(high)
    most = re.search(r"at most (\S+)", verdict(found)[1])
    assert most is None or Fraction(most[1]) >= Fraction(found.relative_excess[1])
    assert (most is None) == (excess > 1e-6)


def test_excess_is_rounded_outward() -> None:
    objective, optimum = Interval(1.0, 1.0, 1.0), Interval(1e-30, 3e-30, 1.0)
    found: Any = Audit("SVC", None, 1.0, None, objective, optimum, optimum)  # type: ignore[arg-type]
    lower, upper = map(Fraction, found.excess)
    assert lower <= 1 - Fraction(3e-30) <= 1 - Fraction(1e-30) <= upper


@pytest.mark.parametrize("kind", ["L2R_L2LOSS_SVC_DUAL", "MCSVM_CS"])
def test_labels_as_text_have_the_order_of_the_numbers_of_a_file(kind: str, tmp_path: Path) -> None:
    X, y = DATA["iris"]
    X, y = X[::3], np.array([-3, 2, 10])[y[::3]]
    multi_class = "ovr" if kind.startswith("L2R") else "crammer_singer"
    estimator = LinearSVC(C=0.5, multi_class=multi_class, random_state=0).fit(X, y)
    text = liblinear(estimator, kind, 1.0).replace("label 3 1 2", "label 10 -3 2")
    (tmp_path / "model").write_text(text)
    model = read(tmp_path / "model")
    found, of_text = (audit(model, X, labels, C=0.5) for labels in (y, y.astype(str)))
    assert of_text.excess == pytest.approx(found.excess, rel=1e-6, abs=1e-9)


def test_a_plus_one_of_the_data_is_the_larger_label_of_a_file(tmp_path: Path) -> None:
    X, y = DATA["iris"]
    X, y = X[y < 2], y[y < 2]
    estimator = LinearSVC(C=0.5, random_state=0).fit(X, y)
    values = [*estimator.coef_[0], *estimator.intercept_]
    header = ["solver_type L2R_L2LOSS_SVC_DUAL", "nr_class 2", "label 1 -1"]
    header += [f"nr_feature {X.shape[1]}", "bias 1", "w"]
    (tmp_path / "model").write_text("\n".join([*header, *map(repr, map(float, values))]))
    found: Any = audit(read(tmp_path / "model"), X, np.array(["-1", "+1"])[y], C=0.5)
    assert found.relative_excess[1] < 1e-3
