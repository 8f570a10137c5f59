"""Audits of fitted estimators of other packages, which are skipped without the package."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from sklearn.svm import SVC, SVR

from equimargin.proofs import audit
from equimargin.proofs.audit import Audit, MachinesAudit
from equimargin.proofs.foreign_packages import of_fitted

pytestmark = pytest.mark.filterwarnings("ignore")
RANDOM = np.random.default_rng(4)
X = RANDOM.normal(size=(60, 4))
NOISY = X[:, 0] - X[:, 1] ** 2 + 0.4 * RANDOM.normal(size=60)
Y = np.where(NOISY > -0.7, 7, 3)
LEVELS = np.digitize(NOISY, [-1.2, -0.2])
WORST = {"sklearnex": 1e-3, "thundersvm": 1e-3, "mord": 1e-3, "snapml": 0.1, "torchkm": 0.01}
"""Bounds of the relative excess at the tolerances below; a wrong problem is further away."""


def package(name: str) -> Any:
    return pytest.importorskip(name, reason=f"{name} is not installed")


def test_scikit_learn_intelex_is_audited_as_scikit_learn() -> None:
    svm = package("sklearnex.svm")
    for model, y in ((svm.SVC(C=2.0), Y), (svm.NuSVC(nu=0.3), Y), (svm.SVR(), NOISY)):
        found = audit(model.fit(X, y), X, y)
        assert found.relative_excess[1] < WORST["sklearnex"]
    machines = audit(svm.SVC().fit(X, LEVELS), X, LEVELS)
    assert isinstance(machines, MachinesAudit)
    assert machines.relative_excess[1] < WORST["sklearnex"]


def test_mord_is_audited_where_it_solves_a_problem_of_scikit_learn() -> None:
    mord = package("mord")
    for model, family in (
        (mord.LAD(max_iter=10**5), "svr.nobias_l1"),
        (mord.OrdinalRidge(), "svr.l2"),
    ):
        found = audit(model.fit(X, LEVELS), X, LEVELS)
        assert (found.source, found.problem.family) == (type(model).__name__, family)
        assert found.relative_excess[1] < WORST["mord"]
    with pytest.raises(ValueError, match="not LogisticAT of mord"):
        audit(mord.LogisticAT().fit(X, LEVELS), X, LEVELS)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "polynomial"])
def test_thundersvm_is_audited_at_its_own_function(kernel: str) -> None:
    svm = package("thundersvm")
    how = {"kernel": kernel, "C": 0.1, "gamma": 0.3, "coef0": 1.0, "degree": 2, "tol": 1e-5}
    # Single precision rounds C = 0.1 up. In one of the two the first label is the larger.
    for y in (Y, 10 - Y):
        found = audit(svm.SVC(**how).fit(X, y), X, y)
        assert isinstance(found, Audit)
        assert found.relative_excess[1] < 1e-5
    regression = svm.SVR(epsilon=0.05, **how).fit(X, NOISY)
    assert audit(regression, X, NOISY).relative_excess[1] < WORST["thundersvm"]
    machines = audit(svm.SVC(**how).fit(X, LEVELS), X, LEVELS)
    assert isinstance(machines, MachinesAudit)
    assert machines.relative_excess[1] < 1e-4
    with pytest.raises(ValueError, match="class_weight of ThunderSVM"):
        audit(svm.SVC(class_weight={3: 2.0, 7: 1.0}).fit(X, Y), X, Y)


FIT_SNAPML = """
import json, sys
import numpy as np
from snapml import SupportVectorMachine
how, X, y = json.load(sys.stdin)
model = SupportVectorMachine(**how).fit(np.array(X), np.array(y))
fitted = {"coef_": model.coef_, "intercept_": model.intercept_}
fitted |= {"values": model.decision_function(np.array(X))}
fitted = {name: np.asarray(value).tolist() for name, value in fitted.items()}
kept = ("loss", "regularizer", "fit_intercept", "intercept_scaling", "class_weight", "kernel")
print(json.dumps(fitted | {name: getattr(model, name) for name in (*kept, "normalize")}))
"""
"""Program that prints the attributes of a fit.

