"""Database of a study: rows written once, exclusive leases, and unusable files."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from shutil import copy
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from equimargin.request import ComparisonRequest
from equimargin.study import Study
from equimargin.study import database as module
from equimargin.study.answer import provenance
from equimargin.study.database import MOST_DEATHS, SCHEMA, Database, StudyError
from equimargin.study.grid import AnswerSpec, grid
from equimargin.study.plan import DataPlan, Plan
from narrow import present
from places import HANG

NOBODY = 65534
"""Number of the user `nobody`, who owns no file."""
ROW = {
    "status": "optimal",
    "ok": True,
    "agreement": "agrees",
    "value": 1.0,
    "cpu_seconds": 0.5,
    "provenance": provenance(),
}


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


@pytest.fixture
def opened(tmp_path: Path, asked: list[AnswerSpec]) -> Iterator[Database]:
    """Yield a database that requests the six answers."""
    with Database(tmp_path / "study.sqlite", writes=True) as database:
        database.enter("six", "the plan", asked)
        yield database


def test_an_answer_is_leased_once_and_written_once(
    opened: Database, asked: list[AnswerSpec]
) -> None:
    with opened.held(), Database(opened.file, writes=True) as other, other.held():
        leased = [present((opened, other)[k % 2].lease()) for k in range(6)]
        assert leased == asked
        assert opened.lease() is other.lease() is None
        assert opened.write(leased[0], ROW)
        assert not other.write(leased[0], ROW | {"value": 2.0})
    (row,) = opened.answers()
    assert (row["value"], row["data"], row["C"], row["solver"]) == (1.0, "xor", 1.0, "smo")
    (counts,) = opened.counts()
    assert (counts["asked"], counts["answered"], counts["leased"]) == (6, 1, 0)
    assert opened.provenances()[row["provenance"]]["equimargin"]


def test_what_a_dead_process_has_leased_is_leased_anew_after_all_else(
    opened: Database, asked: list[AnswerSpec]
) -> None:
    script = (
        "import sys; from equimargin.study.database import Database; d = "
        "Database(sys.argv[1], True); h = d.held(); h.__enter__(); "
        "d.lease(); print('leased', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(opened.file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert present(process.stdout).readline() == b"leased\n"
        with opened.held():
            assert [holder["leased"] for holder in opened.holders()] == [1, 0]
            assert opened.lease() == asked[1]
            process.kill()
            # The process is a zombie from here on: its status is not collected.
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            order = [opened.lease() for _ in range(5)]
            assert opened.lease(suspect=True) == asked[0]
        process.wait(HANG)
    assert order == [*asked[2:], None]


def test_a_lease_of_another_machine_stands_as_long_as_it_shows_signs_of_life(
    opened: Database, asked: list[AnswerSpec], monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened.held():
        opened.lease()
        monkeypatch.setattr(module, "_machine", lambda: "another")
        with Database(opened.file, writes=True) as other, other.held():
            assert other.lease() == asked[1]
            monkeypatch.setattr(module, "GONE", -1.0)
            assert [other.lease() for _ in range(5)] == [*asked[2:], None]
            assert other.lease(suspect=True) == asked[0]


def test_a_number_that_was_given_to_another_process_is_no_life(
    opened: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened.held():
        assert len(opened.holders()) == 1
        monkeypatch.setattr(module, "_born", lambda process: "another time")
        assert opened.holders() == []


def test_an_answer_that_has_ended_many_processes_is_told(
    opened: Database, asked: list[AnswerSpec]
) -> None:
    with opened.held():
        for _ in range(MOST_DEATHS):
            while opened.lease() or opened.lease(suspect=True):
                pass
            assert opened.deadly() == []
            opened.give_back(died=True)
        assert opened.deadly() == [(each, MOST_DEATHS) for each in asked]


def test_a_plan_that_grows_keeps_its_answers(opened: Database, asked: list[AnswerSpec]) -> None:
    with opened.held():
        opened.write(present(opened.lease()), ROW)
        opened.enter("fewer", "", asked[1:3])
        (counts,) = opened.counts()
        assert (counts["asked"], counts["answered"]) == (3, 1)
        opened.enter("more", "", asked)
        (counts,) = opened.counts()
        assert (counts["asked"], counts["answered"]) == (6, 1)
        assert opened.lease() == asked[1]
    assert opened.about()["name"] == "more"


def test_data_of_one_name_are_told_apart(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("one", "two")]
    for k, folder in enumerate(folders):
        folder.mkdir()
        (folder / "rows.csv").write_text(f"a,b,label\n0,1,1\n1,0,-1\n2,{k},1\n")
    files = [DataPlan(str(folder / "rows.csv")) for folder in folders]
    of_iris = [
        DataPlan("iris", scale=True),
        DataPlan("iris", sample=9),
        DataPlan("iris", scale=True, sample=9),
    ]
    plan = Plan(
        "names",
        "",
        (*files, *of_iris, DataPlan("xor")),
        families=("svm.soft",),
        request=ComparisonRequest(solvers="smo"),
    )
    wanted = grid(plan)
    with Database(tmp_path / "study.sqlite", writes=True) as database:
        database.enter("names", "", wanted)
        names = [row["data"] for row in database.counts()]
        assert names == [
            *(f"rows.csv (digest {wanted[k].digest[:8]})" for k in (0, 1)),
            *(
                f"iris ({rest})"
                for rest in ("all rows, scaled", "sample 9, not scaled", "sample 9, scaled")
            ),
            "xor",
        ]
        with database.held():
            while (asked := database.lease()) is not None:
                database.write(asked, ROW)
    page = Study(database.file).to_html()
    assert all(name in page for name in names)


def test_what_had_too_little_memory_is_asked_again_with_more(
    opened: Database, asked: list[AnswerSpec]
) -> None:
    failed = {"ok": False, "agreement": "skipped", "status": "too_large"}
    with opened.held():
        for memory, row in (
            (100, ROW),
            (100, ROW | failed),
            (None, ROW | failed),
            (100, ROW | failed | {"status": "time_limit"}),
        ):
            opened.write(
                present(opened.lease()), row | {"provenance": provenance() | {"memory": memory}}
            )
        opened.ask_again(100)
        assert len(opened.answers()) == 4
        opened.ask_again(101)
        assert len(opened.answers()) == 3
        assert opened.lease() == asked[1]
        assert opened.write(asked[1], ROW | failed | {"provenance": provenance() | {"memory": 101}})
        opened.ask_again(None)
        assert opened.lease() == asked[1]


def test_a_study_in_a_folder_that_cannot_be_written_is_read(
    opened: Database, asked: list[AnswerSpec]
) -> None:
    """Root may write in every folder: in that case another user reads the study."""
    with opened.held():
        opened.write(present(opened.lease()), ROW)
    opened.__exit__()
    with TemporaryDirectory() as made:
        folder = Path(made)
        file = folder / "study.sqlite"
        copy(opened.file, file)
        file.chmod(0o444)
        folder.chmod(0o555)
        user = os.geteuid()
        if user == 0:
            os.seteuid(NOBODY)
        try:
            (row,) = Study(file).records()
        finally:
            os.seteuid(user)
            folder.chmod(0o755)
    assert row["key"] == asked[0].key


def test_a_look_at_a_finished_study_leaves_nothing_behind(opened: Database) -> None:
    with opened.held():
        opened.write(present(opened.lease()), ROW)
    opened.__exit__()
    before = opened.file.read_bytes()
    for _ in range(2):
        assert len(Study(opened.file).records()) == 1
        assert list(opened.file.parent.iterdir()) == [opened.file]
    assert opened.file.read_bytes() == before


def test_a_look_takes_nothing_from_whoever_writes(opened: Database) -> None:
    """A reader leaves the log of a running study unchanged, even an empty one.

    Rows written after it are kept.
    """
    with opened.held():
        for answered in range(1, 4):
            opened.write(present(opened.lease()), ROW)
            for looks in range(2):
                if looks:
                    assert opened._sql.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
                assert len(Study(opened.file).records()) == answered
                assert (opened._log.stat().st_size > 0) == (looks == 0)
    opened.__exit__()
    assert len(Study(opened.file).records()) == 3


def test_a_look_leaves_the_log_of_a_killed_process_as_it_is(
    opened: Database, tmp_path: Path
) -> None:
    """Rows in the log alone are seen, and stay there until the study continues."""
    with opened.held():
        opened.write(present(opened.lease()), ROW)
        for file in (opened.file, opened._log):
            copy(file, tmp_path / f"killed{file.name[len('study') :]}")
    killed = tmp_path / "killed.sqlite", tmp_path / "killed.sqlite-wal"
    before = [file.read_bytes() for file in killed]
    assert len(Study(killed[0]).records()) == 1
    assert [file.read_bytes() for file in killed] == before


def test_a_full_disk_loses_nothing(opened: Database, asked: list[AnswerSpec]) -> None:
    with opened.held():
        opened.write(present(opened.lease()), ROW)
        pages = opened._sql.execute("PRAGMA page_count").fetchone()[0]
        opened._sql.execute(f"PRAGMA max_page_count = {pages}")
        leased = present(opened.lease())
        with pytest.raises(
            StudyError,
            match=r"study\.sqlite: the disk is full; the answers that were written are kept",
        ):
            opened.write(leased, ROW | {"reason": "long " * 10_000})
        opened._sql.execute("PRAGMA max_page_count = 100000")
        assert len(opened.answers()) == 1
        assert opened.write(leased, ROW)
    assert opened._sql.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


def test_files_that_are_no_study_are_left_as_they_are(tmp_path: Path) -> None:
    text = tmp_path / "text.sqlite"
    text.write_text("no database at all, but a text that is long enough to be taken for one" * 20)
    with pytest.raises(StudyError, match="is no database of a study"):
        Database(text, writes=True)
    assert text.read_text().startswith("no database")
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as sql:
        sql.execute("CREATE TABLE mine (x)")
    with pytest.raises(StudyError, match="is not the database of a study"):
        Database(other, writes=True)
    with pytest.raises(StudyError, match="is not there"):
        Database(tmp_path / "none.sqlite")
    with pytest.raises(StudyError, match="cannot be opened or created"):
        Database(tmp_path / "folder" / "none.sqlite", writes=True)


def test_a_newer_schema_is_not_touched(opened: Database) -> None:
    opened._sql.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    for writes in (True, False):
        with pytest.raises(
            StudyError,
            match=rf"has schema {SCHEMA + 1} of a newer equimargin, .* nothing was changed",
        ):
            Database(opened.file, writes)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="everything can be written by root"
)
def test_a_file_that_cannot_be_written(opened: Database) -> None:
    opened.file.chmod(0o444)
    with pytest.raises(StudyError, match="it cannot be written"):
        Database(opened.file, writes=True)


def test_whoever_was_taken_for_gone_enters_again(opened: Database) -> None:
    """The machine slept, or its clock differs.

    Its row was dropped by others, and its next lease is valid.
    """
    with opened.held():
        opened._sql.execute("DELETE FROM holder")
        assert opened.lease() is not None
        assert len(opened.holders()) == 1


def test_numbers_of_numpy_are_numbers(opened: Database) -> None:
    with opened.held():
        assert opened.write(
            present(opened.lease()), ROW | {"iterations": np.int64(5), "value": np.float32(0.5)}
        )
    (row,) = opened.answers()
    assert (row["iterations"], row["value"]) == (5, 0.5)


ENDLESS = (
    "CREATE VIEW about AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) "
    "SELECT x AS name, x AS value FROM n"
)
"""View with an endless number of rows."""


@pytest.mark.parametrize(
    ("statements", "sentence"),
    [
        (("DROP TABLE about", ENDLESS), "its tables are not those of a study"),
        (
            ("CREATE TRIGGER t AFTER INSERT ON lease BEGIN DELETE FROM answer; END",),
            "its tables are not those of a study",
        ),
        (("UPDATE answer SET cpu_seconds = 'soon'",), "cpu_seconds of a row is 'soon'"),
        (("UPDATE answer SET family = NULL",), "family of a row is None"),
        (("UPDATE provenance SET record = '[1'",), "is no JSON object"),
        (("UPDATE provenance SET record = '[1]'",), "is no JSON object"),
        (
            ("INSERT INTO holder VALUES (9, 'm', 12, '1', '1999-01-01', 4e9)",),
            "there cannot be a process 12 running since '1999-01-01'",
        ),
        (
            ("INSERT INTO holder VALUES (9, 'm', -1, '1', '1999-01-01T00:00:00+00:00', 4e9)",),
            "there cannot be a process -1 running since",
        ),
        (("UPDATE about SET value = x'00'",), "value of a row is"),
    ],
)
def test_what_no_study_has_written_is_a_sentence(
    opened: Database, statements: Sequence[str], sentence: str
) -> None:
    """SQLite keeps any value in any column; a view in a table's place may be endless."""
    with opened.held():
        opened.write(present(opened.lease()), ROW)
    for statement in statements:
        opened._sql.execute(statement)
    with pytest.raises(StudyError, match=sentence):
        Study(opened.file).to_html()


