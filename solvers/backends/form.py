"""Programs in floats through any solver that cvxpy knows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from equimargin.formulations.numeric.arguments import did_you_mean
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.programs.lazy_cvxpy import cp
from equimargin.formulations.programs.standard_form import StandardForm
from equimargin.solvers.interrupt import interruptible


def solve_form(form: StandardForm, name: str, seconds: float) -> tuple[Array, Array]:
    """Return a solver's point and multipliers of the rows, in no way verified.

    Parameters
    ----------
    form : StandardForm
        Program.
    name : str
        Name of a solver among `cvxpy.installed_solvers()`.
    seconds : float
        Time limit in seconds, after which the solver is abandoned.

    Returns
    -------
    x : ndarray of shape (n,)
        Point.
    z : ndarray of shape (r,)
        Multipliers, with P x + q + G'z = 0 at variables inside their bounds.

    Raises
    ------
    ValueError
        If no such solver is installed, it returns no point and multipliers, or time is out.
    """
    known = cp.installed_solvers()
    if name.upper() not in known:
        raise ValueError(
            f"unknown solver {name!r}{did_you_mean(name.upper(), known)}; installed: "
            f"{', '.join(sorted(known))}"
        )
    x, zero = cp.Variable(len(form.q)), form.zero
    constraints: list[Any] = []
    if zero:
        constraints.append(form.G[:zero] @ x == form.h[:zero])
    stop = zero + form.nonneg
    if form.nonneg:
        constraints.append(form.G[zero:stop] @ x <= form.h[zero:stop])
    for size in form.cones:
        slack = form.h[stop : stop + size] - form.G[stop : stop + size] @ x
        constraints.append(cp.SOC(slack[0], slack[1:]))
        stop += size
    low, high = np.flatnonzero(np.isfinite(form.lower)), np.flatnonzero(np.isfinite(form.upper))
    boxes = [x[low] >= form.lower[low]] if len(low) else []
    boxes += [x[high] <= form.upper[high]] if len(high) else []
    cost = form.q @ x
    if form.P.nnz:
        cost = cost + cp.quad_form(x, cp.psd_wrap(form.P)) / 2
    problem = cp.Problem(cp.Minimize(cost), [*constraints, *boxes])
    try:
        with warnings.catch_warnings():
            # The answer is verified, whatever the solver says about its accuracy.
            warnings.simplefilter("ignore")
            interruptible(lambda: problem.solve(solver=name.upper()), seconds=seconds)
    except TimeoutError:
        raise ValueError(
            f"{name} took more than {seconds:g} s, and was abandoned; raise the limit (seconds), "
            f"or name another solver"
        ) from None
    # What a solver or its interface raises is its own; the sentence names it.
    except Exception as reason:
        raise ValueError(f"{name} does not solve the problem: {reason}") from None
    if x.value is None or any(constraint.dual_value is None for constraint in constraints):
        raise ValueError(
            f"{name} returns no point, and says that the problem is {problem.status}; that is not "
            f"proven: `equimargin explain` (in Python, explain) names the constraints or the "
            f"direction that prove it; or name another solver"
        )
    parts = [part for constraint in constraints for part in _flat(constraint.dual_value)]
    return np.array(x.value), np.concatenate([*parts, np.zeros(0)])


def _flat(dual: Any) -> list[Array]:
    """Return the multipliers of a constraint as vectors."""
    return [np.ravel(part) for part in dual] if isinstance(dual, list) else [np.ravel(dual)]
