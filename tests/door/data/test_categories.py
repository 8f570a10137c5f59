"""Columns of words, in the formats of well-known files.

They are encoded, or refused all at once with the option to type.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from typer.testing import CliRunner

from equimargin.cli.app import app
from equimargin.data import DataError, load

ADULT = """\
39, State-gov, 77516, Bachelors, 13, Male, 2174, <=50K
50, Self-emp-not-inc, 83311, HS-grad, 13, Male, 0, >50K
38, Private, 215646, HS-grad, 9, Male, 0, <=50K
53, ?, 234721, 11th, 7, Male, 0, <=50K
28, Private, 338409, Bachelors, 13, Female, 0, >50K
37, Private, 284582, Masters, 14, Female, 0, <=50K
49, Private, 160187, 9th, 5, ?, 0, <=50K
52, Self-emp-not-inc, 209642, HS-grad, 9, Male, 0, >50K

"""
GERMAN = """\
A11 6 A34 A43 1169 A65 4 A201 1
A12 48 A32 A43 5951 A61 2 A201 2
A14 12 A34 A46 2096 A61 2 A202 1
A11 42 A32 A42 7882 A61 2 A201 1
A11 24 A33 A40 4870 A61 3 A201 2
"""
CANCER = """\
no-recurrence-events,30-39,premeno,30-34,0-2,no,3,left,left_low,no
no-recurrence-events,40-49,premeno,20-24,0-2,no,2,right,right_up,no
recurrence-events,40-49,premeno,20-24,0-2,?,2,left,left_low,no
no-recurrence-events,60-69,ge40,15-19,0-2,no,2,right,left_up,yes
recurrence-events,40-49,premeno,0-4,3-5,yes,2,right,?,no
recurrence-events,60-69,ge40,15-19,0-2,no,2,left,left_low,yes
"""
FILES = {"adult.data": ADULT, "german.data": GERMAN, "breast-cancer.data": CANCER}


def write(folder: Path, content: str, name: str = "rows.csv") -> Path:
    path = folder / name
    path.write_text(content)
    return path


@pytest.mark.parametrize("how", ["one-hot", "codes", "drop"])
@pytest.mark.parametrize("name", FILES)
def test_compare_reads_files_of_words_by_one_command(tmp_path: Path, name: str, how: str) -> None:
    path = write(tmp_path, FILES[name], name)
    arguments = ["--target", "column 1"] if name.startswith("breast") else []
    arguments += [
        "--categorical",
        how,
        "--missing",
        "drop",
        "--scale",
        "--family",
        "svm.soft",
        "--solver",
        "CLARABEL",
    ]
    result = CliRunner().invoke(app, ["compare", str(path), *arguments])
    assert result.exit_code == 0, result.output
    words = {
        "adult.data": (2, 4, 6),
        "german.data": (1, 3, 4, 6, 8),
        "breast-cancer.data": (2, 3, 4, 5, 6, 8, 9, 10),
    }[name]
    line = " ".join(result.output.split())
    if how == "drop":
        assert f"; dropped: {', '.join(f'column {at}' for at in words)};" in line
    else:
        assert re.search(
            f"; {how}: {', '.join(rf'`column {at}` [(][0-9]+ words?[)]' for at in words)};", line
        )


def test_load_names_all_columns_that_need_a_decision(tmp_path: Path) -> None:
    path = write(tmp_path, ADULT, "adult.data")
    words = "words in 'column 2', 'column 4', 'column 6' (categorical='one-hot', codes or drop)"
    missing = "missing entries in 'column 2', 'column 6' (missing='drop', or mean for features)"
    with pytest.raises(DataError) as refusal:
        load(path)
    assert str(refusal.value) == f"{path}: 3 columns need a decision: {words}; {missing}"
    with pytest.raises(DataError) as refusal:
        load(path, categorical="one-hot")
    assert str(refusal.value) == f"{path}: 2 columns need a decision: {missing}"
    with pytest.raises(DataError) as refusal:
        load(write(tmp_path, "a,b,c,d,y\n1,x,,7,u\n2,z,3,oops,v\n3,x,4,8,w\n"))
    bad = (
        "line 3, column 'd': 'oops' is not a finite number; correct it or drop the column "
        "(drop='d')"
    )
    target = (
        "line 2, column 'y': 'u' is not a finite number; if the 3 words of 3 rows are classes, "
        "say so (task='classification')"
    )
    for part in ("4 columns need", "words in 'b' (", "missing entries in 'c' (", bad, target):
        assert part in str(refusal.value)
    with pytest.raises(
        DataError, match=r": 2 columns need a decision: decimal commas in 'a', 'b' \(decimal=','\)$"
    ):
        load(write(tmp_path, "a;b;y\n1,5;2,5;1\n3,5;1,5;2\n"))


def test_load_one_column_names_all_its_decisions(tmp_path: Path) -> None:
    with pytest.raises(DataError) as refusal:
        load(write(tmp_path, "w,a,y\nx,1,1\n,2,2\nz,3,1\n"))
    decisions = (
        "words in 'w' (categorical='one-hot', codes or drop); missing entries in 'w' (missing="
        "'drop', or mean for features)"
    )
    assert str(refusal.value).endswith(f": 1 column needs 2 decisions: {decisions}")
    with pytest.raises(
        DataError, match=r"line 2, column 'w': 'x' is .* \(categorical='one-hot', codes or drop\)$"
    ):
        load(write(tmp_path, "w,a,y\nx,1,1\nz,3,2\n"))
    with pytest.raises(
        DataError,
        match=r"1 column needs 2 decisions: missing entries in 'a' .*; decimal commas in 'a' "
        r"\(decimal=','\)$",
    ):
        load(write(tmp_path, "a;y\n1,5;1\n;3\n2,5;2\n"))


def test_load_a_bad_entry_is_named_before_a_missing_one(tmp_path: Path) -> None:
    for missing in (None, "drop", "mean"):
        with pytest.raises(
            DataError, match="line 3, column 'a': 'oops' is not a finite number; correct it"
        ):
            load(write(tmp_path, "a,y\n,1\noops,2\n3,3\n"), missing=missing)


WORDS = st.lists(st.sampled_from(["", "x", "y z", "30-39", "É", "?"]), min_size=3, max_size=8)


@given(words=WORDS, missing=st.sampled_from(["drop", "mean"]))
def test_load_encodes_as_scikit_learn_does(
    tmp_path_factory: pytest.TempPathFactory, words: list[str], missing: Any
) -> None:
    content = "w,a,y\n" + "".join(f"{word},{at},{at}\n" for at, word in enumerate(words))
    path = write(tmp_path_factory.getbasetemp(), content)
    present = [word for word in words if word not in ("", "?")]
    if len(present) < 2:
        return
    for how, encoder in (
        ("one-hot", OneHotEncoder(sparse_output=False)),
        ("codes", OrdinalEncoder()),
    ):
        wanted = encoder.fit_transform([[word] for word in present])
        back = load(
            path,
            task="regression",
            header=True,
            categorical=how,  # type: ignore[arg-type]
            missing=missing,
        )
        kept = [at for at, word in enumerate(words) if word in present]
        X = back.X[kept] if missing == "mean" else back.X
        assert np.array_equal(X[:, :-1], wanted)
        if missing == "mean" and len(kept) < len(words):
            gaps = [at for at in range(len(words)) if at not in kept]
            assert np.allclose(back.X[gaps, :-1], wanted.mean(axis=0))


def test_load_further_rows_have_the_categories_of_the_first(tmp_path: Path) -> None:
    first = load(
        write(tmp_path, "w,a,y\nred,1,0\nblue,2,1\n7,3,0\nred,5,1\n".replace("7", "green")),
        categorical="one-hot",
    )
    assert first.columns == ("w=blue", "w=green", "w=red", "a")
    assert load(write(tmp_path, "a,w,y\n1,green,0\n"), like=first).X.tolist() == [[0, 1, 0, 1]]
    with pytest.raises(
        DataError,
        match="line 2, column 'w': 'pink' is none of the categories 'blue', 'green', 'red'",
    ):
        load(write(tmp_path, "a,w,y\n1,pink,0\n"), like=first)


def test_load_words_in_columns_that_held_numbers_are_refused(tmp_path: Path) -> None:
    words = write(tmp_path, "a,b,y\nred,1,0\nblue,2,1\n", "words.csv")
    first = load(write(tmp_path, "a,b,y\n1,2,0\n2,3,1\n"), categorical="codes")
    with pytest.raises(DataError, match="line 2, column 'a': 'red' is not a finite number"):
        load(words, like=first, categorical="codes")
    numbers = "a,b,y\n1,2,0\n2,3,1\n"
    dropped = load(words, categorical="drop")
    assert load(write(tmp_path, numbers), like=dropped).X.tolist() == [[2], [3]]
    kept = load(write(tmp_path, numbers), categorical="drop")
    with pytest.raises(DataError, match="line 2, column 'a': 'red' is not a finite number"):
        load(words, like=kept, categorical="drop")


def test_load_words_in_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    for row in ("u,v", "u,2"):
        path = write(
            tmp_path, f"a,a,y\n{row},0\nx,3,1\n".replace("x,3", "x,z" if row == "u,v" else "x,3")
        )
        with pytest.raises(
            DataError,
            match=r": 2 features are named 'a', and one holds words .* \(drop='column 1'\)$",
        ):
            load(path, header=True, categorical="codes")
        assert load(path, header=True, categorical="codes", drop="column 2").origin.categories == {
            "a": ("u", "x")
        }


def test_load_too_many_words_for_indicators_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "w,a,y\n" + "".join(f"word{at},1,{at % 2}\n" for at in range(1001)))
    with pytest.raises(
        DataError,
        match=r"column 'w': holds 1,001 different words, and one-hot takes 1,000; drop it "
        r"\(drop='w'\)",
    ):
        load(path, categorical="one-hot")
    assert load(path, categorical="codes").X.shape == (1001, 2)


def test_load_numbers_beside_words_are_no_categories(tmp_path: Path) -> None:
    with pytest.raises(
        DataError,
        match="line 3, column 'a': 'oops' is not a finite number; correct it or drop the column",
    ):
        load(write(tmp_path, "a,y\n1,1\noops,2\n3,3\n"), categorical="one-hot")
