"""Sentences on a family: unfinished answers, advice, skips."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from equimargin.proofs import Agreement, FamilyVerdict, Verdict
from equimargin.proofs.referee.judgement import Shortage
from equimargin.report.answers import AnswerView
from equimargin.report.records import solved
from equimargin.report.words import NO_BREAK
from equimargin.solvers import Status


def same_at_every_optimum(family: FamilyVerdict) -> str:
    """Return a sentence on labels and multipliers that all optima share; empty if none.

    Parameters
    ----------
    family : FamilyVerdict
        Family with its verdict.

    Returns
    -------
    str
        Sentence, or "".
    """
    if family.stable is None:
        return ""
    shares = {
        "labels of the training points": family.stable.labels,
        "multipliers of the rows": family.stable.rows,
    }
    # Rounded down: 100 % means all of them.
    phrases = [
        f"{math.floor(100 * share)}{NO_BREAK}% of the {name}"
        for name, share in shares.items()
        if share
    ]
    return f"The same at every optimum, proven: {' and '.join(phrases)}." if phrases else ""


def troubles(family: FamilyVerdict, answers: Sequence[AnswerView]) -> Iterator[str]:
    """Yield sentences on answers that ended early, and on optima within rounding error.

    Parameters
    ----------
    family : FamilyVerdict
        Family with its verdict.
    answers : sequence of AnswerView
        Answers of the family.

    Yields
    ------
    str
        Sentence or phrase.
    """
    groups: dict[str, dict[str, list[str]]] = {}
    # One sentence per reason, with the solvers and formulations that have it.
    for answer in (answer for answer in answers if answer.ended_early):
        run_reason = answer.run.reason
        reason = run_reason if run_reason.startswith("stopped") else answer.judgement.ground
        groups.setdefault(reason, {}).setdefault(answer.run.solver, []).append(answer.label)
    yield from (f"{_listed_by_place(solvers)}: {reason}" for reason, solvers in groups.items())
    agreeing = [
        answer
        for answer in answers
        if answer.agreement is Agreement.AGREES and answer.judgement.evidence.point is not None
    ]
    differences = {
        answer.label: getattr(answer.judgement.evidence.point, "difference", 0.0)
        for answer in agreeing
    }
    for name, difference in differences.items():
        if difference:
            where = f"{name} is not exactly equivalent"
            yield (
                f"{where}: its exact optimum differs from that of the first formulation by "
                f"{difference:.1e}, which rounding of its coefficients explains"
            )


def controls(answers: Iterable[AnswerView]) -> Iterator[str]:
    """Yield a sentence on refuted negative controls, and one on those not refuted.

    Parameters
    ----------
    answers : iterable of AnswerView
        Answers of a family.

    Yields
    ------
    str
        Sentence.
    """
    judged: dict[str, set[Agreement]] = {}
    for answer in answers:
        if answer.run.control:
            judged.setdefault(answer.label, set()).add(answer.agreement)
    # One answer that disagrees refutes a control, whatever its other answers are.
    refuted = [name for name, agreements in judged.items() if Agreement.DISAGREES in agreements]
    alike = [
        name
        for name, agreements in judged.items()
        if Agreement.DISAGREES not in agreements and Agreement.AGREES in agreements
    ]
    if refuted:
        yield (
            f"Wrong on purpose, and {'disagrees' if len(refuted) == 1 else 'disagree'} as "
            f"expected: {', '.join(refuted)}."
        )
    if alike:
        has = "has" if len(alike) == 1 else "have"
        yield (
            f"Wrong on purpose, and not refuted by these data: {', '.join(alike)} {has} the "
            f"optimum of the family here."
        )


def advice(family: FamilyVerdict, answers: Sequence[AnswerView]) -> str:
    """Return the disagreeing answers with their errors, or a remedy for the family.

    Parameters
    ----------
    family : FamilyVerdict
        Family with its verdict.
    answers : sequence of AnswerView
        Answers of the family.

    Returns
    -------
    str
        Sentences; empty if there is no remedy.
    """
    counted = [answer for answer in answers if not answer.run.control]
    against = [answer for answer in counted if answer.agreement is Agreement.DISAGREES]
    if against:
        figures = ", ".join(
            f"{answer.run.name} by {answer.figure or 'an infinite value'}" for answer in against
        )
        points = [answer.judgement.evidence.point for answer in against]
        other = (
            "Other backends of the same formulation (--solver) show whether it or its solver is "
            "wrong."
        )
        if all(point is not None and point.own is not None for point in points):
            other = "The error is proven, so that other backends (--solver) would show it, too."
        return f"Errors relative to the optimum: {figures}. {other}"
    if family.verdict is Verdict.DISAGREE:
        return "This is an error of the project: please report it with the data."
    if any(answer.judgement.unequal for answer in counted):
        return ""
    if Shortage.ONE_SOURCE in family.shortages:
        return "Add a backend or a solver with different code."
    if Shortage.NOT_CONVEX in family.shortages:
        return "Use another kernel."
    if Shortage.NOT_RUN in family.shortages:
        return "Request more answers: leave out --solver and --formulation, or add to them."
    # A reason that begins with "stopped" names its own remedy.
    runs = [
        answer.run
        for answer in answers
        if answer.agreement in (Agreement.INACCURATE, Agreement.FAILED)
    ]
    out_of_time = any(
        run.status is Status.TIME_LIMIT and not run.reason.startswith("stopped") for run in runs
    )
    if not family.has_features:
        return _advice_without_features(family, counted, out_of_time)
    if not any(solved(answer.judgement) for answer in answers):
        return "--scale standardises the features, --sample N uses fewer rows."
    if out_of_time:
        return "--scale, a looser --tol or a longer --time-limit may decide it."
    return "--scale or a looser --tol may decide it."


def _advice_without_features(
    family: FamilyVerdict, counted: Iterable[AnswerView], out_of_time: bool
) -> str:
    """Return a remedy for problems without features to scale, such as a Gram matrix."""
    sentences = []
    if any(answer.agreement is Agreement.INACCURATE for answer in counted):
        sentences.append("A looser --agree-tol makes inaccurate answers agree.")
    if out_of_time:
        sentences.append("A longer --time-limit may decide it.")
    unmatched = family.count(Agreement.AGREES) and Shortage.NOT_SUPPORTED in family.shortages
    if not sentences and unmatched:
        sentences.append("Write a second formulation, or a solver, to compare it with.")
    return " ".join(sentences)


def skips(families: Sequence[FamilyVerdict]) -> list[str]:
    """Return the reasons for skipped answers, each with its solvers and places.

    Parameters
    ----------
    families : sequence of FamilyVerdict
        Families with their verdicts.

    Returns
    -------
    list of str
        Phrases.
    """
    groups: dict[str, dict[str, list[str]]] = {}
    for family in families:
        run = {
            j.evidence.run.solver for j in family.judgements if j.agreement is not Agreement.SKIPPED
        }
        for skipped_run in (
            j.evidence.run for j in family.judgements if j.agreement is Agreement.SKIPPED
        ):
            place = (
                skipped_run.formulation
                if skipped_run.formulation is not None and skipped_run.solver in run
                else family.id
            )
            groups.setdefault(skipped_run.reason, {}).setdefault(skipped_run.solver, []).append(
                place
            )
    return [f"{_listed_by_place(solvers)} ({reason})" for reason, solvers in groups.items()]


def readings(families: Sequence[FamilyVerdict]) -> list[str]:
    """Return the interpretations of the floats, each once, with its families.

    Parameters
    ----------
    families : sequence of FamilyVerdict
        Families with their verdicts.

    Returns
    -------
    list of str
        Sentences.
    """
    ids: dict[str, list[str]] = {}
    for family in families:
        if family.note and family.judgements:
            ids.setdefault(family.note.removeprefix(f"in {family.id} "), []).append(family.id)
    return [
        f"Interpretation: in {_listed(list(dict.fromkeys(names)))} {how}."
        for how, names in ids.items()
    ]


def _listed(names: Sequence[str]) -> str:
    """Join names with commas, and "and" before the last one."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _listed_by_place(solvers: Mapping[str, Sequence[str]]) -> str:
    """Return solvers with their places, such as "A, B on x, y; C on z"."""
    by_place: dict[str, list[str]] = {}
    for solver, places in solvers.items():
        counts = Counter(filter(None, places))
        # A family has a problem for every part of the data.
        named = (f"{place} ({n} times)" if n > 1 else place for place, n in counts.items())
        by_place.setdefault(", ".join(named), []).append(solver)
    return "; ".join(
        f"{', '.join(names)} on {places}" if places else ", ".join(names)
        for places, names in by_place.items()
    )
