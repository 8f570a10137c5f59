"""The whole regularisation path: every optimum along lambda = 1 / C."""

from equimargin.solvers.path.follow import regularization_path
from equimargin.solvers.path.linear.result import OneNormPath
from equimargin.solvers.path.result import RegularizationPath

AnyPath = RegularizationPath | OneNormPath
"""A path of either kind: of straight lines, or of constant pieces."""

__all__ = ["AnyPath", "OneNormPath", "RegularizationPath", "regularization_path"]
