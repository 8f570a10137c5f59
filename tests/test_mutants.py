"""The referee against formulations that are wrong on purpose: no wrong answer may come out as agreeing.

MUTANTS, INSTANCES and SOURCES are tables: a new formulation needs three entries in the first, a new family one in the second, a new
solver three in the third; tests of the ordinary suite say what is missing. `make mutants` runs the rest and prints every outcome.
"""

from __future__ import annotations

import copy
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from equimargin.formulations import (
    REGISTRY,
    Declaration,
    Kernel,
    MarginProblem,
    Point,
    Printed,
    Problem,
    classification,
    declare,
    linear,
    polynomial,
    ranking,
    ranking_vector_machine,
    rbf,
    regression,
)
from equimargin.formulations.kernels import RBF, Linear, Polynomial
from equimargin.formulations.rows import Pairs, Signed, Tube
from equimargin.proofs import Agreement, Evidence, Judgement, examine, examine_solution, judge
from equimargin.solvers import SOLVERS, Limits, solve, solve_declaration
from equimargin.solvers.convex import Answer

KERNELS: dict[str, Kernel] = {"linear": linear(), "rbf": rbf(0.5), "polynomial": polynomial(2, 0.5, 1.0)}
NONLINEAR = ("rbf", "polynomial")
SEEDS = (11, 14)
ACCURATE, ROUGH = "CLARABEL", "SCS"
AT_LEAST = 3

# Instances: noisy and unbalanced, with costs so small that multipliers reach them; on these every mutant really has another optimum.


def _classes(kernel: Kernel, seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(24, 3))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.7 * rng.normal(size=24) > 0.9, 1.0, -1.0)
    return classification(X, y, C=0.4, kernel=kernel)


def _curve(kernel: Kernel, seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(18, 2))
    y = 2 + X[:, 0] - 0.5 * X[:, 1] ** 2 + 0.5 * rng.normal(size=18)
    return regression(X, y, C=0.5, epsilon=0.2, kernel=kernel)


def _levels(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(16, 3))
    score = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.7 * rng.normal(size=16)
    return X, np.digitize(score, [0.0, 0.8]).astype(float), np.repeat([1, 2], 8)


def _order(kernel: Kernel, seed: int) -> Problem:
    X, y, qid = _levels(seed)
    return ranking(X, y, qid, C=0.3, kernel=kernel)


def _sparse_order(kernel: Kernel, seed: int) -> Problem:
    X, y, qid = _levels(seed)
    return ranking_vector_machine(X, y, qid, C=0.6, kernel=kernel)


INSTANCES: dict[str, Callable[[Kernel, int], Problem]] = {
    "svm.soft": _classes,
    "svr.l1": _curve,
    "rank.l1": _order,
    "rvm": _sparse_order,
}


# Ways to be wrong. Each takes the true problem and an id, and gives a declaration.

Mutate = Callable[[Any, str], Declaration]
Edit = Callable[[Declaration], Any]


def elsewhere(change: Callable[[Any], Problem]) -> Mutate:
    """The right declaration of another problem."""
    return lambda problem, id: declare(id, change(problem))


def objective(build: Edit) -> Mutate:
    """Another objective; `build` gives the expression."""

    def mutate(problem: Problem, id: str) -> Declaration:
        d = declare(id, problem)
        return replace(d, objective=type(d.objective)(build(d)))

    return mutate


def plus(build: Edit) -> Mutate:
    """The declared objective plus a term."""
    return objective(lambda d: d.objective.args[0] + build(d))


def constraint(name: str, build: Edit) -> Mutate:
    """One constraint replaced, or added under a new name."""

    def mutate(problem: Problem, id: str) -> Declaration:
        d = declare(id, problem)
        return replace(d, constraints={**d.constraints, name: build(d)})

    return mutate


def without(name: str) -> Mutate:
    """One constraint dropped."""

    def mutate(problem: Problem, id: str) -> Declaration:
        d = declare(id, problem)
        return replace(d, constraints={key: value for key, value in d.constraints.items() if key != name})

    return mutate


