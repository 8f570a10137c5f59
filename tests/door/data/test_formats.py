"""Formats written by other programs.

These are LIBSVM's kernels and indices, quotes, years and names that come twice.
"""

from __future__ import annotations

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


def write(folder: Path, content: str, name: str = "rows.csv") -> Path:
    path = folder / name
    path.write_text(content)
    return path


# LIBSVM


def gram_text(K: Any, y: Any) -> str:
    return "".join(
        f"{label} 0:{at} " + " ".join(f"{j}:{value!r}" for j, value in enumerate(row, 1)) + "\n"
        for at, (label, row) in enumerate(zip(y, K.tolist(), strict=True), 1)
    )


def test_load_a_precomputed_kernel_of_libsvm(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(6, 2))
    K, y = X @ X.T, [1, -1, 1, -1, 1, -1]
    path = write(tmp_path, gram_text(K, y), "rows.txt")
    back = load(path)
    assert np.array_equal(back.X, K)
    assert back.describe().endswith(
        "; 0: numbers the rows, as in LIBSVM's precomputed kernels (kernel='precomputed')"
    )
    arguments = ["--kernel", "precomputed", "--family", "svm.soft", "--solver", "CLARABEL"]
    result = CliRunner().invoke(app, ["compare", str(path), *arguments])
    assert result.exit_code == 0, result.output
    shuffled = gram_text(K, y).replace(" 0:1 ", " 0:9 ")
    assert load(write(tmp_path, shuffled, "other.txt")).X.shape == (6, 7)


def test_load_further_rows_of_a_precomputed_kernel_have_any_number(tmp_path: Path) -> None:
    K = np.array([[2.0, 1, 0], [1, 3, 0], [0, 0, 1]])
    first = load(write(tmp_path, gram_text(K, [1, -1, 1]), "rows.txt"))
    for text in ("1 0:7 1:4 2:5\n-1 0:0 1:6\n", "1 1:4 2:5\n-1 1:6\n"):
        assert load(write(tmp_path, text, "more.txt"), like=first).X.tolist() == [
            [4, 5, 0],
            [6, 0, 0],
        ]
    assert np.array_equal(load(tmp_path / "rows.txt", like=first).X, K)


def test_load_a_first_feature_that_counts_rows_is_one_without_a_kernel(tmp_path: Path) -> None:
    K, y = np.array([[2.0, 1], [1, 3]]), [1, 2]
    ranking = load(write(tmp_path, gram_text(K, y).replace(" 0:", " qid:1 0:"), "rows.txt"))
    assert (ranking.task, ranking.X.shape) == ("ranking", (2, 3))
    assert load(
        write(tmp_path, gram_text(np.array([[2.0, 1], [5, 3]]), y), "rows.txt")
    ).X.shape == (2, 3)


def test_load_says_which_line_counts_features_from_0(tmp_path: Path) -> None:
    rows = "1 1:2 2:3\n# a remark\n\n-1 1:5 2:1\n1 0:4 1:2\n-1 2:1\n"
    back = load(write(tmp_path, rows, "rows.svm"))
    assert back.X.shape == (4, 3)
    assert back.describe().endswith("; features are counted from 0, because line 5 has a feature 0")
    assert "counted" not in load(write(tmp_path, rows.replace("0:4 ", ""), "rows.svm")).describe()


# Names


def test_load_names_that_come_twice_are_said_by_place(tmp_path: Path) -> None:
    path = write(tmp_path, "label,label,a,a\n1,5,2,0.5\n2,6,3,1.5\n1,7,4,3.5\n")
    with pytest.raises(DataError, match=r"choose one with target \(target='column 1'\)"):
        load(path)
    with pytest.raises(
        DataError,
        match=r"2 columns are named 'label', the target; .* by position .* or target='column 2'",
    ):
        load(path, target="label")
    back = load(path, target="column 1", drop="column 3")
    assert (back.columns, back.y.tolist()) == (("label", "a"), [-1, 1, -1])
    assert "; 2 features are named `a`" in load(path, target="column 2").describe()
    with pytest.raises(DataError, match="there is no column 'column 5' to be the target"):
        load(path, target="column 5")


