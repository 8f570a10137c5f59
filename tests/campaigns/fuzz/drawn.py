"""Nearly valid file contents, from hypothesis.

Purely random bytes rarely pass the first check of a reader.
"""

from __future__ import annotations

import io
import json
import re
import sqlite3
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st

from equimargin.proofs.checker import sha256
from places import ROOT

CORPUS = ROOT / "tests" / "corpus"
"""Folder with a subfolder for each reader, of valid files and earlier failing cases."""

NUMBERS = st.one_of(
    st.integers(-3, 12).map(str),
    st.sampled_from(
        [
            "1.5",
            "-0",
            "1e308",
            "1e-320",
            "1e999",
            "nan",
            "-inf",
            "0x10",
            "1_0",
            "9" * 19,
            "9" * 400,
            "2147483648",
            "1/3",
            "1,5",
            "٣",
        ]
    ),
    st.floats(allow_nan=False).map(repr),
)
"""Valid and nearly valid numbers, as text."""
WORDS = st.one_of(
    NUMBERS,
    st.sampled_from(
        [
            "a",
            "yes",
            "NA",
            "?",
            "",
            " ",
            "é",
            '"',
            "'",
            "#",
            "# a",
            "sep=;",
            "\ufeff",
            "\x85",
            "\x0b",
        ]
    ),
    st.text(max_size=4),
)
"""Fields of a table."""
JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=6),
        st.sampled_from(
            [
                0,
                1,
                -1,
                10**400,
                2**63,
                "1/0",
                "0x1",
                "1e5",
                "inf",
                [],
                {},
                10**12,
                "SVC",
                "LinearSVC",
                "rbf",
                "linear",
                "poly",
            ]
        ),
    ),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
"""JSON values, unusual ones included."""


def _lines(line: st.SearchStrategy[str]) -> st.SearchStrategy[bytes]:
    ends = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r", "\n\n"])
    return st.tuples(st.lists(line, min_size=1, max_size=6), ends).map(
        lambda drawn: drawn[1].join(drawn[0]).encode("utf-8", "surrogatepass")
    )


def _row(separator: str) -> st.SearchStrategy[str]:
    return st.lists(WORDS, min_size=1, max_size=4).map(separator.join)


ENTRIES = st.tuples(NUMBERS, st.sampled_from([":", ":", ":", "", "::"]), NUMBERS).map("".join)
QUERIES = st.one_of(
    st.just("qid:1"), NUMBERS.map("qid:{}".format), st.sampled_from(["qidx:1", "qid", "# 1:2"])
)
SVMLIGHT = _lines(
    st.tuples(NUMBERS, st.lists(QUERIES, max_size=1), st.lists(ENTRIES, max_size=3)).map(
        lambda drawn: " ".join([drawn[0], *drawn[1], *drawn[2]])
    )
)
"""Files of svmlight."""
TABLES = st.sampled_from([",", ";", "\t", " ", "|", ", "]).flatmap(
    lambda separator: _lines(_row(separator))
)
"""Tables as text."""
SIDES = st.sampled_from(["0", "1", "2", "3", "p", "q", "r", "-1", "1.0", "nan"])
HEADS = st.sampled_from(
    [
        "preferred,other",
        "other,preferred,weight",
        "preferred,other,query,weight",
        "preferred,preferred",
        "Preferred,OTHER",
    ]
)
PAIRS = st.tuples(
    HEADS,
    st.lists(st.lists(st.one_of(SIDES, NUMBERS), min_size=2, max_size=4).map(",".join), max_size=5),
).map(lambda drawn: "\n".join([drawn[0], *drawn[1]]).encode())
"""Tables of pairs."""

DOCUMENTS = st.sampled_from(["a", "b", "FR-1", "é", "\x1c", "\x85", "a\0"]) | WORDS


def _ranked(values: int) -> st.SearchStrategy[bytes]:
    """Draw lines of a query, a word, a document and some values."""
    numbers = st.lists(NUMBERS, min_size=values, max_size=values).map(" ".join)
    return _lines(st.tuples(SIDES, st.just("Q0"), DOCUMENTS, numbers).map(" ".join))


RUNS = _ranked(3)
"""Runs of TREC."""
QRELS = _ranked(1)
"""Judgements of TREC."""

