(** * Sums of powers, expanded in the features

    The function sum_j k_j <x_j, z>^n of points x_j is a polynomial in the features of z. If these are few, it has fewer coefficients than there are
    pairs of points, and its values at all points take less time by its coefficients than by the matrix of all <x_i, x_j>^n.
    [expandedE]: both computations give the same integer. *)
From Coq Require Import ZArith Lia.
From mathcomp Require Import all_ssreflect.
From equimargin.checker Require Import products integers.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope Z_scope.

(** ** What is computed *)
Fixpoint power (a : Z) (n : nat) : Z := if n is n'.+1 then product_of a (power a n') else 1.
(** A polynomial in several variables: a constant, or p + z q, where z is the first variable, q is in all variables and p in the others. *)
Inductive form := Constant of Z | Plus of form & form.
Fixpoint value_at (f : form) (z : seq Z) : Z := match f, z with
  | Constant a, _ => a | Plus p q, a :: z' => value_at p z' + product_of a (value_at q z) | Plus _ _, [::] => 0 end.
Fixpoint products_of_two (s t : seq Z) : seq Z := match s, t with a :: s', b :: t' => product_of a b :: products_of_two s' t' | _, _ => [::] end.
Fixpoint sums_of_two (s t : seq Z) : seq Z := match s, t with a :: s', b :: t' => a + b :: sums_of_two s' t' | _, _ => [::] end.
(** The binomial coefficients of n. *)
Fixpoint binomials (n : nat) : seq Z := if n is n'.+1 then let s := binomials n' in sums_of_two (0 :: s) (rcons s 0) else [:: 1].
(** The polynomial whose value at a :: z is sum_m b_m a^m sum_j k_j c_j^m <x_j, z>^(n - m): c_j is the first feature of the point x_j, and <x_j, z> is
    of its other features. *)
Fixpoint terms (in_others : nat -> seq Z -> form) (c bs : seq Z) (n : nat) (k : seq Z) : form :=
  if bs is b :: bs' then Plus (in_others n [seq b * e | e <- k]) (terms in_others c bs' n.-1 (products_of_two c k)) else Constant 0.
