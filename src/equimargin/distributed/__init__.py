"""Linear problems with partitioned points, on a Dask cluster or in this process.

    from equimargin.distributed import classification, solve

    solution = solve(classification(X, y, C=1e-5), tol=1e-6)      # Dask arrays or lists

Dask partitions need the extra `cluster`.
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
