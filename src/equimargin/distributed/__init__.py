"""Linear problems whose points do not fit one machine: partitions on the workers of a Dask cluster, or in this process.

    from equimargin.distributed import classification, solve

    solution = solve(classification(X, y, C=1e-5), tol=1e-6)      # X, y : Dask arrays, or lists of partitions

Needs the extra `cluster` where the partitions are Dask's.
"""

from equimargin.distributed.problem import PartitionedProblem, classification, ranking, solve
from equimargin.solvers.partitioned import Lost, PartitionedSolution

__all__ = [
    "Lost",
    "PartitionedProblem",
    "PartitionedSolution",
    "classification",
    "ranking",
    "solve",
]
