"""Programs in floats with the names of their rows and columns, read from model files.

HiGHS reads the files: MPS and QPS without spaces in names, and CPLEX's LP format. What
it would leave out is refused.
"""

from __future__ import annotations

import gzip
import re
import tempfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.programs.extras import highspy
from equimargin.formulations.programs.quiet_highs import quiet_highs
from equimargin.formulations.programs.standard_form import StandardForm

SUFFIXES = {".mps": ".mps", ".qps": ".mps", ".lp": ".lp"}
"""Suffixes of model files, and those by which HiGHS knows them; .gz may follow."""
LARGEST_CONTENT = 2**32
"""Maximum size of an unpacked file, in bytes."""
HIGHS_INFINITY = 1e20
"""Minimum size of a bound that HiGHS takes as infinite."""
OPTIONS = {
    "log_to_console": False,
    "output_flag": True,
    "small_matrix_value": 1e-12,
    "large_matrix_value": np.inf,
    "infinite_cost": np.inf,
}
"""Options with which HiGHS keeps as many numbers as it can; it drops smaller ones.

Its messages go to a callback, and not to the console.
"""
CHANGES = ("ignored", "duplicate", "same name")
"""Words of HiGHS's messages about parts of a file that are not in its model."""


@dataclass(frozen=True, eq=False)
class OptimisationModel:
    """Program in floats, with the rows that state it.

    Parameters
    ----------
    form : StandardForm
        Program, as a minimisation.
    maximised : bool
        True if the model maximises minus the objective of `form`.
    rows : tuple of str
        Names of the rows.
    above, below : ndarray of int
        Row of `form` for the upper end of every row, and for its lower end, -1 if the
        row has none; an equation has only an upper end.
    taken : str
        Reading of the numbers, which is not proven.
    """

    form: StandardForm
    maximised: bool
    rows: tuple[str, ...]
    above: Index
    below: Index
    taken: str = "the program is what HiGHS reads from the file, in doubles"

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the variables."""
        return self.form.names

    def multipliers(self, y: Array) -> Array:
        """Return the multipliers of `form` for prices of the rows.

        Parameters
        ----------
        y : ndarray of shape (m,)
            Change of the stated optimum per unit of a row's bounds, as HiGHS and
            scipy report it.
        """
        y = -y if self.maximised else y
        z, up, down = np.zeros(len(self.form.h)), self.above >= 0, self.below >= 0
        z[self.above[up]] = -y[up]
        z[self.below[down]] = y[down]
        return self.form.on_dual_cone(z)


def read_model(path: Path) -> OptimisationModel:
    """Return the model of a file.

    Parameters
    ----------
    path : Path
        MPS, QPS or LP file, also compressed by gzip.

    Raises
    ------
    ValueError
        If the suffix is unknown, HiGHS does not read all of the file, a variable is an
        integer or semicontinuous, or there is none.
    OSError
        If the file cannot be opened.
    """
    name = path.name.lower().removesuffix(".gz")
    suffix = Path(name).suffix
    if suffix not in SUFFIXES:
        raise ValueError(
            f"{path} is no model file that is known by its suffix; give one of "
            f"{', '.join(SUFFIXES)} or .json (a certificate), also with .gz"
        )
    content = _as_utf8(_unpacked(path))
    if not content.strip():
        raise ValueError(f"{path} is empty; write it anew with the program that made it")
    if re.search(rb"(?i)(?<!\S)[+-]?nan(?!\S)", content):
        raise ValueError(f"{path} has a nan, which HiGHS would leave out; mend the file")
    return _model(_read(content, SUFFIXES[suffix], path), path)


def read_text(path: Path) -> str:
    """Return the text of a model file, unpacked.

    Parameters
    ----------
    path : Path
        Model file, also compressed by gzip.

    Raises
    ------
    ValueError
        If the file is a damaged gzip file, or too large when unpacked.
    OSError
        If the file cannot be opened.
    """
    return _as_utf8(_unpacked(path)).decode()


def _read(content: bytes, suffix: str, path: Path) -> Any:
    """Return HiGHS's model of the content of a file."""
    solver = quiet_highs()
    said: list[str] = []

    def hear(_kind: Any, message: str, *_: Any) -> None:
        # That parser never ends on some files.
        if "fixed format parser" in message:
            raise ValueError(
                f"{path} has names with spaces, or words out of place ({_plain(said[-1])}); rename "
                f"or mend them"
            )
        said.append(message.replace(str(copy), path.name))

    solver.setCallback(hear, None)
    solver.startCallback(highspy.cb.HighsCallbackType.kCallbackLogging)
    for option, value in OPTIONS.items():
        solver.setOptionValue(option, value)
    with tempfile.TemporaryDirectory() as folder:
        # HiGHS chooses the format by the suffix, and knows no .qps.
        copy = Path(folder) / f"model{suffix}"
        copy.write_bytes(content)
        try:
            failed = solver.readModel(str(copy)) == highspy.HighsStatus.kError
        except UnicodeDecodeError:
            # HiGHS cuts its messages off, perhaps within a character.
            raise ValueError(
                f"{path} has names of more than 500 characters; shorten them"
            ) from None
    _refuse_changes(failed, said, path, suffix[1:].upper())
    return solver.getModel()


