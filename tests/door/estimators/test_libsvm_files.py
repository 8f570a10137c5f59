"""Model files of LIBSVM and LIBLINEAR, read back by the audit and by both programs."""

from __future__ import annotations

import io
import pickle
import re
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline

from equimargin.estimators import (
    MarginClassifier,
    MarginRanker,
    MarginRegressor,
    write_liblinear_model,
    write_libsvm_model,
)
from equimargin.proofs import audit
from equimargin.proofs.foreign_files import read
from equimargin.proofs.foreign_machines import Machines, stated_for_classes
from equimargin.proofs.foreign_models import Model
from equimargin.svm import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM

DIGITS = load_digits()
ROWS = np.flatnonzero(DIGITS.target < 4)[::7]
X, Y = DIGITS.data[ROWS] / 16, DIGITS.target[ROWS]
TWO = np.where(Y % 2, 5, -3)
TARGETS = X[:, 20] - 0.3 * X[:, 30] ** 2
GRAM = (1 + X @ X.T / 9) ** 2
CLASSIFIERS = [
    pytest.param(MarginClassifier(), X, TWO, id="linear"),
    pytest.param(MarginClassifier(bias="penalized"), X, TWO, id="linear, penalised"),
    pytest.param(MarginClassifier(kernel="rbf", bias="penalized"), X, TWO, id="rbf, penalised"),
    pytest.param(MarginClassifier(kernel="poly", gamma=0.1, coef0=1.0), X, TWO, id="poly"),
    pytest.param(MarginClassifier(kernel="precomputed"), GRAM, TWO, id="precomputed"),
    pytest.param(MarginClassifier(kernel="rbf"), sparse.csr_array(X), TWO, id="sparse"),
    pytest.param(MarginClassifier(), X, Y, id="linear, 4 classes"),
    pytest.param(MarginClassifier(kernel="rbf", loss="squared_hinge"), X, Y, id="rbf, 4 classes"),
    pytest.param(MarginClassifier(kernel="precomputed"), GRAM, Y, id="precomputed, 4 classes"),
]
REGRESSORS = [
    pytest.param(MarginRegressor(epsilon=0.01), X, TARGETS, id="linear regression"),
    pytest.param(MarginRegressor(kernel="rbf", epsilon=0.01), X, TARGETS, id="rbf regression"),
]
MACHINES = [
    pytest.param(SVC(), X, Y, id="SVC"),
    pytest.param(NuSVC(nu=0.2), X, TWO, id="NuSVC"),
    pytest.param(NuSVC(nu=0.2, kernel="linear"), X, Y, id="NuSVC, linear"),
    pytest.param(NuSVC(nu=0.2, kernel="precomputed"), GRAM, Y, id="NuSVC, precomputed"),
    pytest.param(SVR(), sparse.csr_array(X), TARGETS, id="SVR"),
    pytest.param(NuSVR(), X, TARGETS, id="NuSVR"),
    pytest.param(OneClassSVM(nu=0.2), X, TARGETS, id="OneClassSVM"),
]


@pytest.mark.parametrize(("estimator", "points", "targets"), MACHINES)
def test_libsvm_file_of_a_machine_of_scikit_learns_names_has_its_function(
    estimator: Any, points: Any, targets: Any, tmp_path: Path
) -> None:
    estimator.fit(points, targets)
    write_libsvm_model(estimator, tmp_path / "model")
    text = (tmp_path / "model").read_text()
    kind = {"SVC": "c_svc", "NuSVC": "nu_svc", "SVR": "epsilon_svr", "NuSVR": "nu_svr"}
    assert text.startswith(f"svm_type {kind.get(type(estimator).__name__, 'one_class')}\n")
    # The audit reads the functions of c_svc and epsilon_svr.
    as_a_cost = re.sub("nu_svc", "c_svc", re.sub("nu_svr|one_class", "epsilon_svr", text))
    (tmp_path / "model").write_text(as_a_cost)
    model = read(tmp_path / "model")
    models = [m.model for m in model.machines] if isinstance(model, Machines) else [model]
    found = np.column_stack([function(one, points) for one in models])
    assert_close(found, estimator._evaluated(points))


