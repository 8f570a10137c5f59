"""Kernels k(x, z), their Gram matrices as operators, and explicit features."""
