(** * Convex quadratic programs over an ordered field

    min 1/2 B(x, x) - c(x)   s.t.   A_k(x) <= b_k   for x in R^I and B symmetric and positive semidefinite.

    [qp_alternative]: a point with multipliers satisfies KKT, or nonnegative multipliers prove that no point is feasible (Farkas), or
    the objective is unbounded below along a ray of feasible points. No closedness, compactness or square root is used: the
    proof is an induction on the constraints, so it holds over the rationals as well as over the reals. With B = 0 it is the duality
    of linear programming. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From equimargin Require Import inner.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section QP.
Variables (R : realFieldType) (I : finType) (K : eqType).
Let V := [lmodType R of {ffun I -> R^o}].
Implicit Types (B : semi_inner V) (c f h : V -> R) (A : K -> V -> R) (b lam : K -> R) (s : seq K) (x d e v : V).

Definition functional f := forall a u v, f (a *: u + v) = a * f u + f v.
Definition delta (j : I) : V := [ffun i => (i == j)%:R].

Section Functional.
Variable f : V -> R.
Hypothesis F : functional f.
Lemma functional0 : f 0 = 0.
Proof. by have := F (-1) 0 0; rewrite scaler0 addr0 mulN1r addNr. Qed.
Lemma functionalD u v : f (u + v) = f u + f v.
Proof. by rewrite -[u]scale1r F mul1r scale1r. Qed.
Lemma functionalZ a v : f (a *: v) = a * f v.
Proof. by rewrite -[a *: v]addr0 F functional0 addr0. Qed.
Lemma functionalB u v : f (u - v) = f u - f v.
Proof. by rewrite functionalD -scaleN1r functionalZ mulN1r. Qed.
Lemma functional_sum (J : finType) (g : J -> R) (x : J -> V) : f (\sum_j g j *: x j) = \sum_j g j * f (x j).
Proof.
rewrite (big_morph f functionalD functional0); apply: eq_bigr => j _; exact: functionalZ.
Qed.
End Functional.

Lemma deltaE x : x = \sum_j x j *: delta j.
Proof.
apply/ffunP => i; rewrite sum_ffunE (bigD1 i) //= !ffunE eqxx big1 ?addr0.
  by rewrite /GRing.scale /= mulr1.
by move=> j ne; rewrite !ffunE eq_sym (negPf ne) /GRing.scale /= mulr0.
Qed.
Lemma functional_ext f h : functional f -> functional h -> (forall j, f (delta j) = h (delta j)) -> forall v, f v = h v.
Proof.
move=> F H E v; rewrite [v]deltaE (functional_sum F) (functional_sum H).
by apply: eq_bigr => j _; rewrite E.
Qed.
Lemma functional_unit f : functional f -> (forall v, f v = 0) \/ exists e, f e = 1.
Proof.
move=> F; have [/forallP z|/forallPn[j nz]] := boolP [forall j, f (delta j) == 0].
  left; apply: functional_ext => // [|j]; last exact/eqP.
  by move=> a u v; rewrite mulr0 addr0.
by right; exists ((f (delta j))^-1 *: delta j); rewrite functionalZ // mulVf.
Qed.
Lemma functional_ip B x : functional (B x).
Proof. by move=> a u v; rewrite ip_addr ip_scaler. Qed.
Lemma functional_lam A lam s : (forall k, functional (A k)) -> functional (fun v => \sum_(k <- s) lam k * A k v).
Proof.
move=> F a u v; rewrite mulr_sumr -big_split /=; apply: eq_bigr => k _.
by rewrite F; ring.
Qed.

Definition kkt_point B c A b s x lam := [/\ forall k, k \in s -> A k x <= b k, forall k, 0 <= lam k,
  forall k, k \in s -> lam k * (b k - A k x) = 0 & forall v, c v = B x v + \sum_(k <- s) lam k * A k v].
Definition farkas A b s lam := [/\ forall k, 0 <= lam k, forall v, \sum_(k <- s) lam k * A k v = 0
  & \sum_(k <- s) lam k * b k < 0].
Definition ray B c A s d := [/\ forall k, k \in s -> A k d <= 0, B d d = 0 & 0 < c d].
Definition alternative B c A b s := [\/ exists x, exists lam, kkt_point B c A b s x lam,
  exists lam, farkas A b s lam | exists d, ray B c A s d].

(** No constraints: c is in the range of B, or not orthogonal to its kernel. *)
Lemma unconstrained B c A b : functional c -> alternative B c A b [::].
Proof.
move=> Fc; pose D (i : 'I_#|I|) := delta (enum_val i).
pose M : 'M[R]_#|I| := \matrix_(i, j) B (D i) (D j); pose u : 'rV[R]_#|I| := \row_j c (D j).
have [/submxP[y E]|] := boolP (u <= M)%MS.
  pose x := \sum_i y 0 i *: D i; apply: Or31; exists x, (fun=> 0); split=> //.
  suff E' v : c v = B x v by move=> v; rewrite big_nil addr0.
  move: v; apply: (functional_ext Fc (@functional_ip B x)) => j.
  have /matrixP/(_ 0 (enum_rank j)) := E; rewrite !mxE /D enum_rankK => ->.
  rewrite ip_suml; apply: eq_bigr => i _; by rewrite ip_scalel mxE /D enum_rankK.
rewrite submxE => nz; have [k hk] : exists k, (u *m cokermx M) 0 k != 0.
  apply/existsP; rewrite -negb_forall; apply: contra nz => /forallP z.
  by apply/eqP/rowP => k; rewrite [RHS]mxE; apply/eqP.
pose z := \sum_i cokermx M i k *: D i.
have Bz i : B (D i) z = 0.
  have := mulmx_coker M => /matrixP/(_ i k); rewrite mxE [RHS]mxE => <-.
  by rewrite ip_sumr; apply: eq_bigr => j _; rewrite ip_scaler [M i j]mxE mulrC.
have cz : c z = (u *m cokermx M) 0 k.
  by rewrite /z functional_sum // mxE; apply: eq_bigr => i _; rewrite [u 0 i]mxE mulrC.
have zz : B z z = 0.
  by rewrite {2}/z ip_sumr big1 // => i _; rewrite ip_scaler ip_sym Bz mulr0.
apply: Or33; exists (c z *: z); split=> //; first by rewrite ip_scalel ip_scaler zz !mulr0.
by rewrite functionalZ // -expr2 exprn_even_gt0 //= cz.
Qed.

(** On the hyperplane A_0(x) = b_0, where A_0(e) = 1: multipliers mu of either sign. *)
Definition hyperplane_alternative B c A b s (A0 : V -> R) (b0 : R) :=
  [\/ exists x lam mu, [/\ A0 x = b0, forall k, k \in s -> A k x <= b k, forall k, 0 <= lam k,
        forall k, k \in s -> lam k * (b k - A k x) = 0
      & forall v, c v = B x v + \sum_(k <- s) lam k * A k v + mu * A0 v],
      exists lam mu, [/\ forall k, 0 <= lam k, forall v, \sum_(k <- s) lam k * A k v + mu * A0 v = 0
      & \sum_(k <- s) lam k * b k + mu * b0 < 0]
    | exists d, [/\ forall k, k \in s -> A k d <= 0, A0 d = 0, B d d = 0 & 0 < c d]].
Section Hyperplane.
Variables (B : semi_inner V) (c : V -> R) (A : K -> V -> R) (b : K -> R) (s : seq K) (A0 : V -> R) (b0 : R) (e : V).
Hypotheses (Fc : functional c) (FA : forall k, functional (A k)) (F0 : functional A0) (e1 : A0 e = 1).
Let L v : V := v - A0 v *: e.
Lemma L_linear a u v : L (a *: u + v) = a *: L u + L v.
Proof. by rewrite /L F0 scalerDl scalerBr scalerA opprD addrACA. Qed.
Lemma A0L v : A0 (L v) = 0.
Proof. by rewrite /L functionalB // functionalZ // e1 mulr1 subrr. Qed.
Lemma along f : functional f -> forall v, f (L v) = f v - A0 v * f e.
Proof. by move=> F v; rewrite /L functionalB // functionalZ. Qed.
Fact L_sym u v : B (L u) (L v) = B (L v) (L u). Proof. exact: ip_sym. Qed.
Fact L_addl u v w : B (L (u + v)) (L w) = B (L u) (L w) + B (L v) (L w).
Proof. by rewrite -[u in L (u + _)]scale1r L_linear scale1r ip_addl. Qed.
Lemma L0 : L 0 = 0.
Proof. by rewrite /L (functional0 F0) scale0r subr0. Qed.
Fact L_scalel a u v : B (L (a *: u)) (L v) = a * B (L u) (L v).
Proof. by rewrite -[a *: u]addr0 L_linear L0 addr0 ip_scalel. Qed.
Fact L_ge0 u : 0 <= B (L u) (L u). Proof. exact: ip_ge0. Qed.
Definition on_hyperplane := @SemiInner R V (fun u v => B (L u) (L v)) L_sym L_addl L_scalel L_ge0.
Let c' v := c (L v) - b0 * B e (L v).
Let A' k v := A k (L v).
Let b' k := b k - b0 * A k e.

Lemma hyperplane_functional f : functional f -> functional (fun v => f (L v)).
Proof. by move=> F a u v; rewrite L_linear F. Qed.
Lemma hyperplane_cost : functional c'.
Proof.
move=> a u v; rewrite /c' L_linear Fc ip_addr ip_scaler.
by move: (B e _) (B e _) (c _) (c _) => p q y z; ring.
Qed.

Lemma hyperplane : alternative on_hyperplane c' A' b' s -> hyperplane_alternative B c A b s A0 b0.
Proof.
case=> [[z [lam [P l0 cs st]]]|[lam [l0 z neg]]|[d [P n pos]]].
- pose x := L z + b0 *: e.
  have Ax k : A k x = A' k z + b0 * A k e by rewrite functionalD // functionalZ.
  pose h v := c v - B x v - \sum_(k <- s) lam k * A k v.
  have Fh : functional h.
    move=> a u v; rewrite /h Fc (functional_ip B x) (functional_lam lam s FA).
    by move: (\sum_(k <- _) _) (\sum_(k <- _) _) => p q; ring.
  apply: Or31; exists x, lam, (h e); split=> //.
  + by rewrite functionalD // A0L add0r functionalZ // e1 mulr1.
  + by move=> k ks; rewrite Ax -ler_subr_addr; exact: P.
  + by move=> k ks; rewrite Ax -(cs k ks) /b'; congr (_ * _); ring.
  move=> v; have hv : h (L v) = 0.
    have := st v; rewrite /h /c' /x ip_addl ip_scalel /= => /eqP.
    by rewrite subr_eq => /eqP ->; move: (\sum_(k <- _) _) (B (L z) _) (B e _) => p q y; ring.
  move: hv; rewrite along // => /eqP; rewrite subr_eq0 => /eqP hv.
  by rewrite [h e * _]mulrC -hv /h; move: (\sum_(k <- _) _) (B x v) => p q; ring.
- pose mu := - \sum_(k <- s) lam k * A k e; apply: Or32; exists lam, mu; split=> //.
    move=> v; have := z v; rewrite (along (functional_lam lam s FA)) => /eqP; rewrite subr_eq0 => /eqP ->.
    by rewrite /mu mulNr mulrC subrr.
  suff -> : \sum_(k <- s) lam k * b k + mu * b0 = \sum_(k <- s) lam k * b' k by [].
  rewrite /mu mulNr mulr_suml -sumrB; apply: eq_bigr => k _; rewrite /b'; ring.
- have n' : B (L d) (L d) = 0 := n; apply: Or33; exists (L d); split=> //; first exact: A0L.
  by move: pos; rewrite /c' (ip_sym B e) (ip_null _ n') mulr0 subr0.
Qed.
End Hyperplane.

Section Cons.
Variables (k0 : K) (s : seq K).
Hypothesis k0s : k0 \notin s.
Definition with_mu lam mu k := if k == k0 then mu else lam k.
Lemma sum_with_mu lam mu (f : K -> R) :
  \sum_(k <- k0 :: s) with_mu lam mu k * f k = mu * f k0 + \sum_(k <- s) lam k * f k.
Proof.
rewrite big_cons /with_mu eqxx; congr (_ + _); apply: eq_big_seq => k ks.
by case: eqP => // e; rewrite e (negPf k0s) in ks.
Qed.
Lemma with_mu_ge0 lam mu : (forall k, 0 <= lam k) -> 0 <= mu -> forall k, 0 <= with_mu lam mu k.
Proof. by move=> h0 h1 k; rewrite /with_mu; case: eqP. Qed.
Lemma with_muE lam mu k : k \in s -> with_mu lam mu k = lam k.
Proof. by move=> ks; rewrite /with_mu; case: eqP => // e; rewrite e (negPf k0s) in ks. Qed.

Variables (B : semi_inner V) (c : V -> R) (A : K -> V -> R) (b : K -> R).
Lemma kkt_cons x lam mu : A k0 x <= b k0 -> 0 <= mu -> mu * (b k0 - A k0 x) = 0 ->
  (forall k, k \in s -> A k x <= b k) -> (forall k, 0 <= lam k) ->
  (forall k, k \in s -> lam k * (b k - A k x) = 0) ->
  (forall v, c v = B x v + \sum_(k <- s) lam k * A k v + mu * A k0 v) ->
  kkt_point B c A b (k0 :: s) x (with_mu lam mu).
Proof.
move=> f0 m0 c0 P l0 cs st; split.
- by move=> k; rewrite inE => /orP[/eqP ->|/P].
- exact: with_mu_ge0.
- move=> k; rewrite inE => /orP[/eqP ->|ks]; first by rewrite /with_mu eqxx.
  by rewrite with_muE ?cs.
by move=> v; rewrite sum_with_mu st addrAC addrA.
Qed.
Lemma farkas_cons lam mu : 0 <= mu -> (forall k, 0 <= lam k) ->
  (forall v, \sum_(k <- s) lam k * A k v + mu * A k0 v = 0) -> \sum_(k <- s) lam k * b k + mu * b k0 < 0 ->
  farkas A b (k0 :: s) (with_mu lam mu).
Proof.
move=> m0 l0 z n; split; first exact: with_mu_ge0.
  by move=> v; rewrite sum_with_mu addrC.
by rewrite sum_with_mu addrC.
Qed.
Lemma ray_cons d : A k0 d <= 0 -> (forall k, k \in s -> A k d <= 0) -> B d d = 0 -> 0 < c d -> ray B c A (k0 :: s) d.
Proof. by move=> d0 h; split=> // k; rewrite inE => /orP[/eqP ->|/h]. Qed.
End Cons.

Lemma sum_ge0 s (f : K -> R) : (forall k, k \in s -> 0 <= f k) -> 0 <= \sum_(k <- s) f k.
Proof. by move=> h; rewrite big_seq sumr_ge0. Qed.
Lemma sum_le0 s (f : K -> R) : (forall k, k \in s -> f k <= 0) -> \sum_(k <- s) f k <= 0.
Proof. by move=> h; rewrite -oppr_ge0 -sumrN sum_ge0 // => k ks; rewrite oppr_ge0 h. Qed.

Theorem qp_alternative s : uniq s -> forall B c A b, functional c -> (forall k, functional (A k)) -> alternative B c A b s.
Proof.
elim: s => [|k0 s IH] /=; first by move=> _ B c A b Fc _; exact: unconstrained.
move=> /andP[k0s us] B c A b Fc FA;
have step e (e1 : A k0 e = 1) : hyperplane_alternative B c A b s (A k0) (b k0).
  apply: (hyperplane (F0 := FA k0) Fc FA e1); apply: (IH us) => [|k]; first exact: hyperplane_cost.
  exact: hyperplane_functional.
have [[x [lam [P l0 cs st]]]|[lam [l0 z n]]|[d [P n pos]]] := IH us B c A b Fc FA.
- have [ok|] := lerP (A k0 x) (b k0).
    apply: Or31; exists x, (with_mu k0 lam 0); apply: kkt_cons => //; first by rewrite mul0r.
    by move=> v; rewrite mul0r addr0.
  move=> viol; have [z0|[e e1]] := functional_unit (FA k0).
    apply: Or32; exists (with_mu k0 (fun=> 0) 1); apply: farkas_cons => // [|v|]; first exact: ler01.
      by rewrite z0 mulr0 addr0 big1 // => k _; rewrite mul0r.
    by rewrite big1 ?add0r ?mul1r => [|k _]; [move: viol; rewrite z0|rewrite mul0r].
  have [[y [lam' [mu [y0 P' l0' cs' st']]]]|[lam' [mu [l0' z' n']]]|[d [P' d0 n' pos']]] := step e e1.
  + have viol' : 0 < A k0 (x - y) by rewrite (functionalB (FA k0)) y0 subr_gt0.
    apply: Or31; exists y, (with_mu k0 lam' mu); apply: kkt_cons; rewrite ?y0 ?subrr ?mulr0 //.
    rewrite -(pmulr_lge0 _ viol').
    have -> : mu * A k0 (x - y) = B (x - y) (x - y) + \sum_(k <- s) (lam k * (b k - A k y) + lam' k * (b k - A k x)).
      have -> : mu * A k0 (x - y) = c (x - y) - B y (x - y) - \sum_(k <- s) lam' k * A k (x - y).
        by rewrite (st' (x - y)); move: (\sum_(k <- s) _) (B y _) => p q; ring.
      have -> : \sum_(k <- s) (lam k * (b k - A k y) + lam' k * (b k - A k x))
          = \sum_(k <- s) lam k * A k (x - y) - \sum_(k <- s) lam' k * A k (x - y).
        rewrite -sumrB; apply: eq_big_seq => k ks; rewrite !(functionalB (FA _)); apply/eqP; rewrite -subr_eq0; apply/eqP.
        by transitivity (lam k * (b k - A k x) + lam' k * (b k - A k y)); [ring|rewrite cs ?cs' ?addr0].
      by rewrite st ipBl; move: (\sum_(k <- s) _) (\sum_(k <- s) _) (B x _) (B y _) => p q u v; ring.
    rewrite addr_ge0 ?ip_ge0 // sum_ge0 // => k ks.
    by rewrite addr_ge0 // mulr_ge0 // subr_ge0 ?P ?P'.
  + apply: Or32; exists (with_mu k0 lam' mu); apply: farkas_cons => //.
    rewrite leNgt; apply/negP => m0; have := z' x; apply/eqP; rewrite lt_eqF //.
    apply: le_lt_trans n'; rewrite ler_add //.
      by rewrite big_seq [X in _ <= X]big_seq ler_sum // => k ks; rewrite ler_wpmul2l ?P.
    by rewrite ler_nmul2l // ltW.
  + by apply: Or33; exists d; apply: ray_cons => //; rewrite d0.
- by apply: Or32; exists (with_mu k0 lam 0); apply: farkas_cons => // [v|]; rewrite mul0r addr0.
have [ok|up] := lerP (A k0 d) 0; first by apply: Or33; exists d; apply: ray_cons.
have e1 : A k0 ((A k0 d)^-1 *: d) = 1 by rewrite (functionalZ (FA k0)) mulVf // gt_eqF.
have down lam : (forall k, 0 <= lam k) -> \sum_(k <- s) lam k * A k d <= 0.
  by move=> l0; apply: sum_le0 => k ks; rewrite mulr_ge0_le0 ?P.
have [[y [lam [mu [y0 P' l0 cs st]]]]|[lam [mu [l0 z n']]]|[d' [P' d0 n' pos']]] := step _ e1.
- apply: Or31; exists y, (with_mu k0 lam mu); apply: kkt_cons; rewrite ?y0 ?subrr ?mulr0 //.
  rewrite -(pmulr_lge0 _ up); move: pos; rewrite st ip_sym (ip_null _ n) add0r => /ltW.
  by rewrite addrC -ler_subl_addr sub0r => h; apply: le_trans h; rewrite oppr_ge0 down.
- apply: Or32; exists (with_mu k0 lam mu); apply: farkas_cons => //.
  rewrite -(pmulr_lge0 _ up); have /eqP := z d; rewrite addrC addr_eq0 => /eqP ->.
  by rewrite oppr_ge0 down.
- by apply: Or33; exists d'; apply: ray_cons => //; rewrite d0.
Qed.
End QP.
