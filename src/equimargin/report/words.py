"""Terms and marks of a comparison, with their explanation."""

from __future__ import annotations

from textwrap import fill

PAGE_COLUMNS = 80
"""Columns of the report if the width of the output is unknown."""
NO_BREAK = "\N{NO-BREAK SPACE}"
"""Space without a line break."""
MARKS = {
    "agrees": ("✓", "ok"),
    "inaccurate": ("≈", "~"),
    "disagrees": ("✗", "X"),
    "failed": ("!", "!"),
    "skipped": ("-", "-"),
}
"""Mark of each `Agreement` by its word, in Unicode and in ASCII.

The keys are words because the enumeration would load numpy for --explain.
"""
MEANINGS = {
    "agrees": "the value is the optimum, and the point is near-optimal after exact repair, both "
    "within --agree-tol",
    "inaccurate": "its error is no larger than its own residual explains",
    "disagrees": "its error is larger than its own residual explains: a formulation is wrong, "
    "or a solver is",
    "failed": "it did not solve its own problem, or ran out of time",
    "skipped": "it does not support this problem, or was not requested",
}
"""Meaning of each agreement."""


def cut(text: str, letters: int, more: str = "…") -> str:
    """Truncate a text to a number of letters.

    Parameters
    ----------
    text : str
        Text.
    letters : int
        Maximum number of letters.
    more : str, default "…"
        Mark of a truncated text, included in the number.

    Returns
    -------
    str
        Text, truncated if it is longer.
    """
    return text if len(text) <= letters else text[: letters - 1] + more


def _explained(agreement: str) -> str:
    """Return a mark, its word and its meaning on lines of 80 columns."""
    mark, plain = MARKS[agreement]
    return fill(
        f"{mark} {plain:<3} {agreement:<11} {MEANINGS[agreement]}",
        78,
        subsequent_indent=" " * 18,
        break_on_hyphens=False,
    )


EXPLANATION = f"""\
A family is one problem: a loss, a regularisation, with a bias or without. It
has one optimum. Its formulations are its published forms, primal and dual,
each declared as a convex program and solved by general backends (CLARABEL,
SCS, OSQP, HIGHS). Specialised solvers (smo, newton, huber) solve the family's
problem directly: they come first in its block of lines, the fastest first. An
answer is what one solver or backend returns for one formulation: an objective
value and a point (f, a bias and multipliers, any of them absent). A control is
a formulation that is wrong on purpose or nonequivalent, and must disagree.

optimum     The printed digits are proven: both ends of an interval that
            contains the optimum of the given numbers round to them. The
            interval comes from weak duality, with every rounding error
            counted; "width" is its relative width.
AGREE       A formulation and a specialised solver with different code give
            that optimum, and no answer contradicts it. If another rule gives
            the verdict, the report names it.
DISAGREE    An answer solved its own problem well, and its value is not the
            family's optimum, or its point is not optimal for the family: a
            formulation is wrong, or a solver is.
UNDECIDED   Too few answers agree. The sentence under the block has the reason
            and a remedy.
A vs B      The problem of the classes A, which is -1, and B, which is +1. With
            three classes or more a family has one for every pair of classes;
            --wide has their answers.

Marks, in Unicode and in ASCII. A figure after a mark is the error of the
answer, relative to the optimum; the last lines say why answers were skipped.
{chr(10).join(map(_explained, MARKS))}

Sources     A letter is a document, followed by its equations: T the tutorial
            of Yu and Kim, P Zapien and others on the path, K Kuo, Lee and Lin,
            W an encyclopedia, O Herbrich and others on ordinal regression;
            `equimargin show ID` has the titles.

Times are wall seconds of solving, without compiling code and formulations:
--wide and the records have those times. Once the optimum is proven to --tol, a
backend is stopped after the larger of 2 s and 20 times the slowest answer that
had agreed by then. Once a family agrees, its further answers share the rest of
7 s of CPU time; those that take more are stopped or skipped. --patient turns
both limits off. The status that a solver reports is never used.

Exit status: 0 every family agrees; 1 a family disagrees; 2 bad usage or input;
3 nothing was solved; 4 a family is undecided; 130 interrupted by Ctrl-C or
--total-time.
"""
"""Text of --explain, in 80 columns."""


def duration(seconds: float) -> str:
    """Return a duration as text.

    Parameters
    ----------
    seconds : float
        Duration in seconds.

    Returns
    -------
    str
        Text in days, hours, minutes or seconds.
    """
    for unit, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}s"
    return f"{seconds:.0f} s"
