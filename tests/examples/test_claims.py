"""Claims of the documents, checked on solved problems; misprints are refuted.

T, P, K, W and O are the documents of `formulations.DOCUMENTS`. A claim that an optimum
satisfies exactly, a solution satisfies to its gap: sum_r [ c_r loss(u_r) - alpha_r u_r
] is the gap, a sum of nonnegative terms, so that no term exceeds it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog, minimize
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist
from scipy.stats import kendalltau
from sklearn.metrics import average_precision_score

from equimargin.data import load
from equimargin.formulations import (
    MarginProblem,
    Point,
    classification,
    declare,
    interval,
    linear,
    one_norm_ranking,
    polynomial,
    precomputed,
    ranking,
    ranking_from_pairs,
    ranking_vector_machine,
    rbf,
    reduced_preferences,
    regression,
    sigmoid,
)
from equimargin.formulations.documents.general_machine import general
from equimargin.formulations.kernels.kernel import RBF
from equimargin.formulations.problem import OneNormPoint
from equimargin.formulations.rows.listed import Pairs, Tube
from equimargin.proofs import fewest_nonzeros, surrogate_regret
from equimargin.proofs.program import optimum
from equimargin.solvers import (
    Solution,
    Status,
    exact_path,
    one_vs_one,
    regularization_path,
    solve,
    solve_declaration,
)
from equimargin.solvers.probability.coupling import bradley_terry
from equimargin.testing import sample_problem
from narrow import as_a, present

KERNELS = {"linear": linear(), "rbf": rbf(0.4), "polynomial": polynomial()}
HINGES = ["svm.soft", "svm.nobias", "svr.l1", "rank.l1"]
SQUARES = ["svm.l2", "svm.nobias_l2", "svr.l2", "rank.l2"]

some_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=list(KERNELS))


def solved(problem: Any) -> Solution:
    solution = solve(problem, tol=1e-10)
    assert solution.status is Status.OPTIMAL, solution.reason
    return solution


def decisions(solution: Solution) -> Any:
    """Return f + b at the points, shape (m,)."""
    return solution.decision_function(solution.problem.X)


def multipliers(solution: Solution) -> Any:
    """Return alpha as an array of shape (p,)."""
    return as_a(np.ndarray, solution.dual)


def slacks(solution: Solution) -> Any:
    """Return u_r = t_r - (A f)_r - b s_r, shape (p,).

    The slack xi_r is its positive part, the margin 1 - u_r.
    """
    problem = as_a(MarginProblem, solution.problem)
    return problem.slack(decisions(solution) - solution.bias, solution.bias)


def sides(solution: Solution) -> tuple[Any, Any, Any]:
    """Return masks of the multipliers that are 0, strictly inside their box, and C.

    The repaired multipliers equal C up to the spacing of their grid.
    """
    alpha, C = multipliers(solution), solution.problem.C
    assert alpha is not None
    return alpha == 0, (alpha > 1e-3 * C) & (alpha < 0.999 * C), alpha > (1 - 1e-9) * C


def hinge_value(problem: Any, beta: Any) -> float:
    """Return 1/2 beta'K beta + C sum of hinge losses, without a bias.

    It is the objective of K (3.12) and (2.3).
    """
    f = problem.gram.dense @ beta
    return float(beta @ f / 2 + problem.C * np.maximum(1 - problem.rows.matrix @ f, 0).sum())


def hard_ranking(kernel: Any, seed: int, n: int = 12) -> Solution:
    """Return the hard optimum as a soft one: all multipliers are below their cost."""
    problem = sample_problem("rank.hard", kernel, seed, n)
    solution = solved(problem.with_cost(1e6))
    assert multipliers(solution) is not None
    assert multipliers(solution).max() < 0.5e6
    assert interval(problem, solution.point).relative_width < 1e-6
    return solution


# T, sections 2.1 and 2.2: Kuhn-Tucker conditions


@some_kernel
@pytest.mark.parametrize("family", HINGES)
def test_complementarity_holds_in_its_weak_form(family: str, kernel: Any) -> None:
    """T (30)-(34), Figure 3, P's sets I: the implications hold in one direction only.

    margin > 1 => alpha = 0, margin < 1 => alpha = C, 0 < alpha < C => margin = 1.
    """
    seen = np.zeros(3, dtype=int)
    for seed in range(5):
        solution = solved(sample_problem(family, kernel, seed))
        alpha, C, u = multipliers(solution), solution.problem.C, slacks(solution)
        gap, xi = solution.upper - solution.lower, np.maximum(u, 0.0)
        assert alpha is not None
        assert (alpha * np.abs(u - xi)).max() <= gap  # (30)
        assert ((C - alpha) * xi).max() <= gap  # (31) with mu of (32)
        lower, free, upper = sides(solution)
        assert (u[lower] <= 1e-5).all()
        assert (np.abs(u[free]) <= 1e-5).all()
        assert (u[upper] >= -1e-5).all()
        # (34) is printed as xi >= 0 if alpha = C, which states nothing.
        assert (alpha[xi > 1e-5] >= 0.999 * C).all()
        seen += [lower.sum(), free.sum(), upper.sum()]
    assert (seen > 0).all()


@some_kernel
@pytest.mark.parametrize("family", SQUARES)
def test_multipliers_of_squared_slacks_are_their_prices(family: str, kernel: Any) -> None:
    """alpha = 2 C xi: each row's part of the gap is C (xi - alpha / (2C))^2 where xi > 0."""
    for seed in range(3):
        solution = solved(sample_problem(family, kernel, seed))
        xi = np.maximum(slacks(solution), 0.0)
        C = solution.problem.C
        assert (
            C * ((xi - multipliers(solution) / (2 * C)) ** 2).max()
            <= solution.upper - solution.lower
        )


def test_a_point_on_the_margin_may_have_any_multiplier() -> None:
    """After (20), Figure 3: neither alpha nor the slack is nonzero at (1, 1).

    At C = 1/2 two points on the margin have alpha = C.
    """
    X, y = np.array([[-1.0, 0.0], [1.0, 0.0], [1.0, 1.0]]), np.array([-1.0, 1.0, 1.0])
    for C in (np.inf, 0.5):
        solution = solved(classification(X, y, C))
        assert slacks(solution) == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)
        assert multipliers(solution) == pytest.approx([0.5, 0.5, 0.0], abs=1e-12)


@some_kernel
def test_the_bias_is_read_off_any_free_support_vector(kernel: Any) -> None:
    """b = y_i - f(x_i); the tutorial's b is its negative, w.x_i - y_i."""
    for seed in range(5):
        solution = solved(sample_problem("svm.soft", kernel, seed, 24))
        _, free, bounded = sides(solution)
        assert free.any()
        y = solution.problem.rows.y
        f = decisions(solution) - solution.bias
        assert y[free] - f[free] == pytest.approx(np.full(free.sum(), solution.bias), abs=1e-5)
        assert solution.bias_interval == pytest.approx((solution.bias, solution.bias), abs=1e-5)
        # "any positive support vector" is too much
        assert np.abs(y[bounded] - f[bounded] - solution.bias).max() > 0.1


def test_without_a_free_support_vector_the_bias_is_an_interval() -> None:
    """x = 0 (+) against x = 1 (-) at C = 0.1: every tutorial b in [-1, 0.9] is optimal.

    w is unique.
    """
    problem = classification([[0.0], [1.0]], [1, -1], 0.1)
    solution = solved(problem)
    lower, upper = solution.bias_interval
    assert (-upper, -lower) == pytest.approx((-1.0, 0.9))
    values = [
        interval(problem, Point(w=solution.w, b=b, alpha=multipliers(solution)))
        for b in (lower, (lower + upper) / 2, upper)
    ]
    assert max(v.relative_width for v in values) < 1e-12
    assert interval(problem, Point(w=solution.w, b=upper + 0.1)).upper > solution.upper + 1e-3


def test_the_printed_hard_bias_has_the_wrong_sign() -> None:
    """(21) prints b = 1 - w.x_i for F(x) = w.x - b.

    -1 and 1, moved by 3, need b = w.x_i - 1 = 3.
    """
    problem = classification([[2.0], [4.0]], [-1, 1], np.inf)
    w = solved(problem).w
    assert w == pytest.approx([1.0])
    printed, corrected = 1 - w @ problem.X[1], w @ problem.X[1] - 1
    assert (printed, corrected) == pytest.approx((-3.0, 3.0))
    assert interval(problem, Point(w=w, b=-corrected)).upper == pytest.approx(0.5)
    assert interval(problem, Point(w=w, b=-printed)).upper == np.inf


