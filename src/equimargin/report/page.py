"""The page that people read: a block a family, then what was skipped, and what the marks mean.

A block answers in the order in which people ask: what is the optimum, and to how many proven
digits; does everybody agree; who was fastest; what was not right. The functions are pure: from
judgements to lines, none of which is wider than asked for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap

import numpy as np

from equimargin.formulations import REGISTRY
from equimargin.formulations.bounds.intervals import Interval
from equimargin.formulations.source import DOCUMENTS
from equimargin.proofs import Agreement, FamilyVerdict, Judgement, Verdict
from equimargin.proofs.referee.judgement import USUAL_RULE
from equimargin.report.records import solved
from equimargin.solvers import Status

MARKS = {
    Agreement.AGREES: ("✓", "ok"),
    Agreement.INACCURATE: ("≈", "~"),
    Agreement.DISAGREES: ("✗", "X"),
    Agreement.FAILED: ("!", "!"),
    Agreement.SKIPPED: ("-", "-"),
}
"""Of every agreement, the mark in Unicode and the mark in ASCII."""
NO_BREAK = "\N{NO-BREAK SPACE}"
"""A space at which no line is broken; it is printed as an ordinary one."""
INDENT = 4
"""Columns that the lines of a block are set in from its head."""
NAME_COLUMNS = 15
"""Columns, at least, that the name of a family takes in the head of its block."""
MOST_DIGITS = 15
"""Significant digits that any decimal number keeps in float64: more are never claimed."""
NARROWEST_SOURCE = 10
"""Columns below which the sources of the formulations are left out."""
SHARE_OF_COMPILING = 0.1
"""Share of all time from which the closing lines say how long compilation took."""


@dataclass(frozen=True)
class Style:
    """How lines are set: their width in columns, whether only ASCII may be used, and the columns that the name of a family takes."""

    width: int
    ascii: bool
    names: int = NAME_COLUMNS

    def mark(self, agreement: Agreement) -> str:
        """The mark of an agreement."""
        return MARKS[agreement][self.ascii]

    def cut(self, text: str, width: int) -> str:
        """The text, or as much of it as fits."""
        return text if len(text) <= width else text[: width - 1] + ("~" if self.ascii else "…")

    def wrapped(self, text: str, indent: int = 0, hanging: int = 2) -> list[str]:
        """The text on as many lines as it takes; a no-break space becomes a space."""
        first, rest = " " * indent, " " * (indent + hanging)
        lines = wrap(text, self.width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)
        return [line.replace(NO_BREAK, " ") for line in lines]


def page(
    families: Sequence[FamilyVerdict],
    planned: Sequence[int],
    left_out: Sequence[str],
    seconds: float,
    interrupted: str,
    *,
    width: int,
    ascii: bool = False,
) -> list[str]:
    """All lines of a comparison, with an empty one after every block.

    Parameters
    ----------
    families : Sequence[FamilyVerdict]
        Judged as far as there are answers.
    planned : Sequence[int]
        How many answers each was to have.
    left_out : Sequence[str]
        What was not even planned.
    seconds : float
        Seconds of wall time.
    interrupted : str
        Why the comparison ended early, or nothing.
    width, ascii
        As in `Style`.
    """
    style = Style(width, ascii, name_columns(families))
    lines: list[str] = []
    for family, count in zip(families, planned or [len(family.judgements) for family in families], strict=True):
        lines += [*block(family, count - len(family.judgements), style, bool(interrupted)), ""]
    return [*lines, *closing(families, planned, left_out, seconds, interrupted, style)]


def name_columns(families: Iterable[FamilyVerdict]) -> int:
    """Return the columns that the longest name of a family takes, with two spaces after it.

    Parameters
    ----------
    families : iterable of FamilyVerdict
        Families whose names share the columns.
    """
    return max([NAME_COLUMNS, *(len(family.id) + 2 for family in families)])


def block(family: FamilyVerdict, missing: int, style: Style, ended: bool = False) -> list[str]:
    """The lines of one family.

    Parameters
    ----------
    missing : how many answers are not there yet.  ended : whether they will not come any more.
    """
    run = [j for j in family.judgements if j.agreement is not Agreement.SKIPPED]
    lines = _head(family, standing(family, missing, ended), style)
    if missing and not run:
        return lines
    lines += style.wrapped(fastest_first(family, style), INDENT, 0)
    lines += _formulations(family, [j for j in family.judgements if j.evidence.run.formulation is not None], style)
    for sentence in remarks(family, missing):
        lines += style.wrapped(sentence, INDENT)
    return lines


def closing(
    families: Sequence[FamilyVerdict], planned: Sequence[int], left_out: Sequence[str], seconds: float, interrupted: str, style: Style
) -> list[str]:
    """The last lines: how many families and answers, how numbers were read, what was skipped and why, and the marks."""
    lines = style.wrapped("   ".join(summary(families, planned, seconds, interrupted)))
    for sentence in readings(families):
        lines += style.wrapped(sentence)
    skipped = skips(families, left_out)
    lines += style.wrapped(f"skipped: {'; '.join(skipped)}") if skipped else []
    lines += style.wrapped(_letters(families))
    marks = "  ".join(f"{style.mark(agreement)}{NO_BREAK}{agreement}" for agreement in Agreement)
    return lines + style.wrapped(f"{marks}   --explain, --wide")


def summary(families: Sequence[FamilyVerdict], planned: Sequence[int], seconds: float, interrupted: str) -> tuple[str, str]:
    """How many families there are with each verdict, and how many answers in which time.

    Who was skipped has none.
    """
    judged = [j for family in families for j in family.judgements]
    answers = [j for j in judged if j.agreement is not Agreement.SKIPPED]
    wanted = planned or [len(family.judgements) for family in families]
    verdicts = ["unfinished" if len(f.judgements) < count else str(f.verdict) for f, count in zip(families, wanted, strict=True)]
    counts = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in dict.fromkeys(verdicts))
    what = f"{len(families)} {'family' if len(families) == 1 else 'families'}: {counts}" if families else "nothing was compared"
    compiling = sum(j.evidence.run.compile_seconds or 0.0 for j in answers)
    time = f"{_about(seconds, 3)}{NO_BREAK}s"
    time += f", {_about(compiling, 2)}{NO_BREAK}s of them compiling and loading" if compiling > SHARE_OF_COMPILING * seconds else ""
    if interrupted:
        return what, f"interrupted: {interrupted}; {len(judged)} of {sum(planned)} answers in {time}"
    return what, f"{len(answers)} answer{'s' * (len(answers) != 1)} in {time}"


def remarks(family: FamilyVerdict, missing: int) -> list[str]:
    """Sentences on a family: answers that failed or are inaccurate, and a verdict other than agree once it is final.

    Parameters
    ----------
    missing : how many answers are still to come.
    """
    sentences = [f"{who}: {reason}" for reason, who in _reasons(family.judgements)]
    sentences += _nearly_equal(family)
    # While answers are missing the verdict may still change, and nothing is said about it.
    if family.verdict is not Verdict.AGREE and not missing:
        said = (f"{str(family.verdict).upper()}: {family.reason}.", family.advice, _advice(family))
        sentences.append(" ".join(filter(None, said)))
    if family.verdict is Verdict.AGREE and not missing and not family.reason.endswith(USUAL_RULE):
        sentences.append(f"AGREE: {family.reason}.")
    sentences += _controls(family)
    if family.doubt and not missing:
        sentences.append(f"{family.doubt[0].upper()}{family.doubt[1:]}.")
    return sentences


def readings(families: Sequence[FamilyVerdict]) -> list[str]:
    """Return sentences on how numbers are read, each once, with the families whose numbers are read so."""
    ids: dict[str, list[str]] = {}
    for family in families:
        if family.note and family.judgements:
            ids.setdefault(family.note.removeprefix(f"in {family.id} "), []).append(family.id)
    return [f"Read: in {_listed(list(dict.fromkeys(names)))} {how}." for how, names in ids.items()]


def _listed(names: Sequence[str]) -> str:
    """Return names with commas, and "and" before the last one."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def proven_digits(interval: Interval) -> tuple[str, int]:
    """The decimal number that both ends of an interval round to, and its significant digits.

    ("", 0) where there is none.
    """
    lower, upper = interval.lower, interval.upper
    if not (np.isfinite(lower) and np.isfinite(upper) and lower <= upper):
        return "", 0
    for digits in range(MOST_DIGITS, 0, -1):
        if f"{lower:.{digits}g}" == f"{upper:.{digits}g}":
            return f"{upper:.{digits}g}", digits
    return "", 0


