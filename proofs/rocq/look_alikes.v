(** * Problems that look alike and have different optima

    Each theorem gives both optima of a counterexample over any ordered field, hence over the rationals. It is the counterexample that
    formulations/links/counterexamples.py stores for the two formulations; only for kernels of differences that file has the RBF kernel, and the
    theorem any points with these inner products.

    [rank_differences_is_not_rank_l1], [rank_onenorm_differences_is_not_rank_onenorm]   k(x_i - x_j, x_u - x_v) for phi_ij.phi_uv, one
        pair, k(x, x) = 1 and k(x, x') = q < 1/2 (for the RBF kernel q = exp(-1)): 1/2 against 1/(4(1 - q)), 1 against 1/(2 - 2q)
    [rvm_is_not_rank_l1]           x = 1 preferred to x = 2: 1 against 1/2
    [rank_onenorm_free_is_not_rvm] the same pair: 1/2 against 1
    [svm_onenorm_free_is_not_svm_onenorm]   -1 twice against 1, and -2 in the class of 1: 7/2 against 4
    [rvm_as_printed_is_unbounded]  T (101), x = 2 preferred to x = 1: unbounded below, while (102) has the optimum 1/2
    [rank_reduced_is_not_rank_l1]  P, Figure 3: positive 2, negatives 0 and 3: 31/18 with w = -1/3 against 13/8 with w = 1/2
    [svr_l2_is_not_svr_l1]         targets -2 and 2 at one point: 9/2 against 3
    [svm_nobias_is_not_svm_soft], [svm_penalized_is_not_svm_soft]   x = 1 and 2 in two classes: 13/8 and 8/5 against 3/2
    [rank_l1_is_not_svm_soft]      0 and 1 against 2: 1/2 against 3/2
    [svm_soft_is_not_rank_l1]      one difference, one class: 0 against 1/2
    [svr_l1_dual_as_printed_is_not_dual]   T (70): 1 against 1/2
    [svm_hard_bias_as_printed_is_infeasible]   T (21): the printed b misses a margin at the only optimal w
    [rank_l2_value_as_printed_is_not_value]   K (B.1): -3/5 against 2/5
    [strict_complementarity_fails] an optimal pair with al_3 = 0 and no slack at the third point *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From equimargin Require Import inner optimum qp margin representer svm svr ranksvm one_norm.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** The real line with the product as inner product, and numerals on it. *)
Section Line.
Variable R : realFieldType.
Fact line_sym (u v : R^o) : u * v = v * u. Proof. exact: mulrC. Qed.
Fact line_addl (u v z : R^o) : (u + v) * z = u * z + v * z. Proof. exact: mulrDl. Qed.
Fact line_scalel (k : R) (u v : R^o) : (k *: u) * v = k * (u * v). Proof. by rewrite -mulrA. Qed.
Fact line_ge0 (u : R^o) : 0 <= u * u :> R. Proof. by rewrite -expr2 sqr_ge0. Qed.
Definition line : semi_inner [lmodType R of R^o] :=
  @SemiInner R [lmodType R of R^o] (fun u v => u * v) line_sym line_addl line_scalel line_ge0.
Definition vector n (s : seq R) (i : 'I_n) : R := nth 0 s i.
Definition points n (s : seq R) (i : 'I_n) : R^o := nth 0 s i.
Lemma le_numeral (n d : nat) (a b : R) : b - a = n%:R / d.+1%:R -> a <= b.
Proof. by move=> e; rewrite -subr_ge0 e divr_ge0 ?ler0n. Qed.
End Line.
Definition item n (s : seq nat) {m} (i : 'I_m) : 'I_n.+1 := inZp (nth 0%N s i).

(** Tactic for goals without variables: an equality of numerals by [field], an inequality by a difference that occurs. *)
Ltac numerals := by rewrite ?maxxx; field; rewrite ?pnatr_eq0.
Ltac difference n d := apply: (@le_numeral _ n d); numerals.
Ltac at_most := first [difference 0%N 0%N|difference 1%N 0%N|difference 2%N 0%N|difference 3%N 0%N|difference 4%N 0%N|difference 1%N 1%N
  |difference 3%N 1%N|difference 5%N 1%N|difference 7%N 1%N|difference 9%N 1%N|difference 1%N 2%N|difference 2%N 2%N|difference 4%N 2%N|difference 5%N 2%N|difference 7%N 2%N
  |difference 1%N 3%N|difference 3%N 3%N|difference 4%N 4%N|difference 1%N 4%N|difference 2%N 4%N|difference 3%N 4%N|difference 7%N 4%N|difference 2%N 8%N|difference 7%N 8%N].
Ltac decided := match goal with
  | |- and5 _ _ _ _ _ => split; decided | |- and4 _ _ _ _ => split; decided | |- and3 _ _ _ => split; decided | |- _ /\ _ => split; decided
  | |- is_true (_ && _) => apply/andP; split; decided
  | |- is_true (_ <= _) => at_most
  | |- _ = _ => numerals end.
Ltac unfolded := repeat match goal with z := _ |- _ => progress unfold z end.
Ltac by_values := unfolded; rewrite ?big_ord_recl ?big_ord0 /vector /points /=; decided.
Ltac by_rows := unfolded; case=> -[|[|[|[|//]]]] //= ?; by_values.

Section Counterexamples.
Variable R : realFieldType.
Local Notation L := (line R).

(** ** Classification *)
Let x2 : 'I_2 -> R^o := points [:: 1; 2%:R].
Let y2 : 'I_2 -> R := vector [:: -1; 1].
Lemma soft_of_two : minimum (svm_soft_primal_feas L x2 y2) (@svm_soft_primal_obj _ _ L _ 1) (3%:R / 2%:R).
Proof.
have [] := certified (t := (1 : R^o, 3%:R / 2%:R, vector [:: 1 / 2%:R; 1 / 2%:R])) (s := vector [:: 1; 1]) (v := 3%:R / 2%:R)
  (svm_soft_duality L x2 y2 ler01) => //.
- by_rows.
- split; [by_values|by_rows].
- rewrite /=; by_values.
- rewrite /svm_soft_dual_obj /svm_quadratic; by_values.
Qed.
Theorem svm_nobias_is_not_svm_soft :
  minimum (svm_nobias_primal_feas L x2 y2) (@svm_nobias_primal_obj _ _ L _ 1) (13%:R / 8%:R) /\
  minimum (svm_soft_primal_feas L x2 y2) (@svm_soft_primal_obj _ _ L _ 1) (3%:R / 2%:R).
Proof.
split; last exact: soft_of_two.
have [] := certified (t := (1 / 2%:R : R^o, vector [:: 3%:R / 2%:R; 0])) (s := vector [:: 1; 3%:R / 4%:R]) (v := 13%:R / 8%:R)
  (svm_nobias_duality L x2 y2 ler01) => //.
- by_rows.
- by_rows.
- rewrite /=; by_values.
- rewrite /svm_nobias_dual_obj /svm_quadratic; by_values.
Qed.
Theorem svm_penalized_is_not_svm_soft :
  minimum (svm_penalized_primal_feas L x2 y2) (@svm_penalized_primal_obj _ _ L _ 1) (8%:R / 5%:R) /\
  minimum (svm_soft_primal_feas L x2 y2) (@svm_soft_primal_obj _ _ L _ 1) (3%:R / 2%:R).
Proof.
split; last exact: soft_of_two.
apply/svm_penalized_equivalence.
have [] := certified (t := ((3%:R / 5%:R : R^o, - (1 / 5%:R) : R^o), vector [:: 7%:R / 5%:R; 0])) (s := vector [:: 1; 4%:R / 5%:R])
  (v := 8%:R / 5%:R) (svm_nobias_duality (plus_one L) (with_one x2) y2 ler01) => //.
- by_rows.
- by_rows.
- rewrite /=; by_values.
- rewrite /svm_nobias_dual_obj /svm_quadratic; by_values.
Qed.
Let x3 : 'I_3 -> R^o := points [:: 0; 1; 2%:R].
Theorem rank_l1_is_not_svm_soft : let hi : 'I_2 -> 'I_3 := item 2 [:: 2; 2]%N in let lo : 'I_2 -> 'I_3 := item 2 [:: 0; 1]%N in
  minimum (rank_l1_primal_feas L x3 hi lo) (@rank_l1_primal_obj _ _ L _ 1) (1 / 2%:R) /\
  minimum (svm_soft_primal_feas L x3 (vector [:: -1; -1; 1])) (@svm_soft_primal_obj _ _ L _ 1) (3%:R / 2%:R).
Proof.
move=> hi lo; split.
- have [] := certified (t := (1 : R^o, vector [:: 0; 0])) (s := vector [:: 0; 1]) (v := 1 / 2%:R)
    (rank_l1_duality L x3 hi lo ler01) => //.
  + by_rows.
  + by_rows.
  + rewrite /=; by_values.
  + rewrite /rank_l1_dual_obj /rank_quadratic /Qhat /K; by_values.
- have [] := certified (t := (1 : R^o, 3%:R / 2%:R, vector [:: 0; 1 / 2%:R; 1 / 2%:R])) (s := vector [:: 0; 1; 1]) (v := 3%:R / 2%:R)
    (svm_soft_duality L x3 (vector [:: -1; -1; 1]) ler01) => //.
  + by_rows.
  + split; [by_values|by_rows].
  + rewrite /=; by_values.
  + rewrite /svm_soft_dual_obj /svm_quadratic; by_values.
Qed.
Theorem svm_soft_is_not_rank_l1 :
  minimum (svm_soft_primal_feas L (fun _ : 'I_1 => 1) (fun=> 1)) (@svm_soft_primal_obj _ _ L _ 1) 0 /\
  minimum (rank_l1_primal_feas L (points [:: 1; 0] : 'I_2 -> R^o) (fun _ : 'I_1 => ord0) (fun=> ord_max)) (@rank_l1_primal_obj _ _ L _ 1) (1 / 2%:R).
Proof.
split.
- have [] := certified (t := (0 : R^o, -1, fun=> 0)) (s := fun=> 0) (v := 0) (svm_soft_duality L (fun _ : 'I_1 => 1) (fun=> 1) ler01) => //.
  + by move=> i; rewrite /=; decided.
  + split; [by_values|by move=> i; decided].
  + rewrite /=; by_values.
  + rewrite /svm_soft_dual_obj /svm_quadratic; by_values.
- have [] := certified (t := (1 : R^o, fun=> 0)) (s := fun=> 1) (v := 1 / 2%:R)
    (rank_l1_duality L (points [:: 1; 0] : 'I_2 -> R^o) (fun _ : 'I_1 => ord0) (fun=> ord_max) ler01) => //.
  + by move=> p; rewrite /points /=; decided.
  + by move=> p; decided.
  + rewrite /=; by_values.
  + rewrite /rank_l1_dual_obj /rank_quadratic /Qhat /K; by_values.
Qed.
Theorem svm_hard_bias_as_printed_is_infeasible :
  let x := points [:: 1; 2%:R; 5%:R] : 'I_3 -> R^o in let y := vector [:: -1; -1; 1] : 'I_3 -> R in
  minimum (svm_hard_primal_feas L x y) (@svm_hard_primal_obj _ _ L) (2%:R / 9%:R) /\
  ~ svm_hard_primal_feas L x y (2%:R / 3%:R : R^o, 1 - L (2%:R / 3%:R : R^o) (x ord_max)).
Proof.
move=> x y.
have F : svm_hard_primal_feas L x y (2%:R / 3%:R : R^o, 7%:R / 3%:R) by by_rows.
split.
- have [] := certified (t := (2%:R / 3%:R : R^o, 7%:R / 3%:R)) (s := vector [:: 0; 2%:R / 9%:R; 2%:R / 9%:R]) (v := 2%:R / 9%:R)
    (svm_hard_duality (ex_intro _ _ F)) => //.
  + split; [by_values|by_rows].
  + rewrite /=; by_values.
  + rewrite /svm_hard_dual_obj /svm_quadratic; by_values.
- move=> /(_ ord0); rewrite /x /y /points /vector /= leNgt => /negP; apply.
  by rewrite -subr_gt0; match goal with |- is_true (0 < ?u) => have -> : u = 4%:R by numerals end; rewrite ltr0n.
Qed.
(** In the plane: (-1, 0) against (1, 0) and (1, 1). *)
Theorem strict_complementarity_fails :
  let x (i : 'I_3) := (vector [:: -1; 1; 1] i, vector [:: 0; 0; 1] i) : [lmodType R of R^o * R^o] in
  let y := vector [:: -1; 1; 1] : 'I_3 -> R in let w := (1, 0) : [lmodType R of R^o * R^o] in
  let al := vector [:: 1 / 2%:R; 1 / 2%:R; 0] : 'I_3 -> R in
  [/\ svm_hard_kkt (plus_one L) x y (w, 0) al, al ord_max = 0 & y ord_max * (plus_one L w (x ord_max) - 0) = 1].
Proof.
move=> x y w al; split; [split|by []|].
- by_rows.
- split; [by_values|by_rows].
- have -> : svm_w x y al = w; last by rewrite subrr ip0l.
  rewrite /svm_w !big_ord_recl big_ord0 /x /y /al /w /vector /=.
  by apply: injective_projections; rewrite /= /GRing.scale /=; numerals.
- by_rows.
- rewrite /=; by_values.
Qed.

(** ** Regression *)
Let level : 'I_2 -> R^o := fun=> 0.
Let targets : 'I_2 -> R := vector [:: - 2%:R; 2%:R].
Theorem svr_l2_is_not_svr_l1 :
  minimum (svr_l2_primal_feas L level targets (1 / 2%:R)) (@svr_l2_primal_obj _ _ L _ 1) (9%:R / 2%:R) /\
  minimum (svr_l1_primal_feas L level targets (1 / 2%:R)) (@svr_l1_primal_obj _ _ L _ 1) 3%:R.
Proof.
have F : svr_l1_primal_feas L level targets (1 / 2%:R) (0 : R^o, 0, vector [:: 0; 3%:R / 2%:R], vector [:: 3%:R / 2%:R; 0]) by by_rows.
split.
- have [] := certified (t := (0 : R^o, 0, vector [:: 0; 3%:R / 2%:R], vector [:: 3%:R / 2%:R; 0]))
    (s := (vector [:: 0; 3%:R], vector [:: 3%:R; 0])) (v := 9%:R / 2%:R) (svr_l2_duality L level targets (1 / 2%:R) ltr01) => //.
  + split; [by_values|by_rows].
  + rewrite /=; by_values.
  + rewrite /svr_l2_dual_obj /svr_quadratic; by_values.
- have [] := certified (t := (0 : R^o, 0, vector [:: 0; 3%:R / 2%:R], vector [:: 3%:R / 2%:R; 0]))
    (s := (vector [:: 0; 1], vector [:: 1; 0])) (v := 3%:R) (svr_l1_duality L level targets (1 / 2%:R) ler01) => //.
  + split; [by_values|by_rows].
  + rewrite /=; by_values.
  + rewrite /svr_l1_dual_obj /svr_quadratic; by_values.
Qed.
Theorem svr_l1_dual_as_printed_is_not_dual : let x := points [:: -1; 1] : 'I_2 -> R^o in let y := vector [:: -1; 1] : 'I_2 -> R in
  maximum (@svr_l1_dual_feas R _ 1) (svr_l1_dual_as_printed_obj L x y 0) 1 /\
  maximum (@svr_l1_dual_feas R _ 1) (svr_l1_dual_obj L x y 0) (1 / 2%:R).
Proof.
move=> x y; split.
- exists (vector [:: 0; 1], vector [:: 1; 0]); last by rewrite /=; by_values.
  split; first by split; [by_values|by_rows].
  move=> [al ah] [bal _]; have -> : svr_l1_dual_as_printed_obj L x y 0 (vector [:: 0; 1], vector [:: 1; 0]) = 1 by rewrite /=; by_values.
  move: bal; rewrite /= !big_ord_recl !big_ord0 /x /y /points /vector /=.
  move: (al ord0) (ah ord0) (al (lift ord0 ord0)) (ah (lift ord0 ord0)) => a b c d bal; have e : c = d - (a - b) by apply/eqP; rewrite -subr_eq0 -bal; apply/eqP; ring.
  rewrite e -subr_ge0; set u := (X in 0 <= X); have -> : u = (a - b + 1) ^+ 2 by rewrite /u; field.
  exact: sqr_ge0.
- have [] := certified (t := (1 : R^o, 0, fun=> 0, fun=> 0)) (s := (vector [:: 0; 1 / 2%:R], vector [:: 1 / 2%:R; 0])) (v := 1 / 2%:R)
    (svr_l1_duality L x y 0 ler01) => //.
  + by_rows.
  + split; [by_values|by_rows].
  + rewrite /=; by_values.
  + rewrite /svr_l1_dual_obj /svr_quadratic; by_values.
Qed.

(** ** Ranking *)
Theorem rank_reduced_is_not_rank_l1 : let x := points [:: 0; 3%:R; 2%:R] : 'I_3 -> R^o in
  let full := (item 2 [:: 2; 2]%N : 'I_2 -> 'I_3, item 2 [:: 0; 1]%N : 'I_2 -> 'I_3) in
  let reduced := (item 2 [:: 0; 2]%N : 'I_2 -> 'I_3, item 2 [:: 1; 0]%N : 'I_2 -> 'I_3) in
  minimizer (rank_l1_primal_feas L x reduced.1 reduced.2) (@rank_l1_primal_obj _ _ L _ 1) (- (1 / 3%:R) : R^o, vector [:: 0; 5%:R / 3%:R]) /\
  minimum (rank_l1_primal_feas L x reduced.1 reduced.2) (@rank_l1_primal_obj _ _ L _ 1) (31%:R / 18%:R) /\
  minimizer (rank_l1_primal_feas L x full.1 full.2) (@rank_l1_primal_obj _ _ L _ 1) (1 / 2%:R : R^o, vector [:: 0; 3%:R / 2%:R]) /\
  minimum (rank_l1_primal_feas L x full.1 full.2) (@rank_l1_primal_obj _ _ L _ 1) (13%:R / 8%:R).
Proof.
move=> x full reduced.
pose t : R^o * ('I_2 -> R) := (- (1 / 3%:R), vector [:: 0; 5%:R / 3%:R]); pose u : R^o * ('I_2 -> R) := (1 / 2%:R, vector [:: 0; 3%:R / 2%:R]).
have Ft : rank_l1_primal_feas L x reduced.1 reduced.2 t by by_rows.
have Fu : rank_l1_primal_feas L x full.1 full.2 u by by_rows.
have et : rank_l1_primal_obj L 1 t = 31%:R / 18%:R by rewrite /=; by_values.
have eu : rank_l1_primal_obj L 1 u = 13%:R / 8%:R by rewrite /=; by_values.
have [] := certified (t := t) (s := vector [:: 7%:R / 9%:R; 1]) (v := 31%:R / 18%:R)
  (rank_l1_duality L x reduced.1 reduced.2 ler01) => //.
- by_rows.
- rewrite /rank_l1_dual_obj /rank_quadratic /Qhat /K; by_values.
move=> Mt _; have [] := certified (t := u) (s := vector [:: 3%:R / 4%:R; 1]) (v := 13%:R / 8%:R)
  (rank_l1_duality L x full.1 full.2 ler01) => //.
- by_rows.
- rewrite /rank_l1_dual_obj /rank_quadratic /Qhat /K; by_values.
move=> Mu _; split; [|split=> //; split=> //].
- by split=> // s Fs; rewrite et; have [t' [_ O] <-] := Mt; exact: O.
- by split=> // s Fs; rewrite eu; have [t' [_ O] <-] := Mu; exact: O.
Qed.
Let first_of_two : 'I_1 -> 'I_2 := fun=> ord0.
Let second_of_two : 'I_1 -> 'I_2 := fun=> ord_max.
Lemma rvm_of_pair : minimum (rvm_primal_feas L x2 first_of_two second_of_two) (@rvm_primal_obj R _ _ 1) 1.
Proof.
have [] := certified (t := (vector [:: 0; 0], fun=> 1)) (s := fun=> 1) (v := 1) (rvm_duality L x2 first_of_two second_of_two ler01) => //.
- split; [by_rows|by move=> p; decided|move=> p; rewrite /rvm_row /K; by_values].
- split; [by move=> p; decided|case=> -[|[|//]] //= ?; rewrite /rvm_row /K; by_values].
- rewrite /=; by_values.
- rewrite /rvm_dual_obj; by_values.
Qed.
Theorem rvm_is_not_rank_l1 :
  minimum (rvm_primal_feas L x2 first_of_two second_of_two) (@rvm_primal_obj R _ _ 1) 1 /\
  minimum (rank_l1_primal_feas L x2 first_of_two second_of_two) (@rank_l1_primal_obj _ _ L _ 1) (1 / 2%:R).
Proof.
split; first exact: rvm_of_pair.
have [] := certified (t := (-1 : R^o, fun=> 0)) (s := fun=> 1) (v := 1 / 2%:R) (rank_l1_duality L x2 first_of_two second_of_two ler01) => //.
- by move=> p; rewrite /x2 /points /=; decided.
- by move=> p; decided.
- rewrite /=; by_values.
- rewrite /rank_l1_dual_obj /rank_quadratic /Qhat /K; by_values.
Qed.
Theorem rank_onenorm_free_is_not_rvm :
  minimum (rank_onenorm_free_feas L x2 first_of_two second_of_two) (@rank_onenorm_free_obj R _ _ 1) (1 / 2%:R) /\
  minimum (rvm_primal_feas L x2 first_of_two second_of_two) (@rvm_primal_obj R _ _ 1) 1.
Proof.
split; last exact: rvm_of_pair.
have low s : rank_onenorm_free_feas L x2 first_of_two second_of_two s -> 1 / 2%:R <= @rank_onenorm_free_obj R _ _ 1 s.
  case: s => be xi [x0 m]; have := m ord0; have := x0 ord0; rewrite /rvm_row /K /= !big_ord_recl !big_ord0 /x2 /points /=.
  move: (be ord0) (be (lift ord0 ord0)) (xi _) => a b c c0 h.
  have ha : - a <= `|a| by rewrite -normrN ler_norm.
  have hb : - b <= `|b| by rewrite -normrN ler_norm.
  have a0 := normr_ge0 a; have b0 := normr_ge0 b; move: ha hb a0 b0 h; move: `|a| `|b| => u v ha hb a0 b0 h.
  rewrite -subr_ge0; match goal with |- is_true (0 <= ?e) => have -> : e = 2%:R^-1 * (u + (u - - a) + c + (2%:R * (v - - b)) +
     ((1 * 1 - 2%:R * 1) * a + ((1 * 2%:R - 2%:R * 2%:R) * b + 0) - (1 - c))) end.
    by field.
  have t0 : 0 <= (1 * 1 - 2%:R * 1) * a + ((1 * 2%:R - 2%:R * 2%:R) * b + 0) - (1 - c) by rewrite subr_ge0.
  have h2 : 0 <= 2%:R * (v - - b) by rewrite mulr_ge0 ?ler0n // subr_ge0.
  by rewrite mulr_ge0 ?invr_ge0 ?ler0n // (addr_ge0 _ t0) // (addr_ge0 _ h2) // (addr_ge0 _ c0) // addr_ge0 // subr_ge0.
have F : rank_onenorm_free_feas L x2 first_of_two second_of_two (vector [:: 0; - (1 / 2%:R)], fun=> 0).
  by split=> p; [exact: lexx|rewrite /rvm_row /K; by_values].
have E : @rank_onenorm_free_obj R [finType of 'I_2] [finType of 'I_1] 1 (vector [:: 0; - (1 / 2%:R)], fun=> 0) = 1 / 2%:R.
  by rewrite /rank_onenorm_free_obj !big_ord_recl !big_ord0 /vector /= normr0 normrN ger0_norm ?divr_ge0 ?ler0n ?ler01 //; numerals.
by exists (vector [:: 0; - (1 / 2%:R)], fun=> 0) => //; split=> // s Fs; rewrite E; exact: low.
Qed.
(** In the dual of [svm_onenorm], u = 1 is optimal, and the outlier -2 has the price (B'u)_i = -2; if al is free, |B'u| <= 1 is required. *)
Theorem svm_onenorm_free_is_not_svm_onenorm :
  let x := points [:: -2%:R; -1; -1; 1] : 'I_4 -> R^o in let y := vector [:: 1; -1; -1; 1] : 'I_4 -> R in
  minimum (svm_onenorm_free_feas L x y) (@svm_onenorm_free_obj R _ 1) (7%:R / 2%:R) /\
  minimum (svm_onenorm_primal_feas L x y) (@svm_onenorm_primal_obj R _ 1) 4%:R.
Proof.
move=> x y; split.
  pose t := (vector [:: - (1 / 2%:R); 0; 0; 0] : 'I_4 -> R, 0 : R, vector [:: 3%:R; 0; 0; 0] : 'I_4 -> R).
  pose u := vector [:: 1; 1; 3%:R / 4%:R; 3%:R / 4%:R] : 'I_4 -> R.
  have F : svm_onenorm_free_feas L x y t by split; rewrite /t /svm_entry; by_rows.
  have E : @svm_onenorm_free_obj R _ 1 t = 7%:R / 2%:R.
    rewrite /t /svm_onenorm_free_obj !big_ord_recl !big_ord0 /vector /= !normr0 normrN ger0_norm ?divr_ge0 ?ler0n ?ler01 //; numerals.
  have low s : svm_onenorm_free_feas L x y s -> 7%:R / 2%:R <= @svm_onenorm_free_obj R _ 1 s.
    have -> : 7%:R / 2%:R = \sum_i u i by rewrite /u; by_values.
    apply: svm_onenorm_free_bound; [by rewrite /u; by_rows| |by rewrite /u; by_values].
    move=> j; rewrite ler_norml; move: j; rewrite /u /svm_entry; by_rows.
  by exists t => //; split=> // s Fs; rewrite E; exact: low.
have [] := certified (t := (fun=> 0, 0, fun=> 1)) (s := fun=> 1) (v := 4%:R) (svm_onenorm_duality L x y ler01) => //.
- split; [by move=> i; decided|by move=> i; decided|rewrite /svm_entry; by_rows].
- split; [by move=> i; decided|rewrite /svm_entry; by_rows|by_values].
- rewrite /=; by_values.
- rewrite /svm_onenorm_dual_obj; by_values.
Qed.
Theorem rvm_as_printed_is_unbounded : let x := points [:: 2%:R; 1] : 'I_2 -> R^o in
  (forall v, exists2 be, @rvm_as_printed_feas R _ be & rvm_as_printed_obj L x first_of_two second_of_two 1 be < v) /\
  minimum (rvm_primal_feas L x first_of_two second_of_two) (@rvm_primal_obj R _ _ 1) (1 / 2%:R).
Proof.
move=> x; split=> [v|].
  exists (vector [:: `|v| + 2%:R; 0]).
    by case=> -[|[|//]] //= ?; rewrite /vector /= ?addr_ge0 ?normr_ge0 ?ler0n ?lexx.
  rewrite /rvm_as_printed_obj /rvm_row /K !big_ord_recl !big_ord0 /x /points /vector /=.
  have h : - v <= `|v| by rewrite -normrN ler_norm.
  move: `|v| h => u h; rewrite -subr_gt0; match goal with |- is_true (0 < ?e) => have -> : e = (u - - v) + 1 by ring end.
  by rewrite ltr_paddl ?subr_ge0 ?ltr01.
have [] := certified (t := (vector [:: 1 / 2%:R; 0], fun=> 0)) (s := fun=> 1 / 2%:R) (v := 1 / 2%:R)
  (rvm_duality L x first_of_two second_of_two ler01) => //.
- split; [by_rows|by move=> p; decided|move=> p; rewrite /rvm_row /K; by_values].
- split; [by move=> p; decided|case=> -[|[|//]] //= ?; rewrite /rvm_row /K; by_values].
- rewrite /=; by_values.
- rewrite /rvm_dual_obj; by_values.
Qed.

(** K (B.1) as printed, at C = 2 for x = 1 preferred to x = 0. *)
Theorem rank_l2_value_as_printed_is_not_value :
  let x := points [:: 1; 0] : 'I_2 -> R^o in let be := vector [:: 4%:R / 5%:R; 0] : 'I_2 -> R in
  [/\ minimizer everywhere (rank_l2_beta_obj L x first_of_two second_of_two 2%:R) be,
      rank_l2_beta_obj L x first_of_two second_of_two 2%:R be = 2%:R / 5%:R
    & rank_l2_value_as_printed L x first_of_two second_of_two 2%:R be = - (3%:R / 5%:R)].
Proof.
move=> x be; have C2 : 0 <= 2%:R :> R by rewrite ler0n.
have E : rank_l2_beta_obj L x first_of_two second_of_two 2%:R be = 2%:R / 5%:R.
  rewrite rank_l2_beta_value /rank_l2_primal_obj /rank_hinge /span !big_ord_recl !big_ord0 /x /be /points /vector /=.
  by rewrite max_r; [rewrite /GRing.scale /=; numerals|rewrite /GRing.scale /=; at_most].
split=> //.
- split=> // be' _; rewrite E.
  have [] := certified (t := (4%:R / 5%:R : R^o, fun=> 1 / 5%:R)) (s := fun=> 4%:R / 5%:R) (v := 2%:R / 5%:R)
    (rank_l2_duality L x first_of_two second_of_two (ltr0Sn _ 1)) => //.
  + by move=> p; rewrite /x /points /=; decided.
  + by move=> p; decided.
  + rewrite /=; by_values.
  + rewrite /rank_l2_dual_obj /rank_quadratic /Qhat /K; by_values.
  move=> /(rank_l2_beta_equivalence L x first_of_two second_of_two C2)[be0 [_ O] <-] _; exact: O.
- have all_short p : short L x first_of_two second_of_two be p.
    rewrite /short /rank_values /K /x /be !big_ord_recl !big_ord0 /points /vector /= -subr_gt0.
    by match goal with |- is_true (0 < ?e) => have -> : e = 1 / 5%:R by numerals end; rewrite divr_gt0 ?ltr01 ?ltr0n.
  have one_pair (f : 'I_1 -> R) : \sum_(p | short L x first_of_two second_of_two be p) f p = f ord0.
    by rewrite (eq_bigl xpredT) // big_ord_recl big_ord0 addr0.
  rewrite /rank_l2_value_as_printed !one_pair /rank_values /K /x /be; by_values.
Qed.

(** ** The kernel of differences, one pair with k(x, x) = k(x', x') = 1, k(x, x') = q, and k(x - x', x - x') = 1 *)
Section Differences.
Variables (V : lmodType R) (ip : semi_inner V) (phi : 'I_2 -> V) (q : R).
Hypotheses (k00 : ip (phi ord0) (phi ord0) = 1) (k11 : ip (phi ord_max) (phi ord_max) = 1) (k01 : ip (phi ord0) (phi ord_max) = q).
Hypotheses (q0 : 0 <= q) (q_half : q < 1 / 2%:R).
Definition rank_differences_dual_obj (P : finType) (KDelta : P -> P -> R) (al : P -> R) :=
  \sum_p al p - 2%:R^-1 * (\sum_p \sum_r al p * al r * KDelta p r).
Let KDelta (p r : 'I_1) : R := 1.
Let Q_one : Qhat ip phi first_of_two second_of_two ord0 ord0 = 2%:R - 2%:R * q.
Proof. by rewrite /Qhat /K k00 k11 (ip_sym _ (phi ord_max)) k01; ring. Qed.
Let Q0 : 0 < 2%:R - 2%:R * q.
Proof.
rewrite subr_gt0 -[X in _ < X]mulr1 ltr_pmul2l ?ltr0n //; apply: lt_le_trans q_half _.
by rewrite ler_pdivr_mulr ?ltr0n // mul1r ler1n.
Qed.
Let Q1 : 1 <= 2%:R - 2%:R * q.
Proof.
rewrite -subr_ge0; have -> : 2%:R - 2%:R * q - 1 = 1 - 2%:R * q by ring.
by rewrite subr_ge0; move: q_half; rewrite ltr_pdivl_mulr ?ltr0n // mulrC => /ltW.
Qed.
Theorem rank_differences_is_not_rank_l1 :
  maximum (rank_l1_dual_feas 1) (rank_differences_dual_obj KDelta) (1 / 2%:R) /\
  maximum (rank_l1_dual_feas 1) (rank_l1_dual_obj ip phi first_of_two second_of_two) (1 / (4%:R * (1 - q))).
Proof.
have qn : 1 - q != 0 by apply/eqP => e; have := Q0; rewrite -[X in X - _]mulr1 -mulrBr e mulr0 ltxx.
split.
- exists (fun=> 1); last by rewrite /rank_differences_dual_obj /KDelta; by_values.
  split=> [p|al F]; first by rewrite ler01 lexx.
  rewrite /rank_differences_dual_obj /KDelta !big_ord_recl !big_ord0 /=; move: (al ord0) => a.
  rewrite -subr_ge0; match goal with |- is_true (0 <= ?e) => have -> : e = 2%:R^-1 * (a - 1) ^+ 2 by field end.
  by rewrite mulr_ge0 ?invr_ge0 ?ler0n ?sqr_ge0.
- have value a : rank_l1_dual_obj ip phi first_of_two second_of_two (fun=> a) = a - (1 - q) * a ^+ 2.
    by rewrite /rank_l1_dual_obj /rank_quadratic !big_ord_recl !big_ord0 Q_one; field.
  have best : rank_l1_dual_obj ip phi first_of_two second_of_two (fun=> 1 / (2%:R - 2%:R * q)) = 1 / (4%:R * (1 - q)).
    by rewrite value; field; rewrite ?qn ?(gt_eqF Q0).
  exists (fun=> 1 / (2%:R - 2%:R * q)) => //; split=> [p|al F].
    by rewrite divr_ge0 ?ler01 ?(ltW Q0) //= ler_pdivr_mulr // mul1r.
  have -> : rank_l1_dual_obj ip phi first_of_two second_of_two al = rank_l1_dual_obj ip phi first_of_two second_of_two (fun=> al ord0).
    by rewrite /rank_l1_dual_obj /rank_quadratic !big_ord_recl !big_ord0.
  rewrite best value -subr_ge0; move: (al ord0) => a.
  match goal with |- is_true (0 <= ?e) => have -> : e = (1 - q) * (a - 1 / (2%:R * (1 - q))) ^+ 2 by field; rewrite qn end.
  rewrite mulr_ge0 ?sqr_ge0 // -(@pmulr_rge0 _ 2%:R) ?ltr0n // mulrBr mulr1; exact: ltW.
Qed.
Theorem rank_onenorm_differences_is_not_rank_onenorm :
  minimum (@lp_feas R _ _ KDelta) (@lp_obj R _ _ 1) 1 /\
  minimum (rank_onenorm_primal_feas ip phi first_of_two second_of_two) (@rank_onenorm_primal_obj R _ 1) (1 / (2%:R - 2%:R * q)).
Proof.
have Qn : 2%:R - 2%:R * q != 0 by rewrite gt_eqF.
split.
- have [] := certified (t := (fun=> 1, fun=> 0)) (s := fun=> 1) (v := 1) (lp_duality KDelta ler01) => //.
  + by split=> p; rewrite /KDelta ?ler01 ?lexx //; by_values.
  + by split=> p; rewrite /KDelta; [rewrite ler01 lexx|by_values].
  + rewrite /=; by_values.
  + rewrite /lp_dual_obj; by_values.
- have [] := certified (t := (fun=> 1 / (2%:R - 2%:R * q), fun=> 0)) (s := fun=> 1 / (2%:R - 2%:R * q)) (v := 1 / (2%:R - 2%:R * q))
    (rank_onenorm_duality ip phi first_of_two second_of_two ler01) => //.
  + split=> [p|p|p]; first by rewrite divr_ge0 ?ler01 ?(ltW Q0).
      exact: lexx.
    by rewrite big_ord_recl big_ord0 ord1 Q_one subr0 addr0 mul1r mulfV.
  + split=> p; first by rewrite divr_ge0 ?ler01 ?(ltW Q0) //= ler_pdivr_mulr // mul1r.
    by rewrite (ord1 p) big_ord_recl big_ord0 Q_one addr0 mul1r mulVf.
  + by rewrite /= !big_ord_recl !big_ord0 !addr0 mulr0 addr0.
  + by rewrite /rank_onenorm_dual_obj big_ord_recl big_ord0 addr0.
Qed.
End Differences.
End Counterexamples.