@some_kernel
@pytest.mark.parametrize(
    ("family", "printed"),
    [("svm.soft", "svm.soft.dual.as_printed"), ("rank.l1", "rank.l1.dual.as_printed")],
)
def test_the_dual_without_its_half_is_half_the_value_at_twice_the_cost(
    family: str, printed: str, kernel: Any
) -> None:
    """(26), (41), (88): v_printed(C) = v(2C) / 2, and at alpha / 2 of the solution at 2C."""
    problem = sample_problem(family, kernel, 1)
    doubled = solved(problem.with_cost(2 * problem.C))
    answer = solve_declaration(declare(printed, problem))
    assert answer.objective == pytest.approx(doubled.value / 2, rel=1e-6)
    assert abs(answer.objective - solved(problem).value) > 1e-2 * answer.objective
    beta = problem.rows.rdot(multipliers(doubled)) / 2
    assert multipliers(doubled).sum() / 2 - beta @ (problem.gram @ beta) == pytest.approx(
        doubled.value / 2
    )


@pytest.mark.parametrize("family", [*HINGES[:2], *SQUARES[:2]])
def test_slacks_bound_training_errors(family: str) -> None:
    """After (25): an error has xi >= 1, and xi^2 >= 1."""
    errors = 0
    for seed in range(5):
        solution = solved(sample_problem(family, rbf(0.4), seed, 30))
        wrong = int((solution.problem.rows.y * decisions(solution) <= 0).sum())
        xi = np.maximum(slacks(solution), 0.0)
        assert wrong <= xi.sum()
        assert solution.problem.C * wrong <= solution.upper
        errors += wrong
    assert errors > 0


# T, section 2.3: kernels and the XOR problem


def test_gram_matrices_are_positive_semidefinite() -> None:
    """(40) with its signs right.

    The sigmoid is no such kernel, tanh(ab - 1) on {0, 1/2, 1} among others.
    """
    for seed, kernel in product(
        range(20), [linear(), rbf(0.3), polynomial(3, 0.5, 1.0), polynomial(2, 1.0, 0.0)]
    ):
        X = np.random.default_rng(seed).normal(size=(12, 3))
        values = np.linalg.eigvalsh(kernel.block(X, X))
        assert values[0] >= -1e-13 * values[-1]
    X = np.array([[0.0], [0.5], [1.0]])
    values = np.linalg.eigvalsh(sigmoid(1.0, -1.0).block(X, X))
    assert values[0] == pytest.approx(-1.873, abs=1e-3)
    assert not classification(X, [1, 1, -1], kernel=sigmoid(1.0, -1.0)).convex


def test_a_kernel_need_not_be_largest_at_equal_points() -> None:
    """The polynomial one is not, K(1, 2) = 9 > K(1, 1) = 4.

    The RBF is, with the square that K's section 4.3 leaves out.
    """
    X = np.array([[1.0], [2.0]])
    assert polynomial(2, 1.0, 1.0).block(X, X).tolist() == [[4.0, 9.0], [9.0, 25.0]]
    K = rbf(0.5).block(X, np.array([[1.0], [2.0], [3.0]]))
    assert (K.argmax(axis=1) == [0, 1]).all()
    assert K[0] == pytest.approx(np.exp([0.0, -0.5, -2.0]))


XOR = ((-1, -1), (-1, 1), (1, -1), (1, 1))
DESIRED = (-1, 1, 1, -1)


def xor_hessian() -> list[list[int]]:
    """Return y_i y_j (1 + x_i.x_j)^2 in integers."""
    points = list(zip(DESIRED, XOR, strict=True))
    return [[a * b * (1 + x[0] * z[0] + x[1] * z[1]) ** 2 for b, z in points] for a, x in points]


def test_xor_exactly() -> None:
    """alpha = 1/8 satisfies all conditions with b = 0, in rationals.

    Q = 1/4, |w|^2 = 1/2, F(x) = -x_1 x_2.
    """
    H, alpha = xor_hessian(), [Fraction(1, 8)] * 4
    gradient = [1 - sum(h * a for h, a in zip(row, alpha, strict=True)) for row in H]
    norm2 = sum(
        a * h * b for row, a in zip(H, alpha, strict=True) for h, b in zip(row, alpha, strict=True)
    )
    # The gradient is that of Q; so b, the multiplier of y'alpha = 0, is 0.
    assert gradient == [0, 0, 0, 0]
    assert sum(a * y for a, y in zip(alpha, DESIRED, strict=True)) == 0
    # H is regular, so that this alpha is unique.
    assert round(np.linalg.det(H)) != 0
    assert (sum(alpha) - norm2 / 2, norm2) == (Fraction(1, 4), Fraction(1, 2))
    for x in product(range(-3, 4), repeat=2):
        F = sum(
            a * y * (1 + x[0] * z[0] + x[1] * z[1]) ** 2
            for a, y, z in zip(alpha, DESIRED, XOR, strict=True)
        )
        assert F + x[0] * x[1] == 0


@pytest.mark.parametrize("C", [1.0, 0.125, np.inf])
def test_xor_is_solved(C: float) -> None:
    """After (51) y = 1 is printed where x_1 = x_2: it is -1, as in Table 1."""
    problem = classification(XOR, DESIRED, C, polynomial(2, 1.0, 1.0))
    solution = solved(problem)
    assert (problem.gram.dense * np.outer(DESIRED, DESIRED) == xor_hessian()).all()
    assert multipliers(solution) == pytest.approx([0.125] * 4, abs=1e-12)
    assert solution.value == pytest.approx(0.25, abs=1e-12)
    assert decisions(solution) == pytest.approx(DESIRED, abs=1e-10)
    assert solution.bias_interval[0] - 1e-12 <= 0 <= solution.bias_interval[1] + 1e-12


def test_the_printed_xor_objectives_contradict_its_solution() -> None:
    """(48) drops two squares and a 9.

    (41) drops the 1/2 and has the solution 1/16, of value 1/8.
    """

    def Q(a: Fraction, b: Fraction, c: Fraction, d: Fraction, *squares: Fraction) -> Fraction:
        cross = -2 * a * b - 2 * a * c + 2 * a * d + 2 * b * c - 2 * b * d - 2 * c * d
        return a + b + c + d - (9 * a**2 + 9 * b**2 + cross + sum(squares)) / 2

    e = Fraction(1, 8)
    assert Q(e, e, e, e, 9 * e, e**2) == Fraction(-23, 128)
    assert float(Fraction(-23, 128)) == -0.1796875
    assert Q(e, e, e, e, 9 * e**2, 9 * e**2) == Fraction(1, 4)
    half = solve_declaration(
        declare(
            "svm.soft.dual.as_printed", classification(XOR, DESIRED, 1.0, polynomial(2, 1.0, 1.0))
        )
    )
    assert half.objective == pytest.approx(1 / 8)
    assert half.values is not None
    assert half.values["alpha"] == pytest.approx([1 / 16] * 4, abs=1e-6)


def test_the_printed_images_of_xor_are_not_those_of_its_map() -> None:
    """(49) against (47): with the right images w = (0, 0, -1/sqrt 2, 0, 0, 0).

    The printed phi(x_2) misses K(x_1, x_2) = 1.
    """
    r = np.sqrt(2)
    phi = np.array([(1, a * a, r * a * b, b * b, r * a, r * b) for a, b in XOR])
    assert phi @ phi.T == pytest.approx(np.abs(xor_hessian()))
    assert phi.T @ np.array(DESIRED) / 8 == pytest.approx([0, 0, -1 / r, 0, 0, 0])
    printed = np.array([1, 1, -r, 1, r, r])
    assert phi[0] @ phi[1] == pytest.approx(1.0)
    assert phi[0] @ printed == pytest.approx(-3.0)


# T, section 3: regression


@some_kernel
def test_only_one_side_of_a_tube_has_a_multiplier(kernel: Any) -> None:
    """alpha_i alphahat_i = 0 for epsilon > 0.

    The two slacks sum to -2 epsilon, so that one of them is at most -epsilon.
    """
    for seed in range(5):
        solution = solved(sample_problem("svr.l1", kernel, seed, 20))
        alpha, alphahat = np.split(multipliers(solution), 2)
        assert (
            np.minimum(alpha, alphahat).max()
            <= (solution.upper - solution.lower) / as_a(Tube, solution.problem.rows).epsilon
        )
        xi, xihat = np.split(np.maximum(slacks(solution), 0.0), 2)
        assert (xi * xihat == 0).all()


def test_without_a_tube_only_the_difference_of_the_multipliers_matters() -> None:
    """epsilon = 0: adding to both sides changes nothing; epsilon > 0: it costs 2 epsilon a unit."""
    at_zero = sample_problem("svr.l1", rbf(0.4), 2)
    for epsilon in (0.0, 0.1):
        problem = regression(at_zero.X, at_zero.rows.y, 2.0, epsilon, rbf(0.4))
        solution = solved(problem)
        both = (multipliers(solution).reshape(2, -1).max(axis=0) < 1.5).astype(float)
        moved = interval(problem, Point(alpha=multipliers(solution) + 0.25 * np.tile(both, 2)))
        assert solution.lower - moved.lower == pytest.approx(0.5 * epsilon * both.sum(), abs=1e-8)
        assert both.sum() > 0


