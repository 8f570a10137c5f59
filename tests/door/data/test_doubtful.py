"""Ambiguous files: read as meant, reported, or refused, never silently misread."""

from __future__ import annotations

import io
import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from equimargin.cli.app import app
from equimargin.comparison import compare
from equimargin.data import DataError, load
from equimargin.data.words import MISSING
from equimargin.estimators import MarginRanker, OneNormRanker
from equimargin.formulations import ranking
from equimargin.metrics import average_precision, concordance
from narrow import present

WORDS = sorted({*MISSING} - {""})


def write(folder: Path, content: str | bytes, name: str = "rows.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def queries(data: Any) -> list[int]:
    """Return the query of every row."""
    found: list[int] = data.qid.tolist()
    return found


# Missing entries


@pytest.mark.parametrize("word", [*WORDS, "NA", "NaN", ""])
def test_a_missing_query_is_no_query(tmp_path: Path, word: str) -> None:
    for queries_given in ("1 1", "q1 q1"):
        first, last = queries_given.split()
        path = write(tmp_path, f"qid,a,y\n{first},2,3\n{word},2,4\n{word},3,5\n{last},2,7\n")
        with pytest.raises(
            DataError,
            match=r"line 3: this row has no query and others have one; .* \(missing='drop'\)$",
        ):
            load(path)
        back = load(path, missing="drop")
        assert (len(set(queries(back))), back.y.tolist(), back.origin.left_out) == (1, [3, 7], 2)


@pytest.mark.parametrize("word", [*WORDS, "NA", "None", ""])
def test_a_missing_label_is_no_class(tmp_path: Path, word: str) -> None:
    path = write(tmp_path, f"a,y\n1,yes\n2,{word}\n3,yes\n")
    for task in (None, "classification"):
        with pytest.raises(
            DataError, match=re.escape(f"line 3, column 'y': '{word}' stands for a missing entry; ")
        ):
            load(path, task=task)
        with pytest.raises(DataError, match=r"which is one class|has one class"):
            load(path, task=task, missing="drop")
    if word.lower() == "nan":  # It is a number, but no finite one.
        with pytest.raises(DataError, match="is not a finite number"):
            load(path, na="")
    elif word:
        assert load(path, na="").classes == tuple(sorted((word, "yes")))


def test_a_missing_label_is_named_before_the_words_of_the_others(tmp_path: Path) -> None:
    for word, labels in (("", "yes no"), ("NA", "yes no"), ("null", "b c")):
        first, last = labels.split()
        path = write(tmp_path, f"a,y\n1,{first}\n2,{word}\n3,{last}\n")
        with pytest.raises(
            DataError,
            match=rf"line 3, column 'y': '{word}' stands .*or leave such rows out \(missing="
            rf"'drop'\)",
        ):
            load(path)
        assert load(path, missing="drop").classes == tuple(sorted((first, last)))


def test_words_that_were_left_out_as_missing_are_told(tmp_path: Path) -> None:
    path = write(tmp_path, "a,y\n1,yes\n2,none\n3,no\n4,none\n")
    assert (
        "; `none` of `y` left out as missing (na='' keeps it)"
        in load(path, missing="drop").describe()
    )
    assert load(write(tmp_path, "a,y\n1,yes\n2,\n3,no\n"), missing="drop").origin.notes == ()
    assert load(write(tmp_path, "a,y\n1,1\n2,null\n3,0\n"), missing="drop").y.tolist() == [1, -1]


@pytest.mark.parametrize("hole", ["-999", "-999.0", "unknown", ""])
def test_what_is_missing_can_be_said(tmp_path: Path, hole: str) -> None:
    path = write(tmp_path, f"a,b,y\n1,2,3\n{hole},5,4\n3,0,5\n")
    assert load(path, missing="drop", na=["-999", "Unknown"]).X.tolist() == [[1, 2], [3, 0]]
    assert load(path, missing="mean", na=[-999, "unknown"]).X[1].tolist() == [2, 5]
    with pytest.raises(
        DataError,
        match="line 2, column 'a': 'NA' is not a finite number; correct it or drop the column",
    ):
        load(write(tmp_path, "a,y\nNA,2\n1,3\n"), missing="drop", na="?")


# Remarks and separators


def test_the_header_of_numpys_savetxt_is_read(tmp_path: Path) -> None:
    rows = np.array([[0, 1.5, 2], [1, 2.5, 3], [0, 2.5, 3]])
    for delimiter in (",", " ", "\t", ";"):
        text = io.StringIO()
        np.savetxt(text, rows, delimiter=delimiter, header=delimiter.join(["label", "x1", "x2"]))
        back = load(write(tmp_path, text.getvalue(), "rows.txt"))
        assert (back.columns, back.origin.target, back.y.tolist(), back.header) == (
            ("x1", "x2"),
            "label",
            [-1, 1, -1],
            True,
        )
        assert "; the names are behind the # of line 1" in back.describe()
        assert load(write(tmp_path, text.getvalue(), "rows.txt"), header=True).X.shape == (3, 2)
        back = load(write(tmp_path, text.getvalue(), "rows.txt"), header=False)
        assert (back.columns, back.X.shape) == (("column 1", "column 2"), (3, 2))


@pytest.mark.parametrize("mark", [",", ";", "\t", " "])
def test_remarks_above_and_below_the_header_are_none_of_the_rows(tmp_path: Path, mark: str) -> None:
    lines = ["# it's a \"comment", "a,b,y", "#", "1,2,3", "# made by hand, in May", "2,1,4", "#end"]
    text = "\n".join(line if line.startswith("#") else line.replace(",", mark) for line in lines)
    back = load(write(tmp_path, text))
    assert (back.columns, back.X.tolist(), back.y.tolist()) == (
        ("a", "b"),
        [[1, 2], [2, 1]],
        [-1, 1],
    )
    assert "; 4 lines are remarks (#)" in back.describe()
    with pytest.raises(DataError, match="line 8, column 'a': 'x' is not"):
        load(write(tmp_path, text + f"\nx{mark}1{mark}2\n"))


def test_a_number_sign_may_be_a_name_and_begin_a_row(tmp_path: Path) -> None:
    for header, rows in (
        ("#,a,y", "1,2,3\n2,3,4\n3,5,9\n"),
        ("id,a,y", "#1,2,3\n#2,3,4\n#3,5,9\n"),
    ):
        back = load(write(tmp_path, f"{header}\n{rows}"), drop=header.partition(",")[0])
        assert (back.columns, back.X.tolist()) == (("a",), [[2], [3], [5]])
    with pytest.raises(DataError, match="the file holds no row but comments"):
        load(write(tmp_path, "#,a,y\n#1,2,3\n#2,3,4\n"))
    back = load(write(tmp_path, 'a,name,y\n1,"two\n# lines",2\n2,b,3\n'), drop="name")
    assert back.X.tolist() == [[1], [2]]


def test_the_first_row_is_the_header_where_it_looks_like_one_below_a_remark(tmp_path: Path) -> None:
    back = load(write(tmp_path, "# by, some, one\na,b,y\n1,2,3\n4,5,6\n"))
    assert (back.columns, back.X.shape) == (("a", "b"), (2, 2))
    assert "; line 1 is a remark (#)" in back.describe()


@given(mark=st.sampled_from(";|,\t:"), quoted=st.booleans(), end=st.sampled_from(["\n", "\r\n"]))
def test_excels_line_about_the_separator_is_heard(
    tmp_path_factory: pytest.TempPathFactory, mark: str, quoted: bool, end: str
) -> None:
    first = f'"sep={mark}"' if quoted else f"sep={mark}"
    text = end.join([first, *(row.replace(",", mark) for row in ("a,b,y", "1,2,3", "2,3,x")), ""])
    with pytest.raises(DataError, match="line 4, column 'y': 'x'"):
        load(write(tmp_path_factory.getbasetemp(), text, "excel.txt"))
    back = load(write(tmp_path_factory.getbasetemp(), text.replace("x", "5"), "excel.txt"))
    assert (back.columns, back.X.tolist(), back.y.tolist()) == (
        ("a", "b"),
        [[1, 2], [2, 3]],
        [-1, 1],
    )


def test_a_separator_that_is_not_looked_for_is_suggested(tmp_path: Path) -> None:
    path = write(tmp_path, "a|b|label\n1|2|x\n2|3|z\n4|5|x\n")
    with pytest.raises(
        DataError,
        match=re.escape("every row is one field; if '|' separates fields, say so: sep='|'"),
    ):
        load(path)
    assert load(path, sep="|").classes == ("x", "z")


def test_a_title_above_the_header_is_named(tmp_path: Path) -> None:
    for mark in ",;\t":
        path = write(tmp_path, "Report 2020\na,b,y\n1,2,3\n2,3,5\n".replace(",", mark))
        with pytest.raises(
            DataError,
            match="line 1: this row has 1 field and all below it 3; remove the line if it is a "
            "title",
        ):
            load(path)


@pytest.mark.parametrize("header", ["", "a b y\n"])
def test_white_space_separates_decimal_commas(tmp_path: Path, header: str) -> None:
    path = write(tmp_path, header + "1,5 2,5 1\n2,5 3,5 2\n3,5 -2 7\n", "rows.txt")
    back = load(path, decimal=",", header=bool(header))
    assert (back.X.tolist(), back.y.tolist()) == ([[1.5, 2.5], [2.5, 3.5], [3.5, -2]], [1, 2, 7])
    assert back.header == load(path, decimal=",").header


def test_a_decimal_comma_changes_no_text(tmp_path: Path) -> None:
    back = load(write(tmp_path, "2019.5;b;y\n1,5;0;1.2\n2,5;1;1.3\n2;4;1.2\n"), decimal=",")
    assert (back.columns, back.classes, back.X[:, 0].tolist()) == (
        ("2019.5", "b"),
        ("1.2", "1.3"),
        [1.5, 2.5, 2],
    )
    assert load(write(tmp_path, "a;y\n1,5;1\n2;2\n"), decimal=",", target="a").y.tolist() == [-1, 1]
    with pytest.raises(
        DataError,
        match=r"column 'a': '1\.500' is not a finite number; .*; write it without a point if that "
        r"groups",
    ):
        load(write(tmp_path, "a;y\n1.500;1\n2;2\n"), decimal=",")


@pytest.mark.parametrize("content", ["10:30\t5\t1\n11:30\t6\t2\n", "2000:a\tb\n1\t2\n3\t4\n"])
def test_a_table_that_is_taken_for_svmlight_is_told_how_to_be_read(
    tmp_path: Path, content: str
) -> None:
    path = write(tmp_path, content, "rows.tsv")
    with pytest.raises(
        DataError,
        match=r"line 1: the label .* \(it is read as svmlight; sep='tab' reads a table\)$",
    ):
        load(path)
    with (
        pytest.raises(DataError, match="column 'column 1': '10:30' is not")
        if ":30" in content
        else pytest.raises(AssertionError)
    ):
        assert load(path, sep="tab", header=":30" not in content).X.shape != (2, 1)


def test_svmlight_in_a_file_named_as_a_table_is_told(tmp_path: Path) -> None:
    assert (
        "; read as svmlight (sep='whitespace' reads a table)"
        in load(write(tmp_path, "1\t10:30\n0\t11:45\n", "rows.tsv")).describe()
    )
    assert "svmlight" not in load(write(tmp_path, "1 10:30\n0 11:45\n", "rows.txt")).describe()


@pytest.mark.parametrize("sep", [",", "tab", "whitespace"])
def test_a_separator_makes_no_text_of_a_binary_file(tmp_path: Path, sep: str) -> None:
    np.savez(tmp_path / "rows.npz", X=np.eye(2), y=np.ones(2))
    with pytest.raises(
        DataError,
        match="sep is an option about the columns of a table, and this is a file of NPZ; leave it "
        "out",
    ):
        load(tmp_path / "rows.npz", sep=sep)
    for content, name, reason in (
        (b"\x80\x04K\x01.", "a", "is a pickle"),
        (b"PK\x03\x04", "a.xlsx", "is a spreadsheet"),
    ):
        with pytest.raises(DataError, match=reason):
            load(write(tmp_path, content, name), sep=sep)


# Labels and queries


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ("20200101 20200102", "20200101 is -1, 20200102 is +1"),
        ("0.1 -1e300", "-1e+300 is -1, 0.1 is +1"),
    ],
)
def test_labels_are_told_with_all_digits(tmp_path: Path, labels: str, said: str) -> None:
    first, last = labels.split()
    assert f"({said})" in load(write(tmp_path, f"a,label\n1,{first}\n2,{last}\n")).describe()


