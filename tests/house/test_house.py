"""Design rules: guards, package list, light imports, one `compare`, no machine paths."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import grimp
import pytest

from places import HANG, ROOT

FLOORS = ("formulations", "solvers", "proofs")
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RESERVED = re.compile(r'(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?|.*[\x00-\x1f<>:"\\|?*].*|.*[. ]')
"""Names that no file of Windows has."""
LONGEST_PATH = 160
"""Characters of a path in git: Windows opens 259, with the folder of the checkout."""


def run_python(code: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run a fresh interpreter with the package behind the links, installed or not."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-W", "error", "-c", code]
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=HANG
    )


def tracked_files() -> list[Path]:
    """Return the files in git and the new ones that are not ignored."""
    command = [
        "git",
        "-c",
        "safe.directory=*",
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]
    names = subprocess.run(
        command, cwd=ROOT, check=True, capture_output=True, text=True, timeout=HANG
    ).stdout.split("\0")
    return [
        path for name in names if name and (path := ROOT / name).is_file() and not path.is_symlink()
    ]


@pytest.mark.parametrize("floor", FLOORS)
def test_a_floor_has_one_import_name(floor: str) -> None:
    answer = run_python(f"import {floor}")
    assert answer.returncode == 1
    assert answer.stderr.splitlines()[-1] == f"ImportError: use: from equimargin.{floor} import ..."


def test_the_found_packages_are_those_of_the_tree() -> None:
    folders = PYPROJECT["tool"]["setuptools"]["package-dir"]
    assert folders == {"equimargin": "src/equimargin"} | {
        f"equimargin.{floor}": floor for floor in FLOORS
    }
    in_git = {
        path.parent.relative_to(ROOT).as_posix()
        for path in tracked_files()
        if path.name == "__init__.py"
    }
    rooms = {
        folder.removeprefix("src/equimargin").strip("/")
        for folder in in_git
        if folder.split("/")[0] in {"src", *FLOORS}
    }
    names = {".".join(["equimargin", *room.split("/")]).strip(".") for room in rooms}
    found = subprocess.run(
        [
            sys.executable,
            "-c",
            "import setuptools; setuptools.setup = lambda packages, **_: print(*packages); "
            "exec(open('setup.py').read())",
        ],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
        timeout=HANG,
    )
    assert sorted(found.stdout.split()) == sorted(names)


def test_a_floor_imports_no_room_above_it() -> None:
    graph = grimp.build_graph("equimargin", cache_dir=None)
    for at, floor in enumerate(FLOORS):
        below = {f"equimargin.{name}" for name in FLOORS[: at + 1]}
        for module in graph.find_descendants(f"equimargin.{floor}"):
            imported = graph.find_modules_directly_imported_by(module)
            assert {".".join(name.split(".")[:2]) for name in imported} <= below, module


@pytest.mark.parametrize("floor", FLOORS)
def test_the_links_are_relative(floor: str) -> None:
    link = ROOT / "src" / "equimargin" / floor
    assert link.readlink() == Path("..", "..", floor)


@pytest.mark.parametrize("floor", ["formulations", "solvers"])
def test_the_lower_floors_load_without_what_is_heavy(floor: str) -> None:
    heavy = {"cvxpy", "flint", "highspy", "scipy.sparse", "sklearn"}
    answer = run_python(
        f"import sys, equimargin.{floor}; print(sorted({heavy} & set(sys.modules)))"
    )
    assert (answer.stdout, answer.stderr) == ("[]\n", "")


def test_a_comparison_loads_only_what_it_needs_of_proofs() -> None:
    answer = run_python(
        "import sys, equimargin.own.plugins, equimargin.comparison\n"
        "heavy = {'cvxpy', 'flint', 'scipy.sparse', 'scipy.special'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    assert (answer.stdout, answer.stderr) == ("[]\n", "")


def test_the_packages_of_proofs_are_names_of_it() -> None:
    found = run_python(
        "import equimargin.proofs as p\n"
        "print(p.all_optima.__name__, p.certificates.__name__, p.rankings.__name__)"
    )
    assert found.stdout.split() == [
        f"equimargin.proofs.{name}" for name in ("all_optima", "certificates", "rankings")
    ], found.stderr


def test_the_door_itself_loads_nothing() -> None:
    answer = run_python(
        "import sys, equimargin; print(sorted({'numpy', 'numba', 'cvxpy', 'sklearn', "
        "'typer'} & set(sys.modules)))"
    )
    assert (answer.stdout, answer.stderr) == ("[]\n", "")


@pytest.mark.slow
@pytest.mark.parametrize(
    "imports",
    [
        "from equimargin import compare",
        "from equimargin.comparison import compare",
        "import equimargin.comparison; from equimargin import compare",
        "from equimargin.comparison import compare as first; from equimargin import "
        "compare; assert compare is first",
        "from equimargin import compare as first; from equimargin.comparison import "
        "compare; assert compare is first",
    ],
)
def test_compare_is_the_function_in_every_import_order(imports: str) -> None:
    answer = run_python(
        f"{imports}; import types; assert isinstance(compare, types.FunctionType), compare"
    )
    assert (answer.returncode, answer.stderr) == (0, "")


def test_the_constraints_are_plain_pins_of_every_dependency() -> None:
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert [pin for pin in pins if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.]+", pin)] == []
    extras = PYPROJECT["project"]["optional-dependencies"]
    of_extras = extras["compare"] + extras["test"] + extras["docs"]
    wanted = {re.split("[<>=[]", name)[0] for name in of_extras} - {"equimargin"}
    wanted |= {name.split(">=")[0] for name in PYPROJECT["project"]["dependencies"]}
    assert wanted <= {pin.split("==")[0] for pin in pins}


def test_no_file_names_a_machine_or_a_registry() -> None:
    homes = re.compile(r"(?<![\w.$}<-])/(?:home|Users|root|work|usr/local)/\w")
    registries = re.compile(
        r"(?:pypi|pythonhosted|anaconda|conda-forge|npmjs|crates)\.(?:org|com|io)\b"
    )
    found = []
    for path in tracked_files():
        text = path.read_bytes().decode("utf-8", errors="replace")
        found += [
            f"{path.relative_to(ROOT)}: {hit[0]}"
            for pattern in (homes, registries)
            for hit in pattern.finditer(text)
        ]
    assert found == []


def test_every_system_can_check_the_files_out() -> None:
    names = [path.relative_to(ROOT).as_posix() for path in tracked_files()]
    assert [name for name in names if any(map(RESERVED.fullmatch, name.split("/")))] == []
    assert len({name.casefold() for name in names}) == len(names)
    assert max(map(len, names)) <= LONGEST_PATH
    # Hashes and tests of readers depend on the bytes.
    assert "* -text" in (ROOT / ".gitattributes").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("name", ["aux.py", "Con", "a:b", "what?.md", "end.", "end "])
def test_names_that_windows_refuses_are_found(name: str) -> None:
    assert RESERVED.fullmatch(name)
