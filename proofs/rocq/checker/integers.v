(** * Lists of integers over a unit

    The checker computes in Coq's binary integers Z: a list of rationals is a list of integers and one unit, a positive integer
    by which each of them is divided, and a single rational is a [fraction]. Their values in an ordered field R are defined below:
    [zr] of an integer, [frac] of a fraction, [over s u i] the rational at place i of a list, [vec d s u] the list as a row of R^d. *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ssrZ.
From equimargin Require Import inner.
From equimargin.checker Require Import products.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

Arguments Z.mul : simpl never. Arguments Z.add : simpl never. Arguments Z.sub : simpl never. Arguments Z.opp : simpl never.
Arguments Z.max : simpl never. Arguments Z.leb : simpl never. Arguments Z.eqb : simpl never. Arguments Pos.mul : simpl never.

(** ** What is computed *)
Record fraction := Fraction { num : Z; den : positive }.
Definition fadd p q := Fraction (Z.add (Z.mul (num p) (Zpos (den q))) (Z.mul (num q) (Zpos (den p)))) (Pos.mul (den p) (den q)).
Definition fmul p q := Fraction (Z.mul (num p) (num q)) (Pos.mul (den p) (den q)).
Definition fopp p := Fraction (Z.opp (num p)) (den p).
Definition fleb p q := Z.leb (Z.mul (num p) (Zpos (den q))) (Z.mul (num q) (Zpos (den p))).
Definition half := Fraction (Zpos 1) 2.

Definition entry (s : seq Z) i := nth Z0 s i.
Fixpoint total (s : seq Z) : Z := if s is a :: s' then Z.add a (total s') else Z0.
Fixpoint product (s t : seq Z) : Z := match s, t with a :: s', b :: t' => Z.add (product_of a b) (product s' t') | _, _ => Z0 end.
(** k s + t; the shorter list is padded with zeros. *)
Fixpoint plus_multiple (k : Z) (s t : seq Z) : seq Z :=
  match s, t with
  | [::], _ => t
  | a :: s', [::] => product_of k a :: plus_multiple k s' [::]
  | a :: s', b :: t' => Z.add (product_of k a) b :: plus_multiple k s' t'
  end.

(** ** What it means *)
Lemma product_sym s t : product s t = product t s.
Proof. by elim: s t => [|a s IH] [|b t] //=; rewrite IH !product_ofE Z.mul_comm. Qed.
Local Open Scope ring_scope.
Section Meaning.
Variable R : realFieldType.

Definition zr (z : Z) : R := (int_of_Z z)%:~R.
Definition frac (q : fraction) : R := zr (num q) / zr (Zpos (den q)).
Definition over (s : seq Z) (u : positive) i : R := zr (entry s i) / zr (Zpos u).
Definition vec d (s : seq Z) (u : positive) : 'rV[R]_d := \row_k over s u k.

Lemma zr0 : zr Z0 = 0. Proof. by []. Qed.
Lemma zr1 : zr (Zpos 1) = 1. Proof. by []. Qed.
Lemma zrD a b : zr (Z.add a b) = zr a + zr b. Proof. by rewrite /zr -[Z.add a b]/(a + b) !rmorphD. Qed.
Lemma zrN a : zr (Z.opp a) = - zr a. Proof. by rewrite /zr -[Z.opp a]/(- a) !rmorphN. Qed.
Lemma zrB a b : zr (Z.sub a b) = zr a - zr b. Proof. by rewrite -Z.add_opp_r zrD zrN. Qed.
Lemma zrM a b : zr (Z.mul a b) = zr a * zr b. Proof. by rewrite /zr -[Z.mul a b]/(a * b) !rmorphM. Qed.
Lemma zrP p q : zr (Zpos (Pos.mul p q)) = zr (Zpos p) * zr (Zpos q). Proof. by rewrite Pos2Z.inj_mul zrM. Qed.
Lemma zr_gt0 p : 0 < zr (Zpos p).
Proof. by rewrite ltr0z /= ltz_nat; apply/ssrnat.ltP/Pos2Nat.is_pos. Qed.
Lemma zr_neq0 p : zr (Zpos p) != 0. Proof. by rewrite gt_eqF ?zr_gt0. Qed.
Lemma zr_ge0 a : Z.leb Z0 a -> 0 <= zr a. Proof. by case: a => // p _; rewrite ltW ?zr_gt0. Qed.
Lemma zr_le a b : Z.leb a b -> zr a <= zr b.
Proof. move=> h; rewrite -subr_ge0 -zrB zr_ge0 //; apply/Z.leb_le/Z.le_0_sub; exact/Z.leb_le. Qed.
Lemma zr_max a b : zr (Z.max a b) = Num.max (zr a) (zr b).
Proof.
have [[h ->]|[h ->]] := Z.max_spec a b; first by rewrite max_r // zr_le //; apply/Z.leb_le/Z.lt_le_incl.
by rewrite max_l // zr_le //; apply/Z.leb_le.
Qed.

