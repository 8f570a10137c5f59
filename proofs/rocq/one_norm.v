(** * One-norm ranking by linear programming: documents T (section 5) and K (2.10)

    [clp_duality]   min 1'be + c'xi  s.t.  M be + s b >= 1 - xi, be, xi >= 0   and   max 1'u  s.t.  M'u <= 1, s'u = 0, 0 <= u <= c: one
                    optimum, attained on both sides, and the optimal pairs are those with complementary slackness, for any M, s and c >= 0
    [blp_duality]   [clp_duality] with one cost C for all rows      [lp_duality]   and without b
    [rank_onenorm_duality]   T (94)-(96) with phi_i - phi_j      [rvm_duality]   T (102)-(104) = K (2.10), for kernels that are inner products;
                   for any other matrix use [lp_duality]
    [rank_onenorm_free_below_rvm]   without be >= 0 the optimum can only be smaller
    [svm_onenorm_duality], [svm_nobias_onenorm_duality]   the 1-norm SVM for classification of T, section 5.1, with b and without
    [svm_onenorm_free_below_svm_onenorm], [svm_onenorm_free_bound]   without al >= 0 the optimum can only be smaller, and its dual bounds it
    [rank_onenorm_is_svm_nobias_onenorm]   (94)-(96) classifies the differences phi_i - phi_j, all of class +1, without a bias
    [rank_onenorm_is_symmetrised_svm_onenorm]   and the differences with their negatives as two classes, with a bias, at C/2 *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From equimargin Require Import inner optimum qp margin representer ranksvm.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** Row p has the cost c p; b is a free variable, whose column is s and whose cost is 0. *)
Section CostsLP.
Variables (R : realFieldType) (J P : finType) (M : P -> J -> R) (s c : P -> R).
Implicit Types (be : J -> R) (b : R) (xi u : P -> R).
Let point : Type := ((J -> R) * R * (P -> R))%type.

Definition clp_feas (t : point) := let: (be, b, xi) := t in
  [/\ forall j, 0 <= be j, forall p, 0 <= xi p & forall p, 1 - xi p <= \sum_j M p j * be j + s p * b].
Definition clp_obj (t : point) := let: (be, b, xi) := t in \sum_j be j + \sum_p c p * xi p.
Definition clp_dual_feas u := [/\ forall p, 0 <= u p <= c p, forall j, \sum_p u p * M p j <= 1 & \sum_p u p * s p = 0].
Definition clp_dual_obj u := \sum_p u p.
Definition clp_complementary (t : point) u := let: (be, b, xi) := t in [/\ clp_feas (be, b, xi), clp_dual_feas u,
  forall j, be j * (1 - \sum_p u p * M p j) = 0,
  forall p, u p * (\sum_j M p j * be j + s p * b - 1 + xi p) = 0 & forall p, (c p - u p) * xi p = 0].

Lemma clp_gap be b xi u : \sum_p u p * s p = 0 -> clp_obj (be, b, xi) - clp_dual_obj u = \sum_j be j * (1 - \sum_p u p * M p j)
  + \sum_p u p * (\sum_j M p j * be j + s p * b - 1 + xi p) + \sum_p (c p - u p) * xi p.
Proof.
move=> z; have -> : \sum_j be j * (1 - \sum_p u p * M p j) = \sum_j be j - \sum_p \sum_j u p * M p j * be j.
  rewrite exchange_big -sumrB /=; apply: eq_bigr => j _.
  by rewrite mulrBr mulr1 mulr_sumr; congr (_ - _); apply: eq_bigr => p _; ring.
have -> : \sum_p u p * (\sum_j M p j * be j + s p * b - 1 + xi p) =
   \sum_p \sum_j u p * M p j * be j + (\sum_p u p * s p) * b - \sum_p u p + \sum_p u p * xi p.
  rewrite mulr_suml -big_split -sumrB -big_split /=; apply: eq_bigr => p _.
  have -> : \sum_j u p * M p j * be j = u p * (\sum_j M p j * be j).
    by rewrite mulr_sumr; apply: eq_bigr => j _; rewrite mulrA.
  by move: (\sum_j _) => m; ring.
have -> : \sum_p (c p - u p) * xi p = \sum_p c p * xi p - \sum_p u p * xi p.
  by rewrite -sumrB; apply: eq_bigr => p _; rewrite mulrBl.
