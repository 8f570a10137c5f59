"""Test set of qpbenchmark whose optima are known as fractions.

qpbenchmark examples/test_set/exact_optima.py run
"""

from benchmark_utils import names, read
from qpbenchmark import Problem, TestSet


class ExactOptima(TestSet):
    """Quadratic and linear programs with certificates of their exact optima."""

    description = (
        "Convex quadratic and linear programs in doubles. `instances/NAME.json` has the optimum of "
        "each as a fraction, with a certificate that `equimargin verify` checks."
    )
    sparse_only = False
    title = "Exact optima"

    def __iter__(self):
        """Yield the problems by name."""
        for name in names():
            p = read(name)
            G, h = (p.G.toarray(), p.h) if len(p.h) else (None, None)
            A, b = (p.A.toarray(), p.b) if len(p.b) else (None, None)
            yield Problem(p.P.toarray(), p.q, G, h, A, b, None, None, name)

    def optimum(self, name):
        """Return the exact optimal value of a problem, without its constant, a Fraction."""
        instance = read(name)
        return instance.optimum - instance.c
