(** * The checker of one margin problem in rows

    Points x_0 .. x_(m-1) of R^d, and rows (i, j, s, t): each asks for <w, x_i - x_j> + s b >= t up to its loss, and x_m is 0. The three kinds
    of loss are those of [margin]: hinge and squared, at one cost C for every row, and none at all in the hard problems.

    [margin_sound]   what [margin_check] accepts is an interval that holds the optimum, which exists, over every ordered field *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring ssrZ.
From equimargin Require Import inner optimum qp margin.
From equimargin.checker Require Import integers.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

Inductive loss := Hinge | Squared | Hard.
Record cloud := Cloud { points : seq (seq Z); unit : positive; dimension : nat }.
Record row := Row { plus : nat; minus : nat; sign : Z; target : Z }.
Record margin_problem := MarginProblem { cloud_of : cloud; rows : seq row; target_unit : positive; kind : loss; cost : fraction }.
(** The function w, the bias b, and a multiplier of every row. *)
Record solution := Solution { w : seq Z; w_unit : positive; bias : fraction; multipliers : seq Z; multiplier_unit : positive }.
Record interval := Interval { lower : fraction; upper : fraction }.

(** ** What is computed *)
Definition point (X : cloud) i := nth [::] (points X) i.
Definition no_row := Row 0 0 Z0 Z0.
Fixpoint pull (X : cloud) (al : seq Z) (s : seq row) : seq Z :=
  match al, s with
  | k :: al', r :: s' => if Z.eqb k Z0 then pull X al' s' else
      plus_multiple k (point X (plus r)) (plus_multiple (Z.opp k) (point X (minus r)) (pull X al' s'))
  | _, _ => [::]
  end.
Section Check.
Variables (P : margin_problem) (S : solution).
Let X := cloud_of P.
Let value_unit := Pos.mul (w_unit S) (unit X).
(** t - <w, x_i - x_j> - s b for every row, over [loss_unit]. *)
Definition loss_unit := Pos.mul (target_unit P) (Pos.mul value_unit (den (bias S))).
Definition excesses : seq Z :=
  let scale := Zpos (Pos.mul (target_unit P) (den (bias S))) in
  let values := [seq Z.mul (product (w S) x) scale | x <- points X] in
  let b := Z.mul (num (bias S)) (Zpos (Pos.mul (target_unit P) value_unit)) in
  let one := Zpos (Pos.mul value_unit (den (bias S))) in
  [seq Z.sub (Z.mul (target r) one)
        (Z.add (Z.sub (entry values (plus r)) (entry values (minus r))) (Z.mul (sign r) b)) | r <- rows P].
Definition losses := [seq Z.max Z0 e | e <- excesses].
Definition lost := match kind P with
  | Hinge => fmul (cost P) (Fraction (total losses) loss_unit)
  | Squared => fmul (cost P) (Fraction (product losses losses) (Pos.mul loss_unit loss_unit))
  | Hard => Fraction Z0 1 end.
Definition primal_value := fadd (fmul half (Fraction (product (w S) (w S)) (Pos.mul (w_unit S) (w_unit S)))) lost.

Definition ridge := match kind P with
  | Squared => if num (cost P) is Zpos n then fmul (Fraction (Zpos (den (cost P))) (Pos.mul 4 n))
      (Fraction (product (multipliers S) (multipliers S)) (Pos.mul (multiplier_unit S) (multiplier_unit S))) else Fraction Z0 1
  | _ => Fraction Z0 1 end.
Definition dual_value :=
  let v := pull X (multipliers S) (rows P) in let u := Pos.mul (multiplier_unit S) (unit X) in
  fadd (Fraction (product (map target (rows P)) (multipliers S)) (Pos.mul (target_unit P) (multiplier_unit S)))
    (fopp (fadd (fmul half (Fraction (product v v) (Pos.mul u u))) ridge)).

Definition cost_is_positive := if num (cost P) is Zpos _ then true else false.
Definition multipliers_are_natural := all (Z.leb Z0) (multipliers S).
Definition multipliers_are_within_costs := if kind P is Hinge then
  all (fun k => fleb (Fraction k (multiplier_unit S)) (cost P)) (multipliers S) else true.
Definition multipliers_are_balanced := Z.eqb (product (map sign (rows P)) (multipliers S)) Z0.
Definition hard_rows_are_met := if kind P is Hard then all (fun e => Z.leb e Z0) excesses else true.

Definition margin_check (I : interval) : bool :=
  [&& all (fun x => size x == dimension X) (points X), size (w S) == dimension X, size (multipliers S) == size (rows P)
    & cost_is_positive] &&
  [&& multipliers_are_natural, multipliers_are_within_costs, multipliers_are_balanced & fleb (lower I) dual_value] &&
  (hard_rows_are_met && fleb primal_value (upper I)).
End Check.

(** ** What it means *)
Local Open Scope ring_scope.
(** Existence and attainment come from duality; what is left of a certificate is two feasible points and their values. *)
Lemma bracket (R : realFieldType) T D (F : T -> Prop) (p : T -> R) (G : D -> Prop) (d : D -> R) K t s lo hi :
  strong_duality F p G d K -> F t -> G s -> lo <= d s -> p t <= hi -> exists2 v, minimum F p v & lo <= v <= hi.
Proof.
move=> [[v mp md] _] Ft Gs l h; exists v => //; case: mp md => [t' [_ Ot] et] [s' [_ Os] es].
by rewrite -{1}es -et (le_trans l (Os _ Gs)) (le_trans (Ot _ Ft) h).
Qed.

Section Meaning.
Variables (R : realFieldType) (P : margin_problem).
Local Notation X := (cloud_of P).
Local Notation d := (dimension X).
Definition at_point (Y : cloud) i : 'rV[R]_(dimension Y) := vec (dimension Y) (point Y i) (unit Y).
Definition row_vector r := at_point X (plus r) - at_point X (minus r).
Local Notation r_ i := (nth no_row (rows P) i).
Definition row_sign n (i : 'I_n) : R := zr (sign (r_ i)).
Definition row_target n (i : 'I_n) : R := zr (target (r_ i)) / zr (Zpos (target_unit P)).
Definition row_at n (i : 'I_n) := row_vector (r_ i).
Definition margin_optimum n v := let a := @row_at n in let g := @row_sign n in let t := @row_target n in
  match kind P with
  | Hinge => minimum (hinge_primal_feas (dot_ip R d) a g t) (hinge_primal_obj (dot_ip R d) (fun=> frac (cost P))) v
  | Squared => minimum (squared_primal_feas (dot_ip R d) a g t) (squared_primal_obj (dot_ip R d) (frac (cost P))) v
  | Hard => minimum (hard_primal_feas (dot_ip R d) a g t) (hard_primal_obj (dot_ip R d)) v end.

Variables (S : solution).
Local Notation al := (fun i => @over R (multipliers S) (multiplier_unit S) i).
Local Notation vu := (Pos.mul (w_unit S) (unit X)).

Lemma pull_span k s u : size k = size s -> vec d (pull X k s) (Pos.mul u (unit X)) =
  \sum_(i < size s) over k u i *: row_vector (nth no_row s i).
Proof.
move=> e; rewrite -vec_unit; transitivity ((zr (Zpos u))^-1 *: (\sum_(i < size s) zr (entry k i) *: row_vector (nth no_row s i))).
  congr (_ *: _); elim: k s e => [|a k IH] [|r s] //= => [_|[e]]; first by rewrite vec_nil big_ord0.
  rewrite big_ord_recl /=; case: Z.eqb_spec => [->|_]; first by rewrite scale0r add0r IH.
  by rewrite !vec_plus_multiple zrN scaleNr IH // addrA -scalerBr.
by rewrite scaler_sumr; apply: eq_bigr => i _; rewrite scalerA mulrC.
Qed.
Lemma point_size i : all (fun x => size x == d) (points X) -> (size (point X i) <= d)%N.
Proof.
move=> h; rewrite /point; have [l|l] := ltnP i (size (points X)); last by rewrite nth_default.
by rewrite (eqP (all_nthP [::] h _ l)).
Qed.
Lemma pull_size k s : all (fun x => size x == d) (points X) -> (size (pull X k s) <= d)%N.
Proof.
move=> h; elim: k s => [|a k IH] [|r s] //=; case: Z.eqb => //.
by rewrite !size_plus_multiple ?point_size.
Qed.

Lemma excess_at i : (size (w S) <= d)%N -> (i < size (rows P))%N -> over (excesses P S) (loss_unit P S) i =
  zr (target (r_ i)) / zr (Zpos (target_unit P))
  - (dot (vec d (w S) (w_unit S)) (row_vector (r_ i)) + zr (sign (r_ i)) * frac (bias S)).
Proof.
move=> hw l; rewrite /over /excesses /entry (nth_map no_row) //; set r := nth _ _ _.
have value k j : nth Z0 [seq Z.mul (product (w S) x) k | x <- points X] j = Z.mul (product (w S) (point X j)) k.
  rewrite /point; have [h|h] := ltnP j (size (points X)); first by rewrite (nth_map [::]).
  by rewrite !nth_default ?size_map //; case: (w S).
rewrite /row_vector -[dot _ (_ - _)]/(dot_ip R d _ _) ipBr /= !dot_vec // !value /loss_unit !(zrB, zrD, zrM, zrP) /frac /= !(zrB, zrD, zrM, zrP).
by field; rewrite !zr_neq0.
Qed.

Lemma frac0 : frac (Fraction Z0 1) = 0 :> R. Proof. exact: mul0r. Qed.
Lemma zr_num_gt0 q : (if num q is Zpos _ then true else false) -> 0 < frac q :> R.
Proof. by rewrite /frac; case: (num q) => // p _; rewrite divr_gt0 ?zr_gt0. Qed.
Lemma frac_over k u : frac (Fraction (entry k u) (multiplier_unit S)) = over k (multiplier_unit S) u :> R.
Proof. by []. Qed.
Lemma target_value n : size (rows P) = n -> size (multipliers S) = n ->
  \sum_(i < n) row_target i * al i = frac (Fraction (product (map target (rows P)) (multipliers S)) (Pos.mul (target_unit P) (multiplier_unit S))).
Proof.
move=> e _; rewrite -(@over_product _ n) ?size_map ?e //; apply: eq_bigr => i _; congr (_ * _).
by rewrite /row_target /over /entry (nth_map no_row) ?e.
Qed.
Lemma balance n : size (rows P) = n -> multipliers_are_balanced P S -> \sum_(i < n) row_sign i * al i = 0.
Proof.
move=> e /Z.eqb_eq h; transitivity (\sum_(i < n) over (map sign (rows P)) 1 i * al i : R).
  by apply: eq_bigr => i _; congr (_ * _); rewrite /row_sign /over /entry zr1 divr1 (nth_map no_row) ?e.
by rewrite over_product ?size_map ?e // /frac h /= zr0 mul0r.
Qed.
Lemma dual_valueE n : all (fun x => size x == d) (points X) -> size (rows P) = n -> size (multipliers S) = n ->
  frac (dual_value P S) = margin.dual_value (dot_ip R d) (@row_at n) (@row_target n) al - frac (ridge P S).
Proof.
move=> hX e e'; rewrite /dual_value fracD -(target_value e e') fracN fracD fracM frac_half.
rewrite -(@dot_vec R d) ?pull_size // pull_span ?e ?e' // opprD addrA /margin.dual_value /span.
by congr (_ - _ * _ - _); subst n.
Qed.

Local Notation xi i := (@over R (losses P S) (loss_unit P S) i).
Lemma loss_at i : (size (w S) <= d)%N -> (i < size (rows P))%N -> xi i = Num.max 0 (over (excesses P S) (loss_unit P S) i) :> R.
Proof.
move=> hw l; rewrite /over /losses /entry (nth_map Z0) ?size_map // zr_max zr0.
by rewrite maxr_pmull ?mul0r // invr_ge0 ltW ?zr_gt0.
Qed.

Lemma slack_at n (i : 'I_n) : (size (w S) <= d)%N -> size (rows P) = n ->
  0 <= xi i /\ row_target i - xi i <= dot (vec d (w S) (w_unit S)) (row_at i) - row_sign i * - frac (bias S).
Proof.
move=> hw e; rewrite loss_at ?e // excess_at ?e //; split; first by rewrite le_maxr lexx.
by rewrite ler_subl_addl -ler_subl_addr mulrN opprK le_maxr lexx orbT.
Qed.

Theorem margin_sound n I : size (rows P) = n -> margin_check P S I ->
  exists2 v, margin_optimum n v & frac (lower I) <= v <= frac (upper I).
Proof.
move=> e /andP[/andP[/and4P[hX /eqP hw /eqP hm /zr_num_gt0 C0] /and4P[nat within /(balance e) bal /(@frac_le R) lo]] /andP[met /(@frac_le R) hi]].
rewrite e in hm; move: lo hi; rewrite (dual_valueE hX e hm) /primal_value fracD fracM frac_half.
rewrite -(@dot_vec R d) ?hw //.
have nonneg i : 0 <= al i by exact: over_ge0.
have slack (i : 'I_n) := slack_at i (eq_leq hw) e.
have sl : size (losses P S) = n by rewrite !size_map.
have sa : size (multipliers S) = n by [].
rewrite /margin_optimum; move: within met; rewrite /multipliers_are_within_costs /hard_rows_are_met /ridge /lost.
set a := @row_at n; set g := @row_sign n; set t := @row_target n.
case: (kind P) => within met lo hi.
- have dual := hinge_duality (dot_ip R d) a g t (c := fun=> frac (cost P)) (fun=> ltW C0).
  apply: (bracket (t := (vec d (w S) (w_unit S), - frac (bias S), fun i : 'I_n => xi i)) (s := fun i : 'I_n => al i) dual) => //.
  + split=> // i; rewrite nonneg /= -frac_over; apply: frac_le.
    by apply: (all_nthP Z0 within); rewrite hm.
  + by move: lo; rewrite frac0 subr0.
  + by rewrite /hinge_primal_obj /= -mulr_sumr (over_total _ _ sl) -fracM.
- have dual := squared_duality (dot_ip R d) a g t C0.
  apply: (bracket (t := (vec d (w S) (w_unit S), - frac (bias S), fun i : 'I_n => xi i)) (s := fun i : 'I_n => al i) dual) => //.
  + move: lo; rewrite /squared_dual_obj; congr (_ <= _ - _); have -> : \sum_(i < n) al i ^+ 2 = \sum_(i < n) al i * al i.
      by apply: eq_bigr => i _; exact: expr2.
    rewrite over_product ?sa //; move: C0; rewrite /(frac (cost P)); case: (num (cost P)) => [|p _|p].
    * by rewrite zr0 mul0r ltxx.
    * by rewrite fracM; congr (_ * _); rewrite {1}/frac /= zrP mulrA invf_div.
    * by rewrite ltNge pmulr_lle0 ?invr_gt0 ?zr_gt0 // -[Zneg p]/(Z.opp (Zpos p)) zrN oppr_le0 ltW ?zr_gt0.
  + move: hi; rewrite fracM -(over_product _ _ _ _ (eq_leq sl)).
    by have -> : \sum_(i < n) xi i * xi i = \sum_(i < n) xi i ^+ 2 by apply: eq_bigr => i _; rewrite expr2.
- have hard : hard_primal_feas (dot_ip R d) a g t (vec d (w S) (w_unit S), - frac (bias S)).
    move=> i; have [_] := slack i; apply: le_trans; rewrite loss_at ?hw ?e // max_l ?subr0 //.
    have e0 : zr (entry (excesses P S) i) <= 0 :> R by apply: (@zr_le R _ Z0); apply: (all_nthP Z0 met); rewrite size_map e.
    by rewrite /over pmulr_lle0 // invr_gt0 zr_gt0.
  have dual := hard_duality (ex_intro _ _ hard).
  apply: (bracket (t := (vec d (w S) (w_unit S), - frac (bias S))) (s := fun i : 'I_n => al i) dual) => //.
  + by move: lo; rewrite frac0 subr0.
  + by move: hi; rewrite frac0 addr0.
Qed.
End Meaning.
