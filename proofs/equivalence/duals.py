"""Declared primals and duals of the registry, and proofs of their Lagrangian duality.

The numbers of a declaration are float64, and are interpreted as exact fractions. A
declaration must therefore compute with its data without rounding: C is a power of two,
weights are powers of four, and differences of features are floats.

A primal that maximises a margin over the unit ball is dualised at the margin 1, where
it has no second-order cone.

References
----------
S. Boyd, L. Vandenberghe, Convex Optimization, chapter 5.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np
from flint import fmpq

from equimargin.formulations.declarations.family import FAMILIES
from equimargin.formulations.declarations.formulation import REGISTRY
from equimargin.formulations.problem.base import AnyProblem
from equimargin.proofs.equivalence.form import Form, Numbers, array, dense, make_form, zeros
from equimargin.proofs.equivalence.moves import LagrangianDual
from equimargin.proofs.equivalence.reason import Reason, find_reason
from equimargin.proofs.equivalence.stated import stated
from equimargin.solvers.exact.program.clock import Clock

PRIMALS = ("primal", "margin", "beta", "function", "slacks")
"""Last parts of the ids of forms whose Lagrangian dual has the last part "dual"."""
WITH_LOSS = ("svm.huberised_hinge.primal", "svm.huberised_hinge.beta")
"""Forms that state a loss by a function of cvxpy.

The variables of their duals have another scale than those of the declared dual.
"""


def _duals() -> Iterator[tuple[str, str]]:
    """Yield the ids of every right form and of the declared dual in its family."""
    for id, entry in REGISTRY.items():
        beginning, _, last = id.rpartition(".")
        is_primal = last in PRIMALS and id not in WITH_LOSS and FAMILIES[entry.family].is_canonical
        if is_primal and f"{beginning}.dual" in REGISTRY:
            yield id, f"{beginning}.dual"


DUAL_OF = dict(_duals())
"""Id of the declared Lagrangian dual of a declaration, by the id of the latter."""
SECONDS = 60.0
"""Default time limit of the search for one reason, in seconds."""
MARGIN = ".margin"
"""Last part of the ids of forms that maximise a margin over the unit ball."""
NO_MARGIN = (
    "the program does not have the form max m over A x >= m and |x| <= 1, a margin over the "
    "unit ball"
)
"""Message of the error if a form of that name is another program."""


def dual_reason(
    primal: str, dual: str, problem: AnyProblem, seconds: float = SECONDS
) -> Reason | None:
    """Return the reason why one formulation is another's Lagrangian dual at a problem.

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
        None if no reason was found.

    Raises
    ------
    KeyError
        If an id is unknown.
    ValueError
        If a formulation rejects the problem, or has a second-order cone that is no norm
        of at most 1.
    OutOfTime
        If the time is up.
    """
    reason = find_reason(
        stated_form(primal, problem), stated_form(dual, problem), True, Clock(seconds)
    )
    return reason if reason is not None and isinstance(reason.first[0], LagrangianDual) else None


def stated_form(id: str, problem: AnyProblem) -> Form:
    """Return cvxpy's form of a formulation with the names of its variables.

    That of a maximal margin is scaled to the margin 1.

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
    """Return the form without two rows a'x <= s and -a'x <= s, and (s, a'x).

    cvxpy states a norm of one number by these rows.
    """
    for r, q in combinations(range(len(form.f)), 2):
        both = form.F[r] + form.F[q]
        if (both != 0).sum() == 1 and (both <= 0).all() and form.f[r] == form.f[q] == 0:
            return form.without_inequalities(r, q), np.vstack([both, form.F[r] - form.F[q]]) * fmpq(
                -1, 2
            )
    raise ValueError(NO_MARGIN)


def at_margin_one(form: Form, norm: Numbers) -> Form:
    """Return min 1/2 |M x|^2 at the margin 1, from the form of a maximal margin.

    That form is max -g'x over E x = 0, F x <= 0 and |M x| <= 1, whose points may be
    scaled. With its optimal margin m, in [0, inf], the optimum here is 1 / (2 m^2).

    Parameters
    ----------
    form : Form
        Rows, in one of which a variable s is at most 1, up to scale.
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
