"""Classifiers of several classes of other programs, machine by machine.

    SVC, NuSVC      a machine per pair of classes, on the rows of the two
    LinearSVC       a machine per class, against all others, on all rows

The second class of a pair, and the class against all others, is the positive one. NuSVC
scales its coefficients such that each machine solves `svm.soft` with

    C = sum_k |coefficient_k| / (nu m),   m the rows of the pair.

References
----------
B. Schölkopf, A. Smola, R. C. Williamson, P. L. Bartlett, New support vector algorithms,
Neural Computation 12 (2000), proposition 6: optimum of nu-SVC and of C-SVC.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from equimargin.formulations.numeric.arrays import Array, Index, dense
from equimargin.formulations.problem.labels import number_labels
from equimargin.proofs.foreign_models import (
    ForeignModel,
    Model,
    class_weights,
    kernel_values,
    of_estimator,
    of_values,
    read_finite,
    read_nu,
    refuse_one_norm,
    stated,
    unwrapped,
)


@dataclass(frozen=True, eq=False)
class Machine:
    """One of the machines of a classifier.

    Parameters
    ----------
    name : str
        Names of its classes.
    model : Model
        Its coefficients; support vectors are numbered as rows of all data.
    negative, positive : tuple of int
        Classes of the labels -1 and +1, by their position in the sorted labels.
    """

    name: str
    model: Model
    negative: tuple[int, ...]
    positive: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Machines(ForeignModel):
    """Classifier of several classes, as the machines whose votes or values it compares.

    Parameters
    ----------
    source, steps, numeric_labels
        As in `ForeignModel`.
    k : int
        Number of classes.
    machines : tuple of Machine
        Machines.
    """

    k: int
    machines: tuple[Machine, ...]


@dataclass(frozen=True, eq=False)
class JointModel(ForeignModel):
    """Weights of all classes that one problem determines, that of Crammer and Singer.

    Parameters
    ----------
    source, steps, numeric_labels
        As in `ForeignModel`.
    C : float or None
        Cost; None if the model does not have it.
    W : ndarray of shape (k, d)
        Weights of the features; the last column is of the constant, if there is one.
    constant : float or None
        Feature appended to every point; None without an intercept.
    assumed : str
        As in `Model`.
    """

    C: float | None
    W: Array
    constant: float | None
    assumed: str = ""

    def features(self, X: Any) -> Any:
        # The problem has dense features, with the constant appended.
        points = np.asarray(dense(super().features(X)), dtype=np.float64)
        if self.constant is None:
            return points
        return np.column_stack([points, np.full(len(points), self.constant)])


AnyModel = Model | Machines | JointModel
ONE_OF_A_PAIR = "trained on one difference of every pair"
"""Assumption about a classifier that is audited as a ranker."""


def of_classifier(estimator: Any) -> AnyModel:
    """Convert a fitted estimator of any number of classes; see `of_estimator`.

    Parameters
    ----------
    estimator : estimator
        Fitted estimator.

    Raises
    ------
    ValueError
        As in `of_estimator`, or if class weights of a NuSVC or of crammer_singer are
        given, a class had no weight in the training, or the names of two pairs of
        classes are equal.
    """
    last, steps, at_end = unwrapped(estimator)
    kind = type(last).__name__
    classes = getattr(last, "classes_", ())
    several = len(classes) > 2
    # Imported here: files are read without scikit-learn.
    from sklearn.svm import SVC, LinearSVC, NuSVC

    if isinstance(last, LinearSVC) and several and last.multi_class == "crammer_singer":
        return replace(_joint(last), steps=steps, source=f"LinearSVC (crammer_singer){at_end}")
    if not several or not isinstance(last, SVC | NuSVC | LinearSVC):
        return of_estimator(estimator)
    of_kind, trained = (
        (_one_vs_rest, len(last.coef_))
        if isinstance(last, LinearSVC)
        else (_one_vs_one, last.dual_coef_.shape[0] + 1)
    )
    if trained < len(classes):
        raise ValueError(
            f"the {kind} has no machine for some of its {len(classes)} classes, whose rows had "
            f"weight 0 in the training; fit it without them"
        )
    machines = tuple(of_kind(last))
    names = [machine.name for machine in machines]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise ValueError(f"two machines of the {kind} have the name {twice!r}; rename the classes")
    return Machines(f"{kind}{at_end}", len(classes), machines, steps=steps)


def _joint(estimator: Any) -> JointModel:
    """Convert a LinearSVC with multi_class="crammer_singer"."""
    if estimator.class_weight is not None:
        raise ValueError(
            "LinearSVC with multi_class='crammer_singer' and class weights solves a problem with "
            "a cost for each class, which is not among the families; fit it without them"
        )
    W = np.asarray(estimator.coef_, dtype=np.float64)
    if not estimator.fit_intercept:
        return JointModel("", float(estimator.C), W, None)
    constant = float(estimator.intercept_scaling)
    return JointModel(
        "", float(estimator.C), np.column_stack([W, estimator.intercept_ / constant]), constant
    )


def _one_vs_rest(estimator: Any) -> Iterator[Machine]:
    """Yield the machine of every class of a LinearSVC; only its own class is weighted."""
    refuse_one_norm(estimator)
    weights, classes = class_weights(estimator), estimator.classes_
    names = ("loss", "fit_intercept", "intercept_scaling")
    for own, label in enumerate(classes):
        values = {name: getattr(estimator, name) for name in names} | {
            "kind": "LinearSVC",
            "C": estimator.C,
            "coef": estimator.coef_[own],
            "intercept": np.ravel(estimator.intercept_ * np.ones(len(classes)))[own],
            "class_weight": (1.0, weights[own]),
        }
        others = tuple(other for other in range(len(classes)) if other != own)
        yield Machine(f"{label} vs rest", of_values(values), others, (own,))


def _one_vs_one(estimator: Any) -> Iterator[Machine]:
    """Yield the machine of every pair of classes of an SVC or a NuSVC."""
    weights, classes = class_weights(estimator), estimator.classes_
    coefficients = np.asarray(dense(estimator.dual_coef_), dtype=np.float64)
    ends = np.cumsum([0, *estimator.n_support_])
    given = estimator.kernel == "precomputed" or callable(estimator.kernel)
    vectors = None if given else estimator.support_vectors_
    nu = read_nu(estimator)
    for number, (first, second) in enumerate(combinations(range(len(classes)), 2)):
        of_first, of_second = (np.arange(ends[own], ends[own + 1]) for own in (first, second))
        # Row j - 1 has the coefficients of class i < j in the machine (i, j), row i those
        # of class j, positive for class i.
        pair = -np.concatenate([coefficients[second - 1, of_first], coefficients[first, of_second]])
        chosen = np.concatenate([of_first, of_second])[pair != 0]
        values = kernel_values(estimator) | {
            "kind": "SVC",
            "C": None if nu is not None else estimator.C,
            "dual_coef": pair[pair != 0],
            "support": estimator.support_[chosen],
            "intercept": -estimator.intercept_[number],
            "class_weight": (weights[first], weights[second]),
        }
        values |= {} if vectors is None else {"support_vectors": vectors[chosen]}
        model = of_values({name: v for name, v in values.items() if v is not None})
        name = f"{classes[first]} vs {classes[second]}"
        model = replace(model, source=type(estimator).__name__, nu=nu)
        yield Machine(name, model, (first,), (second,))


def stated_for_classes(
    model: AnyModel, class_weight: Sequence[float] | None = None, free_bias: bool = False
) -> AnyModel:
    """Return a model of any number of classes with the parameters that its file lacks.

    Parameters
    ----------
    model : AnyModel
        Model of a LIBSVM or LIBLINEAR file; any other if no parameter is added.
    class_weight : sequence of float, optional
        Factors of C for the labels, in ascending order (-wi). Of one class against the
        rest, LIBLINEAR weights that class alone.
    free_bias : bool, default False
        As in `stated`.

    Raises
    ------
    ValueError
        As in `stated`, or if one problem determines all classes.
    """
    if class_weight is None and not free_bias:
        return model
    if isinstance(model, Model):
        return stated(model, class_weight, free_bias)
    if isinstance(model, JointModel):
        raise ValueError(
            f"class weights and a free bias of {model.source} change no known problem; leave "
            f"them out"
        )
    weights = (
        None
        if class_weight is None
        else read_finite("class_weight", class_weight, model.k).tolist()
    )

    def of_machine(machine: Machine) -> Machine:
        ends = machine.negative, machine.positive
        own = weights and tuple(weights[end[0]] if len(end) == 1 else 1.0 for end in ends)
        return replace(machine, model=stated(machine.model, own, free_bias))

    return replace(model, machines=tuple(map(of_machine, model.machines)))


def to_ranker(model: AnyModel) -> Model:
    """Return a ranker; a linear classifier of pair differences is one.

    It was trained on x_i - x_j, labelled +1 if i is preferred and -1 if j is, once for
    each pair, so that its problem is that of the pairs.

    Parameters
    ----------
    model : AnyModel
        Ranker, or a classifier with w alone.

    Raises
    ------
    ValueError
        If the model has several functions, an intercept, class weights or no w.
    """
    if isinstance(model, Model):
        claimed = model.claimed
        if claimed.task == "ranking":
            return model
        # The mean that a step subtracts from differences is not that of the points.
        is_classifier = claimed.task == "classification" and model.w is not None
        is_classifier &= model.steps is None
        has_bias = claimed.free_bias or claimed.constant is not None
        if is_classifier and not has_bias and claimed.class_weight == (1.0, 1.0):
            assumed = ", ".join(filter(None, (model.assumed, ONE_OF_A_PAIR)))
            return replace(model, claimed=replace(claimed, task="ranking"), assumed=assumed)
    raise ValueError(
        f"a ranker is a linear classifier of pair differences without intercept, class weights "
        f"and pipeline, and this is a {model.source}; fit it so (fit_intercept=False, of LIBLINEAR "
        f"-B -1), or audit it as a classifier"
    )


def encode_labels(y: Any, m: int, k: int, numeric: bool = False) -> Index:
    """Return the positions of labels among the sorted labels.

    Parameters
    ----------
    y : array-like of shape (m,)
        Labels.
    m : int
        Number of rows.
    k : int
        Number of classes of the model.
    numeric : bool, default False
        As `numeric_labels` of `Model`.

    Raises
    ------
    ValueError
        If there is not a label for every row, or the labels are of another number of
        classes.
    """
    if numeric:
        # Text of no numbers keeps its alphabetical order.
        with suppress(ValueError, TypeError):
            y = np.asarray(y, dtype=np.float64)
    labels, codes = number_labels(y, m, "y")
    if len(labels) != k:
        raise ValueError(f"the model has {k} classes and the data {len(labels)}")
    return codes
