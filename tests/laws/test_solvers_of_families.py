"""Families and their specialised solvers: two methods a family, or a reason for one alone.

The laws solve a problem by every solver of its family. A solver that refuses all their
data takes part in no law, and a family of one solver is confirmed by declarations alone.
"""

from __future__ import annotations

import pytest

from equimargin.formulations import FAMILIES
from equimargin.own.instances import drawn_examples
from equimargin.solvers import SOLVERS
from equimargin.testing import margin_problems

WITH_A_BIAS = (
    "the active set prices rows of a function alone, and the penalty needs soft rows: with a bias "
    "hard rows are left to SMO, beside HiGHS, Clarabel, SCS and OSQP on the declarations"
)
HARD_ALONE = "the penalty needs soft rows, and SMO a bias; declarations confirm it"
IN_W = "the order of thresholds has a cost, which no other solver has; declarations confirm it"
THIRD_PARTY = "it is not of the documents: its one solver is a third-party program"
ALONE = {
    "svm.hard": WITH_A_BIAS,
    "svr.hard": WITH_A_BIAS,
    "rank.hard": HARD_ALONE,
    "svm.nobias_hard": HARD_ALONE,
    "ord.hard": "it is solved as a hard ranking; declarations confirm it",
    "ord.explicit": IN_W,
    "ord.sum": IN_W,
    "svm.general": "it is solved as soft margins of other costs; declarations confirm it",
    "svm.huberised_hinge": "Newton's method is the one whose smooth losses include it",
    "coupling.wlw": "its optimum is that of one linear system; declarations confirm it",
    "lasso": THIRD_PARTY,
    "group_lasso": "it is not of the documents: proximal gradient is its one method",
    "ls_svm": THIRD_PARTY,
    "one_norm_svm": THIRD_PARTY,
    "one_norm_svm_l2": "it is not of the documents: coordinate descent is its one method",
    "quantile": THIRD_PARTY,
}
"""Families with one specialised solver, and the reason."""
IN_LAWS = {
    "svm.soft": {"smo", "huber", "homotopy"},
    "svr.l1": {"smo", "huber", "homotopy"},
    "rank.l1": {"coordinate_descent", "huber", "cutting_plane", "homotopy", "penalty"},
    "svm.nobias": {"coordinate_descent", "huber", "penalty"},
    "svm.l2": {"smo", "newton"},
    "svr.l2": {"smo", "newton"},
    "rank.l2": {"coordinate_descent", "newton", "tron", "penalty"},
    "svm.nobias_l2": {"coordinate_descent", "newton", "tron", "penalty"},
    "rank.onenorm": {"linear_program", "column_generation"},
    "rvm": {"linear_program", "column_generation"},
    "svm.onenorm": {"linear_program", "column_generation"},
    "svm.nobias_onenorm": {"linear_program", "column_generation"},
    "ord.implicit": {"threshold_newton", "columns"},
    "ord.implicit_l2": {"threshold_newton", "columns"},
}
"""Families with two or more specialised solvers, which the laws must reach."""
OF_PROGRAMS = {
    family: {f"{family}.smo", f"{family}.libsvm"} for family in ("nu_svc", "nu_svr", "one_class")
} | {"crammer_singer": {"crammer_singer.decomposition", "crammer_singer.liblinear"}}
"""Families of two solvers whose data are no margin problem; `test_shipped` compares them."""
UNREACHED = {"penalty": "it takes hard rows among soft ones, which no law draws: see test_penalty"}
"""Solvers that no data of the laws reach, and the reason."""
TRIED = 60
"""Number of problems drawn of a family, as the laws draw them."""


def solvers(family: str) -> set[str]:
    """Return the names of the package's specialised solvers of a family.

    Other tests of the process may have registered families and solvers of users.
    """
    return {
        name
        for name, solver in SOLVERS.items()
        if solver.module.startswith("equimargin.") and solver.takes(family)
    }


def test_every_family_has_two_solvers_or_a_reason() -> None:
    found = {
        name: solvers(name)
        for name, family in FAMILIES.items()
        if family.module.startswith("equimargin.formulations.")
    }
    assert {family for family, names in found.items() if len(names) == 1} == set(ALONE)
    several = {family: names for family, names in found.items() if len(names) > 1}
    assert several == IN_LAWS | OF_PROGRAMS


def test_two_solvers_of_a_family_are_two_algorithms() -> None:
    for family, names in IN_LAWS.items():
        assert len({SOLVERS[name].algorithm for name in names}) >= 2, family


@pytest.mark.parametrize("family", sorted(IN_LAWS))
def test_the_data_of_the_laws_reach_every_solver(family: str) -> None:
    drawn = drawn_examples(margin_problems(family, max_points=8, tails=False), TRIED, 0)
    reached = {
        name
        for name in solvers(family)
        if any(SOLVERS[name].refusal(problem) is None for problem in drawn)
    }
    assert reached == IN_LAWS[family] - set(UNREACHED)
