"""Programs of others as solvers: scikit-learn's estimators, LIBSVM, LIBLINEAR, and functions in the manner of statsmodels.

Each function here returns a `Solver`, which `compare`, `solve` and
`equimargin.testing.check_solver` take as it is:

    from sklearn.svm import SVC
    compare(problem, solvers=["*", libsvm(), from_estimator(SVC(kernel="linear", C=10.0), name="SVC at its own tolerance")])

A program gets the data of the problem. Its cost, its kernel and its tolerance are its
own affair: an estimator is taken as it is, and one that is made for another C solves
another problem, as the comparison shows. Where they are to follow the problem, a
function that makes an estimator for a problem takes the place of the estimator:

    from_estimator(lambda problem: SVC(kernel="precomputed", C=problem.C, tol=1e-9), families=("svm.soft",))

What a program hands back is completed and judged like any other point. It is a
reference: "auto" never chooses it. No limit of time ends it from outside: its own
parameters, such as `max_iter`, are what stops it.
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
from equimargin.proofs.foreign_models import Model, read
from equimargin.solvers import Limits, Requirements, Solution, Solver, Status
from equimargin.solvers.registry import RegisteredSolver
from equimargin.solvers.solution import finished

FAMILIES_OF: Mapping[str, Callable[[Any], tuple[str, ...]]] = {
    "SVC": lambda svc: ("svm.soft",),
    "SVR": lambda svr: ("svr.l1",),
    "LinearSVC": lambda svc: ("svm.nobias",) if svc.loss == "hinge" else ("svm.nobias_l2",),
}
"""The families of scikit-learn's estimators whose problems are ours.

LinearSVC has a penalised bias or none.
"""
KNOWING_W_ALONE = ("LinearSVC",)
"""Those of them that have linear kernels only."""
LIBRARIES_OF = {"SVC": "LIBSVM", "SVR": "LIBSVM", "LinearSVC": "LIBLINEAR"}
"""The libraries that compute in scikit-learn's estimators: two of one library are one witness."""
MOST_STEPS = 1_000_000
"""Steps, at most, of scikit-learn's SVC and SVR, which have no limit of their own: at a small tolerance they may go on for ever."""
MOST_SWEEPS = 100_000
"""Sweeps over the points, at most, of scikit-learn's LinearSVC, whose own limit of 1,000 is for rough tolerances."""
MOST_POINTS = 20_000
"""Points, at most, that a program of others gets where it wants the whole Gram matrix, which then takes 3.2 GB."""
UNWEIGHTED = "there is nothing to hand them on by"
"""Why a program of others does not take weights of the rows, after a colon."""


