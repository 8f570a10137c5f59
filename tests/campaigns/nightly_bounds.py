"""Proven intervals of tiny problems at every scale of float64, against exact optima.

    python -m campaigns nightly_bounds --seed 1 --examples 20000

Optima of one and two points have closed forms (`exact.closed_forms`), those of up to
eight points come from `exact_optimum`. Scales, costs, weights and kernel parameters go
from 1e-320 to 1e300, offsets to 1e8 times the scale. For every problem the solution of
one solver, the rounded optimum, and random points are judged. In half of the examples the
compiled loop of large problems computes the products with K. The proven interval of a
point must contain the optimum; the exact primal and dual values of the point must lie
in it, and outside of the inner interval. No call may take more than 10 s of CPU, warn,
or raise an undocumented exception. A problem may be rejected only at its construction,
with a message of the package.

Every kind of failing case becomes a short script under build/nightly. Exit status 1 if
there is one.
"""

from __future__ import annotations

import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from math import inf, nan
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy import sparse

import equimargin
from campaigns.exact.closed_forms import ClosedForm, closed_form
from campaigns.exact.nightly import Definition, exact_values
from campaigns.runner import At, Campaign, Check, Hang, Trial, watched
from equimargin import formulations, solvers
from equimargin.equivalence.reproduction import Code
from equimargin.formulations import (
    MarginProblem,
    OneNormPoint,
    OneNormProblem,
    Point,
    Problem,
    interval,
    polynomial,
    rbf,
)
from equimargin.formulations.bounds.intervals import Interval, inner_interval
from equimargin.formulations.kernels import multiplier
from equimargin.formulations.kernels.given_matrix import UnprovenShift
from equimargin.formulations.kernels.registry import KERNELS
from equimargin.formulations.numeric.arrays import dense
from equimargin.formulations.problem import AnyProblem, CanonicalPoint
from equimargin.shrink import Instance
from equimargin.solvers import SOLVERS, Status, exact_optimum, given_gram, solve
from equimargin.solvers.exact_limits import rational_kernel
from equimargin.testing import CANONICAL, sample_problem

FAMILIES = (
    *("svm.hard", "svm.soft", "svm.l2", "svm.nobias", "svm.nobias_l2", "svm.nobias_hard"),
    *(
        "svm.penalized",
        "svm.penalized_l2",
        "svm.penalized_hard",
        "svr.hard",
        "svr.l1",
        "svr.l2",
        "rank.hard",
        "rank.l1",
        "rank.l2",
    ),
    *("rank.onenorm", "rvm", "svm.onenorm", "svm.nobias_onenorm"),
)
SMALL_ONE_IN = 4
"""Reciprocal share of the examples with 3 to MOST points; others have one or two."""
MOST = 8
CPU_SECONDS = 10.0
"""Maximum CPU time of a call."""
TIME_LIMIT = 1.0
"""Time limit of every other solution, in seconds; the others have none."""
RANDOM_POINTS = 3
EXACT_SECONDS = 5.0
"""Time limit of `exact_optimum`; points of a problem beyond it are judged without one.

For one in three problems with a closed form, `exact_optimum` is computed, too.
"""
SMALL = (5e-324, 1e-320, 2.3e-308, 1e-300, 1e-165, 1.5e-162, 1e-154, 1e-150, 1e-85)
LARGE = (1e85, 1e100, 1e109, 1e153, 1.4e154, 1e157, 1e200, 1e300)
"""Thresholds at which squares, cubes and products of floats over- or underflow."""
NAMES: dict[str, Any] = {
    **{name: value for name, value in vars(formulations).items() if not name.startswith("_")},
    **{kind.__name__: kind for kind in KERNELS.values()},
    **{"given_gram": given_gram, "sparse": sparse, "array": np.array, "inf": inf, "nan": nan},
}
"""Values of the names in the text of an example."""
LOOP = "from equimargin.formulations.kernels import multiplier\nmultiplier.COMPILED_ENTRIES = 0\n"
"""Lines of a script after which the compiled loop computes products of any size."""
HOME = tuple(
    str(Path(module.__path__[0]).resolve()) for module in (equimargin, formulations, solvers)
)
"""Folders of the package's code."""


# Drawing. An example is the text of a call, so that a script repeats what has been run.