def test_an_answer_without_its_provenance_has_none(opened: Database) -> None:
    with opened.held():
        opened.write(present(opened.lease()), ROW)
    opened._sql.execute("PRAGMA foreign_keys = OFF")
    opened._sql.execute("DELETE FROM provenance")
    (record,) = Study(opened.file).records()
    assert (record["ok"], record["machine"]) == (1, None)


def test_a_database_does_not_say_which_plug_ins_are_run(
    opened: Database, asked: list[AnswerSpec]
) -> None:
    """A row of an ended process is dropped if the plan does not request it.

    A requested one is read anew.
    """
    strange = replace(asked[0], C=7.0, plugins=("antigravity",))
    for key, question in ((strange.key, strange.to_json()), ("k", "[]")):
        opened._sql.execute("INSERT INTO asked VALUES (?, -1, 'xor', ?, 0)", (key, question))
    with (
        opened.held(),
        pytest.raises(StudyError, match="requests the plug-in antigravity, not named in the plan"),
    ):
        opened.lease()
    opened._sql.execute("DELETE FROM asked WHERE key = ?", (strange.key,))
    with opened.held(), pytest.raises(StudyError, match="the request of an answer cannot be read"):
        opened.lease()
    with opened.held():
        opened._sql.execute("UPDATE holder SET born = '0'")
        opened._sql.execute("INSERT INTO lease SELECT 'k', id FROM holder")
        with Database(opened.file, writes=True) as other:
            other.enter("six", "", asked)
            with other.held():
                assert [other.lease() for _ in range(7)] == [*asked, None]
