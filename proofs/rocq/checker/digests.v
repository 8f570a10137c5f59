(** * Digests

    A certificate contains the SHA-256 of its problem and of its points, each of the JSON of that part in a canonical form: sorted keys, no spaces, and
    the shortest decimals that are read as the same double, as Python writes them. [digests_match] is true if both are right. No theorem is about
    the digests, and none depends on them: a file with wrong digests is rejected. *)
From Coq Require Decimal.
From Coq Require Import Init.Byte NArith ZArith.
From mathcomp Require Import all_ssreflect.
From equimargin.checker Require Import integers json numbers sha256.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Delimit Scope Z_scope with BZ.
Open Scope text_scope.

(** ** Integers *)
(** The digits of a number in decimals. *)
Fixpoint decimal_digits (u : Decimal.uint) : seq byte := match u with
  | Decimal.Nil => [::]
  | Decimal.D0 u => x30 :: decimal_digits u | Decimal.D1 u => x31 :: decimal_digits u | Decimal.D2 u => x32 :: decimal_digits u
  | Decimal.D3 u => x33 :: decimal_digits u | Decimal.D4 u => x34 :: decimal_digits u | Decimal.D5 u => x35 :: decimal_digits u
  | Decimal.D6 u => x36 :: decimal_digits u | Decimal.D7 u => x37 :: decimal_digits u | Decimal.D8 u => x38 :: decimal_digits u
  | Decimal.D9 u => x39 :: decimal_digits u end%byte.
Definition natural_text (n : Z) : seq byte := if n is Zpos p then decimal_digits (Pos.to_uint p) else [:: x30].
Definition integer_text (n : Z) : seq byte := if n is Zneg p then x2d :: natural_text (Zpos p) else natural_text n.

(** ** Doubles *)
(** [Digits s e] is the number 0.s 10^e, the last digit of s not 0. *)
Inductive digits_at := Digits of seq byte & Z.
Fixpoint without_leading_zeros (s : seq byte) : seq byte := if s is x30%byte :: s' then without_leading_zeros s' else s.
Definition without_trailing_zeros (s : seq byte) : seq byte := rev (without_leading_zeros (rev s)).
Definition digits_of (m e : Z) : digits_at :=
  let s := natural_text m in Digits (without_trailing_zeros s) (Z.of_nat (size s) + e)%BZ.
(** The digits before an exponent in what a file writes. *)
Fixpoint digits_in (s : seq byte) : seq byte := match s with
  | [::] | (x65 | x45)%byte :: _ => [::] | (x2d | x2e)%byte :: s' => digits_in s' | a :: s' => a :: digits_in s' end.
(** A decimal with at most so many digits is the shortest one of its double, if that has 53 bits: no two such decimals have the same double. *)
Definition ALWAYS_SHORTEST := 15.
Definition has_all_bits (at_ : Z) := Z.leb (-306) at_ && Z.leb at_ 308.
(** Number of digits that determine every double. *)
Definition ENOUGH := 17%BZ.
(** In units of 10^e, the double q 2^p is 4 q A / B, and the numbers that are read as this double lie between (4 q - below) A / B and (4 q + 2) A / B, its
    means with the neighbouring doubles; the ends are included if q is even. *)
Definition unit_above (p e : Z) := (two_to p * ten_to (- e))%BZ.
Definition unit_below (p e : Z) := (4 * (two_to (- p) * ten_to e))%BZ.
Definition below (q p : Z) := if Z.eqb q (two_to (BITS - 1)) && Z.ltb LEAST_POWER p then 1%BZ else 2%BZ.
Definition end_excluded (q : Z) := if Z.odd q then 1%BZ else 0%BZ.
(** True if m 10^e, which is read as q 2^p and has the last digit a, not 0, is its shortest decimal: no other integer is nearer than m, and neither
    neighbouring multiple of 10 is read as this double. *)
Definition is_shortest (m a q p e : Z) : bool :=
  let A := unit_above p e in let B := unit_below p e in
  let given := (B * m)%BZ in let double := (4 * (q * A))%BZ in
  [&& Z.ltb (2 * Z.abs (given - double)) B,
      Z.ltb (given - B * a) (double - below q p * A + end_excluded q)
    & Z.ltb (double + 2 * A - end_excluded q) (given + B * (10 - a))]%BZ.
