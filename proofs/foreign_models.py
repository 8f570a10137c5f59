"""Models of other programs: scikit-learn estimators, and coefficients by name.

    f(x) + b = sum_k coefficient_k k(support_k, x) + b        or        w.x + b

coefficient_k is y_k alpha_k for classification, and alpha_k - alphahat_k for
regression. The larger of two labels is the positive class. An estimator may be the last
step of a pipeline. A ranker is w alone: a bias cancels in every pair.

Coefficients in a file are NPZ arrays or a JSON object with scikit-learn's names:

    kind            "SVC", "SVR", "LinearSVC", "LinearSVR" or "RankSVM"
    intercept       b (with coef: the attribute intercept_, 0 without an intercept);
                    not of RankSVM
    SVC, SVR        kernel ("rbf" or another name of `named_kernel`), gamma (a number),
                    degree, coef0, dual_coef (n,), support (n,), the indices in the data,
                    from 0, of the points with these coefficients; optional
                    support_vectors (n, d), with which the data are compared
    LinearSVC       coef (d,), loss ("squared_hinge" by default), fit_intercept (true),
                    intercept_scaling (1)
    LinearSVR       as LinearSVC; loss "epsilon_insensitive" by default, or
                    "squared_epsilon_insensitive"
    RankSVM         coef (d,), loss ("hinge" by default, or "squared_hinge") of every pair
    optional        C, epsilon, class_weight (of the smaller label, of the larger)

References
----------
Manuals of scikit-learn 1.x, LIBSVM 3.x and LIBLINEAR 2.x.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.kernels.kernel import Kernel, linear
from equimargin.formulations.kernels.registry import KERNELS, called, list_parameters
from equimargin.formulations.numeric.arrays import Array, dense, is_sparse
from equimargin.formulations.problem.choices import LossName

Value = TypeVar("Value")
Task = Literal["classification", "regression", "ranking", "ordinal"]
KINDS_OF_WEIGHTS: Mapping[str, tuple[Task, str, Mapping[str, LossName]]] = {
    "LinearSVC": (
        "classification",
        "squared_hinge",
        {"hinge": "hinge", "squared_hinge": "squared_hinge"},
    ),
    "LinearSVR": (
        "regression",
        "epsilon_insensitive",
        {"epsilon_insensitive": "hinge", "squared_epsilon_insensitive": "squared_hinge"},
    ),
    "RankSVM": ("ranking", "hinge", {"hinge": "hinge", "squared_hinge": "squared_hinge"}),
}
"""Task, default loss and losses, by their names in files, of every kind of model with w."""
PROBLEM_OF_LIBLINEAR: Mapping[str, tuple[Task, LossName]] = {
    "L2R_L2LOSS_SVC": ("classification", "squared_hinge"),
    "L2R_L2LOSS_SVC_DUAL": ("classification", "squared_hinge"),
    "L2R_L1LOSS_SVC_DUAL": ("classification", "hinge"),
    "L2R_L2LOSS_SVR": ("regression", "squared_hinge"),
    "L2R_L2LOSS_SVR_DUAL": ("regression", "squared_hinge"),
    "L2R_L1LOSS_SVR_DUAL": ("regression", "hinge"),
    "L2R_L2LOSS_RANKSVM": ("ranking", "squared_hinge"),
}
"""Task and loss of every LIBLINEAR solver whose models can be audited, by the solver's name.

L2R_L2LOSS_RANKSVM is of the extension of LIBLINEAR by Kuo, Lee and Lin.
"""
NO_CLASS_WEIGHTS = "no class weights (-wi)"
"""Assumption about a LIBSVM or LIBLINEAR classifier: class weights of 1 in the training.

Its file does not contain them.
"""
PENALISED_BIAS = "a penalised bias (no -R)"
"""Assumption about a LIBLINEAR model: its bias was part of the norm |w|.

Its file does not say if the bias was excluded.
"""
OF_MORD = {"LAD": "LinearSVR", "OrdinalRidge": "Ridge"}
"""Classes of mord that solve a problem of scikit-learn, and its class.

Their targets are the numbers of the levels, and their predictions are rounded.
"""
FREE_BIAS = ("L2R_L2LOSS_SVC", "L2R_L2LOSS_SVR")
"""LIBLINEAR's solvers whose bias may be excluded from the norm (-R), of those audited."""


