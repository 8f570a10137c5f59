"""Ordinal regression with explicitly ordered thresholds, b_k <= b_{k+1}.

Only the thresholds next to a point's level constrain it. A row (i, k), with k = y_i - 1
or y_i, requires f(x_i) to be on its side of the threshold b_k by a margin of 1: s_ik
(f(x_i) - b_k) >= 1 - xi_ik, where s_ik is 1 if the level y_i of x_i is above k, and -1
otherwise. A (p, m) has s_ik at point i, S (p, L - 1) at threshold k, and c (p,) the
cost of a row, C times the weight of its point. `ord.sum`, in `sum_of_margins`, has two
thresholds between neighbouring levels. Families in which every threshold constrains
every point are in `chu_shashua`.

Points may have weights, factors of C; points of weight 0 have no rows. With two levels
the family is the classification svm.soft with the bias b = -b_0.

References
----------
W. Chu, S. S. Keerthi, New approaches to support vector ordinal regression, ICML (2005),
section 2. R. Herbrich, T. Graepel, K. Obermayer (1999), section 1, thresholds in a
figure.
"""

# Equations in docstrings may have several lines.
# ruff: noqa: D205

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.declarations.checks import (
    Labels,
    Optional,
    kernel_points,
    needing,
    positive,
    signs,
    targets,
)
from equimargin.formulations.declarations.drawing import Data, points
from equimargin.formulations.declarations.family import Family
from equimargin.formulations.declarations.source import Source
from equimargin.formulations.declarations.symbols import cp, maximize, minimize
from equimargin.formulations.documents.chu_shashua import CHU
from equimargin.formulations.numeric.arguments import check_weights


def drawn(**parameters: list[float]) -> Any:
    """Return a strategy of points of up to four levels.

    About half of the data have weights, and about half may have a level without points.

    Parameters
    ----------
    **parameters : list of float
        Values from which each parameter is sampled.

    Returns
    -------
    hypothesis.strategies.SearchStrategy
        Strategy of `Data`.
    """
    # Imported here: hypothesis is needed only if data are generated.
    from hypothesis import strategies as st

    few = st.sampled_from([2, 3, 4]).flatmap(
        lambda levels: points(labels=levels, least=2, most=6, widest=4, **parameters)
    )
    weights = st.one_of(
        st.none(),
        st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=6, max_size=6).filter(
            lambda v: v[0] > 0
        ),
    )

    def with_more(of: tuple[Data, list[float] | None, bool]) -> Data:
        data, factors, gap = of
        y = data["y"]
        weights_part = {} if factors is None else {"weights": np.array(factors[: len(y)])}
        return data | weights_part | {"y": np.where((y == 1) & (y.max() > 1) & gap, 2, y)}

    return st.tuples(few, weights, st.booleans()).map(with_more)


def _levels(value: Any, name: str, data: Data) -> None:
    """Raise ValueError unless the value is a level for every row of X."""
    y = targets(value, name, data)
    if (y != np.floor(y)).any() or y.min() < 0 or y.max() < 1:
        raise ValueError(
            f"{name} must hold levels, whole numbers from 0 on, and not only 0: with one "
            f"level there is no threshold"
        )


def _weights_of_points(value: Any, name: str, data: Data) -> None:
    """Raise ValueError unless the value is a finite weight for every row of X, not all 0."""
    weights = check_weights(targets(value, name, data), len(data["X"]), name)
    if not weights.any():
        raise ValueError(f"{name} must not all be 0")


check = needing(
    X=kernel_points, y=Labels("ordinal", _levels), C=positive, weights=Optional(_weights_of_points)
)
"""Check of the data of `ord.explicit` and of `ord.sum`."""
explicit = Family(
    "ord.explicit",
    Source("Chu 2005", "section 2", CHU),
    data=partial(drawn, C=[1.0, 0.25, 4.0]),
    check=check,
)
"""X (m, d), y (m,) in {0, ..., L - 1} with L >= 2, C, and optional weights (m,)."""


class ThresholdRows(NamedTuple):
    """Rows (i, k) of data, p of them.

    Attributes
    ----------
    A : sparse array of shape (p, m)
        Signs s_ik at point i.
    S : sparse array of shape (p, L - 1)
        Signs s_ik at threshold k.
    c : ndarray of shape (p,)
        Costs.
    D : ndarray of shape (L - 2, L - 1)
        Differences of neighbouring thresholds, D b.
    """

    A: Any
    S: Any
    c: NDArray[np.float64]
    D: NDArray[np.float64]


def get_weights(d: Data) -> NDArray[np.float64]:
    """Return the weights of the points.

    Parameters
    ----------
    d : Data
        Data of the family.

    Returns
    -------
    ndarray of shape (m,)
        Weights; ones if the data have none.
    """
    return np.asarray(d.get("weights", np.ones(len(d["y"]))), dtype=np.float64)


