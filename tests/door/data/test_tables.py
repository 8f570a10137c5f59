"""Tables as users have them: compressed, piped, with any separator, and data frames.

They have gaps, weights and preferences.
"""

from __future__ import annotations

import bz2
import gzip
import importlib
import io
import json
import lzma
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from typer.testing import CliRunner

from equimargin.cli.app import app
from equimargin.data import Data, DataError, load
from equimargin.data.formats import files
from equimargin.formulations import linear
from equimargin.problems import make_margin_problem_from_data
from equimargin.proofs import audit
from equimargin.proofs.foreign_files import read
from equimargin.solvers import solve

FINITE = st.floats(allow_nan=False, allow_infinity=False)
TABLES = hnp.arrays(np.float64, st.tuples(st.integers(2, 6), st.integers(2, 5)), elements=FINITE)
COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


def write(folder: Path, content: str | bytes, name: str = "rows.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def text_of(values: Any, separator: str = ",", header: str = "") -> str:
    """Return a table as text from which the same numbers are read back."""
    return header + "".join(separator.join(map(repr, row)) + "\n" for row in values.tolist())


def names(d: int, separator: str = ",") -> str:
    """Return a header of d features and a target."""
    return separator.join([*(f"x{j}" for j in range(d)), "y"]) + "\n"


class Frame:
    """Minimal data frame: names, shape, columns by name, and `to_numpy()` of a column."""

    def __init__(self, columns: dict[str, Any]) -> None:
        self._columns = {name: np.asarray(values) for name, values in columns.items()}

    @property
    def columns(self) -> list[str]:
        return list(self._columns)

    @property
    def shape(self) -> tuple[int, int]:
        return len(next(iter(self._columns.values()))), len(self._columns)

    def __getitem__(self, name: str) -> Column:
        return Column(self._columns[name])


class Column:
    """Column of a data frame, with conversion to an array only."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def to_numpy(self) -> Any:
        return self.values


FRAMES = {"stub": "", "pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}


def frame_maker(library: str) -> Any:
    """Return the constructor of a frame from a dictionary of columns.

    The test is skipped if the library is not installed.
    """
    if library == "stub":
        return Frame
    return getattr(
        pytest.importorskip(library, reason=f"{library} is not installed"), FRAMES[library]
    )


# Files: compressed, piped, separated by anything


@pytest.mark.parametrize("suffix", COMPRESSORS)
@given(values=TABLES)
def test_a_compressed_file_is_read_as_what_it_holds(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, values: Any
) -> None:
    text = text_of(values, header=names(values.shape[1] - 1))
    path = write(
        tmp_path_factory.getbasetemp(), COMPRESSORS[suffix](text.encode()), f"rows.csv{suffix}"
    )
    back = load(path, task="regression")
    assert np.array_equal(np.column_stack([back.X, back.y]), values)
    assert back.name == f"rows.csv{suffix}"


@pytest.mark.parametrize("suffix", COMPRESSORS)
def test_what_is_compressed_may_be_of_any_format(tmp_path: Path, suffix: str) -> None:
    archive = io.BytesIO()
    np.savez(archive, X=np.ones((2, 1)), y=np.arange(2))
    assert load(write(tmp_path, COMPRESSORS[suffix](archive.getvalue()), "a")).X.shape == (2, 1)
    assert load(write(tmp_path, COMPRESSORS[suffix](b"1 qid:1 1:2\n"), "b")).task == "ranking"
    # The suffix before that of the compression decides the format.
    with pytest.raises(DataError, match="no row holds an index:value"):
        load(write(tmp_path, COMPRESSORS[suffix](b"1\n2\n"), f"rows.svm{suffix}"))
    with pytest.raises(DataError, match="is a pickle, which could run code"):
        load(write(tmp_path, COMPRESSORS[suffix](b"\x80\x04K\x01."), "rows.txt"))


def test_a_file_that_grows_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LARGEST_CONTENT", 1000)
    path = write(tmp_path, gzip.compress(b"a,y\n" + b"1,2\n" * 300))
    with pytest.raises(DataError, match="comes to more than 1,000 bytes when decompressed"):
        load(path)
    assert (
        len(load(write(tmp_path, gzip.compress(b"a,y\n" + b"1,2\n" * 249)), task="regression").y)
        == 249
    )


@given(values=TABLES, packed=st.booleans())
def test_a_dash_is_standard_input(values: Any, packed: bool) -> None:
    content = text_of(values, header=names(values.shape[1] - 1)).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            sys,
            "stdin",
            io.TextIOWrapper(io.BytesIO(gzip.compress(content) if packed else content)),
        )
        back = load("-", task="regression")
    assert np.array_equal(np.column_stack([back.X, back.y]), values)
    assert back.name == "standard input"


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"", ": nothing came in; supply"), (b"a,y\n1,2\n1,x\n", ", line 3, column 'y': 'x'")],
)
def test_standard_input_is_named_in_errors(
    monkeypatch: pytest.MonkeyPatch, content: bytes, reason: str
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    with pytest.raises(DataError, match=f"^standard input{reason}"):
        load("-")


def test_a_file_named_dash_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "a,y\n1,2\n3,4\n", "-")
    assert load(Path("-")).X.tolist() == load("./-").X.tolist() == [[1.0], [3.0]]


@given(
    values=TABLES,
    gaps=st.sampled_from([" ", "  ", " \t", "\t  "]),
    header=st.booleans(),
    comment=st.booleans(),
)
def test_white_space_separates(
    tmp_path_factory: pytest.TempPathFactory, values: Any, gaps: str, header: bool, comment: bool
) -> None:
    d = values.shape[1] - 1
    text = (
        text_of(values, gaps, names(d, gaps) if header else "")
        .replace("\n", "  \n")
        .replace("\n", "\n ", 1)
    )
    text = (
        "# written by a program\n\n" * comment + text.replace("\n", " # a remark\n")
        if comment
        else text
    )
    path = write(tmp_path_factory.getbasetemp(), text, "rows.dat")
    back = load(path, task="regression", header=header, sep="whitespace")
    assert np.array_equal(np.column_stack([back.X, back.y]), values)
    assert back.columns == tuple(f"x{j}" if header else f"column {j + 1}" for j in range(d))
    if "\t" not in gaps:
        assert np.array_equal(load(path, task="regression", header=header).X, back.X)


def test_a_number_sign_within_a_field_is_no_remark(tmp_path: Path) -> None:
    back = load(
        write(tmp_path, "1 2 a#1 # the first\n3 4 a#2\n5 6 a#1\n", "rows.dat"), header=False
    )
    assert (back.classes, back.y.tolist()) == (("a#1", "a#2"), [-1, 1, -1])


@given(values=TABLES, mark=st.sampled_from(";|\t:~ "), decimal=st.sampled_from(".,"))
def test_separator_and_decimal_point_can_be_said(
    tmp_path_factory: pytest.TempPathFactory, values: Any, mark: str, decimal: str
) -> None:
    text = text_of(values, mark).replace(".", decimal)
    path = write(
        tmp_path_factory.getbasetemp(), names(values.shape[1] - 1, mark) + text, "rows.txt"
    )
    back = load(path, task="regression", sep=mark, decimal=decimal)
    assert np.array_equal(np.column_stack([back.X, back.y]), values)


def test_a_decimal_comma_is_hinted_at_and_points_then_group_digits(tmp_path: Path) -> None:
    path = write(tmp_path, "a;b;y\n1,5;2;3\n2;3,25;4\n0;1;9\n")
    with pytest.raises(
        DataError, match=r": 2 columns need a decision: decimal commas in 'a', 'b' \(decimal=','\)$"
    ):
        load(path)
    single = write(tmp_path, "a;b;y\n1,5;2;3\n2;3;4\n", "single.csv")
    with pytest.raises(
        DataError,
        match=r"line 2, column 'a': '1,5' is not a finite number; .* if the comma is a decimal "
        r"point, .*decimal=','",
    ):
        load(single)
    assert load(path, decimal=",").X.tolist() == [[1.5, 2], [2, 3.25], [0, 1]]
    # The value is one thousand five hundred, not one and a half.
    with pytest.raises(DataError, match="line 2, column 'a'"):
        load(write(tmp_path, "a;y\n1.500;2\n"), decimal=",")
    headerless = write(tmp_path, "1,5;2;3\n0,5;3,25;4\n")
    assert load(headerless, decimal=",", header=False).X.tolist() == [[1.5, 2], [0.5, 3.25]]


def test_a_comma_that_groups_digits_is_no_decimal_point(tmp_path: Path) -> None:
    with pytest.raises(
        DataError,
        match=r"line 3, column 'a': '1,500' is not .*; write it without a comma if that groups "
        r"its digits$",
    ):
        load(write(tmp_path, 'a,y\n"7",2\n"1,500",3\n'))


@pytest.mark.parametrize("mark", ["", "ab", "e", "1", "-", '"', "\n", "."])
def test_a_mark_that_separates_nothing_is_refused(tmp_path: Path, mark: str) -> None:
    with pytest.raises(
        DataError,
        match="cannot separate fields; give tab, whitespace or one character that occurs in "
        "no number",
    ):
        load(write(tmp_path, "a,y\n1,2\n"), sep=mark)


@pytest.mark.parametrize(("option", "value"), [("decimal", ";"), ("missing", "median")])
def test_a_choice_that_is_none_is_refused(option: str, value: str) -> None:
    with pytest.raises(DataError, match=f"there is no {option} '{value}'; choose one of "):
        load("xor", **{option: value})  # type: ignore[arg-type]


def test_a_spreadsheet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the file is a spreadsheet; save the sheet as CSV"):
        load(write(tmp_path, b"PK\x03\x04 sheet", "rows.xlsx"))


# Roles of columns


@pytest.mark.parametrize(
    ("header", "target", "query", "weight"),
    [
        ("a,b,c,d", "d", None, None),
        ("a,y,c,d", "y", None, None),
        ("x,y,c,label", "label", None, None),
        ("x,y,Target,d", "Target", None, None),
        ("qid,a,relevance,d", "relevance", "qid", None),
        ("a,query_id,b,c", "c", "query_id", None),
        ("a,b,weight,d", "d", None, None),  # A weight of cars, for example.
        ("a,b,sample_weight,d", "d", None, "sample_weight"),
        ("a,b,label,weight", "label", None, "weight"),
        ("a,Query,weight,c", "c", "Query", "weight"),
        ("y,weight,a,b", "y", None, "weight"),
    ],
)
def test_columns_are_recognised_by_their_names(
    tmp_path: Path, header: str, target: str, query: str | None, weight: str | None
) -> None:
    values = np.arange(12.0).reshape(3, 4) + 0.5
    listed = header.split(",")
    back = load(write(tmp_path, text_of(values, header=header + "\n")), task="regression")
    assert (back.origin.target, back.origin.query, back.origin.weight) == (target, query, weight)
    assert back.columns == tuple(name for name in listed if name not in (target, query, weight))
    assert np.array_equal(back.y, values[:, listed.index(target)])
    assert np.array_equal(back.X, values[:, [listed.index(name) for name in back.columns]])
    assert (
        back.weight is None
        if weight is None
        else np.array_equal(back.weight, values[:, listed.index(weight)])  # type: ignore[arg-type]
    )
    line = back.describe()
    for role in filter(None, (target, query, weight)):
        assert f"`{role}`" in line
    assert ("the last column" in line) == (
        target == "d" or header == "a,Query,weight,c" or header == "a,query_id,b,c"
    )
    assert ("`weight` is a feature (weight='weight'" in line) == ("weight" in (back.columns or ()))


def test_a_role_can_be_taken_and_given(tmp_path: Path) -> None:
    path = write(tmp_path, "qid,weight,label\n1,2,3\n1,4,5\n2,5,6\n")
    back = load(path, query="", weight="")
    assert (back.columns, back.qid, back.weight, back.task) == (
        ("qid", "weight"),
        None,
        None,
        "regression",
    )
    back = load(path, target="weight", query="", weight="label")
    assert (back.columns, back.y.tolist()) == (("qid",), [2, 4, 5])
    assert back.weight is not None
    assert back.weight.tolist() == [3, 5, 6]


@pytest.mark.parametrize(
    ("content", "options", "reason"),
    [
        (
            "label,target,a\n1,2,3\n",
            {},
            ": columns 'label', 'target' could each be the target; choose one with target "
            "(target='label')",
        ),
        (
            "a,label,weight\n1,2,-3\n",
            {},
            ", line 2, column 'weight': -3 is no weight, which is at least 0; correct it, "
            "or read 'weight'",
        ),
        (
            "a,label,weight\n1,2,x\n",
            {},
            ", line 2, column 'weight': 'x' is not a finite number; correct it, or read the "
            "column as a feature",
        ),
        (
            "a,b,y\n1,2,3\n",
            {"drop": ["z"]},
            ": there is no column 'z' to be dropped; the columns are 'a', 'b', 'y'",
        ),
        (
            "a,b,y\n1,2,3\n",
            {"drop": ["a"], "target": "a"},
            ": column 'a' is named as target and to be dropped; choose one",
        ),
        (
            "a,b,y\n1,2,3\n",
            {"weight": "a", "query": "a"},
            ": column 'a' is named as query and as weight; name two different columns",
        ),
        (
            "a,b,y\n1,2,3\n",
            {"drop": ["a", "b"]},
            ": there is no feature column in addition to 'a', 'b', 'y'; supply at least one",
        ),
        (
            "a b,y\nred,2\n",
            {},
            ", line 2, column 'a b': 'red' is not a finite number; correct it or drop the "
            "column (drop='a b')",
        ),
        (
            ",a,y\n1,2,3\n",
            {},
            ", line 1: column 1 has no name; name it, or drop it if it only counts the rows "
            "(drop=['column 1'])",
        ),
        (
            "a,y\nNA,3\n",
            {},
            ", line 2, column 'a': 'NA' is not a finite number; correct it or drop the "
            "column (drop='a'); missing='drop'",
        ),
        (
            "a,y\nNA,3\n",
            {"missing": "drop"},
            ": every row has a missing entry, so that none is left",
        ),
        (
            "a,y\nNA,3\n",
            {"missing": "mean"},
            ": column 'a' has no entry, and so no mean; leave it out (drop)",
        ),
        ("a,y\n1,\n", {"missing": "mean"}, ", line 2, column 'y': '' is not a finite number"),
        (
            "qid,a,y\n1,2,3\n,3,4\n",
            {"missing": "mean"},
            ", line 3: this row has no query and others have one; give every row a query, or leave",
        ),
    ],
)
def test_a_column_without_a_proper_role_is_refused(
    tmp_path: Path, content: str, options: Any, reason: str
) -> None:
    path = write(tmp_path, content)
    with pytest.raises(DataError, match="^" + re.escape(f"{path}{reason}")) as caught:
        load(path, **options)
    assert "\n" not in str(caught.value)


def test_dropped_columns_may_hold_anything(tmp_path: Path) -> None:
    path = write(tmp_path, ",name,a,y\n0,Ann,1,2\n1,,3,4\n2,Bo,5,7\n")
    back = load(path, drop=["column 1", "name"])
    assert (back.columns, back.X.tolist()) == (("a",), [[1], [3], [5]])
    assert "; dropped: column 1, name;" in back.describe()
    assert load(path, drop=["column 1", "name"], like=back).X.tolist() == back.X.tolist()
    without = write(tmp_path, "a,y\n1,2\n", "without.csv")
    # Further rows may lack dropped columns.
    assert load(without, drop=["column 1", "name"], like=back).X.tolist() == [[1]]


# Missing entries


HOLES = st.sampled_from(["", "NA", "nan", "?", "None", "-", "n/a"])


@given(
    values=hnp.arrays(np.float64, (6, 3), elements=st.floats(-1e6, 1e6)),
    holes=hnp.arrays(np.bool_, (6, 3)),
    word=HOLES,
)
def test_missing_entries_are_left_out_or_filled(
    tmp_path_factory: pytest.TempPathFactory, values: Any, holes: Any, word: str
) -> None:
    holes[0] = False
    rows = [
        [word if hole else repr(v) for v, hole in zip(*pair, strict=True)]
        for pair in zip(values.tolist(), holes.tolist(), strict=True)
    ]
    text = "\n".join(["a,b,c,y", *(",".join([*row, str(i)]) for i, row in enumerate(rows))]) + "\n"
    path = write(tmp_path_factory.getbasetemp(), text, "holes.csv")
    whole = ~holes.any(axis=1)
    back = load(path, task="regression", missing="drop")
    assert np.array_equal(back.X, values[whole])
    assert np.array_equal(back.y, np.flatnonzero(whole))
    assert back.origin.left_out == 6 - whole.sum()
    back = load(path, task="regression", missing="mean")
    assert np.array_equal(back.X[~holes], values[~holes])
    means = np.array([values[~holes[:, j], j].mean() for j in range(3)])
    assert np.allclose(back.X[holes], np.broadcast_to(means, (6, 3))[holes], rtol=1e-12, atol=1e-9)
    assert back.origin.filled == holes.sum()
    if holes.any():
        with pytest.raises(DataError, match="missing='drop'"):
            load(path, task="regression")
    else:
        assert np.array_equal(load(path, task="regression", missing="drop").X, values)


def test_missing_entries_are_counted_in_the_line(tmp_path: Path) -> None:
    path = write(tmp_path, "a,b,y\n1,,3\n2,NA,4\n3,1,5\n")
    assert (
        "; 2 rows with missing entries left out; first row"
        in load(path, task="regression", missing="drop").describe()
    )
    assert (
        "; 2 missing entries filled with means; first row" in load(path, missing="mean").describe()
    )


def test_further_rows_are_filled_with_the_first_ones_means(tmp_path: Path) -> None:
    training = load(write(tmp_path, "a,b,y\n1,1,3\n3,2,4\n5,6,6\n", "a.csv"), missing="mean")
    back = load(write(tmp_path, "b,a,y\n,9,1\n100,NA,2\n", "b.csv"), missing="mean", like=training)
    assert back.X.tolist() == [[9, 3], [3, 100]]


def test_a_missing_target_leaves_its_row_out_and_none_may_be_a_class(tmp_path: Path) -> None:
    path = write(tmp_path, "a,y\n1,none\n2,mild\n3,?\n4,none\n")
    back = load(path, missing="drop", na="?")
    assert (back.y.tolist(), back.classes, back.origin.left_out) == (
        [1, -1, 1],
        ("mild", "none"),
        1,
    )
    assert "as missing" not in back.describe()


# Data frames and Parquet


@pytest.mark.parametrize("library", FRAMES)
@given(values=TABLES, whole=st.booleans())
def test_frame_round_trip(library: str, values: Any, whole: bool) -> None:
    make, m = frame_maker(library), len(values)
    qid = np.arange(m) // 2 + (2**62 if whole else 0)
    back = load(
        make(
            {
                "qid": qid,
                **{f"x{j}": column for j, column in enumerate(values.T[:-1].copy())},
                "relevance": values[:, -1].copy(),
            }
        )
    )
    assert np.array_equal(back.X, values[:, :-1])
    assert np.array_equal(back.y, values[:, -1])
    assert back.qid is not None
    assert np.array_equal(back.qid, qid)
    assert (back.task, back.header) == ("ranking", None)


@pytest.mark.parametrize("library", FRAMES)
def test_text_gaps_and_other_types_of_a_frame(library: str) -> None:
    make = frame_maker(library)

    def column(values: list[Any]) -> Any:
        return np.array(values, dtype=object) if library == "stub" else values

    label, holed = column(["no", "yes", "no"]), column([1.5, None, 2.5])
    back = load(make({"a": [1, 2, 4], "b": [True, False, True], "label": label}))
    assert (back.X.tolist(), back.y.tolist(), back.classes) == (
        [[1, 1], [2, 0], [4, 1]],
        [-1, 1, -1],
        ("no", "yes"),
    )
    assert back.describe().endswith(
        ": classification, 3 rows: target `label` (no is -1, yes is +1), 2 features"
    )
    with pytest.raises(
        DataError,
        match=r"row 1, column 'a': .*\(drop='a'\); missing='drop' leaves such rows out",
    ):
        load(make({"a": holed, "b": [1, 2, 3], "y": [1, 2, 3]}))
    assert load(make({"a": holed, "b": [1, 2, 3], "y": [1, 2, 3]}), missing="drop").X.tolist() == [
        [1.5, 1],
        [2.5, 3],
    ]
    assert load(make({"a": holed, "b": [1, 2, 3], "y": [1, 2, 3]}), missing="mean").X.tolist() == [
        [1.5, 1],
        [2, 2],
        [2.5, 3],
    ]
    days = np.array(["2020-01-01", "2020-01-02", "2020-01-03"], dtype="datetime64[ms]")
    with pytest.raises(
        DataError,
        match=r"column 'when': holds datetime64\[.*\], not numbers or text; convert it or leave "
        r"it out",
    ):
        load(make({"when": days, "b": [1, 2, 3], "y": [1, 2, 3]}))
    assert load(make({"when": days, "b": [1, 2, 3], "y": [1, 2, 3]}), drop="when").columns == ("b",)
    with pytest.raises(
        DataError,
        match=r"row 0, column 'a': 'no' is not a finite number; correct it or drop the column "
        r"\(drop='a'\)",
    ):
        load(make({"a": label, "b": [1, 2, 3], "y": [1, 2, 3]}))
    with pytest.raises(DataError, match="sep is about text"):
        load(make({"a": [1], "y": [1]}), sep=";")


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        (
            {"a": np.array([1, "x"], dtype=object), "y": [1, 2]},
            "column 'a': holds both text and numbers; convert it or leave it out",
        ),
        (
            {"a": np.array([1, [2]], dtype=object), "y": [1, 2]},
            "column 'a': holds list, not numbers or text",
        ),
        (
            {"a": np.array([1j, 2]), "y": [1, 2]},
            "column 'a': holds complex128, not numbers or text",
        ),
        ({"a": np.ones((2, 2)), "y": [1, 2]}, "several columns are named 'a'; rename all but one"),
        ({"a": [], "y": []}, "there are 0 rows and 2 columns"),
        ({"a": [1.0, np.inf], "y": [1, 2]}, "row 1, column 'a': 'inf' is not a finite number"),
        (
            {"qid": [1.0, 2.0**53], "a": [1, 2], "y": [1, 2]},
            "column 'qid': float64 does not distinguish queries from 2**53 on",
        ),
    ],
)
def test_a_frame_that_is_no_data_is_refused(columns: Any, reason: str) -> None:
    class Wide(Frame):
        def __getitem__(self, name: str) -> Any:
            found = self._columns[name]
            return Column(found) if found.ndim == 1 else found

    with pytest.raises(DataError, match=re.escape(reason)):
        load(Wide(columns))


def test_what_is_no_source_is_said() -> None:
    with pytest.raises(
        DataError, match=r"^ndarray is no source of data; give a name, a path or a data frame"
    ):
        load(np.ones((2, 2)))


def test_parquet_round_trip(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = importlib.import_module("pyarrow.parquet")
    table = arrow.table(
        {"a": [1.5, 2.5, None], "__index_level_0__": ["p", "q", "r"], "label": ["no", "yes", "no"]}
    )
    parquet.write_table(table, tmp_path / "rows.parquet")
    back = load(tmp_path / "rows.parquet", missing="drop")
    assert (back.columns, back.X.tolist(), back.y.tolist()) == (("a",), [[1.5], [2.5]], [-1, 1])
    with pytest.raises(
        DataError, match=r"rows\.parquet, row 2, column 'a': .*\(drop='a'\); missing='drop'"
    ):
        load(tmp_path / "rows.parquet")
    torn = write(tmp_path, b"PAR1 torn PAR1", "torn.parquet")
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        load(torn)


def test_parquet_without_pyarrow_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(
        DataError,
        match=r"pyarrow, which reads Parquet files, is not installed; install it \(pip install "
        r"'equimargin\[tables\]'\) or save",
    ):
        load(write(tmp_path, b"PAR1 content PAR1", "rows.parquet"))


# Preferences and weights


def weighted(data: Data) -> tuple[float, float]:
    """Return the proven interval of the optimum of the data's problem."""
    interval = solve(make_margin_problem_from_data(data, kernel=linear()), tol=1e-9).interval
    return interval.lower, interval.upper


@given(
    values=hnp.arrays(np.float64, (5, 2), elements=st.floats(-3, 3)),
    pairs=st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 4)).filter(lambda pair: pair[0] != pair[1]),
        min_size=1,
        max_size=9,
    ),
)
def test_preferences_round_trip(
    tmp_path_factory: pytest.TempPathFactory, values: Any, pairs: Any
) -> None:
    folder = tmp_path_factory.getbasetemp()
    features = write(folder, text_of(values, header="a,b\n"), "features.csv")
    prefs = write(
        folder, "other,preferred\n" + "".join(f"{j},{i}\n" for i, j in pairs), "prefs.csv"
    )
    back = load(features, preferences=prefs)
    assert back.pairs is not None
    assert (back.pairs.tolist(), back.columns, back.task) == (
        [list(pair) for pair in pairs],
        ("a", "b"),
        "ranking",
    )
    assert np.array_equal(back.X, values)
    frame = Frame({"preferred": [i for i, _ in pairs], "other": [j for _, j in pairs]})
    from_frame = load(Frame({"a": values[:, 0], "b": values[:, 1]}), preferences=frame).pairs
    assert from_frame is not None
    assert from_frame.tolist() == back.pairs.tolist()
    problem = make_margin_problem_from_data(back, kernel=linear())
    assert (problem.p, problem.m, problem.family) == (len(pairs), 5, "rank.l1")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("a,b\n0,1\n", ": the columns are 'a', 'b' and must be preferred,other[,query][,weight]"),
        ("0,1\n1,2\n", ": the columns are '0', '1' and must be preferred,other"),
        (
            "preferred,other\n0,1\n1,4\n",
            ", line 3, column 'other': '4' is no row; the rows are counted from 0 to 3",
        ),
        ("preferred,other\n-1,1\n", ", line 2, column 'preferred': '-1' is no row"),
        ("preferred,other\nx,1\n", ", line 2, column 'preferred': 'x' is no row"),
        (
            "preferred,other\n0,1\n2,2\n",
            ", line 3: row 2 is preferred to itself; correct or remove the line",
        ),
        (
            "preferred,other\n0,1\n0,2\n",
            ", line 3: the two rows are of different queries; correct or remove the line",
        ),
        (
            "preferred,other,query\n0,1,q\n1,0,r\n",
            ", line 3, column 'query': row 1 is of query 'q' in a line before; correct the line",
        ),
        (
            "preferred,other,weight\n0,1,1\n1,0,-2\n",
            ", line 3, column 'weight': '-2' is no weight of a pair; supply a number from 0 to inf",
        ),
        (
            "preferred,other,weight\n0,1,nan\n",
            ", line 2, column 'weight': 'nan' is no weight of a pair",
        ),
        ("preferred,other,weight\n0,1,\n", ", line 2, column 'weight': '' is no weight of a pair"),
        ("preferred,other,weight\n0,1,1\n1,0\n", ", line 3: "),
    ],
)
def test_a_bad_preference_is_refused_with_its_place(
    tmp_path: Path, content: str, reason: str
) -> None:
    features = write(tmp_path, "qid,a,b\n1,1,2\n1,2,3\n2,3,4\n2,4,4\n")
    prefs = write(tmp_path, content, "prefs.csv")
    with pytest.raises(DataError, match="^" + re.escape(f"{prefs}{reason}")):
        load(features, preferences=prefs)