def parameter(name: str, change: Callable[[float], float]) -> Mutate:
    """One parameter at another value."""

    def mutate(problem: Problem, id: str) -> Declaration:
        d = declare(id, problem)
        d.parameters[name].value = change(d.parameters[name].value)
        return d

    return mutate


def read_as(change: Callable[[Point], Point]) -> Mutate:
    """The right problem, its point read wrongly."""

    def mutate(problem: Problem, id: str) -> Declaration:
        d = declare(id, problem)
        return replace(d, recover=lambda e: change(d.recover(e)))

    return mutate


def without_pair(choose: Callable[[Any], int]) -> Mutate:
    """The declaration of a problem that lacks one pair, whose multiplier is then 0."""

    def mutate(problem: Problem, id: str) -> Declaration:
        gone = choose(problem)
        kept = np.delete(np.arange(problem.p), gone)
        rows = Pairs(problem.rows.preferred[kept], problem.rows.other[kept], problem.m)
        d = declare(id, replace(problem, rows=rows))

        def recover(e: Declaration) -> Point:
            point = d.recover(e)
            return point if point.alpha is None else replace(point, alpha=np.insert(point.alpha, gone, 0.0))

        return replace(d, recover=recover)

    return mutate


def cost(factor: float) -> Mutate:
    """C taken `factor` times too large."""
    return elsewhere(lambda problem: problem.with_cost(factor * problem.C))


def kernel_off(problem: Problem) -> Problem:
    """K off by about 1 %."""
    kernel = problem.kernel
    if isinstance(kernel, Linear):
        return replace(problem, X=problem.X * np.sqrt(1.01))
    assert isinstance(kernel, RBF | Polynomial)
    return replace(problem, kernel=replace(kernel, gamma=1.01 * kernel.gamma))


def label_flipped(problem: Problem) -> Problem:
    """The first label turned round."""
    y = problem.rows.s.copy()
    y[0] = -y[0]
    return replace(problem, rows=Signed(y))


def tube(factor: float) -> Callable[[MarginProblem], MarginProblem]:
    """epsilon `factor` times too large."""
    return lambda problem: replace(problem, rows=Tube(problem.rows.y, factor * problem.rows.epsilon))


def turned(problem: Problem) -> Problem:
    """Every pair the other way round, in the same order: A becomes -A."""
    rows = copy.copy(problem.rows)
    rows.__dict__.pop("matrix", None)
    rows.preferred, rows.other = rows.other, rows.preferred
    return replace(problem, rows=rows)


def violated_pair(problem: Problem) -> int:
    """The pair of largest slack: its multiplier is at C in every optimum."""
    return int(np.argmin(_margins(problem)))


def easy_pair(problem: Problem) -> int:
    """The pair of largest margin: above 1, its multiplier is 0 in every optimum."""
    margins = _margins(problem)
    assert margins.max() > 1.01
    return int(np.argmax(margins))


def _margins(problem: Problem) -> np.ndarray:
    point = solve_declaration(declare(f"{problem.family}.primal", problem), ACCURATE).point
    assert point is not None
    f = problem.X @ point.w if point.w is not None else problem.gram.dense @ point.beta
    return np.asarray(problem.rows.dot(f))


def kernel_of_differences(problem: Problem, id: str) -> Declaration:
    """k(x_i - x_j, x_u - x_v) for phi_ij.phi_uv in a dual over pairs."""
    D = problem.X[problem.rows.preferred] - problem.X[problem.rows.other]
    Q = cp.psd_wrap(problem.kernel.block(D, D))
    return objective(lambda d: cp.sum(d.variables["alpha"]) - cp.quad_form(d.variables["alpha"], Q) / 2)(problem, id)


def of_any_sign(problem: Problem, id: str) -> Declaration:
    """beta free, priced by its absolute value."""
    d = without("sign")(problem, id)
    return replace(d, objective=cp.Minimize(cp.norm1(d.variables["beta"]) + d.parameters["C"] * cp.sum(d.variables["xi"])))


