"""A regularisation path and its problem in an NPZ file: arrays, and a JSON text for the rest; no pickles."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equimargin.formulations.kernels import RBF, Intercept, Kernel, Linear, Polynomial, Precomputed
from equimargin.formulations.labelled_pairs import LabelledPairs
from equimargin.formulations.problem import MarginProblem
from equimargin.formulations.rows import Pairs, Rows, Signed, Tube
from equimargin.solvers.parametric_qp import Kind
from equimargin.solvers.regularization_path import Alphas, RegularizationPath

FORMAT = "equimargin regularization path 1"
KERNELS: dict[str, type[Kernel]] = {kernel.__name__: kernel for kernel in (Linear, Polynomial, RBF, Precomputed)}
CURVES = ("lambdas", "betas", "biases", "gaps", "midpoint_gaps", "margins", "event_breakpoints", "event_rows", "event_kinds")
CHANGES = ("first", "starts", "rows", "values")
"""Of alpha."""

Arrays = dict[str, Any]


def write(path: RegularizationPath, file: str | Path) -> None:
    """Write a path; the name is kept as it is."""
    problem, rows = path.problem, path.problem.rows
    about = {
        "format": FORMAT,
        "kernel": _kernel_text(problem.kernel),
        "rows": type(rows).__name__,
        "points": problem.m,
        "C": problem.C,
        "bias": problem.bias,
        "shift": problem.shift,
        "level": path.level,
        "stopped": path.stopped,
        "complete": path.complete,
        "seconds": path.seconds,
    }
    arrays: Arrays = {name: getattr(path, name) for name in CURVES}
    arrays |= {f"alpha_{name}": getattr(path.alphas, name) for name in CHANGES}
    arrays |= _features(problem.X) | _targets(rows)
    if problem.weights is not None:
        arrays["weights"] = problem.weights
    with Path(file).open("wb") as out:
        np.savez_compressed(out, about=np.array(json.dumps(about)), **arrays)


def read(file: str | Path) -> RegularizationPath:
    """Read a path.

    Raises
    ------
    ValueError : a file that is none of these, with what is wrong in a sentence.  FileNotFoundError : no file.
    """
    try:
        with np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        return _path(arrays, json.loads(str(arrays.pop("about"))))
    except FileNotFoundError:
        raise
    except KeyError as missing:
        raise ValueError(f"{file} is no regularisation path: {missing} is missing") from None
    except (ValueError, TypeError, AttributeError, EOFError, OSError, zipfile.BadZipFile) as reason:
        raise ValueError(f"{file} is no regularisation path: {reason}") from None


def _path(arrays: Mapping[str, NDArray[Any]], about: Any) -> RegularizationPath:
    if not isinstance(about, dict) or about["format"] != FORMAT:
        raise ValueError(f"its format is not {FORMAT!r}")
    X, kernel = _read_features(arrays), _kernel(about["kernel"])
    rows = _rows(about["rows"], arrays, int(X.shape[0]))
    weights = arrays.get("weights")
    shift = None if about["shift"] is None else float(about["shift"])
    problem = MarginProblem(X, kernel, rows, float(about["C"]), "hinge", bool(about["bias"]), weights, shift)
    if weights is not None and not (weights.shape == (rows.groups,) and (weights >= 0).all() and np.isfinite(weights).all()):
        raise ValueError("its weights do not fit the rows")
    T, E, changes = len(arrays["lambdas"]), len(arrays["event_rows"]), len(arrays["alpha_rows"])
    shapes = {
        **dict.fromkeys(("lambdas", "biases", "gaps", "margins"), (T,)),
        **dict.fromkeys(("event_breakpoints", "event_rows", "event_kinds"), (E,)),
        "betas": (T, problem.m),
        "midpoint_gaps": (max(T - 1, 0),),
        "alpha_first": (problem.p,),
        "alpha_starts": (T + 1,),
        "alpha_rows": (changes,),
        "alpha_values": (changes,),
    }
    for name, shape in shapes.items():
        if arrays[name].shape != shape:
            raise ValueError(f"{name} is of shape {arrays[name].shape}, not {shape}")
        if not np.isfinite(arrays[name]).all():
            raise ValueError(f"{name} holds numbers that are not finite")
    if not (np.diff(arrays["lambdas"]) <= 0).all() or (arrays["lambdas"] < 0).any():
        raise ValueError("lambdas do not decrease")
    starts = arrays["alpha_starts"]
    if starts[0] != 0 or starts[-1] != changes or (np.diff(starts) < 0).any():
        raise ValueError("alpha_starts do not say which changes belong to which breakpoint")
    for name, end in (("alpha_rows", problem.p), ("event_rows", problem.p), ("event_breakpoints", T), ("event_kinds", len(Kind))):
        if not ((arrays[name] >= 0) & (arrays[name] < end)).all():
            raise ValueError(f"{name} must be in 0 .. {end - 1}")
    return RegularizationPath(
        problem,
        alphas=Alphas(*(arrays[f"alpha_{name}"] for name in CHANGES)),
        level=float(about["level"]),
        stopped=str(about["stopped"]),
        complete=bool(about["complete"]),
        seconds=float(about["seconds"]),
        **{name: arrays[name] for name in CURVES},
    )


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
