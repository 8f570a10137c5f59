(** * Errors that losses of ordinal regression bound

    The predicted level of a point, [predicted], is the number of thresholds b that its value reaches. A threshold k is [adjacent] to the level
    of a point if it is the one above or the one below that level.

    [ord_rank_errors]                   the number of levels by which a prediction is wrong is at most the point's hinge losses at all thresholds
    [ord_wrong_levels]                  with thresholds in order, the 0-1 error of a prediction is at most the losses at the adjacent thresholds
    [inversions_of_levels]              predicted levels invert at most (n - 1) / 2 pairs for each level by which they are wrong
    [ord_pair_slacks_sum]               the hinges of all pairs, each times the number of levels between, are at most n - 1 times the sum of all slacks
    [inversions_of_a_threshold]         if the best threshold makes e errors, at least e (e + 1) / 2 pairs are inverted
    [ord_explicit_hard]                 with thresholds in order, hard rows at the adjacent thresholds imply those at all thresholds
    [adjacent_two_levels]               with two levels, all thresholds are adjacent to all levels
    [ord_unordered_is_not_explicit]     without the order of the thresholds, the optimum with adjacent thresholds may be smaller *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From equimargin Require Import inner optimum qp margin representer svm svr ranksvm ordinal.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Levels.
Variables (R : realFieldType) (I : finType) (l : nat) (y : I -> 'I_l.+1).
Implicit Types (f : I -> R) (b : 'I_l -> R) (i j : I) (k : 'I_l).
Definition adjacent k i := (k == y i :> nat) || (k.+1 == y i :> nat).
Definition hinge_at f b i k : R := Num.max 0 (1 - side R y i k * (f i - b k)).
Definition predicted f b i : R := \sum_k (b k <= f i)%R%:R.

Lemma hinge_at_ge0 f b i k : 0 <= hinge_at f b i k.
Proof. by rewrite /hinge_at le_maxr lexx. Qed.
Lemma hinge_at_wrong f b i k : (b k <= f i) != above y k i -> 1 <= hinge_at f b i k.
Proof.
rewrite /hinge_at /side le_maxr; case: (above y k i) => /= h; apply/orP; right.
  by rewrite mul1r ler_addl oppr_ge0 subr_le0 ltW // ltNge; move: h; case: (b k <= f i).
by rewrite mulN1r opprK ler_addl subr_ge0; move: h; case: (b k <= f i).
Qed.
Lemma below_count (n : nat) : (n <= l)%N -> (\sum_(k < l) (k < n)%N = n)%N.
Proof.
move=> le; transitivity (\sum_(k < l | (k < n)%N) 1)%N; last by rewrite (big_ord_narrow le) sum_nat_const card_ord muln1.
by rewrite [RHS]big_mkcond; apply: eq_bigr => k _; case: (k < n)%N.
Qed.
Lemma level_count i : (y i : nat)%:R = \sum_k (above y k i)%:R :> R.
Proof. by rewrite -natr_sum; congr (_%:R); rewrite below_count // -ltnS; exact: ltn_ord. Qed.

Theorem ord_rank_errors f b i : `|predicted f b i - (y i : nat)%:R| <= \sum_k hinge_at f b i k.
Proof.
rewrite level_count /predicted -sumrB (le_trans (ler_norm_sum _ _ _)) // ler_sum // => k _.
have [e|w] := eqVneq (b k <= f i) (above y k i); first by rewrite e subrr normr0 hinge_at_ge0.
apply: le_trans (hinge_at_wrong w); move: w; case: (b k <= f i); case: (above y k i) => //= _; first by rewrite subr0 normr1.
by rewrite sub0r normrN normr1.
Qed.


Theorem ord_wrong_levels f b i : (forall k k', (k <= k')%N -> b k <= b k') ->
  (predicted f b i != (y i : nat)%:R)%:R <= \sum_(k | adjacent k i) hinge_at f b i k.
Proof.
move=> order; have [|w] := eqVneq; first by rewrite sumr_ge0 // => k _; exact: hinge_at_ge0.
have at_least k : adjacent k i -> (b k <= f i) != above y k i -> 1 <= \sum_(k | adjacent k i) hinge_at f b i k.
  move=> a h; rewrite (bigD1 k) //= (le_trans (hinge_at_wrong h)) // ler_addl sumr_ge0 // => ? _; exact: hinge_at_ge0.
have [k h] : exists k, (b k <= f i) != above y k i.
  apply/existsP; apply: contraR w; rewrite negb_exists => /forallP h; rewrite level_count /predicted.
  by apply/eqP; apply: eq_bigr => k _; have := h k; rewrite negbK => /eqP ->.
have [a|n] := boolP (above y k i).
  have y0 : (0 < y i)%N by exact: leq_ltn_trans a.
  have lt : ((y i).-1 < l)%N by rewrite prednK // -ltnS.
  have e : (Ordinal lt).+1 = y i :> nat by rewrite /= prednK.
  apply: (at_least (Ordinal lt)); first by rewrite /adjacent e eqxx orbT.
  have a' : above y (Ordinal lt) i by rewrite /above /= ltn_predL.
  rewrite a'; move: h; rewrite a; apply: contra_neq => /= r; apply: le_trans r; apply: order.
  by rewrite -ltnS e.
have lt : (y i < l)%N by rewrite (leq_ltn_trans _ (ltn_ord k)) // leqNgt.
apply: (at_least (Ordinal lt)); first by rewrite /adjacent eqxx.
have n' : above y (Ordinal lt) i = false by rewrite /above ltnn.
rewrite n'; move: h; rewrite (negPf n); have := order (Ordinal lt) k; rewrite /= leqNgt n => /(_ isT) o.
by case r: (b k <= f i) => //= _; rewrite (le_trans o r).
Qed.

Theorem ord_explicit_hard (V : lmodType R) (ip : semi_inner V) (x : I -> V) w b : (forall k, exists i, y i = k.+1 :> nat) ->
  (ord_hard_feas ip x y (w, b) <->
   (forall i k, adjacent k i -> 1 <= side R y i k * (ip w (x i) - b k)) /\ forall k k', (k <= k')%N -> b k <= b k').
Proof.
move=> taken; split=> [F|[F order] i k].
  split=> [i k _|k k']; first exact: F.
  rewrite leq_eqVlt => /orP[/eqP/val_inj -> //|lt]; have [i e] := taken k.
  have := ler_add (F i k) (F i k'); rewrite /side /above e ltnSn ltnNge lt /= mul1r mulN1r opprB => h.
  rewrite -subr_ge0; apply: le_trans (_ : 1 + 1 <= _); first by rewrite addr_ge0 ?ler01.
  by move: h; rewrite /ord_hard_feas /=; congr (_ <= _); ring.
have [a|n] := boolP (above y k i).
  have y0 : (0 < y i)%N by exact: leq_ltn_trans a.
  have lt : ((y i).-1 < l)%N by rewrite prednK // -ltnS.
  have e : (Ordinal lt).+1 = y i :> nat by rewrite /= prednK.
  have a' : above y (Ordinal lt) i by rewrite /above /= ltn_predL.
  have := F i (Ordinal lt); rewrite /adjacent e eqxx orbT => /(_ isT); rewrite /side a a' !mul1r => h.
  by apply: le_trans h _; rewrite ler_add2l ler_opp2 order // -ltnS e.
have lt : (y i < l)%N by rewrite (leq_ltn_trans _ (ltn_ord k)) // leqNgt.
have n' : above y (Ordinal lt) i = false by rewrite /above ltnn.
have := F i (Ordinal lt); rewrite /adjacent eqxx => /(_ isT); rewrite /side (negPf n) n' !mulN1r => h.
by apply: le_trans h _; rewrite ler_opp2 ler_add2l ler_opp2 order // leqNgt.
Qed.

Theorem ord_pair_slacks_sum (V : lmodType R) (ip : semi_inner V) (x : I -> V) w b xi : implicit_feas ip x y (w, b, xi) ->
  \sum_i \sum_j (y i - y j)%N%:R * Num.max 0 (2%:R - (ip w (x i) - ip w (x j))) <= #|I|.-1%:R * \sum_p xi p.
Proof.
move=> F; pose h i j : R := Num.max 0 (2%:R - (ip w (x i) - ip w (x j))); pose across i j k := above y k i && ~~ above y k j.
have count i j : (y i - y j)%N%:R * h i j = \sum_(k | across i j k) h i j.
  rewrite sumr_const -[RHS]mulr_natl; congr (_ * _); congr (_ *+ _); rewrite -sum1_card big_mkcond /=.
  have [le|lt] := leqP (y i) (y j).
    rewrite (eqP (le : (_ - _)%N == 0%N)) big1 // => k _; rewrite unfold_in /across /above.
    by case: ltnP => //= h1; rewrite (leq_trans h1 le).
  rewrite -{1}(@below_count (y i)) -1?ltnS // -{1}(@below_count (y j)) -1?ltnS // -sumnB; last first.
    by move=> k _; case: (ltnP k (y j)) => //= h1; rewrite (ltn_trans h1 lt).
  apply: eq_bigr => k _; rewrite unfold_in /across /above; case: (ltnP k (y j)) => h1; last by rewrite subn0 andbT; case: ltnP.
  by rewrite (ltn_trans h1 lt).
have xi0 p : 0 <= xi p by have [] := F p.
have step : \sum_i \sum_j (y i - y j)%N%:R * h i j <= \sum_i \sum_j \sum_(k | across i j k) (xi (i, k) + xi (j, k)).
  apply: ler_sum => i _; apply: ler_sum => j _; rewrite count; apply: ler_sum => k /andP[a n].
  exact: ord_pair_slacks F a n.
apply: le_trans step _.
have part i k : \sum_j (if across i j k then xi (i, k) else 0) + \sum_j (if across j i k then xi (i, k) else 0) <= #|I|.-1%:R * xi (i, k).
  rewrite -big_split /= (bigD1 i) //= {1 2}/across andbN addr0 add0r.
  apply: le_trans (_ : \sum_(j | j != i) xi (i, k) <= _).
    apply: ler_sum => j _; rewrite /across; case: (above y k i); case: (above y k j); rewrite /= ?addr0 ?add0r //.
  by rewrite sumr_const cardC1 mulr_natl.
have -> : \sum_i \sum_j \sum_(k | across i j k) (xi (i, k) + xi (j, k)) =
    \sum_i \sum_k (\sum_j (if across i j k then xi (i, k) else 0) + \sum_j (if across j i k then xi (i, k) else 0)).
  transitivity (\sum_i \sum_j \sum_k ((if across i j k then xi (i, k) else 0) + (if across i j k then xi (j, k) else 0))).
    apply: eq_bigr => i _; apply: eq_bigr => j _; rewrite big_mkcond; apply: eq_bigr => k _.
    by case: ifP; rewrite ?addr0.
  transitivity (\sum_i \sum_j \sum_k (if across i j k then xi (i, k) else 0) +
      \sum_i \sum_j \sum_k (if across i j k then xi (j, k) else 0)).
    by rewrite -big_split; apply: eq_bigr => i _; rewrite -big_split; apply: eq_bigr => j _; rewrite -big_split.
  rewrite [X in _ + X]exchange_big -big_split; apply: eq_bigr => i _ /=.
  by rewrite exchange_big [X in _ + X]exchange_big -big_split.
have -> : \sum_p xi p = \sum_i \sum_k xi (i, k) by rewrite pair_bigA; apply: eq_bigr => -[].
rewrite mulr_sumr; apply: ler_sum => i _; rewrite mulr_sumr; apply: ler_sum => k _; exact: part.
Qed.
End Levels.

Theorem adjacent_two_levels (I : finType) (y : I -> 'I_2) k i : adjacent y k i.
Proof. by rewrite /adjacent (ord1 k); case: (y i) => -[|[|]]. Qed.

(** ** Pairs of predicted levels *)
Definition off (m n : nat) := ((m - n) + (n - m))%N.

Theorem inversions_of_levels (I : finType) (y h : I -> nat) :
  (2 * (\sum_i \sum_j ((y j < y i) && (h i < h j))) <= #|I|.-1 * \sum_i off (h i) (y i))%N.
Proof.
pose d i := off (h i) (y i); pose inv i j := (y j < y i)%N && (h i < h j)%N.
have two i j : inv i j -> (2 <= d i + d j)%N.
  case/andP => yy hh.
  have hi : (y i <= h i + d i)%N by rewrite /d /off -leq_subLR leq_addl.
  have hj : (h j <= y j + d j)%N by rewrite /d /off -leq_subLR leq_addr.
  have := leq_add (leq_trans yy hi) (leq_trans hh hj).
  by rewrite addSn addnS -addn2 addnACA (addnC (h i) (y j)) leq_add2l.
have -> : (2 * (\sum_i \sum_j inv i j) = \sum_i \sum_j (if inv i j then 2 else 0))%N.
  rewrite big_distrr; apply: eq_bigr => i _; rewrite big_distrr; apply: eq_bigr => j _.
  by case: (inv i j).
apply: (@leq_trans (\sum_i \sum_j ((if inv i j then d i else 0) + (if inv i j then d j else 0)))%N).
  by apply: leq_sum => i _; apply: leq_sum => j _; case: ifP => // /two.
have -> : (\sum_i \sum_j ((if inv i j then d i else 0) + (if inv i j then d j else 0)) =
    \sum_i \sum_j ((if inv i j then d i else 0) + (if inv j i then d i else 0)))%N.
  transitivity (\sum_i \sum_j (if inv i j then d i else 0) + \sum_i \sum_j (if inv i j then d j else 0))%N.
    by rewrite -big_split; apply: eq_bigr => i _; rewrite -big_split.
  by rewrite [X in (_ + X)%N]exchange_big -big_split; apply: eq_bigr => i _; rewrite -big_split.
rewrite big_distrr; apply: leq_sum => i _; rewrite (bigD1 i) //= {1 2}/inv ltnn add0n.
apply: (@leq_trans (\sum_(j | j != i) d i)%N); last by rewrite sum_nat_const cardC1.
apply: leq_sum => j _; rewrite /inv; case: (ltngtP (y j) (y i)) => _; case: (ltngtP (h i) (h j)) => _ //=; rewrite ?addn0 ?add0n //.
Qed.

(** ** One threshold *)
Section Threshold.
Variable R : realFieldType.
Implicit Types (hi lo : seq R) (c : R).
(** Errors of the threshold c: points of the upper level that do not exceed c, and points of the lower level that do. *)
Definition errors hi lo c := (count (fun u => u <= c)%R hi + count (fun u => c < u)%R lo)%N.
Definition inverted hi lo := (\sum_(u <- lo) count (fun v => v <= u)%R hi)%N.

Theorem inversions_of_a_threshold hi lo e : (forall c, e <= errors hi lo c)%N -> (e * e.+1 <= 2 * inverted hi lo)%N.
Proof.
pose falling (u v : R) := v <= u.
have total : total falling by move=> u v; rewrite /falling orbC le_total.
have trans : transitive falling by move=> v u s h1 h2; exact: le_trans h2 h1.
have perm : perm_eq (sort falling lo) lo by exact/permPl/perm_sort.
have -> : inverted hi lo = inverted hi (sort falling lo) by apply: perm_big; rewrite perm_sym.
move=> least; have {least} : forall c, (e <= errors hi (sort falling lo) c)%N.
  by move=> c; rewrite /errors (permP perm); exact: least.
have := sort_sorted total lo; move: (sort _ lo) => {lo perm} lo.
elim: lo e => [|u lo IH] e /= order least.
  have [c small] : exists c, forall v, v \in hi -> c < v.
    elim: (hi) => [|v s [c h]]; first by exists 0.
    exists (Num.min c (v - 1)) => s'; rewrite inE => /orP[/eqP ->|/h lt]; rewrite lt_minl ?lt //.
    by rewrite ltr_subl_addr ltr_addl ltr01 orbT.
  have := least c; rewrite /errors /= addn0 (_ : count _ hi = 0%N); first by rewrite leqn0 => /eqP ->.
  by apply/eqP; rewrite -leqn0 leqNgt -has_count; apply/hasPn => v /small; rewrite ltNge.
case: e least => [//|e] least.
have above_u : count (fun v => u < v) (u :: lo) = 0%N.
  apply/eqP; rewrite -leqn0 leqNgt -has_count; apply/hasPn => v; rewrite inE => /orP[/eqP ->|v_lo]; first by rewrite ltxx.
  by have /allP/(_ v v_lo) := order_path_min trans order; rewrite /falling leNgt.
have here : (e.+1 <= count (fun v => v <= u)%R hi)%N by have := least u; rewrite /errors above_u addn0.
have rest : (e * e.+1 <= 2 * inverted hi lo)%N.
  apply: IH => [|c]; first exact: path_sorted order.
  have := least c; rewrite /errors /= addnCA -[e.+1]add1n => h.
  by rewrite -(leq_add2l 1) (leq_trans h) // leq_add2r leq_b1.
rewrite /inverted big_cons mulnDr.
have -> : (e.+1 * e.+2 = 2 * e.+1 + e * e.+1)%N by rewrite mulnC -add2n mulnDl.
by rewrite leq_add // leq_mul2l.
Qed.
End Threshold.

(** ** The order of explicit thresholds: two points in each outer level and one in the middle level, all at 0 *)
Section Five.
Variable R : realFieldType.
Definition five (i : 'I_5) : 'I_3 := nth ord0 [:: ord0; ord0; inord 1; ord_max; ord_max] i.
Definition beside (b : 'I_2 -> R) : R := \sum_i \sum_(k | adjacent five k i) hinge_at five (fun=> 0) b i k.

Theorem ord_unordered_is_not_explicit : (exists b, beside b = 4%:R) /\ forall b, b ord0 <= b ord_max -> 6%:R <= beside b.
Proof.
have value b : beside b = 2%:R * Num.max 0 (1 - b ord0) + Num.max 0 (1 + b ord0) +
    (Num.max 0 (1 - b ord_max) + 2%:R * Num.max 0 (1 + b ord_max)).
  have two (B : pred 'I_2) (F : 'I_2 -> R) : \sum_(k | B k) F k = (if B ord0 then F ord0 else 0) + (if B ord_max then F ord_max else 0).
    rewrite big_mkcond big_ord_recl big_ord1; congr (_ + _).
    by set k := lift _ _; have -> : k = ord_max by apply: val_inj.
  rewrite /beside /adjacent /hinge_at /side /above !big_ord_recl big_ord0 !two /five /= !inordK //=.
  rewrite !sub0r !mul1r !mulN1r !opprK; ring.
split=> [|b order].
  exists (fun k : 'I_2 => if k == ord0 then 1 else -1); rewrite value /= subrr opprK maxxx.
  by rewrite (max_r (_ : 0 <= 1 + 1)) ?addr_ge0 ?ler01 //; ring.
have below (u : R) : u <= Num.max 0 u by rewrite le_maxr lexx orbT.
rewrite value; apply: le_trans (_ : 2%:R * (1 - b ord0) + (1 + b ord0) + (1 - b ord_max + 2%:R * (1 + b ord_max)) <= _); last first.
  by rewrite !ler_add ?below // ler_pmul2l ?ltr0n ?below.
rewrite -subr_ge0; have -> : 2%:R * (1 - b ord0) + (1 + b ord0) + (1 - b ord_max + 2%:R * (1 + b ord_max)) - 6%:R = b ord_max - b ord0.
  by ring.
by rewrite subr_ge0.
Qed.
End Five.
