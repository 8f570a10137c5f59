(** * The sum of margins has optimal pairs

    [ord_sum_duality]   for any rows and orders: if the dual has a feasible point, the sum with 1/2 |w|^2 and its dual have the same optimum, both attain it,
                        and the optimal pairs are exactly the KKT points *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From equimargin Require Import inner optimum qp sum_of_margins.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Attained.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (P T Q : finType).
Variables (x : P -> V) (t : P -> T) (upper : P -> bool) (lo hi : Q -> T) (C : R).
Let U := (P + (T + Q))%type.
Let X := [lmodType R of {ffun U -> R^o}].
Implicit Types u v : X.
Let al u : P -> R := fun p => u (inl p).
Let tau u : T -> R := fun k => u (inr (inl k)).
Let eta u : Q -> R := fun q => u (inr (inr q)).
Let sgn := @ord_sum_sign R P upper.
Let W u : V := ord_sum_w x upper (al u).

Lemma W_linear k u v : W (k *: u + v) = k *: W u + W v.
Proof.
rewrite /W /ord_sum_w scaler_sumr -big_split /=; apply: eq_bigr => p _.
have -> : al (k *: u + v) p = k * al u p + al v p by rewrite /al !ffunE.
by rewrite mulrDl scalerDl scalerA mulrA.
Qed.
Lemma W_add u v : W (u + v) = W u + W v. Proof. by rewrite -[u]scale1r W_linear !scale1r. Qed.
Lemma W_zero : W 0 = 0. Proof. by rewrite /W /ord_sum_w big1 // => p _; rewrite /al ffunE mul0r scale0r. Qed.
Lemma W_scale k u : W (k *: u) = k *: W u. Proof. by rewrite -[k *: u]addr0 W_linear W_zero addr0. Qed.
Fact W_sym u v : ip (W u) (W v) = ip (W v) (W u). Proof. exact: ip_sym. Qed.
Fact W_addl u v z : ip (W (u + v)) (W z) = ip (W u) (W z) + ip (W v) (W z). Proof. by rewrite W_add ip_addl. Qed.
Fact W_scalel k u v : ip (W (k *: u)) (W v) = k * ip (W u) (W v). Proof. by rewrite W_scale ip_scalel. Qed.
Fact W_ge0 u : 0 <= ip (W u) (W u). Proof. exact: ip_ge0. Qed.
Definition curvature := @SemiInner R X _ W_sym W_addl W_scalel W_ge0.

(** Constraints of the dual: multipliers >= 0, upper bounds, and two equations for every interval, each as two inequalities. *)
Let K := (U + P + (bool * T + bool * T))%type.
Definition lower_sum u k := \sum_(p | (t p == k) && ~~ upper p) al u p - tau u k + \sum_(q | hi q == k) eta u q.
Definition upper_sum u k := \sum_(p | (t p == k) && upper p) al u p - tau u k + \sum_(q | lo q == k) eta u q.
Definition way (s : bool) : R := if s then 1 else -1.
Let A (k : K) u : R := match k with inl (inl i) => - u i | inl (inr p) => al u p
  | inr (inl (s, k)) => way s * lower_sum u k | inr (inr (s, k)) => way s * upper_sum u k end.
Let ends (k : K) : R := match k with inl (inl i) => 0 | inl (inr p) => C | inr (inl (s, _)) => way s | inr (inr (s, _)) => way s end.

Lemma sum_functional (J : finType) (B : pred J) (g : J -> U) : functional (fun u : X => \sum_(j | B j) u (g j)).
Proof. by move=> k u v; rewrite mulr_sumr -big_split /=; apply: eq_bigr => j _; rewrite !ffunE. Qed.
Lemma A_functional k : functional (A k).
Proof.
case: k => [[i|p]|[[s k]|[s k]]] c u v; rewrite /A.
- by rewrite !ffunE opprD mulrN.
- by rewrite /al !ffunE.
- rewrite /lower_sum /al /tau /eta (sum_functional _ _ c u v) (sum_functional _ _ c u v) !ffunE /GRing.scale /=.
  by move: (\sum_(_ | _) _) (\sum_(_ | _) _) (\sum_(_ | _) _) (\sum_(_ | _) _) => a1 a2 a3 a4; ring.
- rewrite /upper_sum /al /tau /eta (sum_functional _ _ c u v) (sum_functional _ _ c u v) !ffunE /GRing.scale /=.
  by move: (\sum_(_ | _) _) (\sum_(_ | _) _) (\sum_(_ | _) _) (\sum_(_ | _) _) => a1 a2 a3 a4; ring.
Qed.
Lemma pinned (s1 : R) : (forall s, way s * s1 <= way s) -> s1 = 1.
Proof. by move=> h; have := h true; have := h false; rewrite /way !mulN1r !mul1r ler_opp2 => h1 h2; apply/eqP; rewrite eq_le h1 h2. Qed.
Lemma sum_at (J : finType) (B : pred J) (j : J) : \sum_(i | B i) (i == j)%:R = (B j)%:R :> R.
Proof.
rewrite big_mkcond (bigD1 j) //= eqxx big1 ?addr0 => [|i /negPf n]; first by case: (B j).
by rewrite n if_same.
Qed.

Theorem ord_sum_duality : (exists m, ord_sum_dual_feas t upper lo hi C m) ->
  strong_duality (ord_sum_feas ip x t upper lo hi) (ord_sum_obj ip C) (ord_sum_dual_feas t upper lo hi C)
    (ord_sum_dual_obj ip x upper) (ord_sum_kkt ip x t upper lo hi C).
Proof.
case=> -[[al0 tau0] eta0] D0; apply: (pair_strong_duality (ord_sum_pair ip x t upper lo hi C)).
have F0 : functional (fun _ : X => 0 : R) by move=> k u v; rewrite mulr0 addr0.
have [] := @qp_alternative R [finType of U] [finType of K] _ (index_enum_uniq _) curvature (fun=> 0) A ends F0 A_functional.
- case=> u [mu [F mu0 cs st]].
  have all k : k \in index_enum [finType of K] by exact: mem_index_enum.
  pose low k := mu (inr (inl (true, k))) - mu (inr (inl (false, k))).
  pose upp k := mu (inr (inr (true, k))) - mu (inr (inr (false, k))).
  pose m i := mu (inl (inl i)); pose xi p := mu (inl (inr p)); pose w := W u.
  have form v : 0 = \sum_p al v p * (sgn p * ip w (x p) - m (inl p) + xi p + (if upper p then upp (t p) else low (t p)))
      - \sum_k tau v k * (m (inr (inl k)) + low k + upp k) + \sum_q eta v q * (low (hi q) + upp (lo q) - m (inr (inr q))).
    rewrite {1}(st v) !big_sumType /=.
    have two (h : bool * T -> R) : \sum_k h k = \sum_k (h (true, k) + h (false, k)).
      by rewrite (eq_bigr (fun k => h (k.1, k.2))) => [|[] //]; rewrite -(pair_bigA _ (fun s k => h (s, k))) /= big_bool -big_split.
    have -> : \sum_i mu (inr (inl i)) * A (inr (inl i)) v = \sum_k low k * lower_sum v k.
      by rewrite two; apply: eq_bigr => k _; rewrite /low /way /=; ring.
    have -> : \sum_i mu (inr (inr i)) * A (inr (inr i)) v = \sum_k upp k * upper_sum v k.
      by rewrite two; apply: eq_bigr => k _; rewrite /upp /way /=; ring.
    have lows : \sum_k low k * lower_sum v k = \sum_(p | ~~ upper p) al v p * low (t p) - \sum_k tau v k * low k + \sum_q eta v q * low (hi q).
      by rewrite (sum_by_thresholds t (al v) (fun p => ~~ upper p) low) (sum_by_orders (eta v) hi low) -sumrB -big_split /=; apply: eq_bigr => k _; rewrite /lower_sum /=; move: (\sum_(p | (t p == k) && ~~ upper p) al v p) (\sum_(q | hi q == k) eta v q) (tau v k) (low k) => s1 s2 s3 s4; ring.
    have upps : \sum_k upp k * upper_sum v k = \sum_(p | upper p) al v p * upp (t p) - \sum_k tau v k * upp k + \sum_q eta v q * upp (lo q).
      by rewrite (sum_by_thresholds t (al v) (fun p => upper p) upp) (sum_by_orders (eta v) lo upp) -sumrB -big_split /=; apply: eq_bigr => k _; rewrite /upper_sum /=; move: (\sum_(p | (t p == k) && upper p) al v p) (\sum_(q | lo q == k) eta v q) (tau v k) (upp k) => s1 s2 s3 s4; ring.
    rewrite lows upps.
    have -> : ip (W u) (W v) = \sum_p al v p * (sgn p * ip w (x p)) by rewrite [in LHS]/W /ord_sum_w ip_sumr; apply: eq_bigr => p _; rewrite ip_scaler mulrA.
    have -> : \sum_p al v p * (sgn p * ip w (x p) - m (inl p) + xi p + (if upper p then upp (t p) else low (t p))) =
        \sum_p al v p * (sgn p * ip w (x p)) - \sum_p al v p * m (inl p) + \sum_p al v p * xi p
        + (\sum_(p | upper p) al v p * upp (t p) + \sum_(p | ~~ upper p) al v p * low (t p)).
      rewrite [X in _ + (X + _)]big_mkcond [X in _ + (_ + X)]big_mkcond -!big_split -sumrB -!big_split /=; apply: eq_bigr => p _.
      by move: (sgn p) (ip w (x p)) (m (inl p)) (xi p) (al v p) (upp (t p)) (low (t p)) => c1 c2 c3 c4 c5 c6 c7; case: (upper p) => /=; ring.
    have -> : \sum_k tau v k * (m (inr (inl k)) + low k + upp k) = \sum_k tau v k * m (inr (inl k)) + \sum_k tau v k * low k + \sum_k tau v k * upp k.
      by rewrite -!big_split /=; apply: eq_bigr => k _; rewrite !mulrDr.
    have -> : \sum_q eta v q * (low (hi q) + upp (lo q) - m (inr (inr q))) = \sum_q eta v q * low (hi q) + \sum_q eta v q * upp (lo q) - \sum_q eta v q * m (inr (inr q)).
      by rewrite -big_split -sumrB /=; apply: eq_bigr => q _; rewrite mulrBr mulrDr.
    have -> : \sum_i mu (inl (inl (inl i))) * - v (inl i) = - \sum_p al v p * m (inl p).
      by rewrite -sumrN; apply: eq_bigr => p _; rewrite mulrN mulrC.
    have -> : \sum_i mu (inl (inl (inr (inl i)))) * - v (inr (inl i)) = - \sum_k tau v k * m (inr (inl k)).
      by rewrite -sumrN; apply: eq_bigr => k _; rewrite mulrN mulrC.
    have -> : \sum_i mu (inl (inl (inr (inr i)))) * - v (inr (inr i)) = - \sum_q eta v q * m (inr (inr q)).
      by rewrite -sumrN; apply: eq_bigr => q _; rewrite mulrN mulrC.
    have -> : \sum_i mu (inl (inr i)) * al v i = \sum_p al v p * xi p by apply: eq_bigr => p _; rewrite mulrC.
    by ring.
  have at_delta i : 0 = (if i is inl p then sgn p * ip w (x p) - m (inl p) + xi p + (if upper p then upp (t p) else low (t p)) else 0)
      - (if i is inr (inl k) then m (inr (inl k)) + low k + upp k else 0)
      + (if i is inr (inr q) then low (hi q) + upp (lo q) - m (inr (inr q)) else 0).
    rewrite {1}(form (delta R i)); congr (_ - _ + _).
    - case: i => [p|i]; last by apply: big1 => p' _; rewrite /al ffunE mul0r.
      rewrite (bigD1 p) //= {1}/al ffunE eqxx mul1r big1 ?addr0 // => p' n; rewrite /al ffunE.
      by have -> : (inl p' == inl p :> U) = (p' == p) by []; rewrite (negPf n) mul0r.
    - case: i => [p|[k|q]]; [by apply: big1 => k' _; rewrite /tau ffunE mul0r| |by apply: big1 => k' _; rewrite /tau ffunE mul0r].
      rewrite (bigD1 k) //= {1}/tau ffunE eqxx mul1r big1 ?addr0 // => k' n; rewrite /tau ffunE.
      by have -> : (inr (inl k') == inr (inl k) :> U) = (k' == k) by []; rewrite (negPf n) mul0r.
    - case: i => [p|[k|q]]; [by apply: big1 => q' _; rewrite /eta ffunE mul0r|by apply: big1 => q' _; rewrite /eta ffunE mul0r|].
      rewrite (bigD1 q) //= {1}/eta ffunE eqxx mul1r big1 ?addr0 // => q' n; rewrite /eta ffunE.
      by have -> : (inr (inr q') == inr (inr q) :> U) = (q' == q) by []; rewrite (negPf n) mul0r.
  have eT k : - upp k - low k = m (inr (inl k)).
    apply/eqP; rewrite -subr_eq0; apply/eqP; rewrite [RHS](at_delta (inr (inl k))) /= sub0r addr0.
    by move: (m _) (low k) (upp k) => c1 c2 c3; ring.
  have eQ q : low (hi q) - (- upp (lo q)) = m (inr (inr q)).
    apply/eqP; rewrite -subr_eq0; apply/eqP; rewrite [RHS](at_delta (inr (inr q))) /= subr0 add0r.
    by move: (m _) (low _) (upp _) => c1 c2 c3; ring.
  have eP p : ord_sum_row ip x t upper (w, low, (fun k => - upp k), xi) p = m (inl p).
    have /esym/eqP := at_delta (inl p); rewrite /= subr0 addr0 /ord_sum_row /ord_sum_end /sgn /ord_sum_sign.
    case: (upper p); move: (ip w (x p)) (m (inl p)) (xi p) (upp (t p)) (low (t p)) => c1 c2 c3 c4 c5.
      have -> : 1 * c1 - c2 + c3 + c4 = 1 * (c1 - - c4) + c3 - c2 by ring.
      by rewrite subr_eq0 => /eqP.
    have -> : -1 * c1 - c2 + c3 + c5 = -1 * (c1 - c5) + c3 - c2 by ring.
    by rewrite subr_eq0 => /eqP.
  have m0 i : 0 <= m i by exact: mu0.
  have u0 i : 0 <= u i by have := F (inl (inl i)) (all _); rewrite /= oppr_le0.
  have um i : u i * m i = 0 by rewrite mulrC; have := cs (inl (inl i)) (all _); rewrite /= sub0r opprK.
  have uC p : u (inl p) <= C by exact: (F (inl (inr p)) (all _)).
  have sl k : lower_sum u k = 1 by apply: pinned => s; exact: (F (inr (inl (s, k))) (all _)).
  have su k : upper_sum u k = 1 by apply: pinned => s; exact: (F (inr (inr (s, k))) (all _)).
  exists (w, low, (fun k => - upp k), xi), (al u, tau u, eta u); split.
  - split=> [p|p|k|q]; first by rewrite eP.
    + exact: mu0.
    + by rewrite -subr_ge0 eT.
    + by rewrite -subr_ge0 eQ.
  - split=> [p|k|q|k|k]; rewrite /al /tau /eta ?u0 ?uC //.
      by rewrite -(sl k) /lower_sum /al /tau /eta; move: (\sum_(_ | _) _) (\sum_(_ | _) _) => s1 s2; ring.
    by rewrite -(su k) /upper_sum /al /tau /eta; move: (\sum_(_ | _) _) (\sum_(_ | _) _) => s1 s2; ring.
  - by rewrite /w /W subrr ip0l.
  - split=> p; first by rewrite eP; exact: um.
    by rewrite mulrC; exact: (cs (inl (inr p)) (all _)).
  - by split=> [k|q]; [apply: etrans (um (inr (inl k))); rewrite -eT|apply: etrans (um (inr (inr q))); rewrite -eQ].
- case=> mu [mu0 z neg]; exfalso; pose u : X := [ffun i => match i with inl p => al0 p | inr (inl k) => tau0 k | inr (inr q) => eta0 q end].
  have [a1 a2 a3 a4 a5] := D0; move: neg; rewrite ltNge; apply/negP/negPn.
  have : \sum_k mu k * A k u <= \sum_k mu k * ends k.
    apply: ler_sum => k _; rewrite ler_wpmul2l //; case: k => [[[p|[k|q]]|p]|[[s k]|[s k]]]; rewrite /A /ends.
    + by rewrite ffunE oppr_le0; have /andP[] := a1 p.
    + by rewrite ffunE oppr_le0.
    + by rewrite ffunE oppr_le0.
    + by rewrite /al ffunE; have /andP[] := a1 p.
    + have -> : lower_sum u k = 1; last by rewrite mulr1.
      rewrite /lower_sum /tau ffunE (eq_bigr al0) => [|p _]; last by rewrite /al ffunE.
      rewrite [X in _ + X](eq_bigr eta0) => [|q _]; last by rewrite /eta ffunE.
      by rewrite a4; move: (\sum_(_ | _) _) => e; ring.
    + have -> : upper_sum u k = 1; last by rewrite mulr1.
      rewrite /upper_sum /tau ffunE (eq_bigr al0) => [|p _]; last by rewrite /al ffunE.
      rewrite [X in _ + X](eq_bigr eta0) => [|q _]; last by rewrite /eta ffunE.
      by rewrite a5; move: (\sum_(_ | _) _) => e; ring.
  by rewrite z.
- by case=> d [_ _]; rewrite ltxx.
Qed.
End Attained.
