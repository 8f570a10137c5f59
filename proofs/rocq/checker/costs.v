(** * Margin problems in which every row has its own cost

    Rows a_i in a semi-inner-product space, signs g_i of the bias, targets r_i as in [margin], and a cost c_i >= 0 of every row, or None for a
    row that must be satisfied.

    min 1/2 |w|^2 + sum c_i xi_i     s.t.  <w, a_i> - g_i b >= r_i - xi_i, xi_i >= 0, xi_i = 0 if c_i is None

    with xi_i^2 in the objective if the loss is squared.

    [costs_weak]       the dual value of multipliers is at most the objective of every feasible point
    [costs_ray]        no point is feasible if there is a ray
    [costs_attained]   the minimum exists if there is a feasible point *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From equimargin Require Import inner optimum qp margin.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** A space with one more coordinate for every row; the squared norm has q_i times its square. *)
Section Widened.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (I : finType) (q : I -> R).
Hypothesis q0 : forall i, 0 <= q i.
Local Notation W := [lmodType R of (V * {ffun I -> R^o})%type].
Definition wide (u v : W) : R := ip u.1 v.1 + \sum_i q i * (u.2 i * v.2 i).
Fact wide_sym u v : wide u v = wide v u.
Proof. by rewrite /wide ip_sym; congr (_ + _); apply: eq_bigr => i _; rewrite (mulrC (u.2 i)). Qed.
Fact wide_addl u v z : wide (u + v) z = wide u z + wide v z.
Proof.
rewrite /wide /= ip_addl addrACA -big_split; congr (_ + _).
by apply: eq_bigr => i _; rewrite !ffunE mulrDl mulrDr.
Qed.
Fact wide_scalel k (u v : W) : wide (k *: u) v = k * wide u v.
Proof.
rewrite /wide /= ip_scalel mulrDr mulr_sumr; congr (_ + _).
by apply: eq_bigr => i _; rewrite !ffunE -[k *: (_ : R^o)]/(k * _) -mulrA mulrCA.
Qed.
Fact wide_ge0 u : 0 <= wide u u.
Proof. by rewrite addr_ge0 ?ip_ge0 ?sumr_ge0 // => i _; rewrite mulr_ge0 // -expr2 sqr_ge0. Qed.
Definition wide_ip := SemiInner wide_sym wide_addl wide_scalel wide_ge0.
Definition widened (a : I -> V) i : W := (a i, delta R i).
Lemma wide_span a (al : I -> R) : span (widened a) al = (span a al, [ffun i => al i]) :> W.
Proof.
have both (u v : W) : u.1 = v.1 -> u.2 = v.2 -> u = v by case: u v => [? ?] [? ?] /= -> ->.
apply: both => /=; first by rewrite /span (big_morph (fun u : W => u.1) (id1 := 0) (op1 := +%R)).
rewrite /span (big_morph (fun u : W => u.2) (id1 := 0) (op1 := +%R)) //=; apply/ffunP => j.
rewrite sum_ffunE !ffunE (bigD1 j) //= big1 => [|i /negPf n].
  by rewrite !ffunE eqxx addr0 -[_ *: _]/(_ * _) mulr1.
by rewrite !ffunE eq_sym n scaler0.
Qed.
Lemma wide_at (u : W) a i : wide u (widened a i) = ip u.1 (a i) + q i * u.2 i.
Proof.
rewrite /wide; congr (_ + _); rewrite (bigD1 i) //= big1 => [|j /negPf n]; rewrite ffunE.
  by rewrite eqxx mulr1 addr0.
by rewrite n !mulr0.
Qed.
End Widened.

Section Costs.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (I : finType) (a : I -> V) (g r : I -> R).
Variables (squared : bool) (c : I -> option R).
Hypothesis c0 : forall i k, c i = Some k -> 0 <= k.
Definition row_loss (x : R) := if squared then x ^+ 2 else x.
Definition costs_feas (t : V * R * (I -> R)) :=
  forall i, [/\ 0 <= t.2 i, r i - t.2 i <= ip t.1.1 (a i) - g i * t.1.2 & c i = None -> t.2 i = 0].
