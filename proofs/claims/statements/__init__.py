"""The statements, by their subject: importing this package enters them all."""

from equimargin.proofs.claims.statements import (
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

__all__ = ["hard_margins", "kernels", "measures", "one_norms", "ordinals", "paths", "rankings", "regressions", "soft_margins"]
