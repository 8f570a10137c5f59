"""Runner of all campaigns: draws examples by a seed, tries and counts them.

A campaign is a module with a `CAMPAIGN`, which has checks. A check draws examples, and
returns complaints about each; the seed, the index of the check and the number of the
example determine an example.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from campaigns.shrunk import essence, script, shrunk
from equimargin.formulations.problem import AnyProblem

FOLDER = Path("build/nightly")
"""Folder of scripts that reproduce complaints, and of the names of running examples."""
HANG_SECONDS = 300.0
"""CPU time limit of an example, unless its check has another."""
DEADLOCK_SECONDS = 600.0
"""Wall time, beyond twice the limit of CPU time, until the process is ended, in seconds.

Code that waits takes no CPU time.
"""
SHOWN = 20
"""Maximum number of complaints shown per check."""
ENOUGH = 100
"""Minimum number of examples for a complaint about the share of some outcome."""


class At(NamedTuple):
    """Address of an example: the seed, the index of its check, and its number there."""

    seed: int
    place: int
    number: int

    def rng(self, *more: int) -> np.random.Generator:
        """Return the generator seeded by these numbers and further ones."""
        return np.random.default_rng([*self, *more])


@dataclass
class Trial:
    """Result of an example.

    Attributes
    ----------
    said : list of str
        Complaints, as text.
    counts : Counter
        Words that are counted over all examples.
    worst : dict
        Figures by name; the maximum over all examples is shown.
    scripts : dict
        Scripts that reproduce complaints, by complaint; by default made from the
        problem.
    kept : object
        Data for `Check.lines`.
    seconds : float
        CPU time.
    """

    said: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    worst: dict[str, float] = field(default_factory=dict)
    scripts: dict[str, str] = field(default_factory=dict)
    kept: Any = None
    seconds: float = 0.0


@dataclass(frozen=True)
class Check:
    """Check of examples.

    Attributes
    ----------
    name : str
        Name in the table.
    examine, draw : callable
        Functions that try an example, and that make one, by default a random generator.
    count : callable
        Map from the number on the command line to the number of examples.
    limit : float
        CPU time limit of an example, in seconds.
    problem : callable
        Map from an example to its problem; by default the example is the problem.
    lines, wrong : callable
        Maps from all results to lines above the row of the table, and to complaints.
    shown : tuple of str
        Python lines that show a complaint about `problem`; by default they run the
        check.
    """

    name: str
    examine: Callable[[Any, At], Trial]
    draw: Callable[[At], Any] = At.rng
    count: Callable[[int], int] = int
    limit: float = HANG_SECONDS
    problem: Callable[[Any], Any] = lambda example: example
    lines: Callable[[Sequence[Trial]], Iterable[str]] = lambda trials: ()
    wrong: Callable[[Sequence[Trial]], Iterable[str]] = lambda trials: ()
    shown: tuple[str, ...] = ()


def once(examples: int) -> int:
    """Return the number of examples of a check with one example."""
    return min(examples, 1)


def by_sentence(
    subjects: dict[str, Callable[[np.random.Generator], str]], uncounted: str = ""
) -> Iterator[Check]:
    """Yield checks of functions that map a random generator to a complaint or "".

    The text `uncounted` is no complaint, and is counted.
    """
    for name, subject in subjects.items():

        def examine(
            rng: np.random.Generator,
            at: At,
            subject: Callable[[np.random.Generator], str] = subject,
        ) -> Trial:
            said = subject(rng)
            return Trial(
                [said] if said and said != uncounted else [],
                Counter([said] if said and said == uncounted else []),
            )

        yield Check(name, examine)


def at_most(share: float, word: str, trials: Sequence[Trial]) -> Iterator[str]:
    """Yield a complaint if a word is counted for more than a share of the examples."""
    count = sum(trial.counts[word] > 0 for trial in trials)
    if count > share * len(trials) and len(trials) >= ENOUGH:
        yield f"{count} of {len(trials)} are {word}, more than {share:.0%}"


class Hang(BaseException):
    """Excess of an example's time limit, which no `except Exception` catches."""


