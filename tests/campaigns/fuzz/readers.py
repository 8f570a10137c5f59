"""Fuzzed readers of files: functions, documented exceptions and modules."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from hypothesis.strategies import SearchStrategy

from campaigns.fuzz import drawn
from equimargin.data import DataError, Qrels, TrecRun, load
from equimargin.formulations.programs.model_file import read_model as read_program
from equimargin.formulations.programs.model_lines import find_lines
from equimargin.own import data as own_data
from equimargin.own import plugins
from equimargin.proofs import checker
from equimargin.proofs.certificates.program_file import read_program_file
from equimargin.proofs.foreign_files import read as read_model
from equimargin.proofs.pickled_models import read_trusted
from equimargin.proofs.third_party import pounce, vipr
from equimargin.solution_file import read_solution
from equimargin.solvers.path.linear.result import OneNormPath
from equimargin.solvers.path.result import RegularizationPath
from equimargin.solvers.solution import Solution
from equimargin.study.database import Database, StudyError
from equimargin.study.grid import AnswerSpec
from equimargin.study.plan import DataPlan, KernelPlan, PlanError, read_plan
from equimargin.study.results import Study

OF_DATA = (
    *(f"equimargin.data.{name}" for name in ("loading", "words", "pairs.table")),
    *(
        f"equimargin.data.columns.{name}"
        for name in ("assignment", "columns", "conversion", "roles")
    ),
    *(
        f"equimargin.data.formats.{name}"
        for name in ("files", "delimited", "header", "svmlight", "npz")
    ),
)
OF_TREC = (
    "equimargin.data.words",
    "equimargin.data.formats.files",
    *(f"equimargin.data.formats.trec.{name}" for name in ("lines", "run", "qrels")),
)
OF_ARCHIVES = ("equimargin.formulations.numeric.archive", "zipfile", "numpy.lib._format_impl")
OF_PROBLEMS = ("equimargin.solvers.problem_file", "json.decoder", *OF_ARCHIVES)
OF_PATHS = ("equimargin.solvers.path.result", "equimargin.solvers.path.linear.result", *OF_PROBLEMS)
OF_MODELS = (
    "equimargin.proofs.foreign_files",
    "equimargin.proofs.foreign_models",
    "equimargin.proofs.pickled_models",
    "json.decoder",
    *OF_ARCHIVES,
)
OF_CERTIFICATES = ("equimargin.proofs.checker", "json.decoder")
OF_POUNCE = ("equimargin.proofs.third_party.pounce", *OF_CERTIFICATES)
OF_PROGRAMS = (
    "equimargin.formulations.programs.model_file",
    "equimargin.formulations.programs.model_lines",
    "gzip",
)
OF_STUDIES = tuple(
    f"equimargin.study.{name}" for name in ("database", "results", "summary", "page", "grid")
)
NUMBERED = "a,b,y\n1,2,3\n2,1,1\n0,0,2\n"
"""Table of numbers, as the features of pairs."""
NAMED = "id,a,b,qid,y\np,1,2,1,3\nq,2,1,1,1\nr,0,0,2,2\n"
"""Table with names of rows, as the features of pairs."""
ASKED = AnswerSpec(
    DataPlan("xor"),
    "0" * 32,
    "classification",
    None,
    KernelPlan(),
    1.0,
    "svm.soft",
    None,
    "smo",
    1e-6,
    60.0,
)
"""Answer that the study of the corpus lacks."""


@dataclass(frozen=True)
class Reader:
    """Reader of a file.

    Parameters
    ----------
    file : str
        Name under which contents are written.
    ways : tuple[Callable[[Path], Any], ...]
        Functions that read the file at a path.
    refusals : tuple[type[Exception], ...]
        All exceptions that they may raise.
    modules : tuple[str, ...]
        Modules whose branch coverage Atheris measures.
    drawn : SearchStrategy[bytes]
        Nearly valid contents, from hypothesis.
    """

    file: str
    ways: tuple[Callable[[Path], Any], ...]
    refusals: tuple[type[Exception], ...]
    modules: tuple[str, ...]
    drawn: SearchStrategy[bytes]


def _table(**how: Any) -> Callable[[Path], Any]:
    """Return a reader of a table by options."""
    return lambda file: load(file, **how)


def _pairs(features: str) -> Callable[[Path], Any]:
    """Return a reader of pairs of rows of a table, given as text."""

    def read(file: Path) -> Any:
        rows = file.with_name("rows.csv")
        rows.write_text(features, encoding="utf-8")
        return load(rows, preferences=file)

    return read


def _run(file: Path) -> None:
    """Read a run, write it and read it again."""
    run = TrecRun.read(file)
    run.write(file)
    assert sorted(TrecRun.read(file).document) == sorted(run.document)


def _qrels(file: Path) -> None:
    """Read judgements, write them, and judge a run of their documents."""
    qrels = Qrels.read(file)
    qrels.write(file)
    again = Qrels.read(file)
    assert again.document == qrels.document
    qrels.judge(TrecRun(qrels.query, qrels.document, qrels.relevance))


def _model(file: Path) -> None:
    """Read a model file and the lines of its rows and bounds."""
    read_program(file)
    find_lines(file)


def _verdict(file: Path) -> None:
    checker.verdict(str(file))


def _verdict_on_signed(file: Path) -> None:
    """Check a certificate with renewed digests: with wrong ones nothing else is checked."""
    file.write_bytes(drawn.signed(file.read_bytes()))
    checker.verdict(str(file))


def _checked_as_vipr(file: Path) -> None:
    vipr.check(file.read_bytes())


def _checked_as_pounce(file: Path) -> None:
    checker.statement(pounce.translate(file.read_bytes()))


def _shown(file: Path) -> None:
    """Make all outputs of a study."""
    study = Study(file)
    study.progress()
    study.to_csv()
    study.to_html()


def _worked_on(file: Path) -> None:
    """Lease the missing answers of a study."""
    with Database(file, writes=True) as database:
        database.enter("study", "", [ASKED])
        with database.held():
            database.deadly()
            for suspect in (False, True):
                database.lease(suspect)


def _plugins(file: Path) -> None:
    """Read the plug-ins of one installed package; the modules it names are not imported."""
    points, _, metadata = file.read_bytes().partition(b"\0")
    folder = file.parent / "somebody-1.0.dist-info"
    folder.mkdir(exist_ok=True)
    (folder / "entry_points.txt").write_bytes(points)
    (folder / "METADATA").write_bytes(metadata)
    importlib.metadata.FastPath.__new__.cache_clear()  # type: ignore[attr-defined]
    with (
        patch.object(sys, "path", [str(file.parent)]),
        patch.object(plugins, "import_module", side_effect=ImportError("not here")),
        patch.dict(plugins.LOADED, clear=True),
    ):
        for sentence in plugins.load_installed():
            assert "is left out" in sentence or "no installed plug-in" in sentence


TABLES = (
    load,
    _table(missing="mean", weight=""),
    _table(missing="drop", header=True, task="classification"),
    _table(decimal=","),
    _table(header=False, sep="whitespace"),
)
"""Functions that read a table."""
READERS = {
    "svmlight": Reader("rows.svm", (load,), (DataError,), OF_DATA, drawn.SVMLIGHT),
    "csv": Reader("rows.csv", TABLES, (DataError,), OF_DATA, drawn.TABLES),
    "npz": Reader(
        "rows.npz",
        (load, _table(missing="drop", drop=["z"])),
        (DataError,),
        (*OF_DATA, *OF_ARCHIVES),
        drawn.ARCHIVES,
    ),
    "pairs": Reader(
        "pairs.csv", (_pairs(NUMBERED), _pairs(NAMED)), (DataError,), OF_DATA, drawn.PAIRS
    ),
    "run": Reader("run.txt", (_run,), (DataError,), OF_TREC, drawn.RUNS),
    "qrels": Reader("qrels.txt", (_qrels,), (DataError,), OF_TREC, drawn.QRELS),
    "model": Reader("model", (read_trusted, read_model), (ValueError,), OF_MODELS, drawn.MODELS),
    "certificate": Reader(
        "certificate.json", (_verdict, _verdict_on_signed), (), OF_CERTIFICATES, drawn.CERTIFICATES
    ),
    "vipr": Reader(
        "certificate.vipr",
        (_checked_as_vipr,),
        (ValueError,),
        ("equimargin.proofs.third_party.vipr",),
        drawn.changed_words(),
    ),
    "pounce": Reader("pounce.json", (_checked_as_pounce,), (ValueError,), OF_POUNCE, drawn.POUNCE),
    "path": Reader(
        "path.npz",
        (RegularizationPath.load, OneNormPath.load),
        (ValueError,),
        OF_PATHS,
        drawn.PATHS,
    ),
    "solution": Reader(
        "solution.npz",
        (Solution.load,),
        (ValueError,),
        ("equimargin.solvers.solution", *OF_PROBLEMS),
        drawn.SOLUTIONS,
    ),
    "study": Reader("study.sqlite", (_shown, _worked_on), (StudyError,), OF_STUDIES, drawn.STUDIES),
    "mps": Reader("model.mps", (_model,), (ValueError,), OF_PROGRAMS, drawn.MPS),
    "lp": Reader("model.lp", (_model,), (ValueError,), OF_PROGRAMS, drawn.LP),
    "program": Reader(
        "program.json",
        (read_program_file,),
        (ValueError,),
        ("equimargin.proofs.certificates.program_file", *OF_CERTIFICATES),
        drawn.STATED_PROGRAMS,
    ),
    "answer": Reader(
        "answer.sol",
        (read_solution,),
        (ValueError,),
        ("equimargin.solution_file", "json.decoder"),
        drawn.ANSWERS,
    ),
    "plan": Reader(
        "plan.toml",
        (read_plan,),
        (PlanError,),
        ("equimargin.study.plan", "tomllib._parser"),
        drawn.PLANS,
    ),
    "plugin": Reader(
        "plugin",
        (_plugins,),
        (),
        ("equimargin.own.plugins", "importlib.metadata"),
        drawn.ENTRY_POINTS,
    ),
    "own": Reader(
        "own.npz",
        (own_data.read,),
        (ValueError,),
        ("equimargin.own.data", *OF_ARCHIVES),
        drawn.ARCHIVES,
    ),
    "own_json": Reader(
        "own.json",
        (own_data.read,),
        (ValueError,),
        ("equimargin.own.data", "json.decoder"),
        drawn.OBJECTS,
    ),
}
"""Readers by name."""
