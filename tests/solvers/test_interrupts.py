"""Ctrl-C and time limits, which every solver must obey within a second.

Problems have 5,000 points, fewer for a linear program or a path. All times are CPU
times of the process that is to end: they do not depend on other processes on the cores.
"""

from __future__ import annotations

import functools
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core import event

from equimargin.formulations import (
    Declaration,
    Problem,
    classification,
    declare,
    linear,
    one_norm_ranking,
    ranking,
    ranking_vector_machine,
    rbf,
    regression,
)
from equimargin.formulations.numeric.jit import (
    _timed,
    compile_eagerly,
    measure_compile_seconds,
    run_seconds,
)
from equimargin.solvers import SOLVERS, Solution, Status, solve, solve_declaration
from equimargin.solvers.backends.solve import Answer
from equimargin.solvers.dual import coordinate_descent, smo
from equimargin.solvers.dual import newton_on_face as face
from equimargin.solvers.interrupt import interruptible, is_work_left, seconds_left, unheard
from equimargin.testing import sample_problem
from narrow import present
from places import ALL_TESTS, HANG, ROOT

SOURCE = ROOT / "src"
WITHIN = 1.0
"""Maximum CPU time, in seconds, from the request to the return."""
RUNS_UNTIL_COMPILED = 10
"""Maximum number of runs within the limit until a solver has compiled all its kernels."""
LIMIT = 0.5
"""Time limit of a solver, in wall-clock seconds."""

pytestmark = pytest.mark.usefixtures("hearing")


def busy(name: str, n: int = 5000) -> Problem:
    """Return a problem that no solver finishes in a few seconds: noise at a large cost."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 20))
    score = X[:, 0] + rng.normal(size=n)
    wide = rng.normal(size=(n, 2700)) if "wide" in name else X
    y, queries, C = np.where(score > 0, 1.0, -1.0), np.arange(n) // 100, 1e4
    makers: dict[str, Callable[[], Problem]] = {
        "smo rbf": lambda: classification(X, y, C, rbf(0.05)),
        "smo linear": lambda: classification(X, y, C, linear()),
        "smo squared hinge": lambda: classification(X, y, C, rbf(0.05), "squared_hinge"),
        "smo tube": lambda: regression(X, score, C, 0.1, rbf(0.05)),
        "coordinate_descent rbf": lambda: classification(X, y, C, rbf(0.05), bias=False),
        "coordinate_descent linear": lambda: classification(X, y, C, linear(), bias=False),
        "coordinate_descent pairs": lambda: ranking(X, score, queries, C, rbf(0.05)),
        "coordinate_descent linear pairs": lambda: ranking(X, score, queries, C, linear()),
        "newton wide": lambda: classification(wide, y, C, linear(), "squared_hinge"),
        "huber wide": lambda: classification(wide, y, C, linear()),
        "newton rbf pairs": lambda: ranking(X, score, queries, C, rbf(0.05), "squared_hinge"),
        "huber rbf pairs": lambda: ranking(X, score, queries, C, rbf(0.05)),
        "tron rbf": lambda: classification(X, y, C, rbf(0.05), "squared_hinge", bias=False),
        "tron pairs": lambda: ranking(X, score, queries, C, rbf(0.05), "squared_hinge"),
        "cutting_plane pairs": lambda: ranking(X, score, queries, C, rbf(0.05)),
        "cutting_plane linear pairs": lambda: ranking(X, score, queries, C, linear()),
        "linear_program points": lambda: ranking_vector_machine(
            X[:600], score[:600], queries[:600], C, rbf(0.2)
        ),
        "linear_program pairs": lambda: one_norm_ranking(
            X[:1000], score[:1000], queries[:1000], C, rbf(0.05)
        ),
        "column_generation points": lambda: ranking_vector_machine(X, score, queries, C, rbf(0.05)),
        "column_generation pairs": lambda: one_norm_ranking(X, score, queries, C, rbf(0.05)),
        "homotopy rbf": lambda: classification(X[:1200], y[:1200], C, rbf(0.05)),
        "homotopy pairs": lambda: ranking(X[:300], score[:300], queries[:300], C, rbf(0.05)),
    }
    return makers[name]()


SOLVING = [
    "smo rbf",
    "smo linear",
    "smo squared hinge",
    "smo tube",
    "coordinate_descent rbf",
    "coordinate_descent linear",
    "coordinate_descent pairs",
    "coordinate_descent linear pairs",
    "newton wide",
    "huber wide",
    "newton rbf pairs",
    "huber rbf pairs",
    "tron rbf",
    "tron pairs",
    "cutting_plane pairs",
    "cutting_plane linear pairs",
    "linear_program points",
    "linear_program pairs",
    "column_generation points",
    "column_generation pairs",
    "homotopy rbf",
    "homotopy pairs",
]


@pytest.fixture(scope="module")
def compiled() -> None:
    """Compile every kernel, so that no time limit includes compilation."""
    for family in ("svm.soft", "svm.l2", "svm.nobias", "svm.nobias_l2", "rank.l1", "rank.l2"):
        for kernel in (linear(), rbf(0.4)):
            problem = sample_problem(family, kernel)
            with compile_eagerly():
                for solver in SOLVERS.values():
                    if solver.refusal(problem) is None:
                        solve(problem, solver.name)


def timed(name: str) -> tuple[Solution, float]:
    """Return a solution of a busy problem within the limit, and its CPU seconds.

    A run that still compiles a kernel, or loads one from the cache, is no measure, and is
    made again. Numba's event is of compilation only, in any thread.
    """
    problem = busy(name)
    for _ in range(RUNS_UNTIL_COMPILED):
        with event.install_recorder("numba:compile") as recorder:
            loading, started = measure_compile_seconds(), time.process_time()
            solution = solve(problem, name.split()[0], tol=1e-12, time_limit=LIMIT)
            spent = time.process_time() - started
        if not recorder.buffer and measure_compile_seconds() == loading:
            return solution, spent
    pytest.fail(f"{name} still loads kernels in run {RUNS_UNTIL_COMPILED}")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name == "smo rbf" else [pytest.mark.slow]) for name in SOLVING],
)
def test_a_time_limit_is_kept(name: str) -> None:
    """The point and the reason are returned, and the point proves a finite interval."""
    solution, spent = timed(name)
    assert spent <= LIMIT + WITHIN
    assert solution.status is Status.TIME_LIMIT
    assert "limit" in solution.reason
    assert np.isfinite([solution.lower, solution.upper]).all()


INTERRUPTED = """
import sys
from time import process_time, sleep
from threading import Thread
sys.path[:0] = {tests!r}
from test_interrupts import busy
from equimargin.solvers import solve
problem = busy({name!r})
def call_out():
    started = process_time()
    while process_time() < started + 0.5:
        sleep(0.01)
    print("solving", flush=True)
