"""The Lagrangian dual of a declared primal, derived by machine in exact fractions, and compared entry by entry with the declared dual.

cvxpy turns a declaration into min 1/2 x'Px + q'x over h - Gx in {0} x R+ x second-order cones. The dual of that form is known,

    max  -1/2 x'Px - h'z    s.t.   Px + q + G'z = 0,   z in R x R+ x second-order cones.

This dual, and the canonical form of the declared dual, have auxiliary unknowns. Rules eliminate these without changing the optimum or the
optimal values of the other unknowns. In the end both programs have only the multipliers alpha of the margins as unknowns, and their
quadratic terms, equations, inequalities and bounds must be the same numbers.

The numbers of a declaration are float64, and are compared as exact fractions. A declaration must therefore compute with its data without
rounding: C is a power of two, weights are powers of four, and differences of features are floats.

Source: S. Boyd, L. Vandenberghe, Convex Optimization, chapter 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.declaration import Declaration
from equimargin.formulations.family import FAMILIES
from equimargin.formulations.formulation import REGISTRY, declare
from equimargin.formulations.problem.one_norm import Problem
from equimargin.formulations.programs.standard_form import standard_form

Rational = NDArray[Any]
"""An array of Fractions."""
Bound = Fraction | None
PRIMALS = ("primal", "margin", "beta", "function", "slacks")
"""The last parts of the ids of forms whose Lagrangian dual is the one called dual."""
WITH_LOSS = ("svm.huberised_hinge.primal", "svm.huberised_hinge.beta")
"""Forms that state a loss by a function of cvxpy with unknowns of its own, which no rule here eliminates."""


def _duals() -> Iterator[tuple[str, str]]:
    """Yield the ids of every right form and of the declared dual beside it."""
    for id, entry in REGISTRY.items():
        beginning, _, last = id.rpartition(".")
        is_primal = last in PRIMALS and id not in WITH_LOSS and FAMILIES[entry.family].is_canonical
        if is_primal and f"{beginning}.dual" in REGISTRY:
            yield id, f"{beginning}.dual"


DUAL_OF = dict(_duals())
"""The id of the declaration that is the Lagrangian dual of another, by the id of that other one."""
ZERO = Fraction(0)
"""What arrays of Fractions are filled with; 0 itself would be an int."""
ONE = Fraction(1)
"""The unit of arrays of Fractions; 1 itself would be an int."""


@dataclass(frozen=True, eq=False)
class Program:
    """min 1/2 z'Hz + g'z + sqrt(z'Nz) + constant   s.t.  E z = e,  F z <= f,  lower <= z <= upper,  |M z| <= m'z for every cone.

    names : (n,) of the unknowns.
    H, N : (n, n), N None without a norm.  g : (n,).  E, F : (rows, n).  lower, upper : (n,), None where there is no bound.
    cones : rows m and M, over z.
    """

    names: tuple[str, ...]
    H: Rational
    g: Rational
    constant: Fraction
    E: Rational
    e: Rational
    F: Rational
    f: Rational
    lower: tuple[Bound, ...]
    upper: tuple[Bound, ...]
    cones: tuple[Rational, ...] = ()
    norm: Rational | None = None

    @property
    def n(self) -> int:
        """Number of unknowns."""
        return len(self.g)


def dualize(declaration: Declaration) -> Program:
    """The Lagrangian dual of a declared minimisation, reduced to the multipliers of its inequalities; its objective is minus the dual's.

    Parameters
    ----------
    declaration : from `declare`, a quadratic, linear or second-order cone program.

    Returns
    -------
    Program : over those multipliers that the rules of `reduced` leave, in the order of the constraints.
    """
    return reduced(lagrangian_dual(canonical(declaration)))


def lagrangian_dual(form: Program) -> Program:
    """The Lagrangian dual of a canonical form, its maximisation written as a minimisation.

    Its unknowns are those unknowns of the form that have curvature, then a multiplier of every row: y_1, y_2, ... of the equations,
    z_1, z_2, ... of the inequalities, u_1, u_2, ... of the rows of the cones.

    Parameters
    ----------
    form : from `canonical`.
    """
    G, h = np.vstack([form.E, form.F, *(-cone for cone in form.cones)]), np.append(form.e, form.f)
    curved = np.flatnonzero(form.H.any(axis=0))
    x, equations, inequalities, rows = len(curved), len(form.e), len(form.f), len(G)
    ends = np.cumsum([x + equations + inequalities, *(len(cone) for cone in form.cones)])
    H = zeros(x + rows, x + rows)
    H[:x, :x] = form.H[np.ix_(curved, curved)]
    return Program(
        (
            *(form.names[k] for k in curved),
            *(f"y_{k + 1}" for k in range(equations)),
            *(f"z_{k + 1}" for k in range(inequalities)),
            *(f"u_{k + 1}" for k in range(rows - equations - inequalities)),
        ),
        H,
        np.concatenate([zeros(x), h, zeros(rows - len(h))]),
        -form.constant,
        np.hstack([form.H[:, curved], G.T]),
        -form.g,
        zeros(0, x + rows),
        zeros(0),
        (*[None] * (x + equations), *[ZERO] * inequalities, *[None] * (rows - len(h))),
        (None,) * (x + rows),
        tuple(identity(x + rows)[start:stop] for start, stop in pairwise(ends)),
    )


def same_dual(primal_id: str, dual_id: str, problem: Problem) -> bool:
    """Whether the Lagrangian dual of one declaration is the other declaration, number by number.

    A max-margin form's dual is compared with the declared dual made homogeneous: min 1/2 z'Hz - t'z over a cone is -1 / (2 v^2) for
    v = min |z|_H over the same cone with t'z = 1.

    Parameters
    ----------
    primal_id, dual_id : of the registry.  problem : of their family, its numbers such that the declarations compute with them exactly.

    Raises
    ------
    KeyError, ValueError : as `declare` does.
    """
    derived, declared = dualize(declare(primal_id, problem)), reduced(canonical(declare(dual_id, problem)))
    if derived.norm is not None:
        declared = homogeneous(declared)
    return not differences(derived, declared)


def differences(first: Program, second: Program) -> list[str]:
    """In which of their parts two reduced programs differ, unknowns being compared in their order, equations and inequalities as sets."""
    if first.n != second.n:
        return [f"{first.n} unknowns and {second.n}"]
    parts = {
        "quadratic": (first.H.tolist(), second.H.tolist()),
        "linear": (first.g.tolist(), second.g.tolist()),
        "constant": (first.constant, second.constant),
        "equations": (_echelon(first.E, first.e), _echelon(second.E, second.e)),
        "inequalities": (_scaled(first.F, first.f), _scaled(second.F, second.f)),
        "lower bounds": (first.lower, second.lower),
        "upper bounds": (first.upper, second.upper),
        "norm": (_listed(first.norm), _listed(second.norm)),
        "cones": (len(first.cones), len(second.cones)),
    }
    return [name for name, (one, other) in parts.items() if one != other]


def canonical(declaration: Declaration) -> Program:
    """cvxpy's conic form of a declaration in exact fractions; of a maximisation it is that of minus the objective.

    The declaration's own variables come first, in its order.

    Raises
    ------
    ValueError : bounds that are no constraints, or cones with a constant.
    """
    form, columns = standard_form(declaration.problem, declaration.variables)
    n = len(form.q)
    if np.isfinite(form.lower).any() or np.isfinite(form.upper).any():
        raise ValueError("bounds that a variable brings with it are not dualised: declare them as constraints")
    own = [k for name in declaration.variables if name in columns for k in range(columns[name].start, columns[name].stop)]
    order = [*own, *sorted(set(range(n)) - set(own))]
    G, h = exact(form.G.toarray())[:, order], exact(form.h)
    ends = np.cumsum([form.zero, form.nonneg, *form.cones])
    cones = tuple(-G[start:stop] for start, stop in pairwise(ends[1:]))
    if any(v != 0 for v in h[ends[1] :]):
        raise ValueError("a cone whose rows have a constant is not dualised")
    names = [f"t_{k + 1}" for k in range(n)]
    for name in declaration.variables:
        if name in columns:
            span = range(columns[name].start, columns[name].stop)
            for k, column in enumerate(span):
                names[column] = name if len(span) == 1 else f"{name}_{k + 1}"
    return Program(
        tuple(names[k] for k in order),
        exact(form.P.toarray())[np.ix_(order, order)],
        exact(form.q)[order],
        Fraction(form.offset),
        G[: form.zero],
        h[: form.zero],
        G[form.zero : ends[1]],
        h[form.zero : ends[1]],
        (None,) * n,
        (None,) * n,
        cones,
    )


# The rules.


def reduced(program: Program) -> Program:
    """The program after the rules below have been applied until none applies any more."""
    for _, after in reductions(program):
        program = after
    return program


def reductions(program: Program) -> Iterator[tuple[str, Program]]:
    """The rules that are applied to a program, one after the other: what each does, in a sentence, and the program after it."""
    rules = (_bounded, _substituted, _slack_dropped, _monotone_fixed, _norm_formed)
    while True:
        for rule in rules:
            after = rule(program)
            if after is not None:
                break
        else:
            return
        yield (rule.__doc__ or "").partition("\n")[0], after
        program = after


def _bounded(program: Program) -> Program | None:
    """Replace an inequality in one unknown by a bound, and drop an inequality that has no unknown.

    Multipliers have bounds at 0. An unknown of an equation without one is eliminated, and its inequalities stay: that one of them has no
    other unknown is so for some data only.
    """
    for r, row in enumerate(program.F):
        used = np.flatnonzero(row)
        if len(used) > 1:
            continue
        rest, end = replace(program, F=np.delete(program.F, r, 0), f=np.delete(program.f, r)), program.f[r]
        if len(used) == 0 and end >= 0:
            return rest
        if len(used) == 1:
            k, over = int(used[0]), row[used[0]]
            if end != 0 and 0 not in (program.lower[k], program.upper[k]) and program.E[:, k].any():
                continue
            if over > 0:
                return replace(rest, upper=_with(rest.upper, k, end / over, min))
            return replace(rest, lower=_with(rest.lower, k, end / over, max))
    return None


def _substituted(program: Program) -> Program | None:
    """Eliminate an unknown without bounds by an equation that it is in, and drop an equation that has no unknown.

    An equation may have a bounded unknown that is in no other equation. Such an equation is taken last, because that unknown is its slack
    as soon as no other equation is left to eliminate by.
    """
    bounded = np.array([not (low is None and up is None) for low, up in zip(program.lower, program.upper, strict=True)], dtype=np.bool_)
    used = program.E != 0
    slack = used[:, bounded & (used.sum(axis=0) == 1)].any(axis=1)
    for r in np.argsort(slack, kind="stable"):
        if not used[r].any() and program.e[r] == 0:
            return replace(program, E=np.delete(program.E, r, 0), e=np.delete(program.e, r))
        free = np.flatnonzero(used[r] & ~bounded)
        if len(free):
            return _eliminated(program, int(r), int(free[0]))
    return None


def _eliminated(program: Program, r: int, k: int) -> Program:
    """The program without unknown k, which is (e_r - sum of the rest of row r) / E_rk = a'rest + c."""
    rest = [j for j in range(program.n) if j != k]
    a, c = -program.E[r, rest] / program.E[r, k], program.e[r] / program.E[r, k]
    if c != 0 and any(cone[:, k].any() for cone in program.cones):
        raise ValueError("a cone whose rows have a constant is not dualised")

    def columns(M: Rational) -> Rational:
        return np.asarray(M[:, rest] + np.multiply.outer(M[:, k], a))

    H, g, E, F = program.H, program.g + program.H[:, k] * c, program.E, program.F
    return Program(
        tuple(program.names[j] for j in rest),
        columns(columns(H).T),
        g[rest] + a * g[k],
        program.constant + program.g[k] * c + H[k, k] * c * c / 2,
        np.delete(columns(E), r, 0),
        np.delete(program.e - E[:, k] * c, r),
        columns(F),
        program.f - F[:, k] * c,
        tuple(program.lower[j] for j in rest),
        tuple(program.upper[j] for j in rest),
        tuple(columns(cone) for cone in program.cones),
        None if program.norm is None else columns(columns(program.norm).T),
    )


def _slack_dropped(program: Program) -> Program | None:
    """Drop an unknown that is at least 0, is not in the objective and is in one equation only, and make the equation an inequality."""
    for k in range(program.n):
        lone = np.flatnonzero(program.E[:, k])
        alone = len(lone) == 1 and not (program.g[k] or program.H[k].any() or program.F[:, k].any() or _conic(program, k))
        if alone and program.lower[k] == 0 and program.upper[k] is None:
            r = int(lone[0])
            way = 1 if program.E[r, k] > 0 else -1
            F, f = np.vstack([program.F, way * program.E[r : r + 1]]), np.append(program.f, way * program.e[r])
            return _without(replace(program, E=np.delete(program.E, r, 0), e=np.delete(program.e, r), F=F, f=f), k)
    return None


def _monotone_fixed(program: Program) -> Program | None:
    """Fix an unknown at 0 if it is at least 0, is in no constraint, and the objective does not decrease in it at any feasible point."""
    for k in range(program.n):
        alone = not (program.E[:, k].any() or program.F[:, k].any() or _conic(program, k))
        if alone and program.lower[k] == 0 and program.g[k] >= 0:
            others = np.flatnonzero(program.H[k])
            if all(program.H[k, j] > 0 and (low := program.lower[j]) is not None and low >= 0 for j in others):
                return _without(program, k)
    return None


def _norm_formed(program: Program) -> Program | None:
    """Replace min v over |M z| <= v by min |M z|, for a v that is at least 0 or free, and in no other constraint."""
    for c, cone in enumerate(program.cones if program.norm is None else ()):
        used = np.flatnonzero(cone[0])
        if len(used) != 1 or program.g[used[0]] != cone[0, used[0]]:
            continue
        k = int(used[0])
        alone = not (program.E[:, k].any() or program.F[:, k].any() or program.H[k].any() or cone[1:, k].any())
        if alone and program.lower[k] in (None, 0) and program.upper[k] is None:
            rest = program.cones[:c] + program.cones[c + 1 :]
            return _without(replace(program, cones=rest, norm=cone[1:].T @ cone[1:]), k)
    return None


def _conic(program: Program, k: int) -> bool:
    """Whether unknown k is in a cone or in the norm."""
    return any(cone[:, k].any() for cone in program.cones) or (program.norm is not None and bool(program.norm[k].any()))


def _without(program: Program, k: int) -> Program:
    """The program with unknown k at 0."""
    rest = [j for j in range(program.n) if j != k]
    return replace(
        program,
        names=tuple(program.names[j] for j in rest),
        H=program.H[np.ix_(rest, rest)],
        g=program.g[rest],
        E=program.E[:, rest],
        F=program.F[:, rest],
        lower=tuple(program.lower[j] for j in rest),
        upper=tuple(program.upper[j] for j in rest),
        cones=tuple(cone[:, rest] for cone in program.cones),
        norm=None if program.norm is None else program.norm[np.ix_(rest, rest)],
    )


def _with(bounds: tuple[Bound, ...], k: int, end: Fraction, tighter: Callable[[Fraction, Fraction], Fraction]) -> tuple[Bound, ...]:
    """The bounds with another one on unknown k."""
    old = bounds[k]
    return (*bounds[:k], end if old is None else tighter(old, end), *bounds[k + 1 :])


def homogeneous(program: Program) -> Program:
    """min |z|_H with -g'z = 1 over the same cone: the homogeneous form, of degree one, of min 1/2 z'Hz + g'z.

    Raises
    ------
    ValueError : constraints that are not those of a cone.
    """
    bounds = all(b in (None, 0) for b in (*program.lower, *program.upper))
    if program.e.any() or program.f.any() or not bounds or program.constant:
        raise ValueError("only a program over a cone has a homogeneous form")
    E, e = np.vstack([program.E, -program.g[None, :]]), np.concatenate([program.e, [ONE]])
    return replace(program, H=zeros(program.n, program.n), g=zeros(program.n), E=E, e=e, norm=program.H)


# What is compared.


def _echelon(E: Rational, e: Rational) -> list[list[Fraction]]:
    """The reduced row echelon form of (E, e): the same for all systems with the same solutions."""
    rows, found = np.hstack([E, e[:, None]]), 0
    for k in range(rows.shape[1]):
        pivot = next((r for r in range(found, len(rows)) if rows[r, k] != 0), None)
        if pivot is None:
            continue
        rows[[found, pivot]] = rows[[pivot, found]]
        rows[found] = rows[found] / rows[found, k]
        for r in range(len(rows)):
            if r != found and rows[r, k] != 0:
                rows[r] = rows[r] - rows[r, k] * rows[found]
        found += 1
    return [row.tolist() for row in rows[:found]]


def _scaled(F: Rational, f: Rational) -> list[list[Fraction]]:
    """The rows of (F, f), sorted, each over the size of its first entry."""
    return sorted(
        [v / abs(row[np.flatnonzero(row)[0]]) for v in row] + [end / abs(row[np.flatnonzero(row)[0]])]
        for row, end in zip(F, f, strict=True)
    )


def _listed(M: Rational | None) -> list[list[Fraction]] | None:
    return None if M is None else M.tolist()


# Arrays of Fractions.


def exact(values: NDArray[np.float64]) -> Rational:
    """An array of floats as the fractions that they are."""
    out = np.empty(values.shape, dtype=object)
    out.ravel()[:] = [Fraction(v) for v in values.ravel().tolist()]
    return out


def zeros(*shape: int) -> Rational:
    """An array of Fractions 0."""
    return np.full(shape, ZERO, dtype=object)


def identity(n: int) -> Rational:
    """The unit matrix."""
    out = zeros(n, n)
    out[np.diag_indices(n)] = ONE
    return out
