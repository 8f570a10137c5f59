"""Fitted estimators of packages other than scikit-learn, and their problems.

    cuML          SVC, SVR of one function    as scikit-learn's, by `as_sklearn`
    ThunderSVM    SVC, SVR                    svm.soft and svr.l1, in single precision
    Snap ML       SupportVectorMachine        as LinearSVC, with C = 1 / regularizer
    TorchKM       TorchKMSVC                  svm.soft at C = `best_C_`
    skordinal     SVOR                        ord.implicit; its linear kernel is x.z / d

The classes of scikit-learn-intelex and mord that solve a problem of scikit-learn are
subclasses of scikit-learn's.

References
----------
Documentation of cuML 25.12, ThunderSVM 0.3.3, Snap ML 1.17, TorchKM 4.3 and skordinal 0.2.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from equimargin.formulations.kernels.kernel import Kernel, polynomial
from equimargin.proofs.foreign_files import read
from equimargin.proofs.foreign_machines import AnyModel, JointModel, of_classifier
from equimargin.proofs.foreign_models import (
    ClaimedProblem,
    Model,
    make_kernel,
    of_values,
    unwrapped,
)


def of_fitted(estimator: Any) -> AnyModel:
    """Convert a fitted estimator of scikit-learn or of the packages above.

    Parameters
    ----------
    estimator : estimator
        Fitted estimator, a pipeline that ends in one, or a parameter search that found one.

    Raises
    ------
    ValueError
        As in `of_classifier`, or if the parameters of an estimator make another problem.
    """
    last, steps, at_end = unwrapped(estimator)
    kind, home = type(last).__name__, type(last).__module__.partition(".")[0]
    convert = CONVERTERS.get((home, kind))
    if convert is None:
        return of_classifier(estimator)
    try:
        model = convert(last)
    except (AttributeError, KeyError) as missing:
        raise ValueError(
            f"the {kind} of {home} is not fitted, or of another version: {missing}"
        ) from None
    return replace(model, source=f"{kind} of {home}{at_end}", steps=steps)


def _of_cuml(estimator: Any) -> AnyModel:
    """Convert an SVC or SVR of cuML."""
    if len(getattr(estimator, "classes_", ())) > 2:
        raise ValueError(
            "an SVC of cuML of two classes can be audited; fit one for each pair of classes"
        )
    return of_classifier(estimator.as_sklearn())


def _of_thundersvm(estimator: Any) -> AnyModel:
    """Convert an SVC or SVR of ThunderSVM from its file, which rounds only its rho."""
    if estimator.class_weight:
        raise ValueError(
            "class_weight of ThunderSVM cannot be read from the estimator; save the model "
            "(save_to_file) and state the weights with its file (--class-weight)"
        )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model"
        estimator.save_to_file(str(file))
        lines = file.read_text(encoding="ascii").splitlines()
        rho = " ".join(map(repr, np.ravel(estimator.intercept_).tolist()))
        exact = [f"rho {rho}" if line.startswith("rho ") else line for line in lines]
        file.write_text("\n".join(exact), encoding="ascii")
        model = read(file)
    assert not isinstance(model, JointModel)
    epsilon = float(estimator.epsilon) if type(estimator).__name__ == "SVR" else None

    def state(machine: Model) -> Model:
        claimed = replace(machine.claimed, C=float(estimator.C), epsilon=epsilon)
        return replace(machine, claimed=claimed, assumed="")

    if isinstance(model, Model):
        return state(model)
    machines = (replace(machine, model=state(machine.model)) for machine in model.machines)
    return replace(model, machines=tuple(machines))


def _of_snapml(estimator: Any) -> Model:
    """Convert a SupportVectorMachine of Snap ML; its `intercept_` is the constant's weight."""
    if estimator.class_weight is not None or estimator.kernel != "linear" or estimator.normalize:
        raise ValueError(
            "a SupportVectorMachine with kernel='linear', normalize=False and no class_weight can "
            "be audited; fit it so"
        )
    if min(np.atleast_2d(estimator.coef_).shape) > 1:
        raise ValueError(
            "a SupportVectorMachine of two classes can be audited; fit one for each class"
        )
    scaling = float(estimator.intercept_scaling)
    return of_values(
        {
            "kind": "LinearSVC",
            "coef": estimator.coef_,
            "intercept": scaling * float(np.ravel(estimator.intercept_)[0])
            if estimator.fit_intercept
            else 0.0,
            "C": 1 / float(estimator.regularizer),
            "loss": estimator.loss,
            "fit_intercept": bool(estimator.fit_intercept),
            "intercept_scaling": scaling,
        }
    )


def _of_torchkm(estimator: Any) -> Model:
    """Convert a TorchKMSVC, which has a coefficient for every row, and no multipliers."""
    if estimator.low_rank:
        raise ValueError(
            "a TorchKMSVC with low_rank=True has the kernel of its landmarks, which is not among "
            "the kernels; fit it with low_rank=False"
        )
    sigma = estimator.kernel_state_.get("sigma")
    parameters = {
        # Its RBF is exp(-2 sigma |x - z|^2).
        "gamma": estimator.poly_gamma if sigma is None else 2 * sigma,
        "degree": estimator.poly_degree,
        "coef0": estimator.poly_coef0,
    }
    kernel = make_kernel(estimator.kernel, parameters)
    claimed = ClaimedProblem("classification", kernel, "hinge", float(estimator.best_C_))
    b, alpha = float(estimator.intercept_), np.asarray(estimator.alpha_, dtype=np.float64)
    rows = np.arange(len(alpha))
    X = estimator.X_fit_
    return Model("", claimed, b, None, alpha, rows, X, has_multipliers=False)


def _of_svor(estimator: Any) -> Model:
    """Convert an SVOR of skordinal with implicit constraints."""
    if estimator.constraints != "implicit":
        raise ValueError(
            "an SVOR with constraints='implicit' can be audited, that is the problem "
            "ord.implicit; fit it so"
        )
    beta = np.asarray(estimator.model_["alpha"], dtype=np.float64)
    kernel = _kernel_of_svor(estimator)
    claimed = ClaimedProblem("ordinal", kernel, "hinge", float(estimator.C))
    rows, thresholds = np.arange(len(beta)), np.asarray(estimator.thresholds_, dtype=np.float64)
    X = np.array([node["point"] for node in estimator.model_["pairs"]["data_nodes_list"]])
    return Model(
        "", claimed, 0.0, None, beta, rows, X, thresholds=thresholds, has_multipliers=False
    )


def _kernel_of_svor(estimator: Any) -> Kernel:
    """Return the kernel of an SVOR, whose products of features are divided by their number."""
    if estimator.kernel == "rbf":
        return make_kernel("rbf", {"gamma": estimator.model_["kappa"]})
    degree, constant = (1, 0.0) if estimator.kernel == "linear" else (estimator.degree, 1.0)
    return polynomial(degree, 1 / estimator.n_features_in_, constant)


CONVERTERS: Mapping[tuple[str, str], Callable[[Any], AnyModel]] = {
    ("cuml", "SVC"): _of_cuml,
    ("cuml", "SVR"): _of_cuml,
    ("thundersvm", "SVC"): _of_thundersvm,
    ("thundersvm", "SVR"): _of_thundersvm,
    ("snapml", "SupportVectorMachine"): _of_snapml,
    ("torchkm", "TorchKMSVC"): _of_torchkm,
    ("skordinal", "SVOR"): _of_svor,
}
"""Function that converts a class, by its package and its name."""