@pytest.mark.parametrize("ids", [["p7", "p3", "p9", "p1"], [7, 3, 9, 1]], ids=["words", "numbers"])
def test_preferences_name_rows_by_their_id(tmp_path: Path, ids: list[Any]) -> None:
    """Rows may have any order or be absent; the column of names is no feature."""
    rows = [f"{name},{value}" for name, value in zip(ids, ("1,1", ",2", "3,3", "4,5"), strict=True)]
    prefs = write(
        tmp_path,
        f"preferred,other\n{ids[3]},{ids[0]}\n{ids[1]},{ids[2]}\n{ids[2]},{ids[0]}\n",
        "prefs.csv",
    )
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        features = write(tmp_path, "ID,a,b\n" + "".join(rows[k] + "\n" for k in order))
        back = load(features, preferences=prefs, missing="drop")
        assert back.pairs is not None
        assert back.columns == ("a", "b")
        X = np.asarray(back.X)
        assert [[X[i, 0], X[j, 0]] for i, j in back.pairs] == [[4.0, 1.0], [3.0, 1.0]]
        assert "`ID` identifies the rows in preferences" in back.describe()
    frame = Frame({"id": ids, "a": [1.0, 2.0, 3.0, 4.0], "b": [1.0, 2.0, 3.0, 5.0]})
    from_frame = load(frame, preferences=Frame({"preferred": [ids[3]], "other": [ids[0]]})).pairs
    assert from_frame is not None
    assert from_frame.tolist() == [[3, 0]]


