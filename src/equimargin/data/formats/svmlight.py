"""Files of svmlight, LIBSVM and LETOR: `label qid:query index:value ...`, query optional."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from equimargin.data.formats.files import TABLE_SUFFIXES, File
from equimargin.data.loaded import Origin
from equimargin.data.table import Request, Table
from equimargin.data.tasks import exact_labels
from equimargin.data.words import DataError, integer, is_finite, one_line, shown
from equimargin.option_text import format_option

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SPARSE_BELOW: Final = 0.1
"""Fraction of nonzero cells below which the features are a sparse matrix."""

MOST_FEATURES: Final = 50_000_000
"""Maximum number of features: a vector of them is 0.4 GB, and solvers store several."""

COMMENT: Final = re.compile(rb"#[^\n]*")
"""Comment: a # and the rest of its line."""

LABEL: Final = re.compile(rb"^[^\S\n]*(\S+)", re.MULTILINE)
"""Label of a line."""

ZERO: Final = re.compile(rb"\s[-+]?0+:")
"""Index 0."""

QUERY: Final = re.compile(rb"qid:(\S+)")
"""Query of a line.

scikit-learn refuses a line with these letters anywhere but at the beginning of the
field behind the label.
"""


def read_svmlight(file: File, request: Request) -> Table:
    """Read labels, queries and features, which stay sparse if few cells are filled.

    Parameters
    ----------
    file : File
        File in memory.
    request : Request
        Options of `load`.

    Returns
    -------
    Table
        Features and targets of the rows.

    Raises
    ------
    DataError
        If a line is malformed, a value is not finite, or there are no features.
    """
    from sklearn.datasets import load_svmlight_file

    where, like = file.where, request.like
    text = COMMENT.sub(b"", file.content) if b"#" in file.content else file.content
    # Queries are read here: scikit-learn copies the array at every row that it reads,
    # and drops missing queries silently.
    queries = QUERY.findall(text) if b"qid" in text else []
    try:
        X, y = load_svmlight_file(io.BytesIO(text), zero_based=True)
        qid = np.array([int(query) for query in queries], dtype=np.int64)
    except (ValueError, OverflowError) as error:
        raise _svmlight_fault(where, text, one_line(error)) from None
    # scikit-learn accepts silently: rows without a query among rows with one, "qidx:1",
    # "1_0:2", nan and inf.
    whole = text.count(b"qid") == len(queries) and len(queries) in (0, len(y)) and b"_" not in text
    if not (whole and np.isfinite(y).all() and np.isfinite(X.data).all()):
        raise _svmlight_fault(where, text, "a value is irregular")
    if X.shape[1] > MOST_FEATURES:
        held = len(np.unique(X.indices))
        raise DataError(
            f"{where}: features go to number {X.shape[1] - 1}, and rows hold {held} of "
            f"them; number these from 1 on"
        )
    if X.nnz == 0:
        raise DataError(f"{where}: no row holds an index:value; supply at least one feature")
    notes = []
    if file.suffix in TABLE_SUFFIXES:
        notes = [f"read as svmlight ({format_option('sep', 'whitespace')} reads a table)"]
    numbered = not queries and _is_precomputed(X) if like is None else like.origin.numbered
    if numbered:
        X.data[X.indices == 0] = 0.0
        X.eliminate_zeros()
        if like is None:
            kernel = format_option("kernel", "precomputed")
            notes.append(f"0: numbers the rows, as in LIBSVM's precomputed kernels ({kernel})")
    least = int(numbered or X.indices.min() > 0)
    first = least if like is None or like.first is None else like.first
    if like is not None and least < first:
        raise DataError(
            f"{where}: features are counted from 0 and those of {like.name} from 1; count "
            f"both from the same number"
        )
    if not least and like is None:
        notes.append(
            f"features are counted from 0, because line {_first_line_with_zero(text)} has a "
            f"feature 0"
        )
    X.indices -= first
    X.resize(X.shape[0], max(X.shape[1] - first, 0 if like is None else like.X.shape[1]))
    dense = numbered or np.count_nonzero(X.data) >= SPARSE_BELOW * X.shape[0] * X.shape[1]
    return Table(
        X.toarray() if dense else _compact(X),
        _exact_labels(where, text, y),
        qid if queries else None,
        first=first,
        origin=Origin(
            target_by="format",
            query="qid" if queries else None,
            notes=tuple(notes),
            numbered=numbered,
        ),
    )


