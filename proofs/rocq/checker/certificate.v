(** * Certificates

    [stated] is the problem and the claimed interval of a file. [holds] states that the claim is true: if both ends are finite, the optimum exists and lies
    between them; if both are inf, no point is feasible; from -inf to inf nothing is claimed ([rows.in_interval]). [check_sound]: [holds] is true of every file that [check] accepts. certificate.md describes the file. The checker reads the families of [families]
    with a linear, polynomial or RBF kernel or a given Gram matrix, a constant included, and weights. The primal or the dual point may be missing, and multipliers may be a ray. A file with wrong digests is
    not accepted; the theorem is about the bytes themselves.

    A problem is a margin problem of [families], a linear program of [one_norms] or, in format 2, any convex program in standard form, whose
    claim is [programs.program_holds]. The claim about an RBF kernel is conditional: see [kernels]. *)
From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ssrZ.
From equimargin.checker Require Import integers spaces programs kernels rows families one_norms json numbers digests stated_programs.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Open Scope text_scope.

(** ** The problem *)
Inductive kind_of_task := Classes of bool | Tube | Pairs.
Definition FAMILIES : seq (text * (kind_of_task * loss)) := [::
  ("svm.hard", (Classes true, Hard)); ("svm.soft", (Classes true, Hinge)); ("svm.l2", (Classes true, Squared));
  ("svm.nobias_hard", (Classes false, Hard)); ("svm.nobias", (Classes false, Hinge)); ("svm.nobias_l2", (Classes false, Squared));
  ("svr.hard", (Tube, Hard)); ("svr.l1", (Tube, Hinge)); ("svr.l2", (Tube, Squared));
  ("rank.hard", (Pairs, Hard)); ("rank.l1", (Pairs, Hinge)); ("rank.l2", (Pairs, Squared))].
(** Linear programs of the 1-norm, and true if their variables are coefficients of points. *)
Definition ONE_NORM_FAMILIES : seq (text * (kind_of_task * bool)) := [::
  ("svm.onenorm", (Classes true, false)); ("svm.nobias_onenorm", (Classes false, false)); ("rank.onenorm", (Pairs, false)); ("rvm", (Pairs, true))].
Definition named A (families : seq (text * A)) (v : json) : option A := ohead [seq p.2 | p <- families & is_word p.1 v].
Definition PROBLEM_KEYS : seq text := [:: "family"; "kernel"; "features"; "C"; "weights"; "labels"].
Definition task_keys (k : kind_of_task) : seq text := match k with Classes _ => [::] | Tube => [:: "epsilon"] | Pairs => [:: "queries"; "pairs"] end.

Definition read_features (v : json) : option cloud :=
  X <- array (array rational_of) v; let: (X, u) := common_table X in let d := size (head [::] X) in
  require ((0 < d) && all (fun x => size x == d) X) (Some (Cloud X u d)).
(** The constant that is added to a linear kernel is a feature that is 1 at every point. *)
Definition with_constant (X : cloud) : cloud := Cloud [seq rcons x (Zpos (unit X)) | x <- points X] (unit X) (dimension X).+1.
Definition MOST_DEGREE : Z := 32.
Definition read_polynomial (c : Z) (kernel : json) : option polynomial :=
  n <- obind whole (get "degree" kernel); g <- obind rational_of (get "gamma" kernel); c0 <- obind rational_of (get "coef0" kernel);
  require [&& Z.leb 1 n, Z.leb n MOST_DEGREE, Z.ltb 0 (mantissa g) & Z.leb 0 (mantissa c0)]
  (Some (PolynomialKernel (Z.to_nat n) (fraction_of g) (fraction_of c0) (Fraction c 1))).
Definition read_radial (c : Z) (kernel : json) : option radial :=
  g <- obind rational_of (get "gamma" kernel); require (Z.ltb 0 (mantissa g)) (Some (RadialKernel (fraction_of g) c)).
(** The constant is added to every number, and the shift to those on the diagonal. *)
Fixpoint raised (c shift : Z) (row : seq Z) : seq Z := match row with
  | [:: v] => [:: (v + c + shift)%BZ] | v :: row' => (v + c)%BZ :: raised c shift row' | [::] => [::] end.
