"""Metamorphic properties: effect of a known change of a problem on its optimum.

A table lists the laws by family. Every specialised solver of the family must prove a
narrow interval: v = v' is refuted if two intervals are disjoint. Where the changed data
are as exact as the generated ones (orders, signs, powers of two) nothing widens the
intervals; where they are rounded, ROUNDING does. Multipliers and coefficients are never
compared: they are not unique.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from equimargin.formulations import (
    Interval,
    MarginProblem,
    OneNormProblem,
    Problem,
    classification,
    interval,
    linear,
    one_norm_classification,
    one_norm_ranking,
    ordinal,
    polynomial,
    precomputed,
    ranking,
    ranking_vector_machine,
    rbf,
    regression,
)
from equimargin.formulations.bounds.slater import find_slater_point
from equimargin.formulations.kernels.kernel import RBF
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.rows.levels import Levels
from equimargin.formulations.rows.listed import Pairs, Signed, Tube
from equimargin.solvers import SOLVERS, Solution, solve
from equimargin.solvers.registry import DEVICE_SOLVERS
from equimargin.solvers.solution import HOST
from equimargin.testing import CANONICAL, HARD, ONE_NORM, get_task, margin_problems
from narrow import as_a, present

NARROW = 1e-6
"""Maximum width, relative to S, of the interval of a solved problem."""
ROUNDING = 1e-7
"""Maximum distance of two intervals, relative to S, where the changed data are rounded."""
BEYOND = 1e8
"""Bound above which a hard optimum counts as infeasible: the features are of size 1."""
FEW = settings(max_examples=max(4, settings().max_examples // 4))
"""Share of the profile's examples: there are hundreds of pairs of a law and a family."""

SOLVED = [
    family for family in CANONICAL if any(solver.takes(family) for solver in SOLVERS.values())
]
SOFT = [family for family in SOLVED if family not in HARD]
MARGINS = [family for family in SOLVED if family not in ONE_NORM]
SIGNED, TUBES, RANKED, ORDINAL = (
    [family for family in MARGINS if get_task(family) == task]
    for task in ("classification", "regression", "ranking", "ordinal")
)
ONE_NORM_RANKED = [family for family in ONE_NORM if get_task(family) == "ranking"]
OF_ROWS = {family for family in SOLVED if family.endswith("onenorm")}
"""Families with one variable per row."""
SQUARED = {
    "svm.soft": "svm.l2",
    "svm.nobias": "svm.nobias_l2",
    "svr.l1": "svr.l2",
    "rank.l1": "rank.l2",
    "ord.implicit": "ord.implicit_l2",
}
"""Families of the hinge -> families of its square."""

Random = np.random.Generator
Law = Callable[[Any, Random], None]
LAWS: list[tuple[Law, str, dict[str, Any]]] = []
"""Every law with every applicable family, and with the fields of its problems."""


def law(families: Collection[str], **changes: Any) -> Callable[[Law], Law]:
    """Register a law in the table, for problems with these fields."""

    def enter(holds: Law) -> Law:
        LAWS.extend((holds, family, changes) for family in SOLVED if family in families)
        return holds

    return enter


def solutions(problem: Problem) -> list[Solution]:
    """Solve the problem by every specialised solver of its family.

    SMO, TRON and the path are among them; the method of a card runs with numpy.
    """
    names = [
        name
        for name, solver in SOLVERS.items()
        if solver.takes(problem.family) and solver.refusal(problem) is None
    ]
    assert names, f"no solver takes {problem.family}"
    found = [solve(problem, name, tol=1e-9) for name in names]
    found += [
        solve(problem, name, tol=1e-9, device=HOST)
        for name, solver in DEVICE_SOLVERS.items()
        if solver.takes(problem.family) and solver.refusal(problem) is None
    ]
    for solution in found:
        assert solution.interval.relative_width <= NARROW or is_out_of_reach(solution), (
            solution.interval,
            solution.reason,
        )
    return found


def is_out_of_reach(solution: Solution) -> bool:
    """Return True if no upper bound can be requested.

    Either the proven lower bound exceeds all margins, or the feasible set of a tube has
    no interior.
    """
    problem = solution.problem
    if not isinstance(problem, MarginProblem) or np.isfinite(problem.C):
        return False
    inside = find_slater_point(problem)
    shut = isinstance(problem.rows, Tube) and (
        inside is None or np.isinf(interval(problem, inside).upper)
    )
    return shut or solution.lower > BEYOND


