"""Research framework for the convex programs of max-margin learning.

>>> from equimargin import compare
>>> compare.__module__
'equimargin.comparison'
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from equimargin.comparison import compare as compare
    from equimargin.explanation import explain as explain
    from equimargin.judging import judge as judge
    from equimargin.program_bound import bound as bound

__all__ = ["__version__", "bound", "compare", "explain", "judge"]
__version__ = "0.1.0"
# A library logs nothing unless its user adds a handler.
logging.getLogger(__name__).addHandler(logging.NullHandler())


def __getattr__(name: str) -> Any:
    """Import `compare`, `bound`, `explain` and `judge` at their first use.

    They need cvxpy, which `import equimargin` must not load.
    """
    if name == "compare":
        from equimargin.comparison import compare

        return compare
    if name == "bound":
        from equimargin.program_bound import bound

        return bound
    if name == "explain":
        from equimargin.explanation import explain

        return explain
    if name == "judge":
        from equimargin.judging import judge

        return judge
    raise AttributeError(f"module 'equimargin' has no attribute {name!r}")
