"""What is asked of a reader, and what every format is read as before the task is known."""

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
"""What becomes of missing entries: their rows are left out, or the mean of the column takes their place."""


class ReadOptions(TypedDict, total=False):
    """How the columns of a table are read: the keyword arguments of `load`, and the options of the command line.

    A frame may have names that are no text, such as 2, which mean the column that is shown so.

    Attributes
    ----------
    target, query, weight
        The column of that role, by its name; an empty name for query and weight: no column has that
        role.
    drop
        Columns that are left out.
    header : bool or None
        Whether the first row holds the names of the columns; None: what it looks like.
    sep : str or None
        What separates the fields, one character or "tab" or "whitespace"; None: what the first row
        shows.
    decimal : str
        The decimal point, "." or ",".
    missing : Missing | None
        Missing or None What becomes of missing entries; None: they are refused.
    na
        The words that stand for a missing entry, in any case, in addition to an empty one; None:
        the usual ones.
    categorical : Categorical | None
        Categorical or None What becomes of columns of words; None: they are refused.
    best : Best | None
        Best or None End of a ranking's labels that is the best, in any format; None:
        the highest, with a notice where the target is called a rank.
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
    """`ReadOptions` with its defaults, and the task, the data to be joined, the order of levels, and whether preferences rank the rows."""

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
    def about_tables(self) -> list[str]:
        """The options that were given and that mean something for tables alone."""
        return [
            name
            for name in ReadOptions.__annotations__
            if getattr(self, name) != getattr(Request, name)
        ]


class Table(NamedTuple):
    """Rows as they were read.

    Parameters
    ----------
    X : NDArray[np.float64] | csr_array of shape (m, d)
        Features, which hold NaN where a mean is to take the place of a missing entry.
    y : NDArray[Any] of shape (m,)
        Numbers, or labels as text.
    qid : NDArray[np.int64] | None of shape (m,)
        queries.
    weight : NDArray[np.float64] | None of shape (m,)
        Weights of the rows.
    columns : tuple[str, ...] | None of shape (d,)
        Names of the features.
    first : int | None
        The index of the first feature of a svmlight file.
    kept : NDArray[np.intp] | None of shape (m,)
        The places of the rows in the file, where some were left out.
    ids : tuple[str, ...] | None
        The name of every row of the file, those left out among them, where preferences
        name rows and the table has a column `id`.
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
