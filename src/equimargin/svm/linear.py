"""Base of LinearSVC and LinearSVR: a constant feature with a penalised weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from equimargin.estimators.base import ProvenEstimator
from equimargin.estimators.fitted import ProvenSolution
from equimargin.formulations.numeric.arrays import Array, Features, is_sparse
from equimargin.solvers import Status
from equimargin.svm.parameters import COMMON, LINEAR, find_gap


@dataclass(eq=False, repr=False, kw_only=True)
class LinearMachine(ProvenEstimator):
    """Base of the machines of LIBLINEAR's problems: w.x + b with b in the norm of w."""

    C: float = 1.0
    tol: float = 1e-4
    dual: str | bool = "auto"
    fit_intercept: bool = True
    intercept_scaling: float = 1.0
    verbose: int = 0
    random_state: Any = None
    max_iter: int = 1000

    _parameter_constraints = COMMON | LINEAR

    @property
    def _limits(self) -> dict[str, Any]:
        return super()._limits | {"tol": find_gap(self.tol), "max_iter": self.max_iter}

    def _extended(self, X: Features) -> Features:
        """Return X with the constant feature, if there is an intercept."""
        if not self.fit_intercept:
            return X
        column = np.full((X.shape[0], 1), float(self.intercept_scaling))
        return sparse.hstack([X, column], format="csr") if is_sparse(X) else np.hstack([X, column])

    def _conclude(self, solutions: Sequence[ProvenSolution], d: int) -> tuple[Array, Any]:
        """Set the attributes of the runs, and return the weights (K, d) and constants."""
        self._prove(solutions)
        if self.verbose:
            print(
                f"[{type(self).__name__}] {self.status_}: at most {self.n_iter_} iterations, "
                f"relative gap {self.duality_gap_:.2g}"
            )
        w = np.vstack([np.asarray(solution.w) for solution in solutions])
        return w[:, :d], self.intercept_scaling * w[:, d] if self.fit_intercept else 0.0

    def _warning(self, worst: ProvenSolution) -> str:
        text = super()._warning(worst)
        limited = worst.status is Status.ITERATION_LIMIT
        return f"{text}; increase the number of iterations, max_iter" if limited else text


def check_problem(dual: str | bool, loss: str, penalty: str, only_dual: bool) -> None:
    """Raise an error if scikit-learn has no such problem.

    Parameters
    ----------
    dual : bool or "auto"
        Problem that scikit-learn would solve; here the solver is chosen by the data.
    loss, penalty : str
        Names of loss and penalty.
    only_dual : bool
        True if scikit-learn solves the loss in the dual alone.

    Raises
    ------
    ValueError
        If the combination is unsupported.
    """
    given = f"penalty={penalty!r}, loss={loss!r}, dual={dual!r}"
    if (only_dual and (penalty == "l1" or dual is False)) or (penalty == "l1" and dual is True):
        also = " and penalty='l2'" if penalty == "l1" and only_dual else ""
        raise ValueError(
            f"Unsupported set of arguments: scikit-learn has no problem of {given}; set "
            f"dual='auto'{also}"
        )
