"""The names of the arrays that every room speaks of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Features = Any
"""(m, d) float64 features: an ndarray or a scipy CSR array."""
Index = NDArray[np.int64]
