"""A margin problem as the arrays of an NPZ file, and a few words in JSON for what is no array; no pickles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equimargin.formulations.kernels import RBF, Intercept, Kernel, Linear, Polynomial, Precomputed
from equimargin.formulations.labelled_pairs import LabelledPairs
from equimargin.formulations.problem import MarginProblem
from equimargin.formulations.rows import Pairs, Rows, Signed, Tube

KERNELS: dict[str, type[Kernel]] = {kernel.__name__: kernel for kernel in (Linear, Polynomial, RBF, Precomputed)}

Arrays = dict[str, Any]


def packed(problem: MarginProblem) -> tuple[dict[str, Any], Arrays]:
    """What JSON has of a problem, and its arrays by name."""
    words = {
        "kernel": _kernel_text(problem.kernel),
        "rows": type(problem.rows).__name__,
        "C": problem.C,
        "loss": problem.loss,
        "bias": problem.bias,
        "shift": problem.shift,
    }
    weights = {} if problem.weights is None else {"weights": problem.weights}
    return words, _features(problem.X) | _targets(problem.rows) | weights


def unpacked(words: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> MarginProblem:
    """The problem that was packed.

    Raises
    ------
    KeyError : something is missing.  ValueError : something does not fit, in a sentence.
    """
    X, weights = _read_features(arrays), arrays.get("weights")
    rows = _rows(words["rows"], arrays, int(X.shape[0]))
    if weights is not None and not (weights.shape == (rows.groups,) and (weights >= 0).all()):
        raise ValueError("its weights do not fit the rows")
    if words["loss"] not in ("hinge", "squared_hinge"):
        raise ValueError(f"its loss {words['loss']!r} is unknown")
    shift = None if words["shift"] is None else float(words["shift"])
    return MarginProblem(X, _kernel(words["kernel"]), rows, float(words["C"]), words["loss"], bool(words["bias"]), weights, shift)


def _kernel_text(kernel: Kernel) -> list[Any]:
    """Its name and its parameters, the kernel within an intercept among them."""
    parameters = [_kernel_text(value) if isinstance(value, Kernel) else value for value in vars(kernel).values()]
    return [type(kernel).__name__, *parameters]


def _kernel(text: list[Any]) -> Kernel:
    name, *parameters = text
    if name == Intercept.__name__:
        return Intercept(_kernel(*parameters))
    if name not in KERNELS:
        raise ValueError(f"its kernel {name!r} is unknown")
    if not all(isinstance(value, int | float) and np.isfinite(value) for value in parameters):
        raise ValueError(f"the parameters of its kernel are no numbers: {parameters}")
    return KERNELS[name](*parameters)


def _features(X: Any) -> Arrays:
    if not hasattr(X, "tocsr"):
        return {"X": X}
    X = X.tocsr()
    return {"X_data": X.data, "X_indices": X.indices, "X_indptr": X.indptr, "X_shape": np.array(X.shape)}


def _read_features(arrays: Mapping[str, NDArray[Any]]) -> Any:
    if "X_shape" in arrays:
        parts = arrays["X_data"], arrays["X_indices"], arrays["X_indptr"]
        X = sparse.csr_array(parts, shape=tuple(arrays["X_shape"].tolist()))
        X.check_format()
    else:
        X = np.asarray(arrays["X"], dtype=np.float64)
    if X.ndim != 2 or not np.isfinite(X.data if "X_shape" in arrays else X).all():
        raise ValueError("X is not a matrix of finite numbers")
    return X


def _targets(rows: Rows) -> Arrays:
    if isinstance(rows, LabelledPairs):
        return {"y": rows.y, "query": rows.query}
    if isinstance(rows, Pairs):
        return {"preferred": rows.preferred, "other": rows.other}
    return {"y": rows.y, "epsilon": np.array(rows.epsilon)} if isinstance(rows, Tube) else {"y": rows.y}


def _rows(name: str, arrays: Mapping[str, NDArray[Any]], m: int) -> Rows:
    if name == Pairs.__name__:
        preferred, other = arrays["preferred"], arrays["other"]
        pairs = np.stack([preferred, other])
        if pairs.ndim != 2 or not np.issubdtype(pairs.dtype, np.integer) or not ((pairs >= 0) & (pairs < m)).all():
            raise ValueError(f"its pairs are not of points 0 .. {m - 1}")
        return Pairs(preferred, other, m)
    y = np.asarray(arrays["y"], dtype=np.float64)
    if y.shape != (m,) or not np.isfinite(y).all():
        raise ValueError(f"y is not {m} finite numbers")
    if name == Signed.__name__ and np.isin(y, (-1.0, 1.0)).all():
        return Signed(y)
    if name == Tube.__name__ and float(arrays["epsilon"]) >= 0:
        return Tube(y, float(arrays["epsilon"]))
    if name == LabelledPairs.__name__ and arrays["query"].shape == (m,) and arrays["query"].min(initial=0) >= 0:
        return LabelledPairs(y, arrays["query"].astype(np.int64))
    raise ValueError(f"its rows {name!r} are unknown, or their labels do not fit")
