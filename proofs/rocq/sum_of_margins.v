(** * Ordinal regression by the sum of margins

    Between neighbouring levels are intervals [a_t, b_t], and the sum of their widths is maximised. Row p is <w, x_p> <= a_t + xi_p for its interval
    t, or b_t - xi_p <= <w, x_p> for an upper row; order q is b_{lo q} <= a_{hi q}. Any rows and any orders are allowed.

    [scaled_ball], [ball_of_scaled]     a linear objective over the ball |w| <= 1, and with the term 1/2 |w|^2 instead of the ball
    [ord_sum_pair]                      duality of the sum with 1/2 |w|^2: the gap is a sum of nonnegative terms
    [ord_sum_ball]                      v <= 0 is the optimum over |w| <= 1 if and only if - v^2 / 2 is the optimum with 1/2 |w|^2
    [ord_sum_bounded]                   for intervals in a chain, the sum is bounded if and only if C n >= 1 for both outer levels of n points
    [ord_sum_two_levels]                with one interval it is the nu-SVM, scaled *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From equimargin Require Import inner optimum.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Scaled.
Variables (R : realFieldType) (T : Type) (scale : R -> T -> T) (feas : T -> Prop) (q l : T -> R).
Hypothesis scale_feas : forall c z, 0 <= c -> feas z -> feas (scale c z).
Hypothesis q_ge0 : forall z, 0 <= q z.
Hypothesis scale_q : forall c z, q (scale c z) = c ^+ 2 * q z.
Hypothesis scale_l : forall c z, l (scale c z) = c * l z.

Theorem scaled_ball v : v <= 0 -> minimum (fun z => feas z /\ q z <= 1) l v ->
  minimum feas (fun z => 2%:R^-1 * q z + l z) (- (2%:R^-1 * v ^+ 2)).
Proof.
move=> v0 [z [[Fz qz] best] lz].
have q_half : 0 <= 2%:R^-1 :> R by rewrite invr_ge0 ler0n.
have bound y r : feas y -> 0 < r -> q y <= r ^+ 2 -> v * r <= l y.
  move=> Fy r0 qr; have ri : 0 <= r^-1 by rewrite invr_ge0 ltW.
  have qy : q (scale r^-1 y) <= 1 by rewrite scale_q exprVn mulrC ler_pdivr_mulr ?exprn_gt0 // mul1r.
  have := best _ (conj (scale_feas ri Fy) qy).
  by rewrite lz scale_l mulrC ler_pdivl_mulr.
have low y : feas y -> - (2%:R^-1 * v ^+ 2) <= 2%:R^-1 * q y + l y.
  move=> Fy; have [v1|v1] := eqVneq v 0.
    have : 0 <= l y.
      have r0 : 0 < 1 + q y by rewrite ltr_paddr ?q_ge0 ?ltr01.
      have h : q y <= (1 + q y) ^+ 2.
        rewrite -subr_ge0; have -> : (1 + q y) ^+ 2 - q y = 1 + q y + q y ^+ 2 by ring.
        by rewrite !addr_ge0 ?sqr_ge0 ?q_ge0 ?ler01.
      by have := bound _ _ Fy r0 h; rewrite v1 mul0r.
    by move=> l0; rewrite v1 expr0n mulr0 oppr0 addr_ge0 // mulr_ge0 ?q_ge0.
  have vn : v < 0 by rewrite lt_neqAle v1.
  have key : l y < 0 -> (l y / v) ^+ 2 <= q y.
    move=> l0; rewrite leNgt; apply/negP => small.
    have t0 : 0 < l y / v by rewrite nmulr_rgt0 ?invr_lt0.
    set t := l y / v in small t0 *.
    pose r := 2%:R^-1 * (t + q y / t).
    have r0 : 0 < r.
      have e : 0 <= q y / t by rewrite divr_ge0 ?q_ge0 // ltW.
      by rewrite /r pmulr_rgt0 ?invr_gt0 ?ltr0n // ltr_paddr.
    have h : q y <= r ^+ 2.
      rewrite -subr_ge0; have -> : r ^+ 2 - q y = (2%:R^-1 * (t - q y / t)) ^+ 2.
        by rewrite /r; field; rewrite gt_eqF.
      exact: sqr_ge0.
    have rt : r < t.
      rewrite -subr_gt0; have -> : t - r = 2%:R^-1 * (t ^+ 2 - q y) / t by rewrite /r; field; rewrite gt_eqF.
      by rewrite mulr_gt0 ?invr_gt0 // mulr_gt0 ?invr_gt0 ?ltr0n // subr_gt0.
    have := bound _ _ Fy r0 h; rewrite leNgt => /negP; apply.
    have -> : l y = v * t by rewrite /t mulrC divfK.
    by rewrite ltr_nmul2l.
  rewrite -subr_ge0 opprK; have [l0|l0] := lerP 0 (l y).
    by rewrite !addr_ge0 // mulr_ge0 ?q_ge0 ?sqr_ge0.
  have -> : 2%:R^-1 * q y + l y + 2%:R^-1 * v ^+ 2 = 2%:R^-1 * (q y - (l y / v) ^+ 2) + 2%:R^-1 * (l y / v + v) ^+ 2.
    by field.
  by rewrite addr_ge0 // mulr_ge0 ?sqr_ge0 // subr_ge0 key.
have t0 : 0 <= - v by rewrite oppr_ge0.
have up : 2%:R^-1 * q (scale (- v) z) + l (scale (- v) z) <= - (2%:R^-1 * v ^+ 2).
  rewrite scale_q scale_l lz sqrrN -subr_ge0.
  have -> : - (2%:R^-1 * v ^+ 2) - (2%:R^-1 * (v ^+ 2 * q z) + - v * v) = 2%:R^-1 * v ^+ 2 * (1 - q z) by field.
  have e : 0 <= 1 - q z by rewrite subr_ge0.
  by rewrite mulr_ge0 // mulr_ge0 // sqr_ge0.
have same : 2%:R^-1 * q (scale (- v) z) + l (scale (- v) z) = - (2%:R^-1 * v ^+ 2).
  by apply/eqP; rewrite eq_le up low //; exact: scale_feas.
exists (scale (- v) z) => //; split; first exact: scale_feas.
by move=> y Fy; rewrite same low.
Qed.

Theorem ball_of_scaled v : v <= 0 -> (exists2 z, feas z & q z = 0 /\ l z = 0) ->
  minimum feas (fun z => 2%:R^-1 * q z + l z) (- (2%:R^-1 * v ^+ 2)) -> minimum (fun z => feas z /\ q z <= 1) l v.
Proof.
move=> v0 [o Fo [qo lo]] [z [Fz best] vz].
have below y c : feas y -> 0 <= c -> - (2%:R^-1 * v ^+ 2) <= 2%:R^-1 * (c ^+ 2 * q y) + c * l y.
  by move=> Fy c0; have := best _ (scale_feas c0 Fy); rewrite vz scale_q scale_l.
have low y : feas y -> q y <= 1 -> v <= l y.
  move=> Fy q1; have [v1|v1] := eqVneq v 0; last first.
    have vn : v < 0 by rewrite lt_neqAle v1.
    have := below y (- v) Fy; rewrite oppr_ge0 => /(_ v0); rewrite sqrrN -subr_ge0 => h.
    have : 0 <= v * (v - l y).
      have -> : v * (v - l y) = (2%:R^-1 * (v ^+ 2 * q y) + - v * l y - - (2%:R^-1 * v ^+ 2)) + 2%:R^-1 * v ^+ 2 * (1 - q y).
        by field.
      by rewrite addr_ge0 // mulr_ge0 ?subr_ge0 // mulr_ge0 ?sqr_ge0 ?invr_ge0 ?ler0n.
    by rewrite nmulr_rge0 // subr_le0.
  rewrite v1 leNgt; apply/negP => ln.
  have := below y (- l y) Fy; rewrite oppr_ge0 => /(_ (ltW ln)); rewrite v1 expr0n mulr0 oppr0 sqrrN leNgt => /negP; apply.
  have -> : 2%:R^-1 * (l y ^+ 2 * q y) + - l y * l y = - (2%:R^-1 * l y ^+ 2 * (2%:R - q y)) by field.
  rewrite oppr_lt0 pmulr_rgt0 ?subr_gt0; last by rewrite pmulr_rgt0 ?invr_gt0 ?ltr0n // exprn_even_gt0 //= lt_eqF.
  by rewrite (le_lt_trans q1) // ltr1n.
have [v1|v1] := eqVneq v 0.
  exists o; last by rewrite lo v1.
  by split; [rewrite qo ler01|move=> y [Fy q1]; rewrite lo -v1 low].
have vn : v < 0 by rewrite lt_neqAle v1.
have e : l z = - q z.
  (* the derivative of the value along the multiples of z is 0 at z *)
  apply/eqP; rewrite -addr_eq0; apply/negPn/negP => ne.
  pose d := q z + l z; have d0 : d != 0 by rewrite /d addrC.
  have sq c : 0 <= c -> 0 <= (c - 1) * d + 2%:R^-1 * (c - 1) ^+ 2 * q z.
    move=> c0; have := below z c Fz c0; rewrite -vz -subr_ge0 /d.
    by congr (0 <= _); field.
  pose r := 1 + q z; have r0 : 0 < r by rewrite /r ltr_paddr ?q_ge0 ?ltr01.
  pose s := `|d| + r; have s0 : 0 < s by rewrite /s ltr_paddl.
  have small : `|d / s| <= 1.
    by rewrite normrM normfV (gtr0_norm s0) ler_pdivr_mulr // mul1r /s ler_addl ltW.
  have c0 : 0 <= 1 - d / s by rewrite subr_ge0 (le_trans (ler_norm _) small).
  have := sq _ c0; have -> : 1 - d / s - 1 = - (d / s) by rewrite addrAC subrr add0r.
  rewrite leNgt => /negP; apply.
  have -> : - (d / s) * d + 2%:R^-1 * (- (d / s)) ^+ 2 * q z = - (2%:R^-1 * (d / s) ^+ 2 * (2%:R * s - q z)).
    by field; rewrite gt_eqF.
  have ds : d / s != 0 by apply: mulf_neq0 => //; rewrite invr_eq0 gt_eqF.
  rewrite oppr_lt0 pmulr_rgt0 ?subr_gt0 /s /r; last by rewrite pmulr_rgt0 ?invr_gt0 ?ltr0n // exprn_even_gt0 //= ds.
  have -> : 2%:R * (`|d| + (1 + q z)) = q z + (2%:R * `|d| + 2%:R + q z) by ring.
  rewrite ltr_addl; apply: ltr_paddr; first exact: q_ge0.
  by apply: ltr_paddl; rewrite ?ltr0n ?mulr_ge0 ?ler0n ?normr_ge0.
have qv : q z = v ^+ 2.
  move: vz; rewrite e => h; apply/eqP; rewrite -subr_eq0.
  have -> : q z - v ^+ 2 = 2%:R * (- (2%:R^-1 * v ^+ 2) - (2%:R^-1 * q z - q z)) by field.
  by rewrite h subrr mulr0.
have vi : 0 <= - v^-1 by rewrite oppr_ge0 invr_le0.
exists (scale (- v^-1) z); last by rewrite scale_l e qv; field.
split; first by split; [exact: scale_feas|rewrite scale_q qv sqrrN exprVn mulVf ?expf_neq0].
have one : - v^-1 * - v ^+ 2 = v by field.
by move=> y [Fy q1]; rewrite scale_l e qv one low.
Qed.
End Scaled.


Section Rows.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (P T Q : finType).
Variables (x : P -> V) (t : P -> T) (upper : P -> bool) (lo hi : Q -> T) (C : R).
Let point : Type := (V * (T -> R) * (T -> R) * (P -> R))%type.
Let multipliers : Type := ((P -> R) * (T -> R) * (Q -> R))%type.

Definition ord_sum_sign p : R := if upper p then 1 else -1.
Definition ord_sum_end (a b : T -> R) p := if upper p then b (t p) else a (t p).
Definition ord_sum_row (z : point) p := let: (w, a, b, xi) := z in ord_sum_sign p * (ip w (x p) - ord_sum_end a b p) + xi p.
Definition ord_sum_feas (z : point) := let: (w, a, b, xi) := z in
  [/\ forall p, 0 <= ord_sum_row z p, forall p, 0 <= xi p, forall k, a k <= b k & forall q, b (lo q) <= a (hi q)].
Definition ord_sum_widths (z : point) := let: (w, a, b, xi) := z in \sum_k (a k - b k) + C * (\sum_p xi p).
Definition ord_sum_square (z : point) := let: (w, a, b, xi) := z in ip w w.
Definition ord_sum_obj (z : point) := 2%:R^-1 * ord_sum_square z + ord_sum_widths z.
Definition ord_sum_ball_feas (z : point) := ord_sum_feas z /\ ord_sum_square z <= 1.

Definition ord_sum_w (al : P -> R) : V := \sum_p (al p * ord_sum_sign p) *: x p.
Definition ord_sum_dual_feas (m : multipliers) := let: (al, tau, eta) := m in
  [/\ forall p, 0 <= al p <= C, forall k, 0 <= tau k, forall q, 0 <= eta q,
      forall k, \sum_(p | (t p == k) && ~~ upper p) al p = 1 + tau k - \sum_(q | hi q == k) eta q &
      forall k, \sum_(p | (t p == k) && upper p) al p = 1 + tau k - \sum_(q | lo q == k) eta q].
Definition ord_sum_dual_obj (m : multipliers) := let: (al, tau, eta) := m in - (2%:R^-1 * ip (ord_sum_w al) (ord_sum_w al)).
Definition ord_sum_kkt (z : point) (m : multipliers) := let: (w, a, b, xi) := z in let: (al, tau, eta) := m in
  [/\ ord_sum_feas z, ord_sum_dual_feas m, ip (w - ord_sum_w al) (w - ord_sum_w al) = 0,
      (forall p, al p * ord_sum_row z p = 0) /\ (forall p, (C - al p) * xi p = 0) &
      (forall k, tau k * (b k - a k) = 0) /\ forall q, eta q * (a (hi q) - b (lo q)) = 0].

Lemma sum_by_thresholds (F : P -> R) (B : pred P) (c : T -> R) :
  \sum_(p | B p) F p * c (t p) = \sum_k (\sum_(p | (t p == k) && B p) F p) * c k.
Proof.
rewrite (partition_big t xpredT) //=; apply: eq_bigr => k _; rewrite mulr_suml.
by apply: eq_big => [p|p /andP[_ /eqP <-]] //; rewrite andbC.
Qed.
Lemma sum_by_orders (eta : Q -> R) (g : Q -> T) (c : T -> R) : \sum_q eta q * c (g q) = \sum_k (\sum_(q | g q == k) eta q) * c k.
Proof.
rewrite (partition_big g xpredT) //=; apply: eq_bigr => k _; rewrite mulr_suml.
by apply: eq_bigr => q /eqP <-.
Qed.

(** In the Lagrangian at dual feasible multipliers, the ends of the intervals cancel up to their widths. *)
Lemma ends_cancel al tau eta a b : ord_sum_dual_feas (al, tau, eta) -> \sum_p al p * (ord_sum_sign p * ord_sum_end a b p) =
  \sum_k tau k * (b k - a k) + \sum_q eta q * (a (hi q) - b (lo q)) - \sum_k (a k - b k).
Proof.
case=> _ _ _ sa sb; rewrite (bigID upper) /=.
have -> : \sum_(p | upper p) al p * (ord_sum_sign p * ord_sum_end a b p) = \sum_(p | upper p) al p * b (t p).
  by apply: eq_bigr => p u; rewrite /ord_sum_sign /ord_sum_end u mul1r.
have -> : \sum_(p | ~~ upper p) al p * (ord_sum_sign p * ord_sum_end a b p) = - \sum_(p | ~~ upper p) al p * a (t p).
  by rewrite -sumrN; apply: eq_bigr => p /negPf u; rewrite /ord_sum_sign /ord_sum_end u mulN1r mulrN.
rewrite !sum_by_thresholds -sumrB.
have -> : \sum_q eta q * (a (hi q) - b (lo q)) = \sum_q eta q * a (hi q) - \sum_q eta q * b (lo q).
  by rewrite -sumrB; apply: eq_bigr => q _; rewrite mulrBr.
rewrite !sum_by_orders -!sumrB -!big_split -sumrB /=; apply: eq_bigr => k _.
by rewrite sa sb; move: (\sum_(q | hi q == k) _) (\sum_(q | lo q == k) _) => u v; ring.
Qed.

Lemma ord_sum_gap w a b xi al tau eta : ord_sum_dual_feas (al, tau, eta) ->
  ord_sum_obj (w, a, b, xi) - ord_sum_dual_obj (al, tau, eta) =
  2%:R^-1 * ip (w - ord_sum_w al) (w - ord_sum_w al) + \sum_p al p * ord_sum_row (w, a, b, xi) p + \sum_p (C - al p) * xi p +
  \sum_k tau k * (b k - a k) + \sum_q eta q * (a (hi q) - b (lo q)).
Proof.
move=> D; have e := ends_cancel a b D.
have -> : \sum_p al p * ord_sum_row (w, a, b, xi) p =
    ip w (ord_sum_w al) - \sum_p al p * (ord_sum_sign p * ord_sum_end a b p) + \sum_p al p * xi p.
  rewrite ip_sumr -sumrB -big_split /=; apply: eq_bigr => p _; rewrite ip_scaler /ord_sum_row.
  by move: (ip w (x p)) (ord_sum_end a b p) => u v; ring.
have -> : \sum_p (C - al p) * xi p = C * (\sum_p xi p) - \sum_p al p * xi p.
  by rewrite mulr_sumr -sumrB; apply: eq_bigr => p _; rewrite mulrBl.
rewrite e /ord_sum_obj /ord_sum_dual_obj /ord_sum_widths /ord_sum_square !ipBl !ipBr (ip_sym _ (ord_sum_w al) w).
move: (\sum_k tau k * (b k - a k)) (\sum_q eta q * (a (hi q) - b (lo q))) (\sum_k (a k - b k)) => p1 p2 p3.
move: (\sum_p xi p) (\sum_p al p * xi p) => p4 p5.
by move: (ip w w) (ip w _) (ip _ _) => u v s; field.
Qed.

Theorem ord_sum_pair : dual_pair ord_sum_feas ord_sum_obj ord_sum_dual_feas ord_sum_dual_obj ord_sum_kkt.
Proof.
have pos w a b xi al tau eta : ord_sum_feas (w, a, b, xi) -> ord_sum_dual_feas (al, tau, eta) ->
    [/\ 0 <= 2%:R^-1 * ip (w - ord_sum_w al) (w - ord_sum_w al), forall p, 0 <= al p * ord_sum_row (w, a, b, xi) p,
       forall p, 0 <= (C - al p) * xi p, forall k, 0 <= tau k * (b k - a k) & forall q, 0 <= eta q * (a (hi q) - b (lo q))].
  move=> [row xi0 ab ba] [box tau0 eta0 _ _]; split.
  - by rewrite mulr_ge0 ?invr_ge0 ?ler0n ?ip_ge0.
  - by move=> p; have /andP[h _] := box p; rewrite mulr_ge0.
  - by move=> p; have /andP[_ h] := box p; rewrite mulr_ge0 ?subr_ge0.
  - by move=> k; rewrite mulr_ge0 ?subr_ge0.
  - by move=> q; rewrite mulr_ge0 ?subr_ge0.
split.
- move=> [[[w a] b] xi] [[al tau] eta] F D; have [p1 p2 p3 p4 p5] := pos _ _ _ _ _ _ _ F D.
  by rewrite -subr_ge0 ord_sum_gap // !addr_ge0 ?sumr_ge0.
- move=> [[[w a] b] xi] [[al tau] eta] F D /eqP; have [p1 p2 p3 p4 p5] := pos _ _ _ _ _ _ _ F D.
  rewrite -subr_eq0 ord_sum_gap //.
  rewrite paddr_eq0 ?addr_ge0 ?sumr_ge0 // paddr_eq0 ?addr_ge0 ?sumr_ge0 // paddr_eq0 ?addr_ge0 ?sumr_ge0 //.
  rewrite paddr_eq0 ?sumr_ge0 // => /andP[/andP[/andP[/andP[e1 e2] e3] e4] e5].
  have zero (J : finType) (G : J -> R) : (forall j, 0 <= G j) -> \sum_j G j == 0 -> forall j, G j = 0.
    by move=> G0; rewrite psumr_eq0 // => /allP h j; apply/eqP; apply: h (mem_index_enum j).
  split=> //; first by move: e1; rewrite mulf_eq0 invr_eq0 pnatr_eq0 /= => /eqP.
    by split; [exact: zero e2|exact: zero e3].
  by split; [exact: zero e4|exact: zero e5].
- by move=> [[[w a] b] xi] [[al tau] eta] [].
- move=> [[[w a] b] xi] [[al tau] eta] [F D e1 [e2 e3] [e4 e5]]; apply/eqP; rewrite -subr_eq0 ord_sum_gap // e1 mulr0 add0r.
  by rewrite !big1 ?addr0.
Qed.

Let scale c (z : point) : point := let: (w, a, b, xi) := z in (c *: w, fun k => c * a k, fun k => c * b k, fun p => c * xi p).
Let zero : point := (0, fun=> 0, fun=> 0, fun=> 0).
Lemma ord_sum_scaled c z : 0 <= c -> ord_sum_feas z -> ord_sum_feas (scale c z).
Proof.
case: z => [[[w a] b] xi] c0 [row xi0 ab ba]; split=> /=.
- move=> p; have := mulr_ge0 c0 (row p); rewrite /ord_sum_row /ord_sum_end ip_scalel mulrDr mulrCA mulrBr.
  by case: (upper p).
- by move=> p; rewrite mulr_ge0.
- by move=> k; rewrite ler_wpmul2l.
- by move=> q; rewrite ler_wpmul2l.
Qed.
Lemma ord_sum_zero : ord_sum_feas zero /\ ord_sum_square zero = 0 /\ ord_sum_widths zero = 0.
Proof.
split; last by rewrite /= ip0l !big1 ?mulr0 ?addr0 // => k _; rewrite subr0.
by split=> //= p; rewrite /ord_sum_row /ord_sum_end ip0l if_same subrr mulr0 addr0.
Qed.

Theorem ord_sum_ball v : minimum ord_sum_ball_feas ord_sum_widths v <->
  v <= 0 /\ minimum ord_sum_feas ord_sum_obj (- (2%:R^-1 * v ^+ 2)).
Proof.
have sq c z : ord_sum_square (scale c z) = c ^+ 2 * ord_sum_square z.
  by case: z => [[[w a] b] xi] /=; rewrite ip_scalel ip_scaler mulrA.
have li c z : ord_sum_widths (scale c z) = c * ord_sum_widths z.
  case: z => [[[w a] b] xi] /=; rewrite mulrDr !mulr_sumr; congr (_ + _).
    by apply: eq_bigr => k _; rewrite mulrBr.
  by apply: eq_bigr => p _; rewrite mulrCA.
have q0 z : 0 <= ord_sum_square z by case: z => [[[w a] b] xi]; exact: ip_ge0.
have [Fo [qo lo0]] := ord_sum_zero.
split=> [least|[v0 least]].
  have v0 : v <= 0 by have [z [_ best] <-] := least; rewrite -lo0; apply: best; rewrite /ord_sum_ball_feas qo ler01.
  by split=> //; exact: (scaled_ball ord_sum_scaled q0 sq li v0 least).
by apply: (ball_of_scaled ord_sum_scaled q0 sq li v0) => //; exists zero.
Qed.
End Rows.

(** ** Intervals in a chain: the q-th order is between the intervals q and q + 1, which are [lift ord_max q] and [lift ord0 q] *)
Section Chain.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (P : finType) (l : nat).
Variables (x : P -> V) (t : P -> 'I_l.+1) (upper : P -> bool) (C : R).
Let feas := @ord_sum_feas R V ip P [finType of 'I_l.+1] [finType of 'I_l] x t upper (fun q => lift ord_max q) (fun q => lift ord0 q).
Let obj := @ord_sum_obj R V ip P [finType of 'I_l.+1] C.
Definition lowest : pred P := fun p => (t p == ord0) && ~~ upper p.
Definition highest : pred P := fun p => (t p == ord_max) && upper p.

Lemma falls (n v : R) : C * n < 1 -> (forall s, 0 <= s -> v <= - s + C * (n * s)) -> False.
Proof.
rewrite -subr_gt0 => g0 h.
have s0 : 0 <= (`|v| + 1) / (1 - C * n) by apply: divr_ge0; [rewrite addr_ge0 ?normr_ge0 ?ler01|exact: ltW].
have := h _ s0; have -> : - ((`|v| + 1) / (1 - C * n)) + C * (n * ((`|v| + 1) / (1 - C * n))) = - (`|v| + 1).
  by field; rewrite gt_eqF.
have := ler_norm (- v); rewrite normrN ler_oppl => h1 h2.
by have := le_trans h1 h2; rewrite ler_opp2 leNgt ltr_addl ltr01.
Qed.

Theorem ord_sum_bounded : (exists v, forall z, feas z -> v <= obj z) <-> 1 <= C * #|lowest|%:R /\ 1 <= C * #|highest|%:R.
Proof.
have size (B : pred P) s : \sum_p (if B p then s else 0 : R) = #|B|%:R * s by rewrite -big_mkcond sumr_const mulr_natl.
split=> [[v bound]|[c0 c1]].
  split; rewrite leNgt; apply/negP => small; apply: (falls small (v := v)) => s s0.
  - pose a (k : 'I_l.+1) : R := if k == ord0 then - s else 0; pose xi p : R := if lowest p then s else 0.
    have xi0 p : 0 <= xi p by rewrite /xi; case: ifP.
    have := bound (0, a, fun=> 0, xi) _; rewrite /obj /ord_sum_obj /ord_sum_widths /= ip0l mulr0 add0r /xi size.
    have -> : \sum_k (a k - 0) = - s.
      by rewrite (bigD1 ord0) //= /a eqxx subr0 big1 ?addr0 // => k /negPf n; rewrite n subr0.
    apply; split=> //=.
    + move=> p; rewrite /ord_sum_row /ord_sum_end /ord_sum_sign ip0l.
      case u: (upper p); first by rewrite subrr mulr0 add0r; exact: xi0.
      by rewrite /a /xi /lowest u andbT; case: ifP => _; rewrite sub0r ?opprK ?oppr0 ?mulN1r ?addNr ?mulr0 ?addr0.
    + by move=> k; rewrite /a; case: ifP => _; rewrite ?oppr_le0.
  - pose b (k : 'I_l.+1) : R := if k == ord_max then s else 0; pose xi p : R := if highest p then s else 0.
    have xi0 p : 0 <= xi p by rewrite /xi; case: ifP.
    have := bound (0, fun=> 0, b, xi) _; rewrite /obj /ord_sum_obj /ord_sum_widths /= ip0l mulr0 add0r /xi size.
    have -> : \sum_k (0 - b k) = - s.
      by rewrite (bigD1 ord_max) //= /b eqxx sub0r big1 ?addr0 // => k /negPf n; rewrite n subr0.
    apply; split=> //=.
    + move=> p; rewrite /ord_sum_row /ord_sum_end /ord_sum_sign ip0l.
      case u: (upper p); last by rewrite subrr mulr0 add0r; exact: xi0.
      by rewrite /b /xi /highest u andbT; case: ifP => _; rewrite ?sub0r ?mul1r ?addNr ?subr0 ?addr0.
    + by move=> k; rewrite /b; case: ifP.
    + by move=> q; rewrite /b eq_sym (negPf (neq_lift _ _)).
have share (n : nat) : 1 <= C * n%:R -> [/\ n%:R != 0 :> R, 0 <= n%:R^-1 :> R & n%:R^-1 <= C].
  move=> h; have n0 : 0 < n%:R :> R.
    by rewrite ltr0n lt0n; apply/eqP => e; move: h; rewrite e mulr0 leNgt ltr01.
  by split; [rewrite gt_eqF|rewrite invr_ge0 ltW|rewrite -[_^-1]mul1r ler_pdivr_mulr].
have [n0 i0 le0] := share _ c0; have [n1 i1 le1] := share _ c1.
have C0 : 0 <= C by exact: le_trans i0 le0.
pose al p := if upper p then (if highest p then #|highest|%:R^-1 else 0) else (if lowest p then #|lowest|%:R^-1 else 0) : R.
pose D := (al, fun=> 0, fun=> 1) : (P -> R) * ('I_l.+1 -> R) * ('I_l -> R).
exists (@ord_sum_dual_obj R V ip P [finType of 'I_l.+1] [finType of 'I_l] x upper D) => z F.
apply: (weak_duality (@ord_sum_pair R V ip P [finType of 'I_l.+1] [finType of 'I_l] x t upper _ _ C)) F _.
have one (g : 'I_l -> 'I_l.+1) (e : 'I_l.+1) : injective g -> (forall q, e != g q) -> (forall k, k != e -> exists q, k = g q) ->
    forall k, 1 + 0 - \sum_(q | g q == k) 1 = (k == e)%:R :> R.
  move=> gi ge gk k; have [->|ke] := eqVneq k e.
    by rewrite big_pred0 ?addr0 ?subr0 // => q; rewrite eq_sym (negPf (ge q)).
  have [q ->] := gk k ke.
  by rewrite (big_pred1 q) ?addr0 ?subrr // => r; rewrite (inj_eq gi).
have lifted (e k : 'I_l.+1) : k != e -> exists q, k = lift e q.
  by case: (unliftP e k) => [q -> _|->]; [exists q|rewrite eqxx].
have sums (e k : 'I_l.+1) (B : pred P) (S : pred P) : (forall p, B p = (t p == e) && S p) -> #|B|%:R != 0 :> R ->
    (forall p, S p -> al p = if B p then #|B|%:R^-1 else 0) -> \sum_(p | (t p == k) && S p) al p = (k == e)%:R.
  move=> BE nz aE; have [->|ke] := eqVneq k e.
    transitivity (\sum_(p in B) (#|B|%:R^-1 : R)); last by rewrite sumr_const -[LHS]mulr_natl mulfV.
    apply: eq_big => [p|p /andP[tp Sp]]; first by rewrite unfold_in BE.
    by rewrite aE // BE tp Sp.
  by rewrite big1 // => p /andP[/eqP tp Sp]; rewrite aE // BE tp (negPf ke).
split=> //.
- by move=> p; rewrite /al; case: ifP => _; case: ifP => _; rewrite ?lexx ?i0 ?i1 ?C0.
- by move=> q; rewrite ler01.
- move=> k; transitivity ((k == ord0)%:R : R); last by symmetry; exact: (one _ ord0 lift_inj (neq_lift ord0) (lifted ord0)).
  apply: (sums _ _ lowest) => // p /negPf u.
  by rewrite /al u.
- move=> k; transitivity ((k == ord_max)%:R : R); last by symmetry; exact: (one _ ord_max lift_inj (neq_lift ord_max) (lifted ord_max)).
  apply: (sums _ _ highest) => // p u.
  by rewrite /al u.
Qed.
End Chain.

(** ** One interval: the nu-SVM of the two levels, min 1/2 |w|^2 - nu rho + c sum xi   s.t.   s_p (<w, x_p> + b) >= rho - xi_p *)
Section TwoLevels.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (P : finType) (x : P -> V) (upper : P -> bool) (C : R).
Let feas := @ord_sum_feas R V ip P [finType of 'I_1] [finType of 'I_0] x (fun=> ord0) upper (fun=> ord0) (fun=> ord0).
Definition nu_feas (z : V * R * R * (P -> R)) := let: (w, b, rho, xi) := z in
  [/\ forall p, rho - xi p <= ord_sum_sign R upper p * (ip w (x p) + b), forall p, 0 <= xi p & 0 <= rho].
Definition nu_obj nu c (z : V * R * R * (P -> R)) := let: (w, b, rho, xi) := z in 2%:R^-1 * ip w w - nu * rho + c * (\sum_p xi p).

Theorem ord_sum_two_levels k v : 0 < k ->
  minimum nu_feas (nu_obj (2%:R / k) (C / k)) v <-> minimum feas (@ord_sum_obj R V ip P [finType of 'I_1] C) (k ^+ 2 * v).
Proof.
move=> k0; have kn : k != 0 by rewrite gt_eqF.
pose f (z : V * R * R * (P -> R)) := k ^+ 2 * nu_obj (2%:R / k) (C / k) z.
apply: iff_trans (minimum_scale nu_feas v (exprn_gt0 2 k0) (fun z => erefl (f z))) _.
apply: minimum_iff => [[[[w b] rho] xi] [row xi0 r0]|[[[w a] b] xi] [row xi0 ab _]].
  exists (k *: w, fun=> k * (- b - rho), fun=> k * (- b + rho), fun p => k * xi p).
    split=> [p|p|i|[]//]; last 2 first.
    - by rewrite mulr_ge0 // ltW.
    - by rewrite ler_pmul2l // ler_add2l (le_trans _ r0) // oppr_le0.
    have := mulr_ge0 (ltW k0) (_ : 0 <= ord_sum_sign R upper p * (ip w (x p) + b) - (rho - xi p)); rewrite subr_ge0 => /(_ (row p)).
    rewrite /ord_sum_row /ord_sum_end /ord_sum_sign ip_scalel; move: (ip w (x p)) => u.
    by case: (upper p); rewrite ?mul1r ?mulN1r; congr (0 <= _); ring.
  rewrite /f /ord_sum_obj /= big_ord_recl big_ord0 addr0 ip_scalel ip_scaler -mulr_sumr; move: (ip w w) (\sum_p _) => u s.
  by rewrite le_eqVlt; apply/orP; left; apply/eqP; field.
exists (k^-1 *: w, - (a ord0 + b ord0) / (2%:R * k), (b ord0 - a ord0) / (2%:R * k), fun p => k^-1 * xi p).
  split=> [p|p|]; last 2 first.
  - by rewrite mulr_ge0 ?invr_ge0 // ltW.
  - by rewrite divr_ge0 ?subr_ge0 ?ab // mulr_ge0 ?ler0n // ltW.
  have ki : 0 <= k^-1 by rewrite invr_ge0 ltW.
  rewrite -subr_ge0; have := mulr_ge0 ki (row p); rewrite /ord_sum_row /ord_sum_end /ord_sum_sign ip_scalel; move: (ip w (x p)) => u.
  by case: (upper p); rewrite ?mul1r ?mulN1r; congr (0 <= _); field.
rewrite /f /ord_sum_obj /= big_ord_recl big_ord0 addr0 ip_scalel ip_scaler -mulr_sumr; move: (ip w w) (\sum_p _) => u s.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; field.
Qed.
End TwoLevels.