def function(model: Any, points: Any) -> np.ndarray:
    """Return the decision values of a model without the code that wrote it."""
    if model.w is not None:
        return np.asarray(points @ model.w + model.b)
    if model.support is not None:
        return np.asarray(points[:, model.support] @ model.coefficients + model.b)
    width = points.shape[1]
    vectors = np.zeros((len(model.coefficients), width))
    vectors[:, : model.vectors.shape[1]] = model.vectors.toarray()
    dense = points.toarray() if sparse.issparse(points) else points
    return np.asarray(model.claimed.kernel.block(dense, vectors) @ model.coefficients + model.b)


def assert_close(found: Any, wanted: Any) -> None:
    """Compare to 1e-12, relative to the largest value."""
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())


@pytest.mark.parametrize(("estimator", "points", "targets"), [*CLASSIFIERS, *REGRESSORS])
def test_a_libsvm_file_has_the_function_of_the_estimator(
    estimator: Any, points: Any, targets: Any, tmp_path: Path
) -> None:
    estimator.fit(points, targets)
    write_libsvm_model(estimator, tmp_path / "model")
    model = read(tmp_path / "model")
    wanted = estimator._evaluated(points)
    models = [m.model for m in model.machines] if isinstance(model, Machines) else [model]
    assert len(models) == wanted.shape[1]
    assert_close(np.column_stack([function(one, points) for one in models]), wanted)


@pytest.mark.parametrize(("estimator", "points", "targets"), [*CLASSIFIERS, *REGRESSORS])
def test_libsvm_computes_the_values_of_the_estimator(
    estimator: Any, points: Any, targets: Any, tmp_path: Path
) -> None:
    reason = "libsvm-official is not installed"
    svmutil = pytest.importorskip("libsvm.svmutil", reason=reason)
    estimator.fit(points, targets)
    write_libsvm_model(estimator, tmp_path / "model")
    model = svmutil.svm_load_model(str(tmp_path / "model"))
    given = estimator.kernel == "precomputed"
    rows = points.toarray() if sparse.issparse(points) else points
    rows = np.column_stack([np.arange(1.0, len(rows) + 1), rows]) if given else rows
    nodes = [{k if given else k + 1: v for k, v in enumerate(row)} for row in rows.tolist()]
    labels, _, values = svmutil.svm_predict(targets.tolist(), nodes, model, "-q")
    if isinstance(estimator, MarginRegressor):
        assert_close(labels, estimator.predict(points))
        return
    k = len(estimator.classes_)
    pairs = list(combinations(range(k), 2))
    order = [pairs.index((k - 1 - q, k - 1 - p)) for p, q in pairs]
    assert_close(values, estimator._evaluated(points)[:, order])
    assert np.mean(labels == estimator.predict(points)) > 0.99


def test_libsvm_computes_the_probabilities_of_the_estimator(tmp_path: Path) -> None:
    svmutil = pytest.importorskip("libsvm.svmutil", reason="libsvm-official is not installed")
    estimator = MarginClassifier(kernel="rbf", probability=True).fit(X, Y)
    write_libsvm_model(estimator, tmp_path / "model")
    model = svmutil.svm_load_model(str(tmp_path / "model"))
    nodes = [{k + 1: v for k, v in enumerate(row)} for row in X.tolist()]
    _, _, values = svmutil.svm_predict(Y.tolist(), nodes, model, "-q -b 1")
    # LIBSVM iterates to 0.005 / k.
    np.testing.assert_allclose(np.array(values)[:, ::-1], estimator.predict_proba(X), atol=2e-3)


LINEAR = [
    MarginClassifier(),
    MarginClassifier(bias=False),
    MarginClassifier(loss="squared_hinge", bias="penalized"),
    MarginRegressor(epsilon=0.01),
    MarginRegressor(epsilon=0.01, loss="squared_hinge"),
]


