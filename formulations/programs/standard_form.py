"""Standard form of the conic or linear problem that cvxpy passes to a backend.

Results of backends are checked against it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import accumulate, count
from typing import Any

import numpy as np

from equimargin.formulations.numeric.arrays import Array

REDUCING_ATTRIBUTES = ("symmetric", "PSD", "NSD", "diag", "sparsity")
"""Attributes of a cvxpy variable for which cvxpy stores only some of the entries."""


@dataclass(frozen=True, eq=False)
class StandardForm:
    """Program that cvxpy passes to a backend.

    min 1/2 x'Px + q'x + offset
    s.t. h - Gx in {0}^zero x R+^nonneg x cones,   lower <= x <= upper
    """

    P: Any
    """Quadratic term, shape (n, n), sparse, symmetric and positive semidefinite."""
    q: Array
    """Linear term, shape (n,)."""
    G: Any
    """Matrix of the rows, shape (r, n), sparse."""
    h: Array
    """Right-hand side, shape (r,)."""
    zero: int
    """Number of rows that are equations; they come first."""
    nonneg: int
    """Number of rows that are inequalities; they come next."""
    cones: tuple[int, ...]
    """Numbers of rows (t, v) of the second-order cones |v| <= t; they come last."""
    lower: Array
    """Lower bounds, shape (n,), -inf if there is none."""
    upper: Array
    """Upper bounds, shape (n,), inf if there is none."""
    offset: float
    """Constant, in units of the objective."""
    names: tuple[str, ...] = ()
    """Names of the variables; empty if they have none."""

    def name(self, j: int) -> str:
        """Return the name of a variable, or its number if it has none.

        Parameters
        ----------
        j : int
            Column of the variable.
        """
        return self.names[j] if j < len(self.names) else f"column {j}"

    def tidied(self) -> StandardForm:
        """Return the program with a symmetric P, and matrices without stored zeros."""
        from scipy import sparse

        P, G = sparse.csr_array((self.P + self.P.T) / 2), sparse.csr_array(self.G, copy=True)
        for M in (P, G):
            M.sum_duplicates()
            M.eliminate_zeros()
        return replace(self, P=P, G=G)

    def objective(self, x: Array) -> float:
        """Return 1/2 x'Px + q'x + offset in float64.

        Parameters
        ----------
        x : ndarray of shape (n,)
            Point.
        """
        return float(x @ (self.P @ x)) / 2 + float(self.q @ x) + self.offset

    def keeps(self, x: Array | None, z: Array | None, tol: float) -> bool:
        """Return True if x and z give the optimum and small residuals, within `tol`.

        The error of the optimum is relative to the objective, residuals are relative to
        the largest entry of x, z, q and h. The error of the optimum is about the gap,
        |p - d|, plus the effect of the residuals of rows and of stationarity, |z|'|r_p|
        + |x|'|r_d|. Results of a program with bounds on variables are not checked, and
        give False: the bounds' multipliers are not among those of the rows.

        Parameters
        ----------
        x : ndarray of shape (n,), or None
            Point.
        z : ndarray of shape (r,), or None
            Multipliers of the rows.
        tol : float
            Maximum relative error.
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
        """Return the projection onto the cone {0}^zero x R+^nonneg x cones.

        Parameters
        ----------
        s : ndarray of shape (r,)
            Row values.

        Returns
        -------
        ndarray of shape (r,)
            Projection.
        """
        out = self.on_dual_cone(s)
        out[: self.zero] = 0.0
        return out

    def on_dual_cone(self, z: Array) -> Array:
        """Return the projection onto the dual cone R^zero x R+^nonneg x cones.

        Parameters
        ----------
        z : ndarray of shape (r,)
            Multipliers.

        Returns
        -------
        ndarray of shape (r,)
            Projection.
        """
        out = z.copy()
        start = self.zero + self.nonneg
        out[self.zero : start] = np.maximum(0.0, z[self.zero : start])
        for size in self.cones:
            out[start : start + size] = _on_second_order_cone(z[start : start + size])
            start += size
        return out


def _on_second_order_cone(s: Array) -> Array:
    """Return the projection of (t, v) onto |v| <= t."""
    t, v = s[0], s[1:]
    r = float(np.linalg.norm(v))
    if r > abs(t):
        return np.append((r + t) / 2, (r + t) / 2 * v / r)
    return np.zeros(len(s)) if t < 0 else s


