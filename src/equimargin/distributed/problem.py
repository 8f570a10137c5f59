"""Problems whose points lie in partitions, from Dask arrays or from lists of partitions, and their solution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from equimargin.distributed.blocks import split_blocks
from equimargin.distributed.on_dask import OnDask, is_lazy
from equimargin.formulations.numeric.arguments import check_choice, check_number
from equimargin.formulations.partitions.labelled import LabelledPartition
from equimargin.formulations.partitions.ranked import RankedPartition
from equimargin.formulations.partitions.whole import GlobalStats, merge_stats
from equimargin.solvers.partitioned import (
    LocalExecutor,
    PartitionedSolution,
    PartitionSums,
    solve_partitions,
)
from equimargin.solvers.solution import checked

Loss = Literal["hinge", "squared_hinge"]
LOSSES: tuple[Loss, ...] = ("hinge", "squared_hinge")


@dataclass(frozen=True, eq=False)
class PartitionedProblem:
    """A problem of a linear f whose points lie in partitions.

    Parameters
    ----------
    sums : PartitionSums
        Who asks the partitions.
    whole : GlobalStats
        What they agree on.
    """

    sums: PartitionSums
    whole: GlobalStats

    def __repr__(self) -> str:
        """One line: the size of the problem."""
        whole = self.whole
        kind = f"ranking, {whole.rows:,} pairs of" if whole.ranks else "classification,"
        return (
            f"<PartitionedProblem: {kind} {whole.points:,} points, {whole.columns} features; "
            f"{whole.loss}, C={whole.C:g}>"
        )


def classification(
    X: Any, y: Any, C: float = 1.0, loss: Loss = "hinge", bias: bool = True, *, client: Any = None
) -> PartitionedProblem:
    """A support vector machine of a linear f, whose points lie in partitions.

        min over (w, b)   1/2 |w|^2 + C sum_i loss(1 - y_i (w.x_i + b))

    Parameters
    ----------
    X : array-like of shape (n, d)
        Dask array; or a list of partitions, each (n_k, d): arrays, or Dask's Delayed
        objects or futures of arrays.
    y : array-like of shape (n,)
        Labels -1 and 1, in the same form.
    C : float
        Positive, finite cost of a point.
    loss : Loss
        "hinge" or "squared_hinge".
    bias : bool
        Whether there is a free b.
    client : Any
        Of the Dask cluster; None is the current one. Lists of arrays stay in this
        process and need none.

    Returns
    -------
    PartitionedProblem
        The partitions are read and checked.

    Raises
    ------
    ValueError
        Numbers that are not finite, other labels, shapes that do not fit: the message
        names the partition. No Dask client.
    ImportError
        Dask is not installed, and X is not a list of arrays.

    Source: document V's soft margin with explicit features; C. Cortes, V. Vapnik, Support-vector networks, Machine Learning 20 (1995).
    """
    columns = split_blocks(X=X, y=y)
    return _problem(
        LabelledPartition, [(*block, bool(bias)) for block in columns], C, loss, bool(bias), client
    )


def ranking(
    X: Any, y: Any, qid: Any, C: float = 1.0, loss: Loss = "hinge", *, client: Any = None
) -> PartitionedProblem:
    """A ranking SVM of a linear f, whose queries lie in partitions.

        min over w   1/2 |w|^2 + C sum_q sum_{y_i > y_j, both of q} loss(1 - w.x_i + w.x_j)

    Parameters
    ----------
    X : Any
        As in `classification`.
    y : array-like of shape (n,)
        Relevances, higher is better.
    qid : array-like of shape (n,)
        The query of every point. All rows of a query lie in one partition. Of Dask
        arrays in which the rows of each query follow each other, chunks are cut anew so
        that they do.
    C : float
        Positive, finite cost of a pair.
    loss, client
        As in `classification`.

    Returns
    -------
    PartitionedProblem
        The partitions are read and checked.

    Raises
    ------
    As in `classification`; ValueError : a query that lies in two partitions.

    Source: T. Joachims, Optimizing search engines using clickthrough data, KDD (2002).
    """
    return _problem(RankedPartition, split_blocks(X=X, y=y, qid=qid), C, loss, False, client)


def solve(
    problem: PartitionedProblem,
    tol: float = 1e-6,
    max_iter: int | None = None,
    time_limit: float | None = None,
) -> PartitionedSolution:
    """Newton's method on the sums over all partitions; the hinge's kink is smoothed less and less.

    Parameters
    ----------
    problem : PartitionedProblem
        Of `classification` or `ranking`.
    tol : float
        The proven relative width (U - L) / max(|U|, |L|, 1e-4 P(0)) that is enough.
    max_iter : int | None
        The most Newton steps; None is 500.
    time_limit : float | None
        Seconds of wall time, looked at between two steps; None is no limit.

    Returns
    -------
    PartitionedSolution : its bits depend on the points alone, not on their partitions. Workers that die cost time only, as long as
        others remain or come; where the cluster itself is gone, it is the best point so far, with that reason.

    Raises
    ------
    ValueError
        Limits that are no positive numbers.
    Lost
        The cluster is gone before anything was found.
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
    chosen = check_choice(loss, "loss", LOSSES)
    if any(is_lazy(part) for block in blocks for part in block):
        sums: PartitionSums = OnDask.of(kind, blocks, client)
    else:
        sums = LocalExecutor([kind(number, *block) for number, block in enumerate(blocks)])
    return PartitionedProblem(
        sums, merge_stats(sums.each("facts"), cost, chosen, bias, kind is RankedPartition)
    )
