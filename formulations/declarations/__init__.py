"""Declarations of formulations: families, functions from data to cvxpy problems, results.

`family` registers formulations, `formulation` declares them, and `declaration` is the
result. A formulation of a canonical problem is a function of its `symbols`; all other
problems, which consist of data alone, are in `program_problem`. `source` names
publications, `checks` validates data, `drawing` generates data, and `user_functions`
calls user-defined functions.
"""
