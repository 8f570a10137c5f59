(** * Average precision is bounded by inversions: document W

    A ranking is the sequence of its documents from the first place on, true where one is relevant. With R relevant documents and Q inversions,
    pairs of an irrelevant document above a relevant one,

    AP >= 1/R (Q + R (R + 1) / 2)^-1 (sum over i = 1, ..., R of sqrt i)^2

    [average_precision_bound]     the bound, for Q and for any number not below Q, such as the sum of slacks
    [bound_rises]                 the fewer inversions, the larger the bound: a larger tau raises it
    [average_precision_perfect]   without inversions the average precision is 1 *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Precision.
Variable R : rcfType.
Implicit Types (s : seq bool) (r : nat) (Q : R).

(** The relevant documents, and the irrelevant ones, among the first k. *)
Definition hits s k : nat := count id (take k s).
Definition misses s k : nat := count negb (take k s).
Definition relevant s : nat := count id s.
Definition inversions s : nat := \sum_(k < size s | nth false s k) misses s k.
(** The mean, over the relevant documents, of the precision at their places. *)
Definition average_precision s : R := (relevant s)%:R^-1 * \sum_(k < size s | nth false s k) (hits s k.+1)%:R / k.+1%:R.
Definition bound r Q : R := r%:R^-1 * ((\sum_(i < r) Num.sqrt i.+1%:R) ^+ 2 / (Q + (r * r.+1)%:R / 2%:R)).

Lemma hits_misses s k : (k <= size s)%N -> (hits s k + misses s k)%N = k.
Proof. by move=> le; rewrite /hits /misses -[RHS](size_takel le); exact: (count_predC id). Qed.
Lemma place s (k : 'I_(size s)) : nth false s k -> k.+1 = (hits s k.+1 + misses s k)%N.
Proof.
move=> h; rewrite -[LHS](hits_misses (ltn_ord k)); congr (_ + _)%N.
by rewrite /misses (take_nth false (ltn_ord k)) h -cats1 count_cat /= !addn0.
Qed.
(** A sum over the relevant documents, by their number among the relevant ones: 1 to R. *)
Lemma sum_hits (T : Type) (idx : T) (op : Monoid.com_law idx) (F : nat -> T) s :
  \big[op/idx]_(k < size s | nth false s k) F (hits s k.+1) = \big[op/idx]_(i < relevant s) F i.+1.
Proof.
elim/last_ind: s => [|s x IH]; first by rewrite !big_ord0.
rewrite size_rcons big_mkcond big_ord_recr /= -[in LHS]big_mkcond /=.
have -> : \big[op/idx]_(k < size s | nth false (rcons s x) k) F (hits (rcons s x) k.+1) = \big[op/idx]_(i < relevant s) F i.+1.
  rewrite -IH; apply: eq_big => k; first by rewrite nth_rcons ltn_ord.
  by move=> _; congr F; rewrite /hits -cats1 takel_cat.
have -> : hits (rcons s x) (size s).+1 = (relevant s + x)%N.
  by rewrite /hits take_oversize ?size_rcons // -cats1 count_cat /= addn0.
rewrite nth_rcons ltnn eqxx /relevant -cats1 count_cat /= addn0; case: x => /=; last by rewrite addn0 Monoid.mulm1.
by rewrite addn1 big_ord_recr.
Qed.
Lemma triangle r : (\sum_(i < r) i.+1%:R : R) = (r * r.+1)%:R / 2%:R.
Proof.
elim: r => [|r IH]; first by rewrite big_ord0 mul0n mul0r.
by rewrite big_ord_recr /= IH !natrM -[r.+2]addn1 -[r.+1]addn1 !natrD; field.
Qed.
Lemma sum_places s : \sum_(k < size s | nth false s k) k.+1%:R = (inversions s)%:R + (relevant s * (relevant s).+1)%:R / 2%:R :> R.
Proof.
rewrite -triangle -(sum_hits _ (fun n => n%:R)) /inversions natr_sum -big_split /=; apply: eq_bigr => k h.
by rewrite [in LHS](place h) natrD addrC.
Qed.

Lemma bound_at_inversions s : (0 < relevant s)%N -> bound (relevant s) (inversions s)%:R <= average_precision s.
Proof.
move=> r0; rewrite /bound /average_precision ler_pmul2l ?invr_gt0 ?ltr0n // -sum_places.
rewrite -(sum_hits _ (fun n => Num.sqrt n%:R)); set S := \sum_(_ < _ | _) Num.sqrt _; set N := \sum_(_ < _ | _) _.
have N0 : 0 < N.
  rewrite /N sum_places ltr_spaddr ?ler0n // divr_gt0 ?ltr0n // muln_gt0 r0 //.
rewrite -subr_ge0; set t := S / N.
have -> : \sum_(k < size s | nth false s k) (hits s k.+1)%:R / k.+1%:R - S ^+ 2 / N =
    \sum_(k < size s | nth false s k) (Num.sqrt (hits s k.+1)%:R - t * k.+1%:R) ^+ 2 / k.+1%:R.
  have e (k : 'I_(size s)) : (Num.sqrt (hits s k.+1)%:R - t * k.+1%:R) ^+ 2 / k.+1%:R =
      (hits s k.+1)%:R / k.+1%:R - 2%:R * t * Num.sqrt (hits s k.+1)%:R + t ^+ 2 * k.+1%:R.
    rewrite -{2}[(hits s k.+1)%:R]sqr_sqrtr ?ler0n //; move: (Num.sqrt _) => z; have n0 : k.+1%:R != 0 :> R by rewrite pnatr_eq0.
    by move: (k.+1%:R) n0 => n n0; field.
  rewrite [RHS](eq_bigr _ (fun k _ => e k)) !big_split /= sumrN -!mulr_sumr -/S -/N -addrA; congr (_ + _).
  by rewrite /t; field; rewrite gt_eqF.
by apply: sumr_ge0 => k _; rewrite divr_ge0 ?sqr_ge0 ?ler0n.
Qed.

Theorem bound_rises r Q Q' : (0 < r)%N -> 0 <= Q -> Q < Q' -> bound r Q' < bound r Q.
Proof.
move=> r0 Q0 lt; rewrite /bound ltr_pmul2l ?invr_gt0 ?ltr0n //.
have T0 : 0 < (r * r.+1)%:R / 2%:R :> R by rewrite divr_gt0 ?ltr0n ?muln_gt0 ?r0.
have S0 : 0 < \sum_(i < r) Num.sqrt i.+1%:R :> R.
  case: r r0 {T0} => // r _; rewrite big_ord_recl ltr_spaddl ?sqrtr_gt0 ?ltr0n // sumr_ge0 // => i _; exact: sqrtr_ge0.
rewrite ltr_pmul2l ?exprn_gt0 // ltf_pinv ?posrE ?ltr_add2r // ltr_paddl //; exact: le_trans Q0 (ltW lt).
Qed.
Theorem average_precision_bound s Q : (0 < relevant s)%N -> (inversions s)%:R <= Q -> bound (relevant s) Q <= average_precision s.
Proof.
move=> r0; rewrite le_eqVlt => /orP[/eqP <-|lt]; first exact: bound_at_inversions.
by apply: le_trans (bound_at_inversions r0); apply: ltW; apply: bound_rises => //; exact: ler0n.
Qed.
Theorem average_precision_perfect s : (0 < relevant s)%N -> inversions s = 0%N -> average_precision s = 1.
Proof.
move=> r0 /eqP; rewrite /inversions sum_nat_eq0 => /forallP z; rewrite /average_precision.
rewrite (eq_bigr (fun=> 1)) => [|k h].
  by rewrite (sum_hits _ (fun=> 1)) sumr_const card_ord mulVf // pnatr_eq0 -lt0n.
have /eqP m := implyP (z k) h; rewrite {2}(place h) m addn0 divff // pnatr_eq0 -lt0n.
by have := place h; rewrite m addn0 => <-.
Qed.
End Precision.