def _x(d: Declaration) -> Any:
    return d.canonical.features()


def _squares(*names: str) -> Edit:
    """C times the squared slacks, and 1/2 |w|^2."""
    return lambda d: cp.sum_squares(d.variables["w"]) / 2 + d.parameters["C"] * sum(cp.sum_squares(d.variables[name]) for name in names)


def _half_norm(d: Declaration) -> Any:
    return cp.sum_squares(d.variables["w"]) / 2


def _half_quadratic(d: Declaration) -> Any:
    return cp.quad_form(d.variables["beta"], cp.psd_wrap(d.canonical.gram.dense)) / 2


def _tube_quadratic(d: Declaration, K: np.ndarray) -> Any:
    """1/2 (alpha - alphahat)'K(alpha - alphahat)."""
    return cp.quad_form(d.variables["alpha"] - d.variables["alphahat"], cp.psd_wrap(K)) / 2


def _rows(d: Declaration, f: Any) -> Any:
    """A f."""
    return d.canonical.rows.matrix @ f


@dataclass(frozen=True)
class Special:
    """A mutant with a remark.

    excepted : why the optimum is the same all the same; it is then expected to agree.  kernels : the instances it is meant for.
    """

    mutate: Mutate
    excepted: str = ""
    kernels: tuple[str, ...] = tuple(KERNELS)


EVEN = "A K A' is the same for A and -A, and alpha does not say which it was"
IDLE = "a pair of margin above 1 has multiplier 0 in every optimum"
BILINEAR = "for a linear kernel k(x_i - x_j, x_u - x_v) is phi_ij.phi_uv itself"

AT_ONCE = """over = progress.show({}.alpha, 0)
    from equimargin.solvers.solution import Status as Word
    progress.end(Word.OPTIMAL, "what it says")
    over = True"""
ANOTHER = ("assert isinstance(problem, MarginProblem)\n", "problem = problem.with_cost(2 * problem.C)\n")
READ_OUT = """s = progress.solution()
    from dataclasses import replace
    return replace(s, point=replace(s.point, {}))"""