(** For the largest k such that a multiple of 10^k lies between lo and hi, the multiple that is nearest to X / T, which also lies between them; k is counted from the given one. *)
Fixpoint roundest (rounds : nat) (k : Z) (X T lo hi : Z) : Z * Z :=
  let next := (hi / 10)%BZ in let first := (- (- lo / 10))%BZ in
  if rounds is rounds'.+1 then
    if Z.leb first next then roundest rounds' (Z.succ k) X (10 * T)%BZ first next else
    let: (q, rest) := Z.div_eucl X T in
    let up := match Z.compare (2 * rest)%BZ T with Lt => false | Eq => Z.odd q | Gt => true end in
    (Z.max lo (Z.min hi (if up then Z.succ q else q)), k)
  else (lo, k).
Definition MOST_ROUNDS := 20.
(** The shortest decimal of the double q 2^p, if a decimal of this double begins at the place [at_]. *)
Definition shortest (q p at_ : Z) : digits_at :=
  let e := (at_ - ENOUGH)%BZ in
  let A := unit_above p e in let B := unit_below p e in
  let lo := (- (- ((4 * q - below q p) * A + end_excluded q) / B))%BZ in
  let hi := (((4 * q + 2) * A - end_excluded q) / B)%BZ in
  let: (c, k) := roundest MOST_ROUNDS 0 (4 * q * A)%BZ B lo hi in digits_of c (e + k)%BZ.
Definition last_digit_of (s : seq byte) : Z := if s is b :: s' then odflt Z0 (json.digit (last b s')) else Z0.
(** The digits of the double nearest to m 10^e for m > 0, which a file writes with the digits s; None if the double is 0. Programs write
    the shortest decimal, which is confirmed without a division. *)
