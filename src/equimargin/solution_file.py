"""Readers of solution files of linear and quadratic programs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

Values = dict[str, float] | list[float]
"""Numbers by name, or in the order of the model."""
MAX_BYTES = 2**30
"""Maximum size of a solution file."""
_OTHER_STYLES = re.compile(
    r"^(\s*Index\s+Status\s|\s*No\.\s+(Row|Column) name\s|s (bas|ipt|mip) \d)", re.MULTILINE
)
"""Lines of HiGHS's solution styles 1, 3 and 2, of which the last two are those of GLPK."""


def read_solution(path: Path) -> tuple[Values | None, Values | None]:
    """Return the point and the prices of a solution file, None if it has none.

    A JSON file has the keys x and y: lists, or objects by name. Any other file is one
    of HiGHS with `write_solution_style` 0, or has a name and a value on every line, as
    those of cuOpt and SCIP.

    Parameters
    ----------
    path : Path
        Solution file.

    Raises
    ------
    ValueError
        If the file has no point and no prices.
    OSError
        If the file cannot be opened.
    """
    if path.stat().st_size > MAX_BYTES:
        raise ValueError(f"{path} has more than {MAX_BYTES:,} bytes")
    text = path.read_text(encoding="utf-8", errors="replace")
    if text.lstrip().startswith("{"):
        return _from_json(path, text)
    if _OTHER_STYLES.search(text):
        raise ValueError(
            f"{path} is written by HiGHS with a write_solution_style that rounds numbers or has no "
            f"names (1, 2 or 3); write it with write_solution_style = 0"
        )
    columns, rows = _from_lines(path, text)
    if not columns:
        raise ValueError(
            f"{path} has no values; give a solution file of HiGHS (write_solution_style = 0), "
            f'lines of a name and a value, or JSON such as {{"x": [1.0, 2.0], "y": [0.5]}}'
        )
    return columns, rows or None


def _from_json(path: Path, text: str) -> tuple[Values | None, Values | None]:
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as reason:
        raise ValueError(f"{path} is no JSON: {reason}") from None
    if not set(given) & {"x", "y"}:
        raise ValueError(f"{path} has neither x nor y; give one of them, or both")
    return _numbers(path, given.get("x"), "x"), _numbers(path, given.get("y"), "y")


def _numbers(path: Path, given: Any, key: str) -> Values | None:
    if given is None:
        return None
    try:
        if isinstance(given, dict):
            return {name: float(v) for name, v in given.items()}
        if isinstance(given, list):
            return [float(v) for v in given]
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(
        f"{key} of {path} is neither a list of numbers nor an object of numbers by name"
    )


def _from_lines(path: Path, text: str) -> tuple[dict[str, float], dict[str, float]]:
    """Return primal values of columns and dual values of rows.

    HiGHS's parts "# Primal solution values", "# Dual solution values" and "# Basis" have
    sections "# Columns" and "# Rows"; without them every line is a primal value. Lines
    without a number are headings before the first comment or value, and refused after it.
    """
    columns: dict[str, float] = {}
    rows: dict[str, float] = {}
    part, section, commented = "primal", "columns", False
    for at, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if line.startswith("#"):
            commented = True
            heading = line[1:].lower().split()[:1]
            if heading and heading[0] in ("primal", "dual", "basis"):
                part, section = heading[0], ""
            elif heading and heading[0] in ("columns", "rows"):
                section = heading[0]
            continue
        target = {("primal", "columns"): columns, ("dual", "rows"): rows}.get((part, section))
        if target is None or len(words) < 2:
            continue
        try:
            target[words[0]] = float(words[1])
        except ValueError:
            if target or commented:
                raise ValueError(
                    f"line {at} of {path} gives {words[0]} the value {words[1]!r}, which is no "
                    f"number; mend the line"
                ) from None
    return columns, rows
