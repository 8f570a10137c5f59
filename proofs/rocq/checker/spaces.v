(** * Functions in the space of a kernel

    A [geometry] is the representation of points in computations: points of R^d, with vectors of R^d as functions; or a matrix of the points' inner
    products, perhaps with an error of some units, with combinations of the points as functions. If the inner products are powers, the values of
    such a combination may be computed by an expansion in the features. The points phi_0 .. phi_(m-1) belong to a space. The checker knows a
    function w only as [fits] states: its values <w, phi_i> up to some noise, and an upper bound of its squared norm. *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring ssrZ.
From equimargin Require Import inner.
From equimargin.checker Require Import products integers expansions.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

(** ** What is computed *)
(** Points of R^d, over one unit. *)
Record cloud := Cloud { points : seq (seq Z); unit : positive; dimension : nat }.
(** Inner products over one unit. *)
Record gram := Gram { entries : seq (seq Z); gram_unit : positive }.
(** Inner products with an error of at most [wrong] units; points of the same name are equal. *)
Record enclosure := Enclosure { names : seq (seq Z); matrix : gram; wrong : Z }.
(** Inner products a <x_i, z_j>^n + b of lists x_i on the left and z_j on the right, all of one size; n is the exponent, a the scale and b the offset, and
    all is over one unit. *)
Record expansion := Expansion { lefts : seq (seq Z); rights : seq (seq Z); size_of_lists : nat; exponent : nat; scale : Z; offset : Z; expansion_unit : positive }.
Inductive geometry := Features of cloud | Matrix of gram | Enclosed of enclosure | Expanded of expansion.
(** The values and their noise are integers over the unit of values. *)
Record function := Function { values : seq Z; value_unit : positive; noise : Z; length2 : fraction }.

Definition point (X : cloud) i := nth [::] (points X) i.
Definition same_dimension (X : cloud) := all (fun x => size x == dimension X) (points X).
(** The function of w over a unit. *)
Definition of_features (X : cloud) (w : seq Z) (u : positive) : function :=
  Function [seq product w x | x <- points X] (Pos.mul u (unit X)) Z0 (Fraction (product w w) (Pos.mul u u)).
(** The function sum_i k_i phi_i of coefficients over a unit. *)
Definition of_coefficients (G : gram) (k : seq Z) (u : positive) : function :=
  let v := [seq product k row | row <- entries G] in
  Function v (Pos.mul u (gram_unit G)) Z0 (Fraction (product k v) (Pos.mul u (Pos.mul u (gram_unit G)))).
(** The coefficients, those of points of the same name added up at the first nonzero one. *)
Fixpoint same_name (x y : seq Z) : bool :=
  match x, y with [::], [::] => true | a :: x', b :: y' => if Z.eqb a b then same_name x' y' else false | _, _ => false end.
Fixpoint of_name (x : seq Z) (X : seq (seq Z)) (k : seq Z) : seq Z :=
  match X, k with y :: X', a :: k' => (if same_name x y then a else Z0) :: of_name x X' k' | _, _ => [::] end.
Fixpoint but_name (x : seq Z) (X : seq (seq Z)) (k : seq Z) : seq Z :=
  match X, k with y :: X', a :: k' => (if same_name x y then Z0 else a) :: but_name x X' k' | _, _ => [::] end.
Fixpoint together (X : seq (seq Z)) (k : seq Z) (n : nat) : seq Z :=
  match n, X, k with
  | n'.+1, x :: X', a :: k' => if Z.eqb a Z0 then a :: together X' k' n'
      else Z.add a (total (of_name x X' k')) :: together X' (but_name x X' k') n'
  | _, _, _ => k
  end.
(** The function of coefficients; its noise and its squared norm include the error of the inner products. *)
Definition of_enclosed (E : enclosure) (k : seq Z) (u : positive) : function :=
  let G := matrix E in let k' := together (names E) k (size k) in let size1 := total [seq Z.abs a | a <- k'] in
  let f := of_coefficients G k' u in
  let: Fraction n v := length2 f in
  Function (values f) (value_unit f) (Z.mul (wrong E) size1) (Fraction (Z.add n (Z.mul (wrong E) (Z.mul size1 size1))) v).
(** The function of coefficients by an expansion: its value at a list of numbers, and below at all points. *)
Definition expanded_value (E : expansion) (k : seq Z) : seq Z -> Z :=
  let t := expanded (size_of_lists E) (exponent E) k (lefts E) in let s := product_of (offset E) (total k) in
  fun z => Z.add (product_of (scale E) (value_at t z)) s.
