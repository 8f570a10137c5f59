(** * The families: what their problems are, and that the checker of rows decides about them

    [optimum] says what the optimum of a problem is, by the formulations that are printed in the documents and stated in [svm], [svr] and
    [ranksvm]; [rows_of] writes the problem in rows, and [problem_sound] says that what [problem_check] accepts holds that optimum:
    [classification_in_rows], [regression_in_rows] and [ranking_in_rows] are the step from rows to the families of a task. *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring ssrZ.
From equimargin Require Import inner optimum qp margin svm svr ranksvm.
From equimargin.checker Require Import integers rows.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

(** Classification has labels -1 and 1, and a free bias or none; regression has targets and half the width of its tube, over one unit;
    ranking has pairs of points, the preferred one first. *)
Inductive task :=
  | Classification of seq Z & bool
  | Regression of seq Z & Z & positive
  | Ranking of seq (nat * nat).
Record problem := Problem { task_of : task; points_of : cloud; loss_of : loss; cost_of : fraction }.

(** ** What is computed *)
Definition classification_row m (bias : bool) (p : nat * Z) :=
  let: (i, y) := p in let s := if bias then y else Z0 in if Z.ltb Z0 y then Row i m s 1 else Row m i s 1.
Definition rows_of (P : problem) : seq row * positive := let m := size (points (points_of P)) in
  match task_of P with
  | Classification y bias => ([seq classification_row m bias p | p <- zip (iota 0 m) y], xH)
  | Regression y eps u => ([seq Row p.1 m 1 (Z.sub p.2 eps) | p <- zip (iota 0 m) y] ++
      [seq Row m p.1 (-1) (Z.sub (Z.opp p.2) eps) | p <- zip (iota 0 m) y], u)
  | Ranking pairs => ([seq Row p.1 p.2 Z0 1 | p <- pairs], xH)
  end.
Definition in_rows (P : problem) := let: (s, u) := rows_of P in MarginProblem (points_of P) s u (loss_of P) (cost_of P).

Definition is_sign y := Z.eqb y 1 || Z.eqb y (-1).
Definition labels_fit (P : problem) := let m := size (points (points_of P)) in
  match task_of P with
  | Classification y _ => (size y == m) && all is_sign y
  | Regression y _ _ => size y == m
  | Ranking pairs => all (fun p => (p.1 < m)%N && (p.2 < m)%N) pairs
  end.
Definition problem_check P S I := labels_fit P && margin_check (in_rows P) S I.

(** ** What it means *)
Local Open Scope ring_scope.
Section Optimum.
Variables (R : realFieldType) (X : cloud) (C : fraction).
Local Notation m := (size (points X)).
Local Notation ip := (dot_ip R (dimension X)).
Local Notation cost := (@frac R C).
Definition x (i : 'I_m) := at_point R X i.

Definition classification_optimum (labels : seq Z) (bias : bool) (l : loss) (v : R) :=
  let y := fun i : 'I_m => zr (entry labels i) in
  match bias, l with
  | true, Hinge => minimum (svm_soft_primal_feas ip x y) (svm_soft_primal_obj ip cost) v
  | true, Squared => minimum (svm_l2_primal_feas ip x y) (svm_l2_primal_obj ip cost) v
  | true, Hard => minimum (svm_hard_primal_feas ip x y) (svm_hard_primal_obj ip) v
  | false, Hinge => minimum (svm_nobias_primal_feas ip x y) (svm_nobias_primal_obj ip cost) v
  | false, Squared => minimum (svm_nobias_l2_primal_feas ip x y) (svm_nobias_l2_primal_obj ip cost) v
  | false, Hard => minimum (svm_nobias_hard_primal_feas ip x y) (svm_nobias_hard_primal_obj ip) v
  end.
Definition regression_optimum (targets : seq Z) (epsilon : Z) (u : positive) (l : loss) (v : R) :=
  let y := fun i : 'I_m => over targets u i in let eps := frac (Fraction epsilon u) in
  match l with
  | Hinge => minimum (svr_l1_primal_feas ip x y eps) (svr_l1_primal_obj ip cost) v
  | Squared => minimum (svr_l2_primal_feas ip x y eps) (svr_l2_primal_obj ip cost) v
  | Hard => minimum (svr_hard_primal_feas ip x y eps) (svr_hard_primal_obj ip) v
  end.
(** [inord] makes of a number below m the index that it is. *)
Definition ranking_optimum (pairs : seq (nat * nat)) (l : loss) (v : R) :=
  let phi := fun i : 'I_m.-1.+1 => at_point R X i in
  let hi := fun p : 'I_(size pairs) => inord (nth (0, 0)%N pairs p).1 in
  let lo := fun p : 'I_(size pairs) => inord (nth (0, 0)%N pairs p).2 in
  match l with
  | Hinge => minimum (rank_l1_primal_feas ip phi hi lo) (rank_l1_primal_obj ip cost) v
  | Squared => minimum (rank_l2_primal_feas ip phi hi lo) (rank_l2_primal_obj ip cost) v
  | Hard => minimum (rank_hard_primal_feas ip phi hi lo) (rank_hard_primal_obj ip) v
  end.
End Optimum.
Definition optimum (R : realFieldType) (P : problem) : R -> Prop := let X := points_of P in let C := cost_of P in
  match task_of P with
  | Classification y bias => classification_optimum X C y bias (loss_of P)
  | Regression y eps u => regression_optimum X C y eps u (loss_of P)
  | Ranking pairs => ranking_optimum X C pairs (loss_of P)
  end.

(** ** From rows to families *)
Section Transfer.
Variable R : realFieldType.
(** One problem in two alphabets. *)
Lemma minimum_rewritten T T' (F : T -> Prop) (p : T -> R) (F' : T' -> Prop) (p' : T' -> R) f h v :
  (forall t, F t -> F' (f t)) -> (forall t, p' (f t) = p t) -> (forall t, F' t -> F (h t)) -> (forall t, p (h t) = p' t) ->
  minimum F p v -> minimum F' p' v.
Proof.
move=> Ff pf Fh ph; apply: minimum_transfer => t Ft; first by exists (f t); [exact: Ff|rewrite pf].
by exists (h t); [exact: Fh|rewrite ph].
Qed.
Lemma point_outside (X : cloud) : at_point R X (size (points X)) = 0.
Proof. by rewrite /at_point /point nth_default // vec_nil. Qed.

Section Classification.
Variables (X : cloud) (C : fraction) (labels : seq Z) (bias : bool) (l : loss).
Local Notation m := (size (points X)).
Hypothesis fit : (size labels == m) && all is_sign labels.
Let P := Problem (Classification labels bias) X l C.
Let y (i : 'I_m) : R := zr (entry labels i).
Let size_labels : size labels = m. Proof. by have /andP[/eqP] := fit. Qed.
Lemma classification_size : size (rows (in_rows P)) = m.
Proof. by rewrite /= size_map size_zip size_iota size_labels minnn. Qed.
Lemma classification_nth (i : 'I_m) : nth no_row (rows (in_rows P)) i = classification_row m bias (nat_of_ord i, entry labels i).
Proof.
rewrite /= (nth_map (0%N, Z0)) ?size_zip ?size_iota ?size_labels ?minnn //.
by rewrite nth_zip ?size_iota ?size_labels // nth_iota.
Qed.
Lemma sign_cases (i : 'I_m) : (entry labels i = Zpos 1) \/ (entry labels i = Zneg 1).
Proof.
have /andP[_ /(all_nthP Z0)/(_ i)] := fit; rewrite size_labels => /(_ (ltn_ord i)) /orP[] /Z.eqb_eq h; [by left|by right].
Qed.
Lemma classification_at i : row_at R (in_rows P) i = y i *: x R i.
Proof.
rewrite /row_at classification_nth /y /row_vector /=; case: (sign_cases i) => -> /=; rewrite point_outside.
  by rewrite subr0 scale1r.
by rewrite sub0r scaleN1r.
Qed.
Lemma classification_sign i : row_sign R (in_rows P) i = if bias then y i else 0.
Proof. by rewrite /row_sign classification_nth /y; case: (sign_cases i) => -> /=; case: bias. Qed.
Lemma classification_target (i : 'I_m) : row_target R (in_rows P) i = 1.
Proof. by rewrite /row_target classification_nth; case: (sign_cases i) => -> /=; rewrite zr1 divr1. Qed.

Lemma classification_margin w b i : dot_ip R _ w (row_at R (in_rows P) i) - row_sign R (in_rows P) i * b =
  y i * (dot_ip R _ w (x R i) - (if bias then b else 0)).
Proof. by rewrite classification_at classification_sign ip_scaler; case: bias; rewrite ?mul0r ?subr0 // mulrBr. Qed.

Lemma classification_in_rows v : @margin_optimum R (in_rows P) m v -> @optimum R P v.
Proof.
have E := classification_margin; rewrite /margin_optimum /optimum /classification_optimum /= -/y.
have slack w b xi : hinge_primal_feas (dot_ip R _) (@row_at R (in_rows P) m) (@row_sign R (in_rows P) m) (@row_target R (in_rows P) m)
    (w, b, xi) <-> forall i, 0 <= xi i /\ 1 - xi i <= y i * (dot_ip R _ w (x R i) - (if bias then b else 0)).
  by split=> h i; have := h i; rewrite /= E classification_target.
have met w b : hard_primal_feas (dot_ip R _) (@row_at R (in_rows P) m) (@row_sign R (in_rows P) m) (@row_target R (in_rows P) m)
    (w, b) <-> forall i, 1 <= y i * (dot_ip R _ w (x R i) - (if bias then b else 0)).
  by split=> h i; have := h i; rewrite /= E classification_target.
have sum (xi : 'I_m -> R) : \sum_i frac C * xi i = frac C * (\sum_i xi i) by rewrite mulr_sumr.
case: bias slack met; case: l => slack met.
- apply: (minimum_rewritten (f := id) (h := id)) => -[[w b] xi]; first [by move/slack | by move=> h; apply/slack | idtac];
    by rewrite /hinge_primal_obj /= sum.
- by apply: (minimum_rewritten (f := id) (h := id)) => -[[w b] xi]; first [by move/slack | by move=> h; apply/slack | idtac].
- by apply: (minimum_rewritten (f := id) (h := id)) => -[w b]; first [by move/met | by move=> h; apply/met | idtac].
- apply: (minimum_rewritten (f := fun t => (t.1.1, t.2)) (h := fun t => (t.1, 0, t.2))) => [[[w b] xi] /slack h|[[w b] xi]|[w xi] h|[w xi]].
  + by move=> i; have := h i; rewrite subr0.
  + by rewrite /hinge_primal_obj /= sum.
  + by apply/slack => i; rewrite subr0; exact: h.
  + by rewrite /hinge_primal_obj /= sum.
- apply: (minimum_rewritten (f := fun t => (t.1.1, t.2)) (h := fun t => (t.1, 0, t.2))) => [[[w b] xi] /slack h|[[w b] xi]|[w xi] h|[w xi]] //.
  + by move=> i; have := h i; rewrite subr0.
  + by apply/slack => i; rewrite subr0; exact: h.
- apply: (minimum_rewritten (f := fst) (h := fun w => (w, 0))) => [[w b] /met h|[w b]|w h|w] //.
  + by move=> i; have := h i; rewrite subr0.
  + by apply/met => i; rewrite subr0; exact: h.
Qed.
End Classification.

Section Regression.
Variables (X : cloud) (C : fraction) (targets : seq Z) (epsilon : Z) (u : positive) (l : loss).
Local Notation m := (size (points X)).
Hypothesis fit : size targets == m.
Let P := Problem (Regression targets epsilon u) X l C.
Let y (i : 'I_m) : R := over targets u i.
Let eps : R := frac (Fraction epsilon u).
Local Notation ip := (dot_ip R _).
Let zipped : size (zip (iota 0 m) targets) = m.
Proof. by rewrite size_zip size_iota (eqP fit) minnn. Qed.
Let zip_at (i : 'I_m) : nth (0%N, Z0) (zip (iota 0 m) targets) i = (nat_of_ord i, entry targets i).
Proof. by rewrite nth_zip ?size_iota ?(eqP fit) // nth_iota. Qed.
Lemma regression_size : size (rows (in_rows P)) = (m + m)%N.
Proof. by rewrite /= size_cat !size_map zipped. Qed.
Lemma regression_above (i : 'I_m) : nth no_row (rows (in_rows P)) (lshift m i) = Row i m 1 (Z.sub (entry targets i) epsilon).
Proof. by rewrite /= nth_cat size_map zipped ltn_ord (nth_map (0%N, Z0)) ?zipped // zip_at. Qed.
Lemma regression_below (i : 'I_m) : nth no_row (rows (in_rows P)) (rshift m i) =
  Row m i (-1) (Z.sub (Z.opp (entry targets i)) epsilon).
Proof.
by rewrite /= nth_cat size_map zipped -ltn_subRL subnn ltn0 addKn (nth_map (0%N, Z0)) ?zipped // zip_at.
Qed.
Local Notation margin w b k := (ip w (row_at R (in_rows P) k) - row_sign R (in_rows P) k * b).
Local Notation target k := (row_target R (in_rows P) k).
Lemma above_at w b (e : R) (i : 'I_m) :
  (target (lshift m i) - e <= margin w b (lshift m i)) = (y i - ip w (x R i) - - b <= eps + e).
Proof.
rewrite /row_at /row_sign /row_target regression_above /row_vector /= point_outside subr0 zrB mulrBl zr1 mul1r.
rewrite -/(x R i) -subr_ge0 -[RHS]subr_ge0; congr (0 <= _).
by rewrite /y /eps /frac /over /=; move: (dot _ _) => q; ring.
Qed.
Lemma below_at w b (e : R) (i : 'I_m) :
  (target (rshift m i) - e <= margin w b (rshift m i)) = (ip w (x R i) + - b - y i <= eps + e).
Proof.
rewrite /row_at /row_sign /row_target regression_below /row_vector /= point_outside sub0r zrB zrN mulrBl mulNr.
rewrite -[dot _ _]/(ip _ _) ipNr -[zr (Zneg 1)]/(zr (Z.opp 1)) zrN zr1 -/(x R i) -subr_ge0 -[RHS]subr_ge0.
by congr (0 <= _); rewrite /y /eps /frac /over /=; move: (dot _ _) => q; ring.
Qed.

Let above (f : 'I_(m + m) -> R) i := f (lshift m i).
Let below (f : 'I_(m + m) -> R) i := f (rshift m i).
Let both (f g : 'I_m -> R) k := match split k with inl i => f i | inr i => g i end.
Lemma both_above f g i : both f g (lshift m i) = f i.
Proof. by rewrite /both; case: split_ordP => j => [/lshift_inj->|/eqP]; rewrite ?eq_lrshift. Qed.
Lemma both_below f g i : both f g (rshift m i) = g i.
Proof. by rewrite /both; case: split_ordP => j => [/eqP|/rshift_inj->]; rewrite ?eq_rlshift. Qed.
Lemma regression_in_rows v : @margin_optimum R (in_rows P) (m + m) v -> @optimum R P v.
Proof.
rewrite /margin_optimum /optimum /regression_optimum /= -/y -/eps.
have slack w b xi : hinge_primal_feas ip (@row_at R (in_rows P) (m + m)) (@row_sign R (in_rows P) _) (@row_target R (in_rows P) _)
    (w, b, xi) <-> svr_l1_primal_feas ip (@x R X) y eps (w, - b, above xi, below xi).
  split=> [h i|h k].
    by have [h1] := h (lshift m i); have [h2] := h (rshift m i); rewrite /= above_at below_at.
  by case: (split_ordP k) => i ->; have [h1 h2 h3 h4] := h i; split=> //; rewrite /= ?above_at ?below_at.
have met w b : hard_primal_feas ip (@row_at R (in_rows P) (m + m)) (@row_sign R (in_rows P) _) (@row_target R (in_rows P) _) (w, b)
    <-> svr_hard_primal_feas ip (@x R X) y eps (w, - b).
  have A b' i := above_at w b' 0 i; have B b' i := below_at w b' 0 i.
  split=> [h i|h k]; first by have := h (lshift m i); have := h (rshift m i); move: (A b i) (B b i); rewrite !subr0 !addr0 => -> ->.
  by case: (split_ordP k) => i ->; have [h1 h2] := h i; [have := A b i|have := B b i]; rewrite subr0 addr0 ?h1 ?h2 => ->.
have sum (g : 'I_(m + m) -> R) : \sum_k g k = \sum_i (above g i + below g i) by rewrite big_split_ord -big_split.
have backwards w b xi xh : svr_l1_primal_feas ip (@x R X) y eps (w, b, xi, xh) ->
    svr_l1_primal_feas ip (@x R X) y eps (w, - - b, above (both xi xh), below (both xi xh)).
  by move=> h i; have := h i; rewrite !opprK /above /below both_above both_below.
have sums (xi xh : 'I_m -> R) (k : R -> R) : \sum_i (above (k \o both xi xh) i + below (k \o both xi xh) i) = \sum_i (k (xi i) + k (xh i)).
  by apply: eq_bigr => i _; rewrite /above /below /= both_above both_below.
case: l.
- apply: (minimum_rewritten (f := fun t => (t.1.1, - t.1.2, above t.2, below t.2))
    (h := fun t => (t.1.1.1, - t.1.1.2, both t.1.2 t.2))) => [[[w b] xi] /slack|[[w b] xi]|[[[w b] xi] xh] h|[[[w b] xi] xh]] //.
  + by rewrite /hinge_primal_obj /= -mulr_sumr -sum.
  + by apply/slack; exact: backwards.
  + by rewrite /hinge_primal_obj /= -mulr_sumr sum (sums _ _ id).
- apply: (minimum_rewritten (f := fun t => (t.1.1, - t.1.2, above t.2, below t.2))
    (h := fun t => (t.1.1.1, - t.1.1.2, both t.1.2 t.2))) => [[[w b] xi] /slack|[[w b] xi]|[[[w b] xi] xh] h|[[[w b] xi] xh]] //.
  + by rewrite /squared_primal_obj /= sum.
  + by apply/slack; exact: backwards.
  + by rewrite /squared_primal_obj /= sum (sums _ _ (fun e => e ^+ 2)).
- apply: (minimum_rewritten (f := fun t => (t.1, - t.2)) (h := fun t => (t.1, - t.2))) => [[w b] /met|[w b]|[w b] h|[w b]] //.
  by apply/met; rewrite opprK.
Qed.
End Regression.

Section Ranking.
Variables (X : cloud) (C : fraction) (pairs : seq (nat * nat)) (l : loss).
Local Notation m := (size (points X)).
Hypothesis fit : all (fun p => (p.1 < m)%N && (p.2 < m)%N) pairs.
Let P := Problem (Ranking pairs) X l C.
Local Notation ip := (dot_ip R _).
Let phi (i : 'I_m.-1.+1) := at_point R X i.
Let hi (p : 'I_(size pairs)) : 'I_m.-1.+1 := inord (nth (0, 0)%N pairs p).1.
Let lo (p : 'I_(size pairs)) : 'I_m.-1.+1 := inord (nth (0, 0)%N pairs p).2.
Lemma ranking_size : size (rows (in_rows P)) = size pairs. Proof. exact: size_map. Qed.
Lemma ranking_nth (p : 'I_(size pairs)) : nth no_row (rows (in_rows P)) p =
  Row (nth (0, 0)%N pairs p).1 (nth (0, 0)%N pairs p).2 Z0 1.
Proof. by rewrite /= (nth_map (0, 0)%N). Qed.
Lemma ranking_at p : row_at R (in_rows P) p = phi (hi p) - phi (lo p).
Proof.
have /(all_nthP (0, 0)%N)/(_ p (ltn_ord p))/andP[h1 h2] := fit; rewrite /row_at ranking_nth /row_vector /phi /hi /lo /= !inordK //.
- by case: m h2.
- by case: m h1.
Qed.
Lemma ranking_margin w b p : ip w (row_at R (in_rows P) p) - row_sign R (in_rows P) p * b = ip w (phi (hi p) - phi (lo p)).
Proof. by rewrite ranking_at /row_sign ranking_nth zr0 mul0r subr0. Qed.
Lemma ranking_target (p : 'I_(size pairs)) : row_target R (in_rows P) p = 1.
Proof. by rewrite /row_target ranking_nth /= zr1 divr1. Qed.
Lemma ranking_in_rows v : @margin_optimum R (in_rows P) (size pairs) v -> @optimum R P v.
Proof.
rewrite /margin_optimum /optimum /ranking_optimum /= -/phi -/hi -/lo.
case: l.
- apply: (minimum_rewritten (f := fun t => (t.1.1, t.2)) (h := fun t => (t.1, 0, t.2))) => [[[w b] xi] h|[[w b] xi]|[w xi] h|[w xi]].
  + by move=> p; have := h p; rewrite /= ranking_margin ranking_target.
  + by rewrite /hinge_primal_obj /= mulr_sumr.
  + by move=> p; have := h p; rewrite /= ranking_margin ranking_target.
  + by rewrite /hinge_primal_obj /= mulr_sumr.
- apply: (minimum_rewritten (f := fun t => (t.1.1, t.2)) (h := fun t => (t.1, 0, t.2))) => [[[w b] xi] h|[[w b] xi]|[w xi] h|[w xi]] //.
  + by move=> p; have := h p; rewrite /= ranking_margin ranking_target.
  + by move=> p; have := h p; rewrite /= ranking_margin ranking_target.
- apply: (minimum_rewritten (f := fst) (h := fun w => (w, 0))) => [[w b] h|[w b]|w h|w] //.
  + by move=> p; have := h p; rewrite /= ranking_margin ranking_target.
  + by move=> p; have := h p; rewrite /= ranking_margin ranking_target.
Qed.
End Ranking.

Theorem problem_sound P S I : problem_check P S I -> exists2 v : R, optimum P v & frac (lower I) <= v <= frac (upper I).
Proof.
case: P => [[y bias|y e u|pairs] X l C] /andP[fit h].
- have [v o i] := margin_sound R (classification_size C bias l fit) h.
  by exists v => //; exact: classification_in_rows.
- have [v o i] := margin_sound R (regression_size C e u l fit) h.
  by exists v => //; exact: regression_in_rows.
- have [v o i] := margin_sound R (ranking_size X C pairs l) h.
  by exists v => //; exact: ranking_in_rows.
Qed.
End Transfer.
