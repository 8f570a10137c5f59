(* Zarith's integers by a name that the extracted program does not use itself. *)
include Z
