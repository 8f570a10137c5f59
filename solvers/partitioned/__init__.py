"""Newton's method for a linear f whose points lie in partitions, in this process or wherever somebody sums over them."""

from equimargin.solvers.partitioned.newton import solve_partitions
from equimargin.solvers.partitioned.solution import PartitionedSolution
from equimargin.solvers.partitioned.sums import Here, Lost, Sums

__all__ = ["Here", "Lost", "PartitionedSolution", "Sums", "solve_partitions"]
