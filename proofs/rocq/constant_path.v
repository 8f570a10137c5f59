(** * Paths that are constant between jumps: linear programs in which only the weight lambda of one cost varies

    min lambda p(x) + q(x)   s.t.   A_k(x) <= b_k

    [optimal_between]     for any functions p and q over any set, a point that is optimal at two lambda is optimal between them
    [value_concave], [penalty_falls]   the optimum is concave in lambda; as lambda increases, p decreases and q increases at the optimal points
    [finitely_many]       there are finitely many points, one of which is optimal at every lambda at which an optimal point exists
    [l1_hinge_path], [l1_hinge_between]   document P, after Theorem 1: for the hinge with an L1 regulariser, finitely many points suffice for
                          all lambda >= 0, each of them optimal on an interval: the path is piecewise constant *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From equimargin Require Import inner optimum qp margin.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** ** Any two functions *)
Section Weighted.
Variables (R : realFieldType) (T : Type) (feas : T -> Prop) (p q : T -> R).
Implicit Types (lam s : R) (x : T).
Definition weighted lam x := lam * p x + q x.
Lemma weighted_mix s lam lam' x : weighted ((1 - s) * lam + s * lam') x = (1 - s) * weighted lam x + s * weighted lam' x.
Proof. by rewrite /weighted; ring. Qed.

