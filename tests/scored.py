"""Rankings with their scores, for tests of measures."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from equimargin.testing import Relevances, ranking_data

Array = NDArray[np.float64]
close: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-12}
small = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=5)
"""Strategy of relevances and scores of a few documents."""


@st.composite
def rankings(draw: st.DrawFn) -> tuple[Array, Array, Any]:
    """Draw y, f and qid of rankings, some with queries of one level or of one row.

    Relevances y have ties; scores f have ties, negative zeros and neighbouring floats.
    """
    data: Relevances = draw(ranking_data(tails=False))
    m = len(data.y)
    coarse = st.integers(-2, 2).map(float) | st.just(-0.0)
    fine = st.floats(-1e300, 1e300) | st.sampled_from(
        [1e16, np.nextafter(1e16, 2e16), 0.3, np.nextafter(0.3, 1.0)]
    )
    f = np.array(draw(st.lists(draw(st.sampled_from([coarse, fine])), min_size=m, max_size=m)))
    return data.y, data.y * 1.0 if draw(st.integers(0, 5)) == 0 else f, data.qid


def each(y: Array, f: Any, qid: Any) -> list[tuple[Array, Any]]:
    """Return y and f of every query, in the order of the queries' names."""
    return [(y, f)] if qid is None else [(y[qid == q], f[qid == q]) for q in np.unique(qid)]
