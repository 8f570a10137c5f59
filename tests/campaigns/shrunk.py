"""What a campaign finds, made small: the smallest instance that it still complains about, as lines of Python and as a JSON file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from equimargin.formulations.problem import AnyProblem
from equimargin.shrink import Asked, Instance, Shrunk, reduced
from equimargin.shrink.record import sentence

FOLDER = Path("build/nightly")
"""Where small instances are written by campaigns that write nothing else."""
SECONDS = 60.0
"""Seconds that making a finding small may take: a night has hundreds of such at most, and most take one."""
BY_COMPARING = ("from equimargin import compare", "print(compare(problem, time_limit=5.0, patient=True))")
"""Lines of Python that show what a comparison finds."""


def essence(complaint: str) -> str:
    """What a complaint says without its figures: the same one on a smaller instance has others."""
    head = complaint.strip().partition("(")[0].partition(":")[0].partition(",")[0]
    return " ".join(word for word in head.split() if not is_number(word))


def is_number(word: str) -> bool:
    """Whether a word is a figure."""
    try:
        float(word)
    except ValueError:
        return False
    return True


def shrunk(
    problem: AnyProblem,
    complaints: Callable[[AnyProblem], Collection[str]],
    found: Sequence[str],
    file: Path,
    shown: Sequence[str] = BY_COMPARING,
) -> str:
    """Make an instance small, write it beside `file` as .small.py and .small.json, and say how small it is.

    Parameters
    ----------
    problem : the instance.  complaints : what there is to be said of one.  found : what was said of this one; the first is kept.
    shown : lines of Python that show it on `problem`.
    """
    wanted = essence(found[0])
    file.parent.mkdir(parents=True, exist_ok=True)

    def said(each: AnyProblem) -> str:
        """The complaint that is wanted, with its figures on another instance; empty where there is none."""
        return next((complaint for complaint in complaints(each) if essence(complaint) == wanted), "")

    try:
        if not said(problem):
            return "not made small: the instance alone does not show it again"
        before = Instance.of(problem)
        search = reduced(before, lambda instance: bool(said(instance.problem())), SECONDS)
        last = said(search.instance.problem()) or found[0]
    except Exception as failure:  # a finding that cannot be made small is a finding all the same
        return f"not made small: {type(failure).__name__}: {failure}"
    small = Shrunk(last, Asked(), search.instance, of=before.size, shown=tuple(shown))
    small.write(file.with_suffix(".small.json"))
    script = file.with_suffix(".small.py")
    script.write_text(small.python, encoding="utf-8")
    return f"{script}: {sentence(before, search)}"
