"""Conformance check of solvers: equimargin's and a correct third-party one pass.

Wrong ones end in a sentence.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.svm import SVC

from equimargin.adapters import from_estimator
from equimargin.formulations import MarginProblem, Point, Problem
from equimargin.formulations.rows.listed import Signed
from equimargin.solvers import SOLVERS, Limits, Refusal, Solution, Status
from equimargin.solvers.solution import Callback, call_once
from equimargin.testing import check_solver
from equimargin.testing.__main__ import main
from places import HANG, ROOT

SMO = SOLVERS["smo"]


class Libsvm:
    """Correct third-party solver: LIBSVM through scikit-learn."""

    name = "Libsvm"
    algorithm = "sequential minimal optimisation of LIBSVM"
    families = ("svm.soft",)
    reference = True

    def refusal(self, problem: Problem) -> Refusal | None:
        """Accept soft margins with hinge loss and a bias only."""
        if not (
            isinstance(problem, MarginProblem)
            and isinstance(problem.rows, Signed)
            and problem.family == "svm.soft"
        ):
            return Refusal("classification with a bias and the hinge only")
        return None if problem.convex else Refusal("a convex problem is needed")

    def run(self, problem: Problem, limits: Limits, warm_start: Point | None) -> Solution:
        """Fit LIBSVM once; it has no warm start and no time limit."""
        assert isinstance(problem, MarginProblem)
        started, y = time.perf_counter(), problem.rows.y
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # It warns at max_iter.
            model = SVC(
                C=problem.C,
                kernel="precomputed",
                tol=1e-3 * limits.tol,
                max_iter=limits.max_iter or -1,
            )
            model.fit(problem.gram.dense, y)
        alpha = np.zeros(problem.p)
        alpha[model.support_] = np.abs(model.dual_coef_[0])
        answer = Solution(
            problem,
            "libsvm",
            Point(alpha=alpha),
            Status.OPTIMAL,
            "LIBSVM says so",
            int(model.n_iter_[0]),
            0.0,
        )
        if not answer.interval.relative_width <= limits.tol:
            answer = replace(
                answer,
                status=Status.ITERATION_LIMIT,
                reason="LIBSVM ended before the accuracy was reached",
            )
        return call_once(limits.callback, replace(answer, seconds=time.perf_counter() - started))


class Wrong:
    """SMO with one fault in its solution, in the class name."""

    algorithm, families, reference = SMO.algorithm, SMO.families, True

    @property
    def name(self) -> str:
        """Name of the class."""
        return type(self).__name__

    def refusal(self, problem: Problem) -> Refusal | None:
        """Return the refusal of SMO."""
        return SMO.refusal(problem)

    def run(self, problem: Problem, limits: Limits, warm_start: Point | None) -> Solution:
        """Run SMO."""
        return SMO.run(problem, limits, warm_start)


class DoubledCost(Wrong):
    """Solver for twice the cost; it reports a solution of the given problem."""

    def run(self, problem: Problem, limits: Limits, warm_start: Point | None) -> Solution:
        """Return the optimum of another cost."""
        return replace(
            SMO.run(problem.with_cost(2 * problem.C), limits, warm_start), problem=problem
        )


class AnotherProblem(Wrong):
    """Solver that returns the solution of the problem at twice the cost."""

    def run(self, problem: Problem, limits: Limits, warm_start: Point | None) -> Solution:
        """Return another problem's solution."""
        return SMO.run(problem.with_cost(2 * problem.C), limits, warm_start)


class Curt(Wrong):
    """Solver that refuses in one word."""

    def refusal(self, problem: Problem) -> Refusal | None:
        """Refuse without a sentence."""
        return Refusal("no") if SMO.refusal(problem) else None


class Unwilling(Wrong):
    """Solver that refuses every problem."""

    def refusal(self, problem: Problem) -> Refusal | None:
        """Refuse every problem."""
        return Refusal("not on a Monday")


