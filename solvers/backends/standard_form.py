"""The conic or linear problem that cvxpy hands to a backend, read back so that the backend's answer can be judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from equimargin.formulations.declaration import Declaration
from equimargin.formulations.numeric.arrays import Array


@dataclass(frozen=True, eq=False)
class StandardForm:
    """The problem as a backend was given it; `cones` are the sizes of its second-order cones."""

    P: Any
    q: Array
    G: Any
    h: Array
    zero: int
    nonneg: int
    cones: tuple[int, ...]
    lower: Array
    upper: Array
    offset: float

    def objective(self, x: Array) -> float:
        """1/2 x'Px + q'x + offset, in float64; x : (n,)."""
        return float(x @ (self.P @ x)) / 2 + float(self.q @ x) + self.offset


def standard_form(declaration: Declaration) -> tuple[StandardForm, dict[str, slice]]:
    """A declaration as conic backends are given it, and where its variables are among the unknowns.

    Parameters
    ----------
    declaration : from `declare`.
    """
    data, _, inverse = declaration.problem.get_problem_data("CLARABEL", solver_opts={})
    return form_of(data, inverse), columns_of(declaration, data)


def form_of(data: Mapping[str, Any], inverse: Any) -> StandardForm:
    """Both of cvxpy's forms, conic (A, b, c, dims) and quadratic (A, b, F, G, q), as one."""
    from scipy import sparse

    if "F" in data:
        q, G = data["q"], sparse.vstack([data["A"], data["F"]]).tocsr()
        h, zero, nonneg, cones = np.concatenate([data["b"], data["G"]]), len(data["b"]), len(data["G"]), ()
    else:
        q, G, h, dims = data["c"], sparse.csr_array(data["A"]), data["b"], data["dims"]
        zero, nonneg, cones = dims.zero, dims.nonneg, tuple(dims.soc)
    n = len(q)
    P = data.get("P")
    lower, upper = data.get("lower_bounds"), data.get("upper_bounds")
    return StandardForm(
        sparse.csr_array((n, n)) if P is None else sparse.csr_array(P),
        np.asarray(q, dtype=np.float64),
        G,
        np.asarray(h, dtype=np.float64),
        zero,
        nonneg,
        cones,
        np.full(n, -np.inf) if lower is None else np.asarray(lower, dtype=np.float64),
        np.full(n, np.inf) if upper is None else np.asarray(upper, dtype=np.float64),
        float(inverse[-1].get("offset", 0.0)) if hasattr(inverse[-1], "get") else 0.0,
    )


def columns_of(declaration: Declaration, data: Mapping[str, Any]) -> dict[str, slice]:
    """Where the declaration's variables are among the backend's own, as far as cvxpy kept them."""
    starts = data["param_prob"].var_id_to_col
    found = {name: variable for name, variable in declaration.variables.items() if variable.id in starts}
    return {name: slice(starts[variable.id], starts[variable.id] + variable.size) for name, variable in found.items()}


def vector_of(v: Any) -> Array | None:
    return None if v is None else np.array(v, dtype=np.float64)
