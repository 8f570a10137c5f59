"""Equivalence proofs of two programs: found, replayed, and never found in error.

An independent judge replays them.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from equimargin.equivalence.instances import small_problems
from equimargin.formulations import REGISTRY
from equimargin.formulations.declarations.family import FAMILIES
from equimargin.formulations.kernels.kernel import linear
from equimargin.formulations.programs import Program, program_from_arrays
from equimargin.proofs.equivalence import Reason, StatedProgram, find_reason, stated
from equimargin.proofs.equivalence.steps.form import make_form
from equimargin.solvers.exact.program import Optimum, program_optimum
from equimargin.solvers.exact.program.clock import Clock, OutOfTime
from equimargin.testing import CANONICAL, get_task, sample_problem
from narrow import present
from oracles.reasons import assert_replays

SECONDS = 60.0
"""Seconds that an equivalence proof may take here: it takes a tenth of one."""
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
WITH_CONES = {"svm.hard.margin", "svm.nobias_hard.margin", "rank.hard.margin"}
"""Formulations with second-order cones, whose optima are irrational."""
OF_OTHER_ROWS = {"rank.oneslack"}
"""Formulations with rows for subsets of the pairs: no renaming maps others to them."""
WITHOUT_REASON = {
    frozenset(("ord.hard.dual", other)) for other in ("ord.hard.neighbours", "ord.hard.rank_hard")
}
"""Pairs of a dual and a primal whose rows are not those of the dual's own primal.

A projection relates the two primals.
"""


def plain(family: str, seed: int) -> Any:
    """Return a problem of three points with integer features.

    The square roots of its costs are exact.
    """
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-3, 4, (3, 2)).astype(np.float64), np.array([2.0, 0.0, 1.0])
    made = sample_problem(family, n=3)
    return rebuilt(made, X, y)


def rebuilt(made: Any, X: Any, y: Any) -> Any:
    """Return a problem with the settings of `made` on other data, at C = 4 if finite."""
    data: dict[str, Any] = {
        "X": X,
        "y": y,
        "C": made.C if np.isinf(made.C) else 4.0,
        "kernel": linear(),
    }
    if get_task(made.family) == "classification":
        data["y"] = np.array([1.0, -1.0, 1.0])
    if get_task(made.family) == "regression":
        data["epsilon"] = 0.25
    if getattr(made, "delta", None) is not None:
        data["delta"] = made.delta
    return FAMILIES[made.family](data)


def between(one: StatedProgram, other: StatedProgram) -> Reason | None:
    return find_reason(
        one.form,
        other.form,
        one.opposite != other.opposite,
        Clock(SECONDS),
        (one.valued, other.valued),
    )


@pytest.mark.parametrize("family", CANONICAL)
def test_all_pairs_of_a_family_have_a_reason_that_an_independent_judge_replays(family: str) -> None:
    """There are 44 pairs; a form with a row for every subset is the only exception."""
    problem = plain(family, seed=1)
    forms = {
        id: entry
        for id, entry in REGISTRY.items()
        if entry.family == family and not entry.control and id not in WITH_CONES
    }
    ids = [id for id, entry in forms.items() if entry.refusal(problem) is None]
    known = {id: stated(id, problem, "fractions", Clock(SECONDS)) for id in ids}
    for a, b in combinations(ids, 2):
        assert known[a].optimum == known[b].optimum
        reason = between(known[a], known[b])
        assert (reason is None) == (
            bool(OF_OTHER_ROWS & {a, b}) or frozenset((a, b)) in WITHOUT_REASON
        )
        if reason is not None:
            assert_replays(
                reason, known[a].program, known[b].program, known[a].opposite != known[b].opposite
            )


@pytest.mark.slow
@pytest.mark.parametrize("family", CANONICAL)
@settings(max_examples=8, deadline=None, suppress_health_check=SLOW)
@given(st.data())
def test_a_control_with_another_optimum_never_gets_a_reason(family: str, data: Any) -> None:
    problem = data.draw(small_problems(family))
    refused = [
        id
        for id, entry in REGISTRY.items()
        if entry.family == family and (id in WITH_CONES or entry.refusal(problem))
    ]
    known = {
        id: stated(id, problem, "fractions", Clock(SECONDS))
        for id, entry in REGISTRY.items()
        if entry.family == family and id not in refused
    }
    controls = [id for id in known if REGISTRY[id].control]
    for id in controls:
        first = next(other for other in known if not REGISTRY[other].control)
        if known[id].optimum != known[first].optimum:
            assert between(known[id], known[first]) is None


Arrays = dict[str, Any]


@st.composite
def programs(draw: Any) -> Arrays:
    """min 1/2 |Rx|^2 + q'x over A x = b, G x <= h, small integers; x = x0 is feasible."""
    n, squares, equations, rows = (
        draw(st.integers(low, high)) for low, high in ((1, 4), (0, 3), (0, 2), (1, 5))
    )

    def integers(*shape: int) -> Any:
        values = draw(
            st.lists(st.integers(-2, 2), min_size=int(np.prod(shape)), max_size=int(np.prod(shape)))
        )
        return np.array(values, dtype=np.int64).reshape(shape)

    R, A, G, x = integers(squares, n), integers(equations, n), integers(rows, n), integers(n)
    # Box constraints: every program has an optimum.
    G = np.vstack([G, np.eye(n, dtype=np.int64), -np.eye(n, dtype=np.int64)])
    h = np.concatenate([G[:rows] @ x + np.abs(integers(rows)), x + 3, 3 - x])
    return {
        "P": R.T @ R,
        "q": integers(n),
        "A": A,
        "b": A @ x,
        "G": G,
        "h": h,
        "c": draw(st.integers(-2, 2)),
    }


