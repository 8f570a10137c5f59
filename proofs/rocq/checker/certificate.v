(** * Certificates

    [stated] is what a file says: the problem, and the interval that its claim is. [holds] says that the optimum of this problem exists and lies in this interval;
    [check_sound] that it does where [check] accepts the file. What a file has to look like is in certificate.md. Read are the families of [families]
    with a linear kernel, its constant included; weights, other kernels, and files of which a side is missing are not. The digests of a file are not
    computed: what is proved is about the bytes themselves. *)
From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ssrZ.
From equimargin Require Import optimum.
From equimargin.checker Require Import integers rows families json numbers.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Open Scope text_scope.

(** ** The problem *)
Inductive kind_of_task := Classes of bool | Tube | Pairs.
Definition FAMILIES : seq (text * (kind_of_task * loss)) := [::
  ("svm.hard", (Classes true, Hard)); ("svm.soft", (Classes true, Hinge)); ("svm.l2", (Classes true, Squared));
  ("svm.nobias_hard", (Classes false, Hard)); ("svm.nobias", (Classes false, Hinge)); ("svm.nobias_l2", (Classes false, Squared));
  ("svr.hard", (Tube, Hard)); ("svr.l1", (Tube, Hinge)); ("svr.l2", (Tube, Squared));
  ("rank.hard", (Pairs, Hard)); ("rank.l1", (Pairs, Hinge)); ("rank.l2", (Pairs, Squared))].
Definition family_of (v : json) : option (kind_of_task * loss) :=
  ohead [seq p.2 | p <- FAMILIES & is_word p.1 v].
Definition PROBLEM_KEYS : seq text := [:: "family"; "kernel"; "features"; "C"; "weights"; "labels"].
Definition task_keys (k : kind_of_task) : seq text := match k with Classes _ => [::] | Tube => [:: "epsilon"] | Pairs => [:: "queries"; "pairs"] end.

(** The constant that is added to a linear kernel is a feature that is 1 at every point. *)
Definition read_cloud (kernel features : json) : option cloud :=
  require (has_keys [:: "name"; "constant"] kernel && (if get "name" kernel is Some n then is_word "linear" n else false))
  (c <- obind whole (get "constant" kernel); X <- array (array rational_of) features;
   let: (X, u) := common_table X in let d := size (head [::] X) in
   require ((0 < d) && all (fun x => size x == d) X)
   (match c with
    | Z0 => Some (Cloud X u d)
    | Zpos xH => Some (Cloud [seq rcons x (Zpos u) | x <- X] u d.+1)
    | _ => None end)).
Definition is_infinite := is_word "inf".
(** The cost of a hard problem is infinite, and plays no part in it. *)
Definition read_cost (l : loss) (v : json) : option fraction :=
  if l is Hard then require (is_infinite v) (Some (Fraction 1 1)) else omap fraction_of (rational_of v).

Definition index_below (m : nat) (v : json) : option nat :=
  if v is Integer i then require (Z.leb 0 i && Z.ltb i (Z.of_nat m)) (Some (Z.to_nat i)) else None.
Definition listed_pairs (m : nat) (v : json) : option (seq (nat * nat)) :=
  array (fun p => if array (index_below m) p is Some [:: i; j] then Some (i, j) else None) v.
(** All i, j of one query with y_i > y_j, by i and then by j. *)
Definition labelled_pairs (labels : seq Z) (queries : seq nat) : seq (nat * nat) :=
  let items := zip (iota 0 (size labels)) (zip labels queries) in
  flatten [seq [seq (p.1, q.1) | q <- items & Z.ltb q.2.1 p.2.1 && (q.2.2 == p.2.2)] | p <- items].
Definition read_pairs (m : nat) (labels queries pairs : json) : option (seq (nat * nat)) :=
  if ~~ is_null pairs then require (is_null labels && is_null queries) (listed_pairs m pairs) else
  y <- array rational_of labels; q <- (if is_null queries then Some (nseq m 0) else array (index_below m) queries);
  require ((size y == m) && (size q == m)) (Some (labelled_pairs (common y).1 q)).
