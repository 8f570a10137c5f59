"""Check of VIPR certificates of linear programs, in fractions.

A VIPR file states a linear program, a claim (an interval of the optimum, or that no
point is feasible), points, and derived constraints. Every derived constraint is a
combination of constraints before it, and the last one is the claimed bound, or
0 >= 1 in some form. SCIP writes such files for mixed-integer programs; the files that
are read here have no integer variables, hence no rounding and no case distinctions.
All arithmetic is that of fractions. Only the standard library is imported.

References
----------
K. K. H. Cheung, A. Gleixner, D. E. Steffy, Verifying integer programming results,
IPCO 2017; "MILP certificate file format", versions 1.0 and 1.1, of the VIPR project.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

LARGEST_FILE = 2**25
"""Longest file that is read, 32 MiB, in bytes."""
MAX_DIGITS = 4300
"""Digits of the longest integer; the time to parse grows with their square."""
MAX_WORK = 8 * 10**6
"""Maximum of the terms of all sums of a check, about half a minute of arithmetic.

A term of long numbers counts as several.
"""
SQUARED_BITS_OF_A_TERM = 2**24
"""Squared bits of numbers that count as one further term."""
SENSES = {"G": 1, "E": 0, "L": -1}
"""Sign of a constraint's difference of left and right side, by its letter."""
_INTEGER = f"[0-9]{{1,{MAX_DIGITS}}}"
_VALUE = re.compile(
    f"[+-]?(?:{_INTEGER}(?:/{_INTEGER}|[.][0-9]{{0,{MAX_DIGITS}}})?|[.]{_INTEGER})", re.ASCII
)
_INDEX = re.compile("[0-9]{1,18}", re.ASCII)
_WORD = re.compile(r"[^ \t\r\n\f\v]+")
_COMMENTS = re.compile(r"(?:[ \t\r\n\f\v]|%[^\n]*\n)*+")


class UnsupportedError(ValueError):
    """A part of a format that is not checked, for example integer variables."""


class Constraint(NamedTuple):
    """Linear constraint a'x >= rhs (sense 1), a'x = rhs (0) or a'x <= rhs (-1).

    Parameters
    ----------
    left : dict[int, Fraction]
        Nonzero entries of a.
    is_assumed : bool
        True if the constraint is assumed, or derived from an assumption.
    """

    sense: int
    rhs: Fraction
    left: dict[int, Fraction]
    is_assumed: bool = False

    @property
    def is_absurd(self) -> bool:
        """True if no point satisfies the constraint, which has no variables."""
        return not self.left and not holds(self.sense, -self.rhs)

    def dominates(self, other: Constraint) -> bool:
        """Return True if the other constraint follows: the same a, and no weaker a side.

        Parameters
        ----------
        other : Constraint
            Other constraint.
        """
        return self.is_absurd or (
            self.left == other.left
            and self.sense in (0, other.sense)
            and holds(other.sense, self.rhs - other.rhs)
        )


class ProgramClaim(NamedTuple):
    """Proven claim about the optimum of a linear program.

    Parameters
    ----------
    maximised : bool
        True if the objective is maximised.
    lower, upper : Fraction or None
        Interval of the optimum; None where no end is claimed.
    infeasible : bool
        True if the claim is that no point is feasible.
    """

    maximised: bool
    lower: Fraction | None
    upper: Fraction | None
    infeasible: bool


def holds(sense: int, difference: Fraction) -> bool:
    """Return True if the difference of the sides of a constraint fits its sense.

    Parameters
    ----------
    sense : int
        1 for >=, 0 for =, -1 for <=.
    difference : Fraction
        Left side minus right side.
    """
    return difference == 0 if sense == 0 else sense * difference >= 0


def check(data: bytes) -> ProgramClaim:
    """Return the claim of a VIPR certificate once it is proven.

    Parameters
    ----------
    data : bytes
        Content of the file.

    Raises
    ------
    UnsupportedError
        If the file has integer variables, or another version of the format.
    ValueError
        If the file is not in the format, or does not prove its claim.
    """
    if len(data) > LARGEST_FILE:
        raise ValueError(f"the file has more than {LARGEST_FILE:,} bytes")
    return _Certificate(_Words(data)).claim()


