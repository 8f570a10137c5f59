"""Release: one version, the recipe of conda, and `make release` in small clones."""

from __future__ import annotations

import os
import re
import select
import subprocess
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

import equimargin
from campaigns import release
from places import HANG, ROOT

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RECIPE: dict[str, Any] = yaml.safe_load(
    (ROOT / "conda" / "recipe" / "recipe.yaml").read_text(encoding="utf-8")
)
OUTPUTS: dict[str, dict[str, Any]] = {
    output["package"]["name"]: output for output in RECIPE["outputs"]
}
CONDA_NAMES = {"cvxpy": "cvxpy-base", "dask": "dask-core", "matplotlib": "matplotlib-base"}
"""Packages that conda-forge divides, with the name of the smaller part."""


def test_the_recipe_has_the_version() -> None:
    assert RECIPE["context"]["version"] == equimargin.__version__


def test_the_changelog_begins_with_the_version_or_what_follows_it() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", changes, re.MULTILINE)
    dated = rf"\[{re.escape(equimargin.__version__)}\] - (unreleased|\d{{4}}-\d\d-\d\d)"
    assert re.fullmatch(rf"Unreleased|{dated}", headings[0])
    assert any(re.fullmatch(dated, heading) for heading in headings)


def conda_requirements(extra: str | None) -> set[str]:
    """Return the dependencies of the core or of an extra and its extras, as conda has them."""
    project = PROJECT["project"]
    names = project["optional-dependencies"][extra] if extra else project["dependencies"]
    found: set[str] = set()
    for requirement in names:
        if nested := re.fullmatch(r"equimargin\[(.*)\]", requirement):
            found.update(*(conda_requirements(name) for name in nested[1].split(",")))
        else:
            name, bound, least = requirement.lower().partition(">=")
            found.add(f"{CONDA_NAMES.get(name, name)} {bound}{least}".strip())
    return found


def run_requirements(output: str) -> set[str]:
    """Return the requirements of an output, without Python and the outputs below it."""
    requirements: list[str] = OUTPUTS[output]["requirements"]["run"]
    return {line for line in requirements if not re.match(r"python |\$\{\{ pin", line)}


def test_the_outputs_of_the_recipe_require_what_pyproject_states() -> None:
    core = run_requirements("equimargin")
    compare = run_requirements("equimargin-compare")
    assert core == conda_requirements(None)
    assert compare == conda_requirements("compare")
    assert compare | run_requirements("equimargin-all") == conda_requirements("all")


def test_the_core_of_the_recipe_constrains_the_packages_of_all_extras() -> None:
    constraints = OUTPUTS["equimargin"]["requirements"]["run_constraints"]
    assert set(constraints) == {line for line in conda_requirements("all") if ">=" in line}


def test_the_recipe_builds_as_pyproject_does() -> None:
    core, project = OUTPUTS["equimargin"], PROJECT["project"]
    (script,) = project["scripts"].items()
    assert core["build"]["python"]["entry_points"] == [" = ".join(script)]
    assert f">={RECIPE['context']['python_min']}" == project["requires-python"]
    (backend,) = PROJECT["build-system"]["requires"]
    assert backend.replace(">=", " >=") in core["requirements"]["host"]
    assert RECIPE["about"]["license"] == project["license"]
    assert [RECIPE["about"]["license_file"]] == project["license-files"]


def test_a_release_runs_targets_of_the_makefile_and_every_night() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    nights = {target for target in targets if target.startswith("nightly")}
    assert nights <= set(release.STEPS) <= targets


