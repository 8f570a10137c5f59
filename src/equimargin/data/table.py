"""Options of the readers, and their common result before the task is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray

from equimargin.data.loaded import Best, Categorical, Data, Origin
from equimargin.data.words import MISSING

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Missing = Literal["drop", "mean"]
"""Treatment of missing entries: rows are dropped, or entries become column means."""


class ReadOptions(TypedDict, total=False):
    """Options on the columns of a table, in `load` and on the command line.

    Column names of a frame need not be text: 2 denotes the column displayed as 2.

    Parameters
    ----------
    target, query, weight : str, int or None
        Name of the column of that role; empty for query and weight if there is none.
    drop : str, int, sequence of str or int or None
        Columns to drop.
    header : bool or None
        True if the first row holds the column names; None to infer it.
    sep : str or None
        Separator of the fields, one character, "tab" or "whitespace"; None to infer it
        from the first row.
    decimal : str
        Decimal point, "." or ",".
    missing : Missing or None
        Treatment of missing entries; None refuses them.
    na : str, float, sequence of str or float or None
        Words for a missing entry, ignoring case, in addition to an empty one; None for
        the default ones.
    categorical : Categorical or None
        Treatment of columns of words; None refuses them.
    best : Best or None
        Best end of a ranking's labels, in any format; None for the highest, with a
        notice if the target is called a rank.
    """

    target: str | int | None
    query: str | int | None
    weight: str | int | None
    drop: str | int | Sequence[str | int] | None
    header: bool | None
    sep: str | None
    decimal: str
    missing: Missing | None
    na: str | float | Sequence[str | float] | None
    categorical: Categorical | None
    best: Best | None


@dataclass(frozen=True)
class Request:
    """Validated options of `load`: `ReadOptions`, task, data to extend, levels, preferences."""

    task: str | None = None
    like: Data | None = None
    ranked_by_pairs: bool = False
    levels: tuple[str, ...] = ()
    target: str | None = None
    query: str | None = None
    weight: str | None = None
    drop: tuple[str, ...] = ()
    header: bool | None = None
    sep: str | None = None
    decimal: str = "."
    missing: Missing | None = None
    na: tuple[str, ...] = MISSING
    categorical: Categorical | None = None
    best: Best | None = None

    @property
    def has_no_target(self) -> bool:
        """True if preferences rank the rows, or nothing is predicted."""
        return self.ranked_by_pairs or self.task == "unsupervised"

    @property
    def about_tables(self) -> list[str]:
        """Names of the options of `ReadOptions` that differ from their defaults."""
        return [
            name
            for name in ReadOptions.__annotations__
            if getattr(self, name) != getattr(Request, name)
        ]


class Table(NamedTuple):
    """Rows as read from a source.

    Parameters
    ----------
    X : ndarray or csr_array of shape (m, d)
        Features; NaN where a mean will replace a missing entry.
    y : ndarray of shape (m,)
        Numbers, or labels as text.
    qid : ndarray of shape (m,) or None
        Queries.
    weight : ndarray of shape (m,), optional
        Weights of the rows.
    columns : tuple of d str, optional
        Names of the features.
    first : int, optional
        Index of the first feature of a svmlight file.
    kept : ndarray of shape (m,), optional
        Indices of the rows in the file, if some were excluded.
    origin : Origin, default Origin()
        Record of how the rows were read.
    ids : tuple of str, optional
        Name of every row of the file, including excluded ones, if preferences refer to
        rows and the table has a column `id`.
    levels : tuple of str, default ()
        Categories of an ordered target, from the lowest to the highest.
    """

    X: NDArray[np.float64] | csr_array
    y: NDArray[Any]
    qid: NDArray[np.int64] | None
    weight: NDArray[np.float64] | None = None
    columns: tuple[str, ...] | None = None
    first: int | None = None
    kept: NDArray[np.intp] | None = None
    origin: Origin = Origin()
    ids: tuple[str, ...] | None = None
    levels: tuple[str, ...] = ()
