"""Random mutants of sources on which proofs rely; the tests must detect them.

    python -m campaigns mutation --seed 1 --sample 25 checker referee

The mutants are drawn by a seed from all those of Cosmic Ray. Each mutant changes one
place of a source in the memory of a child process; no file is changed. In the child the
tests of its subpackage run, the fastest first, until one fails. Compiled functions of
the subpackage run there as Python, because their machine code is cached by a digest of
the files, and would not be the mutant's. `survivors.toml` has the mutants that no test
detects, with the argument why none is needed. Exit status 1 if another mutant survives,
or if the tests of a subpackage fail without any mutant.
"""

from __future__ import annotations

import ast
import inspect
import json
import math
import os
import random
import resource
import sys
import tomllib
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

import cosmic_ray.plugins
import numba
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code

from campaigns.runner import Campaign, Check, Trial, once
from campaigns.statements import statements_by_line
from places import ALL_TESTS, ROOT

SURVIVORS = Path(__file__).with_name("survivors.toml")
"""Mutants that no test detects, each with the argument why none is needed."""
FOLDER = ROOT / "build" / "mutation"
"""Folder for the test output of the last mutant of each subpackage."""
UNHEARD = "ignore::pytest.PytestAssertRewriteWarning"
"""Warning of pytest about an earlier import of hypothesis, which every child inherits."""
CLOCK = 3
"""Time limit of a mutant's tests, relative to the CPU time without a mutant.

A mutant may loop indefinitely.
"""
LIMIT_SECONDS = 3600.0
"""CPU seconds to draw and try the mutants of a subpackage; a child has its own limit."""
MOST_SECONDS = 900
"""Maximum CPU seconds of the tests of a subpackage without a mutant."""
LOADED_FIRST = (
    "pytest",
    "hypothesis",
    "hypothesis.extra.numpy",
    "scipy.sparse",
    "scipy.optimize",
    "numba",
    "cvxpy",
    "sklearn.svm",
)
"""Third-party packages of every child, which this process loads once."""


@dataclass(frozen=True)
class Room:
    """Sources that are mutated, and their tests.

    Parameters
    ----------
    name : str
        Name of its log.
    sources : tuple[str, ...]
        Files, or folders of them.
    tests : tuple[str, ...]
        Tests that must detect the mutants.
    slow : tuple[str, ...]
        Excluded tests: with compiled functions as Python they take minutes.
    """

    name: str
    sources: tuple[str, ...]
    tests: tuple[str, ...]
    slow: tuple[str, ...] = ()


ROOMS = {
    "checker": Room(
        "checker",
        ("proofs/checker.py",),
        tuple(
            f"proofs/certificates/test_{name}.py"
            for name in ("checker", "certificate", "program_certificate", "path_certificate")
        ),
    ),
    "referee": Room("referee", ("proofs/referee",), ("proofs/test_referee.py",)),
    "bounds": Room("bounds", ("formulations/bounds",), ("formulations/bounds",)),
    "rows": Room(
        "rows",
        ("formulations/rows",),
        ("formulations/test_labelled_pairs.py", "formulations/test_problems.py"),
        tuple(
            f"formulations/test_labelled_pairs.py::test_{name}"
            for name in ("pairs_that_must_be_met_are_never_listed", "more_pairs_than_can_be_listed")
        ),
    ),
}
"""Tested subpackages by name."""


class FastestFirst:
    """Pytest plugin that sorts the tests of a subpackage by CPU time without a mutant.

    The times are written by a run without a mutant.

    Parameters
    ----------
    file : Path
        File of the times.
    noted : bool
        True if this run writes them.
    """

    def __init__(self, file: Path, noted: bool) -> None:
        self.file, self.noted = file, noted
        self.seconds: dict[str, float] = (
            {} if noted else json.loads(file.read_text(encoding="utf-8"))
        )

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Sort the tests by time; tests of unknown time come first."""
        items.sort(key=lambda item: self.seconds.get(item.nodeid, 0.0))

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Add the time of a phase of a test: set-up, call or teardown."""
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration

    def pytest_sessionfinish(self) -> None:
        """Write the times."""
        if self.noted:
            self.file.write_text(json.dumps(self.seconds), encoding="utf-8")


IN_PYTHON = {"larger": max, "smaller": min}
"""Python substitutes of processor instructions, by their names in the sources.

They are used where compiled functions run as Python.
"""


@dataclass(frozen=True)
class Mutant:
    """Source with one place changed.

    `line` has the number and the changed text of the first line that differs.
    """

    file: str
    text: str
    number: int
    line: str

    def __str__(self) -> str:
        return f"{self.file}:{self.number}: {self.line}"

    @property
    def place(self) -> str:
        """File and changed statement, without the line number."""
        return f"{self.file}: {self.line}"


def drawn(room: Room, sample: int, seed: int) -> tuple[list[Mutant], int]:
    """Draw mutants of a subpackage by a seed; return them and the number of all places.

    The places are those that Cosmic Ray would change, annotations among them.
    """
    texts = {
        file: file.read_text(encoding="utf-8")
        for source in room.sources
        for file in _files(ROOT / source)
    }
    operators = [
        (name, cosmic_ray.plugins.get_operator(name))
        for name in sorted(cosmic_ray.plugins.operator_names())
    ]
    plain = [made() for _, made in operators if not made.arguments()]
    places = [
        (file, operator, at)
        for file, text in texts.items()
        for operator in plain
        for at in range(_count(text, operator))
    ]
    random.Random(seed).shuffle(places)
    found: list[Mutant] = []
    for file, operator, at in places:
        changed = mutate_code(texts[file], operator, at)
        if (
            len(found) < sample
            and changed is not None
            and _computes(changed) != _computes(texts[file])
        ):
            found.append(_mutant(file.relative_to(ROOT).as_posix(), texts[file], changed))
        if len(found) == sample:
            break
    return found, len(places)


