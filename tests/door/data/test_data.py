"""Data files: each is loaded as declared or refused in one sentence with its place."""

import contextlib
import csv
import gzip
import io
import os
import pickle
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_array
from sklearn.svm import LinearSVC

from equimargin import data
from equimargin.data import BUNDLED, Data, DataError, load
from places import HANG
from public_data import SHARED, needs_data

FINITE = st.floats(allow_nan=False, allow_infinity=False)


def write(folder: Path, content: Any, name: str = "rows.txt") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def queries(data: Data) -> Any:
    """Return the query of every row."""
    assert data.qid is not None
    return data.qid


def pairs(y: Any) -> int:
    return int((y[:, None] > y).sum())


@st.composite
def tables(draw: st.DrawFn) -> tuple[Any, Any, Any]:
    m, d = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    X = draw(hnp.arrays(np.float64, (m, d), elements=FINITE))
    y = draw(hnp.arrays(np.float64, m, elements=FINITE))
    qid = draw(st.none() | hnp.arrays(np.int64, m))
    return X, y, qid


# Bundled sets


@pytest.mark.parametrize(
    ("name", "shape", "task", "checks"),
    [
        ("breast_cancer", (569, 30), "classification", {-1.0: 212, 1.0: 357}),
        ("digits_even_odd", (1797, 64), "classification", {-1.0: 906, 1.0: 891}),
        ("diabetes", (442, 10), "regression", None),
        ("diabetes_ranking", (60, 10), "ranking", 1767),
        ("diabetes_ranking_full", (442, 10), "ranking", 97090),
        ("wine_ranking", (178, 13), "ranking", 59 * 71 + 59 * 48 + 71 * 48),
        ("iris_ranking", (150, 4), "ranking", 3 * 50 * 50),
        ("xor", (4, 2), "classification", {-1.0: 2, 1.0: 2}),
    ],
)
def test_bundled(name: str, shape: tuple[int, int], task: Any, checks: Any) -> None:
    loaded = load(name)
    assert (loaded.name, loaded.X.shape, loaded.task, loaded.qid) == (name, shape, task, None)
    assert loaded.X.dtype == loaded.y.dtype == np.float64
    assert BUNDLED[name][1] == task
    if task == "classification":
        assert (
            dict(
                zip(
                    *(part.tolist() for part in np.unique(loaded.y, return_counts=True)),
                    strict=True,
                )
            )
            == checks
        )
    if task == "ranking":
        assert pairs(loaded.y) == checks
        assert f"{checks:,} pairs" in BUNDLED[name][0]


def test_every_bundled_name_loads_without_its_task_being_told() -> None:
    assert all(load(name).task == task for name, (_, task) in BUNDLED.items())


def test_xor_is_the_product_of_the_signs_negated() -> None:
    xor = load("xor")
    assert dict(zip(map(tuple, xor.X.tolist()), xor.y.tolist(), strict=True)) == {
        (-1, -1): -1,
        (-1, 1): 1,
        (1, -1): 1,
        (1, 1): -1,
    }


def test_diabetes_ranking_is_a_part_of_diabetes() -> None:
    part, whole = load("diabetes_ranking"), load("diabetes_ranking_full")
    rows = {(*x, y) for x, y in zip(whole.X.tolist(), whole.y.tolist(), strict=True)}
    assert {(*x, y) for x, y in zip(part.X.tolist(), part.y.tolist(), strict=True)} <= rows


def test_a_bundled_set_serves_another_task_where_that_makes_sense() -> None:
    cancer = load("breast_cancer", task="ranking")
    assert cancer.task == "ranking"
    assert pairs(cancer.y) == 75684
    assert np.array_equal(load("diabetes", task="ranking").y, load("diabetes").y)


@pytest.mark.parametrize(("name", "classes"), [("diabetes", 214), ("wine_ranking", 3)])
def test_many_levels_are_classes_if_the_task_says_so(name: str, classes: int) -> None:
    data = load(name, task="classification")
    assert data.has_many_classes
    assert data.classes is not None
    assert len(data.classes) == classes
    assert np.array_equal(np.array(data.classes)[data.y.astype(int)], load(name, task="ranking").y)


def test_a_name_means_the_bundled_set_and_a_path_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "a,y\n1,5\n2,6\n", "xor")
    assert load("xor").X.shape == (4, 2)
    assert load("./xor").X.shape == load(Path("xor")).X.shape == (2, 1)


OPTIONS = [
    ("target", "y"),
    ("query", "y"),
    ("weight", "y"),
    ("drop", ["y"]),
    ("header", True),
    ("sep", ";"),
    ("decimal", ","),
    ("missing", "drop"),
]


@pytest.mark.parametrize(("option", "value"), OPTIONS)
def test_columns_are_named_for_tables_only(option: str, value: Any, tmp_path: Path) -> None:
    for source, what in (
        ("xor", "this data set is bundled"),
        (write(tmp_path, "1 1:2\n"), "this is a file of svmlight"),
    ):
        # An explicit separator makes the file a table.
        if option == "sep" and source != "xor":
            continue
        with pytest.raises(
            DataError,
            match=f"{option} is an option about the columns of a table, and {what}; leave it out$",
        ):
            load(source, **{option: value})


def test_an_unknown_option_is_a_type_error() -> None:
    with pytest.raises(TypeError, match=r"load\(\) has no argument 'separator'"):
        load("xor", separator=";")  # type: ignore[call-arg]


def test_unknown_task() -> None:
    with pytest.raises(
        DataError,
        match="no task 'rank'; choose one of classification, regression, ranking, ordinal",
    ):
        load("xor", task="rank")


# Round trips