class _Words:
    """Words of a file, one after another."""

    def __init__(self, data: bytes) -> None:
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            raise ValueError(f"the file is no text in UTF-8: {error.reason}") from None
        comments = _COMMENTS.match(text)
        start = 0 if comments is None else comments.end()
        self.words: Iterator[re.Match[str]] = _WORD.finditer(text, start)

    def take(self, *expected: str) -> str:
        """Return the next word, which is one of the expected ones if there are any."""
        match = next(self.words, None)
        wanted = " or ".join(expected) or "another word"
        if match is None:
            raise ValueError(f"{wanted} must stand where the file ends")
        if (word := match[0]).startswith("%"):
            # A name or a comment: other readers may take it for either.
            raise ValueError(f"{_quoted(word)} begins with %; comments stand only before VER")
        if expected and word not in expected:
            raise ValueError(f"{wanted} must stand where {_quoted(word)} is")
        return word

    def end(self) -> None:
        if (match := next(self.words, None)) is not None:
            raise ValueError(
                f"the file goes on after the last derived constraint: {_quoted(match[0])}"
            )

    def index(self, below: int) -> int:
        """Return the next word as an integer from 0 to below a number."""
        word = self.take()
        if not _INDEX.fullmatch(word) or int(word) >= below:
            wanted = f"an integer from 0 to {below - 1}" if below else "absent: nothing is listed"
            raise ValueError(f"{_quoted(word)} must be {wanted}")
        return int(word)

    def count(self) -> int:
        return self.index(10**9)

    def value(self, *infinite: str) -> Fraction | None:
        """Return the next word as a number; None if it is one of the infinite ones."""
        word = self.take()
        if word in infinite:
            return None
        if not _VALUE.fullmatch(word):
            raise ValueError(
                f"{_quoted(word)} must be an integer, a fraction or a decimal of at most "
                f"{MAX_DIGITS} digits"
            )
        try:
            return Fraction(word)
        except ZeroDivisionError:
            raise ValueError(f"{_quoted(word)} is divided by 0") from None

    def number(self) -> Fraction:
        number = self.value()
        assert number is not None
        return number

    def entries(self, below: int, count: int | None = None) -> dict[int, Fraction]:
        """Return pairs of an index and a number, whose count is first, as a dictionary."""
        entries: dict[int, Fraction] = {}
        for _ in range(self.count() if count is None else count):
            index = self.index(below)
            if index in entries:
                raise ValueError(f"the index {index} is listed twice")
            entries[index] = self.number()
        return entries


