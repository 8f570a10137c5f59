(** * The reduced preference graph bounds all pairs: document P, section 4

    A point i belongs to a query q_i and a level y_i, counted from 0 without gaps; one point of each level is chosen as its maximum. The reduced graph
    has the pairs (maximum, other point) of every level but the highest, and the pairs (point, maximum of the level below). Its optimum differs from
    that of all pairs ([rank_reduced_is_not_rank_l1]); at kappa times the cost its loss bounds that of all pairs for every f, where kappa is the maximum,
    over the edges, of the number of pairs whose path in the graph contains the edge.

    [full_below_paths]       (u_ij)_+ <= the sum of (u_e)_+ over the edges of the path from i down to j
    [full_below_congestion]  the sum over all pairs <= the sum over the edges, each times the number of paths that contain it
    [full_below_reduced]     hence <= kappa times the loss of the reduced graph, for every f
    [rank_l1_below_reduced]  so the optimum over all pairs at C is at most that over the reduced graph at kappa C
    [rank_l1_below_reduced_two_levels]  with two levels and one query, the number of points of the larger level serves as kappa
    [reduced_meets_all]      an f without loss on the reduced graph has none on all pairs *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From equimargin Require Import inner optimum qp margin representer svm ranksvm.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Graph.
Variables (I Q : finType) (q : I -> Q) (y : I -> nat) (top : Q -> nat -> I).
Implicit Types (i j k : I) (p : I * I).

(** Whether a point is the maximum of its level, or in the highest level of its query. *)
Definition is_top i := i == top (q i) (y i).
Definition highest i := [forall j, (q j == q i) ==> (y j <= y i)%N].
Definition all_pairs p := (q p.1 == q p.2) && (y p.2 < y p.1)%N.
Definition within p := [&& q p.1 == q p.2, y p.1 == y p.2, is_top p.1, ~~ highest p.1 & p.1 != p.2].
Definition between p := [&& q p.1 == q p.2, y p.1 == (y p.2).+1 & is_top p.2].
Definition reduced p := within p || between p.

(** The numbers of points of the query in lower and in higher levels, and that of paths that contain an edge. *)
Definition below i := #|[pred j | (q j == q i) && (y j < y i)%N]|.
Definition beyond i := #|[pred j | (q j == q i) && (y i < y j)%N]|.
Definition congestion p : nat := (if y p.1 == y p.2 then beyond p.1 else if is_top p.1 then below p.1 * (beyond p.1).+1 else below p.1)%N.
Definition kappa : nat := \max_(p | reduced p) congestion p.

(** The maximum of a level belongs to it, and a query with a point of some level has points of all lower levels. *)
Hypothesis tops : forall i l, (l <= y i)%N -> q (top (q i) l) = q i /\ y (top (q i) l) = l.

Lemma kappa_two_levels : (forall i, (y i <= 1)%N) -> (kappa <= maxn #|[pred i | y i == 1%N]| #|[pred i | y i == 0%N]|)%N.
Proof.
move=> two; apply/bigmax_leqP => p r; rewrite leq_max.
have high : (beyond p.1 <= #|[pred i | y i == 1%N]|)%N.
  apply: subset_leq_card; apply/subsetP => i; rewrite !inE => /andP[_ lt].
  by rewrite eqn_leq two (leq_ltn_trans (leq0n _) lt).
rewrite /congestion; case: eqP r => [_ _|ne /orP[/and5P[_ /eqP //]|/and3P[_ /eqP yy _]]]; first by rewrite high.
have y1 : y p.1 = 1%N by apply/eqP; rewrite eqn_leq two yy.
have -> : beyond p.1 = 0%N by apply: eq_card0 => i; rewrite !inE y1 ltnNge two andbF.
rewrite muln1 if_same orbC (subset_leq_card (_ : _ \subset _)) //.
by apply/subsetP => i; rewrite !inE y1 ltnS leqn0 => /andP[].
Qed.

Section Loss.
Variables (R : realFieldType) (f : I -> R).
Definition hinge p : R := Num.max 0 (1 - f p.1 + f p.2).
Lemma hinge_ge0 p : 0 <= hinge p. Proof. by rewrite le_maxr lexx. Qed.
Lemma hinge_ge p : 1 - f p.1 + f p.2 <= hinge p. Proof. by rewrite le_maxr lexx orbT. Qed.

(** The first edge of the paths from i, and the last of those to j, which is none if j is the maximum of its level. *)
Definition first i : R := hinge (i, top (q i) (y i).-1).
Definition last j : R := if is_top j then 0 else hinge (top (q j) (y j), j).
Lemma first_ge0 i : 0 <= first i. Proof. exact: hinge_ge0. Qed.
Lemma last_ge0 j : 0 <= last j. Proof. by rewrite /last; case: ifP => // _; exact: hinge_ge0. Qed.
(** The maxima on the path from a point of query u and level n down to level a, between the ends. *)
Definition stops u (a n : nat) k := [&& is_top k, q k == u, (a < y k)%N & (y k < n)%N].

Lemma path_to_top u a n i : q i = u -> y i = n -> (a < n)%N -> 1 - f i + f (top u a) <= first i + \sum_(k | stops u a n k) first k.
Proof.
elim: n i => // n IH i qi yi; rewrite ltnS leq_eqVlt => /orP[/eqP an|an].
  rewrite -[X in X <= _]addr0 ler_add //; last by rewrite sumr_ge0 // => k _; exact: first_ge0.
  by rewrite /first yi /= -an qi; exact: (hinge_ge (i, top u a)).
have [qt yt] : q (top u n) = u /\ y (top u n) = n by rewrite -qi; apply: tops; rewrite yi leqnSn.
set t := top u n in qt yt; have st : stops u a n.+1 t by rewrite /stops /is_top qt yt -/t !eqxx an ltnSn.
rewrite (bigD1 t) //= (eq_bigl (stops u a n)); last first.
  move=> k; rewrite /stops ltnS (leq_eqVlt (y k)); case: (boolP (is_top k)) => //= /eqP tk; case: eqP => //= qk.
  case: eqP => [yk|/eqP ne] /=; first by rewrite yk ltnn andbT andbF [k]tk qk yk -/t eqxx andbF.
  by case: (a < y k)%N => //=; case: (y k < n)%N => //=; apply/negP => /eqP kt; move: ne; rewrite kt yt eqxx.
have h1 : 1 - f i + f t <= first i by rewrite /first yi qi; exact: (hinge_ge (i, t)).
apply: le_trans (ler_add h1 (IH t qt yt an)); rewrite -subr_ge0.
have -> : 1 - f i + f t + (1 - f t + f (top u a)) - (1 - f i + f (top u a)) = 1 by ring.
exact: ler01.
Qed.
Lemma full_below_paths i j : q i = q j -> (y j < y i)%N -> hinge (i, j) <= first i + \sum_(k | stops (q i) (y j) (y i) k) first k + last j.
Proof.
move=> qq yy; rewrite le_maxl !addr_ge0 ?first_ge0 ?last_ge0 ?sumr_ge0 // => [|k _]; last exact: first_ge0.
have h := path_to_top (erefl (q i)) (erefl (y i)) yy; rewrite /last; case: ifP => [/eqP tj|_].
  by rewrite addr0 /=; have -> : f j = f (top (q i) (y j)) by rewrite qq -tj.
apply: le_trans (ler_add h (hinge_ge (top (q j) (y j), j))); rewrite /= -qq -subr_ge0.
have -> : 1 - f i + f (top (q i) (y j)) + (1 - f (top (q i) (y j)) + f j) - (1 - f i + f j) = 1 by ring.
exact: ler01.
Qed.

Lemma sum_pairs (F : I -> I -> R) : \sum_(p | all_pairs p) F p.1 p.2 = \sum_i \sum_(j | (q j == q i) && (y j < y i)%N) F i j.
Proof. by rewrite pair_big_dep /=; apply: eq_bigl => p; rewrite /all_pairs eq_sym. Qed.
Lemma sum_first : \sum_(p | all_pairs p) first p.1 = \sum_i (below i)%:R * first i.
Proof. by rewrite (sum_pairs (fun i _ => first i)); apply: eq_bigr => i _; rewrite sumr_const mulr_natl. Qed.
Lemma sum_last : \sum_(p | all_pairs p) last p.2 = \sum_j (beyond j)%:R * last j.
Proof.
rewrite (sum_pairs (fun _ j => last j)) (exchange_big_dep xpredT) //=; apply: eq_bigr => j _.
by rewrite sumr_const mulr_natl; congr (_ *+ _); apply: eq_card => i; rewrite !inE eq_sym.
Qed.
Lemma sum_stops : \sum_(p | all_pairs p) (\sum_(k | stops (q p.1) (y p.2) (y p.1) k) first k) =
  \sum_(k | is_top k) (below k * beyond k)%:R * first k.
Proof.
rewrite (exchange_big_dep is_top) /= => [|p k _ /and4P[]] //; apply: eq_bigr => k tk.
rewrite sumr_const mulr_natl; congr (_ *+ _); rewrite mulnC /below /beyond -cardX; apply: eq_card => -[i j].
rewrite !inE /all_pairs /stops /= tk /=; apply/idP/idP.
  by move=> /andP[/andP[/eqP qij yij] /and3P[/eqP -> -> ->]]; rewrite -qij !eqxx.
by move=> /andP[/andP[/eqP a yk] /andP[/eqP b yj]]; rewrite unfold_in /= a b !eqxx yk yj (ltn_trans yj yk).
Qed.

(** Sums over the edges: those between levels by the point where they start, those within a level by the point where they end. *)
Lemma sum_between (F : I * I -> R) : \sum_(p | between p) F p = \sum_(i | (0 < y i)%N) F (i, top (q i) (y i).-1).
Proof.
transitivity (\sum_i \sum_(j | between (i, j)) F (i, j)); first by rewrite pair_big_dep /=; apply: eq_big => -[i j].
rewrite [RHS]big_mkcond; apply: eq_bigr => i _; case: ifP => [y0|/negbT y0]; last first.
  by apply: big1 => j /and3P[_ /= /eqP yi _]; rewrite yi in y0.
have [qt yt] := tops (leq_pred (y i)); rewrite (bigD1 (top (q i) (y i).-1)) /=; last first.
  by rewrite /between /is_top /= qt yt prednK // !eqxx.
by rewrite big1 ?addr0 // => j /andP[/and3P[/= /eqP qi /eqP yi /eqP tj]]; rewrite tj qi yi eqxx.
Qed.
Lemma sum_within (F : I * I -> R) : \sum_(p | within p) F p = \sum_(j | ~~ is_top j && ~~ highest j) F (top (q j) (y j), j).
Proof.
have hi i j : q i = q j -> y i = y j -> highest i = highest j.
  by move=> qq yy; apply: eq_forallb => k; rewrite qq yy.
transitivity (\sum_j \sum_(i | within (i, j)) F (i, j)).
  by rewrite (exchange_big_dep xpredT) //= pair_big_dep /=; apply: eq_big => -[i j].
rewrite [RHS]big_mkcond; apply: eq_bigr => j _; have [qt yt] := tops (leqnn (y j)).
case: ifP => [/andP[nt nh]|/negbT h]; last first.
  apply: big1 => i /and5P[/= /eqP qi /eqP yi /eqP ti nh ne]; case/negP: h; rewrite -(hi i j qi yi) nh andbT.
  by rewrite /is_top -qi -yi -ti eq_sym.
rewrite (bigD1 (top (q j) (y j))) /=; last first.
  by rewrite /within /= (hi _ j) // nh qt yt !eqxx /is_top qt yt eqxx /= eq_sym.
by rewrite big1 ?addr0 // => i /andP[/and5P[/= /eqP qi /eqP yi /eqP ti _ _]]; rewrite {1}ti qi yi eqxx.
Qed.

Theorem full_below_congestion : \sum_(p | all_pairs p) hinge p <= \sum_(p | reduced p) (congestion p)%:R * hinge p.
Proof.
have {1}-> : \sum_(p | reduced p) (congestion p)%:R * hinge p =
    \sum_(p | between p) (congestion p)%:R * hinge p + \sum_(p | within p) (congestion p)%:R * hinge p.
  rewrite (bigID between) /=; congr (_ + _); apply: eq_bigl => p; rewrite /reduced; first by case: (between p); rewrite ?orbT ?andbF ?andbT.
  case: (boolP (within p)) => [/and5P[_ /eqP yy _ _ _]|_] /=; last by rewrite andbN.
  by apply/negP => /and3P[_ /eqP]; rewrite yy => /n_Sn.
rewrite sum_between sum_within.
have le (p : I * I) : all_pairs p -> hinge p <= first p.1 + \sum_(k | stops (q p.1) (y p.2) (y p.1) k) first k + last p.2.
  by case: p => i j /andP[/= /eqP qq yy]; exact: full_below_paths.
apply: le_trans (ler_sum _ le) _; rewrite !big_split /= sum_first sum_stops sum_last; apply: ler_add.
  have -> : \sum_(k | is_top k) (below k * beyond k)%:R * first k = \sum_i (if is_top i then below i * beyond i else 0)%N%:R * first i.
    by rewrite [LHS]big_mkcond; apply: eq_bigr => i _; case: ifP => // _; rewrite mul0r.
  rewrite -big_split /= [X in _ <= X]big_mkcond; apply: ler_sum => i _ /=; rewrite -mulrDl -natrD /congestion /= -/(first i).
  case: (posnP (y i)) => y0.
    have -> : below i = 0%N by apply: eq_card0 => j; rewrite inE y0 ltn0 andbF.
    by rewrite mul0n if_same mul0r.
  have [_ ->] := tops (leq_pred (y i)); have -> : (y i == (y i).-1) = false by apply/negbTE; rewrite -[X in X == _](prednK y0) neq_ltn ltnSn orbT.
  by case: ifP => _; rewrite ?mulnS ?addn0.
rewrite [X in _ <= X]big_mkcond; apply: ler_sum => j _ /=; rewrite /last; case: ifP => /= _; first by rewrite mulr0.
have [qt yt] := tops (leqnn (y j)); have bt : beyond (top (q j) (y j)) = beyond j by rewrite /beyond; apply: eq_card => i; rewrite !inE qt yt.
rewrite /congestion /= yt eqxx bt; case: ifP => // /negbFE /forallP h.
have -> : beyond j = 0%N; last by rewrite mul0r.
by apply: eq_card0 => i; rewrite inE ltnNge; have := h i; case: eqP => //= _ ->.
Qed.

Theorem full_below_reduced : \sum_(p | all_pairs p) hinge p <= kappa%:R * (\sum_(p | reduced p) hinge p).
Proof.
apply: le_trans full_below_congestion _; rewrite mulr_sumr; apply: ler_sum => p e.
by rewrite ler_wpmul2r ?hinge_ge0 // ler_nat; exact: (leq_bigmax_cond _ e).
Qed.
Theorem reduced_meets_all : (forall p, reduced p -> 1 <= f p.1 - f p.2) -> forall p, all_pairs p -> 1 <= f p.1 - f p.2.
Proof.
have E p : (hinge p == 0) = (1 <= f p.1 - f p.2).
  rewrite /hinge -[RHS]subr_le0; have -> : 1 - f p.1 + f p.2 = 1 - (f p.1 - f p.2) by ring.
  by case: lerP => [_|h]; rewrite ?eqxx // gt_eqF.
move=> F p a; rewrite -E; have := full_below_reduced; rewrite [X in _ * X]big1 => [|e r]; last by apply/eqP; rewrite E F.
rewrite mulr0 => le0; have /eqP : \sum_(p | all_pairs p) hinge p = 0.
  by apply/eqP; rewrite eq_le le0 sumr_ge0 // => e _; exact: hinge_ge0.
by rewrite psumr_eq0 => [/allP/(_ p (mem_index_enum p))/implyP/(_ a)|e _]; last exact: hinge_ge0.
Qed.
End Loss.
End Graph.

(** ** Optima *)
Section Optima.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (I Q : finType) (phi : I -> V) (q : I -> Q) (y : I -> nat) (top : Q -> nat -> I).
Variable C : R.
Hypothesis C0 : 0 <= C.
Hypothesis tops : forall i l, (l <= y i)%N -> q (top (q i) l) = q i /\ y (top (q i) l) = l.
Implicit Types (w : V).

(** All pairs, and the edges of the reduced graph, as rows of a ranking. *)
Definition full_row := {p : I * I | all_pairs q y p}.
Definition reduced_row := {p : I * I | reduced q y top p}.
Definition full_hi (r : full_row) := (val r).1.
Definition full_lo (r : full_row) := (val r).2.
Definition reduced_hi (r : reduced_row) := (val r).1.
Definition reduced_lo (r : reduced_row) := (val r).2.
Definition full_feas := rank_l1_primal_feas ip phi full_hi full_lo.
Definition full_obj c := @rank_l1_primal_obj R V ip [finType of full_row] c.
Definition reduced_feas := rank_l1_primal_feas ip phi reduced_hi reduced_lo.
Definition reduced_obj c := @rank_l1_primal_obj R V ip [finType of reduced_row] c.

Lemma sum_rows (A : pred (I * I)) (F : I * I -> R) : \sum_(r : {p : I * I | A p}) F (val r) = \sum_(p | A p) F p.
Proof.
rewrite [RHS](reindex_omap (val : {p : I * I | A p} -> _) insub) => [|p Ap] /=; last by rewrite insubT.
by apply: eq_bigl => r; rewrite valK eqxx andbT; exact/esym/(valP r).
Qed.
Lemma value_hinge w p : Num.max 0 (1 - ip w (phi p.1 - phi p.2)) = hinge (fun i => ip w (phi i)) p.
Proof. by rewrite /hinge ipBr; congr (Num.max _ _); ring. Qed.

Theorem rank_l1_below_reduced (k : nat) v v' : (kappa q y top <= k)%N ->
  minimum full_feas (full_obj C) v -> minimum reduced_feas (reduced_obj (k%:R * C)) v' -> v <= v'.
Proof.
move=> le [t [_ best] <-] [[w xi] [F _] <-].
pose f i := ip w (phi i).
have at_f : full_feas (w, fun r : full_row => hinge f (val r)).
  by move=> r; split; [exact: hinge_ge0|rewrite -value_hinge ler_subl_addl -ler_subl_addr le_maxr lexx orbT].
apply: le_trans (best _ at_f) _; rewrite /full_obj /reduced_obj /= ler_add2l [k%:R * C]mulrC -mulrA ler_wpmul2l //.
rewrite (sum_rows (all_pairs q y) (hinge f)); apply: le_trans (full_below_reduced tops f) _.
have up : \sum_(p | reduced q y top p) hinge f p <= \sum_r xi r.
  rewrite -(sum_rows (reduced q y top) (hinge f)); apply: ler_sum => r _.
  by have [x0 m] := F r; rewrite -value_hinge le_maxl x0 /= ler_subl_addl -ler_subl_addr.
apply: le_trans (ler_wpmul2l (ler0n _ k) up); rewrite ler_wpmul2r ?ler_nat // sumr_ge0 // => p _; exact: hinge_ge0.
Qed.
Corollary rank_l1_below_reduced_two_levels v v' : (forall i, (y i <= 1)%N) -> minimum full_feas (full_obj C) v ->
  minimum reduced_feas (reduced_obj ((maxn #|[pred i | y i == 1%N]| #|[pred i | y i == 0%N]|)%:R * C)) v' -> v <= v'.
Proof. by move=> two; apply: rank_l1_below_reduced; exact: kappa_two_levels. Qed.
End Optima.
