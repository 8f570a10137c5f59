"""Data at the edge: a bundled set or a file becomes finite arrays, or one sentence that says what is wrong, where, and what to do."""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

TASKS: Final = ("classification", "regression", "ranking")

BUNDLED: Final[Mapping[str, tuple[str, str]]] = {
    "breast_cancer": ("569 x 30, malignant -1, benign +1", "classification"),
    "digits_even_odd": ("1,797 x 64 grey levels of handwritten digits, even +1, odd -1", "classification"),
    "diabetes": ("442 x 10, disease progression after one year", "regression"),
    "diabetes_ranking": ("60 fixed rows of diabetes, the target is the relevance, one query: 1,767 pairs", "ranking"),
    "diabetes_ranking_full": ("all 442 rows of diabetes, the target is the relevance, one query: 97,090 pairs", "ranking"),
    "wine_ranking": ("178 x 13, the class is the relevance (2 above 1 above 0), one query: 10,429 pairs", "ranking"),
    "iris": ("100 x 4, versicolor -1, virginica +1: no plane separates them", "classification"),
    "iris_ranking": ("150 x 4, the class is the relevance (virginica above versicolor above setosa), one query: 7,500 pairs", "ranking"),
    "xor": ("4 x 2, +1 where the two signs differ: no line separates it", "classification"),
}
"""Name of each bundled data set: (one-line description, default task)."""

_SPARSE_BELOW: Final = 0.1
_SUBSET_SEED: Final = 0
_COMMENT: Final = re.compile(rb"#[^\n]*")
_QID: Final = re.compile(rb"^[^\S\n]*\S+[^\S\n]+qid:(\S+)", re.MULTILINE)
# A number and then a colon, or a colon after an index where no delimiter of CSV is about: a first line with a fault still counts.
_SVMLIGHT_LINE: Final = re.compile(rb"[-+.\deE]+\s+\S*:|[^,;]*(?<!\S)(?:qid|[-+]?\d+):[^,;]*$")
_MISSING: Final = ("", "?", "na", "n/a", "nan", "null", "none", "-", ".")
_ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")
_PICKLE: Final = "is a pickle, which could run code when read; save X and y with numpy.savez instead"
_FOREIGN: Final = {
    b"\x80": _PICKLE,
    b"\x1f\x8b": "is compressed with gzip; decompress it first",
    b"\x93NUMPY": "holds one NumPy array; save X and y together with numpy.savez instead",
    b"\xff\xfe": "is UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "is UTF-16 text; save it as UTF-8",
}


class DataError(ValueError):
    """Data that cannot be used: one sentence with the place, the reason and what to do."""