@dataclass(frozen=True, eq=False)
class ClaimedProblem:
    """Problem that a model claims to solve, with the model's parameters.

    Parameters
    ----------
    task : Task
        Learning task.
    kernel : Kernel
        Kernel k.
    loss : LossName
        Loss function of the slacks.
    C, epsilon : float, optional
        Parameters; None if the model does not have them.
    class_weight : tuple[float, float], default (1.0, 1.0)
        Factors of C for the smaller and the larger label.
    free_bias : bool, default True
        True if there is a bias outside the norm.
    constant : float, optional
        Value of a feature that is appended to every point, and whose weight gives the
        bias; None without such a feature.
    """

    task: Task
    kernel: Kernel
    loss: LossName
    C: float | None = None
    epsilon: float | None = None
    class_weight: tuple[float, float] = (1.0, 1.0)
    free_bias: bool = True
    constant: float | None = None

    @property
    def extra_features(self) -> int:
        """Number of columns appended to the data, 0 or 1.

        In a classification a constant 1 is added to the kernel instead.
        """
        in_kernel = self.task == "classification" and self.constant == 1.0
        return int(self.constant is not None and not in_kernel)


@dataclass(frozen=True, eq=False)
class ForeignModel:
    """Model of another program.

    Parameters
    ----------
    source : str
        Kind of the model, as text.
    steps : fitted transformer or None
        Transformation of the features before the model in a pipeline; None without one.
    numeric_labels : bool, default False
        True if the labels are numbers, so that the text of a number in the data is its
        number, and "+1" is larger than "-1".
    """

    source: str
    steps: Any = field(default=None, kw_only=True)
    numeric_labels: bool = field(default=False, kw_only=True)

    def features(self, X: Any) -> Any:
        """Return the features that the pipeline passes to the model.

        Parameters
        ----------
        X : array-like or DataFrame
            Features as passed to the pipeline.

        Returns
        -------
        array-like
            Transformed features.

        Raises
        ------
        ValueError
            If a step rejects the features.
        """
        if self.steps is None:
            return X
        try:
            return self.steps.transform(X)
        except (ValueError, TypeError, KeyError, AttributeError) as reason:
            raise ValueError(
                f"the pipeline's steps before its last one reject these features: {reason}"
            ) from None


@dataclass(frozen=True, eq=False)
class Model(ForeignModel):
    """Coefficients and claimed problem of a model, with equimargin's signs.

    Parameters
    ----------
    source, steps, numeric_labels
        As in `ForeignModel`.
    claimed : ClaimedProblem
        Problem that it claims to solve.
    b : float
        Bias that the model's predictions add to w.x or the kernel sum.
    w : ndarray or None of shape (d,)
        Weights of a linear model.
    coefficients : ndarray or None of shape (n,)
        Coefficients of the support vectors, None for a model with w. The support
        vectors are rows of the data, given by their indices (support, (n,)), by their
        features (vectors, (n, d), dense or sparse), or by both, which must then agree.
    assumed : str, default ""
        Assumptions on the problem that the model's file does not state, as text; empty
        if there are none.
    nu : float or None
        Parameter of a NuSVC, which determines C with the coefficients; None for others.
    thresholds : ndarray or None of shape (L - 1,)
        Thresholds of an ordinal model; None for others.
    has_multipliers : bool, default True
        False if the coefficients are those of f alone, and of every row.
    """

    claimed: ClaimedProblem
    b: float
    w: Array | None = None
    coefficients: Array | None = None
    support: NDArray[np.int64] | None = None
    vectors: Any = None
    assumed: str = ""
    nu: float | None = None
    thresholds: Array | None = None
    has_multipliers: bool = True