def made(arrays: Arrays) -> Program:
    fractions: dict[str, Any] = {
        name: [
            [Fraction(int(v)) if isinstance(v, np.integer) else Fraction(v) for v in row]
            for row in M
        ]
        for name, M in arrays.items()
        if name in "PAG"
    }
    fractions |= {
        name: [Fraction(int(x)) if isinstance(x, np.integer) else Fraction(x) for x in v]
        for name, v in arrays.items()
        if name in "qbh"
    }
    for name in "AG":
        fractions[name] = fractions[name] or None
    return program_from_arrays(**fractions, c=Fraction(arrays["c"]))


def permuted(arrays: Arrays, draw: Any) -> Arrays:
    n, rows = len(arrays["q"]), len(arrays["h"])
    k, r = draw(st.permutations(range(n))), draw(st.permutations(range(rows)))
    return {
        **arrays,
        "P": arrays["P"][np.ix_(k, k)],
        "q": arrays["q"][k],
        "A": arrays["A"][:, k],
        "G": arrays["G"][np.ix_(r, k)],
        "h": arrays["h"][r],
    }


def scaled(arrays: Arrays, draw: Any) -> Arrays:
    """Return the arrays with variables and rows multiplied by positive integers."""
    n, rows = len(arrays["q"]), len(arrays["h"])
    s = np.array(draw(st.lists(st.sampled_from([1, 2, 3, 5]), min_size=n, max_size=n)))
    u = np.array(draw(st.lists(st.sampled_from([1, 2, 3]), min_size=rows, max_size=rows)))
    G = arrays["G"] * s * u[:, None]
    return {
        **arrays,
        "P": arrays["P"] * np.outer(s, s),
        "q": arrays["q"] * s,
        "A": arrays["A"] * s,
        "G": G,
        "h": arrays["h"] * u,
    }