def drawn(family: str, number: Sequence[int]) -> str:
    """Draw a problem as source text, with `number` as the seed.

    With more than two points, an RBF or Laplacian kernel is mostly replaced by its Gram matrix.
    """
    rng = np.random.default_rng(number)
    m = int(rng.integers(1, 3)) if rng.integers(SMALL_ONE_IN) else int(rng.integers(3, MOST + 1))
    kernel = _kernel(rng)
    X = _precomputed(rng, m) if kernel == "precomputed()" else _points(rng, m)
    points = (
        f"sparse.csr_array({X!r})"
        if kernel in ("linear()", "rbf(0.5)") and rng.integers(8) == 0
        else repr(X)
    )
    said = [f"C={inf if family.endswith('hard') else size(rng)!r}"]
    if kernel != "linear()":
        said.append(f"kernel={kernel}")
    if family.endswith("l2"):
        said.append("loss='squared_hinge'")
    of_kind = {"svm": _classification, "svr": _regression, "rank": _ranking, "rvm": _ranking}[
        family.partition(".")[0]
    ]
    text = of_kind(rng, family, points, m, said)
    irrational = kernel.startswith(("rbf", "laplacian"))
    return f"given_gram({text})" if irrational and m > 2 and rng.integers(4) else text


def _classification(rng: np.random.Generator, family: str, X: str, m: int, said: list[str]) -> str:
    labels = rng.choice([-1.0, 1.0], m).tolist()
    if family.endswith("onenorm"):
        return _call(
            "one_norm_classification", X, labels, [*said, f"bias={'nobias' not in family}"]
        )
    if "penalized" in family or "nobias" in family:
        said.append("bias='penalized'" if "penalized" in family else "bias=False")
    return _call("classification", X, labels, [*said, *_sample_weight(rng, m)])


def _regression(rng: np.random.Generator, family: str, X: str, m: int, said: list[str]) -> str:
    scale = size(rng)
    y = _finite((_entries(rng, m) + _offset(rng)) * scale)
    epsilon = min(
        float(rng.choice([0.0, 0.1, 0.5, 1.0])) * (scale if rng.integers(4) else size(rng)),
        sys.float_info.max,
    )
    return _call("regression", X, y, [*said, f"epsilon={epsilon!r}", *_sample_weight(rng, m)])


def _ranking(rng: np.random.Generator, family: str, X: str, m: int, said: list[str]) -> str:
    """Draw a ranking by labels, some with queries, or by preferences.

    Queries may have weights; preferences may repeat and contradict each other.
    """
    y, qid = rng.integers(0, int(rng.integers(2, 5)), m).astype(float).tolist(), None
    margin = family not in ("rvm", "rank.onenorm")
    if margin and m > 1 and rng.integers(6) == 0:
        pairs = [
            rng.choice(m, 2, replace=False).tolist() for _ in range(int(rng.integers(1, 2 * m)))
        ]
        return _call("ranking_from_pairs", X, pairs, said)
    if rng.integers(3) == 0:
        qid = rng.integers(0, 2, m).tolist()
        said.append(f"qid={qid!r}")
    if not margin:
        return _call(
            "ranking_vector_machine" if family == "rvm" else "one_norm_ranking", X, y, said
        )
    if rng.integers(4) == 0:
        said.append("per_query='mean'")
    if rng.integers(3) == 0:
        names = [0] if qid is None else sorted(set(qid))
        weights = {name: _weight(rng) for name in names}
        said.append(f"query_weight={weights!r}")
    return _call("ranking", X, y, said)


def _call(name: str, X: str, y: Any, said: Sequence[str]) -> str:
    return f"{name}({X}, {y!r}, {', '.join(said)})"


def size(rng: np.random.Generator) -> float:
    """Draw a positive number: near 1, within twelve orders of magnitude, or any float64.

    It may also be near a threshold of SMALL or LARGE.
    """
    which = int(rng.integers(8))
    if which < 2:
        return float(rng.choice([1.0, 0.5, 2.0, 0.1, 3.0]))
    if which < 5:
        return float(10.0 ** rng.uniform(-6, 6))
    if which == 5:
        return (
            float(rng.choice(SMALL + LARGE) * rng.choice([1.0, 1.0, rng.uniform(0.5, 2.0)]))
            or 5e-324
        )
    return float(10.0 ** rng.uniform(-320, 300))


def _offset(rng: np.random.Generator) -> float:
    return 0.0 if rng.integers(3) else float(10.0 ** rng.uniform(0, 8))


