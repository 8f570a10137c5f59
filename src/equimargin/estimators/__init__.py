"""Margin problems as scikit-learn estimators with proven bounds of the optimum.

>>> from sklearn.datasets import load_iris
>>> X, y = load_iris(return_X_y=True)
>>> classifier = MarginClassifier(C=10.0, kernel="rbf").fit(X, y)
>>> round(classifier.score(X, y), 2), classifier.status_
(0.99, 'optimal')
>>> lower, upper = classifier.objective_bounds_
>>> (upper - lower) / upper < 1e-6
True

`import equimargin` loads neither this package nor scikit-learn.
"""

from equimargin.estimators.classifier import MarginClassifier
from equimargin.estimators.libsvm_files import write_liblinear_model, write_libsvm_model
from equimargin.estimators.ordinal import OrdinalClassifier
from equimargin.estimators.pairwise_coupling import PairwiseCoupling
from equimargin.estimators.path_cv import (
    MarginClassifierPathCV,
    MarginRankerPathCV,
    MarginRegressorPathCV,
)
from equimargin.estimators.queries import QueryDocumentFeatures
from equimargin.estimators.ranker import MarginRanker, OneNormRanker
from equimargin.estimators.regressor import MarginRegressor
from equimargin.estimators.scorers import RankingScorer, ranking_scorer

__all__ = [
    "MarginClassifier",
    "MarginClassifierPathCV",
    "MarginRanker",
    "MarginRankerPathCV",
    "MarginRegressor",
    "MarginRegressorPathCV",
    "OneNormRanker",
    "OrdinalClassifier",
    "PairwiseCoupling",
    "QueryDocumentFeatures",
    "RankingScorer",
    "ranking_scorer",
    "write_liblinear_model",
    "write_libsvm_model",
]
