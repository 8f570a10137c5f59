(** * Optima

    [minimum feas f v]: v is the minimum of f over the feasible points, and attained; [maximum] likewise.
    A formulation is a pair of a feasible set and an objective; an equivalence states that two formulations have the same optimum v. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Optimum.
Variable R : realFieldType.
Implicit Types v : R.

Definition minimizer T (feas : T -> Prop) (f : T -> R) t := feas t /\ forall t', feas t' -> f t <= f t'.
Definition maximizer T (feas : T -> Prop) (f : T -> R) t := feas t /\ forall t', feas t' -> f t' <= f t.
Definition minimum T (feas : T -> Prop) (f : T -> R) v := exists2 t, minimizer feas f t & f t = v.
Definition maximum T (feas : T -> Prop) (f : T -> R) v := exists2 t, maximizer feas f t & f t = v.
Definition everywhere {T : Type} (_ : T) := True.

Section Dual.
Variables (T S : Type) (P : T -> Prop) (p : T -> R) (D : S -> Prop) (d : S -> R).
Hypothesis weak : forall t s, P t -> D s -> d s <= p t.

(** If a primal and a dual feasible point have equal values, both are optimal. *)
Lemma zero_gap_optimal t s : P t -> D s -> p t = d s -> minimizer P p t /\ maximizer D d s.
Proof.
move=> Pt Ds E; split; split=> //.
  by move=> t' Pt'; rewrite E; exact: weak.
by move=> s' Ds'; rewrite -E; exact: weak.
Qed.
(** If some feasible pair has equal values, every optimal pair has. *)
Lemma optimal_zero_gap t s t' s' : P t -> D s -> p t = d s ->
  minimizer P p t' -> maximizer D d s' -> p t' = d s'.
Proof.
move=> Pt Ds E [Pt' Ot] [Ds' Os]; apply/eqP; rewrite eq_le (weak Pt' Ds') andbT.
by rewrite (le_trans (Ot _ Pt)) // E Os.
Qed.
End Dual.

(** [strong_duality P p D d KKT]: the primal min p over P and the dual max d over D have the same optimum, both attain it, and the
    pairs of optimal points are exactly those that satisfy KKT. *)
Definition strong_duality T S (P : T -> Prop) (p : T -> R) (D : S -> Prop) (d : S -> R) (KKT : T -> S -> Prop) :=
  (exists2 v, minimum P p v & maximum D d v) /\ forall t s, minimizer P p t /\ maximizer D d s <-> KKT t s.
(** Conditions for strong duality of a pair of programs: weak duality, and equal values exactly if KKT holds. *)
Record dual_pair T S (P : T -> Prop) (p : T -> R) (D : S -> Prop) (d : S -> R) (KKT : T -> S -> Prop) := DualPair {
  weak_duality : forall t s, P t -> D s -> d s <= p t;
  zero_gap_kkt : forall t s, P t -> D s -> p t = d s -> KKT t s;
  kkt_feasible : forall t s, KKT t s -> P t /\ D s;
  kkt_zero_gap : forall t s, KKT t s -> p t = d s }.

Section Pair.
Variables (T S : Type) (P : T -> Prop) (p : T -> R) (D : S -> Prop) (d : S -> R) (KKT : T -> S -> Prop).
Hypothesis pair : dual_pair P p D d KKT.
Lemma kkt_optimal t s : KKT t s -> minimizer P p t /\ maximizer D d s.
Proof.
move=> K; have [Pt Ds] := kkt_feasible pair K.
exact: (zero_gap_optimal (weak_duality pair) Pt Ds (kkt_zero_gap pair K)).
Qed.
Lemma pair_strong_duality : (exists t s, KKT t s) -> strong_duality P p D d KKT.
Proof.
case=> t [s K]; have [Ot Os] := kkt_optimal K; have E := kkt_zero_gap pair K; split.
  by exists (p t); [exists t|exists s].
move=> t' s'; split=> [[O O']|]; last exact: kkt_optimal.
have [[Pt _] [Ds _]] := (Ot, Os); have [[Pt' _] [Ds' _]] := (O, O').
by apply: (zero_gap_kkt pair) => //; apply: (optimal_zero_gap (weak_duality pair) Pt Ds E O O').
Qed.
End Pair.

(** Transfer of a dual pair to other variables. *)
Section Transfer.
Variables (T S : Type) (P : T -> Prop) (p : T -> R) (D : S -> Prop) (d : S -> R) (KKT : T -> S -> Prop).
Hypothesis pair : dual_pair P p D d KKT.
Variables (T' S' : Type) (f : T' -> T) (h : S' -> S).
Variables (P' : T' -> Prop) (p' : T' -> R) (D' : S' -> Prop) (d' : S' -> R) (KKT' : T' -> S' -> Prop).
Lemma dual_pair_transfer : (forall t, P' t -> P (f t)) -> (forall t, p' t = p (f t)) ->
  (forall s, D' s -> D (h s)) -> (forall s, d' s = d (h s)) ->
  (forall t s, KKT' t s <-> [/\ P' t, D' s & KKT (f t) (h s)]) -> dual_pair P' p' D' d' KKT'.
Proof.
move=> HP Hp HD Hd HK; split.
- by move=> t s /HP Pt /HD Ds; rewrite Hp Hd (weak_duality pair).
- by move=> t s Pt Ds; rewrite Hp Hd => E; apply/HK; split=> //; apply: (zero_gap_kkt pair) => //; [exact: HP|exact: HD].
- by move=> t s /HK[].
- by move=> t s /HK[_ _ K]; rewrite Hp Hd (kkt_zero_gap pair K).
Qed.
Lemma strong_duality_transfer : (forall t, P' t -> P (f t)) -> (forall t, p' t = p (f t)) ->
  (forall s, D' s -> D (h s)) -> (forall s, d' s = d (h s)) ->
  (forall t s, KKT' t s <-> [/\ P' t, D' s & KKT (f t) (h s)]) -> (forall t s, KKT t s -> exists t' s', KKT' t' s') ->
  strong_duality P p D d KKT -> strong_duality P' p' D' d' KKT'.
Proof.
move=> HP Hp HD Hd HK ex [[v [t Ot _] [s Os _]] K].
apply: (pair_strong_duality (dual_pair_transfer HP Hp HD Hd HK)).
exact: (ex t s ((K t s).1 (conj Ot Os))).
Qed.
End Transfer.

(** Primal and dual feasible points of the same value certify it as the optimum of both programs. *)
Lemma certified T S (P : T -> Prop) (p : T -> R) (D : S -> Prop) (d : S -> R) KKT t s v :
  strong_duality P p D d KKT -> P t -> D s -> p t = v -> d s = v -> minimum P p v /\ maximum D d v.
Proof.
move=> [[u [t' [Pt' Ot] et] [s' [Ds' Os] es]] _] Pt Ds ev es'.
have h1 : u <= v by rewrite -et -ev; exact: Ot.
have h2 : v <= u by rewrite -es -es'; exact: Os.
have e : u = v by apply/eqP; rewrite eq_le h1.
by rewrite -e; split; [exists t'|exists s'].
Qed.

Lemma minimum_unique T (feas : T -> Prop) (f : T -> R) v v' : minimum feas f v -> minimum feas f v' -> v = v'.
Proof. by move=> [t [F O] <-] [t' [F' O'] <-]; apply/eqP; rewrite eq_le O ?O'. Qed.
Lemma maximum_unique T (feas : T -> Prop) (f : T -> R) v v' : maximum feas f v -> maximum feas f v' -> v = v'.
Proof. by move=> [t [F O] <-] [t' [F' O'] <-]; apply/eqP; rewrite eq_le O ?O'. Qed.

(** Two problems have the same minimum if for each feasible point of either the other has one that is at least as good. *)
Lemma minimum_transfer T S (P : T -> Prop) (p : T -> R) (Q : S -> Prop) (q : S -> R) v :
  (forall t, P t -> exists2 s, Q s & q s <= p t) -> (forall s, Q s -> exists2 t, P t & p t <= q s) ->
  minimum P p v -> minimum Q q v.
Proof.
move=> PQ QP [t [Pt Ot] <-]; have [s Qs le] := PQ _ Pt.
have low s' : Q s' -> p t <= q s' by move=> /QP [t' /Ot h1 h2]; exact: le_trans h1 h2.
have E : q s = p t by apply/eqP; rewrite eq_le le low.
by exists s => //; split=> // s'; rewrite E; exact: low.
Qed.
Lemma minimum_iff T S (P : T -> Prop) (p : T -> R) (Q : S -> Prop) (q : S -> R) :
  (forall t, P t -> exists2 s, Q s & q s <= p t) -> (forall s, Q s -> exists2 t, P t & p t <= q s) ->
  forall v, minimum P p v <-> minimum Q q v.
Proof. by move=> PQ QP v; split; exact: minimum_transfer. Qed.

(** The minimum over the same feasible points with the objective multiplied by k > 0. *)
Lemma minimum_scale T (feas : T -> Prop) (f f' : T -> R) (k : R) v : 0 < k -> (forall t, f' t = k * f t) ->
  minimum feas f v <-> minimum feas f' (k * v).
Proof.
move=> k0 E; split=> -[t [F O] e]; exists t.
- by split=> // t' /O; rewrite !E ler_pmul2l.
- by rewrite E e.
- by split=> // t' /O; rewrite !E ler_pmul2l.
- by move: e; rewrite E => /mulfI; apply; rewrite gt_eqF.
Qed.
Lemma maximum_scale T S (P : T -> Prop) (p : T -> R) (Q : S -> Prop) (q : S -> R) (k : R) (f : T -> S) (h : S -> T) v : 0 < k ->
  (forall t, P t -> Q (f t) /\ q (f t) = k * p t) -> (forall s, Q s -> P (h s) /\ q s = k * p (h s)) ->
  maximum P p v <-> maximum Q q (k * v).
Proof.
move=> k0 F H; split=> [[t [Pt O] <-]|[s [Qs O] e]].
  have [Qt E] := F t Pt; exists (f t) => //; split=> // s /H[Ph ->]; by rewrite E ler_pmul2l ?O.
have [Ph E] := H s Qs; exists (h s); last by move: e; rewrite E => /mulfI; apply; rewrite gt_eqF.
by split=> // t /F[/O le E']; rewrite -(ler_pmul2l k0) -E -E'.
Qed.
End Optimum.