class Silent(Wrong):
    """Solver that never gives the reason of its end."""

    def run(self, problem: Problem, limits: Limits, warm_start: Point | None) -> Solution:
        """Return a solution without a reason."""
        return replace(SMO.run(problem, limits, warm_start), reason="")


class Unlimited(Wrong):
    """Solver without an iteration limit."""

    def run(self, problem: Problem, limits: Limits, warm_start: Point | None) -> Solution:
        """Run without an iteration limit."""
        return SMO.run(problem, replace(limits, max_iter=None), warm_start)


class Slow(Wrong):
    """Solver without a time limit."""

    def run(self, problem: Problem, limits: Limits, warm_start: Point | None) -> Solution:
        """Exceed a time limit."""
        started = time.process_time()
        while limits.time_limit is not None and time.process_time() < started + 1.2:
            pass
        return SMO.run(problem, limits, warm_start)


class Delayed(Wrong):
    """Solver that sleeps where time is short, as on a busy machine."""

    def run(self, problem: Problem, limits: Limits, warm_start: Point | None) -> Solution:
        """Keep the CPU time limit but exceed it in wall time."""
        if limits.time_limit is not None and problem.family == "svm.soft":
            time.sleep(1.2)
        return SMO.run(problem, limits, warm_start)


class Deaf(Wrong):
    """Solver that calls the callback and goes on."""

    def run(self, problem: Problem, limits: Limits, warm_start: Point | None) -> Solution:
        """Ignore the result of the callback."""
        seen = limits.callback
        callback: Callback | None = (
            None if seen is None else lambda *shown: bool(seen(*shown)) and None
        )
        return SMO.run(problem, replace(limits, callback=callback), warm_start)


class Stuck(Wrong):
    """Solver that returns its starting point."""

    def run(self, problem: Problem, limits: Limits, warm_start: Point | None) -> Solution:
        """Return the starting point as if it were the optimum."""
        found = SMO.run(problem, limits, None)
        return found if warm_start is None else replace(found, point=warm_start)


class Primal(Wrong):
    """Solver that returns a function of another cost without multipliers."""

    factor = 2.0

    def run(self, problem: Problem, limits: Limits, warm_start: Point | None) -> Solution:
        """Return a point without multipliers."""
        found = replace(
            SMO.run(problem.with_cost(self.factor * problem.C), limits, warm_start), problem=problem
        )
        return replace(found, point=found.point.with_multipliers(None))


class Bold(Wrong):
    """Solver that calls a stationary point of a nonconvex problem an optimum."""

    def run(self, problem: Problem, limits: Limits, warm_start: Point | None) -> Solution:
        """Report an optimum for every kernel."""
        found = SMO.run(problem, limits, warm_start)
        return found if problem.convex else replace(found, status=Status.OPTIMAL)


RIGHT = Libsvm()
"""Solver that is an object of a module, and no class."""
SKLEARNS = SVC(C=2.0)
"""Estimator, which is no solver."""


@pytest.mark.slow
@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_conforms(name: str) -> None:
    check_solver(name)


def test_a_right_third_party_conforms() -> None:
    check_solver(Libsvm())


@pytest.mark.slow
def test_a_solver_that_a_loaded_machine_delays_conforms() -> None:
    check_solver(Delayed())


