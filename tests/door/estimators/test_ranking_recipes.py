"""Ranking recipes of other packages, run with equimargin's ranker.

The results are those of the ranker without the recipe.
"""

from __future__ import annotations

import importlib.util
import sys

import pytest
from sklearn import config_context
from sklearn.model_selection import GridSearchCV, GroupKFold

from equimargin.data import load
from equimargin.estimators import MarginRanker, ranking_scorer
from places import example
from public_data import SHARED, needs_data


def test_the_recipe_of_xgboost_runs() -> None:
    scores = example("ranking_like_xgboost").main()
    assert len(scores) in (2, 5)  # the others need pandas
    assert all(0.75 < score < 1 for score in scores.values())


def test_the_recipe_of_lightgbm_runs_and_its_search_is_its_loop() -> None:
    module = example("ranking_like_lightgbm")
    X, y, group = module.grouped()
    qid = module.np.repeat(module.np.arange(len(group)), group)
    search = module.by_search(X, y, qid)
    same = [
        tried == {"C": 1e-3, "loss": "squared_hinge"} for tried in search.cv_results_["params"]
    ].index(True)
    assert module.by_hand(X, y, qid) == pytest.approx(
        search.cv_results_["mean_test_score"][same], abs=1e-12
    )
    assert search.best_score_ >= search.cv_results_["mean_test_score"][same] > 0.75


def test_lightgbm_stands_beside_or_is_said_to_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    module = example("ranking_like_lightgbm")
    if importlib.util.find_spec("lightgbm") is not None:
        assert all("ndcg@10 0.9" in line for line in module.beside())
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    ours, missing = module.beside()[2:]
    # Versions of scikit-learn make other folds of queries of equal size: .89 to .90 here.
    assert "MarginRanker   on a utility that is bent  : ndcg@10 0." in ours
    assert float(ours.partition("ndcg@10 ")[2].partition(",")[0]) > 0.89
    assert missing.startswith("LGBMRanker     is not here: LightGBM is not installed")


@needs_data("mq2008/S1.txt")
def test_a_search_over_a_part_of_mq2008_is_one_of_a_benchmark() -> None:
    """The benchmark `search` times a search over all five parts."""
    data = load(SHARED / "mq2008" / "S1.txt")
    with config_context(enable_metadata_routing=True):
        folds = GroupKFold(3).set_split_request(groups="qid")
        search = GridSearchCV(
            MarginRanker(),
            {"C": [1e-3, 1e-1]},
            cv=folds,
            scoring=ranking_scorer("mean_ndcg"),
            error_score="raise",
        )
        search.fit(data.X, data.y, qid=data.qid)
    assert search.best_estimator_.n_queries_ == 157
    assert search.best_score_ > 0.42
    assert search.best_estimator_.duality_gap_ <= 1e-8
