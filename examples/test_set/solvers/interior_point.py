"""Clarabel, an interior-point method."""

import clarabel
import numpy as np
from benchopt import BaseSolver
from scipy import sparse


class Solver(BaseSolver):
    """Clarabel with its default settings."""

    name = "Clarabel"
    requirements = ("pip::clarabel",)
    sampling_strategy = "run_once"

    def set_objective(self, P, q, A, b, G, h):
        """Store the program in Clarabel's form."""
        cones = [clarabel.ZeroConeT(len(b)), clarabel.NonnegativeConeT(len(h))]
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        rows = sparse.csc_matrix(sparse.vstack([A, G]))
        self.arguments = (
            sparse.csc_matrix(sparse.triu(P)),
            q,
            rows,
            np.append(b, h),
            cones,
            settings,
        )

    def run(self, _):
        """Solve the program."""
        self.x = np.array(clarabel.DefaultSolver(*self.arguments).solve().x)

    def get_result(self):
        """Return the point."""
        return {"x": self.x}
