"""Bases of the margin estimators: kernels, limits of a run, fitted attributes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from equimargin.estimators.fitted import Functions, Proof, ProvenSolution, make_functions
from equimargin.formulations import Kernel, Problem
from equimargin.formulations.kernels.given_matrix import asymmetry
from equimargin.formulations.kernels.registry import KERNELS, list_parameters, named_kernel
from equimargin.formulations.numeric.arguments import check_jobs
from equimargin.formulations.numeric.arrays import Array, Features, Index, is_sparse
from equimargin.solvers import Solution, Status, solve

ROUNDED_GRAM = 1e-13
"""Maximal asymmetry of a Gram matrix, as a fraction of its largest entry.

Two entries K_ij and K_ji that differ by less are one number, rounded differently by two
matrix products; `equimargin.formulations` itself requires exact symmetry.
"""


@dataclass(eq=False, repr=False, kw_only=True)
class ProvenEstimator(BaseEstimator):
    """Base of all estimators whose fit proves an interval of its optimum."""

    tol: float = 1e-8
    time_limit: float | None = None
    n_jobs: int | None = None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags

    @property
    def objective_bounds_(self) -> tuple[float, float]:
        """Proven bounds (lower, upper) of the optimum.

        They are computed at first use; until then the training data must not change.
        """
        check_is_fitted(self)
        return self._proof.bounds

    @property
    def duality_gap_(self) -> float:
        """Primal minus dual objective in float64, relative as `tol` is."""
        check_is_fitted(self)
        return self._proof.gap

    @property
    def _limits(self) -> dict[str, Any]:
        """Keyword arguments of `solve`, except the problem."""
        return {
            "tol": self.tol,
            "time_limit": self.time_limit,
            "n_jobs": effective_n_jobs(check_jobs(self.n_jobs, "n_jobs")),
        }

    def _prove(self, solutions: Sequence[ProvenSolution]) -> None:
        """Set the attributes of the runs, and warn if one ended early."""
        worst = next((solution for solution in solutions if not solution.ok), solutions[0])
        if worst.status is Status.INFEASIBLE:
            raise ValueError(
                f"the problem has no solution: {worst.reason}; with finite C and finite "
                f"weights every problem has one"
            )
        self._proof = Proof(solutions)
        self.n_iter_: Any = max(solution.iterations or 0 for solution in solutions)
        self.status_ = str(worst.status)
        if not worst.ok:
            warnings.warn(self._warning(worst), ConvergenceWarning, stacklevel=3)

    def _warning(self, worst: ProvenSolution) -> str:
        """Return the message for a run that ended early."""
        return (
            f"{worst.status.sentence} {worst.solver}: {worst.reason}; the relative gap is "
            f"{self.duality_gap_:.2g}"
        )


@dataclass(eq=False, repr=False, kw_only=True)
class KernelEstimator(ProvenEstimator):
    """Base of the estimators with a kernel, by name or as an object."""

    kernel: str | Kernel = "linear"
    degree: int = 3
    gamma: str | float = "scale"
    coef0: float = 0.0

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # An unknown name is refused by `fit`.
        kernel = self.kernel if isinstance(self.kernel, Kernel) else KERNELS.get(str(self.kernel))
        tags.input_tags.positive_only = kernel is not None and kernel.nonnegative
        tags.input_tags.pairwise = kernel is not None and kernel.given
        return tags

    def _kernel(self, X: Features, weights: Array | None = None) -> Kernel:
        names = [] if isinstance(self.kernel, Kernel) else list_parameters(self.kernel)
        return named_kernel(self.kernel, X, weights, {name: getattr(self, name) for name in names})

    def _checked(self, X: Any, y: Any, **more: Any) -> tuple[Features, NDArray[Any]]:
        """Return training data as validated by scikit-learn."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, **more)
        return self._symmetric(X), y

    def _symmetric(self, X: Features) -> Features:
        """Symmetrise a Gram matrix that is symmetric within rounding error."""
        pairwise = self.__sklearn_tags__().input_tags.pairwise
        return symmetrise(X) if pairwise and X.shape[0] == X.shape[1] else X