@pytest.mark.parametrize(
    ("column", "decimal", "found"),
    [
        (("1", "1.0", "01", "+1", "2"), ".", [1, 1, 1, 1, 2]),
        (("1", "1,0", "2,"), ",", [1, 1, 2]),
        (("9007199254740993", "9007199254740992.0"), ".", [9007199254740993, 9007199254740992]),
        (("1", "01", "a"), ".", [0, 1, 2]),
        (("1", "1.0", "1.5"), ".", [0, 1, 2]),
        (("9" * 20, "9" * 19 + "8"), ".", [0, 1]),
    ],
)
def test_whole_numbers_are_equal_queries_however_they_are_written(
    tmp_path: Path, column: Any, decimal: str, found: list[int]
) -> None:
    text = "qid;a;y\n" + "".join(f"{query};{row};{row}\n" for row, query in enumerate(column))
    assert queries(load(write(tmp_path, text), decimal=decimal)) == found


def test_queries_of_preferences_are_compared_as_numbers_too(tmp_path: Path) -> None:
    features = write(tmp_path, "a,b\n1,2\n2,3\n3,4\n")
    given = write(tmp_path, "preferred,other,query\n0,1,1\n1,2,1.0\n", "prefs.csv")
    pairs = load(features, preferences=given).pairs
    assert pairs is not None
    assert pairs.tolist() == [[0, 1], [1, 2]]