def _files(source: Path) -> list[Path]:
    return [source] if source.is_file() else sorted(source.glob("*.py"))


@cache
def _nodes(text: str) -> list[Any]:
    return list(ast_nodes(get_ast(text)))


def _count(text: str, operator: Any) -> int:
    """Return the number of places of a source that an operator changes."""
    return sum(len(list(operator.mutation_positions(node))) for node in _nodes(text))


def _mutant(file: str, text: str, changed: str) -> Mutant:
    lines = zip(text.splitlines(), changed.splitlines(), strict=False)
    number = next(number for number, (before, line) in enumerate(lines, 1) if before != line)
    return Mutant(file, changed, number, statements_by_line(changed)[number])


def _computes(text: str) -> str:
    """Return a source without annotations and standalone strings; "" if it is no Python."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return ""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
        if isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
    return ast.dump(tree)


def _see(mutant: Mutant) -> None:
    """Make this process import the text of a mutant in place of its file."""
    of_file = SourceFileLoader.get_code

    def get_code(self: SourceFileLoader, fullname: str) -> CodeType | None:
        if Path(self.path).resolve() == ROOT / mutant.file:
            return compile(mutant.text, self.path, "exec")
        return of_file(self, fullname)

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign,assignment]


def _uncompiled(room: Room) -> None:
    """Make this process run the compiled functions of a subpackage as Python."""
    sources = {file for source in room.sources for file in _files(ROOT / source)}
    of_numba = numba.njit

    def njit(*given: Any, **options: Any) -> Any:
        compiled = of_numba(*given, **options)

        def decorated(kernel: Any) -> Any:
            if Path(inspect.getfile(kernel)).resolve() not in sources:
                return compiled(kernel)
            kernel.compile, kernel._compile_for_args, kernel.signatures = kernel, kernel, ["Python"]
            kernel.__globals__.update(
                {name: meant for name, meant in IN_PYTHON.items() if name in kernel.__globals__}
            )
            return kernel

        return compiled if given else decorated

    numba.njit = njit


def killed(room: Room, mutant: Mutant | None, seconds: int = MOST_SECONDS) -> tuple[bool, float]:
    """Return True if a mutant is detected, and the CPU seconds of the run.

    It is detected if a child process with the mutant has a failing test or exceeds the
    CPU time.
    """
    child = os.fork()
    if child:
        _, status, usage = os.wait4(child, 0)
        return status != 0, usage.ru_utime + usage.ru_stime
    status = 1
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        log = os.open(FOLDER / f"{room.name}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for stream in (sys.stdout, sys.stderr):
            os.dup2(log, stream.fileno())
        _uncompiled(room)
        if mutant is not None:
            _see(mutant)
        tests = [str(ROOT / "tests" / name) for name in room.tests]
        left_out = [f"--deselect=tests/{name}" for name in room.slow]
        fastest_first = FastestFirst(FOLDER / f"{room.name}.json", noted=mutant is None)
        options = ["-q", "-x", "-p", "no:cacheprovider", "-m", ALL_TESTS, "-W", UNHEARD]
        status = import_module("pytest").main(
            [*options, *left_out, *tests], plugins=[fastest_first]
        )
    # The import of a mutant may fail in any way.
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(int(status != 0))


def argued() -> dict[str, str]:
    """Return the arguments for survivors, by file and changed statement."""
    return {
        entry["mutant"]: entry["argument"]
        for entry in tomllib.loads(SURVIVORS.read_text(encoding="utf-8"))["survivor"]
    }


def examined(room: Room, sample: int, seed: int, at: object) -> Trial:
    """Return the number of detected mutants, and the survivors without an argument."""
    known = argued()
    fails, seconds = killed(room, None)
    if fails:
        return Trial(["its tests fail without any mutant"])
    tried, places = drawn(room, sample, seed)
    survivors = [
        mutant for mutant in tried if not killed(room, mutant, CLOCK * math.ceil(seconds))[0]
    ]
    counts = Counter({"killed": len(tried) - len(survivors), "places": places})
    counts.update(
        f"survives: {mutant} ({known[mutant.place]})"
        for mutant in survivors
        if mutant.place in known
    )
    return Trial(
        [
            f"survives WITHOUT AN ARGUMENT: {mutant}"
            for mutant in survivors
            if mutant.place not in known
        ],
        counts,
    )


def checks(sample: int) -> Iterator[Check]:
    """Yield the check of each subpackage."""
    os.environ["EQUIMARGIN_PROFILE"] = "faults"
    FOLDER.mkdir(parents=True, exist_ok=True)
    for package in LOADED_FIRST:
        import_module(package)
    for name, room in ROOMS.items():
        yield Check(name, partial(examined, room, sample), lambda at: at.seed, once, LIMIT_SECONDS)


CAMPAIGN = Campaign(__name__, __doc__, checks, 25, unit="sample")
