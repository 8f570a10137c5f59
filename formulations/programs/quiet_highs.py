"""HiGHS without output."""

from __future__ import annotations

from typing import Any

from equimargin.formulations.programs.extras import highspy


def quiet_highs() -> Any:
    """Return a HiGHS object that prints nothing.

    HiGHS 1.16 prints a banner as soon as its constructor enables callbacks.
    """
    base: Any = highspy.Highs

    class Quiet(base):  # type: ignore[misc]
        def enableCallbacks(self) -> None:
            self.setOptionValue("output_flag", False)
            super().enableCallbacks()

    return Quiet()