@dataclass(frozen=True, eq=False)
class Data:
    """Finite numeric rows with one target each, loaded for one task.

    Parameters
    ----------
    name : the bundled name, or the name of the file.
    X : (m, d) features; dense, or CSR where a svmlight file fills less than a tenth of its cells.
    y : (m,) targets: -1 and +1 for classification, any number for regression, relevance (higher is better) for ranking.
    qid : (m,) query of each row, or None where the data has no queries (in ranking: all rows are one query).
    task : "classification", "regression" or "ranking".
    columns : the names of the features, of a CSV file alone.  header : whether these are its first row; without a header they are
        "column 1", "column 2", ..., by their places in the file.  first : the index of the first one, of a svmlight file alone.
    classes : the two labels that are -1 and +1 here, of a classification alone.
    """

    name: str
    X: NDArray[np.float64] | csr_array
    y: NDArray[np.float64]
    qid: NDArray[np.int64] | None
    task: str
    columns: tuple[str, ...] | None = None
    first: int | None = None
    classes: tuple[float | str, float | str] | None = None
    header: bool | None = None

    @property
    def header_note(self) -> str:
        """How the first row of a CSV file was read, in words, where somebody might have meant it otherwise; else nothing."""
        if self.header is False:
            return "first row read as data (--header reads it as column names)"
        if self.header and any(map(_is_finite, self.columns or ())):
            return "first row read as column names (--no-header reads it as data)"
        return ""

    def scaled(self, by: Data | None = None) -> Data:
        """Bring every feature to a common scale.

        Parameters
        ----------
        by : data of the same features, dense or CSR as these are, whose means, deviations and largest values are taken; by default these.

        Returns
        -------
        Data whose columns have mean 0 and standard deviation 1 (constant columns become 0); a CSR matrix is divided by the
        largest absolute value of each column and not centred, so that it stays sparse.
        """
        reference = (by or self).X
        if isinstance(self.X, np.ndarray):
            return replace(self, X=_standardised(self.X, reference))
        X = self.X.copy()
        X.data /= _divisor(abs(reference).max(axis=0).toarray().ravel())[X.indices]
        return replace(self, X=X)

    def sampled(self, n: int, seed: int) -> Data:
        """Take a random subset of the rows, in file order; a larger n with the same seed only adds rows, up to the class rule.

        Parameters
        ----------
        n : number of rows, at least 1; all rows are kept if there are no more than n.
        seed : the same seed takes the same rows.

        Returns
        -------
        Data of n rows drawn without replacement.  Classification keeps a row of each class from n = 2 on.  Ranking takes whole
        queries in shuffled order and cuts the last one, at random rows of it, to reach n.

        Raises
        ------
        DataError : n is less than 1.
        """
        if n < 1:
            raise DataError(f"{self.name}: cannot sample {n} rows; ask for at least 1")
        if n >= len(self.y):
            return self
        # RandomState, unlike default_rng, promises the same stream in every NumPy release: a sample is part of a reported result.
        random = np.random.RandomState(seed)
        order = random.permutation(len(self.y))
        if self.task == "ranking" and self.qid is not None:
            queries, query = np.unique(self.qid, return_inverse=True)
            place = random.permutation(len(queries))[query]
            order = order[np.argsort(place[order], kind="stable")]
        rows = order[:n]
        if self.task == "classification" and n > 1:
            rows = _both_classes(self.y, order, n)
        rows = np.sort(rows)
        return replace(self, X=self.X[rows], y=self.y[rows], qid=None if self.qid is None else self.qid[rows])


def load(
    source: str | os.PathLike[str],
    *,
    task: str | None = None,
    target: str | None = None,
    query: str | None = None,
    like: Data | None = None,
    header: bool | None = None,
) -> Data:
    """Load a bundled data set by its name, or a svmlight/LETOR, CSV or NPZ file.

    Parameters
    ----------
    source : a name in BUNDLED, or a path.  A plain string equal to a bundled name means the bundled set, so that a stray file
        never changes a result; write "./xor" or Path("xor") for a file of that name.
    task : "classification", "regression" or "ranking".  Default: that of the bundled set; for a file, ranking if it has queries,
        classification if its target takes exactly two values, else regression.
    target : the target column of a CSV file, by its name; by default the last one that is not the query.
    query : the query column of a CSV file; by default the one named qid or query, if any.
    like : data to be joined by further rows: of its task, features and classes.  Columns of a CSV file may come in another order, the
        last features of a svmlight file may be absent, and of two classes one; target, query and header say nothing of what is no CSV file.
    header : whether the first row of a CSV file holds the names of the columns; by default what it looks like, which `Data.header` tells.

    Returns
    -------
    Data.  For classification the smaller of the two labels becomes -1, the larger +1 (text labels: in sorted order).  A svmlight
    file with an index 0 anywhere counts its features from 0, otherwise from 1.

    Raises
    ------
    DataError : unreadable or malformed input, a value that is not finite, no rows, no features, rows with and without a query,
        a target that does not fit the task, a first row that may be names as well as data, or features and classes other than those of
        `like`.
    """
    task = task if like is None else like.task
    if task is not None and task not in TASKS:
        raise DataError(f"there is no task {task!r}; choose one of {', '.join(TASKS)}")
    if isinstance(source, str) and source in BUNDLED:
        if like is None and (target, query, header) != (None, None, None):
            raise DataError(f"{source}: target, query and header are about a CSV file, and this data set is bundled; leave them out")
        return _for_task(source, source, _bundled(source), task or BUNDLED[source][1], like)
    path = Path(source)
    return _for_task(path.name, str(path), _table(path, task, target, query, like, header), task, like)