def stated(
    model: Model, class_weight: Sequence[float] | None = None, free_bias: bool = False
) -> Model:
    """Return a model with the parameters of its training that its file lacks.

    Parameters
    ----------
    model : Model
        Model of a LIBSVM or LIBLINEAR file; any other if no parameter is added.
    class_weight : sequence of 2 float, optional
        Factors of C for the smaller and the larger label (-wi); None leaves those of
        the model.
    free_bias : bool, default False
        True if the bias of a LIBLINEAR model was excluded from the norm (-R).

    Raises
    ------
    ValueError
        If the model cannot have the parameter, or a weight is not positive and finite.
    """
    assumed, claimed = model.assumed.split(", "), model.claimed
    if class_weight is not None:
        if NO_CLASS_WEIGHTS not in assumed:
            raise ValueError(
                f"class_weight is for LIBSVM and LIBLINEAR classifiers, and this is a "
                f"{model.source}"
            )
        smaller, larger = read_finite("class_weight", class_weight, 2)
        if min(smaller, larger) <= 0:
            raise ValueError(
                f"class_weight must be 2 positive numbers, not {smaller:g} and {larger:g}"
            )
        claimed = replace(claimed, class_weight=(float(smaller), float(larger)))
        assumed.remove(NO_CLASS_WEIGHTS)
    if free_bias:
        if PENALISED_BIAS not in assumed:
            raise ValueError(
                f"free_bias is for LIBLINEAR's {' and '.join(FREE_BIAS)} with a bias of 1, which "
                f"support -R, and this is a {model.source}"
            )
        claimed = replace(claimed, free_bias=True, constant=None)
        assumed.remove(PENALISED_BIAS)
    return replace(model, claimed=claimed, assumed=", ".join(assumed))


def of_estimator(estimator: Any) -> Model:
    """Convert a fitted scikit-learn estimator of one function to a Model.

    It is an SVC, NuSVC or LinearSVC of two classes, an SVR, a LinearSVR or a Ridge, an
    OrdinalRidge or LAD of mord, a pipeline that ends in one, or a parameter search whose
    best estimator is one.

    Parameters
    ----------
    estimator : estimator
        Fitted estimator.

    Raises
    ------
    ValueError
        If the estimator is of another kind or not fitted, or has more than two classes
        or a kernel that is not positive semidefinite.
    """
    last, steps, at_end = unwrapped(estimator)
    model = _of_last(last)
    return replace(model, source=f"{model.source}{at_end}", steps=steps)


def unwrapped(estimator: Any) -> tuple[Any, Any, str]:
    """Return the last step of a pipeline or of a search's result, and the steps before it.

    Parameters
    ----------
    estimator : estimator
        Fitted estimator.

    Returns
    -------
    last : estimator
        Last step.
    steps : fitted transformer or None
        Steps before it.
    at_end : str
        Text that says so; empty without a pipeline.
    """
    if hasattr(estimator, "best_estimator_"):
        return unwrapped(estimator.best_estimator_)
    if type(estimator).__name__ == "Pipeline":
        steps = estimator[:-1] if len(estimator.steps) > 1 else None
        return estimator.steps[-1][1], steps, " at the end of a pipeline"
    return estimator, None, ""


def _of_last(estimator: Any) -> Model:
    """Convert an estimator that is no pipeline."""
    # Imported here: files are read without scikit-learn.
    from sklearn.linear_model import Ridge
    from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR, NuSVC

    classes = {known.__name__: known for known in (SVC, NuSVC, SVR, LinearSVC, LinearSVR, Ridge)}
    kind, home = type(estimator).__name__, type(estimator).__module__.partition(".")[0]
    kind = OF_MORD.get(kind, kind) if home == "mord" else kind
    if not isinstance(estimator, classes.get(kind, ())):
        raise ValueError(_refusal(estimator, home))
    if not hasattr(estimator, "intercept_"):
        raise ValueError(f"the {type(estimator).__name__} is not fitted")
    if kind == "Ridge":
        return _of_ridge(estimator)
    values = {"kind": kind, "intercept": estimator.intercept_, "C": estimator.C}
    if kind == "NuSVC":
        values = {"kind": "SVC", "intercept": estimator.intercept_}
    values |= {"epsilon": estimator.epsilon} if kind.endswith("SVR") else {}
    values |= {} if kind.endswith("SVR") else {"class_weight": class_weights(estimator)}
    if kind in KINDS_OF_WEIGHTS:
        values |= _weights(estimator)
    else:
        values |= kernel_values(estimator)
        values |= {"dual_coef": dense(estimator.dual_coef_), "support": estimator.support_}
        if estimator.kernel != "precomputed" and not callable(estimator.kernel):
            values["support_vectors"] = estimator.support_vectors_
    return replace(of_values(values), source=type(estimator).__name__, nu=read_nu(estimator))


