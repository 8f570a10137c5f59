"""Programs in floats as programs in rational numbers, and exact points near an answer."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from equimargin.formulations.programs.from_arrays import matrix, vector
from equimargin.formulations.programs.program import Program
from equimargin.formulations.programs.rational import Matrix
from equimargin.formulations.programs.reading import read
from equimargin.formulations.programs.standard_form import StandardForm


def program_of_form(form: StandardForm) -> Program:
    """Return the program in rational numbers, each float the dyadic number that it is.

    Parameters
    ----------
    form : StandardForm
        Program; its bounds on variables become the first rows of G, lower ones first.
    """
    n, low = len(form.q), np.flatnonzero(np.isfinite(form.lower))
    high = np.flatnonzero(np.isfinite(form.upper))
    G, h = matrix(form.G, len(form.h), n, "G", "exact"), vector(form.h, "exact")
    bounds = (
        *({j: Fraction(-1)} for j in low.tolist()),
        *({j: Fraction(1)} for j in high.tolist()),
    )
    ends = (*vector(-form.lower[low], "exact"), *vector(form.upper[high], "exact"))
    return Program(
        matrix(form.P, n, n, "P", "exact"),
        vector(form.q, "exact"),
        G.part(range(form.zero)),
        h[: form.zero],
        Matrix((*bounds, *G.rows[form.zero :]), n),
        (*ends, *h[form.zero :]),
        read(form.offset, "exact"),
        form.cones,
    )