Thread(target=call_out, daemon=True).start()
try:
    print(solve(problem, {solver!r}, tol=1e-12).status)
except KeyboardInterrupt:
    print(process_time(), flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [name for name in SOLVING if any(kind in name for kind in ("rbf", "pairs", "wide"))]
)
def test_an_interrupt_is_heard(name: str) -> None:
    """`solve` raises Python's own KeyboardInterrupt, whatever native code is running.

    The time that Python takes to end is outside the package's control.
    """
    # This run compiles the kernels.
    timed(name)
    code = INTERRUPTED.format(
        tests=[str(Path(__file__).parent), str(ROOT / "tests")], name=name, solver=name.split()[0]
    )
    with launched(["-c", code]) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "solving\n"
        deaf = threading.Timer(HANG, process.kill)
        deaf.start()
        started = cpu_seconds(process)
        process.send_signal(signal.SIGINT)
        heard = process.stdout.readline()
        out, err = process.communicate(timeout=HANG)
        deaf.cancel()
        deaf.join(HANG)
    assert (out, err, process.returncode) == ("", "", 0)
    assert float(heard) - started <= WITHIN


def test_work_that_ends_late_does_not_crash_python() -> None:
    """HiGHS returns to Python after the interrupt; Python waits for it before shutdown."""
    name, impatient = (
        "linear_program pairs",
        "from equimargin.solvers import interrupt\ninterrupt.SECONDS_TO_END = 0.0\n",
    )
    code = impatient + INTERRUPTED.format(
        tests=[str(Path(__file__).parent), str(ROOT / "tests")], name=name, solver=name.split()[0]
    )
    with launched(["-c", code]) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "solving\n"
        process.send_signal(signal.SIGINT)
        heard = process.stdout.readline()
        out, err = process.communicate(timeout=HANG)
    assert (out, err, process.returncode) == ("", "", 0)
    assert float(heard) > 0.0