Theorem optimal_between s lam lam' x : 0 <= s <= 1 -> minimizer feas (weighted lam) x -> minimizer feas (weighted lam') x ->
  minimizer feas (weighted ((1 - s) * lam + s * lam')) x.
Proof.
move=> /andP[s0 s1] [F O] [_ O']; split=> // x' F'; rewrite !weighted_mix.
by rewrite ler_add // ler_wpmul2l ?subr_ge0 ?O ?O'.
Qed.
Theorem value_concave s lam lam' v v' u : 0 <= s <= 1 -> minimum feas (weighted lam) v -> minimum feas (weighted lam') v' ->
  minimum feas (weighted ((1 - s) * lam + s * lam')) u -> (1 - s) * v + s * v' <= u.
Proof.
move=> /andP[s0 s1] [x [_ O] <-] [x' [_ O'] <-] [y [F _] <-]; rewrite weighted_mix.
by rewrite ler_add // ler_wpmul2l ?subr_ge0 ?O ?O'.
Qed.
Theorem penalty_falls lam lam' x x' : 0 <= lam -> lam < lam' -> minimizer feas (weighted lam) x -> minimizer feas (weighted lam') x' ->
  p x' <= p x /\ q x <= q x'.
Proof.
move=> l0 lt [F O] [F' O']; have h := O _ F'; have h' := O' _ F.
have le : p x' <= p x.
  have := ler_add h h'; rewrite -subr_ge0 /weighted.
  have -> : lam * p x' + q x' + (lam' * p x + q x) - (lam * p x + q x + (lam' * p x' + q x')) = (lam' - lam) * (p x - p x') by ring.
  by rewrite pmulr_rge0 ?subr_gt0 // subr_ge0.
split=> //; rewrite -(ler_add2l (lam * p x)); apply: le_trans h _.
by rewrite /weighted ler_add2r ler_wpmul2l.
Qed.
End Weighted.

(** ** Linear programs *)
Section Program.
Variables (R : realFieldType) (I K : finType).
Let X := [lmodType R of {ffun I -> R^o}].
Variables (A : K -> X -> R) (b : K -> R) (p q : X -> R).
Hypotheses (FA : forall k, functional (A k)) (Fp : functional p) (Fq : functional q).
Implicit Types (x d : X) (lam : R).
Definition linear_feas x := forall k, A k x <= b k.
Definition tight x : {set K} := [set k | A k x == b k].

Fact flat_sym x d : 0 = 0 :> R. Proof. by []. Qed.
Fact flat_addl (u v w : X) : 0 = 0 + 0 :> R. Proof. by rewrite addr0. Qed.
Fact flat_scalel k (u v : X) : 0 = k * 0 :> R. Proof. by rewrite mulr0. Qed.
Fact flat_ge0 (u : X) : 0 <= 0 :> R. Proof. exact: lexx. Qed.
Definition flat := @SemiInner R X (fun _ _ => 0) flat_sym flat_addl flat_scalel flat_ge0.

Lemma farkas_refutes (J : finType) (u v mu : J -> R) : (forall j, 0 <= mu j) -> \sum_j mu j * u j = 0 -> \sum_j mu j * v j < 0 ->
  ~ forall j, u j <= v j.
Proof.
move=> mu0 z neg F; have : \sum_j mu j * u j <= \sum_j mu j * v j by apply: ler_sum => j _; rewrite ler_wpmul2l.
by rewrite z leNgt neg.
Qed.
Lemma decided (J : finType) (B : J -> X -> R) (c : J -> R) : (forall j, functional (B j)) ->
  (exists x, forall j, B j x <= c j) \/ ~ exists x, forall j, B j x <= c j.
Proof.
move=> FB; have F0 : functional (fun _ : X => 0 : R) by move=> k u v; rewrite mulr0 addr0.
have [] := @qp_alternative R I J _ (index_enum_uniq J) flat (fun=> 0) B c F0 FB.
- by case=> x [mu [F _ _ _]]; left; exists x => j; apply: F; exact: mem_index_enum.
- case=> mu [mu0 z neg]; right=> -[x F]; apply: (farkas_refutes mu0 (z x) neg).
  by move=> j; exact: F.
- by case=> d [_ _]; rewrite ltxx.
Qed.
(** For every set of constraints, a feasible point at which they are tight, if one exists. *)
Definition meets (S : {set K}) x := linear_feas x /\ S \subset tight x.
Lemma representatives : exists f : {set K} -> option X, forall S, if f S is Some x then meets S x else ~ exists x, meets S x.
Proof.
apply: (@fin_all_exists [finType of {set K}] (fun=> option X) (fun S o => if o is Some x then meets S x else ~ exists x, meets S x)) => S.
pose B (j : K + K) (x : X) := match j with inl k => A k x | inr k => if k \in S then - A k x else 0 end.
pose c (j : K + K) := match j with inl k => b k | inr k => if k \in S then - b k else 0 end.
have E x : (forall j, B j x <= c j) <-> meets S x.
  split=> [F|[F /subsetP T] [k|k] /=]; last 2 first.
  - exact: F.
  - by case: ifP => // /T; rewrite inE => /eqP ->.
  split=> [k|]; first exact: (F (inl k)).
  by apply/subsetP => k kS; rewrite inE eq_le (F (inl k)) /=; have := F (inr k); rewrite /= kS ler_opp2.
have FB j : functional (B j).
  case: j => k u v w /=; first exact: FA.
  by case: ifP => _; rewrite ?mulr0 ?addr0 // FA opprD mulrN.
have [[x /E M]|no] := @decided _ B c FB; first by exists (Some x).
by exists None => -[x /E M]; apply: no; exists x.
Qed.

(** A feasible point at which the constraints tight at an optimal point are tight is optimal, too. *)
Lemma tight_decides lam x x' : minimizer linear_feas (weighted p q lam) x -> meets (tight x) x' ->
  minimizer linear_feas (weighted p q lam) x'.
Proof.
move=> [F O] [F' /subsetP T]; have Fc : functional (fun v => - weighted p q lam v).
  by move=> k u v; rewrite /weighted Fp Fq; ring.
have [] := @qp_alternative R I K _ (index_enum_uniq K) flat (fun v => - weighted p q lam v) A b Fc FA.
- case=> y [mu [Fy mu0 cs st]]; have Fy' : linear_feas y by move=> k; apply: Fy; exact: mem_index_enum.
  have val v : weighted p q lam v = - \sum_k mu k * A k v by rewrite -[LHS]opprK st add0r.
  have cs' k : mu k * (b k - A k y) = 0 by apply: cs; exact: mem_index_enum.
  have at_y : weighted p q lam y = - \sum_k mu k * b k.
    rewrite val; congr (- _); apply: eq_bigr => k _; apply/eqP; rewrite eq_sym -subr_eq0 -mulrBr; exact/eqP.
  have pos v k : linear_feas v -> 0 <= mu k * (b k - A k v) by move=> Fv; rewrite mulr_ge0 // subr_ge0.
  have gap v : weighted p q lam v = \sum_k mu k * (b k - A k v) - \sum_k mu k * b k.
    by rewrite val -sumrB -sumrN; apply: eq_bigr => k _; ring.
  have zero k : mu k * (b k - A k x) = 0.
    have := O y Fy'; rewrite at_y gap -subr_le0 opprK subrK => le0.
    have /eqP : \sum_k mu k * (b k - A k x) = 0 by apply/eqP; rewrite eq_le le0 sumr_ge0 // => j _; exact: pos.
    by rewrite psumr_eq0 => [/allP/(_ k (mem_index_enum k))/eqP|j _]; last exact: pos.
  split=> // v Fv; rewrite !gap ler_add2r [X in X <= _]big1 ?sumr_ge0 // => [k _|k _]; first exact: pos.
  have /eqP := zero k; rewrite mulf_eq0 subr_eq0 => /orP[/eqP ->|/eqP e]; first by rewrite mul0r.
  have := T k; rewrite !inE -e eqxx => /(_ isT)/eqP ->; by rewrite e subrr mulr0.
- by case=> mu [mu0 z neg]; case: (farkas_refutes mu0 (z x) neg).
- case=> d [P _ pos]; exfalso; have Fd : linear_feas (x + d).
    by move=> k; rewrite (functionalD (FA k)) -[X in _ <= X]addr0 ler_add // P // mem_index_enum.
  have := O _ Fd; rewrite /weighted (functionalD Fp) (functionalD Fq) -subr_ge0.
  have -> : lam * (p x + p d) + (q x + q d) - (lam * p x + q x) = weighted p q lam d by rewrite /weighted; ring.
  by rewrite leNgt -oppr_gt0 pos.
Qed.

Theorem finitely_many : exists s : seq X, (forall x, x \in s -> linear_feas x) /\
  forall lam x, minimizer linear_feas (weighted p q lam) x -> exists2 x', x' \in s & minimizer linear_feas (weighted p q lam) x'.
Proof.
have [f H] := representatives; exists (pmap f (enum [finType of {set K}])); split=> [x|lam x O].
  by rewrite mem_pmap => /mapP[S _ e]; have := H S; rewrite -e => -[].
have := H (tight x); case e: (f (tight x)) => [x'|] h; last by case: h; exists x; split=> //; have [] := O.
by exists x'; [rewrite mem_pmap; apply/mapP; exists (tight x); rewrite ?mem_enum|exact: tight_decides O h].
Qed.
(** If a feasible point exists, and the cost is bounded below on the feasible points, the minimum is attained. *)
Lemma attained lam x0 m : linear_feas x0 -> (forall x, linear_feas x -> m <= weighted p q lam x) ->
  exists x, minimizer linear_feas (weighted p q lam) x.
Proof.
move=> F0 low; have Fc : functional (fun v => - weighted p q lam v).
  by move=> k u v; rewrite /weighted Fp Fq; ring.
have [] := @qp_alternative R I K _ (index_enum_uniq K) flat (fun v => - weighted p q lam v) A b Fc FA.
- case=> y [mu [Fy mu0 cs st]]; exists y; split=> [k|v Fv]; first by apply: Fy; exact: mem_index_enum.
  have val z : weighted p q lam z = - \sum_k mu k * A k z by rewrite -[LHS]opprK st add0r.
  rewrite !val ler_opp2; apply: ler_sum => k _; have /eqP := cs k (mem_index_enum k); rewrite mulrBr subr_eq0 => /eqP <-.
  by rewrite ler_wpmul2l.
- by case=> mu [mu0 z neg]; case: (farkas_refutes mu0 (z x0) neg).
- case=> d [P _ pos]; exfalso; pose k := (1 + `|weighted p q lam x0 - m|) / - weighted p q lam d.
  have k0 : 0 <= k by rewrite divr_ge0 ?addr_ge0 ?ler01 ?normr_ge0 // ltW.
  have Fd : linear_feas (k *: d + x0).
    move=> j; rewrite FA -[X in _ <= X]add0r ler_add // mulr_ge0_le0 // P // mem_index_enum.
  have := low _ Fd; rewrite leNgt => /negP; apply.
  have -> : weighted p q lam (k *: d + x0) = weighted p q lam x0 - (1 + `|weighted p q lam x0 - m|).
    have nz : - weighted p q lam d != 0 by rewrite gt_eqF.
    transitivity (weighted p q lam x0 - k * - weighted p q lam d); first by rewrite /weighted Fp Fq; ring.
    by rewrite /k -mulrA mulVf // mulr1.
  rewrite ltr_subl_addr -ltr_subl_addl; apply: le_lt_trans (ler_norm _) _; by rewrite ltr_addr ltr01.
Qed.
End Program.

(** ** The hinge with an L1 regulariser: any rows M, and variables be_j with penalties pi_j |be_j|; a bias has pi_j = 0 *)
Section Hinge.
Variables (R : realFieldType) (J P : finType) (M : P -> J -> R) (pi : J -> R).
Hypothesis pi0 : forall j, 0 <= pi j.
Implicit Types (be : J -> R) (lam s : R).
Definition l1 be := \sum_j pi j * `|be j|.
Definition hinges be := \sum_p Num.max 0 (1 - \sum_j M p j * be j).
Definition l1_hinge lam be := lam * l1 be + hinges be.

(** The problem as a linear program in be, bounds of |be|, and slacks. *)
Let U := (J + J + P)%type.
Let X := [lmodType R of {ffun U -> R^o}].
Let rows (k : J + J + (P + P)) (x : X) : R := match k with
  | inl (inl j) => x (inl (inl j)) - x (inl (inr j)) | inl (inr j) => - x (inl (inl j)) - x (inl (inr j))
  | inr (inl p) => - x (inr p) | inr (inr p) => - (\sum_j M p j * x (inl (inl j))) - x (inr p) end.
Let ends (k : J + J + (P + P)) : R := match k with inr (inr p) => -1 | _ => 0 end.
Let penalty (x : X) : R := \sum_j pi j * x (inl (inr j)).
Let slacks (x : X) : R := \sum_p x (inr p).
Let part (x : X) : J -> R := fun j => x (inl (inl j)).
Let whole be : X := [ffun k => match k with inl (inl j) => be j | inl (inr j) => `|be j|
  | inr p => Num.max 0 (1 - \sum_j M p j * be j) end].

Lemma rows_functional k : functional (rows k).
Proof.
case: k => [[j|j]|[p|p]] k u v; rewrite /rows ?ffunE.
- by rewrite /GRing.scale /=; ring.
- by rewrite /GRing.scale /=; ring.
- by rewrite opprD mulrN.
- have -> : \sum_j M p j * (k *: u + v) (inl (inl j)) = k * (\sum_j M p j * u (inl (inl j))) + \sum_j M p j * v (inl (inl j)).
    by rewrite mulr_sumr -big_split /=; apply: eq_bigr => j _; rewrite !ffunE /GRing.scale /=; ring.
  by rewrite /GRing.scale /=; move: (\sum_j _) (\sum_j _) => y z; ring.
Qed.
Lemma penalty_functional : functional penalty.
Proof. by move=> k u v; rewrite /penalty mulr_sumr -big_split /=; apply: eq_bigr => j _; rewrite !ffunE /GRing.scale /=; ring. Qed.
Lemma slacks_functional : functional slacks.
Proof. by move=> k u v; rewrite /slacks mulr_sumr -big_split /=; apply: eq_bigr => p _; rewrite !ffunE. Qed.

Lemma whole_feasible be : linear_feas rows ends (whole be).
Proof.
case=> [[j|j]|[p|p]]; rewrite /rows /ends !ffunE.
- by rewrite subr_le0 ler_norm.
- by rewrite subr_le0 -normrN ler_norm.
- by rewrite oppr_le0 le_maxr lexx.
- have -> : \sum_j M p j * whole be (inl (inl j)) = \sum_j M p j * be j by apply: eq_bigr => j _; rewrite ffunE.
  by rewrite -opprD ler_opp2 -ler_subl_addl le_maxr lexx orbT.
Qed.
Lemma whole_value lam be : weighted penalty slacks lam (whole be) = l1_hinge lam be.
Proof. by rewrite /weighted /l1_hinge; congr (_ * _ + _); apply: eq_bigr => k _; rewrite ffunE. Qed.
Lemma part_value lam x : 0 <= lam -> linear_feas rows ends x -> l1_hinge lam (part x) <= weighted penalty slacks lam x.
Proof.
move=> lam0 F; apply: ler_add.
  rewrite ler_wpmul2l // ler_sum // => j _; rewrite ler_wpmul2l // ler_norml.
  have := F (inl (inl j)); have := F (inl (inr j)); rewrite /= !subr_le0 => h ->; by rewrite andbT ler_oppl.
apply: ler_sum => p _; have := F (inr (inl p)); have := F (inr (inr p)); rewrite /= oppr_le0 -opprD ler_opp2 le_maxl => h ->.
by rewrite ler_subl_addl.
Qed.

Theorem l1_hinge_path : exists s : seq {ffun J -> R^o}, forall lam, 0 <= lam -> exists2 be, be \in s & minimizer everywhere (l1_hinge lam) be.
Proof.
have [s [_ H]] := finitely_many ends rows_functional penalty_functional slacks_functional.
exists [seq [ffun j => part x j] | x <- s] => lam lam0.
have low x : linear_feas rows ends x -> 0 <= weighted penalty slacks lam x.
  move=> F; apply: le_trans (part_value lam0 F); rewrite addr_ge0 ?mulr_ge0 ?sumr_ge0 // => [j _|p _].
    by rewrite mulr_ge0.
  by rewrite le_maxr lexx.
have [x0 O] := attained rows_functional penalty_functional slacks_functional (whole_feasible (fun=> 0)) low.
have [x xs [F {}O]] := H lam x0 O; exists [ffun j => part x j]; first exact: map_f.
have same : l1_hinge lam [ffun j => part x j] = l1_hinge lam (part x).
  rewrite /l1_hinge /l1 /hinges; congr (_ * _ + _); apply: eq_bigr => k _; first by rewrite ffunE.
  by congr (Num.max _ (_ - _)); apply: eq_bigr => j _; rewrite ffunE.
split=> // be _; rewrite same; apply: le_trans (part_value lam0 F) _; rewrite -whole_value; exact: O (whole_feasible be).
Qed.
Theorem l1_hinge_between s lam lam' be : 0 <= s <= 1 -> minimizer everywhere (l1_hinge lam) be -> minimizer everywhere (l1_hinge lam') be ->
  minimizer everywhere (l1_hinge ((1 - s) * lam + s * lam')) be.
Proof. exact: (@optimal_between _ _ everywhere l1 hinges). Qed.
End Hinge.
