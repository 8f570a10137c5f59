"""Models of other programs: scikit-learn estimators, coefficient files, LIBSVM, LIBLINEAR.

    f(x) + b = sum_k coefficient_k k(support_k, x) + b        or        w.x + b

coefficient_k is y_k alpha_k for classification, and alpha_k - alphahat_k for
regression. The larger of two labels is the positive class. An estimator may be the last
step of a pipeline.

Coefficients in a file are NPZ arrays or a JSON object with scikit-learn's names:

    kind            "SVC", "SVR" or "LinearSVC"
    intercept       b (LinearSVC: the attribute intercept_, 0 without an intercept)
    SVC, SVR        kernel ("linear", "poly", "rbf" or "precomputed"), gamma (a number),
                    degree, coef0, dual_coef (n,), support (n,), the indices in the data,
                    from 0, of the points with these coefficients; optional
                    support_vectors (n, d), with which the data are compared
    LinearSVC       coef (d,), loss ("squared_hinge" by default), fit_intercept (true),
                    intercept_scaling (1)
    optional        C, epsilon, class_weight (of the smaller label, of the larger)

References
----------
Manuals of scikit-learn 1.x, LIBSVM 3.x and LIBLINEAR 2.x.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equimargin.formulations.kernels.kernel import (
    Kernel,
    Precomputed,
    linear,
    polynomial,
    precomputed,
    rbf,
)
from equimargin.formulations.numeric.archive import Archive
from equimargin.formulations.numeric.arguments import format_error
from equimargin.formulations.numeric.arrays import Array, dense, is_sparse
from equimargin.formulations.problem.choices import LOSSES, LossName

Task = Literal["classification", "regression"]
LOSS_OF_LIBLINEAR: Mapping[str, LossName] = {
    "L2R_L2LOSS_SVC": "squared_hinge",
    "L2R_L2LOSS_SVC_DUAL": "squared_hinge",
    "L2R_L1LOSS_SVC_DUAL": "hinge",
}
"""Loss of every LIBLINEAR solver whose models can be audited, by the solver's name."""
NO_CLASS_WEIGHTS = "no class weights (-wi)"
"""Assumption about a LIBSVM or LIBLINEAR classifier: class weights of 1 in the training.

Its file does not contain them.
"""
PENALISED_BIAS = "a penalised bias (no -R)"
"""Assumption about a LIBLINEAR model: its bias was part of the norm |w|.

Its file does not say if the bias was excluded.
"""
FREE_BIAS = "L2R_L2LOSS_SVC"
"""LIBLINEAR's solver whose bias may be excluded from the norm (-R).

It is the only such solver whose models can be audited.
"""
READING_ERRORS = (ValueError, TypeError, IndexError, ArithmeticError, MemoryError, RuntimeError)
"""Exceptions of Python and numpy for a file that is not in the format of its first bytes."""


@dataclass(frozen=True, eq=False)
class ClaimedProblem:
    """Problem that a model claims to solve, with the model's parameters.

    Parameters
    ----------
    task : Task
        Learning task.
    kernel : Kernel
        Kernel k.
    loss : LossName
        Loss function of the slacks.
    C, epsilon : float, optional
        Parameters; None if the model does not have them.
    class_weight : tuple[float, float], default (1.0, 1.0)
        Factors of C for the smaller and the larger label.
    free_bias : bool, default True
        True if there is a bias outside the norm.
    constant : float, optional
        Value of a feature that is appended to every point, and whose weight gives the
        bias; None without such a feature.
    """

    task: Task
    kernel: Kernel
    loss: LossName
    C: float | None = None
    epsilon: float | None = None
    class_weight: tuple[float, float] = (1.0, 1.0)
    free_bias: bool = True
    constant: float | None = None

    @property
    def extra_features(self) -> int:
        """Number of columns appended to the data, 0 or 1; a constant 1 is added to the kernel."""
        return int(self.constant is not None and self.constant != 1.0)