rewrite z mul0r addr0 /clp_obj /clp_dual_obj.
by move: (\sum_p \sum_j _) (\sum_p u p * xi p) (\sum_p u p) (\sum_p c p * xi p) (\sum_j be j) => s1 s2 s3 s4 s5; ring.
Qed.
Lemma clp_pair : dual_pair clp_feas clp_obj clp_dual_feas clp_dual_obj clp_complementary.
Proof.
have h1 be b xi u j : clp_feas (be, b, xi) -> clp_dual_feas u -> 0 <= be j * (1 - \sum_p u p * M p j).
  by case=> f _ _ [_ d _]; rewrite mulr_ge0 // subr_ge0.
have h2 be b xi u p : clp_feas (be, b, xi) -> clp_dual_feas u -> 0 <= u p * (\sum_j M p j * be j + s p * b - 1 + xi p).
  case=> _ _ f [/(_ p)/andP[d _] _ _]; rewrite mulr_ge0 //; have := f p.
  by rewrite -subr_ge0; congr (0 <= _); rewrite opprB addrA addrAC.
have h3 be b xi u p : clp_feas (be, b, xi) -> clp_dual_feas u -> 0 <= (c p - u p) * xi p.
  by case=> _ f _ [/(_ p)/andP[_ d] _ _]; rewrite mulr_ge0 // subr_ge0.
split.
- move=> [[be b] xi] u F D; have [_ _ z] := D.
  by rewrite -subr_ge0 clp_gap // !addr_ge0 // sumr_ge0 // => k _; [exact: h1 F D|exact: h2 F D|exact: h3 F D].
- move=> [[be b] xi] u F D /eqP; have [_ _ z] := D; rewrite -subr_eq0 clp_gap //.
  have t1 j := h1 _ _ _ _ j F D; have t2 p := h2 _ _ _ _ p F D; have t3 p := h3 _ _ _ _ p F D.
  rewrite paddr_eq0 ?addr_ge0 ?sumr_ge0 // paddr_eq0 ?sumr_ge0 // !psumr_eq0 // => /andP[/andP[/allP s1 /allP s2] /allP s3].
  by split=> // k; apply/eqP; [apply: s1|apply: s2|apply: s3]; apply: mem_index_enum.
- by move=> [[be b] xi] u [].
- by move=> [[be b] xi] u [F D s1 s2 s3]; have [_ _ z] := D; apply/eqP; rewrite -subr_eq0 clp_gap // !big1 ?addr0.
Qed.

(** The alternative of [qp] with B = 0, for the dual program in u. *)
Let U := [lmodType R of {ffun P -> R^o}].
Fact nil_sym (u v : U) : 0 = 0 :> R. Proof. by []. Qed.
Fact nil_addl (u v w : U) : 0 = 0 + 0 :> R. Proof. by rewrite addr0. Qed.
Fact nil_scalel (k : R) (u v : U) : 0 = k * 0 :> R. Proof. by rewrite mulr0. Qed.
Fact nil_ge0 (u : U) : 0 <= 0 :> R. Proof. exact: lexx. Qed.
Definition nil_form := @SemiInner R U (fun _ _ => 0) nil_sym nil_addl nil_scalel nil_ge0.
Let index := ((J + (P + P)) + bool)%type.
Let A (k : index) (u : U) : R := match k with
  | inl (inl j) => \sum_p M p j * u p | inl (inr (inl p)) => - u p | inl (inr (inr p)) => u p
  | inr true => \sum_p s p * u p | inr false => \sum_p - s p * u p end.
Let cap (k : index) : R := match k with inl (inl _) => 1 | inl (inr (inr p)) => c p | _ => 0 end.

Theorem clp_duality : (forall p, 0 <= c p) -> strong_duality clp_feas clp_obj clp_dual_feas clp_dual_obj clp_complementary.
Proof.
move=> c0; apply: (pair_strong_duality clp_pair).
have FA k : functional (A k).
  case: k => [[j|[p|p]]|[]] k u v; rewrite /A; try exact: weighted_functional.
    by rewrite !ffunE opprD mulrN.
  by rewrite !ffunE.
