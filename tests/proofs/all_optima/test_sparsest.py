"""Fewest nonzeros over all optima, against all supports, and its proof replayed."""

from __future__ import annotations

from fractions import Fraction
from importlib import import_module
from itertools import combinations
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog

from equimargin.formulations import (
    classification,
    one_norm_ranking,
    ranking,
    ranking_vector_machine,
)
from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.proofs import FewestNonzeros, fewest_nonzeros, optimal_ranges
from equimargin.solvers import exact_optimum
from equimargin.solvers.exact.program import Inconclusive
from oracles.brute_force import fewest_columns


def drawn(seed: int, points: int = 6) -> tuple[Array, Index, float]:
    """Return points of a grid, some of them equal, their levels, and a cost."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, points + 1))
    X = rng.integers(-2, 3, (m, int(rng.integers(1, 4)))).astype(float)
    return X[rng.integers(m, size=m)], rng.integers(0, 3, m), float(rng.choice([0.125, 0.5, 2.0]))


def pairs_of(y: Index) -> list[tuple[int, int]]:
    """Return the pairs (preferred, other) of levels."""
    return [(i, j) for i in range(len(y)) for j in range(len(y)) if y[i] > y[j]]


def differences(X: Array, y: Index) -> Array:
    """Return x_i - x_j of all pairs, (p, d)."""
    return np.array([X[i] - X[j] for i, j in pairs_of(y)]).reshape(-1, X.shape[1])


def replayed(found: FewestNonzeros, B: Array, C: float) -> None:
    """Assert by HiGHS that every obstruction is one, and that no fewer places hit all."""
    p, size = B.shape
    A = np.hstack([-B, -np.eye(p)])
    cost = np.append(np.ones(size), np.full(p, C))
    ends = np.append(-np.ones(p), float(found.value) + 1e-9)
    for obstruction in found.obstructions:
        y = np.zeros(size + p)
        y[list(obstruction.elements)] = [float(v) for v in obstruction.multipliers]
        y /= np.abs(y).max()
        assert linprog(y, A_ub=np.vstack([A, cost]), b_ub=ends).fun > 1e-6
    for few in combinations(range(size), found.lower - 1) if found.lower else ():
        assert not all(set(few) & set(o.elements) for o in found.obstructions)


@pytest.mark.parametrize(
    "seeds", [range(25), *(pytest.param(range(k, k + 25)) for k in (25, 50, 75))]
)
def test_ranking_vectors_are_the_fewest_of_all_supports(seeds: range) -> None:
    for seed in seeds:
        X, y, C = drawn(seed)
        found = fewest_nonzeros("rvm.primal", ranking_vector_machine(X, y, C=C), "beta")
        B = differences(X, y) @ X.T
        assert found.fewest == found.lower == len(found.support) == fewest_columns(B, C), seed
        replayed(found, B, C)
        beta = np.array(found.variable, dtype=float)
        value = beta.sum() + C * np.maximum(1 - B @ beta, 0).sum()
        assert beta.min() >= 0
        assert value == pytest.approx(float(found.value), abs=1e-9)


@pytest.mark.slow
def test_pairs_of_the_one_norm_ranking_are_the_fewest_of_all_supports() -> None:
    for seed in range(100, 210):
        X, y, C = drawn(seed, 4)
        D = differences(X, y)
        if not len(D):
            continue
        found = fewest_nonzeros("rank.onenorm.primal", one_norm_ranking(X, y, C=C), "alpha")
        assert found.fewest == found.lower == fewest_columns(D @ D.T, C), seed
        replayed(found, D @ D.T, C)


def test_multipliers_of_a_ranking_svm_are_the_fewest_of_all_supports() -> None:
    for seed in range(200, 225):
        X, y, C = drawn(seed, 4)
        D = differences(X, y)
        if not len(D):
            continue
        found = fewest_nonzeros("rank.l1.dual", ranking(X, y, C=C), "alpha")

        def optimum(some: tuple[int, ...], D: Array = D, C: float = C) -> float:
            alpha = cp.Variable(len(some))
            dual = cp.sum(alpha) - cp.sum_squares(D[list(some)].T @ alpha) / 2
            return float(cp.Problem(cp.Maximize(dual), [alpha >= 0, alpha <= C]).solve("CLARABEL"))

        least = next(
            count
            for count in range(len(D) + 1)
            if any(
                (optimum(some) if some else 0.0) >= float(found.value) - 1e-6
                for some in combinations(range(len(D)), count)
            )
        )
        assert found.fewest == found.lower == least, seed


def test_a_vertex_may_have_more_vectors_than_another() -> None:
    """beta = (0, 0, 1/2, 0) and (1/4, 1/4, 0, 0) define the same function at the same cost."""
    X, y = np.array([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0], [0.0, 0.0]]), np.array([1, 1, 1, 0])
    problem = ranking_vector_machine(X, y, C=4.0)
    found = fewest_nonzeros("rvm.primal", problem, "beta")
    ranges = optimal_ranges("rvm.primal", problem)["beta"]
    assert exact_optimum(problem).value == found.value == Fraction(1, 2)
    assert (found.fewest, found.support, found.freedom) == (1, (2,), 1)
    assert [str(r) for r in ranges] == ["[0, 1/4]", "[0, 1/4]", "[0, 1/2]", "0"]


def test_the_equations_of_a_unique_optimum_prove_its_support_alone() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2))
    problem = ranking_vector_machine(X, X @ [1.0, -1.0] + 0.3 * rng.normal(size=20))
    found = fewest_nonzeros("rvm.primal", problem, "beta")
    assert (found.freedom, found.proven) == (0, True)
    assert all(len(obstruction.elements) == 1 for obstruction in found.obstructions)
    x = exact_optimum(problem).x
    assert x is not None
    assert found.variable == tuple(map(Fraction, x))


def test_a_time_limit_leaves_two_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    late = Inconclusive("time", "the time limit of 1.12 s does not suffice")
    monkeypatch.setattr("equimargin.proofs.all_optima.sparsest.program_optimum", lambda *_: late)
    X, y = np.array([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0], [0.0, 0.0]]), np.array([1, 1, 1, 0])
    found = fewest_nonzeros("rvm.primal", ranking_vector_machine(X, y, C=4.0), "beta")
    assert found.lower == 0 < found.fewest == len(found.support)
    assert not found.proven
    assert "the time limit of 60 s" in found.reason
    stated = import_module("equimargin.proofs.equivalence.stated")
    monkeypatch.setattr(stated, "program_optimum", lambda *_: late)
    with pytest.raises(ValueError, match="the time limit of 15 s does not suffice"):
        fewest_nonzeros("rvm.primal", ranking_vector_machine(X, y, C=4.0), "beta", seconds=15.0)


def test_what_has_no_fewest_nonzeros_is_a_sentence() -> None:
    X, y = np.array([[0.0], [1.0]]), [0, 1]
    pair = ranking_vector_machine(X, y)
    unequal: list[tuple[Any, str]] = [
        (
            lambda: fewest_nonzeros("rvm.primal", pair, "alpha"),
            "rvm.primal has no variable 'alpha'",
        ),
        (lambda: fewest_nonzeros("rvm.none", pair, "beta"), "unknown formulation"),
        (lambda: fewest_nonzeros("rvm.primal", pair, "beta", seconds=0.0), "seconds"),
        (
            lambda: fewest_nonzeros(
                "svm.hard.primal", classification([[0.0]] * 2, [1, -1], np.inf), "w"
            ),
            "no exact optimum",
        ),
        (
            lambda: fewest_nonzeros(
                "rvm.primal", ranking_vector_machine(np.eye(70), np.arange(70)), "beta"
            ),
            "the limit is 2,000",
        ),
    ]
    for call, message in unequal:
        with pytest.raises((KeyError, ValueError), match=message):
            call()