@contextmanager
def watched(seconds: float) -> Iterator[None]:
    """Raise a Hang after the given seconds of CPU time."""

    def hang(*_: Any) -> None:
        raise Hang(f"no end after {seconds:g} s")

    handler, started = signal.signal(signal.SIGPROF, hang), time.process_time()
    # The signal repeats, as a callback of native code may lose the exception.
    before = signal.setitimer(signal.ITIMER_PROF, seconds, seconds)
    try:
        yield
    finally:
        # The time of this block counts against an outer limit; its signal is raised now
        # if no time is left.
        left = before[0] - (time.process_time() - started)
        overdue = before[0] > 0 and left <= 0
        signal.setitimer(signal.ITIMER_PROF, before[1] if overdue else max(left, 0.0), before[1])
        signal.signal(signal.SIGPROF, handler)
        if overdue:
            signal.raise_signal(signal.SIGPROF)


def tried(check: Check, at: At, draw: Callable[[At], Any] | None = None) -> Trial:
    """Draw an example and try it within its limits; an exception is a complaint."""
    running, started = FOLDER / f"running-{os.getpid()}", time.process_time()
    running.parent.mkdir(parents=True, exist_ok=True)
    # The file remains, with the example, if the process has to be ended.
    running.write_text(f"{check.name} {[*at]}\n", encoding="utf-8")
    faulthandler.dump_traceback_later(
        2 * check.limit + DEADLOCK_SECONDS, exit=True, file=sys.__stderr__ or sys.stderr
    )
    try:
        with watched(check.limit):
            trial = check.examine((draw or check.draw)(at), at)
    # An exception in one example must not end the run.
    except (Exception, Hang) as error:
        trial = Trial([f"{type(error).__name__}: {error}"])
    finally:
        faulthandler.cancel_dump_traceback_later()
    trial.seconds = time.process_time() - started
    running.unlink(missing_ok=True)
    return trial


say_at_once = partial(print, flush=True)
"""Print a line, also where the output is a file."""