@pytest.mark.slow
def test_a_right_function_without_multipliers_conforms() -> None:
    """The proof uses the multipliers of other solvers."""
    right = Primal()
    right.factor = 1.0
    check_solver(right)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("solver", "words"),
    [
        (
            DoubledCost(),
            "DoubledCost says optimal on svm.soft with the linear kernel, but proves a "
            "relative width of",
        ),
        (AnotherProblem(), "returns the solution of another problem"),
        (
            Curt(),
            "must refuse a problem of ord.implicit with a Refusal in a sentence, not with 'no'",
        ),
        (Unwilling(), "refuses a problem of every family"),
        (Silent(), "gives no reason why it stopped"),
        (Unlimited(), "iterations on svm.hard where max_iter is 1"),
        (Slow(), "where time_limit is 1e-6 s"),
        (Deaf(), "calls a callback that stops it"),
        (Stuck(), "started from the solution of a larger C|but proves a relative width"),
        (
            Primal(),
            r"Primal says optimal on svm.soft .* proves a relative width of .* only "
            r"\(limits: tol=1e-06; problem: sample_",
        ),
        (Bold(), "claims an optimum of svm.soft with an indefinite kernel"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Wrong) else "",
)
def test_what_is_wrong_is_said(solver: Wrong, words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        check_solver(solver)


def test_an_estimator_with_another_cost_is_told_so() -> None:
    with pytest.raises(
        AssertionError,
        match=r"its C is 100, and that of the problem 0\.\d+: "
        r"from_estimator also accepts a function",
    ):
        check_solver(from_estimator(SVC(kernel="linear", C=100.0, tol=1e-9)))


def test_an_unknown_name_is_a_key_error() -> None:
    with pytest.raises(KeyError, match="simulated_annealing"):
        check_solver("simulated_annealing")


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        ([], 2, "usage: python -m equimargin.testing [MODULE:]NAME"),
        (["--help"], 0, "usage: python -m equimargin.testing [MODULE:]NAME"),
        (["smo", "-h"], 0, "usage: python -m equimargin.testing [MODULE:]NAME"),
        (["smo", "smo"], 2, "usage: python -m equimargin.testing [MODULE:]NAME"),
        (["nowhere"], 2, "kernel is called nowhere; one of a module is named MODULE:NAME"),
        (["equimargin.solvers:"], 2, "kernel of equimargin.solvers is called ''"),
        (["no_such_module:Thing"], 2, "no_such_module:Thing cannot be found"),
        (["equimargin.solvers:Nothing"], 2, "cannot be found"),
        (["equimargin.formulations.kernels.exponential:Nothing"], 2, "; it has exponential"),
        (["linear_program"], 0, "linear_program conforms"),
        (["equimargin.formulations:rvm"], 2, "cannot be found"),
        (["nowhere:mine"], 2, "nowhere:mine cannot be found: No module named 'nowhere'"),
        (["smoo"], 2, "no formulation, solver or kernel is called smoo; did you mean smo?"),
    ],
)
def test_the_command_says_what_it_finds(
    arguments: list[str], status: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == status
    assert words in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("argument", "status", "words"),
    [
        ("own_formulation:svm.soft.hinge", 0, "svm.soft.hinge conforms"),
        (
            "own_formulation:hinge",
            2,
            "own_formulation:hinge cannot be checked: hinge() is missing a required argument: 'd', "
            "and a class or function that makes a solver or a kernel takes none; formulations, "
            "solvers and kernels of own_formulation: svm.soft.hinge",
        ),
        ("own_solver:ascent", 0, "ascent conforms"),
        ("test_check_solver:RIGHT", 0, "RIGHT conforms"),
        (
            "test_check_solver:Nothing",
            2,
            "no formulation, solver or kernel of test_check_solver is called Nothing; it has ",
        ),
        (
            "test_check_solver:SKLEARNS",
            2,
            "SVC(C=2.0) is no Solver; `equimargin.adapters.from_estimator` makes one of it",
        ),
        ("test_check_solver:DoubledCost", 1, "DoubledCost says optimal"),
    ],
)
def test_one_command_checks_what_a_third_party_wrote(
    argument: str, status: int, words: str
) -> None:
    here = Path(__file__).resolve()
    examples = ROOT / "examples"
    folders = [
        here.parent,
        ROOT / "tests",
        examples / "formulations",
        examples / "solvers",
        ROOT / "src",
    ]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, folders))}
    command = [sys.executable, "-W", "error", "-m", "equimargin.testing", argument]
    answer = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=HANG)
    assert (answer.returncode, answer.stderr) == (status, "")
    assert words in answer.stdout
