"""Verdict on two problems: EQUAL with a proof, DIFFERENT with an instance, or UNDECIDED."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from textwrap import wrap
from typing import Any, Literal

from equimargin.formulations.programs.reading import READINGS, Reading
from equimargin.proofs.equivalence.comparison import InstanceComparison

MIN_ALIKE_INSTANCES = 4
"""Minimum number of instances for a sentence on a common ratio or difference of optima."""
LONGEST_FRACTION = 130
"""Longest fraction that is printed exactly, in bits: about forty digits."""
CAUSES_SHOWN = 3
"""Maximum number of listed causes of undecided instances."""
WIDTH = 80
"""Width of a printed verdict, in columns; lines of Python code may be longer."""


@dataclass(frozen=True, eq=False)
class Difference:
    """Instance on which the exact optima of two problems differ.

    Attributes
    ----------
    data : object
        Instance.
    values : tuple of 2 Fraction or float
        Exact optima, or infinities that exact rays prove.
    code : str
        Lines of Python that compute and print these optima.
    certificates : tuple of 2 dict or None
        Certificates of the two programs, for `equimargin verify`; None in place of one that
        the checker rejects.
    """

    data: Any = field(repr=False)
    values: tuple[Fraction | float, Fraction | float]
    code: str = field(repr=False)
    certificates: tuple[dict[str, Any] | None, dict[str, Any] | None] = field(repr=False)


@dataclass(frozen=True, eq=False)
class Same:
    """Verdict on the equality of two problems' optima.

    Attributes
    ----------
    a, b : str
        Names of the problems.
    verdict : {"EQUAL", "DIFFERENT", "UNDECIDED"}
        EQUAL only with a proof at every sampled instance, DIFFERENT only with an instance of
        different optima.
    reasons : tuple of str
        Verdict in sentences.
    difference : Difference or None
        Instance of different optima, if there is one.
    findings : tuple of InstanceComparison
        Comparisons at the sampled instances.
    instances : int
        Number of instances at which both exact optima are known.
    equal : int
        Number of instances with equal optima.
    undecided : Counter of str
        Number of instances without both optima, by the cause.
    seconds : float
        Elapsed seconds.
    """

    a: str
    b: str
    verdict: Literal["EQUAL", "DIFFERENT", "UNDECIDED"]
    reasons: tuple[str, ...]
    difference: Difference | None
    findings: tuple[InstanceComparison, ...] = field(repr=False)
    instances: int
    equal: int
    undecided: Counter[str]
    seconds: float

    def __str__(self) -> str:
        sentences, code = list(self.reasons), list[str]()
        if self.difference is not None:
            first, second = map(in_words, self.difference.values)
            sentences.append(
                f"The exact optima are {first} and {second}; these lines compute them:"
            )
            code = ["", *(f"    {line}" for line in self.difference.code.splitlines()), ""]
        counted = [
            f"{instances_counted(self.instances)} with two exact optima, equal on "
            f"{self.equal}; {self.seconds:.1f} s"
        ]
        counted += [
            f"{instances_counted(count)} undecided: {why}"
            for why, count in self.undecided.most_common(CAUSES_SHOWN)
        ]
        return "\n".join(
            [
                f"{self.verdict}: A = {self.a}, B = {self.b}",
                *_indented(sentences),
                *code,
                *_indented(counted),
            ]
        )

    def record(self) -> dict[str, Any]:
        """Return the verdict as a JSON object."""
        different = self.difference
        return {
            "a": self.a,
            "b": self.b,
            "verdict": self.verdict,
            "reasons": list(self.reasons),
            "instances": self.instances,
            "equal": self.equal,
            "undecided": dict(self.undecided),
            "seconds": self.seconds,
            "optima": None
            if different is None
            else [in_words(value) for value in different.values],
            "code": None if different is None else different.code,
            "certificates": None if different is None else list(different.certificates),
        }


def found_reasons(explained: Sequence[InstanceComparison]) -> list[str]:
    """Return a sentence for each kind of proof that was found, the most frequent kind first.

    Of the texts of one kind, the longest is used.

    Parameters
    ----------
    explained : sequence of InstanceComparison
        Comparisons of instances with equal optima.
    """
    kinds: dict[str, list[str]] = {}
    for comparison in explained:
        if comparison.reason is not None:
            kinds.setdefault(comparison.reason.kind, []).append(str(comparison.reason))
    ordered = sorted(kinds.values(), key=len, reverse=True)
    return [
        f"{max(statements, key=len)}, on {len(statements)} of {instances_counted(len(explained))}."
        for statements in ordered
    ]


def scope(
    explained: Sequence[InstanceComparison], infinite: Sequence[InstanceComparison], left_out: int
) -> list[str]:
    """Return sentences on the data for which the proof is verified.

    Parameters
    ----------
    explained : sequence of InstanceComparison
        Comparisons of instances with equal finite optima.
    infinite : sequence of InstanceComparison
        Comparisons of instances with equal infinite optima.
    left_out : int
        Number of instances at which one problem cannot be declared.
    """
    general = [found.for_all_data for found in explained if found.for_all_data is not None]
    sentences = [
        "It is verified in rationals, number by number, at every instance drawn; nothing is "
        "claimed of other data."
    ]
    # A proof for all data must be found at every instance.
    if len(general) == len(explained):
        names, above = (
            general[0].names,
            dict.fromkeys(name for reason in general for name in reason.above_zero),
        )
        of_which = (
            f"the parameter {names[0]}" if len(names) == 1 else f"the parameters {', '.join(names)}"
        )
        where = (
            f" {' and '.join(above)} {'is' if len(above) == 1 else 'are'} above 0 and"
            if above
            else ""
        )
        sentences = [
            f"For the problems built here, the proof holds for all values of {of_which} at "
            f"which{where} either is feasible: it is verified in "
            "polynomials of the parameters' entries. Whether other problems are built at "
            "other values is not examined."
        ]
    elif read := sorted(frozenset[str]().union(*(found.values_read for found in explained))):
        sentences.append(
            f"No claim holds for all values of {', '.join(read)}: a function reads this "
            f"value while it builds its problem."
        )
    if infinite:
        sentences.append(
            f"On {instances_counted(len(infinite))} more exact rays prove that both values "
            f"are the same infinity."
        )
    if left_out:
        sentences.append(
            f"On {instances_counted(left_out)} more, one of the two cannot be declared: "
            f"the verdict covers only data for which both can."
        )
    return sentences


def separation(
    different: InstanceComparison, findings: Sequence[InstanceComparison], reading: Reading
) -> list[str]:
    """Return sentences on the difference, with a ratio or difference common to all instances.

    Parameters
    ----------
    different : InstanceComparison
        Comparison at the smallest instance that was found.
    findings : sequence of InstanceComparison
        Comparisons of all sampled instances.
    reading : Reading
        Interpretation of the floats.
    """
    # Equal pairs of optima, as of instances that differ in order alone, count once.
    pairs = {found.values for found in findings if found.values is not None and found.finite}
    sentences = [
        "The exact optima differ on the smallest instance that was found. Nothing proves "
        "that there is no smaller one."
    ]
    ratios = {Fraction(second) / Fraction(first) for first, second in pairs if first != 0}
    distances = {Fraction(second) - Fraction(first) for first, second in pairs}
    finite = sum(found.finite for found in findings)
    alike = f"on all {instances_counted(finite)} drawn with two finite optima."
    # A ratio of 1, a difference of 0, or one of few instances is not reported.
    enough = finite >= MIN_ALIKE_INSTANCES and len(pairs) > 1
    if (
        enough
        and len(ratios) == 1
        and ratios != {1}
        and all((first == 0) == (second == 0) for first, second in pairs)
    ):
        sentences.append(f"B is {in_words(ratios.pop())} times A {alike}")
    elif enough and len(distances) == 1 and distances != {0}:
        sentences.append(f"B is A + {in_words(distances.pop())} {alike}")
    return [*sentences, reading_used(reading)]


def reading_used(reading: Reading) -> str:
    """Return the interpretation of the floats, as a sentence.

    Parameters
    ----------
    reading : Reading
        Interpretation of the floats.
    """
    return f"{READINGS[reading][:1].upper()}{READINGS[reading][1:]}."


def instances_counted(count: int) -> str:
    """Return a number of instances as text, such as "2 instances".

    Parameters
    ----------
    count : int
        Number of instances.
    """
    return f"{count} instance" if count == 1 else f"{count} instances"


def _indented(sentences: Sequence[str]) -> list[str]:
    """Return sentences as indented lines of at most WIDTH columns."""
    lines = (
        wrap(sentence, WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
        for sentence in sentences
    )
    return [line for sentence in lines for line in sentence]


def in_words(value: Fraction | float) -> str:
    """Return a number as text: a short fraction exactly, a longer one as "about" a decimal.

    Parameters
    ----------
    value : Fraction or float
        Number, or infinity.
    """
    if isinstance(value, float):
        return "infinity" if value > 0 else "-infinity"
    if value.numerator.bit_length() + value.denominator.bit_length() <= LONGEST_FRACTION:
        return str(value)
    return f"about {Decimal(value.numerator) / Decimal(value.denominator):.17g}"
