"""Lines of a model file that state its rows and its bounds."""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path
from typing import Literal

from equimargin.formulations.programs.model_file import SUFFIXES, read_text

Side = Literal["row", "lower bound", "upper bound"]
"""Kind of a constraint."""
Lines = dict[tuple[Side, str], tuple[int, ...]]
"""Numbers of lines, from 1, by the kind and the name of the row or variable.

A row of an MPS file also has the lines of its right-hand side and its range.
"""
MPS_BOUNDS: dict[str, tuple[Side, ...]] = {
    "LO": ("lower bound",),
    "UP": ("upper bound",),
    "FX": ("lower bound", "upper bound"),
}
"""Kinds of finite bounds in MPS files."""
LP_SECTIONS = {
    "rows": re.compile(r"(?i)^\s*(subject to|such that|s\.?t\.?)(?=\s|:|$)"),
    "bounds": re.compile(r"(?i)^\s*bounds?\s*$"),
    "other": re.compile(
        r"(?i)^\s*(min|max|minimi[sz]e|maximi[sz]e|minimum|maximum|generals?|gen|integers?|"
        r"binar(y|ies)|bin|semi-continuous|semis?|sos[12]?|end)\s*$"
    ),
}
"""Headings of the sections of LP files."""


def find_lines(path: Path) -> Lines:
    """Return the lines of a model file that state rows and bounds, as far as they are found.

    Parameters
    ----------
    path : Path
        File that `read_model` has read; a file of another suffix has no such lines.

    Raises
    ------
    OSError
        If the file cannot be opened.
    """
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    if suffix not in SUFFIXES:
        return {}
    text = read_text(path)
    return _of_lp(text) if suffix == ".lp" else _of_mps(text)


def _of_mps(text: str) -> Lines:
    """Return the lines of ROWS, RHS, RANGES and BOUNDS."""
    lines: Lines = {}
    section = ""
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or line.startswith("*"):
            continue
        if not line[0].isspace():
            section = words[0].upper()
        elif section == "ROWS" and len(words) > 1:
            lines["row", words[1]] = (number,)
        elif section in ("RHS", "RANGES"):
            # The name of the set may be missing: names of rows and numbers alternate.
            for name in words[len(words) % 2 :: 2]:
                lines["row", name] = *lines.get(("row", name), ()), number
        elif section == "BOUNDS":
            # The name of the set of bounds may be missing.
            name = words[2] if len(words) > 3 else words[1] if len(words) > 1 else ""
            for side in MPS_BOUNDS.get(words[0].upper(), ()):
                lines[side, name] = (number,)
    return lines


def _of_lp(text: str) -> Lines:
    """Return the lines of the labels of rows, and of all bounds.

    HiGHS numbers the rows without a label, HiGHS_R0 the first one; the line is that of
    the relation.
    """
    lines: Lines = {}
    section, labelled, rows = "", False, count()
    for number, line in enumerate(text.splitlines(), 1):
        content = line.partition("\\")[0]
        heading = next((name for name, words in LP_SECTIONS.items() if words.match(content)), "")
        if heading:
            section = heading
            content = LP_SECTIONS[heading].sub("", content)
        if section == "rows":
            for part in re.finditer(r"([^\s:<>=]+)\s*:|[<>=]+", content):
                if part[1] is not None:
                    lines["row", part[1]], labelled = (number,), True
                else:
                    row = next(rows)
                    if not labelled:
                        lines["row", f"HiGHS_R{row}"] = (number,)
                    labelled = False
        elif section == "bounds":
            _add_bounds(lines, content, number)
    return lines


def _add_bounds(lines: Lines, content: str, number: int) -> None:
    """Add the bounds of a line of an LP file, such as `-1 <= x <= 4` or `x >= 2`."""
    parts = re.split(r"(<=|>=|=<|=>|<|>|=)", content)
    names = [k for k, part in enumerate(parts) if k % 2 == 0 and not _is_number(part)]
    if len(parts) < 3 or len(names) != 1:
        return
    (place,) = names
    for k in (place - 1, place + 1):
        if 0 < k < len(parts):
            # On the right of its end a relation has the opposite direction.
            less = ("<" in parts[k]) == (k > place)
            sides: tuple[Side, ...] = ("upper bound",) if less else ("lower bound",)
            if "<" not in parts[k] and ">" not in parts[k]:
                sides = ("lower bound", "upper bound")
            for side in sides:
                lines[side, parts[place].strip()] = (number,)


def _is_number(word: str) -> bool:
    """Return True if a word is a number of an LP file."""
    try:
        float(word)
    except ValueError:
        return False
    return True
