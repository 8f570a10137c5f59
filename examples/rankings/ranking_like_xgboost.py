"""XGBoost's recipe for rankings
===============================

XGBoost's tutorial on learning to rank, with a MarginRanker in place of its XGBRanker.

Run it: ``python examples/rankings/ranking_like_xgboost.py``. As in the tutorial, `fit`
takes the queries as `qid`, or as a column "qid" of a pandas data frame, which
scikit-learn's cross-validation can split without further arguments.
"""

import numpy as np
from sklearn.datasets import make_regression
from sklearn.model_selection import StratifiedGroupKFold, cross_val_score

from equimargin.estimators import MarginRanker, ranking_scorer


def ranked(queries: int = 40, documents: int = 25) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw features, relevances 0 to 4 and queries."""
    X, utility = make_regression(queries * documents, 10, noise=50.0, random_state=0)
    levels = np.quantile(utility, [0.4, 0.7, 0.9, 0.97])
    return X, np.digitize(utility, levels), np.repeat(np.arange(queries), documents)


def main() -> dict[str, float]:
    """Return the scores of all fits, in the order of the tutorial."""
    X, y, qid = ranked()
    training = qid < 30
    ranker = MarginRanker(C=1e-3, loss="squared_hinge")  # xgb.XGBRanker(objective="rank:pairwise")
    ranker.fit(X[training], y[training], qid=qid[training])
    scores = {
        "pairwise accuracy on ten new queries": ranker.score(
            X[~training], y[~training], qid=qid[~training]
        )
    }
    scores["ndcg@10 on ten new queries"] = ranking_scorer("ndcg", k=10)(
        ranker, X[~training], y[~training], qid=qid[~training]
    )
    try:
        import pandas as pd
    except ImportError:
        return scores
    df = pd.DataFrame(X, columns=[str(i) for i in range(X.shape[1])])
    df["qid"] = qid
    ranker.fit(df, y)  # no need to pass qid as a separate argument
    scores["pairwise accuracy in training"] = ranker.score(df, y)
    folds = StratifiedGroupKFold(shuffle=False)
    scores["pairwise accuracy on five folds"] = float(
        np.mean(cross_val_score(ranker, df, y, cv=folds, groups=df.qid))
    )
    scores["ndcg@10 on five folds"] = float(
        np.mean(
            cross_val_score(
                ranker, df, y, cv=folds, groups=df.qid, scoring=ranking_scorer("ndcg", k=10)
            )
        )
    )
    return scores


if __name__ == "__main__":
    for name, score in main().items():
        print(f"{score:.4f}  {name}")
