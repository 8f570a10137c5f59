"""The command `shrink`: a disagreement, a failure or a slow answer on the smallest instance that still shows it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equimargin.cli.compare import names_control
from equimargin.cli.options import DATA, OUTPUT, STDOUT, PluginOption, check_writable, exit_with, printed_apart, report_errors, writing
from equimargin.cli.posing import ProblemFields, brought, posed
from equimargin.cli.reading import ReadFields
from equimargin.cli.requests import Behind, Without, with_requests
from equimargin.request import ANSWERS, LIMITS, ComparisonRequest

if TYPE_CHECKING:
    from equimargin.formulations.problem import AnyProblem
    from equimargin.proofs import FamilyVerdict
    from equimargin.shrink import ComparisonSpec, Finding, Shrunk

EXAMPLES = 50
"""Instances of a seed that are looked through for a finding, unless somebody says it."""


@with_requests
def shrink(
    context: typer.Context,
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE|SEED",
            help="Data as `compare` takes them, the JSON file of a failing case, or a seed from which instances of a family are drawn.",
        ),
    ],
    *,
    reading: ReadFields,
    examples: Annotated[int, typer.Option(metavar="N", min=1, help="Instances to draw from SEED.", rich_help_panel=DATA)] = EXAMPLES,
    posing: Annotated[ProblemFields, Without(("levels", "delta"))],
    request: Annotated[ComparisonRequest, Without(("patient", "jobs", "include_controls"))],
    slow: Annotated[
        float | None,
        typer.Option(metavar="RATIO", help="Also find answers that take so many times as long as the fastest.", rich_help_panel=ANSWERS),
        Behind("solvers"),
    ] = None,
    total_time: Annotated[float, typer.Option(metavar="SECONDS", help="Time for the search.", rich_help_panel=LIMITS)] = 60.0,
    json: Annotated[
        Path,
        typer.Option("--json", "--output", metavar="FILE", help="File of the failing case; - for output.", rich_help_panel=OUTPUT),
    ] = Path("finding.json"),
    plugin: PluginOption = None,
) -> None:
    """Reduce a disagreement to its smallest instance.

    A disagreement, a failure or a slow answer of a comparison is reduced to the fewest rows, columns and digits that still show it. The
    gravest is taken, and printed as lines of Python that show it; --formulation and --solver choose another. A formulation that is wrong
    on purpose is taken where it is named.

    Exit status: 0 nothing disagrees, fails or is slow; 1 a case was reduced; 2 bad usage or input.
    """
    with report_errors(), writing(json) as write:
        from equimargin.shrink import Shrunk
        from equimargin.shrink.record import again, is_finding

        check_writable(json)
        if is_finding(source):
            known = Shrunk.read(source)
            with printed_apart():
                found: tuple[Shrunk, str] | None = again(known, total_time)
        else:
            if source.isdecimal() and not Path(source).exists():
                problems: Iterable[AnyProblem] = _drawn(int(source), posing.family, examples)
            else:
                asked_for = brought(context, source, posing.family, None) or posed(source, reading, posing)
                problems = asked_for.problems
            wanted = _Wanted(_patterns(request.formulations), _patterns(request.solvers), slow)
            asked = _asked(request, wanted)
            plugins = tuple(str(Path(name).resolve()) if name.endswith(".py") else name for name in plugin or [])
            with printed_apart():
                found = _first(problems, wanted, asked, total_time, plugins)
        if found is None:
            typer.echo("There is no finding: no answer disagrees, fails or is slow.")
            exit_with(0)
        small, said = found
        typer.echo(f"{small.finding}: {said}\n\n{small.python}")
        write(json, small.to_json())
        if json != STDOUT:
            typer.echo(f"stored in {json}")
    exit_with(1)


def _patterns(chosen: Any) -> list[str] | None:
    """Return the patterns that options name; None where all are meant because none is named."""
    return None if isinstance(chosen, str) else [*chosen]


def _asked(request: ComparisonRequest, wanted: _Wanted) -> ComparisonSpec:
    """Return what is compared to see a finding: beside the solvers that are named those whose proofs an answer is judged by."""
    from equimargin.comparison.choice import ACCURATE
    from equimargin.shrink import ComparisonSpec
    from equimargin.solvers import SOLVERS

    formulations = tuple(wanted.formulation or ["*"])
    solvers = (*wanted.solver, ACCURATE, *SOLVERS) if wanted.solver else ("*",)
    limits = request.tol, request.agree_tol, request.time_limit
    return ComparisonSpec(formulations, solvers, *limits, names_control(formulations), patient=wanted.slow is not None)


@dataclass(frozen=True)
class _Wanted:
    """Which findings are wanted: patterns of formulations and solvers, None for all, and from which ratio on an answer is slow."""

    formulation: list[str] | None
    solver: list[str] | None
    slow: float | None

    def of(self, found: Iterable[Finding]) -> Finding | None:
        """The first of some findings that is wanted."""
        return next((each for each in found if _fits(each.formulation, self.formulation) and _fits(each.solver, self.solver)), None)


def _fits(name: str | None, patterns: list[str] | None) -> bool:
    """Whether a name fits one of some patterns, or there are none."""
    return patterns is None or (name is not None and any(fnmatchcase(name.lower(), pattern.lower()) for pattern in patterns))


def _first(
    problems: Iterable[AnyProblem], wanted: _Wanted, asked: ComparisonSpec, seconds: float, plugins: tuple[str, ...]
) -> tuple[Shrunk, str] | None:
    """The first wanted finding on some problems, made small, and a sentence about the search; None where there is none."""
    from equimargin.formulations import REGISTRY
    from equimargin.shrink.finding import KINDS, findings
    from equimargin.shrink.record import made_small

    gravest: tuple[AnyProblem, FamilyVerdict, Finding] | None = None
    for problem in problems:
        ids = [entry.id for entry in REGISTRY.values() if entry.family == problem.family]
        if not any(_fits(id, wanted.formulation) for id in ids):
            continue
        family = asked.compared(problem)
        finding = wanted.of(findings(family, wanted.slow))
        if finding is not None and (gravest is None or KINDS.index(finding.kind) < KINDS.index(gravest[2].kind)):
            gravest = problem, family, finding
        if gravest is not None and gravest[2].kind == KINDS[0]:
            break
    return None if gravest is None else made_small(*gravest, asked, seconds, plugins)


def _drawn(seed: int, patterns: list[str] | None, examples: int) -> Iterator[AnyProblem]:
    """The instances of a family that a seed draws: those of `make nightly`, or of a user-defined family.

    Raises
    ------
    ValueError : no family is named, or one that has no instances to be drawn.
    """
    from equimargin.own.data import chosen_families, names_of_families
    from equimargin.own.instances import drawn
    from equimargin.testing import CANONICAL, drawn_problem

    ids = [id for id in CANONICAL if patterns and _fits(id, patterns)]
    brought_ones = chosen_families(patterns or [])
    if not (ids or brought_ones):
        known = f"{', '.join(CANONICAL)}, {names_of_families()}"
        raise ValueError(f"a seed draws instances of a family: name one of {known} (--family ID)")
    for number in range(examples):
        yield from (drawn_problem(id, seed, number) for id in ids)
        yield from (family(drawn(family, seed + number)) for family in brought_ones)