Lemma fracD p q : frac (fadd p q) = frac p + frac q.
Proof. by rewrite /frac /= zrD !zrM zrP addf_div ?zr_neq0. Qed.
Lemma fracM p q : frac (fmul p q) = frac p * frac q.
Proof. by rewrite /frac /= zrM zrP mulf_div. Qed.
Lemma fracN p : frac (fopp p) = - frac p.
Proof. by rewrite /frac /= zrN mulNr. Qed.
Lemma frac_half : frac half = 2%:R^-1.
Proof. by rewrite /frac /= zr1 mul1r. Qed.
Lemma frac_le p q : fleb p q -> frac p <= frac q.
Proof.
by move=> /zr_le; rewrite !zrM /frac ler_pdivr_mulr ?zr_gt0 // mulrAC ler_pdivl_mulr ?zr_gt0.
Qed.

Lemma zr_total s : zr (total s) = \sum_(i < size s) zr (entry s i).
Proof. by elim: s => [|a s IH] /=; [rewrite big_ord0|rewrite big_ord_recl zrD IH]. Qed.
Lemma zr_product d s t : (size s <= d)%N -> zr (product s t) = \sum_(k < d) zr (entry s k) * zr (entry t k).
Proof.
elim: d s t => [|d IH] [|a s] [|b t] //= h; rewrite /entry ?big_ord0 //;
  try by rewrite big1 // => i _; rewrite ?nth_nil ?mul0r ?mulr0.
by rewrite big_ord_recl zrD product_ofE zrM IH.
Qed.
Lemma zr_plus_multiple k s t i : zr (entry (plus_multiple k s t) i) = zr k * zr (entry s i) + zr (entry t i).
Proof.
rewrite /entry; elim: s t i => [|a s IH] [|b t] [|i] //=; rewrite ?mulr0 ?add0r ?addr0 ?zrD ?product_ofE ?zrM // IH ?nth_nil ?addr0 //.
Qed.
Lemma size_plus_multiple k s t d : (size s <= d)%N -> (size t <= d)%N -> (size (plus_multiple k s t) <= d)%N.
Proof. by elim: s t d => [|a s IH] [|b t] [|d] //= hs ht; apply: IH. Qed.

Lemma over_total n s u : size s = n -> \sum_(i < n) over s u i = frac (Fraction (total s) u).
Proof. by move=> <-; rewrite /frac /= zr_total mulr_suml. Qed.
Lemma over_product n s t u v : (size s <= n)%N ->
  \sum_(i < n) over s u i * over t v i = frac (Fraction (product s t) (Pos.mul u v)).
Proof. by move=> h; rewrite /frac /= (zr_product _ h) zrP mulr_suml; apply: eq_bigr => i _; rewrite /over mulf_div. Qed.
Lemma over_ge0 s u i : all (Z.leb Z0) s -> 0 <= over s u i.
Proof.
move=> h; apply: divr_ge0; last exact: ltW (zr_gt0 u).
have [l|l] := ltnP i (size s); last by rewrite /entry nth_default.
by apply: zr_ge0; exact: (all_nthP Z0 h).
Qed.

Section Vector.
Variable d : nat.
Lemma vec_nil u : vec d [::] u = 0. Proof. by apply/rowP => k; rewrite !mxE /over /entry nth_nil mul0r. Qed.
Lemma vec_plus_multiple k s t u : vec d (plus_multiple k s t) u = zr k *: vec d s u + vec d t u.
Proof. by apply/rowP => i; rewrite !mxE /over zr_plus_multiple mulrDl mulrA. Qed.
Lemma vec_unit k s u : (zr (Zpos k))^-1 *: vec d s u = vec d s (Pos.mul k u).
Proof. by apply/rowP => i; rewrite !mxE /over zrP invfM mulrCA. Qed.
Lemma dot_vec s t u v : (size s <= d)%N -> dot (vec d s u) (vec d t v) = frac (Fraction (product s t) (Pos.mul u v)).
Proof. by move=> h; rewrite dotE -(over_product _ _ _ h); apply: eq_bigr => k _; rewrite !mxE. Qed.
End Vector.
End Meaning.
Arguments zr {R}. Arguments frac {R}. Arguments over {R}. Arguments vec {R}.
