"""Claims of the documents: numbered equations, theorems, figures, tables and sentences.

A claim is quoted in ASCII. It has one of seven verdicts, and the name of its evidence:
a statement of this package, which is tried in rational numbers; a theorem that Coq has
checked; a declared formulation, or a negative control; a test; an experiment.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

from equimargin.formulations.numeric.arguments import did_you_mean

FILES = ("tutorial", "path", "kernel", "encyclopedia", "ordinal")
"""Files of claims of the documents T, P, K, W and O, in this order."""


class Verdict(StrEnum):
    """Verdict on a claim."""

    HOLDS = "holds"
    CORRECTED = "holds corrected"
    REFUTED = "refuted"
    MISPRINT = "misprint"
    UNDECIDED = "not decidable by running"
    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"


class Kind(StrEnum):
    """Kind of evidence for a claim; NONE if no evidence is possible or needed."""

    STATEMENT = "statement"
    THEOREM = "theorem"
    FORM = "form"
    CONTROL = "control"
    TEST = "test"
    EXPERIMENT = "experiment"
    NONE = ""


@dataclass(frozen=True)
class Claim:
    """A claim of a document.

    Parameters
    ----------
    id : str
        Letter of the document, a dot, and the number of the equation or a name.
    place : str
        Place in the document.
    says : str
        Quotation.
    verdict : Verdict
        Verdict.
    kind : Kind
        Kind of the evidence.
    name : str
        Name of the evidence.
    note : str
        Correction, or the reason why nothing decides the claim.
    """

    id: str
    place: str
    says: str
    verdict: Verdict
    kind: Kind
    name: str
    note: str

    @property
    def document(self) -> str:
        """Letter of the document."""
        return self.id.partition(".")[0]

    @property
    def exact(self) -> bool:
        """True if a statement in rational numbers or a theorem decides the claim."""
        return self.kind in (Kind.STATEMENT, Kind.THEOREM)


@cache
def claims() -> tuple[Claim, ...]:
    """Return all claims, by document, in the order of the pages.

    Raises
    ------
    ValueError
        If two claims have one id.
    """
    found: dict[str, Claim] = {}
    for name in FILES:
        text = (Path(__file__).parent / "documents" / f"{name}.toml").read_text(encoding="utf-8")
        for row in tomllib.loads(text)["claim"]:
            kind, _, pointer = row["evidence"].partition(" ")
            claim = Claim(
                row["id"],
                row["place"],
                row["says"],
                Verdict(row["verdict"]),
                Kind(kind),
                pointer,
                row.get("note", ""),
            )
            if claim.id in found:
                raise ValueError(f"two claims have the id {claim.id}")
            found[claim.id] = claim
    return tuple(found.values())


def chosen(document: str | None = None, verdict: Verdict | None = None) -> Sequence[Claim]:
    """Return the claims of one document and with one verdict.

    Parameters
    ----------
    document : str, optional
        Letter T, P, K, W or O.
    verdict : Verdict, optional
        Verdict.

    Raises
    ------
    ValueError
        If no document has this letter.
    """
    letters = sorted({claim.document for claim in claims()})
    if document is not None and document not in letters:
        raise ValueError(
            f"no document is called {document!r}: the letters are {', '.join(letters)}"
        )
    return [c for c in claims() if document in (None, c.document) and verdict in (None, c.verdict)]


def claim(id: str) -> Claim:
    """Return one claim.

    Parameters
    ----------
    id : str
        Id of the claim, such as T.26; upper or lower case.

    Raises
    ------
    ValueError
        If no claim has this id.
    """
    known = {claim.id.lower(): claim for claim in claims()}
    if id.lower() not in known:
        raise ValueError(
            f"no claim is called {id!r}{did_you_mean(id, [claim.id for claim in claims()])}"
        )
    return known[id.lower()]
