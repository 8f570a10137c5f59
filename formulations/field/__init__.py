"""Problems of the field that no document prints, one file a loss."""

from equimargin.formulations.field import huberised_hinge  # enters its formulations

__all__ = ["huberised_hinge"]
