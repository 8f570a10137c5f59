"""Compiled kernels: cached, never outdated, and optional."""

from __future__ import annotations

import ast
import gc
import os
import pickle
import shutil
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba.core import event

from equimargin.formulations.numeric import jit
from equimargin.solvers.progress import ConvergenceMonitor
from equimargin.solvers.solution import Limits
from equimargin.testing import sample_problem
from narrow import present
from places import HANG, ROOT

CALLEE = """
from equimargin.formulations.numeric.jit import jit

@jit
def step(x: int) -> int:
    return x + {step}
"""
CALLER = """
from equimargin.formulations.numeric.jit import jit
from equimargin.formulations.callee import step

@jit
def twice(x: int) -> int:
    return step(step(x))
"""
CALL = """
from numba.core import config
before = config.CACHE_DIR
from equimargin.solvers.caller import twice
value = twice(0)
assert config.CACHE_DIR == before
print(value, "read" if twice.stats.cache_hits else "compiled")
"""


@pytest.fixture
def kernels(tmp_path: Path) -> Path:
    """Write a small equimargin with a caller in solvers/ and a callee in formulations/."""
    package = tmp_path / "site" / "equimargin"
    for folder in (package, package / "formulations", package / "solvers"):
        folder.mkdir(parents=True)
        (folder / "__init__.py").touch()
    numeric = package / "formulations" / "numeric"
    numeric.mkdir()
    (numeric / "__init__.py").touch()
    for source in ("jit.py", "undisturbed.py"):
        shutil.copy(ROOT / "formulations" / "numeric" / source, numeric)
    (package / "solvers" / "caller.py").write_text(CALLER)
    write_callee(package, step=10)
    return package


def write_callee(package: Path, step: int) -> None:
    (package / "formulations" / "callee.py").write_text(CALLEE.format(step=step))


