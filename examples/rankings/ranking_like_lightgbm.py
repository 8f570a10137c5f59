"""LightGBM's recipe for rankings
================================

LightGBM's recipe for rankings, with a MarginRanker in place of its LGBMRanker: sizes of groups, GroupKFold, and a search.

Run it: ``python examples/rankings/ranking_like_lightgbm.py``.
LightGBM takes the sizes of the queries, whose rows follow each other; a MarginRanker
takes the query of every row, which `np.repeat` makes of the sizes, and the rows may come in any order. Searches need scikit-learn's
metadata routing, which hands every fold its queries.
"""

import numpy as np
from sklearn import config_context
from sklearn.datasets import make_regression
from sklearn.model_selection import GridSearchCV, GroupKFold

from equimargin.estimators import MarginRanker, ranking_scorer
from equimargin.metrics import ndcg


def grouped(queries: int = 40) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, relevances 0 to 4, and the sizes of the queries, whose rows follow each other."""
    group = np.random.default_rng(0).integers(10, 30, queries)
    X, utility = make_regression(int(group.sum()), 10, noise=50.0, random_state=0)
    return X, np.digitize(utility, np.quantile(utility, [0.4, 0.7, 0.9, 0.97])), group


def by_hand(X: np.ndarray, y: np.ndarray, qid: np.ndarray) -> float:
    """NDCG@10 on five folds of whole queries, fold by fold."""
    scores = []
    for training, held_out in GroupKFold(5).split(X, y, groups=qid):
        ranker = MarginRanker(C=1e-3, loss="squared_hinge")  # lgb.LGBMRanker(objective="lambdarank")
        ranker.fit(X[training], y[training], qid=qid[training])  # ranker.fit(X[training], y[training], group=...)
        scores.append(ndcg(y[held_out], ranker.predict(X[held_out]), qid[held_out], k=10).mean)
    return float(np.mean(scores))


def by_search(X: np.ndarray, y: np.ndarray, qid: np.ndarray) -> GridSearchCV:
    """The best cost and loss by NDCG@10 on the same folds."""
    with config_context(enable_metadata_routing=True):  # or once for all: sklearn.set_config(enable_metadata_routing=True)
        folds = GroupKFold(5).set_split_request(groups="qid")
        grid = {"C": [1e-4, 1e-3, 1e-2], "loss": ["hinge", "squared_hinge"]}
        return GridSearchCV(MarginRanker(), grid, cv=folds, scoring=ranking_scorer("ndcg", k=10)).fit(X, y, qid=qid)


def main() -> dict[str, float]:
    """Both scores."""
    X, y, group = grouped()
    qid = np.repeat(np.arange(len(group)), group)
    search, loop = by_search(X, y, qid), by_hand(X, y, qid)
    return {"ndcg@10 on five folds, by hand": loop, f"ndcg@10 on the same folds, {search.best_params_}": search.best_score_}


if __name__ == "__main__":
    for name, score in main().items():
        print(f"{score:.4f}  {name}")
