"""Infeasible, unbounded and bounded models, and the proofs of `explain` in fractions.

    python -m campaigns nightly_explain --seed 1 --examples 1000

Every model is drawn as a table, written to an MPS or LP file, and explained. Of an
infeasible model, the weights of the named constraints must add up to a contradiction,
and every named constraint must come with a point that satisfies the others. Of an
unbounded model, the point must be feasible, and the direction must keep it feasible
while the objective improves. Both are checked here in fractions, by the names in the
answer and the drawn table. Exit status 1 if anything does not hold or is undecided.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from math import inf, isfinite
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from campaigns.runner import At, Campaign, Check, Trial
from equimargin import explain
from equimargin.explanation import Explanation, Member
from equimargin.formulations.numeric.arrays import Array

SECONDS = 20.0
"""Time limit of an explanation, in seconds."""
ZERO = Fraction(0)


@dataclass
class Table:
    """Model min 1/2 x'Px + q'x  s.t.  low <= A x <= high,  lower <= x <= upper."""

    A: Array
    low: Array
    high: Array
    lower: Array
    upper: Array
    q: Array
    P: Array | None = None
    wanted: str = "infeasible"
    maximised: bool = False
    columns: list[str] = field(init=False)
    rows: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.rows, self.columns = (
            [f"{letter}{k}" for k in range(size)]
            for letter, size in zip("rx", self.A.shape, strict=True)
        )

    def mps(self) -> str:
        """Return the model as the text of an MPS file; rows have one end."""
        lines = ["NAME", "OBJSENSE", "    MAX" if self.maximised else "    MIN", "ROWS", " N cost"]
        for name, low, high in zip(self.rows, self.low, self.high, strict=True):
            lines.append(f" {'E' if low == high else 'L' if isfinite(high) else 'G'} {name}")
        lines.append("COLUMNS")
        for j, column in enumerate(self.columns):
            lines.append(f" {column} cost {self.q[j]!r}")
            lines += [
                f" {column} {self.rows[i]} {self.A[i, j]!r}" for i in np.flatnonzero(self.A[:, j])
            ]
        lines.append("RHS")
        for name, low, high in zip(self.rows, self.low, self.high, strict=True):
            lines.append(f" rhs {name} {high if isfinite(high) else low!r}")
        lines.append("BOUNDS")
        for name, low, high in zip(self.columns, self.lower, self.upper, strict=True):
            lines.append(f" LO b {name} {low!r}" if isfinite(low) else f" MI b {name}")
            lines += [f" UP b {name} {high!r}"] * isfinite(high)
        if self.P is not None:
            lines.append("QUADOBJ")
            lines += [
                f" {self.columns[j]} {self.columns[i]} {self.P[i, j]!r}"
                for i, j in zip(*np.nonzero(np.tril(self.P)), strict=True)
            ]
        return (
            "\n".join(["* drawn", *lines, "ENDATA", ""]).replace("np.float64(", "").replace(")", "")
        )

    def lp(self) -> str:
        """Return a linear model as the text of an LP file."""

        def terms(row: Array) -> str:
            return (
                " ".join(
                    f"{float(v):+.17g} {name}"
                    for v, name in zip(row, self.columns, strict=True)
                    if v != 0
                )
                or f"0 {self.columns[0]}"
            )

        lines = [
            "Maximize" if self.maximised else "Minimize",
            f" cost: {terms(self.q)}",
            "Subject To",
        ]
        for name, row, low, high in zip(self.rows, self.A, self.low, self.high, strict=True):
            sign, end = (
                ("=", low) if low == high else ("<=", high) if isfinite(high) else (">=", low)
            )
            lines.append(f" {name}: {terms(row)} {sign} {float(end):.17g}")
        lines.append("Bounds")
        for name, low, high in zip(self.columns, self.lower, self.upper, strict=True):
            lines.append(
                f" {'-inf' if low == -inf else f'{float(low):.17g}'} <= {name} <= "
                f"{'inf' if high == inf else f'{float(high):.17g}'}"
            )
        return "\n".join([*lines, "End", ""])


# Drawing. Every kind returns the rows a'x <= b (sense 1), >= (-1) or = (0) of a contradiction.

Rows = list[tuple[Array, int, float]]


def table(rng: np.random.Generator, rows: Rows, n: int, **parts: Array) -> Table:
    """Return a model with these rows in random order, and a random objective."""
    order = rng.permutation(len(rows))
    A = np.array([rows[k][0] for k in order]).reshape(len(rows), n)
    sense, b = (np.array([rows[k][at] for k in order], dtype=float) for at in (1, 2))
    q = rng.integers(-3, 4, n).astype(float)
    low, high = np.where(sense <= 0, b, -inf), np.where(sense >= 0, b, inf)
    P = None
    if rng.integers(3) == 0:
        root = rng.integers(-1, 2, (2, n)).astype(float)
        P = root.T @ root
    lower, upper = parts.get("lower", np.full(n, -inf)), parts.get("upper", np.full(n, inf))
    return Table(A, low, high, lower, upper, q, P)


def satisfied(rng: np.random.Generator, n: int, count: int, scale: float = 3.0) -> Rows:
    """Return sparse rows that a random point of integers satisfies."""
    x, rows = rng.integers(-3, 4, n), []
    for _ in range(count):
        a = rng.integers(-4, 5, n) * (rng.random(n) < 0.4)
        sense = int(rng.integers(-1, 2))
        slack = float(rng.integers(0, 3)) * scale
        rows.append((a.astype(float), sense, float(a @ x) + sense * slack))
    return rows


def planted(rng: np.random.Generator) -> Table:
    """Draw rows of which a combination is a contradiction, among rows with a common point."""
    n, k = int(rng.integers(2, 12)), int(rng.integers(2, 7))
    rows: Rows = []
    total, end = np.zeros(n), 0.0
    for _ in range(k - 1):
        a, sense = rng.integers(-5, 6, n).astype(float), int(rng.choice([-1, 0, 1]))
        b, weight = float(rng.integers(-9, 10)), float(rng.integers(1, 4)) * (sense or 1)
        rows.append((a, sense, b))
        total, end = total + weight * a, end + weight * b
    rows.append((-total, 1, -end - float(rng.integers(1, 5))))
    return table(rng, rows + satisfied(rng, n, int(rng.integers(0, 15))), n)


def capacity(rng: np.random.Generator) -> Table:
    """Draw a sum that bounds on its variables do not allow."""
    n = int(rng.integers(2, 15))
    upper = rng.integers(1, 9, n).astype(float)
    a = rng.integers(1, 4, n) * (rng.random(n) < 0.6)
    a[int(rng.integers(n))] = 1
    rows: Rows = [(a.astype(float), -1, float(a @ upper) + float(rng.integers(1, 4)))]
    return table(rng, rows + satisfied(rng, n, 8), n, lower=np.zeros(n), upper=upper)


def network(rng: np.random.Generator) -> Table:
    """Draw a flow from sources to sinks, with more supply than demand or too small arcs."""
    nodes, arcs = int(rng.integers(3, 10)), int(rng.integers(6, 25))
    A = np.zeros((nodes, arcs))
    for k in range(arcs):
        i, j = rng.choice(nodes, 2, replace=False)
        A[i, k], A[j, k] = 1.0, -1.0
    supply = rng.integers(-5, 6, nodes).astype(float)
    supply[0] += 1.0 - supply.sum()
    rows: Rows = [(a, 0, b) for a, b in zip(A, supply, strict=True)]
    return table(
        rng, rows, arcs, lower=np.zeros(arcs), upper=rng.integers(1, 20, arcs).astype(float)
    )


def cycle(rng: np.random.Generator) -> Table:
    """Draw differences around a cycle that add up to less than 0."""
    n, length = int(rng.integers(4, 20)), int(rng.integers(2, 5))
    rows: Rows = []

    def less(i: int, j: int, b: float) -> None:
        a = np.zeros(n)
        a[i], a[j] = 1.0, -1.0
        rows.append((a, 1, b))

    chosen = rng.choice(n, length, replace=False)
    weights = rng.integers(-3, 4, length).astype(float)
    weights[0] -= weights.sum() + 1.0
    for i, j, b in zip(chosen, np.roll(chosen, 1), weights, strict=True):
        less(i, j, float(b))
    for _ in range(n):
        i, j = rng.choice(n, 2, replace=False)
        less(int(i), int(j), float(rng.integers(3, 9)))
    return table(rng, rows, n)


def crowded(rng: np.random.Generator) -> Table:
    """Draw many random rows in few variables, which contradict each other in many ways."""
    n, m = int(rng.integers(1, 6)), int(rng.integers(20, 60))
    x = rng.integers(-3, 4, n)
    rows: Rows = []
    for _ in range(m):
        a = rng.integers(-4, 5, n).astype(float)
        rows.append((a, 1, float(a @ x) - 1.0))
        rows.append((-a, 1, -float(a @ x) - float(rng.integers(0, 3))))
    return table(rng, rows, n)


def decimals(rng: np.random.Generator) -> Table:
    """Draw a contradiction in decimals, with columns of many scales."""
    n = int(rng.integers(2, 8))
    a = np.round(rng.normal(size=n), 2) * 10.0 ** rng.integers(-4, 5, n)
    a[a == 0] = 0.1
    low = float(np.round(rng.normal() * 10, 3))
    rows: Rows = [(a, -1, low), (a, 1, low - float(np.round(10.0 ** rng.uniform(-6, 2), 7)) - 1e-6)]
    return table(rng, rows + satisfied(rng, n, 6, 0.1), n)


def tiny(rng: np.random.Generator) -> Table:
    """Draw a contradiction below the tolerance of every solver."""
    n = int(rng.integers(1, 5))
    a = rng.integers(1, 4, n).astype(float)
    end = float(rng.integers(1, 9))
    gap = 2.0 ** -int(rng.integers(20, 45))
    rows: Rows = [(a, 1, end), (a, -1, end + gap)]
    return table(rng, rows + satisfied(rng, n, 3), n)


def dependent(rng: np.random.Generator) -> Table:
    """Draw equations of which one contradicts a combination of the others."""
    n, k = int(rng.integers(3, 12)), int(rng.integers(2, 6))
    A = rng.integers(-4, 5, (k, n)).astype(float)
    b, weights = rng.integers(-9, 10, k).astype(float), rng.integers(-2, 3, k).astype(float)
    rows: Rows = [(a, 0, float(end)) for a, end in zip(A, b, strict=True)]
    rows.append((weights @ A, 0, float(weights @ b) + 1.0))
    return table(rng, rows, n)


def many(rng: np.random.Generator) -> Table:
    """Draw a contradiction of rows in decimals among hundreds of others, with bounds."""
    n, m, k = 150, 400, int(rng.integers(2, 8))
    A = np.round(rng.normal(size=(m, n)), 2) * (rng.random((m, n)) < 0.05)
    b = np.round(A @ rng.random(n) + rng.random(m), 2)
    weights = rng.integers(1, 4, k)
    rows: Rows = [(a, 1, float(end)) for a, end in zip(A, b, strict=True)]
    rows.append((-(weights @ A[:k]), 1, float(-(weights @ b[:k])) - 1.0))
    return table(rng, rows, n, lower=np.zeros(n), upper=np.ones(n))


def rounded(rng: np.random.Generator) -> Table:
    """Draw equations in decimals that contradict each other by a rounding."""
    n, k = int(rng.integers(2, 40)), int(rng.integers(2, 25))
    A = rng.integers(-4, 5, (k, n)) * (rng.random((k, n)) < 0.5)
    b, weights = np.round(rng.normal(size=k) * 9, 2), rng.choice([-1, 1], k)
    end = float(weights @ b)
    total = sum((Fraction(v) * int(w) for v, w in zip(b.tolist(), weights, strict=True)), ZERO)
    if total == end:
        end = float(np.nextafter(end, inf))
    rows: Rows = [(a.astype(float), 0, float(v)) for a, v in zip(A, b, strict=True)]
    rows.append(((weights @ A).astype(float), 0, end))
    return table(rng, rows, n)


def crossed(rng: np.random.Generator) -> Table:
    """Draw a lower bound above the upper one, or a row without variables."""
    n = int(rng.integers(2, 8))
    lower, upper = np.zeros(n), np.full(n, 5.0)
    rows = satisfied(rng, n, 4)
    if rng.integers(2):
        lower[int(rng.integers(n))] = 6.0
    else:
        rows.append((np.zeros(n), 1, -1.0))
    return table(rng, rows, n, lower=lower, upper=upper)


def unbounded(rng: np.random.Generator) -> Table:
    """Draw a feasible model and a direction in which the objective improves without end."""
    n, m = int(rng.integers(1, 12)), int(rng.integers(0, 12))
    x, d = rng.integers(-3, 4, n), rng.integers(-2, 3, n)
    d[int(rng.integers(n))] = 1
    rows: Rows = []
    for _ in range(m):
        a = rng.integers(-4, 5, n) * (rng.random(n) < 0.5)
        sense = -int(np.sign(a @ d)) or int(rng.integers(-1, 2))
        rows.append((a.astype(float), sense, float(a @ x) + sense * float(rng.integers(0, 3))))
    lower = np.where((d >= 0) & (rng.random(n) < 0.5), x - 1.0, -inf)
    upper = np.where((d <= 0) & (rng.random(n) < 0.3), x + 1.0, inf)
    made = table(rng, rows, n, lower=lower, upper=upper)
    made.wanted, made.maximised = "unbounded", made.P is None and bool(rng.integers(2))
    if made.P is not None:
        root = rng.integers(-2, 3, (2, n)).astype(float)
        root -= np.outer(root @ d, d) / float(d @ d)
        root = np.round(root * float(d @ d))
        made.P = root.T @ root
    sign = 1.0 if made.maximised else -1.0
    made.q = made.q * float(d @ d) - (float(made.q @ d) - sign * float(rng.integers(1, 4))) * d
    return made


def bounded(rng: np.random.Generator) -> Table:
    """Draw a feasible model with bounds on all variables."""
    n = int(rng.integers(1, 12))
    made = table(
        rng,
        satisfied(rng, n, int(rng.integers(0, 8))),
        n,
        lower=np.full(n, -4.0),
        upper=np.full(n, 5.0),
    )
    made.wanted = "feasible and bounded"
    return made


KINDS: tuple[Callable[[np.random.Generator], Table], ...] = (
    *(planted, capacity, network, cycle, crowded, decimals, tiny, dependent, rounded, crossed),
    *(many, unbounded, bounded),
)


# The checks, in fractions.


def judged(model: Table, at: At) -> Trial:
    """Return the faults of the explanation of a model, and its verdict."""
    as_lp = model.P is None and at.number % 2 == 0
    started = time.process_time()
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"model.{'lp' if as_lp else 'mps'}"
        path.write_text(model.lp() if as_lp else model.mps(), encoding="utf-8")
        found = explain(path, seconds=SECONDS)
    said = [*complaints(model, found)]
    return Trial(
        said,
        Counter([found.verdict]),
        {"CPU s": time.process_time() - started, "members": float(len(found.members))},
    )


def complaints(model: Table, found: Explanation) -> Iterator[str]:
    """Yield what is wrong with an explanation."""
    if found.verdict != model.wanted:
        yield f"{found.verdict} ({found.reason}), and {model.wanted} was drawn"
    elif found.verdict == "infeasible":
        yield from of_contradiction(model, found)
    elif found.verdict == "unbounded":
        yield from of_ray(model, found)
    elif not found.lower <= found.upper < inf:
        yield f"[{found.lower}, {found.upper}] is no finite interval"


def of_contradiction(model: Table, found: Explanation) -> Iterator[str]:
    """Yield the faults of an irreducible infeasible set."""
    total, end = [ZERO] * len(model.columns), ZERO
    for member in found.members:
        row, low, high = stated(model, member)
        side = high if member.weight > 0 else low
        if not isfinite(side):
            yield f"{member.title} has a weight {member.weight} for an end that it lacks"
            return
        total = [v + member.weight * a for v, a in zip(total, row, strict=True)]
        end += member.weight * Fraction(side)
    if any(total):
        yield "the weighted constraints do not cancel"
    if not end < 0 or end != -found.excess:
        yield f"the weighted ends add up to {end}, and -excess is {-found.excess}"
    for member in found.members:
        if member.point is None:
            yield f"{member.title} has no point that the others have in common"
            continue
        if not member.lines and member.kind == "row":
            yield f"{member.title} has no line"
        x = [member.point.get(name, ZERO) for name in model.columns]
        yield from (
            f"without {member.title}, the point violates {other.title}"
            for other in found.members
            if other is not member and not is_met(model, other, x)
        )
        if is_met(model, member, x):
            yield f"{member.title} is met by its point, which all members have in common"


def is_met(model: Table, member: Member, x: list[Fraction]) -> bool:
    """Return True if a point satisfies the named end of a constraint, or the equation."""
    row, low, high = stated(model, member)
    value = sum((a * v for a, v in zip(row, x, strict=True)), ZERO)
    if low == high and member.kind == "row":
        return value == Fraction(low)
    return value <= Fraction(high) if member.weight > 0 else value >= Fraction(low)


def stated(model: Table, member: Member) -> tuple[list[Fraction], float, float]:
    """Return the row and both ends of a named constraint, as drawn."""
    if member.kind == "row":
        i = model.rows.index(member.name)
        return [Fraction(v) for v in model.A[i].tolist()], float(model.low[i]), float(model.high[i])
    j = model.columns.index(member.name)
    unit = [Fraction(int(k == j)) for k in range(len(model.columns))]
    is_lower = member.kind == "lower bound"
    return (
        unit,
        float(model.lower[j]) if is_lower else -inf,
        inf if is_lower else float(model.upper[j]),
    )


def of_ray(model: Table, found: Explanation) -> Iterator[str]:
    """Yield the faults of a feasible point and a ray."""
    x, d = (vector(model, part) for part in (found.point, found.ray))
    A = [[Fraction(v) for v in row] for row in model.A.tolist()]
    ends = [*zip(model.low, model.high, strict=True), *zip(model.lower, model.upper, strict=True)]
    values, slopes = ([*times(A, v), *v] for v in (x, d))
    for (low, high), value, slope in zip(ends, values, slopes, strict=True):
        if not (low <= value <= high):
            yield "the point is not feasible"
        if (isfinite(low) and slope < 0) or (isfinite(high) and slope > 0):
            yield "the direction leaves the feasible set"
    if model.P is not None and any(times([[Fraction(v) for v in r] for r in model.P.tolist()], d)):
        yield "the objective is curved along the direction"
    rate = sum((Fraction(v) * w for v, w in zip(model.q.tolist(), d, strict=True)), ZERO)
    if rate != found.rate or not (rate > 0 if model.maximised else rate < 0):
        yield f"the objective changes by {rate} per step, and {found.rate} was said"


def vector(model: Table, values: Mapping[str, Fraction]) -> list[Fraction]:
    """Return named values in the order of the columns."""
    return [values.get(name, ZERO) for name in model.columns]


def times(M: list[list[Fraction]], x: list[Fraction]) -> list[Fraction]:
    """Return M x."""
    return [sum((a * v for a, v in zip(row, x, strict=True)), ZERO) for row in M]


def drawn(kind: Callable[[np.random.Generator], Table], at: At) -> Table:
    """Return the model of an example."""
    return kind(at.rng())


def checks(_: int) -> Iterator[Check]:
    """Yield the check of each kind."""
    for kind in KINDS:
        yield Check(kind.__name__, judged, partial(drawn, kind), problem=Table.mps)


CAMPAIGN = Campaign(__name__, __doc__, checks, 220, shared=True)