def from_estimator(
    estimator: Any,
    families: Sequence[str] = (),
    name: str | None = None,
    algorithm: str = "an estimator with scikit-learn's API",
    linear: bool = False,
    library: str = "",
) -> RegisteredSolver[MarginProblem]:
    """A solver that fits an estimator of scikit-learn's kind, and reads its coefficients or its decision values.

    Parameters
    ----------
    estimator : Any
        Not fitted, or a function that makes one for a problem. It is fitted to X and y of the
        problem, with the weights of the rows where they are not all 1, and to the Gram matrix where
        its parameter `kernel` is "precomputed". Read are `dual_coef_` with `support_`, else
        `coef_`, else `decision_function` or `predict` at the points, with `intercept_`.
    families : Sequence[str]
        Families that it is for, such as ("svm.soft",); of SVC, SVR and LinearSVC they are known.
    name : str or None
        Name that it has in a comparison; that of its class, or of the function, if none is given.
    algorithm : str
        Its method, a phrase.
    linear : bool
        Whether it has linear kernels only, as LinearSVC is known to have.
    library : str
        Whose code computes; of SVC, SVR and LinearSVC it is known.

    Raises
    ------
    ValueError
        families are missing.

    Source: scikit-learn's developer guide, "Fitted attributes".
    """
    from sklearn.base import BaseEstimator, clone

    made = isinstance(estimator, BaseEstimator) or hasattr(estimator, "fit")
    kind = type(estimator).__name__ if made else getattr(estimator, "__name__", "estimator")
    if not families and kind not in FAMILIES_OF:
        raise ValueError(
            f"families of {kind} are missing: say which it solves, such as families=('svm.soft',)"
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
    """A solver out of a function fit(X, y, C) whose result has the parameters `params` of a linear function, as those of statsmodels have.

    Parameters
    ----------
    fit : Callable[[Any, Array, float], Any]
        Function of X (m, d), y (m,) and C. `params` of its result, or the result itself, are
        w (d,), or (1 + d,) with the constant first, where `statsmodels.api.add_constant` puts it.
    families : Sequence[str]
        Families that it is for, such as ("svm.soft",).
    name : str or None
        Name that it has in a comparison; that of the function if none is given.
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
        "a function in the manner of statsmodels",
        linear=True,
        weights=UNWEIGHTED,
    )


def libsvm(tol: float = 1e-9, name: str = "libsvm") -> Solver:
    """LIBSVM by its own Python interface (`libsvm.svmutil`) where that is installed, else the copy of it in scikit-learn.

    LIBSVM keeps kernel values in single precision: where these span many digits, as of a polynomial
    kernel, its answer has fewer.

    Parameters
    ----------
    tol : float
        Largest violation of its optimality conditions, LIBSVM's -e.
    name : str
        Name that it has in a comparison.

    Source: C.-C. Chang and C.-J. Lin, LIBSVM: a library for support vector machines, 2011.
    """
    families = ("svm.soft", "svr.l1")
    try:
        from libsvm import svmutil
    except ImportError:
        return from_estimator(
            lambda problem: _svc(problem, tol),
            families,
            name,
            "LIBSVM, scikit-learn's copy of it",
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
    """LIBLINEAR by its own Python interface (`liblinear.liblinearutil`) where that is installed, else the copy of it in scikit-learn.

    Parameters
    ----------
    tol : float
        Largest violation of its optimality conditions, LIBLINEAR's -e.
    name : str
        Name that it has in a comparison.

    Source: R.-E. Fan, K.-W. Chang, C.-J. Hsieh, X.-R. Wang and C.-J. Lin, LIBLINEAR: a library for
    large linear classification, 2008.
    """
    families = ("svm.nobias", "svm.nobias_l2")
    try:
        from liblinear import liblinearutil
    except ImportError:
        copy = "LIBLINEAR, scikit-learn's copy of it"
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
    """A reference for problems with a label or a target a point; weights : why it does not take weights of the rows, if it does not."""

    def also(problem: MarginProblem) -> Refusal | None:
        if not isinstance(problem.rows, Signed | Tube):
            return Refusal("its rows are pairs, which have no labels")
        if weights and problem.weights is not None:
            return Refusal(f"its rows have weights: {weights}")
        kept = _kept(problem)
        if not len(kept):
            return Refusal("none of its rows costs anything")
        if isinstance(problem.rows, Signed) and len(np.unique(problem.rows.y[kept])) < 2:
            return Refusal("all its labels that count are of one class")
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
    """The points whose rows cost anything: not all programs take weights of 0."""
    return (
        np.arange(problem.m)
        if problem.weights is None
        else np.flatnonzero(problem.weights[: problem.m] > 0)
    )


def _svc(problem: MarginProblem, tol: float) -> Any:
    """The estimator of scikit-learn that is LIBSVM."""
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
    """The estimator of scikit-learn that is LIBLINEAR."""
    from sklearn.svm import LinearSVC

    constant = problem.explicit is not None and problem.explicit.constant
    settings = {"fit_intercept": constant, "dual": True, "max_iter": MOST_SWEEPS, "random_state": 0}
    return LinearSVC(loss=problem.loss, C=problem.C, tol=tol, **settings)


def _saved(save: Callable[[str, Any], object], model: Any) -> Model:
    """What a model says of itself in the file that its own program writes."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model"
        save(str(file), model)
        return read(file)


def _fitted(name: str, model: Any, problem: MarginProblem, limits: Limits) -> Solution:
    """The solution that a model is when it has been fitted to the problem's data.

    One that warns that it did not converge is at a limit.
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
    found = finished(
        problem, name, _read(problem, model, kept), limits, time.perf_counter() - started
    )
    if isinstance(own := getattr(model, "C", None), int | float) and own != problem.C:
        other = (
            f"its C is {own:g}, and that of the problem {problem.C:g}: from_estimator takes a "
            f"function of the problem, too"
        )
        found = replace(found, reason=f"{found.reason}; {other}")
    stopped = next(
        (
            str(warning.message)
            for warning in heard
            if issubclass(warning.category, ConvergenceWarning)
        ),
        "",
    )
    if stopped and found.status is Status.FINISHED:
        return replace(
            found,
            status=Status.ITERATION_LIMIT,
            reason=f"it says {stopped.split('.')[0]!r}: {found.reason}",
        )
    return found


def _read(problem: MarginProblem, model: Any, kept: Index) -> Any:
    """The function of a fitted model: by its support vectors, by its weights, or by its values at the points."""
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
    """The function, the bias and the multipliers of coefficients of support vectors."""
    beta = np.zeros(problem.m)
    beta[support] = coefficients
    tube = isinstance(problem.rows, Tube)
    alpha = (
        np.concatenate([np.maximum(beta, 0.0), np.maximum(-beta, 0.0)])
        if tube
        else problem.rows.y * beta
    )
    return {"beta": beta, "b": b, "alpha": alpha}
