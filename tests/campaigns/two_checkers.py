"""Two checkers on certificates that are changed on purpose: the one in Python, and the program that is extracted from a proof.

    python -m campaigns.two_checkers --seed 1 --examples 420

Every family that the proved checker reads, by a linear kernel, its certificate changed so often in a digit and signed again, and in every
hostile form. Each checker has to accept what the other accepts. Two differences are no fault and are counted apart: the program does not
read what it does not cover, and it does not compute digests, so that all changes are signed. Exit status 1 if there is another difference.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from campaigns.certificate_mutations import accepted, hostile, mutations, signed
from campaigns.rocq import VERIFIED, certified
from equimargin.data import load
from equimargin.formulations import classification, ranking, regression
from equimargin.proofs import certificate
from equimargin.proofs.coq import Answer, NotProved, answer, build
from equimargin.solvers import solve

OF_DATA = ("iris", "diabetes_ranking")
"""Bundled data of which certificates are changed too, besides those of eight points a family."""


def documents() -> list[tuple[str, dict[str, Any]]]:
    """The certificates by what they are of."""
    made = [(family, certified(family)) for family in VERIFIED]
    iris, pairs = (load(name) for name in OF_DATA)
    problems = [
        classification(iris.X, iris.y, 1.0),
        regression(iris.X, iris.y, 1.0, 0.1),
        ranking(pairs.X, pairs.y, pairs.qid, 1.0),
    ]
    return made + [(f"{problem.family}, {problem.m} points", certificate(solve(problem, tol=1e-9))) for problem in problems]


def compared(program: Path, document: dict[str, Any], rng: np.random.Generator, count: int) -> Counter[str]:
    """How often the two agree on the changes of a certificate, and how; a difference is printed."""
    counts = Counter[str]()
    changes = [(kind, json.dumps(signed(changed)).encode()) for kind, changed in mutations(document, rng, count)]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "certificate.json"
        for kind, data in [*changes, *hostile(document)]:
            file.write_bytes(data)
            theirs, ours = accepted(data) is not None, answer(program, file)
            if theirs == (ours is Answer.ACCEPTED):
                outcome = "both accept" if theirs else "both reject"
            else:
                outcome = "unread by the program" if ours is Answer.UNREAD else "DIFFERENT"
            counts[outcome] += 1
            if outcome == "DIFFERENT":
                print(f"  DIFFERENT: {kind}: checker.py {'accepts' if theirs else 'rejects'}, the program says {ours.value}")
    return counts


def main() -> int:
    """The exit status."""
    arguments = argparse.ArgumentParser(prog="campaigns.two_checkers", description=__doc__)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--examples", type=int, default=420, help="changes of each certificate")
    options = arguments.parse_args()
    try:
        program = build()
    except NotProved as reason:
        print(f"campaigns.two_checkers: {reason}", file=sys.stderr)
        return 2
    rng, total = np.random.default_rng(options.seed), Counter[str]()
    for name, document in documents():
        counts = compared(program, document, rng, options.examples)
        total += counts
        print(f"{name}: {', '.join(f'{count} {outcome}' for outcome, count in sorted(counts.items()))}", flush=True)
    print(f"in all: {', '.join(f'{count} {outcome}' for outcome, count in sorted(total.items()))}")
    return int(total["DIFFERENT"] > 0)


if __name__ == "__main__":
    sys.exit(main())
