"""Package: built and installed without the links, with the files of the tree."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import equimargin
from pages import FOLLOWED_AS_BUILT, FOLLOWED_WITH_A_PACKAGE
from places import HANG, ROOT

PACKAGE_DIR: dict[str, str] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
    "tool"
]["setuptools"]["package-dir"]


def run(*command: str | Path, cwd: Path, programs: Path | None = None, **more: str) -> str:
    """Return the output of a command without PYTHONPATH; its error output if it fails.

    The programs of a folder come first in PATH; `more` are variables of the environment.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= more
    if programs is not None:
        environment |= {
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONIOENCODING": "utf-8",
        }
    answer = subprocess.run(
        command,
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=HANG,
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return answer.stdout


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the files in git and the new ones, without the links."""
    return copy_tree(tmp_path_factory.mktemp("tree"))


def copy_tree(copy: Path) -> Path:
    """Copy the files in git and the new ones to a folder, without the links."""
    for name in run(
        "git",
        "-c",
        "safe.directory=*",
        "ls-files",
        "-z",
        "-c",
        "-o",
        "--exclude-standard",
        cwd=ROOT,
    ).split("\0"):
        source = ROOT / name
        if source.is_file() and not source.is_symlink():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy / name)
    assert not (copy / "src" / "equimargin" / "solvers").exists()
    return copy


@pytest.fixture(scope="module")
def wanted(tree: Path) -> dict[str, bytes]:
    """Return the content of every file of the package by its name in the wheel."""
    return {
        f"{package.replace('.', '/')}/"
        f"{path.relative_to(tree / folder).as_posix()}": path.read_bytes()
        for package, folder in PACKAGE_DIR.items()
        for path in (tree / folder).rglob("*")
        if path.suffix
        in {".py", ".cu", ".md", ".v", ".ml", ".json", ".html", ".css", ".js", ".toml"}
        or path.name in {"py.typed", "_CoqProject", "registry.txt"}
    }


@pytest.fixture(scope="module")
def built(tree: Path, wanted: dict[str, bytes]) -> Path:
    """Return the folder of the sdist and of the wheel built from it.

    `wanted` is read before the build adds files.
    """
    return build(tree)


def build(tree: Path) -> Path:
    """Build both archives of a tree at a given time, and return their folder."""
    command = (sys.executable, "-m", "build", "--no-isolation")
    run(*command, cwd=tree, SOURCE_DATE_EPOCH="1800000000")
    return tree / "dist"


@pytest.mark.slow
def test_two_clones_give_the_same_bytes(built: Path, tmp_path: Path) -> None:
    """The other clone has another name, times and modes, and is built under another mask."""
    (tmp_path / "another clone").mkdir()
    mask = os.umask(0o077)
    try:
        again = build(copy_tree(tmp_path / "another clone"))
    finally:
        os.umask(mask)
    archives = {path.name: path.read_bytes() for path in built.iterdir()}
    assert len(archives) == 2
    assert {path.name: path.read_bytes() for path in again.iterdir()} == archives


def test_the_sdist_is_the_tree(built: Path, wanted: dict[str, bytes]) -> None:
    (sdist,) = built.glob("*.tar.gz")
    found = {}
    with tarfile.open(sdist) as archive:
        for member in archive.getmembers():
            name = wheel_name(member.name.partition("/")[2])
            if name is not None and (content := archive.extractfile(member)) is not None:
                found[name] = content.read()
    assert found == wanted


def test_the_sdist_has_the_documents_of_the_root(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    documents = {path.name for path in ROOT.glob("*.md")}
    assert {"ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"} <= documents
    documents |= {"CITATION.cff", "LICENSE", "codemeta.json", "constraints.txt"}
    assert documents <= names


def describe(folder: Path, project: str) -> str:
    """Return the description of the package with another text of pyproject.toml."""
    for name in ("setup.py", "README.md", "LICENSE"):
        shutil.copyfile(ROOT / name, folder / name)
    (folder / "src").mkdir(exist_ok=True)
    (folder / "pyproject.toml").write_text(project, encoding="utf-8")
    return run(sys.executable, "setup.py", "--quiet", "--long-description", cwd=folder)


def test_links_of_the_description_have_addresses_or_are_words(tmp_path: Path) -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    links = re.findall(r"\[([^]]*)\]\(([^)]+)\)", README)
    private = re.sub(r"^\[project\.urls\]\n(?:\w+ = .*\n)*", "", project, flags=re.M)
    words = describe(tmp_path, private)
    assert [text for text, _ in links if text not in words] == []
    assert "](" not in words
    published = re.sub(r"^# (?=\[project\.urls\]|\w+ = \"https://HOST)", "", project, flags=re.M)
    folder = tomllib.loads(published)["project"]["urls"]["Changelog"].removesuffix("CHANGELOG.md")
    shown = describe(tmp_path, published)
    assert re.findall(r"\]\(([^)]+)\)", shown) == [f"{folder}{link}" for _, link in links]


def wheel_name(name: str) -> str | None:
    """Return the name in the wheel of a file of the tree; None outside the package."""
    for package, folder in PACKAGE_DIR.items():
        if name.startswith(f"{folder}/"):
            return package.replace(".", "/") + name.removeprefix(folder)
    return None


def test_the_wheel_is_the_tree(built: Path, wanted: dict[str, bytes]) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        found = {
            name: archive.read(name) for name in archive.namelist() if ".dist-info/" not in name
        }
    assert found == wanted


@pytest.fixture(scope="module")
def environment(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the programs of a fresh environment with the wheel."""
    (wheel,) = built.glob("*.whl")
    return make_environment(wheel, tmp_path_factory.mktemp("environment"))


def make_environment(wheel: Path, home: Path) -> Path:
    """Return the programs of a new environment with a wheel.

    Its dependencies are those of this environment.
    """
    run(sys.executable, "-m", "venv", "--without-pip", home, cwd=home)
    python = home / "bin" / "python"
    run(
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "--quiet",
        "--no-index",
        "--no-deps",
        wheel,
        cwd=home,
    )
    # Only now may it see the dependencies of this environment: pip would take its
    # editable install for the installed wheel.
    site = Path(
        run(
            python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=home
        ).strip()
    )
    (site / "dependencies.pth").write_text(
        "\n".join({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}) + "\n"
    )
    return home / "bin"


def test_the_wheel_works_far_from_the_tree(environment: Path, tmp_path: Path) -> None:
    python = environment / "python"
    imports = (
        "import equimargin.formulations, equimargin.solvers, equimargin.proofs; "
        "print(equimargin.proofs.__file__)"
    )
    assert Path(run(python, "-W", "error", "-c", imports, cwd=tmp_path).strip()).is_relative_to(
        environment.parent
    )
    assert equimargin.__version__ in run(python, "-m", "equimargin", "--version", cwd=tmp_path)


@pytest.mark.slow
def test_an_editable_installation_needs_no_links(tree: Path, tmp_path: Path) -> None:
    """Git for Windows checks them out as text files."""
    checkout, dist, home = (tmp_path / name for name in ("checkout", "dist", "home"))
    shutil.copytree(tree, checkout, ignore=shutil.ignore_patterns("build", "dist", "*.egg-info"))
    for floor in ("formulations", "solvers", "proofs"):
        (checkout / "src" / "equimargin" / floor).write_text(f"../../{floor}", encoding="ascii")
    dist.mkdir()
    home.mkdir()
    build = f"from setuptools import build_meta; build_meta.build_editable({str(dist)!r})"
    run(sys.executable, "-c", build, cwd=checkout)
    (wheel,) = dist.glob("*.whl")
    python = make_environment(wheel, home) / "python"
    imports = "import equimargin.proofs, equimargin.svm; print(equimargin.proofs.__file__)"
    # The second one as pytest imports it, by the folder src.
    for before in ("", f"import sys; sys.path.insert(0, {str(checkout / 'src')!r}); "):
        file = run(python, "-W", "error", "-c", before + imports, cwd=tmp_path).strip()
        assert Path(file) == checkout / "proofs" / "__init__.py"


README = (ROOT / "README.md").read_text(encoding="utf-8")
"""Text of the README."""
LINES_OF_A_SCREEN = 60
"""Maximum lines of the README; further content is linked."""


@pytest.mark.slow
@pytest.mark.parametrize("page", FOLLOWED_AS_BUILT)
def test_a_page_is_followed_far_from_the_tree(environment: Path, tmp_path: Path, page: str) -> None:
    """Its Python and its commands run, in an empty folder, with warnings as errors.

    The output is as the page says, apart from figures.
    """
    run(
        environment / "python",
        "-W",
        "error",
        ROOT / "tests" / "pages.py",
        ROOT / page,
        cwd=tmp_path,
        programs=environment,
    )
    if page.endswith("use_in_python.md"):
        verified = run(environment / "equimargin", "verify", "certificate.json", cwd=tmp_path)
        assert "svm.soft" in verified
        assert "path.svg" in {path.name for path in tmp_path.iterdir()}


def test_the_readme_is_a_page_of_one_screen_whose_links_lead_somewhere() -> None:
    assert len(README.splitlines()) <= LINES_OF_A_SCREEN
    links = re.findall(r"\]\(([^)]+)\)", README)
    assert len(links) > 10
    for link in links:
        assert (ROOT / link).exists(), link


OWN_PROBLEM = (ROOT / FOLLOWED_WITH_A_PACKAGE).read_text(encoding="utf-8")
"""Page on user-defined problems."""


def blocks(language: str) -> list[str]:
    """Return the blocks of the page in a language."""
    return re.findall(rf"^```{language}\n((?:.*\n)*?)```$", OWN_PROBLEM, re.MULTILINE)


@pytest.mark.slow
def test_the_page_on_ones_own_problem_is_followed_from_an_empty_folder(
    environment: Path, tmp_path: Path
) -> None:
    """Its files, commands and lines of Python are run in order.

    `pip install .` runs without the network, as a wheel that is built first.
    """
    module, session = blocks("python")
    (project,) = blocks("toml")
    for name, text in (
        ("trimmed.py", module),
        ("pyproject.toml", project),
        ("session.py", session),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
    commands = [line for text in blocks("sh") for line in text.splitlines()]
    there = commands.index("pip install .")
    before = [
        run("sh", "-c", line, cwd=tmp_path, programs=environment) for line in commands[:there]
    ]
    listed, drawn, _, own, _, table, dual, control, solver, *equivalence = before
    same, suggested, certified, verified = equivalence
    assert re.search(
        r"^trimmed +trimmed.primal, trimmed.dual +\[--plugin trimmed\]$", listed, re.MULTILINE
    )
    assert re.search(r"^trimmed +optimum .* AGREE$", drawn, re.MULTILINE)
    for said in (own, table):
        assert re.search(
            r"^trimmed +optimum -0.03125, all digits proven .* AGREE$", said, re.MULTILINE
        )
    assert (dual, solver) == ("trimmed.dual conforms\n", "trimmed.bisection conforms\n")
    assert re.search(
        r"forgotten_mean has the optimum -?[0-9/]+, and trimmed.primal has -?[0-9/]+, on ", control
    )
    assert same.startswith(
        "EQUAL: A = trimmed.primal, B = trimmed.dual\n  B is the Lagrangian dual of A"
    )
    assert "# trimmed.primal and trimmed.dual: the optima are equal." in suggested
    assert certified.endswith("trimmed: certificate proofs/trimmed.json\n")
    assert verified.startswith("proofs/trimmed.json: ACCEPTED")
    with installed(tmp_path, environment, "trimmed-losses"):
        listed, own = (
            run("sh", "-c", line, cwd=tmp_path, programs=environment)
            for line in commands[there + 1 :]
        )
        assert re.search(
            r"^trimmed +trimmed.primal, trimmed.dual +\[trimmed-losses 1.0\]$", listed, re.MULTILINE
        )
        assert re.search(
            r"^trimmed +optimum -0.03125, all digits proven .* AGREE$", own, re.MULTILINE
        )
        assert run(environment / "python", "session.py", cwd=tmp_path) == "-1/32 -1/32\nTrue\n"


@contextmanager
def installed(source: Path, environment: Path, name: str) -> Iterator[None]:
    """Install the package of a folder as a wheel in an environment during the context."""
    run(sys.executable, "-m", "build", "--no-isolation", "--wheel", cwd=source)
    (wheel,) = (source / "dist").glob("*.whl")
    pip = (sys.executable, "-m", "pip", "--python", environment / "python")
    run(*pip, "install", "--quiet", "--no-index", "--no-deps", wheel, cwd=source)
    try:
        yield
    finally:
        run(*pip, "uninstall", "--quiet", "--yes", name, cwd=source)


OUTSIDE = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "outside"
version = "2.5"

[project.entry-points."equimargin.plugins"]
trimmed = "outside.trimmed"
broken = "outside.broken"

[tool.setuptools]
packages = ["outside"]
"""
"""Project file of a third-party package with a working and a broken plug-in."""


@pytest.mark.slow
def test_a_package_from_outside_does_it_all_on_the_command_line(
    environment: Path, tmp_path: Path
) -> None:
    """The package is installed as a wheel.

    Its family is listed, shown, compared in two processes, judged and refuted; its
    broken module is named.
    """
    package = tmp_path / "source" / "outside"
    package.mkdir(parents=True)
    (package.parent / "pyproject.toml").write_text(OUTSIDE, encoding="utf-8")
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "trimmed.py").write_text(blocks("python")[0], encoding="utf-8")
    (package / "broken.py").write_text("import no_such_module\n", encoding="utf-8")
    python = environment / "python"
    with installed(package.parent, environment, "outside"):
        listed = run(
            "sh", "-c", "equimargin list families 2>&1", cwd=tmp_path, programs=environment
        )
        assert re.search(
            r"the plug-in broken \(outside 2.5\) is left out: ModuleNotFoundError: "
            r".*'no_such_module'",
            listed,
        )
        assert re.search(r"^trimmed .*\[outside 2.5\]$", listed, re.MULTILINE)
        plugins = run(
            "sh", "-c", "equimargin list plugins 2>/dev/null", cwd=tmp_path, programs=environment
        )
        assert re.search(
            r"^outside.broken +outside 2.5: not loaded, ModuleNotFoundError", plugins, re.MULTILINE
        )
        assert "mean (a x - t)_+" in run(
            "sh", "-c", "equimargin show trimmed.primal", cwd=tmp_path, programs=environment
        )
        compared = "equimargin compare --family trimmed --draw 7 --jobs 2"
        assert re.search(
            r"^trimmed +optimum .* AGREE$",
            run("sh", "-c", compared, cwd=tmp_path, programs=environment),
            re.MULTILINE,
        )
        (tmp_path / "mine.json").write_text(
            '{"a": [1.0, 2.5, -0.5, 4.0], "share": 0.5}', encoding="utf-8"
        )
        compared = "equimargin compare mine.json --family trimmed --jobs 2 --include-controls"
        control = run("sh", "-c", compared, cwd=tmp_path, programs=environment)
        assert "forgotten_mean (control)" in control
        refuted = run(
            python,
            "-m",
            "equimargin.testing",
            "outside.trimmed:trimmed.forgotten_mean",
            cwd=tmp_path,
        )
        assert "has the optimum" in refuted