@pytest.mark.parametrize("estimator", LINEAR, ids=range(len(LINEAR)))
def test_liblinear_computes_the_values_of_the_estimator(estimator: Any, tmp_path: Path) -> None:
    liblinearutil = pytest.importorskip(
        "liblinear.liblinearutil", reason="liblinear-official is not installed"
    )
    targets = TARGETS if isinstance(estimator, MarginRegressor) else TWO
    estimator.fit(X, targets)
    write_liblinear_model(estimator, tmp_path / "model")
    model = liblinearutil.load_model(str(tmp_path / "model"))
    labels, _, values = liblinearutil.predict(targets, sparse.csr_matrix(X), model, "-q")
    if isinstance(estimator, MarginRegressor):
        assert_close(labels, estimator.predict(X))
    else:
        assert_close(np.ravel(values), estimator.decision_function(X))
        assert (labels == estimator.predict(X)).all()


@pytest.mark.parametrize(
    ("estimator", "kind", "free_bias"),
    [
        (MarginClassifier(bias="penalized"), "L2R_L1LOSS_SVC_DUAL", False),
        (MarginClassifier(bias=False, loss="squared_hinge"), "L2R_L2LOSS_SVC_DUAL", False),
        (MarginClassifier(loss="squared_hinge"), "L2R_L2LOSS_SVC", True),
    ],
    ids=["hinge", "no bias", "free bias"],
)
def test_a_liblinear_file_is_audited_as_optimal(
    estimator: Any, kind: str, free_bias: bool, tmp_path: Path
) -> None:
    estimator.fit(X, TWO)
    write_liblinear_model(estimator, tmp_path / "model")
    model = read(tmp_path / "model")
    assert isinstance(model, Model)
    assert model.source == f"LIBLINEAR {kind}"
    assert_close(function(model, X), estimator.decision_function(X))
    found = audit(stated_for_classes(model, free_bias=free_bias), X, TWO, C=1.0)
    assert found.relative_excess[1] < 1e-6


LINEAR_MACHINES = [
    pytest.param(LinearSVC(C=0.1), TWO, id="two classes"),
    pytest.param(LinearSVC(C=0.1, loss="hinge", intercept_scaling=3.0), Y, id="four classes"),
    pytest.param(LinearSVC(C=0.1, fit_intercept=False), Y, id="no bias"),
    pytest.param(LinearSVR(C=0.1, epsilon=0.01), TARGETS, id="regression"),
    pytest.param(
        LinearSVR(C=0.1, loss="squared_epsilon_insensitive", fit_intercept=False),
        TARGETS,
        id="squared, no bias",
    ),
]


@pytest.mark.parametrize(("estimator", "y"), LINEAR_MACHINES)
def test_a_linear_machine_is_audited_as_optimal_from_its_liblinear_file(
    estimator: Any, y: Any, tmp_path: Path
) -> None:
    estimator.set_params(tol=1e-8).fit(X, y)
    write_liblinear_model(estimator, tmp_path / "model")
    model = read(tmp_path / "model")
    epsilon = getattr(estimator, "epsilon", None)
    assert audit(model, X, y, C=0.1, epsilon=epsilon).relative_excess[1] < 1e-6
    machines = [m.model for m in model.machines] if isinstance(model, Machines) else [model]
    values = np.column_stack([function(machine, X) for machine in machines])
    of_estimator = getattr(estimator, "decision_function", estimator.predict)(X)
    assert_close(values, of_estimator.reshape(values.shape))


@pytest.mark.parametrize(("estimator", "y"), LINEAR_MACHINES)
def test_liblinear_predicts_as_a_linear_machine(estimator: Any, y: Any, tmp_path: Path) -> None:
    liblinearutil = pytest.importorskip(
        "liblinear.liblinearutil", reason="liblinear-official is not installed"
    )
    write_liblinear_model(estimator.fit(X, y), tmp_path / "model")
    model = liblinearutil.load_model(str(tmp_path / "model"))
    predicted, _, _ = liblinearutil.predict(y, sparse.csr_matrix(X), model, "-q")
    assert_close(np.asarray(predicted), estimator.predict(X))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_libsvm_file_of_four_classes_is_audited_with_its_weights(
    kernel: str, tmp_path: Path
) -> None:
    weights = {0: 2.0, 1: 0.5, 2: 1.0, 3: 1.0}
    estimator = MarginClassifier(C=0.05, kernel=kernel, class_weight=weights).fit(X, Y)
    write_libsvm_model(estimator, tmp_path / "model")
    model = read(tmp_path / "model")
    found: Any = audit(stated_for_classes(model, list(weights.values())), X, Y, C=0.05)
    assert list(found.machines) == ["0 vs 1", "0 vs 2", "0 vs 3", "1 vs 2", "1 vs 3", "2 vs 3"]
    assert found.relative_excess[1] < 1e-6
    with pytest.raises(ValueError, match=r"^class_weight must be 4 finite numbers"):
        stated_for_classes(model, [1.0, 2.0])


