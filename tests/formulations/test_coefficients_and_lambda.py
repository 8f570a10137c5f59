"""Forms in coefficients and at lambda against the problems in w, written in cvxpy.

The oracle is the document's problem over w and b, of explicit features; kernels are
polynomials, whose features are written out here.
"""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from equimargin.formulations import declare
from equimargin.formulations.kernels.kernel import Kernel, linear, polynomial
from equimargin.formulations.problem.construct import classification, ranking, regression
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.solvers import regularization_path, solve_declaration
from narrow import present

KERNELS: dict[str, Kernel] = {"linear": linear(), "polynomial": polynomial(2, 1.0, 1.0)}
EXACT = {"solver": "CLARABEL", "tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}
M, EPSILON = 9, 0.2
FORMS = {
    "svm.soft.beta": ("hinge", True),
    "svm.soft.lambda.primal": ("hinge", True),
    "svm.soft.lambda.dual": ("hinge", True),
    "svm.l2.beta": ("squared_hinge", True),
    "svm.nobias_l2.beta": ("squared_hinge", False),
    "svr.l1.beta": ("hinge", True),
    "svr.l1.lambda.primal": ("hinge", True),
    "svr.l1.lambda.dual": ("hinge", True),
    "svr.l2.beta": ("squared_hinge", True),
    "rank.l2.betahat": ("squared_hinge", False),
}


def features(X: Any, kernel: str) -> Any:
    """Return features whose inner products are the kernel, of two columns of X."""
    if kernel == "linear":
        return X
    a, b = X.T
    r = np.sqrt(2)
    return np.column_stack([a**2, b**2, r * a * b, r * a, r * b, np.ones(len(X))])


def problem_and_optimum(
    id: str, kernel: str, weighted: bool, seed: int
) -> tuple[MarginProblem, float]:
    """Return a problem, and its optimum over w and b by cvxpy."""
    rng = np.random.default_rng(seed)
    X, C = rng.standard_normal((M, 2)), float(rng.uniform(0.3, 3))
    loss, bias = FORMS[id]
    Z, w = features(X, kernel), cp.Variable(2 if kernel == "linear" else 6)
    b: Any = cp.Variable() if bias else 0.0
    c = rng.uniform(0.2, 2, M) if weighted else np.ones(M)
    how: dict[str, Any] = {"kernel": KERNELS[kernel], "loss": loss, "C": C}
    if id.startswith("svm"):
        y = np.where(X[:, 0] + rng.standard_normal(M) > 0, 1.0, -1.0)
        y[:2] = 1.0, -1.0
        u = 1 - cp.multiply(y, Z @ w + b)
        problem = classification(X, y, bias=bias, sample_weight=c, **how)
    elif id.startswith("svr"):
        t = X[:, 0] + rng.standard_normal(M)
        u = cp.hstack([t - Z @ w - b - EPSILON, Z @ w + b - t - EPSILON])
        c = np.concatenate([c, c])
        problem = regression(X, t, epsilon=EPSILON, sample_weight=c[:M], **how)
    else:
        y = rng.permutation(np.arange(M) % 3).astype(float)
        pairs = np.argwhere(y[:, None] > y)
        u, c = 1 - (Z[pairs[:, 0]] - Z[pairs[:, 1]]) @ w, np.ones(len(pairs))
        problem = ranking(X, y, **how)
    cost = cp.pos(u) if loss == "hinge" else cp.square(cp.pos(u))
    objective = cp.sum_squares(w) / 2 + C * (c @ cost)
    return problem, float(cp.Problem(cp.Minimize(objective)).solve(**EXACT))


@pytest.mark.parametrize("weighted", [False, True], ids=["ones", "weights"])
@pytest.mark.parametrize("kernel", list(KERNELS))
@pytest.mark.parametrize("id", list(FORMS))
def test_form_has_the_optimum_over_w_and_b(id: str, kernel: str, weighted: bool) -> None:
    for seed in range(3):
        problem, optimum = problem_and_optimum(id, kernel, weighted, seed)
        found = solve_declaration(declare(id, problem), "CLARABEL")
        assert found.value == pytest.approx(optimum, rel=1e-6)
        primal, _ = problem.values(present(found.point))
        if np.isfinite(primal):
            assert primal == pytest.approx(optimum, rel=1e-5)


@pytest.mark.parametrize("id", ["svm.soft.lambda.dual", "svr.l1.lambda.dual"])
def test_lambda_form_is_on_the_path_of_its_family(id: str) -> None:
    problem, _ = problem_and_optimum(id, "linear", False, 1)
    path = regularization_path(problem, 1e-2)
    for lam in np.geomspace(0.02, 0.9, 5) * path.lambdas[0]:
        at = problem.with_cost(1 / lam)
        on_path = at.values(path.at(lam).point)[0]
        found = solve_declaration(declare(id, at), "CLARABEL")
        assert found.value == pytest.approx(on_path, rel=1e-6)


def test_squared_betahat_is_any_vector_that_gives_the_coefficients() -> None:
    # K, after (3.16): betahat is free, so that w is unique and betahat is not.
    problem, optimum = problem_and_optimum("rank.l2.betahat", "linear", False, 0)
    alpha = np.asarray(
        present(solve_declaration(declare("rank.l2.dual", problem), "CLARABEL").point).multipliers
    )
    A, K = problem.rows.matrix.toarray(), problem.gram.dense
    shift = np.linalg.svd(A.T)[2][-1]
    assert np.abs(A.T @ shift).max() < 1e-12

    def value(betahat: Any) -> float:
        beta = A.T @ betahat
        return float(beta @ K @ beta / 2 + problem.C * (np.maximum(1 - A @ K @ beta, 0) ** 2).sum())

    for betahat in (alpha, alpha + 5 * shift, alpha - 5 * shift):
        assert value(betahat) == pytest.approx(optimum, rel=1e-6)
