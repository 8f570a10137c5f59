"""Shared parts of the experiments: options, folder of public data, and outcomes of claims."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

sys.path.append(str(Path(__file__).resolve().parents[1]))  # for the ledger

from equimargin.data import data_folder
from ledger import claim

DATA = data_folder(Path(__file__).resolve().parents[3] / "shared" / "data")
"""Folder of public data: next to the checkout, or that of `equimargin data fetch`."""


class Outcome(NamedTuple):
    """Outcome of an experiment for a claim of the ledger.

    Parameters
    ----------
    id : str
        Id of the claim.
    reproduced : bool | None
        True if the figures are as claimed; None if they cannot decide the claim.
    because : str
        Sentence with the figures.
    """

    id: str
    reproduced: bool | None
    because: str

    @property
    def word(self) -> str:
        """Outcome of the claim, as a word."""
        return {True: "reproduced", False: "not reproduced", None: "not decided"}[self.reproduced]


class Report(NamedTuple):
    """Result of an experiment: lines of its table, outcomes of claims, and a picture."""

    table: list[str]
    outcomes: list[Outcome]
    figure: Figure


def command(name: str, run: Callable[[bool, Path], Report]) -> None:
    """Run an experiment from the command line: print its table and its outcomes.

    The picture is shown or, with --save, saved with the table.

    Parameters
    ----------
    name : str
        Name of the files that are saved.
    run : Callable[[bool, Path], Report]
        Experiment: a function of a flag, True for the published size, and of the folder
        of public data.
    """
    parser = argparse.ArgumentParser(prog=name)
    parser.add_argument(
        "--full",
        action="store_true",
        help="at the size that the document prints, which may take an hour",
    )
    parser.add_argument(
        "--save",
        type=Path,
        help="a folder for the picture and the table; without it the picture is shown",
    )
    parser.add_argument(
        "--data",
        type=Path,
        default=DATA,
        help="folder of public data sets; by default ../shared/data next to the checkout, or "
        "where `equimargin data fetch` puts them",
    )
    options = parser.parse_args()
    report = run(options.full, options.data)
    head = (
        "At the size that the document prints:"
        if options.full
        else "At a small size; the outcomes of the ledger are of larger runs:"
    )
    lines = [*report.table, "", head, *said(report.outcomes)]
    print(*lines, sep="\n")
    if options.save is None:
        plt.show()
        return
    options.save.mkdir(parents=True, exist_ok=True)
    report.figure.savefig(options.save / f"{name}.png", dpi=130)
    (options.save / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def said(outcomes: Iterable[Outcome]) -> list[str]:
    """Return a line for each claim: its text, its outcome, and the reason."""
    return [
        f"{one.id}, {claim(one.id).says!r}: {one.word}, because {one.because}" for one in outcomes
    ]