@given(tables())
def test_svmlight_round_trip(tmp_path_factory: pytest.TempPathFactory, table: Any) -> None:
    X, y, qid = table
    lines = []
    for i, (x, label) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
        query = "" if qid is None else f" qid:{qid[i]}"
        lines.append(
            f"{label!r}{query} {' '.join(f'{j}:{v!r}' for j, v in enumerate(x, start=1))} # "
            f"row_{i} qid:9"
        )
    back = load(write(tmp_path_factory.mktemp("svmlight"), "\n".join(lines)), task="regression")
    assert np.array_equal(back.X if isinstance(back.X, np.ndarray) else back.X.toarray(), X)
    assert np.array_equal(back.y, y)
    assert qid is None if back.qid is None else np.array_equal(queries(back), qid)


@given(tables(), st.sampled_from(",;\t"), st.permutations(range(5)))
def test_csv_round_trip(
    tmp_path_factory: pytest.TempPathFactory, table: Any, delimiter: str, order: Any
) -> None:
    X, y, qid = table
    columns = {f'x, "{j}";\t': X[:, j].tolist() for j in order if j < X.shape[1]} | {
        "y": y.tolist()
    }
    if qid is not None:
        columns = {"qid": qid.tolist()} | columns
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerows([columns.keys(), *zip(*columns.values(), strict=True)])
    back = load(
        write(tmp_path_factory.mktemp("csv"), text.getvalue()), task="regression", target="y"
    )
    assert np.array_equal(back.X, X[:, [j for j in order if j < X.shape[1]]])
    assert np.array_equal(back.y, y)
    assert qid is None if back.qid is None else np.array_equal(queries(back), qid)


@given(tables())
def test_npz_round_trip(tmp_path_factory: pytest.TempPathFactory, table: Any) -> None:
    X, y, qid = table
    path = tmp_path_factory.mktemp("npz") / "rows.npz"
    np.savez(path, X=X, y=y, **({} if qid is None else {"qid": qid}))
    back = load(path, task="regression")
    assert np.array_equal(back.X, X)
    assert np.array_equal(back.y, y)
    assert qid is None if back.qid is None else np.array_equal(queries(back), qid)


# svmlight


def test_svmlight_counts_from_0_only_if_an_index_0_is_there(tmp_path: Path) -> None:
    assert np.array_equal(
        load(write(tmp_path, "5 1:1 2:2\n6 2:4\n7 1:3\n")).X, [[1, 2], [0, 4], [3, 0]]
    )
    assert np.array_equal(
        load(write(tmp_path, "5 1:1 2:2\n6 0:4\n7 1:3\n")).X, [[0, 1, 2], [4, 0, 0], [0, 3, 0]]
    )


def test_rows_of_zeros_comments_blank_lines_and_a_byte_order_mark(tmp_path: Path) -> None:
    back = load(write(tmp_path, b"\xef\xbb\xbf# qid:1 \xff_\n\n0\n1 1:2\r\n0.5\t1:3 #x\n"))
    assert np.array_equal(back.X, [[0], [2], [3]])
    assert np.array_equal(back.y, [0, 1, 0.5])
    assert back.qid is None


def test_queries_need_not_be_contiguous_and_fill_64_bits(tmp_path: Path) -> None:
    back = load(
        write(tmp_path, f"1 qid:7 1:1\n2 qid:{2**63 - 1} 1:1\n3 qid:7 1:2\n4 qid:-{2**63} 1:1\n")
    )
    assert queries(back).tolist() == [7, 2**63 - 1, 7, -(2**63)]
    assert back.task == "ranking"


def test_a_sparse_file_stays_sparse_and_a_dense_one_does_not(tmp_path: Path) -> None:
    sparse = load(
        write(
            tmp_path,
            "".join(f"{i % 2} {20 * i + 1}:{i + 1} {20 * i + 2}:0 400:1\n" for i in range(20)),
        )
    )
    assert isinstance(sparse.X, csr_array)
    assert sparse.X.shape == (20, 400)
    assert sparse.X.nnz == 40
    assert sparse.X[[3], [60]] == 4
    # LinearSVC supports 32-bit indices only.
    assert LinearSVC().fit(sparse.X, sparse.y).coef_.shape == (
        1,
        400,
    )
    assert isinstance(load(write(tmp_path, "1 1:1\n2 10:1\n")).X, np.ndarray)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("1 qid:3 1:0.5 2:", "the value of feature 2 is ''"),
        ("1 qid:3 1:0.5 2", "the value of feature 2 is ''"),
        ("1 1:0.5", "this row has no qid and line 1 has one"),
        ("1 qid:3.0 1:1", "'qid:3.0' is not qid: and an integer"),
        ("1 qid: 1:1", "'qid:' is not qid: and an integer"),
        ("1 qid:3_0 1:1", "'qid:3_0' is not qid: and an integer"),
        ("1 qidx:3 1:1", "'qidx:3' is not qid: and an integer"),
        (f"1 qid:{2**63} 1:1", f"'qid:{2**63}' is not qid: and an integer"),
        ("1 qid:3 qid:4 1:1", "'qid:4' is not index:value"),
        ("1 qid:3 1:1 qid:3", "'qid:3' is not index:value"),
        ("1 qid:3 -1:1", "'-1:1' is not index:value"),
        ("1 qid:3 1_0:1", "'1_0:1' is not index:value"),
        (f"1 qid:3 {2**31}:1", f"'{2**31}:1' is not index:value with an index from 0"),
        ("1 qid:3 1.5:1", "'1.5:1' is not index:value"),
        ("1 qid:3 :1", "':1' is not index:value"),
        ("1 qid:3 2:1 1:1", "feature 1 comes after feature 2"),
        ("1 qid:3 2:1 2:1", "feature 2 comes after feature 2"),
        ("1 qid:3 1:nan", "the value of feature 1 is 'nan'"),
        ("1 qid:3 1:1e999", "the value of feature 1 is '1e999'"),
        ("1 qid:3 1:1_0", "the value of feature 1 is '1_0'"),
        ("1 qid:3 1:0x10", "the value of feature 1 is '0x10'"),
        ("1 qid:3 1:0,5", "the value of feature 1 is '0,5'"),
        ("1 qid:3 1:1:1", "the value of feature 1 is '1:1'"),
        ("-inf qid:3 1:1", "the label '-inf' is not a finite number"),
        ("qid:3 1:1", "the label 'qid:3' is not a finite number"),
        ("1_0 qid:3 1:1", "the label '1_0' is not a finite number"),
        ("1,2 qid:3 1:1", "the label '1,2' is not a finite number"),
        ("good qid:3 1:1", "the label 'good' is not a finite number"),
        ("1 qid:3 1:\N{ARABIC-INDIC DIGIT THREE}", r"the value of feature 1 is '\\xd9\\xa3'"),
    ],
)
def test_a_bad_svmlight_line_is_named(tmp_path: Path, line: str, reason: str) -> None:
    path = write(tmp_path, f"0 qid:3 1:1\n# comment\n{line}\n2 qid:3 1:1\n")
    with pytest.raises(DataError, match="^" + re.escape(f"{path}, line 3: {reason}")) as caught:
        load(path)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize(
    "line", ["1 qid:x 1:1", "1 1_0:2", "1 :1", "1:1 2:2", "bad 1:1", "1 1:0,5 2:0,5"]
)
def test_a_bad_first_line_is_still_taken_for_svmlight(tmp_path: Path, line: str) -> None:
    path = write(tmp_path, f"{line}\n1 1:1\n")
    with pytest.raises(DataError, match="^" + re.escape(f"{path}, line 1: ")):
        load(path)


