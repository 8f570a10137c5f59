"""Document P's Algorithm 1 as printed: right if events come one by one, else not."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
import pytest

from equimargin.formulations import (
    MarginProblem,
    classification,
    linear,
    ranking,
    ranking_from_pairs,
    rbf,
    reduced_preferences,
)
from equimargin.solvers.path.follow import regularization_path
from ledger.path_as_printed import Ending, PrintedPath, pair_gram, path_as_printed

Reading = Literal["one", "all"]
READINGS = get_args(Reading)
LAMBDA_MIN = 1e-3

either_reading = pytest.mark.parametrize("pairs", READINGS)


def chain(seed: int) -> MarginProblem:
    """Return seven points in a row, each preferred to the next."""
    X = np.random.default_rng(seed).normal(size=(7, 3))
    return ranking_from_pairs(X, [[i, i + 1] for i in range(6)], kernel=rbf(0.4))


def two_reduced_levels(seed: int) -> MarginProblem:
    """Return the reduced graph of five points and five: a tree."""
    X = np.random.default_rng(seed).normal(size=(10, 3))
    return ranking_from_pairs(X, reduced_preferences([0] * 5 + [1] * 5), kernel=rbf(0.4))


def three_reduced_levels(seed: int) -> MarginProblem:
    """Return the reduced graph of three levels: 10 pairs of 9 points."""
    X = np.random.default_rng(seed).normal(size=(9, 3))
    return ranking_from_pairs(X, reduced_preferences([0] * 3 + [1] * 3 + [2] * 3), kernel=rbf(0.4))


def all_pairs(seed: int) -> MarginProblem:
    """Return all 21 pairs of seven points in general position."""
    rng = np.random.default_rng(seed)
    return ranking(rng.normal(size=(7, 3)), rng.permutation(7), kernel=rbf(0.4))


def two_levels(seed: int) -> MarginProblem:
    """Return all 16 pairs of four points and four in general position."""
    return ranking(
        np.random.default_rng(seed).normal(size=(8, 3)), [0] * 4 + [1] * 4, kernel=rbf(0.4)
    )


def above_the_origin(*x: list[float]) -> MarginProblem:
    """Return pairs that prefer each x to 0, linear kernel: P K P' is their Gram matrix."""
    X = np.vstack([np.array(x), np.zeros(len(x[0]))])
    return ranking_from_pairs(X, [[i, len(x)] for i in range(len(x))], kernel=linear())


def at_the_margin(printed: PrintedPath, t: int) -> frozenset[int]:
    """Return the pairs whose f(x_k) - f(x_l) is 1 at a breakpoint."""
    f = pair_gram(printed.problem) @ printed.alphas[t] / printed.lambdas[t]
    return frozenset(np.flatnonzero(np.abs(f - 1) <= 1e-9).tolist())


@either_reading
@pytest.mark.parametrize("make", [chain, two_reduced_levels])
def test_it_is_right_on_trees_of_points_in_general_position(make: Any, pairs: Reading) -> None:
    for seed in range(20):
        printed = path_as_printed(make(seed), LAMBDA_MIN, pairs)
        assert (printed.ending, printed.first_wrong()) == (Ending.REACHED, None)
        assert all(
            at_the_margin(printed, t) >= printed.margins[t] for t in range(len(printed.lambdas))
        )
        breakpoints = regularization_path(printed.problem, LAMBDA_MIN).lambdas
        assert printed.lambdas == pytest.approx(
            [*breakpoints[breakpoints > LAMBDA_MIN], LAMBDA_MIN], rel=1e-9
        )


@either_reading
def test_an_empty_margin_set_is_filled_again(pairs: Reading) -> None:
    """5.3, by hand: (2, 1) enters at 7 and leaves at 2, and (1, 0) enters at 1."""
    printed = path_as_printed(above_the_origin([1.0, 0.0], [2.0, 1.0]), LAMBDA_MIN, pairs)
    assert printed.lambdas == pytest.approx([7.0, 2.0, 1.0, LAMBDA_MIN])
    assert printed.margins == tuple(map(frozenset, ([1], [], [0], [0])))
    assert printed.alphas == pytest.approx(
        np.array([[1.0, 1.0], [1.0, 0.0], [1.0, 0.0], [LAMBDA_MIN, 0.0]])
    )
    assert printed.first_wrong() is None


def test_a_second_pair_of_the_same_lambda_is_lost() -> None:
    """By hand: P K P' = diag(2, 1, 1), alpha_i = min(1, lambda / Q_ii).

    The last two reach the margin at 1.
    """
    problem = above_the_origin([np.sqrt(2), 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0])
    one, every = (path_as_printed(problem, 0.25, pairs) for pairs in READINGS)
    assert every.first_wrong() is None
    assert every.alphas[-1] == pytest.approx([0.125, 0.25, 0.25])
    # The algorithm does not notice the error.
    assert one.ending is Ending.REACHED
    assert one.alphas[-1] == pytest.approx([0.125, 0.25, 1.0])
    assert one.first_wrong() == len(one.lambdas) - 1
    f = pair_gram(problem) @ one.alphas[-1] / one.lambdas[-1]
    # The third pair has a margin of 4, and alpha = 1.
    assert f == pytest.approx([1.0, 1.0, 4.0])


