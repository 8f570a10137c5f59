(** * The exponential in integers

    [exp_units q] is E(-q) for a rational q >= 0 in units of 2^-96: the integer that `checker.py` computes too. In units of 2^-128, q is rounded
    down and halved until it is below 2^-8; then come the alternating series, and as many squarings.

    E is any function with E(a + b) = E(a) E(b) and 1 + a <= E(a). On the real numbers exp is the only one.
    [exponential_enclosed]: in every ordered field, and for every such E, the error of the integer is at most two units. *)
From Coq Require Import ZArith Lia.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring ssrZ.
From equimargin.checker Require Import products integers.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Delimit Scope Z_scope with BZ.

(** ** What is computed *)
Definition EXP_BITS : Z := 96.
Definition EXP_ERROR : Z := 2.
Definition WORKING_BITS : Z := 128.
Definition SERIES_BITS : Z := 8.
(** Number of terms, after which all terms are rounded to 0. *)
Definition MOST_TERMS := 17.
Definition working_one : Z := Z.pow 2 WORKING_BITS.
Definition exp_unit : positive := Z.to_pos (Z.pow 2 EXP_BITS).
(** term - term x / k + term x^2 / (k (k + 1)) - ..., each term rounded down. *)
Definition next_term (k term x : Z) : Z := Z.div (Z.shiftr (product_of term x) WORKING_BITS) k.
Fixpoint series (terms : nat) (k term x : Z) : Z :=
  if terms is n.+1 then (if Z.eqb term Z0 then Z0 else Z.sub term (series n (Z.succ k) (next_term k term x) x)) else Z0.
Fixpoint squared (times : nat) (v : Z) : Z := if times is n.+1 then squared n (Z.shiftr (square_of v) WORKING_BITS) else v.
(** a / d rounded down. Factors 2 of d are removed by shifts first: the denominator of a double has no other factors. *)
Fixpoint divided (a : Z) (d : positive) : Z := match d with xO d' => divided (Z.div2 a) d' | xH => a | xI _ => Z.div a (Zpos d) end.
Definition working (q : fraction) : Z := Z.min (divided (Z.mul working_one (num q)) (den q)) (Z.mul working_one EXP_BITS).
Definition halvings (x : Z) : Z := Z.max Z0 (Z.sub (Z.succ (Z.log2 x)) (Z.sub WORKING_BITS SERIES_BITS)).
Definition exp_units (q : fraction) : Z :=
  let x := working q in let s := halvings x in
  Z.shiftr (squared (Z.to_nat s) (series MOST_TERMS 1 working_one (Z.shiftr x s))) (Z.sub WORKING_BITS EXP_BITS).

(** ** What it means *)
Local Open Scope ring_scope.
Section Exponential.
Variables (R : realFieldType).
Definition exponential (E : R -> R) := (forall a b, E (a + b) = E a * E b) /\ (forall a, 1 + a <= E a).