def test_the_pieces_of_a_sweep_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass in many pieces gives the result of one pass."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    for kernel in (linear(), rbf(0.5)):
        problem = ranking(X, np.round(X[:, 0] - X[:, 1], 2), None, 10.0, kernel)
        assert problem.p > 1500
        whole = solve(problem, "coordinate_descent", tol=1e-9)
        with monkeypatch.context() as patched:
            patched.setattr(coordinate_descent, "MULTIPLICATIONS_BETWEEN_CLOCK_CHECKS", 1)
            pieces = solve(problem, "coordinate_descent", tol=1e-9)
        assert (whole.lower, whole.upper, whole.iterations) == (
            pieces.lower,
            pieces.upper,
            pieces.iterations,
        )


@pytest.mark.parametrize("module", [smo, coordinate_descent])
def test_newtons_method_looks_at_the_clock(module: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """The method receives a clock check, and does not move once time is up."""
    asked: list[bool] = []

    def climb(*arguments: object) -> object:
        asked.append(arguments[7]())  # type: ignore[operator]
        return arguments[2]

    monkeypatch.setattr(module, "maximise_on_face", climb)
    X = np.random.default_rng(0).normal(size=(150, 5))
    y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, 1.0, -1.0)
    solve(classification(X, y, 1e6, rbf(0.05), bias=module is smo), tol=1e-10, time_limit=60.0)
    assert asked
    assert not any(asked)
    bounds = -np.ones(3), np.ones(3)
    assert (
        face.maximise_on_face(np.eye(3), np.ones(3), np.zeros(3), *bounds, False, 5, lambda: True)
        == 0
    ).all()
    assert (
        face.maximise_on_face(np.eye(3), np.ones(3), np.zeros(3), *bounds, False, 5, lambda: False)
        > 0.9
    ).all()


def test_work_in_a_thread_returns_and_raises_as_it_would() -> None:
    assert interruptible(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 // 0)
    # Another thread receives no signals, and waits without them.
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(interruptible, lambda: 7).result(HANG) == 7
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, set())


def test_interrupted_work_is_asked_to_end() -> None:
    """A thread of native code has time to end.

    If it returns while the interpreter shuts down, it ends the process by a signal.
    """
    asked = threading.Event()
    before = threading.active_count()
    timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        interruptible(lambda: asked.wait(20), asked.set)
    timer.join(HANG)
    assert asked.is_set()
    assert threading.active_count() == before


@pytest.mark.slow
@pytest.mark.usefixtures("compiled")
def test_the_command_line_ends_in_a_sentence_and_130(tmp_path: Path) -> None:
    """Interrupts come early, during imports and reading, and late, during solving.

    The output is one sentence, without a traceback.
    """
    path = tmp_path / "noise.npz"
    problem = busy("smo rbf")
    np.savez(path, X=problem.X, y=problem.rows.y)
    for pause in (1.5, 6.0):
        with launched(
            [
                "-m",
                "equimargin",
                "compare",
                str(path),
                "--kernel",
                "rbf",
                "-C",
                "10000",
                "--time-limit",
                "600",
            ]
        ) as process:
            assert at_work(process, pause)
            seconds, out, err = interrupted(process)
        assert err.startswith("equimargin: interrupted")
        assert len(err.splitlines()) == 1
        assert process.returncode == 130
        # Before the first problem there is nothing to print.
        assert out == "" or "interrupted: by Ctrl-C" in out
        assert seconds <= WITHIN


@pytest.mark.slow
@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize(("backend", "pause"), [("CLARABEL", 9.0), ("SCS", 4.0), ("HIGHS", 4.0)])
def test_a_backend_at_work_can_be_interrupted(backend: str, pause: float, tmp_path: Path) -> None:
    """SCS is included, although it catches the signal and only reports an interrupt."""
    path = tmp_path / "noise.npz"
    problem = busy("smo rbf", 1500)
    np.savez(path, X=problem.X, y=problem.rows.y)
    options = [
        "--kernel",
        "rbf",
        "-C",
        "10000",
        "--tol",
        "1e-13",
        "--formulation",
        "svm.soft.dual",
        "--family",
        "svm.soft",
    ]
    with launched(
        ["-m", "equimargin", "compare", str(path), "--solver", backend, *options]
    ) as process:
        # Before 9 CPU seconds Clarabel may set up, which lets no other thread run.
        if not at_work(process, pause):
            pytest.skip(f"{backend} was done before it could be interrupted")
        seconds, out, err = interrupted(process)
    if "1 answer in" in out:
        pytest.skip(f"{backend} was done at the moment of the interrupt")
    assert err.startswith("equimargin: interrupted")
    assert process.returncode == 130
    assert seconds <= WITHIN


