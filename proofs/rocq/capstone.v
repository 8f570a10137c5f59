(** * One optimum for every form

    Each theorem states that one number v is the optimum of all forms of a family, attained in each. The only hypothesis is the sign of C. *)
From mathcomp Require Import all_ssreflect all_algebra.
From equimargin Require Import inner optimum qp margin representer svm svr ranksvm one_norm.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Capstone.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (C : R).

(** RankSVM: K (1.2), (2.4), (2.8), (3.11), (3.12), (3.15), and P (5), (6), (8) at their lambda. *)
Theorem rank_l1_one_optimum (X P : finType) (phi : X -> V) (hi lo : P -> X) : 0 < C -> exists v,
  [/\ minimum (rank_l1_primal_feas ip phi hi lo) (rank_l1_primal_obj ip C) v,                                        (* K (1.2)  *)
      maximum (rank_l1_dual_feas C) (rank_l1_dual_obj ip phi hi lo) v,                                               (* K (2.4)  *)
      minimum (rank_oneslack_feas ip phi hi lo) (rank_oneslack_obj ip C) v                                           (* K (2.8)  *)
    & [/\ minimum everywhere (rank_l1_function_obj ip phi hi lo C) v,                                                (* K (3.11) *)
      minimum everywhere (rank_l1_beta_obj ip phi hi lo C) v                                                         (* K (3.12) *)
    & minimum everywhere (rank_l1_betahat_obj ip phi hi lo C) v]] /\                                                 (* K (3.15) *)
  [/\ minimum (rank_lambda_function_feas ip phi hi lo) (rank_lambda_function_obj ip (2%:R * C)^-1) (C^-1 * v),       (* P (5)    *)
      minimum (rank_lambda_primal_feas ip phi hi lo) (rank_lambda_primal_obj ip phi C^-1) (C^-1 * v)                 (* P (6)    *)
    & maximum (@rank_lambda_dual_feas R P) (rank_lambda_dual_obj ip phi hi lo C^-1) (C^-1 * v)].                     (* P (8)    *)
Proof.
move=> C0; have C0' := ltW C0; have [[v Pv Dv] _] := rank_l1_duality ip phi hi lo C0'; exists v.
have Bv := (rank_l1_beta_equivalence ip phi hi lo C0' v).1 Pv.
split; split=> //.
- exact: (rank_oneslack_equivalence ip phi hi lo C0' v).1.
- split=> //; first exact: (rank_l1_function_equivalence ip phi hi lo C0' v).1.
  exact: (rank_l1_betahat_equivalence ip phi hi lo C0' v).1.
- exact: (rank_lambda_function_rescaling ip phi hi lo C0 v).1.
- exact: (rank_lambda_primal_rescaling ip phi hi lo C0 v).1.
- exact: (rank_lambda_dual_rescaling ip phi hi lo C0 v).1.
Qed.
Theorem rank_l2_one_optimum (X P : finType) (phi : X -> V) (hi lo : P -> X) : 0 < C -> exists v,
  [/\ minimum (rank_l2_primal_feas ip phi hi lo) (rank_l2_primal_obj ip C) v,
      maximum (@rank_l2_dual_feas R P) (rank_l2_dual_obj ip phi hi lo C) v
    & minimum everywhere (rank_l2_beta_obj ip phi hi lo C) v].                                                       (* K (3.13) *)
Proof.
move=> C0; have [[v Pv Dv] _] := rank_l2_duality ip phi hi lo C0; exists v; split=> //.
exact: (rank_l2_beta_equivalence ip phi hi lo (ltW C0) v).1.
Qed.

(** Classification: T (23)-(25) and (26)-(28); K (2.3), its dual and K (3.14). *)
Theorem svm_soft_one_optimum (I : finType) (x : I -> V) (y : I -> R) : 0 <= C -> exists v,
  minimum (svm_soft_primal_feas ip x y) (@svm_soft_primal_obj R V ip I C) v /\
  maximum (svm_soft_dual_feas y C) (svm_soft_dual_obj ip x y) v.
Proof. by move=> /(svm_soft_duality ip x y)[[v Pv Dv] _]; exists v. Qed.
Theorem svm_nobias_one_optimum (I : finType) (x : I -> V) (y : I -> R) : 0 <= C -> exists v,
  [/\ minimum (svm_nobias_primal_feas ip x y) (@svm_nobias_primal_obj R V ip I C) v,
      maximum (@svm_nobias_dual_feas R I C) (svm_nobias_dual_obj ip x y) v
    & minimum everywhere (svm_nobias_beta_obj ip x y C) v].
Proof.
move=> C0; have [[v Pv Dv] _] := svm_nobias_duality ip x y C0; exists v; split=> //.
exact: (svm_nobias_beta_equivalence ip x y v C0).1.
Qed.

(** Regression: T (64) and (70)-(73). *)
Theorem svr_l1_one_optimum (I : finType) (x : I -> V) (y : I -> R) (eps : R) : 0 <= C -> exists v,
  minimum (svr_l1_primal_feas ip x y eps) (@svr_l1_primal_obj R V ip I C) v /\
  maximum (@svr_l1_dual_feas R I C) (svr_l1_dual_obj ip x y eps) v.
Proof. by move=> /(svr_l1_duality ip x y eps)[[v Pv Dv] _]; exists v. Qed.

(** The linear programs: T (94)-(96) and T (102)-(104) = K (2.10), each with its dual. *)
Theorem one_norm_one_optimum (X P : finType) (phi : X -> V) (hi lo : P -> X) : 0 <= C ->
  (exists v, minimum (rank_onenorm_primal_feas ip phi hi lo) (@rank_onenorm_primal_obj R P C) v /\
             maximum (rank_onenorm_dual_feas ip phi hi lo C) (@rank_onenorm_dual_obj R P) v) /\
  (exists v, minimum (rvm_primal_feas ip phi hi lo) (@rvm_primal_obj R X P C) v /\
             maximum (rvm_dual_feas ip phi hi lo C) (@rvm_dual_obj R P) v).
Proof.
move=> C0; have [[v Pv Dv] _] := rank_onenorm_duality ip phi hi lo C0; have [[u Pu Du] _] := rvm_duality ip phi hi lo C0.
by split; [exists v|exists u].
Qed.
End Capstone.
