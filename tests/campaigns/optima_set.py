"""Test set of exact optima: programs in doubles, with certificates of their optima.

    python -m campaigns.optima_set build/test_set

writes a copy of examples/test_set with more instances: the convex programs of Maros and
Meszaros, and the linear programs of netlib that some of them extend, if their files are
there (`equimargin data fetch maros_meszaros`). `python -m campaigns.optima_set
examples/test_set` renews the instances of our families alone.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from campaigns.exact import maros_meszaros
from equimargin.formulations import FAMILIES, REGISTRY, Problem
from equimargin.formulations.declarations.formulation import formulation_data
from equimargin.formulations.programs import Program
from equimargin.formulations.programs.rational import Matrix
from equimargin.proofs import program_certificate, write_certificate
from equimargin.solvers.exact.program import Optimum, program_optimum
from places import ROOT

BUNDLED = ROOT / "examples" / "test_set"
"""Folder of the test set in the repository."""
DUALS = (
    *("svm.soft", "svm.l2", "svm.hard", "svm.nobias", "svm.nobias_l2"),
    *("svm.onenorm", "svm.nobias_onenorm", "svm.huberised_hinge", "svr.l1", "svr.l2"),
    *("rank.l1", "rank.l2", "rank.onenorm", "rvm", "ord.implicit"),
)
"""Families of which the dual problem is an instance."""
OF_NETLIB = {
    "ADLITTLE": "QADLITTL",
    "AFIRO": "QAFIRO",
    "BLEND": "QPCBLEND",
    "BOEING2": "QPCBOEI2",
    "BRANDY": "QBRANDY",
    "ISRAEL": "QISRAEL",
    "RECIPE": "QRECIPE",
    "SC205": "QSC205",
    "SCAGR7": "QSCAGR7",
    "SCTAP1": "QSCTAP1",
    "SHARE1B": "QSHARE1B",
    "SHARE2B": "QSHARE2B",
}
"""Linear programs of netlib, and the quadratic programs that have a P in addition."""
POINTS, FEATURES, SEED = 12, 3, 41


def family_problem(family: str) -> Problem:
    """Return the problem of a family at points whose numbers are quarters."""
    rng = np.random.default_rng(SEED)
    X = rng.integers(-6, 7, (POINTS, FEATURES)) / 4
    signs = np.where(rng.integers(0, 2, POINTS), 1.0, -1.0)
    separable = np.where(X @ [1.0, 2.0, -1.0] + 0.5 > 0, 1.0, -1.0)
    levels, targets = rng.integers(0, 3, POINTS), rng.integers(-8, 9, POINTS) / 4
    y = {"svm": signs, "svr": targets}.get(family[:3], levels.astype(np.float64))
    hard = family == "svm.hard"
    data = {"X": X, "y": separable if hard else y, "C": np.inf if hard else 2.0}
    problem: Problem = FAMILIES[family](data | ({"epsilon": 0.5} if "svr" in family else {}))
    return problem


def family_programs() -> Iterator[tuple[str, Program]]:
    """Yield names and programs of the duals of our families."""
    for family in DUALS:
        id = f"{family}.dual"
        yield id, REGISTRY[id].program(formulation_data(family_problem(family)))


def netlib_program(name: str) -> Program:
    """Return a linear program of netlib, from the file of the program that extends it."""
    program = maros_meszaros.problem(maros_meszaros.FOLDER / f"{OF_NETLIB[name]}.mat")
    return replace(program, P=Matrix(({},) * program.n, program.n))


def public_programs() -> Iterator[tuple[str, Program]]:
    """Yield names and programs of the public sets."""
    for file in sorted(maros_meszaros.FOLDER.glob("*.mat")):
        yield file.stem, maros_meszaros.problem(file)
    for name in OF_NETLIB:
        yield name, netlib_program(name)


def write(folder: Path, programs: Iterator[tuple[str, Program]]) -> None:
    """Write the certificates of all programs whose exact optimum is found."""
    for name, program in programs:
        found = program_optimum(program)
        if isinstance(found, Optimum):
            write_certificate(program_certificate(program, found), folder / f"{name}.json")
        else:
            print(f"{name} is left out: {found.reason}")


def main(folder: Path) -> None:
    """Write the test set to a folder."""
    if folder.resolve() != BUNDLED:
        shutil.copytree(BUNDLED, folder, dirs_exist_ok=True)
    write(folder / "instances", family_programs())
    if folder.resolve() == BUNDLED:
        return
    if maros_meszaros.FOLDER.is_dir():
        write(folder / "instances", public_programs())
    else:
        print(f"{maros_meszaros.FOLDER} is missing: only the instances of our families are written")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
