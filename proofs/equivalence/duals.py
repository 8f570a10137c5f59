"""Declared primals and duals of the registry, and proofs of their Lagrangian duality.

The float64 numbers of a declaration are interpreted as exact fractions. The data must
therefore be such that declarations compute without rounding: C is a power of two,
weights are powers of four, and differences of features are floats.

A primal that maximises a margin over the unit ball is rescaled to the margin 1, where
it has no second-order cone, and then dualised.

References
----------
S. Boyd, L. Vandenberghe, Convex Optimization, chapter 5.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np

from equimargin.formulations.declarations.family import FAMILIES
from equimargin.formulations.declarations.formulation import REGISTRY
from equimargin.formulations.problem.base import AnyProblem
from equimargin.formulations.programs.extras import flint
from equimargin.proofs.equivalence.stated import stated
from equimargin.proofs.equivalence.steps.form import Form, Numbers, array, dense, make_form, zeros
from equimargin.proofs.equivalence.steps.moves import LagrangianDual
from equimargin.proofs.equivalence.steps.reason import Reason, find_reason
from equimargin.solvers.exact.program.clock import Clock

PRIMALS = ("primal", "margin", "beta", "function", "slacks")
"""Last parts of the ids of formulations whose Lagrangian dual has the last part "dual"."""
WITH_LOSS = ("svm.huberised_hinge.primal", "svm.huberised_hinge.beta")
"""Formulations that declare a loss by a cvxpy function.

The variables of their duals have another scale than those of the declared dual.
"""


def _duals() -> Iterator[tuple[str, str]]:
    """Yield the id of every primal formulation, with that of the declared dual."""
    for id, entry in REGISTRY.items():
        beginning, _, last = id.rpartition(".")
        is_primal = last in PRIMALS and id not in WITH_LOSS and FAMILIES[entry.family].is_canonical
        if is_primal and f"{beginning}.dual" in REGISTRY:
            yield id, f"{beginning}.dual"


DUAL_OF = dict(_duals())
"""Id of the declared Lagrangian dual, by the id of the primal formulation."""
SECONDS = 60.0
"""Default time limit of the search for one equivalence proof, in seconds."""
MARGIN = ".margin"
"""Last part of the ids of formulations that maximise a margin over the unit ball."""
NO_MARGIN = (
    "the program does not have the form max m over A x >= m and |x| <= 1, a margin over the "
    "unit ball"
)
"""Error message for a formulation with this last part that is another program."""


def dual_reason(
    primal: str, dual: str, problem: AnyProblem, seconds: float = SECONDS
) -> Reason | None:
    """Return a proof that `dual` is the Lagrangian dual of `primal` at a problem.

    Parameters
    ----------
    primal, dual : str
        Ids of formulations.
    problem : AnyProblem
        Problem of their family.
    seconds : float, default SECONDS
        Time limit in seconds.

    Returns
    -------
    Reason or None
        None if no proof was found.

    Raises
    ------
    KeyError
        If an id is unknown.
    ValueError
        If a formulation rejects the problem, or has a second-order cone other than a
        norm of at most 1.
    OutOfTime
        If the time is up.
    """
    reason = find_reason(
        stated_form(primal, problem), stated_form(dual, problem), True, Clock(seconds)
    )
    return reason if reason is not None and isinstance(reason.first[0], LagrangianDual) else None


def stated_form(id: str, problem: AnyProblem) -> Form:
    """Return a formulation, as cvxpy compiles it, with the names of its variables.

    One that maximises a margin is rescaled to the margin 1.

    Parameters
    ----------
    id : str
        Id of the formulation.
    problem : AnyProblem
        Problem of its family.

    Raises
    ------
    KeyError
        If the id is unknown.
    ValueError
        If the formulation rejects the problem, or has second-order cones other than the
        norm of a margin.
    """
    program = stated(id, problem, "exact", Clock(SECONDS)).program
    names = [f"t_{k + 1}" for k in range(program.n)]
    for name, columns in program.columns.items():
        size = columns.stop - columns.start
        names[columns] = [name] if size == 1 else [f"{name}_{k + 1}" for k in range(size)]
    if not id.endswith(MARGIN):
        return replace(make_form(program), names=tuple(names))
    _require(len(program.cones) <= 1 and not any(program.h[program.inequalities :]))
    rows, cone = range(program.inequalities), range(program.inequalities, len(program.h))
    form = make_form(replace(program, G=program.G.part(rows), h=program.h[: len(rows)], cones=()))
    form, norm = (form, -dense(program.G.part(cone))) if cone else _absolute_value(form)
    return at_margin_one(replace(form, names=tuple(names)), norm)


def _absolute_value(form: Form) -> tuple[Form, Numbers]:
    """Return the form without the two rows of |a'x| <= s, and the rows (s, a'x) of a cone.

    cvxpy compiles the norm of one number to the rows a'x <= s and -a'x <= s.
    """
    for r, q in combinations(range(len(form.f)), 2):
        both = form.F[r] + form.F[q]
        if (both != 0).sum() == 1 and (both <= 0).all() and form.f[r] == form.f[q] == 0:
            return form.without_inequalities(r, q), np.vstack(
                [both, form.F[r] - form.F[q]]
            ) * flint.fmpq(-1, 2)
    raise ValueError(NO_MARGIN)


def at_margin_one(form: Form, norm: Numbers) -> Form:
    """Return min 1/2 |M x|^2 with margin 1 instead of a maximal margin with |M x| <= 1.

    The given form is max -g'x over E x = 0, F x <= 0 and |M x| <= 1. If m in [0, inf] is
    its optimum, the returned form has the optimum 1 / (2 m^2).

    Parameters
    ----------
    form : Form
        Form with one bound s <= r, up to scale, on a variable s: the radius of |M x|.
    norm : Numbers of shape (k, n)
        Rows (s, M x) of a second-order cone, |M x| <= s.

    Raises
    ------
    ValueError
        If the form is not of this kind.
    """
    ends = np.flatnonzero(form.f != 0)
    linear = not (form.H != 0).any() and form.constant == 0 and not (form.e != 0).any()
    _require(linear and len(ends) == 1 and form.bounds[ends[0]] and form.f[ends[0]] > 0)
    s, rest = int(np.flatnonzero(form.F[ends[0]] != 0)[0]), form.without_inequalities(int(ends[0]))
    alone = rest.in_rows(s) == 0 and not rest.in_objective(s) and not (norm[1:, s] != 0).any()
    _require(alone and np.flatnonzero(norm[0] != 0).tolist() == [s])
    radius = norm[0, s] * form.f[ends[0]] / form.F[ends[0], s]
    _require(radius > 0)
    M = norm[1:] / radius
    E, e = np.vstack([form.E, -form.g]), np.append(form.e, array([1]))
    return replace(rest, H=M.T @ M, g=zeros(form.n), E=E, e=e).without(s)


def _require(holds: bool) -> None:
    if not holds:
        raise ValueError(NO_MARGIN)
