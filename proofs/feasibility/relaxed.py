"""Relaxation of a program: the least violation of its inequalities and cones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from equimargin.formulations.programs.standard_form import StandardForm


def least_violation(form: StandardForm) -> StandardForm:
    """Return min t  s.t.  inequalities and cones hold with t added to their slacks.

    A cone |u| <= s becomes |u| <= s + t. Equations and bounds on variables stay. If the
    optimum is above 0, no point is feasible: every point that satisfies the equations
    and bounds violates another constraint by at least the optimum.

    Parameters
    ----------
    form : StandardForm
        Program; its objective is left out.

    Returns
    -------
    StandardForm
        Program in the variables of `form` and, last, t >= 0.
    """
    from scipy import sparse

    n, stop = len(form.q), form.zero + form.nonneg
    heads = stop + np.cumsum([0, *form.cones])[:-1]
    share = np.zeros(len(form.h))
    share[form.zero : stop], share[heads.astype(np.int64)] = 1.0, 1.0
    return replace(
        form,
        P=sparse.csr_array((n + 1, n + 1)),
        q=np.append(np.zeros(n), 1.0),
        G=sparse.csr_array(sparse.hstack([form.G, -share[:, None]])),
        lower=np.append(form.lower, 0.0),
        upper=np.append(form.upper, np.inf),
        offset=0.0,
    )