@dataclass(eq=False, repr=False, kw_only=True)
class MarginEstimator(KernelEstimator):
    """Base of all margin estimators: one problem, or several with a common kernel.

    A subclass adds its parameters as fields; its `fit` ends with `_solve`, or with
    `_conclude` of several solutions.
    """

    @property
    def dual_(self) -> Any:
        """Multipliers of the rows or pairs, in the form of `Solution.dual`.

        They are excluded from a pickle.
        """
        check_is_fitted(self)
        return self._proof.duals[0]

    @property
    def coef_(self) -> Any:
        """Weights w of a linear kernel, (d,); of a classifier (pairs of classes, d)."""
        return self._shaped(self._linear.coefficients)

    @property
    def intercept_(self) -> Any:
        """Intercept b of a linear kernel; of a classifier (pairs of classes,)."""
        return self._shaped(self._linear.biases)

    @property
    def support_(self) -> Index:
        """Training points with a nonzero coefficient, ascending, shape (s,)."""
        check_is_fitted(self)
        return self._functions.support

    @property
    def support_vectors_(self) -> Features:
        """Support vectors, shape (s, d); not of linear and precomputed kernels."""
        check_is_fitted(self)
        if self._functions.points is None:
            raise AttributeError(
                "support_vectors_ exist for kernels that are neither linear nor "
                "precomputed; support_ has their rows"
            )
        return self._functions.points

    @property
    def dual_coef_(self) -> Any:
        """Coefficients of f = sum_i dual_coef_i k(x_i, .); not of a linear kernel.

        Shape (s,), of a classifier (pairs of classes, s).
        """
        check_is_fitted(self)
        if self._functions.linear:
            raise AttributeError(
                "dual_coef_ exists for kernels that are not linear; a linear kernel has coef_"
            )
        return self._shaped(self._functions.coefficients)

    @property
    def _linear(self) -> Functions:
        check_is_fitted(self)
        if not self._functions.linear:
            raise AttributeError("coef_ and intercept_ exist for a linear kernel only")
        return self._functions

    def _shaped(self, values: Array) -> Any:
        """Return the values of all functions as an attribute shows them.

        The first axis is dropped for estimators that have one function.
        """
        return values[0]

    def _solve(self, problem: Problem) -> Self:
        """Solve a problem of all points, and set the fitted attributes."""
        return self._conclude([solve(problem, **self._limits)], [np.arange(problem.m)], problem.X)

    def _conclude(self, solutions: Sequence[Solution], parts: Sequence[Index], X: Features) -> Self:
        """Set the fitted attributes, and warn if a run ended early.

        Parameters
        ----------
        solutions, parts, X
            As in `make_functions`.
        """
        self._prove(solutions)
        self._functions = make_functions(solutions, parts, X)
        return self

    def _evaluated(self, X: Any) -> Array:
        """Return f_k + b_k at new points, shape (n, K)."""
        check_is_fitted(self)
        return self._functions(
            validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        )


@dataclass(eq=False, repr=False, kw_only=True)
class CostEstimator(MarginEstimator):
    """Base of the margin estimators with a given cost C per unit of loss."""

    C: float = field(default=1.0, kw_only=False)
    solver: str = "auto"
    max_iter: int | None = None

    @property
    def _limits(self) -> dict[str, Any]:
        return super()._limits | {"solver": self.solver, "max_iter": self.max_iter}


@dataclass(eq=False, repr=False, kw_only=True)
class DeviceEstimator(CostEstimator):
    """Base of the margin estimators that a graphics card can fit."""

    device: str = "cpu"

    @property
    def _limits(self) -> dict[str, Any]:
        return super()._limits | {"device": self.device}


def symmetrise(K: Features) -> Features:
    """Return a copy of a square matrix, symmetric if its asymmetry is rounding error.

    Bounds that are computed later are then those of the matrix of the fit.

    Parameters
    ----------
    K : ndarray or sparse array of shape (m, m)
        Gram matrix.
    """
    # A symmetric matrix, as most are, needs one pass.
    if not is_sparse(K) and asymmetry(np.ascontiguousarray(K)) == 0:
        return K.copy()
    mean = (K + K.T) / 2
    return mean if abs(K - mean).max() <= ROUNDED_GRAM * abs(K).max() else K.copy()


def find_classes(y: ArrayLike) -> tuple[NDArray[np.generic], Index]:
    """Return the classes, sorted, and the class of every row.

    scikit-learn checks that y holds classes, unless it plainly does: two whole numbers.

    Parameters
    ----------
    y : array-like of shape (m,)
        Labels, validated by scikit-learn.

    Raises
    ------
    ValueError
        If y holds numbers that are no classes.
    """
    labels = np.asarray(y)
    if labels.dtype.kind in "biuf":
        classes, codes = np.unique(labels, return_inverse=True)
        if len(classes) <= 2 and (classes == np.rint(classes)).all():
            return classes, codes
    check_classification_targets(y)
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, codes


def row_weights(sample_weight: ArrayLike | None, rows: Any) -> Array | None:
    """Return the validated weights of the rows, None if there are none.

    Parameters
    ----------
    sample_weight : array-like of shape (m,) or None
        Weights, at least 0.
    rows : array-like of length m
        Data with m rows.

    Returns
    -------
    ndarray of shape (m,) or None
        Weights as float64.

    Raises
    ------
    ValueError
        If the shape differs, or a weight is negative or not finite.
    """
    if sample_weight is None:
        return None
    return np.asarray(
        _check_sample_weight(sample_weight, rows, dtype=np.float64, ensure_non_negative=True)
    )