def test_a_bad_id_is_refused_with_its_place(tmp_path: Path) -> None:
    features = write(tmp_path, "id,a,b\nx,1,2\ny,2,3\n")
    prefs = write(tmp_path, "preferred,other\nx,y\nx,0\n", "prefs.csv")
    with pytest.raises(
        DataError,
        match=r"line 3, column 'other': '0' is the id of no row; the feature file's column `id` "
        r"has them",
    ):
        load(features, preferences=prefs)
    features = write(tmp_path, "id,a,b\nx,1,2\ny,2,3\nx,2,4\n")
    with pytest.raises(
        DataError,
        match=r"line 4, column 'id': line 2 has the id 'x', too; give every row a different id",
    ):
        load(features, preferences=prefs)


def test_preferences_follow_the_rows_that_are_left(tmp_path: Path) -> None:
    features = write(tmp_path, "a,b\n1,1\n,2\n3,3\n4,4\n")
    prefs = write(
        tmp_path,
        "# clicks of a week\npreferred,other,weight\n3,0,1.5\n# one more\n2,1,1\n3,2,inf\n",
        "prefs.csv",
    )
    back = load(features, preferences=prefs, missing="drop")
    assert back.pairs is not None
    assert back.pair_weight is not None
    assert (back.pairs.tolist(), back.pair_weight.tolist()) == ([[2, 0], [2, 1]], [1.5, np.inf])
    assert back.X[:, 0].tolist() == [1, 3, 4]
    assert "weights of pairs (1.5 to inf)" in back.describe(2)


