"""Scales and pictures of pages: positions, colour-blind marks and notes on gaps."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equimargin.comparison import Comparison, compare
from equimargin.formulations import (
    FAMILIES,
    REGISTRY,
    classification,
    one_norm_classification,
    ranking,
    rbf,
)
from equimargin.formulations.bounds.intervals import Interval
from equimargin.formulations.links import LINKS
from equimargin.proofs import Agreement, FamilyVerdict, Verdict, audit
from equimargin.proofs.foreign_models import ClaimedProblem, Model
from equimargin.report.pages.audit import verdict as verdict_on_model
from equimargin.report.pages.drawing import OF_AGREEMENT, PICTURE_WIDTH, SYMBOLS, Picture
from equimargin.report.pages.intervals import intervals
from equimargin.report.pages.link_graph import KINDS, NAMES, draw_links, link_graph, links_between
from equimargin.report.pages.path import ROWS, path_page
from equimargin.report.pages.path import verdict as verdict_on_path
from equimargin.report.pages.scales import LinearScale, LogarithmicScale, SignedScale
from equimargin.report.pages.times import times
from equimargin.report.path_lines import ACROSS, ends, thinned
from equimargin.report.view import family_view
from equimargin.selection import Curve
from equimargin.solvers import regularization_path

FOUR = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1], [2, 1]]), np.array([-1.0, 1, 1, -1, -1])
"""Points that no line separates, and their labels."""
positive = st.floats(1e-30, 1e30)
UNITS_OF_A_LETTER = 6.0
"""Maximum average units of a letter of a label; its size is 10."""


@pytest.fixture(scope="module")
def found() -> Comparison:
    """Return the comparison of a family with its controls."""
    return compare(classification(*FOUR, 0.1), include_controls=True)


@given(values=st.lists(positive, min_size=1, max_size=5), more=st.tuples(positive, positive))
def test_a_logarithmic_scale_keeps_the_order_and_holds_its_values(
    values: list[float], more: tuple[float, float]
) -> None:
    scale = LogarithmicScale.of(values, 10.0, 110.0)
    small, large = sorted(more)
    assert 10.0 <= scale.place(small) <= scale.place(large) <= 110.0
    assert 10.0**scale.low <= min(values) * (1 + 1e-12)
    assert 10.0**scale.high >= max(values) * (1 - 1e-12)
    assert all(10.0 <= place <= 110.0 for place, _ in scale.ticks())
    assert scale.place(0.0) == 10.0
    assert scale.place(math.inf) == 110.0


@given(
    least=st.integers(-17, 0),
    decades=st.integers(1, 18),
    values=st.tuples(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3)),
)
def test_a_scale_around_0_is_odd_and_keeps_the_order(
    least: int, decades: int, values: tuple[float, float]
) -> None:
    scale = SignedScale(least, least + decades, 0.0, 200.0)
    small, large = sorted(values)
    assert 0.0 <= scale.place(small) <= scale.place(large) <= 200.0
    assert scale.place(-large) == pytest.approx(200.0 - scale.place(large))
    assert (scale.place(0.0), scale.place(10.0 ** (least + decades))) == (100.0, 200.0)
    places = sorted(place for place, _ in scale.ticks())
    assert places == pytest.approx([200.0 - place for place in reversed(places)])


@given(low=st.floats(-1e6, 1e6), more=st.floats(1e-3, 1e6))
def test_a_linear_scale_has_round_ticks_within(low: float, more: float) -> None:
    ticks = list(LinearScale(low, low + more, 0.0, 1.0).ticks())
    assert 1 <= len(ticks) <= 8
    for place, words in ticks:
        assert low + place * more == pytest.approx(float(words), abs=1e-9 * max(abs(low), more))


def test_symbols_are_told_apart_without_colours() -> None:
    assert len(set(SYMBOLS)) == len(SYMBOLS) >= 16
    assert len(set(OF_AGREEMENT.values())) == len(Agreement)
    assert (
        len({kind.sign for kind in KINDS.values()})
        == len({kind.dashes for kind in KINDS.values()})
        == len(KINDS)
    )


def test_a_claim_stands_where_it_is_and_beyond_the_picture_is_an_arrow(found: Comparison) -> None:
    (family,) = found.families
    picture = intervals(family_view(family), "one")
    assert picture is not None
    shown = [j for j in family.judgements if j.agreement is not Agreement.SKIPPED]
    claims = [
        each
        for each in picture.elements
        if each.attributes.get("class", "") in {f"symbol filled {a}" for a in Agreement}
    ]
    claims += [
        each
        for each in picture.elements
        if each.attributes.get("class", "") in {f"symbol hollow {a}" for a in Agreement}
    ]
    assert len(claims) == len(shown)
    assert (
        sum("disagrees" in claim.title for claim in claims)
        == sum(j.agreement is Agreement.DISAGREES for j in shown)
        > 0
    )
    unbounded = replace(
        family, judgements=tuple(replace(j, upper=math.inf) for j in family.judgements)
    )
    arrows = [
        each
        for each in getattr(intervals(family_view(unbounded), "one"), "elements", ())
        if "end" in str(each.attributes.get("class"))
    ]
    assert len(arrows) == len(shown)


def test_the_ends_of_an_interval_are_said_rounded_outward(found: Comparison) -> None:
    (family,) = found.families
    shown = [j for j in family.judgements if j.agreement is not Agreement.SKIPPED]
    wide = [replace(j, lower=1.0000000000004, upper=1.0000000000006) for j in shown]
    picture = intervals(family_view(replace(family, judgements=tuple(wide))), "one")
    titles = {each.title for each in getattr(picture, "elements", ()) if "proves" in each.title}
    assert titles
    assert all("proves the optimum in [1, 1.00000000001]" in title for title in titles)


def test_there_is_no_picture_of_what_is_not_known(found: Comparison) -> None:
    (family,) = found.families
    assert (
        intervals(family_view(replace(family, interval=Interval(-math.inf, math.inf, 1.0))), "one")
        is None
    )
    assert intervals(family_view(replace(family, feasible=False)), "one") is None
    assert intervals(family_view(replace(family, judgements=())), "one") is None
    assert (
        intervals(
            family_view(replace(family, interval=Interval(-math.inf, family.interval.upper, 1.0))),
            "one",
        )
        is not None
    )
    assert times([family_view(replace(family, judgements=()))]) is None
    assert link_graph([]) is None


def test_exact_answers_and_those_without_a_bound_have_a_line_of_their_own(
    found: Comparison,
) -> None:
    (family,) = found.families
    first, second, *others = (j for j in family.judgements if j.agreement is not Agreement.SKIPPED)
    changed = replace(
        family,
        judgements=(
            replace(first, relative_width=0.0),
            replace(second, relative_width=math.inf),
            *others,
        ),
    )
    picture = times([family_view(changed)])
    assert picture is not None
    assert {"exact", "no bound"} <= {each.text for each in picture.elements}
    ends = [each for each in picture.elements if each.attributes.get("text-anchor") == "end"]
    assert all(float(each.attributes["x"]) >= UNITS_OF_A_LETTER * len(each.text) for each in ends)
    assert sum("width inf" in each.title for each in picture.elements) == 1


def test_no_arc_of_the_graph_crosses_a_name(found: Comparison) -> None:
    graph = link_graph(found.view.families)
    assert graph is not None
    links = links_between(["svm.soft"])
    assert {(link.a, link.b) for link in links} >= {("svm.soft.primal", "svm.soft.dual")}
    arcs, names = arcs_and_names(graph)
    assert len(arcs) == len(links) > 0
    assert all(each.title for each in graph.elements if each.tag == "g")
    assert max(x for name, x in names) + 8 <= NAMES == min(min(across) for across, _ in arcs)


def test_no_arc_of_the_whole_graph_runs_along_another_and_all_have_room() -> None:
    arcs, names = arcs_and_names(draw_links(tuple(FAMILIES)))
    assert len(arcs) == len([link for link in LINKS if link.a != link.b and link.b in REGISTRY])
    spans: dict[float, list[tuple[float, float]]] = {}
    for across, down in arcs:
        assert NAMES == min(across) < max(across) <= PICTURE_WIDTH - 5
        assert all(
            max(down) < low or min(down) > high for low, high in spans.setdefault(max(across), [])
        )
        spans[max(across)].append((min(down), max(down)))
    assert len(names) == len(REGISTRY)


def arcs_and_names(
    picture: Picture,
) -> tuple[list[tuple[list[float], list[float]]], list[tuple[str, float]]]:
    """Return the coordinates of every arc, and the end of each formulation's name."""
    arcs, names = [], []
    for each in picture.elements:
        if each.tag == "g":
            points = re.findall(r"([\d.]+) ([\d.]+)", str(each.children[0].attributes["d"]))
            arcs.append(([float(x) for x, _ in points], [float(y) for _, y in points]))
        elif each.tag == "text" and each.attributes["text-anchor"] == "end":
            names.append((each.title, float(each.attributes["x"])))
    return arcs, names