Definition read_given (c : Z) (kernel v : json) : option space :=
  T <- array (array rational_of) v; shift <- obind rational_of (get "shift" kernel);
  let: (K, u) := common_table ([:: shift] :: T) in
  require [&& 0 < size T, map size T == iota 1 (size T) & Z.leb 0 (mantissa shift)]
  (Some (Given (Gram [seq raised (c * Zpos u)%BZ (head Z0 (head [::] K)) row | row <- behead K] u))).
Definition read_space (kernel features : json) : option space :=
  c <- obind whole (get "constant" kernel); name <- get "name" kernel;
  require (Z.eqb c 0 || Z.eqb c 1)
  (if is_word "precomputed" name then require (has_keys [:: "name"; "constant"; "shift"] kernel) (read_given c kernel features) else
   X <- read_features features;
   if is_word "linear" name then require (has_keys [:: "name"; "constant"] kernel) (Some (Linear (if Z.eqb c 1 then with_constant X else X)))
   else if is_word "polynomial" name then require (has_keys [:: "name"; "constant"; "degree"; "gamma"; "coef0"] kernel)
     (omap (Polynomial X) (read_polynomial c kernel))
   else if is_word "rbf" name then require (has_keys [:: "name"; "constant"; "gamma"] kernel) (omap (Radial X) (read_radial c kernel))
   else None).
Definition is_infinite := is_word "inf".
(** The cost of a hard problem is infinite, and not used. *)
Definition read_cost (l : loss) (v : json) : option fraction :=
  if l is Hard then require (is_infinite v) (Some (Fraction 1 1)) else omap fraction_of (rational_of v).

Definition index_below (m : nat) (v : json) : option nat :=
  if v is Integer i then require (Z.leb 0 i && Z.ltb i (Z.of_nat m)) (Some (Z.to_nat i)) else None.
Definition listed_pairs (m : nat) (v : json) : option (seq (nat * nat)) :=
  array (fun p => if array (index_below m) p is Some [:: i; j] then Some (i, j) else None) v.
(** All pairs i, j of one query with y_i > y_j, ordered by i and then by j. *)
Definition labelled_pairs (labels : seq Z) (queries : seq nat) : seq (nat * nat) :=
  let items := zip (iota 0 (size labels)) (zip labels queries) in
  flatten [seq [seq (p.1, q.1) | q <- items & Z.ltb q.2.1 p.2.1 && (q.2.2 == p.2.2)] | p <- items].
(** A task; its number of weights, and the index of the weight of every row. *)
Definition weighted_task := (task * (nat * seq nat))%type.
Definition each_its_own (n : nat) (t : task) : weighted_task := (t, (n, iota 0 n)).
Definition read_pairs (m : nat) (labels queries pairs : json) : option weighted_task :=
  if ~~ is_null pairs then
    require (is_null labels && is_null queries) (s <- listed_pairs m pairs; Some (each_its_own (size s) (Ranking s))) else
  y <- array rational_of labels; q <- (if is_null queries then Some (nseq m 0) else array (index_below m) queries);
  require ((size y == m) && (size q == m))
  (let s := labelled_pairs (common y).1 q in Some (Ranking s, ((foldr maxn 0 q).+1, [seq nth 0 q p.1 | p <- s]))).
Definition read_task (k : kind_of_task) (m : nat) (given : json) : option weighted_task := labels <- get "labels" given;
  match k with
  | Classes bias => y <- array whole labels; Some (each_its_own m (Classification y bias))
  | Tube => y <- array rational_of labels; e <- obind rational_of (get "epsilon" given);
      require (Z.leb 0 (mantissa e))
      (if common (e :: y) is (e' :: y', u) then Some (each_its_own (m + m) (Regression y' e' u)) else None)
  | Pairs => queries <- get "queries" given; pairs <- get "pairs" given; read_pairs m labels queries pairs
  end.
(** A weight: None if it is infinite, otherwise a nonnegative number. *)
Definition read_weight (v : json) : option (option rational) :=
  if is_infinite v then Some None else w <- rational_of v; require (Z.leb 0 (mantissa w)) (Some (Some w)).
Definition over_unit (s : seq (option rational)) : seq (option Z) * positive :=
  let: (k, u) := common [seq odflt (integer 0) w | w <- s] in ([seq omap (fun=> p.2) p.1 | p <- zip s k], u).
Definition read_weights (count : nat) (of_rows : seq nat) (v : json) : option (option (seq (option Z) * positive)) :=
  if is_null v then Some None else
  s <- array read_weight v;
  require (size s == count) (let: (k, u) := over_unit s in Some (Some ([seq nth None k g | g <- of_rows], u))).