class _Table(NamedTuple):
    X: NDArray[np.float64] | csr_array
    y: NDArray[Any]  # float64, or text labels for classification
    qid: NDArray[np.int64] | None
    columns: tuple[str, ...] | None = None
    first: int | None = None
    header: bool | None = None


def _for_task(name: str, where: str, table: _Table, task: str | None, like: Data | None) -> Data:
    X, y, qid, columns, first, header = table
    if 0 in X.shape:
        raise DataError(f"{where}: there are {X.shape[0]} rows and {X.shape[1]} features; supply at least one of each")
    if like is not None:
        X = _features_like(where, X, columns, like)
        columns = None if columns is None else like.columns
    levels, classes = np.unique(y), None
    if task is None:
        task = "ranking" if qid is not None else "classification" if len(levels) == 2 else "regression"
    if task == "classification":
        known = None if like is None else like.classes
        if known is None and len(levels) != 2:
            raise DataError(f"{where}: {_class_count(levels)}")
        classes = known or (levels[0].item(), levels[1].item())
        if not set(levels.tolist()) <= set(classes):
            raise DataError(f"{where}: the classes are {_listed(levels.tolist())} and not {_listed(classes)}; supply rows of these alone")
        y = np.where(y == classes[1], 1.0, -1.0)
    return Data(name, X, y, qid, task, columns, first, classes, header)


def _features_like(where: str, X: Any, columns: tuple[str, ...] | None, like: Data) -> Any:
    """X in the features of other data: by name where both have names, else by place."""
    d = like.X.shape[1]
    if X.shape[1] != d:
        raise DataError(f"{where} has {X.shape[1]} features and {like.name} {d}; supply the same")
    if columns is None or like.columns is None or columns == like.columns:
        return X
    if sorted(columns) != sorted(like.columns) or len(set(columns)) < d:
        raise DataError(
            f"{where}: the feature columns are {_listed(columns)} and those of {like.name} {_listed(like.columns)}; supply the same"
        )
    return X[:, [columns.index(name) for name in like.columns]]


def _class_count(levels: NDArray[Any]) -> str:
    values = _listed(levels.tolist())
    if len(levels) == 1:
        return f"the target has one class ({values}), and one class cannot be classified; supply rows of two classes"
    remedy = "keep two of them" if levels.dtype.kind == "U" else 'keep two of them or use the task "regression" or "ranking"'
    return f"the target has {len(levels)} classes ({values}), and classification takes two; {remedy}"


def _bundled(name: str) -> _Table:
    if name == "xor":
        corners = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
        return _Table(corners, -corners[:, 0] * corners[:, 1], None)
    from sklearn import datasets

    if name == "breast_cancer":
        X, y = datasets.load_breast_cancer(return_X_y=True)
        y = 2 * y - 1
    elif name == "digits_even_odd":
        X, y = datasets.load_digits(return_X_y=True)
        y = np.where(y % 2 == 0, 1, -1)
    elif name == "wine_ranking":
        X, y = datasets.load_wine(return_X_y=True)
    elif name.startswith("iris"):
        X, y = datasets.load_iris(return_X_y=True)
        if name == "iris":
            X, y = X[y > 0], 2 * y[y > 0] - 3
    else:
        X, y = datasets.load_diabetes(return_X_y=True)
    if name == "diabetes_ranking":
        rows = np.sort(np.random.RandomState(_SUBSET_SEED).permutation(len(y))[:60])
        X, y = X[rows], y[rows]
    return _Table(np.ascontiguousarray(X, dtype=np.float64), y.astype(np.float64), None)


def _standardised(X: NDArray[np.float64], reference: Any) -> NDArray[np.float64]:
    # Dividing first keeps huge values from overflowing; subtracting the smallest makes a constant column exactly 0, where
    # (X - mean) / std would blow up the rounding error of the mean.
    size = _divisor(np.abs(reference).max(axis=0))
    Z, R = X / size, reference / size
    for shift in (np.min, np.mean):
        by = shift(R, axis=0)
        Z -= by
        R -= by
    Z /= _divisor(R.std(axis=0))
    return Z


