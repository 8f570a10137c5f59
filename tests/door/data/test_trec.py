"""TREC's runs and judgements: read, written, joined; the place of what is malformed."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from equimargin.data import DataError, Qrels, TrecRun
from equimargin.metrics import average_precision, ndcg, precision, reciprocal_rank

QRELS = """301 0 FR-1 2
301 0 FR-2 0
301 0 FR-3 1
302 0 FR-1 1
303 0 FR-9 -2
"""
RUN = """301 Q0 FR-2 1 9.5 mine
301 Q0 FR-4 2 9.5 mine
301 Q0 FR-1 3 1e-3 mine
999 Q0 FR-1 1 1 mine
303 Q0 FR-9 1 0.5 mine
"""


def files(folder: Path) -> tuple[Qrels, TrecRun]:
    (folder / "qrels").write_text(QRELS, encoding="utf-8")
    (folder / "run.gz").write_bytes(gzip.compress(RUN.replace("\n", "\r\n").encode()))
    return Qrels.read(folder / "qrels"), TrecRun.read(folder / "run.gz")


def test_files_are_read_and_written_and_read(tmp_path: Path) -> None:
    qrels, run = files(tmp_path)
    assert (qrels.query[0], qrels.document[0], qrels.relevance.tolist()) == (
        "301",
        "FR-1",
        [2, 0, 1, 1, -2],
    )
    assert (run.tag, run.score.tolist()) == ("mine", [9.5, 9.5, 1e-3, 1.0, 0.5])
    qrels.write(tmp_path / "again")
    assert (tmp_path / "again").read_text(encoding="utf-8") == QRELS
    run.write(tmp_path / "sorted")
    # Equal scores: FR-4 is before FR-2, as in trec_eval.
    assert (tmp_path / "sorted").read_text(encoding="utf-8").splitlines()[:4] == [
        "301 Q0 FR-4 1 9.5 mine",
        "301 Q0 FR-2 2 9.5 mine",
        "301 Q0 FR-1 3 0.001 mine",
        "999 Q0 FR-1 1 1.0 mine",
    ]
    scores = np.random.default_rng(0).normal(size=5) / 3
    TrecRun([1, 1, 2, 2, 2], list("abcde"), scores).write(tmp_path / "numbers")
    again = TrecRun.read(tmp_path / "numbers")
    assert dict(zip(again.document, again.score.tolist(), strict=True)) == dict(
        zip("abcde", scores.tolist(), strict=True)
    )


def test_a_judged_run_has_what_was_not_retrieved_and_names_what_was_not_judged(
    tmp_path: Path,
) -> None:
    qrels, run = files(tmp_path)
    y, f, qid, document, unjudged, unretrieved = qrels.judge(run)
    assert (unjudged, unretrieved) == (("999",), ("302",))
    of_301 = {
        name: (level, score)
        for query, name, level, score in zip(qid, document, y, f, strict=True)
        if query == "301"
    }
    assert of_301 == {
        "FR-1": (2, 1e-3),
        "FR-2": (0, 9.5),
        "FR-3": (1, -np.inf),
        "FR-4": (0, 9.5),
    }
    # FR-4, FR-2 and FR-1 in places 1 to 3; FR-3 is relevant and missing.
    assert reciprocal_rank(y, f, qid, ties="ordinal").values.tolist() == [1 / 3, 0, 0]
    assert average_precision(y, f, qid, ties="ordinal").values.tolist() == [1 / 6, 0, 0]


def test_a_run_of_few_documents_has_a_precision_of_the_retrieved_ones() -> None:
    """With 2 retrieved documents, 1 relevant, trec_eval's P_5 is 1/5."""
    found = Qrels([1] * 4, list("abcd"), [1, 0, 1, 0]).judge(TrecRun([1, 1], ["a", "x"], [2, 1]))
    at_5 = precision(found.y, found.f, found.qid, k=5, ties="ordinal").mean
    assert (at_5, at_5 * min(5, 2) / 5) == (1 / 2, 1 / 5)


