"""Distance of scikit-learn's models from the optimum
====================================================

Proven distance above the optimum of scikit-learn's SVC, SVR and LinearSVC at their
default tolerances.

Run it: ``python examples/questions/audit_scikit_learn.py``. `tol` is the tolerance of
each estimator: LIBSVM stops when the violation of the Karush-Kuhn-Tucker conditions is
below it, LIBLINEAR when projected gradients are. Neither is a distance from the
optimum. For SVC, targets above their mean are one class, and the others the second; for
SVR, classes are used as targets.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR, LinearSVC

from equimargin.proofs import audit

DATA: dict[str, Callable[[], Any]] = {
    "breast_cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
    "iris": lambda: datasets.load_iris(return_X_y=True),
    "wine": lambda: datasets.load_wine(return_X_y=True),
    "digits": lambda: datasets.load_digits(return_X_y=True),
    "diabetes": lambda: datasets.load_diabetes(return_X_y=True),
    "moons": lambda: datasets.make_moons(400, noise=0.3, random_state=0),
    "circles": lambda: datasets.make_circles(400, noise=0.2, factor=0.5, random_state=0),
    "blobs": lambda: datasets.make_blobs(400, centers=2, cluster_std=4.0, random_state=0),
    "classification": lambda: datasets.make_classification(400, 20, flip_y=0.1, random_state=0),
    "gaussian_quantiles": lambda: datasets.make_gaussian_quantiles(
        n_samples=400, n_classes=2, random_state=0
    ),
    "friedman1": lambda: datasets.make_friedman1(400, noise=1.0, random_state=0),
    "regression": lambda: datasets.make_regression(400, 10, noise=10.0, random_state=0),
}


def main() -> None:
    """Print the tolerance and the proven excess over the optimum of every model."""
    print(
        f"{'data':20s} {'estimator':10s} {'tol':>7s} "
        f"{'excess over the optimum, relative':>36s} {'by its own multipliers':>24s}"
    )
    for name, make in DATA.items():
        X, y = make()
        X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12)
        classes = np.where(y > y.mean(), 1, -1)
        for estimator, labels in (
            (SVC(), classes),
            (SVR(), y.astype(float)),
            (LinearSVC(random_state=0), classes),
        ):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                found = audit(estimator.fit(X, labels), X, labels, tol=1e-10)
            least, most = found.relative_excess
            own = (
                f"{found.own_relative_excess:.1e}"
                if np.isfinite(found.own.lower)
                else "it has none"
            )
            print(
                f"{name:20s} {found.source:10s} {estimator.tol:7.0e} "
                f"{f'{least:.2e} to {most:.2e}':>36s} {own:>24s}"
            )


if __name__ == "__main__":
    main()
