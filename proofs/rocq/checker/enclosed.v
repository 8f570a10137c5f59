(** * Functions in a space whose inner products are known up to an error

    The inner products of the points are within e of the entries of a matrix G. The function with coefficients beta then has the values G beta up to
    e |beta|_1, and the squared norm beta' G beta up to e |beta|_1^2 ([enclosed_described]); only the columns of G with nonzero beta are used. Points of the same name have the same inner products, so
    that their coefficients may be added up ([together]): |beta|_1 is then smaller, and 0 if the coefficients cancel. *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring ssrZ.
From equimargin Require Import inner.
From equimargin.checker Require Import integers spaces.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Together.
Variables (R : realFieldType) (g : seq Z -> R).
Let term (X : seq (seq Z)) (k : seq Z) i := zr (entry k i) * g (nth [::] X i).
Lemma same_name_eq x y : same_name x y -> x = y.
Proof. by elim: x y => [|a x IH] [|b y] //= /andP[/Z.eqb_eq -> /IH ->]. Qed.
Lemma without_sum x X k : size k = size X ->
  \sum_(i < size X) term X k i = zr (total (of_name x X k)) * g x + \sum_(i < size X) term X (but_name x X k) i.
Proof.
elim: X k => [|y X IH] [|a k] //= => [_|[e]]; first by rewrite !big_ord0 zr0 mul0r addr0.
rewrite !big_ord_recl /= IH // /term /=; case e': (same_name x y) => /=; last by rewrite addrCA.
by rewrite -(same_name_eq e') zrD mulrDl zr0 mul0r add0r addrA.
Qed.
Lemma size_but_name x X k : size k = size X -> size (but_name x X k) = size X.
Proof. by elim: X k => [|y X IH] [|a k] //= [e]; rewrite IH. Qed.
Lemma size_together X k n : size k = size X -> size (together X k n) = size X.
Proof. elim: n X k => [|n IH] [|x X] [|a k] //= [e]; case: Z.eqb; rewrite /= ?IH ?size_but_name ?e //. Qed.
Lemma but_name_used x X k i : entry k i = Z0 -> entry (but_name x X k) i = Z0.
Proof. by elim: X k i => [|y X IH] [|a k] [|i] //=; rewrite /entry ?nth_nil //=; [case: same_name|exact: IH]. Qed.
Lemma together_used X k n i : entry k i = Z0 -> entry (together X k n) i = Z0.
Proof.
elim: n X k i => [|n IH] [|x X] [|a k] [|i] //=; first by move=> ->.
by case: Z.eqb => h; apply: IH => //; exact: but_name_used.
Qed.
Lemma together_sum n X k : size k = size X -> \sum_(i < size X) term X k i = \sum_(i < size X) term X (together X k n) i.
Proof.
elim: n X k => [|n IH] [|x X] [|a k] //= [e]; case: Z.eqb => /=; rewrite !big_ord_recl /= /term /= -/(term _ _).
  by congr (_ + _); exact: IH.
rewrite (without_sum x e) addrA zrD mulrDl; congr (_ + _); apply: IH; exact: size_but_name.
Qed.
End Together.

Section Values.
Variables (R : realFieldType) (N : enclosure).
Local Notation G := (matrix N).
Local Notation X := (names N).
Local Notation m := (size X).
Variable K : 'I_m -> 'I_m -> R.
Hypothesis sym : forall i j, K i j = K j i.
Hypothesis size_G : size (entries G) = m.
(** In each column whose point has a coefficient that is not 0, the entries are within the error of K. *)
Definition near_of (k : seq Z) := forall i j : 'I_m, entry k j != Z0 -> `|K i j - entry_of R G i j| <= frac (Fraction (wrong N) (gram_unit G)).
Lemma together_over k u (g : seq Z -> R) : size k = m ->
  \sum_(i < m) over k u i * g (nth [::] X i) = \sum_(i < m) over (together X k (size k)) u i * g (nth [::] X i).
Proof.
move=> e; have scaled l : \sum_(i < m) over l u i * g (nth [::] X i) = (zr (Zpos u))^-1 * \sum_(i < m) zr (entry l i) * g (nth [::] X i).
  by rewrite mulr_sumr; apply: eq_bigr => i _; rewrite mulrA (mulrC _^-1).
by rewrite !scaled (together_sum g (size k) e).
Qed.
Lemma abs_total k u : size k = m -> \sum_(i < m) `|over k u i| = frac (Fraction (total [seq Z.abs a | a <- k]) u) :> R.
Proof.
move=> e; rewrite -(@over_total R m) ?size_map //; apply: eq_bigr => i _; rewrite /over /entry (nth_map Z0) ?e // normrM.
rewrite [`|(zr (Zpos u))^-1|]ger0_norm ?invr_ge0 ?ltW ?zr_gt0 //; congr (_ / _).
case: (nth Z0 k i) => [|p|p]; rewrite ?normr0 ?(gtr0_norm (zr_gt0 R p)) //.
by rewrite -[zr (Zneg p)]/(zr (Z.opp (Zpos p))) zrN normrN gtr0_norm ?zr_gt0.
Qed.
Lemma enclosed_value k u (j : 'I_m) : near_of k -> size k = m -> let f := of_enclosed N k u in
  `|\sum_(i < m) over (together X k (size k)) u i * K i j - over (values f) (value_unit f) j| <= frac (Fraction (noise f) (value_unit f)).
Proof.
move=> near e; cbv zeta; set f := of_enclosed N k u; set k' := together X k (size k); have e' : size k' = m by rewrite /k' (size_together _ e).
have -> : over (values f) (value_unit f) j = \sum_(i < m) over k' u i * entry_of R G j i.
  by rewrite /entry_of over_product ?e' // /over /entry /= (nth_map [::]) ?size_G.
rewrite -sumrB (le_trans (ler_norm_sum _ _ _)) //.
have -> : frac (Fraction (noise f) (value_unit f)) = (\sum_(i < m) `|over k' u i|) * frac (Fraction (wrong N) (gram_unit G)) :> R.
  by rewrite abs_total // -fracM /frac /= Z.mul_comm.
rewrite mulr_suml; apply: ler_sum => i _; rewrite -mulrBr normrM; have [z|z] := eqVneq (entry k i) Z0; last by rewrite ler_wpmul2l ?normr_ge0 // sym near.
by rewrite /over (together_used X (size k) z) zr0 !mul0r normr0 !mul0r.
Qed.
Lemma noise_ge0 k u : size k = m -> Z.leb Z0 (wrong N) -> 0 <= frac (Fraction (noise (of_enclosed N k u)) (value_unit (of_enclosed N k u))) :> R.
Proof.
move=> e wrong0; set k' := together X k (size k); have e' : size k' = m by rewrite /k' (size_together _ e).
apply: divr_ge0; last exact: ltW (zr_gt0 _ _).
by have := abs_total 1 e'; rewrite /frac /= zr1 divr1 zrM => <-; rewrite mulr_ge0 ?zr_ge0 ?sumr_ge0.
Qed.
End Values.

Section Enclosed.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (N : enclosure) (K : seq Z -> seq Z -> R).
Local Notation G := (matrix N).
Local Notation X := (names N).
Local Notation m := (size X).
Variable x : 'I_m -> V.
Hypothesis inner : forall i j, ip (x i) (x j) = K (nth [::] X i) (nth [::] X j).
Hypothesis size_G : size (entries G) = m.
Local Notation near k := (near_of (N := N) (fun i j => ip (x i) (x j)) k).
Hypothesis wrong0 : Z.leb Z0 (wrong N).
Lemma enclosed_fit k u : near k -> size k = m -> fits ip (at_place x) (of_enclosed N k u) (\sum_(i < m) over (together X k (size k)) u i *: at_place x i).
Proof.
move=> isnear e; set k' := together X k (size k); have e' : size k' = m by rewrite /k' (size_together _ e).
have -> : \sum_(i < m) over k' u i *: at_place x i = \sum_(i < m) over k' u i *: x i by apply: eq_bigr => i _; rewrite at_place_in.
set f := of_enclosed N k u.
have value (j : 'I_m) : `|ip (\sum_(i < m) over k' u i *: x i) (x j) - over (values f) (value_unit f) j| <= frac (Fraction (noise f) (value_unit f)).
  rewrite ip_suml (eq_bigr (fun i : 'I_m => over k' u i * ip (x i) (x j))) => [|i _]; last by rewrite ip_scalel.
  have sym i' j' : ip (x i') (x j') = ip (x j') (x i') by exact: ip_sym.
  exact: (@enclosed_value R N (fun i j => ip (x i) (x j)) sym size_G).
split=> [i|].
  have [l|l] := ltnP i m; first by rewrite -[i]/(nat_of_ord (Ordinal l)) at_place_in; exact: value.
  by rewrite at_place_out // ip0r /over /entry /= nth_default ?size_map ?size_G // zr0 mul0r subrr normr0 noise_ge0.
rewrite ip_sumr /length2 /f /of_enclosed -/k' [X in _ <= X]/frac [num _]/= [den _]/= zrD mulrDl.
have -> : zr (product k' (values f)) / zr (Zpos (Pos.mul u (Pos.mul u (gram_unit G)))) = \sum_(j < m) over k' u j * over (values f) (value_unit f) j :> R.
  by rewrite over_product ?e'.
have -> : zr (Z.mul (wrong N) (Z.mul (total [seq Z.abs a | a <- k']) (total [seq Z.abs a | a <- k']))) / zr (Zpos (Pos.mul u (Pos.mul u (gram_unit G)))) =
    \sum_(j < m) `|over k' u j| * frac (Fraction (noise f) (value_unit f)) :> R.
  by rewrite -mulr_suml abs_total // -fracM /frac /= Z.mul_assoc (Z.mul_comm _ (total _)).
rewrite -big_split; apply: ler_sum => j _ /=; rewrite ip_scaler -[_ * ip _ _](subrK (over k' u j * over (values f) (value_unit f) j)) addrC ler_add2l -mulrBr.
by rewrite (le_trans (ler_norm _)) // normrM ler_wpmul2l ?normr_ge0 // value.
Qed.
Theorem enclosed_described ks : (forall k, k \in ks -> near k) -> described ip ks (Enclosed N) x.
Proof.
move=> nears; split=> k u /nears isnear e; first by exists (\sum_(i < m) over (together X k (size k)) u i *: at_place x i); exact: enclosed_fit.
have [_ h] := enclosed_fit u isnear e; cbv zeta; apply: le_trans h.
have pairs l : ip (\sum_(i < m) over l u i *: at_place x i) (\sum_(i < m) over l u i *: at_place x i) =
    \sum_(i < m) over l u i * \sum_(j < m) over l u j * K (nth [::] X i) (nth [::] X j).
  rewrite ip_suml; apply: eq_bigr => i _; rewrite ip_scalel ip_sumr; congr (_ * _); apply: eq_bigr => j _.
  by rewrite ip_scaler !at_place_in inner.
rewrite !pairs (together_over u (fun z => \sum_(j < m) over k u j * K z (nth [::] X j))) // le_eqVlt; apply/orP; left; apply/eqP.
by apply: eq_bigr => i _; rewrite (together_over u (K (nth [::] X i))).
Qed.
End Enclosed.
