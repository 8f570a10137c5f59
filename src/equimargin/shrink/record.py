"""Minimised finding: lines of Python that reproduce it, and a JSON file."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from equimargin.equivalence.reproduction import Code
from equimargin.formulations import REGISTRY
from equimargin.formulations.numeric.arguments import format_value
from equimargin.formulations.problem.base import AnyProblem
from equimargin.proofs import FamilyVerdict
from equimargin.request import ComparisonRequest
from equimargin.shrink.finding import Finding, compared, findings, narrowed, shows
from equimargin.shrink.instance import Instance
from equimargin.shrink.reduction import Reduction, reduced
from equimargin.solvers import SOLVERS
from equimargin.solvers.problem_file import whole

SECONDS = 60.0
"""Default time limit of a search, in seconds; most findings are minimised in ten."""
FORMAT = "equimargin finding 1"
"""Name of the file format."""
NOT_HELD = ("total_time", "jobs")
"""Fields of a request that a file omits, limits of the machine."""


@dataclass(frozen=True)
class Shrunk:
    """Finding on a small instance.

    Parameters
    ----------
    finding : Finding or str
        Fault; a sentence if a program other than `compare` found it.
    asked : ComparisonRequest
        Comparison that reproduces it.
    instance : Instance
        Instance that shows it.
    plugins : tuple of str
        Modules or files that are loaded first.
    of : str
        Size of the original instance, as text.
    shown : tuple of str
        Lines of Python that reproduce it on `problem`, if no comparison does.
    """

    finding: Finding | str
    asked: ComparisonRequest
    instance: Instance
    plugins: tuple[str, ...] = ()
    of: str = ""
    shown: tuple[str, ...] = ()

    @property
    def python(self) -> str:
        """Lines of Python that reproduce the finding."""
        code = Code()
        problem = f"problem = {self.instance.expression(code)}"
        if self.plugins:
            code.name("equimargin.own.plugins", "load")
        shown = self.shown or [
            f"print({code.name('equimargin', 'compare')}(problem, {self._how()}))"
        ]
        comments = [f"# {line}" for line in str(self.finding).splitlines()]
        imports = [*(f"import {module}" for module in self._modules()), *code.lines()]
        loads = [f"load({plugin!r})" for plugin in self.plugins]
        return "\n".join([*comments, *imports, *loads, problem, *shown]) + "\n"

    def _how(self) -> str:
        """Return the arguments of `compare` that differ from their defaults."""
        usual = vars(ComparisonRequest())
        changed = {
            name: value
            for name, value in vars(replace(self.asked, patient=True)).items()
            if value != usual[name]
        }
        return ", ".join(
            f"{name}={[*value] if isinstance(value, tuple) else value!r}"
            for name, value in changed.items()
        )

    def _modules(self) -> list[str]:
        """Return the modules that register the compared entries and the instance's family.

        Modules of equimargin are excluded, except that of the instance.
        """
        entries = [REGISTRY[name].module for name in self.asked.formulations if name in REGISTRY]
        entries += [solver.module for name, solver in SOLVERS.items() if name in self.asked.wanted]
        external = {module for module in entries if module.partition(".")[0] != "equimargin"}
        loaded = {Path(plugin).stem for plugin in self.plugins} | {"__main__"}
        return sorted({self.instance.module} - {""} | external - loaded)

    def write(self, file: Path) -> None:
        """Write the finding as JSON, atomically.

        Parameters
        ----------
        file : Path
            Path of the file.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        with whole(file) as part:
            part.write_text(self.to_json(), encoding="utf-8")

    def to_json(self) -> str:
        """Return the finding as JSON, with its lines of Python."""
        finding = self.finding if isinstance(self.finding, str) else asdict(self.finding)
        asked = {name: value for name, value in vars(self.asked).items() if name not in NOT_HELD}
        # The name of the file format.
        asked["controls"] = asked.pop("include_controls")
        held = {
            "format": FORMAT,
            "finding": finding,
            "asked": asked,
            "of": self.of,
            "plugins": self.plugins,
            "shown": self.shown,
            "instance": json.loads(self.instance.text),
            "python": self.python.splitlines(),
        }
        return json.dumps(held, indent=1) + "\n"

    @classmethod
    def read(cls, file: str | Path) -> Shrunk:
        """Read the file of `write`.

        Parameters
        ----------
        file : str or Path
            Path of the file.

        Raises
        ------
        ValueError
            If the file contains no finding.
        OSError
            If the file cannot be read.
        """
        text = Path(file).read_text(encoding="utf-8", errors="replace")
        try:
            held: Any = json.loads(text)
            if held["format"] != FORMAT:
                raise ValueError(f"its format is {format_value(held['format'])}, not {FORMAT!r}")
            asked = dict(held["asked"])
            asked["include_controls"] = asked.pop("controls")
            instance = Instance.from_text(json.dumps(held["instance"]))
            plugins, shown_by = (
                tuple(str(entry) for entry in held[name]) for name in ("plugins", "shown")
            )
            finding = (
                held["finding"] if isinstance(held["finding"], str) else Finding(**held["finding"])
            )
            return cls(
                finding, ComparisonRequest(**asked), instance, plugins, str(held["of"]), shown_by
            )
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as reason:
            raise ValueError(
                f"{file} holds no finding of equimargin shrink: {type(reason).__name__}: {reason}"
            ) from None