Definition read_margin_problem (k : kind_of_task) (l : loss) (given : json) : option problem :=
  require (has_keys (PROBLEM_KEYS ++ task_keys k) given)
  (kernel <- get "kernel" given; features <- get "features" given; S <- read_space kernel features;
   t <- read_task k (count_in S) given; C <- obind (read_cost l) (get "C" given);
   weights <- obind (read_weights t.2.1 t.2.2) (get "weights" given);
   Some (Problem t.1 S l C weights)).
Definition form_in (by_points : bool) (t : task) : option one_norm_form := match t with
  | Classification y bias => Some (OfClasses y bias)
  | Ranking s => Some (if by_points then OfPairsByPoints s else OfPairs s)
  | Regression _ _ _ => None end.
Definition read_one_norm_problem (k : kind_of_task) (by_points : bool) (given : json) : option one_norm_problem :=
  P <- read_margin_problem k Hinge given; form <- form_in by_points (task_of P);
  Some (OneNormProblem form (space_of P) (cost_of P) (weights_of P)).
Inductive statement := Margin of problem | OneNorm of one_norm_problem | InStandardForm of program.
Definition read_problem (given : json) : option statement :=
  name <- get "family" given;
  if named FAMILIES name is Some f then omap Margin (read_margin_problem f.1 f.2 given)
  else f <- named ONE_NORM_FAMILIES name; omap OneNorm (read_one_norm_problem f.1 f.2 given).
(** The argument that the kernel is positive semidefinite, as named in a certificate. *)
Definition semidefinite (P : statement) : text := match P with
  | Margin P => if space_of P is Given _ then "by factorisation" else "by theorem" | OneNorm _ => "not needed"
  | InStandardForm P => semidefiniteness P end.

(** ** The document *)
Definition DOCUMENT_KEYS : seq text := [:: "schema"; "mode"; "claim"; "semidefinite"; "problem"; "primal"; "dual"; "digests"].
Definition read_end (v : json) : option end_point :=
  if is_infinite v then Some Infinite else if is_word "-inf" v then Some MinusInfinite else omap (fun q => Finite (fraction_of q)) (rational_of v).
Definition not_above (l u : end_point) := match l, u with
  | MinusInfinite, _ | _, Infinite => true | Finite p, Finite q => fleb p q | _, _ => false end.
Definition read_claim (v : json) : option interval :=
  require (has_keys [:: "lower"; "upper"] v)
  (lo <- obind read_end (get "lower" v); hi <- obind read_end (get "upper" v); require (not_above lo hi) (Some (Interval lo hi))).
Definition says (k t : text) (doc : json) := if get k doc is Some v then is_word t v else false.
Definition is_exact (doc : json) := says "mode" "exact" doc.
Definition mode_fits (doc : json) (I : interval) := says "mode" "proven" doc || is_exact doc && not_above (upper I) (lower I).
Definition read_statement (doc given : json) : option statement :=
  if says "schema" "equimargin-certificate/2" doc then omap InStandardForm (read_program given) else
  require (says "schema" "equimargin-certificate/1" doc) (read_problem given).
Definition stated (doc : json) : option (statement * interval) :=
  I <- obind read_claim (get "claim" doc);
  require (has_keys DOCUMENT_KEYS doc && mode_fits doc I)
  (P <- obind (read_statement doc) (get "problem" doc); require (says "semidefinite" (semidefinite P) doc) (Some (P, I))).

(** ** The points *)
(** A list of n numbers from pairs of row and number, in the order of the rows; all other numbers are 0. *)
Fixpoint spread (at_row : Z) (given : seq (Z * Z)) (n : nat) : option (seq Z) :=
  match n, given with
  | 0, [::] => Some [::]
  | 0, _ => None
  | n'.+1, (r, v) :: given' =>
      if Z.eqb r at_row then omap (cons v) (spread (Z.succ at_row) given' n') else omap (cons Z0) (spread (Z.succ at_row) given n')
  | n'.+1, [::] => omap (cons Z0) (spread (Z.succ at_row) [::] n')
  end.
