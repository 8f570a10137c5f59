"""Table of all relations between published problems: equivalences and differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from equimargin.formulations.bounds.complete import Completion
from equimargin.formulations.declarations.source import Source
from equimargin.formulations.documents.chu_shashua import SHASHUA, ord_implicit, ord_implicit_l2
from equimargin.formulations.documents.shared.reduced_graph import reduction_factor
from equimargin.formulations.kernels.kernel import Linear, rbf
from equimargin.formulations.links.counterexamples import (
    alternating,
    alternating_ranking,
    far_outlier,
    figure_three,
    level_targets,
    levels_out_of_order,
    moved_by_three,
    one_class_differences,
    one_norm_pair,
    ordered_pair,
    rvm_pair,
    rvm_reversed,
    sloped_targets,
    squared_pair,
    two_points,
    weakly_complementary,
)
from equimargin.formulations.links.kinds import (
    Equivalence,
    Link,
    NotEquivalent,
    PointMap,
    Relaxation,
    Rescaling,
    StrongEquivalence,
    same_problem,
)
from equimargin.formulations.links.maps import (
    adjacent,
    as_classification,
    given_multipliers,
    halved,
    into_intercept,
    levels_of_one_query,
    of_two_levels,
    out_of_intercept,
    pairs_as_points,
    pairs_of_levels,
    shared_by_signs,
    summed_over_signs,
    symmetrised,
    symmetrised_pairs,
    to_function,
    to_multipliers,
    to_u,
    to_x,
    without_bias,
)
from equimargin.formulations.problem.point import Point


def _dual_programs(a: str, b: str, theorem: str, *sources: Source) -> Equivalence:
    """Return the relation of a linear program and its dual."""
    return Equivalence(
        a=a,
        b=b,
        statement="Linear-programming duality: the optima are equal; x are the multipliers of "
        "B'u <= 1, and u those of the margins.",
        sources=sources,
        conditions="points with x and u, as solved programs have: neither determines the other",
        forward=to_u,
        backward=to_x,
        theorem=theorem,
    )


def _dual_pair(a: str, b: str, theorem: str, *sources: Source) -> Equivalence:
    """Return the relation of a primal and its dual."""
    return Equivalence(
        a=a,
        b=b,
        statement="Strong duality: the optima are equal, f = A'alpha for every optimal alpha, and "
        "alpha are multipliers of the rows.",
        sources=sources,
        forward=to_multipliers,
        backward=to_function,
        theorem=theorem,
    )


def _same_function(
    a: str, b: str, statement: str, theorem: str, *sources: Source
) -> StrongEquivalence:
    """Return the relation of two formulations whose variables give one f."""
    spanned = b.endswith("beta")
    return StrongEquivalence(
        a=a,
        b=b,
        statement=statement,
        sources=sources,
        conditions="every f in the span of the points; no other is optimal"
        if spanned
        else "always",
        forward=to_function,
        backward=to_function,
        theorem=theorem,
    )


def _rescaled(
    a: str, b: str, statement: str, by: PointMap, theorem: str, *sources: Source
) -> Rescaling:
    return Rescaling(
        a=a, b=b, statement=statement, sources=sources, forward=by, backward=by, theorem=theorem
    )


def _doubled_cost(a: str, b: str, theorem: str, source: Source) -> Rescaling:
    """Return the relation to a misprinted dual without the factor 1/2."""
    return Rescaling(
        a=a,
        b=b,
        statement="Without the 1/2 the optimum at C is half the right one at 2C, and alpha is "
        "half: v_printed(C) = v(2C) / 2.",
        sources=(source,),
        problem=lambda p: p.with_cost(2 * p.C),
        value=lambda v, p: 2 * v,
        forward=lambda p, x: Point(alpha=2 * given_multipliers(x.alpha)),
        backward=lambda p, x: Point(alpha=given_multipliers(x.alpha) / 2),
        theorem=theorem,
    )


def _two_levels(a: str, b: str, problem: Callable[[Any], Any], source: Source) -> Equivalence:
    """Return the relation of an ordinal regression with one threshold and a classification."""
    return Equivalence(
        a=a,
        b=b,
        statement="With two levels, as classes -1 and +1, the threshold is minus the bias: f, "
        "b and the optimum are the same.",
        sources=(source,),
        conditions="two levels",
        applies=lambda p: p.T == 1,
        problem=problem,
        forward=to_function,
        backward=lambda p, x: to_function(problem(p), x),
    )


def _T(equations: str) -> Source:
    return Source("T", equations)


CHU_IMPLICIT = ord_implicit.source
CHU_SQUARED = ord_implicit_l2.source


def _P(equations: str) -> Source:
    return Source("P", equations)


def _K(equations: str) -> Source:
    return Source("K", equations)


def _W(equations: str) -> Source:
    return Source("W", equations)


LINKS: tuple[Link, ...] = (
    _dual_pair("svm.hard.primal", "svm.hard.dual", "svm.svm_hard_duality", _T("(6)-(18)")),
    Equivalence(
        a="svm.hard.primal",
        b="svm.hard.margin",
        statement="The largest margin is t = 1/|w|: u = w/|w|, and the value is 1/(2 t^2).",
        sources=(_T("(5)-(7)"),),
        conditions="separable data",
        forward=to_function,
        backward=to_function,
        theorem="svm.svm_hard_margin_equivalence",
    ),
    _dual_pair("svm.soft.primal", "svm.soft.dual", "svm.svm_soft_duality", _T("(23)-(28)")),
    _doubled_cost(
        "svm.soft.dual.as_printed",
        "svm.soft.dual",
        "svm.svm_soft_dual_as_printed_rescaling",
        _T("(26)"),
    ),
    _dual_pair(
        "svm.l2.primal", "svm.l2.dual", "svm.svm_l2_duality", _W("SVM classifier, sigma = 2")
    ),
    _dual_pair("svm.nobias.primal", "svm.nobias.dual", "svm.svm_nobias_duality", _K("(2.3)")),
    _same_function(
        "svm.nobias.primal",
        "svm.nobias.beta",
        "Representer theorem with w = sum_i y_i betabar_i phi_i; betabar = alpha where Qbar "
        "is positive definite.",
        "svm.svm_nobias_beta_equivalence",
        _K("(3.14)"),
    ),
    _dual_pair(
        "svm.nobias_hard.primal", "svm.nobias_hard.dual", "svm.svm_nobias_hard_duality", _K("(2.3)")
    ),
    Equivalence(
        a="svm.nobias_hard.primal",
        b="svm.nobias_hard.margin",
        statement="The largest margin of a function of length 1 is t = 1/|w|: u = w/|w|, and the "
        "value is 1/(2 t^2).",
        sources=(_K("(2.3)"),),
        conditions="classes that a hyperplane through the origin separates",
        forward=to_function,
        backward=to_function,
        theorem="svm.svm_nobias_hard_margin_equivalence",
    ),
    Equivalence(
        a="svm.nobias_hard.primal",
        b="svm.nobias_hard.beta",
        statement="Representer theorem with w = sum_i y_i betabar_i phi_i; betabar = alpha "
        "where Qbar is positive definite.",
        sources=(_K("(3.14)"),),
        forward=to_function,
        backward=to_function,
        theorem="svm.svm_nobias_hard_beta_equivalence",
    ),
    _dual_pair(
        "svm.nobias_l2.primal",
        "svm.nobias_l2.dual",
        "svm.svm_nobias_l2_duality",
        _K("(2.3), squared"),
    ),
    Equivalence(
        a="svm.penalized.primal",
        b="svm.nobias.primal",
        statement="A bias that is part of the norm is the constant of the kernel k + 1: the "
        "no-bias SVM of that kernel, b = sum_i beta_i.",
        sources=(_K("(2.3)"),),
        problem=without_bias,
        forward=into_intercept,
        backward=out_of_intercept,
        theorem="svm.svm_penalized_equivalence",
    ),
    _dual_pair("svr.hard.primal", "svr.hard.dual", "svr.svr_hard_duality", _T("(57)-(59)")),
    _dual_pair("svr.l1.primal", "svr.l1.dual", "svr.svr_l1_duality", _T("(64)-(73)")),
    _dual_pair("svr.l2.primal", "svr.l2.dual", "svr.svr_l2_duality", _T("(60)-(63)")),
    _dual_pair("rank.hard.primal", "rank.hard.dual", "ranksvm.rank_hard_duality", _T("(84)-(85)")),
    Equivalence(
        a="rank.hard.primal",
        b="rank.hard.margin",
        statement="The largest smallest distance of projected neighbours is t = 1/|w|: u = "
        "w/|w|, and the value is 1/(2 t^2).",
        sources=(_T("Corollary 2"),),
        conditions="rankable data",
        forward=to_function,
        backward=to_function,
        theorem="ranksvm.rank_hard_margin_equivalence",
    ),
    Equivalence(
        a="rank.hard.primal",
        b="svm.hard.primal",
        statement="With two levels w_rank = w_svm / 2, so the hard ranking optimum is a quarter of "
        "the hard classification optimum.",
        sources=(_T("(84)-(85)"), _T("(6)-(7)")),
        conditions="two levels, one query, no weights",
        applies=lambda p: levels_of_one_query(p) == 2,
        problem=as_classification,
        value=lambda v, p: 4 * v,
        forward=lambda p, x: halved(p, x, 2.0),
        backward=lambda p, x: halved(as_classification(p), x, 0.5),
        theorem="ranksvm.rank_hard_is_svm_hard",
    ),
    Equivalence(
        a="rank.hard.primal",
        b="rank.hard.primal",
        statement="For a strict total order the adjacent pairs imply all others: the chain has the "
        "same hard optimum.",
        sources=(_T("(84)-(85)"),),
        conditions="one query, all labels different, no weights",
        applies=lambda p: levels_of_one_query(p) == p.m,
        problem=adjacent,
        forward=to_function,
        backward=lambda p, x: to_function(adjacent(p), x),
        theorem="ranksvm.rank_hard_chain",
    ),
    _dual_pair(
        "rank.l1.primal",
        "rank.l1.dual",
        "ranksvm.rank_l1_duality",
        _K("(1.2), (2.4)"),
        _T("(84)-(89)"),
    ),
    _doubled_cost(
        "rank.l1.dual.as_printed",
        "rank.l1.dual",
        "ranksvm.rank_l1_dual_as_printed_rescaling",
        _T("(88)"),
    ),
    _same_function(
        "rank.l1.primal",
        "rank.l1.beta",
        "Representer theorem: w = sum_i beta_i phi_i.",
        "ranksvm.rank_l1_beta_equivalence",
        _K("(3.11)-(3.12)"),
    ),
    Equivalence(
        a="rank.l1.dual",
        b="rank.l1.betahat",
        statement="Every optimal alpha is an optimal betahat and every optimal betahat gives the "
        "optimal w, but is no alpha in general.",
        sources=(_K("(3.15), Appendix A"),),
        forward=to_multipliers,
        backward=to_multipliers,
        theorem="ranksvm.rank_l1_betahat_equivalence",
    ),
    _same_function(
        "rank.l1.primal",
        "rank.oneslack",
        "One slack for all pairs: xi = sum_ij xi_ij at every w.",
        "ranksvm.rank_oneslack_equivalence",
        _K("(2.8)"),
    ),
    _rescaled(
        "rank.lambda.function",
        "rank.l1.primal",
        "P (5) at lambda = 1/(2C) has the optimum of K (1.2) at C divided by C, at the same f.",
        to_function,
        "ranksvm.rank_lambda_function_rescaling",
        _P("(5)"),
        _K("(1.2)"),
    ),
    _rescaled(
        "rank.lambda.primal",
        "rank.l1.beta",
        "P (6) at lambda = 1/C has the optimum of K (3.12) at C divided by C, at the same beta.",
        to_function,
        "ranksvm.rank_lambda_primal_rescaling",
        _P("(6)"),
        _K("(3.12)"),
    ),
    _rescaled(
        "rank.lambda.dual",
        "rank.l1.dual",
        "P (8) at lambda = 1/C has the optimum of K (2.4) at C divided by C; its alpha is "
        "that of (2.4) divided by C.",
        to_multipliers,
        "ranksvm.rank_lambda_dual_rescaling",
        _P("(8)"),
        _K("(2.4)"),
    ),
    _rescaled(
        "rank.path",
        "rank.lambda.dual",
        "The parametric program of P section 5 at one lambda is (8) at that lambda, its "
        "value times lambda, at the same alpha.",
        to_multipliers,
        "ranksvm.rank_path_rescaling",
        _P("section 5"),
        _P("(8)"),
    ),
    Rescaling(
        a="rank.lambda.function.as_lambda_half",
        b="rank.lambda.function",
        statement="P (5) at the lambda of (6) is the right problem at half the cost: "
        "v_misread(C) = 2 v(C/2).",
        sources=(_P("(5)-(6)"),),
        problem=lambda p: p.with_cost(p.C / 2),
        value=lambda v, p: v / 2,
        forward=to_function,
        backward=lambda p, x: to_function(p.with_cost(p.C / 2), x),
        theorem="ranksvm.rank_lambda_function_as_lambda_half_rescaling",
    ),
    Equivalence(
        a="rank.l1.primal",
        b="svm.soft.primal",
        statement="The differences phi_ij as class +1 and their negatives as class -1, with a "
        "bias, at C/2: the optimum is RankSVM's.",
        sources=(_T("(87)"),),
        conditions="linear kernel",
        applies=lambda p: isinstance(p.kernel, Linear) and p.p > 0,
        problem=symmetrised,
        forward=lambda p, x: Point(w=to_function(p, x).w, b=0.0),
        backward=lambda p, x: Point(w=Completion(symmetrised(p), x).w, b=0.0),
        theorem="ranksvm.rank_l1_is_symmetrised_svm",
    ),
    _dual_pair("ord.implicit.primal", "ord.implicit.dual", "", CHU_IMPLICIT),
    _same_function(
        "ord.implicit.primal",
        "ord.implicit.beta",
        "Representer theorem: w = sum_i beta_i phi_i.",
        "",
        CHU_IMPLICIT,
    ),
    _two_levels("ord.implicit.primal", "ord.implicit.two_levels", same_problem, CHU_IMPLICIT),
    _two_levels("ord.implicit.two_levels", "svm.soft.primal", of_two_levels, CHU_IMPLICIT),
    _dual_pair("ord.implicit_l2.primal", "ord.implicit_l2.dual", "", CHU_SQUARED),
    _same_function(
        "ord.implicit_l2.primal",
        "ord.implicit_l2.beta",
        "Representer theorem: w = sum_i beta_i phi_i.",
        "",
        CHU_SQUARED,
    ),
    _two_levels("ord.implicit_l2.primal", "ord.implicit_l2.two_levels", same_problem, CHU_SQUARED),
    _two_levels("ord.implicit_l2.two_levels", "svm.l2.primal", of_two_levels, CHU_SQUARED),
    Rescaling(
        a="ord.implicit_l2.dual.of_half",
        b="ord.implicit_l2.dual",
        statement="The dual of C/2 sum xi^2 at C is the right one at C/2.",
        sources=(CHU_SQUARED,),
        problem=lambda p: p.with_cost(p.C / 2),
        forward=to_multipliers,
        backward=to_multipliers,
    ),
    _dual_pair("ord.hard.primal", "ord.hard.dual", "", SHASHUA),
    _two_levels("ord.hard.primal", "svm.hard.primal", of_two_levels, SHASHUA),
    Equivalence(
        a="ord.hard.primal",
        b="ord.hard.rank_hard",
        statement="Twice the w of rank.hard keeps levels apart by 2, with thresholds in the "
        "middle: four times its optimum.",
        sources=(SHASHUA,),
        forward=to_function,
        backward=to_function,
    ),
    Equivalence(
        a="ord.hard.primal",
        b="ord.hard.neighbours",
        statement="Thresholds in order that keep the levels next to them apart keep all "
        "levels apart.",
        sources=(SHASHUA,),
        forward=to_function,
        backward=to_function,
    ),
    Equivalence(
        a="ord.hard.rank_hard",
        b="rank.hard.primal",
        statement="The pairs of all levels are those of the hard ranking, at half the w: its "
        "optimum is a quarter.",
        sources=(SHASHUA,),
        problem=pairs_of_levels,
        value=lambda v, p: v / 4,
        forward=lambda p, x: halved(p, x, 0.5),
        backward=lambda p, x: halved(pairs_of_levels(p), x, 2.0),
    ),
    _dual_pair("rank.l2.primal", "rank.l2.dual", "ranksvm.rank_l2_duality", _K("section 1")),
    _same_function(
        "rank.l2.primal",
        "rank.l2.beta",
        "Representer theorem: w = sum_i beta_i phi_i.",
        "ranksvm.rank_l2_beta_equivalence",
        _K("(3.13)"),
    ),
    _dual_programs(
        "rank.onenorm.primal", "rank.onenorm.dual", "one_norm.rank_onenorm_duality", _T("(94)-(96)")
    ),
    _dual_programs(
        "rvm.primal", "rvm.dual", "one_norm.rvm_duality", _T("(102)-(104)"), _K("(2.10)")
    ),
    _dual_programs(
        "svm.onenorm.primal",
        "svm.onenorm.dual",
        "one_norm.svm_onenorm_duality",
        _T("section 5.1 (no formula)"),
    ),
    _dual_programs(
        "svm.nobias_onenorm.primal",
        "svm.nobias_onenorm.dual",
        "one_norm.svm_nobias_onenorm_duality",
        _T("section 5.1 (no formula)"),
    ),
    Equivalence(
        a="rank.onenorm.primal",
        b="svm.nobias_onenorm.primal",
        statement="The differences phi_ij as points of class +1, without a bias: x and the optimum "
        "are those of the 1-norm ranking.",
        sources=(_T("(94)-(96), section 5.1"),),
        conditions="at least one pair",
        applies=lambda p: p.p > 0,
        problem=pairs_as_points,
        forward=lambda p, at: at,
        backward=lambda p, at: at,
        theorem="one_norm.rank_onenorm_is_svm_nobias_onenorm",
    ),
    Equivalence(
        a="rank.onenorm.dual",
        b="svm.onenorm.dual",
        statement="The differences phi_ij as class +1 and their negatives as class -1, with a "
        "bias, at C/2: the optimum is the ranking's.",
        sources=(_T("(87), (94)-(96)"),),
        conditions="at least one pair",
        applies=lambda p: p.p > 0,
        problem=symmetrised_pairs,
        forward=shared_by_signs,
        backward=summed_over_signs,
        theorem="one_norm.rank_onenorm_dual_is_symmetrised_svm_onenorm_dual",
    ),
    Relaxation(
        a="svm.soft.primal",
        b="svm.hard.primal",
        statement="The soft optimum is at most the hard one, and equal exactly for C >= C* = min "
        "|alpha|_inf over optimal hard duals.",
        sources=(_T("section 2.2"),),
        problem=lambda p: p.with_cost(np.inf),
        theorem="svm.svm_soft_is_hard",
    ),
    Relaxation(
        a="rank.l1.primal",
        b="rank.hard.primal",
        statement="The soft optimum is at most the hard one, and equal exactly for C >= C* = min "
        "|alpha|_inf over optimal hard duals.",
        sources=(_T("section 4.1"),),
        problem=lambda p: p.with_cost(np.inf),
        theorem="ranksvm.rank_l1_is_hard",
    ),
    Relaxation(
        a="rank.onenorm.free",
        b="rvm.primal",
        statement="Without beta >= 0 the optimum can only be smaller.",
        sources=(_T("(102)"),),
        theorem="one_norm.rank_onenorm_free_below_rvm",
    ),
    Relaxation(
        a="svm.onenorm.free",
        b="svm.onenorm.primal",
        statement="Without alpha >= 0 the optimum can only be smaller.",
        sources=(_T("section 5.1 (no formula)"),),
        theorem="one_norm.svm_onenorm_free_below_svm_onenorm",
    ),
    Relaxation(
        a="rank.l1.primal",
        b="rank.reduced",
        statement="The optimum over all pairs is at most that over the reduced graph at kappa "
        "times the cost, max(n+, n-) for two levels.",
        sources=(_P("section 4, Figure 3"),),
        problem=lambda p: p.with_cost(p.C * reduction_factor(p.rows.y, p.rows.query)),
        theorem="reduced.rank_l1_below_reduced",
    ),
    NotEquivalent(
        a="rank.differences.dual",
        b="rank.l1.dual",
        statement="k(x_i - x_j, x_u - x_v) is not phi_ij.phi_uv for a nonlinear k: RBF, gamma "
        "= 1, 0 preferred to 1.",
        sources=(_T("(88), (91)"),),
        counterexample=lambda: (
            ordered_pair(0.0, 1.0, kernel=rbf(1.0)),
            ordered_pair(0.0, 1.0, kernel=rbf(1.0)),
        ),
        values=(0.5, 1 / (4 * (1 - np.exp(-1.0)))),
        theorem="look_alikes.rank_differences_is_not_rank_l1",
    ),
    NotEquivalent(
        a="rank.onenorm.differences",
        b="rank.onenorm.primal",
        statement="(94) with the kernel of differences scores pairs only: RBF, gamma = 1, 0 "
        "preferred to 1.",
        sources=(_T("(94)"),),
        counterexample=lambda: (one_norm_pair(), one_norm_pair()),
        values=(1.0, 1 / (2 - 2 * np.exp(-1.0))),
        theorem="look_alikes.rank_onenorm_differences_is_not_rank_onenorm",
    ),
    NotEquivalent(
        a="rvm.primal",
        b="rank.l1.primal",
        statement="RVM has beta >= 0 and its sum for a norm: x = 1 preferred to x = 2 gets "
        "beta = 0, where RankSVM ranks it with w = -1.",
        sources=(_T("(102)"), _K("(2.10)")),
        counterexample=lambda: (rvm_pair(), ordered_pair(1.0, 2.0)),
        values=(1.0, 0.5),
        theorem="look_alikes.rvm_is_not_rank_l1",
    ),
    NotEquivalent(
        a="rank.onenorm.free",
        b="rvm.primal",
        statement="With beta free x = 1 preferred to x = 2 is ranked by beta = (0, -1/2): "
        "beta >= 0 is a restriction.",
        sources=(_T("(102)"),),
        counterexample=lambda: (rvm_pair(), rvm_pair()),
        values=(0.5, 1.0),
        theorem="look_alikes.rank_onenorm_free_is_not_rvm",
    ),
    NotEquivalent(
        a="svm.onenorm.free",
        b="svm.onenorm.primal",
        statement="If alpha is free, an outlier votes against its own class: -1 twice against "
        "1, and -2 in the class of 1, alpha_1 = -1/2.",
        sources=(_T("section 5.1 (no formula)"),),
        counterexample=lambda: (far_outlier(), far_outlier()),
        values=(3.5, 4.0),
        theorem="look_alikes.svm_onenorm_free_is_not_svm_onenorm",
    ),
    NotEquivalent(
        a="rvm.as_printed",
        b="rvm.primal",
        statement="(101) has no positive part: it rewards margins beyond 1, and x = 2 "
        "preferred to x = 1 makes it unbounded.",
        sources=(_T("(101)"),),
        counterexample=lambda: (rvm_reversed(), rvm_reversed()),
        values=(-np.inf, 0.5),
        theorem="look_alikes.rvm_as_printed_is_unbounded",
    ),
    NotEquivalent(
        a="rank.reduced",
        b="rank.l1.primal",
        statement="The reduced graph orders equal labels: positive 2, negatives 0 and 3 give "
        "w < 0, the reverse of the right w = 1/2.",
        sources=(_P("section 4, Figure 3"),),
        counterexample=lambda: (figure_three(), figure_three()),
        values=(1.7222222222222223, 1.625),
        theorem="look_alikes.rank_reduced_is_not_rank_l1",
    ),
    NotEquivalent(
        a="svr.l2.primal",
        b="svr.l1.primal",
        statement="Squared slacks, as (60) prints, are not the linear slacks of (64) on: "
        "targets -2 and 2 at one point, epsilon = 1/2.",
        sources=(_T("(60), (64)"),),
        counterexample=lambda: (level_targets("squared_hinge"), level_targets("hinge")),
        values=(4.5, 3.0),
        theorem="look_alikes.svr_l2_is_not_svr_l1",
    ),
    NotEquivalent(
        a="ord.implicit.primal",
        b="rank.l1.primal",
        statement="A soft ordinal regression is no soft ranking: at 0, 1, 2 of the levels 0, "
        "2, 1 its w is 0, and that of the ranking 1/2.",
        sources=(CHU_IMPLICIT, _K("(1.2)")),
        counterexample=lambda: (levels_out_of_order(), pairs_of_levels(levels_out_of_order())),
        values=(4.0, 2.125),
    ),
    NotEquivalent(
        a="svm.nobias.primal",
        b="svm.soft.primal",
        statement="A bias matters: x = 1 and x = 2 in two classes.",
        sources=(_K("(2.3)"), _T("(23)")),
        counterexample=lambda: (two_points(bias=False), two_points(bias=True)),
        values=(1.625, 1.5),
        theorem="look_alikes.svm_nobias_is_not_svm_soft",
    ),
    NotEquivalent(
        a="svm.penalized.primal",
        b="svm.soft.primal",
        statement="A bias that is part of the norm is not a free one: x = 1 and x = 2 in two "
        "classes.",
        sources=(_K("(2.3)"), _T("(23)")),
        counterexample=lambda: (two_points(bias=True), two_points(bias=True)),
        values=(1.6, 1.5),
        theorem="look_alikes.svm_penalized_is_not_svm_soft",
    ),
    NotEquivalent(
        a="rank.l1.primal",
        b="svm.soft.primal",
        statement="Soft bipartite RankSVM is not the soft SVM of its two levels: 0 and 1 "
        "against 2.",
        sources=(_T("(84)-(87)"),),
        counterexample=lambda: (alternating_ranking(), alternating()),
        values=(0.5, 1.5),
        theorem="look_alikes.rank_l1_is_not_svm_soft",
    ),
    NotEquivalent(
        a="svm.soft.primal",
        b="rank.l1.primal",
        statement="The differences as one class +1, with a bias, collapse to w = 0 and b = 1.",
        sources=(_T("(87)"),),
        counterexample=lambda: (one_class_differences(), ordered_pair(1.0, 0.0)),
        values=(0.0, 0.5),
        theorem="look_alikes.svm_soft_is_not_rank_l1",
    ),
    NotEquivalent(
        a="svr.l1.dual.as_printed",
        b="svr.l1.dual",
        statement="(70) prints (alpha_i - alphahat_i) twice where the second index is j.",
        sources=(_T("(70)"),),
        counterexample=lambda: (sloped_targets(), sloped_targets()),
        values=(1.0, 0.5),
        theorem="look_alikes.svr_l1_dual_as_printed_is_not_dual",
    ),
    NotEquivalent(
        a="svm.hard.bias.as_printed",
        b="svm.hard.primal",
        statement="(21) prints b = 1 - w.x_i where F(x) = w.x - b needs w.x_i - 1: -2 and -1 "
        "against 2, moved by 3, miss every margin.",
        sources=(_T("(21)"),),
        counterexample=lambda: (moved_by_three(), moved_by_three()),
        values=(np.inf, 2 / 9),
        theorem="look_alikes.svm_hard_bias_as_printed_is_infeasible",
    ),
    NotEquivalent(
        a="rank.l2.value.as_printed",
        b="rank.l2.beta",
        statement="(B.1) prints p_beta where C p_beta is meant: wrong unless C = 1.",
        sources=(_K("(B.1)"),),
        counterexample=lambda: (squared_pair(), squared_pair()),
        values=(-0.6, 0.4),
        theorem="look_alikes.rank_l2_value_as_printed_is_not_value",
    ),
    NotEquivalent(
        a="svm.hard.dual",
        b="strict complementarity",
        statement="Either alpha_i or its slack is nonzero: false; (-1,0) against (1,0), (1,1) has "
        "alpha = (1/2, 1/2, 0) and no slack.",
        sources=(_T("after (20)"),),
        counterexample=lambda: (weakly_complementary(), weakly_complementary()),
        values=(0.0, 1.0),
        theorem="look_alikes.strict_complementarity_fails",
    ),
)
