"""The objective of the benchmark: the proven distance of a model to the optimum.

From the folder above: `pip install benchopt 'equimargin[peers]'`, then `benchopt run
benchopt -d "leaderboard[data=wine]"`.
"""

import numpy as np
from benchmark_utils import instances, judge
from benchopt import BaseObjective

from equimargin.formulations import Point, classification, rbf


class Objective(BaseObjective):
    """1/2 |f|^2 + C sum_i loss(1 - y_i (f(x_i) + b)).

    The value is the largest relative distance of a model above its optimum.

    Every rounding is counted. The optimum is known by a proven interval, so that no
    solver's best value is taken for it.
    """

    name = "Support vector machine, proven distance to the optimum"
    requirements = ("pip::equimargin",)
    # benchopt takes plain containers.
    parameters = {"problem": list(instances.PROBLEMS), "C": list(instances.COSTS)}  # noqa: RUF012
    test_config = {"problem": "linear hinge", "C": 1.0}  # noqa: RUF012
    test_dataset_name = "leaderboard"
    sampling_strategy = "tolerance"

    def skip(self, X, y):
        """Return True, with the reason, if data are unfit for a kernel: sparse or many points."""
        refused = self.problem == "rbf hinge" and not instances.takes_kernel(X)
        return refused, "the kernel is for few points of dense data" if refused else None

    def set_data(self, X, y):
        """State the problem, and bracket its optimum."""
        self.kernel, self.loss = self.problem.split()
        self.gamma = instances.gamma(X) if self.kernel == "rbf" else None
        self.X, self.y = (X if self.kernel == "rbf" else instances.with_ones(X)), y
        kernel = None if self.gamma is None else rbf(self.gamma)
        self.stated = classification(
            self.X, self.y, self.C, kernel, self.loss, bias=kernel is not None
        )
        self.optimum = judge.optimum_of(self.stated)

    def get_objective(self):
        """Return the problem that a solver gets."""
        return {"X": self.X, "y": self.y, "C": self.C, "gamma": self.gamma, "problem": self.problem}

    def evaluate_result(self, w=None, beta=None, b=0.0):
        """Return the largest and least proven distance, and the interval of the optimum."""
        _, (least, most) = judge.distance(self.stated, self.optimum, Point(w=w, beta=beta, b=b))
        return {
            "value": most,
            "least": least,
            "optimum_lower": self.optimum.lower,
            "optimum_upper": self.optimum.upper,
        }

    def get_one_result(self):
        """Return the function 0."""
        return (
            {"w": np.zeros(self.X.shape[1])}
            if self.kernel == "linear"
            else {"beta": np.zeros(len(self.y))}
        )
