(** * Convex programs in standard form over an ordered field

    min 1/2 B(x, x) + q(x) + c   s.t.   A_i(x) = b_i for i < p,   the h_i - G_i(x) for i < m in K

    for x in R^I and B symmetric and positive semidefinite. K is the cone of vectors whose first l entries are nonnegative and whose others, cut
    into parts of k + 1 entries (t, w), have |w|^2 <= t^2 and t >= 0: second-order cones.

    [program_weak]        the dual value of a point and multipliers is at most the objective of every feasible point
    [program_infeasible]  no point is feasible if multipliers y and z with A'y + G'z = 0 and b'y + h'z < 0 exist
    [program_endless]     the objective is unbounded below if a feasible point and a direction of unlimited descent exist
    [program_attained]    without cones, a minimum exists if a point is feasible and the objective is bounded below *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From equimargin Require Import inner optimum qp.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** ** The cone *)
Section Cone.
Variable R : realFieldType.
Implicit Types f g : nat -> R.
Fixpoint second_order f (sizes : seq nat) (at_row : nat) : Prop := if sizes is k :: rest then
  [/\ 0 <= f at_row, \sum_(j < k) f (at_row + j.+1)%N ^+ 2 <= f at_row ^+ 2 & second_order f rest (at_row + k.+1)] else True.
Definition in_cone (l : nat) (sizes : seq nat) f := (forall i, (i < l)%N -> 0 <= f i) /\ second_order f sizes l.
Definition rows_of_cones (sizes : seq nat) := sumn [seq k.+1 | k <- sizes].