@some_kernel
def test_the_regression_function_has_alpha_minus_alphahat(kernel: Any) -> None:
    """(77); (82) prints the opposite sign."""
    solution = solved(sample_problem("svr.l1", kernel, 3))
    alpha, alphahat = np.split(multipliers(solution), 2)
    K = solution.problem.gram.dense
    assert K @ (alpha - alphahat) + solution.bias == pytest.approx(decisions(solution), abs=1e-8)
    assert np.abs(K @ (alphahat - alpha) + solution.bias - decisions(solution)).max() > 0.1
    assert abs((alpha - alphahat).sum()) <= 1e-12  # (67), (72)


# T, section 4: ranking


@pytest.mark.parametrize("family", ["rank.l1", "rank.l2"])
def test_slacks_bound_misranked_pairs(family: str) -> None:
    """(84)-(86); O's empirical risk is their number over l^2."""
    inversions = 0
    for seed in range(4):
        solution = solved(sample_problem(family, rbf(0.4), seed, 20))
        y, F = solution.problem.rows.y, decisions(solution)
        misranked = sum(1 for i, j in product(range(20), repeat=2) if y[i] > y[j] and F[i] <= F[j])
        assert misranked <= np.maximum(slacks(solution), 0.0).sum()
        assert solution.problem.C * misranked <= solution.upper
        inversions += misranked
    assert inversions > 0


@pytest.mark.parametrize("k", [2, 5, 20])
def test_no_cost_comes_near_the_least_number_of_misranked_pairs(k: int) -> None:
    """T before (84): k pairs of difference 1, and one of difference -(k + 1).

    The optimum has w < 0 at every C, and misranks k pairs; w > 0 misranks one.
    """
    X = np.array([[1.0], [0.0]] * k + [[0.0], [k + 1.0]])
    problem = ranking_from_pairs(X, [(2 * r, 2 * r + 1) for r in range(k + 1)])
    curve = surrogate_regret(exact_path(problem))
    assert (curve.exact, curve.high, curve.fewest) == (True, None, (1, 1))
    assert curve.misranked(0) == (k + 1, k + 1)
    assert set(curve.after_steps) == {(k, k)}
    assert curve.regret(1e-9) == curve.regret(1e9) == (k - 1, k - 1)


@some_kernel
def test_the_support_vectors_of_a_hard_ranking_are_its_closest_pairs(kernel: Any) -> None:
    """Corollary 1, for pairs with alpha > 0; all others are at least as far apart."""
    for seed in range(3):
        solution = hard_ranking(kernel, seed)
        differences = solution.problem.rows.dot(decisions(solution))
        support = multipliers(solution) > 1e-6 * multipliers(solution).max()
        assert 0 < support.sum() < len(support)
        assert differences[support] == pytest.approx(np.ones(support.sum()), abs=1e-6)
        assert differences.min() >= 1 - 1e-6
        assert differences.max() > 1.1


def test_a_hard_ranking_maximises_the_least_difference() -> None:
    """Corollary 2: 1 / |w| is the largest minimum difference over all directions.

    It is the optimum of the max-margin form.
    """
    rng = np.random.default_rng(0)
    for seed in range(3):
        solution = hard_ranking(linear(), seed)
        problem, w = solution.problem, solution.w
        assert w is not None
        margin = 1 / np.linalg.norm(w)
        directions = np.vstack(
            [
                rng.normal(size=(500, len(w))),
                w + 0.1 * np.linalg.norm(w) * rng.normal(size=(500, len(w))),
            ]
        )
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        least = (problem.rows.matrix @ (problem.X @ directions.T)).min(axis=0)
        assert least.max() <= margin * (1 + 1e-6)
        # Some directions rank all pairs correctly, with a smaller margin.
        assert least.max() > 0
        answer = solve_declaration(declare("rank.hard.margin", problem.with_cost(np.inf)))
        assert answer.objective == pytest.approx(margin, rel=1e-5)


def test_the_ranking_function_has_differences_of_kernels() -> None:
    """(90)-(91): F(z) = sum alpha_ij (K(x_i, z) - K(x_j, z)).

    K(x_i - x_j, z) is that for a linear kernel only.
    """
    Z = np.random.default_rng(1).normal(size=(7, 3))
    for kernel in KERNELS.values():
        solution = solved(sample_problem("rank.l1", kernel, 0))
        rows, X, F = (
            as_a(Pairs, solution.problem.rows),
            solution.problem.X,
            solution.decision_function(Z),
        )
        i, j = X[rows.preferred], X[rows.other]
        assert (kernel.block(Z, i) - kernel.block(Z, j)) @ multipliers(solution) == pytest.approx(
            F, abs=1e-8
        )
        printed = kernel.block(Z, i - j) @ multipliers(solution)
        assert (np.abs(printed - F).max() < 1e-8) == (kernel == linear())


@dataclass(frozen=True)
class CountedRBF(RBF):
    """An RBF kernel that counts its evaluations."""

    seen: Any = None

    def block(self, X: Any, Z: Any) -> Any:
        self.seen.append(len(X) * len(Z))
        return super().block(X, Z)


def test_the_hessian_of_a_ranking_needs_a_kernel_value_a_pair_of_points() -> None:
    """After (89) "~m^4": K (2.7) needs l^2 values, here 144 against p^2 = 4356.

    Qhat_(ij)(uv) = K_iu + K_jv - K_iv - K_ju.
    """
    X = np.random.default_rng(0).normal(size=(12, 3))
    kernel = CountedRBF(0.4, [])
    problem = ranking(X, np.arange(12.0), kernel=kernel)
    A, K = problem.rows.matrix.toarray(), problem.gram.dense
    assert (sum(kernel.seen), problem.p**2) == (144, 4356)
    hessian = A @ K @ A.T
    rows = as_a(Pairs, problem.rows)
    i, j = rows.preferred, rows.other
    assert hessian == pytest.approx(
        K[np.ix_(i, i)] + K[np.ix_(j, j)] - K[np.ix_(i, j)] - K[np.ix_(j, i)], abs=1e-14
    )
    assert np.abs(rbf(0.4).block(X[i] - X[j], X[i] - X[j]) - hessian).max() > 0.1  # (88) as printed


def test_a_ranking_vector_machine_depends_on_the_origin() -> None:
    """Section 5.2: its 1'beta is no norm of f.

    2 > 1 costs 1/2, but moved to -1 > -2 it is not ranked at all.
    """
    X = np.array([[2.0], [1.0]])
    assert solved(ranking_vector_machine(X, [1, 0])).value == pytest.approx(0.5)
    assert solved(ranking_vector_machine(X - 3, [1, 0])).value == pytest.approx(1.0)
    assert solved(ranking(X, [1, 0])).value == pytest.approx(solved(ranking(X - 3, [1, 0])).value)


# P: the regularisation path


@some_kernel
def test_all_multipliers_are_one_exactly_from_lambda_0_on(kernel: Any) -> None:
    """Section 5.1: alpha of (8) is 1 for lambda >= max(P K P'1) only.

    beta = P'1 / lambda then, not 0 as printed.
    """
    problem = sample_problem("rank.l1", kernel, 4)
    P, K, ones = problem.rows.matrix.toarray(), problem.gram.dense, np.ones(problem.p)
    start = float((P @ K @ P.T @ ones).max())
    for factor in (1.0, 1.001, 50.0, 0.999):
        at = problem.with_cost(1 / (factor * start))
        proven = interval(at, Point(alpha=at.C * ones))
        assert (proven.relative_width < 1e-12) == (factor >= 1)
        assert multipliers(solved(at)).min() == pytest.approx(
            at.C, rel=1e-3 if factor > 0.9999 else 1e-1
        )
    beta = problem.rows.rdot(ones) / (50 * start)
    far = problem.with_cost(1 / (50 * start))
    assert hinge_value(far, beta) == pytest.approx(solved(far).value, rel=1e-9)
    assert hinge_value(far, 0 * beta) > solved(far).value * (1 + 1e-3)


def test_lambda_0_may_be_zero() -> None:
    """Contradicting pairs have P'1 = 0: then alpha = 1 is optimal at every lambda, and f = 0."""
    for C in (1e-3, 1.0, 1e3):
        solution = solved(ranking_from_pairs([[0.0], [1.0]], [[0, 1], [1, 0]], C))
        assert solution.value == pytest.approx(2 * C)
        assert interval(solution.problem, Point(alpha=np.full(2, C))).relative_width < 1e-12


def test_the_function_is_piecewise_linear_in_1_over_lambda() -> None:
    """Theorem 1 says piecewise linear in lambda.

    Between two breakpoints f at the mean of two lambdas is not the mean of their f; in
    1/lambda it is.
    """
    X = np.random.default_rng(0).normal(size=(8, 3))
    problem = ranking_from_pairs(X, [[i, i + 1] for i in range(7)], kernel=rbf(0.4))
    low, high = 1.4, 1.8
    ends = [solved(problem.with_cost(C)) for C in (low, high)]
    assert all((a == b).all() for a, b in zip(sides(ends[0]), sides(ends[1]), strict=True))
    assert sides(ends[0])[1].any()
    middle = (decisions(ends[0]) + decisions(ends[1])) / 2
    in_inverse, in_lambda = (
        decisions(solved(problem.with_cost(C)))
        for C in ((low + high) / 2, 2 / (1 / low + 1 / high))
    )
    assert np.abs(in_inverse - middle).max() < 1e-6
    assert np.abs(in_lambda - middle).max() > 1e-4


