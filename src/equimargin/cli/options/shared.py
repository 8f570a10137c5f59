"""Options of several commands: data, files for results, and plug-ins."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from equimargin.cli.output.errors import report_errors
from equimargin.cli.output.files import printed_apart

DATA, PROBLEM, OUTPUT = "Data", "Problem", "Output"
"""Help panels of `compare`, `shrink` and `path`, in addition to those of the request."""

DataArgument = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="Bundled name (see `list data`), file (svmlight/LETOR, CSV, TSV, any table as text, "
        "NPZ, Parquet; gz, bz2, xz), or - "
        "for standard input.",
    ),
]

ModelArgument = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        help="MPS, QPS or LP file, or a certificate of format 2 (.json), whose program is read; "
        "also with .gz.",
    ),
]


def seconds_option(help: str, panel: str | None = None) -> Any:
    """Return an option of a time limit in seconds, a positive number.

    Parameters
    ----------
    help : str
        Help text.
    panel : str, optional
        Panel of the help; None for "Options".
    """
    return typer.Option(
        metavar="SECONDS", help=help, callback=check_positive, rich_help_panel=panel
    )


def check_positive(option: typer.CallbackParam, number: float | None) -> float | None:
    """Return the number of an option, or None; refuse one that is not positive.

    Parameters
    ----------
    option : typer.CallbackParam
        Option.
    number : float or None
        Number.
    """
    from equimargin.formulations.numeric.arguments import positive

    with report_errors():
        return None if number is None else positive(number, option.opts[0])


def output_option(help: str, *names: str) -> Any:
    """Return an option of an output file, in the panel of these options.

    Parameters
    ----------
    help : str
        Help text.
    *names : str
        Names of the option; by default that of the parameter.
    """
    return typer.Option(*names, metavar="FILE", help=help, rich_help_panel=OUTPUT)


JSONOption = Annotated[
    Path | None,
    output_option("JSON file of all figures; - for standard output.", "--json", "--output"),
]
HTMLOption = Annotated[Path | None, output_option("HTML page; - for standard output.")]
CSVOption = Annotated[Path | None, output_option("CSV file of the answers; - for standard output.")]
MarkdownOption = Annotated[
    Path | None, output_option("Markdown file of the table; - for standard output.")
]
ProgramCertificateOption = Annotated[
    Path | None, output_option("Certificate in rational numbers, for `verify`.")
]


def load_plugins(names: list[str] | None) -> list[str] | None:
    """Load the plug-ins of installed packages, then those that are named.

    Parameters
    ----------
    names : list of str or None
        Modules or files; None for installed packages only.

    Returns
    -------
    list of str or None
        The names, for typer.
    """
    with report_errors(), printed_apart():
        from equimargin.own.plugins import load, load_installed

        for sentence in load_installed():
            typer.echo(f"equimargin: {sentence}", err=True)
        for name in names or []:
            load(name)
    return names


PluginOption = Annotated[
    list[str] | None,
    typer.Option(
        "--plugin",
        metavar="MODULE",
        callback=load_plugins,
        is_eager=True,
        help="Module, or file ending in .py, that registers families, kernels and solvers; may "
        "be given again.",
    ),
]
