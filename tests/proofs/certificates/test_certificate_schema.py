"""JSON Schema of certificates: written ones fit it, and no valid one is excluded."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from campaigns import certificate_mutations as mutant
from campaigns.exact.program_kinds import KINDS
from campaigns.fuzz.drawn import signed
from equimargin.formulations import Kernel, linear, polynomial, precomputed, rbf
from equimargin.formulations.programs import Program, program_from_arrays
from equimargin.proofs import certificate, checker, program_certificate
from equimargin.solvers import solve
from equimargin.solvers.exact.program import Infeasible, UnboundedProgram, program_optimum
from equimargin.testing import sample_problem
from families import OF_THE_CERTIFICATE
from narrow import as_a
from places import ROOT
from schema import CERTIFICATES, SCHEMA, certificate_faults

KERNELS: tuple[Kernel, ...] = (linear(), rbf(0.5), polynomial(2, 0.5, 1.0), precomputed())
OF_CORPUS = sorted((ROOT / "tests" / "corpus" / "certificate").iterdir())
FILES = [*OF_CORPUS, *sorted((ROOT / "examples" / "test_set" / "instances").iterdir())]
RAYS: dict[type[Infeasible | UnboundedProgram], Program] = {
    Infeasible: program_from_arrays(q=[0], G=[[1], [-1]], h=[0, -1]),
    UnboundedProgram: program_from_arrays(q=[1], G=[[1]], h=[0]),
}


def parts(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all keys and entries."""
    pairs = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in pairs:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from parts(value, (*path, key))


def without(document: dict[str, Any], path: tuple[Any, ...]) -> dict[str, Any]:
    """Return a document without the part at a path."""
    changed: Any = copy.deepcopy(document)
    at = changed
    for key in path[:-1]:
        at = at[key]
    del at[path[-1]]
    return as_a(dict, changed)


def program(make: Any = KINDS[0]) -> dict[str, Any]:
    document = mutant.certificate_of_kind(make, "integer", 1)
    assert document is not None
    return document


def test_schemas_have_different_ids() -> None:
    assert {SCHEMA["$id"], CERTIFICATES["$id"]} == {
        "urn:equimargin:records",
        "urn:equimargin:certificate",
    }


@pytest.mark.parametrize("family", OF_THE_CERTIFICATE)
def test_certificate_of_a_family_fits(family: str) -> None:
    for kernel in KERNELS[:3]:
        document = certificate(solve(sample_problem(family, kernel), tol=1e-6))
        assert not list(certificate_faults(json.loads(json.dumps(document))))


@pytest.mark.parametrize("family", mutant.WITH_A_PATH)
def test_certificate_of_a_path_fits(family: str) -> None:
    document = json.loads(json.dumps(mutant.certificate_of_path(family)))
    assert not list(certificate_faults(document))


@pytest.mark.parametrize("kind", RAYS)
def test_certificate_of_a_ray_fits(kind: type[Infeasible | UnboundedProgram]) -> None:
    found = program_optimum(RAYS[kind])
    assert isinstance(found, Infeasible | UnboundedProgram)
    assert isinstance(found, kind)
    assert not list(certificate_faults(program_certificate(RAYS[kind], found)))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_certificate_in_the_repository_fits(file: Path) -> None:
    assert not list(certificate_faults(json.loads(file.read_text(encoding="utf-8"))))


@pytest.mark.parametrize("file", OF_CORPUS, ids=lambda file: file.name)
def test_what_lacks_a_key_fits_only_if_the_checker_accepts_it(file: Path) -> None:
    document, excluded = json.loads(file.read_text(encoding="utf-8")), 0
    for path in parts(document):
        changed = without(document, path)
        if list(certificate_faults(changed)):
            excluded += 1
            data = json.dumps(changed).encode()
            assert mutant.accepted(data if path[0] == "digests" else signed(data)) is None
    assert excluded > 10


@pytest.mark.parametrize("make", KINDS)
def test_schema_excludes_no_accepted_change(make: Any) -> None:
    for _, changed in mutant.mutations(program(make), np.random.default_rng(1), 40):
        if mutant.accepted(json.dumps(changed).encode()) is not None:
            assert not list(certificate_faults(changed))


def test_schema_names_what_the_checker_knows() -> None:
    problem = CERTIFICATES["$defs"]["problem"]["anyOf"]
    families = [name for one in problem for name in one["properties"]["family"]["enum"]]
    assert set(families) == set(checker.FAMILY_OF_NAME)
