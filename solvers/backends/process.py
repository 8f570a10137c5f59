"""Process of the backends, the only one that a crash or a hang of a backend ends."""

from __future__ import annotations

import sys
import time
from concurrent.futures import BrokenExecutor
from threading import TIMEOUT_MAX, Lock
from typing import Any

from joblib.externals.loky.process_executor import ProcessPoolExecutor

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.programs.standard_form import StandardForm
from equimargin.solvers.backends.form import (
    GRACE_SECONDS,
    OVERTIME_RATIO,
    run_backend,
    took_too_long,
)
from equimargin.solvers.backends.installed import find_backend, installed_backends

START_SECONDS = 120.0
"""Time limit of the start of the process, which imports all solvers, in seconds."""


class SolverProcess:
    """Process that runs one backend after the other.

    It is started when it is first needed, and anew after a backend has ended it or has
    exceeded its time limit, or after the path of modules has changed.
    """

    def __init__(self) -> None:
        self._executor: Any = None
        self._path: list[str] = []
        self._lock = Lock()

    def solve_form(
        self, form: StandardForm, name: str, seconds: float, tol: float
    ) -> tuple[Array, Array | None, float]:
        """Return a backend's point and multipliers of the rows, and its wall seconds.

        Parameters
        ----------
        form, name, seconds, tol : object
            As in `solve_form`.

        Raises
        ------
        ValueError
            If no such backend is installed, it returns no point, ends the process, or
            time is out.
        """
        find_backend(name)
        with self._lock:
            try:
                self._start()
                work = self._executor.submit(_solve, form, name, seconds, tol)
                # The process checks the limit itself, unless a library blocks its interpreter.
                limit = min(OVERTIME_RATIO * seconds + 2 * GRACE_SECONDS, TIMEOUT_MAX)
                result: tuple[Array, Array | None, float] = work.result(timeout=limit)
            except TimeoutError:
                self._stop()
                raise took_too_long(name, seconds) from None
            except BrokenExecutor:
                self._stop()
                raise ValueError(f"{name} ended the process in which it ran") from None
            except KeyboardInterrupt:
                self._stop()
                raise
        return result

    def _start(self) -> None:
        """Start the process, unless it runs with the present path of modules."""
        if self._executor is not None and self._path != sys.path:
            self._stop()
        if self._executor is None:
            self._executor, self._path = ProcessPoolExecutor(max_workers=1), [*sys.path]
            self._executor.submit(installed_backends).result(timeout=START_SECONDS)

    def _stop(self) -> None:
        """End the process."""
        if self._executor is not None:
            self._executor.shutdown(wait=False, kill_workers=True)
            self._executor = None


PROCESS = SolverProcess()
"""Process of all calls of `judge`; it ends with Python."""


def _solve(
    form: StandardForm, name: str, seconds: float, tol: float
) -> tuple[Array, Array | None, float]:
    """Run a backend in the process."""
    started = time.perf_counter()
    x, z = run_backend(find_backend(name), form, seconds, tol)
    return x, z, time.perf_counter() - started
