"""Document W's machine F(u) = u^tau: a soft margin at a cost that is between two bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from equimargin.formulations import FAMILIES, classification
from equimargin.solvers import SOLVERS, solve


@pytest.mark.parametrize(("sigma", "tau"), [(1.0, 1.5), (1.0, 30.0), (2.0, 100.0)])
def test_the_cost_is_that_of_its_own_slacks(sigma: float, tau: float) -> None:
    """With tau = 100 the largest cost is 1e158 times C tau."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = np.where(X[:, 0] + 0.1 * rng.normal(size=40) > 0, 1.0, -1.0)
    data = {"X": X, "y": (y + 1) / 2, "C": 1.0, "sigma": sigma, "tau": tau}
    found: Any = solve(FAMILIES["svm.general"](data), "svm.general.along_costs")
    cost = tau * float((found.values["xi"] ** sigma).sum()) ** (tau - 1)
    loss: Any = "hinge" if sigma == 1 else "squared_hinge"
    soft = solve(classification(X, y, cost, loss=loss), tol=1e-10)
    np.testing.assert_allclose(found.values["w"], np.asarray(soft.w), rtol=1e-4)


def test_costs_beyond_all_floats_are_refused() -> None:
    data = {"X": np.eye(10), "y": np.arange(10) % 2, "C": 1.0, "sigma": 1.0, "tau": 400.0}
    refusal = SOLVERS["svm.general.along_costs"].refusal(FAMILIES["svm.general"](data))
    assert "exceed the float64 range" in str(refusal)