def with_slack(arrays: Arrays, draw: Any) -> Arrays:
    """Return the arrays with the first inequality as an equation with a slack >= 0."""
    n, first = len(arrays["q"]), arrays["G"][:1]
    P = np.zeros((n + 1, n + 1), dtype=np.int64)
    P[:n, :n] = arrays["P"]
    A = np.vstack(
        [
            np.hstack([arrays["A"], np.zeros((len(arrays["b"]), 1), dtype=np.int64)]),
            np.append(first, [[1]], axis=1),
        ]
    )
    rest = arrays["G"][1:]
    G = np.vstack(
        [
            np.hstack([rest, np.zeros((len(rest), 1), dtype=np.int64)]),
            np.eye(n + 1, dtype=np.int64)[-1:] * -1,
        ]
    )
    b, h = np.append(arrays["b"], arrays["h"][0]), np.append(arrays["h"][1:], 0)
    return {**arrays, "P": P, "q": np.append(arrays["q"], 0), "A": A, "b": b, "G": G, "h": h}


def dualised(arrays: Arrays, draw: Any) -> Arrays:
    """min 1/2 x'Px + b'y + h'z  over  P x + A'y + G'z = -q,  z >= 0."""
    n, m, r = len(arrays["q"]), len(arrays["b"]), len(arrays["h"])
    P = np.zeros((n + m + r, n + m + r), dtype=np.int64)
    P[:n, :n] = arrays["P"]
    G = np.hstack([np.zeros((r, n + m), dtype=np.int64), -np.eye(r, dtype=np.int64)])
    A = np.hstack([arrays["P"], arrays["A"].T, arrays["G"].T])
    q = np.concatenate([np.zeros(n, dtype=np.int64), arrays["b"], arrays["h"]])
    return {
        "P": P,
        "q": q,
        "A": A,
        "b": -arrays["q"],
        "G": G,
        "h": np.zeros(r, dtype=np.int64),
        "c": -arrays["c"],
    }


@pytest.mark.slow
@pytest.mark.parametrize("change", [permuted, scaled, with_slack, dualised])
@settings(max_examples=25, deadline=None, suppress_health_check=SLOW)
@given(arrays=programs(), data=st.data())
def test_a_program_in_other_words_has_a_reason(
    change: Callable[[Arrays, Any], Arrays], arrays: Arrays, data: Any
) -> None:
    one, other = made(arrays), made(change(arrays, data.draw))
    reason = present(
        find_reason(make_form(one), make_form(other), change is dualised, Clock(SECONDS))
    )
    assert_replays(reason, one, other, change is dualised)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=SLOW)
@given(arrays=programs(), data=st.data())
def test_a_program_with_one_number_changed_so_that_its_optimum_moves_has_none(
    arrays: Arrays, data: Any
) -> None:
    name = data.draw(st.sampled_from(["q", "h", "G", "c"]))
    changed = {**arrays, name: np.array(arrays[name])}
    changed[name].flat[data.draw(st.integers(0, changed[name].size - 1))] += data.draw(
        st.sampled_from([-1, 1])
    )
    changed["c"] = int(changed["c"])
    one, other = made(arrays), made(changed)
    values = [
        outcome.value if isinstance(outcome := program_optimum(each, SECONDS), Optimum) else None
        for each in (one, other)
    ]
    assume(values[0] != values[1])
    assert find_reason(make_form(one), make_form(other), False, Clock(SECONDS)) is None
    # The optima may be opposite: x^2 / 2 and x^2 / 2 - x are 1/2 and -1/2 at x = 1.
    opposite = None if values[1] is None else -values[1]
    if values[0] is None or values[0] != opposite:
        assert find_reason(make_form(one), make_form(other), True, Clock(SECONDS)) is None


def test_a_search_without_time_says_so() -> None:
    one = make_form(
        made({"P": np.eye(2), "q": [1, 2], "A": [], "b": [], "G": -np.eye(2), "h": [0, 0], "c": 0})
    )
    with pytest.raises(OutOfTime, match="the normal form of a program"):
        find_reason(one, one, False, Clock(1e-9))
