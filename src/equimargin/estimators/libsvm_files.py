"""Model files of LIBSVM and LIBLINEAR, written from fitted estimators.

LIBSVM has k - 1 coefficients for every support vector: in the function of classes p < q,
counted in the order of its labels, those of class p have their coefficient q - 1, and
those of class q their coefficient p:

    f_pq(x) = sum_{v of p} coefficient_{q-1}(v) k(v, x)
              + sum_{v of q} coefficient_p(v) k(v, x) - rho_pq,       > 0: a vote for p

Labels are written from the largest on, so that decision values keep their signs. The
function of a linear kernel has one support vector, w, with the coefficient 1.

References
----------
C.-C. Chang and C.-J. Lin, LIBSVM: a library for support vector machines, 2011; the files
README of LIBSVM 3.x and LIBLINEAR 2.x.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from equimargin.estimators.base import KernelEstimator, ProvenEstimator
from equimargin.estimators.classifier import Classifier
from equimargin.estimators.fitted import Functions
from equimargin.estimators.regressor import Regressor
from equimargin.formulations.kernels.kernel import (
    RBF,
    Intercept,
    Kernel,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
)
from equimargin.formulations.numeric.arguments import format_value
from equimargin.formulations.numeric.arrays import Array, dense
from equimargin.solvers.problem_file import whole

LARGEST_LABEL = 2**31 - 1
"""Largest absolute value of a label; LIBSVM and LIBLINEAR read labels as C's int."""
TYPES_OF_LIBSVM = {
    "SVC": "c_svc",
    "NuSVC": "nu_svc",
    "SVR": "epsilon_svr",
    "NuSVR": "nu_svr",
    "OneClassSVM": "one_class",
}
"""LIBSVM's type of every class of scikit-learn's names; `equimargin.svm` is a layer above."""
ONLY_OF_LINEAR_SVC = {"multi_class": "ovr", "penalty": "l2"}
"""Parameters of a LinearSVC that can be written."""
LIBLINEAR_TYPE_OF_LOSS = {
    "hinge": "L2R_L1LOSS_SVC_DUAL",
    "squared_hinge": "L2R_L2LOSS_SVC_DUAL",
    "epsilon_insensitive": "L2R_L1LOSS_SVR_DUAL",
    "squared_epsilon_insensitive": "L2R_L2LOSS_SVR_DUAL",
}
"""LIBLINEAR's solver of every loss of a LinearSVC or LinearSVR."""
KERNELS_OF_LIBSVM: dict[type[Kernel], tuple[str, tuple[str, ...]]] = {
    Linear: ("linear", ()),
    Polynomial: ("polynomial", ("degree", "gamma", "coef0")),
    RBF: ("rbf", ("gamma",)),
    Sigmoid: ("sigmoid", ("gamma", "coef0")),
    Precomputed: ("precomputed", ()),
}
"""LIBSVM's name and parameters of every kernel that it has."""


