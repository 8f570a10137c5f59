"""A finding on its smallest instance: as lines of Python that show it, and as a JSON file from which it is taken up again."""

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
"""Seconds of a search unless somebody says it: most findings are small in ten."""
FORMAT = "equimargin finding 1"
"""The name of the format of these files."""
NOT_HELD = ("total_time", "jobs")
"""What a file does not hold of a request: limits of the machine that has found it."""


@dataclass(frozen=True)
class Shrunk:
    """A finding on a small instance.

    Parameters
    ----------
    finding : Finding | str
        What is wrong; a sentence where somebody else than `compare` has found it.
    asked : ComparisonRequest
        What is compared to see it.
    instance : Instance
        That shows it.
    plugins : tuple[str, ...]
        Modules or files that are loaded first.
    of : str
        How large the instance was, in words.
    shown : tuple[str, ...]
        Lines of Python that show it on `problem`, where a comparison does not.
    """

    finding: Finding | str
    asked: ComparisonRequest
    instance: Instance
    plugins: tuple[str, ...] = ()
    of: str = ""
    shown: tuple[str, ...] = ()

    @property
    def python(self) -> str:
        """Lines of Python that show it."""
        code = Code()
        problem = f"problem = {self.instance.expression(code)}"
        if self.plugins:
            code.name("equimargin.own.plugins", "load")
        shown = [*self.shown] or [
            f"print({code.name('equimargin', 'compare')}(problem, {self._how()}))"
        ]
        said = [f"# {line}" for line in str(self.finding).splitlines()]
        imports = [*(f"import {module}" for module in self._modules()), *code.lines()]
        loads = [f"load({plugin!r})" for plugin in self.plugins]
        return "\n".join([*said, *imports, *loads, problem, *shown]) + "\n"

    def _how(self) -> str:
        """What is asked of `compare`, as its arguments."""
        usual = vars(ComparisonRequest())
        told = {
            name: value
            for name, value in vars(replace(self.asked, patient=True)).items()
            if value != usual[name]
        }
        return ", ".join(
            f"{name}={[*value] if isinstance(value, tuple) else value!r}"
            for name, value in told.items()
        )

    def _modules(self) -> list[str]:
        """The modules that enter what is compared, those of the project excepted, but for that of the instance."""
        entries = [REGISTRY[name].module for name in self.asked.formulations if name in REGISTRY]
        entries += [solver.module for name, solver in SOLVERS.items() if name in self.asked.wanted]
        own = {module for module in entries if module.partition(".")[0] != "equimargin"}
        loaded = {Path(plugin).stem for plugin in self.plugins} | {"__main__"}
        return sorted(({self.instance.module} if self.instance.module else set()) | own - loaded)

    def write(self, file: Path) -> None:
        """Write it as JSON, whole or not at all.

        Raises
        ------
        OSError
            The file cannot be written.
        """
        with whole(file) as part:
            part.write_text(self.to_json(), encoding="utf-8")

    def to_json(self) -> str:
        """It as JSON, with its lines of Python."""
        finding = self.finding if isinstance(self.finding, str) else asdict(self.finding)
        asked = {name: value for name, value in vars(self.asked).items() if name not in NOT_HELD}
        asked["controls"], asked["patient"] = (
            asked.pop("include_controls"),
            asked.pop("patient"),
        )  # as this format calls and orders them
        held: dict[str, Any] = {
            "format": FORMAT,
            "finding": finding,
            "asked": asked,
            "of": self.of,
            "plugins": self.plugins,
        }
        held |= {
            "shown": self.shown,
            "instance": json.loads(self.instance.text),
            "python": self.python.splitlines(),
        }
        return json.dumps(held, indent=1) + "\n"

    @classmethod
    def read(cls, file: str | Path) -> Shrunk:
        """What `write` wrote.

        Raises
        ------
        ValueError
            A file that holds no finding.
        OSError
            One that cannot be read.
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
                tuple(str(each) for each in held[name]) for name in ("plugins", "shown")
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
    """The smallest instance on which a finding still shows, and a sentence about the search.

    Parameters
    ----------
    problem : AnyProblem
        That shows it.
    finding : Finding | None
        What is wrong; None: the gravest that there is.
    asked : ComparisonRequest | None
        What is compared; None: everything. Less is, where that is enough.
    seconds : float
        After which the best so far is taken.
    plugins : tuple[str, ...]
        Modules or files that the lines of Python load first.

    Raises
    ------
    ValueError
        A problem that does not show it, or that is made of something else than arrays
        and numbers.
    """
    asked = asked or ComparisonRequest(patient=True)
    if not all(isinstance(each, str) for each in asked.wanted):
        raise ValueError(
            "a finding names its solvers: enter yours (equimargin.solvers.solver), and ask "
            "for it by its name"
        )
    family = compared(problem, asked)
    known = findings(family, finding.ratio if finding else None)
    finding = finding or next(iter(known), None)
    if finding is None or finding not in known:
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
    """A finding on the smallest instance, and a sentence about the search; family : the problem's, in which it was found.

    The other parameters and errors are those of `shrink`.
    """
    before, narrow = Instance.of(problem), narrowed(family, finding, asked)
    chosen = narrow if shows(problem, finding, narrow) else asked
    found = reduced(before, lambda candidate: shows(candidate.problem(), finding, chosen), seconds)
    return Shrunk(finding, chosen, found.instance, plugins, before.size), sentence(before, found)


def again(known: Shrunk, seconds: float) -> tuple[Shrunk, str]:
    """A stored finding made smaller still, and a sentence about the search; the gravest one of `compare` where somebody else has found it.

    Nothing that the file names is imported: whoever trusts its plug-ins loads them first.

    Raises
    ------
    ValueError
        Its instance does not show it any more, or is of a family that is not known.
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
    small, said = made_small(problem, family, known.finding, known.asked, seconds, known.plugins)
    return replace(small, of=known.of), said


def is_finding(file: str) -> bool:
    """Whether a file is one that `Shrunk.write` wrote."""
    path = Path(file)
    if path.suffix != ".json" or not path.is_file():
        return False
    with path.open(encoding="utf-8", errors="replace") as opened:
        return FORMAT in opened.read(len(FORMAT) + 40)


def sentence(before: Instance, found: Reduction) -> str:
    """What a search has done, in words."""
    how = "" if found.complete else "; the time was over before all was tried"
    return (
        f"from {before.size} to {found.instance.size} in {found.seconds:.1f} s, {found.tried} "
        f"instances tried{how}"
    )
