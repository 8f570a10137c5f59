(** * Epsilon-insensitive regression: document T (section 3)

    F(x) = w.x + b as T writes it there; names follow the ids of the declarations.

    [svr_hard_duality]   (57)-(59) and their dual, if some function stays in the tube at all points
    [svr_l1_duality]     (64) and (70)-(73), with (alpha_j - alphahat_j): one attained optimum, w = sum (al_i - ah_i) x_i
    [svr_l2_duality]     (60)-(63) as printed, squared slacks, and their dual
    [svr_l1_one_sided]   al_i ah_i = 0 if epsilon > 0 *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From equimargin Require Import inner optimum qp margin.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Definitions.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (I : finType) (x : I -> V) (y : I -> R) (C eps : R).
Let point : Type := (V * R)%type.
Let soft_point : Type := (V * R * (I -> R) * (I -> R))%type.
Let multipliers : Type := ((I -> R) * (I -> R))%type.

Definition svr_w (p : multipliers) := let: (al, ah) := p in \sum_i (al i - ah i) *: x i.
Definition svr_quadratic (p : multipliers) := let: (al, ah) := p in
  \sum_i \sum_j (al i - ah i) * (al j - ah j) * ip (x i) (x j).

Definition svr_hard_primal_feas (p : point) := let: (w, b) := p in
  forall i, y i - ip w (x i) - b <= eps /\ ip w (x i) + b - y i <= eps.
Definition svr_hard_primal_obj (p : point) := let: (w, b) := p in 2%:R^-1 * ip w w.
Definition svr_hard_dual_feas (p : multipliers) := let: (al, ah) := p in
  \sum_i (al i - ah i) = 0 /\ forall i, 0 <= al i /\ 0 <= ah i.
Definition svr_hard_dual_obj (p : multipliers) := let: (al, ah) := p in
  \sum_i y i * (al i - ah i) - eps * (\sum_i (al i + ah i)) - 2%:R^-1 * svr_quadratic (al, ah).
Definition svr_hard_kkt (p : point) (q : multipliers) := let: (w, b) := p in let: (al, ah) := q in
  [/\ svr_hard_primal_feas (w, b), svr_hard_dual_feas (al, ah), ip (w - svr_w (al, ah)) (w - svr_w (al, ah)) = 0
    & forall i, al i * (eps - y i + ip w (x i) + b) = 0 /\ ah i * (eps + y i - ip w (x i) - b) = 0].

Definition svr_l1_primal_feas (p : soft_point) := let: (w, b, xi, xh) := p in
  forall i, [/\ 0 <= xi i, 0 <= xh i, y i - ip w (x i) - b <= eps + xi i & ip w (x i) + b - y i <= eps + xh i].
Definition svr_l1_primal_obj (p : soft_point) := let: (w, b, xi, xh) := p in 2%:R^-1 * ip w w + C * (\sum_i (xi i + xh i)).
Definition svr_l1_dual_feas (p : multipliers) := let: (al, ah) := p in
  \sum_i (al i - ah i) = 0 /\ forall i, 0 <= al i <= C /\ 0 <= ah i <= C.
Definition svr_l1_dual_obj (p : multipliers) := let: (al, ah) := p in
  \sum_i y i * (al i - ah i) - eps * (\sum_i (al i + ah i)) - 2%:R^-1 * svr_quadratic (al, ah).
Definition svr_l1_dual_as_printed_obj (p : multipliers) := let: (al, ah) := p in
  \sum_i y i * (al i - ah i) - eps * (\sum_i (al i + ah i))
    - 2%:R^-1 * (\sum_i (al i - ah i) * (al i - ah i) * ip (x i) (x i)).
Definition svr_l1_kkt (p : soft_point) (q : multipliers) := let: (w, b, xi, xh) := p in let: (al, ah) := q in
  [/\ svr_l1_primal_feas (w, b, xi, xh), svr_l1_dual_feas (al, ah), ip (w - svr_w (al, ah)) (w - svr_w (al, ah)) = 0,
      forall i, al i * (eps + xi i - y i + ip w (x i) + b) = 0 /\ ah i * (eps + xh i + y i - ip w (x i) - b) = 0
    & forall i, (C - al i) * xi i = 0 /\ (C - ah i) * xh i = 0].

Definition svr_l2_primal_feas := svr_l1_primal_feas.
Definition svr_l2_primal_obj (p : soft_point) := let: (w, b, xi, xh) := p in
  2%:R^-1 * ip w w + C * (\sum_i (xi i ^+ 2 + xh i ^+ 2)).
Definition svr_l2_dual_feas := svr_hard_dual_feas.
Definition svr_l2_dual_obj (p : multipliers) := let: (al, ah) := p in
  \sum_i y i * (al i - ah i) - eps * (\sum_i (al i + ah i)) - 2%:R^-1 * svr_quadratic (al, ah)
    - (4%:R * C)^-1 * (\sum_i (al i ^+ 2 + ah i ^+ 2)).
Definition svr_l2_kkt (p : soft_point) (q : multipliers) := let: (w, b, xi, xh) := p in let: (al, ah) := q in
  [/\ svr_l2_primal_feas (w, b, xi, xh), svr_l2_dual_feas (al, ah), ip (w - svr_w (al, ah)) (w - svr_w (al, ah)) = 0,
      forall i, al i * (eps + xi i - y i + ip w (x i) + b) = 0 /\ ah i * (eps + xh i + y i - ip w (x i) - b) = 0
    & forall i, al i = 2%:R * C * xi i /\ ah i = 2%:R * C * xh i].
End Definitions.

Section Duality.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (I : finType) (x : I -> V) (y : I -> R) (C eps : R).

(** The rows of the margin problem: inl the upper side of the tube, inr the lower one. *)
Let a (k : I + I) : V := match k with inl i => x i | inr i => - x i end.
Let g (k : I + I) : R := match k with inl _ => -1 | inr _ => 1 end.
Let r (k : I + I) : R := match k with inl i => y i - eps | inr i => - y i - eps end.
Definition both (f h : I -> R) (k : I + I) : R := match k with inl i => f i | inr i => h i end.
Let above (f : I + I -> R) i := f (inl i).
Let below (f : I + I -> R) i := f (inr i).

Lemma svr_wE al : svr_w x (above al, below al) = span a al.
Proof.
rewrite /span big_sumType /= -big_split /=; apply: eq_bigr => i _.
by rewrite scalerBl scalerN.
Qed.
Lemma svr_quadraticE al : svr_quadratic ip x (above al, below al) = ip (span a al) (span a al).
Proof.
rewrite -svr_wE /svr_quadratic /svr_w ip_suml; apply: eq_bigr => i _; rewrite ip_sumr; apply: eq_bigr => j _.
by rewrite ip_scalel ip_scaler mulrA.
Qed.
Lemma svr_dual_valueE al : svr_l1_dual_obj ip x y eps (above al, below al) = dual_value ip a r al.
Proof.
rewrite /svr_l1_dual_obj svr_quadraticE /dual_value big_sumType /=; congr (_ - _).
by rewrite mulr_sumr -sumrB -big_split /=; apply: eq_bigr => i _; rewrite /above /below; ring.
Qed.
Lemma svr_balancedE al : \sum_i (above al i - below al i) = 0 <-> balanced g al.
Proof.
have E : \sum_k g k * al k = - \sum_i (above al i - below al i).
  by rewrite big_sumType /= -sumrN -big_split /=; apply: eq_bigr => i _; rewrite /above /below; ring.
rewrite /balanced E; split=> [->|/eqP]; first by rewrite oppr0.
by rewrite oppr_eq0 => /eqP.
Qed.
Lemma aboveE w b xi i : eps + above xi i - y i + ip w (x i) + b = slack ip a g r w b xi (inl i).
Proof. by rewrite /slack /above /=; ring. Qed.
Lemma belowE w b xi i : eps + below xi i + y i - ip w (x i) - b = slack ip a g r w b xi (inr i).
Proof. by rewrite /slack /below /= ipNr; ring. Qed.
Lemma aboveP w b xi i : (y i - ip w (x i) - b <= eps + above xi i) = (r (inl i) - xi (inl i) <= ip w (a (inl i)) - g (inl i) * b).
Proof. by rewrite -subr_ge0 -[RHS]subr_ge0; congr (0 <= _); rewrite /above /=; ring. Qed.
Lemma belowP w b xi i : (ip w (x i) + b - y i <= eps + below xi i) = (r (inr i) - xi (inr i) <= ip w (a (inr i)) - g (inr i) * b).
Proof. by rewrite -subr_ge0 -[RHS]subr_ge0; congr (0 <= _); rewrite /below /= ipNr; ring. Qed.
Lemma softP w b xi : svr_l1_primal_feas ip x y eps (w, b, above xi, below xi) <-> hinge_primal_feas ip a g r (w, b, xi).
Proof.
split=> [h [i|i]|h i].
- by have [h1 _ h2 _] := h i; rewrite /= -aboveP.
- by have [_ h1 _ h2] := h i; rewrite /= -belowP.
- by have [h1 h2] := h (inl i); have [h3 h4] := h (inr i); rewrite aboveP belowP.
Qed.
Lemma hardP w b : svr_hard_primal_feas ip x y eps (w, b) <-> hard_primal_feas ip a g r (w, b).
Proof.
have A i := aboveP w b (fun=> 0) i; have B i := belowP w b (fun=> 0) i.
split=> [h [i|i]|h i].
- by have [h1 _] := h i; have := A i; rewrite /above addr0 h1 subr0 => /esym.
- by have [_ h1] := h i; have := B i; rewrite /below addr0 h1 subr0 => /esym.
- by have := A i; have := B i; rewrite /above /below !addr0 !subr0 => -> ->; split; [exact: (h (inl i))|exact: (h (inr i))].
Qed.
Lemma nonnegP al : svr_hard_dual_feas (above al, below al) <-> hard_dual_feas g al.
Proof.
split=> [[/svr_balancedE b h]|[/svr_balancedE b h]]; split=> //.
  by case=> i; have [] := h i.
by move=> i; split; exact: h.
Qed.
Lemma boxP al : svr_l1_dual_feas C (above al, below al) <-> hinge_dual_feas g (fun=> C) al.
Proof.
split=> [[/svr_balancedE b h]|[/svr_balancedE b h]]; split=> //.
  by case=> i; have [] := h i.
by move=> i; split; exact: h.
Qed.

Let rows (p : V * R * (I -> R) * (I -> R)) : V * R * (I + I -> R) := let: (w, b, xi, xh) := p in (w, b, both xi xh).
Let multipliers (p : (I -> R) * (I -> R)) : I + I -> R := both p.1 p.2.

Theorem svr_hard_duality : (exists t, svr_hard_primal_feas ip x y eps t) ->
  strong_duality (svr_hard_primal_feas ip x y eps) (@svr_hard_primal_obj R V ip) (@svr_hard_dual_feas R I)
    (svr_hard_dual_obj ip x y eps) (svr_hard_kkt ip x y eps).
Proof.
have KE w b al : svr_hard_kkt ip x y eps (w, b) (above al, below al) <-> hard_kkt ip a g r (w, b) al.
  have A i := aboveE w b (fun=> 0) i; have B i := belowE w b (fun=> 0) i.
  rewrite /svr_hard_kkt /hard_kkt svr_wE; split; case=> h1 h2 h3 h4; split=> //; try exact/hardP; try exact/nonnegP.
  + case=> i; have [] := h4 i; [have := A i|have := B i]; rewrite /above /below addr0 => ->; rewrite /slack addr0 //.
  + move=> i; have := A i; have := B i; rewrite /above /below !addr0 => -> ->; rewrite /slack !addr0.
    by split; [exact: (h4 (inl i))|exact: (h4 (inr i))].
case=> -[w0 b0] /hardP F; apply: (strong_duality_transfer (hard_pair ip a g r) (f := id) (h := multipliers)) _ _ _ (hard_duality _) => //.
- by case=> w b /hardP.
- by case.
- by case=> al ah h; apply/nonnegP.
- by case=> al ah; rewrite -svr_dual_valueE.
- by move=> [w b] [al ah]; have E := KE w b (both al ah); split=> [K|[_ _ /E]//]; case: (K) => h1 h2 _ _; split=> //; exact/E.
- by case=> w b al /KE K; exists (w, b), (above al, below al).
- by exists (w0, b0).
Qed.

Theorem svr_l1_duality : 0 <= C ->
  strong_duality (svr_l1_primal_feas ip x y eps) (@svr_l1_primal_obj R V ip I C) (@svr_l1_dual_feas R I C)
    (svr_l1_dual_obj ip x y eps) (svr_l1_kkt ip x y C eps).
Proof.
have KE w b xi al : svr_l1_kkt ip x y C eps (w, b, above xi, below xi) (above al, below al)
    <-> hinge_kkt ip a g r (fun=> C) (w, b, xi) al.
  rewrite /svr_l1_kkt /hinge_kkt svr_wE; split; case=> h1 h2 h3 h4 h5; split=> //; try exact/softP; try exact/boxP.
  + by case=> i; have [] := h4 i; rewrite aboveE belowE.
  + by case=> i; have [] := h5 i.
  + by move=> i; rewrite aboveE belowE; split; [exact: (h4 (inl i))|exact: (h4 (inr i))].
  + by move=> i; split; [exact: (h5 (inl i))|exact: (h5 (inr i))].
move=> C0; apply: (strong_duality_transfer (hinge_pair ip a g r (fun=> C)) (f := rows) (h := multipliers)) _ _ _
  (hinge_duality _ _ _ _ _) => //.
- by case=> -[[w b] xi] xh h; apply/softP.
- by case=> -[[w b] xi] xh; rewrite /hinge_primal_obj /= -mulr_sumr big_sumType /= big_split.
- by case=> al ah h; apply/boxP.
- by case=> al ah; rewrite -svr_dual_valueE.
- move=> [[[w b] xi] xh] [al ah]; have E := KE w b (both xi xh) (both al ah).
  by split=> [K|[_ _ /E]//]; case: (K) => h1 h2 _ _ _; split=> //; exact/E.
- by case=> -[w b] xi al /KE K; exists (w, b, above xi, below xi), (above al, below al).
Qed.

Theorem svr_l2_duality : 0 < C ->
  strong_duality (svr_l2_primal_feas ip x y eps) (@svr_l2_primal_obj R V ip I C) (@svr_l2_dual_feas R I)
    (svr_l2_dual_obj ip x y C eps) (svr_l2_kkt ip x y C eps).
Proof.
have KE w b xi al : svr_l2_kkt ip x y C eps (w, b, above xi, below xi) (above al, below al)
    <-> squared_kkt ip a g r C (w, b, xi) al.
  rewrite /svr_l2_kkt /squared_kkt svr_wE; split; case=> h1 h2 h3 h4 h5; split=> //; try exact/softP; try exact/nonnegP.
  + by case=> i; have [] := h4 i; rewrite aboveE belowE.
  + by case=> i; have [] := h5 i.
  + by move=> i; rewrite aboveE belowE; split; [exact: (h4 (inl i))|exact: (h4 (inr i))].
  + by move=> i; split; [exact: (h5 (inl i))|exact: (h5 (inr i))].
move=> C0; apply: (strong_duality_transfer (squared_pair ip a g r C0) (f := rows) (h := multipliers)) _ _ _
  (squared_duality _ _ _ _ C0) => //.
- by case=> -[[w b] xi] xh h; apply/softP.
- by case=> -[[w b] xi] xh; rewrite /squared_primal_obj /= big_sumType /= big_split.
- by case=> al ah h; apply/nonnegP.
- by case=> al ah; rewrite /squared_dual_obj -svr_dual_valueE big_sumType /= -big_split.
- move=> [[[w b] xi] xh] [al ah]; have E := KE w b (both xi xh) (both al ah).
  by split=> [K|[_ _ /E]//]; case: (K) => h1 h2 _ _ _; split=> //; exact/E.
- by case=> -[w b] xi al /KE K; exists (w, b, above xi, below xi), (above al, below al).
Qed.

Theorem svr_l1_one_sided w b xi xh al ah i : 0 < eps -> svr_l1_kkt ip x y C eps (w, b, xi, xh) (al, ah) -> al i * ah i = 0.
Proof.
move=> e0 [P _ _ /(_ i)[/eqP h1 /eqP h2] _]; have [p1 p2 _ _] := P i.
apply/eqP; rewrite mulf_eq0; move: h1 h2; rewrite !mulf_eq0.
case/orP=> [-> //|/eqP s1] /orP[->|/eqP s2]; first by rewrite orbT.
have : 0 < (eps + xi i - y i + ip w (x i) + b) + (eps + xh i + y i - ip w (x i) - b).
  have -> : (eps + xi i - y i + ip w (x i) + b) + (eps + xh i + y i - ip w (x i) - b) = (eps + eps) + (xi i + xh i).
    by ring.
  by rewrite ltr_paddr ?addr_ge0 ?addr_gt0.
by rewrite s1 s2 addr0 ltxx.
Qed.
End Duality.
