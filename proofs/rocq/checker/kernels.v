(** * The spaces of kernels, and Gram matrices that are sums of squares

    [in_its_space] says a claim in R^d where the kernel is linear, and for another one in every space with points whose inner products are the
    kernel's values; and that there are such points. [space_sound]: it is true of what is true of all that [geometry_of] describes.

    A matrix K is [a_gram] if K_ij = sum_k d_k a_k(i) a_k(j) for some d_k >= 0: then there are points of a space whose inner products are its
    entries. Sums of such matrices are, and by Schur their products entry by entry, and powers of these ([gram_add], [gram_mul], [gram_power]);
    so are the values of a polynomial kernel with nonnegative parameters ([polynomial_gram]). *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring ssrZ.
From equimargin Require Import inner.
From equimargin.checker Require Import integers spaces exponential enclosed.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

(** ** What is computed *)
(** (gamma <x, z> + coef0)^degree + constant. *)
Record polynomial := PolynomialKernel { degree : nat; gamma : fraction; coef0 : fraction; constant : fraction }.
(** exp(-width |x - z|^2) + added, where what is added is 0 or 1. *)
Record radial := RadialKernel { width : fraction; added : Z }.
Inductive space := Linear of cloud | Polynomial of cloud & polynomial | Radial of cloud & radial.
Definition cloud_of (S : space) := match S with Linear X | Polynomial X _ | Radial X _ => X end.
Fixpoint power (a : Z) (n : nat) : Z := if n is n'.+1 then Z.mul a (power a n') else Zpos 1.
Fixpoint power_pos (a : positive) (n : nat) : positive := if n is n'.+1 then Pos.mul a (power_pos a n') else xH.
Definition polynomial_matrix (X : cloud) (p : polynomial) : gram :=
  let u := Pos.mul (Pos.mul (unit X) (unit X)) (Pos.mul (den (gamma p)) (den (coef0 p))) in
  let factor := Z.mul (num (gamma p)) (Zpos (den (coef0 p))) in
  let summand := Z.mul (num (coef0 p)) (Zpos (Pos.mul (Pos.mul (unit X) (unit X)) (den (gamma p)))) in
  let v := power_pos u (degree p) in
  let added := Z.mul (num (constant p)) (Zpos v) in
  Gram [seq [seq Z.add (Z.mul (power (Z.add (Z.mul factor (product x z)) summand) (degree p)) (Zpos (den (constant p)))) added
    | z <- points X] | x <- points X] (Pos.mul v (den (constant p))).
Fixpoint distance2 (x z : seq Z) : Z :=
  match x, z with a :: x', b :: z' => let c := Z.sub a b in Z.add (Z.mul c c) (distance2 x' z') | _, _ => Z0 end.
(** The matrix of a symmetric function, of which only the upper triangle is computed. *)
Fixpoint triangle (f : seq Z -> seq Z -> Z) (s : seq (seq Z)) : seq (seq Z) :=
  if s is x :: s' then [seq f x z | z <- s] :: triangle f s' else [::].
Fixpoint mirrored (t : seq (seq Z)) : seq (seq Z) :=
  if t is row :: t' then row :: [seq p.1 :: p.2 | p <- zip (behead row) (mirrored t')] else [::].
Definition radial_units (X : cloud) (p : radial) : seq Z -> seq Z -> Z :=
  let v := Pos.mul (Pos.mul (unit X) (unit X)) (den (width p)) in let c := Z.mul (added p) (Zpos exp_unit) in
  fun x z => Z.add (exp_units (Fraction (Z.mul (num (width p)) (distance2 x z)) v)) c.
Definition radial_enclosure (X : cloud) (p : radial) : enclosure :=
  Enclosure (points X) (Gram (mirrored (triangle (radial_units X p) (points X))) exp_unit) EXP_ERROR.
Definition geometry_of (S : space) : geometry := match S with
  | Linear X => Features X | Polynomial X p => Matrix (polynomial_matrix X p) | Radial X p => Enclosed (radial_enclosure X p) end.