def test_load_frames_whose_names_come_twice() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame([[1.0, 2, 0], [3, 4, 1]], columns=["a", "a", "y"])
    assert load(frame).X.tolist() == [[1, 2], [3, 4]]
    assert load(frame, drop="column 2").X.tolist() == [[1], [3]]


def test_load_columns_without_names_are_refused_at_once(tmp_path: Path) -> None:
    path = write(tmp_path, ",a,,y\n1,2,3,1\n2,3,4,2\n")
    with pytest.raises(
        DataError,
        match=r"column 1, column 3 have no name; .* \(drop=\['column 1', 'column 3'\]",
    ):
        load(path)


NAMES = st.sampled_from(["a", "my name", "x,y", "it is", "a;b", "30-39"])


MARKS = st.sampled_from([",", ";", "\t", " "])


@given(
    names=st.lists(NAMES, min_size=2, max_size=4, unique=True),
    mark=MARKS,
    quote=st.sampled_from("'\""),
)
def test_load_quotes_of_both_kinds_enclose_fields(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], mark: str, quote: str
) -> None:
    rows = [[f"{quote}{name}{quote}" for name in [*names, "label"]]]
    rows += [
        [*map(str, range(at, at + len(names))), f"{quote}{['yes', 'no'][at % 2]}{quote}"]
        for at in range(3)
    ]
    path = write(tmp_path_factory.getbasetemp(), "\n".join(map(mark.join, rows)) + "\n")
    back = load(path, sep={"\t": "tab", " ": "whitespace"}.get(mark, mark), header=True)
    assert (back.columns, back.origin.target, back.classes) == (
        tuple(names),
        "label",
        ("no", "yes"),
    )
    if mark != " " and not any(sign in name for name in names for sign in ",;"):
        assert load(path, header=True).columns == tuple(names)


def test_load_the_quote_is_that_which_splits_all_rows_alike(tmp_path: Path) -> None:
    back = load(write(tmp_path, "a,w,y\n1,'x',0\n2,\"b, c\",1\n"), categorical="codes")
    assert back.X.shape == (2, 2)
    back = load(write(tmp_path, "a,w,y\n1,x,0\n2,z,1\n3,'b, c',1\n"), categorical="codes")
    assert back.origin.categories == {"w": ("b, c", "x", "z")}
    with pytest.raises(DataError, match="line 3: the row has 4 fields and the first row 3"):
        load(write(tmp_path, "a,w,y\n1,'x',0\n2,b, c,1\n"), categorical="codes")


def test_load_apostrophes_within_fields_are_no_quotes(tmp_path: Path) -> None:
    back = load(
        write(tmp_path, "name,a,y\nO'Brien's,1,it's\nD'Arcy's,2,isn't\nO'Neill's,3,it's\n"),
        drop="name",
    )
    assert back.classes == ("isn't", "it's")


@pytest.mark.parametrize("years", ["1990,1991,1992", "2020,2010,2000,1990", "1900,1925,1950"])
@pytest.mark.parametrize("below", [5, 1950, 4000])
def test_load_years_are_names(tmp_path: Path, years: str, below: int) -> None:
    count = years.count(",") + 1
    rows = "".join(
        ",".join(str(below * (at + 1) + 37 * j) for j in range(count)) + "\n" for at in range(4)
    )
    back = load(write(tmp_path, f"{years}\n{rows}"))
    assert back.columns == tuple(years.split(",")[:-1])
    assert "first row read as column names (header=False reads it as data)" in back.describe()
    countries = "".join(f"c{at},{row}\n" for at, row in enumerate(rows.splitlines()))
    assert (
        load(write(tmp_path, f"country,{years}\n{countries}"), drop="country").columns
        == back.columns
    )