MUTANTS: dict[str, dict[str, Mutate | Special]] = {
    "svm.soft.primal": {
        "1/2 dropped": plus(_half_norm),
        "squared slacks": objective(_squares("xi")),
        "2 C": cost(2),
        "C / 2": parameter("C", lambda C: C / 2),
        "bias dropped": constraint("no bias", lambda d: d.variables["b"] == 0),
        "bias penalised": plus(lambda d: cp.square(d.variables["b"]) / 2),
        "bias read with the other sign": read_as(lambda point: replace(point, b=-point.b)),
        "margin 1.01": constraint(
            "margin", lambda d: cp.multiply(d.canonical.rows.s, _x(d) @ d.variables["w"] - d.variables["b"]) >= 1.01 - d.variables["xi"]
        ),
        "slacks free": without("slack"),
        "one label flipped": elsewhere(label_flipped),
        "kernel 1 % off": elsewhere(kernel_off),
    },
    "svm.soft.dual": {
        "2 C": cost(2),
        "C / 2": parameter("C", lambda C: C / 2),
        "no upper bound": without("upper"),
        "upper bound 1.01 C": constraint("upper", lambda d: d.variables["alpha"] <= 1.01 * d.parameters["C"]),
        "lower bound -C": constraint("lower", lambda d: d.variables["alpha"] >= -d.parameters["C"]),
        "no balance": without("balance"),
        "balance 1'alpha = 0": constraint("balance", lambda d: cp.sum(d.variables["alpha"]) == 0),
        "one label flipped": elsewhere(label_flipped),
        "kernel 1 % off": elsewhere(kernel_off),
    },
    "svr.l1.primal": {
        "1/2 dropped": plus(_half_norm),
        "squared slacks": objective(_squares("xi", "xihat")),
        "2 C": cost(2),
        "epsilon doubled": elsewhere(tube(2)),
        "bias dropped": constraint("no bias", lambda d: d.variables["b"] == 0),
        "bias penalised": plus(lambda d: cp.square(d.variables["b"]) / 2),
        "bias read with the other sign": read_as(lambda point: replace(point, b=-point.b)),
        "one side of the tube": constraint("below", lambda d: d.variables["xihat"] >= -1),
        "slacks above free": without("slack"),
        "kernel 1 % off": elsewhere(kernel_off),
    },
    "svr.l1.dual": {
        "plus epsilon": plus(lambda d: 2 * d.canonical.rows.epsilon * cp.sum(d.variables["alpha"] + d.variables["alphahat"])),
        "epsilon 0": elsewhere(tube(0)),
        "1/2 dropped": plus(lambda d: -_tube_quadratic(d, d.canonical.gram.dense)),
        "i = j alone in the double sum": objective(
            lambda d: d.canonical.rows.t @ cp.hstack(list(d.variables.values())) - _tube_quadratic(d, np.diag(d.canonical.gram.diagonal))
        ),
        "upper bound 2 C": constraint("upper", lambda d: d.variables["alpha"] <= 2 * d.parameters["C"]),
        "no upper bound below": without("upperhat"),
        "no balance": without("balance"),
        "kernel 1 % off": elsewhere(kernel_off),
    },
    "rank.l1.primal": {
        "1/2 dropped": plus(_half_norm),
        "squared slacks": objective(_squares("xi")),
        "2 C": cost(2),
        "orientation": elsewhere(turned),
        "bias added": constraint("margin", lambda d: _rows(d, _x(d) @ d.variables["w"]) + cp.Variable(name="b") >= 1 - d.variables["xi"]),
        "slacks free": without("slack"),
        "a violated pair dropped": without_pair(violated_pair),
        "an easy pair dropped": Special(without_pair(easy_pair), IDLE),
        "kernel 1 % off": elsewhere(kernel_off),
    },
    "rank.l1.dual": {
        "2 C": cost(2),
        "no upper bound": without("upper"),
        "upper bound 1.01 C": constraint("upper", lambda d: d.variables["alpha"] <= 1.01 * d.parameters["C"]),
        "lower bound -C": constraint("lower", lambda d: d.variables["alpha"] >= -d.parameters["C"]),
        "1'alpha = 0": constraint("balance", lambda d: cp.sum(d.variables["alpha"]) == 0),
        "a violated pair dropped": without_pair(violated_pair),
        "an easy pair dropped": Special(without_pair(easy_pair), IDLE),
        "orientation": Special(elsewhere(turned), EVEN),
        "kernel of differences": Special(kernel_of_differences, kernels=NONLINEAR),
        "kernel of differences, linear": Special(kernel_of_differences, BILINEAR, kernels=("linear",)),
        "kernel 1 % off": elsewhere(kernel_off),
    },
    "rank.lambda.primal": {
        "lambda = C": parameter("lambda", lambda lam: 1 / lam),
        "1/2 dropped, (5) read as (6)": plus(lambda d: d.parameters["lambda"] * _half_quadratic(d)),
        "squared slacks": objective(lambda d: cp.sum_squares(d.variables["zeta"]) + d.parameters["lambda"] * _half_quadratic(d)),
        "orientation": elsewhere(turned),
        "slacks free": without("slack"),
        "g = beta": constraint("values", lambda d: d.variables["g"] == d.variables["beta"]),
        "alpha not divided by lambda": read_as(lambda point: replace(point, alpha=point.alpha / 2)),
        "a violated pair dropped": without_pair(violated_pair),
    },
    "rank.lambda.dual": {
        "lambda = C": parameter("1/lambda", lambda inverse: 1 / inverse),
        "1/2 dropped": plus(lambda d: -d.parameters["1/lambda"] * _half_quadratic(d)),
        "upper bound 1.01": constraint("upper", lambda d: d.variables["alpha"] <= 1.01),
        "upper bound C": constraint("upper", lambda d: d.variables["alpha"] <= d.canonical.C),
        "no upper bound": without("upper"),
        "value not divided by lambda": lambda problem, id: replace(declare(id, problem), value=lambda v: v),
        "orientation": Special(elsewhere(turned), EVEN),
    },
    "rank.l1.beta": {
        "1/2 dropped": plus(_half_quadratic),
        "squared slacks": objective(
            lambda d: _half_quadratic(d) + d.parameters["C"] * cp.sum_squares(cp.pos(1 - _rows(d, d.variables["g"])))
        ),
        "absolute slacks": objective(lambda d: _half_quadratic(d) + d.parameters["C"] * cp.norm1(1 - _rows(d, d.variables["g"]))),
        "beta'beta for beta'K beta": objective(
            lambda d: cp.sum_squares(d.variables["beta"]) / 2 + d.parameters["C"] * cp.sum(cp.pos(1 - _rows(d, d.variables["g"])))
        ),
        "2 C": cost(2),
        "orientation": elsewhere(turned),
        "beta >= 0": Special(constraint("sign", lambda d: d.variables["beta"] >= 0), kernels=NONLINEAR),
        "kernel 1 % off": elsewhere(kernel_off),
    },
    "rvm.primal": {
        "beta free": without("sign"),
        "beta free, |beta|_1": of_any_sign,
        "2 C": cost(2),
        "orientation": elsewhere(turned),
        "margin 1.01": constraint("margin", lambda d: _rows(d, d.variables["g"]) >= 1.01 - d.variables["xi"]),
        "slacks free": without("slack"),
        "1'beta dropped": plus(lambda d: -cp.sum(d.variables["beta"])),
        "a violated pair dropped": without_pair(violated_pair),
        "kernel 1 % off": elsewhere(kernel_off),
    },
    "rvm.dual": {
        "C / 2": parameter("C", lambda C: C / 2),
        "no upper bound": without("upper"),
        "upper bound 1.01 C": constraint("upper", lambda d: d.variables["u"] <= 1.01 * d.parameters["C"]),
        "lower bound -C": constraint("lower", lambda d: d.variables["u"] >= -d.parameters["C"]),
        "K v = 1": constraint("price", lambda d: d.canonical.gram.dense @ d.variables["v"] == 1),
        "price 1.01": constraint("price", lambda d: d.canonical.gram.dense @ d.variables["v"] <= 1.01),
        "orientation": elsewhere(turned),
        "a violated pair dropped": without_pair(violated_pair),
    },
}
SOURCES: dict[str, dict[str, tuple[str, str]]] = {
    "smo": {
        "solves and reports 2 C": ANOTHER,
        "signs of the targets forgotten": ("self.z = self.s * problem.rows.t", "self.z = problem.rows.t"),
        "step the wrong way": ("f[k] += delta * (row[k] - other[k])", "f[k] -= delta * (row[k] - other[k])"),
        "balance forgotten": ("a[j] = lower[j] if delta == below else a[j] - delta", "pass"),
        "no clip to the box": ("delta = min(delta, above, below)", "pass"),
        "optimal at once": ("over = progress.show(ascent.alpha, 0)", AT_ONCE.format("ascent")),
        "bias forgotten": ("return progress.solution()", READ_OUT.format("b=0.0")),
        "bias with the other sign": ("return progress.solution()", READ_OUT.format("b=-s.point.b")),
    },
    "coordinate_descent": {
        "solves and reports 2 C": ANOTHER,
        "no clip to the box": ("return min(max(alpha + u / q, 0.0), box)", "return max(alpha + u / q, 0.0)"),
        "step the wrong way": ("return min(max(alpha + u / q, 0.0), box)", "return min(max(alpha - u / q, 0.0), box)"),
        "targets 1 % off": ("problem.box, problem.rows.t", "problem.box, 1.01 * problem.rows.t"),
        "optimal at once": ("over = progress.show(descent.alpha, 0)", AT_ONCE.format("descent")),
        "multipliers in reverse": ("return progress.solution()", READ_OUT.format("alpha=s.point.alpha[::-1]")),
    },
    "linear_program": {
        "solves and reports 2 C": (ANOTHER[0].replace("Margin", "OneNorm"), ANOTHER[1]),
        "twice the cost": ("(0.0, problem.C * unit)", "(0.0, 2 * problem.C * unit)"),
        "prices 1.01": ("b_ub=np.ones(", "b_ub=1.01 * np.ones("),
        "sign of the multipliers": ("np.maximum(-answer.ineqlin.marginals, 0.0)", "np.maximum(answer.ineqlin.marginals, 0.0)"),
        "orientation": ("sparse.block_array([[A.T, -identity]])", "sparse.block_array([[A.T, identity]])"),
    },
}
"""Solvers with one piece of their source changed: from, to."""