def _entries(rng: np.random.Generator, *shape: int) -> Any:
    """Draw small integers, thirds, or normal numbers, some of them 0."""
    which = int(rng.integers(3))
    return (
        rng.normal(size=shape)
        if which == 2
        else rng.integers(-3, 4, shape) / (3.0 if which else 1.0)
    )


def _finite(values: Any) -> Any:
    return np.clip(values, -sys.float_info.max, sys.float_info.max).tolist()


def _points(rng: np.random.Generator, m: int) -> list[list[float]]:
    """Draw points (m, d) at a scale and an offset.

    Some points are repeated or 0, and columns sometimes have different scales.
    """
    d = int(rng.integers(1, 4))
    X = _entries(rng, m, d)
    if m > 1 and rng.integers(4) == 0:
        X[-1] = X[0] * rng.choice([1.0, -1.0, 1 + 2.0**-40])
    if rng.integers(6) == 0:
        X[rng.integers(m)] = 0.0
    scale: Any = np.array([size(rng) for _ in range(d)]) if rng.integers(5) == 0 else size(rng)
    listed: list[list[float]] = _finite((X + _offset(rng)) * scale)
    return listed


def _precomputed(rng: np.random.Generator, m: int) -> list[list[float]]:
    """Draw a Gram matrix of integers or of normal numbers at a scale.

    One in ten is symmetric and may be indefinite.
    """
    X = _entries(rng, m, int(rng.integers(1, 4)))
    K = X @ X.T if rng.integers(10) else _entries(rng, m, m)
    listed: list[list[float]] = _finite((K + K.T) / 2 * size(rng))
    return listed


def _kernel(rng: np.random.Generator) -> str:
    which = int(rng.integers(20))
    if which < 8:
        return "linear()"
    if which < 13:
        coef0 = float(rng.choice([0.0, 1.0, size(rng)]))
        return (
            f"polynomial({int(rng.integers(1, 5))}, "
            f"{float(rng.choice([1.0, 0.5, size(rng)]))!r}, {coef0!r})"
        )
    if which < 17:
        name = "laplacian" if which == 16 else "rbf"
        return f"{name}({float(rng.choice([1.0, 0.5, size(rng)]))!r})"
    return "precomputed()" if which < 19 else "sigmoid(0.5, -1.0)"


def _weight(rng: np.random.Generator) -> float:
    which = int(rng.integers(6))
    return [1.0, 0.5, 0.0, inf, size(rng), size(rng)][which]


def _sample_weight(rng: np.random.Generator, m: int) -> list[str]:
    return [] if rng.integers(3) else [f"sample_weight={[_weight(rng) for _ in range(m)]!r}"]


# Watching a call.


@dataclass
class Finding:
    """Failing case: its kind, its message, and the lines of a script that shows it.

    Failing cases of one kind are counted together.
    """

    kind: str
    sentence: str
    script: str


@dataclass
class Watch:
    """Calls of one example, and their faults."""

    family: str
    text: str
    loop: bool
    findings: list[Finding] = field(default_factory=list)

    def found(self, kind: str, sentence: str, shown: str) -> None:
        """Note a failing case."""
        self.findings.append(
            Finding(kind, sentence, script(self.text, sentence, LOOP * self.loop + shown))
        )

    @contextmanager
    def call(self, what: str, shown: str, ours: bool = False) -> Iterator[None]:
        """Note a hang, exception or warning of a call, described by `what`.

        `shown` is its text for a script. With `ours` it may raise a ValueError of the
        package.
        """
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                with watched(CPU_SECONDS):
                    yield
            except Hang:
                self.found(
                    f"hang {what} {self.family}",
                    f"{what} goes on after {CPU_SECONDS:g} s of CPU",
                    shown,
                )
                raise Skipped from None
            except Exception as error:
                frame = traceback.extract_tb(error.__traceback__)[-1]
                sentence = (
                    _own(frame)
                    and (frame.line or "").startswith("raise ")
                    and isinstance(error, ValueError)
                )
                if not (ours and sentence):
                    last = _own_frame(error)
                    kind = f"{type(error).__name__} {what} {last}"
                    self.found(
                        kind, f"{what} raises {type(error).__name__}: {error} (in {last})", shown
                    )
                raise Skipped from None
        for warning in warned:
            where = f"{Path(warning.filename).name}:{warning.lineno}"
            self.found(
                f"warning {warning.message} {where}",
                f"{what} warns: {warning.message} (at {where})",
                shown,
            )


