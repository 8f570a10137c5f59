(** * Gram matrices that are sums of squares

    A matrix K is [a_gram] if K_ij = sum_k d_k a_k(i) a_k(j) for some d_k >= 0: then there are points of a space whose inner products are its
    entries ([gram_points]). Sums of such matrices are [a_gram], and by Schur so are their products and powers entry by entry ([gram_add], [gram_mul],
    [gram_power]), and the values of a polynomial kernel with nonnegative parameters ([polynomial_gram]). *)
From mathcomp Require Import all_ssreflect all_algebra.
From equimargin Require Import inner.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Gram.
Variables (R : realFieldType) (m : nat).
Implicit Types K L : 'I_m -> 'I_m -> R.
(** m points of some space with these inner products. *)
Definition has_points K := exists (V : lmodType R) (ip : semi_inner V) (x : 'I_m -> V), forall i j, ip (x i) (x j) = K i j.
Definition a_gram K := exists (T : finType) (d : T -> R) (a : T -> 'I_m -> R),
  (forall k, 0 <= d k) /\ forall i j, K i j = \sum_k d k * (a k i * a k j).

Lemma gram_ext K L : (forall i j, K i j = L i j) -> a_gram K -> a_gram L.
Proof. by move=> e [T [d [a [d0 h]]]]; exists T, d, a; split=> // i j; rewrite -e. Qed.
Lemma gram_constant c : 0 <= c -> a_gram (fun _ _ => c).
Proof. by move=> c0; exists [finType of Datatypes.unit], (fun=> c), (fun _ _ => 1); split=> // i j; rewrite big_const card_unit /= !mulr1 addr0. Qed.
Lemma gram_dot d (x : 'I_m -> 'rV[R]_d) : a_gram (fun i j => dot (x i) (x j)).
Proof.
exists [finType of 'I_d], (fun=> 1), (fun k i => x i 0 k); split=> [k|i j]; first exact: ler01.
by rewrite dotE; apply: eq_bigr => k _; rewrite mul1r.
Qed.
Lemma gram_add K L : a_gram K -> a_gram L -> a_gram (fun i j => K i j + L i j).
Proof.
move=> [T [d [a [d0 h]]]] [U [e [b [e0 g]]]].
exists [finType of T + U], (fun k => match k with inl t => d t | inr u => e u end), (fun k => match k with inl t => a t | inr u => b u end).
by split=> [[t|u]|i j]; rewrite ?h ?g ?big_sumType.
Qed.
Lemma gram_mul K L : a_gram K -> a_gram L -> a_gram (fun i j => K i j * L i j).
Proof.
move=> [T [d [a [d0 h]]]] [U [e [b [e0 g]]]].
exists [finType of T * U], (fun k => d k.1 * e k.2), (fun k i => a k.1 i * b k.2 i); split=> [k|i j]; first exact: mulr_ge0.
rewrite h g big_distrlr pair_bigA /=; apply: eq_bigr => k _.
by rewrite mulrACA [a k.1 i * _ * _]mulrACA.
Qed.
Lemma gram_power K n : a_gram K -> a_gram (fun i j => K i j ^+ n).
Proof.
move=> gK; elim: n => [|n IH]; first exact: (gram_ext _ (gram_constant ler01)).
by apply: gram_ext (gram_mul gK IH) => i j; rewrite exprS.
Qed.
(** (gamma <x_i, x_j> + c)^n + k, the constant k of a penalised bias included. *)
Theorem polynomial_gram d (x : 'I_m -> 'rV[R]_d) gamma c n k : 0 <= gamma -> 0 <= c -> 0 <= k ->
  a_gram (fun i j => (gamma * dot (x i) (x j) + c) ^+ n + k).
Proof.
move=> g0 c0 k0; apply: gram_add (gram_constant k0); apply: gram_power; apply: gram_add (gram_constant c0).
exact: gram_mul (gram_constant g0) (gram_dot x).
Qed.

(** The space of the a_k, in which the coordinate k counts d_k times. *)
Section Space.
Variables (T : finType) (d : T -> R).
Hypothesis d0 : forall k, 0 <= d k.
Local Notation V := [lmodType R of {ffun T -> R^o}].
Definition weighed (u v : V) : R := \sum_k d k * (u k * v k).
Fact weighed_sym u v : weighed u v = weighed v u.
Proof. by apply: eq_bigr => k _; rewrite (mulrC (u k)). Qed.
Fact weighed_addl u v w : weighed (u + v) w = weighed u w + weighed v w.
Proof. by rewrite -big_split; apply: eq_bigr => k _ /=; rewrite ffunE mulrDl mulrDr. Qed.
Fact weighed_scalel c (u v : V) : weighed (c *: u) v = c * weighed u v.
Proof. by rewrite mulr_sumr; apply: eq_bigr => k _; rewrite ffunE -[c *: (_ : R^o)]/(c * _) -mulrA mulrCA. Qed.
Fact weighed_ge0 u : 0 <= weighed u u.
Proof. by apply: sumr_ge0 => k _; rewrite mulr_ge0 // -expr2 sqr_ge0. Qed.
Definition weighed_ip := SemiInner weighed_sym weighed_addl weighed_scalel weighed_ge0.
End Space.
Theorem gram_points K : a_gram K -> has_points K.
Proof.
case=> T [d [a [d0 h]]]; exists [lmodType R of {ffun T -> R^o}], (weighed_ip d0), (fun i => [ffun k => a k i]) => i j.
by rewrite h /= /weighed; apply: eq_bigr => k _; rewrite !ffunE.
Qed.
End Gram.
