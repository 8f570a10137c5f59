"""Database of a study: one SQLite file, one transaction per answer, and leases.

Leases let processes share the work. An answer is synced to disk before the next one
begins. A process leases an answer before it starts it. The lease of a terminated
process is dropped, and the answer is a suspect, because it may have crashed the
process. The first row of an answer is kept; there is never a second one.
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
from equimargin.data.sets import SET_NAMES
from equimargin.formulations.numeric.arguments import format_error, format_value
from equimargin.study.answer import ANSWER
from equimargin.study.grid import AnswerSpec
from equimargin.study.summary import data_key, labels

APPLICATION = 0x65716D73
"""Application id of SQLite files of studies, "eqms" in ASCII."""
SCHEMA = 1
"""Version of the database layout; files of a later version are not changed."""
PATIENCE = 60.0
"""Time limit in seconds of waiting for a transaction, which takes milliseconds."""
BEAT = 5.0
"""Time between two heartbeats of a process that holds leases, in seconds."""
GONE = 60.0
"""Time without a heartbeat after which a remote process counts as gone, in seconds.

A dozen heartbeats are missing then.
"""
ENDED = "ZX"
"""Process states of Linux for zombie and dead processes."""
MOST_DEATHS = 5
"""Limit on the crashes at an answer, after which its row reports them."""

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
"""Columns of a row that describe the requested answer, with their types in SQL."""
SIZES = {"points": "INTEGER", "features": "INTEGER"}
"""Columns of a row that describe the size of the problem."""
COLUMNS = {**QUESTION, **SIZES, **ANSWER, "finished": "TEXT", "provenance": "TEXT"}
"""Columns of an answer, except its key."""

TABLES = f"""
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE asked (key TEXT PRIMARY KEY, place INTEGER NOT NULL, data TEXT,
    question TEXT NOT NULL, deaths INTEGER NOT NULL DEFAULT 0);