def make_threshold_rows(d: Data) -> ThresholdRows:
    """Return the rows of the thresholds y_i - 1 and y_i of the points with a weight.

    Parameters
    ----------
    d : Data
        Data of the family.

    Returns
    -------
    ThresholdRows
        Rows, ordered by point.
    """
    from scipy import sparse

    y, weights = np.asarray(d["y"]).astype(np.int64), get_weights(d)
    T = int(y.max())
    i = np.repeat(np.flatnonzero(weights), 2)
    k = y[i] - np.tile([1, 0], len(i) // 2)
    i, k = i[inside := (k >= 0) & (k < T)], k[inside]
    s, r = np.where(y[i] > k, 1.0, -1.0), np.arange(len(i))
    A, S = (
        sparse.csr_array((s, (r, columns)), shape=(len(i), width))
        for columns, width in ((i, len(y)), (k, T))
    )
    return ThresholdRows(A, S, d["C"] * weights[i], np.diff(np.eye(T), axis=0))


def _more_levels(d: Data) -> str | None:
    """Return why a problem of more than two levels is no classification, else None."""
    levels = int(np.max(d["y"])) + 1
    return f"there are {levels} levels, and classification has two" if levels > 2 else None


@explicit.formulation(
    "primal",
    latex=r"\min \tfrac12 |w|^2 + C \sum_{ik} \xi_{ik}"
    r" \quad\text{s.t.}\quad s_{ik} (w \cdot x_i - b_k) \ge 1 - \xi_{ik},\ \xi \ge 0,\ b_k "
    r"\le b_{k+1},\ k \in \{y_i - 1, y_i\}",
)
def explicit_primal(d: Data) -> cp.Problem:
    """min 1/2 |w|^2 + C sum_ik xi_ik
    s.t.   s_ik (w.x_i - b_k) >= 1 - xi_ik,  xi >= 0,  of k = y_i - 1 and y_i,
    b_k <= b_{k+1}.
    """
    X, (A, S, c, D) = d["X"], make_threshold_rows(d)
    w, b, xi = cp.Variable(X.shape[1], "w"), cp.Variable(S.shape[1], "b"), cp.Variable(len(c), "xi")
    return minimize(
        cp.sum_squares(w) / 2 + c @ xi,
        margin=A @ (X @ w) - S @ b >= 1 - xi,
        slack=xi >= 0,
        order=D @ b >= 0 if len(D) else None,
    )


@explicit.formulation(
    "dual",
    latex=r"\max 1'a - \tfrac12 |\sum_{ik} a_{ik} s_{ik} x_i|^2"
    r" \quad\text{s.t.}\quad \sum_i s_{ik} a_{ik} = \mu_{k-1} - \mu_k,\ 0 \le a \le C,\ \mu \ge 0",
    to_canonical=lambda v, d: {"w": d["X"].T @ (make_threshold_rows(d).A.T @ v["a"])},
)
def explicit_dual(d: Data) -> cp.Problem:
    """max sum a - 1/2 |sum a_ik s_ik x_i|^2
    s.t.   0 <= a <= C,  mu >= 0,  sum_i s_ik a_ik = mu_{k-1} - mu_k,
    mu_{-1} = mu_{L-2} = 0.
    """
    X, (A, S, c, D) = d["X"], make_threshold_rows(d)
    a, mu = cp.Variable(len(c), "a"), cp.Variable(len(D), "mu") if len(D) else None
    return maximize(
        cp.sum(a) - cp.sum_squares((A @ X).T @ a) / 2,
        balance=S.T @ a == (0 if mu is None else D.T @ mu),
        lower=a >= 0,
        upper=a <= c,
        order=None if mu is None else mu >= 0,
    )


@explicit.formulation("beta", to_canonical=lambda v, d: {"w": d["X"].T @ v["beta"], "b": v["b"]})
def explicit_beta(d: Data) -> cp.Problem:
    """min 1/2 beta'K beta + C sum_ik (1 - s_ik ((K beta)_i - b_k))_+
    s.t.   b_k <= b_{k+1},  of k = y_i - 1 and y_i, with K = XX'.

    It is stated by w = X'beta, because products that round K have another rank than X,
    and another optimum.
    """
    X, (A, S, c, D) = d["X"], make_threshold_rows(d)
    beta, w, b = (
        cp.Variable(len(X), "beta"),
        cp.Variable(X.shape[1], "w"),
        cp.Variable(S.shape[1], "b"),
    )
    return minimize(
        cp.sum_squares(w) / 2 + c @ cp.pos(1 - (A @ (X @ w) - S @ b)),
        w=w == X.T @ beta,
        order=D @ b >= 0 if len(D) else None,
    )


@explicit.formulation(
    "two_levels",
    applies=_more_levels,
    to_canonical=lambda v, d: {"w": v["w"], "b": -np.ravel(v["b"])},
)
def explicit_two_levels(d: Data) -> cp.Problem:
    """min 1/2 |w|^2 + C sum_i (1 - y_i (w.x_i + b))_+,
    svm.soft at the labels -1 and 1 of the levels 0 and 1, with b = -b_0.
    """
    w, b, c = cp.Variable(d["X"].shape[1], "w"), cp.Variable(name="b"), d["C"] * get_weights(d)
    return minimize(
        cp.sum_squares(w) / 2 + c @ cp.pos(1 - cp.multiply(signs(d["y"]), d["X"] @ w + b))
    )


@explicit.formulation("unordered", control=True)
def explicit_unordered(d: Data) -> cp.Problem:
    """min 1/2 |w|^2 + C sum_ik xi_ik
    s.t.   s_ik (w.x_i - b_k) >= 1 - xi_ik,  xi >= 0,  of k = y_i - 1 and y_i.

    Without b_k <= b_{k+1} it is lower where none of its optima has b in order.
    """
    X, (A, S, c, _) = d["X"], make_threshold_rows(d)
    w, b, xi = cp.Variable(X.shape[1], "w"), cp.Variable(S.shape[1], "b"), cp.Variable(len(c), "xi")
    return minimize(
        cp.sum_squares(w) / 2 + c @ xi, margin=A @ (X @ w) - S @ b >= 1 - xi, slack=xi >= 0
    )