have [] := qp_alternative (index_enum_uniq _) nil_form cap (weighted_functional (fun=> 1)) FA.
- case=> u [lam [F l0 cs st]].
  have all k : k \in index_enum [finType of index] by exact: mem_index_enum.
  exists (fun j => lam (inl (inl j)), lam (inr true) - lam (inr false), fun p => lam (inl (inr (inr p)))), u.
  have E p : 1 = \sum_j M p j * lam (inl (inl j)) - lam (inl (inr (inl p))) + lam (inl (inr (inr p)))
      + s p * (lam (inr true) - lam (inr false)).
    have := st (delta R p); rewrite weighted_delta !big_sumType big_bool /= add0r => {1}->; rewrite !weighted_delta.
    have -> : \sum_j lam (inl (inl j)) * (\sum_q M q j * delta R p q) = \sum_j M p j * lam (inl (inl j)).
      by apply: eq_bigr => j _; rewrite weighted_delta mulrC.
    have -> : \sum_q lam (inl (inr (inl q))) * - delta R p q = - lam (inl (inr (inl p))).
      by rewrite -(weighted_delta (fun q => lam (inl (inr (inl q)))) p) -sumrN; apply: eq_bigr => q _; exact: mulrN.
    by move: (\sum_j _) => m; move: (lam (inr true)) (lam (inr false)) (lam (inl (inr (inl p)))) (lam (inl (inr (inr p)))) => n1 n2 n3 n4; ring.
  have box p : 0 <= u p <= c p.
    by have := F (inl (inr (inl p))) (all _); have := F (inl (inr (inr p))) (all _); rewrite /= oppr_le0 => -> ->.
  have price j : \sum_p u p * M p j <= 1.
    by have := F (inl (inl j)) (all _); rewrite /=; congr (_ <= _); apply: eq_bigr => p _; exact: mulrC.
  have balance : \sum_p u p * s p = 0.
    have e : \sum_p u p * s p = \sum_p s p * u p by apply: eq_bigr => p _; exact: mulrC.
    have n : \sum_p - s p * u p = - \sum_p s p * u p by rewrite -sumrN; apply: eq_bigr => p _; exact: mulNr.
    have := F (inr true) (all _); have := F (inr false) (all _); rewrite /= e n oppr_le0 => h1 h2.
    by apply/eqP; rewrite eq_le h1 h2.
  split=> //.
  + split=> // p; rewrite ler_subl_addr {1}(E p) [X in X <= _]addrAC ler_add2r [X in _ <= X]addrC addrC.
    by rewrite ler_add2l ler_subl_addr ler_addl.
  + move=> j; have := cs (inl (inl j)) (all _); rewrite /=; congr (_ * (_ - _) = _); apply: eq_bigr => p _; exact: mulrC.
  + move=> p; have -> : \sum_j M p j * lam (inl (inl j)) + s p * (lam (inr true) - lam (inr false)) - 1
        + lam (inl (inr (inr p))) = lam (inl (inr (inl p))).
      rewrite [X in _ - X + _](E p); move: (\sum_j _) => m.
      by move: (lam (inr true)) (lam (inr false)) (lam (inl (inr (inl p)))) (lam (inl (inr (inr p)))) => n1 n2 n3 n4; ring.
    by rewrite mulrC; have := cs (inl (inr (inl p))) (all _); rewrite /= opprK add0r.
  + by move=> p; have := cs (inl (inr (inr p))) (all _); rewrite /= mulrC.
- case=> lam [l0 _ neg]; move: neg; rewrite ltNge sumr_ge0 // => -[[j|[p|p]]|[]] _; rewrite mulr_ge0 //; [exact: ler01|exact: c0].
- case=> d [F _ pos]; move: pos; rewrite ltNge => /negP; case; rewrite -oppr_ge0 -sumrN sumr_ge0 // => p _.
  by have := F (inl (inr (inr p))) (mem_index_enum _); rewrite /= mul1r oppr_ge0.
Qed.
End CostsLP.

Section LP.
Variables (R : realFieldType) (J P : finType) (M : P -> J -> R) (C : R).
Implicit Types (be : J -> R) (xi u : P -> R).
Let point : Type := ((J -> R) * (P -> R))%type.

Definition lp_feas (s : point) := let: (be, xi) := s in
  [/\ forall j, 0 <= be j, forall p, 0 <= xi p & forall p, 1 - xi p <= \sum_j M p j * be j].