def test_a_release_runs_every_check_and_proof_or_says_why_not() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    groups = re.findall(r"^##@ (?:Check|Prove)\b.*\n((?:(?!##@).*\n)*)", makefile, re.MULTILINE)
    targets = re.findall(r"^([a-z-]+):.*## ", "".join(groups), re.MULTILINE)
    assert len(groups) == 2
    assert sorted(targets) == sorted({*release.STEPS} - {"docs"} | release.LEFT_OUT.keys())


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a clean clone of a version whose first steps are counted in a file."""
    (tmp_path / "CHANGELOG.md").write_text("# Changes\n\n## [1.2.0] - 2026-11-30\n")
    (tmp_path / "Makefile").write_text(
        "one two dist:\n\t@echo $@ >> build/ran\nthree:\n\t@test -e build/mended\n"
        "edit:\n\t@echo more >> CHANGELOG.md\nstray:\n\t@touch stray\n"
        "endless:\n\t@(echo; sleep 10; echo) > build/pipe\n"
    )
    (tmp_path / ".gitignore").write_text("build/\ndist/\n")
    (tmp_path / "pyproject.toml").write_text('[project]\nurls = { Source = "example.org/it" }\n')
    commit(tmp_path)
    return tmp_path


def git(folder: Path, *arguments: str) -> None:
    """Run git without the settings of the user."""
    settings = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull}
    subprocess.run(["git", *arguments], cwd=folder, env=settings, check=True, timeout=60)


def head(folder: Path) -> str:
    """Return the commit of a clone."""
    return release.run_git(folder, "rev-parse", "HEAD")


def commit(folder: Path) -> None:
    """Add all files of a folder to git, and commit them."""
    author = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, *author, "commit", "--quiet", "--message", "Change")


def test_a_clean_dated_commit_without_its_tag_can_be_released(clone: Path) -> None:
    assert release.list_obstacles(clone, "1.2.0") == []


def test_what_prevents_a_release_is_named(clone: Path) -> None:
    git(clone, "tag", "v1.2.0")
    (clone / "CHANGELOG.md").write_text("## Unreleased\n\n## [1.2.0] - 2026-11-30\n")
    (clone / "pyproject.toml").write_text("[project]\n")
    changed, tagged, undated, nowhere = release.list_obstacles(clone, "1.2.0")
    files = " M CHANGELOG.md\n M pyproject.toml"
    assert changed == f"the clone has changes, commit or remove them:\n{files}"
    assert "has no [project.urls]" in nowhere
    assert tagged.startswith("the tag v1.2.0 exists; ")
    assert undated.startswith('the first heading of CHANGELOG.md is "## Unreleased"; ')


def test_an_undated_version_gets_its_date_once(clone: Path) -> None:
    undated = "# Changes\n\n## [1.2.0] - unreleased\n\n## [1.1.0] - 2026-01-02\n"
    (clone / "CHANGELOG.md").write_text(undated)
    assert release.set_date(clone, "1.2.0", date(2026, 12, 1))
    assert not release.set_date(clone, "1.2.0", date(2026, 12, 2))
    assert (clone / "CHANGELOG.md").read_text() == undated.replace("unreleased", "2026-12-01")


def test_a_release_goes_on_at_the_step_that_failed(clone: Path) -> None:
    steps = ("one", "two", "three")
    assert release.run_steps(clone, head(clone), steps) == "three"
    assert release.run_steps(clone, head(clone), steps) == "three"
    (clone / "build" / "mended").touch()
    assert release.run_steps(clone, head(clone), steps) is None
    assert (clone / "build" / "ran").read_text() == "one\ntwo\n"
    (clone / "CHANGELOG.md").write_text("another commit\n")
    commit(clone)
    assert release.run_steps(clone, head(clone), steps) is None
    assert (clone / "build" / "ran").read_text() == "one\ntwo\n" * 2


@pytest.mark.parametrize("step", ["edit", "stray"])
def test_a_step_that_changes_the_clone_fails(
    clone: Path, step: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = head(clone)
    assert release.run_steps(clone, before, ("one", step, "two")) == step
    assert "The clone was changed meanwhile" in capsys.readouterr().out
    assert (clone / "build" / "ran").read_text() == "one\n"
    commit(clone)
    assert release.run_steps(clone, before, ("one", "two")) == "two"


@pytest.fixture
def pipe(clone: Path) -> int:
    """Return a pipe to which the step `endless` writes a line, and one more at its end."""
    (clone / "build").mkdir()
    os.mkfifo(clone / "build" / "pipe")
    return os.open(clone / "build" / "pipe", os.O_RDONLY | os.O_NONBLOCK)


def read_to_the_end(pipe: int) -> bytes:
    """Return the content of a pipe, after the end of all processes that hold it."""
    os.set_blocking(pipe, True)
    with open(pipe, "rb") as opened:
        return opened.read()


def test_a_step_over_its_limit_leaves_no_process(
    clone: Path, pipe: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(release, "STEP_SECONDS", 0.5)
    assert not release.run_make(clone, "endless")
    assert read_to_the_end(pipe) == b"\n"


def test_an_interrupted_step_leaves_no_process(
    clone: Path, pipe: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        select.select([pipe], [], [], HANG)
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess.Popen, "wait", interrupt)
    with pytest.raises(KeyboardInterrupt):
        release.run_make(clone, "endless")
    assert read_to_the_end(pipe) == b"\n"


def test_nothing_is_written_while_there_are_obstacles(
    clone: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    undated = "# Changes\n\n## [1.2.0] - unreleased\n"
    (clone / "CHANGELOG.md").write_text(undated)
    (clone / "pyproject.toml").write_text('[project]\nversion = "1.2.0"\n')
    monkeypatch.setattr(release, "ROOT", clone)
    assert release.main() == 1
    assert "the clone has changes" in capsys.readouterr().out
    assert (clone / "CHANGELOG.md").read_text() == undated


def test_the_next_steps_have_the_digests_of_the_archives(tmp_path: Path) -> None:
    (tmp_path / "dist").mkdir()
    for name in ("equimargin-1.2.0.tar.gz", "equimargin-1.2.0-py3-none-any.whl"):
        (tmp_path / "dist" / name).write_bytes(b"abc")
    abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    said = release.describe_next(tmp_path, "1.2.0", "c0ffee")
    assert f"{abc}  dist/equimargin-1.2.0-py3-none-any.whl\n" in said
    assert f"sha256: {abc}\n" in said
    assert 'git tag --annotate v1.2.0 --message "equimargin 1.2.0" c0ffee\n' in said
