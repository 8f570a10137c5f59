"""Path of a one-norm program from its first basis to its end.

The problem is scaled to size 1, without its rows of weight 0, and solved in rounds of
pivots; the reason for the end is recorded.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.problem.one_norm import OneNormProblem
from equimargin.formulations.rows.listed import Pairs
from equimargin.solvers.path.budget import Budget, PathStop
from equimargin.solvers.path.linear.factor import empty
from equimargin.solvers.path.linear.near import AffineRows, unlisted
from equimargin.solvers.path.linear.result import OneNormPath
from equimargin.solvers.path.linear.simplex import (
    ENDED,
    NEXT_TO_0,
    PERTURBATION,
    SINGULAR,
    LinearPathProgram,
    PathBasis,
    Record,
    add_products,
    advance,
)

ROUND = 64
"""Pivots between two checks of the time limit."""
LARGEST_GAP = 1e-6
"""Relative gap of a piece above which a path ends.

Nothing useful follows from a basis with so large an error.
"""
LEAST_REACH = 1e3 * PERTURBATION
"""Minimum reach of a list of rows (`near.py`), in the unit of margins.

Whether the margin of an unlisted row exceeds 1 does not depend on the perturbation.
"""


def followed(problem: OneNormProblem, budget: Budget) -> OneNormPath:
    """Return the path of a supported program, as far as the budget allows.

    Parameters
    ----------
    problem : OneNormProblem
        Program.
    budget : Budget
        Limits of the path.
    """
    units = _Units.of(problem)
    budget = replace(budget, lambda_min=budget.lambda_min / units.lam, unit=units.lam)
    of = _columns(problem, units)
    basis = _first(problem, of, budget.lambda_min)
    low, records, pieces = basis.rows.way == 1, list[Record](), 0
    stopped, whole = None if len(units.rows) else PathStop.NO_ROWS, _empty(ROUND, problem.m + 2)
    while stopped is None:
        room = ROUND if budget.most is None else min(ROUND, budget.most - pieces)
        status = advance(of, basis, whole._replace(lam=whole.lam[:room]), budget.lambda_min)
        record = _used(whole)
        records.append(record)
        pieces += len(record.lam)
        if status == SINGULAR or not _is_trusted(
            record, basis.next_to_0 if status == ENDED else 0.0
        ):
            stopped = PathStop.PRECISION
        elif status == ENDED:
            stopped = PathStop.END if budget.lambda_min == 0 else PathStop.REACHED
        else:
            stopped = budget.spent(pieces, float(basis.lam[0]), float(record.gap.max(initial=0.0)))
    return _named(problem, units, low, records, stopped, budget.seconds)


class _Units(NamedTuple):
    """Units of the scaled program, powers of two, and its rows: those of positive weight."""

    kernel: float
    weight: float
    rows: Index

    @classmethod
    def of(cls, problem: OneNormProblem) -> _Units:
        """Return the units in which the mean of K_ii and the largest weight have size 1."""
        weights = problem.unit_weights
        return cls(
            2.0 ** np.rint(np.log2(problem.gram.mean_diagonal)),
            2.0 ** np.rint(np.log2(weights.max(initial=0.0) or 1.0)),
            np.flatnonzero(weights),
        )

    @property
    def lam(self) -> float:
        """Unit of lambda."""
        return self.kernel * self.weight


def _is_trusted(record: Record, rounding: float) -> bool:
    """Return True if the gaps of a round's pieces are within the limit.

    The last gap may also contain rounding error. Terms of B'u cancel, and their
    rounding error, over lambda, is in the gap. If points are far from 0, lambda_min, at
    which the last piece ends, may be so small in comparison that the gap there is
    nothing but rounding.

    Parameters
    ----------
    record : Record
        Record of a round.
    rounding : float
        Rounding error of B'u, in the unit of lambda; 0 if the last piece does not end
        the path.
    """
    gaps, lambdas = record.gap, record.lam
    return bool(
        (gaps[:-1] <= LARGEST_GAP).all()
        and (lambdas[-1:] * (gaps[-1:] - LARGEST_GAP) <= rounding).all()
    )


def _columns(problem: OneNormProblem, units: _Units) -> LinearPathProgram:
    """Return the program in its units."""
    m, rows, used = problem.m, problem.rows, units.rows
    K = np.zeros((m + 1, m + 1))
    K[:m, :m] = problem.gram.dense / units.kernel
    if isinstance(rows, Pairs):
        i, j, sign = (
            rows.preferred.astype(np.int64),
            rows.other.astype(np.int64),
            np.ones(problem.p),
        )
    else:
        i, j, sign = np.arange(m), np.full(m, m), rows.s.copy()
    of_rows = (i, j, sign)
    ci, cj, csign = of_rows if problem.over == "rows" else (np.arange(m), np.full(m, m), np.ones(m))
    return LinearPathProgram(
        K,
        AffineRows(i[used], j[used], sign[used], problem.bias_signs[used]),
        AffineRows(ci, cj, csign, np.ones(len(ci))),
        problem.unit_weights[used] / units.weight,
    )


def _first(problem: OneNormProblem, of: LinearPathProgram, lambda_min: float) -> PathBasis:
    """Return the basis that is optimal for large lambda: x = 0, and every row has slack.

    lambda is twice that of the first jump. With a bias, rows of the larger class have
    slack up to the total weight of the other class, but not all of them, and the next
    row of the larger class is on the margin.
    """
    p, n, m, capacity = len(of.w), len(of.columns.i), problem.m, problem.m + 2
    rhs, s = 1.0 + PERTURBATION * np.random.default_rng(0).random(p), of.rows.s
    basis = PathBasis(
        J=np.zeros(capacity, dtype=np.int64),
        E=np.zeros(capacity, dtype=np.int64),
        M=empty(capacity),
        rows=unlisted(of.rows, rhs, np.ones(p), m, LEAST_REACH),
        columns=unlisted(of.columns, np.zeros(n), np.ones(n), m, 0.0),
        total=np.zeros(1),
        pull=np.zeros(m + 2),
        sums=np.zeros(m + 2),
        rests=np.zeros(m + 2),
        lam=np.zeros(2),
        bound=np.full(1, np.inf),
        next_to_0=0.0,
    )
    way = basis.rows.way
    if problem.bias and p:
        larger = s == (1.0 if s @ of.w >= 0 else -1.0)
        rest, larger = float(of.w[~larger].sum()), np.flatnonzero(larger)
        larger = larger[np.argsort(-rhs[larger])]
        filled = np.cumsum(of.w[larger])
        others = min(int(np.searchsorted(filled, rest, side="right")), len(larger) - 1)
        way[larger[others:]] = -1.0
        basis.E[0], basis.J[0], basis.M.size[:] = larger[others], n, 1
        way[larger[others]] = 0.0
    u = np.where(way == 1, of.w, 0.0)
    pull = _pull(of.rows, u, m)
    basis.total[0], basis.pull[:] = u.sum(), pull.astype(np.float64)
    add_products(of, basis, basis.pull)
    add_products(of, basis, (pull - basis.pull).astype(np.float64))
    u[way == 0] = abs(basis.pull[-1])
    prices, terms = _prices(of, _pull(of.rows, u, m)[:-1].astype(np.float64))
    next_to_0 = NEXT_TO_0 * terms
    largest = float(prices.max(initial=0.0))
    basis.lam[0] = 2.0 * max(largest if largest > next_to_0 else 0.0, lambda_min) or 1.0
    return basis._replace(next_to_0=next_to_0)


def _pull(rows: AffineRows, u: Array, m: int) -> Any:
    """Return A'u and last s'u, shape (m + 2,), with 11 bits more than a double if possible."""
    pull = np.zeros(m + 2, dtype=np.longdouble)
    np.add.at(pull, rows.i, rows.sign * u)
    np.subtract.at(pull, rows.j, rows.sign * u)
    pull[m:] = 0.0, (rows.s.astype(np.longdouble) * u).sum()
    return pull


def _prices(of: LinearPathProgram, pull: Array) -> tuple[Array, float]:
    """Return B'u for a pull A'u, and the largest sum of absolute terms of an entry.

    The rounding error of B'u is a fraction of that sum.
    """
    K, columns = of.K, of.columns
    g, sizes = K @ pull, np.abs(K) @ np.abs(pull)
    return columns.sign * (g[columns.i] - g[columns.j]), float(
        (sizes[columns.i] + sizes[columns.j]).max(initial=0.0)
    )


def _empty(rounds: int, capacity: int) -> Record:
    """Return an empty record for a given number of pivots."""
    entries, whole = rounds * capacity, np.int64
    return Record(
        lam=np.zeros(rounds),
        gap=np.zeros(rounds),
        starts=np.zeros(rounds + 1, dtype=whole),
        J=np.zeros(entries, dtype=whole),
        E=np.zeros(entries, dtype=whole),
        x=np.zeros(entries),
        lower=np.zeros(entries),
        flips=np.zeros(2 * rounds, dtype=whole),
        at=np.zeros(2 * rounds, dtype=whole),
        tally=np.zeros(2, dtype=whole),
    )


def _used(record: Record) -> Record:
    """Return a copy of the part of a record that the last round has written."""
    pieces, flips = record.tally.tolist()
    entries = int(record.starts[pieces])
    ends = (pieces, pieces, pieces + 1, *(entries,) * 4, flips, flips, 2)
    return Record._make(part[:end].copy() for part, end in zip(record, ends, strict=True))


def _named(
    problem: OneNormProblem,
    units: _Units,
    low: Any,
    records: list[Record],
    stopped: PathStop,
    seconds: float,
) -> OneNormPath:
    """Return the path of the records, in the problem's own units."""
    before = np.cumsum([0, *(len(record.lam) for record in records)])

    def joined(name: str, dtype: Any = np.float64) -> Any:
        return np.concatenate([np.zeros(0, dtype), *(getattr(record, name) for record in records)])

    columns, whole, values = joined("J", np.int64), np.int64, joined("x")
    sizes = [np.zeros(0, whole), *(np.diff(record.starts) for record in records)]
    at = [record.at + start for record, start in zip(records, before[:-1].tolist(), strict=True)]
    has_slack = np.zeros(problem.p, dtype=bool)
    has_slack[units.rows] = low
    return OneNormPath(
        problem,
        lambdas=joined("lam") * units.lam,
        starts=np.append(0, np.cumsum(np.concatenate(sizes))).astype(whole),
        columns=columns,
        values=np.where(columns < problem.size, values / units.kernel, values),
        rows=units.rows[joined("E", whole)],
        lower=joined("lower") * units.weight,
        low=has_slack,
        flips=units.rows[joined("flips", whole)],
        flipped_at=np.concatenate([np.zeros(0, whole), *at]),
        gaps=joined("gap"),
        stopped=stopped.value,
        complete=stopped.complete,
        seconds=seconds,
    )
