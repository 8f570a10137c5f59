"""What the experiments share: the options of their commands, where public data lie, and what becomes of the claims of the documents."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

sys.path.append(str(Path(__file__).resolve().parents[1]))  # for the ledger

from ledger import claim

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
"""The folder of public data sets that do not ship with the project, beside the checkout."""


class Outcome(NamedTuple):
    """What an experiment says of a claim of the ledger.

    Parameters
    ----------
    id : str
        Of the claim.
    reproduced : bool | None
        Whether the figures are as it says; None where they cannot tell.
    because : str
        The figures, in a sentence.
    """

    id: str
    reproduced: bool | None
    because: str

    @property
    def word(self) -> str:
        """What became of the claim."""
        return {True: "reproduced", False: "not reproduced", None: "not decided"}[self.reproduced]


class Report(NamedTuple):
    """What an experiment hands back: the lines of its table, what became of the claims, and its picture."""

    table: list[str]
    outcomes: list[Outcome]
    figure: Figure


def command(name: str, run: Callable[[bool, Path], Report]) -> None:
    """Run an experiment from the command line: print its table and its outcomes, and show its picture or save both.

    Parameters
    ----------
    name : str
        Of the files that are saved.
    run : Callable[[bool, Path], Report]
        The experiment, of its size, where true is the one that the document prints, and
        of the folder of public data.
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
        help="the folder of public data sets; by default ../shared/data beside the checkout",
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
    """A line for each claim: its words, what became of it, and why."""
    return [
        f"{one.id}, {claim(one.id).says!r}: {one.word}, because {one.because}" for one in outcomes
    ]
