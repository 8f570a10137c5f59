"""Calls of each package: a function of a task returns the timed call and the reader.

Data are put into the form that a package takes before its clock starts. A package's
report on its answer, the objective that it prints and whether it warns, is kept with
the answer and never used.
"""

from __future__ import annotations

import importlib
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Task:
    """Problem for a package: X (n, d), y (n,), C, loss, gamma, tolerance and options.

    gamma is that of the RBF kernel, or None.
    """

    X: Any
    y: Array
    C: float
    loss: str
    gamma: float | None
    tol: float
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Model:
    """Answer of a package, with its own report on it.

    Parameters
    ----------
    w : Array | None of shape (d,)
        Weights of a linear function.
    beta : Array | None of shape (n,)
        Coefficients of f = sum_i beta_i k(x_i, .), with its bias b.
    done : bool | None
        True if the package reports convergence; None if it reports nothing.
    claimed : float | None
        Objective that it reports, None if it reports none; `dual` is true if that is one
        of the multipliers, a lower bound.
    """

    w: Array | None = None
    beta: Array | None = None
    b: float = 0.0
    done: bool | None = None
    claimed: float | None = None
    dual: bool = False


@dataclass(frozen=True)
class Fit:
    """Timed call `run`, and reader `read` of the model.

    `read` takes what `run` returned, what was printed meanwhile, and whether it warned.
    """

    run: Callable[[], Any]
    read: Callable[[Any, str, bool], Model]


def equimargin(task: Task) -> Fit:
    """Return the fit of equimargin: the problem is built on the clock."""
    from equimargin.formulations import classification, rbf
    from equimargin.solvers import solve

    def run() -> Any:
        kernel = None if task.gamma is None else rbf(task.gamma)
        solution = solve(
            classification(
                task.X,
                task.y,
                task.C,
                kernel,
                task.loss,  # type: ignore[arg-type]
                bias=kernel is not None,
            ),
            tol=task.tol,
        )
        return solution, solution.w if kernel is None else (solution.beta, solution.bias)

    def read(answer: Any, printed: str, warned: bool) -> Model:
        solution, parts = answer
        function = {"w": parts} if task.gamma is None else {"beta": parts[0], "b": parts[1]}
        return Model(**function, done=solution.ok, claimed=solution.value)

    return Fit(run, read)


def linear_svc(task: Task) -> Fit:
    """Return the fit of scikit-learn's LinearSVC, a copy of LIBLINEAR."""
    from sklearn.svm import LinearSVC

    model = LinearSVC(C=task.C, loss=task.loss, tol=task.tol, fit_intercept=False, **task.options)
    return Fit(
        lambda: model.fit(task.X, task.y),
        lambda fitted, printed, warned: Model(w=fitted.coef_[0], done=not warned),
    )


def svc(task: Task) -> Fit:
    """Return the fit of a class with the interface of SVC, in the module of the options."""
    options = dict(task.options)
    kind = importlib.import_module(options.pop("module")).SVC
    model = kind(kernel="rbf", C=task.C, gamma=task.gamma, tol=task.tol, **options)

    def read(fitted: Any, printed: str, warned: bool) -> Model:
        return Model(
            beta=coefficients(fitted, len(task.y)),
            b=float(np.ravel(fitted.intercept_)[0]),
            done=not warned,
        )

    return Fit(lambda: model.fit(task.X, task.y), read)


def thundersvm(task: Task) -> Fit:
    """Return the fit of ThunderSVM.

    Its decision is that of the class that it counts first; its `intercept_` is
    subtracted.
    """
    from thundersvm import SVC

    model = SVC(kernel="rbf", C=task.C, gamma=task.gamma, tol=task.tol, n_jobs=1, **task.options)

    def read(fitted: Any, printed: str, warned: bool) -> Model:
        beta = coefficients(fitted, len(task.y))
        sign = 1.0 if beta @ task.y >= 0 else -1.0
        return Model(beta=sign * beta, b=-sign * float(np.ravel(fitted.intercept_)[0]))

    return Fit(lambda: model.fit(task.X, task.y), read)


def coefficients(fitted: Any, n: int) -> Array:
    """Return the dual coefficients of an estimator, (n,)."""
    beta, given = np.zeros(n), fitted.dual_coef_
    beta[np.asarray(fitted.support_, int)] = np.ravel(
        given.toarray() if hasattr(given, "toarray") else given
    )
    return beta