def test_a_weight_of_a_pair_is_worth_as_many_equal_pairs(tmp_path: Path) -> None:
    features = write(tmp_path, "a,b\n1,2\n3,1\n0,4\n2,2\n")
    weighed = write(tmp_path, "preferred,other,weight\n3,0,2\n0,1,1\n2,1,3\n0,3,0\n", "weighed.csv")
    repeated = write(tmp_path, "preferred,other\n3,0\n2,1\n0,1\n2,1\n3,0\n2,1\n", "repeated.csv")
    (low, high), (lower, upper) = (
        weighted(load(features, preferences=prefs)) for prefs in (weighed, repeated)
    )
    assert max(low, lower) <= min(high, upper) <= max(high, upper) <= min(low, lower) * (1 + 1e-6)


def test_preferences_are_no_matter_of_another_task_nor_of_a_sample(tmp_path: Path) -> None:
    features, prefs = (
        write(tmp_path, "a,b\n1,2\n3,4\n"),
        write(tmp_path, "preferred,other\n1,0\n", "prefs.csv"),
    )
    with pytest.raises(DataError, match="preferences rank rows, and the task is regression"):
        load(features, preferences=prefs, task="regression")
    with pytest.raises(DataError, match="rows with preferences cannot be sampled"):
        load(features, preferences=prefs).sampled(1, 0)
    with pytest.raises(
        DataError, match="preferences take the place of a target and of weights; leave target out"
    ):
        load(features, preferences=prefs, target="a")
    back = load(
        write(tmp_path, "qid,a,label,weight\n1,2,0,3\n1,4,1,4\n", "labelled.csv"), preferences=prefs
    )
    assert (back.columns, back.weight, back.y.tolist()) == (("a",), None, [0, 0])
    assert back.describe(1).endswith(
        "1 pair: query `qid` (1 query), 1 feature; dropped: label, weight; first row read "
        "as column names"
    )
    archive = tmp_path / "rows.npz"
    np.savez(archive, X=np.eye(2))
    pairs = load(archive, preferences=prefs).pairs
    assert pairs is not None
    assert pairs.tolist() == [[1, 0]]


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_weight_is_worth_as_many_equal_rows(tmp_path: Path, task: str) -> None:
    random = np.random.default_rng(3)
    X, weights = random.normal(size=(12, 2)).round(3), random.integers(0, 4, 12)
    y = (
        np.where(X[:, 0] + random.normal(size=12) > 0, 1, 0)
        if task == "classification"
        else X[:, 0].round(1)
    )
    rows = [f"{a},{b},{target}" for (a, b), target in zip(X.tolist(), y.tolist(), strict=True)]
    once = write(
        tmp_path,
        "a,b,label,weight\n"
        + "".join(f"{row},{w}\n" for row, w in zip(rows, weights.tolist(), strict=True)),
        "once.csv",
    )
    often = write(
        tmp_path,
        "a,b,label\n"
        + "".join(f"{row}\n" * w for row, w in zip(rows, weights.tolist(), strict=True)),
        "often.csv",
    )
    (low, high), (least, most) = weighted(load(once, task=task)), weighted(load(often, task=task))
    assert max(low, least) <= min(high, most)
    assert high - low < 1e-6 * high
    ignored = weighted(load(once, task=task, drop=["weight"]))
    assert ignored[0] > high or ignored[1] < low


