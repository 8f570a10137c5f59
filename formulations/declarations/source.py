"""The documents that print the problems, and a place in one of them."""

from __future__ import annotations

from dataclasses import dataclass

DOCUMENTS: dict[str, str] = {
    "T": "Yu and Kim, SVM Tutorial: Classification, Regression, and Ranking (2012)",
    "P": "Zapien, Gasso, Gärtner, Canu, Model Selection for Ranking SVM Using Regularization "
    "Path (2009)",
    "K": "Kuo, Lee, Lin, Large-scale Kernel RankSVM (2014)",
    "W": "Ranking SVM, encyclopedia page",
    "O": "Herbrich, Graepel, Obermayer, Support Vector Learning for Ordinal Regression (1999)",
}
"""The documents that print the problems, by the letters that stand for them in sources."""


@dataclass(frozen=True)
class Source:
    """Where a problem is printed: the document and the equations.

    Parameters
    ----------
    document : str
        A letter of DOCUMENTS, or what another document is called in short.
    title : str
        Of that other one, with its authors and year.
    """

    document: str
    equations: str
    title: str = ""

    @property
    def full(self) -> str:
        """The document with its title, as far as it is known."""
        return self.title or DOCUMENTS.get(self.document, self.document)

    def __str__(self) -> str:
        return f"{self.document} {self.equations}"