TABLE = [
    (id, name, entry if isinstance(entry, Special) else Special(entry))
    for id, entries in MUTANTS.items()
    for name, entry in entries.items()
]
DECLARED = [id for id, entry in REGISTRY.items() if not entry.control]
CONTROLS = [id for id, entry in REGISTRY.items() if entry.control]


# The run.


@dataclass(frozen=True)
class Outcome:
    """One line of the table: what became of one wrong answer."""

    formulation: str
    name: str
    solver: str
    judgement: Judgement
    excepted: str = ""

    @property
    def caught(self) -> bool:
        """Whether the answer was not believed."""
        return self.judgement.agreement is not Agreement.AGREES

    @property
    def closeness(self) -> float:
        """How little told the answer from a right one."""
        return float(np.nanmax([self.judgement.claim, self.judgement.off]))


OUTCOMES: list[Outcome] = []


@pytest.fixture(scope="module", autouse=True)
def table() -> Iterator[None]:
    """Print every outcome at the end: one line a mutant and solver, the instance nearest to agreeing, and the count."""
    OUTCOMES.clear()
    yield
    if OUTCOMES:
        print("\n" + "\n".join(_lines(OUTCOMES)))


def _lines(outcomes: list[Outcome]) -> Iterator[str]:
    form = "{:<34} {:<24} {:<18} {:<17} {:>8} {:>8} {:>8}  {}"
    yield form.format("mutant", "formulation", "solver", "agreement", "claim", "off", "accuracy", "")
    groups: dict[tuple[str, str, str], list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault((outcome.name, outcome.formulation, outcome.solver), []).append(outcome)
    for (name, id, solver), group in groups.items():
        j = min(group, key=lambda outcome: outcome.closeness).judgement
        kinds = "/".join(sorted({str(outcome.judgement.agreement) for outcome in group}))
        yield form.format(name, id, solver, kinds, f"{j.claim:.1e}", f"{j.off:.1e}", f"{j.accuracy:.1e}", group[0].excepted).rstrip()
    mutants = {(o.name, o.formulation): [p for p in outcomes if (p.name, p.formulation) == (o.name, o.formulation)] for o in outcomes}
    excepted = sum(any(o.excepted for o in group) for group in mutants.values())
    caught = sum(all(o.caught for o in group) for group in mutants.values())
    runs = Counter(str(o.judgement.agreement) for o in outcomes)
    yield f"{len(mutants)} mutants, {caught} caught, {excepted} excepted"
    yield f"{len(outcomes)} answers: " + ", ".join(f"{count} {kind}" for kind, count in sorted(runs.items()))


Case = tuple[str, int]
CASES: list[Case] = [(kernel, seed) for kernel in KERNELS for seed in SEEDS]


@cache
def instance(family: str, case: Case) -> Problem:
    """A family's instance of a kernel and a seed."""
    kernel, seed = case
    return INSTANCES[family](KERNELS[kernel], seed)


@cache
def honest(family: str, case: Case) -> tuple[Evidence, ...]:
    """The family's right answers: every declaration by the accurate backend, and the specialised solvers."""
    problem = instance(family, case)
    declared = [examine(problem, solve_declaration(declare(id, problem), ACCURATE)) for id in DECLARED if REGISTRY[id].family == family]
    taking = [solver.name for solver in SOLVERS.values() if solver.takes(family) and solver.refusal(problem) is None]
    return (*declared, *(examine_solution(solve(problem, name, tol=1e-8)) for name in taking))


def judged(family: str, case: Case, evidence: Evidence) -> Judgement:
    """What the referee says of an answer among the family's right ones."""
    return judge(family, [*honest(family, case), evidence], instance(family, case).scale).judgements[-1]


def blind(answer: Answer) -> Answer:
    """The answer, had the printed formula been written with the same mistake: value and point alone must tell."""
    printed = Printed(answer.objective)
    return replace(answer, declaration=replace(answer.declaration, printed=lambda v: printed))


def record(id: str, name: str, case: Case, solver: str, evidence: Evidence, excepted: str = "") -> Agreement:
    """Judge a wrong answer and put it into the table."""
    judgement = judged(evidence.family, case, evidence)
    OUTCOMES.append(Outcome(id, name, solver, judgement, excepted))
    return judgement.agreement


def zeroed(answer: Answer) -> Answer:
    """The answer with every number set to zero, and read back."""
    d = answer.declaration
    for variable in d.variables.values():
        variable.value = np.zeros(variable.shape)
    for equation in d.constraints.values():
        for dual in equation.dual_variables:
            dual.save_value(np.zeros(dual.shape))
    return replace(
        answer,
        objective=float(d.objective.args[0].value),
        values={name: np.array(v) for name, v in d.values.items()},
        multipliers={name: d.multiplier(name) for name in d.constraints},
        violations={name: np.atleast_1d(equation.violation()) for name, equation in d.constraints.items()},
        point=d.point,
        x=np.zeros_like(answer.x),
        z=np.zeros_like(answer.z),
    )


def compiled(name: str, change: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A solver's module with a changed source, its kernels interpreted: nothing of it gets into the cache of kernels."""
    original = import_module(f"equimargin.solvers.{name}")
    source = Path(str(original.__file__)).read_text(encoding="utf-8")
    assert change[0] in source, f"{name} has changed: {change[0]!r} is not in it"
    source = source.replace(*change).replace("from equimargin.formulations.jit import jit\n", "jit = lambda kernel: kernel\n")
    module = ModuleType(f"mutant_{name}")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(source, f"<{module.__name__}>", "exec"), module.__dict__)
    return module


def run_module(module: ModuleType, problem: Problem) -> Evidence:
    """What a mutated solver's solution shows; kernels that are not compiled may warn."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return examine_solution(module._solve(problem, Limits(tol=1e-8, time_limit=0.5), None))


def solver_cases(name: str) -> Iterator[tuple[str, Case]]:
    """Instances that a solver is for, one a family and kernel."""
    for family in INSTANCES:
        if SOLVERS[name].takes(family):
            yield from ((family, (kernel, SEEDS[0])) for kernel in KERNELS)


def test_every_formulation_has_mutants() -> None:
    """At least three wrong ones each: what is excepted does not count."""
    wrong = Counter(id for id, _, special in TABLE if not special.excepted)
    assert {id: wrong[id] for id in DECLARED if wrong[id] < AT_LEAST} == {}
    assert set(MUTANTS) <= set(DECLARED)


def test_every_family_has_instances_and_a_specialised_solver() -> None:
    """Wrong answers are judged beside right ones of both kinds."""
    families = {REGISTRY[id].family for id in DECLARED}
    assert families <= set(INSTANCES)
    assert {name for name in SOLVERS if len(SOURCES.get(name, ())) < AT_LEAST} == set()
    unsolved = [f for f in families if all(not s.takes(f) or s.refusal(instance(f, CASES[0])) is not None for s in SOLVERS.values())]
    assert unsolved == []


@pytest.mark.mutants
@pytest.mark.parametrize("case", CASES, ids=[f"{kernel} {seed}" for kernel, seed in CASES])
@pytest.mark.parametrize("family", INSTANCES)
def test_the_right_answers_agree(family: str, case: Case) -> None:
    """Without this, a mutant could be caught for the wrong reason."""
    judgements = judge(family, honest(family, case), instance(family, case).scale).judgements
    assert {j.agreement for j in judgements} == {Agreement.AGREES}


@pytest.mark.mutants
@pytest.mark.parametrize("solver", [ACCURATE, ROUGH])
@pytest.mark.parametrize(("id", "name", "mutant"), TABLE, ids=[f"{id}: {name}" for id, name, _ in TABLE])
def test_a_wrong_formulation_is_not_believed(id: str, name: str, mutant: Special, solver: str) -> None:
    """Solved well it disagrees; solved roughly it may be excused, but never agrees. An exception agrees."""
    family = REGISTRY[id].family
    for case in (case for case in CASES if case[0] in mutant.kernels):
        problem = instance(family, case)
        answer = solve_declaration(mutant.mutate(problem, id), solver)
        verdict = record(id, name, case, solver, examine(problem, blind(answer)), mutant.excepted)
        checked = judged(family, case, examine(problem, answer)).agreement
        if mutant.excepted:
            assert solver != ACCURATE or verdict is Agreement.AGREES
        elif solver == ACCURATE:
            assert (verdict, checked) == (Agreement.DISAGREES, Agreement.DISAGREES), case
        else:
            assert Agreement.AGREES not in (verdict, checked), case


@pytest.mark.mutants
@pytest.mark.parametrize("case", CASES, ids=[f"{kernel} {seed}" for kernel, seed in CASES])
@pytest.mark.parametrize("id", CONTROLS)
def test_a_control_disagrees(id: str, case: Case) -> None:
    """The misprints of the documents, by value and point alone."""
    problem = instance(REGISTRY[id].family, case)
    answer = solve_declaration(declare(id, problem), ACCURATE)
    assert record(id, "control", case, ACCURATE, examine(problem, blind(answer), control=True)) is Agreement.DISAGREES


@pytest.mark.mutants
@pytest.mark.parametrize("solver", [ACCURATE, ROUGH])
@pytest.mark.parametrize("id", DECLARED)
def test_an_unfinished_or_empty_answer_is_not_believed(id: str, solver: str) -> None:
    """The right formulation after three iterations, and with all zeros for an answer."""
    family = REGISTRY[id].family
    for case in CASES:
        problem = instance(family, case)
        unfinished = solve_declaration(declare(id, problem), solver, max_iter=3)
        empty = zeroed(solve_declaration(declare(id, problem), solver))
        for name, answer in (("three iterations", unfinished), ("all zeros", empty)):
            assert record(id, name, case, solver, examine(problem, answer)) is not Agreement.AGREES, (name, case)


@pytest.mark.mutants
@pytest.mark.parametrize("solver", SOURCES)
def test_an_unchanged_solver_agrees(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without this, a mutated source could be caught for the way it is run."""
    module = compiled(solver, ("def _solve(", "def _solve("), monkeypatch)
    for family, case in solver_cases(solver):
        evidence = run_module(module, instance(family, case))
        assert judged(family, case, evidence).agreement is Agreement.AGREES, (family, case)


@pytest.mark.mutants
@pytest.mark.parametrize(("solver", "name"), [(solver, name) for solver in SOURCES for name in SOURCES[solver]], ids=lambda text: str(text))
def test_a_wrong_solver_is_not_believed(solver: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever status it reports."""
    module = compiled(solver, SOURCES[solver][name], monkeypatch)
    for family, case in solver_cases(solver):
        evidence = run_module(module, instance(family, case))
        assert record(f"({family})", name, case, solver, evidence) is not Agreement.AGREES, (family, case)
