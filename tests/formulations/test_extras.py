"""Modules that are imported at their first use: names, copies and pickles."""

from __future__ import annotations

import copy
import pickle
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cvxpy
import pytest

from equimargin.formulations.programs.extras import OptionalModule


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda module: pickle.loads(pickle.dumps(module))]
)
@pytest.mark.parametrize("used", [False, True])
def test_a_module_can_be_copied_and_pickled(copied: Callable[[Any], Any], used: bool) -> None:
    """What was found is left out: modules among it cannot be pickled."""
    module = OptionalModule("cvxpy")
    if used:
        assert module.settings is cvxpy.settings
    assert copied(module).Variable is cvxpy.Variable


def test_an_absent_module_can_be_copied_and_inspected() -> None:
    module = OptionalModule("absent_package")
    assert not hasattr(module, "__wrapped__")
    with pytest.raises(ImportError, match="absent_package is not installed: pip install"):
        _ = copy.deepcopy(module).anything


def test_a_name_is_looked_up_once() -> None:
    module = OptionalModule("cvxpy")
    assert module.Variable is vars(module)["Variable"] is cvxpy.Variable
    assert module.__version__ == cvxpy.__version__


def test_an_interrupt_waits_for_the_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A native module would raise ImportError, and could not be imported again."""
    source = "import signal\nsignal.raise_signal(signal.SIGINT)\nvalue = 1\n"
    (tmp_path / "interrupted_module.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("sys.modules", dict(sys.modules))
    module = OptionalModule("interrupted_module")
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            _ = module.value
    finally:
        signal.signal(signal.SIGINT, handler)
    assert sys.modules["interrupted_module"].value == 1
