"""Generated data of families: few points on an integer grid.

Optima at such data are small fractions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Data = dict[str, Any]
"""X (m, d), y (m,) if there are labels or targets, and the family's parameters by name.
"""


def points(
    labels: int = 0, least: int = 1, most: int = 4, widest: int = 2, **parameters: list[float]
) -> Any:
    """Return a hypothesis strategy of data on a grid.

    Parameters
    ----------
    labels : int
        Number of classes, counted from 0; -1 for targets on a grid; 0 for none.
    least, most : int
        Minimum and maximum number of points.
    widest : int
        Maximum absolute value of a coordinate.
    **parameters : list of float
        Values from which each parameter is sampled.

    Returns
    -------
    hypothesis.strategies.SearchStrategy
        Strategy of `Data`.
    """
    # Imported here: hypothesis is needed only if data are generated.
    from hypothesis import strategies as st

    @st.composite
    def drawn(draw: st.DrawFn) -> Data:
        m, d = draw(st.integers(least, most)), draw(st.integers(1, 2))
        entries = draw(st.lists(st.integers(-widest, widest), min_size=m * d, max_size=m * d))
        data: Data = {"X": np.array(entries, dtype=np.float64).reshape(m, d)}
        if labels > 0:
            rest = draw(st.lists(st.integers(0, labels - 1), min_size=m, max_size=m))
            # Every class has a point if there are enough points.
            data["y"] = np.array([*range(min(labels, m)), *rest][:m])
        elif labels < 0:
            data["y"] = np.array(
                draw(st.lists(st.integers(-3, 3), min_size=m, max_size=m)), dtype=np.float64
            )
        return data | {name: draw(st.sampled_from(values)) for name, values in parameters.items()}

    return drawn()
