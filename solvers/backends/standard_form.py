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
    """min 1/2 x'Px + q'x + offset   s.t.   h - Gx in {0}^zero x R+^nonneg x cones,   lower <= x <= upper: what a backend was given."""

    P: Any
    """(n, n), sparse, symmetric and positive semidefinite."""
    q: Array
    """(n,)."""
    G: Any
    """(r, n), sparse."""
    h: Array
    """(r,)."""
    zero: int
    """Number of rows that are equations; they come first."""
    nonneg: int
    """Number of rows that are inequalities; they come next."""
    cones: tuple[int, ...]
    """Numbers of rows (t, v) of the second-order cones |v| <= t; they come last."""
    lower: Array
    """(n,), -inf where there is no bound."""
    upper: Array
    """(n,), inf where there is no bound."""
    offset: float
    """A constant, in units of the objective."""

    def objective(self, x: Array) -> float:
        """1/2 x'Px + q'x + offset, in float64; x : (n,)."""
        return float(x @ (self.P @ x)) / 2 + float(self.q @ x) + self.offset

    def on_cone(self, s: Array) -> Array:
        """The projection of rows, (r,), onto the cone {0}^zero x R+^nonneg x cones."""
        out = self.on_dual_cone(s)
        out[: self.zero] = 0.0
        return out

    def on_dual_cone(self, z: Array) -> Array:
        """The projection of multipliers, (r,), onto the dual cone, which is R^zero x R+^nonneg x cones."""
        out = z.copy()
        start = self.zero + self.nonneg
        out[self.zero : start] = np.maximum(0.0, z[self.zero : start])
        for size in self.cones:
            out[start : start + size] = _on_second_order_cone(z[start : start + size])
            start += size
        return out


def _on_second_order_cone(s: Array) -> Array:
    """The projection of (t, v) onto |v| <= t."""
    t, v = s[0], s[1:]
    r = float(np.linalg.norm(v))
    if r > abs(t):
        return np.append((r + t) / 2, (r + t) / 2 * v / r)
    return np.zeros(len(s)) if t < 0 else s


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
    """A backend's vector as an array of our own; None where it returned none."""
    return None if v is None else np.array(v, dtype=np.float64)