def _divisor(scale: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(scale > 0, scale, 1.0)


def _both_classes(y: NDArray[np.float64], order: NDArray[np.intp], n: int) -> NDArray[np.intp]:
    rows = order[:n].copy()
    other = order[y[order] != y[rows[0]]]
    if other.size and np.all(y[rows] == y[rows[0]]):
        rows[-1] = other[0]
    return rows


def _table(path: Path, task: str | None, target: str | None, query: str | None, like: Data | None, header: bool | None) -> _Table:
    content = _content(path)
    kind = _kind(path, content)
    if kind == "CSV":
        return _csv(path, content, task, target, query, header)
    if like is None and (target, query, header) != (None, None, None):
        raise DataError(f"{path}: target, query and header are about a CSV file, and this is a {kind} file; leave them out")
    return _npz(path, content) if kind == "NPZ" else _svmlight(path, content, like)


def _content(path: Path) -> bytes:
    if path.is_dir():
        raise DataError(f"{path}: is a directory; name a file in it")
    try:
        content = path.read_bytes().removeprefix(b"\xef\xbb\xbf")  # the mark some editors put before UTF-8 text
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file and no such bundled data set; bundled are {', '.join(BUNDLED)}") from None
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL character
        raise DataError(f"{path}: cannot be read ({_one_line(error)}); check the path and its permissions") from None
    if not content or content.isspace():
        raise DataError(f"{path}: the file is empty; supply at least one row")
    return content


def _kind(path: Path, content: bytes) -> str:
    """Tell the format by the content; the extension decides only where the content fits none."""
    if content.startswith(_ZIP):
        return "NPZ"
    for start, reason in _FOREIGN.items():
        if content.startswith(start):
            raise DataError(f"{path}: the file {reason}")
    if path.suffix.lower() in (".pkl", ".pickle", ".joblib"):
        raise DataError(f"{path}: the file {_PICKLE}")
    if b"\0" in content:
        raise DataError(f"{path}: the file is binary and no NPZ archive; supply svmlight, CSV or NPZ")
    line = _telling_line(content)
    if _SVMLIGHT_LINE.match(line):
        return "svmlight"
    if re.search(rb"[,;\t]", line) or path.suffix.lower() in (".csv", ".tsv"):
        return "CSV"
    if path.suffix.lower() in (".svm", ".svmlight", ".libsvm", ".letor"):
        return "svmlight"
    raise DataError(f"{path}: the file is neither svmlight (label index:value ...) nor CSV nor NPZ; convert it to one")


def _telling_line(content: bytes) -> bytes:
    """Return the first line that is more than a comment or a lone number (a svmlight row of zeros)."""
    for line in io.BytesIO(content):
        text = line.partition(b"#")[0].strip()
        if text and _number(text.decode("latin-1")) is None:
            return text
    return b""


def _svmlight(path: Path, content: bytes, like: Data | None) -> _Table:
    from sklearn.datasets import load_svmlight_file

    text = _COMMENT.sub(b"", content)
    # Queries are read here: scikit-learn's own reading of them copies the array at every row, and drops missing ones silently.
    queries = _QID.findall(text)
    try:
        X, y = load_svmlight_file(io.BytesIO(text), zero_based=True)
        qid = np.array([int(query) for query in queries], dtype=np.int64)
    except (ValueError, OverflowError) as error:
        raise _svmlight_fault(path, text, _one_line(error)) from None
    # What scikit-learn takes without a word: rows without a query among rows with one, "qidx:1", "1_0:2", nan and inf.
    whole = text.count(b"qid") == len(queries) and len(queries) in (0, len(y)) and b"_" not in text
    if not (whole and np.isfinite(y).all() and np.isfinite(X.data).all()):
        raise _svmlight_fault(path, text, "a value is irregular")
    if X.nnz == 0:
        raise DataError(f"{path}: no row holds an index:value; supply at least one feature")
    least = int(X.indices.min() > 0)
    first = least if like is None or like.first is None else like.first
    if like is not None and least < first:
        raise DataError(f"{path}: features are counted from 0 and those of {like.name} from 1; count them from the same")
    X.indices -= first
    X.resize(X.shape[0], max(X.shape[1] - first, 0 if like is None else like.X.shape[1]))
    dense = np.count_nonzero(X.data) >= _SPARSE_BELOW * X.shape[0] * X.shape[1]
    return _Table(X.toarray() if dense else _compact(X), y, qid if queries else None, first=first)


def _compact(X: Any) -> csr_array:
    from scipy.sparse import csr_array

    X.eliminate_zeros()
    # scikit-learn reads with 64-bit indices, and its own SVMs then refuse them.
    index = np.int32 if X.nnz < 2**31 else np.int64
    return csr_array((X.data, X.indices.astype(index), X.indptr.astype(index)), shape=X.shape)


def _svmlight_fault(path: Path, text: bytes, reason: str) -> DataError:
    """Name the first bad line, slowly; called only once something is known to be wrong."""
    first: tuple[int, bool] | None = None
    for number, line in enumerate(text.split(b"\n"), start=1):
        tokens = line.decode("ascii", "backslashreplace").split()
        if not tokens:
            continue
        fault = _row_fault(tokens)
        asks = len(tokens) > 1 and tokens[1].startswith("qid")
        first = first or (number, asks)
        if fault is None and asks != first[1]:
            fault = f"this row has {'a' if asks else 'no'} qid and line {first[0]} has {'one' if first[1] else 'none'}"
        if fault is not None:
            return DataError(f"{path}, line {number}: {fault}; correct or remove the line")
    return DataError(f"{path}: cannot be read as svmlight ({reason}); correct the file")


def _row_fault(tokens: list[str]) -> str | None:
    label, *features = tokens
    if not _is_finite(label):
        return f"the label {_shown(label)} is not a finite number"
    if features and features[0].startswith("qid"):
        name, _, query = features.pop(0).partition(":")
        if name != "qid" or _integer(query) is None:
            return f"{_shown(name + ':' + query)} is not qid: and an integer"
    last = -1
    for feature in features:
        text, _, value = feature.partition(":")
        index = _integer(text)
        if index is None or not 0 <= index < 2**31:
            return f"{_shown(feature)} is not index:value with an index from 0 to {2**31 - 1}"
        if index <= last:
            return f"feature {index} comes after feature {last}, and indices must increase"
        if not _is_finite(value):
            return f"the value of feature {index} is {_shown(value)}, which is not a finite number"
        last = index
    return None


def _csv(path: Path, content: bytes, task: str | None, target: str | None, query: str | None, header: bool | None) -> _Table:
    lines, columns = _records(path, content)
    if header is None:
        header = _has_header(path, lines[0], columns, {target, query})
    names = [f"column {at}" for at in range(1, len(columns) + 1)]
    if header:
        names = _names(path, lines[0], [column[0] for column in columns])
        lines, columns = lines[1:], [column[1:] for column in columns]
        if not lines:
            raise DataError(f"{path}: there is no row below the header; supply at least one")
    query_at = _query_column(path, names, target, query)
    rest = [at for at in range(len(names)) if at != query_at]
    targets = rest[-1:] if target is None else [_position(path, names, target, "target")]
    if query_at in targets:
        raise DataError(f"{path}: column {_shown(target)} is named as target and as query; name two different columns")
    features = [at for at in rest if at not in targets]
    if not features:
        raise DataError(f"{path}: there is no feature column beside {_listed(names)}; supply at least one")
    (target_at,) = targets
    if task is None and query_at is not None:
        task = "ranking"
    y = _target(path, names[target_at], lines, columns[target_at], task)
    X = np.empty((len(lines), len(features)))
    for j, at in enumerate(features):
        X[:, j] = _floats(path, names[at], lines, columns[at], "correct it or drop the column")
    qid = None if query_at is None else _queries(path, lines, columns[query_at])
    return _Table(X, y, qid, columns=tuple(names[at] for at in features), header=header)


def _records(path: Path, content: bytes) -> tuple[list[int], list[tuple[str, ...]]]:
    """Return the line numbers of the rows, the first one included, and their fields column by column."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(f"{path}, line {line}: the text is not UTF-8; save the file as UTF-8") from None
    lines: list[int] = []
    rows: list[list[str]] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    try:
        for fields in reader:
            if fields:
                lines.append(reader.line_num)
                rows.append([field.strip() for field in fields])
    except csv.Error as error:
        raise DataError(f"{path}, line {reader.line_num}: {_one_line(error)}; correct the quotes or the line") from None
    for line, row in zip(lines, rows, strict=True):
        if len(row) != len(rows[0]):
            raise DataError(f"{path}, line {line}: the row has {len(row)} fields and the first row {len(rows[0])}; correct the line")
    return lines, list(zip(*rows, strict=True))


def _delimiter(text: str) -> str:
    header = re.sub(r'"[^"]*"', "", re.split(r"[\r\n]", text.lstrip("\r\n"), maxsplit=1)[0])
    return max(",\t;", key=header.count)


def _has_header(path: Path, line: int, columns: list[tuple[str, ...]], asked: set[str | None]) -> bool:
    """Tell names from data by what stands below them; where that does not tell, refuse, for a row would be lost or a false one added.

    A word above numbers is a name.  A word that comes again below is a label.  Numbers are names (years, wavelengths, doses, places) only
    where they rise or fall from left to right.
    """
    if any(column[0] in asked for column in columns):
        return True
    numbers = [column for column in columns if _is_finite(column[0])]
    words = [column for column in columns if not _is_finite(column[0]) and column[0].lower() not in _MISSING]
    if len(columns[0]) == 1:
        return len(words) > len(numbers)
    labels = [column for column in words if column[0] in column[1:]]
    names = [column for column in words if column[0] not in column[1:] and _is_finite(_below(column))]
    values = [float(column[0]) for column in numbers]
    ordered = len(set(values)) == len(values) and values in (sorted(values), sorted(values, reverse=True))
    if len(names) > len(numbers) or (names and ordered and not labels):
        return True
    if not names:
        counted = len(values) > 1 and values in ([float(k + by) for k in range(len(values))] for by in (0, 1))  # as programs name columns
        missing = len(words) + len(numbers) < len(columns)
        if labels or missing or not ordered or any(len(set(column[1:])) == 1 for column in words):
            return False
        if words and (counted or all(min(Counter(column[1:]).values()) > 1 for column in words)):  # the one word that stands once
            return True
        if not words and not counted and any(_within(column) for column in numbers):
            return False
    raise DataError(
        f"{path}, line {line}: the first row may be column names or data; say which: --header or --no-header (in Python header=...)"
    )


def _below(column: tuple[str, ...]) -> str:
    """The first entry below the first row that is not missing."""
    return next((entry for entry in column[1:] if entry.lower() not in _MISSING), "")


def _within(column: tuple[str, ...]) -> bool:
    """Whether the first number is neither smaller nor larger than all below."""
    rest = [float(entry) for entry in column[1:] if _is_finite(entry)]
    return bool(rest) and min(rest) <= float(column[0]) <= max(rest)


def _names(path: Path, line: int, header: list[str]) -> list[str]:
    if "" in header:
        at = header.index("") + 1
        raise DataError(f"{path}, line {line}: column {at} has no name; name it, or drop it if it only counts the rows")
    return header


def _query_column(path: Path, header: list[str], target: str | None, query: str | None) -> int | None:
    if query is not None:
        return _position(path, header, query, "query")
    named = [at for at, name in enumerate(header) if name.lower() in ("qid", "query") and name != target]
    if len(named) > 1:
        raise DataError(f"{path}: columns {_listed([header[at] for at in named])} could each be the query; say which with query")
    return named[0] if named else None


def _position(path: Path, header: list[str], name: str, role: str) -> int:
    if name not in header:
        raise DataError(f"{path}: there is no column {_shown(name)} to be the {role}; the columns are {_listed(header)}")
    if header.count(name) > 1:
        raise DataError(f"{path}: {header.count(name)} columns are named {_shown(name)}, the {role}; rename all but one")
    return header.index(name)


def _target(path: Path, column: str, lines: list[int], texts: Sequence[str], task: str | None) -> NDArray[Any]:
    levels = set(texts)
    words = "" not in levels and all(_number(level) is None for level in levels)
    if words and (task == "classification" or (task is None and len(levels) == 2)):
        return np.array(texts)
    return _floats(path, column, lines, texts, "correct it or name another target column")


def _floats(path: Path, column: str, lines: list[int], texts: Sequence[str], remedy: str) -> NDArray[np.float64]:
    values = []
    for line, text in zip(lines, texts, strict=True):
        value = _number(text)
        if value is None or not math.isfinite(value):
            raise DataError(f"{path}, line {line}, column {_shown(column)}: {_shown(text)} is not a finite number; {remedy}")
        values.append(value)
    return np.array(values)


def _queries(path: Path, lines: list[int], texts: Sequence[str]) -> NDArray[np.int64]:
    if "" in texts:
        raise DataError(f"{path}, line {lines[texts.index('')]}: this row has no query and others have one; give every row a query")
    numbers = [number for text in texts if (number := _integer(text)) is not None]
    if len(numbers) < len(texts):  # not all are integers: number them by first appearance
        first = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        numbers = [first[text] for text in texts]
    return np.array(numbers, dtype=np.int64)


def _npz(path: Path, content: bytes) -> _Table:
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            names = list(archive)
            arrays = {name: np.asarray(archive[name]) for name in ("y", "X", "qid") if name in names}
    except Exception as error:  # a damaged archive fails in many ways, from zipfile, zlib, struct and NumPy's header parser
        raise DataError(
            f"{path}: cannot be read as an NPZ archive of plain arrays ({_one_line(error)}); save numeric arrays X and y with numpy.savez"
        ) from None
    if "X" not in arrays or "y" not in arrays:
        raise DataError(f"{path}: the archive needs the arrays X and y and has {_listed(names) or 'none'}; save them under these names")
    for name, array in arrays.items():
        _check_array(path, name, array, arrays["y"].size)
    X, y = _finite(path, "X", arrays["X"]), _finite(path, "y", arrays["y"])
    return _Table(X, y, arrays["qid"].astype(np.int64) if "qid" in arrays else None)


def _check_array(path: Path, name: str, array: NDArray[Any], rows: int) -> None:
    kinds, meaning = ("iu", "integers") if name == "qid" else ("biuf", "numbers")
    dimensions = 2 if name == "X" else 1
    if array.dtype.kind not in kinds or array.ndim != dimensions:
        raise DataError(
            f"{path}: the array {name} has {array.ndim} dimensions and type {array.dtype}; save {meaning} in {dimensions} dimensions"
        )
    if len(array) != rows:
        raise DataError(f"{path}: the array {name} has {len(array)} rows and y has {rows}; save as many of each")
    if name == "qid" and array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise DataError(f"{path}: the array qid goes up to {array.max()}, more than int64 holds; renumber the queries")


def _finite(path: Path, name: str, array: NDArray[Any]) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):  # a long double beyond float64 becomes inf, which is refused below
        values = np.ascontiguousarray(array, dtype=np.float64)
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        place = ", ".join(str(index) for index in bad[0].tolist())
        raise DataError(f"{path}: {name}[{place}] is {values[tuple(bad[0])]}, which is not a finite number; correct or remove the row")
    return values


def _number(text: str) -> float | None:
    if "_" in text or not text.isascii():  # float() also takes 1_000 and the digits of other scripts
        return None
    try:
        return float(text)
    except ValueError:
        return None


def _is_finite(text: str) -> bool:
    value = _number(text)
    return value is not None and math.isfinite(value)


def _integer(text: str) -> int | None:
    if not re.fullmatch(r"[-+]?[0-9]{1,19}", text):
        return None
    value = int(text)
    return value if -(2**63) <= value < 2**63 else None


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:36]}...{text[-1]}"


def _listed(values: Sequence[object]) -> str:
    shown = ", ".join(_shown(value) for value in values[:12])
    return shown if len(values) <= 12 else f"{shown} and {len(values) - 12} more"


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
