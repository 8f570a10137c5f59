"""Command `shrink`: reduction of a disagreement, failure or slow answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equimargin.cli.commands.compare import names_control
from equimargin.cli.options.families import brought
from equimargin.cli.options.posing import ProblemFields, posed
from equimargin.cli.options.reading import ReadFields
from equimargin.cli.options.requests import Without, with_requests
from equimargin.cli.options.shared import DATA, PluginOption, output_option, seconds_option
from equimargin.cli.output.errors import exit_with, report_errors
from equimargin.cli.output.files import STDOUT, check_writable, printed_apart, writing
from equimargin.cli.output.waiting import WaitingBar
from equimargin.request import ANSWERS, LIMITS, ComparisonRequest

if TYPE_CHECKING:
    from equimargin.formulations.problem import AnyProblem
    from equimargin.proofs import FamilyVerdict
    from equimargin.shrink import Finding, Shrunk

EXAMPLES = 50
"""Default number of instances of a seed that are searched for a failing case."""


@with_requests
def shrink(  # prose-ok: param-section
    context: typer.Context,
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE|SEED",
            help="Data as in `compare`, the JSON file of a failing case, or a seed of sampled "
            "instances of a family.",
        ),
    ],
    *,
    reading: ReadFields,
    examples: Annotated[
        int,
        typer.Option(metavar="N", min=1, help="Instances sampled by SEED.", rich_help_panel=DATA),
    ] = EXAMPLES,
    posing: Annotated[ProblemFields, Without(("levels", "delta"))],
    request: Annotated[
        ComparisonRequest, Without(("patient", "jobs", "include_controls", "device"))
    ],
    slow: Annotated[
        float | None,
        typer.Option(
            metavar="RATIO",
            help="Also find answers slower than the fastest by this factor.",
            rich_help_panel=ANSWERS,
        ),
    ] = None,
    total_time: Annotated[float, seconds_option("Time limit of the search.", LIMITS)] = 60.0,
    json: Annotated[
        Path,
        output_option("File of the failing case; - for standard output.", "--json", "--output"),
    ] = Path("finding.json"),
    plugin: PluginOption = None,
) -> None:
    """Reduce a disagreement to its smallest instance.

    A disagreement, a failure or a slow answer of a comparison is reduced to the fewest
    rows, columns and digits that still show it. The gravest case is reduced, and
    printed as lines of Python that show it; --formulation and --solver choose another.
    A formulation that is wrong on purpose is examined only if it is named.

    Exit status: 0 nothing disagrees, fails or is slow; 1 a case was reduced; 2 bad
    usage or input.
    """
    with report_errors(), writing(json) as write:
        from equimargin.shrink import Shrunk
        from equimargin.shrink.record import again, is_finding

        check_writable(json)
        if is_finding(source):
            known = Shrunk.read(source)
            with printed_apart(), WaitingBar("reducing the case"):
                reduced: tuple[Shrunk, str] | None = again(known, total_time)
        else:
            # A number is a seed unless a file has that name.
            if source.isdecimal() and not Path(source).exists():
                problems: Iterable[AnyProblem] = _drawn(int(source), posing.family or [], examples)
            else:
                asked_for = brought(context, source, reading, posing, None) or posed(
                    source, reading, posing
                )
                problems = asked_for.problems
            plugins = tuple(
                str(Path(name).resolve()) if name.endswith(".py") else name for name in plugin or []
            )
            with printed_apart(), WaitingBar("searching for a case, and reducing it"):
                reduced = _first(problems, request, slow, total_time, plugins)
        if reduced is None:
            typer.echo("There is no failing case: no answer disagrees, fails or is slow.")
            exit_with(0)
        small, summary = reduced
        typer.echo(f"{small.finding}: {summary}\n\n{small.python}")
        write(json, small.to_json())
        if json != STDOUT:
            typer.echo(f"stored in {json}")
    exit_with(1)


def _asked(request: ComparisonRequest, slow: bool) -> ComparisonRequest:
    """Return the request of the comparison that detects a failing case.

    Solvers that are not named are added: their proofs decide on the answers of others.
    """
    from equimargin.comparison.choice import ACCURATE
    from equimargin.solvers import SOLVERS

    solvers = request.wanted if request.wanted == ["*"] else [*request.wanted, ACCURATE, *SOLVERS]
    controls = names_control(request.formulations)
    # The total time limits the search, not one comparison.
    return replace(
        request, solvers=solvers, include_controls=controls, patient=slow, total_time=None
    )


def _first(
    problems: Iterable[AnyProblem],
    request: ComparisonRequest,
    slow: float | None,
    seconds: float,
    plugins: tuple[str, ...],
) -> tuple[Shrunk, str] | None:
    """Return the gravest requested failing case, reduced, and a sentence on the search."""
    from equimargin.formulations import REGISTRY
    from equimargin.formulations.numeric.arguments import matches_any
    from equimargin.shrink.finding import KINDS, compared, findings
    from equimargin.shrink.record import made_small

    asked = _asked(request, slow is not None)
    solvers = list(map(str, request.wanted))  # the command line has names only
    # A disagreement is the gravest kind: the first one ends the loop.
    gravest: tuple[AnyProblem, FamilyVerdict, Finding] | None = None
    for problem in problems:
        ids = [entry.id for entry in REGISTRY.values() if entry.family == problem.family]
        if not any(matches_any(id, request.formulations) for id in ids):
            continue
        family = compared(problem, asked)
        wanted = (
            candidate
            for candidate in findings(family, slow)
            if matches_any(candidate.formulation or "", request.formulations)
            and matches_any(candidate.solver or "", solvers)
        )
        finding = next(wanted, None)
        if finding is not None and (
            gravest is None or KINDS.index(finding.kind) < KINDS.index(gravest[2].kind)
        ):
            gravest = problem, family, finding
        if gravest is not None and gravest[2].kind == KINDS[0]:
            break
    return None if gravest is None else made_small(*gravest, asked, seconds, plugins)


def _drawn(seed: int, patterns: list[str], examples: int) -> Iterator[AnyProblem]:
    """Yield the instances of a family that `make nightly` or a plug-in samples for a seed.

    Raises
    ------
    ValueError
        If no family with samples is named.
    """
    from equimargin.formulations.numeric.arguments import matches_any
    from equimargin.own.data import list_family_names, match_families
    from equimargin.own.instances import drawn
    from equimargin.testing import CANONICAL, draw_problem

    ids = [id for id in CANONICAL if matches_any(id, patterns)]
    brought_ones = match_families(patterns)
    if not (ids or brought_ones):
        known = f"{', '.join(CANONICAL)}, {list_family_names()}"
        raise ValueError(f"a seed samples instances of a family; name one of {known} (--family ID)")
    for number in range(examples):
        yield from (draw_problem(id, seed, number) for id in ids)
        yield from (family(drawn(family, seed + number)) for family in brought_ones)
