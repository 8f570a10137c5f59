"""`same` on the twenty pairs, and on all pairs of formulations within every family: no verdict may be wrong, and every reason replays.

    python -m campaigns.sameness --seed 1 --examples 60

Verdicts are known for the twenty pairs. Two formulations of a family are never DIFFERENT, and a control is never EQUAL to one, but for two
controls whose misprint is how a solution is read, and on data of two levels, where some mistakes show nothing. One line a pair says the
verdict and the seconds; exit status 1 if one is wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from typing import Any

from equimargin.equivalence import Same, same
from equimargin.formulations import REGISTRY
from equimargin.formulations.formulation import families
from equimargin.proofs.equivalence import Statement, stated
from equimargin.solvers.exact.program.clock import Clock
from oracles.reasons import assert_replays
from problem_pairs import PAIRS

READ_OUTS = {"svm.hard.bias.as_printed", "rank.l2.value.as_printed"}
"""Misprints of how a solution is read, not of a problem: what they declare is right."""
TWO_LEVELS = {f"ord.{family}.two_levels" for family in ("implicit", "implicit_l2", "explicit", "sum")}
"""Stated for two levels alone, where mistakes about the levels between show nothing: there a control may be EQUAL, which is right."""
SECONDS = 300.0
"""Seconds that a verdict may take."""


def main() -> int:
    """Exit status: 0 no verdict is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--draws", type=int, default=6)
    parser.add_argument("--examples", type=int, default=150, help="instances that are drawn to find a difference")
    parser.add_argument("part", nargs="*", help="parts of the names of the pairs that are asked; all by default")
    asked = parser.parse_args()
    counted: Counter[str] = Counter()
    for name, (a, b, data, finite, allowed) in questions():
        if asked.part and not any(part in name for part in asked.part):
            continue
        found = same(a, b, data, draws=asked.draws, examples=asked.examples, seed=asked.seed, finite=finite, seconds=SECONDS)
        replay(found, a, b)
        right = found.verdict in allowed
        counted[found.verdict if right else "wrong"] += 1
        print(f"{name:62} {found.verdict:10} {found.seconds:6.1f} s{'' if right else '  WRONG'}  {found.reasons[0]}", flush=True)
    print(", ".join(f"{verdict} {count}" for verdict, count in counted.items()))
    return int(counted["wrong"] > 0)


def questions() -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Every pair by its name: both problems, their data, whether a difference must be finite, and the verdicts that are right."""
    for name, pair in PAIRS.items():
        yield name, (pair.a, pair.b, pair.data, pair.finite, (pair.verdict,))
    for family in families():
        entries = [entry for entry in REGISTRY.values() if entry.family == family]
        for a, b in combinations(entries, 2):
            wrong = [entry for entry in (a, b) if entry.control and entry.id not in READ_OUTS]
            allowed = {"UNDECIDED", "DIFFERENT" if wrong else "EQUAL"} | ({"EQUAL"} if TWO_LEVELS & {a.id, b.id} else set())
            if len(wrong) < 2:
                yield f"{a.id} {b.id}", (a.id, b.id, None, False, allowed)


def replay(found: Same, a: Statement, b: Statement) -> None:
    """Replay every reason of a verdict; AssertionError where one does not lead from one program to the other."""
    for each in found.findings:
        if each.reason is not None:
            first, second = (stated(of, each.data, "fractions", Clock(SECONDS)) for of in (a, b))
            assert_replays(each.reason, first.program, second.program, first.opposite != second.opposite)


if __name__ == "__main__":
    sys.exit(main())
