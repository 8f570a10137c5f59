(** * The checker of any convex program in standard form

    [program_check] decides if the claimed interval of a program follows from its points, and [program_holds] states such a claim:
    the lower end is at most the objective at every feasible point, or no point is feasible; the upper end is at least the objective at some
    feasible point, or the objective is unbounded below; and if both ends are finite, the minimum exists if they are equal or there are no cones.
    With cones it need not exist. [program_sound]: the claims that the check accepts are true. *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring ssrZ.
From equimargin Require Import inner optimum qp standard_form.
From equimargin.checker Require Import integers spaces gram semidefinite rows.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

(** Numbers over their unit, and rows of them. *)
Record numbers := Numbers { steps : seq Z; step_unit : positive }.
Record table := Table { table_rows : seq (seq Z); table_unit : positive }.
(** P is the lower triangle of a symmetric matrix; the first entries of a vector in K are nonnegative, and a cone has one entry more than its length here. *)
Record program := Program { quadratic : table; linear : numbers; constant : fraction; equations : table; equals : numbers;
  inequalities : table; limits : numbers; nonnegative : nat; cones : seq nat }.
Inductive program_primal := Feasible of numbers | Endless of numbers & numbers.
Inductive program_dual := Multipliers of numbers & numbers & numbers | Separating of numbers & numbers.

(** ** What is computed *)
Section Computed.
Variable P : program.
Definition unknowns := size (table_rows (quadratic P)).
Definition times (M : seq (seq Z)) (x : seq Z) := [seq product r x | r <- M].
(** P x: the lower triangle times x, plus the part above the diagonal. *)
Definition times_quadratic (x : seq Z) := let t := table_rows (quadratic P) in
  plus_multiple (Zpos 1) (times t x) (combined x [seq take (size r).-1 r | r <- t]).
(** A diagonal matrix without negative entries is a sum of squares. *)
Definition is_diagonal (t : seq (seq Z)) := all (fun r => Z.leb Z0 (last Z0 r) && is_zero (take (size r).-1 r)) t.
Definition rows_have (n : nat) (M : seq (seq Z)) := all (fun r => size r <= n) M.
Definition triangle_fits (t : seq (seq Z)) := all (fun p => size p.1 == p.2) (zip t (iota 1 (size t))).
Definition program_fits := [&& triangle_fits (table_rows (quadratic P)), size (steps (linear P)) == unknowns,
  rows_have unknowns (table_rows (equations P)), rows_have unknowns (table_rows (inequalities P)),
  size (table_rows (equations P)) == size (steps (equals P)), size (table_rows (inequalities P)) == size (steps (limits P)) &
  size (steps (limits P)) == nonnegative P + rows_of_cones (cones P)].
Definition is_convex := let t := table_rows (quadratic P) in if is_diagonal t then true else is_semidefinite_in_part t.

Fixpoint is_second_order (sizes : seq nat) (s : seq Z) : bool := match sizes, s with
  | k :: sizes', t :: s' => [&& Z.leb Z0 t, Z.leb (product (take k s') (take k s')) (Z.mul t t) & is_second_order sizes' (drop k s')]
  | _ :: _, [::] => false
  | [::], _ => true end.
Definition is_in_cone (s : seq Z) := all (Z.leb Z0) (take (nonnegative P) s) && is_second_order (cones P) (drop (nonnegative P) s).

Definition meets_equations (x : numbers) := all (fun p => Z.eqb (Z.mul p.1 (Zpos (step_unit (equals P)))) (Z.mul p.2 (Zpos (Pos.mul (table_unit (equations P)) (step_unit x)))))
  (zip (times (table_rows (equations P)) (steps x)) (steps (equals P))).
Definition slack_unit (x : numbers) := Pos.mul (step_unit (limits P)) (Pos.mul (table_unit (inequalities P)) (step_unit x)).
Definition slack (x : numbers) := plus_multiple (Z.opp (Zpos (step_unit (limits P)))) (times (table_rows (inequalities P)) (steps x))
  (plus_multiple (Zpos (Pos.mul (table_unit (inequalities P)) (step_unit x))) (steps (limits P)) [::]).