class Skipped(Exception):
    """A call gave no result; if it should have, that is already noted."""


def _own_frame(error: BaseException) -> str:
    """Return the innermost function of the package in which an error was raised."""
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if _own(frame)]
    return f"{Path(own[-1].filename).name}, {own[-1].name}" if own else "the campaign itself"


def _own(frame: traceback.FrameSummary) -> bool:
    return str(Path(frame.filename).resolve()).startswith(HOME)


def script(text: str, sentence: str, shown: str) -> str:
    """Return a program that rebuilds the problem bit for bit and shows the fault."""
    return (
        f'"""{sentence}"""\n\nimport numpy as np\nfrom scipy import sparse\n\nfrom '
        f"equimargin.formulations import *\n"
        "from equimargin.formulations.bounds import inner_interval\nfrom equimargin.solvers "
        "import exact_optimum, given_gram, solve\n\n"
        f"inf, nan, array = np.inf, np.nan, np.array\nproblem = {text}\n{shown}\n"
    )


# Judging.


@dataclass
class Optimum:
    """Bounds of the optimum, with None for infinity, and nearly optimal points."""

    lower: Fraction | None
    upper: Fraction | None
    points: list[CanonicalPoint]


def checked(family: str, text: str, number: Sequence[int]) -> tuple[Watch, str]:
    """Judge an example; return its failing cases, and its outcome as text."""
    watch = Watch(family, text, loop=bool(np.random.default_rng([*number, 2]).integers(2)))
    if not watch.loop:
        return watch, _outcome(watch, np.random.default_rng([*number, 1]))
    with patch.object(multiplier, "COMPILED_ENTRIES", 0):
        return watch, _outcome(watch, np.random.default_rng([*number, 1]))


def _outcome(watch: Watch, rng: np.random.Generator) -> str:
    """Judge an example; return its outcome as text."""
    try:
        with watch.call("construction", "", ours=True):
            problem: Problem = eval(watch.text, dict(NAMES))
    except Skipped:
        return "refused"
    try:
        optimum = optimum_of(watch, problem, rng.integers(3) == 0)
    except Skipped:
        optimum = None
    solved = _solved(watch, problem, rng)
    points = [("solved", point) for point in solved]
    points += [
        ("optimal", each)
        for point in (optimum.points if optimum else [])
        for each in (point, _moved(point, rng))
    ]
    points += [("random", _random_point(problem, rng)) for _ in range(RANDOM_POINTS)]
    at = Definition(problem) if problem.convex and rational_kernel(problem.kernel) else None
    for origin, point in points:
        with suppress(Skipped):
            _judge(watch, problem, optimum, at, origin, point)
    if optimum is None:
        return "no optimum to judge by"
    return "infeasible" if optimum.lower is None else "judged"


def optimum_of(watch: Watch, problem: Problem, both: bool) -> Optimum | None:
    """Return the optimum, from its closed form or `exact_optimum`, or None.

    With `both`, compare the two where both exist.
    """
    closed, exact = closed_form(problem), None
    if rational_kernel(problem.kernel) and problem.convex and (both or closed is None):
        shown = f"print(exact_optimum(problem, time_limit={EXACT_SECONDS}).point)"
        with watch.call("exact_optimum", shown, ours=True):
            exact = exact_optimum(problem, time_limit=EXACT_SECONDS)
            points = [exact.point]
        if exact.status not in (Status.OPTIMAL, Status.INFEASIBLE):
            exact = None
    if closed is not None:
        if exact is not None and exact.value != closed.lower:
            watch.found(
                f"exact {watch.family}",
                f"exact_optimum says {told(exact.value)}, the optimum is {told(closed.lower)}",
                shown,
            )
        return Optimum(closed.lower, closed.upper, _near_closed(problem, closed))
    return None if exact is None else Optimum(exact.value, exact.value, points)


def _near_closed(problem: Problem, found: ClosedForm) -> list[CanonicalPoint]:
    alpha = np.array([_float(a) for a in found.alpha])
    if isinstance(problem, OneNormProblem):
        return [OneNormPoint(u=alpha)]
    beta = problem.rows.rdot(alpha)
    return [Point(alpha=alpha), Point(beta=beta, alpha=alpha)]