NAMES = st.sampled_from(
    [
        "X",
        "y",
        "qid",
        "weight",
        "z",
        "kind",
        "coef",
        "intercept",
        "dual_coef",
        "support",
        "about",
        "",
    ]
)
TYPES = st.sampled_from(
    [
        "<f8",
        ">f8",
        "<f4",
        "<f2",
        "<i8",
        "|i1",
        "<u8",
        "|b1",
        "<U3",
        "|S2",
        "|O",
        "<M8[s]",
        "<c16",
        "|V0",
        "<g",
        [["a", "<f8"]],
    ]
)
EXTENTS = st.one_of(st.integers(0, 4), st.sampled_from([-1, 2**31, 2**40, 2**62]))


@st.composite
def arrays(draw: st.DrawFn) -> bytes:
    """Draw an array file of NumPy: valid, or a header and unrelated bytes."""
    descr, shape, by_columns = draw(TYPES), draw(st.lists(EXTENTS, max_size=3)), draw(st.booleans())
    file = io.BytesIO()
    if draw(st.booleans()) and isinstance(descr, str) and descr != "|O":
        small = tuple(n % 5 for n in shape)
        np.save(
            file,
            np.full(small, draw(st.integers(0, 3))).astype(descr)
            if descr[1] in "fiu"
            else np.zeros(small, descr),
        )
    else:
        written = [tuple(part) for part in descr] if isinstance(descr, list) else descr
        np.lib.format.write_array_header_1_0(
            file, {"descr": written, "fortran_order": by_columns, "shape": tuple(shape)}
        )
        file.write(draw(st.binary(max_size=32)))
    return file.getvalue()


