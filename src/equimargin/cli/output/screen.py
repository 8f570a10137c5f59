"""Progress output of `compare`: finished blocks and, in a terminal, unfinished ones."""

from __future__ import annotations

import io
import os
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from textwrap import fill
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from equimargin.cli.output.waiting import is_drawn
from equimargin.report.words import PAGE_COLUMNS

if TYPE_CHECKING:
    from equimargin.report.comparison import Comparison
    from equimargin.report.view import FamilyView

WIDE_COLUMNS = 150
"""Columns of the wide table if the width of the output is unknown."""
SLOW_UPDATE_SECONDS = 0.1
"""Seconds of an update from which the next ones are skipped for nine times as long."""
NARROWEST = 20
"""Minimum width in columns, however narrow a terminal reports to be."""


class Screen:
    """Output of a comparison to a terminal or a pipe.

    A terminal redraws the running families below the finished ones; a pipe appends
    lines.

    Parameters
    ----------
    wide : bool
        True to show families as wide tables.
    """

    def __init__(self, wide: bool) -> None:
        self.wide = wide
        self.terminal = is_drawn(sys.stdout)
        self.width = columns(WIDE_COLUMNS if wide else PAGE_COLUMNS)
        self.ascii = not _encodes("✓≈✗…")
        self.console = console(self.width)
        self._live: Any = None
        self._while_live = ExitStack()
        self._printed: set[int] = set()
        self._announced: set[str] = set()
        self._found: Comparison | None = None
        self._next_update = 0.0

    def __enter__(self) -> Self:
        if self.terminal:
            from rich.live import Live

            from equimargin.formulations.numeric.jit import compiling_announced

            # Only this thread draws: another one would move the cursor over lines that
            # are being printed.
            self._while_live.enter_context(unread_output_kept())
            self._live = self._while_live.enter_context(
                Live(console=self.console, auto_refresh=False, transient=True)
            )
            self._while_live.enter_context(compiling_announced(self._announce_compiling))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._while_live.close()

    def headline(self, text: str) -> None:
        """Print the interpretation of the data, wrapped to the width.

        Parameters
        ----------
        text : str
            Text of `headline` in `cli.options.posing`.
        """
        self._print([*self._style().wrapped(text, 0, 2), ""])

    def update(self, found: Comparison) -> None:
        """Print the families that are finished since the last call.

        A pipe also receives the first proof of an unfinished family. Slow updates, as of
        many pairs of classes, take a tenth of the time at most: others are skipped.

        Parameters
        ----------
        found : Comparison
            Comparison so far.
        """
        self._found, started = found, time.monotonic()
        if started < self._next_update:
            return
        for place, group in enumerate(found.view.groups):
            if not any(family.missing for family in group):
                self._group(place, group)
            elif self._live is None and not self.wide and len(group) == 1:
                self._announce(group[0], found.settings["tol"])
        if self._live is not None:
            self._live.update(self._at_work(found), refresh=True)
        now = time.monotonic()
        if now - started > SLOW_UPDATE_SECONDS:
            self._next_update = now + 9 * (now - started)

    def end(self, found: Comparison) -> None:
        """Print the remaining families and the closing lines.

        Parameters
        ----------
        found : Comparison
            Last comparison.
        """
        self._found = found
        for place, group in enumerate(found.view.groups):
            self._group(place, group)
        from equimargin.report.page import closing

        self._print(
            list(found.view.below_tables)
            if self.wide
            else closing(found.view, self._style(), found.votes)
        )

    def _group(self, place: int, group: Sequence[FamilyView]) -> None:
        """Print the problems of a family, once."""
        if place in self._printed:
            return
        self._printed.add(place)
        from equimargin.report.page import group_block, wide_table

        if not self.wide:
            self._print([*group_block(group, self._style()), ""])
            return
        for family in group:
            self.console.print(wide_table(family))
            self._print([*(f"  {line}" for line in family.details), ""])

    def _announce(self, family: FamilyView, tol: float) -> None:
        """Print one line on an optimum that is proven before all answers have run."""
        from equimargin.report.page import first_proof

        if family.title not in self._announced and family.judged.interval.relative_width <= tol:
            self._announced.add(family.title)
            self._print(first_proof(family, self._style()))

    def _announce_compiling(self, seconds: float) -> None:
        """Show that code is being compiled (once only), and for about how long."""
        if self._live is not None and self._found is not None:
            self._live.update(
                self._at_work(
                    self._found, f"compiling code of a solver, about {seconds:.1f} s, once"
                ),
                refresh=True,
            )

    def _at_work(self, found: Comparison, doing: str = "") -> Any:
        """Return the unfinished families and the progress, as a terminal shows them."""
        from rich.text import Text

        from equimargin.report.page import group_block

        lines: list[str] = []
        for group in found.view.groups:
            if any(family.missing for family in group) and not self.wide:
                lines += group_block(group, self._style())
        room = max(self.console.height - 3 - bool(doing), 1)
        lines[room:] = []
        lines += [doing[: self.width]] if doing else []
        how_far = (
            f"{found.done} of {found.total} answers, {found.seconds:.0f} s; Ctrl-C ends with "
            f"the results so far"
        )
        return Text("\n".join([*lines, how_far[: self.width]]))

    def _style(self) -> Any:
        from equimargin.report.page import Style, name_columns

        return Style(
            self.width, self.ascii, name_columns(self._found.families if self._found else ())
        )

    def _print(self, lines: list[str]) -> None:
        for line in lines:
            self.console.print(line, soft_wrap=True)
        self.console.file.flush()


