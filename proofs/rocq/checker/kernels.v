(** * The spaces of kernels

    [in_its_space] states a claim in R^d if the kernel is linear; for any other kernel, in every space with points whose inner products are the
    kernel's values, or the given numbers, and that such points exist, which is checked for given numbers. For an RBF kernel the existence is not stated:
    its values are those of any exponential E of the field, and the claim concerns all spaces with such points, if there are any. [space_sound]: a claim holds
    [in_its_space] if it holds for all points that [geometry_of] describes. *)
From Coq Require Import ZArith Lia.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring ssrZ.
From equimargin Require Import inner.
From equimargin.checker Require Import products tables integers expansions spaces gram semidefinite exponential enclosed.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

(** ** What is computed *)
(** (gamma <x, z> + coef0)^degree + constant. *)
Record polynomial := PolynomialKernel { degree : nat; gamma : fraction; coef0 : fraction; constant : fraction }.
(** exp(-width |x - z|^2) + added. *)
Record radial := RadialKernel { width : fraction; added : Z }.
(** A given Gram matrix is stored as its lower triangle. *)
Inductive space := Linear of cloud | Polynomial of cloud & polynomial | Radial of cloud & radial | Given of gram.
Definition count_in (S : space) :=
  match S with Linear X | Polynomial X _ | Radial X _ => size (points X) | Given G => size (entries G) end.
Fixpoint power_pos (a : positive) (n : nat) : positive := if n is n'.+1 then Pos.mul a (power_pos a n') else xH.
(** sum + |x - z|^2, or None if that is above the limit; the rest of x and z is then not used. *)
Fixpoint distance_within (limit sum : Z) (x z : seq Z) : option Z :=
  if Z.ltb limit sum then None else match x, z with
  | a :: x', b :: z' => distance_within limit (Z.add sum (square_of (Z.sub a b))) x' z' | _, _ => Some sum end.
(** The upper triangle of the matrix of a symmetric function. *)
Fixpoint triangle A B (f : A -> A -> B) (s : seq A) : seq (seq B) :=
  if s is x :: s' then [seq f x z | z <- s] :: triangle f s' else [::].
Fixpoint mirrored B (t : seq (seq B)) : seq (seq B) :=
  if t is row :: t' then row :: [seq p.1 :: p.2 | p <- zip (behead row) (mirrored t')] else [::].
(** A symmetric function at the pairs of points of which at least one is used, and [none] at all other pairs. *)
Definition if_used B (none : B) (f : seq Z -> seq Z -> B) (x z : bool * seq Z) : B := if x.1 || z.1 then f x.2 z.2 else none.
(** The matrix of the numbers that [number] makes from the values of such a function. [number] gets all values first, so that it can make a table of them. *)
Definition symmetric_matrix B none f (number : seq (seq B) -> B -> Z) (X : seq (seq Z)) (mask : seq bool) : seq (seq Z) :=
  let t := triangle (if_used none f) (zip mask X) in let number_in_t := number t in mirrored [seq [seq number_in_t v | v <- row] | row <- t].
Definition polynomial_base (X : cloud) (p : polynomial) : positive :=
  Pos.mul (Pos.mul (unit X) (unit X)) (Pos.mul (den (gamma p)) (den (coef0 p))).
Definition polynomial_unit (X : cloud) (p : polynomial) : positive := Pos.mul (power_pos (polynomial_base X p) (degree p)) (den (constant p)).
(** A value over its unit is (factor <x, z> + summand)^degree, times the denominator of the constant, plus an offset for the constant. *)
Definition polynomial_factor (p : polynomial) : Z := Z.mul (num (gamma p)) (Zpos (den (coef0 p))).
Definition polynomial_summand (X : cloud) (p : polynomial) : Z := Z.mul (num (coef0 p)) (Zpos (Pos.mul (Pos.mul (unit X) (unit X)) (den (gamma p)))).
Definition polynomial_offset (X : cloud) (p : polynomial) : Z := Z.mul (num (constant p)) (Zpos (power_pos (polynomial_base X p) (degree p))).
Definition polynomial_units (X : cloud) (p : polynomial) : seq Z -> seq Z -> Z :=
  let factor := polynomial_factor p in let summand := polynomial_summand X p in let constant_units := polynomial_offset X p in
  fun x z => Z.add (Z.mul (power (Z.add (product_of factor (product x z)) summand) (degree p)) (Zpos (den (constant p)))) constant_units.
