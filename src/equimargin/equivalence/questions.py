"""Verdicts `same` and `refute` on the equivalence of problems, on drawn instances."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from equimargin.equivalence.instances import choose_instances, drawn
from equimargin.equivalence.reproduction import reproduction
from equimargin.equivalence.search import CounterexampleSearch
from equimargin.formulations import REGISTRY, Formulation
from equimargin.formulations.numeric.arguments import check_count, positive
from equimargin.formulations.programs.reading import Reading
from equimargin.proofs.certificates.program import program_certificate
from equimargin.proofs.equivalence import (
    InstanceComparison,
    Statement,
    compare_at,
    name_statement,
    stated,
)
from equimargin.proofs.equivalence.comparison import RELATIVELY_APART
from equimargin.proofs.equivalence.verdict import (
    Difference,
    Same,
    found_reasons,
    instances_counted,
    reading_used,
    scope,
    separation,
)
from equimargin.solvers.exact.program import Inconclusive
from equimargin.solvers.exact.program.clock import Clock, OutOfTime

DRAWS = 8
"""Default of `draws`, the instances on which an equivalence proof is sought."""
SIFTED = 8
"""Ratio of instances drawn to instances on which an equivalence proof is sought.

Most small instances are trivial, or have no finite optimum.
"""
EXAMPLES = 100
"""Default of `examples`, the instances drawn to find a difference."""
SECONDS = 300.0
"""Default time limit of a verdict, in seconds."""
PROOF_SECONDS = 20.0
"""Time limit of the certificate of one known optimum, in seconds."""
NOTHING_TO_COMPARE = "No drawn instance has two exact optima to compare."
"""Message if a search has no instance to compare."""


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
    """Return the verdict on whether two problems have equal optima on all drawn data.

    At every drawn instance, the exact optima are compared in rationals, and an
    equivalence proof is sought: a renaming with scales, the Lagrangian dual, equations
    solved for variables, or a chain of these, each verified number by number. If the
    data enter as cvxpy parameters, a proof may hold for all their values in the
    problems that were built. Then an instance with different optima is sought and
    minimised.

    Parameters
    ----------
    a, b : str or callable
        Id of a formulation, or a function of data or without parameters. The function
        returns a cvxpy problem, or a problem and the map of its optimum to the compared
        number, which should accept fractions, -inf and inf.
    data : SearchStrategy or None
        Hypothesis strategy of data that both accept; by default small problems of the
        family of the ids. Ids of two families that accept the same data, such as
        svm.soft and svm.nobias, are compared on problems of one family, and those of
        the other with equal points, labels, cost, kernel and weights. Functions without
        parameters need no data.
    draws : int
        Number of instances on which an equivalence proof is sought.
    examples : int
        Number of instances that are drawn to find a difference.
    seed : int
        Seed of both.
    finite : bool
        True if only a difference of two finite optima counts.
    reading : {"fractions", "exact"}
        Interpretation of the floats.
    seconds : float
        Time limit in seconds.

    Raises
    ------
    KeyError
        If an id is unknown.
    TypeError
        If `a` or `b` is neither an id nor a function, or a function returns no problem.
    ValueError
        If data are missing or cannot be drawn, or a number is invalid.
    """
    question = _Question(a, b, reading, Clock(positive(seconds, "seconds")))
    strategy = choose_instances(a, b) if data is None else data
    findings, in_time = question.findings(strategy, check_count(draws, "draws"), seed)
    # A finite difference known from the draws lets the search minimise finite ones only.
    apart = next((found for found in findings if found.apart), None)
    search = question.search(finite or (apart is not None and apart.finite))
    different = search.run(strategy, check_count(examples, "examples"), seed)
    if different is None and apart is not None and (apart.finite or not finite):
        different = apart
    if different is not None:
        verdict, reasons = "DIFFERENT", separation(different, findings, reading)
    else:
        verdict, reasons = _without_difference(findings, search, in_time, reading)
    return question.answer(verdict, reasons, different, findings, search)


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
        See `same`.
    b : str, callable or None
        Other problem; by default the first formulation of a's family that is not a.

    Returns
    -------
    Same
        DIFFERENT with the instance, or UNDECIDED.

    Raises
    ------
    KeyError, ValueError, TypeError
        See `same`; a ValueError also if `a` has no counterpart.
    """
    b = definition(a) if b is None else b
    question = _Question(a, b, reading, Clock(positive(seconds, "seconds")))
    search, strategy = question.search(finite), choose_instances(a, b) if data is None else data
    # A failing strategy raises here; the search ignores errors of hypothesis.
    drawn(strategy, 1, seed)
    different = search.run(strategy, check_count(examples, "examples"), seed)
    if different is not None:
        reasons = separation(different, (), reading)
        return question.answer("DIFFERENT", reasons, different, (), search)
    message = (
        "No instance was found on which they differ." if search.looked_at else NOTHING_TO_COMPARE
    )
    reasons = [message, *_in_time(search.in_time), reading_used(reading)]
    return question.answer("UNDECIDED", reasons, None, (), search)


def definition(a: Statement) -> str:
    """Return the first other formulation of a family, without negative controls.

    Parameters
    ----------
    a : str
        Id of the formulation.

    Returns
    -------
    str
        Id of the other formulation.

    Raises
    ------
    KeyError
        If the id is unknown.
    ValueError
        If `a` is a function, or the only formulation of its family.
    """
    if not isinstance(a, str):
        raise ValueError(
            f"name the problem to compare with {name_statement(a)}, which is no registered "
            f"formulation"
        )
    choose_instances(a, None)
    others = [
        id
        for id, entry in REGISTRY.items()
        if entry.family == REGISTRY[a].family and id != a and not entry.control
    ]
    if not others:
        raise ValueError(f"{a} is the only formulation of its family: name the problem to compare")
    return others[0]


