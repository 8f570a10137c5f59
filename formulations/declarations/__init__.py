"""Declarations of formulations: a family, its functions from data to cvxpy problems, and what is declared of one at a problem.

`family` enters a `formulation`; `symbols` are the data that one of a canonical problem
takes, `program_problem` keeps those of any other, and `declaration` is what `declare`
returns. `source` says where a problem is printed, `checks` refuses data, `drawing`
draws them, and `user_functions` calls functions of a user.
"""
