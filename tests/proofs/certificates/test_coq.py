"""A certificate becomes a theorem: its bytes stand in the Coq file, Coq checks it, and a sentence says what is wrong or not covered."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from campaigns.certificate_mutations import signed
from equimargin.cli.app import app
from equimargin.formulations import classification, rbf, regression
from equimargin.proofs import certificate, coq
from equimargin.solvers import solve

X = [[1.0, 0.3], [-1.0, 0.7], [-0.5, -1.0], [1.2, -1.0], [0.1, 0.2]]
SOFT: Any = certificate(solve(classification(X, [1, -1, -1, 1, -1], 2.0), tol=1e-9))
RBF: Any = certificate(solve(classification(X, [1, -1, -1, 1, -1], 2.0, rbf(1.0)), tol=1e-9))
TUBE: Any = certificate(solve(regression(X, [0.5, 1.5, -2.0, 0.25, 1.0], 2.0, 0.125, loss="squared_hinge"), tol=1e-9))
NEEDS_COQ = pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed")


def written(folder: Path, name: str, document: Any) -> Path:
    """The file of a certificate in a folder."""
    path = folder / name
    path.write_text(json.dumps(document), encoding="ascii")
    return path


def verify(*files: Path) -> tuple[int, str]:
    """The exit status and the output of `verify --prove`, its lines joined."""
    answer = CliRunner().invoke(app, ["verify", "--prove", *map(str, files)])
    return answer.exit_code, " ".join(answer.output.split())


def test_the_bytes_of_a_certificate_stand_in_its_theorem() -> None:
    data = json.dumps(SOFT | {"more": 'a "quoted" word ' * 200}, indent=1).encode()
    text = coq.theorem(data, "some")
    pieces = re.findall(r'"((?:[^"]|"")*)"', text.partition(":= [::")[2])
    assert "".join(piece.replace('""', '"') for piece in pieces).encode() == data
    assert max(map(len, pieces)) <= 2 * coq.PIECE


def test_a_certificate_that_is_not_ascii_is_refused() -> None:
    with pytest.raises(coq.NotProved, match="not ASCII"):
        coq.theorem("é".encode(), "some")


NAMES = [("svm.soft.json", "svm_soft"), ("2-rows.json", "certificate_2_rows"), ("_.json", "certificate__")]


@pytest.mark.parametrize(("name", "module"), NAMES)
def test_a_theorem_has_a_name_that_coq_takes(name: str, module: str) -> None:
    assert coq.module_of(Path(name)) == module


def test_without_coq_the_theorem_is_written_and_a_sentence_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    status, said = verify(written(tmp_path, "svm.soft.json", SOFT))
    assert status == 4
    assert re.search(r"ACCEPTED: svm.soft.* NOT PROVED: .*svm_soft.v is written, and there is no coqc to check it: apt-get install", said)
    assert (tmp_path / "svm_soft.v").read_text(encoding="ascii") == coq.theorem((tmp_path / "svm.soft.json").read_bytes(), "svm_soft")


def test_a_file_that_is_no_theorem_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "svm_soft.v").write_text("Definition mine := 0.", encoding="ascii")
    status, said = verify(written(tmp_path, "svm.soft.json", SOFT))
    assert status == 4
    assert "svm_soft.v is there and is no theorem of a certificate; move it" in said
    assert (tmp_path / "svm_soft.v").read_text(encoding="ascii") == "Definition mine := 0."


def test_a_rejected_certificate_becomes_no_theorem(tmp_path: Path) -> None:
    wrong = signed(SOFT | {"claim": {"lower": SOFT["claim"]["upper"], "upper": SOFT["claim"]["upper"] + 1}})
    status, said = verify(written(tmp_path, "wrong.json", wrong))
    assert status == 1
    assert "REJECTED: lower_bound_is_proved" in said
    assert not (tmp_path / "wrong.v").exists()


@NEEDS_COQ
def test_coq_proves_what_it_covers_and_says_what_it_does_not(tmp_path: Path) -> None:
    files = [written(tmp_path, f"{name}.json", document) for name, document in (("soft", SOFT), ("tube", TUBE), ("rbf", RBF))]
    status, said = verify(*files)
    assert status == 4
    for name in ("soft", "tube"):
        assert re.search(rf"{name}.json: PROVED: Coq has checked the theorem \S*{name}.v, which rests on no axiom", said)
    assert f"rbf.json: NOT PROVED: the checker that is proved in Coq does not accept it: {coq.COVERED}" in said


@NEEDS_COQ
def test_coq_itself_refuses_an_interval_without_the_optimum(tmp_path: Path) -> None:
    upper = SOFT["claim"]["upper"]
    for name, claim in (("above", {"lower": upper, "upper": upper + 1}), ("below", {"lower": 0.0, "upper": SOFT["claim"]["lower"] / 2})):
        with pytest.raises(coq.NotProved, match="does not accept it"):
            coq.prove(written(tmp_path, f"{name}.json", SOFT | {"claim": claim}))