def test_the_first_of_many_faults_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="line 2: the value of feature 1 is 'nan'"):
        load(write(tmp_path, "1 qid:1 1:1\n1 qid:1 1:nan\n1 1:1\n1 qid:1 2:1 1:1\n"))


def test_a_misspelt_query_in_every_row_is_not_dropped(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="line 1: 'qidx:1' is not qid: and an integer"):
        load(write(tmp_path, "1 qidx:1 1:1\n2 qidx:1 1:2\n"))


def test_a_query_among_rows_without_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        DataError,
        match=r"line 4: this row has a qid and line 2 has none; correct or remove the line \(it "
        r"is read as svmlight; sep='w",
    ):
        load(write(tmp_path, "\n1 1:1\n2 1:1\n3 qid:1 1:1\n"))


@pytest.mark.parametrize("content", ["1 qid:3\n2 qid:3\n", "1 qid:3 # 1:5\n"])
def test_svmlight_without_a_feature(tmp_path: Path, content: Any) -> None:
    with pytest.raises(DataError, match="no row holds an index:value"):
        load(write(tmp_path, content))


def test_a_large_svmlight_file_is_read_fast(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    blocks = [
        " ".join(f"{j}:{v:.6f}" for j, v in enumerate(row, start=1))
        for row in random.random((100, 46)).tolist()
    ]
    path = write(
        tmp_path,
        "".join(
            f"{i % 3} qid:{i // 100} {blocks[i % 100]} #docid = GX_{i}\n" for i in range(60_000)
        ),
    )
    start = time.process_time()
    back = load(path)
    elapsed = time.process_time() - start
    assert back.X.shape == (60_000, 46)
    assert len(np.unique(queries(back))) == 600
    assert (
        elapsed < 6
        # About 1 s, and far more with the diagnosing pass or with scikit-learn's parser
        # of queries.
    )


# CSV


def test_csv_target_is_the_last_column_that_is_no_query(tmp_path: Path) -> None:
    back = load(write(tmp_path, "Query,a,y\ngreen tea,1,3\nblack,2,5\ngreen tea,4,9\n"))
    assert back.task == "ranking"
    assert queries(back).tolist() == [0, 1, 0]
    assert back.y.tolist() == [3, 5, 9]
    back = load(write(tmp_path, "a,y,qid\n1,3,7\n2,5,-2\n"))
    assert np.array_equal(back.X, [[1], [2]])
    assert (back.y.tolist(), queries(back).tolist()) == ([3, 5], [7, -2])


def test_csv_columns_by_name(tmp_path: Path) -> None:
    path = write(tmp_path, 'y,"a, b", group\n1,2,5\n3,4,5\n5,6,1\n')
    back = load(path, target="y", query="group")
    assert np.array_equal(back.X, [[2], [4], [6]])
    assert (back.y.tolist(), queries(back).tolist(), back.task) == ([1, 3, 5], [5, 5, 1], "ranking")
    assert load(path, target="y", query="group", task="regression").task == "regression"
    assert load(path, target="y").X.shape == (3, 2)


def test_a_target_named_query_is_no_query(tmp_path: Path) -> None:
    back = load(write(tmp_path, "a,query\n1,2\n2,4\n3,9\n"), target="query")
    assert (back.y.tolist(), back.qid) == ([2, 4, 9], None)


@pytest.mark.parametrize("name", ["rows.csv", "rows.tsv", "rows.txt"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_delimiter_is_told_by_the_header(tmp_path: Path, name: str, delimiter: str) -> None:
    text = '\ufeff"a,;\t",b,y\r\n1,2,3\r\n\r\n"4", 5 ,6\r\n'.replace(",", delimiter).replace(
        f'"a{delimiter};\t"', '"a,;\t"'
    )
    assert np.array_equal(load(write(tmp_path, text, name)).X, [[1, 2], [4, 5]])


@pytest.mark.parametrize(
    ("labels", "signs"),
    [
        ("01", [-1, 1]),
        ("12", [-1, 1]),
        (["1", "-1"], [1, -1]),
        (["2", "1e1"], [-1, 1]),
        (["no", "yes"], [-1, 1]),
        (["spam", "ham "], [1, -1]),
    ],
)
def test_two_labels_become_signs(tmp_path: Path, labels: Any, signs: Any) -> None:
    back = load(write(tmp_path, f"a,y\n1,{labels[0]}\n2,{labels[1]}\n"))
    assert (back.task, back.y.tolist()) == ("classification", signs)


def test_labels_keep_their_values_for_other_tasks(tmp_path: Path) -> None:
    path = write(tmp_path, "a,y\n1,4\n2,7\n")
    assert (
        load(path, task="ranking").y.tolist() == load(path, task="regression").y.tolist() == [4, 7]
    )
    assert load(write(tmp_path, "a,y\n1,4\n2,7\n3,9")).task == "regression"


@pytest.mark.parametrize(
    ("content", "options", "reason"),
    [
        (
            "a,b,y\n1,2,3\n1,x,3\n",
            {},
            ", line 3, column 'b': 'x' is not a finite number; correct it or drop the column",
        ),
        ("a,y\n1,3\n\n,3\n", {}, ", line 4, column 'a': '' is not a finite number"),
        ('a,y\n"\n1",3\ninf,3\n', {}, ", line 4, column 'a': 'inf' is not a finite number"),
        ("a,y\n1,3\n1_0,3\n", {}, ", line 3, column 'a': '1_0'"),
        (
            "a,y\n1,3\n\N{ARABIC-INDIC DIGIT THREE},3\n",
            {},
            ", line 3, column 'a': '\N{ARABIC-INDIC DIGIT THREE}'",
        ),
        (
            "a,y\n1,3\n1,nan\n",
            {},
            ", line 3, column 'y': 'nan' is not a finite number; correct it or name another "
            "target column",
        ),
        ("a,y\n1,no\n1,nan\n", {}, ", line 3, column 'y': 'nan' stands for a missing entry"),
        (
            "a,y\n1,b\n1,c\n2,d\n",
            {},
            ", line 2, column 'y': 'b' is not a finite number; if the 3 words of 3 rows are "
            "classes, say so (task='classification'); else name another target column "
            "(target='COLUMN')",
        ),
        ("a,y\n1,b\n1,\n", {}, ", line 3, column 'y': '' stands for a missing entry"),
        ("a,y\n1,b\n1,c\n", {"task": "ranking"}, ", line 2, column 'y': 'b'"),
        ("qid,a,y\n3,1,b\n3,1,c\n", {}, ", line 2, column 'y': 'b'"),
        (
            "a,y\n1,2\n1,2\n",
            {"task": "classification"},
            ": the target has one class (2.0), and one class cannot be classified",
        ),
        ("a,y\n1,2,3\n", {}, ", line 2: the row has 3 fields and the first row 2"),
        ("a,b,y\n1,2,3\n1,2\n", {}, ", line 3: the row has 2 fields and the first row 3"),
        ('a,y\n1,2\n"1,2\n', {}, ", line 3: unexpected end of data"),
        ('a,y\n1,2\n"1"0,2\n', {}, ", line 3: ',' expected after '\"'"),
        (b"a,y\n1,2\n\xff,2\n", {}, ", line 3: the text is not UTF-8"),
        ("a,y\n", {}, ": there is no row below the header"),
        ("y,qid\n1,2\n", {}, ": there is no feature column in addition to 'y', 'qid'"),
        (
            "1,2\n3,4\n",
            {},
            ", line 1: the first row may be column names or data; add header=True or header=False",
        ),
        (",a,y\n1,2,3\n", {}, ", line 1: column 1 has no name"),
        (
            "a,y\n1,2\n",
            {"target": "z"},
            ": there is no column 'z' to be the target; the columns are 'a', 'y'",
        ),
        (
            "a,y\n1,2\n",
            {"query": "z"},
            ": there is no column 'z' to be the query; the columns are 'a', 'y'",
        ),
        ("a,a,y\n1,2,3\n", {"target": "a"}, ": 2 columns are named 'a', the target"),
        (
            "a,y\n1,2\n",
            {"target": "a", "query": "a"},
            ": column 'a' is named as target and as query",
        ),
        (
            "qid,query,a,y\n1,2,3,4\n",
            {},
            ": columns 'qid', 'query' could each be the query; choose one with query",
        ),
        ("qid,a,y\n1,2,3\n,2,3\n", {}, ", line 3: this row has no query"),
    ],
)
def test_a_bad_csv_file_is_refused_with_its_place(
    tmp_path: Path, content: Any, options: Any, reason: str
) -> None:
    path = write(tmp_path, content, "rows{}.csv")  # braces: a message is never a template
    with pytest.raises(DataError, match="^" + re.escape(f"{path}{reason}")):
        load(path, **options)


@given(
    tables(),
    st.lists(st.sampled_from(["g", "b"]), min_size=6, max_size=6),
    st.sampled_from([",", '","', ";", "\t"]),
    st.integers(0, 5),
)
@example((np.array([[0.0, 1.0]]), None, None), ["g"] * 6, ",", 2)
def test_a_table_without_a_header_never_loses_a_row(
    tmp_path_factory: pytest.TempPathFactory, table: Any, labels: Any, delimiter: str, at: Any
) -> None:
    X = table[0]
    rows = [[repr(v) for v in x] for x in X.tolist()]
    for row, label in zip(rows, labels, strict=False):
        row.insert(at, label)
    quote = '"' * (delimiter == '","')
    path = write(
        tmp_path_factory.getbasetemp(),
        "".join(f"{quote}{delimiter.join(row)}{quote}\n" for row in rows),
        "headerless.csv",
    )
    assert_no_row_is_lost(path, len(rows))
    if at >= X.shape[1] and len({row[-1] for row in rows}) == 2:
        back = load(path)
        assert np.array_equal(back.X, X)
        assert (back.header, back.columns) == (
            False,
            tuple(f"column {j + 1}" for j in range(X.shape[1])),
        )
        assert back.header_note


def assert_no_row_is_lost(path: Path, m: int) -> None:
    """Check that a file without a header is read completely or refused."""
    try:
        back = load(path)
    except DataError:
        return
    assert back.header is False
    assert len(back.y) == m


@pytest.mark.parametrize(
    "rows",
    [
        "x,x,o,b,positive\no,x,o,b,negative\n",  # text alone, as of tic-tac-toe
        "p,x,s,n\ne,x,s,y\n",
        "0.23,5.07,-0.27,'-1'\n0.15,-0.16,0.67,'-1'\n",  # mammography's quotes
        "?,1.5,2.5,g\n3,?,4.5,g\n",
        "NA,NA,1.5,g\n2,3,4,b\n",
        ",1.5,2.5,g\n3,,4.5,b\n",
        "1.5,2,3,good\n",
        "5.1,setosa\n4.9,virginica\n",
        "5.1,3.5,1.4,setosa\n4.9,virginica,2,setosa\n",
        "1.1,abc,0.3,g\n1.2,2.5,0.1,g\n1.3,2.2,0.2,b\n",  # a slip in the first row
        "2,5,1\n3,1,7\n1,6,4\n",
        "1,2\n3,4\n",
        "0,1\n3,4\n-1,0\n",
    ],
)
def test_a_first_row_of_data_is_no_header(tmp_path: Path, rows: Any) -> None:
    path = write(tmp_path, rows, "rows.csv")
    assert_no_row_is_lost(path, rows.count("\n"))
    with contextlib.suppress(DataError):
        assert len(load(path, header=False).y) == rows.count("\n")


NUMBERS_BELOW = [f"{i + 0.5},{7 - i},{i * i % 5},{i % 3}," for i in range(6)]


@pytest.mark.parametrize(
    "labels",
    [("0.5", "2.5", "1", "7", "4", "3"), ("1", "-1") * 3, ("spam", "ham") * 3, ("y", "n") * 3],
)
@pytest.mark.parametrize(
    "header",
    [
        "country,2000,2001,2002,target",
        'country,"2000","2001","2002","target"',
        "octane,900,902,904,906",
        "dose,0.5,1,2,4",
        "3,2,1,0,target",
        "2017,2018,2019,2020,target",
        "inf,a,b,c,target",
        "f1,f2,f3,f4,spam",
        "f1,f2,f3,f4,y",
        "f1,f2,f3,f4,2020",
    ],
)
def test_a_header_may_hold_years_wavelengths_doses_and_the_name_of_a_class(
    tmp_path: Path, header: Any, labels: Any
) -> None:
    path = write(
        tmp_path,
        "\n".join(
            [header, *(row + label for row, label in zip(NUMBERS_BELOW, labels, strict=True))]
        )
        + "\n",
    )
    back = load(path)
    assert back.columns == tuple(header.replace('"', "").split(","))[:4]
    assert (back.header, back.X.shape) == (True, (6, 4))
    assert bool(back.header_note) == any(name.replace(".", "").isdigit() for name in back.columns)


@pytest.mark.parametrize("header", ["f1,spam", "x,g", "inf,y", "2019,y"])
@pytest.mark.parametrize("labels", [("spam", "ham"), ("g", "b"), ("0.5", "2.5")])
def test_a_header_above_one_feature(tmp_path: Path, header: Any, labels: Any) -> None:
    back = load(
        write(tmp_path, f"{header}\n" + "".join(f"{i},{labels[i % 2]}\n" for i in range(6)))
    )
    assert (back.header, back.columns) == (True, (header.partition(",")[0],))


def test_what_the_first_row_is_can_be_said(tmp_path: Path) -> None:
    doubtful = write(tmp_path, "0,1,2\n1.5,0.5,3\n-1,2.5,1\n2,2,2\n", "doubtful.csv")
    with pytest.raises(
        DataError,
        match="line 1: the first row may be column names or data; add header=True or header=False",
    ):
        load(doubtful)
    named, whole = load(doubtful, header=True), load(doubtful, header=False)
    assert (named.columns, named.y.tolist()) == (("0", "1"), [3, 1, 2])
    assert (whole.columns, whole.y.tolist()) == (("column 1", "column 2"), [2, 3, 1, 2])
    # A named column implies a header.
    assert load(doubtful, target="1").columns == (
        "0",
        "2",
    )
    assert load(doubtful, target="column 1", header=False).y.tolist() == [0, 1.5, -1, 2]
    assert load(doubtful, header=False, like=whole).columns == whole.columns


@pytest.mark.parametrize(
    ("header", "columns"),
    [
        ("0,1,2,y", ("0", "1", "2")),  # as pandas writes columns that were given no names
        ("1,2,3,species", ("1", "2", "3")),
        ("a,b,2010,y", ("a", "b", "2010")),
        ("a,a,b,y", ("a", "a", "b")),
        ("g,b,yes,y", ("g", "b", "yes")),
        ("inf,a,b,y", ("inf", "a", "b")),
    ],
)
def test_a_header_may_hold_a_number_or_a_name_that_comes_again(
    tmp_path: Path, header: Any, columns: Any
) -> None:
    back = load(write(tmp_path, f"{header}\n1,2,3,yes\n4,5,6,no\n7,8,9,yes\n"))
    assert back.columns == columns
    assert back.X.shape == (3, 3)


WORDS = st.sampled_from(["qid", "y", "a", "g", "1", "2.5", "-3", "nan", "?", ""])


@given(
    st.integers(1, 4).flatmap(
        lambda d: st.lists(st.lists(WORDS, min_size=d, max_size=d), min_size=1, max_size=4)
    )
)
@example([["qid"], ["1"]])
def test_any_table_of_words_loads_below_its_header_or_is_refused(
    tmp_path_factory: pytest.TempPathFactory, rows: Any
) -> None:
    path = write(tmp_path_factory.getbasetemp(), "\n".join(map(",".join, rows)), "words.csv")
    check_outcome(path)


def test_a_long_header_is_shortened(tmp_path: Path) -> None:
    header = ",".join(f"column{j}" for j in range(500))
    with pytest.raises(DataError, match=r"'column11' and 488 more$"):
        load(write(tmp_path, f"{header}\n{'1,' * 499}1\n"), target="y")


# NPZ


def savez(folder: Path, **arrays: Any) -> Path:
    path = folder / "rows.npz"
    np.savez(path, **arrays)
    return path


ONES = np.ones((3, 2))


@pytest.mark.parametrize(
    ("arrays", "reason"),
    [
        ({"X": ONES}, "needs the arrays X and y and has 'X'"),
        ({}, "needs the arrays X and y and has none"),
        (
            {"X": ONES[0], "y": ONES[:, 0]},
            "the array X has 1 dimension and type float64; save numbers in 2 dimensions",
        ),
        ({"X": ONES, "y": ONES}, "the array y has 2 dimensions"),
        ({"X": ONES, "y": np.float64(3)}, "the array y has 0 dimensions"),
        ({"X": ONES, "y": np.ones(4)}, "the array y has 4 rows and X has 3"),
        (
            {"X": ONES, "y": np.ones(3), "qid": np.ones(2, int)},
            "the array qid has 2 rows and X has 3",
        ),
        (
            {"X": ONES, "y": np.ones(3), "qid": np.ones(3) * 1j},
            "the array qid has 1 dimension and type complex128; save numbers or text",
        ),
        (
            {"X": ONES, "y": np.ones(3), "qid": np.full(3, 2.0**60)},
            "float64 does not distinguish queries from 2**53 on; renumber them",
        ),
        ({"X": ONES * 1j, "y": np.ones(3)}, "type complex128; save numbers"),
        (
            {"X": ONES, "y": np.array(["a", "b", "c"])},
            "row 0, column 'y': 'a' is not a finite number; if the 3 words",
        ),
        (
            {"X": ONES.astype(object), "y": np.ones(3)},
            "'X' is pickled, and a pickle could run code",
        ),
        (
            {"X": np.where([[0, 0], [0, 1], [0, 0]], np.nan, 1.0), "y": np.ones(3)},
            "row 1, column 'X[:, 1]': 'nan' is not a finite number",
        ),
        (
            {"X": ONES, "y": np.array([1, 1, -np.inf])},
            "row 2, column 'y': '-inf' is not a finite number",
        ),
        ({"X": ONES[:0], "y": np.ones(0)}, "there are 0 rows and 2 features"),
        ({"X": ONES[:, :0], "y": np.ones(3)}, "there is no feature column in addition to 'y'"),
    ],
)
def test_a_bad_npz_file_is_refused(tmp_path: Path, arrays: Any, reason: str) -> None:
    with pytest.raises(DataError, match=re.escape(reason)):
        load(savez(tmp_path, **arrays))


def test_npz_takes_every_real_type(tmp_path: Path) -> None:
    X, y, qid = (
        np.asfortranarray(ONES, dtype=np.float32),
        np.array([True, False, True]),
        np.arange(3, dtype=np.uint8),
    )
    back = load(savez(tmp_path, X=X, y=y, qid=qid))
    assert back.X.dtype == back.y.dtype == np.float64
    assert queries(back).dtype == np.int64
    assert back.X.flags.c_contiguous
    assert back.task == "ranking"


@pytest.mark.skipif(
    np.finfo(np.longdouble).max == np.finfo(np.float64).max,
    reason="a long double is a float64 here",
)
def test_a_long_double_beyond_float64_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=re.escape("row 0, column 'X[:, 0]': 'inf' is not a finite number")
    ):
        load(savez(tmp_path, X=np.full((1, 1), np.finfo(np.longdouble).max), y=np.ones(1)))


# Files that are no data files


class Trap:
    """Pickle that aborts the process when it is read."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (os.abort, ())


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_is_refused_unread(tmp_path: Path, protocol: int) -> None:
    with pytest.raises(DataError, match="is a pickle, which could run code"):
        load(write(tmp_path, pickle.dumps(Trap(), protocol), "rows.pkl"))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the file is empty"),
        (b" \n\n\t", "the file is empty"),
        (b"\xef\xbb\xbf\n", "the file is empty"),
        (b"\x80\x04K\x01.", "is a pickle"),
        (
            b"\x1f\x8b\x08\x00rest",
            "cannot be decompressed by gzip .*the file is damaged or cut short",
        ),
        (b"BZh9torn", "cannot be decompressed by bz2"),
        (b"\xfd7zXZ\x00torn", "cannot be decompressed by lzma"),
        (b"\x93NUMPY\x01\x00", "holds one NumPy array; save X and y together"),
        ("a,y\n1,2\n".encode("utf-16"), "is UTF-16 text"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "the file is binary"),
        (b"PK\x03\x04 torn", "cannot be read as an NPZ archive"),
        (b"PK\x05\x06" + b"\0" * 18, "needs the arrays X and y and has none"),
        (b"once upon a time\n", "is neither svmlight"),
        (b"# only a comment\n", "is neither svmlight"),
        (b"1\n2\n3\n", "is neither svmlight"),
    ],
)
def test_no_data_file(tmp_path: Path, content: Any, reason: str) -> None:
    path = write(tmp_path, content)
    with pytest.raises(DataError, match="^" + re.escape(str(path)) + ": .*" + reason):
        load(path)


def test_the_extension_decides_where_the_content_does_not(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no row holds an index:value"):
        load(write(tmp_path, "1\n2\n", "rows.svm"))
    with pytest.raises(DataError, match="there is no feature column in addition to 'y'"):
        load(write(tmp_path, "y\n2\n", "rows.csv"))


def test_the_content_decides_before_the_extension(tmp_path: Path) -> None:
    assert load(write(tmp_path, "1 1:2\n", "rows.csv"), task="regression").X.tolist() == [[2]]
    assert load(write(tmp_path, "a,y\n2,3\n", "rows.svm"), task="regression").X.tolist() == [[2]]
    assert load(savez(tmp_path, X=ONES, y=np.arange(3)).rename(tmp_path / "rows.txt")).X.shape == (
        3,
        2,
    )
    assert load(write(tmp_path, "PK,y\n2,3\n"), task="regression").X.tolist() == [[2]]


def test_places_without_a_file(tmp_path: Path) -> None:
    with pytest.raises(
        DataError,
        match=r"none\.csv: there is no such file and no such data set; there are "
        r"breast_cancer, ",
    ):
        load(tmp_path / "none.csv")
    with pytest.raises(DataError, match="is a directory"):
        load(tmp_path)
    with pytest.raises(DataError, match="cannot be read"):
        load("a\0b")


def test_an_unreadable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(_: object) -> NoReturn:
        raise PermissionError(13, "Permission denied")

    path = write(tmp_path, "a,y\n1,2\n")
    # File permissions do not restrict a superuser.
    monkeypatch.setattr(Path, "read_bytes", denied)
    with pytest.raises(
        DataError,
        match=r"cannot be read \(.*Permission denied\); check the path and its permissions",
    ):
        load(path)


GOOD = [
    b"1 qid:3 1:0.5 2:7 # x\n2 qid:3 2:1\n0 qid:4 1:2\n",
    b'"a",b,y\n1,2,0\n"3",4,1\n5,6,0\n',
    b"# a remark\na  b  label\n 1.5 2 no\n 3 4 yes\n 5 6 no\n",
    b"qid;weight;a;relevance\n1;2;1,5;0\n1;2;0,5;1\n",
    gzip.compress(b"a,y\n1,2\n3,4\n", mtime=0),
]


def check_outcome(path: Path) -> None:
    try:
        back = load(path)
    except DataError as error:
        refusal = str(error)
    else:
        assert back.X.shape[0] == len(back.y) > 0
        assert np.isfinite(back.X if isinstance(back.X, np.ndarray) else back.X.data).all()
        assert np.isfinite(back.y).all()
        return
    assert refusal.startswith(str(path))
    assert "\n" not in refusal


PATCH = st.binary(max_size=3) | st.sampled_from(
    [b",", b"\n", b":", b"qid:", b"nan", b"_", b'"', b"#", b"-", b" ", b"\t", b";", b"PK\x03\x04"]
)
DAMAGES = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 3), PATCH), max_size=4)


@given(st.sampled_from(GOOD), DAMAGES)
@example(b"\x1c", [])
@example(b"a,\x85\x1c,y\n1,2,3", [])
def test_a_damaged_file_loads_finite_or_is_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, content: Any, damages: Any
) -> None:
    for at, length, patch in damages:
        content = content[:at] + patch + content[at + length :]
    path = write(tmp_path_factory.getbasetemp(), content, "damaged")
    check_outcome(path)


@given(st.integers(0, 2000), st.binary(min_size=1, max_size=4))
def test_a_damaged_archive_loads_finite_or_is_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, at: Any, patch: Any
) -> None:
    path = savez(tmp_path_factory.getbasetemp(), X=ONES, y=np.arange(3.0))
    content = path.read_bytes()
    at %= len(content)
    path.write_bytes(content[:at] + patch + content[at + len(patch) :])
    check_outcome(path)


# Scaling and sampling


@given(hnp.arrays(np.float64, st.tuples(st.integers(1, 8), st.integers(1, 4)), elements=FINITE))
@example(np.array([[1e308], [-1e308], [1e308]]))
@example(np.array([[5e-324], [0.0]]))
@example(np.full((7, 1), 0.1))
@example(np.array([[1e16, 0.0], [1e16 + 2, 0.0], [1e16 + 4, 1e-300]]))
def test_scaled_columns_have_mean_0_and_deviation_1(X: Any) -> None:
    Z = Data("rows", X, np.zeros(len(X)), None, "regression").scaled().X
    assert np.abs(Z.mean(axis=0)).max() < 1e-12
    for before, after in zip(X.T, Z.T, strict=True):
        # The order is kept, and a column is constant only if it was up to rounding.
        order = np.argsort(before)
        assert (np.diff(after[order]) >= 0).all()
        assert (
            np.ptp(before / max(np.abs(before).max(), 5e-324)) == 0
            if not after.any()
            else abs(after.std() - 1) < 1e-12
        )


def test_scaling_leaves_the_original_and_the_rest_alone() -> None:
    raw = load("breast_cancer")
    kept = raw.X.copy()
    scaled = raw.scaled()
    assert np.array_equal(raw.X, kept)
    assert (scaled.name, scaled.task, scaled.y is raw.y) == (raw.name, raw.task, True)
    assert np.allclose(scaled.X, (kept - kept.mean(axis=0)) / kept.std(axis=0), rtol=0, atol=1e-10)


def test_a_sparse_matrix_is_divided_and_not_centred() -> None:
    stored_zero = 0.0  # the only entry of the last column
    X = csr_array(
        (
            np.array([-4.0, stored_zero, 2.0, 1.0, 2.0]),
            np.array([1, 2, 0, 0, 1]),
            np.array([0, 2, 3, 5]),
        ),
        shape=(3, 3),
    )
    scaled = Data("rows", X, np.zeros(3), None, "regression").scaled()
    assert isinstance(scaled.X, csr_array)
    assert np.array_equal(scaled.X.toarray(), [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.5, 0.0]])
    assert X[0, 1] == -4


def test_sampling_regression_keeps_file_order_and_nests() -> None:
    whole = load("diabetes")
    rows = Data("rows", np.arange(442.0)[:, None], whole.y, None, "regression")
    small, large = rows.sampled(20, seed=3), rows.sampled(200, seed=3)
    assert small.X.shape == (20, 1)
    assert (np.diff(small.X[:, 0]) > 0).all()
    assert set(small.X[:, 0]) < set(large.X[:, 0])
    assert np.array_equal(small.y, whole.y[small.X[:, 0].astype(int)])
    assert np.array_equal(small.X, rows.sampled(20, seed=3).X)
    assert not np.array_equal(small.X, rows.sampled(20, seed=4).X)
    assert rows.sampled(442, seed=3) is rows.sampled(10**9, seed=3) is rows


@pytest.mark.parametrize("seed", range(20))
def test_sampling_classification_keeps_both_classes(seed: int) -> None:
    y = np.full(50, -1.0)
    y[17] = 1.0
    rows = Data("rows", np.arange(50.0)[:, None], y, None, "classification")
    for n in (2, 3, 49):
        part = rows.sampled(n, seed)
        assert len(np.unique(part.X)) == n
        assert (np.diff(part.X[:, 0]) > 0).all()
        assert part.y.sum() == 2 - n
        assert np.array_equal(part.y, y[part.X[:, 0].astype(int)])
    assert rows.sampled(1, seed).X.shape == (1, 1)


def test_sampling_classification_of_one_class_takes_what_there_is() -> None:
    assert Data("rows", ONES, np.ones(3), None, "classification").sampled(2, 0).y.tolist() == [1, 1]


@pytest.mark.parametrize("n", [1, 6, 7, 25, 59])
def test_sampling_ranking_takes_whole_queries_and_cuts_one(n: int) -> None:
    qid = np.tile(np.array([7, -3, 7, 100, 5]), 12)
    rows = Data("rows", np.arange(60.0)[:, None], np.arange(60.0), qid, "ranking")
    part = rows.sampled(n, seed=1)
    sizes = {
        query: int((queries(part) == query).sum()) for query in np.unique(queries(part)).tolist()
    }
    cut = [query for query, size in sizes.items() if size < (qid == query).sum()]
    assert len(part.y) == n
    assert len(cut) <= 1
    assert np.array_equal(queries(part), qid[part.X[:, 0].astype(int)])
    assert (np.diff(part.X[:, 0]) > 0).all()
    assert set(part.X[:, 0]) < set(rows.sampled(n + 1, seed=1).X[:, 0])
    # The sampled row is not always the first one of its query; there are four queries.
    assert len({rows.sampled(1, seed).X[0, 0] for seed in range(20)}) > 4
    assert {tuple(np.unique(queries(rows.sampled(12, seed)))) for seed in range(20)} >= {
        (-3,),
        (5,),
        (100,),
    }


def test_sampling_one_query_cuts_at_random_rows() -> None:
    # The rows are sorted by class: the first 30 would have no pair.
    part = load("wine_ranking").sampled(30, seed=0)
    assert pairs(part.y) > 100
    assert part.qid is None


def test_sampling_a_sparse_matrix() -> None:
    X = csr_array(np.eye(9))
    part = Data("rows", X, np.arange(9.0), None, "regression").sampled(4, 0)
    assert isinstance(part.X, csr_array)
    assert np.array_equal(part.X.toarray().argmax(axis=1), part.y)


@pytest.mark.parametrize("n", [0, -3])
def test_sampling_nothing_is_refused(n: int) -> None:
    with pytest.raises(DataError, match=f"xor: cannot sample {n} rows"):
        load("xor").sampled(n, 0)


# The module and the public files


def test_the_import_is_light() -> None:
    code = (
        "import sys, equimargin.data; print(*{'sklearn', 'scipy', 'numba', 'cvxpy', 'pandas', "
        "'pooch', 'requests'} & set(sys.modules))"
    )
    env = os.environ | {"PYTHONPATH": str(Path(data.__file__).parents[2])}
    found = subprocess.run(
        [sys.executable, "-c", code],
        env=env,
        capture_output=True,
        text=True,
        check=True,
        timeout=HANG,
    )
    assert found.stdout.split() == []


@needs_data("mq2008/S1.txt", "mq2008/S2.txt", "mq2008/S3.txt")
def test_letor_fold() -> None:
    folds = [load(SHARED / "mq2008" / f"S{k}.txt") for k in (1, 2, 3)]
    assert all(
        fold.task == "ranking" and fold.X.shape[1] == 46 and set(fold.y) == {0, 1, 2}
        for fold in folds
    )
    assert sum(len(fold.y) for fold in folds) == 9630
    assert sum(len(np.unique(queries(fold))) for fold in folds) == 471
    assert (
        sum(
            pairs(fold.y[queries(fold) == query])
            for fold in folds
            for query in np.unique(queries(fold))
        )
        == 52325
    )


@needs_data("ohsumed-queries-1-6.txt")
def test_ohsumed() -> None:
    back = load(SHARED / "ohsumed-queries-1-6.txt")
    assert (back.X.shape[1], len(np.unique(queries(back))), set(back.y)) == (45, 6, {0, 1, 2})


@needs_data("esl-mixture.csv", "pima.csv")
@pytest.mark.parametrize(
    ("name", "shape", "positive"), [("esl-mixture.csv", (200, 2), 100), ("pima.csv", (768, 8), 268)]
)
def test_two_class_tables(name: str, shape: tuple[int, int], positive: Any) -> None:
    back = load(SHARED / name)
    assert (back.name, back.X.shape, back.task, int((back.y == 1).sum())) == (
        name,
        shape,
        "classification",
        positive,
    )


@needs_data("auto-mpg.csv")
def test_a_table_with_row_numbers_and_names(tmp_path: Path) -> None:
    path = SHARED / "auto-mpg.csv"
    with pytest.raises(
        DataError, match="column 1 has no name; name it, or drop it if it only counts the rows"
    ):
        load(path, target="mpg")
    header, *rows = path.read_text(encoding="utf-8").replace('""', '"row"', 1).splitlines()
    with pytest.raises(DataError, match=r"words in 'carname' .*; missing entries in 'horsepower'"):
        load(write(tmp_path, "\n".join([header, *rows])), target="mpg")
    complete = [row for row in rows if ",," not in row]
    with pytest.raises(
        DataError,
        match="line 2, column 'carname': 'chevrolet chevelle malibu' is not a finite number; "
        "correct it or drop",
    ):
        load(write(tmp_path, "\n".join([header, *complete])), target="mpg")
    back = load(
        write(tmp_path, "\n".join(row.rpartition(",")[0] for row in [header, *complete])),
        target="mpg",
    )
    assert (back.X.shape, back.task, len(np.unique(back.y)), pairs(back.y)) == (
        (392, 8),
        "regression",
        127,
        75245,
    )
