(** * The checker of one margin problem in rows

    Points phi_0 .. phi_(m-1) of a space, phi_m = 0, and rows (i, j, s, t): each is <w, phi_i - phi_j> + s b >= t up to its loss.
    Every row has a cost of its loss, which is hinge or squared, or no cost, and must then be satisfied.

    [margin_sound]   an interval that [lower_check] and [upper_check] accept contains the optimum, which exists if the upper end is
                     finite; if the lower end is infinite, no point is feasible. *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring ssrZ.
From equimargin Require Import inner optimum qp margin.
From equimargin.checker Require Import integers spaces costs.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

Record row := Row { plus : nat; minus : nat; sign : Z; target : Z }.
(** Targets and costs have a unit each; a row without a cost must be satisfied. *)
Record margin_problem := MarginProblem { rows : seq row; target_unit : positive;
  row_costs : seq (option Z); cost_unit : positive; is_squared : bool }.
Record primal_point := Primal { function_of : function; bias : fraction }.
Record dual_point := Dual { multipliers : seq Z; multiplier_unit : positive }.
Inductive end_point := Finite of fraction | Infinite | MinusInfinite.
Record interval := Interval { lower : end_point; upper : end_point }.

(** ** What is computed *)
Definition no_row := Row 0 0 Z0 Z0.
Fixpoint add_at (i : nat) (k : Z) (s : seq Z) : seq Z :=
  match i, s with
  | _, [::] => [::]
  | 0, a :: s' => Z.add k a :: s'
  | i'.+1, a :: s' => a :: add_at i' k s'
  end.
(** The coefficient of every point in the sum of the rows times their multipliers. *)
Fixpoint pull (m : nat) (al : seq Z) (s : seq row) : seq Z :=
  match al, s with
  | k :: al', r :: s' => if Z.eqb k Z0 then pull m al' s' else add_at (plus r) k (add_at (minus r) (Z.opp k) (pull m al' s'))
  | _, _ => nseq m Z0
  end.
(** These coefficients if multipliers are given, and otherwise none. *)
Definition pulled_by (m : nat) (s : seq row) (given : option dual_point) : seq Z := if given is Some D then pull m (multipliers D) s else [::].

Section Primal.
Variables (P : margin_problem) (f : function) (b : fraction).
(** t - <w, phi_i - phi_j> - s b for every row, or more where there is noise, over [loss_unit]. *)
Definition loss_unit := Pos.mul (target_unit P) (Pos.mul (value_unit f) (den b)).
Definition excesses : seq Z :=
  let scale := Zpos (Pos.mul (target_unit P) (den b)) in
  let values := [seq Z.mul v scale | v <- values f] in
  let noise := Z.mul (Z.add (noise f) (noise f)) scale in
  let b' := Z.mul (num b) (Zpos (Pos.mul (target_unit P) (value_unit f))) in
  let one := Zpos (Pos.mul (value_unit f) (den b)) in
  [seq Z.add (Z.sub (Z.mul (target r) one)
    (Z.add (Z.sub (entry values (plus r)) (entry values (minus r))) (Z.mul (sign r) b'))) noise | r <- rows P].
Definition losses := [seq Z.max Z0 e | e <- excesses].
Definition powers := if is_squared P then [seq Z.mul e e | e <- losses] else losses.
Definition power_unit := if is_squared P then Pos.mul loss_unit loss_unit else loss_unit.
Definition lost := Fraction (product [seq odflt Z0 c | c <- row_costs P] powers) (Pos.mul (cost_unit P) power_unit).
Definition primal_value := fadd (fmul half (length2 f)) lost.
Definition rows_without_cost_are_met := all (fun p => if p.1 is Some _ then true else Z.leb p.2 Z0) (zip (row_costs P) excesses).
End Primal.

(** An upper bound is known for the squared norm of the sum of the rows times their multipliers. *)
Section Dual.
Variables (P : margin_problem) (D : dual_point) (size2 : fraction) (exact : bool).
Definition multipliers_are_natural := all (Z.leb Z0) (multipliers D).
Definition is_within_cost (p : option Z * Z) := if p.1 is Some c then
  Z.eqb p.2 Z0 || (if is_squared P then Z.ltb Z0 c else Z.leb (Z.mul p.2 (Zpos (cost_unit P))) (Z.mul c (Zpos (multiplier_unit D))))
  else true.
Definition multipliers_are_within_costs := all is_within_cost (zip (row_costs P) (multipliers D)).
Definition multipliers_are_balanced := Z.eqb (product (map sign (rows P)) (multipliers D)) Z0.

(** Pairs of a cost, which may be shared by several rows, and the sum of their squared multipliers. *)
Fixpoint paid (cs : seq (option Z)) (al : seq Z) : seq (Z * Z) :=
  match cs, al with
  | Some c :: cs', k :: al' => if Z.eqb k Z0 then paid cs' al' else
      match paid cs' al' with
      | (c', t) :: rest => if Z.eqb c c' then (c, Z.add (Z.mul k k) t) :: rest else [:: (c, Z.mul k k), (c', t) & rest]
      | [::] => [:: (c, Z.mul k k)]
      end
  | None :: cs', _ :: al' => paid cs' al'
  | _, _ => [::]
  end.
(** 1 / (4 c) over a unit: exact, or rounded up to a multiple of 2^-1024, because the common unit of many such numbers may be long. *)
Definition INVERSE_COST_BITS : Z := 1024.
Definition inverse_unit (s : seq (Z * Z)) : positive :=
  if exact then Z.to_pos (foldr (fun p l => Z.lcm (Z.mul 4 p.1) l) (Zpos 1) s) else Z.to_pos (Z.pow 2 INVERSE_COST_BITS).
Definition inverse (u : positive) (c : Z) : Z :=
  Z.opp (Z.div (Z.opp (Z.mul (Zpos (cost_unit P)) (Zpos u))) (Z.mul 4 c)).
Definition is_inverse (u : positive) (c v : Z) := Z.ltb Z0 c && Z.leb (Z.mul (Zpos (cost_unit P)) (Zpos u)) (Z.mul (Z.mul 4 c) v).
(** An upper bound of the sum of al^2 / (4 c) over the rows with a cost; None if an inverse is None. *)
Definition ridge : option fraction :=
  if ~~ is_squared P then Some (Fraction Z0 1) else
  let s := paid (row_costs P) (multipliers D) in let u := inverse_unit s in
  let terms := [seq (p.1, inverse u p.1, p.2) | p <- s] in
  if all (fun t => is_inverse u t.1.1 t.1.2) terms
  then Some (Fraction (total [seq Z.mul t.1.2 t.2 | t <- terms]) (Pos.mul u (Pos.mul (multiplier_unit D) (multiplier_unit D)))) else None.
Definition gain := Fraction (product (map target (rows P)) (multipliers D)) (Pos.mul (target_unit P) (multiplier_unit D)).
Definition dual_value r := fadd gain (fopp (fadd (fmul half size2) r)).
Definition is_ray := [&& Z.ltb Z0 (num gain), Z.eqb (num size2) Z0 &
  all (fun p => if p.1 is Some _ then Z.eqb p.2 Z0 else true) (zip (row_costs P) (multipliers D))].
Definition dual_fits := [&& size (multipliers D) == size (rows P), multipliers_are_natural, multipliers_are_within_costs & multipliers_are_balanced].
Definition lower_end_is_proved (l : end_point) := match l with
  | MinusInfinite => true
  | Infinite => is_ray
  | Finite q => is_ray || (if ridge is Some r then fleb q (dual_value r) else false)
  end.
End Dual.

Definition rows_fit (P : margin_problem) :=
  (size (row_costs P) == size (rows P)) && all (fun c => if c is Some k then Z.leb Z0 k else true) (row_costs P).
(** Check of the lower end by a dual point, or without one; of the upper end by a primal point, or without one. *)
Definition lower_check (P : margin_problem) (length_of : positive -> fraction) (exact : bool) (l : end_point) (given : option dual_point) :=
  if given is Some D then
    dual_fits P D && lower_end_is_proved P D (length_of (multiplier_unit D)) exact l
  else if l is MinusInfinite then true else false.
Definition upper_check (P : margin_problem) (u : end_point) (given : option primal_point) :=
  if given is Some (Primal f b) then rows_without_cost_are_met P f b &&
    (match u with Infinite => true | Finite q => fleb (primal_value P f b) q | MinusInfinite => false end)
  else if u is Infinite then true else false.

(** ** What it means *)
Local Open Scope ring_scope.
Section Claim.
Variables (R : realFieldType) (T : Type) (feas : T -> Prop) (obj : T -> R).
Definition at_least (l : end_point) := match l with
  | MinusInfinite => True
  | Finite q => forall t, feas t -> frac q <= obj t
  | Infinite => forall t, ~ feas t end.
Definition at_most (u : end_point) := match u with
  | Infinite => True
  | Finite q => exists2 v, minimum feas obj v & v <= frac q
  | MinusInfinite => False end.
Definition in_interval (I : interval) := at_least (lower I) /\ at_most (upper I).
(** Between two finite ends: the minimum exists, and lies between them. *)
Theorem in_interval_minimum lo hi : in_interval (Interval (Finite lo) (Finite hi)) <->
  exists2 v, minimum feas obj v & frac lo <= v <= frac hi.
Proof.
split=> [[low [v [t [F O] e] h]]|[v [t [F O] e] /andP[l h]]].
  by exists v; [exists t|rewrite h -e low].
by split=> [t' F'|]; [rewrite (le_trans l) // -e O|exists v => //; exists t].
Qed.
End Claim.
Lemma in_interval_rewritten (R : realFieldType) T T' (F : T -> Prop) (p : T -> R) (F' : T' -> Prop) (p' : T' -> R) f h I :
  (forall t, F t -> F' (f t)) -> (forall t, p' (f t) = p t) -> (forall t, F' t -> F (h t)) -> (forall t, p (h t) = p' t) ->
  in_interval F p I -> in_interval F' p' I.
Proof.
move=> Ff pf Fh ph [low up]; split.
  case: (lower I) low => //= [q|] low t Ft; first by rewrite -ph //; exact: low (Fh _ Ft).
  exact: low (Fh _ Ft).
case: (upper I) up => //= q [v mv l]; exists v => //; apply: minimum_transfer mv => t Ft.
  by exists (f t); [exact: Ff|rewrite pf].
by exists (h t); [exact: Fh|rewrite ph].
Qed.

Section Meaning.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (phi : nat -> V) (P : margin_problem).
Local Notation n := (size (rows P)).
Local Notation r_ i := (nth no_row (rows P) i).
Hypothesis fit : rows_fit P.
Definition row_vector r : V := phi (plus r) - phi (minus r).
Definition row_sign (i : 'I_n) : R := zr (sign (r_ i)).
Definition row_target (i : 'I_n) : R := zr (target (r_ i)) / zr (Zpos (target_unit P)).
Definition row_at (i : 'I_n) := row_vector (r_ i).
Definition cost_at (i : 'I_n) : option R := omap (fun k => frac (Fraction k (cost_unit P))) (nth None (row_costs P) i).
Definition rows_feas := costs_feas ip row_at row_sign row_target cost_at.
Definition rows_obj := costs_obj ip (is_squared P) cost_at : V * R * ('I_n -> R) -> R.

Lemma size_costs : size (row_costs P) = n. Proof. by have /andP[/eqP] := fit. Qed.
Lemma cost_ge0 i k : cost_at i = Some k -> 0 <= k.
Proof.
have /andP[_ h] := fit; have := all_nthP None h i; rewrite size_costs ltn_ord /cost_at => /(_ isT).
by case: (nth None) => //= c c0 [<-]; apply: divr_ge0; [exact: zr_ge0|exact: ltW (zr_gt0 _ _)].
Qed.
Lemma odd_cost i : odflt 0 (cost_at i) = over [seq odflt Z0 c | c <- row_costs P] (cost_unit P) i.
Proof. by rewrite /cost_at /over /entry (nth_map None) ?size_costs //; case: nth => //=; rewrite zr0 mul0r. Qed.
Lemma zr_num_gt0 q : Z.ltb Z0 (num q) -> 0 < frac q :> R.
Proof. by rewrite /frac; case: (num q) => // p _; rewrite divr_gt0 ?zr_gt0. Qed.

(** The values of a function at the places, up to its noise. *)
Lemma excess_over (f : function) (b : fraction) (g : nat -> R) (i : 'I_n) :
  (forall j, `|g j - over (values f) (value_unit f) j| <= frac (Fraction (noise f) (value_unit f))) ->
  row_target i - (g (plus (r_ i)) - g (minus (r_ i)) + row_sign i * frac b) <= over (excesses P f b) (loss_unit P f b) i.
Proof.
move=> near; have := near (plus (r_ i)); have := near (minus (r_ i)).
rewrite /over /excesses /entry (nth_map no_row) //; set r := nth _ _ _.
have scaled k j : nth Z0 [seq Z.mul v k | v <- values f] j = Z.mul (nth Z0 (values f) j) k.
  have [h|h] := ltnP j (size (values f)); first by rewrite (nth_map Z0).
  by rewrite !nth_default ?size_map.
have -> : zr (Z.add (Z.sub (Z.mul (target r) (Zpos (Pos.mul (value_unit f) (den b))))
      (Z.add (Z.sub (nth Z0 [seq Z.mul v (Zpos (Pos.mul (target_unit P) (den b))) | v <- values f] (plus r))
                    (nth Z0 [seq Z.mul v (Zpos (Pos.mul (target_unit P) (den b))) | v <- values f] (minus r)))
             (Z.mul (sign r) (Z.mul (num b) (Zpos (Pos.mul (target_unit P) (value_unit f)))))))
      (Z.mul (Z.add (noise f) (noise f)) (Zpos (Pos.mul (target_unit P) (den b))))) / zr (Zpos (loss_unit P f b)) =
    row_target i - (over (values f) (value_unit f) (plus r) - over (values f) (value_unit f) (minus r) + row_sign i * frac b)
    + (frac (Fraction (noise f) (value_unit f)) + frac (Fraction (noise f) (value_unit f))) :> R.
  rewrite !scaled /row_target /row_sign -/r /over /entry /loss_unit !(zrB, zrD, zrM, zrP) /frac /=.
  by field; rewrite !zr_neq0.
rewrite !ler_distl => /andP[_ h1] /andP[h2 _].
have key := addr_ge0 (etrans (subr_ge0 _ _) h1) (etrans (subr_ge0 _ _) h2); rewrite -subr_ge0; move: key; rewrite /over /entry.
by congr (0 <= _); ring.
Qed.
Lemma loss_over (f : function) (b : fraction) (i : 'I_n) :
  over (losses P f b) (loss_unit P f b) i = Num.max 0 (over (excesses P f b) (loss_unit P f b) i) :> R.
Proof.
rewrite /over /losses /entry (nth_map Z0) ?size_map // zr_max zr0.
by rewrite maxr_pmull ?mul0r // invr_ge0 ltW ?zr_gt0.
Qed.

Section Upper.
Variables (f : function) (b : fraction) (w : V).
Hypothesis known : fits ip phi f w.
Local Notation excess i := (over (excesses P f b) (loss_unit P f b) i : R).
Local Notation t := (w, - @frac R b, fun i : 'I_n => @over R (losses P f b) (loss_unit P f b) i).
Lemma excess_above (i : 'I_n) : row_target i - (ip w (row_at i) + row_sign i * frac b) <= excess i.
Proof. by have [near _] := known; rewrite /row_at /row_vector ipBr; exact: (@excess_over f b (fun j => ip w (phi j)) i near). Qed.
Lemma loss_at (i : 'I_n) : t.2 i = Num.max 0 (excess i) :> R.
Proof. exact: loss_over. Qed.
Lemma primal_feasible : rows_without_cost_are_met P f b -> rows_feas t.
Proof.
move=> met i; rewrite loss_at; split=> /=; first by rewrite le_maxr lexx.
  by rewrite ler_subl_addl -ler_subl_addr mulrN opprK le_maxr excess_above orbT.
rewrite /cost_at; case e: (nth None) => //= _.
have := all_nthP (None, Z0) met i; rewrite size_zip size_costs size_map minnn ltn_ord nth_zip ?size_costs ?size_map // e => /(_ isT) /= e0.
by rewrite max_l // /over pmulr_lle0 ?invr_gt0 ?zr_gt0 //; exact: (@zr_le R _ Z0).
Qed.
Lemma primal_valueE : rows_obj t <= frac (primal_value P f b).
Proof.
have [_ len] := known; rewrite /primal_value fracD fracM frac_half ler_add ?ler_wpmul2l ?half_ge0 //.
rewrite /lost -(@over_product _ n) ?size_map ?size_costs //; apply: ler_sum => i _ /=; rewrite odd_cost /costs.row_loss /powers /power_unit.
by case: (is_squared P) => //; rewrite expr2 /over /entry (nth_map Z0) ?size_map // zrM zrP -mulf_div.
Qed.
Theorem upper_sound u : upper_check P u (Some (Primal f b)) -> at_most rows_feas rows_obj u.
Proof.
move=> /andP[/primal_feasible F h]; case: u h => //= q /(@frac_le R) h.
have [v mv] := costs_attained (is_squared P) cost_ge0 F; exists v => //; case: mv => [t' [_ O] <-].
by rewrite (le_trans (O _ F)) // (le_trans primal_valueE).
Qed.
End Upper.

Section Lower.
Variables (D : dual_point) (size2 : fraction) (exact : bool).
Local Notation al := (fun i : 'I_n => over (multipliers D) (multiplier_unit D) i : R).
Hypotheses (known : ip (span row_at al) (span row_at al) <= frac size2) (fits : dual_fits P D).
Let size_al : size (multipliers D) = n. Proof. by have /and4P[/eqP] := fits. Qed.
Lemma balanced_al : balanced row_sign al.
Proof.
have /and4P[_ _ _ /Z.eqb_eq h] := fits; transitivity (\sum_(i < n) over (map sign (rows P)) 1 i * al i : R).
  by apply: eq_bigr => i _; congr (_ * _); rewrite /row_sign /over /entry zr1 divr1 (nth_map no_row).
by rewrite over_product ?size_map // /frac h /= zr0 mul0r.
Qed.
Lemma al_ge0 i : 0 <= al i. Proof. by have /and4P[_ h _ _] := fits; exact: over_ge0. Qed.
Lemma al_within (i : 'I_n) : within (al i) (costs.cap (is_squared P) cost_at i).
Proof.
have /and4P[_ _ h _] := fits; have := all_nthP (None, Z0) h i.
rewrite size_zip size_costs size_al minnn ltn_ord nth_zip ?size_costs ?size_al // /is_within_cost /costs.cap /cost_at /= => /(_ isT).
case e: (nth None) => [k|] //=; have k0 : 0 <= frac (Fraction k (cost_unit P)) :> R by apply: (@cost_ge0 i); rewrite /cost_at e.
case: Z.eqb_spec => /= [z _|_].
  by case: ifP => //= _; rewrite /over /entry z zr0 mul0r.
case: (is_squared P) => /= [pos|le]; last by apply: (@frac_le R (Fraction _ _) (Fraction _ _)).
by rewrite gt_eqF // zr_num_gt0.
Qed.
Lemma gainE : \sum_i row_target i * al i = frac (gain P D).
Proof.
rewrite /gain -(@over_product _ n) ?size_map //; apply: eq_bigr => i _; congr (_ * _).
by rewrite /row_target /over /entry (nth_map no_row).
Qed.
Lemma paid_sum (h : Z -> R) cs k : size k = size cs ->
  \sum_(i < size cs) (if nth None cs i is Some c then h c * zr (entry k i) ^+ 2 else 0) = \sum_(p <- paid cs k) h p.1 * zr p.2.
Proof.
elim: cs k => [|c cs IH] [|a k] //= => [_|[e]]; first by rewrite big_ord0 big_nil.
rewrite big_ord_recl /= IH //; case: c => [c|]; last by rewrite add0r.
case: Z.eqb_spec => [->|_]; first by rewrite zr0 expr0n mulr0 add0r.
case: (paid cs k) => [|[c' t] rest]; first by rewrite !big_cons big_nil zrM expr2.
case: Z.eqb_spec => [->|_]; rewrite !big_cons /= ?zrD zrM expr2 //.
by rewrite mulrDr addrA.
Qed.
Lemma paid_ge0 cs k p : p \in paid cs k -> 0 <= zr p.2 :> R.
Proof.
move=> h; suff nonneg : all (fun p => Z.leb Z0 p.2) (paid cs k) by apply: zr_ge0; exact: (allP nonneg p h).
have square a : Z.leb Z0 (Z.mul a a) by apply/Z.leb_le; exact: Z.square_nonneg.
elim: cs k {h} => [|[c|] cs IH] [|a k] //=; case: Z.eqb => //.
have := IH k; case: (paid cs k) => [|[c' t] rest] /=; first by rewrite square.
case: Z.eqb => /= /andP[h ->]; rewrite ?square ?h // andbT.
by apply/Z.leb_le; apply: Z.add_nonneg_nonneg; apply/Z.leb_le; [exact: square|exact: h].
Qed.
Lemma zr_total_map T (F : T -> Z) s : zr (total (map F s)) = \sum_(p <- s) zr (F p) :> R.
Proof. by elim: s => [|a s IH] /=; rewrite ?big_nil ?big_cons ?zrD ?IH. Qed.
Lemma ridge_above r : ridge P D exact = Some r -> 2%:R^-1 * (\sum_i curvature (is_squared P) cost_at i * al i ^+ 2) <= frac r.
Proof.
rewrite /ridge /curvature; case: (is_squared P) => /=; last first.
  by case=> <-; rewrite big1 ?mulr0 /frac ?mul0r // => i _; rewrite mul0r.
set s := paid _ _; set u := inverse_unit exact s; case: ifP => // ok [<-].
pose g c : R := (4%:R * frac (Fraction c (cost_unit P)))^-1; pose h c : R := zr (inverse P u c) / zr (Zpos u).
have le p : p \in s -> g p.1 <= h p.1.
  move=> hp; have := allP ok (p.1, inverse P u p.1, p.2) (map_f _ hp); rewrite /is_inverse /= => /andP[pos /(@zr_le R)].
  have p0 : 0 < zr p.1 :> R by have := @zr_num_gt0 (Fraction p.1 1) pos; rewrite /frac /= zr1 divr1.
  have four : zr 4 = 4%:R :> R by [].
  rewrite !zrM four => le; have -> : g p.1 = zr (Zpos (cost_unit P)) / (4%:R * zr p.1).
    by rewrite /g /frac /=; field; rewrite zr_neq0 gt_eqF.
  by rewrite ler_pdivr_mulr ?mulr_gt0 ?ltr0n // /h mulrAC ler_pdivl_mulr ?zr_gt0 // [X in _ <= X]mulrC.
have -> : 2%:R^-1 * (\sum_i (if cost_at i is Some k then (2%:R * k)^-1 else 0) * al i ^+ 2) =
    (zr (Zpos (multiplier_unit D)))^-1 ^+ 2 * \sum_(i < size (row_costs P))
      (if nth None (row_costs P) i is Some c then g c * zr (entry (multipliers D) i) ^+ 2 else 0).
  rewrite size_costs !mulr_sumr; apply: eq_bigr => i _; rewrite /cost_at; case: (nth None) => [c|] /=; last by rewrite mul0r !mulr0.
  have -> : g c = 2%:R^-1 * (2%:R * frac (Fraction c (cost_unit P)))^-1 by rewrite /g (_ : 4%:R = 2%:R * 2%:R) -?natrM // natrM -mulrA invfM.
  by rewrite /over; move: (_^-1) (_^-1) (_^-1) (zr _) => *; ring.
rewrite paid_sum ?size_costs ?size_al // -/s [X in _ <= X]/frac /= zr_total_map big_map !zrP !invfM.
have key : \sum_(p <- s) g p.1 * zr p.2 <= \sum_(p <- s) h p.1 * zr p.2.
  by rewrite big_seq [X in _ <= X]big_seq; apply: ler_sum => p hp; rewrite ler_wpmul2r ?(paid_ge0 hp) // le.
rewrite (le_trans (ler_wpmul2l _ key)) ?exprn_ge0 ?invr_ge0 ?(ltW (zr_gt0 _ _)) //.
by rewrite mulr_sumr mulr_suml; apply: ler_sum => p _; rewrite zrM /h le_eqVlt; apply/orP; left; apply/eqP => /=; move: (zr (inverse P u p.1)) (zr p.2) => x y; field; rewrite !zr_neq0.
Qed.
Lemma dual_valueE r : ridge P D exact = Some r -> frac (dual_value P D size2 r) <= costs_dual ip row_at row_target (is_squared P) cost_at al.
Proof.
move=> /ridge_above le; rewrite /costs_dual /margin.dual_value gainE /dual_value fracD fracN fracD fracM frac_half.
by rewrite opprD addrA ler_sub // ler_sub // ler_wpmul2l ?half_ge0.
Qed.
Lemma ray_sound t : is_ray P D size2 -> ~ rows_feas t.
Proof.
case/and3P=> pos /Z.eqb_eq null free; apply: (@costs_ray_infeasible _ _ _ _ _ _ _ _ al).
split; first exact: balanced_al.
- exact: al_ge0.
- move=> i; have := all_nthP (None, Z0) free i.
  rewrite size_zip size_costs size_al minnn ltn_ord nth_zip ?size_costs ?size_al // /cost_at => /(_ isT) /=.
  by case: (nth None) => //= c /Z.eqb_eq z _; rewrite /over /entry z zr0 mul0r.
- apply/le_anti; rewrite ip_ge0 andbT (le_trans known) // /frac null zr0 mul0r //.
- by rewrite gainE zr_num_gt0.
Qed.
Theorem lower_sound l : lower_end_is_proved P D size2 exact l -> at_least rows_feas rows_obj l.
Proof.
case: l => [q| |] //= h; last by move=> t; exact: ray_sound.
move=> t F; case/orP: h => [ray|]; first by case: (ray_sound ray F).
case e: (ridge P D exact) => [r|] // /(@frac_le R) h; rewrite (le_trans h) // (le_trans (dual_valueE e)) //.
apply: (costs_weak cost_ge0 F); split=> [|i]; first exact: balanced_al.
by split; [exact: al_ge0|exact: al_within].
Qed.
End Lower.

(** The coefficients of the points are those in the sum of the rows. *)
Variable m : nat.
Hypothesis outside : forall i, (m <= i)%N -> phi i = 0.
Lemma size_add_at i k s : size (add_at i k s) = size s.
Proof. by elim: s i => [|a s IH] [|i] //=; rewrite IH. Qed.
Lemma add_at_sum i k s u : size s = m ->
  \sum_(j < m) over (add_at i k s) u j *: phi j = \sum_(j < m) over s u j *: phi j + (zr k / zr (Zpos u)) *: phi i.
Proof.
move=> e; have at_j j : (j < m)%N -> over (add_at i k s) u j = over s u j + (if j == i then zr k / zr (Zpos u) else 0) :> R.
  rewrite /over /entry -e; elim: s i j {e} => [|a s IH] [|i] [|j] //= l; rewrite ?addr0 ?eqSS ?IH //.
  by rewrite zrD mulrDl addrC.
transitivity (\sum_(j < m) (over s u j *: phi j + (if j == i :> nat then zr k / zr (Zpos u) else 0) *: phi j)).
  by apply: eq_bigr => j _; rewrite at_j ?scalerDl.
rewrite big_split; congr (_ + _) => /=; have [l|l] := ltnP i m.
  rewrite (bigD1 (Ordinal l)) //= eqxx big1 ?addr0 // => j /negPf ne.
  by rewrite -[X in if X then _ else _]/(j == Ordinal l) ne scale0r.
rewrite (outside l) scaler0 big1 // => j _; case: eqP => [e'|_]; last by rewrite scale0r.
by move: (ltn_ord j); rewrite e' ltnNge l.
Qed.
Lemma size_pull al t : size (pull m al t) = m.
Proof. by elim: al t => [|a al IH] [|r t] //=; rewrite ?size_nseq //; case: Z.eqb; rewrite ?size_add_at. Qed.
Lemma pull_sum k s u : size k = size s ->
  \sum_(j < m) over (pull m k s) u j *: phi j = \sum_(i < size s) over k u i *: row_vector (nth no_row s i).
Proof.
elim: k s => [|a k IH] [|r s] //= => [_|[e]].
  by rewrite big_ord0 big1 // => j _; rewrite /over /entry nth_nseq if_same zr0 mul0r scale0r.
rewrite big_ord_recl /= -IH //; case: Z.eqb_spec => [->|_]; first by rewrite /over /= zr0 mul0r scale0r add0r.
rewrite !add_at_sum ?size_add_at ?size_pull // zrN mulNr scaleNr -addrA addrC scalerBr; congr (_ + _).
by rewrite addrC.
Qed.

Variables (length_of : positive -> fraction).
Theorem margin_sound exact I primal dual :
  (forall D, dual = Some D -> let v := \sum_(i < m) over (pull m (multipliers D) (rows P)) (multiplier_unit D) i *: phi i in
    ip v v <= frac (length_of (multiplier_unit D))) ->
  (forall f b, primal = Some (Primal f b) -> exists w, fits ip phi f w) ->
  lower_check P length_of exact (lower I) dual -> upper_check P (upper I) primal -> in_interval rows_feas rows_obj I.
Proof.
move=> lengths known low up; split.
  case: dual lengths low => [D|] lengths; last by case: (lower I).
  case/andP=> ok h; refine (lower_sound _ ok h); have /and4P[/eqP e _ _ _] := ok.
  by have := lengths D (erefl _); rewrite /= pull_sum.
case: primal known up => [[f b]|] known up; last by move: up; case: (upper I).
by have [w h] := known f b (erefl _); exact: (upper_sound h up).
Qed.
End Meaning.
