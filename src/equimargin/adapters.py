"""Wrappers of third-party solvers: scikit-learn, LIBSVM, LIBLINEAR and fit functions.

Each function here returns a `Solver`, which `compare`, `solve` and
`equimargin.testing.check_solver` accept:

    from sklearn.svm import SVC
    svc = SVC(kernel="linear", C=10.0)
    mine = from_estimator(svc, name="SVC at its own tolerance")
    compare(problem, solvers=["*", libsvm(), mine])

A program receives the data of the problem. Its cost, kernel and tolerance are its own:
an estimator is used unchanged, and one with another C solves another problem, as the
comparison shows. To make them follow the problem, pass a function that makes an
estimator for a problem:

    def svc(problem):
        return SVC(kernel="precomputed", C=problem.C, tol=1e-9)

    from_estimator(svc, families=("svm.soft",))

The point that a program returns is completed and checked like any other. The solver is
a reference: "auto" never chooses it. No time limit stops it from outside, only its own
parameters, such as `max_iter`.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from equimargin.formulations import MarginProblem, Refusal
from equimargin.formulations.numeric.arrays import Array, Index, dense
from equimargin.formulations.rows.listed import Signed, Tube
from equimargin.proofs.foreign_files import read
from equimargin.proofs.foreign_models import Model
from equimargin.solvers import Limits, Requirements, Solution, Solver, Status
from equimargin.solvers.registry import RegisteredSolver
from equimargin.solvers.solution import finished

FAMILIES_OF: Mapping[str, Callable[[Any], tuple[str, ...]]] = {
    "SVC": lambda svc: ("svm.soft",),
    "SVR": lambda svr: ("svr.l1",),
    "LinearSVC": lambda svc: ("svm.nobias",) if svc.loss == "hinge" else ("svm.nobias_l2",),
}
"""Families solved by scikit-learn's estimators.

LinearSVC has a penalised intercept or none.
"""
KNOWING_W_ALONE = ("LinearSVC",)
"""Estimators that have linear kernels only."""
LIBRARIES_OF = {"SVC": "LIBSVM", "SVR": "LIBSVM", "LinearSVC": "LIBLINEAR"}
"""Libraries inside scikit-learn's estimators; one library is one independent source."""
MOST_STEPS = 1_000_000
"""Maximum number of iterations of scikit-learn's SVC and SVR.

They have no limit by default, and may not terminate at a small tolerance.
"""
MOST_SWEEPS = 100_000
"""Maximum number of sweeps of LinearSVC; its default, 1000, suits loose tolerances only."""
MOST_POINTS = 20_000
"""Maximum number of points of a program that requires the Gram matrix, 3.2 GB at most."""
UNWEIGHTED = "its interface has no weights"
"""Reason why a program does not accept row weights, to follow a colon."""