@dataclass(frozen=True, eq=False)
class Model:
    """Coefficients and claimed problem of a model, with equimargin's signs.

    Parameters
    ----------
    source : str
        Kind of the model, as text.
    claimed : ClaimedProblem
        Problem that it claims to solve.
    b : float
        Bias that the model's predictions add to w.x or the kernel sum.
    w : ndarray or None of shape (d,)
        Weights of a linear model.
    coefficients : ndarray or None of shape (n,)
        Coefficients of the support vectors, None for a model with w. The support
        vectors are rows of the data, given by their indices (support, (n,)), by their
        features (vectors, (n, d), dense or sparse), or by both, which must then agree.
    assumed : str, default ""
        Assumptions on the problem that the model's file does not state, as text; empty
        if there are none.
    steps : fitted transformer or None
        Transformation of the features before the model in a pipeline; None without one.
    """

    source: str
    claimed: ClaimedProblem
    b: float
    w: Array | None = None
    coefficients: Array | None = None
    support: NDArray[np.int64] | None = None
    vectors: Any = None
    assumed: str = ""
    steps: Any = None

    def features(self, X: Any) -> Any:
        """Return the features that the pipeline passes to the model.

        Parameters
        ----------
        X : array-like or DataFrame
            Features as passed to the pipeline.

        Returns
        -------
        array-like
            Transformed features.

        Raises
        ------
        ValueError
            If a step rejects the features.
        """
        if self.steps is None:
            return X
        try:
            return self.steps.transform(X)
        except (ValueError, TypeError, KeyError, AttributeError) as reason:
            raise ValueError(
                f"the pipeline's steps before its last one reject these features: {reason}"
            ) from None


def stated(
    model: Model, class_weight: tuple[float, float] | None = None, free_bias: bool = False
) -> Model:
    """Return a model with the parameters of its training that its file lacks.

    Parameters
    ----------
    model : Model
        Model of a LIBSVM or LIBLINEAR file; any other if no parameter is added.
    class_weight : tuple of 2 float, optional
        Factors of C for the smaller and the larger label (-wi); None leaves those of
        the model.
    free_bias : bool, default False
        True if the bias of a LIBLINEAR model was excluded from the norm (-R).

    Raises
    ------
    ValueError
        If the model cannot have the parameter, or a weight is not positive and finite.
    """
    assumed, claimed = model.assumed.split(", "), model.claimed
    if class_weight is not None:
        if NO_CLASS_WEIGHTS not in assumed:
            raise ValueError(
                f"class_weight is for LIBSVM and LIBLINEAR classifiers, and this is a "
                f"{model.source}"
            )
        smaller, larger = _finite("class_weight", class_weight, 2)
        if min(smaller, larger) <= 0:
            raise ValueError(
                f"class_weight must be 2 positive numbers, not {smaller:g} and {larger:g}"
            )
        claimed = replace(claimed, class_weight=(float(smaller), float(larger)))
        assumed.remove(NO_CLASS_WEIGHTS)
    if free_bias:
        if PENALISED_BIAS not in assumed:
            raise ValueError(
                f"free_bias is for LIBLINEAR's {FREE_BIAS} with a bias of 1, which supports "
                f"-R, and this is a {model.source}"
            )
        claimed = replace(claimed, free_bias=True, constant=None)
        assumed.remove(PENALISED_BIAS)
    return replace(model, claimed=claimed, assumed=", ".join(assumed))


def of_estimator(estimator: Any) -> Model:
    """Convert a fitted scikit-learn SVC, SVR or LinearSVC to a Model.

    A pipeline that ends in one is converted too, and a parameter search whose best
    estimator is one.

    Parameters
    ----------
    estimator : estimator
        Fitted estimator.

    Raises
    ------
    ValueError
        If the estimator is of another kind or not fitted, or has more than two classes
        or a kernel that is not positive semidefinite.
    """
    kind = type(estimator).__name__
    if hasattr(estimator, "best_estimator_"):
        return of_estimator(estimator.best_estimator_)
    if kind == "Pipeline":
        last = of_estimator(estimator.steps[-1][1])
        return replace(
            last,
            source=f"{last.source} at the end of a pipeline",
            steps=estimator[:-1] if len(estimator.steps) > 1 else None,
        )
    # Imported here: files are read without scikit-learn.
    from sklearn.svm import SVC, SVR, LinearSVC

    if kind not in ("SVC", "SVR", "LinearSVC") or not isinstance(estimator, SVC | SVR | LinearSVC):
        home = type(estimator).__module__.partition(".")[0]
        own = (
            ""
            if home in ("sklearn", "builtins")
            else f" of {home}; save its coefficients under scikit-learn's names (NPZ or JSON)"
        )
        raise ValueError(f"scikit-learn's SVC, SVR and LinearSVC can be audited, not {kind}{own}")
    if not hasattr(estimator, "intercept_"):
        raise ValueError(f"the {kind} is not fitted")
    values = {"kind": kind, "intercept": estimator.intercept_, "C": estimator.C}
    classes = getattr(estimator, "classes_", None)
    if classes is not None and len(classes) != 2:
        raise ValueError(
            f"the model has {len(classes)} classes; audit one pair of classes at a time"
        )
    if kind != "SVR":
        values["class_weight"] = _class_weight(estimator, classes)
    if kind == "LinearSVC":
        if getattr(estimator, "multi_class", None) == "crammer_singer":
            raise ValueError(
                "LinearSVC with multi_class='crammer_singer' solves another problem, of two "
                "classes too, with a w for each"
            )
        if estimator.penalty != "l2":
            raise ValueError(
                "LinearSVC with penalty='l1' solves another problem, with a 1-norm of w"
            )
        names = ("loss", "fit_intercept", "intercept_scaling")
        return of_values(
            values | {"coef": estimator.coef_} | {name: getattr(estimator, name) for name in names}
        )
    if callable(estimator.kernel):
        raise ValueError(
            "a kernel that is a function cannot be audited; pass the Gram matrix, "
            "kernel='precomputed'"
        )
    values |= {
        "kernel": estimator.kernel,
        "gamma": estimator._gamma,
        "degree": estimator.degree,
        "coef0": estimator.coef0,
    }
    coefficients = estimator.dual_coef_
    values |= {"dual_coef": dense(coefficients), "support": estimator.support_}
    if estimator.kernel != "precomputed":
        values["support_vectors"] = estimator.support_vectors_
    return of_values(values | ({"epsilon": estimator.epsilon} if kind == "SVR" else {}))