Definition is_feasible (x : numbers) := meets_equations x && is_in_cone (slack x).
Definition square (x : numbers) := Fraction (product (times_quadratic (steps x)) (steps x))
  (Pos.mul (Pos.mul (table_unit (quadratic P)) (step_unit x)) (step_unit x)).
Definition inner_product (s x : numbers) := Fraction (product (steps s) (steps x)) (Pos.mul (step_unit s) (step_unit x)).
Definition objective (x : numbers) := fadd (fadd (fmul half (square x)) (inner_product (linear P) x)) (constant P).
Definition descends_for_ever (d : numbers) := [&& is_zero (times_quadratic (steps d)), is_zero (times (table_rows (equations P)) (steps d)),
  is_in_cone [seq Z.opp v | v <- times (table_rows (inequalities P)) (steps d)] & Z.ltb (num (inner_product (linear P) d)) Z0].

Definition equation_unit (y : numbers) := Pos.mul (table_unit (equations P)) (step_unit y).
Definition inequality_unit (z : numbers) := Pos.mul (table_unit (inequalities P)) (step_unit z).
Definition pull (y z : numbers) := plus_multiple (Zpos (inequality_unit z)) (combined (steps y) (table_rows (equations P)))
  (plus_multiple (Zpos (equation_unit y)) (combined (steps z) (table_rows (inequalities P))) [::]).
Definition pull_unit (y z : numbers) := Pos.mul (equation_unit y) (inequality_unit z).
(** P x + q + A'y + G'z, times the units of all. *)
Definition gradient (x y z : numbers) := let u := Pos.mul (table_unit (quadratic P)) (step_unit x) in let v := step_unit (linear P) in let w := pull_unit y z in
  plus_multiple (Zpos (Pos.mul v w)) (times_quadratic (steps x))
    (plus_multiple (Zpos (Pos.mul u w)) (steps (linear P)) (plus_multiple (Zpos (Pos.mul u v)) (pull y z) [::])).
Definition gain (y z : numbers) := fopp (fadd (inner_product (equals P) y) (inner_product (limits P) z)).
Definition dual_objective (x y z : numbers) := fadd (fadd (gain y z) (fopp (fmul half (square x)))) (constant P).

Definition upper_is_proved (u : end_point) (given : option program_primal) := match given with
  | None => if u is Infinite then true else false
  | Some (Feasible x) => is_feasible x && (match u with Infinite => true | Finite q => fleb (objective x) q | MinusInfinite => false end)
  | Some (Endless x d) => is_feasible x && descends_for_ever d end.
Definition lower_is_proved (l : end_point) (given : option program_dual) := match given with
  | None => if l is MinusInfinite then true else false
  | Some (Multipliers x y z) => [&& is_in_cone (steps z), is_zero (gradient x y z) &
      match l with MinusInfinite => true | Finite q => fleb q (dual_objective x y z) | Infinite => false end]
  | Some (Separating y z) => [&& is_in_cone (steps z), is_zero (pull y z) & Z.ltb Z0 (num (gain y z))] end.
End Computed.
Definition program_check (P : program) (primal : option program_primal) (dual : option program_dual) (I : interval) :=
  [&& program_fits P, is_convex P, lower_is_proved P (lower I) dual & upper_is_proved P (upper I) primal].

