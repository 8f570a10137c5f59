(** * The checker of the linear programs of the 1-norm

    Rows as in [rows], and columns, each a point or a row: there is a variable x_j >= 0 for every column, the coefficient of its function. Row
    r is sum_j M_rj x_j + s_r b >= 1 up to its loss, where M_rj is the kernel [coupling] of row and column, and the objective is the sum of
    the x_j and of the losses times C, or times C and a weight of the row. The matrix K of the kernel must be symmetric, and need not be
    semidefinite.

    [one_norm_claim] states that the optimum of such a problem, a program of [one_norm], lies in an interval; the theorems whose names end in
    [as_printed], that without weights these are the published programs of points in a space. [one_norm_sound]: the claims that
    [one_norm_check] accepts are true. *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring ssrZ.
From equimargin Require Import inner optimum qp margin ranksvm one_norm.
From equimargin.checker Require Import integers spaces kernels rows families matrices.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

(** Labels -1 and 1, and true if there is a free bias, with a column for every row; pairs of points, the preferred one first, with a column for
    every pair; or such pairs with a column for every point. *)
Inductive one_norm_form := OfClasses of seq Z & bool | OfPairs of seq (nat * nat) | OfPairsByPoints of seq (nat * nat).
(** Weights: one for every row, over one unit; without weights all are 1. An infinite weight, None, is not accepted. *)
Definition row_weights := option (seq (option Z) * positive).
Record one_norm_problem := OneNormProblem { form_of : one_norm_form; kernel_of : space; loss_cost : fraction; weights_in : row_weights }.

(** ** What is computed *)
Definition task_of_form (f : one_norm_form) : task := match f with
  | OfClasses y bias => Classification y bias | OfPairs s | OfPairsByPoints s => Ranking s end.
Definition columns_of (f : one_norm_form) (m : nat) : seq row := match f with
  | OfPairsByPoints _ => [seq Row i m Z0 Z0 | i <- iota 0 m] | _ => (rows_of (task_of_form f) m).1 end.
(** An upper bound of the entry of B'u that a column's constraint bounds by 1, over the unit of values: a row has two values, and the noise of both. *)
Definition price (f : one_norm_form) (g : function) (a : row) : Z := match f with
  | OfPairsByPoints _ => Z.add (entry (values g) (plus a)) (noise g)
  | _ => Z.add (Z.sub (entry (values g) (plus a)) (entry (values g) (minus a))) (Z.add (noise g) (noise g)) end.
(** The variables of the columns, all nonnegative, and the bias. *)
Record one_norm_point := OneNormPoint { unknowns : dual_point; bias_of_point : fraction }.

Section Computed.
Variables (P : one_norm_problem).
Local Notation m := (count_in (kernel_of P)).
Definition program_rows : margin_problem := in_rows (task_of_form (form_of P)) m Hinge (loss_cost P) (weights_in P).
Definition columns := columns_of (form_of P) m.
Definition sum_of (k : dual_point) := Fraction (total (multipliers k)) (multiplier_unit k).
Definition is_natural_at (s : seq row) (k : dual_point) := (size (multipliers k) == size s) && multipliers_are_natural k.
Definition costs_are_finite := all isSome (row_costs program_rows).
Definition prices_are_at_most_one (g : function) := all (fun a => Z.leb (price (form_of P) g a) (Zpos (value_unit g))) columns.
(** The functions of the dual and of the primal point, sums of rows or columns times numbers, are given as functions of the unit of these numbers. *)
Definition one_norm_lower_check (of_rows : positive -> function) (l : end_point) (given : option dual_point) :=
  if given is Some D then
    [&& is_natural_at (rows program_rows) D, multipliers_are_within_costs program_rows D, multipliers_are_balanced program_rows D
      & prices_are_at_most_one (of_rows (multiplier_unit D))] &&
    (match l with MinusInfinite => true | Infinite => false | Finite q => fleb q (sum_of D) end)
  else if l is MinusInfinite then true else false.
Definition one_norm_value (g : function) (x : one_norm_point) : fraction :=
  fadd (sum_of (unknowns x)) (lost program_rows g (bias_of_point x)).
Definition one_norm_upper_check (of_columns : positive -> function) (u : end_point) (given : option one_norm_point) :=
  if given is Some x then is_natural_at columns (unknowns x) &&
    (match u with Infinite => true | Finite q => fleb (one_norm_value (of_columns (multiplier_unit (unknowns x))) x) q | MinusInfinite => false end)
  else if u is Infinite then true else false.
Definition one_norm_check (x : option one_norm_point) (D : option dual_point) (I : interval) :=
  [&& space_fits (kernel_of P), labels_fit (task_of_form (form_of P)) m, cost_is_positive (loss_cost P),
    rows_fit program_rows & costs_are_finite] &&
  (let low := pulled_by m (rows program_rows) D in let up := pulled_by m columns (omap unknowns x) in
   let G := geometry_of (kernel_of P) [:: low; up] in
   one_norm_lower_check (combination_in G low) (lower I) D && one_norm_upper_check (combination_in G up) (upper I) x).
End Computed.

Lemma rows_of_program P : rows (program_rows P) = (rows_of (task_of_form (form_of P)) (count_in (kernel_of P))).1.
Proof. by rewrite /program_rows /in_rows; case: (rows_of _ _) => s u; case: (costs_of _ _ _ _). Qed.
Lemma unit_of_program P : target_unit (program_rows P) = (rows_of (task_of_form (form_of P)) (count_in (kernel_of P))).2.
Proof. by rewrite /program_rows /in_rows; case: (rows_of _ _) => s u; case: (costs_of _ _ _ _). Qed.

(** ** What it means *)
Local Open Scope ring_scope.
Section Claim.
Variables (R : realFieldType) (m : nat) (K : 'I_m -> 'I_m -> R) (C : fraction) (weights : row_weights) (I : interval).
Definition row_cost (p : nat) : R := if weights is Some (s, u) then frac C * over [seq odflt Z0 k | k <- s] u p else frac C.
Definition cost n (p : 'I_n) := row_cost p.
Definition class_entry (labels : seq Z) (i j : 'I_m) : R := zr (entry labels i) * K i j * zr (entry labels j).
Definition hi (pairs : seq (nat * nat)) (p : 'I_(size pairs)) := (nth (0, 0)%N pairs p).1.
Definition lo (pairs : seq (nat * nat)) (p : 'I_(size pairs)) := (nth (0, 0)%N pairs p).2.
Definition pair_entry (pairs : seq (nat * nat)) (p q : 'I_(size pairs)) : R :=
  between K (hi p) (hi q) + between K (lo p) (lo q) - between K (hi p) (lo q) - between K (lo p) (hi q).
Definition point_entry (pairs : seq (nat * nat)) (p : 'I_(size pairs)) (i : 'I_m) : R := between K (hi p) i - between K (lo p) i.
Definition one_norm_claim (f : one_norm_form) : Prop := match f with
  | OfClasses y bias => in_interval (clp_feas (class_entry y) (fun i => if bias then zr (entry y i) else 0)) (clp_obj (@cost m)) I
  | OfPairs s => in_interval (clp_feas (@pair_entry s) (fun=> 0)) (clp_obj (@cost (size s))) I
  | OfPairsByPoints s => in_interval (clp_feas (@point_entry s) (fun=> 0)) (clp_obj (@cost (size s))) I
  end.
End Claim.
Definition one_norm_holds (R : realFieldType) (P : one_norm_problem) (I : interval) : Prop :=
  @of_its_matrix R (kernel_of P) (fun K => one_norm_claim K (loss_cost P) (weights_in P) I (form_of P)).

Section Core.
Variables (R : realFieldType) (P : one_norm_problem) (I : interval).
Local Notation m := (count_in (kernel_of P)).
Variables (K : 'I_m -> 'I_m -> R) (G : geometry) (ks : seq (seq Z)).
Hypotheses (symmetric : forall i j, K i j = K j i) (known : valued K ks G).
Hypotheses (fit : rows_fit (program_rows P)) (finite : costs_are_finite P).
Local Notation M := (program_rows P).
Local Notation n := (size (rows M)).
Local Notation k := (size (columns P)).
Local Notation cost_in c := (@cost R (loss_cost P) (weights_in P) c).
Local Notation r_ p := (nth no_row (rows M) p).
Local Notation a_ j := (nth no_row (columns P) j).
(** The kernel of two rows. *)
Definition coupling (r a : row) : R :=
  between K (plus r) (plus a) - between K (minus r) (plus a) - (between K (plus r) (minus a) - between K (minus r) (minus a)).
Definition program_entry c d (p : 'I_c) (j : 'I_d) : R := coupling (r_ p) (a_ j).
Definition program_sign c (p : 'I_c) : R := zr (sign (r_ p)).
Definition combination (s : seq row) (x : dual_point) (i : nat) : R :=
  \sum_(p < size s) over (multipliers x) (multiplier_unit x) p * (between K (plus (nth no_row s p)) i - between K (minus (nth no_row s p)) i).

Local Notation combined_by s x := (combination_in G (pull m (multipliers x) s) (multiplier_unit x)).
Lemma combined_values s x : is_natural_at s x -> pull m (multipliers x) s \in ks -> let g := combined_by s x in
  forall i, `|combination s x i - over (values g) (value_unit g) i| <= frac (Fraction (noise g) (value_unit g)).
Proof.
case/andP=> /eqP e _ isin g i; rewrite {}/g; have -> : combination s x i = \sum_(j < m) over (pull m (multipliers x) s) (multiplier_unit x) j * between K j i.
  rewrite (@pull_sum R [lmodType R of R^o] (fun j => between K j i : R^o) m _ _ _ (multiplier_unit x) e) // => j l.
  by rewrite between_sym // between_out.
by apply: known; [exact: isin|exact: size_pull].
Qed.
Lemma column_of_point f s i : f = OfPairsByPoints s -> (i < size (columns_of f m))%N -> minus (nth no_row (columns_of f m) i) = m.
Proof. by move=> -> /=; rewrite size_map => l; rewrite (nth_map 0%N). Qed.
Lemma natural_ge0 s x p : is_natural_at s x -> 0 <= over (multipliers x) (multiplier_unit x) p :> R.
Proof. by case/andP=> _ h; exact: over_ge0. Qed.
Lemma sum_ofE s x : is_natural_at s x -> \sum_(p < size s) over (multipliers x) (multiplier_unit x) p = @frac R (sum_of x).
Proof. by case/andP=> /eqP e _; rewrite (over_total _ _ e). Qed.
Lemma row_targets p : zr (target (r_ p)) / zr (Zpos (target_unit M)) = 1 :> R \/ (n <= p)%N.
Proof.
rewrite unit_of_program rows_of_program; case: (form_of P) => [y bias|s|s] /=.
- rewrite size_map; have [l|l] := ltnP p (size (zip (iota 0 m) y)); [left|by right].
  by rewrite (nth_map (0%N, Z0)) //; case: (nth _ _ _) => i z /=; case: Z.ltb; rewrite /= zr1 divr1.
- by rewrite size_map; have [l|l] := ltnP p (size s); [left; rewrite (nth_map (0, 0)%N) //= zr1 divr1|right].
- by rewrite size_map; have [l|l] := ltnP p (size s); [left; rewrite (nth_map (0, 0)%N) //= zr1 divr1|right].
Qed.
Lemma row_targetE (p : 'I_n) : row_target R p = 1.
Proof. by case: (row_targets p) => //; rewrite leqNgt ltn_ord. Qed.

Lemma costs_over (p : 'I_n) : cost_in n p = over [seq odflt Z0 c | c <- row_costs M] (cost_unit M) p.
Proof.
move: p; rewrite /cost /row_cost /program_rows /in_rows; case: (rows_of _ _) => r u; case: (weights_in P) => [[s v]|] p /=.
  rewrite -map_comp /over /entry; have [l|l] := ltnP p (size s); last by rewrite !nth_default ?size_map // zr0 mul0r mulr0 mul0r.
  by rewrite !(nth_map None) //; case: nth => [k|] /=; rewrite ?zr0 ?mul0r ?mulr0 // zrM zrP /frac mulf_div.
by rewrite /over /entry map_nseq nth_nseq ltn_ord.
Qed.
Lemma no_squares : is_squared M = false.
Proof. by rewrite /program_rows /in_rows; case: (rows_of _ _) => r u; case: (costs_of _ _ _ _). Qed.
Lemma costs_ge0 (p : 'I_n) : 0 <= cost_in n p.
Proof.
rewrite costs_over; apply: over_ge0; have /andP[_ h] := fit; rewrite all_map; apply: sub_all h => -[c|] //.
Qed.

Section Upper.
Variable x : one_norm_point.
Hypotheses (natural : is_natural_at (columns P) (unknowns x)) (isin : pull m (multipliers (unknowns x)) (columns P) \in ks).
Local Notation g := (combined_by (columns P) (unknowns x)).
Local Notation b := (bias_of_point x).
Definition point_of_program : ('I_k -> R) * R * ('I_n -> R) :=
  (fun j : 'I_k => over (multipliers (unknowns x)) (multiplier_unit (unknowns x)) j, frac b, fun p : 'I_n => over (losses M g b) (loss_unit M g b) p).
Lemma margin_of_row (p : 'I_n) : \sum_j @program_entry n k p j * over (multipliers (unknowns x)) (multiplier_unit (unknowns x)) j =
  combination (columns P) (unknowns x) (plus (r_ p)) - combination (columns P) (unknowns x) (minus (r_ p)).
Proof.
rewrite -sumrB; apply: eq_bigr => j _; rewrite -mulrBr mulrC; congr (_ * _); rewrite /program_entry /coupling.
by rewrite !(@between_sym R m K _ (plus (a_ j)) symmetric) !(@between_sym R m K _ (minus (a_ j)) symmetric); ring.
Qed.
Lemma program_feasible : clp_feas (@program_entry n k) (@program_sign n) point_of_program.
Proof.
split=> [j|p|p]; first exact: natural_ge0 natural; rewrite (@loss_over R M).
  by rewrite le_maxr lexx.
have := @excess_over R M g b (combination (columns P) (unknowns x)) p (combined_values natural isin).
rewrite row_targetE margin_of_row /program_sign => h; rewrite ler_subl_addl -ler_subl_addr le_maxr.
by apply/orP; right; exact: h.
Qed.
Lemma program_value : clp_obj (cost_in n) point_of_program = frac (one_norm_value P g x).
Proof.
rewrite /= /one_norm_value fracD (sum_ofE natural) /lost /powers /power_unit no_squares; congr (_ + _).
by rewrite -(@over_product R n) ?size_map ?(size_costs fit) //; apply: eq_bigr => p _; rewrite costs_over.
Qed.
End Upper.

Section Lower.
Variable D : dual_point.
Hypotheses (natural : is_natural_at (rows M) D) (below : multipliers_are_within_costs M D) (balanced : multipliers_are_balanced M D).
Hypotheses (isin : pull m (multipliers D) (rows M) \in ks) (prices : prices_are_at_most_one P (combined_by (rows M) D)).
Local Notation u := (fun p : 'I_n => over (multipliers D) (multiplier_unit D) p : R).
Local Notation g := (combined_by (rows M) D).
Lemma price_of_column (j : 'I_k) : \sum_p u p * program_entry p j <= 1.
Proof.
have -> : \sum_p u p * program_entry p j = combination (rows M) D (plus (a_ j)) - combination (rows M) D (minus (a_ j)).
  by rewrite -sumrB; apply: eq_bigr => p _; rewrite -mulrBr; congr (_ * _); rewrite /program_entry /coupling; ring.
have top : zr (price (form_of P) g (a_ j)) / zr (Zpos (value_unit g)) <= 1 :> R.
  by rewrite ler_pdivr_mulr ?zr_gt0 // mul1r; apply: zr_le; exact: (all_nthP no_row prices).
apply: le_trans top; have near i := combined_values natural isin i.
have := near (plus (a_ j)); rewrite ler_distl => /andP[_ high]; have := near (minus (a_ j)); rewrite ler_distl => /andP[low _].
have both : combination (rows M) D (plus (a_ j)) - combination (rows M) D (minus (a_ j)) <=
    zr (Z.add (Z.sub (entry (values g) (plus (a_ j))) (entry (values g) (minus (a_ j)))) (Z.add (noise g) (noise g))) / zr (Zpos (value_unit g)).
  apply: le_trans (ler_sub high low) _; rewrite le_eqVlt; apply/orP; left; apply/eqP.
  by rewrite /over /frac /= !(zrD, zrB); ring.
case e: (form_of P) => [y bias|s|s] //=.
rewrite (column_of_point e (ltn_ord j)) [X in _ - X]big1 ?subr0 => [|p _]; last by rewrite !between_out ?subr0 ?mulr0.
by rewrite zrD mulrDl.
Qed.
Lemma program_dual_feasible : clp_dual_feas (@program_entry n k) (@program_sign n) (cost_in n) u.
Proof.
have /andP[/eqP e _] := natural; split=> [p|j|]; last 2 first.
- exact: price_of_column.
- transitivity (\sum_(p < n) over (map sign (rows M)) 1 p * u p).
    by apply: eq_bigr => p _; rewrite mulrC; congr (_ * _); rewrite /program_sign /over /entry zr1 divr1 (nth_map no_row).
  by have /Z.eqb_eq h := balanced; rewrite over_product ?size_map // /frac h /= zr0 mul0r.
rewrite (natural_ge0 _ natural) /=; have := costs_ge0 p; rewrite costs_over /over /entry (nth_map None) ?(size_costs fit) //.
have := all_nthP None finite p; have := all_nthP (None, Z0) below p.
rewrite size_zip (size_costs fit) e minnn ltn_ord nth_zip ?(size_costs fit) ?e // /is_within_cost no_squares /= => /(_ isT) + /(_ isT).
case: (nth None) => [c|] //=; case: Z.eqb_spec => /= [->|_ le] _ c0; first by rewrite zr0 mul0r.
by apply: (@frac_le R (Fraction _ _) (Fraction _ _)).
Qed.
End Lower.

Theorem program_sound x D low up : low = pulled_by m (rows M) D -> up = pulled_by m (columns P) (omap unknowns x) ->
  low \in ks -> up \in ks ->
  one_norm_lower_check P (combination_in G low) (lower I) D -> one_norm_upper_check P (combination_in G up) (upper I) x ->
  forall c d, n = c -> k = d -> in_interval (clp_feas (@program_entry c d) (@program_sign c)) (clp_obj (cost_in c)) I.
Proof.
move=> -> -> in_low in_up {}low {}up c d <- <-; split.
  case: D in_low low => [D|] in_low; last by case: (lower I).
  case/andP=> /and4P[nat below bal prices]; case: (lower I) => //= q /(@frac_le R) h t F; apply: le_trans h _.
  by rewrite -(sum_ofE nat); exact: (weak_duality (clp_pair _ _ _) F (program_dual_feasible nat below bal in_low prices)).
case: x in_up up => [x|] in_up; last by case: (upper I).
case/andP=> nat; case: (upper I) => //= q /(@frac_le R) h.
have [[v [t [F O] e] _] _] := clp_duality (@program_entry n k) (@program_sign n) costs_ge0.
by exists v; [exists t|rewrite -e (le_trans (O _ (program_feasible nat in_up))) // program_value].
Qed.
End Core.

(** ** From rows and columns to the programs *)
Section Transfer.
Variables (R : realFieldType) (J Q : finType) (M N : Q -> J -> R) (s t c : Q -> R) (C : R) (I : interval).
Hypothesis same : forall p j, M p j = N p j.
Lemma row_same (be : J -> R) p : \sum_j M p j * be j = \sum_j N p j * be j.
Proof. by apply: eq_bigr => j _; rewrite same. Qed.
Lemma with_entries : (forall p, s p = t p) -> in_interval (clp_feas M s) (clp_obj c) I -> in_interval (clp_feas N t) (clp_obj c) I.
Proof.
move=> sign; apply: (in_interval_rewritten (f := id) (h := id)) => [[[be b] xi] [b0 x0 h]|[[be b] xi]|[[be b] xi] [b0 x0 h]|[[be b] xi]] //.
- by split=> // p; rewrite -row_same -sign; exact: h.
- by split=> // p; rewrite row_same sign; exact: h.
Qed.
(** One cost for all rows, with a bias and without. *)
Lemma one_cost_with_bias : in_interval (clp_feas N t) (clp_obj (fun=> C)) I <-> in_interval (blp_feas N t) (blp_obj C) I.
Proof. by split; apply: (in_interval_rewritten (f := id) (h := id)) => -[[be b] xi] //=; rewrite mulr_sumr. Qed.
Lemma one_cost_without_bias : in_interval (clp_feas M (fun=> 0)) (clp_obj (fun=> C)) I <-> in_interval (lp_feas N) (lp_obj C) I.
Proof.
split; [apply: (in_interval_rewritten (f := fun t => (t.1.1, t.2)) (h := fun t => (t.1, 0, t.2)))|
        apply: (in_interval_rewritten (f := fun t => (t.1, 0, t.2)) (h := fun t => (t.1.1, t.2)))].
- by case=> [[be b] xi] [b0 x0 h]; split=> // p; have := h p; rewrite row_same mul0r addr0.
- by case=> [[be b] xi]; rewrite /= mulr_sumr.
- by case=> be xi [b0 x0 h]; split=> // p; rewrite row_same mul0r addr0; exact: h.
- by case=> be xi; rewrite /= mulr_sumr.
- by case=> be xi [b0 x0 h]; split=> // p; rewrite row_same mul0r addr0; exact: h.
- by case=> be xi; rewrite /= mulr_sumr.
- by case=> [[be b] xi] [b0 x0 h]; split=> // p; have := h p; rewrite row_same mul0r addr0.
- by case=> [[be b] xi]; rewrite /= mulr_sumr.
Qed.
End Transfer.

Section Forms.
Variables (R : realFieldType) (P : one_norm_problem) (I : interval).
Local Notation m := (count_in (kernel_of P)).
Variable K : 'I_m -> 'I_m -> R.
Hypotheses (symmetric : forall i j, K i j = K j i) (fit : labels_fit (task_of_form (form_of P)) m).
Local Notation claim := (one_norm_claim K (loss_cost P) (weights_in P) I).
Local Notation claim_in_rows c d :=
  (in_interval (clp_feas (@program_entry R P K c d) (@program_sign R P c)) (clp_obj (@cost R (loss_cost P) (weights_in P) c)) I).

Section Classes.
Variables (y : seq Z) (bias : bool).
Hypothesis form : form_of P = OfClasses y bias.
Let fit_y : (size y == m) && all is_sign y. Proof. by move: fit; rewrite form. Qed.
Lemma class_row (i : 'I_m) : nth no_row (rows (program_rows P)) i = classification_row m bias (nat_of_ord i, entry y i).
Proof. by rewrite rows_of_program form (@classification_nth m (loss_cost P) Hinge y bias fit_y). Qed.
Lemma class_column (i : 'I_m) : nth no_row (columns P) i = classification_row m bias (nat_of_ord i, entry y i).
Proof. by rewrite -class_row rows_of_program /columns form. Qed.
Lemma class_coupling (i j : 'I_m) : @program_entry R P K m m i j = class_entry K y i j.
Proof.
rewrite /program_entry class_row class_column /coupling /class_entry.
case: (@sign_cases m y fit_y i) => ->; case: (@sign_cases m y fit_y j) => -> /=;
  by rewrite !(@between_out R m K _ m) // !(@between_sym R m K m) // !(@between_out R m K _ m) // !between_in;
  rewrite -?[zr (Zneg 1)]/(zr (Z.opp 1)) ?zrN zr1; ring.
Qed.
Lemma class_size : size (rows (program_rows P)) = m /\ size (columns P) = m.
Proof. by rewrite /columns rows_of_program form /=; have /andP[/eqP e _] := fit_y; rewrite size_map size_zip size_iota e minnn. Qed.
Lemma class_sign (i : 'I_m) : @program_sign R P m i = if bias then zr (entry y i) else 0.
Proof. by rewrite /program_sign class_row; case: (@sign_cases m y fit_y i) => -> /=; case: bias. Qed.
Lemma classes_claim : claim_in_rows m m -> claim (OfClasses y bias).
Proof. by apply: with_entries; [exact: class_coupling|exact: class_sign]. Qed.
End Classes.

Section Pairs.
Variable s : seq (nat * nat).
Hypothesis task : task_of_form (form_of P) = Ranking s.
Lemma pair_row (p : 'I_(size s)) : nth no_row (rows (program_rows P)) p = Row (hi p) (lo p) Z0 1.
Proof. by rewrite rows_of_program task /= (nth_map (0, 0)%N). Qed.
Lemma pairs_size : size (rows (program_rows P)) = size s.
Proof. by rewrite rows_of_program task /= size_map. Qed.
Lemma pair_sign (p : 'I_(size s)) : @program_sign R P (size s) p = 0.
Proof. by rewrite /program_sign pair_row. Qed.
Lemma pairs_claim : form_of P = OfPairs s -> claim_in_rows (size s) (size s) -> claim (OfPairs s).
Proof.
move=> form; apply: with_entries => [p q|p]; last exact: pair_sign.
rewrite /program_entry pair_row /columns form /= (nth_map (0, 0)%N) // /coupling /pair_entry /= -/(hi q) -/(lo q).
by move: (between _ _ _) (between _ _ _) (between _ _ _) (between _ _ _) => v1 v2 v3 v4; ring.
Qed.
Lemma points_claim : form_of P = OfPairsByPoints s -> claim_in_rows (size s) m -> claim (OfPairsByPoints s).
Proof.
move=> form; apply: with_entries => [p i|p]; last exact: pair_sign.
rewrite /program_entry pair_row /columns form /= (nth_map 0%N) ?size_iota // nth_iota // add0n /coupling /=.
by rewrite !(@between_out R m K _ m) // subr0 subr0.
Qed.
End Pairs.

Theorem forms_sound : (forall c d, size (rows (program_rows P)) = c -> size (columns P) = d -> claim_in_rows c d) ->
  claim (form_of P).
Proof.
move=> h; case form: (form_of P) => [y bias|s|s].
- by have [e1 e2] := class_size form; exact: classes_claim form (h _ _ e1 e2).
- have task : task_of_form (form_of P) = Ranking s by rewrite form.
  by apply: pairs_claim => //; apply: h; [exact: pairs_size|rewrite /columns form /= size_map].
- have task : task_of_form (form_of P) = Ranking s by rewrite form.
  by apply: points_claim => //; apply: h; [exact: pairs_size|rewrite /columns form /= size_map size_iota].
Qed.
End Forms.

Theorem one_norm_sound P x D I : one_norm_check P x D I -> forall R, one_norm_holds R P I.
Proof.
case/andP=> [/and5P[sfit labels _ fit finite] /andP[low up]] R; apply: matrix_sound => // K symmetric known.
apply: forms_sound => // c d; move: low up; set l := pulled_by _ (rows _) _; set u := pulled_by _ (columns _) _.
have [el eu] : l = pulled_by (count_in (kernel_of P)) (rows (program_rows P)) D /\ u = pulled_by (count_in (kernel_of P)) (columns P) (omap unknowns x) by [].
move: l u el eu => l u el eu low up; apply: (program_sound symmetric (known [:: l; u]) fit finite el eu _ _ low up).
  by rewrite inE eqxx.
by rewrite !inE eqxx orbT.
Qed.

(** ** The published programs, of points in a space *)
Section Printed.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (m : nat) (x : 'I_m -> V) (C : fraction) (I : interval).
Local Notation K := (fun i j => ip (x i) (x j)).
Local Notation y labels := (fun i : 'I_m => zr (entry labels i) : R).
Theorem svm_onenorm_as_printed labels : one_norm_claim K C None I (OfClasses labels true) <->
  in_interval (svm_onenorm_primal_feas ip x (y labels)) (@svm_onenorm_primal_obj R _ (frac C)) I.
Proof. exact: one_cost_with_bias. Qed.
Theorem svm_nobias_onenorm_as_printed labels : one_norm_claim K C None I (OfClasses labels false) <->
  in_interval (svm_nobias_onenorm_primal_feas ip x (y labels)) (@svm_nobias_onenorm_primal_obj R _ (frac C)) I.
Proof. by apply: one_cost_without_bias. Qed.
Section Ranked.
Variables (s : seq (nat * nat)) (h l : 'I_(size s) -> 'I_m).
Hypothesis places : forall p : 'I_(size s), nth (0, 0)%N s p = (nat_of_ord (h p), nat_of_ord (l p)).
Theorem rank_onenorm_as_printed : one_norm_claim K C None I (OfPairs s) <->
  in_interval (rank_onenorm_primal_feas ip x h l) (@rank_onenorm_primal_obj R _ (frac C)) I.
Proof.
have e p q : pair_entry K p q = Qhat ip x h l p q by rewrite /pair_entry /hi /lo !places !between_in.
by apply: one_cost_without_bias => p q; rewrite e.
Qed.
Theorem rvm_as_printed : one_norm_claim K C None I (OfPairsByPoints s) <->
  in_interval (rvm_primal_feas ip x h l) (@rvm_primal_obj R _ _ (frac C)) I.
Proof.
have e p i : point_entry K p i = rvm_row ip x h l p i by rewrite /point_entry /hi /lo !places !between_in.
by apply: one_cost_without_bias => p q; rewrite e.
Qed.
End Ranked.
End Printed.
