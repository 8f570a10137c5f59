(** * The numbers of a certificate

    A number with a point or an exponent denotes the value of the nearest double, ties to even; one without denotes an integer; a string
    p or p/q of integers, in decimals or in hexadecimals after 0x, denotes that rational. [common] converts a list of them to integers over one unit. *)
From Coq Require Import Init.Byte NArith ZArith.
From mathcomp Require Import all_ssreflect.
From equimargin.checker Require Import integers json.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Delimit Scope Z_scope with BZ.

(** mantissa 2^power / divisor *)
Record rational := Rational { mantissa : Z; power : Z; divisor : positive }.
Definition integer m := Rational m 0 1.

(** ** Decimals *)
Definition two_to (e : Z) := Z.pow 2 (Z.max 0 e).
Definition ten_to (e : Z) := Z.pow 10 (Z.max 0 e).
Definition BITS := 53%BZ.
Definition LEAST_POWER := (-1074)%BZ.
Definition INFINITE_POWER := 1024%BZ.
(** m 2^p in lowest terms. *)
Fixpoint odd_part (m : positive) (p : Z) : positive * Z := if m is xO n then odd_part n (Z.succ p) else (m, p).
Definition reduced (m p : Z) : rational := match m with
  | Z0 => integer 0 | Zpos n => let: (n', p') := odd_part n p in Rational (Zpos n') p' 1
  | Zneg n => let: (n', p') := odd_part n p in Rational (Zneg n') p' 1 end.
(** The double nearest to m 10^e for m > 0, as an integer and a power of two: the quotient of m 10^e and 2^p has 53 bits, or fewer if
    p is the smallest exponent, and is rounded to an integer; if that is 2^53, it is halved. The quotient is computed once, with 53 or 54 bits, and halved if it has 54. None if the double
    is infinite. *)
Definition nearest_double (m e : Z) : option (Z * Z) :=
  let N := (m * ten_to e)%BZ in let D := ten_to (- e) in
  let least := Z.max LEAST_POWER (Z.log2 N - Z.log2 D - BITS)%BZ in
  let over := (D * two_to least)%BZ in
  let: (q, rest) := Z.div_eucl (N * two_to (- least))%BZ over in
  let: (q, rest, over, p) := if Z.ltb q (two_to BITS) then (q, rest, over, least) else
    (Z.div2 q, if Z.odd q then Z.add rest over else rest, Z.add over over, Z.succ least) in
  let up := match Z.compare (2 * rest)%BZ over with Lt => false | Eq => Z.odd q | Gt => true end in
  let q' := if up then Z.succ q else q in
  let: (q', p) := if Z.eqb q' (two_to BITS) then (two_to (BITS - 1), Z.succ p) else (q', p) in
  require (Z.ltb (Z.log2 q' + p)%BZ INFINITE_POWER) (Some (q', p)).
Definition decimal (m e : Z) : option rational := match m with
  | Z0 => Some (integer 0)
  | Zpos _ => v <- nearest_double m e; Some (reduced v.1 v.2)
  | Zneg n => v <- nearest_double (Zpos n) e; Some (reduced (Z.opp v.1) v.2) end.

(** ** Strings *)
Definition hexadecimal_digit (b : byte) : option Z := let n := code b in
  if digit b is Some v then Some v else require (Z.leb 97 n && Z.leb n 102) (Some (n - 87)%BZ).
(** The digits at the beginning of s, the last one first, put before the digits ds, and the rest of s. *)
Fixpoint hexadecimal_digits (ds : seq Z) (s : seq byte) : seq Z * seq byte :=
  match s with
  | b :: s' => if hexadecimal_digit b is Some v then hexadecimal_digits (v :: ds) s' else (ds, s)
  | [::] => (ds, [::])
  end.
(** The digits in a base, the last one first, converted to digits in the square of the base. *)
Fixpoint squared_base (base : Z) (ds : seq Z) : seq Z :=
  match ds with a :: b :: ds' => (a + base * b)%BZ :: squared_base base ds' | _ => ds end.
(** The number with these digits, if there are at most 2^rounds of them: halving their count takes less time than adding digit by digit. *)
Fixpoint in_base (rounds : nat) (base : Z) (ds : seq Z) : Z :=
  match rounds, ds with
  | _, [:: a] => a
  | rounds'.+1, _ => in_base rounds' (base * base)%BZ (squared_base base ds)
  | _, _ => 0%BZ
  end.
Definition MOST_ROUNDS := 32.
Definition hexadecimal (s : seq byte) : Z * nat * seq byte :=
  let: (ds, rest) := hexadecimal_digits [::] s in (in_base MOST_ROUNDS 16 ds, size ds, rest).
(** The nonnegative integer at the beginning of s, and the rest of s. *)
Definition natural (s : seq byte) : option (Z * seq byte) :=
  let: (m, count, rest) := if s is x30%byte :: x78%byte :: s' then hexadecimal s' else digits 0 0 s in
  require (0 < count) (Some (m, rest)).
Definition quotient (s : seq byte) : option rational :=
  let: (negative, s) := if s is x2d%byte :: s' then (true, s') else (false, s) in
  p <- natural s; let m := if negative then Z.opp p.1 else p.1 in
  match p.2 with
  | [::] => Some (integer m)
  | x2f%byte :: s' => q <- natural s'; if q is (Zpos n, [::]) then Some (Rational m 0 n) else None
  | _ => None
  end.

Definition rational_of (v : json) : option rational := match v with
  | Integer m => Some (integer m) | Decimal _ m e => decimal m e | String s => quotient s | _ => None end.

(** ** Units *)
Definition unit_power (v : rational) : positive := Z.to_pos (two_to (- power v)).
Definition fraction_of (v : rational) : fraction := Fraction (mantissa v * two_to (power v))%BZ (Pos.mul (unit_power v) (divisor v)).
Definition least_power (s : seq rational) : Z := foldr (fun v p => Z.min (power v) p) 0%BZ s.
Definition common_divisor (s : seq rational) : positive :=
  foldr (fun v q => if divisor v is xH then q else Z.to_pos (Z.lcm (Zpos q) (Zpos (divisor v)))) xH s.
(** The numerator of a number over the common power of two and the common multiple of all divisors. *)
Definition over_common (p : Z) (q : positive) (v : rational) : Z :=
  let m := (mantissa v * two_to (power v - p))%BZ in if q is xH then m else (m * (Zpos q / Zpos (divisor v)))%BZ.
Definition common_unit (p : Z) (q : positive) : positive := Pos.mul q (Z.to_pos (two_to (- p))).
Definition common (s : seq rational) : seq Z * positive :=
  let p := least_power s in let q := common_divisor s in (map (over_common p q) s, common_unit p q).
Definition common_table (s : seq (seq rational)) : seq (seq Z) * positive :=
  let p := least_power (flatten s) in let q := common_divisor (flatten s) in (map (map (over_common p q)) s, common_unit p q).
(** A number that is an integer. *)
Definition whole (v : json) : option Z :=
  r <- rational_of v; require (Z.leb 0 (power r) && Pos.eqb (divisor r) 1) (Some (mantissa r * two_to (power r))%BZ).
