"""Bring your own problem: a family of convex programs as functions that return cvxpy problems, and solvers of it.

`own_problem.md` beside the README is a page to begin with.

>>> import cvxpy as cp
>>> from equimargin import compare
>>> from equimargin.own import Source, family
>>> nearest = family("nearest", source=Source("a school book", "(1)"))
>>> @nearest.formulation("primal")
... def primal(d):
...     x = cp.Variable(name="x")
...     return cp.Problem(cp.Minimize(cp.sum_squares(x) / 2), [x >= d["end"]])
>>> @nearest.formulation("dual")
... def dual(d):
...     a = cp.Variable(name="a")
...     return cp.Problem(cp.Maximize(d["end"] * a - cp.sum_squares(a) / 2), [a >= 0])
>>> print(nearest({"end": 3.0}).optimum())
9/2
"""

from equimargin.formulations import Kernel, Printed, Refusal, Source
from equimargin.own.kernels import kernel
from equimargin.proofs.families import OwnFamily, OwnProblem, OwnSolution, family

__all__ = ["Kernel", "OwnFamily", "OwnProblem", "OwnSolution", "Printed", "Refusal", "Source", "family", "kernel"]
