"""View model of a comparison: the texts and cells that all outputs lay out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import isfinite

from equimargin.formulations import DOCUMENTS
from equimargin.formulations.declarations.source import Source
from equimargin.formulations.numeric.decimals import format_lower, format_upper
from equimargin.proofs import Agreement, FamilyVerdict, Verdict
from equimargin.proofs.referee.judgement import USUAL_RULE
from equimargin.report.answers import AnswerView
from equimargin.report.cell import Cell
from equimargin.report.sentences import (
    advice,
    controls,
    readings,
    same_at_every_optimum,
    skips,
    troubles,
)
from equimargin.report.words import NO_BREAK

OVERVIEW = ("family", "verdict", "optimum", "digits", "width", "agreeing", "fastest", "seconds")
"""Columns of the table of families."""
SHARE_OF_COMPILING = 0.1
"""Fraction of the total time above which the compilation time is reported."""


@dataclass(frozen=True)
class FamilyView:
    """View of a family, common to all outputs, with the answers so far."""

    judged: FamilyVerdict
    """Family with its verdict, and the figures to draw."""
    missing: int
    """Number of missing answers."""
    kind: str
    """Verdict as a word: agree, disagree, undecided or unfinished."""
    standing: str
    """Verdict in capitals, or the number of missing answers."""
    optimum: str
    """Phrase on the proven optimum; empty before the first answer."""
    overview: tuple[Cell, ...]
    """Cells of the columns OVERVIEW."""
    answers: tuple[AnswerView, ...]
    """All answers."""
    specialised: tuple[AnswerView, ...]
    """Answers of specialised solvers that were run: agreeing before others, then by time."""
    rows: dict[str, dict[str, AnswerView]]
    """Answers by the label of their formulation and by their solver."""
    verdict: str
    """Sentences on the verdict and a remedy; empty for the usual one, or one not final."""
    remarks: tuple[str, ...]
    """All sentences on the family, including the verdict."""
    facts: tuple[str, ...]
    """Sentences on properties common to all optima, and on the interpretation of the floats."""
    details: tuple[str, ...]
    """Lines below the table of all its answers."""

    @property
    def id(self) -> str:
        """Id of the family."""
        return self.judged.id

    @property
    def title(self) -> str:
        """Id of the family, and the part of the data if the problem is of a part."""
        return self.judged.title


@dataclass(frozen=True)
class ComparisonView:
    """View of a comparison, common to all outputs."""

    families: tuple[FamilyView, ...]
    """Views of the families."""
    kind: str
    """Verdict as a word: agree, disagree, undecided or unfinished."""
    verdict: str
    """Verdict on all families as a sentence."""
    counts: str
    """Number of families of each verdict."""
    progress: str
    """Number of answers and their time."""
    interrupted: bool
    """True if the comparison ended early."""
    readings: tuple[str, ...]
    """Sentences on the interpretation of the floats."""
    skips: tuple[str, ...]
    """Reasons for skipped answers, with the answers."""
    left_out: tuple[str, ...]
    """Entries of `skips` that concern no family."""
    solvers: tuple[str, ...]
    """Solvers that were run, backends first."""
    documents: dict[str, str]
    """Titles of the documents of all sources, by letter."""
    first_documents: dict[str, str]
    """Documents of the first sources of the formulations that were run."""

    @property
    def groups(self) -> Iterator[tuple[FamilyView, ...]]:
        """Problems of one family, each of a part of the data; any other problem alone."""
        for _, of_family in groupby(
            enumerate(self.families), lambda at: at[1].id if at[1].judged.part else at[0]
        ):
            yield tuple(family for _, family in of_family)

    @property
    def below_tables(self) -> tuple[str, ...]:
        """Sentences below the wide tables; skips are listed below each family's table."""
        return (
            *self.readings,
            *([f"left out: {'; '.join(self.left_out)}"] if self.left_out else []),
        )