WITH_OTHER_PROCESSES = """
import time
from joblib import Parallel, delayed
from equimargin.cli.output.errors import exit_interrupted, without_warnings_of_trackers
without_warnings_of_trackers()
work = Parallel(n_jobs=2, return_as="generator_unordered", pre_dispatch="n_jobs")
answers = work(delayed(time.sleep)(s) for s in (0.0, 300.0, 300.0))
next(answers)
exit_interrupted("interrupted")
"""


def test_other_processes_are_ended_without_a_word_of_what_they_leave() -> None:
    """joblib's resource tracker removes the remains without a message to the user."""
    with launched(["-c", WITH_OTHER_PROCESSES]) as process:
        out, err = process.communicate(timeout=HANG)
    assert (out, err, process.returncode) == ("", "equimargin: interrupted\n", 130)


HEARD_BY_OSQP = """
import os, signal, threading, time
import numpy as np
from equimargin.formulations import classification, declare
from equimargin.solvers import solve_declaration
from equimargin.formulations.numeric.jit import _timed, run_seconds, measure_compile_seconds
from equimargin.solvers.interrupt import NATIVE_WORK
rng = np.random.default_rng(0)
X = rng.normal(size=(300, 20))
y = np.where(X[:, 0] + rng.normal(size=300) > 0, 1.0, -1.0)
declared = declare("svm.soft.dual", classification(X, y, 1e4))
def interrupt():
    # OSQP hears the signal in an unblocked thread, as those of linear algebra are.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    time.sleep(1.0)
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(60.0)
threading.Thread(target=interrupt, daemon=True).start()
try:
    print(solve_declaration(declared, "OSQP", 1e-15, 60.0, 10**9).reason)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_what_osqp_says_of_an_interrupt_is_not_shown() -> None:
    """OSQP writes it to Python's standard output, even with printing switched off."""
    with launched(["-c", HEARD_BY_OSQP]) as process:
        out, err = process.communicate(timeout=HANG)
    assert (out, err, process.returncode) == ("interrupted\n", "", 0)


def test_only_what_libraries_print_is_dropped(capsys: pytest.CaptureFixture[str]) -> None:
    with unheard():
        interruptible(lambda: print("library"))
        print("main")
        with ThreadPoolExecutor(1) as pool:
            pool.submit(print, "thread").result(HANG)
    interruptible(lambda: print("later"))
    assert capsys.readouterr().out == "main\nthread\nlater\n"


def test_what_runs_in_the_background_goes_on(tmp_path: Path) -> None:
    """Interrupts stay ignored where a shell ignores them, as for `command &`.

    This includes backends with their own handlers.
    """
    path = tmp_path / "noise.npz"
    problem = busy("smo rbf", 150)
    np.savez(path, X=problem.X, y=problem.rows.y)
    options = [
        "--kernel",
        "rbf",
        "--tol",
        "1e-12",
        "--formulation",
        "svm.soft.dual",
        "--family",
        "svm.soft",
        "--time-limit",
        "20",
    ]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # which a child inherits
    with launched(
        ["-m", "equimargin", "compare", str(path), "--solver", "SCS", "--solver", "OSQP", *options]
    ) as process:
        interrupts = 0
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            interrupts += 1
            time.sleep(0.02)
        out, err = process.communicate(timeout=HANG)
    assert interrupts > 10
    assert (err, process.returncode) == ("", 4)
    assert "UNDECIDED: one declaration agrees" in out


@pytest.mark.slow
def test_the_tests_of_interrupts_pass_in_the_background() -> None:
    """`nohup make check &` is no reason to fail."""
    names = [
        f"{Path(__file__).name}::{name}"
        for name in ("test_an_interrupt_is_heard[smo rbf]", "test_interrupted_work_is_asked_to_end")
    ]
    arguments = ["-q", "-p", "no:cacheprovider", "-m", ALL_TESTS, *names]
    code = (
        f"import signal, sys, pytest; signal.signal(signal.SIGINT, signal.SIG_IGN); "
        f"sys.exit(pytest.main({arguments!r}))"
    )
    command, folder = [sys.executable, "-c", code], Path(__file__).parent
    found = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=HANG, check=False
    )
    assert found.returncode == 0, found.stdout
    assert "2 passed" in found.stdout