@dataclass
class _Certificate:
    """Certificate whose parts are read and checked in the order of the file."""

    words: _Words
    variables: int = 0
    maximised: bool = False
    objective: dict[int, Fraction] = field(default_factory=dict)
    constraints: list[Constraint] = field(default_factory=list)
    work: int = 0

    def claim(self) -> ProgramClaim:
        """Return the claim once it is proven."""
        self.read_program()
        given = len(self.constraints)
        claim = self.read_claim()
        values = [self.read_solution() for _ in range(self.section("SOL"))]
        for _ in range(self.section("DER")):
            self.derive()
        self.words.end()
        last = self.constraints[-1] if len(self.constraints) > given else None
        self.prove(claim, last, values)
        return claim

    def section(self, name: str) -> int:
        """Return the number of parts of the section that begins here."""
        self.words.take(name)
        return self.words.count()

    def read_program(self) -> None:
        words = self.words
        words.take("VER")
        if (version := words.take()) not in ("1.0", "1.1"):
            raise UnsupportedError(f"the version {_quoted(version)} is not known, only 1.0 and 1.1")
        self.variables = self.section("VAR")
        for _ in range(self.variables):
            words.take()
        if integers := self.section("INT"):
            raise UnsupportedError(
                f"{integers} variables are integers; only linear programs are checked, so use "
                f"viprchk of the VIPR project"
            )
        words.take("OBJ")
        self.maximised = words.take("min", "max") == "max"
        self.objective = _nonzero(words.entries(self.variables))
        count = self.section("CON")
        words.index(count + 1)
        for _ in range(count):
            self.constraints.append(self.read_constraint())

    def read_claim(self) -> ProgramClaim:
        words = self.words
        words.take("RTP")
        if words.take("infeas", "range") == "infeas":
            return ProgramClaim(self.maximised, None, None, True)
        return ProgramClaim(self.maximised, words.value("-inf"), words.value("inf"), False)

    def read_constraint(self) -> Constraint:
        """Return the constraint that is written here, after its name."""
        words = self.words
        words.take()
        sense, rhs = SENSES[words.take(*SENSES)], words.number()
        count = words.take()
        if count == "OBJ":
            return Constraint(sense, rhs, self.objective)
        if not _INDEX.fullmatch(count):
            raise ValueError(
                f"{_quoted(count)} must be OBJ, or the number of a constraint's entries"
            )
        return Constraint(sense, rhs, _nonzero(words.entries(self.variables, int(count))))

    def read_solution(self) -> Fraction:
        """Return the objective of the point that is written here; it must be feasible."""
        name = self.words.take()
        x = self.words.entries(self.variables)
        for index, constraint in enumerate(self.constraints):
            self.count_work(1)
            if not holds(constraint.sense, self.value(constraint.left, x) - constraint.rhs):
                raise ValueError(f"the solution {_quoted(name)} violates the constraint {index}")
        return self.value(self.objective, x)

    def value(self, left: dict[int, Fraction], x: dict[int, Fraction]) -> Fraction:
        total = Fraction(0)
        for j, entry in left.items():
            total = self.add(total, entry, x.get(j, Fraction(0)))
        return total

    def derive(self) -> None:
        """Read a derived constraint, check its reason, and add it to the constraints."""
        words, index = self.words, len(self.constraints)
        stated = self.read_constraint()
        words.take("{")
        reason = words.take()
        if reason == "asm":
            derived = stated._replace(is_assumed=True)
        elif reason == "lin":
            derived = self.combine(index)
            if not derived.dominates(stated):
                raise ValueError(
                    f"the constraint {index} does not follow from the combination of its reason"
                )
            derived = stated._replace(is_assumed=derived.is_assumed)
        elif reason in ("rnd", "uns", "sol"):
            raise UnsupportedError(
                f"the constraint {index} has the reason {reason}, which is one of integer "
                f"programs; only asm and lin are checked"
            )
        else:
            raise ValueError(f"the constraint {index} has the unknown reason {_quoted(reason)}")
        words.take("}")
        last_use = words.take()
        if last_use != "-1" and not _INDEX.fullmatch(last_use):
            raise ValueError(f"{_quoted(last_use)} must be the index of a constraint, or -1")
        self.constraints.append(derived)

    def combine(self, index: int) -> Constraint:
        """Return the combination of constraints that is written here."""
        words = self.words
        count = words.take()
        if count in ("weak", "incomplete"):
            raise UnsupportedError(
                f"the constraint {index} is {count}: its reason is to be completed, by viprcomp "
                f"of the VIPR project"
            )
        if not _INDEX.fullmatch(count):
            raise ValueError(f"{_quoted(count)} must be the number of combined constraints")
        left: dict[int, Fraction] = {}
        rhs, senses, is_assumed = Fraction(0), set(), False
        for i, factor in words.entries(index, int(count)).items():
            part = self.constraints[i]
            senses.add(part.sense if factor > 0 else -part.sense if factor < 0 else 0)
            is_assumed |= part.is_assumed
            rhs = self.add(rhs, factor, part.rhs)
            for j, entry in part.left.items():
                left[j] = self.add(left.get(j, Fraction(0)), factor, entry)
        if senses >= {1, -1}:
            raise ValueError(f"the constraint {index} combines inequalities of opposite senses")
        return Constraint(sum(senses), rhs, _nonzero(left), is_assumed)

    def add(self, total: Fraction, factor: Fraction, entry: Fraction) -> Fraction:
        """Return total + factor * entry, within the limit of the work."""
        bits = 0
        for number in (total, factor, entry):
            bits += number.numerator.bit_length() + number.denominator.bit_length()
        self.count_work(1 + bits * bits // SQUARED_BITS_OF_A_TERM)
        return total + factor * entry

    def count_work(self, terms: int) -> None:
        self.work += terms
        if self.work > MAX_WORK:
            raise ValueError("the check needs more arithmetic than half a minute")

    def prove(self, claim: ProgramClaim, last: Constraint | None, values: list[Fraction]) -> None:
        """Raise a ValueError unless the last constraint and the points prove the claim."""
        proved = last if last is not None and not last.is_assumed else None
        if claim.infeasible:
            if proved is None or not proved.is_absurd:
                raise ValueError(
                    "the last derived constraint is no contradiction without assumptions, so that "
                    "a point may be feasible"
                )
            return
        # Constraints bound the minimum from below, a feasible point from above; for a
        # maximum, the sides change.
        derived, reached = (
            (claim.upper, claim.lower) if claim.maximised else (claim.lower, claim.upper)
        )
        sense = -1 if claim.maximised else 1
        if derived is not None and (
            proved is None or not proved.dominates(Constraint(sense, derived, self.objective))
        ):
            raise ValueError(
                "the last derived constraint does not bound the objective by the claimed end "
                "without assumptions"
            )
        if reached is not None and not any(sense * (reached - value) >= 0 for value in values):
            raise ValueError("no solution has an objective within the claimed interval")


def _quoted(word: str) -> str:
    """Return the first characters of a word of the file, without control characters."""
    return repr(word[:40])


def _nonzero(entries: dict[int, Fraction]) -> dict[int, Fraction]:
    return {j: entry for j, entry in entries.items() if entry}