def family_view(judged: FamilyVerdict, missing: int = 0, ended: bool = False) -> FamilyView:
    """Return the view of a family.

    Parameters
    ----------
    judged : FamilyVerdict
        Family with the verdict on its answers so far.
    missing : int, default 0
        Number of missing answers.
    ended : bool, default False
        True if missing answers will not be run.
    """
    word = str(judged.verdict)
    kind, standing = (
        ("unfinished", f"{missing} {'missing' if ended else 'to come'}")
        if missing
        else (word, word.upper())
    )
    answers = tuple(map(AnswerView.of, judged.judgements))
    rows: dict[str, dict[str, AnswerView]] = {}
    for answer in answers:
        rows.setdefault(answer.label, {})[answer.run.solver] = answer
    alone = (answer for answer in answers if answer.was_run and not answer.label)
    specialised = sorted(
        alone, key=lambda a: (a.agreement is not Agreement.AGREES, a.run.solve_seconds or 0.0)
    )
    # While answers are missing the verdict may still change, and is not printed.
    agrees = judged.verdict is Verdict.AGREE
    hint = (
        ""
        if agrees or missing
        else " ".join(filter(None, (judged.advice, advice(judged, answers))))
    )
    verdict = (
        ""
        if missing or (agrees and judged.reason.endswith(USUAL_RULE))
        else f"{standing}: {judged.reason}. {hint}".rstrip()
    )
    doubt = "" if missing else judged.caveat
    trouble, wrong = [*troubles(judged, answers)], [*controls(answers)]
    final = f"verdict: {kind.upper()} - {standing if missing else judged.reason}"
    left = f"skipped: {'; '.join(skipped)}" if (skipped := skips([judged])) else ""
    return FamilyView(
        judged=judged,
        missing=missing,
        kind=kind,
        standing=standing,
        optimum=judged.optimum if answers else "",
        overview=tuple(_overview(judged, answers, Cell.word(standing, kind))),
        answers=answers,
        specialised=tuple(specialised),
        rows=rows,
        verdict=verdict,
        remarks=tuple(filter(None, (*trouble, verdict, *wrong, doubt))),
        facts=tuple(filter(None, (same_at_every_optimum(judged), *readings([judged])))),
        details=tuple(
            filter(None, (left, *trouble, *wrong, _enclosure(judged), final, hint, doubt))
        ),
    )


def _enclosure(family: FamilyVerdict) -> str:
    """Return a phrase on the proven optimum, with a finite interval in 12 digits."""
    lower, upper = family.interval.lower, family.interval.upper
    if not (family.feasible and isfinite(lower) and isfinite(upper)):
        return family.optimum
    proven = "optimum, not proven," if family.doubt else "optimum proven"
    return (
        f"{proven} in [{format_lower(lower, 12)}, {format_upper(upper, 12)}], relative width "
        f"{format_upper(family.interval.relative_width, 2)}"
    )


def _overview(
    judged: FamilyVerdict, answers: Sequence[AnswerView], standing: Cell
) -> Iterator[Cell]:
    """Yield the cells of a family in the table of families."""
    # Negative controls are not counted: they must disagree.
    digits, count = judged.interval.digits
    run = [answer for answer in answers if answer.was_run and not answer.run.control]
    right = [answer for answer in run if answer.agreement is Agreement.AGREES]
    fastest = min(
        (a for a in right if a.seconds), key=lambda a: a.run.solve_seconds or 0.0, default=None
    )
    yield Cell.word(judged.title)
    yield standing
    yield Cell(
        digits or (judged.optimum if answers else ""), judged.interval.upper if digits else ""
    )
    yield Cell.of(count or None, "d")
    yield Cell.at_most(judged.interval.relative_width if digits else None)
    yield Cell(f"{len(right)} of {len(run)}" if run else "", len(right) / len(run) if run else "")
    yield Cell.word("" if fastest is None else fastest.name)
    yield (
        Cell("", "") if fastest is None else Cell(fastest.seconds, fastest.run.solve_seconds or 0.0)
    )