def _refusal(estimator: Any, home: str) -> str:
    """Return the reason why an estimator cannot be audited."""
    own = f" of {home}; save its coefficients under scikit-learn's names (NPZ or JSON)"
    if hasattr(type(estimator), "objective_bounds_"):
        own = f" of {home}, whose objective_bounds_ need no audit"
    elif home in ("sklearn", "builtins"):
        own = ""
    return (
        f"scikit-learn's SVC, NuSVC, SVR, LinearSVC, LinearSVR and Ridge can be audited, not "
        f"{type(estimator).__name__}{own}"
    )


def _weights(estimator: Any) -> dict[str, Any]:
    """Return w and the parameters of a fitted LinearSVC or LinearSVR."""
    if getattr(estimator, "multi_class", None) == "crammer_singer":
        raise ValueError(
            "LinearSVC with multi_class='crammer_singer' solves another problem, of two "
            "classes too, with a w for each"
        )
    refuse_one_norm(estimator)
    names = ("loss", "fit_intercept", "intercept_scaling")
    return {"coef": estimator.coef_} | {name: getattr(estimator, name) for name in names}


def _of_ridge(estimator: Any) -> Model:
    """Convert a Ridge: its problem is that of a tube of width 0 with C = 1 / (2 alpha).

    alpha |w|^2 + sum_i (y_i - w.x_i - b)^2 is 2 alpha times the objective.
    """
    w, alpha = np.asarray(estimator.coef_, dtype=np.float64), np.max(estimator.alpha)
    if w.ndim > 1 or not alpha > 0 or estimator.positive:
        raise ValueError(
            "a Ridge of one target, with alpha > 0 and positive=False, can be audited; fit it so"
        )
    claimed = ClaimedProblem(
        "regression",
        linear(),
        "squared_hinge",
        float(1 / (2 * alpha)),
        0.0,
        free_bias=bool(estimator.fit_intercept),
    )
    return Model(
        type(estimator).__name__, claimed, read_finite("intercept", estimator.intercept_, 1)[0], w
    )


def refuse_one_norm(estimator: Any) -> None:
    """Raise a ValueError for a LinearSVC whose penalty is the 1-norm of w.

    Parameters
    ----------
    estimator : LinearSVC
        Fitted estimator.
    """
    if getattr(estimator, "penalty", "l2") != "l2":
        raise ValueError("LinearSVC with penalty='l1' solves another problem, with a 1-norm of w")


def kernel_values(estimator: Any) -> dict[str, Any]:
    """Return the kernel of a fitted SVC, NuSVC or SVR under scikit-learn's names.

    Parameters
    ----------
    estimator : estimator
        Fitted estimator.

    Raises
    ------
    ValueError
        If the kernel is a function other than scikit-learn's `laplacian_kernel` and
        `chi2_kernel`.
    """
    name, gamma = _name_kernel(estimator)
    return {
        "kernel": name,
        "gamma": gamma,
        "degree": estimator.degree,
        "coef0": estimator.coef0,
    }


def _name_kernel(estimator: Any) -> tuple[str, float]:
    """Return the name and the gamma of a fitted estimator's kernel."""
    kernel = estimator.kernel
    if not callable(kernel):
        return kernel, estimator._gamma
    # An estimator calls a function without gamma, whose default thus holds.
    path = f"{getattr(kernel, '__module__', '')}.{getattr(kernel, '__name__', '')}"
    if path == "sklearn.metrics.pairwise.laplacian_kernel":
        return "laplacian", 1.0 / estimator.shape_fit_[1]
    if path == "sklearn.metrics.pairwise.chi2_kernel":
        return "chi2", 1.0
    raise ValueError(
        "a kernel that is a function cannot be audited; pass the Gram matrix, kernel='precomputed'"
    )


