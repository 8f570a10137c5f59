(** * Numbers with a point are read as the nearest double

    [nearest_double_near]: m 10^e is read as a number q 2^p within 2^p / 2 of it. [nearest_double_has_bits]: q has the 53
    bits of a double, or fewer if 2^p is the smallest power of a double. *)
From Coq Require Import ZArith Lia.
From mathcomp Require Import all_ssreflect.
From equimargin.checker Require Import integers json numbers.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope Z_scope.

(** q 2^p is within 2^p / 2 of N / D, as a statement of integers. *)
Definition within_half (N D q p : Z) : Prop := Z.abs (2 * (q * (D * two_to p) - N * two_to (- p))) <= D * two_to p.
Lemma two_to_gt0 p : 0 < two_to p.
Proof. by apply: Z.pow_pos_nonneg; lia. Qed.
Lemma ten_to_gt0 p : 0 < ten_to p.
Proof. by apply: Z.pow_pos_nonneg; lia. Qed.
(** The statement for 2 q and p is that for q and p + 1. *)
Lemma within_half_doubled N D q p : Z.abs (2 * (2 * q * (D * two_to p) - N * two_to (- p))) <= 2 * (D * two_to p) -> within_half N D q (Z.succ p).
Proof.
rewrite /within_half /two_to; have [h|h] := Z_lt_le_dec p 0.
- have -> : Z.max 0 p = 0 by lia. have -> : Z.max 0 (Z.succ p) = 0 by lia.
  have -> : Z.max 0 (- p) = Z.succ (Z.max 0 (- Z.succ p)) by lia.
  rewrite Z.pow_succ_r; last by lia.
  move: (2 ^ Z.max 0 (- Z.succ p)) => t; rewrite !Z.pow_0_r !Z.mul_1_r.
  have -> : 2 * (2 * q * D - N * (2 * t)) = 2 * (2 * (q * D - N * t)) by ring.
  by move: (q * D - N * t) => a; lia.
- have -> : Z.max 0 (Z.succ p) = Z.succ (Z.max 0 p) by lia.
  have -> : Z.max 0 (- p) = 0 by lia. have -> : Z.max 0 (- Z.succ p) = 0 by lia.
  rewrite Z.pow_succ_r; last by lia.
  move: (2 ^ Z.max 0 p) => t; have -> : q * (D * (2 * t)) = 2 * q * (D * t) by ring.
  by have -> : D * (2 * t) = 2 * (D * t) by ring.