def _float(v: Fraction) -> float:
    try:
        return float(v)
    except OverflowError:
        return inf if v > 0 else -inf


def _solved(watch: Watch, problem: Problem, rng: np.random.Generator) -> list[CanonicalPoint]:
    """Return the point of one solver that supports the problem."""
    with watch.call("refusals", "print([solver.refusal(problem) for solver in SOLVERS.values()])"):
        names = [name for name, solver in SOLVERS.items() if solver.refusal(problem) is None]
    if not names:
        return []
    name, tol = str(rng.choice(names)), float(rng.choice([1e-6, 1e-6, 1e-3, 1e-10, 1e-16]))
    limit = None if rng.integers(2) else TIME_LIMIT
    said = f"solve(problem, {name!r}, tol={tol!r}, time_limit={limit!r})"
    try:
        with watch.call(f"solve by {name}", f"print({said})"):
            solution = solve(problem, name, tol=tol, time_limit=limit)
    except Skipped:
        return []
    if not solution.reason:
        watch.found(f"no reason {name}", f"{name} gives no reason", f"print({said})")
    return [solution.point]


def _moved(point: CanonicalPoint, rng: np.random.Generator) -> CanonicalPoint:
    """Return a point with random relative errors in each number."""
    part = 10.0 ** rng.uniform(-17, -3)

    def moved(v: Any) -> Any:
        return None if v is None else v * (1 - part * np.abs(rng.normal(size=np.shape(v))))

    if isinstance(point, OneNormPoint):
        return OneNormPoint(moved(point.x), moved(point.u), point.b)
    assert isinstance(point, Point)
    return Point(moved(point.w), moved(point.beta), point.b, moved(point.alpha))


def _random_point(problem: Problem, rng: np.random.Generator) -> CanonicalPoint:
    """Draw multipliers, in their box or not, and a function, at any scale.

    Some entries are NaN or infinite.
    """

    def numbers(count: int) -> Any:
        values = _entries(rng, count) * (
            size(rng) if rng.integers(2) else np.array([size(rng) for _ in range(count)])
        )
        if count and rng.integers(30) == 0:
            values[rng.integers(count)] = rng.choice([inf, -inf, nan])
        return values

    top = problem.box
    alpha = np.abs(numbers(problem.p))
    if rng.integers(2):
        share = rng.choice([0.0, 0.5, 1.0, 2.0], problem.p)
        alpha = np.array(
            [
                t * s if np.isfinite(t) and t < 1e300 else a
                for t, s, a in zip(top, share, alpha, strict=True)
            ]
        )
    if isinstance(problem, OneNormProblem):
        return OneNormPoint(
            np.abs(numbers(problem.size)),
            alpha,
            float(rng.normal() * size(rng)) if problem.bias else None,
        )
    b = [None, 0.0, float(rng.normal() * size(rng))][int(rng.integers(3))] if problem.bias else None
    if problem.explicit is not None and rng.integers(2):
        return Point(w=numbers(problem.explicit.q), b=b, alpha=alpha)
    if rng.integers(3) == 0:
        return Point(alpha=alpha, b=b)
    return Point(beta=numbers(problem.m), b=b, alpha=alpha)


def _judge_late_proof(
    watch: Watch, problem: Problem, point: CanonicalPoint, outer: Interval, said: str
) -> None:
    """Judge the interval of a given matrix whose shift is proven late."""
    if not isinstance(problem, MarginProblem) or not problem.kernel.given:
        return
    late = interval(replace(problem, shift=UnprovenShift(dense(problem.X))), point)
    if late != outer:
        watch.found(f"unproven shift {watch.family}", f"{late} instead of {outer}", said)


