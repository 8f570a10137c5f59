"""Relations between a family's formulations, found by machine, as entries of `links`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from equimargin.equivalence.questions import DRAWS, EXAMPLES, same
from equimargin.formulations import REGISTRY
from equimargin.formulations.declarations.family import FAMILIES, program_families
from equimargin.formulations.declarations.formulation import Formulation
from equimargin.formulations.links import LINKS
from equimargin.formulations.numeric.arguments import did_you_mean, positive
from equimargin.proofs.equivalence import Same
from equimargin.solvers.exact.program.clock import Clock
from equimargin.testing import ONE_NORM

SECONDS = 600.0
"""Default time limit of all pairs of a family in total, in seconds."""
OUT_OF_TIME = "the time limit was reached before their comparison"
"""Message for a pair that was skipped because of the time limit."""


@dataclass(frozen=True, eq=False)
class Suggestion:
    """Relation of two formulations.

    Parameters
    ----------
    a, b : str
        Ids of the formulations.
    found : Same
        Verdict on them.
    known : bool
        True if the table of relations has an entry for the two.
    """

    a: str
    b: str
    found: Same
    known: bool

    @property
    def entry(self) -> str:
        """Entry for the table of relations, without a theorem.

        For two formulations of a plug-in's family, which have no maps, a comment line.
        """
        first, second = REGISTRY[self.a], REGISTRY[self.b]
        if first.family in program_families() and self.found.verdict == "EQUAL":
            return f"# {self.a} and {self.b}: the optima are equal. {self.found.reasons[0]}"
        printed = dict.fromkeys((*first.sources, *second.sources))
        sources = ", ".join(
            f"Source({source.document!r}, {source.equations!r})" for source in printed
        )
        if self.found.verdict == "DIFFERENT":
            return self._not_equivalent(sources)
        statement = f"The optima are equal. {self.found.reasons[0]}"
        return "\n".join(
            [
                "Equivalence(",
                f"    a={self.a!r},",
                f"    b={self.b!r},",
                f"    statement={statement!r},",
                f"    sources=({sources},),",
                f"    forward={_map_to(second)},",
                f"    backward={_map_to(first)},",
                "),",
            ]
        )

    def _not_equivalent(self, sources: str) -> str:
        assert self.found.difference is not None
        values = ", ".join(_number(value) for value in self.found.difference.values)
        return "\n".join(
            [
                *(f"# {line}" for line in self.found.difference.code.splitlines()),
                "NotEquivalent(",
                f"    a={self.a!r},",
                f"    b={self.b!r},",
                "    statement='The optima differ on the counterexample.',",
                f"    sources=({sources},),",
                "    counterexample=lambda: (data, data),",
                f"    values=({values}),",
                "),",
            ]
        )

    def __str__(self) -> str:
        return ("# The table has a link of these two already.\n" if self.known else "") + self.entry


def suggest(
    family: str,
    data: Any = None,
    *,
    draws: int = DRAWS,
    examples: int = EXAMPLES // 4,
    seed: int = 0,
    seconds: float = SECONDS,
    passed_over: Callable[[str, str, str], object] = lambda a, b, why: None,
) -> Iterator[Suggestion]:
    """Yield the relations between the formulations of a family, as they are found.

    A relation is an equivalence, or the difference of a negative control on an instance.

    Parameters
    ----------
    family : str
        Family of the registry.
    data : SearchStrategy or None
        Strategy of its problems, by default small ones.
    draws, examples, seed : int
        See `same`.
    seconds : float
        Time limit for all pairs in total, in seconds.
    passed_over : callable
        Called with the ids of a pair without a suggestion, and the reason: a verdict
        that no entry may have, or the time limit.

    Yields
    ------
    Suggestion
        Relation.

    Raises
    ------
    ValueError
        If the family is unknown.
    """
    if family not in FAMILIES:
        near = did_you_mean(family, list(FAMILIES)) or f"; known: {', '.join(FAMILIES)}"
        raise ValueError(f"unknown family {family!r}{near}")
    clock = Clock(positive(seconds, "seconds"))
    for a, b in combinations([entry for entry in REGISTRY.values() if entry.family == family], 2):
        if a.control and b.control:
            continue
        if clock.left <= 0:
            passed_over(a.id, b.id, OUT_OF_TIME)
            continue
        result = same(
            a.id, b.id, data, draws=draws, examples=examples, seed=seed, seconds=clock.left
        )
        # A negative control must differ from the family, and all other formulations be equal.
        wanted = "DIFFERENT" if a.control or b.control else "EQUAL"
        if result.verdict == wanted:
            yield Suggestion(
                a.id, b.id, result, any({link.a, link.b} == {a.id, b.id} for link in LINKS)
            )
        else:
            passed_over(a.id, b.id, result.verdict)


def _number(value: Any) -> str:
    return f"{float(value)!r}".replace("inf", "np.inf")


def _map_to(entry: Formulation) -> str:
    """Return the name of the map from canonical points to a formulation's variables."""
    function, multipliers = (
        ("to_x", "to_u") if entry.family in ONE_NORM else ("to_function", "to_multipliers")
    )
    return function if entry.carries == "function" else multipliers
