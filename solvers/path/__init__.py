"""The whole regularisation path: every optimum along lambda = 1 / C."""

from equimargin.solvers.path.follow import regularization_path
from equimargin.solvers.path.result import RegularizationPath

__all__ = ["RegularizationPath", "regularization_path"]
