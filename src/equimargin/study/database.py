"""The database of a study: one SQLite file, one transaction an answer, and leases by which processes share the work.

An answer is in the file before the next one begins, on the disk and not only on its way
there. A process leases an answer before it begins with it. The lease of a process that
is gone is nobody's: it is dropped, and the answer is a suspect, because it may have
been what ended the process. The first row of an answer stands; there is never a second
one.
"""

from __future__ import annotations

import json
import os
import platform
import re
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

from equimargin import __version__
from equimargin.data.bundled import BUNDLED
from equimargin.formulations.numeric.arguments import format_error, format_value
from equimargin.study.answer import ANSWER
from equimargin.study.grid import AnswerSpec
from equimargin.study.summary import data_key, labels

APPLICATION = 0x65716D73
"""The number by which SQLite files of studies are known, "eqms" in ASCII."""
SCHEMA = 1
"""Counts the layouts of the database; a file of a later one is not touched."""
PATIENCE = 60.0
"""Seconds that a transaction waits for that of another process, which takes milliseconds."""
BEAT = 5.0
"""Seconds between two signs of life of a process that holds leases."""
GONE = 60.0
"""Seconds without a sign of life after which a process on another machine is taken for gone: a dozen of them are missing then."""
ENDED = "ZX"
"""The letters of Linux for a process that has ended and that its parent has not asked about yet."""
MOST_DEATHS = 5
"""Processes that may die at work on an answer until its row says so, and no other is sacrificed to it."""

QUESTION = {
    "data": "TEXT",
    "digest": "TEXT",
    "task": "TEXT",
    "sample": "INTEGER",
    "scale": "INTEGER",
    "seed": "INTEGER",
    "epsilon": "REAL",
    "kernel": "TEXT",
    "C": "REAL",
    "family": "TEXT",
    "formulation": "TEXT",
    "solver": "TEXT",
    "tol": "REAL",
    "time_limit": "REAL",
}
"""What a row says of what was asked, each with its type in SQL."""
SIZES = {"points": "INTEGER", "features": "INTEGER"}
"""What it says of the size of the problem."""
COLUMNS = {**QUESTION, **SIZES, **ANSWER, "finished": "TEXT", "provenance": "TEXT"}
"""The columns of an answer beside its key."""

TABLES = f"""
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE asked (key TEXT PRIMARY KEY, place INTEGER NOT NULL, data TEXT, question TEXT NOT NULL, deaths INTEGER NOT NULL DEFAULT 0);
CREATE TABLE provenance (id TEXT PRIMARY KEY, record TEXT NOT NULL);
CREATE TABLE answer (key TEXT PRIMARY KEY REFERENCES asked, {", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())},
    FOREIGN KEY (provenance) REFERENCES provenance);
CREATE TABLE holder (id INTEGER PRIMARY KEY, machine TEXT NOT NULL, process INTEGER NOT NULL, born TEXT NOT NULL, since TEXT NOT NULL,
    seen REAL NOT NULL);
CREATE TABLE lease (key TEXT PRIMARY KEY REFERENCES asked, holder INTEGER NOT NULL REFERENCES holder);
"""
"""The tables of schema 1."""

NAMES = tuple(re.findall(r"CREATE TABLE (\w+)", TABLES))
"""The names of the tables."""
IN_PYTHON: Mapping[str, type] = {"TEXT": str, "INTEGER": int, "REAL": float}
"""What SQLite's types are in Python."""
MAY_BE_MISSING = (
    *("sample", "seed", "epsilon", "formulation", "points", "features"),
    *(
        "value",
        "claim",
        "off",
        "accuracy",
        "lower",
        "upper",
        "relative_width",
        "iterations",
        "reason",
    ),
    *("compile_seconds", "solve_seconds", "cpu_seconds"),
)
"""The columns of an answer that may have no value."""
LARGEST_PROCESS = 2**31
"""The first number that no process has."""


class StudyError(OSError):
    """A database that cannot be read or written: the file, why, and what to do."""