(** sum_j k_j <x_j, z>^n as a polynomial in z, for points of d features. *)
Fixpoint expanded (d n : nat) (k : seq Z) (X : seq (seq Z)) : form :=
  if n is 0%nat then Constant (total k) else if d is d'.+1 then
    let others := [seq behead x | x <- X] in terms (fun n k => expanded d' n k others) [seq head 0 x | x <- X] (binomials n) n k
  else Constant 0.

(** ** What it means *)
(** sum_j k_j <x_j, z>^n, computed term by term. *)
Fixpoint power_sum (n : nat) (k : seq Z) (X : seq (seq Z)) (z : seq Z) : Z :=
  match k, X with a :: k', x :: X' => a * power (product x z) n + power_sum n k' X' z | _, _ => 0 end.
Lemma powerS a n : power a n.+1 = a * power a n.
Proof. exact: product_ofE. Qed.
(** sum_m b_m u^m p^(n - m). *)
Fixpoint in_two (bs : seq Z) (n : nat) (u p : Z) : Z := if bs is b :: bs' then b * power p n + u * in_two bs' n.-1 u p else 0.
Lemma in_twoS b bs n u p : in_two (b :: bs) n u p = b * power p n + u * in_two bs n.-1 u p.
Proof. by []. Qed.
Lemma in_two_sums s t n u p : size s = size t -> in_two (sums_of_two s t) n u p = in_two s n u p + in_two t n u p.
Proof.
elim: s t n => [|a s IH] [|b t] n //= [e]; rewrite IH //.
by move: (power _ _) (in_two _ _ _ _) (in_two _ _ _ _) => *; ring.
Qed.
Lemma in_two_rcons s n u p : (size s <= n.+1)%nat -> in_two (rcons s 0) n.+1 u p = p * in_two s n u p.
Proof.
elim: s n => [|a s IH] n le; first by rewrite /= Z.mul_0_l !Z.mul_0_r.
rewrite rcons_cons !in_twoS powerS.
case: n le => [|n] le; last by rewrite IH // [_.+1.-1]/=; move: (power _ _) (in_two _ _ _ _) => *; ring.
by case: s le {IH} => //= _; ring.
Qed.
Lemma binomialsS n : binomials n.+1 = sums_of_two (0 :: binomials n) (rcons (binomials n) 0).
Proof. by []. Qed.
Lemma size_binomials n : size (binomials n) = n.+1.
Proof.
have size_sums s t : size s = size t -> size (sums_of_two s t) = size s by elim: s t => [|a s IH] [|b t] //= [e]; rewrite IH.
by elim: n => [|n IH] //; rewrite binomialsS size_sums /= ?size_rcons IH.
Qed.
Lemma binomial_theorem n u p : in_two (binomials n) n u p = power (u + p) n.
Proof.
elim: n => [|n IH]; first by rewrite /=; ring.
rewrite powerS -IH binomialsS in_two_sums; last by rewrite size_rcons.
rewrite in_two_rcons ?size_binomials // in_twoS.
by move: (power _ _) (in_two _ _ _ _) => *; ring.
Qed.
(** sum_j k_j sum_m b_m (c_j a)^m <x_j, z>^(n - m). *)
Fixpoint two_sum (bs : seq Z) (n : nat) (a : Z) (z k c : seq Z) (X : seq (seq Z)) : Z := match k, c, X with
  | b :: k', e :: c', x :: X' => b * in_two bs n (e * a) (product x z) + two_sum bs n a z k' c' X' | _, _, _ => 0 end.
Lemma two_sumS b bs n a z k c X : size k = size X -> size c = size X ->
  two_sum (b :: bs) n a z k c X = power_sum n [seq b * e | e <- k] X z + a * two_sum bs n.-1 a z (products_of_two c k) c X.
Proof.
elim: X k c => [|x X IH] [|e k] [|d c] //= => [_ _|[ek] [ec]]; first by ring.
by rewrite IH // product_ofE; move: (power _ _) (in_two _ _ _ _) (power_sum _ _ _ _) (two_sum _ _ _ _ _ _ _) => *; ring.
Qed.
Lemma two_sum0 n a z k c X : two_sum [::] n a z k c X = 0.
Proof. by elim: X k c => [|x X IH] [|e k] [|d c] //=; rewrite IH; ring. Qed.
Lemma size_products c k : size c = size k -> size (products_of_two c k) = size k.
Proof. by elim: c k => [|a c IH] [|b k] //= [e]; rewrite IH. Qed.
Lemma total_of_powers k X z : size k = size X -> total k = power_sum 0 k X z.
Proof. by elim: X k => [|x X IH] [|a k] //= [sk]; rewrite -(IH k sk); ring. Qed.
Lemma termsE in_others n a z k c X : size c = size X -> size k = size X ->
  (forall m k, size k = size X -> value_at (in_others m k) z = power_sum m k X z) ->
  forall bs, value_at (terms in_others c bs n k) (a :: z) = two_sum bs n a z k c X.
Proof.
move=> sc + others bs; elim: bs n k => [|b bs IH] n k sk; first by rewrite two_sum0.
by rewrite two_sumS //= product_ofE IH ?size_products ?sc // others // size_map.
Qed.
Lemma expandedS d n k X : expanded d.+1 n.+1 k X =
  terms (fun n k => expanded d n k [seq behead x | x <- X]) [seq head 0 x | x <- X] (binomials n.+1) n.+1 k.
Proof. by []. Qed.
Theorem expandedE d n k X z : size k = size X -> all (fun x => size x == d) X -> size z = d -> value_at (expanded d n k X) z = power_sum n k X z.
Proof.
elim: d n k X z => [|d IH] [|n] k X z sk same sz; try exact: total_of_powers.
  have none Y l : all (fun x => size x == 0%nat) Y -> power_sum n.+1 l Y z = 0.
    by elim: Y l => [|x Y IH] [|a l] //= /andP[/eqP/size0nil -> s]; rewrite (IH l s) Z.mul_0_r.
  by rewrite none.
case: z sz => // a z [sz]; rewrite expandedS; move: (binomials n.+1) n.+1 (binomial_theorem n.+1) => bs {}n whole.
rewrite (@termsE _ _ _ _ _ _ [seq behead x | x <- X]) ?size_map // => [|m l sl]; last first.
  by apply: IH => //; rewrite ?size_map ?all_map //; apply: sub_all same => x /=; rewrite size_behead => /eqP ->.
elim: X k sk same => [|x X IHX] [|b k] //= [sk] /andP[sx same].
by rewrite whole IHX //; case: x sx => // e x _ /=; rewrite product_ofE.
Qed.
Lemma power_sum_product a b n k X z : size k = size X ->
  a * power_sum n k X z + b * total k = product k [seq product_of a (power (product x z) n) + b | x <- X].
Proof.
elim: X k => [|x X IH] [|e k] //= => [_|[sk]]; first by rewrite !Z.mul_0_r.
by rewrite -IH // !product_ofE; move: (power _ _) (power_sum _ _ _ _) (total _) => *; ring.
Qed.
