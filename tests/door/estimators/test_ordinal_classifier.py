"""OrdinalClassifier: levels in the given order, valid intervals, and messages."""

from __future__ import annotations

import pickle
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_val_score

from equimargin.estimators import OrdinalClassifier
from equimargin.formulations import ordinal
from equimargin.metrics import average_mean_absolute_error
from proven import exact

RNG = np.random.default_rng(3)
X = np.round(RNG.normal(size=(60, 3)), 1)
CODES = np.digitize(X @ np.array([1.0, -1.0, 0.5]) + 0.3 * RNG.normal(size=60), [-1.0, 0.0, 1.0])
WORDS = ["poor", "fair", "good", "fine"]
Y = np.array(WORDS)[CODES]


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_levels_come_in_the_order_that_is_given(loss: Any, kernel: str) -> None:
    model = OrdinalClassifier(10.0, levels=WORDS, loss=loss, kernel=kernel).fit(X, Y)
    assert model.levels_.tolist() == WORDS
    assert model.classes_.tolist() == sorted(WORDS)
    assert (np.diff(model.thresholds_) >= 0).all()
    places = np.searchsorted(model.thresholds_, model.utility(X), side="right")
    assert model.predict(X).tolist() == [WORDS[place] for place in places]
    assert (
        model.classes_[model.decision_function(X).argmax(axis=1)].tolist()
        == model.predict(X).tolist()
    )
    assert model.score(X, Y) > 0.75
    numbers = OrdinalClassifier(10.0, loss=loss, kernel=kernel).fit(X, CODES)
    assert numbers.predict(X).tolist() == places.tolist()


def test_words_without_an_order_are_sorted_with_a_warning() -> None:
    with pytest.warns(UserWarning, match=r"'fair', .* no order of their own; .* levels=\[\.\.\.\]"):
        assert OrdinalClassifier().fit(X, Y).levels_.tolist() == sorted(WORDS)


class OrderedLabels(list[str]):
    """Labels with the dtype of an ordered Categorical of pandas."""

    dtype = SimpleNamespace(ordered=True, categories=WORDS)


def test_levels_have_the_order_of_an_ordered_categorical() -> None:
    assert OrdinalClassifier().fit(X, OrderedLabels(Y)).levels_.tolist() == WORDS


def test_of_two_levels_the_sign_is_that_of_the_second_class() -> None:
    labels = np.where(CODES > 1, "high", "low")
    model = OrdinalClassifier(levels=["low", "high"]).fit(X, labels)
    assert model.classes_.tolist() == ["high", "low"]
    assert ((model.decision_function(X) > 0) == (model.predict(X) == "low")).all()


def test_the_bounds_have_the_exact_optimum_between_them_and_stay_in_a_pickle() -> None:
    model = OrdinalClassifier(2.0, levels=WORDS).fit(X, Y)
    due = exact(ordinal(X, CODES, 2.0, loss="squared_hinge"))
    lower, upper = model.objective_bounds_
    assert lower <= due <= upper
    assert upper - lower < 1e-7 * upper
    again = pickle.loads(pickle.dumps(model))
    assert again.objective_bounds_ == (lower, upper)
    assert again.predict(X).tolist() == model.predict(X).tolist()
    with pytest.raises(AttributeError, match="excluded from a pickled"):
        _ = again.dual_
    assert np.abs(model.dual_.sum(axis=0)).max() < 1e-9


def test_a_gram_matrix_is_the_kernel_that_it_holds() -> None:
    K = rbf_kernel(X, gamma=0.5)
    weights = np.where(np.arange(60) < 50, 1.0, 0.0)
    given = OrdinalClassifier(kernel="precomputed", loss="hinge").fit(K, CODES, weights)
    direct = OrdinalClassifier(kernel="rbf", gamma=0.5, loss="hinge").fit(X, CODES, weights)
    np.testing.assert_allclose(given.utility(K), direct.utility(X), atol=1e-3)
    assert given.objective_bounds_[1] == pytest.approx(direct.objective_bounds_[1], rel=1e-7)


def test_a_level_without_weight_keeps_its_place() -> None:
    with pytest.warns(UserWarning, match="no training row of positive weight has the level 3:"):
        model = OrdinalClassifier().fit(X, CODES, (CODES != 3).astype(float))
    assert len(model.thresholds_) == 3
    assert model.decision_function(X).shape == (60, 4)


@pytest.mark.parametrize("absent", WORDS)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_levels_that_a_fold_lacks_keep_their_place(absent: str, loss: Any) -> None:
    """The lowest and highest level keep it too; no row needs a threshold beyond them."""
    fold = absent != Y
    with pytest.warns(UserWarning, match=f"has the level '{absent}': .* leave it out of levels"):
        model = OrdinalClassifier(10.0, levels=WORDS, loss=loss).fit(X[fold], Y[fold])
    assert (model.levels_.tolist(), model.classes_.tolist()) == (WORDS, sorted(WORDS))
    assert model.decision_function(X).shape == (60, 4)
    without = OrdinalClassifier(
        10.0, levels=[word for word in WORDS if word != absent], loss=loss
    ).fit(X[fold], Y[fold])
    assert (model.predict(X[fold]) == without.predict(X[fold])).mean() > 0.95
    error = make_scorer(average_mean_absolute_error, greater_is_better=False, levels=WORDS)
    with pytest.warns(UserWarning, match="no training row"):
        scores = cross_val_score(
            OrdinalClassifier(levels=WORDS, loss=loss),
            X,
            Y,
            cv=[(np.flatnonzero(fold), np.flatnonzero(~fold))],
            scoring=error,
        )
    assert -3 <= scores[0] < 0  # the level was never seen, and each row is 1 to 3 steps off