def libsvm(task: Task) -> Fit:
    """Return the fit of LIBSVM by its own interface.

    Its printed objective is minus that of the multipliers.
    """
    from libsvm.svm import svm_parameter, svm_problem
    from libsvm.svmutil import svm_train

    problem = svm_problem(task.y, task.X)
    given = " ".join(f"-{name} {value}" for name, value in task.options.items())
    parameter = svm_parameter(f"-s 0 -t 2 -g {task.gamma!r} -c {task.C!r} -e {task.tol!r} {given}")

    def read(model: Any, printed: str, warned: bool) -> Model:
        sign = (
            1.0 if model.get_labels()[0] == 1 else -1.0
        )  # its decision is that of the class that it counts first
        beta = np.zeros(len(task.y))
        beta[np.array(model.get_sv_indices()) - 1] = sign * np.array(
            [c[0] for c in model.get_sv_coef()]
        )
        objective = last(r"obj = (\S+),", printed)
        done = "reaching max number of iterations" not in printed
        return Model(
            None,
            beta,
            -sign * model.rho[0],
            done,
            None if objective is None else -objective,
            dual=True,
        )

    return Fit(lambda: svm_train(problem, parameter), read)


def liblinear(task: Task) -> Fit:
    """Return the fit of LIBLINEAR by its own interface.

    The objective that its dual solvers print is minus that of the multipliers.
    """
    from liblinear.liblinear import parameter, problem
    from liblinear.liblinearutil import train

    data = problem(task.y, task.X, bias=-1)
    options = parameter(f"-s {task.options['s']} -c {task.C!r} -e {task.tol!r} -B -1")

    def read(model: Any, printed: str, warned: bool) -> Model:
        w, _ = model.get_decfun()
        objective = last(r"Objective value = (\S+)", printed)
        done = "reaching max number of iterations" not in printed
        return Model(
            w=np.array(w), done=done, claimed=None if objective is None else -objective, dual=True
        )

    return Fit(lambda: train(data, options), read)


def snapml(task: Task) -> Fit:
    """Return the fit of IBM's Snap ML: its regularizer is 1 / C."""
    from snapml import SupportVectorMachine

    model = SupportVectorMachine(
        loss=task.loss,
        regularizer=1 / task.C,
        tol=task.tol,
        fit_intercept=False,
        n_jobs=1,
        **task.options,
    )
    return Fit(
        lambda: model.fit(task.X, task.y),
        lambda fitted, printed, warned: Model(w=np.ravel(fitted.coef_)),
    )


def skglm(task: Task) -> Fit:
    """Return the fit of skglm's LinearSVC: dual coordinate descent, Anderson acceleration.

    It does not report whether it has converged.
    """
    from skglm import LinearSVC

    model = LinearSVC(C=task.C, tol=task.tol, fit_intercept=False, **task.options)
    return Fit(
        lambda: model.fit(task.X, task.y),
        lambda fitted, printed, warned: Model(w=np.ravel(fitted.coef_)),
    )


def cyanure(task: Task) -> Fit:
    """Return the fit of Cyanure.

    It minimises (1/n) sum_i 1/2 max(0, 1 - y_i w.x_i)^2 + lambda/2 |w|^2, so that
    lambda = 1 / (2 C n).
    """
    from cyanure.estimators import Classifier

    cost = 1 / (2 * task.C * len(task.y))
    model = Classifier(
        loss="sqhinge",
        penalty="l2",
        lambda_1=cost,
        fit_intercept=False,
        tol=task.tol,
        n_threads=1,
        verbose=False,
        **task.options,
    )
    return Fit(
        lambda: model.fit(task.X, task.y),
        lambda fitted, printed, warned: Model(w=np.ravel(fitted.coef_), done=not warned or None),
    )


def cvxpy(task: Task) -> Fit:
    """Return the fit of the primal in cvxpy by one of its solvers, stated on the clock."""
    import cvxpy as cp

    options = dict(task.options)
    own = dict.fromkeys(options.pop("tolerances"), task.tol)

    def run() -> Any:
        w = cp.Variable(task.X.shape[1])
        slack = cp.pos(1 - cp.multiply(task.y, task.X @ w))
        loss = cp.sum_squares(slack) if task.loss == "squared_hinge" else cp.sum(slack)
        problem = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + task.C * loss))
        problem.solve(**options, **own)
        return w.value, problem.status, problem.value

    def read(answer: Any, printed: str, warned: bool) -> Model:
        w, status, value = answer
        return Model(w=w, done=status == "optimal", claimed=None if value is None else float(value))

    return Fit(run, read)


FITS: Mapping[str, Callable[[Task], Fit]] = {
    fit.__name__: fit
    for fit in (
        equimargin,
        linear_svc,
        svc,
        thundersvm,
        libsvm,
        liblinear,
        snapml,
        skglm,
        cyanure,
        cvxpy,
    )
}
"""By the names that packages.toml has."""


def last(pattern: str, printed: str) -> float | None:
    """Return the last number printed by a pattern."""
    found = re.findall(pattern, printed)
    return float(found[-1]) if found else None


def warned(caught: list[warnings.WarningMessage]) -> bool:
    """Return True if a package warned that it has not converged."""
    return any(
        "converge" in str(warning.message).lower() or "iteration" in str(warning.message).lower()
        for warning in caught
    )