def of_values(values: Mapping[str, Any]) -> Model:
    """Convert coefficients under scikit-learn's names, as listed above, to a Model.

    Parameters
    ----------
    values : mapping
        Coefficients and parameters, by name.

    Raises
    ------
    ValueError
        If a key is missing or unknown, a number is not finite, or shapes do not fit.
    """
    kind = str(read_required(values, "kind"))
    with_w = kind in KINDS_OF_WEIGHTS
    if kind not in ("SVC", "SVR") and not with_w:
        known = ", ".join(("SVC", "SVR", *KINDS_OF_WEIGHTS))
        raise ValueError(f"the kind of a model is one of {known}, not {kind!r}")
    # Keys of another kind count as unknown.
    own = {"coef", "loss", "fit_intercept", "intercept_scaling"}
    if not with_w:
        own = {"kernel", "gamma", "degree", "coef0", "dual_coef", "support", "support_vectors"}
    own = {"coef", "loss"} if kind == "RankSVM" else own | {"intercept", "class_weight", "epsilon"}
    unknown = set(values) - own - {"kind", "C"}
    if unknown:
        raise ValueError(f"a model of kind {kind} has no key {sorted(unknown)[0]!r}")
    return (_of_weights if with_w else _of_support)(kind, values)


def _of_weights(kind: str, values: Mapping[str, Any]) -> Model:
    """Convert w and the value of a constant feature, of a ranker w alone."""
    task, default, losses = KINDS_OF_WEIGHTS[kind]
    name = str(values.get("loss", default))
    if name not in losses:
        raise ValueError(f"the loss of a {kind} is {' or '.join(losses)}, not {name!r}")
    w = read_finite("coef", read_required(values, "coef"))
    claimed = ClaimedProblem(task, linear(), losses[name], _optional(values, "C"), free_bias=False)
    if task == "ranking":
        return Model(kind, claimed, 0.0, w)
    b = read_number(values, "intercept")
    constant = read_number({"intercept_scaling": 1.0} | dict(values), "intercept_scaling")
    if constant <= 0:
        raise ValueError(f"intercept_scaling must be positive, not {constant:g}")
    intercept = values.get("fit_intercept", True)
    if not isinstance(intercept, bool | np.bool_):
        raise ValueError(f"fit_intercept is true or false, not {intercept!r}")
    if b != 0 and not intercept:
        raise ValueError(f"fit_intercept is false, and the intercept is {b:g}")
    claimed = replace(
        claimed,
        epsilon=_optional(values, "epsilon"),
        class_weight=_class_weight(values),
        constant=constant if intercept else None,
    )
    return Model(kind, claimed, b, w)


def _of_support(kind: str, values: Mapping[str, Any]) -> Model:
    """Convert coefficients of support vectors."""
    b = read_number(values, "intercept")
    coefficients = read_finite("dual_coef", read_required(values, "dual_coef"))
    support = read_whole("support", read_required(values, "support"), len(coefficients))
    kernel = make_kernel(str(read_required(values, "kernel")), values)
    vectors = values.get("support_vectors")
    if vectors is not None and not is_sparse(vectors):
        vectors = _table(vectors, len(coefficients))
    task: Task = "classification" if kind == "SVC" else "regression"
    C, epsilon = _optional(values, "C"), _optional(values, "epsilon")
    claimed = ClaimedProblem(task, kernel, "hinge", C, epsilon, _class_weight(values))
    return Model(kind, claimed, b, coefficients=coefficients, support=support, vectors=vectors)


def _class_weight(values: Mapping[str, Any]) -> tuple[float, float]:
    """Return the factors of C for the smaller and the larger label, 1 by default."""
    smaller, larger = read_finite("class_weight", values.get("class_weight", (1.0, 1.0)), 2)
    return float(smaller), float(larger)


def make_kernel(name: str, parameters: Mapping[str, object]) -> Kernel:
    """Return a kernel by its name.

    Parameters
    ----------
    name : str
        Name.
    parameters : mapping
        Values by name, of which gamma, degree and coef0 are read.

    Raises
    ------
    ValueError
        If the kernel is not positive semidefinite, or a parameter is missing or invalid.
    """
    made = KERNELS.get(called(name))
    if made is None or not made.positive_semidefinite:
        raise ValueError(
            f"the {name} kernel is not positive semidefinite, or not known: no optimum is "
            f"claimed with it"
        )
    own = list_parameters(name)
    if "gamma" in own and parameters.get("gamma") in ("scale", "auto"):
        raise ValueError(
            f"gamma must be a number, not {parameters['gamma']!r}; use `model._gamma` of the "
            f"trained model"
        )
    readers = {"gamma": read_number, "degree": read_integer, "coef0": read_number}
    return made(**{parameter: readers[parameter](parameters, parameter) for parameter in own})