def first_proof(family: FamilyVerdict, style: Style) -> list[str]:
    """A line on an optimum that is proven while others are still to be asked.

    It is indented, so that it is not taken for the head of a block.
    """
    return style.wrapped(f"{family.id}: {optimum(family).partition(' (')[0]}; asking other solvers", INDENT)


def optimum(family: FamilyVerdict) -> str:
    """What is proven of a family's optimum, in a clause."""
    interval = family.interval
    if not family.feasible:
        return "no point is feasible, proven"
    if family.unbounded:
        return "the objective has no bound, proven"
    digits, count = proven_digits(interval)
    proven, width = "not proven" if family.doubt else "proven", f"(width {interval.relative_width:.0e})"
    if count == MOST_DIGITS:
        return f"optimum {digits}, all digits {proven} {width}"
    if count:
        return f"optimum {digits}, {count} digit{'s' * (count != 1)} {proven} {width}"
    if np.isfinite(interval.lower) and np.isfinite(interval.upper):
        return f"optimum in [{interval.lower:.6g}, {interval.upper:.6g}], {proven}"
    if np.isfinite(interval.upper):
        return f"optimum at most {interval.upper:.10g}; not bounded from below"
    return "nothing proven of the optimum"


def same_at_every_optimum(family: FamilyVerdict) -> str:
    """What is proven to be the same at every optimum of a family, a sentence.

    Empty where nothing is.
    """
    if family.stable is None:
        return ""
    shares = {"labels of the training points": family.stable.labels, "multipliers of the rows": family.stable.rows}
    said = [f"{_share(share)} of the {what}" for what, share in shares.items() if share]
    return f"The same at every optimum, proven: {' and '.join(said)}." if said else ""


