"""Certificates as Coq theorems about their bytes, and messages about refused ones.

A message states that a certificate is wrong, or not covered.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from campaigns.certificate_mutations import accepted, hostile, mutations, signed
from campaigns.rocq import programs, singular
from campaigns.two_checkers import (
    INDEFINITE,
    doubled,
    of_form,
    one_sided,
    rays,
    rewritten,
    weighted,
)
from equimargin.cli.app import app
from equimargin.formulations import (
    classification,
    one_norm_classification,
    polynomial,
    precomputed,
    ranking_vector_machine,
    rbf,
    regression,
)
from equimargin.proofs import certificate, coq, path_certificate, write_certificate
from equimargin.proofs.coq.__main__ import main
from equimargin.proofs.coq.compiled import library
from equimargin.proofs.coq.program import _name
from equimargin.solvers import RegularizationPath, regularization_path, solve
from narrow import as_a

X = [[1.0, 0.3], [-1.0, 0.7], [-0.5, -1.0], [1.2, -1.0], [0.1, 0.2]]
SOFT: Any = certificate(solve(classification(X, [1, -1, -1, 1, -1], 2.0), tol=1e-9))
RBF: Any = certificate(solve(classification(X, [1, -1, -1, 1, -1], 2.0, rbf(1.0)), tol=1e-9))
TUBE: Any = certificate(
    solve(regression(X, [0.5, 1.5, -2.0, 0.25, 1.0], 2.0, 0.125, loss="squared_hinge"), tol=1e-9)
)
CUBIC: Any = certificate(
    solve(classification(X, [1, -1, -1, 1, -1], 2.0, polynomial(3, 0.5, 1.0)), tol=1e-9)
)
VECTORS: Any = certificate(solve(ranking_vector_machine(X, [2, 0, 1, 1, 0], None, 2.0), tol=1e-9))
ONE_NORM: Any = certificate(solve(one_norm_classification(X, [1, -1, -1, 1, -1], 2.0), tol=1e-9))
SINGULAR: Any = singular()
PROGRAMS: dict[str, Any] = programs()
WEIGHTED, WITHOUT_POINT = dict(weighted())["svm.l2, weights"], rays()[0][1]
WEIGHTED_VECTORS, WEIGHTED_ONE_NORM = (
    dict(weighted())[f"{family}, weights, {kernel}"]
    for family, kernel in (("rvm", "linear"), ("svm.onenorm", "rbf"))
)
BOTH = pytest.mark.skipif(
    not all(map(shutil.which, ("coqc", "ocamlfind"))), reason="coqc or ocamlfind is not installed"
)
NEEDS_COQ = pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed")


def written(folder: Path, name: str, document: Any) -> Path:
    """Write a certificate to a file in a folder and return its path."""
    path = folder / name
    path.write_text(json.dumps(document), encoding="ascii")
    return path


def verify(*files: Path) -> tuple[int, str]:
    """Return the exit status and the output of `verify --prove`, its lines joined."""
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


NAMES = [
    ("svm.soft.json", "svm_soft"),
    ("2-rows.json", "certificate_2_rows"),
    ("_.json", "certificate__"),
]


@pytest.mark.parametrize(("name", "module"), NAMES)
def test_a_theorem_has_a_name_that_coq_takes(name: str, module: str) -> None:
    assert coq.name_module(Path(name)) == module


def test_without_coq_the_theorem_is_written_and_a_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    status, said = verify(written(tmp_path, "svm.soft.json", SOFT))
    assert status == 4
    assert re.search(
        r"ACCEPTED: svm.soft.* NOT PROVED: .*svm_soft.v is written, and there is no coqc to "
        r"check it: apt-get install",
        said,
    )
    assert (tmp_path / "svm_soft.v").read_text(encoding="ascii") == coq.theorem(
        (tmp_path / "svm.soft.json").read_bytes(), "svm_soft"
    )


def test_verify_says_on_standard_error_before_it_builds_the_theorems_and_only_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    coqc, refuses = tmp_path / "coqc", "#!/bin/sh\n[ $1 = --version ]\n"
    coqc.write_text(refuses, encoding="ascii")
    coqc.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    monkeypatch.setattr("equimargin.proofs.coq.compiled.cache", lambda: tmp_path)
    file = written(tmp_path, "svm.soft.json", SOFT)

    def said() -> str:
        answer = CliRunner().invoke(app, ["verify", "--prove", str(file)])
        assert (answer.exit_code, "NOT PROVED: Coq ends with status 1" in answer.stdout) == (
            4,
            True,
        )
        return answer.stderr

    assert said() == "building the theorems, once: about two minutes\n"
    monkeypatch.setattr("equimargin.proofs.coq.compiled.cache", lambda: None)
    assert said() == "building the theorems: about two minutes\n"
    monkeypatch.setattr("equimargin.proofs.coq.compiled.cache", lambda: tmp_path)
    coqc.write_text("#!/bin/sh\nexit 0\n", encoding="ascii")
    with library() as compiled:
        assert compiled.parent == tmp_path
    coqc.write_text(refuses, encoding="ascii")
    assert said() == ""


def test_a_file_that_is_no_theorem_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "svm_soft.v").write_text("Definition mine := 0.", encoding="ascii")
    status, said = verify(written(tmp_path, "svm.soft.json", SOFT))
    assert status == 4
    assert "svm_soft.v exists and is no theorem of a certificate; move it" in said
    assert (tmp_path / "svm_soft.v").read_text(encoding="ascii") == "Definition mine := 0."


def test_a_rejected_certificate_becomes_no_theorem(tmp_path: Path) -> None:
    wrong = signed(
        SOFT | {"claim": {"lower": SOFT["claim"]["upper"], "upper": SOFT["claim"]["upper"] + 1}}
    )
    status, said = verify(written(tmp_path, "wrong.json", wrong))
    assert status == 1
    assert "REJECTED: lower_bound_is_proved" in said
    assert not (tmp_path / "wrong.v").exists()


@pytest.mark.slow
@NEEDS_COQ
def test_coq_proves_what_it_covers_and_says_what_it_does_not(tmp_path: Path) -> None:
    proved = {
        "soft": SOFT,
        "tube": TUBE,
        "cubic": CUBIC,
        "weighted": WEIGHTED,
        "weighted_vectors": WEIGHTED_VECTORS,
        "weighted_one_norm": WEIGHTED_ONE_NORM,
        "ray": WITHOUT_POINT,
    }
    proved |= {"vectors": VECTORS, "one_norm": ONE_NORM, "singular": SINGULAR, "rbf": RBF}
    proved |= {
        f"program_{name}": PROGRAMS[name] for name in ("cone", "quadratic", "infeasible", "endless")
    }
    proved |= {f"side{k}": one for k, (_, one) in enumerate(one_sided(SOFT))}
    files = [written(tmp_path, f"{name}.json", document) for name, document in proved.items()]
    path = as_a(
        RegularizationPath, regularization_path(classification(X, [1, -1, -1, 1, -1], 2.0), 0.1)
    )
    write_certificate(path_certificate(path), tmp_path / "path.json")
    status, said = verify(*files, tmp_path / "path.json")
    assert status == 4
    for name in proved:
        assert re.search(
            rf"{name}.json: PROVED: Coq has checked the theorem \S*{name}.v, which rests on "
            rf"no axiom",
            said,
        )
    assert re.findall(rf"(\w+)\.v, which rests on no axiom; it holds {coq.CONDITION}", said) == [
        "weighted_one_norm",
        "rbf",
    ]
    assert coq.CONDITION in (tmp_path / "rbf.v").read_text()
    assert (
        f"path.json: NOT PROVED: the checker that is proved in Coq rejects the certificate, "
        f"or cannot read it: {coq.COVERED}" in said
    )


@pytest.mark.slow
@NEEDS_COQ
def test_coq_itself_refuses_an_interval_without_the_optimum(tmp_path: Path) -> None:
    upper = SOFT["claim"]["upper"]
    for name, claim in (
        ("above", {"lower": upper, "upper": upper + 1}),
        ("below", {"lower": 0.0, "upper": SOFT["claim"]["lower"] / 2}),
    ):
        with pytest.raises(coq.NotProved, match="rejects the certificate"):
            coq.prove(written(tmp_path, f"{name}.json", SOFT | {"claim": claim}))


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the path of the checker program in a cache of the test."""
    folder = tmp_path / "cache"
    folder.mkdir()
    monkeypatch.setattr("equimargin.proofs.coq.program.cache", lambda: folder)
    assert coq.built() is None
    return folder / _name()


