"""Build and check the theorems of proofs/rocq by Coq.

    python -m campaigns.rocq            build, assumptions, golden values, certificates
    python -m campaigns.rocq --mutants  all four with single edits of the definitions

One of the four must detect each edit. All files are written to copies under build/rocq.
A golden value is the value of a published formula at random dyadic numbers, where
float64 is exact; Coq must compute an equal objective, and equal feasibility, from its
definitions. Certificates of all families that the proved checker reads become theorems,
and the proved checker must accept the mutations of them that the checker in Python
accepts. Certificates are tried on an edit only if the build and the golden values do
not detect it. Exit status 1 if anything fails.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import theorems
from campaigns.faults import read
from equimargin.formulations import (
    Kernel,
    OneNormProblem,
    Problem,
    classification,
    declare,
    linear,
    polynomial,
    precomputed,
    rbf,
)
from equimargin.formulations.declarations.declaration import FormulaValue
from equimargin.formulations.declarations.family import FAMILIES
from equimargin.formulations.declarations.formulation import REGISTRY
from equimargin.formulations.documents.controls import reduced_pairs
from equimargin.formulations.kernels.given_matrix import proven_shift
from equimargin.formulations.programs import Program, program_from_arrays
from equimargin.proofs import certificate, enclosure, program_certificate
from equimargin.proofs.coq import strings
from equimargin.solvers import exact_optimum, solve
from equimargin.solvers.exact.program import (
    Inconclusive,
    Infeasible,
    Optimum,
    UnboundedProgram,
    program_optimum,
)
from equimargin.testing import HARD, get_task, sample_problem

BUILD = theorems.ROCQ.parents[1] / "build" / "rocq"
SECONDS = 900
"""Maximum wall seconds of a file; golden values take minutes, on a busy machine more."""
EPSILON = 0.5
DRAWS = 200_000

HEADER = r"""From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From equimargin Require Import inner optimum qp margin representer.
From equimargin Require Import svm svr ranksvm coefficients one_norm look_alikes.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Section Golden.
Variable R : realFieldType.
Local Notation L := (line R).
"""
TACTICS = r"""Ltac parts leaf := match goal with
  | |- and5 _ _ _ _ _ => split; parts leaf | |- and4 _ _ _ _ => split; parts leaf
  | |- and3 _ _ _ => split; parts leaf
  | |- _ /\ _ => split; parts leaf | |- is_true (_ && _) => apply/andP; split; parts leaf
  | |- forall i, _ => case=> -[|[|[|//]]] //= ?; parts leaf
  | |- is_true (_ <= _) => expanded; leaf | |- _ = _ => expanded; numerals
  | |- _ => progress hnf; parts leaf end
with expanded := rewrite ?/svm_beta_margin ?/svr_beta_above ?/svr_beta_below ?/svr_beta_value
  ?/rank_values ?/rvm_row ?/svm_entry ?/Qhat ?/K
  ?big_ord_recl ?big_ord0 /vector /points /=.
Ltac evaluated := rewrite OBJECTIVES ?/svm_quadratic ?/svr_quadratic ?/rank_quadratic; expanded.
Ltac whole_number m n := match n with O => fail
  | S ?k => first [difference m 0%N | difference m 1%N | whole_number (S m) k] end.
Ltac hinge_of e := first [rewrite (@max_r _ _ 0 e); last by whole_number 0%N 20%N
  | rewrite (@max_l _ _ 0 e); last by whole_number 0%N 20%N].
Ltac size_of e := first [rewrite (@ger0_norm _ e); last by whole_number 0%N 20%N
  | rewrite (@ler0_norm _ e); last by whole_number 0%N 20%N].
Ltac sized := match goal with |- context [Num.max 0 ?e] => hinge_of e
  | |- context [Num.norm ?e] => size_of e end.
"""


CERTIFICATES = r"""From mathcomp Require Import all_ssreflect all_algebra.
From equimargin.checker Require Import json certificate.
Open Scope text_scope.
"""


@dataclass(frozen=True)
class Definition:
    """Coq form of a declaration: objective and feasible set at a point of variables."""

    objective: str
    feasible: str | None
    variables: str

    def point(self, values: Mapping[str, Any]) -> str:
        """Return values of the variables for Coq.

        They are numbers, vectors with one entry, and vectors of multipliers or slacks.
        """
        parts = [written(values[name]) for name in self.variables.split()]
        return f"({', '.join(parts)})" if len(parts) > 1 else parts[0]


def numeral(value: Any) -> str:
    """Return a dyadic number for Coq, as an element of an ordered field."""
    q = Fraction(float(value))
    text = (
        f"{abs(q.numerator)}%:R"
        if q.denominator == 1
        else f"({abs(q.numerator)}%:R / {q.denominator}%:R)"
    )
    return f"(- {text})" if q < 0 else text


def sequence(values: Any) -> str:
    """Return the numbers as a Coq sequence."""
    return "[:: " + "; ".join(numeral(v) for v in values) + "]"


def vector(values: Any) -> str:
    """Return numbers as a Coq vector."""
    return f"(vector {sequence(values)} : 'I_{len(values)} -> R)"


def written(value: Any) -> str:
    """Return a number, a vector with one entry, or another vector, for Coq."""
    size = np.shape(value)
    return (
        vector(value)
        if size and size != (1,)
        else f"({numeral(value[0])} : R^o)"
        if size
        else numeral(value)
    )


SVM, SVR, RANK = "L x y", "L x y {e}", "L x hi lo"
DEFINITIONS: dict[str, Definition] = {
    "svm.hard.primal": Definition("svm_hard_primal_obj L", f"svm_hard_primal_feas {SVM}", "w b"),
    "svm.hard.dual": Definition(f"svm_hard_dual_obj {SVM}", "svm_hard_dual_feas y", "alpha"),
    "svm.hard.margin": Definition(
        "@svm_hard_margin_obj R _", f"svm_hard_margin_feas {SVM}", "u b t"
    ),
    "svm.soft.primal": Definition(
        "svm_soft_primal_obj L {C}", f"svm_soft_primal_feas {SVM}", "w b xi"
    ),
    "svm.soft.dual": Definition(f"svm_soft_dual_obj {SVM}", "svm_soft_dual_feas y {C}", "alpha"),
    "svm.soft.dual.as_printed": Definition(
        f"svm_soft_dual_as_printed_obj {SVM}", "svm_soft_dual_feas y {C}", "alpha"
    ),
    "svm.l2.primal": Definition("svm_l2_primal_obj L {C}", f"svm_l2_primal_feas {SVM}", "w b xi"),
    "svm.l2.dual": Definition(f"svm_l2_dual_obj {SVM} {{C}}", "svm_l2_dual_feas y", "alpha"),
    "svm.soft.beta": Definition(f"svm_soft_beta_obj {SVM} {{C}}", None, "betabar b"),
    "svm.soft.lambda.primal": Definition(
        "svm_soft_lambda_primal_obj L {C}^-1", f"svm_soft_primal_feas {SVM}", "w b zeta"
    ),
    "svm.soft.lambda.dual": Definition(
        f"svm_soft_lambda_dual_obj {SVM} {{C}}^-1", "svm_soft_lambda_dual_feas y", "alpha"
    ),
    "svm.l2.beta": Definition(f"svm_l2_beta_obj {SVM} {{C}}", None, "betabar b"),
    "svm.nobias_l2.beta": Definition(f"svm_nobias_l2_beta_obj {SVM} {{C}}", None, "betabar"),
    "svm.nobias.primal": Definition(
        "svm_nobias_primal_obj L {C}", f"svm_nobias_primal_feas {SVM}", "w xi"
    ),
    "svm.nobias.dual": Definition(
        f"svm_nobias_dual_obj {SVM}", "svm_nobias_dual_feas {C}", "alpha"
    ),
    "svm.nobias.beta": Definition(f"svm_nobias_beta_obj {SVM} {{C}}", None, "betabar"),
    "svm.nobias_hard.primal": Definition(
        "svm_nobias_hard_primal_obj L", f"svm_nobias_hard_primal_feas {SVM}", "w"
    ),
    "svm.nobias_hard.dual": Definition(
        f"svm_nobias_hard_dual_obj {SVM}", "@svm_nobias_hard_dual_feas R _", "alpha"
    ),
    "svm.nobias_hard.margin": Definition(
        "@svm_nobias_hard_margin_obj R _", f"svm_nobias_hard_margin_feas {SVM}", "u t"
    ),
    "svm.nobias_hard.beta": Definition(
        f"svm_nobias_hard_beta_obj {SVM}", f"svm_nobias_hard_beta_feas {SVM}", "betabar"
    ),
    "svm.nobias_l2.primal": Definition(
        "svm_nobias_l2_primal_obj L {C}", f"svm_nobias_l2_primal_feas {SVM}", "w xi"
    ),
    "svm.nobias_l2.dual": Definition(
        f"svm_nobias_l2_dual_obj {SVM} {{C}}", "@svm_nobias_l2_dual_feas R _", "alpha"
    ),
    "svm.penalized.primal": Definition(
        "svm_penalized_primal_obj L {C}", f"svm_penalized_primal_feas {SVM}", "w b xi"
    ),
    "svr.hard.primal": Definition("svr_hard_primal_obj L", f"svr_hard_primal_feas {SVR}", "w b"),
    "svr.hard.dual": Definition(
        f"svr_hard_dual_obj {SVR}", "@svr_hard_dual_feas R _", "alpha alphahat"
    ),
    "svr.l1.primal": Definition(
        "svr_l1_primal_obj L {C}", f"svr_l1_primal_feas {SVR}", "w b xi xihat"
    ),
    "svr.l1.dual": Definition(f"svr_l1_dual_obj {SVR}", "svr_l1_dual_feas {C}", "alpha alphahat"),
    "svr.l1.beta": Definition("svr_l1_beta_obj L x y {C} {e}", None, "beta b"),
    "svr.l1.lambda.primal": Definition(
        "svr_l1_lambda_primal_obj L {C}^-1", f"svr_l1_primal_feas {SVR}", "w b zeta zetahat"
    ),
    "svr.l1.lambda.dual": Definition(
        f"svr_l1_lambda_dual_obj {SVR} {{C}}^-1",
        "@svr_l1_lambda_dual_feas R _",
        "alpha alphahat",
    ),
    "svr.l2.beta": Definition("svr_l2_beta_obj L x y {C} {e}", None, "beta b"),
    "svr.l1.dual.as_printed": Definition(
        f"svr_l1_dual_as_printed_obj {SVR}", "svr_l1_dual_feas {C}", "alpha alphahat"
    ),
    "svr.l2.primal": Definition(
        "svr_l2_primal_obj L {C}", f"svr_l2_primal_feas {SVR}", "w b xi xihat"
    ),
    "svr.l2.dual": Definition(
        "svr_l2_dual_obj L x y {C} {e}", "@svr_l2_dual_feas R _", "alpha alphahat"
    ),
    "rank.hard.primal": Definition("rank_hard_primal_obj L", f"rank_hard_primal_feas {RANK}", "w"),
    "rank.hard.dual": Definition(f"rank_hard_dual_obj {RANK}", "@rank_hard_dual_feas R _", "alpha"),
    "rank.hard.margin": Definition(
        "@rank_hard_margin_obj R _", f"rank_hard_margin_feas {RANK}", "u t"
    ),
    "rank.l1.primal": Definition("rank_l1_primal_obj L {C}", f"rank_l1_primal_feas {RANK}", "w xi"),
    "rank.reduced": Definition("rank_l1_primal_obj L {C}", f"rank_l1_primal_feas {RANK}", "w xi"),
    "rank.l1.dual": Definition(f"rank_l1_dual_obj {RANK}", "rank_l1_dual_feas {C}", "alpha"),
    "rank.l1.dual.as_printed": Definition(
        f"rank_l1_dual_as_printed_obj {RANK}", "rank_l1_dual_feas {C}", "alpha"
    ),
    "rank.l1.beta": Definition(f"rank_l1_beta_obj {RANK} {{C}}", None, "beta"),
    "rank.l2.beta": Definition(f"rank_l2_beta_obj {RANK} {{C}}", None, "beta"),
    "rank.l1.betahat": Definition(f"rank_l1_betahat_obj {RANK} {{C}}", None, "betahat"),
    "rank.l2.betahat": Definition(f"rank_l2_betahat_obj {RANK} {{C}}", None, "betahat"),
    "rank.oneslack": Definition("rank_oneslack_obj L {C}", None, "w xi"),
    "rank.lambda.function": Definition(
        "rank_lambda_function_obj L (2%:R * {C})^-1", f"rank_lambda_function_feas {RANK}", "f zeta"
    ),
    "rank.lambda.function.as_lambda_half": Definition(
        "rank_lambda_function_obj L {C}^-1", f"rank_lambda_function_feas {RANK}", "f zeta"
    ),
    "rank.lambda.primal": Definition(
        "rank_lambda_primal_obj L x {C}^-1", f"rank_lambda_primal_feas {RANK}", "beta zeta"
    ),
    "rank.lambda.dual": Definition(
        f"rank_lambda_dual_obj {RANK} {{C}}^-1", "@rank_lambda_dual_feas R _", "alpha"
    ),
    "rank.path": Definition(f"rank_path_obj {RANK} {{C}}^-1", "@rank_path_feas R _", "alpha"),
    "rank.l2.primal": Definition("rank_l2_primal_obj L {C}", f"rank_l2_primal_feas {RANK}", "w xi"),
    "rank.l2.dual": Definition(f"rank_l2_dual_obj {RANK} {{C}}", "@rank_l2_dual_feas R _", "alpha"),
    "rank.onenorm.primal": Definition(
        "rank_onenorm_primal_obj {C}", f"rank_onenorm_primal_feas {RANK}", "alpha xi"
    ),
    "rank.onenorm.dual": Definition(
        "@rank_onenorm_dual_obj R _", f"rank_onenorm_dual_feas {RANK} {{C}}", "u"
    ),
    "rvm.primal": Definition("rvm_primal_obj {C}", f"rvm_primal_feas {RANK}", "beta xi"),
    "rvm.dual": Definition("@rvm_dual_obj R _", f"rvm_dual_feas {RANK} {{C}}", "u"),
    "rvm.as_printed": Definition(
        f"rvm_as_printed_obj {RANK} {{C}}", "@rvm_as_printed_feas R _", "beta"
    ),
    "rank.onenorm.free": Definition(
        "rank_onenorm_free_obj {C}", f"rank_onenorm_free_feas {RANK}", "beta xi"
    ),
    "svm.onenorm.primal": Definition(
        "svm_onenorm_primal_obj {C}", f"svm_onenorm_primal_feas {SVM}", "alpha b xi"
    ),
    "svm.onenorm.free": Definition(
        "svm_onenorm_free_obj {C}", f"svm_onenorm_free_feas {SVM}", "alpha b xi"
    ),
    "svm.onenorm.dual": Definition(
        "@svm_onenorm_dual_obj R _", f"svm_onenorm_dual_feas {SVM} {{C}}", "u"
    ),
    "svm.nobias_onenorm.primal": Definition(
        "svm_nobias_onenorm_primal_obj {C}", f"svm_nobias_onenorm_primal_feas {SVM}", "alpha xi"
    ),
    "svm.nobias_onenorm.dual": Definition(
        "@svm_nobias_onenorm_dual_obj R _", f"svm_nobias_onenorm_dual_feas {SVM} {{C}}", "u"
    ),
    "rank.differences.dual": Definition(
        "rank_differences_dual_obj KDelta", "rank_l1_dual_feas {C}", "alpha"
    ),
    "rank.onenorm.differences": Definition("lp_obj {C}", "lp_feas KDelta", "alpha xi"),
}
WITHOUT = {
    "svm.hard.bias.as_printed": "a read-out of a solution: "
    "look_alikes.svm_hard_bias_as_printed_is_infeasible",
    "rank.l2.value.as_printed": "a read-out of a solution, with its value in "
    "look_alikes.rank_l2_value_as_printed_is_not_value",
}
"""Reasons why some declarations have no golden value."""
WITHOUT_THEOREMS = ("ord.implicit", "ord.implicit_l2", "ord.hard", "svm.huberised_hinge")
"""Canonical families without a theorem: their relations have numerical evidence only.

Families without canonical points have no theorem, either.
"""


def instance(id: str, C: float) -> Problem:
    """Return a problem with one feature and whole numbers."""
    family = REGISTRY[id].family
    y = {
        "classification": [1.0, -1.0, 1.0],
        "regression": [1.0, 0.0, 3.0],
        "ranking": [1.0, 0.0, 2.0],
    }[get_task(family)]
    data = {
        "X": [[1.0], [-1.0], [2.0]],
        "y": y,
        "kernel": polynomial() if "differences" in id else None,
    }
    data |= {} if family in HARD else {"C": C}
    problem: Problem = FAMILIES[family](
        data | ({"epsilon": EPSILON} if family.startswith("svr") else {})
    )
    return problem


def items(indices: Any) -> str:
    return (
        "(item 2 [:: "
        + "; ".join(str(int(i)) for i in indices)
        + f"]%N : 'I_{len(indices)} -> 'I_3)"
    )


def golden(id: str, rng: np.random.Generator) -> str:
    """Return two lemmas about a declaration, for Coq.

    One states its objective at a point, the other that a feasible point is feasible.
    """
    definition, C = DEFINITIONS[id], float(rng.choice([0.5, 2.0]))
    problem = instance(id, C)
    declared = declare(id, problem)

    def draw(grid: Any) -> dict[str, Any]:
        drawn = {
            name: rng.choice(grid, size=variable.shape) if variable.shape else rng.choice(grid)
            for name, variable in declared.variables.items()
        }
        return drawn | declared.parameter_values

    words: dict[str, str] = {"C": numeral(C), "e": numeral(EPSILON)}
    data = f"let x := points {sequence(problem.X[:, 0])} : 'I_3 -> R^o in "
    if hasattr(problem.rows, "preferred"):
        pairs: Any = (
            reduced_pairs(problem)  # type: ignore[arg-type]
            if id == "rank.reduced"
            else problem.rows
        )
        data += f"let hi := {items(pairs.preferred)} in let lo := {items(pairs.other)} in "
        if "differences" in id:
            D = problem.X[pairs.preferred] - problem.X[pairs.other]
            rows = "; ".join(sequence(row) for row in problem.kernel.block(D, D))
            data += f"let KDelta (p q : 'I_{len(D)}) := nth 0 (nth [::] [:: {rows}] p) q : R in "
    else:
        data += f"let y := {vector(problem.rows.y)} in "
    name = "golden_" + id.replace(".", "_")
    anywhere = draw(
        [-1.0, 0.0, 1.0]
        if definition.feasible is None or "free" in id
        else [-1.0, -0.5, 0.0, 0.5, 1.0, 2.0]
    )
    value = declared.printed(anywhere).objective
    text = (
        f"Lemma {name}_obj : {data}{definition.objective.format(**words)} "
        f"{definition.point(anywhere)} = {numeral(value)}.\n"
    )
    text += "Proof. move=> *; unfolded; evaluated; repeat sized; numerals. Qed.\n"
    if definition.feasible is None:
        return text
    for _ in range(DRAWS):
        somewhere = draw([-1.0, 0.0, 0.0, 0.5, 1.0, 1.0, 2.0, 4.0])
        printed = declared.printed(somewhere)
        if all(np.max(v, initial=0.0) <= 0 for v in printed.violations.values()):
            text += (
                f"Lemma {name}_feas : {data}{definition.feasible.format(**words)} "
                f"{definition.point(somewhere)}.\n"
            )
            return text + f"Proof. move=> *; unfolded; parts ltac:({differences(printed)}). Qed.\n"
    raise LookupError(f"no feasible point of {id} was drawn")


def differences(printed: FormulaValue) -> str:
    """Return the tactic for inequalities, with the differences of their two sides.

    Coq's definition of the ball |u| <= 1 is |u|^2 <= 1.
    """
    balls = {
        1 - (1 + Fraction(float(v))) ** 2 for v in np.ravel(printed.violations.get("ball", 0.0))
    }
    found = sorted(
        {-Fraction(float(v)) for values in printed.violations.values() for v in np.ravel(values)}
        | balls
        | {Fraction(0)}
    )
    return (
        "first ["
        + " | ".join(f"difference {q.numerator}%N {q.denominator - 1}%N" for q in found if q >= 0)
        + "]"
    )


def run(*command: str, cwd: Path) -> str:
    """Return the output of a command; raise RuntimeError with the output if it fails.

    TimeoutExpired is raised if it takes too long.
    """
    answer = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, encoding="utf-8", timeout=10 * SECONDS
    )
    if answer.returncode:
        said = [
            line
            for line in (answer.stdout + answer.stderr).splitlines()
            if re.match(r"File|Error|make", line)
        ]
        raise RuntimeError(
            f"{command[0]} ended with status {answer.returncode}\n" + "\n".join(said[-5:])
        )
    return answer.stdout


def compile_file(folder: Path, name: str) -> str:
    return run(
        "timeout",
        str(SECONDS),
        "coqc",
        "-w",
        "none",
        "-Q",
        ".",
        "equimargin",
        f"{name}.v",
        cwd=folder,
    )


def copy(name: str) -> Path:
    """Copy the sources to a new folder under build, and return it."""
    folder: Path = BUILD / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in [*theorems.ROCQ.rglob("*.v"), theorems.ROCQ / "_CoqProject"]:
        copied = folder / path.relative_to(theorems.ROCQ)
        copied.parent.mkdir(exist_ok=True)
        shutil.copyfile(path, copied)
    return folder


def build(folder: Path) -> None:
    run("coq_makefile", "-f", "_CoqProject", "-o", "Makefile.coq", cwd=folder)
    run("make", "-f", "Makefile.coq", "-j2", cwd=folder)


def check_assumptions(folder: Path) -> int:
    """Return the number of theorems named by relations; raise if any rests on an axiom."""
    names = [name.replace("/", ".") for name in theorems.linked()]
    files = " ".join(sorted({name.rpartition(".")[0] for name in names}))
    lines = [
        f"From equimargin Require {files}.",
        *(f"Print Assumptions equimargin.{name}." for name in names),
    ]
    (folder / "assumptions.v").write_text("\n".join(lines) + "\n", encoding="utf-8")
    closed = compile_file(folder, "assumptions").count("Closed under the global context")
    if closed != len(names):
        raise RuntimeError(f"{len(names) - closed} of {len(names)} linked theorems rest on axioms")
    return closed


def write_golden(folder: Path) -> int:
    """Write the golden values of every declaration as a Coq file; return their number."""
    due = {
        id
        for id, entry in REGISTRY.items()
        if FAMILIES[entry.family].is_canonical and entry.family not in WITHOUT_THEOREMS
    }
    unknown = due - set(DEFINITIONS) - set(WITHOUT)
    if unknown:
        raise RuntimeError(f"no Coq definition is named for {', '.join(sorted(unknown))}")
    rng = np.random.default_rng(9)
    objectives = sorted(
        {definition.objective.split()[0].lstrip("@") for definition in DEFINITIONS.values()}
    )
    tactics = TACTICS.replace("OBJECTIVES", " ".join(f"?/{name}" for name in objectives))
    text = HEADER + tactics + "".join(golden(id, rng) for id in DEFINITIONS) + "End Golden.\n"
    (folder / "golden.v").write_text(text, encoding="utf-8")
    return text.count("Lemma golden_")


ONE_NORM = ("rank.onenorm", "rvm", "svm.onenorm", "svm.nobias_onenorm")
"""Families of linear programs."""
VERIFIED = (
    *("svm.hard", "svm.soft", "svm.l2", "svm.nobias_hard", "svm.nobias", "svm.nobias_l2"),
    *("svr.hard", "svr.l1", "svr.l2", "rank.hard", "rank.l1", "rank.l2"),
    *ONE_NORM,
)
"""Families whose certificates the proved checker reads."""
MUTATIONS = 3
"""Number of mutations of each certificate, with old and with renewed digests, for Coq.

They are few, because Coq takes long to read strings.
"""


def write_certificates(folder: Path) -> str:
    """Write certificates as theorems, and mutations with Python's verdicts, for Coq.

    Return a sentence on the contents of the Coq file.
    """
    # Imported here: the module registers families whose formulations have no golden
    # values.
    from campaigns.certificate_mutations import accepted, mutations, signed
    from campaigns.two_checkers import of_form

    rng, text, expected = np.random.default_rng(23), [CERTIFICATES], []
    documents = certificates()
    for name, document in documents.items():
        text.append(
            f"Theorem {name.replace('.', '_')} : forall R : realFieldType, holds R "
            f"{quoted(document)}."
        )
        text.append("Proof. apply: check_sound. vm_cast_no_check (erefl true). Qed.")
        changed = [
            one
            for _, mutation in mutations(document, rng, MUTATIONS)
            for one in (mutation, signed(mutation))
        ]
        for one in [*changed, *(form for _, form in of_form(document) if name == VERIFIED[0])]:
            expected.append(accepted(json.dumps(one).encode()) is not None)
            verdict = str(expected[-1]).lower()
            text.append(
                f"Lemma mutation_{len(expected)} : check {quoted(one)} = {verdict}. Proof. "
                f"by vm_compute. Qed."
            )
    (folder / "certificates.v").write_text("\n".join(text) + "\n", encoding="ascii")
    judged = (
        f"of {len(expected)} mutations Coq accepts the {sum(expected)} that Python accepts, and "
        f"no other"
    )
    return f"{len(documents)} certificates are theorems; {judged}"


def certificates() -> dict[str, dict[str, Any]]:
    """Return certificates of all families with a linear kernel.

    Some families have an RBF kernel, a given Gram matrix and a polynomial kernel, too.
    With a polynomial kernel the proved checker expands f as a polynomial in the
    features for 32 points, and computes the matrix for 8.
    """
    made = {family: certified(family) for family in VERIFIED}
    for family in ("svm.soft", "svr.l2", "rank.l1", "rvm"):
        made[f"{family}.rbf"] = certificate(solve(sample_problem(family, rbf(0.5), n=8), tol=1e-9))
        made[f"{family}.polynomial"] = certificate(
            solve(sample_problem(family, polynomial(3, 0.5, 1.0), n=8), tol=1e-9)
        )
        made[f"{family}.expanded"] = certificate(
            solve(sample_problem(family, polynomial(2, 0.5, 1.0), n=32), tol=1e-9)
        )
    for family in ONE_NORM:
        made[f"{family}.weighted"] = certificate(solve(weighted_one_norm(family), tol=1e-9))
    for family in ("svm.soft", "svr.l2", "rvm"):
        made[f"{family}.matrix"] = certificate(
            solve(by_matrix(sample_problem(family, n=8), polynomial(2, 0.5, 1.0)), tol=1e-9)
        )
    return made | {
        "svm.soft.singular": singular(),
        **{f"program.{name}": document for name, document in programs().items()},
    }


CONE = program_from_arrays(None, [3, 4], G=[[0, 0], [-1, 0], [0, -1]], h=[1, 0, 0], cones=[3])
"""Program min 3 x1 + 4 x2 over the unit disc; its optimum is -5."""


def programs() -> dict[str, dict[str, Any]]:
    """Return certificates of programs in standard form.

    They are a linear and a quadratic program, one with a cone, an infeasible and an
    unbounded one.
    """
    made: dict[str, Program] = {
        "linear": program_from_arrays(
            None, [-1, -2], G=[[1, 1], [-1, 0], [0, -1]], h=[4, 0, 0], A=[[1, -1]], b=[1]
        ),
        "quadratic": program_from_arrays(
            [[2, 1, 0], [1, 2, 0], [0, 0, 0]], [-1, 0, 1], G=[[0, 0, -1], [1, 1, 0]], h=[0, 0.25]
        ),
        "infeasible": program_from_arrays(None, [0], G=[[1], [-1]], h=[-1, 0.5]),
        "endless": program_from_arrays([[1, 0], [0, 0]], [0, -1], G=[[1, -1]], h=[1]),
    }
    exact = {
        name: program_certificate(program, proved_outcome(program))
        for name, program in made.items()
    }
    return exact | {"cone": program_certificate(CONE, enclosure(CONE))}


def proved_outcome(program: Program) -> Optimum | Infeasible | UnboundedProgram:
    """Return the exact outcome of a program; raise LookupError if it is undecided."""
    found = program_optimum(program)
    if isinstance(found, Inconclusive):
        raise LookupError("a program of the campaign is undecided")
    return found


def singular() -> dict[str, Any]:
    """Return a certificate with a singular positive semidefinite Gram matrix.

    Only exact elimination proves the matrix semidefinite.
    """
    problem = classification(
        [[4.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 0.0]], [1, -1, 1], 1.0, precomputed()
    )
    return certificate(solve(replace(problem, shift=0.0), tol=1e-9))


def weighted_one_norm(family: str, kernel: Kernel | None = None) -> OneNormProblem:
    """Return a small linear program whose rows or queries have weights, one of them 0."""
    problem = sample_problem(family, kernel, n=8)
    assert isinstance(problem, OneNormProblem)
    return replace(problem, weights=np.resize([0.5, 0.0, 2.25], problem.rows.groups))


def by_matrix(problem: Problem, kernel: Kernel) -> Problem:
    """Return the problem with the Gram matrix of its points as the given matrix.

    The diagonal shift is the one with which it is proved positive semidefinite.
    """
    K = kernel.block(problem.X, problem.X)
    K = np.tril(K) + np.tril(K, -1).T
    return replace(problem, X=K, kernel=precomputed(), shift=proven_shift(K))


def certified(family: str) -> dict[str, Any]:
    """Return the certificate of a small problem of the family.

    For rank.hard it proves an exact optimum, for others an interval.
    """
    problem = sample_problem(family, linear(), n=8)
    return (
        certificate(exact_optimum(problem), "exact")
        if family == "rank.hard"
        else certificate(solve(problem, tol=1e-9))
    )


def quoted(document: dict[str, Any]) -> str:
    """Return a certificate as input of Coq."""
    return f"[:: {strings(json.dumps(document).encode())}]"


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Build and check the theorems of proofs/rocq by Coq."
    )
    parser.add_argument(
        "--mutants", action="store_true", help="check that wrong definitions are noticed"
    )
    arguments = parser.parse_args()
    if shutil.which("coqc") is None:
        print(
            "coqc is not installed: apt-get install coq libcoq-mathcomp-algebra "
            "libcoq-mathcomp-algebra-tactics",
            file=sys.stderr,
        )
        return 1
    if arguments.mutants:
        return check_mutants()
    folder = copy("library")
    try:
        build(folder)
        print(f"{len(list(theorems.ROCQ.rglob('*.v')))} files built")
        print(f"{check_assumptions(folder)} linked theorems closed under the global context")
        facts = write_golden(folder)
        compile_file(folder, "golden")
        print(f"{facts} golden values of {len(DEFINITIONS)} declarations")
        judged = write_certificates(folder)
        compile_file(folder, "certificates")
        print(judged)
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


MUTANTS = read("coq_mutants.toml")


def check_mutants() -> int:
    """Check that every edit breaks the build, a golden value or a certificate.

    Return 0 if they do, else 1.
    """
    library, survivors = copy("library"), 0
    build(library)
    write_golden(library)
    write_certificates(library)
    for mutant in MUTANTS:
        folder = BUILD / "mutant"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(library, folder, copy_function=shutil.copy2)
        path = folder / f"{mutant.file}.v"
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
        try:
            build(folder)
            compile_file(folder, "golden")
            compile_file(folder, "certificates")
        except subprocess.TimeoutExpired:
            print(f"{mutant.name}: UNDECIDED, Coq takes too long", flush=True)
            survivors += 1
        except RuntimeError as error:
            where = re.search(r'File "\./([\w/]+)\.v", line (\d+)', str(error))
            print(
                f"{mutant.name}: noticed in "
                f"{where[1] + ', line ' + where[2] if where else 'the build'}",
                flush=True,
            )
        else:
            print(f"{mutant.name}: SURVIVED", flush=True)
            survivors += 1
    print(f"{len(MUTANTS) - survivors} of {len(MUTANTS)} noticed")
    return int(survivors > 0)


if __name__ == "__main__":
    sys.exit(main())
