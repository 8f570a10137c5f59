"""Quantile regression as a linear program, by HiGHS through scikit-learn."""

from __future__ import annotations

from equimargin.formulations.declarations.drawing import Data
from equimargin.formulations.declarations.program_problem import ProgramProblem
from equimargin.solvers.registry import solver


@solver(
    "quantile.highs",
    "quantile",
    algorithm="HiGHS, as scikit-learn's QuantileRegressor poses it",
    accuracy=1e-8,
    libraries=("sklearn.linear_model",),
    library="HIGHS",
)
def highs(problem: ProgramProblem) -> Data:
    """Return the w and b of scikit-learn's QuantileRegressor.

    Parameters
    ----------
    problem : ProgramProblem
        Problem of the family quantile.
    """
    d = problem.data
    from sklearn.linear_model import QuantileRegressor

    model = QuantileRegressor(quantile=d["tau"], alpha=d["penalty"], solver="highs").fit(
        d["X"], d["y"]
    )
    return {"w": model.coef_, "b": model.intercept_}