Definition lp_obj (s : point) := let: (be, xi) := s in \sum_j be j + C * (\sum_p xi p).
Definition lp_dual_feas u := (forall p, 0 <= u p <= C) /\ forall j, \sum_p u p * M p j <= 1.
Definition lp_dual_obj u := \sum_p u p.
Definition lp_complementary (s : point) u := let: (be, xi) := s in [/\ lp_feas (be, xi), lp_dual_feas u,
  forall j, be j * (1 - \sum_p u p * M p j) = 0,
  forall p, u p * (\sum_j M p j * be j - 1 + xi p) = 0 & forall p, (C - u p) * xi p = 0].

Theorem lp_duality : 0 <= C -> strong_duality lp_feas lp_obj lp_dual_feas lp_dual_obj lp_complementary.
Proof.
move=> C0; apply: (strong_duality_transfer (clp_pair M (fun=> 0) (fun=> C)) (f := fun t : point => (t.1, 0, t.2)) (h := id))
  _ _ _ (clp_duality _ _ (fun=> C0)) => //.
- by case=> be xi [b0 x0 h]; split=> //= p; rewrite mul0r addr0.
- by case=> be xi; rewrite /= mulr_sumr.
- by move=> u [box price]; split=> //; rewrite big1 // => p _; rewrite mulr0.
- case=> be xi u; split=> [[F D h1 h2 h3]|[F D [_ _ h1 h2 h3]]].
    have [[b0 x0 h] [box price]] := (F, D); split=> //=; split=> // [||p]; last by rewrite mul0r addr0.
      by split=> // p; rewrite mul0r addr0.
    by split=> //; rewrite big1 // => p _; rewrite mulr0.
  by split=> // p; have := h2 p; rewrite /= mul0r addr0.
- case=> [[be b] xi] u [[b0 x0 h] [box price _] h1 h2 h3]; exists (be, xi), u; split=> // [|p].
    by split=> // p; have := h p; rewrite mul0r addr0.
  by have := h2 p; rewrite mul0r addr0.
Qed.
End LP.

Section Ranking.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (X : finType) (phi : X -> V).
Variables (P : finType) (hi lo : P -> X) (C : R).
Hypothesis C0 : 0 <= C.
Implicit Types (al u xi : P -> R) (be : X -> R).
Let pair_point : Type := ((P -> R) * (P -> R))%type.
Let item_point : Type := ((X -> R) * (P -> R))%type.
Local Notation Q := (Qhat ip phi hi lo).
(** Row p of A K. *)
Definition rvm_row p i := K ip phi (hi p) i - K ip phi (lo p) i.

Definition rank_onenorm_primal_feas (s : pair_point) := let: (al, xi) := s in
  [/\ forall q, 0 <= al q, forall p, 0 <= xi p & forall p, 1 - xi p <= \sum_q Q p q * al q].
Definition rank_onenorm_primal_obj (s : pair_point) := let: (al, xi) := s in \sum_q al q + C * (\sum_p xi p).
Definition rank_onenorm_dual_feas u := (forall p, 0 <= u p <= C) /\ forall q, \sum_p u p * Q p q <= 1.
Definition rank_onenorm_dual_obj u := \sum_p u p.

Definition rvm_primal_feas (s : item_point) := let: (be, xi) := s in
  [/\ forall i, 0 <= be i, forall p, 0 <= xi p & forall p, 1 - xi p <= \sum_i rvm_row p i * be i].
Definition rvm_primal_obj (s : item_point) := let: (be, xi) := s in \sum_i be i + C * (\sum_p xi p).
Definition rvm_dual_feas u := (forall p, 0 <= u p <= C) /\ forall i, \sum_p u p * rvm_row p i <= 1.
Definition rvm_dual_obj u := \sum_p u p.
Definition rvm_as_printed_feas be := forall i : X, 0 <= be i.
Definition rvm_as_printed_obj be := \sum_i be i + C * (\sum_p (1 - \sum_i rvm_row p i * be i)).
Definition rank_onenorm_free_feas (s : item_point) := let: (be, xi) := s in
  (forall p, 0 <= xi p) /\ forall p, 1 - xi p <= \sum_i rvm_row p i * be i.