def chained(kernel: Any) -> Any:
    """Return the path of a chain of twenty points in general position to lambda = 1e-3.

    Each point is preferred to the next; events come one by one.
    """
    X = np.random.default_rng(0).normal(size=(20, 3))
    problem = ranking_from_pairs(X, [[i, i + 1] for i in range(19)], kernel=kernel)
    path = regularization_path(problem, 1e-3)
    assert path.complete
    assert max(path.at(lam).relative_gap for lam in path.lambdas[path.lambdas > 0].tolist()) < 1e-9
    return path


def direction(path: Any, t: int) -> tuple[Any, Any]:
    """Return I_alpha and eta = (P_I K P_I')^-1 1 of (12) after a breakpoint."""
    middle = (path.alphas[t] + path.alphas[t + 1]) / 2
    margin = np.flatnonzero((middle > 0) & (middle < 1))
    P, K = path.problem.rows.matrix.toarray()[margin], path.problem.gram.dense
    return margin, np.linalg.solve(P @ K @ P.T, np.ones(len(margin)))


def test_with_an_l1_regulariser_the_hinge_has_constant_pieces_and_its_square_linear_ones() -> None:
    """The remark on P with an L1 regulariser after Theorem 1 is refuted for the hinge.

    Its f jumps; the remark is confirmed for the squared hinge.
    """
    import cvxpy as cp

    X = np.random.default_rng(4).normal(size=(8, 2))
    problem = ranking_vector_machine(X, np.arange(8) % 3, kernel=rbf(0.5))
    path, wide = regularization_path(problem, 1e-2), 0
    for t, (high, low) in enumerate(pairwise(path.lambdas.tolist())):
        f = path.decision_function(X, [high * (1 - 1e-9), (high + low) / 2, low])
        np.testing.assert_allclose(f[0], f[2], atol=1e-9)
        np.testing.assert_allclose(f[0], f[1], atol=1e-9)
        jump = np.abs(f[0] - path.decision_function(X, high)).max()
        wide += jump > 0.05 and low < 0.99 * high and t > 0
    assert wide >= 3, "f is no step function with wide steps"

    B, lam, x = (
        problem.rows.matrix @ problem.gram.dense,
        cp.Parameter(nonneg=True),
        cp.Variable(problem.m, nonneg=True),
    )
    square = cp.Problem(cp.Minimize(lam * cp.sum(x) + cp.sum_squares(cp.pos(1 - B @ x))))

    def at(value: float) -> Any:
        lam.value = value
        square.solve("CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
        return x.value

    lams = np.linspace(float((2 * B.sum(axis=0)).max()), 0.1, 60)
    found = [at(value) for value in lams.tolist()]
    active = [(tuple((v > 1e-6).tolist()), tuple((B @ v < 1 - 1e-6).tolist())) for v in found]
    straight = [
        k for k in range(1, 59) if active[k - 1] == active[k] == active[k + 1] and any(active[k][0])
    ]
    moved = [np.abs(found[k + 1] - found[k]).max() for k in straight]
    bent = [np.abs(found[k + 1] - 2 * found[k] + found[k - 1]).max() for k in straight]
    assert len(straight) >= 20
    assert max(bent) < 1e-6 < 1e-4 < np.median(moved)
    steepest = int(np.abs(np.diff(found, axis=0)).max(axis=1).argmax())
    (high, low), ends = lams[steepest : steepest + 2].tolist(), found[steepest : steepest + 2]
    # Keep the half with the larger change: where x jumps, the change does not fall.
    for _ in range(12):
        middle = (high + low) / 2
        between = at(middle)
        if np.abs(between - ends[0]).max() > np.abs(between - ends[1]).max():
            low, ends = middle, [ends[0], between]
        else:
            high, ends = middle, [between, ends[1]]
    assert np.abs(ends[1] - ends[0]).max() < 0.01, "x jumps"


@some_kernel
def test_the_path_begins_at_lambda_0_with_the_pairs_that_attain_it(kernel: Any) -> None:
    """Section 5.1: lambda^0 = max(P K P'1).

    All other pairs reach the margin later, if at all.
    """
    path = chained(kernel)
    P, K = path.problem.rows.matrix.toarray(), path.problem.gram.dense
    y = P @ K @ P.T @ np.ones(len(P))
    assert path.lambdas[0] == pytest.approx(y.max(), rel=1e-12)
    assert (path.alphas[0] == 1).all()
    assert [event.row for event in path.events if event.lam == path.lambdas[0]] == [y.argmax()]


@some_kernel
def test_multipliers_are_linear_in_lambda_and_the_function_in_its_inverse(kernel: Any) -> None:
    """Definition 2.2, Theorem 1 and 5.3 on every segment.

    The mean of two optima is an optimum, or is not.
    """
    path = chained(kernel)
    problem, worst = (
        path.problem,
        {
            "alpha in lambda": 0.0,
            "f in 1 / lambda": 0.0,
            "alpha in 1 / lambda": 0.0,
            "f in lambda": 0.0,
        },
    )
    for high, low in pairwise(path.lambdas[path.lambdas > 0]):
        ends = [path.at(lam) for lam in (high, low)]
        # This alpha is that of (8).
        alpha = sum(lam * end.dual for lam, end in zip((high, low), ends, strict=True)) / 2
        beta = sum(problem.rows.rdot(end.dual) for end in ends) / 2
        for where, C in (("lambda", 2 / (high + low)), ("1 / lambda", (1 / high + 1 / low) / 2)):
            at = problem.with_cost(C)
            optimum = path.at(1 / C)
            of_alpha = (optimum.upper - interval(at, Point(alpha=C * alpha)).lower) / optimum.upper
            of_f = (interval(at, Point(beta=beta)).upper - optimum.lower) / optimum.upper
            worst[f"alpha in {where}"] = max(worst[f"alpha in {where}"], of_alpha)
            worst[f"f in {where}"] = max(worst[f"f in {where}"], of_f)
    assert worst["alpha in lambda"] < 1e-8
    assert worst["f in 1 / lambda"] < 1e-8
    assert worst["alpha in 1 / lambda"] > 1e-3
    # (2) and the text after Theorem 1 claim linearity in lambda.
    assert worst["f in lambda"] > 1e-3


@some_kernel
def test_one_parametric_program_has_every_point_of_its_path(kernel: Any) -> None:
    """Section 5: in (8) times lambda the parameter alone changes.

    At C = 1 / lambda the family's optimum is C^2 times that of the program.
    """
    path = chained(kernel)
    declared = declare("rank.path", path.problem)
    for lam in path.lambdas[0] * np.array([2.0, 1.0, 0.3, 0.01]):
        declared.parameters["lambda"].value = lam
        answer = solve_declaration(declared)
        assert answer.objective / lam**2 == pytest.approx(path.at(lam).value, rel=1e-6)
        assert interval(path.problem.with_cost(1 / lam), declared.point).lower == pytest.approx(
            path.at(lam).lower, rel=1e-6
        )


@some_kernel
def test_the_function_between_two_breakpoints_is_that_of_16(kernel: Any) -> None:
    """f = (lambda^t f^t - lambda^t h^t + lambda h^t) / lambda at any point.

    h^t = eta'P_I k(x); (2) is f^t + (lambda - lambda^t) h.
    """
    path, Z = chained(kernel), np.random.default_rng(1).normal(size=(5, 3))
    P, k = path.problem.rows.matrix.toarray(), path.problem.kernel.block(Z, path.problem.X)
    defects = []
    for t, (high, low) in enumerate(pairwise(path.lambdas)):
        margin, eta = direction(path, t)
        h, f_t, lam = k @ P[margin].T @ eta, path.decision_function(Z, high), 0.3 * high + 0.7 * low
        f = path.decision_function(Z, lam)
        assert f == pytest.approx((high * f_t - high * h + lam * h) / lam, rel=1e-8, abs=1e-10)
        # (12)
        assert path.alphas[t + 1][margin] == pytest.approx(
            path.alphas[t][margin] - (high - low) * eta, abs=1e-9
        )
        defects.append(np.abs(f_t + (lam - high) * h - f).max())
    assert max(defects) > 1e-2


@some_kernel
def test_the_next_breakpoint_is_that_of_13_14_and_17(kernel: Any) -> None:
    """The largest lambda_i < lambda^t belongs to the pair of the path's next event.

    alpha_i reaches 1 or 0, or f(x_k) - f(x_l) reaches 1.
    """
    path = chained(kernel)
    P, K = path.problem.rows.matrix.toarray(), path.problem.gram.dense
    seen = {"enter": 0, "zero": 0, "weight": 0}
    for t, (lam, below) in enumerate(pairwise(path.lambdas[path.lambdas > 1e-3])):
        margin, eta = direction(path, t)
        alpha = path.alphas[t]
        f, h = P @ K @ P.T @ alpha / lam, P @ K @ P[margin].T @ eta
        at, outside = np.zeros(len(P)), np.setdiff1d(np.arange(len(P)), margin)
        at[outside] = (lam * (f - h)[outside]) / (1 - h)[outside]  # (17)
        at[margin] = lam - np.where(eta > 0, alpha[margin], alpha[margin] - 1) / eta  # (14), (13)
        at[at > lam * (1 - 1e-9)] = 0.0
        assert at.max() == pytest.approx(below, rel=1e-8)
        (event,) = (event for event in path.events if event.lam == below)
        assert event.row == at.argmax()
        assert (event.row in margin) == (event.kind != "enter")
        seen[event.kind] += 1
    assert seen["enter"] > 0
    # With the linear kernel all pairs that enter stay.
    assert (min(seen.values()) > 0) == (kernel != linear())


def test_a_pair_whose_denominator_in_17_is_0_never_comes_to_the_margin() -> None:
    """P K P' = ((1, 1, 0), (1, 2, -3/2), (0, -3/2, 3)): the denominator is exactly 0.

    The first pair has eta = 1 and h_2 = 1, so that lambda f_2 = lambda - 1/2.
    """
    X = np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, -1.5, np.sqrt(0.75)], [0.0, 0.0, 0.0]])
    path = regularization_path(ranking_from_pairs(X, [[0, 3], [1, 3], [2, 3]]), 1e-3)
    assert path.lambdas[:2] == pytest.approx([2.0, 1.5])
    margin, eta = direction(path, 0)
    assert (margin.tolist(), eta.tolist()) == ([0], [1.0])
    for lam in (2.0, 1.9, 1.6, 1.5):
        assert lam * path.decision_function(X[1:2], lam) == pytest.approx([lam - 0.5])
    assert path.events[1].row == 2


