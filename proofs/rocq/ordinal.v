(** * Ordinal regression: thresholds between levels

    Variables are w, of points x_i, and thresholds b_t; row p is s_p (<w, x_{i_p}> - b_{t_p}) >= 1 - xi_p. ord.implicit has a row for each point
    and each threshold, ord.explicit only rows for a point and the thresholds next to its level.

    [ord_pair], [ord_l2_pair]           for any rows the gap is a sum of nonnegative terms: weak duality, and gap 0 exactly if KKT holds
    [ord_implicit_two_levels]           with two levels, ord.implicit and svm.soft have the same optimum
    [ord_implicit_order]                optimal thresholds of ord.implicit are in order, if the level between them has a point
    [ord_implicit_l2_order]             optimal thresholds for squared slacks are, too
    [ord_implicit_l2_strict]            and are never equal
    [ord_hard_is_rank_hard]             2w has thresholds that satisfy all hard rows if and only if w satisfies all pairs; its objective is 4 times as large
    [ord_pair_slacks]                   the hinge of a pair, of margin 2, is at most the sum of its points' slacks at any threshold between their levels *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From equimargin Require Import inner optimum qp margin representer svm svr ranksvm.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Machine.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (P T : finType) (a : P -> V) (t : P -> T) (s : P -> R) (C : R).
Implicit Types (w : V) (b : T -> R) (xi al : P -> R).
Let point : Type := (V * (T -> R) * (P -> R))%type.

Definition ord_margin w b p := s p * (ip w (a p) - b (t p)).
Definition ord_feas (z : point) := let: (w, b, xi) := z in forall p, 0 <= xi p /\ 1 - xi p <= ord_margin w b p.
Definition ord_obj (z : point) := let: (w, b, xi) := z in 2%:R^-1 * ip w w + C * (\sum_p xi p).
Definition ord_l2_obj (z : point) := let: (w, b, xi) := z in 2%:R^-1 * ip w w + C * (\sum_p xi p ^+ 2).
Definition ord_w al : V := \sum_p (al p * s p) *: a p.
Definition ord_balanced al := forall u, \sum_(p | t p == u) s p * al p = 0.
Definition ord_dual_feas al := ord_balanced al /\ forall p, 0 <= al p <= C.
Definition ord_dual_obj al := \sum_p al p - 2%:R^-1 * ip (ord_w al) (ord_w al).
Definition ord_l2_dual_feas al := ord_balanced al /\ forall p, 0 <= al p.
Definition ord_l2_dual_obj al := ord_dual_obj al - (4%:R * C)^-1 * (\sum_p al p ^+ 2).
Definition ord_kkt (z : point) al := let: (w, b, xi) := z in [/\ ord_feas z, ord_dual_feas al, ip (w - ord_w al) (w - ord_w al) = 0,
  forall p, al p * (ord_margin w b p - 1 + xi p) = 0 & forall p, (C - al p) * xi p = 0].
Definition ord_l2_kkt (z : point) al := let: (w, b, xi) := z in [/\ ord_feas z, ord_l2_dual_feas al, ip (w - ord_w al) (w - ord_w al) = 0,
  forall p, al p * (ord_margin w b p - 1 + xi p) = 0 & forall p, al p = 2%:R * C * xi p].

Lemma ip_ord_w w al : ip w (ord_w al) = \sum_p al p * (s p * ip w (a p)).
Proof. by rewrite ip_sumr; apply: eq_bigr => p _; rewrite ip_scaler mulrA. Qed.
Lemma balanced_thresholds al b : ord_balanced al -> \sum_p al p * (s p * b (t p)) = 0.
Proof.
move=> bal; rewrite (partition_big t xpredT) //= big1 // => u _.
transitivity ((\sum_(p | t p == u) s p * al p) * b u); last by rewrite bal mul0r.
by rewrite mulr_suml; apply: eq_bigr => p /eqP <-; ring.
Qed.

(** The gap without the costs of slacks, for any w, b, xi and any balanced al. *)
Lemma ord_gap_identity w b xi al : ord_balanced al -> 2%:R^-1 * ip w w - ord_dual_obj al =
  2%:R^-1 * ip (w - ord_w al) (w - ord_w al) + \sum_p al p * (ord_margin w b p - 1 + xi p) - \sum_p al p * xi p.
Proof.
move=> bal; rewrite /ord_dual_obj.
have -> : \sum_p al p * (ord_margin w b p - 1 + xi p) = ip w (ord_w al) - \sum_p al p + \sum_p al p * xi p.
  have e p : al p * (ord_margin w b p - 1 + xi p) = al p * (s p * ip w (a p)) - al p * (s p * b (t p)) - al p + al p * xi p.
    by rewrite /ord_margin; ring.
  by rewrite (eq_bigr _ (fun p _ => e p)) !big_split /= !sumrN balanced_thresholds // oppr0 addr0 -ip_ord_w.
by rewrite ipBl !ipBr (ip_sym _ (ord_w al) w); move: (\sum_p _) (\sum_p _) => u v; field.
Qed.

Lemma square_ge0 w al : 0 <= 2%:R^-1 * ip (w - ord_w al) (w - ord_w al).
Proof. by rewrite mulr_ge0 ?half_ge0 ?ip_ge0. Qed.
Lemma rows_ge0 w b xi al p : ord_feas (w, b, xi) -> 0 <= al p -> 0 <= al p * (ord_margin w b p - 1 + xi p).
Proof.
move=> F D; have [_] := F p; rewrite -subr_ge0 => m; rewrite mulr_ge0 //.
by have -> : ord_margin w b p - 1 + xi p = ord_margin w b p - (1 - xi p) by ring.
Qed.

Theorem ord_pair : dual_pair ord_feas ord_obj ord_dual_feas ord_dual_obj ord_kkt.
Proof.
have gap w b xi al : ord_balanced al -> ord_obj (w, b, xi) - ord_dual_obj al =
    2%:R^-1 * ip (w - ord_w al) (w - ord_w al) + \sum_p al p * (ord_margin w b p - 1 + xi p) + \sum_p (C - al p) * xi p.
  move=> bal; rewrite /ord_obj addrAC (ord_gap_identity w b xi bal).
  have -> : \sum_p (C - al p) * xi p = C * (\sum_p xi p) - \sum_p al p * xi p.
    by rewrite mulr_sumr -sumrB; apply: eq_bigr => p _; rewrite mulrBl.
  by rewrite -addrA; congr (_ + _); rewrite addrC.
have pos w b xi al p : ord_feas (w, b, xi) -> ord_dual_feas al -> 0 <= (C - al p) * xi p.
  by move=> F [_ D]; have /andP[_ h] := D p; have [x0 _] := F p; rewrite mulr_ge0 ?subr_ge0.
have row w b xi al p : ord_feas (w, b, xi) -> ord_dual_feas al -> 0 <= al p * (ord_margin w b p - 1 + xi p).
  by move=> F [_ D]; have /andP[h _] := D p; exact: rows_ge0.
split.
- move=> [[w b] xi] al F D; have [bal _] := D; rewrite -subr_ge0 gap //.
  by rewrite !addr_ge0 ?square_ge0 ?sumr_ge0 // => p _; [exact: row|exact: (pos w b)].
- move=> [[w b] xi] al F D; have [bal _] := D => /eqP; rewrite -subr_eq0 gap //.
  have r p := row _ _ _ _ p F D; have q p := pos _ _ _ _ p F D.
  rewrite paddr_eq0 ?addr_ge0 ?square_ge0 ?sumr_ge0 // paddr_eq0 ?square_ge0 ?sumr_ge0 // => /andP[/andP[/eqP e1]].
  rewrite !psumr_eq0 // => /allP e2 /allP e3; split=> //.
  + by apply/eqP; move/eqP: e1; rewrite mulf_eq0 (negPf (half_neq0 R)).
  + by move=> p; apply/eqP; apply: e2 (mem_index_enum p).
  + by move=> p; apply/eqP; apply: e3 (mem_index_enum p).
- by move=> [[w b] xi] al [].
- move=> [[w b] xi] al [_ [bal _] e1 e2 e3]; apply/eqP; rewrite -subr_eq0 gap // e1 mulr0 add0r.
  by rewrite !big1 ?addr0.
Qed.

Theorem ord_l2_pair : 0 < C -> dual_pair ord_feas ord_l2_obj ord_l2_dual_feas ord_l2_dual_obj ord_l2_kkt.
Proof.
move=> C0; have C1 : C != 0 by rewrite gt_eqF.
have gap w b xi al : ord_balanced al -> ord_l2_obj (w, b, xi) - ord_l2_dual_obj al = 2%:R^-1 * ip (w - ord_w al) (w - ord_w al) +
    \sum_p al p * (ord_margin w b p - 1 + xi p) + \sum_p (4%:R * C)^-1 * (al p - 2%:R * C * xi p) ^+ 2.
  move=> bal; have -> : ord_l2_obj (w, b, xi) - ord_l2_dual_obj al =
      2%:R^-1 * ip w w - ord_dual_obj al + (C * (\sum_p xi p ^+ 2) + (4%:R * C)^-1 * (\sum_p al p ^+ 2)).
    by rewrite /ord_l2_obj /ord_l2_dual_obj; move: (ord_dual_obj al) (\sum_p xi p ^+ 2) (\sum_p al p ^+ 2) => d u v; ring.
  rewrite (ord_gap_identity w b xi bal).
  have -> : \sum_p (4%:R * C)^-1 * (al p - 2%:R * C * xi p) ^+ 2 =
    C * (\sum_p xi p ^+ 2) + (4%:R * C)^-1 * (\sum_p al p ^+ 2) - \sum_p al p * xi p.
    rewrite !mulr_sumr -big_split -sumrB /=; by apply: eq_bigr => p _; field; rewrite ?pnatr_eq0 ?C1.
  by move: (\sum_p _) (\sum_p _) => u v; ring.
have k0 : 0 < (4%:R * C)^-1 by rewrite invr_gt0 mulr_gt0 ?ltr0n.
have pos xi al p : 0 <= (4%:R * C)^-1 * (al p - 2%:R * C * xi p) ^+ 2 by rewrite mulr_ge0 ?sqr_ge0 // ltW.
have row w b xi al p : ord_feas (w, b, xi) -> ord_l2_dual_feas al -> 0 <= al p * (ord_margin w b p - 1 + xi p).
  by move=> F [_ D]; exact: rows_ge0.
split.
- move=> [[w b] xi] al F D; have [bal _] := D; rewrite -subr_ge0 gap //.
  by rewrite !addr_ge0 ?square_ge0 ?sumr_ge0 // => p _; exact: row.
- move=> [[w b] xi] al F D; have [bal _] := D => /eqP; rewrite -subr_eq0 gap //.
  have r p := row _ _ _ _ p F D.
  rewrite paddr_eq0 ?addr_ge0 ?square_ge0 ?sumr_ge0 // paddr_eq0 ?square_ge0 ?sumr_ge0 // => /andP[/andP[/eqP e1]].
  rewrite !psumr_eq0 // => /allP e2 /allP e3; split=> //.
  + by apply/eqP; move/eqP: e1; rewrite mulf_eq0 (negPf (half_neq0 R)).
  + by move=> p; apply/eqP; apply: e2 (mem_index_enum p).
  + by move=> p; have := e3 p (mem_index_enum p); rewrite /= mulf_eq0 gt_eqF //= sqrf_eq0 subr_eq0 => /eqP.
- by move=> [[w b] xi] al [].
- move=> [[w b] xi] al [_ [bal _] e1 e2 e3]; apply/eqP; rewrite -subr_eq0 gap // e1 mulr0 add0r big1 // add0r.
  by rewrite big1 // => p _; rewrite e3 subrr expr0n mulr0.
Qed.
End Machine.

(** ** The hinge *)
Section Hinges.
Variable R : realFieldType.
Implicit Types u v : R.
Lemma hinge_le u v : u <= v -> Num.max 0 u <= Num.max 0 v.
Proof. by move=> uv; rewrite le_maxl !le_maxr lexx uv orbT. Qed.
Lemma hinge_lt u v : u < v -> 0 < v -> Num.max 0 u < Num.max 0 v.
Proof. by move=> uv v0; rewrite (max_r (ltW v0)) lt_maxl v0 uv. Qed.
Lemma square_hinge_le u v : u <= v -> Num.max 0 u ^+ 2 <= Num.max 0 v ^+ 2.
Proof. by move=> uv; rewrite ler_sqr ?hinge_le // nnegrE le_maxr lexx. Qed.
Lemma square_hinge_lt u v : u < v -> 0 < v -> Num.max 0 u ^+ 2 < Num.max 0 v ^+ 2.
Proof. by move=> uv v0; rewrite ltr_sqr ?hinge_lt // nnegrE le_maxr lexx. Qed.
(** The loss of a point at the threshold above its level, minus that at the threshold below, increases with its value. *)
Lemma between_rises (phi : R -> R) : (forall u v, u <= v -> phi u <= phi v) -> (forall u v, u < v -> 0 < v -> phi u < phi v) ->
  forall u v, u < v -> phi (1 + u) - phi (1 - u) < phi (1 + v) - phi (1 - v).
Proof.
move=> phi_le phi_lt u v uv; rewrite ltr_subl_addr addrAC ltr_subr_addr.
have le : phi (1 + u) <= phi (1 + v) by apply: phi_le; rewrite ler_add2l ltW.
have le' : phi (1 - v) <= phi (1 - u) by apply: phi_le; rewrite ler_add2l ler_opp2 ltW.
have [h|h] := boolP (0 < 1 + v).
  by apply: (ltr_le_add _ le'); apply: (phi_lt _ _ _ h); rewrite ltr_add2l.
rewrite -leNgt in h; apply: (ler_lt_add le); apply: phi_lt; first by rewrite ltr_add2l ltr_opp2.
rewrite subr_gt0 (lt_le_trans uv) // -subr_ge0; apply: (le_trans (ler01 : 0 <= 1 :> R)).
by rewrite ler_addl oppr_ge0; apply: le_trans h; rewrite ler_addr ler01.
Qed.
End Hinges.

(** ** Levels: all thresholds *)
Section Levels.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (I : finType) (l : nat) (x : I -> V) (y : I -> 'I_l.+1) (C : R).
Implicit Types (w : V) (b : 'I_l -> R).
Definition above (k : 'I_l) : pred I := fun i => (k < y i)%N.
Definition side i k : R := if above k i then 1 else -1.
Definition implicit_feas := ord_feas ip (fun p : I * 'I_l => x p.1) snd (fun p => side p.1 p.2).
Definition implicit_obj := @ord_obj R V ip [finType of I * 'I_l] [finType of 'I_l] C.
Definition ord_hard_feas (z : V * ('I_l -> R)) := forall i k, 1 <= side i k * (ip z.1 (x i) - z.2 k).
Definition ord_hard_obj (z : V * ('I_l -> R)) := 2%:R^-1 * ip z.1 z.1.
(** The losses phi at threshold k, if it is c, of a function with values f; hinge losses; squared hinge losses. *)
Definition loss_of (phi : R -> R) (f : I -> R) (k : 'I_l) (c : R) := \sum_i phi (1 - side i k * (f i - c)).
Definition loss := loss_of (Num.max 0).
Definition square_loss := loss_of (fun u => Num.max 0 u ^+ 2).

Lemma losses_in_order phi (f : I -> R) (k k' : 'I_l) (c c' : R) :
  (forall u v, u < v -> phi (1 + u) - phi (1 - u) < phi (1 + v) - phi (1 - v)) -> k' = k.+1 :> nat -> (exists i, y i = k.+1 :> nat) ->
  (forall d, loss_of phi f k c <= loss_of phi f k d) -> (forall d, loss_of phi f k' c' <= loss_of phi f k' d) -> c <= c'.
Proof.
move=> rises e [j yj] best best'; rewrite leNgt; apply/negP => cc.
pose g i d := phi (1 - side i k' * (f i - d)) - phi (1 - side i k * (f i - d)).
have gE d : \sum_i g i d = loss_of phi f k' d - loss_of phi f k d by rewrite /loss_of -sumrB.
have mid i d : above k i -> ~~ above k' i -> g i d = phi (1 + (f i - d)) - phi (1 - (f i - d)).
  by move=> a /negPf n; rewrite /g /side a n mulN1r opprK mul1r.
have falls i : g i c <= g i c'.
  have [a|n] := boolP (above k i); last first.
    have n' : ~~ above k' i by move: n; rewrite /above e -!leqNgt => h; exact: leq_trans h (leqnSn _).
    by rewrite /g /side (negPf n) (negPf n') !subrr.
  have [a'|n'] := boolP (above k' i); first by rewrite /g /side a a' !subrr.
  by rewrite !mid // ltW // rises // ltr_add2l ltr_opp2.
have strictly : g j c < g j c'.
  have a : above k j by rewrite /above yj.
  have n' : ~~ above k' j by rewrite /above yj e ltnn.
  by rewrite !mid // rises // ltr_add2l ltr_opp2.
have : \sum_i g i c < \sum_i g i c'.
  by rewrite (bigD1 j) //= [X in _ < X](bigD1 j) //= ltr_le_add // ler_sum.
by rewrite !gE ltNge ler_sub // ?best ?best'.
Qed.

Theorem ord_implicit_order (f : I -> R) (k k' : 'I_l) (c c' : R) : k' = k.+1 :> nat -> (exists i, y i = k.+1 :> nat) ->
  (forall d, loss f k c <= loss f k d) -> (forall d, loss f k' c' <= loss f k' d) -> c <= c'.
Proof. exact: (losses_in_order (phi := Num.max 0) (between_rises (@hinge_le R) (@hinge_lt R))). Qed.
Theorem ord_implicit_l2_order (f : I -> R) (k k' : 'I_l) (c c' : R) : k' = k.+1 :> nat -> (exists i, y i = k.+1 :> nat) ->
  (forall d, square_loss f k c <= square_loss f k d) -> (forall d, square_loss f k' c' <= square_loss f k' d) -> c <= c'.
Proof.
exact: (losses_in_order (phi := fun u => Num.max 0 u ^+ 2) (between_rises (phi := fun u => Num.max 0 u ^+ 2)
  (@square_hinge_le R) (@square_hinge_lt R))).
Qed.

(** The squared hinge is above its tangents, by at most the square of the step. *)
Lemma tangent_above (u h : R) : Num.max 0 (u + h) ^+ 2 <= Num.max 0 u ^+ 2 + 2%:R * h * Num.max 0 u + h ^+ 2.
Proof.
have -> : Num.max 0 u ^+ 2 + 2%:R * h * Num.max 0 u + h ^+ 2 = (Num.max 0 u + h) ^+ 2 by ring.
case: (lerP (u + h) 0) => [_|p]; first by rewrite expr0n sqr_ge0.
by rewrite ler_sqr ?nnegrE ?(ltW p) // ?ler_add2r ?le_maxr ?lexx ?orbT //; apply: le_trans (ltW p) _; rewrite ler_add2r le_maxr lexx orbT.
Qed.
Definition square_slope (f : I -> R) (k : 'I_l) (c : R) := \sum_i side i k * Num.max 0 (1 - side i k * (f i - c)).
Lemma side_sqr i k : side i k ^+ 2 = 1.
Proof. by rewrite /side; case: ifP => _; rewrite ?sqrrN expr1n. Qed.
Lemma best_slope (f : I -> R) (k : 'I_l) (c : R) : (forall d, square_loss f k c <= square_loss f k d) -> square_slope f k c = 0.
Proof.
move=> best; have step h : 0 <= 2%:R * h * square_slope f k c + h ^+ 2 * #|I|%:R.
  rewrite -(ler_add2l (square_loss f k c)) addr0; apply: le_trans (best (c + h)) _.
  have -> : h ^+ 2 * #|I|%:R = \sum_(i : I) h ^+ 2 by rewrite sumr_const mulr_natr.
  rewrite /square_loss /loss_of /square_slope mulr_sumr -!big_split /=; apply: ler_sum => i _.
  have -> : 1 - side i k * (f i - (c + h)) = 1 - side i k * (f i - c) + side i k * h by ring.
  apply: le_trans (tangent_above _ _) _; rewrite le_eqVlt; apply/orP; left; apply/eqP.
  by rewrite exprMn side_sqr mul1r; ring.
have n0 : 0 <= #|I|%:R :> R by exact: ler0n.
move: (square_slope f k c) (#|I|%:R) n0 step => D n n0 step; apply/eqP/negPn/negP => nz.
have N0 : 0 < 1 + n by rewrite ltr_paddr ?ltr01.
have := step (- D / (1 + n)); have -> : 2%:R * (- D / (1 + n)) * D + (- D / (1 + n)) ^+ 2 * n = - (D ^+ 2 * (2%:R + n) / (1 + n) ^+ 2).
  by field; rewrite gt_eqF.
have p1 : 0 < D ^+ 2 by rewrite exprn_even_gt0.
have p2 : 0 < 2%:R + n by rewrite ltr_spaddl ?ltr0n.
have p3 : 0 < D ^+ 2 * (2%:R + n) / (1 + n) ^+ 2 by apply: divr_gt0; [exact: mulr_gt0|exact: exprn_gt0].
by rewrite oppr_ge0 => le; have := lt_le_trans p3 le; rewrite ltxx.
Qed.
Theorem ord_implicit_l2_strict (f : I -> R) (k k' : 'I_l) (c c' : R) : k' = k.+1 :> nat -> (exists i, y i = k.+1 :> nat) ->
  (forall d, square_loss f k c <= square_loss f k d) -> (forall d, square_loss f k' c' <= square_loss f k' d) -> c < c'.
Proof.
move=> e ex best best'; rewrite lt_neqAle (ord_implicit_l2_order e ex best best') andbT; apply/eqP => cc.
rewrite -cc in best'; have [j yj] := ex.
have pos i : 0 <= side i k * Num.max 0 (1 - side i k * (f i - c)) - side i k' * Num.max 0 (1 - side i k' * (f i - c)).
  have [a|n] := boolP (above k i); last first.
    have n' : ~~ above k' i by move: n; rewrite /above e -!leqNgt => h; exact: leq_trans h (leqnSn _).
    by rewrite /side (negPf n) (negPf n') subrr.
  have [a'|n'] := boolP (above k' i); first by rewrite /side a a' subrr.
  by rewrite /side a (negPf n') mul1r mulN1r opprK addr_ge0 // le_maxr lexx.
have : 0 < square_slope f k c - square_slope f k' c.
  rewrite /square_slope -sumrB (bigD1 j) //= ltr_spaddl ?sumr_ge0 //.
  have a : above k j by rewrite /above yj.
  have n' : ~~ above k' j by rewrite /above yj e ltnn.
  rewrite /side a (negPf n') !mul1r !mulN1r opprK; set v := f j - c.
  have h : 2%:R <= Num.max 0 (1 - v) + Num.max 0 (1 - - v).
    have -> : 2%:R = (1 - v) + (1 - - v) by ring.
    by rewrite ler_add // le_maxr lexx orbT.
  by apply: lt_le_trans h; rewrite ltr0n.
by rewrite (best_slope best) (best_slope best') subrr ltxx.
Qed.

Theorem ord_pair_slacks w b xi i j k : implicit_feas (w, b, xi) -> above k i -> ~~ above k j ->
  Num.max 0 (2%:R - (ip w (x i) - ip w (x j))) <= xi (i, k) + xi (j, k).
Proof.
move=> F ai /negPf nj; have [xi0 mi] := F (i, k); have [xj0 mj] := F (j, k).
rewrite le_maxl addr_ge0 //=; have := ler_add mi mj; rewrite /ord_margin /side /= ai nj mul1r mulN1r -subr_ge0 => h.
by rewrite -subr_ge0; apply: le_trans h _; rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
Qed.

Theorem ord_hard_is_rank_hard (P : finType) (hi lo : P -> I) :
  (forall i j, (y j < y i)%N -> exists p, hi p = i /\ lo p = j) -> (forall p, (y (lo p) < y (hi p))%N) -> forall w,
  (rank_hard_primal_feas ip x hi lo w <-> exists b, ord_hard_feas (2%:R *: w, b)) /\
  forall b, ord_hard_obj (2%:R *: w, b) = 4%:R * rank_hard_primal_obj ip w.
Proof.
move=> all some w; split; last by move=> b; rewrite /ord_hard_obj /= ip_scalel ip_scaler /rank_hard_primal_obj; field.
split=> [F|[b F] p]; last first.
  have lt : (y (lo p) < l)%N by apply: leq_trans (some p) _; rewrite -ltnS.
  have := ler_add (F (hi p) (Ordinal lt)) (F (lo p) (Ordinal lt)); rewrite /side /above /= some ltnn mul1r mulN1r !ip_scalel ipBr.
  move: (ip w _) (ip w _) => v u; have -> : 2%:R * u - b (Ordinal lt) + - (2%:R * v - b (Ordinal lt)) = 2%:R * (u - v) by ring.
  by rewrite -mulr2n ler_pmulr ?ltr0n.
have at_k (k : 'I_l) : exists c, forall i, 1 <= side i k * (ip (2%:R *: w) (x i) - c).
  pose Q := {p : P | above k (hi p) && ~~ above k (lo p)}.
  have [] := @rank_hard_is_svm_hard R V ip I x [finType of Q] (fun q => hi (val q)) (fun q => lo (val q)) (above k) _ _ w.
  - move=> i j ai nj; have lt : (y j < y i)%N by move: nj; rewrite /above -leqNgt => h; exact: leq_ltn_trans h ai.
    have [p [hp lp]] := all i j lt.
    have ok : above k (hi p) && ~~ above k (lo p) by rewrite hp lp ai nj.
    by exists (exist _ p ok).
  - by case=> p /= /andP[].
  - by move=> [/(_ (fun q => F (val q))) [c Fc] _] _; exists c => i; exact: Fc.
by have [b Fb] := fin_all_exists at_k; exists b => i k; exact: Fb.
Qed.
End Levels.

(** With two levels there is one threshold, and the rows are those of classification. *)
Theorem ord_implicit_two_levels (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (I : finType) (x : I -> V) (y : I -> 'I_2) (C v : R) :
  minimum (implicit_feas ip x y) (implicit_obj ip C) v <->
  minimum (svm_soft_primal_feas ip x (fun i => side R y i ord0)) (svm_soft_primal_obj ip C) v.
Proof.
have one (F : I * 'I_1 -> R) : \sum_p F p = \sum_i F (i, ord0).
  have -> : \sum_p F p = \sum_p F (p.1, p.2) by apply: eq_bigr => -[i k].
  by rewrite -(pair_bigA _ (fun i k => F (i, k))) /=; apply: eq_bigr => i _; rewrite big_ord1.
apply: minimum_iff => [[[w b] xi] F|[[w c] xi] F].
  exists (w, b ord0, fun i => xi (i, ord0)); last by rewrite /implicit_obj /ord_obj /svm_soft_primal_obj one.
  by move=> i; have := F (i, ord0).
exists (w, (fun=> c), fun p => xi p.1); last by rewrite /implicit_obj /ord_obj /svm_soft_primal_obj one.
by case=> i k; rewrite (ord1 k); have := F i.
Qed.