def test_verify_says_that_the_program_is_not_built(program: Path, tmp_path: Path) -> None:
    answer = CliRunner().invoke(app, ["verify", str(written(tmp_path, "soft.json", SOFT))])
    assert answer.exit_code == 0
    assert answer.output.endswith("build it: python -m equimargin.proofs.coq (needs Coq).\n")


SAYS = [
    (
        "echo accepted",
        0,
        "Checked by checker.py, and by the proved checker, which accepts 1 of 1.",
    ),
    ("echo unread", 0, f"which accepts 0 of 1, and does not support 1: {coq.COVERED}."),
    (
        "echo rejected",
        1,
        "soft.json: REJECTED by the proved checker, and accepted by checker.py",
    ),
    (
        "echo no memory >&2; exit 3",
        0,
        "soft.json: the program that is proved ends with status 3: no memory",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("command", "status", "sentence"), SAYS)
def test_verify_says_what_the_program_answers(
    program: Path, tmp_path: Path, command: str, status: int, sentence: str
) -> None:
    program.write_text(f"#!/bin/sh\n{command}\n", encoding="ascii")
    program.chmod(0o755)
    answer = CliRunner().invoke(app, ["verify", str(written(tmp_path, "soft.json", SOFT))])
    assert (answer.exit_code, sentence in " ".join(answer.output.split())) == (status, True)


def test_a_program_that_cannot_be_started_is_a_sentence(program: Path, tmp_path: Path) -> None:
    program.write_text("damaged", encoding="ascii")
    answer = CliRunner().invoke(app, ["verify", str(written(tmp_path, "soft.json", SOFT))])
    assert answer.exit_code == 0
    said = " ".join(answer.output.split())
    assert re.search(
        r"soft.json: the program that is proved cannot be started: .* delete .* and build it again",
        said,
    )
    assert "which accepts 0 of 1" in said


def test_a_rejected_file_is_not_asked_about(program: Path, tmp_path: Path) -> None:
    program.write_text("#!/bin/sh\necho accepted\n", encoding="ascii")
    answer = CliRunner().invoke(
        app, ["verify", str(written(tmp_path, "soft.json", SOFT | {"mode": "exact"}))]
    )
    assert (answer.exit_code, "the program" in answer.output) == (1, False)


def test_without_ocaml_a_sentence_says_what_to_install(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        coq.NotProved, match=r"no coqc and no ocamlfind.* apt-get install .*libzarith-ocaml-dev"
    ):
        coq.build()
    assert main() == 2


@pytest.mark.slow
@BOTH
def test_the_extracted_program_answers_as_the_checker_in_python_does(tmp_path: Path) -> None:
    built, rng = coq.build(), np.random.default_rng(0)
    for document in (
        SOFT,
        TUBE,
        CUBIC,
        WEIGHTED,
        WEIGHTED_VECTORS,
        WEIGHTED_ONE_NORM,
        WITHOUT_POINT,
        VECTORS,
        ONE_NORM,
        SINGULAR,
        RBF,
        *PROGRAMS.values(),
        *(one for _, one in one_sided(TUBE)),
    ):
        assert (
            coq.answer(built, written(tmp_path, "true.json", document))
            is coq.CheckerAnswer.ACCEPTED
        )
        for _, changed in mutations(document, rng, 40):
            again = signed(changed)
            data = json.dumps(again).encode()
            found = coq.answer(built, written(tmp_path, "changed.json", again))
            assert (found is coq.CheckerAnswer.ACCEPTED) == (accepted(data) is not None)


@pytest.mark.slow
@BOTH
@pytest.mark.parametrize(
    "document",
    [SOFT, RBF, WITHOUT_POINT, PROGRAMS["quadratic"], PROGRAMS["cone"], PROGRAMS["infeasible"]],
)
def test_the_program_refuses_wrong_digests_keys_and_schemas(
    document: dict[str, Any], tmp_path: Path
) -> None:
    forms = [json.dumps(changed).encode() for _, changed in of_form(document)]
    forms += [data for _, data in (*doubled(document), *rewritten(document))]
    files = [tmp_path / f"{k}.json" for k in range(len(forms))]
    for file, data in zip(files, forms, strict=True):
        file.write_bytes(data)
    found = [answer is coq.CheckerAnswer.ACCEPTED for answer in coq.answers(coq.build(), files)]
    assert found == [accepted(data) is not None for data in forms]
    assert {True, False} == set(found)


@BOTH
def test_the_program_takes_the_numbers_of_rows_as_integers_alone(tmp_path: Path) -> None:
    dual = SOFT["dual"]
    for rows in ([float(row) for row in dual["rows"]], [str(row) for row in dual["rows"]]):
        changed = signed(SOFT | {"dual": dual | {"rows": rows}})
        assert accepted(json.dumps(changed).encode()) is None
        assert (
            coq.answer(coq.build(), written(tmp_path, "rows.json", changed))
            is coq.CheckerAnswer.UNREAD
        )


@BOTH
def test_the_program_refuses_a_ray_that_is_none(tmp_path: Path) -> None:
    """The multipliers do not cancel, or the weights have a finite one in a row of the ray."""
    problem, dual = WITHOUT_POINT["problem"], WITHOUT_POINT["dual"]
    assert (
        coq.answer(coq.build(), written(tmp_path, "ray.json", WITHOUT_POINT))
        is coq.CheckerAnswer.ACCEPTED
    )
    soft = signed(
        WITHOUT_POINT
        | {
            "problem": problem
            | {"family": "svm.soft", "C": 1, "weights": ["inf", "inf", "inf", 1e6]}
        }
    )
    apart = signed(WITHOUT_POINT | {"dual": dual | {"numerators": [2, 2, 1, 3]}})
    for wrong in (soft, apart):
        assert (
            coq.answer(coq.build(), written(tmp_path, "wrong.json", wrong))
            is coq.CheckerAnswer.REJECTED
        )
        assert accepted(json.dumps(wrong).encode()) is None


@BOTH
def test_the_program_refuses_a_matrix_that_is_not_semidefinite(tmp_path: Path) -> None:
    """A margin problem needs K >= 0, a linear program does not.

    A certificate's statement about that has to be true.
    """
    signs, multipliers = [1, -1], {"rows": [0, 1], "numerators": [1, 1], "denominator": 1}
    indefinite = certificate(
        solve(one_norm_classification(INDEFINITE, signs, 1.0, precomputed()), tol=1e-9)
    )
    assert (
        coq.answer(coq.build(), written(tmp_path, "program.json", indefinite))
        is coq.CheckerAnswer.ACCEPTED
    )
    margin = SINGULAR["problem"] | {"features": [[0], [1, -2]], "labels": signs}
    claim = {"lower": 0, "upper": "inf"}
    for triangle, expected in (
        ([[0], [1, -2]], coq.CheckerAnswer.REJECTED),
        ([[1], [1, 1]], coq.CheckerAnswer.ACCEPTED),
        ([[1], [2, 1]], coq.CheckerAnswer.REJECTED),
    ):
        made = SINGULAR | {
            "problem": margin | {"features": triangle},
            "primal": None,
            "dual": multipliers,
            "claim": claim,
        }
        again = signed(made)
        assert coq.answer(coq.build(), written(tmp_path, "margin.json", again)) is expected
        assert (accepted(json.dumps(again).encode()) is not None) == (
            expected is coq.CheckerAnswer.ACCEPTED
        )
    said = signed(indefinite | {"semidefinite": "by factorisation"})
    assert coq.answer(coq.build(), written(tmp_path, "said.json", said)) is coq.CheckerAnswer.UNREAD
    assert accepted(json.dumps(said).encode()) is None


@BOTH
def test_the_program_expands_a_power_of_the_highest_degree(tmp_path: Path) -> None:
    """It has 33 coefficients in one feature.

    Their binomials once took 2^32 steps: those of each lower power were computed twice.
    """
    points = np.arange(-32.0, 32.0)[:, None] / 32
    problem = classification(points, np.tile([1.0, -1.0], 32), 0.01, polynomial(32, 1.0, 1.0))
    file = written(tmp_path, "power.json", certificate(solve(problem, tol=1e-6)))
    assert coq.answer(coq.build(), file) is coq.CheckerAnswer.ACCEPTED


WRONG_PROGRAMS: dict[str, tuple[str, dict[str, Any]]] = {
    "an unknown key": ("problem", {"d": 0}),
    "an entry twice": ("problem", {"A": [[0, 0, 1], [0, 0, 1]]}),
    "an entry of no column": ("problem", {"G": [[0, 3, 1]]}),
    "an entry above the diagonal": ("problem", {"P": [[0, 1, 0]]}),
    "an entry that is no triple": ("problem", {"G": [[0, 0]]}),
    "a row that is a text": ("problem", {"G": [["0", 0, 1]]}),
    "a cone without rows": ("problem", {"cones": [0]}),
    "more cones than rows": ("problem", {"cones": [2, 2]}),
    "a cone that is a boolean": ("problem", {"cones": [True]}),
    "a point that is too long": ("primal", {"x": [0, 0, 0, 0]}),
    "multipliers that are too few": ("dual", {"z": [1]}),
    "a point of no name": ("primal", {"u": [0, 0, 0]}),
}
"""Changes of a quadratic program or its points that make the file unreadable.

The program has three unknowns and two rows.
"""


@BOTH
@pytest.mark.parametrize("name", WRONG_PROGRAMS)
def test_what_states_no_program_is_not_read(name: str, tmp_path: Path) -> None:
    part, change = WRONG_PROGRAMS[name]
    document = PROGRAMS["quadratic"]
    wrong = signed(document | {part: document[part] | change})
    assert (
        coq.answer(coq.build(), written(tmp_path, "wrong.json", wrong)) is coq.CheckerAnswer.UNREAD
    )
    assert accepted(json.dumps(wrong).encode()) is None


@BOTH
@pytest.mark.parametrize(
    "schema", ["equimargin-certificate/1", "equimargin-certificate/3", "equimargin-certificate/2 "]
)
def test_a_program_under_another_schema_is_not_read(schema: str, tmp_path: Path) -> None:
    wrong = PROGRAMS["linear"] | {"schema": schema}
    assert (
        coq.answer(coq.build(), written(tmp_path, "wrong.json", wrong)) is coq.CheckerAnswer.UNREAD
    )
    assert accepted(json.dumps(wrong).encode()) is None


@BOTH
def test_a_program_whose_matrices_would_fill_the_memory_is_not_read(tmp_path: Path) -> None:
    """3,500 unknowns without a constraint.

    The triangle of P and its mirror image have more than ten million zeros.
    """
    n = 3500
    empty: dict[str, Any] = {key: [] for key in ("P", "A", "b", "G", "h", "cones")}
    document = signed(
        PROGRAMS["linear"]
        | {"problem": empty | {"q": [0] * n, "c": 0}, "claim": {"lower": 0, "upper": 0}}
        | {"primal": {"x": [0] * n}, "dual": {"x": [0] * n, "y": [], "z": []}}
    )
    assert accepted(json.dumps(document).encode()) is not None
    assert (
        coq.answer(coq.build(), written(tmp_path, "large.json", document))
        is coq.CheckerAnswer.UNREAD
    )


@BOTH
def test_the_program_refuses_what_a_point_of_a_program_does_not_prove(tmp_path: Path) -> None:
    """Each of six changes is refused.

    They are ends too close, an indefinite P, a slack outside its cone, multipliers that
    do not separate, a direction that ascends.
    """
    cone, quadratic, infeasible, endless = (
        PROGRAMS[name] for name in ("cone", "quadratic", "infeasible", "endless")
    )
    upper = quadratic["claim"]["upper"]
    wrongs = [
        quadratic | {"mode": "proven", "claim": {"lower": upper, "upper": "1000"}, "dual": None},
        quadratic
        | {"problem": quadratic["problem"] | {"P": [[0, 0, 2], [1, 0, 1], [1, 1, "1/3"]]}},
        cone | {"primal": {"x": [1, 1]}},
        cone | {"dual": cone["dual"] | {"z": [0, *cone["dual"]["z"][1:]]}},
        infeasible | {"dual": {"y": [], "z": [2, 1]}},
        endless | {"primal": endless["primal"] | {"d": [0, -1]}},
    ]
    for wrong in map(signed, wrongs):
        assert (
            coq.answer(coq.build(), written(tmp_path, "wrong.json", wrong))
            is coq.CheckerAnswer.REJECTED
        )
        assert accepted(json.dumps(wrong).encode()) is None


@BOTH
def test_the_program_refuses_prices_above_one(tmp_path: Path) -> None:
    """Multipliers within their costs break B'u <= 1, after a price of exactly 1."""
    for document in (VECTORS, ONE_NORM):
        dual = document["dual"]
        wrong = signed(
            document | {"dual": dual | {"denominator": int(str(dual["denominator"]), 0) * 9 // 10}}
        )
        assert (
            coq.answer(coq.build(), written(tmp_path, "wrong.json", wrong))
            is coq.CheckerAnswer.REJECTED
        )
        assert accepted(json.dumps(wrong).encode()) is None


@BOTH
def test_a_long_number_and_deep_nesting_end_in_an_answer(tmp_path: Path) -> None:
    """Both took the first program minutes, or ended it without an answer."""
    for name, data in hostile(SOFT):
        if name in ("huge hexadecimal", "nested", "nested inside"):
            (tmp_path / "hostile.json").write_bytes(data)
            assert coq.answer(coq.build(), tmp_path / "hostile.json") is coq.CheckerAnswer.UNREAD


def test_a_pipe_that_has_been_read_is_refused(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    for check in (coq.prove, lambda file: coq.answer(Path("/bin/true"), file)):
        with pytest.raises(coq.NotProved, match="a pipe can be read only once"):
            check(pipe)