Definition index (v : json) : option Z := if v is Integer m then Some m else None.
Definition COMBINATION_KEYS : seq text := [:: "rows"; "numerators"; "denominator"].
Definition read_combination (keys : seq text) (n : nat) (v : json) : option dual_point :=
  require (has_keys keys v)
  (r <- obind (array index) (get "rows" v); s <- obind (array whole) (get "numerators" v); u <- obind whole (get "denominator" v);
   al <- spread Z0 (sort (fun p q => Z.leb p.1 q.1) (zip r s)) n;
   if u is Zpos u' then require (size r == size s) (Some (Dual al u')) else None).
Definition read_multipliers := read_combination COMBINATION_KEYS.
Definition has_bias (t : task) := match t with Classification _ bias => bias | Regression _ _ _ => true | Ranking _ => false end.
Definition read_function (S : space) (t : task) (v : json) : option (seq Z * positive * fraction) :=
  let key : text := if S is Linear _ then "w" else "beta" in
  require (has_keys [:: key; "b"] v)
  (given <- obind (array rational_of) (get key v); b <- obind rational_of (get "b" v);
   require (has_bias t || Z.eqb (mantissa b) Z0) (Some (common given, fraction_of b))).
(** A primal or dual point that is null is missing. *)
Definition read_side A (f : json -> option A) (v : json) : option (option A) := if is_null v then Some None else omap some (f v).
Definition read_sides (P : problem) (doc : json) : option sides :=
  let n := size (rows_of (task_of P) (count_of P)).1 in
  primal <- obind (read_side (read_function (space_of P) (task_of P))) (get "primal" doc); dual <- obind (read_side (read_multipliers n)) (get "dual" doc);
  require (isSome primal || isSome dual) (Some (Sides primal dual)).
(** The variables of the columns, and the bias if there is one. *)
Definition read_unknowns (P : one_norm_problem) (v : json) : option one_norm_point :=
  let n := size (columns P) in
  if has_bias (task_of_form (form_of P)) then
    x <- read_combination (rcons COMBINATION_KEYS "b"%text) n v; b <- obind rational_of (get "b" v); Some (OneNormPoint x (fraction_of b))
  else omap (fun x => OneNormPoint x (Fraction 0 1)) (read_multipliers n v).
Definition read_one_norm_sides (P : one_norm_problem) (doc : json) : option (option one_norm_point * option dual_point) :=
  primal <- obind (read_side (read_unknowns P)) (get "primal" doc);
  dual <- obind (read_side (read_multipliers (size (rows (program_rows P))))) (get "dual" doc);
  require (isSome primal || isSome dual) (Some (primal, dual)).
Definition read_program_sides (P : program) (doc : json) : option (option program_primal * option program_dual) :=
  primal <- obind (read_side (read_primal P)) (get "primal" doc); dual <- obind (read_side (read_dual P)) (get "dual" doc);
  require (isSome primal || isSome dual) (Some (primal, dual)).

(** ** The verdict *)
(** True if the digests are right and the claim follows from the points; None if no problem or no point can be read. *)
Definition verdict (doc : json) : option bool :=
  P <- stated doc; let: (P, claimed) := P in
  if ~~ digests_match doc then Some false else
  match P with
  | Margin P => s <- read_sides P doc; Some (problem_check P s (is_exact doc) claimed)
  | OneNorm P => s <- read_one_norm_sides P doc; Some (one_norm_check P s.1 s.2 claimed)
  | InStandardForm P => s <- read_program_sides P doc; Some (program_check P s.1 s.2 claimed)
  end.
Definition check (file : seq text) : bool := if obind verdict (parse file) is Some b then b else false.

Definition statement_holds (R : realFieldType) (P : statement) (I : interval) : Prop :=
  match P with Margin P => holds_of R P I | OneNorm P => one_norm_holds R P I | InStandardForm P => program_holds R P I end.
Definition holds (R : realFieldType) (file : seq text) : Prop := exists P I, obind stated (parse file) = Some (P, I) /\ statement_holds R P I.
Theorem check_sound file : check file -> forall R, holds R file.
Proof.
rewrite /check /holds /verdict => h R; case: parse h => //= doc; case: stated => // -[P I] /= h; exists P, I; split=> //.
case: digests_match h => // h; case: P h => P /=; first by case: read_sides => // s h; exact: problem_sound h R.
  by case: read_one_norm_sides => // s h; exact: one_norm_sound h R.
by case: read_program_sides => // s h; exact: programs.program_sound h R.
Qed.
