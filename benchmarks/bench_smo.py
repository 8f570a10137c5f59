"""SMO against LIBSVM: CPU time of a fit in a warm process, one thread, at matched gap."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from equimargin.formulations.kernels import rbf
from equimargin.formulations.problem import MarginProblem, classification
from equimargin.solvers.registry import solve
from equimargin.solvers.solution import relative_gap

ROUNDS = 7
FACTOR = 3.0
"""SMO may take this many times LIBSVM's CPU time."""
LIBSVM_TOLERANCES = (1e-3, 1e-5, 1e-7, 1e-9)


def breast_cancer() -> tuple[Any, Any]:
    """569 x 30, standardised."""
    data = load_breast_cancer()
    return StandardScaler().fit_transform(data.data), np.where(data.target == 1, 1.0, -1.0)


def digits() -> tuple[Any, Any]:
    """1797 x 64, even against odd, in [0, 1]."""
    data = load_digits()
    return data.data / 16, np.where(data.target % 2 == 0, 1.0, -1.0)


def cpu(run: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of a call, and what it returns."""
    start = time.process_time()
    result = run()
    return time.process_time() - start, result


def libsvm_gap(problem: MarginProblem, model: Any, y: Any) -> float:
    """The relative gap of LIBSVM's multipliers, repaired, at their best bias."""
    alpha = np.zeros(problem.p)
    alpha[model.support_] = model.dual_coef_[0] * y[model.support_]
    alpha = problem.repaired(alpha)
    beta = problem.rows.rdot(alpha)
    f = problem.gram @ beta
    norm2 = float(beta @ f)
    return relative_gap(problem.primal(f, norm2, problem.bias_at(f)), problem.dual(alpha, norm2), problem.scale)


@pytest.mark.benchmark
@pytest.mark.parametrize("data", [breast_cancer, digits], ids=["breast_cancer", "digits"])
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0, 100.0])
@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_smo_keeps_up_with_libsvm(data: Callable[[], tuple[Any, Any]], C: float, tol: float, capsys: pytest.CaptureFixture[str]) -> None:
    """LIBSVM runs at its loosest tolerance that reaches `tol`; both start from X and y in every round."""
    X, y = data()
    gamma = 1 / (X.shape[1] * float(X.var()))
    problem = classification(X, y, C, rbf(gamma))

    def libsvm(tolerance: float) -> Any:
        return SVC(C=C, gamma=gamma, tol=tolerance, cache_size=256).fit(X, y)

    def ours() -> Any:
        return solve(classification(X, y, C, rbf(gamma)), "smo", tol=tol)

    with threadpool_limits(1):
        gaps = {tolerance: libsvm_gap(problem, libsvm(tolerance), y) for tolerance in LIBSVM_TOLERANCES}
        tolerance = next((t for t in LIBSVM_TOLERANCES if gaps[t] <= tol), LIBSVM_TOLERANCES[-1])
        ours()
        rounds = [(cpu(lambda: libsvm(tolerance)), cpu(ours)) for _ in range(ROUNDS)]
    theirs_s, ours_s = median(a[0] for a, _ in rounds), median(b[0] for _, b in rounds)
    solution = rounds[-1][1][1]
    with capsys.disabled():
        print(
            f"\n{data.__name__:14s} C={C:<6g} gap {tol:.0e} | LIBSVM tol {tolerance:.0e} {1e3 * theirs_s:7.2f} ms gap {gaps[tolerance]:.1e}"
            f" | smo {1e3 * ours_s:7.2f} ms gap {solution.relative_gap:.1e} | ratio {ours_s / theirs_s:.2f}"
        )
    assert solution.ok
    assert ours_s <= FACTOR * theirs_s
