"""Release of a version: its checks, its archives, and the steps that remain.

    python -m campaigns.release

Run it in a clean clone of the commit to be released; `make release` does. It first asks
whether the commit can be released, then runs `STEPS`, targets of the Makefile, and
prints the commands that tag and upload. It neither tags nor uploads. A step fails if the
clone is changed meanwhile. One that has succeeded at this commit is not repeated, so
that a release which was interrupted goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import os
import re
import signal
import subprocess
import sys
import tomllib
from datetime import UTC, date, datetime
from pathlib import Path

from places import ROOT

STEPS = (
    "lint",
    "docs",
    "proofs",
    "check-all",
    "check-newest",
    "check-oldest",
    "check-claims",
    "mutants",
    "misprints",
    "faults",
    "proof-mutants",
    "mutated-certificates",
    "two-checkers",
    "third-party",
    "killed-studies",
    "nightly",
    "nightly-bounds",
    "nightly-path",
    "nightly-map",
    "nightly-exact",
    "nightly-programs",
    "nightly-families",
    "nightly-degenerate",
    "nightly-stability",
    "nightly-equivalence",
    "nightly-explain",
)
"""Targets of the Makefile that a version passes before its archives are built, in order."""
LEFT_OUT = {
    "check": "check-all runs its tests, too",
    "check-device": "it needs a graphics card",
    "mutation": "it draws a sample, in which a mutant without consequence may survive",
    "fuzz": "it needs Atheris, which not every machine can install",
    "verified-checker": "two-checkers builds it",
    "three-checkers": "two-checkers does as much without Coq, which is slow",
    "proved-data": "it takes hours of Coq and 3 GB of memory",
    "test-set": "it writes files, and gives no verdict",
}
"""Other targets of the groups Check and Prove, with the reasons why a release omits them."""
STEP_SECONDS = 12 * 3600
"""Time limit of a step, in seconds of wall time; all steps together take a night."""


def run_git(root: Path, *arguments: str) -> str:
    """Return the output of git in a folder."""
    return subprocess.run(
        ["git", *arguments], cwd=root, check=True, capture_output=True, text=True, timeout=60
    ).stdout.rstrip()


def read_version(root: Path) -> str:
    """Return the version in pyproject.toml."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version: str = project["version"]
    return version


def set_date(root: Path, version: str, today: date) -> bool:
    """Write the date of an undated version to CHANGELOG.md; return True if the file changed."""
    path = root / "CHANGELOG.md"
    text = path.read_text(encoding="utf-8")
    dated = text.replace(f"## [{version}] - unreleased\n", f"## [{version}] - {today}\n")
    path.write_text(dated, encoding="utf-8")
    return dated != text


def list_obstacles(root: Path, version: str) -> list[str]:
    """Return what prevents a release of the commit, one sentence each.

    Parameters
    ----------
    root : Path
        Folder of the clone.
    version : str
        Version to be released.
    """
    obstacles = []
    if changed := run_git(root, "status", "--porcelain"):
        obstacles.append(f"the clone has changes, commit or remove them:\n{changed}")
    if run_git(root, "tag", "--list", f"v{version}"):
        obstacles.append(
            f"the tag v{version} exists; set the next version in pyproject.toml and the files "
            "that tests/house/test_release.py compares with it"
        )
    headings = re.findall(
        r"^## .*$", (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    dated = rf"## \[{re.escape(version)}\] - (unreleased|\d{{4}}-\d\d-\d\d)"
    if not re.fullmatch(dated, headings[0]):
        obstacles.append(
            f'the first heading of CHANGELOG.md is "{headings[0]}"; make it '
            f'"## [{version}] - unreleased", and make release sets the date'
        )
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    if "HOST/OWNER" in str(project.get("urls", "HOST/OWNER")):
        obstacles.append("pyproject.toml has no [project.urls]; write the project's address there")
    return obstacles


def run_make(root: Path, target: str) -> bool:
    """Return True if a target of the Makefile succeeds in time; leave no process of it."""
    command = ["make", "--no-print-directory", target]
    with subprocess.Popen(command, cwd=root, start_new_session=True) as make:
        try:
            return make.wait(STEP_SECONDS) == 0
        except subprocess.TimeoutExpired:
            print(f"make {target} took more than {STEP_SECONDS} s.")
            return False
        finally:
            if make.returncode is None:
                os.killpg(make.pid, signal.SIGKILL)


def run_step(root: Path, target: str, commit: str) -> bool:
    """Return True if a target succeeds, and the clone is then the unchanged commit."""
    if not run_make(root, target):
        return False
    now, changes = run_git(root, "rev-parse", "HEAD"), run_git(root, "status", "--porcelain")
    if now == commit and not changes:
        return True
    print(f"The clone was changed meanwhile: it was commit {commit}, and is {now}\n{changes}")
    return False


def run_steps(root: Path, commit: str, steps: tuple[str, ...] = STEPS) -> str | None:
    """Run targets of the Makefile, except those that have succeeded at this commit.

    Parameters
    ----------
    root : Path
        Folder of the clone.
    commit : str
        Its commit.
    steps : tuple of str
        Targets.

    Returns
    -------
    str or None
        The first target that fails; None if all have succeeded.
    """
    passed = root / "build" / "release" / commit
    passed.mkdir(parents=True, exist_ok=True)
    for number, step in enumerate(steps, start=1):
        if (passed / step).exists():
            continue
        print(f"== {number} of {len(steps)}: make {step}", flush=True)
        if not run_step(root, step, commit):
            return step
        (passed / step).touch()
    return None


def describe_next(root: Path, version: str, commit: str) -> str:
    """Return the archives with their digests, and the commands that publish them."""
    archives = sorted((root / "dist").iterdir())
    digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in archives}
    files = "\n".join(f"  {digest}  dist/{name}" for name, digest in digests.items())
    return f"""
Version {version} is ready, and nothing is published. SHA-256 of its archives:
{files}

1. Tag the commit:
     git tag --annotate v{version} --message "equimargin {version}" {commit}
     git push origin v{version}
2. Upload the archives; the index asks for your token:
     .venv/bin/python -m twine upload dist/*
3. Send conda/recipe to conda-forge, in place of the line `path: ../..`:
     url: the address of the sdist at the index
     sha256: {digests[f"equimargin-{version}.tar.gz"]}
     and add homepage, repository and documentation to `about`.
4. Begin the next version: "## Unreleased" as the first heading of CHANGELOG.md."""


def main() -> int:
    """Check, build and describe the release; return the exit status."""
    version = read_version(ROOT)
    if obstacles := list_obstacles(ROOT, version):
        print(*obstacles, sep="\n")
        return 1
    if set_date(ROOT, version, datetime.now(UTC).date()):
        if not run_make(ROOT, "metadata"):
            return 1
        print(
            f"CHANGELOG.md, CITATION.cff and codemeta.json have the date of version {version} "
            "now. Commit them, and run make release again."
        )
        return 1
    commit = run_git(ROOT, "rev-parse", "HEAD")
    failed = run_steps(ROOT, commit) or (None if run_step(ROOT, "dist", commit) else "dist")
    if failed is not None:
        print(f"make {failed} failed: correct it, commit, and run make release again.")
        return 1
    print(describe_next(ROOT, version, commit))
    return 0


if __name__ == "__main__":
    sys.exit(main())
