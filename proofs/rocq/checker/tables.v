(** * Tables of values

    Points whose features are small integers, as counts or the grey levels of a picture, have far fewer distances than pairs. The table of a
    function has its values at the positive numbers of at most 24 bits in some lists, each computed once; all other values are computed where they are needed.
    [value_byE]: a value by the table is that of the function. *)
From Coq Require Import ZArith FMapPositive.
From mathcomp Require Import all_ssreflect.
From equimargin.checker Require Import products.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.

(** ** What is computed *)
(** Bits that a number in a table may have: distances of measured features have more, and nearly all of them are different. *)
Definition MOST_BITS := 24%nat.
Definition kept := PositiveMap.t Z.
Section Tables.
Variable f : Z -> Z.
Definition with_value (t : kept) (k : positive) : kept := if PositiveMap.mem k t then t else PositiveMap.add k (f (Zpos k)) t.
Definition with_number (t : kept) (a : option Z) : kept :=
  if a is Some (Zpos k) then (if is_longer MOST_BITS k then t else with_value t k) else t.
Definition kept_values (numbers : seq (seq (option Z))) : kept := foldl (foldl with_number) (PositiveMap.empty Z) numbers.
Definition value_by (t : kept) (a : Z) : Z := if a is Zpos k then (if PositiveMap.find k t is Some v then v else f a) else f a.

(** ** What it means *)
Arguments is_longer : simpl never.
Definition is_right (t : kept) := forall k v, PositiveMap.find k t = Some v -> v = f (Zpos k).
Lemma with_number_right t a : is_right t -> is_right (with_number t a).
Proof.
case: a => [[|k|k]|] //= right; case: is_longer => //; rewrite /with_value; case: PositiveMap.mem => // l v.
by have [->|other] := Pos.eq_dec l k; [rewrite PositiveMap.gss => -[]|rewrite PositiveMap.gso //; exact: right].
Qed.
Lemma table_right numbers : is_right (kept_values numbers).
Proof.
rewrite /kept_values; have : is_right (PositiveMap.empty Z) by move=> k v; rewrite PositiveMap.gempty.
elim: numbers (PositiveMap.empty Z) => [|row numbers IH] t right //=; apply: IH.
by elim: row t right => [|a row IH] t right //=; apply: IH; exact: with_number_right.
Qed.
Theorem value_byE numbers a : value_by (kept_values numbers) a = f a.
Proof. by case: a => //= k; case e: PositiveMap.find => [v|] //; exact: table_right e. Qed.
End Tables.
