(** * The families: their problems, and soundness of their check

    [claim] states that the optimum of a problem lies in an interval: that of the formulations which are published in the documents and defined
    in [svm], [svr] and [ranksvm]; with weights, that of the rows [rows_of] and the costs [costs_of]. [problem_sound]: the claims that
    [problem_check] accepts are true. [classification_in_rows], [regression_in_rows] and [ranking_in_rows] are the step from rows to the
    families of a task, and [uniform] that from a cost of every row to one cost. *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring ssrZ.
From equimargin Require Import inner optimum qp margin svm svr ranksvm.
From equimargin.checker Require Import integers spaces kernels costs rows.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

Inductive loss := Hinge | Squared | Hard.
(** Classification: labels -1 and 1, and true if there is a free bias; regression: targets and half the width of the tube, over one unit;
    ranking: pairs of points, the preferred one first. *)
Inductive task :=
  | Classification of seq Z & bool
  | Regression of seq Z & Z & positive
  | Ranking of seq (nat * nat).
(** Weights: one for every row, over one unit; None is an infinite weight. Without weights all are 1. *)
Record problem := Problem { task_of : task; space_of : space; loss_of : loss; cost_of : fraction;
  weights_of : option (seq (option Z) * positive) }.
Definition count_of (P : problem) := count_in (space_of P).

(** ** What is computed *)
Definition classification_row m (bias : bool) (p : nat * Z) :=
  let: (i, y) := p in let s := if bias then y else Z0 in if Z.ltb Z0 y then Row i m s 1 else Row m i s 1.
(** The rows and the unit of their targets, for m points. *)
Definition rows_of (t : task) (m : nat) : seq row * positive :=
  match t with
  | Classification y bias => ([seq classification_row m bias p | p <- zip (iota 0 m) y], xH)
  | Regression y eps u => ([seq Row p.1 m 1 (Z.sub p.2 eps) | p <- zip (iota 0 m) y] ++
      [seq Row m p.1 (-1) (Z.sub (Z.opp p.2) eps) | p <- zip (iota 0 m) y], u)
  | Ranking pairs => ([seq Row p.1 p.2 Z0 1 | p <- pairs], xH)
  end.
(** Cost times weight; None, infinite, for a row of a hard problem, but 0 if its weight is 0. *)
Definition weighted_cost (l : loss) (C : fraction) (weight : option Z) : option Z :=
  if weight is Some k then (if l is Hard then (if Z.eqb k Z0 then Some Z0 else None) else Some (Z.mul (num C) k)) else None.
Definition costs_of (l : loss) (C : fraction) (weights : option (seq (option Z) * positive)) (n : nat) : seq (option Z) * positive :=
  if weights is Some (s, u) then ([seq weighted_cost l C k | k <- s], Pos.mul (den C) u)
  else (nseq n (if l is Hard then None else Some (num C)), den C).
Definition squares (l : loss) := if l is Squared then true else false.
Definition in_rows (t : task) (m : nat) (l : loss) (C : fraction) weights : margin_problem :=
  let: (s, u) := rows_of t m in let: (c, v) := costs_of l C weights (size s) in MarginProblem s u c v (squares l).

Definition is_sign y := Z.eqb y 1 || Z.eqb y (-1).
Definition labels_fit (t : task) (m : nat) := match t with
  | Classification y _ => (size y == m) && all is_sign y
  | Regression y _ _ => size y == m
  | Ranking pairs => all (fun p => (p.1 < m)%N && (p.2 < m)%N) pairs
  end.
Definition cost_is_positive (C : fraction) := Z.ltb Z0 (num C).
(** The primal point, a function with its bias, and the multipliers; one of the two may be missing. *)
Record sides := Sides { function_side : option (seq Z * positive * fraction); multiplier_side : option dual_point }.
Definition primal_of (G : geometry) (s : sides) : option primal_point :=
  omap (fun g : seq Z * positive * fraction => Primal (function_in G g.1.1 g.1.2) g.2) (function_side s).
Definition functions_fit (G : geometry) (s : sides) := if function_side s is Some (k, _, _) then size k == coefficients_of G else true.
Definition problem_check (P : problem) (s : sides) (exact : bool) (I : interval) :=
  let M := in_rows (task_of P) (count_of P) (loss_of P) (cost_of P) (weights_of P) in
  [&& space_fits (space_of P), has_inner_products (space_of P), labels_fit (task_of P) (count_of P), cost_is_positive (cost_of P) & rows_fit M] &&
  (let k := pulled_by (count_of P) (rows M) (multiplier_side s) in let G := geometry_of (space_of P) (if function_side s is Some (f, _, _) then [:: k; f] else [:: k]) in
   [&& functions_fit G s, lower_check M (length_in G k) exact (lower I) (multiplier_side s) & upper_check M (upper I) (primal_of G s)]).

(** ** What it means *)
Local Open Scope ring_scope.
Section Claim.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (m : nat) (x : 'I_m -> V) (C : fraction) (I : interval).
Local Notation cost := (@frac R C).
Definition classification_claim (labels : seq Z) (bias : bool) (l : loss) := let y := fun i : 'I_m => zr (entry labels i) in
  match bias, l with
  | true, Hinge => in_interval (svm_soft_primal_feas ip x y) (svm_soft_primal_obj ip cost) I
  | true, Squared => in_interval (svm_l2_primal_feas ip x y) (svm_l2_primal_obj ip cost) I
  | true, Hard => in_interval (svm_hard_primal_feas ip x y) (svm_hard_primal_obj ip) I
  | false, Hinge => in_interval (svm_nobias_primal_feas ip x y) (svm_nobias_primal_obj ip cost) I
  | false, Squared => in_interval (svm_nobias_l2_primal_feas ip x y) (svm_nobias_l2_primal_obj ip cost) I
  | false, Hard => in_interval (svm_nobias_hard_primal_feas ip x y) (svm_nobias_hard_primal_obj ip) I
  end.
Definition regression_claim (targets : seq Z) (epsilon : Z) (u : positive) (l : loss) :=
  let y := fun i : 'I_m => over targets u i in let eps := frac (Fraction epsilon u) in
  match l with
  | Hinge => in_interval (svr_l1_primal_feas ip x y eps) (svr_l1_primal_obj ip cost) I
  | Squared => in_interval (svr_l2_primal_feas ip x y eps) (svr_l2_primal_obj ip cost) I
  | Hard => in_interval (svr_hard_primal_feas ip x y eps) (svr_hard_primal_obj ip) I
  end.
(** [inord] converts a number below m to an index. *)
Definition ranking_claim (pairs : seq (nat * nat)) (l : loss) :=
  let phi := fun i : 'I_m.-1.+1 => at_place x i in
  let hi := fun p : 'I_(size pairs) => inord (nth (0, 0)%N pairs p).1 in
  let lo := fun p : 'I_(size pairs) => inord (nth (0, 0)%N pairs p).2 in
  match l with
  | Hinge => in_interval (rank_l1_primal_feas ip phi hi lo) (rank_l1_primal_obj ip cost) I
  | Squared => in_interval (rank_l2_primal_feas ip phi hi lo) (rank_l2_primal_obj ip cost) I
  | Hard => in_interval (rank_hard_primal_feas ip phi hi lo) (rank_hard_primal_obj ip) I
  end.
(** The claim in rows, each with its own cost: [costs.costs_feas] and [costs.costs_obj]. *)
Definition rows_claim (M : margin_problem) := in_interval (@rows_feas R V ip (at_place x) M) (@rows_obj R V ip M) I.
Definition claim (t : task) (l : loss) weights :=
  if weights is Some _ then rows_claim (in_rows t m l C weights) else
  match t with
  | Classification y bias => classification_claim y bias l
  | Regression y eps u => regression_claim y eps u l
  | Ranking pairs => ranking_claim pairs l
  end.
End Claim.
(** The claim of a problem, its points in the space of its kernel. *)
Definition holds_of (R : realFieldType) (P : problem) (I : interval) : Prop :=
  @in_its_space R (space_of P) (fun V ip x => claim ip x (cost_of P) I (task_of P) (loss_of P) (weights_of P)).

(** ** From rows to families *)
Section Transfer.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (m : nat) (x : 'I_m -> V) (C : fraction) (l : loss) (I : interval).
Local Notation phi := (at_place x).
Local Notation in_rows t := (in_rows t m l C None).
Lemma point_outside : phi m = 0. Proof. exact: at_place_out. Qed.

Definition plain_claim n (a : 'I_n -> V) (g r : 'I_n -> R) (l : loss) := match l with
  | Hinge => in_interval (hinge_primal_feas ip a g r) (hinge_primal_obj ip (fun=> frac C)) I
  | Squared => in_interval (squared_primal_feas ip a g r) (squared_primal_obj ip (frac C)) I
  | Hard => in_interval (hard_primal_feas ip a g r) (hard_primal_obj ip) I end.
Lemma one_cost n (a : 'I_n -> V) g r c k : (forall i, c i = if k is Hard then None else Some (frac C)) ->
  in_interval (costs_feas ip a g r c) (costs_obj ip (squares k) c) I -> plain_claim a g r k.
Proof.
case: k => /= cost.
- apply: (in_interval_rewritten (f := id) (h := id)) => [t F i|t|t F i|t].
  + by have [] := F i.
  + by rewrite /hinge_primal_obj /costs_obj; congr (_ + _); apply: eq_bigr => i _; rewrite cost.
  + by have [] := F i; split=> //; rewrite cost.
  + by rewrite /hinge_primal_obj /costs_obj; congr (_ + _); apply: eq_bigr => i _; rewrite cost.
- apply: (in_interval_rewritten (f := id) (h := id)) => [t F i|t|t F i|t].
  + by have [] := F i.
  + by rewrite /squared_primal_obj /costs_obj mulr_sumr; congr (_ + _); apply: eq_bigr => i _; rewrite cost.
  + by have [] := F i; split=> //; rewrite cost.
  + by rewrite /squared_primal_obj /costs_obj mulr_sumr; congr (_ + _); apply: eq_bigr => i _; rewrite cost.
- apply: (in_interval_rewritten (f := fst) (h := fun t => (t, fun=> 0))) => [t F i|t|t F i|t].
  + by have [_ + /(_ (cost i)) e] := F i; rewrite e subr0.
  + by rewrite /hard_primal_obj /costs_obj big1 ?addr0 // => i _; rewrite cost mul0r.
  + by have := F i; split=> //=; rewrite subr0.
  + by rewrite /hard_primal_obj /costs_obj big1 ?addr0 // => i _; rewrite cost mul0r.
Qed.

Section At.
Variables (M : margin_problem) (k : nat) (i : 'I_k).
Definition vector_at : V := row_vector phi (nth no_row (rows M) i).
Definition sign_at : R := zr (sign (nth no_row (rows M) i)).
Definition target_at : R := zr (target (nth no_row (rows M) i)) / zr (Zpos (target_unit M)).
End At.

Section Uniform.
Variable t : task.
Local Notation M := (in_rows t).
Local Notation n := (size (rows M)).
(** The problem in rows, for a number k that equals their number. *)
Definition plain_rows k := plain_claim (@vector_at M k) (@sign_at M k) (@target_at M k) l.
Lemma uniform_cost (i : 'I_n) : @cost_at R M i = if l is Hard then None else Some (frac C).
Proof. by move: i; rewrite /cost_at /families.in_rows; case: (rows_of t m) => s u /= i; rewrite nth_nseq ltn_ord; case: l. Qed.
Lemma uniform k : n = k -> rows_claim ip x I M -> plain_rows k.
Proof.
move=> <-; rewrite /rows_claim /plain_rows /rows_obj.
have -> : is_squared M = squares l by rewrite /families.in_rows; case: (rows_of t m).
exact: one_cost uniform_cost.
Qed.
End Uniform.
Section Classification.
Variables (labels : seq Z) (bias : bool).
Hypothesis fit : (size labels == m) && all is_sign labels.
Local Notation M := (in_rows (Classification labels bias)).
Let y (i : 'I_m) : R := zr (entry labels i).
Let size_labels : size labels = m. Proof. by have /andP[/eqP] := fit. Qed.
Lemma classification_size : size (rows M) = m.
Proof. by rewrite /= size_map size_zip size_iota size_labels minnn. Qed.
Lemma classification_nth (i : 'I_m) : nth no_row (rows M) i = classification_row m bias (nat_of_ord i, entry labels i).
Proof.
rewrite /= (nth_map (0%N, Z0)) ?size_zip ?size_iota ?size_labels ?minnn //.
by rewrite nth_zip ?size_iota ?size_labels // nth_iota.
Qed.
Lemma sign_cases (i : 'I_m) : (entry labels i = Zpos 1) \/ (entry labels i = Zneg 1).
Proof.
have /andP[_ /(all_nthP Z0)/(_ i)] := fit; rewrite size_labels => /(_ (ltn_ord i)) /orP[] /Z.eqb_eq h; [by left|by right].
Qed.
Lemma classification_at i : vector_at M i = y i *: x i.
Proof.
rewrite /vector_at classification_nth /y /row_vector /=; case: (sign_cases i) => -> /=; rewrite point_outside at_place_in.
  by rewrite subr0 scale1r.
by rewrite sub0r scaleN1r.
Qed.
Lemma classification_sign i : sign_at M i = if bias then y i else 0.
Proof. by rewrite /sign_at classification_nth /y; case: (sign_cases i) => -> /=; case: bias. Qed.
Lemma classification_target (i : 'I_m) : target_at M i = 1.
Proof. by rewrite /target_at classification_nth; case: (sign_cases i) => -> /=; rewrite zr1 divr1. Qed.

Lemma classification_margin w b i : ip w (vector_at M i) - sign_at M i * b =
  y i * (ip w (x i) - (if bias then b else 0)).
Proof. by rewrite classification_at classification_sign ip_scaler; case: bias; rewrite ?mul0r ?subr0 // mulrBr. Qed.

Lemma classification_in_rows : plain_rows (Classification labels bias) m -> classification_claim ip x C I labels bias l.
Proof.
have E := classification_margin; rewrite /plain_rows /plain_claim /classification_claim /= -/y.
have slack w b xi : hinge_primal_feas ip (@vector_at M m) (@sign_at M m) (@target_at M m)
    (w, b, xi) <-> forall i, 0 <= xi i /\ 1 - xi i <= y i * (ip w (x i) - (if bias then b else 0)).
  by split=> h i; have := h i; rewrite /= E classification_target.
have met w b : hard_primal_feas ip (@vector_at M m) (@sign_at M m) (@target_at M m)
    (w, b) <-> forall i, 1 <= y i * (ip w (x i) - (if bias then b else 0)).
  by split=> h i; have := h i; rewrite /= E classification_target.
have sum (xi : 'I_m -> R) : \sum_i frac C * xi i = frac C * (\sum_i xi i) by rewrite mulr_sumr.
case: bias slack met; case: l => slack met.
- apply: (in_interval_rewritten (f := id) (h := id)) => -[[w b] xi]; first [by move/slack | by move=> h; apply/slack | idtac];
    by rewrite /hinge_primal_obj /= sum.
- by apply: (in_interval_rewritten (f := id) (h := id)) => -[[w b] xi]; first [by move/slack | by move=> h; apply/slack | idtac].
- by apply: (in_interval_rewritten (f := id) (h := id)) => -[w b]; first [by move/met | by move=> h; apply/met | idtac].
- apply: (in_interval_rewritten (f := fun t => (t.1.1, t.2)) (h := fun t => (t.1, 0, t.2))) => [[[w b] xi] /slack h|[[w b] xi]|[w xi] h|[w xi]].
  + by move=> i; have := h i; rewrite subr0.
  + by rewrite /hinge_primal_obj /= sum.
  + by apply/slack => i; rewrite subr0; exact: h.
  + by rewrite /hinge_primal_obj /= sum.
- apply: (in_interval_rewritten (f := fun t => (t.1.1, t.2)) (h := fun t => (t.1, 0, t.2))) => [[[w b] xi] /slack h|[[w b] xi]|[w xi] h|[w xi]] //.
  + by move=> i; have := h i; rewrite subr0.
  + by apply/slack => i; rewrite subr0; exact: h.
- apply: (in_interval_rewritten (f := fst) (h := fun w => (w, 0))) => [[w b] /met h|[w b]|w h|w] //.
  + by move=> i; have := h i; rewrite subr0.
  + by apply/met => i; rewrite subr0; exact: h.
Qed.
End Classification.

Section Regression.
Variables (targets : seq Z) (epsilon : Z) (u : positive).
Hypothesis fit : size targets == m.
Local Notation M := (in_rows (Regression targets epsilon u)).
Let y (i : 'I_m) : R := over targets u i.
Let eps : R := frac (Fraction epsilon u).
Let zipped : size (zip (iota 0 m) targets) = m.
Proof. by rewrite size_zip size_iota (eqP fit) minnn. Qed.
Let zip_at (i : 'I_m) : nth (0%N, Z0) (zip (iota 0 m) targets) i = (nat_of_ord i, entry targets i).
Proof. by rewrite nth_zip ?size_iota ?(eqP fit) // nth_iota. Qed.
Lemma regression_size : size (rows M) = (m + m)%N.
Proof. by rewrite /= size_cat !size_map zipped. Qed.
Lemma regression_above (i : 'I_m) : nth no_row (rows M) (lshift m i) = Row i m 1 (Z.sub (entry targets i) epsilon).
Proof. by rewrite /= nth_cat size_map zipped ltn_ord (nth_map (0%N, Z0)) ?zipped // zip_at. Qed.
Lemma regression_below (i : 'I_m) : nth no_row (rows M) (rshift m i) =
  Row m i (-1) (Z.sub (Z.opp (entry targets i)) epsilon).
Proof.
by rewrite /= nth_cat size_map zipped -ltn_subRL subnn ltn0 addKn (nth_map (0%N, Z0)) ?zipped // zip_at.
Qed.
Local Notation margin w b k := (ip w (vector_at M k) - sign_at M k * b).
Local Notation target k := (target_at M k).
Lemma above_at w b (e : R) (i : 'I_m) :
  (target (lshift m i) - e <= margin w b (lshift m i)) = (y i - ip w (x i) - - b <= eps + e).
Proof.
rewrite /vector_at /sign_at /target_at regression_above /row_vector /= point_outside at_place_in subr0 zrB mulrBl zr1 mul1r.
rewrite -subr_ge0 -[RHS]subr_ge0; congr (0 <= _).
by rewrite /y /eps /frac /over /=; move: (ip _ _) => q; ring.
Qed.
Lemma below_at w b (e : R) (i : 'I_m) :
  (target (rshift m i) - e <= margin w b (rshift m i)) = (ip w (x i) + - b - y i <= eps + e).
Proof.
rewrite /vector_at /sign_at /target_at regression_below /row_vector /= point_outside at_place_in sub0r zrB zrN mulrBl mulNr.
rewrite ipNr -[zr (Zneg 1)]/(zr (Z.opp 1)) zrN zr1 -subr_ge0 -[RHS]subr_ge0.
by congr (0 <= _); rewrite /y /eps /frac /over /=; move: (ip _ _) => q; ring.
Qed.

Let above (f : 'I_(m + m) -> R) i := f (lshift m i).
Let below (f : 'I_(m + m) -> R) i := f (rshift m i).
Let both (f g : 'I_m -> R) k := match split k with inl i => f i | inr i => g i end.
Lemma both_above f g i : both f g (lshift m i) = f i.
Proof. by rewrite /both; case: split_ordP => j => [/lshift_inj->|/eqP]; rewrite ?eq_lrshift. Qed.
Lemma both_below f g i : both f g (rshift m i) = g i.
Proof. by rewrite /both; case: split_ordP => j => [/eqP|/rshift_inj->]; rewrite ?eq_rlshift. Qed.
Lemma regression_in_rows : plain_rows (Regression targets epsilon u) (m + m) -> regression_claim ip x C I targets epsilon u l.
Proof.
rewrite /plain_rows /plain_claim /regression_claim /= -/y -/eps.
have slack w b xi : hinge_primal_feas ip (@vector_at M (m + m)) (@sign_at M (m + m)) (@target_at M (m + m))
    (w, b, xi) <-> svr_l1_primal_feas ip x y eps (w, - b, above xi, below xi).
  split=> [h i|h k].
    by have [h1] := h (lshift m i); have [h2] := h (rshift m i); rewrite /= above_at below_at.
  by case: (split_ordP k) => i ->; have [h1 h2 h3 h4] := h i; split=> //; rewrite /= ?above_at ?below_at.
have met w b : hard_primal_feas ip (@vector_at M (m + m)) (@sign_at M (m + m)) (@target_at M (m + m)) (w, b)
    <-> svr_hard_primal_feas ip x y eps (w, - b).
  have A b' i := above_at w b' 0 i; have B b' i := below_at w b' 0 i.
  split=> [h i|h k]; first by have := h (lshift m i); have := h (rshift m i); move: (A b i) (B b i); rewrite !subr0 !addr0 => -> ->.
  by case: (split_ordP k) => i ->; have [h1 h2] := h i; [have := A b i|have := B b i]; rewrite subr0 addr0 ?h1 ?h2 => ->.
have sum (g : 'I_(m + m) -> R) : \sum_k g k = \sum_i (above g i + below g i) by rewrite big_split_ord -big_split.
have backwards w b xi xh : svr_l1_primal_feas ip x y eps (w, b, xi, xh) ->
    svr_l1_primal_feas ip x y eps (w, - - b, above (both xi xh), below (both xi xh)).
  by move=> h i; have := h i; rewrite !opprK /above /below both_above both_below.
have sums (xi xh : 'I_m -> R) (k : R -> R) : \sum_i (above (k \o both xi xh) i + below (k \o both xi xh) i) = \sum_i (k (xi i) + k (xh i)).
  by apply: eq_bigr => i _; rewrite /above /below /= both_above both_below.
case: l.
- apply: (in_interval_rewritten (f := fun t => (t.1.1, - t.1.2, above t.2, below t.2))
    (h := fun t => (t.1.1.1, - t.1.1.2, both t.1.2 t.2))) => [[[w b] xi] /slack|[[w b] xi]|[[[w b] xi] xh] h|[[[w b] xi] xh]] //.
  + by rewrite /hinge_primal_obj /= -mulr_sumr -sum.
  + by apply/slack; exact: backwards.
  + by rewrite /hinge_primal_obj /= -mulr_sumr sum (sums _ _ id).
- apply: (in_interval_rewritten (f := fun t => (t.1.1, - t.1.2, above t.2, below t.2))
    (h := fun t => (t.1.1.1, - t.1.1.2, both t.1.2 t.2))) => [[[w b] xi] /slack|[[w b] xi]|[[[w b] xi] xh] h|[[[w b] xi] xh]] //.
  + by rewrite /squared_primal_obj /= sum.
  + by apply/slack; exact: backwards.
  + by rewrite /squared_primal_obj /= sum (sums _ _ (fun e => e ^+ 2)).
- apply: (in_interval_rewritten (f := fun t => (t.1, - t.2)) (h := fun t => (t.1, - t.2))) => [[w b] /met|[w b]|[w b] h|[w b]] //.
  by apply/met; rewrite opprK.
Qed.
End Regression.

Section Ranking.
Variable pairs : seq (nat * nat).
Hypothesis fit : all (fun p => (p.1 < m)%N && (p.2 < m)%N) pairs.
Local Notation M := (in_rows (Ranking pairs)).
Let psi (i : 'I_m.-1.+1) := phi i.
Let hi (p : 'I_(size pairs)) : 'I_m.-1.+1 := inord (nth (0, 0)%N pairs p).1.
Let lo (p : 'I_(size pairs)) : 'I_m.-1.+1 := inord (nth (0, 0)%N pairs p).2.
Lemma ranking_size : size (rows M) = size pairs. Proof. exact: size_map. Qed.
Lemma ranking_nth (p : 'I_(size pairs)) : nth no_row (rows M) p =
  Row (nth (0, 0)%N pairs p).1 (nth (0, 0)%N pairs p).2 Z0 1.
Proof. by rewrite /= (nth_map (0, 0)%N). Qed.
Lemma ranking_at p : vector_at M p = psi (hi p) - psi (lo p).
Proof.
have /(all_nthP (0, 0)%N)/(_ p (ltn_ord p))/andP[h1 h2] := fit; rewrite /vector_at ranking_nth /row_vector /psi /hi /lo /= !inordK //.
- by case: m h2.
- by case: m h1.
Qed.
Lemma ranking_margin w b p : ip w (vector_at M p) - sign_at M p * b = ip w (psi (hi p) - psi (lo p)).
Proof. by rewrite ranking_at /sign_at ranking_nth zr0 mul0r subr0. Qed.
Lemma ranking_target (p : 'I_(size pairs)) : target_at M p = 1.
Proof. by rewrite /target_at ranking_nth /= zr1 divr1. Qed.
Lemma ranking_in_rows : plain_rows (Ranking pairs) (size pairs) -> ranking_claim ip x C I pairs l.
Proof.
rewrite /plain_rows /plain_claim /ranking_claim /= -/psi -/hi -/lo.
case: l ranking_margin ranking_target => margin goal.
- apply: (in_interval_rewritten (f := fun t => (t.1.1, t.2)) (h := fun t => (t.1, 0, t.2))) => [[[w b] xi] h|[[w b] xi]|[w xi] h|[w xi]].
  + by move=> p; have := h p; rewrite /= margin goal.
  + by rewrite /hinge_primal_obj /= mulr_sumr.
  + by move=> p; have := h p; rewrite /= margin goal.
  + by rewrite /hinge_primal_obj /= mulr_sumr.
- apply: (in_interval_rewritten (f := fun t => (t.1.1, t.2)) (h := fun t => (t.1, 0, t.2))) => [[[w b] xi] h|[[w b] xi]|[w xi] h|[w xi]] //.
  + by move=> p; have := h p; rewrite /= margin goal.
  + by move=> p; have := h p; rewrite /= margin goal.
- apply: (in_interval_rewritten (f := fst) (h := fun w => (w, 0))) => [[w b] h|[w b]|w h|w] //.
  + by move=> p; have := h p; rewrite /= margin goal.
  + by move=> p; have := h p; rewrite /= margin goal.
Qed.
End Ranking.

End Transfer.

Theorem rows_sound (R : realFieldType) (V : lmodType R) (ip : semi_inner V) m (x : 'I_m -> V) C I t l weights : labels_fit t m ->
  rows_claim ip x I (in_rows t m l C weights) -> claim ip x C I t l weights.
Proof.
rewrite /claim; case: weights => [//|] fit; case: t fit => [y bias|y e u|pairs] fit h.
- exact: (classification_in_rows fit (uniform (classification_size C l bias fit) h)).
- exact: (regression_in_rows fit (uniform (regression_size C l e u fit) h)).
- exact: (ranking_in_rows fit (uniform (ranking_size m C l pairs) h)).
Qed.
Theorem problem_sound P s exact I : problem_check P s exact I -> forall R, holds_of R P I.
Proof.
case/andP=> [/and5P[sfit inner fit C0 rfit] /and3P[ffit low up]] R; apply: space_sound => // V ip x [functions lengths].
apply: rows_sound => //; set M := in_rows _ _ _ _ _ in functions lengths ffit low up *.
apply: (margin_sound (m := count_of P) rfit _ _ _ low up) => //.
- by move=> i; exact: at_place_out.
- move=> D eD; have e : pull (count_of P) (multipliers D) (rows M) = pulled_by (count_of P) (rows M) (multiplier_side s) by rewrite eD.
  rewrite /= e; apply: lengths; first by case: function_side => [[[f u] b]|]; exact: mem_head.
  by rewrite -e size_pull.
- rewrite /primal_of; move: functions ffit; rewrite /functions_fit; case: function_side => [[[w u] b]|] //= functions /eqP e f b' [<- _].
  by apply: functions; rewrite // !inE eqxx orbT.
Qed.
