"""One-sided derivatives of an exact optimum in its problem's parameters, in rationals."""

from equimargin.solvers.exact.sensitivity.derivatives import (
    ExactSensitivity,
    OneSidedDerivatives,
    exact_sensitivity,
)
from equimargin.solvers.exact.sensitivity.parameters import Cost, Feature, Parameter, Target, Weight

__all__ = [
    "Cost",
    "ExactSensitivity",
    "Feature",
    "OneSidedDerivatives",
    "Parameter",
    "Target",
    "Weight",
    "exact_sensitivity",
]
