(** * JSON texts

    [parse] returns the JSON value of the bytes of a file, or None. It is stricter than JSON in two features that certificates do not need:
    a string has only printable ASCII characters and no escapes, and an exponent at most four digits.
    No theorem is about it: its result defines the content of a file. *)
From Coq Require Import Init.Byte NArith ZArith.
From mathcomp Require Import all_ssreflect.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.

(** A file is a list of strings, because Coq cannot read long strings. *)
Inductive text := Text of list byte.
Definition text_of (l : list byte) := Text l.
Definition bytes_of (t : text) := let: Text l := t in l.
Declare Scope text_scope. Delimit Scope text_scope with text. Bind Scope text_scope with text.
String Notation text text_of bytes_of : text_scope.

Definition same (s : seq byte) (t : text) := let u := bytes_of t in (size s == size u) && all (fun p => Byte.eqb p.1 p.2) (zip s u).
Notation "x <- f ; g" := (obind (fun x => g) f) (at level 60, f at next level, right associativity).
Definition require A (b : bool) (v : option A) := if b then v else None.

(** ** Values *)
(** [Decimal s m e] is m 10^e, and s its text in the file. *)
Inductive json := Null | Boolean of bool | Integer of Z | Decimal of seq byte & Z & Z | String of seq byte
  | Array of seq json | Object of seq (seq byte * json).

Definition code (b : byte) := Z.of_N (Byte.to_N b).
Definition digit (b : byte) : option Z := let n := Z.sub (code b) 48 in require (Z.leb 0 n && Z.leb n 9) (Some n).
(** The number that m becomes by appending the digits at the beginning of s, their count, and the rest of s. *)
Fixpoint digits (m : Z) (count : nat) (s : seq byte) : Z * nat * seq byte :=
  match s with
  | b :: s' => if digit b is Some v then digits (Z.add (Z.mul 10 m) v) count.+1 s' else (m, count, s)
  | [::] => (m, count, s)
  end.
Definition MOST_DIGITS := 4300.
Definition MOST_EXPONENT_DIGITS := 4.
Definition exponent (s : seq byte) : option Z :=
  let: (negative, s) := match s with x2d%byte :: s' => (true, s') | x2b%byte :: s' => (false, s') | _ => (false, s) end in
  let: (m, count, rest) := digits Z0 0 s in
  require [&& 0 < count, count <= MOST_EXPONENT_DIGITS & nilp rest] (Some (if negative then Z.opp m else m)).