def _judge(
    watch: Watch,
    problem: Problem,
    optimum: Optimum | None,
    at: Definition | None,
    origin: str,
    point: CanonicalPoint,
) -> None:
    """Judge the intervals of one point."""
    said = f"point = {point_text(point)}\nprint(interval(problem, point))"
    with watch.call("interval", said):
        outer = interval(problem, point)
    with watch.call("inner_interval", said.replace("(interval", "(inner_interval")):
        inner = inner_interval(problem, point)
    kind = f"{watch.family} {origin}"
    if np.isnan([outer.lower, outer.upper, inner.lower, inner.upper]).any():
        watch.found(f"NaN {kind}", f"an interval with a NaN: {outer}, inner {inner}", said)
    _judge_late_proof(watch, problem, point, outer, said)
    if not problem.convex and (outer.lower != -inf or outer.upper != inf):
        watch.found(
            f"claim without convexity {kind}",
            f"{outer} is claimed of a problem that is not convex",
            said,
        )
    if optimum is not None:
        if above(outer.lower, optimum.upper):
            watch.found(
                f"false lower {kind}",
                f"lower = {outer.lower!r}, the optimum is {told(optimum.upper)}",
                said,
            )
        if below(outer.upper, optimum.lower):
            watch.found(
                f"false upper {kind}",
                f"upper = {outer.upper!r}, the optimum is {told(optimum.lower)}",
                said,
            )
    if at is None or not all(np.isfinite(v).all() for v in vars(point).values() if v is not None):
        return
    if (
        not point.has_multipliers
        or not point.has_function
        or (isinstance(point, Point) and point.b is None)
    ):
        return
    with np.errstate(all="ignore"):
        lower, upper = exact_values(at, point)
    # The interval's primal value is of another point, which satisfies the hard rows.
    if lower is None:
        return
    said += "\nprint(inner_interval(problem, point))"
    if above(outer.lower, lower) or (outer.lower > -inf and below(inner.lower, lower)):
        watch.found(
            f"dual value {kind}",
            f"the dual value {told(lower)} is not in [{outer.lower!r}, inner {inner.lower!r}]",
            said,
        )
    if upper is not None and (
        below(outer.upper, upper) or (outer.upper < inf and above(inner.upper, upper))
    ):
        watch.found(
            f"primal value {kind}",
            f"the primal value {told(upper)} is not in [inner {inner.upper!r}, {outer.upper!r}]",
            said,
        )


def above(bound: float, value: Fraction | None) -> bool:
    """Return True if a bound is above a value, None for infinity; NaN is not."""
    return value is not None and bound > -inf and (bound == inf or Fraction(bound) > value)


def below(bound: float, value: Fraction | None) -> bool:
    """Return True if a bound is below a value, None for infinity; NaN is not."""
    return bound < inf and (value is None or bound == -inf or Fraction(bound) < value)


def told(value: Fraction | None) -> str:
    """Return a value in decimal digits, however small or large."""
    if value is None:
        return "infinite"
    if value == 0:
        return "0"
    size = abs(value)
    digits = len(str(int(size))) - 1 if size >= 1 else -len(str(int(1 / size)))
    return f"{float(value / Fraction(10) ** digits):.17g}e{digits}"


def point_text(point: CanonicalPoint) -> str:
    """Return a point as the source text of a script."""
    given = {name: v for name, v in vars(point).items() if v is not None}
    parts = [
        f"{name}={v!r}" if isinstance(v, float) else f"{name}=array({np.asarray(v).tolist()!r})"
        for name, v in given.items()
    ]
    return f"{type(point).__name__}({', '.join(parts)})"


# The run.


def judged(family: str, example: str | AnyProblem, at: At) -> Trial:
    """Return the complaints about an example, a problem or its source text."""
    text = example if isinstance(example, str) else Instance.of(example).expression(Code())
    watch, outcome = checked(family, text, at)
    scripts = {f"{each.kind}: {each.sentence}": each.script for each in watch.findings}
    return Trial([*scripts], Counter([outcome]), scripts=scripts)


def made(text: str) -> Any:
    """Return the problem of a text."""
    return eval(text, dict(NAMES))


def checks(_: int) -> Iterator[Check]:
    """Yield the check of each family."""
    for family in FAMILIES:
        yield Check(family, partial(judged, family), partial(drawn, family), problem=made)


def compile_all() -> None:
    """Solve problems of each family, so that no timed example includes compilation."""
    for family in CANONICAL:
        dense = [sample_problem(family, kernel) for kernel in (None, rbf(), polynomial())]
        for problem in [*dense, replace(dense[0], X=sparse.csr_array(dense[0].X))]:
            for name, solver in SOLVERS.items():
                if solver.refusal(problem) is None:
                    solve(problem, name)
    with patch.object(multiplier, "COMPILED_ENTRIES", 0):
        multiplier.multiply(rbf(), np.ones((1, 1)), np.zeros(1, dtype=np.intp), np.ones((1, 1)))


CAMPAIGN = Campaign(__name__, __doc__, checks, len(FAMILIES) * 20, shared=True, start=compile_all)
