"""Conformance check of formulations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from equimargin.formulations import (
    REGISTRY,
    Declaration,
    Formulation,
    MarginProblem,
    OneNormProblem,
    Problem,
    complete,
    declare,
    one_norm_classification,
    ordinal,
)
from equimargin.formulations.declarations.family import program_families
from equimargin.formulations.rows.levels import Levels
from equimargin.formulations.rows.listed import Signed, Tube
from equimargin.own.instances import Refutation, check_own_formulation
from equimargin.proofs import Agreement, examine, judge
from equimargin.solvers import solve_declaration
from equimargin.testing.conforming import (
    KERNELS,
    conforming,
    declared_answers,
    require,
    solved_answers,
)
from equimargin.testing.problems import sample_problem


@conforming()
def check_formulation(id: str, backend: str = "CLARABEL") -> Refutation | None:
    """Check a declared formulation on small problems of its family with three kernels.

    It must be disciplined with its parameters (DPP), equal its published formula at
    random values, map points from and to canonical form consistently, refuse problems
    of other families, and agree with the correct answers of its family, also with
    weights and a row of infinite weight. A negative control must disagree. A
    formulation of a user-defined family is checked on data of the family's strategy
    (`equimargin.own.instances`).

    Parameters
    ----------
    id : str
        Id of a registered formulation.
    backend : str
        Backend that solves it.

    Returns
    -------
    Refutation or None
        Instance that refutes a negative control of a user-defined family; otherwise None.

    Raises
    ------
    KeyError
        If the id is unknown.
    AssertionError
        If the check fails; the message describes the fault.
    """
    entry = REGISTRY[id]
    if entry.family in program_families():
        return check_own_formulation(entry)
    require(
        bool(entry.sources and entry.statement and entry.latex),
        f"{id} must name its source, its statement and its LaTeX",
    )
    stranger = sample_problem("svm.soft" if entry.family != "svm.soft" else "svr.l1")
    require(entry.refusal(stranger) is not None, f"{id} must refuse a problem of {stranger.family}")
    taken = False
    for seed, (written, kernel) in enumerate(KERNELS.items()):
        for levels in (3, 2):
            problem = _telling(sample_problem(entry.family, kernel, seed, levels=levels))
            if entry.refusal(problem) is None:
                where = (
                    f"{entry.family} with {written}, `sample_problem({entry.family!r}, "
                    f"{written}, {seed}, levels={levels})`"
                )
                _check_declaration(entry, declare(id, problem))
                _check_agreement(entry, problem, backend, where)
                if not taken and not entry.control:
                    _check_weights(entry, problem, backend, where)
                taken = True
                break
    require(taken, f"{id} refuses every problem of its family")
    return None


def _check_weights(entry: Formulation, problem: Problem, backend: str, where: str) -> None:
    """Check a formulation with weights, and with a row of infinite weight."""
    if not isinstance(problem, MarginProblem) or np.isinf(problem.C):
        return
    groups = len(problem.group_costs)
    weights = np.resize([0.5, 1.0, 2.0], groups)
    ones = {"weights of 0.5, 1 and 2": weights}
    if problem.delta is None and groups > 1:
        ones["a hard row (`d.hard`, `d.no_slack`)"] = np.where(
            np.arange(groups) == 0, np.inf, weights
        )
    for description, factors in ones.items():
        weighted = replace(problem, weights=factors)
        if entry.refusal(weighted) is None:
            _check_agreement(entry, weighted, backend, f"{where} and {description}")


def _telling(problem: Problem) -> Problem:
    """Return the problem, changed so that nonequivalent formulations differ from it.

    Costs above a tube differ from those below it. With two classes and a 1-norm, one
    class has outliers beyond the other class, whose coefficients of free sign would
    have the wrong sign. In an ordinal regression, some points have both the lowest
    level and the highest, so that all thresholds are violated.
    """
    if (
        isinstance(problem, MarginProblem)
        and isinstance(problem.rows, Levels)
        and np.isfinite(problem.C)
    ):
        X, y = problem.X.copy(), problem.rows.y.copy()
        X[1:4], y[:4] = X[0], [0, problem.T, 0, problem.T]
        return ordinal(X, y, 1.0, problem.kernel, problem.loss)
    if isinstance(problem, OneNormProblem) and isinstance(problem.rows, Signed):
        places, y = (
            np.resize([-0.4, -0.2, -0.2, 0.2], problem.m),
            np.resize([1.0, -1.0, -1.0, 1.0], problem.m),
        )
        X = np.outer(places, [1.0, 0.5]) + 0.02 * np.random.default_rng(0).normal(
            size=(problem.m, 2)
        )
        return one_norm_classification(X, y, 10.0, problem.kernel, problem.bias)
    if (
        not isinstance(problem, MarginProblem)
        or not isinstance(problem.rows, Tube)
        or np.isinf(problem.C)
    ):
        return problem
    return replace(problem, weights=np.repeat([0.6, 0.4], problem.m))


def _check_declaration(entry: Formulation, declared: Declaration) -> None:
    require(
        declared.problem.is_dcp(dpp=True),
        f"{entry.id} is not disciplined with its parameters (DPP)",
    )
    # A negative control may differ from its published formula on purpose.
    if entry.control:
        return
    rng, problem = np.random.default_rng(0), declared.canonical
    alpha = rng.uniform(0.0, 0.1, problem.p)
    b = problem.bias_at(np.zeros(problem.m))
    declared.assign(
        complete(problem, problem.point(np.abs(rng.normal(size=problem.size)), alpha, b))
    )
    unset = [variable.name() for variable in declared.problem.variables() if variable.value is None]
    require(
        not unset,
        f"{entry.id}: from_canonical gives no value to {' and '.join(unset)}, which `d.let` "
        f"did not make",
    )
    tree, printed = (
        float(declared.objective.args[0].value),
        float(declared.printed(declared.values).objective),
    )
    message = (
        f"the objective that {entry.id} declares is {tree:.12g} at a point of a problem with "
        f"the {problem.kernel.name} kernel"
    )
    require(
        abs(tree - printed) <= 1e-8 * max(1.0, abs(tree)),
        f"{message}, where its published formula is {printed:.12g}",
    )
    side = declared.point.multipliers if entry.carries == "multipliers" else None
    require(
        side is None or np.allclose(side, alpha),
        f"{entry.id} does not return the multipliers that it was given",
    )


def _check_agreement(entry: Formulation, problem: Problem, backend: str, where: str) -> None:
    honest = [*declared_answers(problem, entry.id), *solved_answers(problem)]
    evidence = examine(
        problem, solve_declaration(declare(entry.id, problem), backend), entry.control
    )
    judgement = judge(entry.family, [*honest, evidence], problem.scale).judgements[-1]
    wanted = Agreement.DISAGREES if entry.control else Agreement.AGREES
    figures = (
        f"its value has the error {judgement.claim:.1e}, its point {judgement.off:.1e}, and "
        f"{judgement.accuracy:.1e} is allowed"
    )
    kind = "negative control" if entry.control else "correct formulation"
    message = (
        f"{entry.id} {judgement.agreement} on {where}, and a {kind} {wanted}: {figures}; "
        f"{evidence.run.reason}"
    )
    require(judgement.agreement is wanted, message)
