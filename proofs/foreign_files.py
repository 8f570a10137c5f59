"""Model files of other programs: NPZ and JSON coefficients, LIBSVM, LIBLINEAR, SVMlight.

`foreign_models` lists the keys of coefficients. A LIBSVM classifier of k classes has a
function for each pair p < q of its labels, in the order of the file, with k - 1
coefficients for each support vector: row q - 1 for those of class p, row p for those of
class q. A LIBLINEAR classifier of more than two classes has one w for each class, and
LIBLINEAR's MCSVM_CS always.

References
----------
C.-C. Chang and C.-J. Lin, LIBSVM: a library for support vector machines, 2011; manuals of
LIBSVM 3.x and LIBLINEAR 2.x.
T. Joachims, Training linear SVMs in linear time, KDD (2006); help of SVMrank 1.0.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from equimargin.formulations.kernels.kernel import Precomputed, linear
from equimargin.formulations.numeric.archive import Archive
from equimargin.formulations.numeric.arguments import format_error
from equimargin.formulations.numeric.arrays import Array
from equimargin.proofs.foreign_machines import AnyModel, JointModel, Machine, Machines
from equimargin.proofs.foreign_models import (
    FREE_BIAS,
    NO_CLASS_WEIGHTS,
    PENALISED_BIAS,
    PROBLEM_OF_LIBLINEAR,
    ClaimedProblem,
    Model,
    make_kernel,
    of_values,
    read_finite,
    read_integer,
    read_number,
    read_required,
    read_whole,
)

if TYPE_CHECKING:
    from scipy import sparse

SVMLIGHT = b"SVM-light Version"
"""First bytes of a model of SVMlight or SVMrank."""
COST_OF_A_PAIR = (
    "trained on pairs (-z p), C is the cost of a pair (-c of SVMrank over the number of queries)"
)
"""Assumptions about a ranker of SVMlight.

Its file does not tell it from one of SVMrank, nor from another task with threshold 0.
"""
ALL_CLASSES = "MCSVM_CS"
"""LIBLINEAR's solver of the problem of all classes, that of Crammer and Singer."""
READING_ERRORS = (ValueError, TypeError, IndexError, ArithmeticError, MemoryError, RuntimeError)
"""Exceptions of Python and numpy for a file that is not in the format of its first bytes."""


