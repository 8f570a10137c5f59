(** * Tables of values

    Points whose features are small integers, such as counts or grey levels of a picture, have far fewer distances than pairs. The value of a function at a
    short number is computed once and looked up in a table; at any other number it is computed whenever needed. [number_byE] and
    [number_of_value]: both give the values of the function. *)
From Coq Require Import ZArith FMapPositive.
From mathcomp Require Import all_ssreflect.
From equimargin.checker Require Import products.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.

(** ** What is computed *)
(** Bits of the longest number that counts as short: distances of measured features have more bits, and are nearly all different. *)
Definition MOST_BITS := 24%nat.
(** A computed value, or the short number at which the value is looked up. *)
Inductive value := Computed of Z | LookedUp of positive.
Definition kept := PositiveMap.t Z.
Section Tables.
Variable f : Z -> Z.
Definition with_number (t : kept) (k : positive) : kept := if PositiveMap.mem k t then t else PositiveMap.add k (f (Zpos k)) t.
Definition with_value (t : kept) (v : value) : kept := if v is LookedUp k then with_number t k else t.
Definition kept_values (s : seq (seq value)) : kept := foldl (foldl with_value) (PositiveMap.empty Z) s.
Definition value_of (a : Z) : value := match a with Zpos k => if is_longer MOST_BITS k then Computed (f a) else LookedUp k | _ => Computed (f a) end.
Definition number_by (t : kept) (v : value) : Z := match v with
  | Computed b => b | LookedUp k => if PositiveMap.find k t is Some b then b else f (Zpos k) end.

(** ** What it means *)
Arguments is_longer : simpl never.
Definition is_right (t : kept) := forall k v, PositiveMap.find k t = Some v -> v = f (Zpos k).
Lemma with_value_right t v : is_right t -> is_right (with_value t v).
Proof.
case: v => [b|k] //= right; rewrite /with_number; case: PositiveMap.mem => // l v.
by have [->|other] := Pos.eq_dec l k; [rewrite PositiveMap.gss => -[]|rewrite PositiveMap.gso //; exact: right].
Qed.
Lemma kept_right s : is_right (kept_values s).
Proof.
rewrite /kept_values; have : is_right (PositiveMap.empty Z) by move=> k v; rewrite PositiveMap.gempty.
elim: s (PositiveMap.empty Z) => [|row s IH] t right //=; apply: IH.
by elim: row t right => [|v row IH] t right //=; apply: IH; exact: with_value_right.
Qed.
(** The number that a value denotes, without a table. *)
Definition number_of (v : value) : Z := match v with Computed b => b | LookedUp k => f (Zpos k) end.
Lemma number_of_value a : number_of (value_of a) = f a.
Proof. by case: a => //= k; case: is_longer. Qed.
Theorem number_byE s v : number_by (kept_values s) v = number_of v.
Proof. by case: v => //= k; case e: PositiveMap.find => [b|] //; exact: kept_right e. Qed.
End Tables.
