"""The verdict on two problems: EQUAL with its reason, DIFFERENT with an instance, or UNDECIDED with the evidence."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import partial
from textwrap import wrap
from typing import Any, Literal

from equimargin.formulations import REGISTRY
from equimargin.formulations.numeric.arguments import count, positive
from equimargin.formulations.programs.reading import READINGS, Reading
from equimargin.proofs.certificates.program import program_certificate
from equimargin.proofs.sameness import Finding, Statement, compare_at, name_of, stated
from equimargin.proofs.sameness.comparison import RELATIVELY_APART
from equimargin.sameness.instances import drawn, instances_of
from equimargin.sameness.reproduction import reproduction
from equimargin.sameness.search import Search
from equimargin.solvers.exact.program import Undecided
from equimargin.solvers.exact.program.clock import Clock, OutOfTime

DRAWS = 8
"""Instances on which a reason is sought, where nobody says how many."""
SIFTED = 8
"""Instances that are drawn for each on which a reason is sought: most small ones are trivial, or have no finite optimum."""
EXAMPLES = 100
"""Instances that are drawn to find a difference, where nobody says how many."""
SECONDS = 300.0
"""Seconds that a verdict may take, where nobody says how many."""
PROOF_SECONDS = 20.0
"""Seconds that the certificate of one optimum may take, which was found before."""
FEWEST_ALIKE = 4
"""Instances at least on which a ratio or a distance of the optima must be the same to be worth a sentence."""
LONGEST_FRACTION = 130
"""Bits of a fraction that is printed as one, about forty digits."""
CAUSES_SHOWN = 3
"""Causes of undecided instances that are listed at most."""
NOTHING_TO_COMPARE = "No drawn instance has two exact optima to compare."
"""Said where a search has nothing to go by."""
WIDTH = 80
"""Columns of a terminal that a verdict fits in; lines of Python may be longer."""


@dataclass(frozen=True, eq=False)
class Difference:
    """An instance on which the exact optima of two problems differ.

    Attributes
    ----------
    data : Any
        The instance.
    values
        The exact optima, or infinities that exact rays prove.
    code : str
        Lines of Python that print them.
    certificates
        Certificates of the two programs, as `equimargin verify` checks them; None where the checker
        does not take one.
    """

    data: Any = field(repr=False)
    values: tuple[Fraction | float, Fraction | float]
    code: str = field(repr=False)
    certificates: tuple[dict[str, Any] | None, dict[str, Any] | None] = field(repr=False)


@dataclass(frozen=True, eq=False)
class Same:
    """Whether two problems have equal optima.

    Attributes
    ----------
    a, b : str
        Their names.
    verdict
        EQUAL only with a reason at every instance drawn, DIFFERENT only with an instance.
    reasons : tuple[str, ...]
        The verdict in sentences.
    difference : Difference or None
        The instance, where there is one.
    findings : tuple[Finding, ...]
        The instances drawn, with their reasons.
    instances : int
        How many have two exact optima.
    equal : int
        On how many these are equal.
    undecided : Counter[str]
        The others, by their causes.
    seconds : float
        Seconds taken.
    """

    a: str
    b: str
    verdict: Literal["EQUAL", "DIFFERENT", "UNDECIDED"]
    reasons: tuple[str, ...]
    difference: Difference | None
    findings: tuple[Finding, ...] = field(repr=False)
    instances: int
    equal: int
    undecided: Counter[str]
    seconds: float

    def __str__(self) -> str:
        said, code = list(self.reasons), list[str]()
        if self.difference is not None:
            first, second = map(in_words, self.difference.values)
            said.append(f"The exact optima are {first} and {second}; these lines compute them:")
            code = ["", *(f"    {line}" for line in self.difference.code.splitlines()), ""]
        counted = [f"{_instances(self.instances)} with two exact optima, equal on {self.equal}; {self.seconds:.1f} s"]
        counted += [f"{_instances(count)} undecided: {why}" for why, count in self.undecided.most_common(CAUSES_SHOWN)]
        return "\n".join([f"{self.verdict}: A = {self.a}, B = {self.b}", *_indented(said), *code, *_indented(counted)])

    def record(self) -> dict[str, Any]:
        """The verdict in what JSON knows."""
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
            "optima": None if different is None else [in_words(value) for value in different.values],
            "code": None if different is None else different.code,
            "certificates": None if different is None else list(different.certificates),
        }


def same(
    a: Statement,
    b: Statement,
    data: Any = None,
    *,
    draws: int = DRAWS,
    examples: int = EXAMPLES,
    seed: int = 0,
    finite: bool = False,
    reading: Reading = "fractions",
    seconds: float = SECONDS,
) -> Same:
    """The verdict on whether two problems have equal optima, for all data that a strategy draws.

    At every instance drawn, the exact optima are compared in rationals, and a reason is sought why
    they are equal: a renaming with scales, the Lagrangian dual, equations solved for unknowns, or a
    chain of these, each verified number by number. Where the data enter as cvxpy parameters, a
    reason may hold for all their values in the problems that were built. Then an instance with
    different optima is sought, and made small.

    Parameters
    ----------
    a, b : Statement
        The id of a formulation, or a function of data that returns a cvxpy problem, or a problem
        and the map of its optimum to the number that is compared. A value map should take
        fractions, -inf and inf.
    data : Any
        A hypothesis strategy of what both take; by default small problems of the family of the
        ids. Ids of two families that take the same data, such as svm.soft and svm.nobias, are asked
        on problems of one of them, and of the other at the same points, labels, cost, kernel and
        weights.
    draws : int
        Instances on which a reason is sought.
    examples : int
        Instances that are drawn to find a difference.
    seed : int
        Seed of both.
    finite : bool
        Whether a difference must be one of two finite optima.
    reading : Reading
        How floats are read.
    seconds : float
        The time limit.

    Returns
    -------
    Same : the verdict.

    Raises
    ------
    KeyError : an unknown id.  TypeError : a function that returns no problem.
    ValueError : data that nobody says, or that cannot be drawn, or wrong numbers.
    """
    started = time.monotonic()
    asked = _Question(a, b, reading, Clock(positive(seconds, "seconds")), finite)
    strategy = instances_of(a, b) if data is None else data
    findings, in_time = asked.findings(strategy, count(draws, "draws"), seed)
    apart = next((found for found in findings if found.apart), None)
    search = asked.search(finite or (apart is not None and apart.finite))
    different = search.run(strategy, count(examples, "examples"), seed)
    if different is None and apart is not None and (apart.finite or not finite):
        different = apart
    if different is not None:
        verdict, reasons = "DIFFERENT", _separated(different, findings, reading)
    else:
        verdict, reasons = _without_difference(findings, search, in_time, reading)
    return asked.answer(verdict, reasons, different, findings, search, time.monotonic() - started)


def refute(
    a: Statement,
    b: Statement | None = None,
    data: Any = None,
    *,
    examples: int = 3 * EXAMPLES,
    seed: int = 0,
    finite: bool = False,
    reading: Reading = "fractions",
    seconds: float = SECONDS,
) -> Same:
    """Search for the smallest instance on which two problems have different optima.

    Parameters
    ----------
    a, data, examples, seed, finite, reading, seconds
        As in `same`.
    b : Statement or None
        The other problem; by default the definition of the family of a, the first of its
        formulations that is not a.

    Returns
    -------
    Same : DIFFERENT with the instance, or UNDECIDED.

    Raises
    ------
    KeyError, ValueError, TypeError
        As `same` does; a ValueError also where nothing is known to compare `a` with.
    """
    started = time.monotonic()
    b = definition(a) if b is None else b
    asked = _Question(a, b, reading, Clock(positive(seconds, "seconds")), finite)
    search, strategy = asked.search(finite), instances_of(a, b) if data is None else data
    drawn(strategy, 1, seed)  # a strategy that fails is refused here: the search passes over what hypothesis raises
    different = search.run(strategy, count(examples, "examples"), seed)
    if different is not None:
        return asked.answer("DIFFERENT", _separated(different, (), reading), different, (), search, time.monotonic() - started)
    none = "No instance was found on which they differ." if search.looked_at else NOTHING_TO_COMPARE
    reasons = [none, *_in_time(search.in_time), _read(reading)]
    return asked.answer("UNDECIDED", reasons, None, (), search, time.monotonic() - started)


def definition(a: Statement) -> str:
    """The first formulation of a formulation's family that is not it and no control.

    Raises
    ------
    KeyError : an unknown id.  ValueError : a function, or a formulation that is alone.
    """
    if not isinstance(a, str):
        raise ValueError(f"say what {name_of(a)} is compared with: it is no formulation of a family")
    instances_of(a, None)
    others = [id for id, entry in REGISTRY.items() if entry.family == REGISTRY[a].family and id != a and not entry.control]
    if not others:
        raise ValueError(f"{a} is the only formulation of its family: say what it is compared with")
    return others[0]


@dataclass(frozen=True, eq=False)
class _Question:
    a: Statement
    b: Statement
    reading: Reading
    clock: Clock
    finite: bool

    def findings(self, strategy: Any, draws: int, seed: int) -> tuple[list[Finding], bool]:
        """What is known at the largest instances drawn, and whether the time sufficed.

        The draws are those with finite optima.
        """
        found: list[Finding] = []
        try:
            for instance in drawn(strategy, SIFTED * draws, seed):
                if sum(not (each.refused or (each.equal and not each.finite)) for each in found) == draws:
                    break
                found.append(compare_at(instance, self.a, self.b, self.reading, self.clock))
        except OutOfTime:
            return found, False
        return found, True

    def search(self, finite: bool) -> Search:
        """A search that asks no reasons."""
        compare = partial(compare_at, a=self.a, b=self.b, reading=self.reading, clock=self.clock, explain=False)
        return Search(compare, finite)

    def proof(self, statement: Statement, different: Finding) -> dict[str, Any] | None:
        """A certificate of the optimum of a problem, or of its ray, at the instance on which two differ."""
        of = stated(statement, different.data, self.reading, Clock(PROOF_SECONDS))
        try:
            assert not isinstance(of.outcome, Undecided)
            return program_certificate(of.program, of.outcome)
        except (ValueError, OutOfTime):
            return None

    def answer(
        self,
        verdict: Any,
        reasons: Sequence[str],
        different: Finding | None,
        findings: Sequence[Finding],
        search: Search,
        seconds: float,
    ) -> Same:
        """The verdict with all that was counted."""
        known = [found for found in findings if found.values is not None]
        undecided = search.undecided + Counter(found.undecided for found in findings if found.values is None)
        difference = None
        if different is not None:
            assert different.values is not None
            code = reproduction(self.a, self.b, different.data, self.reading)
            difference = Difference(different.data, different.values, code, (self.proof(self.a, different), self.proof(self.b, different)))
        instances, equal = len(known) + search.looked_at, sum(found.equal for found in known) + search.equal
        a, b = name_of(self.a), name_of(self.b)
        return Same(a, b, verdict, tuple(reasons), difference, tuple(findings), instances, equal, undecided, seconds)


def _without_difference(findings: Sequence[Finding], search: Search, in_time: bool, reading: Reading) -> tuple[str, list[str]]:
    """The verdict where no instance separates the two, and why."""
    taken = [found for found in findings if not found.refused]
    known = [found for found in taken if found.values is not None]
    explained = [found for found in known if found.reason is not None]
    infinite = [found for found in known if found.equal and not found.finite]
    rounded = sum(not found.equal for found in known) + search.looked_at - search.equal
    if in_time and explained and len(explained) + len(infinite) == len(taken) and not rounded:
        scope = _scope(explained, infinite, len(findings) - len(taken))
        return "EQUAL", [*_reasons(explained), *scope, *_in_time(search.in_time), _read(reading)]
    unexplained = len(known) - len(explained) - len(infinite)
    said = [f"No reason was found on {unexplained} of {_instances(len(known))}."] if unexplained else []
    unsought = Counter(found.unsought for found in known if found.unsought)
    said += [f"None was sought on {_instances(count)}: {why}." for why, count in unsought.items()]
    if not known:
        said = [NOTHING_TO_COMPARE]
    elif len(infinite) == len(known):
        said = [f"Exact rays prove the same infinity of both on {_instances(len(known))}, and no drawn instance has a finite optimum."]
    if 0 < len(known) < len(taken):
        said.append(f"{len(taken) - len(known)} of the {len(taken)} instances drawn are undecided.")
    if rounded:
        near = f"{float(RELATIVELY_APART):g}"
        explained_by = f"within {near}, or within what roundings of the stated numbers explain"
        said.append(f"On {rounded} the optima agree only {explained_by}: numbers were rounded before they were declared.")
    return "UNDECIDED", [*said, *_in_time(in_time and search.in_time), _read(reading)]


def _reasons(explained: Sequence[Finding]) -> list[str]:
    """The reasons that were found, the most frequent kind first, each in the words of its longest statement."""
    kinds: dict[str, list[str]] = {}
    for found in explained:
        if found.reason is not None:
            kinds.setdefault(found.reason.kind, []).append(str(found.reason))
    ordered = sorted(kinds.values(), key=len, reverse=True)
    return [f"{max(said, key=len)}, on {len(said)} of {_instances(len(explained))}." for said in ordered]


def _scope(explained: Sequence[Finding], infinite: Sequence[Finding], left_out: int) -> list[str]:
    """For which data the reason is verified."""
    general = [found.for_all_data for found in explained if found.for_all_data is not None]
    said = ["It is verified in rationals, number by number, at every instance drawn; nothing is claimed of other data."]
    if len(general) == len(explained):
        names, above = general[0].names, dict.fromkeys(name for each in general for name in each.above_zero)
        of_which = f"the parameter {names[0]}" if len(names) == 1 else f"the parameters {', '.join(names)}"
        where = f" {' and '.join(above)} {'is' if len(above) == 1 else 'are'} above 0 and" if above else ""
        said = [
            f"Of the problems built here, it holds for all values of {of_which} at which{where} either is feasible: it is verified in "
            "polynomials of the entries of parameters. Whether other problems are built at other values is not examined."
        ]
    elif read := sorted(frozenset[str]().union(*(found.values_read for found in explained))):
        said.append(f"No claim holds for all values of {', '.join(read)}: a function reads this value while it builds its problem.")
    if infinite:
        said.append(f"On {_instances(len(infinite))} more exact rays prove that both values are the same infinity.")
    if left_out:
        said.append(f"On {_instances(left_out)} more one of the two is not stated: the verdict is on the data that both take.")
    return said


def _separated(different: Finding, findings: Sequence[Finding], reading: Reading) -> list[str]:
    """What is different, and whether the optima are in one ratio or at one distance on all instances drawn."""
    pairs = [found.values for found in findings if found.values is not None and found.finite]
    said = ["The exact optima differ on the smallest instance that was found. Nothing proves that there is no smaller one."]
    ratios = {Fraction(second) / Fraction(first) for first, second in pairs if first != 0}
    distances = {Fraction(second) - Fraction(first) for first, second in pairs}
    alike = f"on all {_instances(len(pairs))} drawn with two finite optima."
    if len(pairs) >= FEWEST_ALIKE and len(ratios) == 1 and ratios != {1} and all((first == 0) == (second == 0) for first, second in pairs):
        said.append(f"B is {in_words(ratios.pop())} times A {alike}")
    elif len(pairs) >= FEWEST_ALIKE and len(distances) == 1 and distances != {0}:
        said.append(f"B is A + {in_words(distances.pop())} {alike}")
    return [*said, _read(reading)]


def _read(reading: Reading) -> str:
    """How floats were read, as a sentence."""
    return f"{READINGS[reading][:1].upper()}{READINGS[reading][1:]}."


def _in_time(in_time: bool) -> list[str]:
    return [] if in_time else ["The time limit ended the search."]


def _instances(count: int) -> str:
    return f"{count} instance" if count == 1 else f"{count} instances"


def _indented(sentences: Sequence[str]) -> list[str]:
    """Sentences in lines of a terminal, each with a margin."""
    lines = (wrap(each, WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False) for each in sentences)
    return [line for each in lines for line in each]


def in_words(value: Fraction | float) -> str:
    """A number as it is printed: as a fraction where it is not too long, else rounded, which the word "about" says."""
    if isinstance(value, float):
        return "infinity" if value > 0 else "-infinity"
    if value.numerator.bit_length() + value.denominator.bit_length() <= LONGEST_FRACTION:
        return str(value)
    return f"about {Decimal(value.numerator) / Decimal(value.denominator):.17g}"
