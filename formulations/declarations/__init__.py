"""Declarations of formulations: families, functions from data to cvxpy problems, results.

`family` registers a `formulation`; `symbols` are the data of a canonical problem's
formulation, `program_problem` keeps those of any other, and `declaration` is the result
of `declare`. `source` names publications, `checks` validates data, `drawing` generates
them, and `user_functions` calls functions of a user.
"""
