"""Bounds on variables that the rows of a program imply.

A row of one variable is a bound. A row sum_j a_j x_j <= h bounds every x_j whose
partners are bounded on the side that makes their terms small. All bounds are rounded
outward, and are valid for every feasible point.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.numeric.exact_sums import SAFE_PRODUCT, split_products
from equimargin.formulations.numeric.rounding import UNIT, round_toward
from equimargin.formulations.programs.standard_form import StandardForm

MIN_NORMAL = 1e-290
"""Size added to those of a row, for products below the range of float64."""
PASSES = 10
"""Maximum number of passes over the rows."""


def bounds_of_rows(form: StandardForm) -> tuple[StandardForm, Index]:
    """Return a program without rows of one variable, with bounds in their place.

    An equation whose solution is no float stays: no bounds in floats state it.

    Parameters
    ----------
    form : StandardForm
        Program.

    Returns
    -------
    program : StandardForm
        Program whose feasible points contain those of `form`.
    kept : ndarray of int
        Rows of `form` that are rows of the program.
    """
    counts = np.diff(form.G.indptr)
    single = np.flatnonzero((counts == 1) & (np.arange(len(form.h)) < form.zero + form.nonneg))
    single = single[form.G.data[form.G.indptr[single]] != 0]
    if not len(single):
        return form, np.arange(len(form.h), dtype=np.int64)
    with np.errstate(all="ignore"):
        ends = form.h[single] / form.G.data[form.G.indptr[single]]
    product, error = split_products(form.G.data[form.G.indptr[single]], ends)
    sure = (np.abs(product) > SAFE_PRODUCT) | (ends == 0)
    exact = (product == form.h[single]) & (error == 0) & sure
    stated = exact | (single >= form.zero)
    single, ends, exact = single[stated], ends[stated], exact[stated]
    j, a = form.G.indices[form.G.indptr[single]], form.G.data[form.G.indptr[single]]
    lower, upper, equal = form.lower.copy(), form.upper.copy(), single < form.zero
    above, below = equal | (a > 0), equal | (a < 0)
    np.minimum.at(upper, j[above], np.where(exact, ends, round_toward(ends, 1))[above])
    np.maximum.at(lower, j[below], np.where(exact, ends, round_toward(ends, -1))[below])
    kept = np.setdiff1d(np.arange(len(form.h), dtype=np.int64), single)
    return replace(
        form,
        G=form.G[kept],
        h=form.h[kept],
        zero=form.zero - int(equal.sum()),
        nonneg=form.nonneg - int((~equal).sum()),
        lower=lower,
        upper=upper,
    ), kept


@np.errstate(all="ignore")
def implied_bounds(form: StandardForm, ceiling: float = np.inf) -> StandardForm:
    """Return the program with finite bounds where its rows imply one and it has none.

    Parameters
    ----------
    form : StandardForm
        Program.
    ceiling : float, default inf
        Proven upper bound of the optimum; the bounds then hold for every feasible point
        with an objective of at most this. P is positive semidefinite.
    """
    from scipy import sparse

    rows, ends = (
        [form.G[: form.zero + form.nonneg], -form.G[: form.zero]],
        [form.h[: form.zero + form.nonneg], -form.h[: form.zero]],
    )
    if np.isfinite(ceiling):
        # q'x <= ceiling - c, because x'Px >= 0.
        rows.append(sparse.csr_array(form.q[None, :]))
        ends.append(round_toward(np.array([ceiling - form.offset]), 1))
    G, h = sparse.csr_array(sparse.vstack(rows)), np.concatenate(ends)
    G.eliminate_zeros()
    lower, upper = form.lower.copy(), form.upper.copy()
    for _ in range(PASSES):
        if np.isfinite(lower).all() and np.isfinite(upper).all():
            break
        if not _tighten(G, h, lower, upper):
            break
    return replace(form, lower=lower, upper=upper)


def _tighten(G: Any, h: Array, lower: Array, upper: Array) -> bool:
    """Replace infinite bounds by those that G x <= h implies; return True if there are any."""
    i, j, a = np.repeat(np.arange(len(h)), np.diff(G.indptr)), G.indices, G.data
    least = np.where(a > 0, a * lower[j], a * upper[j])
    free = np.isinf(least)
    count = np.bincount(i[free], minlength=len(h))
    finite = np.where(free, 0.0, least)
    total = np.bincount(i, finite, minlength=len(h))
    sizes = np.bincount(i, np.abs(finite), minlength=len(h)) + np.abs(h)
    # The terms of a row are rounded once each, and so is every addition.
    error = (sizes + MIN_NORMAL) * (np.diff(G.indptr) + 8) * 2 * UNIT
    others = np.where(free, count[i] == 1, count[i] == 0)
    end = round_toward((h + error)[i] - (total[i] - finite), 1)
    limit = end / a
    new_upper, new_lower = upper.copy(), lower.copy()
    above = others & (a > 0) & np.isinf(upper[j])
    below = others & (a < 0) & np.isinf(lower[j])
    np.minimum.at(new_upper, j[above], round_toward(limit, 1)[above])
    np.maximum.at(new_lower, j[below], round_toward(limit, -1)[below])
    changed = bool((new_upper < upper).any() or (new_lower > lower).any())
    upper[:], lower[:] = new_upper, new_lower
    return changed
