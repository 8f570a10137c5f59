"""Backends of this environment by name: cvxpy's solvers, those of qpsolvers, the user's.

An installed package names its solvers in the entry-point group "equimargin.backends",
each a function of a `StandardForm`, a tolerance and seconds that returns x and z:

    [project.entry-points."equimargin.backends"]
    MINE = "my_package.solver:solve"
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points, metadata
from typing import Any

import numpy as np

from equimargin.formulations.declarations.user_functions import kept_from_quitting
from equimargin.formulations.numeric.arguments import did_you_mean
from equimargin.formulations.programs.lazy_cvxpy import cp
from equimargin.formulations.programs.standard_form import StandardForm
from equimargin.solvers.backends.table import BACKENDS, OTHERS, Backend

GROUP = "equimargin.backends"
"""Entry-point group of backends."""
OF_QPSOLVERS = "QPSOLVERS."
"""Prefix of the names of qpsolvers' solvers, many of which cvxpy has, too."""


def find_backend(name: str) -> Backend:
    """Return the backend of a name, ignoring case.

    Parameters
    ----------
    name : str
        Name in BACKENDS, or of `installed_backends()`.

    Raises
    ------
    ValueError
        If no such backend is installed.
    """
    key = name.upper()
    if key in BACKENDS:
        return BACKENDS[key]
    known = installed_backends()
    if key in known:
        return known[key]
    command = dict(missing_backends()).get(key)
    if command is not None:
        raise ValueError(f"the solver {name} is not installed; install it by {command}")
    near = did_you_mean(key, [*known]) or f"; installed: {', '.join(known)}"
    raise ValueError(f"unknown solver {name!r}{near}")


def installed_backends() -> dict[str, Backend]:
    """Return all backends of this environment; those of BACKENDS come first.

    Of several with one name the first is taken: that of cvxpy, then that of qpsolvers,
    then that of an entry point.
    """
    found = dict(BACKENDS)
    for backend in (*_of_libraries(), *_of_entry_points()):
        found.setdefault(backend.name, backend)
    return found


def missing_backends() -> Iterator[tuple[str, str]]:
    """Yield the solvers that are not installed, each with a command to install it.

    They are the optional dependencies of cvxpy and, without it, qpsolvers.

    Yields
    ------
    tuple of str
        Name and command.
    """
    known = cp.reductions.solvers.defines
    absent = {*known.SOLVER_MAP_CONIC, *known.SOLVER_MAP_QP} - set(cp.installed_solvers())
    for extra in metadata("cvxpy").get_all("Provides-Extra") or ():
        name = extra.upper().replace("-", "_")
        if name in absent:
            yield name, f"pip install 'cvxpy[{extra.upper()}]'"
    if not any(backend.origin == "qpsolvers" for backend in _of_libraries()):
        yield f"{OF_QPSOLVERS}*", "pip install 'equimargin[qpsolvers]'"


@cache
def _of_libraries() -> tuple[Backend, ...]:
    """Return the solvers of cvxpy and of qpsolvers, whose solvers are imported for it."""
    names = sorted(cp.installed_solvers())
    return *(OTHERS.get(name, Backend(name)) for name in names), *_of_qpsolvers()


def _of_qpsolvers() -> Iterator[Backend]:
    """Yield the solvers of qpsolvers; none if it, or a package that it imports, is absent."""
    # A damaged package may raise any exception.
    try:
        import qpsolvers
    except Exception:
        return
    for name in sorted(qpsolvers.available_solvers):
        row = {**BACKENDS, **OTHERS}.get(name.upper(), Backend(name))
        yield Backend(
            f"{OF_QPSOLVERS}{name.upper()}",
            conic=False,
            options=row.options,
            solve=partial(_by_qpsolvers, name, row),
            origin="qpsolvers",
        )


def _by_qpsolvers(
    name: str, row: Backend, form: StandardForm, tol: float, seconds: float
) -> tuple[Any, Any]:
    """Return the point and multipliers of a solver of qpsolvers."""
    import qpsolvers
    from scipy import sparse

    if form.cones:
        raise ValueError("qpsolvers takes no second-order cones")
    dense = name in qpsolvers.dense_solvers and name not in qpsolvers.sparse_solvers

    def matrix(M: Any) -> Any:
        # qpsolvers knows scipy's matrices, and not its arrays.
        return sparse.csc_array(M).toarray() if dense else sparse.csc_matrix(M)

    e, boxed = form.zero, np.isfinite(form.lower).any() or np.isfinite(form.upper).any()
    solution = qpsolvers.solve_problem(
        qpsolvers.Problem(
            matrix(form.P),
            form.q,
            *((matrix(form.G[e:]), form.h[e:]) if form.nonneg else (None, None)),
            *((matrix(form.G[:e]), form.h[:e]) if e else (None, None)),
            *((form.lower, form.upper) if boxed else (None, None)),
        ),
        solver=name,
        **row.options(tol, seconds, None),
    )
    if solution.x is None:
        raise ValueError("it returns no point")
    parts = [part for part, size in ((solution.y, e), (solution.z, form.nonneg)) if size]
    if any(part is None for part in parts):
        return solution.x, None
    return solution.x, np.concatenate([np.zeros(0), *map(np.ravel, parts)])


def _of_entry_points() -> Iterator[Backend]:
    """Yield the backends of installed packages, which are imported when they are run."""
    try:
        points = sorted(entry_points(group=GROUP))
    # Python reads the entry points of all packages at once, and a damaged file raises many
    # exceptions; the command line reports its package.
    except Exception:
        return
    for point in points:
        yield Backend(
            point.name.upper(), solve=partial(_by_entry_point, point), origin=_package(point)
        )


def _by_entry_point(
    point: EntryPoint, form: StandardForm, tol: float, seconds: float
) -> tuple[Any, Any]:
    """Return the point and multipliers of a user's function."""
    with kept_from_quitting():
        x, z = point.load()(form, tol, seconds)
    return x, z


def _package(point: EntryPoint) -> str:
    """Return name and version of the package of an entry point."""
    try:
        return f"{point.dist.name} {point.dist.version}" if point.dist else point.value
    # The metadata may be damaged.
    except Exception:
        return point.value