(** ** What it means *)
Local Open Scope ring_scope.
Section Claim.
Variables (R : realFieldType) (P : program).
Local Notation n := (unknowns P).
Local Notation V := [lmodType R of {ffun 'I_n -> R^o}].
Definition row_at (M : table) i (x : V) : R := \sum_(j < n) over (nth [::] (table_rows M) i) (table_unit M) j * x j.
Definition entry_at (i j : nat) : R := zr (in_lower (table_rows (quadratic P)) i j) / zr (Zpos (table_unit (quadratic P))).
Definition bilinear (x y : V) : R := \sum_(i < n) \sum_(j < n) entry_at i j * (x i * y j).
Definition linear_at (x : V) : R := \sum_(j < n) over (steps (linear P)) (step_unit (linear P)) j * x j.
(** A x = b and h - Gx in K. *)
Definition feasible (x : V) :=
  (forall i, (i < size (steps (equals P)))%N -> row_at (equations P) i x = over (steps (equals P)) (step_unit (equals P)) i) /\
  in_cone (nonnegative P) (cones P) (fun i => over (steps (limits P)) (step_unit (limits P)) i - row_at (inequalities P) i x).
Definition objective_at (x : V) : R := 2%:R^-1 * bilinear x x + linear_at x + frac (constant P).
Definition is_reached (u : end_point) := match u with
  | Infinite => True
  | Finite q => exists2 x, feasible x & objective_at x <= frac q
  | MinusInfinite => forall v, exists2 x, feasible x & objective_at x <= v end.
Definition is_attained (I : interval) :=
  if (lower I, upper I) is (Finite lo, Finite hi) then
    fleb hi lo || nilp (cones P) -> exists2 v, minimum feasible objective_at v & frac lo <= v <= frac hi else True.
Definition program_holds (I : interval) := [/\ at_least feasible objective_at (lower I), is_reached (upper I) & is_attained I].
Lemma functional_sum (a : nat -> R) : functional (fun x : V => \sum_(j < n) a j * x j).
Proof.
move=> k u v; rewrite mulr_sumr -big_split; apply: eq_bigr => j _.
by rewrite !ffunE -[k *: (_ : R^o)]/(k * _) mulrDr mulrCA.
Qed.
Lemma bilinear_sym x y : bilinear x y = bilinear y x.
Proof.
rewrite /bilinear exchange_big; apply: eq_bigr => i _; apply: eq_bigr => j _.
by rewrite /entry_at in_lower_sym [y i * _]mulrC.
Qed.
Lemma bilinear_row x y : bilinear x y = \sum_(j < n) (\sum_(i < n) entry_at j i * x i) * y j.
Proof.
rewrite bilinear_sym; apply: eq_bigr => i _; rewrite mulr_suml; apply: eq_bigr => j _; by rewrite mulrA mulrAC.
Qed.
Hypothesis convex : is_convex P.
Hypothesis fits : program_fits P.
Lemma triangle_row i : (i < n)%N -> size (nth [::] (table_rows (quadratic P)) i) = i.+1.
Proof.
have /andP[/allP sized _] := fits; set t := table_rows (quadratic P) in sized *; move=> i_n.
have l : (i < size (zip t (iota 1 (size t))))%N by rewrite size_zip size_iota minnn.
have := sized _ (mem_nth ([::], 0%N) l); rewrite nth_zip ?size_iota //= nth_iota //; by move/eqP.
Qed.
Lemma entries_gram : a_gram (fun i j : 'I_n => entry_at i j).
Proof.
have u0 : 0 <= (zr (Zpos (table_unit (quadratic P))))^-1 :> R by rewrite invr_ge0 ltW ?zr_gt0.
suff h : a_gram (fun i j : 'I_n => zr (in_lower (table_rows (quadratic P)) i j) : R) by exact: gram_mul h (gram_constant _ u0).
move: convex; rewrite /is_convex; case: ifP => [/allP diagonal _|_]; last exact: semidefinite_in_part_sound.
set t := table_rows (quadratic P) in diagonal *; have size_at (i : 'I_n) : size (nth [::] t i) = i.+1 by exact: triangle_row.
have at_row (i : 'I_n) := diagonal _ (mem_nth [::] (ltn_ord i)).
have nonneg (i : 'I_n) : 0 <= zr (in_lower t i i) :> R.
  by have /andP[/zr_ge0 h _] := at_row i; move: (h R); rewrite /in_lower maxnn minnn /entry -nth_last size_at.
have zero (i j : 'I_n) : (j < i)%N -> in_lower t i j = Z0.
  move=> lt; have /andP[_ /(all_nthP Z0)/(_ j)] := at_row i; rewrite size_at size_take size_at ltnSn nth_take // => /(_ lt)/Z.eqb_eq.
  by rewrite /in_lower /entry (maxn_idPl (ltnW lt)) (minn_idPr (ltnW lt)).
have one (k : 'I_n) : a_gram (fun i j : 'I_n => zr (in_lower t k k) * ((i == k)%:R * (j == k)%:R) : R) := gram_rank_one _ (nonneg k).
apply: gram_ext (gram_sum (index_enum _) one) => i j; rewrite (bigD1 i) //= big1 ?addr0 => [|k /negPf ne]; last by rewrite [i == k]eq_sym ne mul0r mulr0.
rewrite eqxx mul1r; have [->|ne] := eqVneq j i; first by rewrite mulr1.
rewrite mulr0; have [l|l|e] := ltngtP i j; [by rewrite in_lower_sym zero|by rewrite zero|by case/eqP: ne; apply/val_inj].
Qed.
Fact bilinear_addl u v w : bilinear (u + v) w = bilinear u w + bilinear v w.
Proof. by rewrite -big_split; apply: eq_bigr => i _; rewrite -big_split; apply: eq_bigr => j _; rewrite ffunE mulrDl mulrDr. Qed.
Fact bilinear_scalel a (u v : V) : bilinear (a *: u) v = a * bilinear u v.
Proof.
rewrite mulr_sumr; apply: eq_bigr => i _; rewrite mulr_sumr; apply: eq_bigr => j _.
by rewrite ffunE -[a *: (_ : R^o)]/(a * _) -[a * u i * v j]mulrA mulrCA.
Qed.
Fact bilinear_ge0 u : 0 <= bilinear u u.
Proof.
have [T [d [a [d0 e]]]] := entries_gram; have -> : bilinear u u = \sum_k d k * (\sum_(i < n) a k i * u i) ^+ 2.
  transitivity (\sum_(i < n) \sum_k \sum_(j < n) d k * ((a k i * u i) * (a k j * u j))).
    apply: eq_bigr => i _; rewrite exchange_big /=; apply: eq_bigr => j _; rewrite e mulr_suml; apply: eq_bigr => k _; ring.
  rewrite exchange_big /=; apply: eq_bigr => k _; rewrite expr2 mulr_suml mulr_sumr; apply: eq_bigr => i _.
  by rewrite mulr_sumr mulr_sumr.
by apply: sumr_ge0 => k _; rewrite mulr_ge0 ?sqr_ge0.
Qed.
Definition form := SemiInner bilinear_sym bilinear_addl bilinear_scalel bilinear_ge0.

(** ** From lists to numbers *)
Local Notation point x := ([ffun j : 'I_n => over (steps x) (step_unit x) j] : V).
Lemma times_at M x i : rows_have n M -> zr (entry (times M x) i) = \sum_(j < n) zr (entry (nth [::] M i) j) * zr (entry x j) :> R.
Proof.
move=> /(all_nthP [::]) short; have [l|l] := ltnP i (size M); last by rewrite /entry !nth_default ?size_map // big1 // => j _; rewrite nth_nil mul0r.
by rewrite /entry (nth_map [::]) // (zr_product _ _ (short i l)).
Qed.
Lemma combined_at y M j : zr (entry (combined y M) j) = \sum_(i < size M) zr (entry y i) * zr (entry (nth [::] M i) j) :> R.
Proof.
elim: M y => [|r M IH] [|a y] /=; rewrite ?big_ord0 /entry ?nth_nil //; first by rewrite big1 // => i _; rewrite nth_nil mul0r.
rewrite big_ord_recl /=; case: Z.eqb_spec => [->|_]; first by rewrite mul0r add0r; exact: IH.
by rewrite -/(entry _ _) zr_plus_multiple; congr (_ + _); exact: IH.
Qed.
Lemma zeros s i : is_zero s -> zr (entry s i) = 0 :> R.
Proof.
move=> /(all_nthP Z0) z; have [l|l] := ltnP i (size s); last by rewrite /entry nth_default.
by have /Z.eqb_eq := z i l; rewrite /entry => <-.
Qed.
Lemma triangle_have : rows_have n (table_rows (quadratic P)).
Proof. by apply/(all_nthP [::]) => i l; rewrite triangle_row. Qed.
Lemma size_times_quadratic x : (size (times_quadratic P x) <= n)%N.
Proof.
have below k s : rows_have n s -> (size (combined k s) <= n)%N.
  elim: s k => [|r s IH] [|a k] //= /andP[short rest]; case: Z.eqb; first exact: IH.
  by rewrite size_plus_multiple ?IH.
rewrite size_plus_multiple ?size_map ?below //; apply/(all_nthP [::]) => i; rewrite size_map => l.
by rewrite (nth_map [::]) // size_take triangle_row // ltnSn ltnW.
Qed.
Lemma times_quadratic_at x (i : 'I_n) :
  zr (entry (times_quadratic P x) i) = \sum_(j < n) zr (in_lower (table_rows (quadratic P)) i j) * zr (entry x j) :> R.
Proof.
rewrite zr_plus_multiple zr1 mul1r times_at ?triangle_have // combined_at size_map -big_split; apply: eq_bigr => j _ /=.
set t := table_rows (quadratic P); rewrite [zr (entry x j) * _]mulrC -mulrDl; congr (_ * _).
rewrite (nth_map [::]) // triangle_row //=; have [l|l] := leqP j i.
  rewrite [X in _ + zr X](_ : _ = Z0) ?addr0; last by rewrite /entry nth_default // size_take triangle_row // ltnSn.
  by rewrite /in_lower (maxn_idPl l) (minn_idPr l).
rewrite [X in zr X](_ : _ = Z0) ?add0r; last by rewrite /entry nth_default // triangle_row.
by rewrite /entry nth_take // in_lower_sym /in_lower /entry (maxn_idPl (ltnW l)) (minn_idPr (ltnW l)).
Qed.
Lemma bilinear_at (x : numbers) (v : V) : bilinear (point x) v =
  \sum_(j < n) zr (entry (times_quadratic P (steps x)) j) / zr (Zpos (Pos.mul (table_unit (quadratic P)) (step_unit x))) * v j.
Proof.
rewrite bilinear_row; apply: eq_bigr => j _; congr (_ * _); rewrite times_quadratic_at mulr_suml; apply: eq_bigr => i _.
by rewrite /entry_at ffunE /over zrP mulf_div.
Qed.
Lemma row_at_point M i x : rows_have n (table_rows M) ->
  row_at M i (point x) = zr (entry (times (table_rows M) (steps x)) i) / zr (Zpos (Pos.mul (table_unit M) (step_unit x))).
Proof.
by move=> short; rewrite times_at // mulr_suml; apply: eq_bigr => j _; rewrite ffunE /over zrP mulf_div.
Qed.
Lemma cone_in s u : is_in_cone P s -> in_cone (nonnegative P) (cones P) (over s u : nat -> R).
Proof.
case/andP=> [/(all_nthP Z0) low high]; split=> [i l|].
  have [s'|s'] := ltnP i (size s); last by rewrite /over /entry nth_default // mul0r.
  rewrite divr_ge0 ?(ltW (zr_gt0 _ _)) // zr_ge0 //; have := low i; rewrite size_take nth_take //; apply; by case: ifP.
elim: (cones P) (nonnegative P) {low} high => [|k rest IH] l //=; case e: (drop l s) => [|t s'] // /and3P[t0 w high].
have at_l : entry s l = t by rewrite /entry -[l]addn0 -nth_drop e.
have beyond j : entry s (l + j.+1) = entry s' j by rewrite /entry -nth_drop e.
split; last by apply: IH; rewrite addnC -drop_drop e.
  by rewrite /over at_l divr_ge0 ?zr_ge0 // ltW ?zr_gt0.
have := zr_le R w; rewrite !zrM (zr_product R _ (leqnn _)) => h.
have -> : \sum_(j < k) over s u (l + j.+1) ^+ 2 = (zr (Zpos u))^-1 ^+ 2 * \sum_(j < k) zr (entry s' j) ^+ 2 :> R.
  by rewrite mulr_sumr; apply: eq_bigr => j _; rewrite /over beyond exprMn mulrC.
rewrite /over at_l exprMn [X in _ <= X]mulrC ler_wpmul2l ?sqr_ge0 //; apply: le_trans h; rewrite le_eqVlt; apply/orP; left; apply/eqP.
rewrite size_take; have [lt|ge] := ltnP k (size s').
  by apply: eq_bigr => j _; rewrite /entry nth_take.
rewrite take_oversize // -(subnKC ge) big_split_ord /= [X in _ + X]big1 ?addr0 => [|j _]; last by rewrite /entry nth_default ?leq_addr // expr0n.
by apply: eq_bigr => j _; rewrite -expr2.
Qed.

(** ** The check implies the claim *)
Lemma functional_row M i : functional (row_at M i).
Proof. exact: functional_sum. Qed.
Lemma functional_linear : functional linear_at.
Proof. exact: functional_sum. Qed.
Lemma ends_attain I : at_least feasible objective_at (lower I) -> is_reached (upper I) -> is_attained I.
Proof.
rewrite /is_attained; case: (lower I) (upper I) => [lo||] [hi||] //= low [x F le]; have both := le_trans (low _ F) le.
case/orP=> [h|/nilP no_cones].
  exists (frac lo); rewrite ?lexx ?both //; exists x; last by apply/eqP; rewrite eq_le low // andbT (le_trans le) // frac_le.
  by split=> // x' F'; apply: le_trans (low _ F'); apply: le_trans le _; exact: frac_le.
have [v M] := @program_attained R _ form linear_at (frac (constant P)) _ (row_at (equations P)) _ (row_at (inequalities P)) _ _ _
  functional_linear (functional_row _) (functional_row _) no_cones (frac lo) x F low.
by exists v => //; case: M => t [Ft least] <-; rewrite low // (le_trans (least _ F)).
Qed.
Lemma inner_product_at (s x : numbers) k : size (steps s) = k ->
  \sum_(j < k) over (steps s) (step_unit s) j * over (steps x) (step_unit x) j = frac (inner_product s x) :> R.
Proof. by move=> e; rewrite over_product ?e. Qed.
Lemma linear_at_point x : linear_at (point x) = frac (inner_product (linear P) x).
Proof.
have /and3P[_ /eqP e _] := fits; rewrite -(inner_product_at _ e); apply: eq_bigr => j _; by rewrite ffunE.
Qed.
Lemma square_at x : bilinear (point x) (point x) = frac (square P x).
Proof.
rewrite bilinear_at /square -(@over_product R n) ?size_times_quadratic //.
by apply: eq_bigr => j _; rewrite ffunE.
Qed.
Lemma objective_at_point x : objective_at (point x) = frac (objective P x).
Proof. by rewrite /objective_at square_at linear_at_point /objective !fracD fracM frac_half. Qed.

Lemma feasible_sound x : is_feasible P x -> feasible (point x).
Proof.
have /and5P[_ _ short short' /and3P[/eqP e /eqP e' _]] := fits; case/andP=> eqs cone; split=> [i l|].
  rewrite row_at_point // /over.
  have := all_nthP (Z0, Z0) eqs i; rewrite size_zip size_map e minnn nth_zip ?size_map //= => /(_ l)/Z.eqb_eq /(congr1 (@zr R)).
  by rewrite -/(entry _ i) -/(entry _ i) !zrM => h; apply/eqP; rewrite eqr_div ?zr_neq0 // h.
apply: in_cone_ext (cone_in (slack_unit P x) cone) => i.
rewrite row_at_point // /over /slack /slack_unit !zr_plus_multiple /entry nth_nil zr0 addr0 zrN !zrP -!/(entry _ _).
by move: (zr (entry _ _)) (zr (entry _ _)) => a b; field; rewrite !zr_neq0.
Qed.
Lemma zr_lt a b : Z.ltb a b -> zr a < zr b :> R.
Proof.
move=> /Z.ltb_lt h; have /(@zr_le R) : Z.leb (Z.succ a) b by apply/Z.leb_le/Z.le_succ_l.
by apply: lt_le_trans; rewrite -Z.add_1_r zrD zr1 ltr_addl ltr01.
Qed.
Lemma descent_sound x d v : is_feasible P x -> descends_for_ever P d -> exists2 u, feasible u & objective_at u <= v.
Proof.
have /and5P[_ _ short short' _] := fits; move=> /feasible_sound F /and4P[flat level down /zr_lt neg].
apply: (@program_endless R _ form linear_at (frac (constant P)) _ (row_at (equations P)) _ (row_at (inequalities P)) _ _ _
  functional_linear (functional_row _) (functional_row _) (point x) (point d)) => //.
- by move=> u; rewrite /= bilinear_at big1 // => j _; rewrite zeros // mul0r mul0r.
- by move=> i _; rewrite row_at_point // zeros // mul0r.
- apply: in_cone_ext (cone_in (Pos.mul (table_unit (inequalities P)) (step_unit d)) down) => i; rewrite row_at_point // /over -mulNr; congr (_ / _).
  have [l|l] := ltnP i (size (times (table_rows (inequalities P)) (steps d))); first by rewrite /entry (nth_map Z0) // zrN.
  by rewrite /entry !nth_default ?size_map ?zr0 ?oppr0 // -(size_map (product^~ (steps d))).
by rewrite linear_at_point /frac ltr_pdivr_mulr ?zr_gt0 // mul0r.
Qed.
Lemma upper_sound u given : upper_is_proved P u given -> is_reached u.
Proof.
case: given => [[x|x d]|]; last by case: u.
  by case/andP=> /feasible_sound F; case: u => [q /(@frac_le R) le||] //; exists (point x); rewrite ?objective_at_point.
case/andP=> F D; case: u => [q||] //; first exact: descent_sound F D.
by move=> v; exact: descent_sound F D.
Qed.

Local Notation m := (nonnegative P + rows_of_cones (cones P))%N.
Local Notation p := (size (steps (equals P))).
Local Notation weight y := (over (steps y) (step_unit y) : nat -> R).
Lemma pulled_at y z v : pulled p (row_at (equations P)) (row_at (inequalities P)) (nonnegative P) (cones P) (weight y) (weight z) v =
  \sum_(j < n) zr (entry (pull P y z) j) / zr (Zpos (pull_unit P y z)) * v j.
Proof.
have /and5P[_ _ short short' /and3P[/eqP e /eqP e' /eqP e'']] := fits.
have weighted M w k : size (table_rows M) = k -> \sum_(i < k) weight w i * row_at M i v =
    \sum_(j < n) zr (entry (combined (steps w) (table_rows M)) j) / zr (Zpos (Pos.mul (table_unit M) (step_unit w))) * v j.
  move=> <-; under eq_bigr => i _ do rewrite mulr_sumr.
  rewrite exchange_big; apply: eq_bigr => j _ /=; rewrite combined_at mulr_suml mulr_suml; apply: eq_bigr => i _.
  by rewrite mulrA /over mulf_div zrP [zr (Zpos (step_unit w)) * _]mulrC.
rewrite /pulled !weighted ?e ?e' // -big_split; apply: eq_bigr => j _ /=; rewrite -mulrDl; congr (_ * _).
rewrite /pull /pull_unit /equation_unit /inequality_unit !zr_plus_multiple /entry nth_nil zr0 addr0 !zrP -!/(entry _ _).
by move: (zr (entry _ _)) (zr (entry _ _)) => a b; field; rewrite !zr_neq0.
Qed.
Lemma multiplied_at y z : multiplied p (fun i => weight (equals P) i) (fun i => weight (limits P) i) (nonnegative P) (cones P) (weight y) (weight z) =
  - frac (gain P y z).
Proof.
have /and5P[_ _ _ _ /and3P[_ _ /eqP e]] := fits.
rewrite /multiplied /gain fracN fracD opprK -(inner_product_at _ (erefl _)) -(inner_product_at _ e).
by congr (_ + _); apply: eq_bigr => i _; rewrite mulrC.
Qed.
Lemma gradient_at x y z v : is_zero (gradient P x y z) -> bilinear (point x) v + linear_at v +
  pulled p (row_at (equations P)) (row_at (inequalities P)) (nonnegative P) (cones P) (weight y) (weight z) v = 0.
Proof.
move=> zero; rewrite bilinear_at pulled_at -!big_split big1 //= => j _; rewrite -!mulrDl /over.
have := zeros j zero; rewrite /gradient; move: (pull P y z) (times_quadratic P (steps x)) => g Px; rewrite !zr_plus_multiple [entry [::] _]/entry nth_nil zr0 addr0 ![zr (Zpos (Pos.mul _ (pull_unit P y z)))]zrP.
rewrite [zr (Zpos (Pos.mul (Pos.mul _ _) (step_unit (linear P))))]zrP.
move: (zr (entry Px j)) (zr (entry (steps (linear P)) j)) (zr (entry g j)) => a b c h.
move: (@zr_neq0 R (Pos.mul (table_unit (quadratic P)) (step_unit x))) (@zr_neq0 R (step_unit (linear P))) (@zr_neq0 R (pull_unit P y z)) h.
move: (zr (Zpos (Pos.mul _ (step_unit x)))) (zr (Zpos (step_unit (linear P)))) (zr (Zpos (pull_unit P y z))) => s t w s0 t0 w0 h. suff -> : a / s + b / t + c / w = 0 by rewrite mul0r.
have -> : a / s + b / t + c / w = (t * w * a + (s * w * b + s * t * c)) / (s * t * w) by field; rewrite s0 t0 w0.
by rewrite h mul0r.
Qed.
Lemma lower_sound l given : lower_is_proved P l given -> at_least feasible objective_at l.
Proof.
case: given => [[x y z|y z]|]; last by case: l.
  case/and3P=> /(cone_in (step_unit z)) K zero; case: l => [q /(@frac_le R) le v F||] //; apply: le_trans le _.
  have -> : frac (dual_objective P x y z) = - multiplied p (fun i => weight (equals P) i) (fun i => weight (limits P) i) (nonnegative P) (cones P) (weight y) (weight z)
      - 2%:R^-1 * bilinear (point x) (point x) + frac (constant P).
    by rewrite multiplied_at opprK square_at /dual_objective !fracD fracN fracM frac_half.
  apply: (@program_weak R _ form linear_at _ p (row_at (equations P)) _ (row_at (inequalities P)) _ _ _ (point x) (weight y) (weight z)) K _ F => w.
  exact: gradient_at.
case/and3P=> /(cone_in (step_unit z)) K zero /zr_lt neg.
have none v : ~ feasible v.
  apply: (@program_infeasible R _ p (row_at (equations P)) _ (row_at (inequalities P)) _ _ _ (weight y) (weight z)) K _ _ => [w|].
    by rewrite pulled_at big1 // => j _; rewrite zeros // mul0r mul0r.
  by rewrite multiplied_at oppr_lt0 /frac ltr_pdivl_mulr ?zr_gt0 // mul0r.
by case: l => [q v /none||].
Qed.
End Claim.
Theorem program_sound P primal dual I : program_check P primal dual I -> forall R, program_holds R P I.
Proof.
case/and4P=> fits convex low up R; have low' := lower_sound R convex fits low; have up' := upper_sound R convex fits up.
by split=> //; exact: ends_attain.
Qed.