def _share(share: float) -> str:
    """A share in whole percent, rounded down: all of them are 100 %, and no fewer."""
    return f"{math.floor(100 * share)}{NO_BREAK}%"


def standing(family: FamilyVerdict, missing: int, ended: bool) -> str:
    """The verdict of a family, or how many answers are missing for one; these are still to come, unless the comparison has ended."""
    if missing:
        return f"{missing} missing" if ended else f"{missing} to come"
    return str(family.verdict).upper()


def _head(family: FamilyVerdict, standing: str, style: Style) -> list[str]:
    """The family, its optimum, and at the right edge how it stands.

    It takes several lines where it is too long for one.
    """
    said = optimum(family) if family.judgements else ""
    line = f"{family.id:<{style.names - 1}} {said}"
    if len(line) + 2 + len(standing) <= style.width:
        return [f"{line}{standing:>{style.width - len(line)}}"]
    return [f"{family.id}{standing:>{max(style.width - len(family.id), len(standing) + 1)}}", *style.wrapped(said, INDENT)]


def fastest_first(family: FamilyVerdict, style: Style) -> str:
    """The specialised solvers that were run, with their times: those that agree first, the fastest of them first."""
    alone = (j for j in family.judgements if j.evidence.run.formulation is None and j.agreement is not Agreement.SKIPPED)
    ordered = sorted(alone, key=lambda j: (j.agreement is not Agreement.AGREES, j.evidence.run.solve_seconds or 0.0))
    return "   ".join(_of_solver(j, style) for j in ordered)


def _of_solver(j: Judgement, style: Style) -> str:
    run = j.evidence.run
    mark = "" if j.agreement is Agreement.AGREES else f"{style.mark(j.agreement)}{NO_BREAK}"
    figure = "" if j.agreement is Agreement.AGREES else _figure(j)
    return NO_BREAK.join(filter(None, (f"{mark}{run.solver}", _seconds(run.solve_seconds), "s", figure)))


def _formulations(family: FamilyVerdict, judgements: Sequence[Judgement], style: Style) -> list[str]:
    """A row a formulation and a column a backend.

    Where they do not fit, a line a formulation that names the backends.
    """
    rows: dict[str, dict[str, Judgement]] = {}
    for j in judgements:
        rows.setdefault(j.evidence.run.formulation or "", {})[j.evidence.run.solver] = j
    shown = (j for j in judgements if j.agreement is not Agreement.SKIPPED)
    backends = list(dict.fromkeys(j.evidence.run.solver for j in shown))
    if not backends:
        return []
    rows = {id: cells for id, cells in rows.items() if set(cells) & set(backends)}
    cells = {(id, name): _cell(found[name], style) for id, found in rows.items() for name in backends if name in found}
    widths = {name: 2 + max(len(name), *(len(text) for (_, of), text in cells.items() if of == name)) for name in backends}
    names = {id: _short(family.id, id) for id in rows}
    first = max(map(len, names.values())) + 2
    room = style.width - INDENT - first - sum(widths.values())
    if room < 0:
        listed = ((id, (f"{name} {cells[id, name]}" for name in backends if (id, name) in cells)) for id in rows)
        return [line for id, parts in listed for line in style.wrapped(f"{names[id]}: {', '.join(parts)}", INDENT)]
    room = room if room >= NARROWEST_SOURCE else 0
    longest = max((len(_source(id)) for id in rows), default=0)
    room = min(room, longest + 2) if room else 0
    lines = [" " * (INDENT + first + room) + "".join(f"{name:<{widths[name]}}" for name in backends).rstrip()]
    for id in rows:
        source = f"{style.cut(_source(id), room - 2):<{room}}" if room else ""
        row = "".join(f"{cells.get((id, name), ''):<{widths[name]}}" for name in backends)
        lines.append(f"{' ' * INDENT}{names[id]:<{first}}{source}{row}".rstrip())
    return lines


