"""`same` on the twenty pairs, and on all pairs of formulations within every family.

    python -m campaigns equivalence --seed 1 --examples 60

No verdict may be wrong, and every equivalence proof replays. Verdicts are known for the
twenty pairs. Two formulations of a family are never DIFFERENT, and a control is never
EQUAL to one. Exceptions are two controls with a misprint in how a solution is read, and
data of two levels, where some mistakes have no effect. Exit status 1 if a verdict is
wrong.
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
from oracles.reasons import assert_replays
from problem_pairs import PAIRS

READ_OUTS = {"svm.hard.bias.as_printed", "rank.l2.value.as_printed"}
"""Misprints in how a solution is read; the declared problems are right."""
TWO_LEVELS = {
    f"ord.{family}.two_levels" for family in ("implicit", "implicit_l2", "explicit", "sum")
}
"""Formulations for two levels alone, where a control may correctly be EQUAL.

Mistakes about the levels between have no effect there.
"""
DRAWS = 6
"""Number of times that data are drawn for a pair."""
SECONDS = 300.0
"""Time limit of a verdict, in seconds."""


def checks(examples: int) -> Iterator[Check]:
    """Yield the check of every pair."""
    for name, question in questions():
        yield Check(name, partial(asked, question, examples), lambda at: at.seed, once, 4 * SECONDS)


def asked(question: tuple[Any, ...], examples: int, seed: int, at: object) -> Trial:
    """Return the verdict on a pair, with a complaint if wrong; replay every proof."""
    a, b, data, finite, allowed = question
    found = same(
        a, b, data, draws=DRAWS, examples=examples, seed=seed, finite=finite, seconds=SECONDS
    )
    replay(found, a, b)
    wrong = [] if found.verdict in allowed else [f"{found.verdict} is wrong: {found.reasons[0]}"]
    return Trial(wrong, Counter([f"{found.verdict}, {found.reasons[0]}"]))


def questions() -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield every pair by name, with its problems, data and the correct verdicts.

    The tuple also says if a difference must be finite.
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
    """Replay every equivalence proof of a verdict.

    AssertionError if one does not lead from one program to the other.
    """
    for each in found.findings:
        if each.reason is not None:
            first, second = (stated(of, each.data, "fractions", Clock(SECONDS)) for of in (a, b))
            assert_replays(
                each.reason, first.program, second.program, first.opposite != second.opposite
            )


CAMPAIGN = Campaign(__name__, __doc__, checks, 150)
