"""Scripts for failing cases of campaigns, with their problems and minimised ones.

The minimised problems are written as JSON files, too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from equimargin.equivalence.reproduction import Code
from equimargin.formulations.declarations.program_problem import ProgramProblem
from equimargin.formulations.problem import AnyProblem
from equimargin.request import ComparisonRequest
from equimargin.shrink import Instance, Shrunk, reduced
from equimargin.shrink.record import sentence

SECONDS = 60.0
"""Time limit of minimising a failing case, in seconds.

A nightly run has some hundred failing cases at most, and most of them take one second.
"""
BY_COMPARING = (
    "from equimargin import compare",
    "print(compare(problem, time_limit=5.0, patient=True))",
)
"""Python lines that print a comparison."""


def essence(complaint: str) -> str:
    """Return the beginning of a complaint without figures, equal for similar instances."""
    head = complaint.strip().partition("(")[0].partition(":")[0].partition(",")[0]
    return " ".join(word for word in head.split() if not is_number(word))


def is_number(word: str) -> bool:
    """Return True if a word is a number."""
    try:
        float(word)
    except ValueError:
        return False
    return True


def script(
    problem: AnyProblem, sentences: Sequence[str], shown: Sequence[str] = BY_COMPARING
) -> str:
    """Return a program that rebuilds a problem bit for bit and runs Python lines on it."""
    code = Code()
    made = (
        Instance.of(problem).expression(code)
        if isinstance(problem, ProgramProblem)
        else code.of(problem)
    )
    said = [f"# {line}" for each in sentences for line in each.splitlines()]
    return "\n".join([*said, *code.lines(), f"problem = {made}", *shown]) + "\n"


def shrunk(
    problem: AnyProblem,
    complaints: Callable[[AnyProblem], Collection[str]],
    found: Sequence[str],
    file: Path,
    shown: Sequence[str] = BY_COMPARING,
) -> str:
    """Minimise an instance, write it in the folder of `file`, and return its size as text.

    The files are .small.py and .small.json.

    Parameters
    ----------
    problem : AnyProblem
        Failing instance.
    complaints : Callable[[AnyProblem], Collection[str]]
        Complaints about an instance.
    found : Sequence[str]
        Complaints about `problem`; the minimised instance has the first one, too.
    file : Path
        File of the script of `problem`.
    shown : Sequence[str]
        Lines of Python that show the complaint about `problem`.
    """
    wanted = essence(found[0])
    file.parent.mkdir(parents=True, exist_ok=True)

    def said(each: AnyProblem) -> str:
        """Return a similar complaint about an instance, or ""."""
        return next(
            (complaint for complaint in complaints(each) if essence(complaint) == wanted), ""
        )

    try:
        if not said(problem):
            return "not made small: the instance alone does not show it again"
        before = Instance.of(problem)
        search = reduced(before, lambda instance: bool(said(instance.problem())), SECONDS)
        last = said(search.instance.problem()) or found[0]
    # A failing case that cannot be minimised is reported nevertheless.
    except Exception as failure:
        return f"not made small: {type(failure).__name__}: {failure}"
    small = Shrunk(
        last, ComparisonRequest(patient=True), search.instance, of=before.size, shown=tuple(shown)
    )
    small.write(file.with_suffix(".small.json"))
    file.with_suffix(".small.py").write_text(small.python, encoding="utf-8")
    return f"{file.with_suffix('.small.py')}: {sentence(before, search)}"
