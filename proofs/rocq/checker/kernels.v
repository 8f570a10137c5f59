(** * The spaces of kernels

    [in_its_space] says a claim in R^d where the kernel is linear, and for another one in every space with points whose inner products are the
    kernel's values, or the given numbers; and that there are such points, which for given numbers is checked. For an RBF kernel that is not said:
    its values are by any exponential E of the field, and the claim is of the spaces that have such points, if there are any. [space_sound]: it is true of what is
    true of all that [geometry_of] describes. *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring ssrZ.
From equimargin Require Import inner.
From equimargin.checker Require Import integers spaces gram semidefinite exponential enclosed.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

(** ** What is computed *)
(** (gamma <x, z> + coef0)^degree + constant. *)
Record polynomial := PolynomialKernel { degree : nat; gamma : fraction; coef0 : fraction; constant : fraction }.
(** exp(-width |x - z|^2) + added. *)
Record radial := RadialKernel { width : fraction; added : Z }.
(** Of a given Gram matrix there is the lower triangle. *)
Inductive space := Linear of cloud | Polynomial of cloud & polynomial | Radial of cloud & radial | Given of gram.
Definition count_in (S : space) :=
  match S with Linear X | Polynomial X _ | Radial X _ => size (points X) | Given G => size (entries G) end.
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
Definition given_matrix (G : gram) : gram :=
  let places := iota 0 (size (entries G)) in Gram [seq [seq in_lower (entries G) i j | j <- places] | i <- places] (gram_unit G).
Definition geometry_of (S : space) : geometry := match S with
  | Linear X => Features X | Polynomial X p => Matrix (polynomial_matrix X p) | Radial X p => Enclosed (radial_enclosure X p)
  | Given G => Matrix (given_matrix G) end.
Definition parameters_fit (p : polynomial) := [&& Z.leb Z0 (num (gamma p)), Z.leb Z0 (num (coef0 p)) & Z.leb Z0 (num (constant p))].
Definition space_fits (S : space) := match S with
  | Linear X => same_dimension X | Polynomial X p => same_dimension X && parameters_fit p
  | Radial X p => same_dimension X && Z.leb Z0 (num (width p)) | Given _ => true end.
Definition has_inner_products (S : space) := if S is Given G then is_semidefinite (entries G) else true.

(** ** What it means *)
Local Open Scope ring_scope.
Section Spaces.
Variable R : realFieldType.
Definition kernel_value (p : polynomial) d (x z : 'rV[R]_d) : R := (frac (gamma p) * dot x z + frac (coef0 p)) ^+ degree p + frac (constant p).
Definition radial_value (E : R -> R) (p : radial) d (x z : 'rV[R]_d) : R := E (- (frac (width p) * dot (x - z) (x - z))) + zr (added p).
Definition given_value (G : gram) (i j : 'I_(size (entries G))) : R := frac (Fraction (in_lower (entries G) i j) (gram_unit G)).
Definition claim_of_points m := forall (V : lmodType R) (ip : semi_inner V) (x : 'I_m -> V), Prop.
Definition in_its_space (S : space) : claim_of_points (count_in S) -> Prop :=
  match S return claim_of_points (count_in S) -> Prop with
  | Linear X => fun A => A _ (dot_ip R (dimension X)) (@features R X)
  | Polynomial X p => fun A => let K := fun i j => kernel_value p (@features R X i) (@features R X j) in
      has_points K /\ forall (V : lmodType R) (ip : semi_inner V) x, (forall i j, ip (x i) (x j) = K i j) -> A V ip x
  | Radial X p => fun A => forall E, exponential E -> let K := fun i j => radial_value E p (@features R X i) (@features R X j) in
      forall (V : lmodType R) (ip : semi_inner V) x, (forall i j, ip (x i) (x j) = K i j) -> A V ip x
  | Given G => fun A => let K := @given_value G in
      has_points K /\ forall (V : lmodType R) (ip : semi_inner V) x, (forall i j, ip (x i) (x j) = K i j) -> A V ip x
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
Lemma radial_units_sym X p x z : radial_units X p x z = radial_units X p z x.
Proof. by rewrite /radial_units distance2_sym. Qed.
Lemma size_radial X p : size (entries (matrix (radial_enclosure X p))) = size (points X).
Proof. by rewrite [entries _]/= mirrored_triangle; [rewrite size_map|exact: radial_units_sym]. Qed.
Lemma radial_sym E p d (x z : 'rV[R]_d) : radial_value E p x z = radial_value E p z x.
Proof.
rewrite /radial_value; congr (E (- (_ * _)) + _); rewrite !dotE; apply: eq_bigr => k _; rewrite !mxE.
by rewrite -[x 0 k - z 0 k]opprB mulrNN.
Qed.
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
rewrite /entry_of /over /entry [entries _]/= [gram_unit _]/= mirrored_triangle; last exact: radial_units_sym.
rewrite (nth_map [::]) // (nth_map [::]) // /radial_value /features zr_distance2 ?sizes // /radial_units -/(point X i) -/(point X j).
set q := Fraction (Z.mul _ _) _; have -> : frac (width p) * (zr (distance2 (point X i) (point X j)) / (zr (Zpos (unit X)) * zr (Zpos (unit X)))) = frac q :> R.
  by rewrite /frac /q /= zrM !zrP; move: (zr (distance2 _ _)) (zr (num _)) => u v; field; rewrite !zr_neq0.
have q0 : Z.leb Z0 (num q) by apply/Z.leb_le; apply: Z.mul_nonneg_nonneg; apply/Z.leb_le; [exact: w0|exact: distance2_ge0].
have := exponential_enclosed isE q0; move: (frac (Fraction EXP_ERROR exp_unit)) (E _) => e v.
rewrite (_ : zr _ / _ = frac (Fraction (exp_units q) exp_unit) + zr (added p) :> R).
  by rewrite opprD addrACA subrr addr0.
by move: (exp_units q) exp_unit => k u; rewrite zrD zrM mulrDl mulfK ?zr_neq0.
Qed.
Lemma given_entry G (i j : 'I_(size (entries G))) : entry_of R (given_matrix G) i j = given_value i j.
Proof. by rewrite /entry_of /over /entry /= !(nth_map 0%N) ?size_iota // !nth_iota. Qed.
Theorem space_sound S (A : claim_of_points (count_in S)) : space_fits S -> has_inner_products S ->
  (forall (V : lmodType R) (ip : semi_inner V) x, described ip (geometry_of S) x -> A V ip x) -> in_its_space A.
Proof.
case: S A => [X|X p|X p|G] A.
- by move=> same _ h; exact: h (features_described R same).
- move=> /andP[same /and3P[g0 c0 k0]] _ h; split; first by apply: gram_points; apply: polynomial_gram; exact: frac_ge0.
  move=> V ip x e; apply: h; apply: matrix_described; first by rewrite size_map.
  by move=> i j; rewrite e polynomial_entry.
- move=> /andP[same width0] _ h E isE K V ip x e; apply: h.
  pose k a b := radial_value E p (vec (dimension X) a (unit X)) (vec (dimension X) b (unit X)).
  apply: (@enclosed_described _ _ _ (radial_enclosure X p) k) => [i j| |i j|]; [exact: e|exact: size_radial| |exact: isT].
  by rewrite e; exact: radial_enclosed.
- move=> _ /(semidefinite_sound R) g h; split.
    have u0 : 0 <= (zr (Zpos (gram_unit G)))^-1 :> R by rewrite invr_ge0 ltW ?zr_gt0.
    by apply: gram_points; apply: gram_ext (gram_mul g (gram_constant _ u0)).
  move=> V ip x e; apply: h; apply: matrix_described; first by rewrite size_map size_iota.
  by move=> i j; rewrite e given_entry.
Qed.
End Spaces.
