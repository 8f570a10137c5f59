"""The whole regularisation path: every optimum along lambda = 1 / C."""

from equimargin.solvers.path.follow import regularization_path
from equimargin.solvers.path.linear.result import OneNormPath
from equimargin.solvers.path.result import RegularizationPath

AnyPath = RegularizationPath | OneNormPath
"""Path of either kind: piecewise linear, or piecewise constant."""

__all__ = ["AnyPath", "OneNormPath", "RegularizationPath", "regularization_path"]
