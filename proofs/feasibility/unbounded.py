"""Feasible point and ray of an unbounded program, near points in floats.

A ray d satisfies P d = 0, A d = 0, G d <= 0 and q'd = -1. Two are tried: one of few
nonzero entries, at a vertex by HiGHS, rounded to simple fractions or to the exact
solution of its tight rows; and one in the interior, by Clarabel. The feasible points
and the rays are the feasible sets of two programs without an objective: in their
interiors few inequalities become equations, so that a small exact system yields a point
in rational numbers.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.programs.program import Program
from equimargin.formulations.programs.rational import Matrix, Vector
from equimargin.proofs.enclosure import upper
from equimargin.proofs.feasibility.sparse_vertex import sparse_vertex
from equimargin.solvers.exact.program import UnboundedProgram
from equimargin.solvers.exact.program.clock import Clock, OutOfTime
from equimargin.solvers.exact.program.floats import (
    floats,
    on_grid,
    solve_in_floats,
    to_sparse,
)
from equimargin.solvers.exact.program.linear_system import solution_near

MAX_DENOMINATOR = 10
"""Maximum denominator of simple fractions; a ray's are relative to its largest entry."""
NEGLIGIBLE = 1e-9
"""Relative size of entries and slacks that count as 0 in floats."""
ZERO = Fraction(0)


def find_ray(program: Program, clock: Clock) -> UnboundedProgram | None:
    """Return a feasible point and a ray, or None if they are not found.

    Parameters
    ----------
    program : Program
        Program without second-order cones.
    clock : Clock
        Time limit.
    """
    nothing = (ZERO,) * program.n
    if not any(program.q):
        return None
    rays = _rays(program)
    try:
        ray = _sparse_ray(rays, clock) or _point(rays, clock)
        if ray is None or not program.is_recession_ray(ray):
            return None
        point = _point(replace(program, P=rays.P, q=nothing, c=ZERO), clock)
    except OutOfTime:
        return None
    if point is None:
        return None
    return UnboundedProgram(point, ray, "a feasible point and a ray near points in floats")


def _rays(program: Program) -> Program:
    """Return the program of all rays with q'd = -1, its last equation."""
    n = program.n
    level = (*(row for row in program.P.rows if row), *program.A.rows)
    return Program(
        Matrix(({},) * n, n),
        (ZERO,) * n,
        Matrix((*level, {j: v for j, v in enumerate(program.q) if v != 0}), n),
        (*(ZERO,) * len(level), -Fraction(1)),
        program.G,
        (ZERO,) * len(program.h),
    )


def _sparse_ray(rays: Program, clock: Clock) -> Vector | None:
    """Return a ray with few nonzero entries, or None."""
    from scipy import sparse

    n = rays.n
    table = sparse.vstack([to_sparse(rays.A), to_sparse(rays.G)])
    ends = floats([*rays.b, *rays.h])
    low = np.where(np.arange(len(ends)) < len(rays.b), ends, -np.inf)
    vertex = sparse_vertex(table, low, ends, np.ones(n), np.ones(n, dtype=np.bool_), clock)
    if vertex is None or not vertex.any():
        return None
    return _simple_ray(rays, vertex) or _ray_on_tight_rows(rays, vertex, clock)


def _simple_ray(rays: Program, vertex: Array) -> Vector | None:
    """Return the ray of simple fractions near a float one, or None."""
    entries = _simple_fractions(vertex / np.abs(vertex).max())
    rate = rays.A.times(entries)[-1]
    if rate >= 0:
        return None
    ray = tuple(v / -rate for v in entries)
    return ray if rays.is_feasible(ray) else None


def _ray_on_tight_rows(rays: Program, vertex: Array, clock: Clock) -> Vector | None:
    """Return the ray with the nonzero entries and the tight rows of a float one, or None."""
    least = NEGLIGIBLE * float(np.abs(vertex).max())
    support = np.flatnonzero(np.abs(vertex) > least).tolist()
    tight = np.flatnonzero(-(to_sparse(rays.G) @ vertex) <= least).tolist()
    place = {j: k for k, j in enumerate(support)}
    chosen = (*rays.A.rows, *rays.G.part(tight).rows)
    rows = Matrix(
        tuple({place[j]: v for j, v in row.items() if j in place} for row in chosen), len(support)
    )
    right = [*rays.b, *[ZERO] * len(tight)]
    values = solution_near(rows, right, on_grid(vertex[support]), clock)
    if values is None:
        return None
    entries = dict(zip(support, values, strict=True))
    ray = tuple(entries.get(j, ZERO) for j in range(rays.n))
    return ray if rays.is_feasible(ray) else None


def _point(program: Program, clock: Clock) -> Vector | None:
    """Return a feasible point of a program without an objective, or None."""
    near = solve_in_floats(program, clock)
    if near is None or not near.finite or near.says_infeasible:
        return None
    simple = _simple_fractions(near.x)
    return simple if program.is_feasible(simple) else upper.by_residual(program, near, clock)


def _simple_fractions(values: Array) -> Vector:
    """Return the nearest fractions of denominators up to MAX_DENOMINATOR."""
    return tuple(Fraction(v).limit_denominator(MAX_DENOMINATOR) for v in values.tolist())