Definition read_task (k : kind_of_task) (m : nat) (given : json) : option task := labels <- get "labels" given;
  match k with
  | Classes bias => y <- array whole labels; Some (Classification y bias)
  | Tube => y <- array rational_of labels; e <- obind rational_of (get "epsilon" given);
      require (Z.leb 0 (mantissa e))
      (if common (e :: y) is (e' :: y', u) then Some (Regression y' e' u) else None)
  | Pairs => queries <- get "queries" given; pairs <- get "pairs" given; omap Ranking (read_pairs m labels queries pairs)
  end.
Definition read_problem (given : json) : option problem :=
  f <- obind family_of (get "family" given); let: (k, l) := f in
  require (has_keys (PROBLEM_KEYS ++ task_keys k) given && (if get "weights" given is Some v then is_null v else false))
  (kernel <- get "kernel" given; features <- get "features" given; X <- read_cloud kernel features;
   t <- read_task k (size (points X)) given; C <- obind (read_cost l) (get "C" given);
   Some (Problem t X l C)).

(** ** The document *)
Definition DOCUMENT_KEYS : seq text := [:: "schema"; "mode"; "claim"; "semidefinite"; "problem"; "primal"; "dual"; "digests"].
Definition read_claim (v : json) : option interval :=
  require (has_keys [:: "lower"; "upper"] v)
  (lo <- obind rational_of (get "lower" v); hi <- obind rational_of (get "upper" v); Some (Interval (fraction_of lo) (fraction_of hi))).
Definition says (k t : text) (doc : json) := if get k doc is Some v then is_word t v else false.
Definition mode_fits (doc : json) (I : interval) := says "mode" "proven" doc || says "mode" "exact" doc && fleb (upper I) (lower I).
Definition stated (doc : json) : option (problem * interval) :=
  I <- obind read_claim (get "claim" doc);
  require [&& has_keys DOCUMENT_KEYS doc, says "schema" "equimargin-certificate/1" doc, says "semidefinite" "by theorem" doc & mode_fits doc I]
  (P <- obind read_problem (get "problem" doc); Some (P, I)).

(** ** The points *)
(** A list of n numbers of which those in the rows are given, in the order of the rows, and all others are 0. *)
Fixpoint spread (at_row : Z) (given : seq (Z * Z)) (n : nat) : option (seq Z) :=
  match n, given with
  | 0, [::] => Some [::]
  | 0, _ => None
  | n'.+1, (r, v) :: given' =>
      if Z.eqb r at_row then omap (cons v) (spread (Z.succ at_row) given' n') else omap (cons Z0) (spread (Z.succ at_row) given n')
  | n'.+1, [::] => omap (cons Z0) (spread (Z.succ at_row) [::] n')
  end.
Definition read_multipliers (n : nat) (v : json) : option (seq Z * positive) :=
  require (has_keys [:: "rows"; "numerators"; "denominator"] v)
  (r <- obind (array whole) (get "rows" v); s <- obind (array whole) (get "numerators" v); u <- obind whole (get "denominator" v);
   al <- spread Z0 (sort (fun p q => Z.leb p.1 q.1) (zip r s)) n;
   if u is Zpos u' then require (size r == size s) (Some (al, u')) else None).
Definition has_bias (t : task) := match t with Classification _ bias => bias | Regression _ _ _ => true | Ranking _ => false end.
Definition read_solution (P : problem) (doc : json) : option solution :=
  primal <- get "primal" doc; require (has_keys [:: "w"; "b"] primal)
  (given <- obind (array rational_of) (get "w" primal); b <- obind rational_of (get "b" primal);
   al <- obind (read_multipliers (size (rows (in_rows P)))) (get "dual" doc);
   let: (w, u) := common given in
   require (has_bias (task_of P) || Z.eqb (mantissa b) Z0) (Some (Solution w u (fraction_of b) al.1 al.2))).

(** ** The verdict *)
Definition check_document (doc : json) : bool :=
  if stated doc is Some (P, claimed) then (if read_solution P doc is Some s then problem_check P s claimed else false) else false.
Definition check (file : seq text) : bool := if parse file is Some doc then check_document doc else false.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Definition holds (R : realFieldType) (file : seq text) := exists P I,
  obind stated (parse file) = Some (P, I) /\ exists2 v : R, optimum P v & frac (lower I) <= v <= frac (upper I).
Theorem check_sound file : check file -> forall R, holds R file.
Proof.
rewrite /check /holds /check_document => h R; case: parse h => //= doc; case: stated => // -[P I].
by case: read_solution => // s h; exists P, I; split=> //; exact: problem_sound h.
Qed.