def call(path: Path, program: str = CALL, **environment: str) -> str:
    """Run the caller in a fresh interpreter that sees exactly these variables."""
    cleared = {
        name: value
        for name, value in os.environ.items()
        if name not in {"HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR"}
    }
    environment = cleared | {"PYTHONPATH": str(path)} | environment
    command = [sys.executable, "-W", "error", "-c", program]
    answer = subprocess.run(
        command, env=environment, cwd=path.parent, capture_output=True, text=True, timeout=HANG
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.strip()


@pytest.mark.slow
@pytest.mark.parametrize("variable", ["HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR"])
def test_a_changed_callee_is_never_served_from_the_cache(
    kernels: Path, tmp_path: Path, variable: str
) -> None:
    chosen = tmp_path / "chosen"
    place = {"HOME": str(tmp_path / "home")} | {variable: str(chosen)}
    assert call(kernels.parent, **place) == "20 compiled"
    assert call(kernels.parent, **place) == "20 read"
    write_callee(kernels, step=505)
    assert call(kernels.parent, **place) == "1010 compiled"
    assert list(chosen.rglob("*.nbc")) != []
    assert list(kernels.rglob("*.nb?")) == []


def test_changed_constant_of_a_kernel_elsewhere_is_noticed(kernels: Path, tmp_path: Path) -> None:
    """The folder of the cache is named after the sources in formulations/ and solvers/."""
    program = (
        "from equimargin.elsewhere import step\n"
        "print(step(0), 'read' if step.stats.cache_hits else 'compiled')"
    )
    elsewhere, place = kernels / "elsewhere.py", {"NUMBA_CACHE_DIR": str(tmp_path)}
    elsewhere.write_text(CALLEE.format(step=10))
    assert call(kernels.parent, program, **place) == "10 compiled"
    assert call(kernels.parent, program, **place) == "10 read"
    elsewhere.write_text(CALLEE.format(step=11))
    assert call(kernels.parent, program, **place) == "11 compiled"


def test_code_of_another_numba_is_not_there_and_recompiling_removes_files(
    kernels: Path, tmp_path: Path
) -> None:
    place = {"NUMBA_CACHE_DIR": str(tmp_path)}
    assert call(kernels.parent, **place) == "20 compiled"
    program = (
        "import numba\n{}\n"
        "from equimargin.formulations.numeric.jit import is_compiled\n"
        "from equimargin.solvers.caller import twice\n"
        "print(is_compiled(twice)){}"
    )
    assert call(kernels.parent, program.format("", ""), **place) == "True"
    assert call(kernels.parent, program.format("numba.__version__ = '9.9'", ""), **place) == "False"
    again = "\ntwice(0); twice.recompile(); print(is_compiled(twice))"
    assert call(kernels.parent, program.format("", again), **place) == "True\nTrue"


def test_without_a_writable_directory_kernels_are_compiled_anew(
    kernels: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    # A file stops root, too.
    home.touch()
    assert call(kernels.parent, HOME=str(home)) == "20 compiled"


MEMORY = """
from equimargin.formulations.numeric.jit import jit

@jit
def squares(X):
    return (X.T @ X)[:, ::-1].copy()
"""


def test_kept_code_finds_its_memory_and_its_linear_algebra(kernels: Path, tmp_path: Path) -> None:
    (kernels / "solvers" / "caller.py").write_text(MEMORY)
    program = "import numpy as np; from equimargin.solvers.caller import squares; "
    program += "print(squares(np.ones((3, 2))).tolist(), sum(squares.stats.cache_hits.values()))"
    assert (
        call(kernels.parent, program, NUMBA_CACHE_DIR=str(tmp_path)) == "[[3.0, 3.0], [3.0, 3.0]] 0"
    )
    # A second signature is compiled after the code of the first has been read.
    another = "; print(squares(np.ones((1, 1), np.float32)).tolist())"
    assert (
        call(kernels.parent, program + another, NUMBA_CACHE_DIR=str(tmp_path))
        == "[[3.0, 3.0], [3.0, 3.0]] 1\n[[1.0]]"
    )


BRIEF = """
from equimargin.formulations.numeric.jit import brief, jit

@brief
def total(X):
    sum = 0.0
    for x in X:
        sum += x
    return sum
"""


def test_a_brief_kernel_runs_as_python_unless_its_code_is_kept(
    kernels: Path, tmp_path: Path
) -> None:
    (kernels / "solvers" / "caller.py").write_text(BRIEF)
    program = (
        "import numpy as np; from equimargin.solvers.caller import total; from "
        "equimargin.formulations.numeric import jit; "
    )
    shown = "print(total(np.ones(3)), len(total.signatures), sum(total.stats.cache_hits.values()))"
    assert call(kernels.parent, program + shown, NUMBA_CACHE_DIR=str(tmp_path)) == "3.0 0 0"
    at_once = f"exec('with jit.compile_eagerly(): {shown}')"
    assert call(kernels.parent, program + at_once, NUMBA_CACHE_DIR=str(tmp_path)) == "3.0 1 0"
    assert call(kernels.parent, program + shown, NUMBA_CACHE_DIR=str(tmp_path)) == "3.0 1 1"


def test_a_brief_kernel_is_compiled_once_it_has_been_handed_many_entries(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jit, "cache_directory", lambda: None)

    def squared(pair: tuple[np.ndarray, np.ndarray], shares: np.ndarray) -> float:
        shares[0] *= pair[0][0] * shares[0]
        return float(pair[1].size)

    kernel: Any = jit.brief(squared)
    entries = int(jit.ENTRIES_PER_BYTE * len(squared.__code__.co_code)) // 4 * 2 + 2
    # At the second call compilation pays off.
    for signatures in (0, 1):
        # The square overflows, and no code warns of it.
        shares = np.full(1, 1e200)
        assert kernel((np.ones(entries // 2), np.ones(entries // 2)), shares) == entries // 2
        assert (shares[0], len(kernel.signatures)) == (np.inf, signatures)


def test_a_kernel_whose_work_depends_on_its_result_is_compiled_after_much_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jit, "cache_directory", lambda: None)

    def passes(x: np.ndarray, count: int) -> int:
        return count

    kernel: Any = jit.brief_by(lambda result, x, count: x.size * result)(jit.fast(passes))
    most = int(jit.ENTRIES_PER_BYTE * len(passes.__code__.co_code))
    for count, signatures in ((most // 4, 0), (most, 0), (1, 1)):
        assert kernel(np.ones(2), count) == count
        assert len(kernel.signatures) == signatures


def test_kernels_within_a_kernel_run_as_python_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "cache_directory", lambda: None)
    called: dict[str, Any] = {"jit": jit}
    exec(
        "@jit.jit\ndef one(x): return x + 1.0\n@jit.in_numpy(lambda x: x + "
        "10.0)\n@jit.fast\ndef ten(x): return x + 1.0",
        called,
    )
    exec("def both(x): return ten(one(x))", called)
    kernel: Any = jit.jit(called["both"])
    assert jit.as_python(kernel)(1.0) == 12.0
    assert not any(called[name].signatures for name in ("one", "ten"))
    size = sum(
        len(each.py_func.__code__.co_code) for each in (kernel, called["one"], called["ten"])
    )
    assert jit.seconds_to_compile(kernel) == pytest.approx(jit.SECONDS_PER_BYTE * size)


def test_no_kernel_is_compiled_without_the_time_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "cache_directory", lambda: None)

    def successor(x: int) -> int:
        return x + 1

    kernel, told = jit.jit(successor), list[float]()
    needed = jit.seconds_to_compile(kernel)
    before = jit.seconds_foreseen()
    with jit.compiling_announced(told.append):
        with (
            jit.compiling_within(0.9 * needed),
            pytest.raises(jit.NotCompiled, match="successor takes about"),
        ):
            kernel(1)
        assert (told, jit.seconds_foreseen(), jit.is_compiled(kernel)) == ([], before, False)
        with jit.compiling_within(1.5 * needed):
            assert kernel(1) == 2
            with pytest.raises(jit.NotCompiled):
                kernel(1.5)  # type: ignore[arg-type]
            assert kernel(2) == 3
        assert kernel(1.5) == 2.5  # type: ignore[arg-type]
    assert told == [needed, needed]
    assert jit.seconds_foreseen() - before == pytest.approx(2 * needed)
    assert jit.seconds_to_compile(kernel) == 0.0


def test_a_kernel_of_numbas_own_decorator_is_compiled_whatever_time_is_left() -> None:
    def successor(x: int) -> int:
        return x + 1

    njit: Any = numba.njit
    theirs = njit(successor)
    told, before = list[float](), jit.seconds_foreseen()
    with jit.compiling_announced(told.append), jit.compiling_within(0.0):
        assert theirs(1) == 2
    assert (told, jit.seconds_foreseen()) == ([], before)


def test_kept_code_is_loaded_whatever_time_is_left(kernels: Path, tmp_path: Path) -> None:
    program = (
        "from equimargin.formulations.numeric import jit\nfrom equimargin.solvers.caller import "
        "twice\n"
    )
    program += "with jit.compiling_within({}):\n    print(twice(0))"
    assert call(kernels.parent, program.format(1), NUMBA_CACHE_DIR=str(tmp_path)) == "20"
    assert call(kernels.parent, program.format(0), NUMBA_CACHE_DIR=str(tmp_path)) == "20"


def test_garbage_is_collected_again_after_a_kernel_is_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jit, "cache_directory", lambda: None)
    collecting = []

    def successor(x: int) -> int:
        return x + 1

    class Looking(event.Listener):
        def on_start(self, started: event.Event) -> None:
            collecting.append(gc.isenabled())

        def on_end(self, ended: event.Event) -> None:
            pass

    kernel: Any = jit.jit(successor)
    with event.install_listener("numba:compile", Looking()):
        assert kernel(1) == 2
    assert (collecting, gc.isenabled()) == ([False], True)


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "cut off": lambda content: content[: len(content) // 2],
    "its end cut off": lambda content: content[:-1],
    "random": lambda content: np.random.default_rng(0).bytes(len(content)),
    "another pickle": lambda content: pickle.dumps("0"),
    "one bit": lambda content: bytes(
        byte ^ (at == len(content) // 2) for at, byte in enumerate(content)
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_cache_is_written_anew(kernels: Path, tmp_path: Path, damage: str) -> None:
    home = str(tmp_path / "home")
    assert call(kernels.parent, HOME=home) == "20 compiled"
    files = list(tmp_path.joinpath("home").rglob("*.nbc"))
    assert files != []
    for file in files:
        file.write_bytes(DAMAGES[damage](file.read_bytes()))
    assert call(kernels.parent, HOME=home) == "20 compiled"
    assert call(kernels.parent, HOME=home) == "20 read"


def test_two_processes_that_compile_for_different_types_keep_both_codes(
    kernels: Path, tmp_path: Path
) -> None:
    read = (
        "from equimargin.solvers.caller import twice\n"
        "print(twice(0), twice(0.5), sum(twice.stats.cache_hits.values()))"
    )
    environment = os.environ | {
        "PYTHONPATH": str(kernels.parent),
        "NUMBA_CACHE_DIR": str(tmp_path),
    }
    both = [
        subprocess.Popen(
            [
                sys.executable,
                "-c",
                f"from equimargin.solvers.caller import twice; input(); print(twice({number}))",
            ],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in ("0", "0.5")
    ]
    for process in both:
        present(process.stdin).write("\n")
        present(process.stdin).flush()
    assert [present(process.communicate(timeout=HANG)[0]) for process in both] == ["20\n", "20.5\n"]
    assert call(kernels.parent, read, NUMBA_CACHE_DIR=str(tmp_path)) == "20 20.5 2"


def test_a_cache_that_cannot_be_written_any_more_is_done_without(
    kernels: Path, tmp_path: Path
) -> None:
    """The directory exists when the kernels are decorated.

    A file stands in its place when they are compiled.
    """
    program = """
import shutil
from equimargin.formulations.numeric.jit import cache_directory
from equimargin.solvers.caller import twice
shutil.rmtree(cache_directory())
cache_directory().touch()
print(twice(0))
"""
    assert call(kernels.parent, program, HOME=str(tmp_path / "home")) == "20"
    # The folder of the sources has no cache either.
    assert list(kernels.rglob("*.nb?")) == []


def test_kernels_run_from_an_archive(kernels: Path, tmp_path: Path) -> None:
    archive = tmp_path / "equimargin.whl"
    with zipfile.ZipFile(archive, "w") as wheel:
        for source in kernels.rglob("*.py"):
            wheel.write(source, source.relative_to(kernels.parent))
    assert call(archive, HOME=str(tmp_path / "home")) == "20 compiled"
    assert not (tmp_path / "home").exists()


@pytest.mark.usefixtures("hearing")
def test_an_interrupt_waits_until_a_kernel_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """During compilation the interrupt is lost, or the compiler fails."""
    monkeypatch.setattr(jit, "cache_directory", lambda: None)

    def successor(x: int) -> int:
        return x + 1

    kernel: Any = jit.jit(successor)

    class Interrupting(event.Listener):
        def on_start(self, started: event.Event) -> None:
            signal.raise_signal(signal.SIGINT)

        def on_end(self, ended: event.Event) -> None:
            pass

    with event.install_listener("numba:compile", Interrupting()), pytest.raises(KeyboardInterrupt):
        kernel(1)
    assert len(kernel.signatures) == 1
    assert kernel(1) == 2
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def compiled_functions() -> list[tuple[str, ast.FunctionDef]]:
    """Return every function under a decorator of `jit.py`, with its file."""
    found = []
    for floor in ("formulations", "solvers"):
        for file in sorted((ROOT / floor).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.FunctionDef) and {"jit", "fast"} & {
                    ast.unparse(each) for each in node.decorator_list
                }:
                    found.append((f"{file.relative_to(ROOT)}:{node.name}", node))
    return found


@pytest.mark.parametrize(
    "kernel", [pytest.param(node, id=where) for where, node in compiled_functions()]
)
def test_a_kernel_returns_no_named_tuple(kernel: ast.FunctionDef) -> None:
    """numba makes a named tuple by a call into Python.

    An interrupt received while the kernel ran ended the process by SIGSEGV.
    """
    assert kernel.returns is not None
    named = {node.id for node in ast.walk(kernel.returns) if isinstance(node, ast.Name)}
    assert named <= {"tuple", "int", "float", "bool", "Any", "Array", "np", "Index", "Block"}


@pytest.mark.slow
def test_an_interrupt_that_comes_while_a_kernel_runs_is_heard_after_it() -> None:
    """Coordinate descent over listed pairs is a sequence of long kernel calls.

    The features are linear.
    """
    code = """
import os, signal, threading, numpy as np
from equimargin.formulations import ranking
from equimargin.solvers import solve
rng = np.random.default_rng(0)
X, y = rng.normal(size=(3000, 20)), rng.integers(0, 3, 3000)
problem = ranking(X, y, np.arange(3000) // 100, 1e6)
solve(problem, "coordinate_descent", max_iter=1)
for seconds in (0.5, 1.0, 1.5):
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        solve(problem, "coordinate_descent", tol=1e-14)
        print("ended by itself")
    except KeyboardInterrupt:
        print("heard")
"""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    # A parent may ignore interrupts.
    reset = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    answer = subprocess.run(
        [sys.executable, "-c", reset + code],
        env=environment,
        capture_output=True,
        text=True,
        timeout=HANG,
    )
    assert (answer.stdout, answer.stderr, answer.returncode) == ("heard\n" * 3, "", 0)


def test_seconds_of_compiling_are_counted_once_and_only_where_kernels_are_compiled() -> None:
    code = (
        "import time\nfrom equimargin.formulations.numeric.jit import compile_eagerly, "
        "measure_compile_seconds\n"
        "from equimargin.solvers.newton import newton\nassert measure_compile_seconds() == 0\n"
        "from equimargin.solvers import solve\nfrom equimargin.testing import sample_problem\n"
        "problem = sample_problem('svm.l2')\nstarted = time.perf_counter()\n"
        "with compile_eagerly():\n    solve(problem, 'newton')\n"
        "first = measure_compile_seconds()\nassert 0 < first < time.perf_counter() - started\n"
        "solve(problem, 'newton')\nassert measure_compile_seconds() == first\n"
    )
    subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        timeout=HANG,
    )


def test_the_clock_of_work_stands_still_while_a_kernel_is_compiled(tmp_path: Path) -> None:
    code = (
        "import time\n"
        "from equimargin.formulations.numeric.jit import compile_eagerly, is_compiled, "
        "run_seconds, measure_compile_seconds\n"
        "from equimargin.solvers.dual.sweeps import thresholds\nkept = is_compiled(thresholds)\n"
        "wall, work = time.perf_counter(), run_seconds()\nwith compile_eagerly():\n    "
        "thresholds(-1.0, 1.0)\n"
        "work, wall = run_seconds() - work, time.perf_counter() - wall\n"
        "assert 0 <= work <= wall - measure_compile_seconds() and "
        "is_compiled(thresholds)\nprint(kept)\n"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "NUMBA_CACHE_DIR": str(tmp_path)}
    for kept in ("False", "True"):
        answer = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
            timeout=HANG,
        )
        assert answer.stdout.strip() == kept


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield the folder of a separate kernel cache."""
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    jit.cache_directory.cache_clear()
    yield tmp_path / "equimargin"
    jit.cache_directory.cache_clear()


@pytest.mark.parametrize("mask", [0o002, 0o000])
def test_cache_directory_is_made_for_its_user_alone(cache: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        directory = present(jit.cache_directory())
    finally:
        os.umask(before)
    assert [folder.stat().st_mode & 0o777 for folder in (cache, directory)] == [0o700, 0o700]


@pytest.mark.parametrize("mode", [0o775, 0o702])
def test_cache_directory_that_others_can_write_is_kept_to_its_user(cache: Path, mode: int) -> None:
    """Folders of an umask of 002 are of this kind."""
    cache.mkdir()
    cache.chmod(mode)
    assert jit.cache_directory() is not None
    assert cache.stat().st_mode & 0o777 == mode & ~0o022


def test_cache_directory_that_others_go_on_writing_is_refused(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.mkdir()
    cache.chmod(0o770)
    # A file system without permissions behaves like this.
    monkeypatch.setattr(Path, "chmod", lambda *arguments: None)
    with pytest.raises(
        PermissionError,
        match=rf"^the cache of compiled functions {cache} can be written by other users; chmod "
        rf"go-w {cache}, or name ",
    ):
        jit.cache_directory()
    assert not list(cache.iterdir())


def test_cache_directory_of_another_user_is_refused(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.mkdir()
    monkeypatch.setattr(os, "getuid", lambda: cache.stat().st_uid + 1)
    with pytest.raises(
        PermissionError,
        match=rf"^the cache of compiled functions {cache} belongs to user \d+, not to user \d+; "
        rf"name another folder",
    ):
        jit.cache_directory()
    assert not list(cache.iterdir())


@pytest.mark.parametrize("command", ["compare", "verify"])
def test_refused_kernel_cache_is_a_sentence(tmp_path: Path, command: str) -> None:
    folder = tmp_path / "equimargin"
    folder.mkdir()
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "NUMBA_CACHE_DIR": str(tmp_path)}
    code = (
        "import os; us = os.getuid(); os.getuid = lambda: us + 1; from equimargin.cli import "
        "main; main()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, command, "xor"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=HANG,
    )
    assert ended.stderr.startswith(
        f"equimargin: the cache of compiled functions {folder} belongs to user "
    ), ended.stdout + ended.stderr
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)


def test_compiling_does_not_count_in_the_time_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = ConvergenceMonitor("any", sample_problem("svm.soft"), Limits(1e-6, None, 1.0), 1)
    monkeypatch.setattr(jit._clock(), "seconds", jit.measure_compile_seconds() + 100)
    assert judge.seconds < 0
    assert not judge.out_of_time