def test_a_ranking_weighs_queries(tmp_path: Path) -> None:
    text = "qid,a,b,relevance,weight\n1,1,2,0,2\n1,2,1,1,2\n2,0,1,0,3\n2,1,0,1,3\n"
    data = load(write(tmp_path, text))
    assert data.query_weight == {1: 2.0, 2: 3.0}
    assert make_margin_problem_from_data(data, kernel=linear()).weights is not None
    with pytest.raises(
        DataError,
        match="rows of query 2 differ in weight, and a ranking weighs whole queries; give all "
        "rows of a",
    ):
        _ = load(write(tmp_path, text.replace("1,0,1,3", "1,0,1,4"))).query_weight
    assert load("xor").query_weight is None


def test_a_sample_keeps_its_weights(tmp_path: Path) -> None:
    text = "a,label,weight\n" + "".join(f"{i},{i % 2},{i}\n" for i in range(20))
    part = load(write(tmp_path, text)).sampled(7, 0)
    assert part.weight is not None
    assert part.weight.tolist() == part.X[:, 0].tolist()


def test_npz_may_hold_weights(tmp_path: Path) -> None:
    np.savez(tmp_path / "rows.npz", X=np.eye(2), y=np.arange(2), weight=np.array([1.0, 3.0]))
    found = load(tmp_path / "rows.npz").weight
    assert found is not None
    assert found.tolist() == [1, 3]
    np.savez(tmp_path / "rows.npz", X=np.eye(2), y=np.ones(2), weight=np.array([1.0, -3.0]))
    with pytest.raises(
        DataError, match=r"row 1, column 'weight': -3 is no weight, which is at least 0"
    ):
        load(tmp_path / "rows.npz")