# NPZ


def savez(folder: Path, **arrays: Any) -> Path:
    np.savez(folder / "rows.npz", **arrays)
    return folder / "rows.npz"


X, Y = np.arange(6.0).reshape(3, 2), np.array([0.0, 1.0, 3.0])


@pytest.mark.parametrize("query", ["qid", "query_id", "Query"])
@pytest.mark.parametrize("weight", ["weight", "sample_weight"])
@pytest.mark.parametrize("target", ["y", "label", "relevance"])
def test_arrays_are_known_by_the_names_of_columns(
    tmp_path: Path, query: str, weight: str, target: str
) -> None:
    back = load(
        savez(
            tmp_path, X=X, **{target: Y, query: np.array([1, 1, 2]), weight: np.array([1.0, 2, 3])}
        )
    )
    assert (back.task, queries(back), back.X.tolist(), back.y.tolist()) == (
        "ranking",
        [1, 1, 2],
        X.tolist(),
        Y.tolist(),
    )
    assert back.weight is not None
    assert back.weight.tolist() == [1, 2, 3]
    assert (back.origin.target, back.origin.query, back.origin.weight, back.columns) == (
        target,
        query,
        weight,
        None,
    )


def test_an_array_without_a_meaning_is_refused(tmp_path: Path) -> None:
    path = savez(tmp_path, X=X, y=Y, **{"names of": np.array(["a", "b"])})
    with pytest.raises(
        DataError,
        match=r"the arrays 'names of' have unknown names; give them .*, or leave them out "
        r"\(drop='names of'\)",
    ):
        load(path)
    assert load(path, drop="names of").X.tolist() == X.tolist()
    path = savez(tmp_path, X=X, y=Y, z=Y[::-1], weight=Y)
    back = load(path, target="z", drop=["y", "X[:, 0]"])
    assert (back.y.tolist(), back.X.tolist(), present(back.weight).tolist()) == (
        [3, 1, 0],
        X[:, 1:].tolist(),
        Y.tolist(),
    )
    table = load(write(tmp_path, "a,b,z\n1,2,4\n3,4,5\n0,0,0\n"), target="z")
    assert load(path, like=table, target="z", drop=["y", "id"]).y.tolist() == [3, 1, 0]
    assert (
        load(savez(tmp_path, X=X, y=Y), like=table, target="z", drop=["id"]).y.tolist()
        == Y.tolist()
    )