@pytest.mark.parametrize(
    ("above", "below", "lam"),
    [(179, 106, 0.793872), (250, 134, 0.766467), (134, 250, 0.769539)],
    ids=["cancer", "diabetes", "reversed"],
)
def test_two_printed_lambdas_are_those_of_no_kernel_at_all(
    above: int, below: int, lam: float
) -> None:
    """With K = I lambda is n / (n + |n_e - n_p|), which gives two entries of Table 3.

    Table 3 has lambda = 0.79387 (1e-15) for Cancer and 0.77 (0.0003) for Diabetes. n_p
    points are preferred to the maximum of n_e + 1 others, and new points have the score
    0.
    """
    y, n = np.repeat([1, 0], [above, below]), above + below
    problem = ranking_from_pairs(np.eye(n), reduced_preferences(y), kernel=precomputed())
    path = regularization_path(problem, 1e-3)
    breakpoints = path.lambdas[path.lambdas > 1e-3]
    assert len(breakpoints) == 2
    assert breakpoints[-1] == pytest.approx(n / (n + abs(below - 1 - above)), rel=1e-12)
    assert breakpoints[-1] == pytest.approx(lam, abs=1e-6)


def test_the_best_lambda_may_lie_between_two_breakpoints() -> None:
    """Sections 2 and 6 consider breakpoints only.

    New points change places where their g do; between breakpoints fewer errors may be
    left.
    """
    rng = np.random.default_rng(24)
    X, Z, w = rng.normal(size=(12, 3)), rng.normal(size=(12, 3)), rng.normal(size=3)
    y, z = X @ w + rng.normal(size=12), Z @ w + rng.normal(size=12)
    path = regularization_path(ranking(X, y, kernel=rbf(0.4)), 1e-2)
    i, j = np.nonzero(z[:, None] > z)
    lambdas = path.lambdas[path.lambdas > 0]

    def errors(lams: Any) -> Any:
        f = path.decision_function(Z, lams)
        return (f[:, i] <= f[:, j]).sum(axis=1)

    between = np.concatenate([np.linspace(high, low, 20) for high, low in pairwise(lambdas)])
    assert errors(between).min() < errors(lambdas).min()


def test_the_coefficients_are_unique_up_to_the_kernel_of_the_gram_matrix() -> None:
    """The conditions after (7) give beta = P'alpha / lambda.

    Any other beta of the same K beta is as good, for (6) and for (3.12).
    """
    base = sample_problem("rank.l1", rbf(0.4), 1)
    problem = ranking(
        np.vstack([base.X, base.X[:1]]),
        np.append(base.rows.y, base.rows.y[0]),
        C=base.C,
        kernel=base.kernel,
    )
    solution = solved(problem)
    beta = problem.rows.rdot(multipliers(solution))
    elsewhere = beta.copy()
    elsewhere[0] += 1.0
    elsewhere[-1] -= 1.0
    assert hinge_value(problem, elsewhere) == pytest.approx(solution.value)
    elsewhere[-1] += 0.5
    assert hinge_value(problem, elsewhere) > solution.value * (1 + 1e-3)


# K: kernel RankSVM


@pytest.mark.parametrize("seed", range(20))
def test_the_rank_of_the_pairs_is_points_minus_components(seed: int) -> None:
    """Section 3.1 bounds rank(Qhat) by l; it is l - #components of the pairs.

    That is at most l - #queries, and p may be smaller still.
    """
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 14))
    y, qid = rng.integers(0, 3, m).astype(float), rng.integers(0, 3, m)
    problem = ranking(rng.normal(size=(m, 3)), y, qid, kernel=rbf(0.5))
    A = problem.rows.matrix.toarray().reshape(problem.p, m)
    components, _ = connected_components(np.abs(A).T @ np.abs(A), directed=False)
    if not problem.p:  # numpy 2.0 refuses the rank of a matrix without entries
        assert components == m
        return
    assert np.linalg.matrix_rank(A) == m - components <= m - len(np.unique(qid))
    assert np.linalg.matrix_rank(A @ problem.gram.dense @ A.T) == m - components


def test_the_hessian_may_be_regular_although_p_is_not_l() -> None:
    """Section 3.1 "only positive semi-definite because usually p != l" is refuted.

    A tree of pairs has p = l - 1 and is regular, p = l never is.
    """
    X = np.random.default_rng(0).normal(size=(4, 3))
    for pairs, regular in (
        ([[0, 1], [1, 2], [2, 3]], True),
        ([[0, 1], [1, 2], [2, 3], [0, 3]], False),
    ):
        problem = ranking_from_pairs(X, pairs, kernel=rbf(0.5))
        A = problem.rows.matrix.toarray()
        assert (np.linalg.eigvalsh(A @ problem.gram.dense @ A.T)[0] > 1e-6) == regular


@pytest.mark.parametrize("kernel", [linear(), rbf(0.4)], ids=["linear", "rbf"])
def test_sums_over_violated_pairs_are_sums_over_points(kernel: Any) -> None:
    """(3.17)-(3.18) and Appendix B at a solution: A'A, A'1, p, the loss, (B.1), (B.2).

    SV is taken by its definition over labels and queries.
    """
    rng = np.random.default_rng(3)
    m = 18
    X, y, qid, C = (
        rng.normal(size=(m, 3)),
        rng.integers(0, 3, m).astype(float),
        rng.integers(0, 2, m),
        0.3,
    )
    solution = solved(ranking(X, y, qid, C, kernel, "squared_hinge"))
    Q, F, beta = (
        kernel.block(X, X),
        decisions(solution),
        solution.problem.rows.rdot(multipliers(solution)),
    )
    violated = {
        (i, j)
        for i, j in product(range(m), repeat=2)
        if qid[i] == qid[j] and y[i] > y[j] and 1 - F[i] + F[j] > 0
    }
    plus = np.array([sum((j, i) in violated for j in range(m)) for i in range(m)])
    minus = np.array([sum((i, j) in violated for j in range(m)) for i in range(m)])
    rows = as_a(Pairs, solution.problem.rows)
    kept = [
        (i, j) in violated
        for i, j in zip(rows.preferred.tolist(), rows.other.tolist(), strict=True)
    ]
    A = rows.matrix.toarray()[kept]
    assert 0 < len(violated) < rows.p
    edges = np.array(
        [
            [-1.0 if (i, j) in violated or (j, i) in violated else 0.0 for j in range(m)]
            for i in range(m)
        ]
    )
    assert (np.diag(plus + minus) + edges == A.T @ A).all()
    assert (A.sum(axis=0) == minus - plus).all()
    assert len(A) == minus.sum()
    assert sum(1 - F[i] + F[j] for i, j in violated) == pytest.approx(
        (plus - minus) @ F + minus.sum()
    )
    quadratic = beta @ Q @ beta / 2 + C * (beta @ Q @ (A.T @ A @ Q @ beta - 2 * A.sum(axis=0)))
    assert quadratic + C * len(violated) == pytest.approx(solution.value)
    assert abs(quadratic + len(violated) - solution.value) > 1.0  # (B.1) as printed
    gradient = Q @ beta + 2 * C * Q @ (A.T @ A @ Q @ beta - A.sum(axis=0))
    # (B.2), of an f with an error of about the root of its gap.
    assert np.abs(gradient).max() <= 1e-4