@dataclass(frozen=True)
class Campaign:
    """Checks, and their options.

    Attributes
    ----------
    module : str
        Name of the module.
    about : str or None
        Docstring of the module.
    checks : callable
        Factory of the checks, by the number of examples on the command line.
    examples, shared : int, bool
        Default number of examples, per check or in total, and True if in total.
    processes : int
        Default number of processes for examples.
    unit : str
        Name of the option for the number of examples.
    start : callable
        Function that compiles kernels before any example is timed.
    """

    module: str
    about: str | None
    checks: Callable[[int], Iterable[Check]]
    examples: int
    shared: bool = False
    processes: int = 1
    unit: str = "examples"
    start: Callable[[], object] = lambda: None

    @property
    def name(self) -> str:
        """Name on the command line."""
        return self.module.removeprefix("campaigns.")

    def main(
        self, arguments: Sequence[str] | None = None, say: Callable[[str], None] = say_at_once
    ) -> int:
        """Run the campaign from a shell; return the exit status, 1 after a complaint."""
        parser = argparse.ArgumentParser(
            prog=f"campaigns {self.name}",
            description=self.about,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument(
            f"--{self.unit}",
            dest="examples",
            type=int,
            default=self.examples,
            help="over all checks" if self.shared else "of each check",
        )
        parser.add_argument("--processes", type=int, default=self.processes)
        parser.add_argument(
            "part", nargs="*", help="parts of the names of the checks that are run; all by default"
        )
        asked = parser.parse_args(arguments)
        if asked.examples < 1:
            parser.error(f"--{self.unit} must be at least 1, not {asked.examples}")
        self.start()
        started, failures, examples, any_check = time.perf_counter(), 0, 0, False
        for check, at, count in self._shares(asked):
            any_check = True
            if not count:
                continue
            examples += count
            failures += self._run(check, at, count, asked.processes, say)
        if not any_check:
            parser.error(f"no check has a name that contains {' or '.join(asked.part)}")
        say(
            f"{examples} examples, {failures} failures, {time.perf_counter() - started:.0f} "
            f"s, seed {asked.seed}"
        )
        return int(failures > 0)

    def _shares(self, asked: argparse.Namespace) -> Iterator[tuple[Check, At, int]]:
        """Yield the chosen checks, the address of the first example of each, and their number."""
        named = (
            each
            for each in enumerate(self.checks(asked.examples))
            if not asked.part or any(part in each[1].name for part in asked.part)
        )
        every = list(named) if self.shared else named
        share, rest = (
            divmod(asked.examples, len(every))
            if isinstance(every, list) and every
            else (asked.examples, 0)
        )
        for k, (place, check) in enumerate(every):
            yield check, At(asked.seed, place, 0), check.count(share + (k < rest))

    def _run(
        self, check: Check, first: At, count: int, processes: int, say: Callable[[str], None]
    ) -> int:
        """Try all examples of a check and print its lines; return the number of failures."""
        addresses = [first._replace(number=number) for number in range(count)]
        trials, kinds = [], Counter[str]()
        for at, trial in zip(addresses, self._tried(check, addresses, processes), strict=True):
            trials.append(trial)
            for sentence in trial.said:
                kinds[essence(sentence)] += 1
                if kinds.total() <= SHOWN:
                    say(f"  ! {check.name} {[*at]}: {sentence}")
                if kinds[essence(sentence)] == 1 and len(kinds) <= SHOWN:
                    script = trial.scripts.get(sentence, "")
                    say(f"    {self.written(check, at, sentence, script, f'-{len(kinds)}')}")
        for line in check.lines(trials):
            say(f"  {line}")
        together = list(check.wrong(trials))
        for sentence in together:
            say(f"  ! {check.name}: {sentence}")
        say(row(check.name, trials))
        return sum(bool(trial.said) for trial in trials) + len(together)

    def _tried(self, check: Check, addresses: list[At], processes: int) -> Iterator[Trial]:
        """Yield the trial of each example, in order."""
        if processes == 1 or len(addresses) == 1:
            yield from map(partial(tried, check), addresses)
            return
        from joblib import Parallel, delayed

        yield from Parallel(n_jobs=processes, return_as="generator", batch_size=1)(
            delayed(tried)(check, at) for at in addresses
        )

    def written(self, check: Check, at: At, sentence: str, own: str = "", kind: str = "") -> str:
        """Write scripts of a complaint, and return their names.

        One has the problem of the example, the other a minimised problem.
        """
        file = (
            FOLDER / f"{self.name}-{check.name.replace(' ', '_').replace('/', '_')}"
            f"-{at.seed}-{at.number}{kind}.py"
        )
        file.parent.mkdir(parents=True, exist_ok=True)
        shown = check.shown or (
            "from campaigns.runner import again",
            f"again({self.name!r}, {check.name!r}, problem, {[*at]})",
        )
        try:
            with watched(check.limit):
                problem = check.problem(check.draw(at))
        except (Exception, Hang) as refused:
            problem = refused
        is_problem = isinstance(problem, AnyProblem)
        if own or is_problem:
            file.write_text(own or script(problem, [sentence], shown), encoding="utf-8")
        if not is_problem:
            return f"script: {file}" if own else "no script: the seed makes it again"

        def fails(each: AnyProblem) -> Sequence[str]:
            return tried(check, at, lambda _: each).said

        small = shrunk(problem, fails, [sentence], file, shown)
        return f"script: {file}; small: {small}"


def row(name: str, trials: Sequence[Trial]) -> str:
    """Return the row of a check in the table."""
    counted, worst, wrong = (
        Counter[str](),
        dict[str, float](),
        sum(bool(trial.said) for trial in trials),
    )
    for trial in trials:
        counted += trial.counts
        worst |= {word: max(value, worst.get(word, value)) for word, value in trial.worst.items()}
    words = [f"{count} {word}" for word, count in counted.most_common()] + [
        f"at most {value:.2g} {word}" for word, value in worst.items()
    ]
    seconds = sum(trial.seconds for trial in trials)
    return (
        f"{name:<24} {len(trials):>5} examples, {wrong} wrong, {seconds:.0f} s of CPU "
        f"time{': ' * bool(words)}{', '.join(words)}"
    )


def campaign_of(name: str) -> Campaign:
    """Return the campaign of a module."""
    try:
        found = getattr(import_module(f"campaigns.{name}"), "CAMPAIGN", None)
    except ModuleNotFoundError as missing:
        if not f"campaigns.{name}".startswith(str(missing.name)):
            raise
        found = None
    if not isinstance(found, Campaign):
        raise SystemExit(
            f"there is no campaign {name!r}; those there are in tests/campaigns say how "
            f"they are run"
        )
    return found


def again(campaign: str, name: str, problem: Any, at: Sequence[int]) -> None:
    """Print the complaints of a check about a problem, tried with a given address."""
    check = next(check for check in campaign_of(campaign).checks(1) if check.name == name)
    print(*tried(check, At(*at), lambda _: problem).said, sep="\n")
