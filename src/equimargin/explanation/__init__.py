"""Explanation of a program: infeasible, unbounded, or feasible and bounded."""

from equimargin.explanation.explain import explain
from equimargin.explanation.explanation import Explanation, Member
from equimargin.explanation.scales import MagnitudeRange

__all__ = ["Explanation", "MagnitudeRange", "Member", "explain"]