def make_standard_form(data: Mapping[str, Any], inverse: Any) -> StandardForm:
    """Convert cvxpy's conic (A, b, c, dims) or quadratic (A, b, F, G, q) form.

    Parameters
    ----------
    data : mapping of str to array
        cvxpy's form.
    inverse : list
        cvxpy's inverse data, which hold the offset.
    """
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
    """Return the places of variables among the backend's, by name, column by column.

    Variables of which cvxpy drops entries are missing.

    Parameters
    ----------
    variables : mapping of str to cvxpy.Variable
        Variables by name.
    data : mapping of str to array
        cvxpy's form.
    chain : cvxpy.reductions.Chain
        cvxpy's reductions.
    """
    starts, replaced = data["param_prob"].var_id_to_col, _replaced(chain)
    columns = {}
    for name, variable in variables.items():
        start = starts.get(replaced.get(variable.id, variable.id))
        if start is not None and not any(
            variable.attributes[attribute] for attribute in REDUCING_ATTRIBUTES
        ):
            columns[name] = slice(start, start + variable.size)
    return columns


def constraint_names(problem: Any) -> list[str]:
    """Return the labels of a problem's constraints; a constraint without one is c<index>.

    Parameters
    ----------
    problem : cvxpy.Problem
        Any problem.

    Returns
    -------
    list of str
        Names in the order of the constraints.
    """
    return [constraint.label or f"c{i}" for i, constraint in enumerate(problem.constraints)]


def distinct_names(names: Iterable[str]) -> list[str]:
    """Return names, and for each that was taken before a numbered one, as "budget (2)".

    Parameters
    ----------
    names : iterable of str
        Names, some of which may be equal.
    """
    found: dict[str, None] = {}
    for name in names:
        numbered = (f"{name} ({k})" for k in count(2))
        found[name if name not in found else next(v for v in numbered if v not in found)] = None
    return list(found)


def stated_constraints(problem: Any) -> dict[str, Any]:
    """Return a problem's constraints by name, and those of its variables' attributes.

    Parameters
    ----------
    problem : cvxpy.Problem
        Any problem.

    Returns
    -------
    dict of str to cvxpy.constraints.Constraint
        Constraints, of which those of a variable x(nonneg=True) are "bounds of x".
    """
    attributes = [
        (f"bounds of {variable.name()}" + f" ({i})" * (i > 0), constraint)
        for variable in problem.variables()
        for i, constraint in enumerate(variable.domain)
    ]
    # A constraint whose name is taken must not be left out.
    names = distinct_names([*constraint_names(problem), *(name for name, _ in attributes)])
    stated = [*problem.constraints, *(constraint for _, constraint in attributes)]
    return dict(zip(names, stated, strict=True))


def find_rows(problem: Any, data: Mapping[str, Any]) -> dict[str, slice]:
    """Return the places of a problem's constraints among the backend's rows, by name.

    A constraint that cvxpy writes as a second-order cone has none.

    Parameters
    ----------
    problem : cvxpy.Problem
        Problem that was compiled; its constraints keep their ids in cvxpy's reductions.
    data : mapping of str to array
        cvxpy's form.
    """
    stuffed = data["param_prob"].constraints
    ends = list(accumulate(constraint.size for constraint in stuffed))
    places = {
        constraint.id: slice(end - constraint.size, end)
        for constraint, end in zip(stuffed, ends, strict=True)
    }
    names = distinct_names(constraint_names(problem))
    return {
        name: places[constraint.id]
        for name, constraint in zip(names, problem.constraints, strict=True)
        if constraint.id in places
    }


def with_stated_bounds(problem: Any, data: Mapping[str, Any], chain: Any) -> dict[str, Any]:
    """Return cvxpy's form without the bounds on variables that cvxpy added itself.

    cvxpy 1.9.3 derives such bounds for backends that accept them, of the supported ones
    HiGHS alone. If an affine expression of free variables has a coefficient 0, it
    computes 0 times inf, which is no number, and gives `pos`, `abs` or `max` of the
    expression wrong bounds. The constraints of an added variable suffice, as for the
    other backends. `examples/formulations/cvxpy_bounds.py` shows it.

    Parameters
    ----------
    problem : cvxpy.Problem
        Problem that was compiled.
    data : mapping of str to array
        cvxpy's form.
    chain : cvxpy.reductions.Chain
        cvxpy's reductions.
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
    """Return the ids of variables that cvxpy replaced, and the ids of the new ones.

    cvxpy replaces variables because of their attributes.
    """
    maps = (
        reduction.var_id_map
        for reduction in chain.reductions
        if hasattr(reduction, "reduce_bounds")
    )
    return {old: new for replaced in maps for old, (new,) in replaced.items()}


def copy_vector(v: Any) -> Array | None:
    """Return a copy of a backend's vector as a float64 array; None if it returned none.

    Parameters
    ----------
    v : array-like
        Vector of a backend, or None.
    """
    return None if v is None else np.array(v, dtype=np.float64)
