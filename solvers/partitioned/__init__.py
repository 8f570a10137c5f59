"""Newton's method for a linear f whose points lie in partitions, local or distributed."""

from equimargin.solvers.partitioned.newton import solve_partitions
from equimargin.solvers.partitioned.solution import PartitionedSolution
from equimargin.solvers.partitioned.sums import LocalExecutor, Lost, PartitionSums

__all__ = ["LocalExecutor", "Lost", "PartitionSums", "PartitionedSolution", "solve_partitions"]
