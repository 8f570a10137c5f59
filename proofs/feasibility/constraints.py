"""Linear constraints of a program in floats, the bounds on its variables among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.programs.rational import Matrix, Vector
from equimargin.formulations.programs.standard_form import StandardForm


@dataclass(frozen=True, eq=False)
class LinearConstraints:
    """Constraints C x = c, and then C x <= c.

    Parameters
    ----------
    C : sparse array of shape (k, n)
        Matrix: the equations, inequalities, lower bounds and upper bounds.
    c : ndarray of shape (k,)
        Right-hand side.
    equations, rows : int
        Numbers of equations, and of equations and inequalities.
    low, high : ndarray of int
        Variables of the lower and of the upper bounds.
    """

    C: Any
    c: Array
    equations: int
    rows: int
    low: Index
    high: Index

    @classmethod
    def from_form(cls, form: StandardForm) -> LinearConstraints:
        """Return the linear constraints of a program; second-order cones are left out.

        Parameters
        ----------
        form : StandardForm
            Program.
        """
        from scipy import sparse

        n, rows = len(form.q), form.zero + form.nonneg
        low, high = np.flatnonzero(np.isfinite(form.lower)), np.flatnonzero(np.isfinite(form.upper))
        unit = sparse.eye_array(n, format="csr")
        parts = [sparse.csr_array(form.G)[:rows], -unit[low], unit[high]]
        ends = [form.h[:rows], -form.lower[low], form.upper[high]]
        C = sparse.csr_array(sparse.vstack(parts))
        C.eliminate_zeros()
        return cls(C, np.concatenate(ends), form.zero, rows, low, high)

    def part(
        self, members: Sequence[int], read: Callable[[float], Fraction] = Fraction
    ) -> tuple[Matrix, Vector, list[int]]:
        """Return some constraints in rational numbers, over the variables that they have.

        Parameters
        ----------
        members : sequence of int
            Constraints.
        read : callable, default Fraction
            Rational number of a float.

        Returns
        -------
        rows : Matrix
            Rows of C without the other variables.
        ends : Vector
            Right-hand sides.
        columns : list of int
            Variables of the constraints, in increasing order.
        """
        chosen = self.C[list(members)]
        columns = sorted(set(chosen.indices.tolist()))
        place = {j: k for k, j in enumerate(columns)}
        entries = list(zip(chosen.indices.tolist(), chosen.data.tolist(), strict=True))
        rows = tuple(
            {place[j]: read(v) for j, v in entries[start:stop]}
            for start, stop in pairwise(chosen.indptr.tolist())
        )
        ends = tuple(read(v) for v in self.c[list(members)].tolist())
        return Matrix(rows, len(columns)), ends, columns
