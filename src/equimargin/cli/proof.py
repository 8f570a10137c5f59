"""The commands `verify` and `audit`: they check certificates, and say how good models of other programs are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from equimargin.cli.options import (
    DecimalOption,
    DropOption,
    HeaderOption,
    MissingOption,
    NaOption,
    ScaleOption,
    SepOption,
    TargetOption,
    WeightOption,
    how_to_read,
    sentences,
)


def verify(files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Certificates.")]) -> None:
    """Check certificates, and print a line for each: ACCEPTED with the interval, or REJECTED with the first reason.

    Exit status: 0 all are accepted; 1 one is rejected; 2 a file cannot be read. `python3 -I proofs/checker.py FILE...` does the same.
    """
    from equimargin.proofs.checker import main as check

    raise typer.Exit(check(files))


def audit(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL", help="LIBSVM or LIBLINEAR model, or NPZ/JSON with scikit-learn's coefficients; the keys are listed below."
        ),
    ],
    data: Annotated[
        str, typer.Option(metavar="DATA", help="The data that the model was trained on, as it saw them: a bundled name or a file.")
    ],
    cost: Annotated[
        float | None, typer.Option("-C", metavar="COST", help="C of the model's problem, where the model does not say it.")
    ] = None,
    epsilon: Annotated[float | None, typer.Option(help="epsilon of the model's problem, where the model does not say it.")] = None,
    scale: ScaleOption = False,
    target: TargetOption = None,
    weight: WeightOption = None,
    drop: DropOption = None,
    header: HeaderOption = None,
    sep: SepOption = None,
    decimal: DecimalOption = ".",
    missing: MissingOption = None,
    na: NaOption = None,
    tol: Annotated[float, typer.Option(help="Relative accuracy asked of the solver that brackets the optimum.")] = 1e-9,
    time_limit: Annotated[float, typer.Option(metavar="SECONDS", help="Time limit of that solver.")] = 60.0,
) -> None:
    """Print a proven bound on how far a model of another program is from the optimum of the problem that it claims to solve.

    Exit status: 0 the interval is printed; 2 bad usage or input, or C missing or contradicted by the coefficients.

    Keys of NPZ and JSON: kind (SVC, SVR or LinearSVC) and intercept;

    of SVC and SVR kernel (linear, poly, rbf or precomputed), gamma (a number), degree, coef0, dual_coef (n,), support (n,), the rows of the
    data that these belong to, from 0, and perhaps support_vectors (n, d);

    of LinearSVC coef (d,), loss, fit_intercept, intercept_scaling; of all perhaps C, epsilon, class_weight.
    """
    with sentences():
        from equimargin.data import load
        from equimargin.proofs.audit import audit as examine
        from equimargin.proofs.foreign_models import read

        known = read(model)
        rows = load(data, task=known.claimed.task, **how_to_read(target, None, weight, drop, header, sep, decimal, missing, na))
        rows = rows.scaled() if scale else rows
        typer.echo(rows.describe())
        typer.echo(str(examine(known, rows.X, rows.y, cost, epsilon, rows.weight, tol=tol, time_limit=time_limit)))
