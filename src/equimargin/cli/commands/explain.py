"""Command `explain`: whether a model is infeasible or unbounded, and by which constraints."""

from __future__ import annotations

from typing import Annotated

import typer

from equimargin.cli.options.shared import (
    JSONOption,
    ModelArgument,
    ProgramCertificateOption,
    seconds_option,
)
from equimargin.cli.output.errors import exit_with, report_errors
from equimargin.cli.output.files import check_writable, writing
from equimargin.cli.output.screen import fitted
from equimargin.cli.output.waiting import WaitingBar

STATUS = {"feasible and bounded": 0, "infeasible": 1, "unbounded": 1, "undecided": 4}
"""Exit status of every verdict."""


def explain(  # prose-ok: param-section
    model: ModelArgument,
    time_limit: Annotated[float, seconds_option("Time limit.")] = 60.0,
    json: JSONOption = None,
    certificate: ProgramCertificateOption = None,
) -> None:
    """Name the constraints that make a model infeasible.

    MODEL is a linear or convex quadratic program. If no point is feasible, the
    constraints are named that contradict each other, with their lines, and for each a
    point that satisfies all others of them. If the objective is unbounded, a feasible
    point and a direction are given. Everything is proven in rational numbers. Integer
    variables are refused.

    Exit status: 0 the model is feasible and bounded; 1 it is infeasible or unbounded; 2
    bad usage or input; 4 undecided.
    """
    with report_errors(), writing(json, certificate) as write:
        from json import dumps

        from equimargin.explanation import explain as explain_program

        check_writable(json, certificate)
        with WaitingBar("seeking a proof"):
            found = explain_program(model, seconds=time_limit)
        typer.echo(fitted(found.text))
        if json is not None:
            write(json, dumps(found.record(), indent=2))
        if certificate is not None:
            write(certificate, dumps(found.certificate(), separators=(",", ":")))
    exit_with(STATUS[found.verdict])