def test_an_archive_may_hold_words_for_labels_and_gaps(tmp_path: Path) -> None:
    back = load(savez(tmp_path, X=X, y=np.array(["b", "a", "b"])))
    assert (back.classes, back.y.tolist()) == (("a", "b"), [1, -1, 1])
    path = savez(
        tmp_path,
        X=np.where(X == 3, np.nan, X),
        y=np.array(["b", "a", "c"]),
        qid=np.array(["p", "p", "r"]),
    )
    with pytest.raises(DataError, match="row 0, column 'y': 'b' is not a finite number"):
        load(path, missing="mean")
    path = savez(tmp_path, X=np.where(X == 3, np.nan, X), y=Y, qid=np.array(["p", "p", "r"]))
    assert load(path, missing="mean").X[1].tolist() == [2, 3]
    assert queries(load(path, missing="drop")) == [0, 1]
    with pytest.raises(
        DataError,
        match=r"the array y has 2 dimensions and type float64; "
        r"save numbers or text in 1 dimension$",
    ):
        load(savez(tmp_path, X=X, y=X))


# Frames


class Frame:
    """Minimal data frame with names of any type."""

    def __init__(self, columns: dict[Any, Any]) -> None:
        self._columns = columns

    @property
    def columns(self) -> list[Any]:
        return list(self._columns)

    @property
    def shape(self) -> tuple[int, int]:
        return len(next(iter(self._columns.values()))), len(self._columns)

    def __getitem__(self, name: Any) -> Column:
        return Column(self._columns[name])


class Column:
    """Column of a data frame."""

    def __init__(self, values: Any) -> None:
        self._values = np.asarray(values)

    def to_numpy(self) -> Any:
        return self._values


def pandas_frame(columns: dict[Any, Any]) -> Any:
    return pytest.importorskip("pandas", reason="pandas is not installed").DataFrame(columns)


