(** * The program

    [verdict] is the checker of [certificate], with a third answer for files that it cannot read; extraction translates it to OCaml. Integers
    become those of Zarith, natural numbers the integers of OCaml, bytes its characters; the operations that are named here for them are assumed,
    not proved, to be right. *)
From Coq Require Import Init.Byte NArith ZArith Extraction ExtrOcamlBasic ExtrOcamlNatInt ExtrOcamlChar.
From mathcomp Require Import all_ssreflect.
From equimargin.checker Require Import products integers spaces semidefinite programs exponential kernels rows families one_norms json numbers stated_programs certificate.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.

(** Accepted; rejected: the file can be read, but a digest is wrong, or the claim does not follow from the points; unread: it is no certificate that [certificate] reads. *)
Inductive answer := Accepted | Rejected | Unread.
Definition answer_to (file : seq text) : answer :=
  if obind verdict (parse file) is Some b then (if b then Accepted else Rejected) else Unread.
Theorem accepted_sound file : answer_to file = Accepted -> forall R, holds R file.
Proof. by move=> h; apply: check_sound; move: h; rewrite /answer_to /check; case: obind => // -[]. Qed.

Extract Inductive BinNums.positive => "Bigint.t"
  [ "(fun p -> Bigint.succ (Bigint.shift_left p 1))" "(fun p -> Bigint.shift_left p 1)" "Bigint.one" ]
  "(fun odd even one p -> if Bigint.equal p Bigint.one then one () else
      if Bigint.is_even p then even (Bigint.shift_right p 1) else odd (Bigint.shift_right p 1))".
Extract Inductive BinNums.Z => "Bigint.t" [ "Bigint.zero" "(fun p -> p)" "Bigint.neg" ]
  "(fun zero plus minus z -> let s = Bigint.sign z in if s = 0 then zero () else if s > 0 then plus z else minus (Bigint.neg z))".
Extract Inductive BinNums.N => "Bigint.t" [ "Bigint.zero" "(fun p -> p)" ]
  "(fun zero plus n -> if Bigint.sign n = 0 then zero () else plus n)".
Extract Constant BinPos.Pos.mul => "Bigint.mul".
Extract Constant BinInt.Z.add => "Bigint.add".
Extract Constant BinInt.Z.sub => "Bigint.sub".
Extract Constant BinInt.Z.mul => "Bigint.mul".
Extract Constant BinInt.Z.opp => "Bigint.neg".
Extract Constant BinInt.Z.abs => "Bigint.abs".
Extract Constant BinInt.Z.max => "Bigint.max".
Extract Constant BinInt.Z.min => "Bigint.min".
Extract Constant BinInt.Z.succ => "Bigint.succ".
Extract Constant BinInt.Z.odd => "Bigint.is_odd".
Extract Constant BinInt.Z.leb => "Bigint.leq".
Extract Constant BinInt.Z.ltb => "Bigint.lt".
Extract Constant BinInt.Z.eqb => "Bigint.equal".
Extract Constant BinInt.Z.pow => "(fun a e -> if Bigint.sign e < 0 then Bigint.zero else Bigint.pow a (Bigint.to_int e))".
Extract Constant BinInt.Z.shiftr =>
  "(fun a n -> if Bigint.sign n < 0 then Bigint.shift_left a (- Bigint.to_int n) else Bigint.shift_right a (Bigint.to_int n))".
Extract Constant BinInt.Z.div_eucl =>
  "(fun a b -> if Bigint.sign b = 0 then (Bigint.zero, a) else let q = Bigint.fdiv a b in (q, Bigint.sub a (Bigint.mul b q)))".
Extract Constant product_of => "Bigint.mul".
Extract Constant square_of => "(fun a -> Bigint.mul a a)".
Extract Constant divided => "Bigint.fdiv".
Extract Constant BinInt.Z.lcm => "Bigint.lcm".
Extract Constant BinInt.Z.log2 => "(fun a -> if Bigint.sign a <= 0 then Bigint.zero else Bigint.of_int (Bigint.numbits a - 1))".
Extract Constant BinInt.Z.compare => "(fun a b -> let c = Bigint.compare a b in if c = 0 then Eq else if c < 0 then Lt else Gt)".
Extract Constant BinInt.Z.to_nat => "(fun a -> if Bigint.sign a < 0 then 0 else Bigint.to_int a)".
Extract Constant BinInt.Z.of_nat => "Bigint.of_int".
Extract Constant BinInt.Z.of_N => "(fun n -> n)".
Extract Constant eqn => "(fun (a : int) b -> a = b)".
Extract Constant Byte.to_N => "(fun b -> Bigint.of_int (Char.code b))".
(* Only what is required is computed. *)
Extraction Inline require.
Extraction "verified.ml" answer_to text_of.