Definition of_expansion (E : expansion) (k : seq Z) (u : positive) : function :=
  let f := expanded_value E k in let v := [seq f z | z <- rights E] in
  Function v (Pos.mul u (expansion_unit E)) Z0 (Fraction (product k v) (Pos.mul u (Pos.mul u (expansion_unit E)))).
(** The squared norm needs the values only at points with nonzero coefficients. *)
Definition length_of_expansion (E : expansion) (k : seq Z) (u : positive) : fraction :=
  let f := expanded_value E k in
  Fraction (product k [seq if Z.eqb p.1 Z0 then Z0 else f p.2 | p <- zip k (rights E)]) (Pos.mul u (Pos.mul u (expansion_unit E))).
(** sum_i k_i s_i for lists of numbers s_i. *)
Fixpoint combined (k : seq Z) (s : seq (seq Z)) : seq Z :=
  match k, s with
  | a :: k', x :: s' => if Z.eqb a Z0 then combined k' s' else plus_multiple a x (combined k' s')
  | _, _ => [::]
  end.
(** An upper bound of the squared norm of sum_i k_i phi_i, with coefficients k over a unit. *)
Definition length_of_features (X : cloud) (k : seq Z) (u : positive) : fraction :=
  let v := combined k (points X) in Fraction (product v v) (Pos.mul (Pos.mul u (unit X)) (Pos.mul u (unit X))).

Definition coefficients_of (G : geometry) := match G with Features X => dimension X | Matrix G => size (entries G) | Enclosed E => size (names E) | Expanded E => size (lefts E) end.
Definition function_in (G : geometry) (k : seq Z) (u : positive) :=
  match G with Features X => of_features X k u | Matrix G => of_coefficients G k u | Enclosed E => of_enclosed E k u | Expanded E => of_expansion E k u end.
Definition length_in (G : geometry) (k : seq Z) (u : positive) :=
  match G with
  | Features X => length_of_features X k u | Matrix G => length2 (of_coefficients G k u) | Enclosed E => length2 (of_enclosed E k u)
  | Expanded E => length_of_expansion E k u end.

(** For each point, true if its coefficient is not 0 or its entry of s is true. *)
Fixpoint either (k : seq Z) (s : seq bool) : seq bool := match k, s with a :: k', b :: s' => (~~ Z.eqb a Z0 || b) :: either k' s' | _, _ => s end.
(** For each of m points, true if its coefficient is not 0 in at least one of the lists. *)
Definition used (m : nat) (ks : seq (seq Z)) : seq bool := foldr either (nseq m false) ks.

(** ** What it means *)
Lemma size_used m ks : size (used m ks) = m.
Proof.
have size_either k s : size (either k s) = size s by elim: k s => [|a k IH] [|b s] //=; rewrite IH.
by elim: ks => [|k ks IH]; rewrite /= ?size_nseq // size_either.
Qed.
Lemma used_at m ks k i : k \in ks -> (i < m)%N -> entry k i != Z0 -> nth false (used m ks) i.
Proof.
have ones l s j : (j < size s)%N -> nth false (either l s) j = (entry l j != Z0) || nth false s j.
  by elim: l s j => [|a l IH] [|b s] [|j] //= h; exact: IH.
