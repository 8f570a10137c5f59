(** * The path in lambda: its pieces, and the problem of its direction

    al(lambda) = argmax  lambda t'al - 1/2 |sum al_i a_i|^2    s.t.  g'al = 0,  0 <= al_i <= c_i

    with residuals r_i = <sum al_j a_j, a_i> - g_i b - lambda t_i. Document P, section 5, has t = 1, c = 1 and no g. At a point of the path the direction
    d = -d(al)/d(lambda) is

    argmin  1/2 |sum d_i a_i|^2 + t'd    s.t.  g'd = 0,  d_i <= 0 unless al_i < c_i and r_i = 0,  d_i >= 0 unless al_i > 0 and r_i = 0

    [point_optimal], [optimal_point]   the signs of residuals say which multipliers are optimal at lambda
    [piece_between]       on a piece, where the sets of rows do not change, all points between two optimal points of the path are optimal
    [piece_step]          P (11)-(12): multipliers move along the solution of the equations of the rows on the margin
    [direction_exists]    at lambda > 0 a direction exists, whatever the rank, and however many rows are at a bound and on the margin
    [direction_minimal]   the minimisers of the direction problem are exactly the d that form a direction with some derivative e of the bias
    [direction_step]      along each of them there is a step of positive length on which all points are optimal
    [path_step], [rank_path_step]   hence the path continues in a straight line from every optimum to smaller lambda; for document P's problem
    [rank_path_between], [rank_path_12]   the pieces of document P's path, and its (12) *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From equimargin Require Import inner optimum qp margin representer svm ranksvm.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** ** Properties of all small h >= 0 *)
Section Near.
Variable R : realFieldType.
Implicit Types P Q : R -> Prop.
Definition near P := exists2 h : R, 0 < h & forall h', 0 <= h' <= h -> P h'.
Lemma near_always P : (forall h, 0 <= h -> P h) -> near P.
Proof. by move=> H; exists 1 => [|h /andP[/H]]; first exact: ltr01. Qed.
Lemma near_imply P Q : (forall h, 0 <= h -> P h -> Q h) -> near P -> near Q.
Proof. by move=> H [h h0 p]; exists h => // h' b; have /andP[b0 _] := b; exact: H b0 (p h' b). Qed.
Lemma near_all (I : finType) (P : I -> R -> Prop) : (forall i, near (P i)) -> near (fun h => forall i, P i h).
Proof.
move=> H; have H' i : exists h : R, 0 < h /\ forall h', 0 <= h' <= h -> P i h' by have [h h0 p] := H i; exists h.
have [h Hh] := fin_all_exists H'; have s0 : 0 <= \sum_i (h i)^-1 by rewrite sumr_ge0 // => i _; rewrite invr_ge0 ltW //; have [] := Hh i.
have p0 : 0 < 1 + \sum_i (h i)^-1 by rewrite ltr_paddr // ltr01.
exists (1 + \sum_i (h i)^-1)^-1 => [|h' /andP[a b] i]; first by rewrite invr_gt0.
have [hi0 p] := Hh i; apply: p; rewrite a (le_trans b) // -[X in _ <= X]invrK lef_pinv ?posrE ?invr_gt0 //.
rewrite (bigD1 i) //= addrCA ler_addl addr_ge0 ?ler01 // sumr_ge0 // => j _; by rewrite invr_ge0 ltW //; have [] := Hh j.
Qed.
Lemma near_and P Q : near P -> near Q -> near (fun h => P h /\ Q h).
Proof.
move=> p q; have := @near_all [finType of bool] (fun b => if b then P else Q) (fun b => if b as b return near (if b then P else Q) then p else q).
by apply: near_imply => h _ H; split; [exact: (H true)|exact: (H false)].
Qed.
Lemma near_ge0 (x z : R) : 0 <= x -> (x = 0 -> 0 <= z) -> near (fun h => 0 <= x + h * z).
Proof.
rewrite le_eqVlt => /orP[/eqP <-|x0 _]; first by move=> /(_ erefl) z0; apply: near_always => h h0; rewrite add0r mulr_ge0.
have n0 : 0 < 1 + `|z| by rewrite ltr_paddr ?normr_ge0 ?ltr01.
exists (x / (1 + `|z|)) => [|h /andP[h0 hx]]; first by rewrite divr_gt0.
rewrite -ler_subl_addl sub0r ler_oppl; apply: le_trans (_ : h * `|z| <= x).
  by rewrite -mulrN ler_wpmul2l // -normrN ler_norm.
move: hx; rewrite ler_pdivl_mulr // => hx; apply: le_trans hx.
by rewrite ler_wpmul2l // ler_addr ler01.
Qed.
End Near.

Section Path.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (I : finType) (a : I -> V) (g t c : I -> R).
Hypothesis c0 : forall i, 0 <= c i.
Implicit Types (lam b e h : R) (al d : I -> R).

Definition path_feas := hinge_dual_feas g c.
Definition path_obj lam al := lam * (\sum_i t i * al i) - 2%:R^-1 * ip (span a al) (span a al).
Definition residual lam al b i := ip (span a al) (a i) - g i * b - lam * t i.
(** A feasible point whose residuals have the signs that make it optimal. *)
Definition point lam al b := path_feas al /\
  forall i, (0 < al i -> residual lam al b i <= 0) /\ (al i < c i -> 0 <= residual lam al b i).
Definition move al h d : I -> R := fun i => al i + h * d i.

Lemma path_objE lam al : path_obj lam al = dual_value ip a (fun i => lam * t i) al.
Proof. by rewrite /path_obj /dual_value mulr_sumr; congr (_ - _); apply: eq_bigr => i _; rewrite mulrA. Qed.
Lemma span_move al h d : span a (move al h d) = span a al + h *: span a d.
Proof. by rewrite /span scaler_sumr -big_split /=; apply: eq_bigr => i _; rewrite scalerDl scalerA. Qed.
Lemma balanced_move al h d : balanced g al -> balanced g d -> balanced g (move al h d).
Proof.
rewrite /balanced => al0 d0; transitivity (\sum_i g i * al i + h * (\sum_i g i * d i)); last by rewrite al0 d0 mulr0 addr0.
by rewrite mulr_sumr -big_split /=; apply: eq_bigr => i _; rewrite /move; ring.
Qed.

Theorem point_optimal lam al b : point lam al b -> maximizer path_feas (path_obj lam) al.
Proof.
move=> [F S]; pose r := residual lam al b; pose xi i := Num.max 0 (- r i).
have K : hinge_kkt ip a g (fun i => lam * t i) c (span a al, b, xi) al.
  have sl i : slack ip a g (fun i => lam * t i) (span a al) b xi i = r i + xi i by rewrite /slack /r /residual.
  split=> //=; rewrite ?subrr ?ip0l // => i; have [_ D] := F; have /andP[al0 alc] := D i; have [s1 s2] := S i.
  - split; first by rewrite /= /xi le_maxr lexx.
    rewrite /= -subr_ge0; have -> : ip (span a al) (a i) - g i * b - (lam * t i - xi i) = r i + xi i by rewrite /r /residual; ring.
    by rewrite -ler_subl_addl sub0r /xi le_maxr lexx orbT.
  - have [->|nz] := eqVneq (al i) 0; first by rewrite mul0r.
    have p : 0 < al i by rewrite lt_def nz.
    by rewrite sl /xi max_r ?subrr ?mulr0 // oppr_ge0 s1.
  - have [->|nz] := eqVneq (al i) (c i); first by rewrite subrr mul0r.
    have p : al i < c i by rewrite lt_def eq_sym nz.
    by rewrite /xi max_l ?mulr0 // oppr_le0 s2.
have [_ [_ O]] := kkt_optimal (hinge_pair ip a g (fun i => lam * t i) c) K.
by split=> // al' /O; rewrite !path_objE.
Qed.
Theorem optimal_point lam al : maximizer path_feas (path_obj lam) al -> exists b, point lam al b.
Proof.
move=> [F O]; have O' : maximizer (hinge_dual_feas g c) (dual_value ip a (fun i => lam * t i)) al.
  by split=> // al' /O; rewrite !path_objE.
have [[v [[[w b] xi] Op _] _] K] := hinge_duality ip a g (fun i => lam * t i) c0.
have [P D st cs cap] := (K _ _).1 (conj Op O'); exists b; split=> // i; have [x0 m] := P i; have := cs i; have := cap i; move: m.
have e : ip (span a al) (a i) = ip w (a i) by apply/esym/eqP; rewrite -subr_eq0 -ipBl (ip_null _ st).
rewrite /residual e /= -subr_ge0; set s := slack _ _ _ _ _ _ _ _.
have -> : ip w (a i) - g i * b - (lam * t i - xi i) = s by rewrite /s /slack; ring.
have -> : ip w (a i) - g i * b - lam * t i = s - xi i by rewrite /s /slack; ring.
move=> s0 /eqP; rewrite mulf_eq0 subr_eq0 => cx /eqP; rewrite mulf_eq0 => as0; split=> [p|p].
  by move: as0; rewrite gt_eqF //= => /eqP ->; rewrite sub0r oppr_le0.
by move: cx; rewrite gt_eqF //= => /eqP ->; rewrite subr0.
Qed.

(** ** Pieces: multipliers of rows Z are 0, those of rows U at their caps c_i, all other rows are on the margin *)
Section Piece.
Variables Z U : pred I.
Definition piece lam al b := path_feas al /\ forall i,
  if Z i then al i = 0 /\ 0 <= residual lam al b i else if U i then al i = c i /\ residual lam al b i <= 0 else residual lam al b i = 0.
Lemma piece_point lam al b : piece lam al b -> point lam al b.
Proof.
move=> [F S]; split=> // i; have := S i; case: ifP => _; first by case=> -> r0; rewrite ltxx.
by case: ifP => _ => [[-> r0]|->]; rewrite ?ltxx ?lexx.
Qed.
Definition mix (s u v : R) := (1 - s) * u + s * v.
Lemma mix_le (s u v k : R) : 0 <= s <= 1 -> u <= k -> v <= k -> mix s u v <= k.
Proof.
move=> /andP[s0 s1] uk vk; have -> : k = mix s k k by rewrite /mix -mulrDl subrK mul1r.
by rewrite ler_add // ler_wpmul2l // subr_ge0.
Qed.
Lemma mix_ge (s u v k : R) : 0 <= s <= 1 -> k <= u -> k <= v -> k <= mix s u v.
Proof.
move=> /andP[s0 s1] ku kv; have -> : k = mix s k k by rewrite /mix -mulrDl subrK mul1r.
by rewrite ler_add // ler_wpmul2l // subr_ge0.
Qed.
Lemma span_mix s al al' : span a (fun i => mix s (al i) (al' i)) = (1 - s) *: span a al + s *: span a al'.
Proof. by rewrite /span !scaler_sumr -big_split /=; apply: eq_bigr => i _; rewrite /mix scalerDl !scalerA. Qed.
Lemma residual_mix s lam lam' al al' b b' i :
  residual (mix s lam lam') (fun i => mix s (al i) (al' i)) (mix s b b') i = mix s (residual lam al b i) (residual lam' al' b' i).
Proof. by rewrite /residual span_mix ip_addl !ip_scalel /mix; move: (ip _ _) (ip _ _) => u v; ring. Qed.

Theorem piece_between s lam lam' al al' b b' : 0 <= s <= 1 -> piece lam al b -> piece lam' al' b' ->
  piece (mix s lam lam') (fun i => mix s (al i) (al' i)) (mix s b b').
Proof.
move=> s01 [[bal F] S] [[bal' F'] S']; split; first split.
- rewrite /balanced; transitivity ((1 - s) * (\sum_i g i * al i) + s * (\sum_i g i * al' i)); last by rewrite bal bal' !mulr0 addr0.
  by rewrite !mulr_sumr -big_split /=; apply: eq_bigr => i _; rewrite /mix; ring.
- by move=> i; have /andP[l u] := F i; have /andP[l' u'] := F' i; rewrite mix_ge ?mix_le.
- move=> i; rewrite residual_mix; have := S i; have := S' i; case: ifP => _.
    by case=> -> r' [-> r]; split; [rewrite /mix !mulr0 addr0|exact: mix_ge].
  case: ifP => _; first by case=> -> r' [-> r]; split; [rewrite /mix -mulrDl subrK mul1r|exact: mix_le].
  by move=> -> ->; rewrite /mix !mulr0 addr0.
Qed.
(** P (11)-(12): eta solves the equations of the rows on the margin, and is 0 at the others; the step ends before a row leaves its set. *)
Theorem piece_step lam al b eta e h : piece lam al b -> balanced g eta -> (forall i, Z i || U i -> eta i = 0) ->
  (forall i, ~~ (Z i || U i) -> ip (span a eta) (a i) - g i * e = t i) ->
  (forall i, 0 <= al i - h * eta i <= c i) -> (forall i, Z i -> 0 <= residual (lam - h) (move al (- h) eta) (b - h * e) i) ->
  (forall i, ~~ Z i -> U i -> residual (lam - h) (move al (- h) eta) (b - h * e) i <= 0) ->
  piece (lam - h) (move al (- h) eta) (b - h * e).
Proof.
move=> [[bal F] S] beta off on box low high; split; first split.
- exact: balanced_move.
- by move=> i; rewrite /move mulNr box.
- move=> i; have := S i; case: ifP => [z|/negbT z].
    by case=> al0 _; split; [rewrite /move off ?z // mulr0 addr0|exact: low].
  case: ifP => [u|/negbT u]; first by case=> alc _; split; [rewrite /move off ?u ?orbT // mulr0 addr0|exact: high].
  have := on i; rewrite negb_or z u => /(_ isT); rewrite /residual span_move ip_addl ip_scalel => <- r.
  by rewrite -[RHS]r; move: (ip _ _) (ip _ _) => p q; ring.
Qed.
End Piece.

(** ** The direction *)
Section Direction.
Variables (lam b : R) (al : I -> R).
Hypothesis optimal : point lam al b.
Let r := residual lam al b.
Definition may_rise i := (r i == 0) && (al i < c i).
Definition may_fall i := (r i == 0) && (0 < al i).
Definition cone d := balanced g d /\ forall i, (~~ may_rise i -> d i <= 0) /\ (~~ may_fall i -> 0 <= d i).
Definition direction_obj d := 2%:R^-1 * ip (span a d) (span a d) + \sum_i t i * d i.
Definition slope d e i := ip (span a d) (a i) - g i * e + t i.
Definition direction d e := cone d /\
  forall i, [/\ may_rise i -> 0 <= slope d e i, may_fall i -> slope d e i <= 0 & d i * slope d e i = 0].

Lemma residual_move h d e i : residual (lam - h) (move al h d) (b + h * e) i = r i + h * slope d e i.
Proof. by rewrite /r /residual /slope span_move ip_addl ip_scalel; move: (ip _ _) (ip _ _) => p q; ring. Qed.

Theorem direction_step d e : direction d e -> near (fun h => point (lam - h) (move al h d) (b + h * e)).
Proof.
move=> [[bal K] D]; have [[albal F] S] := optimal.
have N : near (fun h => forall i, (0 <= al i + h * d i /\ 0 <= (c i - al i) + h * - d i) /\
    ((r i < 0 -> 0 <= - r i + h * - slope d e i) /\ (0 < r i -> 0 <= r i + h * slope d e i))).
  apply: near_all => i; have /andP[l u] := F i; have [k1 k2] := K i.
  apply: near_and; apply: near_and.
  - by apply: near_ge0 => // z; apply: k2; rewrite /may_fall z ltxx andbF.
  - apply: near_ge0; first by rewrite subr_ge0.
    by move/eqP; rewrite subr_eq0 => /eqP z; rewrite oppr_ge0; apply: k1; rewrite /may_rise z ltxx andbF.
  - have [n|n] := ltrP (r i) 0; last by apply: near_always.
    have p : 0 < - r i by rewrite oppr_gt0.
    by apply: (near_imply _ (near_ge0 (z := - slope d e i) (ltW p) _)) => [h _ H _ //|z]; rewrite z ltxx in p.
  - have [p|n] := ltrP 0 (r i); last by apply: near_always.
    by apply: (near_imply _ (near_ge0 (z := slope d e i) (ltW p) _)) => [h _ H _ //|z]; rewrite z ltxx in p.
apply: (near_imply _ N) => h h0 {}N; split; first split; first exact: balanced_move.
  by move=> i; have [[n1 n2] _] := N i; rewrite n1 /= -subr_ge0; have -> : c i - move al h d i = c i - al i + h * - d i by rewrite /move; ring.
move=> i; have [_ [n3 n4]] := N i; have [s1 s2 s3] := D i; have [k1 k2] := K i; have /andP[l u] := F i; have [S1 S2] := S i.
rewrite residual_move /move; split=> [p|p].
  have [n|p'|z] := ltrgtP (r i) 0; first by rewrite -oppr_ge0 opprD -mulrN n3.
    have [nr nf] : ~~ may_rise i /\ ~~ may_fall i by rewrite /may_rise /may_fall gt_eqF.
    have d0 : d i = 0 by apply/eqP; rewrite eq_le k1 ?k2.
    by move: p; rewrite d0 mulr0 addr0 => /S1; rewrite -/r leNgt p'.
  rewrite z add0r; have [a0|a0] := eqVneq (al i) 0; last first.
    by rewrite mulr_ge0_le0 // s2 // /may_fall z eqxx lt_def a0.
  move: p; rewrite a0 add0r => p; have dn : d i != 0 by apply: contraTneq p => ->; rewrite mulr0 ltxx.
  by move/eqP: s3; rewrite mulf_eq0 (negPf dn) => /eqP ->; rewrite mulr0.
have [n|p'|z] := ltrgtP (r i) 0; last 1 first.
- rewrite z add0r; have [a0|a0] := eqVneq (al i) (c i); last first.
    by rewrite mulr_ge0 // s1 // /may_rise z eqxx lt_def eq_sym a0.
  move: p; rewrite a0 -subr_gt0 opprD addrA subrr add0r => p; have dn : d i != 0 by apply: contraTneq p => ->; rewrite mulr0 oppr0 ltxx.
  by move/eqP: s3; rewrite mulf_eq0 (negPf dn) => /eqP ->; rewrite mulr0.
- have [nr nf] : ~~ may_rise i /\ ~~ may_fall i by rewrite /may_rise /may_fall lt_eqF.
  have d0 : d i = 0 by apply/eqP; rewrite eq_le k1 ?k2.
  by move: p; rewrite d0 mulr0 addr0 => /S2; rewrite -/r leNgt n.
- exact: n4.
Qed.

(** The direction problem: its minimisers are the directions, and one exists. *)
Lemma direction_gap d e d' : balanced g d -> balanced g d' -> direction_obj d' - direction_obj d =
  2%:R^-1 * ip (span a d' - span a d) (span a d' - span a d) + \sum_i (d' i - d i) * slope d e i.
Proof.
move=> bal bal'.
have -> : \sum_i (d' i - d i) * slope d e i = ip (span a d) (span a d' - span a d) + (\sum_i t i * d' i - \sum_i t i * d i).
  transitivity (\sum_i (d' i * ip (span a d) (a i) - d i * ip (span a d) (a i)) - e * (\sum_i g i * d' i - \sum_i g i * d i)
      + (\sum_i t i * d' i - \sum_i t i * d i)).
    by rewrite -!sumrB mulr_sumr -sumrB -big_split /=; apply: eq_bigr => i _; rewrite /slope; ring.
  by rewrite bal bal' subr0 mulr0 subr0 sumrB ipBr !ip_span.
rewrite /direction_obj !ipBl !ipBr (ip_sym ip (span a d') (span a d)).
by move: (ip _ _) (ip _ _) (ip _ _) (\sum_i _) (\sum_i _) => u v w x z; field.
Qed.
Lemma terms_ge0 d e d' i : direction d e -> cone d' -> 0 <= d' i * slope d e i.
Proof.
move=> [_ /(_ i) [s1 s2 _]] [_ /(_ i) [k1 k2]].
have [n|p|->] := ltrgtP (d' i) 0; last by rewrite mul0r.
  by apply: mulr_le0; [exact: ltW|apply: s2; apply: contraLR n => /k2; rewrite -leNgt].
by apply: mulr_ge0; [exact: ltW|apply: s1; apply: contraLR p => /k1; rewrite -leNgt].
Qed.
Lemma direction_minimises d e : direction d e -> minimizer cone direction_obj d.
Proof.
move=> D; have [[bal K] S] := D; split=> // d' K'; have [bal' _] := K'.
rewrite -subr_ge0 (direction_gap e bal bal') addr_ge0 ?mulr_ge0 ?half_ge0 ?ip_ge0 // sumr_ge0 // => i _.
by have [_ _ z] := S i; rewrite mulrBl z subr0; exact: terms_ge0.
Qed.

Theorem direction_exists : 0 < lam -> exists d e, direction d e.
Proof.
move=> lam0; pose J := (I + I)%type.
pose aj (k : J) : V := match k with inl i => a i | inr i => - a i end.
pose gj (k : J) : R := match k with inl i => g i | inr i => - g i end.
pose tj (k : J) : R := match k with inl i => - t i | inr i => t i end.
pose cj (k : J) : option R := match k with inl i => if may_rise i then None else Some 0 | inr i => if may_fall i then None else Some 0 end.
pose back (u : J -> R) i := u (inl i) - u (inr i).
have spanE u : span aj u = span a (back u).
  by rewrite /span big_sumType /= -big_split /=; apply: eq_bigr => i _; rewrite scalerBl scalerN.
have balE u : balanced gj u -> balanced g (back u).
  rewrite /balanced big_sumType /= -big_split /= => e; rewrite -[RHS]e; apply: eq_bigr => i _; rewrite /back; ring.
have capE k m : cj k = Some m -> m = 0 by case: k => i /=; case: ifP => // _ [].
have [] := @margin_alternative R V ip _ aj gj tj cj; first by move=> k m /capE ->.
  case=> u [e [xi [bal pos cs cap]]]; exists (back u), e.
  have up i : slack ip aj gj tj (span aj u) e xi (inl i) = slope (back u) e i + xi (inl i) by rewrite /slack /slope spanE /=; ring.
  have dn i : slack ip aj gj tj (span aj u) e xi (inr i) = - slope (back u) e i + xi (inr i) by rewrite /slack /slope spanE /= ipNr; ring.
  have u0 k : 0 <= u k by have [] := pos k.
  have capped k : cj k = Some 0 -> u k = 0 by move=> ck; have := cap k; rewrite ck => -[le _]; apply/eqP; rewrite eq_le le u0.
  have free k : cj k = None -> xi k = 0 by move=> ck; have := cap k; rewrite ck.
  have xl i : may_rise i -> xi (inl i) = 0 by move=> m; apply: free; rewrite /= m.
  have xr i : may_fall i -> xi (inr i) = 0 by move=> m; apply: free; rewrite /= m.
  have ul i : ~~ may_rise i -> u (inl i) = 0 by move=> /negPf m; apply: capped; rewrite /= m.
  have ur i : ~~ may_fall i -> u (inr i) = 0 by move=> /negPf m; apply: capped; rewrite /= m.
  split; first split; first exact: balE.
    by move=> i; rewrite /back; split=> [/ul ->|/ur ->]; rewrite ?sub0r ?oppr_le0 ?subr0.
  move=> i; split=> [m|m|].
  - by have [_ _] := pos (inl i); rewrite up xl // addr0.
  - by have [_ _] := pos (inr i); rewrite dn xr // addr0 oppr_ge0.
  - have z1 : u (inl i) * slope (back u) e i = 0.
      by case: (boolP (may_rise i)) => [m|/ul ->]; [have := cs (inl i); rewrite up xl // addr0|rewrite mul0r].
    have z2 : u (inr i) * slope (back u) e i = 0.
      case: (boolP (may_fall i)) => [m|/ur ->]; last by rewrite mul0r.
      by have /eqP := cs (inr i); rewrite dn xr // addr0 mulrN oppr_eq0 => /eqP.
    by rewrite {1}/back mulrBl z1 z2 subrr.
case=> u [bal u0 capped null pos]; exfalso; move: pos; rewrite ltNge => /negP; apply.
have on i : back u i != 0 -> r i = 0.
  move=> nz; apply/eqP; apply: contraR nz => nr; rewrite /back !capped ?subrr //=; by rewrite /may_rise /may_fall (negPf nr).
have z : \sum_i back u i * r i = 0.
  by apply: big1 => i _; have [->|/on ->] := eqVneq (back u i) 0; rewrite ?mul0r ?mulr0.
have -> : \sum_k tj k * u k = - (\sum_i t i * back u i).
  by rewrite big_sumType /= -big_split /= -sumrN; apply: eq_bigr => i _; rewrite /back; ring.
suff -> : \sum_i t i * back u i = 0 by rewrite oppr0.
apply: (mulfI (lt0r_neq0 lam0)); rewrite mulr0; have bal' := balE _ bal.
transitivity (ip (span a al) (span a (back u)) - b * (\sum_i g i * back u i) - \sum_i back u i * r i).
  rewrite ip_span !mulr_sumr -!sumrB; apply: eq_bigr => i _; rewrite /r /residual; ring.
by rewrite z bal' mulr0 !subr0 ip_sym (ip_null _) // -spanE.
Qed.

Theorem direction_minimal d : 0 < lam -> minimizer cone direction_obj d <-> exists e, direction d e.
Proof.
move=> lam0; split=> [[K O]|[e D]]; last exact: direction_minimises D.
have [d0 [e D]] := direction_exists lam0; exists e.
have [[bal0 K0] S0] := D; have [bal K'] := K.
have := O d0 (conj bal0 K0); rewrite -subr_le0 (direction_gap e bal0 bal) => le0.
have pos i : 0 <= (d i - d0 i) * slope d0 e i by have [_ _ z] := S0 i; rewrite mulrBl z subr0; exact: terms_ge0.
have q0 : 0 <= 2%:R^-1 * ip (span a d - span a d0) (span a d - span a d0) by rewrite mulr_ge0 ?half_ge0 ?ip_ge0.
have s0 : 0 <= \sum_i (d i - d0 i) * slope d0 e i by rewrite sumr_ge0.
have /eqP : 2%:R^-1 * ip (span a d - span a d0) (span a d - span a d0) + \sum_i (d i - d0 i) * slope d0 e i = 0.
  by apply/eqP; rewrite eq_le le0 addr_ge0.
rewrite paddr_eq0 // mulf_eq0 (negPf (half_neq0 R)) /= psumr_eq0 // => /andP[/eqP null /allP zero].
have same i : slope d e i = slope d0 e i.
  by rewrite /slope; congr (_ - _ + _); apply/eqP; rewrite -subr_eq0 -ipBl (ip_null _ null).
split=> // i; rewrite same; have [s1 s2 z] := S0 i; split=> //.
by have /eqP := zero i (mem_index_enum i); rewrite mulrBl z subr0.
Qed.
End Direction.

Theorem path_step lam al : 0 < lam -> maximizer path_feas (path_obj lam) al ->
  exists d, near (fun h => maximizer path_feas (path_obj (lam - h)) (move al h d)).
Proof.
move=> lam0 /optimal_point[b opt]; have [d [e D]] := direction_exists b al lam0; exists d.
by apply: (near_imply _ (direction_step opt D)) => h _; exact: point_optimal.
Qed.
End Path.

(** ** Document P: (8), all multipliers at most 1, and no bias *)
Section Ranking.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (X P : finType) (phi : X -> V) (hi lo : P -> X).
Implicit Types (lam h : R) (al eta : P -> R).
Let a p := phi (hi p) - phi (lo p).
Let none (p : P) : R := 0.
Let one (p : P) : R := 1.
Let caps : forall p, 0 <= one p. Proof. by move=> p; exact: ler01. Qed.
Local Notation feas := (@rank_path_feas R P).
Local Notation obj := (rank_path_obj ip phi hi lo).
Definition rank_residual lam al p := ip (rank_w phi hi lo al) (phi (hi p) - phi (lo p)) - lam.
(** P's sets: I_0, where multipliers are 0, I_1, where they are 1, and I_alpha, the rest, on the margin. *)
Definition rank_piece (I0 I1 : pred P) lam al := feas al /\ forall p,
  if I0 p then al p = 0 /\ 0 <= rank_residual lam al p else if I1 p then al p = 1 /\ rank_residual lam al p <= 0 else rank_residual lam al p = 0.

Lemma rank_path_feasE al : feas al <-> path_feas none one al.
Proof. by split=> [F|[_ F]] //; split=> //; exact: rank_balanced. Qed.
Lemma rank_path_objE lam al : obj lam al = path_obj ip a one lam al.
Proof.
rewrite /rank_path_obj rank_quadraticE /path_obj; congr (_ * _ - _).
by apply: eq_bigr => p _; rewrite mul1r.
Qed.
Lemma rank_path_maximizer lam al : maximizer feas (obj lam) al <-> maximizer (path_feas none one) (path_obj ip a one lam) al.
Proof.
split=> -[/rank_path_feasE F O]; split=> // al' /rank_path_feasE /O; by rewrite !rank_path_objE.
Qed.
Lemma rank_residualE lam al b p : residual ip a none one lam al b p = rank_residual lam al p.
Proof. by rewrite /residual /rank_residual /none /one mul0r subr0 mulr1. Qed.
Lemma rank_pieceE I0 I1 lam al b : rank_piece I0 I1 lam al <-> piece ip a none one one I0 I1 lam al b.
Proof. by split=> -[/rank_path_feasE F S]; split=> // p; have := S p; rewrite rank_residualE. Qed.

Theorem rank_path_step lam al : 0 < lam -> maximizer feas (obj lam) al ->
  exists d, exists2 h0, 0 < h0 & forall h, 0 <= h <= h0 -> maximizer feas (obj (lam - h)) (fun p => al p + h * d p).
Proof.
move=> lam0 /rank_path_maximizer O; have [d [h0 p0 H]] := path_step caps lam0 O.
by exists d, h0 => // h /H /rank_path_maximizer.
Qed.
Theorem rank_path_between I0 I1 lam lam' al al' s : 0 <= s <= 1 -> rank_piece I0 I1 lam al -> rank_piece I0 I1 lam' al' ->
  maximizer feas (obj ((1 - s) * lam + s * lam')) (fun p => (1 - s) * al p + s * al' p).
Proof.
move=> s01 /(rank_pieceE _ _ _ _ 0) A /(rank_pieceE _ _ _ _ 0) B; apply/rank_path_maximizer.
exact: point_optimal (piece_point (piece_between s01 A B)).
Qed.
(** (12): eta solves P K P' eta = 1 on I_alpha and is 0 elsewhere, and al' = al - h eta. *)
Theorem rank_path_12 I0 I1 lam al eta h : rank_piece I0 I1 lam al -> (forall p, I0 p || I1 p -> eta p = 0) ->
  (forall p, ~~ (I0 p || I1 p) -> \sum_p' Qhat ip phi hi lo p p' * eta p' = 1) ->
  let al' := move al (- h) eta in (forall p, 0 <= al' p <= 1) -> (forall p, I0 p -> 0 <= rank_residual (lam - h) al' p) ->
  (forall p, ~~ I0 p -> I1 p -> rank_residual (lam - h) al' p <= 0) -> maximizer feas (obj (lam - h)) al'.
Proof.
move=> /(rank_pieceE _ _ _ _ 0) A off on al' box low high; apply/rank_path_maximizer.
have D : piece ip a none one one I0 I1 (lam - h) (move al (- h) eta) (0 - h * 0).
  apply: piece_step => // [|p np|p|p z|p nz u].
  - exact: rank_balanced.
  - rewrite mulr0 subr0 -[RHS](on p np) ip_sym ip_span; apply: eq_bigr => p' _.
    by rewrite QhatE mulrC.
  - by have := box p; rewrite /al' /move mulNr.
  - by rewrite rank_residualE; exact: low.
  - by rewrite rank_residualE; exact: high.
exact: point_optimal (piece_point D).
Qed.
End Ranking.