@contextmanager
def unread_output_kept() -> Iterator[None]:
    """Let the terminal keep its pending output at Ctrl-C, within the context.

    By default it drops that output, and finished families are not printed again.
    """
    if sys.platform == "win32":
        yield
        return
    import termios

    try:
        out = sys.stdout.fileno()
        before, asking = termios.tcgetattr(out), os.tcgetpgrp(out) == os.getpgrp()
    except (OSError, termios.error):
        asking = False
    # A terminal stops a background process that changes its settings.
    if not asking:
        yield
        return
    termios.tcsetattr(out, termios.TCSANOW, [*before[:3], before[3] | termios.NOFLSH, *before[4:]])
    try:
        yield
    finally:
        termios.tcsetattr(out, termios.TCSANOW, before)


def keep_standard_output() -> None:
    """Keep Python's standard output, and discard what libraries write to its descriptor.

    HiGHS 1.16 prints a banner from C++ before its output can be switched off. Child
    processes inherit the descriptor, so that their libraries are silent, too.
    """
    out = sys.stdout
    if not isinstance(out, io.TextIOWrapper):
        return
    try:
        descriptor = out.fileno()
    # A stream without a descriptor is no file.
    except OSError:
        return
    out.flush()
    raw = io.FileIO(os.dup(descriptor), "w")
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), descriptor)
    sys.stdout = io.TextIOWrapper(
        raw if out.write_through else io.BufferedWriter(raw),
        encoding=out.encoding,
        errors=out.errors,
        line_buffering=out.line_buffering,
        write_through=out.write_through,
    )
    # `shutil.get_terminal_size` reads the width from `sys.__stdout__`.
    vars(sys)["__stdout__"] = sys.stdout


def columns(fallback: int) -> int:
    """Return the width of standard output, from the terminal or the variable COLUMNS.

    Parameters
    ----------
    fallback : int
        Width in columns if neither is known.

    Returns
    -------
    int
        Number of columns.
    """
    known = sys.stdout.isatty() or "COLUMNS" in os.environ
    return max(shutil.get_terminal_size((fallback, 24)).columns if known else fallback, NARROWEST)


def fitted(text: str) -> str:
    """Return a text with its lines wrapped to the width of a terminal; a pipe has none.

    Parameters
    ----------
    text : str
        Lines, whose continuations are indented by two columns more.
    """
    width = columns(sys.maxsize)
    return "\n".join(
        fill(
            line,
            width,
            subsequent_indent=" " * (len(line) - len(line.lstrip()) + 2),
            break_long_words=False,
            break_on_hyphens=False,
        )
        for line in text.splitlines()
    )


def console(width: int) -> Any:
    """Return a rich console on the present standard output.

    A missing reader raises BrokenPipeError, where rich itself would exit.

    Parameters
    ----------
    width : int
        Width in columns.

    Returns
    -------
    rich.console.Console
        Console.
    """
    from rich.console import Console

    class Output(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return Output(file=sys.stdout, width=width, highlight=False, markup=False, emoji=False)


def _encodes(text: str) -> bool:
    """Return True if standard output can show these characters."""
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
