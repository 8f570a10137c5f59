(** * Functions by the matrix of a kernel's values

    A linear program of the 1-norm needs only the symmetric matrix K of the kernel's values at the points, and no space: K need not be positive
    semidefinite. The checker knows the values of a combination sum_j k_j K(x_j, .) of the points up to some noise: [valued].
    [of_its_matrix] states a claim for the matrix of a kernel, for an RBF kernel with every exponential. [matrix_sound]: it holds if the claim holds for every matrix whose
    values the geometry of the kernel gives. *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring ssrZ.
From equimargin Require Import inner.
From equimargin.checker Require Import integers spaces semidefinite exponential enclosed kernels.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

(** The function sum_i k_i phi_i of coefficients over a unit. *)
Definition combination_in (G : geometry) (k : seq Z) (u : positive) : function :=
  match G with
  | Features X => of_features X (combined k (points X)) (Pos.mul u (unit X)) | Matrix G => of_coefficients G k u
  | Enclosed E => of_enclosed E k u | Expanded E => of_expansion E k u
  end.

Local Open Scope ring_scope.
Section Values.
Variables (R : realFieldType) (m : nat) (K : 'I_m -> 'I_m -> R).
(** K at two places, and 0 if one of them is not below m. *)
Definition between (i j : nat) : R := at_place (fun k : 'I_m => at_place (fun l : 'I_m => K k l : R^o) j : R^o) i.
Lemma between_in (i j : 'I_m) : between i j = K i j.
Proof. by rewrite /between !at_place_in. Qed.
Lemma between_out i j : (m <= j)%N -> between i j = 0.
Proof.
move=> h; rewrite /between; have [l|l] := ltnP i m; last by rewrite at_place_out.
by rewrite -[i]/(nat_of_ord (Ordinal l)) at_place_in at_place_out.
Qed.
Lemma between_sym i j : (forall k l, K k l = K l k) -> between i j = between j i.
Proof.
move=> sym; have [l|l] := ltnP i m; last by rewrite [RHS]between_out // /between at_place_out.
have [k|k] := ltnP j m; last by rewrite between_out // /between at_place_out.
by rewrite -[i]/(nat_of_ord (Ordinal l)) -[j]/(nat_of_ord (Ordinal k)) !between_in.
Qed.
(** The values that a geometry gives for the combinations with the lists ks are right. *)
Definition valued (ks : seq (seq Z)) (G : geometry) := forall k u, k \in ks -> size k = m -> let f := combination_in G k u in
  forall i, `|\sum_(j < m) over k u j * between j i - over (values f) (value_unit f) i| <= frac (Fraction (noise f) (value_unit f)).
End Values.

Section Matrices.
Variable R : realFieldType.
Lemma features_valued ks X : same_dimension X -> valued (fun i j => dot (@features R X i) (@features R X j)) ks (Features X).
Proof.
move=> same k u _ e f i; rewrite /f /= /combination_in.
have -> : \sum_(j < size (points X)) over k u j * between (fun i j => dot (@features R X i) (@features R X j)) j i =
    dot (vec (dimension X) (combined k (points X)) (Pos.mul u (unit X))) (at_place (@features R X) i).
  rewrite -vec_unit combined_at -[X in _ = X]/(dot_ip R _ _ _) ip_suml; apply: eq_bigr => j _; rewrite ip_scalel.
  have [l|l] := ltnP i (size (points X)); last by rewrite between_out // at_place_out // ip0r.
  by rewrite -[i]/(nat_of_ord (Ordinal l)) between_in at_place_in.
have [near _] := features_fit R (Pos.mul u (unit X)) (combined_size k same); exact: near.
Qed.
Lemma matrix_valued ks G m (K : 'I_m -> 'I_m -> R) : size (entries G) = m -> (forall i j, K i j = K j i) ->
  (forall k (i j : 'I_m), k \in ks -> entry k j != Z0 -> K i j = entry_of R G i j) -> valued K ks (Matrix G).
Proof.
move=> em sym E k u isin e f i; rewrite [X in _ <= X]/frac /= zr0 mul0r; have [l|l] := ltnP i m; last first.
  by rewrite big1 => [|j _]; rewrite ?between_out ?mulr0 // /f /over /entry /= nth_default ?size_map ?em // zr0 mul0r subrr normr0.
rewrite /f /= /over /entry /= (nth_map [::]) ?em // -[i]/(nat_of_ord (Ordinal l)).
rewrite -[zr _ / _]/(frac (Fraction _ _)) -(@over_product _ m) ?e // -sumrB big1 ?normr0 // => j _.
rewrite between_in; have [z|z] := eqVneq (entry k j) Z0; last by rewrite sym (E k) // subrr.
by move: z; rewrite /over /entry => ->; rewrite zr0 !mul0r subrr.
Qed.

Lemma expanded_valued ks E m (K : 'I_m -> 'I_m -> R) : size (lefts E) = m -> all (fun x => size x == size_of_lists E) (lefts E) && all (fun z => size z == size_of_lists E) (rights E) ->
  valued K ks (Matrix (matrix_of E)) -> valued K ks (Expanded E).
Proof. by move=> el sizes h k u isin e; rewrite [combination_in _ _ _]of_expansionE ?el //; exact: h. Qed.
Lemma enclosed_valued ks N (g : seq Z -> seq Z -> R) : let X := names N in let K (i j : 'I_(size X)) := g (nth [::] X i) (nth [::] X j) in
  size (entries (matrix N)) = size X -> Z.leb Z0 (wrong N) -> (forall i j, K i j = K j i) ->
  (forall k, k \in ks -> near_of (N := N) K k) -> valued K ks (Enclosed N).
Proof.
move=> X K em wrong0 sym near k u isin e f i; rewrite {}/f [combination_in _ _ _]/=; have [l|l] := ltnP i (size X); last first.
  by rewrite big1 => [|j _]; rewrite ?between_out ?mulr0 // /over /entry /= nth_default ?size_map ?em // zr0 mul0r subrr normr0 noise_ge0.
rewrite -[i]/(nat_of_ord (Ordinal l)) (eq_bigr (fun j : 'I_(size X) => over k u j * K j (Ordinal l))) => [|j _]; last by rewrite between_in.
rewrite (together_over u (fun z => g z (nth [::] X (Ordinal l)))) //; exact: (@enclosed_value R N K sym em _ _ _ (near k isin)).
Qed.

Definition claim_of_matrix m := ('I_m -> 'I_m -> R) -> Prop.
Definition of_its_matrix (S : space) : claim_of_matrix (count_in S) -> Prop :=
  match S return claim_of_matrix (count_in S) -> Prop with
  | Linear X => fun A => A (fun i j => dot (@features R X i) (@features R X j))
  | Polynomial X p => fun A => A (fun i j => kernel_value p (@features R X i) (@features R X j))
  | Radial X p => fun A => forall E, exponential E -> A (fun i j => radial_value E p (@features R X i) (@features R X j))
  | Given G => fun A => A (@given_value R G)
  end.
Theorem matrix_sound S (A : claim_of_matrix (count_in S)) : space_fits S ->
  (forall K, (forall i j, K i j = K j i) -> (forall ks, valued K ks (geometry_of S ks)) -> A K) -> of_its_matrix A.
Proof.
have symmetric p d (x z : 'rV[R]_d) : kernel_value p x z = kernel_value p z x by rewrite /kernel_value dot_sym.
case: S A => [X|X p|X p|G] A fit h.
- by apply: h => [i j|ks]; [exact: dot_sym|exact: features_valued].
- apply: h => [i j|ks]; first exact: symmetric.
  have /andP[same _] := fit; rewrite /geometry_of; case: is_worth_expanding.
    have [el er fits] := expansion_fits p same; apply: expanded_valued => //; apply: matrix_valued => [|i j|k i j _ _]; [by rewrite size_map|exact: symmetric|].
    by rewrite expansion_entry.
  apply: matrix_valued => [|i j|k i j isin nz]; [exact: size_polynomial|exact: symmetric|].
  by rewrite (polynomial_entry R p i same isin nz).
- move=> E isE; have /andP[same width0] := fit; apply: h => [i j|ks]; first exact: radial_sym.
  pose k a b := radial_value E p (vec (dimension X) a (unit X)) (vec (dimension X) b (unit X)).
  apply: (@enclosed_valued ks (radial_enclosure X p _) k) => [||i j|l isin i j nz]; [exact: size_radial|exact: isT|exact: radial_sym|].
  exact: (radial_enclosed i isE same width0 isin nz).
- apply: h => [i j|ks]; first by rewrite /given_value in_lower_sym.
  by apply: matrix_valued => [|i j|k i j _ _]; [rewrite size_map size_iota|rewrite /given_value in_lower_sym|rewrite given_entry].
Qed.
End Matrices.
