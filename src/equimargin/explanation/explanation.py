"""Explanation of a program: its verdict, the constraints and the proof."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import inf, isfinite
from typing import Any, Literal

from equimargin.explanation.scales import MagnitudeRange
from equimargin.formulations.programs.program import Program
from equimargin.formulations.programs.rational import Matrix
from equimargin.proofs.certificates.program import program_certificate
from equimargin.proofs.certificates.writing import ratio
from equimargin.proofs.checker import outward
from equimargin.solvers.exact.program import Infeasible, Optimum, UnboundedProgram

FeasibilityVerdict = Literal["infeasible", "unbounded", "feasible and bounded", "undecided"]
"""Verdict on a program; all but the last are proven."""
MAX_FRACTION_CHARACTERS = 16
"""Maximum number of characters of a fraction that is printed exactly."""
MAX_ENTRIES = 10
"""Maximum number of entries of a point that are printed."""
MAX_MEMBERS = 100
"""Maximum number of members that are printed."""
MAX_POINTS = 10
"""Maximum number of members whose points are printed."""


@dataclass(frozen=True)
class Member:
    """Constraint of an irreducible infeasible set.

    Parameters
    ----------
    kind : str
        "row", "lower bound" or "upper bound".
    name : str
        Name of the row or of the variable.
    text : str
        Constraint in the user's names.
    lines : tuple of int
        Lines of the file, as far as they are found.
    origin : str
        Place of a constraint without a line.
    weight : Fraction
        Number by which the constraint is multiplied: the sum over all members is a
        contradiction. Negative for >=.
    point : mapping of str to Fraction, or None
        Nonzero values of variables that satisfy all other members; None if the time
        did not suffice.
    """

    kind: str
    name: str
    text: str
    lines: tuple[int, ...]
    origin: str
    weight: Fraction = field(repr=False)
    point: Mapping[str, Fraction] | None = field(repr=False)

    @property
    def title(self) -> str:
        """Kind, name and lines of the constraint."""
        of = " of " if self.kind != "row" else " "
        numbers = ", ".join(map(str, self.lines))
        place = f"line{'s' * (len(self.lines) > 1)} {numbers}" if self.lines else self.origin
        return f"{self.kind}{of}{self.name}" + (f" ({place})" if place else "")


@dataclass(frozen=True, eq=False)
class Explanation:
    """Explanation of a program.

    Parameters
    ----------
    name : str
        Name of the program.
    verdict : FeasibilityVerdict
        Verdict, proven unless it is "undecided".
    reason : str
        Argument, or the reason why the verdict is undecided.
    taken : str
        Reading of the numbers, which is not proven.
    scales : tuple of MagnitudeRange
        Sizes of the numbers.
    float64 : str
        Sentence with the violations that float64 can decide.
    members : tuple of Member
        Constraints that contradict each other, if the program is infeasible; none can be
        left out, unless the reason says otherwise.
    excess : Fraction
        The members, times their weights, add up to 0 <= -excess.
    violation : float
        Proven lower bound of the largest violation of a member, at every point.
    ray, point : mapping of str to Fraction
        Nonzero entries of the direction in which the objective is unbounded, and of a
        feasible point; empty if there is none.
    rate : Fraction
        Change of the objective per step along the ray.
    lower, upper : float
        Proven interval of the optimum, if the program is feasible and bounded.
    """

    name: str
    verdict: FeasibilityVerdict
    reason: str
    taken: str
    scales: tuple[MagnitudeRange, ...] = field(repr=False)
    float64: str
    members: tuple[Member, ...] = ()
    excess: Fraction = field(default=Fraction(0), repr=False)
    violation: float = 0.0
    ray: Mapping[str, Fraction] = field(default_factory=dict, repr=False)
    point: Mapping[str, Fraction] = field(default_factory=dict, repr=False)
    rate: Fraction = field(default=Fraction(0), repr=False)
    lower: float = -inf
    upper: float = inf
    program: Program | None = field(default=None, repr=False)
    answer: Infeasible | UnboundedProgram | Optimum | None = field(default=None, repr=False)

    @property
    def statement(self) -> str:
        """Sentence with the verdict and its argument."""
        return f"{self.name}: {self.verdict}: {self.reason}; {self.taken}"

    def __str__(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        """Page with the statement, the constraints or the ray, and the scales."""
        return "\n".join([self.statement, *self._proof(), "", *self._table(), self.float64])

    def record(self) -> dict[str, Any]:
        """Return everything as plain values; fractions as text, as in certificates."""
        return {
            "name": self.name,
            "verdict": self.verdict,
            "reason": self.reason,
            "taken": self.taken,
            "float64": self.float64,
            "members": [
                {
                    "kind": member.kind,
                    "name": member.name,
                    "text": member.text,
                    "lines": list(member.lines),
                    "weight": ratio(member.weight),
                    "point": None if member.point is None else _ratios(member.point),
                }
                for member in self.members
            ],
            "excess": ratio(self.excess),
            "violation": self.violation,
            "ray": _ratios(self.ray),
            "point": _ratios(self.point),
            "rate": ratio(self.rate),
            "lower": self.lower if isfinite(self.lower) else str(self.lower),
            "upper": self.upper if isfinite(self.upper) else str(self.upper),
            "scales": [vars(scale) for scale in self.scales],
        }

    def certificate(self) -> dict[str, Any]:
        """Return a certificate of format 2, which `equimargin verify` checks.

        It states the program as a minimisation in rational numbers, with the ray or the
        optimum; that of an infeasible program has its constraints without the objective.

        Raises
        ------
        ValueError
            If no ray and no optimum in rational numbers is known.
        """
        if self.verdict == "infeasible" and self.answer is None:
            remedy = (
                "state the members alone as a linear program"
                if self.members
                else "replace the cones by inequalities, such as tangents, that still contradict"
            )
            raise ValueError(
                f"{self.name} has second-order cones, and a certificate would need their rows; "
                f"{remedy}"
            )
        if self.program is None or self.answer is None:
            raise ValueError(
                f"{self.name} has no ray, and its verdict is {self.verdict!r}; "
                f"`equimargin bound --certificate` certifies an interval"
            )
        program, n = self.program, self.program.n
        if isinstance(self.answer, Infeasible):
            # The checker would otherwise need a proof that the objective is convex.
            zero = Fraction(0)
            program = replace(program, P=Matrix(({},) * n, n), q=(zero,) * n, c=zero)
        return program_certificate(program, self.answer)

    def _proof(self) -> Iterator[str]:
        if self.members:
            yield from self._contradiction()
        if self.ray:
            yield f"  direction: {_values(self.ray)}"
            yield f"  the objective changes by {_short(self.rate)} per step along the direction"
            yield f"  from the feasible point: {_values(self.point)}"

    def _contradiction(self) -> Iterator[str]:
        shown = self.members[:MAX_MEMBERS]
        width = max(len(member.title) for member in shown)
        for member in shown:
            yield f"  {member.title:<{width}}  {member.text}  [times {_short(member.weight)}]"
        if len(self.members) > len(shown):
            yield f"  and {len(self.members) - len(shown)} more in the record (--json)"
        yield f"  times these numbers, they add up to 0 <= {_short(-self.excess)}"
        # A single constraint has no others.
        some = self.members if len(self.members) > 1 else ()
        pointed = [member for member in some if member.point is not None]
        for member in pointed[:MAX_POINTS]:
            yield (
                f"  without {member.title} the others have a common point: {_values(member.point)}"
            )
        if len(pointed) > MAX_POINTS:
            yield f"  and {len(pointed) - MAX_POINTS} more such points in the record (--json)"
        late = sum(member.point is None for member in self.members)
        if late:
            yield f"  {late} such points were not computed in time; raise the limit (--time-limit)"

    def _table(self) -> Iterator[str]:
        head = ("numbers", "smallest", "largest", "ratio", "places")
        cells = [
            (
                scale.part,
                f"{scale.smallest:.3g}",
                f"{scale.largest:.3g}",
                f"{scale.ratio:.1e}",
                scale.smallest_place
                if scale.smallest == scale.largest
                else f"{scale.smallest_place}; {scale.largest_place}",
            )
            for scale in self.scales
        ]
        widths = [max(len(row[k]) for row in (head, *cells)) for k in range(len(head) - 1)]
        for row in (head, *cells):
            yield "  ".join(f"{cell:<{w}}" for cell, w in zip(row, [*widths, 0], strict=True))


def _ratios(values: Mapping[str, Fraction]) -> dict[str, str]:
    return {name: ratio(v) for name, v in values.items()}


def _values(values: Mapping[str, Fraction] | None) -> str:
    """Return the nonzero entries of a vector as text."""
    entries = list((values or {}).items())
    shown = [f"{name} = {_short(v)}" for name, v in entries[:MAX_ENTRIES]]
    left = len(entries) - len(shown)
    more = f", and {left} more in the record (--json)" if left else ""
    return f"{', '.join(shown)}{more}" if shown else "0"


def _short(v: Fraction) -> str:
    """Return a fraction exactly if it is short, else about 6 digits."""
    if v.numerator.bit_length() + v.denominator.bit_length() < 4 * MAX_FRACTION_CHARACTERS:
        text = str(v)
        if len(text) <= MAX_FRACTION_CHARACTERS:
            return text
    return f"about {outward(v, -1):.6g}"
