(** * A cost for every row: weights from none to infinite

    The margin problem with a cost c_i of each row: Some k is the cost k >= 0 of its slack, None an infinite cost, a hard row without slack.
    A weight w_i of a point, a pair or a query gives the cost C w_i, and weight 0 forces al_i = 0.

    hinge      min 1/2 |w|^2 + sum c_i xi_i       max D(al)                              s.t. g'al = 0, 0 <= al_i <= c_i
    squared    min 1/2 |w|^2 + sum c_i xi_i^2     max D(al) - sum al_i^2 / (4 c_i)       s.t. g'al = 0, 0 <= al_i, al_i = 0 where c_i = 0

    [weighted_pair], [weighted_l2_pair]           weak duality, and gap 0 exactly if KKT holds
    [weighted_duality], [weighted_l2_duality]     strong duality with attainment, if some point is feasible
    [weighted_feasible]                           a point is feasible if no cost is infinite
    [svm_soft_weighted_duality], [svm_l2_weighted_duality], [svr_l1_weighted_duality], [svr_l2_weighted_duality],
    [rank_l1_weighted_duality], [rank_l2_weighted_duality]   in the variables of the published forms *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From equimargin Require Import inner optimum qp margin svm svr ranksvm.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Rows.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (I : finType) (a : I -> V) (g r : I -> R) (c : I -> option R).
Implicit Types (w : V) (b : R) (xi al : I -> R) (t : V * R * (I -> R)).

(** The cost as a number; 0 in place of an infinite one, as the slack of such a row is 0. *)
Definition cost i : R := odflt 0 (c i).
Definition weighted_feas t := hinge_primal_feas ip a g r t /\ forall i, c i = None -> t.2 i = 0.
Definition weighted_obj t := 2%:R^-1 * ip t.1.1 t.1.1 + \sum_i cost i * t.2 i.
Definition weighted_dual_feas al := balanced g al /\ forall i, 0 <= al i /\ forall k, c i = Some k -> al i <= k.
Definition weighted_dual_obj al := dual_value ip a r al.
Definition weighted_kkt t al := [/\ weighted_feas t, weighted_dual_feas al, ip (t.1.1 - span a al) (t.1.1 - span a al) = 0,
  forall i, al i * slack ip a g r t.1.1 t.1.2 t.2 i = 0 & forall i k, c i = Some k -> (k - al i) * t.2 i = 0].

Definition weighted_l2_obj t := 2%:R^-1 * ip t.1.1 t.1.1 + \sum_i cost i * t.2 i ^+ 2.
Definition weighted_l2_dual_feas al := balanced g al /\ forall i, 0 <= al i /\ (c i = Some 0 -> al i = 0).
Definition weighted_l2_dual_obj al := dual_value ip a r al - \sum_i (4%:R * cost i)^-1 * al i ^+ 2.
Definition weighted_l2_kkt t al := [/\ weighted_feas t, weighted_l2_dual_feas al, ip (t.1.1 - span a al) (t.1.1 - span a al) = 0,
  forall i, al i * slack ip a g r t.1.1 t.1.2 t.2 i = 0 & forall i k, c i = Some k -> al i = 2%:R * k * t.2 i].

Hypothesis c0 : forall i k, c i = Some k -> 0 <= k.

Lemma cost_ge0 i : 0 <= cost i.
Proof. by rewrite /cost; case e: (c i) => [k|] //=; exact: c0 e. Qed.
Lemma weighted_feasible : (forall i, c i <> None) -> exists t, weighted_feas t.
Proof.
move=> finite; exists (0, 0, fun i => Num.max 0 (r i)); split=> /= i; last by move/finite.
by rewrite ip0l mulr0 subr0 subr_le0 !le_maxr !lexx orbT.
Qed.
Lemma square_ge0 w al : 0 <= 2%:R^-1 * ip (w - span a al) (w - span a al).
Proof. by rewrite mulr_ge0 ?half_ge0 ?ip_ge0. Qed.
Lemma row_ge0 t al i : weighted_feas t -> 0 <= al i -> 0 <= al i * slack ip a g r t.1.1 t.1.2 t.2 i.
Proof. by case=> F _ al0; have [_] := F i; rewrite slackE => s; rewrite mulr_ge0. Qed.

(** ** Hinge *)
Lemma weighted_gap w b xi al : balanced g al -> weighted_obj (w, b, xi) - weighted_dual_obj al =
  2%:R^-1 * ip (w - span a al) (w - span a al) + \sum_i al i * slack ip a g r w b xi i + \sum_i (cost i - al i) * xi i.
Proof. exact: (hinge_gap ip a r cost w b xi). Qed.
Lemma cap_ge0 t al i : weighted_feas t -> weighted_dual_feas al -> 0 <= (cost i - al i) * t.2 i.
Proof.
move=> [F hard] [_ D]; have [_ cap] := D i; have [x0 _] := F i; rewrite /cost.
by case e: (c i) => [k|] /=; [rewrite mulr_ge0 ?subr_ge0 // cap|rewrite hard // mulr0].
Qed.

Theorem weighted_pair : dual_pair weighted_feas weighted_obj weighted_dual_feas weighted_dual_obj weighted_kkt.
Proof.
have row t al i : weighted_feas t -> weighted_dual_feas al -> 0 <= al i * slack ip a g r t.1.1 t.1.2 t.2 i.
  by move=> F [_ D]; apply: row_ge0 => //; have [] := D i.
split.
- move=> [[w b] xi] al F D; have [bal _] := D; rewrite -subr_ge0 (weighted_gap _ b) //.
  by rewrite !addr_ge0 ?square_ge0 ?sumr_ge0 // => i _; [exact: (row (w, b, xi))|exact: (cap_ge0 (t := (w, b, xi)))].
- move=> [[w b] xi] al F D; have [bal _] := D => /eqP; rewrite -subr_eq0 (weighted_gap _ b) //.
  have s2 i := row _ _ i F D; have s3 i := cap_ge0 i F D.
  rewrite paddr_eq0 ?addr_ge0 ?square_ge0 ?sumr_ge0 // paddr_eq0 ?square_ge0 ?sumr_ge0 // => /andP[/andP[/eqP e1]].
  rewrite !psumr_eq0 // => /allP e2 /allP e3; split=> //=.
  + by apply/eqP; move/eqP: e1; rewrite mulf_eq0 (negPf (half_neq0 R)).
  + by move=> i; apply/eqP; apply: e2 (mem_index_enum i).
  + by move=> i k e; have := e3 i (mem_index_enum i); rewrite /cost e => /eqP.
- by move=> t al [].
- move=> [[w b] xi] al [[_ hard] [bal _] /= e1 e2 e3]; apply/eqP; rewrite -subr_eq0 (weighted_gap _ b) // e1 mulr0 add0r.
  rewrite !big1 ?addr0 // => i _; rewrite /cost; case e: (c i) => [k|] /=; first exact: e3.
  by rewrite (hard i e : xi i = 0) mulr0.
Qed.

Theorem weighted_duality : (exists t, weighted_feas t) ->
  strong_duality weighted_feas weighted_obj weighted_dual_feas weighted_dual_obj weighted_kkt.
Proof.
case=> -[[w0 b0] xi0] [F hard]; apply: (pair_strong_duality weighted_pair).
have [[al [b [xi [bal pos cs cap]]]]|[d ray]] := margin_alternative ip a g r c0.
- exists (span a al, b, xi), al; split=> /=.
  + by split=> i /=; [have [_ ? ?] := pos i; rewrite slackE|move=> e; have := cap i; rewrite e].
  + by split=> // i; have [-> _ _] := pos i; split=> // k e; have := cap i; rewrite e => -[].
  + by rewrite subrr ip0l.
  + exact: cs.
  + by move=> i k e; have := cap i; rewrite e => -[].
- case: (ray_infeasible (w := w0) (b := b0) (xi := xi0) ray) => i; split; last exact: hard.
  by have [_] := F i; rewrite slackE.
Qed.

(** ** Squared slacks *)
Lemma weighted_l2_term t al i : weighted_feas t -> weighted_l2_dual_feas al ->
  cost i * t.2 i ^+ 2 - al i * t.2 i + (4%:R * cost i)^-1 * al i ^+ 2 = cost i * (t.2 i - al i / (2%:R * cost i)) ^+ 2.
Proof.
move=> [_ hard] [_ D]; have [_ none] := D i; rewrite /cost; case e: (c i) => [k|] /=.
  have [k0|nz] := eqVneq k 0; last by field; rewrite nz.
  by rewrite none ?e ?k0 // !(mul0r, mulr0) subrr expr0n mulr0 addr0.
by rewrite hard // !(mulr0, mul0r, invr0) subrr addr0.
Qed.
Lemma weighted_l2_gap w b xi al : weighted_feas (w, b, xi) -> weighted_l2_dual_feas al ->
  weighted_l2_obj (w, b, xi) - weighted_l2_dual_obj al = 2%:R^-1 * ip (w - span a al) (w - span a al)
    + \sum_i al i * slack ip a g r w b xi i + \sum_i cost i * (xi i - al i / (2%:R * cost i)) ^+ 2.
Proof.
move=> F D; have [bal _] := D; rewrite -(eq_bigr _ (fun i _ => weighted_l2_term i F D)) /= !big_split /= sumrN.
have := gap_identity ip a r w b xi bal; rewrite /weighted_l2_obj /weighted_l2_dual_obj /=.
move: (\sum_i al i * slack _ _ _ _ _ _ _ _) (\sum_i al i * xi i) (\sum_i cost i * _) (\sum_i _ * al i ^+ 2) (dual_value _ _ _ _) => s1 s2 s3 s4 d.
move=> E; transitivity (2%:R^-1 * ip w w - d + (s3 + s4)); first by ring.
by rewrite E; ring.
Qed.

Theorem weighted_l2_pair : dual_pair weighted_feas weighted_l2_obj weighted_l2_dual_feas weighted_l2_dual_obj weighted_l2_kkt.
Proof.
have row t al i : weighted_feas t -> weighted_l2_dual_feas al -> 0 <= al i * slack ip a g r t.1.1 t.1.2 t.2 i.
  by move=> F [_ D]; apply: row_ge0 => //; have [] := D i.
have sq xi al i : 0 <= cost i * (xi i - al i / (2%:R * cost i)) ^+ 2 by rewrite mulr_ge0 ?cost_ge0 ?sqr_ge0.
have n2 : 2%:R != 0 :> R by rewrite pnatr_eq0.
split.
- move=> [[w b] xi] al F D; rewrite -subr_ge0 weighted_l2_gap //.
  by rewrite !addr_ge0 ?square_ge0 ?sumr_ge0 // => i _; exact: (row (w, b, xi)).
- move=> [[w b] xi] al F D /eqP; rewrite -subr_eq0 weighted_l2_gap //.
  have s2 i := row _ _ i F D.
  rewrite paddr_eq0 ?addr_ge0 ?square_ge0 ?sumr_ge0 // paddr_eq0 ?square_ge0 ?sumr_ge0 // => /andP[/andP[/eqP e1]].
  rewrite !psumr_eq0 // => /allP e2 /allP e3; split=> //=.
  + by apply/eqP; move/eqP: e1; rewrite mulf_eq0 (negPf (half_neq0 R)).
  + by move=> i; apply/eqP; apply: e2 (mem_index_enum i).
  + move=> i k e; have := e3 i (mem_index_enum i); rewrite /cost e /= mulf_eq0.
    have [k0 _|nz] := eqVneq k 0; first by have [_ D'] := D; have [_ ->] := D' i; rewrite ?e ?k0 // mulr0 mul0r.
    by rewrite sqrf_eq0 subr_eq0 => /eqP ->; field; rewrite nz.
- by move=> t al [].
- move=> [[w b] xi] al [F D /= e1 e2 e3]; apply/eqP; rewrite -subr_eq0 weighted_l2_gap // e1 mulr0 add0r.
  rewrite !big1 ?addr0 // => i _; rewrite /cost; case e: (c i) => [k|] /=; last by rewrite mul0r.
  have [->|nz] := eqVneq k 0; first by rewrite mul0r.
  by rewrite (e3 _ _ e) mulrAC mulfV ?mulf_neq0 // mul1r subrr expr0n mulr0.
Qed.

End Rows.

(** ** Strong duality of squared slacks: rows with a cost are hard ones in V x R^I, with <(w, e), (w', e')> = <w, w'> + 2 sum c_i e_i e'_i; the
    multipliers of rows with cost 0 have the upper bound 0 *)
Section Squared.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (I : finType) (a : I -> V) (g r : I -> R) (c : I -> option R).
Implicit Types (w : V) (b : R) (xi al : I -> R).
Hypothesis c0 : forall i k, c i = Some k -> 0 <= k.
Local Notation cost := (cost c).
Let E := [lmodType R of {ffun I -> R^o}].
Let VE := [lmodType R of V * E].
Let bi (u v : VE) : R := ip u.1 v.1 + 2%:R * (\sum_i cost i * (u.2 i * v.2 i)).
Fact bi_sym u v : bi u v = bi v u.
Proof. by rewrite /bi ip_sym; congr (_ + _ * _); apply: eq_bigr => i _; rewrite [u.2 i * _]mulrC. Qed.
Fact bi_addl u v z : bi (u + v) z = bi u z + bi v z.
Proof.
rewrite /bi ip_addl addrACA -mulrDr -big_split /=; congr (_ + _ * _); apply: eq_bigr => i _.
by rewrite ffunE mulrDl mulrDr.
Qed.
Fact bi_scalel k (u v : VE) : bi (k *: u) v = k * bi u v.
Proof.
rewrite /bi ip_scalel mulrDr; congr (_ + _); rewrite mulrCA; congr (_ * _); rewrite mulr_sumr.
by apply: eq_bigr => i _; rewrite ffunE -mulrA mulrCA.
Qed.
Fact slacks_ge0 (u : VE) : 0 <= 2%:R * (\sum_i cost i * (u.2 i * u.2 i)).
Proof. by rewrite mulr_ge0 ?ler0n // sumr_ge0 // => i _; rewrite -expr2 mulr_ge0 ?(cost_ge0 c0) ?sqr_ge0. Qed.
Fact bi_ge0 u : 0 <= bi u u.
Proof. by rewrite addr_ge0 ?ip_ge0 ?slacks_ge0. Qed.
Definition with_costs := SemiInner bi_sym bi_addl bi_scalel bi_ge0.
Let lift i : VE := (a i, (2%:R * cost i)^-1 *: delta R i).
Let lifted_c i : option R := if c i == Some 0 then Some 0 else None.

Theorem weighted_l2_duality : (exists t, weighted_feas ip a g r c t) ->
  strong_duality (weighted_feas ip a g r c) (weighted_l2_obj ip c) (weighted_l2_dual_feas g c) (weighted_l2_dual_obj ip a r c)
    (weighted_l2_kkt ip a g r c).
Proof.
have n2 : 2%:R != 0 :> R by rewrite pnatr_eq0.
have margin (u : VE) i : bi u (lift i) = ip u.1 (a i) + (if cost i == 0 then 0 else u.2 i).
  rewrite /bi /=; congr (_ + _); rewrite (bigD1 i) //= !ffunE eqxx big1 ?addr0.
    by rewrite /GRing.scale /=; case: eqP => [->|/eqP nz]; [rewrite mul0r mulr0|field; rewrite nz].
  by move=> j /negPf ne; rewrite !ffunE ne /GRing.scale /= !mulr0.
have sp al : span lift al = (span a al, \sum_i al i *: ((2%:R * cost i)^-1 *: delta R i)) :> VE.
  rewrite /span; elim/big_rec3: _ => // i x u v _ ->; congr (_, _).
have se al i : (\sum_i al i *: ((2%:R * cost i)^-1 *: delta R i) : E) i = al i / (2%:R * cost i).
  rewrite sum_ffunE (bigD1 i) //= !ffunE eqxx big1 ?addr0; first by rewrite /GRing.scale /= mulr1.
  by move=> j ne; rewrite !ffunE eq_sym (negPf ne) /GRing.scale /= !mulr0.
case=> -[[w0 b0] xi0] [F0 hard0].
have [||[v [t O _] [al Oa _]] K] := @weighted_duality R VE with_costs I lift g r lifted_c.
- by move=> i k; rewrite /lifted_c; case: eqP => // _ [<-].
- exists ((w0, [ffun i => xi0 i] : E) : VE, b0, fun i => if c i == Some 0 then xi0 i else 0); split=> [i|i] /=; last first.
    by rewrite /lifted_c; case: eqP.
  have [x0 m] := F0 i; rewrite /= margin /= ffunE /cost /=; split; first by case: ifP.
  case: eqP => [->|/eqP ne] /=; first by rewrite eqxx addr0.
  case e: (c i) => [k|] /=.
    have -> : (k == 0) = false by apply/negbTE; apply: contra ne => /eqP <-; rewrite e.
    by rewrite subr0 addrAC -ler_subl_addr.
  by rewrite eqxx subr0 addr0; move: m; rewrite /= (hard0 i e : xi0 i = 0) subr0.
have [[F hard] [bal D] st cs cap] := (K t al).1 (conj O Oa); case: t {O} F hard st cs cap => [[[w e] b] xi] /= F hard st cs cap.
have [ww ee] : ip (w - span a al) (w - span a al) = 0 /\ forall i, cost i * (e i - al i / (2%:R * cost i)) ^+ 2 = 0.
  move: st; rewrite sp /bi /= => /eqP; rewrite paddr_eq0 ?ip_ge0 //; last exact: (slacks_ge0 (_, _)).
  case/andP => /eqP ->; rewrite mulf_eq0 (negPf n2) /= psumr_eq0 => [/allP h|j _]; last by rewrite -expr2 mulr_ge0 ?(cost_ge0 c0) ?sqr_ge0.
  by split=> // i; have := h i (mem_index_enum i); rewrite /= -expr2 ffunE [X in _ * (_ + X) ^+ 2]ffunE se => /eqP.
pose z i := if c i == Some 0 then xi i else al i / (2%:R * cost i).
have ez i : z i = xi i + (if cost i == 0 then 0 else e i).
  rewrite /z; case: eqP => [ci|/eqP ne]; first by rewrite /cost ci /= eqxx addr0.
  have -> : xi i = 0 by apply: hard; rewrite /lifted_c (negPf ne).
  rewrite add0r; case: eqP => [->|/eqP nz]; first by rewrite mulr0 invr0 mulr0.
  by have /eqP := ee i; rewrite mulf_eq0 (negPf nz) sqrf_eq0 subr_eq0 => /eqP.
apply: (pair_strong_duality (weighted_l2_pair ip a g r c0)); exists (w, b, z), al; split=> //=.
- split=> i /=; last by move=> ci; rewrite /z /cost ci /= mulr0 invr0 mulr0.
  have [x0 m] := F i; have [al0 _] := D i; split; first by rewrite /z; case: ifP => // _; rewrite divr_ge0 ?mulr_ge0 ?ler0n ?(cost_ge0 c0).
  by rewrite ez opprD addrA ler_subl_addr addrAC; move: m; rewrite /= margin.
- split=> // i; have [al0 top] := D i; split=> // ci; apply/eqP; rewrite eq_le al0 andbT; apply: top; by rewrite /lifted_c ci eqxx.
- move=> i; apply: etrans (cs i); rewrite /slack /= margin /= ez; congr (_ * _).
  by move: (if _ then _ else _) => q; ring.
- move=> i k ci; rewrite /z ci; case: eqP => [[k0]|/eqP ne].
    rewrite k0 mulr0 mul0r; have [al0 top] := D i; apply/eqP; rewrite eq_le al0 andbT; apply: top.
    by rewrite /lifted_c ci k0 eqxx.
  have nz : k != 0 by apply: contra ne => /eqP ->.
  by rewrite /cost ci /=; field.
Qed.
End Squared.

(** ** Classification: T (23)-(28) with a cost for every point *)
Section Classification.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (I : finType) (x : I -> V) (y : I -> R) (c : I -> option R).
Implicit Types al : I -> R.
Let a i := y i *: x i.
Let one (i : I) : R := 1.
Let point : Type := (V * R * (I -> R))%type.

Definition svm_weighted_feas (p : point) := let: (w, b, xi) := p in svm_soft_primal_feas ip x y (w, b, xi) /\ forall i, c i = None -> xi i = 0.
Definition svm_weighted_obj (p : point) := let: (w, b, xi) := p in 2%:R^-1 * ip w w + \sum_i cost c i * xi i.
Definition svm_weighted_dual_feas al := \sum_i y i * al i = 0 /\ forall i, 0 <= al i /\ forall k, c i = Some k -> al i <= k.
Definition svm_weighted_kkt (p : point) al := let: (w, b, xi) := p in [/\ svm_weighted_feas (w, b, xi), svm_weighted_dual_feas al,
  ip (w - svm_w x y al) (w - svm_w x y al) = 0, forall i, al i * (y i * (ip w (x i) - b) - 1 + xi i) = 0
  & forall i k, c i = Some k -> (k - al i) * xi i = 0].
Definition svm_l2_weighted_obj (p : point) := let: (w, b, xi) := p in 2%:R^-1 * ip w w + \sum_i cost c i * xi i ^+ 2.
Definition svm_l2_weighted_dual_feas al := \sum_i y i * al i = 0 /\ forall i, 0 <= al i /\ (c i = Some 0 -> al i = 0).
Definition svm_l2_weighted_dual_obj al := svm_soft_dual_obj ip x y al - \sum_i (4%:R * cost c i)^-1 * al i ^+ 2.
Definition svm_l2_weighted_kkt (p : point) al := let: (w, b, xi) := p in [/\ svm_weighted_feas (w, b, xi), svm_l2_weighted_dual_feas al,
  ip (w - svm_w x y al) (w - svm_w x y al) = 0, forall i, al i * (y i * (ip w (x i) - b) - 1 + xi i) = 0
  & forall i k, c i = Some k -> al i = 2%:R * k * xi i].

Hypothesis c0 : forall i k, c i = Some k -> 0 <= k.
Lemma svm_weighted_feasE t : svm_weighted_feas t <-> weighted_feas ip a y one c t.
Proof. by case: t => -[w b] xi; split=> -[h h']; split=> // i; have := h i; rewrite svm_marginE. Qed.

Theorem svm_soft_weighted_duality : (exists t, svm_weighted_feas t) ->
  strong_duality svm_weighted_feas svm_weighted_obj svm_weighted_dual_feas (svm_soft_dual_obj ip x y) svm_weighted_kkt.
Proof.
have PE := svm_weighted_feasE.
have KE t al : svm_weighted_kkt t al <-> weighted_kkt ip a y one c t al.
  case: t => -[w b] xi; rewrite /svm_weighted_kkt /weighted_kkt svm_wE.
  by split; case=> /PE h1 h2 h3 h4 h5; split=> // i; rewrite -(h4 i) /= svm_slackE.
case=> t0 /PE F; apply: (strong_duality_transfer (weighted_pair ip a y one c) (f := id) (h := id)) _ _ _ (weighted_duality c0 _) => //.
- by move=> t /PE.
- by case=> -[w b] xi.
- exact: svm_dual_valueE.
- by move=> t al; rewrite KE; split=> [K|[]//]; case: (K) => h1 h2; split=> //; exact/PE.
- by move=> t al /KE K; exists t, al.
- by exists t0.
Qed.
Theorem svm_l2_weighted_duality : (exists t, svm_weighted_feas t) ->
  strong_duality svm_weighted_feas svm_l2_weighted_obj svm_l2_weighted_dual_feas svm_l2_weighted_dual_obj svm_l2_weighted_kkt.
Proof.
have PE := svm_weighted_feasE.
have KE t al : svm_l2_weighted_kkt t al <-> weighted_l2_kkt ip a y one c t al.
  case: t => -[w b] xi; rewrite /svm_l2_weighted_kkt /weighted_l2_kkt svm_wE.
  by split; case=> /PE h1 h2 h3 h4 h5; split=> // i; rewrite -(h4 i) /= svm_slackE.
case=> t0 /PE F; apply: (strong_duality_transfer (weighted_l2_pair ip a y one c0) (f := id) (h := id)) _ _ _ (weighted_l2_duality c0 _) => //.
- by move=> t /PE.
- by case=> -[w b] xi.
- by move=> al; rewrite /svm_l2_weighted_dual_obj /svm_soft_dual_obj svm_dual_valueE.
- by move=> t al; rewrite KE; split=> [K|[]//]; case: (K) => h1 h2; split=> //; exact/PE.
- by move=> t al /KE K; exists t, al.
- by exists t0.
Qed.
End Classification.

(** ** Ranking: K (1.2) and (2.4) with a cost for every pair *)
Section Ranking.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (X P : finType) (phi : X -> V) (hi lo : P -> X) (c : P -> option R).
Implicit Types al : P -> R.
Let a p := phi (hi p) - phi (lo p).
Let none (p : P) : R := 0.
Let one (p : P) : R := 1.
Let point : Type := (V * (P -> R))%type.
Let unbiased (t : point) : V * R * (P -> R) := (t.1, 0, t.2).

Definition rank_weighted_feas (t : point) := rank_l1_primal_feas ip phi hi lo t /\ forall p, c p = None -> t.2 p = 0.
Definition rank_weighted_obj (t : point) := let: (w, xi) := t in 2%:R^-1 * ip w w + \sum_p cost c p * xi p.
Definition rank_weighted_dual_feas al := forall p, 0 <= al p /\ forall k, c p = Some k -> al p <= k.
Definition rank_weighted_kkt (t : point) al := let: (w, xi) := t in [/\ rank_weighted_feas (w, xi), rank_weighted_dual_feas al,
  ip (w - rank_w phi hi lo al) (w - rank_w phi hi lo al) = 0, forall p, al p * (ip w (phi (hi p) - phi (lo p)) - 1 + xi p) = 0
  & forall p k, c p = Some k -> (k - al p) * xi p = 0].
Definition rank_l2_weighted_obj (t : point) := let: (w, xi) := t in 2%:R^-1 * ip w w + \sum_p cost c p * xi p ^+ 2.
Definition rank_l2_weighted_dual_feas al := forall p, 0 <= al p /\ (c p = Some 0 -> al p = 0).
Definition rank_l2_weighted_dual_obj al := rank_l1_dual_obj ip phi hi lo al - \sum_p (4%:R * cost c p)^-1 * al p ^+ 2.
Definition rank_l2_weighted_kkt (t : point) al := let: (w, xi) := t in [/\ rank_weighted_feas (w, xi), rank_l2_weighted_dual_feas al,
  ip (w - rank_w phi hi lo al) (w - rank_w phi hi lo al) = 0, forall p, al p * (ip w (phi (hi p) - phi (lo p)) - 1 + xi p) = 0
  & forall p k, c p = Some k -> al p = 2%:R * k * xi p].

Hypothesis c0 : forall p k, c p = Some k -> 0 <= k.
Lemma rank_weighted_feasE w b xi : rank_weighted_feas (w, xi) <-> weighted_feas ip a none one c (w, b, xi).
Proof. by split=> -[h h']; split=> // p; have := h p; rewrite /= mul0r subr0. Qed.

Theorem rank_l1_weighted_duality : (exists t, rank_weighted_feas t) ->
  strong_duality rank_weighted_feas rank_weighted_obj rank_weighted_dual_feas (rank_l1_dual_obj ip phi hi lo) rank_weighted_kkt.
Proof.
have PE := rank_weighted_feasE.
have KE w b xi al : rank_weighted_kkt (w, xi) al <-> weighted_kkt ip a none one c (w, b, xi) al.
  rewrite /rank_weighted_kkt /weighted_kkt; split; case=> /PE h1 h2 h3 h4 h5; split=> //.
  + by split=> //; exact: rank_balanced.
  + by move=> p; rewrite -(h4 p) /= -rank_slackE.
  + by case: h2.
  + by move=> p; rewrite -(h4 p) /= -rank_slackE.
case=> -[w0 xi0] /PE F; apply: (strong_duality_transfer (weighted_pair ip a none one c) (f := unbiased) (h := id)) _ _ _
  (weighted_duality c0 _) => //.
- by case=> w xi /PE; exact.
- by case.
- by split=> //; exact: rank_balanced.
- exact: rank_dual_valueE.
- by case=> w xi al; rewrite (KE w 0); split=> [K|[]//]; case: (K) => h1 [_ h2]; split=> //; exact/PE/h1.
- by case=> -[w b] xi al /KE K; exists (w, xi), al.
- by exists (w0, 0, xi0); exact: F.
Qed.
Theorem rank_l2_weighted_duality : (exists t, rank_weighted_feas t) ->
  strong_duality rank_weighted_feas rank_l2_weighted_obj rank_l2_weighted_dual_feas rank_l2_weighted_dual_obj rank_l2_weighted_kkt.
Proof.
have PE := rank_weighted_feasE.
have KE w b xi al : rank_l2_weighted_kkt (w, xi) al <-> weighted_l2_kkt ip a none one c (w, b, xi) al.
  rewrite /rank_l2_weighted_kkt /weighted_l2_kkt; split; case=> /PE h1 h2 h3 h4 h5; split=> //.
  + by split=> //; exact: rank_balanced.
  + by move=> p; rewrite -(h4 p) /= -rank_slackE.
  + by case: h2.
  + by move=> p; rewrite -(h4 p) /= -rank_slackE.
case=> -[w0 xi0] /PE F; apply: (strong_duality_transfer (weighted_l2_pair ip a none one c0) (f := unbiased) (h := id)) _ _ _
  (weighted_l2_duality c0 _) => //.
- by case=> w xi /PE; exact.
- by case.
- by split=> //; exact: rank_balanced.
- by move=> al; rewrite /rank_l2_weighted_dual_obj /rank_l1_dual_obj rank_dual_valueE.
- by case=> w xi al; rewrite (KE w 0); split=> [K|[]//]; case: (K) => h1 [_ h2]; split=> //; exact/PE/h1.
- by case=> -[w b] xi al /KE K; exists (w, xi), al.
- by exists (w0, 0, xi0); exact: F.
Qed.
End Ranking.

(** ** Regression: T (60)-(73) with a cost for each side of every point, inl the upper one, inr the lower one *)
Section Regression.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (I : finType) (x : I -> V) (y : I -> R) (eps : R) (c : I + I -> option R).
Let a (k : I + I) : V := match k with inl i => x i | inr i => - x i end.
Let g (k : I + I) : R := match k with inl _ => -1 | inr _ => 1 end.
Let r (k : I + I) : R := match k with inl i => y i - eps | inr i => - y i - eps end.
Let above (f : I + I -> R) i := f (inl i).
Let below (f : I + I -> R) i := f (inr i).
Let point : Type := (V * R * (I -> R) * (I -> R))%type.
Let pair_of : Type := ((I -> R) * (I -> R))%type.

Definition svr_weighted_feas (p : point) := let: (w, b, xi, xh) := p in
  svr_l1_primal_feas ip x y eps (w, b, xi, xh) /\ forall k, c k = None -> both xi xh k = 0.
Definition svr_weighted_obj (p : point) := let: (w, b, xi, xh) := p in
  2%:R^-1 * ip w w + \sum_i (cost c (inl i) * xi i + cost c (inr i) * xh i).
Definition svr_weighted_dual_feas (p : pair_of) := let: (al, ah) := p in
  \sum_i (al i - ah i) = 0 /\ forall k, 0 <= both al ah k /\ forall m, c k = Some m -> both al ah k <= m.
Definition svr_weighted_kkt (p : point) (q : pair_of) := let: (w, b, xi, xh) := p in let: (al, ah) := q in
  [/\ svr_weighted_feas (w, b, xi, xh), svr_weighted_dual_feas (al, ah), ip (w - svr_w x (al, ah)) (w - svr_w x (al, ah)) = 0,
      forall i, al i * (eps + xi i - y i + ip w (x i) + b) = 0 /\ ah i * (eps + xh i + y i - ip w (x i) - b) = 0
    & forall k m, c k = Some m -> (m - both al ah k) * both xi xh k = 0].
Definition svr_l2_weighted_obj (p : point) := let: (w, b, xi, xh) := p in
  2%:R^-1 * ip w w + \sum_i (cost c (inl i) * xi i ^+ 2 + cost c (inr i) * xh i ^+ 2).
Definition svr_l2_weighted_dual_feas (p : pair_of) := let: (al, ah) := p in
  \sum_i (al i - ah i) = 0 /\ forall k, 0 <= both al ah k /\ (c k = Some 0 -> both al ah k = 0).
Definition svr_l2_weighted_dual_obj (p : pair_of) := let: (al, ah) := p in
  svr_l1_dual_obj ip x y eps (al, ah) - \sum_i ((4%:R * cost c (inl i))^-1 * al i ^+ 2 + (4%:R * cost c (inr i))^-1 * ah i ^+ 2).
Definition svr_l2_weighted_kkt (p : point) (q : pair_of) := let: (w, b, xi, xh) := p in let: (al, ah) := q in
  [/\ svr_weighted_feas (w, b, xi, xh), svr_l2_weighted_dual_feas (al, ah), ip (w - svr_w x (al, ah)) (w - svr_w x (al, ah)) = 0,
      forall i, al i * (eps + xi i - y i + ip w (x i) + b) = 0 /\ ah i * (eps + xh i + y i - ip w (x i) - b) = 0
    & forall k m, c k = Some m -> both al ah k = 2%:R * m * both xi xh k].

Hypothesis c0 : forall k m, c k = Some m -> 0 <= m.
Let rows (p : point) : V * R * (I + I -> R) := let: (w, b, xi, xh) := p in (w, b, both xi xh).
Let multipliers (p : pair_of) : I + I -> R := both p.1 p.2.
Lemma bothK (f : I + I -> R) k : both (above f) (below f) k = f k. Proof. by case: k. Qed.

Lemma svr_weighted_feasE w b xi : svr_weighted_feas (w, b, above xi, below xi) <-> weighted_feas ip a g r c (w, b, xi).
Proof. by split=> -[/softP F h]; split=> // k e; [rewrite -(h k e) bothK|rewrite bothK; exact: h]. Qed.
Lemma svr_weighted_dual_feasE al : svr_weighted_dual_feas (above al, below al) <-> weighted_dual_feas g c al.
Proof. by split=> -[/svr_balancedE b h]; split=> // k; have := h k; rewrite bothK. Qed.
Lemma svr_l2_weighted_dual_feasE al : svr_l2_weighted_dual_feas (above al, below al) <-> weighted_l2_dual_feas g c al.
Proof. by split=> -[/svr_balancedE b h]; split=> // k; have := h k; rewrite bothK. Qed.
Lemma sidesE w b xi al : (forall i, al (inl i) * (eps + xi (inl i) - y i + ip w (x i) + b) = 0 /\
  al (inr i) * (eps + xi (inr i) + y i - ip w (x i) - b) = 0) <-> forall k, al k * slack ip a g r w b xi k = 0.
Proof.
split=> [h [i|i]|h i]; first by have [] := h i; rewrite (aboveE ip x y eps w b xi).
  by have [] := h i; rewrite (belowE ip x y eps w b xi).
by rewrite (aboveE ip x y eps w b xi) (belowE ip x y eps w b xi); split; [exact: (h (inl i))|exact: (h (inr i))].
Qed.

Theorem svr_l1_weighted_duality : (exists t, svr_weighted_feas t) ->
  strong_duality svr_weighted_feas svr_weighted_obj svr_weighted_dual_feas (svr_l1_dual_obj ip x y eps) svr_weighted_kkt.
Proof.
have KE w b xi al : svr_weighted_kkt (w, b, above xi, below xi) (above al, below al) <-> weighted_kkt ip a g r c (w, b, xi) al.
  rewrite /svr_weighted_kkt /weighted_kkt svr_wE; split; case=> h1 h2 h3 /sidesE h4 h5; split=> //;
    try exact/svr_weighted_feasE; try exact/svr_weighted_dual_feasE; by move=> k m e; have := h5 k m e; rewrite !bothK.
case=> -[[[w0 b0] xi0] xh0] F; have {F} F : weighted_feas ip a g r c (w0, b0, both xi0 xh0) by exact/svr_weighted_feasE.
apply: (strong_duality_transfer (weighted_pair ip a g r c) (f := rows) (h := multipliers)) _ _ _ (weighted_duality c0 _) => //.
- by case=> -[[w b] xi] xh h; exact/svr_weighted_feasE.
- by case=> -[[w b] xi] xh; rewrite /weighted_obj /= big_sumType /= big_split.
- by case=> al ah h; exact/svr_weighted_dual_feasE.
- by case=> al ah; rewrite /weighted_dual_obj -svr_dual_valueE.
- move=> [[[w b] xi] xh] [al ah]; have E := KE w b (both xi xh) (both al ah).
  by split=> [K|[_ _ /E]//]; case: (K) => h1 h2 _ _ _; split=> //; exact/E.
- by case=> -[w b] xi al /KE K; exists (w, b, above xi, below xi), (above al, below al).
- by exists (w0, b0, both xi0 xh0).
Qed.
Theorem svr_l2_weighted_duality : (exists t, svr_weighted_feas t) ->
  strong_duality svr_weighted_feas svr_l2_weighted_obj svr_l2_weighted_dual_feas svr_l2_weighted_dual_obj svr_l2_weighted_kkt.
Proof.
have KE w b xi al : svr_l2_weighted_kkt (w, b, above xi, below xi) (above al, below al) <-> weighted_l2_kkt ip a g r c (w, b, xi) al.
  rewrite /svr_l2_weighted_kkt /weighted_l2_kkt svr_wE; split; case=> h1 h2 h3 /sidesE h4 h5; split=> //;
    try exact/svr_weighted_feasE; try exact/svr_l2_weighted_dual_feasE; by move=> k m e; have := h5 k m e; rewrite !bothK.
case=> -[[[w0 b0] xi0] xh0] F; have {F} F : weighted_feas ip a g r c (w0, b0, both xi0 xh0) by exact/svr_weighted_feasE.
apply: (strong_duality_transfer (weighted_l2_pair ip a g r c0) (f := rows) (h := multipliers)) _ _ _ (weighted_l2_duality c0 _) => //.
- by case=> -[[w b] xi] xh h; exact/svr_weighted_feasE.
- by case=> -[[w b] xi] xh; rewrite /weighted_l2_obj /= big_sumType /= big_split.
- by case=> al ah h; exact/svr_l2_weighted_dual_feasE.
- by case=> al ah; rewrite /weighted_l2_dual_obj -svr_dual_valueE big_sumType /= -big_split.
- move=> [[[w b] xi] xh] [al ah]; have E := KE w b (both xi xh) (both al ah).
  by split=> [K|[_ _ /E]//]; case: (K) => h1 h2 _ _ _; split=> //; exact/E.
- by case=> -[w b] xi al /KE K; exists (w, b, above xi, below xi), (above al, below al).
- by exists (w0, b0, both xi0 xh0).
Qed.
End Regression.