Definition rank_onenorm_free_obj (s : item_point) := let: (be, xi) := s in \sum_i `|be i| + C * (\sum_p xi p).

Theorem rank_onenorm_duality : strong_duality rank_onenorm_primal_feas rank_onenorm_primal_obj
  rank_onenorm_dual_feas rank_onenorm_dual_obj (lp_complementary Q C).
Proof. exact: lp_duality. Qed.
Theorem rvm_duality : strong_duality rvm_primal_feas rvm_primal_obj rvm_dual_feas rvm_dual_obj (lp_complementary rvm_row C).
Proof. exact: lp_duality. Qed.
Theorem rank_onenorm_free_below_rvm s : rvm_primal_feas s ->
  rank_onenorm_free_feas s /\ rank_onenorm_free_obj s = rvm_primal_obj s.
Proof.
case: s => be xi [b0 x0 m]; split=> //=; congr (_ + _); apply: eq_bigr => i _; exact: ger0_norm.
Qed.
End Ranking.

(** The program of [lp_duality] with a free variable b, whose column is s and whose cost is 0. *)
Section BiasedLP.
Variables (R : realFieldType) (J P : finType) (M : P -> J -> R) (s : P -> R) (C : R).
Implicit Types (be : J -> R) (b : R) (xi u : P -> R).
Let point : Type := ((J -> R) * R * (P -> R))%type.

Definition blp_feas (t : point) := let: (be, b, xi) := t in
  [/\ forall j, 0 <= be j, forall p, 0 <= xi p & forall p, 1 - xi p <= \sum_j M p j * be j + s p * b].
Definition blp_obj (t : point) := let: (be, b, xi) := t in \sum_j be j + C * (\sum_p xi p).
Definition blp_dual_feas u := [/\ forall p, 0 <= u p <= C, forall j, \sum_p u p * M p j <= 1 & \sum_p u p * s p = 0].
Definition blp_dual_obj u := \sum_p u p.
Definition blp_complementary (t : point) u := let: (be, b, xi) := t in [/\ blp_feas (be, b, xi), blp_dual_feas u,
  forall j, be j * (1 - \sum_p u p * M p j) = 0,
  forall p, u p * (\sum_j M p j * be j + s p * b - 1 + xi p) = 0 & forall p, (C - u p) * xi p = 0].

Theorem blp_duality : 0 <= C -> strong_duality blp_feas blp_obj blp_dual_feas blp_dual_obj blp_complementary.
Proof.
move=> C0; apply: (strong_duality_transfer (clp_pair M s (fun=> C)) (f := id) (h := id)) _ _ _ (clp_duality _ _ (fun=> C0)) => //.
- by case=> [[be b] xi]; rewrite /= mulr_sumr.
- by case=> [[be b] xi] u; split=> [[F D h1 h2 h3]|[F D [_ _ h1 h2 h3]]].
- by case=> [[be b] xi] u [F D h1 h2 h3]; exists (be, b, xi), u.
Qed.
End BiasedLP.

(** The 1-norm SVM for classification, with a bias and without. *)
Section Classification.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (I : finType) (x : I -> V) (y : I -> R) (C : R).
Hypothesis C0 : 0 <= C.
Implicit Types (al u xi : I -> R).
Let biased_point : Type := ((I -> R) * R * (I -> R))%type.
Let nobias_point : Type := ((I -> R) * (I -> R))%type.
(** An entry of YKY. *)
Definition svm_entry i j := y i * ip (x i) (x j) * y j.

Definition svm_onenorm_primal_feas (t : biased_point) := let: (al, b, xi) := t in
  [/\ forall i, 0 <= al i, forall i, 0 <= xi i & forall i, 1 - xi i <= \sum_j svm_entry i j * al j + y i * b].
Definition svm_onenorm_primal_obj (t : biased_point) := let: (al, b, xi) := t in \sum_i al i + C * (\sum_i xi i).
Definition svm_onenorm_dual_feas u := [/\ forall i, 0 <= u i <= C, forall j, \sum_i u i * svm_entry i j <= 1 & \sum_i u i * y i = 0].
Definition svm_onenorm_dual_obj u := \sum_i u i.
Definition svm_onenorm_free_feas (t : biased_point) := let: (al, b, xi) := t in
  (forall i, 0 <= xi i) /\ forall i, 1 - xi i <= \sum_j svm_entry i j * al j + y i * b.
Definition svm_onenorm_free_obj (t : biased_point) := let: (al, b, xi) := t in \sum_i `|al i| + C * (\sum_i xi i).
Definition svm_nobias_onenorm_primal_feas (t : nobias_point) := let: (al, xi) := t in
  [/\ forall i, 0 <= al i, forall i, 0 <= xi i & forall i, 1 - xi i <= \sum_j svm_entry i j * al j].