CREATE TABLE provenance (id TEXT PRIMARY KEY, record TEXT NOT NULL);
CREATE TABLE answer (key TEXT PRIMARY KEY REFERENCES asked,
    {", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())},
    FOREIGN KEY (provenance) REFERENCES provenance);
CREATE TABLE holder (id INTEGER PRIMARY KEY, machine TEXT NOT NULL,
    process INTEGER NOT NULL, born TEXT NOT NULL, since TEXT NOT NULL, seen REAL NOT NULL);
CREATE TABLE lease (key TEXT PRIMARY KEY REFERENCES asked,
    holder INTEGER NOT NULL REFERENCES holder);
"""
"""SQL definitions of the tables of schema 1."""

NAMES = tuple(re.findall(r"CREATE TABLE (\w+)", TABLES))
"""Names of the tables."""
IN_PYTHON: Mapping[str, type] = {"TEXT": str, "INTEGER": int, "REAL": float}
"""Python types of SQLite's types."""
MAY_BE_MISSING = (
    *("sample", "seed", "epsilon", "formulation", "points", "features", "iterations", "reason"),
    *("value", "claim", "off", "accuracy", "lower", "upper", "relative_width"),
    *("compile_seconds", "solve_seconds", "cpu_seconds"),
)
"""Columns of an answer that may be NULL."""
LARGEST_PROCESS = 2**31
"""Exclusive upper bound of process numbers."""


class StudyError(OSError):
    """A database cannot be read or written: the file, the reason, and what to do."""


class Database:
    """Open database of a study.

    Parameters
    ----------
    file : str or Path
        Path of the database.
    writes : bool, default False
        True opens the file for writing, and creates it if there is none.
    """

    def __init__(self, file: str | Path, writes: bool = False) -> None:
        """Open a file, and create it if it is to be written.

        Raises
        ------
        StudyError
            If the file cannot be opened, is not a study, or has a newer schema.
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
        """Return True if no transaction is pending in the log.

        SQLite then needs no further files, which a read-only folder would not allow.
        """
        return not self._log.exists()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._sql.close()
            if not self._writes:
                self._take_away_an_empty_log()

    def _take_away_an_empty_log(self) -> None:
        """Remove the empty log that reading leaves in the folder.

        SQLite creates the log, and only a connection that may write removes it, if
        there is no other connection. A log that is not empty, of a running or a killed
        process, is kept.
        """
        # The log stays if the folder cannot be written.
        with suppress(OSError, sqlite3.Error):
            if self._log.stat().st_size == 0:
                self._connect("mode=rw")
                self._check(writes=False)
                self._sql.close()

    def enter(self, name: str, plan: str, asked: Sequence[AnswerSpec]) -> None:
        """Enter the answers that a plan requests.

        Existing answers that the plan no longer requests are kept; requests that it no
        longer has are deleted.

        Parameters
        ----------
        name : str
            Name of the study.
        plan : str
            Text of the plan.
        asked : sequence of AnswerSpec
            Requested answers.
        """
        keys = [spec.key for spec in asked]
        self._plugins = {plugin for spec in asked for plugin in spec.plugins}
        with self._transaction() as sql:
            self._drop_leases_of_the_gone(sql)
            for field, value in (("name", name), ("plan", plan), ("equimargin", __version__)):
                sql.execute(
                    "INSERT INTO about VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value "
                    "= excluded.value",
                    (field, value),
                )
            sql.execute("CREATE TEMP TABLE wanted (key TEXT PRIMARY KEY)")
            sql.executemany("INSERT INTO wanted VALUES (?)", [(key,) for key in keys])
            sql.executemany(
                "INSERT INTO asked (key, place, data, question) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (key) DO UPDATE SET place = excluded.place, data = "
                "excluded.data, question = excluded.question",
                [
                    (key, place, name_data(spec), spec.to_json())
                    for place, (key, spec) in enumerate(zip(keys, asked, strict=True))
                ],
            )
            sql.execute(
                "DELETE FROM asked WHERE key NOT IN (SELECT key FROM wanted) "
                "AND key NOT IN (SELECT key FROM answer) AND key NOT IN (SELECT key FROM lease)"
            )
            sql.execute("DROP TABLE wanted")
            self._name_data(sql)

    def fill(
        self,
        about: Mapping[str, str],
        requests: Sequence[Mapping[str, Any]],
        answers: Sequence[Mapping[str, Any]],
        provenances: Mapping[str, Mapping[str, Any]],
    ) -> None:
        """Write what other databases have into a new one, in one transaction.

        Parameters
        ----------
        about : mapping of str to str
            Name and plan of the study.
        requests : sequence of mapping
            Requested answers, in order, as `requests` returns them.
        answers : sequence of mapping
            Answers, as `answers` returns them.
        provenances : mapping of str to mapping
            Provenances, as `provenances` returns them.
        """
        names = ("key", *COLUMNS)
        with self._transaction() as sql:
            sql.executemany("INSERT INTO about VALUES (?, ?)", about.items())
            sql.executemany(
                "INSERT INTO asked VALUES (:key, :place, :data, :question, :deaths)",
                [{**row, "place": place} for place, row in enumerate(requests)],
            )
            sql.executemany(
                "INSERT INTO provenance VALUES (?, ?)",
                [(id, json.dumps(record, sort_keys=True)) for id, record in provenances.items()],
            )
            sql.executemany(
                f"INSERT INTO answer ({', '.join(names)}) VALUES (:{', :'.join(names)})", answers
            )
            self._name_data(sql)

    def _name_data(self, sql: sqlite3.Connection) -> None:
        """Give the data of all requests names that tell them apart."""
        terms_by_key = [
            (row["key"], data_key(_question(self._read(row))))
            for row in sql.execute("SELECT * FROM asked")
        ]
        called = labels(terms for _, terms in terms_by_key)
        sql.executemany(
            "UPDATE asked SET data = ? WHERE key = ?",
            [(called[terms], key) for key, terms in terms_by_key],
        )

    def ask_again(self, memory: int | None) -> None:
        """Delete unsolved answers that had less memory than there is now.

        Answers that exceeded their time limit are kept.

        Parameters
        ----------
        memory : int or None
            Memory limit of an answer, in bytes; None is unlimited.
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
        """Hold leases in a context, with heartbeats; give remaining leases back."""
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
            # A heartbeat may wait for the file, for at most PATIENCE.
            beat.join(2 * PATIENCE)
            # On a full disk the lease stays, and is dropped when this process is gone.
            with suppress(StudyError):
                self.give_back(died=False)
                with self._transaction() as sql:
                    sql.execute("DELETE FROM holder WHERE id = ?", (self._holder,))
            self._holder = None

    def _seen(self, sql: sqlite3.Connection) -> None:
        """Record a heartbeat of this process.

        The process is entered again if others dropped it, because it slept or clocks
        differ.
        """
        values = (self._holder, _machine(), os.getpid(), _born(os.getpid()), _now(), time.time())
        statement = (
            "INSERT INTO holder VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET seen = "
            "excluded.seen"
        )
        entered = sql.execute(statement, values)
        if self._holder is None:
            self._holder = entered.lastrowid

    def lease(self, suspect: bool = False) -> AnswerSpec | None:
        """Lease the next answer that has no row and no lease; None if there is none.

        Parameters
        ----------
        suspect : bool
            True for answers at which a process crashed; those with the fewest crashes
            come first.

        Returns
        -------
        AnswerSpec or None
            Leased answer.
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
        """Return the requested answer of a row; raise if the plan lacks its plug-ins.

        Plug-ins are executed, so those of an unknown file must not be loaded.
        """
        asked = self._read(row)
        unknown = set(asked.plugins) - self._plugins
        if unknown:
            raise StudyError(
                f"{self.file} requests the plug-in {min(unknown)}, not named in the plan: "
                f"use another file (--database)"
            )
        return asked

    def _read(self, row: sqlite3.Row) -> AnswerSpec:
        """Return the requested answer of a row as stored."""
        try:
            asked = AnswerSpec.from_json(row["question"])
            # The hash fails if a value is of a wrong type.
            hash((data_key(_question(asked)), asked.plugins, asked.key))
            return asked
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as reason:
            raise StudyError(
                f"{self.file} is damaged: the request of an answer cannot be read "
                f"({format_error(reason)})"
            ) from None

    def write(self, asked: AnswerSpec, found: Mapping[str, Any]) -> bool:
        """Write the row of an answer and end its lease, in one transaction.

        Parameters
        ----------
        asked : AnswerSpec
            Requested answer.
        found : mapping
            Values of the row, with "provenance".

        Returns
        -------
        bool
            True if it is the first row of the answer.
        """
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
        """End the leases of this process, or the lease of one answer, without a row.

        Parameters
        ----------
        died : bool
            True if the process of the answers crashed.
        asked : AnswerSpec or None
            Answer whose lease is ended; None ends all leases of this process.
        """
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
        """Return the answers without a row at which MOST_DEATHS processes crashed.

        Returns
        -------
        list of tuple of AnswerSpec and int
            Answers with their numbers of crashes.
        """
        query = (
            "SELECT key, question, deaths FROM asked WHERE deaths >= ? AND key NOT IN (SELECT "
            "key FROM answer)"
        )
        rows = self._rows(query, (MOST_DEATHS,))
        return [(self._asked(row), row["deaths"]) for row in rows]

    def counts(self) -> list[dict[str, Any]]:
        """Return the numbers of answers per data set, in the order of the plan.

        They are: requested, answered, leased, solved, failed and skipped.
        """
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
        """Return the number of answers written since a moment.

        Parameters
        ----------
        moment : str
            Time in the format of the column "finished".

        Returns
        -------
        int
            Number of answers.
        """
        return int(self._rows("SELECT count(*) FROM answer WHERE finished >= ?", (moment,))[0][0])

    def holders(self) -> list[dict[str, Any]]:
        """Return the running processes, with the numbers of their leases."""
        rows = self._rows(
            "SELECT machine, process, born, since, seen, count(lease.key) AS leased "
            "FROM holder LEFT JOIN lease ON lease.holder = holder.id GROUP BY holder.id"
        )
        self._check_holders(rows)
        return [dict(row) for row in rows if _lives(row)]

    def answers(self) -> list[dict[str, Any]]:
        """Return all answers in the order of the plan, by column name."""
        names = ", ".join(f"answer.{name}" for name in ("key", *COLUMNS))
        rows = self._rows(
            f"SELECT {names} FROM answer JOIN asked USING (key) ORDER BY place, answer.key"
        )
        self._check_kinds(
            rows, {name: IN_PYTHON[kind] for name, kind in COLUMNS.items()}, MAY_BE_MISSING
        )
        if any(row["ok"] and row["cpu_seconds"] is None for row in rows):
            raise StudyError(f"{self.file} is damaged: a successful answer has no CPU time")
        return [dict(row) for row in rows]

    def requests(self) -> list[dict[str, Any]]:
        """Return the requested answers in the order of the plan, with their crashes."""
        rows = self._rows("SELECT key, data, question, deaths FROM asked ORDER BY place, key")
        self._check_kinds(rows, {"key": str, "data": str, "question": str, "deaths": int})
        for row in rows:
            self._read(row)
        return [dict(row) for row in rows]

    def provenances(self) -> dict[str, dict[str, Any]]:
        """Return the records of versions and machines, by provenance id."""
        records = {}
        for row in self._rows("SELECT id, record FROM provenance"):
            try:
                records[row["id"]] = dict(json.loads(row["record"]))
            except (ValueError, TypeError, RecursionError):
                raise StudyError(
                    f"{self.file} is damaged: the provenance {row['id']!r} is no JSON object"
                ) from None
        return records

    def about(self) -> dict[str, str]:
        """Return the name of the study, the text of its plan, and equimargin's version.

        The version is that which planned the study.
        """
        rows = self._rows("SELECT name, value FROM about")
        self._check_kinds(rows, {"name": str, "value": str})
        return {row["name"]: row["value"] for row in rows}

    def _check_kinds(
        self,
        rows: Sequence[sqlite3.Row],
        kinds: Mapping[str, type],
        may_be_missing: Sequence[str] = (),
    ) -> None:
        """Raise if a value is not of its column's type: SQLite stores any value."""
        for row in rows:
            for name, kind in kinds.items():
                value = row[name]
                if not (isinstance(value, kind) or (value is None and name in may_be_missing)):
                    raise StudyError(
                        f"{self.file} is damaged: {name} of a row is {format_value(value)}"
                    )

    def _check_holders(self, rows: Sequence[sqlite3.Row]) -> None:
        """Raise if a row cannot describe a process."""
        self._check_kinds(
            rows, {"machine": str, "process": int, "born": str, "since": str, "seen": float}
        )
        for row in rows:
            if not (0 < row["process"] < LARGEST_PROCESS and _is_moment(row["since"])):
                raise StudyError(
                    f"{self.file} is damaged: there cannot be a process {row['process']} running "
                    f"since {format_value(row['since'])}"
                )

    def _rows(self, query: str, values: Sequence[object] = ()) -> list[sqlite3.Row]:
        with self._in_words(), self._lock:
            return self._sql.execute(query, values).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Run a transaction that is committed as a whole or rolled back."""
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
        """Create the tables of a new file."""
        with self._transaction() as sql:
            if sql.execute("PRAGMA user_version").fetchone()[0] == 0:
                for statement in TABLES.split(";"):
                    sql.execute(statement)
                sql.execute(f"PRAGMA application_id = {APPLICATION}")
                sql.execute(f"PRAGMA user_version = {SCHEMA}")

    def _check(self, writes: bool) -> None:
        """Raise if the file is not a study, or has a newer schema."""
        version, application = (
            self._sql.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("user_version", "application_id")
        )
        empty = self._sql.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
        if empty and not writes:
            raise StudyError(f"{self.file} is empty: no study has been begun with it yet")
        if application != APPLICATION and not empty:
            raise StudyError(
                f"{self.file} is not the database of a study; name another file with --database"
            )
        if version > SCHEMA:
            raise StudyError(
                f"{self.file} has schema {version} of a newer equimargin, and this one, "
                f"{__version__}, knows schema {SCHEMA}; nothing was "
                "changed: use the newer one"
            )
        # A changed definition or an attached trigger could execute foreign SQL.
        if not empty and self._definitions() != {
            _one_line(statement) for statement in TABLES.split(";") if statement.strip()
        }:
            raise StudyError(
                f"{self.file} is damaged: its tables are not those of a study, or something "
                f"else is attached to them"
            )

    def _definitions(self) -> set[str]:
        """Return the SQL of the tables of a study and of attached views and triggers.

        A view could run indefinitely.
        """
        rows = self._sql.execute(
            "SELECT tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL"
        ).fetchall()
        return {_one_line(str(row["sql"])) for row in rows if str(row["tbl_name"]).lower() in NAMES}

    def _drop_leases_of_the_gone(self, sql: sqlite3.Connection) -> None:
        """Drop the leases of processes that are gone, and count the crashes."""
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
        """Record heartbeats until the event is set.

        Errors are ignored, as on a full disk: writing an answer reports them.
        """
        while not over.wait(BEAT):
            with suppress(StudyError), self._transaction() as sql:
                self._seen(sql)

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """Translate errors of SQLite into a `StudyError`."""
        try:
            yield
        except sqlite3.Error as error:
            raise StudyError(f"{self.file}: {_sentence(str(error))}") from None
        # SQLite's message on a damaged schema quotes the schema's bytes.
        except UnicodeDecodeError:
            raise StudyError(f"{self.file}: {SENTENCES['malformed']}") from None


SENTENCES = {
    "is full": "the disk is full; the answers that were written are kept: make room, and go "
    "on with --resume",
    "readonly": "it cannot be written; make it writable, or name another file with --database",
    "unable to open": "it cannot be opened or created; name a file in a folder that exists and "
    "can be written (--database)",
    "not a database": "it is no database of a study; name another file with --database",
    "malformed": "it is damaged; SQLite's command .recover saves the answers from before the "
    "damage",
    "disk I/O": "the disk cannot be read or written; the answers that were written are kept: "
    "mend the disk, and go on with --resume",
    "locked": f"another process has kept it locked for {PATIENCE:g} s; end that process, and "
    f"go on with --resume",
}
"""Explanations of SQLite's errors, by part of the message."""


def _sentence(error: str) -> str:
    """Return the meaning of an error of SQLite, and what to do."""
    for part, sentence in SENTENCES.items():
        if part in error:
            return sentence
    return f"SQLite says {error!r}; the answers that were written are kept"


def _plain(value: Any, kind: str) -> Any:
    """Convert a value to its column's type; SQLite stores numpy numbers as bytes."""
    if value is None or kind == "TEXT":
        return value
    return int(value) if kind == "INTEGER" else float(value)


def _question(asked: AnswerSpec) -> dict[str, Any]:
    """Return the columns of a row that describe the requested answer."""
    extra = {"data": name_data(asked), "epsilon": asked.epsilon, "kernel": str(asked.kernel)}
    return {name: value for name, value in asked.terms.items() if name in QUESTION} | extra


def name_data(asked: AnswerSpec) -> str:
    """Return the name of the data: the bundled name, or that of the file.

    Parameters
    ----------
    asked : AnswerSpec
        Requested answer.
    """
    return asked.data.source if asked.data.source in SET_NAMES else Path(asked.data.source).name


def _one_line(sql: str) -> str:
    return " ".join(sql.split())


def _is_moment(text: str) -> bool:
    """Return True if a text is a time with a time zone."""
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _now() -> str:
    """Return the time as text that sorts chronologically."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _machine() -> str:
    """Return the name and boot id of this machine.

    Process numbers are meaningful only on one machine since its last boot.
    """
    boot = Path("/proc/sys/kernel/random/boot_id")
    start = boot.read_text(encoding="ascii") if boot.exists() else ""
    return f"{platform.node()} {start}".strip()


def _born(process: int) -> str:
    """Return the start time of a process in clock ticks; empty if it has ended.

    It distinguishes processes that get the same number one after the other.
    """
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    fields = text.rpartition(")")[2].split()
    return "" if fields[0] in ENDED else fields[19]


def _lives(row: Mapping[str, Any] | sqlite3.Row) -> bool:
    """Return True if a process is running.

    A local process is looked up; a remote one must have sent a heartbeat.
    """
    if row["machine"] != _machine() or sys.platform == "win32":
        return bool(time.time() - row["seen"] < GONE)
    try:
        os.kill(row["process"], 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return bool(_born(row["process"]) == row["born"])