def test_measures_of_a_run_are_trec_evals() -> None:
    pytrec_eval = pytest.importorskip(
        "pytrec_eval", reason="compares with trec_eval: pip install pytrec-eval-terrier"
    )
    rng = np.random.default_rng(0)
    judged = {
        f"q{q}": {f"d{d}": int(rng.integers(-1, 4)) for d in rng.permutation(30)[:12]}
        for q in range(8)
    }
    found = {
        f"q{q}": {f"d{d}": float(rng.integers(0, 6)) for d in rng.permutation(30)[:15]}
        for q in range(7)
    }
    rows = [(q, d, value) for q, documents in judged.items() for d, value in documents.items()]
    got = [(q, d, value) for q, documents in found.items() for d, value in documents.items()]
    (q1, d1, levels), (q2, d2, scores) = zip(*rows, strict=True), zip(*got, strict=True)
    y, f, qid, _, _, unretrieved = Qrels(q1, d1, levels).judge(TrecRun(q2, d2, scores))
    assert unretrieved == ("q7",)
    trec_eval = pytrec_eval.RelevanceEvaluator(
        judged, {"map", "ndcg", "ndcg_cut.5", "recip_rank", "map_cut.5", "P.5"}
    ).evaluate(found)
    gains: Any = {"gain": "linear", "discount": "shifted", "ties": "ordinal"}
    ours = {
        "map": average_precision(y, f, qid, ties="ordinal"),
        "recip_rank": reciprocal_rank(y, f, qid, ties="ordinal"),
        "ndcg": ndcg(y, f, qid, **gains),
        "ndcg_cut_5": ndcg(y, f, qid, k=5, **gains),
        "P_5": precision(y, f, qid, k=5, ties="ordinal"),
    }
    for at, name in enumerate(ours["map"].query[:7].tolist()):
        for metric, values in ours.items():
            assert values.values[at] == pytest.approx(trec_eval[name][metric], abs=1e-12), metric
        relevant = sum(level > 0 for level in judged[name].values())
        cut = average_precision(y, f, qid, k=5, ties="ordinal").values[at]
        assert cut * min(5, relevant) / relevant == pytest.approx(
            trec_eval[name]["map_cut_5"], abs=1e-12
        )
    assert ours["map"].values[7] == 0.0


@pytest.mark.parametrize(
    ("reader", "text", "message"),
    [
        (TrecRun, "1 Q0 a 1 0.5 t\n\n1 Q0 b 2\n", r", line 3: 4 fields instead of 6; a line is q"),
        (TrecRun, "1 Q0 a 1 nan t\n", r", line 1: the score 'nan' is not a finite number"),
        (TrecRun, "1 Q0 a 1 1_0 t\n", r", line 1: the score '1_0' is not a finite number"),
        (TrecRun, "1 Q0 a 1 2 t\n1 Q0 a 2 1 t\n", r", line 2: query '1' has the document 'a' in l"),
        (TrecRun, "1 Q0 a\0 1 2 t\n", r", line 1: the line holds a NUL character; remove it"),
        (TrecRun, "1 Q0 \xff 1 2 t\n", r", line 1: the text is not UTF-8; save the file as UTF-8"),
        (TrecRun, " \n", r"the file is empty; supply at least one row"),
        (Qrels, "1 0 a 1\n1 0 b 0.5\n", r", line 2: the relevance '0\.5' is not a whole number"),
        (Qrels, "1 Q0 a 1 2 t\n", r", line 1: 6 fields instead of 4; a line is query iteration"),
    ],
)
def test_a_malformed_line_is_named(tmp_path: Path, reader: Any, text: str, message: str) -> None:
    file = tmp_path / "some.txt"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(DataError, match=f"some.txt(: )?{message}"):
        reader.read(file)
    for path in (tmp_path / "none.txt", text * 99 + "none.txt"):
        with pytest.raises(DataError, match=r"none\.txt: there is no such file; check the path"):
            reader.read(path)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TrecRun(["1"], ["a b"], [1.0]), "document holds 'a b'; a name in TREC's files"),
        (lambda: TrecRun(["1"], ["a", "b"], [1.0]), "document has 2 entries, and must have one"),
        (lambda: TrecRun(["1"], ["a"], [np.nan]), "score must be a list of finite numbers"),
        (lambda: TrecRun(["1"], ["a"], [1.0], ""), "tag holds ''; a name in TREC's files"),
        (lambda: TrecRun(["1"], [b"a"], [1.0]), "document holds b'a', which is neither text nor a"),
        (lambda: TrecRun([None], ["a"], [1.0]), "query holds None, which is neither text nor a"),
        (lambda: Qrels(np.array([301.0]), ["a"], [1]), "query holds .*301.0.*, which is neither"),
        (lambda: Qrels([], [], []), "query is empty; supply at least one row"),
        (lambda: TrecRun([], [], []), "query is empty; supply at least one row"),
        (lambda: Qrels(["1", "1"], ["a", "a"], [1, 0]), "query '1' has the document 'a' twice"),
        (lambda: Qrels(["1"], ["a"], [np.inf]), "relevance must be a list of whole numbers"),
        (lambda: Qrels(["1"], ["a"], [0.5]), "relevance must be a list of whole numbers"),
        (
            lambda: Qrels(["1"], ["a"], [1]).judge(TrecRun(["2"], ["a"], [1.0])),
            "no query of the run is judged; its first query is '2', and that of the judgements",
        ),
    ],
)
def test_what_no_file_can_hold_is_a_sentence(make: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        make()
