"""Studies: a whole experiment of data sets, kernels, costs, formulations and solvers, kept answer by answer in one SQLite file."""

from equimargin.study.results import Study

__all__ = ["Study"]
