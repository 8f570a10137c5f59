(** * RankSVM: documents T (section 4), K (sections 1 to 3) and P (section 3)

    Items phi_i, pairs (hi, lo) with the preferred one first; names follow the ids of the declarations; no bias.

    [rank_hard_duality]         (84)-(85) without slacks, and its dual, for data that some w ranks
    [rank_l1_duality]           K (1.2) and K (2.4); [rank_l2_duality] with squared slacks
    [Qhat_AKA]                  K (2.7)
    [rank_l1_function_equivalence]   K (3.11) and K (1.2)
    [rank_l1_beta_equivalence], [rank_l2_beta_equivalence]   K (3.12) and K (1.2); K (3.13) and squared slacks; each form's value at
                                a point is the other's: [rank_l1_beta_value], [rank_l2_beta_value]
    [rank_l1_betahat_of_dual]   Appendix A: an optimal alpha of (2.4) minimises (3.15); [rank_l1_betahat_to_w]: a minimiser of (3.15)
                                gives the optimal w; [rank_l1_betahat_equivalence]: hence one optimum
    [rank_oneslack_equivalence] K (2.8)
    [rank_lambda_function_rescaling], [rank_lambda_primal_rescaling], [rank_lambda_dual_rescaling]   P (5) at 1/(2C), (6) and (8) at 1/C
    [rank_path_rescaling]       the parametric program of P section 5 is lambda times (8)
    [rank_lambda_function_as_lambda_half_rescaling]   (5) at the lambda of (6) is the right problem at C/2
    [rank_l1_dual_as_printed_rescaling]   T (88) without the 1/2
    [rank_hard_margin_equivalence]   T, Corollary 2
    [rank_hard_is_svm_hard]     two levels: w_rank = w_svm / 2      [rank_hard_chain]   a total order: neighbours suffice
    [rank_l1_is_symmetrised_svm]   the differences and their negatives as two classes, with a bias, at C/2
    [rank_l1_below_hard]        soft <= hard *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From equimargin Require Import inner optimum qp margin representer svm.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Definitions.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (X : finType) (phi : X -> V).
Variables (P : finType) (hi lo : P -> X) (C lam : R).
Implicit Types (w : V) (al bh : P -> R) (be : X -> R).
Let margin_point : Type := (V * R)%type.
Let soft_point : Type := (V * (P -> R))%type.
Let span_point : Type := ((X -> R) * (P -> R))%type.

Definition K i j := ip (phi i) (phi j).
Definition Qhat p q := K (hi p) (hi q) + K (lo p) (lo q) - K (hi p) (lo q) - K (lo p) (hi q).
Definition rank_w al : V := \sum_p al p *: (phi (hi p) - phi (lo p)).
Definition rank_quadratic al := \sum_p \sum_q al p * al q * Qhat p q.
Definition rank_values be i := \sum_j K i j * be j.

Definition rank_hard_primal_feas w := forall p, 1 <= ip w (phi (hi p) - phi (lo p)).
Definition rank_hard_primal_obj w := 2%:R^-1 * ip w w.
Definition rank_hard_dual_feas al := forall p, 0 <= al p.
Definition rank_hard_dual_obj al := \sum_p al p - 2%:R^-1 * rank_quadratic al.
Definition rank_hard_kkt w al := [/\ rank_hard_primal_feas w, rank_hard_dual_feas al,
  ip (w - rank_w al) (w - rank_w al) = 0 & forall p, al p * (ip w (phi (hi p) - phi (lo p)) - 1) = 0].
Definition rank_hard_margin_feas (p : margin_point) := let: (u, t) := p in
  (forall q, t <= ip u (phi (hi q) - phi (lo q))) /\ ip u u <= 1.
Definition rank_hard_margin_obj (p : margin_point) := let: (u, t) := p in t.

Definition rank_l1_primal_feas (s : soft_point) := let: (w, xi) := s in
  forall p, 0 <= xi p /\ 1 - xi p <= ip w (phi (hi p) - phi (lo p)).
Definition rank_l1_primal_obj (s : soft_point) := let: (w, xi) := s in 2%:R^-1 * ip w w + C * (\sum_p xi p).
Definition rank_l1_dual_feas al := forall p, 0 <= al p <= C.
Definition rank_l1_dual_obj al := \sum_p al p - 2%:R^-1 * rank_quadratic al.
Definition rank_l1_kkt (s : soft_point) al := let: (w, xi) := s in [/\ rank_l1_primal_feas (w, xi), rank_l1_dual_feas al,
  ip (w - rank_w al) (w - rank_w al) = 0, forall p, al p * (ip w (phi (hi p) - phi (lo p)) - 1 + xi p) = 0
  & forall p, (C - al p) * xi p = 0].
Definition rank_l1_dual_as_printed_obj al := \sum_p al p - rank_quadratic al.

Definition rank_l2_primal_feas := rank_l1_primal_feas.
Definition rank_l2_primal_obj (s : soft_point) := let: (w, xi) := s in 2%:R^-1 * ip w w + C * (\sum_p xi p ^+ 2).
Definition rank_l2_dual_feas := rank_hard_dual_feas.
Definition rank_l2_dual_obj al := \sum_p al p - 2%:R^-1 * rank_quadratic al - (4%:R * C)^-1 * (\sum_p al p ^+ 2).
Definition rank_l2_kkt (s : soft_point) al := let: (w, xi) := s in [/\ rank_l2_primal_feas (w, xi), rank_l2_dual_feas al,
  ip (w - rank_w al) (w - rank_w al) = 0, forall p, al p * (ip w (phi (hi p) - phi (lo p)) - 1 + xi p) = 0
  & forall p, al p = 2%:R * C * xi p].

Definition rank_hinge w p := Num.max 0 (1 - ip w (phi (hi p) - phi (lo p))).
Definition rank_l1_function_obj w := 2%:R^-1 * ip w w + C * (\sum_p rank_hinge w p).
Definition rank_l1_beta_obj be := 2%:R^-1 * (\sum_i \sum_j be i * K i j * be j)
  + C * (\sum_p Num.max 0 (1 - (rank_values be (hi p) - rank_values be (lo p)))).
Definition rank_l2_beta_obj be := 2%:R^-1 * (\sum_i \sum_j be i * K i j * be j)
  + C * (\sum_p (Num.max 0 (1 - (rank_values be (hi p) - rank_values be (lo p)))) ^+ 2).
Definition rank_l1_betahat_obj bh := 2%:R^-1 * rank_quadratic bh + C * (\sum_p Num.max 0 (1 - \sum_q Qhat p q * bh q)).
Definition rank_oneslack_feas (s : margin_point) := let: (w, xi) := s in forall c : {ffun P -> bool},
  \sum_p (c p)%:R - xi <= ip w (\sum_p (c p)%:R *: (phi (hi p) - phi (lo p))).
Definition rank_oneslack_obj (s : margin_point) := let: (w, xi) := s in 2%:R^-1 * ip w w + C * xi.

Definition rank_lambda_function_feas := rank_l1_primal_feas.
Definition rank_lambda_function_obj (s : soft_point) := let: (f, zeta) := s in \sum_p zeta p + lam * ip f f.
Definition rank_lambda_primal_feas (s : span_point) := let: (be, zeta) := s in
  forall p, 0 <= zeta p /\ 1 - zeta p <= rank_values be (hi p) - rank_values be (lo p).
Definition rank_lambda_primal_obj (s : span_point) := let: (be, zeta) := s in
  \sum_p zeta p + lam / 2%:R * (\sum_i \sum_j be i * K i j * be j).
Definition rank_lambda_dual_feas al := forall p : P, 0 <= al p <= 1.
Definition rank_lambda_dual_obj al := \sum_p al p - (2%:R * lam)^-1 * rank_quadratic al.
Definition rank_path_feas := rank_lambda_dual_feas.
Definition rank_path_obj al := lam * (\sum_p al p) - 2%:R^-1 * rank_quadratic al.

Definition short be p := rank_values be (hi p) - rank_values be (lo p) < 1.
Definition rank_l2_value_as_printed be := 2%:R^-1 * (\sum_i \sum_j be i * K i j * be j)
  + C * (\sum_(p | short be p) (rank_values be (hi p) - rank_values be (lo p)) * (rank_values be (hi p) - rank_values be (lo p) - 2%:R))
  + \sum_(p | short be p) 1.
End Definitions.

Section Duality.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (X : finType) (phi : X -> V).
Variables (P : finType) (hi lo : P -> X) (C : R).
Implicit Types (w : V) (al bh : P -> R) (be : X -> R).
Let a p := phi (hi p) - phi (lo p).
Let none (p : P) : R := 0.
Let one (p : P) : R := 1.
Local Notation Q := (Qhat ip phi hi lo).

Lemma QhatE p q : Q p q = ip (a p) (a q).
Proof. by rewrite /Qhat /K /a ipBl !ipBr; ring. Qed.
Definition A (p : P) (i : X) : R := (i == hi p)%:R - (i == lo p)%:R.
Lemma sum_A (f : X -> R) p : \sum_i A p i * f i = f (hi p) - f (lo p).
Proof.
have pick k : \sum_i (i == k)%:R * f i = f k.
  by rewrite (bigD1 k) //= eqxx mul1r big1 ?addr0 // => i /negPf ->; rewrite mul0r.
by rewrite -!pick -sumrB; apply: eq_bigr => i _; rewrite mulrBl.
Qed.
Theorem Qhat_AKA p q : Q p q = \sum_i \sum_j A p i * K ip phi i j * A q j.
Proof.
have E i : \sum_j A p i * K ip phi i j * A q j = A p i * (K ip phi i (hi q) - K ip phi i (lo q)).
  rewrite -(sum_A (K ip phi i) q) mulr_sumr; apply: eq_bigr => j _; ring.
by under eq_bigr do rewrite E; rewrite sum_A /Qhat; ring.
Qed.

Lemma rank_quadraticE al : rank_quadratic ip phi hi lo al = ip (rank_w phi hi lo al) (rank_w phi hi lo al).
Proof.
rewrite /rank_w ip_suml; apply: eq_bigr => p _; rewrite ip_sumr; apply: eq_bigr => q _.
by rewrite ip_scalel ip_scaler QhatE mulrA.
Qed.
Lemma rank_dual_valueE al : \sum_p al p - 2%:R^-1 * rank_quadratic ip phi hi lo al = dual_value ip a one al.
Proof. by rewrite rank_quadraticE /dual_value; congr (_ - _); apply: eq_bigr => p _; rewrite mul1r. Qed.
Lemma rank_balanced al : balanced none al.
Proof. by apply: big1 => p _; rewrite mul0r. Qed.
Lemma rank_slackE w b xi p : ip w (a p) - 1 + xi p = slack ip a none one w b xi p.
Proof. by rewrite /slack mul0r subr0. Qed.

Theorem rank_hard_duality : (exists w, rank_hard_primal_feas ip phi hi lo w) ->
  strong_duality (rank_hard_primal_feas ip phi hi lo) (rank_hard_primal_obj ip) (@rank_hard_dual_feas R P)
    (rank_hard_dual_obj ip phi hi lo) (rank_hard_kkt ip phi hi lo).
Proof.
have PE w b : rank_hard_primal_feas ip phi hi lo w <-> hard_primal_feas ip a none one (w, b).
  by split=> h p; have := h p; rewrite /= mul0r subr0.
have KE w b al : rank_hard_kkt ip phi hi lo w al <-> hard_kkt ip a none one (w, b) al.
  rewrite /rank_hard_kkt /hard_kkt; split; case=> /PE h1 h2 h3 h4; split=> //.
  + by split=> //; exact: rank_balanced.
  + by move=> p; rewrite -(h4 p) /= mul0r subr0.
  + by case: h2.
  + by move=> p; rewrite -(h4 p) /= mul0r subr0.
case=> w0 F; apply: (strong_duality_transfer (hard_pair ip a none one) (f := fun w => (w, 0)) (h := id)) _ _ _ (hard_duality _) => //.
- by move=> w /PE; exact.
- by split=> //; exact: rank_balanced.
- exact: rank_dual_valueE.
- by move=> w al; rewrite (KE w 0); split=> [K|[]//]; case: (K) => h1 [_ h2]; split=> //; exact/PE/h1.
- by case=> w b al /KE K; exists w, al.
- by exists (w0, 0); exact/PE.
Qed.

Let unbiased (t : V * (P -> R)) : V * R * (P -> R) := (t.1, 0, t.2).
Theorem rank_l1_duality : 0 <= C ->
  strong_duality (rank_l1_primal_feas ip phi hi lo) (@rank_l1_primal_obj R V ip P C) (@rank_l1_dual_feas R P C)
    (rank_l1_dual_obj ip phi hi lo) (rank_l1_kkt ip phi hi lo C).
Proof.
have PE w b xi : rank_l1_primal_feas ip phi hi lo (w, xi) <-> hinge_primal_feas ip a none one (w, b, xi).
  by split=> h p; have := h p; rewrite /= mul0r subr0.
have KE w b xi al : rank_l1_kkt ip phi hi lo C (w, xi) al <-> hinge_kkt ip a none one (fun=> C) (w, b, xi) al.
  rewrite /rank_l1_kkt /hinge_kkt; split; case=> /PE h1 h2 h3 h4 h5; split=> //.
  + by split=> //; exact: rank_balanced.
  + by move=> p; rewrite -(h4 p) /= -rank_slackE.
  + by case: h2.
  + by move=> p; rewrite -(h4 p) /= -rank_slackE.
move=> C0; apply: (strong_duality_transfer (hinge_pair ip a none one (fun=> C)) (f := unbiased) (h := id)) _ _ _
  (hinge_duality _ _ _ _ _) => //.
- by case=> w xi /PE; exact.
- by case=> w xi; rewrite /hinge_primal_obj /= -mulr_sumr.
- by split=> //; exact: rank_balanced.
- exact: rank_dual_valueE.
- by case=> w xi al; rewrite (KE w 0); split=> [K|[]//]; case: (K) => h1 [_ h2]; split=> //; exact/PE/h1.
- by case=> -[w b] xi al /KE K; exists (w, xi), al.
Qed.
Theorem rank_l2_duality : 0 < C ->
  strong_duality (rank_l2_primal_feas ip phi hi lo) (@rank_l2_primal_obj R V ip P C) (@rank_l2_dual_feas R P)
    (rank_l2_dual_obj ip phi hi lo C) (rank_l2_kkt ip phi hi lo C).
Proof.
have PE w b xi : rank_l2_primal_feas ip phi hi lo (w, xi) <-> squared_primal_feas ip a none one (w, b, xi).
  by split=> h p; have := h p; rewrite /= mul0r subr0.
have KE w b xi al : rank_l2_kkt ip phi hi lo C (w, xi) al <-> squared_kkt ip a none one C (w, b, xi) al.
  rewrite /rank_l2_kkt /squared_kkt; split; case=> /PE h1 h2 h3 h4 h5; split=> //.
  + by split=> //; exact: rank_balanced.
  + by move=> p; rewrite -(h4 p) /= -rank_slackE.
  + by case: h2.
  + by move=> p; rewrite -(h4 p) /= -rank_slackE.
move=> C0; apply: (strong_duality_transfer (squared_pair ip a none one C0) (f := unbiased) (h := id)) _ _ _
  (squared_duality _ _ _ _ C0) => //.
- by case=> w xi /PE; exact.
- by case.
- by split=> //; exact: rank_balanced.
- by move=> al; rewrite /rank_l2_dual_obj rank_dual_valueE.
- by case=> w xi al; rewrite (KE w 0); split=> [K|[]//]; case: (K) => h1 [_ h2]; split=> //; exact/PE/h1.
- by case=> -[w b] xi al /KE K; exists (w, xi), al.
Qed.
End Duality.

(** ** Forms in w, beta, betahat and one slack *)
Section Forms.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (X : finType) (phi : X -> V).
Variables (P : finType) (hi lo : P -> X) (C : R).
Hypothesis C0 : 0 <= C.
Implicit Types (w : V) (al bh : P -> R) (be : X -> R).
Local Notation hinge := (rank_hinge ip phi hi lo).
Local Notation feasible := (rank_l1_primal_feas ip phi hi lo).
Local Notation W := (rank_w phi hi lo).

Lemma hinge_feasible w : feasible (w, hinge w).
Proof. by move=> p; rewrite /rank_hinge le_maxr lexx ler_subl_addr -ler_subl_addl le_maxr lexx orbT. Qed.
Lemma hinge_least w xi p : feasible (w, xi) -> hinge w p <= xi p.
Proof. by move=> /(_ p)[h0 h1]; rewrite /rank_hinge le_maxl h0 /= ler_subl_addr -ler_subl_addl. Qed.
Lemma hinge_ge0 w p : 0 <= hinge w p.
Proof. by rewrite /rank_hinge le_maxr lexx. Qed.

Theorem rank_l1_function_equivalence v :
  minimum feasible (rank_l1_primal_obj ip C) v <-> minimum everywhere (rank_l1_function_obj ip phi hi lo C) v.
Proof.
apply: minimum_iff => [[w xi] F|w _]; [exists w => //|exists (w, hinge w) => //; exact: hinge_feasible].
by rewrite ler_add2l ler_wpmul2l // ler_sum // => p _; exact: hinge_least.
Qed.

Lemma values_span be i : rank_values ip phi be i = ip (span phi be) (phi i).
Proof. by rewrite /span ip_suml; apply: eq_bigr => j _; rewrite ip_scalel /K ip_sym mulrC. Qed.
Lemma gram_span be : \sum_i \sum_j be i * K ip phi i j * be j = ip (span phi be) (span phi be).
Proof.
rewrite {1}/span ip_suml; apply: eq_bigr => i _; rewrite ip_sumr; apply: eq_bigr => j _.
by rewrite ip_scalel ip_scaler /K; ring.
Qed.
Lemma hinge_span be p : Num.max 0 (1 - (rank_values ip phi be (hi p) - rank_values ip phi be (lo p))) = hinge (span phi be) p.
Proof. by rewrite !values_span /rank_hinge ipBr. Qed.

Theorem rank_l1_beta_value be : rank_l1_beta_obj ip phi hi lo C be = rank_l1_primal_obj ip C (span phi be, hinge (span phi be)).
Proof. by rewrite /rank_l1_beta_obj gram_span; congr (_ + _ * _); apply: eq_bigr => p _; rewrite hinge_span. Qed.
Theorem rank_l2_beta_value be : rank_l2_beta_obj ip phi hi lo C be = rank_l2_primal_obj ip C (span phi be, hinge (span phi be)).
Proof. by rewrite /rank_l2_beta_obj gram_span; congr (_ + _ * _); apply: eq_bigr => p _; rewrite hinge_span. Qed.
Lemma span_no_worse w : exists2 be, hinge (span phi be) =1 hinge w
  & 2%:R^-1 * ip (span phi be) (span phi be) <= 2%:R^-1 * ip w w.
Proof.
have [be h] := projection ip phi w; exists be; last exact: projection_no_longer.
by move=> p; rewrite /rank_hinge !ipBr !h.
Qed.
Theorem rank_l1_beta_equivalence v :
  minimum feasible (rank_l1_primal_obj ip C) v <-> minimum everywhere (rank_l1_beta_obj ip phi hi lo C) v.
Proof.
apply: minimum_iff => [[w xi] F|be _].
  have [be h le] := span_no_worse w; exists be => //; rewrite rank_l1_beta_value ler_add // ler_wpmul2l // ler_sum // => p _.
  by rewrite h hinge_least.
by exists (span phi be, hinge (span phi be)); [exact: hinge_feasible|rewrite rank_l1_beta_value].
Qed.
Theorem rank_l2_beta_equivalence v :
  minimum feasible (rank_l2_primal_obj ip C) v <-> minimum everywhere (rank_l2_beta_obj ip phi hi lo C) v.
Proof.
apply: minimum_iff => [[w xi] F|be _].
  have [be h le] := span_no_worse w; exists be => //; rewrite rank_l2_beta_value ler_add // ler_wpmul2l // ler_sum // => p _.
  by rewrite h ler_expn2r ?nnegrE ?hinge_ge0 ?hinge_least //; have [] := F p.
by exists (span phi be, hinge (span phi be)); [exact: hinge_feasible|rewrite rank_l2_beta_value].
Qed.

Lemma rank_l1_betahatE bh : rank_l1_betahat_obj ip phi hi lo C bh = rank_l1_function_obj ip phi hi lo C (W bh).
Proof.
rewrite /rank_l1_betahat_obj rank_quadraticE; congr (_ + _ * _); apply: eq_bigr => p _; congr (Num.max 0 (1 - _)).
by rewrite /rank_w ip_suml; apply: eq_bigr => q _; rewrite ip_scalel QhatE ip_sym mulrC.
Qed.
Lemma dual_gives_function al : maximizer (rank_l1_dual_feas C) (rank_l1_dual_obj ip phi hi lo) al ->
  forall w, rank_l1_function_obj ip phi hi lo C (W al) <= rank_l1_function_obj ip phi hi lo C w.
Proof.
move=> O w; have [[v [[w' xi] O' _] _] K] := rank_l1_duality ip phi hi lo C0.
have [F D st _ _] := (K (w', xi) al).1 (conj O' O); have [_ min] := O'.
have e u : ip (W al) u = ip w' u.
  by apply/esym/eqP; rewrite -subr_eq0 -ipBl (ip_null _ st).
have ee : ip (W al) (W al) = ip w' w' by rewrite e ip_sym e.
apply: (le_trans _ (min (w, hinge w) (@hinge_feasible w))); rewrite /rank_l1_function_obj ee ler_add2l ler_wpmul2l //.
by rewrite ler_sum // => p _; rewrite /rank_hinge e; exact: hinge_least F.
Qed.
Theorem rank_l1_betahat_of_dual al : maximizer (rank_l1_dual_feas C) (rank_l1_dual_obj ip phi hi lo) al ->
  minimizer everywhere (rank_l1_betahat_obj ip phi hi lo C) al.
Proof. by move=> O; split=> // bh _; rewrite !rank_l1_betahatE; exact: dual_gives_function. Qed.
Theorem rank_l1_betahat_to_w bh : minimizer everywhere (rank_l1_betahat_obj ip phi hi lo C) bh ->
  minimizer feasible (rank_l1_primal_obj ip C) (W bh, hinge (W bh)).
Proof.
case=> _ O; split=> [|[w xi] F]; first exact: hinge_feasible.
have [[_ _ [al Oal _]] _] := rank_l1_duality ip phi hi lo C0.
have := O al I; rewrite !rank_l1_betahatE => /le_trans; apply.
apply: le_trans (dual_gives_function Oal w) _; rewrite ler_add2l ler_wpmul2l // ler_sum // => p _; exact: hinge_least.
Qed.
Theorem rank_l1_betahat_equivalence v :
  maximum (rank_l1_dual_feas C) (rank_l1_dual_obj ip phi hi lo) v <-> minimum everywhere (rank_l1_betahat_obj ip phi hi lo C) v.
Proof.
have [[u Pu Du] _] := rank_l1_duality ip phi hi lo C0.
have Bu : minimum everywhere (rank_l1_betahat_obj ip phi hi lo C) u.
  have [al Oal _] := Du; exists al; first exact: rank_l1_betahat_of_dual.
  have /rank_l1_function_equivalence[w [_ Ow] <-] := Pu; rewrite rank_l1_betahatE; apply/eqP.
  by rewrite eq_le dual_gives_function //= Ow.
by split=> h; [rewrite (maximum_unique h Du)|rewrite (minimum_unique h Bu)].
Qed.

Lemma oneslack_hinge w s : rank_oneslack_feas ip phi hi lo (w, s) <-> \sum_p hinge w p <= s.
Proof.
have E (c : {ffun P -> bool}) : \sum_p (c p)%:R - ip w (\sum_p (c p)%:R *: (phi (hi p) - phi (lo p)))
    = \sum_p (c p)%:R * (1 - ip w (phi (hi p) - phi (lo p))) :> R.
  by rewrite ip_sumr -sumrB; apply: eq_bigr => p _; rewrite ip_scaler mulrBr mulr1.
split=> [h|h c].
- have := h [ffun p => 0 <= 1 - ip w (phi (hi p) - phi (lo p))].
  rewrite ler_subl_addr -ler_subl_addl E; apply: le_trans; apply: ler_sum => p _; rewrite ffunE /rank_hinge.
  by case: (leP 0) => _; rewrite ?mul1r ?mul0r.
- rewrite ler_subl_addr -ler_subl_addl E; apply: le_trans h; apply: ler_sum => p _; rewrite /rank_hinge le_maxr.
  by case: (c p); rewrite ?mul1r ?mul0r lexx ?orbT.
Qed.
Theorem rank_oneslack_equivalence v :
  minimum feasible (rank_l1_primal_obj ip C) v <-> minimum (rank_oneslack_feas ip phi hi lo) (rank_oneslack_obj ip C) v.
Proof.
apply: minimum_iff => [[w xi] F|[w s] /oneslack_hinge F].
  exists (w, \sum_p xi p) => //; apply/oneslack_hinge; apply: ler_sum => p _; exact: hinge_least.
by exists (w, hinge w); [exact: hinge_feasible|rewrite ler_add2l ler_wpmul2l].
Qed.
Theorem rank_oneslack_value w : rank_oneslack_feas ip phi hi lo (w, \sum_p hinge w p) /\
  rank_oneslack_obj ip C (w, \sum_p hinge w p) = rank_l1_primal_obj ip C (w, hinge w).
Proof. by split=> //; exact/oneslack_hinge. Qed.
Theorem rank_l1_below_hard w : rank_hard_primal_feas ip phi hi lo w ->
  feasible (w, fun=> 0) /\ rank_l1_primal_obj ip C (w, (fun=> 0) : P -> R) = rank_hard_primal_obj ip w.
Proof. by move=> F; split=> [p|]; rewrite ?subr0 ?lexx //= big1 // mulr0 addr0. Qed.
(** The soft optimum at C is the hard one exactly if some optimal multipliers of the hard dual are at most C. *)
Theorem rank_l1_is_hard v : minimum (rank_hard_primal_feas ip phi hi lo) (rank_hard_primal_obj ip) v ->
  minimum feasible (rank_l1_primal_obj ip C) v <->
  exists2 al, maximizer (@rank_hard_dual_feas R P) (rank_hard_dual_obj ip phi hi lo) al & forall p, al p <= C.
Proof.
move=> Hv; have [w [Fw Ow] Ew] := Hv.
have [[u Pu [h [Fh Oh] Eh]] _] := rank_hard_duality (ex_intro _ _ Fw).
have [[u' Pu' [s [Fs Os] Es]] _] := rank_l1_duality ip phi hi lo C0.
have uv : u = v by exact: minimum_unique Pu Hv.
split=> [Sv|[al [al0 Oal] cap]].
  have u'v : u' = v by exact: minimum_unique Pu' Sv.
  exists s; last by move=> p; have /andP[] := Fs p.
  split; first by move=> p; have /andP[] := Fs p.
  by move=> al' /Oh; rewrite Eh uv -u'v -Es.
suff -> : v = u' by [].
have ub : u' <= v.
  have [F E] := rank_l1_below_hard Fw; have [t [Ft Ot] <-] := Pu'; rewrite -Ew -E; exact: Ot.
apply/eqP; rewrite eq_le ub andbT -uv -Eh -Es; apply: (le_trans (Oal h Fh)).
by apply: Os => p; rewrite al0 cap.
Qed.
End Forms.

(** ** Scales: lambda = 1/C, and the missing 1/2 *)
Section Scales.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (X : finType) (phi : X -> V).
Variables (P : finType) (hi lo : P -> X) (C : R).
Hypothesis C0 : 0 < C.
Let Cn : C != 0. Proof. by rewrite gt_eqF. Qed.

Theorem rank_lambda_function_rescaling v : minimum (rank_l1_primal_feas ip phi hi lo) (rank_l1_primal_obj ip C) v <->
  minimum (rank_lambda_function_feas ip phi hi lo) (rank_lambda_function_obj ip (2%:R * C)^-1) (C^-1 * v).
Proof.
apply: minimum_scale; first by rewrite invr_gt0.
by move=> [w xi]; rewrite /rank_lambda_function_obj /=; field; rewrite Cn.
Qed.
Theorem rank_lambda_function_as_lambda_half_rescaling v :
  minimum (rank_lambda_function_feas ip phi hi lo) (rank_lambda_function_obj ip C^-1) v <->
  minimum (rank_l1_primal_feas ip phi hi lo) (rank_l1_primal_obj ip (C / 2%:R)) (C / 2%:R * v).
Proof.
apply: minimum_scale; first by rewrite divr_gt0 ?ltr0n.
by move=> [w xi]; rewrite /rank_l1_primal_obj /=; field; rewrite Cn.
Qed.
Theorem rank_lambda_primal_rescaling v : minimum everywhere (rank_l1_beta_obj ip phi hi lo C) v <->
  minimum (rank_lambda_primal_feas ip phi hi lo) (rank_lambda_primal_obj ip phi C^-1) (C^-1 * v).
Proof.
pose short be p := Num.max 0 (1 - (rank_values ip phi be (hi p) - rank_values ip phi be (lo p))).
pose obj (s : (X -> R) * (P -> R)) := C * rank_lambda_primal_obj ip phi C^-1 s.
have scale s : rank_lambda_primal_obj ip phi C^-1 s = C^-1 * obj s by rewrite /obj mulKf.
rewrite -(minimum_scale _ v _ scale) ?invr_gt0 //.
have value be zeta : obj (be, zeta) = 2%:R^-1 * (\sum_i \sum_j be i * K ip phi i j * be j) + C * (\sum_p zeta p).
  by rewrite /obj /rank_lambda_primal_obj; field; rewrite Cn.
apply: minimum_iff => [be _|[be zeta] F].
  exists (be, short be); last by rewrite value.
  by move=> p; rewrite /short le_maxr lexx ler_subl_addr -ler_subl_addl le_maxr lexx orbT.
exists be => //; rewrite value ler_add2l (ler_wpmul2l (ltW C0)) // ler_sum // => p _.
by have [h0 h1] := F p; rewrite le_maxl h0 /= ler_subl_addr -ler_subl_addl.
Qed.
Lemma rank_quadraticZ k al : rank_quadratic ip phi hi lo (fun p => k * al p) = k ^+ 2 * rank_quadratic ip phi hi lo al.
Proof. by rewrite /rank_quadratic mulr_sumr; apply: eq_bigr => p _; rewrite mulr_sumr; apply: eq_bigr => q _; move: (Qhat _ _ _ _ _ _) => u; ring. Qed.
Theorem rank_lambda_dual_rescaling v : maximum (rank_l1_dual_feas C) (rank_l1_dual_obj ip phi hi lo) v <->
  maximum (@rank_lambda_dual_feas R P) (rank_lambda_dual_obj ip phi hi lo C^-1) (C^-1 * v).
Proof.
apply: (maximum_scale (f := fun al p => C^-1 * al p) (h := fun al p => C * al p)) => [|al F|al F]; first by rewrite invr_gt0.
- split=> [p|]; last first.
    rewrite /rank_lambda_dual_obj rank_quadraticZ -mulr_sumr /rank_l1_dual_obj.
    by move: (\sum_p al p) (rank_quadratic _ _ _ _ al) => s q; field; rewrite Cn.
  by have /andP[h0 h1] := F p; rewrite mulr_ge0 ?invr_ge0 ?(ltW C0) //= ler_pdivr_mull // mulr1.
- split=> [p|]; last first.
    rewrite /rank_l1_dual_obj rank_quadraticZ -mulr_sumr /rank_lambda_dual_obj.
    by move: (\sum_p al p) (rank_quadratic _ _ _ _ al) => s q; field; rewrite Cn.
  by have /andP[h0 h1] := F p; rewrite mulr_ge0 ?(ltW C0) //= -[X in _ <= X]mulr1 ler_pmul2l.
Qed.
Theorem rank_path_rescaling v : maximum (@rank_lambda_dual_feas R P) (rank_lambda_dual_obj ip phi hi lo C^-1) v <->
  maximum (@rank_path_feas R P) (rank_path_obj ip phi hi lo C^-1) (C^-1 * v).
Proof.
have scale al : rank_path_obj ip phi hi lo C^-1 al = C^-1 * rank_lambda_dual_obj ip phi hi lo C^-1 al.
  rewrite /rank_path_obj /rank_lambda_dual_obj.
  by move: (\sum_p al p) (rank_quadratic _ _ _ _ al) => s q; field; rewrite Cn.
apply: (maximum_scale (f := id) (h := id)) => [|al F|al F]; first by rewrite invr_gt0.
- by split; last exact: scale.
- by split=> //; rewrite scale mulrA mulVf ?mul1r ?invr_neq0.
Qed.
Theorem rank_l1_dual_as_printed_rescaling v :
  maximum (rank_l1_dual_feas C) (rank_l1_dual_as_printed_obj ip phi hi lo) v <->
  maximum (rank_l1_dual_feas (2%:R * C)) (rank_l1_dual_obj ip phi hi lo) (2%:R * v).
Proof.
apply: (maximum_scale (f := fun al p => 2%:R * al p) (h := fun al p => 2%:R^-1 * al p)) => [|al F|al F]; first by rewrite ltr0n.
- split=> [p|]; last first.
    rewrite /rank_l1_dual_obj rank_quadraticZ -mulr_sumr /rank_l1_dual_as_printed_obj.
    by move: (\sum_p al p) (rank_quadratic _ _ _ _ al) => s q; field.
  by have /andP[h0 h1] := F p; rewrite mulr_ge0 ?ler0n //= ler_pmul2l ?ltr0n.
- split=> [p|]; last first.
    rewrite /rank_l1_dual_as_printed_obj rank_quadraticZ -mulr_sumr /rank_l1_dual_obj.
    by move: (\sum_p al p) (rank_quadratic _ _ _ _ al) => s q; field.
  by have /andP[h0 h1] := F p; rewrite mulr_ge0 ?invr_ge0 ?ler0n //= ler_pdivr_mull ?ltr0n.
Qed.
End Scales.

(** ** Hard ranking *)
Section Hard.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (X : finType) (phi : X -> V).

(** w ranks all pairs of a positive and a negative item exactly if 2w, with some b, classifies the items. *)
Theorem rank_hard_is_svm_hard (P : finType) (hi lo : P -> X) (positive : pred X) :
  (forall i j, positive i -> ~~ positive j -> exists p, hi p = i /\ lo p = j) ->
  (forall p, positive (hi p) /\ ~~ positive (lo p)) ->
  let y i : R := if positive i then 1 else -1 in forall w,
  (rank_hard_primal_feas ip phi hi lo w <-> exists b, svm_hard_primal_feas ip phi y (2%:R *: w, b)) /\
  forall b, svm_hard_primal_obj ip (2%:R *: w, b) = 4%:R * rank_hard_primal_obj ip w.
Proof.
move=> all some y w; split; last by move=> b; rewrite /= ip_scalel ip_scaler /rank_hard_primal_obj; field.
have s i : ip (2%:R *: w) (phi i) = 2%:R * ip w (phi i) by rewrite ip_scalel.
split=> [F|[b F] p]; last first.
  have [ph pl] := some p; have := ler_add (F (hi p)) (F (lo p)); rewrite /= /y ph (negPf pl) !s ipBr.
  move: (ip w _) (ip w _) => v u; have -> : 1 * (2%:R * u - b) + -1 * (2%:R * v - b) = 2%:R * (u - v) by ring.
  by rewrite -mulr2n ler_pmulr ?ltr0n.
have [i pi|none] := pickP positive; last first.
  exists (\sum_i (1 + Num.max 0 (2%:R * ip w (phi i)))) => i; rewrite /= s /y none mulN1r opprB ler_subr_addr.
  rewrite (bigD1 i) //= -addrA ler_add2l; apply: ler_paddr; last by rewrite le_maxr lexx orbT.
  by rewrite sumr_ge0 // => j _; rewrite addr_ge0 ?ler01 // le_maxr lexx.
have [k pk least] := @arg_minP _ _ _ i positive (fun i => ip w (phi i)) pi.
exists (2%:R * ip w (phi k) - 1) => j; rewrite /= s /y; case: ifP => pj.
  by rewrite mul1r opprB addrCA ler_addl subr_ge0 ler_pmul2l ?ltr0n ?least.
have [p [hp lp]] := all k j pk (negbT pj); have := F p; rewrite hp lp ipBr.
rewrite -(@ler_pmul2l _ 2%:R) ?ltr0n // mulr1 mulrBr => h.
by rewrite mulN1r opprB addrAC ler_subr_addr -mulr2n.
Qed.

(** For items in a strict order, the rows of neighbours imply those of all other pairs. *)
Theorem rank_hard_chain n (x : nat -> V) (P : finType) (hi lo : P -> 'I_n.+1) :
  (forall i j : 'I_n.+1, (j < i)%N -> exists p, hi p = i /\ lo p = j) -> (forall p, (lo p < hi p)%N) -> forall w,
  rank_hard_primal_feas ip (fun i : 'I_n.+1 => x i) hi lo w <->
  rank_hard_primal_feas ip (fun i : 'I_n.+1 => x i) (lift ord0) (widen_ord (leqnSn n)) w.
Proof.
move=> all sorted w; split=> F.
  by move=> k; have [|p [<- <-]] := all (lift ord0 k) (widen_ord (leqnSn n) k); [rewrite /= /bump leq0n|exact: F].
have neighbour k : (k < n)%N -> 1 <= ip w (x k.+1 - x k) by move=> kn; have := F (Ordinal kn); rewrite /= /bump leq0n.
have step m k : (k + m < n)%N -> 1 <= ip w (x (k + m).+1 - x k).
  elim: m => [|m IH] lt; first by rewrite addn0 in lt *; exact: neighbour.
  rewrite addnS in lt *; have -> : x (k + m).+2 - x k = (x (k + m).+2 - x (k + m).+1) + (x (k + m).+1 - x k) by rewrite addrA subrK.
  by rewrite ip_addr; apply: le_trans (ler_add (neighbour _ lt) (IH (ltnW lt))); rewrite ler_addl ler01.
move=> p; have e : nat_of_ord (hi p) = (lo p + (hi p - (lo p).+1)).+1 by rewrite -addSn subnKC.
by rewrite e; apply: step; rewrite -ltnS -e.
Qed.
End Hard.

(** T, Corollary 2: the largest margin t of a w of length at most 1. *)
Section Margin.
Variables (R : rcfType) (V : lmodType R) (ip : semi_inner V) (X : finType) (phi : X -> V) (P : finType) (hi lo : P -> X).
Theorem rank_hard_margin_equivalence v : 0 < v ->
  minimum (rank_hard_primal_feas ip phi hi lo) (rank_hard_primal_obj ip) v <->
  maximum (rank_hard_margin_feas ip phi hi lo) (@rank_hard_margin_obj R V) (Num.sqrt (2%:R * v))^-1.
Proof.
move=> v0; have [H1 H2] := margin_equivalence ip (fun p => phi (hi p) - phi (lo p)) (fun=> 0) v0.
have PE w b : rank_hard_primal_feas ip phi hi lo w <-> hard_primal_feas ip (fun p => phi (hi p) - phi (lo p)) (fun=> 0) (fun=> 1) (w, b).
  by split=> h p; have := h p; rewrite /= mul0r subr0.
have ME u b t : rank_hard_margin_feas ip phi hi lo (u, t) <-> margin_feas ip (fun p => phi (hi p) - phi (lo p)) (fun=> 0) (u, b, t).
  by split=> -[h n]; split=> // p; have := h p; rewrite /= mul0r subr0.
split=> [[w [F O] E]|[[u t] [F O] E]].
- have [|[[u b] t] [/ME F' O'] E'] := H1.
    by exists (w, 0) => //; split=> [|[w' b'] /PE /O]; [exact/PE|].
  by exists (u, t) => //; split=> // -[u' t'] /(ME _ 0) /O'.
- have [|[w b] [/PE F' O'] E'] := H2.
    by exists (u, 0, t) => //; split=> [|[[u' b'] t'] /ME /O]; [exact/ME|].
  by exists w => //; split=> // w' /(PE _ 0) /O'.
Qed.
End Margin.

(** Ranking as classification of every difference and its negative, in two classes, with a bias, at half the cost. *)
Section Symmetrised.
Variables (R : realFieldType) (V : lmodType R) (ip : semi_inner V) (X : finType) (phi : X -> V) (P : finType) (hi lo : P -> X) (C : R).
Let z (k : P + P) : V := match k with inl p => phi (hi p) - phi (lo p) | inr p => phi (lo p) - phi (hi p) end.
Let y (k : P + P) : R := match k with inl _ => 1 | inr _ => -1 end.
Theorem rank_l1_is_symmetrised_svm v : minimum (rank_l1_primal_feas ip phi hi lo) (rank_l1_primal_obj ip C) v <->
  minimum (svm_soft_primal_feas ip z y) (@svm_soft_primal_obj R V ip _ (C / 2%:R)) v.
Proof.
apply: minimum_iff => [[w xi] F|[[w b] xi] F].
  exists (w, 0, fun k => match k with inl p | inr p => xi p end).
    by case=> p; have [h0 h1] := F p; rewrite /= subr0 ?mul1r // mulN1r -ipNr opprB.
  rewrite /= big_sumType /=; move: (\sum_p xi p) => s.
  by have -> : C / 2%:R * (s + s) = C * s by field.
exists (w, fun p => (xi (inl p) + xi (inr p)) / 2%:R).
  move=> p; have [h0 h1] := F (inl p); have [h2 h3] := F (inr p); split; first by apply: divr_ge0; [exact: addr_ge0|exact: ler0n].
  rewrite -(@ler_pmul2l _ 2%:R) ?ltr0n //; move: (ler_add h1 h3); rewrite /= mul1r mulN1r -(opprB (phi (hi p))) ipNr.
  move: (ip w _) => m h; have -> : 2%:R * m = m - b + - (- m - b) by ring.
  by apply: le_trans h; rewrite le_eqVlt; apply/orP; left; apply/eqP; field.
rewrite /= big_sumType /= -big_split /= -mulr_suml; move: (\sum_p _) => s.
by rewrite mulrA [C / 2%:R * s]mulrAC.
Qed.
End Symmetrised.
