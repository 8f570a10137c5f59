"""Plug-ins of packages with damaged metadata: each gives a sentence, the others work."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from equimargin.own import plugins


@pytest.mark.parametrize(
    ("points", "metadata", "sentence"),
    [
        (
            "mine",
            "Name: somebody\nVersion: 1.0\n",
            "because somebody 1.0 has damaged entry points: TypeError: ",
        ),
        (
            "mine = -",
            "Name: somebody\nVersion: 1.0\n",
            "the plug-in mine (somebody 1.0) is left out: '-' is not the name of a module",
        ),
        (
            "mine = no_such_module",
            "",
            "(an installed package of damaged metadata) is left out: ModuleNotFoundError: ",
        ),
        (
            "mine = no_such_module",
            "\udcff",
            "the plug-in mine (an installed package of damaged metadata) is left out: ",
        ),
        (
            "mine = leaving",
            "Name: somebody\nVersion: 1.0\n",
            "(somebody 1.0) is left out: Quit: it raises SystemExit(3) (leaving.py, line 1)",
        ),
    ],
)
def test_damaged_metadata_are_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, points: str, metadata: str, sentence: str
) -> None:
    folder = tmp_path / "somebody-1.0.dist-info"
    folder.mkdir()
    (folder / "entry_points.txt").write_text(f"[{plugins.GROUP}]\n{points}\n", encoding="utf-8")
    (folder / "METADATA").write_text(metadata, encoding="utf-8", errors="surrogateescape")
    (tmp_path / "leaving.py").write_text("raise SystemExit(3)\n", encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.setattr(plugins, "LOADED", {})
    (said,) = plugins.load_installed()
    assert sentence in said


def test_a_plug_in_that_leaves_is_refused(tmp_path: Path) -> None:
    (tmp_path / "leaving_at_once.py").write_text("import sys\nsys.exit(3)\n", encoding="utf-8")
    with pytest.raises(
        ValueError,
        match=r"cannot be loaded: Quit: it raises SystemExit\(3\) \(leaving_at_once.py, line 2\)",
    ):
        plugins.load(str(tmp_path / "leaving_at_once.py"))
