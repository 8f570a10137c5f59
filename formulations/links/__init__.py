"""Graph of relations between published problems: equivalences, maps, counterexamples."""

from equimargin.formulations.links.kinds import (
    Equivalence,
    Link,
    NotEquivalent,
    Relaxation,
    Rescaling,
    StrongEquivalence,
)
from equimargin.formulations.links.maps import critical_cost
from equimargin.formulations.links.table import LINKS
from equimargin.formulations.links.walk import Path, of, path

__all__ = [
    "LINKS",
    "Equivalence",
    "Link",
    "NotEquivalent",
    "Path",
    "Relaxation",
    "Rescaling",
    "StrongEquivalence",
    "critical_cost",
    "of",
    "path",
]
