"""Machine-checked theorems as text: names by subject, and digests of their statements.

Run as a script, the module rewrites `proofs/rocq/statements.json`; check the difference
before you commit it.
"""

from __future__ import annotations

import hashlib
import json
import re

from equimargin.formulations import links
from equimargin.proofs import theorems
from places import ROOT

ROCQ = ROOT / "proofs" / "rocq"
STATEMENTS = ROCQ / "statements.json"
CAPSTONES = (
    "capstone.rank_l1_one_optimum",
    "capstone.rank_l2_one_optimum",
    "capstone.svm_soft_one_optimum",
    "capstone.svm_nobias_one_optimum",
    "capstone.svr_l1_one_optimum",
    "capstone.one_norm_one_optimum",
)
"""Theorems about whole families, which no single relation names."""
OF_OPEN_FAMILIES = (
    "ordinal.ord_pair",
    "ordinal.ord_l2_pair",
    "ordinal.ord_implicit_two_levels",
    "ordinal.ord_implicit_order",
    "ordinal.ord_implicit_l2_order",
    "ordinal.ord_implicit_l2_strict",
    "ordinal.ord_hard_is_rank_hard",
    "ordinal.ord_pair_slacks",
    "sum_of_margins.ord_sum_pair",
    "sum_of_margins.ord_sum_ball",
    "sum_attained.ord_sum_duality",
    "sum_of_margins.ord_sum_bounded",
    "sum_of_margins.ord_sum_two_levels",
    "rank_losses.ord_rank_errors",
    "rank_losses.ord_wrong_levels",
    "rank_losses.ord_explicit_hard",
    "rank_losses.ord_pair_slacks_sum",
    "rank_losses.adjacent_two_levels",
    "rank_losses.inversions_of_levels",
    "rank_losses.inversions_of_a_threshold",
    "rank_losses.ord_unordered_is_not_explicit",
)
"""Theorems about ordinal families, which relations of `formulations/links` do not name."""
OF_WEIGHTS = (
    "weights.weighted_duality",
    "weights.weighted_l2_duality",
    "weights.svm_soft_weighted_duality",
    "weights.svm_l2_weighted_duality",
    "weights.svr_l1_weighted_duality",
    "weights.svr_l2_weighted_duality",
    "weights.rank_l1_weighted_duality",
    "weights.rank_l2_weighted_duality",
    "one_norm.clp_duality",
)
"""Theorems about rows with separate costs, from 0 to infinite.

Theorems that relations name have one cost for all rows.
"""
OF_THE_REDUCED_GRAPH = ("reduced.full_below_reduced", "reduced.reduced_meets_all")
"""Theorems about the reduced graph for every f.

The relation of the reduced graph names the theorem about optima.
"""
OF_PATHS = (
    "direction.direction_exists",
    "direction.direction_minimal",
    "direction.direction_step",
    "direction.rank_path_step",
    "direction.rank_path_between",
    "direction.rank_path_12",
    "constant_path.finitely_many",
    "constant_path.l1_hinge_path",
    "constant_path.l1_hinge_between",
)
"""Theorems about regularisation paths.

Their subjects are the problem that determines the direction of a path, the pieces of a
path, and pieces that are constant between jumps.
"""
OF_PRECISION = (
    "precision.average_precision_bound",
    "precision.bound_rises",
    "precision.average_precision_perfect",
)
"""Theorems about the average precision of any ranking."""
OF_CERTIFIED_PATHS = ("path.excess_between", "path.piece_sound", "path.path_sound")
"""Theorems by which the check of a certified path proves its gap at every lambda."""
OF_PROGRAMS = (
    "standard_form.program_weak",
    "standard_form.program_infeasible",
    "standard_form.program_endless",
    "standard_form.program_attained",
    "checker/programs.program_sound",
)
"""Theorems about convex programs in standard form.

They state what points, multipliers and rays prove about the optimum.
"""
OF_THE_CHECKER = (
    "checker/products.product_ofE",
    "checker/products.square_ofE",
    "checker/tables.number_byE",
    "checker/expansions.expandedE",
    "checker/nearest.nearest_double_near",
    "checker/nearest.nearest_double_has_bits",
    "checker/costs.costs_weak",
    "checker/costs.costs_attained",
    "checker/rows.in_interval_minimum",
    "checker/gram.gram_points",
    "checker/gram.polynomial_gram",
    "checker/semidefinite.semidefinite_sound",
    "checker/exponential.taylor",
    "checker/exponential.exponential_enclosed",
    "checker/enclosed.enclosed_described",
    "checker/kernels.space_sound",
    "checker/matrices.matrix_sound",
    "checker/rows.margin_sound",
    "checker/families.problem_sound",
    "checker/one_norms.one_norm_sound",
    "checker/one_norms.svm_onenorm_as_printed",
    "checker/one_norms.svm_nobias_onenorm_as_printed",
    "checker/one_norms.rank_onenorm_as_printed",
    "checker/one_norms.rvm_as_printed",
    "checker/certificate.check_sound",
    "checker/extraction.accepted_sound",
)
"""Soundness theorems of the checker in Coq: accepted statements are true.

They cover numbers, costs, rows, kernels, families, files, and the program's answers.
"""


def linked() -> list[str]:
    """Return all theorems of relations and of the tuples above, as file.name."""
    of_families = (*CAPSTONES, *OF_OPEN_FAMILIES)
    named = (
        *of_families,
        *OF_WEIGHTS,
        *OF_THE_REDUCED_GRAPH,
        *OF_PATHS,
        *OF_PRECISION,
        *OF_CERTIFIED_PATHS,
        *OF_PROGRAMS,
        *OF_THE_CHECKER,
    )
    return list(dict.fromkeys([link.theorem for link in links.LINKS if link.theorem] + list(named)))


def statement(theorem: str) -> str:
    """Return the statement of a theorem with single spaces."""
    return " ".join(theorems.statement(theorem).split())


def files() -> list[str]:
    """Return the names of the files without suffix, those of the checker with folder."""
    return sorted(path.relative_to(ROCQ).with_suffix("").as_posix() for path in ROCQ.rglob("*.v"))


def skeleton(file: str) -> str:
    """Return a file without its proofs.

    Sections, variables, hypotheses, definitions and statements remain, in their order.
    """
    return " ".join(
        re.sub(
            r"\bProof\b.*?\b(Qed|Defined)\.", "", theorems.without_comments(file), flags=re.DOTALL
        ).split()
    )


def digests() -> dict[str, str]:
    """Return digests by name: of linked statements, and of files without proofs."""
    texts = {theorem: statement(theorem) for theorem in linked()}
    texts |= {f"{name} (all but proofs)": skeleton(name) for name in files()}
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}


if __name__ == "__main__":
    STATEMENTS.write_text(json.dumps(digests(), indent=1) + "\n", encoding="utf-8")