def _short(family: str, id: str) -> str:
    """A formulation's name within its family's block."""
    control = " (control)" if REGISTRY[id].control else ""
    return id.removeprefix(f"{family}.") + control if id.startswith(f"{family}.") else id + control


def _source(id: str) -> str:
    """Where the formulation is printed, its first place."""
    sources = REGISTRY[id].sources
    return str(sources[0]) if sources else ""


def _letters(families: Sequence[FamilyVerdict]) -> str:
    """Return a legend of the letters of documents that a page shows as sources.

    Empty where it shows none.
    """
    run = {j.evidence.run.formulation for family in families for j in family.judgements if j.agreement is not Agreement.SKIPPED}
    letters = {REGISTRY[id].sources[0].document for id in run if id is not None and REGISTRY[id].sources} & set(DOCUMENTS)
    return f"{', '.join(sorted(letters))}: documents with these equations, named by --explain" if letters else ""


def _cell(j: Judgement, style: Style) -> str:
    if j.agreement is Agreement.SKIPPED:
        return style.mark(j.agreement)
    figure = "" if j.agreement is Agreement.AGREES else f" {_figure(j)}"
    return f"{style.mark(j.agreement)} {_seconds(j.evidence.run.solve_seconds)}{figure}"


def _figure(j: Judgement) -> str:
    """How far an answer is off, relative, as one power of ten; nothing where it shows none."""
    off = max(v for v in (j.claim, j.off) if not np.isnan(v)) if not (np.isnan(j.claim) and np.isnan(j.off)) else np.inf
    return f"{off:.0e}" if np.isfinite(off) else ""


def _about(seconds: float, digits: int) -> str:
    """Seconds to a few digits, and never to fewer than whole ones."""
    return f"{seconds:.{digits}g}" if seconds < 10 ** (digits - 1) else f"{seconds:.0f}"