Snap ML makes its process flush subnormal numbers to zero, which hypothesis refuses.
"""


@pytest.mark.skipif(find_spec("snapml") is None, reason="snapml is not installed")
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("scaling", [0.0, 3.0])
def test_snapml_is_audited_with_its_constant_in_the_norm(loss: str, scaling: float) -> None:
    how: dict[str, Any] = {"fit_intercept": scaling > 0, "random_state": 0}
    how |= {"intercept_scaling": scaling or 1.0}
    how |= {"loss": loss, "regularizer": 2.0, "tol": 1e-9, "max_iter": 10**4}
    done = subprocess.run(
        [sys.executable, "-c", FIT_SNAPML],
        input=json.dumps([how, X.tolist(), Y.tolist()]),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    kind = type("SupportVectorMachine", (), {"__module__": "snapml.SupportVectorMachine"})
    model: Any = kind()
    vars(model).update(json.loads(done.stdout.splitlines()[-1]))
    found = audit(model, X, Y)
    slacks = np.maximum(1 - np.where(Y > 5, 1, -1) * np.ravel(model.values), 0)
    b = float(np.ravel(model.intercept_)[0]) if scaling else 0.0
    own = (float(np.sum(np.square(model.coef_))) + b**2) / 2
    own += 0.5 * float(np.sum(slacks ** (1 + (loss == "squared_hinge"))))
    assert found.objective.upper == pytest.approx(own, rel=1e-5)
    assert found.relative_excess[1] < WORST["snapml"]


def test_torchkm_is_audited_at_the_cost_that_it_chose() -> None:
    estimators = package("torchkm.estimators")
    how = {"nC": 2, "Cs": [4.0, 0.5], "tol": 1e-7, "max_iter": 10**4, "device": "cpu"}
    for more in (
        {"kernel": "rbf", "rbf_sigma": 0.2},
        {"kernel": "poly", "poly_degree": 2, "poly_gamma": 0.5},
        {"kernel": "linear"},
    ):
        model = estimators.TorchKMSVC(random_state=0, **how, **more).fit(X, Y)
        found = audit(model, X, Y)
        assert model.best_C_ == found.C
        signs, values = np.where(Y > 5, 1, -1), model.decision_function(X)
        norm2 = model.alpha_ @ (values - model.intercept_)
        own = norm2 / 2 + found.C * np.maximum(1 - signs * values, 0).sum()
        assert found.objective.upper == pytest.approx(own, rel=1e-9)
        assert found.relative_excess[1] < WORST["torchkm"]
        assert not np.isfinite(found.own.lower)
    with pytest.raises(ValueError, match="low_rank=False"):
        audit(
            estimators.TorchKMSVC(low_rank=True, nys_k=9, num_landmarks=20, **how).fit(X, Y), X, Y
        )


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_skordinal_svor_is_audited_with_its_thresholds(kernel: str) -> None:
    kind = package("skordinal.classifiers").SVOR
    names = np.array([2, 5, 9])[LEVELS]
    model = kind(C=0.5, kernel=kernel, gamma=0.3, tol=1e-5).fit(X, names)
    found = audit(model, X, names)
    f, b = model.predict_projection(X), model.thresholds_
    signs = np.where(LEVELS[:, None] > np.arange(2), 1, -1)
    beta = np.asarray(model.model_["alpha"])
    own = beta @ f / 2 + 0.5 * np.maximum(1 - signs * (f[:, None] - b), 0).sum()
    assert found.problem.family == "ord.implicit"
    assert found.objective.upper == pytest.approx(float(own), rel=1e-9)
    assert found.relative_excess[1] < 1e-3
    with pytest.raises(ValueError, match="the SVOR of skordinal was fitted on 60 rows, and"):
        audit(model, np.vstack([X, X]), np.tile(names, 2))
    for of_other_rows in (X[::-1], X[:, :2]):
        with pytest.raises(ValueError, match="the model"):
            audit(model, of_other_rows, names[::-1])
    of_two = kind(kernel=kernel, tol=1e-5).fit(X, Y)
    assert audit(of_two, X, Y).relative_excess[1] < 1e-3
    with pytest.raises(ValueError, match="constraints='implicit' can be audited"):
        audit(kind(constraints="explicit").fit(X, LEVELS), X, LEVELS)


class OfCuml:
    """SVC or SVR with the documented conversion of cuML, and its single precision."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def as_sklearn(self) -> Any:
        self.model.dual_coef_ = np.float32(self.model.dual_coef_)
        self.model.intercept_ = np.float32(self.model.intercept_)
        return self.model


def test_cuml_is_audited_by_its_conversion_in_single_precision() -> None:
    for model, y in ((SVC(C=0.1, tol=1e-6), Y), (SVR(C=0.1, tol=1e-6), NOISY)):
        kind = type(type(model).__name__, (OfCuml,), {"__module__": "cuml.svm.svc"})
        found = audit(kind(model.fit(X, y)), X, y)
        assert found.source == f"{type(model).__name__} of cuml"
        assert found.relative_excess[1] < 1e-5
        # The multipliers at the cost are above it, by the rounding of 0.1.
        assert found.own_relative_excess < 1e-5


def test_estimator_of_another_version_is_a_sentence() -> None:
    for home, name in (("torchkm", "TorchKMSVC"), ("thundersvm", "SVC"), ("cuml", "SVR")):
        kind = type(name, (), {"__module__": f"{home}.any"})
        with pytest.raises(ValueError, match=f"the {name} of {home} is not fitted, or of another"):
            of_fitted(kind())
