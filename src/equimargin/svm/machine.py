"""Bases of the machines with a kernel: points, kernel, fitted attributes of scikit-learn."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from equimargin.estimators.base import KernelEstimator, symmetrise
from equimargin.estimators.fitted import Functions, ProvenSolution, make_coefficients
from equimargin.formulations import Kernel, MarginProblem, precomputed
from equimargin.formulations.kernels.given_matrix import asymmetry, proven_shift
from equimargin.formulations.kernels.kernel import Linear
from equimargin.formulations.numeric.arrays import Array, Features, Index, dense, is_sparse
from equimargin.solvers import Solution, Status, solve
from equimargin.svm.parameters import COMMON, KERNEL, find_gap

DENSE_ENTRIES = 2**22
"""Entries of the largest sparse X, 32 MiB, that is converted: its fit is that of dense X."""
NO_WEIGHT = "Invalid input - all samples have zero or negative weights; give some a positive weight"
"""Message on weights of which none is positive."""


@dataclass(eq=False, repr=False, kw_only=True)
class SupportVectorMachine(KernelEstimator):
    """Base of the machines whose function is a sum over support vectors.

    The state is that of scikit-learn: `dual_coef_`, `support_`, `support_vectors_` and
    `intercept_` alone determine predictions.
    """

    kernel: Any = "rbf"
    tol: float = 1e-3
    shrinking: bool = True
    cache_size: float = 200
    verbose: bool | int = False
    max_iter: int = -1

    _parameter_constraints = COMMON | KERNEL

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags

    @property
    def _limits(self) -> dict[str, Any]:
        return super()._limits | {
            "tol": find_gap(self.tol),
            "max_iter": None if self.max_iter == -1 else self.max_iter,
        }

    def _read(self, X: Any, y: ArrayLike, **more: Any) -> tuple[Features, NDArray[Any]]:
        """Return the points of the problem and y; a callable kernel's points are its Gram."""
        if callable(self.kernel):
            check_consistent_length(X, y)
            self._training, targets = X, column_or_1d(y, warn=True)
            self.shape_fit_ = tuple(getattr(X, "shape", (len(targets),)))
            self._fitted_kernel: Kernel = precomputed()
            points: Features = symmetrise(self._gram(X, len(targets)))
            self._refuse_no_kernel(points)
        else:
            if is_sparse(X) and self.kernel == "precomputed":
                raise TypeError("Sparse precomputed kernels are not supported; pass X.toarray()")
            points, targets = self._checked(X, y, **more)
            self.shape_fit_ = points.shape
            self._fitted_kernel = self._kernel(densify_small(points))
        self._sparse = is_sparse(points)
        # scikit-learn's name, which converters of models read.
        self._gamma = getattr(self._fitted_kernel, "gamma", 0.0)
        return points, targets

    def _gram(self, X: Any, rows: int | None = None) -> Array:
        """Return the values of a callable kernel with the training points."""
        values = self.kernel(X, self._training)
        K = np.asarray(values.toarray() if is_sparse(values) else values, dtype=np.float64)
        if K.ndim != 2 or K.shape[1] != self.shape_fit_[0] or rows not in (None, len(K)):
            raise ValueError(
                f"kernel must return one value for every pair of points, a second axis of "
                f"length {self.shape_fit_[0]}, not an array of shape {K.shape}"
            )
        if not np.isfinite(K).all():
            raise ValueError(
                f"kernel must return finite numbers, not {K[~np.isfinite(K)][0]}; correct the "
                f"function, or the points that it was passed"
            )
        return K

    def _refuse_no_kernel(self, K: Features) -> None:
        """Raise an error if a callable kernel is no kernel on the training points."""
        difference = asymmetry(np.ascontiguousarray(K))
        if difference > 0:
            raise ValueError(
                f"kernel must be symmetric: k(x, z) and k(z, x) of training points differ by up "
                f"to {difference:.3g}; correct the function"
            )
        if proven_shift(K) is not None:
            return
        least = float(np.linalg.eigvalsh(K)[0])
        raise ValueError(
            f"kernel must be positive semidefinite: its Gram matrix of the training points has "
            f"the eigenvalue {least:.3g}; no optimum is proven with it, so correct the function"
        )

    def _weights(self, sample_weight: ArrayLike | None, X: Any) -> Array:
        """Return the weights of the rows; a negative weight excludes a row, as 0 does."""
        # Newer versions of scikit-learn refuse weights that are all 0 in other words.
        given = np.ones(1) if sample_weight is None else np.asarray(sample_weight)
        if given.size and not given.any():
            raise ValueError(NO_WEIGHT)
        weights = np.maximum(_check_sample_weight(sample_weight, X, dtype=np.float64), 0.0)
        if not weights.any():
            raise ValueError(NO_WEIGHT)
        return np.asarray(weights)

    @abstractmethod
    def _solve(self, problem: MarginProblem) -> Solution:
        """Solve the problem of one function, within the limits."""

    def _conclude_one(self, solution: Solution, points: Features) -> None:
        """Set the attributes of a run on all points."""
        m = solution.problem.m
        beta = make_coefficients([solution], [np.arange(m)], m)
        self._conclude([solution], beta, np.zeros(m, dtype=np.intp), points)

    def _conclude(self, solutions: Sequence[Solution], beta: Array, codes: Index, X: Any) -> None:
        """Set the attributes of the runs and of the support vectors.

        Parameters
        ----------
        solutions : sequence of Solution
            Solution of every function.
        beta : ndarray of shape (P, m)
            Coefficients of the functions.
        codes : ndarray of shape (m,)
            Classes of the points; zeros for a regression.
        X : ndarray or sparse array of shape (m, d)
            Points.
        """
        self.fit_status_ = int(not all(solution.ok for solution in solutions))
        support = np.flatnonzero(beta.any(axis=0))
        support = support[np.argsort(codes[support], kind="stable")]
        self.support_ = support.astype(np.int32)
        counts = np.bincount(codes[support], minlength=int(codes.max()) + 1)
        self.n_support_ = counts.astype(np.int32)
        self.support_vectors_ = np.empty((0, 0)) if self._fitted_kernel.given else X[support]
        dual_coef = self._arranged(beta[:, support])
        self.dual_coef_ = type(X)(dual_coef) if self._sparse else dual_coef
        if self.verbose:
            print(
                f"[{type(self).__name__}] {self.status_}: iterations "
                f"{[solution.iterations for solution in solutions]}, relative gap "
                f"{self.duality_gap_:.2g}"
            )

    def _arranged(self, beta: Array) -> Array:
        """Return the coefficients (P, s) of the functions as `dual_coef_` has them."""
        return beta

    def _warning(self, worst: ProvenSolution) -> str:
        text = super()._warning(worst)
        if worst.status is not Status.ITERATION_LIMIT:
            return text
        return (
            f"Solver terminated early (max_iter={self.max_iter}).  Consider pre-processing your "
            f"data with StandardScaler or MinMaxScaler. {text}"
        )

    @property
    def _is_linear(self) -> bool:
        """True if the functions are w.x + b."""
        return isinstance(self.kernel, Linear) or self.kernel == "linear"

    @property
    def _beta(self) -> Array:
        """Coefficients of the functions in `dual_coef_`, shape (P, s)."""
        return dense(self.dual_coef_)

    @property
    def coef_(self) -> Any:
        """Weights of a linear kernel, read-only, shape (P, d)."""
        if not self._is_linear:
            raise AttributeError("coef_ is only available when using a linear kernel")
        check_is_fitted(self)
        coef: Any = (
            type(self.support_vectors_)(self._beta) if self._sparse else self._beta
        ) @ self.support_vectors_
        values: Any = coef.data if self._sparse else coef
        values.flags.writeable = False
        return coef

    def _evaluated(self, X: Any) -> Array:
        """Return the values of all functions at new points, shape (n, P)."""
        check_is_fitted(self)
        if callable(self.kernel):
            X = self._gram(X)
        else:
            X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
            if is_sparse(X) and not self._sparse:
                raise ValueError(
                    f"cannot use sparse input in {type(self).__name__!r} trained on dense data; "
                    f"pass X.toarray()"
                )
        functions = self._functions
        if functions.points is not None and self._sparse:
            to_sparse = is_sparse(functions.points)
            X = type(self.support_vectors_)(X) if to_sparse else dense(X)
        return functions(X)

    @property
    def _functions(self) -> Functions:
        """All functions, with the signs of `intercept_`."""
        points, coefficients = self.support_vectors_, self._beta
        if self._is_linear:
            points, coefficients = None, dense(self.coef_)
        elif self._fitted_kernel.given:
            points = None
        elif self._sparse:
            points = densify_small(points)
        return Functions(
            self._fitted_kernel,
            self.support_.astype(np.intp),
            points,
            coefficients,
            self.intercept_,
        )


@dataclass(eq=False, repr=False, kw_only=True)
class CostMachine(SupportVectorMachine):
    """Base of the machines with a cost per unit of loss, which a graphics card can fit."""

    C: float = 1.0
    device: str = "cpu"

    @property
    def _limits(self) -> dict[str, Any]:
        return super()._limits | {"device": self.device}

    def _solve(self, problem: MarginProblem) -> Solution:
        return solve(problem, **self._limits)


def densify_small(points: Features) -> Features:
    """Return the points of a problem: dense unless they are sparse and many.

    Parameters
    ----------
    points : ndarray or sparse array of shape (m, d)
        Points.
    """
    small = points.shape[0] * points.shape[1] <= DENSE_ENTRIES
    return dense(points) if small else points
