(** * Programs as certificates state them

    [read_program] is the program that the problem of a certificate of format 2 states; [read_primal] and [read_dual] are points, multipliers
    and rays of it. certificate.md describes their form. No theorem is about these functions: their results define the content of a file. *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect.
From equimargin.checker Require Import integers json numbers semidefinite programs.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Open Scope text_scope.

(** ** Numbers and matrices *)
Definition read_numbers (v : json) : option numbers := s <- array rational_of v; let: (k, u) := common s in Some (Numbers k u).
Definition read_numbers_of (n : nat) (v : json) : option numbers := s <- read_numbers v; require (size (steps s) == n) (Some s).

(** An entry of a matrix: its row, its column and its number. *)
Definition triple A := (Z * Z * A)%type.
Definition in_order A (s t : triple A) := Z.ltb s.1.1 t.1.1 || (Z.eqb s.1.1 t.1.1 && Z.leb s.1.2 t.1.2).
Definition same_place A (s t : triple A) := Z.eqb s.1.1 t.1.1 && Z.eqb s.1.2 t.1.2.
Definition is_index (k : Z) (n : nat) := Z.leb 0 k && Z.ltb k (Z.of_nat n).
Definition read_triple (height width : nat) (v : json) : option (triple rational) :=
  if v is Array [:: Integer i; Integer j; x] then
    r <- rational_of x; require (is_index i height && is_index j width) (Some (i, j, r)) else None.
(** Entries sorted by row and then by column, none twice. *)
Definition read_triples (height width : nat) (v : json) : option (seq (triple rational)) :=
  s <- array (read_triple height width) v; let t := sort (@in_order _) s in
  require (~~ has (fun p => same_place p.1 p.2) (zip t (behead t))) (Some t).
(** A row from pairs of column and number, in the order of the columns; all other numbers are 0, and the row ends with the last given one. *)
Fixpoint row_of (width : nat) (at_column : Z) (given : seq (triple Z)) : seq Z := match width, given with
  | width'.+1, t :: given' =>
      if Z.eqb t.1.2 at_column then t.2 :: row_of width' (Z.succ at_column) given' else Z0 :: row_of width' (Z.succ at_column) given
  | _, _ => [::] end.
Fixpoint rows_of_triples (height width : nat) (at_row : Z) (given : seq (triple Z)) : seq (seq Z) :=
  if height is height'.+1 then
    let k := find (fun t => ~~ Z.eqb t.1.1 at_row) given in
    row_of width Z0 (take k given) :: rows_of_triples height' width (Z.succ at_row) (drop k given)
  else [::].
Definition table_of (height width : nat) (s : seq (triple rational)) : table :=
  let: (k, u) := common [seq t.2 | t <- s] in Table (rows_of_triples height width Z0 [seq (p.1.1, p.2) | p <- zip s k]) u.
Definition read_table (height width : nat) (v : json) : option table := omap (table_of height width) (read_triples height width v).
(** The lower triangle of a symmetric matrix, its rows up to the diagonal. *)
Definition up_to_diagonal (M : table) : table :=
  Table [seq p.1 ++ nseq (p.2 - size p.1) Z0 | p <- zip (table_rows M) (iota 1 (size (table_rows M)))] (table_unit M).
Definition read_triangle (n : nat) (v : json) : option table :=
  s <- read_triples n n v; require (all (fun t => Z.leb t.1.2 t.1.1) s) (Some (up_to_diagonal (table_of n n s))).

(** ** The program *)
Definition PROGRAM_KEYS : seq text := [:: "P"; "q"; "c"; "A"; "b"; "G"; "h"; "cones"].
(** The largest number of entries of all matrices together, zeros included: at most half a gigabyte. *)
Definition MOST_ENTRIES : Z := 10000000.
Definition are_few (n height : nat) := Z.leb (Z.mul (Z.of_nat n) (Z.of_nat (n + height))) MOST_ENTRIES.
(** A certificate gives the number of rows of a cone, which is one more than the argument of [second_order]. *)
Definition read_cone (rows : nat) (v : json) : option nat :=
  if v is Integer k then (if Z.ltb 0 k && Z.leb k (Z.of_nat rows) then Some (Z.to_nat (Z.pred k)) else None) else None.
Definition read_program (given : json) : option program :=
  require (has_keys PROGRAM_KEYS given)
  (q <- obind read_numbers (get "q" given); b <- obind read_numbers (get "b" given); h <- obind read_numbers (get "h" given);
   let n := size (steps q) in let rows := size (steps h) in
   if ~~ are_few n (size (steps b) + rows) then None else
   P <- obind (read_triangle n) (get "P" given); c <- obind rational_of (get "c" given);
   A <- obind (read_table (size (steps b)) n) (get "A" given); G <- obind (read_table rows n) (get "G" given);
   K <- obind (array (read_cone rows)) (get "cones" given);
   let in_cones := sumn [seq k.+1 | k <- K] in
   require (in_cones <= rows) (Some (Program P q (fraction_of c) A b G h (rows - in_cones) K))).
(** The argument that P is positive semidefinite, as named in a certificate. *)
Definition semidefiniteness (P : program) : text :=
  let t := table_rows (quadratic P) in
  if all is_zero t then "not needed" else if is_diagonal t then "by form" else "by factorisation".

(** ** The points *)
Definition read_primal (P : program) (v : json) : option program_primal := let n := unknowns P in
  x <- obind (read_numbers_of n) (get "x" v);
  if has_keys [:: "x"] v then Some (Feasible x) else
  require (has_keys [:: "x"; "d"] v) (omap (Endless x) (obind (read_numbers_of n) (get "d" v))).
Definition read_dual (P : program) (v : json) : option program_dual :=
  y <- obind (read_numbers_of (size (steps (equals P)))) (get "y" v); z <- obind (read_numbers_of (size (steps (limits P)))) (get "z" v);
  if has_keys [:: "y"; "z"] v then Some (Separating y z) else
  require (has_keys [:: "x"; "y"; "z"] v) (omap (fun x => Multipliers x y z) (obind (read_numbers_of (unknowns P)) (get "x" v))).
