"""Option `--grid` of command `path`: C and gamma of the squared hinge by validation."""

from __future__ import annotations

import json as js
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import typer

from equimargin import __version__
from equimargin.cli.options.posing import ProblemFields, make_kernel

if TYPE_CHECKING:
    from equimargin.data import Data
    from equimargin.formulations import Kernel
    from equimargin.selection.costs import CostGrid
    from equimargin.selection.grids import Task

OF_A_PATH = (
    *("family", "bias", "per_query", "lambda_min", "max_events"),
    *("plot", "save", "certify", "certify_gap", "html"),
)
"""Options of the command that a grid of costs does not have."""


def check_grid(context: typer.Context, wanted: bool, validate: str | None, rows: Data) -> None:
    """Refuse what a grid of costs does not have, if one is wanted.

    Parameters
    ----------
    context : typer.Context
        Context of the command.
    wanted : bool
        True if --grid is given.
    validate : str or None
        File of validation rows, or number of folds.
    rows : Data
        Training rows.

    Raises
    ------
    ValueError
        If there is nothing to validate on, an option of a path is given, or the rows
        have weights, preferences or more than two classes; or if --device is given and
        no grid is wanted.
    """

    def is_given(name: str) -> bool:
        source = context.get_parameter_source(name)
        return source is not None and source.name == "COMMANDLINE"

    if not wanted:
        if is_given("device"):
            raise ValueError(
                "--device is for --grid, and a path runs on the processor; add --grid, or leave "
                "it out"
            )
        return
    if validate is None:
        raise ValueError(
            "--grid chooses C and gamma on validation rows; add --validate FILE, or --validate N "
            "for folds of DATA"
        )
    for name in OF_A_PATH:
        if is_given(name):
            raise ValueError(
                f"--{name.replace('_', '-')} is for a path, and --grid solves the squared hinge "
                f"at costs of a grid; leave out one of the two"
            )
    if rows.weight is not None or rows.pairs is not None:
        raise ValueError("--grid supports neither weights nor preferences; leave them out")
    if rows.has_many_classes:
        raise ValueError(
            "--grid supports two classes, not more; leave it out, and --validate chooses one "
            "lambda for all pairs of classes"
        )


def score_grid(
    rows: Data,
    held_out: Data | None,
    folds: int | None,
    posing: ProblemFields,
    metric: str,
    seed: int,
    time_limit: float | None,
    device: str,
) -> CostGrid:
    """Score the costs and gammas of document K, section 4.3, on validation rows.

    Parameters
    ----------
    rows : Data
        Training rows.
    held_out : Data or None
        Validation rows of a file; None for folds.
    folds : int or None
        Number of folds; None for a file.
    posing : ProblemFields
        Options on the kernel; a given gamma is the only one.
    metric : str
        Name of the metric.
    seed : int
        Seed of the folds.
    time_limit : float or None
        Time limit in seconds of one problem.
    device : str
        "cpu", or the card of all problems.

    Returns
    -------
    CostGrid
        Score of every kernel and cost.
    """
    # Imported here, as in the functions below: the command line starts without numpy.
    import numpy as np

    from equimargin.formulations.kernels.registry import list_parameters
    from equimargin.selection.costs import GAMMAS, cost_grid

    gammas: list[Any] = (
        [*GAMMAS]
        if posing.gamma is None and "gamma" in list_parameters(posing.kernel)
        else [posing.gamma]
    )
    kernels: list[Kernel] = [make_kernel(replace(posing, gamma=gamma), rows) for gamma in gammas]
    task, parts = cast("Task", rows.task), (rows,) if held_out is None else (rows, held_out)
    X = parts[0].X if held_out is None else _stacked([part.X for part in parts])
    y = np.concatenate([part.y for part in parts])
    m = len(rows.y)
    chosen: Any = folds if held_out is None else [(np.arange(m), np.arange(m, len(y)))]
    return cost_grid(
        X,
        y,
        kernels,
        task=task,
        qid=_queries(parts),
        metric=metric,
        folds=chosen,
        epsilon=posing.epsilon,
        time_limit=time_limit,
        random_state=seed,
        device=device,
    )


def print_grid(table: CostGrid, validated_on: str) -> int:
    """Print the scores, the best cost and kernel and the largest gap; return the exit status.

    Parameters
    ----------
    table : CostGrid
        Scores.
    validated_on : str
        Name of the validation rows.

    Returns
    -------
    int
        0, or 1 if a gap is larger than the tolerance, as after a time limit.
    """
    from equimargin.formulations.numeric.decimals import format_upper
    from equimargin.selection.costs import GRID_TOL

    best, gap = table.best, max(row.within for row in table.rows)
    typer.echo(str(table))
    typer.echo(
        f"  best {table.metric} {best.score:.6g} on {validated_on}: at C = {best.C:.6g}, "
        f"{best.kernel!r}"
    )
    typer.echo(f"  relative gap at most {format_upper(gap, 2)} at all costs and kernels")
    return 0 if gap <= GRID_TOL else 1


def _stacked(parts: list[Any]) -> Any:
    """Return the rows of all parts."""
    import numpy as np
    from scipy import sparse

    from equimargin.formulations.numeric.arrays import is_sparse

    return sparse.vstack(parts, format="csr") if is_sparse(parts[0]) else np.vstack(parts)


def _queries(parts: tuple[Data, ...]) -> Any:
    """Return queries that no two parts share, or None of a single part without any."""
    if len(parts) == 1:
        return parts[0].qid
    import numpy as np

    numbers, first = [], 0
    for part in parts:
        own = (
            np.zeros(len(part.y), dtype=np.int64)
            if part.qid is None
            else np.unique(part.qid, return_inverse=True)[1]
        )
        numbers.append(first + own)
        first += int(own.max(initial=-1)) + 1
    return np.concatenate(numbers)


def grid_record(data: dict[str, Any], table: CostGrid, settings: dict[str, Any]) -> str:
    """Return the record of a grid of costs.

    Parameters
    ----------
    data : dict
        Record of the data.
    table : CostGrid
        Scores.
    settings : dict
        Settings of the command.
    """
    from equimargin.cli.options.posing import kernel_record
    from equimargin.report.records import SCHEMA_VERSION

    def record(row: Any) -> dict[str, Any]:
        score = None if math.isnan(row.score) else row.score
        return {"kernel": kernel_record(row.kernel), "C": row.C, "score": score, "gap": row.within}

    return js.dumps(
        {
            "schema": SCHEMA_VERSION,
            "command": "path --grid",
            "equimargin": __version__,
            "data": data,
            "settings": settings,
            "metric": table.metric,
            "best": record(table.best),
            "rows": [record(row) for row in table.rows],
        },
        indent=1,
        allow_nan=False,
    )
