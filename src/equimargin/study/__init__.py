"""Studies: data sets, kernels, costs, formulations and solvers, in one SQLite file."""

from equimargin.study.results import Study

__all__ = ["Study"]