Definition double_digits (s : seq byte) (m e : Z) : option digits_at :=
  let s := without_leading_zeros s in let at_ := (Z.of_nat (size s) + e)%BZ in let s' := without_trailing_zeros s in
  if (size s' <= ALWAYS_SHORTEST) && has_all_bits at_ then Some (Digits s' at_) else
  d <- nearest_double m e; let: (q, p) := d in
  if Z.eqb q 0 then None else
  if (size s == size s') && is_shortest m (last_digit_of s) q p e then Some (Digits s at_) else Some (shortest q p at_).
(** Text with a point if it is among the digits or few zeros away from them, otherwise with an exponent. *)
Definition LEAST_PLACE := (-3)%BZ.
Definition GREATEST_PLACE := 16%BZ.
Definition with_point (s : seq byte) (at_ : Z) : seq byte :=
  if Z.leb at_ 0 then [:: x30; x2e]%byte ++ nseq (Z.to_nat (- at_)) x30%byte ++ s else
  let n := Z.to_nat at_ in
  if size s <= n then s ++ nseq (n - size s) x30%byte ++ [:: x2e; x30]%byte else take n s ++ x2e%byte :: drop n s.
Definition with_exponent (s : seq byte) (at_ : Z) : seq byte :=
  let e := (at_ - 1)%BZ in let digits := natural_text (Z.abs e) in
  (if s is a :: (_ :: _) as rest then a :: x2e%byte :: rest else s)
  ++ x65%byte :: (if Z.ltb e 0 then x2d else x2b)%byte :: (if digits is [:: a] then [:: x30%byte; a] else digits).
Definition double_text (s : seq byte) (m e : Z) : seq byte :=
  let digits := match m with Z0 => None | Zpos _ => double_digits (digits_in s) m e | Zneg p => double_digits (digits_in s) (Zpos p) e end in
  let text := if digits is Some (Digits s at_) then
      if Z.leb LEAST_PLACE at_ && Z.leb at_ GREATEST_PLACE then with_point s at_ else with_exponent s at_
    else bytes_of "0.0" in
  if s is x2d%byte :: _ then x2d%byte :: text else text.

(** ** Values *)
(** Functions that put a text, last byte first, before a given one. *)
Definition writer := seq byte -> seq byte.
Definition letters (s : seq byte) : writer := fun out => catrev s out.
Definition quoted (s : seq byte) : writer := fun out => x22%byte :: catrev s (x22%byte :: out).
Definition behind_comma (out : seq byte) (w : writer) : seq byte := w (x2c%byte :: out).
Definition listed (first last : byte) (s : seq writer) : writer := fun out =>
  last :: (if s is w :: s' then foldl behind_comma (w (first :: out)) s' else first :: out).
Fixpoint not_after (s t : seq byte) : bool := match s, t with
  | [::], _ => true | _, [::] => false
  | a :: s', b :: t' => Z.ltb (code a) (code b) || Byte.eqb a b && not_after s' t' end.
Fixpoint written (v : json) : writer := match v with
  | Null => letters (bytes_of "null")
  | Boolean b => letters (bytes_of (if b then "true" else "false"))
  | Integer n => letters (integer_text n)
  | Decimal s m e => letters (double_text s m e)
  | String s => quoted s
  | Array s => listed x5b x5d (map written s)
  | Object s => listed x7b x7d [seq (fun out => p.2 (x3a%byte :: quoted p.1 out))
      | p <- sort (fun p q => not_after p.1 q.1) (map (fun p => (p.1, written p.2)) s)]
  end.
Definition digest (v : json) : seq byte := sha256_of_reversed (written v [::]).

(** ** The digests of a document *)
Definition is_digest (part : json) (v : json) : bool := if v is String s then same s (Text (digest part)) else false.
Definition digests_match (doc : json) : bool :=
  if get "digests" doc is Some given then has_keys [:: "problem"; "points"] given &&
    match get "problem" doc, get "primal" doc, get "dual" doc, get "problem" given, get "points" given with
    | Some problem, Some primal, Some dual, Some of_problem, Some of_points =>
        is_digest problem of_problem && is_digest (Array [:: primal; dual]) of_points
    | _, _, _, _, _ => false end
  else false.

(** ** Examples *)
Definition written_as (v expected : text) : bool := if parse [:: v] is Some v then same (rev (written v [::])) expected else false.
Example of_few_digits : written_as "[0.0, -0.0, 0, -0, 1.50, -12e-1, 0.0001, 0.00001, 1e15, 1e16, 25E+22]"
  "[0.0,-0.0,0,0,1.5,-1.2,0.0001,1e-05,1000000000000000.0,1e+16,2.5e+23]". Proof. by vm_compute. Qed.
Example of_many_digits : written_as "[0.10000000000000001, 0.29999999999999999, 0.29999999999999998, 0.30000000000000004, 3.2580826393233618, 123456789012345678901.0]"
  "[0.1,0.3,0.3,0.30000000000000004,3.2580826393233617,1.2345678901234568e+20]". Proof. by vm_compute. Qed.
Example of_powers_of_two : written_as "[2.8421709430404007e-14, 4.656612873077392578e-10, 4.3368086899420177e-19]"
  "[2.842170943040401e-14,4.656612873077393e-10,4.336808689942018e-19]". Proof. by vm_compute. Qed.
(** A power of two, below which doubles are closer; a double whose interval ends at a multiple of ten; the smallest and the largest double. *)
Example of_ends : written_as "[2.5653355008114852e-290, 28692990471295732.0, 4.9e-324, 1e-400, 1.7976931348623157e308]"
  "[2.5653355008114852e-290,2.8692990471295732e+16,5e-324,0.0,1.7976931348623157e+308]". Proof. by vm_compute. Qed.
Example of_keys : written_as "{""b"": null, ""ab"": [], ""a"": {""Z"": true}, ""B"": ""1/3""}"
  "{""B"":""1/3"",""a"":{""Z"":true},""ab"":[],""b"":null}". Proof. by vm_compute. Qed.
Definition matching (t : text) : bool := if parse [:: t] is Some doc then digests_match doc else false.
Example of_its_parts : matching
  "{""problem"": {""C"": 1.50}, ""primal"": null, ""dual"": [1], ""digests"": {""problem"": ""2b979738bb8d8903fdd32f3341e01ca39ca42d111ab16c5f7d311872b0ad4f32"", ""points"": ""a2738f1dc430d7286e463f1768d0df75ca17e1c404379bc10a09a645919b5a07""}}".
Proof. by vm_compute. Qed.
Example of_another_problem : ~~ matching
  "{""problem"": {""C"": 2.5}, ""primal"": null, ""dual"": [1], ""digests"": {""problem"": ""2b979738bb8d8903fdd32f3341e01ca39ca42d111ab16c5f7d311872b0ad4f32"", ""points"": ""a2738f1dc430d7286e463f1768d0df75ca17e1c404379bc10a09a645919b5a07""}}".
Proof. by vm_compute. Qed.
Example of_other_points : ~~ matching
  "{""problem"": {""C"": 1.50}, ""primal"": null, ""dual"": [1], ""digests"": {""problem"": ""2b979738bb8d8903fdd32f3341e01ca39ca42d111ab16c5f7d311872b0ad4f32"", ""points"": ""2b979738bb8d8903fdd32f3341e01ca39ca42d111ab16c5f7d311872b0ad4f32""}}".
Proof. by vm_compute. Qed.
Example with_another_key : ~~ matching
  "{""problem"": {""C"": 1.50}, ""primal"": null, ""dual"": [1], ""digests"": {""problem"": ""2b979738bb8d8903fdd32f3341e01ca39ca42d111ab16c5f7d311872b0ad4f32"", ""points"": ""a2738f1dc430d7286e463f1768d0df75ca17e1c404379bc10a09a645919b5a07"", ""more"": 0}}".
Proof. by vm_compute. Qed.
