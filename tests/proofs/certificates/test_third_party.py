"""Certificates of VIPR and POUNCE: valid ones are accepted, forged ones rejected."""

from __future__ import annotations

import json
import os
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from campaigns.runner import At
from campaigns.third_party import FORMATS, examined
from equimargin.cli.app import app
from equimargin.proofs import checker
from equimargin.proofs.third_party import pounce, vipr
from equimargin.proofs.third_party.verdict import verdict
from places import ROOT

CORPUS = ROOT / "tests" / "corpus"
BOUND = (CORPUS / "vipr" / "bound").read_text(encoding="utf-8")
INFEASIBLE = (CORPUS / "vipr" / "infeasible").read_text(encoding="utf-8")
VIPR_FORGERIES = [
    (BOUND, "range 1/4", "range 1/3", "does not bound the objective"),
    (BOUND, "1/4 1/4\nSOL", "1/4 1/5\nSOL", "no solution has an objective"),
    (BOUND, "0 0.75 }", "0 0.74 }", "does not follow"),
    (BOUND, "1 1/4 0 0.75", "1 1/4 0 -0.75", "opposite senses"),
    (BOUND, "1 1/4 0 0.75", "3 1/4 0 0.75", "must be an integer from 0 to 2"),
    (BOUND, "1 1/4 0 0.75", "0 1/4 0 0.75", "listed twice"),
    (BOUND, "{ lin 2  1 1/4 0 0.75 }", "{ asm }", "without assumptions"),
    (BOUND, "opt 1  0 1/4", "opt 1  0 1/5", "violates the constraint 1"),
    (BOUND, "OBJ min", "OBJ max", "does not bound the objective"),
    (BOUND, "C5 G", "C5 E", "does not follow"),
    (BOUND, "DER 1", "DER 2", "another word must stand"),
    (BOUND, "DER 1", "DER 0", "goes on after"),
    (BOUND, "VAR 2", "VAR 1", "INT must stand"),
    (BOUND, "0.75", "7.5e-1", "a fraction or a decimal"),
    (BOUND, "0.75", "9" * 5000, "a fraction or a decimal"),
    (BOUND, "G 1/4", "G 1/0", "divided by 0"),
    (BOUND, "DER 1", "DER 1 % a comment", "comments stand only before VER"),
    (BOUND, "{ lin 2  1 1/4 0 0.75 } -1", "", "the file ends"),
    (BOUND, "{ lin 2", "{ \x1b[2K", r"unknown reason '\\x1b\[2K'"),
    (INFEASIBLE, "D G 1/2 0", "D G 0 0", "no contradiction"),
    (INFEASIBLE, "D G 1/2 0", "D G 1/2 1 0 1", "no contradiction"),
    (INFEASIBLE, "{ lin 2 0 1 1 -1 }", "{ lin 3 0 1 1 -1 2 1 }", "no contradiction"),
    (INFEASIBLE, "A G 1.5", "A G 1", "does not follow"),
]
VIPR_UNSUPPORTED = [
    ("INT 0", "INT 1 0", "integers"),
    ("VER 1.0", "VER 2.0", "the version"),
    ("{ lin 2", "{ rnd 2", "the reason rnd"),
    ("{ lin 2", "{ lin weak { 0 } 2", "weak"),
]


def statement(document: Any) -> str:
    return checker.statement(pounce.translate(json.dumps(document).encode()))


def test_vipr_bound_is_proven() -> None:
    assert vipr.check(BOUND.encode()) == (False, Fraction(1, 4), Fraction(1, 4), False)


def test_vipr_infeasibility_is_proven() -> None:
    assert vipr.check(INFEASIBLE.encode()) == (True, None, None, True)


@pytest.mark.parametrize(("text", "old", "new", "reason"), VIPR_FORGERIES)
def test_forged_vipr_is_rejected_for_its_reason(text: str, old: str, new: str, reason: str) -> None:
    assert text.count(old) == 1
    with pytest.raises(ValueError, match=reason) as raised:
        vipr.check(text.replace(old, new).encode())
    assert not isinstance(raised.value, vipr.UnsupportedError)


@pytest.mark.parametrize(("old", "new", "reason"), VIPR_UNSUPPORTED)
def test_vipr_of_integers_is_unsupported(old: str, new: str, reason: str) -> None:
    with pytest.raises(vipr.UnsupportedError, match=reason):
        vipr.check(BOUND.replace(old, new).encode())