@some_kernel
def test_multipliers_solve_the_unconstrained_problem_too(kernel: Any) -> None:
    """Appendix A: an optimal alpha of (2.4) is optimal in (3.15).

    So is any betahat with A'betahat = A'alpha, in the box or not.
    """
    problem = sample_problem("rank.l1", kernel, 2, 10)
    solution = solved(problem)
    A = problem.rows.matrix.toarray()
    hessian = A @ problem.gram.dense @ A.T

    def betahat_value(betahat: Any) -> float:
        return float(
            betahat @ hessian @ betahat / 2 + problem.C * np.maximum(1 - hessian @ betahat, 0).sum()
        )

    null = np.linalg.svd(A.T)[2][np.linalg.matrix_rank(A) :]
    outside = multipliers(solution) + 10 * problem.C * null[0]
    assert betahat_value(multipliers(solution)) == pytest.approx(solution.value, rel=1e-8)
    assert betahat_value(outside) == pytest.approx(solution.value, rel=1e-8)
    assert outside.min() < 0 or outside.max() > problem.C
    assert betahat_value(multipliers(solution) + 0.1 * problem.C) > solution.value * (1 + 1e-6)
    alpha = multipliers(solution)
    # (2.4) is a minimum
    assert alpha @ hessian @ alpha / 2 - alpha.sum() == pytest.approx(-solution.value)


def test_the_coefficients_of_3_14_are_the_multipliers_themselves() -> None:
    """Section 3.1 prints alpha_i = y_i beta_i, which is for w = sum beta_i phi_i.

    (3.14) has Qbar = YKY, positive definite here.
    """
    problem = sample_problem("svm.nobias", rbf(0.4), 0)
    solution = solved(problem)
    alpha, y = multipliers(solution), problem.rows.y
    Qbar = np.outer(y, y) * problem.gram.dense

    def value(betabar: Any) -> float:
        return float(
            betabar @ Qbar @ betabar / 2 + problem.C * np.maximum(1 - Qbar @ betabar, 0).sum()
        )

    assert np.linalg.eigvalsh(Qbar)[0] > 1e-6
    assert value(alpha) == pytest.approx(solution.value)
    assert value(y * alpha) > solution.value * (1 + 1e-2)
    assert hinge_value(problem, y * alpha) == pytest.approx(solution.value)


def test_one_slack_is_the_sum_of_all() -> None:
    """(2.8): the largest violation over all 2^p subsets of pairs is the sum of xi_ij.

    This holds in w and in the declared program.
    """
    problem = sample_problem("rank.l1", linear(), 0, 6)
    assert 0 < problem.p <= 12
    solution = solved(problem)
    u = slacks(solution)
    largest = max(
        sum(u[list(c)]) for k in range(problem.p + 1) for c in combinations(range(problem.p), k)
    )
    assert largest == pytest.approx(np.maximum(u, 0.0).sum(), abs=1e-12)
    answer = solve_declaration(declare("rank.oneslack", problem))
    assert answer.values is not None
    assert float(answer.values["xi"]) == pytest.approx(largest, abs=1e-5)


# W, and T section 5.3: measures of a ranking


def test_the_fraction_of_concordant_pairs_is_not_kendalls_tau() -> None:
    """T section 5.3 has accuracy 0.7 on five points and calls it tau.

    W's tau = (P - Q) / (P + Q) is 2 x 0.7 - 1.
    """
    # Scores of x_1 ... x_5.
    wanted, ranked = np.array([5, 4, 3, 2, 1]), np.array([3, 4, 5, 2, 1])
    pairs = list(combinations(range(5), 2))
    accuracy = sum((wanted[i] - wanted[j]) * (ranked[i] - ranked[j]) > 0 for i, j in pairs) / len(
        pairs
    )
    assert accuracy == 0.7
    assert kendalltau(wanted, ranked).statistic == pytest.approx(2 * accuracy - 1)


def test_average_precision_is_bounded_by_the_inversions() -> None:
    """W, for every ranking of up to 7 elements.

    The bound falls with Q, so that a larger tau raises it, where W has "minimize".
    """
    equal = 0
    configurations = [c for n in range(1, 8) for c in product([0, 1], repeat=n) if any(c)]
    for relevant in configurations:
        R = sum(relevant)
        Q = sum(1 for i, j in combinations(range(len(relevant)), 2) if relevant[i] < relevant[j])
        bounds = [
            np.sqrt(np.arange(1, R + 1)).sum() ** 2 / (R * (q + R * (R + 1) / 2))
            for q in (Q, Q + 1)
        ]
        precision = average_precision_score(relevant, -np.arange(len(relevant)))
        assert precision >= bounds[0] * (1 - 1e-12)
        assert bounds[1] < bounds[0]
        equal += precision <= bounds[0] * (1 + 1e-12)
    assert (len(configurations), equal) == (247, 28)


# All of it on data that are not made up


@pytest.mark.slow
def test_the_conditions_hold_on_real_data() -> None:
    """Weak complementarity, errors and inversions on the bundled sets."""
    cancer, people = load("breast_cancer"), load("diabetes_ranking")
    X = (cancer.X - cancer.X.mean(axis=0)) / cancer.X.std(axis=0)
    for problem in (
        classification(X, cancer.y, 1.0, rbf(1 / 30)),
        ranking(people.X, people.y, None, 1.0, rbf(1.0)),
    ):
        solution = solved(problem)
        u, gap = slacks(solution), solution.upper - solution.lower
        assert (np.maximum(u, 0.0) * (problem.C - multipliers(solution))).max() <= gap
        assert (np.maximum(-u, 0.0) * multipliers(solution)).max() <= gap
        wrong = int((u >= 1).sum())
        assert 0 < wrong <= np.maximum(u, 0.0).sum()
        assert all(side.any() for side in sides(solution))


def test_the_quadratic_form_of_a_kernel_is_not_negative() -> None:
    """T (40) prints the integral of K psi psi as at most 0.

    The RBF kernel of any points refutes this.
    """
    x = np.linspace(-1, 1, 50)[:, None]
    K, psi = rbf(1.0).block(x, x), np.exp(-x[:, 0])
    assert psi @ K @ psi > 1
    assert np.linalg.eigvalsh(K).min() > -1e-12


def test_a_sigmoid_is_no_kernel() -> None:
    x = np.array([0.0, 0.5, 1.0])
    assert np.linalg.eigvalsh(np.tanh(np.multiply.outer(x, x) - 1)).min() == pytest.approx(
        -1.873, abs=1e-3
    )


def test_with_the_printed_margin_the_power_of_slacks_does_not_matter() -> None:
    """W prints y (w.x + b) >= 1 - xi^sigma.

    Its problem of any sigma is that of sigma = 1, not the right one of sigma = 2.
    """
    data: dict[str, Any] = {
        "X": np.array([[0.0], [1.0], [2.0]]),
        "y": np.array([0, 1, 0]),
        "C": 1.0,
        "tau": 1.0,
    }
    values = {}
    for sigma in (1.0, 2.0):
        for form in ("primal", "as_printed"):
            proven = optimum(general(data | {"sigma": sigma}), f"svm.general.{form}")
            values[form, sigma] = (proven.lower + proven.upper) / 2
    assert values["as_printed", 2.0] == pytest.approx(values["as_printed", 1.0], rel=1e-7)
    assert values["as_printed", 2.0] == pytest.approx(values["primal", 1.0], rel=1e-7)
    assert abs(values["primal", 2.0] - values["primal", 1.0]) > 1e-3


# Errata of formulas that are no programs


def test_the_expanded_lagrangian_of_a_hard_margin_has_plus_b() -> None:
    """T (13) expands (8) with - b sum alpha_i y_i. It is + b, which (12) makes 0 in the end."""
    x, y, alpha, w, b = [1, 3, -2], [1, -1, 1], [2, 1, 5], 7, 3
    lagrangian = Fraction(w * w, 2) - sum(
        a * (s * (w * v - b) - 1) for a, s, v in zip(alpha, y, x, strict=True)
    )
    expanded = (
        Fraction(w * w, 2)
        - sum(a * s * w * v for a, s, v in zip(alpha, y, x, strict=True))
        + sum(alpha)
    )
    balance = sum(a * s for a, s in zip(alpha, y, strict=True))
    assert balance != 0
    assert expanded + b * balance == lagrangian != expanded - b * balance