def v(problem: Problem) -> Interval:
    """Return the intersection of the proven intervals of all solvers."""
    found = Interval(-np.inf, np.inf)
    for solution in solutions(problem):
        found = found.intersected(solution.interval)
    assert found.lower <= found.upper, "two solvers contradict each other"
    return found


def at_most(a: Interval, b: Interval, rounding: float = 0.0) -> None:
    """Assert that v_a <= v_b is not refuted."""
    assert a.lower <= b.upper + rounding * max(a.size, b.size), (a, b)


def equal(a: Interval, b: Interval, rounding: float = 0.0) -> None:
    """Assert that v_a = v_b is not refuted."""
    at_most(a, b, rounding)
    at_most(b, a, rounding)


def scaled(factor: float, a: Interval) -> Interval:
    """Return the interval of factor v_a."""
    return Interval(factor * a.lower, factor * a.upper, factor * a.scale)


def total(a: Interval, b: Interval) -> Interval:
    """Return the interval of v_a + v_b, rounded outwards."""
    return Interval(
        np.nextafter(a.lower + b.lower, -np.inf),
        np.nextafter(a.upper + b.upper, np.inf),
        a.scale + b.scale,
    )


def rebuilt(problem: Any, points: Any = slice(None), **changes: Any) -> Any:
    """Rebuild the problem by its public constructor, with arguments changed.

    It has the given points, by default all of them, in order.
    """
    rows = problem.rows
    old: dict[str, Any] = {
        "X": problem.X[points],
        "y": rows.y[points],
        "C": problem.C,
        "kernel": problem.kernel,
    }
    if isinstance(rows, Pairs):
        old["qid"] = present(rows.query)[points]
    if isinstance(problem, MarginProblem):
        old["loss"] = problem.loss
    if isinstance(rows, Pairs):
        make = (
            ranking
            if isinstance(problem, MarginProblem)
            else ranking_vector_machine
            if problem.over == "points"
            else one_norm_ranking
        )
        weights = {q: w for q, w in query_weights(problem).items() if q in old["qid"]}
        return make(**old | {"query_weight": weights} | changes)
    old["sample_weight"] = problem.unit_weights[: problem.m][points]
    if isinstance(problem, OneNormProblem):
        return one_norm_classification(**old | {"bias": problem.bias} | changes)
    if isinstance(rows, Levels):
        return ordinal(**old | {"levels": rows.T + 1} | changes)
    if isinstance(rows, Tube):
        return regression(**old | {"epsilon": rows.epsilon} | changes)
    return classification(**old | {"bias": problem.bias, "delta": problem.delta} | changes)


def row_weights(problem: Any) -> Array:
    """Return weight_r, (p,)."""
    return np.asarray(problem.unit_weights)


def query_weights(problem: Any) -> dict[int, float]:
    """Return the weight of every query that has pairs."""
    return dict(
        zip(
            problem.rows.query[problem.rows.preferred].tolist(),
            row_weights(problem).tolist(),
            strict=True,
        )
    )


def twice(problem: Any, **changes: Any) -> Any:
    """Return the problem with all points twice.

    Queries of the second half have new names.
    """
    again = np.tile(np.arange(problem.m), 2)
    if isinstance(problem.rows, Pairs):
        query, weights = present(problem.rows.query), query_weights(problem)
        changes |= {
            "qid": np.append(query, query + 10),
            "query_weight": weights | {q + 10: w for q, w in weights.items()},
        }
    return rebuilt(problem, again, **changes)


def of_pairs(problem: Any, preferred: Any, other: Any, weights: Array) -> Any:
    """Return the problem of the given pairs of its points."""
    rows, order = Pairs(preferred, other, problem.m), np.lexsort((other, preferred))
    return replace(problem, rows=rows, weights=weights[order])


def some_rows(problem: Any, kept: NDArray[np.bool_]) -> Any:
    """Return the problem of some of its rows, the last point's among them; kept : (p,).

    Pairs go, their points stay.
    """
    if isinstance(problem.rows, Pairs):
        return of_pairs(
            problem,
            problem.rows.preferred[kept],
            problem.rows.other[kept],
            row_weights(problem)[kept],
        )
    points = np.asarray(kept.reshape(-1, problem.m).any(axis=0))
    return rebuilt(problem, np.append(np.flatnonzero(points[:-1]), problem.m - 1))


