(** * Integer matrices that are proved positive semidefinite

    A symmetric matrix is given by the rows of its lower triangle. It is proved to be [a_gram], a sum of squares, by one of two methods:

    [has_a_dominant_remainder]   for some L, the matrix minus L L' is diagonally dominant. L is computed in integer multiples of 2^-64; the proof does
                                 not depend on how
    [has_no_negative_pivot]      fraction-free elimination has no negative pivot, and only zeros in the row of a pivot of 0. That its
                                 divisions leave no remainder is checked, not proved

    In the first method integers do not grow, but eigenvalues must be clearly above 0, which excludes singular matrices; the second is exact. *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring ssrZ.
From equimargin Require Import inner.
From equimargin.checker Require Import integers gram.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

(** ** What is computed *)
(** The entry i, j of the symmetric matrix of a lower triangle, and of an upper triangle, whose rows begin on the diagonal. *)
Definition in_lower (t : seq (seq Z)) i j := entry (nth [::] t (maxn i j)) (minn i j).
Definition in_upper (t : seq (seq Z)) i j := entry (nth [::] t (minn i j)) (maxn i j - minn i j).

Section Pivots.
Variables pivot last : positive.
Fixpoint eliminated_row (x : Z) (beside row : seq Z) : option (seq Z) := match beside, row with
  | y :: beside', v :: row' =>
      let: (q, rest) := Z.div_eucl (Z.sub (Z.mul (Zpos pivot) v) (Z.mul x y)) (Zpos last) in
      if Z.eqb rest Z0 then omap (cons q) (eliminated_row x beside' row') else None
  | [::], [::] => Some [::]
  | _, _ => None end.
(** The rows below a pivot after its elimination, from the entries beside it; None if a division by the last pivot leaves a remainder. *)
Fixpoint eliminated (beside : seq Z) (below : seq (seq Z)) : option (seq (seq Z)) := match beside, below with
  | x :: beside', row :: below' =>
      if eliminated_row x (x :: beside') row is Some row' then omap (cons row') (eliminated beside' below') else None
  | [::], [::] => Some [::]
  | _, _ => None end.
End Pivots.
(** The method applied to an upper triangle of n rows. *)
Fixpoint has_no_negative_pivot (n : nat) (last : positive) (t : seq (seq Z)) : bool := match n, t with
  | 0, _ => true
  | n'.+1, (Zpos pivot :: beside) :: below =>
      if eliminated pivot last beside below is Some t' then has_no_negative_pivot n' pivot t' else false
  | n'.+1, (Z0 :: beside) :: below => if all (Z.eqb Z0) beside then has_no_negative_pivot n' last below else false
  | _, _ => false end.
Definition upper_triangle (t : seq (seq Z)) : seq (seq Z) :=
  let n := size t in [seq [seq in_lower t i j | j <- iota i (n - i)] | i <- iota 0 n].

Definition FACTOR_BITS : Z := 64.
(** v / largest in units of 2^-(2 FACTOR_BITS). *)
Definition relative (largest v : Z) := Z.div (Z.mul v (Z.pow 2 (Z.mul 2 FACTOR_BITS))) largest.
(** Cholesky's rows of L in units of 2^-FACTOR_BITS sqrt(largest), each from its diagonal to the left. *)
Fixpoint factor_row (largest : Z) (row : seq Z) (L : seq (seq Z)) (r : seq Z) : seq Z := match row, L with
  | v :: row', (d :: l) :: L' => factor_row largest row' L' (Z.div (Z.sub (relative largest v) (product r l)) d :: r)
  | _, _ => r end.
(** The factorisation ends if a number under a root is not positive: the method then fails, and further numbers would only get longer. *)
Fixpoint factor (largest spare : Z) (t L : seq (seq Z)) : seq (seq Z) := match t with
  | row :: t' => let r := factor_row largest row L [::] in
      let square := Z.sub (Z.sub (relative largest (last Z0 row)) spare) (product r r) in
      if Z.leb square 0 then L else factor largest spare t' (rcons L (Z.sqrt square :: r))
  | [::] => L end.
Definition largest_on_diagonal (t : seq (seq Z)) : Z := foldr (fun row => Z.max (last Z0 row)) (Zpos 1) t.
(** The diagonal is reduced by 2 n units of 2^-FACTOR_BITS of the largest entry, to cover rounding. *)
Definition proposed_factor (largest : Z) (t : seq (seq Z)) : seq (seq Z) :=
  let spare := Z.mul (Z.of_nat (size t + size t)) (Z.pow 2 FACTOR_BITS) in [seq rev r | r <- factor largest spare t [::]].
(** The lower triangle of s K - k L L'. *)
Definition remainder (s k : Z) (t L : seq (seq Z)) : seq (seq Z) :=
  [seq let l := nth [::] L i in
    [seq Z.sub (Z.mul s (in_lower t i j)) (Z.mul k (product l (nth [::] L j))) | j <- iota 0 i.+1] | i <- iota 0 (size t)].
Definition is_dominant (n : nat) (t : seq (seq Z)) :=
  all (fun i => Z.leb (total [seq Z.abs (in_lower t i j) | j <- iota 0 n]) (Z.mul 2 (in_lower t i i))) (iota 0 n).
Definition has_a_dominant_remainder (t : seq (seq Z)) : bool :=
  let k := largest_on_diagonal t in
  Z.leb 0 k && is_dominant (size t) (remainder (Z.pow 2 (Z.mul 2 FACTOR_BITS)) k t (proposed_factor k t)).
Definition is_semidefinite (t : seq (seq Z)) : bool :=
  if has_a_dominant_remainder t then true else has_no_negative_pivot (size t) 1 (upper_triangle t).
(** A matrix in which rows and columns with a 0 on the diagonal are 0 is checked without these rows and columns. *)
Definition is_zero := all (Z.eqb Z0).
Definition is_semidefinite_in_part (t : seq (seq Z)) : bool :=
  let used := [seq ~~ Z.eqb (last Z0 r) Z0 | r <- t] in let unused := map negb used in
  [&& all is_zero (mask unused t), all (fun r => is_zero (mask unused r)) t & is_semidefinite [seq mask used r | r <- mask used t]].

(** ** What it means *)
Local Open Scope ring_scope.
Section Grams.
Variable R : realFieldType.
Lemma gram_rank_one m c (v : 'I_m -> R) : 0 <= c -> a_gram (fun i j => c * (v i * v j)).
Proof.
by move=> c0; exists [finType of Datatypes.unit], (fun=> c), (fun=> v); split=> // i j; rewrite big_const card_unit /= addr0.
Qed.
Lemma gram_sum m (J : Type) (s : seq J) (F : J -> 'I_m -> 'I_m -> R) : (forall k, a_gram (F k)) -> a_gram (fun i j => \sum_(k <- s) F k i j).
Proof.
move=> h; elim: s => [|k s IH]; first by apply: gram_ext (gram_constant m (lexx 0)) => i j; rewrite big_nil.
by apply: gram_ext (gram_add (h k) IH) => i j; rewrite big_cons.
Qed.
(** The matrix with a row and a column of zeros put before the others. *)
Definition bordered n (K : 'I_n -> 'I_n -> R) (i j : 'I_n.+1) : R :=
  if (unlift ord0 i, unlift ord0 j) is (Some k, Some l) then K k l else 0.
(** A matrix with rows and columns of zeros inserted is a sum of squares, too. *)
Lemma gram_spread n k (place : 'I_n -> option 'I_k) (K : 'I_k -> 'I_k -> R) : a_gram K ->
  a_gram (fun i j => if (place i, place j) is (Some a, Some b) then K a b else 0).
Proof.
case=> T [d [a [d0 h]]]; exists T, d, (fun t i => if place i is Some l then a t l else 0); split=> // i j.
case: (place i) => [k'|]; last by rewrite big1 // => t _; rewrite mul0r mulr0.
by case: (place j) => [l|]; rewrite ?h // big1 // => t _; rewrite !mulr0.
Qed.
Lemma gram_bordered n (K : 'I_n -> 'I_n -> R) : a_gram K -> a_gram (bordered K).
Proof. exact: gram_spread. Qed.
Lemma gram_step n (K : nat -> nat -> R) : 0 < K 0%N 0%N -> (forall i, K i.+1 0%N = K 0%N i.+1) ->
  a_gram (fun i j : 'I_n => K 0%N 0%N * K i.+1 j.+1 - K 0%N i.+1 * K 0%N j.+1) -> a_gram (fun i j : 'I_n.+1 => K i j).
Proof.
move=> pos sym rest; have i0 : 0 <= (K 0%N 0%N)^-1 by rewrite invr_ge0 ltW.
apply: gram_ext (gram_add (gram_rank_one (fun i : 'I_n.+1 => K 0%N i) i0) (gram_mul (gram_constant _ i0) (gram_bordered rest))) => i j.
have nz : K 0%N 0%N != 0 by rewrite gt_eqF.
by rewrite /bordered; case: (unliftP ord0 i) => [k ->|->]; case: (unliftP ord0 j) => [l ->|->]; rewrite ?lift0 /= ?sym; field.
Qed.
Lemma gram_dominant n (K : 'I_n -> 'I_n -> R) : (forall i j, K i j = K j i) -> (forall i, \sum_j `|K i j| <= 2%:R * K i i) -> a_gram K.
Proof.
move=> sym dom; pose off k l := if k == l then 0 else K k l.
pose v k l i : R := (i == k)%:R + Num.sg (off k l) * (i == l)%:R.
have sq k l : `|off k l| * Num.sg (off k l) ^+ 2 = `|off k l|.
  by have [->|nz] := eqVneq (off k l) 0; rewrite ?normr0 ?mul0r // sqr_sg nz mulr1.
have pick (F : 'I_n -> R) i : \sum_k (i == k)%:R * F k = F i.
  by rewrite (bigD1 i) //= eqxx mul1r big1 ?addr0 // => k /negPf ne; rewrite eq_sym ne mul0r.
pose rest i := K i i - \sum_j `|off i j|.
have rest0 i : 0 <= rest i.
  rewrite subr_ge0; have := dom i; rewrite (bigD1 i) //= [X in _ -> X <= _](bigD1 i) //= /off eqxx normr0 add0r.
  have -> : \sum_(j < n | j != i) `|if i == j then 0 else K i j| = \sum_(j < n | j != i) `|K i j|.
    by apply: eq_bigr => j /negPf ne; rewrite eq_sym ne.
  move: (\sum_(j < n | _) _) => s; rewrite mulr_natl mulr2n => le; by rewrite -(ler_add2l (K i i)) (le_trans _ le) // ler_add2r ler_norm.
have half0 : 0 <= 2%:R^-1 :> R by rewrite invr_ge0 ler0n.
have squares : a_gram (fun i j : 'I_n => \sum_k \sum_l 2%:R^-1 * `|off k l| * (v k l i * v k l j)).
  by apply: gram_sum => k; apply: gram_sum => l; apply: gram_rank_one; rewrite mulr_ge0.
have diagonal : a_gram (fun i j : 'I_n => \sum_k rest k * ((i == k)%:R * (j == k)%:R)).
  by apply: gram_sum => k; exact: (gram_rank_one (fun i => (i == k)%:R) (rest0 k)).
apply: gram_ext (gram_add squares diagonal) => i j.
have offs k l : off k l = off l k by rewrite /off eq_sym sym.
have expanded k l : 2%:R^-1 * `|off k l| * (v k l i * v k l j) =
    2%:R^-1 * ((i == k)%:R * ((j == k)%:R * `|off k l|) + (i == k)%:R * ((j == l)%:R * off k l)
      + ((j == k)%:R * ((i == l)%:R * off k l) + (i == l)%:R * ((j == l)%:R * `|off k l|))).
  have split (a b c d o s : R) : 2%:R^-1 * o * ((a + s * c) * (b + s * d)) =
    2%:R^-1 * (a * (b * o) + a * (d * (o * s)) + (b * (c * (o * s)) + c * (d * (o * s ^+ 2)))) by ring.
  by rewrite /v split sq [`|off k l| * _]mulrC -numEsg.
have -> : \sum_k \sum_l 2%:R^-1 * `|off k l| * (v k l i * v k l j) = off i j + (j == i)%:R * \sum_l `|off i l|.
  transitivity (2%:R^-1 * ((j == i)%:R * (\sum_l `|off i l|) + off i j + (off j i + (j == i)%:R * \sum_l `|off i l|))).
    under eq_bigr => k _ do under eq_bigr => l _ do rewrite expanded.
    under eq_bigr => k _ do rewrite -mulr_sumr !big_split /= -!mulr_sumr !pick.
    rewrite -mulr_sumr !big_split /= !pick; congr (_ * (_ + _ + (_ + _))).
    by rewrite mulr_sumr; apply: eq_bigr => k _; rewrite offs.
  by rewrite (offs j i); move: (off i j) (\sum_l _) (_ == _)%:R => x y z; field.
have -> : \sum_k rest k * ((i == k)%:R * (j == k)%:R) = (j == i)%:R * rest i.
  by rewrite -[RHS](pick (fun k => (j == k)%:R * rest k)); apply: eq_bigr => k _; rewrite mulrC mulrA.
have [->|ne] := eqVneq i j; first by rewrite {1}/off !eqxx !mul1r add0r /rest addrC subrK.
by rewrite /off (negPf ne) !mul0r !addr0.
Qed.
End Grams.

Section Meaning.
Variable R : realFieldType.
Local Notation lower_of t := (fun i j : nat => zr (in_lower t i j) : R).
Local Notation upper_of t := (fun i j : nat => zr (in_upper t i j) : R).
Lemma in_lower_sym t i j : in_lower t i j = in_lower t j i. Proof. by rewrite /in_lower maxnC minnC. Qed.
Lemma in_upper_sym t i j : in_upper t i j = in_upper t j i. Proof. by rewrite /in_upper maxnC minnC. Qed.
Lemma zr_abs a : zr (Z.abs a) = `|zr a| :> R.
Proof. by case: a => [|p|p] /=; rewrite ?normr0 // -?[zr (Zneg p)]/(zr (Z.opp (Zpos p))) ?zrN ?normrN gtr0_norm ?zr_gt0. Qed.

Section Pivots.
Variables pivot last : positive.
Lemma eliminated_row_at x beside row s k : eliminated_row pivot last x beside row = Some s ->
  zr (Zpos last) * zr (entry s k) = zr (Zpos pivot) * zr (entry row k) - zr x * zr (entry beside k) :> R.
Proof.
rewrite /entry; elim: beside row s k => [|y beside IH] [|v row] //= s k => [[<-]|]; first by rewrite !nth_nil zr0 !mulr0 subrr.
have := Z_div_mod_eq_full (Z.sub (Z.mul (Zpos pivot) v) (Z.mul x y)) (Zpos last); rewrite /Z.div /Z.modulo.
case: Z.div_eucl => q rest e; case: Z.eqb_spec => // z; case h: eliminated_row => [s'|] //= [<-].
by case: k => [|k] /=; [rewrite -!zrM -zrB e z Z.add_0_r|exact: IH h].
Qed.
Local Arguments eliminated_row : simpl never.
Lemma eliminated_at beside below t i k : eliminated pivot last beside below = Some t ->
  zr (Zpos last) * zr (entry (nth [::] t i) k) =
  zr (Zpos pivot) * zr (entry (nth [::] below i) k) - zr (entry beside i) * zr (entry beside (i + k)) :> R.
Proof.
rewrite /entry; elim: beside below t i => [|x beside IH] [|row below] //= t i => [[<-]|]; first by rewrite !nth_nil zr0 !mulr0 subrr.
case h: (eliminated_row pivot last x (x :: beside) row) => [s|] //.
case h': (eliminated pivot last beside below) => [t'|] //= [<-]; case: i => [|i] /=; last exact: IH h'.
exact: eliminated_row_at h.
Qed.
Lemma eliminated_entry beside below t i j : eliminated pivot last beside below = Some t ->
  zr (Zpos last) * zr (in_upper t i j) = zr (Zpos pivot) * zr (in_upper below i j) - zr (entry beside i) * zr (entry beside j) :> R.
Proof.
wlog le : i j / (i <= j)%N => [wl h|h].
  by have [l|/ltnW l] := leqP i j; [exact: wl|rewrite in_upper_sym [in_upper below _ _]in_upper_sym (wl _ _ l h) mulrC [X in _ - X]mulrC].
by rewrite /in_upper (minn_idPl le) (maxn_idPr le) (eliminated_at _ _ h) subnKC.
Qed.
End Pivots.
Lemma in_upper_cons row t i j : in_upper (row :: t) i.+1 j.+1 = in_upper t i j.
Proof. by rewrite /in_upper minnSS maxnSS subSS. Qed.
Lemma in_upper_first row t j : in_upper (row :: t) 0 j = entry row j.
Proof. by rewrite /in_upper min0n max0n subn0. Qed.
Lemma pivots_sound n last t : has_no_negative_pivot n last t -> a_gram (fun i j : 'I_n => zr (in_upper t i j) : R).
Proof.
elim: n last t => [|n IH] last t /=; first by move=> _; apply: gram_ext (gram_constant 0 (lexx 0)) => -[].
case: t => [|[|[|pivot|pivot] beside] below] //.
- case: ifP => // zeros /IH h; apply: gram_ext (gram_bordered h) => i j; rewrite /bordered.
  have zero (k : 'I_n) : entry beside k = Z0.
    have [l|l] := ltnP k (size beside); last by rewrite /entry nth_default.
    by apply/esym/Z.eqb_eq; exact: (all_nthP Z0 zeros).
  case: (unliftP ord0 i) => [k ->|->]; case: (unliftP ord0 j) => [l ->|->]; rewrite ?lift0 /= ?in_upper_cons //.
  + by rewrite in_upper_sym in_upper_first -[entry _ _]/(entry beside k) zero.
  + by rewrite in_upper_first -[entry _ _]/(entry beside l) zero.
- case h: eliminated => [t'|] // /IH g; apply: (gram_step (K := upper_of ((Zpos pivot :: beside) :: below))).
  + by rewrite in_upper_first zr_gt0.
  + by move=> i; rewrite in_upper_sym.
  apply: gram_ext (gram_mul (gram_constant _ (ltW (zr_gt0 R last))) g) => i j.
  by rewrite (eliminated_entry _ _ h) !in_upper_first in_upper_cons.
Qed.
Lemma upper_triangle_at t (i j : 'I_(size t)) : in_upper (upper_triangle t) i j = in_lower t i j.
Proof.
wlog le : i j / (i <= j)%N => [wl|].
  by have [l|/ltnW l] := leqP i j; [exact: wl|rewrite in_upper_sym in_lower_sym wl].
rewrite /in_upper (minn_idPl le) (maxn_idPr le) (nth_map 0%N) ?size_iota // nth_iota // add0n /entry.
by rewrite (nth_map 0%N) ?size_iota ?ltn_sub2r // nth_iota ?ltn_sub2r // subnKC.
Qed.

Lemma dominant_sound n t : is_dominant n t -> a_gram (fun i j : 'I_n => zr (in_lower t i j) : R).
Proof.
move=> dom; apply: gram_dominant => [i j|i]; first by rewrite in_lower_sym.
have := all_nthP 0%N dom i; rewrite size_iota => /(_ (ltn_ord i)) /(@zr_le R); rewrite nth_iota // add0n zrM zr_total size_map size_iota.
apply: le_trans; apply: ler_sum => j _; by rewrite /entry (nth_map 0%N) ?size_iota // nth_iota // add0n zr_abs.
Qed.
Lemma in_lower_max t i j : in_lower t (maxn i j) (minn i j) = in_lower t i j.
Proof. by case: (leqP i j) => // _; exact: in_lower_sym. Qed.
Lemma remainder_at s k t L (i j : 'I_(size t)) : in_lower (remainder s k t L) i j =
  Z.sub (Z.mul s (in_lower t i j)) (Z.mul k (product (nth [::] L (maxn i j)) (nth [::] L (minn i j)))).
Proof.
have m : (maxn i j < size t)%N by rewrite gtn_max !ltn_ord.
rewrite {1}/in_lower (nth_map 0%N) ?size_iota // nth_iota // add0n /entry (nth_map 0%N) ?size_iota; last by rewrite ltnS geq_min leq_max leqnn.
by rewrite nth_iota ?ltnS ?geq_min ?leq_max ?leqnn // add0n in_lower_max.
Qed.
(** s K - k L L' and k L L' are sums of squares, and with them K. *)
Lemma remainder_sound s k t L : 0 < zr s :> R -> Z.leb Z0 k -> is_dominant (size t) (remainder s k t L) ->
  a_gram (fun i j : 'I_(size t) => zr (in_lower t i j) : R).
Proof.
move=> s0 k0 /dominant_sound dom; pose d := \max_(i < size t) size (nth [::] L i).
have short (i : 'I_(size t)) : (size (nth [::] L i) <= d)%N by exact: (leq_bigmax (F := fun i : 'I_(size t) => size (nth [::] L i))).
have i0 : 0 <= (zr s)^-1 :> R by rewrite invr_ge0 ltW.
have LL : a_gram (fun i j : 'I_(size t) => dot (vec d (nth [::] L i) 1) (vec d (nth [::] L j) 1) : R) := gram_dot _.
apply: gram_ext (gram_mul (gram_constant _ i0) (gram_add dom (gram_mul (gram_constant _ (zr_ge0 R k0)) LL))) => i j.
rewrite dot_vec // remainder_at zrB !zrM /frac -[Pos.mul 1 1]/xH zr1 divr1 /=.
have -> : product (nth [::] L (maxn i j)) (nth [::] L (minn i j)) = product (nth [::] L i) (nth [::] L j).
  by case: (leqP i j) => // _; rewrite product_sym.
by rewrite subrK mulKf // gt_eqF.
Qed.
Theorem semidefinite_sound t : is_semidefinite t -> a_gram (fun i j : 'I_(size t) => zr (in_lower t i j) : R).
Proof.
rewrite /is_semidefinite; case: ifP => [/andP[k0 dom] _|_ h]; first by apply: remainder_sound k0 dom; exact: (zr_gt0 R (Pos.pow 2 128)).
by apply: gram_ext (pivots_sound h) => i j; rewrite upper_triangle_at.
Qed.

Lemma nth_mask_at (T : Type) (x : T) b s i : nth false b i -> nth x (mask b s) (count id (take i b)) = nth x s i.
Proof. by elim: b s i => [|[] b IH] [|y s] [|i] //= h; rewrite ?add0n ?add1n /= ?IH // !nth_nil. Qed.
Lemma count_below b i : nth false b i -> (count id (take i b) < count id b)%N.
Proof. by elim: b i => [|c b IH] [|i] //=; [case: c|move=> h; rewrite ltn_add2l IH]. Qed.
Lemma count_mono b i j : (i <= j)%N -> (count id (take i b) <= count id (take j b))%N.
Proof. by elim: b i j => [|c b IH] [|i] [|j] //= h; rewrite leq_add2l IH. Qed.
Theorem semidefinite_in_part_sound t : is_semidefinite_in_part t -> a_gram (fun i j : 'I_(size t) => zr (in_lower t i j) : R).
Proof.
rewrite /is_semidefinite_in_part; set used := [seq _ | r <- t]; case/and3P=> rows columns.
set part := [seq _ | r <- mask used t]; move=> /semidefinite_sound gram.
have sized : size used = size t by rewrite size_map.
have size_part : size part = count id used by rewrite size_map size_mask.
have unused i : (i < size t)%N -> nth false (map negb used) i = ~~ nth false used i by move=> l; rewrite (nth_map false) ?sized.
have zero s i : is_zero s -> entry s i = Z0.
  by move=> z; have [l|l] := ltnP i (size s); [apply/esym/Z.eqb_eq; exact: (all_nthP Z0 z)|rewrite /entry nth_default].
pose place (i : 'I_(size t)) : option 'I_(size part) := if nth false used i then insub (count id (take i used)) else None.
apply: gram_ext (gram_spread place gram) => i j.
wlog le : i j / (j <= i)%N => [wl|].
  have [l|/ltnW l] := leqP j i; first exact: wl.
  rewrite in_lower_sym -(wl _ _ l); case: (place i) (place j) => [a|] [b|] //; by rewrite in_lower_sym.
have l := ltn_ord i; have lj := ltn_ord j; rewrite {2}/in_lower (maxn_idPl le) (minn_idPr le) /place.
have [ui|ui] := boolP (nth false used i); last first.
  suff -> : entry (nth [::] t i) j = Z0 by [].
  apply: zero; have u : nth false (map negb used) i by rewrite unused.
  rewrite -(nth_mask_at [::] t u); apply: (all_nthP [::] rows); by rewrite size_mask ?size_map // count_below.
have [uj|uj] := boolP (nth false used j); last first.
  have -> : entry (nth [::] t i) j = Z0; last by case: insub.
  have u : nth false (map negb used) j by rewrite unused.
  by rewrite /entry -(nth_mask_at Z0 _ u); apply: zero; exact: (all_nthP [::] columns).
rewrite !insubT ?size_part ?count_below // => a b; rewrite /in_lower /= (maxn_idPl (count_mono _ le)) (minn_idPr (count_mono _ le)).
by rewrite /entry (nth_map [::]) ?size_mask ?count_below // !nth_mask_at.
Qed.
End Meaning.
