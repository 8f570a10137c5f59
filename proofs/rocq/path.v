(** * A certified path: finitely many inequalities prove a gap at every lambda of a range

    The margin problem has the hinge, and the cost om_i / lam of row i with weight om_i. A point of a path is (lam, al, b) with
    0 <= al_i <= om_i and g'al = 0: it denotes the function W(al) / lam, W(al) = sum al_i a_i, the bias b / lam and the multipliers
    al / lam. With its primal value U and its dual value L, for a claimed gap,

    excess     e = lam^2 (U - L) - gap lam^2 L = (1 + gap/2) |W(al)|^2 + sum om_i max(lam r_i - <W(al), a_i> + g_i b, 0) - (1 + gap) lam r'al
    curvature  c = (1 + gap) dlam r'dal - (1 + gap/2) |W(dal)|^2          d: from one point to the next
    piece      e <= 0 at both ends, and c + u + v <= 0 or (c + u + v)^2 <= 4 u v for their excesses u and v

    [excess_between]  on the straight line between two points e <= (1 - x) u + x v + x (1 - x) c
    [piece_sound]     on a piece U <= (1 + gap) L, hence U <= (1 + gap) times the objective of any feasible point
    [path_sound]      so it is on a path, at every lambda from its last point to its first one: format 3 of proofs/certificate.md *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From equimargin Require Import inner optimum qp margin.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Path.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (I : finType) (a : I -> V) (g r om : I -> R) (gap : R).
Implicit Types (lam b x : R) (al : I -> R).

Definition knot : Type := R * (I -> R) * R.
Implicit Types p q : knot.
Definition at_cost lam i := lam^-1 * om i.
Definition loss p i := Num.max 0 (p.1.1 * r i - ip (span a p.1.2) (a i) + g i * p.2).
Definition gain al := \sum_i r i * al i.
Definition excess p := (1 + gap / 2%:R) * ip (span a p.1.2) (span a p.1.2) + \sum_i om i * loss p i
  - (1 + gap) * (p.1.1 * gain p.1.2).
Definition change p q i := q.1.2 i - p.1.2 i.
Definition curvature p q := (1 + gap) * ((q.1.1 - p.1.1) * gain (change p q))
  - (1 + gap / 2%:R) * ip (span a (change p q)) (span a (change p q)).
Definition knot_ok p := [/\ 0 < p.1.1, balanced g p.1.2, forall i, 0 <= p.1.2 i <= om i & excess p <= 0].
Definition piece_ok p q := let rest := curvature p q + excess p + excess q in
  rest <= 0 \/ rest ^+ 2 <= 4%:R * (excess p * excess q).
Definition between x p q : knot :=
  ((1 - x) * p.1.1 + x * q.1.1, fun i => (1 - x) * p.1.2 i + x * q.1.2 i, (1 - x) * p.2 + x * q.2).

(** The function of a point, with its slacks, at the cost of its lambda. *)
Definition function p : V * R * (I -> R) := (p.1.1^-1 *: span a p.1.2, p.1.1^-1 * p.2, fun i => p.1.1^-1 * loss p i).
Definition feasible (t : V * R * (I -> R)) := hinge_primal_feas ip a g r t.
Definition objective lam (t : V * R * (I -> R)) := hinge_primal_obj ip (at_cost lam) t.
(** It is feasible, and within the gap of the objective of every feasible point. *)
Definition near_optimal p := feasible (function p) /\ forall t, feasible t -> objective p.1.1 (function p) <= (1 + gap) * objective p.1.1 t.

Hypothesis gap0 : 0 <= gap.

Lemma span_between x (u v : I -> R) : span a (fun i => (1 - x) * u i + x * v i) = (1 - x) *: span a u + x *: span a v.
Proof.
rewrite /span !scaler_sumr -big_split /=; apply: eq_bigr => i _.
by rewrite !scalerA scalerDl.
Qed.
Lemma span_change p q : span a (change p q) = span a q.1.2 - span a p.1.2.
Proof. by rewrite /span -sumrB; apply: eq_bigr => i _; rewrite scalerBl. Qed.
Lemma gain_between x (u v : I -> R) : gain (fun i => (1 - x) * u i + x * v i) = (1 - x) * gain u + x * gain v.
Proof. by rewrite /gain !mulr_sumr -big_split /=; apply: eq_bigr => i _; rewrite mulrDr mulrCA (mulrCA (r i)). Qed.
Lemma gain_change p q : gain (change p q) = gain q.1.2 - gain p.1.2.
Proof. by rewrite /gain -sumrB; apply: eq_bigr => i _; rewrite mulrBr. Qed.

(** The losses are convex along the line between two points. *)
Lemma loss_between x p q i : 0 <= x <= 1 -> loss (between x p q) i <= (1 - x) * loss p i + x * loss q i.
Proof.
case/andP=> x0 x1; have y0 : 0 <= 1 - x by rewrite subr_ge0.
rewrite /loss /between /= span_between ip_addl !ip_scalel.
set s := p.1.1 * r i - _ + _; set t := q.1.1 * r i - _ + _.
rewrite le_maxl; apply/andP; split; first by rewrite addr_ge0 // mulr_ge0 // le_maxr lexx.
have -> : ((1 - x) * p.1.1 + x * q.1.1) * r i - ((1 - x) * ip (span a p.1.2) (a i) + x * ip (span a q.1.2) (a i))
    + g i * ((1 - x) * p.2 + x * q.2) = (1 - x) * s + x * t by rewrite /s /t; ring.
by rewrite ler_add // ler_wpmul2l // le_maxr lexx orbT.
Qed.

Theorem excess_between x p q : (forall i, 0 <= om i) -> 0 <= x <= 1 ->
  excess (between x p q) <= (1 - x) * excess p + x * excess q + x * (1 - x) * curvature p q.
Proof.
move=> om0 x01; rewrite /excess /curvature span_change gain_change /between /= span_between gain_between.
have le : \sum_i om i * loss (between x p q) i <= (1 - x) * (\sum_i om i * loss p i) + x * (\sum_i om i * loss q i).
  rewrite !mulr_sumr -big_split /=; apply: ler_sum => i _.
  by rewrite (mulrCA (1 - x)) (mulrCA x) -mulrDr ler_wpmul2l // loss_between.
rewrite ipBl !ipBr ip_addl !ip_addr !ip_scalel !ip_scaler (ip_sym _ (span a q.1.2) (span a p.1.2)).
move: le; move: (\sum_i om i * loss (between x p q) i) (\sum_i om i * loss p i) (\sum_i om i * loss q i) => Sx Sp Sq.
set k := gap / 2%:R; rewrite -subr_ge0 => le; rewrite -subr_ge0; apply: le_trans le _; rewrite le_eqVlt.
by apply/orP; left; apply/eqP; ring.
Qed.

(** (1 - x) u + x v + x (1 - x) c is at most 0 on [0, 1] if u and v are and c is small enough. *)
Lemma parabola (u v c x : R) : u <= 0 -> v <= 0 -> c + u + v <= 0 \/ (c + u + v) ^+ 2 <= 4%:R * (u * v) -> 0 <= x <= 1 ->
  (1 - x) * u + x * v + x * (1 - x) * c <= 0.
Proof.
move=> u0 v0 small /andP[x0 x1]; have y0 : 0 <= 1 - x by rewrite subr_ge0.
have -> : (1 - x) * u + x * v + x * (1 - x) * c = x * (1 - x) * (c + u + v) - ((1 - x) ^+ 2 * - u + x ^+ 2 * - v) by ring.
rewrite subr_le0; set s := (1 - x) ^+ 2 * - u; set t := x ^+ 2 * - v.
have s0 : 0 <= s by rewrite mulr_ge0 ?sqr_ge0 // oppr_ge0.
have t0 : 0 <= t by rewrite mulr_ge0 ?sqr_ge0 // oppr_ge0.
have w0 : 0 <= x * (1 - x) by rewrite mulr_ge0.
case: (lerP (c + u + v) 0) => [neg|pos]; first by rewrite (le_trans _ (addr_ge0 s0 t0)) // mulr_ge0_le0.
case: small => [/(lt_le_trans pos)|small]; first by rewrite ltxx.
have st0 : 0 <= s + t by rewrite addr_ge0.
have wc0 : 0 <= x * (1 - x) * (c + u + v) by rewrite mulr_ge0 // ltW.
suff : (x * (1 - x) * (c + u + v)) ^+ 2 <= (s + t) ^+ 2 by rewrite ler_pexpn2r.
have le : (x * (1 - x) * (c + u + v)) ^+ 2 <= 4%:R * (s * t).
  have -> : 4%:R * (s * t) = (x * (1 - x)) ^+ 2 * (4%:R * (u * v)) by rewrite /s /t; ring.
  by rewrite exprMn ler_wpmul2l ?sqr_ge0.
apply: (le_trans le); rewrite -subr_ge0.
have -> : (s + t) ^+ 2 - 4%:R * (s * t) = (s - t) ^+ 2 by ring.
exact: sqr_ge0.
Qed.

Lemma between_ok x p q : knot_ok p -> knot_ok q -> piece_ok p q -> 0 <= x <= 1 -> knot_ok (between x p q).
Proof.
move=> [l1 b1 box1 e1] [l2 b2 box2 e2] small x01; have /andP[x0 x1] := x01; have y0 : 0 <= 1 - x by rewrite subr_ge0.
have om0 i : 0 <= om i by have /andP[h1 h2] := box1 i; exact: le_trans h1 h2.
split.
- rewrite /=; case: (ltrP 0 x) => [xp|xn]; first by rewrite ltr_paddl ?mulr_ge0 ?mulr_gt0 // ltW.
  by have -> : x = 0; [apply/eqP; rewrite eq_le xn x0|rewrite subr0 mul1r mul0r addr0].
- rewrite /balanced /=; have -> : \sum_i g i * ((1 - x) * p.1.2 i + x * q.1.2 i) =
    (1 - x) * (\sum_i g i * p.1.2 i) + x * (\sum_i g i * q.1.2 i).
    by rewrite !mulr_sumr -big_split /=; apply: eq_bigr => i _; ring.
  by move: b1 b2; rewrite /balanced => -> ->; rewrite !mulr0 addr0.
- move=> i /=; have /andP[h1 h2] := box1 i; have /andP[h3 h4] := box2 i; rewrite addr_ge0 ?mulr_ge0 //=.
  have -> : om i = (1 - x) * om i + x * om i by ring.
  by rewrite ler_add // ler_wpmul2l.
- by apply: le_trans (excess_between p q om0 x01) _; exact: parabola.
Qed.

(** A point with excess at most 0 is within the gap of the optimum, by weak duality. *)
Lemma knot_near_optimal p : knot_ok p -> near_optimal p.
Proof.
case: p => [[lam al] b] [/= l0 bal box e0]; have n0 : lam != 0 by rewrite gt_eqF.
have i0 : 0 <= lam^-1 by rewrite invr_ge0 ltW.
have F : feasible (function (lam, al, b)).
  move=> i /=; rewrite mulr_ge0 ?le_maxr ?lexx //=; split=> //.
  rewrite ip_scalel; set s := ip _ _; rewrite ler_subl_addr -subr_ge0 /loss /= -/s.
  have -> : lam^-1 * s - g i * (lam^-1 * b) + lam^-1 * Num.max 0 (lam * r i - s + g i * b) - r i =
    lam^-1 * (Num.max 0 (lam * r i - s + g i * b) - (lam * r i - s + g i * b)) by field.
  by rewrite mulr_ge0 // subr_ge0 le_maxr lexx orbT.
split=> // t Ft; rewrite /objective /=.
have D : hinge_dual_feas g (at_cost lam) (fun i => lam^-1 * al i).
  split=> [|i]; last by have /andP[h1 h2] := box i; rewrite mulr_ge0 // ler_wpmul2l.
  have e : \sum_i g i * (lam^-1 * al i) = lam^-1 * \sum_i g i * al i by rewrite mulr_sumr; apply: eq_bigr => i _; ring.
  by move: bal; rewrite /balanced e => ->; rewrite mulr0.
have weak := weak_duality (hinge_pair ip a g r (at_cost lam)) Ft D.
have g1 : 0 <= 1 + gap by rewrite addr_ge0 ?ler01.
apply: (le_trans _ (ler_wpmul2l g1 weak)) => {weak F D}.
have sp : span a (fun i => lam^-1 * al i) = lam^-1 *: span a al.
  by rewrite /span scaler_sumr; apply: eq_bigr => i _; rewrite scalerA.
rewrite /hinge_primal_obj /dual_value /= sp !ip_scalel !ip_scaler.
have -> : \sum_i r i * (lam^-1 * al i) = lam^-1 * gain al by rewrite /gain mulr_sumr; apply: eq_bigr => i _; ring.
have -> : \sum_i at_cost lam i * (lam^-1 * loss (lam, al, b) i) = lam^-1 * lam^-1 * \sum_i om i * loss (lam, al, b) i.
  by rewrite mulr_sumr; apply: eq_bigr => i _; rewrite /at_cost; ring.
move: e0; rewrite /excess /=; move: (\sum_i _) (ip _ _) (gain al) => S n G e0.
rewrite -subr_ge0.
have -> : (1 + gap) * (lam^-1 * G - 2%:R^-1 * (lam^-1 * (lam^-1 * n))) - (2%:R^-1 * (lam^-1 * (lam^-1 * n)) + lam^-1 * lam^-1 * S) =
  lam^-1 * lam^-1 * - ((1 + gap / 2%:R) * n + S - (1 + gap) * (lam * G)) by field.
by rewrite !mulr_ge0 // oppr_ge0.
Qed.

Theorem piece_sound p q x : knot_ok p -> knot_ok q -> piece_ok p q -> 0 <= x <= 1 -> near_optimal (between x p q).
Proof. by move=> kp kq small x01; apply: knot_near_optimal; exact: between_ok. Qed.

(** In the order of decreasing lambda, all points and all pieces satisfy their conditions. *)
Fixpoint path_ok p (rest : seq knot) : Prop :=
  if rest is q :: rest' then [/\ knot_ok p, q.1.1 < p.1.1, piece_ok p q & path_ok q rest'] else knot_ok p.
