"""Arguments of a wrong type: every constructor raises an error that names them.

Tables of other columns raise too.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from joblib import cpu_count
from scipy import sparse

from equimargin.boundaries import rank_boundaries
from equimargin.comparison import compare
from equimargin.estimators.pairwise_coupling import PairwiseCoupling
from equimargin.formulations import (
    classification,
    declare,
    linear,
    one_norm_ranking,
    polynomial,
    precomputed,
    ranking,
    ranking_from_pairs,
    ranking_vector_machine,
    rbf,
    regression,
    sigmoid,
)
from equimargin.formulations.documents.shared.reduced_graph import reduction_factor
from equimargin.formulations.numeric.arguments import format_value
from equimargin.metrics import pairwise_accuracy
from equimargin.selection import cost_grid, grid
from equimargin.selection.along_path import best
from equimargin.solvers import (
    RegularizationPath,
    exact_optimum,
    given_gram,
    regularization_path,
    solve,
    solve_declaration,
    solve_grid,
)
from equimargin.solvers.batches.one_vs_one import one_vs_one
from equimargin.svm import SVC

X = np.array([[0.0, 1.0], [1.0, 0.5], [2.0, -1.0], [3.0, 0.0]])
SIGNS = [1.0, -1.0, 1.0, -1.0]
DATES = np.array(["2026-01-01", "2026-01-02", "2026-01-03", "2026-01-04"], dtype="datetime64[D]")
RIGHT: dict[Callable[..., Any], dict[str, Any]] = {
    classification: {"X": X, "y": SIGNS},
    regression: {"X": X, "y": SIGNS},
    ranking: {"X": X, "y": SIGNS, "qid": [1, 1, 2, 2]},
    ranking_from_pairs: {"X": X, "pairs": [[0, 1]]},
    ranking_vector_machine: {"X": X, "y": SIGNS, "qid": [1, 1, 2, 2]},
    one_norm_ranking: {"X": X, "y": SIGNS, "qid": [1, 1, 2, 2]},
}
NUMBERS_WANTED: tuple[Any, ...] = (
    "1",
    None,
    True,
    np.True_,
    1j,
    [1.0],
    np.ones(1),
    DATES[0],
    np.timedelta64(1, "s"),
    {},
    lambda: 1.0,
)
ONE_NUMBER_EACH = (
    ["1", "-1", "1", "-1"],
    [b"1", b"1", b"1", b"1"],
    np.array(["1", "-1", "1", "-1"], dtype=object),
    [1, None, 1, -1],
    [1, Decimal("sNaN"), 1, -1],
    [1j, 1, 1, 1],
    DATES,
    DATES - DATES[0],
    [datetime.date(2026, 1, 1)] * 4,
    [[1], [1, 2], [1], [1]],
    "1111",
    1.0,
    {1, -1},
    len,
    sparse.eye_array(4),
)
WRONG: dict[str, tuple[Any, ...]] = {
    "X": (
        None,
        "X",
        [["0", "1"]] * 4,
        [[0, None]] * 4,
        X + 1j,
        [[0, 1], [2]],
        DATES[:, None],
        sparse.csr_array(X + 1j),
        {},
        len,
        X[0],
    ),
    "y": (*ONE_NUMBER_EACH, None),
    "qid": (
        [1, None, 2, 2],
        [None] * 4,
        DATES,
        [datetime.date(2026, 1, 1)] * 4,
        [1j, 1, 1, 1],
        np.array([1, "a", 2, 2], dtype=object),
        np.array(["a", 1, "b", "b"], dtype=object),
        np.array([1, np.nan, 2, 2], dtype=object),
        np.array(["a", None, "b", "b"], dtype=np.dtypes.StringDType(na_object=None)),
        [[1], [1, 2], [1], [1]],
        "1111",
        1,
        {1: 2},
    ),
    "C": (*NUMBERS_WANTED, Decimal("sNaN"), Decimal("NaN"), 0, -1.0, np.nan, Fraction(-1, 2)),
    "delta": (0.5, *(value for value in NUMBERS_WANTED if value is not None)),
    "epsilon": (*NUMBERS_WANTED, np.inf, -1.0),
    "kernel": ("gaussian", rbf, type(linear()), lambda x, z: x @ z, 1.0, X),
    "loss": ("l2", None, True, 1, ["hinge"], np.array(["hinge", "hinge"])),
    "bias": (None, 1, 0.0, "yes", [True], np.array([True, False])),
    "sample_weight": (*ONE_NUMBER_EACH, [1, 1, 1, -1], [1, 1, 1, np.nan], [1, 1, 1]),
    "pair_weight": (*ONE_NUMBER_EACH, [-1.0], [np.nan], [1.0, 1.0]),
    "per_query": (None, "median", 1, ["sum"]),
    "query_weight": (
        2.0,
        [1, 2],
        "a",
        {1: "2"},
        {1: None},
        {1: -1.0},
        {3: 1.0},
        {None: 1.0, 3: 1.0},
    ),
    "pairs": (
        None,
        "01",
        [["0", "1"]],
        [[0, 1], [2]],
        [[0.0, 1.0]],
        [[True, False]],
        DATES,
        [[0, 1, 2]],
        [[0, 4]],
        [[1, 1]],
    ),
}
NAMED = (
    r"\b{name}\b|^classification: every label|^ranking_from_pairs: (every index|a point cannot "
    r"be preferred to itself)"
)
UNTESTED = {name for of in RIGHT for name in signature(of).parameters} - set(WRONG)
assert not UNTESTED, f"WRONG has no wrong values of the arguments {sorted(UNTESTED)}: add some"
CASES = [
    (of, name, value) for of in RIGHT for name in signature(of).parameters for value in WRONG[name]
]


@pytest.mark.parametrize(
    ("constructor", "name", "value"),
    CASES,
    ids=[f"{of.__name__} {name} {n}" for n, (of, name, _) in enumerate(CASES)],
)
def test_an_argument_of_a_wrong_type_is_named(
    constructor: Callable[..., Any], name: str, value: Any
) -> None:
    with pytest.raises(ValueError, match=NAMED.format(name=name)) as caught:
        constructor(**RIGHT[constructor] | {name: value})
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert len(sentence) < 200


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.complex_numbers(),
    st.text(max_size=5), st.binary(max_size=3), st.dates(), st.datetimes(), st.timedeltas(),
    st.fractions(), st.decimals(), st.just(len), st.just(linear()), st.sampled_from(SIGNS),
)  # fmt: skip
ANYTHING = st.one_of(
    SCALARS,
    st.lists(SCALARS, max_size=5),
    st.lists(st.lists(SCALARS, max_size=2), max_size=5),
    st.dictionaries(st.text(max_size=5), SCALARS),  # a signalling NaN has no hash
)


@settings(max_examples=300)
@given(st.sampled_from(list(RIGHT)), st.data())
def test_anything_is_taken_or_refused_in_a_sentence(
    constructor: Callable[..., Any], data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(list(signature(constructor).parameters)))
    value = data.draw(ANYTHING)
    try:
        constructor(**RIGHT[constructor] | {name: value})
    except ValueError as refusal:
        sentence = str(refusal)
    else:
        return
    assert re.search(NAMED.format(name=name), sentence)


@pytest.mark.parametrize(
    "kernel",
    [
        lambda v: polynomial(v),
        lambda v: polynomial(gamma=v),
        lambda v: polynomial(coef0=v),
        rbf,
        sigmoid,
    ],
)
@pytest.mark.parametrize("value", [*NUMBERS_WANTED, np.nan, np.inf])
def test_a_parameter_of_a_kernel_is_a_number(kernel: Callable[[Any], Any], value: Any) -> None:
    with pytest.raises(
        ValueError, match=r"^(polynomial|rbf|sigmoid) kernel: (the degree|gamma|coef0) must be "
    ):
        kernel(value)


def test_numbers_of_every_real_type_are_taken() -> None:
    right = classification(X, SIGNS, 0.5)
    for C in (np.float32(0.5), np.array(0.5), Fraction(1, 2), Decimal("0.5")):
        assert classification(X, SIGNS, C).C == right.C  # type: ignore[arg-type]
    for y in (
        np.array(SIGNS, dtype=np.int8),
        np.array([Fraction(1), Decimal(-1), 1, -1.0], dtype=object),
    ):
        assert np.array_equal(classification(X, y).rows.y, SIGNS)
    assert np.array_equal(
        classification(X > 0, SIGNS, sample_weight=[True, False, True, True]).X, X > 0
    )
    for qid in (
        np.array(["a", "a", "b", "b"], dtype=object),
        ["a", "a", "b", "b"],
        [b"a", b"a", b"b", b"b"],
        np.array([1, 1, 2.5, 2.5], object),
        np.array(["a", "a", "b", "b"], dtype=np.dtypes.StringDType()),
    ):
        assert ranking(X, SIGNS, qid).p == 2
    assert ranking(
        X, SIGNS, np.array(["a", "a", "b", "b"], dtype=object), query_weight={"b": 0.0}
    ).unit_weights.tolist() == [1.0, 0.0]
    assert ranking(X, SIGNS, [10**30, 10**30, 2, 2]).p == 2


def test_what_else_takes_labels_and_costs_names_them_too() -> None:
    for bad in (
        lambda: pairwise_accuracy(["1", "2"], [1.0, 2.0]),
        lambda: reduction_factor([1, None]),  # type: ignore[arg-type]
    ):
        with pytest.raises(
            ValueError,
            match=r"^y must hold numbers, not '1' at row 0$|^y must hold numbers, not None at row "
            r"1$",
        ):
            bad()
    with pytest.raises(ValueError, match=r"^C must be a positive number or inf, not '1'$"):
        classification(X, SIGNS).with_cost("1")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^X must hold numbers, not 'a' at row 0, column 1$"):
        solve(classification(X, SIGNS)).decision_function(np.array([[0.0, "a"]], dtype=object))
    for kind in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array, sparse.lil_array):
        with pytest.raises(ValueError, match="X must hold numbers, not "):
            solve(classification(X, SIGNS)).decision_function(kind(X + 1j))
        assert solve(classification(X, SIGNS)).decision_function(kind(X)).shape == (4,)


class Table:
    """Minimal data frame: values, and names of the columns."""

    def __init__(self, values: Any, columns: Any) -> None:
        self.values, self.columns = np.asarray(values), columns

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.values, dtype=dtype)


TRAINING, SWAPPED, OTHER = Table(X, ["a", "b"]), Table(X[:, ::-1], ["b", "a"]), Table(X, ["a", "c"])
ORDER = (
    r"the columns of X are in another order than those of the problem \(column 0 is 'b' and "
    r"must be 'a'\); give the same"
)
NAMES = (
    r"the columns of X are not those of the problem \(column 1 is 'c' and must be 'b'\); give "
    r"the same"
)


@pytest.mark.parametrize("kernel", [linear(), rbf(0.5)], ids=["linear", "rbf"])
@pytest.mark.parametrize("constructor", RIGHT)
def test_a_table_of_other_columns_is_refused(constructor: Callable[..., Any], kernel: Any) -> None:
    problem = constructor(**RIGHT[constructor] | {"X": TRAINING, "kernel": kernel})
    assert problem.feature_names == ("a", "b")
    solution = solve(problem)
    f = solution.decision_function(X)
    assert np.array_equal(solution.decision_function(TRAINING), f)
    for table, sentence in ((SWAPPED, ORDER), (OTHER, NAMES)):
        with pytest.raises(ValueError, match=sentence):
            solution.decision_function(table)
    for nameless in (
        constructor(**RIGHT[constructor] | {"kernel": kernel}),
        constructor(**RIGHT[constructor] | {"X": sparse.csr_array(X)}),
    ):
        assert nameless.feature_names is None
        assert solve(nameless).decision_function(SWAPPED).shape == (4,)


def test_numbered_columns_are_names_and_what_is_no_list_of_names_is_none() -> None:
    assert classification(Table(X, [0, 1]), SIGNS).feature_names == ("0", "1")
    with pytest.raises(ValueError, match="in another order"):
        solve(classification(Table(X, [0, 1]), SIGNS)).decision_function(Table(X, [1, 0]))
    # The columns of a Gram matrix are points.
    assert given_gram(classification(TRAINING, SIGNS, kernel=rbf(0.5))).feature_names is None
    # pyarrow's columns are the values.
    assert classification(Table(X, [X[:, 0], X[:, 1]]), SIGNS).feature_names is None


COLUMN_NAMES = st.one_of(
    st.text(max_size=3),
    st.integers(),
    st.floats(),
    st.dates(),
    st.datetimes(),
    st.none(),
    st.booleans(),
    st.fractions(),
)


@settings(max_examples=50)
@given(
    st.lists(
        COLUMN_NAMES | st.tuples(COLUMN_NAMES, COLUMN_NAMES), min_size=2, max_size=2, unique_by=str
    )
)
@example([1.5, 2.5])
@example([("x", "a"), ("x", "b")])
@example([datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)])
@example([np.float64(1.5), np.datetime64("2020-01-01")])
def test_a_name_of_any_type_is_a_name(names: list[Any]) -> None:
    solution = solve(classification(Table(X, names), SIGNS))
    assert np.array_equal(
        solution.decision_function(Table(X, names)), solution.decision_function(X)
    )
    for others in (names[::-1], [names[0], "another"]):
        with pytest.raises(
            ValueError,
            match=r"^the columns of X are (in another order than|not) those of the problem",
        ):
            solution.decision_function(Table(X, others))


def test_paths_and_all_that_is_made_of_problems_keep_the_names(tmp_path: Path) -> None:
    path = regularization_path(ranking(TRAINING, SIGNS))
    path.save(tmp_path / "path.npz")
    with np.load(tmp_path / "path.npz") as archive:
        arrays = dict(archive)
    about = json.loads(str(arrays["about"]))
    for names in (["a"], ["a", 1], "ab", {"a": 0, "b": 1}):
        np.savez(
            tmp_path / "other.npz",
            **arrays | {"about": np.array(json.dumps(about | {"feature_names": names}))},
        )
        with pytest.raises(
            ValueError, match="no regularisation path: the names of its features do not fit X"
        ):
            RegularizationPath.load(tmp_path / "other.npz")
    for followed in (path, RegularizationPath.load(tmp_path / "path.npz")):
        lam = float(followed.lambdas[0]) / 2
        assert followed.problem.feature_names == ("a", "b")
        assert np.array_equal(
            followed.decision_function(TRAINING, lam), path.decision_function(X, lam)
        )
        for ask in (
            lambda table, path=followed, lam=lam: path.decision_function(table, lam),
            lambda table, path=followed, lam=lam: path.at(lam).decision_function(table),
            lambda table, path=followed: best(path, table, SIGNS),
        ):
            ask(TRAINING)
            with pytest.raises(ValueError, match=ORDER):
                ask(SWAPPED)
    solution = solve(ranking(TRAINING, SIGNS).with_cost(2.0))
    with pytest.raises(ValueError, match=ORDER):
        rank_boundaries(solution).rank(solution.decision_function(SWAPPED))
    for solution in one_vs_one(TRAINING, [0, 1, 2, 2]):
        with pytest.raises(ValueError, match=ORDER):
            solution.decision_function(SWAPPED)


def test_the_columns_of_a_gram_matrix_are_points() -> None:
    K, names = X @ X.T + np.eye(4), ["p", "q", "r", "s"]
    (first, *_) = one_vs_one(Table(K, names), [0, 1, 2, 2], kernel=precomputed())
    assert first.problem.feature_names == ("p", "q")
    first.decision_function(Table(K[:, :2], ["p", "q"]))
    with pytest.raises(ValueError, match="in another order"):
        first.decision_function(Table(K[:, 1::-1], ["q", "p"]))


@pytest.mark.parametrize(
    "value", ["1", "5", None, True, 1j, np.datetime64("2020-01-01"), [1.0], 0, -1, np.nan]
)
def test_limits_are_numbers(value: Any) -> None:
    problem = classification(X, SIGNS)
    path = regularization_path(problem)
    declared = declare("svm.soft.primal", problem)
    doors: list[tuple[str, Callable[..., Any]]] = [
        ("lambda", lambda **given: path.at(given["lambda"])),
        ("tol", lambda **given: solve_grid(problem, [1.0], **given)),
        ("tol", lambda **given: solve_declaration(declared, **given)),
        ("time_limit", lambda **given: solve_declaration(declared, **given)),
        ("costs[1]", lambda **given: solve_grid(problem, [1.0, given["costs[1]"]])),
        *((name, lambda **given: solve(problem, **given)) for name in ("tol", "n_jobs")),
        *(
            (name, lambda **given: compare(problem, **given))
            for name in ("tol", "agree_tol", "time_limit")
        ),
        ("tol", lambda **given: one_vs_one(X, [0, 1, 1, 0], **given)),
        ("max_iter", lambda **given: exact_optimum(problem, **given)),
    ]
    if value is not None:
        doors += [
            (name, lambda **given: solve(problem, **given)) for name in ("max_iter", "time_limit")
        ]
        doors += [
            (name, lambda **given: regularization_path(problem, **given))
            for name in ("max_events", "time_limit")
        ]
        doors += [("time_limit", lambda **given: exact_optimum(problem, **given))]
    if value != 0:
        doors += [("lambda_min", lambda **given: regularization_path(problem, **given))]
    for name, door in doors:
        with pytest.raises(
            ValueError,
            match=rf"^{re.escape(name)} must be .*, not {re.escape(format_value(value))}$",
        ):
            door(**{name: value})


@pytest.mark.parametrize("value", ["1", True, 1.5, 0, np.nan])
def test_jobs_are_a_whole_number_other_than_0(value: Any) -> None:
    doors: list[tuple[str, Callable[[], Any]]] = [
        ("jobs", lambda: compare(classification(X, SIGNS), jobs=value)),
        ("n_jobs", lambda: SVC(n_jobs=value).fit(X, SIGNS)),
        ("n_jobs", lambda: PairwiseCoupling(SVC(), cv=2, n_jobs=value).fit(X, SIGNS)),
        ("n_jobs", lambda: grid(X, SIGNS, folds=2, n_jobs=value)),
        ("n_jobs", lambda: cost_grid(X, SIGNS, task="classification", folds=2, n_jobs=value)),
    ]
    for name, door in doors:
        said = f"{name} must be a whole number from 1 on, -1 for all cores or -2 for all but one"
        with pytest.raises(ValueError, match=f"^{said}, not {re.escape(format_value(value))}$"):
            door()


def test_jobs_below_0_leave_processors_free_as_in_joblib() -> None:
    fewer = max(cpu_count() - 1, 1)
    assert SVC(n_jobs=-2).fit(X, SIGNS)._limits["n_jobs"] == fewer
    assert SVC().fit(X, SIGNS)._limits["n_jobs"] == 1
    found = compare(classification(X, SIGNS), "svm.soft.primal", "CLARABEL", jobs=-2)
    assert found.planned == (1,) == (len(found.answers),)