def write_libsvm_model(estimator: KernelEstimator, path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier or regressor as a model file of LIBSVM.

    Its decision values in LIBSVM are those of the estimator, and positive for the larger
    of two labels. Of more than two classes, the pairs are in the order of descending
    labels. Where votes tie, LIBSVM chooses the larger label, and the estimator compares
    decision values.

    Parameters
    ----------
    estimator : MarginClassifier, MarginRegressor or a PathCV of the two, or OneClassSVM,
        SVC, NuSVC, SVR or NuSVR of `equimargin.svm`
        Fitted estimator; with `probability`, its sigmoids are written for LIBSVM's -b 1.
    path : str or path-like
        Path of the file, which is replaced as a whole.

    Raises
    ------
    ValueError
        If the estimator is of another kind, its labels are not whole numbers of 32
        bits, or LIBSVM lacks its kernel.
    OSError
        If the file cannot be written.

    Notes
    -----
    The type of estimators with a loss is c_svc or epsilon_svr. With a precomputed kernel a support
    vector is the number of its training row, from 1.
    """
    known = isinstance(estimator, KernelEstimator)
    names = [base.__name__ for base in type(estimator).__mro__ if known]
    kind = next((TYPES_OF_LIBSVM[name] for name in names if name in TYPES_OF_LIBSVM), None)
    others = ", ".join(TYPES_OF_LIBSVM)
    functions = _functions(estimator, "write_libsvm_model", others, kind is not None)
    kernel = Linear() if functions.linear else functions.kernel
    coefficients = np.eye(len(functions.biases)) if functions.linear else functions.coefficients
    biases = functions.biases
    if isinstance(kernel, Intercept):
        kernel, biases = kernel.kernel, biases + coefficients.sum(axis=1)
    # A linear function has one support vector, w; those of a given matrix are row numbers.
    points = functions.coefficients if functions.linear else functions.points
    vectors = (
        [f"0:{row + 1}" for row in functions.support.tolist()]
        if points is None
        else list(_features(points))
    )
    header = _kernel_lines(kernel)
    if hasattr(estimator, "classes_"):
        labels = _labels(estimator)
        order = _descending_pairs(len(labels))
        body, of_class = _grouped(coefficients, vectors, len(labels))
        sizes = [f"nr_class {len(labels)}", f"total_sv {len(body)}"]
        header = [f"svm_type {kind or 'c_svc'}", *header, *sizes]
        header += [f"rho {_numbers(-biases[order])}", f"label {_numbers(labels)}"]
        sigmoids: Array = getattr(estimator, "calibration_", np.empty((0, 2)))
        if len(sigmoids):
            A, B = sigmoids[order].T
            header += [f"probA {_numbers(A)}", f"probB {_numbers(B)}"]
        header += [f"nr_sv {_numbers(of_class)}"]
    else:
        rows = zip(coefficients[0].tolist(), vectors, strict=True)
        body = [f"{coefficient!r} {vector}" for coefficient, vector in rows]
        sizes = ["nr_class 2", f"total_sv {len(body)}"]
        header = [f"svm_type {kind or 'epsilon_svr'}", *header, *sizes]
        header += [f"rho {_numbers(-biases)}"]
    _write(path, [*header, "SV", *body])


def write_liblinear_model(estimator: ProvenEstimator, path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier or regressor with a linear function as a file of LIBLINEAR.

    Its decision values in LIBLINEAR are those of the estimator, and positive for the
    larger label.

    Parameters
    ----------
    estimator : LinearSVC, LinearSVR, MarginClassifier, MarginRegressor or a PathCV
        Fitted estimator with a linear kernel; a LinearSVC may have any number of classes,
        another classifier two.
    path : str or path-like
        Path of the file, which is replaced as a whole.

    Raises
    ------
    ValueError
        If the estimator is of another kind, has another kernel or more than two classes,
        or labels that are not whole numbers of 32 bits.
    OSError
        If the file cannot be written.

    Notes
    -----
    The bias is the weight of an appended feature of value 1, or `intercept_scaling`. The
    type is that of the loss. LIBLINEAR itself leaves the bias out of the norm for squared
    losses alone.
    """
    if hasattr(estimator, "intercept_scaling") and hasattr(estimator, "loss"):
        header, weights = _linear_machine(estimator)
        _write(path, [*header, *(f"{_numbers(row)} " for row in weights)])
        return
    functions = _functions(estimator, "write_liblinear_model", "LinearSVC, LinearSVR")
    if not functions.linear:
        raise ValueError(
            f"LIBLINEAR has linear functions only, and this {type(estimator).__name__} has the "
            f"{functions.kernel.name} kernel; use write_libsvm_model"
        )
    w, b = functions.coefficients[0], float(functions.biases[0])
    told = []
    if isinstance(estimator, Classifier):
        labels = _labels(estimator)
        if len(labels) > 2:
            raise ValueError(
                f"LIBLINEAR has a function for each class, and this {type(estimator).__name__} one "
                f"for each pair of its {len(labels)} classes; use write_libsvm_model"
            )
        told = [f"label {_numbers(labels)}"]
    has_bias = getattr(estimator, "bias", True) not in (False, "none")
    header = [f"solver_type {_liblinear_type(estimator)}", "nr_class 2", *told]
    header += [f"nr_feature {len(w)}", f"bias {1 if has_bias else -1}", "w"]
    _write(path, [*header, *(f"{v!r} " for v in [*w.tolist(), *([b] if has_bias else [])])])


def _linear_machine(estimator: Any) -> tuple[list[str], list[list[float]]]:
    """Return the header of a LinearSVC or LinearSVR, and its weights, a row a feature.

    The labels are written from the largest on. Of two classes the only w is that of the
    larger.
    """
    check_is_fitted(estimator)
    given = {name: getattr(estimator, name, only) for name, only in ONLY_OF_LINEAR_SVC.items()}
    if given != ONLY_OF_LINEAR_SVC:
        raise ValueError(
            f"a LinearSVC is written for LIBLINEAR with multi_class='ovr' and penalty='l2', not "
            f"with {given['multi_class']!r} and {given['penalty']!r}; fit it so"
        )
    W, has_bias = np.atleast_2d(dense(estimator.coef_)), estimator.fit_intercept
    constant = float(estimator.intercept_scaling) if has_bias else -1.0
    bias = np.ravel(estimator.intercept_)[:, None] / constant
    header = [f"solver_type {LIBLINEAR_TYPE_OF_LOSS[estimator.loss]}"]
    if hasattr(estimator, "classes_"):
        labels = _labels(estimator)
        header += [f"nr_class {len(labels)}", f"label {_numbers(labels)}"]
    else:
        header += ["nr_class 2"]
    header += [f"nr_feature {W.shape[1]}", f"bias {constant!r}", "w"]
    weights = np.hstack([W, bias]) if has_bias else W
    return header, weights[::-1].T.tolist()


def _liblinear_type(estimator: ProvenEstimator) -> str:
    """Return the LIBLINEAR solver of the loss; of two, the one that may have a free bias."""
    kind = "SVC" if isinstance(estimator, Classifier) else "SVR"
    if getattr(estimator, "loss", "hinge") == "hinge":
        return f"L2R_L1LOSS_{kind}_DUAL"
    free = getattr(estimator, "bias", True) in (True, "free")
    return f"L2R_L2LOSS_{kind}" if free else f"L2R_L2LOSS_{kind}_DUAL"


def _functions(estimator: Any, name: str, others: str, known: bool = False) -> Functions:
    """Return the decision functions of a fitted classifier or regressor, or a known class."""
    if not (known or isinstance(estimator, Classifier | Regressor)):
        raise ValueError(
            f"{name} takes a fitted MarginClassifier, MarginRegressor, a PathCV of the two, or of "
            f"equimargin.svm {others}, not {type(estimator).__name__}; of a pipeline, pass the "
            f"last step"
        )
    check_is_fitted(estimator)
    functions: Functions = estimator._functions
    return functions


def _labels(estimator: Any) -> list[int]:
    """Return the labels of a classifier, the largest first."""
    labels = np.asarray(estimator.classes_)
    wrong = (
        labels
        if labels.dtype.kind not in "biuf"
        else labels[(labels != np.floor(labels)) | (np.abs(labels * 1.0) > LARGEST_LABEL)]
    )
    if len(wrong):
        raise ValueError(
            f"labels of LIBSVM and LIBLINEAR are whole numbers of 32 bits, not "
            f"{format_value(wrong[0])}; number the classes, for example by scikit-learn's "
            f"LabelEncoder, and fit again"
        )
    return [int(label) for label in labels[::-1]]


def _kernel_lines(kernel: Kernel) -> list[str]:
    """Return the lines of a kernel."""
    if type(kernel) not in KERNELS_OF_LIBSVM:
        known = ", ".join(name for name, _ in KERNELS_OF_LIBSVM.values())
        raise ValueError(
            f"LIBSVM has no {kernel.name} kernel; it has {known}: fit with kernel='precomputed'"
        )
    name, parameters = KERNELS_OF_LIBSVM[type(kernel)]
    values = (f"{parameter} {getattr(kernel, parameter)!r}" for parameter in parameters)
    return [f"kernel_type {name}", *values]


def _descending_pairs(k: int) -> list[int]:
    """Return the numbers of the pairs of classes in the order of descending labels."""
    places = {pair: place for place, pair in enumerate(combinations(range(k), 2))}
    return [places[k - 1 - q, k - 1 - p] for p, q in places]


def _grouped(coefficients: Array, vectors: list[str], k: int) -> tuple[list[str], list[int]]:
    """Return the lines of the support vectors, by class, and their number in each class.

    A positive coefficient of the pair of classes i < j is of class j, a negative one of
    class i. A vector with coefficients of two classes is written for each.
    """
    pairs = list(combinations(range(k), 2))
    # Classes are numbered by descending labels.
    slots = [dict[int, list[float]]() for _ in range(k)]
    for (i, j), row in zip(pairs, coefficients, strict=True):
        first, second = k - 1 - j, k - 1 - i
        for at in np.flatnonzero(row).tolist():
            value = float(row[at])
            own, place = (first, second - 1) if value > 0 else (second, first)
            slots[own].setdefault(at, [0.0] * (k - 1))[place] = value
    lines = [
        f"{_numbers(values)} {vectors[at]}"
        for of_class in slots
        for at, values in sorted(of_class.items())
    ]
    return lines, [len(of_class) for of_class in slots]


def _features(points: Any) -> Iterator[str]:
    """Yield the nonzero features of points, numbered from 1."""
    rows = sparse.csr_array(points, dtype=np.float64, copy=True)
    rows.sum_duplicates()
    indices, values = (rows.indices + 1).tolist(), rows.data.tolist()
    for start, end in zip(rows.indptr[:-1].tolist(), rows.indptr[1:].tolist(), strict=True):
        entries = zip(indices[start:end], values[start:end], strict=True)
        yield " ".join(f"{index}:{value!r}" for index, value in entries if value)


def _numbers(values: Iterable[float]) -> str:
    """Return numbers as text that reads back exactly."""
    return " ".join(repr(v) for v in np.asarray(values).tolist())


def _write(path: str | os.PathLike[str], lines: list[str]) -> None:
    """Write lines to a file, whole or not at all."""
    text = "\n".join(lines) + "\n"
    with whole(Path(path)) as part:
        part.write_text(text, encoding="ascii", newline="\n")