@pytest.mark.parametrize(
    ("verdicts", "missing", "kind", "words"),
    [
        ("", (), "undecided", "Nothing was compared."),
        ("A", (0,), "agree", "The answers of f0 agree."),
        ("D", (0,), "disagree", "The answers of f0 do not agree."),
        ("U", (0,), "undecided", "The answers of f0 leave its optimum undecided."),
        ("AA", (0, 0), "agree", "All 2 families agree."),
        ("AD", (0, 0), "disagree", "1 of 2 families disagrees: f1."),
        ("DDU", (0, 0, 0), "disagree", "2 of 3 families disagree: f0, f1."),
        ("AU", (0, 0), "undecided", "1 of 2 families is undecided: f1."),
        (
            "U",
            (2,),
            "unfinished",
            "Not finished: 0 of 1 family agree so far, and 1 lacks answers.",
        ),
        (
            "AUU",
            (0, 1, 2),
            "unfinished",
            "Not finished: 1 of 3 families agree so far, and 2 lack answers.",
        ),
        ("DU", (0, 1), "disagree", "1 of 2 families disagrees: f0."),
    ],
)
def test_the_verdict_is_a_word_and_a_sentence(
    verdicts: str, missing: tuple[int, ...], kind: str, words: str
) -> None:
    of = {"A": Verdict.AGREE, "D": Verdict.DISAGREE, "U": Verdict.UNDECIDED}
    families = tuple(
        FamilyVerdict(f"f{k}", Interval(0.0, 1.0), of[letter], "", ())
        for k, letter in enumerate(verdicts)
    )
    view = Comparison(families, planned=missing).view
    assert (view.kind, view.verdict) == (kind, words)


