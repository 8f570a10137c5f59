(** * The representer theorem, for finitely many points

    [projection]: for every w, a combination of the points has the same values at all points and no larger norm, even if the Gram matrix is
    singular. [representer]: T, Theorem 1, for any loss of the values and any nondecreasing function of the squared norm;
    [representer_strict]: if that function increases strictly, every minimiser is such a combination up to a vector of length zero. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From equimargin Require Import inner optimum qp margin.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Representer.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (I : finType) (phi : I -> V).
Implicit Types (w : V) (be : I -> R).

Theorem projection w : exists be, forall i, ip (span phi be) (phi i) = ip w (phi i).
Proof.
have [] := unconstrained (K := unit_eqType) (hessian ip phi) (fun _ _ => 0) (fun=> 0)
  (weighted_functional (fun i => ip w (phi i))).
- case=> be [lam [_ _ _ st]]; exists be => i; have := st (delta R i); rewrite weighted_delta big_nil addr0 /= => ->.
  congr (ip _ _); rewrite /span (bigD1 i) //= ffunE eqxx scale1r big1 ?addr0 // => j /negPf ne.
  by rewrite ffunE ne scale0r.
- by case=> lam [_ _]; rewrite big_nil ltxx.
- case=> d [_ /= n]; have -> : \sum_i ip w (phi i) * d i = ip w (span phi d).
    by rewrite ip_span; apply: eq_bigr => i _; exact: mulrC.
  by rewrite ip_sym (ip_null _ n) ltxx.
Qed.
Lemma pythagoras w be : (forall i, ip (span phi be) (phi i) = ip w (phi i)) ->
  ip w w = ip (span phi be) (span phi be) + ip (w - span phi be) (w - span phi be).
Proof.
move=> h; have E : ip w (span phi be) = ip (span phi be) (span phi be).
  by rewrite !ip_span; apply: eq_bigr => i _; rewrite h.
by rewrite ipBl !ipBr (ip_sym _ (span phi be) w) E; ring.
Qed.
Lemma projection_no_longer w be : (forall i, ip (span phi be) (phi i) = ip w (phi i)) ->
  2%:R^-1 * ip (span phi be) (span phi be) <= 2%:R^-1 * ip w w.
Proof. by move=> h; rewrite ler_wpmul2l ?half_ge0 // (pythagoras h) ler_addl ip_ge0. Qed.

Variables (loss : {ffun I -> R} -> R) (Omega : R -> R).
Definition risk w := loss [ffun i => ip w (phi i)] + Omega (ip w w).
Lemma same_loss w be : (forall i, ip (span phi be) (phi i) = ip w (phi i)) ->
  loss [ffun i => ip (span phi be) (phi i)] = loss [ffun i => ip w (phi i)].
Proof. by move=> h; congr loss; apply/ffunP => i; rewrite !ffunE h. Qed.
Theorem representer : (forall s t, 0 <= s -> s <= t -> Omega s <= Omega t) ->
  forall w, exists be, risk (span phi be) <= risk w.
Proof.
move=> mono w; have [be h] := projection w; exists be; rewrite /risk (same_loss h) ler_add2l.
by rewrite mono ?ip_ge0 // (pythagoras h) ler_addl ip_ge0.
Qed.
Theorem representer_strict : (forall s t, 0 <= s -> s < t -> Omega s < Omega t) ->
  forall w, (forall w', risk w <= risk w') -> exists be, ip (w - span phi be) (w - span phi be) = 0.
Proof.
move=> mono w O; have [be h] := projection w; exists be; apply/eqP; rewrite eq_le ip_ge0 andbT leNgt; apply/negP => pos.
have := O (span phi be); rewrite /risk (same_loss h) ler_add2l leNgt mono ?ip_ge0 //.
by rewrite (pythagoras h) ltr_addl.
Qed.
End Representer.
