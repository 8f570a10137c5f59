"""Small convex quadratic programs of the Maros-Meszaros set, from MATLAB files.

Source: I. Maros, C. Meszaros, A repository of convex quadratic programming problems,
Optimization Methods and Software 11 (1999).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.io import loadmat

from equimargin.formulations.programs import Program, program_from_arrays
from public_data import SHARED

FOLDER = SHARED / "maros-meszaros"
"""Folder of the files, if a checkout has them."""
INFINITE = 1e19
"""Minimum size of a number that means no bound."""
NOT_CONVEX = "VALUES"
"""The only problem of the set with an indefinite P."""


def problem(path: Path) -> Program:
    """Return the problem min 1/2 x'Px + q'x + r, l <= A x <= u of a file."""
    data = loadmat(path)
    P, A = sparse.csr_array(data["P"]), sparse.csr_array(data["A"])
    q, low, high = (np.asarray(data[name], dtype=np.float64).ravel() for name in ("q", "l", "u"))
    equal = low == high
    above, below = (high < INFINITE) & ~equal, (low > -INFINITE) & ~equal
    G, h = sparse.vstack([A[above], -A[below]]), np.concatenate([high[above], -low[below]])
    return program_from_arrays(
        P, q, A[equal], high[equal], G, h, float(np.asarray(data["r"]).ravel()[0])
    )
