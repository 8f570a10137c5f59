"""Command `study`: runs, output, files and refusals."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from typer.testing import CliRunner

from equimargin.cli.app import app
from equimargin.report.words import duration
from equimargin.study import Study
from equimargin.study.database import Database
from equimargin.study.summary import Progress

RUN = CliRunner()
PLAN = """
[grid]
family = "svm.soft"
solver = ["smo", "CLARABEL"]

[[data]]
source = "xor"

[[kernel]]
name = "polynomial"
"""


def study(*arguments: object) -> tuple[int, str]:
    """Return the exit status and the complete output of `equimargin study`."""
    result = RUN.invoke(app, ["study", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """Return a plan of a few answers."""
    file = tmp_path / "plan.toml"
    file.write_text(PLAN)
    return file


def test_a_study_is_run_once_and_looked_at_often(plan: Path) -> None:
    status, output = study(plan)
    assert status == 0, output
    assert "answers, kept in" in output
    many = len(Study(plan.with_suffix(".sqlite")).records())
    assert f"{many} of {many} answers: {many} solved, 0 failed, 0 skipped" in output
    status, output = study(plan)
    assert status == 2
    assert "--resume runs the new answers of the plan" in output
    assert study(plan, "--resume")[0] == 0
    status, output = study(plan, "--status")
    assert (status, output) == (
        0,
        f"{many} of {many} answers: {many} solved, 0 failed, 0 skipped\n",
    )
    assert study(plan.with_suffix(".sqlite"), "--status") == (status, output)


def test_what_it_has_found_is_written(plan: Path, tmp_path: Path) -> None:
    assert study(plan)[0] == 0
    status, output = study(plan, "--csv", "-")
    assert status == 0
    rows = list(csv.DictReader(io.StringIO(output)))
    assert {row["agreement"] for row in rows} == {"agrees"}
    assert {float(row["C"]) for row in rows} == {1.0}
    page = tmp_path / "page.html"
    assert study(plan, "--html", page)[0] == 0
    text = page.read_text(encoding="utf-8")
    assert "The optimum of every one of 1 problem is enclosed by proven bounds" in text
    assert text.count("<polyline") == 2
    assert "svm.soft.dual" in text
    assert "polynomial" in text


def test_parquet_takes_pyarrow(plan: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow writes Parquet files")
    assert study(plan)[0] == 0
    assert study(plan, "--parquet", tmp_path / "rows.parquet")[0] == 0
    assert (
        parquet.read_table(tmp_path / "rows.parquet").to_pylist()
        == Study(plan.with_suffix(".sqlite")).records()
    )


def test_parquet_of_no_answers_has_the_columns_of_all(plan: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow writes Parquet files")
    assert study(plan)[0] == 0
    study(plan, "--parquet", tmp_path / "some.parquet")
    with Database(plan.with_suffix(".sqlite"), writes=True) as opened:
        opened._sql.execute("DELETE FROM answer")
    study(plan, "--parquet", tmp_path / "none.parquet")
    assert parquet.read_schema(tmp_path / "none.parquet") == parquet.read_schema(
        tmp_path / "some.parquet"
    )


@pytest.mark.parametrize("name", ["plan.TOML", "plan", "my.plan.txt"])
def test_a_plan_may_have_any_name(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_text(PLAN)
    assert study(file)[0] == 0
    assert Study(file.with_suffix(".sqlite")).progress().complete
    assert study(file, "--status")[0] == 0


def test_a_database_may_have_any_name_and_is_no_plan(plan: Path, tmp_path: Path) -> None:
    database = tmp_path / "answers.db"
    assert study(plan, "--database", database)[0] == 0
    assert study(database, "--status")[0] == 0
    status, output = study(database, "--resume")
    assert status == 2
    assert "is the database of a study, whose plan is needed to run answers" in output
    text = plan.rename(tmp_path / "plan.sqlite")
    status, output = study(text)
    assert status == 2
    assert "cannot be its own database" in output
    assert text.read_text() == PLAN


def test_a_data_frame_takes_pandas(plan: Path) -> None:
    pytest.importorskip("pandas", reason="pandas makes data frames")
    assert study(plan)[0] == 0
    found = Study(plan.with_suffix(".sqlite"))
    frame = found.to_pandas()
    assert list(frame.columns) == list(found.records()[0])
    assert frame["ok"].all()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["none.toml"], "none.toml cannot be read"),
        (
            ["none.toml", "--status"],
            "none.sqlite is not there: no study has been begun with it yet",
        ),
        (
            ["plan.toml", "--memory", "much"],
            "--memory must be a number of bytes such as 500M or 2G, not 'much'",
        ),
        (["plan.toml", "--database", "no/folder.sqlite"], "it cannot be opened or created"),
    ],
)
def test_what_is_refused_is_a_sentence(
    plan: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], sentence: str
) -> None:
    monkeypatch.chdir(plan.parent)
    status, output = study(*arguments)
    assert status == 2, output
    assert sentence in output
    assert "Traceback" not in output


def test_a_study_that_others_work_on_is_not_begun_again(plan: Path) -> None:
    assert study(plan)[0] == 0
    file = plan.with_suffix(".sqlite")
    with Database(file, writes=True) as other:
        other._sql.execute("DELETE FROM answer")
        with other.held():
            other.lease()
            status, output = study(plan)
            assert status == 2
            assert "1 process running" in output
            status, output = study(plan, "--resume")
            assert status == 4
            assert "The missing answers are leased by other processes" in output
    assert study(plan, "--resume")[0] == 0
    assert Study(file).progress().complete


def test_progress_in_words() -> None:
    sets = [{"asked": 9, "answered": 4, "leased": 1, "solved": 2, "failed": 1, "skipped": 1}]
    assert (
        Progress(sets, []).sentence
        == "4 of 9 answers: 2 solved, 1 failed, 1 skipped; no process is running"
    )
    assert Progress(sets, [{}], 300.0).sentence.endswith(
        "; 1 process running, about 5 minutes left"
    )
    assert [duration(seconds) for seconds in (3, 100, 119, 7200, 2e5)] == [
        "3 s",
        "100 s",
        "119 s",
        "2 hours",
        "2 days",
    ]


@pytest.mark.parametrize("option", ["--csv", "--html", "--parquet"])
@pytest.mark.parametrize("ending", [".sqlite", ".toml", ".sqlite-wal"])
def test_a_study_is_not_written_over(plan: Path, option: str, ending: str) -> None:
    assert study(plan)[0] == 0
    before = plan.read_bytes(), plan.with_suffix(".sqlite").read_bytes()
    status, output = study(plan, option, plan.with_suffix(ending))
    assert status != 0
    assert "is the study itself, and would be lost" in output
    assert (plan.read_bytes(), plan.with_suffix(".sqlite").read_bytes()) == before


@pytest.mark.parametrize(
    "running", [["--resume"], ["--memory", "1G"], ["--jobs", 2], ["--executor", "joblib"]]
)
def test_what_runs_nothing_takes_no_word_on_running(plan: Path, running: list[object]) -> None:
    status, output = study(plan, "--status", *running)
    assert status != 0
    assert "run nothing" in output


def test_an_empty_file_is_no_begun_study(plan: Path) -> None:
    """A process may end after it makes the file and before it makes its tables."""
    plan.with_suffix(".sqlite").touch()
    status, output = study(plan, "--status")
    assert status != 0
    assert "no study has been begun with it yet" in output
    assert study(plan)[0] == 0


def test_a_plan_is_one_study_from_every_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "one"
    folder.mkdir()
    (folder / "rows.csv").write_text("a,b,y\n0,1,1\n1,0,-1\n2,1,1\n1,3,-1\n")
    # Windows' editor writes such files.
    (folder / "plan.toml").write_bytes(b"\xef\xbb\xbf" + PLAN.replace("xor", "rows.csv").encode())
    monkeypatch.chdir(folder)
    assert study("plan.toml")[0] == 0
    monkeypatch.chdir(tmp_path)
    assert study("one/plan.toml", "--resume")[0] == 0
    with Database(folder / "plan.sqlite") as opened:
        sources = opened._rows(
            "SELECT json_extract(question, '$.data.source') AS source FROM asked"
        )
    assert all(Path(row["source"]).is_absolute() for row in sources)
