"""LightGBM's recipe for rankings
================================

A usual script for LightGBM's LGBMRanker (sizes of groups, GroupKFold, and a search)
with a MarginRanker in its place, and a comparison of the two.

Run it: ``python examples/rankings/ranking_like_lightgbm.py``. The lines of LightGBM
need ``pip install lightgbm``. LightGBM takes the sizes of the queries, whose rows must
be contiguous. A MarginRanker takes them, too, as `group`, or the query of every row as
`qid`, with rows in any order; folds can be made of `qid` alone. Searches need
scikit-learn's metadata routing, which passes the queries to every fold.

Which of the two ranks better depends on the data: a linear ranker suits a utility that
is a linear function with noise, and trees suit a nonlinear one. The table has one
utility of each kind, with equal folds, and both rankers at their defaults except the
cost of MarginRanker.
"""

from time import process_time

import numpy as np
from sklearn import config_context
from sklearn.datasets import make_friedman1, make_regression
from sklearn.model_selection import GridSearchCV, GroupKFold

from equimargin.estimators import MarginRanker, ranking_scorer
from equimargin.metrics import ndcg


def grouped(queries: int = 40, bent: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw features, relevances 0 to 4, and the sizes of the queries.

    The utility is linear or `bent` (nonlinear); the rows of a query are contiguous.
    """
    group = np.random.default_rng(0).integers(10, 30, queries)
    rows = int(group.sum())
    X, utility = (
        make_friedman1(rows, noise=1.0, random_state=0)
        if bent
        else make_regression(rows, 10, noise=50.0, random_state=0)
    )
    return X, np.digitize(utility, np.quantile(utility, [0.4, 0.7, 0.9, 0.97])), group


def by_hand(X: np.ndarray, y: np.ndarray, qid: np.ndarray) -> float:
    """Return NDCG@10 on five folds of whole queries, fold by fold."""
    scores = []
    for training, held_out in GroupKFold(5).split(X, y, groups=qid):
        ranker = MarginRanker(C=1e-3, loss="squared_hinge")
        ranker.fit(X[training], y[training], group=np.unique(qid[training], return_counts=True)[1])
        scores.append(ndcg(y[held_out], ranker.predict(X[held_out]), qid[held_out], k=10).mean)
    return float(np.mean(scores))


def by_lightgbm(X: np.ndarray, y: np.ndarray, qid: np.ndarray) -> float:
    """Return the score of LightGBM's lambdarank on one thread, by sizes of queries.

    ImportError is raised without LightGBM.
    """
    import lightgbm as lgb

    scores = []
    for training, held_out in GroupKFold(5).split(X, y, groups=qid):
        ranker = lgb.LGBMRanker(objective="lambdarank", n_jobs=1, random_state=0, verbose=-1)
        ranker.fit(X[training], y[training], group=np.unique(qid[training], return_counts=True)[1])
        scores.append(
            ndcg(y[held_out], np.asarray(ranker.predict(X[held_out])), qid[held_out], k=10).mean
        )
    return float(np.mean(scores))


def by_search(X: np.ndarray, y: np.ndarray, qid: np.ndarray) -> GridSearchCV:
    """Search the best cost and loss by NDCG@10, on the folds of `by_hand`."""
    with config_context(
        enable_metadata_routing=True
    ):  # or once for all: sklearn.set_config(enable_metadata_routing=True)
        folds = GroupKFold(5).set_split_request(groups="qid")
        grid = {"C": [1e-4, 1e-3, 1e-2], "loss": ["hinge", "squared_hinge"]}
        return GridSearchCV(
            MarginRanker(), grid, cv=folds, scoring=ranking_scorer("ndcg", k=10)
        ).fit(X, y, qid=qid)


def beside() -> list[str]:
    """Return a line for each ranker and kind of data: NDCG@10 on five folds, CPU seconds.

    CPU seconds are those of the five fits and predictions.
    """
    lines = []
    for bent in (False, True):
        X, y, group = grouped(bent=bent)
        qid = np.repeat(np.arange(len(group)), group)
        for name, way in (("MarginRanker", by_hand), ("LGBMRanker", by_lightgbm)):
            try:
                way(X, y, qid)  # what is compiled or loaded at first is not counted
                begun = process_time()
                score = way(X, y, qid)
            except ImportError:
                lines.append(
                    f"{name:14s} is not here: LightGBM is not installed (pip install lightgbm)"
                )
            else:
                utility, seconds = "bent" if bent else "linear", process_time() - begun
                lines.append(
                    f"{name:14s} on a utility that is {utility:6s}: ndcg@10 {score:.4f}, "
                    f"{seconds:.2f} s of CPU time"
                )
    return lines


def main() -> dict[str, float]:
    """Return the scores of the loop over folds and of the search."""
    X, y, group = grouped()
    qid = np.repeat(np.arange(len(group)), group)
    search, loop = by_search(X, y, qid), by_hand(X, y, qid)
    return {
        "ndcg@10 on five folds, by hand": loop,
        f"ndcg@10 on the same folds, {search.best_params_}": search.best_score_,
    }


if __name__ == "__main__":
    for name, score in main().items():
        print(f"{score:.4f}  {name}")
    print(*beside(), sep="\n")
