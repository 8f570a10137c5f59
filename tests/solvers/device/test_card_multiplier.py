"""Products with proven bounds on a card, against ball arithmetic.

The kernel runs as C++: its operations are those of IEEE 754, so that a card computes
the same bits. With a card the same checks run there (`make check-device`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from emulated.arrays import StrictCard
from emulated.kernels import needs_a_compiler
from equimargin.formulations import classification, interval, rbf
from equimargin.formulations.kernels.gram import Gram
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.rounding import UNIT
from equimargin.solvers import solve
from equimargin.solvers.device import multiplier
from equimargin.solvers.device.card import Card
from equimargin.solvers.device.multiplier import CardMultiplier, error_bound, proved_products

ON_BOTH = [
    pytest.param("emulated", marks=needs_a_compiler),
    pytest.param("cuda", marks=pytest.mark.device),
]
"""Cards of the tests."""
RNG = np.random.default_rng(3)


@pytest.fixture
def card(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a card, or the one whose kernels run as C++."""
    if request.param == "cuda":
        return Card("cuda")
    return StrictCard(tmp_path_factory.mktemp("kernels"))


def exact(x: float) -> fmpq:
    """Return a float as a fraction."""
    return fmpq(*float(x).as_integer_ratio())


def exact_product(gamma: float, X: Array, support: Any, v: Array) -> list[Any]:
    """Return K v as balls of 400 bits."""
    points, product = [[exact(t) for t in x] for x in X], []
    for x in points:
        total = arb(0)
        for j, factor in zip(support, v, strict=True):
            square = sum(((a - b) ** 2 for a, b in zip(x, points[j], strict=True)), fmpq(0))
            total += arb(exact(factor)) * (-arb(exact(gamma) * square)).exp()
        product.append(total)
    return product


@pytest.fixture(autouse=True)
def _wide_balls() -> Any:
    """Use 400 bits in balls."""
    before, ctx.prec = ctx.prec, 400
    yield
    ctx.prec = before


@pytest.mark.parametrize("card", ON_BOTH, indirect=True)
def test_exponential_is_within_four_units(card: Any) -> None:
    halves = (np.arange(1, 300) + 0.5) * np.log(2)
    t = np.concatenate(
        [RNG.uniform(0, 1, 500), RNG.uniform(0, 60, 500), RNG.uniform(0, 700, 500), halves, [0.0]]
    )
    # One feature and one coefficient, at the origin: f = exp(-x^2), and x^2 is known.
    X = np.concatenate([[0.0], np.sqrt(t)])[:, None]
    F, _ = proved_products(card, rbf(1.0), X, np.array([0]), np.ones((1, 1)))
    worst = 0.0
    for x, f in zip(X[:, 0], F[0], strict=True):
        truth = (-arb(exact(x * x))).exp()
        worst = max(worst, float(abs(arb(exact(f)) / truth - 1)))
    assert worst <= 4 * UNIT


@pytest.mark.parametrize("card", ON_BOTH, indirect=True)
@pytest.mark.parametrize("gamma", [1e-3, 0.3, 40.0])
@pytest.mark.parametrize(("m", "n", "d"), [(3, 1, 1), (70, 65, 2), (20, 20, 33)])
def test_products_are_within_their_bound(m: int, n: int, d: int, gamma: float, card: Any) -> None:
    X, V = RNG.normal(size=(m, d)) + 5.0, RNG.normal(size=(2, n)) * [[1.0], [1e6]]
    support = RNG.permutation(m)[:n]
    F, errors = proved_products(card, rbf(gamma), X, support, V)
    for f, error, v in zip(F, errors, V, strict=True):
        assert error.max() <= 1e-14 * (d + 60) * np.abs(v).sum()
        truths = exact_product(gamma, X, support, v)
        for computed, truth, bound in zip(f, truths, error, strict=True):
            assert abs(arb(exact(computed)) - truth) <= arb(exact(bound))


@pytest.mark.parametrize("card", ON_BOTH, indirect=True)
def test_far_points_have_a_product_of_zero(card: Any) -> None:
    X = np.array([[0.0], [1e150]])
    F, errors = proved_products(card, rbf(1.0), X, np.array([0]), np.ones((1, 1)))
    assert F.tolist() == [[1.0, 0.0]]
    assert (errors > 0).all()


def test_bound_grows_with_every_argument() -> None:
    size = np.array([[2.0]])
    base = error_bound(3, size, 20, 10)
    assert base < error_bound(4, size, 20, 10)
    assert base < error_bound(3, 2 * size, 20, 10)
    assert base < error_bound(3, size, 21, 10)
    assert base <= error_bound(3, size, 20, 10_000)
    assert base >= 2.0 * UNIT * (0.37 * 7 + 4.1 + 21)


@pytest.mark.parametrize(
    ("gamma", "size"), [(1e151, 1.0), (1e-151, 1.0), (1.0, 1e154), (1.0, np.inf), (1.0, 0.0)]
)
def test_products_without_a_bound_are_left_to_the_processor(
    gamma: float, size: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(multiplier, "Card", lambda device: pytest.fail("a card was used"))
    X = np.full((3, 2), size)
    assert CardMultiplier("cuda")(rbf(gamma), X, np.array([0]), np.ones((1, 1))) is None


def test_missing_card_leaves_the_proof_to_the_processor() -> None:
    X = RNG.normal(size=(30, 2))
    v = RNG.normal(size=30)
    gram = Gram(rbf(0.5), X, multiplier=CardMultiplier("cuda:999"))
    f, error = gram.product(v)
    assert np.abs(f - Gram(rbf(0.5), X) @ v).max() <= 1e-14 * np.abs(v).sum()
    assert np.isfinite(error).all()


@needs_a_compiler
def test_interval_of_a_card_is_that_of_the_processor(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    X = RNG.normal(size=(90, 4))
    problem = classification(X, np.where(X[:, 0] > X[:, 1] ** 2, 1.0, -1.0), 2.0, rbf(0.3))
    solution, asked = solve(problem, tol=1e-9), []

    def found(device: str) -> StrictCard:
        asked.append(device)
        return StrictCard(tmp_path)

    monkeypatch.setattr(multiplier, "Card", found)
    problem.gram.__dict__.pop("dense", None)
    problem.gram.multiplier = CardMultiplier("cuda:3")
    proven, expected = interval(problem, solution.point), solution.interval
    assert "cuda:3" in asked
    assert proven.lower == pytest.approx(expected.lower, rel=1e-10)
    assert proven.upper == pytest.approx(expected.upper, rel=1e-10)
    assert max(proven.lower, expected.lower) <= min(proven.upper, expected.upper)
