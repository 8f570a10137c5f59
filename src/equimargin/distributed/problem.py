"""Problems with partitioned points, from Dask arrays or lists, and their solution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from equimargin.distributed.blocks import split_blocks
from equimargin.distributed.on_dask import OnDask, is_lazy
from equimargin.formulations.numeric.arguments import check_choice, check_number
from equimargin.formulations.partitions.labelled import LabelledPartition
from equimargin.formulations.partitions.ranked import RankedPartition
from equimargin.formulations.partitions.whole import GlobalStats, merge_stats
from equimargin.formulations.problem.choices import LOSSES
from equimargin.solvers.partitioned import (
    LocalExecutor,
    PartitionedSolution,
    PartitionSums,
    solve_partitions,
)
from equimargin.solvers.solution import checked

Loss = Literal["hinge", "squared_hinge"]


@dataclass(frozen=True, eq=False)
class PartitionedProblem:
    """Problem of a linear f with partitioned points.

    Parameters
    ----------
    sums : PartitionSums
        Sums over the partitions.
    whole : GlobalStats
        Statistics of all partitions.
    """

    sums: PartitionSums
    whole: GlobalStats

    def __repr__(self) -> str:
        """Return the size of the problem, on one line."""
        whole = self.whole
        kind = f"ranking, {whole.rows:,} pairs of" if whole.ranks else "classification,"
        return (
            f"<PartitionedProblem: {kind} {whole.points:,} points, {whole.columns} features; "
            f"{whole.loss}, C={whole.C:g}>"
        )


def classification(
    X: Any, y: Any, C: float = 1.0, loss: Loss = "hinge", bias: bool = True, *, client: Any = None
) -> PartitionedProblem:
    """Return the support vector machine of a linear f on partitioned points.

        min over (w, b)   1/2 |w|^2 + C sum_i loss(1 - y_i (w.x_i + b))

    Parameters
    ----------
    X : array-like of shape (n, d)
        Dask array; or a list of partitions, each (n_k, d): arrays, or Dask's Delayed
        objects or futures of arrays.
    y : array-like of shape (n,)
        Labels -1 and 1, in the form of X.
    C : float
        Cost per unit of loss, positive and finite.
    loss : {"hinge", "squared_hinge"}
        Loss.
    bias : bool
        True for a free intercept b.
    client : distributed.Client or None
        Client of the Dask cluster; None is the current one. Lists of arrays stay in
        this process and need none.

    Returns
    -------
    PartitionedProblem
        Problem, with validated partitions.

    Raises
    ------
    ValueError
        If numbers are not finite, labels differ from -1 and 1, or shapes do not fit:
        the message names the partition. Also if there is no Dask client.
    ImportError
        If Dask is not installed, and X is not a list of arrays.

    References
    ----------
    Document T (Yu and Kim), soft margin, with explicit features; C. Cortes, V. Vapnik,
    Support-vector networks, Machine Learning 20 (1995).
    """
    columns = split_blocks(X=X, y=y)
    return _problem(
        LabelledPartition, [(*block, bool(bias)) for block in columns], C, loss, bool(bias), client
    )


def ranking(
    X: Any, y: Any, qid: Any, C: float = 1.0, loss: Loss = "hinge", *, client: Any = None
) -> PartitionedProblem:
    """Return the ranking SVM of a linear f on partitioned queries.

        min over w   1/2 |w|^2 + C sum_q sum_{y_i > y_j, both of q} loss(1 - w.x_i + w.x_j)

    Parameters
    ----------
    X : array-like of shape (n, d)
        See `classification`.
    y : array-like of shape (n,)
        Relevances, higher is better.
    qid : array-like of shape (n,)
        Query of every point. All rows of a query must be in one partition; Dask arrays
        with consecutive rows of each query are rechunked to this end.
    C : float
        Cost per unit of loss of a pair, positive and finite.
    loss, client
        See `classification`.

    Returns
    -------
    PartitionedProblem
        Problem, with validated partitions.

    Raises
    ------
    ValueError, ImportError
        See `classification`; a ValueError also if a query is in two partitions.

    References
    ----------
    T. Joachims, Optimizing search engines using clickthrough data, KDD (2002).
    """
    return _problem(RankedPartition, split_blocks(X=X, y=y, qid=qid), C, loss, False, client)


def solve(
    problem: PartitionedProblem,
    tol: float = 1e-6,
    max_iter: int | None = None,
    time_limit: float | None = None,
) -> PartitionedSolution:
    """Solve a problem by Newton's method on the sums over all partitions.

    The hinge is smoothed at its kink, less and less.

    Parameters
    ----------
    problem : PartitionedProblem
        Problem of `classification` or `ranking`.
    tol : float
        Proven relative width (U - L) / max(|U|, |L|, 1e-4 P(0)) to reach, with P(0) the
        objective at f = 0.
    max_iter : int or None
        Maximum number of Newton steps; None is 500.
    time_limit : float or None
        Wall time in seconds, checked between two steps; None is unlimited.

    Returns
    -------
    PartitionedSolution
        Solution, equal bit for bit however the points are partitioned. Crashed workers
        cost time only, as long as others remain or join; if the cluster itself is gone,
        it is the best point so far, with the reason.

    Raises
    ------
    ValueError
        If a limit is not a positive number.
    Lost
        If the cluster is gone before a point was found.
    """
    return solve_partitions(problem.sums, problem.whole, checked(tol, max_iter, time_limit))


def _problem(
    kind: type[Any], blocks: list[tuple[Any, ...]], C: float, loss: Loss, bias: bool, client: Any
) -> PartitionedProblem:
    cost = check_number(
        C,
        "C",
        "a positive finite number where points lie in partitions",
        lambda c: 0 < c < float("inf"),
    )
    check_choice(loss, "loss", LOSSES)
    if any(is_lazy(part) for block in blocks for part in block):
        sums: PartitionSums = OnDask.of(kind, blocks, client)
    else:
        sums = LocalExecutor([kind(number, *block) for number, block in enumerate(blocks)])
    return PartitionedProblem(
        sums, merge_stats(sums.each("facts"), cost, loss, bias, kind is RankedPartition)
    )