Definition svm_nobias_onenorm_primal_obj (t : nobias_point) := let: (al, xi) := t in \sum_i al i + C * (\sum_i xi i).
Definition svm_nobias_onenorm_dual_feas u := (forall i, 0 <= u i <= C) /\ forall j, \sum_i u i * svm_entry i j <= 1.
Definition svm_nobias_onenorm_dual_obj u := \sum_i u i.

Theorem svm_onenorm_duality : strong_duality svm_onenorm_primal_feas svm_onenorm_primal_obj
  svm_onenorm_dual_feas svm_onenorm_dual_obj (blp_complementary svm_entry y C).
Proof. exact: blp_duality. Qed.
Theorem svm_nobias_onenorm_duality : strong_duality svm_nobias_onenorm_primal_feas svm_nobias_onenorm_primal_obj
  svm_nobias_onenorm_dual_feas svm_nobias_onenorm_dual_obj (lp_complementary svm_entry C).
Proof. exact: lp_duality. Qed.
Theorem svm_onenorm_free_below_svm_onenorm t : svm_onenorm_primal_feas t ->
  svm_onenorm_free_feas t /\ svm_onenorm_free_obj t = svm_onenorm_primal_obj t.
Proof.
case: t => [[al b] xi] [a0 x0 m]; split=> //=; congr (_ + _); apply: eq_bigr => i _; exact: ger0_norm.
Qed.
Theorem svm_onenorm_free_bound u t : (forall i, 0 <= u i <= C) -> (forall j, `|\sum_i u i * svm_entry i j| <= 1) ->
  \sum_i u i * y i = 0 -> svm_onenorm_free_feas t -> \sum_i u i <= svm_onenorm_free_obj t.
Proof.
case: t => [[al b] xi] box price balance [x0 m].
have rows : \sum_i u i <= \sum_i u i * (xi i + (\sum_j svm_entry i j * al j + y i * b)).
  apply: ler_sum => i _; have /andP[u0 _] := box i; rewrite -[X in X <= _]mulr1 ler_wpmul2l //.
  by have := m i; rewrite ler_subl_addr addrC.
apply: le_trans rows _; have -> : \sum_i u i * (xi i + (\sum_j svm_entry i j * al j + y i * b)) =
    \sum_j al j * (\sum_i u i * svm_entry i j) + \sum_i u i * xi i.
  transitivity (\sum_i (u i * xi i + \sum_j u i * svm_entry i j * al j) + (\sum_i u i * y i) * b).
    rewrite mulr_suml -big_split; apply: eq_bigr => i _ /=.
    have -> : \sum_j u i * svm_entry i j * al j = u i * (\sum_j svm_entry i j * al j).
      by rewrite mulr_sumr; apply: eq_bigr => j _; rewrite mulrA.
    by move: (\sum_j _) => s; ring.
  rewrite balance mul0r addr0 big_split addrC; congr (_ + _).
  by rewrite exchange_big; apply: eq_bigr => j _ /=; rewrite mulr_sumr; apply: eq_bigr => i _; rewrite mulrC.
rewrite ler_add //; last by rewrite mulr_sumr ler_sum // => i _; have /andP[_ uC] := box i; rewrite ler_wpmul2r.
apply: ler_sum => j _; apply: le_trans (ler_norm _) _; rewrite normrM -[X in _ <= X]mulr1.
by apply: ler_wpmul2l; [exact: normr_ge0|exact: price].
Qed.
End Classification.

(** The pairs as points: all of class +1 without a bias, and with their negatives as class -1 and a bias at half the cost. *)
Section PairsAsPoints.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (X : finType) (phi : X -> V).
Variables (P : finType) (hi lo : P -> X) (C : R).
Local Notation Q := (Qhat ip phi hi lo).
Let d p : V := phi (hi p) - phi (lo p).
Let z (k : P + P) : V := match k with inl p => phi (hi p) - phi (lo p) | inr p => phi (lo p) - phi (hi p) end.
Let y (k : P + P) : R := match k with inl _ => 1 | inr _ => -1 end.
Let pair (k : P + P) : P := match k with inl p | inr p => p end.

Lemma pair_entry p q : svm_entry ip d (fun=> 1) p q = Q p q.
Proof. by rewrite /svm_entry mul1r mulr1 QhatE. Qed.
Lemma signed_pair_entry k l : svm_entry ip z y k l = Q (pair k) (pair l).
Proof.
rewrite /svm_entry QhatE; case: k => p; case: l => q /=; rewrite -?(opprB (phi (hi _))) ?ipNl ?ipNr; move: (ip _ _) => m; ring.
Qed.

Theorem rank_onenorm_is_svm_nobias_onenorm v :
  minimum (rank_onenorm_primal_feas ip phi hi lo) (@rank_onenorm_primal_obj R P C) v <->
  minimum (svm_nobias_onenorm_primal_feas ip d (fun=> 1)) (@svm_nobias_onenorm_primal_obj R P C) v.
Proof.
have E p al : \sum_q svm_entry ip d (fun=> 1) p q * al q = \sum_q Q p q * al q by apply: eq_bigr => q _; rewrite pair_entry.
apply: minimum_iff => -[al xi] [a0 x0 m]; exists (al, xi) => //; split=> // p; first by rewrite E; exact: m.
by rewrite -E; exact: m.
Qed.

Theorem rank_onenorm_is_symmetrised_svm_onenorm v :
  minimum (rank_onenorm_primal_feas ip phi hi lo) (@rank_onenorm_primal_obj R P C) v <->
  minimum (svm_onenorm_primal_feas ip z y) (@svm_onenorm_primal_obj R _ (C / 2%:R)) v.
Proof.
have E k al : \sum_l svm_entry ip z y k l * al l = \sum_q Q (pair k) q * (al (inl q) + al (inr q)).
  rewrite big_sumType -big_split; apply: eq_bigr => q _ /=; by rewrite !signed_pair_entry mulrDr.
apply: minimum_iff => [[al xi] [a0 x0 m]|[[al b] xi] [a0 x0 m]].
  exists (fun k => match k with inl p => al p | inr _ => 0 end, 0, fun k => xi (pair k)).
    split; [by case|by move=> k; exact: x0|move=> k; rewrite E /= mulr0 addr0; have := m (pair k)].
    by congr (_ <= _); apply: eq_bigr => q _; rewrite addr0.
  rewrite /= !big_sumType /= [X in _ + X + _]big1 // addr0; move: (\sum_p xi p) => t.
  by have -> : C / 2%:R * (t + t) = C * t by field.
exists (fun p => al (inl p) + al (inr p), fun p => (xi (inl p) + xi (inr p)) / 2%:R).
  split=> [p|p|p]; first exact: addr_ge0.
    by apply: divr_ge0; [exact: addr_ge0|exact: ler0n].
  rewrite -(@ler_pmul2l _ 2%:R) ?ltr0n //; move: (ler_add (m (inl p)) (m (inr p))); rewrite !E /=; move: (\sum_q _) => t h.
  have -> : 2%:R * t = t + 1 * b + (t + -1 * b) by ring.
  by apply: le_trans h; rewrite le_eqVlt; apply/orP; left; apply/eqP; field.
rewrite /= !big_sumType /= -!big_split /= -mulr_suml; move: (\sum_p (xi _ + _)) => t.
by rewrite mulrA [C / 2%:R * t]mulrAC.
Qed.
(** The duals of these two programs have equal optima, too. *)
Theorem rank_onenorm_dual_is_symmetrised_svm_onenorm_dual v : 0 <= C ->
  maximum (rank_onenorm_dual_feas ip phi hi lo C) (@rank_onenorm_dual_obj R P) v <->
  maximum (svm_onenorm_dual_feas ip z y (C / 2%:R)) (@svm_onenorm_dual_obj R _) v.
Proof.
move=> C0; have C1 : 0 <= C / 2%:R by rewrite divr_ge0 ?ler0n.
have [[a Pa Da] _] := rank_onenorm_duality ip phi hi lo C0; have [[b Pb Db] _] := svm_onenorm_duality ip z y C1.
have e : a = b by apply: minimum_unique Pb; exact/rank_onenorm_is_symmetrised_svm_onenorm.
split=> D; first by rewrite (maximum_unique D Da) e.
by rewrite (maximum_unique D Db) -e.
Qed.
End PairsAsPoints.
