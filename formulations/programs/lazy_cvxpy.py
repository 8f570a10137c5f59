"""cvxpy as `cp`, imported on first use.

Ids, sources and LaTeX of formulations are available without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from equimargin.formulations.programs.extras import OptionalModule

__all__ = ["cp"]

if TYPE_CHECKING:
    import cvxpy as cp
else:
    cp = OptionalModule("cvxpy")
