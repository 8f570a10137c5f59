"""The objective of the benchmark: the proven distance of a model to the optimum.

From the folder above: `pip install benchopt 'equimargin[compare,peers]'`, then `benchopt
run benchopt -d "leaderboard[data=wine]"`.
"""

import numpy as np
from benchmark_utils import instances, judge
from benchopt import BaseObjective


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
        """Return True, with the reason, if the data set has no problem of this kind."""
        refused = self.problem not in instances.kinds_of(X, y)
        return refused, "the data set has no problem of this kind" if refused else None

    def set_data(self, X, y):
        """State the problem, and bracket its optimum."""
        self.kernel, loss = self.problem.split()[:2]
        self.gamma = instances.gamma(X) if self.kernel == "rbf" else None
        self.X, self.y = (X if self.kernel == "rbf" else instances.with_ones(X)), y
        self.parts = judge.parts(self.X, y, self.kernel, loss, self.C)
        self.optimum = judge.optimum_of(self.parts)

    def get_objective(self):
        """Return the problem that a solver gets."""
        return {"X": self.X, "y": self.y, "C": self.C, "gamma": self.gamma, "problem": self.problem}

    def evaluate_result(self, w=None, beta=None, b=0.0):
        """Return the largest and least proven distance, and the interval of the optimum."""
        coefficients = {"beta": beta} if w is None else {"w": w}
        points = judge.points_of(self.parts, {**coefficients, "b": b})
        if isinstance(points, str):
            raise ValueError(f"the package's model cannot be judged: {points}.")
        _, (least, most) = judge.distance(self.parts, self.optimum, points)
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
            else {
                "beta": np.zeros((len(self.parts), len(self.y))),
                "b": np.zeros(len(self.parts)),
            }
        )
