"""Fast and careful readers: the data or the sentence of both are equal."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from equimargin.data import DataError, load
from equimargin.data.formats import delimited, svmlight
from equimargin.data.formats.files import File
from equimargin.data.table import Request

ENTRY = st.one_of(
    st.integers(-3, 3).map(str),
    st.floats(-10, 10).map(repr),
    st.sampled_from(
        [
            "1e400",
            "-0.0",
            " 2 ",
            "1_0",
            "0x1",
            "nan",
            "",
            "?",
            '"1"',
            "'1'",
            "1e-400",
            "9007199254740993",
            "\u0663",
            "1d5",
            "#1",
        ]
    ),
)
HEADS = [
    "",
    "a,b,c\n",
    "qid,b,label\n",
    '"a","b","c"\n',
    "# a,b,c\n",
    "# a remark\n",
    "2001,2002,2003\n",
    "\n",
    "a,,c\n",
    "sep=,\na,b,c\n",
    "weight,y,b\n",
]


def read(path: Path, head: int, monkeypatch: pytest.MonkeyPatch, **how: Any) -> Any:
    """Return the parsed data or the error, with `head` lines before numpy reads."""
    monkeypatch.setattr(delimited, "HEAD", head)
    try:
        data = load(path, **how)
    except DataError as error:
        return str(error)
    parts = (
        data.X.tobytes(),
        np.asarray(data.y).tobytes(),
        None if data.qid is None else data.qid.tobytes(),
    )
    weight = None if data.weight is None else data.weight.tobytes()
    return (*parts, weight, data.task, data.columns, data.classes, repr(data.origin))


@given(
    head=st.sampled_from(HEADS),
    body=st.lists(
        st.tuples(*[st.floats(-10, 10).map(repr)] * 2, st.sampled_from(["0", "1", "2.0"])),
        min_size=4,
        max_size=6,
    ),
    entry=st.one_of(st.none(), ENTRY),
    row=st.integers(0, 3),
    column=st.integers(0, 2),
    after=st.sampled_from(["", "\n", "#\n", "1\n", "\r\n"]),
    separator=st.sampled_from([",", ";", "\t", " "]),
    how=st.sampled_from(
        [
            {},
            {"header": True},
            {"header": False},
            {"missing": "drop"},
            {"na": ["-1"]},
            {"task": "regression"},
            {"query": "column 1"},
        ]
    ),
)
@example("a,b,c\n", [("0.5", "1", "0")] * 4, None, 0, 0, "", ",", {})
@example("qid,b,c\n", [("0.5", "1", "0"), ("0.50", "2", "1")] * 2, None, 0, 0, "", ",", {})
@example(
    "",
    [("2001", "2002", "2003"), ("2001", "2002", "2003"), ("1", "2", "3"), ("7", "2", "3")],
    None,
    0,
    0,
    "",
    ",",
    {},
)
def test_numpy_reads_what_the_careful_reader_reads(
    tmp_path_factory: pytest.TempPathFactory,
    head: str,
    body: list[tuple[str, str, str]],
    entry: str | None,
    row: int,
    column: int,
    after: str,
    separator: str,
    how: dict[str, Any],
) -> None:
    rows = [list(fields) for fields in body]
    if entry is not None:
        rows[row][column] = entry
    text = (
        head.replace(",", separator)
        + "".join(separator.join(fields) + "\n" for fields in rows)
        + after
    )
    path = tmp_path_factory.getbasetemp() / "table.csv"
    path.write_text(text, encoding="utf-8", newline="")
    with pytest.MonkeyPatch.context() as monkeypatch:
        careful = read(path, 10**9, monkeypatch, **how)
        assert read(path, 2, monkeypatch, **how) == careful


@pytest.mark.parametrize("separator", [",", "\t", " "])
def test_a_long_table_of_numbers_is_read_by_numpy(
    tmp_path: Path, separator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The careful reader would request the rows below the first lines."""
    text = io.StringIO()
    X = np.random.default_rng(0).normal(size=(300, 3))
    np.savetxt(text, X, delimiter=separator, header=separator.join("abc"), comments="")
    path = tmp_path / "numbers.csv"
    path.write_text(text.getvalue(), encoding="utf-8")
    seen: list[int] = []
    split = delimited._split

    def counted(where: str, text: str, *more: str) -> Any:
        seen.append(text.count("\n"))
        return split(where, text, *more)

    monkeypatch.setattr(delimited, "_split", counted)
    data = load(path, target="c")
    assert seen == [delimited.HEAD]
    np.testing.assert_array_equal(data.X, X[:, :2])
    np.testing.assert_array_equal(data.y, X[:, 2])


FIELD = st.sampled_from(
    [
        "1:2",
        "1:0.5",
        "2:-1",
        "3:1e2",
        "2:nan",
        "1_0:1",
        "x",
        "1:qid:1",
        "qid",
        "qid:3",
        "3:",
        "1:\r2",
    ]
)
QUERY = st.sampled_from(
    [
        "qid:1",
        "qid:-2",
        "qid:07",
        "qid:",
        "qid:1.0",
        "qid:1_0",
        "qidx:1",
        "qid:1qid:2",
        "qidqid:1",
        "xqid:1",
        "1:1",
    ]
)


@given(
    lines=st.lists(
        st.tuples(
            st.sampled_from(["1", "-1.5", "qid:1", "1qid:1", "", " 2"]),
            st.one_of(st.just("qid:1"), QUERY),
            st.lists(FIELD, max_size=2),
            st.sampled_from([" ", "\t", "  ", "\x0b"]),
            st.sampled_from(["", " ", "\r", " # qid:9 1:1", "#"]),
        ),
        min_size=1,
        max_size=4,
    )
)
@example([("1", "qid:1", ["1:2"], " ", ""), ("2", "qid:2", ["1:2"], "\t", "\r")])
@example(
    [
        ("1", "qid:1", ["1:2"], " ", ""),
        ("2", "qid:", ["1:2"], " ", ""),
        ("2", "qid:1qid:2", ["1:2"], " ", ""),
    ]
)
def test_queries_of_svmlight_are_those_that_the_careful_reader_finds(
    lines: list[tuple[str, str, list[str], str, str]],
) -> None:
    text = "".join(
        between.join([label, query, *fields]) + end + "\n"
        for label, query, fields, between, end in lines
    )
    rows = [row for line in text.split("\n") if (row := line.partition("#")[0].split())]
    careful = str(
        svmlight._svmlight_fault(
            "rows", svmlight.COMMENT.sub(b"", text.encode()), "all lines are whole"
        )
    )
    file, whole = File("rows", "rows", ".svm", text.encode()), "all lines are whole" in careful
    if not whole or not any(
        ":" in field for row in rows for field in row if not field.startswith("qid")
    ):
        with pytest.raises(DataError) as caught:
            svmlight.read_svmlight(file, Request())
        assert str(caught.value) == careful or (
            whole and "no row holds an index:value" in str(caught.value)
        )
        return
    table = svmlight.read_svmlight(file, Request())
    assert table.y.tolist() == [float(row[0]) for row in rows]
    has_queries = rows[0][1:2] != [] and rows[0][1].startswith("qid")
    expected = [int(row[1].removeprefix("qid:")) for row in rows] if has_queries else None
    assert expected == (None if table.qid is None else table.qid.tolist())
    features = [
        [float(field.partition(":")[2]) for field in row[1 + has_queries :]] for row in rows
    ]
    assert table.X.sum(axis=1).tolist() == pytest.approx([sum(row) for row in features])
