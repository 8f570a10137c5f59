"""A ranking learned from clicks
================================

A Ranking SVM learns from clicks in three steps: features of a query and a document,
differences of the pairs that clicks prefer, and a support vector machine on these
differences.

Run it: ``python examples/rankings/ranking_from_clicks.py``. A query has two features, a
document four. The utility of a document depends on the query: the weights of its
features are an affine function of the query's features. A linear function of both sets
of columns cannot express this, because a column of the query, equal for all documents
of a list, cancels in every pair. Products of the columns can.

The encyclopedia page on Ranking SVM says that the third step is done by "the regular
SVM solver". It can be: scikit-learn's LinearSVC without an intercept, fitted to the
differences, attains the proven optimum of the ranking.
"""

import numpy as np
from sklearn.svm import LinearSVC

from equimargin.data import preferences
from equimargin.data.pairs.clicks import Preferences
from equimargin.estimators import MarginRanker, QueryDocumentFeatures
from equimargin.metrics import kendall_tau

QUERY, LISTS, SHOWN = [0, 1], 60, 10


def lists(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw documents (n, 6), their utilities (n,), and the query of each row (n,)."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(LISTS), SHOWN)
    queries, documents = rng.normal(size=(LISTS, 2))[qid], rng.normal(size=(len(qid), 4))
    weights = np.array([1.0, -1.0, 0.0, 0.5]) + queries @ np.array(
        [[0.0, 1.5, 1.0, 0.0], [1.0, 0.0, -1.5, 0.0]]
    )
    return np.hstack([queries, documents]), (weights * documents).sum(axis=1), qid


def clicked(wanted: np.ndarray, qid: np.ndarray, rng: np.random.Generator) -> Preferences:
    """Draw clicks on lists in random order: on some of the three best documents."""
    told = []
    for query in np.unique(qid):
        shown = rng.permutation(np.flatnonzero(qid == query))
        best = shown[np.argsort(-wanted[shown])[:3]]
        told.append(preferences(shown.tolist(), best[rng.random(3) < 0.8].tolist()))
    return sum(told[1:], told[0])


def main() -> dict[str, float]:
    """Return Kendall's tau on new lists, and the excess of LinearSVC over the optimum.

    tau is that with the columns of query and document, and with their products, too.
    """
    X, wanted, qid = lists(0)
    new, right, of = lists(1)
    clicks = clicked(wanted, qid, np.random.default_rng(2))
    found = {}
    for name, phi in (
        ("side by side", QueryDocumentFeatures()),
        ("with products", QueryDocumentFeatures(QUERY)),
    ):
        Phi = phi.fit_transform(X)  # the first step
        ranker = MarginRanker(C=1.0).fit_preferences(Phi, clicks)  # the second and the third
        found[name] = kendall_tau(right, ranker.predict(phi.transform(new)), of).mean

    sign = np.where(np.arange(len(clicks.pairs)) % 2, 1.0, -1.0)  # a classifier wants two classes
    differences = Phi[clicks.pairs[:, 0]] - Phi[clicks.pairs[:, 1]]
    regular = LinearSVC(C=1.0, loss="hinge", fit_intercept=False, tol=1e-9, max_iter=10**6)
    w = regular.fit(sign[:, None] * differences, sign, sample_weight=clicks.weight).coef_[0]
    objective = w @ w / 2 + clicks.weight @ np.maximum(0, 1 - differences @ w)
    lower, upper = ranker.objective_bounds_
    found["excess of LinearSVC"] = float(objective - lower) / upper

    first = np.flatnonzero(
        of == 0
    )  # the retrieval function of a new query: its documents in their order
    order = first[np.argsort(-ranker.predict(phi.transform(new[first])))]
    found["place of the best document of the first new list"] = 1.0 + order.tolist().index(
        first[right[first].argmax()]
    )
    return found


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{value:10.3g}  {name}")
