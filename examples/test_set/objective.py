"""Distance of points to exact optima, as a benchmark of benchopt.

benchopt run examples/test_set -d "certificates[instance=svm.soft.dual]"
"""

from fractions import Fraction

import numpy as np
from benchopt import BaseObjective


class Objective(BaseObjective):
    """Distance to the exact optimum, and largest violation of a constraint.

    The objective of the point is computed in fractions.
    """

    name = "Exact optima"
    requirements = ("pip::scipy",)
    sampling_strategy = "run_once"

    def set_data(self, name, P, q, c, A, b, G, h, optimum):
        """Store a program and its optimum."""
        self.data = {"P": P, "q": q, "A": A, "b": b, "G": G, "h": h}
        self.c, self.optimum = c, optimum

    def get_objective(self):
        """Return what solvers receive."""
        return self.data

    def evaluate_result(self, x):
        """Return the distance and the violation of a point."""
        exact, P = [Fraction(v) for v in map(float, x)], self.data["P"].tocoo()
        value = self.c + sum(map(Fraction.__mul__, map(Fraction, self.data["q"].tolist()), exact))
        for i, j, v in zip(P.row, P.col, P.data.tolist(), strict=True):
            value += Fraction(v) * exact[i] * exact[j] / 2
        above = (self.data["G"] @ x - self.data["h"]).max(initial=0.0)
        equal = np.abs(self.data["A"] @ x - self.data["b"]).max(initial=0.0)
        error = abs(value - self.optimum) / max(1, abs(self.optimum))
        return {"value": float(error), "violation": float(max(above, equal))}

    def get_one_result(self):
        """Return a point of the right shape, for benchopt's tests."""
        return {"x": np.zeros(len(self.data["q"]))}