# Messages

SVMLIGHT = "; read as svmlight (sep='whitespace' reads a table)"
"""Note on a file that has the name of a table but is read as svmlight."""


@pytest.mark.parametrize(
    ("content", "options", "line"),
    [
        (
            "id,a,b,label\n7,1,2,spam\n8,2,1,ham\n9,0,1,ham\n",
            {"drop": ["id"]},
            "rows.csv: classification, 3 rows: target `label` (ham is -1, spam is +1), 2 "
            "features; dropped: id; "
            "first row read as column names",
        ),
        (
            "5.1,1,setosa\n4.9,2,virginica\n4.7,1,setosa\n",
            {},
            "rows.csv: classification, 3 rows: target `column 3` (the last column, setosa "
            "is -1, virginica is +1), 2 features; "
            "first row read as data (header=True reads it as column names)",
        ),
        (
            "query_id,a,relevance,weight\nx,1,0,2\nx,2,3,2\nz,2,1,1\n",
            {},
            "rows.csv: ranking, 3 rows, 1 pair: target `relevance` (0 to 3), query "
            "`query_id` (2 queries), weight `weight`, 1 feature; "
            "first row read as column names",
        ),
        (
            "1 qid:3 1:2\n0 qid:3 1:1\n",
            {},
            "rows.csv: ranking, 2 rows, 1 pair: target (0 to 1), query `qid` (1 query), 1 feature"
            + SVMLIGHT,
        ),
        (
            "0 1:2\n1 1:1\n",
            {},
            "rows.csv: classification, 2 rows: target (0 is -1, 1 is +1), 1 feature" + SVMLIGHT,
        ),
        (
            "-1 1:2\n1 1:1\n",
            {},
            "rows.csv: classification, 2 rows: target (-1, +1), 1 feature" + SVMLIGHT,
        ),
        (
            "-1 1:2\n1 1:1\n",
            {"task": "regression"},
            "rows.csv: regression, 2 rows: target (-1 to 1), 1 feature" + SVMLIGHT,
        ),
        (
            "-1 1:2\n1 1:1\n",
            {"task": "ranking"},
            "rows.csv: ranking, 2 rows, 1 pair: target (-1 to 1), 1 feature" + SVMLIGHT,
        ),
    ],
)
def test_the_line_says_how_the_file_was_read(
    tmp_path: Path, content: str, options: Any, line: str
) -> None:
    back = load(write(tmp_path, content), **options)
    assert back.describe(1 if back.task == "ranking" else None) == line


