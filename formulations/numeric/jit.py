"""Numba decorators, with a cache of machine code that never outlives its sources.

numba's cache considers only the file of the decorated function. After an edit of a
callee in another file it goes on running the old callee inside the cached caller. Here
the cache directory is named after the content of all sources, so that any edit
triggers compilation.

numba's cache does not notice a damaged file either. Here every cached file ends with
its digest. A file whose digest is missing or wrong is not used, and its function
is compiled again. Processes may compile the same function at the same time.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import inspect
import logging
import os
import pickle
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import Context, ContextVar
from pathlib import Path
from types import FunctionType
from typing import Any, ParamSpec, TypeVar

import numba
import numpy as np
from numba.core import config, event
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    UserProvidedCacheLocator,
)
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps

from equimargin.formulations.numeric.undisturbed import undisturbed

LOG = logging.getLogger(__name__)
"""Logger of the functions that are compiled."""
P = ParamSpec("P")
R = TypeVar("R")

_FORMULATIONS = Path(__file__).parents[1]
_KERNEL_FOLDERS = (_FORMULATIONS, _FORMULATIONS.parent / "solvers")
"""Folders whose sources determine the name of the cache.

They are siblings in the checkout, behind its links and in an installed package.
"""
OPTIONS: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True}
"""Numba options of every compiled function: no GIL, and no entry point for C.

No caller in C exists, and an entry point takes time to compile.
"""
FAST: dict[str, Any] = {
    "fastmath": {"nnan", "nsz", "arcp", "contract", "reassoc", "afn"},
    "error_model": "numpy",
}
"""Numba options of plain arithmetic.

Sums may be computed in any order and no number is a NaN, but infinities are allowed,
and a division by 0 gives one.
"""

SECONDS_PER_BYTE = 4.5e-4
"""CPU seconds of compiling for each byte of Python code in a function and its callees.

Nine tenths of the functions that `warm-up` compiles take between 0.25e-3 and 1e-3 on a
machine of 2024 (`benchmarks/run.py start_up --kernels SOLVER`).
"""
ENTRIES_PER_BYTE = 100.0
"""Array entries per byte of code that a `brief` function processes in Python at first.

Python takes about 1.5e-6 s for an entry, so that these entries take about a third of
the time of compiling.
"""
ENTRY_IN_NUMPY = 1 / 500
"""Cost of an entry in numpy, relative to a loop in Python: about 3e-9 s."""
_at_once = False
"""True if `brief` functions of this process are compiled at their first call."""


def jit(kernel: Callable[P, R]) -> Callable[P, R]:
    """Compile a function at its first call; cache the code where possible and safe.

    The function runs without the GIL. It may take named tuples, but it returns numbers,
    arrays and plain tuples to Python. numba makes a named tuple by a call into Python.
    An interrupt while the function runs makes that call fail, and numba then aborts the
    process.

    The code is cached under NUMBA_CACHE_DIR if set, else under the user's cache; not at
    all if neither is writable or the source is no file (a zip archive). Old directories
    are never read again and may be deleted at any time.

    Parameters
    ----------
    kernel : callable
        Function of numbers and arrays.
    """
    return _compiled(kernel)


def fast(kernel: Callable[P, R]) -> Callable[P, R]:
    """Compile a function as `jit` does, for loops of plain arithmetic that vectorise.

    The numbers may be infinite but not NaN. Sums are computed in any order, so that the
    loops vectorise.

    Parameters
    ----------
    kernel : callable
        Function of numbers and arrays.
    """
    return _compiled(kernel, **FAST)


def reordered(kernel: Callable[P, R]) -> Callable[P, R]:
    """Compile a function as `jit` does, with sums in any order, so that they vectorise.

    Unlike in a function of `fast`, numbers may be NaN.

    Parameters
    ----------
    kernel : callable
        Function of numbers and arrays.
    """
    return _compiled(kernel, fastmath={"contract", "nsz", "reassoc"}, error_model="numpy")


def contracted(kernel: Callable[P, R]) -> Callable[P, R]:
    """Compile a function as `jit` does, for loops whose rounding errors are bounded.

    A product may be added without being rounded (a fused multiply-add, where the
    processor has one). No other operation differs from the source, so that a bound that
    counts every rounding of the source holds.

    Parameters
    ----------
    kernel : callable
        Function of numbers and arrays.
    """
    return _compiled(kernel, fastmath={"contract"}, error_model="numpy")


def part(kernel: Callable[P, R]) -> Callable[P, R]:
    """Compile a part of a longer function as `fast` does, inlined into its callers.

    The part has no machine code of its own, and the longer function takes no longer to
    compile than in one piece. A part that is called from Python is compiled like any
    other function.

    Parameters
    ----------
    kernel : callable
        Function of numbers and arrays.
    """
    return _compiled(kernel, inline="always", **FAST)


def brief(kernel: Callable[P, R]) -> Callable[P, R]:
    """Run a function as Python while that is faster than compiling it as `jit` does.

    A function with cached code does not run as Python. One decorated by `jit`, `fast` or
    `reordered` keeps its options. As Python and compiled, a function of `jit` gives the
    same bits, because the order of operations is preserved, and the others equal results
    within rounding error. A brief function divides no number of Python by 0 and has no
    negative number as unsigned, for which Python and compiled code differ. Its work
    must be about the number of entries of its arguments; `brief_for` and `brief_by`
    accept any work.

    Parameters
    ----------
    kernel : callable
        Function of numbers and arrays, or one decorated by `jit` or `fast`.
    """
    entry = ENTRY_IN_NUMPY if hasattr(kernel, "in_numpy") else 1.0
    return _brief(
        kernel, lambda arguments: entry * _entries(arguments), lambda result, *arguments: 0.0
    )


def brief_by(work: Callable[..., float]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator like `brief` for functions whose work depends on their data.

    Parameters
    ----------
    work : callable
        Work of a call, in entries of a loop in Python, computed from the
        function's result and its arguments.
    """
    return lambda kernel: _brief(kernel, lambda arguments: 0.0, work)