def read(path: str | os.PathLike[str]) -> AnyModel:
    """Read a model file: NPZ or JSON coefficients, LIBSVM, LIBLINEAR or SVMlight.

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
            return replace(_libsvm(lines), numeric_labels=True)
        if data.startswith(b"solver_type"):
            return replace(_liblinear(lines), numeric_labels=True)
        if data.startswith(SVMLIGHT):
            return _svmlight(lines)
    except READING_ERRORS as reason:
        raise ValueError(f"{Path(path).name}: {format_error(reason)}") from None
    raise ValueError(f"{Path(path).name} is no NPZ, JSON, LIBSVM, LIBLINEAR or SVMlight model")


def _libsvm(lines: Sequence[str]) -> AnyModel:
    """Convert a LIBSVM model: a header, a line SV, then one line per support vector.

    A line has the coefficients and the features, rounded to 8 digits.
    """
    header, start = _header(lines, "SV")
    kind = read_required(header, "svm_type")
    if kind not in ("c_svc", "epsilon_svr"):
        raise ValueError(f"LIBSVM's c_svc and epsilon_svr can be audited, not {kind}")
    labels = _labels(header) if kind == "c_svc" else np.array([1.0, 0.0])
    k = len(labels)
    rho = read_finite("rho", read_required(header, "rho").split(), k * (k - 1) // 2)
    claimed = ClaimedProblem(
        "classification" if kind == "c_svc" else "regression",
        make_kernel(read_required(header, "kernel_type"), header),
        "hinge",
    )
    rows = [line.split() for line in lines[start:] if line.strip()]
    n = read_integer(header, "total_sv")
    if len(rows) != n:
        raise ValueError(f"the model announces {n} support vectors and has {len(rows)}")
    coefficients = read_finite(
        "coefficients", [entry for row in rows for entry in row[: k - 1]], n * (k - 1)
    ).reshape(n, k - 1)
    vectors = _vectors([row[k - 1 :] for row in rows])
    # Of two classes all coefficients are in one row.
    per_class = read_whole("nr_sv", read_required(header, "nr_sv").split(), k) if k > 2 else [n, 0]
    ends = np.cumsum([0, *per_class])
    if ends[-1] != n:
        raise ValueError(f"nr_sv announces {ends[-1]} support vectors, and total_sv {n}")
    assumed = NO_CLASS_WEIGHTS if kind == "c_svc" else ""
    models = dict[tuple[int, int], Model]()
    for number, (p, q) in enumerate(combinations(range(k), 2)):
        # The function is positive for label p, and that of a machine for the larger label.
        sign = 1.0 if labels[p] > labels[q] else -1.0
        of_p, of_q = (np.arange(ends[own], ends[own + 1]) for own in (p, q))
        chosen = np.concatenate([of_p, of_q])
        pair = sign * np.concatenate([coefficients[of_p, q - 1], coefficients[of_q, p]])
        chosen, pair = (chosen, pair) if k == 2 else (chosen[pair != 0], pair[pair != 0])
        model = Model(
            f"LIBSVM {kind}", claimed, -sign * float(rho[number]), None, pair, assumed=assumed
        )
        models[p, q] = _with_vectors(model, vectors[chosen])
    return models[0, 1] if k == 2 else Machines(f"LIBSVM {kind}", k, _pairs(labels, models))


def _pairs(labels: Array, models: Mapping[tuple[int, int], Model]) -> tuple[Machine, ...]:
    """Return the machines of pairs of labels, in ascending order of the labels."""
    places = np.argsort(labels)
    names = [_name(label) for label in labels[places]]
    return tuple(
        Machine(f"{names[i]} vs {names[j]}", models[min(p, q), max(p, q)], (i,), (j,))
        for (i, p), (j, q) in combinations(enumerate(places.tolist()), 2)
    )


def _vectors(rows: Sequence[Sequence[str]]) -> sparse.csr_array:
    """Return the features of support vectors, written INDEX:VALUE.

    A first column has the entries of index 0.
    """
    pairs = [[entry.partition(":")[::2] for entry in row] for row in rows]
    ends = np.cumsum([0, *map(len, pairs)])
    index = read_whole("feature indices", [k for row in pairs for k, _ in row])
    entries = read_finite("features", [v for row in pairs for _, v in row])
    # Within a row the indices ascend; steps between rows are excluded.
    own = np.repeat(np.arange(len(rows)), np.diff(ends))
    if (np.diff(index)[np.diff(own) == 0] <= 0).any():
        raise ValueError("the features of a support vector are numbered from 1, in ascending order")
    # Imported here: reading no model needs no sparse matrices.
    from scipy import sparse

    return sparse.csr_array(
        (entries, index, ends), shape=(len(rows), int(index.max(initial=0)) + 1)
    )


def _with_vectors(model: Model, vectors: sparse.csr_array) -> Model:
    """Return a model with its support vectors, whose first column is that of index 0."""
    if isinstance(model.claimed.kernel, Precomputed):
        if vectors.indices.any() or vectors.nnz != vectors.shape[0]:
            raise ValueError("with a precomputed kernel a support vector is 0:NUMBER")
        return replace(model, support=read_whole("support vectors", vectors.data) - 1)
    if (vectors.indices == 0).any():
        raise ValueError("the features of a support vector are numbered from 1, in ascending order")
    return replace(model, vectors=vectors[:, 1:])


def _liblinear(lines: Sequence[str]) -> AnyModel:
    """Convert a LIBLINEAR model: a header, a line w, then the weights of every feature.

    A `bias` >= 0 in the header is the value of an appended feature, whose weights are the
    last. A regression or a ranking has no labels.
    """
    header, start = _header(lines, "w")
    kind = read_required(header, "solver_type")
    if kind not in (*PROBLEM_OF_LIBLINEAR, ALL_CLASSES):
        known = ", ".join((*PROBLEM_OF_LIBLINEAR, ALL_CLASSES))
        raise ValueError(f"LIBLINEAR's {known} can be audited, not {kind}")
    is_classifier = kind == ALL_CLASSES or PROBLEM_OF_LIBLINEAR[kind][0] == "classification"
    labels = _labels(header) if is_classifier else np.array([1.0, 0.0])
    constant, d = read_number(header, "bias"), read_integer(header, "nr_feature")
    count = 1 if len(labels) == 2 and kind != ALL_CLASSES else len(labels)
    numbers = [entry for line in lines[start:] for entry in line.split()]
    W = read_finite("w", numbers, (d + (constant >= 0)) * count).reshape(-1, count).T
    source, places = f"LIBLINEAR {kind}", np.argsort(labels)
    # An appended feature of value 0 does not change the function.
    W, appended = (W, constant) if constant > 0 else (W[:, :d], None)
    if kind == ALL_CLASSES:
        return JointModel(source, None, W[places], appended, assumed=NO_CLASS_WEIGHTS)
    if count == 1:
        return _linear(kind, (1.0 if labels[0] > labels[1] else -1.0) * W[0], appended)
    return Machines(source, count, tuple(_against_the_rest(kind, labels, W, appended)))


def _against_the_rest(
    kind: str, labels: Array, W: Array, constant: float | None
) -> Iterator[Machine]:
    """Yield the machine of every class, in ascending order of the labels."""
    for own, place in enumerate(np.argsort(labels).tolist()):
        others = tuple(other for other in range(len(labels)) if other != own)
        model = _linear(kind, W[place], constant)
        yield Machine(f"{_name(labels[place])} vs rest", model, others, (own,))


def _linear(kind: str, w: Array, constant: float | None) -> Model:
    """Return the model of weights, the last that of an appended constant, if there is one."""
    task, loss = PROBLEM_OF_LIBLINEAR[kind]
    claimed = ClaimedProblem(task, linear(), loss, free_bias=False, constant=constant)
    # LIBLINEAR accepts -R only with a constant of 1.
    facts = [NO_CLASS_WEIGHTS] if task == "classification" else []
    facts += [PENALISED_BIAS] if constant == 1 and kind in FREE_BIAS else []
    model = Model(f"LIBLINEAR {kind}", claimed, 0.0, w, assumed=", ".join(facts))
    return model if constant is None else replace(model, b=float(w[-1]) * constant, w=w[:-1])


def _svmlight(lines: Sequence[str]) -> Model:
    """Convert a linear ranker of SVMlight (-z p) or SVMrank.

    Ten lines VALUE # NAME follow the first one, then a line for each support vector, with
    its coefficient and its features. SVMrank writes one vector, w.
    """
    # The line of the threshold goes on with ", each following line is a SV".
    header = {
        name.partition(",")[0].strip(): value.strip()
        for value, _, name in (line.partition("#") for line in lines[1:11])
    }
    kernel, threshold = read_integer(header, "kernel type"), read_number(header, "threshold b")
    if kernel != 0 or threshold != 0:
        raise ValueError(
            "of SVMlight's models linear rankers can be audited, with kernel type 0 and threshold "
            f"0, and this one has kernel type {kernel} and threshold {threshold:g}"
        )
    rows = [line.partition("#")[0].split() for line in lines[11:] if line.strip()]
    if len(rows) + 1 != (n := read_integer(header, "number of support vectors plus 1")):
        raise ValueError(f"the model announces {n - 1} support vectors and has {len(rows)}")
    coefficients = read_finite("coefficients", [row[0] for row in rows if row], len(rows))
    vectors = _vectors([row[1:] for row in rows])
    claimed = ClaimedProblem("ranking", linear(), "hinge", free_bias=False)
    model = Model("SVMlight ranker", claimed, 0.0, None, coefficients, assumed=COST_OF_A_PAIR)
    return _with_vectors(model, vectors)


def _header(lines: Sequence[str], last: str) -> tuple[dict[str, str], int]:
    """Return the header, by the first word of each line, and the first line of the body."""
    for n, line in enumerate(lines):
        if line.strip() == last:
            return {
                name: text
                for name, _, text in (before.strip().partition(" ") for before in lines[:n])
            }, n + 1
    raise ValueError(f"there is no line {last!r}: the model file is cut off")


def _labels(header: Mapping[str, str]) -> Array:
    """Return the labels in the order of the file."""
    k = read_integer(header, "nr_class")
    if k < 2:
        raise ValueError(f"nr_class must be 2 or more, not {k}; train with two classes")
    labels = read_finite("label", read_required(header, "label").split(), k)
    if len(np.unique(labels)) < k:
        raise ValueError("two labels are equal; a model has one label for each class")
    return labels


def _name(label: float) -> str:
    """Return the text of a label."""
    return str(int(label)) if label == int(label) else repr(float(label))
