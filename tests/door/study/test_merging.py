"""Merge of the parts of a study: every answer once, and contradictions in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from equimargin.cli.app import app
from equimargin.request import ComparisonRequest
from equimargin.study import Study
from equimargin.study.answer import provenance
from equimargin.study.database import Database
from equimargin.study.grid import AnswerSpec, grid
from equimargin.study.merging import merge
from equimargin.study.plan import DataPlan, Plan

RUN = CliRunner()
ROW = {
    "status": "optimal",
    "ok": True,
    "agreement": "agrees",
    "value": 1.0,
    "lower": 0.5,
    "upper": 1.5,
    "cpu_seconds": 0.5,
    "provenance": provenance(),
}
LATE = {"status": "time_limit", "ok": False, "agreement": "failed", "provenance": provenance()}


@pytest.fixture(scope="module")
def asked() -> list[AnswerSpec]:
    """Return six answers on exclusive or."""
    plan = Plan(
        "six",
        "",
        (DataPlan("xor"),),
        costs=(1.0, 2.0, 3.0),
        families=("svm.soft", "svm.l2"),
        request=ComparisonRequest(solvers="smo"),
    )
    return grid(plan)


def part(file: Path, asked: Sequence[AnswerSpec], rows: Sequence[dict[str, Any] | None]) -> Path:
    """Write a database that requests some answers, and has a row for the first of them."""
    with Database(file, writes=True) as opened:
        opened.enter(file.stem, f"# the plan of {file.stem}", asked)
        with opened.held():
            for spec, row in zip(asked, rows, strict=False):
                if row is not None:
                    opened.write(spec, row)
    return file


def test_parts_are_one_study_with_every_answer_once(
    tmp_path: Path, asked: list[AnswerSpec]
) -> None:
    a = part(tmp_path / "a.sqlite", asked[:4], [ROW, ROW | {"value": 1.1}, ROW])
    b = part(tmp_path / "b.sqlite", asked[2:], [ROW | {"value": 1.2}, None, ROW, ROW])
    merged = tmp_path / "merged.sqlite"
    assert merge([a, b], merged) == 1
    rows = Study(merged).records()
    wanted = {row["key"]: row for file in (b, a) for row in Study(file).records()}
    assert [row["key"] for row in rows] == [asked[k].key for k in (0, 1, 2, 4, 5)]
    assert rows == [wanted[row["key"]] for row in rows]
    progress = Study(merged).progress()
    assert (progress.total("asked"), progress.total("answered")) == (6, 5)
    with Database(merged) as opened:
        about = opened.about()
    assert about["name"] == "a"
    assert about["plan"].splitlines() == ["# the plan of a", "# the plan of b"]
    # The next run computes what no part has.
    with Database(merged, writes=True) as opened, opened.held():
        opened.enter("a", "", asked)
        assert opened.lease() == asked[3]
        assert opened.lease() is None
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "a.sqlite",
        "b.sqlite",
        "merged.sqlite",
    ]


@pytest.mark.parametrize("names", ["ab", "ba"])
def test_a_solved_row_stands_for_a_late_one(
    tmp_path: Path, asked: list[AnswerSpec], names: str
) -> None:
    files = {
        "a": part(tmp_path / "a.sqlite", asked[:2], [ROW, LATE]),
        "b": part(tmp_path / "b.sqlite", asked[:2], [LATE, LATE | {"status": "too_large"}]),
    }
    merged = tmp_path / "merged.sqlite"
    assert merge([files[name] for name in names], merged) == 2
    first, second = Study(merged).records()
    assert first["status"] == "optimal"
    assert second["status"] == ("time_limit" if names == "ab" else "too_large")


@pytest.mark.parametrize(
    "other",
    [
        {"lower": 1.6, "upper": 1.7, "value": 1.65},
        {"lower": 0.1, "upper": 0.4, "value": 0.3},
        {"agreement": "disagrees", "ok": False},
        {"value": None, "lower": None, "upper": None, "status": "infeasible"},
    ],
)
def test_rows_that_contradict_each_other_are_a_sentence_and_nothing_is_written(
    tmp_path: Path, asked: list[AnswerSpec], other: dict[str, Any]
) -> None:
    a = part(tmp_path / "a.sqlite", asked, [ROW, ROW])
    b = part(tmp_path / "b.sqlite", asked, [ROW, ROW | other])
    merged = tmp_path / "merged.sqlite"
    result = RUN.invoke(app, ["study", "merge", str(a), str(b), "-o", str(merged)])
    assert result.exit_code == 2, result.output
    sentence = result.stderr
    assert sentence.count("\n") == 1
    assert f"{a} and {b} contradict each other on 1 answer" in sentence
    assert f"{asked[1].family}, solver smo, data xor" in sentence
    assert f"1 (optimal, agrees) with bounds [0.5, 1.5] in {a}" in sentence
    assert f"in {b}" in sentence
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.sqlite", "b.sqlite"]


def test_any_two_parts_may_contradict_each_other(tmp_path: Path, asked: list[AnswerSpec]) -> None:
    ends = {"a": (0.0, 9.0), "b": (0.5, 1.5), "c": (5.0, 6.0)}
    parts = [
        part(tmp_path / f"{name}.sqlite", asked, [ROW | {"lower": lower, "upper": upper}])
        for name, (lower, upper) in ends.items()
    ]
    with pytest.raises(ValueError, match=r"b.sqlite and .*c.sqlite contradict each other on 1"):
        merge(parts, tmp_path / "merged.sqlite")


@pytest.mark.parametrize("names", ["ab", "ba"])
def test_a_late_row_contradicts_no_wrong_one(
    tmp_path: Path, asked: list[AnswerSpec], names: str
) -> None:
    wrong = ROW | {"agreement": "disagrees", "ok": False, "value": 7.0}
    files = {
        "a": part(tmp_path / "a.sqlite", asked[:1], [LATE]),
        "b": part(tmp_path / "b.sqlite", asked[:1], [wrong]),
    }
    merged = tmp_path / "merged.sqlite"
    assert merge([files[name] for name in names], merged) == 1
    (row,) = Study(merged).records()
    assert row["agreement"] == "disagrees"


@pytest.mark.parametrize("kind", ["wal", "shm", "journal"])
def test_what_is_left_of_an_earlier_database_is_a_sentence(
    tmp_path: Path, asked: list[AnswerSpec], kind: str
) -> None:
    parts = [part(tmp_path / f"{name}.sqlite", asked, [ROW]) for name in "ab"]
    merged, rest = tmp_path / "merged.sqlite", tmp_path / f"merged.sqlite-{kind}"
    rest.touch()
    with pytest.raises(ValueError, match=f"merged.sqlite-{kind} is left of an earlier database"):
        merge(parts, merged)
    assert not merged.exists()


def test_what_fails_while_it_is_written_leaves_nothing(
    tmp_path: Path, asked: list[AnswerSpec], monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = [part(tmp_path / f"{name}.sqlite", asked, [ROW]) for name in "ab"]

    def fail(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(Database, "_name_data", fail)
    with pytest.raises(OSError, match="the disk is full"):
        merge(parts, tmp_path / "merged.sqlite")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.sqlite", "b.sqlite"]


def test_data_of_one_name_in_two_parts_are_told_apart(tmp_path: Path) -> None:
    parts = []
    for k, name in enumerate("ab"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "rows.csv").write_text(f"a,b,label\n0,1,1\n1,0,-1\n2,{k},1\n")
        plan = Plan(
            name,
            "",
            (DataPlan(str(tmp_path / name / "rows.csv")),),
            families=("svm.soft",),
            request=ComparisonRequest(solvers="smo"),
        )
        parts.append(part(tmp_path / f"{name}.sqlite", grid(plan), []))
    merge(parts, tmp_path / "merged.sqlite")
    names = [row["data"] for row in Study(tmp_path / "merged.sqlite").progress().sets]
    assert len(names) == 2
    assert all(name.startswith("rows.csv (digest ") for name in names)


def test_command_merges_and_refuses_in_a_sentence(tmp_path: Path, asked: list[AnswerSpec]) -> None:
    a = part(tmp_path / "a.sqlite", asked, [ROW, ROW])
    b = part(tmp_path / "b.sqlite", asked, [ROW])
    merged = tmp_path / "merged.sqlite"

    def answer(*arguments: object) -> tuple[int, str]:
        result = RUN.invoke(app, ["study", "merge", *map(str, arguments)])
        return result.exit_code, result.output

    status, output = answer(a, b, "-o", merged)
    assert status == 0, output
    assert "2 of 6 answers: 2 solved" in output
    assert "1 of them in several parts" in output
    before = merged.read_bytes()
    for arguments, sentence in (
        ((a, b, "-o", merged), "exists already; name a new file"),
        ((a, "-o", tmp_path / "c.sqlite"), "a merge needs two databases at least"),
        ((a, tmp_path / "none.sqlite", "-o", tmp_path / "c.sqlite"), "none.sqlite is not there"),
        ((a, Path(__file__), "-o", tmp_path / "c.sqlite"), "it is no database of a study"),
        ((a, b), "missing option '--output'"),
        ((a, b, "-o", tmp_path / "no" / "c.sqlite"), "does not exist, nor does its folder"),
    ):
        status, output = answer(*arguments)
        assert (status, output.count("\n")) == (2, 1), output
        assert sentence in output
    assert merged.read_bytes() == before
    assert not (tmp_path / "c.sqlite").exists()
    assert "Usage: equimargin study merge" in answer("--help")[1]
