"""Tables of numbers are read by numpy, and as the careful reader reads them: the same data, or the same sentence."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from equimargin.data import DataError, load
from equimargin.data.formats import delimited

ENTRY = st.one_of(
    st.integers(-3, 3).map(str),
    st.floats(-10, 10).map(repr),
    st.sampled_from(
        ["1e400", "-0.0", " 2 ", "1_0", "0x1", "nan", "", "?", '"1"', "'1'", "1e-400", "9007199254740993", "\u0663", "1d5", "#1"]
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
    """The data or the sentence, with so many lines before numpy reads."""
    monkeypatch.setattr(delimited, "HEAD", head)
    try:
        data = load(path, **how)
    except DataError as error:
        return str(error)
    parts = (data.X.tobytes(), np.asarray(data.y).tobytes(), None if data.qid is None else data.qid.tobytes())
    weight = None if data.weight is None else data.weight.tobytes()
    return (*parts, weight, data.task, data.columns, data.classes, repr(data.origin))


@given(
    head=st.sampled_from(HEADS),
    body=st.lists(st.tuples(*[st.floats(-10, 10).map(repr)] * 2, st.sampled_from(["0", "1", "2.0"])), min_size=4, max_size=6),
    entry=st.one_of(st.none(), ENTRY),
    row=st.integers(0, 3),
    column=st.integers(0, 2),
    after=st.sampled_from(["", "\n", "#\n", "1\n", "\r\n"]),
    separator=st.sampled_from([",", ";", "\t", " "]),
    how=st.sampled_from(
        [{}, {"header": True}, {"header": False}, {"missing": "drop"}, {"na": ["-1"]}, {"task": "regression"}, {"query": "column 1"}]
    ),
)
@example("a,b,c\n", [("0.5", "1", "0")] * 4, None, 0, 0, "", ",", {})
@example("qid,b,c\n", [("0.5", "1", "0"), ("0.50", "2", "1")] * 2, None, 0, 0, "", ",", {})
@example("", [("2001", "2002", "2003"), ("2001", "2002", "2003"), ("1", "2", "3"), ("7", "2", "3")], None, 0, 0, "", ",", {})
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
    text = head.replace(",", separator) + "".join(separator.join(fields) + "\n" for fields in rows) + after
    path = tmp_path_factory.getbasetemp() / "table.csv"
    path.write_text(text, encoding="utf-8", newline="")
    with pytest.MonkeyPatch.context() as monkeypatch:
        careful = read(path, 10**9, monkeypatch, **how)
        assert read(path, 2, monkeypatch, **how) == careful


@pytest.mark.parametrize("separator", [",", "\t", " "])
def test_a_long_table_of_numbers_is_read_by_numpy(tmp_path: Path, separator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The careful reader would ask for the rows below the first lines."""
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
