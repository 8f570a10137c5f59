"""Ordinal regression with thresholds in order: those next to the level of a point, b_k <= b_{k+1}.

A row (i, k) asks f(x_i) to be on its side of the threshold b_k by a margin of 1: s_ik (f(x_i) -
b_k) >= 1 - xi_ik, where s_ik is 1 if the level y_i of x_i is above k, and -1 otherwise. Of
`ord.explicit` k is y_i - 1 or y_i, and the thresholds must be in order; `ord.sum`, in
`sum_of_margins`, has two thresholds between neighbouring levels. Families with all thresholds are
margin problems, in `chu_shashua`.

Points may have weights, factors of C; rows of a weight of 0 are none. With two levels the family is
the classification svm.soft with the bias b = -b_0.

Source: W. Chu, S. S. Keerthi, New approaches to support vector ordinal regression, ICML (2005),
section 2. O, section 1, has the thresholds in words and in a figure.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.checks import Optional, matrix, needing, positive, targets
from equimargin.formulations.documents.chu_shashua import CHU
from equimargin.formulations.drawing import Data, points
from equimargin.formulations.family import Family
from equimargin.formulations.numeric.arguments import factors
from equimargin.formulations.source import Source
from equimargin.formulations.symbols import cp


def drawn(**parameters: list[float]) -> Any:
    """Return a strategy of points of up to four levels, half of them with weights, half with a level that no point has."""
    from hypothesis import strategies as st

    few = st.sampled_from([2, 3, 4]).flatmap(lambda levels: points(labels=levels, least=2, most=6, widest=4, **parameters))
    weights = st.one_of(st.none(), st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=6, max_size=6).filter(lambda v: v[0] > 0))

    def with_more(of: tuple[Data, list[float] | None, bool]) -> Data:
        data, factors, gap = of
        y = data["y"]
        more = {} if factors is None else {"weights": np.array(factors[: len(y)])}
        return data | more | {"y": np.where((y == 1) & (y.max() > 1) & gap, 2, y)}

    return st.tuples(few, weights, st.booleans()).map(with_more)


def _levels(value: Any, name: str, data: Data) -> None:
    """Refuse what is no level for every row of X."""
    y = targets(value, name, data)
    if (y != np.floor(y)).any() or y.min() < 0 or y.max() < 1:
        raise ValueError(f"{name} must hold levels, whole numbers from 0 on, and not only 0: with one level there is no threshold")


def _weights_of_points(value: Any, name: str, data: Data) -> None:
    """Refuse what is no finite weight for every row of X, or 0 for all."""
    weights = factors(targets(value, name, data), len(data["X"]), name)
    if not weights.any():
        raise ValueError(f"{name} must not all be 0")


check = needing(X=matrix, y=_levels, C=positive, weights=Optional(_weights_of_points))
"""Check of the data of `ord.explicit` and of `ord.sum`."""
explicit = Family("ord.explicit", Source("Chu 2005", "section 2", CHU), data=partial(drawn, C=[1.0, 0.25, 4.0]), check=check)
"""X (m, d), y (m,) in {0, ..., L - 1} with L >= 2, C, and weights (m,) of the points or none."""


class Rows(NamedTuple):
    """The rows (i, k) of a problem: points i, thresholds k, sides s and costs c, (p,) each; S (p, L - 1) has s_r in the column k_r."""

    i: NDArray[np.int64]
    k: NDArray[np.int64]
    s: NDArray[np.float64]
    c: NDArray[np.float64]
    S: NDArray[np.float64]


def weights_of(d: Data) -> NDArray[np.float64]:
    """The weights of the points: (m,), of 1 where there are none."""
    return np.asarray(d.get("weights", np.ones(len(d["y"]))), dtype=np.float64)


def rows_of(d: Data) -> Rows:
    """Return the rows of the thresholds y_i - 1 and y_i of the points with a weight."""
    y, weights = np.asarray(d["y"]).astype(np.int64), weights_of(d)
    thresholds = int(y.max())
    i = np.repeat(np.flatnonzero(weights), 2)
    k = y[i] - np.tile([1, 0], len(i) // 2)
    i, k = i[inside := (k >= 0) & (k < thresholds)], k[inside]
    s = np.where(y[i] > k, 1.0, -1.0)
    return Rows(i, k, s, d["C"] * weights[i], s[:, None] * np.eye(thresholds)[k])


def _weights(d: Data, rows: Rows, a: Any) -> Any:
    """The w of multipliers a: sum_r a_r s_r x_{i_r}."""
    return (rows.s[:, None] * d["X"][rows.i]).T @ a


def _in_order(b: Any) -> list[Any]:
    """The thresholds in order: b_0 <= b_1 <= ..."""
    return [b[1:] >= b[:-1]] if b.size > 1 else []


def _primal(d: Data, ordered: bool) -> cp.Problem:
    """min 1/2 |w|^2 + sum_r c_r xi_r   s.t.   s_r (w.x_{i_r} - b_{k_r}) >= 1 - xi_r,  xi >= 0."""
    rows = rows_of(d)
    w, b, xi = cp.Variable(d["X"].shape[1], name="w"), cp.Variable(rows.S.shape[1], name="b"), cp.Variable(len(rows.i), name="xi")
    margins = cp.multiply(rows.s, (d["X"] @ w)[rows.i] - b[rows.k])
    objective = cp.sum_squares(w) / 2 + rows.c @ xi
    return cp.Problem(cp.Minimize(objective), [margins >= 1 - xi, xi >= 0, *(_in_order(b) if ordered else [])])


def _more_levels(d: Data) -> str | None:
    """Why ordinal regression is no classification: it has more than two levels."""
    levels = int(np.max(d["y"])) + 1
    return f"there are {levels} levels, and classification has two" if levels > 2 else None


def _of_dual(values: Mapping[str, Any], d: Data) -> Data:
    return {"w": _weights(d, rows_of(d), values["a"])}


def _of_beta(values: Mapping[str, Any], d: Data) -> Data:
    return {"w": d["X"].T @ values["beta"], "b": values["b"]}


def _of_bias(values: Mapping[str, Any], d: Data) -> Data:
    return {"w": values["w"], "b": -np.ravel(values["b"])}


@explicit.formulation(
    "primal",
    latex=r"\min \tfrac12 |w|^2 + C \sum_{ik} \xi_{ik}"
    r" \quad\text{s.t.}\quad s_{ik} (w \cdot x_i - b_k) \ge 1 - \xi_{ik},\ \xi \ge 0,\ b_k \le b_{k+1},\ k \in \{y_i - 1, y_i\}",
)
def explicit_primal(d: Data) -> cp.Problem:
    """min 1/2 |w|^2 + C sum_ik xi_ik   s.t.   s_ik (w.x_i - b_k) >= 1 - xi_ik,  xi >= 0,  of k = y_i - 1 and y_i,  b_k <= b_{k+1}."""
    return _primal(d, ordered=True)


@explicit.formulation(
    "dual",
    latex=r"\max 1'a - \tfrac12 |\sum_{ik} a_{ik} s_{ik} x_i|^2"
    r" \quad\text{s.t.}\quad \sum_i s_{ik} a_{ik} = \mu_{k-1} - \mu_k,\ 0 \le a \le C,\ \mu \ge 0",
    to_canonical=_of_dual,
)
def explicit_dual(d: Data) -> cp.Problem:
    """max sum a - 1/2 |sum a_ik s_ik x_i|^2   s.t.   0 <= a <= C,  mu >= 0,  sum_i s_ik a_ik = mu_{k-1} - mu_k,  mu_{-1} = mu_{L-2} = 0."""
    rows = rows_of(d)
    a, pushes = cp.Variable(len(rows.i), name="a"), rows.S.shape[1] - 1
    objective = cp.sum(a) - cp.sum_squares(_weights(d, rows, a)) / 2
    if not pushes:
        return cp.Problem(cp.Maximize(objective), [a >= 0, a <= rows.c, rows.S.T @ a == 0])
    mu = cp.Variable(pushes, name="mu")
    E = np.eye(pushes + 1)[1:] - np.eye(pushes + 1)[:-1]
    return cp.Problem(cp.Maximize(objective), [a >= 0, a <= rows.c, mu >= 0, rows.S.T @ a == E.T @ mu])


@explicit.formulation("beta", to_canonical=_of_beta)
def explicit_beta(d: Data) -> cp.Problem:
    """min 1/2 beta'K beta + C sum_ik (1 - s_ik ((K beta)_i - b_k))_+   s.t.   b_k <= b_{k+1},  of k = y_i - 1 and y_i, with K = XX'."""
    # Neither K beta nor beta'K beta is written with products that are rounded: a K of another rank than X has another optimum.
    rows = rows_of(d)
    beta, b, w = cp.Variable(len(d["X"]), name="beta"), cp.Variable(rows.S.shape[1], name="b"), cp.Variable(d["X"].shape[1], name="w")
    short = cp.pos(1 - cp.multiply(rows.s, (d["X"] @ w)[rows.i] - b[rows.k]))
    objective = cp.sum_squares(w) / 2 + rows.c @ short
    return cp.Problem(cp.Minimize(objective), [w == d["X"].T @ beta, *_in_order(b)])


@explicit.formulation("two_levels", applies=_more_levels, to_canonical=_of_bias)
def explicit_two_levels(d: Data) -> cp.Problem:
    """svm.soft at the labels -1 and 1 of the levels 0 and 1: min 1/2 |w|^2 + C sum_i (1 - y_i (w.x_i + b))_+, with b = -b_0."""
    w, b, y = cp.Variable(d["X"].shape[1], name="w"), cp.Variable(name="b"), 2.0 * d["y"] - 1.0
    short = cp.pos(1 - cp.multiply(y, d["X"] @ w + b))
    return cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + (d["C"] * weights_of(d)) @ short))


@explicit.formulation("unordered", control=True)
def explicit_unordered(d: Data) -> cp.Problem:
    """The primal without b_k <= b_{k+1}, which is lower where none of its optima has b in order."""
    return _primal(d, ordered=False)