def _seconds(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds < 0.0005:
        return "<.001"
    if seconds < 1:
        return f"{seconds:.3f}".removeprefix("0")
    return f"{seconds:.3g}" if seconds < 100 else f"{seconds:.0f}"


def _reasons(judgements: Iterable[Judgement]) -> Iterator[tuple[str, str]]:
    """Why answers are not right, with all that the reason is given of.

    Those that were skipped are not among them.
    """
    groups: dict[str, list[str]] = {}
    for j in judgements:
        run = j.evidence.run
        unfinished = j.agreement is Agreement.INACCURATE and (run.status is not Status.OPTIMAL or j.explained is not None)
        if unfinished or j.agreement is Agreement.FAILED:
            solver_of = f"{run.solver} on {_short(run.family, run.formulation)}" if run.formulation else run.solver
            groups.setdefault(run.reason if run.reason.startswith("stopped") else j.ground, []).append(solver_of)
    for reason, who in groups.items():
        yield reason, _together(who)


def _nearly_equal(family: FamilyVerdict) -> Iterator[str]:
    """Yield a sentence about every formulation that agrees although its exact optimum is not the definition's to the last digit."""
    agreeing = [j.evidence for j in family.judgements if j.agreement is Agreement.AGREES]
    differences = {e.run.formulation: e.point.difference for e in agreeing if e.point is not None and e.point.difference}
    for formulation, difference in differences.items():
        where = f"{_short(family.id, formulation or '')} is not equal to the last digit"
        yield f"{where}: its exact optimum is {difference:.1e} off the definition's, which roundings of its numbers explain"


def _controls(family: FamilyVerdict) -> Iterator[str]:
    """Yield a sentence about the controls that disagree, and one about the others.

    The others are those that these data do not distinguish from the family.
    """
    judged: dict[str, set[Agreement]] = {}
    for j in family.judgements:
        if j.evidence.run.control:
            judged.setdefault(_short(family.id, j.evidence.run.formulation or ""), set()).add(j.agreement)
    # One answer that disagrees refutes a control, whatever its other answers are.
    refuted = [name for name, found in judged.items() if Agreement.DISAGREES in found]
    alike = [name for name, found in judged.items() if Agreement.DISAGREES not in found and Agreement.AGREES in found]
    if refuted:
        yield f"Wrong on purpose, and {'disagrees' if len(refuted) == 1 else 'disagree'} as it must be: {', '.join(refuted)}."
    if alike:
        has = "has" if len(alike) == 1 else "have"
        yield f"Wrong on purpose, and not told apart by these data: {', '.join(alike)} {has} the optimum of the family here."


def _together(names: Sequence[str]) -> str:
    """Runs "A on x", "A on y" become "A on x, y"."""
    by_solver: dict[str, list[str]] = {}
    for name in names:
        solver, _, where = name.partition(" on ")
        by_solver.setdefault(solver, []).append(where)
    return "; ".join(f"{solver} on {', '.join(where)}" if any(where) else solver for solver, where in by_solver.items())


def skips(families: Sequence[FamilyVerdict], left_out: Sequence[str]) -> list[str]:
    """Return every reason to skip, once, with who was skipped and in which families.

    What was not even planned comes last.
    """
    return [*_skipped(families), *left_out]


def _skipped(families: Sequence[FamilyVerdict]) -> Iterator[str]:
    groups: dict[str, dict[str, list[str]]] = {}
    for family in families:
        for j in family.judgements:
            if j.agreement is Agreement.SKIPPED:
                run = j.evidence.run
                others = [k for k in family.judgements if k.evidence.run.solver == run.solver and k.agreement is not Agreement.SKIPPED]
                place = run.formulation if run.formulation is not None and others else family.id
                where = groups.setdefault(run.reason, {}).setdefault(run.solver, [])
                where += [place] if place not in where else []
    for reason, solvers in groups.items():
        by_place: dict[str, list[str]] = {}
        for solver, places in solvers.items():
            by_place.setdefault(", ".join(places), []).append(solver)
        yield "; ".join(f"{', '.join(names)} on {places}" for places, names in by_place.items()) + f" ({reason})"


def _advice(family: FamilyVerdict) -> str:
    """Who is off and by how much, or what to do about it."""
    against = [j for j in family.judgements if j.agreement is Agreement.DISAGREES and not j.evidence.run.control]
    if against:
        figures = ", ".join(f"{j.evidence.run.name} by {_figure(j) or 'an infinite value'}" for j in against)
        other = "Other backends of the same formulation (--solver) show whether it or its solver is wrong."
        if all(j.evidence.point is not None and j.evidence.point.own is not None for j in against):
            other = "The difference is proven, so that other backends (--solver) would show it too."
        return f"Off, relative to the optimum: {figures}. {other}"
    if family.verdict is Verdict.DISAGREE:
        return "This is an error of the project: please report it with the data."
    if any(j.unequal for j in family.judgements if not j.evidence.run.control):
        return ""  # the family says itself what is to be done
    if "one witness" in family.reason:
        return "Ask for a backend or a solver of other code, too."
    if "not positive semidefinite" in family.reason:
        return "Take another kernel."
    if re.search("was asked for|were asked for|was skipped", family.reason):
        return "Ask for more: leave out --solver and --formulation, or add to them."
    if not family.has_features:
        return _advice_without_features(family)
    if not any(solved(j) for j in family.judgements):
        return "--scale brings features to one scale, --sample N takes fewer rows."
    limited = "--scale, a looser --tol or a longer --time-limit" if _out_of_time(family) else "--scale or a looser --tol"
    return f"{limited} may decide it."


def _advice_without_features(family: FamilyVerdict) -> str:
    """What may decide a family whose numbers are taken as they are: a Gram matrix, or data of one from elsewhere."""
    said = []
    if any(j.agreement is Agreement.INACCURATE and not j.evidence.run.control for j in family.judgements):
        said.append("A looser --agree-tol takes inaccurate answers for agreeing ones.")
    if _out_of_time(family):
        said.append("A longer --time-limit may decide it.")
    if not said and family.count(Agreement.AGREES) and "takes the problem" in family.reason:
        said.append("Write a second formulation, or a solver, to compare it with.")
    return " ".join(said)


def _out_of_time(family: FamilyVerdict) -> bool:
    """Whether the limit of one answer ended one: what was stopped for another reason says itself what would have let it go on."""
    run = (j.evidence.run for j in family.judgements if j.agreement in (Agreement.INACCURATE, Agreement.FAILED))
    return any(each.status is Status.TIME_LIMIT and not each.reason.startswith("stopped") for each in run)
