"""Fetching of public data from a server of this machine, whole and broken."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from typer.testing import CliRunner

from equimargin.cli.app import app
from equimargin.data import PUBLIC, DataError, fetch, load
from equimargin.data.sets import fetching, published
from equimargin.study.database import name_data
from equimargin.study.grid import grid
from equimargin.study.plan import read_plan
from places import HANG
from public_data import SHARED, needs_data

pytest.importorskip("pooch")
RUN = CliRunner()
TABLE = b"x,y\n" + b"".join(b"%d,%d\n" % (i, i % 2) for i in range(40))
PARTS = [b"2 qid:1 1:0.5 2:1\n0 qid:1 1:0.25 2:3\n", b"1 qid:2 1:0.75 2:0\n2 qid:2 1:1 2:2\n"]
SERVED = {"pima.csv": TABLE, "mq2008/S1.txt": PARTS[0], "mq2008/S2.txt": PARTS[1]}


class Handler(BaseHTTPRequestHandler):
    """Server of SERVED; the first folder of an address names how it fails."""

    asked: ClassVar[list[str]] = []
    """Requested paths of the current test."""

    def do_GET(self) -> None:
        """Answer a request, or fail."""
        self.asked.append(self.path)
        _, way, path = self.path.split("/", 2)
        content = SERVED[path]
        if way == "absent":
            self.send_error(404)
            return
        if way == "silent":
            self.server.ended.wait(HANG)  # type: ignore[attr-defined]
            return
        if way == "moved":
            self.send_response(302)
            self.send_header("Location", f"/whole/{path}")
            self.send_header("Content-Length", str(10**9))
            self.end_headers()
            self.wfile.write(b"moved")
            self.wfile.flush()
            self.server.ended.wait(HANG)  # type: ignore[attr-defined]
            return
        if way == "slow-headers":
            self.trickle(b"HTTP/1.0 200 OK\r\nX: " + b"x" * 200 + b"\r\n\r\n" + content)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if way == "changed":
            self.wfile.write(content.swapcase().replace(b"1", b"7"))
        elif way == "whole":
            self.wfile.write(content)
        elif way == "slow":
            self.trickle(content)
        else:
            self.wfile.write(content[:20])
            self.wfile.flush()
            if way == "stalled":
                self.server.ended.wait(HANG)  # type: ignore[attr-defined]

    def trickle(self, content: bytes) -> None:
        """Send a byte at a time, for many seconds, and note when all but one are sent."""
        with suppress(OSError):
            for byte in content[:-1]:
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                if self.server.ended.wait(0.05):  # type: ignore[attr-defined]
                    return
            self.asked.append("the last byte")
            self.wfile.write(content[-1:])

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    """Yield the address of the server; its sets are the only ones, their folder is empty."""
    served: Any = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.ended = threading.Event()
    monkeypatch.setattr(Handler, "asked", [])
    threading.Thread(target=served.serve_forever, args=(0.01,), daemon=True).start()
    address = f"http://127.0.0.1:{served.server_port}"
    registry = tmp_path / "registry.txt"
    registry.write_text(
        "".join(
            f"{path} {hashlib.sha256(content).hexdigest()}"
            + (f" {address}/whole/{path}\n" if path == "pima.csv" else "\n")
            for path, content in SERVED.items()
        )
    )
    monkeypatch.setattr(published, "REGISTRY", registry)
    monkeypatch.setenv("EQUIMARGIN_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("EQUIMARGIN_MIRROR", raising=False)
    yield address
    served.ended.set()
    served.shutdown()
    served.server_close()


def files(tmp_path: Path) -> list[str]:
    """Return all files of the folder of public data."""
    folder = tmp_path / "data"
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )


def test_a_set_is_fetched_once_and_loads_by_name(server: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is not there; fetch the set by `equimargin data fetch"):
        load("pima")
    assert fetch("pima") == fetch("pima") == (tmp_path / "data" / "pima.csv",)
    assert Handler.asked == ["/whole/pima.csv"]
    assert (tmp_path / "data" / "pima.csv").read_bytes() == TABLE
    data = load("pima")
    assert (data.name, data.task, data.X.ravel().tolist()) == (
        "pima",
        "classification",
        [*range(40)],
    )


def test_parts_of_a_set_come_from_a_mirror_and_load_as_one(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EQUIMARGIN_MIRROR", f"{server}/whole/")
    result = RUN.invoke(app, ["data", "fetch", "mq2008"])
    assert result.exit_code == 0, result.output
    assert result.stdout.split() == [
        str(tmp_path / "data" / "mq2008" / f"S{i}.txt") for i in (1, 2)
    ]
    data = load("mq2008")
    assert (data.task, data.y.tolist(), data.qid.tolist()) == (  # type: ignore[union-attr]
        "ranking",
        [2, 0, 1, 2],
        [1, 1, 2, 2],
    )


@pytest.mark.parametrize(
    ("way", "reason"),
    [
        ("absent", "status 404"),
        ("cut", "the connection broke off"),
        ("changed", "its bytes are not the published ones"),
        ("silent", "nothing came for"),
        ("stalled", "nothing came for"),
    ],
)
def test_a_broken_download_leaves_nothing_and_the_next_one_goes_on(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str, reason: str
) -> None:
    monkeypatch.setattr(fetching, "MAX_SILENCE", 0.3)
    first = tmp_path / "data" / "mq2008" / "S1.txt"
    first.parent.mkdir(parents=True)
    first.write_bytes(PARTS[0])
    with pytest.raises(DataError) as refused:
        fetch("mq2008", f"{server}/{way}")
    second = first.with_name("S2.txt")
    assert str(refused.value).startswith(
        f"{server}/{way}/mq2008/S2.txt: cannot be fetched ({reason}"
    )
    assert f"put it here as {second}, or name a mirror" in str(refused.value)
    assert files(tmp_path) == ["mq2008/S1.txt"]
    assert fetch("mq2008", f"{server}/whole") == (first, second)
    assert [path.split("/")[-1] for path in Handler.asked] == ["S2.txt"] * 2


@pytest.mark.parametrize(
    ("limit", "value", "way", "reason"),
    [
        ("MAX_BYTES", 100, "whole", "it has more than 100 bytes"),
        ("MAX_SECONDS", 0.3, "slow", "more than 0.3 s"),
        ("MAX_SECONDS", 0.3, "slow-headers", "more than 0.3 s"),
    ],
)
def test_a_download_ends_at_its_limits(
    server: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    limit: str,
    value: float,
    way: str,
    reason: str,
) -> None:
    monkeypatch.setattr(fetching, limit, value)
    with pytest.raises(DataError, match=reason):
        fetch("pima", f"{server}/{way}")
    assert Handler.asked == [f"/{way}/pima.csv"]
    assert files(tmp_path) == []


def test_the_body_of_a_redirect_is_not_read(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "MAX_SILENCE", 0.3)
    (place,) = fetch("pima", f"{server}/moved")
    assert place.read_bytes() == TABLE
    assert Handler.asked == ["/moved/pima.csv", "/whole/pima.csv"]


def test_a_server_without_a_certificate_and_an_absent_proxy_are_named(
    server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with pytest.raises(DataError, match=r"cannot be fetched \(no secure connection\)"):
        fetch("pima", server.replace("http:", "https:"))
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as closed:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{closed.server_port}")
    with pytest.raises(DataError, match=r"cannot be fetched \(no connection to the proxy\)"):
        fetch("pima", "http://data.example/whole")


def test_a_fetched_file_has_the_mode_of_a_new_file(server: str, tmp_path: Path) -> None:
    (place,) = fetch("pima")
    beside = tmp_path / "beside"
    beside.touch()
    assert place.stat().st_mode == beside.stat().st_mode


def test_a_file_that_cannot_be_read_is_a_sentence(
    server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place,) = fetch("pima")
    read = Path.read_bytes

    def refuse(path: Path) -> bytes:
        if path == place:
            raise PermissionError(13, "Permission denied", str(path))
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    for use in (fetch, load):
        with pytest.raises(DataError, match=r"pima\.csv: cannot be read .*EQUIMARGIN_DATA"):
            use("pima")
    assert "equimargin data fetch pima" in RUN.invoke(app, ["list", "data"]).output


def test_the_rows_are_those_whose_digest_was_right(
    server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place,) = fetch("pima")
    read = Path.read_bytes

    def change_after(path: Path) -> bytes:
        content = read(path)
        if path == place:
            path.write_bytes(TABLE.replace(b"1", b"2"))
        return content

    monkeypatch.setattr(Path, "read_bytes", change_after)
    assert load("pima").X.ravel().tolist() == [*range(40)]


def test_an_interrupt_leaves_nothing(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> Iterator[bytes]:
        yield TABLE[:20]
        raise KeyboardInterrupt

    monkeypatch.setattr("requests.Response.iter_content", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fetch("pima")
    assert files(tmp_path) == []


@pytest.mark.slow
def test_a_killed_fetch_leaves_no_file_of_the_set(server: str, tmp_path: Path) -> None:
    """Its temporary file stays, under another name."""
    code = (
        "import sys; from pathlib import Path; from equimargin.data.sets import published as p; "
        "p.REGISTRY = Path(sys.argv[1]); from equimargin.data import fetch; "
        "fetch('mq2008', sys.argv[2])"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "registry.txt"), f"{server}/stalled"],
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + HANG
    while not Handler.asked and time.monotonic() < end:
        time.sleep(0.01)
    process.kill()
    process.wait(HANG)
    assert Handler.asked == ["/stalled/mq2008/S1.txt"]
    assert "mq2008/S1.txt" not in files(tmp_path)
    assert [path.read_bytes() for path in fetch("mq2008", f"{server}/whole")] == PARTS


def test_without_a_server_the_sentence_says_which_file_to_put_where(
    server: str, tmp_path: Path
) -> None:
    port = int(server.rpartition(":")[2])
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as closed:
        free = closed.server_port
    assert free != port
    result = RUN.invoke(app, ["data", "fetch", "pima", "--mirror", f"http://127.0.0.1:{free}"])
    assert result.exit_code == 2
    place = tmp_path / "data" / "pima.csv"
    assert (
        f"pima.csv: cannot be fetched (no connection); fetch it on another machine, and put it "
        f"here as {place}, or name a mirror (--mirror URL, EQUIMARGIN_MIRROR)" in result.output
    )
    place.write_bytes(TABLE)
    assert fetch("pima", f"http://127.0.0.1:{free}") == (place,)


def test_a_set_without_an_address_names_its_page_and_its_folder(
    server: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError) as refused:
        fetch("mq2008")
    assert str(refused.value) == (
        f"mq2008 has no address that a program can read; put S1.txt, S2.txt from "
        f"{PUBLIC['mq2008'].page} into {tmp_path / 'data' / 'mq2008'}, or name a mirror "
        f"(mirror='URL', EQUIMARGIN_MIRROR)"
    )
    assert Handler.asked == []


def test_a_changed_file_is_not_read_and_is_fetched_anew(server: str, tmp_path: Path) -> None:
    (place,) = fetch("pima")
    place.write_bytes(TABLE.replace(b"1", b"2"))
    with pytest.raises(DataError, match="has other bytes than published; fetch"):
        load("pima")
    assert "equimargin data fetch pima" in RUN.invoke(app, ["list", "data"]).output
    assert fetch("pima")[0].read_bytes() == TABLE
    assert "equimargin data fetch pima" not in RUN.invoke(app, ["list", "data"]).output


def test_a_folder_that_cannot_be_written_is_a_sentence(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EQUIMARGIN_DATA", str(tmp_path / "registry.txt" / "data"))
    with pytest.raises(DataError, match=r"pima\.csv: cannot be written .*EQUIMARGIN_DATA"):
        fetch("pima")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mq208", "there is no public data set 'mq208'; did you mean mq2008?"),
        ("zzz", "there is no public data set 'zzz'; there are esl_mixture, heart_scale, "),
    ],
)
def test_an_unknown_name_is_a_sentence(name: str, message: str) -> None:
    assert message in " ".join(RUN.invoke(app, ["data", "fetch", name]).output.split())


def test_without_pooch_the_command_is_named_and_what_is_there_loads(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch("pima")
    monkeypatch.setitem(sys.modules, "pooch", None)
    assert fetch("pima") == (tmp_path / "data" / "pima.csv",)
    assert load("pima").X.shape == (40, 1)
    with pytest.raises(ImportError, match=r"pooch is not installed: .*'equimargin\[data\]'"):
        fetch("mq2008", server)


def test_programs_are_not_rows() -> None:
    with pytest.raises(DataError, match="maros_meszaros holds programs, and no rows; read its"):
        load("maros_meszaros")


@dataclass
class Unhashable:
    """Path of a file `pima`, which no mapping can look up."""

    def __fspath__(self) -> str:
        return "pima"


def test_a_stray_file_of_that_name_is_read_only_as_a_path(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pima").write_bytes(TABLE)
    assert load(Path("pima")).X.shape == load(Unhashable()).X.shape == (40, 1)
    with pytest.raises(DataError, match="equimargin data fetch pima"):
        load("pima")


def test_the_registry_pins_every_file_of_every_set_once() -> None:
    lines = published.REGISTRY.read_text(encoding="utf-8").splitlines()
    listed = [file for name in PUBLIC for file in published.list_files(name)]
    assert len(lines) == len(listed) == len({file.path for file in listed}) == 52
    assert len(published.list_files("maros_meszaros")) == 44
    assert all(len(file.digest) == 64 and int(file.digest, 16) > 0 for file in listed)
    unreadable = {file.path.split("/")[0] for file in listed if not file.address}
    assert unreadable == {"mq2008"}
    assert all(file.address.startswith("https://") for file in listed if file.address)


def test_files_next_to_the_checkout_are_the_published_ones() -> None:
    there = [
        file
        for name in PUBLIC
        for file in published.list_files(name)
        if (SHARED / file.path).exists()
    ]
    if not there:
        pytest.skip("no public data is there")
    assert [file.path for file in there if file.read(SHARED) is None] == []


@pytest.mark.slow
@needs_data(*(f"mq2008/S{part}.txt" for part in range(1, 6)))
def test_mq2008_has_the_rows_and_queries_of_its_publisher(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EQUIMARGIN_DATA", str(SHARED))
    data = load("mq2008")
    assert data.qid is not None
    assert (data.X.shape, len(set(data.qid.tolist()))) == ((15_211, 46), 784)
    first, last = load(SHARED / "mq2008" / "S1.txt"), load(SHARED / "mq2008" / "S5.txt")
    assert np.array_equal(data.y[: len(first.y)], first.y)
    assert np.array_equal(data.X[-len(last.y) :], last.X)


def test_a_named_folder_precedes_one_next_to_the_checkout_and_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EQUIMARGIN_DATA", "~/named")
    assert published.data_folder(tmp_path) == Path("~/named").expanduser()
    monkeypatch.delenv("EQUIMARGIN_DATA")
    assert published.data_folder(tmp_path) == tmp_path
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    cache = tmp_path / "equimargin" / "data"
    assert published.data_folder(tmp_path / "absent") == published.data_folder() == cache


def test_a_folder_of_nobody_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EQUIMARGIN_DATA", "~nobody-of-this-name/data")
    for use in (fetch, load):
        with pytest.raises(DataError, match=r"no folder of public data .*; name one by EQUIM"):
            use("pima")
    assert "equimargin data fetch pima" in RUN.invoke(app, ["list", "data"]).output


def test_a_study_takes_a_fetched_set_by_name(server: str, tmp_path: Path) -> None:
    fetch("pima")
    plan = tmp_path / "plan.toml"
    plan.write_text('[[data]]\nsource = "pima"\n[grid]\nfamily = "svm.soft"\nsolver = "smo"\n')
    (asked,) = grid(read_plan(plan))
    assert (asked.data.source, name_data(asked)) == ("pima", "pima")
    assert RUN.invoke(app, ["study", str(plan)]).exit_code == 0
