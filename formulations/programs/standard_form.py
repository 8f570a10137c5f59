"""The conic or linear problem that cvxpy hands to a backend, read back so that the backend's answer can be judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from equimargin.formulations.numeric.arrays import Array

REDUCING_ATTRIBUTES = ("symmetric", "PSD", "NSD", "diag", "sparsity")
"""Attributes of a cvxpy variable of which cvxpy keeps some of the entries only."""


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

    def keeps(self, x: Array | None, z: Array | None, tol: float) -> bool:
        """Whether x (n,) and z (r,) give the optimum up to a relative error, and residuals that are as small beside the unknowns.

        The error of the optimum is about the gap, |p - d|, and what the residuals of rows and of stationarity hide, |z|'|r_p| + |x|'|r_d|.
        An answer to a program whose unknowns have bounds of their own is not judged: their multipliers are not among the rows'.
        """
        if x is None or z is None or np.isfinite(self.lower).any() or np.isfinite(self.upper).any():
            return False
        z, s, Px = self.on_dual_cone(z), self.h - self.G @ x, self.P @ x
        rows, stationarity = np.abs(s - self.on_cone(s)), np.abs(Px + self.q + self.G.T @ z)
        primal, dual = float(x @ Px) / 2 + float(self.q @ x), -float(x @ Px) / 2 - float(self.h @ z)
        error = abs(primal - dual) + float(np.abs(z) @ rows) + float(np.abs(x) @ stationarity)
        largest = max(1.0, *(float(np.max(np.abs(v), initial=0.0)) for v in (x, z, self.q, self.h)))
        residual = float(np.max(np.concatenate([rows, stationarity]), initial=0.0))
        return bool(
            error <= tol * max(1.0, min(abs(primal), abs(dual))) and residual <= tol * largest
        )

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


def make_standard_form(data: Mapping[str, Any], inverse: Any) -> StandardForm:
    """Both of cvxpy's forms, conic (A, b, c, dims) and quadratic (A, b, F, G, q), as one."""
    from scipy import sparse

    if "F" in data:
        q, G = data["q"], sparse.vstack([data["A"], data["F"]]).tocsr()
        h, zero, nonneg, cones = (
            np.concatenate([data["b"], data["G"]]),
            len(data["b"]),
            len(data["G"]),
            (),
        )
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


def find_columns(
    variables: Mapping[str, Any], data: Mapping[str, Any], chain: Any
) -> dict[str, slice]:
    """Where variables are among the backend's own, by their names, as far as cvxpy kept all their entries, in columns."""
    starts, replaced = data["param_prob"].var_id_to_col, _replaced(chain)
    found = {}
    for name, variable in variables.items():
        start = starts.get(replaced.get(variable.id, variable.id))
        if start is not None and not any(
            variable.attributes[attribute] for attribute in REDUCING_ATTRIBUTES
        ):
            found[name] = slice(start, start + variable.size)
    return found


def with_stated_bounds(problem: Any, data: Mapping[str, Any], chain: Any) -> dict[str, Any]:
    """cvxpy's form without the bounds of unknowns that cvxpy added itself.

    cvxpy 1.9.3 derives such bounds for backends that take any, HiGHS alone among ours. It loses them where an affine expression of free
    unknowns has a coefficient 0, as 0 times inf is no number, and then gives `pos`, `abs` or `max` of it a wrong one. The constraints of
    an added unknown say all that is needed, as they do for the other backends. `examples/formulations/cvxpy_bounds.py` shows it.
    """
    if data.get("lower_bounds") is None and data.get("upper_bounds") is None:
        return dict(data)
    starts, replaced, n = data["param_prob"].var_id_to_col, _replaced(chain), data["A"].shape[1]
    own = {replaced.get(variable.id, variable.id) for variable in problem.variables()}
    ends = [*sorted(starts.values())[1:], n]
    stated = np.zeros(n, dtype=np.bool_)
    for (variable, start), end in zip(
        sorted(starts.items(), key=lambda item: item[1]), ends, strict=True
    ):
        stated[start:end] = variable in own
    free = {"lower_bounds": -np.inf, "upper_bounds": np.inf}
    return {
        **data,
        **{
            key: np.where(stated, data[key], none)
            for key, none in free.items()
            if data.get(key) is not None
        },
    }


def _replaced(chain: Any) -> dict[int, int]:
    """The ids of variables that cvxpy replaced by others because of their attributes, and the ids of these."""
    maps = (
        reduction.var_id_map
        for reduction in chain.reductions
        if hasattr(reduction, "reduce_bounds")
    )
    return {old: new for replaced in maps for old, (new,) in replaced.items()}


def copy_vector(v: Any) -> Array | None:
    """A backend's vector as an array of our own; None where it returned none."""
    return None if v is None else np.array(v, dtype=np.float64)
