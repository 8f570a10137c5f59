"""Kernels k(x, z), their Gram matrices as operators, and explicit features."""

from equimargin.formulations.kernels.chi2 import chi2
from equimargin.formulations.kernels.exponential import exponential
from equimargin.formulations.kernels.gram import Gram
from equimargin.formulations.kernels.kernel import (
    Kernel,
    linear,
    polynomial,
    precomputed,
    rbf,
    sigmoid,
)
from equimargin.formulations.kernels.laplacian import laplacian
from equimargin.formulations.numeric.arrays import Array

__all__ = [
    "Array",
    "Gram",
    "Kernel",
    "chi2",
    "exponential",
    "laplacian",
    "linear",
    "polynomial",
    "precomputed",
    "rbf",
    "sigmoid",
]