def slacks(solution: Solution) -> Array:
    """Return u_r, (p,), of the solution's own f and b."""
    problem, b = solution.problem, solution.bias
    f = solution.decision_function(problem.gram.X)
    f = f if isinstance(problem.rows, Levels) else f - b
    return (
        problem.slack(f, b)
        if isinstance(problem, MarginProblem)
        else 1.0 - problem.rows.dot(f) - b * problem.bias_signs
    )


def flat(problem: Any) -> float:
    """Return the delta of a huberised hinge, and 0 for other losses.

    The huberised hinge is 0 for slacks below -delta.
    """
    return float(getattr(problem, "delta", None) or 0.0)


def loss(solution: Solution) -> float:
    """Return the sum of weight_r loss(u_r), per unit of C."""
    problem, u = solution.problem, slacks(solution)
    return float(problem.phi.weighed(u, problem.costs).sum() / problem.C)


@law(SOFT)
def a_higher_cost_buys_less_loss_for_more_norm(problem: Any, rng: Random) -> None:
    """Check the two optimality inequalities, with proven gaps in place of equality.

    Loss and norm are float64.
    """
    factor = rng.choice([2.0, 16.0])
    for low, high in zip(
        solutions(problem), solutions(problem.with_cost(factor * problem.C)), strict=True
    ):
        gaps = [s.upper - s.lower + 1e-12 * s.interval.size for s in (low, high)]
        norms = [s.value - s.problem.C * loss(s) for s in (low, high)]
        slip = sum(gaps) / ((factor - 1) * problem.C)
        assert loss(high) <= loss(low) + slip
        assert norms[0] <= norms[1] + gaps[0] + problem.C * slip


@law(SOFT)
def the_value_rises_with_the_cost_and_bends_down(problem: Any, rng: Random) -> None:
    """Check that v(C) is nondecreasing and concave, and v(C) / C nonincreasing.

    v is a minimum of increasing affine functions of C.
    """
    once, double, quadruple = (v(problem.with_cost(k * problem.C)) for k in (1.0, 2.0, 4.0))
    at_most(once, double)
    at_most(double, scaled(2.0, once))
    at_most(total(scaled(2.0, once), quadruple), total(scaled(2.0, double), double))


@law(SOLVED, kernel=linear())
def a_kernel_times_s_is_a_cost_times_s(problem: Any, rng: Random) -> None:
    """Check that v of (s K, C / s) is v of (K, C) / s.

    f|^2 in the space of s K is |f|^2 / s; powers of four are exact.
    """
    root = 2.0 ** rng.integers(-20, 21)
    equal(
        scaled(root**-2, v(problem)), v(replace(problem, X=root * problem.X, C=problem.C / root**2))
    )


@law(SOFT)
def a_given_gram_matrix_scales_like_its_kernel(problem: Any, rng: Random) -> None:
    """Check soft margins only.

    The diagonal shift of a singular matrix makes a hard margin feasible.
    """
    s = rng.choice([0.25, 8.0])
    equal(
        scaled(1 / s, v(problem)),
        v(rebuilt(problem, X=s * problem.gram.dense, kernel=precomputed(), C=problem.C / s)),
        ROUNDING,
    )


@law(SOFT)
def the_value_lies_between_zero_and_that_of_the_best_constant(problem: Any, rng: Random) -> None:
    """Check 0 <= v <= P(0), and the bound of the best constant with a bias.

    The bound is 2 C min(c+, c-) or 4 C c+ c- / (c+ + c-), c the weights of a class.
    """
    found, bound = v(problem), problem.scale
    if isinstance(problem, MarginProblem):
        bound = problem.primal(np.zeros(problem.m), 0.0, 0.0 * problem.bias_at(np.zeros(problem.m)))
        if isinstance(problem.rows, Signed) and problem.bias and problem.delta is None:
            plus, minus = (
                float(problem.costs[problem.rows.y == sign].sum()) for sign in (1.0, -1.0)
            )
            bound = (
                2 * min(plus, minus)
                if problem.loss == "hinge"
                else 4 * plus * minus / max(plus + minus, 1e-300)
            )
    assert found.upper >= 0
    assert found.lower <= bound * (1 + 1e-12)