def test_rounded_vectors_of_four_classes_are_the_nearest_rows_on_request(tmp_path: Path) -> None:
    points = X / 3
    write_libsvm_model(MarginClassifier(kernel="rbf").fit(points, Y), tmp_path / "model")
    text = (tmp_path / "model").read_text()
    # As LIBSVM writes them.
    digits = re.sub(r":(\S+)", lambda value: f":{float(value[1]):.8g}", text)
    (tmp_path / "rounded").write_text(digits)
    exact: Any = audit(read(tmp_path / "model"), points, Y, C=1.0)
    model = read(tmp_path / "rounded")
    for nearest_rows, sentence in ((True, "are taken to be those rows"), (False, "as the file")):
        found: Any = audit(model, points, Y, C=1.0, nearest_rows=nearest_rows)
        assert all(sentence in machine.vectors for machine in found.machines.values())
        assert (found.excess == exact.excess) == nearest_rows


@pytest.mark.parametrize(
    ("write", "make", "reason"),
    [
        (write_libsvm_model, lambda: MarginClassifier(), "not fitted yet"),
        (write_libsvm_model, lambda: MarginRanker().fit(X, Y), "not MarginRanker"),
        (
            write_libsvm_model,
            lambda: make_pipeline(MarginClassifier()).fit(X, Y),
            "not Pipeline; of a pipeline, pass the last step",
        ),
        (
            write_libsvm_model,
            lambda: MarginClassifier().fit(X, np.where(Y % 2, "odd", "even")),
            "32 bits, not 'even'; number the classes",
        ),
        (write_libsvm_model, lambda: MarginClassifier().fit(X, TWO * 2**40), r"32 bits, not -3\d+"),
        (
            write_liblinear_model,
            lambda: MarginClassifier(kernel="rbf").fit(X, TWO),
            "has the rbf kernel; use write_libsvm_model",
        ),
        (
            write_liblinear_model,
            lambda: MarginClassifier().fit(X, Y),
            "each pair of its 4 classes; use write_libsvm_model",
        ),
    ],
    ids=range(7),
)
def test_what_cannot_be_written_is_a_sentence_and_leaves_the_file(
    write: Callable[..., None], make: Callable[[], Any], reason: str, tmp_path: Path
) -> None:
    file = tmp_path / "model"
    file.write_text("before")
    with pytest.raises(ValueError, match=reason):
        write(make(), file)
    assert (file.read_text(), list(tmp_path.iterdir())) == ("before", [file])


def test_subclass_of_a_share_machine_has_its_type(tmp_path: Path) -> None:
    class Own(NuSVC):
        """Class of a user."""

    write_libsvm_model(Own(nu=0.3).fit(X, TWO), tmp_path / "model")
    assert (tmp_path / "model").read_text().startswith("svm_type nu_svc")


class Recorder(pickle.Unpickler):
    """Reader of a pickle that stores the names of this package's types."""

    def find_class(self, module: str, name: str) -> Any:
        if module.startswith("equimargin."):
            NAMES.add(f"{module}.{name}")
        return super().find_class(module, name)


NAMES: set[str] = set()


def test_the_page_lists_the_types_of_a_saved_estimator() -> None:
    """skops asks the reader to trust these, and pickle needs them."""
    page = (Path(__file__).parents[3] / "docs/how_to/save_a_model.md").read_text()
    listed = set(re.findall(r'"(equimargin\.[\w.]+)"', page))
    NAMES.clear()
    fitted = MarginClassifier(kernel="rbf", probability=True).fit(X, TWO)
    Recorder(io.BytesIO(pickle.dumps(fitted))).load()
    assert listed == NAMES