MAKERS = pytest.mark.parametrize("make", [Frame, pandas_frame])


@MAKERS
def test_columns_of_a_frame_may_be_named_by_numbers(make: Any) -> None:
    frame = make({0: [1.0, 2, 3], 1: [4.0, 5, 7], 2: [1.0, 1, 2]})
    targets: list[Any] = [0, "0", np.int64(0)]
    for target in targets:
        back = load(frame, target=target)
        assert (back.y.tolist(), back.columns) == ([1, 2, 3], ("1", "2"))
    drops: list[Any] = [[0], 0, "0", np.array([0])]
    for drop in drops:
        assert load(frame, drop=drop).columns == ("1",)
    assert queries(load(frame, query=2, target=1)) == [1, 1, 2]


@MAKERS
def test_a_comma_in_a_frame_is_no_reason_for_an_option_about_text(make: Any) -> None:
    frame = make({"x": np.array(["1,5", "2,5"], dtype=object), "y": [1, 2]})
    with pytest.raises(
        DataError,
        match=r"row 0, column 'x': '1,5' is not a finite number; correct it or drop the column "
        r"\(drop='x'\)$",
    ):
        load(frame)


@MAKERS
def test_missing_labels_and_queries_of_a_frame_are_named(make: Any) -> None:
    label = np.array(["yes", None, "no", "yes"], dtype=object)
    with pytest.raises(
        DataError,
        match=r"row 1, column 'label': '' stands for a missing entry; .* \(missing='drop'\)$",
    ):
        load(make({"a": [1, 2, 3, 4], "label": label}))
    assert load(make({"a": [1, 2, 3, 4], "label": label}), missing="drop").y.tolist() == [1, -1, 1]
    with pytest.raises(DataError, match="row 2: this row has no query"):
        load(
            make(
                {
                    "qid": np.array(["p", "q", "NA", "q"], dtype=object),
                    "a": [1, 2, 3, 4],
                    "y": [1, 2, 3, 5],
                }
            )
        )
    assert load(
        make({"a": [1, -999, 3], "b": [1, 2, 3], "y": [1, 2, 4]}), na=-999, missing="drop"
    ).X.tolist() == [[1, 1], [3, 3]]


@pytest.mark.parametrize("estimator", [MarginRanker, OneNormRanker])
@pytest.mark.parametrize("name", ["query_id", "query", "QID", "Query_ID"])
def test_a_ranker_takes_no_queries_for_a_feature(estimator: Any, name: str) -> None:
    frame, relevance = Frame({name: [1, 1, 2, 2], "a": [1.0, 2, 3, 5]}), [0, 1, 0, 1]
    for qid in (None, [1, 1, 2, 2]):
        with pytest.raises(
            ValueError,
            match=rf"the column '{name}' of X seems to hold the queries, and would be a feature; "
            rf"name it 'qid'",
        ):
            estimator().fit(frame, relevance, qid=qid)


@pytest.mark.parametrize("estimator", [MarginRanker, OneNormRanker])
def test_a_ranker_takes_its_queries_from_a_column(estimator: Any) -> None:
    frame = pandas_frame({"qid": [1, 1, 2, 2], "a": [1.0, 2, 3, 5]})
    assert estimator().fit(frame, [0, 1, 0, 1]).n_queries_ == 2


# Standard input

RUN = CliRunner()


def test_a_closed_standard_input_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(
        DataError, match="standard input is closed; name a file, or send the data through a pipe"
    ):
        load("-")


def test_standard_input_is_read_once() -> None:
    with pytest.raises(
        DataError, match=r"data and preferences cannot both come from standard input \(-\)"
    ):
        load("-", preferences="-")
    result = RUN.invoke(app, ["path", "-", "--validate", "-"], input=b"a,y\n1,1\n2,0\n3,1\n")
    assert result.exit_code == 2
    assert "standard input (-) can be read only once, and is named twice" in " ".join(
        result.output.split()
    )


@pytest.mark.parametrize(
    "command",
    [["compare", "--family", "svm.soft", "--solver", "smo"], ["path", "--lambda-min", "0.1"]],
)
def test_the_command_line_takes_words_for_what_is_missing(
    tmp_path: Path, command: list[str]
) -> None:
    rows = "".join(
        f"{i % 5},{'-999' if i == 3 else i % 3},{('none', 'mild')[i % 2]}\n" for i in range(20)
    )
    path = str(write(tmp_path, "a,b,y\n" + rows))
    result = RUN.invoke(
        app, [command[0], path, *command[1:], "--missing", "drop", "--na", "-999", "--na", "x"]
    )
    assert result.exit_code in (0, 4), result.output
    assert (
        "19 rows: target `y` (mild is -1, none is +1), 2 features; 1 row with missing"
        in " ".join(result.output.split())
    )


