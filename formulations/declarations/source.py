"""Sources: the documents that publish the problems, and places in them."""

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
"""Titles of the documents that publish the problems, by their letters in sources."""


@dataclass(frozen=True)
class Source:
    """Place of a published problem: the document and the equations.

    Parameters
    ----------
    document : str
        Letter of DOCUMENTS, or short name of another document.
    equations : str
        Numbers of the equations, as published.
    title : str
        Title of that other document, with its authors and year.
    """

    document: str
    equations: str
    title: str = ""

    @property
    def full(self) -> str:
        """Document with its title, as far as it is known."""
        return self.title or DOCUMENTS.get(self.document, self.document)

    def __str__(self) -> str:
        return f"{self.document} {self.equations}"
