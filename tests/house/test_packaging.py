"""The package builds and installs without the links, and what is built is the tree."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from places import ROOT

PACKAGE_DIR: dict[str, str] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["package-dir"]


def run(*command: str | Path, cwd: Path) -> str:
    """The output of a command that sees no PYTHONPATH; its error output if it fails."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    answer = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, encoding="utf-8")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return answer.stdout


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what git holds or would hold, without the links."""
    copy = tmp_path_factory.mktemp("tree")
    for name in run("git", "-c", "safe.directory=*", "ls-files", "-z", "-c", "-o", "--exclude-standard", cwd=ROOT).split("\0"):
        source = ROOT / name
        if source.is_file() and not source.is_symlink():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy / name)
    assert not (copy / "src" / "equimargin" / "solvers").exists()
    return copy


@pytest.fixture(scope="module")
def wanted(tree: Path) -> dict[str, bytes]:
    """The content of every file of the package by its name in the wheel."""
    return {
        f"{package.replace('.', '/')}/{path.relative_to(tree / folder).as_posix()}": path.read_bytes()
        for package, folder in PACKAGE_DIR.items()
        for path in (tree / folder).rglob("*")
        if path.suffix in {".py", ".md", ".v", ".json", ".html"} or path.name in {"py.typed", "_CoqProject"}
    }


@pytest.fixture(scope="module")
def built(tree: Path, wanted: dict[str, bytes]) -> Path:
    """The folder of the sdist, and of the wheel built from that sdist; `wanted` is read before the build adds files."""
    run(sys.executable, "-m", "build", "--no-isolation", cwd=tree)
    return tree / "dist"


def test_the_sdist_is_the_tree(built: Path, wanted: dict[str, bytes]) -> None:
    (sdist,) = built.glob("*.tar.gz")
    found = {}
    with tarfile.open(sdist) as archive:
        for member in archive.getmembers():
            name = wheel_name(member.name.partition("/")[2])
            if name is not None and (content := archive.extractfile(member)) is not None:
                found[name] = content.read()
    assert found == wanted


def wheel_name(name: str) -> str | None:
    """Where the wheel holds a file of the tree; None for a file outside the package."""
    for package, folder in PACKAGE_DIR.items():
        if name.startswith(f"{folder}/"):
            return package.replace(".", "/") + name.removeprefix(folder)
    return None


def test_the_wheel_is_the_tree(built: Path, wanted: dict[str, bytes]) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        found = {name: archive.read(name) for name in archive.namelist() if ".dist-info/" not in name}
    assert found == wanted


def test_the_wheel_works_far_from_the_tree(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    home = tmp_path / "environment"
    run(sys.executable, "-m", "venv", "--without-pip", home, cwd=tmp_path)
    python = home / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index", "--no-deps", wheel, cwd=tmp_path)
    # Only now may it see the dependencies of this environment: pip would take our own editable install for its own.
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=tmp_path).strip())
    (site / "dependencies.pth").write_text("\n".join({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}) + "\n")
    imports = "import equimargin.formulations, equimargin.solvers, equimargin.proofs; print(equimargin.proofs.__file__)"
    assert Path(run(python, "-W", "error", "-c", imports, cwd=tmp_path).strip()).is_relative_to(site)
    assert "0.1.0" in run(python, "-m", "equimargin", "--version", cwd=tmp_path)