Definition costs_obj (t : V * R * (I -> R)) := 2%:R^-1 * ip t.1.1 t.1.1 + \sum_i odflt 0 (c i) * row_loss (t.2 i).
(** The quadratic dual cost of a row's multiplier (twice the cost over the square), and the multiplier's upper bound. *)
Definition curvature i := if squared then (if c i is Some k then (2%:R * k)^-1 else 0) else 0.
Definition cap i := if c i is Some k then (if squared && (k != 0) then None else Some k) else None.
Definition within (x : R) (o : option R) : bool := if o is Some k then x <= k else true.
Definition costs_dual_feas (al : I -> R) := balanced g al /\ forall i, 0 <= al i /\ within (al i) (cap i).
Definition costs_dual al := dual_value ip a r al - 2%:R^-1 * \sum_i curvature i * al i ^+ 2.

Lemma curvature_ge0 i : 0 <= curvature i.
Proof. by rewrite /curvature; case: squared => //; case e: (c i) => [k|] //; rewrite invr_ge0 mulr_ge0 ?ler0n ?(c0 e). Qed.
(** Fenchel's inequality for the loss of a row, and its equality for the slack of the multiplier, plus [e] at an upper bound. *)
Lemma loss_above i x al : 0 <= x -> (c i = None -> x = 0) -> 0 <= al -> within al (cap i) ->
  al * x <= odflt 0 (c i) * row_loss x + 2%:R^-1 * (curvature i * al ^+ 2).
Proof.
rewrite /within /cap /curvature /row_loss => x0 met al0; case e: (c i) met => [k|] met; last first.
  by move=> _; rewrite met // mulr0 mul0r add0r; case: squared; rewrite mul0r mulr0.
have k0 := c0 e; case: squared => /=; last by move=> le; rewrite mul0r mulr0 addr0 ler_wpmul2r.
have [->|nz] := eqVneq k 0 => /= h; first by rewrite (le_anti (introT andP (conj h al0))) mul0r mul0r expr0n mulr0 mulr0 addr0.
rewrite -subr_ge0; have -> : k * x ^+ 2 + 2%:R^-1 * ((2%:R * k)^-1 * al ^+ 2) - al * x = k * (x - (2%:R * k)^-1 * al) ^+ 2 by field.
by rewrite mulr_ge0 ?sqr_ge0.
Qed.
Lemma loss_equal i e al : (if cap i is Some k then al <= k /\ (k - al) * e = 0 else e = 0) -> 0 <= al ->
  al * (curvature i * al + e) = odflt 0 (c i) * row_loss (curvature i * al + e) + 2%:R^-1 * (curvature i * al ^+ 2).
Proof.
rewrite /cap /curvature /row_loss; case h: (c i) => [k|]; last by move=> -> _; case: squared; rewrite !(mul0r, mulr0, addr0).
case: squared => /=; last by case=> _ /eqP; rewrite mulrBl subr_eq0 mul0r add0r mul0r mulr0 addr0 => /eqP ->.
have [->|nz] := eqVneq k 0 => /=; first by case=> l _ al0; rewrite (le_anti (introT andP (conj l al0))) !mul0r expr0n !mulr0 addr0.
by move=> -> _; field.
Qed.

Lemma costs_gap w b xi al : balanced g al -> costs_obj (w, b, xi) - costs_dual al =
  2%:R^-1 * ip (w - span a al) (w - span a al) + \sum_i al i * slack ip a g r w b xi i
  + \sum_i (odflt 0 (c i) * row_loss (xi i) + 2%:R^-1 * (curvature i * al i ^+ 2) - al i * xi i).
Proof.
move=> bal; rewrite /costs_obj /costs_dual /= opprB addrACA -[X in _ = X]addrA.
rewrite [X in _ = _ + X]addrC !addrA.
have -> : 2%:R^-1 * ip w w = 2%:R^-1 * ip w w - dual_value ip a r al + dual_value ip a r al by rewrite subrK.
rewrite (gap_identity ip a r w b xi bal) !sumrB !big_split /= -mulr_sumr.
by move: (\sum_i _ * slack _ _ _ _ _ _ _ _) (\sum_i _ * xi _) (\sum_i odflt _ _ * _) (\sum_i _ * _ ^+ 2) (dual_value _ _ _ _) (ip _ _) => *; ring.
Qed.
Theorem costs_weak t al : costs_feas t -> costs_dual_feas al -> costs_dual al <= costs_obj t.
Proof.
case: t => [[w b] xi] F [bal D]; rewrite -subr_ge0 costs_gap //.
have at_row i : 0 <= al i * slack ip a g r w b xi i.
  by have [_ s _] := F i; have [al0 _] := D i; rewrite mulr_ge0 //; move: s; rewrite /= slackE.
have at_loss i : 0 <= odflt 0 (c i) * row_loss (xi i) + 2%:R^-1 * (curvature i * al i ^+ 2) - al i * xi i.
  by have [x0 _ m] := F i; have [al0 h] := D i; rewrite subr_ge0; exact: (loss_above x0 m al0 h).
by rewrite !addr_ge0 ?mulr_ge0 ?half_ge0 ?ip_ge0 ?sumr_ge0.
Qed.

Definition costs_ray d := [/\ balanced g d, forall i, 0 <= d i, forall i, c i -> d i = 0, ip (span a d) (span a d) = 0 & 0 < \sum_i r i * d i].
Theorem costs_ray_infeasible d t : costs_ray d -> ~ costs_feas t.
Proof.
case: t => [[w b] xi] ray F; apply: (ray_infeasible (w := w) (b := b) (xi := xi) (c := c) ray) => i.
by have [_ s m] := F i; split=> //; move: s; rewrite /= slackE.
Qed.

Theorem costs_attained t : costs_feas t -> exists v, minimum costs_feas costs_obj v.
Proof.
move=> F; have cap0 i k : cap i = Some k -> 0 <= k.
  by rewrite /cap; case e: (c i) => [k'|] //; case: ifP => // _ [<-]; exact: c0 e.
have [[al [b [e [bal pos cs cp]]]]|[d [bal d0 dc nul gain]]] := margin_alternative (wide_ip ip curvature_ge0) (widened a) g r cap0; last first.
  exfalso; apply: (@costs_ray_infeasible d t) => //; move: nul; rewrite wide_span /= /wide /= => /eqP.
  have s0 i : 0 <= curvature i * ([ffun i => d i] i * [ffun i => d i] i) by rewrite mulr_ge0 ?curvature_ge0 // -expr2 sqr_ge0.
  rewrite paddr_eq0 ?ip_ge0 ?sumr_ge0 // psumr_eq0 // => /andP[/eqP n /allP z]; split=> // i ci.
  have := dc i; have := z i (mem_index_enum i); rewrite /= /cap /curvature; move: ci; case e: (c i) => [k|] // _.
  case: squared => //=; last by move=> _; apply.
  have [->|nz] /= := eqVneq k 0; first by move=> _; apply.
  by rewrite !ffunE !mulf_eq0 invr_eq0 mulf_eq0 (negPf nz) pnatr_eq0 /= orbb => /eqP.
pose xi i := curvature i * al i + e i.
have at_row i : slack (wide_ip ip curvature_ge0) (widened a) g r (span (widened a) al) b e i = slack ip a g r (span a al) b xi i.
  by rewrite /slack /= wide_at wide_span /= ffunE /xi; ring.
have feas : costs_feas (span a al, b, xi).
  move=> i; have [al0 e0] := pos i; rewrite at_row => s; split=> /=.
  - by rewrite addr_ge0 ?mulr_ge0 ?curvature_ge0.
  - by rewrite slackE.
  - move=> ci; have := cp i; rewrite /cap ci /xi /curvature ci => ->; by case: squared; rewrite mul0r addr0.
have dual : costs_dual_feas al.
  by split=> // i; have [al0 _ _] := pos i; split=> //; have := cp i; rewrite /within; case: (cap i) => // k [].
have zero : costs_obj (span a al, b, xi) = costs_dual al.
  apply/eqP; rewrite -subr_eq0 costs_gap // subrr ip0l mulr0 add0r; apply/eqP.
  rewrite big1 => [|i _]; last by rewrite -at_row.
  rewrite add0r big1 // => i _; apply/eqP; rewrite subr_eq0; apply/eqP; apply/esym.
  by apply: loss_equal; [exact: cp|have [] := pos i].
exists (costs_obj (span a al, b, xi)), (span a al, b, xi) => //; split=> // t' F'.
by rewrite zero; exact: costs_weak.
Qed.
End Costs.
