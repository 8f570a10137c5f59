"""The relations that hold between the formulations of a family, found by machine, as entries of the table of links."""

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
"""Default time limit of all pairs of a family together, in seconds."""
OUT_OF_TIME = "the time was over before they were asked about"
"""Message for a pair that the time limit left out."""


@dataclass(frozen=True, eq=False)
class Suggestion:
    """A relation of two formulations.

    Parameters
    ----------
    a, b : str
        Their ids.
    found : Same
        The verdict on them.
    known : bool
        Whether the table has a link of the two.
    """

    a: str
    b: str
    found: Same
    known: bool

    @property
    def entry(self) -> str:
        """The link as the table of links has it, without a theorem; a line of two forms of a plug-in's family, which has no maps."""
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
    """Return the relations between the formulations of a family that hold, or that fail on an instance, each as soon as it is found.

    Parameters
    ----------
    family : str
        Of the registry.
    data : Any
        A strategy of its problems, by default small ones.
    draws, examples, seed : int
        As in `same`.
    seconds : float
        The time limit for all pairs together.
    passed_over : Callable[[str, str, str], object]
        Called with the ids of a pair of which nothing is suggested, and the reason: a
        verdict that no link may have, or the time.

    Raises
    ------
    ValueError
        An unknown family.
    """
    known = tuple(FAMILIES)
    if family not in known:
        raise ValueError(
            f"unknown family {family!r}{did_you_mean(family, known)}; known: {', '.join(known)}"
        )
    clock = Clock(positive(seconds, "seconds"))
    for a, b in combinations([entry for entry in REGISTRY.values() if entry.family == family], 2):
        if a.control and b.control:
            continue
        if clock.left <= 0:
            passed_over(a.id, b.id, OUT_OF_TIME)
            continue
        found = same(
            a.id, b.id, data, draws=draws, examples=examples, seed=seed, seconds=clock.left
        )
        wanted = "DIFFERENT" if a.control or b.control else "EQUAL"
        if found.verdict == wanted:
            yield Suggestion(
                a.id, b.id, found, any({link.a, link.b} == {a.id, b.id} for link in LINKS)
            )
        else:
            passed_over(a.id, b.id, found.verdict)


def _number(value: Any) -> str:
    return f"{float(value)!r}".replace("inf", "np.inf")


def _map_to(entry: Formulation) -> str:
    """Return the map of canonical points to those of a formulation, by the side of its variables."""
    function, multipliers = (
        ("to_x", "to_u") if entry.family in ONE_NORM else ("to_function", "to_multipliers")
    )
    return function if entry.carries == "function" else multipliers