def shrink(
    problem: AnyProblem,
    finding: Finding | None = None,
    asked: ComparisonRequest | None = None,
    seconds: float = SECONDS,
    plugins: tuple[str, ...] = (),
) -> tuple[Shrunk, str]:
    """Minimise the instance of a finding.

    Parameters
    ----------
    problem : AnyProblem
        Problem that shows the finding.
    finding : Finding or None
        Fault; None means the most serious one.
    asked : ComparisonRequest or None
        Comparison; None compares everything. It is reduced if less is sufficient.
    seconds : float
        Time limit in seconds, after which the best instance so far is returned.
    plugins : tuple of str
        Modules or files that the lines of Python load first.

    Returns
    -------
    tuple of Shrunk and str
        Minimised finding, and a sentence about the search.

    Raises
    ------
    ValueError
        If the problem does not show the finding, or its data are not arrays and
        numbers.
    """
    asked = asked or ComparisonRequest(patient=True)
    if not all(isinstance(solver, str) for solver in asked.wanted):
        raise ValueError(
            "a finding stores solvers by name: register yours (equimargin.solvers.solver), "
            "and request it by its name"
        )
    family = compared(problem, asked)
    all_findings = findings(family, finding.ratio if finding else None)
    finding = finding or next(iter(all_findings), None)
    if finding is None or finding not in all_findings:
        raise ValueError(
            f"there is no finding on {problem!r}"
            if finding is None
            else f"{problem!r} does not show that {finding}"
        )
    return made_small(problem, family, finding, asked, seconds, plugins)


def made_small(
    problem: AnyProblem,
    family: FamilyVerdict,
    finding: Finding,
    asked: ComparisonRequest,
    seconds: float,
    plugins: tuple[str, ...],
) -> tuple[Shrunk, str]:
    """Minimise a finding of a compared problem, as `shrink` does.

    Parameters
    ----------
    problem, finding, asked, seconds, plugins
        See `shrink`.
    family : FamilyVerdict
        Verdict in which the finding was found.

    Returns
    -------
    tuple of Shrunk and str
        Minimised finding, and a sentence about the search.
    """
    before, reduced_request = Instance.of(problem), narrowed(family, finding, asked)
    chosen = reduced_request if shows(problem, finding, reduced_request) else asked
    result = reduced(before, lambda candidate: shows(candidate.problem(), finding, chosen), seconds)
    return Shrunk(finding, chosen, result.instance, plugins, before.size), sentence(before, result)


def again(known: Shrunk, seconds: float) -> tuple[Shrunk, str]:
    """Minimise a stored finding further.

    If a program other than `compare` found it, the most serious finding of `compare` is
    minimised. Nothing that the file names is imported: users who trust its plug-ins
    load them first.

    Parameters
    ----------
    known : Shrunk
        Stored finding.
    seconds : float
        Time limit in seconds.

    Returns
    -------
    tuple of Shrunk and str
        Minimised finding, and a sentence about the search.

    Raises
    ------
    ValueError
        If the instance no longer shows the finding, or is of an unknown family.
    """
    problem = known.instance.problem()
    if isinstance(known.finding, str):
        return shrink(problem, None, known.asked, seconds, known.plugins)
    family = compared(problem, known.asked)
    if known.finding not in findings(family, known.finding.ratio):
        raise ValueError(
            f"the instance no longer shows that {known.finding}: it was mended, or this is "
            f"another machine"
        )
    small, report = made_small(problem, family, known.finding, known.asked, seconds, known.plugins)
    return replace(small, of=known.of), report


def is_finding(file: str) -> bool:
    """Return True if `Shrunk.write` wrote the file.

    Parameters
    ----------
    file : str
        Path of the file.

    Returns
    -------
    bool
        True if the file contains a finding.
    """
    path = Path(file)
    if path.suffix != ".json" or not path.is_file():
        return False
    with path.open(encoding="utf-8", errors="replace") as opened:
        return FORMAT in opened.read(len(FORMAT) + 40)


def sentence(before: Instance, found: Reduction) -> str:
    """Return a sentence about a search.

    Parameters
    ----------
    before : Instance
        Original instance.
    found : Reduction
        Result of the search.

    Returns
    -------
    str
        Sizes, seconds and number of candidates.
    """
    note = "" if found.complete else "; the time limit stopped it"
    return (
        f"from {before.size} to {found.instance.size} in {found.seconds:.1f} s, {found.tried} "
        f"instances tried{note}"
    )
