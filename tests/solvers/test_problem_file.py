"""Complete writing of files.

Tested are the permissions before and after, and that no source writes in another way.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from equimargin.solvers.problem_file import whole
from places import ROOT


@pytest.mark.parametrize(
    ("mode", "meanwhile"), [(0o600, 0o600), (0o640, 0o640), (0o444, 0o644), (None, 0o644)]
)
def test_whole_of_a_file_is_read_by_those_who_may_read_the_file(
    tmp_path: Path, mode: int | None, meanwhile: int
) -> None:
    file = tmp_path / "kept.json"
    before = os.umask(0o022)
    try:
        if mode is not None:
            file.write_text("old", encoding="ascii")
            file.chmod(mode)
        with whole(file) as part:
            assert part.stat().st_mode & 0o777 == meanwhile
            part.write_text("new", encoding="ascii")
    finally:
        os.umask(before)
    assert (file.read_text(encoding="ascii"), file.stat().st_mode & 0o777) == ("new", mode or 0o644)


WRITERS = {"write_text", "write_bytes", "copyfile", "copy2", "copytree", "savefig"}
"""Names of functions that write a file."""
ELSEWHERE = {
    "formulations/programs/model_file.py": "a copy for HiGHS in a temporary folder",
    "src/equimargin/atlas/writing.py": "a new folder, which takes its name when it is complete",
    "src/equimargin/cli/output/files.py": "opens for appending, to see whether it could write",
    "src/equimargin/cli/output/screen.py": "opens the device that takes nothing",
    "src/equimargin/data/sets/fetching.py": "the temporary file of pooch, which renames it",
    "src/equimargin/draw/graph.py": "draws into a part",
    "src/equimargin/draw/path_plot.py": "draws into a part",
    "src/equimargin/draw/regret_plot.py": "draws into a part",
    "proofs/foreign_packages.py": "a copy of a model in a temporary folder",
    "proofs/coq/compiled.py": "a folder of the cache",
    "proofs/coq/program.py": "a folder of the cache",
    "proofs/coq/theorem.py": "a copy for Coq in a temporary folder",
}
"""Sources that write in another way, with the reason."""


def _writes(tree: ast.AST) -> Iterator[ast.Call]:
    """Yield the calls that write a file, except those on the `part` of a `with whole(...)`."""
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        name = (
            call.func.attr
            if isinstance(call.func, ast.Attribute)
            else call.func.id
            if isinstance(call.func, ast.Name)
            else ""
        )
        on_part = (
            isinstance(call.func, ast.Attribute)
            and isinstance(call.func.value, ast.Name)
            and call.func.value.id == "part"
        )
        modes = [
            word.value
            for word in (*call.args, *(given.value for given in call.keywords))
            if isinstance(word, ast.Constant)
        ]
        opens = name == "open" and any(
            isinstance(mode, str) and set(mode) <= set("rwaxbt+") and set(mode) & set("wax")
            for mode in modes
        )
        if (opens or name in WRITERS) and not on_part:
            yield call


def test_files_of_users_are_written_whole() -> None:
    found = {
        path.relative_to(ROOT).as_posix()
        for floor in ("src", "proofs", "solvers", "formulations")
        for path in (ROOT / floor).rglob("*.py")
        for _ in _writes(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert found == set(ELSEWHERE)
