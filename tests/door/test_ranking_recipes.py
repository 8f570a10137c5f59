"""The recipes of other packages for rankings run with our ranker, and what they find is what it finds without them."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import pytest

from places import ROOT


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_recipe_of_xgboost_runs() -> None:
    scores = example("ranking_like_xgboost").main()
    assert len(scores) in (2, 5)  # the others need pandas
    assert all(0.75 < score < 1 for score in scores.values())


def test_the_recipe_of_lightgbm_runs_and_its_search_is_its_loop() -> None:
    module = example("ranking_like_lightgbm")
    X, y, group = module.grouped()
    qid = module.np.repeat(module.np.arange(len(group)), group)
    search = module.by_search(X, y, qid)
    same = [tried == {"C": 1e-3, "loss": "squared_hinge"} for tried in search.cv_results_["params"]].index(True)
    assert module.by_hand(X, y, qid) == pytest.approx(search.cv_results_["mean_test_score"][same], abs=1e-12)
    assert search.best_score_ >= search.cv_results_["mean_test_score"][same] > 0.75