@dataclass(frozen=True, eq=False)
class _Question:
    a: Statement
    b: Statement
    reading: Reading
    clock: Clock
    started: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        """Refuse what is neither an id nor a function."""
        for statement in (self.a, self.b):
            # The type does not bind a caller, who may pass a cvxpy problem.
            if not (isinstance(statement, str | Formulation) or callable(statement)):
                raise TypeError(
                    f"a {type(statement).__name__} is neither an id nor a function; pass a "
                    f"function of data that returns a cvxpy problem, or one without parameters"
                )

    def findings(
        self, strategy: Any, draws: int, seed: int
    ) -> tuple[list[InstanceComparison], bool]:
        """Return the findings at the largest drawn instances, and True if in time.

        Only draws with finite optima count.
        """
        comparisons: list[InstanceComparison] = []
        counted = 0
        try:
            for instance in drawn(strategy, SIFTED * draws, seed):
                if counted == draws:
                    break
                found = compare_at(instance, self.a, self.b, self.reading, self.clock)
                comparisons.append(found)
                counted += not (found.refused or (found.equal and not found.finite))
        except OutOfTime:
            return comparisons, False
        return comparisons, True

    def search(self, finite: bool) -> CounterexampleSearch:
        """Return a search that seeks no equivalence proofs."""
        compare = partial(
            compare_at, a=self.a, b=self.b, reading=self.reading, clock=self.clock, explain=False
        )
        return CounterexampleSearch(compare, finite)

    def proof(self, statement: Statement, different: InstanceComparison) -> dict[str, Any] | None:
        """Return a certificate of a problem's optimum or ray; None if it takes too long."""
        described = stated(statement, different.data, self.reading, Clock(PROOF_SECONDS))
        try:
            if isinstance(described.outcome, Inconclusive):
                return None
            return program_certificate(described.program, described.outcome)
        except (ValueError, OutOfTime):
            return None

    def answer(
        self,
        verdict: Any,
        reasons: Sequence[str],
        different: InstanceComparison | None,
        findings: Sequence[InstanceComparison],
        search: CounterexampleSearch,
    ) -> Same:
        """Return the verdict with all counts."""
        compared = [found for found in findings if found.values is not None]
        undecided = search.undecided + Counter(
            found.undecided for found in findings if found.values is None
        )
        difference = None
        if different is not None:
            assert different.values is not None
            code = reproduction(self.a, self.b, different.data, self.reading)
            difference = Difference(
                different.data,
                different.values,
                code,
                (self.proof(self.a, different), self.proof(self.b, different)),
            )
        instances, equal = (
            len(compared) + search.looked_at,
            sum(found.equal for found in compared) + search.equal,
        )
        a, b = name_statement(self.a), name_statement(self.b)
        return Same(
            a,
            b,
            verdict,
            tuple(reasons),
            difference,
            tuple(findings),
            instances,
            equal,
            undecided,
            time.monotonic() - self.started,
        )


def _without_difference(
    findings: Sequence[InstanceComparison],
    search: CounterexampleSearch,
    in_time: bool,
    reading: Reading,
) -> tuple[str, list[str]]:
    """Return the verdict and its sentences if no instance separates the problems."""
    taken = [found for found in findings if not found.refused]
    compared = [found for found in taken if found.values is not None]
    explained = [found for found in compared if found.reason is not None]
    infinite = [found for found in compared if found.equal and not found.finite]
    rounded = sum(not found.equal for found in compared) + search.looked_at - search.equal
    # EQUAL needs an equivalence proof or equal exact rays on every instance, and no
    # rounded optimum.
    if in_time and explained and len(explained) + len(infinite) == len(taken) and not rounded:
        verified_for = scope(explained, infinite, len(findings) - len(taken))
        return "EQUAL", [
            *found_reasons(explained),
            *verified_for,
            *_in_time(search.in_time),
            reading_used(reading),
        ]
    unexplained = len(compared) - len(explained) - len(infinite)
    reasons = (
        [f"No equivalence proof was found on {unexplained} of {instances_counted(len(compared))}."]
        if unexplained
        else []
    )
    unsought = Counter(found.unsought for found in compared if found.unsought)
    reasons += [
        f"None was sought on {instances_counted(count)}: {why}." for why, count in unsought.items()
    ]
    if not compared:
        reasons = [NOTHING_TO_COMPARE]
    elif len(infinite) == len(compared):
        reasons = [
            f"Exact rays prove the same infinity of both on "
            f"{instances_counted(len(compared))}, and no drawn instance has a finite optimum."
        ]
    if 0 < len(compared) < len(taken):
        reasons.append(
            f"{len(taken) - len(compared)} of the {len(taken)} instances drawn are undecided."
        )
    if rounded:
        near = f"{float(RELATIVELY_APART):g}"
        explained_by = f"within {near}, or within what roundings of the stated numbers explain"
        reasons.append(
            f"On {rounded} the optima agree only {explained_by}: numbers were rounded "
            f"before they were declared."
        )
    return "UNDECIDED", [*reasons, *_in_time(in_time and search.in_time), reading_used(reading)]


def _in_time(in_time: bool) -> list[str]:
    return [] if in_time else ["The time limit ended the search."]
