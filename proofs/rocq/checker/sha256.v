(** * SHA-256

    [sha256] is the FIPS 180-4 digest of bytes, as 64 hexadecimal digits. A word of 32 bits is eight hexadecimal digits,
    the most significant one first, and functions of digits are tables: so Coq computes it without integers.
    No theorem is about it: the last lines compute the examples of the standard. *)
From Coq Require Import Init.Byte NArith ZArith.
From mathcomp Require Import all_ssreflect.
From equimargin.checker Require Import json.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Delimit Scope N_scope with BN. Delimit Scope Z_scope with BZ.

(** ** Digits *)
Inductive digit := D0 | D1 | D2 | D3 | D4 | D5 | D6 | D7 | D8 | D9 | Da | Db | Dc | Dd | De | Df.
Definition DIGITS := [:: D0; D1; D2; D3; D4; D5; D6; D7; D8; D9; Da; Db; Dc; Dd; De; Df].
Definition value (a : digit) : N := match a with
  | D0 => 0 | D1 => 1 | D2 => 2 | D3 => 3 | D4 => 4 | D5 => 5 | D6 => 6 | D7 => 7
  | D8 => 8 | D9 => 9 | Da => 10 | Db => 11 | Dc => 12 | Dd => 13 | De => 14 | Df => 15 end.
(** The last digit of a number. *)
Definition last_digit (n : N) : digit := nth D0 DIGITS (N.to_nat (n mod 16)%BN).
(** A function as the table of its values. *)
Definition table A (f : digit -> A) (a : digit) : A := match a with
  | D0 => f D0 | D1 => f D1 | D2 => f D2 | D3 => f D3 | D4 => f D4 | D5 => f D5 | D6 => f D6 | D7 => f D7
  | D8 => f D8 | D9 => f D9 | Da => f Da | Db => f Db | Dc => f Dc | Dd => f Dd | De => f De | Df => f Df end.
Definition table2 A (f : digit -> digit -> A) (a b : digit) : A := table (fun a => table (f a) b) a.
Definition xor_digits := Eval vm_compute in table2 (fun a b => last_digit (N.lxor (value a) (value b))).
Definition and_digits := Eval vm_compute in table2 (fun a b => last_digit (N.land (value a) (value b))).
(** The sum of two digits, and true if 1 is carried. *)
Inductive sum := Sum of digit & bool.
Definition sum_of (n : N) : sum := Sum (last_digit n) (15 <? n)%BN.
Definition add_digits := Eval vm_compute in table2 (fun a b (carried : bool) =>
  if carried then sum_of (value a + value b + 1)%BN else sum_of (value a + value b)%BN).
(** The last of two digits after a shift of both to the right by n bits. *)
Definition shifted n := table2 (fun a b => last_digit (N.shiftr (16 * value a + value b) n)).
Definition shifted1 := Eval vm_compute in shifted 1.
Definition shifted2 := Eval vm_compute in shifted 2.
Definition shifted3 := Eval vm_compute in shifted 3.
Definition shifted_by (n : nat) (a b : digit) : digit := match n with 0 => b | 1 => shifted1 a b | 2 => shifted2 a b | _ => shifted3 a b end.

(** ** Words *)
Inductive word := Word of digit & digit & digit & digit & digit & digit & digit & digit.
Definition xor (v w : word) : word := match v, w with Word a b c d e f g h, Word a' b' c' d' e' f' g' h' =>
  Word (xor_digits a a') (xor_digits b b') (xor_digits c c') (xor_digits d d')
       (xor_digits e e') (xor_digits f f') (xor_digits g g') (xor_digits h h') end.
Definition and (v w : word) : word := match v, w with Word a b c d e f g h, Word a' b' c' d' e' f' g' h' =>
  Word (and_digits a a') (and_digits b b') (and_digits c c') (and_digits d d')
       (and_digits e e') (and_digits f f') (and_digits g g') (and_digits h h') end.
(** The sum modulo 2^32. *)
Definition add (v w : word) : word := match v, w with Word a b c d e f g h, Word a' b' c' d' e' f' g' h' =>
  let: Sum h n := add_digits h h' false in let: Sum g n := add_digits g g' n in let: Sum f n := add_digits f f' n in
  let: Sum e n := add_digits e e' n in let: Sum d n := add_digits d d' n in let: Sum c n := add_digits c c' n in
  let: Sum b n := add_digits b b' n in let: Sum a n := add_digits a a' n in Word a b c d e f g h end.
