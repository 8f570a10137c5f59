"""Flat records of answers and families with plain values, for JSON, CSV and data frames."""

from __future__ import annotations

import csv
import io
import platform
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from equimargin.proofs import Agreement, FamilyVerdict, Judgement

SCHEMA_VERSION = 2
"""Version of the records of `compare` and `path` that schema.json describes."""

COMPUTED = ("=", "+", "-", "@")
"""First characters, after spaces, of texts that a spreadsheet computes."""
SPLIT = ("\t", "\r")
"""First characters of texts that a spreadsheet splits."""

LIBRARIES = ("numpy", "scipy", "numba", "cvxpy", "clarabel", "scs", "osqp", "highspy")
"""Names of the packages that affect an answer."""


def csv_text(names: Sequence[str], records: Iterable[Mapping[str, Any]]) -> str:
    """Return records as CSV text with a header.

    A text that a spreadsheet would compute, such as a file name or a reason may be,
    gets an apostrophe in front; numbers do not.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    records : iterable of mapping
        Records, one per line, with a value for each name.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, names)
    for line in ({name: name for name in names}, *records):
        writer.writerow(
            {name: f"'{value}" if _is_computed(value) else value for name, value in line.items()}
        )
    return text.getvalue()


def _is_computed(value: Any) -> bool:
    """Return True if a spreadsheet would compute a text; a plain number is not computed."""
    if not isinstance(value, str) or not (
        value.startswith(SPLIT) or value.lstrip().startswith(COMPUTED)
    ):
        return False
    try:
        float(value)
    except ValueError:
        return True
    return value.startswith(SPLIT)


def solved(judgement: Judgement) -> bool:
    """Return True if the answer solved its problem, accurately or not.

    Parameters
    ----------
    judgement : Judgement
        Assessment of the answer.
    """
    return judgement.agreement in (Agreement.AGREES, Agreement.INACCURATE)


def record(family: FamilyVerdict, judgement: Judgement) -> dict[str, Any]:
    """Return one answer as a flat record of finite numbers, texts and None.

    Parameters
    ----------
    family : FamilyVerdict
        Family of the answer.
    judgement : Judgement
        Assessment of the answer.

    Returns
    -------
    dict
        Record.
    """
    run = judgement.evidence.run
    return {
        "family": family.id,
        "part": family.part,
        "formulation": run.formulation,
        "solver": run.solver,
        "status": str(run.status),
        "ok": solved(judgement),
        "agreement": str(judgement.agreement),
        "value": _finite(judgement.evidence.value),
        "claim": _finite(judgement.claim),
        "off": _finite(judgement.off),
        "accuracy": _finite(judgement.accuracy),
        "lower": _finite(judgement.lower),
        "upper": _finite(judgement.upper),
        "lower_kind": judgement.lower_kind,
        "relative_width": _finite(judgement.relative_width),
        "compile_seconds": run.compile_seconds,
        "solve_seconds": run.solve_seconds,
        "iterations": run.iterations,
        "reason": run.reason,
        "control": run.control,
    }


def summary(family: FamilyVerdict) -> dict[str, Any]:
    """Return a flat record of a family: verdict, interval, and answers per agreement.

    Parameters
    ----------
    family : FamilyVerdict
        Family with its verdict.

    Returns
    -------
    dict
        Record.
    """
    return {
        "family": family.id,
        "part": family.part,
        "feasible": family.feasible,
        "lower": _finite(family.interval.lower),
        "upper": _finite(family.interval.upper),
        "relative_width": _finite(family.interval.relative_width),
        "verdict": str(family.verdict),
        "reason": family.reason,
        "note": "; ".join(filter(None, (family.note, family.doubt))),
        "stable_labels": None if family.stable is None else family.stable.labels,
        "stable_multipliers": None if family.stable is None else family.stable.rows,
        "answers": sum(not j.evidence.run.control for j in family.judgements),
        "agreeing": family.count(Agreement.AGREES),
        "inaccurate": family.count(Agreement.INACCURATE),
        "disagreements": family.count(Agreement.DISAGREES),
        "failures": family.count(Agreement.FAILED),
        "skipped": family.count(Agreement.SKIPPED),
    }


def plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as JSON values; an infinite number becomes the text inf.

    Parameters
    ----------
    settings : mapping of str to object
        Settings of a command.

    Returns
    -------
    dict
        Settings.
    """
    return {
        name: str(v) if isinstance(v, float) and not np.isfinite(v) else v
        for name, v in settings.items()
    }


def versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that affect an answer."""
    from importlib.metadata import version

    return {"Python": platform.python_version()} | {name: version(name) for name in LIBRARIES}


def _finite(v: float) -> float | None:
    return float(v) if np.isfinite(v) else None