def read_nu(estimator: Any) -> float | None:
    """Return the parameter nu of a NuSVC; None for other estimators.

    Parameters
    ----------
    estimator : estimator
        Fitted estimator.
    """
    return float(estimator.nu) if type(estimator).__name__ == "NuSVC" else None


def class_weights(estimator: Any) -> tuple[float, ...]:
    """Return scikit-learn's factors of C for the classes.

    A fitted SVC stores them; a LinearSVC only has the parameter, which may be a mapping.

    Parameters
    ----------
    estimator : estimator
        Fitted classifier.

    Raises
    ------
    ValueError
        If they are not stored, or the classifier is a NuSVC, which has no C.
    """
    given = estimator.class_weight
    if read_nu(estimator) is not None and given is not None:
        raise ValueError(
            "class_weight of a NuSVC changes no known problem; fit it without class weights"
        )
    if hasattr(estimator, "class_weight_"):
        return tuple(map(float, estimator.class_weight_))
    if isinstance(given, str):
        raise ValueError(
            "class_weight='balanced' of a LinearSVC is not stored in the model; give its two "
            "weights as a mapping"
        )
    return tuple(float((given or {}).get(label, 1.0)) for label in estimator.classes_)


def read_required(values: Mapping[str, Value], name: str) -> Value:
    """Return a value; raise a ValueError if it is missing.

    Parameters
    ----------
    values : mapping
        Values by name.
    name : str
        Name of the value.
    """
    if name not in values:
        raise ValueError(f"the model has no {name}")
    return values[name]


def read_number(values: Mapping[str, object], name: str) -> float:
    """Return a value as one finite number.

    Parameters
    ----------
    values, name
        As in `read_required`.
    """
    return float(read_finite(name, read_required(values, name), 1)[0])


def read_integer(values: Mapping[str, object], name: str) -> int:
    """Return a value as one integer of at least 0.

    Parameters
    ----------
    values, name
        As in `read_required`.
    """
    return int(read_whole(name, read_required(values, name), 1)[0])


def _optional(values: Mapping[str, Any], name: str) -> float | None:
    return None if values.get(name) is None else read_number(values, name)


def read_whole(name: str, values: object, length: int | None = None) -> NDArray[np.int64]:
    """Return values as a vector of integers >= 0; reject other numbers or another length.

    Parameters
    ----------
    name, values, length
        As in `read_finite`.
    """
    v = read_finite(name, values, length)
    if ((v < 0) | (v >= 2.0**53) | (v != np.floor(v))).any():
        raise ValueError(f"{name} must be whole numbers, 0 or more")
    return v.astype(np.int64)


def read_finite(name: str, values: object, length: int | None = None) -> Array:
    """Return values as a vector of finite numbers; reject true, false or another length.

    Parameters
    ----------
    name : str
        Name of the values in a message.
    values : array-like
        Numbers, or their texts.
    length : int, optional
        Required number of values; any by default.
    """
    given = np.asarray(values, dtype=object).ravel()
    wanted = "finite numbers" if length is None else f"{length} finite number{'s' * (length != 1)}"
    try:
        v = given.astype(np.float64)
    except (ValueError, TypeError, OverflowError):
        raise ValueError(f"{name} must be {wanted}") from None
    if (
        not np.isfinite(v).all()
        or (length is not None and len(v) != length)
        or any(isinstance(u, bool) for u in given)
    ):
        raise ValueError(f"{name} must be {wanted}")
    return v


def _table(values: Any, n: int) -> Array:
    """Return values as an array of n rows; reject other than finite numbers."""
    rows = np.asarray(values, dtype=object)
    if rows.ndim != 2 or len(rows) != n:
        raise ValueError(f"support_vectors must be {n} rows of numbers")
    return read_finite("support_vectors", rows).reshape(rows.shape)