(** A shift to the right by 4 q + r bits; the bits shifted out enter at the left ([rotr]), or zeros do ([shr]). *)
Definition by_digits (again : bool) (w : word) : word :=
  match w with Word a b c d e f g h => Word (if again then h else D0) a b c d e f g end.
Definition by_bits (again : bool) (r : nat) (w : word) : word :=
  match w with Word a b c d e f g h => Word (shifted_by r (if again then h else D0) a) (shifted_by r a b) (shifted_by r b c) (shifted_by r c d)
    (shifted_by r d e) (shifted_by r e f) (shifted_by r f g) (shifted_by r g h) end.
Definition rotr (q r : nat) (w : word) := by_bits true r (iter q (by_digits true) w).
Definition shr (q r : nat) (w : word) := by_bits false r (iter q (by_digits false) w).

(** ** The functions of the standard *)
Definition xor3 u v w := xor (xor u v) w.
Notation written_out f := (ltac:(let v := eval cbv beta iota zeta delta [xor3 xor rotr shr by_bits by_digits shifted_by iter] in f in exact v)) (only parsing).
Definition Sigma0 := written_out (fun w => match w with Word a b c d e f g h => let w := Word a b c d e f g h in
  xor3 (rotr 0 2 w) (rotr 3 1 w) (rotr 5 2 w) end).
Definition Sigma1 := written_out (fun w => match w with Word a b c d e f g h => let w := Word a b c d e f g h in
  xor3 (rotr 1 2 w) (rotr 2 3 w) (rotr 6 1 w) end).
Definition sigma0 := written_out (fun w => match w with Word a b c d e f g h => let w := Word a b c d e f g h in
  xor3 (rotr 1 3 w) (rotr 4 2 w) (shr 0 3 w) end).
Definition sigma1 := written_out (fun w => match w with Word a b c d e f g h => let w := Word a b c d e f g h in
  xor3 (rotr 4 1 w) (rotr 4 3 w) (shr 2 2 w) end).
Definition Ch e f g := xor g (and e (xor f g)).
Definition Maj a b c := xor (and a (xor b c)) (and b c).

(** ** The state *)
Definition word_of (n : N) : word := let d (k : N) := last_digit (N.shiftr n (4 * k)) in
  Word (d 7%BN) (d 6%BN) (d 5%BN) (d 4%BN) (d 3%BN) (d 2%BN) (d 1%BN) (d 0%BN).
Inductive state := State of word & word & word & word & word & word & word & word.
Definition INITIAL := Eval vm_compute in
  State (word_of 0x6a09e667) (word_of 0xbb67ae85) (word_of 0x3c6ef372) (word_of 0xa54ff53a)
        (word_of 0x510e527f) (word_of 0x9b05688c) (word_of 0x1f83d9ab) (word_of 0x5be0cd19).
Definition CONSTANTS := Eval vm_compute in map word_of [::
  0x428a2f98; 0x71374491; 0xb5c0fbcf; 0xe9b5dba5; 0x3956c25b; 0x59f111f1; 0x923f82a4; 0xab1c5ed5;
  0xd807aa98; 0x12835b01; 0x243185be; 0x550c7dc3; 0x72be5d74; 0x80deb1fe; 0x9bdc06a7; 0xc19bf174;
  0xe49b69c1; 0xefbe4786; 0x0fc19dc6; 0x240ca1cc; 0x2de92c6f; 0x4a7484aa; 0x5cb0a9dc; 0x76f988da;
  0x983e5152; 0xa831c66d; 0xb00327c8; 0xbf597fc7; 0xc6e00bf3; 0xd5a79147; 0x06ca6351; 0x14292967;
  0x27b70a85; 0x2e1b2138; 0x4d2c6dfc; 0x53380d13; 0x650a7354; 0x766a0abb; 0x81c2c92e; 0x92722c85;
  0xa2bfe8a1; 0xa81a664b; 0xc24b8b70; 0xc76c51a3; 0xd192e819; 0xd6990624; 0xf40e3585; 0x106aa070;
  0x19a4c116; 0x1e376c08; 0x2748774c; 0x34b0bcb5; 0x391c0cb3; 0x4ed8aa4a; 0x5b9cca4f; 0x682e6ff3;
  0x748f82ee; 0x78a5636f; 0x84c87814; 0x8cc70208; 0x90befffa; 0xa4506ceb; 0xbef9a3f7; 0xc67178f2]%BN.
Definition round (s : state) (k w : word) : state := let: State a b c d e f g h := s in
  let t := add (add (add h (Sigma1 e)) (Ch e f g)) (add k w) in
  State (add t (add (Sigma0 a) (Maj a b c))) a b c (add d t) e f g.