Definition polynomial_matrix (X : cloud) (p : polynomial) (mask : seq bool) : gram :=
  Gram (symmetric_matrix Z0 (polynomial_units X p) (fun=> id) (points X) mask) (polynomial_unit X p).
(** The values by an expansion, of points with one more feature for the summand. *)
Definition polynomial_expansion (X : cloud) (p : polynomial) : expansion :=
  let factor := polynomial_factor p in let summand := polynomial_summand X p in
  Expansion [seq rcons [seq product_of factor a | a <- x] summand | x <- points X] [seq rcons z (Zpos 1) | z <- points X] (dimension X).+1
    (degree p) (Zpos (den (constant p))) (polynomial_offset X p) (polynomial_unit X p).
Fixpoint rising (a : Z) (n : nat) : Z := if n is n'.+1 then Z.mul a (rising (Z.succ a) n') else Zpos 1.
(** Number of coefficients of an expansion: that of products of [degree] factors, each a feature or the one added to the features. *)
Definition count_of_coefficients (X : cloud) (p : polynomial) : Z :=
  Z.div (rising (Z.succ (Z.of_nat (dimension X))) (degree p)) (rising (Zpos 1) (degree p)).
(** True if, for two functions of the points used, an expansion takes less time than the matrix. The unit of time is one product of two
    features. A kernel value takes one unit per feature, and 4 in each function. A coefficient of an expansion takes 2 units per point used
    to compute, and 3 in each value at a point. That numbers are longer with a high degree is neglected, for both. *)
Definition is_worth_expanding (X : cloud) (p : polynomial) (mask : seq bool) : bool :=
  let m := Z.of_nat (size (points X)) in let u := Z.of_nat (count id mask) in let pairs := Z.sub (Z.mul u m) (Z.div2 (Z.mul u u)) in
  Z.ltb (Z.mul (count_of_coefficients X p) (Z.add (Z.mul 4 u) (Z.mul 6 m))) (Z.add (Z.mul pairs (Z.of_nat (dimension X))) (Z.mul 8 (Z.mul u m))).