# Targets of no single task

QUESTION = (
    "3 distinct whole numbers: classes (task='classification'), levels (task='ordinal') or numbers?"
)


@pytest.mark.parametrize("values", ["1 2 3 1", "0 1 2 0", "3 1 -5 3.0"])
def test_load_three_whole_numbers_ask_what_they_are(tmp_path: Path, values: str) -> None:
    rows = "".join(f"{at},{value}\n" for at, value in enumerate(values.split()))
    path = write(tmp_path, "a,y\n" + rows)
    assert load(path).describe().endswith(f"; {QUESTION}")
    assert (
        QUESTION
        in load(
            write(tmp_path, "".join(f"{value} 1:2\n" for value in values.split()), "rows.svm")
        ).describe()
    )
    for task in ("regression", "ranking", "ordinal"):
        assert "?" not in load(path, task=task).describe()
    classes = load(path, task="classification")
    assert classes.has_many_classes
    assert set(classes.y) == {0, 1, 2}


@pytest.mark.parametrize(
    "values", ["1 2", "1 2 3", "1 2 3.5 1", " ".join(map(str, [*range(21), 0]))]
)
def test_load_quantities_and_two_classes_ask_nothing(tmp_path: Path, values: str) -> None:
    rows = "".join(f"{at},{value}\n" for at, value in enumerate(values.split()))
    assert "?" not in load(write(tmp_path, "a,y\n" + rows)).describe()


@pytest.mark.parametrize("content", ["a,y\n1,1\n2,1\n", "a,y\n1,1\n,0\n2,1\n", "1 1:2\n1 1:3\n"])
def test_load_one_value_without_a_task_is_refused(tmp_path: Path, content: str) -> None:
    missing: dict[str, Any] = {"missing": "drop"} if "," in content else {}
    path = write(tmp_path, content)
    with pytest.raises(
        DataError,
        match=r"rows\.csv: the target is 1 in all 2 rows, which is one class or a constant",
    ):
        load(path, **missing)
    assert load(path, task="regression", **missing).y.tolist() == [1, 1]


def test_compare_in_doubt_of_the_task_refuses_as_the_command(tmp_path: Path) -> None:
    X, three = np.arange(12.0).reshape(6, 2), [1, 2, 3, 1, 2, 3]
    with pytest.raises(
        ValueError,
        match=r"y has 3 distinct whole numbers: classes \(task='classification'\), levels "
        r".*task='regression'",
    ):
        compare(X, three)
    with pytest.raises(ValueError, match="y is 1 in all 6 rows, which is one class or a constant"):
        compare(X, np.ones(6))
    with pytest.raises(ValueError, match=r"y has one class \('a'\), and a comparison of"):
        compare(X, ["a"] * 6, task="classification")
    assert {
        family.id for family in compare(X, three, task="regression", solvers="CLARABEL").families
    } == {"svr.l1", "svr.l2"}


# Whole numbers that float64 rounds

NEAR = (2**53, 2**53 + 1, 1_700_000_000_000_000_001, 1_700_000_000_000_000_002, -(2**53) - 1)
TIMES = st.lists(st.sampled_from([*NEAR, 2**63, 2**70, 2**70 + 1, 3]), min_size=4, max_size=8)


def pairs_of(labels: list[int]) -> int:
    return sum(a > b for a in labels for b in labels)


@given(labels=TIMES, text=st.sampled_from(["csv", "svmlight", "frame"]))
def test_load_labels_beyond_float64_keep_their_pairs(
    tmp_path_factory: pytest.TempPathFactory, labels: list[int], text: str
) -> None:
    folder = tmp_path_factory.getbasetemp()
    if text == "csv":
        source: Any = write(
            folder, "a,y\n" + "".join(f"{at},{label}\n" for at, label in enumerate(labels))
        )
    elif text == "svmlight":
        source = write(folder, "".join(f"{label} 1:2\n" for label in labels), "rows.svm")
    else:
        source = Frame({"a": np.arange(len(labels)), "y": np.array(labels, dtype=object)})
    y = load(source, task="ranking").y.tolist()
    assert np.array_equal(np.subtract.outer(y, y) > 0, [[a > b for b in labels] for a in labels])
    if len({*labels}) > 1:
        assert load(source, task="ordinal").classes == tuple(sorted({*labels}))
    if len({*labels}) == 2:
        assert load(source).classes == tuple(sorted({*labels}))
        assert load(source).y.tolist() == [1 if label == max(labels) else -1 for label in labels]