def from_estimator(
    estimator: Any,
    families: Sequence[str] = (),
    name: str | None = None,
    algorithm: str = "an estimator with scikit-learn's API",
    linear: bool = False,
    library: str = "",
) -> RegisteredSolver[MarginProblem]:
    """Return a solver that fits an estimator with scikit-learn's API.

    The result is taken from the estimator's coefficients, or its decision values.

    Parameters
    ----------
    estimator : estimator or callable
        Unfitted estimator, or a function that makes one for a problem. It is fitted to
        X and y of the problem, with the row weights unless all are 1, and to the Gram
        matrix if its parameter `kernel` is "precomputed". The result consists of
        `intercept_` and `dual_coef_` with `support_`, else `coef_`, else
        `decision_function` or `predict` at the points.
    families : sequence of str, default ()
        Families that it solves, such as ("svm.soft",); not needed for SVC, SVR and
        LinearSVC.
    name : str, optional
        Name in a comparison; by default that of its class or function.
    algorithm : str, default "an estimator with scikit-learn's API"
        Method, as a phrase.
    linear : bool, default False
        True if it has linear kernels only; not needed for LinearSVC.
    library : str, default ""
        Library that computes the result; not needed for SVC, SVR and LinearSVC.

    Returns
    -------
    RegisteredSolver
        Reference solver.

    Raises
    ------
    ValueError
        If families are missing.

    References
    ----------
    scikit-learn's developer guide, "Fitted attributes".
    """
    from sklearn.base import BaseEstimator, clone

    made = isinstance(estimator, BaseEstimator) or hasattr(estimator, "fit")
    kind = type(estimator).__name__ if made else getattr(estimator, "__name__", "estimator")
    if not families and kind not in FAMILIES_OF:
        raise ValueError(
            f"families of {kind} are missing; name those that it solves, such as "
            f"families=('svm.soft',)"
        )
    families = tuple(families) or FAMILIES_OF[kind](estimator)

    def fit(problem: MarginProblem, limits: Limits) -> Any:
        return _fitted(
            name or kind, clone(estimator) if made else estimator(problem), problem, limits
        )

    return _solver(
        name or kind,
        fit,
        families,
        algorithm,
        linear or kind in KNOWING_W_ALONE,
        library=library or LIBRARIES_OF.get(kind, ""),
    )


def from_fit(
    fit: Callable[[Any, Array, float], Any], families: Sequence[str], name: str | None = None
) -> Solver:
    """Return a solver from a function fit(X, y, C) that returns linear parameters.

    Results of statsmodels have such parameters.

    Parameters
    ----------
    fit : callable
        Function of X (m, d), y (m,) and C. `params` of its result, or the result
        itself, are w (d,), or (1 + d,) with the constant first, as from
        `statsmodels.api.add_constant`.
    families : sequence of str
        Families that it solves, such as ("svm.soft",).
    name : str, optional
        Name in a comparison; by default that of the function.

    Returns
    -------
    Solver
        Reference solver.
    """

    def run(problem: MarginProblem) -> Any:
        result = fit(problem.X, problem.rows.y, problem.C)
        params = np.asarray(getattr(result, "params", result))
        return params if params.shape != (problem.X.shape[1] + 1,) else (params[1:], params[0])

    called = name or str(getattr(fit, "__name__", "fit"))
    return _solver(
        called,
        run,
        tuple(families),
        "a fit function, as in statsmodels",
        linear=True,
        weights=UNWEIGHTED,
    )


def libsvm(tol: float = 1e-9, name: str = "libsvm") -> Solver:
    """Return LIBSVM as a solver, from `libsvm.svmutil` or else scikit-learn's copy.

    LIBSVM stores kernel values in single precision: if these span many orders of
    magnitude, as with a polynomial kernel, its result is less accurate.

    Parameters
    ----------
    tol : float, default 1e-09
        Maximum violation of its optimality conditions, LIBSVM's -e.
    name : str, default "libsvm"
        Name in a comparison.

    Returns
    -------
    Solver
        Reference solver.

    References
    ----------
    C.-C. Chang and C.-J. Lin, LIBSVM: a library for support vector machines, 2011.
    """
    families = ("svm.soft", "svr.l1")
    try:
        from libsvm import svmutil
    except ImportError:
        return from_estimator(
            lambda problem: _svc(problem, tol),
            families,
            name,
            "LIBSVM, in scikit-learn's copy",
            library="LIBSVM",
        )

    def train(problem: MarginProblem) -> dict[str, Any]:
        kind = f"-s 3 -p {problem.rows.epsilon!r}" if isinstance(problem.rows, Tube) else "-s 0"
        numbered = np.column_stack([np.arange(1.0, problem.m + 1), problem.gram.dense])
        model = svmutil.svm_train(
            svmutil.svm_problem(problem.rows.y, numbered, isKernel=True),
            f"{kind} -t 4 -c {problem.C!r} -e {tol!r} -q",
        )
        saved = _saved(svmutil.svm_save_model, model)
        return _expansion(problem, saved.support, saved.coefficients, saved.b)

    return _solver(
        name, train, families, "LIBSVM, by its own interface", weights=UNWEIGHTED, library="LIBSVM"
    )