def _is_precomputed(X: Any) -> bool:
    """Return True if X is a precomputed kernel in LIBSVM's form, with m + 1 columns.

    The first column numbers the rows, and the others are a symmetric matrix.
    """
    m = X.shape[0]
    if X.shape[1] != m + 1 or not np.array_equal(
        X[:, [0]].toarray().ravel(), np.arange(1.0, m + 1)
    ):
        return False
    K = X[:, 1:].toarray()
    return np.allclose(K, K.T, atol=1e-8 * float(np.abs(K).max()))


def _first_line_with_zero(text: bytes) -> int:
    match = ZERO.search(text)
    return 0 if match is None else text.count(b"\n", 0, match.start()) + 1


def _exact_labels(where: str, text: bytes, y: NDArray[np.float64]) -> NDArray[Any]:
    try:
        return exact_labels((label[1].decode() for label in LABEL.finditer(text)), y)
    except ValueError as reason:
        raise DataError(f"{where}: the target {reason}") from None


def _compact(X: Any) -> csr_array:
    from scipy.sparse import csr_array

    X.eliminate_zeros()
    # scikit-learn reads with 64-bit indices, which its SVMs refuse.
    index = np.int32 if X.nnz < 2**31 else np.int64
    return csr_array((X.data, X.indices.astype(index), X.indptr.astype(index)), shape=X.shape)


def _svmlight_fault(where: str, text: bytes, reason: str) -> DataError:
    """Return the error of the first bad line; slow, and called only after a failure."""
    first: tuple[int, bool] | None = None
    for number, line in enumerate(text.split(b"\n"), start=1):
        tokens = line.decode("ascii", "backslashreplace").split()
        if not tokens:
            continue
        fault = _row_fault(tokens)
        # Either every row has a query or none has; the first row decides.
        asks = len(tokens) > 1 and tokens[1].startswith("qid")
        first = first or (number, asks)
        if fault is None and asks != first[1]:
            fault = (
                f"this row has {'a' if asks else 'no'} qid and line {first[0]} has "
                f"{'one' if first[1] else 'none'}"
            )
        if fault is not None:
            return DataError(
                f"{where}, line {number}: {fault}; correct or remove the line (it is read "
                f"as svmlight; {format_option('sep', _separator(line))} reads a table)"
            )
    return DataError(
        f"{where}: cannot be read as svmlight ({reason}); correct the file, or name the "
        f"separator of a table ({format_option('sep', _separator(text))})"
    )


def _separator(text: bytes) -> str:
    """Return the separator that the text would have as a table."""
    return "tab" if b"\t" in text else "," if b"," in text else "whitespace"


def _row_fault(tokens: list[str]) -> str | None:
    label, *features = tokens
    if not is_finite(label):
        return f"the label {shown(label)} is not a finite number"
    if features and features[0].startswith("qid"):
        name, _, query = features.pop(0).partition(":")
        if name != "qid" or integer(query) is None:
            return f"{shown(name + ':' + query)} is not qid: and an integer"
    # Indices must increase; -1 precedes all of them.
    last = -1
    for feature in features:
        text, _, value = feature.partition(":")
        index = integer(text)
        if index is None or not 0 <= index < 2**31:
            return f"{shown(feature)} is not index:value with an index from 0 to {2**31 - 1}"
        if index <= last:
            return f"feature {index} comes after feature {last}, and indices must increase"
        if not is_finite(value):
            return f"the value of feature {index} is {shown(value)}, which is not a finite number"
        last = index
    return None