RUN = CliRunner()


def run(*arguments: str, stdin: bytes | None = None) -> tuple[int, str]:
    """Return the exit status and the complete output, on one line."""
    result = RUN.invoke(app, list(arguments), input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, " ".join(result.output.split())


def test_the_command_line_reads_a_pipe_and_says_so() -> None:
    text = b"id,a,b,label\n" + b"".join(
        b"%d,%d,%d,%s\n" % (i, i % 5, i % 3, b"spam" if i % 5 > 2 else b"ham") for i in range(20)
    )
    arguments = ("compare", "-", "--drop", "id", "--family", "svm.soft", "--solver", "smo")
    status, output = run(*arguments, stdin=gzip.compress(text))
    assert status == 4, output
    assert (
        "standard input: classification, 20 rows: target `label` (ham is -1, spam is +1), 2 "
        "features; dropped: id" in output
    )


def test_the_command_line_takes_every_option_of_a_table(tmp_path: Path) -> None:
    rows = "".join(
        f"{i};{i % 5},5;{'NA' if i == 3 else i % 3};{i % 2};{1 + i % 2}\n" for i in range(20)
    )
    path = str(write(tmp_path, rows))
    arguments = [
        "--no-header",
        "--sep",
        ";",
        "--decimal",
        ",",
        "--missing",
        "drop",
        "--drop",
        "column 1",
    ]
    arguments += ["--target", "column 4", "--weight", "column 5"]
    said = (
        "19 rows: target `column 4` (0 is -1, 1 is +1), weight `column 5`, 2 features; dropped: "
        "column 1; 1 row with"
    )
    record = tmp_path / "record.json"
    for command in (
        ["compare", "--family", "svm.soft", "--solver", "smo"],
        ["path", "--lambda-min", "0.1"],
    ):
        status, output = run(command[0], path, *command[1:], *arguments, "--json", str(record))
        assert status in (0, 4), output
        assert said in output
        assert said in json.loads(record.read_text())["data"]["read_as"]


def test_preferences_on_the_command_line(tmp_path: Path) -> None:
    features = write(
        tmp_path, "a,b\n" + "".join(f"{i % 5},{i % 3}\n" for i in range(8)), "features.csv"
    )
    prefs = write(
        tmp_path, "preferred,other\n" + "".join(f"{i},{i - 1}\n" for i in range(1, 8)), "prefs.csv"
    )
    arguments = (str(features), "--preferences", str(prefs))
    status, output = run(
        "compare", *arguments, "--solver", "coordinate_descent", "--family", "rank.l1"
    )
    assert status == 4, output
    assert "features.csv: ranking, 8 rows, 7 pairs, 2 features" in output
    assert "one-norm families" not in output
    status, output = run("path", *arguments, "--lambda-min", "0.1")
    assert status == 0, output
    assert "7 pairs" in output
    status, output = run("path", *arguments, "--family", "rvm", "--lambda-min", "0.1")
    assert status == 0, output
    status, output = run("path", *arguments, "--family", "svm.onenorm")
    assert status == 2
    assert (
        "a ranking with the hinge has no family 'svm.onenorm'; choose rank.l1, rank.onenorm or rvm"
        in output
    )
    status, output = run("path", *arguments, "--validate", "2")
    assert status == 2
    assert (
        "--validate 2: folds support neither weights nor preferences; "
        "name a file of validation rows" in output
    )


def test_an_audit_counts_the_weights(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    X, y, weight = (
        random.normal(size=(20, 2)).round(3),
        np.where(np.arange(20) % 3, 1, -1),
        random.integers(1, 4, 20),
    )
    np.savez(
        tmp_path / "model.npz", kind="LinearSVC", coef=[[0.5, -0.25]], intercept=[0.1], loss="hinge"
    )
    rows = np.column_stack([X, weight, y])
    table = write(tmp_path, text_of(rows, header="a,b,weight,label\n"))
    wanted = audit(read(tmp_path / "model.npz"), X, y, 1.0, sample_weight=weight)
    status, output = run("audit", str(tmp_path / "model.npz"), "--data", str(table), "-C", "1")
    assert status == 0, output
    assert (
        "rows.csv: classification, 20 rows: target `label` (-1, +1), weight `weight`, 2 features"
        in output
    )
    assert " ".join(str(wanted).split()) in output
    assert str(wanted) != str(audit(read(tmp_path / "model.npz"), X, y, 1.0))


def test_a_validation_file_may_lack_weights_and_have_gaps(tmp_path: Path) -> None:
    training = write(
        tmp_path,
        "id,a,b,label,weight\n"
        + "".join(f"{i},{i % 5},{i % 3},{i % 2},{1 + i % 3}\n" for i in range(20)),
    )
    for text in ("b,a,label\n0,1,1\n2,,0\n1,4,1\n", "weight,b,a,label\n9,0,1,1\n9,2,,0\n9,1,4,1\n"):
        held_out = write(tmp_path, text, "held_out.csv")
        arguments = (
            "--missing",
            "mean",
            "--drop",
            "id",
            "--lambda-min",
            "0.1",
            "--validate",
            str(held_out),
        )
        status, output = run("path", str(training), *arguments)
        assert status == 0, output
        assert "best accuracy" in output


# Arbitrary input


WORDS = st.sampled_from(
    [
        "qid",
        "Label",
        "y",
        "weight",
        "a",
        "g",
        "1",
        "2.5",
        "-3",
        "1,5",
        "1.000,5",
        "nan",
        "?",
        "",
        "a#",
        "0",
    ]
)
NAMES = st.sampled_from(["qid", "Label", "y", "weight", "a", "column 1", "column 2", ""])
ANY_OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "task": st.sampled_from(["classification", "regression", "ranking"]),
        "target": NAMES,
        "query": NAMES,
        "weight": NAMES,
        "drop": st.lists(NAMES, max_size=2),
        "header": st.none() | st.booleans(),
        "sep": st.sampled_from([",", ";", "tab", "whitespace"]),
        "decimal": st.sampled_from(".,"),
        "missing": st.sampled_from(["drop", "mean"]),
    },
)