(** The sixteen words of the schedule without the first, and with a new word at the end. *)
Definition next_words (W : seq word) : seq word :=
  if W is [:: w0; w1; w2; w3; w4; w5; w6; w7; w8; w9; w10; w11; w12; w13; w14; w15]
  then [:: w1; w2; w3; w4; w5; w6; w7; w8; w9; w10; w11; w12; w13; w14; w15; add (add (sigma1 w14) w9) (add (sigma0 w1) w0)] else W.
Fixpoint rounds (K : seq word) (W : seq word) (s : state) : state :=
  match K, W with k :: K', w :: _ => rounds K' (next_words W) (round s k w) | _, _ => s end.
Definition compressed (s : state) (W : seq word) : state :=
  match s, rounds CONSTANTS W s with State a b c d e f g h, State a' b' c' d' e' f' g' h' =>
    State (add a a') (add b b') (add c c') (add d d') (add e e') (add f f') (add g g') (add h h') end.

(** ** Bytes *)
Definition of_bits (d c b a : bool) : digit := match d, c, b, a with
  | false, false, false, false => D0 | false, false, false, true => D1 | false, false, true, false => D2 | false, false, true, true => D3
  | false, true, false, false => D4 | false, true, false, true => D5 | false, true, true, false => D6 | false, true, true, true => D7
  | true, false, false, false => D8 | true, false, false, true => D9 | true, false, true, false => Da | true, false, true, true => Db
  | true, true, false, false => Dc | true, true, false, true => Dd | true, true, true, false => De | true, true, true, true => Df end.
(** The higher and the lower digit. *)
Definition byte_digits (b : byte) : digit * digit :=
  let: (b0, (b1, (b2, (b3, (b4, (b5, (b6, b7))))))) := Byte.to_bits b in (of_bits b7 b6 b5 b4, of_bits b3 b2 b1 b0).
Definition word_of_bytes (b0 b1 b2 b3 : byte) : word :=
  let: (a, b) := byte_digits b0 in let: (c, d) := byte_digits b1 in let: (e, f) := byte_digits b2 in let: (g, h) := byte_digits b3 in
  Word a b c d e f g h.
(** The state after all complete blocks. [W] contains the words of the present block, the last one first, and [missing] is the number that it lacks. *)
Fixpoint hashed (s : state) (missing : nat) (W : seq word) (message : seq byte) : state :=
  if message is b0 :: b1 :: b2 :: b3 :: rest then
    let W := word_of_bytes b0 b1 b2 b3 :: W in
    if missing is missing'.+2 then hashed s missing'.+1 W rest else hashed (compressed s (rev W)) 16 [::] rest
  else s.
(** The padding after a message of n bytes: a bit 1, zeros up to the last 64 bits of a block, and in these the number of bits of the message. *)
Definition padding (n : Z) : seq byte :=
  let byte_of k := odflt x00 (Byte.of_N (Z.to_N (8 * n / 2 ^ k mod 256)))%BZ in
  x80 :: nseq (Z.to_nat ((119 - n mod 64) mod 64)%BZ) x00 ++ map byte_of [:: 56; 48; 40; 32; 24; 16; 8; 0]%BZ.
Definition DIGIT_BYTES := [:: x30; x31; x32; x33; x34; x35; x36; x37; x38; x39; x61; x62; x63; x64; x65; x66]%byte.
Definition digit_byte (a : digit) : byte := nth x00 DIGIT_BYTES (N.to_nat (value a)).
Definition word_bytes (w : word) : seq byte := let: Word a b c d e f g h := w in map digit_byte [:: a; b; c; d; e; f; g; h].
(** The digest of a message whose bytes are given in reverse order. *)
Definition sha256_of_reversed (message : seq byte) : seq byte :=
  let: State a b c d e f g h := hashed INITIAL 16 [::] (catrev message (padding (foldl (fun n _ => Z.succ n) Z0 message))) in
  flatten (map word_bytes [:: a; b; c; d; e; f; g; h]).
Definition sha256 (message : seq byte) : seq byte := sha256_of_reversed (rev message).

(** ** The examples of the standard *)
Definition digest_is (message digest : text) := same (sha256 (bytes_of message)) digest.
Example of_three_letters : digest_is "abc" "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad". Proof. by vm_compute. Qed.
Example of_nothing : digest_is "" "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855". Proof. by vm_compute. Qed.
Example of_two_blocks : digest_is "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"
  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1". Proof. by vm_compute. Qed.
Example of_three_blocks : digest_is
  "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"
  "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1". Proof. by vm_compute. Qed.