(** The Cauchy-Schwarz inequality without roots. *)
Lemma cauchy_schwarz k (v w : 'I_k -> R) s t : 0 <= s -> 0 <= t -> \sum_j v j ^+ 2 <= s ^+ 2 -> \sum_j w j ^+ 2 <= t ^+ 2 ->
  0 <= s * t + \sum_j v j * w j.
Proof.
have zero (x y : 'I_k -> R) r : r = 0 -> \sum_j x j ^+ 2 <= r ^+ 2 -> \sum_j x j * y j = 0.
  move=> ->; rewrite expr0n /= => le; have : \sum_j x j ^+ 2 == 0 by rewrite eq_le le sumr_ge0 // => j _; exact: sqr_ge0.
  rewrite psumr_eq0 => [/allP h|j _]; last exact: sqr_ge0.
  by rewrite big1 // => j _; have := h j (mem_index_enum j); rewrite /= sqrf_eq0 => /eqP ->; rewrite mul0r.
move=> s0 t0 hv hw; have [s1|s1] := eqVneq s 0; first by rewrite (zero v w s s1 hv) s1 mul0r addr0.
have [t1|t1] := eqVneq t 0.
  by under eq_bigr => j _ do rewrite mulrC; rewrite (zero w v t t1 hw) t1 mulr0 addr0.
have pos : 0 < 2%:R * (s * t) by rewrite mulr_gt0 ?ltr0n // mulr_gt0 // lt_def ?s1 ?t1.
rewrite -(pmulr_rge0 _ pos).
have -> : 2%:R * (s * t) * (s * t + \sum_j v j * w j) =
    (t ^+ 2 * (s ^+ 2 - \sum_j v j ^+ 2) + s ^+ 2 * (t ^+ 2 - \sum_j w j ^+ 2)) + \sum_j (t * v j + s * w j) ^+ 2.
  have -> : \sum_j (t * v j + s * w j) ^+ 2 = t ^+ 2 * (\sum_j v j ^+ 2) + 2%:R * (s * t) * (\sum_j v j * w j) + s ^+ 2 * (\sum_j w j ^+ 2).
    by rewrite !mulr_sumr -!big_split; apply: eq_bigr => j _; rewrite /=; ring.
  by move: (\sum_j _) (\sum_j _) (\sum_j _) => x y z; ring.
by rewrite !addr_ge0 ?mulr_ge0 ?sqr_ge0 ?subr_ge0 // sumr_ge0 // => j _; exact: sqr_ge0.
Qed.
Lemma in_cone_ext l sizes f g : (forall i, f i = g i) -> in_cone l sizes f -> in_cone l sizes g.
Proof.
move=> e [h1 h2]; split=> [i il|]; first by rewrite -e; exact: h1.
elim: sizes l {h1} h2 => [|k s IH] l //= [a b c]; split; rewrite -?e //; last exact: IH.
by under eq_bigr => j _ do rewrite -e.
Qed.
Lemma in_cone_inner l sizes f g : in_cone l sizes f -> in_cone l sizes g -> 0 <= \sum_(i < l + rows_of_cones sizes) f i * g i.
Proof.
move=> [f0 fc] [g0 gc]; rewrite big_split_ord addr_ge0 //; first by apply: sumr_ge0 => i _; rewrite mulr_ge0 ?f0 ?g0 /=.
elim: sizes l {f0 g0} fc gc => [|k s IH] l /=; first by rewrite big_ord0.
move=> [a b c] [a' b' c']; rewrite /rows_of_cones /= big_ord_recl.
rewrite (eq_bigr (fun i : 'I_(k + rows_of_cones s) => f (l + i.+1)%N * g (l + i.+1)%N)) // big_split_ord addrA addr_ge0 //=.
  by rewrite addn0; apply: cauchy_schwarz.
rewrite (eq_bigr (fun i : 'I_(rows_of_cones s) => f (l + k.+1 + i)%N * g (l + k.+1 + i)%N)) ?IH // => i _.
by have -> : (l + (rshift k i).+1 = l + k.+1 + i)%N by rewrite /= -addSn addnA.
Qed.
Lemma in_cone_along l sizes f g (t : R) : 0 <= t -> in_cone l sizes f -> in_cone l sizes g -> in_cone l sizes (fun i => f i + t * g i).
Proof.
move=> t0 [f0 fc] [g0 gc]; split=> [i il|]; first by rewrite addr_ge0 ?mulr_ge0 ?f0 ?g0.
elim: sizes l {f0 g0} fc gc => [|k s IH] l //= [a b c] [a' b' c']; split; [by rewrite addr_ge0 ?mulr_ge0| |exact: IH].
have cross : \sum_(j < k) f (l + j.+1)%N * g (l + j.+1)%N <= f l * g l.
  have b'' : \sum_(j < k) (- g (l + j.+1)%N) ^+ 2 <= g l ^+ 2 by under eq_bigr => j _ do rewrite sqrrN.
  by have := cauchy_schwarz a a' b b''; under eq_bigr => j _ do rewrite mulrN; rewrite sumrN subr_ge0.
have -> : \sum_(j < k) (f (l + j.+1)%N + t * g (l + j.+1)%N) ^+ 2 = \sum_(j < k) f (l + j.+1)%N ^+ 2
    + 2%:R * t * (\sum_(j < k) f (l + j.+1)%N * g (l + j.+1)%N) + t ^+ 2 * (\sum_(j < k) g (l + j.+1)%N ^+ 2).
  by rewrite !mulr_sumr -!big_split; apply: eq_bigr => j _; rewrite /=; ring.
have -> : (f l + t * g l) ^+ 2 = f l ^+ 2 + 2%:R * t * (f l * g l) + t ^+ 2 * g l ^+ 2 by ring.
apply: ler_add (ler_add b _) (ler_wpmul2l (sqr_ge0 t) b'); by apply: ler_wpmul2l cross; rewrite mulr_ge0 ?ler0n.
Qed.
End Cone.

(** ** The program *)
Section Program.
Variables (R : realFieldType) (I : finType).
Let V := [lmodType R of {ffun I -> R^o}].
Variables (B : semi_inner V) (q : V -> R) (c : R) (p : nat) (A : nat -> V -> R) (b : nat -> R) (G : nat -> V -> R) (h : nat -> R).
Variables (l : nat) (sizes : seq nat).
Hypotheses (Fq : functional q) (FA : forall i, functional (A i)) (FG : forall i, functional (G i)).
Local Notation m := (l + rows_of_cones sizes)%N.
Definition program_feas (x : V) := (forall i, (i < p)%N -> A i x = b i) /\ in_cone l sizes (fun i => h i - G i x).
Definition program_obj (x : V) := 2%:R^-1 * B x x + q x + c.
Definition pulled (y z : nat -> R) (v : V) := \sum_(i < p) y i * A i v + \sum_(i < m) z i * G i v.
Definition multiplied (y z : nat -> R) := \sum_(i < p) y i * b i + \sum_(i < m) z i * h i.

Lemma pulled_below y z x : in_cone l sizes z -> program_feas x -> pulled y z x <= multiplied y z.
Proof.
move=> K [eqs slack]; rewrite /pulled /multiplied (eq_bigr (fun i : 'I_p => y i * b i)) => [|i _]; last by rewrite eqs.
rewrite ler_add2l -subr_ge0 -sumrB (eq_bigr (fun i : 'I_m => z i * (h i - G i x))) => [|i _]; last by rewrite mulrBr.
exact: in_cone_inner K slack.
Qed.
Theorem program_weak x y z x' : in_cone l sizes z -> (forall v, B x v + q v + pulled y z v = 0) -> program_feas x' ->
  - multiplied y z - 2%:R^-1 * B x x + c <= program_obj x'.
Proof.
move=> K grad F; have low := pulled_below y K F; have := grad x' => /eqP; rewrite addr_eq0 => /eqP e.
rewrite /program_obj ler_add2r -subr_ge0.
have -> : 2%:R^-1 * B x' x' + q x' - (- multiplied y z - 2%:R^-1 * B x x) =
    2%:R^-1 * B (x' - x) (x' - x) + (multiplied y z - pulled y z x').
  rewrite -[pulled y z x']opprK -e ipBl !ipBr (ip_sym B x x').
  by move: (B x' x') (B x' x) (B x x) (q x') (multiplied y z) => u v w s t; field.
by rewrite addr_ge0 ?subr_ge0 // mulr_ge0 ?ip_ge0 // invr_ge0 ler0n.
Qed.
Theorem program_infeasible y z x : in_cone l sizes z -> (forall v, pulled y z v = 0) -> multiplied y z < 0 -> ~ program_feas x.
Proof. by move=> K zero neg F; have := pulled_below y K F; rewrite zero leNgt neg. Qed.
Theorem program_endless x d v : program_feas x -> (forall u, B d u = 0) -> (forall i, (i < p)%N -> A i d = 0) ->
  in_cone l sizes (fun i => - G i d) -> q d < 0 -> exists2 u, program_feas u & program_obj u <= v.
Proof.
move=> [eqs slack] flat level down neg; have pos : 0 < - q d by rewrite oppr_gt0.
pose t := Num.max 0 ((program_obj x - v) / - q d); have t0 : 0 <= t by rewrite /t le_maxr lexx.
exists (t *: d + x).
  split=> [i ip|]; first by rewrite FA level // mulr0 add0r eqs.
  apply: in_cone_ext (in_cone_along t0 slack down) => i; rewrite FG; ring.
have -> : program_obj (t *: d + x) = program_obj x - t * - q d.
  rewrite /program_obj Fq ip_addl ip_scalel flat mulr0 add0r (ip_sym B x) ip_addl ip_scalel flat mulr0 add0r.
  by move: (B x x) (q x) (q d) => *; ring.
rewrite ler_subl_addr -ler_subl_addl -ler_pdivr_mulr // /t le_maxr lexx orbT //.
Qed.

(** Without cones, a minimum exists if a point is feasible and the objective is bounded below. *)
Section Attained.
Hypothesis no_cones : sizes = [::].
Local Notation K := ('I_p + 'I_p + 'I_l)%type.
Definition side (k : K) (v : V) := match k with inl (inl i) => A i v | inl (inr i) => - A i v | inr i => G i v end.
Definition cap (k : K) := match k with inl (inl i) => b i | inl (inr i) => - b i | inr i => h i end.
Lemma functional_side k : functional (side k).
Proof. by case: k => [[i|i]|i] a u v; rewrite /= ?FA ?FG; ring. Qed.
Lemma within_caps x : program_feas x <-> forall k, side k x <= cap k.
Proof.
split=> [[eqs [low _]] [[i|i]|i] /=|le]; rewrite ?eqs //; first by have := low i (ltn_ord i); rewrite subr_ge0.
split=> [i ip|]; first by have := le (inl (inl (Ordinal ip))); have := le (inl (inr (Ordinal ip))); rewrite /= ler_opp2 => ? ?; apply/eqP; rewrite eq_le; apply/andP.
by rewrite no_cones; split=> // i il; rewrite subr_ge0; exact: le (inr (Ordinal il)).
Qed.
Theorem program_attained lo x0 : program_feas x0 -> (forall x, program_feas x -> lo <= program_obj x) ->
  exists v, minimum program_feas program_obj v.
Proof.
move=> F0 low; have Fq' : functional (fun v => - q v) by move=> a u v; rewrite Fq; ring.
have := @qp_alternative R I [eqType of K] _ (index_enum_uniq [finType of K]) B (fun v => - q v) side cap Fq' functional_side.
case=> [[x [lam [F lam0 slack grad]]]|[lam [lam0 zero neg]]|[d [down flat pos]]].
- exists (program_obj x), x => //; split=> [|y /within_caps F']; first by apply/within_caps => k; exact: F (mem_index_enum k).
  rewrite -subr_ge0; have -> : program_obj y - program_obj x = 2%:R^-1 * B (y - x) (y - x) + (B x (y - x) + q (y - x)).
    rewrite /program_obj (functionalB Fq) ipBl !ipBr (ip_sym B y x).
    by move: (B x x) (B x y) (B y y) (q x) (q y) => u v w s t; field.
  rewrite addr_ge0 ?mulr_ge0 ?ip_ge0 ?invr_ge0 ?ler0n //.
  have -> : B x (y - x) + q (y - x) = \sum_(k <- index_enum [finType of K]) lam k * (cap k - side k y).
    rewrite -[q _]opprK grad opprD addrA subrr sub0r -sumrN; apply: eq_big_seq => k ks.
    rewrite (functionalB (functional_side k)) -mulrN opprB.
    have /eqP := slack k ks; rewrite mulf_eq0 subr_eq0 => /orP[/eqP ->|/eqP ->] //; by rewrite !mul0r.
  by apply: sumr_ge0 => k _; rewrite mulr_ge0 ?subr_ge0.
- move/within_caps: F0 => F; have := zero x0; move/eqP; rewrite lt_eqF //.
  by apply: le_lt_trans neg; apply: ler_sum => k _; rewrite ler_wpmul2l.
have level i : (i < p)%N -> A i d = 0.
  move=> ip; have := down (inl (inl (Ordinal ip))) (mem_index_enum _); have := down (inl (inr (Ordinal ip))) (mem_index_enum _).
  by rewrite /= oppr_le0 => ? ?; apply/eqP; rewrite eq_le; apply/andP.
have away : in_cone l sizes (fun i => - G i d).
  by rewrite no_cones; split=> // i il; rewrite oppr_ge0; exact: down (inr (Ordinal il)) (mem_index_enum _).
have [u Fu] := program_endless (lo - 1) F0 (fun u => ip_null u flat) level away (eq_ind _ is_true pos _ (oppr_gt0 (q d))).
by move/(le_trans (low _ Fu)); rewrite ler_subr_addr ger_addl ler10.
Qed.
End Attained.
End Program.
