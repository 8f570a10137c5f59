"""Points as passed by users: an array, an array and a bias, or named parts.

Each becomes a canonical point, of w or beta, b and alpha (`problem/point.py`), or raises
an error.

    w             an array (d,)           f(x) = w.x of a linear kernel; if the bias is
                                          penalised, (d + 1,): the last entry is the bias
    (w, b)        a tuple                 f(x) = w.x and the bias b
    {"f": f, ...} a mapping of parts      w, b, beta (m,), f (m,) values of f at the points
                                          without b, alpha (p,) multipliers
    x, {"x", "u"} of a linear program     its variables (size,), and the multipliers of its
                                          rows (p,)

Values f at the points are turned into the function of the kernel's space that has these
values, and the smallest norm.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

from equimargin.formulations.numeric.arguments import check_reals, format_value
from equimargin.formulations.numeric.arrays import Array, dense
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.one_norm import Problem
from equimargin.formulations.problem.point import CanonicalPoint, OneNormPoint, Point

P = TypeVar("P", Point, OneNormPoint)

OUTSIDE_THE_SPACE = 1e-6
"""Maximum |f_i - g_i| relative to the largest |f_i| or |t_r|.

g is the function of the kernel's space closest to the values f. Larger distances raise
an error.
"""


def parse_point(problem: Problem, given: Any) -> CanonicalPoint:
    """Convert a user's point of a problem to a canonical point.

    Parameters
    ----------
    problem : Problem
        MarginProblem or OneNormProblem.
    given : array-like, tuple, mapping or CanonicalPoint
        w, (w, b), a mapping of parts, or a canonical point, as listed above.

    Returns
    -------
    Point or OneNormPoint
        Point of finite numbers in the right shapes.

    Raises
    ------
    ValueError
        If an array has another shape, entries are not finite numbers, parts are unknown or
        inconsistent, there is a bias that the problem does not have, or no function of the
        kernel has the values f.
    """
    parts = _parts(problem, given)
    if not isinstance(problem, MarginProblem):
        return _finite(problem.own_point(OneNormPoint(**parts)))
    if "w" in parts:
        parts = _with_penalised_bias(problem, parts)
    values = parts.pop("f", None)
    point = _finite(problem.own_point(Point(**parts)))
    if np.any(point.b) and not problem.bias:
        reason = (
            f"the {problem.family} problem has no free bias; leave b out, or use a problem with "
            f"a bias"
        )
        raise ValueError(f"b is {point.b:g}, and {reason}")
    return point if values is None else _of_values(problem, values, point)


def _parts(problem: Problem, given: Any) -> dict[str, Any]:
    """Return the user's parts by their names, and check the names."""
    quadratic = isinstance(problem, MarginProblem)
    # A user's own solver without a `return` yields None.
    if given is None:
        raise ValueError("the point is None: is a `return` missing?")
    if isinstance(given, CanonicalPoint):
        return {
            name: part for name, part in vars(problem.own_point(given)).items() if part is not None
        }
    if isinstance(given, tuple) and quadratic:
        if len(given) != 2:
            raise ValueError(
                f"a tuple must be (w, b), and this one has {len(given)} entries; name the "
                f"parts: {{'w': w, 'alpha': alpha}}"
            )
        given = {"w": given[0], "b": given[1]}
    if not isinstance(given, Mapping):
        given = {"w" if quadratic else "x": given}
    parts: dict[str, Any] = {name: part for name, part in given.items() if part is not None}
    names = [*problem.parts, "f"] if quadratic else list(problem.parts)
    if quadratic and "w" in given and "w" not in names:
        alternatives = (
            "{'beta': beta}, its coefficients, {'f': f}, its values at the points, or {'alpha': "
            "alpha}, the multipliers"
        )
        requirement = "a solver for linear kernels only declares Requirements(..., linear=True)"
        raise ValueError(
            f"an array is read as w, and the {problem.kernel.name} kernel has no w: pass "
            f"{alternatives}; {requirement}"
        )
    functions = [name for name in ("w", "beta", "f") if name in parts]
    if len(functions) > 1:
        raise ValueError(f"{' and '.join(functions)} define the function twice; pass one of them")
    unknown = [name for name in parts if name not in names]
    if unknown or not set(parts) - {"b"}:
        what = (
            f"the part {format_value(unknown[0])} is unknown"
            if unknown
            else "there is neither a function nor multipliers"
        )
        raise ValueError(
            f"{what}; the parts of a point of this {problem.family} problem are {', '.join(names)}"
        )
    return parts


def _with_penalised_bias(problem: MarginProblem, parts: dict[str, Any]) -> dict[str, Any]:
    """Return the parts, with b appended to w if the bias is penalised and w lacks it."""
    Z = problem.explicit
    if Z is None or not Z.constant or parts.get("b") is None or np.shape(parts["w"]) != (Z.d,):
        return parts
    return {name: part for name, part in parts.items() if name != "b"} | {
        "w": np.append(parts["w"], parts["b"])
    }


def _of_values(problem: MarginProblem, values: Any, point: Point) -> Point:
    """Return the point whose function has these values, with the smallest norm."""
    f = check_reals(values, "f")
    if f.shape != (problem.m,):
        raise ValueError(
            f"f must be the values at the points, of shape ({problem.m},), not of shape {f.shape}"
        )
    _finite_part("f", f)
    features = dense(problem.features())
    w = np.asarray(np.linalg.lstsq(features, f, rcond=None)[0], dtype=np.float64)
    distance, size = (
        float(np.abs(features @ w - f).max(initial=0.0)),
        float(np.abs(f).max(initial=0.0)),
    )
    if distance > OUTSIDE_THE_SPACE * max(size, problem.rows.largest_target):
        nearest = (
            f"the nearest function of the {problem.kernel.name} kernel differs from f by "
            f"{distance:.1e} at a point"
        )
        raise ValueError(
            f"{nearest}, where f is up to {size:.1e}; f are the values at the points "
            f"without the bias, which is b"
        )
    return problem.point_of_w(w, point.b, point.alpha)


def _finite(point: P) -> P:
    """Check that all stored numbers of a point are finite, and return the point."""
    for name, part in vars(point).items():
        if isinstance(part, np.ndarray | float):
            _finite_part(name, np.asarray(part))
    return point


def _finite_part(name: str, part: Array) -> None:
    bad = part[~np.isfinite(part)]
    if bad.size:
        count = f"{bad.size} of its {part.size} entries are" if part.size > 1 else "it is"
        raise ValueError(
            f"{name} must be finite, and {count} {bad.flat[0]}: do the steps diverge, or is "
            f"something divided by 0?"
        )
