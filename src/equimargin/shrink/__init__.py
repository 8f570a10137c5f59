"""Minimisation of findings: disagreements, failures and slow answers.

from equimargin.shrink import shrink
small, search = shrink(problem)
print(small.python)
"""

from equimargin.shrink.finding import Finding, findings
from equimargin.shrink.instance import Instance
from equimargin.shrink.record import Shrunk, shrink
from equimargin.shrink.reduction import Reduction, reduced

__all__ = ["Finding", "Instance", "Reduction", "Shrunk", "findings", "reduced", "shrink"]
