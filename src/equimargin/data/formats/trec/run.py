"""TREC's runs: `query Q0 document rank score tag`, one retrieved document a line."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equimargin.data.formats.trec.lines import check_names, check_unique, read_lines, write_lines
from equimargin.data.words import DataError, is_finite, shown

FIELDS: Final = ("query", "Q0", "document", "rank", "score", "tag")
"""Fields of a line."""


class TrecRun:
    """Scores of retrieved documents, by query.

    Parameters
    ----------
    query, document : sequence of str or of int, of length n
        Names of the queries and documents, without white space; a query has a document
        once.
    score : array-like of shape (n,)
        Scores, higher is better: they decide the order, and ranks are derived.
    tag : str
        Name of the run.

    Raises
    ------
    DataError
        If lengths differ, a name has white space, a score is not finite, or a query has a
        document twice.
    """

    def __init__(
        self,
        query: Sequence[Any] | NDArray[Any],
        document: Sequence[Any] | NDArray[Any],
        score: ArrayLike,
        tag: str = "equimargin",
    ) -> None:
        from equimargin.formulations.numeric.arguments import check_reals

        self.score: NDArray[np.float64] = check_reals(score, "score").copy()
        if self.score.ndim != 1 or not np.isfinite(self.score).all():
            raise DataError("score must be a list of finite numbers; remove the other rows")
        self.query = check_names(query, "query", len(self.score))
        self.document = check_names(document, "document", len(self.score))
        self.tag = check_names([tag], "tag", 1)[0]
        check_unique(self.query, self.document)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read a run; the second and the fourth field are ignored, as by trec_eval.

        Parameters
        ----------
        path : str or os.PathLike[str]
            File, also compressed, or "-" for standard input.

        Returns
        -------
        TrecRun
            Rows in the order of the file, with the tag of its last line.

        Raises
        ------
        DataError
            If the file cannot be read, or a line is malformed; the message has the line.
        """
        tag = ""

        def value(words: list[str]) -> float:
            nonlocal tag
            tag = words[5]
            if not is_finite(words[4]):
                raise ValueError(
                    f"the score {shown(words[4])} is not a finite number; correct the line"
                )
            return float(words[4])

        rows = list(read_lines(path, FIELDS, value))
        query, document = (tuple(row[at] for row in rows) for at in (0, 1))
        return cls(query, document, np.array([row[2] for row in rows], dtype=np.float64), tag)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the run, with the ranks 1, 2, ... of every query by decreasing score.

        Documents with equal scores are in descending order of their names, as in
        trec_eval. Scores have all digits.

        Parameters
        ----------
        path : str or os.PathLike[str]
            File to write.
        """
        first = {query: at for at, query in reversed(list(enumerate(self.query)))}
        rows = list(zip(self.query, self.document, self.score.tolist(), strict=True))
        # Two stable sorts: by descending names, then by query and descending score.
        rows.sort(key=lambda row: row[1], reverse=True)
        rows.sort(key=lambda row: (first[row[0]], -row[2]))
        rank, last, lines = 0, "", []
        for query, document, score in rows:
            rank, last = (rank + 1 if query == last else 1), query
            lines.append((query, "Q0", document, rank, repr(score), self.tag))
        write_lines(path, lines)