def test_load_years_above_years_are_data(tmp_path: Path) -> None:
    back = load(write(tmp_path, "1990,1991,1992\n1985,1999,2004\n1992,1990,2000\n"))
    assert back.X.shape == (3, 2)


# Data given to compare

FEW: Any = {"formulations": "*.primal", "solvers": "CLARABEL"}


def test_compare_loaded_data_is_compare_of_their_arrays(tmp_path: Path) -> None:
    rows = "".join(f"{at % 3},{at * at % 7},{at % 2},{1 + at % 2}\n" for at in range(8))
    data = load(write(tmp_path, f"a,b,label,weight\n{rows}"))
    found = compare(data, C=2.0, **FEW)
    assert {family.id for family in found.families} >= {"svm.soft", "svm.l2"}
    unweighted = compare(data.X, data.y, C=2.0, **FEW)
    assert found.families[0].interval.lower > unweighted.families[0].interval.upper
    pairs = write(tmp_path, "preferred,other\n0,1\n2,3\n", "pairs.csv")
    ranked = compare(load(write(tmp_path, "a,b\n1,2\n2,1\n0,3\n4,4\n"), preferences=pairs), **FEW)
    assert {family.id for family in ranked.families} == {
        "rank.l1",
        "rank.l2",
        "rank.onenorm",
        "rvm",
    }


def test_compare_loaded_data_whose_task_is_in_doubt_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "a,y\n1,1\n2,2\n3,3\n4,1\n")
    with pytest.raises(
        ValueError,
        match=r"^the target of rows.csv has 3 distinct whole numbers: .* Name the task in load",
    ):
        compare(load(path))
    with pytest.raises(ValueError, match="task is fixed by the loaded data"):
        compare(load(path, task="regression"), task="ranking")
    with pytest.raises(ValueError, match="compare takes no ordinal regression in Python"):
        compare(load(path, task="ordinal"))
    with pytest.raises(ValueError, match="compare takes a problem, several problems, loaded data"):
        compare(3)


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_compare_a_data_frame_reads_it_as_load_does(package: str) -> None:
    frame = pytest.importorskip(package, reason=f"{package} is not installed").DataFrame
    columns = {"a": [1.0, 2, 3, 4], "b": [0.0, 3, 1, 2], "label": ["u", "v", "u", "v"]}
    found = compare(frame(columns), **FEW)
    assert {family.id for family in found.families} >= {"svm.soft", "svm.l2"}
    assert (
        compare(frame(columns)[["a", "b"]], columns["label"], **FEW).families[0].interval
        == found.families[0].interval
    )


@pytest.mark.parametrize("package", ["polars", "duckdb"])
def test_lazy_frames_and_relations_are_collected(package: str) -> None:
    module = pytest.importorskip(package, reason=f"{package} is not installed")
    columns: dict[str, list[float]] = {
        "a": [0.0, 1.0, 2.0, 5.0],
        "b": [1.0, 0.0, 2.0, 4.0],
        "y": [0, 1, 0, 1],
    }
    if package == "polars":
        lazy, wrong = module.LazyFrame(columns), module.LazyFrame(columns).select("zz")
    else:
        rows = " union all ".join(
            f"select {a} as a, {b} as b, {y} as y"
            for a, b, y in zip(*columns.values(), strict=True)
        )
        lazy, wrong = (
            module.sql(f"select * from ({rows}) order by a"),
            module.sql("select error('lost') as a"),
        )
    data = load(lazy)
    assert data.columns == ("a", "b")
    np.testing.assert_array_equal(data.X, np.column_stack([columns["a"], columns["b"]]))
    np.testing.assert_array_equal(data.y, [-1, 1, -1, 1])
    with pytest.raises(DataError, match=rf"^{package} .*: its rows cannot be collected \("):
        load(wrong)


def test_preferences_that_are_no_frame_are_refused() -> None:
    with pytest.raises(
        DataError, match=r"^list is no source of preferences; give a path or a data frame$"
    ):
        load("breast_cancer", preferences=[(0, 1)])