def brief_for(work: Callable[..., float]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator like `brief` for functions whose arguments determine their work.

    Parameters
    ----------
    work : callable
        Work of a call, in entries of a loop in Python, computed from the function's
        arguments.
    """
    return lambda kernel: _brief(
        kernel, lambda arguments: work(*arguments), lambda result, *arguments: 0.0
    )


def _brief(
    kernel: Callable[P, R], before: Callable[[tuple[Any, ...]], float], after: Callable[..., float]
) -> Callable[P, R]:
    """Make a brief function of known work.

    `before` gives work from the arguments, before a call; `after` gives work from the
    result and the arguments, after a call as Python.
    """
    dispatcher: Any = kernel if hasattr(kernel, "py_func") else jit(kernel)
    # numba calls this if nothing is compiled for the arguments, and calls its result
    # with them.
    compile_for = dispatcher._compile_for_args
    is_cached = functools.cache(lambda: is_compiled(dispatcher))
    max_work = functools.cache(lambda: ENTRIES_PER_BYTE * _size(dispatcher))
    done = 0.0

    def chosen(*arguments: Any) -> Any:
        nonlocal done
        done += before(arguments)
        return (
            compile_for(*arguments) if done > max_work() or _at_once or is_cached() else interpreted
        )

    @np.errstate(all="ignore")
    def interpreted(*arguments: Any) -> Any:
        nonlocal done
        result = as_python(dispatcher)(*arguments)
        done += after(result, *arguments)
        return result

    dispatcher._compile_for_args = chosen
    chooser: Callable[P, R] = dispatcher
    return chooser


def in_numpy(form: Callable[..., Any]) -> Callable[[R], R]:
    """Return a decorator that sets the Python form of a compiled function or intrinsic.

    Parameters
    ----------
    form : callable
        Function in numpy with equal results within rounding error, where a loop over
        entries would be slow in Python.
    """

    def enter(kernel: R) -> R:
        kernel.in_numpy = form  # type: ignore[attr-defined]
        return kernel

    return enter


def as_python(kernel: Any) -> Callable[..., Any]:
    """Return the form in which a compiled function runs as Python.

    That is its form in numpy, or its source, with the callees in their Python forms.

    Parameters
    ----------
    kernel : object
        Function decorated by this module, or an intrinsic with a form in numpy.
    """
    form: Callable[..., Any] = kernel.in_numpy if hasattr(kernel, "in_numpy") else _source(kernel)
    return form


@functools.cache
def _source(kernel: Any) -> Callable[..., Any]:
    source = kernel.py_func
    forms = {name: as_python(called) for name, called in _called(kernel)}
    return FunctionType(
        source.__code__,
        source.__globals__ | forms,
        source.__name__,
        source.__defaults__,
        source.__closure__,
    )


def _called(kernel: Any) -> list[tuple[str, Any]]:
    """Return names and objects of the compiled functions and intrinsics that are called."""
    source = kernel.py_func
    named = ((name, source.__globals__.get(name)) for name in source.__code__.co_names)
    return [
        (name, called)
        for name, called in named
        if hasattr(called, "py_func") or hasattr(called, "in_numpy")
    ]


def _size(kernel: Any, but: Callable[[Any], bool] = lambda called: False) -> int:
    """Return the bytes of Python code in a function and its callees, each counted once.

    Callees with true `but`, and functions that only those call, do not count.
    """
    sizes: dict[Any, int] = {}
    waiting = [kernel]
    while waiting:
        current = waiting.pop()
        sizes[current] = len(current.py_func.__code__.co_code)
        waiting += [
            called
            for _, called in _called(current)
            if hasattr(called, "py_func") and called not in sizes and not but(called)
        ]
    return sum(sizes.values())


def _entries(argument: Any) -> int:
    """Return the number of entries of an array or a tuple's arrays; 1 for a number."""
    if isinstance(argument, tuple):
        return sum(map(_entries, argument))
    return argument.size if isinstance(argument, np.ndarray) else 1


@contextmanager
def compile_eagerly() -> Iterator[None]:
    """Compile `brief` functions at their first call within the `with` block.

    This is for measurements, and for compilation in advance.
    """
    global _at_once
    before, _at_once = _at_once, True
    try:
        yield
    finally:
        _at_once = before


def _compiled(kernel: Callable[P, R], **options: Any) -> Callable[P, R]:
    dispatcher: Any = numba.njit(**OPTIONS, **options)(kernel)
    dispatcher.is_guarded = True
    if Path(inspect.getfile(kernel)).is_file() and cache_directory() is not None:
        dispatcher._cache = _Cache(kernel)
    dispatcher.compile = undisturbed(_uncollected(_timed(dispatcher.compile)))
    compiled: Callable[P, R] = dispatcher
    return compiled


class _Place(UserProvidedCacheLocator):  # type: ignore[misc]
    """Locator of the package's directory of compiled functions.

    A directory next to a source would keep a function whose callee in another file has
    changed.
    """

    def __init__(self, kernel: Callable[..., Any], file: str) -> None:
        self._py_file, self._lineno = file, kernel.__code__.co_firstlineno
        self._cache_path = str(Path(str(cache_directory())) / self.get_suitable_cache_subpath(file))

    @classmethod
    def from_function(cls, kernel: Callable[..., Any], file: str) -> _Place:
        return cls(kernel, file)


class _KernelCacheImpl(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_Place,)

    def reduce(self, compiled: Any) -> Any:
        # The text of the source with all types, which takes long to write, is not stored.
        return super().reduce(compiled._replace(type_annotation=""))


class _Cache(FunctionCache):  # type: ignore[misc]
    """Cache of a compiled function as in numba, in files with digests.

    A function that cannot be cached is compiled again by the next process. Properties
    of its file are computed at the first access to the cache: most processes use few of
    all functions.
    """

    def __init__(self, kernel: Callable[..., Any]) -> None:
        self._name, self._py_func = repr(kernel), kernel
        self.enable()

    @functools.cached_property
    def _impl(self) -> _KernelCacheImpl:
        return _KernelCacheImpl(self._py_func)

    @functools.cached_property
    def _cache_path(self) -> str:
        path: str = self._impl.locator.get_cache_path()
        return path

    @functools.cached_property
    def _cache_file(self) -> _SealedFiles:
        stamp = _stamp(inspect.getfile(self._py_func))
        return _SealedFiles(self._cache_path, f"{self._impl.filename_base}.{stamp}")

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return the cached code, or None.

        numba's own method first initialises its compiler, which takes 0.15 s in every
        process. Compiled code needs only numba's memory management; the compiler
        initialises the rest once there is code to compile.

        Parameters
        ----------
        signature : tuple of numba types
            Argument types.
        context : numba context
            Numba's target context.
        """
        rtsys.initialize(context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(signature, context)

    def save_overload(self, signature: Any, compiled: Any) -> None:
        # The disk may be full, or the directory deleted.
        with suppress(OSError):
            super().save_overload(signature, compiled)


class _SealedFiles:
    """Machine code of a function, in a file for each signature that ends with its digest.

    numba numbers its files, in the order of an index. Two processes that compile one
    function at once, each for its own argument types, then write one file. Here a file
    is named after its key, and there is no index to read.

    Parameters
    ----------
    folder : str
        Folder of the files.
    name : str
        Start of their names; that of another source or another numba differs.
    """

    def __init__(self, folder: str, name: str) -> None:
        self.folder, self.name = Path(folder), name

    @property
    def exist(self) -> bool:
        """True if there is a file."""
        return any(self._all())

    def flush(self) -> None:
        """Remove the files of all signatures."""
        for path in self._all():
            path.unlink(missing_ok=True)

    def _all(self) -> Iterator[Path]:
        """Yield the files of all signatures."""
        return self.folder.glob(f"{self.name}.*.nbc")

    def _path(self, key: Any) -> Path:
        """Return the path of the file of a key: types, processor and code."""
        digest = hashlib.sha256(repr(key).encode()).hexdigest()
        return self.folder / f"{self.name}.{digest[:16]}.nbc"

    def load(self, key: Any) -> Any:
        """Return the stored object of a key; None if its file is missing or damaged.

        numba then compiles the function and rewrites the file.
        """
        length = hashlib.sha256().digest_size
        try:
            content = self._path(key).read_bytes()
        except OSError:
            return None
        content, digest = content[:-length], content[-length:]
        return pickle.loads(content) if digest == hashlib.sha256(content).digest() else None

    def save(self, key: Any, data: Any) -> None:
        """Write the object of a key; another process reads the whole file or none."""
        content: bytes = dumps(data)  # type: ignore[no-untyped-call]
        path = self._path(key)
        handle, temporary = tempfile.mkstemp(dir=self.folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content + hashlib.sha256(content).digest())
            os.replace(temporary, path)
        except OSError:
            Path(temporary).unlink(missing_ok=True)
            raise


@functools.cache
def _stamp(file: str) -> str:
    """Return a digest of a source file and of numba's version.

    The folder's name has a digest of the sources of problems and solvers; other files
    may have compiled functions, too.
    """
    version = numba.__version__.encode()
    return hashlib.sha256(version + b"\0" + Path(file).read_bytes()).hexdigest()[:16]


class _Clock:
    """Wall seconds of compiling functions or loading them.

    Attributes
    ----------
    seconds : float
        Wall seconds of finished compilations and loads.
    since : float
        Time at which the present one began.
    depth : int
        Number of nested compilations and loads in progress.
    foreseen : float
        Expected CPU seconds of all functions compiled so far.
    compiling : int
        Number of functions in compilation, each a callee of the one before.
    worker : _Clock or None
        Clock of another thread, which works while this one waits.
    """

    seconds = 0.0
    since = 0.0
    depth = 0
    foreseen = 0.0
    compiling = 0
    worker: _Clock | None = None

    def measure(self) -> float:
        """Return the seconds so far, of the working thread while this one waits."""
        worker = self.worker
        if worker is not None:
            return worker.measure()
        return self.seconds + (time.perf_counter() - self.since if self.depth else 0.0)


_CLOCK: ContextVar[_Clock] = ContextVar("_CLOCK")
"""Clock of a thread; no other thread changes it."""


def _clock() -> _Clock:
    """Return the clock of this context; create it at the first call."""
    try:
        return _CLOCK.get()
    except LookupError:
        clock = _Clock()
        _CLOCK.set(clock)
        return clock


@contextmanager
def clock_shared(context: Context) -> Iterator[None]:
    """Count the compile time of a thread as that of the caller, who waits for it.

    Work that still runs after the `with` block counts no longer: what it compiles must
    not stop the clock of the caller, nor that of the caller's own caller.

    Parameters
    ----------
    context : Context
        Context in which the thread works, a copy of the caller's.
    """
    own, worker = _clock(), _Clock()
    worker.seconds, worker.foreseen = own.measure(), own.foreseen
    context.run(_CLOCK.set, worker)
    own.worker = worker
    try:
        yield
    finally:
        own.seconds, own.foreseen = worker.measure(), worker.foreseen
        own.worker = None


def measure_compile_seconds() -> float:
    """Return the wall seconds spent so far compiling functions, or loading cached code.

    They are those of the calling thread and of threads that work for it.
    """
    return _clock().measure()


def run_seconds() -> float:
    """Return the seconds of a clock that stops while functions are compiled.

    The clock is that of the calling thread. Only differences are meaningful.
    """
    return time.perf_counter() - measure_compile_seconds()


def is_compiled(kernel: Callable[..., Any]) -> bool:
    """Return True if a function has been compiled for some argument types.

    Either this process has compiled it, or a file of its code is in the cache, perhaps of
    another processor.

    Parameters
    ----------
    kernel : callable
        Function decorated by this module.
    """
    dispatcher: Any = kernel
    cache = dispatcher._cache
    return bool(dispatcher.signatures) or (isinstance(cache, _Cache) and cache._cache_file.exist)


class NotCompiled(Exception):
    """Error in place of compiling a function without time left."""


_UNTIL: ContextVar[float] = ContextVar("_UNTIL", default=float("inf"))
"""Value of `seconds_foreseen` up to which functions are compiled."""
_ANNOUNCED: ContextVar[Callable[[float], object]] = ContextVar(
    "_ANNOUNCED", default=lambda seconds: None
)
"""Callback before a function is compiled, called with the expected seconds."""


@contextmanager
def compiling_within(seconds: float) -> Iterator[None]:
    """Raise `NotCompiled` in the `with` block if compiling would exceed a time limit.

    A function is not compiled if that would take longer than the remaining seconds.
    Cached code is loaded in any case.

    Parameters
    ----------
    seconds : float
        Limit of the expected seconds, not measured ones, so that the outcome depends on no
        clock; inf for no limit.
    """
    token = _UNTIL.set(seconds_foreseen() + seconds)
    try:
        yield
    finally:
        _UNTIL.reset(token)


@contextmanager
def compiling_announced(tell: Callable[[float], object]) -> Iterator[None]:
    """Announce every function that is about to be compiled in the `with` block.

    Parameters
    ----------
    tell : callable
        Function called with the approximate seconds of the compilation.
    """
    token = _ANNOUNCED.set(tell)
    try:
        yield
    finally:
        _ANNOUNCED.reset(token)


def seconds_foreseen() -> float:
    """Return the expected CPU seconds of all functions compiled so far.

    The functions are those of the calling thread and of threads that work for it.
    """
    return _clock().foreseen


def seconds_to_compile(kernel: Callable[..., Any]) -> float:
    """Return the approximate CPU seconds of compiling a function and its callees.

    The result is 0 if the function is compiled for some argument types.

    Parameters
    ----------
    kernel : callable
        Function decorated by this module.
    """
    return 0.0 if is_compiled(kernel) else _seconds_anew(kernel)


def _seconds_anew(kernel: Any) -> float:
    """Return the approximate CPU seconds to compile a function and uncompiled callees."""
    return SECONDS_PER_BYTE * _size(kernel, is_compiled)


class _Guard(event.Listener):
    """Listener to numba's compilations of functions of these decorators.

    numba compiles functions without cached code. The listener ignores callees that are
    compiled for another function, and functions of numba's own decorators.
    """

    def on_start(self, started: Any) -> None:
        clock, kernel = _clock(), started.data["dispatcher"]
        if not hasattr(kernel, "is_guarded"):
            return
        # Count also if NotCompiled is raised: numba calls `on_end` then, too.
        clock.compiling += 1
        if clock.compiling == 1:
            seconds = _seconds_anew(kernel)
            if clock.foreseen + seconds > _UNTIL.get():
                raise NotCompiled(
                    f"{kernel.py_func.__qualname__} takes about {seconds:.1f} s to compile, "
                    f"for which there is no time left"
                )
            clock.foreseen += seconds
            LOG.info("compiling %s, about %.1f s", kernel.py_func.__qualname__, seconds)
            _ANNOUNCED.get()(seconds)

    def on_end(self, ended: Any) -> None:
        if hasattr(ended.data["dispatcher"], "is_guarded"):
            _clock().compiling -= 1


event.register("numba:compile", _Guard())  # type: ignore[no-untyped-call]


def _timed(compile: Callable[P, R]) -> Callable[P, R]:
    """Return `compile` with its time added to the clock of the thread.

    Compilation within another compilation counts once.
    """

    @functools.wraps(compile)
    def timed(*arguments: P.args, **options: P.kwargs) -> R:
        clock = _clock()
        if not clock.depth:
            clock.since = time.perf_counter()
        clock.depth += 1
        try:
            return compile(*arguments, **options)
        finally:
            # First the seconds: another thread that reads them between sees too many.
            if clock.depth == 1:
                clock.seconds += time.perf_counter() - clock.since
            clock.depth -= 1

    return timed


def _uncollected(compile: Callable[P, R]) -> Callable[P, R]:
    """Return `compile` without garbage collection while it runs.

    The collector would take a sixth of the time: most objects of the compiler live to
    its end.
    """

    @functools.wraps(compile)
    def uncollected(*arguments: P.args, **options: P.kwargs) -> R:
        if not gc.isenabled():
            return compile(*arguments, **options)
        gc.disable()
        try:
            return compile(*arguments, **options)
        finally:
            gc.enable()

    return uncollected


@functools.cache
def cache_directory() -> Path | None:
    """Return the directory of these sources' compiled functions; None if not writable.

    Raises
    ------
    PermissionError
        If the directory belongs to another user, or other users can write to it and
        that cannot be changed.
    """
    # Path.home() fails for a user without a home directory.
    try:
        root = cache_root()
    except RuntimeError:
        return None
    directory = root / f"kernels-{_digest_of_sources()}"
    if not (_is_made(root) and _is_made(directory)):
        return None
    try:
        with tempfile.TemporaryFile(dir=directory):
            return directory
    except OSError:
        return None


def _is_made(folder: Path) -> bool:
    """Return True if a folder exists or can be made.

    No other user can put files into it.

    Raises
    ------
    PermissionError
        If another user can.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return False
    _keep_to_ourselves(folder)
    return True


def _keep_to_ourselves(folder: Path) -> None:
    """Remove the write permission of other users from the package's folder.

    Raises
    ------
    PermissionError
        If that fails, or the folder belongs to another user.
    """
    if not hasattr(os, "getuid"):
        return
    status = folder.stat()
    advice = "name another folder with the environment variable NUMBA_CACHE_DIR"
    subject = f"the cache of compiled functions {folder}"
    if status.st_uid != os.getuid():
        owner = f"belongs to user {status.st_uid}, not to user {os.getuid()}"
        raise PermissionError(f"{subject} {owner}; {advice}")
    of_others = stat.S_IWGRP | stat.S_IWOTH
    if status.st_mode & of_others:
        with suppress(OSError):
            folder.chmod(stat.S_IMODE(status.st_mode) & ~of_others)
    if folder.stat().st_mode & of_others:
        raise PermissionError(
            f"{subject} can be written by other users; chmod go-w {folder}, or {advice}"
        )


def cache_root() -> Path:
    """Return the folder of all that the package stores for a user.

    It is below NUMBA_CACHE_DIR or XDG_CACHE_HOME if they are set, else below ~/.cache.

    Raises
    ------
    RuntimeError
        If the user has no home directory.
    """
    chosen = config.CACHE_DIR or os.environ.get("XDG_CACHE_HOME")
    return Path(chosen or Path.home() / ".cache") / "equimargin"


def _digest_of_sources() -> str:
    digest = hashlib.sha256()
    for folder in _KERNEL_FOLDERS:
        for source in sorted(folder.rglob("*.py")):
            content = source.read_bytes()
            digest.update(
                f"{folder.name}/{source.relative_to(folder).as_posix()} {len(content)}\n".encode()
            )
            digest.update(content)
    return digest.hexdigest()[:16]