def liblinear(tol: float = 1e-9, name: str = "liblinear") -> Solver:
    """Return LIBLINEAR as a solver, from `liblinear.liblinearutil` or scikit-learn's copy.

    Parameters
    ----------
    tol : float, default 1e-09
        Maximum violation of its optimality conditions, LIBLINEAR's -e.
    name : str, default "liblinear"
        Name in a comparison.

    Returns
    -------
    Solver
        Reference solver.

    References
    ----------
    R.-E. Fan, K.-W. Chang, C.-J. Hsieh, X.-R. Wang and C.-J. Lin, LIBLINEAR: a library for
    large linear classification, 2008.
    """
    families = ("svm.nobias", "svm.nobias_l2")
    try:
        from liblinear import liblinearutil
    except ImportError:
        copy = "LIBLINEAR, in scikit-learn's copy"
        return from_estimator(
            lambda problem: _linear_svc(problem, tol),
            families,
            name,
            copy,
            linear=True,
            library="LIBLINEAR",
        )

    def train(problem: MarginProblem) -> Any:
        bias = 1 if problem.explicit is not None and problem.explicit.constant else -1
        options = (
            f"-s {3 if problem.loss == 'hinge' else 1} -c {problem.C!r} -e {tol!r} -B {bias} -q"
        )
        model = _saved(
            liblinearutil.save_model, liblinearutil.train(problem.rows.y, problem.X, options)
        )
        return model.w if bias < 0 else (model.w, model.b)

    own = "LIBLINEAR, by its own interface"
    return _solver(name, train, families, own, linear=True, weights=UNWEIGHTED, library="LIBLINEAR")


def _solver(
    name: str,
    function: Callable[..., Any],
    families: tuple[str, ...],
    algorithm: str,
    linear: bool = False,
    weights: str = "",
    library: str = "",
) -> RegisteredSolver[MarginProblem]:
    """Return a reference solver for problems with a label or a target per point.

    Parameters
    ----------
    weights : str, default ""
        Reason why it does not accept row weights; empty if it does.
    """

    def also(problem: MarginProblem) -> Refusal | None:
        if not isinstance(problem.rows, Signed | Tube):
            return Refusal("its rows are pairs, which have no labels")
        if weights and problem.weights is not None:
            return Refusal(f"its rows have weights: {weights}")
        kept = _kept(problem)
        if not len(kept):
            return Refusal("all its rows have weight 0")
        if isinstance(problem.rows, Signed) and len(np.unique(problem.rows.y[kept])) < 2:
            return Refusal("all its labels of positive weight are of one class")
        above, below = (
            np.split(problem.unit_weights, 2) if isinstance(problem.rows, Tube) else (kept, kept)
        )
        if (above != below).any():
            return Refusal("its tube has other weights above than below")
        return None

    requires = Requirements(
        MarginProblem,
        losses=("hinge", "squared_hinge"),
        no_hard_rows="which other programs do not have",
        linear=linear,
        convex=True,
        most_points=MOST_POINTS,
        features_at_any_size=linear,
        also=also,
    )
    return RegisteredSolver(
        name,
        function,
        algorithm,
        families,
        requires,
        reference=True,
        first=lambda problem: False,
        library=library,
    )


def _kept(problem: MarginProblem) -> Index:
    """Return the points of positive weight: not all programs accept weights of 0."""
    return (
        np.arange(problem.m)
        if problem.weights is None
        else np.flatnonzero(problem.weights[: problem.m] > 0)
    )