Definition number (text : seq byte) : option json :=
  let: (negative, s) := if text is x2d%byte :: s' then (true, s') else (false, text) in
  let signed m := if negative then Z.opp m else m in
  let: (m, count, rest) := digits Z0 0 s in
  let leading_zero := if s is x30%byte :: _ :: _ then 1 < count else false in
  require [&& 0 < count, count <= MOST_DIGITS & ~~ leading_zero]
  match rest with
  | [::] => Some (Integer (signed m))
  | x2e%byte :: s' => let: (m', places, rest') := digits m 0 s' in
    require ((0 < places) && (places <= MOST_DIGITS))
    (match rest' with
    | [::] => Some (Decimal text (signed m') (Z.opp (Z.of_nat places)))
    | (x65 | x45)%byte :: s'' => e <- exponent s''; Some (Decimal text (signed m') (Z.sub e (Z.of_nat places)))
    | _ => None end)
  | (x65 | x45)%byte :: s' => e <- exponent s'; Some (Decimal text (signed m) e)
  | _ => None end.
(** A value that is no string, no array and no object. *)
Definition scalar (s : seq byte) : option json :=
  if same s "null" then Some Null else if same s "true" then Some (Boolean true) else
  if same s "false" then Some (Boolean false) else number s.

(** ** The reader *)
(** Unfinished arrays and objects, the innermost first, with their parts in reverse; an object may lack the value of its last key. *)
Inductive frame := InArray of seq json | InObject of seq (seq byte * json) & option (seq byte).
(** What may follow. [Quoted] and [Plain] contain, in reverse, the beginning of a string or of another scalar. *)
Inductive state := Value | ValueOrEnd | Key | KeyOrEnd | Colon | CommaOrEnd | Quoted of seq byte & bool | Plain of seq byte.
Definition reader := (seq frame * option json * state)%type.

Definition completed (v : json) (stack : seq frame) : option reader :=
  match stack with
  | [::] => Some ([::], Some v, CommaOrEnd)
  | InArray s :: rest => Some (InArray (v :: s) :: rest, None, CommaOrEnd)
  | InObject s (Some k) :: rest => Some (InObject ((k, v) :: s) None :: rest, None, CommaOrEnd)
  | InObject _ None :: _ => None
  end.
Definition is_space (b : byte) := if b is (x20 | x0a | x0d | x09)%byte then true else false.
Definition begin_value (b : byte) (stack : seq frame) : option reader :=
  match b with
  | x22%byte => Some (stack, None, Quoted [::] false)
  | x5b%byte => Some (InArray [::] :: stack, None, ValueOrEnd)
  | x7b%byte => Some (InObject [::] None :: stack, None, KeyOrEnd)
  | _ => Some (stack, None, Plain [:: b])
  end.
Definition end_array (stack : seq frame) := if stack is InArray s :: rest then completed (Array (rev s)) rest else None.
Definition end_object (stack : seq frame) := if stack is InObject s None :: rest then completed (Object (rev s)) rest else None.
Definition after_value (b : byte) (stack : seq frame) (out : option json) : option reader :=
  match b, stack with
  | x2c%byte, InArray _ :: _ => Some (stack, None, Value)
  | x2c%byte, InObject _ _ :: _ => Some (stack, None, Key)
  | x5d%byte, _ => end_array stack
  | x7d%byte, _ => end_object stack
  | _, _ => require (is_space b) (Some (stack, out, CommaOrEnd))
  end.
Definition begin_key (b : byte) (stack : seq frame) : option reader :=
  if b is x22%byte then Some (stack, None, Quoted [::] true) else None.
Definition end_string (s : seq byte) (is_key : bool) (stack : seq frame) : option reader :=
  if ~~ is_key then completed (String (rev s)) stack else
  if stack is InObject parts None :: rest then Some (InObject parts (Some (rev s)) :: rest, None, Colon) else None.
Definition ends_plain (b : byte) := is_space b || (if b is (x2c | x5d | x7d)%byte then true else false).

Definition step (b : byte) (r : reader) : option reader :=
  let: (stack, out, st) := r in
  match st with
  | Quoted s is_key => if b is x22%byte then end_string s is_key stack else
      require [&& Z.leb 32 (code b), Z.leb (code b) 126 & ~~ Byte.eqb b x5c] (Some (stack, None, Quoted (b :: s) is_key))
  | Plain s => if ~~ ends_plain b then Some (stack, None, Plain (b :: s)) else
      v <- scalar (rev s); r' <- completed v stack; let: (stack', out', _) := r' in after_value b stack' out'
  | CommaOrEnd => after_value b stack out
  | _ => if is_space b then Some r else
    match st, b with
    | ValueOrEnd, x5d%byte => end_array stack
    | KeyOrEnd, x7d%byte => end_object stack
    | (Value | ValueOrEnd), _ => begin_value b stack
    | (Key | KeyOrEnd), _ => begin_key b stack
    | Colon, x3a%byte => Some (stack, None, Value)
    | _, _ => None
    end
  end.
Fixpoint steps (s : seq byte) (r : reader) : option reader := if s is b :: s' then (if step b r is Some r' then steps s' r' else None) else Some r.
Fixpoint pieces (t : seq text) (r : reader) : option reader :=
  if t is s :: t' then (if steps (bytes_of s) r is Some r' then pieces t' r' else None) else Some r.
(** A space is appended to the file, so that a scalar at its end is finished. *)
Definition parse (t : seq text) : option json :=
  if pieces t ([::], None, Value) is Some r then (if step x20%byte r is Some ([::], out, CommaOrEnd) then out else None) else None.

(** ** Parts of a value *)
Definition same_key (k : text) (p : seq byte * json) := same p.1 k.
Definition get (k : text) (v : json) : option json :=
  if v is Object s then (if [seq p.2 | p <- s & same_key k p] is [:: x] then Some x else None) else None.
(** The values of an object that has exactly these keys, each once. *)
Fixpoint all_some A (s : seq (option A)) : option (seq A) :=
  if s is x :: s' then (if x is Some a then omap (cons a) (all_some s') else None) else Some [::].
Definition has_keys (keys : seq text) (v : json) : bool :=
  if v is Object s then (size s == size keys) && all (fun k => count (same_key k) s == 1) keys else false.
Definition array A (f : json -> option A) (v : json) : option (seq A) := if v is Array s then all_some (map f s) else None.
Definition is_null v := if v is Null then true else false.
Definition is_word (t : text) (v : json) := if v is String s then same s t else false.
