"""How data of families are drawn: few points on an integer grid, where optima are small fractions."""

from __future__ import annotations

from typing import Any

import numpy as np

Data = dict[str, Any]
"""X (m, d), y (m,) where there are labels or targets, and the parameters of the family by name."""


def points(
    labels: int = 0, least: int = 1, most: int = 4, widest: int = 2, **parameters: list[float]
) -> Any:
    """A hypothesis strategy of data on a grid.

    Parameters
    ----------
    labels : int
        Number of classes, counted from 0; -1 for targets on a grid; 0 for none.
    least, most : int
        Numbers of points.
    widest : int
        The largest size of a coordinate.
    parameters : list[float]
        The values among which each parameter is drawn.
    """
    from hypothesis import strategies as st

    @st.composite
    def drawn(draw: st.DrawFn) -> Data:
        m, d = draw(st.integers(least, most)), draw(st.integers(1, 2))
        entries = draw(st.lists(st.integers(-widest, widest), min_size=m * d, max_size=m * d))
        data: Data = {"X": np.array(entries, dtype=np.float64).reshape(m, d)}
        if labels > 0:
            rest = draw(st.lists(st.integers(0, labels - 1), min_size=m, max_size=m))
            data["y"] = np.array(
                [*range(min(labels, m)), *rest][:m]
            )  # every class has a point, if there are enough of them
        elif labels < 0:
            data["y"] = np.array(
                draw(st.lists(st.integers(-3, 3), min_size=m, max_size=m)), dtype=np.float64
            )
        return data | {name: draw(st.sampled_from(values)) for name, values in parameters.items()}

    return drawn()