by elim: ks => [|l ks IH] //=; rewrite inE => /orP[/eqP <-|h] im nz; rewrite ones ?size_used ?nz // IH ?orbT.
Qed.
Local Open Scope ring_scope.
Section Meaning.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V).
(** Points by natural numbers as indices; a point of an index not below m is 0. *)
Definition at_place m (phi : 'I_m -> V) (i : nat) : V := if insub i is Some k then phi k else 0.
Lemma at_place_in m (phi : 'I_m -> V) (i : 'I_m) : at_place phi i = phi i.
Proof. by rewrite /at_place valK. Qed.
Lemma at_place_out m (phi : 'I_m -> V) i : (m <= i)%N -> at_place phi i = 0.
Proof. by move=> h; rewrite /at_place insubF // ltnNge h. Qed.
Definition fits (phi : nat -> V) (f : function) (w : V) :=
  (forall i, `|ip w (phi i) - over (values f) (value_unit f) i| <= frac (Fraction (noise f) (value_unit f))) /\ ip w w <= frac (length2 f).
(** The functions that a geometry gives for the lists ks are right. *)
Definition described (ks : seq (seq Z)) (G : geometry) m (x : 'I_m -> V) :=
  (forall k u, k \in ks -> size k = coefficients_of G -> exists w, fits (at_place x) (function_in G k u) w) /\
  (forall k u, k \in ks -> size k = m -> let v := \sum_(i < m) over k u i *: at_place x i in ip v v <= frac (length_in G k u)).
End Meaning.

Section Coefficients.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (G : gram).
Definition entry_of (i j : nat) : R := over (nth [::] (entries G) i) (gram_unit G) j.
Variables (m : nat) (x : 'I_m -> V).
Hypothesis size_m : size (entries G) = m.
(** In each column whose point has a coefficient that is not 0, the entries are the inner products. *)
Definition inner_of (k : seq Z) := forall i j : 'I_m, entry k j != Z0 -> ip (x i) (x j) = entry_of i j.
Lemma coefficients_fit k u : inner_of k -> size k = m -> fits ip (at_place x) (of_coefficients G k u) (\sum_(i < m) over k u i *: at_place x i).
Proof.
move=> inner e; have E : \sum_(i < m) over k u i *: at_place x i = \sum_(i < m) over k u i *: x i by apply: eq_bigr => i _; rewrite at_place_in.
have value (j : 'I_m) : ip (\sum_(i < m) over k u i *: x i) (x j) = over (values (of_coefficients G k u)) (value_unit (of_coefficients G k u)) j.
  rewrite ip_suml /over /entry /= (nth_map [::]) ?size_m //; transitivity (\sum_(i < m) over k u i * over (nth [::] (entries G) j) (gram_unit G) i : R).
    apply: eq_bigr => i _; rewrite ip_scalel ip_sym; have [z|z] := eqVneq (entry k i) Z0; last by rewrite inner.
    by move: z; rewrite /over /entry => ->; rewrite zr0 !mul0r.
  by rewrite over_product ?e.
rewrite E; split=> [i|].
  rewrite [X in _ <= X]/frac /= zr0 mul0r; have [l|l] := ltnP i m.
    by rewrite -[i]/(nat_of_ord (Ordinal l)) at_place_in value subrr normr0.
  by rewrite at_place_out // ip0r /over /entry /= nth_default ?size_map ?size_m // zr0 mul0r subrr normr0.
rewrite ip_sumr /= -(@over_product _ m) ?e //; apply: ler_sum => j _.
by rewrite ip_scaler value.
Qed.
Lemma matrix_described ks : (forall k, k \in ks -> inner_of k) -> described ip ks (Matrix G) x.
Proof.
move=> inner; split=> k u /inner isin e; first by exists (\sum_(i < m) over k u i *: at_place x i); apply: coefficients_fit; rewrite // e.
by have [] := coefficients_fit u isin e.
Qed.
End Coefficients.

Section Expanded.
Variable E : expansion.
(** The matrix of inner products that an expansion represents. *)
Definition matrix_of : gram :=
  Gram [seq [seq Z.add (product_of (scale E) (power (product x z) (exponent E))) (offset E) | x <- lefts E] | z <- rights E] (expansion_unit E).
Hypothesis sizes : all (fun x => size x == size_of_lists E) (lefts E) && all (fun z => size z == size_of_lists E) (rights E).
Lemma expanded_valueE k z : size k = size (lefts E) -> z \in rights E ->
  expanded_value E k z = product k [seq Z.add (product_of (scale E) (power (product x z) (exponent E))) (offset E) | x <- lefts E].
Proof.
move=> e isin; have /andP[sl /allP sr] := sizes.
by rewrite -power_sum_product // /expanded_value expandedE ?(eqP (sr z isin)) // !product_ofE.
Qed.
Lemma of_expansionE k u : size k = size (lefts E) -> of_expansion E k u = of_coefficients matrix_of k u.
Proof.
move=> e; rewrite /of_expansion /of_coefficients [entries _]/= -map_comp.
have -> : [seq expanded_value E k z | z <- rights E] = map (product k \o fun z => [seq Z.add (product_of (scale E) (power (product x z) (exponent E))) (offset E) | x <- lefts E]) (rights E).
  by apply/eq_in_map => z isin; exact: expanded_valueE.
by [].
Qed.
Lemma length_of_expansionE k u : size k = size (lefts E) -> length_of_expansion E k u = length2 (of_coefficients matrix_of k u).
Proof.
move=> e; rewrite -of_expansionE // /length_of_expansion /of_expansion /=; congr Fraction.
move: (expanded_value E k) => f; elim: (rights E) k {e} => [|z Z IH] [|a k] //=; rewrite !product_ofE.
by case: Z.eqb_spec => [->|_]; rewrite IH.
Qed.
Lemma expanded_described (R : realFieldType) (V : lmodType R) (ip : semi_inner V) m (x : 'I_m -> V) ks : size (lefts E) = m -> size (rights E) = m ->
  described ip ks (Matrix matrix_of) x -> described ip ks (Expanded E) x.
Proof.
move=> el er [fit len]; split=> k u isin e.
  by rewrite [function_in _ _ _]of_expansionE //; apply: fit; rewrite // e /= size_map er.
by rewrite [length_in _ _ _]length_of_expansionE ?el //; exact: len.
Qed.
End Expanded.

Section Features.
Variables (R : realFieldType) (X : cloud).
Local Notation m := (size (points X)).
Local Notation d := (dimension X).
Definition features (i : 'I_m) : 'rV[R]_d := vec d (point X i) (unit X).
Local Notation phi := (at_place features).
Hypothesis same : same_dimension X.
Lemma point_size i : (size (point X i) <= d)%N.
Proof.
rewrite /point; have [l|l] := ltnP i m; last by rewrite nth_default.
by rewrite (eqP (all_nthP [::] same _ l)).
Qed.
Lemma features_at i : phi i = vec d (point X i) (unit X).
Proof.
have [l|l] := ltnP i m; first by rewrite -[i]/(nat_of_ord (Ordinal l)) at_place_in.
by rewrite at_place_out // /point nth_default // vec_nil.
Qed.
Lemma features_fit w u : (size w <= d)%N -> fits (dot_ip R d) phi (of_features X w u) (vec d w u).
Proof.
move=> e; split=> [i|] /=; last by rewrite dot_vec.
rewrite features_at dot_vec // /over /entry /frac /= zr0 mul0r.
suff -> : nth Z0 [seq product w x | x <- points X] i = product w (point X i) by rewrite subrr normr0.
have [l|l] := ltnP i m; first by rewrite (nth_map [::]).
by rewrite /point !nth_default ?size_map //; case: (w).
Qed.
Lemma combined_at k s u : (zr (Zpos u))^-1 *: vec d (combined k s) (unit X) =
  \sum_(i < size s) over k u i *: vec d (nth [::] s i) (unit X) :> 'rV[R]_d.
Proof.
transitivity ((zr (Zpos u))^-1 *: (\sum_(i < size s) zr (entry k i) *: vec (R := R) d (nth [::] s i) (unit X))); last first.
  by rewrite scaler_sumr; apply: eq_bigr => i _; rewrite scalerA mulrC.
congr (_ *: _); elim: s k => [|x s IH] [|a k] //=; rewrite ?vec_nil ?big_ord0 //.
  by rewrite big1 // => i _; rewrite /entry nth_nil zr0 scale0r.
by rewrite big_ord_recl /=; case: Z.eqb_spec => [->|_]; rewrite ?scale0r ?add0r ?vec_plus_multiple IH.
Qed.
Lemma combined_size k s : all (fun x => size x == d) s -> (size (combined k s) <= d)%N.
Proof.
elim: s k => [|x s IH] [|a k] //= /andP[/eqP h hs]; case: Z.eqb; first exact: IH.
by rewrite size_plus_multiple ?h ?IH.
Qed.
Lemma features_length k u : let v := \sum_(i < m) over k u i *: phi i in dot v v <= frac (length_of_features X k u).
Proof.
rewrite /= /length_of_features -(@dot_vec R d) ?combined_size // -vec_unit combined_at.
by have -> : \sum_(i < m) over k u i *: phi i = \sum_(i < m) over k u i *: vec d (nth [::] (points X) i) (unit X) :> 'rV[R]_d
  by apply: eq_bigr => i _; rewrite features_at.
Qed.
End Features.
Lemma features_described (R : realFieldType) ks X : same_dimension X -> described (dot_ip R (dimension X)) ks (Features X) (@features R X).
Proof.
by move=> same; split=> [k u _ e|k u _ _]; [exists (vec (dimension X) k u); apply: features_fit; rewrite // e|exact: features_length].
Qed.
