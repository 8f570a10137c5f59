"""Serialisation of problems and results: arrays as NPZ, everything else as JSON.

There are no pickles. A file is written whole or not at all.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from shutil import copymode
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.kernels.given_matrix import asymmetry, proven_shift
from equimargin.formulations.kernels.kernel import (
    Composite,
    Intercept,
    Kernel,
    Multiple,
    Product,
    Sum,
)
from equimargin.formulations.kernels.registry import KERNELS
from equimargin.formulations.numeric.archive import Archive
from equimargin.formulations.numeric.arguments import format_error
from equimargin.formulations.numeric.arrays import canonical, is_sparse
from equimargin.formulations.problem.choices import CLASSIFICATION_LOSSES, LossName
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.one_norm import OneNormProblem, Problem
from equimargin.formulations.rows.base import Rows
from equimargin.formulations.rows.labelled import LabelledPairs
from equimargin.formulations.rows.levels import Levels
from equimargin.formulations.rows.listed import Pairs, Signed, Tube

Arrays = dict[str, Any]
Held = TypeVar("Held")


def write(file: str | Path, form: str, words: Mapping[str, Any], arrays: Arrays) -> None:
    """Write an NPZ file without pickles, whole or not at all.

    Parameters
    ----------
    file : str or Path
        File to write; an existing one is replaced.
    form : str
        Name of the file's format.
    words : mapping of str to Any
        Data stored as JSON.
    arrays : dict of str to array
        Arrays by name.

    Raises
    ------
    OSError
        If the file cannot be written; the message names it and a remedy.
    """
    try:
        with whole(Path(file)) as part, part.open("wb") as out:
            np.savez_compressed(
                out, about=np.array(json.dumps({"format": form, **words})), **arrays
            )
    except OSError as reason:
        why = reason.strerror or reason
        raise type(reason)(
            f"{file} cannot be written: {why}; name a file in a folder that exists and has "
            f"room for it"
        ) from None


def read(
    file: str | Path, form: str, kind: str, made: Callable[[dict[str, Any], Arrays], Held]
) -> Held:
    """Read a file of `write`.

    Parameters
    ----------
    file : str or Path
        File to read.
    form : str
        Name of its format.
    kind : str
        Kind of its content, for messages.
    made : callable
        Builds the result from the words and arrays; raises a KeyError if a part is
        missing, and a ValueError with a reason otherwise.

    Returns
    -------
    Held
        Result of `made`.

    Raises
    ------
    ValueError
        If the file is damaged, or of another kind.
    OSError
        If the file cannot be read. Both messages name the file, the fault and a remedy.
    """
    try:
        content = Path(file).read_bytes()
    except OSError as reason:
        raise type(reason)(
            f"{file} cannot be read: {reason.strerror or reason}; give the path of a {kind} "
            f"that save() wrote"
        ) from None
    try:
        arrays: Arrays = dict(Archive(content))
        words = json.loads(str(arrays.pop("about")))
        if not isinstance(words, dict) or words["format"] != form:
            raise ValueError(f"its format is not {form!r}")
        return made(words, arrays)
    except MemoryError:
        raise
    # Invalid content raises various errors: JSON, NumPy, scipy and kernel constructors
    # have their own.
    except Exception as reason:
        wrong = (
            f"{format_error(reason)} is missing"
            if isinstance(reason, KeyError)
            else format_error(reason)
        )
        raise ValueError(
            f"{file} is no {kind}: {wrong}; give a file that save() wrote and that has not "
            f"been changed since"
        ) from None


@contextmanager
def _named(path: Path, part: Path) -> Iterator[None]:
    """Make system errors name `path`, not the temporary file `part` or no file."""
    try:
        yield
    except OSError as failure:
        if failure.errno is not None and failure.filename in (None, str(part)):
            failure.filename = str(path)
        raise


@contextmanager
def whole(path: Path, keep: bool = True) -> Iterator[Path]:
    """Yield the path of a new file, which replaces `path` on exit.

    The new file has an unpredictable name in the folder of `path`, and its suffix. It
    is created with O_EXCL, so that no link is followed, and with the read permissions
    of the replaced file. For a device or a pipe, `path` itself is yielded.

    Parameters
    ----------
    path : Path
        File to replace.
    keep : bool
        False to discard the new file on exit.
    """
    if path.exists() and not path.is_file():
        with _named(path, path):
            yield path
        return
    path = path.resolve()  # The target of a link is replaced, not the link.
    part = path.with_name(f".equimargin-{token_hex(8)}{path.suffix}")
    with _named(path, part):
        mode = path.stat().st_mode & 0o666 | 0o600 if path.exists() else 0o666
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
    try:
        with _named(path, part):
            yield part
            if keep:
                with part.open("r+b") as written:
                    os.fsync(written.fileno())
                if path.exists():
                    copymode(path, part)
                part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def packed(problem: Problem) -> tuple[dict[str, Any], Arrays]:
    """Return a problem as JSON data and arrays by name.

    Parameters
    ----------
    problem : Problem
        Problem to store.

    Raises
    ------
    ValueError
        If the kernel is user-defined: files name only kernels of the package.
    """
    words = {
        "kernel": _kernel_text(problem.kernel),
        "rows": type(problem.rows).__name__,
        "C": problem.C,
        "shift": problem.proven.shift,
    } | ({} if problem.feature_names is None else {"feature_names": problem.feature_names})
    words |= {"bias": problem.bias} | (
        {"over": problem.over} if isinstance(problem, OneNormProblem) else _loss_in_words(problem)
    )
    weights = {} if problem.weights is None else {"weights": problem.weights}
    return words, _features(problem.X) | _targets(problem.rows) | weights


def _loss_in_words(problem: MarginProblem) -> dict[str, Any]:
    return {"loss": problem.loss} | ({} if problem.delta is None else {"delta": problem.delta})


def unpacked(words: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Problem:
    """Return the problem of JSON data and arrays.

    Parameters
    ----------
    words : mapping of str to Any
        JSON data of `packed`.
    arrays : mapping of str to array
        Arrays of `packed`.

    Raises
    ------
    KeyError
        If a part is missing.
    ValueError
        If a part does not fit; the message is a sentence.
    """
    X, kernel = _read_features(arrays), _kernel(words["kernel"])
    if kernel.given and (is_sparse(X) or X.shape[0] != X.shape[1] or asymmetry(X) > 0):
        raise ValueError("its Gram matrix must be square, symmetric and dense")
    rows = _rows(words["rows"], arrays, int(X.shape[0]))
    C, shift, names = words["C"], words["shift"], words.get("feature_names")
    if not (is_number(C) and C > 0):
        raise ValueError(f"its C must be a positive number, not {C!r}")
    if shift is not None and not (is_number(shift) and 0 <= shift < np.inf):
        raise ValueError(f"its shift must be a number that is at least 0, not {shift!r}")
    if shift is not None and not _is_allowed(shift, X, kernel, linear="over" in words):
        raise ValueError(
            f"its shift {shift!r} does not make its kernel matrix positive semidefinite, or "
            f"belongs to no such matrix"
        )
    if names is not None and not (
        isinstance(names, list)
        and len(names) == X.shape[1]
        and all(isinstance(name, str) for name in names)
    ):
        raise ValueError("the names of its features do not fit X")
    columns = None if names is None else tuple(names)
    weights = _weights(arrays, rows)
    if "over" not in words:
        loss, bias = _of_margin(words, rows)
        return MarginProblem(
            X,
            kernel,
            rows,
            float(C),
            loss,
            bias,
            weights,
            words.get("delta"),
            shift=shift,
            feature_names=columns,
        )
    over, unknowns = words["over"], ("points", "rows") if isinstance(rows, Pairs) else ("rows",)
    # The bounds of one-norm problems assume finite costs and the margin 1.
    hard = np.inf == C or (weights is not None and np.isinf(weights).any())
    other_margin = "target" in arrays
    if not isinstance(rows, Pairs | Signed) or over not in unknowns or hard or other_margin:
        raise ValueError("its variables, rows and costs do not form a one-norm problem")
    bias = _bias(words, rows)
    return OneNormProblem(
        X, kernel, rows, float(C), over, bias, weights, shift=shift, feature_names=columns
    )


def _weights(arrays: Mapping[str, NDArray[Any]], rows: Rows) -> NDArray[np.float64] | None:
    """Return the weights of a file, checked against the rows; None without weights."""
    weights = _numbers(arrays, "weights") if "weights" in arrays else None
    if weights is not None and not (weights.shape == (rows.groups,) and (weights >= 0).all()):
        raise ValueError("its weights do not fit the rows")
    return weights


def _of_margin(words: Mapping[str, Any], rows: Rows) -> tuple[LossName, bool]:
    """Return loss and bias of a margin problem."""
    loss = words["loss"]
    if loss not in CLASSIFICATION_LOSSES:
        raise ValueError(f"its loss {loss!r} is unknown")
    return loss, _bias(words, rows)


def _bias(words: Mapping[str, Any], rows: Rows) -> bool:
    """Return the bias flag of a file, checked against the rows."""
    bias = words["bias"]
    if not isinstance(bias, bool) or (bias and rows.invariant):
        raise ValueError(f"its bias does not fit the rows: {bias!r}")
    return bias


def _is_allowed(shift: float, X: Any, kernel: Kernel, linear: bool) -> bool:
    """Return True if a file may declare K + shift I as the kernel matrix.

    A shift other than 0 needs a given matrix K. Except in a linear program, the lower
    bounds rely on K + shift I being positive semidefinite, which is proved here again.
    """
    if not kernel.given:
        return shift == 0
    if linear:
        return True
    least = proven_shift(X)
    return least is not None and shift >= least


def is_number(value: Any) -> bool:
    """Return True if a JSON value is a number.

    Parameters
    ----------
    value : Any
        JSON value.
    """
    return isinstance(value, int | float) and not isinstance(value, bool)


def _kernel_text(kernel: Kernel) -> list[Any]:
    """Return a kernel as a list of its class name and parameters.

    The kernels from which another one is computed are such lists.
    """
    if type(kernel) not in _of_files().values():
        raise ValueError(
            f"a problem with the kernel {kernel!r} cannot be written to a file, which supports "
            f"only {', '.join(_of_files())}"
        )
    parameters = [
        _kernel_text(value) if isinstance(value, Kernel) else value
        for value in vars(kernel).values()
    ]
    return [type(kernel).__name__, *parameters]


def _kernel(text: list[Any]) -> Kernel:
    name, *parameters = text
    if name == Intercept.__name__:
        return Intercept(_kernel(*parameters))
    if name not in _of_files():
        raise ValueError(f"its kernel {name!r} is unknown")
    made = _of_files()[name]
    if issubclass(made, Composite):
        return made(*(_kernel(value) if isinstance(value, list) else value for value in parameters))
    if not all(map(is_number, parameters)):
        raise ValueError(f"the parameters of its kernel are no numbers: {parameters}")
    return made(*parameters)


def _of_files() -> dict[str, type[Kernel]]:
    """Return the package's kernels by the class names that files use.

    Kernels of plug-ins cannot be written to files.
    """
    kernels: tuple[type[Kernel], ...] = (*KERNELS.values(), Intercept, Sum, Product, Multiple)
    return {made.__name__: made for made in kernels if made.__module__.startswith("equimargin.")}


def _features(X: Any) -> Arrays:
    if not is_sparse(X):
        return {"X": X}
    X = X.tocsr()
    return {
        "X_data": X.data,
        "X_indices": X.indices,
        "X_indptr": X.indptr,
        "X_shape": np.array(X.shape),
    }


def _read_features(arrays: Mapping[str, NDArray[Any]]) -> Any:
    if "X_shape" in arrays:
        from scipy import sparse

        parts = _numbers(arrays, "X_data"), arrays["X_indices"], arrays["X_indptr"]
        X = sparse.csr_array(parts, shape=tuple(arrays["X_shape"].tolist()))
        X.check_format()
        X = canonical(X)
    else:
        X = _numbers(arrays, "X")
    if X.ndim != 2 or not np.isfinite(X.data if "X_shape" in arrays else X).all():
        raise ValueError("X is not a matrix of finite numbers")
    return X


def _numbers(arrays: Mapping[str, NDArray[Any]], name: str) -> NDArray[np.float64]:
    if arrays[name].dtype != np.float64:
        raise ValueError(f"{name} is of type {arrays[name].dtype}, not float64")
    return arrays[name]


def _targets(rows: Rows) -> Arrays:
    if isinstance(rows, LabelledPairs):
        return {"y": rows.y, "query": rows.query}
    if isinstance(rows, Pairs):
        return {"preferred": rows.preferred, "other": rows.other}
    if isinstance(rows, Levels):
        return {"y": rows.y, "thresholds": np.array(rows.T)}
    if isinstance(rows, Tube):
        return {"y": rows.y, "epsilon": np.array(rows.epsilon)}
    if isinstance(rows, Signed) and rows.target != 1.0:
        return {"y": rows.y, "target": np.array(rows.target)}
    return {"y": rows.y}


def _rows(name: str, arrays: Mapping[str, NDArray[Any]], m: int) -> Rows:
    if name == Pairs.__name__:
        preferred, other = arrays["preferred"], arrays["other"]
        pairs = np.stack([preferred, other])
        if (
            pairs.ndim != 2
            or not np.issubdtype(pairs.dtype, np.integer)
            or not ((pairs >= 0) & (pairs < m)).all()
        ):
            raise ValueError(f"its pairs are not of points 0 .. {m - 1}")
        return Pairs(preferred, other, m)
    # The labels must fit the kind of rows that the file names.
    y = _numbers(arrays, "y")
    if y.shape != (m,) or not np.isfinite(y).all():
        raise ValueError(f"y is not {m} finite numbers")
    if name == Signed.__name__ and np.isin(y, (-1.0, 1.0)).all():
        # Only problems whose margin is a variable have another margin than 1.
        target = float(_numbers(arrays, "target")) if "target" in arrays else 1.0
        if 0 <= target < np.inf:
            return Signed(y, target)
    if name == Tube.__name__ and 0 <= float(_numbers(arrays, "epsilon")) < np.inf:
        return Tube(y, float(arrays["epsilon"]))
    if name == Levels.__name__ and _are_levels(y, arrays["thresholds"]):
        return Levels(y, int(arrays["thresholds"]))
    if name == LabelledPairs.__name__ and _are_queries(arrays["query"], m):
        return LabelledPairs(y, arrays["query"].astype(np.int64))
    raise ValueError(f"its rows {name!r} are unknown, or their labels do not fit")


def _are_levels(y: NDArray[np.float64], T: NDArray[Any]) -> bool:
    return (
        T.shape == ()
        and T.dtype.kind == "i"
        and int(T) >= 1
        and bool(((y == np.floor(y)) & (y >= 0) & (y <= T)).all())
    )


def _are_queries(query: NDArray[Any], m: int) -> bool:
    return (
        query.shape == (m,) and query.dtype.kind == "i" and bool(((query >= 0) & (query < m)).all())
    )