Section Laws.
Variable E : R -> R.
Hypothesis isE : exponential E.
Let ED a b : E (a + b) = E a * E b. Proof. by case: isE. Qed.
Let above a : 1 + a <= E a. Proof. by case: isE. Qed.
Lemma exponential_gt0 a : 0 < E a.
Proof.
have ge a' : 0 <= E a' by rewrite (_ : a' = a' / 2%:R + a' / 2%:R) ?ED -?expr2 ?sqr_ge0 //; field.
rewrite lt_neqAle ge andbT eq_sym; apply/eqP => z; have := above 0.
by rewrite -(subrr a) ED z mul0r subrr addr0 ler10.
Qed.
Let nz a : E a != 0. Proof. by rewrite gt_eqF ?exponential_gt0. Qed.
Lemma exponential0 : E 0 = 1.
Proof. by apply: (mulIf (nz 0)); rewrite -ED addr0 mul1r. Qed.
Lemma exponentialN a : E (- a) = (E a)^-1.
Proof. by apply: (mulIf (nz a)); rewrite mulVf // -ED addNr exponential0. Qed.
Lemma exponential_le1 a : 0 <= a -> E (- a) <= 1.
Proof. by move=> a0; rewrite exponentialN invf_le1 ?exponential_gt0 // (le_trans _ (above a)) // ler_addl. Qed.
(** For a, b >= 0, E(-a) and E(-b) differ by at most |a - b|. *)
Lemma exponential_lipschitz a b : 0 <= a -> 0 <= b -> `|E (- a) - E (- b)| <= `|a - b|.
Proof.
have one a' b' : 0 <= b' -> b' <= a' -> `|E (- a') - E (- b')| <= `|a' - b'|.
  move=> b0 le; have -> : - a' = - (a' - b') + - b' by rewrite -opprD subrK.
  have d0 : 0 <= a' - b' by rewrite subr_ge0.
  rewrite ED -{2}[E (- b')]mul1r -mulrBl normrM (gtr0_norm (exponential_gt0 _)) distrC !ger0_norm ?subr_ge0 ?exponential_le1 //.
  rewrite (le_trans (ler_wpmul2l _ (exponential_le1 b0))) ?mulr1 ?subr_ge0 ?exponential_le1 //.
  by rewrite ler_subl_addr -ler_subl_addl above.
move=> a0 b0; have [le|/ltW le] := leP b a; first exact: one.
by rewrite distrC [X in _ <= X]distrC; exact: one.
Qed.
Lemma exponential_near a : 0 <= a -> 1 - a <= E (- a) <= 1 - a + a ^+ 2.
Proof.
move=> a0; rewrite above exponentialN /=; have p : 0 < 1 + a by rewrite ltr_spaddl.
rewrite (@le_trans _ _ (1 + a)^-1) ?lef_pinv ?posrE ?exponential_gt0 // -[_^-1]mul1r ler_pdivr_mulr //.
have -> : (1 - a + a ^+ 2) * (1 + a) = 1 + a ^+ 3 by ring.
by rewrite ler_addl exprn_ge0.
Qed.

(** The partial sums of E(-y) for y in [0, 1]: 1 - y + y^2 / 2 - ... *)
Fixpoint alternating (n k : nat) (t y : R) : R := if n is n'.+1 then t - alternating n' k.+1 (t * y / k.+1%:R) y else 0.
Lemma alternating_bounds n k t y : 0 <= t -> 0 <= y <= 1 -> 0 <= alternating n k t y <= t.
Proof.
move=> t0 /andP[y0 y1]; elim: n k t t0 => [|n IH] k t t0 /=; first by rewrite lexx.
have t'0 : 0 <= t * y / k.+1%:R by rewrite divr_ge0 ?mulr_ge0 ?ler0n.
have /andP[h1 h2] := IH k.+1 _ t'0.
have le : t * y / k.+1%:R <= t.
  rewrite ler_pdivr_mulr ?ltr0n // ler_wpmul2l // (le_trans y1) // ler1n //.
by rewrite subr_ge0 (le_trans h2 le) ler_subl_addr ler_addl h1.
Qed.
Definition coefficient k : R := (-1) ^+ k / k`!%:R.
Lemma alternating_sum n k y : alternating n k (y ^+ k / k`!%:R) y = \sum_(i < n) (-1) ^+ i * (y ^+ (k + i) / (k + i)`!%:R).
Proof.
elim: n k => [|n IH] k /=; first by rewrite big_ord0.
have -> : y ^+ k / k`!%:R * y / k.+1%:R = y ^+ k.+1 / k.+1`!%:R.
  by rewrite factS natrM exprS invfM; move: (_^-1) (_^-1) (y ^+ k) => u v w; ring.
rewrite IH big_ord_recl addn0 expr0 mul1r -sumrN; congr (_ + _); apply: eq_bigr => i _.
by rewrite -mulNr addSnnS [in RHS]/= /bump /= add1n exprS mulN1r.
Qed.

Section Partial.
Variable n : nat.
Definition partial : {poly R} := \poly_(i < n) coefficient i.
Definition doubled : {poly R} := \poly_(i < n) (coefficient i * 2%:R ^+ i).
Lemma partialE y : alternating n 0 1 y = partial.[y].
Proof.
have := alternating_sum n 0 y; rewrite expr0 fact0 divr1 => ->; rewrite horner_poly; apply: eq_bigr => i _.
by rewrite add0n /coefficient mulrAC mulrA.
Qed.
Lemma doubledE y : partial.[2%:R * y] = doubled.[y].
Proof. by rewrite !horner_poly; apply: eq_bigr => i _; rewrite exprMn mulrA. Qed.
Lemma coefficient_le1 i : `|coefficient i| <= 1.
Proof.
rewrite normrM normrX normrN1 expr1n mul1r normfV ger0_norm ?ler0n // invf_le1 ?ler1n ?ltr0n fact_gt0 //.
Qed.
Lemma partial_le1 i : `|partial`_i| <= 1.
Proof. by rewrite coef_poly; case: ifP => _; rewrite ?coefficient_le1 ?normr0 ?ler01. Qed.
Lemma square_low j : (j < n)%N -> (partial * partial)`_j = doubled`_j.
Proof.
move=> l; rewrite coefM coef_poly l.
transitivity (\sum_(i < j.+1) coefficient j * (1 *+ 'C(j, i))); last first.
  rewrite -mulr_sumr; congr (_ * _); rewrite -[2%:R]/(1 + 1) exprDn; apply: eq_bigr => i _.
  by rewrite !expr1n mulr1.
apply: eq_bigr => i _; have li : (i <= j)%N by rewrite -ltnS.
rewrite !coef_poly (leq_ltn_trans li l) (leq_ltn_trans (leq_subr _ _) l) /coefficient mulrACA -exprD subnKC //.
rewrite -mulrA; congr (_ * _); rewrite -(bin_fact li) !natrM !invfM; have : 'C(j, i)%:R != 0 :> R by rewrite pnatr_eq0 -lt0n bin_gt0.
by move: (_^-1 * _^-1) ('C(j, i)%:R) => u v v0; field.
Qed.
Lemma square_high j : (n <= j < n + n)%N -> `|(partial * partial - doubled)`_j| <= (n + n)%:R.
Proof.
case/andP=> h l; rewrite coefB [doubled`_j]coef_poly ltnNge h subr0 coefM (le_trans (ler_norm_sum _ _ _)) //.
apply: (@le_trans _ _ (\sum_(i < j.+1) 1)); last by rewrite sumr_const card_ord ler_nat.
by apply: ler_sum => i _; rewrite normrM mulr_ile1 ?normr_ge0 ?partial_le1.
Qed.
Lemma square_near y : 0 <= y <= 1 -> `|partial.[y] ^+ 2 - partial.[2%:R * y]| <= (n * (n + n))%:R * y ^+ n.
Proof.
case/andP=> y0 y1; rewrite doubledE expr2 -hornerM -hornerN -hornerD.
rewrite (@horner_coef_wide _ (n + n)); last first.
  apply: leq_trans (size_add _ _) _; rewrite geq_max size_opp; apply/andP; split.
    by apply: leq_trans (size_mul_leq _ _) (leq_trans (leq_pred _) (leq_add _ _)); exact: size_poly.
  by apply: leq_trans (size_poly _ _) _; exact: leq_addr.
rewrite big_split_ord /= big1 ?add0r => [|i _]; last by rewrite coefB square_low // subrr mul0r.
rewrite (le_trans (ler_norm_sum _ _ _)) //; apply: (@le_trans _ _ (\sum_(i < n) (n + n)%:R * y ^+ n)); last first.
  by rewrite sumr_const card_ord natrM -[_ *+ n]mulr_natl mulrA.
apply: ler_sum => i _; rewrite normrM; apply: ler_pmul; rewrite ?normr_ge0 //.
  by apply: square_high; rewrite leq_addr ltn_add2l ltn_ord.
by rewrite ger0_norm ?exprn_ge0 // exprD ler_pimulr ?exprn_ge0 // exprn_ile1.
Qed.
Theorem taylor k y : (1 < n)%N -> (2 + n * (n + n) <= 2 ^ n)%N -> 0 <= y <= 1 ->
  `|E (- y) - alternating n 0 1 y| <= y ^+ 2 / 2%:R ^+ k + y ^+ n.
Proof.
move=> n1 big; elim: k y => [|k IH] y /andP[y0 y1].
  have /andP[e1 e2] := exponential_near y0.
  have [p1 p2] : 0 <= alternating n 0 1 y - (1 - y) /\ alternating n 0 1 y - (1 - y) <= y ^+ 2.
    case: n n1 => [|[|m]] // _ /=; rewrite mul1r divr1; set t := _ / 2%:R.
    have t0 : 0 <= t by rewrite /t divr_ge0 ?mulr_ge0 ?ler0n.
    have y01 : 0 <= y <= 1 by rewrite y0.
    have /andP[h1 h2] := alternating_bounds m 2 t0 y01.
    have -> : 1 - (y - alternating m 2 t y) - (1 - y) = alternating m 2 t y by ring.
    by split=> //; rewrite (le_trans h2) // /t -expr2 ler_pdivr_mulr ?ltr0n // ler_pemulr ?sqr_ge0 ?ler1n.
  rewrite expr0 divr1 (@le_trans _ _ (y ^+ 2)) ?ler_addl ?exprn_ge0 //.
  rewrite (_ : _ - _ = (E (- y) - (1 - y)) - (alternating n 0 1 y - (1 - y))); last by ring.
  rewrite ler_distl ler_subl_addr (le_trans p2) ?ler_addr ?subr_ge0 //=.
  by rewrite (@le_trans _ _ (y ^+ 2)) ?ler_addr // ler_subl_addl.
have two : 0 < 2%:R :> R by rewrite ltr0n.
have two0 : 2%:R != 0 :> R by rewrite gt_eqF.
set h := y / 2%:R; have yE : y = 2%:R * h by rewrite /h mulrCA divff ?mulr1 ?pnatr_eq0.
have h0 : 0 <= h by rewrite divr_ge0 ?ler0n.
have h1 : h <= 1 by rewrite ler_pdivr_mulr // mul1r (le_trans y1) // ler1n.
have h01 : 0 <= h <= 1 by rewrite h0.
have /andP[p0 p1] := alternating_bounds n 0 ler01 h01.
have near := IH h h01; have := square_near h01; rewrite -yE -!partialE => square.
have -> : E (- y) = E (- h) ^+ 2 by rewrite expr2 -ED -opprD yE; congr (E (- _)); ring.
set a := E (- h) in near *; set b := alternating n 0 1 h in near square p0 p1; set c := alternating n 0 1 y.
have -> : a ^+ 2 - c = (a - b) * (a + b) + (b ^+ 2 - c) by ring.
rewrite (le_trans (ler_norm_add _ _)) // (le_trans (ler_add _ square) (y := 2%:R * (h ^+ 2 / 2%:R ^+ k + h ^+ n) + (n * (n + n))%:R * h ^+ n)) //.
  rewrite normrM mulrC ler_pmul ?normr_ge0 // ger0_norm ?addr_ge0 ?(ltW (exponential_gt0 _)) //.
  by rewrite -[2%:R]/(1 + 1) ler_add // exponential_le1.
have -> : y ^+ 2 / 2%:R ^+ k.+1 = 2%:R * (h ^+ 2 / 2%:R ^+ k).
  by rewrite [2%:R ^+ k.+1]exprS yE; have := expf_neq0 k two0; move: (2%:R ^+ k) => u u0; field.
have le : (2%:R + (n * (n + n))%:R) * h ^+ n <= y ^+ n.
  by rewrite yE [(2%:R * h) ^+ n]exprMn; apply: ler_wpmul2r; rewrite ?exprn_ge0 // -natrX -natrD ler_nat.
by rewrite mulrDr -addrA -mulrDl ler_add.
Qed.
End Partial.
Lemma exponential_halved n a : E (- a) = E (- (a / 2%:R ^+ n)) ^+ (2 ^ n).
Proof.
elim: n => [|n IH]; first by rewrite divr1 expr1.
rewrite IH expnS [RHS]exprM expr2 -ED -opprD; congr (E (- _) ^+ _).
have p0 : 2%:R ^+ n != 0 :> R by rewrite expf_neq0 // pnatr_eq0.
by rewrite exprS; move: (2%:R ^+ n) p0 => u u0; field.
Qed.
Lemma exponential_small n a : n%:R <= a -> E (- a) * 2%:R ^+ n <= 1.
Proof.
have one b : 1 <= b -> E (- b) * 2%:R <= 1.
  by move=> b1; rewrite exponentialN mulrC ler_pdivr_mulr ?exponential_gt0 // mul1r (le_trans _ (above b)) // -[2%:R]/(1 + 1) ler_add.
elim: n a => [|n IH] a le; first by rewrite expr0 mulr1 exponential_le1.
have -> : - a = - (a - 1) + - 1 by rewrite -opprD subrK.
rewrite ED exprSr mulrACA mulr_ile1 ?mulr_ge0 ?exprn_ge0 ?ler0n ?(ltW (exponential_gt0 _)) ?one //.
by rewrite IH // ler_subr_addr -mulrSr.
Qed.
End Laws.

(** Meaning of the integers in R. *)
Local Notation zr := (@zr R).
Local Notation W := (zr working_one).
Lemma zr_lt a b : Z.lt a b -> zr a < zr b.
Proof.
move=> h; rewrite -subr_gt0 -zrB; have : Z.lt 0 (Z.sub b a) by apply/Z.lt_0_sub.
by case: (Z.sub b a) => // p _; exact: zr_gt0.
Qed.
Lemma zr_leP a b : Z.le a b -> zr a <= zr b.
Proof. by move=> h; apply: zr_le; apply/Z.leb_le. Qed.
Lemma zr_nat n : zr (Z.of_nat n) = n%:R.
Proof. by elim: n => [|n IH] //; rewrite Nat2Z.inj_succ -Z.add_1_r zrD IH zr1 -mulrSr. Qed.
Lemma zr_power_of_two n : zr (Z.pow 2 (Z.of_nat n)) = 2%:R ^+ n.
Proof.
elim: n => [|n IH]; first by rewrite expr0.
rewrite Nat2Z.inj_succ Z.pow_succ_r; last exact: Nat2Z.is_nonneg.
by rewrite zrM IH exprS.
Qed.
Lemma floor a b : Z.lt 0 b -> zr (Z.div a b) <= zr a / zr b < zr (Z.div a b) + 1.
Proof.
move=> b0; have [m0 m1] := Z.mod_pos_bound a b b0; have B0 : 0 < zr b by exact: (@zr_lt Z0).
rewrite ler_pdivl_mulr // ltr_pdivr_mulr // mulrDl mul1r -zrM -zrD zr_leP ?zr_lt //.
  by rewrite {1}(Z.div_mod a b); lia.
by rewrite {2}(Z.div_mod a b); lia.
Qed.
Lemma shifted a n : zr (Z.shiftr a (Z.of_nat n)) <= zr a / 2%:R ^+ n < zr (Z.shiftr a (Z.of_nat n)) + 1.
Proof.
rewrite -[2%:R ^+ n]zr_power_of_two Z.shiftr_div_pow2; last exact: Nat2Z.is_nonneg.
by apply: floor; apply: Z.pow_pos_nonneg; lia.
Qed.
Lemma shifted_working a : zr (Z.shiftr a WORKING_BITS) <= zr a / W < zr (Z.shiftr a WORKING_BITS) + 1.
Proof. by have := shifted a 128; rewrite -[2%:R ^+ 128]zr_power_of_two. Qed.
Lemma W_gt0 : 0 < W. Proof. exact: zr_gt0. Qed.

Lemma next_termE k t x : next_term k t x = Z.div (Z.shiftr (Z.mul t x) WORKING_BITS) k.
Proof. by rewrite /next_term product_ofE. Qed.
Lemma next_bounds k t x : Z.lt 0 k -> Z.le 0 t -> Z.le 0 x -> Z.le x working_one -> Z.le 0 (next_term k t x) /\ Z.le (next_term k t x) t.
Proof.
move=> k0 t0 x0 x1; rewrite next_termE Z.shiftr_div_pow2 //.
have s0 : Z.le 0 (Z.div (Z.mul t x) (Z.pow 2 WORKING_BITS)) by apply: Z.div_pos => //; nia.
split; first exact: Z.div_pos.
apply: Z.le_trans (_ : Z.le _ (Z.div (Z.mul t x) (Z.pow 2 WORKING_BITS))) _; first by apply: Z.div_le_upper_bound => //; nia.
by apply: Z.div_le_upper_bound => //; rewrite -/working_one; nia.
Qed.
Lemma series_step n k t x : series n.+1 k t x = Z.sub t (series n (Z.succ k) (next_term k t x) x).
Proof.
rewrite /=; case: Z.eqb_spec => // ->.
have -> : next_term k Z0 x = Z0 by [].
by case: n.
Qed.
Lemma series_bounds n k t x : Z.lt 0 k -> Z.le 0 t -> Z.le 0 x -> Z.le x working_one ->
  Z.le 0 (series n k t x) /\ Z.le (series n k t x) t.
Proof.
move=> k0 t0 x0 x1; elim: n k t k0 t0 => [|n IH] k t k0 t0; first by [].
rewrite series_step; have [h1 h2] := next_bounds k0 t0 x0 x1.
by have := IH (Z.succ k) _ (Z.lt_lt_succ_r _ _ k0) h1; lia.
Qed.

Lemma working_oneE : working_one = Z.pow 2 128. Proof. by []. Qed.
Lemma W_power : W = 2%:R ^+ 128. Proof. by rewrite -[2%:R ^+ 128]zr_power_of_two. Qed.
Opaque working_one.
Lemma next_near k t x : Z.le 0 t -> Z.le 0 x ->
  zr (next_term (Z.of_nat k.+1) t x) <= zr t * (zr x / W) / k.+1%:R <= zr (next_term (Z.of_nat k.+1) t x) + 2%:R.
Proof.
move=> t0 x0; rewrite next_termE; set v := Z.shiftr _ _; have k1 : 0 < k.+1%:R :> R by rewrite ltr0n.
have /andP[f1 f2] := floor v (b := Z.of_nat k.+1) (Pos2Z.is_pos _); have := shifted_working (Z.mul t x); rewrite -/v zrM => /andP[g1 g2].
move: f1 f2; rewrite zr_nat => f1 f2; rewrite mulrA; apply/andP; split.
  by rewrite (le_trans f1) // ler_pmul2r ?invr_gt0.
rewrite (@le_trans _ _ ((zr v + 1) / k.+1%:R)) ?ler_pmul2r ?invr_gt0 ?(ltW g2) // mulrDl mul1r -[2%:R]/(1 + 1) addrA.
by rewrite ler_add ?(ltW f2) // invf_le1 // ler1n.
Qed.
(** The error of each term is below 3 if x is at most a third of [working_one]. *)
Lemma series_near n k t x tau : Z.le 0 t -> Z.le 0 x -> Z.le (Z.mul 3 x) working_one -> 0 <= tau -> `|zr t - W * tau| <= 3%:R ->
  `|zr (series n (Z.of_nat k.+1) t x) - W * alternating n k tau (zr x / W)| <= 3%:R * n%:R.
Proof.
move=> t0 x0 x1; have y0 : 0 <= zr x / W by rewrite divr_ge0 ?zr_leP // (@zr_leP Z0).
have y1 : zr x / W * 3%:R <= 1 by rewrite mulrAC ler_pdivr_mulr ?W_gt0 // mul1r mulrC -[3%:R]/(zr 3) -zrM zr_leP.
have next j u (u0 : Z.le 0 u) := next_near j u0 x0.
have bounds j u (u0 : Z.le 0 u) : Z.le 0 (next_term (Z.of_nat j.+1) u x) by have [] : _ := @next_bounds (Z.of_nat j.+1) u x _ u0 x0 _; lia.
move: y0 y1 next {x1}; move: (zr x / W) => y; move: (zr working_one) => w y0 y1 next.
elim: n k t tau t0 => [|n IH] k t tau t0 tau0 near; first by rewrite [series _ _ _ _]/= [alternating _ _ _ _]/= zr0 !mulr0 subrr normr0.
rewrite series_step -(Nat2Z.inj_succ k.+1) (zrB R t) [alternating _ _ _ _]/=.
have /andP[] := next k t t0; have := bounds k t t0; move: (next_term _ _ _) => t' t'0 n1 n2; set tau' := tau * y / k.+1%:R.
have near' : `|zr t' - w * tau'| <= 3%:R.
  rewrite (_ : _ - _ = (zr t' - zr t * y / k.+1%:R) + (zr t - w * tau) * (y / k.+1%:R)); last first.
    by rewrite /tau'; move: (_^-1) => v; ring.
  rewrite (le_trans (ler_norm_add _ _)) // [X in _ <= X](natrD R 2 1) ler_add //.
    by rewrite distrC ger0_norm ?subr_ge0 // ler_subl_addl.
  have q0 : 0 <= y / k.+1%:R by rewrite divr_ge0 ?ler0n.
  rewrite normrM (ger0_norm q0) (le_trans (ler_wpmul2r q0 near)) // (le_trans _ y1) // mulrC ler_wpmul2r ?ler0n //.
  by rewrite ler_pdivr_mulr ?ltr0n // ler_pemulr // ler1n.
rewrite mulrBr (_ : zr t - _ - _ = (zr t - w * tau) - (zr (series n (Z.of_nat k.+2) t' x) - w * alternating n k.+1 tau' y)); last by ring.
rewrite (le_trans (ler_norm_sub _ _)) // [X in _ <= _ * X]mulrSr mulrDr mulr1 addrC ler_add // IH // /tau' divr_ge0 ?mulr_ge0 ?ler0n //.
Qed.
Lemma squared_bounds n v : Z.le 0 v -> Z.le v working_one -> Z.le 0 (squared n v).
Proof.
elim: n v => [|n IH] v v0 v1 //=; rewrite square_ofE; have [] := @next_bounds 1 v v (Pos2Z.is_pos _) v0 v0 v1; rewrite next_termE Z.div_1_r => h0 h1.
by apply: IH => //; exact: Z.le_trans h1 v1.
Qed.
Lemma squared_near n v a e : Z.le 0 v -> Z.le v working_one -> 0 <= a <= 1 -> `|zr v - W * a| <= e ->
  `|zr (squared n v) - W * a ^+ (2 ^ n)| <= (e + 1) * 2%:R ^+ n.
Proof.
elim: n v a e => [|n IH] v a e v0 v1 /andP[a0 a1] near; first by rewrite expr1 expr0 mulr1 (le_trans near) // ler_addl.
rewrite [squared _ _]/= square_ofE expnS exprM [2%:R ^+ n.+1]exprS mulrA; set v' := Z.shiftr _ _.
have [f1 f2] := andP (shifted_working (Z.mul v v)); rewrite -/v' zrM in f1 f2.
have [v'0 v'1] : Z.le 0 v' /\ Z.le v' working_one.
  by have [] := @next_bounds 1 v v (Pos2Z.is_pos _) v0 v0 v1; rewrite next_termE Z.div_1_r -/v'; lia.
have -> : (e + 1) * 2%:R * 2%:R ^+ n = ((e * 2%:R + 1) + 1) * 2%:R ^+ n by move: (2%:R ^+ n) => p; ring.
apply: IH => //; first by rewrite exprn_ge0 // exprn_ile1.
have W0 := W_gt0; have p0 : 0 <= zr v / W by rewrite divr_ge0 ?(ltW W0) ?(@zr_leP Z0).
have p1 : zr v / W <= 1 by rewrite ler_pdivr_mulr // mul1r zr_leP.
have key (w q r c : R) : w != 0 -> q - w * c ^+ 2 = (q - r * r / w) + (r - w * c) * (r / w + c) by move=> w0; field.
have Wnz : W != 0 by rewrite gt_eqF.
rewrite (key _ _ (zr v) _ Wnz).
rewrite (le_trans (ler_norm_add _ _)) // addrC ler_add //; last by rewrite distrC ger0_norm ?subr_ge0 // ler_subl_addl ltW.
by rewrite normrM ler_pmul ?normr_ge0 // ger0_norm ?addr_ge0 // -[2%:R]/(1 + 1) ler_add.
Qed.

Lemma halvings_fit x : Z.le 0 x -> Z.le x (Z.mul working_one EXP_BITS) ->
  [/\ Z.le 0 (halvings x), Z.le (halvings x) 15, Z.le 0 (Z.shiftr x (halvings x)) & Z.le (Z.mul 256 (Z.shiftr x (halvings x))) working_one].
Proof.
rewrite working_oneE => x0 x1; have l0 := Z.log2_nonneg x.
have h0 : Z.le 0 (halvings x) by rewrite /halvings; lia.
have l1 : Z.le (Z.log2 x) 134 by apply: Z.le_trans (Z.log2_le_mono _ _ x1) _.
have h1 : Z.le (halvings x) 15 by rewrite /halvings /WORKING_BITS /SERIES_BITS; lia.
have p0 : Z.lt 0 (Z.pow 2 (halvings x)) by apply: Z.pow_pos_nonneg.
rewrite Z.shiftr_div_pow2 //; split=> //; first exact: Z.div_pos.
have up : Z.lt x (Z.mul (Z.pow 2 (halvings x)) (Z.pow 2 120)).
  rewrite -Z.pow_add_r //; have [z|] := Z.eq_dec x 0; first by rewrite z; apply: Z.pow_pos_nonneg => //; lia.
  move=> nz; have [_ s] := Z.log2_spec x (ltac:(lia)); apply: Z.lt_le_trans s _; apply: Z.pow_le_mono_r => //.
  by rewrite /halvings /WORKING_BITS /SERIES_BITS; lia.
have := Z.div_lt_upper_bound x _ _ p0 up; move: (Z.div _ _) => y y1.
by rewrite (_ : Z.pow 2 128 = Z.mul 256 (Z.pow 2 120)) //; lia.
Qed.
Lemma dividedE a d : divided a d = Z.div a (Zpos d).
Proof.
elim: d a => [d _|d IH|] a //=; last by rewrite Z.div_1_r.
by rewrite IH Z.div2_div Z.div_div.
Qed.
Lemma working_near q : Z.le 0 (num q) -> [/\ Z.le 0 (working q), Z.le (working q) (Z.mul working_one EXP_BITS) &
  zr (working q) <= W * Num.min (frac q) 96%:R <= zr (working q) + 1].
Proof.
move=> q0; have W0 := W_gt0; have one0 : Z.lt 0 working_one by rewrite working_oneE.
have /andP[f1 f2] := floor (Z.mul working_one (num q)) (Pos2Z.is_pos (den q)); rewrite zrM -mulrA -/(frac q) in f1 f2.
have W96 : zr (Z.mul working_one EXP_BITS) = W * 96%:R by rewrite zrM.
rewrite /working dividedE; move: f1 f2; have : Z.le 0 (Z.div (Z.mul working_one (num q)) (Zpos (den q))) by apply: Z.div_pos; nia.
have : Z.le 0 (Z.mul working_one EXP_BITS) by rewrite /EXP_BITS; lia.
move: (Z.div _ _) (Z.mul working_one EXP_BITS) W96 => v c cE c0 v0 f1 f2; split; [exact: Z.min_glb|exact: Z.le_min_r|].
rewrite (minr_pmulr _ _ (ltW W0)) -cE; have [[h ->]|[h ->]] := Z.min_spec v c.
  by rewrite le_minr f1 (zr_leP (Z.lt_le_incl _ _ h)) /= le_minl (ltW f2).
by rewrite le_minr lexx (le_trans (zr_leP h) f1) /= le_minl ler_addl ler01 orbT.
Qed.
Lemma rounded_argument E w x v X p : exponential E -> 0 < w -> 1 <= p -> 0 <= X -> 0 <= v -> v <= x / p < v + 1 -> x <= w * X <= x + 1 ->
  `|w * E (- (X / p)) - w * E (- (v / w))| <= 2%:R.
Proof.
move=> isE w0 p1 X0 v0 /andP[v1 v2] /andP[x1 x2]; have p0 : 0 < p by rewrite (lt_le_trans _ p1) ?ltr01.
have wnz : w != 0 by rewrite gt_eqF.
rewrite -mulrBr normrM (gtr0_norm w0); apply: le_trans (ler_wpmul2l (ltW w0) (exponential_lipschitz isE _ _)) _.
- by rewrite divr_ge0 // ltW.
- by rewrite divr_ge0 // ltW.
rewrite -{1}(gtr0_norm w0) -normrM (_ : w * (X / p - v / w) = w * X / p - v); last by field; rewrite wnz gt_eqF.
rewrite ger0_norm ?subr_ge0; last by rewrite (le_trans v1) // ler_pmul2r ?invr_gt0.
rewrite ler_subl_addl -[2%:R]/(1 + 1) addrA (le_trans (_ : _ <= (x + 1) / p)) //; first by rewrite ler_pmul2r ?invr_gt0.
by rewrite mulrDl mul1r ler_add ?(ltW v2) // invf_le1.
Qed.
Lemma polynomial_near E w y : exponential E -> w = 2%:R ^+ 128 -> 0 <= y -> y * 256%:R <= 1 ->
  `|w * E (- y) - w * alternating MOST_TERMS 0 1 y| <= 2%:R.
Proof.
move=> isE wE y0 y256; have w0 : 0 < w by rewrite wE exprn_gt0 // ltr0n.
have y1 : y <= 1 by rewrite (le_trans _ y256) // ler_pemulr // ler1n.
have y01 : 0 <= y <= 1 by rewrite y0.
rewrite -mulrBr normrM (gtr0_norm w0); apply: le_trans (ler_wpmul2l (ltW w0) (taylor isE (n := MOST_TERMS) 128 isT _ y01)) _.
  by rewrite /MOST_TERMS; vm_compute.
rewrite mulrDr -[2%:R]/(1 + 1) ler_add //.
  by rewrite -wE mulrCA divff ?mulr1 ?gt_eqF // exprn_ile1.
apply: le_trans (ler_wpmul2r _ (_ : w <= 256%:R ^+ MOST_TERMS)) _; rewrite ?exprn_ge0 //.
  have -> : 256%:R = 2%:R ^+ 8 :> R by rewrite -natrX.
  by rewrite wE -exprM; apply: ler_weexpn2l; rewrite ?ler1n.
by rewrite -exprMn mulrC exprn_ile1 // mulr_ge0 ?ler0n.
Qed.
(** The last rounding, in units of 2^-96, of which W has p: v is within 2^21 of W e, and rounded down to r. *)
Lemma last_argument w u p v e e' r n : 0 < u -> w = u * p -> p = 2%:R ^+ 32 -> (n <= 15)%N -> `|v - w * e| <= (55%:R + 1) * 2%:R ^+ n ->
  r <= v / p < r + 1 -> 0 <= r -> (e' = e \/ 0 <= e' /\ u * e <= 1 /\ u * e' <= 1) -> `|e' - r / u| <= 2%:R / u :> R.
Proof.
move=> u0 wE pE n15 near /andP[r1 r2] r0 cases; have p0 : 0 < p by rewrite pE exprn_gt0 // ltr0n.
have unz : u != 0 by rewrite gt_eqF.
have small : `|v / p - u * e| <= 1.
  rewrite (_ : v / p - u * e = (v - w * e) / p); last by rewrite wE; field; rewrite gt_eqF.
  rewrite normrM normfV (gtr0_norm p0) ler_pdivr_mulr // mul1r (le_trans near) //.
  apply: (@le_trans _ _ (2%:R ^+ 6 * 2%:R ^+ 15)).
    apply: ler_pmul; [by rewrite addr_ge0 ?ler0n|by rewrite exprn_ge0 ?ler0n| |by apply: ler_weexpn2l; rewrite ?ler1n].
    by rewrite -mulrSr -natrX ler_nat.
  by rewrite pE -exprD; apply: ler_weexpn2l; rewrite ?ler1n.
rewrite (_ : e' - r / u = (u * e' - r) / u); last by field.
rewrite normrM normfV (gtr0_norm u0) ler_pmul2r ?invr_gt0 // ler_distl.
have low : r - 2%:R <= v / p - 1 by rewrite (natrD R 1 1) opprD addrA ler_add2r ler_subl_addr (le_trans r1) // ler_addl ler01.
have up : v / p + 1 <= r + 2%:R by rewrite (natrD R 1 1) addrA ler_add2r ltW.
have [l1 l2] : v / p - 1 <= u * e /\ u * e <= v / p + 1.
  by move: small; rewrite distrC ler_distl => /andP.
case: cases => [->|[e0 [b1 b2]]]; first by rewrite (le_trans low l1) (le_trans l2 up).
apply/andP; split; last by rewrite (le_trans b2) // -[X in X <= _]add0r ler_add // ler1n.
rewrite (le_trans _ (mulr_ge0 (ltW u0) e0)) // subr_le0 (le_trans r1) //.
have : v / p <= u * e + 1 by rewrite -ler_subl_addr.
by move=> h; rewrite (le_trans h) // (natrD R 1 1) ler_add2r.
Qed.
Lemma exp_units_beyond q : Z.lt (Z.mul EXP_BITS (Zpos (den q))) (num q) -> exp_units q = Z0.
Proof.
move=> h; have -> : exp_units q = exp_units (Fraction EXP_BITS 1); last by vm_compute.
have -> // : working q = working (Fraction EXP_BITS 1) -> exp_units q = exp_units (Fraction EXP_BITS 1) by move=> e; rewrite /exp_units e.
rewrite /working !dividedE Z.div_1_r Z.min_id; apply: Z.min_r; apply: Z.div_le_lower_bound; first exact: Pos2Z.is_pos.
have : Z.le 0 working_one by rewrite working_oneE.
by move: h; rewrite [num (Fraction _ _)]/=; move: EXP_BITS (num q) (Zpos (den q)) working_one => b n d w; nia.
Qed.
Theorem exponential_enclosed E q : exponential E -> Z.leb Z0 (num q) ->
  `|E (- frac q) - @frac R (Fraction (exp_units q) exp_unit)| <= frac (Fraction EXP_ERROR exp_unit).
Proof.
move=> isE /Z.leb_le q0; have [x0 x1 /andP[w1 w2]] := working_near q0; have W0 := W_gt0.
rewrite /exp_units; move: (working q) x0 x1 w1 w2 => x x0 x1 w1 w2; have [h0 h1 s0 s1] := halvings_fit x0 x1.
set n := Z.to_nat (halvings x); have nE : halvings x = Z.of_nat n by rewrite Z2Nat.id.
have n15 : (n <= 15)%N by apply/ssrnat.leP; move: h1; rewrite nE; lia.
move: s0 s1; rewrite nE; have /andP[g1 g2] := shifted x n; move: (Z.shiftr x (Z.of_nat n)) g1 g2 => small g1 g2 s0 s1.
set X := Num.min (frac q) 96%:R in w1 w2; have X0 : 0 <= X by rewrite le_minr ler0n andbT divr_ge0 ?(ltW (zr_gt0 _ _)) ?(@zr_leP Z0).
have p0 : 0 < 2%:R ^+ n :> R by rewrite exprn_gt0 // ltr0n.
have p1 : 1 <= 2%:R ^+ n :> R by rewrite exprn_ege1 // ler1n.
have s0' : 0 <= zr small by exact: (@zr_leP Z0).
have rounded := rounded_argument isE W0 p1 X0 s0' (introT andP (conj g1 g2)) (introT andP (conj w1 w2)).
have y0 : 0 <= zr small / W by rewrite divr_ge0 ?(ltW W0).
have y256 : zr small / W * 256%:R <= 1 by rewrite mulrAC ler_pdivr_mulr // mul1r mulrC -[256%:R]/(zr 256) -zrM zr_leP.
have polynomial := polynomial_near isE W_power y0 y256.
have w0 : Z.le 0 working_one by rewrite working_oneE.
have s3 : Z.le (Z.mul 3 small) working_one by clear -s0 s1; move: working_one s1 => o s1; lia.
have s4 : Z.le small working_one by clear -s0 s1; move: working_one s1 => o s1; lia.
have tie : `|W - W * 1| <= 3%:R by rewrite mulr1 subrr normr0 ler0n.
have start := @series_near MOST_TERMS 0 working_one small 1 w0 s0 s3 ler01 tie.
have [v0 v1] := @series_bounds MOST_TERMS 1 working_one small (Pos2Z.is_pos _) w0 s0 s4.
move: start v0 v1; move: (series _ _ _ _) => v start v0 v1.
have near : `|zr v - W * E (- (X / 2%:R ^+ n))| <= 55%:R.
  rewrite (_ : _ - _ = (zr v - W * alternating MOST_TERMS 0 1 (zr small / W)) - ((W * E (- (X / 2%:R ^+ n)) - W * E (- (zr small / W)))
     + (W * E (- (zr small / W)) - W * alternating MOST_TERMS 0 1 (zr small / W)))); last by move: W (E _) (E _) (alternating _ _ _ _) => *; ring.
  rewrite (le_trans (ler_norm_sub _ _)) // -[55%N]/(51 + (2 + 2))%N !natrD ler_add //; first by rewrite (le_trans start) // -natrM.
  by rewrite (le_trans (ler_norm_add _ _)) // ler_add.
have e01 : 0 <= E (- (X / 2%:R ^+ n)) <= 1 by rewrite (ltW (exponential_gt0 isE _)) exponential_le1 // divr_ge0 // ltW.
have := squared_near n v0 v1 e01 near; rewrite -(exponential_halved isE).
have bounds := @squared_bounds n _ v0 v1; move: (squared n v) bounds => t t0 last.
have rE := shifted t 32; have r0 : Z.le 0 (Z.shiftr t (Z.of_nat 32)) by apply/Z.shiftr_nonneg.
have kept : Z.sub WORKING_BITS EXP_BITS = Z.of_nat 32 by [].
move: rE r0; rewrite kept; move: (Z.shiftr t (Z.of_nat 32)) => r rE /(@zr_leP Z0) r0.
have two : zr EXP_ERROR = 2%:R by [].
rewrite -[frac (Fraction r exp_unit)]/(zr r / zr (Zpos exp_unit)) -[frac (Fraction EXP_ERROR exp_unit)]/(zr EXP_ERROR / zr (Zpos exp_unit)) two.
have unit0 : 0 < zr (Zpos exp_unit) by exact: zr_gt0.
have unitE : Zpos exp_unit = Z.pow 2 (Z.of_nat 96) by vm_compute.
have WU : W = zr (Zpos exp_unit) * 2%:R ^+ 32 by rewrite unitE zr_power_of_two -exprD W_power.
apply: (last_argument unit0 WU erefl n15 last rE r0); rewrite /X; have [le|lt] := leP (frac q) 96%:R; first by left.
right; have tiny b : 96%:R <= b -> zr (Zpos exp_unit) * E (- b) <= 1.
  by rewrite unitE zr_power_of_two mulrC; exact: exponential_small.
split; first exact: ltW (exponential_gt0 isE _).
by split; apply: tiny; [exact: lexx|exact: ltW lt].
Qed.
End Exponential.
