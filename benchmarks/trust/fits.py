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
from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse

from trust.instances import Array, pairs


@dataclass(frozen=True)
class Task:
    """Problem for a package: X (n, d), y (n,), C, loss, gamma, tolerance and options.

    gamma is that of the RBF kernel, or None. y is in {-1, 1}, or more than two labels.
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
    beta : Array | None of shape (n,) or (P, n)
        Coefficients of f = sum_i beta_i k(x_i, .), with its bias b; for more than two
        classes those of every pair, positive for the larger label.
    b : float | Array of shape (P,)
        Bias.
    done : bool | None
        True if the package reports convergence; None if it reports nothing.
    claimed : float | None
        Objective that it reports, None if it reports none; `dual` is true if that is one
        of the multipliers, a lower bound.
    """

    w: Array | None = None
    beta: Array | None = None
    b: float | Array = 0.0
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
    if len(np.unique(task.y)) > 2:
        return own_pairs(task)
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


def own_pairs(task: Task) -> Fit:
    """Return the fit of equimargin of all pairs of more than two classes."""
    from equimargin.formulations import rbf
    from equimargin.solvers import one_vs_one

    assert task.gamma is not None
    kernel = rbf(task.gamma)

    def run() -> Any:
        solutions = one_vs_one(
            task.X,
            task.y,
            task.C,
            kernel,
            task.loss,  # type: ignore[arg-type]
            tol=task.tol,
        )
        return [(solution, solution.beta, solution.bias) for solution in solutions]

    def read(answer: Any, printed: str, warned: bool) -> Model:
        beta = np.zeros((len(answer), len(task.y)))
        for row, (rows, _), (_, of_pair, _) in zip(beta, pairs(task.y), answer, strict=True):
            # Its functions are positive for the smaller label.
            row[rows] = -of_pair
        return Model(
            beta=beta,
            b=-np.array([bias for _, _, bias in answer]),
            done=all(solution.ok for solution, _, _ in answer),
            claimed=sum(solution.value for solution, _, _ in answer),
        )

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
        labels = np.unique(task.y)
        # The function of two classes alone is that of the larger label.
        order = labels if len(labels) > 2 else labels[::-1]
        beta, b = of_pairs(fitted.dual_coef_, fitted.intercept_, fitted.support_, task.y, order)
        return Model(beta=beta, b=b, done=not warned)

    return Fit(lambda: model.fit(task.X, task.y), read)


def of_pairs(
    dual_coef: Any, intercept: Any, support: Any, y: Array, labels: Any
) -> tuple[Array, Array]:
    """Return coefficients (P, n) and biases (P,) of all pairs, positive for the larger label.

    Parameters
    ----------
    dual_coef : array-like of shape (k - 1, s)
        Coefficients in LIBSVM's arrangement: row r of a point is that of its class and
        the r-th other class.
    intercept : array-like of shape (P,)
        Biases of the pairs of classes.
    support : array-like of shape (s,)
        Points with coefficients.
    y : ndarray of shape (n,)
        Labels of all points.
    labels : array-like of shape (k,)
        Labels in the order of the package, whose functions are positive for the first
        of two.
    """
    values = np.asarray(dual_coef.toarray() if sparse.issparse(dual_coef) else dual_coef, float)
    points = np.asarray(support, int)
    of_two = list(combinations(sorted(labels), 2))
    beta, b = np.zeros((len(of_two), len(y))), np.zeros(len(of_two))
    for (i, j), bias in zip(combinations(range(len(labels)), 2), np.ravel(intercept), strict=True):
        first, second = labels[i], labels[j]
        pair = of_two.index((min(first, second), max(first, second)))
        sign = 1.0 if first > second else -1.0
        b[pair] = sign * bias
        for label, row in ((first, j - 1), (second, i)):
            own = y[points] == label
            beta[pair, points[own]] = sign * values[row, own]
    return beta, b


def thundersvm(task: Task) -> Fit:
    """Return the fit of ThunderSVM.

    It counts classes in the order in which they appear; its `intercept_` is subtracted.
    """
    from thundersvm import SVC

    model = SVC(kernel="rbf", C=task.C, gamma=task.gamma, tol=task.tol, n_jobs=1, **task.options)

    def read(fitted: Any, printed: str, warned: bool) -> Model:
        order = list(dict.fromkeys(task.y))
        beta, b = of_pairs(fitted.dual_coef_, -fitted.intercept_, fitted.support_, task.y, order)
        return Model(beta=beta, b=b)

    return Fit(lambda: model.fit(task.X, task.y), read)


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
        k = model.nr_class
        beta, b = of_pairs(
            np.array(model.get_sv_coef()).T,
            -np.array(model.rho[: k * (k - 1) // 2]),
            np.array(model.get_sv_indices()) - 1,
            task.y,
            model.get_labels(),
        )
        objectives = [float(stated) for stated in re.findall(r"obj = (\S+),", printed)]
        done = "reaching max number of iterations" not in printed
        return Model(None, beta, b, done, -sum(objectives) if objectives else None, dual=True)

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
