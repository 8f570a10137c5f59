(** * Classification: documents T (section 2), W and K (2.3)

    F(x) = w.x - b as T writes it; labels y_i; any semi-inner product, so any kernel. Names follow the ids of the declarations.

    [svm_hard_duality]         (6)-(7) and (16)-(18): one attained optimum, w = sum al_i y_i x_i, complementarity; for separable data
    [svm_nobias_hard_duality]  K (2.3) without slacks, and its dual  [svm_nobias_hard_beta_equivalence]  K (3.14) without slacks
    [svm_soft_duality]         (23)-(25) and (26)-(28), with the 1/2
    [svm_l2_duality]           squared slacks and their dual
    [svm_nobias_duality]       K (2.3) and its box dual              [svm_nobias_l2_duality]  these with squared slacks
    [svm_nobias_beta_value]    K (3.14) is the objective of K (2.3) at w = sum y_i betabar_i x_i and minimal slacks
    [svm_nobias_beta_equivalence]   hence K (2.3) and K (3.14) have the same optimum
    [svm_soft_dual_as_printed_rescaling]  (26) as printed, without the 1/2, at C is half the right dual at 2C
    [svm_penalized_equivalence]     a bias in the norm is the no-bias problem with the kernel k + 1
    [svm_hard_margin_equivalence]   v > 0 is the hard optimum if and only if the largest margin is 1/sqrt(2 v)
    [svm_nobias_hard_margin_equivalence]   [svm_hard_margin_equivalence] without a bias
    [svm_soft_below_hard], [svm_soft_is_hard], [svm_hard_is_soft_only]   soft <= hard, and equal exactly for C >= C*
    [svm_soft_kkt_cases]       Figure 3 and (33)-(34), corrected      [svm_soft_bias]   b = w.x_i - 1 at a free support vector *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From equimargin Require Import inner optimum qp margin representer.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Definitions.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (I : finType) (x : I -> V) (y : I -> R) (C : R).
Implicit Types al : I -> R.
Let point : Type := (V * R)%type.
Let margin_point : Type := (V * R * R)%type.
Let soft_point : Type := (V * R * (I -> R))%type.
Let nobias_point : Type := (V * (I -> R))%type.

Definition svm_w al : V := \sum_i (al i * y i) *: x i.
Definition svm_quadratic al := \sum_i \sum_j al i * al j * (y i * y j * ip (x i) (x j)).

Definition svm_hard_primal_feas (p : point) := let: (w, b) := p in forall i, 1 <= y i * (ip w (x i) - b).
Definition svm_hard_primal_obj (p : point) := let: (w, b) := p in 2%:R^-1 * ip w w.
Definition svm_hard_dual_feas al := \sum_i y i * al i = 0 /\ forall i, 0 <= al i.
Definition svm_hard_dual_obj al := \sum_i al i - 2%:R^-1 * svm_quadratic al.
Definition svm_hard_kkt (p : point) al := let: (w, b) := p in [/\ svm_hard_primal_feas (w, b), svm_hard_dual_feas al,
  ip (w - svm_w al) (w - svm_w al) = 0 & forall i, al i * (y i * (ip w (x i) - b) - 1) = 0].

Definition svm_hard_margin_feas (p : margin_point) := let: (u, b, t) := p in (forall i, t <= y i * (ip u (x i) - b)) /\ ip u u <= 1.
Definition svm_hard_margin_obj (p : margin_point) := let: (u, b, t) := p in t.

Definition svm_soft_primal_feas (p : soft_point) := let: (w, b, xi) := p in forall i, 0 <= xi i /\ 1 - xi i <= y i * (ip w (x i) - b).
Definition svm_soft_primal_obj (p : soft_point) := let: (w, b, xi) := p in 2%:R^-1 * ip w w + C * (\sum_i xi i).
Definition svm_soft_dual_feas al := \sum_i y i * al i = 0 /\ forall i, 0 <= al i <= C.
Definition svm_soft_dual_obj al := \sum_i al i - 2%:R^-1 * svm_quadratic al.
Definition svm_soft_kkt (p : soft_point) al := let: (w, b, xi) := p in [/\ svm_soft_primal_feas (w, b, xi), svm_soft_dual_feas al,
  ip (w - svm_w al) (w - svm_w al) = 0, forall i, al i * (y i * (ip w (x i) - b) - 1 + xi i) = 0
  & forall i, (C - al i) * xi i = 0].
Definition svm_soft_dual_as_printed_obj al := \sum_i al i - svm_quadratic al.

Definition svm_l2_primal_feas := svm_soft_primal_feas.
Definition svm_l2_primal_obj (p : soft_point) := let: (w, b, xi) := p in 2%:R^-1 * ip w w + C * (\sum_i xi i ^+ 2).
Definition svm_l2_dual_feas := svm_hard_dual_feas.
Definition svm_l2_dual_obj al := \sum_i al i - 2%:R^-1 * svm_quadratic al - (4%:R * C)^-1 * (\sum_i al i ^+ 2).
Definition svm_l2_kkt (p : soft_point) al := let: (w, b, xi) := p in [/\ svm_l2_primal_feas (w, b, xi), svm_l2_dual_feas al,
  ip (w - svm_w al) (w - svm_w al) = 0, forall i, al i * (y i * (ip w (x i) - b) - 1 + xi i) = 0
  & forall i, al i = 2%:R * C * xi i].

Definition svm_nobias_primal_feas (p : nobias_point) := let: (w, xi) := p in forall i, 0 <= xi i /\ 1 - xi i <= y i * ip w (x i).
Definition svm_nobias_primal_obj (p : nobias_point) := let: (w, xi) := p in 2%:R^-1 * ip w w + C * (\sum_i xi i).
Definition svm_nobias_dual_feas al := forall i, 0 <= al i <= C.
Definition svm_nobias_dual_obj al := \sum_i al i - 2%:R^-1 * svm_quadratic al.
Definition svm_nobias_kkt (p : nobias_point) al := let: (w, xi) := p in [/\ svm_nobias_primal_feas (w, xi), svm_nobias_dual_feas al,
  ip (w - svm_w al) (w - svm_w al) = 0, forall i, al i * (y i * ip w (x i) - 1 + xi i) = 0
  & forall i, (C - al i) * xi i = 0].
Definition svm_nobias_beta_obj (be : I -> R) := 2%:R^-1 * svm_quadratic be
  + C * (\sum_i Num.max 0 (1 - \sum_j y i * y j * ip (x i) (x j) * be j)).

Definition svm_nobias_hard_primal_feas (w : V) := forall i, 1 <= y i * ip w (x i).
Definition svm_nobias_hard_primal_obj (w : V) := 2%:R^-1 * ip w w.
Definition svm_nobias_hard_dual_feas al := forall i : I, 0 <= al i.
Definition svm_nobias_hard_dual_obj al := \sum_i al i - 2%:R^-1 * svm_quadratic al.
Definition svm_nobias_hard_kkt (w : V) al := [/\ svm_nobias_hard_primal_feas w, svm_nobias_hard_dual_feas al,
  ip (w - svm_w al) (w - svm_w al) = 0 & forall i, al i * (y i * ip w (x i) - 1) = 0].
Definition svm_nobias_hard_margin_feas (p : V * R) := let: (u, t) := p in (forall i, t <= y i * ip u (x i)) /\ ip u u <= 1.
Definition svm_nobias_hard_margin_obj (p : V * R) := let: (u, t) := p in t.
Definition svm_nobias_hard_beta_feas (be : I -> R) := forall i, 1 <= \sum_j y i * y j * ip (x i) (x j) * be j.
Definition svm_nobias_hard_beta_obj (be : I -> R) := 2%:R^-1 * svm_quadratic be.

Definition svm_nobias_l2_primal_feas := svm_nobias_primal_feas.
Definition svm_nobias_l2_primal_obj (p : nobias_point) := let: (w, xi) := p in 2%:R^-1 * ip w w + C * (\sum_i xi i ^+ 2).
Definition svm_nobias_l2_dual_feas al := forall i : I, 0 <= al i.
Definition svm_nobias_l2_dual_obj al := \sum_i al i - 2%:R^-1 * svm_quadratic al - (4%:R * C)^-1 * (\sum_i al i ^+ 2).
Definition svm_nobias_l2_kkt (p : nobias_point) al := let: (w, xi) := p in [/\ svm_nobias_l2_primal_feas (w, xi), svm_nobias_l2_dual_feas al,
  ip (w - svm_w al) (w - svm_w al) = 0, forall i, al i * (y i * ip w (x i) - 1 + xi i) = 0
  & forall i, al i = 2%:R * C * xi i].

Definition svm_penalized_primal_feas := svm_soft_primal_feas.
Definition svm_penalized_primal_obj (p : soft_point) := let: (w, b, xi) := p in 2%:R^-1 * (ip w w + b ^+ 2) + C * (\sum_i xi i).
End Definitions.

Section Duality.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (I : finType) (x : I -> V) (y : I -> R) (C : R).
Implicit Types al : I -> R.
Let a i := y i *: x i.
Let one (i : I) : R := 1.
Let none (i : I) : R := 0.

Lemma svm_wE al : svm_w x y al = span a al.
Proof. by apply: eq_bigr => i _; rewrite scalerA. Qed.
Lemma svm_marginE w b i : y i * (ip w (x i) - b) = ip w (a i) - y i * b.
Proof. by rewrite ip_scaler mulrBr. Qed.
Lemma svm_quadraticE al : svm_quadratic ip x y al = ip (svm_w x y al) (svm_w x y al).
Proof.
rewrite ip_suml; apply: eq_bigr => i _; rewrite ip_sumr; apply: eq_bigr => j _.
by rewrite !ip_scalel !ip_scaler; ring.
Qed.
Lemma svm_dual_valueE al : \sum_i al i - 2%:R^-1 * svm_quadratic ip x y al = dual_value ip a one al.
Proof. by rewrite svm_quadraticE svm_wE /dual_value; congr (_ - _); apply: eq_bigr => i _; rewrite mul1r. Qed.
Lemma svm_slackE w b xi i : y i * (ip w (x i) - b) - 1 + xi i = slack ip a y one w b xi i.
Proof. by rewrite svm_marginE. Qed.
Lemma nobias_balanced al : balanced none al.
Proof. by apply: big1 => i _; rewrite mul0r. Qed.
Lemma nobias_slackE w b xi i : y i * ip w (x i) - 1 + xi i = slack ip a none one w b xi i.
Proof. by rewrite /slack mul0r subr0 ip_scaler. Qed.

Theorem svm_hard_duality : (exists t, svm_hard_primal_feas ip x y t) ->
  strong_duality (svm_hard_primal_feas ip x y) (@svm_hard_primal_obj R V ip) (svm_hard_dual_feas y) (svm_hard_dual_obj ip x y)
    (svm_hard_kkt ip x y).
Proof.
have PE t : svm_hard_primal_feas ip x y t <-> hard_primal_feas ip a y one t.
  by case: t => w b; split=> h i; have := h i; rewrite svm_marginE.
have KE t al : svm_hard_kkt ip x y t al <-> hard_kkt ip a y one t al.
  case: t => w b; rewrite /svm_hard_kkt /hard_kkt svm_wE.
  by split; case=> /PE h1 h2 h3 h4; split=> // i; rewrite -(h4 i) /= svm_marginE.
case=> t0 /PE F; apply: (strong_duality_transfer (hard_pair ip a y one) (f := id) (h := id)) _ _ _ (hard_duality _) => //.
- by move=> t /PE.
- by case.
- exact: svm_dual_valueE.
- by move=> t al; rewrite KE; split=> [K|[]//]; case: (K) => h1 h2; split=> //; exact/PE.
- by move=> t al /KE K; exists t, al.
- by exists t0.
Qed.

Theorem svm_soft_duality : 0 <= C ->
  strong_duality (svm_soft_primal_feas ip x y) (@svm_soft_primal_obj R V ip I C) (svm_soft_dual_feas y C) (svm_soft_dual_obj ip x y)
    (svm_soft_kkt ip x y C).
Proof.
have PE t : svm_soft_primal_feas ip x y t <-> hinge_primal_feas ip a y one t.
  by case: t => -[w b] xi; split=> h i; have := h i; rewrite svm_marginE.
have KE t al : svm_soft_kkt ip x y C t al <-> hinge_kkt ip a y one (fun=> C) t al.
  case: t => -[w b] xi; rewrite /svm_soft_kkt /hinge_kkt svm_wE.
  by split; case=> /PE h1 h2 h3 h4 h5; split=> // i; rewrite -(h4 i) /= svm_slackE.
move=> C0; apply: (strong_duality_transfer (hinge_pair ip a y one (fun=> C)) (f := id) (h := id)) _ _ _ (hinge_duality _ _ _ _ _) => //.
- by move=> t /PE.
- by case=> -[w b] xi; rewrite /hinge_primal_obj /= -mulr_sumr.
- exact: svm_dual_valueE.
- by move=> t al; rewrite KE; split=> [K|[]//]; case: (K) => h1 h2; split=> //; exact/PE.
- by move=> t al /KE K; exists t, al.
Qed.

Theorem svm_l2_duality : 0 < C ->
  strong_duality (svm_l2_primal_feas ip x y) (@svm_l2_primal_obj R V ip I C) (svm_l2_dual_feas y) (svm_l2_dual_obj ip x y C)
    (svm_l2_kkt ip x y C).
Proof.
have PE t : svm_l2_primal_feas ip x y t <-> squared_primal_feas ip a y one t.
  by case: t => -[w b] xi; split=> h i; have := h i; rewrite svm_marginE.
have KE t al : svm_l2_kkt ip x y C t al <-> squared_kkt ip a y one C t al.
  case: t => -[w b] xi; rewrite /svm_l2_kkt /squared_kkt svm_wE.
  by split; case=> /PE h1 h2 h3 h4 h5; split=> // i; rewrite -(h4 i) /= svm_slackE.
move=> C0; apply: (strong_duality_transfer (squared_pair ip a y one C0) (f := id) (h := id)) _ _ _ (squared_duality _ _ _ _ C0) => //.
- by move=> t /PE.
- by case=> -[w b] xi.
- by move=> al; rewrite /svm_l2_dual_obj svm_dual_valueE.
- by move=> t al; rewrite KE; split=> [K|[]//]; case: (K) => h1 h2; split=> //; exact/PE.
- by move=> t al /KE K; exists t, al.
Qed.

Theorem svm_nobias_hard_duality : (exists w, svm_nobias_hard_primal_feas ip x y w) ->
  strong_duality (svm_nobias_hard_primal_feas ip x y) (svm_nobias_hard_primal_obj ip) (@svm_nobias_hard_dual_feas R I)
    (svm_nobias_hard_dual_obj ip x y) (svm_nobias_hard_kkt ip x y).
Proof.
have PE w b : svm_nobias_hard_primal_feas ip x y w <-> hard_primal_feas ip a none one (w, b).
  by split=> h i; have := h i; rewrite /= mul0r subr0 ip_scaler.
have KE w b al : svm_nobias_hard_kkt ip x y w al <-> hard_kkt ip a none one (w, b) al.
  rewrite /svm_nobias_hard_kkt /hard_kkt svm_wE; split; case=> /PE h1 h2 h3 h4; split=> //.
  + by split=> //; exact: nobias_balanced.
  + by move=> i; rewrite -(h4 i) /= mul0r subr0 ip_scaler.
  + by case: h2.
  + by move=> i; rewrite -(h4 i) /= mul0r subr0 ip_scaler.
case=> w0 F; apply: (strong_duality_transfer (hard_pair ip a none one) (f := fun w => (w, 0)) (h := id)) _ _ _ (hard_duality _) => //.
- by move=> w /PE; exact.
- by split=> //; exact: nobias_balanced.
- exact: svm_dual_valueE.
- by move=> w al; rewrite (KE w 0); split=> [K|[]//]; case: (K) => h1 [_ h2]; split=> //; exact/PE/h1.
- by case=> w b al /KE K; exists w, al.
- by exists (w0, 0); exact/PE.
Qed.

Let unbiased (t : V * (I -> R)) : V * R * (I -> R) := (t.1, 0, t.2).
Theorem svm_nobias_duality : 0 <= C ->
  strong_duality (svm_nobias_primal_feas ip x y) (@svm_nobias_primal_obj R V ip I C) (@svm_nobias_dual_feas R I C)
    (svm_nobias_dual_obj ip x y) (svm_nobias_kkt ip x y C).
Proof.
have PE w b xi : svm_nobias_primal_feas ip x y (w, xi) <-> hinge_primal_feas ip a none one (w, b, xi).
  by split=> h i; have := h i; rewrite /= mul0r subr0 ip_scaler.
have KE w b xi al : svm_nobias_kkt ip x y C (w, xi) al <-> hinge_kkt ip a none one (fun=> C) (w, b, xi) al.
  rewrite /svm_nobias_kkt /hinge_kkt svm_wE; split; case=> /PE h1 h2 h3 h4 h5; split=> //.
  + by split=> //; exact: nobias_balanced.
  + by move=> i; rewrite -(h4 i) /= -nobias_slackE.
  + by case: h2.
  + by move=> i; rewrite -(h4 i) /= -nobias_slackE.
move=> C0; apply: (strong_duality_transfer (hinge_pair ip a none one (fun=> C)) (f := unbiased) (h := id)) _ _ _
  (hinge_duality _ _ _ _ _) => //.
- by case=> w xi /PE; exact.
- by case=> w xi; rewrite /hinge_primal_obj /= -mulr_sumr.
- by split=> //; exact: nobias_balanced.
- exact: svm_dual_valueE.
- by case=> w xi al; rewrite (KE w 0); split=> [K|[]//]; case: (K) => h1 [_ h2]; split=> //; exact/PE/h1.
- by case=> -[w b] xi al /KE K; exists (w, xi), al.
Qed.
Theorem svm_nobias_l2_duality : 0 < C ->
  strong_duality (svm_nobias_l2_primal_feas ip x y) (@svm_nobias_l2_primal_obj R V ip I C) (@svm_nobias_l2_dual_feas R I)
    (svm_nobias_l2_dual_obj ip x y C) (svm_nobias_l2_kkt ip x y C).
Proof.
have PE w b xi : svm_nobias_l2_primal_feas ip x y (w, xi) <-> squared_primal_feas ip a none one (w, b, xi).
  by split=> h i; have := h i; rewrite /= mul0r subr0 ip_scaler.
have KE w b xi al : svm_nobias_l2_kkt ip x y C (w, xi) al <-> squared_kkt ip a none one C (w, b, xi) al.
  rewrite /svm_nobias_l2_kkt /squared_kkt svm_wE; split; case=> /PE h1 h2 h3 h4 h5; split=> //.
  + by split=> //; exact: nobias_balanced.
  + by move=> i; rewrite -(h4 i) /= -nobias_slackE.
  + by case: h2.
  + by move=> i; rewrite -(h4 i) /= -nobias_slackE.
move=> C0; apply: (strong_duality_transfer (squared_pair ip a none one C0) (f := unbiased) (h := id)) _ _ _
  (squared_duality _ _ _ _ C0) => //.
- by case=> w xi /PE; exact.
- by case.
- by split=> //; exact: nobias_balanced.
- by move=> al; rewrite /svm_nobias_l2_dual_obj svm_dual_valueE.
- by case=> w xi al; rewrite (KE w 0); split=> [K|[]//]; case: (K) => h1 [_ h2]; split=> //; exact/PE/h1.
- by case=> -[w b] xi al /KE K; exists (w, xi), al.
Qed.
End Duality.

(** ** Forms of the soft margin *)
Section Forms.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (I : finType) (x : I -> V) (y : I -> R) (C : R).
Implicit Types (w : V) (al be : I -> R).
Let a i := y i *: x i.
Definition nobias_hinge w i := Num.max 0 (1 - y i * ip w (x i)).

Lemma nobias_hinge_feasible w : svm_nobias_primal_feas ip x y (w, nobias_hinge w).
Proof. by move=> i; rewrite /nobias_hinge le_maxr lexx ler_subl_addr -ler_subl_addl le_maxr lexx orbT. Qed.
Lemma nobias_hinge_least w xi i : svm_nobias_primal_feas ip x y (w, xi) -> nobias_hinge w i <= xi i.
Proof. by move=> /(_ i)[h0 h1]; rewrite /nobias_hinge le_maxl h0 /= ler_subl_addr -ler_subl_addl. Qed.
Theorem svm_nobias_beta_value be :
  svm_nobias_beta_obj ip x y C be = svm_nobias_primal_obj ip C (svm_w x y be, nobias_hinge (svm_w x y be)).
Proof.
rewrite /svm_nobias_beta_obj svm_quadraticE; congr (_ + _ * _); apply: eq_bigr => i _; congr (Num.max 0 (1 - _)).
rewrite /svm_w ip_suml mulr_sumr; apply: eq_bigr => j _; rewrite ip_scalel (ip_sym ip (x j)); ring.
Qed.
Theorem svm_nobias_beta_equivalence v : 0 <= C ->
  minimum (svm_nobias_primal_feas ip x y) (@svm_nobias_primal_obj R V ip I C) v <-> minimum everywhere (svm_nobias_beta_obj ip x y C) v.
Proof.
move=> C0; apply: minimum_iff => [[w xi] F|be _].
  have [be h] := projection ip a w; exists be => //; rewrite svm_nobias_beta_value svm_wE ler_add ?projection_no_longer //.
  rewrite ler_wpmul2l // ler_sum // => i _; apply: le_trans (nobias_hinge_least i F).
  by rewrite /nobias_hinge -!ip_scaler h.
by exists (svm_w x y be, nobias_hinge (svm_w x y be)); [exact: nobias_hinge_feasible|rewrite svm_nobias_beta_value].
Qed.

Lemma svm_nobias_hard_beta_feasible be : svm_nobias_hard_beta_feas ip x y be <-> svm_nobias_hard_primal_feas ip x y (svm_w x y be).
Proof.
have E i : \sum_j y i * y j * ip (x i) (x j) * be j = y i * ip (svm_w x y be) (x i).
  by rewrite /svm_w ip_suml mulr_sumr; apply: eq_bigr => j _; rewrite ip_scalel (ip_sym ip (x j)); ring.
by split=> h i; have := h i; rewrite E.
Qed.
Theorem svm_nobias_hard_beta_equivalence v :
  minimum (svm_nobias_hard_primal_feas ip x y) (svm_nobias_hard_primal_obj ip) v <->
  minimum (svm_nobias_hard_beta_feas ip x y) (svm_nobias_hard_beta_obj ip x y) v.
Proof.
apply: minimum_iff => [w F|be F].
  have [be h] := projection ip a w; exists be.
    by apply/svm_nobias_hard_beta_feasible => i; have := F i; rewrite svm_wE -!ip_scaler h.
  by rewrite /svm_nobias_hard_beta_obj svm_quadraticE svm_wE projection_no_longer.
by exists (svm_w x y be); [exact/svm_nobias_hard_beta_feasible|rewrite /svm_nobias_hard_beta_obj svm_quadraticE].
Qed.

Lemma svm_quadraticZ k al : svm_quadratic ip x y (fun i => k * al i) = k ^+ 2 * svm_quadratic ip x y al.
Proof. by rewrite /svm_quadratic mulr_sumr; apply: eq_bigr => i _; rewrite mulr_sumr; apply: eq_bigr => j _; ring. Qed.
Theorem svm_soft_dual_as_printed_rescaling v :
  maximum (svm_soft_dual_feas y C) (svm_soft_dual_as_printed_obj ip x y) v <->
  maximum (svm_soft_dual_feas y (2%:R * C)) (svm_soft_dual_obj ip x y) (2%:R * v).
Proof.
have balance k al : \sum_i y i * al i = 0 -> \sum_i y i * (k * al i) = 0.
  by move=> h; under eq_bigr do rewrite mulrCA; rewrite -mulr_sumr h mulr0.
apply: (maximum_scale (f := fun al i => 2%:R * al i) (h := fun al i => 2%:R^-1 * al i)) => [|al [B F]|al [B F]]; first by rewrite ltr0n.
- split; last first.
    rewrite /svm_soft_dual_obj svm_quadraticZ -mulr_sumr /svm_soft_dual_as_printed_obj.
    by move: (\sum_i al i) (svm_quadratic _ _ _ al) => s q; field.
  by split=> [|i]; [exact: balance|have /andP[h0 h1] := F i; rewrite mulr_ge0 ?ler0n //= ler_pmul2l ?ltr0n].
- split; last first.
    rewrite /svm_soft_dual_as_printed_obj svm_quadraticZ -mulr_sumr /svm_soft_dual_obj.
    by move: (\sum_i al i) (svm_quadratic _ _ _ al) => s q; field.
  by split=> [|i]; [exact: balance|have /andP[h0 h1] := F i; rewrite mulr_ge0 ?invr_ge0 ?ler0n //= ler_pdivr_mull ?ltr0n].
Qed.

(** The kernel k + 1: one more feature, the constant 1. *)
Let VR := [lmodType R of V * R^o].
Fact plus_one_sym (u v : VR) : ip u.1 v.1 + u.2 * v.2 = ip v.1 u.1 + v.2 * u.2 :> R.
Proof. by rewrite ip_sym; congr (_ + _); exact: mulrC. Qed.
Fact plus_one_addl (u v z : VR) : ip (u + v).1 z.1 + (u + v).2 * z.2 = ip u.1 z.1 + u.2 * z.2 + (ip v.1 z.1 + v.2 * z.2) :> R.
Proof. by rewrite ip_addl addrACA; congr (_ + _); exact: mulrDl. Qed.
Fact plus_one_scalel k (u v : VR) : ip (k *: u).1 v.1 + (k *: u).2 * v.2 = k * (ip u.1 v.1 + u.2 * v.2) :> R.
Proof. by rewrite ip_scalel mulrDr; congr (_ + _); rewrite [RHS]mulrA. Qed.
Fact plus_one_ge0 (u : VR) : 0 <= ip u.1 u.1 + u.2 * u.2 :> R.
Proof. by rewrite addr_ge0 ?ip_ge0 // -expr2 sqr_ge0. Qed.
Definition plus_one : semi_inner VR := SemiInner plus_one_sym plus_one_addl plus_one_scalel plus_one_ge0.
Definition with_one i : VR := (x i, 1).
Lemma plus_one_kernel i j : plus_one (with_one i) (with_one j) = ip (x i) (x j) + 1.
Proof. by rewrite /= mulr1. Qed.
Theorem svm_penalized_equivalence v :
  minimum (svm_penalized_primal_feas ip x y) (@svm_penalized_primal_obj R V ip I C) v <->
  minimum (svm_nobias_primal_feas plus_one with_one y) (@svm_nobias_primal_obj R VR plus_one I C) v.
Proof.
apply: minimum_iff => [[[w b] xi] F|[[w b] xi] F].
- exists ((w, - b), xi) => [i|]; first by have := F i; rewrite /= mulr1.
  by rewrite /= mulrNN -expr2.
- exists (w, - (b : R), xi) => [i|]; first by have := F i; rewrite /= mulr1 opprK.
  by rewrite /= sqrrN expr2.
Qed.

(** ** Soft and hard *)
Theorem svm_soft_below_hard w b : svm_hard_primal_feas ip x y (w, b) ->
  svm_soft_primal_feas ip x y (w, b, fun=> 0) /\
  svm_soft_primal_obj ip C (w, b, (fun=> 0) : I -> R) = svm_hard_primal_obj ip (w, b).
Proof. by move=> F; split=> [i|]; rewrite ?subr0 ?lexx //= ?big1 ?mulr0 ?addr0 //; split=> //; exact: F. Qed.
(** The soft optimum is the hard one exactly for C >= C*, the minimum of |al|_inf over optimal multipliers al of the hard dual. *)
Theorem svm_soft_is_hard v : 0 <= C -> minimum (svm_hard_primal_feas ip x y) (@svm_hard_primal_obj R V ip) v ->
  minimum (svm_soft_primal_feas ip x y) (@svm_soft_primal_obj R V ip I C) v <->
  exists2 al, maximizer (svm_hard_dual_feas y) (svm_hard_dual_obj ip x y) al & forall i, al i <= C.
Proof.
move=> C0 Hv; have [[w b] [Fw Ow] Ew] := Hv.
have [[u Pu [h [Fh Oh] Eh]] _] := @svm_hard_duality R V ip I x y (ex_intro _ _ Fw).
have [[u' Pu' [s [Fs Os] Es]] _] := @svm_soft_duality R V ip I x y C C0.
have uv : u = v by exact: minimum_unique Pu Hv.
split=> [Sv|[al [[bal al0] Oal] cap]].
  have u'v : u' = v by exact: minimum_unique Pu' Sv.
  have [bal box] := Fs; exists s; last by move=> i; have /andP[] := box i.
  split; first by split=> // i; have /andP[] := box i.
  by move=> al' /Oh; rewrite Eh uv -u'v -Es.
suff -> : v = u' by [].
have ub : u' <= v.
  have [F E] := svm_soft_below_hard Fw; have [t [Ft Ot] <-] := Pu'; rewrite -Ew -E; exact: Ot.
apply/eqP; rewrite eq_le ub andbT -uv -Eh -Es; apply: (le_trans (Oal h Fh)).
by apply: Os; split=> // i; rewrite al0 cap.
Qed.

(** Figure 3 and (33)-(34), corrected: the four cases. *)
Theorem svm_soft_kkt_cases w b xi al i : svm_soft_kkt ip x y C (w, b, xi) al ->
  [/\ (al i < C -> xi i = 0), (0 < xi i -> al i = C), (0 < al i -> y i * (ip w (x i) - b) = 1 - xi i)
    & (1 - xi i < y i * (ip w (x i) - b) -> al i = 0)].
Proof.
case=> P _ _ /(_ i)/eqP h1 /(_ i)/eqP h2; move: h1 h2; rewrite !mulf_eq0 subr_eq0 => /orP h1 /orP h2; split.
- by move=> lt; case: h2 => /eqP // E; rewrite E ltxx in lt.
- by move=> lt; case: h2 => /eqP // E; rewrite E ltxx in lt.
- move=> lt; case: h1 => [/eqP E|/eqP/addr0_eq E]; first by rewrite E ltxx in lt.
  by rewrite -E; ring.
- move=> lt; case: h1 => /eqP // E; move: lt; rewrite -subr_gt0.
  have -> : y i * (ip w (x i) - b) - (1 - xi i) = y i * (ip w (x i) - b) - 1 + xi i by ring.
  by rewrite E ltxx.
Qed.
(** b at a free support vector of class 1: not (21) as printed, b = 1 - w.x. *)
Theorem svm_soft_bias w b xi al i : svm_soft_kkt ip x y C (w, b, xi) al -> y i = 1 -> 0 < al i -> al i < C -> b = ip w (x i) - 1.
Proof.
move=> K yi lo hi; have [h1 _ h2 _] := svm_soft_kkt_cases i K.
by have := h2 lo; rewrite (h1 hi) yi mul1r subr0 => <-; ring.
Qed.
End Forms.

Section HardMargin.
Variables (R : rcfType) (V : lmodType R) (ip : semi_inner V) (I : finType) (x : I -> V) (y : I -> R).
Theorem svm_hard_margin_equivalence v : 0 < v ->
  minimum (svm_hard_primal_feas ip x y) (@svm_hard_primal_obj R V ip) v <->
  maximum (svm_hard_margin_feas ip x y) (@svm_hard_margin_obj R V) (Num.sqrt (2%:R * v))^-1.
Proof.
move=> v0; have [H1 H2] := margin_equivalence ip (fun i => y i *: x i) y v0.
have PE t : svm_hard_primal_feas ip x y t <-> hard_primal_feas ip (fun i => y i *: x i) y (fun=> 1) t.
  by case: t => w b; split=> h i; have := h i; rewrite svm_marginE.
have ME t : svm_hard_margin_feas ip x y t <-> margin_feas ip (fun i => y i *: x i) y t.
  by case: t => -[u b] t; split=> -[h n]; split=> // i; have := h i; rewrite svm_marginE.
split=> [[t [/PE F O] E]|[t [/ME F O] E]].
- have [|t' [/ME F' O'] E'] := H1.
    by exists t; [split=> // t' /PE /O; case: (t) (t') => ? ? [? ?]|case: (t) E].
  by exists t'; [split=> // s /ME /O'; case: (t') (s) => -[? ?] ? [[? ?] ?]|case: (t') E' => -[? ?] ?].
- have [|t' [/PE F' O'] E'] := H2.
    by exists t; [split=> // t' /ME /O; case: (t) (t') => -[? ?] ? [[? ?] ?]|case: (t) E => -[? ?] ?].
  by exists t'; [split=> // s /PE /O'; case: (t') (s) => ? ? [? ?]|case: (t') E'].
Qed.
Theorem svm_nobias_hard_margin_equivalence v : 0 < v ->
  minimum (svm_nobias_hard_primal_feas ip x y) (svm_nobias_hard_primal_obj ip) v <->
  maximum (svm_nobias_hard_margin_feas ip x y) (@svm_nobias_hard_margin_obj R V) (Num.sqrt (2%:R * v))^-1.
Proof.
move=> v0; have [H1 H2] := margin_equivalence ip (fun i => y i *: x i) (fun=> 0) v0.
have PE w b : svm_nobias_hard_primal_feas ip x y w <-> hard_primal_feas ip (fun i => y i *: x i) (fun=> 0) (fun=> 1) (w, b).
  by split=> h i; have := h i; rewrite /= mul0r subr0 ip_scaler.
have ME u b t : svm_nobias_hard_margin_feas ip x y (u, t) <-> margin_feas ip (fun i => y i *: x i) (fun=> 0) (u, b, t).
  by split=> -[h n]; split=> // i; have := h i; rewrite /= mul0r subr0 ip_scaler.
split=> [[w [F O] E]|[[u t] [F O] E]].
- have [|[[u b] t] [/ME F' O'] E'] := H1.
    by exists (w, 0) => //; split=> [|[w' b'] /PE /O]; [exact/PE|].
  by exists (u, t) => //; split=> // -[u' t'] /(ME _ 0) /O'.
- have [|[w b] [/PE F' O'] E'] := H2.
    by exists (u, 0, t) => //; split=> [|[[u' b'] t'] /ME /O]; [exact/ME|].
  by exists w => //; split=> // w' /(PE _ 0) /O'.
Qed.
End HardMargin.
