(** * Forms in coefficients: K (3.13)-(3.15) with a bias or with squared slacks, and T's problems at lambda = 1/C

    A combination of the points has the least length of all functions with its values ([projection]), so that each problem in w has the
    optimum of one in the coefficients:
    [svm_soft_beta_equivalence], [svm_l2_beta_equivalence], [svm_nobias_l2_beta_equivalence]   classification, w = sum betabar_i y_i x_i
    [svr_l1_beta_equivalence], [svr_l2_beta_equivalence]                                       regression, w = sum beta_i x_i
    [rank_l2_betahat_equivalence]                                  K (3.15) with squared slacks: a coefficient of every pair
    [svm_soft_lambda_primal_rescaling], [svm_soft_lambda_dual_rescaling]     the optimum at lambda = 1/C is that at C divided by C
    [svr_l1_lambda_primal_rescaling], [svr_l1_lambda_dual_rescaling]         the same of regression *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From equimargin Require Import inner optimum qp margin representer svm svr ranksvm.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Definitions.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (I : finType) (x : I -> V) (y : I -> R) (C eps lam : R).
Let coefficients : Type := ((I -> R) * R)%type.
Implicit Types be : I -> R.

Definition svm_beta_margin be i := \sum_j y i * y j * ip (x i) (x j) * be j.
Definition svm_soft_beta_obj (p : coefficients) := let: (be, b) := p in
  2%:R^-1 * svm_quadratic ip x y be + C * (\sum_i Num.max 0 (1 - (svm_beta_margin be i - y i * b))).
Definition svm_l2_beta_obj (p : coefficients) := let: (be, b) := p in
  2%:R^-1 * svm_quadratic ip x y be + C * (\sum_i (Num.max 0 (1 - (svm_beta_margin be i - y i * b))) ^+ 2).
Definition svm_nobias_l2_beta_obj be :=
  2%:R^-1 * svm_quadratic ip x y be + C * (\sum_i (Num.max 0 (1 - svm_beta_margin be i)) ^+ 2).

Definition svr_beta_value be i := \sum_j ip (x i) (x j) * be j.
Definition svr_beta_above (p : coefficients) i := let: (be, b) := p in Num.max 0 (y i - svr_beta_value be i - b - eps).
Definition svr_beta_below (p : coefficients) i := let: (be, b) := p in Num.max 0 (svr_beta_value be i + b - y i - eps).
Definition svr_l1_beta_obj (p : coefficients) := let: (be, b) := p in
  2%:R^-1 * (\sum_i \sum_j be i * be j * ip (x i) (x j)) + C * (\sum_i (svr_beta_above p i + svr_beta_below p i)).
Definition svr_l2_beta_obj (p : coefficients) := let: (be, b) := p in
  2%:R^-1 * (\sum_i \sum_j be i * be j * ip (x i) (x j)) + C * (\sum_i (svr_beta_above p i ^+ 2 + svr_beta_below p i ^+ 2)).

Definition svm_soft_lambda_primal_obj (p : V * R * (I -> R)) := let: (w, b, zeta) := p in
  \sum_i zeta i + lam / 2%:R * ip w w.
Definition svm_soft_lambda_dual_feas := svm_soft_dual_feas y 1.
Definition svm_soft_lambda_dual_obj (al : I -> R) := \sum_i al i - (2%:R * lam)^-1 * svm_quadratic ip x y al.
Definition svr_l1_lambda_primal_obj (p : V * R * (I -> R) * (I -> R)) := let: (w, b, zeta, zh) := p in
  \sum_i (zeta i + zh i) + lam / 2%:R * ip w w.
Definition svr_l1_lambda_dual_feas (p : (I -> R) * (I -> R)) := svr_l1_dual_feas 1 p.
Definition svr_l1_lambda_dual_obj (p : (I -> R) * (I -> R)) := let: (al, ah) := p in
  \sum_i y i * (al i - ah i) - eps * (\sum_i (al i + ah i)) - (2%:R * lam)^-1 * svr_quadratic ip x (al, ah).
End Definitions.

Section Hinges.
Variable R : realFieldType.
Implicit Types u s : R.
Lemma hinge_below u s : 0 <= s -> u <= s -> Num.max 0 u <= s.
Proof. by move=> h0 h1; rewrite le_maxl h0. Qed.
Lemma hinge_nonneg u : 0 <= Num.max 0 u.
Proof. by rewrite le_maxr lexx. Qed.
Lemma hinge_above u : u <= Num.max 0 u.
Proof. by rewrite le_maxr lexx orbT. Qed.
Lemma hinge_square_below u s : 0 <= s -> u <= s -> (Num.max 0 u) ^+ 2 <= s ^+ 2.
Proof. by move=> h0 h1; rewrite ler_expn2r ?nnegrE ?hinge_nonneg ?hinge_below. Qed.
End Hinges.

Section Classification.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (I : finType) (x : I -> V) (y : I -> R) (C : R).
Hypothesis C0 : 0 <= C.
Implicit Types (w : V) (be xi : I -> R) (b v : R).
Let a i := y i *: x i.

Lemma svm_beta_marginE be i : svm_beta_margin ip x y be i = y i * ip (svm_w x y be) (x i).
Proof.
by rewrite /svm_beta_margin /svm_w ip_suml mulr_sumr; apply: eq_bigr => j _; rewrite ip_scalel (ip_sym ip (x j)); ring.
Qed.
Lemma svm_beta_projection w : exists2 be, forall i, svm_beta_margin ip x y be i = y i * ip w (x i)
  & 2%:R^-1 * svm_quadratic ip x y be <= 2%:R^-1 * ip w w.
Proof.
have [be h] := projection ip a w; exists be; last by rewrite svm_quadraticE svm_wE projection_no_longer.
by move=> i; rewrite svm_beta_marginE svm_wE -!ip_scaler h.
Qed.
Definition svm_beta_slack be b i := Num.max 0 (1 - (svm_beta_margin ip x y be i - y i * b)).
Lemma svm_beta_slack_feasible be b : svm_soft_primal_feas ip x y (svm_w x y be, b, svm_beta_slack be b).
Proof.
move=> i; split; first exact: hinge_nonneg.
by rewrite ler_subl_addr -ler_subl_addl mulrBr -svm_beta_marginE; exact: hinge_above.
Qed.
Theorem svm_soft_beta_equivalence v :
  minimum (svm_soft_primal_feas ip x y) (@svm_soft_primal_obj R V ip I C) v <-> minimum everywhere (svm_soft_beta_obj ip x y C) v.
Proof.
apply: minimum_iff => [[[w b] xi] F|[be b] _].
  have [be h le] := svm_beta_projection w; exists (be, b) => //; apply: ler_add => //; rewrite ler_wpmul2l // ler_sum // => i _.
  by have [h0 h1] := F i; rewrite hinge_below // h -mulrBr ler_subl_addr -ler_subl_addl.
exists (svm_w x y be, b, svm_beta_slack be b); first exact: svm_beta_slack_feasible.
by rewrite /svm_soft_beta_obj svm_quadraticE.
Qed.
Theorem svm_l2_beta_equivalence v :
  minimum (svm_l2_primal_feas ip x y) (@svm_l2_primal_obj R V ip I C) v <-> minimum everywhere (svm_l2_beta_obj ip x y C) v.
Proof.
apply: minimum_iff => [[[w b] xi] F|[be b] _].
  have [be h le] := svm_beta_projection w; exists (be, b) => //; apply: ler_add => //; rewrite ler_wpmul2l // ler_sum // => i _.
  by have [h0 h1] := F i; rewrite hinge_square_below // h -mulrBr ler_subl_addr -ler_subl_addl.
exists (svm_w x y be, b, svm_beta_slack be b); first exact: svm_beta_slack_feasible.
by rewrite /svm_l2_beta_obj svm_quadraticE.
Qed.
Theorem svm_nobias_l2_beta_equivalence v :
  minimum (svm_nobias_l2_primal_feas ip x y) (@svm_nobias_l2_primal_obj R V ip I C) v
  <-> minimum everywhere (svm_nobias_l2_beta_obj ip x y C) v.
Proof.
apply: minimum_iff => [[w xi] F|be _].
  have [be h le] := svm_beta_projection w; exists be => //; apply: ler_add => //; rewrite ler_wpmul2l // ler_sum // => i _.
  by have [h0 h1] := F i; rewrite hinge_square_below // h ler_subl_addr -ler_subl_addl.
exists (svm_w x y be, fun i => Num.max 0 (1 - svm_beta_margin ip x y be i)).
  by move=> i; rewrite hinge_nonneg ler_subl_addr -ler_subl_addl -svm_beta_marginE hinge_above.
by rewrite /svm_nobias_l2_beta_obj svm_quadraticE.
Qed.
End Classification.

Section Regression.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (I : finType) (x : I -> V) (y : I -> R) (C eps : R).
Hypothesis C0 : 0 <= C.
Implicit Types (w : V) (be : I -> R) (b v : R).
Local Notation above := (svr_beta_above ip x y eps).
Local Notation below := (svr_beta_below ip x y eps).

Lemma svr_beta_valueE be i : svr_beta_value ip x be i = ip (span x be) (x i).
Proof. by rewrite /svr_beta_value /span ip_suml; apply: eq_bigr => j _; rewrite ip_scalel (ip_sym ip (x j)) mulrC. Qed.
Lemma svr_beta_quadraticE be : \sum_i \sum_j be i * be j * ip (x i) (x j) = ip (span x be) (span x be).
Proof.
rewrite {1}/span ip_suml; apply: eq_bigr => i _; rewrite ip_sumr; apply: eq_bigr => j _.
by rewrite ip_scalel ip_scaler mulrA.
Qed.
Lemma svr_beta_feasible be b : svr_l1_primal_feas ip x y eps (span x be, b, above (be, b), below (be, b)).
Proof.
move=> i; rewrite /svr_beta_above /svr_beta_below -svr_beta_valueE.
by split; rewrite ?hinge_nonneg // -ler_subl_addl hinge_above.
Qed.
Lemma svr_beta_no_worse w b xi xh : svr_l1_primal_feas ip x y eps (w, b, xi, xh) ->
  exists2 be, forall i, [/\ 0 <= above (be, b) i <= xi i & 0 <= below (be, b) i <= xh i]
  & 2%:R^-1 * (\sum_i \sum_j be i * be j * ip (x i) (x j)) <= 2%:R^-1 * ip w w.
Proof.
move=> F; have [be h] := projection ip x w; exists be; last by rewrite svr_beta_quadraticE projection_no_longer.
move=> i; have [h0 h1 h2 h3] := F i; rewrite /svr_beta_above /svr_beta_below svr_beta_valueE h !hinge_nonneg /=.
by split; rewrite hinge_below // ler_subl_addl.
Qed.
Theorem svr_l1_beta_equivalence v :
  minimum (svr_l1_primal_feas ip x y eps) (@svr_l1_primal_obj R V ip I C) v <-> minimum everywhere (svr_l1_beta_obj ip x y C eps) v.
Proof.
apply: minimum_iff => [[[[w b] xi] xh] F|[be b] _].
  have [be h le] := svr_beta_no_worse F; exists (be, b) => //; apply: ler_add => //; rewrite ler_wpmul2l // ler_sum // => i _.
  by have [/andP[_ h1] /andP[_ h2]] := h i; exact: ler_add.
exists (span x be, b, above (be, b), below (be, b)); first exact: svr_beta_feasible.
by rewrite /svr_l1_beta_obj svr_beta_quadraticE.
Qed.
Theorem svr_l2_beta_equivalence v :
  minimum (svr_l2_primal_feas ip x y eps) (@svr_l2_primal_obj R V ip I C) v <-> minimum everywhere (svr_l2_beta_obj ip x y C eps) v.
Proof.
apply: minimum_iff => [[[[w b] xi] xh] F|[be b] _].
  have [be h le] := svr_beta_no_worse F; exists (be, b) => //; apply: ler_add => //; rewrite ler_wpmul2l // ler_sum // => i _.
  have [/andP[g1 h1] /andP[g2 h2]] := h i.
  by apply: ler_add; rewrite ler_expn2r ?nnegrE // (le_trans _ h1, le_trans _ h2).
exists (span x be, b, above (be, b), below (be, b)); first exact: svr_beta_feasible.
by rewrite /svr_l2_beta_obj svr_beta_quadraticE.
Qed.
End Regression.

Section Ranking.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (X : finType) (phi : X -> V).
Variables (P : finType) (hi lo : P -> X) (C : R).
Implicit Types (w : V) (bh : P -> R) (v : R).
Let a p := phi (hi p) - phi (lo p).
Local Notation W := (rank_w phi hi lo).
Definition rank_l2_betahat_obj bh := 2%:R^-1 * rank_quadratic ip phi hi lo bh
  + C * (\sum_p (Num.max 0 (1 - \sum_q Qhat ip phi hi lo p q * bh q)) ^+ 2).

Lemma betahat_valueE bh p : \sum_q Qhat ip phi hi lo p q * bh q = ip (W bh) (a p).
Proof. by rewrite /rank_w ip_suml; apply: eq_bigr => q _; rewrite ip_scalel QhatE ip_sym mulrC. Qed.
Theorem rank_l2_betahat_of_primal v : 0 <= C ->
  minimum (rank_l2_primal_feas ip phi hi lo) (rank_l2_primal_obj ip C) v <-> minimum everywhere rank_l2_betahat_obj v.
Proof.
move=> C0; apply: minimum_iff => [[w xi] F|bh _].
  have [bh h] := projection ip a w; exists bh => //; rewrite /rank_l2_betahat_obj rank_quadraticE.
  apply: ler_add; first exact: projection_no_longer.
  rewrite ler_wpmul2l // ler_sum // => p _; have [h0 h1] := F p.
  by rewrite betahat_valueE [ip _ _]h hinge_square_below // ler_subl_addr -ler_subl_addl.
exists (W bh, fun p => Num.max 0 (1 - \sum_q Qhat ip phi hi lo p q * bh q)).
  by move=> p; rewrite hinge_nonneg ler_subl_addr -ler_subl_addl betahat_valueE hinge_above.
by rewrite /rank_l2_betahat_obj rank_quadraticE.
Qed.
Theorem rank_l2_betahat_equivalence v : 0 < C ->
  maximum (@rank_l2_dual_feas R P) (rank_l2_dual_obj ip phi hi lo C) v <-> minimum everywhere rank_l2_betahat_obj v.
Proof.
move=> C0; have [[u Pu Du] _] := rank_l2_duality ip phi hi lo C0.
have Bu := (rank_l2_betahat_of_primal u (ltW C0)).1 Pu.
by split=> h; [rewrite (maximum_unique h Du)|rewrite (minimum_unique h Bu)].
Qed.
End Ranking.

(** ** lambda = 1/C *)
Section Scales.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (I : finType) (x : I -> V) (y : I -> R) (C eps : R).
Hypothesis C0 : 0 < C.
Let Cn : C != 0. Proof. by rewrite gt_eqF. Qed.

Lemma scaled_box (al : R) : (0 <= al <= C) = (0 <= C^-1 * al <= 1).
Proof. by rewrite pmulr_rge0 ?invr_gt0 // ler_pdivr_mull // mulr1. Qed.
Lemma unscaled_box (al : R) : (0 <= al <= 1) = (0 <= C * al <= C).
Proof. by rewrite pmulr_rge0 // -[X in _ = (_ && (_ <= X))]mulr1 ler_pmul2l. Qed.

Theorem svm_soft_lambda_primal_rescaling v : minimum (svm_soft_primal_feas ip x y) (@svm_soft_primal_obj R V ip I C) v <->
  minimum (svm_soft_primal_feas ip x y) (svm_soft_lambda_primal_obj ip C^-1) (C^-1 * v).
Proof.
apply: minimum_scale; first by rewrite invr_gt0.
by move=> [[w b] xi]; rewrite /svm_soft_lambda_primal_obj /=; field; rewrite Cn.
Qed.
Theorem svm_soft_lambda_dual_rescaling v : maximum (svm_soft_dual_feas y C) (svm_soft_dual_obj ip x y) v <->
  maximum (svm_soft_lambda_dual_feas y) (svm_soft_lambda_dual_obj ip x y C^-1) (C^-1 * v).
Proof.
have balance k (al : I -> R) : \sum_i y i * al i = 0 -> \sum_i y i * (k * al i) = 0.
  by move=> h; under eq_bigr do rewrite mulrCA; rewrite -mulr_sumr h mulr0.
apply: (maximum_scale (f := fun al i => C^-1 * al i) (h := fun al i => C * al i)) => [|al [B F]|al [B F]].
- by rewrite invr_gt0.
- split; first by split=> [|i]; [exact: balance|rewrite -scaled_box F].
  rewrite /svm_soft_lambda_dual_obj svm_quadraticZ -mulr_sumr /svm_soft_dual_obj.
  by move: (\sum_i al i) (svm_quadratic _ _ _ al) => s q; field; rewrite Cn.
- split; first by split=> [|i]; [exact: balance|rewrite -unscaled_box F].
  rewrite /svm_soft_dual_obj svm_quadraticZ -mulr_sumr /svm_soft_lambda_dual_obj.
  by move: (\sum_i al i) (svm_quadratic _ _ _ al) => s q; field; rewrite Cn.
Qed.
Theorem svr_l1_lambda_primal_rescaling v : minimum (svr_l1_primal_feas ip x y eps) (@svr_l1_primal_obj R V ip I C) v <->
  minimum (svr_l1_primal_feas ip x y eps) (svr_l1_lambda_primal_obj ip C^-1) (C^-1 * v).
Proof.
apply: minimum_scale; first by rewrite invr_gt0.
by move=> [[[w b] xi] xh]; rewrite /svr_l1_lambda_primal_obj /=; field; rewrite Cn.
Qed.
Let scaled k (p : (I -> R) * (I -> R)) := (fun i => k * p.1 i, fun i => k * p.2 i).
Let scaledE k al ah : scaled k (al, ah) = (fun i => k * al i, fun i => k * ah i). Proof. by []. Qed.
Lemma svr_scaled_sums k (al ah : I -> R) :
  [/\ \sum_i (k * al i - k * ah i) = k * (\sum_i (al i - ah i)),
      \sum_i y i * (k * al i - k * ah i) = k * (\sum_i y i * (al i - ah i)),
      \sum_i (k * al i + k * ah i) = k * (\sum_i (al i + ah i))
    & svr_quadratic ip x (fun i => k * al i, fun i => k * ah i) = k ^+ 2 * svr_quadratic ip x (al, ah)].
Proof.
split; rewrite /svr_quadratic mulr_sumr; apply: eq_bigr => i _; [ring|ring|ring|].
by rewrite mulr_sumr; apply: eq_bigr => j _; ring.
Qed.
Theorem svr_l1_lambda_dual_rescaling v : maximum (svr_l1_dual_feas C) (svr_l1_dual_obj ip x y eps) v <->
  maximum (@svr_l1_lambda_dual_feas R I) (svr_l1_lambda_dual_obj ip x y eps C^-1) (C^-1 * v).
Proof.
apply: (maximum_scale (f := scaled C^-1) (h := scaled C)) => [|[al ah] [B F]|[al ah] [B F]].
- by rewrite invr_gt0.
- have [e1 e2 e3 e4] := svr_scaled_sums C^-1 al ah; split.
    by split=> [|i]; rewrite /scaled /= ?e1 ?B ?mulr0 // -!scaled_box.
  rewrite scaledE /svr_l1_lambda_dual_obj /svr_l1_dual_obj e2 e3 e4.
  by move: (\sum_i y i * _) (\sum_i (al i + _)) (svr_quadratic _ _ _) => s t q; field; rewrite Cn.
- have [e1 e2 e3 e4] := svr_scaled_sums C al ah; split.
    by split=> [|i]; rewrite /scaled /= ?e1 ?B ?mulr0 // -!unscaled_box.
  rewrite scaledE /svr_l1_lambda_dual_obj /svr_l1_dual_obj e2 e3 e4.
  by move: (\sum_i y i * _) (\sum_i (al i + _)) (svr_quadratic _ _ _) => s t q; field; rewrite Cn.
Qed.
End Scales.