Definition parameters_fit (p : polynomial) := [&& Z.leb Z0 (num (gamma p)), Z.leb Z0 (num (coef0 p)) & Z.leb Z0 (num (constant p))].
Definition space_fits (S : space) := same_dimension (cloud_of S) &&
  match S with Linear _ => true | Polynomial _ p => parameters_fit p | Radial _ p => Z.leb Z0 (num (width p)) end.

(** ** What it means *)
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

Section Spaces.
Variable R : realFieldType.
Definition kernel_value (p : polynomial) d (x z : 'rV[R]_d) : R := (frac (gamma p) * dot x z + frac (coef0 p)) ^+ degree p + frac (constant p).
Definition radial_value (E : R -> R) (p : radial) d (x z : 'rV[R]_d) : R := E (- (frac (width p) * dot (x - z) (x - z))) + zr (added p).
Definition claim_of_points m := forall (V : lmodType R) (ip : semi_inner V) (x : 'I_m -> V), Prop.
Definition in_its_space (S : space) : claim_of_points (size (points (cloud_of S))) -> Prop :=
  match S with
  | Linear X => fun A => A _ (dot_ip R (dimension X)) (@features R X)
  | Polynomial X p => fun A => let K := fun i j => kernel_value p (@features R X i) (@features R X j) in
      has_points K /\ forall (V : lmodType R) (ip : semi_inner V) x, (forall i j, ip (x i) (x j) = K i j) -> A V ip x
  | Radial X p => fun A => forall E, exponential E -> let K := fun i j => radial_value E p (@features R X i) (@features R X j) in
      forall (V : lmodType R) (ip : semi_inner V) x, (forall i j, ip (x i) (x j) = K i j) -> A V ip x
  end.

Lemma zr_power a n : zr (power a n) = zr a ^+ n :> R.
Proof. by elim: n => [|n IH] //=; rewrite zrM IH exprS. Qed.
Lemma zr_power_pos a n : zr (Zpos (power_pos a n)) = zr (Zpos a) ^+ n :> R.
Proof. by elim: n => [|n IH] //=; rewrite zrP IH exprS. Qed.
Lemma polynomial_entry X p (i j : 'I_(size (points X))) : same_dimension X ->
  entry_of R (polynomial_matrix X p) i j = kernel_value p (@features R X i) (@features R X j).
Proof.
move=> same; rewrite /entry_of /over /entry /= (nth_map [::]) // (nth_map [::]) // /kernel_value /features dot_vec ?point_size //.
have split (a k v e : R) : v != 0 -> e != 0 -> (a * e + k * v) / (v * e) = a / v + k / e by move=> v0 e0; field; rewrite v0 e0.
rewrite zrD !zrM zrP zr_power split ?zr_neq0 // zr_power_pos -expr_div_n; congr (_ ^+ _ + _); rewrite /frac /= /point !(zrD, zrM, zrP).
by move: (nth _ _ _) (nth _ _ _) => x z; field; rewrite !zr_neq0.
Qed.
Lemma frac_ge0 q : Z.leb Z0 (num q) -> 0 <= frac q :> R.
Proof. by move=> h; rewrite divr_ge0 ?zr_ge0 // ltW ?zr_gt0. Qed.
Lemma mirrored_triangle f s : (forall x z, f x z = f z x) -> mirrored (triangle f s) = [seq [seq f x z | z <- s] | x <- s].
Proof.
move=> sym; elim: s => [|x s IH] //=; rewrite {}IH; congr (_ :: _).
have zipped t : [seq p.1 :: p.2 | p <- zip [seq f x z | z <- t] [seq [seq f y z | z <- s] | y <- t]] = [seq f y x :: [seq f y z | z <- s] | y <- t].
  by elim: t => [|y t IH] //=; rewrite IH sym.
exact: zipped.
Qed.
Lemma distance2_sym x z : distance2 x z = distance2 z x.
Proof. by elim: x z => [|a x IH] [|b z] //=; rewrite IH; congr Z.add; rewrite -(Z.opp_involutive (Z.sub b a)) Z.mul_opp_opp Z.opp_sub_distr Z.add_comm. Qed.
Lemma distance2_ge0 x z : Z.leb Z0 (distance2 x z).
Proof.
elim: x z => [|a x IH] [|b z] //=; apply/Z.leb_le; apply: Z.add_nonneg_nonneg; first exact: Z.square_nonneg.
by apply/Z.leb_le; exact: IH.
Qed.
Lemma zr_distance2 d x z u : size x = d -> size z = d ->
  dot (vec d x u - vec d z u) (vec d x u - vec d z u) = zr (distance2 x z) / (zr (Zpos u) * zr (Zpos u)) :> R.
Proof.
move=> ex ez; rewrite dotE; have -> : zr (distance2 x z) = \sum_(k < d) (zr (entry x k) - zr (entry z k)) * (zr (entry x k) - zr (entry z k)) :> R.
  elim: d x z ex ez => [|d IH] [|a x] [|b z] //= => [_ _|[ex] [ez]]; first by rewrite big_ord0.
  by rewrite big_ord_recl zrD zrM zrB (IH x z).
by rewrite mulr_suml; apply: eq_bigr => k _; rewrite !mxE /over; field; exact: zr_neq0.
Qed.
Lemma radial_enclosed E X p (i j : 'I_(size (points X))) : exponential E -> same_dimension X -> Z.leb Z0 (num (width p)) ->
  `|radial_value E p (@features R X i) (@features R X j) - entry_of R (matrix (radial_enclosure X p)) i j| <= frac (Fraction EXP_ERROR exp_unit).
Proof.
move=> isE same w0; have sizes k : (k < size (points X))%N -> size (point X k) = dimension X by move=> l; apply/eqP; exact: (all_nthP [::] same).
rewrite /entry_of /over /entry [entries _]/= mirrored_triangle; last by move=> x z; rewrite /radial_units distance2_sym.
rewrite (nth_map [::]) // (nth_map [::]) // /radial_value /features zr_distance2 ?sizes // /radial_units -/(point X i) -/(point X j).
set q := Fraction (Z.mul _ _) _; have -> : frac (width p) * (zr (distance2 (point X i) (point X j)) / (zr (Zpos (unit X)) * zr (Zpos (unit X)))) = frac q.
  by rewrite /frac /q [num _]/= [den _]/= zrM !zrP; move: (zr (distance2 _ _)) (zr (num _)) => u v; field; rewrite !zr_neq0.
have q0 : Z.leb Z0 (num q) by apply/Z.leb_le; apply: Z.mul_nonneg_nonneg; apply/Z.leb_le; [exact: w0|exact: distance2_ge0].
have := exponential_enclosed isE q0; rewrite zrD zrM mulrDl mulfK ?zr_neq0 //.
by move: (frac (Fraction EXP_ERROR exp_unit)) => e; rewrite opprD addrACA subrr addr0.
Qed.
Theorem space_sound S (A : claim_of_points (size (points (cloud_of S)))) : space_fits S ->
  (forall (V : lmodType R) (ip : semi_inner V) x, described ip (geometry_of S) x -> A V ip x) -> in_its_space A.
Proof.
case: S A => [X|X p|X p] A /andP[same fit] h; first exact: h (features_described R same).
2: move=> E isE K V ip x e; apply: h; apply: (enclosed_described (N := radial_enclosure X p)
     (K := fun a b => radial_value E p (vec (dimension X) a (unit X)) (vec (dimension X) b (unit X)))) => //.
2: by rewrite /= mirrored_triangle ?size_map // => a b; rewrite /radial_units distance2_sym.
2: by move=> i j; rewrite e; exact: radial_enclosed.
have /and3P[g0 c0 k0] := fit; split.
  by apply: gram_points; apply: polynomial_gram; exact: frac_ge0.
move=> V ip x e; apply: h; apply: matrix_described; first by rewrite size_map.
by move=> i j; rewrite e polynomial_entry.
Qed.
End Spaces.