Definition radial_den (X : cloud) (p : radial) : positive := Pos.mul (Pos.mul (unit X) (unit X)) (den (width p)).
Definition radial_constant (p : radial) : Z := Z.mul (added p) (Zpos exp_unit).
(** The kernel's value where |x - z|^2 is d units. *)
Definition radial_units (X : cloud) (p : radial) : Z -> Z :=
  let v := radial_den X p in let c := radial_constant p in fun d => Z.add (exp_units (Fraction (Z.mul (num (width p)) d) v)) c.
(** If q = width |x - z|^2 is above 96, [exp_units] is 0. The sum of squares is therefore ended once it exceeds this limit. *)
Definition radial_at (X : cloud) (p : radial) : seq Z -> seq Z -> value :=
  let limit := Z.div (Z.mul EXP_BITS (Zpos (radial_den X p))) (num (width p)) in let f := radial_units X p in let c := radial_constant p in
  fun x z => if distance_within limit Z0 x z is Some d then value_of f d else Computed c.
Definition radial_enclosure (X : cloud) (p : radial) (mask : seq bool) : enclosure :=
  let f := radial_units X p in let number t := number_by f (kept_values f t) in
  Enclosure (points X) (Gram (symmetric_matrix (Computed Z0) (radial_at X p) number (points X) mask) exp_unit) EXP_ERROR.
Definition given_matrix (G : gram) : gram :=
  let places := iota 0 (size (entries G)) in Gram [seq [seq in_lower (entries G) i j | j <- places] | i <- places] (gram_unit G).
(** The geometry for functions of these lists of coefficients: a kernel value is not computed if all of them multiply it by 0, and none is if the
    kernel is a polynomial for which an expansion takes less time. *)
Definition geometry_of (S : space) (ks : seq (seq Z)) : geometry := match S with
  | Linear X => Features X | Polynomial X p => let mask := used (size (points X)) ks in
    if is_worth_expanding X p mask then Expanded (polynomial_expansion X p) else Matrix (polynomial_matrix X p mask)
  | Radial X p => Enclosed (radial_enclosure X p (used (size (points X)) ks))
  | Given G => Matrix (given_matrix G) end.
Definition parameters_fit (p : polynomial) := [&& Z.leb Z0 (num (gamma p)), Z.leb Z0 (num (coef0 p)) & Z.leb Z0 (num (constant p))].
Definition space_fits (S : space) := match S with
  | Linear X => same_dimension X | Polynomial X p => same_dimension X && parameters_fit p
  | Radial X p => same_dimension X && Z.ltb Z0 (num (width p)) | Given _ => true end.
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
Proof. by elim: n => [|n IH] //=; rewrite product_ofE zrM IH exprS. Qed.
Lemma zr_power_pos a n : zr (Zpos (power_pos a n)) = zr (Zpos a) ^+ n :> R.
Proof. by elim: n => [|n IH] //=; rewrite zrP IH exprS. Qed.
Lemma mirrored_triangle A B (f : A -> A -> B) s : (forall x z, f x z = f z x) -> mirrored (triangle f s) = [seq [seq f x z | z <- s] | x <- s].
Proof.
move=> sym; elim: s => [|x s IH] //=; rewrite {}IH; congr (_ :: _).
have zipped t : [seq p.1 :: p.2 | p <- zip [seq f x z | z <- t] [seq [seq f y z | z <- s] | y <- t]] = [seq f y x :: [seq f y z | z <- s] | y <- t].
  by elim: t => [|y t IH] //=; rewrite IH sym.
exact: zipped.
Qed.
Lemma triangle_map A B C (f : A -> A -> B) (g : B -> C) s : [seq [seq g v | v <- row] | row <- triangle f s] = triangle (fun x z => g (f x z)) s.
Proof. by elim: s => [|x s IH] //=; rewrite IH -map_comp. Qed.
Section Symmetric.
Variables (B : Type) (none : B) (f : seq Z -> seq Z -> B) (number : seq (seq B) -> B -> Z) (g : B -> Z) (X : seq (seq Z)) (ks : seq (seq Z)).
Hypotheses (sym : forall x z, f x z = f z x) (numberE : forall t, number t =1 g).
Let m := size X.
Local Notation M := (symmetric_matrix none f number X (used m ks)).
Let symmetricE : M = [seq [seq g (if_used none f x z) | z <- zip (used m ks) X] | x <- zip (used m ks) X].
Proof.
rewrite /symmetric_matrix triangle_map mirrored_triangle => [|x z]; last by rewrite !numberE /if_used orbC sym.
by apply: eq_map => x; apply: eq_map => z; exact: numberE.
Qed.
Lemma size_symmetric : size M = m.
Proof. by rewrite symmetricE size_map size_zip size_used minnn. Qed.
Lemma symmetric_entry k (i j : 'I_m) : k \in ks -> entry k j != Z0 -> entry (nth [::] M i) j = g (f (nth [::] X i) (nth [::] X j)).
Proof.
move=> isin nz; have e : size (used m ks) = size X by rewrite size_used.
rewrite symmetricE /entry (nth_map (false, [::])) ?size_zip ?e ?minnn // (nth_map (false, [::])) ?size_zip ?e ?minnn // !nth_zip //.
by rewrite /if_used /= (used_at isin _ nz) ?orbT.
Qed.
End Symmetric.
Lemma polynomial_units_sym X p x z : polynomial_units X p x z = polynomial_units X p z x.
Proof. by rewrite /polynomial_units product_sym. Qed.
Lemma size_polynomial X p ks : size (entries (polynomial_matrix X p (used (size (points X)) ks))) = size (points X).
Proof. exact: (size_symmetric (number := fun=> id) (g := id) Z0 (points X) ks (polynomial_units_sym X p) (fun t a => erefl)). Qed.
Lemma polynomial_unitsE X p (i j : 'I_(size (points X))) : same_dimension X ->
  zr (polynomial_units X p (point X i) (point X j)) / zr (Zpos (polynomial_unit X p)) = kernel_value p (@features R X i) (@features R X j).
Proof.
move=> same; rewrite /polynomial_units /polynomial_factor /polynomial_summand /polynomial_offset /polynomial_unit /polynomial_base /=.
rewrite /kernel_value /features dot_vec ?point_size //.
have split (a b v e : R) : v != 0 -> e != 0 -> (a * e + b * v) / (v * e) = a / v + b / e by move=> v0 e0; field; rewrite v0 e0.
rewrite product_ofE zrD !zrM zrP zr_power split ?zr_neq0 // zr_power_pos -expr_div_n; congr (_ ^+ _ + _); rewrite /frac /= /point !(zrD, zrM, zrP).
by move: (nth _ _ _) (nth _ _ _) => x z; field; rewrite !zr_neq0.
Qed.
Lemma polynomial_entry X p ks k (i j : 'I_(size (points X))) : same_dimension X -> k \in ks -> entry k j != Z0 ->
  entry_of R (polynomial_matrix X p (used (size (points X)) ks)) i j = kernel_value p (@features R X i) (@features R X j).
Proof.
move=> same isin nz; rewrite -polynomial_unitsE // /entry_of /over.
by rewrite (symmetric_entry (number := fun=> id) (g := id) Z0 (polynomial_units_sym X p) (fun t a => erefl) i isin nz).
Qed.
Lemma expansion_fits X p (E := polynomial_expansion X p) : same_dimension X ->
  [/\ size (lefts E) = size (points X), size (rights E) = size (points X) &
   all (fun x => size x == size_of_lists E) (lefts E) && all (fun z => size z == size_of_lists E) (rights E)].
Proof.
move=> same; rewrite !size_map; split=> //; rewrite !all_map.
by apply/andP; split; apply: sub_all same => x /= /eqP e; rewrite size_rcons ?size_map e.
Qed.
Local Arguments product_of : simpl never.
Lemma expansion_entry X p (i j : 'I_(size (points X))) : same_dimension X ->
  entry_of R (matrix_of (polynomial_expansion X p)) i j = kernel_value p (@features R X i) (@features R X j).
Proof.
move=> same; rewrite -polynomial_unitsE // polynomial_units_sym /entry_of /over /entry /= !(nth_map [::]) ?size_map //.
have ends f x z u : size x = size z -> product (rcons [seq product_of f a | a <- x] u) (rcons z 1) = Z.add (product_of f (product x z)) u.
  rewrite !product_ofE; elim: x z => [|a x IH] [|b z] //= => [_|[e]]; first by rewrite product_ofE Z.mul_1_r Z.mul_0_r Z.add_0_r.
  by rewrite IH // !product_ofE Z.mul_add_distr_l Z.mul_assoc Z.add_assoc.
have sizes l : (l < size (points X))%N -> size (point X l) = dimension X by move=> lm; apply/eqP; exact: (all_nthP [::] same).
by rewrite -!/(point X _) ends ?sizes // product_ofE /polynomial_units Z.mul_comm.
Qed.
Lemma frac_ge0 q : Z.leb Z0 (num q) -> 0 <= frac q :> R.
Proof. by move=> h; rewrite divr_ge0 ?zr_ge0 // ltW ?zr_gt0. Qed.
Fixpoint distance2 (x z : seq Z) : Z :=
  match x, z with a :: x', b :: z' => let c := Z.sub a b in Z.add (Z.mul c c) (distance2 x' z') | _, _ => Z0 end.
Lemma distance2_sym x z : distance2 x z = distance2 z x.
Proof. by elim: x z => [|a x IH] [|b z] //=; rewrite IH; congr Z.add; rewrite -(Z.opp_involutive (Z.sub b a)) Z.mul_opp_opp Z.opp_sub_distr Z.add_comm. Qed.
Lemma distance2_ge0 x z : Z.leb Z0 (distance2 x z).
Proof.
elim: x z => [|a x IH] [|b z] //=; apply/Z.leb_le; apply: Z.add_nonneg_nonneg; first exact: Z.square_nonneg.
by apply/Z.leb_le; exact: IH.
Qed.
Lemma distance_withinE limit sum x z :
  distance_within limit sum x z = if Z.ltb limit (Z.add sum (distance2 x z)) then None else Some (Z.add sum (distance2 x z)).
Proof.
elim: x z sum => [|a x IH] [|b z] sum; rewrite /= ?Z.add_0_r //; case: (Z.ltb_spec limit sum) => [above|_]; last by rewrite IH square_ofE Z.add_assoc.
have /Z.leb_le := distance2_ge0 (a :: x) (b :: z); rewrite /= => d0.
by case: Z.ltb_spec => // h; exfalso; move: above h d0; clear; move: (Z.add _ (distance2 _ _)) => d; lia.
Qed.
Lemma radial_at_sym X p x z : radial_at X p x z = radial_at X p z x.
Proof. by rewrite /radial_at !distance_withinE (distance2_sym x z). Qed.
Lemma radial_atE X p x z : Z.ltb Z0 (num (width p)) -> number_of (radial_units X p) (radial_at X p x z) = Z.add (exp_units
  (Fraction (Z.mul (num (width p)) (distance2 x z)) (Pos.mul (Pos.mul (unit X) (unit X)) (den (width p))))) (Z.mul (added p) (Zpos exp_unit)).
Proof.
move=> /Z.ltb_lt w0; rewrite /radial_at distance_withinE Z.add_0_l /radial_den; set v := Pos.mul _ (den _).
case: Z.ltb_spec => [above|_]; last by rewrite number_of_value.
rewrite exp_units_beyond ?Z.add_0_l // [num _]/= [den _]/=.
apply: Z.lt_le_trans (Z.mul_succ_div_gt (Z.mul EXP_BITS (Zpos v)) _ w0) _.
by apply: Z.mul_le_mono_nonneg_l; [exact: Z.lt_le_incl|exact/Z.le_succ_l].
Qed.
Lemma size_radial X p ks : size (entries (matrix (radial_enclosure X p (used (size (points X)) ks)))) = size (points X).
Proof. exact: (size_symmetric (Computed Z0) (points X) ks (radial_at_sym X p) (number_byE (radial_units X p))). Qed.
Lemma radial_sym E p d (x z : 'rV[R]_d) : radial_value E p x z = radial_value E p z x.
Proof.
rewrite /radial_value; congr (E (- (_ * _)) + _); rewrite !dotE; apply: eq_bigr => k _; rewrite !mxE.
by rewrite -[x 0 k - z 0 k]opprB mulrNN.
Qed.
Lemma zr_distance2 d x z u : size x = d -> size z = d ->
  dot (vec d x u - vec d z u) (vec d x u - vec d z u) = zr (distance2 x z) / (zr (Zpos u) * zr (Zpos u)) :> R.
Proof.
move=> ex ez; rewrite dotE; have -> : zr (distance2 x z) = \sum_(k < d) (zr (entry x k) - zr (entry z k)) * (zr (entry x k) - zr (entry z k)) :> R.
  elim: d x z ex ez => [|d IH] [|a x] [|b z] //= => [_ _|[ex] [ez]]; first by rewrite big_ord0.
  by rewrite big_ord_recl zrD zrM zrB (IH x z).
by rewrite mulr_suml; apply: eq_bigr => k _; rewrite !mxE /over; field; exact: zr_neq0.
Qed.
Lemma radial_enclosed E X p ks k (i j : 'I_(size (points X))) : exponential E -> same_dimension X -> Z.ltb Z0 (num (width p)) -> k \in ks -> entry k j != Z0 ->
  `|radial_value E p (@features R X i) (@features R X j) - entry_of R (matrix (radial_enclosure X p (used (size (points X)) ks))) i j| <= frac (Fraction EXP_ERROR exp_unit).
Proof.
move=> isE same w0 isin nz; have sizes l : (l < size (points X))%N -> size (point X l) = dimension X by move=> lm; apply/eqP; exact: (all_nthP [::] same).
rewrite /entry_of /over [entries _]/= [gram_unit _]/= (symmetric_entry (Computed Z0) (radial_at_sym X p) (number_byE (radial_units X p)) i isin nz) radial_atE // /radial_value /features zr_distance2 ?sizes //.
rewrite -/(point X i) -/(point X j).
set q := Fraction (Z.mul _ _) _; have -> : frac (width p) * (zr (distance2 (point X i) (point X j)) / (zr (Zpos (unit X)) * zr (Zpos (unit X)))) = frac q :> R.
  by rewrite /frac /q /= zrM !zrP; move: (zr (distance2 _ _)) (zr (num _)) => u v; field; rewrite !zr_neq0.
have q0 : Z.leb Z0 (num q) by apply/Z.leb_le; apply: Z.mul_nonneg_nonneg; [exact/Z.lt_le_incl/Z.ltb_lt|apply/Z.leb_le; exact: distance2_ge0].
have := exponential_enclosed isE q0; move: (frac (Fraction EXP_ERROR exp_unit)) (E _) => e v.
rewrite (_ : zr _ / _ = frac (Fraction (exp_units q) exp_unit) + zr (added p) :> R).
  by rewrite opprD addrACA subrr addr0.
by move: (exp_units q) exp_unit => n u; rewrite zrD zrM mulrDl mulfK ?zr_neq0.
Qed.
Lemma given_entry G (i j : 'I_(size (entries G))) : entry_of R (given_matrix G) i j = given_value i j.
Proof. by rewrite /entry_of /over /entry /= !(nth_map 0%N) ?size_iota // !nth_iota. Qed.
Theorem space_sound S ks (A : claim_of_points (count_in S)) : space_fits S -> has_inner_products S ->
  (forall (V : lmodType R) (ip : semi_inner V) x, described ip ks (geometry_of S ks) x -> A V ip x) -> in_its_space A.
Proof.
case: S A => [X|X p|X p|G] A.
- by move=> same _ h; exact: h (features_described R ks same).
- move=> /andP[same /and3P[g0 c0 k0]] _ h; split; first by apply: gram_points; apply: polynomial_gram; exact: frac_ge0.
  move=> V ip x e; apply: h; rewrite /geometry_of; case: is_worth_expanding.
    have [el er fits] := expansion_fits p same; apply: expanded_described => //; apply: matrix_described => [|k _ i j _]; first by rewrite size_map.
    by rewrite e expansion_entry.
  apply: matrix_described => [|k isin i j nz]; first exact: size_polynomial.
  by rewrite e (polynomial_entry p i same isin nz).
- move=> /andP[same width0] _ h E isE K V ip x e; apply: h.
  pose k a b := radial_value E p (vec (dimension X) a (unit X)) (vec (dimension X) b (unit X)).
  apply: (@enclosed_described _ _ _ (radial_enclosure X p _) k) => [i j| ||l isin i j nz]; [exact: e|exact: size_radial|exact: isT|].
  by rewrite e; exact: (radial_enclosed i isE same width0 isin nz).
- move=> _ /(semidefinite_sound R) g h; split.
    have u0 : 0 <= (zr (Zpos (gram_unit G)))^-1 :> R by rewrite invr_ge0 ltW ?zr_gt0.
    by apply: gram_points; apply: gram_ext (gram_mul g (gram_constant _ u0)).
  move=> V ip x e; apply: h; apply: matrix_described; first by rewrite size_map size_iota.
  by move=> k _ i j _; rewrite e given_entry.
Qed.
End Spaces.
