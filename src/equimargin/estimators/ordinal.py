"""Ordinal classification: one function of a point, and thresholds that cut its values into levels."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets

from equimargin.estimators.base import MarginEstimator, row_weights
from equimargin.estimators.fitted import Functions, Proof
from equimargin.formulations import Kernel
from equimargin.formulations.kernels.gram import proven_shift
from equimargin.formulations.numeric.arguments import choice, number, shown
from equimargin.formulations.numeric.arrays import Array, Features
from equimargin.formulations.problem.choices import LOSSES, Loss
from equimargin.formulations.problem.labels import Index
from equimargin.formulations.problem.limits import kernel_within_float64, largest_entry
from equimargin.solvers.ordinal.machine import Machine, OrdinalFit
from equimargin.solvers.ordinal.newton import newton
from equimargin.solvers.ordinal.smo import smo
from equimargin.solvers.solution import Status, checked

RESOLVED_COST = 1e20
"""C k(x, x), the largest of a machine, from which on double precision has little left of f: a run that ended early says how to change X."""
MOST_FEATURES = 2000
"""Features up to which Newton's method takes a linear kernel: its Hessian has a row and a column for each."""


class OrdinalClassifier(ClassifierMixin, MarginEstimator):
    """Classification into levels that have an order: f(x) with thresholds b_0 <= ... <= b_{L-2} between the levels 0, ..., L - 1.

        min over f, b    1/2 |f|^2 + C sum_i weight_i sum_k loss(1 - s_ik (f(x_i) - b_k)),    s_ik = 1 if the level of i is above k, else -1

    Nothing asks for the order of the thresholds; optimal ones have it. Level k is predicted where b_{k-1} <= f(x) < b_k.

    Parameters
    ----------
    C, kernel, degree, gamma, coef0, tol, max_iter, time_limit : as in `MarginClassifier`; the kernel must be positive semidefinite.
    levels : the labels from the lowest to the highest; None takes them in ascending order, as numbers have it and words seldom do.
        A label that the training data lack, as those of a fold may, keeps its place and its column.
    loss : "squared_hinge" or "hinge". Newton's method takes both with a linear kernel, and is fastest with squares.

    Attributes
    ----------
    classes_ : (L,) the labels, sorted as scikit-learn sorts them.  levels_ : (L,) the labels from the lowest to the highest.
    thresholds_ : (L - 1,) b, in the order of the levels.
    coef_ : (d,) w of a linear kernel.  dual_coef_ : (s,) coefficients of any other kernel.  support_, support_vectors_ : of them.
    objective_bounds_ : (lower, upper), proven bounds of the optimum.  duality_gap_ : primal minus dual in float64, relative as `tol` is.
    dual_ : (m, L - 1) signed multipliers s_ik a_ik; a pickle leaves them out.  n_iter_, status_ : as in `MarginClassifier`.
    n_features_in_, feature_names_in_ : as in scikit-learn.

    Source: W. Chu, S. S. Keerthi, New approaches to support vector ordinal regression, ICML (2005), section 3.
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        levels: Sequence[Any] | None = None,
        kernel: str | Kernel = "linear",
        degree: int = 3,
        gamma: str | float = "scale",
        coef0: float = 0.0,
        loss: Loss = "squared_hinge",
        tol: float = 1e-8,
        max_iter: int | None = None,
        time_limit: float | None = None,
    ) -> None:
        self.C = C
        self.levels = levels
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.loss = loss
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # of classes without an order, such as clusters
        return tags

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Solve the problem of all thresholds together.

        Parameters
        ----------
        X : (m, d) features, dense, sparse or a table, or the (m, m) Gram matrix.  y : (m,) labels.
        sample_weight : (m,) factors of C, at least 0: a weight of 2 is the same as two copies of the row.

        Returns
        -------
        The estimator itself.

        Raises
        ------
        ValueError : data or parameters that make no such problem, in a sentence that names them.

        Warns
        -----
        ConvergenceWarning : the solver stopped before it reached `tol`; its best point is kept.
        """
        X, y = self._checked(X, y)
        check_classification_targets(y)
        self.levels_ = self._ordered(np.unique(y))
        self.classes_ = np.unique(self.levels_)
        weights = row_weights(sample_weight, X)
        cost = number(self.C, "C", "a positive finite number", lambda c: 0 < c < np.inf) * (np.ones(len(y)) if weights is None else weights)
        rows = np.flatnonzero(cost)
        if len(np.unique(y[rows])) < 2:
            found = f"all rows of positive weight are of one class, {shown(y[rows[0]])}" if len(rows) else "no row has a positive weight"
            raise ValueError(f"OrdinalClassifier needs two classes, but {found}")
        place = {label: at for at, label in enumerate(self.levels_.tolist())}
        codes = np.array([place[label] for label in y[rows].tolist()], dtype=np.int64)
        squared = choice(self.loss, "loss", LOSSES) == "squared_hinge"
        kernel, part, shift = self._definite(self._kernel(X, weights), X, rows)
        kernel_within_float64(part, kernel, largest_entry(part))
        machine = Machine(part, codes, cost[rows], kernel, squared, len(self.levels_), shift)
        limits = checked(self.tol, self.max_iter, self.time_limit)
        in_features = machine.features is not None and X.shape[1] <= MOST_FEATURES
        with np.errstate(all="ignore"):  # a point that overflows is told by its gap
            fit = newton(machine, limits) if in_features else smo(machine, limits)
        return self._keep(fit, rows, X)

    def utility(self, X: Any) -> Array:
        """f(x), (n,), which the thresholds cut into levels.

        Parameters
        ----------
        X : (n, d) points, or (n, m) kernel values with the training points where the kernel is precomputed.
        """
        return self._evaluated(X)[:, 0]

    def decision_function(self, X: Any) -> Array:
        """How much speaks for a class: of the level k the sum of f(x) - b_j over all j < k, which is largest at the level of x.

        Parameters
        ----------
        X : as in `utility`.

        Returns
        -------
        Of two classes (n,), positive for the second of `classes_`. Of more (n, L), a column for each of `classes_`.
        """
        beyond = self.utility(X)[:, None] - self.thresholds_
        sums = np.cumsum(np.column_stack([np.zeros(len(beyond)), beyond]), axis=1)[:, np.argsort(self.levels_)]
        return np.asarray(sums[:, 1] - sums[:, 0] if len(self.levels_) == 2 else sums)

    def predict(self, X: Any) -> NDArray[Any]:
        """The level of every point; a value on a threshold has the higher one.

        Parameters
        ----------
        X : as in `utility`.

        Returns
        -------
        (n,) labels of `classes_`.
        """
        f = self.utility(X)  # before the attributes that a fit makes are asked for
        return np.asarray(self.levels_[np.searchsorted(self.thresholds_, f, side="right")])

    def _ordered(self, labels: NDArray[Any]) -> NDArray[Any]:
        """Return the labels from the lowest to the highest, also those absent from y."""
        if self.levels is None:
            return labels
        levels = np.asarray(self.levels)
        if len(np.unique(levels)) < len(levels) or set(labels.tolist()) - set(levels.tolist()):
            known = ", ".join(map(shown, labels.tolist()))
            raise ValueError(f"levels must name every label of y once, the lowest first: {known}; it is {shown(levels.tolist())}")
        return levels

    def _definite(self, kernel: Kernel, X: Features, rows: Index) -> tuple[Kernel, Features, float]:
        """The kernel, its points, and the shift of a Gram matrix that makes it provably positive semidefinite."""
        part = X if len(rows) == X.shape[0] else X[np.ix_(rows, rows)] if kernel.given else X[rows]
        shift = proven_shift(np.asarray(part)) if kernel.given else 0.0
        if shift is None or not kernel.positive_semidefinite:
            raise ValueError(f"kernel must be positive semidefinite for an ordinal regression, and the {kernel.name} kernel is not")
        return kernel, part, shift

    def _keep(self, fit: OrdinalFit, rows: Index, X: Features) -> Self:
        """Keep what prediction needs and what the fit proves, and warn of a run that ended early."""
        kernel, beta = fit.machine.kernel, np.zeros(X.shape[0])
        beta[rows] = fit.beta
        support = np.flatnonzero(beta)
        if fit.machine.features is None:
            points = None if kernel.given else X[support]
            self._functions = Functions(kernel, support, points, beta[None, support], np.zeros(1))
        else:
            w = fit.machine.features.rdot(fit.beta) if fit.w is None else fit.w
            self._functions = Functions(kernel, support, None, w[None, :], np.zeros(1))
        self._proof = _Proof(fit)
        self.thresholds_, self.n_iter_, self.status_ = fit.b, fit.iterations, str(fit.status)
        if fit.status is not Status.OPTIMAL:
            said = f"{fit.status.sentence} {fit.reason}; the relative gap is {fit.gap:.2g}"
            with np.errstate(over="ignore"):
                most = float((fit.machine.C.max(axis=1) * kernel.diagonal(fit.machine.X)).max())
            if most > RESOLVED_COST:
                said += f"; C k(x, x) reaches {most:.1e}, which double precision does not resolve: divide X by a constant, or lower C"
            warnings.warn(said, ConvergenceWarning, stacklevel=3)
        return self


class _Proof(Proof):
    """What a fit proves. A pickle of it has the bounds and the gap alone."""

    def __init__(self, fit: OrdinalFit) -> None:
        super().__init__([])
        self._fit = fit

    @cached_property
    def bounds(self) -> tuple[float, float]:
        """Proven bounds of the optimum."""
        return self._fit.interval.lower, self._fit.interval.upper

    @cached_property
    def gap(self) -> float:
        """The relative gap, in float64."""
        return self._fit.gap

    @property
    def duals(self) -> list[Any]:
        """The multipliers.

        Raises
        ------
        AttributeError : after a pickle, which has none.
        """
        if "_fit" not in vars(self):
            raise AttributeError("dual_ is left out of a pickled or copied estimator, because there is a multiplier for every row")
        return [self._fit.G]
