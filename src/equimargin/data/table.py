"""What every format is read as, before the task is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class Table(NamedTuple):
    X: NDArray[np.float64] | csr_array
    y: NDArray[Any]  # float64, or text labels for classification
    qid: NDArray[np.int64] | None
    columns: tuple[str, ...] | None = None
    first: int | None = None
    header: bool | None = None