@law(SOLVED)
def a_kernel_forgets_where_the_origin_is(problem: Any, rng: Random) -> None:
    """Check the RBF kernel for all families, and the linear one in some of them.

    The linear kernel needs a bias, or a ranking, whose rows are differences.
    """
    rooted = problem.family in (
        "svm.nobias",
        "svm.nobias_hard",
        "svm.nobias_l2",
        "rvm",
        "svm.nobias_onenorm",
        "svm.onenorm",
    )
    here = replace(problem, kernel=rbf(0.5) if rooted or rng.random() < 0.5 else linear())
    equal(
        v(here),
        v(replace(here, X=problem.X + rng.integers(-2, 3, size=problem.X.shape[1]))),
        ROUNDING,
    )


@law(SOLVED)
def signed_permutations_of_the_features_change_nothing(problem: Any, rng: Random) -> None:
    """Check exact orthogonal maps, X -> -X among them; a feature of zeros adds nothing."""
    d = problem.X.shape[1]
    more = np.column_stack([rng.choice([-1.0, 1.0], size=d) * problem.X, np.zeros(problem.m)])
    equal(v(problem), v(replace(problem, X=more[:, rng.permutation(d + 1)])))


@law(MARGINS)
def another_feature_can_only_help(problem: Any, rng: Random) -> None:
    """Check that the optimum does not increase.

    The kernels grow by positive semidefinite ones, (x.z + a b)^d among them; an RBF
    does not.
    """
    kernel = linear() if isinstance(problem.kernel, RBF) else problem.kernel
    less = replace(problem, kernel=kernel)
    at_most(
        v(replace(less, X=np.column_stack([problem.X, rng.integers(-4, 5, size=problem.m) / 4]))),
        v(less),
    )


@law(SOLVED, kernel=polynomial(2, 1.0, 1.0))
def a_polynomial_kernel_is_the_linear_one_of_its_monomials(problem: Any, rng: Random) -> None:
    """Check that (x.z + 1)^2 is the product of (x_i x_j), (sqrt 2 x_i) and 1: T (47)."""
    X, m = problem.X, problem.m
    monomials = np.column_stack(
        [(X[:, :, None] * X[:, None, :]).reshape(m, -1), np.sqrt(2) * X, np.ones(m)]
    )
    equal(v(problem), v(replace(problem, X=monomials, kernel=linear())), ROUNDING)


@law(
    [
        "svm.nobias",
        "svm.nobias_hard",
        "svm.nobias_l2",
        "svm.nobias_onenorm",
        *RANKED,
        *ONE_NORM_RANKED,
    ],
    kernel=linear(),
)
def problems_in_orthogonal_spaces_add_up(problem: Any, rng: Random) -> None:
    """Check problems that share neither a bias nor queries."""
    X, zeros = problem.X, np.zeros_like(problem.X)
    other = rng.integers(-4, 5, size=X.shape) / 4
    equal(
        total(v(problem), v(replace(problem, X=other))),
        v(twice(problem, X=np.block([[X, zeros], [zeros, other]]))),
    )


@law(SOLVED)
def the_order_of_the_points_does_not_matter(problem: Any, rng: Random) -> None:
    equal(v(problem), v(rebuilt(problem, rng.permutation(problem.m))))


@law(SOLVED)
def all_points_twice_is_twice_the_cost(problem: Any, rng: Random) -> None:
    """Check twice the cost, and four times where identical queries are merged.

    Merged queries have every pair four times.
    """
    equal(v(problem.with_cost(2 * problem.C)), v(twice(problem)))
    if isinstance(problem.rows, Pairs):
        equal(
            v(problem.with_cost(4 * problem.C)),
            v(rebuilt(problem, np.tile(np.arange(problem.m), 2))),
        )


@law({*SIGNED, *TUBES, *ORDINAL} & {*SOFT})
def a_point_given_k_times_has_k_times_its_weight(problem: Any, rng: Random) -> None:
    """Check multiplicities from k = 0, the point excluded; the last point stays."""
    counts = np.append(rng.integers(0, 3, size=problem.m - 1), 1)
    weighted = rebuilt(problem, sample_weight=counts * problem.unit_weights[: problem.m])
    equal(v(weighted), v(rebuilt(problem, np.repeat(np.arange(problem.m), counts))))


@law(({*RANKED} & {*SOFT}) | {"rvm"})
def a_query_of_no_weight_is_left_out(problem: Any, rng: Random) -> None:
    """Check that the points of the query may stay, each in its own query."""
    query, weights = present(problem.rows.query), query_weights(problem)
    out = rng.choice(query)
    kept = {q: w for q, w in weights.items() if q != out}
    alone = rebuilt(
        problem, qid=np.where(query == out, 10 + np.arange(problem.m), query), query_weight=kept
    )
    equal(v(rebuilt(problem, query_weight=weights | {int(out): 0.0})), v(alone))