def archive(members: Sequence[tuple[str, bytes]], packed: bool = True) -> bytes:
    """Return a ZIP archive of members."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED) as out:
        for name, content in dict(members).items():
            out.writestr(f"{name}.npy", content)
    return file.getvalue()


ARCHIVES = st.builds(
    archive, st.lists(st.tuples(NAMES, arrays() | st.binary(max_size=9)), max_size=4), st.booleans()
)
"""NPZ archives."""
OBJECTS = JSON.map(lambda value: json.dumps(value).encode())
"""JSON texts."""

MODEL = {
    "keys": "kind intercept kernel gamma degree coef0 dual_coef support support_vectors coef loss "
    "fit_intercept intercept_scaling C"
    " class_weight",
    "words": "svm_type solver_type kernel_type nr_class label rho total_sv nr_feature bias SV w "
    "nr_sv gamma degree coef0 c_svc rbf linear #",
}
SVMLIGHT_MODEL = "\n".join((CORPUS / "model" / "svmlight").read_text().splitlines()[:11])
"""Header of a model of SVMlight."""
MODEL_KEYS = st.sampled_from(MODEL["keys"].split())
MODEL_WORDS = st.one_of(NUMBERS, st.sampled_from(MODEL["words"].split()), ENTRIES)
MODELS = st.one_of(
    ARCHIVES,
    st.dictionaries(MODEL_KEYS, JSON, max_size=7).map(lambda values: json.dumps(values).encode()),
    st.tuples(
        st.sampled_from(
            [
                "svm_type c_svc",
                "svm_type epsilon_svr",
                "solver_type L2R_L2LOSS_SVC",
                "solver_type L2R_L1LOSS_SVR_DUAL",
                SVMLIGHT_MODEL,
            ]
        ),
        _lines(st.lists(MODEL_WORDS, max_size=4).map(" ".join)),
    ).map(lambda drawn: drawn[0].encode() + b"\n" + drawn[1]),
)
"""Models of third-party programs."""


@cache
def seeds(reader: str) -> list[bytes]:
    """Return the files of the corpus of a reader."""
    return [file.read_bytes() for file in sorted((CORPUS / reader).iterdir())]


def _changed(value: Any, draw: st.DrawFn) -> Any:
    """Return a JSON value, changed in one place."""
    keys = (
        list(value)
        if isinstance(value, dict)
        else list(range(len(value)))
        if isinstance(value, list)
        else []
    )
    if not keys or draw(st.integers(0, 3)) == 0:
        return draw(JSON)
    key = draw(st.sampled_from(keys))
    copy = value.copy()
    if draw(st.integers(0, 7)) == 0:
        del copy[key]
    else:
        copy[key] = _changed(value[key], draw)
    return copy


def _json_of(content: bytes) -> Any:
    with suppress(ValueError, RecursionError):
        return json.loads(content)
    return {}


@st.composite
def changed_certificates(draw: st.DrawFn, reader: str) -> bytes:
    """Draw a certificate of the corpus, changed in some places."""
    value = _json_of(draw(st.sampled_from(seeds(reader))))
    for _ in range(draw(st.integers(1, 3))):
        value = _changed(value, draw)
    return json.dumps(value).encode()


CERTIFICATES = st.one_of(changed_certificates("certificate"), OBJECTS)
"""Certificates; the fuzzed readers renew their digests."""
STATED_PROGRAMS = st.one_of(changed_certificates("program"), OBJECTS)
"""Programs as certificates state them."""
POUNCE = st.one_of(changed_certificates("pounce"), OBJECTS)
"""Certificates of POUNCE."""
VIPR_KEYS = "VER VAR INT OBJ CON RTP SOL DER min max range infeas inf G L E asm lin rnd weak"
VIPR_WORDS = st.one_of(NUMBERS, st.sampled_from(f"{VIPR_KEYS} {{ }} % 1/0 .5 5. +1".split()))
"""Words of certificates of VIPR."""


@st.composite
def changed_words(draw: st.DrawFn) -> bytes:
    """Draw a certificate of VIPR of the corpus, with some words changed."""
    words = draw(st.sampled_from(seeds("vipr"))).decode().split(" ")
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(words) - 1))
        words[at : at + draw(st.integers(0, 2))] = draw(st.lists(VIPR_WORDS, max_size=2))
        words = words or [""]
    return " ".join(words).encode()


def signed(content: bytes) -> bytes:
    """Return a certificate with renewed digests, or unchanged if that is impossible."""
    try:
        document = json.loads(content)
        document["digests"] = {
            "problem": sha256(document["problem"]),
            "points": sha256([document["primal"], document["dual"]]),
        }
        return json.dumps(document).encode()
    except (ValueError, TypeError, KeyError, RecursionError):
        return content


@st.composite
def changed_archives(draw: st.DrawFn, reader: str) -> bytes:
    """Draw an archive of the corpus with arrays changed, excluded or added.

    Sometimes its text is changed.
    """
    with zipfile.ZipFile(io.BytesIO(draw(st.sampled_from(_whole_archives(reader))))) as given:
        members = {name.removesuffix(".npy"): given.read(name) for name in given.namelist()}
    for _ in range(draw(st.integers(0, 2))):
        name = draw(st.sampled_from([*members, "X_shape", "weights", "point_b"]))
        members[name] = draw(st.one_of(arrays(), _near(members.get(name, b""))))
    if draw(st.booleans()) and "about" in members:
        with suppress(ValueError, MemoryError):
            words = _changed(json.loads(str(np.load(io.BytesIO(members["about"])))), draw)
            about = io.BytesIO()
            np.save(about, np.array(json.dumps(words)))
            members["about"] = about.getvalue()
    if draw(st.integers(0, 5)) == 0:
        members.pop(draw(st.sampled_from(sorted(members))))
    return archive(list(members.items()))


def _near(content: bytes) -> st.SearchStrategy[bytes]:
    """Return a strategy of arrays of the same shape and type with other entries."""
    try:
        array = np.load(io.BytesIO(content))
    except (
        ValueError,
        EOFError,
        OSError,
        MemoryError,
    ):
        # The header of a changed array may state a size that the bytes do not have.
        return st.just(content)

    def written(drawn: bytes) -> bytes:
        flat = np.frombuffer(drawn, array.dtype).reshape(array.shape)
        file = io.BytesIO()
        np.save(file, flat)
        return file.getvalue()

    return (
        st.binary(min_size=array.nbytes, max_size=array.nbytes).map(written)
        if 0 < array.nbytes <= 64
        else st.just(content)
    )


@cache
def _whole_archives(reader: str) -> list[bytes]:
    found = []
    for content in seeds(reader):
        with suppress(Exception), zipfile.ZipFile(io.BytesIO(content)) as given:
            given.testzip()
            found.append(content)
    return found


PATHS = changed_archives("path")
"""Saved paths."""
SOLUTIONS = changed_archives("solution")
"""Saved solutions."""

COLUMNS = {
    "about": "name value",
    "asked": "key place data question deaths",
    "provenance": "id record",
    "answer": "key digest scale C family solver ok agreement value lower upper cpu_seconds status "
    "finished provenance reason",
    "holder": "id machine process born since seen",
    "lease": "key holder",
}
VALUES = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.text(max_size=5),
    st.binary(max_size=5),
    JSON.map(json.dumps),
    st.sampled_from([0, 1, -1]),
)
CHANGES = (
    "CREATE VIEW seen AS SELECT 1",
    "DROP TABLE lease",
    "CREATE TRIGGER t AFTER INSERT ON lease BEGIN DELETE FROM answer; END",
    "ALTER TABLE answer ADD COLUMN more TEXT",
    "DELETE FROM provenance",
    "PRAGMA user_version = 2",
    "PRAGMA application_id = 7",
    "DROP TABLE about",
    "CREATE VIEW about AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) "
    "SELECT x AS name, x AS value FROM n",
)
"""Changes of the tables themselves."""


@st.composite
def changed_studies(draw: st.DrawFn) -> bytes:
    """Draw the database of a study with other values in some places, or other tables."""
    with sqlite3.connect(":memory:") as sql:
        sql.deserialize((CORPUS / "study" / "three_answers").read_bytes())
        for _ in range(draw(st.integers(1, 4))):
            table = draw(st.sampled_from(sorted(COLUMNS)))
            column = draw(st.sampled_from(COLUMNS[table].split()))
            with suppress(sqlite3.Error):
                sql.execute(f"UPDATE {table} SET {column} = ?", (draw(VALUES),))
        if draw(st.integers(0, 4)) == 0:
            with suppress(sqlite3.Error):
                sql.execute("PRAGMA writable_schema = ON")
                sql.execute(draw(st.sampled_from(CHANGES)))
        sql.commit()
        content = sql.serialize()
    sql.close()
    return content


STUDIES = changed_studies()
"""Databases of studies."""

TOML_KEYS = {
    "study": "name tol time_limit plugins",
    "grid": "C seed family formulation solver",
    "data": "source task sample scale epsilon target query weight drop header sep decimal missing "
    "na",
    "kernel": "name gamma degree coef0",
}
TOML_VALUES = st.one_of(
    JSON.map(json.dumps),
    st.sampled_from(
        [
            "inf",
            "nan",
            "1979-05-27",
            "0x10",
            "1_0",
            "'iris'",
            '"rbf"',
            "[" * 2_000,
            "{a = 1}",
            "[" + "1," * 300 + "]",
            '"""',
            "-0.0",
            "+1",
        ]
    ),
)