Qed.
(** q or q + 1: the one whose product with [over] is nearer to over q + rest, and the even one if both are equally near. *)
Definition rounded (q rest over : Z) : Z := if match Z.compare (2 * rest) over with Lt => false | Eq => Z.odd q | Gt => true end then Z.succ q else q.
Lemma rounded_near q rest over : 0 <= rest < over -> Z.abs (2 * (rounded q rest over * over - (over * q + rest))) <= over.
Proof.
move=> h; rewrite /rounded; have eq : q * over = over * q by ring. have next : Z.succ q * over = over * q + over by ring.
by case: Z.compare_spec => c; [case: Z.odd| |]; rewrite ?eq ?next; move: h c; clear; move: (over * q) => t; lia.
Qed.
(** The last step of [nearest_double]: the quotient is rounded, and halved if it then has more bits than a double. *)
Local Notation finished b r over k :=
  (let up := match Z.compare (2 * r) over with Lt => false | Eq => Z.odd b | Gt => true end in
   let q' := if up then Z.succ b else b in
   let: (q', p) := if Z.eqb q' (two_to BITS) then (two_to (BITS - 1), Z.succ k) else (q', k) in
   require (Z.ltb (Z.log2 q' + p) INFINITE_POWER) (Some (q', p))).
Lemma last_step b r over k q p :
  finished b r over k = Some (q, p) ->
  let c := rounded b r over in (c = two_to BITS /\ q = two_to (BITS - 1) /\ p = Z.succ k) \/ (c <> two_to BITS /\ q = c /\ p = k).
Proof.
cbv zeta; rewrite -[if _ then Z.succ b else b]/(rounded b r over).
by case: Z.eqb_spec => [full|other]; rewrite /require; case: ifP => // _ [<- <-]; [left|right].
Qed.
Theorem nearest_double_near m e q p : 0 < m -> nearest_double m e = Some (q, p) -> within_half (m * ten_to e) (ten_to (- e)) q p.
Proof.
move=> m0; rewrite /nearest_double; set N := m * ten_to e; set D := ten_to (- e); set least := Z.max _ _.
have D0 : 0 < D by exact: ten_to_gt0.
have over0 : 0 < D * two_to least by have := two_to_gt0 least; nia.
have := Z_div_mod (N * two_to (- least)) (D * two_to least) (Z.lt_gt _ _ over0).
case: Z.div_eucl => a rest [eN bounds].
have near_step b r over k : 0 <= r < over -> (forall c, Z.abs (2 * (c * over - (over * b + r))) <= over -> within_half N D c k) ->
  finished b r over k = Some (q, p) -> within_half N D q p.
  move=> br near /last_step; have near' := near _ (@rounded_near b r over br) => -[[full [-> ->]]|[_ [-> ->]] //].
  apply: within_half_doubled; move: near'; rewrite full /within_half.
  have -> : two_to BITS = 2 * two_to (BITS - 1) by [].
  by move: (D * two_to k) => t; lia.
case: Z.ltb.
  apply: (near_step a rest _ least) => // c; by rewrite /within_half -eN.
have evenness : a = 2 * Z.div2 a + (if Z.odd a then 1 else 0) by have := Z.div2_odd a; rewrite /Z.b2z.
apply: (near_step _ _ _ (Z.succ least)).
- by case: Z.odd; lia.
- move=> c near; apply: within_half_doubled; rewrite eN; move: near evenness; move: (D * two_to least) => t.
  case: Z.odd => near ev; rewrite ev; move: near.
    have -> : 2 * c * t = c * (t + t) by ring.
    have -> : t * (2 * Z.div2 a + 1) + rest = (t + t) * Z.div2 a + (rest + t) by ring.
    by lia.
  have -> : 2 * c * t = c * (t + t) by ring.
  have -> : t * (2 * Z.div2 a + 0) + rest = (t + t) * Z.div2 a + rest by ring.
  by lia.
Qed.
(** The power of two by which N / D is divided first: the quotient has 53 or 54 bits then. *)
Definition least_of (N D : Z) := Z.max LEAST_POWER (Z.log2 N - Z.log2 D - BITS).
Lemma quotient_bounds N D : 0 < N -> 0 < D -> let p := least_of N D in let a := N * two_to (- p) / (D * two_to p) in
  0 <= a < 2 * two_to BITS /\ (p = LEAST_POWER \/ two_to (BITS - 1) <= a).
Proof.
move=> N0 D0 p a; have [N1 N2] := Z.log2_spec N N0; have [D1 D2] := Z.log2_spec D D0.
have lN := Z.log2_nonneg N; have lD := Z.log2_nonneg D.
have atleast : Z.log2 N - Z.log2 D - BITS <= p by exact: Z.le_max_r.
have cases : p = LEAST_POWER \/ p = Z.log2 N - Z.log2 D - BITS by rewrite /p /least_of; lia.
have over0 : 0 < D * two_to p by have := two_to_gt0 p; nia.
rewrite /a /two_to -[Z.max 0 BITS]/53 -[Z.max 0 (BITS - 1)]/52; move: over0 atleast cases; rewrite /two_to /BITS => over0 atleast cases; split; first split.
- by apply: Z.div_pos => //; have := two_to_gt0 (- p); rewrite /two_to; nia.
- apply: Z.div_lt_upper_bound => //.
  apply: (Z.lt_le_trans _ (2 ^ (Z.succ (Z.log2 N) + Z.max 0 (- p)))).
    by have := two_to_gt0 (- p); rewrite /two_to Z.pow_add_r; try lia; move: (2 ^ Z.max 0 (- p)) => t t0; nia.
  apply: (Z.le_trans _ (2 ^ (Z.log2 D + Z.max 0 p + 54))); first by apply: Z.pow_le_mono_r; lia.
  rewrite !Z.pow_add_r; try lia; rewrite (_ : 2 ^ 54 = 2 * 2 ^ 53) //.
  by apply: Z.mul_le_mono_nonneg_r => //; apply: Z.mul_le_mono_nonneg_r => //; apply: Z.pow_nonneg.
- case: cases => e; [by left|right]; apply: Z.div_le_lower_bound => //.
  apply: (Z.le_trans _ (2 ^ (Z.log2 N + Z.max 0 (- p)))); last first.
    by have := two_to_gt0 (- p); rewrite /two_to Z.pow_add_r; try lia; move: (2 ^ Z.max 0 (- p)) => t t0; nia.
  apply: (Z.le_trans _ (2 ^ (Z.succ (Z.log2 D) + Z.max 0 p + 52))); last by apply: Z.pow_le_mono_r; lia.
  rewrite !Z.pow_add_r; try lia.
  apply: Z.mul_le_mono_nonneg_r => //; have := two_to_gt0 p; rewrite /two_to; move: (2 ^ Z.max 0 p) => t t0.
  apply: Z.mul_le_mono_nonneg_r; first lia.
  by move: D2; rewrite Z.pow_succ_r // Z.pow_1_r; lia.
Qed.
(** q has the 53 bits of a double, or fewer if 2^p is the smallest power of a double. *)
Theorem nearest_double_has_bits m e q p : 0 < m -> nearest_double m e = Some (q, p) ->
  0 <= q < two_to BITS /\ (p = LEAST_POWER \/ two_to (BITS - 1) <= q).
Proof.
move=> m0; have N0 : 0 < m * ten_to e by have := ten_to_gt0 e; nia.
have D0 : 0 < ten_to (- e) by exact: ten_to_gt0.
rewrite /nearest_double; have := quotient_bounds N0 D0; cbv zeta; rewrite -/(least_of _ _).
set N := m * ten_to e; set D := ten_to (- e); set least := least_of N D; rewrite /Z.div.
case: Z.div_eucl => a rest [[a0 a1] low].
have bits_step b r over k : 0 <= b < two_to BITS -> (k = LEAST_POWER \/ two_to (BITS - 1) <= b) ->
  finished b r over k = Some (q, p) ->
  0 <= q < two_to BITS /\ (p = LEAST_POWER \/ two_to (BITS - 1) <= q).
  move=> [b0 b1] b2 /last_step; have : b <= rounded b r over <= Z.succ b by rewrite /rounded; case: ifP; lia.
  move: (rounded b r over) => c cb [[_ [-> ->]]|[other [-> ->]]].
    by split; [split|right]; rewrite // /two_to.
  by split; [lia|case: b2 => ?; [left|right; lia]].
case: Z.ltb_spec => full; first exact: bits_step.
apply: bits_step; last right; have := Z.div2_odd a; have twice : two_to BITS = 2 * two_to (BITS - 1) by [].
  by move: full a1; case: Z.odd; rewrite /Z.b2z; lia.
by move: full; rewrite twice; case: Z.odd; rewrite /Z.b2z; lia.
Qed.
