"""How each package is called: a function of a task that returns what is timed, and what reads the model afterwards.

Data are put into the form that a package asks for before its clock starts. What a
package says of its answer, the objective that it prints and whether it warns, is kept
beside the answer and never believed.
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
    """A problem for a package: X (n, d), y (n,), C, the loss, gamma of the RBF kernel or None, and the package's tolerance and options."""

    X: Any
    y: Array
    C: float
    loss: str
    gamma: float | None
    tol: float
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Model:
    """What a package answers, and what it says of it.

    Parameters
    ----------
    w : Array | None of shape (d,)
        Of a linear function.
    beta : Array | None of shape (n,)
        Of f = sum_i beta_i k(x_i, .), with its bias b.
    done : bool | None
        Whether it says that it has converged; None where it does not tell.
    claimed : float | None
        The objective that it states, None where it states none; `dual` : that it is one
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
    """run : what is timed.  read : the model out of what `run` returned, what was printed meanwhile, and whether it warned."""

    run: Callable[[], Any]
    read: Callable[[Any, str, bool], Model]


def equimargin(task: Task) -> Fit:
    """This package: the problem is built on the clock."""
    from equimargin.formulations import classification, rbf
    from equimargin.solvers import solve

    def run() -> Any:
        kernel = None if task.gamma is None else rbf(task.gamma)
        solution = solve(
            classification(task.X, task.y, task.C, kernel, task.loss, bias=kernel is not None),  # type: ignore[arg-type]
            tol=task.tol,
        )
        return solution, solution.w if kernel is None else (solution.beta, solution.bias)

    def read(answer: Any, printed: str, warned: bool) -> Model:
        solution, parts = answer
        function = {"w": parts} if task.gamma is None else {"beta": parts[0], "b": parts[1]}
        return Model(**function, done=solution.ok, claimed=solution.value)

    return Fit(run, read)


def linear_svc(task: Task) -> Fit:
    """scikit-learn's LinearSVC, a copy of LIBLINEAR."""
    from sklearn.svm import LinearSVC

    model = LinearSVC(C=task.C, loss=task.loss, tol=task.tol, fit_intercept=False, **task.options)
    return Fit(
        lambda: model.fit(task.X, task.y),
        lambda fitted, printed, warned: Model(w=fitted.coef_[0], done=not warned),
    )


def svc(task: Task) -> Fit:
    """Classes with the interface of scikit-learn's SVC, in the module that the options name."""
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
    """ThunderSVM: its decision is that of the class that it counts first, and its `intercept_` is subtracted."""
    from thundersvm import SVC

    model = SVC(kernel="rbf", C=task.C, gamma=task.gamma, tol=task.tol, n_jobs=1, **task.options)

    def read(fitted: Any, printed: str, warned: bool) -> Model:
        beta = coefficients(fitted, len(task.y))
        sign = 1.0 if beta @ task.y >= 0 else -1.0
        return Model(beta=sign * beta, b=-sign * float(np.ravel(fitted.intercept_)[0]))

    return Fit(lambda: model.fit(task.X, task.y), read)


def coefficients(fitted: Any, n: int) -> Array:
    """The dual coefficients of an estimator, (n,)."""
    beta, given = np.zeros(n), fitted.dual_coef_
    beta[np.asarray(fitted.support_, int)] = np.ravel(
        given.toarray() if hasattr(given, "toarray") else given
    )
    return beta


def libsvm(task: Task) -> Fit:
    """LIBSVM by its own interface; its printed objective is minus that of the multipliers."""
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
    """LIBLINEAR by its own interface; the objective that its dual solvers print is minus that of the multipliers."""
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
    """IBM's Snap ML: its regularizer is 1 / C."""
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
    """skglm's LinearSVC, coordinate descent on the dual with Anderson acceleration; it does not tell whether it has converged."""
    from skglm import LinearSVC

    model = LinearSVC(C=task.C, tol=task.tol, fit_intercept=False, **task.options)
    return Fit(
        lambda: model.fit(task.X, task.y),
        lambda fitted, printed, warned: Model(w=np.ravel(fitted.coef_)),
    )


def cyanure(task: Task) -> Fit:
    """Cyanure: (1/n) sum_i 1/2 max(0, 1 - y_i w.x_i)^2 + lambda/2 |w|^2, so that lambda = 1 / (2 C n)."""
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
    """The primal as a person writes it in cvxpy, by one of its solvers; stating the problem is on the clock."""
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
    """The last number that was printed so."""
    found = re.findall(pattern, printed)
    return float(found[-1]) if found else None


def warned(caught: list[warnings.WarningMessage]) -> bool:
    """Whether a package warned that it has not converged."""
    return any(
        "converge" in str(warning.message).lower() or "iteration" in str(warning.message).lower()
        for warning in caught
    )