def test_the_verdict_on_a_path_is_its_worst_gap_and_its_end() -> None:
    whole = regularization_path(classification(*FOUR, kernel=rbf(1.0)), 0.01)
    assert verdict_on_path(whole)[0] == "agree"
    cut = replace(whole, complete=False, stopped="the time was over")
    assert verdict_on_path(cut)[1].startswith(
        "The path ended early: the time was over. It is known from lambda = "
    )
    rough = replace(whole, gaps=np.append(whole.gaps[:-1], 1e-3))
    kind, sentence = verdict_on_path(rough)
    assert (kind, sentence.partition(";")[0]) == (
        "disagree",
        "A relative gap of 1.0e-03 is too large to trust the path",
    )


def test_gaps_at_breakpoints_are_said_rounded_up() -> None:
    path = regularization_path(classification(*FOUR, kernel=rbf(1.0)), 0.01)
    rounded = replace(path, gaps=np.full(len(path), 1.04e-9))
    assert "1.1e-09 at lambda" in path_page(rounded, ["said"], {}, {}, {"equimargin": "0"})


def test_a_long_path_has_a_table_of_some_breakpoints_and_says_so() -> None:
    rng = np.random.default_rng(0)
    path = regularization_path(
        ranking(rng.normal(size=(30, 3)), rng.integers(0, 3, 30), kernel=rbf(1.0)), 1e-3
    )
    assert len(path) > ROWS
    text = path_page(path, ["said"], {}, {}, {"equimargin": "0"})
    assert f"{ROWS} of {len(path):,} breakpoints, spread evenly over all" in text
    assert text.count('<th scope="row" data-key=') == ROWS


def test_a_curve_of_scores_has_a_gap_where_the_metric_is_undefined() -> None:
    path = regularization_path(classification(*FOUR, kernel=rbf(1.0)), 0.01)
    lams = path.lambdas[0] * np.geomspace(1.0, 0.1, 6)
    scores = Curve(lams, np.array([np.nan, 0.0, 0.5, np.nan, 1.0, 1.0]), "kendall_tau", True)
    text = path_page(path, ["said"], {}, {}, {"equimargin": "0"}, "", scores, "points")
    picture = text[text.index("<h3>Scores on points") : text.index("Size of the margin set")]
    assert picture.count('class="curve c0"') == 2
    assert "nan" not in picture


def test_a_long_curve_keeps_the_scores_beside_undefined_ones() -> None:
    path = regularization_path(classification(*FOUR, kernel=rbf(1.0)), 0.01)
    lams = np.geomspace(*ends(path), 8 * ACROSS)
    _, values = thinned(path, lams, np.where(np.arange(8 * ACROSS) % 4 == 3, 0.5, np.nan))
    assert len(values) < 4 * ACROSS
    assert set(values.tolist()) == {0.5}


def test_a_page_says_what_lies_between_breakpoints_and_what_the_gaps_count() -> None:
    for problem, between, roundings in (
        (
            classification(*FOUR, kernel=rbf(1.0)),
            "lambda f is linear in lambda.",
            "rounding included",
        ),
        (
            one_norm_classification(*FOUR, kernel=rbf(1.0)),
            "f is constant between two breakpoints.",
            "in float64",
        ),
    ):
        text = path_page(regularization_path(problem, 0.01), ["said"], {}, {}, {"equimargin": "0"})
        assert between in text
        assert f"relative to the optimum, {roundings}." in text
        assert f"relative gap, {roundings}<" in text


@pytest.mark.parametrize(("w", "kind"), [(0.0, "above"), (0.5, "above")])
def test_a_model_above_its_optimum_is_called_so(w: float, kind: str) -> None:
    X, y = np.array([[0.0], [1], [2], [3]]), np.array([-1, 1, -1, 1])
    claimed = ClaimedProblem(task="classification", kernel=rbf(1.0), loss="hinge", C=1.0)
    model = Model(
        "SVC", claimed, coefficients=np.zeros(0), support=np.zeros(0, dtype=np.int64), b=w
    )
    found = audit(model, X, y)
    assert verdict_on_model(found)[0] == kind
    near = replace(found, objective=Interval(found.optimum.lower, found.optimum.upper))
    assert verdict_on_model(near)[0] == "agree"
    wide = replace(found, objective=Interval(found.optimum.lower, found.optimum.upper + 1.0))
    assert verdict_on_model(wide)[0] == "undecided"
