(* Reads files, and prints a line for each with what the checker that is proved answers: accepted, rejected or unread. All else is extracted.
   A file for which the stack or the memory does not suffice is not read. *)
let text_of file =
  let channel = open_in_bin file in
  let length = in_channel_length channel in
  let text = really_input_string channel length in
  close_in channel;
  Verified.text_of (List.init length (String.get text))

let answer_to file = try Verified.answer_to [ text_of file ] with Stack_overflow | Out_of_memory -> Verified.Unread

let word = function Verified.Accepted -> "accepted" | Verified.Rejected -> "rejected" | Verified.Unread -> "unread"

let () =
  let files = List.tl (Array.to_list Sys.argv) in
  List.iter (fun file -> print_endline (word (answer_to file))) files