(** Point k is on a piece of the path, or at its ends. *)
Fixpoint on_path p (rest : seq knot) (k : knot) : Prop :=
  if rest is q :: rest' then (exists2 x, 0 <= x <= 1 & k = between x p q) \/ on_path q rest' k else k = p.

Theorem path_sound p rest lam : path_ok p rest -> (last p rest).1.1 <= lam <= p.1.1 ->
  exists2 k, on_path p rest k & k.1.1 = lam /\ near_optimal k.
Proof.
elim: rest p => [|q rest IH] p /=.
  move=> ok /andP[h1 h2]; exists p => //; split; last exact: knot_near_optimal.
  by apply/eqP; rewrite eq_le h1 h2.
move=> [kp lt small ok] /andP[low high]; case: (lerP lam q.1.1) => [le|gt].
  by have [|k on K] := IH _ ok; [rewrite low le|exists k => //; right].
have kq : knot_ok q by move: ok; case: (rest) => [|? ?] // [].
have d0 : 0 < p.1.1 - q.1.1 by rewrite subr_gt0.
pose x := (p.1.1 - lam) / (p.1.1 - q.1.1); have x01 : 0 <= x <= 1.
  rewrite /x divr_ge0 ?subr_ge0 ?(ltW lt) //= ler_pdivr_mulr // mul1r ler_add2l ler_oppr opprK; exact: ltW.
exists (between x p q); first by left; exists x.
split; last exact: piece_sound.
by rewrite /between /= /x; field; rewrite gt_eqF.
Qed.
End Path.