def test_levels_with_one_twice_are_refused() -> None:
    with pytest.raises(ValueError, match="levels must name every label of y once"):
        OrdinalClassifier(levels=[*WORDS, "poor"]).fit(X, Y)


def test_predict_on_a_threshold_takes_the_higher_level() -> None:
    model = OrdinalClassifier(10.0, levels=WORDS).fit(X, Y)
    model.thresholds_ = np.sort(model.utility(X[:3]))
    assert sorted(
        np.searchsorted(model.thresholds_, model.utility(X[:3]), side="right").tolist()
    ) == [1, 2, 3]
    highest = int(np.argmax(model.utility(X[:3])))
    assert model.predict(X[:3])[highest] == WORDS[3]


@pytest.mark.parametrize("scale", [1e20, 1e100, 1e153])
def test_features_that_double_precision_does_not_resolve_are_told_so(scale: float) -> None:
    """A warning of numpy would be an error here."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=60), [-0.5, 0.5])
    with pytest.warns(ConvergenceWarning, match="the relative gap is"):
        fitted = OrdinalClassifier().fit(scale * X, y)
    assert fitted.status_ == "numerical_failure"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"levels": ["poor", "fair", "good"]},
            "levels must name every label of y once, the lowest first: 'fair', 'fine', "
            "'good', 'poor'",
        ),
        ({"C": np.inf}, "C must be a positive finite number, not inf"),
        ({"loss": "logistic"}, "loss"),
        (
            {"kernel": "sigmoid"},
            "kernel must be positive semidefinite for an ordinal regression, and the "
            "sigmoid kernel is not",
        ),
    ],
)
def test_what_makes_no_such_problem_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        OrdinalClassifier(**{"levels": WORDS, **given}).fit(X, Y)
    with pytest.raises(ValueError, match="X is too large for float64 at row 0"):
        OrdinalClassifier(levels=WORDS).fit(1e160 * X, Y)
    with pytest.raises(ValueError, match="the precomputed kernel is not"):
        OrdinalClassifier(kernel="precomputed").fit(np.array([[0.0, 1.0], [1.0, 0.0]]), [0, 1])


def test_a_run_that_ends_early_warns_and_keeps_its_best_point() -> None:
    with pytest.warns(ConvergenceWarning, match="The iteration limit ended the run"):
        model = OrdinalClassifier(100.0, kernel="rbf", max_iter=3).fit(X, CODES)
    assert model.status_ == "iteration_limit"
    assert model.objective_bounds_[0] <= model.objective_bounds_[1]


def test_warm_start_begins_at_the_last_multipliers() -> None:
    model = OrdinalClassifier(kernel="rbf", warm_start=True).fit(X, CODES)
    assert model.n_iter_ > 0
    assert model.fit(X, CODES).n_iter_ == 0
    again = OrdinalClassifier(kernel="rbf").fit(X, CODES)
    assert again.fit(X, CODES).n_iter_ > 0
    assert model.fit(X[:50], CODES[:50]).n_iter_ > 0


def test_amae_is_the_mean_of_the_mean_absolute_errors_of_the_levels() -> None:
    rng = np.random.default_rng(0)
    y, h = rng.integers(0, 5, 40), rng.integers(0, 5, 40)
    y[y == 2] = 1  # no row of y has level 2, and the mean is over the four others
    wanted = np.mean([mean_absolute_error(y[y == k], h[y == k]) for k in (0, 1, 3, 4)])
    names = np.array(list("edcba"))
    assert average_mean_absolute_error(y, h) == pytest.approx(wanted, abs=1e-15)
    assert average_mean_absolute_error(names[y], names[h], list("edcba")) == pytest.approx(wanted)
    # Always the most frequent level: the error of a row is 0.1, and AMAE 0.5.
    assert average_mean_absolute_error([0] * 9 + [1], [0] * 10) == 0.5
    # Numbers are distances, places are steps.
    assert average_mean_absolute_error([1, 10], [10, 10]) == 4.5
    assert average_mean_absolute_error(np.array([1, 10], dtype=object), [10, 10]) == 4.5
    assert average_mean_absolute_error([1, 10], [10, 10], [1, 10]) == 0.5


@pytest.mark.parametrize(
    ("y", "predicted", "levels", "message"),
    [
        (["a"], ["b"], ["a", "c"], "predicted holds the label 'b', which is none of the levels"),
        (["a"], ["a"], None, "predicted holds the label 'a', which is no number; pass levels"),
        ([], [], None, "y is empty"),
        ([0, 1], [0], None, "predicted must have one entry for each of the 2 rows"),
        ([0], [0], [0, 1, 0], "levels must name every level once"),
        ([np.nan], [0], None, "y holds NaN"),
    ],
)
def test_amae_of_other_labels_is_a_sentence(
    y: Any, predicted: Any, levels: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        average_mean_absolute_error(y, predicted, levels)
