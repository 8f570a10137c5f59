"""Process that fits with one package, on one processor, within a limit of memory.

    python worker.py PROCESSOR GIGABYTES

A crash ends this process alone. Each line of its input is a request in JSON. It is
answered by two lines: one as soon as the data are read and a small fit is done, and
then the CPU seconds and the package's report, or the reason of a failure, whose
traceback is on standard error. The model is written to a file. The caller watches the
time: a timer of the system in this process would make its clock of CPU time coarse.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from clock import Timed, in_turn, timed

from trust.fits import FITS, Fit, Model, Task, warned
from trust.instances import Array, Instance, gamma

WARM_UP_ROWS = 40
"""Points of either class in the first, small fit, in which kernels may be compiled."""
SHORT_SECONDS = 0.2
"""CPU seconds below which a fit is repeated, and the median counts."""


def task(instance: Instance, fit: dict[str, Any], small: bool = False) -> Task:
    """Return the problem for a package, or one of a few of its points."""
    X, y = instance.read()
    width = gamma(X) if instance.kernel == "rbf" else None
    if small:
        kept = np.concatenate([np.flatnonzero(y == sign)[:WARM_UP_ROWS] for sign in np.unique(y)])
        X, y = X[kept], y[kept]
    return Task(X, y, instance.C, instance.loss, width, fit["tolerance"], fit["options"])


def printed(run: Callable[[], Any]) -> tuple[Any, str]:
    """Return the result of a call, and what it and its libraries print, C or Python."""
    sys.stdout.flush()
    with tempfile.TemporaryFile() as file:
        before = os.dup(1)
        os.dup2(file.fileno(), 1)
        try:
            result = run()
        finally:
            sys.stdout.flush()
            ctypes.CDLL(None).fflush(None)  # the buffer of C's standard output
            os.dup2(before, 1)
            os.close(before)
        file.seek(0)
        return result, file.read().decode("utf-8", errors="replace")


def fitted(fit: Fit) -> tuple[Timed, Model]:
    """Fit, several times if that is short, and return the middle seconds and the model."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        first, text = printed(lambda: timed(fit.run))
    model = fit.read(first.result, text, warned(caught))
    if first.cpu >= SHORT_SECONDS:
        return first, model
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return printed(lambda: in_turn(fit.run))[0][0], model


def warm_up(request: dict[str, Any], warm: set[tuple[str, ...]]) -> None:
    """Fit a few points, unless this process has already fitted some of this kind of problem.

    `warm` are those kinds.
    """
    instance = Instance(**request["instance"])
    kind = (instance.problem, instance.data)
    if kind not in warm:
        # A fault is reported for the whole problem, if that fails, too.
        with suppress(Exception):
            fitted(FITS[request["fit"]](task(instance, request, small=True)))
        warm.add(kind)


def answer(request: dict[str, Any], fit: Fit) -> dict[str, Any]:
    """Fit and return the answer to a request."""
    took, model = fitted(fit)
    arrays: dict[str, Array] = {
        name: part for name in ("w", "beta") if (part := getattr(model, name)) is not None
    }
    np.savez(request["file"], b=np.array(model.b), **arrays)  # type: ignore[arg-type]
    return {
        "seconds": took.cpu,
        "wall": took.wall,
        "done": model.done,
        "claimed": model.claimed,
        "dual": model.dual,
    }


def failed(failure: Exception) -> dict[str, Any]:
    """Print a traceback, and return the first line of the error as the answer."""
    traceback.print_exception(failure)
    lines = str(failure).strip().splitlines() or [""]
    return {"failure": f"{type(failure).__name__}: {lines[0][:200]}"}


def main() -> None:
    """Serve requests until there are none."""
    processor, gigabytes = int(sys.argv[1]), float(sys.argv[2])
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {processor})
    resource.setrlimit(resource.RLIMIT_DATA, (int(gigabytes * 2**30),) * 2)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what packages print at other times is no answer
    warm: set[tuple[str, ...]] = set()
    for line in sys.stdin:
        request = json.loads(line)
        Path(request["file"]).unlink(missing_ok=True)
        warm_up(request, warm)
        try:
            fit = FITS[request["fit"]](task(Instance(**request["instance"]), request))
            print(json.dumps({"started": True}), file=answers, flush=True)
            reply = answer(request, fit)
        except Exception as failure:
            reply = failed(failure)
        print(json.dumps(reply), file=answers, flush=True)


if __name__ == "__main__":
    main()
