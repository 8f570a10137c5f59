"""Packages of the distribution, its description, and archives of equal bytes."""

import gzip
import os
import re
import tarfile
import time
import tomllib
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.sdist import sdist

FLOORS = ("formulations", "solvers", "proofs")
"""Folders beside `src` that are packages of equimargin; links to them are not built."""

# With this mask the files of a wheel have equal modes on all machines.
os.umask(0o022)


class ReproducibleSdist(sdist):
    """Archive whose bytes depend only on its files and on SOURCE_DATE_EPOCH."""

    def make_archive(self, base_name, format, base_dir, **_):
        """Write the files of a folder in sorted order, with fixed times, modes and owners.

        Parameters
        ----------
        base_name : str
            Name of the archive, without its ending.
        format : str
            Not used: the archive is a .tar.gz, as for every sdist.
        base_dir : str
            Folder of the files.
        """
        epoch = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))

        def normalize(member):
            member.mtime = epoch
            member.mode = 0o755 if member.isdir() else 0o644
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            return member

        # Without a name, and with this time, the header of gzip depends on no folder or clock.
        with (
            open(f"{base_name}.tar.gz", "wb") as file,
            gzip.GzipFile("", "wb", fileobj=file, mtime=epoch) as packed,
            tarfile.open(fileobj=packed, mode="w") as archive,
        ):
            archive.add(base_dir, filter=normalize)
        return file.name


def describe(readme, addresses):
    """Return the README for an index of packages, which has no other files.

    A link to a file leads to the folder of the changelog; before that has an address, the
    link is plain text.

    Parameters
    ----------
    readme : str
        Text of the README.
    addresses : dict of str to str
        Addresses of `[project.urls]`.
    """
    folder = addresses.get("Changelog", "").removesuffix("CHANGELOG.md")
    shown = rf"[\1]({folder}\2)" if folder else r"\1"
    return re.sub(r"\[([^]]*)\]\((?!https?:)([^)]*)\)", shown, readme)


project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
linked = [
    pattern for floor in FLOORS for pattern in (f"equimargin.{floor}", f"equimargin.{floor}.*")
]
rooms = [name for floor in FLOORS for name in find_packages(".", include=[floor, f"{floor}.*"])]
setup(
    long_description=describe(
        Path("README.md").read_text(encoding="utf-8"), project.get("urls", {})
    ),
    long_description_content_type="text/markdown",
    packages=[*find_packages("src", exclude=linked), *(f"equimargin.{name}" for name in rooms)],
    cmdclass={"sdist": ReproducibleSdist},
)