def of_values(values: Mapping[str, Any]) -> Model:
    """Convert coefficients under scikit-learn's names, as listed above, to a Model.

    Parameters
    ----------
    values : mapping
        Coefficients and parameters, by name.

    Raises
    ------
    ValueError
        If a key is missing or unknown, a number is not finite, or shapes do not fit.
    """
    kind = str(_required(values, "kind"))
    if kind not in ("SVC", "SVR", "LinearSVC"):
        raise ValueError(f"the kind of a model is SVC, SVR or LinearSVC, not {kind!r}")
    # Keys of another kind count as unknown.
    own = {"coef", "loss", "fit_intercept", "intercept_scaling"}
    if kind != "LinearSVC":
        own = {"kernel", "gamma", "degree", "coef0", "dual_coef", "support", "support_vectors"}
    unknown = set(values) - own - {"kind", "intercept", "C", "class_weight", "epsilon"}
    if unknown:
        raise ValueError(f"a model of kind {kind} has no key {sorted(unknown)[0]!r}")
    b, C = _number(values, "intercept"), _optional(values, "C")
    class_weight = _finite("class_weight", values.get("class_weight", (1.0, 1.0)), 2)
    weights = float(class_weight[0]), float(class_weight[1])
    if kind == "LinearSVC":
        constant = _number({"intercept_scaling": 1.0} | dict(values), "intercept_scaling")
        if constant <= 0:
            raise ValueError(f"intercept_scaling must be positive, not {constant:g}")
        intercept = values.get("fit_intercept", True)
        if not isinstance(intercept, bool | np.bool_):
            raise ValueError(f"fit_intercept is true or false, not {intercept!r}")
        if b != 0 and not intercept:
            raise ValueError(f"fit_intercept is false, and the intercept is {b:g}")
        loss = next(
            (name for name in LOSSES if name == str(values.get("loss", "squared_hinge"))), None
        )
        if loss is None:
            raise ValueError(
                f"the loss of a LinearSVC is hinge or squared_hinge, not {values['loss']!r}"
            )
        w = _finite("coef", _required(values, "coef"))
        appended = constant if intercept else None
        claimed = ClaimedProblem(
            "classification",
            linear(),
            loss,
            C,
            class_weight=weights,
            free_bias=False,
            constant=appended,
        )
        return Model(kind, claimed, b, w)
    coefficients = _finite("dual_coef", _required(values, "dual_coef"))
    support = _whole("support", _required(values, "support"), len(coefficients))
    kernel = _kernel(str(_required(values, "kernel")), values)
    vectors = values.get("support_vectors")
    if vectors is not None and not is_sparse(vectors):
        vectors = _table(vectors, len(coefficients))
    task: Task = "classification" if kind == "SVC" else "regression"
    claimed = ClaimedProblem(task, kernel, "hinge", C, _optional(values, "epsilon"), weights)
    return Model(kind, claimed, b, coefficients=coefficients, support=support, vectors=vectors)


