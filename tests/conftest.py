"""Setup of all tests: one thread per process, hypothesis profile, interrupts.

Tests of interrupts run in a process that receives SIGINT.
"""

import faulthandler
import os
import signal
from collections.abc import Iterator
from importlib.util import find_spec
from typing import NoReturn

# pytest-xdist sets COLUMNS, which would narrow the printed tables.
os.environ.pop("COLUMNS", None)
# The variables are read once, when numpy is imported: they must be set before.
for _library in (
    "OPENBLAS",
    "OMP",
    "MKL",
    "VECLIB_MAXIMUM",
):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import pytest
from hypothesis import Phase, settings

SECONDS_TO_END = 120
"""Seconds that pytest's main process may take to end after the last test."""

collect_ignore = [
    "brought.py"
]  # The module has no doctest, and a second import would register its families twice.
# These campaigns have no doctest, either, and need packages that are extras.
_OF_EXTRAS = {"atheris": "campaigns/fuzz/one.py", "cosmic_ray": "campaigns/mutation.py"}
collect_ignore += [file for package, file in _OF_EXTRAS.items() if find_spec(package) is None]

# No profile has a deadline: the first call of a compiled function includes compilation.
settings.register_profile("dev", deadline=None, derandomize=True, max_examples=25)
# `make check-all`
settings.register_profile("ci", deadline=None, derandomize=True, max_examples=30, print_blob=True)
# `make faults`, and tests that expect a failure: a failing example is enough, and is not shrunk.
settings.register_profile(
    "faults", settings.get_profile("dev"), phases=(Phase.explicit, Phase.generate)
)
# `make nightly` gives the seed to pytest itself, which prints it.
settings.register_profile(
    "nightly", deadline=None, max_examples=int(os.environ.get("EXAMPLES", "2000")), print_blob=True
)
settings.load_profile(os.environ.get("EQUIMARGIN_PROFILE", "dev"))


@pytest.fixture(scope="session", autouse=True)
def _process_goes_on() -> Iterator[None]:
    """Make commands exit by an exception in the process of the tests.

    A command ends its process at once if work is left, which may be that of an earlier
    test.
    """
    from equimargin.cli.output import errors

    def leave(status: int) -> NoReturn:
        raise SystemExit(status)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(errors, "_exit_at_once", leave)
        yield


@pytest.fixture
def hearing() -> Iterator[None]:
    """Make the process and its children receive SIGINT during a test.

    A process in the background (`nohup make check &`) ignores SIGINT otherwise.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Limit the time that pytest takes to end; then show the stacks of all threads.

    pytest limits the time of tests only, and would wait for a thread or a child that
    does not end. Workers of pytest-xdist have no limit: they wait for each other's
    tests.
    """
    if not hasattr(config, "workerinput"):
        faulthandler.dump_traceback_later(SECONDS_TO_END, exit=True)
