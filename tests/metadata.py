"""Write CITATION.cff and codemeta.json from pyproject.toml, README.md and CHANGELOG.md.

`make metadata` runs this module, after a change of `[project]` and for a release.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from places import ROOT


@dataclass(frozen=True)
class Metadata:
    """Metadata of a version.

    Parameters
    ----------
    project : Mapping[str, Any]
        Table `[project]` of pyproject.toml.
    readme, changelog : str
        Text of the README, one paragraph of which is the abstract, and of the changelog,
        whose heading of a released version has its date.
    """

    project: Mapping[str, Any]
    readme: str
    changelog: str

    def to_files(self) -> dict[str, str]:
        """Return the text of each file by its name."""
        return {"CITATION.cff": self.to_citation(), "codemeta.json": self.to_codemeta()}

    def to_citation(self) -> str:
        """Return the text in Citation File Format: YAML, whose scalars are those of JSON."""
        entries = {
            "cff-version": "1.2.0",
            "message": "If you use equimargin in your research, please cite it as below.",
            "type": "software",
            "title": self.project["name"],
            "abstract": self._abstract(),
            "version": self.project["version"],
            "date-released": self._released(),
            "license": self.project["license"],
            "repository-code": self._url("Source"),
            "keywords": self.project["keywords"],
            "authors": self.project["authors"],
        }
        return "".join(
            f"{key}: {json.dumps(entry, ensure_ascii=False)}\n"
            if isinstance(entry, str)
            else f"{key}:\n" + "".join(f"  - {json.dumps(part)}\n" for part in entry)
            for key, entry in entries.items()
            if entry is not None
        )

    def to_codemeta(self) -> str:
        """Return the text in JSON-LD, in the terms of CodeMeta 3.0."""
        authors = [{"@type": "Organization", **author} for author in self.project["authors"]]
        entries = {
            "@context": "https://w3id.org/codemeta/3.0",
            "@type": "SoftwareSourceCode",
            "name": self.project["name"],
            "description": self._abstract(),
            "version": self.project["version"],
            "datePublished": self._released(),
            "license": f"https://spdx.org/licenses/{self.project['license']}",
            "codeRepository": self._url("Source"),
            "issueTracker": self._url("Issues"),
            "author": authors,
            "keywords": self.project["keywords"],
            "programmingLanguage": "Python",
            "runtimePlatform": f"Python {self.project['requires-python']}",
        }
        known = {key: entry for key, entry in entries.items() if entry is not None}
        return json.dumps(known, indent=2, ensure_ascii=False) + "\n"

    def _abstract(self) -> str:
        """Return the paragraph of the README that opens with the name and "is"."""
        opening = f"{self.project['name']} is "
        paragraphs = (" ".join(part.split()) for part in self.readme.split("\n\n"))
        return next(part for part in paragraphs if part.startswith(opening))

    def _released(self) -> str | None:
        """Return the date of the version, YYYY-MM-DD; None before its release."""
        version = re.escape(self.project["version"])
        heading = re.search(
            rf"^## \[?{version}\]?[^\w\n]+(\d{{4}}-\d\d-\d\d)\b", self.changelog, re.MULTILINE
        )
        return heading[1] if heading else None

    def _url(self, label: str) -> str | None:
        """Return an address of `[project.urls]`; None before one is known."""
        address: str | None = self.project.get("urls", {}).get(label)
        return address


def read() -> Metadata:
    """Return the metadata of this tree."""
    pyproject, readme, changelog = (
        (ROOT / name).read_text(encoding="utf-8")
        for name in ("pyproject.toml", "README.md", "CHANGELOG.md")
    )
    return Metadata(tomllib.loads(pyproject)["project"], readme, changelog)


if __name__ == "__main__":
    for name, text in read().to_files().items():
        (ROOT / name).write_text(text, encoding="utf-8")