def read(path: str | os.PathLike[str]) -> Model:
    """Read a model file: NPZ or JSON coefficients, or a LIBSVM or LIBLINEAR model.

    Parameters
    ----------
    path : str or path-like
        Path of the file.

    Raises
    ------
    ValueError
        If the file cannot be used; the message names it with the reason.
    OSError
        If the file cannot be read.
    """
    data = Path(path).read_bytes()
    try:
        if data.startswith(b"PK"):
            return of_values(
                {
                    name: array.item() if array.ndim == 0 else array
                    for name, array in Archive(data).items()
                }
            )
        if data.lstrip().startswith(b"{"):
            return of_values(json.loads(data))
        lines = data.decode("ascii").splitlines()
        if data.startswith(b"svm_type"):
            return _libsvm(lines)
        if data.startswith(b"solver_type"):
            return _liblinear(lines)
    except READING_ERRORS as reason:
        raise ValueError(f"{Path(path).name}: {format_error(reason)}") from None
    raise ValueError(f"{Path(path).name} is no NPZ, JSON, LIBSVM or LIBLINEAR model")


def _libsvm(lines: Sequence[str]) -> Model:
    """Convert a LIBSVM model: a header, a line SV, then one line per support vector.

    A line has the coefficient and the features, rounded to 8 digits.
    """
    header, start = _header(lines, "SV")
    kind = _required(header, "svm_type")
    if kind not in ("c_svc", "epsilon_svr"):
        raise ValueError(f"LIBSVM's c_svc and epsilon_svr can be audited, not {kind}")
    if kind == "c_svc":
        _two_classes(header)
    kernel = _kernel(_required(header, "kernel_type"), header)
    rows = [line.split() for line in lines[start:] if line.strip()]
    if len(rows) != _integer(header, "total_sv"):
        raise ValueError(
            f"the model announces {header['total_sv']} support vectors and has {len(rows)}"
        )
    pairs = [[entry.partition(":")[::2] for entry in row[1:]] for row in rows]
    ends = np.cumsum([0, *map(len, pairs)])
    index = _whole("feature indices", [k for row in pairs for k, _ in row])
    entries = _finite("features", [v for row in pairs for _, v in row])
    sign = _sign(header) if kind == "c_svc" else 1.0
    coefficients = sign * _finite("coefficients", [row[0] for row in rows])
    task: Task = "classification" if kind == "c_svc" else "regression"
    claimed = ClaimedProblem(task, kernel, "hinge")
    b, source, assumed = (
        -sign * _number(header, "rho"),
        f"LIBSVM {kind}",
        NO_CLASS_WEIGHTS if kind == "c_svc" else "",
    )
    if isinstance(kernel, Precomputed):
        if index.any() or len(index) != len(rows):
            raise ValueError("with a precomputed kernel a support vector is 0:NUMBER")
        support = _whole("support vectors", entries) - 1
        return Model(
            source, claimed, b, coefficients=coefficients, support=support, assumed=assumed
        )
    # Within a row the indices ascend; steps between rows are excluded.
    if (index < 1).any() or (
        np.diff(index)[np.diff(np.repeat(np.arange(len(rows)), np.diff(ends))) == 0] <= 0
    ).any():
        raise ValueError("the features of a support vector are numbered from 1, in ascending order")
    vectors = sparse.csr_array(
        (entries, index - 1, ends), shape=(len(rows), int(index.max(initial=0)))
    )
    return Model(source, claimed, b, coefficients=coefficients, vectors=vectors, assumed=assumed)


def _liblinear(lines: Sequence[str]) -> Model:
    """Convert a LIBLINEAR model: a header, a line w, then one line per weight.

    A `bias` >= 0 in the header is the value of an appended feature, whose weight is the last.
    """
    header, start = _header(lines, "w")
    kind = _required(header, "solver_type")
    if kind not in LOSS_OF_LIBLINEAR:
        raise ValueError(f"LIBLINEAR's {', '.join(LOSS_OF_LIBLINEAR)} can be audited, not {kind}")
    _two_classes(header)
    constant, d = _number(header, "bias"), _integer(header, "nr_feature")
    w = _sign(header) * _finite(
        "w", [line.strip() for line in lines[start:] if line.strip()], d + (constant >= 0)
    )
    source, claimed = (
        f"LIBLINEAR {kind}",
        ClaimedProblem("classification", linear(), LOSS_OF_LIBLINEAR[kind], free_bias=False),
    )
    # An appended feature of value 0 does not change the function.
    if constant <= 0:
        return Model(source, claimed, 0.0, w[:d], assumed=NO_CLASS_WEIGHTS)
    # LIBLINEAR accepts -R only with a constant of 1, and of these solvers only for FREE_BIAS.
    free = constant == 1 and kind == FREE_BIAS
    assumed = f"{NO_CLASS_WEIGHTS}, {PENALISED_BIAS}" if free else NO_CLASS_WEIGHTS
    return Model(
        source, replace(claimed, constant=constant), float(w[d]) * constant, w[:d], assumed=assumed
    )


