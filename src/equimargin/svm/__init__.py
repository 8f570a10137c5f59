"""Support vector machines under scikit-learn's names, with proven bounds of the optimum.

Signatures, defaults, attributes and shapes are those of `sklearn.svm`:

>>> from sklearn.datasets import load_iris
>>> X, y = load_iris(return_X_y=True)
>>> classifier = SVC().fit(X, y)
>>> classifier.dual_coef_.shape[0], len(classifier.n_support_)
(2, 3)
>>> lower, upper = classifier.objective_bounds_
>>> (upper - lower) / upper < 1e-6
True
"""

from equimargin.svm.classifier import SVC
from equimargin.svm.linear_classifier import LinearSVC
from equimargin.svm.linear_regressor import LinearSVR
from equimargin.svm.nu import NuSVC, NuSVR, OneClassSVM
from equimargin.svm.regressor import SVR

__all__ = ["SVC", "SVR", "LinearSVC", "LinearSVR", "NuSVC", "NuSVR", "OneClassSVM"]