def test_all_multipliers_are_nonnegative_and_only_positive_ones_make_w() -> None:
    """T, after (20): w depends on the points whose coefficients are positive.

    Those with nonnegative ones are all points.
    """
    solution = solved(sample_problem("svm.soft", linear(), 0))
    problem, alpha = as_a(MarginProblem, solution.problem), multipliers(solution)
    positive = alpha > 0
    assert (alpha >= 0).all()
    assert 0 < positive.sum() < problem.m
    w = (problem.rows.s * alpha)[positive] @ problem.X[positive]
    assert w == pytest.approx(np.asarray(solution.w), abs=1e-6)


def test_the_bias_of_a_regression_is_added() -> None:
    """T (53) prints w.x - b, and (54) to (77) have w.x + b.

    Their b with the other sign has a larger objective.
    """
    problem = as_a(MarginProblem, sample_problem("svr.l1", linear(), 1))
    moved = regression(problem.X, problem.rows.y[: problem.m] + 3.0, problem.C, 0.1)
    solution = solved(moved)
    assert abs(solution.bias) > 1
    other = interval(moved, Point(w=np.asarray(solution.w), b=-solution.bias))
    assert other.upper > solution.upper + 1


def test_the_printed_lagrangian_of_a_regression_bounds_nothing() -> None:
    """T (64) has the multiplier eta in the place of the slack xi.

    At a feasible point it exceeds the objective, which no Lagrangian does. One point, y
    = 3, with f = b = 0, epsilon = 1/2, xi = 5/2 and C = 1; its multipliers are alpha =
    1 and eta = 0.
    """
    y, epsilon, xi, C, alpha, eta = Fraction(3), Fraction(1, 2), Fraction(5, 2), 1, 1, 0
    objective = C * xi
    assert epsilon + xi - y >= 0
    assert objective - eta * xi - alpha * (epsilon + xi - y) <= objective
    assert objective - eta * xi - alpha * (epsilon + eta - y) > objective


def test_the_condition_of_both_slacks_bounds_both_multipliers() -> None:
    """T (69) prints etahat = C - alphahat alone.

    Without eta = C - alpha, rows of one side are hard, and the optimum is another.
    """
    problem = as_a(MarginProblem, sample_problem("svr.l1", linear(), 1))
    one_sided = replace(problem, weights=np.repeat([np.inf, 1.0], problem.m))
    assert solve(one_sided).lower > solved(problem).upper * 1.01


def test_a_ranking_vector_machine_needs_a_kernel_value_a_pair_of_points() -> None:
    """T says O(m^3), against O(m^4) of a ranking SVM.

    All p m entries of its matrix come from m (m + 1) / 2 values of k.
    """
    problem = ranking_vector_machine(np.arange(5.0)[:, None], [0, 1, 2, 1, 0], kernel=rbf(0.3))
    asked = set()

    def k(i: int, j: int) -> float:
        asked.add((min(i, j), max(i, j)))
        return float(np.exp(-0.3 * (i - j) ** 2))

    pairs_of = as_a(Pairs, problem.rows)
    B = [
        [k(i, v) - k(j, v) for v in range(5)]
        for i, j in zip(pairs_of.preferred, pairs_of.other, strict=True)
    ]
    assert np.array(B) == pytest.approx(problem.rows.matrix @ problem.gram.dense, abs=1e-12)
    assert len(asked) == 15 < problem.p * problem.m


def test_the_square_of_an_exponential_is_no_rbf_kernel() -> None:
    """T 5.3 prints exp(-|w - x|)^2: its logarithm is linear in the distance.

    The logarithm of a Gaussian is quadratic.
    """
    printed = {d: float(np.exp(-d) ** 2) for d in (1.0, 2.0)}
    gamma = -np.log(printed[1.0])
    assert RBF(gamma).block(np.array([[0.0]]), np.array([[1.0]]))[0, 0] == pytest.approx(
        printed[1.0]
    )
    assert RBF(gamma).block(np.array([[0.0]]), np.array([[2.0]]))[0, 0] < printed[2.0] / 10


def test_the_printed_rbf_kernel_is_that_of_laplace() -> None:
    """K prints exp(-gamma |x - z|): unlike the RBF kernel, no product over coordinates."""
    X = np.random.default_rng(0).normal(size=(12, 3))

    def printed(A: Any, B: Any) -> Any:
        return np.exp(-0.5 * cdist(A, B))

    def is_a_product(k: Any) -> bool:
        return np.allclose(
            k(X, X), np.prod([k(column, column) for column in X.T[..., None]], axis=0), rtol=1e-12
        )

    assert is_a_product(RBF(0.5).block)
    assert not is_a_product(printed)
    assert all(np.linalg.eigvalsh(k(X, X))[0] > 0 for k in (RBF(0.5).block, printed))


@some_kernel
def test_multipliers_off_the_margin_stay_on_a_segment(kernel: Any) -> None:
    """P, after (9): alpha_i - alpha_i^t = 0 for all i outside I_alpha.

    The = 0 is not printed; without it the line states nothing.
    """
    path = chained(kernel)
    moved = 0
    for t in range(len(path.lambdas) - 1):
        margin, _ = direction(path, t)
        change = path.alphas[t + 1] - path.alphas[t]
        outside = np.setdiff1d(np.arange(len(change)), margin)
        assert np.abs(change[outside]).max(initial=0.0) <= 1e-9
        moved += bool(np.abs(change).max() > 1e-6)
    assert moved > 0


def test_the_reduced_graph_of_three_levels_has_a_singular_hessian() -> None:
    """P section 4 calls the Hessian regular.

    A graph of three levels has circles, and as many dependent rows.
    """
    y = np.repeat([0, 1, 2], 3)
    edges = np.asarray(reduced_preferences(y))
    A = np.zeros((len(edges), len(y)), dtype=int)
    A[np.arange(len(edges)), edges[:, 0]], A[np.arange(len(edges)), edges[:, 1]] = 1, -1
    components, _ = connected_components(A.T @ A)
    assert np.linalg.matrix_rank(A) == len(y) - components < len(edges)


def test_the_two_printed_orders_of_a_pair_negate_the_function() -> None:
    """P (5) has f(v) - f(u) >= 1 - zeta for (u, v), and (6) the other order.

    The optimum is equal, and f is negated.
    """
    rng = np.random.default_rng(0)
    X, listed = rng.normal(size=(8, 3)), np.array([[0, 1], [2, 3], [4, 5], [6, 7], [1, 2]])
    one, other = (
        solved(ranking_from_pairs(X, listed)),
        solved(ranking_from_pairs(X, listed[:, ::-1])),
    )
    assert one.value == pytest.approx(other.value, rel=1e-9)
    assert np.asarray(one.w) == pytest.approx(-np.asarray(other.w), abs=1e-5)


def test_the_ranking_vector_has_both_points_of_a_pair() -> None:
    """W prints w* = sum alpha_kl Phi(q_k, c_i) and means c_i - c_j.

    The preferred points alone make another w.
    """
    solution = solved(sample_problem("rank.l1", linear(), 0))
    rows, alpha = as_a(Pairs, solution.problem.rows), multipliers(solution)
    X, w = solution.problem.X, np.asarray(solution.w)
    assert alpha @ (X[rows.preferred] - X[rows.other]) == pytest.approx(w, abs=1e-6)
    assert np.abs(alpha @ X[rows.preferred] - w).max() > 0.1


# Other methods that the documents name


def test_coupled_machines_of_every_two_classes_classify_many() -> None:
    """T section 2, by the coupling of [13]; machines with negated labels are wrong."""
    rng = np.random.default_rng(0)
    y = np.repeat(range(4), 15)
    X = rng.normal(size=(60, 2)) + 3 * np.array([[0, 0], [0, 1], [1, 0], [1, 1]])[y]
    r = np.zeros((60, 4, 4))
    for (k, other), machine in zip(
        combinations(range(4), 2), one_vs_one(X, y, kernel=rbf(0.5)), strict=True
    ):
        r[:, k, other] = 1 / (1 + np.exp(-machine.decision_function(X)))
        r[:, other, k] = 1 - r[:, k, other]
    right, turned = (
        np.mean([bradley_terry(one).argmax() for one in given] == y)
        for given in (r, r.transpose(0, 2, 1))
    )
    assert right > 0.9
    assert turned < 0.5


def one_norm_classifier(K: Any, y: Any, C: float) -> tuple[Any, Any]:
    """Minimise sum alpha + C sum xi, alpha >= 0; return alpha and the margins."""
    m, G = len(y), y[:, None] * K * y
    costs = np.concatenate([np.ones(m), [0.0], np.full(m, C)])
    bounds = [*[(0, None)] * m, (None, None), *[(0, None)] * m]
    found = linprog(
        costs, -np.hstack([G, y[:, None], np.eye(m)]), -np.ones(m), bounds=bounds, method="highs"
    )
    return found.x[:m], G @ found.x[:m] + y * found.x[m]


