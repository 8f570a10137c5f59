"""Verdicts on two problems: correct, in time, and with code that shows a difference."""

from __future__ import annotations

import contextlib
import io
import json
from fractions import Fraction
from math import inf
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import strategies as st

from equimargin.equivalence import exact_value, refute, same, suggest
from equimargin.equivalence.instances import choose_instances, drawn, restricted
from equimargin.formulations import REGISTRY, ranking
from equimargin.formulations.declarations.family import FAMILIES
from equimargin.own import Family
from equimargin.proofs.checker import check
from equimargin.proofs.equivalence import InstanceComparison, stated
from equimargin.proofs.equivalence.comparison import apart
from equimargin.proofs.equivalence.verdict import separation
from equimargin.solvers.exact.program.clock import Clock
from narrow import present
from oracles.reasons import assert_replays
from problem_pairs import CLASSES, PAIRS, soft, soft_doubled, soft_dual, soft_dual_without_half

FEW: dict[str, Any] = {"draws": 3, "examples": 5}
"""Numbers of instances for a daily test; the campaign uses more."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [name for name, pair in PAIRS.items() if pair.verdict != "DIFFERENT"]
)
def test_what_is_equal_is_never_told_apart(name: str) -> None:
    """An equal pair is EQUAL with proofs that an independent checker replays.

    It is UNDECIDED where there is no renaming.
    """
    pair = PAIRS[name]
    found = same(pair.a, pair.b, pair.data, draws=3, examples=5)
    assert found.verdict == pair.verdict
    for each in found.findings:
        if each.reason is not None:
            first, second = (stated(f, each.data, "fractions", Clock(60)) for f in (pair.a, pair.b))
            assert_replays(
                each.reason, first.program, second.program, first.opposite != second.opposite
            )


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "soft and twice its objective",
        "nu-SVC and soft at C = nu",
        "Crammer-Singer and half the cost",
    ],
)
def test_what_differs_is_told_apart_and_its_lines_compute_both_optima(name: str) -> None:
    pair = PAIRS[name]
    found = same(pair.a, pair.b, pair.data, draws=2, examples=40)
    assert found.verdict == "DIFFERENT"
    different = present(found.difference)
    lines = different.code.splitlines()
    assert len(lines) <= 10
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(different.code, {})
    assert [Fraction(line) for line in printed.getvalue().split()] == list(different.values)


@pytest.mark.slow
def test_the_lines_of_a_formulation_compute_both_optima() -> None:
    found = refute("svm.soft.dual", "svm.soft.dual.as_printed", examples=60)
    different = present(found.difference)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(different.code, {})
    assert [Fraction(line) for line in printed.getvalue().split()] == list(different.values)
    assert found.record()["optima"] == [str(value) for value in different.values]
    for certificate, value in zip(different.certificates, different.values, strict=True):
        _, lower, upper = check(json.dumps(certificate).encode())
        # A maximisation is certified as the minimisation of the negated objective.
        assert (lower, upper) in ((value, value), (-value, -value))


def test_reasons_are_sought_where_optima_are_finite() -> None:
    """The largest instance is unbounded, and proves equal infinities alone.

    It does not count among the draws.
    """
    pair = PAIRS["nu-SVC primal and dual"]
    unbounded = {"X": np.ones((3, 2)), "y": np.array([1.0, -1.0, 1.0]), "nu": 1.0}
    finite = {"X": np.array([[-4.0, 1.0], [2.0, 0.0]]), "y": np.array([1.0, -1.0]), "nu": 0.5}
    found = same(pair.a, pair.b, st.sampled_from([unbounded, finite]), draws=1, examples=2)
    assert found.verdict == "EQUAL"
    assert (
        [each.finite for each in found.findings]
        == [each.reason is not None for each in found.findings]
        == [False, True]
    )
    assert (
        "On 1 instance more exact rays prove that both values are the same infinity."
        in found.reasons
    )


def test_a_reason_in_which_a_parameter_divides_is_said_to_hold_where_that_is_above_zero() -> None:
    def paid(d: Any) -> Any:
        x, C = cp.Variable(), cp.Parameter(name="C", nonneg=True, value=d)
        return cp.Problem(cp.Minimize(C * x), [x >= 1, x <= 3])

    def bounded(d: Any) -> Any:
        z, C = cp.Variable(), cp.Parameter(name="C", nonneg=True, value=d)
        return cp.Problem(cp.Minimize(z), [z >= C, z <= 3 * C])

    found = same(paid, bounded, st.sampled_from([1.0, 2.0, 3.0]), **FEW)
    assert found.verdict == "EQUAL"
    assert any(
        "of the parameter C at which C is above 0 and either is feasible" in said
        for said in found.reasons
    )


def _at_least_one(d: Any, bounded: Any) -> Any:
    """Return min C x over x >= 1, and over x <= 0 too if `bounded` is true of C."""
    x, C = cp.Variable(), cp.Parameter(name="C", nonneg=True, value=d)
    return cp.Problem(cp.Minimize(C * x), [x >= 1] + [x <= 0] * bool(bounded(C)))


@pytest.mark.parametrize(
    "bounded",
    [lambda C: C.value > 2, lambda C: (2 * C).value > 4],
    ids=["value", "of an expression"],
)
def test_same_claims_nothing_of_all_values_that_a_function_reads(bounded: Any) -> None:
    """Above 2 one problem is infeasible, and the other has an optimum."""
    few = st.sampled_from([0.5, 1.0, 2.0])
    found = same(
        lambda d: _at_least_one(d, bounded), lambda d: _at_least_one(d, lambda C: False), few, **FEW
    )
    assert found.verdict == "EQUAL"
    assert not any("holds for all values of the parameter" in said for said in found.reasons)
    assert any(
        said.startswith("No claim holds for all values of C: a function reads")
        for said in found.reasons
    )
    found = same(
        lambda d: _at_least_one(d, bounded),
        lambda d: _at_least_one(d, lambda C: False),
        st.just(3.0),
        **FEW,
    )
    assert found.verdict == "DIFFERENT"


@pytest.mark.parametrize(
    "bounded", [lambda d, C: d > 2, lambda d, C: C._value > 2], ids=["data", "value kept inside"]
)
def test_same_claims_all_values_of_the_problems_built_alone(bounded: Any) -> None:
    """A hidden branch builds another problem above 2: the claim first names its problems."""
    few = st.sampled_from([0.5, 1.0, 2.0])
    found = same(
        lambda d: _at_least_one(d, lambda C: bounded(d, C)),
        lambda d: _at_least_one(d, lambda C: False),
        few,
        **FEW,
    )
    (claim,) = [said for said in found.reasons if "holds for all values of the parameter C" in said]
    assert claim.startswith("For the problems built here, the proof holds")
    assert claim.endswith("Whether other problems are built at other values is not examined.")


def test_a_ratio_of_all_optima_is_said() -> None:
    found = same(soft, soft_doubled, CLASSES, draws=8, examples=10)
    assert any(reason.startswith("B is 2 times A") for reason in found.reasons)


@pytest.mark.slow
def test_refute_of_the_reduced_graph_finds_a_problem_that_costs_something() -> None:
    """Edges have the weights of their queries: with weights of 0 both optima are 0."""
    found = present(refute("rank.l1.primal", "rank.reduced", examples=200).difference)
    weights = found.data.weights
    assert weights is None or (weights > 0).any()
    two = ranking(np.zeros((2, 1)), [0.0, 1.0], query_weight={0: 0.0})
    assert [exact_value(id, two) for id in ("rank.l1.primal", "rank.reduced")] == [0, 0]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_restricted_instances_have_no_weights_and_distinct_points(seed: int) -> None:
    taken = restricted(
        choose_instances("rank.l1.primal", "rank.reduced"), without="weights", distinct=True
    )
    for problem in drawn(taken, 40, seed):
        assert problem.weights is None
        assert len(np.unique(problem.X, axis=0)) == problem.m
    dictionaries = restricted(CLASSES, distinct=True)
    assert all(
        len(np.unique(data["X"], axis=0)) == len(data["X"])
        for data in drawn(dictionaries, 20, seed)
    )


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"without": "queries"}, "without must be"),
        (
            {"without": "weights"},
            "without='weights' needs canonical problems, not data of type int",
        ),
        (
            {"distinct": True},
            "distinct needs instances with points X, and data of type int have none",
        ),
    ],
)
def test_restricted_data_of_another_kind_is_a_sentence(how: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        drawn(restricted(st.integers(0, 9), **how), 5, 0)


def test_a_formulation_is_compared_with_the_definition_of_its_family() -> None:
    assert refute("svm.nobias.dual", examples=3).b == "svm.nobias.primal"
    assert refute("svm.nobias.primal", examples=3).b == "svm.nobias.dual"


def at_least(bound: float, maximised: bool = False) -> Any:
    """Return min x over x >= bound and x <= 1 as a function of data.

    Without a bound it has no optimum, and with one above 1 no feasible point.
    """

    def stated(d: Any) -> Any:
        x = cp.Variable()
        rows = [x <= 1] if bound == -inf else [x <= 1, x >= bound]
        return cp.Problem(cp.Maximize(-x) if maximised else cp.Minimize(x), rows)

    return stated


@pytest.mark.parametrize(
    ("problem", "value"),
    [
        (at_least(0), 0),
        (at_least(2), inf),
        (at_least(-inf), -inf),
        (at_least(2, True), -inf),
        (at_least(-inf, True), inf),
    ],
)
def test_infinities_are_values_and_are_mapped_like_others(problem: Any, value: float) -> None:
    assert exact_value(problem, None) == value
    assert exact_value(lambda d: (problem(d), lambda v: -v), None) == -value


def test_infeasible_and_unbounded_are_never_one_but_two_infeasible_ones_are() -> None:
    assert same(at_least(2), at_least(-inf), st.just(0), **FEW).verdict == "DIFFERENT"
    assert same(at_least(2), at_least(0), st.just(0), **FEW).verdict == "DIFFERENT"
    assert same(at_least(2), at_least(0), st.just(0), finite=True, **FEW).verdict == "UNDECIDED"
    both = same(at_least(2), at_least(3), st.just(0), **FEW)
    assert (both.verdict, both.equal) == ("UNDECIDED", both.instances)


@pytest.mark.parametrize(
    ("one", "other", "are"),
    [
        (Fraction(1), Fraction(1) + Fraction(1, 10**8), False),
        (Fraction(1), Fraction(1) + Fraction(1, 10**6), True),
        (Fraction(0), Fraction(4, 10**18), False),
        (Fraction(0), Fraction(1, 10**9), True),
        (Fraction(10**9), Fraction(10**9 + 1), False),
        (inf, inf, False),
        (inf, -inf, True),
        (inf, Fraction(10**400), True),
    ],
)
def test_optima_are_apart_by_more_than_roundings(one: Any, other: Any, are: bool) -> None:
    assert apart(one, other) is apart(other, one) is are


def test_a_function_that_fails_leaves_its_instances_undecided_and_says_why() -> None:
    def fails(d: Any) -> Any:
        return soft(d) if len(d["X"]) < 2 else 1 / 0

    found = same(soft, fails, CLASSES, **FEW)
    assert found.verdict == "UNDECIDED"
    assert any("ZeroDivisionError" in why for why in found.undecided)
    with pytest.raises(TypeError, match="returns no cvxpy problem, but int"):
        same(soft, lambda d: 1, CLASSES, **FEW)


@pytest.mark.slow
def test_a_formulation_that_is_stated_for_other_kernels_is_compared_on_such_a_kernel() -> None:
    for wrong, right in (
        ("rank.differences.dual", "rank.l1.dual"),
        ("rank.onenorm.differences", "rank.onenorm.dual"),
    ):
        found = refute(wrong, right, examples=60)
        assert found.verdict == "DIFFERENT"
        assert "Polynomial()" in present(found.difference).code


def test_instances_that_a_formulation_is_not_stated_for_decide_nothing() -> None:
    try:
        made = Family("same_refusing", data=CLASSES)
        made.formulation("primal")(soft)
        made.formulation("dual", applies=lambda d: None if d["C"] < 3 else "C is 3")(soft_dual)
        large = {"X": np.ones((3, 2)), "y": np.array([1.0, -1.0, 1.0]), "C": 3.0}
        small = {"X": np.array([[1.0], [-1.0]]), "y": np.array([1.0, -1.0]), "C": 1.0}
        found = same(
            "same_refusing.primal",
            "same_refusing.dual",
            st.sampled_from([large, small]),
            draws=1,
            examples=4,
        )
        assert found.verdict == "EQUAL"
        assert found.undecided["same_refusing.dual cannot be declared for these data: C is 3"] > 0
        assert any(
            "the verdict covers only data for which both can" in reason for reason in found.reasons
        )
    finally:
        for id in [id for id in REGISTRY if id.startswith("same_refusing")]:
            del REGISTRY[id]
        FAMILIES.forget("same_refusing")


def test_a_formulation_that_fails_leaves_its_instances_undecided_and_says_why() -> None:
    try:
        Family("same_failing", data=CLASSES).formulation("primal")(lambda d: 1 / 0)
        FAMILIES["same_failing"].formulation("dual")(soft_dual)
        found = refute("same_failing.primal", "same_failing.dual", examples=3)
        assert found.reasons[0] == "No drawn instance has two exact optima to compare."
        assert set(found.undecided) == {
            "same_failing.primal fails with ZeroDivisionError: division by zero"
        }
    finally:
        for id in [id for id in REGISTRY if id.startswith("same_failing")]:
            del REGISTRY[id]
        FAMILIES.forget("same_failing")


def test_what_is_too_large_or_has_no_affine_value_is_said_to_have_no_reason_sought() -> None:
    def rows(count: int) -> Any:
        def stated(d: Any) -> Any:
            x = cp.Variable(count)
            return cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1])

        return stated

    large = same(rows(100), rows(100), st.just(0), **FEW)
    assert (
        large.reasons[1]
        == "None was sought on 1 instance: a program has more than 150 variables and rows."
    )
    squared = same(lambda d: (rows(2)(d), lambda v: v * v), rows(4), st.just(0), **FEW)
    assert squared.reasons[:2] == (
        "No equivalence proof was found on 1 of 1 instance.",
        "None was sought on 1 instance: a value map is not affine, or rounds.",
    )


def test_infinities_alone_are_no_reason() -> None:
    found = same(at_least(2), at_least(3), st.just(0), **FEW)
    assert (
        found.reasons[0]
        == "Exact rays prove the same infinity of both on 1 instance, and no drawn instance "
        "has a finite optimum."
    )


def test_cones_are_undecided_with_their_reason() -> None:
    found = same("svm.hard.primal", "svm.hard.margin", **FEW)
    assert found.verdict == "UNDECIDED"
    assert any("second-order cones" in why for why in found.undecided)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("svm.soft.primal", "svm.nobias.primal"),
        ("rank.onenorm.primal", "rvm.primal"),
        ("svm.hard.dual", "svm.soft.dual"),
        ("svr.l2.primal", "svr.l1.primal"),
        ("ord.implicit.beta", "ord.hard.dual"),
        *(
            pytest.param(*pair, marks=pytest.mark.slow)
            for pair in (
                ("svm.hard.primal", "svm.nobias_hard.primal"),
                ("svm.soft.primal", "svm.onenorm.primal"),
                ("svm.onenorm.primal", "svm.nobias_onenorm.primal"),
                ("svm.l2.primal", "svm.huberised_hinge.primal"),
                ("svm.nobias.beta", "svm.nobias_l2.primal"),
                ("rank.l1.primal", "rank.hard.primal"),
                ("rvm.primal", "rank.l1.primal"),
                ("ord.implicit.primal", "ord.implicit_l2.primal"),
                ("ord.explicit.primal", "ord.sum.primal"),
            )
        ),
    ],
)
def test_families_that_take_the_same_data_are_compared_on_it(a: str, b: str) -> None:
    """The instance of the difference separates the recomputed exact optima."""
    found = refute(a, b, examples=200)
    assert found.verdict == "DIFFERENT"
    assert found.difference is not None
    assert exact_value(a, found.difference.data) != exact_value(b, found.difference.data)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("svm.soft.primal", "svm.nobias.primal"),
        pytest.param("rvm.primal", "rank.onenorm.primal", marks=pytest.mark.slow),
        pytest.param("svr.l1.primal", "svr.l2.primal", marks=pytest.mark.slow),
    ],
)
def test_two_families_are_compared_without_weights_and_on_distinct_points(a: str, b: str) -> None:
    data = restricted(choose_instances(a, b), without="weights", distinct=True)
    found = refute(a, b, data, examples=60)
    assert found.verdict == "DIFFERENT"
    at = present(found.difference).data
    assert getattr(at, "weights", None) is None
    assert len(np.unique(np.asarray(at.X), axis=0)) == at.m


def test_a_ratio_of_one_pair_of_optima_is_no_rule() -> None:
    """Instances that differ in the order of their points have one pair of optima."""
    pair = Fraction(1), Fraction(2)
    alike = [InstanceComparison(i, pair) for i in range(8)]
    assert not any("times A" in said for said in separation(alike[0], alike, "exact"))
    others = [InstanceComparison(i, (Fraction(i), Fraction(2 * i))) for i in range(1, 9)]
    (rule,) = (said for said in separation(others[0], others, "exact") if "times A" in said)
    assert rule == "B is 2 times A on all 8 instances drawn with two finite optima."


@pytest.mark.slow
def test_a_verdict_keeps_its_time_limit_and_says_so() -> None:
    found = same(soft, soft_dual, CLASSES, seconds=1e-3)
    assert found.verdict == "UNDECIDED"
    assert "The time limit ended the search." in found.reasons
    assert refute(soft, soft_dual_without_half, CLASSES, seconds=1e-3).verdict == "UNDECIDED"


@pytest.mark.parametrize(
    ("a", "b", "data", "why"),
    [
        (
            "svm.soft.primal",
            "svm.sfot.dual",
            None,
            "unknown formulation 'svm.sfot.dual'; did you mean svm.soft.dual",
        ),
        ("svm.soft.primal", "rank.l1.primal", None, "say which data both take"),
        (soft, soft_dual, None, "say which data soft takes"),
        (soft, None, CLASSES, "name the problem to compare with soft"),
    ],
)
def test_a_question_without_data_or_names_is_refused(a: Any, b: Any, data: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        refute(a, b, data, examples=1)
    if b is not None:
        with pytest.raises(ValueError, match=why):
            same(a, b, data, **FEW)


@pytest.mark.parametrize("first", ["svm.soft.primal", cp.Problem(cp.Minimize(0))])
def test_a_problem_without_its_function_is_refused_on_entry(first: Any) -> None:
    problem = cp.Problem(cp.Minimize(0))
    with pytest.raises(TypeError, match="a function of data that returns a cvxpy problem"):
        same(first, problem, **FEW)
    with pytest.raises(TypeError, match="a function of data that returns a cvxpy problem"):
        refute(first, problem, examples=1)


@pytest.mark.slow
def test_a_family_that_somebody_brings_is_asked_by_its_ids_and_has_its_own_data() -> None:
    try:
        mine = Family("same_mine", data=CLASSES)
        mine.formulation("primal")(soft)
        mine.formulation("dual", value=lambda v, d: v + 1 - 1)(soft_dual)
        mine.formulation("doubled", value=lambda v, d: v / 2)(soft_doubled)
        mine.formulation(
            "wrong", control=True, applies=lambda d: None if len(d["X"]) > 1 else "too few points"
        )(soft_dual_without_half)
        assert same("same_mine.primal", "same_mine.dual", **FEW).verdict == "EQUAL"
        assert same("same_mine.dual", "same_mine.doubled", **FEW).verdict == "EQUAL"
        wrong = refute("same_mine.wrong", examples=150)
        assert (wrong.verdict, wrong.b) == ("DIFFERENT", "same_mine.primal")
        assert (
            wrong.undecided["same_mine.wrong cannot be declared for these data: too few points"] > 0
        )
        kept = {
            (each.a, each.b): each.found.verdict
            for each in suggest("same_mine", draws=2, examples=100)
        }
        assert set(kept.values()) == {"EQUAL", "DIFFERENT"}
        no_data = Family("same_without_data")
        no_data.formulation("primal")(soft)
        with pytest.raises(ValueError, match="the family same_without_data has no data strategy"):
            same("same_without_data.primal", "same_without_data.primal")
    finally:
        for id in [id for id in REGISTRY if id.startswith("same_")]:
            del REGISTRY[id]
        for name in ("same_mine", "same_without_data"):
            FAMILIES.forget(name)


def test_suggestions_are_entries_of_the_table_of_links() -> None:
    from equimargin.formulations.links import Equivalence, table

    found = list(suggest("svm.nobias", draws=2, examples=2))
    assert {(each.a, each.b) for each in found} == {
        ("svm.nobias.primal", "svm.nobias.dual"),
        ("svm.nobias.primal", "svm.nobias.beta"),
        ("svm.nobias.dual", "svm.nobias.beta"),
    }
    for each in found:
        (entry,) = eval(each.entry, vars(table))
        assert isinstance(entry, Equivalence)
        assert (entry.a, entry.b) == (each.a, each.b)
    assert [each.known for each in found] == [True, True, False]
    with pytest.raises(ValueError, match=r"unknown family 'svm\.nobas'; did you mean svm.nobias"):
        next(iter(suggest("svm.nobas")))


def test_data_without_an_expression_are_said_to_have_none() -> None:
    from equimargin.equivalence.reproduction import reproduction

    assert "no expression is known for tuple_iterator" in reproduction(
        soft, soft_dual, iter(()), "exact"
    )
    code = reproduction(
        soft,
        soft_dual,
        {"X": np.zeros((0, 2)), "n": (1,), "t": [None, inf, Fraction(1, 3)]},
        "exact",
    )
    scope: dict[str, Any] = {}
    exec("\n".join(line for line in code.splitlines() if not line.startswith("print")), scope)
    assert scope["data"]["X"].shape == (0, 2)
    assert (scope["data"]["n"], scope["data"]["t"]) == ((1,), [None, inf, Fraction(1, 3)])