def _toml(table: str) -> st.SearchStrategy[str]:
    head = st.sampled_from([f"[{table}]", f"[[{table}]]", f"[[{table}]]", f"[{table}.x]"])
    lines = st.lists(
        st.tuples(st.sampled_from(TOML_KEYS[table].split()), TOML_VALUES).map(" = ".join),
        max_size=4,
    )
    return st.tuples(head, lines).map(lambda drawn: "\n".join([drawn[0], *drawn[1]]))


PLANS = st.lists(st.sampled_from(sorted(TOML_KEYS)).flatmap(_toml), max_size=5).map(
    lambda parts: "\n".join(parts).encode("utf-8", "surrogatepass")
)
"""Plans of studies."""
POINTS = st.lists(
    st.one_of(
        st.just("[equimargin.plugins]"),
        st.tuples(
            st.text(max_size=4),
            st.sampled_from([" = ", "=", ""]),
            st.text(max_size=6) | st.just("a.b:c"),
        ).map("".join),
    ),
    max_size=5,
).map("\n".join)
METADATA = st.one_of(
    st.just("Metadata-Version: 2.1\nName: somebody\nVersion: 1.0\n"), st.text(max_size=20)
)
ENTRY_POINTS: st.SearchStrategy[bytes] = st.tuples(POINTS, METADATA).map(
    lambda drawn: "\0".join(drawn).encode("utf-8", "surrogatepass")
)
"""Entry points of an installed package, followed by NUL and the package's metadata."""


@st.composite
def changed_texts(draw: st.DrawFn, reader: str) -> bytes:
    """Draw a text of the corpus with words changed, or without its end."""
    words = re.split(r"(\s+)", draw(st.sampled_from(seeds(reader))).decode(errors="replace"))
    for _ in range(draw(st.integers(1, 4))):
        words[draw(st.integers(0, len(words) - 1))] = draw(st.one_of(WORDS, st.sampled_from(words)))
    end = draw(st.one_of(st.none(), st.integers(0, len(words))))
    return "".join(words[:end]).encode()


MPS, LP = changed_texts("mps"), changed_texts("lp")
ANSWERS = st.one_of(changed_texts("answer"), OBJECTS)