def test_support_vectors_of_a_one_norm_classifier_are_fewer_and_need_not_be_close() -> None:
    """T section 5.2: none is beyond the margin with the 2-norm, some are with the 1-norm."""
    counts, far = np.zeros(2), 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(40, 2)), np.repeat([-1.0, 1.0], 20)
        X[:, 0] += y
        problem = classification(X, y, 1.0, rbf(0.5))
        solution = solved(problem)
        alpha = multipliers(solution)
        assert (y * decisions(solution))[alpha > 1e-6].max() <= 1 + 1e-5
        x, margins = one_norm_classifier(problem.gram.dense, y, 1.0)
        counts += (alpha > 1e-6).sum(), (x > 1e-6).sum()
        far += (margins[x > 1e-6] > 1.5).sum()
    assert far > 0
    assert counts[1] < 0.5 * counts[0]


def boosted(H: Any, pairs: Any, rounds: int) -> Any:
    """Add up weak rankings, columns of H from 0 to 1, as RankBoost does (Freund et al. 2003).

    Each is the best one for weights of the pairs.

    A pair (i, j), i above j, has its weight multiplied by exp(-a (h_i - h_j)). There
    a = 1/2 log((1 + r) / (1 - r)), and r is the sum of weight times h_i - h_j over the pairs.
    """
    D = H[pairs[:, 0]] - H[pairs[:, 1]]
    weights, score = np.full(len(D), 1 / len(D)), np.zeros(len(H))
    for _ in range(rounds):
        r = weights @ D
        best = int(np.abs(r).argmax())
        a = np.log((1 + r[best]) / (1 - r[best])) / 2
        score += a * H[:, best]
        weights *= np.exp(-a * D[:, best])
        weights /= weights.sum()
    return score


def test_boosted_weak_rankings_misrank_fewer_pairs_than_the_best_of_them() -> None:
    """P section 1 on RankBoost, with stumps of one coordinate as weak rankings."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    f = X @ [1.0, -1.0, 0.5, 0.5]
    pairs = np.argwhere(f[:, None] > f)
    H = np.hstack([np.greater(X, cut) for cut in np.linspace(-1, 1, 5)]).astype(float)
    misranked = {
        rounds: float((np.diff(boosted(H, pairs, rounds)[pairs[:, ::-1]]) <= 0).mean())
        for rounds in (1, 5, 50)
    }
    assert misranked[50] < misranked[5] < misranked[1]
    assert misranked[50] < 0.1
    best = min(
        float((np.diff(sign * h[pairs[:, ::-1]]) <= 0).mean()) for h in H.T for sign in (-1, 1)
    )
    assert misranked[50] < 0.5 * best


@pytest.mark.parametrize("method", ["CG", "BFGS", "L-BFGS-B"])
def test_methods_for_any_smooth_function_minimise_3_13(method: str) -> None:
    """K section 3.2: "almost all unconstrained optimization methods can be applied"."""
    problem = as_a(MarginProblem, sample_problem("rank.l2", rbf(0.4), 0))
    K, A = problem.gram.dense, problem.rows.matrix

    def value(beta: Any) -> tuple[float, Any]:
        f = K @ beta
        u = np.maximum(1 - A @ f, 0)
        return float(beta @ f / 2 + problem.C * u @ u), f - 2 * problem.C * K @ (A.T @ u)

    found = minimize(
        value, np.zeros(problem.m), jac=True, method=method, options={"maxiter": 10_000}
    )
    assert found.fun == pytest.approx(solved(problem).value, rel=1e-4)
    assert value(np.zeros(problem.m))[0] > 1.1 * found.fun


# Claims of speed and of size, by counts


def test_one_norm_rankings_have_fewer_support_vectors() -> None:
    """T section 5.1: on average over samples less than half as many pairs with a multiplier."""
    counts = {"rank.l1": 0, "rank.onenorm": 0}
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(14, 3))
        y = np.round(X @ [1.0, -1.0, 0.5] + 0.3 * rng.normal(size=14))
        counts["rank.l1"] += int(
            (multipliers(solved(ranking(X, y, C=1.0, kernel=rbf(0.4)))) > 1e-6).sum()
        )
        x = solve(one_norm_ranking(X, y, C=1.0, kernel=rbf(0.4))).point
        counts["rank.onenorm"] += int((np.asarray(as_a(OneNormPoint, x).x) > 1e-6).sum())
    assert counts["rank.onenorm"] < 0.5 * counts["rank.l1"]


def test_ranking_vector_machines_have_fewer_vectors() -> None:
    """T section 5.2, on the average of samples, with a tolerance of a tenth.

    Compared are the points in the sum with those of a ranking SVM.
    """
    counts = {"rank.l1": 0, "rvm": 0}
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(14, 3))
        y = np.round(X @ [1.0, -1.0, 0.5] + 0.3 * rng.normal(size=14))
        alpha = multipliers(solved(ranking(X, y, C=1.0, kernel=rbf(0.4))))
        counts["rank.l1"] += int((np.abs(ranking(X, y).rows.rdot(alpha)) > 1e-6).sum())
        x = solve(ranking_vector_machine(X, y, C=1.0, kernel=rbf(0.4))).point
        counts["rvm"] += int((np.asarray(as_a(OneNormPoint, x).x) > 1e-6).sum())
    assert counts["rvm"] < 0.9 * counts["rank.l1"]


def test_ranking_vectors_are_the_fewest_and_a_linear_ranking_svm_needs_few_points() -> None:
    """T section 5.3 counts points with a multiplier; a function needs fewer."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(14, 3))
        y = np.round(X @ [1.0, -1.0, 0.5] + 0.3 * rng.normal(size=14))
        vectors = fewest_nonzeros("rvm.primal", ranking_vector_machine(X, y), "beta")
        pairs = fewest_nonzeros("rank.l1.dual", ranking(X, y), "alpha")
        points = fewest_nonzeros("rank.l1.beta", ranking(X[:8], y[:8]), "beta")
        assert vectors.proven
        assert (vectors.freedom, points.proven, points.fewest) == (0, True, 3)
        assert vectors.fewest <= 3 < 8 <= pairs.lower
        f = solve(ranking(X, y), tol=1e-12).decision_function(X)
        w = np.linalg.lstsq(X, f, rcond=None)[0]
        three = np.linalg.solve(X[:3].T, w)
        assert X @ X[:3].T @ three == pytest.approx(f, abs=1e-6)


def test_the_matrix_of_pairs_takes_three_additions_an_entry() -> None:
    """P 5.3 says O(m n^2) of P K P'.

    An entry is the sum of four kernel values, as P has two numbers a row: 3 m^2 additions, of any
    n.

    On the reduced graph, where m is about n, that is one dimension less; for all pairs of two
    levels, m = n^2 / 4, the order is the same.
    """
    y = np.arange(12) % 2
    for edges, less in (
        (np.asarray(reduced_preferences(y)), True),
        (np.argwhere(np.subtract.outer(y, y) > 0), False),
    ):
        i, j, m, n = edges[:, 0], edges[:, 1], len(edges), len(y)
        P, K = np.zeros((m, n)), RBF(0.5).block(np.arange(12.0)[:, None], np.arange(12.0)[:, None])
        P[np.arange(m), i], P[np.arange(m), j] = 1, -1
        additions = 0

        def entry(r: int, s: int, i: Any = i, j: Any = j, K: Any = K) -> float:
            nonlocal additions
            additions += 3
            return float(K[i[r], i[s]] - K[i[r], j[s]] - K[j[r], i[s]] + K[j[r], j[s]])

        assert np.array([[entry(r, s) for s in range(m)] for r in range(m)]) == pytest.approx(
            P @ K @ P.T, abs=1e-14
        )
        assert additions == 3 * m * m
        assert (additions < m * n * n / 3) == less


def test_breakpoints_are_two_to_three_times_the_pairs() -> None:
    """P section 7, "typically": of overlapping classes.

    On tiny or separable data there are fewer, about one a pair.
    """
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = rng.normal(size=(80, 2)) + y[:, None]
    all_pairs, reduced = (
        ranking(X, y, kernel=rbf(1.0)),
        ranking_from_pairs(X, reduced_preferences(y), kernel=rbf(1.0)),
    )
    for problem in (all_pairs, reduced):
        assert 1.5 <= len(regularization_path(problem, lambda_min=1e-3)) / problem.p <= 3.5


def test_cutting_planes_do_not_grow_with_the_pairs() -> None:
    """K section 2.3: rounds at C / p with a hundred times as many pairs.

    They are fewer than the bound 16 C R^2 / epsilon of Joachims (2006).
    """
    rounds, C = [], 100.0
    for m in (40, 400):
        rng = np.random.default_rng(m)
        X = rng.normal(size=(m, 5))
        problem = ranking(X, np.round(X @ np.ones(5) + rng.normal(size=m)))
        solution = solve(problem.with_cost(C / problem.p), "cutting_plane", tol=1e-3)
        assert solution.ok
        rounds.append(present(solution.iterations))
        R2 = 4 * float((X * X).sum(axis=1).max())
        assert rounds[-1] <= 16 * C * R2 / (1e-3 * present(solution.value))
    assert rounds[1] <= 2 * rounds[0]