def launched(arguments: list[str]) -> subprocess.Popen[str]:
    """Start a fresh interpreter that finds the package through the links."""
    environment = os.environ | {"PYTHONPATH": str(SOURCE)}
    command = [sys.executable, *arguments]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )


def cpu_seconds(process: subprocess.Popen[str]) -> float:
    """Return the CPU time, in seconds, of all threads of a child so far."""
    fields = (
        Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    )
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def at_work(process: subprocess.Popen[str], seconds: float) -> bool:
    """Wait until a child has used the given CPU seconds; return True if it still runs."""
    while process.poll() is None and cpu_seconds(process) < seconds:
        time.sleep(0.02)
    return process.poll() is None


def interrupted(process: subprocess.Popen[str]) -> tuple[float, str, str]:
    """Interrupt the process; return its further CPU time and its output.

    The process never outlives this call.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = cpu_seconds(process)
    process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=HANG)
    finally:
        process.kill()
    # These are the times of the children that have ended: of this one.
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime - started, out, err


def test_work_that_takes_too_long_is_given_up() -> None:
    asked = threading.Event()
    started = time.monotonic()
    with pytest.raises(TimeoutError, match=r"no result within 0\.2 s"):
        interruptible(lambda: asked.wait(HANG), seconds=0.2)
    assert time.monotonic() - started < HANG
    assert is_work_left()
    asked.set()
    until = time.monotonic() + HANG
    while is_work_left():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_backend_that_does_not_keep_to_its_limit_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def late(backend: object, time_limit: float) -> object:
        return interruptible(lambda: time.sleep(1.0), seconds=0.1)

    monkeypatch.setattr(sys.modules["equimargin.solvers.backends.solve"], "_run", late)
    answer = solve_declaration(
        declare("svm.soft.dual", sample_problem("svm.soft")), "SCS", time_limit=0.05
    )
    assert answer.status is Status.TIME_LIMIT
    assert answer.reason == "given up: SCS exceeded its limit of 0.05 s"
    assert answer.reading is None


def test_the_attempts_of_a_backend_share_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = []

    def attempt(declaration: Declaration, *asked: Any) -> Answer:
        limits.append(asked[-2])
        return Answer(declaration, "CLARABEL", Status.NUMERICAL_FAILURE, "no", solve_seconds=4.0)

    monkeypatch.setattr(sys.modules["equimargin.solvers.backends.solve"], "_attempt", attempt)
    solve_declaration(
        declare("svm.soft.dual", sample_problem("svm.soft")), "CLARABEL", time_limit=6.0
    )
    assert limits == [6.0, 2.0]


def test_work_that_compiles_has_its_time_for_what_it_is_asked_for() -> None:
    """Compilation of kernels is not counted against the time limit of the work.

    It counts for the waiting thread.
    """
    compiling = _timed(lambda: time.sleep(0.5))
    before, started = measure_compile_seconds(), run_seconds()
    interruptible(compiling, seconds=0.2)
    assert measure_compile_seconds() - before >= 0.5
    assert run_seconds() - started < 0.5
    with pytest.raises(TimeoutError, match=r"no result within 0\.2 s"):
        interruptible(lambda: time.sleep(0.5), seconds=0.2)


@pytest.mark.parametrize("waiting", [0, 1, 2])
def test_abandoned_work_that_compiles_stops_the_clock_of_no_caller(waiting: int) -> None:
    """A clock that stood still would never reach the time limits of later runs.

    A caller waits for a thread in which the work is abandoned, and so on.
    """
    begun = threading.Event()

    @_timed
    def compile_at_length() -> None:
        begun.set()
        time.sleep(1.0)

    def work() -> None:
        time.sleep(0.5)
        compile_at_length()

    def abandon() -> None:
        with pytest.raises(TimeoutError):
            interruptible(work, seconds=0.05)

    for _ in range(waiting):
        abandon = functools.partial(interruptible, abandon)
    abandon()
    assert begun.wait(HANG)
    before = run_seconds()
    time.sleep(0.2)
    assert run_seconds() - before >= 0.2


def test_seconds_left_are_those_of_the_caller_who_waits_least() -> None:
    assert seconds_left() is None
    assert interruptible(seconds_left) is None
    assert 8.0 < present(interruptible(seconds_left, seconds=10.0)) <= 10.0
    assert (
        8.0
        < present(interruptible(lambda: interruptible(seconds_left, seconds=60.0), seconds=10.0))
        <= 10.0
    )
    assert seconds_left() is None
