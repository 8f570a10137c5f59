"""User-defined problems: families of convex programs as cvxpy functions, and their solvers.

`docs/how_to/own_problem.md` is a tutorial.

>>> import cvxpy as cp
>>> from equimargin import compare
>>> from equimargin.own import Family, Source, optimum
>>> nearest = Family("nearest", Source("a school book", "(1)"))
>>> @nearest.formulation("primal")
... def primal(d):
...     x = cp.Variable(name="x")
...     return cp.Problem(cp.Minimize(cp.sum_squares(x) / 2), [x >= d["end"]])
>>> @nearest.formulation("dual")
... def dual(d):
...     a = cp.Variable(name="a")
...     return cp.Problem(cp.Maximize(d["end"] * a - cp.sum_squares(a) / 2), [a >= 0])
>>> print(optimum(nearest({"end": 3.0})))
9/2
"""

from typing import TYPE_CHECKING, Any

from equimargin.formulations import Family, FormulaValue, Kernel, ProgramProblem, Refusal, Source
from equimargin.formulations.kernels.registry import kernel
from equimargin.solvers import solver

if TYPE_CHECKING:
    from equimargin.proofs.program import optimum

__all__ = [
    "Family",
    "FormulaValue",
    "Kernel",
    "ProgramProblem",
    "Refusal",
    "Source",
    "kernel",
    "optimum",
    "solver",
]


def __getattr__(name: str) -> Any:
    """Import `optimum` at its first use: the command line loads plug-ins without it."""
    if name == "optimum":
        from equimargin.proofs.program import optimum

        return optimum
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