@given(
    rows=st.integers(1, 4).flatmap(
        lambda d: st.lists(st.lists(WORDS, min_size=d, max_size=d), min_size=1, max_size=5)
    ),
    mark=st.sampled_from([",", ";", "\t", " "]),
    options=ANY_OPTIONS,
    again=st.booleans(),
)
def test_any_words_and_options_load_or_are_refused_in_a_line(
    tmp_path_factory: pytest.TempPathFactory, rows: Any, mark: str, options: Any, again: bool
) -> None:
    path = write(tmp_path_factory.getbasetemp(), "\n".join(map(mark.join, rows)) + "\n", "any.txt")
    refusal = None
    try:
        back = load(path, **options)
        if again:
            options.pop("task", None)
            back = load(path, like=back, **options)
    except DataError as error:
        refusal = str(error)
    if refusal is not None:
        assert refusal.startswith(str(path))
        assert "\n" not in refusal
        return
    m = len(back.y)
    assert back.X.shape[0] == m > 0
    assert all(
        np.isfinite(values).all()
        for values in (back.X, back.y, back.weight if back.weight is not None else back.y)
    )
    assert all(values is None or len(values) == m for values in (back.qid, back.weight))
    assert m + back.origin.left_out == len(rows) - bool(back.header) - sum(
        not any(row) and len(row) == 1 for row in rows
    )
    assert "\n" not in back.describe()