@given(labels=TIMES)
def test_ranking_labels_beyond_float64_keep_their_pairs(labels: list[int]) -> None:
    X = np.arange(2.0 * len(labels)).reshape(-1, 2)
    assert ranking(X, labels).p == int(concordance(labels, X[:, 0]).pairs.sum()) == pairs_of(labels)
    assert ranking(X, np.array(labels, dtype=object)).p == pairs_of(labels)


def test_load_further_rows_of_classes_beyond_float64(tmp_path: Path) -> None:
    first = load(write(tmp_path, f"a,y\n1,{2**53}\n2,{2**53 + 1}\n"))
    more = load(write(tmp_path, f"a,y\n1,{2**53 + 1}\n", "more.csv"), like=first)
    assert (first.classes, more.y.tolist()) == ((2**53, 2**53 + 1), [1])
    assert load(
        write(tmp_path, f"a,y\n1,{2**53}\n2,{2**53 + 1}\n"), levels=[2**53 + 1, 2**53]
    ).y.tolist() == [1, 0]


def test_load_labels_that_only_rationals_distinguish_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, f"a,y\n1,{2**53}\n2,{2**53}.5\n3,1\n")
    with pytest.raises(
        DataError,
        match=r"'y' holds 9007199254740992 and 9007199254740992\.5, which are .* in float64",
    ):
        load(path, task="ranking")
    assert load(path, task="regression").y.tolist() == [2**53, 2**53, 1]


# Best end of the labels


@pytest.mark.parametrize("name", ["rank", "Place", "final_position"])
def test_load_ranks_tell_which_end_is_the_best(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, f"a,{name}\n1,1\n2,2\n3,4\n")
    assert (
        load(path, task="ranking")
        .describe()
        .endswith(f"; the highest `{name}` is the best (best='lowest' where 1 is)")
    )
    assert "best" not in load(path, task="ranking", best="highest").describe()
    back = load(path, best="lowest")
    assert (back.task, back.y.tolist()) == ("ranking", [3, 2, 0])
    assert f"target `{name}` (the last column, 1 to 4, the lowest is the best)" in back.describe()
    assert "best" not in load(write(tmp_path, "a,crank\n1,1\n2,2\n"), task="ranking").describe()


@pytest.mark.parametrize(
    ("name", "told"),
    [("finishRank", True), ("PageRank", True), ("RANK", True), ("rankle", False), ("Crank", False)],
)
def test_load_words_of_a_name_in_any_case_tell_ranks(tmp_path: Path, name: str, told: bool) -> None:
    assert (
        "is the best" in load(write(tmp_path, f"a,{name}\n1,1\n2,2\n"), task="ranking").describe()
    ) == told


def test_load_lowest_best_keeps_labels_from_0_on(tmp_path: Path) -> None:
    first = load(write(tmp_path, "a,place\n1,0\n2,2\n3,1\n"), best="lowest")
    more = load(write(tmp_path, "a,place\n1,1\n2,0\n", "more.csv"), like=first)
    assert (first.y.tolist(), more.y.tolist()) == ([2, 0, 1], [1, 2])
    assert "(the last column, 0 to 2, the lowest is the best)" in first.describe()
    assert "(0 to 1, the lowest is the best)" in more.describe()
    assert (
        average_precision([1, 0, 0], [3, 1, 2]).mean
        == average_precision(
            load(write(tmp_path, "a,place\n1,0\n2,1\n3,1\n"), best="lowest").y, [3, 1, 2]
        ).mean
    )


@pytest.mark.parametrize(
    "labels",
    [["0.001", "0.002", "1e16"], ["1e308", "-1e308", "0"], [str(2**53), str(2**53 + 1), "0"]],
)
def test_load_lowest_best_ranks_by_places_what_float64_would_round(
    tmp_path: Path, labels: list[str]
) -> None:
    text = "".join(f"{at},{label}\n" for at, label in enumerate(labels))
    path = write(tmp_path, f"a,y\n{text}")
    first = load(path, best="lowest")
    for y in (first.y, load(path, like=first).y):
        assert sorted(y.tolist()) == [0, 1, 2]
        assert np.argsort(-y).tolist() == sorted(range(3), key=lambda at: Fraction(labels[at]))


def test_load_best_against_the_data_that_are_joined_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "a,y\n1,1\n2,2\n")
    for best, other in (("lowest", "highest"), ("highest", "lowest"), (None, "lowest")):
        first = load(path, task="ranking", best=best)  # type: ignore[arg-type]
        with pytest.raises(
            DataError,
            match=f"best is '{other}', and the {best or 'highest'} label is the best in the data",
        ):
            load(path, like=first, best=other)  # type: ignore[arg-type]
        assert (
            load(path, like=first, best=best).y.tolist()  # type: ignore[arg-type]
            == first.y.tolist()
        )


