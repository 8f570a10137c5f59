(** * The generic margin problem and its dual

    Rows a_i in a semi-inner-product space, signs g_i of the bias, targets r_i; f(w, b)_i = <w, a_i> - g_i b.

    hinge      min 1/2 |w|^2 + sum c_i xi_i     s.t.  f_i >= r_i - xi_i, xi_i >= 0     max D(al)                     s.t. g'al = 0, 0 <= al_i <= c_i
    hard       min 1/2 |w|^2                    s.t.  f_i >= r_i                       max D(al)                     s.t. g'al = 0, 0 <= al_i
    squared    min 1/2 |w|^2 + C sum xi_i^2     s.t.  f_i >= r_i - xi_i, xi_i >= 0     max D(al) - |al|^2 / (4C)     s.t. g'al = 0, 0 <= al_i

    with D(al) = r'al - 1/2 |sum al_i a_i|^2. For each pair, the gap is a sum of nonnegative terms; hence weak duality holds, and the gap is 0
    exactly if KKT holds ([hinge_pair], [hard_pair], [squared_pair]). By the alternative of [qp], strong duality holds and both optima are attained
    ([hinge_duality], [hard_duality], [squared_duality]); the hard form needs a feasible point. [w_unique]: w is unique up to vectors
    of length zero. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From equimargin Require Import inner optimum qp.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Margin.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (I : finType) (a : I -> V) (g r : I -> R).
Implicit Types (w : V) (b : R) (xi al c : I -> R).

Definition span al : V := \sum_i al i *: a i.
Definition slack w b xi i := ip w (a i) - g i * b - r i + xi i.
Definition dual_value al := \sum_i r i * al i - 2%:R^-1 * ip (span al) (span al).
Definition balanced al := \sum_i g i * al i = 0.

Lemma ip_span w al : ip w (span al) = \sum_i al i * ip w (a i).
Proof. by rewrite ip_sumr; apply: eq_bigr => i _; rewrite ip_scaler. Qed.
Lemma half_ge0 : 0 <= 2%:R^-1 :> R. Proof. by rewrite invr_ge0 ler0n. Qed.
Lemma half_neq0 : 2%:R^-1 != 0 :> R. Proof. by rewrite invr_eq0 pnatr_eq0. Qed.

(** 1/2 |w|^2 - D(al), for any w, b, xi and any balanced al: no sign is assumed. *)
Lemma gap_identity w b xi al : balanced al ->
  2%:R^-1 * ip w w - dual_value al =
    2%:R^-1 * ip (w - span al) (w - span al) + \sum_i al i * slack w b xi i - \sum_i al i * xi i.
Proof.
move=> g0; rewrite /dual_value.
have -> : \sum_i al i * slack w b xi i = ip w (span al) - \sum_i r i * al i + \sum_i al i * xi i.
  have bg : \sum_i b * (g i * al i) = 0 by rewrite -mulr_sumr g0 mulr0.
  rewrite ip_span -[LHS]addr0 -[X in _ + X = _]bg -sumrB -!big_split /=.
  by apply: eq_bigr => i _; rewrite /slack; ring.
by rewrite ipBl !ipBr (ip_sym _ (span al) w); move: (\sum_i _) (\sum_i _) => p q; field.
Qed.

(** ** The alternative, from the dual as a quadratic program in al with upper bounds (caps) c_i; hard rows have none *)
Section Alternative.
Variable c : I -> option R.
Let W (al : {ffun I -> R^o}) := span al.
Lemma W_linear k (u v : [lmodType R of {ffun I -> R^o}]) : W (k *: u + v) = k *: W u + W v.
Proof.
rewrite /W /span scaler_sumr -big_split /=; apply: eq_bigr => i _.
by rewrite !ffunE scalerDl scalerA.
Qed.
Lemma WD u v : W (u + v) = W u + W v. Proof. by rewrite -[u]scale1r W_linear !scale1r. Qed.
Lemma W0 : W 0 = 0. Proof. by rewrite /W /span big1 // => i _; rewrite ffunE scale0r. Qed.
Lemma WZ k (u : [lmodType R of {ffun I -> R^o}]) : W (k *: u) = k *: W u.
Proof. by rewrite -[k *: u]addr0 W_linear W0 addr0. Qed.
Fact W_sym u v : ip (W u) (W v) = ip (W v) (W u). Proof. exact: ip_sym. Qed.
Fact W_addl u v z : ip (W (u + v)) (W z) = ip (W u) (W z) + ip (W v) (W z). Proof. by rewrite WD ip_addl. Qed.
Fact W_scalel k (u v : [lmodType R of {ffun I -> R^o}]) : ip (W (k *: u)) (W v) = k * ip (W u) (W v).
Proof. by rewrite WZ ip_scalel. Qed.
Fact W_ge0 u : 0 <= ip (W u) (W u). Proof. exact: ip_ge0. Qed.
Definition hessian := @SemiInner R [lmodType R of {ffun I -> R^o}] _ W_sym W_addl W_scalel W_ge0.

Definition row : Type := bool + I + I.
Let A (k : bool + I + I) (v : [lmodType R of {ffun I -> R^o}]) : R := match k with
  | inl (inl s) => (if s then 1 else -1) * (\sum_i g i * v i)
  | inl (inr i) => - v i
  | inr i => if c i then v i else 0 end.
Let cap (k : bool + I + I) : R := match k with inl _ => 0 | inr i => odflt 0 (c i) end.
Let cost (v : [lmodType R of {ffun I -> R^o}]) : R := \sum_i r i * v i.

Lemma weighted_functional (f : I -> R) : functional (fun v : [lmodType R of {ffun I -> R^o}] => \sum_i f i * v i).
Proof. by move=> k u v; rewrite mulr_sumr -big_split /=; apply: eq_bigr => i _; rewrite !ffunE mulrDr mulrCA. Qed.
Lemma A_functional k : functional (A k).
Proof.
case: k => [[s|i]|i] k u v; rewrite /A ?weighted_functional.
- by rewrite mulrDr mulrCA.
- by rewrite !ffunE opprD mulrN.
- by case: (c i); rewrite ?mulr0 ?addr0 // !ffunE.
Qed.
Lemma weighted_delta (f : I -> R) j : \sum_i f i * (delta R j) i = f j.
Proof.
rewrite (bigD1 j) //= ffunE eqxx mulr1 big1 ?addr0 // => i /negPf ne.
by rewrite ffunE ne mulr0.
Qed.

Definition kkt_rows al b xi := [/\ balanced al,
  forall i, [/\ 0 <= al i, 0 <= xi i & 0 <= slack (span al) b xi i],
  forall i, al i * slack (span al) b xi i = 0
  & forall i, if c i is Some k then al i <= k /\ (k - al i) * xi i = 0 else xi i = 0].
Definition unbounded_ray (d : I -> R) := [/\ balanced d, forall i, 0 <= d i, forall i, c i -> d i = 0,
  ip (span d) (span d) = 0 & 0 < \sum_i r i * d i].

Theorem margin_alternative : (forall i k, c i = Some k -> 0 <= k) ->
  (exists al b xi, kkt_rows al b xi) \/ exists d, unbounded_ray d.
Proof.
move=> c0; have [] := qp_alternative (index_enum_uniq _) hessian cap (weighted_functional r) A_functional.
- case=> x [lam [P l0 cs st]]; left.
  pose xi i := if c i then lam (inr i) else 0; exists x, (lam (inl (inl false)) - lam (inl (inl true))), xi.
  have key i : slack (span x) (lam (inl (inl false)) - lam (inl (inl true))) xi i = lam (inl (inr i)).
    have := st (delta R i); rewrite !weighted_delta !big_sumType big_bool /= /A !weighted_delta /= /slack /xi.
    have -> : \sum_j lam (inl (inr j)) * - (delta R i) j = - lam (inl (inr i)).
      by rewrite -(weighted_delta (fun j => lam (inl (inr j))) i) -sumrN; apply: eq_bigr => j _; rewrite mulrN.
    have -> : \sum_j lam (inr j) * (if c j then (delta R i) j else 0) = if c i then lam (inr i) else 0.
      rewrite -(weighted_delta (fun j => if c j then lam (inr j) else 0) i); apply: eq_bigr => j _.
      by case: (c j); rewrite ?mulr0 ?mul0r.
    have -> : ip (W x) (W (delta R i)) = ip (span x) (a i).
      congr (ip _ _); rewrite /W /span (bigD1 i) //= ffunE eqxx scale1r big1 ?addr0 // => j /negPf ne.
      by rewrite ffunE ne scale0r.
    move=> ->; move: (ip _ _) (lam (inl (inl true))) (lam (inl (inl false))) (lam (inl (inr i))) (if _ then _ else _) => p q y z o.
    by ring.
  have all k : k \in index_enum [finType of bool + I + I] by exact: mem_index_enum.
  split.
  + have := P (inl (inl true)) (all _); have := P (inl (inl false)) (all _); rewrite /= mul1r mulN1r oppr_le0 => h1 h2.
    by apply/eqP; rewrite eq_le h1 h2.
  + move=> i; rewrite key; split; last exact: l0.
      by have := P (inl (inr i)) (all _); rewrite /= oppr_le0.
    by rewrite /xi; case: (c i) => [k|]; [exact: l0|exact: lexx].
  + by move=> i; rewrite key mulrC; have := cs (inl (inr i)) (all _); rewrite /= opprK add0r.
  + move=> i; have := P (inr i) (all _); have := cs (inr i) (all _); rewrite /= /xi.
    by case: (c i) => //= k; rewrite mulrC.
- case=> lam [l0 _ neg]; move: neg; rewrite ltNge sumr_ge0 // => k _; rewrite mulr_ge0 //.
  by case: k => //= i; case e: (c i) => [k|] //=; exact: c0 e.
- case=> d [P n pos]; right; exists d.
  have all k : k \in index_enum [finType of bool + I + I] by exact: mem_index_enum.
  have d0 i : 0 <= d i by have := P (inl (inr i)) (all _); rewrite /= oppr_le0.
  split=> //.
  + have := P (inl (inl true)) (all _); have := P (inl (inl false)) (all _); rewrite /= mul1r mulN1r oppr_le0 => h1 h2.
    by apply/eqP; rewrite eq_le h1 h2.
  + by move=> i; have := P (inr i) (all _); rewrite /=; case: (c i) => // k h _; apply/eqP; rewrite eq_le h d0.
Qed.

(** A ray is a proof that no (w, b, xi) with xi_i = 0 at the rows without a cap is feasible. *)
Lemma ray_infeasible d w b xi : unbounded_ray d -> ~ forall i, 0 <= slack w b xi i /\ (c i = None -> xi i = 0).
Proof.
case=> d1 d2 d3 d4 d5 F; have := d5; rewrite ltNge => /negP; apply.
have -> : \sum_i r i * d i = \sum_i (d i * xi i - d i * slack w b xi i).
  have -> : \sum_i (d i * xi i - d i * slack w b xi i) = b * (\sum_i g i * d i) - ip w (span d) + \sum_i r i * d i.
    rewrite ip_span mulr_sumr -sumrB -big_split /=; apply: eq_bigr => i _; rewrite /slack; ring.
  by rewrite d1 mulr0 ip_sym (ip_null _ d4) subr0 add0r.
rewrite -oppr_ge0 -sumrN sumr_ge0 // => i _; have [s z] := F i.
have -> : d i * xi i = 0 by case e: (c i) => [k|]; [rewrite d3 ?e ?mul0r|rewrite z ?mulr0].
by rewrite sub0r opprK mulr_ge0.
Qed.
End Alternative.

(** ** Hinge *)
Section Hinge.
Variable c : I -> R.
Definition hinge_primal_feas (t : V * R * (I -> R)) :=
  forall i, 0 <= t.2 i /\ r i - t.2 i <= ip t.1.1 (a i) - g i * t.1.2.
Definition hinge_primal_obj (t : V * R * (I -> R)) := 2%:R^-1 * ip t.1.1 t.1.1 + \sum_i c i * t.2 i.
Definition hinge_dual_feas al := balanced al /\ forall i, 0 <= al i <= c i.
Definition hinge_kkt (t : V * R * (I -> R)) al := [/\ hinge_primal_feas t, hinge_dual_feas al,
  ip (t.1.1 - span al) (t.1.1 - span al) = 0,
  forall i, al i * slack t.1.1 t.1.2 t.2 i = 0 & forall i, (c i - al i) * t.2 i = 0].

Lemma slackE w b xi i : (r i - xi i <= ip w (a i) - g i * b) = (0 <= slack w b xi i).
Proof. by rewrite -subr_ge0; congr (0 <= _); rewrite /slack; ring. Qed.

Theorem hinge_gap w b xi al : balanced al -> hinge_primal_obj (w, b, xi) - dual_value al =
  2%:R^-1 * ip (w - span al) (w - span al) + \sum_i al i * slack w b xi i + \sum_i (c i - al i) * xi i.
Proof.
move=> bal; rewrite /hinge_primal_obj /= addrAC (gap_identity w b xi bal).
have -> : \sum_i (c i - al i) * xi i = \sum_i c i * xi i - \sum_i al i * xi i.
  by rewrite -sumrB; apply: eq_bigr => i _; rewrite mulrBl.
by rewrite -addrA; congr (_ + _); rewrite addrC.
Qed.

Theorem hinge_pair : dual_pair hinge_primal_feas hinge_primal_obj hinge_dual_feas dual_value hinge_kkt.
Proof.
have h1 w al : 0 <= 2%:R^-1 * ip (w - span al) (w - span al) by rewrite mulr_ge0 ?half_ge0 ?ip_ge0.
have h2 t al i : hinge_primal_feas t -> hinge_dual_feas al -> 0 <= al i * slack t.1.1 t.1.2 t.2 i.
  by move=> P [_ D]; have /andP[h _] := D i; have [_] := P i; rewrite slackE => s; rewrite mulr_ge0.
have h3 t al i : hinge_primal_feas t -> hinge_dual_feas al -> 0 <= (c i - al i) * t.2 i.
  by move=> P [_ D]; have /andP[_ h] := D i; have [x0 _] := P i; rewrite mulr_ge0 ?subr_ge0.
split.
- move=> [[w b] xi] al P D; have [bal _] := D; rewrite -subr_ge0 hinge_gap //.
  by rewrite !addr_ge0 ?sumr_ge0 // => i _; [exact: (h2 (w, b, xi))|exact: (h3 (w, b, xi))].
- move=> [[w b] xi] al P D; have [bal _] := D => /eqP; rewrite -subr_eq0 hinge_gap //.
  have s2 i := h2 _ _ i P D; have s3 i := h3 _ _ i P D.
  rewrite paddr_eq0 ?addr_ge0 ?sumr_ge0 // paddr_eq0 ?sumr_ge0 // => /andP[/andP[/eqP e1]].
  rewrite !psumr_eq0 // => /allP e2 /allP e3; split=> //=.
  + by apply/eqP; move/eqP: e1; rewrite mulf_eq0 (negPf half_neq0).
  + by move=> i; apply/eqP; apply: e2 (mem_index_enum i).
  + by move=> i; apply/eqP; apply: e3 (mem_index_enum i).
- by move=> t al [].
- move=> [[w b] xi] al [_ [bal _] /= e1 e2 e3]; apply/eqP; rewrite -subr_eq0 hinge_gap // e1 mulr0 add0r.
  by rewrite !big1 ?addr0.
Qed.

Theorem hinge_duality : (forall i, 0 <= c i) ->
  strong_duality hinge_primal_feas hinge_primal_obj hinge_dual_feas dual_value hinge_kkt.
Proof.
move=> c0; apply: (pair_strong_duality hinge_pair).
have [|[al [b [xi [bal pos cs cap]]]]|[d ray]] := @margin_alternative (fun i => Some (c i)).
- by move=> i k [<-].
- exists (span al, b, xi), al; split=> /=.
  + by move=> i; rewrite slackE; have [] := pos i.
  + by split=> // i; have [-> _ _] := pos i; have [-> _] := cap i.
  + by rewrite subrr ip0l.
  + exact: cs.
  + by move=> i; have [] := cap i.
- case: (ray_infeasible (w := 0) (b := 0) (xi := fun i => Num.max 0 (r i)) ray) => i; split=> //.
  by rewrite /slack ip0l mulr0 subr0 sub0r addrC subr_ge0 le_maxr lexx orbT.
Qed.
Corollary hinge_w_unique t t' : (forall i, 0 <= c i) -> minimizer hinge_primal_feas hinge_primal_obj t ->
  minimizer hinge_primal_feas hinge_primal_obj t' -> ip (t.1.1 - t'.1.1) (t.1.1 - t'.1.1) = 0.
Proof.
move=> /hinge_duality[[v _ [al Oa _]] K] O O'.
have [_ _ e _ _] := (K t al).1 (conj O Oa); have [_ _ e' _ _] := (K t' al).1 (conj O' Oa).
exact: ip_null_triangle e e'.
Qed.
End Hinge.

(** ** Hard margin *)
Definition hard_primal_feas (t : V * R) := forall i, r i <= ip t.1 (a i) - g i * t.2.
Definition hard_primal_obj (t : V * R) := 2%:R^-1 * ip t.1 t.1.
Definition hard_dual_feas al := balanced al /\ forall i, 0 <= al i.
Definition hard_kkt (t : V * R) al := [/\ hard_primal_feas t, hard_dual_feas al,
  ip (t.1 - span al) (t.1 - span al) = 0 & forall i, al i * (ip t.1 (a i) - g i * t.2 - r i) = 0].

Theorem hard_gap w b al : balanced al -> hard_primal_obj (w, b) - dual_value al =
  2%:R^-1 * ip (w - span al) (w - span al) + \sum_i al i * (ip w (a i) - g i * b - r i).
Proof.
move=> bal; rewrite /hard_primal_obj /= (gap_identity w b (fun=> 0) bal) [\sum_i _ * 0]big1 ?subr0; last first.
  by move=> i _; rewrite mulr0.
by congr (_ + _); apply: eq_bigr => i _; rewrite /slack addr0.
Qed.
Theorem hard_pair : dual_pair hard_primal_feas hard_primal_obj hard_dual_feas dual_value hard_kkt.
Proof.
have h1 w al : 0 <= 2%:R^-1 * ip (w - span al) (w - span al) by rewrite mulr_ge0 ?half_ge0 ?ip_ge0.
have h2 t al i : hard_primal_feas t -> hard_dual_feas al -> 0 <= al i * (ip t.1 (a i) - g i * t.2 - r i).
  by move=> P [_ D]; rewrite mulr_ge0 ?subr_ge0 ?P ?D.
split.
- move=> [w b] al P D; have [bal _] := D; rewrite -subr_ge0 (hard_gap w b bal).
  by rewrite addr_ge0 ?sumr_ge0 // => i _; exact: (h2 (w, b)).
- move=> [w b] al P D; have [bal _] := D => /eqP; rewrite -subr_eq0 (hard_gap w b bal).
  have s2 i := h2 _ _ i P D; rewrite paddr_eq0 ?sumr_ge0 // => /andP[/eqP e1].
  rewrite psumr_eq0 // => /allP e2; split=> //=.
  + by apply/eqP; move/eqP: e1; rewrite mulf_eq0 (negPf half_neq0).
  + by move=> i; apply/eqP; apply: e2 (mem_index_enum i).
- by move=> t al [].
- move=> [w b] al [_ [bal _] /= e1 e2]; apply/eqP; rewrite -subr_eq0 (hard_gap w b bal) e1 mulr0 add0r.
  by rewrite big1.
Qed.
Theorem hard_duality : (exists t, hard_primal_feas t) ->
  strong_duality hard_primal_feas hard_primal_obj hard_dual_feas dual_value hard_kkt.
Proof.
case=> -[w0 b0] F; apply: (pair_strong_duality hard_pair).
have [|[al [b [xi [bal pos cs cap]]]]|[d ray]] := @margin_alternative (fun=> None); first by [].
- have E i : slack (span al) b xi i = ip (span al) (a i) - g i * b - r i by rewrite /slack (cap i) addr0.
  exists (span al, b), al; split=> /=.
  + by move=> i; rewrite -subr_ge0 -E; have [] := pos i.
  + by split=> // i; have [] := pos i.
  + by rewrite subrr ip0l.
  + by move=> i; rewrite -E.
- case: (ray_infeasible (w := w0) (b := b0) (xi := fun=> 0) ray) => i; split=> //.
  by rewrite /slack addr0 subr_ge0; exact: F.
Qed.
End Margin.

(** ** Squared slacks: the hard margin in V x R^I, with <(w, e), (w', e')> = <w, w'> + 2C e.e' *)
Section Squared.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (I : finType) (a : I -> V) (g r : I -> R) (C : R).
Hypothesis C0 : 0 < C.
Implicit Types (w : V) (b : R) (xi al : I -> R).

Definition squared_primal_feas := @hinge_primal_feas R V ip I a g r.
Definition squared_primal_obj (t : V * R * (I -> R)) := 2%:R^-1 * ip t.1.1 t.1.1 + C * (\sum_i t.2 i ^+ 2).
Definition squared_dual_feas := @hard_dual_feas R I g.
Definition squared_dual_obj al := dual_value ip a r al - (4%:R * C)^-1 * (\sum_i al i ^+ 2).
Definition squared_kkt (t : V * R * (I -> R)) al := [/\ squared_primal_feas t, squared_dual_feas al,
  ip (t.1.1 - span a al) (t.1.1 - span a al) = 0,
  forall i, al i * slack ip a g r t.1.1 t.1.2 t.2 i = 0 & forall i, al i = 2%:R * C * t.2 i].

Theorem squared_gap w b xi al : balanced g al -> squared_primal_obj (w, b, xi) - squared_dual_obj al =
  2%:R^-1 * ip (w - span a al) (w - span a al) + \sum_i al i * slack ip a g r w b xi i
  + C * (\sum_i (xi i - al i / (2%:R * C)) ^+ 2).
Proof.
have Cn : C != 0 by rewrite gt_eqF.
move=> bal; have := gap_identity ip a r w b xi bal; rewrite /squared_primal_obj /squared_dual_obj /=.
have -> : \sum_i (xi i - al i / (2%:R * C)) ^+ 2 = (\sum_i xi i ^+ 2)
   - C^-1 * (\sum_i al i * xi i) + (4%:R * C * C)^-1 * (\sum_i al i ^+ 2).
  rewrite !mulr_sumr -sumrB -big_split /=; apply: eq_bigr => i _.
  by field; rewrite Cn.
move/(congr1 (fun z => z + C * (\sum_i xi i ^+ 2) + (4%:R * C)^-1 * (\sum_i al i ^+ 2))).
move: (\sum_i _ * slack _ _ _ _ _ _ _ _) (\sum_i al i * xi i) (\sum_i xi i ^+ 2) (\sum_i al i ^+ 2) (dual_value _ _ _ _) => s1 s2 s3 s4 s5 E.
transitivity (2%:R^-1 * ip w w - s5 + C * s3 + (4%:R * C)^-1 * s4); first by ring.
by rewrite E; field; rewrite Cn.
Qed.
Theorem squared_pair : dual_pair squared_primal_feas squared_primal_obj squared_dual_feas squared_dual_obj squared_kkt.
Proof.
have Cn : C != 0 by rewrite gt_eqF.
have h1 w al : 0 <= 2%:R^-1 * ip (w - span a al) (w - span a al) by rewrite mulr_ge0 ?half_ge0 ?ip_ge0.
have h2 t al i : squared_primal_feas t -> squared_dual_feas al -> 0 <= al i * slack ip a g r t.1.1 t.1.2 t.2 i.
  by move=> P [_ D]; have [_] := P i; rewrite slackE => s; rewrite mulr_ge0.
have h3 xi al : 0 <= C * (\sum_i (xi i - al i / (2%:R * C)) ^+ 2).
  by rewrite mulr_ge0 ?(ltW C0) // sumr_ge0 // => i _; rewrite sqr_ge0.
split.
- move=> [[w b] xi] al P D; have [bal _] := D; rewrite -subr_ge0 squared_gap //.
  by rewrite !addr_ge0 // sumr_ge0 // => i _; exact: (h2 (w, b, xi)).
- move=> [[w b] xi] al P D; have [bal _] := D => /eqP; rewrite -subr_eq0 squared_gap //.
  have s2 i := h2 _ _ i P D; rewrite paddr_eq0 ?addr_ge0 ?sumr_ge0 // paddr_eq0 ?sumr_ge0 // => /andP[/andP[/eqP e1]].
  rewrite psumr_eq0 // => /allP e2; rewrite mulf_eq0 (negPf Cn) /= psumr_eq0 => [|i _]; last exact: sqr_ge0.
  move=> /allP e3; split=> //=.
  + by apply/eqP; move/eqP: e1; rewrite mulf_eq0 (negPf (half_neq0 R)).
  + by move=> i; apply/eqP; apply: e2 (mem_index_enum i).
  + move=> i; have := e3 i (mem_index_enum i); rewrite /= sqrf_eq0 subr_eq0 => /eqP ->.
    by field.
- by move=> t al [].
- move=> [[w b] xi] al [_ [bal _] /= e1 e2 e3]; apply/eqP; rewrite -subr_eq0 squared_gap // e1 mulr0 add0r.
  rewrite !big1 ?mulr0 ?addr0 // => i _; rewrite e3 [2%:R * C * _]mulrC mulfK ?subrr ?expr0n //.
  by rewrite mulf_neq0 ?pnatr_eq0.
Qed.

Let E := [lmodType R of {ffun I -> R^o}].
Let VE := [lmodType R of V * E].
Let bi (u v : VE) : R := ip u.1 v.1 + 2%:R * C * (\sum_i u.2 i * v.2 i).
Fact bi_sym u v : bi u v = bi v u.
Proof. by rewrite /bi ip_sym; congr (_ + _ * _); apply: eq_bigr => i _; exact: mulrC. Qed.
Fact bi_addl u v z : bi (u + v) z = bi u z + bi v z.
Proof.
rewrite /bi ip_addl addrACA -mulrDr -big_split /=; congr (_ + _ * _); apply: eq_bigr => i _.
by rewrite ffunE mulrDl.
Qed.
Fact bi_scalel k (u v : VE) : bi (k *: u) v = k * bi u v.
Proof.
rewrite /bi ip_scalel mulrDr; congr (_ + _); rewrite mulrCA; congr (_ * _); rewrite mulr_sumr.
by apply: eq_bigr => i _; rewrite ffunE mulrA.
Qed.
Fact bi_ge0 u : 0 <= bi u u.
Proof.
rewrite addr_ge0 ?ip_ge0 // mulr_ge0 ?mulr_ge0 ?ler0n ?(ltW C0) // sumr_ge0 // => i _.
by rewrite -expr2 sqr_ge0.
Qed.
Definition with_slacks := SemiInner bi_sym bi_addl bi_scalel bi_ge0.
Let lift i : VE := (a i, (2%:R * C)^-1 *: delta R i).

Theorem squared_duality : strong_duality squared_primal_feas squared_primal_obj squared_dual_feas squared_dual_obj squared_kkt.
Proof.
have Cn : C != 0 by rewrite gt_eqF.
have C2 : 2%:R * C != 0 by rewrite mulf_neq0 ?pnatr_eq0.
have margin (u : VE) i : bi u (lift i) = ip u.1 (a i) + u.2 i.
  rewrite /bi /=; congr (_ + _); rewrite (bigD1 i) //= !ffunE eqxx big1 ?addr0.
    by rewrite /GRing.scale /= mulr1 mulrCA mulfV // mulr1.
  by move=> j /negPf ne; rewrite !ffunE ne /GRing.scale /= !mulr0.
have sp al : span lift al = (span a al, \sum_i al i *: ((2%:R * C)^-1 *: delta R i)) :> VE.
  rewrite /span; elim/big_rec3: _ => // i x u v _ ->; congr (_, _).
have se al i : (\sum_i al i *: ((2%:R * C)^-1 *: delta R i) : E) i = al i / (2%:R * C).
  rewrite sum_ffunE (bigD1 i) //= !ffunE eqxx big1 ?addr0; first by rewrite /GRing.scale /= mulr1.
  by move=> j ne; rewrite !ffunE eq_sym (negPf ne) /GRing.scale /= !mulr0.
have [|[v [t O _] [al Oa _]] K] := @hard_duality R VE with_slacks I lift g r.
  exists (((0 : V), [ffun i => r i] : E) : VE, 0) => i; by rewrite /= margin ip0l add0r ffunE mulr0 subr0.
have [F D st cs] := (K t al).1 (conj O Oa); case: t {O} F st cs => [[w e] b] /= F st cs.
have ee i : e i = al i / (2%:R * C).
  move: st; rewrite sp /bi /= => /eqP; rewrite paddr_eq0 ?ip_ge0 //; last first.
    by rewrite mulr_ge0 ?mulr_ge0 ?ler0n ?(ltW C0) // sumr_ge0 // => j _; rewrite -expr2 sqr_ge0.
  case/andP => _; rewrite mulf_eq0 (negPf C2) /= psumr_eq0 => [/allP/(_ i (mem_index_enum i))|j _]; last first.
    by rewrite -expr2 sqr_ge0.
  by rewrite /= mulf_eq0 orbb ffunE [X in _ + X == 0]ffunE se subr_eq0 => /eqP.
have ww : ip (w - span a al) (w - span a al) = 0.
  move: st; rewrite sp /bi /= => /eqP; rewrite paddr_eq0 ?ip_ge0 //; last first.
    by rewrite mulr_ge0 ?mulr_ge0 ?ler0n ?(ltW C0) // sumr_ge0 // => j _; rewrite -expr2 sqr_ge0.
  by case/andP => /eqP.
have [bal al0] := D.
apply: (pair_strong_duality squared_pair); exists (w, b, e : I -> R), al; split=> //=.
- move=> i; rewrite /= ee divr_ge0 ?al0 ?mulr_ge0 ?ler0n ?(ltW C0) //; split=> //.
  by have := F i; rewrite /= margin /= ee ler_subl_addr addrAC.
- by move=> i; rewrite /slack -(cs i) margin /=; congr (_ * _); ring.
- by move=> i; rewrite ee mulrCA mulfV // mulr1.
Qed.
End Squared.

(** ** The largest margin: max t s.t. f(u, b)_i >= t, |u| <= 1 has the optimum t with t^2 |w|^2 = 1 *)
Section LargestMargin.
Variables (R : rcfType) (V : lmodType R) (ip : semi_inner V) (I : finType) (a : I -> V) (g : I -> R).
Definition margin_feas (p : V * R * R) := (forall i, p.2 <= ip p.1.1 (a i) - g i * p.1.2) /\ ip p.1.1 p.1.1 <= 1.
Let hard := hard_primal_feas ip a g (fun=> 1).
Let f (w : V) (b : R) i := ip w (a i) - g i * b.
Lemma f_scale k w b i : f (k *: w) (k * b) i = k * f w b i.
Proof. by rewrite /f ip_scalel mulrCA -mulrBr. Qed.

Theorem margin_equivalence v : 0 < v ->
  minimum hard (@hard_primal_obj R V ip) v <-> maximum margin_feas snd (Num.sqrt (2%:R * v))^-1.
Proof.
move=> v0; have n0 : 0 < 2%:R * v by rewrite mulr_gt0 ?ltr0n.
set s := (Num.sqrt _)^-1; have s0 : 0 < s by rewrite invr_gt0 sqrtr_gt0.
have s2 : s ^+ 2 * (2%:R * v) = 1 by rewrite exprVn sqr_sqrtr ?(ltW n0) // mulVf // gt_eqF.
have shrink u b t : 0 < t -> margin_feas (u, b, t) ->
    hard (t^-1 *: u, t^-1 * b) /\ t ^+ 2 * (2%:R * hard_primal_obj ip (t^-1 *: u, t^-1 * b)) <= 1.
  move=> t0 [m le1]; split=> [i|].
    by have := m i; rewrite /= -/(f _ _ i) -[ip (_ *: _) _ - _]/(f _ _ i) f_scale ler_pdivl_mull // mulr1.
  rewrite /hard_primal_obj /= ip_scalel ip_scaler; apply: le_trans le1; rewrite le_eqVlt; apply/orP; left; apply/eqP.
  by move: (ip u u) => q; rewrite mulVKf ?pnatr_eq0 // expr2 -!mulrA mulVKf ?gt_eqF // mulVKf ?gt_eqF.
have grow w b k : 0 <= k -> hard (w, b) -> k ^+ 2 * ip w w <= 1 -> margin_feas (k *: w, k * b, k).
  move=> k0 h le1; split=> [i|] /=; last by rewrite ip_scalel ip_scaler mulrA -expr2.
  by rewrite -[ip (_ *: _) _ - _]/(f _ _ i) f_scale -[X in X <= _]mulr1 ler_wpmul2l //; exact: h.
have half w : 2%:R * (2%:R^-1 * ip w w) = ip w w by rewrite mulVKf // pnatr_eq0.
split=> [[[w b] [F O] e]|[[[u b] t] [F O] /= e]].
  have nw : ip w w = 2%:R * v by rewrite -e /hard_primal_obj /= half.
  exists (s *: w, s * b, s) => //; split; first by apply: grow => //; [exact: ltW|rewrite nw s2].
  move=> [[u b'] t] F' /=; have [t0|/le_trans->//] := ltrP 0 t; last exact: ltW.
  have [F'' le1] := shrink _ _ _ t0 F'; rewrite -ler_sqr ?nnegrE ?(ltW t0) ?(ltW s0) //.
  rewrite -(ler_pmul2r n0) s2; apply: le_trans le1; rewrite ler_pmul2l ?exprn_gt0 // ler_pmul2l ?ltr0n // -e; exact: O.
rewrite e in F O *; have [F' le1] := shrink _ _ _ s0 F.
have low w b' : hard (w, b') -> v <= hard_primal_obj ip (w, b').
  move=> h; rewrite -(@ler_pmul2l _ 2%:R) ?ltr0n // /hard_primal_obj /= half leNgt; apply/negP => lt.
  have [k [k0 ks kn]] : exists k, [/\ 0 <= k, s < k & k ^+ 2 * ip w w <= 1].
    have [z|nz] := eqVneq (ip w w) 0.
      by exists (s + 1); rewrite z mulr0 ler01 addr_ge0 ?ler01 ?(ltW s0) // ltr_addl ltr01.
    have p0 : 0 < ip w w by rewrite lt_def nz ip_ge0.
    exists (Num.sqrt (ip w w))^-1; rewrite invr_ge0 sqrtr_ge0 exprVn sqr_sqrtr ?ip_ge0 // mulVf // lexx; split=> //.
    by rewrite ltf_pinv ?posrE ?sqrtr_gt0 // ltr_sqrt.
  by have := O _ (grow w b' k k0 h kn); rewrite /= leNgt ks.
have at_most : hard_primal_obj ip (s^-1 *: u, s^-1 * b) <= v.
  by move: le1; rewrite -[X in _ <= X]s2 ler_pmul2l ?exprn_gt0 // ler_pmul2l ?ltr0n.
exists (s^-1 *: u, s^-1 * b); first by split=> // -[w b'] h; exact: le_trans at_most (low _ _ h).
by apply/eqP; rewrite eq_le at_most low.
Qed.
End LargestMargin.