class Database:
    """The database of a study, open.

    Parameters
    ----------
    file : str | Path
        Its path.
    """

    def __init__(self, file: str | Path, writes: bool = False) -> None:
        """Open a file; where it `writes`, make it if need be.

        Raises
        ------
        StudyError
            It cannot be opened, is no study, or has a newer schema.
        """
        self.file = Path(file)
        self._log = self.file.with_name(f"{self.file.name}-wal")
        self._writes = writes
        self._lock = threading.RLock()
        self._holder: int | None = None
        self._plugins: set[str] = set()
        if not writes and not self.file.exists():
            raise StudyError(f"{self.file} is not there: no study has been begun with it yet")
        with self._in_words():
            self._connect("mode=rwc" if writes else "mode=ro")
            try:
                self._check(writes)
            except sqlite3.OperationalError:
                if writes or not self._is_at_rest():
                    raise
                self._connect("mode=ro&immutable=1")
                self._check(writes)
            if writes:
                self._sql.execute("PRAGMA journal_mode = WAL")
                self._sql.execute("PRAGMA synchronous = FULL")
                self._sql.execute("PRAGMA foreign_keys = ON")
                self._make()

    def _connect(self, how: str) -> None:
        uri = f"{self.file.absolute().as_uri()}?{how}"
        self._sql = sqlite3.connect(
            uri, timeout=PATIENCE, isolation_level=None, check_same_thread=False, uri=True
        )
        self._sql.row_factory = sqlite3.Row

    def _is_at_rest(self) -> bool:
        """Whether nothing is on its way into the file: SQLite needs no files beside it then, which a read-only folder would not take."""
        return not self._log.exists()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._sql.close()
            if not self._writes:
                self._take_away_an_empty_log()

    def _take_away_an_empty_log(self) -> None:
        """Take away what a look leaves beside the file: SQLite makes a log for it, and only a connection that may write removes one.

        It removes it where nobody else is connected. One that is not empty, of a process at work or of a killed one, is left alone.
        """
        with suppress(OSError, sqlite3.Error):  # where nothing can be written the log stays
            if self._log.stat().st_size == 0:
                self._connect("mode=rw")
                self._check(writes=False)
                self._sql.close()

    def enter(self, name: str, plan: str, asked: Sequence[AnswerSpec]) -> None:
        """Enter what a plan asks for. Answers that it no longer asks for are kept; questions without an answer are forgotten then."""
        keys = [each.key for each in asked]
        self._plugins = {plugin for each in asked for plugin in each.plugins}
        with self._transaction() as sql:
            self._drop_leases_of_the_gone(sql)
            for what, value in (("name", name), ("plan", plan), ("equimargin", __version__)):
                sql.execute(
                    "INSERT INTO about VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value "
                    "= excluded.value",
                    (what, value),
                )
            sql.execute("CREATE TEMP TABLE wanted (key TEXT PRIMARY KEY)")
            sql.executemany("INSERT INTO wanted VALUES (?)", [(key,) for key in keys])
            sql.executemany(
                "INSERT INTO asked (key, place, data, question) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (key) DO UPDATE SET place = excluded.place, data = "
                "excluded.data, question = excluded.question",
                [
                    (key, place, name_data(each), each.to_json())
                    for place, (key, each) in enumerate(zip(keys, asked, strict=True))
                ],
            )
            sql.execute(
                "DELETE FROM asked WHERE key NOT IN (SELECT key FROM wanted) "
                "AND key NOT IN (SELECT key FROM answer) AND key NOT IN (SELECT key FROM lease)"
            )
            sql.execute("DROP TABLE wanted")
            known = [
                (row["key"], data_key(_question(self._read(row))))
                for row in sql.execute("SELECT * FROM asked")
            ]
            called = labels(terms for _, terms in known)
            sql.executemany(
                "UPDATE asked SET data = ? WHERE key = ?",
                [(called[terms], key) for key, terms in known],
            )

    def ask_again(self, memory: int | None) -> None:
        """Forget the answers that had less memory than there is now and were not solved, but for those that ran out of time.

        Parameters
        ----------
        memory : int | None
            Bytes that an answer may take now; None for any.
        """
        with self._transaction() as sql:
            again = (
                "SELECT key FROM answer JOIN provenance ON provenance = id WHERE NOT ok AND "
                "status <> 'time_limit' "
                "AND json_extract(record, '$.memory') < ?"
            )
            limit = sys.maxsize if memory is None else min(memory, sys.maxsize)
            sql.execute(f"UPDATE asked SET deaths = 0 WHERE key IN ({again})", (limit,))
            sql.execute(f"DELETE FROM answer WHERE key IN ({again})", (limit,))

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold leases while entered, and show signs of life; those that are left are given back."""
        with self._transaction() as sql:
            self._seen(sql)
            self._drop_leases_of_the_gone(sql)
        over = threading.Event()
        beat = threading.Thread(target=self._beat, args=(over,), daemon=True)
        beat.start()
        try:
            yield
        finally:
            over.set()
            beat.join(2 * PATIENCE)  # it may wait for the file, for which PATIENCE is the limit
            with suppress(
                StudyError
            ):  # on a full disk the lease stays, and is dropped when this process is gone
                self.give_back(died=False)
                with self._transaction() as sql:
                    sql.execute("DELETE FROM holder WHERE id = ?", (self._holder,))
            self._holder = None

    def _seen(self, sql: sqlite3.Connection) -> None:
        """Say that this process lives; anew, where others have taken it for gone because it slept, or because clocks differ."""
        values = (self._holder, _machine(), os.getpid(), _born(os.getpid()), _now(), time.time())
        statement = (
            "INSERT INTO holder VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET seen = "
            "excluded.seen"
        )
        entered = sql.execute(statement, values)
        if self._holder is None:
            self._holder = entered.lastrowid

    def lease(self, suspect: bool = False) -> AnswerSpec | None:
        """Lease the next answer that nobody has begun with; None if there is none.

        Parameters
        ----------
        suspect : bool
            Whether it is one at which a process has died; those that have ended the
            fewest come first.
        """
        with self._transaction() as sql:
            self._seen(sql)
            self._drop_leases_of_the_gone(sql)
            row = sql.execute(
                "SELECT key, question FROM asked WHERE key NOT IN (SELECT key FROM answer) "
                "AND key NOT IN (SELECT key FROM lease) "
                "AND (deaths > 0) = ? ORDER BY deaths, place LIMIT 1",
                (suspect,),
            ).fetchone()
            if row is None:
                return None
            sql.execute("INSERT INTO lease VALUES (?, ?)", (row["key"], self._holder))
            return self._asked(row)

    def _asked(self, row: sqlite3.Row) -> AnswerSpec:
        """What a row asks for; never for a plug-in that the plan does not name, because plug-ins are run."""
        asked = self._read(row)
        strange = set(asked.plugins) - self._plugins
        if strange:
            raise StudyError(
                f"{self.file} asks for the plug-in {min(strange)}, not named in the plan: "
                f"use another file (--database)"
            )
        return asked

    def _read(self, row: sqlite3.Row) -> AnswerSpec:
        """What a row asks for, as it was written."""
        try:
            asked = AnswerSpec.from_json(row["question"])
            hash(
                (data_key(_question(asked)), asked.plugins, asked.key)
            )  # all of it is of the kinds that it should be of
            return asked
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as reason:
            raise StudyError(
                f"{self.file} is damaged: what an answer asks for cannot be read "
                f"({format_error(reason)})"
            ) from None

    def write(self, asked: AnswerSpec, found: Mapping[str, Any]) -> bool:
        """Write the row of an answer and end its lease, in one transaction; whether it is the first row of that answer."""
        provenance = json.dumps(found["provenance"], sort_keys=True)
        id = sha256(provenance.encode()).hexdigest()[:16]
        row = (
            dict.fromkeys(COLUMNS)
            | _question(asked)
            | dict(found)
            | {"finished": _now(), "provenance": id}
        )
        names = ["key", *COLUMNS]
        with self._transaction() as sql:
            sql.execute(
                "INSERT INTO provenance VALUES (?, ?) ON CONFLICT DO NOTHING", (id, provenance)
            )
            written = sql.execute(
                f"INSERT INTO answer ({', '.join(names)}) VALUES "
                f"({', '.join('?' * len(names))}) ON CONFLICT DO NOTHING",
                [asked.key, *(_plain(row[name], kind) for name, kind in COLUMNS.items())],
            ).rowcount
            sql.execute("DELETE FROM lease WHERE key = ?", (asked.key,))
        return written == 1

    def give_back(self, died: bool, asked: AnswerSpec | None = None) -> None:
        """End the leases of this process without an answer, or that of one answer; died : whether who was at work on them died."""
        whose, values = (
            ("holder = ?", (self._holder,)) if asked is None else ("key = ?", (asked.key,))
        )
        with self._transaction() as sql:
            if died:
                sql.execute(
                    f"UPDATE asked SET deaths = deaths + 1 WHERE key IN (SELECT key FROM "
                    f"lease WHERE {whose})",
                    values,
                )
            sql.execute(f"DELETE FROM lease WHERE {whose}", values)

    def deadly(self) -> list[tuple[AnswerSpec, int]]:
        """The answers without a row that MOST_DEATHS processes have died at, and how many have."""
        query = (
            "SELECT key, question, deaths FROM asked WHERE deaths >= ? AND key NOT IN (SELECT "
            "key FROM answer)"
        )
        rows = self._rows(query, (MOST_DEATHS,))
        return [(self._asked(row), row["deaths"]) for row in rows]

    def counts(self) -> list[dict[str, Any]]:
        """Of every data set, in the order of the plan: how many answers are asked for, answered, leased, solved, failed and skipped."""
        rows = self._rows(
            "SELECT asked.data AS data, count(*) AS asked, count(answer.key) AS answered, "
            "count(lease.key) AS leased, "
            "coalesce(sum(ok), 0) AS solved, coalesce(sum(NOT ok AND agreement <> "
            "'skipped'), 0) AS failed, "
            "coalesce(sum(agreement = 'skipped'), 0) AS skipped "
            "FROM asked LEFT JOIN answer USING (key) LEFT JOIN lease USING (key) GROUP BY "
            "asked.data ORDER BY min(place)"
        )
        self._check_kinds(
            rows,
            {
                "data": str,
                **dict.fromkeys(
                    ("asked", "answered", "leased", "solved", "failed", "skipped"), int
                ),
            },
        )
        return [dict(row) for row in rows]

    def answered_since(self, moment: str) -> int:
        """How many answers were written since a moment, as `finished` says it."""
        return int(self._rows("SELECT count(*) FROM answer WHERE finished >= ?", (moment,))[0][0])

    def holders(self) -> list[dict[str, Any]]:
        """The processes that are at work, with the answers that they have leased; those that are gone are not among them."""
        rows = self._rows(
            "SELECT machine, process, born, since, seen, count(lease.key) AS leased "
            "FROM holder LEFT JOIN lease ON lease.holder = holder.id GROUP BY holder.id"
        )
        self._check_holders(rows)
        return [dict(row) for row in rows if _lives(row)]

    def answers(self) -> list[dict[str, Any]]:
        """All answers in the order of the plan, by the names of the columns."""
        names = ", ".join(f"answer.{name}" for name in ("key", *COLUMNS))
        rows = self._rows(
            f"SELECT {names} FROM answer JOIN asked USING (key) ORDER BY place, answer.key"
        )
        self._check_kinds(
            rows, {name: IN_PYTHON[kind] for name, kind in COLUMNS.items()}, MAY_BE_MISSING
        )
        if any(row["ok"] and row["cpu_seconds"] is None for row in rows):
            raise StudyError(f"{self.file} is damaged: an answer that is solved has no CPU time")
        return [dict(row) for row in rows]

    def provenances(self) -> dict[str, dict[str, Any]]:
        """What answers were computed with, by the names that their rows have for it."""
        found = {}
        for row in self._rows("SELECT id, record FROM provenance"):
            try:
                found[row["id"]] = dict(json.loads(row["record"]))
            except (ValueError, TypeError, RecursionError):
                raise StudyError(
                    f"{self.file} is damaged: the provenance {row['id']!r} is no JSON object"
                ) from None
        return found

    def about(self) -> dict[str, str]:
        """The name of the study, the text of its plan, and the version of equimargin that planned it."""
        rows = self._rows("SELECT name, value FROM about")
        self._check_kinds(rows, {"name": str, "value": str})
        return {row["name"]: row["value"] for row in rows}

    def _check_kinds(
        self,
        rows: Sequence[sqlite3.Row],
        kinds: Mapping[str, type],
        may_be_missing: Sequence[str] = (),
    ) -> None:
        """Refuse rows with values of other kinds than those of their columns: SQLite keeps any value in any column."""
        for row in rows:
            for name, kind in kinds.items():
                value = row[name]
                if not (isinstance(value, kind) or (value is None and name in may_be_missing)):
                    raise StudyError(
                        f"{self.file} is damaged: {name} of a row is {format_value(value)}"
                    )

    def _check_holders(self, rows: Sequence[sqlite3.Row]) -> None:
        """Refuse rows that are of no process."""
        self._check_kinds(
            rows, {"machine": str, "process": int, "born": str, "since": str, "seen": float}
        )
        for row in rows:
            if not (0 < row["process"] < LARGEST_PROCESS and _is_moment(row["since"])):
                raise StudyError(
                    f"{self.file} is damaged: process {row['process']} at work since "
                    f"{format_value(row['since'])} cannot be"
                )

    def _rows(self, query: str, values: Sequence[object] = ()) -> list[sqlite3.Row]:
        with self._in_words(), self._lock:
            return self._sql.execute(query, values).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """A transaction that is written as a whole or not at all."""
        with self._in_words(), self._lock:
            self._sql.execute("BEGIN IMMEDIATE")
            try:
                yield self._sql
                self._sql.execute("COMMIT")
            except BaseException:
                if self._sql.in_transaction:
                    self._sql.execute("ROLLBACK")
                raise

    def _make(self) -> None:
        """Make the tables of a new file."""
        with self._transaction() as sql:
            if sql.execute("PRAGMA user_version").fetchone()[0] == 0:
                for statement in TABLES.split(";"):
                    sql.execute(statement)
                sql.execute(f"PRAGMA application_id = {APPLICATION}")
                sql.execute(f"PRAGMA user_version = {SCHEMA}")

    def _check(self, writes: bool) -> None:
        """Refuse what is no study, or one of a newer schema."""
        version, application = (
            self._sql.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("user_version", "application_id")
        )
        empty = self._sql.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
        if empty and not writes:
            raise StudyError(f"{self.file} is empty: no study has been begun with it yet")
        if application != APPLICATION and not empty:
            raise StudyError(
                f"{self.file} is the database of something else than a study; name another "
                f"file with --database"
            )
        if version > SCHEMA:
            raise StudyError(
                f"{self.file} has schema {version} of a newer equimargin, and this one, "
                f"{__version__}, knows schema {SCHEMA}; nothing was "
                "changed: use the newer one"
            )
        if not empty and self._definitions() != {
            _one_line(statement) for statement in TABLES.split(";") if statement.strip()
        }:
            raise StudyError(
                f"{self.file} is damaged: its tables are not those of a study, or something "
                f"else is attached to them"
            )

    def _definitions(self) -> set[str]:
        """The SQL of the tables of a study as the file has them, and of what is attached to them: a view could go on for ever."""
        rows = self._sql.execute(
            "SELECT tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL"
        ).fetchall()
        return {_one_line(str(row["sql"])) for row in rows if str(row["tbl_name"]).lower() in NAMES}

    def _drop_leases_of_the_gone(self, sql: sqlite3.Connection) -> None:
        """Drop the leases of processes that are gone, and count their deaths."""
        rows = sql.execute("SELECT id, machine, process, born, since, seen FROM holder").fetchall()
        self._check_holders(rows)
        for row in rows:
            if row["id"] != self._holder and not _lives(row):
                sql.execute(
                    "UPDATE asked SET deaths = deaths + 1 WHERE key IN (SELECT key FROM "
                    "lease WHERE holder = ?)",
                    (row["id"],),
                )
                sql.execute("DELETE FROM lease WHERE holder = ?", (row["id"],))
                sql.execute("DELETE FROM holder WHERE id = ?", (row["id"],))

    def _beat(self, over: threading.Event) -> None:
        """Show signs of life until it is over; where the disk is full, whoever writes an answer says so."""
        while not over.wait(BEAT):
            with suppress(StudyError), self._transaction() as sql:
                self._seen(sql)

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """Errors of SQLite as sentences."""
        try:
            yield
        except sqlite3.Error as error:
            raise StudyError(f"{self.file}: {_sentence(str(error))}") from None
        except UnicodeDecodeError:  # what SQLite says of a damaged schema quotes it, byte by byte
            raise StudyError(f"{self.file}: {SENTENCES['malformed']}") from None


SENTENCES = {
    "is full": "the disk is full; the answers that were written are kept: make room, and go on with "
    "--resume",
    "readonly": "it cannot be written; let it be written, or name another file with --database",
    "unable to open": "it cannot be opened or made; name a file in a folder that exists and can be written "
    "(--database)",
    "not a database": "it is no database of a study; name another file with --database",
    "malformed": "it is damaged; the answers that SQLite's command .recover saves are those before the "
    "damage",
    "disk I/O": "the disk cannot be read or written; the answers that were written are kept: mend the "
    "disk, and go on with --resume",
    "locked": f"another process has kept it locked for {PATIENCE:g} s; end that process, and go on "
    f"with --resume",
}
"""What errors of SQLite mean, by parts of their messages."""


def _sentence(error: str) -> str:
    """What an error of SQLite means, and what to do."""
    for part, sentence in SENTENCES.items():
        if part in error:
            return sentence
    return f"SQLite says {error!r}; the answers that were written are kept"


def _plain(value: Any, kind: str) -> Any:
    """A value as SQLite keeps a column of its type: a number of numpy would be kept as bytes."""
    if value is None or kind == "TEXT":
        return value
    return int(value) if kind == "INTEGER" else float(value)


def _question(asked: AnswerSpec) -> dict[str, Any]:
    """What a row says of what was asked."""
    said = {"data": name_data(asked), "epsilon": asked.epsilon, "kernel": str(asked.kernel)}
    return {name: value for name, value in asked.terms.items() if name in QUESTION} | said


def name_data(asked: AnswerSpec) -> str:
    """What the data are called: the bundled name, or that of the file."""
    return asked.data.source if asked.data.source in BUNDLED else Path(asked.data.source).name


def _one_line(sql: str) -> str:
    return " ".join(sql.split())


def _is_moment(text: str) -> bool:
    """Whether a text is a time with its time zone."""
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _now() -> str:
    """The time, in words that sort as times do."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _machine() -> str:
    """The name of this machine since it was started: a process number means something on no other."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    return f"{platform.node()} {boot.read_text().strip() if boot.exists() else ''}".strip()


def _born(process: int) -> str:
    """When a process was started, in ticks of the operating system: its number is given anew to others. Empty if it has ended."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in ENDED else fields[19]


def _lives(row: Mapping[str, Any] | sqlite3.Row) -> bool:
    """Whether a process is still there: on this machine it is looked up, on another one it has shown a sign of life."""
    if row["machine"] != _machine() or sys.platform == "win32":
        return bool(time.time() - row["seen"] < GONE)
    try:
        os.kill(row["process"], 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return bool(_born(row["process"]) == row["born"])