@pytest.mark.parametrize(
    "labels", [("1e23", "1e300", "2"), ("1.5e17", "3e16", "12345678901234567891")]
)
def test_load_labels_in_powers_of_10_are_floats(tmp_path: Path, labels: tuple[str, ...]) -> None:
    path = write(tmp_path, "a,y\n" + "".join(f"{at},{label}\n" for at, label in enumerate(labels)))
    back = load(path, task="ordinal")
    assert set(map(type, back.classes or ())) == {float}
    levels = sorted(labels, key=float)
    assert (
        load(path, levels=levels).y.tolist()
        == back.y.tolist()
        == [levels.index(label) for label in labels]
    )


def test_load_levels_of_20_digits_are_exact(tmp_path: Path) -> None:
    labels = ["12345678901234567891", "12345678901234567890", "7"]
    path = write(tmp_path, "a,y\n" + "".join(f"{at},{label}\n" for at, label in enumerate(labels)))
    assert load(path, levels=labels).y.tolist() == [0, 1, 2]


@given(labels=TIMES, kind=st.sampled_from(["csv", "svmlight"]))
def test_load_lowest_best_turns_all_pairs_round(
    tmp_path_factory: pytest.TempPathFactory, labels: list[int], kind: str
) -> None:
    folder = tmp_path_factory.getbasetemp()
    text = "".join(
        f"{at},{label}\n" if kind == "csv" else f"{label} 1:{at + 1}\n"
        for at, label in enumerate(labels)
    )
    path = write(folder, f"a,y\n{text}" if kind == "csv" else text, "rows.txt")
    first = load(path, best="lowest")
    for y in (first.y.tolist(), load(path, like=first).y.tolist()):
        assert np.array_equal(
            np.subtract.outer(y, y) > 0, [[a < b for b in labels] for a in labels]
        )


def test_best_of_what_is_no_ranking_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "a,y\n1,1\n2,2\n")
    with pytest.raises(
        DataError, match="best is about the labels of a ranking, and the task is regression"
    ):
        load(path, task="regression", best="lowest")
    with pytest.raises(
        DataError, match="there is no best 'first'; choose one of 'highest', 'lowest'"
    ):
        load(path, best="first")  # type: ignore[arg-type]
    with pytest.raises(
        DataError, match="preferences take the place of a target and of weights; leave best out"
    ):
        load(path, preferences=path, best="lowest")


def test_path_lowest_best_has_metrics_of_relevances(tmp_path: Path) -> None:
    rows = "".join(
        f"{at},{at * at % 5},{place},{query}\n"
        for query in (1, 2)
        for at, place in enumerate((1, 3, 2))
    )
    path = write(tmp_path, f"a,b,place,qid\n{rows}")
    worse = write(tmp_path, f"a,b,place,qid\n{rows.replace(',3,', ',4,')}", "worse.csv")
    for metric, scores in (("precision@1", "1"), ("ndcg", r"(0\.[89]|1)")):
        result = CliRunner().invoke(
            app,
            ["path", str(path), "--best", "lowest", "--validate", str(path), "--metric", metric],
        )
        assert re.search(rf"best {metric} {scores}", result.output), result.output
    result = CliRunner().invoke(
        app, ["path", str(path), "--best", "lowest", "--validate", str(worse), "--metric", "ndcg"]
    )
    assert "as labels are above 3, the largest of rows.csv; choose another metric" in " ".join(
        result.output.split()
    )


def test_compare_lowest_best_gives_the_ranking_of_negated_labels(tmp_path: Path) -> None:
    rows = write(tmp_path, "a,b,rank\n1,2,1\n2,0,2\n3,1,3\n0,0,4\n")
    negated = write(tmp_path, "a,b,rank\n1,2,-1\n2,0,-2\n3,1,-3\n0,0,-4\n", "negated.csv")
    optima = []
    for arguments in (
        [str(rows), "--best", "lowest"],
        [str(negated), "--task", "ranking"],
        [str(rows), "--task", "ranking"],
    ):
        file = tmp_path / "found.json"
        result = CliRunner().invoke(
            app, ["compare", *arguments, "--family", "rvm", "--json", str(file)]
        )
        assert result.exit_code == 0, result.output
        optima.append(json.loads(file.read_text())["families"][0]["upper"])
    assert optima[0] == optima[1] != optima[2]
