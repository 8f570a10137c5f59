"""Test set of exact optima: certificates, and the formats of qpbenchmark and benchopt."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path

import pytest

from campaigns import optima_set
from campaigns.exact import maros_meszaros
from equimargin.formulations.programs import program_from_arrays
from equimargin.proofs import checker
from equimargin.proofs.certificates.program import certificate_of_definition
from equimargin.solvers.exact.program import Optimum, program_optimum
from places import HANG, find_module

INSTANCES = sorted((optima_set.BUNDLED / "instances").glob("*.json"))
IN_DOUBLES = find_module(optima_set.BUNDLED / "benchmark_utils" / "__init__.py")
PUBLISHED = {
    **{"ADLITTLE": 2.2549496316e05, "AFIRO": -4.6475314286e02, "BLEND": -3.0812149846e01},
    **{"BOEING2": -3.1501872802e02, "BRANDY": 1.5185098965e03, "ISRAEL": -8.9664482186e05},
    **{"RECIPE": -2.6661600000e02, "SC205": -5.2202061212e01, "SCAGR7": -2.3313898243e06},
    **{"SCTAP1": 1.4122500000e03, "SHARE1B": -7.6589318579e04, "SHARE2B": -4.1573224074e02},
}
"""Optima of netlib's linear programs, as in the readme of netlib's lp/data by D. M. Gay.

The value of SCAGR7 is that of CPLEX; the older table there, of MINOS 5.3, differs in the
seventh digit.
"""
needs_public_data = pytest.mark.skipif(
    not maros_meszaros.FOLDER.is_dir(),
    reason="the Maros-Meszaros problems are not beside this checkout",
)


def test_there_is_an_instance_of_every_family() -> None:
    assert [file.stem for file in INSTANCES] == sorted(f"{id}.dual" for id in optima_set.DUALS)


@pytest.mark.parametrize("file", INSTANCES, ids=lambda file: file.stem)
def test_an_instance_has_its_exact_optimum(file: Path) -> None:
    _, lower, upper = checker.check(file.read_bytes())
    primal = certificate_of_definition(optima_set.family_problem(file.stem.removesuffix(".dual")))
    # A dual is a maximum, which its program states as a minimum.
    assert lower == upper == -checker.check(json.dumps(primal).encode())[1]


@pytest.mark.parametrize("file", INSTANCES, ids=lambda file: file.stem)
def test_an_instance_in_doubles_is_the_certified_program(file: Path) -> None:
    given, stated = IN_DOUBLES.read(file.stem), json.loads(file.read_text())["problem"]
    # Other code than `benchmark_utils` reads the numbers, and solves the program anew.
    found = program_optimum(
        program_from_arrays(given.P, given.q, given.A, given.b, given.G, given.h, given.c)
    )
    assert isinstance(found, Optimum)
    assert found.value == given.optimum
    assert [given.G.nnz, given.A.nnz] == [len(stated["G"]), len(stated["A"])]


def test_instances_are_as_written_anew(tmp_path: Path) -> None:
    optima_set.write(tmp_path, optima_set.family_programs())
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {
        file.name: file.read_bytes() for file in INSTANCES
    }


def test_all_entries_of_a_full_quadratic_part_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    P = [[2, 1], [1, 3]]
    optima_set.write(tmp_path, iter([("full", program_from_arrays(P, [1, 1], G=[[1, 0]], h=[-1]))]))
    monkeypatch.setattr(IN_DOUBLES, "INSTANCES", tmp_path)
    assert IN_DOUBLES.read("full").P.toarray().tolist() == P


def test_a_program_that_is_not_in_doubles_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    third = program_from_arrays(q=[1], G=[[-1]], h=[Fraction(1, 3)])
    optima_set.write(tmp_path, iter([("third", third)]))
    monkeypatch.setattr(IN_DOUBLES, "INSTANCES", tmp_path)
    with pytest.raises(ValueError, match="1/3 is no double"):
        IN_DOUBLES.read("third")


@needs_public_data
@pytest.mark.parametrize("name", PUBLISHED)
def test_a_program_of_netlib_has_its_published_optimum(name: str) -> None:
    assert PUBLISHED.keys() == optima_set.OF_NETLIB.keys()
    found = program_optimum(optima_set.netlib_program(name))
    assert isinstance(found, Optimum)
    assert float(found.value) == pytest.approx(PUBLISHED[name], rel=1e-9)


@needs_public_data
@pytest.mark.parametrize("name", ["HS118", "QAFIRO", "DUALC2", "AFIRO"])
def test_an_instance_of_public_data_verifies(name: str, tmp_path: Path) -> None:
    program = dict(p for p in optima_set.public_programs() if p[0] == name)[name]
    optima_set.write(tmp_path, iter([(name, program)]))
    _, lower, upper = checker.check((tmp_path / f"{name}.json").read_bytes())
    assert lower == upper


@pytest.mark.skipif(find_spec("qpbenchmark") is None, reason="qpbenchmark is not installed")
def test_qpbenchmark_runs_the_set(tmp_path: Path) -> None:
    results = tmp_path / "results.csv"
    command = [sys.executable, "-m", "qpbenchmark.benchmark", "--results-path", str(results)]
    subprocess.run(
        [*command, str(optima_set.BUNDLED / "exact_optima.py"), "run", "--author", "a test"],
        check=True,
        capture_output=True,
        timeout=HANG,
    )
    rows = list(csv.DictReader(results.read_text(encoding="utf-8").splitlines()))
    assert {row["problem"] for row in rows} == {file.stem for file in INSTANCES}
    accurate = [row for row in rows if row["settings"] == "high_accuracy"]
    gaps = [float(row["duality_gap"]) for row in accurate if row["solver"] == "clarabel"]
    assert len(gaps) == len(INSTANCES)
    assert max(gaps) < 1e-6


@pytest.mark.skipif(find_spec("benchopt") is None, reason="benchopt is not installed")
def test_benchopt_runs_the_set(tmp_path: Path) -> None:
    import pandas as pd

    folder = shutil.copytree(optima_set.BUNDLED, tmp_path / "test_set")
    subprocess.run(
        [sys.executable, "-m", "benchopt", "run", str(folder), "--no-plot", "--no-html"],
        check=True,
        capture_output=True,
        timeout=HANG,
        env=os.environ | {"HOME": str(tmp_path)},
    )
    (table,) = (folder / "outputs").glob("*.parquet")
    found = pd.read_parquet(table)
    assert len(found) == len(INSTANCES)
    assert found["objective_value"].max() < 1e-6
    assert found["objective_violation"].max() < 1e-6