def test_vipr_with_long_sums_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vipr, "MAX_WORK", 3)
    with pytest.raises(ValueError, match="more arithmetic"):
        vipr.check(BOUND.encode())


@pytest.mark.parametrize("start", [" % a comment\n", "\r\n%\n\t"])
def test_vipr_begins_with_comments(start: str, tmp_path: Path) -> None:
    (file := tmp_path / "bound").write_bytes((start + BOUND.replace("VER ", "VER\n")).encode())
    assert verdict(str(file)).status == 0


def test_vipr_with_many_points_and_empty_constraints_is_limited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(vipr, "MAX_WORK", 300)
    text = f"VER 1.0 VAR 0 INT 0 OBJ min 0 CON 20 0 {'C G 0 0 ' * 20}RTP range 0 0 SOL 20 "
    with pytest.raises(ValueError, match="more arithmetic"):
        vipr.check((text + "s 0 " * 20 + "DER 1 D G 0 OBJ { lin 0 } -1").encode())


@pytest.mark.parametrize("name", ["vipr/bound", "pounce/optimum", "certificate/exact"])
def test_a_pipe_is_read_once(name: str) -> None:
    reader, writer = os.pipe()
    os.write(writer, (CORPUS / name).read_bytes())
    os.close(writer)
    assert verdict(f"/dev/fd/{reader}").status == 0
    os.close(reader)


@pytest.mark.parametrize(
    ("name", "proven"),
    [
        ("optimum", r"the optimum is in \[0.5, 0.5\]"),
        ("infeasible", "no point is feasible"),
        ("unbounded", "the objective has no lower bound"),
    ],
)
def test_pounce_is_proven(name: str, proven: str) -> None:
    document = json.loads((CORPUS / "pounce" / name).read_text(encoding="utf-8"))
    # Consumers must tolerate unknown fields.
    assert re.search(proven, statement(document | {"later": 1}))


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        (("candidate", "objective", "num"), "2", "lower_bound_is_proved"),
        (("candidate", "x", 0, "num"), "3", "gradient_vanishes"),
        (("witnesses", "duals", 0, "num"), "1", "gradient_vanishes"),
        (("problem", "objective", "Q", "entries", 0, "val", "num"), "-2", "quadratic_part"),
        (("problem", "objective", "Q", "symmetric"), False, "Q must be symmetric"),
        (("problem", "objective", "half_quadratic"), False, "gradient_vanishes"),
        (("problem", "constraints", 0, "lower"), {"num": "1", "den": "1"}, "one finite side"),
        (("problem", "var_bounds", "lower", 0), {"num": "0", "den": "1"}, "among the constraints"),
        (("tolerance", "num"), "1", "tolerance"),
        (("problem_class",), "sos-poly", "only qp-convex"),
        (("verdict",), "feasible", "only global-min"),
        (("problem", "objective", "kind"), "cubic", "only quadratic"),
        (("schema",), "pounce.lean-cert/v2", "schema"),
    ],
)
def test_forged_pounce_is_rejected_for_its_reason(
    path: tuple[Any, ...], value: Any, reason: str
) -> None:
    document = json.loads((CORPUS / "pounce" / "optimum").read_text(encoding="utf-8"))
    part = document
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    with pytest.raises(ValueError, match=reason) as raised:
        statement(document)
    assert isinstance(raised.value, vipr.UnsupportedError) == (
        path[-1] in ("problem_class", "verdict", "kind") or path[0] == "tolerance"
    )


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("number", range(15))
def test_accepted_forgeries_are_true(name: str, number: int) -> None:
    at = At(41, 0, number)
    trial = examined(*FORMATS[name], at.rng(), at)
    assert not trial.said


def test_command_verifies_each_file_by_its_format(tmp_path: Path) -> None:
    forged, integers = tmp_path / "forged.vipr", CORPUS / "vipr" / "refused_integers"
    forged.write_text(BOUND.replace("range 1/4", "range 1/3"), encoding="utf-8")
    files = [CORPUS / "vipr" / "bound", CORPUS / "pounce" / "optimum"]
    ended = CliRunner().invoke(app, ["verify", *map(str, files)])
    lines = ended.output.splitlines()
    assert ended.exit_code == 0
    assert [line.partition(": ")[2][:30] for line in lines] == [
        "ACCEPTED: linear program of VI",
        "ACCEPTED: program of POUNCE: t",
    ]
    polynomial = CORPUS / "pounce" / "refused_polynomial"
    assert [verdict(str(file)).status for file in (forged, integers, polynomial)] == [1, 2, 2]