def _header(lines: Sequence[str], last: str) -> tuple[dict[str, str], int]:
    """Return the header, by the first word of each line, and the first line of the body."""
    for n, line in enumerate(lines):
        if line.strip() == last:
            return {
                name: text
                for name, _, text in (before.strip().partition(" ") for before in lines[:n])
            }, n + 1
    raise ValueError(f"there is no line {last!r}: the model file is cut off")


def _sign(header: Mapping[str, str]) -> float:
    """Return +1 if the first label, which positive decision values predict, is the larger."""
    first, second = _finite("label", _required(header, "label").split(), 2)
    if first == second:
        raise ValueError("the model's two labels are equal")
    return 1.0 if first > second else -1.0


def _kernel(name: str, parameters: Mapping[str, Any]) -> Kernel:
    if name == "linear":
        return linear()
    if name == "precomputed":
        return precomputed()
    if name not in ("rbf", "poly", "polynomial"):
        raise ValueError(
            f"the {name} kernel is not positive semidefinite, or not known: no optimum is "
            f"claimed with it"
        )
    if parameters.get("gamma") in ("scale", "auto"):
        raise ValueError(
            f"gamma must be a number, not {parameters['gamma']!r}; use `model._gamma` of the "
            f"trained model"
        )
    gamma = _number(parameters, "gamma")
    if name == "rbf":
        return rbf(gamma)
    return polynomial(_integer(parameters, "degree"), gamma, _number(parameters, "coef0"))


def _class_weight(estimator: Any, classes: Any) -> tuple[float, float]:
    """Return scikit-learn's factors of C for the two classes.

    A fitted SVC stores them; a LinearSVC only has the parameter, which may be a mapping.
    """
    if hasattr(estimator, "class_weight_"):
        return float(estimator.class_weight_[0]), float(estimator.class_weight_[1])
    given = estimator.class_weight
    if isinstance(given, str):
        raise ValueError(
            "class_weight='balanced' of a LinearSVC is not stored in the model; give its two "
            "weights as a mapping"
        )
    return (
        (1.0, 1.0)
        if given is None
        else (float(given.get(classes[0], 1.0)), float(given.get(classes[1], 1.0)))
    )


def _required(values: Mapping[str, Any], name: str) -> Any:
    if name not in values:
        raise ValueError(f"the model has no {name}")
    return values[name]


def _two_classes(header: Mapping[str, str]) -> None:
    if (classes := _required(header, "nr_class")) != "2":
        raise ValueError(f"the model has {classes} classes; audit one pair of classes at a time")


def _number(values: Mapping[str, Any], name: str) -> float:
    return float(_finite(name, _required(values, name), 1)[0])


def _integer(values: Mapping[str, Any], name: str) -> int:
    return int(_whole(name, _required(values, name), 1)[0])


def _optional(values: Mapping[str, Any], name: str) -> float | None:
    return None if values.get(name) is None else _number(values, name)


def _whole(name: str, values: Any, length: int | None = None) -> NDArray[np.int64]:
    """Return values as a vector of integers >= 0; reject other numbers or another length."""
    v = _finite(name, values, length)
    if ((v < 0) | (v >= 2.0**53) | (v != np.floor(v))).any():
        raise ValueError(f"{name} must be whole numbers, 0 or more")
    return v.astype(np.int64)


def _finite(name: str, values: Any, length: int | None = None) -> Array:
    """Return values as a vector of finite numbers; reject true, false or another length."""
    given = np.asarray(values, dtype=object).ravel()
    wanted = "finite numbers" if length is None else f"{length} finite number{'s' * (length != 1)}"
    try:
        v = given.astype(np.float64)
    except (ValueError, TypeError, OverflowError):
        raise ValueError(f"{name} must be {wanted}") from None
    if (
        not np.isfinite(v).all()
        or (length is not None and len(v) != length)
        or any(isinstance(u, bool) for u in given)
    ):
        raise ValueError(f"{name} must be {wanted}")
    return v


def _table(values: Any, n: int) -> Array:
    """Return values as an array of n rows; reject other than finite numbers."""
    rows = np.asarray(values, dtype=object)
    if rows.ndim != 2 or len(rows) != n:
        raise ValueError(f"support_vectors must be {n} rows of numbers")
    return _finite("support_vectors", rows).reshape(rows.shape)
