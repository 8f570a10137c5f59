"""Parameters whose values are read while a problem is built.

A function that reads the value of a cvxpy parameter may build another problem at
another value. A proof for the problem that it built then does not hold for all values
of that parameter. Only calls of the getter of `value` in this thread are detected. A
read of `_value`, a read in another thread, and a branch on the data from which the
value was set are not. A statement on all values therefore holds for the built problems
only, and must say so.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from equimargin.formulations.declarations import declaration
from equimargin.formulations.declarations.symbols import cp

KEEPS_THE_VALUES_DECLARED = vars(declaration)
"""Globals of the module `declaration`, whose own reads of values do not count.

It reads them after a problem is built, in order to store them.
"""


@contextmanager
def values_read() -> Iterator[set[str]]:
    """Collect the names of the cvxpy parameters whose values are read in the block."""
    getter, names = cp.Parameter.value.fget.__code__, set[str]()

    def called(frame: FrameType, event: str, arg: Any) -> None:
        if (
            event == "call"
            and frame.f_code is getter
            and isinstance(read := frame.f_locals["self"], cp.Parameter)
        ):
            caller = frame.f_back
            if caller is None or caller.f_globals is not KEEPS_THE_VALUES_DECLARED:
                names.add(read.name())

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        yield names
    finally:
        sys.setprofile(before)