@law({*SOLVED} - OF_ROWS)
def fewer_rows_are_a_relaxation(problem: Any, rng: Random) -> None:
    """Check all problems except one-norm problems with row variables."""
    at_most(v(some_rows(problem, rng.random(problem.p) < 0.6)), v(problem))


@law({*SOLVED} - OF_ROWS)
def a_row_that_is_met_changes_nothing(problem: Any, rng: Random) -> None:
    """Check that a new satisfied row leaves f and b optimal.

    At the optimum its margin is above 1 + delta, or it is in the middle of the tube.
    """
    solution, rows = solutions(problem)[0], problem.rows
    margin = 1.01 + flat(problem)
    if isinstance(rows, Pairs):
        f = solution.decision_function(problem.X)
        i, j = np.nonzero(f[:, None] > f + margin)
        weights = np.append(row_weights(problem), np.ones(len(i)))
        more = of_pairs(problem, np.append(rows.preferred, i), np.append(rows.other, j), weights)
    else:
        new = rng.integers(-4, 5, size=(3, problem.X.shape[1])) / 4
        f = solution.decision_function(new)
        met, y = (np.abs(f) > margin, np.sign(f)) if isinstance(rows, Signed) else (f == f, f)
        if isinstance(rows, Levels):
            above = f[:, None] + np.atleast_1d(solution.bias)
            met, y = (np.abs(above) > margin).all(axis=1), (above > 0).sum(axis=1)
        weights = np.append(problem.unit_weights[: problem.m], np.ones(met.sum()))
        more = rebuilt(
            problem,
            X=np.vstack([problem.X, new[met]]),
            y=np.append(rows.y, y[met]),
            sample_weight=weights,
        )
    equal(v(problem), v(more), ROUNDING)


@law({*SOFT} - OF_ROWS)
def a_row_that_supports_nothing_can_be_left_out(problem: Any, rng: Random) -> None:
    """Check that rows satisfied by at least delta + 0.01 can be excluded.

    They have no multiplier.
    """
    equal(
        v(problem),
        v(some_rows(problem, slacks(solutions(problem)[0]) > -0.01 - flat(problem))),
        ROUNDING,
    )


@law({*SOLVED} - {"rvm"})
def labels_negated_are_the_function_negated(problem: Any, rng: Random) -> None:
    """Check all families except RVM, because its coefficients have their own sign.

    Levels are counted from the other end.
    """
    largest = problem.rows.T if isinstance(problem.rows, Levels) else 0
    equal(v(problem), v(rebuilt(problem, y=largest - problem.rows.y)))


@law(["svm.nobias", "svm.nobias_hard", "svm.nobias_l2", "svm.nobias_onenorm"], kernel=linear())
def without_a_bias_a_label_is_a_sign_of_its_point(problem: Any, rng: Random) -> None:
    y = problem.rows.y
    equal(v(problem), v(rebuilt(problem, X=y[:, None] * problem.X, y=np.ones(problem.m))))


@law(["svm.soft", "svm.l2"])
def a_bias_helps_most_where_it_is_free(problem: Any, rng: Random) -> None:
    free, penalised, none = (v(rebuilt(problem, bias=bias)) for bias in (True, "penalized", False))
    at_most(free, penalised)
    at_most(penalised, none)


@law(TUBES)
def a_bias_takes_an_offset_of_the_targets(problem: Any, rng: Random) -> None:
    equal(v(problem), v(rebuilt(problem, y=problem.rows.y + rng.integers(-8, 9))), ROUNDING)


@law(TUBES)
def targets_in_other_units(problem: Any, rng: Random) -> None:
    """Check that scaling y and epsilon by s scales the value by s^2.

    The cost is C s for linear slacks and unchanged for squared ones.
    """
    s = 2.0 ** rng.integers(-20, 21)
    C = s * problem.C if problem.family == "svr.l1" else problem.C
    equal(
        scaled(s**2, v(problem)),
        v(rebuilt(problem, y=s * problem.rows.y, epsilon=s * problem.rows.epsilon, C=C)),
    )


