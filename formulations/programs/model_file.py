"""Programs in floats with the names of their rows and columns, read from model files.

HiGHS reads the files: MPS and QPS, fixed or free, and CPLEX's LP format.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.programs.standard_form import StandardForm

SUFFIXES = {".mps": ".mps", ".qps": ".mps", ".lp": ".lp"}
"""Suffixes of model files, and the names by which HiGHS knows them; .gz may follow."""
HIGHS_INFINITY = 1e20
"""Minimum size of a number that HiGHS takes as infinite."""


@dataclass(frozen=True, eq=False)
class Model:
    """Program in floats, with the rows that state it.

    Parameters
    ----------
    form : StandardForm
        Program, as a minimisation.
    maximised : bool
        True if the model maximises minus the objective of `form`.
    columns, rows : tuple of str
        Names of the variables and of the rows.
    above, below : ndarray of int
        Row of `form` for the upper end of every row, and for its lower end, -1 if the
        row has none; an equation has only an upper end.
    """

    form: StandardForm
    maximised: bool
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    above: Index
    below: Index

    def multipliers(self, y: Array) -> Array:
        """Return the multipliers of `form` for prices of the rows.

        Parameters
        ----------
        y : ndarray of shape (m,)
            Change of the stated optimum per unit of a row's bounds, as HiGHS and
            scipy report it.
        """
        y = -y if self.maximised else y
        z, equal = np.zeros(len(self.form.h)), (self.above >= 0) & (self.above < self.form.zero)
        up, down = (self.above >= 0) & ~equal, self.below >= 0
        z[self.above[equal]] = -y[equal]
        z[self.above[up]] = np.maximum(-y[up], 0.0)
        z[self.below[down]] = np.maximum(y[down], 0.0)
        return z


def read_model(path: Path) -> Model:
    """Return the model of a file.

    Parameters
    ----------
    path : Path
        MPS, QPS or LP file, also compressed by gzip.

    Raises
    ------
    ValueError
        If the suffix is unknown, HiGHS does not read the file, or a variable is an
        integer or semicontinuous.
    OSError
        If the file cannot be opened.
    """
    import highspy

    name = path.name.lower().removesuffix(".gz")
    suffix = Path(name).suffix
    if suffix not in SUFFIXES:
        raise ValueError(
            f"{path} is no model file that is known by its suffix; give one of "
            f"{', '.join(SUFFIXES)}, also with .gz"
        )
    with path.open("rb"):
        pass
    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.setOptionValue("output_flag", False)
    packed = ".gz" if path.name.lower().endswith(".gz") else ""
    with tempfile.TemporaryDirectory() as folder:
        # HiGHS chooses the format by the suffix, and knows no .qps.
        copy = Path(folder) / f"model{SUFFIXES[suffix]}{packed}"
        shutil.copyfile(path, copy)
        if solver.readModel(str(copy)) == highspy.HighsStatus.kError:
            raise ValueError(
                f"{path} is no {SUFFIXES[suffix][1:].upper()} file that HiGHS reads; check its "
                f"format, or write it anew with the program that made it"
            )
    return _model(solver.getModel(), highspy, path)


def _model(given: Any, highspy: Any, path: Path) -> Model:
    """Return the model of HiGHS's arrays."""
    lp = given.lp_
    kinds = [kind for kind in lp.integrality_ if kind != highspy.HighsVarType.kContinuous]
    if kinds:
        raise ValueError(
            f"{path} has {len(kinds)} integer or semicontinuous variables, and only continuous "
            f"ones are supported; for the relaxation, remove their declarations from the file"
        )
    maximised = lp.sense_ == highspy.ObjSense.kMaximize
    sign = -1.0 if maximised else 1.0
    low, high = _ends(lp.row_lower_, lp.row_upper_)
    A = _columnwise(lp.a_matrix_, (lp.num_row_, lp.num_col_))
    form, above, below = from_ranges(
        sign * _hessian(given.hessian_, lp.num_col_),
        sign * np.array(lp.col_cost_, dtype=np.float64),
        A,
        low,
        high,
        *_ends(lp.col_lower_, lp.col_upper_),
        sign * float(lp.offset_),
    )
    columns, rows = (
        tuple(names) if len(names) == size else tuple(f"{letter}{i}" for i in range(size))
        for names, size, letter in (
            (lp.col_names_, lp.num_col_, "x"),
            (lp.row_names_, lp.num_row_, "r"),
        )
    )
    return Model(form, maximised, columns, rows, above, below)


def from_ranges(
    P: Any,
    q: Array,
    A: Any,
    low: Array,
    high: Array,
    lower: Array,
    upper: Array,
    offset: float = 0.0,
) -> tuple[StandardForm, Index, Index]:
    """Return min 1/2 x'Px + q'x + offset  s.t.  low <= A x <= high,  lower <= x <= upper.

    Parameters
    ----------
    P, A : sparse arrays of shape (n, n) and (m, n)
        Matrices.
    q, lower, upper : ndarray of shape (n,)
        Linear term and bounds.
    low, high : ndarray of shape (m,)
        Ends of the rows, -inf and inf if there is none.
    offset : float
        Constant.

    Returns
    -------
    form : StandardForm
        Program: equations, then upper ends, then lower ends.
    above, below : ndarray of int
        Row of `form` for the upper end of every row, and for its lower end, or -1.
    """
    from scipy import sparse

    A = sparse.csr_array(A)
    equal = low == high
    up, down = np.flatnonzero(np.isfinite(high) & ~equal), np.flatnonzero(np.isfinite(low) & ~equal)
    same = np.flatnonzero(equal)
    above, below = np.full(len(low), -1), np.full(len(low), -1)
    above[same] = np.arange(len(same))
    above[up] = len(same) + np.arange(len(up))
    below[down] = len(same) + len(up) + np.arange(len(down))
    form = StandardForm(
        sparse.csr_array(P),
        q,
        sparse.csr_array(sparse.vstack([A[same], A[up], -A[down]])),
        np.concatenate([high[same], high[up], -low[down]]),
        len(same),
        len(up) + len(down),
        (),
        lower,
        upper,
        offset,
    )
    return form.tidied(), above, below


def _ends(low: Sequence[float], high: Sequence[float]) -> tuple[Array, Array]:
    """Return ends as arrays, with HiGHS's infinities as infinite."""
    least, most = np.array(low, dtype=np.float64), np.array(high, dtype=np.float64)
    return np.where(least <= -HIGHS_INFINITY, -np.inf, least), np.where(
        most >= HIGHS_INFINITY, np.inf, most
    )


def _columnwise(M: Any, shape: tuple[int, int]) -> Any:
    """Return HiGHS's columnwise matrix as a sparse array."""
    from scipy import sparse

    parts = (np.array(M.value_), np.array(M.index_), np.array(M.start_))
    return sparse.csr_array(sparse.csc_array(parts, shape=shape))


def _hessian(given: Any, n: int) -> Any:
    """Return HiGHS's lower triangle as a symmetric sparse array."""
    from scipy import sparse

    if given.dim_ == 0:
        return sparse.csr_array((n, n))
    half = sparse.csc_array(
        (np.array(given.value_), np.array(given.index_), np.array(given.start_)), shape=(n, n)
    )
    return sparse.csr_array(half + half.T - sparse.diags_array(half.diagonal()))
