"""The statements, by their subject: importing this package enters them all."""

from equimargin.proofs.claims.statements import (
    around_paths,
    hard_margins,
    kernels,
    measures,
    one_norms,
    ordinals,
    paths,
    rankings,
    regressions,
    soft_margins,
)

__all__ = [
    "around_paths",
    "hard_margins",
    "kernels",
    "measures",
    "one_norms",
    "ordinals",
    "paths",
    "rankings",
    "regressions",
    "soft_margins",
]
