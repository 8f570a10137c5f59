"""`same` on the pairs of `problem_pairs`, and on all pairs of formulations of a family.

    python -m campaigns equivalence --seed 1 --examples 60

No verdict may be wrong, and every equivalence proof must be confirmed by
`oracles.reasons`. The verdicts on `problem_pairs` are known. Two formulations of a
family are never DIFFERENT, and a negative control is never EQUAL to one of them.
Exceptions are two controls with a misprint in a formula of the solution, and data of
two levels, where some mistakes have no effect. The evidence that detects a misprint is
compared with that of an enumeration. Exit status 1 if a verdict is wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import combinations
from typing import Any

from campaigns.runner import Campaign, Check, Trial, once
from equimargin.equivalence import Same, same
from equimargin.formulations import REGISTRY
from equimargin.formulations.declarations.family import FAMILIES
from equimargin.proofs.equivalence import Statement, stated
from equimargin.solvers.exact.program.clock import Clock
from misprinted import examined
from oracles.reasons import assert_replays
from problem_pairs import PAIRS

READ_OUTS = {"svm.hard.bias.as_printed", "rank.l2.value.as_printed"}
"""Controls with a misprint in a formula of the solution; their problems are right."""
TWO_LEVELS = {
    f"ord.{family}.two_levels" for family in ("implicit", "implicit_l2", "explicit", "sum")
}
"""Formulations for two levels only, to which a negative control may be EQUAL.

Mistakes about further levels have no effect on such data.
"""
DRAWS = 6
"""Number of times that data are drawn for a pair."""
SECONDS = 300.0
"""Time limit of a verdict, in seconds."""


def checks(examples: int) -> Iterator[Check]:
    """Yield the check of every pair."""
    for name, question in questions():
        yield Check(name, partial(asked, question, examples), lambda at: at.seed, once, 4 * SECONDS)
    yield Check(
        "misprints", partial(classified, examples), lambda at: at.seed, once, examples * SECONDS
    )


def asked(question: tuple[Any, ...], examples: int, seed: int, at: object) -> Trial:
    """Return the verdict on a pair, a complaint if it is wrong; check every proof."""
    a, b, data, finite, allowed = question
    found = same(
        a, b, data, draws=DRAWS, examples=examples, seed=seed, finite=finite, seconds=SECONDS
    )
    replay(found, a, b)
    wrong = [] if found.verdict in allowed else [f"{found.verdict} is wrong: {found.reasons[0]}"]
    return Trial(wrong, Counter([f"{found.verdict}, {found.reasons[0]}"]))


def classified(examples: int, seed: int, at: object) -> Trial:
    """Return the wrong classifications of misprints on new instances."""
    return Trial(*examined(examples, seed))


def questions() -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield every pair by name, as arguments of `asked`.

    They are the problems, data, True if a difference must be finite, and the verdicts
    that are correct.
    """
    for name, pair in PAIRS.items():
        yield name, (pair.a, pair.b, pair.data, pair.finite, (pair.verdict,))
    for family in FAMILIES:
        entries = [entry for entry in REGISTRY.values() if entry.family == family]
        for a, b in combinations(entries, 2):
            wrong = [entry for entry in (a, b) if entry.control and entry.id not in READ_OUTS]
            allowed = {"UNDECIDED", "DIFFERENT" if wrong else "EQUAL"} | (
                {"EQUAL"} if TWO_LEVELS & {a.id, b.id} else set()
            )
            if len(wrong) < 2:
                yield f"{a.id} {b.id}", (a.id, b.id, None, False, allowed)


def replay(found: Same, a: Statement, b: Statement) -> None:
    """Apply every equivalence proof of a verdict to its first program.

    AssertionError if the result is not the second program.
    """
    for each in found.findings:
        if each.reason is not None:
            first, second = (stated(of, each.data, "fractions", Clock(SECONDS)) for of in (a, b))
            assert_replays(
                each.reason, first.program, second.program, first.opposite != second.opposite
            )


CAMPAIGN = Campaign(__name__, __doc__, checks, 150)
