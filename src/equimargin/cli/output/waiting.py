"""Bar on a terminal while a command computes and prints nothing."""

from __future__ import annotations

import logging
import math
import sys
import time
from threading import Lock, Timer
from types import TracebackType
from typing import Any, Self

from equimargin.report.words import duration

SECONDS_UNTIL_SHOWN = 2.0
"""Seconds after which a bar is shown; shorter waits need none."""
DRAWN_PER_SECOND = 5
"""Times per second of drawing a bar; drawing takes time from solvers."""
CHECKS = logging.getLogger("equimargin.solvers.progress")
"""Logger of every check of a gap."""


def is_drawn(stream: Any) -> bool:
    """Return True if a bar or table may be redrawn on a stream: a terminal without logs.

    Parameters
    ----------
    stream : file
        Standard output or standard error.
    """
    redrawn = stream is not None and stream.isatty()
    return redrawn and not logging.getLogger("equimargin").isEnabledFor(logging.INFO)


class WaitingBar:
    """Bar on standard error, if that is a terminal, from SECONDS_UNTIL_SHOWN on.

    It has the time so far and, if the share of the work that is done is known, the time
    left. Nothing may be printed within the context, as another thread draws.

    Parameters
    ----------
    doing : str
        Present work, as a phrase.
    gaps : bool, default False
        True to show the gap of the running solver. The share of its work is that of the
        decades of the gap, as solvers converge about linearly.
    """

    def __init__(self, doing: str, gaps: bool = False) -> None:
        self.doing = doing
        self._bar: Any = None
        self._ended, self._lock = False, Lock()
        self._share: float | None = None
        # Time and share at the first share of the present work.
        self._first = 0.0, 0.0
        self._begun = time.monotonic()
        self._timer = Timer(SECONDS_UNTIL_SHOWN, self._draw)
        self._timer.daemon = True
        self._gaps = _Gaps(self) if gaps else None

    def __enter__(self) -> Self:
        if is_drawn(sys.stderr):
            self._timer.start()
            if self._gaps is not None:
                CHECKS.addHandler(self._gaps)
                CHECKS.setLevel(logging.DEBUG)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._timer.ident is None:
            return
        if self._gaps is not None:
            CHECKS.removeHandler(self._gaps)
            CHECKS.setLevel(logging.NOTSET)
        self._timer.cancel()
        with self._lock:
            self._ended = True
            if self._bar is not None:
                self._bar.stop()

    def show(self, doing: str, share: float | None = None) -> None:
        """Set the phrase, and the share of the work that is done.

        Parameters
        ----------
        doing : str
            Present work, as a phrase.
        share : float or None
            Share from 0 to 1; None if it is unknown.
        """
        self.doing, now = doing, time.monotonic()
        if share is not None and (self._share is None or share < self._share):
            self._first = now, share
        self._share = share
        if self._bar is not None:
            self._update()

    def _update(self) -> None:
        task = self._bar.tasks[0]
        task.description = f"{self.doing}{self._left()}"
        # A task without a total has a bar that only moves.
        task.total, task.completed = (None, 0.0) if self._share is None else (1.0, self._share)

    def _left(self) -> str:
        """Return the time left as text; empty if it is unknown."""
        since, share = self._first
        if self._share is None or not share < self._share < 1.0:
            return ""
        elapsed = time.monotonic() - since
        return f", about {duration(elapsed * (1.0 - self._share) / (self._share - share))} left"

    def _draw(self) -> None:
        """Import and start the bar, in the thread of the timer."""
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.elapsed:.0f} s"),
            console=Console(stderr=True),
            transient=True,
            # Another thread must not replace standard streams, which contexts may replace, too.
            redirect_stdout=False,
            redirect_stderr=False,
            refresh_per_second=DRAWN_PER_SECOND,
        )
        bar.add_task(self.doing, total=None)
        bar.tasks[0].start_time = self._begun
        # The context may have ended while rich was imported.
        with self._lock:
            if not self._ended:
                bar.start()
                self._bar = bar
                self._update()


class _Gaps(logging.Handler):
    """Handler of the checks of gaps, which shows the last one in a bar."""

    def __init__(self, bar: WaitingBar) -> None:
        super().__init__(logging.DEBUG)
        self._bar, self._otherwise = bar, bar.doing
        self._first = self._least = math.inf
        self._run: tuple[str, int] = "", 0

    def emit(self, record: logging.LogRecord) -> None:
        check = record.args
        if not isinstance(check, dict):
            return
        gap, tol, run = check["gap"], check["tol"], (check["solver"], check["iterations"])
        if run[0] != self._run[0] or run[1] < self._run[1]:
            # Another run has begun.
            self._first = self._least = math.inf
        self._run = run
        self._first = gap if math.isinf(self._first) else self._first
        self._least = min(self._least, gap)
        if self._least <= tol:
            self._bar.show(self._otherwise)
            return
        share = (
            math.log(self._first / self._least) / math.log(self._first / tol)
            if self._least < self._first < math.inf
            else 0.0
        )
        self._bar.show(f"{run[0]}, this run: relative gap {self._least:.1e} of {tol:.2g}", share)