def _svc(problem: MarginProblem, tol: float) -> Any:
    """Return scikit-learn's estimator that runs LIBSVM."""
    from sklearn.svm import SVC, SVR

    if isinstance(problem.rows, Tube):
        return SVR(
            kernel="precomputed",
            C=problem.C,
            epsilon=problem.rows.epsilon,
            tol=tol,
            max_iter=MOST_STEPS,
        )
    return SVC(kernel="precomputed", C=problem.C, tol=tol, max_iter=MOST_STEPS)


def _linear_svc(problem: MarginProblem, tol: float) -> Any:
    """Return scikit-learn's estimator that runs LIBLINEAR."""
    from sklearn.svm import LinearSVC

    constant = problem.explicit is not None and problem.explicit.constant
    settings = {"fit_intercept": constant, "dual": True, "max_iter": MOST_SWEEPS, "random_state": 0}
    return LinearSVC(loss=problem.loss, C=problem.C, tol=tol, **settings)


def _saved(save: Callable[[str, Any], object], model: Any) -> Model:
    """Return the content of the file in which a program saves a model."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model"
        save(str(file), model)
        saved = read(file)
    # The labels of a margin problem are two.
    assert isinstance(saved, Model)
    return saved


def _fitted(name: str, model: Any, problem: MarginProblem, limits: Limits) -> Solution:
    """Return the solution of a model fitted to the problem's data.

    A convergence warning sets the status to the iteration limit.
    """
    from sklearn.exceptions import ConvergenceWarning

    started, kept = time.perf_counter(), _kept(problem)
    weights = (
        {} if problem.weights is None else {"sample_weight": problem.weights[: problem.m][kept]}
    )
    X = (
        problem.gram.dense[np.ix_(kept, kept)]
        if getattr(model, "kernel", None) == "precomputed"
        else problem.X[kept]
    )
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model.fit(X, problem.rows.y[kept], **weights)
    solution = finished(
        problem, name, _read(problem, model, kept), limits, time.perf_counter() - started
    )
    if isinstance(own := getattr(model, "C", None), int | float) and own != problem.C:
        other = (
            f"its C is {own:g}, and that of the problem {problem.C:g}: from_estimator also accepts "
            f"a function of the problem"
        )
        solution = replace(solution, reason=f"{solution.reason}; {other}")
    stopped = next(
        (
            str(warning.message)
            for warning in heard
            if issubclass(warning.category, ConvergenceWarning)
        ),
        "",
    )
    if stopped and solution.status is Status.FINISHED:
        return replace(
            solution,
            status=Status.ITERATION_LIMIT,
            reason=f"it warns {stopped.split('.')[0]!r}: {solution.reason}",
        )
    return solution


def _read(problem: MarginProblem, model: Any, kept: Index) -> Any:
    """Return the function of a fitted model: support vectors, weights, or values at points."""
    b = float(np.ravel(getattr(model, "intercept_", 0.0))[0])
    if hasattr(model, "dual_coef_") and hasattr(model, "support_"):
        return _expansion(problem, kept[model.support_], np.ravel(dense(model.dual_coef_)), b)
    if hasattr(model, "coef_"):
        return np.ravel(dense(model.coef_)), b
    values = getattr(model, "decision_function", model.predict)
    X = (
        problem.gram.dense[:, kept]
        if getattr(model, "kernel", None) == "precomputed"
        else problem.X
    )
    f = np.ravel(values(X)).astype(np.float64)
    return {"f": f - b, "b": b} if problem.bias else {"f": f}


def _expansion(problem: MarginProblem, support: Any, coefficients: Any, b: float) -> dict[str, Any]:
    """Return function, intercept and multipliers of coefficients of support vectors."""
    beta = np.zeros(problem.m)
    beta[support] = coefficients
    tube = isinstance(problem.rows, Tube)
    alpha = (
        np.concatenate([np.maximum(beta, 0.0), np.maximum(-beta, 0.0)])
        if tube
        else problem.rows.y * beta
    )
    return {"beta": beta, "b": b, "alpha": alpha}