@either_reading
def test_two_pairs_that_start_together_may_be_one(pairs: Reading) -> None:
    """By hand: 2 > 1 > 0 on a line; both pairs have f = w and start in I_alpha.

    P_I K P_I' is all ones.
    """
    problem = ranking_from_pairs([[0.0], [1.0], [2.0]], [[1, 0], [2, 1]])
    printed = path_as_printed(problem, LAMBDA_MIN, pairs)
    assert (printed.ending, printed.lambdas.tolist(), printed.margins) == (
        Ending.SINGULAR,
        [2.0],
        (frozenset([0, 1]),),
    )
    assert (pair_gram(problem) == 1).all()
    assert regularization_path(problem, LAMBDA_MIN).complete


@either_reading
def test_a_pair_that_only_touches_the_margin_is_taken_out_of_its_box(pairs: Reading) -> None:
    """By hand: Q11 = Q1 = 1 at the first two pairs, and eta = (3, -1).

    alpha_2 rises from 1, which (13) finds at lambda^0 only.
    """
    problem = above_the_origin([1.0, 0.0, 0.0], [2.0, 1.0, 0.0], [-2.0, -2.0, np.sqrt(0.5)])
    printed = path_as_printed(problem, LAMBDA_MIN, pairs)
    assert printed.lambdas[0] == pytest.approx(1.0)
    assert printed.margins[0] == {0, 1}
    assert printed.alphas[1][1] > 1.1
    assert printed.first_wrong() == 1
    right = regularization_path(problem, LAMBDA_MIN)
    assert right.complete
    # f_2 falls below 1 again.
    assert right.alphas[1][1] == 1.0


def lost(printed: PrintedPath, t: int) -> frozenset[int]:
    """Return the pairs at the margin outside I_alpha, except those that just left it."""
    return at_the_margin(printed, t) - printed.margins[t] - printed.margins[t - 1]


@pytest.mark.slow
@pytest.mark.parametrize("make", [all_pairs, two_levels, three_reduced_levels])
def test_where_pairs_depend_one_reading_is_wrong_and_the_other_stops(make: Any) -> None:
    """Four pairs i, k > j, l have f_ij - f_il - f_kj + f_kl = 0.

    The fourth reaches the margin with the third.
    """
    paths = {
        pairs: [path_as_printed(make(seed), LAMBDA_MIN, pairs) for seed in range(40)]
        for pairs in READINGS
    }
    assert sum(printed.ending is Ending.SINGULAR for printed in paths["all"]) >= 35
    wrong = [printed for printed in paths["one"] if printed.first_wrong() is not None]
    assert len(wrong) >= 25
    # The algorithm does not notice most of the errors.
    assert sum(printed.ending is Ending.REACHED for printed in wrong) >= 25
    for printed in wrong:
        assert any(lost(printed, t) for t in range(1, printed.first_wrong() or 0))
    for printed in paths["all"]:
        assert printed.first_wrong() is None
        if printed.ending is Ending.SINGULAR:
            margin = sorted(printed.margins[-1])
            assert np.linalg.matrix_rank(printed.problem.rows.matrix.toarray()[margin]) < len(
                margin
            )
        assert regularization_path(printed.problem, LAMBDA_MIN).complete


@either_reading
@pytest.mark.parametrize("scale", [1e-7, 1e5])
def test_units_of_the_features_do_not_matter(scale: float, pairs: Reading) -> None:
    X = np.random.default_rng(3).normal(size=(5, 6))
    here, there = (
        path_as_printed(
            ranking_from_pairs(c * X, [[i, i + 1] for i in range(4)]), LAMBDA_MIN * c**2, pairs
        )
        for c in (1.0, scale)
    )
    assert len(here.lambdas) > 2
    assert there.lambdas == pytest.approx(scale**2 * here.lambdas, rel=1e-9)
    assert there.alphas == pytest.approx(here.alphas, abs=1e-9)


@either_reading
def test_contradicting_pairs_have_no_path(pairs: Reading) -> None:
    printed = path_as_printed(
        ranking_from_pairs([[0.0], [1.0]], [[0, 1], [1, 0]]), LAMBDA_MIN, pairs
    )
    assert (printed.ending, len(printed.lambdas), printed.alphas.shape) == (
        Ending.TRIVIAL,
        0,
        (0, 2),
    )


def test_it_ends_at_its_limits() -> None:
    problem = chain(0)
    whole = path_as_printed(problem, LAMBDA_MIN)
    some = path_as_printed(problem, LAMBDA_MIN, max_events=3)
    assert (some.ending, len(some.lambdas)) == (Ending.LIMIT, 3)
    assert (some.alphas == whole.alphas[:3]).all()
    above = path_as_printed(problem, 2 * whole.lambdas[0])
    assert (above.ending, above.lambdas.tolist(), above.first_wrong()) == (
        Ending.REACHED,
        [2 * whole.lambdas[0]],
        None,
    )


@pytest.mark.parametrize(
    ("problem", "lambda_min", "words"),
    [
        (classification([[0.0], [1.0]], [-1, 1]), 1.0, "for ranking with the hinge"),
        (ranking([[0.0], [1.0]], [0, 1], loss="squared_hinge"), 1.0, "for ranking with the hinge"),
        (ranking(np.zeros((200, 1)), [0, 1] * 100), 1.0, "up to 5,000 pairs, not for 10,000"),
        (chain(0), 0.0, "lambda_min must be positive, not 0"),
    ],
)
def test_what_it_is_not_for_is_said(problem: MarginProblem, lambda_min: float, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        path_as_printed(problem, lambda_min)
