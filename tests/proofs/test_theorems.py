"""Relations and their machine-checked theorems, without Coq.

`make proofs` builds and checks them.
"""

from __future__ import annotations

import json
import re

import pytest
from typer.testing import CliRunner

import theorems
from campaigns.faults import Fault
from campaigns.rocq import MUTANTS
from equimargin.cli.app import app
from equimargin.formulations import links
from equimargin.formulations.links.kinds import EVIDENCE
from equimargin.proofs import theorems as in_files

FILES = theorems.files()


def test_the_project_lists_every_file() -> None:
    assert (
        sorted(
            re.findall(
                r"^([\w/]+)\.v$",
                (theorems.ROCQ / "_CoqProject").read_text(encoding="utf-8"),
                re.MULTILINE,
            )
        )
        == FILES
    )


@pytest.mark.parametrize("theorem", theorems.linked())
def test_a_linked_theorem_is_stated(theorem: str) -> None:
    assert theorems.statement(theorem)


def test_line_of_a_theorem_is_that_of_its_whole_name() -> None:
    line = in_files.find_line("margin.hinge_gap")
    text = in_files.read_theory("margin").splitlines()[line - 1]
    assert text.startswith("Theorem hinge_gap ")
    with pytest.raises(LookupError, match="hinge_g"):
        in_files.find_line("margin.hinge_g")


def test_every_link_is_proved() -> None:
    """There is no theorem on thresholds yet.

    The relations of their families state that their evidence is numerical.
    """
    assert [
        link for link in links.LINKS if not link.theorem and not link.a.startswith("ord.")
    ] == []
    assert len(theorems.linked()) >= 50


def test_the_command_line_shows_what_is_proved() -> None:
    runner = CliRunner()
    listed = runner.invoke(app, ["list", "links"]).output
    assert f"proved: {links.LINKS[0].theorem}" in listed
    assert listed.count("proved: ") == sum(bool(link.theorem) for link in links.LINKS)
    assert listed.count(EVIDENCE) == sum(not link.theorem for link in links.LINKS)
    assert (
        "proved: ranksvm.rank_oneslack_equivalence"
        in runner.invoke(app, ["show", "rank.oneslack"]).output
    )


@pytest.mark.parametrize("file", FILES)
def test_nothing_is_assumed(file: str) -> None:
    """No axiom, no gap.

    Hypotheses occur in sections only, where every theorem carries them in its
    statement.
    """
    text = in_files.without_comments(file)
    assert not re.search(
        r"\b(Admitted|admit|Axioms?|Parameters?|Conjecture|Abort|Unset Guard|Declare "
        r"Module|bypass_check)\b",
        text,
    )
    depth = 0
    for word in re.findall(
        r"^\s*(Section|End|Variables?|Hypothes[ie]s|Context)\b", text, re.MULTILINE
    ):
        depth += (word == "Section") - (word == "End")
        assert depth > 0 or word == "End", f"{file}: {word} outside a section"


def test_the_statements_are_the_pinned_ones() -> None:
    """A theorem or a definition changes on purpose only.

    Renew the digests by `python tests/theorems.py`.
    """
    assert theorems.digests() == json.loads(theorems.STATEMENTS.read_text(encoding="utf-8"))


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_has_one_place_in_its_file(mutant: Fault) -> None:
    text = (theorems.ROCQ / f"{mutant.file}.v").read_text(encoding="utf-8")
    assert text.count(mutant.old) == 1
