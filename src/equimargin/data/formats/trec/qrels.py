"""TREC's judgements (qrels): `query iteration document relevance`, one document a line."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equimargin.data.formats.trec.lines import check_names, check_unique, read_lines, write_lines
from equimargin.data.formats.trec.run import TrecRun
from equimargin.data.words import DataError, integer, shown

FIELDS: Final = ("query", "iteration", "document", "relevance")
"""Fields of a line."""


class JudgedRun(NamedTuple):
    """Documents of a run with their relevances, for `equimargin.metrics`.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Relevances; 0 without a judgement or with a negative one.
    f : ndarray of shape (n,)
        Scores; -inf for judged documents that the run did not retrieve.
    qid, document : ndarray of str of shape (n,)
        Queries and documents. Those of a query are in descending order of their names, so
        that ties = "ordinal" is trec_eval's order.
    unjudged : tuple of str
        Queries of the run without a judgement, excluded from the rows.
    unretrieved : tuple of str
        Judged queries without a document in the run; their metrics are 0.
    """

    y: NDArray[np.float64]
    f: NDArray[np.float64]
    qid: NDArray[np.str_]
    document: NDArray[np.str_]
    unjudged: tuple[str, ...]
    unretrieved: tuple[str, ...]


class Qrels:
    """Relevances of judged documents, by query.

    Parameters
    ----------
    query, document : sequence of str or of int, of length n
        Names of the queries and documents, without white space; a query has a document
        once.
    relevance : array-like of int of shape (n,)
        Relevances; 0 and below is not relevant.

    Raises
    ------
    DataError
        If lengths differ, a name has white space, a relevance is no whole number, or a
        query has a document twice.
    """

    def __init__(
        self,
        query: Sequence[Any] | NDArray[Any],
        document: Sequence[Any] | NDArray[Any],
        relevance: ArrayLike,
    ) -> None:
        from equimargin.formulations.numeric.arguments import check_reals

        given = check_reals(relevance, "relevance")
        if given.ndim != 1 or not ((given == np.floor(given)) & (np.abs(given) < 2.0**53)).all():
            raise DataError("relevance must be a list of whole numbers; round the others")
        self.relevance: NDArray[np.int64] = given.astype(np.int64)
        self.query = check_names(query, "query", len(given))
        self.document = check_names(document, "document", len(given))
        check_unique(self.query, self.document)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read judgements; the second field is ignored, as by trec_eval.

        Parameters
        ----------
        path : str or os.PathLike[str]
            File, also compressed, or "-" for standard input.

        Returns
        -------
        Qrels
            Rows in the order of the file.

        Raises
        ------
        DataError
            If the file cannot be read, or a line is malformed; the message has the line.
        """

        def value(words: list[str]) -> int:
            relevance = integer(words[3])
            if relevance is None:
                raise ValueError(
                    f"the relevance {shown(words[3])} is not a whole number; correct the line"
                )
            return relevance

        rows = list(read_lines(path, FIELDS, value))
        query, document = (tuple(row[at] for row in rows) for at in (0, 1))
        return cls(query, document, np.array([row[2] for row in rows], dtype=np.int64))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the judgements, in the order of the rows.

        Parameters
        ----------
        path : str or os.PathLike[str]
            File to write.
        """
        rows = zip(self.query, self.document, self.relevance.tolist(), strict=True)
        write_lines(path, ((query, 0, name, relevance) for query, name, relevance in rows))

    def judge(self, run: TrecRun) -> JudgedRun:
        """Return the documents of a run with relevances, and the judged ones that it lacks.

        The mean over all judged queries is that of trec_eval with its option -c; without
        it trec_eval leaves the unretrieved queries out.

        Parameters
        ----------
        run : TrecRun
            Retrieved documents.

        Returns
        -------
        JudgedRun
            Rows of the judged queries, with y, f and qid for `equimargin.metrics`.

        Raises
        ------
        DataError
            If no query of the run is judged.
        """
        relevance = dict(
            zip(zip(self.query, self.document, strict=True), self.relevance.tolist(), strict=True)
        )
        score = dict(
            zip(zip(run.query, run.document, strict=True), run.score.tolist(), strict=True)
        )
        judged, retrieved = set(self.query), set(run.query)
        if not judged & retrieved:
            raise DataError(
                f"no query of the run is judged; its first query is {shown(run.query[0])}, and "
                f"that of the judgements {shown(self.query[0])}; name queries equally"
            )
        pairs = sorted(relevance.keys() | {pair for pair in score if pair[0] in judged})
        pairs.reverse()
        return JudgedRun(
            np.array([max(relevance.get(pair, 0), 0) for pair in pairs], dtype=np.float64),
            np.array([score.get(pair, -np.inf) for pair in pairs]),
            np.array([query for query, _ in pairs]),
            np.array([document for _, document in pairs]),
            tuple(sorted(retrieved - judged)),
            tuple(sorted(judged - retrieved)),
        )