def comparison_view(
    judged: Sequence[FamilyVerdict],
    planned: Sequence[int],
    left_out: Sequence[str],
    seconds: float,
    interrupted: str,
) -> ComparisonView:
    """Return the view of a comparison.

    Parameters
    ----------
    judged : sequence of FamilyVerdict
        Families with their verdicts.
    planned : sequence of int
        Number of planned answers of each family.
    left_out : sequence of str
        Sentences on answers that were not planned.
    seconds : float
        Wall time so far, in seconds.
    interrupted : str
        Reason of an early end; empty otherwise.

    Returns
    -------
    ComparisonView
        View.
    """
    # Without a plan every family is complete.
    wanted = planned or [len(family.judgements) for family in judged]
    pairs = zip(judged, wanted, strict=True)
    families = tuple(
        family_view(family, count - len(family.judgements), bool(interrupted))
        for family, count in pairs
    )
    answers = [answer for family in families for answer in family.answers]
    run = [answer for answer in answers if answer.was_run]
    kinds = [family.kind for family in families]
    verdicts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    counts = f"{_counted(families)}: {verdicts}" if families else "nothing was compared"
    compiling = sum(answer.run.compile_seconds or 0.0 for answer in run)
    time = f"{_about(seconds, 3)}{NO_BREAK}s"
    time += (
        f", {_about(compiling, 2)}{NO_BREAK}s of them compiling and loading"
        if compiling > SHARE_OF_COMPILING * seconds
        else ""
    )
    progress = f"{len(run)} answer{'s' * (len(run) != 1)} in {time}"
    if interrupted:
        progress = f"interrupted: {interrupted}; {len(answers)} of {sum(planned)} answers in {time}"
    kind, verdict = _verdict(families)
    return ComparisonView(
        families=families,
        kind=kind,
        verdict=verdict,
        counts=counts,
        progress=progress,
        interrupted=bool(interrupted),
        readings=tuple(readings(judged)),
        skips=(*skips(judged), *left_out),
        left_out=tuple(left_out),
        solvers=tuple(
            dict.fromkeys(
                answer.run.solver for answer in sorted(run, key=lambda answer: not answer.label)
            )
        ),
        documents=_titles(source for answer in answers for source in answer.sources),
        first_documents=_titles(source for answer in run for source in answer.sources[:1]),
    )


def _verdict(families: Sequence[FamilyView]) -> tuple[str, str]:
    """Return the verdict on all families as a word and as a sentence."""
    titles = {
        kind: [family.title for family in families if family.kind == kind]
        for kind in ("agree", "undecided", "unfinished")
    }
    against = [family.title for family in families if family.judged.verdict is Verdict.DISAGREE]
    # A title with a part has a comma of its own.
    comma = "; " if any(family.judged.part for family in families) else ", "
    # Order of severity: disagree, unfinished, undecided, agree.
    of_all, late, left = f"of {_counted(families)}", titles["unfinished"], titles["undecided"]
    if not families:
        return "undecided", "Nothing was compared."
    if len(families) == 1 and not late:
        phrases = {
            "agree": "agree",
            "disagree": "do not agree",
            "undecided": "leave its optimum undecided",
        }
        return families[0].kind, f"The answers of {families[0].title} {phrases[families[0].kind]}."
    if against:
        return (
            "disagree",
            f"{len(against)} {of_all} {'disagrees' if len(against) == 1 else 'disagree'}: "
            f"{comma.join(against)}.",
        )
    if late:
        verb = "lacks" if len(late) == 1 else "lack"
        return (
            "unfinished",
            f"Not finished: {len(titles['agree'])} {of_all} agree so far, and {len(late)} "
            f"{verb} answers.",
        )
    if left:
        return (
            "undecided",
            f"{len(left)} {of_all} {'is' if len(left) == 1 else 'are'} undecided: "
            f"{comma.join(left)}.",
        )
    return "agree", f"All {_counted(families)} agree."


def _counted(families: Sequence[FamilyView]) -> str:
    """Return the number of families, and of their problems if one has several."""
    ids = len({family.id for family in families})
    of_families = f"{ids} {'family' if ids == 1 else 'families'}"
    return of_families if ids == len(families) else f"{len(families)} problems of {of_families}"


def _titles(sources: Iterable[Source]) -> dict[str, str]:
    """Return the titles of the documents of some sources by letter."""
    letters = {source.document for source in sources}
    return {letter: title for letter, title in DOCUMENTS.items() if letter in letters}


def _about(seconds: float, digits: int) -> str:
    """Format seconds in a few digits, but at least as whole seconds."""
    return f"{seconds:.{digits}g}" if seconds < 10 ** (digits - 1) else f"{seconds:.0f}"