def _unpacked(path: Path) -> bytes:
    """Return the content of a file, unpacked if gzip packed it."""
    content = path.read_bytes()
    if not content.startswith(b"\x1f\x8b"):
        return content
    try:
        with gzip.open(BytesIO(content)) as packed:
            content = packed.read(LARGEST_CONTENT + 1)
    except (EOFError, OSError, zlib.error) as reason:
        raise ValueError(f"{path} is a damaged gzip file ({reason}); copy it anew") from None
    if len(content) > LARGEST_CONTENT:
        raise ValueError(f"{path} has more than {LARGEST_CONTENT:,} bytes when unpacked")
    return content


def _as_utf8(content: bytes) -> bytes:
    """Return a text in UTF-8, of which highspy makes names; other text is read as Latin-1."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return content.decode("latin-1").encode()
    return content


def _refuse_changes(failed: bool, said: list[str], path: Path, kind: str) -> None:
    """Raise a ValueError if HiGHS has read no model, or not all of the file."""
    if failed:
        errors = (line for line in said if "ERROR:" in line and "Parser error" not in line)
        reason = next((f" ({_plain(line)})" for line in errors), "")
        raise ValueError(
            f"{path} is no {kind} file that HiGHS reads{reason}; check its format, or write it "
            f"anew with the program that made it"
        )
    changed = next((line for line in said if any(word in line for word in CHANGES)), None)
    if changed is not None:
        raise ValueError(
            f"{path} is ambiguous, or has parts that HiGHS leaves out "
            f"({_plain(changed)}); mend the file"
        )


def _plain(message: str) -> str:
    """Return a message of HiGHS without its rank and its alignment."""
    return " ".join(message.removeprefix("WARNING:").removeprefix("ERROR:").split())


def _model(given: Any, path: Path) -> OptimisationModel:
    """Return the model of HiGHS's arrays."""
    lp = given.lp_
    kinds = [kind for kind in lp.integrality_ if kind != highspy.HighsVarType.kContinuous]
    if kinds:
        raise ValueError(
            f"{path} has {len(kinds)} integer or semicontinuous variable{'s' * (len(kinds) > 1)}, "
            f"and only continuous ones are supported; for the relaxation, remove these "
            f"declarations from the file"
        )
    if lp.num_col_ == 0:
        raise ValueError(f"{path} has no variables; check that it is the whole file")
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
    # HiGHS accepts infinite costs.
    for numbers in (form.P.data, form.q, form.G.data, form.h, form.offset):
        if not np.isfinite(numbers).all():
            raise ValueError(f"{path} has a number that is not finite; mend it")
    columns, rows = (
        tuple(names) if len(names) == size else tuple(f"{letter}{i}" for i in range(size))
        for names, size, letter in (
            (lp.col_names_, lp.num_col_, "x"),
            (lp.row_names_, lp.num_row_, "r"),
        )
    )
    return OptimisationModel(replace(form, names=columns), maximised, rows, above, below)


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