@law(TUBES)
def a_wider_tube_costs_less_and_ever_less(problem: Any, rng: Random) -> None:
    """Check that v is nonincreasing and convex in epsilon."""
    wide = rng.choice([0.25, 1.0, 4.0])
    narrow, middle, widest = (
        v(rebuilt(problem, epsilon=epsilon)) for epsilon in (0.0, wide / 2, wide)
    )
    at_most(widest, middle)
    at_most(middle, narrow)
    at_most(scaled(2.0, middle), total(narrow, widest))


@law([*RANKED, *ONE_NORM_RANKED])
def only_the_order_of_relevances_matters(problem: Any, rng: Random) -> None:
    y = problem.rows.y
    for risen in (y**3 - 7, 1e-9 * y, y + 1e6):
        equal(v(problem), v(rebuilt(problem, y=risen)))


@law([*RANKED, *ONE_NORM_RANKED])
def queries_have_names_only(problem: Any, rng: Random) -> None:
    names = rng.permutation([-4, 7, 100, 3, 10**12])
    weights = {int(names[q]): w for q, w in query_weights(problem).items()}
    equal(v(problem), v(rebuilt(problem, qid=names[problem.rows.query], query_weight=weights)))


@law([*RANKED, "rvm"])
def merging_queries_adds_pairs_and_cost(problem: Any, rng: Random) -> None:
    at_most(
        v(rebuilt(problem, query_weight=None)), v(rebuilt(problem, qid=None, query_weight=None))
    )


@law(SQUARED)
def the_hinge_and_its_square_bound_each_other(problem: Any, rng: Random) -> None:
    """Check v1(C) <= v2(C) + C sum of weights / 4, and v2(C / M) <= v1(C).

    The first follows from xi <= xi^2 + 1/4, a tube's point having one slack, the second
    from xi^2 <= M xi.
    """
    squared = replace(problem, loss="squared_hinge")
    assert squared.family == SQUARED[problem.family]
    solution, points = (
        solutions(problem)[0],
        problem.m if isinstance(problem.rows, Tube) else problem.p,
    )
    quarter = float(problem.costs[:points].sum()) / 4
    at_most(v(problem), total(v(squared), Interval(quarter, quarter)))
    largest = float(slacks(solution)[problem.costs > 0].max(initial=1e-3))
    at_most(v(squared.with_cost(problem.C / largest)), solution.interval, 1e-12)


@law(RANKED, kernel=linear())
def a_ranking_is_the_classification_of_its_differences_without_a_bias(
    problem: Any, rng: Random
) -> None:
    """Check K section 2.1, with all differences of class +1."""
    if problem.p:
        X, y = np.asarray(problem.rows.matrix @ problem.X), np.ones(problem.p)
        equal(
            v(problem),
            v(classification(X, y, problem.C, None, problem.loss, False, problem.unit_weights)),
            ROUNDING,
        )


@law(HARD)
def the_soft_margin_rises_to_the_hard_one(problem: Any, rng: Random) -> None:
    """Check that the soft optimum is below the hard one at any cost.

    With the hinge both are equal from the largest multiplier on.
    """
    hard, (solution, *_) = v(problem), solutions(problem)
    for power, C in (("hinge", 0.5), ("squared_hinge", 0.5), ("squared_hinge", 100.0)):
        at_most(v(replace(problem, loss=power, C=C)), hard)
    if hard.upper <= 1e4:
        equal(v(problem.with_cost(1.001 * as_a(np.ndarray, solution.dual).max(initial=1.0))), hard)


@pytest.mark.parametrize(
    ("holds", "family", "changes"),
    [
        pytest.param(
            *law,
            id=f"{law[0].__name__}-{law[1]}",
            marks=[] if law[1] == "svm.soft" else [pytest.mark.slow],
        )
        for law in LAWS
    ],
)
def test_law(holds: Law, family: str, changes: dict[str, Any]) -> None:
    """Check any data of a family.

    The features are at most 1, so that rounding leaves enough to prove.
    """

    @FEW
    @given(margin_problems(family, max_points=8, tails=False), st.integers(0, 2**32 - 1))
    def check(problem: Problem, seed: int) -> None:
        holds(replace(problem, X=problem.X / 4, **changes), np.random.default_rng(seed))

    check()


def test_every_family_has_laws() -> None:
    assert len({holds for holds, _, _ in LAWS}) >= 15
    assert all(sum(of == family for _, of, _ in LAWS) >= 8 for family in SOLVED)
